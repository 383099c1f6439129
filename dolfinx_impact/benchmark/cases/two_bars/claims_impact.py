"""The two bars: energy, contact force and impulse, Fekak et al. (2017), Figs. 6 to 8."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...claim import Claim
from ...convergence import norm35, order
from ...runs import Run, Runs
from ...verdict import Verdict, also
from .measures import (
    BAR,
    CASE,
    CD,
    ENERGY,
    FINER,
    LINE,
    MASS,
    MESHES,
    MJ,
    SIZES,
    Register,
    acceleration,
    exact_of,
    finer_steps,
    force,
    in_contact,
    meeting,
    steps_of,
)

_says = Register()
_FIG6, _FIG7, _FIG8 = (f"Sect. 3.1, Fig. {name}" for name in ("6", "7", "8"))
#: Part of the kinetic energy that the paper's bars lose on 40 elements.
_LOST = 0.0125


def _taken(run: Run) -> NDArray:
    """What contact and scheme have taken of the energy, over the initial one, shape (n,)."""
    return (run["dissipated"] - run["contact"]) / (2 * ENERGY)


@_says("balance", "Appendix 2.1, (84)", "The discrete energy balance is closed in every step.")
def _balance(runs: Runs) -> Verdict:
    why = "largest residual of the balance (84) over the largest energy, every step counted; limit: rounding"
    return Verdict.below(why, runs(CASE, CD).results["balance_residual"], 1e-12)


@_says("converted", _FIG6, "The impact turns part of the kinetic energy into internal energy.")
def _converted(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    part, late = run["internal"] / (2 * ENERGY), run["internal"][-1] / (2 * ENERGY)
    why = (
        "largest internal energy over the initial one; limit: a half. All of the exact bar's becomes "
        f"internal, L/c after the impact; at the end {late:.2%} still are, the oscillations"
    )
    return Verdict.above(why, float(part.max()), 0.5)


def _loss(runs: Runs, scheme: str) -> Verdict:
    lost = runs(CASE, scheme).results["energy_lost"]
    why = f"part of the energy lost with {scheme}, 40 elements; tolerance: the printed digits"
    if scheme == MJ:
        fine = runs(CASE, MJ, courant=0.1).results["energy_lost"]
        why += (
            ". theta = 1 damps: it goes on losing while the front runs through the bar, and less with a "
            f"smaller step, {fine:.1%} at courant 0.1"
        )
    else:
        why += ". It is the kinetic energy of the tip's node, 1/(2 N)"
    return Verdict.equal(why, lost, _LOST, 5e-5)


_says("loss", _FIG6, "The bar loses 1.25 % of the kinetic energy.")(partial(_loss, scheme=CD))
_says("loss-moreau", _FIG6, "With Moreau-Jean the same is seen (taken as: theta = 1 loses 1.25 % too).")(
    partial(_loss, scheme=MJ)
)


def _loss_at_jump(runs: Runs, scheme: str) -> Verdict:
    run = runs(CASE, scheme)
    taken, last = _taken(run), _taken(run)[-1]
    first = float(taken[meeting(run)])
    share = first / last if abs(last) > 1e-9 else 0.0
    why = (
        f"part of the whole loss that comes in the step of the impact, with {scheme}: {first:.2%} of the "
        f"energy of {last:.2%}; tolerance: rounding"
    )
    if scheme == MJ:
        why += ". The rest goes later, smeared out by theta = 1"
    return Verdict.equal(why, share, 1.0, 1e-9)


_says("loss-at-jump", _FIG6, "The loss is due to the jump of the velocity.")(
    partial(_loss_at_jump, scheme=CD)
)
_says(
    "loss-at-jump-moreau",
    _FIG6,
    "With Moreau-Jean the same is seen (taken as: its loss is due to the jump too).",
)(partial(_loss_at_jump, scheme=MJ))


@_says("no-work", _FIG6, "After the impact nothing more is dissipated: contact forces do no work.")
def _no_work(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    taken, pushed = _taken(run), int(np.count_nonzero(run["r"][:, 0]))
    after = np.abs(taken[meeting(run) + 1 :] - taken[meeting(run)])
    why = (
        "largest change, over the initial energy, of what contact took away by the impact; limit: rounding. "
        f"{pushed} steps have an impulse"
    )
    return also(pushed > 1, Verdict.below(why, float(after.max()), 1e-12))


@_says("preserves-energy", "Sect. 2.3.2", "Central differences preserve the energy (away from the impact).")
def _preserves(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    energy = (run["kinetic"] + run["complementary"] + run["internal"]) / (2 * ENERGY)
    k = meeting(run)
    drift = max(np.ptp(energy[:k]), np.ptp(energy[k:]))
    why = (
        "range of the stored energy, the complementary one included, over the initial one, before and after "
        "the impact; limit: rounding"
    )
    return Verdict.below(why, float(drift), 1e-12)


@_says(
    "preserves-momentum",
    "Sect. 2.3.2",
    "Central differences preserve the linear momentum (each bar's changes by the impulses alone).",
)
def _momentum(runs: Runs) -> Verdict:
    results = runs(CASE, CD).results
    gained = results["rebound_velocity"] + BAR.v0 - results["impulse_sum"] / MASS
    why = (
        "mean velocity of the bar at the end less what v0 and the impulses make of it, over v0; limit: "
        f"rounding. The bar leaves at {results['rebound_velocity'] / BAR.v0:.3f} v0"
    )
    return Verdict.below(why, gained / BAR.v0, 1e-11)


@_says(
    "loss-refined",
    f"{_FIG6}; Fig. 8",
    "A finer mesh makes the loss vanish, the behaviour tends to a conservative one.",
)
def _loss_refined(runs: Runs) -> Verdict:
    found = [runs(CASE, CD, elements=n) for n in MESHES]
    lost = [run.results["energy_lost"] for run in found]
    other = [runs(CASE, MJ, elements=n) for n in MESHES]
    slow = order(steps_of(other), [max(run.results["energy_lost"], 1e-15) for run in other])
    why = (
        f"order of the energy lost, {lost[0]:.2%} to {lost[-1]:.2%} on {SIZES}, uniform meshes. Theory: 1, "
        "the energy of the tip's node, which is proportional to the element; tolerance: 0.05. With "
        f"moreau-jean it is {slow:.2f}"
    )
    return Verdict.equal(why, order(steps_of(found), np.maximum(lost, 1e-15)), 1.0, 0.05)


@_says("peak-force", f"{_FIG7}a", "The peak of the force at the first contact grows as the step falls.")
def _peak(runs: Runs) -> Verdict:
    found = finer_steps(runs, CD)
    peaks = [float(force(run)[meeting(run)]) for run in found]
    shown = ", ".join(f"{peak / 1e3:.0f}" for peak in peaks)
    why = (
        f"order in the step of the force in the step of the impact, {shown} kN at {FINER}. Theory: -1, an "
        "impulse that does not depend on the step; tolerance: 0.05"
    )
    return Verdict.equal(why, order(steps_of(found), peaks), -1.0, 0.05)


def _at_coarsest(found: list[Run], values: list[NDArray]) -> list[NDArray]:
    """Values of runs with halved steps at the times of the coarsest, from a step after the impact on."""
    steps = [round(found[0].results["h"] / run.results["h"]) for run in found]
    shortest = min(len(v[::n]) for v, n in zip(values, steps))
    return [v[::n][meeting(found[0]) + 1 : shortest] for v, n in zip(values, steps)]


@_says("force-after", f"{_FIG7}a", "After the step of the impact the force does not depend on the step.")
def _force_after(runs: Runs) -> Verdict:
    found = finer_steps(runs, CD)
    *coarse, finest = _at_coarsest(found, [force(run) for run in found])
    sizes = [norm35(f, finest) for f in coarse]
    largest = [float(np.abs(f - finest).max()) / BAR.force for f in coarse]
    why = (
        "difference between the contact forces with the coarsest and the finest step, norm (94) on the times "
        f"of the coarsest run later than the impact, {FINER}; limit: 1 %, a line's width in the figure. At "
        f"single times they differ by up to {largest[0]:.2g} of the exact force, in the first steps, and "
        f"{largest[-1]:.2g} with the next to finest step"
    )
    return Verdict.below(why, max(sizes), LINE)


@_says("acceleration-first", f"{_FIG7}b", "The acceleration at the first contact does not converge.")
def _acceleration_first(runs: Runs) -> Verdict:
    found = finer_steps(runs, CD)
    peaks = [float(abs(acceleration(run)[meeting(run)])) for run in found]
    shown = ", ".join(f"{peak:.2g}" for peak in peaks)
    why = (
        f"order in the step of the tip's acceleration (46) in the step of the impact, {shown} m/s2 at "
        f"{FINER}: 0 if it converged. It is v0/dt, order -1; tolerance: 0.05"
    )
    return Verdict.equal(why, order(steps_of(found), peaks), -1.0, 0.05)


@_says("acceleration", f"{_FIG7}b", "Elsewhere the acceleration converges as the step falls.")
def _acceleration(runs: Runs) -> Verdict:
    found = finer_steps(runs, CD)
    *coarse, finest = _at_coarsest(found, [acceleration(run) for run in found])
    sizes = [float(np.abs(a - finest).max()) for a in coarse]
    shown = ", ".join(f"{size:.2g}" for size in sizes)
    why = (
        "order in the step of the largest difference from the run with the finest one on the times of the "
        f"coarsest later than the impact, {shown} m/s2 at {FINER}; limit: half an order"
    )
    return Verdict.above(why, order(steps_of(found[:-1]), np.maximum(sizes, 1e-6)), 0.5)


@_says("impulse-step", _FIG8, "The impulse of the impact does not depend on the step.")
def _impulse_step(runs: Runs) -> Verdict:
    found = [run.results["first_impulse"] for run in finer_steps(runs, CD)]
    other = [run.results["first_impulse"] for run in finer_steps(runs, MJ)]
    why = (
        f"range of the first impulse over its mean, {FINER}; limit: rounding. Of moreau-jean's it is "
        f"{np.ptp(other) / np.mean(other):.2g}: its impulse moves neighbours too, fewer the smaller the step"
    )
    return Verdict.below(why, float(np.ptp(found) / max(np.mean(found), 1e-12)), 1e-9)


@_says("impulse-mass", _FIG8, "It depends on nothing but the mass of the dofs that take part.")
def _impulse_mass(runs: Runs) -> Verdict:
    changes: list[dict[str, float]] = [{}, {"E": 5e10}, {"rho": 2000.0}, {"area": 1e-3}, {"length": 0.5}]
    off = []
    for change in changes:
        run = runs(CASE, CD, h=2e-7, t_end=4e-5, **change)
        p = run.summary["parameters"]
        node = p["rho"] * p["area"] * p["length"] / p["elements"] / 2
        off.append(run.results["first_impulse"] / (node * p["v0"]) - 1)
    why = (
        "first impulse over the momentum of the tip's node, m v0, less 1, as E, rho, the section and the "
        "length are changed one by one at one step; the largest decides, limit: rounding"
    )
    return Verdict.below(why, max(off, key=abs), 1e-9)


@_says("impulse-mesh", _FIG8, "Refining the mesh makes this impulse smaller.")
def _impulse_mesh(runs: Runs) -> Verdict:
    found = [runs(CASE, CD, elements=n) for n in MESHES]
    sizes = [run.results["first_impulse"] for run in found]
    why = (
        f"order in the element of the first impulse, {sizes[0]:.3g} to {sizes[-1]:.3g} N s on {SIZES}. "
        "Theory: 1, as the mass of the tip's node; tolerance: 0.05"
    )
    return Verdict.equal(why, order(1 / np.array(MESHES), np.maximum(sizes, 1e-12)), 1.0, 0.05)


@_says("force-level", "Sect. 3.1, Fig. 4", "The contact force is that of the exact bar while contact lasts.")
def _force_level(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    mean = float(force(run)[in_contact(run)].mean()) / exact_of(run).force
    why = (
        "mean contact force over rho c v0 A, from 2.5 steps after the exact impact to 2.5 before the "
        "release; tolerance: 1 %, a line's width in the figure"
    )
    return Verdict.equal(why, mean, 1.0, LINE)


CLAIMS: tuple[Claim, ...] = tuple(_says)
