"""Errors of runs with refined steps and meshes, and the time and force evaluations that reach one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ... import Integrator, SparseRows, simulate
from ...algebra.kernels import NotCompiled
from ...integrators.step_buffer import compiled_loop
from ...systems.system import parts
from .. import runner
from ..runs import FailedRun, Run, Runs

Settings = Mapping[str, Any]  #: Parameters of a run.
Errors = Mapping[str, float]  #: Errors by the name of the quantity.

_LEAST, _ROUNDS = 0.1, 5  #: Short runs are timed again up to so much time in all [s], and so often.
_FIRST = 3  #: Steps of a run that only loads what a scheme has compiled.
#: What is compared, as attributes of a point.
SECONDS, FORCES = "seconds", "forces"


class Study(NamedTuple):
    """A comparison of schemes in a case."""

    case: str
    quantities: Mapping[str, float]  #: The error at which schemes are compared, by quantity.
    errors: Callable[[Runs, Run], Errors]  #: Of a run.
    refined: Callable[[str], Sequence[Settings]]  #: Settings of the runs with a scheme, coarse to fine.
    #: Starts over which errors are averaged, since one impact may fall on the end of a step by luck.
    starts: Sequence[Settings] = ({},)
    truth: str = "the exact solution"  #: What the errors are measured against.


class Point(NamedTuple):
    """Runs with one step and mesh."""

    seconds: float  #: Of processor time for the steps, without set-up, energies and histories.
    forces: float  #: Evaluations of the force in the steps; one of part of a body counts by its dofs.
    errors: Errors
    settings: Settings


def measured(runs: Runs, study: Study) -> dict[str, list[Point]]:
    """The points of all chosen schemes that run the case, made once for all who share a folder of runs."""

    def make() -> dict[str, list[dict[str, Any]]]:
        found = {scheme: points(runs, study, scheme) for scheme in runs.chosen(study.case)}
        return {scheme: [point._asdict() for point in several] for scheme, several in found.items()}

    kept = runs.once(f"work and precision of {study.case}", make)
    return {scheme: [Point(**point) for point in several] for scheme, several in kept.items()}


def points(runs: Runs, study: Study, scheme: str) -> list[Point]:
    """One point for each refinement that the scheme runs; a step that it cannot make is left out."""
    found = []
    for settings in study.refined(scheme):
        try:
            made = [runs(study.case, scheme, **settings, **start) for start in study.starts]
        except FailedRun:
            continue
        several = [study.errors(runs, run) for run in made]
        means = {name: float(np.mean([each[name] for each in several])) for name in study.quantities}
        if all(np.isfinite(list(means.values()))):
            work = processor_time_and_forces(study.case, runs.scheme(scheme), {**settings, **study.starts[0]})
            found.append(Point(*work, means, settings))
    return found


def processor_time_and_forces(case: str, scheme: str, settings: Settings) -> tuple[float, float]:
    """Processor time of the steps of a run [s], the least of some runs where they are short, and its forces.

    Processor time, since other processes may share the machine; no energies, histories or logs are kept. A
    compiled loop has as many force evaluations in every step: they are counted in a few steps made singly.
    """
    chosen = runner.find(case, scheme)
    values = runner.parse(chosen, scheme, [f"{name}={value}" for name, value in settings.items()])

    def once(first: bool = False, count: bool = False) -> tuple[float, float, int, bool]:
        problem = chosen.make(scheme, dict(values), False)
        s, record = problem.integrator, problem.record
        end = min(problem.t_end, s.t0 + _FIRST * s.dt) if first else problem.t_end
        loops = not count and _has_loop(s, record)  # of short runs, too, that users make in numbers
        counts = _counted(s.system) if count else []
        begun = time.process_time()
        made = simulate(
            s, t_end=end, record=record, energies=False, every=2**31, progress=False, compiled=loops
        )
        return time.process_time() - begun, sum(counts), made.steps, loops

    loops = once(first=True)[3]
    single, forces, steps, _ = once(first=loops, count=True)
    seconds = [] if loops else [single]
    while not seconds or (len(seconds) < _ROUNDS and sum(seconds) < _LEAST):
        spent, _, all_steps, _ = once()
        seconds.append(spent)
        if loops:
            forces, steps = forces / steps * all_steps, all_steps
    return min(seconds), forces


def _counted(system: Any) -> list[float]:
    """Parts of the dofs whose force each call from now on evaluates, in a list that grows."""
    counts: list[float] = []

    def count(part: Any, share: float) -> None:
        force = part.force

        def counted(*arguments: Any) -> None:
            counts.append(share)
            force(*arguments)

        part.force = counted

    several = parts(system)
    sizes = [part.dof_count for part in several] if len(several) > 1 else [1]
    for part, size in zip(several, sizes):
        count(part, size / sum(sizes))
    return counts


def _has_loop(scheme: Integrator, record: SparseRows) -> bool:
    with suppress(NotCompiled):
        compiled_loop(scheme, record, None)
        return True
    return False


def front(several: Sequence[Point], quantity: str, work: str = SECONDS) -> tuple[list[float], list[float]]:
    """Seconds, or forces, and errors of the points that no other one beats in both, the cheapest first."""
    spent, errors = list[float](), list[float]()
    for point in sorted(several, key=lambda point: float(getattr(point, work))):
        if not errors or point.errors[quantity] < errors[-1]:
            spent.append(getattr(point, work))
            errors.append(point.errors[quantity])
    return spent, errors


def cost(several: Sequence[Point], quantity: str, goal: float, work: str = SECONDS) -> float | None:
    """Seconds, or forces, to an error of ``goal``, between points by powers; None where none reaches it."""
    spent, errors = front(several, quantity, work)
    enough = [k for k, error in enumerate(errors) if error <= goal]
    if not enough:
        return None
    if enough[0] == 0:
        return spent[0]
    k = slice(enough[0] - 1, enough[0] + 1)
    logs = np.log(errors[k])[::-1], np.log(spent[k])[::-1]
    return float(np.exp(np.interp(np.log(goal), *logs)))


def ranking(
    found: Mapping[str, Sequence[Point]], quantity: str, goal: float, work: str = SECONDS
) -> dict[str, float | None]:
    """The cost of the goal by scheme, the cheapest first, those that do not reach it last."""
    costs = {scheme: cost(several, quantity, goal, work) for scheme, several in found.items() if several}
    return dict(sorted(costs.items(), key=lambda item: np.inf if item[1] is None else item[1]))
