"""The two bars of Fekak et al. (2017), Sect. 3.1: motion and forces, orders, and what a step takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators import find_scheme
from ...claim import FEKAK, Measured, Run, Runs, above, below, equal, listing, row, table
from ...convergence import Effort, effort, norm35
from ..impacting_bar.measures import rate
from . import case
from . import measures as m
from .figures import FIGURES as FIGURES
from .measures import BAR, BOTH, CASE, CD, ENERGY, LINE, MASS, MJ, STEPS, TRANSIT, WINDOW

_TEXT, _FIG4, _FIG5, _FIG6, _FIG8 = "Sect. 3.1", *(f"Sect. 3.1, Fig. {n}" for n in (4, 5, 6, 8))
_FIG7A, _FIG7B, _ADVANTAGES = "Sect. 3.1, Fig. 7a", "Sect. 3.1, Fig. 7b", "Sect. 4; Algorithm 2"
_TOLERANCE, _ORDERS = 0.15, {CD: 1.0, MJ: 0.5}  #: How far a fitted order may be from the paper's.
_NAMES = {"u": "displacement", "v_t": "velocity"}
_STUDIES = (
    ("fig09", "9", False, "time (tip of the bar)"),
    ("fig10", "10", True, "space (all nodes of the bar)"),
)
_COURANTS = (("", "h = c dt", 1.0), ("-courant-0.8", "at 0.8 of the critical step", 0.8))


def _of(scheme: str, measure: Callable[[Run], Any]) -> Callable[[Runs], Any]:
    """A measure of the run with the defaults."""
    return lambda runs: measure(runs(CASE, scheme))


def _result(name: str) -> Callable[[Runs], Any]:
    return _of(CD, lambda run: run.results[name])


def _stable(runs: Runs, result: str, courant: float) -> Measured:
    run = runs(CASE, CD, courant=courant)
    return Measured(run.results[result], holds=m.stored(run).max() - 1 < 1e-9)


def _accurate(runs: Runs, name: str) -> Measured:
    run, other = runs(CASE, CD), m.errors(runs(CASE, MJ))[name]
    found, true = m.histories(run)[name]
    late = norm35(found[m.released(run)], true[m.released(run)]) if name == "velocity" else 0.0
    note = f"With moreau-jean {other:.2g}" + (f"; after the release alone {late:.2g}" if late else "")
    return Measured(m.errors(run)[name], norm35(m.one_step_off(run, name, true), true), note=note)


def _penetration(runs: Runs, scheme: str) -> Measured:
    made = m.meetings(runs, scheme, STEPS[0], t_end=4e-5)
    depths = np.array([run.results["penetration_max"] for run in made])
    limit = made[0].results["h"] / TRANSIT
    return Measured(depths / (2 * BAR.v0 * TRANSIT), limit, holds=depths.min() > 1e-12)


def _penetration_order(runs: Runs, scheme: str) -> Measured:
    groups = [m.meetings(runs, scheme, courant, t_end=4e-5) for courant in STEPS]
    depths = [np.mean([run.results["penetration_max"] for run in group]) for group in groups]
    return Measured(rate([group[0] for group in groups], depths), holds=bool(np.all(np.diff(depths) < 0)))


def _moved_in_contact(run: Run) -> float:
    now = m.in_contact(run)
    return float(max(np.ptp(run["u"][now, 0]) / run.results["h"], np.ptp(run["v_t"][now, 0]))) / BAR.v0


def _quiet_force(runs: Runs) -> Measured:
    made = [runs(CASE, CD), runs(CASE, CD, courant=1.0)]
    swing, still = (float(np.ptp(m.force(run)[m.in_contact(run)])) / BAR.force for run in made)
    return Measured(swing, note=f"The force rings down behind the front; at courant 1 {still:.1g}")


def _cause(runs: Runs) -> Measured:
    """RMS of the tip's velocity over v0, from a fifth of L/c after the exact release on."""
    made = [runs(CASE, CD, courant=courant) for courant in (STEPS[0], STEPS[-1], 1.0)]
    late = [run["t"] > m.exact_of(run).contact_end + 0.2 * TRANSIT for run in made]
    coarse, fine, still = (float(np.std(run["v_t"][k, 0])) / BAR.v0 for k, run in zip(late, made))
    note = f"{coarse:.3f} to {fine:.3f} v0, {still:.1g} at courant 1: the step undoes the dispersion"
    return Measured(max(fine, 1e-12) / max(coarse, 1e-12), note=note)


