"""Mass scaling and the end of a run of the discrete arch: what Di Stasio et al. (2019) say of them."""

from __future__ import annotations

import numpy as np

from ...effort import effort
from ...runs import Runs
from ...verdict import Verdict
from . import case
from .measures import CASE, CD, MJ, depth, frozen, refused, remaining, since, stopped_run, touching_nodes

#: Levels of damping over which the criterion is looked at [1/s].
DAMPINGS = (0.02, 0.05, 0.1, 0.2, 0.5)
ROUNDING = 1e-12


def judge_ratio(runs: Runs) -> Verdict:
    """Decides ``distasio-fig25-ratio``."""
    run = runs(CASE, CD)
    found = run.results["contact_impulse_ratio"]
    if found is None:
        return Verdict.above("No node touches at the end: there is no ratio.", 0, 1)
    return Verdict(
        (
            f"Magnitude of the vertical impulse of inertia over that of contact at {run['t'][-1]:g} s, below the "
            f"limit for good from {run['t'][since(run)]:.4g} s on. The velocity decays with the damping, the "
            "impulse of contact stays."
        ),
        found,
        case.SMALL_RATIO,
        0.0,
        found < case.SMALL_RATIO,
    )


def judge_stop(runs: Runs) -> Verdict:
    """Decides ``distasio-fig25-stop``."""
    run = runs(CASE, CD, stop_ratio=case.SMALL_RATIO)
    found, end = run.results, run.summary["parameters"]["t_end"]
    finding = Verdict.below(
        (
            f"Largest distance from the static minimum [m] where the run ended, at {found['stop_time']:.4g} s of "
            f"{end:g} s, with the ratio {case.SMALL_RATIO:g}; tolerance: the depth h v of an impact; "
            f"{touching_nodes(run)} press."
        ),
        found["static_distance"],
        depth(run),
    )
    stopped = found["stop_time"] < end and found["active_nodes"] == found["static_nodes"] != []
    return finding if stopped else refused(finding, " It did not stop on the nodes of the static solution.")


def judge_velocity(runs: Runs, dampings: tuple[float, float] = (0.2, 0.5)) -> Verdict:
    """Decides ``distasio-arch-velocity``."""
    found = [stopped_run(runs, mu) for mu in dampings]
    speeds = [float(np.hypot(*run["v"][-2].reshape(-1, 2).T).max()) for run in found]
    expected = dampings[1] / dampings[0]
    return Verdict.equal(
        (
            f"Ratio of the nodal velocities where the criterion {case.SMALL_RATIO:g} is met ({speeds[0]:.2g} m/s "
            f"at {dampings[0]:g} 1/s, {speeds[1]:.2g} m/s at {dampings[1]:g} 1/s): inverse to the damping but "
            f"for the depths of the impacts. What is left to go is nearly the same, {remaining(found[0]):.2g} "
            f"and {remaining(found[1]):.2g} m."
        ),
        speeds[0] / max(speeds[1], 1e-300),
        expected,
        0.05 * expected,
    )


def judge_criterion(runs: Runs, dampings: tuple[float, ...] = DAMPINGS) -> Verdict:
    """Decides ``distasio-arch-criterion``."""
    parts = []
    for mu in dampings:
        run = runs(CASE, CD, damping=mu, t_end=3000)
        parts.append(case.distance(run["u"][since(run)], frozen(run).positions) / depth(run))
    listed = ", ".join(f"{part:.1g} at {mu:g} 1/s" for mu, part in zip(dampings, parts))
    return Verdict.below(
        (
            f"Largest distance from rest over the depth h v of an impact, where the ratio falls below "
            f"{case.SMALL_RATIO:g} for good, in runs of different damping: {listed}. A tenth of what every "
            "impact leaves does not count."
        ),
        max(parts),
        0.1,
    )


def judge_criterion_first(runs: Runs, dampings: tuple[float, ...] = DAMPINGS) -> Verdict:
    """Decides ``distasio-arch-criterion-first``."""
    parts = [remaining(run) / depth(run) for run in (stopped_run(runs, mu) for mu in dampings)]
    listed = ", ".join(f"{part:.1g} at {mu:g} 1/s" for mu, part in zip(dampings, parts))
    return Verdict.below(
        (
            f"Largest distance from rest over the depth h v of an impact at the first step with a ratio below "
            f"{case.SMALL_RATIO:g}: {listed}. Where the arch still swings the sum of the velocities passes "
            "through zero."
        ),
        max(parts),
        0.1,
    )


def judge_viscous(runs: Runs) -> Verdict:
    """Decides ``distasio-arch-viscous``."""
    damped, free = runs(CASE, CD), runs(CASE, CD, damping=0.0)
    parts = [run.results["static_distance"] / depth(run) for run in (damped, free)]
    left = [float(run["kinetic"][-1] / run["kinetic"].max()) for run in (damped, free)]
    finding = Verdict.below(
        (
            f"Kinetic energy at {damped['t'][-1]:g} s over its largest, {left[1]:.2g} without the viscous term; "
            f"{parts[0]:.2g} of the depth h v from statics, {parts[1]:.2g} without."
        ),
        left[0],
        ROUNDING,
    )
    return finding if parts[0] <= 1 < parts[1] else refused(finding, " It decides on nothing.")


def judge_cheap(runs: Runs, h: float = 0.6) -> Verdict:
    """Decides ``distasio-arch-cheap``."""
    found = [runs(CASE, scheme, h=h, stop_ratio=case.SMALL_RATIO) for scheme in (CD, MJ)]
    counts = []
    for scheme, run in zip((CD, MJ), found):
        integrator = case.start(runs.scheme(scheme), run.summary["parameters"])[1]
        made = effort(integrator, run.summary["steps"])
        counts.append((int(made.forces.sum()), int(made.systems.sum())))
    at_rest = all(run.results["static_distance"] <= depth(run) for run in found)
    finding = Verdict.above(
        (
            f"Evaluations of the forces of Moreau-Jean over those of CD-Lagrange, until the criterion is met at "
            f"h = {h:g} s ({counts[1][0]} and {counts[0][0]}); Newton's method makes {counts[1][1]} linear "
            f"systems besides, CD-Lagrange {counts[0][1]}. No critical step binds Moreau-Jean to this one."
        ),
        counts[1][0] / counts[0][0],
        1.0,
    )
    return finding if at_rest else refused(finding, " Not both are at rest.")


def judge_scaling(runs: Runs) -> Verdict:
    """Decides ``distasio-arch-scaling``."""
    light, heavy = ({"m": 0.25, "h": 0.3}, {"m": 4, "h": 1.2})
    found = [runs(CASE, CD, stop_ratio=case.SMALL_RATIO, **values) for values in (light, heavy)]
    steps = [run.summary["steps"] for run in found]
    parts = [run.results["static_distance"] / depth(run) for run in found]
    nodes = [run.results["active_nodes"] for run in found]
    finding = Verdict.above(
        (
            f"Steps to the criterion with nodes of 0.25 kg at h = 0.3 s ({steps[0]}) over those with 4 kg at "
            f"h = 1.2 s ({steps[1]}), the same part of the critical step 2/omega: it grows with the root of the "
            f"mass; both on {touching_nodes(found[0])}, {parts[0]:.2g} and {parts[1]:.2g} of h v from statics."
        ),
        steps[0] / steps[1],
        1.0,
    )
    good = max(parts) <= 1 and nodes[0] == nodes[1] != []
    return finding if good else refused(finding, " They do not end alike.")
