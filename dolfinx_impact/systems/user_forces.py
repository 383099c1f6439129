"""Whether functions of a user's do what they are called for; each is tried twice at most."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from .. import arguments


def try_out(
    length: float, size: int, *, energy: Callable[[NDArray], Any] | None, **forces: Callable[..., Any] | None
) -> None:
    """Try forces and an energy at displacements of the order of ``length`` [m].

    Raises:
        ValueError: See :func:`try_writing` and :func:`try_energy`.
        TypeError: Likewise; or something that cannot be called at all.
    """
    # A state in which springs have lengths and no two dofs are alike.
    state = length * (1.0 + np.arange(size) / size)
    for name, given in forces.items():
        if given is not None:
            try_writing(name, given, state)
    if energy is not None:
        try_energy(energy, state)


def try_writing(name: str, function: Callable[..., Any], state: NDArray) -> None:
    """Call ``function(t, u, v, out)`` with an ``out`` of zeros and one of nan: what it does not write stays.

    Args:
        name: What messages call it.
        function: The function.
        state: Displacements and velocities at which it is tried, shape (k,).

    Raises:
        ValueError: Where something of ``out`` is not written or added to, or something is returned.
        TypeError: Where it cannot be called so.
    """
    if not callable(function):
        raise TypeError(f"{name} must be callable as {name}(t, u, v, out), not {arguments.shown(function)}")
    found, must = [], f"{name}(t, u, v, out) must"
    for before in (0.0, np.nan):
        out = np.full(state.size, before)
        try:
            with np.errstate(all="ignore"):
                result = function(0.0, state.copy(), state.copy(), out)
        except TypeError as error:
            raise TypeError(f"{must} be callable with these four: {error}") from error
        except Exception:  # it may not be defined just there
            return
        if result is not None:
            raise ValueError(f"{must} write into out, as out[:] = ..., and return nothing")
        found.append(out)
    left = np.flatnonzero(np.isfinite(found[0]) & np.isnan(found[1]))
    if left.size:
        raise ValueError(
            f"{must} write all of out, but leaves out[{left[0]}] or adds to it: begin with out[:] = 0.0"
        )


def try_energy(energy: Callable[[NDArray], Any], state: NDArray) -> None:
    """Call ``energy(u)``, which gives one number.

    Raises:
        ValueError: Where it gives something else.
        TypeError: Where it cannot be called so.
    """
    if not callable(energy):
        raise TypeError(f"energy must be callable as energy(u), not {arguments.shown(energy)}")
    try:
        with np.errstate(all="ignore"):
            found = energy(state.copy())
    except TypeError as error:
        raise TypeError(f"energy(u) must be callable with displacements: {error}") from error
    except Exception:  # it may not be defined just there
        return
    if np.asarray(found).dtype.kind not in "iuf" or np.size(found) != 1:
        raise ValueError(f"energy(u) must return one number [J], but gives {arguments.shown(found)}")
