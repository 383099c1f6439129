"""The Signorini bar: contact in velocity, Doyen, Ern and Piperno (2011)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...claim import Claim
from ...convergence import norm35
from ...runs import Runs
from ...verdict import Verdict
from .case import EXPLICIT_STEP
from .phases import (
    BAR,
    BOUNCES,
    FEW_PLACES,
    IMPACT,
    JUMP,
    PLACES,
    ROUNDING,
    Register,
    bounces,
    chosen,
    impacts,
    kept,
    linear_limit,
    numbers,
    oscillation,
    span,
    step_of,
    stress,
)

_says = Register()


def _depths(runs: Runs) -> dict[str, NDArray]:
    """Largest penetration over the way of one step, at all phases."""
    schemes = ("dep-6.1", "dep-6.2")
    return {s: numbers(impacts(runs, s), "penetration_max") / (BAR.v0 * step_of(runs, s)) for s in schemes}


@_says("6-penetrates", "Sect. 6", "Contact in velocity allows interpenetration.")
def _penetrates(runs: Runs) -> Verdict:
    found = _depths(runs)
    shown = ", ".join(f"{span(depths)} with {s}" for s, depths in found.items())
    why = f"largest penetration over v0 dt, {PLACES}: {shown}; the smallest decides; limit: rounding"
    return Verdict.above(why, min(depths.min() for depths in found.values()), 1e-9)


@_says("6-slightly", "Sect. 6", "The interpenetration is slight.")
def _slightly(runs: Runs) -> Verdict:
    found = _depths(runs)
    shown = ", ".join(f"{span(depths)} with {s}" for s, depths in found.items())
    why = (
        f"largest penetration over v0 dt, {PLACES}: {shown}; limit: what a free node moves in one step. "
        "After more impacts the bar vibrates and penetrates faster"
    )
    return Verdict.below(why, max(depths.max() for depths in found.values()), 1 + 1e-9)


@_says("6.1-conserves", "(93)", "The midpoint scheme with contact in velocity conserves the energy.", BOUNCES)
def _velocity_conserves(runs: Runs) -> Verdict:
    found = [*impacts(runs, "dep-6.1"), *bounces(runs, "dep-6.1")]
    worst = max(float(np.abs(kept(run)).max()) for run in found)
    why = (
        f"largest relative change of E - F.u at any step, nine phases of one impact and {FEW_PLACES}; "
        "rounding"
    )
    return Verdict.below(why, worst, ROUNDING)


@_says("6.1-oscillates", "Sect. 6.1, Fig. 20", "The contact pressure oscillates.")
def _pressure_oscillates(runs: Runs) -> Verdict:
    found = oscillation(runs, "dep-6.1")
    why = (
        f"oscillation (standard deviation) of the contact pressure over the exact one, {PLACES}: "
        f"{span(found)}, the smallest decides; limit: 1 %, a line's width in the figure"
    )
    return Verdict.above(why, float(found.min()), 0.01)


@_says(
    "6.1-unperturbed",
    "Sect. 6.1, Fig. 20",
    "The contact pressure does not perturb the structure despite its oscillations.",
)
def _unperturbed(runs: Runs) -> Verdict:
    scheme, h = chosen(runs, "dep-6.1"), step_of(runs, "dep-6.1")
    times = BAR.contact_start + np.arange(0.3, 0.56, 9 * h)
    first = np.array([stress(scheme, h, t)[0] for t in times])
    away = float(np.sqrt(np.mean((first / JUMP + 1) ** 2)))
    pressure = runs(IMPACT, "dep-6.1").results["force_oscillation"] / JUMP
    why = (
        f"RMS of the stress at the bottom less the exact one, {away:.2g} of it, over that of the pressure, "
        f"{pressure:.2g}; limit: a tenth"
    )
    return Verdict.below(why, away / pressure, 0.1)


@_says("6.1-long-time", "Sect. 6.1, Fig. 21", "The long-time behaviour is quite satisfactory.", BOUNCES)
def _long_time(runs: Runs) -> Verdict:
    found, other = (numbers(bounces(runs, s), "error_u") for s in ("dep-6.1", "dep-4.7"))
    why = (
        f"error of the displacement over four periods, mean of {FEW_PLACES}, over that of 4.7, whose losses "
        f"of energy are called important: {span(found)} against {span(other)}; it should be below 1. The "
        "energy is conserved, but the contacts come too early from the fourth on, and in several touches"
    )
    return Verdict.below(why, found.mean() / other.mean(), 1.0)


_says("6.2-limit", "Sect. 6.2", "Contact does not tighten the stability condition of central differences.")(
    partial(linear_limit, scheme="dep-6.2")
)


@_says(
    "6.2-similar-displacement",
    "Sect. 6.2, Fig. 22",
    "The displacement in an impact is similar to that of 4.7.",
)
def _similar_displacement(runs: Runs) -> Verdict:
    worst = 0.0
    for a, b in zip(*(impacts(runs, s, h=EXPLICIT_STEP) for s in ("dep-6.2", "dep-4.7"))):
        since = a["t"] - BAR.contact_start
        inside = (since > 0.15 * 2 * BAR.transit) & (since < 0.85 * 2 * BAR.transit)
        worst = max(worst, float(np.abs(a["gap"] - b["gap"])[inside].max()) / (EXPLICIT_STEP * BAR.v0))
    why = f"largest difference of position during the contact over v0 dt, {PLACES}; limit: one step's way"
    return Verdict.below(why, worst, 1 + 1e-9)


@_says(
    "6.2-similar-pressure",
    "Sect. 6.2, Fig. 22",
    "The contact pressure in an impact is similar to that of 4.7.",
)
def _similar_pressure(runs: Runs) -> Verdict:
    found, other = (oscillation(runs, s) for s in ("dep-6.2", "dep-4.7"))
    why = (
        f"standard deviation from the exact pressure over it, {PLACES}: {span(found)}, with 4.7 "
        f"{span(other)}; the larger of both decides; limit: 1 %, a line's width in the figure"
    )
    return Verdict.below(why, float(max(found.max(), other.max())), 0.01)


@_says(
    "6.2-similar-bounces",
    "Sect. 6.2, Fig. 23",
    "The displacement in bounces is similar to that of 4.7.",
    BOUNCES,
)
def _similar_bounces(runs: Runs) -> Verdict:
    pairs = list(zip(bounces(runs, "dep-6.2"), bounces(runs, "dep-4.7")))
    found = max(norm35(a["u"], b["u"]) / b.results["error_u"] for a, b in pairs)
    why = (
        f"norm of the difference over the error of 4.7 in the same norm, the largest of {FEW_PLACES}; "
        "limit: half, both err in the same direction"
    )
    return Verdict.below(why, found, 0.5)


@_says(
    "6.2-similar-energy", "Sect. 6.2, Fig. 23", "The energy in bounces is similar to that of 4.7.", BOUNCES
)
def _similar_energy(runs: Runs) -> Verdict:
    found, other = (numbers(bounces(runs, s), "energy_change_4") for s in ("dep-6.2", "dep-4.7"))
    ratio = float(found.mean() / other.mean())
    why = (
        f"change of the energy over four periods over that of 4.7, means of {FEW_PLACES}: {span(found)} "
        f"against {span(other)}; tolerance: half of it"
    )
    return Verdict.equal(why, ratio, 1.0, 0.5)


CLAIMS: tuple[Claim, ...] = tuple(_says)
