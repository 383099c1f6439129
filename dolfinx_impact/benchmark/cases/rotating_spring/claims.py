"""The rotating spring: what Di Stasio et al. (2019) and their CSMA paper say of it, and Figs. 15 to 18.

Without friction, and of the case itself; what rubs is in :mod:`.claims_friction`, what symplectic
schemes are in :mod:`.claims_symplectic`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ... import convergence
from ...claim import CSMA, DI_STASIO, Claim
from ...runs import FailedRun, Runs
from ...verdict import Verdict
from .claims_friction import (
    judge_complexity,
    judge_contact_time,
    judge_coulomb,
    judge_dissipative,
    judge_final,
    judge_mean,
    judge_no_contact,
    judge_phases,
    judge_tangent,
    judge_tangential,
    judge_visible_impacts,
)
from .claims_symplectic import judge_better, judge_not_symplectic, judge_symplectic
from .figures import FIGURES
from .measures import (
    CASE,
    CD,
    DECOUPLED,
    MJ,
    ROUNDING,
    RUBS,
    VISIBLE,
    cross,
    force,
    impact_depths,
    impacts,
    mass,
    momentum,
    swing,
)

__all__ = ["CLAIMS", "FIGURES"]


# Figure 15: position without friction


def judge_deep(runs: Runs) -> Verdict:
    """Decides ``distasio-fig15-large``."""
    made = {scheme: runs(CASE, scheme, t_end=5) for scheme in (CD, MJ)}
    deepest = {scheme: float(impact_depths(run).max(initial=0.0)) for scheme, run in made.items()}
    return Verdict.above(
        (
            "Deepest penetration of an impact in 5 s [m], the smaller one of CD-Lagrange "
            f"({deepest[CD]:.3g}) and Moreau-Jean ({deepest[MJ]:.3g}), against a hundredth of the radius."
        ),
        min(deepest.values()),
        VISIBLE * made[MJ].summary["parameters"]["radius"],
    )


def judge_penetration(runs: Runs, scheme: str, why: str) -> Verdict:
    """Decides ``distasio-fig15-penetration-cd``, ``distasio-fig15-penetration-mj`` and their like."""
    run = runs(CASE, scheme, t_end=5)
    depths, limit = impact_depths(run), VISIBLE * run.summary["parameters"]["radius"]
    smallest = float(depths.min()) if depths.size else 0.0
    return Verdict.above(
        (
            f"Smallest depth of an impact in 5 s [m], negative before the wall; {np.sum(depths > limit)} of "
            f"{depths.size} are deeper than a hundredth of the radius, up to {depths.max(initial=0):.3g} m. "
            + why
            + "."
        ),
        smallest,
        limit,
    )


def judge_large_step(runs: Runs) -> Verdict:
    """Decides ``distasio-fig15-large-step``."""
    deep, shallow = (runs(CASE, CD, h=h).results["penetration_max"] for h in (0.1, 0.01))
    return Verdict.above(
        (
            f"Largest penetration at h = 0.1 s ({deep:.3g} m) over that at h = 0.01 s ({shallow:.3g} m): of "
            "order h, as the mass is found behind the wall after up to one whole step; sqrt(10) would be half an "
            "order."
        ),
        deep / shallow if shallow > 0 else 0.0,
        math.sqrt(10),
    )


def judge_inside(runs: Runs) -> Verdict:
    """Decides ``distasio-spring-inside``."""
    found = [runs(CASE, s, **law).results for s in (CD, MJ) for law in ({}, RUBS)]
    part = max(one["penetration_max"] / one["step_length"] for one in found)
    return Verdict.below(
        (
            "Largest penetration over 100 s as a part of the way of one step h |v|, both schemes, with and "
            "without friction: contact is found at the first step that ends behind the wall."
        ),
        part,
        1.0,
    )


# Figure 16: momentum without friction


def judge_central_impulse(runs: Runs) -> Verdict:
    """Decides ``distasio-fig16-central-impulse``."""
    run = runs(CASE, CD)
    L, hits = momentum(run), impacts(run)
    change = np.abs(np.diff(L))[hits - 1].max(initial=0.0) / abs(L[0])
    finding = Verdict.below(
        (
            f"Largest relative change of x ^ m v by one of {hits.size} impulses: they point to the centre, along "
            "x."
        ),
        change,
        ROUNDING,
    )
    return finding if hits.size else Verdict.above("There was no impulse.", 0, 0)


def judge_oscillates(runs: Runs, late: bool = False) -> Verdict:
    """Decides ``distasio-fig16-oscillates``, ``distasio-fig18-oscillates``."""
    run = runs(CASE, MJ, **(RUBS if late else {}))
    last = run["t"] >= (0.8 * run["t"][-1] if late else 0)
    L, p = momentum(run), run.summary["parameters"]
    size = swing(L[last]) / abs(L[0])
    predicted = p["h"] ** 2 / 4 * np.ptp(cross(run["v"][: len(L)], force(run))[last]) / abs(L[0])
    return Verdict.above(
        (
            f"Swing of x ^ m v relative to its initial value: the trapezoidal rule keeps x ^ m v + (h^2/4) v ^ F "
            f"instead, whose last term swings by {predicted:.3g}; CD-Lagrange stays below {ROUNDING:g}."
        ),
        size,
        ROUNDING,
    )


def judge_loss(runs: Runs, scheme: str, why: str) -> Verdict:
    """Decides ``distasio-fig16-loss``, ``distasio-fig16-loss-decoupled`` and their like."""
    found = runs(CASE, scheme).results
    invariant = f"; x ^ m v + (h^2/4) v ^ F changes by {found['invariant_drift']:.2g}"
    return Verdict.above(
        f"Relative loss over 100 s, largest difference {found['momentum_drift']:.3g}{invariant}: {why}.",
        found["momentum_loss"],
        0.1,
    )


def judge_convergence(runs: Runs, steps: tuple[float, ...] = (0.1, 0.05, 0.025)) -> Verdict:
    """Decides ``distasio-fig16-convergence``."""
    drifts = [runs(CASE, MJ, h=h).results["momentum_drift"] for h in steps]
    listed = ", ".join(f"{drift:.2g} at h = {h:g} s" for h, drift in zip(steps, drifts))
    return Verdict.equal(
        (
            f"Order in h of the largest relative change of x ^ m v over 100 s ({listed}): it is not kept at any "
            "step, and tends to be as h^2, the size of (h^2/4) v ^ a."
        ),
        convergence.order(steps, np.maximum(drifts, 1e-300)),
        2,
        0.2,
    )


def judge_exact(runs: Runs, analytic: bool = False) -> Verdict:
    """Decides ``distasio-fig16-exact``, ``csma-spring-exact``."""
    run = runs(CASE, CD)
    L, p = momentum(run), run.summary["parameters"]
    true = p["m"] * (p["x0"] * p["vy0"] - p["y0"] * p["vx0"]) if analytic else L[0]
    return Verdict.below(
        (
            f"Largest relative change of x ^ m v over {len(L) - 1} steps with {run.results['contact_phases']} "
            "impacts: the force and the impulse at t_n both point along u_n."
        ),
        np.abs(L - true).max() / abs(true),
        ROUNDING,
    )


def judge_long_error(runs: Runs, scheme: str) -> Verdict:
    """Decides ``distasio-spring-long``, ``distasio-spring-long-decoupled`` and their like."""
    run = runs(CASE, scheme)
    drift = np.abs(momentum(run) - momentum(run)[0]) / abs(momentum(run)[0])
    early, whole = float(drift[run["t"] <= 10].max()), float(drift.max())
    return Verdict.above(
        (
            f"Largest relative error of the momentum over 100 s ({whole:.3g}) over that of the first 10 s "
            f"({early:.3g}): the coupled scheme keeps x ^ m v + (h^2/4) v ^ F, so that its error is bounded; "
            "the decoupled one loses some in every impact."
        ),
        whole / early if early > 0 else 0.0,
        2.0,
    )


# The case itself


def judge_critical(runs: Runs, halvings: int = 8) -> Verdict:
    """Decides ``distasio-spring-critical``."""
    courant = runs(CASE, CD, t_end=20).summary["parameters"]["courant"]
    low, high = 1.0, 10.0
    if _runs(runs, high):
        return Verdict("Ten times the step is not too large.", high, 10.0, 0.0, False)
    for _ in range(halvings):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _runs(runs, middle) else (low, middle)
    return Verdict(
        (
            f"Multiple of the step 0.1 s from which on CD-Lagrange refuses it; 2 sqrt(m/k) is {1 / courant:.3g} "
            "steps: both are of the same order of magnitude."
        ),
        high,
        10.0,
        0.0,
        1 < high <= 10,
    )


def _runs(runs: Runs, factor: float) -> bool:
    """Whether CD-Lagrange runs with a multiple of the step."""
    try:
        runs(CASE, CD, h=0.1 * factor, t_end=20)
    except FailedRun:
        return False
    return True


def judge_newton(runs: Runs) -> Verdict:
    """Decides ``distasio-spring-newton``."""
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
    return Verdict.below(
        (
            f"Largest unbalanced momentum of a step without contact, relative, of Moreau-Jean with Newton's "
            f"method; a single linear solve about x_n would leave up to {left:.2g}: the spring's force is not "
            "linear in x."
        ),
        np.abs(push)[free].max() / scale,
        ROUNDING,
    )


def _claim(id: str, where: str, claim: str, judge: Any, **options: Any) -> Claim:
    paper = CSMA if id.startswith("csma") else DI_STASIO
    return Claim(id, CASE, paper, where, claim, partial(judge, **options) if options else judge)


_COUPLED = "the coupled scheme keeps an invariant of its own, so that x ^ m v only swings"
_FREE = (
    "the impulse is found after a step without contact, with H = L M^-1 L^T, along a normal that is not that "
    "of the position it acts at, as CSMA (2019) prints it; the coupled scheme loses none"
)
_BEHIND = "CD-Lagrange looks at the new position, which is behind the wall"
_FORECAST = (
    "The forecast over half a step closes the contact as often before the wall as behind it; coupled and "
    "decoupled do the same"
)
_SECTION, _2_3 = "Rotating spring", "Sect. 2.3"

CLAIMS: tuple[Claim, ...] = (
    _claim(
        "distasio-spring-critical",
        _SECTION,
        "The step 0.1 s is of the order of the critical one.",
        judge_critical,
    ),
    _claim(
        "distasio-spring-newton",
        _SECTION,
        "Large rotations make the case nonlinear: implicit schemes need Newton's method.",
        judge_newton,
    ),
    _claim(
        "distasio-spring-inside",
        "Figs. 15, 17",
        "The wall holds the mass inside, but for a residual penetration.",
        judge_inside,
    ),
    _claim("distasio-fig15-large", "Fig. 15", "Both schemes penetrate the wall by much.", judge_deep),
    _claim(
        "distasio-fig15-penetration-cd",
        "Fig. 15",
        "CD-Lagrange penetrates by much at each impact.",
        judge_penetration,
        scheme=CD,
        why=_BEHIND,
    ),
    _claim(
        "distasio-fig15-penetration-mj",
        "Fig. 15",
        "Moreau-Jean penetrates by much at each impact (the coupled scheme).",
        judge_penetration,
        scheme=MJ,
        why=_FORECAST,
    ),
    _claim(
        "distasio-fig15-penetration-decoupled",
        "Fig. 15",
        "Moreau-Jean penetrates by much at each impact (the decoupled variant).",
        judge_penetration,
        scheme=DECOUPLED,
        why=_FORECAST,
    ),
    _claim(
        "distasio-fig15-large-step",
        "Fig. 15",
        "The penetration comes from the large time step.",
        judge_large_step,
    ),
    _claim(
        "distasio-fig16-central-impulse",
        "Fig. 16",
        "Without friction the impulse is parallel to the position and leaves the angular momentum alone.",
        judge_central_impulse,
    ),
    _claim(
        "distasio-fig16-oscillates",
        "Fig. 16",
        "The angular momentum of Moreau-Jean oscillates.",
        judge_oscillates,
    ),
    _claim(
        "distasio-fig16-loss",
        "Fig. 16",
        "The angular momentum of Moreau-Jean loses more than 10 % over 100 s (the coupled scheme).",
        judge_loss,
        scheme=MJ,
        why=_COUPLED,
    ),
    _claim(
        "distasio-fig16-loss-decoupled",
        "Fig. 16",
        "The angular momentum of Moreau-Jean loses more than 10 % over 100 s (the decoupled variant).",
        judge_loss,
        scheme=DECOUPLED,
        why=_FREE,
    ),
    _claim(
        "distasio-fig16-convergence",
        "Fig. 16",
        "Moreau-Jean conserves the angular momentum at convergence only.",
        judge_convergence,
    ),
    _claim(
        "distasio-fig16-exact", "Fig. 16", "CD-Lagrange conserves the angular momentum exactly.", judge_exact
    ),
    _claim(
        "distasio-spring-long",
        _SECTION,
        "The error of Moreau-Jean's angular momentum can become large in long simulations (the coupled "
        "scheme).",
        judge_long_error,
        scheme=MJ,
    ),
    _claim(
        "distasio-spring-long-decoupled",
        _SECTION,
        "The error of Moreau-Jean's angular momentum can become large in long simulations (the decoupled "
        "variant).",
        judge_long_error,
        scheme=DECOUPLED,
    ),
    _claim(
        "distasio-spring-symplectic",
        "Time integration schemes",
        "CD-Lagrange is symplectic.",
        judge_symplectic,
    ),
    _claim(
        "distasio-fig18-tangential",
        "Fig. 18",
        "With friction each impact decreases the angular momentum by the tangential force.",
        judge_tangential,
    ),
    _claim(
        "distasio-fig17-tangent",
        "Figs. 17, 18",
        "The mass ends in an orbit tangent to the wall.",
        judge_tangent,
    ),
    _claim(
        "distasio-fig18-final",
        "Fig. 18",
        "Both schemes end with a smaller angular momentum than the refined solution.",
        judge_final,
    ),
    _claim(
        "distasio-fig18-phases",
        "Fig. 18",
        "Both schemes have more contact than the refined solution (taken as: time in contact).",
        judge_contact_time,
    ),
    _claim(
        "distasio-fig18-phases-count",
        "Fig. 18",
        "Both schemes have more contact than the refined solution (taken as: the number of phases).",
        judge_phases,
    ),
    _claim(
        "distasio-fig18-oscillates",
        "Fig. 18",
        "In its tangent state Moreau-Jean's angular momentum still oscillates.",
        judge_oscillates,
        late=True,
    ),
    _claim(
        "distasio-spring-complexity",
        _SECTION,
        "Friction makes the algorithms no more complex.",
        judge_complexity,
    ),
    _claim(
        "csma-spring-exact",
        f"{_2_3}, Fig. 4",
        "CD-Lagrange conserves the angular momentum at its analytical value.",
        judge_exact,
        analytic=True,
    ),
    _claim(
        "csma-spring-loss",
        f"{_2_3}, Fig. 4",
        "Moreau-Jean loses more than 10 % of the angular momentum over 100 s (the coupled scheme).",
        judge_loss,
        scheme=MJ,
        why=_COUPLED,
    ),
    _claim(
        "csma-spring-loss-decoupled",
        f"{_2_3}, Fig. 4",
        "Moreau-Jean loses more than 10 % of the angular momentum over 100 s (as printed there, with "
        "H = L M^-1 L^T).",
        judge_loss,
        scheme=DECOUPLED,
        why=_FREE,
    ),
    _claim(
        "csma-spring-symplectic",
        _2_3,
        "A scheme that does not keep the discrete angular momentum is not symplectic.",
        judge_not_symplectic,
    ),
    _claim(
        "csma-spring-no-contact",
        f"{_2_3}, Fig. 5",
        "The system goes to a state in which it no longer comes into contact.",
        judge_no_contact,
    ),
    _claim(
        "csma-spring-dissipative",
        f"{_2_3}, Fig. 5",
        "With friction contact dissipates, and lowers the angular momentum.",
        judge_dissipative,
    ),
    _claim(
        "csma-spring-impacts",
        f"{_2_3}, Fig. 5",
        "Both solutions at h = 0.1 s show more impacts than the refined one.",
        judge_visible_impacts,
    ),
    _claim(
        "csma-spring-mean",
        f"{_2_3}, Fig. 5",
        "In the tangent state Moreau-Jean's angular momentum oscillates about a mean value.",
        judge_mean,
    ),
    _claim(
        "csma-spring-error",
        _2_3,
        "Not conserving the angular momentum can cause a large error (the coupled scheme).",
        judge_long_error,
        scheme=MJ,
    ),
    _claim(
        "csma-spring-error-decoupled",
        _2_3,
        "Not conserving the angular momentum can cause a large error (the decoupled variant).",
        judge_long_error,
        scheme=DECOUPLED,
    ),
    _claim(
        "csma-spring-better",
        "Sect. 3",
        "For large rotations with impact a symplectic scheme such as CD-Lagrange gives better results.",
        judge_better,
    ),
    _claim(
        "csma-spring-friction",
        _2_3,
        "Both schemes go from sliding without to sliding with friction simply.",
        judge_coulomb,
    ),
)
