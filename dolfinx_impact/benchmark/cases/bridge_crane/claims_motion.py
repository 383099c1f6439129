"""The bridge crane: how it moves with both simulations, Fekak et al. (2017), Figs. 12 to 16."""

from __future__ import annotations

import numpy as np

from ...runs import Runs
from ...verdict import Verdict, also
from ..impacting_bar.measures import DISSIPATIVE
from . import model as crane
from .measures import (
    ALIKE,
    CD,
    HATI,
    LINE,
    OSCILLATION,
    Register,
    Shaking,
    apart,
    closures,
    divided,
    explicit,
    lift_off,
    oscillation,
    rms,
    sampled,
    touches,
)

says = Register()
_FIG15, _FIG16 = "Sect. 3.2, Fig. 15", "Sect. 3.2, Fig. 16"


@says("masses", "Sect. 3.2, Fig. 12", "Girders, end-carriages and trolley have 10844, 3003 and 5150 kg.")
def _masses(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    weighed = float(run["r"][0].sum()) / run.summary["parameters"]["h"] / crane.GRAVITY
    off = {name: run.results["masses"][name] / mass - 1 for name, mass in crane.MASSES.items()}
    off["wheels"] = weighed / crane.MASSES["trolley"] - 1
    why = (
        "masses of the beams, and what the wheels carry at the start over g, for the trolley, over the "
        "paper's less 1; the largest decides, limit: rounding of the equilibrium. The sections are not "
        "printed: ours have the thickness that these masses ask for"
    )
    return Verdict.below(why, max(off.values(), key=abs), 1e-9)


@says("impacts", "Sects. 3.2, 4", "The trolley has several impacts on the girders during the earthquake.")
def _impacts(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    why = (
        f"number of times that a wheel comes down on its girder in {s.t_end:g} s of shaking, steps of "
        f"{1e6 * s.step:g} us; limit: more than one. The record is ours: the paper's is a picture. Its words "
        "on crane wheels that hit the runway are not modelled, there as here: they are clamped"
    )
    return Verdict.above(why, closures(run).size, 1)


@says("displacement", _FIG15, "Displacements of asynchronous and fully explicit run are very similar.")
def _displacement(runs: Runs, s: Shaking) -> Verdict:
    ours, true = divided(runs, s), explicit(runs, s)
    other = apart(sampled(runs, s), true, "u") if s.h != s.step else None
    why = (
        "norm (94) of the displacements of all wheels, hati with the paper's explicit part and coarse step "
        f"({1e6 * s.ratio * s.h:.3g} us) against cd-lagrange with the same explicit step; limit: {LINE}, a "
        "line's width"
    )
    if other is not None:
        why += f". The explicit run with a step of {1e6 * s.step:g} us is {other:.2g} apart"
    return Verdict.below(why, apart(ours, true, "u"), LINE)


@says("velocity", _FIG16, "Velocities of asynchronous and fully explicit run are very similar.")
def _velocity(runs: Runs, s: Shaking) -> Verdict:
    ours, true = divided(runs, s), explicit(runs, s)
    why = (
        "norm (94) of the velocities of all wheels, as for the displacements; limit: "
        f"{ALIKE}, curves that look alike. What differs are the oscillations after impacts: before the first "
        f"lift-off they are {apart(ours, true, 'v_t', lift_off(sampled(runs, s))):.2g} apart"
    )
    return Verdict.below(why, apart(ours, true, "v_t"), ALIKE)


@says(
    "velocity-before-impacts",
    _FIG16,
    "Velocities of both runs are very similar (taken as: as long as the wheels stay on the girders).",
)
def _velocity_before(runs: Runs, s: Shaking) -> Verdict:
    until = lift_off(sampled(runs, s))
    why = (
        f"norm (94) of the velocities of all wheels until the first lift-off at {until:.4g} s, as before; "
        f"limit: {LINE}, a line's width"
    )
    return also(until > 0, Verdict.below(why, apart(divided(runs, s), explicit(runs, s), "v_t", until), LINE))


@says(
    "validated",
    "Abstract; Sect. 3.2",
    "A fine explicit computation confirms the results of HATI (taken as: their velocities are no farther "
    "from it than those of explicit runs with other steps).",
)
def _validated(runs: Runs, s: Shaking) -> Verdict:
    true = explicit(runs, s)
    step = s.step if s.h != s.step else s.h / 2
    other = apart(sampled(runs, s, h=step), true, "v_t")
    nearly = apart(sampled(runs, s, h=s.step * (1 - 1e-12)), sampled(runs, s), "v_t")
    why = (
        "norm (94) of the velocities of all wheels, hati against the explicit run, over that of explicit "
        f"runs with steps of {1e6 * step:.3g} and {1e6 * s.h:.3g} us, which is {other:.2g}; limit: 2, the "
        "same size. When a wheel comes down after many small jumps depends on every step before: two "
        f"explicit runs whose steps differ by 1e-12 part by {nearly:.2g}, which is no chaos, but longer "
        "steps are others"
    )
    return Verdict.below(why, apart(divided(runs, s), true, "v_t") / other, 2.0)


@says("other-wheels", "Sect. 3.2", "All four contacts of the trolley show the same.")
def _other_wheels(runs: Runs, s: Shaking) -> Verdict:
    spread = []
    for run in (explicit(runs, s), divided(runs, s)):
        for name in ("u", "v_t"):
            sides = run[name][:, :4], run[name][:, 4:]
            spread += [np.abs(x - x[:, :1]).max() / np.abs(x).max() for x in sides]
    why = (
        "largest difference of the wheels of the trolley, or of the girders below, from the first one in "
        "displacement or velocity, over the largest value, both schemes; limit: a line's width. The trolley "
        "stands in the middle and the shaking is vertical: but for rounding all four move alike"
    )
    return Verdict.below(why, float(max(spread)), LINE)


@says("oscillations", _FIG16, "The velocity has oscillations.")
def _oscillations(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    late = run["t"] > lift_off(run)
    share = rms(oscillation(run)[late]) / max(rms(run["v_t"][late]), 1e-12)
    why = (
        f"RMS of the wheels' velocities above {OSCILLATION:g} Hz, ten times the record's highest frequency, "
        "over the RMS of the velocities, from the first lift-off on; limit: 0.1, to be seen in the figure"
    )
    return Verdict.above(why, share, 0.1)


@says("oscillations-jumps", _FIG16, "They come from jumps of the velocity when impacts occur.")
def _jumps(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    part, off = oscillation(run), lift_off(run)
    came = closures(run)
    back = run["t"][came[0]] if came.size else s.t_end
    before = rms(part[(run["t"] > 0.5 * off) & (run["t"] < off)])
    after = rms(part[run["t"] > back]) or before or 1.0
    jumps = np.abs(np.diff(run["v_t"][:, 0]))
    largest = jumps[came].max() if came.size else 0.0
    why = (
        f"RMS of the velocities above {OSCILLATION:g} Hz from the first impact on over that before the first "
        f"lift-off, {before:.2g} m/s; limit: 3. The largest jump of a wheel's velocity after an impact is "
        f"{largest:.2g} m/s in one step; {touches(run).size} impacts"
    )
    return Verdict.above(why, after / max(before, 1e-12) if came.size else 0.0, 3.0)


@says(
    "oscillations-modes",
    _FIG16,
    "They come from the crane's high modes too (taken as: frequencies above 1 kHz have a good part in them).",
)
def _modes(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    late = run["t"] > lift_off(run)
    high, every = (rms(oscillation(run, above)[late]) for above in (1000.0, OSCILLATION))
    why = (
        f"RMS of the wheels' velocities above 1 kHz over that above {OSCILLATION:g} Hz, from the first "
        "lift-off on; limit: a quarter. The explicit step resolves the modes up to "
        f"{1e-3 / np.pi / run.results['critical_time_step']:.3g} kHz"
    )
    return Verdict.above(why, high / max(every, 1e-12), 0.25)


@says("numerical-damping", _FIG16, "Numerical damping would help against these oscillations.")
def _damping(runs: Runs, s: Shaking) -> Verdict:
    t_end = min(s.damped, s.t_end)
    plain, damped = (sampled(runs, s, scheme, t_end=t_end) for scheme in (CD, DISSIPATIVE))
    late = plain["t"] > lift_off(sampled(runs, s))
    rest = {
        f: rms(oscillation(damped, f)[late]) / rms(oscillation(plain, f)[late]) for f in (OSCILLATION, 1000.0)
    }
    why = (
        "RMS of the velocities above 1 kHz with the explicit dissipative scheme of Tchamwa and Wielgosz, "
        f"phi = 1.1, over that with cd-lagrange, from the first lift-off to {t_end:g} s; limit: a half. "
        f"Above {OSCILLATION:g} Hz it is {rest[OSCILLATION]:.2g}: what damps a mode grows as its frequency "
        "squared"
    )
    return Verdict.below(why, rest[1000.0], 0.5)


@says(
    "coarse-step",
    "Abstract; Sect. 1",
    "Where phenomena are slow an implicit integrator may use a coarse step (taken as: one above the "
    "explicit limit).",
)
def _coarse_step(runs: Runs, s: Shaking) -> Verdict:
    critical = sampled(runs, s).results["critical_time_step"]
    most = explicit(runs, s)["kinetic"].max()
    taken = {p: divided(runs, s, p) for p in ("paper", "small")}
    steps = {p: run.summary["parameters"]["ratio"] * s.h for p, run in taken.items()}
    shown = ", ".join(f"{step / critical:.2g} ({p})" for p, step in steps.items())
    why = (
        "largest kinetic energy of the samples with hati over that of the explicit run, both partitions; "
        f"limit: 1.1. The coarse steps over the critical explicit one of the crane, {1e6 * critical:.3g} us, "
        f"are {shown}: {HATI} needs no smaller one"
    )
    largest = max(float(run["kinetic"].max() / most) for run in taken.values())
    return also(min(steps.values()) > critical, Verdict.below(why, largest, 1.1))
