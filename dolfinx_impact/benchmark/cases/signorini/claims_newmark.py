"""Doyen, Ern and Piperno (2011), Sect. 4.1: 4.1 to 4.3, Newmark, HHT and theta schemes with exact contact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict
from . import case as signorini
from .claims_linear import is_of_order, stays_bounded
from .measures import (
    BAR,
    BOUNCES,
    ENERGY,
    FORCE,
    HHT,
    LARGE,
    PLACES,
    SPEED,
    THETAS,
    Claims,
    N,
    balance_holds,
    first_contact,
    force,
    in_contact,
    is_quiet,
    made,
    of,
    oscillates,
    phases,
    poor,
    poor_energy,
    ripple,
)

_claims = Claims()
_says = _claims.says

_says(
    "4.1-force",
    "Sect. 4.1, Fig. 6",
    "Newmark with exact contact: large spurious oscillations of the contact pressure.",
    scheme="dep-4.1",
)(oscillates)


@_says(
    "4.1-displacement",
    "Sect. 4.1, Fig. 6",
    "Newmark with exact contact: small spurious oscillations of the displacement in contact.",
)
def _hops(runs: Runs) -> Verdict:
    found = phases(runs, "dep-4.1")
    heights = np.array([np.max(np.abs(run["gap"][in_contact(run)])) for run in found])
    heights /= SPEED * BAR.transit
    why = (
        f"largest gap in the contact phase over L v0 / c, by which the bar shortens, {PLACES} "
        f"({heights.min():.1g} to {heights.max():.2g}); limit: a tenth, and more than rounding"
    )
    finding = Verdict.below(why, float(heights.max()), LARGE)
    return replace(finding, reproduced=bool(finding.reproduced and heights.min() > 1e-9))


def accelerations(runs: Runs, scheme: str, after: int, **settings: Any) -> NDArray:
    """Accelerations of the node over ``v0 / h`` in some steps from the first contact on, nine phases."""
    s: Any = made(runs, scheme, **settings)
    dof, found = s.contact.L.dofs[0, 0], []
    for k in range(9):
        s.start(SPEED * s.dt * (1 + k / 9), -SPEED)
        while not s.r[0] > signorini.NO_FORCE * FORCE * s.dt:
            s.step()
        row = []
        for _ in range(after):
            row.append(s.a[dof] if hasattr(s, "a") else (s.v[dof] - s.v_before[dof]) / s.dt)
            s.step()
        found.append(row)
    return np.array(found) * s.dt / SPEED


@_says(
    "4.1-acceleration",
    "Sect. 4.1, (43)",
    "The acceleration of the contact node oscillates by the order of v_i / dt.",
)
def _acceleration(runs: Runs) -> Verdict:
    found = accelerations(runs, "dep-4.1", 4)
    swing = np.ptp(found, axis=1) / 2
    why = (
        f"half the swing of the acceleration in the first four steps of contact over v_i / dt, mean of "
        f"{PLACES} ({swing.min():.2g} to {swing.max():.2g}), as a power of ten; tolerance: half a power. "
        f"(43) gives the first one as up to 1/beta = 4, here {found[:, 0].max():.2g}, and each turns by "
        "4/dt times the velocity with which the node touched, so that it grows"
    )
    return Verdict.equal(why, float(np.log10(max(swing.mean(), 1e-300))), 0.0, 0.5)


@_says(
    "4.1-magnitude",
    "Sect. 4.1, Fig. 6",
    "The oscillations of the contact pressure are of the order of m_i v_i / dt.",
)
def _magnitude(runs: Runs) -> Verdict:
    found = phases(runs, "dep-4.1")
    mass = BAR.rho * BAR.length / (2 * N)
    unit = mass * SPEED / found[0].results["h"]
    heights = np.sqrt(2) * ripple(found) * FORCE / unit
    first = of(found, "first_force").max() / unit
    why = (
        f"amplitude of the oscillation over m_i v_i / dt = {unit:.0f} N, mean of {PLACES} "
        f"({heights.min():.1f} to {heights.max():.1f}), as a power of ten; tolerance: half a power. The "
        f"first force is up to {first:.1f} of it: 1/beta = 4 instead of 1, and the next element pushes too"
    )
    return Verdict.equal(why, float(np.log10(heights.mean())), 0.0, 0.5)


#: So small that the node does not feel its element in the first step [s].
_SMALL = (0.00125, 0.000625, 0.0003125)


def _first_forces(runs: Runs, h: float) -> NDArray:
    s, found = made(runs, "dep-4.1", h=h), []
    for k in range(9):
        s.start(SPEED * h * (1 + k / 9), -SPEED)
        while not s.r[0] > signorini.NO_FORCE * FORCE * h:
            s.step()
        found.append(s.r[0] / h)
    return np.array(found)


@_says(
    "4.1-magnitude-limit",
    "Sect. 4.1",
    "The force that stops the contact node is of the order of m_i v_i / dt, dt small.",
)
def _magnitude_limit(runs: Runs) -> Verdict:
    h = _SMALL[-1]
    found = _first_forces(runs, h) / (BAR.rho * BAR.length / (2 * N) * SPEED / h)
    why = (
        f"first force over m_i v_i / dt at dt = {h} s, mean of {PLACES} ({found.min():.2f} to "
        f"{found.max():.2f}), as a power of ten; tolerance: half a power"
    )
    return Verdict.equal(why, float(np.log10(max(found.mean(), 1e-300))), 0.0, 0.5)


@_says("4.1-step", "Sect. 4.1", "The magnitude m_i v_i / dt of the oscillations grows as the step falls.")
def _step(runs: Runs) -> Verdict:
    sizes = [float(_first_forces(runs, h).mean()) for h in _SMALL]
    shown = ", ".join(f"{x:.0f}" for x in sizes)
    why = (
        f"order in dt of the first force, {shown} N for dt = {_SMALL[0]} to {_SMALL[-1]} s, mean of "
        f"{PLACES}; tolerance: half an order. With dt = 0.005 s, Courant number 1.5, the stiffness of the "
        "element hides it; with small steps the node hops, and comes back with forces larger still"
    )
    return Verdict.equal(why, order(_SMALL, np.maximum(sizes, 1e-9)), -1.0, 0.5)


@_says("4.1-impact-law", "(42)", "Newmark with exact contact does not satisfy the impact law.")
def _no_law(runs: Runs) -> Verdict:
    found = [float(np.max(np.abs(run["v_t"][in_contact(run)]))) / SPEED for run in phases(runs, "dep-4.1")]
    why = f"largest velocity of the node in the contact phase over v_i, least of {PLACES}; limit: rounding"
    return Verdict.above(why, min(found), 1e-9)


_says(
    "4.6-long-time",
    "Sect. 4.1, Fig. 14",
    "4.6: the long-time behaviour is still poor.",
    BOUNCES,
    scheme="dep-4.6",
)(poor)
_says(
    "4.4-long-time",
    "Sect. 4.1, Fig. 12",
    "4.4: the losses deteriorate the long-time behaviour.",
    BOUNCES,
    scheme="dep-4.4",
)(poor)
_says(
    "4.1-long-time",
    "Sect. 4.1, Fig. 7",
    "Newmark with exact contact: poor long-time behaviour.",
    BOUNCES,
    scheme="dep-4.1",
)(poor)
_says(
    "4.1-energy",
    "Sect. 4.1, Fig. 7",
    "Newmark with exact contact: poor energy conservation.",
    BOUNCES,
    scheme="dep-4.1",
    growing=True,
)(poor_energy)
_says(
    "4.1-balance",
    "(44)",
    "Newmark with exact contact: E' - E is the work of (r' + r)/2.",
    scheme="dep-4.1",
    mean=True,
)(balance_holds)


@_says("4.1-work", "Sect. 4.1", "In 4.1 contact works negatively as it closes, positively as it opens.")
def _work(runs: Runs) -> Verdict:
    closing, opening = [], []
    for run in phases(runs, "dep-4.1"):
        work, f = np.diff(run["contact"]) / ENERGY, force(run)
        touches = f > signorini.NO_FORCE * FORCE
        closing.append(float(work[touches[1:] & ~touches[:-1]].max()))
        opening.append(float(work[~touches[1:] & touches[:-1]].min()))
    why = (
        f"least work in a step that opens the contact over the initial energy, {PLACES}; limit: rounding. "
        f"The largest in a step that closes it: {max(closing):.1g}"
    )
    # A gap that opens and closes by a rounding does no work.
    return replace(
        Verdict.above(why, min(opening), 1e-12),
        reproduced=bool(min(opening) > 1e-12 and max(closing) < 1e-12),
    )


@_says("4.1-structure", "Sect. 4.1, Fig. 7", "The oscillating contact pressure perturbs the whole structure.")
def _perturbed(runs: Runs) -> Verdict:
    bent = [[float(run["internal"][-1]) / ENERGY for run in phases(runs, s)] for s in ("dep-4.1", "dep-4.3")]
    why = (
        f"elastic energy at t = 2 s over the initial one, mean of {PLACES} ({min(bent[0]):.2f} to "
        f"{max(bent[0]):.2f}); limit: ten times that with 4.3, {np.mean(bent[1]):.3f}. Exact: 0. Where the "
        "impact falls on the middle of a step the structure stays calm"
    )
    return Verdict.above(why, float(np.mean(bent[0])), 10 * float(np.mean(bent[1])))


_says(
    "4.1-hht-damped",
    "Sect. 4.1, Fig. 8",
    "HHT with alpha = -0.2 damps the spurious oscillations.",
    scheme="dep-4.1",
    settings=HHT,
)(is_quiet)


@_says("4.1-hht-visible", "Fig. 8", "HHT with alpha = -0.2 damps, it does not remove: the first steps swing.")
def _visible(runs: Runs) -> Verdict:
    swings = []
    for run in phases(runs, "dep-4.1", **HHT):
        f = force(run)[first_contact(run) + 1 :][:5]
        swings.append(float(np.ptp(f)) / FORCE)
    why = (
        f"swing of the contact force in steps two to six of contact over the exact one, mean of {PLACES} "
        f"({min(swings):.2f} to {max(swings):.2f}): it depends on where in its step the impact falls; "
        "limit: twice the tenth that counts as large"
    )
    return Verdict.above(why, float(np.mean(swings)), 2 * LARGE)


_says(
    "4.1-hht-energy",
    "Sect. 4.1, Fig. 9",
    "HHT with alpha = -0.2: poor energy conservation.",
    BOUNCES,
    scheme="dep-4.1",
    **HHT,
)(poor_energy)
for _theta in THETAS:
    _says(
        f"4.2-damped-{_theta:g}",
        "Sect. 4.1",
        f"The theta method damps the spurious oscillations as HHT does (theta = {_theta:g}).",
        scheme="dep-4.2",
        settings={"theta": _theta},
    )(is_quiet)
    _says(
        f"4.2-energy-{_theta:g}",
        "Sect. 4.1",
        f"The theta method conserves energy as poorly as HHT does (theta = {_theta:g}).",
        BOUNCES,
        scheme="dep-4.2",
        places=1,
        theta=_theta,
    )(poor_energy)
_says(
    "4.2-order",
    "Sect. 4.1",
    "Theta schemes are of first order (theta = 0.6).",
    scheme="dep-4.2",
    expected=1.0,
    settings={"theta": 0.6},
)(is_of_order)
_says(
    "4.2-stable",
    "Sect. 4.1",
    "Theta schemes are stable with any step (theta = 0.6).",
    scheme="dep-4.2",
    settings={"theta": 0.6},
)(stays_bounded)
_says(
    "4-order",
    "Remark 4.4",
    "A proper treatment of contact is not a matter of the order: 4.3 is Newmark.",
    scheme="dep-4.3",
)(is_quiet)


@_says("4.1-no-newmark", "Sect. 4.1", "No implicit Newmark scheme has zero acceleration in contact.")
def _none(runs: Runs) -> Verdict:
    tried: tuple[dict[str, Any], ...] = (
        {},
        HHT,
        {"beta": 0.5, "gamma": 1.0},
        {"beta": 0.3025, "gamma": 0.6},
        {"beta": 0.4, "gamma": 0.5},
    )
    found = [float(np.abs(accelerations(runs, "dep-4.1", 4, **p)[:, 1:]).max(axis=1).min()) for p in tried]
    why = (
        "largest acceleration of the node in steps two to four of contact over v_i / dt, the least of five "
        f"schemes and {PLACES}: " + ", ".join(f"{x:.2g}" for x in found) + "; limit: far above rounding"
    )
    return Verdict.above(why, min(found), 1e-6)


_says(
    "4.3-quiet",
    "Sect. 4.1, Fig. 10",
    "4.3: the large spurious oscillations have disappeared.",
    scheme="dep-4.3",
)(is_quiet)


@_says("4.3-late", "Sect. 4.1", "4.3: the stabilization takes effect only one step after the impact.")
def _late(runs: Runs) -> Verdict:
    gaps = []
    for still, newmark in zip(phases(runs, "dep-4.3"), phases(runs, "dep-4.1")):
        at = first_contact(newmark)
        gaps.append((force(still)[at : at + 2] - force(newmark)[at : at + 2]) / FORCE)
    first, second = np.abs(np.array(gaps)).T
    why = (
        f"difference of the first force from that of 4.1 over the exact one, largest of {PLACES}; limit: "
        f"rounding. In the second step it is {second.min():.2g} to {second.max():.2g}"
    )
    return replace(
        Verdict.below(why, float(first.max()), 1e-9),
        reproduced=bool(first.max() <= 1e-9 and second.mean() > LARGE),
    )


@_says("4.3-peak", "Sect. 4.1, Fig. 10", "4.3: the contact pressure has a peak just after the impact.")
def _peak(runs: Runs) -> Verdict:
    peaks = np.array([force(run)[first_contact(run) :][:3].max() for run in phases(runs, "dep-4.3")]) / FORCE
    front = np.array([force(run)[first_contact(run) :][:3].max() for run in phases(runs, "dep-7.1")]) / FORCE
    why = (
        f"largest force of the first three steps of contact over the exact one, mean of {PLACES} "
        f"({peaks.min():.2f} to {peaks.max():.2f}); {peaks[0]:.2f} at the paper's. Limit: a tenth above that "
        f"with 7.1, {front.mean():.2f}, which has no mass to stop"
    )
    return Verdict.above(why, float(peaks.mean()), float(front.mean()) + LARGE)


CLAIMS: tuple[Claim, ...] = tuple(_claims)
