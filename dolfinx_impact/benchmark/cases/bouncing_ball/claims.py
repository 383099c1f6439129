"""The bouncing ball (1 kg, from 1 m, h = 0.01 s): 'Bouncing ball' and 'Zeno's paradox' of Di Stasio et al."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .... import Contact, System
from ....integrators import Integrator, PositionLevel
from ....integrators.one_step.newmark import Newmark
from ...claim import CSMA, DI_STASIO, Measured, Runs, above, below, equal, listing, row, table
from . import case as bouncing_ball
from . import claims_schemes, figures
from . import measures as m
from .measures import CASE, CD, EPS, GRAVITY, HEIGHTS, LOSSY, MJ, PAOLI, PLASTIC, SPEED, STEP, VELOCITY_LEVEL

_BALL, _CSMA, FIGURES = "Bouncing ball", "Sect. 2.1", figures.FIGURES
FINE = 1e-3  #: A step at which impacts are found close to their times [s].
#: How late the impacts of a flight can be found, in steps: one step, and the way back out of the
#: ground at e times the speed.
LATE = (1 + LOSSY) / LOSSY
LONG = 10.0  #: The end of the runs with steps that end at the impacts [s], long after the ball rests.
_FINAL = m.exact(LOSSY).t_final  #: When the ball rests [s].
_WORK = 20 * EPS * SPEED**2  #: Rounding of some twenty impacts of 20 J at most [J].


class EventDriven(Integrator):
    """Event-driven, for one mass and a constant force: a step that would pass an impact ends there."""

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


class DampedNewmark(Newmark):
    """Newmark's method with gamma = 0.6 and the beta that goes with it, (gamma + 1/2)^2 / 4."""

    def __init__(self, system: System, dt: float, contact: Contact | None = None) -> None:
        super().__init__(system, dt, PositionLevel(contact), beta=0.3025, gamma=0.6, mass="lumped")


DAMPED, EVENTS = (f"{__name__}:{kind.__name__}" for kind in (DampedNewmark, EventDriven))


def _rebound(runs: Runs) -> float:
    run = claims_schemes.carpenter_asked(runs, LOSSY)
    return float(run["v_t"][run["t"] > m.exact(LOSSY).first_impact, 0].max()) / SPEED


def _paoli_rise(runs: Runs, heights: int = HEIGHTS, steps: m.Steps = m.STEPS[:4]) -> Measured:
    """How much higher than the drop the ball gets, over the drop: an impact lifts it by a part of h v."""
    settings = {"restitution": m.ELASTIC, "t_end": 2}
    rises = m.study(runs, PAOLI, lambda r, z0: max(z0, *m.bounces(r)) / z0 - 1, heights, steps, **settings)
    return m.orders({PAOLI: rises}, heights, steps, np.max)


def _same_height(runs: Runs, scheme: str, t_end: float = 1000.0) -> Measured:
    heights = m.bounces(runs(CASE, scheme, restitution=m.ELASTIC, t_end=t_end, every=1000))
    return Measured(float(np.abs(heights - 1).max()), note=f"{len(heights)} bounces in {t_end:g} s")


def _deepest(runs: Runs, heights: int = HEIGHTS) -> dict[str, float]:
    """The first impact from heights that spread it over a step."""
    drops = m.drop_heights(heights, STEP)
    depths = [m.each(runs, m.DEPTH, restitution=m.ELASTIC, z0=z0, t_end=0.6) for z0 in drops]
    return {name: max(of[name] for of in depths) for name in VELOCITY_LEVEL}


def _contact_work(runs: Runs, restitutions: Sequence[float]) -> Measured:
    """Work of the contact against the sum of ``(1 - e) v r / 2``, wherever no impulse acts [J]."""
    worst, largest = 0.0, -np.inf
    for e in restitutions:
        run = runs(CASE, CD, restitution=e)
        r, v, work = run["r"][:, 0], run["v"][:, 0], run["contact"]
        free = np.flatnonzero(r == 0)
        expected = np.cumsum(0.5 * (1 - e) * np.append(0.0, v[:-1]) * r)
        worst = max(worst, float(np.abs(work - expected)[free].max()))
        largest = max(largest, float(np.diff(work[free]).max()))
    return Measured(worst, holds=largest <= _WORK, note=f"Largest work: {largest:.1e} J")


