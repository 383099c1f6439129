"""The two bars: step, accuracy, penetration and oscillations, Fekak et al. (2017), Figs. 4 and 5."""

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
    BOTH,
    CASE,
    CD,
    ENERGY,
    FINER,
    LINE,
    MESHES,
    MJ,
    PARTS,
    SIZES,
    STEPS,
    TRANSIT,
    WINDOW,
    Register,
    errors,
    exact_force,
    exact_of,
    finer_steps,
    force,
    in_contact,
    listed,
    meeting,
    meetings,
    released,
    ringing,
    steps_of,
    ups_and_downs,
)

_says = Register()
_TEXT = "Sect. 3.1"
_FIG4 = "Sect. 3.1, Fig. 4"


def _growth(run: Run) -> float:
    """The largest energy of a run over the initial one, less 1."""
    energy = run["kinetic"] + run["complementary"] + run["internal"]
    return float(np.max(energy) / (2 * ENERGY)) - 1


@_says("critical-step", _TEXT, "The critical step of central differences is about 1.22e-6 s.")
def _critical_step(runs: Runs) -> Verdict:
    run = runs(CASE, CD, courant=1.0)
    why = (
        "the critical step, (L/N)/c; tolerance: one in the last printed digit, which was cut off and not "
        f"rounded. The run at it never has more than its initial energy: largest excess {_growth(run):.1g}"
    )
    return also(_growth(run) < 1e-9, Verdict.equal(why, run.results["critical_time_step"], 1.22e-6, 1e-8))


