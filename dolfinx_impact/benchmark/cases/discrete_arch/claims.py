"""The discrete arch: what Di Stasio et al. (2019) say of it, and Figs. 24 and 25.

Their kappa/(k R^2) = 4.16e-3 leaves no snapped state: all claims but one are judged at 1e-4. Central
differences stop a node below the floor by up to h times the speed of impact (:func:`~.measures.depth`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...claim import DI_STASIO, FailedRun, Measured, Runs, above, below, equal, row, table
from ...convergence import effort, order, scatter
from . import case
from . import measures as m
from .figures import FIGURES as FIGURES
from .measures import CASE, CD, MJ

ROUNDING = 1e-12
ENDS = 10**6  # steps between samples: the two ends only
DAMPINGS = (0.02, 0.05, 0.1, 0.2, 0.5)  # [1/s]


def _on_other_nodes(runs: Runs) -> Measured:
    reference = runs(CASE, CD, every=ENDS).results["active_nodes"]
    others = [runs(CASE, CD, every=ENDS, **variant).results for variant in case.VARIANTS]
    middle = [other["middle_height"] for other in others]
    apart = sum(other["active_nodes"] != reference for other in others)
    note = f"The middle ends between {min(middle):.4g} and {max(middle):.4g} m"
    return Measured(apart, holds=bool(reference), note=note)


def _from_statics(runs: Runs, **settings: float) -> Measured:
    """Largest distance from the static minimum [m], where the same nodes touch; the time of the end."""
    run = runs(CASE, CD, **settings)
    results = run.results
    holds = results["active_nodes"] == results["static_nodes"] != []
    holds &= not settings.get("stop_ratio") or results["stop_time"] < run.summary["parameters"]["t_end"]
    note = f"At {results['stop_time']:.4g} s {m.touching_nodes(run)} press"
    return Measured(results["static_distance"], m.depth(run), holds=holds, note=note)


def _order(runs: Runs, steps: tuple[float, ...] = (0.6, 0.3, 0.15, 0.075), places: int = 9) -> Measured:
    """Order of the mean over an octave of steps, and twice the standard deviation of such an order."""
    means = []
    for h in steps:
        octave = [h * 0.5 ** (place / places) for place in range(places)]
        results = [runs(CASE, CD, h=one, t_end=1200, every=ENDS).results for one in octave]
        means.append(float(np.mean([one["static_distance"] for one in results])))
    return Measured(order(steps, np.maximum(means, 1e-300)), tolerance=2 * scatter(steps, places))


def _frozen(runs: Runs) -> Measured:
    run = runs(CASE, CD, t_end=1200)
    still, limit = m.frozen(run), 1e-8 * run.summary["parameters"]["R"]
    apart = np.abs(run["r"][-1] / run.results["h"] - still.forces).max()
    left = m.remaining(run)
    return Measured(left, limit, holds=bool(still.active), note=f"The forces r/h differ by {apart:.1g} N")


def _lowest(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    floor, holds = run.summary["parameters"]["floor"], bool(run.results["active_nodes"])
    return Measured(m.heights(run)[-1].min(), -floor, m.depth(run), holds, f"{m.touching_nodes(run)} press")


def _printed(runs: Runs) -> Measured:
    usual, run = (runs(CASE, CD, kappa=4.16e-3, load=load, every=ENDS) for load in (1e-3, 1e-2))
    floor, results, chain = run.summary["parameters"]["floor"], run.results, m.arch(run)
    top = case.snapped_equilibrium(chain, floor).positions[chain.heights].max()
    note = f"First contact: {results['contact_start']} s; {usual.results['middle_height']:.3g} m with the "
    note += f"load of the case; from the mirror image statics leads to {top:.3g} m: no snapped state exists"
    return Measured(results["middle_height"], -floor, floor, bool(results["active_nodes"]), note)


def _temporary(runs: Runs) -> Measured:
    run, back = runs(CASE, CD), runs(CASE, CD, load=1e-4, every=ENDS).results["middle_height"]
    p, heights = run.summary["parameters"], m.heights(run).mean(axis=1)
    loaded, holds = heights[run["t"] < p["release"]][-1], bool(run.results["active_nodes"]) and back > 0
    note = f"{loaded:.3g} m under the load; with one of 1e-4 N the middle returns to {back:.3g} m"
    return Measured(heights[-1], -p["floor"], p["floor"], holds, note)


def _newly(runs: Runs) -> Measured:
    pressed = runs(CASE, CD)["r"] > 0
    hit = (pressed[1:] & ~pressed[:-1]).sum(axis=1)
    return Measured(int(hit.max()), note=f"Up to {int(pressed.sum(axis=1).max())} nodes press at once")


def _not_alone(runs: Runs, t_end: float = 900) -> float:
    """Impulses less ``-m v*`` of the node's own velocity ``v*``, over the largest impulse."""
    run = runs(CASE, CD, t_end=t_end)
    chain, h, mass = m.arch(run), run.results["h"], run.summary["parameters"]["m"]
    free, f = np.zeros((len(run["t"]) - 1, run["r"].shape[1])), np.zeros(chain.size)
    for n, t in enumerate(run["t"][1:]):
        chain.force(float(t), run["u"][n + 1], run["v"][n], f)
        free[n] = (run["v"][n] + h / mass * f)[chain.heights]
    alone = np.where(run["r"][1:] > 0, np.maximum(0.0, -mass * free), 0.0)
    largest = run["r"].max()
    return np.abs(run["r"][1:] - alone).max() / largest if largest > 0 else np.inf


