"""Runs of the rotating spring, and what is measured of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs import Run, Runs
from .case import cross

CASE = "rotating-spring"
BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
DECOUPLED = "moreau-jean-decoupled"
RUBS: dict[str, Any] = {"restitution": 0, "friction": 0.2}
#: Step of the refined CD-Lagrange runs, that of the paper, over 5 s and over 100 s [s].
FINE = FINE_LONG = 1e-5
#: Rounding of a momentum that is kept, relative.
ROUNDING = 1e-12
#: Part of the initial momentum, or of the wall's radius, that a figure lets one see.
VISIBLE = 0.01


def refined(runs: Runs, h: float, interval: float, **settings: Any) -> Run:
    """CD-Lagrange with a small step, sampled every ``interval`` [s]."""
    return runs(CASE, CD, h=h, every=max(1, round(interval / h)), **settings)


def momentum(run: Run) -> NDArray:
    """``x ^ m v`` with v of the scheme's own level, for central differences after the impulse."""
    return run.summary["parameters"]["m"] * cross(run["u"], run["v"][: len(run["t"])])


def kept(run: Run) -> NDArray:
    """What steps without contact keep: the above, plus ``m (h^2/4) v ^ a`` for one-step schemes."""
    v = run["v"][: len(run["t"])]
    return momentum(run) + (0.0 if _staggered(run) else run.results["h"] ** 2 / 4 * cross(v, force(run)))


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


def _staggered(run: Run) -> bool:
    return bool(run["t_v"][0] != run["t"][0])


def impacts(run: Run) -> NDArray:
    """Samples at which an impulse acts; the start is none."""
    return 1 + np.flatnonzero(run["r"][1:, 0] > 0)


def arms(run: Run) -> NDArray:
    """Where the scheme looks at the gap: u, or half a step ahead of the start of the step."""
    u, v = run["u"], run["v"]
    return u if _staggered(run) else np.vstack([u[:1], (u + run.results["h"] / 2 * v)[:-1]])


def rubbing_losses(run: Run) -> NDArray:
    """Momentum that every phase of contact takes, relative to the initial one; samples may be sparse."""
    hits, taken = impacts(run), -np.diff(kept(run), prepend=0) / run.results["momentum_initial"]
    return np.array([taken[phase].sum() for phase in np.split(hits, 1 + np.flatnonzero(np.diff(hits) > 1))])


def impact_depths(run: Run) -> NDArray:
    """Largest penetration around every impact, negative where the mass turns before the wall [m]."""
    gap = run["gap"][:, 0]
    return np.array([-gap[i - 1 : i + 2].min() for i in impacts(run)])
