"""Cases of the benchmark, made and run as tests need them."""

from typing import Any, NamedTuple

from dolfinx_impact import Result
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.case import Problem
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.runs import Runs
from dolfinx_impact.benchmark.verdict import Verdict


class Run(NamedTuple):
    """A case that was run."""

    problem: Problem
    result: Result
    results: dict[str, Any]
    verdicts: list[Verdict]


class Smaller(Runs):
    """Makes runs of fewer elements and steps, for which the same answers are known.

    The report decides claims with the runs that they name.
    """

    def less(self, case, settings):
        """The settings of a case that are others; a subclass says which."""
        raise NotImplementedError

    def __call__(self, case, scheme, **settings):
        return super().__call__(case, scheme, **{**settings, **self.less(case, settings)})


def values(case, scheme="cd-lagrange", **changes):
    """All parameters of a case with a scheme: defaults but for the changes, which are not checked."""
    return {**runner.parse(CASES[case], scheme, []), **changes}


def made(case, scheme="cd-lagrange", allow_unstable=False, **changes):
    """The case with a scheme, started."""
    return CASES[case].make(scheme, values(case, scheme, **changes), allow_unstable)


def run(case, scheme="cd-lagrange", allow_unstable=False, **changes):
    """A run of a case."""
    problem = made(case, scheme, allow_unstable, **changes)
    result = problem.simulate()
    return Run(problem, result, *problem.judge(result))
