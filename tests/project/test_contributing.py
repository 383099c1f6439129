"""The examples for contributors are complete: their code runs and passes its own tests."""

import inspect
import re
from pathlib import Path

import pytest
from support.paths import ROOT

TEXT = (ROOT / ".github" / "CONTRIBUTING.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.S | re.M))
PROGRAMS = {title: re.findall(r"```python\n(.*?)```", text, re.S) for title, text in SECTIONS.items()}
EXAMPLES = {title: programs for title, programs in PROGRAMS.items() if programs}
#: Runs of claims are kept in files of one process.
CASES = [pytest.param(title, marks=pytest.mark.one_rank if title == "A claim" else ()) for title in EXAMPLES]


def run_example(title):
    """Names that the code of a section and its test define."""
    names: dict = {"__name__": "contributing"}
    for program in EXAMPLES[title]:
        exec(compile(program, f"CONTRIBUTING.md, {title}", "exec"), names)
    return names


def test_there_is_an_example_of_each_kind():
    assert set(EXAMPLES) == {"A scheme", "An obstacle", "A law", "A case", "A claim"}


@pytest.mark.mpi
@pytest.mark.parametrize("title", CASES)
def test_example_passes_its_tests(title, request):
    names = run_example(title)
    tests = [name for name in names if name.startswith("test_")]
    assert tests
    for name in tests:
        fixtures = inspect.signature(names[name]).parameters
        names[name](**{each: request.getfixturevalue(each) for each in fixtures})


def test_scheme_of_the_example_fits_into_the_catalogue():
    """Its class states the facts of the table, and the shown lines of the list of schemes exist."""
    from dolfinx_impact.integrators import Scheme, catalogue

    entry = Scheme.of(run_example("A scheme")["MoreauMidpoint"])
    assert (
        all((entry.paper, entry.equations, entry.order, entry.conserves, entry.step_limit)) and entry.explicit
    )
    source = Path(catalogue.__file__).read_text()
    (diff,) = re.findall(r"```diff\n(.*?)```", SECTIONS["A scheme"], re.S)
    context = [line[1:] for line in diff.splitlines() if not line.startswith("+")]
    assert "\n".join(context) in source
