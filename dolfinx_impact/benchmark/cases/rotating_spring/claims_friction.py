"""The rotating spring with friction, e = 0 and mu = 0.2.

Figs. 17 and 18 of Di Stasio et al. (2019), and Fig. 5 of their CSMA paper. In the motion itself the first
impact takes the radial velocity and ``mu R`` times the impulse of angular momentum. From then on the
farthest point of the orbit is on the wall: the mass touches it again and again without any impulse, and
the final momentum is known in closed form (:func:`~.measures.rubbed`). At a step h the mass is stopped up
to h v behind the wall, comes back through it at a radial velocity of order sqrt(h), and is hit again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...claim import CSMA, DI_STASIO, Measured, above, below, equal, row, table
from ...effort import effort
from ...runs import Run, Runs
from . import case
from . import measures as m
from .case import cross
from .measures import BOTH, CASE, FINE, FINE_LONG, MJ, ROUNDING, RUBS, VISIBLE


def _unexplained(runs: Runs) -> Measured:
    """Change of the momentum in a step less ``x ^ r_t``, relative."""
    parts, falls = {}, []
    for scheme in BOTH:
        run = runs(CASE, scheme, **RUBS)
        kept, explained = m.kept(run), cross(m.arms(run), run["r_t"][:, 0])[1:]
        parts[scheme] = np.abs(np.diff(kept) - explained).max() / abs(kept[0])
        falls += list(np.diff(kept)[m.impacts(run) - 1] < 0)
    holds = bool(falls) and all(falls)
    return Measured(parts, holds=holds, note=f"{sum(falls)} of {len(falls)} impulses decrease it")


def _farthest(runs: Runs) -> Measured:
    """Smallest gap of the last 20 s [m], against the way ``h^2 a`` by which a step bends the path."""
    made = {scheme: runs(CASE, scheme, **RUBS) for scheme in BOTH}
    late = {scheme: run["t"] >= 0.8 * run["t"][-1] for scheme, run in made.items()}
    p = made[MJ].summary["parameters"]
    curved = p["k"] * (p["radius"] - p["l0"]) / p["m"] * p["h"] ** 2
    free = not any(np.any(run["r"][late[scheme]] > 0) for scheme, run in made.items())
    gaps = {scheme: abs(run["gap"][late[scheme]].min()) for scheme, run in made.items()}
    return Measured(gaps, curved, holds=free)


def _last_impulses(runs: Runs) -> Measured:
    found = [runs(CASE, scheme, **RUBS) for scheme in BOTH]
    ends = " and ".join(f"{run.results['contact_end'] or 0:.3g}" for run in found)
    late = [int(np.sum(run["r"][run["t"] >= 80] > 0)) for run in found]
    return Measured(sum(late), note=f"The last ones are at {ends} s (CD-Lagrange, Moreau-Jean)")


def _final(runs: Runs, h: float = FINE_LONG) -> Measured:
    made, fine = {scheme: runs(CASE, scheme, **RUBS) for scheme in BOTH}, m.refined(runs, h, 0.1, **RUBS)
    ends = {scheme: float(m.momentum(run)[run["t"] >= 80].mean()) for scheme, run in made.items()}
    return Measured(ends, float(m.momentum(fine)[-1]), note=f"In the limit h to 0 it is {m.rubbed(fine):.6g}")


def _more(runs: Runs, of: Callable[[Run], float], h: float, interval: float = 0.0, **law: Any) -> Measured:
    """A number of runs of both schemes, against that of CD-Lagrange with a small step."""
    fine = m.refined(runs, h, interval, **RUBS, **law)
    return Measured({scheme: of(runs(CASE, scheme, **RUBS, **law)) for scheme in BOTH}, of(fine))


def _mean(runs: Runs) -> Measured:
    run = runs(CASE, MJ, **RUBS)
    L = m.momentum(run)
    first, second = (L[(run["t"] >= a) & (run["t"] < a + 10)] for a in (80, 90))
    apart, size = abs(float(first.mean() - second.mean())), m.swing(L[run["t"] >= 80])
    holds = size > max(2 * apart, ROUNDING * abs(L[0]))
    return Measured(size, apart, holds=holds, note=f"Mean {L[run['t'] >= 80].mean():.4g}")


def _taken(runs: Runs) -> dict[str, float]:
    """Energy that contact takes over the kinetic one at the start; 0 where it gives some, or momentum."""
    parts = {}
    for scheme in BOTH:
        run = runs(CASE, scheme, **RUBS)
        work, scale = run["contact"], run["kinetic"][0]
        falls = np.all(np.diff(work) <= ROUNDING * scale) and run.results["momentum_loss"] > 0
        parts[scheme] = float(-work[-1] / scale) if falls else 0.0
    return parts


def _coulomb(runs: Runs) -> Measured:
    """``r_t`` against ``-mu r`` along the slip, over r."""
    parts, hits = {}, 0
    for scheme in BOTH:
        run = runs(CASE, scheme, **RUBS)
        at, mu = m.impacts(run), run.summary["parameters"]["friction"]
        normal = m.arms(run)[at] / np.hypot(*m.arms(run)[at].T)[:, None]
        v, r, r_t = run["v"][at], run["r"][at, 0], run["r_t"][at, 0]
        slip = v - np.sum(v * normal, axis=1)[:, None] * normal
        direction = slip / np.maximum(np.hypot(*slip.T), 1e-300)[:, None]
        misfit = np.hypot(*(r_t + mu * r[:, None] * direction).T)
        parts[scheme], hits = float(np.max(misfit / r, initial=0.0)), hits + at.size
    return Measured(parts, holds=hits > 0, note=f"{hits} impulses")


def _complexity(runs: Runs, steps: int = 200) -> dict[str, float]:
    """Evaluations of forces and contact, and linear systems, that friction adds to a step with an impulse."""
    added = {}
    for scheme in BOTH:
        counts = []
        for mu in (0.0, RUBS["friction"]):
            p = runs(CASE, scheme, restitution=0, friction=mu).summary["parameters"]
            made = effort(case.start(runs.scheme(scheme), p), steps)
            counts.append(float((made.forces + made.systems + made.contacts)[made.pressed].mean()))
        added[scheme] = max(0.0, counts[1] - counts[0])
    return added


_FIG_5 = "Sect. 2.3, Fig. 5"
_csma = partial(row, paper=CSMA)

CLAIMS = table(CASE, DI_STASIO, [
    row("distasio-fig18-tangential", "Fig. 18",
        "With friction each impact decreases the angular momentum by the tangential force.",
        _unexplained, below(ROUNDING), "change of the momentum in a step less x ^ r_t, relative"),
    row("distasio-fig17-tangent", "Figs. 17, 18", "The mass ends in an orbit tangent to the wall.",
        _farthest, below(), "distance to the wall [m], last 20 s, no impulse; limit: bend h^2 a of a step"),
    row("distasio-fig18-final", "Fig. 18",
        "Both schemes end with a smaller angular momentum than the refined solution.",
        _final, below(), "mean of the last 20 s [kg m^2/s] against CD-Lagrange at a small step"),
    row("distasio-fig18-phases", "Fig. 18",
        "Both schemes have more contact than the refined solution (taken as: time in contact).",
        _more, above(), "steps with an impulse times h in 100 s [s]; the one true impact has no duration",
        of=lambda run: m.impacts(run).size * run.results["h"], h=1e-3),
    row("distasio-fig18-phases-count", "Fig. 18",
        "Both schemes have more contact than the refined solution (taken as: the number of phases).",
        _more, above(), "phases of contact in 100 s; a smaller step makes these impacts weaker, not fewer",
        of=lambda run: run.results["contact_phases"], h=FINE_LONG, interval=0.1),
    row("distasio-spring-complexity", "Rotating spring", "Friction makes the algorithms no more complex.",
        _complexity, below(1.0), "operations that friction adds to a step with an impulse; fewer than one"),
    _csma("csma-spring-no-contact", _FIG_5,
          "The system goes to a state in which it no longer comes into contact.",
          _last_impulses, equal(0, 0), "impulses in the last 20 s of both schemes"),
    _csma("csma-spring-dissipative", _FIG_5,
          "With friction contact dissipates, and lowers the angular momentum.",
          _taken, above(0.0), "energy that contact takes, no step giving any, over the kinetic one at t = 0"),
    _csma("csma-spring-impacts", _FIG_5,
          "Both solutions at h = 0.1 s show more impacts than the refined one.",
          _more, above(), f"impacts in 5 s that take more than {VISIBLE:.0%} of the initial momentum",
          of=lambda run: np.sum(m.rubbing_losses(run) > VISIBLE), h=FINE, interval=0.01, t_end=5),
    _csma("csma-spring-mean", _FIG_5,
          "In the tangent state Moreau-Jean's angular momentum oscillates about a mean value.",
          _mean, above(), "swing in the last 20 s [kg m^2/s]; more than twice what its means differ by"),
    _csma("csma-spring-friction", "Sect. 2.3",
          "Both schemes go from sliding without to sliding with friction simply.",
          _coulomb, below(ROUNDING), "misfit of Coulomb's law (42) over r: r_t against -mu r along the slip"),
])  # fmt: skip
