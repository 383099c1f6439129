"""Runs of the rotating spring, and what is measured of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...convergence import norm35
from ...runs import Run, Runs
from . import case
from .case import cross

CASE = "rotating-spring"
BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
DECOUPLED = "moreau-jean-decoupled"
RUBS: dict[str, Any] = {"restitution": 0, "friction": 0.2}
#: Step of the refined CD-Lagrange runs, that of the paper, over 5 s and over 100 s [s].
FINE = FINE_LONG = 1e-5
ROUNDING = 1e-12  #: Rounding of a momentum that is kept, relative.
CHANGE = 1e-5  #: Change of the start by which derivatives are taken [m, m/s]; its square is their error.
VISIBLE = 0.01  #: Part of the initial momentum, or of the wall's radius, that a figure lets one see.


def both(runs: Runs, **settings: Any) -> dict[str, Run]:
    """Runs of both schemes."""
    return {scheme: runs(CASE, scheme, **settings) for scheme in BOTH}


def refined(runs: Runs, h: float, interval: float, **settings: Any) -> Run:
    """CD-Lagrange with a small step, sampled every ``interval`` [s]."""
    return runs(CASE, CD, h=h, every=max(1, round(interval / h)), **settings)


def momentum(run: Run) -> NDArray:
    """``x ^ m v`` with v of the scheme's own level, for central differences after the impulse."""
    return run.summary["parameters"]["m"] * cross(run["u"], run["v"][: len(run["t"])])


def kept(run: Run) -> NDArray:
    """The invariant of steps without contact: the above, plus ``m (h^2/4) v ^ a`` for one-step schemes."""
    v = run["v"][: len(run["t"])]
    staggered = run["t_v"][0] != run["t"][0]
    return momentum(run) + (0.0 if staggered else run.results["h"] ** 2 / 4 * cross(v, force(run)))


def force(run: Run) -> NDArray:
    """The spring's force on the mass, (43) [N]."""
    p = run.summary["parameters"]
    return -p["k"] * (1 - p["l0"] / np.hypot(*run["u"].T)[:, None]) * run["u"]


def rubbed(run: Run) -> float:
    """The angular momentum after the one impact, with friction and e = 0, of the motion itself."""
    p = run.summary["parameters"]
    m, R, d = p["m"], p["radius"], math.hypot(p["x0"], p["y0"]) - p["l0"]
    before = m * (p["x0"] * p["vy0"] - p["y0"] * p["vx0"])
    released = p["k"] / m * (d**2 - (R - p["l0"]) ** 2)
    radial = math.sqrt(p["vx0"] ** 2 + p["vy0"] ** 2 + released - (before / m / R) ** 2)
    return before - R * p["friction"] * m * radial


def swing(values: NDArray) -> float:
    """The smaller one of the largest rise and the largest fall: 0 for what only goes one way."""
    rise = np.max(values - np.minimum.accumulate(values))
    fall = np.max(np.maximum.accumulate(values) - values)
    return float(min(rise, fall))


def impacts(run: Run) -> NDArray:
    """Samples at which an impulse acts; the start is none."""
    return 1 + np.flatnonzero(run["r"][1:, 0] > 0)


def arms(run: Run) -> NDArray:
    """Where the scheme looks at the gap: u, or half a step ahead of the start of the step."""
    u, v, staggered = run["u"], run["v"], run["t_v"][0] != run["t"][0]
    return u if staggered else np.vstack([u[:1], (u + run.results["h"] / 2 * v)[:-1]])


def rubbing_losses(run: Run) -> NDArray:
    """Momentum that every phase of contact takes, relative to the initial one; samples may be sparse."""
    hits, taken = impacts(run), -np.diff(kept(run), prepend=0) / run.results["momentum_initial"]
    return np.array([taken[phase].sum() for phase in np.split(hits, 1 + np.flatnonzero(np.diff(hits) > 1))])


def impact_depths(run: Run) -> NDArray:
    """Largest penetration around every impact, negative where the mass turns before the wall [m]."""
    gap = run["gap"][:, 0]
    return np.array([-gap[i - 1 : i + 2].min() for i in impacts(run)])


def defect(runs: Runs, scheme: str) -> float:
    """Largest entry of ``DF^T J DF - J`` for the second step F from the start, which has no contact.

    In the scheme's own variables (u_n, v_{n+1/2}) or (u_n, v_n) it vanishes for a symplectic scheme, with
    ``J = [0 I; -I 0]``, as all masses are equal.
    """
    first, second = (_derivative(runs, scheme, n) for n in (1, 2))
    step, unit = second @ np.linalg.inv(first), np.eye(2)
    J = np.block([[0 * unit, unit], [-unit, 0 * unit]])
    return float(np.abs(step.T @ J @ step - J).max())


def _derivative(runs: Runs, scheme: str, n: int) -> NDArray:
    """Of the state after n steps by the start."""
    end, columns = 2 * case.PARAMETERS["h"].default, []
    for name in ("x0", "y0", "vx0", "vy0"):
        start = case.PARAMETERS[name].default
        made = [runs(CASE, scheme, t_end=end, **{name: start + by}) for by in (CHANGE, -CHANGE)]
        more, less = (np.append(run["u"][n], run["v"][n]) for run in made)
        columns.append((more - less) / (2 * CHANGE))
    return np.column_stack(columns)


def better(runs: Runs, starts: int = 9, h: float = 1e-4) -> dict[str, float]:
    """Error of Moreau-Jean's positions over that of CD-Lagrange, mean over starts with other velocities."""
    ratios = {}
    for name, law in (("e = 1", {}), ("friction", RUBS)):
        errors = []
        for vy0 in map(float, np.linspace(1.9, 2.1, starts)):
            fine = refined(runs, h, case.PARAMETERS["h"].default, t_end=5, vy0=vy0, **law)
            made = both(runs, t_end=5, vy0=vy0, **law).values()
            errors.append([norm35(run["u"][1:], fine["u"][1:]) for run in made])
        ours, theirs = np.mean(errors, axis=0)
        ratios[name] = theirs / ours
    return ratios
