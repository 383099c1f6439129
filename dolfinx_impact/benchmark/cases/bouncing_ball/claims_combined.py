"""What Acary and Bonnefon (2011) say of their combined scheme and of its elders, on the ball.

Both forecasts, e = 0 and 0.8. The ball of 1 kg falls from 1 m or the drop heights; h = 0.01 s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...claim import ACARY, Claim
from ...runs import FailedRun, Run, Runs
from ...verdict import Verdict, also
from . import case as bouncing_ball
from .claims_schemes import (
    ELASTIC,
    EPS,
    LAW,
    LOSSY,
    PLASTIC,
    SPEED,
    depth,
    farthest,
    law_defect,
    order_tolerance,
    paoli_phases,
)
from .figures import CASE, FORECASTS, GRAVITY, HEIGHTS, STEP, STEPS, drop_heights, exact, fitted

_STEPS = STEPS[:4]


#: How long a ball with this coefficient is followed [s]: to two bounces and a third impact.
_SPANS = {PLASTIC: 1.0, LOSSY: 2.0, ELASTIC: 2.0}


def _drops(
    runs: Runs, forecast: float, restitutions: Sequence[float], heights: int, h: float = STEP
) -> list[Run]:
    """One run a coefficient and drop height."""
    return [
        runs(CASE, "combined", restitution=e, forecast=forecast, z0=z0, h=h, t_end=_SPANS[e])
        for e in restitutions
        for z0 in drop_heights(heights)
    ]


def _both(runs: Runs, heights: int) -> list[Run]:
    """Both forecasts, e = 0 and 0.8."""
    return [run for w in FORECASTS for run in _drops(runs, w, (PLASTIC, LOSSY), heights)]


def _tau(run: Run) -> np.ndarray:
    tau = run.history.get("tau")
    if tau is None:
        raise FailedRun(f"{run.summary['scheme']} has no tau")
    return tau[:, 0]


def position(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Tau closes the gap by one sum."""
    deepest = max(depth(run) for run in _both(runs, heights))
    why = (
        f"largest depth [m], {heights} drop heights, e = 0 and 0.8, forecasts 1/2 and 1: tau puts the "
        "ball on the ground"
    )
    return Verdict.below(why, deepest, 4 * EPS)


