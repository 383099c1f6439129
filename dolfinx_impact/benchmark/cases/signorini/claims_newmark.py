"""Doyen, Ern and Piperno (2011), Sects. 2 to 4.1: no contact, benchmarks, 4.1 to 4.3: Newmark, HHT."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators.doyen2011 import PAPER
from ...claim import Measured, Runs, above, below, equal, listing, row, table
from ...convergence import norm35, order
from . import measures as m
from .case import EXPLICIT_STEP, IMPLICIT_STEP, NO_FORCE
from .measures import BAR, BOUNCES, BOUNCING, ENERGY, FORCE, HHT, IMPACT, LARGE, SPEED, SPREAD, N

_FREE: tuple[tuple[str, str, str, dict[str, Any], float], ...] = (
    ("2.1-trapezoidal", "Sect. 2.2", "the trapezoidal rule is", {"scheme": "dep-4.1"}, 2.0),
    ("2.1-hht", "Sect. 2.2", "HHT with alpha = -0.2 is", {"scheme": "dep-4.1", **HHT}, 2.0),
    ("2.2-midpoint", "Sect. 2.2", "the midpoint rule is", {"scheme": "dep-4.4"}, 2.0),
    ("4.2", "Sect. 4.1", "the theta scheme with theta = 0.6 is", {"scheme": "dep-4.2", "theta": 0.6}, 1.0),
    ("2.3-central", "Sect. 2.2", "central differences are", {"scheme": "dep-4.7"}, 2.0),
)
_KEPT = (
    ("2.1-trapezoidal", "(14)", "the trapezoidal rule conserves the energy", "dep-4.1", False),
    ("2.2-midpoint", "(15)", "the midpoint rule conserves the energy", "dep-4.4", False),
    ("2.3-central", "(16)", "central differences conserve a quadratic form", "dep-4.7", True),
)
_ENDS = "contact_end", "contact_start"
#: Steps so small that the node does not feel its element in the first one [s].
_SMALL = (0.00125, 0.000625, 0.0003125)
_TRIED = ((0.5, 1.0), (0.3025, 0.6), (0.4, 0.5))  #: Constants beta and gamma of further Newmark schemes.


def _order(runs: Runs, scheme: str, **settings: Any) -> Measured:
    errors, steps = [], []
    for n in (40, 80, 160):
        # Mode 8 for 0.9 of its period of the continuous bar, 0.9 (2 L / 8) / c.
        flight = m.fly(runs, scheme, 8, 0.9 * 2 * N / 8 / n, n, **settings)
        true = np.cos(flight.omega * flight.h * np.arange(n + 1))
        errors.append(norm35(flight.amplitude[:: n // 40], true[:: n // 40]))
        steps.append(flight.h)
    return m.fitted(steps, errors)


def _grown(runs: Runs, scheme: str, **settings: Any) -> float:
    flights = (m.fly(runs, scheme, None, nu, 100, **settings) for nu in (1.5, 15.0, 150.0))
    return max(float(flight.energy[50:].max() / flight.energy[0]) for flight in flights)


def _change(runs: Runs, scheme: str, quasi: bool) -> Measured:
    flight = m.fly(runs, scheme, None, 0.75 if quasi else 1.5, 200)
    energy, form = (float(np.max(np.abs(e - e[0])) / e[0]) for e in (flight.energy, flight.quasi))
    return Measured(form, note=f"The energy changes by {energy:.2g}") if quasi else Measured(energy)


def _nearly(runs: Runs) -> float:
    flights = [m.fly(runs, "dep-4.7", 8, nu, round(400 / nu)) for nu in (0.8, 0.4, 0.2)]
    changes = [np.max(np.abs(f.energy - f.energy[0])) / f.energy[0] for f in flights]
    return order([f.h for f in flights], changes)


def _loss(runs: Runs, mode: int, steps: int, alpha: float) -> float:
    energy = m.fly(runs, "dep-4.1", mode, 1.5, steps, g0=0.0, alpha=alpha).energy
    return float(1 - energy[-1] / energy[0])


def _frequencies(runs: Runs) -> Measured:
    low, middle, high = (_loss(runs, mode, 20, -0.2) for mode in (2, 10, N))
    return Measured(high - abs(middle), note=f"Modes 2, 10, {N} lose {listing([low, middle, high])}")


def _by_alpha(runs: Runs) -> Measured:
    # The mode whose phase turns by 1 in a step: losses are neither tiny nor complete.
    lost = [_loss(runs, 20, 40, alpha) for alpha in (0.0, -0.05, -0.1, -0.2, -0.3)]
    return Measured(float(np.min(np.diff(lost))), note=f"Losses {listing(lost)}")


def _second(runs: Runs) -> float:
    run = runs(BOUNCES, "dep-4.7")
    flight = run["t"] > BOUNCING.contact_end + BOUNCING.transit
    return float(run["t"][flight & (m.force(run) > NO_FORCE * FORCE)][0]) - BOUNCING.contact_start


def _node(runs: Runs) -> Measured:
    made = [runs(IMPACT, "dep-4.7", courant=nu, t_end=1.4) for nu in (0.4, 0.2, 0.1)]
    losses = -m.of(made, "energy_change_1")
    return Measured(float(losses[-1]), note=f"At Courant numbers 0.4, 0.2, 0.1: {listing(losses)}")


def _heights(runs: Runs) -> Measured:
    found = [np.max(np.abs(run["gap"][m.in_contact(run)])) for run in m.phases(runs, "dep-4.1")]
    heights = np.array(found) / (SPEED * BAR.transit)
    return Measured(heights, holds=bool(heights.min() > 1e-9))


def _accelerations(runs: Runs, **settings: Any) -> NDArray:
    """Of the node over ``v_i / h`` in the first four steps of contact with 4.1, at all phases."""
    parts = []
    for s in m.at_phases(runs, "dep-4.1", touching=True, **settings):
        dof = s.contact.L.dofs[0, 0]
        for _ in range(4):
            a = s.a[dof] if hasattr(s, "a") else (s.v[dof] - s.v_before[dof]) / s.dt
            parts.append(a * s.dt / SPEED)
            s.step()
    return np.reshape(parts, (-1, 4))


def _never_at_rest(runs: Runs) -> list[float]:
    tried: list[dict[str, float]] = [{}, HHT, *({"beta": beta, "gamma": gamma} for beta, gamma in _TRIED)]
    return [np.abs(_accelerations(runs, **constants)[:, 1:]).max(axis=1).min() for constants in tried]


def _power_of_ten(values: NDArray) -> Measured:
    note = f"{values.min():.2g} to {values.max():.2g} at the phases"
    return Measured(float(np.log10(max(values.mean(), 1e-300))), note=note)


def _stop(h: float) -> float:
    """Force that stops the contact node in a step, ``m_i v_i / h`` [N]."""
    return BAR.rho * BAR.length / (2 * N) * SPEED / h


def _first_forces(runs: Runs, h: float) -> NDArray:
    return np.array([s.r[0] / h for s in m.at_phases(runs, "dep-4.1", touching=True, h=h)])


def _works(runs: Runs) -> Measured:
    closing, opening = [], []
    for run in m.phases(runs, "dep-4.1"):
        work, touches = np.diff(run["contact"]) / ENERGY, m.force(run) > NO_FORCE * FORCE
        closing.append(float(work[touches[1:] & ~touches[:-1]].max()))
        opening.append(float(work[~touches[1:] & touches[:-1]].min()))
    # A gap that opens and closes by a rounding does no work.
    note = f"The largest in a step that closes it: {max(closing):.1g}"
    return Measured(min(opening), holds=max(closing) < 1e-12, note=note)


def _perturbed(runs: Runs) -> Measured:
    bent, calm = m.strained(runs, "dep-4.1"), m.strained(runs, "dep-4.3").mean()
    note = f"{bent.min():.2f} to {bent.max():.2f}, with 4.3 {calm:.3f}"
    return Measured(float(bent.mean()), 10 * float(calm), note=note)


def _late(runs: Runs) -> Measured:
    gaps = []
    for still, newmark in zip(m.phases(runs, "dep-4.3"), m.phases(runs, "dep-4.1")):
        at = m.first_contact(newmark)
        gaps.append((m.force(still)[at : at + 2] - m.force(newmark)[at : at + 2]) / FORCE)
    first, second = np.abs(np.array(gaps)).T
    note = f"In the second step {second.min():.2g} to {second.max():.2g}"
    return Measured(float(first.max()), holds=bool(second.mean() > LARGE), note=note)


def _peak(runs: Runs) -> Measured:
    first = [
        [m.force(run)[m.first_contact(run) :] for run in m.phases(runs, s)] for s in ("dep-4.3", "dep-7.1")
    ]
    peaks, front = (np.array([force[:3].max() / FORCE for force in forces]) for forces in first)
    note = f"{peaks.min():.2f} to {peaks.max():.2f}, with 7.1 {front.mean():.2f}"
    return Measured(float(peaks.mean()), float(front.mean()) + LARGE, note=note)


CLAIMS = table(IMPACT, PAPER, [
    *(row(f"{id}-order", where, f"Without contact {scheme_is} of {'second' if p > 1 else 'first'} order.",
          _order, equal(p, 0.2), "order in h of the error of a mode of the free bar; h is large", **of)
      for id, where, scheme_is, of, p in _FREE),
    *(row(f"{id}-stable", where, f"Without contact {scheme_is} stable with any step.",
          _grown, below(1 + 1e-9), "energy in steps 50 to 100 over the first, Courant numbers to 150", **of)
      for id, where, scheme_is, of, _ in _FREE[:-1]),
    *(row(f"{id}-energy", where, f"Without contact {what}.", _change, below(1e-11),
          "change in 200 steps with all modes, under gravity; rounding", scheme=scheme, quasi=quasi)
      for id, where, what, scheme, quasi in _KEPT),
    row("2.3-nearly", "(16)", "What central differences conserve is nearly the energy.",
        _nearly, above(1.0), "order in h of the change of the energy in mode 8; theory: (h omega)^2 / 4"),
    row("2.1-hht-frequencies", "Sect. 2.2", "HHT dissipates in the high frequencies.",
        _frequencies, above(0.9), "part of its energy lost in 20 steps by the highest mode, less by mode 10"),
    row("2.1-hht-alpha", "Sect. 2.2", "The parameter alpha controls the amount of dissipation of HHT.",
        _by_alpha, above(1e-6), "least increase, alpha 0 to -0.3, of the energy lost by mode 20"),
    row("2.3-central-stable", "Sect. 3.3",
        "Lumped linear central differences are stable up to Courant number 1.", m.bounded_courant,
        equal(1.0, 0.01), "largest Courant number stable for 250 steps", scheme="dep-4.7", height=1e3),
    row("3.1-force", "(27)", "In the impact the contact pressure is E v0 / c.",
        lambda runs: m.of(m.phases(runs, "dep-4.7"), "force_mean"),
        equal(FORCE, FORCE / N), "mean of the contact force of 4.7 [N]; tolerance: one element's part"),
    row("3.1-duration", "(27)", "The bar takes off after twice the time of a wave through it, 2 L / c.",
        lambda runs: np.subtract(*(m.of(m.phases(runs, "dep-4.7"), of) for of in _ENDS)),
        equal(2 * BAR.transit, EXPLICIT_STEP + SPREAD), "with 4.7 [s]; a step and the spread of the front"),
    row("3.1-rebound", "(26)", "The bar takes off undeformed, at the speed of the impact.",
        lambda runs: m.strained(runs, "dep-4.7"), below((2 * N) ** (1 / 3) / N),
        "elastic energy at the end with 4.7 over the initial one; the spread front holds (2 N)^(1/3) / N"),
    row("3.2-second", "(31)", "The second impact of the bouncing bar comes 8 L / c after the first.",
        _second, equal(8 * BOUNCING.transit, 2 * EXPLICIT_STEP + SPREAD + BOUNCING.flight / (4 * N)),
        "from exact first to second force of 4.7 [s]; two steps, front, node's energy", case=BOUNCES),
    row("4-node", "Remark 4.2", "The semi-discrete solution loses energy at each impact of a node.", _node,
        equal(1 / (2 * N), 0.1 / (2 * N)), "part lost with 4.7, h to 0: the node's energy"),
    row("4.1-displacement", "Sect. 4.1, Fig. 6",
        "Newmark with exact contact: small spurious oscillations of the displacement in contact.",
        _heights, below(LARGE), "largest gap in contact over L v0 / c, a tenth at most and above rounding"),
    row("4.1-acceleration", "Sect. 4.1, (43)",
        "The acceleration of the contact node oscillates by the order of v_i / dt.",
        lambda runs: _power_of_ten(np.ptp(_accelerations(runs), axis=1) / 2), equal(0.0, 0.5),
        "half its swing in four steps over v_i / dt, power of ten; (43): the first is up to 1/beta = 4"),
    row("4.1-magnitude", "Sect. 4.1, Fig. 6", "The oscillations of the pressure are of order m_i v_i / dt.",
        lambda runs: _power_of_ten(2**0.5 * m.oscillation(runs, "dep-4.1") * FORCE / _stop(IMPLICIT_STEP)),
        equal(0.0, 0.5), "amplitude over that, power of ten; the first force has 1/beta = 4"),
    row("4.1-magnitude-limit", "Sect. 4.1",
        "The force that stops the contact node is of the order of m_i v_i / dt, dt small.",
        lambda runs: _power_of_ten(_first_forces(runs, _SMALL[-1]) / _stop(_SMALL[-1])), equal(0.0, 0.5),
        f"first force over m_i v_i / dt at dt = {_SMALL[-1]} s, as a power of ten"),
    row("4.1-step", "Sect. 4.1", "The magnitude m_i v_i / dt of the oscillations grows as the step falls.",
        lambda runs: m.fitted(_SMALL, [_first_forces(runs, h).mean() for h in _SMALL], " N"),
        equal(-1.0, 0.5), "order in dt of the first force; at 0.005 s the element's stiffness hides it"),
    row("4.1-impact-law", "(42)", "Newmark with exact contact does not satisfy the impact law.",
        lambda runs: [np.abs(r["v_t"][m.in_contact(r)]).max() / SPEED for r in m.phases(runs, "dep-4.1")],
        above(1e-9), "largest velocity of the node in the contact phase over v_i; limit: rounding"),
    row("4.1-work", "Sect. 4.1", "In 4.1 contact works negatively as it closes, positively as it opens.",
        _works, above(1e-12), "least work in a step that opens the contact over the energy; limit: rounding"),
    row("4.1-structure", "Sect. 4.1, Fig. 7", "The oscillating pressure perturbs the whole structure.",
        _perturbed, above(), "mean elastic energy at the end over the initial one; ten times that with 4.3"),
    row("4.1-hht-visible", "Fig. 8", "HHT with alpha = -0.2 does not remove them: the first steps swing.",
        lambda runs: m.mean([np.ptp(m.force(run)[m.first_contact(run) + 1 :][:5]) / FORCE
                             for run in m.phases(runs, "dep-4.1", **HHT)]),
        above(2 * LARGE), "mean swing of the force in steps two to six over the exact one"),
    row("4.1-no-newmark", "Sect. 4.1", "No implicit Newmark scheme has zero acceleration in contact.",
        _never_at_rest, above(1e-6), "largest acceleration in steps two to four over v_i / dt, by constants"),
    row("4.3-late", "Sect. 4.1", "4.3: the stabilization takes effect only one step after the impact.",
        _late, below(1e-9), "first force less that of 4.1 over the exact one; the second differs by a tenth"),
    row("4.3-peak", "Sect. 4.1, Fig. 10", "4.3: the contact pressure has a peak just after the impact.",
        _peak, above(), "mean largest of three forces over the exact one; a tenth above 7.1, without mass"),
], prefix="doyen-")  # fmt: skip
