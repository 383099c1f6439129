"""The impacting bar: discretization, restitution, energy and oscillations, Di Stasio et al., CSMA (2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...claim import CSMA, DI_STASIO, Measured, Row, Run, Runs, above, below, equal, row, table
from ...convergence import at_times, norm35
from . import claims_combined
from . import measures as m
from .figures import FIGURES as FIGURES
from .measures import BAR, BOTH, CASE, CD, DISSIPATIVE, ENERGY, MESHES, MJ

_TEXT, _SECTION, _TEXT_AND_END = "Impacting bar", "Sect. 2.4", "Impacting bar; Concluding remarks"
_SIZES = f"{MESHES[0]} to {MESHES[-1]} elements"


def _of_stable(runs: Runs, result: str, courant: float) -> Measured:
    run = runs(CASE, CD, courant=courant)
    return Measured(run.results[result], holds=m.highest_energy(run) < 1 + 1e-9)


def _first_share(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    return Measured(run.results["first_impulse"] / (BAR.impulse / 2), holds=run["gap"].shape[1] == 1)


def _mass_felt(run: Run) -> float:
    """Mass that an impulse at the end node sets in motion in one step, 1/[(M + h^2/4 K)^-1]_11 [kg]."""
    n, h = run.summary["parameters"]["elements"], run.results["h"]
    mass, stiff = BAR.rho * BAR.area * BAR.length / n / 6, h**2 / 4 * BAR.E * BAR.area * n / BAR.length
    diagonal, beside = np.full(n + 1, 2 * (2 * mass + stiff)), np.full(n, mass - stiff)
    diagonal[[0, -1]] /= 2
    return float(1 / np.linalg.inv(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))[0, 0])


def _implicit_impulse(runs: Runs) -> Measured:
    run, lumped = runs(CASE, MJ), runs(CASE, CD).results["first_impulse"]
    expected, note = BAR.v0 * _mass_felt(run), f"The lumped node of cd-lagrange takes {lumped:.6g}"
    return Measured(run.results["first_impulse"], expected, 1e-10 * expected, note=note)


def _mean_error(runs: Runs, scheme: str, name: str, **settings: Any) -> float:
    """Norm (35), mean over the places of the impact in its step."""
    return float(np.mean([m.error(run, name) for run in m.hits(runs, scheme, **settings)]))


def _energy_order(runs: Runs) -> Measured:
    refined = {scheme: m.on_meshes(runs, scheme) for scheme in BOTH}
    lost = {scheme: [m.lost(run) for run in made] for scheme, made in refined.items()}
    orders = {scheme: m.rate(refined[scheme], lost[scheme]) for scheme in BOTH}
    return Measured(orders, holds=min(map(min, lost.values())) > 1e-9)


def _converges(runs: Runs) -> Measured:
    refined = m.on_meshes(runs)
    times = refined[0]["t"]
    u, v = (m.rate(refined, [m.error(run, name, times) for run in refined]) for name in ("u", "v_t"))
    return Measured(u, holds=v > 0.25, note=f"That of the velocity is {v:.2f}: it oscillates")


def _node_energy(runs: Runs, scheme: str) -> float:
    return float(-runs(CASE, scheme)["contact"][-1] / (0.01 * ENERGY))


def _position(runs: Runs) -> Measured:
    """Bound: norm (35) of the exact bar when contact begins a step late and ends a step early."""
    t, h = runs(CASE, CD)["t"], runs(CASE, CD).results["h"]
    true = BAR.displacement(0.0, t)
    # It stops h v0 inside the wall, and two steps of the contact force are missing in its rebound.
    slower = 2 * h * BAR.force / (BAR.rho * BAR.area * BAR.length)
    late = h * BAR.v0 * (t >= BAR.contact_start) + slower * np.maximum(t - BAR.contact_end, 0.0)
    return Measured({s: _mean_error(runs, s, "u") for s in BOTH}, norm35(true + late, true))


def _contact_phases(run: Run) -> int:
    return int(run.results["contact_phases"])


def _influence(runs: Runs, scheme: str, name: str) -> float:
    plastic, elastic = (m.on_meshes(runs, scheme, restitution=e) for e in (0.0, 1.0))
    times = plastic[0]["t"]
    pairs = [[at_times(run["t"], run[name], times) for run in pair] for pair in zip(elastic, plastic)]
    return m.rate(plastic, [norm35(*pair) for pair in pairs])


def _formulation(runs: Runs) -> Measured:
    position = m.lost(runs(CASE, m.PAOLI, restitution=1.0))
    note = f"With {m.PAOLI} it is {position:.2g}: it gains"
    return Measured(m.each(runs, m.lost, restitution=1.0), holds=abs(position) > 1e-3, note=note)


def _oscillation(run: Run) -> float:
    return m.ringing(run)[0] / BAR.v0


def _impulse_span(run: Run) -> float:
    """Peak to peak of the impulses over the exact force x h, from two steps to L/c after the exact impact."""
    h, since = run.results["h"], run["t"] - BAR.contact_start
    return float(np.ptp(run["r"][(since > 2 * h) & (since < m.TRANSIT)])) / (BAR.force * h)


def _refined(runs: Runs, of: Callable[[Run], float], floor: float = 1e-15) -> Measured:
    refined = m.on_meshes(runs)
    values = [of(run) for run in refined]
    return Measured(m.rate(refined, values, floor), note=f"{values[0]:.3g} to {values[-1]:.3g} on {_SIZES}")


def _overshoot(run: Run) -> float:
    first = run["t"] < BAR.contact_end + 1.8 * m.TRANSIT
    return -float(run["v_t"][first].min()) / BAR.v0 - 1


def _frequency(runs: Runs) -> Measured:
    fit = _refined(runs, lambda run: m.ringing(run)[1], 1.0)
    return Measured(-fit.value, note=f"Frequencies [Hz]: {fit.note}")


def _scheme_dependent(runs: Runs) -> Measured:
    schemes = (*BOTH, "carpenter", m.NEWMARK)
    least, *_, next_most, most = sorted(_oscillation(runs(CASE, scheme)) for scheme in schemes)
    return Measured(most / least, note=f"Without the largest it is {next_most / least:.2f}")


def _damped(runs: Runs, by: str, plain: str, **settings: Any) -> Measured:
    run = runs(CASE, by, **settings)
    ratio = m.ringing(run)[0] / m.ringing(runs(CASE, plain))[0]
    return Measured(ratio, note=f"The damped scheme loses {m.lost(run):.1%} of the energy")


_AMPLITUDE = "With CD-Lagrange the amplitude of the oscillations decreases with refinement"
_NODE = "work of contact over the energy of the lumped end node, E0/(2 N)"
_DAMPING = "RMS of the velocity after the release over that of the plain scheme; a tenth by convention"
_Sentence = tuple[str, str, str]


def _twice(first: _Sentence, second: _Sentence, *measure: Any, **options: Any) -> tuple[Row, Row]:
    """Rows of one measure for both papers; id, place and text of Di Stasio et al. and of CSMA."""
    return row(*first, *measure, **options), row(*second, *measure, paper=CSMA, **options)


_CLAIMS = table(CASE, DI_STASIO, [
    row("distasio-bar-critical-step", _TEXT, "With 50 elements the largest stable step is 9.82e-7 s.",
        _of_stable, equal(9.82e-7, 5e-10), "critical step (L/N)/c, to the printed digits; no energy gained",
        result="critical_time_step", courant=1.0),
    row("distasio-bar-step", _TEXT, "The step of 0.7 times the critical one is 6.87e-7 s.", _of_stable,
        equal(6.87e-7, 5e-10), "step, to the printed digits; no energy gained", result="h", courant=0.7),
    row("distasio-bar-one-node", "Fig. 19", "The contact area is a single node.", _first_share,
        equal(0.01, 1e-12), "first impulse over the momentum: of one lumped node, 1/(2 N)"),
    row("distasio-bar-consistent", _TEXT, "The explicit scheme alone lumps the mass, Moreau-Jean does not.",
        _implicit_impulse, equal(), "first impulse [N s] against v0 / [(M + h^2/4 K)^-1]_11, consistent M"),
    *_twice(("distasio-bar-e1-ripple", _TEXT,
             "With restitution 1 the displacement of the contact node oscillates after the impact."),
            ("csma-bar-e1-ripple", _SECTION, "Spurious oscillations of the position follow the impact."),
            lambda runs, scheme: m.position_ripple(runs(CASE, scheme, restitution=1.0)), above(0.1),
            "RMS of the position in contact over h v0; limit: a tenth of a step", per=BOTH),
    *(row(f"distasio-bar-e0-{quantity}", _TEXT,
          f"With restitution 0 the bar is closer to the analytical one than with 1 ({quantity}, norm (35)).",
          lambda runs, name: {s: _mean_error(runs, s, name, restitution=0.0)
                              / _mean_error(runs, s, name, restitution=1.0) for s in BOTH},
          below(1.0), f"error with e = 0 over that with e = 1, mean of {m.PLACES}", name=name)
      for quantity, name in (("displacement", "u"), ("velocity", "v_t"))),
    *_twice(("distasio-bar-energy-order", _TEXT, "Energy is conserved only as space and time converge."),
            ("csma-bar-convergence", _SECTION, "At convergence in space and time energy is conserved."),
            _energy_order, above(0.25), f"order in h of the energy lost, {_SIZES}; theory: 1"),
    row("distasio-bar-converges", _TEXT, "The discrete solution converges to the analytical one.",
        _converges, above(0.5), f"order of the displacement, norm (35), {_SIZES}; limit: half an order"),
    *_twice(("distasio-bar-node-energy", _TEXT, "CD-Lagrange loses the kinetic energy of the contact node."),
            ("csma-bar-node-energy", _SECTION, "The kinetic energy of the contact node is dissipated."),
            _node_energy, equal(1.0, 1e-9), _NODE, scheme=CD),
    row("distasio-bar-node-energy-implicit", _TEXT, "Moreau-Jean loses the kinetic energy of the node.",
        _node_energy, equal(1.0, 1e-9), _NODE, scheme=MJ),
    row("distasio-bar-lost-tiny", _TEXT, "The lost energy is tiny on an accurate mesh.", m.each, below(0.005),
        "part lost, finest mesh; limit: that with four times fewer", of=m.lost, elements=MESHES[-1]),
    row("distasio-fig20-position", "Fig. 20", "The position of the node is close to the analytical one.",
        _position, below(), "norm (35); limit: of a bar that touches a step late and leaves one early"),
    row("distasio-fig20-persistent", "Fig. 20", "The contact is persistent.",
        m.each, equal(1, 0), "phases of contact", of=_contact_phases),
    row("distasio-bar-forced-dissipation", "Concluding remarks",
        "Finite elements force a dissipative contact law: without it the contact does not last.",
        m.each, above(1), "phases of contact; at 0 there is one", of=_contact_phases, restitution=1.0),
    row("csma-bar-e0-quiet", _SECTION, "With restitution 0 the position does not oscillate.", m.each,
        below(1e-12), "RMS in contact over h v0; limit: rounding of u", paper=CSMA, of=m.position_ripple),
    row("csma-bar-e0-dissipates", _SECTION, "With restitution 0 the contact no longer conserves energy.",
        lambda runs: Measured(m.each(runs, m.lost), holds=max(
            map(abs, m.each(runs, m.lost, restitution=1.0).values())) < 1e-11),
        above(1e-6), "part of the energy lost; none is at restitution 1", paper=CSMA),
    row("csma-bar-no-influence-u", _SECTION, "At convergence restitution has no influence (displacement).",
        lambda runs: {scheme: _influence(runs, scheme, "u") for scheme in BOTH}, above(0.5),
        f"order in h of the difference between restitution 0 and 1, norm (35), {_SIZES}", paper=CSMA),
    *(row(f"csma-bar-no-influence-v-{scheme}", _SECTION,
          f"At convergence restitution has no influence (velocity, {scheme}).", _influence, above(0.25),
          "order as for the displacement; half of the velocity's 1/2", paper=CSMA, scheme=scheme, name="v_t")
      for scheme in BOTH),
    row("csma-bar-vibration", "Sect. 3", "At the impact energy turns into oscillations of high frequency.",
        m.each, above(1.0), "energy beyond that of the mean velocity over the energy lost", paper=CSMA,
        of=lambda run: (1 - m.lost(run) - (run.results["rebound_velocity"] / BAR.v0) ** 2) / m.lost(run)),
    row("csma-bar-formulation", "Sect. 3",
        "Contact at velocity level has the better energy behaviour than contact at position level.",
        _formulation, below(1e-11), "part of the energy lost at restitution 1; limit: rounding", paper=CSMA),
    *_twice(("distasio-fig21-oscillations", "Fig. 21; Concluding remarks",
             "After the release the velocity of the contact node oscillates with both schemes."),
            ("csma-bar-release-ripple", _SECTION, "The velocity oscillates after the bar has left the wall."),
            m.each, above(0.01), "RMS of the velocity over v0 after the release; limit: a line's width",
            of=_oscillation),
    row("distasio-fig21-equivalent", "Figs. 21, 22", "Both schemes oscillate alike after the release.",
        lambda runs: max(found := m.each(runs, _oscillation).values()) / min(found), equal(1.0, 0.1),
        "larger RMS of the velocity over the smaller; a figure shows no 10 %"),
    row("distasio-fig22-impulse", "Fig. 22", "The impulse at the contact node oscillates too.", m.each,
        above(0.01), "peak to peak of the impulses in the first L/c over force x h", of=_impulse_span),
    *_twice(("distasio-bar-amplitude", _TEXT, f"{_AMPLITUDE}."),
            ("csma-bar-amplitude", _SECTION, "Smaller steps and elements make these oscillations smaller."),
            _refined, above(0.25), "order in h of the RMS after the release; theory: 1/2 at a fixed time",
            of=lambda run: m.ringing(run)[0]),
    row("distasio-bar-overshoot", _TEXT, f"{_AMPLITUDE} (taken as: the overshoot at the release).", _refined,
        above(0.1), "order in h of the largest velocity beyond v0", of=_overshoot, floor=1e-12),
    *_twice(("distasio-bar-frequency", _TEXT, "With CD-Lagrange their frequency rises with refinement."),
            ("csma-bar-frequency", _SECTION, "Smaller steps and elements make their frequency higher."),
            _frequency, above(0.5), "order in 1/h of the frequency after the release; theory: 1"),
    *_twice(("distasio-bar-high-frequency", _TEXT_AND_END, "The discretization adds high frequencies."),
            ("csma-bar-high-frequency", _SECTION, "The mesh adds frequencies that the true bar has not."),
            m.each, above(0.5), "frequency over the highest of the chain; from 1/2 on waves of < 6 elements",
            of=lambda run: m.ringing(run)[1] * np.pi * BAR.length / 50 / BAR.wave_speed),
    row("csma-bar-scheme-dependent", _SECTION, "How strong high frequencies are depends on the scheme.",
        _scheme_dependent, above(2.0), "largest RMS of the velocity over the smallest", paper=CSMA),
    *_twice(("distasio-bar-dissipative", _TEXT_AND_END, "Explicit dissipation would damp oscillations."),
            ("csma-bar-dissipative", _SECTION, "A dissipative scheme could deal with high frequencies."),
            _damped, below(0.1), _DAMPING, by=DISSIPATIVE, plain=CD),
    row("distasio-bar-noh-bathe", _TEXT_AND_END,
        "Explicit dissipation would damp oscillations (a scheme of two substeps, with impulses in both).",
        _damped, below(0.1), _DAMPING, by="noh-bathe", plain=CD),
    row("distasio-bar-implicit-dissipative", _TEXT, "Implicit dissipative schemes damp oscillations too.",
        _damped, below(0.1), _DAMPING, by=MJ, plain=MJ, theta=0.55),
    row("distasio-bar-generalized-alpha", _TEXT,
        "Implicit dissipative schemes damp oscillations too (generalized-alpha, rho_inf = 0.5).",
        _damped, below(0.1), _DAMPING, by="generalized-alpha", plain=MJ, rho_inf=0.5),
])  # fmt: skip
CLAIMS = _CLAIMS + claims_combined.CLAIMS
