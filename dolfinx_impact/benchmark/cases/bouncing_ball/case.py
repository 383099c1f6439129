"""The ball that bounces on rigid ground: Di Stasio et al. (2019), case 1; Acary and Bonnefon (2011)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import DofBound, PointMasses, Result
from ....algebra import kernels
from ....exact import BouncingBall
from ....integrators import Option, Scheme, find_scheme
from ...case import COMMON, EXPLICIT, SINGLE, Case, Problem, Results, Setup, Values, contact_law
from ...run_log import RunLog, Steps
from ...verdict import Verdict, Verdicts

PARAMETERS = {
    "m": Option(1.0, "kg", "mass", interval="(0, inf)"),
    "gravity": Option(9.81, "m/s2", "acceleration downwards", interval="(0, inf)"),
    "z0": Option(1.0, "m", "height at t = 0", interval="[0, inf)"),
    "v0": Option(0.0, "m/s", "velocity upwards at t = 0"),
    "restitution": Option(0.8, "-", "Newton's coefficient of the ground", interval="[0, 1]"),
    **COMMON,
    "courant": Option(None, "-", "refused: the ball has no critical step, give h"),
    "h": Option(1e-2, "s", "time step"),
    "t_end": Option(5.0, "s", "end time"),
}
RESTING = 1e-3  #: A ball slower than this rests [m/s].


def exact(p: Values) -> BouncingBall:
    """The solution for the parameters of a run."""
    return BouncingBall(p["m"], p["gravity"], p["z0"], p["v0"], p["restitution"])


class BallLog(RunLog):
    """The log of every step with the flights between impacts.

    Attributes:
        heights: Largest position of each flight between two impacts [m], of the last one if past its top.
        rest_time: From when on the ball was slower than :data:`RESTING` [s]; None for never.
        rebound_defect: Largest ``|v + e v_before|`` of the steps with an impulse [m/s].
        energy: Largest energy after the first impact, of motion and height [J]; 0 without impact.
    """

    state_names = (*RunLog.state_names, "heights", "_state")

    def _prepare(self, setup: Any, p: Values) -> None:
        self.heights: list[float] = []
        self._flights = kernels.jit(_follow_flights)
        self._ball = np.array([p["restitution"], p["m"], p["gravity"]])
        #: z and v of the step before, top of the flight, hit, resting since, defect, energy.
        self._state = np.array([-np.inf, np.nan, np.nan, 0.0, np.nan, 0.0, 0.0])

    def _follow(self, steps: Steps) -> None:
        n, tops = steps.count, np.zeros(steps.count)
        motion = np.array([values[:n, 0] for values in (steps.u, steps.v, steps.v_t, steps.r)])
        count = self._flights(steps.t[:n], motion, self._ball, self._state, tops)
        self.heights += map(float, tops[:count])

    def _close(self) -> None:
        z, _, top, _, resting, self.rebound_defect, self.energy = map(float, self._state)
        self.rest_time = None if np.isnan(resting) else resting
        if top > 0 and z < top:  # a flight past its top counts
            self.heights.append(top)
            self._state[2] = np.nan


def _follow_flights(t: NDArray, motion: NDArray, ball: NDArray, state: NDArray, tops: NDArray) -> int:
    """Follow the flights; the heights of those that end go into ``tops``, their number is returned."""
    z, v, v_t, r = motion[0], motion[1], motion[2], motion[3]
    e, m, gravity = ball
    last, v_before, top, hit, resting, defect, energy = state
    count = 0
    for i in range(z.size):
        if r[i] > 0.0:
            if top > 0.0:
                tops[count] = top
                count += 1
            top, hit = np.nan, 1.0
            if v_before == v_before:
                defect = max(defect, abs(v[i] + e * v_before))
        elif hit > 0.0:
            top = max(top, z[i]) if top == top else z[i]
        if hit > 0.0:
            energy = max(energy, m * (0.5 * v_t[i] ** 2 + gravity * z[i]))
        if abs(v_t[i]) >= RESTING:
            resting = np.nan
        elif resting != resting:
            resting = t[i]
        last, v_before = z[i], v[i]
    state[0], state[1], state[2], state[3] = last, v_before, top, hit
    state[4], state[5], state[6] = resting, defect, energy
    return count


def _resting(kind: str, results: Values, ball: BouncingBall, result: Result, p: Values) -> Verdicts:
    """The scheme passes the accumulation point, and what is left is the depth of one impact."""
    h, e, tolerance = p["h"], ball.restitution, rest_tolerance(ball, p["h"])
    if e == 1 or p["t_end"] < ball.t_final + tolerance:
        return
    if kind != "velocity" and e > 0:
        # A correction of the position lifts the ball by up to h v, which adds up to g h to the next
        # impact speed: w' <= e w + g h. It never rests.
        speed = float(abs(result["v_t"][result["t"] >= ball.t_final + tolerance, 0]).max(initial=0.0))
        words = "past the accumulation point it bounces no faster than g h / (1 - e) [m/s]"
        yield Verdict.below(words, speed, ball.gravity * h / (1 - e))
        return
    rests = results["rest_time"] is not None
    rest = results["rest_time"] if rests else p["t_end"]
    words = "the ball rests from the accumulation point on [s]"
    yield Verdict.equal(words, rest, ball.t_final, tolerance).only_if(rests)
    # A step makes up to h v before the ball is seen to be in the ground.
    depth = h * (ball.impact_speed + h * ball.gravity)
    yield Verdict.below("it rests within the depth h v of an impact [m]", results["final_position"], depth)


def rest_tolerance(ball: BouncingBall, h: float) -> float:
    """How far from the accumulation point a velocity-level scheme may come to rest [s].

    An impact seen d <= h late takes d and the way back out of the ground, d/e, and loses the speed
    g d (1/e - e): the rest comes d (1 + e)/e earlier, for each of the N flights longer than h. Then the ball
    stays in the ground and loses a part 1 - e of its speed g h a step until it is below :data:`RESTING`.
    """
    e, g = ball.restitution, ball.gravity
    if e in (0.0, 1.0):
        return 2 * h
    decay = -math.log(e)
    flights = 1 + max(0.0, math.log(2 * max(ball.impact_speed, g * h) / (g * h)) / decay)
    slow = 1 + max(0.0, math.log(g * h / RESTING) / decay)
    return h * (flights * (1 + e) / e + slow) + 2 * RESTING / (g * (1 - e))


def _position_verdicts(scheme: str, ball: BouncingBall, log: BallLog, result: Result) -> Verdicts:
    """Arguments of Di Stasio et al. (2019), Figures 3 and 4, for and against the position level."""
    e = ball.restitution
    if scheme == "paoli-schatzman" and e == 1 and log.heights:
        words = "impacts feed energy: it rises above its first height [m]"
        yield Verdict.above(words, max(log.heights), ball.top * (1 + 1e-9))
    if scheme in ("carpenter", "paoli-schatzman") and e == 0:
        away = float(abs(result["u"][:, 0] - ball.position(result["t"])).max())
        yield Verdict.below("the scheme follows the exact solution [m]", away, 1e-11 * ball.top)
    if scheme == "carpenter-implicit":
        words = "the scheme is unstable at the impact: energy left, none is due [J]"
        yield Verdict.above(words, log.energy, 1e-3 * float(ball.energy(0.0)))


class Ball(Case):
    """A point mass falls on rigid ground and bounces.

    Below e = 1 its impacts accumulate in finite time, after which it must rest.
    """

    parameters, schemes = PARAMETERS, SINGLE
    balance_limits = (1e-12, 1e-12)
    log_type = BallLog
    no_critical_step = "a ball without a spring has no critical time step"

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """The ball and the ground."""
        load, length = [-p["m"] * p["gravity"]], exact(p).top or 1.0
        ball = PointMasses(p["m"], load=load, labels=["z"], length=length)
        ground = DofBound(ball, 0, lower=0.0, **contact_law(p))
        state = {"u0": p["z0"], "v0": p["v0"]}
        return Setup(system=ball, contact=ground, record=ball.rows(), **state)

    def measure(self, run: Problem) -> Results:
        """Heights, rest and impacts."""
        names = ("heights", "rest_time", "contact_start", "impulse_sum", "rebound_defect")
        others = {"impacts": run.log.contact_phases, "energy_after_impact": run.log.energy}
        return {**run.log.numbers(*names), "final_position": float(run.integrator.u[0]), **others}

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether the ball bounces, rests and stays above the ground as its scheme should let it."""
        p, log, results = run.p, run.log, run.results
        if log.contact_start is None:
            return
        ball, kind, e = exact(p), find_scheme(run.scheme).contact_level, p["restitution"]
        if "velocity" in kind:
            words = "Newton's impact law holds in every step [m/s]"
            limit = 1e-14 * max(1.0, ball.impact_speed)
            yield Verdict.below(words, log.rebound_defect, limit)
            yield from _resting(kind, results, ball, run.result, p)
        if "position" in kind and (e == 0 or "velocity" in kind):
            words, limit = "the ball never penetrates [m]", 1e-13 * max(1.0, ball.top)
            yield Verdict.below(words, results["penetration_max"], limit)
        if kind == "velocity" and e == 1 and log.heights:
            worst = max(abs(height - log.heights[0]) for height in log.heights)
            yield Verdict.below("the ball always reaches the same height [m]", worst, 1e-11 * ball.top)
        yield from _position_verdicts(run.scheme, ball, log, run.result)
