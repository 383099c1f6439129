"""The Signorini bar: Gibbs oscillations, the appendix, Doyen, Ern and Piperno (2011)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...claim import Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict, also
from .case import IMPLICIT_STEP
from .phases import (
    BAR,
    JUMP,
    PLACES,
    Register,
    chosen,
    impacts,
    numbers,
    oscillation,
    overshoots,
    ripples,
    span,
    stress,
)

_says = Register()


def _gibbs(runs: Runs, h: float, front: bool) -> Verdict:
    sigma = stress(chosen(runs, "dep-7.1"), h)
    behind, before = overshoots(sigma)
    a, b = (before, behind) if front else (behind, before)
    why = (
        f"overshoot {'before' if front else 'behind'} the front at t = 1 s over that on its other side, dt "
        f"= {h:g}: {a:.3g} against {b:.3g} of the jump; it should be above 1. The consistent mass makes "
        "short waves fast, the time step makes them slow"
    )
    return also(a > 0.01, Verdict.above(why, a / max(b, 1e-3), 1.0))


_COARSE, _FINE = IMPLICIT_STEP, IMPLICIT_STEP / 4
_says(
    "appendix-behind", "Appendix, Fig. 28", "The stress oscillates near the shock, behind it at dt = 0.005."
)(partial(_gibbs, h=_COARSE, front=False))
_says(
    "appendix-front",
    "Appendix, Fig. 28",
    "With small time steps the oscillations appear in front of the shock.",
)(partial(_gibbs, h=_FINE, front=True))


@_says(
    "appendix-magnitude",
    "Appendix",
    "The magnitude of the oscillations does not decrease with the time step.",
)
def _magnitude(runs: Runs) -> Verdict:
    steps = [_COARSE / 2**k for k in range(4)]
    found = [max(*overshoots(stress(chosen(runs, "dep-7.1"), h)), 1e-4) for h in steps]
    shown = ", ".join(f"{value:.3g}" for value in found)
    why = (
        f"order in dt of the larger overshoot, {shown} of the jump, dt = 0.005 to {steps[-1]:g}; limit: a "
        "quarter"
    )
    return Verdict.below(why, max(order(steps, found), 0.0), 0.25)


@_says("appendix-jump", "Appendix", "The Gibbs oscillations are proportional to the jump.")
def _proportional(runs: Runs) -> Verdict:
    speeds = (5.0, 10.0, 20.0)
    found = []
    for v0 in speeds:
        jump = JUMP * v0 / BAR.v0
        sigma = stress(chosen(runs, "dep-7.1"), _COARSE, v0=v0, h0=BAR.h0 * v0 / BAR.v0)
        found.append(max(overshoots(sigma, jump)) * jump)
    why = f"order in v0 of the overshoot, {found[0]:.3g} to {found[-1]:.3g} Pa; tolerance: rounding"
    return Verdict.equal(why, order(speeds, np.maximum(found, 1e-15)), 1.0, 1e-6)


def _left_of_gibbs(scheme: str, h: float) -> float:
    """Ripples of the stress with alpha = -0.06 over those without damping."""
    return ripples(stress(scheme, h, alpha=-0.06)) / ripples(stress(scheme, h))


def _damps(runs: Runs, h: float) -> Verdict:
    why = (
        f"ripples of the stress at t = 1 s with alpha = -0.06 over those with alpha = 0, dt = {h:g}, as "
        "total variation beyond that of a monotone front; limit: a tenth less"
    )
    return Verdict.below(why, _left_of_gibbs(chosen(runs, "dep-7.1"), h), 0.9)


for _h, _side in ((_COARSE, "left"), (_FINE, "right")):
    _says(
        f"appendix-damped-{_h:g}",
        f"Appendix, Fig. 29 ({_side})",
        f"The HHT scheme with alpha = -0.06 damps the oscillations (dt = {_h:g}).",
    )(partial(_damps, h=_h))


@_says(
    "appendix-eliminated",
    "Appendix, Fig. 29",
    "Dissipative schemes eliminate the oscillations (taken as: HHT with alpha = -0.06).",
)
def _eliminated(runs: Runs) -> Verdict:
    found = [ripples(stress(chosen(runs, "dep-7.1"), h, alpha=-0.06)) for h in (_COARSE, _FINE)]
    strong = [ripples(stress(chosen(runs, "dep-7.1"), h, alpha=-0.3)) for h in (_COARSE, _FINE)]
    why = (
        "total variation of the stress at t = 1 s beyond that of a monotone front, over the jump: "
        f"{found[0]:.2g} and {found[1]:.2g} at dt = {_COARSE:g} and {_FINE:g}, the larger decides; limit: a "
        f"tenth. Even with alpha = -0.3 it is {strong[0]:.2g} and {strong[1]:.2g}: the first waves next to "
        "the front stay"
    )
    return Verdict.below(why, max(found), 0.1)


@_says(
    "appendix-smaller",
    "Appendix, Figs. 6, 28",
    "The oscillations of the stress by the Gibbs phenomenon are far smaller than those by contact.",
)
def _smaller(runs: Runs) -> Verdict:
    gibbs = max(overshoots(stress(chosen(runs, "dep-7.1"), _COARSE)))
    contact = numbers(impacts(runs, "dep-4.1"), "force_max_deviation") / JUMP
    why = (
        f"overshoot with 7.1 at t = 1 s, {gibbs:.2g} of the jump, over the largest deviation of the "
        f"pressure with 4.1, {span(contact)} at {PLACES}, the smallest decides; limit: half. At the phase "
        f"of the figures the ratio is {gibbs / contact[0]:.2g}"
    )
    return Verdict.below(why, gibbs / float(contact.min()), 0.5)


def _deviation(runs: Runs, h: float, **settings: Any) -> float:
    return float(numbers(impacts(runs, "dep-4.1", h=h, **settings), "force_max_deviation").mean()) / JUMP


@_says(
    "appendix-inverse-step",
    "Appendix",
    "The oscillations by contact are proportional to m_i v_i / dt (the time step).",
)
def _inverse_step(runs: Runs) -> Verdict:
    steps = [_COARSE / 2**k for k in range(3)]
    found = [_deviation(runs, h) for h in steps]
    orders = [order(steps[k : k + 2], found[k : k + 2]) for k in range(2)]
    why = (
        f"order in dt of the largest deviation of the pressure of 4.1 from the exact one, mean of "
        f"{PLACES}, {', '.join(f'{x:.3g}' for x in found)} of it at dt = 0.005 to {steps[-1]:g}: "
        f"{orders[0]:.2f} and {orders[1]:.2f}, the one farther from -1 decides; tolerance: half an order."
        " 4.1 gains energy with some steps and phases, and its node then comes faster than the bar"
    )
    return Verdict.equal(why, max(orders, key=lambda n: abs(n + 1)), -1.0, 0.5)


@_says(
    "appendix-node-mass",
    "Appendix",
    "The oscillations by contact are proportional to m_i v_i / dt (the same when mass and step shrink "
    "together).",
)
def _node_mass(runs: Runs) -> Verdict:
    meshes = (50, 100, 200)
    steps = [_COARSE * 100 / n for n in meshes]
    found = [_deviation(runs, h, elements=n) for n, h in zip(meshes, steps)]
    why = (
        "order in dt, at one Courant number, of the largest deviation of the pressure of 4.1, mean of "
        f"{PLACES}, {', '.join(f'{x:.3g}' for x in found)} of the exact one on 50 to 200 elements; "
        "tolerance: a quarter. m_i v_i is that of the node before every single touch: 4.1 gains energy, and "
        "its node gets faster"
    )
    return Verdict.equal(why, order(steps, found), 0.0, 0.25)


@_says(
    "appendix-dissipation",
    "Appendix",
    "The Gibbs oscillations need much less dissipation than those by contact.",
)
def _dissipation(runs: Runs) -> Verdict:
    gibbs = min(_left_of_gibbs(chosen(runs, "dep-7.1"), h) for h in (_COARSE, _FINE))
    damped, rough = (oscillation(runs, "dep-4.1", **damping) for damping in ({"alpha": -0.06}, {}))
    contact = float(damped.mean() / rough.mean())
    why = (
        f"part of the Gibbs ripples that alpha = -0.06 leaves, {gibbs:.2g}, over that of the oscillation of "
        f"the pressure of 4.1, {contact:.2g}, {PLACES}; it should be below 1. The pressure alternates from "
        "step to step, which HHT damps most; the waves at the front are longer"
    )
    return Verdict.below(why, gibbs / contact, 1 - 1e-9)


CLAIMS: tuple[Claim, ...] = tuple(_says)
