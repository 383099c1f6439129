"""The state that a run starts from: numbers, vectors, arrays, functions of DOLFINx or of x."""

from __future__ import annotations

import numbers
from typing import Any, Callable, Sequence, Union

import numpy as np
from dolfinx import fem
from numpy.typing import ArrayLike, NDArray

from .. import arguments
from ..systems.system import System

#: What ``start`` takes for displacements and velocities.
Initial = Union[ArrayLike, fem.Function, Callable[[NDArray], Union[NDArray, Sequence[Any]]]]


def initial_field(system: System, name: str, value: Initial) -> NDArray:
    """Values of all dofs of this rank, shape (size,); ghosts zero where an array has none.

    Args:
        system: The system. With ``gdim`` it has nodes of ``block`` dofs each, the first ``gdim`` of which
            are directions of space; with ``space`` fields of DOLFINx, with ``x`` coordinates (nodes, 3).
        name: What messages call it.
        value: See :meth:`.Integrator.start`.

    Raises:
        ValueError: Anything else, values that are not finite; on this rank alone.
    """
    if isinstance(value, fem.Function):
        found = _of_function(system, name, value)
    elif callable(value) and not isinstance(value, type):
        found = _of_places(system, name, value)
    else:
        found = _of_numbers(system, name, value)
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{name} has values that are not finite")
    return found


def _of_numbers(system: System, name: str, value: Any) -> NDArray:
    given, gdim = arguments.floats(value), _gdim(system)
    if given.ndim == 0:
        if not isinstance(value, numbers.Real) and np.isnan(given):
            raise ValueError(f"{name} must be {_ways(system)}, but is {arguments.shown(value)}")
        if gdim > 1 and np.isfinite(given) and given != 0.0:
            example = (*[0.0] * (gdim - 1), float(given))
            raise ValueError(
                f"{name} = {given:g} would act along the diagonal of the {gdim} directions: give {gdim} "
                f"numbers, one a direction, for example {example}"
            )
        return np.full(system.size, float(given))
    # A rank that owns one node alone has as many dofs as there are directions: the same vector.
    if gdim and given.shape == (gdim,):
        return _uniform(system, given)
    block = getattr(system, "block", 1)
    flat = given.ndim == 1 or (given.ndim == 2 and given.shape[1] == block)
    if not flat or given.size not in (system.owned, system.size):
        what = f"{given.size} values" if given.ndim == 1 else f"the shape {given.shape}"
        raise ValueError(
            f"{name} has {what}, the system {system.owned} owned dofs on this rank: give {_ways(system)}"
        )
    out = np.zeros(system.size)
    out[: given.size] = given.ravel()
    return out


def _of_function(system: System, name: str, value: fem.Function) -> NDArray:
    space, given = getattr(system, "space", None), value.function_space
    if space is None:
        raise ValueError(f"{name} is a Function, but the system has no space: give {_ways(system)}")
    same = given.mesh is space.mesh and given.ufl_element() == space.ufl_element()
    if not (same and np.array_equal(given.dofmap.list, space.dofmap.list)):
        raise ValueError(
            f"{name} is a Function of another space than the body's: take fem.Function(body.space) and "
            "interpolate into it"
        )
    return np.array(value.x.array[: system.size], dtype=np.float64)


def _of_places(system: System, name: str, value: Callable[[NDArray], Any]) -> NDArray:
    x, gdim = getattr(system, "x", None), _gdim(system)
    if x is None:
        raise ValueError(f"{name} is a function of x, but the system has no places: give {_ways(system)}")
    must = f"{name}(x) must give an array of shape ({gdim}, n) for x of shape (3, n)"
    try:
        raw = value(x.T.copy())
    except Exception as error:  # whatever a function of the user's raises
        raise ValueError(f"{must}, but fails: {type(error).__name__}: {error}") from error
    found = arguments.floats(raw)
    if gdim == 1 and found.shape == (len(x),):
        found = found[None]
    if found.shape != (gdim, len(x)):
        what = f"one of shape {found.shape}, n being {len(x)}" if found.ndim else arguments.shown(raw)
        raise ValueError(f"{must}, but gives {what}")
    return _uniform(system, found.T)


def _uniform(system: System, directions: NDArray) -> NDArray:
    """The same on every node, or a row for each; dofs that are no direction, rotations, are zero."""
    out = np.zeros((system.size // getattr(system, "block", 1), getattr(system, "block", 1)))
    out[:, : _gdim(system)] = directions
    return out.ravel()


def _gdim(system: System) -> int:
    """Directions of space that the dofs stand for; 0 where they stand for none."""
    return int(getattr(system, "gdim", 0))


def _ways(system: System) -> str:
    gdim, ways = _gdim(system), []
    ways.append("a number" if gdim < 2 else f"0, {gdim} numbers (one a direction)")
    ways.append(f"{system.owned} numbers (one for each dof of this rank)")
    if hasattr(system, "space"):
        ways.append("a fem.Function on body.space")
    if hasattr(system, "x"):
        ways.append("a function of x")
    return ", ".join(ways[:-1]) + f" or {ways[-1]}"