def law(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Decides ``acary-ball-law``."""
    several = _both(runs, heights)
    struck = all(run.results["impacts"] > 0 for run in several)
    why = (
        f"largest |v+ + e v-| [m/s] of a step with an impulse, {heights} drop heights, e = 0 and 0.8, "
        "forecasts 1/2 and 1: the law is imposed in the step itself, together with the "
        "position"
    )
    return also(struck, Verdict.below(why, max(law_defect(run) for run in several), LAW))


def _taus(
    runs: Runs, forecast: float, heights: int, steps: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Largest tau of a run and sum of its taus, means over the drop heights, one a step [m]."""
    largest, total = [], []
    for h in steps:
        several = [_tau(run) for run in _drops(runs, forecast, (PLASTIC, LOSSY), heights, h)]
        largest.append(float(np.mean([tau.max() for tau in several])))
        total.append(float(np.mean([tau.sum() for tau in several])))
    return largest, total


def tau_order(
    runs: Runs, forecast: float, heights: int = HEIGHTS, steps: Sequence[float] = _STEPS
) -> Verdict:
    """Decides ``acary-ball-tau-half``, ``acary-ball-tau-one``."""
    largest, _ = _taus(runs, forecast, heights, steps)
    why = (
        f"order in h of the largest tau of a run, mean of {heights} drop heights with e = 0 and 0.8, "
        f"forecast {forecast:g}: {1e3 * largest[0]:.2f} mm at h = {steps[0]:g} s, {1e3 * largest[-1]:.2f} "
        f"mm at {steps[-1]:g} s; it is a part of h v by the phase of the impact"
    )
    return Verdict.equal(why, fitted(steps, largest), 1.0, order_tolerance(heights, steps))


def viability(runs: Runs, heights: int = HEIGHTS, steps: Sequence[float] = _STEPS) -> Verdict:
    """Decides ``acary-ball-viability``."""
    totals = [_taus(runs, forecast, heights, steps)[1] for forecast in FORECASTS]
    orders = [fitted(steps, total) for total in totals]
    why = (
        "order in h, farther from 1 of both forecasts, of the sum of all tau up to 2 s, mean of "
        f"{heights} drop heights with e = 0 and 0.8: {1e3 * totals[0][-1]:.2f} mm (1/2) and "
        f"{1e3 * totals[1][-1]:.2f} mm (1) are left at h = {steps[-1]:g} s"
    )
    return Verdict.equal(why, farthest(orders, 1.0), 1.0, order_tolerance(heights, steps))


def equivalent(
    runs: Runs, forecast: float, heights: int = HEIGHTS, steps: Sequence[float] = _STEPS
) -> Verdict:
    """The first two bounces against the exact ones, which the solution of (4) has."""
    mean, signed = [], []
    for h in steps:
        off = []
        for z0, run in zip(drop_heights(heights), _drops(runs, forecast, (LOSSY,), heights, h)):
            found = ([*run.results["heights"], 0.0, 0.0])[:2]
            true = exact(LOSSY, z0).rebound_height([1, 2])
            off.append((np.array(found) - true) / true)
        mean.append(float(np.mean(np.abs(off))))
        signed.append(float(np.mean(off)))
    why = (
        f"order in h of the error of the first two bounce heights at e = 0.8, mean of {heights} drop "
        f"heights, forecast {forecast:g}: {mean[0]:.2%} at h = {steps[0]:g} s, {mean[-1]:.2%} at "
        f"{steps[-1]:g} s; with its sign {signed[0]:+.2%} and {signed[-1]:+.2%}: tau lifts"
    )
    return Verdict.equal(why, fitted(steps, mean), 1.0, order_tolerance(heights, steps))


def drift(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Decides ``acary-ball-moreau-drift``."""
    several = [
        runs(CASE, "moreau-jean", restitution=e, z0=z0, t_end=1)
        for e in (PLASTIC, LOSSY)
        for z0 in drop_heights(heights)
    ]
    kept = max(law_defect(run) for run in several)
    deepest = [depth(run) for run in several]
    why = (
        f"largest depth [m] of Moreau-Jean, {heights} drop heights, e = 0 and 0.8, while |v+ + e v-| is "
        f"{kept:.1e} m/s at most; {sum(value > 0 for value in deepest)} of {len(deepest)} runs "
        "penetrate"
    )
    return also(kept <= LAW, Verdict.above(why, max(deepest), 1e-12))


def schatzman_position(runs: Runs, restitution: float) -> Verdict:
    """Decides ``acary-ball-schatzman-position-e0``, ``acary-ball-schatzman-position-e08``."""
    run = runs(CASE, "paoli-schatzman", restitution=restitution)
    why = f"largest depth [m] of Schatzman-Paoli at e = {restitution:g}: "
    if restitution == PLASTIC:
        why += "the constraint it poses is that of u_(n+1) itself"
    else:
        why += (
            "what it keeps out of the ground is (u_(n+1) + e u_(n-1))/(1 + e), and u_(n-1) above the "
            "ground lets u_(n+1) below it"
        )
    return also(run.results["impacts"] > 0, Verdict.below(why, depth(run), 4 * EPS))


def schatzman_constraint(runs: Runs) -> Verdict:
    """Decides ``acary-ball-schatzman-constraint``."""
    lowest = {}
    for e in (PLASTIC, LOSSY, ELASTIC):
        u = runs(CASE, "paoli-schatzman", restitution=e)["u"][:, 0]
        lowest[e] = float((u[2:] + e * u[:-2]).min() / (1 + e))
    worst = min(lowest.values())
    why = (
        "largest depth [m] of (u_(n+1) + e u_(n-1))/(1 + e), e = 0, 0.8 and 1: the constraint holds for "
        "this mean position in every step, to rounding"
    )
    return Verdict.below(why, max(0.0, -worst), 4 * EPS)


def schatzman_law(runs: Runs) -> Verdict:
    """Decides ``acary-ball-schatzman-law``."""
    worst = {e: law_defect(runs(CASE, "paoli-schatzman", restitution=e)) for e in (PLASTIC, LOSSY, ELASTIC)}
    why = (
        "smallest over e = 0, 0.8, 1 of the largest |v+ + e v-| [m/s] of a step of Schatzman-Paoli with "
        f"an impulse: {worst[PLASTIC]:.2f}, {worst[LOSSY]:.2f}, {worst[ELASTIC]:.2f} m/s"
    )
    return Verdict.above(why, min(worst.values()), LAW)


def schatzman_steps(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Decides ``acary-ball-schatzman-steps``."""
    lengths, three, two = paoli_phases(runs, heights)
    mean = max(three, default=0.0)
    why = (
        f"largest |v_(n+3/2) + e v_(n-1/2)| [m/s] over two closed steps in a row ({mean:.1e} for the mean "
        f"velocities over three), e = 0.5, 0.8, 1, {heights} drop heights; each of the {len(lengths)} "
        f"first and second impacts lasts {min(lengths, default=0)} steps or more"
    )
    return also(min(lengths, default=0) >= 2, Verdict.below(why, max(mean, *two), 8 * EPS / STEP))


def _gain(runs: Runs, forecast: float, heights: int) -> float:
    """Largest energy over that of the drop, less 1; e = 0, 0.8, 1."""
    gain = 0.0
    for run in _drops(runs, forecast, tuple(_SPANS), heights):
        energy = run["kinetic"] + GRAVITY * run["u"][:, 0]
        gain = max(gain, float(energy.max() / energy[0]) - 1)
    return gain


def never_fed(runs: Runs, forecast: float, heights: int = HEIGHTS) -> Verdict:
    """No more energy than at the drop; some hundred sums are rounded."""
    gain = _gain(runs, forecast, heights)
    reason = (
        "tau lifts the ball after an impact in the second half of a step, which is not forecast; Newton's "
        "law acts a step later"
        if gain > 1e-12
        else "where tau lifts, an impulse has stopped the ball in the same step"
    )
    why = (
        f"largest energy over that of the drop, less 1, {heights} drop heights, e = 0, 0.8, 1, forecast "
        f"{forecast:g}: {reason}"
    )
    return Verdict.below(why, gain, 1e-13 * SPEED)


def stable(runs: Runs, heights: int = 3, t_end: float = 100.0) -> Verdict:
    """The energy after a hundred elastic impacts against what a single tau can lift.

    An impact that is not forecast comes in the second half of its step: tau <= h v/2 + g h^2/2.
    """
    h, largest = STEPS[0], []
    for w in FORECASTS:
        rises = []
        for z0 in drop_heights(heights):
            run = runs(CASE, "combined", restitution=ELASTIC, forecast=w, z0=z0, h=h, t_end=t_end, every=1000)
            rise = float(run.results["energy_after_impact"]) / GRAVITY - z0
            rises.append(rise / (h * exact(ELASTIC, z0).impact_speed / 2))
        largest.append(max(rises))
    why = (
        f"largest rise of the energy in {t_end:g} s at e = 1, h = {h:g} s, over m g h v/2, {heights} drop "
        f"heights: {largest[0]:.3f} (forecast 1/2), {largest[1]:.1e} (1). The limit is what one tau can "
        "lift: rises do not add up over the impacts"
    )
    return Verdict.below(why, max(0.0, *largest), 1 + GRAVITY * h / (0.9 * SPEED))


def forecast_matters(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Decides ``acary-ball-forecast``."""
    half, one = (_gain(runs, forecast, heights) for forecast in FORECASTS)
    # An impact of any phase in the second half of a step: tau is up to h v / 2.
    bound = STEP * SPEED / 2
    impacts = [runs(CASE, "combined", restitution=LOSSY, forecast=w).results["impacts"] for w in FORECASTS]
    why = (
        f"energy gained with the forecast over h/2 ({half:.2%} of that of the drop) less that with h "
        f"({one:.1e}), {heights} drop heights, e = 0, 0.8, 1: more than half of what tau <= h v/2 can "
        f"lift; from 1 m at e = 0.8 there are {impacts[0]} and {impacts[1]} impacts in 5 s"
    )
    return Verdict.above(why, half - one, bound / 2)


def _late_speed(run: Run, since: float) -> float:
    late = run["t"] > since
    return float(np.abs(run["v_t"][late]).max())


def plastic_rest(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """From 0.2 s after the impact on.

    The forecast over h may stop the ball up to h v/2 above the ground. It falls again for
    sqrt(h v/g) = 0.07 s, and, stopped too early again, for 0.03, 0.02, 0.01 s ...
    """
    worst = 0.0
    for w in FORECASTS:
        for z0, run in zip(drop_heights(heights), _drops(runs, w, (PLASTIC,), heights)):
            worst = max(worst, _late_speed(run, exact(PLASTIC, z0).first_impact + 0.2))
    why = (
        f"largest speed [m/s] in the lasting contact at e = 0, {heights} drop heights, both forecasts: "
        "with g(u) = 0 at the end of every step the contact stays closed and the impulse carries the "
        "weight"
    )
    return Verdict.below(why, worst, LAW)


def lasting_contact(runs: Runs, forecast: float) -> Verdict:
    """Decides ``acary-ball-rest-half``, ``acary-ball-rest-one``."""
    ball = exact(LOSSY)
    since = ball.t_final + bouncing_ball.rest_tolerance(ball, STEP)
    speeds = [
        _late_speed(runs(CASE, "combined", restitution=LOSSY, forecast=forecast, h=h), since)
        for h in (STEP, STEP / 4)
    ]
    ratios = [speed / (GRAVITY * h) for speed, h in zip(speeds, (STEP, STEP / 4))]
    why = (
        f"largest speed [m/s] at e = 0.8 after {since:.2f} s, long after the rest at {ball.t_final:.2f} "
        f"s, forecast {forecast:g}: it goes on bouncing at {ratios[0]:.2f} g h ({ratios[1]:.2f} g h at "
        "h/4). tau takes the ball out of the ground at the speed e v, so that contact never lasts; "
        "Moreau-Jean, left in the ground, comes to rest"
    )
    return Verdict.below(why, speeds[0], bouncing_ball.RESTING)


def _claim(where: str, name: str, claim: str, judge: Callable[..., Verdict]) -> Claim:
    return Claim(name, CASE, ACARY, where, claim, judge)


_background = partial(_claim, "Background")
_approach = partial(_claim, "The proposed approach")
_SCHATZMAN = "Schatzman-Paoli satisfies the position constraint in discrete time"
_STABLE = "Satisfying the impact law in discrete time gives good stability"
_RESTS = "Spurious oscillations of the velocity are eliminated in lasting contact"

CLAIMS: tuple[Claim, ...] = (
    _background(
        "acary-ball-moreau-drift",
        "Moreau-Jean satisfies Newton's law in every step but drifts in position.",
        drift,
    ),
    _background(
        "acary-ball-schatzman-position-e0",
        f"{_SCHATZMAN} (e = 0).",
        partial(schatzman_position, restitution=PLASTIC),
    ),
    _background(
        "acary-ball-schatzman-position-e08",
        f"{_SCHATZMAN} (e = 0.8).",
        partial(schatzman_position, restitution=LOSSY),
    ),
    _background(
        "acary-ball-schatzman-constraint",
        f"{_SCHATZMAN} (taken as: for the weighted position of its own).",
        schatzman_constraint,
    ),
    _background(
        "acary-ball-schatzman-law",
        "Schatzman-Paoli does not satisfy the impact law in the step.",
        schatzman_law,
    ),
    _background(
        "acary-ball-schatzman-steps",
        "Schatzman-Paoli satisfies the impact law in two or three steps.",
        schatzman_steps,
    ),
    _approach(
        "acary-ball-position",
        "The combined scheme satisfies the position constraint, both forecasts.",
        position,
    ),
    _approach(
        "acary-ball-law",
        "The combined scheme satisfies the impact law at the same time, both forecasts.",
        law,
    ),
    _approach("acary-ball-tau-half", "Tau is of order h (forecast 1/2).", partial(tau_order, forecast=0.5)),
    _approach("acary-ball-tau-one", "Tau is of order h (forecast 1).", partial(tau_order, forecast=1.0)),
    _approach("acary-ball-viability", "The multiplier mu of the position vanishes.", viability),
    _approach(
        "acary-ball-heights-half",
        "The solution of (5) is that of (4): exact bounce heights (forecast 1/2).",
        partial(equivalent, forecast=0.5),
    ),
    _approach(
        "acary-ball-heights-one",
        "The solution of (5) is that of (4): exact bounce heights (forecast 1).",
        partial(equivalent, forecast=1.0),
    ),
    _approach("acary-ball-forecast", "The forecast has a leading part in the behaviour.", forecast_matters),
    _approach(
        "acary-ball-stable-long",
        f"{_STABLE} (taken as: over 100 s at e = 1 the energy rises by m g h v/2 at most).",
        stable,
    ),
    _approach(
        "acary-ball-stability-half",
        f"{_STABLE} (taken as: no energy is ever fed; forecast 1/2).",
        partial(never_fed, forecast=0.5),
    ),
    _approach(
        "acary-ball-stability-one",
        f"{_STABLE} (taken as: no energy is ever fed; forecast 1).",
        partial(never_fed, forecast=1.0),
    ),
    _approach("acary-ball-rest-plastic", f"{_RESTS} (e = 0, both forecasts).", plastic_rest),
    _approach(
        "acary-ball-rest-half", f"{_RESTS} (e = 0.8, forecast 1/2).", partial(lasting_contact, forecast=0.5)
    ),
    _approach(
        "acary-ball-rest-one", f"{_RESTS} (e = 0.8, forecast 1).", partial(lasting_contact, forecast=1.0)
    ),
)
