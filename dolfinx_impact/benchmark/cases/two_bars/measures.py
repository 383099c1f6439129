"""What the claims on the two bars measure; always of the left bar, towards the other one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....exact import ImpactingBar
from ....integrators import Integrator
from ....simulation.loop import simulate
from ...convergence import norm35, order
from ...runs import FailedRun, Run, Runs
from . import case

CASE = "two-bars"
BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
#: Elements of each bar, each time twice as many; the step shrinks with them.
MESHES = case.ORDER_ELEMENTS
#: Steps over the critical one, halved on one mesh.
STEPS = (0.8, 0.4, 0.2, 0.1)
#: End of the runs whose errors are measured [s]: most of a transit of the wave after the release.
WINDOW = 1.6e-4
#: Where within a step the bars meet is an accident: all claims on it take these parts of a step.
PARTS = (0.125, 0.375, 0.625, 0.875)
#: Part of an axis that a line in a figure is wide.
LINE = 0.01

BAR = case.exact({name: option.default for name, option in case.PARAMETERS.items()})
TRANSIT = BAR.length / BAR.wave_speed
#: Energy of one bar [J], and its mass [kg].
ENERGY, MASS = BAR.impulse * BAR.v0 / 4, BAR.impulse / 2 / BAR.v0


def steps_of(found: Sequence[Run]) -> list[float]:
    """Their time steps [s]."""
    return [run.results["h"] for run in found]


def meshes(runs: Runs, scheme: str, **settings: Any) -> list[Run]:
    """Runs on all of the meshes, from coarse to fine."""
    return [runs(CASE, scheme, elements=n, **settings) for n in MESHES]


def finer_steps(runs: Runs, scheme: str) -> list[Run]:
    """Runs on one mesh with the step halved, the bars meeting at the same time, on a step of all."""
    return [runs(CASE, scheme, courant=courant, gap=_gap(courant, 0.0)) for courant in STEPS]


def meetings(runs: Runs, scheme: str, courant: float) -> list[Run]:
    """Short runs whose bars meet at different parts of a step."""
    return [runs(CASE, scheme, courant=courant, gap=_gap(courant, part), t_end=4e-5) for part in PARTS]


def _gap(courant: float, part: float) -> float:
    """A gap that the bars cross in whole steps of all of ``STEPS`` and a part of their own [m]."""
    element = TRANSIT / case.PARAMETERS["elements"].default
    return 2 * BAR.v0 * element * (20 * STEPS[0] + part * courant)


def exact_of(run: Run) -> ImpactingBar:
    """The exact bar for the gap of a run."""
    return replace(BAR, gap=run.summary["parameters"]["gap"] / 2)


def meeting(run: Run) -> int:
    """The sample of the first impulse."""
    pushed = np.flatnonzero(run["r"][:, 0])
    if not pushed.size:
        raise FailedRun("the bars never touch")
    return int(pushed[0])


def force(run: Run) -> NDArray:
    """The contact force, impulse over step, (45) [N]."""
    return run["r"][:, 0] / run.results["h"]


def exact_force(bar: ImpactingBar, t: NDArray) -> NDArray:
    """The contact force of the exact bar [N]."""
    return np.where((t >= bar.contact_start) & (t < bar.contact_end), bar.force, 0.0)


def acceleration(run: Run) -> NDArray:
    """That of the left tip, the change of its velocity over the step, (46) [m/s2]; 0 at the start.

    Of half-step velocities in central differences, else of those at t.
    """
    change = np.diff(run["v"][:, 0], prepend=run["v"][0, 0])
    return change / run.results["h"]


def histories(run: Run) -> dict[str, tuple[NDArray, NDArray]]:
    """Displacement, velocity and contact force of the left tip over the run, found and exact."""
    bar, t = exact_of(run), run["t"]
    return {
        "displacement": (run["u"][:, 0], bar.displacement(0.0, t)),
        "velocity": (run["v_t"][:, 0], bar.velocity(0.0, t)),
        "force": (force(run), exact_force(bar, t)),
    }


def errors(run: Run) -> dict[str, float]:
    """Norm (94) of the :func:`histories`."""
    return {name: norm35(*pair) for name, pair in histories(run).items()}


def largest_error(run: Run) -> float:
    """Of the tip's velocity, over v0."""
    return float(np.abs(np.subtract(*histories(run)["velocity"])).max() / BAR.v0)