def _order(found: list[Run], value: Callable[[Run], float], falls: bool = False) -> Measured:
    """Order in the step of a value of runs, which may have to fall with every step."""
    sizes = [max(float(value(run)), 1e-15) for run in found]
    holds = not falls or bool(np.all(np.diff(sizes) < 0))
    return Measured(rate(found, sizes), holds=holds, note=listing(sizes))


def _order_in_element(runs: Runs, result: str) -> Measured:
    return _order(m.meshes(runs, CD), lambda run: run.results[result])


def _jumps_in_contact(run: Run) -> NDArray:
    return m.jumps(run)[m.meeting(run) + 1 : np.flatnonzero(run["r"][:, 0])[-1] + 1]


def _loss_moreau(runs: Runs) -> Measured:
    lost, fine = (runs(CASE, MJ, courant=c).results["energy_lost"] for c in (0.8, 0.1))
    return Measured(lost, note=f"theta = 1 damps while the front runs, less at courant 0.1: {fine:.1%}")


def _loss_at_jump(run: Run) -> Measured:
    first, last = float(m.taken(run)[0]), m.taken(run)[-1]
    note = f"{first:.2%} of the energy of {last:.2%}"
    return Measured(first / last if abs(last) > 1e-9 else 0.0, note=note)


def _no_work(run: Run) -> Measured:
    change = np.abs(m.taken(run)[1:] - m.taken(run)[0])
    return Measured(change, holds=np.count_nonzero(run["r"][:, 0]) > 1)


def _momentum(runs: Runs) -> float:
    results = runs(CASE, CD).results
    return (results["rebound_velocity"] + BAR.v0 - results["impulse_sum"] / MASS) / BAR.v0


def _at_coarsest(found: list[Run], quantity: Callable[[Run], NDArray]) -> list[NDArray]:
    """A quantity of runs with halved steps at the times of the coarsest, from a step after the impact on."""
    every = [quantity(run)[:: round(found[0].results["h"] / run.results["h"])] for run in found]
    return [v[m.meeting(found[0]) + 1 : min(map(len, every))] for v in every]


def _force_after(runs: Runs) -> list[float]:
    *coarse, finest = _at_coarsest(m.finer_steps(runs, CD), m.force)
    return [norm35(force, finest) for force in coarse]


def _acceleration(runs: Runs) -> Measured:
    made = m.finer_steps(runs, CD)
    *coarse, finest = _at_coarsest(made, m.acceleration)
    sizes = [max(float(np.abs(a - finest).max()), 1e-6) for a in coarse]
    return Measured(rate(made[:-1], sizes), note=f"Differences {listing(sizes)} m/s2")


def _impulse_mass(runs: Runs) -> list[float]:
    changes: list[dict[str, float]] = [{}, {"E": 5e10}, {"rho": 2000.0}, {"area": 1e-3}, {"length": 0.5}]
    off = []
    for change in changes:
        run = runs(CASE, CD, h=2e-7, t_end=4e-5, **change)
        p = run.summary["parameters"]
        node = p["rho"] * p["area"] * p["length"] / p["elements"] / 2
        off.append(run.results["first_impulse"] / (node * p["v0"]) - 1)
    return off


def _fitted(runs: Runs, nodes: bool, scheme: str, name: str) -> Measured:
    study = m.convergence(runs, scheme, name, nodes=nodes)
    note = f"over all times the order is {rate(study.made, study.whole):.2f}"
    return Measured(study.order, note=f"{study.after[0]:.2g} to {study.after[-1]:.2g}; {note}")


def _advantage(runs: Runs, name: str, courant: float) -> Measured:
    ours, theirs = (m.convergence(runs, scheme, name, courant) for scheme in (CD, MJ))
    note = f"Errors on the finest mesh: {ours.after[-1]:.2g} and {theirs.after[-1]:.2g}"
    return Measured(ours.order - theirs.order, note=note)


def _graph_order(runs: Runs, courant: float) -> Measured:
    made, start, end = m.meshes(runs, CD, courant=courant, t_end=WINDOW), BAR.contact_start, BAR.contact_end
    # The exact tip, with both values at its jumps.
    true = np.array([0, start, start, end, end, WINDOW]), BAR.v0 * np.array([1.0, 1, 0, 0, -1, -1])
    far = [m.hausdorff((run["t"], run["v_t"][:, 0]), true) for run in made]
    summed = rate(made, m.convergence(runs, CD, "v_t", courant).whole)
    return Measured(rate(made, far), summed, note=f"Distances {far[0]:.2g} to {far[-1]:.2g}")


