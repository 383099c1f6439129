"""Doyen, Ern and Piperno (2011), Sects. 2 and 3: the formulas without contact, the two benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claim import Claim
from ...convergence import norm35, order
from ...runs import Runs
from ...verdict import Verdict
from . import case as signorini
from .measures import (
    BAR,
    BOUNCES,
    BOUNCING,
    ENERGY,
    FORCE,
    HHT,
    IMPACT,
    PLACES,
    Claims,
    N,
    bounces,
    fly,
    force,
    loss,
    of,
    phases,
    stability,
)

_claims = Claims()
_says = _claims.says

# -- Sect. 2: without contact


_FREE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "2.1-trapezoidal": ("the trapezoidal rule", "dep-4.1", {}),
    "2.1-hht": ("HHT with alpha = -0.2", "dep-4.1", HHT),
    "2.2-midpoint": ("the midpoint rule", "dep-4.4", {}),
    "2.3-central": ("central differences", "dep-4.7", {}),
}


def is_of_order(runs: Runs, scheme: str, expected: float, settings: dict[str, Any]) -> Verdict:
    """Decides ``doyen-2.1-trapezoidal-order``, ``doyen-2.1-hht-order`` and their like."""
    counts, errors, steps = (40, 80, 160), [], []
    for n in counts:
        # Mode 8 for 0.9 of its period of the continuous bar, 0.9 (2 L / 8) / c.
        flight = fly(runs, scheme, 8, 0.9 * 2 * N / 8 / n, n, **settings)
        true = np.cos(flight.omega * flight.h * np.arange(n + 1))
        errors.append(norm35(flight.amplitude[:: n // 40], true[:: n // 40]))
        steps.append(flight.h)
    why = (
        "order in h of the error of a mode of the free bar against its motion on this mesh, "
        f"{errors[0]:.2g} to {errors[-1]:.2g}; tolerance: what h this large leaves of the next order"
    )
    return Verdict.equal(why, order(steps, errors), expected, 0.2)


def stays_bounded(runs: Runs, scheme: str, settings: dict[str, Any]) -> Verdict:
    """Decides ``doyen-2.1-trapezoidal-stable``, ``doyen-2.1-hht-stable`` and their like."""
    flights = {nu: fly(runs, scheme, None, nu, 100, **settings) for nu in (1.5, 15.0, 150.0)}
    grown = max(float(f.energy[50:].max() / f.energy[0]) for f in flights.values())
    why = (
        "largest energy in steps 50 to 100 over the first one, all modes, Courant numbers 1.5, 15 and 150; "
        "limit: 1 and rounding. A step that is too large multiplies it in every step"
    )
    return Verdict(why, grown, 1.0, 1e-9, bool(grown <= 1 + 1e-9))


def _keeps(runs: Runs, scheme: str, quasi: bool = False) -> Verdict:
    flight = fly(runs, scheme, None, 0.75 if quasi else 1.5, 200)
    kept, other = (flight.quasi, flight.energy) if quasi else (flight.energy, flight.quasi)
    change = float(np.max(np.abs(kept - kept[0])) / kept[0])
    why = "largest change in 200 steps of a free bar under gravity with all modes, relative; limit: rounding"
    if quasi:
        why += f". The energy itself changes by {np.max(np.abs(other - other[0])) / other[0]:.2g}"
    return Verdict.below(why, change, 1e-11)


for _id, (_name, _scheme, _set) in _FREE.items():
    _says(
        f"{_id}-order",
        "Sect. 2.2",
        f"Without contact {_name} is of second order.",
        scheme=_scheme,
        expected=2.0,
        settings=_set,
    )(is_of_order)
    if _scheme != "dep-4.7":
        _says(
            f"{_id}-stable",
            "Sect. 2.2",
            f"Without contact {_name} is stable with any step.",
            scheme=_scheme,
            settings=_set,
        )(stays_bounded)
for _id, _where, _scheme, _q in (
    ("2.1-trapezoidal", "(14)", "dep-4.1", False),
    ("2.2-midpoint", "(15)", "dep-4.4", False),
    ("2.3-central", "(16)", "dep-4.7", True),
):
    _what = "a quadratic form" if _q else "the energy"
    _says(
        f"{_id}-energy",
        _where,
        f"Without contact {_FREE[_id][0]} conserves {_what}.",
        scheme=_scheme,
        quasi=_q,
    )(_keeps)


@_says("2.3-nearly", "(16)", "What central differences conserve is nearly the energy.")
def _nearly(runs: Runs) -> Verdict:
    found = [fly(runs, "dep-4.7", 8, nu, round(400 / nu)) for nu in (0.8, 0.4, 0.2)]
    apart = [float(np.max(np.abs(f.energy - f.energy[0])) / f.energy[0]) for f in found]
    why = (
        f"order in h of the largest change of the energy in mode 8, {apart[0]:.2g} to {apart[-1]:.2g} of it, "
        "which is h^2 a.Ma / 8 or (h omega)^2 / 4 of it; limit: above order 1"
    )
    return Verdict.above(why, order([f.h for f in found], apart), 1.0)


@_says("2.1-hht-frequencies", "Sect. 2.2", "HHT dissipates in the high frequencies.")
def _frequencies(runs: Runs) -> Verdict:
    low, middle, high = (loss(fly(runs, "dep-4.1", k, 1.5, 20, g0=0, **HHT)) for k in (2, 10, N))
    why = (
        f"part of its energy lost in 20 steps by the highest mode, {high:.3f}, less that by mode 10, "
        f"{middle:.2g}; mode 2 loses {low:.2g}. Limit: nine tenths more"
    )
    return Verdict.above(why, high - abs(middle), 0.9)


@_says("2.1-hht-alpha", "Sect. 2.2", "The parameter alpha controls the amount of dissipation of HHT.")
def _alpha(runs: Runs) -> Verdict:
    alphas = (0.0, -0.05, -0.1, -0.2, -0.3)
    # The mode whose phase turns by 1 in a step: losses are neither tiny nor complete.
    lost = [loss(fly(runs, "dep-4.1", 20, 1.5, 40, g0=0, alpha=a)) for a in alphas]
    shown = ", ".join(f"{x:.2g} at {a:g}" for a, x in zip(alphas, lost))
    why = f"least increase of the energy lost by mode 20 in 40 steps, {shown}; limit: far above rounding"
    return Verdict.above(why, float(np.min(np.diff(lost))), 1e-6)


_says(
    "2.3-central-stable",
    "Sect. 3.3",
    "In the linear case lumped central differences are stable up to the Courant number 1.",
    height=1e3,
    scheme="dep-4.7",
)(stability)


# -- Sect. 3: the benchmarks


@_says("3.1-force", "(27)", "In the impact the contact pressure is E v0 / c.")
def _mean_force(runs: Runs) -> Verdict:
    means = of(phases(runs, "dep-4.7"), "force_mean")
    worst = means[np.argmax(np.abs(means - FORCE))]
    why = f"mean of the contact force of 4.7 [N], the farthest of {PLACES}; tolerance: one element's part"
    return Verdict.equal(why, float(worst), FORCE, FORCE / N)


#: Dispersion spreads the front over (2 N)^(1/3) elements on its way up and down.
_SPREAD = (2 * N) ** (1 / 3) * BAR.transit / N


@_says("3.1-duration", "(27)", "The bar takes off after twice the time of a wave through it, 2 L / c.")
def _duration(runs: Runs) -> Verdict:
    found = phases(runs, "dep-4.7")
    lasts = of(found, "contact_end") - of(found, "contact_start")
    worst = float(lasts[np.argmax(np.abs(lasts - 2 * BAR.transit))])
    why = f"contact with 4.7 [s], the farthest of {PLACES}; tolerance: a step and the spread of the front"
    return Verdict.equal(why, worst, 2 * BAR.transit, found[0].results["h"] + _SPREAD)


@_says("3.1-rebound", "(26)", "The bar takes off undeformed, at the speed of the impact.")
def _rebound(runs: Runs) -> Verdict:
    strained = [float(run["internal"][-1]) / ENERGY for run in phases(runs, "dep-4.7")]
    why = (
        f"elastic energy with 4.7 at t = 2 s over the initial one, largest of {PLACES}; limit: what the "
        "front, spread over (2 N)^(1/3) elements, holds of N. The rest moves the bar as a whole"
    )
    return Verdict.below(why, max(strained), (2 * N) ** (1 / 3) / N)


@_says("3.2-second", "(31)", "The second impact of the bouncing bar comes 8 L / c after the first.", BOUNCES)
def _second(runs: Runs) -> Verdict:
    run = bounces(runs, "dep-4.7")[0]
    t, h = run["t"], run.results["h"]
    flight = t > BOUNCING.contact_end + BOUNCING.transit
    after = float(t[flight & (force(run) > signorini.NO_FORCE * FORCE)][0]) - BOUNCING.contact_start
    early = BOUNCING.flight / (4 * N)
    why = (
        "time from the exact first to the second force of 4.7 [s]; tolerance: two steps, the spread of the "
        "front, and the flight that is lost with the kinetic energy of the contact node"
    )
    return Verdict.equal(why, after, 8 * BOUNCING.transit, 2 * h + _SPREAD + early)


@_says("4-node", "Remark 4.2", "The semi-discrete solution loses energy at each impact of a node.")
def _node(runs: Runs) -> Verdict:
    losses = {
        nu: -runs(IMPACT, "dep-4.7", courant=nu, t_end=1.4).results["energy_change_1"]
        for nu in (0.4, 0.2, 0.1)
    }
    shown = ", ".join(f"{x:.5f} at Courant number {nu:g}" for nu, x in losses.items())
    why = (
        f"part of the energy lost with 4.7 as h tends to 0: {shown}. Expected: the kinetic energy of the "
        "contact node, 1/(2N); tolerance: a Courant number of it"
    )
    return Verdict.equal(why, losses[0.1], 1 / (2 * N), 0.1 / (2 * N))


CLAIMS: tuple[Claim, ...] = tuple(_claims)
