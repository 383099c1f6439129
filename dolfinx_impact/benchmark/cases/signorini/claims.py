"""Doyen, Ern and Piperno (2011) on the bar: here Sects. 5 to 7 and the appendix, and all claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators.doyen2011 import PAPER
from ...claim import Measured, Runs, above, below, equal, listing, row, table
from ...convergence import norm35, order
from . import claims_exact, claims_newmark
from . import measures as m
from .case import EXPLICIT_STEP, IMPLICIT_STEP
from .figures import FIGURES as FIGURES
from .measures import BAR, BOUNCES, ENERGY, FORCE, IMPACT, ROUNDING, WIDTH, overshoots, ripples

_BELOW_ONE = below(1 - 1e-9)
_COARSE, _FINE = IMPLICIT_STEP, IMPLICIT_STEP / 4
_STEPS = [_COARSE / 2**k for k in range(4)]


def _tends(runs: Runs) -> Measured:
    stiffness, hard = (1e-4, 1e-5, 1e-6), runs(IMPACT, "dep-4.1").results["first_force"]
    soft = m.of([runs(IMPACT, "dep-5.1", eps=eps) for eps in stiffness], "first_force")
    return m.fitted(stiffness, np.abs(hard / soft - 1))


def _with_penalty(runs: Runs) -> list[float]:
    made = [runs(case, "dep-5.2") for case in (IMPACT, BOUNCES)]
    stored = [np.minimum(run["gap"][:, 0], 0.0) ** 2 / (2 * 1e-4) / ENERGY for run in made]
    return [np.abs(m.kept(run) + part - part[0]).max() for run, part in zip(made, stored)]


def _not_better(runs: Runs, of: str, name: str) -> Measured:
    found = m.phases if of == IMPACT else m.periodic_bounces
    new, old = (m.of(found(runs, scheme), name) for scheme in ("dep-5.2", "dep-5.1"))
    return Measured(new.mean() / old.mean(), note=f"{new[0] / old[0]:.2g} at the phase of the figures")


def _resting(runs: Runs, eps: float) -> Measured:
    scheme = m.chosen(runs, "dep-5.3")
    note = f"In an impact energy does not double up to {m.largest_courant(scheme, eps=eps):.4f}"
    return Measured(m.resting_courant(scheme, eps), m.closed_form(eps), note=note)


def _tightens(runs: Runs) -> Measured:
    free = m.largest_courant(m.chosen(runs, "dep-4.7"))
    courants = [m.largest_courant(m.chosen(runs, "dep-5.3"), eps=eps) for eps in (1e-4, 1e-5)]
    note = f"{listing([free, *courants])}; the end mode alone allows {m.closed_form(1e-5):.4f} at 1e-5"
    return Measured([free - courants[0], courants[0] - courants[1]], note=note)


def _vanishes(runs: Runs) -> Measured:
    # A coarse bar: small Courant numbers take many steps.
    eps, elements = (1e-5, 1e-6), 20
    courants = [m.largest_courant(m.chosen(runs, "dep-5.3"), elements, eps=e) for e in eps]
    return m.fitted(eps, courants, f"; closed form {listing([m.closed_form(e, elements) for e in eps])}")


def _depths(runs: Runs) -> NDArray:
    made = [run for scheme in ("dep-6.1", "dep-6.2") for run in m.phases(runs, scheme)]
    return m.of(made, "penetration_max") / (BAR.v0 * m.of(made, "h"))


def _unperturbed(runs: Runs) -> Measured:
    run, scheme = runs(IMPACT, "dep-6.1"), m.chosen(runs, "dep-6.1")
    h, pressure = run.results["h"], run.results["force_oscillation"] / FORCE
    first = np.array([m.stress(scheme, h, BAR.contact_start + t)[0] for t in np.arange(0.3, 0.56, 9 * h)])
    away = float(np.sqrt(np.mean((first / FORCE + 1) ** 2)))
    return Measured(away / pressure, note=f"{away:.2g}, {pressure:.2g}")


def _nearness(runs: Runs) -> float:
    pairs = [*zip(*(m.phases(runs, s, h=EXPLICIT_STEP) for s in ("dep-6.2", "dep-4.7")))]
    part = (pairs[0][0]["t"] - BAR.contact_start) / (2 * BAR.transit)
    apart = [np.abs(a["gap"] - b["gap"])[(part > 0.15) & (part < 0.85)].max() for a, b in pairs]
    return float(max(apart)) / (EXPLICIT_STEP * BAR.v0)


def _semidiscrete(runs: Runs) -> Measured:
    works = [m.of(m.phases(runs, "dep-7.1", parts=m.FEW, h=h), "contact_work") for h in _STEPS]
    return m.fitted(_STEPS, [float(np.sqrt(np.mean(work**2))) for work in works])


def _compared(runs: Runs, scheme: str, others: tuple[str, ...], name: str = "energy_change_4") -> Measured:
    """Mean magnitude of a result of the bounces over that of the best of the others."""
    sizes = {s: np.abs(m.after_periods(runs, s, name)).mean() for s in (scheme, *others)}
    return Measured(float(sizes[scheme] / min(sizes[other] for other in others)), note=listing(sizes))


def _attractive(runs: Runs) -> Measured:
    schemes = ("dep-4.7", "dep-5.3", "dep-6.2", "dep-7.2")
    ripple = {s: float(m.oscillation(runs, s).max()) for s in schemes}
    lost = {s: float(np.abs(m.after_periods(runs, s)).max()) for s in schemes}
    reliable = [s for s in schemes if ripple[s] < 0.01 and lost[s] < 0.005]
    note = f"Oscillations {listing(ripple)}; changes of energy {listing(lost)}"
    return Measured(len(reliable), holds=reliable == ["dep-7.2"], note=note)


def _stress(runs: Runs, h: float, **settings: Any) -> NDArray:
    """Stress in the elements with 7.1, when the front is on its way down."""
    return m.stress(m.chosen(runs, "dep-7.1"), h, **settings)


def _side(runs: Runs, h: float, front: bool) -> Measured:
    behind, before = overshoots(_stress(runs, h))
    here, there = (before, behind) if front else (behind, before)
    note = f"{here:.3g} against {there:.3g} of the jump"
    return Measured(here / max(there, 1e-3), holds=here > 0.01, note=note)


def _magnitude(runs: Runs) -> Measured:
    fit = m.fitted(_STEPS, [max(*overshoots(_stress(runs, h)), 1e-4) for h in _STEPS], " of the jump")
    return replace(fit, value=max(fit.value, 0.0))


def _proportional(runs: Runs) -> Measured:
    speeds, stresses = (5.0, 10.0, 20.0), []
    for v0 in speeds:
        jump = FORCE * v0 / BAR.v0
        sigma = _stress(runs, _COARSE, v0=v0, h0=BAR.h0 * v0 / BAR.v0)
        stresses.append(max(overshoots(sigma, jump)) * jump)
    return m.fitted(speeds, stresses, " Pa")


def _left_of_gibbs(runs: Runs, h: float) -> float:
    return ripples(_stress(runs, h, alpha=-0.06)) / ripples(_stress(runs, h))


def _eliminated(runs: Runs) -> Measured:
    weak, strong = ([ripples(_stress(runs, h, alpha=a)) for h in (_COARSE, _FINE)] for a in (-0.06, -0.3))
    return Measured(weak, note=f"With alpha = -0.3 the first waves stay: {listing(strong)}")


def _smaller(runs: Runs) -> Measured:
    gibbs = max(overshoots(_stress(runs, _COARSE)))
    contact = m.of(m.phases(runs, "dep-4.1"), "force_max_deviation") / FORCE
    return Measured(gibbs / contact, note=f"Gibbs {gibbs:.2g}, contact {contact.min():.3g} and more")


def _deviation(runs: Runs, h: float, **settings: Any) -> float:
    """Mean over the phases of the largest deviation of the pressure of 4.1, over the exact one."""
    return float(m.of(m.phases(runs, "dep-4.1", h=h, **settings), "force_max_deviation").mean()) / FORCE


def _inverse_step(runs: Runs) -> Measured:
    deviations = [_deviation(runs, h) for h in _STEPS[:3]]
    orders = [order(_STEPS[k : k + 2], deviations[k : k + 2]) for k in range(2)]
    return Measured(orders, note=f"{listing(deviations)}; 4.1 gains energy, and its node gets faster")


def _node_mass(runs: Runs) -> Measured:
    steps = {n: _COARSE * 100 / n for n in (50, 100, 200)}
    deviations = [_deviation(runs, h, elements=n) for n, h in steps.items()]
    return m.fitted(list(steps.values()), deviations, "; 4.1 gains energy, and its node gets faster")


def _dissipation(runs: Runs) -> Measured:
    gibbs = min(_left_of_gibbs(runs, h) for h in (_COARSE, _FINE))
    damped, rough = (m.oscillation(runs, "dep-4.1", alpha=alpha).mean() for alpha in (-0.06, 0.0))
    contact = float(damped / rough)
    return Measured(gibbs / contact, note=f"{gibbs:.2g}, {contact:.2g}; HHT damps steps that alternate most")


OTHERS = table(IMPACT, PAPER, [
    row("5.1-reduces", "Sect. 5.1, Fig. 17", "The penalty tends to reduce the spurious oscillations.",
        lambda runs: m.oscillation(runs, "dep-5.1") / m.oscillation(runs, "dep-4.1"),
        below(0.5), "oscillation of the contact pressure with eps = 1e-4 over that of 4.1"),
    row("5.1-grows", "Sect. 5.1, Fig. 18", "The oscillations grow with the penalty parameter 1/eps.",
        lambda runs: [m.oscillation(runs, "dep-5.1", eps=stiff) / m.oscillation(runs, "dep-5.1", eps=soft)
                      for soft, stiff in ((1e-3, 1e-4), (1e-4, 1e-5))],
        above(1.0), "growth of the oscillation of the pressure when eps falls tenfold, 1e-3 to 1e-5"),
    row("5.1-tends", "Sect. 5.1", "The penalty condition tends to the exact one as 1/eps tends to infinity.",
        _tends, equal(1.0, 1e-6), "order in eps of the first force of 4.1 over that of 5.1 less 1, eps / D"),
    row("5.1-loses", "Sect. 5.1, Fig. 19", "With a penalty the trapezoidal rule conserves no energy.",
        lambda runs: np.abs(m.after_periods(runs, "dep-5.1", "energy_change_1")), above(ROUNDING),
        "relative change over one period; rounding", case=BOUNCES),
    row("5.2-balance", "(84)", "The energy with that of the penalty is conserved.",
        _with_penalty, below(ROUNDING), "change of E + V - F.u, eps = 1e-4; limit: rounding", case=BOUNCES),
    row("5.2-recovers", "Sect. 5.1", "Its discretization of the penalty recovers energy conservation.",
        lambda runs: np.abs(m.after_periods(runs, "dep-5.2")),
        below(ROUNDING), "relative change of E - F.u over four periods; limit: rounding", case=BOUNCES),
    *(row(f"5.2-not-better-{text.replace(', ', '-')}", "Sect. 5.1",
          f"The energy-conserving penalty gives no significantly better results ({text}).", _not_better,
          above(0.5), f"mean {name} over that of 5.1; better would be half", case=case, of=case, name=name)
      for case, name, text in (
          (IMPACT, "error_u", "displacement, impact"), (BOUNCES, "error_u", "displacement, bounces"),
          (IMPACT, "force_oscillation", "pressure, impact"))),
    *(row(f"5.3-limit-{eps:g}", "Sect. 5.2",
          f"The penalty stiffens the equations, which limits the stable step (eps = {eps:g} m/N).",
          _resting, equal(tolerance=WIDTH), "largest Courant number at rest; a lattice on a spring", eps=eps)
      for eps in (1e-2, 1e-3, 1e-4)),
    row("5.3-tightens", "Sects. 1, 5.2", "A penalty tightens the stability condition of explicit schemes.",
        _tightens, above(WIDTH), "reduction of the largest Courant number, from 4.7 to eps = 1e-4 and 1e-5"),
    row("5.3-vanishes", "Sect. 5.2", "An explicit exact enforcement is not possible.",
        _vanishes, above(0.25), "order in eps of the largest Courant number; theory: 1/2, limit: half of it"),
    row("6-penetrates", "Sect. 6", "Contact in velocity allows interpenetration.",
        _depths, above(1e-9), "largest penetration over v0 dt, 6.1 and 6.2; limit: rounding"),
    row("6-slightly", "Sect. 6", "The interpenetration is slight.",
        _depths, below(1 + 1e-9), "largest penetration over v0 dt, 6.1 and 6.2; limit: a free node's step"),
    row("6.1-conserves", "(93)", "The midpoint scheme with contact in velocity conserves the energy.",
        lambda runs: [np.abs(m.kept(run)).max() for found in (m.phases, m.periodic_bounces)
                      for run in found(runs, "dep-6.1")],
        below(ROUNDING), "relative change of E - F.u at any step; rounding", case=BOUNCES),
    row("6.1-oscillates", "Sect. 6.1, Fig. 20", "The contact pressure oscillates.",
        m.oscillation, above(0.01), "RMS deviation from the exact pressure; line width", scheme="dep-6.1"),
    row("6.1-unperturbed", "Sect. 6.1, Fig. 20", "The oscillating pressure does not perturb the structure.",
        _unperturbed, below(0.1), "RMS deviation of (Ku)_0 over that of the pressure; a tenth"),
    row("6.1-long-time", "Sect. 6.1, Fig. 21", "The long-time behaviour is quite satisfactory.",
        _compared, below(1.0), "mean error over four periods over that of 4.7; contacts come early",
        case=BOUNCES, scheme="dep-6.1", others=("dep-4.7",), name="error_u"),
    *(row(f"{number}-limit", f"Sect. {number}", words,
          lambda runs, scheme: m.largest_courant(m.chosen(runs, scheme)), equal(1.0, WIDTH),
          "largest Courant number of an impact against that of central differences without contact",
          scheme=f"dep-{number}")
      for number, words in (
          ("6.2", "Contact does not tighten the stability condition of central differences."),
          ("7.2", "The stability condition is the same as in the linear case."))),
    row("6.2-similar-displacement", "Sect. 6.2, Fig. 22", "In an impact the displacement is close to 4.7's.",
        _nearness, below(1 + 1e-9), "largest difference of position in contact over v0 dt; one step's way"),
    row("6.2-similar-pressure", "Sect. 6.2, Fig. 22", "In an impact the pressure is similar to that of 4.7.",
        lambda runs: {s: m.oscillation(runs, s).max() for s in ("dep-6.2", "dep-4.7")},
        below(0.01), "largest RMS deviation from the exact pressure over it; a line's width in the figure"),
    row("6.2-similar-bounces", "Sect. 6.2, Fig. 23", "The displacement in bounces is similar to that of 4.7.",
        lambda runs: [norm35(a["u"], b["u"]) / b.results["error_u"] for a, b in
                      zip(m.periodic_bounces(runs, "dep-6.2"), m.periodic_bounces(runs, "dep-4.7"))],
        below(0.5), "difference over the error of 4.7; half, both err alike", case=BOUNCES),
    row("6.2-similar-energy", "Sect. 6.2, Fig. 23", "The energy in bounces is similar to that of 4.7.",
        lambda runs: m.after_periods(runs, "dep-6.2").mean() / m.after_periods(runs, "dep-4.7").mean(),
        equal(1.0, 0.5), "mean change of the energy over four periods over that of 4.7", case=BOUNCES),
    *(row(f"{number}-calm", f"Sect. {number}, Fig. {figure}",
          f"The large oscillations have disappeared during the contact ({number}).", m.oscillation,
          below(0.01), "RMS deviation from the exact pressure over it", scheme=f"dep-{number}")
      for number, figure in (("7.1", 24), ("7.2", 26))),
    *(row(f"{number}-balance", where,
          f"The energy changes by the work of the mean contact force over a step and of the load ({number}).",
          lambda runs, scheme: [np.abs(np.diff(m.kept(run)) - m.force_work(run, True) / ENERGY)[1:].max()
                                for run in (runs(IMPACT, scheme), runs(BOUNCES, scheme))],
          below(ROUNDING), "largest E'* - E* - (r' + r)/2 . (g' - g) over the energy; rounding",
          case=BOUNCES, scheme=f"dep-{number}")
      for number, where in (("7.1", "(112)"), ("7.2", "(118)"))),
    row("7-semidiscrete", "Remark 7.1", "The semi-discrete problem with modified mass conserves the energy.",
        _semidiscrete, above(1.0), "order in dt of the RMS work of contact; theory: 2, limit: half of it"),
    *(row(id, where, f"Energy conservation is very satisfactory (taken as: better than {what}).",
          _compared, _BELOW_ONE, "mean change of the energy over four periods over that of the other",
          case=BOUNCES, scheme="dep-7.1", others=(other,))
      for id, where, what, other in (
          ("7.1-energy", "Sect. 7.1, Fig. 25", "4.7, whose losses are called important", "dep-4.7"),
          ("7.1-energy-penalty", "Sects. 5.1, 7.1, Figs. 19, 25", "5.1, said not to conserve", "dep-5.1"))),
    *(row(f"7.2-better-{id}", "Sect. 7.2, Fig. 27", f"Better than 4.7 and 6.2: {what}.",
          _compared, _BELOW_ONE, "mean over four periods over that of the better of 4.7 and 6.2",
          case=BOUNCES, scheme="dep-7.2", others=("dep-4.7", "dep-6.2"), name=name)
      for id, what, name in (("energy", "energy conservation", "energy_change_4"),
                             ("long-time", "long-time behaviour", "error_u"))),
    row("7.2-attractive", "Sects. 1, 7.2",
        "The semi-explicit modified mass is reliable: it neither oscillates nor loses energy, unlike others.",
        _attractive, equal(1, 0), "schemes that oscillate < 1 % and lose < 1/(2N): 7.2 alone", case=BOUNCES),
    row("appendix-behind", "Appendix, Fig. 28", "The stress oscillates behind the shock, dt = 0.005.", _side,
        above(1.0), "overshoot there over that before it: short waves run fast", h=_COARSE, front=False),
    row("appendix-front", "Appendix, Fig. 28", "With small steps it oscillates before the shock.", _side,
        above(1.0), "overshoot there over that behind it: fast waves, little slowed", h=_FINE, front=True),
    row("appendix-magnitude", "Appendix", "The oscillations do not decrease with the time step.",
        _magnitude, below(0.25), "order in dt of the larger overshoot, dt = 0.005 to 0.000625; a quarter"),
    row("appendix-jump", "Appendix", "The Gibbs oscillations are proportional to the jump.",
        _proportional, equal(1.0, 1e-6), "order in v0 of the overshoot, 5 to 20 m/s; tolerance: rounding"),
    *(row(f"appendix-damped-{h:g}", f"Appendix, Fig. 29 ({side})",
          f"The HHT scheme with alpha = -0.06 damps the oscillations (dt = {h:g}).",
          _left_of_gibbs, below(0.9), "ripples of the stress over those with alpha = 0; a tenth less", h=h)
      for h, side in ((_COARSE, "left"), (_FINE, "right"))),
    row("appendix-eliminated", "Appendix, Fig. 29",
        "Dissipative schemes eliminate the oscillations (taken as: HHT with alpha = -0.06).",
        _eliminated, below(0.1), "variation of the stress beyond a monotone front over the jump; a tenth"),
    row("appendix-smaller", "Appendix, Figs. 6, 28",
        "The oscillations of the stress by the Gibbs phenomenon are far smaller than those by contact.",
        _smaller, below(0.5), "overshoot with 7.1 over the largest deviation of the pressure with 4.1; half"),
    row("appendix-inverse-step", "Appendix", "Oscillations by contact go with m_i v_i / dt (the step).",
        _inverse_step, equal(-1.0, 0.5), "order in dt of the largest deviation of the pressure of 4.1"),
    row("appendix-node-mass", "Appendix", "Oscillations by contact go with m_i v_i / dt (mass).",
        _node_mass, equal(0.0, 0.25), "order in dt, one Courant number, of the deviation"),
    row("appendix-dissipation", "Appendix", "The Gibbs oscillations need much less dissipation.",
        _dissipation, below(1 - 1e-9), "part that alpha = -0.06 leaves, stress over pressure of 4.1"),
], prefix="doyen-")  # fmt: skip
EXACT = claims_newmark.CLAIMS + claims_exact.CLAIMS
CLAIMS = EXACT + OTHERS