@_says("step", _TEXT, "The step of 0.8 times the critical one is about 9.8e-7 s, and stable.")
def _step(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    why = (
        "the step of the run, to the printed digits; its energy never exceeds the initial one: largest "
        f"excess {_growth(run):.1g}"
    )
    return also(_growth(run) < 1e-9, Verdict.equal(why, run.results["h"], 9.8e-7, 5e-9))


def _one_step_off(run: Run, name: str) -> float:
    """Norm (94) of the exact bar when contact begins a step late and ends a step early.

    It then stops h v0 further on, and two steps of the contact force are missing in its rebound.
    """
    bar, t, h = exact_of(run), run["t"], run.results["h"]
    late, early = bar.contact_start + h, bar.contact_end - h
    if name == "force":
        true = exact_force(bar, t)
        return norm35(np.where((t >= late) & (t < early), bar.force, 0.0), true)
    if name == "velocity":
        v = bar.v0 * ((t < late).astype(float) - (t >= early))
        return norm35(v, bar.velocity(0.0, t))
    true, slower = bar.displacement(0.0, t), 2 * h * bar.v0 / TRANSIT
    off = h * bar.v0 * (t >= bar.contact_start) + slower * np.maximum(t - bar.contact_end, 0.0)
    return norm35(true + off, true)


def _accurate(runs: Runs, name: str) -> Verdict:
    run, other = runs(CASE, CD), runs(CASE, MJ)
    why = (
        f"error of the {name} in the norm (94); limit: that of an exact bar whose contact begins a step late "
        f"and ends a step early. With moreau-jean it is {errors(other)[name]:.2g}"
    )
    if name == "velocity":
        late = released(run)
        share = np.abs(run["v_t"][late, 0] + BAR.v0).sum() / (errors(run)[name] * _exact_sum(run))
        why += f". {share:.0%} of it come from the oscillations after the release"
    return Verdict.below(why, errors(run)[name], _one_step_off(run, name))


def _exact_sum(run: Run) -> float:
    """Sum of the magnitudes of the exact velocity at the times of a run [m/s]."""
    return float(np.abs(exact_of(run).velocity(0.0, run["t"])).sum())


for _name in ("displacement", "velocity", "force"):
    _says(f"accurate-{_name}", _FIG4, f"CD-Lagrange is very close to the exact solution ({_name}).")(
        partial(_accurate, name=_name)
    )


@_says(
    "accurate-compared",
    "Abstract; Sect. 4",
    "Beside Moreau-Jean with theta = 1 CD-Lagrange is the accurate scheme.",
)
def _compared(runs: Runs) -> Verdict:
    ours, theirs = errors(runs(CASE, CD)), errors(runs(CASE, MJ))
    found = {name: ours[name] / theirs[name] for name in ours}
    shown = ", ".join(f"{ratio:.2f} of the {name}" for name, ratio in found.items())
    why = f"error of cd-lagrange over that of moreau-jean, norm (94): {shown}; the largest should be below 1"
    return Verdict.below(why, max(found.values()), 1.0)


def _depth(found: list[Run]) -> float:
    """Mean of the deepest penetrations [m]."""
    return float(np.mean([run.results["penetration_max"] for run in found]))


def _penetration(runs: Runs, scheme: str) -> Verdict:
    found = meetings(runs, scheme, STEPS[0])
    depths = [run.results["penetration_max"] for run in found]
    way = 2 * found[0].results["h"] * BAR.v0
    pressed = 2 * BAR.v0 * TRANSIT
    why = (
        f"largest penetration over what the bars are pressed together, 2 v0 L/c, with {scheme}, the bars "
        f"meeting at {len(PARTS)} places within a step: {1e6 * max(depths):.2g} µm; limit: the way of both "
        f"in one step, {1e6 * way:.2g} µm. It is there: {1e6 * min(depths):.2g} µm at least"
    )
    return also(min(depths) > 1e-12, Verdict.below(why, max(depths) / pressed, way / pressed))


def _penetration_falls(runs: Runs, scheme: str) -> Verdict:
    groups = [meetings(runs, scheme, courant) for courant in STEPS]
    depths = [_depth(found) for found in groups]
    shown = ", ".join(f"{1e6 * depth:.2g}" for depth in depths)
    theory = {
        CD: "Theory: 1, the tips close by 2 v0 dt before contact acts",
        MJ: "Looking half a step ahead it stops some bars before they touch, and those creep on",
    }[scheme]
    why = (
        f"order in the step of the penetration, mean of {len(PARTS)} places within a step, {shown} µm at "
        f"{FINER}, with {scheme}. {theory}; limit: half an order"
    )
    falls = bool(np.all(np.diff(depths) < 0))
    return also(falls, Verdict.above(why, order(steps_of([found[0] for found in groups]), depths), 0.5))


for _scheme in BOTH:
    _says(f"penetration-{_scheme}", _FIG4, f"In contact the bars penetrate by very little ({_scheme}).")(
        partial(_penetration, scheme=_scheme)
    )
    _says(f"penetration-order-{_scheme}", _FIG4, f"Smaller steps make the penetration smaller ({_scheme}).")(
        partial(_penetration_falls, scheme=_scheme)
    )


@_says(
    "quiet-motion",
    _FIG4,
    "While the bars touch nothing oscillates (displacement and velocity, both schemes).",
)
def _quiet(runs: Runs) -> Verdict:
    def moved(run: Run) -> float:
        now = in_contact(run)
        ways = np.ptp(run["u"][now, 0]) / (run.results["h"] * BAR.v0)
        return float(max(ways, np.ptp(run["v_t"][now, 0]) / BAR.v0))

    found = {scheme: moved(runs(CASE, scheme)) for scheme in BOTH}
    why = (
        "peak to peak of the tip's velocity over v0 and of its displacement over h v0, from 2.5 steps after "
        f"the exact impact to 2.5 before the release, the larger: {listed(found)}; limit: rounding of u over "
        "h v0"
    )
    return Verdict.below(why, max(found.values()), 1e-12)


@_says("quiet-force", _FIG4, "While the bars touch nothing oscillates (contact force of CD-Lagrange).")
def _quiet_force(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    now = in_contact(run)
    at_limit = runs(CASE, CD, courant=1.0)
    still = float(np.ptp(force(at_limit)[in_contact(at_limit)])) / BAR.force
    why = (
        "peak to peak of the contact force over the exact one, from 2.5 steps after the exact impact to 2.5 "
        f"before the release; limit: 1 %, a line's width in the figure. The force overshoots in the first "
        f"steps and rings down as the front leaves the tip on the lattice; at courant 1 it is {still:.1g}"
    )
    return Verdict.below(why, float(np.ptp(force(run)[now])) / BAR.force, LINE)


def _up_and_down(run: Run) -> float:
    """Ups and downs of the velocity after the release over 2 v0, the axis of the figure."""
    return ups_and_downs(run["v_t"][released(run), 0]) / (2 * BAR.v0)


@_says("ringing", _FIG4, "After the release the velocity of CD-Lagrange oscillates locally.")
def _rings(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    v = run["v_t"][released(run), 0]
    why = (
        "ups and downs of the tip's velocity after the release, summed, over 2 v0; limit: 1 %, a line's "
        f"width in the figure. It reaches {-v.min() / BAR.v0:.2f} v0 at first and deviates by "
        f"{np.abs(v[-20:] + BAR.v0).max() / BAR.v0:.2f} v0 in the last 20 steps"
    )
    return Verdict.above(why, _up_and_down(run), LINE)


@_says("ringing-moreau", _FIG4, "The oscillations after the release are CD-Lagrange's: Moreau-Jean has none.")
def _no_ringing(runs: Runs) -> Verdict:
    run = runs(CASE, MJ)
    late = float(np.abs(run["v_t"][released(run), 0] + BAR.v0).max()) / BAR.v0
    why = (
        "ups and downs of the tip's velocity after the release, summed, over 2 v0; limit: 1 %, a line's "
        f"width in the figure. theta = 1 smears the front instead: two steps after the release {late:.2f} v0 "
        "are still missing"
    )
    return Verdict.below(why, _up_and_down(run), LINE)


@_says(
    "ringing-cause",
    _FIG4,
    "These oscillations come mainly from the central difference scheme (taken as: with a step eight times "
    "finer on the same mesh at most half of them is left).",
)
def _cause(runs: Runs) -> Verdict:
    coarse, fine = (runs(CASE, CD, courant=c) for c in (STEPS[0], STEPS[-1]))
    still = ringing(runs(CASE, CD, courant=1.0))
    why = (
        f"RMS of the velocity after the release at courant {STEPS[-1]:g} over that at {STEPS[0]:g}, "
        f"{ringing(fine):.3f} and {ringing(coarse):.3f} v0; limit: a half. It grows: the finite elements "
        "disperse, and central differences make up for it, wholly at courant 1, where it is "
        f"{still:.1g} v0"
    )
    return Verdict.below(why, max(ringing(fine), 1e-12) / max(ringing(coarse), 1e-12), 0.5)


def _velocity_error(run: Run) -> float:
    return norm35(run["v_t"][:, 0], exact_of(run).velocity(0.0, run["t"]))


@_says(
    "refined",
    "Sect. 3.1, Fig. 5",
    "Refined in space and time the velocity converges to the exact one, at 0.8 of the critical step.",
)
def _refined(runs: Runs) -> Verdict:
    found = [runs(CASE, CD, elements=n, t_end=WINDOW) for n in MESHES]
    sizes = [_velocity_error(run) for run in found]
    falls = bool(np.all(np.diff(sizes) < 0))
    why = (
        f"order of the error of the tip's velocity, norm (94), {sizes[0]:.2g} to {sizes[-1]:.2g} on {SIZES}"
        f"{', smaller each time' if falls else ''}; limit: a quarter, half of what the oscillations behind a "
        "jump leave"
    )
    return also(falls, Verdict.above(why, order(steps_of(found), sizes), 0.25))


@_says(
    "uniform-norm",
    "Appendix 3",
    "Because of the jumps of the velocity no convergence shows in the uniform norm.",
)
def _uniform(runs: Runs) -> Verdict:
    found = [runs(CASE, CD, elements=n, t_end=WINDOW) for n in MESHES]
    sizes = [
        float(np.abs(run["v_t"][:, 0] - exact_of(run).velocity(0.0, run["t"])).max()) / BAR.v0
        for run in found
    ]
    summed = order(steps_of(found), [_velocity_error(run) for run in found])
    why = (
        f"order of the largest error of the tip's velocity, {sizes[0]:.2g} to {sizes[-1]:.2g} v0 on {SIZES}; "
        f"limit: a quarter. In the norm (94) of the same runs the order is {summed:.2f}"
    )
    return Verdict.below(why, order(steps_of(found), np.maximum(sizes, 1e-15)), 0.25)


def _jumps(run: Run) -> NDArray:
    """Changes of the left tip's velocity from step to step over v0, shape (n,)."""
    return np.abs(np.diff(run["v"][:, 0], prepend=run["v"][0, 0])) / BAR.v0


@_says("impact-jump", _TEXT, "The impact is instantaneous: a jump of the velocity.")
def _jump(runs: Runs) -> Verdict:
    found = [float(_jumps(run)[meeting(run)]) for run in finer_steps(runs, CD)]
    shown = ", ".join(f"{value:.3g}" for value in found)
    why = (
        f"change of the tip's velocity in the step of the impact over v0, {FINER}: {shown}, the one farthest "
        "from 1 decides; tolerance: rounding"
    )
    return Verdict.equal(why, max(found, key=lambda value: abs(value - 1)), 1.0, 1e-11)


@_says("contact-smooth", _TEXT, "The contact that follows is smooth: the velocity does not jump.")
def _smooth(runs: Runs) -> Verdict:
    found = []
    for run in finer_steps(runs, CD):
        last = int(np.flatnonzero(run["r"][:, 0])[-1])
        found.append(float(np.max(_jumps(run)[meeting(run) + 1 : last + 1], initial=0.0)))
    why = (
        "largest change of the tip's velocity from step to step over v0, between the impact and the last "
        f"impulse, {FINER}; limit: rounding. The continuous bar jumps again at its release, the lattice does "
        "not"
    )
    return Verdict.below(why, max(found), 1e-12)


CLAIMS: tuple[Claim, ...] = tuple(_says)
