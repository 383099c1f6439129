"""Reports on own schemes: which cases they run, beside which scheme, and how long that takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ... import simulate
from ...integrators import find_scheme
from .. import runner
from ..runs import Runs
from .wording import listed
from .workers import Task, Workers

#: Cases in the order in which they are tried, with the steps of all runs and timings of a report about over
#: those of the default run; each has properties or costs to compare.
CANDIDATES = {
    "bouncing-ball": 1300,
    "impacting-bar": 400,
    "rotating-spring": 300,
    "two-bars": 200,
    "signorini-impact": 200,
    "split-bar": 200,
    "van-der-pol": 40,
    "discrete-arch": 20,
    "wave-block": 20,
}
_USUAL = 20  #: Of another case.
COUNT = 3  #: Of cases by default.
_STEPS = 50  #: Of a trial.
_START, _BESIDE = 6.0, 3.0  #: Of processes, and of the reference and the figures of a case [s].


def reference(own: Sequence[str]) -> str:
    """The scheme of the catalogue beside which own ones run: of their kind, explicit, implicit or divided."""
    found = [find_scheme(name) for name in own]
    if any(scheme.divided for scheme in found):
        return "hati"
    return "cd-lagrange" if all(scheme.explicit for scheme in found) else "moreau-jean"


def trial(runs: Runs, case: str, scheme: str) -> dict[str, float]:
    """Seconds of a step, and the steps of the default run; what fails is what a report would tell."""
    chosen = runner.find(case, scheme)
    problem = chosen.make(scheme, runner.parse(chosen, scheme, []), False)
    s = problem.integrator
    simulate(s, t_end=min(problem.t_end, s.t0 + s.dt), record=problem.record, progress=False)  # compiles
    begun = time.process_time()
    for _ in range(_STEPS):
        s.step()
    return {"seconds": (time.process_time() - begun) / _STEPS, "steps": (problem.t_end - s.t0) / s.dt}


Tried = Mapping[tuple[str, str], Mapping[str, Any]]  #: Answers by case and scheme.


def tried(
    workers: Workers, own: Sequence[str], cases: Sequence[str] | None, poll: Callable[[], None]
) -> tuple[list[str], Tried]:
    """The cases, by default the first that one of the schemes runs, and the trials on them."""
    answers: dict[tuple[str, str], Any] = {}

    def ask(names: Sequence[str]) -> None:
        lanes: list[list[Task]] = [[("trial", case, scheme) for scheme in own] for case in names]
        for (_, case, scheme), answer in workers.do(lanes, poll):
            answers[case, scheme] = answer

    if cases is not None:
        ask(cases)
        return list(cases), answers
    rest, runnable = list(CANDIDATES), list[str]()
    while rest and len(runnable) < COUNT:
        names, rest = rest[: COUNT - len(runnable)], rest[COUNT - len(runnable) :]
        ask(names)
        runnable += [case for case in names if any("seconds" in answers[case, s] for s in own)]
    return runnable or list(CANDIDATES)[:COUNT], answers


def plan(
    own: Sequence[str], beside: Sequence[str], cases: Sequence[str], trials: Tried, tasks: int, jobs: int
) -> str:
    """What will be made and about how long it takes, without other work on the machine."""
    seconds = sum(_times(trials, case, scheme) for case in cases for scheme in own)
    seconds = _START + (seconds + _BESIDE * len(cases)) / min(jobs, len(cases))
    about = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(5, 5 * round(seconds / 5))} s"
    return (
        f"{listed(own)} beside {listed(beside)} on {listed(cases)}: {tasks} tasks, about {about} on "
        f"{jobs} process{'es' if jobs > 1 else ''}, less what is kept from earlier reports"
    )


def _times(trials: Tried, case: str, scheme: str) -> float:
    answer = trials[case, scheme]
    if "seconds" not in answer:
        return 0.0
    return float(answer["seconds"] * answer["steps"] * CANDIDATES.get(case, _USUAL))


def left_out(trials: Tried, cases: Sequence[str]) -> Iterator[str]:
    """Why cases were left out that come before the chosen ones."""
    for (case, scheme), answer in trials.items():
        if case not in cases and "failed" in answer:
            yield f"{scheme} does not run {case}: {answer['failed']}"
