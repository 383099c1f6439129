"""User-defined force and energy functions: validation by two test calls each, tangents at rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arguments
from .._types import FloatArray

#: Step of differences over the length of the system, and how much smaller the second one is.
_STEP, _FINER = 1e-6, 16.0
#: Growth of a slope from the first to the second from which on the force jumps.
_JUMPS = 4.0


def try_out(
    length: float,
    size: int,
    *,
    energy: Callable[[FloatArray], Any] | None,
    **forces: Callable[..., Any] | None,
) -> None:
    """Validate forces and an energy at displacements of the order of ``length`` [m].

    Raises:
        ValueError: See :func:`check_force` and :func:`check_energy`.
        TypeError: See :func:`check_force` and :func:`check_energy`.
    """
    # Distinct nonzero displacements, so that springs between dofs have nonzero lengths.
    state = length * (1.0 + np.arange(size) / size)
    for name, function in forces.items():
        if function is not None:
            check_force(name, function, state)
    if energy is not None:
        check_energy(energy, state)


def check_force(name: str, function: Callable[..., Any], state: FloatArray) -> None:
    """Call ``function(t, u, v, out)`` with ``out`` of zeros and of NaN, to detect entries that it leaves.

    Args:
        name: Name of the function in messages.
        function: The function.
        state: Displacements and velocities of the test calls, shape (k,).

    Raises:
        ValueError: When the function leaves entries of ``out``, adds to them, or returns a value.
        TypeError: When it cannot be called with these arguments.
    """
    if not callable(function):
        raise TypeError(f"{name} must be callable as {name}(t, u, v, out), not {arguments.shown(function)}")
    results, must = [], f"{name}(t, u, v, out) must"
    for before in (0.0, np.nan):
        out = np.full(state.size, before)
        try:
            with np.errstate(all="ignore"):
                result = function(0.0, state.copy(), state.copy(), out)
        except TypeError as error:
            raise TypeError(f"{must} be callable with these four: {error}") from error
        except Exception:  # it may be undefined at this state
            return
        if result is not None:
            raise ValueError(f"{must} write into out, as out[:] = ..., and return nothing")
        results.append(out)
    left = np.flatnonzero(np.isfinite(results[0]) & np.isnan(results[1]))
    if left.size:
        raise ValueError(
            f"{must} write all of out, but leaves out[{left[0]}] or adds to it: begin with out[:] = 0.0"
        )


def check_energy(energy: Callable[[FloatArray], Any], state: FloatArray) -> None:
    """Call ``energy(u)`` and check that it returns one number.

    Raises:
        ValueError: When it returns another object.
        TypeError: When it cannot be called with an array.
    """
    if not callable(energy):
        raise TypeError(f"energy must be callable as energy(u), not {arguments.shown(energy)}")
    try:
        with np.errstate(all="ignore"):
            value = energy(state.copy())
    except TypeError as error:
        raise TypeError(f"energy(u) must be callable with displacements: {error}") from error
    except Exception:  # it may be undefined at this state
        return
    if np.asarray(value).dtype.kind not in "iuf" or np.size(value) != 1:
        raise ValueError(f"energy(u) must return one number [J], but gives {arguments.shown(value)}")


def drag_at_rest(force: Callable[..., None], size: int, length: float) -> FloatArray:
    """``-dF/dv`` at t = 0 and rest by differences, shape (size, size) [N s/m].

    Of a force that differs with the sign of a velocity, as a damper that acts in one direction, the larger
    slope. Entries are 0 where the slope of smaller differences is much larger: the force jumps there. All are
    0 where the force is not defined at rest.

    Args:
        force: ``force(t, u, v, out)`` writes all forces into ``out``.
        size: Number of dofs.
        length: The step of the differences is 1e-6 of it [m].
    """
    slopes, step = np.zeros((size, size)), _STEP * length

    def at(k: int, speed: float) -> FloatArray:
        v, out = np.zeros(size), np.zeros(size)
        v[k] = speed
        force(0.0, np.zeros(size), v, out)
        return out

    try:
        with np.errstate(all="ignore"):
            rest = at(0, 0.0)
            for k in range(size):
                ahead, behind = (_slope(rest, at(k, h), at(k, h / _FINER), h) for h in (step, -step))
                slopes[:, k] = ahead if ahead[k] >= behind[k] else behind
    except Exception:  # it may be undefined at this state
        return np.zeros((size, size))
    return slopes


def _slope(rest: FloatArray, far: FloatArray, near: FloatArray, step: float) -> FloatArray:
    """Slopes of ``-F`` over a step, 0 where it jumps or is not finite."""
    slope, finer = (rest - far) / step, _FINER * (rest - near) / step
    smooth = np.isfinite(slope) & (np.abs(finer) <= _JUMPS * np.abs(slope))
    return np.where(smooth, slope, 0.0)
