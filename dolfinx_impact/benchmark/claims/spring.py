"""The rotating spring: what Di Stasio et al. (2019) and their CSMA paper say of it, and Figs. 15 to 18.

Without friction, and of the case itself; what rubs is in :mod:`.spring_friction`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .. import convergence
from ..runs import FailedRun, Runs
from .claim import CSMA, DI_STASIO, Claim, Finding
from .spring_figures import FIGURES
from .spring_friction import (
    judge_coulomb,
    judge_dissipative,
    judge_final,
    judge_mean,
    judge_no_contact,
    judge_phases,
    judge_same_algorithm,
    judge_tangent,
    judge_tangential,
    judge_visible_impacts,
)
from .spring_runs import (
    CASE, CD, DECOUPLED, MJ, ROUNDING, RUBS, VISIBLE, cross, force, impact_depths, impacts, mass, momentum,
    swing,
)  # fmt: skip

__all__ = ["CLAIMS", "FIGURES"]


# Figure 15: position without friction


def judge_penetration(runs: Runs, scheme: str) -> Finding:
    run = runs(CASE, scheme, t_end=5)
    depths, limit = impact_depths(run), VISIBLE * run.summary["parameters"]["radius"]
    smallest = float(depths.min()) if depths.size else 0.0
    return Finding.above(
        smallest, limit,
        f"smallest depth of an impact in 5 s [m]; the {np.sum(depths > limit)} of {depths.size} impacts that "
        f"are deeper than a hundredth of the radius reach {max(0.0, depths.max(initial=0)):.3g} m. "
        "CD-Lagrange looks at the new position, behind the wall; Moreau-Jean at a forecast over half a step, "
        "so that it turns the mass in front of the wall (negative depth) as often as behind it",
    )  # fmt: skip


def judge_large_step(runs: Runs) -> Finding:
    deep, shallow = (runs(CASE, CD, h=h).results["penetration_max"] for h in (0.1, 0.01))
    return Finding.above(
        deep / shallow if shallow > 0 else 0.0, math.sqrt(10),
        f"largest penetration at h = 0.1 s ({deep:.3g} m) over that at h = 0.01 s ({shallow:.3g} m): of "
        "order h, as the mass is found behind the wall after up to one whole step; sqrt(10) would be half an "
        "order",
    )  # fmt: skip


def judge_inside(runs: Runs) -> Finding:
    found = [runs(CASE, s, **law).results for s in (CD, MJ) for law in ({}, RUBS)]
    part = max(one["penetration_max"] / one["step_length"] for one in found)
    return Finding.below(
        part, 1.0,
        "largest penetration over 100 s as a part of the way of one step h |v|, both schemes, with and "
        "without friction: contact is found at the first step that ends behind the wall",
    )  # fmt: skip


# Figure 16: momentum without friction


def judge_central_impulse(runs: Runs) -> Finding:
    run = runs(CASE, CD)
    L, hits = momentum(run), impacts(run)
    change = np.abs(np.diff(L))[hits - 1].max(initial=0.0) / abs(L[0])
    finding = Finding.below(
        change, ROUNDING,
        f"largest relative change of x ^ m v by one of {hits.size} impulses: they point to the centre, along "
        "x",
    )
    return finding if hits.size else Finding.above(0, 0, "there was no impulse")


def judge_oscillates(runs: Runs, late: bool = False) -> Finding:
    run = runs(CASE, MJ, **(RUBS if late else {}))
    last = run["t"] >= (0.8 * run["t"][-1] if late else 0)
    L, p = momentum(run), run.summary["parameters"]
    size = swing(L[last]) / abs(L[0])
    predicted = p["h"] ** 2 / 4 * np.ptp(cross(run["v"][: len(L)], force(run))[last]) / abs(L[0])
    return Finding.above(
        size, ROUNDING,
        f"swing of x ^ m v relative to its initial value: the trapezoidal rule keeps x ^ m v + (h^2/4) v ^ F "
        f"instead, whose last term swings by {predicted:.3g}; CD-Lagrange stays below {ROUNDING:g}",
    )  # fmt: skip


def judge_loss(runs: Runs, scheme: str, why: str) -> Finding:
    found = runs(CASE, scheme).results
    invariant = f"; x ^ m v + (h^2/4) v ^ F changes by {found['invariant_drift']:.2g}"
    return Finding.above(
        found["momentum_loss"], 0.1,
        f"relative loss over 100 s, largest difference {found['momentum_drift']:.3g}{invariant}: {why}",
    )  # fmt: skip


def judge_convergence(runs: Runs, steps: tuple[float, ...] = (0.1, 0.05, 0.025)) -> Finding:
    drifts = [runs(CASE, MJ, h=h).results["momentum_drift"] for h in steps]
    listed = ", ".join(f"{drift:.2g} at h = {h:g} s" for h, drift in zip(steps, drifts))
    return Finding.equal(
        convergence.order(steps, np.maximum(drifts, 1e-300)), 2, 0.2,
        f"order in h of the largest relative change of x ^ m v over 100 s ({listed}): it is not kept at any "
        "step, and tends to be as h^2, the size of (h^2/4) v ^ a",
    )  # fmt: skip


def judge_exact(runs: Runs, analytic: bool = False) -> Finding:
    run = runs(CASE, CD)
    L, p = momentum(run), run.summary["parameters"]
    true = p["m"] * (p["x0"] * p["vy0"] - p["y0"] * p["vx0"]) if analytic else L[0]
    return Finding.below(
        np.abs(L - true).max() / abs(true), ROUNDING,
        f"largest relative change of x ^ m v over {len(L) - 1} steps with {run.results['contact_phases']} "
        "impacts: the force and the impulse at t_n both point along u_n",
    )  # fmt: skip


def judge_long_error(runs: Runs, scheme: str) -> Finding:
    run = runs(CASE, scheme)
    drift = np.abs(momentum(run) - momentum(run)[0]) / abs(momentum(run)[0])
    early, whole = float(drift[run["t"] <= 10].max()), float(drift.max())
    return Finding.above(
        whole / early if early > 0 else 0.0, 2.0,
        f"largest relative error of the momentum over 100 s ({whole:.3g}) over that of the first 10 s "
        f"({early:.3g}): the coupled scheme keeps x ^ m v + (h^2/4) v ^ F, so that its error is bounded; "
        "the decoupled one loses some in every impact",
    )  # fmt: skip


# The case itself


def judge_critical(runs: Runs, factors: tuple[int, ...] = (1, 2, 4, 8)) -> Finding:
    for factor in factors:
        try:
            runs(CASE, CD, h=0.1 * factor, t_end=20)
        except FailedRun as failed:
            return Finding(
                factor, 10.0, 0.0, 1 < factor <= 10,
                f"the step 0.1 s times this is too large for CD-Lagrange ({failed}), half of it is not: the "
                "step of the paper and the critical one are of the same order of magnitude",
            )  # fmt: skip
    return Finding(factors[-1], 10.0, 0.0, False, "no multiple of the step that was tried is too large")


def judge_newton(runs: Runs) -> Finding:
    run = runs(CASE, MJ)
    h, m, free = run.results["h"], mass(run), run["r"][1:, 0] == 0
    u, v, F, p = run["u"], run["v"][: len(run["t"])], force(run), run.summary["parameters"]
    unit = u / np.hypot(*u.T)[:, None]
    push = m * np.diff(v, axis=0) - h / 2 * (F[1:] + F[:-1])
    scale = m * np.hypot(*v.T).max()
    du, ratio = np.diff(u, axis=0), p["l0"] / np.hypot(*u.T)[:-1, None]
    along = np.sum(du * unit[:-1], axis=1)[:, None] * unit[:-1]
    tangent = -p["k"] * ((1 - ratio) * du + ratio * along)
    left = h / 2 * np.abs(np.diff(F, axis=0) - tangent)[free].max() / scale
    return Finding.below(
        np.abs(push)[free].max() / scale, ROUNDING,
        f"largest unbalanced momentum of a step without contact, relative, of Moreau-Jean with Newton's "
        f"method; a single linear solve about x_n would leave up to {left:.2g}: the spring's force is not "
        "linear in x",
    )  # fmt: skip


def _claim(id: str, paper: str, where: str, claim: str, judge: Any, **options: Any) -> Claim:
    return Claim(id, CASE, paper, where, claim, partial(judge, **options) if options else judge)


_COUPLED = "the coupled scheme keeps an invariant of its own, so that x ^ m v only swings"
_FREE = (
    "the impulse is found after a step without contact, with H = L M^-1 L^T, along a normal that is not that "
    "of the position it acts at, as CSMA (2019) prints it; the coupled scheme loses none"
)
_SECTION = "section Rotating spring"
_2_3 = "section 2.3"

CLAIMS: tuple[Claim, ...] = (
    _claim("distasio-spring-critical", DI_STASIO, _SECTION,
           "The step 0.1 s is of the order of the critical one.", judge_critical),
    _claim("distasio-spring-newton", DI_STASIO, _SECTION,
           "Large rotations make the case nonlinear: implicit schemes need Newton's method.", judge_newton),
    _claim("distasio-spring-inside", DI_STASIO, f"{_SECTION}, Figs. 15, 17",
           "The wall holds the mass inside, but for a residual penetration.", judge_inside),
    _claim("distasio-fig15-penetration-cd", DI_STASIO, "Fig. 15",
           "CD-Lagrange penetrates visibly at each impact.", judge_penetration, scheme=CD),
    _claim("distasio-fig15-penetration-mj", DI_STASIO, "Fig. 15",
           "Moreau-Jean penetrates visibly at each impact.", judge_penetration, scheme=MJ),
    _claim("distasio-fig15-large-step", DI_STASIO, "Fig. 15",
           "The penetration comes from the large time step.", judge_large_step),
    _claim("distasio-fig16-central-impulse", DI_STASIO, "Fig. 16",
           "Without friction the impulse is parallel to the position and leaves the angular momentum alone.",
           judge_central_impulse),
    _claim("distasio-fig16-oscillates", DI_STASIO, "Fig. 16",
           "The angular momentum of Moreau-Jean oscillates.", judge_oscillates),
    _claim("distasio-fig16-loss", DI_STASIO, "Fig. 16",
           "The angular momentum of Moreau-Jean loses more than 10 % over 100 s (the coupled scheme).",
           judge_loss, scheme=MJ, why=_COUPLED),
    _claim("distasio-fig16-loss-decoupled", DI_STASIO, "Fig. 16",
           "The angular momentum of Moreau-Jean loses more than 10 % over 100 s (the decoupled variant).",
           judge_loss, scheme=DECOUPLED, why=_FREE),
    _claim("distasio-fig16-convergence", DI_STASIO, "Fig. 16",
           "Moreau-Jean conserves the angular momentum at convergence only.", judge_convergence),
    _claim("distasio-fig16-exact", DI_STASIO, "Fig. 16",
           "CD-Lagrange conserves the angular momentum exactly.", judge_exact),
    _claim("distasio-spring-long", DI_STASIO, f"{_SECTION}, last paragraph",
           "The error of Moreau-Jean's angular momentum can become large in long simulations.",
           judge_long_error, scheme=MJ),
    _claim("distasio-fig18-tangential", DI_STASIO, "Fig. 18",
           "With friction each impact decreases the angular momentum by the tangential force.",
           judge_tangential),
    _claim("distasio-fig17-tangent", DI_STASIO, "Figs. 17, 18",
           "The mass ends in an orbit tangent to the wall.", judge_tangent),
    _claim("distasio-fig18-final", DI_STASIO, "Fig. 18",
           "Both schemes end with a smaller angular momentum than the refined solution.", judge_final),
    _claim("distasio-fig18-phases", DI_STASIO, "Fig. 18",
           "Both schemes have more phases of contact than the refined solution.", judge_phases),
    _claim("distasio-fig18-oscillates", DI_STASIO, "Fig. 18",
           "In its tangent state Moreau-Jean's angular momentum still oscillates.",
           judge_oscillates, late=True),
    _claim("distasio-spring-complexity", DI_STASIO, f"{_SECTION}, Algorithm 2, last paragraph",
           "Friction makes the algorithm no more complex: mu = 0 is the frictionless one.",
           judge_same_algorithm),
    _claim("csma-spring-exact", CSMA, f"{_2_3}, Fig. 4",
           "CD-Lagrange conserves the angular momentum at its analytical value.",
           judge_exact, analytic=True),
    _claim("csma-spring-loss", CSMA, f"{_2_3}, Fig. 4",
           "Moreau-Jean loses more than 10 % of the angular momentum over 100 s (as printed there, with "
           "H = L M^-1 L^T).", judge_loss, scheme=DECOUPLED, why=_FREE),
    _claim("csma-spring-no-contact", CSMA, f"{_2_3}, Fig. 5",
           "The system goes to a state in which it no longer comes into contact.", judge_no_contact),
    _claim("csma-spring-dissipative", CSMA, f"{_2_3}, Fig. 5",
           "With friction contact dissipates, and lowers the angular momentum.", judge_dissipative),
    _claim("csma-spring-impacts", CSMA, f"{_2_3}, Fig. 5",
           "Both solutions at h = 0.1 s show more impacts than the refined one.", judge_visible_impacts),
    _claim("csma-spring-mean", CSMA, f"{_2_3}, Fig. 5",
           "In the tangent state Moreau-Jean's angular momentum oscillates about a mean value.", judge_mean),
    _claim("csma-spring-error", CSMA, f"{_2_3}, last paragraph",
           "Not conserving the angular momentum can cause a large error (the decoupled variant).",
           judge_long_error, scheme=DECOUPLED),
    _claim("csma-spring-friction", CSMA, f"{_2_3}, last paragraph",
           "Both schemes go from sliding without to sliding with friction simply.", judge_coulomb),
)  # fmt: skip