def _effort(runs: Runs) -> Effort:
    """Of every step of the run: flight, impact, contact, release."""
    run = runs(CASE, CD)
    problem = case.TwoBars().make(runs.scheme(CD), run.summary["parameters"])
    return effort(problem.integrator, run.summary["steps"])


def _detections(runs: Runs) -> Measured:
    run, contacts = runs(CASE, CD), _effort(runs).contacts
    late = (run.results["contact_start"] - BAR.contact_start) / run.results["h"]
    note = f"Contact begins {late:.2f} steps after the exact impact"
    return Measured(int(contacts.max()), holds=int(contacts.min()) == 1, note=note)


def _iterations(runs: Runs) -> Measured:
    made = _effort(runs)
    solved, pushed = int(made.systems.sum()), int(made.pressed.sum())
    note = f"{solved} linear systems in {len(made.forces)} steps, {pushed} with an impulse"
    return Measured(int(made.forces.max()), holds=solved == 0 and pushed > 0, note=note)


def _numbers(runs: Runs) -> int:
    """The numerical parameters of the scheme; choices in words are none."""
    runs(CASE, CD)
    return sum(isinstance(o.default, float) for o in find_scheme(runs.scheme(CD)).options.values())


def _others_change(runs: Runs, scheme: str) -> float:
    moved, k = m.motion(runs, scheme), m.meeting(runs(CASE, scheme))
    change, tip = np.abs(moved.v[k] - moved.v[k - 1]), moved.x <= 1e-9
    return float(change[~tip].max() / change[tip].max())


