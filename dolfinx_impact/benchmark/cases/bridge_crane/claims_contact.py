"""The bridge crane: contacts and impacts of the trolley's wheels, Fekak et al. (2017), Fig. 17."""

from __future__ import annotations

import numpy as np

from ...runs import Runs
from ...verdict import Verdict, also
from .measures import (
    CASE,
    CD,
    HATI,
    PAPER_STEP,
    Register,
    Shaking,
    closures,
    first_impact,
    lift_off,
    sampled,
    touches,
    zoomed,
)

says = Register()
_FIG17 = "Sect. 3.2, Fig. 17"
#: The paper's window [s].
WINDOW = 2e-4
#: Fine steps in a coarse one where the contact conditions are looked at.
_FINE = 10


@says("initial-contact", f"{_FIG17}a", "Trolley and girders are in contact at the start.")
def _initial(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    until = lift_off(run)
    touching = run["t"] < until
    why = (
        "largest gap of a wheel until the first lift-off over the largest of the run; limit: rounding. All "
        f"wheels carry their part of the trolley in every step until {until:.4g} s"
    )
    widest = float(run["gap"][touching].max(initial=run["gap"][0].max()))
    return also(bool(np.all(run["r"][0] > 0)), Verdict.below(why, widest / np.abs(run["gap"]).max(), 1e-6))


@says("early-bounce", f"{_FIG17}a", "The trolley first bounces within 2e-4 s.")
def _early(runs: Runs, s: Shaking) -> Verdict:
    sudden = runs(CASE, CD, h=PAPER_STEP, t_end=WINDOW, start="sudden")
    run = sampled(runs, s)
    widest = float(sudden["gap"].max())
    free = int(np.count_nonzero(~sudden["r"].any(axis=1)))
    open_ = np.flatnonzero((run["gap"] > run.summary["parameters"]["gap_tolerance"]).any(axis=1))
    first = float(run["t"][open_[0] if open_.size else -1])
    why = (
        "first time at which a wheel is off its girder [s], from the equilibrium under gravity and with our "
        f"record, which begins softly. Where gravity acts at once, {free} of {len(sudden['t'])} steps up to "
        f"{WINDOW:g} s have no impulse, the first ones by rounding alone, but the widest gap is "
        f"{widest:.1g} m: all parts fall together until waves from the clamped wheels arrive"
    )
    return Verdict.below(why, WINDOW if widest > 1e-12 else first, WINDOW)


@says(
    "bounce-times",
    _FIG17,
    "Bounce at 1.05e-4 s, impacts at 1.18e-4 and 1.38e-4 s, another bounce at 1.2e-4 s.",
)
def _times(runs: Runs, s: Shaking) -> Verdict:
    return Verdict.undecided(
        "these times belong to a record and to beam sections that are pictures in the paper; with our record "
        "and sections the trolley lifts off and comes down later. That bounces, impacts and contacts follow "
        "one another is decided by the other claims on Fig. 17"
    )


@says("bounce", f"{_FIG17}a", "The trolley bounces: the contact force vanishes and the gap opens.")
def _bounce(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    free = ~run["r"].any(axis=1)
    widest = float(run["gap"][free].max(initial=0.0))
    why = (
        f"largest gap of a wheel while no impulse acts [m], first at {lift_off(run):.4g} s; limit: 0.1 mm. "
        f"The wheels are free in {np.mean(free):.2g} of all steps"
    )
    held = bool(run["r"][0].any())
    return also(held, Verdict.above(why, widest, 1e-4))


@says("impact", f"{_FIG17}b", "Coming into contact again is an impact: an impulse at one instant.")
def _impact(runs: Runs, s: Shaking) -> Verdict:
    coarse, fine = sampled(runs, s), sampled(runs, s, h=s.step / 2, t_end=_after_first(runs, s), every=1)
    pushes = [float(run["r"][first_impact(run), 0]) for run in (coarse, fine)]
    rest = float(np.median(coarse["r"][: first_impact(coarse), 0]))
    forces = pushes[0] / s.step, pushes[1] / (s.step / 2)
    why = (
        f"impulse of the first impact with half of the step over that with {1e6 * s.step:g} us, "
        f"{pushes[0]:.3g} N s, where a resting wheel takes {rest:.2g} N s; tolerance: what such a force adds "
        f"in a step. The contact force, impulse over step, grows from {1e-3 * forces[0]:.3g} to "
        f"{1e-3 * forces[1]:.3g} kN"
    )
    return Verdict.equal(why, pushes[1] / pushes[0], 1.0, min(rest / pushes[0], 0.05))


def _after_first(runs: Runs, s: Shaking) -> float:
    """A little later than the first impact [s]."""
    run = sampled(runs, s)
    return float(run["t"][first_impact(run)]) + 100 * s.step


@says("contact-phases", f"{_FIG17}b", "An impact is followed by a phase of contact.")
def _phases(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    lengths = touches(run)
    longest = float(lengths.max(initial=0))
    why = (
        f"part of the {lengths.size} impacts of a wheel after which it stays on the girder for five steps "
        f"({5e6 * s.step:g} us) or more; limit: a tenth. The longest contact has {longest:.0f} steps"
    )
    return Verdict.above(why, float(np.mean(lengths >= 5)) if lengths.size else 0.0, 0.1)


@says("single-impacts", f"{_FIG17}b", "After other impacts there is no phase of contact.")
def _single(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    lengths = touches(run)
    why = (
        f"part of the {lengths.size} impacts of a wheel that are over in one step of {1e6 * s.step:g} us; "
        "limit: a tenth"
    )
    return Verdict.above(why, float(np.mean(lengths == 1)) if lengths.size else 0.0, 0.1)


@says("conditions", "Sect. 2.4.1, (56)", "HATI holds the contact conditions in every fine step.")
def _conditions(runs: Runs, s: Shaking) -> Verdict:
    back = _after_first(runs, s)
    found = zoomed(runs, HATI, (0.0, back), h=s.step, record=s.record, partition="paper", ratio=_FINE)
    t, r, gap = found.T
    scale = float(np.median(r[r > 0])) if np.any(r > 0) else 1.0
    pushed = r > 0
    wide = float(gap[pushed].max(initial=0.0))
    why = (
        "largest gap with an impulse, or negative impulse over a usual one, in the fine steps of hati up to "
        f"the first impact, {_FINE} in a coarse step; limit: the gap that counts as closed, 1e-12 m. "
        f"{int(pushed.sum())} of {r.size} fine steps have an impulse; gaps reach {gap.min():.2g} m, since an "
        "overlap is noticed when it is there"
    )
    off = max(wide, -float(r.min()) / scale)
    return also(bool(pushed.any()) and gap.min() > -1e-4, Verdict.below(why, off, 1e-12))


@says("sometimes", "Sect. 3.2", "Several impacts follow, only some of them with a phase of contact.")
def _sometimes(runs: Runs, s: Shaking) -> Verdict:
    run = sampled(runs, s)
    lengths = touches(run)
    part = float(np.mean(lengths > 1)) if lengths.size else 0.0
    why = (
        f"part of the {closures(run).size} impacts of a wheel with a contact longer than one step of "
        f"{1e6 * s.step:g} us; some but not all: between a tenth and nine tenths"
    )
    return Verdict.equal(why, part, 0.5, 0.4)
