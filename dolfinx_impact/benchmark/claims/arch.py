"""The discrete arch: what Di Stasio et al. (2019) say of it, and Figs. 24 and 25.

Their stiffness of the torsion springs, kappa/(k R^2) = 4.16e-3, leaves no snapped state; all but one of
the claims are judged at 1e-4. Central differences stop a node at the first step that finds it below
the floor, so that the static configuration is reached but for a depth of at most h times the speed
of the impact (:func:`~.arch_runs.depth`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import discrete_arch as case
from ..runs import Run, Runs
from .arch_figures import FIGURES
from .arch_runs import (
    CASE, CD, MJ, arch, contact, depth, frozen, heights, inertia, remaining, stopped_run,
)  # fmt: skip
from .claim import DI_STASIO, Claim, Finding

__all__ = ["CLAIMS", "FIGURES"]

PRINTED_KAPPA = 4.16e-3
ROUNDING = 1e-12
#: A long interval between samples: the two ends only.
ENDS = 10**6


def _short(run: Run) -> str:
    return f"nodes {', '.join(map(str, run.results['active_nodes'])) or 'none'}"


# The final configuration


def judge_independent(runs: Runs) -> Finding:
    reference = runs(CASE, CD, every=ENDS)
    others = [runs(CASE, CD, every=ENDS, **variant) for variant in case.VARIANTS]
    nodes = reference.results["active_nodes"]
    apart = sum(run.results["active_nodes"] != nodes for run in others)
    middle = [run.results["middle_height"] for run in others]
    finding = Finding.equal(
        apart, 0, 0,
        f"of {len(others)} variants of mass, damping, load and step, those that end on other nodes than "
        f"{_short(reference)[6:]}; the height of the middle lies between {min(middle):.4g} and "
        f"{max(middle):.4g} m, by the depths at which the nodes are stopped",
    )  # fmt: skip
    return finding if nodes else Finding.equal(1, 0, 0, "no node touches at the end")


def judge_static(runs: Runs, t_end: float = 1200) -> Finding:
    run = runs(CASE, CD, t_end=t_end)
    found = run.results
    finding = Finding.below(
        found["static_distance"], depth(run),
        "largest distance of a node from the minimum of the energy above the floor [m]; tolerance: the way "
        f"of one step at the speed of the impact, h v. The same nodes touch: {_short(run)}",
    )  # fmt: skip
    same = found["active_nodes"] == found["static_nodes"] != []
    why = f"{_short(run)} touch, in statics {found['static_nodes']}"
    return finding if same else Finding.equal(1, 0, 0, why)


def judge_order(runs: Runs, steps: tuple[float, ...] = (0.6, 0.3, 0.15, 0.075)) -> Finding:
    found = [runs(CASE, CD, h=h, t_end=1200) for h in steps]
    parts = [run.results["static_distance"] / depth(run) for run in found]
    apart = [run.results["static_distance"] for run in found]
    sizes = ", ".join(f"{distance:.2g} m at h = {h:g} s" for h, distance in zip(steps, apart))
    return Finding.below(
        max(parts), 1.0,
        f"largest distance from the static minimum over h v ({sizes}): of order h, anywhere between 0 and "
        "the way of one step, as a node is stopped wherever its step ends",
    )  # fmt: skip


def judge_frozen(runs: Runs) -> Finding:
    run = runs(CASE, CD, t_end=1200)
    still = frozen(run)
    force = run["r"][-1] / run.results["h"]
    finding = Finding.below(
        remaining(run), 1e-8 * run.summary["parameters"]["R"],
        "distance from the static minimum [m] with the floor under every node put at the depth at which it "
        f"was stopped; the contact forces r/h differ by {np.abs(force - still.forces).max():.1g} N",
    )  # fmt: skip
    return finding if still.active else Finding.equal(1, 0, 0, "no node touches the floor")


def judge_snaps(runs: Runs) -> Finding:
    run = runs(CASE, CD)
    floor = run.summary["parameters"]["floor"]
    lowest = float(heights(run)[-1].min())
    finding = Finding.equal(
        lowest, -floor, depth(run),
        f"height of the lowest node at the end [m], long after the load is gone; {_short(run)} press on the "
        "floor. Tolerance: the way of one step h v",
    )  # fmt: skip
    return finding if run.results["active_nodes"] else _not(finding, "; no node touches")


def judge_printed(runs: Runs, loads: tuple[float, ...] = (1e-3, 1e-2)) -> Finding:
    found = [runs(CASE, CD, kappa=PRINTED_KAPPA, load=load, every=ENDS) for load in loads]
    run = found[-1]
    snapped = bool(run.results["active_nodes"]) and run.results["middle_height"] < 0
    chain, floor = arch(run), run.summary["parameters"]["floor"]
    still = case.snapped_equilibrium(chain, floor)
    top, touching = still.positions[chain.heights].max(), len(still.active)
    start = run.results["contact_start"]
    reached = f"reaches it at {start:.3g} s" if start is not None else "does not reach it"
    return Finding(
        run.results["middle_height"], -floor, 0.0, snapped,
        f"height of the middle at the end [m] with the printed stiffness {PRINTED_KAPPA:g} and a load ten "
        f"times that of the case, which presses the arch to the floor (it {reached}); with the load of the "
        f"case it ends at {found[0].results['middle_height']:.3g} m. Pushed through to its mirror image, "
        f"its minimum of energy is found at {top:.3g} m with {touching} nodes in contact: springs so "
        "stiff bring the arch back to its unloaded shape",
    )  # fmt: skip


def _not(finding: Finding, why: str) -> Finding:
    return Finding(finding.measured, finding.expected, finding.tolerance, False, finding.why + why)


# Remark 5


def judge_multiple(runs: Runs) -> Finding:
    run = runs(CASE, CD)
    pressed = run["r"] > 0
    hit = (pressed[1:] & ~pressed[:-1]).sum(axis=1)
    return Finding.above(
        int(hit.max()), 1,
        f"largest number of nodes that one step finds newly in contact, {int(np.sum(hit > 1))} steps with "
        f"several; up to {int(pressed.sum(axis=1).max())} nodes press at once",
    )  # fmt: skip


def judge_diagonal(runs: Runs, t_end: float = 900) -> Finding:
    run = runs(CASE, CD, t_end=t_end)
    chain, h, m = arch(run), run.results["h"], run.summary["parameters"]["m"]
    free, f = np.zeros((len(run["t"]) - 1, run["r"].shape[1])), np.zeros(chain.size)
    for n, t in enumerate(run["t"][1:]):
        chain.force(float(t), run["u"][n + 1], run["v"][n], f)
        free[n] = (run["v"][n] + h / m * f)[chain.heights]
    alone = np.where(run["r"][1:] > 0, np.maximum(0.0, -m * free), 0.0)
    largest = float(run["r"].max())
    return Finding.below(
        np.abs(run["r"][1:] - alone).max() / largest if largest > 0 else np.inf, ROUNDING,
        "largest difference between an impulse and -m v*, which takes the node's own velocity v* alone, over "
        f"the largest impulse; {int(np.sum(run['r'] > 0))} impulses. H = L M^-1 L^T is 1/m on its diagonal "
        "and 0 off it, while up to four nodes press at once",
    )  # fmt: skip


def judge_sign(runs: Runs) -> Finding:
    run = runs(CASE, CD)
    gaps, acts = run["gap"], run["r"] > 0
    p = run.summary["parameters"]
    return Finding.below(
        max(0.0, float(gaps[acts].max())) if acts.any() else np.inf, p["gap_tolerance"],
        f"largest height above the floor at which an impulse acts [m], {int(acts.sum())} impulses: the sign "
        "of y + d_c decides alone",
    )  # fmt: skip


# Mass scaling and termination


def judge_ratio(runs: Runs) -> Finding:
    run = runs(CASE, CD)
    found = run.results["contact_impulse_ratio"]
    if found is None:
        return Finding.above(0, 1, "no node touches at the end: there is no ratio")
    after = run["t"][1:] > run.summary["parameters"]["release"]
    large = np.abs(inertia(run)) >= case.SMALL_RATIO * contact(run)
    late = run["t"][1:][after & large]
    since = f"below the limit for good from {late[-1]:.4g} s on" if late.size else "small from the release on"
    return Finding(
        found, case.SMALL_RATIO, 0.0, found < case.SMALL_RATIO,
        f"magnitude of the vertical impulse of inertia over that of contact at {run['t'][-1]:g} s; {since}. "
        "The velocity decays with the damping, the contact impulse stays",
    )  # fmt: skip


def judge_stop(runs: Runs) -> Finding:
    run = runs(CASE, CD, stop_ratio=case.SMALL_RATIO)
    found, end = run.results, run.summary["parameters"]["t_end"]
    finding = Finding.below(
        found["static_distance"], depth(run),
        f"largest distance from the static minimum [m] where the run ended, at {found['stop_time']:.4g} s of "
        f"{end:g} s, with the ratio {case.SMALL_RATIO:g}; tolerance: the depth h v of an impact. "
        f"{_short(run)}",
    )  # fmt: skip
    stopped = found["stop_time"] < end and found["active_nodes"] == found["static_nodes"] != []
    return finding if stopped else _not(finding, ": it did not stop on the nodes of the static solution")


def judge_velocity(runs: Runs, dampings: tuple[float, float] = (0.2, 0.5)) -> Finding:
    found = [stopped_run(runs, mu) for mu in dampings]
    speeds = [float(np.hypot(*run["v"][-2].reshape(-1, 2).T).max()) for run in found]
    forces = [float(contact(run)[-1]) / run.results["h"] for run in found]
    expected = dampings[1] / dampings[0]
    return Finding.equal(
        speeds[0] / max(speeds[1], 1e-300), expected, 0.05 * expected,
        f"ratio of the nodal velocities with dampings of {dampings[0]:g} and {dampings[1]:g} 1/s where the "
        f"criterion {case.SMALL_RATIO:g} is met ({speeds[0]:.2g} and {speeds[1]:.2g} m/s): inverse to the "
        f"damping, but for contact forces ({forces[0]:.4g}, {forces[1]:.4g} N) that depend on the depths of "
        f"the impacts at order h. The distances that are left, {remaining(found[0]):.2g} and "
        f"{remaining(found[1]):.2g} m, are nearly the same: it is the unbalanced force that is measured",
    )  # fmt: skip


def judge_criterion(runs: Runs, dampings: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5)) -> Finding:
    found = [stopped_run(runs, mu) for mu in dampings]
    parts = [run.results["static_distance"] / depth(run) for run in found]
    listed = ", ".join(f"{remaining(run):.1g} m at {mu:g} 1/s" for run, mu in zip(found, dampings))
    return Finding.below(
        max(parts), 1.0,
        f"largest distance from statics over h v where the criterion {case.SMALL_RATIO:g} stops runs of "
        f"different damping; what they still have to go: {listed}. Where the arch creeps to its end the "
        "criterion does not depend on the damping. Where it still swings the sum of the velocities passes "
        "through zero, and the criterion is met in the middle of a swing",
    )  # fmt: skip


def judge_cheap(runs: Runs, h: float = 0.6) -> Finding:
    found = [runs(CASE, scheme, h=h, stop_ratio=case.SMALL_RATIO) for scheme in (CD, MJ)]
    seconds = [run.summary["seconds"] for run in found]
    at_rest = all(run.results["static_distance"] <= depth(run) for run in found)
    finding = Finding.above(
        seconds[1] / seconds[0], 1.0,
        f"seconds of Moreau-Jean, with Newton's method, over those of CD-Lagrange, until the criterion is "
        f"met at h = {h:g} s ({found[1].summary['steps']} and {found[0].summary['steps']} steps), both at "
        "the static configuration: an explicit step takes the internal forces once and solves nothing",
    )  # fmt: skip
    return finding if at_rest else _not(finding, ": not both are at rest")


def judge_scaling(runs: Runs) -> Finding:
    light, heavy = ({"m": 0.25, "h": 0.3}, {"m": 4, "h": 1.2})
    found = [runs(CASE, CD, stop_ratio=case.SMALL_RATIO, **values) for values in (light, heavy)]
    steps = [run.summary["steps"] for run in found]
    parts = [run.results["static_distance"] / depth(run) for run in found]
    nodes = [run.results["active_nodes"] for run in found]
    finding = Finding.above(
        steps[0] / steps[1], 1.0,
        f"steps to the criterion with nodes of 0.25 kg at h = 0.3 s ({steps[0]}) over those with 4 kg at "
        f"h = 1.2 s ({steps[1]}), the same part of the critical step 2/omega: it grows with the root of the "
        f"mass; both on {_short(found[0])}, {parts[0]:.2g} and {parts[1]:.2g} of h v from statics",
    )  # fmt: skip
    good = max(parts) <= 1 and nodes[0] == nodes[1] != []
    return finding if good else _not(finding, ": they do not end alike")


def judge_temporary(runs: Runs, small: float = 1e-4) -> Finding:
    run, weak = runs(CASE, CD), runs(CASE, CD, load=small, every=ENDS)
    t, release = run["t"], run.summary["parameters"]["release"]
    held = float(heights(run)[t < release][-1].mean())
    end = float(heights(run)[-1].mean())
    finding = Finding(
        end, 0.0, 0.0, end < 0 < weak.results["middle_height"],
        f"mean height of the nodes at the end [m], {held:.3g} m before the load is taken away: the arch "
        f"stays snapped without it. With a load of {small:g} N it does not pass the limit point, and its "
        f"middle returns to {weak.results['middle_height']:.3g} m",
    )  # fmt: skip
    return finding if run.results["active_nodes"] else _not(finding, "; no node touches")


def _claim(id: str, where: str, claim: str, judge: Any) -> Claim:
    return Claim(id, CASE, DI_STASIO, where, claim, judge)


_SECTION = "section Discrete arch"

CLAIMS: tuple[Claim, ...] = (
    _claim("distasio-arch-static", _SECTION,
           "An explicit scheme finds the static configuration by its final equilibrium.", judge_static),
    _claim("distasio-arch-cheap", _SECTION,
           "The explicit simulation is a cheap way to the static configuration.", judge_cheap),
    _claim("distasio-arch-scaling", f"{_SECTION}, last paragraph",
           "The mass can be scaled for larger steps: the same static configuration in fewer of them.",
           judge_scaling),
    _claim("distasio-arch-independent", _SECTION,
           "Neither the load nor the mass nor the viscous dissipation influences the final solution.",
           judge_independent),
    _claim("distasio-arch-order", _SECTION,
           "They are artefacts of the numerical solution: what they leave of the impact is of order h.",
           judge_order),
    _claim("distasio-arch-forces", _SECTION,
           "The model is that of the internal forces alone: with the floor at the depths of the impacts its "
           "static minimum is the final solution.", judge_frozen),
    _claim("distasio-arch-temporary", f"{_SECTION}, Fig. 24",
           "A temporary load takes the arch past its limit point; it snaps and stays so.", judge_temporary),
    _claim("distasio-fig24-snaps", "Fig. 24",
           "The arch snaps to a new equilibrium in contact at d_c below the supports.", judge_snaps),
    _claim("distasio-arch-printed", f"{_SECTION}, parameters",
           "With kappa/(k R^2) = 4.16e-3 the arch snaps to an equilibrium on the floor.", judge_printed),
    _claim("distasio-arch-multiple", "Remark 5",
           "Several nodes can impact in the same step.", judge_multiple),
    _claim("distasio-arch-diagonal", "Remarks 4 and 5",
           "The Delassus operator is diagonal: every node finds its impulse alone.", judge_diagonal),
    _claim("distasio-arch-sign", "Remark 5",
           "The contact condition of a node is the sign of its position.", judge_sign),
    _claim("distasio-fig25-ratio", "Fig. 25, termination criteria",
           "The vertical impulse of inertia becomes small against that of contact.", judge_ratio),
    _claim("distasio-fig25-stop", "Fig. 25, termination criteria",
           "When the ratio is small the simulation can stop: the static configuration is there.", judge_stop),
    _claim("distasio-arch-velocity", f"{_SECTION}, termination criteria",
           "The nodal velocity near the end depends on the level of damping.", judge_velocity),
    _claim("distasio-arch-criterion", f"{_SECTION}, termination criteria",
           "The ratio of the impulses is a criterion that does not depend on the level of damping.",
           judge_criterion),
)  # fmt: skip