def _highest(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    acts, limit = run["r"] > 0, run.summary["parameters"]["gap_tolerance"]
    return Measured(run["gap"][acts].max(initial=0.0), limit, holds=acts.any(), note=f"{acts.sum()} impulses")


def _ratio(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    ratio = run.results["contact_impulse_ratio"]
    note = f"Below it for good from {run['t'][m.since(run)]:.4g} s on"
    return Measured(np.inf if ratio is None else ratio, note=note)


def _speeds(runs: Runs) -> Measured:
    made = [m.stopped_run(runs, mu) for mu in (0.2, 0.5)]
    speeds = [float(np.hypot(*run["v"][-2].reshape(-1, 2).T).max()) for run in made]
    left = [m.remaining(run) for run in made]
    note = f"{speeds[0]:.2g} and {speeds[1]:.2g} m/s, {left[0]:.2g} and {left[1]:.2g} m left to go"
    return Measured(speeds[0] / max(speeds[1], 1e-300), note=note)


def _left(runs: Runs, first: bool, dampings: Sequence[float] = DAMPINGS) -> dict[str, float]:
    """Distance from rest over h v, at the first step with a small ratio or where it is small for good."""
    parts = {}
    for mu in dampings:
        run = m.stopped_run(runs, mu) if first else runs(CASE, CD, damping=mu, t_end=3000)
        end = run["u"][-1 if first else m.since(run)]
        parts[f"{mu:g} 1/s"] = case.distance(end, m.frozen(run).positions) / m.depth(run)
    return parts


def _kinetic(runs: Runs) -> Measured:
    made = [runs(CASE, CD), runs(CASE, CD, damping=0.0)]
    damped, free = (run.results["static_distance"] / m.depth(run) for run in made)
    left = [float(run["kinetic"][-1] / run["kinetic"].max()) for run in made]
    note = f"{left[1]:.2g} without it; {damped:.2g} and {free:.2g} of h v from statics"
    return Measured(left[0], holds=damped <= 1 < free, note=note)


def _costs(runs: Runs) -> Measured:
    counts, at_rest = [], True
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, h=0.6, stop_ratio=case.SMALL_RATIO)
        s = case.started(runs.scheme(scheme), run.summary["parameters"])
        made = effort(s, run.summary["steps"])
        counts.append((int(made.forces.sum()), int(made.systems.sum())))
        at_rest &= run.results["static_distance"] <= m.depth(run)
    (ours, few), (theirs, many) = counts
    note = f"{theirs} and {ours}, with {many} and {few} linear systems"
    return Measured(theirs / ours, holds=at_rest, note=note)


def _scaled(runs: Runs) -> Measured:
    values = ({"m": 0.25, "h": 0.3}, {"m": 4, "h": 1.2})
    made = [runs(CASE, CD, stop_ratio=case.SMALL_RATIO, **changed) for changed in values]
    (light, nodes), (heavy, others) = ((run.summary["steps"], run.results["active_nodes"]) for run in made)
    holds = nodes == others != [] and all(run.results["static_distance"] <= m.depth(run) for run in made)
    note = f"{light} and {heavy}, both on {m.touching_nodes(made[0])}"
    return Measured(light / heavy, holds=holds, note=note)


def _suitable(runs: Runs, settings: Mapping[str, Mapping[str, float]] | None = None) -> Measured:
    """Cases of the benchmark that Moreau-Jean takes to their end."""
    cases, failures = ("bouncing-ball", "van-der-pol", "rotating-spring", "impacting-bar", CASE), []
    for name in cases:
        try:
            runs(name, MJ, **(settings or {}).get(name, {}))
        except FailedRun as failed:
            failures.append(f"{name} fails: {failed}")
    return Measured(len(cases) - len(failures), len(cases), 0.0, note="; ".join(failures))


_SECTION = "Discrete arch"
_HV = "limit: depth h v of an impact"

CLAIMS = table(CASE, DI_STASIO, [
    row("arch-static", _SECTION, "An explicit scheme finds the static state by its final equilibrium.",
        _from_statics, below(), f"distance from the minimum of the energy [m]; {_HV}", t_end=1200),
    row("arch-cheap", _SECTION,
        "An explicit simulation is a cheap way to statics (taken as: cheaper than an implicit one, same h).",
        _costs, above(1.0), "evaluations of forces until the criterion, of Moreau-Jean over CD-Lagrange"),
    row("arch-scaling", _SECTION, "With a scaled mass fewer, larger steps find the same static state.",
        _scaled, above(1.0), "steps to the criterion, 0.25 kg and h = 0.3 s over 4 kg and h = 1.2 s"),
    row("arch-independent", _SECTION, "Neither load nor mass nor viscous damping influences the final state.",
        _on_other_nodes, equal(0, 0), f"of {len(case.VARIANTS)} variants, those that end on other nodes"),
    row("arch-order", _SECTION, "They are numerical artefacts: what they leave of the impact is of order h.",
        _order, equal(1.0), "order in h of the distance from statics, each the mean over an octave of steps"),
    row("arch-forces", _SECTION,
        "The model is that of the internal forces alone: their minimum, each node at its depth, is the end.",
        _frozen, below(), "distance from that minimum [m]; limit: 1e-8 of the radius"),
    row("arch-temporary", "Fig. 24",
        "A temporary load takes the arch past its limit point; it stays snapped.",
        _temporary, equal(), "mean height of the nodes at the end [m], below the supports and on the floor"),
    row("fig24-snaps", "Fig. 24", "The arch snaps to a new equilibrium in contact at d_c below the supports.",
        _lowest, equal(), "height of the lowest node at the end [m]; tolerance: depth h v of an impact"),
    row("arch-printed", _SECTION, "With kappa/(k R^2) = 4.16e-3 the arch snaps to equilibrium on the floor.",
        _printed, equal(), "height of the middle at the end [m], ten times the load; below the supports"),
    row("arch-multiple", "Remark 5", "Several nodes can impact in the same step.",
        _newly, above(1), "nodes that one step finds newly in contact, at most"),
    row("arch-diagonal", "Remarks 4 and 5",
        "The Delassus operator is diagonal: a node finds its impulse alone.",
        _not_alone, below(ROUNDING), "impulse less -m v* of the node's own velocity v*, over the largest"),
    row("arch-sign", "Remark 5", "The contact condition of a node is the sign of its position.",
        _highest, below(), "largest height above the floor at which an impulse acts [m]"),
    row("fig25-ratio", "Fig. 25", "The vertical impulse of inertia becomes small against that of contact.",
        _ratio, below(case.SMALL_RATIO), "ratio of the impulses at the end: damping takes the velocity"),
    row("fig25-stop", "Fig. 25", "When the ratio is small the simulation can stop: statics is reached.",
        _from_statics, below(), f"distance from statics [m] where it is; {_HV}", stop_ratio=case.SMALL_RATIO),
    row("arch-velocity", _SECTION, "The nodal velocity near the end depends on the level of damping.",
        _speeds, equal(2.5, 0.125), "ratio of the speeds at the criterion with 0.2 and 0.5 1/s: inverse"),
    row("arch-criterion", _SECTION, "The ratio of the impulses is a criterion independent of the damping.",
        _left, below(0.1), "distance from rest over h v where the ratio is small for good", first=False),
    row("arch-criterion-first", _SECTION,
        "The ratio is a criterion independent of the level of damping (taken as: the first step below it).",
        _left, below(0.1), "distance from rest over h v, where a swing may pass zero", first=True),
    row("arch-viscous", _SECTION, "A viscous term takes the kinetic energy until the state is static.",
        _kinetic, below(ROUNDING), "kinetic energy at the end over its largest"),
    row("suitable-implicit", "Introduction", "The test cases are suitable for implicit schemes too.",
        _suitable, equal(), "cases of the benchmark that Moreau-Jean, which is implicit, takes to their end"),
], prefix="distasio-")  # fmt: skip
