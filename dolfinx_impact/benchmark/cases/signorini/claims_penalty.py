"""The Signorini bar: penalty, Doyen, Ern and Piperno (2011)."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...claim import Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict
from . import phases
from .phases import (
    BAR,
    BOUNCES,
    ENERGY,
    FEW_PLACES,
    IMPACT,
    PLACES,
    ROUNDING,
    WIDTH,
    Register,
    bounces,
    chosen,
    closed_form,
    impacts,
    kept,
    largest_courant,
    numbers,
    oscillation,
    resting_courant,
    span,
)

_says = Register()


@_says("5.1-reduces", "Sect. 5.1, Fig. 17", "The penalty tends to reduce the spurious oscillations.")
def _reduces(runs: Runs) -> Verdict:
    soft, hard = oscillation(runs, "dep-5.1"), oscillation(runs, "dep-4.1")
    why = (
        "oscillation (standard deviation) of the contact pressure with eps = 1e-4 over that of 4.1, the "
        f"largest of {PLACES}: {span(soft)} of the exact pressure against {span(hard)}; limit: half"
    )
    return Verdict.below(why, float((soft / hard).max()), 0.5)


@_says("5.1-grows", "Sect. 5.1, Fig. 18", "The oscillations grow with the penalty parameter 1/eps.")
def _grows(runs: Runs) -> Verdict:
    found = [oscillation(runs, "dep-5.1", eps=eps) for eps in (1e-3, 1e-4, 1e-5)]
    shown = ", ".join(map(span, found))
    least = min((b / a).min() for a, b in zip(found, found[1:]))
    why = (
        f"smallest growth of the oscillation of the pressure when eps falls tenfold, {PLACES}: {shown} of "
        "the exact pressure with eps = 1e-3, 1e-4, 1e-5; it should be above 1"
    )
    return Verdict.above(why, float(least), 1.0)


@_says("5.1-tends", "Sect. 5.1", "The penalty condition tends to the exact one when 1/eps tends to infinity.")
def _tends(runs: Runs) -> Verdict:
    steps = (1e-4, 1e-5, 1e-6)
    hard = runs(IMPACT, "dep-4.1").results["first_force"]
    off = [abs(hard / runs(IMPACT, "dep-5.1", eps=eps).results["first_force"] - 1) for eps in steps]
    why = (
        f"order in eps of the first pressure of 4.1 over that of 5.1 less 1, {off[0]:.3g} to {off[-1]:.3g}: "
        "the compliance D of the bar becomes D + eps, order 1; tolerance: rounding of the gap that closes"
    )
    return Verdict.equal(why, order(steps, np.maximum(off, 1e-15)), 1.0, 1e-6)


@_says(
    "5.1-loses",
    "Sect. 5.1, Fig. 19",
    "With the penalty the trapezoidal rule no longer conserves the energy.",
    BOUNCES,
)
def _no_longer(runs: Runs) -> Verdict:
    found = bounces(runs, "dep-5.1")
    one, four = (numbers(found, f"energy_change_{n}") for n in (1, 4))
    why = (
        f"smallest relative change of the energy over one period, in flight, at {FEW_PLACES}: {span(one)}, "
        f"over four periods {span(four)}; limit: rounding"
    )
    return Verdict.above(why, float(np.abs(one).min()), ROUNDING)


@_says("5.2-balance", "(84)", "The energy with that of the penalty is conserved.", BOUNCES)
def _with_penalty(runs: Runs) -> Verdict:
    eps, worst = 1e-4, 0.0
    for run in (impacts(runs, "dep-5.2")[0], bounces(runs, "dep-5.2")[0]):
        stored = np.minimum(run["gap"][:, 0], 0.0) ** 2 / (2 * eps) / ENERGY
        worst = max(worst, float(np.abs(kept(run) + stored - stored[0]).max()))
    why = (
        f"largest relative change of E + V - F.u at any step of both benchmarks, eps = {eps:g}; limit: "
        "rounding"
    )
    return Verdict.below(why, worst, ROUNDING)


@_says(
    "5.2-recovers", "Sect. 5.1", "Its discretization of the penalty recovers energy conservation.", BOUNCES
)
def _recovers(runs: Runs) -> Verdict:
    found = numbers(bounces(runs, "dep-5.2"), "energy_change_4")
    why = f"relative change of E - F.u over four periods, the largest of {FEW_PLACES}; limit: rounding"
    return Verdict.below(why, float(np.abs(found).max()), ROUNDING)


def _not_better(runs: Runs, case: str, name: str) -> Verdict:
    pair = [impacts(runs, s) if case == IMPACT else bounces(runs, s) for s in ("dep-5.2", "dep-5.1")]
    new, old = (numbers(found, name) for found in pair)
    places = PLACES if case == IMPACT else FEW_PLACES
    why = (
        f"{name} of 5.2 over that of 5.1, means of {places}: {span(new)} against {span(old)}; "
        "significantly better would be half of it; at the first phase, that of the figures, it is "
        f"{new[0] / old[0]:.2g}"
    )
    return Verdict.above(why, new.mean() / old.mean(), 0.5)


for _case, _name, _text in (
    (IMPACT, "error_u", "displacement, impact"),
    (BOUNCES, "error_u", "displacement, bounces"),
    (IMPACT, "force_oscillation", "pressure, impact"),
):
    _says(
        f"5.2-not-better-{_text.replace(', ', '-')}",
        "Sect. 5.1",
        f"The energy-conserving penalty gives no significantly better results ({_text}).",
        _case,
    )(partial(_not_better, case=_case, name=_name))


def _limit_of_penalty(runs: Runs, eps: float) -> Verdict:
    scheme = chosen(runs, "dep-5.3")
    found, hit = resting_courant(scheme, eps), largest_courant(scheme, eps=eps)
    why = (
        f"largest Courant number, by bisection, at which a disturbance of the resting bar stays small, eps = "
        f"{eps:g}, against sqrt(2/(1 + sqrt(1 + k^2))), k = dx/(eps E) = "
        f"{BAR.length / 100 / eps / BAR.E:.3g}; tolerance: the width of the bisection. In an impact at "
        f"{len(phases.FEW)} phases, where the node may leave and come back, the kinetic energy does not "
        f"double up to {hit:.4f}"
    )
    return Verdict.equal(why, found, closed_form(eps), WIDTH)


for _eps in (1e-2, 1e-3, 1e-4):
    _says(
        f"5.3-limit-{_eps:g}",
        "Sect. 5.2",
        f"The penalty stiffens the equations, which limits the stable step (eps = {_eps:g} m/N).",
    )(partial(_limit_of_penalty, eps=_eps))


@_says("5.3-tightens", "Sects. 1, 5.2", "A penalty tightens the stability condition of explicit schemes.")
def _tightens(runs: Runs) -> Verdict:
    free = largest_courant(chosen(runs, "dep-4.7"))
    found = [largest_courant(chosen(runs, "dep-5.3"), eps=eps) for eps in (1e-4, 1e-5)]
    why = (
        "smallest reduction of the largest stable Courant number: from that of 4.7 to eps = 1e-4 and on to "
        f"1e-5, {free:.4f}, {found[0]:.4f}, {found[1]:.4f}; limit: the width of the bisection. At 1e-5 the "
        f"end mode alone would allow {closed_form(1e-5):.4f}: a node that leaves and comes back gains "
        "energy before"
    )
    return Verdict.above(why, min(free - found[0], found[0] - found[1]), WIDTH)


@_says("5.3-vanishes", "Sect. 5.2", "An explicit exact enforcement is not possible.")
def _vanishes(runs: Runs) -> Verdict:
    # A coarse bar: small Courant numbers take many steps.
    eps, elements = (1e-5, 1e-6), 20
    found = [largest_courant(chosen(runs, "dep-5.3"), elements, eps=e) for e in eps]
    why = (
        f"order in eps of the largest stable Courant number, {found[0]:.3g} and {found[1]:.3g} at 1e-5 and "
        f"1e-6 on {elements} elements: it goes to 0 with eps. Theory: 1/2, closed form "
        f"{closed_form(eps[0], elements):.3g} and {closed_form(eps[1], elements):.3g}; limit: half of it"
    )
    return Verdict.above(why, order(eps, np.maximum(found, 1e-15)), 0.25)


CLAIMS: tuple[Claim, ...] = tuple(_says)
