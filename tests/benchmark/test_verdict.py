"""Verdicts, comparisons of claims and intervals of parameters on values of any kind."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.claim import Claim, Measured, above, at_least, below, equal, row, table
from dolfinx_impact.benchmark.runs import FailedRun
from dolfinx_impact.benchmark.verdict import Verdict
from dolfinx_impact.integrators import Option
from dolfinx_impact.integrators.options import check

NUMBERS = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5)
FITS = {
    "<=": lambda x, bound, tolerance: abs(x) <= bound,
    "=": lambda x, bound, tolerance: abs(x - bound) <= tolerance,
    ">": lambda x, bound, tolerance: x > bound,
    ">=": lambda x, bound, tolerance: x >= bound - tolerance,
}


@pytest.mark.parametrize("relation", FITS)
@given(values=NUMBERS, bound=st.floats(0, 1e3), tolerance=st.floats(0, 1e2))
def test_of_several_numbers_all_must_fit(relation, values, bound, tolerance):
    found = Verdict.of(relation, "", dict(enumerate(values)), bound, tolerance)
    assert found.reproduced is all(FITS[relation](x, bound, tolerance) for x in values)
    assert found.measured in values


@pytest.mark.parametrize("compare", [below(1.0), equal(1.0, 1.0), above(-1.0), at_least(-1.0)])
def test_what_is_not_a_number_does_not_fit(compare):
    found = compare([0.5, math.nan], "")
    assert found.reproduced is False and math.isnan(found.measured)
    json.dumps(found.row("why"), allow_nan=False)


@pytest.mark.parametrize("compare", [below(), equal(tolerance=1.0), above(), at_least()])
def test_without_a_bound_nothing_fits(compare):
    assert compare(0.0, "").reproduced is False
    assert compare(Measured(0.25, -1.0 if compare.relation in (">", ">=") else 0.5), "").reproduced is True


def test_a_further_condition_and_a_failed_run():
    def fails(runs):
        raise FailedRun("too stiff")

    rows = [row("a", "", "A", lambda runs, scheme: Measured(0.0, holds=scheme == "x"), below(1.0), per="xy")]
    claims = table("case", "paper", [*rows, row("b", "", "B", fails, below(1.0))], prefix="p-")
    assert [claim.id for claim in claims] == ["p-a-x", "p-a-y", "p-b"]
    assert [claim.decide(None).reproduced for claim in claims] == [True, False, False]
    assert "too stiff" in claims[-1].decide(None).words
    assert Claim("", "", "", "", "", lambda runs: Verdict.undecided("why")).decide(None).reproduced is None


def test_rows_hold_plain_values():
    found = Verdict("", np.float64(2.0), 1.0, 0.0, np.bool_(False))
    assert json.loads(json.dumps(found.row("claim"))) == {
        "claim": "", "measured": 2.0, "expected": 1.0, "tolerance": 0.0, "reproduced": False
    }  # fmt: skip


def test_a_number_that_is_not_finite_is_printed(capsys):
    case = CASES["bouncing-ball"]
    problem = case.make("cd-lagrange", runner.parse(case, "cd-lagrange", ["t_end=0.01"]), False)
    summary, result = runner.perform(
        "bouncing-ball",
        "cd-lagrange",
        runner.parse(case, "cd-lagrange", ["t_end=0.01"]),
        problem,
        progress=False,
    )
    summary["verdicts"] = [Verdict.below("it stays", math.inf, 1.0).row("claim")]
    runner._print(summary, result, problem, runner.Path("out"))
    assert "NOT reproduced it stays: not a finite number" in capsys.readouterr().out


@pytest.mark.parametrize(
    "interval, default, good, bad, words",
    [
        ("(0, inf)", 1.0, (1e-300, 1e300), (0.0, -1.0, math.inf, math.nan), "must be positive"),
        ("[0, inf)", 1.0, (0.0, 1.0), (-1e-300, math.nan), "must be at least 0"),
        ("[1, 200]", 8, (1, 200), (0, 201), "must be 1 to 200"),
        ("(-1, 0.5)", 0.3, (-0.99, 0.49), (-1.0, 0.5, math.nan), r"must lie in \(-1, 0.5\)"),
        ("(-inf, inf)", 1.0, (-1e300, 0.0), (math.nan, math.inf), "must be a finite number"),
        ("[0, 1]", 0.5, (0.0, 1.0, "auto"), (-0.1, 1.1), r"must lie in \[0, 1\]"),
    ],
)
def test_intervals(interval, default, good, bad, words):
    option = Option(default, "m", "length", words=("auto",), interval=interval)
    for value in good:
        check({"x": option}, {"x": value})
    for value in bad:
        with pytest.raises(ValueError, match=rf"x {words} \[m\], but is"):
            check({"x": option}, {"x": value})


@pytest.mark.parametrize("name", CASES)
def test_defaults_lie_in_their_intervals(name):
    for scheme in CASES[name].schemes:
        runner.parse(CASES[name], scheme, [])
    assert all(CASES[name].parameters[each].interval for each in ("h", "t_end", "every"))
