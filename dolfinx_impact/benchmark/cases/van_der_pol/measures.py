"""The Van der Pol oscillator: exact motion (a fine run would show its error in Fig. 12), runs, errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial import cKDTree

from ... import convergence, runner
from ...convergence import at_times, effort, norm35
from ...runs import Run, Runs
from . import case as van_der_pol

CASE = "van-der-pol"
CD, MJ, IMPLICIT = SCHEMES = "cd-lagrange", "moreau-jean", "cd-lagrange-implicit"
BOTH = CD, MJ
XI, OMEGA, X0, WALL = (van_der_pol.PARAMETERS[name].default for name in ("xi", "omega0", "X0", "wall"))


@dataclass(frozen=True)
class Extent:
    """How far the runs go."""

    short: float = 30.0  #: End of Figure 10's runs, whose h is 1e-3 s [s].
    long: float = 300.0  #: End of Figure 11's [s], their step [s], and steps per sample.
    h: float = 1e-3
    every: int = 10
    lossy: float = 1e-2  #: Step of the long run with a dissipative scheme [s].
    span: float = 10.0  #: End of the runs whose errors are measured, past two impacts [s].
    steps: tuple[float, ...] = (8e-3, 4e-3, 2e-3, 1e-3)  #: Their steps [s].
    starts: int = 9  #: Number of starts over which errors with impact are averaged, odd.
    counted: float = 1e-3  #: Step of the runs whose evaluations are counted [s].


PAPER = Extent()


def _flight(state: Any, start: float, end: float, wall: bool) -> Any:
    """From a state (x, v) to the wall or the end, as ``solve_ivp`` returns it."""

    def slope(t: float, y: NDArray) -> list[float]:
        return [y[1], XI * OMEGA * (1 - (y[0] / X0) ** 2) * y[1] - OMEGA**2 * y[0]]

    def gap(t: float, y: NDArray) -> float:
        return y[0] - WALL if wall else 1.0

    gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]
    accuracy = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    return solve_ivp(slope, (start, end), state, dense_output=True, events=gap, **accuracy)


def exact(times: NDArray, v0: float = 1.0, wall: bool = True) -> NDArray:
    """Positions at rising times, from 1 m at ``v0`` on [m]; the wall takes all of the velocity (e = 0)."""
    state, start, x = [1.0, v0], 0.0, np.empty(len(times))
    while True:
        flight = _flight(state, start, times[-1] + 1e-9, wall)
        inside = (times >= start) & (times <= flight.t[-1])
        x[inside] = flight.sol(times[inside])[0] if inside.any() else 0.0
        if flight.status != 1:
            return x
        state, start = [WALL, 0.0], flight.t[-1]


@dataclass(frozen=True)
class LimitCycle:
    """The exact one, which the first impact reaches at once: every impact leaves the same state."""

    period: float  #: Time between impacts [s].
    jump: float  #: Speed at the wall, all lost there [m/s].
    fastest: float  #: Largest ``|(x', v'/omega0)|`` [m/s].
    points: NDArray  #: (x, v/omega0) along it, the jump included [m].


@cache
def limit_cycle() -> LimitCycle:
    """Flight from the wall to the wall, and the jump, as dense points."""
    flight = _flight([WALL, 0.0], 0.0, 100.0, True)
    x, v = flight.sol(np.linspace(0.0, flight.t[-1], 50001))
    force = XI * OMEGA * (1 - (x / X0) ** 2) * v - OMEGA**2 * x
    arrow = np.linspace(v[-1], 0.0, 10001)
    points = np.column_stack([np.append(x, np.full_like(arrow, WALL)), np.append(v, arrow) / OMEGA])
    return LimitCycle(flight.t[-1], -v[-1], float(np.hypot(v, force / OMEGA).max()), points)


def short_run(extent: Extent, runs: Runs, scheme: str) -> Run:
    """Figure 10's, at h = 1e-3 s."""
    return runs(CASE, scheme, t_end=extent.short)


def long_run(extent: Extent, runs: Runs, scheme: str) -> Run:
    """Figure 11's."""
    return runs(CASE, scheme, h=extent.h, t_end=extent.long, every=extent.every)


def off_cycle(run: Run) -> float:
    """Largest distance from the limit cycle in (x, v/omega0) once the first cycle is over [m]."""
    late = run["t"] > 10.0
    states = np.column_stack([run["u"][late, 0], run["v_t"][late, 0] / OMEGA])
    return float(cKDTree(limit_cycle().points).query(states)[0].max())


@cache
def start(number: int, extent: Extent) -> float:
    """Velocity of a start [m/s]: first impacts lie evenly in the coarsest step, its halves, quarters, ..."""
    impact = [_flight([1.0, v0], 0.0, 100.0, True).t[-1] for v0 in (1.0, 1.01)]
    return 1.0 + number / extent.starts * extent.steps[0] * 0.01 / (impact[1] - impact[0])


@cache
def truth(extent: Extent, v0: float, wall: bool) -> tuple[NDArray, NDArray]:
    """Times of the coarsest run and exact positions there."""
    times = np.arange(1, round(extent.span / extent.steps[0]) + 1) * extent.steps[0]
    return times, exact(times, v0, wall)


def positions(extent: Extent, runs: Runs, scheme: str, v0: float, wall: bool) -> NDArray:
    """At the times of the coarsest run, one row for each step [m]."""
    times, coarse = truth(extent, v0, wall)[0], extent.steps[0]
    settings = {"t_end": extent.span, "v0": v0, "wall": WALL if wall else "none"}
    made = [runs(CASE, scheme, h=h, every=round(coarse / h), **settings) for h in extent.steps]
    return np.array([at_times(run["t"], run["u"][:, 0], times) for run in made])


def errors(extent: Extent, runs: Runs, scheme: str, wall: bool) -> NDArray:
    """In norm (35), one row for each start (one start without the wall), one column for each step."""
    starts = [start(number, extent) for number in range(extent.starts if wall else 1)]
    true = [truth(extent, v0, wall)[1] for v0 in starts]
    found = [positions(extent, runs, scheme, v0, wall) for v0 in starts]
    return np.array([[norm35(x, right) for x in several] for several, right in zip(found, true)])


def ratio(extent: Extent, runs: Runs, scheme: str) -> float:
    """Errors with impact of CD-Lagrange over those of a scheme: mean over starts, geometric over steps."""
    means = [errors(extent, runs, name, True).mean(axis=0) for name in (CD, scheme)]
    return float(np.exp(np.mean(np.log(means[0] / means[1]))))


def next_term(h: float) -> float:
    """How much the next term of an error in powers of h weighs: h times the fastest rate of decay."""
    reach = limit_cycle().points[:, 0].max()
    return XI * OMEGA * ((reach / X0) ** 2 - 1) * h


def scatter(extent: Extent) -> float:
    """Two standard deviations of an order fitted to means over the starts."""
    return 2 * convergence.scatter(extent.steps, extent.starts)


def evaluations(extent: Extent, runs: Runs, scheme: str) -> float:
    """Evaluations of the force a step over the first 2.5 s, an impact included; tangents not counted."""
    short_run(extent, runs, scheme)  # a scheme that fails or was left out says so here
    name = runs.scheme(scheme)
    values = runner.parse(runner.find(CASE, name), name, [f"h={extent.counted}"])
    integrator = van_der_pol.Oscillator().make(name, values).integrator
    return float(effort(integrator, round(2.5 / values["h"])).forces.mean())
