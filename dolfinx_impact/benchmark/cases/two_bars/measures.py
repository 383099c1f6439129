"""Measures of the claims on the two bars; always of the left bar, towards the other one."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ....exact import ImpactingBar
from ...convergence import norm35
from ...runs import FailedRun, Run, Runs
from ..impacting_bar.measures import exact_force, rate
from . import case

CASE = "two-bars"
BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
#: Elements of each bar, refined with the step; steps over the critical one, halved on one mesh.
MESHES, STEPS = case.ORDER_ELEMENTS, (0.8, 0.4, 0.2, 0.1)
#: End of the runs whose errors are measured [s]: most of a transit of the wave after the release.
WINDOW = 1.6e-4
#: Where within a step the bars meet is an accident: all claims on it take these parts of a step.
PARTS = (0.125, 0.375, 0.625, 0.875)
LINE = 0.01  #: Part of an axis that a line in a figure is wide.

BAR = case.exact({name: option.default for name, option in case.PARAMETERS.items()})
TRANSIT = BAR.length / BAR.wave_speed
#: Energy of one bar [J], and its mass [kg].
ENERGY, MASS = BAR.impulse * BAR.v0 / 4, BAR.impulse / 2 / BAR.v0


def meshes(runs: Runs, scheme: str, **settings: Any) -> list[Run]:
    """Runs on all of the meshes, from coarse to fine."""
    return [runs(CASE, scheme, elements=n, **settings) for n in MESHES]


def meetings(runs: Runs, scheme: str, courant: float, parts: Any = PARTS, **settings: Any) -> list[Run]:
    """Runs whose bars meet after whole steps of all of ``STEPS`` and parts of their own."""
    way = 2 * BAR.v0 * (TRANSIT / case.PARAMETERS["elements"].default)
    gaps = [way * (20 * STEPS[0] + part * courant) for part in parts]
    return [runs(CASE, scheme, courant=courant, gap=gap, **settings) for gap in gaps]


def finer_steps(runs: Runs, scheme: str) -> list[Run]:
    """Runs on one mesh with the step halved, the bars meeting at the same time, on a step of all."""
    return [run for courant in STEPS for run in meetings(runs, scheme, courant, (0.0,))]


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


def acceleration(run: Run) -> NDArray:
    """That of the left tip, the change of its (half-step) velocity over the step, (46) [m/s2]; 0 at first."""
    return np.diff(run["v"][:, 0], prepend=run["v"][0, 0]) / run.results["h"]


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


def stored(run: Run) -> NDArray:
    """Energy of both bars over the initial one, shape (n,)."""
    return (run["kinetic"] + run["complementary"] + run["internal"]) / (2 * ENERGY)


def one_step_off(run: Run, name: str, true: NDArray) -> NDArray:
    """The exact bar, contact a step late (it stops h v0 further on) and two steps of the force short."""
    bar, t, h = exact_of(run), run["t"], run.results["h"]
    late, early = t >= bar.contact_start + h, t >= bar.contact_end - h
    if name == "displacement":
        off = (t >= bar.contact_start) + 2 * np.maximum(t - bar.contact_end, 0.0) / TRANSIT
        return np.asarray(true + h * bar.v0 * off)
    return bar.v0 * (1.0 - late - early) if name == "velocity" else np.where(late & ~early, bar.force, 0.0)


def swing(run: Run) -> float:
    """Ups and downs of the velocity after the release over 2 v0, the axis of the figure."""
    return ups_and_downs(run["v_t"][released(run), 0]) / (2 * BAR.v0)


def taken(run: Run) -> NDArray:
    """The energy taken by contact and scheme from the impact on over the initial one, shape (n,)."""
    return (run["dissipated"] - run["contact"])[meeting(run) :] / (2 * ENERGY)


def jumps(run: Run) -> NDArray:
    """Changes of the left tip's velocity from step to step over v0, shape (n,)."""
    return np.abs(np.diff(run["v"][:, 0], prepend=run["v"][0, 0])) / BAR.v0


def _filled(t: NDArray, v: NDArray) -> NDArray:
    """Points of a velocity graph with its jumps, shape (n, 2): times over the window, velocities over v0."""
    line = np.column_stack([t / WINDOW, v / BAR.v0])
    counts = np.maximum(np.ceil(np.linalg.norm(np.diff(line, axis=0), axis=1) / 5e-4).astype(int), 1)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(line, line[1:], counts)]
    return np.vstack([*parts, line[-1:]])


def hausdorff(found: tuple[NDArray, NDArray], true: tuple[NDArray, NDArray]) -> float:
    """Hausdorff distance of two filled-in graphs of (t, v), over the window and v0."""
    a, b = (_filled(*graph) for graph in (found, true))
    return float(max(cKDTree(a).query(b)[0].max(), cKDTree(b).query(a)[0].max()))


class Motion(NamedTuple):
    """The left bar at every time of a run, and the exact one."""

    t: NDArray  #: Shape (n,) [s].
    x: NDArray  #: Distance of the nodes from the tip, shape (k,) [m].
    u: NDArray  #: Displacement, shape (n, k) [m]; and so on.
    v: NDArray
    exact_u: NDArray
    exact_v: NDArray


def motion(runs: Runs, scheme: str, **settings: Any) -> Motion:
    """A run again, with all nodes: the history of the case has the tips alone."""
    parameters = runs(CASE, scheme, **settings).summary["parameters"]
    return _motion(runs.scheme(scheme), json.dumps(parameters, sort_keys=True))


@lru_cache(maxsize=8)
def _motion(scheme: str, parameters: str) -> Motion:
    values = json.loads(parameters)
    problem = case.TwoBars().make(scheme, values)
    body = problem.setup.body
    left = np.flatnonzero(body.x[:, 0] < 0)
    run = problem.simulate([], record=body.rows(left), energies=False, every=1)
    t, u, v = (run[name] for name in ("t", "u", "v_t"))
    bar, distance = case.exact(values), -values["gap"] / 2 - np.sort(body.x[left, 0])  # as the columns
    return Motion(t, distance, u, v, *(f(distance, t[:, None]) for f in (bar.displacement, bar.velocity)))


class Convergence(NamedTuple):
    """Errors in norm (94) as mesh and step are refined together, ``h_element = c dt / courant``."""

    made: list[Run]
    after: list[float]  #: Over the times after the release, one of every mesh.
    whole: list[float]  #: Over all times.

    @property
    def order(self) -> float:
        """Fitted order after the release."""
        return rate(self.made, self.after)


def convergence(runs: Runs, scheme: str, name: str, courant: float = 1.0, nodes: bool = False) -> Convergence:
    """Errors of ``u`` or ``v_t`` of the left tip, or of all nodes of the left bar."""
    made = meshes(runs, scheme, courant=courant, t_end=WINDOW)
    if nodes:
        moved = [motion(runs, scheme, elements=n, courant=courant, t_end=WINDOW) for n in MESHES]
        pairs = [(x.u, x.exact_u) if name == "u" else (x.v, x.exact_v) for x in moved]
    else:
        true = BAR.displacement if name == "u" else BAR.velocity
        pairs = [(run[name][:, 0], true(0.0, run["t"])) for run in made]
    late = [run["t"] >= BAR.contact_end for run in made]
    after = [max(norm(values[k], exact[k]), 1e-15) for k, (values, exact) in zip(late, pairs)]
    return Convergence(made, after, [norm(*pair) for pair in pairs])


def norm(found: NDArray, true: NDArray) -> float:
    """(94), summed over times and nodes."""
    return norm35(np.ravel(found), np.ravel(true))
