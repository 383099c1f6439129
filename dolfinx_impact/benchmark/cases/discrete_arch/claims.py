"""The discrete arch: what Di Stasio et al. (2019) say of it, and Figs. 24 and 25.

Their stiffness of the torsion springs, kappa/(k R^2) = 4.16e-3, leaves no snapped state; all but one of
the claims are judged at 1e-4. Central differences stop a node at the first step that finds it below
the floor, so that the static configuration is reached but for a depth of at most h times the speed
of the impact (:func:`~.measures.depth`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...claim import DI_STASIO, Claim
from ...convergence import order
from ...runs import FailedRun, Runs
from ...verdict import Verdict
from . import case
from .claims_termination import (
    judge_cheap,
    judge_criterion,
    judge_criterion_first,
    judge_ratio,
    judge_scaling,
    judge_stop,
    judge_velocity,
    judge_viscous,
)
from .figures import FIGURES
from .measures import CASE, CD, MJ, arch, depth, frozen, heights, refused, remaining, touching_nodes

__all__ = ["CLAIMS", "FIGURES"]

PRINTED_KAPPA = 4.16e-3
ROUNDING = 1e-12
#: A long interval between samples: the two ends only.
ENDS = 10**6


# The final configuration


def judge_independent(runs: Runs) -> Verdict:
    """Decides ``distasio-arch-independent``."""
    reference = runs(CASE, CD, every=ENDS)
    others = [runs(CASE, CD, every=ENDS, **variant) for variant in case.VARIANTS]
    nodes = reference.results["active_nodes"]
    apart = sum(run.results["active_nodes"] != nodes for run in others)
    middle = [run.results["middle_height"] for run in others]
    finding = Verdict.equal(
        (
            f"Of {len(others)} variants of mass, damping, load and step, those that end on other nodes than "
            f"{touching_nodes(reference)[6:]}; the height of the middle lies between {min(middle):.4g} and "
            f"{max(middle):.4g} m, by the depths at which the nodes are stopped."
        ),
        apart,
        0,
        0,
    )
    return finding if nodes else Verdict.equal("No node touches at the end.", 1, 0, 0)


def judge_static(runs: Runs, t_end: float = 1200) -> Verdict:
    """Decides ``distasio-arch-static``."""
    run = runs(CASE, CD, t_end=t_end)
    found = run.results
    finding = Verdict.below(
        (
            "Largest distance of a node from the minimum of the energy above the floor [m]; tolerance: the way "
            f"of one step at the speed of the impact, h v. The same nodes touch: {touching_nodes(run)}."
        ),
        found["static_distance"],
        depth(run),
    )
    same = found["active_nodes"] == found["static_nodes"] != []
    why = f"{touching_nodes(run).capitalize()} touch, in statics {found['static_nodes']}."
    return finding if same else Verdict.equal(why, 1, 0, 0)


def judge_order(runs: Runs, steps: tuple[float, ...] = (0.6, 0.3, 0.15, 0.075), places: int = 9) -> Verdict:
    """Decides ``distasio-arch-order``."""
    means = []
    for h in steps:
        octave = [h * 0.5 ** (place / places) for place in range(places)]
        found = [runs(CASE, CD, h=one, t_end=1200, every=ENDS).results for one in octave]
        means.append(float(np.mean([one["static_distance"] for one in found])))
    x = np.log(steps)
    scatter = 2 / np.sqrt(3 * places) / np.sqrt(np.sum((x - x.mean()) ** 2))
    sizes = ", ".join(f"{distance:.2g} m from h = {h:g} s" for h, distance in zip(steps, means))
    return Verdict.equal(
        (
            f"Order in h of the distance from the static minimum, mean over {places} steps in each octave "
            f"({sizes} downwards): a node is stopped anywhere in 0 to h v. Tolerance: two standard deviations of "
            "such an order."
        ),
        order(steps, np.maximum(means, 1e-300)),
        1.0,
        scatter,
    )


def judge_frozen(runs: Runs) -> Verdict:
    """Decides ``distasio-arch-forces``."""
    run = runs(CASE, CD, t_end=1200)
    still = frozen(run)
    force = run["r"][-1] / run.results["h"]
    finding = Verdict.below(
        (
            "Distance from the static minimum [m] with the floor under every node put at the depth at which it "
            f"was stopped; the contact forces r/h differ by {np.abs(force - still.forces).max():.1g} N."
        ),
        remaining(run),
        1e-8 * run.summary["parameters"]["R"],
    )
    return finding if still.active else Verdict.equal("No node touches the floor.", 1, 0, 0)


def judge_snaps(runs: Runs) -> Verdict:
    """Decides ``distasio-fig24-snaps``."""
    run = runs(CASE, CD)
    floor = run.summary["parameters"]["floor"]
    lowest = float(heights(run)[-1].min())
    finding = Verdict.equal(
        (
            "Height of the lowest node at the end [m], long after the load is gone; "
            f"{touching_nodes(run)} press on the floor. Tolerance: the way of one step h v."
        ),
        lowest,
        -floor,
        depth(run),
    )
    return finding if run.results["active_nodes"] else refused(finding, " No node touches.")


def judge_printed(runs: Runs, loads: tuple[float, ...] = (1e-3, 1e-2)) -> Verdict:
    """Decides ``distasio-arch-printed``."""
    found = [runs(CASE, CD, kappa=PRINTED_KAPPA, load=load, every=ENDS) for load in loads]
    run = found[-1]
    snapped = bool(run.results["active_nodes"]) and run.results["middle_height"] < 0
    chain, floor = arch(run), run.summary["parameters"]["floor"]
    still = case.snapped_equilibrium(chain, floor)
    top, touching = still.positions[chain.heights].max(), len(still.active)
    start = run.results["contact_start"]
    reached = f"reaches it at {start:.3g} s" if start is not None else "does not reach it"
    return Verdict(
        (
            "Height of the middle at the end [m] with a load ten times that of the case, which presses the arch "
            f"to the floor (it {reached}); with that of the case {found[0].results['middle_height']:.3g} m. Even "
            f"from its mirror image statics leads to {top:.3g} m with {touching} nodes in contact: no snapped "
            "state exists."
        ),
        run.results["middle_height"],
        -floor,
        0.0,
        snapped,
    )


# Remark 5


def judge_multiple(runs: Runs) -> Verdict:
    """Decides ``distasio-arch-multiple``."""
    run = runs(CASE, CD)
    pressed = run["r"] > 0
    hit = (pressed[1:] & ~pressed[:-1]).sum(axis=1)
    return Verdict.above(
        (
            f"Largest number of nodes that one step finds newly in contact, {int(np.sum(hit > 1))} steps with "
            f"several; up to {int(pressed.sum(axis=1).max())} nodes press at once."
        ),
        int(hit.max()),
        1,
    )


def judge_diagonal(runs: Runs, t_end: float = 900) -> Verdict:
    """Decides ``distasio-arch-diagonal``."""
    run = runs(CASE, CD, t_end=t_end)
    chain, h, m = arch(run), run.results["h"], run.summary["parameters"]["m"]
    free, f = np.zeros((len(run["t"]) - 1, run["r"].shape[1])), np.zeros(chain.size)
    for n, t in enumerate(run["t"][1:]):
        chain.force(float(t), run["u"][n + 1], run["v"][n], f)
        free[n] = (run["v"][n] + h / m * f)[chain.heights]
    alone = np.where(run["r"][1:] > 0, np.maximum(0.0, -m * free), 0.0)
    largest = float(run["r"].max())
    return Verdict.below(
        (
            "Largest difference between an impulse and -m v*, which takes the node's own velocity v* alone, over "
            f"the largest impulse; {int(np.sum(run['r'] > 0))} impulses. H = L M^-1 L^T is 1/m on its diagonal "
            "and 0 off it, while up to four nodes press at once."
        ),
        np.abs(run["r"][1:] - alone).max() / largest if largest > 0 else np.inf,
        ROUNDING,
    )


def judge_sign(runs: Runs) -> Verdict:
    """Decides ``distasio-arch-sign``."""
    run = runs(CASE, CD)
    gaps, acts = run["gap"], run["r"] > 0
    p = run.summary["parameters"]
    return Verdict.below(
        (
            f"Largest height above the floor at which an impulse acts [m], {int(acts.sum())} impulses: the sign "
            "of y + d_c decides alone."
        ),
        max(0.0, float(gaps[acts].max())) if acts.any() else np.inf,
        p["gap_tolerance"],
    )


# The load


def judge_temporary(runs: Runs, small: float = 1e-4) -> Verdict:
    """Decides ``distasio-arch-temporary``."""
    run, weak = runs(CASE, CD), runs(CASE, CD, load=small, every=ENDS)
    t, release = run["t"], run.summary["parameters"]["release"]
    held = float(heights(run)[t < release][-1].mean())
    end = float(heights(run)[-1].mean())
    finding = Verdict(
        (
            f"Mean height of the nodes at the end [m], {held:.3g} m before the load is taken away: the arch "
            f"stays snapped without it. With a load of {small:g} N it does not pass the limit point, and its "
            f"middle returns to {weak.results['middle_height']:.3g} m."
        ),
        end,
        0.0,
        0.0,
        end < 0 < weak.results["middle_height"],
    )
    return finding if run.results["active_nodes"] else refused(finding, " No node touches.")


# The whole benchmark


def judge_suitable(runs: Runs, settings: Mapping[str, Mapping[str, float]] | None = None) -> Verdict:
    """Decides ``distasio-suitable-implicit``."""
    cases = ("bouncing-ball", "van-der-pol", "rotating-spring", "impacting-bar", CASE)
    steps, failures = [], []
    for name in cases:
        try:
            steps.append(f"{runs(name, MJ, **(settings or {}).get(name, {})).summary['steps']} of {name}")
        except FailedRun as failed:
            failures.append(f"{name} fails: {failed}")
    return Verdict.equal(
        (
            "Cases of the benchmark that Moreau-Jean, which is implicit, takes to their end (steps: "
            f"{', '.join(steps)}). {'; '.join(failures)}".strip()
        ),
        len(steps),
        len(cases),
        0,
    )


def _claim(id: str, where: str, claim: str, judge: Any) -> Claim:
    return Claim(id, CASE, DI_STASIO, where, claim, judge)


_SECTION = "Discrete arch"

CLAIMS: tuple[Claim, ...] = (
    _claim(
        "distasio-arch-static",
        _SECTION,
        "An explicit scheme finds the static configuration by its final equilibrium.",
        judge_static,
    ),
    _claim(
        "distasio-arch-cheap",
        _SECTION,
        "The explicit simulation is a cheap way to the static configuration (taken as: cheaper than an "
        "implicit one with the same step).",
        judge_cheap,
    ),
    _claim(
        "distasio-arch-scaling",
        _SECTION,
        "The mass can be scaled for larger steps: the same static configuration in fewer of them.",
        judge_scaling,
    ),
    _claim(
        "distasio-arch-independent",
        _SECTION,
        "Neither the load nor the mass nor the viscous dissipation influences the final solution.",
        judge_independent,
    ),
    _claim(
        "distasio-arch-order",
        _SECTION,
        "They are artefacts of the numerical solution: what they leave of the impact is of order h.",
        judge_order,
    ),
    _claim(
        "distasio-arch-forces",
        _SECTION,
        "The model is that of the internal forces alone: with the floor at the depths of the impacts its "
        "static minimum is the final solution.",
        judge_frozen,
    ),
    _claim(
        "distasio-arch-temporary",
        "Fig. 24",
        "A temporary load takes the arch past its limit point; it snaps and stays so.",
        judge_temporary,
    ),
    _claim(
        "distasio-fig24-snaps",
        "Fig. 24",
        "The arch snaps to a new equilibrium in contact at d_c below the supports.",
        judge_snaps,
    ),
    _claim(
        "distasio-arch-printed",
        _SECTION,
        "With kappa/(k R^2) = 4.16e-3 the arch snaps to an equilibrium on the floor.",
        judge_printed,
    ),
    _claim(
        "distasio-arch-multiple", "Remark 5", "Several nodes can impact in the same step.", judge_multiple
    ),
    _claim(
        "distasio-arch-diagonal",
        "Remarks 4 and 5",
        "The Delassus operator is diagonal: every node finds its impulse alone.",
        judge_diagonal,
    ),
    _claim(
        "distasio-arch-sign",
        "Remark 5",
        "The contact condition of a node is the sign of its position.",
        judge_sign,
    ),
    _claim(
        "distasio-fig25-ratio",
        "Fig. 25",
        "The vertical impulse of inertia becomes small against that of contact.",
        judge_ratio,
    ),
    _claim(
        "distasio-fig25-stop",
        "Fig. 25",
        "When the ratio is small the simulation can stop: the static configuration is there.",
        judge_stop,
    ),
    _claim(
        "distasio-arch-velocity",
        _SECTION,
        "The nodal velocity near the end depends on the level of damping.",
        judge_velocity,
    ),
    _claim(
        "distasio-arch-criterion",
        _SECTION,
        "The ratio of the impulses is a criterion that does not depend on the level of damping.",
        judge_criterion,
    ),
    _claim(
        "distasio-arch-criterion-first",
        _SECTION,
        "The ratio of the impulses is a criterion that does not depend on the level of damping (taken as: "
        "at the first step below the limit).",
        judge_criterion_first,
    ),
    _claim(
        "distasio-arch-viscous",
        _SECTION,
        "A viscous term takes the kinetic energy, so that the static state is reached.",
        judge_viscous,
    ),
    _claim(
        "distasio-suitable-implicit",
        "Introduction",
        "The test cases are suitable for implicit schemes too.",
        judge_suitable,
    ),
)
