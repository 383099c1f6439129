"""Validation of arguments: errors of one line that state the given value and what is allowed."""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from ufl.core.expr import Expr

from ._types import FloatArray, IntArray

_LONGEST = 60


def shown(value: Any) -> str:
    """Short text of a value for error messages; for other objects the class."""
    if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, np.ndarray):
        if value.size > 4:
            return f"an array of shape {value.shape}"
        return f"array({value.tolist()})"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {getattr(value, '__name__', '')}".strip()
    if isinstance(value, (list, tuple)):
        ends = "[]" if isinstance(value, list) else "()"
        text = f"{ends[0]}{', '.join(shown(each) for each in value[:10])}{ends[1]}"
    elif value is None or isinstance(value, (numbers.Number, str, Mapping)):
        text = repr(value)
    else:
        return a(type(value).__name__)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def a(word: str) -> str:
    """The word with its article."""
    return f"{'an' if word[:1] in 'AEIOaeio' else 'a'} {word}"


def number(
    name: str,
    value: Any,
    must: str = "be a finite number",
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> float:
    """Validated finite number with ``above < value`` and ``least <= value <= most``.

    Args:
        name: Name of the argument in the message.
        value: The given value; truth values and arrays are not numbers.
        must: The requirement, with the unit: ``"be positive [s]"``.

    Raises:
        ValueError: Any other value.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    fits = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (fits and above < value and least <= value <= most and math.isfinite(value)):
        raise ValueError(f"{name} must {must}, but is {shown(value)}")
    return float(value)


def whole(name: str, value: Any, must: str = "be a whole number from 1 on", *, least: int = 1) -> int:
    """Validated integer of at least ``least``; floats with integer values such as 2.0 are accepted.

    Raises:
        ValueError: Any other value.
    """
    if number(name, value, must, least=least) != int(value):
        raise ValueError(f"{name} must {must}, but is {shown(value)}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Validated truth value.

    Raises:
        ValueError: Any other value.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, but is {shown(value)}")
    return bool(value)


def mapping(name: str, value: Any, example: str) -> Mapping[Any, Any]:
    """Validated mapping.

    Raises:
        ValueError: Any other value; the message contains the example.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be given by names, as {example}, but is {shown(value)}")
    return value


def sequence(name: str, value: Any, example: str) -> Sequence[Any]:
    """List of the items of an iterable other than text and mappings.

    Raises:
        ValueError: Any other value; the message contains the example.
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list, as {example}, but is {shown(value)}")
    return list(value)


def words(name: str, value: Any) -> tuple[str, ...]:
    """Tuple of one name of a part or several; numbers are those of tags.

    Raises:
        ValueError: Values other than text and whole numbers.
    """
    names: Any = (value,) if isinstance(value, (str, int, np.integer)) else value
    if not isinstance(names, Iterable) or not all(map(_is_name, names)):
        raise ValueError(f"{name} must be a name or several, but is {shown(value)}")
    return tuple(names)


def _is_name(value: Any) -> bool:
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, bool)


def floats(value: Any) -> FloatArray:
    """Copy of an array-like as floats; a scalar NaN for other values and for ragged rows."""
    try:
        # NumPy would index a UFL expression without end.
        array = np.array(None if isinstance(value, Expr) else value)
    except ValueError:
        array = np.array(None)
    return array.astype(np.float64) if array.dtype.kind in "iuf" else np.full((), np.nan)


def local_dofs(name: str, value: Any, system: Any) -> tuple[IntArray, ValueError | None]:
    """Validated numbers of owned dofs, in the given shape; otherwise zeros and the error of this rank."""
    dofs = floats(value)
    if np.all((dofs >= 0) & (dofs < system.owned) & (dofs == np.floor(dofs))):
        return dofs.astype(np.intp), None
    error = ValueError(f"{name} must be one of the {system.owned} dofs 0, 1, ..., but is {shown(value)}")
    return np.zeros(dofs.shape, dtype=np.intp), error


def nearest(word: Any, known: Iterable[str]) -> str:
    """``"did you mean 'x'? "`` where a known word is similar, otherwise an empty text."""
    close = difflib.get_close_matches(str(word).lower(), list(known), n=1, cutoff=0.75)
    return f"did you mean {close[0]!r}? " if close else ""


# -- arguments that are objects of this package


def system(value: Any) -> None:
    """Check that the value is a system.

    Raises:
        ValueError: Any other object.
    """
    if isinstance(value, type) or not (hasattr(value, "force") and hasattr(value, "owned")):
        raise ValueError(
            f"the first argument must be the system, a Solid, a Frame or PointMasses, but is {shown(value)}"
        )


def contact(value: Any) -> None:
    """Check that the value is a contact, None, or a list (whose items the caller checks).

    Raises:
        ValueError: Any other object.
    """
    if value is None or isinstance(value, (list, tuple)) or is_contact(value):
        return
    if hasattr(value, "normal") and hasattr(value, "gap"):
        raise ValueError(
            f"contact must be a contact of the body, but is the obstacle alone, {shown(value)}: give "
            "contact=RigidContact(body, 'name of facets', obstacle), or ObstacleContact for point masses"
        )
    raise ValueError(
        f"contact must be a contact (DofBound, RigidContact, ObstacleContact, ...), but is {shown(value)}"
    )


def is_contact(value: Any) -> bool:
    """Whether the value is a contact."""
    return not isinstance(value, type) and hasattr(value, "L") and hasattr(value, "count")


def time_step(value: Any) -> float:
    """Validated time step [s].

    Raises:
        ValueError: Any other value; for a contact the message states the order of arguments.
    """
    if is_contact(value):
        raise ValueError(
            f"the time step dt must be positive [s], but is {shown(value)}: the order is (system, dt, "
            "contact=contact)"
        )
    return number("the time step dt", value, "be positive [s]", above=0.0)


def obstacle(value: Any) -> None:
    """Check that the value is an obstacle, or a list (whose items the caller checks).

    Raises:
        ValueError: Any other object.
    """
    if not isinstance(value, (list, tuple)):
        shape(value)


def shape(value: Any) -> None:
    """Check that the value is a single obstacle.

    Raises:
        ValueError: Any other object.
    """
    if isinstance(value, type) or not (hasattr(value, "gap") and hasattr(value, "normal")):
        if hasattr(value, "space"):
            hint = "bodies do not find each other: NodePairs takes two names of facets of one body"
        else:
            hint = "wrap a function in SignedDistance"
        raise ValueError(
            f"the obstacle must be one of dolfinx_impact.obstacles, but is {shown(value)}: {hint}"
        )
    _has(value, "flat", *(("gdim", "velocity") if getattr(value, "moving", False) else ()))


def part(value: Any) -> None:
    """Check that the value is an obstacle that unions and motions accept: they need its dimension.

    Raises:
        ValueError: Any other object.
    """
    shape(value)
    _has(value, "gdim", "flat", "moving")


def _has(value: Any, *names: str) -> None:
    lacking = [name for name in names if not hasattr(value, name)]
    if lacking:
        raise ValueError(
            f"the obstacle, {shown(value)}, has no {' and no '.join(lacking)}: derive it from "
            "dolfinx_impact.obstacles.Shape, or wrap its gap in SignedDistance"
        )