def _constraints(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    opening, impulse = -run["v"].sum(axis=1) / (2 * BAR.v0), run["r"][:, 0]
    closed = run["gap"][:, 0] <= run.summary["parameters"]["gap_tolerance"]
    off = {
        "closing velocities": np.max(-opening[closed], initial=0.0),
        "negative impulses": np.max(-impulse) / (np.ptp(impulse) or 1.0),
        "opening under impulses": np.max(np.abs(opening) * (impulse > 0)),
        "impulses at open gaps": float(np.any(impulse[~closed] != 0)),
    }
    return Measured(max(off.values()), holds=np.count_nonzero(impulse) > 1)


CLAIMS = table(CASE, FEKAK, [
    row("critical-step", _TEXT, "The critical step of central differences is about 1.22e-6 s.", _stable,
        equal(1.22e-6, 1e-8), "(L/N)/c; tolerance: its last digit", result="critical_time_step", courant=1.0),
    row("step", _TEXT, "The step of 0.8 times the critical one is about 9.8e-7 s, and stable.",
        _stable, equal(9.8e-7, 5e-9), "step, to the printed digits", result="h", courant=STEPS[0]),
    *(row(f"accurate-{name}", _FIG4, f"CD-Lagrange is very close to the exact solution ({name}).", _accurate,
          below(), "error in norm (94); limit: an exact contact a step late and a step short", name=name)
      for name in ("displacement", "velocity", "force")),
    row("accurate-compared", "Abstract; Sect. 4", "Beside Moreau-Jean, theta = 1, CD-Lagrange is accurate.",
        lambda runs: {n: e / m.errors(runs(CASE, MJ))[n] for n, e in m.errors(runs(CASE, CD)).items()},
        below(1.0), "error of cd-lagrange over that of moreau-jean, norm (94)"),
    row("penetration", _FIG4, "In contact the bars penetrate by very little.", _penetration, below(),
        "over 2 v0 L/c, bars meeting anywhere in a step; limit: the way of both in one step", per=BOTH),
    row("penetration-order", _FIG4, "Smaller steps make the penetration smaller.", _penetration_order,
        above(0.5), "order in the step, mean of several places; theory for CD: 1", per=BOTH),
    row("quiet-motion", _FIG4, "While the bars touch nothing oscillates (motion, both schemes).",
        lambda runs: {scheme: _moved_in_contact(runs(CASE, scheme)) for scheme in BOTH}, below(1e-12),
        "peak to peak of v_t over v0 and of u over h v0 in contact; limit: rounding"),
    row("quiet-force", _FIG4, "While the bars touch nothing oscillates (contact force of CD-Lagrange).",
        _quiet_force, below(LINE), "peak to peak over the exact force; limit: a line's width"),
    row("ringing", _FIG4, "After the release the velocity of CD-Lagrange oscillates locally.",
        _of(CD, m.swing), above(LINE), "ups and downs of the velocity over 2 v0; limit: a line's width"),
    row("ringing-moreau", _FIG4, "The oscillations after the release are CD-Lagrange's alone.",
        _of(MJ, m.swing), below(LINE), "ups and downs of the velocity over 2 v0; theta = 1 smears the front"),
    row("ringing-cause", _FIG4,
        "The ringing comes mainly from central differences (taken as: 1/8 of the step leaves at most half).",
        _cause, below(0.5), "RMS of the velocity after the release at courant 0.1 over that at 0.8"),
    row("refined", _FIG5, "Refined at 0.8 of the critical step the velocity converges to the exact one.",
        lambda runs: _order(m.meshes(runs, CD, t_end=WINDOW), lambda run: m.errors(run)["velocity"], True),
        above(0.25), "order in norm (94); limit: half of that left by the oscillations behind a jump"),
    row("uniform-norm", "Appendix 3", "Because of its jumps the velocity does not converge uniformly.",
        lambda runs: _order(m.meshes(runs, CD, t_end=WINDOW),
                            lambda run: np.abs(np.subtract(*m.histories(run)["velocity"])).max() / BAR.v0),
        below(0.25), "order of the largest error of the tip's velocity"),
    row("impact-jump", _TEXT, "The impact is instantaneous: a jump of the velocity.",
        lambda runs: [float(m.jumps(run)[m.meeting(run)]) for run in m.finer_steps(runs, CD)],
        equal(1.0, 1e-11), "change of the tip's velocity at the impact over v0, by the step"),
    row("contact-smooth", _TEXT, "The contact that follows is smooth: the velocity does not jump.",
        lambda runs: [_jumps_in_contact(run).max(initial=0.0) for run in m.finer_steps(runs, CD)],
        below(1e-12), "largest change over v0 between impact and last impulse; no jump at the release"),
    row("balance", "Appendix 2.1, (84)", "The discrete energy balance is closed in every step.",
        _result("balance_residual"), below(1e-12), "largest residual over the largest energy; rounding"),
    row("converted", _FIG6, "The impact turns part of the kinetic energy into internal energy.",
        _of(CD, lambda run: run["internal"].max() / (2 * ENERGY)), above(0.5),
        "largest internal energy over the initial one; all of the exact bar's becomes internal"),
    row("loss", _FIG6, "The bar loses 1.25 % of the kinetic energy.",
        _result("energy_lost"), equal(0.0125, 5e-5), "part of the energy, 1/(2 N); to the printed digits"),
    row("loss-moreau", _FIG6, "With Moreau-Jean the same is seen (taken as: theta = 1 loses 1.25 % too).",
        _loss_moreau, equal(0.0125, 5e-5), "part of the energy lost; tolerance: the printed digits"),
    row("loss-at-jump", _FIG6, "The loss is due to the jump of the velocity.",
        _of(CD, _loss_at_jump), equal(1.0, 1e-9), "part of the loss in the step of the impact"),
    row("loss-at-jump-moreau", _FIG6, "With Moreau-Jean the same is seen (taken as: it loses by it too).",
        _of(MJ, _loss_at_jump), equal(1.0, 1e-9), "part of the loss in the step of the impact"),
    row("no-work", _FIG6, "After the impact nothing more is dissipated: contact forces do no work.",
        _of(CD, _no_work), below(1e-12), "largest change of the loss after the impact; limit: rounding"),
    row("preserves-energy", "Sect. 2.3.2", "Central differences preserve the energy (away from the impact).",
        _of(CD, lambda run: [np.ptp(e) for e in np.split(m.stored(run), [m.meeting(run)])]),
        below(1e-12), "range of the stored energy before and after the impact; limit: rounding"),
    row("preserves-momentum", "Sect. 2.3.2", "Central differences preserve the momentum (but for impulses).",
        _momentum, below(1e-11), "mean velocity less v0 and impulses, over v0; limit: rounding"),
    row("loss-refined", f"{_FIG6}; Fig. 8", "A finer mesh makes the loss vanish.", _order_in_element,
        equal(1.0, 0.05), "order in the element; theory: 1, the tip's node", result="energy_lost"),
    row("peak-force", _FIG7A, "The peak of the force at the first contact grows as the step falls.",
        lambda runs: _order(m.finer_steps(runs, CD), lambda run: m.force(run)[m.meeting(run)]),
        equal(-1.0, 0.05), "order in the step; the impulse does not depend on the step"),
    row("force-after", _FIG7A, "After the step of the impact the force does not depend on the step.",
        _force_after, below(LINE), "norm (94) against the finest step; limit: a line's width"),
    row("acceleration-first", _FIG7B, "The acceleration at the first contact does not converge.",
        lambda runs: _order(m.finer_steps(runs, CD), lambda run: abs(m.acceleration(run)[m.meeting(run)])),
        equal(-1.0, 0.05), "order in the step of (46) at the impact, v0/dt"),
    row("acceleration", _FIG7B, "Elsewhere the acceleration converges as the step falls.",
        _acceleration, above(0.5), "order of the largest difference from the finest step, after the impact"),
    row("impulse-step", _FIG8, "The impulse of the impact does not depend on the step.",
        lambda runs: np.ptp(found := [run.results["first_impulse"] for run in m.finer_steps(runs, CD)])
        / max(np.mean(found), 1e-12),
        below(1e-9), "range of the first impulse over its mean; limit: rounding"),
    row("impulse-mass", _FIG8, "It depends on nothing but the mass of the dofs that touch.", _impulse_mass,
        below(1e-9), "first impulse over m v0 of the tip's node, less 1; E, rho, section, length changed"),
    row("impulse-mesh", _FIG8, "Refining the mesh makes this impulse smaller.", _order_in_element,
        equal(1.0, 0.05), "order in the element; theory: 1, the tip's node", result="first_impulse"),
    row("force-level", _FIG4, "The contact force is that of the exact bar while contact lasts.",
        _of(CD, lambda run: m.force(run)[m.in_contact(run)].mean() / m.exact_of(run).force),
        equal(1.0, LINE), "mean force over rho c v0 A; tolerance: a line's width"),
    *(row(f"{id}-{quantity}-{scheme}", f"Sect. 3.1, Fig. {figure}{part}",
          f"After the release the order in {what} is {expected:g} for the {quantity} ({scheme}).", _fitted,
          equal(expected, _TOLERANCE), "in norm (94), h = c dt", nodes=nodes, scheme=scheme, name=name)
      for id, figure, nodes, what in _STUDIES
      for part, (name, quantity) in zip("ab", _NAMES.items()) for scheme, expected in _ORDERS.items()),
    *(row(f"higher-order-{quantity}{id}", "Abstract; Sects. 3.1, 4",
          f"CD-Lagrange has a higher order than Moreau-Jean ({words}, {quantity}).", _advantage, above(0.25),
          "order of cd-lagrange less that of moreau-jean, tip after the release", name=name, courant=courant)
      for name, quantity in _NAMES.items() for id, words, courant in _COURANTS),
    row("moreau-order-one", "Sect. 1", "Moreau-Jean is of order one, also with impacts (both refined).",
        lambda runs: min(m.convergence(runs, MJ, name).order for name in _NAMES),
        equal(1.0, _TOLERANCE), "order of displacement and velocity of the tip; theta = 1 diffuses"),
    *(row(f"hausdorff{id}", "Appendix 3",
          f"The summed norm (94) shows the order of the Hausdorff distance of the filled graphs ({words}).",
          _graph_order, equal(tolerance=_TOLERANCE), "its order against that in (94)", courant=courant)
      for id, words, courant in _COURANTS),
    row("no-detection", _ADVANTAGES, "Events are not detected.", _detections,
        equal(1, 0), "evaluations of the gap in a step, with impact and release"),
    row("no-iteration", _ADVANTAGES, "Equilibrium and contact take no iteration.", _iterations,
        equal(1, 0), "largest number of evaluations of the forces in a step"),
    row("no-parameters", _ADVANTAGES, "The scheme has no numerical parameters of its own.", _numbers,
        equal(0, 0), "number of numerical parameters besides those of the case"),
    row("diagonal", "Sect. 2.3.2, (49)", "H is diagonal for lumped mass: no system is solved for impulses.",
        lambda runs: Measured(_others_change(runs, CD), note=f"{MJ}: {_others_change(runs, MJ):.2f}"),
        below(1e-12), "largest change of velocity of other nodes over the tip's at the impact"),
    row("constraints", "Sect. 2.3.2, (47)", "Closed gaps have v >= 0, lambda >= 0, v lambda = 0, exactly.",
        _constraints, below(1e-12), "largest violation, velocities over 2 v0; limit: rounding"),
], prefix="fekak-bars-")  # fmt: skip
