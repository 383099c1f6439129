"""What the papers say of the infinitely many impacts that end the bouncing: 'Zeno's paradox'.

Di Stasio et al. (2019), 'Bouncing ball' and Remark 2, and section 2.1 of their French paper: when the
impacts come, when the ball rests, and what becomes of schemes whose steps end at the impacts. The ball
of 1 kg falls from 1 m, e = 0.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ....contact.base import Contact
from ....integrators.base import Integrator
from ....systems.system import System
from ...claim import CSMA, DI_STASIO, Claim
from ...runs import Run, Runs
from ...verdict import Verdict, also
from . import case as bouncing_ball
from .claims_schemes import EPS, LOSSY, farthest, listed
from .figures import CASE, GRAVITY, STEP, VELOCITY_LEVEL, exact

#: A step at which impacts are found close to their times [s].
FINE = 1e-3
#: How late the impacts of a flight can be found, in steps: one step, and the way back out of the
#: ground at e times the speed.
LATE = (1 + LOSSY) / LOSSY
#: The end of the runs with steps that end at the impacts [s], long after the ball rests.
LONG = 10.0


class EventDriven(Integrator):
    """An event-driven scheme for one mass that a constant force drives to the ground.

    A step that would pass an impact ends there; the next one starts with the velocity of Newton's law.
    """

    def __init__(self, system: System, dt: float, contact: Contact) -> None:
        super().__init__(system, dt, contact)
        self._now, self._f = 0.0, np.zeros(system.size)

    @property
    def t(self) -> float:
        """Time of ``u`` [s], the sum of steps of many lengths."""
        return self._now

    def begin(self) -> None:
        """From ``t0`` on."""
        self._now = self.t0

    def advance(self) -> None:
        """``z + v s + a s^2/2`` up to the end of the step, or to its zero if that comes before."""
        assert self.contact is not None
        self.system.force(self.t, self.u, self.v, self._f)
        mobility = self.system.inverse_mass[0]
        a, z, v = self._f[0] * mobility, self.gap()[0], self.v[0]
        speed = np.sqrt(v**2 - 2 * a * z)
        length = min(self.dt, (v + speed) / -a)
        if length < self.dt:
            self.u[0] -= z
            self.v[0] = self.contact.restitution * speed
            self.r[0] = (self.v[0] + speed) / mobility
        else:
            self.u[0] += length * v + a * length**2 / 2
            self.v[0] += length * a
            self.r[0] = 0.0
        self._now += length


EVENTS = f"{__name__}:{EventDriven.__name__}"


def impact_times(run: Run, count: int) -> np.ndarray:
    """Times of the first impulses of the first contact phases [s]."""
    closed = run["r"][:, 0] > 0
    return run["t"][1:][closed[1:] & ~closed[:-1]][:count]


def impacts_of_formula(runs: Runs, count: int = 5) -> Verdict:
    """Decides ``distasio-ball-impact-times``."""
    true = exact(LOSSY).impact_time(np.arange(1, count + 1))
    worst = 0.0
    for name in VELOCITY_LEVEL:
        found = impact_times(runs(CASE, name, restitution=LOSSY, h=FINE), count)
        found = np.concatenate([found, np.zeros(count - len(found))])
        worst = max(worst, float(np.abs(found - true).max()))
    why = (
        f"largest distance [s] of the first {count} impacts of CD-Lagrange and Moreau-Jean from the "
        f"formula, e = 0.8, h = {FINE:g} s; each may be found a step late and shift the next by (1 + e)/e "
        "steps"
    )
    return Verdict.below(why, worst, count * FINE * LATE)


def intervals(runs: Runs, count: int = 6) -> Verdict:
    """Decides ``distasio-ball-intervals``."""
    ratios: list[float] = []
    for name in VELOCITY_LEVEL:
        times = np.diff(impact_times(runs(CASE, name, restitution=LOSSY, h=FINE), count))
        ratios += list(times[1:] / times[:-1])
    last = float(np.diff(exact(LOSSY).impact_time([count - 1, count]))[0])
    why = (
        f"ratio of successive times between impacts that is farthest from e = 0.8, first {count} impacts "
        f"of CD-Lagrange and Moreau-Jean, h = {FINE:g} s; a time may be off by (1 + e)/e "
        "steps"
    )
    return Verdict.equal(why, farthest(ratios or [1.0], LOSSY), LOSSY, (1 + LOSSY) * FINE * LATE / last)


def stops(runs: Runs, schemes: Sequence[str], h: float) -> Verdict:
    """Rest against the accumulation point, within what a velocity-level scheme may be early or late."""
    ball, rests = exact(LOSSY), {}
    for name in schemes:
        run = runs(CASE, name, restitution=LOSSY, h=h)
        rests[name] = float(run.results["rest_time"] or run["t"][-1])
    tolerance = bouncing_ball.rest_tolerance(ball, h)
    why = (
        f"time [s] from which the speed stays below {bouncing_ball.RESTING:g} m/s, e = 0.8, h = {h:g} s: "
        f"{listed(rests)}; exact {ball.t_final:.4f}. Each impact may be found a step late, until the "
        "flights are shorter than a step"
    )
    return Verdict.equal(why, farthest(list(rests.values()), ball.t_final), ball.t_final, tolerance)


def falling_bounces(runs: Runs, h: float = FINE) -> Verdict:
    """An impact seen late by up to h leaves v_n off by up to g h (1 + e)/e, heights by twice that part."""
    ball, count = exact(LOSSY), 4
    ratios, rests = [], []
    for name in VELOCITY_LEVEL:
        run = runs(CASE, name, restitution=LOSSY, h=h, every=10)
        heights = np.array(run.results["heights"][:count])
        ratios += list(heights[1:] / heights[:-1])
        rests.append(run.results["rest_time"] or np.inf)
    slowest = ball.impact_speed * LOSSY**count
    tolerance = LOSSY**2 * 4 * GRAVITY * h * (1 + LOSSY) / LOSSY / slowest
    why = (
        f"ratio of successive bounce heights farthest from e^2 = 0.64, first {count} bounces, h = {h:g} "
        f"s, CD-Lagrange and Moreau-Jean; they rest from {rests[0]:.3f} and {rests[1]:.3f} s on (exact "
        f"{ball.t_final:.3f} s)"
    )
    return also(max(rests) < 5, Verdict.equal(why, farthest(ratios or [0.0], LOSSY**2), LOSSY**2, tolerance))


def time_stepping(runs: Runs) -> Verdict:
    """Infinitely many impacts come before 4.06 s."""
    several = [runs(CASE, name, restitution=LOSSY) for name in (*VELOCITY_LEVEL, "paoli-schatzman")]
    late = max(float(np.abs(run["v_t"][run["t"] > 4.75]).max()) for run in several)
    contacts = ", ".join(f"{run.summary['scheme']} {run.results['impacts']}" for run in several)
    why = (
        "largest speed [m/s] after 4.75 s at e = 0.8: at rest past the accumulation of impacts at "
        f"{exact(LOSSY).t_final:.4f} s by 500 equal steps with this many contacts: "
        f"{contacts}"
    )
    return Verdict.below(why, late, bouncing_ball.RESTING)


def never_passes(runs: Runs) -> Verdict:
    """Steps that end at the impacts against as many equal ones; every sum of a step may be rounded."""
    run, ball = runs(CASE, EVENTS, restitution=LOSSY, t_end=LONG), exact(LOSSY)
    equal = [float(runs(CASE, name, restitution=LOSSY, t_end=LONG)["t"][-1]) for name in VELOCITY_LEVEL]
    steps, impacts = len(run["t"]) - 1, len(np.unique(run["t"][run["r"][:, 0] > 0]))
    why = (
        f"time [s] that {steps} steps reach which end at the impacts: the accumulation point, within "
        f"rounding; after {impacts} impacts the steps no longer add to the time. As many equal steps of "
        f"CD-Lagrange and Moreau-Jean reach {min(equal):g} s"
    )
    tolerance = steps * EPS * ball.t_final
    return also(min(equal) > ball.t_final, Verdict.equal(why, float(run["t"][-1]), ball.t_final, tolerance))


def vanishing_step(runs: Runs) -> Verdict:
    """A step below the rounding of the time is none."""
    run, ball = runs(CASE, EVENTS, restitution=LOSSY, t_end=LONG), exact(LOSSY)
    flights = np.diff(run["t"][run["r"][:, 0] > 0])[:20]
    ratio = farthest(list(flights[1:] / flights[:-1]) or [1.0], LOSSY)
    why = (
        f"length [s] of the last of {len(run['t']) - 1} steps that end at the impacts, e = 0.8, against "
        f"the rounding of the time: every flight is {ratio:.6g} times the one before; equal steps "
        f"stay {STEP:g} s"
    )
    return Verdict.below(why, float(np.diff(run["t"])[-1]), EPS * ball.t_final)


def _claim(paper: str, where: str, name: str, claim: str, judge: Callable[..., Verdict]) -> Claim:
    return Claim(name, CASE, paper, where, claim, judge)


_section = partial(_claim, DI_STASIO, "Bouncing ball")
_csma = partial(_claim, CSMA, "Sect. 2.1")

CLAIMS: tuple[Claim, ...] = (
    _section("distasio-ball-intervals", "For e < 1 the time between two impacts decreases.", intervals),
    _section(
        "distasio-ball-impact-times", "The impacts come at the times of the formula.", impacts_of_formula
    ),
    _section(
        "distasio-ball-stopping-time",
        "The ball stops at t_final.",
        partial(stops, schemes=VELOCITY_LEVEL, h=FINE),
    ),
    _claim(
        DI_STASIO,
        "Fig. 6",
        "distasio-fig06-cd-lagrange",
        "CD-Lagrange passes Zeno's paradox at e = 0.8.",
        partial(stops, schemes=("cd-lagrange",), h=STEP),
    ),
    _claim(
        DI_STASIO,
        "Fig. 6",
        "distasio-fig06-moreau-jean",
        "Moreau-Jean passes Zeno's paradox at e = 0.8.",
        partial(stops, schemes=("moreau-jean",), h=STEP),
    ),
    _section(
        "distasio-ball-event-driven",
        "Event-driven schemes cannot represent infinitely many impacts in a finite time.",
        never_passes,
    ),
    _section(
        "distasio-ball-time-stepping",
        "Time-stepping schemes handle infinitely many impacts in a finite time.",
        time_stepping,
    ),
    _csma(
        "csma-ball-stop",
        "For 0 < e < 1 height and duration of the bounces decrease until the ball stops, in finite time.",
        falling_bounces,
    ),
    _csma(
        "csma-ball-event-driven",
        "Event-driven schemes fail for 0 < e < 1: their time step tends to zero.",
        vanishing_step,
    ),
    _csma(
        "csma-ball-constant-step",
        "Time-stepping schemes treat several impacts within one constant step.",
        time_stepping,
    ),
)
