"""The two bars: motion, energy, contact force and impulse, Fekak et al. (2017), Figs. 4 to 8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import FEKAK, Measured, above, below, equal, row, table
from ...convergence import norm35, order
from ...runs import Run, Runs
from ...verdict import listing
from . import measures as m
from .measures import BAR, BOTH, CASE, CD, ENERGY, LINE, MASS, MJ, STEPS, TRANSIT, WINDOW

_TEXT, _FIG4, _FIG5, _FIG6, _FIG8 = "Sect. 3.1", *(f"Sect. 3.1, Fig. {n}" for n in (4, 5, 6, 8))
_FIG7A, _FIG7B = "Sect. 3.1, Fig. 7a", "Sect. 3.1, Fig. 7b"


def _stored(run: Run) -> NDArray:
    """Energy of both bars over the initial one, shape (n,)."""
    return (run["kinetic"] + run["complementary"] + run["internal"]) / (2 * ENERGY)


def _of(scheme: str, measure: Callable[[Run], Any]) -> Callable[[Runs], Any]:
    """A measure of the run with the defaults."""
    return lambda runs: measure(runs(CASE, scheme))


def _stable(run: Run, name: str) -> Measured:
    return Measured(run.results[name], holds=_stored(run).max() - 1 < 1e-9)


def _accurate(runs: Runs, name: str) -> Measured:
    run, other = runs(CASE, CD), m.errors(runs(CASE, MJ))[name]
    found, true = m.histories(run)[name]
    late = norm35(found[m.released(run)], true[m.released(run)]) if name == "velocity" else 0.0
    note = f"With moreau-jean {other:.2g}" + (f"; after the release alone {late:.2g}" if late else "")
    return Measured(m.errors(run)[name], _one_step_off(run, name), note=note)


def _one_step_off(run: Run, name: str) -> float:
    """Norm (94) of the exact bar when contact begins a step late and ends a step early.

    It then stops h v0 further on, and two steps of the contact force are missing in its rebound.
    """
    bar, t, h = m.exact_of(run), run["t"], run.results["h"]
    late, early, true = bar.contact_start + h, bar.contact_end - h, m.histories(run)[name][1]
    off = (t >= bar.contact_start) + 2 * np.maximum(t - bar.contact_end, 0.0) / TRANSIT
    found = {
        "displacement": true + h * bar.v0 * off,
        "velocity": bar.v0 * ((t < late).astype(float) - (t >= early)),
        "force": np.where((t >= late) & (t < early), bar.force, 0.0),
    }
    return norm35(found[name], true)


def _depths(runs: Runs, scheme: str, courant: float) -> tuple[float, NDArray]:
    """Step [s] and deepest penetrations [m] of bars that meet anywhere within a step."""
    found = m.meetings(runs, scheme, courant)
    return found[0].results["h"], np.array([run.results["penetration_max"] for run in found])


def _penetration(runs: Runs, scheme: str) -> Measured:
    h, depths = _depths(runs, scheme, STEPS[0])
    return Measured(depths / (2 * BAR.v0 * TRANSIT), h / TRANSIT, holds=depths.min() > 1e-12)


def _penetration_order(runs: Runs, scheme: str) -> Measured:
    steps, depths = zip(*((h, d.mean()) for h, d in (_depths(runs, scheme, c) for c in STEPS)))
    return Measured(order(steps, depths), holds=bool(np.all(np.diff(depths) < 0)))


def _moved_in_contact(run: Run) -> float:
    now = m.in_contact(run)
    return float(max(np.ptp(run["u"][now, 0]) / run.results["h"], np.ptp(run["v_t"][now, 0]))) / BAR.v0


def _quiet_force(runs: Runs) -> Measured:
    found = [runs(CASE, CD), runs(CASE, CD, courant=1.0)]
    swing, still = (float(np.ptp(m.force(run)[m.in_contact(run)])) / BAR.force for run in found)
    return Measured(swing, note=f"The force rings down behind the front; at courant 1 {still:.1g}")


def _cause(runs: Runs) -> Measured:
    coarse, fine, still = (m.ringing(runs(CASE, CD, courant=c)) for c in (STEPS[0], STEPS[-1], 1.0))
    note = f"{coarse:.3f} to {fine:.3f} v0, {still:.1g} at courant 1: the step undoes the dispersion"
    return Measured(max(fine, 1e-12) / max(coarse, 1e-12), note=note)


def _order(found: list[Run], value: Callable[[Run], float], falls: bool = False) -> Measured:
    """Order in the step of a value of runs, which may have to fall with every step."""
    sizes = [max(float(value(run)), 1e-15) for run in found]
    holds = not falls or bool(np.all(np.diff(sizes) < 0))
    return Measured(order(m.steps_of(found), sizes), holds=holds, note=listing(sizes))


def _jumps(run: Run) -> NDArray:
    """Changes of the left tip's velocity from step to step over v0, shape (n,)."""
    return np.abs(np.diff(run["v"][:, 0], prepend=run["v"][0, 0])) / BAR.v0