def _detection(runs: Runs, heights: int = HEIGHTS) -> float:
    """Time by which an impact lies outside the step that ends where the scheme looks at the gap [s]."""
    outside = [0.0]
    for z0 in m.drop_heights(heights, STEP):
        starts = m.each(runs, "contact_start", restitution=PLASTIC, z0=z0, t_end=0.6)
        for name, back in ((CD, 0.0), (MJ, STEP / 2)):
            late = (starts[name] or 0.0) - back - m.exact(PLASTIC, z0).first_impact
            outside += [-late, late - STEP]
    return max(outside)


def _lower_before_half(runs: Runs, heights: int = HEIGHTS) -> Measured:
    wrong = lower = 0
    for z0 in m.drop_heights(heights, STEP):
        depths = m.each(runs, m.DEPTH, restitution=PLASTIC, z0=z0, t_end=0.6)
        less = depths[MJ] < depths[CD]
        wrong += less != ((m.exact(PLASTIC, z0).first_impact / STEP) % 1 < 0.5)
        lower += less
    return Measured(float(wrong), note=f"It is less deep for {lower} of {heights}")


def _energy_of_bounces(runs: Runs) -> Measured:
    several = {name: runs(CASE, name, restitution=m.ELASTIC) for name in (*VELOCITY_LEVEL, PAOLI)}
    errors = {name: float(np.abs(m.bounces(run) - 1).max()) for name, run in several.items()}
    position = errors.pop(PAOLI)
    return Measured(errors, holds=position > 1e-3, note=f"Paoli-Schatzman: {position:.3g}")


def impact_times(runs: Runs, scheme: str, count: int) -> np.ndarray:
    """Times of the first impulses of the first contact phases [s]."""
    run = runs(CASE, scheme, restitution=LOSSY, h=FINE)
    closed = run["r"][:, 0] > 0
    return run["t"][1:][closed[1:] & ~closed[:-1]][:count]


def _late(runs: Runs, count: int = 5) -> float:
    true = m.exact(LOSSY).impact_time(np.arange(1, count + 1))
    times = [impact_times(runs, name, count) for name in VELOCITY_LEVEL]
    return max(float(np.abs(np.pad(t, (0, count - len(t))) - true).max()) for t in times)


def _intervals(runs: Runs, count: int = 6) -> Measured:
    """Ratios of successive times between impacts, each off by :data:`LATE` steps at most."""
    times = [np.diff(impact_times(runs, name, count)) for name in VELOCITY_LEVEL]
    ratios = np.concatenate([t[1:] / t[:-1] for t in times])
    last = float(np.diff(m.exact(LOSSY).impact_time([count - 1, count]))[0])
    return Measured(ratios if ratios.size else 1.0, tolerance=(1 + LOSSY) * FINE * LATE / last)


def _rest(runs: Runs, h: float, scheme: str = "") -> Measured:
    """Start of the rest, within what a velocity-level scheme may be early or late [s]."""
    names = (scheme,) if scheme else VELOCITY_LEVEL
    several = {name: runs(CASE, name, restitution=LOSSY, h=h) for name in names}
    rests = {name: float(run.results["rest_time"] or run["t"][-1]) for name, run in several.items()}
    return Measured(rests, tolerance=bouncing_ball.rest_tolerance(m.exact(LOSSY), h))


def _falling_bounces(runs: Runs, count: int = 4) -> Measured:
    """An impact seen late by up to h leaves v_n off by up to g h (1 + e)/e, heights by twice that part."""
    several = [runs(CASE, name, restitution=LOSSY, h=FINE, every=10) for name in VELOCITY_LEVEL]
    heights = [np.array(run.results["heights"][:count]) for run in several]
    ratios = np.concatenate([of[1:] / of[:-1] for of in heights])
    rests = [run.results["rest_time"] or np.inf for run in several]
    tolerance = LOSSY**2 * 4 * GRAVITY * FINE * LATE / (m.exact(LOSSY).impact_speed * LOSSY**count)
    note = f"At rest from {rests[0]:.3f} and {rests[1]:.3f} s on, exact {_FINAL:.3f} s"
    return Measured(ratios if ratios.size else 0.0, tolerance=tolerance, holds=max(rests) < 5, note=note)


