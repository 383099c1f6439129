"""Initial displacements and velocities: numbers, vectors, arrays, ``fem.Function`` or functions of x."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from dolfinx import fem
from numpy.typing import ArrayLike

from .. import arguments
from .._types import FloatArray
from ..systems.system import System

#: Types of the initial fields in :meth:`.Integrator.start`.
Initial: TypeAlias = ArrayLike | fem.Function | Callable[[FloatArray], FloatArray | Sequence[Any]]


def initial_field(system: System, name: str, value: Initial) -> FloatArray:
    """Values of all local dofs, shape (size,); zero at ghosts if an array does not have them.

    Args:
        system: The system. ``gdim`` is the number of displacements among the ``block`` dofs of a node;
            ``space`` is needed for a ``fem.Function``, coordinates ``x``, shape (nodes, 3), for functions.
        name: Name of the field in error messages.
        value: See :meth:`.Integrator.start`.

    Raises:
        ValueError: Anything else, or values that are not finite; on this rank only.
    """
    if isinstance(value, fem.Function):
        field = _from_function(system, name, value)
    elif callable(value) and not isinstance(value, type):
        field = _from_callable(system, name, value)
    else:
        field = _from_array(system, name, value)
    if not np.all(np.isfinite(field)):
        raise ValueError(f"{name} has values that are not finite")
    return field


def _from_array(system: System, name: str, value: Any) -> FloatArray:
    array, gdim = arguments.floats(value), _gdim(system)
    if array.ndim == 0:
        if not isinstance(value, numbers.Real) and np.isnan(array):
            raise ValueError(f"{name} must be {_alternatives(system)}, but is {arguments.shown(value)}")
        if gdim > 1 and np.isfinite(array) and array != 0.0:
            example = (*[0.0] * (gdim - 1), float(array))
            raise ValueError(
                f"{name} = {array:g} would act along the diagonal of the {gdim} directions: give {gdim} "
                f"numbers, one a direction, for example {example}"
            )
        return np.full(system.size, float(array))
    # Also on a rank with a single node, where it is the array of all dofs as well.
    if gdim and array.shape == (gdim,):
        if array.size not in (system.owned, system.size):
            along_axis = getattr(system, "along_axis", None)
            array = array if along_axis is None else along_axis(f"a uniform {name}", array)
        return _nodal(system, array)
    block = getattr(system, "block", 1)
    flat = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == block)
    if not flat or array.size not in (system.owned, system.size):
        shape = f"{array.size} values" if array.ndim == 1 else f"the shape {array.shape}"
        raise ValueError(
            f"{name} has {shape}, the system {system.owned} owned dofs on this rank: "
            f"give {_alternatives(system)}"
        )
    out = np.zeros(system.size)
    out[: array.size] = array.ravel()
    return out


def _from_function(system: System, name: str, value: fem.Function) -> FloatArray:
    space, other = getattr(system, "space", None), value.function_space
    if space is None:
        raise ValueError(f"{name} is a Function, but the system has no space: give {_alternatives(system)}")
    same = other.mesh is space.mesh and other.ufl_element() == space.ufl_element()
    if not (same and np.array_equal(other.dofmap.list, space.dofmap.list)):
        raise ValueError(
            f"{name} is a Function of another space than the body's: take fem.Function(body.space) and "
            "interpolate into it"
        )
    return np.array(value.x.array[: system.size], dtype=np.float64)


def _from_callable(system: System, name: str, value: Callable[[FloatArray], Any]) -> FloatArray:
    x, gdim = getattr(system, "x", None), _gdim(system)
    if x is None:
        raise ValueError(
            f"{name} is a function of x, but the system has no places: give {_alternatives(system)}"
        )
    must = f"{name}(x) must give an array of shape ({gdim}, n) for x of shape (3, n)"
    try:
        raw = value(x.T.copy())
    except Exception as error:  # any exception of a user-defined function
        raise ValueError(f"{must}, but fails: {type(error).__name__}: {error}") from error
    values = arguments.floats(raw)
    if gdim == 1 and values.shape == (len(x),):
        values = values[None]
    if values.shape != (gdim, len(x)):
        result = f"one of shape {values.shape}, n being {len(x)}" if values.ndim else arguments.shown(raw)
        raise ValueError(f"{must}, but gives {result}")
    return _nodal(system, values.T)


def _nodal(system: System, vectors: FloatArray) -> FloatArray:
    """Dofs, shape (size,), of a vector at all nodes or one per node; rotations are zero."""
    out = np.zeros((system.size // getattr(system, "block", 1), getattr(system, "block", 1)))
    out[:, : _gdim(system)] = vectors
    return out.ravel()


def _gdim(system: System) -> int:
    """Geometric dimension of a system with nodes; 0 for others."""
    return int(getattr(system, "gdim", 0))


def _alternatives(system: System) -> str:
    """Text on the values that ``start`` accepts for a system."""
    gdim, alternatives = _gdim(system), []
    alternatives.append("a number" if gdim < 2 else f"0, {gdim} numbers (one a direction)")
    alternatives.append(f"{system.owned} numbers (one for each dof of this rank)")
    if hasattr(system, "space"):
        alternatives.append("a fem.Function on body.space")
    if hasattr(system, "x"):
        alternatives.append("a function of x")
    return ", ".join(alternatives[:-1]) + f" or {alternatives[-1]}"
