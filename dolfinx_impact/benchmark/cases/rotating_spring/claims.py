"""The rotating spring of Di Stasio et al. (2019) and their CSMA paper.

With friction and e = 0 (Figs. 17, 18; CSMA, Fig. 5) the first impact takes the radial velocity and ``mu R``
times the impulse of angular momentum; from then on the mass touches the wall again and again, without
impulses: the final momentum is known (:func:`~.measures.rubbed`). At a step h the mass is up to h v behind
the wall, comes back at a radial velocity of order sqrt(h), and is hit again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...claim import CSMA, DI_STASIO, FailedRun, Measured, Run, Runs, above, below, equal, row, table
from ...convergence import effort, order
from . import case
from . import measures as m
from .case import cross
from .figures import FIGURES as FIGURES
from .measures import BOTH, CASE, CD, DECOUPLED, FINE, FINE_LONG, MJ, ROUNDING, RUBS, VISIBLE

LIMIT = 1e-8  #: What is no rounding of such derivatives.


def _deepest(runs: Runs) -> Measured:
    made = m.both(runs, t_end=5)
    limit = VISIBLE * made[MJ].summary["parameters"]["radius"]
    return Measured({scheme: m.impact_depths(run).max(initial=0.0) for scheme, run in made.items()}, limit)


def _smallest(runs: Runs, scheme: str) -> Measured:
    run = runs(CASE, scheme, t_end=5)
    depths, limit = m.impact_depths(run), VISIBLE * run.summary["parameters"]["radius"]
    note = f"{np.sum(depths > limit)} of {depths.size} are deep, up to {depths.max(initial=0):.3g} m"
    return Measured(depths.min() if depths.size else 0.0, limit, note=note)


def _growth(runs: Runs) -> Measured:
    deep, shallow = (runs(CASE, CD, h=h).results["penetration_max"] for h in (0.1, 0.01))
    return Measured(deep / shallow if shallow > 0 else 0.0, note=f"{deep:.3g} and {shallow:.3g} m")


def _behind(runs: Runs) -> list[float]:
    """Largest penetration over the way h |v| of a step, with and without friction."""
    results = [run.results for law in ({}, RUBS) for run in m.both(runs, **law).values()]
    return [one["penetration_max"] / one["step_length"] for one in results]


def _central(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    L, hits = m.momentum(run), m.impacts(run)
    change = np.abs(np.diff(L))[hits - 1].max(initial=0.0) / abs(L[0])
    return Measured(change, holds=hits.size > 0, note=f"{hits.size} impulses")


def _swing(runs: Runs, since: float = 0.0, **law: float) -> Measured:
    """Swing of ``x ^ m v`` from a part of the run on, relative."""
    run = runs(CASE, MJ, **law)
    last, L = run["t"] >= since * run["t"][-1], m.momentum(run)
    predicted = np.ptp((m.kept(run) - L)[last]) / abs(L[0])
    return Measured(m.swing(L[last]) / abs(L[0]), note=f"(h^2/4) v ^ F swings by {predicted:.3g}")


def _loss(runs: Runs, scheme: str) -> Measured:
    results = runs(CASE, scheme).results
    drift, other = results["momentum_drift"], results["invariant_drift"]
    note = f"Its largest change is {drift:.3g}, that of x ^ m v + (h^2/4) v ^ F {other:.2g}"
    return Measured(results["momentum_loss"], note=note)


def _order(runs: Runs, steps: Sequence[float] = (0.1, 0.05, 0.025)) -> float:
    return order(steps, [max(runs(CASE, MJ, h=h).results["momentum_drift"], 1e-300) for h in steps])


def _drift(runs: Runs, analytic: bool = False) -> Measured:
    run = runs(CASE, CD)
    L, p = m.momentum(run), run.summary["parameters"]
    true = p["m"] * (p["x0"] * p["vy0"] - p["y0"] * p["vx0"]) if analytic else L[0]
    return Measured(np.abs(L - true).max() / abs(true), note=f"{run.results['contact_phases']} impacts")


def _later(runs: Runs, scheme: str) -> Measured:
    """Largest error of the momentum over 100 s over that of the first 10 s."""
    run = runs(CASE, scheme)
    drift = np.abs(m.momentum(run) - m.momentum(run)[0]) / abs(m.momentum(run)[0])
    early, whole = float(drift[run["t"] <= 10].max()), float(drift.max())
    return Measured(whole / early if early > 0 else 0.0, note=f"{whole:.3g} over {early:.3g}")


def _critical(runs: Runs, halvings: int = 8) -> Measured:
    """Multiple of the step from which on CD-Lagrange refuses it."""
    low, high = 1.0, 10.0

    def goes(factor: float) -> bool:
        try:
            runs(CASE, CD, h=0.1 * factor, t_end=20)
        except FailedRun:
            return False
        return True

    if goes(high):
        return Measured(high, holds=False, note="CD-Lagrange runs with it")
    for _ in range(halvings):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if goes(middle) else (low, middle)
    return Measured(high, holds=high > 1)


def _unbalanced(runs: Runs) -> Measured:
    """Momentum that forces leave in a step without contact, relative; also of one linear solve about x_n."""
    run = runs(CASE, MJ)
    u, v, F, p = run["u"], run["v"][: len(run["t"])], m.force(run), run.summary["parameters"]
    h, mass, free = run.results["h"], p["m"], run["r"][1:, 0] == 0
    push = mass * np.diff(v, axis=0) - h / 2 * (F[1:] + F[:-1])
    scale, size = mass * np.hypot(*v.T).max(), np.hypot(*u.T)[:-1, None]
    unit, du = u[:-1] / size, np.diff(u, axis=0)
    along = np.sum(du * unit, axis=1)[:, None] * unit
    tangent = -p["k"] * ((1 - p["l0"] / size) * du + p["l0"] / size * along)
    left = h / 2 * np.abs(np.diff(F, axis=0) - tangent)[free].max() / scale
    return Measured(np.abs(push)[free].max() / scale, note=f"A linear solve would leave up to {left:.2g}")


def _not_symplectic(runs: Runs) -> Measured:
    drift = runs(CASE, MJ).results["momentum_drift"]
    note = f"Its angular momentum changes by up to {drift:.2g} of itself"
    return Measured(m.defect(runs, MJ), holds=drift > ROUNDING, note=note)


def _unexplained(runs: Runs) -> Measured:
    """Change of the momentum in a step less ``x ^ r_t``, relative."""
    parts, falls = {}, []
    for scheme, run in m.both(runs, **RUBS).items():
        kept, explained = m.kept(run), cross(m.arms(run), run["r_t"][:, 0])[1:]
        parts[scheme] = np.abs(np.diff(kept) - explained).max() / abs(kept[0])
        falls += list(np.diff(kept)[m.impacts(run) - 1] < 0)
    holds = bool(falls) and all(falls)
    return Measured(parts, holds=holds, note=f"{sum(falls)} of {len(falls)} impulses decrease it")


def _farthest(runs: Runs) -> Measured:
    """Smallest gap of the last 20 s [m], against the way ``h^2 a`` by which a step bends the path."""
    made = m.both(runs, **RUBS)
    late = {scheme: run["t"] >= 0.8 * run["t"][-1] for scheme, run in made.items()}
    p = made[MJ].summary["parameters"]
    curved = p["k"] * (p["radius"] - p["l0"]) / p["m"] * p["h"] ** 2
    free = not any(np.any(run["r"][late[scheme]] > 0) for scheme, run in made.items())
    gaps = {scheme: abs(run["gap"][late[scheme]].min()) for scheme, run in made.items()}
    return Measured(gaps, curved, holds=free)


def _last_impulses(runs: Runs) -> Measured:
    made = m.both(runs, **RUBS).values()
    ends = " and ".join(f"{run.results['contact_end'] or 0:.3g}" for run in made)
    late = [int(np.sum(run["r"][run["t"] >= 80] > 0)) for run in made]
    return Measured(sum(late), note=f"The last ones are at {ends} s (CD-Lagrange, Moreau-Jean)")


def _final(runs: Runs, h: float = FINE_LONG) -> Measured:
    made, fine = m.both(runs, **RUBS), m.refined(runs, h, 0.1, **RUBS)
    ends = {scheme: float(m.momentum(run)[run["t"] >= 80].mean()) for scheme, run in made.items()}
    return Measured(ends, float(m.momentum(fine)[-1]), note=f"In the limit h to 0 it is {m.rubbed(fine):.6g}")


def _more(runs: Runs, of: Callable[[Run], float], h: float, interval: float = 0.0, **law: Any) -> Measured:
    """A number of runs of both schemes, against that of CD-Lagrange with a small step."""
    fine = m.refined(runs, h, interval, **RUBS, **law)
    return Measured({scheme: of(run) for scheme, run in m.both(runs, **RUBS, **law).items()}, of(fine))


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
    for scheme, run in m.both(runs, **RUBS).items():
        work, scale = run["contact"], run["kinetic"][0]
        falls = np.all(np.diff(work) <= ROUNDING * scale) and run.results["momentum_loss"] > 0
        parts[scheme] = float(-work[-1] / scale) if falls else 0.0
    return parts


def _coulomb(runs: Runs) -> Measured:
    """``r_t`` against ``-mu r`` along the slip, over r."""
    parts, hits = {}, 0
    for scheme, run in m.both(runs, **RUBS).items():
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
            s = case.Spring().make(runs.scheme(scheme), p).integrator
            made = effort(s, steps)
            counts.append(float((made.forces + made.systems + made.contacts)[made.pressed].mean()))
        added[scheme] = max(0.0, counts[1] - counts[0])
    return added


_SECTION, _2_3 = "Rotating spring", "Sect. 2.3"
#: The coupled scheme keeps an invariant of its own; the other one takes its impulse along the normal at
#: the end of a step without contact, not at the position at which it acts.
_VARIANTS = (
    ("", MJ, "the coupled scheme"),
    ("-decoupled", DECOUPLED, "the decoupled variant, as CSMA (2019) prints it, H = L M^-1 L^T"),
)
_FORECAST = "the gap forecast by h/2 closes as often before the wall as behind it"
_LOSS = "relative loss over 100 s; the coupled scheme keeps x ^ m v + (h^2/4) v ^ F, x ^ m v swings"
_LATER = "largest error over 100 s over that of the first 10 s; bounded where an invariant is kept"
_DEFECT = "largest entry of DF^T J DF - J for a step F without contact, by differences of 1e-5"
_FIG_5 = "Sect. 2.3, Fig. 5"

CLAIMS = (*table(CASE, DI_STASIO, [
    row("spring-critical", _SECTION, "The step 0.1 s is of the order of the critical one.",
        _critical, below(10.0), "multiple of the step 0.1 s from which on CD-Lagrange refuses it"),
    row("spring-newton", _SECTION,
        "Large rotations make the case nonlinear: implicit schemes need Newton's method.",
        _unbalanced, below(ROUNDING), "relative unbalanced momentum of a step without contact, Moreau-Jean"),
    row("spring-inside", "Figs. 15, 17", "The wall holds the mass inside, but for a residual penetration.",
        _behind, below(1.0), "penetration over the way h |v| of a step: contact is found at its end"),
    row("fig15-large", "Fig. 15", "Both schemes penetrate the wall by much.",
        _deepest, above(), "deepest penetration of an impact in 5 s [m]; limit: a hundredth of the radius"),
    *(row(f"fig15-penetration-{id}", "Fig. 15", f"{name} penetrates by much at each impact{which}.",
          _smallest, above(), f"least depth of an impact in 5 s [m], negative before the wall; {why}",
          scheme=scheme)
      for id, scheme, name, which, why in (
          ("cd", CD, "CD-Lagrange", "", "it looks at the new position"),
          ("mj", MJ, "Moreau-Jean", " (the coupled scheme)", _FORECAST),
          ("decoupled", DECOUPLED, "Moreau-Jean", " (the decoupled variant)", _FORECAST))),
    row("fig15-large-step", "Fig. 15", "The penetration comes from the large time step.",
        _growth, above(math.sqrt(10)), "largest penetration at h = 0.1 s over that at 0.01 s; half an order"),
    row("fig16-central-impulse", "Fig. 16",
        "Without friction the impulse is parallel to the position and leaves the angular momentum alone.",
        _central, below(ROUNDING), "relative change of x ^ m v by an impulse, which points to the centre"),
    row("fig16-oscillates", "Fig. 16", "The angular momentum of Moreau-Jean oscillates.",
        _swing, above(ROUNDING), "relative swing of x ^ m v; its sum with (h^2/4) v ^ F is kept"),
    *(row(f"fig16-loss{id}", "Fig. 16",
          f"The angular momentum of Moreau-Jean loses more than 10 % over 100 s ({which}).",
          _loss, above(0.1), _LOSS, scheme=scheme) for id, scheme, which in _VARIANTS),
    row("fig16-convergence", "Fig. 16", "Moreau-Jean conserves the angular momentum at convergence only.",
        _order, equal(2, 0.2), "order in h of the largest change of x ^ m v, that of (h^2/4) v ^ a"),
    row("fig16-exact", "Fig. 16", "CD-Lagrange conserves the angular momentum exactly.",
        _drift, below(ROUNDING), "relative change of x ^ m v: force and impulse at t_n point along u_n"),
    *(row(f"spring-long{id}", _SECTION,
          f"The error of Moreau-Jean's angular momentum can become large in long simulations ({which}).",
          _later, above(2.0), _LATER, scheme=scheme) for id, scheme, which in _VARIANTS),
    row("spring-symplectic", "Time integration schemes", "CD-Lagrange is symplectic.",
        lambda runs: m.defect(runs, CD), below(LIMIT), _DEFECT),
    row("fig18-oscillates", "Fig. 18",
        "In its tangent state Moreau-Jean's angular momentum still oscillates.",
        _swing, above(ROUNDING), "swing of x ^ m v in the last 20 s, relative", since=0.8, **RUBS),
    row("fig18-tangential", "Fig. 18",
        "With friction each impact decreases the angular momentum by the tangential force.",
        _unexplained, below(ROUNDING), "change of the momentum in a step less x ^ r_t, relative"),
    row("fig17-tangent", "Figs. 17, 18", "The mass ends in an orbit tangent to the wall.",
        _farthest, below(), "distance to the wall [m], last 20 s, no impulse; limit: bend h^2 a of a step"),
    row("fig18-final", "Fig. 18",
        "Both schemes end with a smaller angular momentum than the refined solution.",
        _final, below(), "mean of the last 20 s [kg m^2/s] against CD-Lagrange at a small step"),
    row("fig18-phases", "Fig. 18",
        "Both schemes have more contact than the refined solution (taken as: time in contact).",
        _more, above(), "steps with an impulse times h in 100 s [s]; the one true impact has no duration",
        of=lambda run: m.impacts(run).size * run.results["h"], h=1e-3),
    row("fig18-phases-count", "Fig. 18",
        "Both schemes have more contact than the refined solution (taken as: the number of phases).",
        _more, above(), "phases of contact in 100 s; a smaller step makes these impacts weaker, not fewer",
        of=lambda run: run.results["contact_phases"], h=FINE_LONG, interval=0.1),
    row("spring-complexity", "Rotating spring", "Friction makes the algorithms no more complex.",
        _complexity, below(1.0), "operations that friction adds to a step with an impulse; fewer than one"),
], prefix="distasio-"), *table(CASE, CSMA, [
    row("exact", f"{_2_3}, Fig. 4", "CD-Lagrange conserves the angular momentum at its analytical value.",
        _drift, below(ROUNDING), "relative error of x ^ m v over 100 s", analytic=True),
    *(row(f"loss{id}", f"{_2_3}, Fig. 4",
          f"Moreau-Jean loses more than 10 % of the angular momentum over 100 s ({which}).",
          _loss, above(0.1), _LOSS, scheme=scheme) for id, scheme, which in _VARIANTS),
    row("symplectic", _2_3, "A scheme that does not keep the discrete angular momentum is not symplectic.",
        _not_symplectic, above(LIMIT), f"{_DEFECT}, of Moreau-Jean"),
    *(row(f"error{id}", _2_3, f"Not conserving the angular momentum can cause a large error ({which}).",
          _later, above(2.0), _LATER, scheme=scheme) for id, scheme, which in _VARIANTS),
    row("better", "Sect. 3",
        "For large rotations with impact a symplectic scheme such as CD-Lagrange gives better results.",
        m.better, above(1.0), "error of Moreau-Jean over that of CD-Lagrange, norm (35), mean of 9 starts"),
    row("no-contact", _FIG_5, "The system goes to a state in which it no longer comes into contact.",
        _last_impulses, equal(0, 0), "impulses in the last 20 s of both schemes"),
    row("dissipative", _FIG_5, "With friction contact dissipates, and lowers the angular momentum.",
        _taken, above(0.0), "energy that contact takes, no step giving any, over the kinetic one at t = 0"),
    row("impacts", _FIG_5, "Both solutions at h = 0.1 s show more impacts than the refined one.",
        _more, above(), f"impacts in 5 s that take more than {VISIBLE:.0%} of the initial momentum",
        of=lambda run: np.sum(m.rubbing_losses(run) > VISIBLE), h=FINE, interval=0.01, t_end=5),
    row("mean", _FIG_5, "In the tangent state Moreau-Jean's angular momentum oscillates about a mean value.",
        _mean, above(), "swing in the last 20 s [kg m^2/s]; more than twice what its means differ by"),
    row("friction", "Sect. 2.3", "Both schemes go from sliding without to sliding with friction simply.",
        _coulomb, below(ROUNDING), "misfit of Coulomb's law (42) over r: r_t against -mu r along the slip"),
], prefix="csma-spring-"))  # fmt: skip