def _late_speed(runs: Runs) -> Measured:
    several = {name: runs(CASE, name, restitution=LOSSY) for name in (*VELOCITY_LEVEL, PAOLI)}
    note = "Contacts: " + ", ".join(f"{name} {run.results['impacts']}" for name, run in several.items())
    late = {name: float(np.abs(run["v_t"][run["t"] > 4.75]).max()) for name, run in several.items()}
    return Measured(late, note=note)


def _end(runs: Runs) -> Measured:
    """Time that steps reach which end at the impacts, against equal ones; every sum may be rounded [s]."""
    run = runs(CASE, EVENTS, restitution=LOSSY, t_end=LONG)
    equal = [float(runs(CASE, name, restitution=LOSSY, t_end=LONG)["t"][-1]) for name in VELOCITY_LEVEL]
    steps, impacts = len(run["t"]) - 1, len(np.unique(run["t"][run["r"][:, 0] > 0]))
    note = f"{steps} steps, {impacts} impacts; equal steps reach {min(equal):g} s"
    return Measured(float(run["t"][-1]), tolerance=steps * EPS * _FINAL, holds=min(equal) > _FINAL, note=note)


def _last_step(runs: Runs) -> Measured:
    run = runs(CASE, EVENTS, restitution=LOSSY, t_end=LONG)
    flights = np.diff(run["t"][run["r"][:, 0] > 0])[:20]
    note = f"Flights shorten by {listing(flights[1:3] / flights[:2])} ...; equal steps stay {STEP:g} s"
    return Measured(float(np.diff(run["t"])[-1]), note=note)


