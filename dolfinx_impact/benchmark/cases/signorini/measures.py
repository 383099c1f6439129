"""Measures of the claims of Doyen, Ern and Piperno (2011), on runs and on schemes that are stepped here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .... import Contact, System
from ....integrators.impulses.contact_laws import PositionLevel
from ....integrators.one_step.theta_method import ThetaMethod
from ... import runner
from ...claim import FailedRun, Measured, Run, Runs, listing
from ...convergence import order
from .case import NO_FORCE, SIGNORINI_BOUNCES, SIGNORINI_IMPACT, exact, front_spread

IMPACT, BOUNCES = "signorini-impact", "signorini-bounces"
BAR, BOUNCING = (
    exact({name: option.default for name, option in case.parameters.items()})
    for case in (SIGNORINI_IMPACT, SIGNORINI_BOUNCES)
)
#: Elements, force of the continuous bar and jump of its stress [N], impact speed [m/s], energy before the
#: impact [J], time by which dispersion spreads the front [s].
N, FORCE, SPEED = 100, BAR.E * BAR.v0 / BAR.wave_speed, BAR.impact_speed
ENERGY, SPREAD = BAR.rho * BAR.length * SPEED**2 / 2, front_spread(BAR, N)
#: Phases of one impact and of the longer bounces: parts of a step after which the bar touches.
PARTS, FEW = tuple(k / 9 for k in range(9)), (0.0, 3 / 9, 6 / 9)
#: A force oscillates at large above this part of FORCE; what the mesh leaves behind the front is below 1 %.
LARGE = 0.1
LOST = 1 / N  #: Energy counts as lost above that of one element, which the mesh cannot resolve.
ROUNDING = 1e-11  #: Rounding of an energy over the initial one.
#: Width at which the bisection ends. Just above the limit, 1 + d, a mode grows by 1 + 2 sqrt(2 d) a step:
#: e^10 in the 200 steps of contact takes d = 3e-4.
WIDTH = 1e-3
CORRECTED = f"{__name__}:VelocityUpdate"
HHT: dict[str, Any] = {"alpha": -0.2}
THETAS = (0.6, 0.75, 1.0)


class VelocityUpdate(ThetaMethod):
    """4.4 with the velocity update of Laursen and Love (2002), which gives back what contact took.

    ``v += w M^-1 L^T`` with ``w L v + w^2 L M^-1 L^T / 2 = -r' . dg``, the energy of the step.
    """

    explicit = False

    def __init__(self, system: System, dt: float, contact: Contact | None = None) -> None:
        super().__init__(system, dt, PositionLevel(contact), theta=0.5, mass="consistent")
        self._unit = np.zeros(system.size)
        pull = np.zeros(system.size)
        assert contact is not None
        contact.L.add_transpose(np.ones(1), pull)
        system.implicit_solver(0.0, self.mass).solve(pull, self._unit)

    def advance(self) -> None:
        """One step."""
        super().advance()
        assert self.contact is not None
        rows = self.contact.L
        lost = -float(self.r @ rows(self.u - self.u_before)) / self.dt
        if lost > 0:
            speed, answer = float(rows(self.v)[0]), float(rows(self._unit)[0])
            self.v += self._unit * (np.sqrt(speed**2 + 2 * answer * lost) - speed) / answer


def phases(runs: Runs, scheme: str, case: str = IMPACT, parts: Any = None, **settings: Any) -> list[Run]:
    """Runs whose first impact comes at different parts of a step, by default :data:`PARTS`."""
    way = SPEED * runs(case, scheme, **settings).results["h"]
    return [runs(case, scheme, h0=BAR.h0 + part * way, **settings) for part in parts or PARTS]


def bounces(runs: Runs, scheme: str, places: int = 2, **settings: Any) -> list[Run]:
    """Four periods from higher and higher; the later impacts fall wherever they come."""
    return phases(runs, scheme, BOUNCES, [k / places for k in range(places)], **settings)


def periodic_bounces(runs: Runs, scheme: str) -> list[Run]:
    """Four periods at shorter and shorter steps, so that the first impact, at 1 s, falls at :data:`FEW`."""
    first = runs(BOUNCES, scheme)
    steps = round(1 / first.results["h"])
    return [first, *(runs(BOUNCES, scheme, h=1 / (steps + part)) for part in FEW[1:])]


def of(found: Sequence[Run], name: str) -> NDArray:
    """A result of each run."""
    return np.array([run.results[name] for run in found], dtype=np.float64)


def after_periods(runs: Runs, scheme: str, name: str = "energy_change_4") -> NDArray:
    """A result of the periodic bounces."""
    return of(periodic_bounces(runs, scheme), name)


def mean(values: NDArray | Sequence[float], note: str = "") -> Measured:
    """The mean of values at several phases, with their range."""
    return Measured(float(np.mean(values)), note=f"{np.min(values):.3g} to {np.max(values):.3g}{note}")


def fitted(steps: Any, found: Any, note: str = "") -> Measured:
    """The order of what was found in the steps, or in another parameter."""
    return Measured(order(steps, np.maximum(found, 1e-15)), note=f"{listing(found)}{note}")


def force(run: Run) -> NDArray:
    """Contact force at every step [N]."""
    return run["r"][:, 0] / run.results["h"]


def first_contact(run: Run) -> int:
    """The first step with a force."""
    return int(np.flatnonzero(force(run) > NO_FORCE * FORCE)[0])


def in_contact(run: Run) -> NDArray:
    """Samples of the exact contact phase, less 0.1 s at both ends."""
    return (run["t"] > BAR.contact_start + 0.1) & (run["t"] < BAR.contact_end - 0.1)


def oscillation(runs: Runs, scheme: str, **settings: Any) -> NDArray:
    """RMS deviation of the contact force from the exact one, over the latter, at all phases."""
    return of(phases(runs, scheme, **settings), "force_oscillation") / FORCE


def strained(runs: Runs, scheme: str) -> NDArray:
    """Elastic energy at the end of an impact over the initial energy, at all phases."""
    return np.array([run["internal"][-1] / ENERGY for run in phases(runs, scheme)])


def late_error(run: Run) -> float:
    """Mean error of the bottom in the fourth period over that of a bar resting at its mean height."""
    late = run["t"] > 3 * BOUNCING.period
    true = BOUNCING.displacement(0.0, run["t"][late])
    return float(np.mean(np.abs(run["u"][late, 0] - true)) / np.mean(np.abs(true - true.mean())))


def kept(run: Run) -> NDArray:
    """``E - F.u`` of the scheme less that at the start, over the energy of the impact, at all samples."""
    terms = [run[name] for name in ("kinetic", "complementary", "internal")]
    energy = np.sum(terms, axis=0) - run["external"]
    return (energy - energy[0]) / ENERGY


def force_work(run: Run, mean: bool) -> NDArray:
    """Work ``f.dg`` of every step [J]; f is the ``mean (r' + r)/2``, else ``r'``."""
    r = force(run)
    return ((r[1:] + r[:-1]) / 2 if mean else r[1:]) * np.diff(run["gap"][:, 0])


def balance_miss(run: Run, mean: bool, quasi: bool = False) -> float:
    """Largest defect of ``E' - E - F.du = f.dg`` over the largest energy; ``quasi``: E of (16)."""
    stored = run["kinetic"] + run["internal"] + (run["complementary"] if quasi else 0.0)
    miss = np.diff(stored) - np.diff(run["external"]) - force_work(run, mean)
    return float(np.max(np.abs(miss)) / stored.max())


def chosen(runs: Runs, scheme: str) -> str:
    """The scheme in the place of one that is stepped here, once it is known to be chosen and to run."""
    runs(IMPACT, scheme)
    return runs.scheme(scheme)


def built(name: str, unstable: bool = False, case: str = IMPACT, **settings: Any) -> Any:
    """A case with a scheme, started; settings that the scheme does not know are left out."""
    entry = runner.find(case, name)
    known = runner.options_of(entry, name)
    given = [f"{key}={value}" for key, value in settings.items() if key in known]
    try:
        return entry.make(name, runner.parse(entry, name, given), unstable).integrator
    except ValueError as error:
        raise FailedRun(str(error)) from None


def at_phases(runs: Runs, scheme: str, touching: bool = False, **settings: Any) -> Iterator[Any]:
    """The scheme with the bar just above the ground, or in its first step of contact, at all phases."""
    s = built(chosen(runs, scheme), **settings)
    for part in PARTS:
        s.start(SPEED * s.dt * (1 + part), -SPEED)
        while touching and not s.r[0] > NO_FORCE * FORCE * s.dt:
            s.step()
        yield s


class Flight(NamedTuple):
    """A free bar that vibrates, at every step."""

    amplitude: NDArray  #: Of the mode [m].
    energy: NDArray  #: ``E - F.u`` [J], and the form of (16) less F.u.
    quasi: NDArray
    omega: float  #: Frequency of the mode on this mesh [1/s].
    h: float


def fly(runs: Runs, scheme: str, mode: int | None, courant: float, steps: int, **more: Any) -> Flight:
    """A bar far above the ground, let go in a mode of its mesh, or with all of them (None)."""
    g0, h = more.pop("g0", BOUNCING.g0), courant * BAR.length / N / BAR.wave_speed
    s = built(chosen(runs, scheme), g0=g0, h=h, **more)
    x, weights, bottom = s.body.x[:, 0], s.system.mass, 1e3
    turn = np.pi * (mode or 1) / N
    shape = np.cos(turn * np.round(x * N / BAR.length))
    rough = np.sin(1.0 + 7.0 * np.arange(x.size) ** 2)
    s.start(bottom + (rough if mode is None else shape), 0.0)
    balance, rows = s.balance(), []
    balance.start()
    for n in range(steps + 1):
        with np.errstate(all="ignore"):
            if n:
                s.step()
                balance.step()
        part = float((s.u - bottom + g0 * s.t**2 / 2) * weights @ shape / (shape**2 @ weights))
        total = balance.kinetic + balance.internal - balance.external
        rows.append((part, total, total + balance.complementary))
    squared = 2 * (1 - np.cos(turn)) * (1.0 if s.mass == "lumped" else 3 / (2 + np.cos(turn)))
    # Far from overflow, also in ratios.
    big = 1e100
    amplitude, energy, quasi = np.clip(np.nan_to_num(np.array(rows), nan=big), -big, big).T
    return Flight(amplitude, energy, quasi, float(np.sqrt(squared)) * courant / s.dt, s.dt)


@cache
def stress(scheme: str, h: float, t: float = 1.0, **settings: Any) -> NDArray:
    """Stress in the elements from the bottom to the top at a time [Pa]."""
    try:
        s = built(scheme, h=h, **settings)
        while s.t < t - h / 2:
            s.step()
    except (ValueError, RuntimeError) as error:
        raise FailedRun(runner.describe(error)) from None
    x = s.body.x[:, 0]
    upwards = np.argsort(x)
    return BAR.E * np.diff(s.u[: x.size][upwards]) / np.diff(x[upwards])


def overshoots(sigma: NDArray, jump: float = FORCE) -> tuple[float, float]:
    """Beyond the exact 0 behind the front on its way down, and beyond -E v0/c before it, over that jump."""
    return float(sigma.max()) / jump, float(-sigma.min()) / jump - 1


def ripples(sigma: NDArray) -> float:
    """Total variation of the stress beyond that of a monotone front, over the jump."""
    return float(np.abs(np.diff(sigma)).sum()) / FORCE - 1


def _bisected(stable: Callable[[float], bool], low: float = 0.0, width: float = WIDTH) -> tuple[float, float]:
    """The largest stable Courant number up to 1.2, between two bounds."""
    high = 1.2
    while high - low > width:
        middle = (low + high) / 2
        settled = False
        with suppress(ValueError, RuntimeError):  # A class of its own may refuse the step.
            settled = stable(middle)
        low, high = (middle, high) if settled else (low, middle)
    return low, high


def bounded_courant(runs: Runs, scheme: str, height: float) -> float:
    """Largest Courant number with bounded velocities after 250 steps, from a height [m] at impact speed."""
    name = chosen(runs, scheme)

    def stable(courant: float) -> bool:
        s = built(name, unstable=True, h=courant * BAR.length / N / BAR.wave_speed)
        s.start(height + 1e-3 * np.sin(7.0 * np.arange(s.system.size) ** 2), -SPEED, allow_penetration=True)
        with np.errstate(all="ignore"):
            for _ in range(250):
                s.step()
        # The shock alone moves no node faster than a few times the impact.
        return bool(np.max(np.abs(np.nan_to_num(s.v, nan=np.inf))) < 10 * SPEED)

    return _bisected(stable, low=0.1, width=0.004)[0]


@cache
def largest_courant(scheme: str, elements: int = N, **settings: Any) -> float:
    """Largest Courant number at which the kinetic energy of an impact never doubles, at :data:`FEW`."""

    def stable(courant: float) -> bool:
        h = courant * BAR.length / elements / BAR.wave_speed
        for part in FEW:
            h0 = BAR.h0 + part * h * BAR.v0
            s = built(scheme, unstable=True, courant=courant, elements=elements, h0=h0, **settings)
            mass = s.system.mass
            while s.t < BAR.contact_end + BAR.transit:
                s.step()
                if s.n % 10 == 0 and not 0.5 * (mass @ s.v**2) <= 2 * ENERGY:
                    return False
        return True

    return float(np.mean(_bisected(stable)))


@cache
def resting_courant(scheme: str, eps: float) -> float:
    """Largest Courant number at which a disturbance of the bar at rest on a spring stays small: 500 steps."""

    def stable(courant: float) -> bool:
        s = built(scheme, unstable=True, case=BOUNCES, courant=courant, h0=0.0, eps=eps)
        height, g0 = s.body.x[:, 0], 10.0
        sag = g0 / (2 * BAR.wave_speed**2) * height * (height - 2 * BAR.length)
        rest = sag - g0 * BAR.rho * BAR.length * eps
        s.start(rest, 1e-9 * np.cos(np.arange(height.size)), allow_penetration=True)
        for _ in range(500):
            s.step()
        # Close to the limit a mode swells, by 1/sqrt(2 d) at most, d = WIDTH / 2 here.
        return bool(np.abs(s.v).max() < 1e-6)

    return float(np.mean(_bisected(stable)))


def closed_form(eps: float, elements: int = N) -> float:
    """Largest Courant number of a long lattice on a spring ``1/eps``; its end mode: (-q)^j, 1/q - q = 2k."""
    k = BAR.length / elements / (eps * BAR.E)
    return float(np.sqrt(2 / (1 + np.sqrt(1 + k**2))))