def in_contact(run: Run, margin: float = 2.5) -> NDArray:
    """The samples of the exact contact, less some steps at both ends."""
    bar, h = exact_of(run), run.results["h"]
    return (run["t"] > bar.contact_start + margin * h) & (run["t"] < bar.contact_end - margin * h)


def released(run: Run) -> NDArray:
    """The samples later than two steps after the exact release."""
    return run["t"] > exact_of(run).contact_end + 2.5 * run.results["h"]


def ups_and_downs(values: NDArray) -> float:
    """How far values go up and down on their way from the first to the last."""
    return float(np.abs(np.diff(values)).sum() - abs(values[-1] - values[0]))


def swing(run: Run) -> float:
    """Ups and downs of the velocity after the release over 2 v0, the axis of the figure."""
    return ups_and_downs(run["v_t"][released(run), 0]) / (2 * BAR.v0)


def ringing(run: Run) -> float:
    """RMS of the tip's velocity over v0, from a fifth of L/c after the exact release on."""
    since = run["t"] > exact_of(run).contact_end + 0.2 * TRANSIT
    return float(np.std(run["v_t"][since, 0])) / BAR.v0


class Motion(NamedTuple):
    """The left bar at every time of a run, and the exact one.

    Attributes:
        t: Times, shape (n,) [s].
        x: Distance of the nodes from the tip, shape (k,) [m].
        u, v: Displacement [m] and velocity at t [m/s], shape (n, k).
        exact_u, exact_v: Likewise.
    """

    t: NDArray
    x: NDArray
    u: NDArray
    v: NDArray
    exact_u: NDArray
    exact_v: NDArray


def motion(runs: Runs, scheme: str, **settings: Any) -> Motion:
    """A run again, with all nodes: the history of the case has the tips alone."""
    parameters = dict(runs(CASE, scheme, **settings).summary["parameters"])
    return _motion(runs.scheme(scheme), json.dumps(parameters, sort_keys=True))


@lru_cache(maxsize=8)
def _motion(scheme: str, parameters: str) -> Motion:
    values = json.loads(parameters)
    problem = case.make(scheme, values)
    system: Any = problem.integrator.system
    x = system.x[:, 0]
    left, kept = np.flatnonzero(x < 0), []

    def keep(s: Integrator) -> None:
        kept.append((s.t, s.u[left], s.v_mean[left]))

    keep(problem.integrator)
    simulate(problem.integrator, t_end=problem.t_end, energies=False, progress=False, observers=[keep])
    t, u, v = (np.array(column) for column in zip(*kept))
    bar, distance = case.exact(values), -values["gap"] / 2 - x[left]
    return Motion(t, distance, u, v, *(f(distance, t[:, None]) for f in (bar.displacement, bar.velocity)))


class Convergence(NamedTuple):
    """Errors as mesh and step are refined together, ``h_element = c dt / courant``.

    Attributes:
        steps: Time steps [s].
        after: Norm (94) over the times after the release, one of every mesh.
        whole: The same over all times.
    """

    steps: list[float]
    after: list[float]
    whole: list[float]

    @property
    def order(self) -> float:
        """Fitted order after the release."""
        return order(self.steps, self.after)


def convergence(runs: Runs, scheme: str, name: str, courant: float = 1.0, nodes: bool = False) -> Convergence:
    """Errors of ``u`` or ``v_t`` of the left tip, or of all nodes of the left bar."""
    found = meshes(runs, scheme, courant=courant, t_end=WINDOW)
    if nodes:
        moved = [motion(runs, scheme, elements=n, courant=courant, t_end=WINDOW) for n in MESHES]
        pairs = [(x.u, x.exact_u) if name == "u" else (x.v, x.exact_v) for x in moved]
    else:
        true = BAR.displacement if name == "u" else BAR.velocity
        pairs = [(run[name][:, 0], true(0.0, run["t"])) for run in found]
    late = [run["t"] >= BAR.contact_end for run in found]
    after = [max(norm(values[k], exact[k]), 1e-15) for k, (values, exact) in zip(late, pairs)]
    return Convergence(steps_of(found), after, [max(norm(*pair), 1e-15) for pair in pairs])


def norm(found: NDArray, true: NDArray) -> float:
    """(94), summed over times and nodes."""
    return norm35(np.ravel(found), np.ravel(true))
