"""What arguments may be: each check raises one line that says what was given and what to write."""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
from typing import Any, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from ufl.core.expr import Expr

_LONGEST = 60


def shown(value: Any) -> str:
    """A value in an error message: short, and for objects their kind."""
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
    name: str, value: Any, must: str = "be a finite number", *, above: float = -math.inf,
    least: float = -math.inf, most: float = math.inf,
) -> float:  # fmt: skip
    """A finite number, ``above < value`` and ``least <= value <= most``.

    Args:
        name: What the message calls it.
        value: What was given; neither truth values nor arrays are numbers.
        must: What it must do, the unit included: ``"be positive [s]"``.

    Raises:
        ValueError: Anything else.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    fits = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (fits and above < value and least <= value <= most and math.isfinite(value)):
        raise ValueError(f"{name} must {must}, but is {shown(value)}")
    return float(value)


def whole(name: str, value: Any, must: str = "be a whole number from 1 on", *, least: int = 1) -> int:
    """A whole number from ``least`` on, also one like 2.0.

    Raises:
        ValueError: Anything else.
    """
    if number(name, value, must, least=least) != int(value):
        raise ValueError(f"{name} must {must}, but is {shown(value)}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """True or False.

    Raises:
        ValueError: Anything else.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, but is {shown(value)}")
    return bool(value)


def mapping(name: str, value: Any, example: str) -> Mapping:
    """A mapping.

    Raises:
        ValueError: Anything else; the message has the example.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be given by names, as {example}, but is {shown(value)}")
    return value


def sequence(name: str, value: Any, example: str) -> Sequence:
    """Several things in order: no text, no single one.

    Raises:
        ValueError: Anything else; the message has the example.
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list, as {example}, but is {shown(value)}")
    return list(value)


def words(name: str, value: Any) -> tuple[str, ...]:
    """One name or several.

    Raises:
        ValueError: Anything but text.
    """
    given = (value,) if isinstance(value, str) else value
    if not isinstance(given, Iterable) or not all(isinstance(each, str) for each in given):
        raise ValueError(f"{name} must be a name or several, but is {shown(value)}")
    return tuple(given)


def floats(value: Any) -> NDArray:
    """A copy of the numbers of an array-like; one nan for anything else, rows of different lengths too."""
    try:
        # An expression of UFL can be indexed without end: NumPy would never come back.
        found = np.array(None if isinstance(value, Expr) else value)
    except ValueError:
        found = np.array(None)
    return found.astype(np.float64) if found.dtype.kind in "iuf" else np.full((), np.nan)


def local_dofs(name: str, value: Any, system: Any) -> tuple[NDArray[np.intp], ValueError | None]:
    """Numbers of dofs that this rank owns, as given in shape; or an error of this rank alone."""
    found = floats(value)
    if np.all((found >= 0) & (found < system.owned) & (found == np.floor(found))):
        return found.astype(np.intp), None
    error = ValueError(f"{name} must be one of the {system.owned} dofs 0, 1, ..., but is {shown(value)}")
    return np.zeros(found.shape, dtype=np.intp), error


def nearest(word: Any, known: Iterable[str]) -> str:
    """``"did you mean 'x'? "`` where a known word is like it, else nothing."""
    close = difflib.get_close_matches(str(word).lower(), list(known), n=1, cutoff=0.75)
    return f"did you mean {close[0]!r}? " if close else ""


# -- the nouns


def system(value: Any) -> None:
    """Refuse what no scheme can integrate.

    Raises:
        ValueError: Something else than a system.
    """
    if isinstance(value, type) or not (hasattr(value, "force") and hasattr(value, "owned")):
        raise ValueError(
            f"the first argument must be the system, a Solid, a Frame or PointMasses, but is {shown(value)}"
        )


def contact(value: Any) -> None:
    """Refuse what is no contact; None is none, and lists are for who takes them.

    Raises:
        ValueError: Something else than a contact.
    """
    if value is None or isinstance(value, (list, tuple)) or is_contact(value):
        return
    if hasattr(value, "normal") and hasattr(value, "gap"):
        raise ValueError(
            f"contact must be a contact of the body, but is the obstacle alone, {shown(value)}: give "
            "contact=RigidContact(body, 'name of facets', obstacle), or ObstacleContact for point masses"
        )
    raise ValueError(
        f"contact must be a contact (Bound, RigidContact, ObstacleContact, ...), but is {shown(value)}"
    )


def is_contact(value: Any) -> bool:
    """Whether the value is a contact."""
    return not isinstance(value, type) and hasattr(value, "rows") and hasattr(value, "count")


def time_step(value: Any) -> float:
    """A time step [s].

    Raises:
        ValueError: Anything else; a contact in its place.
    """
    if is_contact(value):
        raise ValueError(
            f"the time step dt must be positive [s], but is {shown(value)}: the order is (system, dt, "
            "contact=contact)"
        )
    return number("the time step dt", value, "be positive [s]", above=0.0)


def obstacle(value: Any) -> None:
    """Refuse what is no obstacle; lists are for who takes them.

    Raises:
        ValueError: Something else than an obstacle.
    """
    if not isinstance(value, (list, tuple)):
        shape(value)


def shape(value: Any) -> None:
    """Refuse what is no single obstacle.

    Raises:
        ValueError: Something else.
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
    """Refuse what is no obstacle that others are made of: a union and a motion ask for its dimension.

    Raises:
        ValueError: Something else.
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