def _taken(run: Run) -> NDArray:
    """The energy taken by contact and scheme over the initial one, shape (n,)."""
    return (run["dissipated"] - run["contact"]) / (2 * ENERGY)


def _loss_moreau(runs: Runs) -> Measured:
    lost, fine = (runs(CASE, MJ, courant=c).results["energy_lost"] for c in (0.8, 0.1))
    return Measured(lost, note=f"theta = 1 damps while the front runs, less at courant 0.1: {fine:.1%}")


def _loss_at_jump(run: Run) -> Measured:
    taken = _taken(run)
    first, last = float(taken[m.meeting(run)]), taken[-1]
    note = f"{first:.2%} of the energy of {last:.2%}"
    return Measured(first / last if abs(last) > 1e-9 else 0.0, note=note)


def _no_work(run: Run) -> Measured:
    taken, k = _taken(run), m.meeting(run)
    return Measured(np.abs(taken[k + 1 :] - taken[k]), holds=np.count_nonzero(run["r"][:, 0]) > 1)


def _momentum(run: Run) -> float:
    """Change of a bar's mean velocity less that by the impulses, over v0."""
    return (run.results["rebound_velocity"] + BAR.v0 - run.results["impulse_sum"] / MASS) / BAR.v0


def _at_coarsest(found: list[Run], quantity: Callable[[Run], NDArray]) -> list[NDArray]:
    """A quantity of runs with halved steps at the times of the coarsest, from a step after the impact on."""
    every = [quantity(run)[:: round(found[0].results["h"] / run.results["h"])] for run in found]
    return [v[m.meeting(found[0]) + 1 : min(map(len, every))] for v in every]


def _force_after(runs: Runs) -> list[float]:
    *coarse, finest = _at_coarsest(m.finer_steps(runs, CD), m.force)
    return [norm35(force, finest) for force in coarse]


def _acceleration(runs: Runs) -> Measured:
    found = m.finer_steps(runs, CD)
    *coarse, finest = _at_coarsest(found, m.acceleration)
    sizes = [max(float(np.abs(a - finest).max()), 1e-6) for a in coarse]
    return Measured(order(m.steps_of(found[:-1]), sizes), note=f"Differences {listing(sizes)} m/s2")


def _impulse_mass(runs: Runs) -> list[float]:
    changes: list[dict[str, float]] = [{}, {"E": 5e10}, {"rho": 2000.0}, {"area": 1e-3}, {"length": 0.5}]
    off = []
    for change in changes:
        run = runs(CASE, CD, h=2e-7, t_end=4e-5, **change)
        p = run.summary["parameters"]
        node = p["rho"] * p["area"] * p["length"] / p["elements"] / 2
        off.append(run.results["first_impulse"] / (node * p["v0"]) - 1)
    return off


