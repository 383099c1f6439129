"""What tells one run from another: scheme and sizes in words, masses, forces and gaps in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import parallel
from .integrators.base import Integrator

#: What makes one scheme another, where it has it.
_CONSTANTS = (
    "theta", "alpha", "beta", "gamma", "mass", "forecast", "midpoint", "ratio", "dissipative", "_coupled",
    "_reset", "_projection",
)  # fmt: skip
#: Masses of two runs are the same up to this part of the largest.
_SAME_MASS = 1e-9
#: Forces likewise; and up to what this part of the largest frequency would make of the displacements.
_SAME_FORCE, _ROUNDING = 1e-7, 1e-13


def description(s: Integrator) -> dict[str, Any]:
    """What a run is, as JSON can. Collective."""
    comm, contact = s.system.comm, s.contact
    constants = {name.lstrip("_"): getattr(s, name) for name in _CONSTANTS if hasattr(s, name)}
    law = getattr(s, "_enforcement", None)
    if law is not None:
        constants |= {"law": type(law).__name__, "eps": getattr(law, "eps", None)}
    said = {
        name: value if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__
        for name, value in constants.items()
    }
    points = None
    if contact is not None:
        points = contact.description()
    dofs = int(parallel.total(comm, float(s.system.owned)))
    return {"scheme": {"class": type(s).__name__, **said}, "dofs": dofs, "contact": points}


def fingerprint(s: Integrator) -> dict[str, tuple[str, NDArray]]:
    """Masses, forces and gaps at the state at hand, by which runs are told apart. Collective."""
    system: Any = s.system
    sides = [(system, s.u.copy(), s.v_mean.copy())]
    if hasattr(system, "fine"):
        halves = zip(system.split(s.u), system.split(s.v_mean))
        sides = [(side, *each) for side, each in zip((system.fine, system.coarse), halves)]
    masses, forces = [], []
    for side, u, v in sides:
        f = np.zeros(side.size)
        side.force(s.t, u, v, f)
        masses.append(np.where(side.held, 0.0, side.mass))
        forces.append(np.where(side.held, 0.0, f[: side.owned]))
    found = {"mass": ("dofs", np.stack(masses, axis=1)), "force": ("dofs", np.stack(forces, axis=1))}
    return found if s.contact is None else {**found, "gap": ("points", s.gap())}


def tolerance(s: Integrator, name: str, values: NDArray) -> float:
    """How much of a difference is rounding. Collective."""
    comm, n = s.system.comm, s.system.owned
    largest = max(0.0, parallel.largest(comm, np.abs(values)))
    moved = max(0.0, parallel.largest(comm, np.abs(s.u[:n])))
    if name == "mass":
        return _SAME_MASS * largest
    if name == "gap":
        return 1e-9 * s.system.length + 1e-12 * moved
    step = s.system.critical_time_step()
    stiffness = 4 / step**2 * max(0.0, parallel.largest(comm, s.system.mass)) if np.isfinite(step) else 0.0
    return _SAME_FORCE * largest + _ROUNDING * stiffness * (moved + s.system.length)
