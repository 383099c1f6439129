"""The bouncing ball (1 kg, from 1 m, h = 0.01 s): studies over drop heights and steps, common measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....exact import BouncingBall
from ...claim import FailedRun, Measured, Run, Runs
from ...convergence import at_times, norm35, order, scatter

CASE = "bouncing-ball"
CD, MJ = VELOCITY_LEVEL = "cd-lagrange", "moreau-jean"
CARPENTER, PAOLI = "carpenter", "paoli-schatzman"
GRAVITY = 9.81
ELASTIC, LOSSY, PLASTIC = RESTITUTIONS = 1.0, 0.8, 0.0
EPS = float(np.finfo(np.float64).eps)
STEP = 1e-2  #: Time step of all simulations of the section [s].
#: Steps of the studies with impact [s]; the drop heights spread the impact over the first of them.
STEPS = (2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3)
HEIGHTS = 20
#: Steps of the study without impact [s], multiples of which make up :data:`FLIGHT`.
SMOOTH_STEPS = (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
FLIGHT = 0.44  #: A time before the first impact from 1 m, which comes at 0.4515 s.

Steps = Sequence[float]
#: Takes a run and its drop height [m] or its coefficient of restitution.
Measure = Callable[[Run, float], float]


def exact(restitution: float, z0: float = 1.0) -> BouncingBall:
    """The solution for a ball of 1 kg dropped from ``z0`` [m]."""
    return BouncingBall(1.0, GRAVITY, z0, 0.0, restitution)


#: The speed of the first impact from 1 m, and the rounding within which Newton's law holds [m/s].
SPEED = exact(0.0).impact_speed
LAW = 1e-14 * SPEED
#: Results: depth in the ground [m], ``|v + e v_before|`` of impulses [m/s], energy after an impact [J].
DEPTH, DEFECT, ENERGY = "penetration_max", "rebound_defect", "energy_after_impact"
DROP = GRAVITY * (1 + 1e-12)  #: The energy of the drop [J] and what rounding may add to it.


def drop_heights(count: int, step: float = STEPS[0]) -> list[float]:
    """Heights [m] whose first impacts fall evenly, by the golden ratio, into the step that follows 0.44 s."""
    golden = (5**0.5 - 1) / 2
    return [GRAVITY * (FLIGHT + step * (k * golden % 1)) ** 2 / 2 for k in range(1, count + 1)]


def bounces(run: Run, count: int = 1) -> NDArray:
    """Heights of the bounces [m], followed by zeros if there are fewer than ``count``."""
    heights = run.results["heights"]
    return np.array([*heights, *[0.0] * (count - len(heights))])


def each(runs: Runs, result: str, several: Any = VELOCITY_LEVEL, **settings: Any) -> dict[str, float]:
    """A result of one run with each scheme."""
    return {name: runs(CASE, name, **settings).results[result] for name in several}


def by_coefficient(runs: Runs, scheme: str, of: Measure, es: Any = RESTITUTIONS) -> dict[str, float]:
    """A measure of one run with each coefficient of restitution."""
    return {f"e = {e:g}": float(of(runs(CASE, scheme, restitution=e), e)) for e in es}


def struck_depth(runs: Runs, scheme: str, restitution: float) -> Measured:
    """Depth of a run that has impacts [m]."""
    results = runs(CASE, scheme, restitution=restitution).results
    return Measured(results[DEPTH], holds=results["impacts"] > 0)


def off_exact(run: Run, restitution: float) -> float:
    """Largest distance from the exact position [m]."""
    return float(np.abs(run["u"][:, 0] - exact(restitution).position(run["t"])).max())


def study(runs: Runs, scheme: str, measure: Measure, heights: int, steps: Steps, **settings: Any) -> NDArray:
    """A measure of runs, shape (heights, steps)."""
    made = ((z0, runs(CASE, scheme, z0=z0, h=h, **settings)) for z0 in drop_heights(heights) for h in steps)
    return np.array([measure(run, z0) for z0, run in made]).reshape(heights, len(steps))


def errors(runs: Runs, scheme: str, steps: Steps = STEPS, heights: int = HEIGHTS) -> NDArray:
    """Norm (35) of the position with e = 0.8 up to 1.5 s, which is two impacts, shape (heights, steps)."""
    t = np.arange(round(1.5 / steps[0]) + 1) * steps[0]

    def far(run: Run, z0: float) -> float:
        return norm35(at_times(run["t"], run["u"], t), exact(LOSSY, z0).position(t))

    return study(runs, scheme, far, heights, steps, t_end=1.5, restitution=LOSSY)


def smooth_errors(runs: Runs, scheme: str, steps: Steps = SMOOTH_STEPS) -> list[float]:
    """Norm (35) of the position before the first impact, one a step."""
    t = np.arange(round(FLIGHT / steps[0]) + 1) * steps[0]
    several = (runs(CASE, scheme, h=h, t_end=FLIGHT) for h in steps)
    return [norm35(at_times(run["t"], run["u"], t), exact(LOSSY).position(t)) for run in several]


def orders(found: Mapping[str, NDArray], heights: int, steps: Steps, combine: Any = np.mean) -> Measured:
    """Orders of means (or other combinations) over drop heights; FailedRun where means vanish, or are nan.

    An order may be off by two and a half standard deviations: an impact comes up to a step late.
    """
    means = {name: combine(values, axis=0) for name, values in found.items()}
    ends = "; ".join(f"{mean[0]:.2g} to {mean[-1]:.2g}" for mean in means.values())
    if not all(np.all(np.isfinite(mean) & (mean > 0)) for mean in means.values()):
        raise FailedRun(f"no order can be fitted to {ends}")
    fits = {name: order(steps, mean) for name, mean in means.items()}
    note = f"Means for h from {steps[0]:g} to {steps[-1]:g} s: {ends}"
    return Measured(fits, tolerance=2.5 * scatter(steps, heights), note=note)


def with_impact(runs: Runs, scheme: str = "", heights: int = HEIGHTS, steps: Steps = STEPS) -> Measured:
    """Orders of the position with impacts, of both schemes at velocity level or one."""
    names = (scheme,) if scheme else VELOCITY_LEVEL
    return orders({name: errors(runs, name, steps, heights) for name in names}, heights, steps)


def study_orders(
    runs: Runs, schemes: Any, of: Measure, heights: int = HEIGHTS, steps: Steps = STEPS, **settings: Any
) -> Measured:
    """Orders of means over drop heights of a measure, by scheme."""
    values = {name: study(runs, name, of, heights, steps, **settings) for name in schemes}
    return orders(values, heights, steps)


def paoli_phases(runs: Runs, heights: int) -> tuple[list[int], list[float], list[float]]:
    """First two contact phases of Paoli-Schatzman in steps; defects of the law [m/s]; e = 0.5, 0.8 and 1.

    Over three closed steps, (25), with mean velocities; over two with those of the half steps.
    """
    lengths, three, two = list[int](), list[float](), list[float]()
    for z0 in drop_heights(heights):
        for e in (0.5, LOSSY, ELASTIC):
            run = runs(CASE, PAOLI, restitution=e, z0=z0, t_end=2)
            closed, mean, half = run["r"][:, 0] > 0, run["v_t"][:, 0], run["v"][:, 0]
            i = np.flatnonzero(closed[:-1] & closed[1:])
            two += np.abs(half[i + 1] + e * half[i - 1]).tolist()
            i = np.flatnonzero(closed[:-2] & closed[1:-1] & closed[2:])
            three += np.abs(mean[i + 2] + e * mean[i]).tolist()
            edges = np.flatnonzero(np.diff(np.concatenate([[False], closed, [False]]).astype(int)))
            lengths += [int(length) for length in (edges[1::2] - edges[::2])[:2]]
    return lengths, three, two