_CLAIMS = table(CASE, DI_STASIO, [
    row("distasio-ball-no-limit", _BALL, "There are no stability issues at a large step.",
        lambda runs: [max(m.each(runs, m.ENERGY, restitution=0.0, h=k * STEP).values()) for k in (1, 3, 10)],
        below(m.DROP), "energy [J] after the impact, at most that of the drop, e = 0, h to 0.1 s"),
    row("distasio-fig03-carpenter", "Fig. 3", "Carpenter (explicit) is exact at e = 0.",
        m.by_coefficient, below(1e-13), "largest distance [m] from the exact position over 5 s; rounding",
        scheme=m.CARPENTER, of=m.off_exact, es=(PLASTIC,)),
    row("distasio-fig03-implicit", "Fig. 3", "Carpenter's implicit scheme is unstable at the impact.",
        m.each, above(m.DROP), "energy [J] after the impact, above the drop: the reaction acts once more",
        result=m.ENERGY, several=("carpenter-implicit",), restitution=PLASTIC),
    row("distasio-ball-newmark", _BALL, "Other implicit Newmark schemes at position level are unstable, too.",
        m.each, above(m.DROP), "energy [J] after the impact, gamma = 0.6, beta = 0.3025, above the drop",
        result=m.ENERGY, several=(DAMPED,), restitution=PLASTIC),
    row("distasio-ball-carpenter-plastic", _BALL, "Carpenter's condition on the position takes e = 0 only.",
        _rebound, below(m.LAW / SPEED), "speed upwards over that of the impact where e = 0.8 is asked for"),
    row("distasio-fig04-height", "Fig. 4",
        "Paoli-Schatzman sometimes bounces higher than the drop at e = 1: the impact injects energy.",
        lambda runs: m.bounces(runs(CASE, PAOLI, restitution=1.0)).max(), above(1 + 1e-12), "height [m]"),
    row("distasio-ball-carpenter-energy", _BALL, "Carpenter, too, is not satisfying in energy.",
        claims_schemes.carpenter_loss, above(1e-12), "part of the energy lost where e = 1 is asked for"),
    row("distasio-ball-paoli-step", _BALL, "The energy gained by Paoli-Schatzman decreases with the step.",
        _paoli_rise, equal(1.0), "order of the largest rise over drop heights, e = 1"),
    row("distasio-fig05", "Fig. 5", "The ball always reaches the same height at e = 1.", _same_height,
        below(1e-11), "largest difference [m] between drop and bounce; rounding adds up", per=VELOCITY_LEVEL),
    row("distasio-fig05-penetration", "Fig. 5", "At e = 1 both schemes penetrate at the impact (in general).",
        _deepest, above(1e-12), "depths [m] over drop heights; Moreau-Jean only after the middle"),
    row("distasio-fig05-penetration-one", "Fig. 5", "At e = 1 both penetrate at the impact (from 1 m).",
        m.each, above(1e-12), "depths [m]; the impact comes before the middle: Moreau-Jean forecasts it",
        result=m.DEPTH, restitution=m.ELASTIC),
    row("distasio-ball-work-elastic", _BALL, "The work of the contact of CD-Lagrange is null for e = 1.",
        _contact_work, below(_WORK), "largest work [J]; rounding", restitutions=(m.ELASTIC,)),
    row("distasio-ball-work-lossy", _BALL, "For e < 1 the work of the contact is (1 - e) v r / 2 <= 0.",
        _contact_work, below(_WORK), "largest difference [J] from that; rounding", restitutions=(0.5, LOSSY)),
    row("distasio-fig07-visible", "Fig. 7", "At e = 0 the residual penetration is clearly visible.",
        m.each, above(0.01), "depths [m], above 1 % of the drop", result=m.DEPTH, restitution=PLASTIC),
    row("distasio-fig07-larger", "Fig. 7", "The residual penetration is larger with CD-Lagrange.",
        lambda runs: -np.diff([*m.each(runs, m.DEPTH, restitution=PLASTIC).values()])[0], above(0.0),
        "depth of CD-Lagrange less that of Moreau-Jean [m], e = 0"),
    row("distasio-ball-detection", _BALL, "Moreau-Jean sees the impact at t_(n+1/2), CD-Lagrange at t_(n+1).",
        _detection, below(GRAVITY * STEP**2 / 8 / (0.9 * SPEED)),
        "time [s] by which an impact lies outside the step that ends there; forecasts are g h^2/8 too high"),
    row("distasio-ball-lower", _BALL, "Moreau-Jean is less deep only for impacts before t_(n+1/2).",
        _lower_before_half, below(0.0), "drop heights at which it is the other way round, e = 0"),
    row("distasio-fig09", "Fig. 9", "The order is one with impacts.", m.with_impact, equal(1.0),
        "order of the position, norm (35), e = 0.8, mean over drop heights", per=VELOCITY_LEVEL),
    row("distasio-ball-velocity", "Bouncing ball, Concluding remarks",
        "Only at velocity level, which suits impacts better, the impact is consistent in energy.",
        _energy_of_bounces, below(1e-13), "error of the energy after an impact over that of the drop, e = 1"),
    row("distasio-ball-intervals", _BALL, "For e < 1 the time between two impacts decreases.",
        _intervals, equal(LOSSY), "ratios of successive times between the first 6 impacts, h = 0.001 s"),
    row("distasio-ball-impact-times", _BALL, "The impacts come at the times of the formula.",
        _late, below(5 * FINE * LATE), "distance [s] of the first 5 impacts; (1 + e)/e steps for each"),
    row("distasio-ball-stopping-time", _BALL, "The ball stops at t_final.",
        _rest, equal(_FINAL), "time [s] from which it is slower than 1 mm/s, h = 0.001 s", h=FINE),
    row("distasio-fig06", "Fig. 6", "Zeno's paradox at e = 0.8 is passed.", _rest, equal(_FINAL),
        "time [s] from which it is slower than 1 mm/s, h = 0.01 s", h=STEP, per=VELOCITY_LEVEL),
    row("distasio-ball-event-driven", _BALL, "Event-driven schemes cannot represent infinitely many impacts.",
        _end, equal(_FINAL), "time [s] that steps reach which end at the impacts"),
    row("distasio-ball-time-stepping", _BALL, "Time-stepping schemes handle infinitely many impacts.",
        _late_speed, below(bouncing_ball.RESTING), "speed [m/s] after 4.75 s, past the accumulation"),
    row("csma-ball-stop", _CSMA, "For 0 < e < 1 the bounces decrease until the ball stops, in finite time.",
        _falling_bounces, equal(LOSSY**2), "ratios of successive bounce heights, h = 0.001 s", paper=CSMA),
    row("csma-ball-event-driven", _CSMA, "Event-driven schemes fail for 0 < e < 1: their step tends to 0.",
        _last_step, below(EPS * _FINAL), "last step [s]; rounding of time", paper=CSMA),
    row("csma-ball-constant-step", _CSMA, "Time-stepping treats several impacts within one constant step.",
        _late_speed, below(bouncing_ball.RESTING), "speed [m/s] after 4.75 s, 500 steps", paper=CSMA),
])  # fmt: skip
CLAIMS = _CLAIMS + claims_schemes.CLAIMS