CLAIMS = table(CASE, FEKAK, [
    row("critical-step", _TEXT, "The critical step of central differences is about 1.22e-6 s.",
        lambda runs: _stable(runs(CASE, CD, courant=1.0), "critical_time_step"), equal(1.22e-6, 1e-8),
        "(L/N)/c; tolerance: one in the last printed digit, which was cut off and not rounded"),
    row("step", _TEXT, "The step of 0.8 times the critical one is about 9.8e-7 s, and stable.",
        _of(CD, lambda run: _stable(run, "h")), equal(9.8e-7, 5e-9), "step, to the printed digits"),
    *(row(f"accurate-{name}", _FIG4, f"CD-Lagrange is very close to the exact solution ({name}).",
          _accurate, below(), "error in norm (94); limit: an exact contact a step late and a step short",
          name=name)
      for name in ("displacement", "velocity", "force")),
    row("accurate-compared", "Abstract; Sect. 4",
        "Beside Moreau-Jean with theta = 1 CD-Lagrange is the accurate scheme.",
        lambda runs: {
            name: e / m.errors(runs(CASE, MJ))[name] for name, e in m.errors(runs(CASE, CD)).items()},
        below(1.0), "error of cd-lagrange over that of moreau-jean, norm (94)"),
    row("penetration", _FIG4, "In contact the bars penetrate by very little.", _penetration, below(),
        "over 2 v0 L/c, bars meeting anywhere in a step; limit: the way of both in one step", per=BOTH),
    row("penetration-order", _FIG4, "Smaller steps make the penetration smaller.",
        _penetration_order, above(0.5), "order in the step, mean of several places; theory for CD: 1",
        per=BOTH),
    row("quiet-motion", _FIG4,
        "While the bars touch nothing oscillates (displacement and velocity, both schemes).",
        lambda runs: {scheme: _moved_in_contact(runs(CASE, scheme)) for scheme in BOTH}, below(1e-12),
        "peak to peak of v_t over v0 and of u over h v0 in contact; limit: rounding"),
    row("quiet-force", _FIG4, "While the bars touch nothing oscillates (contact force of CD-Lagrange).",
        _quiet_force, below(LINE), "peak to peak over the exact force; limit: a line's width"),
    row("ringing", _FIG4, "After the release the velocity of CD-Lagrange oscillates locally.",
        _of(CD, m.swing), above(LINE),
        "ups and downs of the tip's velocity over 2 v0; limit: a line's width"),
    row("ringing-moreau", _FIG4,
        "The oscillations after the release are CD-Lagrange's: Moreau-Jean has none.",
        _of(MJ, m.swing), below(LINE),
        "ups and downs of the tip's velocity over 2 v0; theta = 1 smears the front instead"),
    row("ringing-cause", _FIG4,
        "These oscillations come mainly from the central difference scheme (taken as: with a step eight "
        "times finer on the same mesh at most half of them is left).",
        _cause, below(0.5), "RMS of the velocity after the release at courant 0.1 over that at 0.8"),
    row("refined", _FIG5,
        "Refined in space and time the velocity converges to the exact one, at 0.8 of the critical step.",
        lambda runs: _order(m.meshes(runs, CD, t_end=WINDOW), lambda run: m.errors(run)["velocity"], True),
        above(0.25), "order in norm (94); limit: half of that left by the oscillations behind a jump"),
    row("uniform-norm", "Appendix 3",
        "Because of the jumps of the velocity no convergence shows in the uniform norm.",
        lambda runs: _order(m.meshes(runs, CD, t_end=WINDOW), m.largest_error), below(0.25),
        "order of the largest error of the tip's velocity"),
    row("impact-jump", _TEXT, "The impact is instantaneous: a jump of the velocity.",
        lambda runs: [float(_jumps(run)[m.meeting(run)]) for run in m.finer_steps(runs, CD)],
        equal(1.0, 1e-11), "change of the tip's velocity at the impact over v0, by the step"),
    row("contact-smooth", _TEXT, "The contact that follows is smooth: the velocity does not jump.",
        lambda runs: [
            _jumps(run)[m.meeting(run) + 1 : np.flatnonzero(run["r"][:, 0])[-1] + 1].max(initial=0.0)
            for run in m.finer_steps(runs, CD)],
        below(1e-12),
        "largest change over v0 between impact and last impulse; the lattice does not jump at its release"),
    row("balance", "Appendix 2.1, (84)", "The discrete energy balance is closed in every step.",
        _of(CD, lambda run: run.results["balance_residual"]), below(1e-12),
        "largest residual over the largest energy; limit: rounding"),
    row("converted", _FIG6, "The impact turns part of the kinetic energy into internal energy.",
        _of(CD, lambda run: run["internal"].max() / (2 * ENERGY)), above(0.5),
        "largest internal energy over the initial one; all of the exact bar's becomes internal"),
    row("loss", _FIG6, "The bar loses 1.25 % of the kinetic energy.",
        _of(CD, lambda run: run.results["energy_lost"]), equal(0.0125, 5e-5),
        "part of the energy, that of the tip's node, 1/(2 N); tolerance: the printed digits"),
    row("loss-moreau", _FIG6, "With Moreau-Jean the same is seen (taken as: theta = 1 loses 1.25 % too).",
        _loss_moreau, equal(0.0125, 5e-5), "part of the energy lost; tolerance: the printed digits"),
    row("loss-at-jump", _FIG6, "The loss is due to the jump of the velocity.",
        _of(CD, _loss_at_jump), equal(1.0, 1e-9), "part of the loss in the step of the impact"),
    row("loss-at-jump-moreau", _FIG6,
        "With Moreau-Jean the same is seen (taken as: its loss is due to the jump too).",
        _of(MJ, _loss_at_jump), equal(1.0, 1e-9), "part of the loss in the step of the impact"),
    row("no-work", _FIG6, "After the impact nothing more is dissipated: contact forces do no work.",
        _of(CD, _no_work), below(1e-12), "largest change of the loss after the impact; limit: rounding"),
    row("preserves-energy", "Sect. 2.3.2",
        "Central differences preserve the energy (away from the impact).",
        _of(CD, lambda run: [np.ptp(e) for e in np.split(_stored(run), [m.meeting(run)])]),
        below(1e-12), "range of the stored energy before and after the impact; limit: rounding"),
    row("preserves-momentum", "Sect. 2.3.2",
        "Central differences preserve the linear momentum (each bar's changes by the impulses alone).",
        _of(CD, _momentum), below(1e-11), "mean velocity less v0 and impulses, over v0; limit: rounding"),
    row("loss-refined", f"{_FIG6}; Fig. 8",
        "A finer mesh makes the loss vanish, the behaviour tends to a conservative one.",
        lambda runs: _order(m.meshes(runs, CD), lambda run: run.results["energy_lost"]),
        equal(1.0, 0.05), "order in the element; theory: 1, the energy of the tip's node"),
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
        lambda runs: np.ptp(
            found := [run.results["first_impulse"] for run in m.finer_steps(runs, CD)])
        / max(np.mean(found), 1e-12),
        below(1e-9), "range of the first impulse over its mean; limit: rounding"),
    row("impulse-mass", _FIG8, "It depends on nothing but the mass of the dofs that take part.",
        _impulse_mass, below(1e-9),
        "first impulse over m v0 of the tip's node, less 1; E, rho, section and length changed in turn"),
    row("impulse-mesh", _FIG8, "Refining the mesh makes this impulse smaller.",
        lambda runs: _order(m.meshes(runs, CD), lambda run: run.results["first_impulse"]),
        equal(1.0, 0.05), "order in the element; theory: 1, the mass of the tip's node"),
    row("force-level", "Sect. 3.1, Fig. 4",
        "The contact force is that of the exact bar while contact lasts.",
        _of(CD, lambda run: m.force(run)[m.in_contact(run)].mean() / m.exact_of(run).force),
        equal(1.0, LINE), "mean force over rho c v0 A; tolerance: a line's width"),
], prefix="fekak-bars-")  # fmt: skip
