"""The stages on several ranks: a failure on any rank is one of the stage, and is shown."""

import pytest
from support import stages

PROGRAM = """
import pytest
from mpi4py import MPI

@pytest.mark.mpi
def test_on_all_ranks():
    assert MPI.COMM_WORLD.allreduce(1) == 2

@pytest.mark.mpi
def test_of_one_rank():
    assert MPI.COMM_WORLD.rank == 0, "only the other rank knows"

def test_without_a_mark():
    raise AssertionError("one rank only")
"""


def test_cases_take_turns():
    """Of six cases two run on two ranks and one on three; some are there on three only."""
    two = [*(f"a.py::test_two[{x}]" for x in "xyz"), "b.py::test_two[x]"]
    three = [*two[:3], "a.py::test_two[w]", "a.py::test_two[three]", two[3], "b.py::test_two[three]"]
    first = stages.turns(two, None)
    assert first == {"a.py::test_two[x]", "b.py::test_two[x]"}
    second = stages.turns(three, first)
    assert second == {"a.py::test_two[y]", "b.py::test_two[three]"}


def test_every_fourth_test_without_cases_runs_on_three_ranks_too():
    ids = [f"{file}.py::test_{k}" for file in "ab" for k in range(5)]
    first = stages.turns(ids, None)
    assert first == set(ids) and stages.turns(ids, first) == {ids[0], ids[4], ids[5], ids[9]}


@pytest.mark.parametrize("count, each", [(9, 3), (8, 2), (3, 1), (2, 1)])
def test_some_cases_are_enough_where_their_kinds_are_not_distributed(count, each):
    ids = [f"a.py::test_one[{x}]" for x in range(count)]
    first = stages.turns(ids, None, {"a.py::test_one": each})
    second = stages.turns(ids, first, {"a.py::test_one": each})
    assert ids[0] in first and 1 <= len(second) <= len(first) == each and not first & second
    assert not stages.turns(ids, {*ids}, {"a.py::test_one": each})


@pytest.mark.parametrize(
    "expression, ranks",
    [("not slow and not nightly", (2,)), ("not nightly", (2, 3)), ("slow", (2, 3)), ("", (2, 3))],
)
def test_three_ranks_belong_to_the_slow_tests(expression, ranks):
    assert stages.ranks_of(expression) == ranks


# The names of the parameters are in the path of the program, where -k would find them.
@pytest.mark.parametrize(
    "chosen, passed",
    [
        pytest.param("of_one or on_all", 2, id="fails"),
        pytest.param("on_all", 1, id="passes", marks=pytest.mark.slow),
        pytest.param("nothing", 0, id="empty", marks=pytest.mark.slow),
    ],
)
def test_a_stage(chosen, passed, tmp_path, monkeypatch, capfd):
    program = tmp_path / "test_program.py"
    program.write_text(PROGRAM)
    monkeypatch.setattr(stages, "marked_files", lambda: [str(program)])
    fine, count = stages.run_on(2, ["-q", "-k", chosen, "-c", "/dev/null", "-p", "conftest"], tmp_path)
    said = capfd.readouterr().out
    assert count == passed  # of rank 0
    assert fine is ("of_one" not in chosen)
    assert ("only the other rank knows" in said) == ("of_one" in chosen)
