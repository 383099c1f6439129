"""The Signorini bar: modified mass, Doyen, Ern and Piperno (2011)."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...claim import Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict, also
from . import phases
from .case import IMPLICIT_STEP
from .phases import (
    BOUNCES,
    ENERGY,
    FEW_PLACES,
    PLACES,
    ROUNDING,
    Register,
    bounces,
    impacts,
    kept,
    linear_limit,
    numbers,
    oscillation,
    span,
)

_says = Register()


def _calm(runs: Runs, scheme: str) -> Verdict:
    found, other = (oscillation(runs, s) for s in (scheme, "dep-4.1"))
    why = (
        f"standard deviation of the contact pressure from the exact one over it, the largest of {PLACES}: "
        f"{span(found)}, with 4.1 {span(other)}; limit: 1 %, a line's width in the figure"
    )
    return Verdict.below(why, float(found.max()), 0.01)


for _number, _figure in (("7.1", 24), ("7.2", 26)):
    _says(
        f"{_number}-calm",
        f"Sect. {_number}, Fig. {_figure}",
        f"The large oscillations have disappeared during the contact ({_number}).",
    )(partial(_calm, scheme=f"dep-{_number}"))


def _means_work(runs: Runs, scheme: str) -> Verdict:
    worst = 0.0
    for run in (impacts(runs, scheme)[0], bounces(runs, scheme)[0]):
        force, gap = run["r"][:, 0] / run.results["h"], run["gap"][:, 0]
        work = (force[1:] + force[:-1]) / 2 * np.diff(gap) / ENERGY
        worst = max(worst, float(np.abs(np.diff(kept(run)) - work)[1:].max()))
    why = (
        "largest E'* - E* - (r' + r)/2 . (g' - g) of a step over the energy of the impact, both benchmarks, "
        "E* with the modified mass and less F.u; limit: rounding"
    )
    return Verdict.below(why, worst, ROUNDING)


for _number, _equation in (("7.1", "(112)"), ("7.2", "(118)")):
    _says(
        f"{_number}-balance",
        _equation,
        f"The energy changes by the work of the mean contact force over a step, and of the load ({_number}).",
        BOUNCES,
    )(partial(_means_work, scheme=f"dep-{_number}"))


@_says("7-semidiscrete", "Remark 7.1", "The semi-discrete problem with modified mass conserves the energy.")
def _semidiscrete(runs: Runs) -> Verdict:
    steps = [IMPLICIT_STEP / 2**k for k in range(4)]
    found = [
        float(np.sqrt(np.mean(numbers(impacts(runs, "dep-7.1", phases.FEW, h), "contact_work") ** 2)))
        for h in steps
    ]
    why = (
        f"order in dt of the work of contact on one mesh, RMS over {len(phases.FEW)} phases of the impact, "
        f"{found[0]:.2g} to {found[-1]:.2g} of the energy. Theory: 2, pressure and gap are both O(dt) where "
        "contact begins and ends; limit: half of it"
    )
    return Verdict.above(why, order(steps, np.maximum(found, 1e-15)), 1.0)


def _keeps_more(runs: Runs, scheme: str, others: tuple[str, ...], name: str = "energy_change_4") -> Verdict:
    found = numbers(bounces(runs, scheme), name)
    rest = {other: numbers(bounces(runs, other), name) for other in others}
    ratio = np.abs(found).mean() / min(np.abs(values).mean() for values in rest.values())
    shown = ", ".join(f"{span(values)} with {other}" for other, values in rest.items())
    what = "change of the energy" if name == "energy_change_4" else "error of the displacement"
    why = (
        f"{what} over four periods, mean of {FEW_PLACES}, over that of the best of the others: "
        f"{span(found)} against {shown}; it should be below 1"
    )
    return Verdict.below(why, float(ratio), 1 - 1e-9)


_says(
    "7.1-energy",
    "Sect. 7.1, Fig. 25",
    "Energy conservation is very satisfactory (taken as: better than that of 4.7, whose losses are called "
    "important).",
    BOUNCES,
)(partial(_keeps_more, scheme="dep-7.1", others=("dep-4.7",)))
_says(
    "7.1-energy-penalty",
    "Sects. 5.1, 7.1, Figs. 19, 25",
    "Energy conservation is very satisfactory (taken as: better than that of 5.1, which is said not to "
    "conserve).",
    BOUNCES,
)(partial(_keeps_more, scheme="dep-7.1", others=("dep-5.1",)))
_says("7.2-limit", "Sect. 7.2", "The stability condition is the same as in the linear case.")(
    partial(linear_limit, scheme="dep-7.2")
)
for _text, _name in (("energy", "energy_change_4"), ("long-time", "error_u")):
    _says(
        f"7.2-better-{_text}",
        "Sect. 7.2, Fig. 27",
        f"Better than 4.7 and 6.2: {'energy conservation' if _text == 'energy' else 'long-time behaviour'}.",
        BOUNCES,
    )(partial(_keeps_more, scheme="dep-7.2", others=("dep-4.7", "dep-6.2"), name=_name))


@_says(
    "7.2-attractive",
    "Sects. 1, 7.2",
    "The semi-explicit modified mass is attractive: reliable, as it neither oscillates nor loses energy, "
    "where "
    "other explicit schemes are not.",
    BOUNCES,
)
def _attractive(runs: Runs) -> Verdict:
    node, reliable, shown = 0.005, [], []
    for scheme in ("dep-4.7", "dep-5.3", "dep-6.2", "dep-7.2"):
        ripple = float(oscillation(runs, scheme).max())
        lost = float(np.abs(numbers(bounces(runs, scheme), "energy_change_4")).max())
        shown.append(f"{ripple:.2g} and {lost:.2g} with {scheme}")
        if ripple < 0.01 and lost < node:
            reliable.append(scheme)
    why = (
        "explicit schemes whose pressure oscillates by less than 1 % and whose energy changes over four "
        f"periods by less than that of the contact node at one impact, 1/(2N) = {node}, at all phases: "
        f"{', '.join(shown)}; it should be 7.2 alone"
    )
    return also(reliable == ["dep-7.2"], Verdict.equal(why, len(reliable), 1, 0))


CLAIMS: tuple[Claim, ...] = tuple(_says)
