"""Studies: rows by parameters whatever runs them, what is kept and resumed, failures, and what is refused."""

import json
import logging
import math
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from mpi4py import MPI
from petsc4py import PETSc
from support import studies

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.output.atomic_file import locked
from dolfinx_impact.simulation import progress
from dolfinx_impact.studies import runs
from dolfinx_impact.studies import study as module
from dolfinx_impact.studies.records import combinations

COMM = MPI.COMM_WORLD
VALUES = [0.1, 1, True, None, "text, and more", (1.0, "a"), np.float64(0.25), np.int32(7), "fail"]
TABLE = """\
value,kind,third,count,none,error
0.1,float,0.3333333333333333,2,None,
1,int,0.3333333333333333,2,None,
True,bool,0.3333333333333333,2,None,
None,NoneType,0.3333333333333333,2,None,
"text, and more",str,0.3333333333333333,2,None,
"(1.0, 'a')",tuple,0.3333333333333333,2,None,
0.25,float,0.3333333333333333,2,None,
7,int,0.3333333333333333,2,None,
fail,,,,,"ArithmeticError: no value
for that"
"""


@pytest.fixture
def here(monkeypatch):
    """Runs of a study on one rank are made in this process."""

    def make_all(count, function, records, todo, limit, tell):
        left = iter([*todo, -1])
        stopped = runs.make_all(lambda: next(left), function, records, COMM, limit)
        tell(0)
        return stopped

    if COMM.size == 1:
        monkeypatch.setattr(module, "in_processes", make_all)


def calls(folder):
    file = folder / "calls"
    return file.read_text().split() if file.exists() else []


# -- tables


@pytest.mark.mpi
def test_rows_by_parameters_on_any_number_of_ranks(here, shared_path, caplog):
    table = di.study(studies.kinds, {"value": VALUES}, shared_path / "study")
    assert table.csv.read_bytes().decode() == TABLE
    assert table.columns == ["value", "kind", "third", "count", "none", "error"] and len(table) == 9
    assert [row["kind"] for row in table if not row["error"]] == list(table["kind"][:-1])
    assert np.array_equal(table["third"], [1 / 3] * 8 + [np.nan], equal_nan=True)
    assert list(table["value"]) == [0.1, 1, True, None, "text, and more", (1.0, "a"), 0.25, 7, "fail"]
    assert list(table["error"]) == [""] * 8 + ["ArithmeticError: no value\nfor that"]
    assert np.all(table["seconds"] >= 0) and not table["steps"].any()
    rows = json.loads(table.json.read_text())
    assert rows[5]["value"] == [1.0, "a"] and rows[8]["error"] and "seconds" not in rows[0]
    if COMM.rank == 0:
        assert [each.message for each in caplog.records] == [
            "1 of 9 runs failed, see the column 'error'; the first: {'value': 'fail', 'error': "
            "'ArithmeticError: no value\\nfor that'}"
        ]
    COMM.barrier()
    kept = [json.loads(each.read_text()) for each in (shared_path / "study").glob("*/row.json")]
    assert {row["version"] for row in kept} == {di.__version__} and len(kept) == 9
    assert sum("raise ArithmeticError" in row["traceback"] for row in kept) == 1


def test_all_combinations_or_a_list(here, tmp_path):
    product = combinations({"a": (1, 2), "b": np.array([0.5, 1.5])})
    assert product == [{"a": a, "b": b} for a in (1, 2) for b in (0.5, 1.5)]
    assert type(product[0]["b"]) is float
    table = di.study(studies.ball, [{"m": 2.0, "z0": 1.0}, {"m": 1.0, "z0": 1.0}], tmp_path / "balls")
    assert table["impulse"][0] == pytest.approx(2 * table["impulse"][1], rel=1e-12)
    assert list(table["steps"]) == [1500, 1500]
    frame = pytest.importorskip("pandas") and table.pandas()
    assert list(frame.columns) == table.columns and frame["m"].tolist() == [2.0, 1.0]
    with pytest.raises(KeyError, match="no 'e', but m, z0, impulse, error"):
        table["e"]


@pytest.mark.mpi
def test_runs_have_the_ranks_of_their_group_and_no_bar(here, shared_path, capfd, monkeypatch):
    """Checkpoints, energies and contact of bodies on one rank or two; the third, if there is one, is idle."""
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    ranks = min(COMM.size, 2)
    points = [{"ranks": "own", "turn": turn} for turn in range(3)]
    table = di.study(studies.on_mesh, points, shared_path / "a", ranks=ranks)
    alone = di.study(studies.on_mesh, points[:1], shared_path / "b")
    assert list(table["ranks_of_it"]) == [ranks] * 3 and list(alone["ranks_of_it"]) == [1]
    assert np.ptp(table["impulse"]) == 0.0 and table["impulse"][0] == alone["impulse"][0] > 0
    balls = di.study(studies.ball, {"m": [1.0], "z0": [1.0, 1.5]}, shared_path / "c", ranks=ranks)
    assert np.all(balls["impulse"] > 0) and "steps" not in capfd.readouterr().err
    assert parallel.world() is MPI.COMM_WORLD is COMM


@pytest.mark.mpi
def test_meshes_of_other_ranks_are_told(shared_path):
    if COMM.size == 1:
        pytest.skip("needs other ranks")
    points = [{"ranks": "world", "turn": turn} for turn in range(3)]
    table = di.study(studies.on_mesh, points, shared_path / "a")
    assert all("use the communicator that the function gets" in error for error in table["error"])
    points = [{"ranks": "bound", "turn": turn} for turn in range(COMM.size)]  # made by all groups at once
    table = di.study(studies.on_mesh, points, shared_path / "b")
    assert all(f"on {COMM.size} ranks, the run on 1 of them" in error for error in table["error"])


@pytest.mark.mpi
def test_objects_of_petsc_have_the_ranks_of_the_run(here, shared_path):
    default = PETSc.Sys.getDefaultComm()
    table = di.study(studies.default_ranks, {"turn": range(3)}, shared_path / "study")
    assert list(table["same"]) == [True] * 3 and PETSc.Sys.getDefaultComm() == default


@pytest.mark.mpi
def test_a_rank_that_fails_says_so_while_others_wait(here, shared_path, caplog, monkeypatch):
    """What the function has begun on its communicator is not mixed with what the study agrees on."""
    monkeypatch.setattr(runs, "_GRACE", 0.05)
    table = di.study(studies.last_fails, [{}, {"turn": 1}], shared_path / "study", ranks=COMM.size)
    assert list(table["error"]) == ["ArithmeticError: on the last rank"] * 2
    said = f"rank {COMM.rank} of the run {{}} failed and waits for the others, which may wait for it for ever"
    assert (said in caplog.text) == (COMM.rank == COMM.size - 1 > 0)


def test_unusual_results_and_errors(here, tmp_path):
    """Parameters among the results, NaN, texts that are not UTF-8, errors of all kinds."""
    points = [{"case": case} for case in ("row", "same", "other", "quiet", "mute")]
    points[1]["at"] = (1.0, math.nan)
    table = di.study(studies.odd, points, tmp_path / "study")
    assert list(table["error"][[0, 1, 3]]) == ["", "", "support.studies.Quiet: no word"]
    assert "the table has 'at' already" in table["error"][2]
    assert table["error"][4].startswith("support.studies.Mute: <")
    assert table["dt"][0] == 0.1 and table["steps"][0] == 2 and table["seconds"][1] == 0.25
    assert table["at"][1] == points[1]["at"] and math.isnan(table["y"][1])
    assert b"a\\udcff" in table.csv.read_bytes()
    row = json.loads(table.json.read_text())[1]
    assert row["at"] == [1.0, None] and row["y"] is None and row["text"] == "a\udcff"


# -- what is kept


@pytest.mark.mpi
def test_rows_are_kept_and_made_anew_where_wanted(here, shared_path, monkeypatch, caplog):
    study = shared_path / "study"
    first = di.study(studies.noted, {"x": [1, 2]}, study).csv.read_bytes()
    di.study(studies.noted, {"x": [2, 1, 3]}, study)
    assert sorted(calls(shared_path)) == ["1", "2", "3"]
    again = di.study(studies.noted, {"x": [1, 2]}, study, again=True)
    assert sorted(calls(shared_path)) == ["1", "1", "2", "2", "3"] and again.csv.read_bytes() == first
    COMM.barrier()
    if COMM.rank == 0:
        rows = sorted(study.glob("*/row.json"))
        rows[0].write_text(rows[0].read_text()[:20])  # a crash of the machine left half of it
        assert not caplog.records
    COMM.barrier()
    di.study(studies.noted, {"x": [1, 2, 3]}, study)
    assert len(calls(shared_path)) == 6
    COMM.barrier()
    monkeypatch.setattr(module, "__version__", "0.0")
    di.study(studies.noted, {"x": [1]}, study)
    assert len(calls(shared_path)) == 7
    COMM.barrier()
    if COMM.rank == 0:
        assert "stale, of an earlier function or version, and made anew: 1 row(s), " in caplog.text


def test_changes_elsewhere_in_the_file_are_told(here, tmp_path, monkeypatch, caplog):
    file = tmp_path / "helped.py"
    code = "def helped(p, comm, folder):\n    return {'y': factor() * p['x']}\n\n\ndef factor():\n    return "
    monkeypatch.syspath_prepend(tmp_path)
    for factor, expected in ((2, 2), (3, 2)):
        file.write_text(f"{code}{factor}\n")
        sys.modules.pop("helped", None)
        import helped

        assert list(di.study(helped.helped, {"x": [1]}, tmp_path / "study")["y"]) == [expected]
    assert "1 row(s) are kept, made before the file of the function changed elsewhere" in caplog.text
    monkeypatch.setattr(sys.modules["helped"], "factor", lambda: 3)
    assert list(di.study(helped.helped, {"x": [1]}, tmp_path / "study", again=True)["y"]) == [3]


@pytest.mark.mpi
def test_a_limit_ends_a_run_that_the_next_call_makes(here, shared_path, caplog):
    points = [{"seconds_of_it": s} for s in (0.0, 0.3)]
    table = di.study(studies.sleeping, points, shared_path / "study", limit=0.1)
    assert list(table["error"]) == ["", "more than limit=0.1 s"]
    assert "more than limit=0.1 s" in table.csv.read_text()
    COMM.barrier()
    assert list(di.study(studies.sleeping, points, shared_path / "study")["error"]) == ["", ""]


def test_a_limit_stores_a_run_that_has_a_checkpoint(here, tmp_path, monkeypatch):
    points, file = [{"z0": 1.0, "t_end": 0.2}], tmp_path / "study"
    whole = di.study(studies.resumed, points, tmp_path / "whole").csv.read_bytes()
    monkeypatch.setenv("STUDY_SLOW", "1")  # its steps take 40 s: the limit comes amid them
    table = di.study(studies.resumed, points, file, limit=1.0)
    assert list(table["error"]) == ["more than limit=1 s"] and list(file.glob("*/state.npz"))
    monkeypatch.delenv("STUDY_SLOW")
    assert di.study(studies.resumed, points, file).csv.read_bytes() == whole


# -- processes


def test_processes_make_the_same_table(tmp_path):
    """Two of them, each with one thread; what a run raises ends none."""
    table = di.study(studies.kinds, {"value": VALUES}, tmp_path / "study", workers=2)
    assert table.csv.read_bytes().decode() == TABLE


@pytest.mark.slow
def test_processes_that_end_in_a_run_lose_that_run_alone(tmp_path):
    points = [{"how": how} for how in (0, 1, 97, "study")]
    table = di.study(studies.ending, points, tmp_path / "study", workers=1)
    assert list(table["error"][:3]) == ["the process ended in this run"] * 3
    assert "di.study is called in the main thread of a program, neither" in table["error"][3]


@pytest.mark.slow
def test_processes_that_do_not_start_end_a_study(tmp_path, monkeypatch):
    code = "import multiprocessing, os\nif multiprocessing.parent_process():\n    os._exit(3)\n"
    (tmp_path / "ends.py").write_text(f"{code}def ends(p, comm, folder):\n    return {{}}\n")
    monkeypatch.syspath_prepend(tmp_path)
    from ends import ends

    with pytest.raises(RuntimeError, match="ended with exit status 3, in none of them"):
        di.study(ends, {"x": [1, 2]}, tmp_path / "study", workers=1)


@pytest.mark.slow
def test_a_study_that_is_killed_goes_on(spawn, launch, tmp_path):
    killed_and_resumed(spawn, launch, tmp_path, 0.4)


@pytest.mark.nightly
@pytest.mark.parametrize("turn", range(10))
def test_a_study_that_is_killed_at_any_moment_goes_on(turn, spawn, launch, tmp_path):
    killed_and_resumed(spawn, launch, tmp_path, np.random.default_rng().uniform(0.0, 2.0))


def killed_and_resumed(spawn, launch, tmp_path, seconds):
    script = tmp_path / "runs.py"
    script.write_text(studies.SCRIPT)
    whole = launch([script, tmp_path / "whole"])
    assert whole.returncode == 0, whole.stderr
    os.environ["STUDY_SAYS"] = "yes"
    try:
        process = spawn([script, tmp_path / "study"])
        assert process.stdout.readline() == "begun\n"
    finally:
        del os.environ["STUDY_SAYS"]
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = launch([script, tmp_path / "study"])
    assert done.returncode == 0 and done.stdout == whole.stdout, done.stderr
    names = [tmp_path / name / "table.csv" for name in ("whole", "study")]
    assert names[0].read_bytes() == names[1].read_bytes()


def test_a_script_without_a_guard_is_told(launch, tmp_path):
    script = tmp_path / "runs.py"
    script.write_text(studies.SCRIPT.replace('if __name__ == "__main__":', "if True:"))
    done = launch([script, tmp_path / "study"])
    assert done.returncode == 1 and done.stderr.count("Traceback") == 1
    assert 'below `if __name__ == "__main__":`' in done.stderr


@pytest.mark.slow
def test_ctrl_c_stores_what_runs_and_says_how_to_go_on(spawn, launch, tmp_path, monkeypatch):
    script = tmp_path / "runs.py"
    script.write_text(studies.SCRIPT)
    monkeypatch.setenv("STUDY_SAYS", "yes")
    process = spawn([script, tmp_path / "study"])
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "of 6 runs have a row" in errors and "the same call goes on" in errors
    assert (tmp_path / "study" / "table.csv").exists() and list(tmp_path.glob("study/*/state.npz"))
    assert launch([script, tmp_path / "study"]).returncode == 0


# -- what is refused


def nested():
    def inside(p, comm, folder):
        return {}

    return inside


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({}, None),
        ({"h": []}, "no parameters: give those of one run"),
        ([], "no parameters: give those of one run"),
        ({"h": "abc"}, "'h' must be a list"),
        ({"h": 1.0}, "'h' must be a list"),
        (3, "parameters must be a list"),
        ([3], "are a dict as"),
        ([{1: 2}], "are a dict as"),
        ([{"h": [1, 2]}], "'h' must be a number, a text or None, but is .*: give a tuple"),
        ([{"h": np.zeros(2)}], "'h' must be a number, a text or None, but is array"),
        ([{"h": (1, {})}], "'h' must be a number"),
        ([{"h": 1j}], "'h' must be a number"),
        ([{"error": 1}], "no parameter can be named 'error'"),
        ([{"seconds": 1}], "no parameter can be named 'seconds'"),
        ({"h": [1, 2, 1]}, "runs 0 and 2 have the same parameters, {'h': 1}"),
    ],
)
def test_parameters_that_no_study_takes(parameters, words, tmp_path):
    if words is None:
        assert combinations(parameters) == [{}]
        return
    with pytest.raises(ValueError, match=words):
        di.study(studies.noted, parameters, tmp_path / "study")
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    "function, words",
    [
        (
            lambda p, comm, folder: {},
            "<lambda> has no name by which another process can import it: define it by",
        ),
        (nested(), "nested.<locals>.inside has no name by which"),
        (np.sin, "sin has no name by which"),
        (3, "3 has no name by which"),
        (nested, "nested cannot be the function of a study .*as f.p, comm, folder."),
    ],
)
def test_functions_that_no_study_takes(function, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        di.study(function, {"x": [1]}, tmp_path / "study")


def test_functions_of_a_notebook_are_told(launch, tmp_path):
    """No file has the session, as in a notebook."""
    code = "import dolfinx_impact as di\ndef f(p, comm, folder):\n    return {}\ndi.study(f, [{}], 'study')"
    done = launch(["-c", code], cwd=tmp_path)
    assert done.returncode == 1 and not (tmp_path / "study").exists()
    assert "ValueError: f is defined in a notebook or an interactive session" in done.stderr


def test_results_that_no_table_holds(here, tmp_path, caplog):
    caplog.set_level(logging.ERROR)
    names = ["none", "array", "list", "taken", "error", "exit"]
    table = di.study(studies.wrong, {"case": names}, tmp_path / "study")
    errors = dict(zip(names, table["error"]))
    assert "must return {'name': number}, but returned None" in errors["none"]
    assert "result 'u' must be a number" in errors["array"] and "save arrays in the folder" in errors["list"]
    assert "'case' already" in errors["taken"] and "'error' already" in errors["error"] and not errors["exit"]
    with pytest.raises(RuntimeError, match="5 of 6 runs failed, .*'case': 'none'"):
        di.study(studies.wrong, {"case": names}, tmp_path / "study", strict=True)


@pytest.mark.mpi
def test_ranks_that_are_not_there_and_other_arguments(shared_path):
    job = "a program without mpirun" if COMM.size == 1 else f"an MPI job of {COMM.size}"
    for arguments, words in (
        ({"ranks": COMM.size + 1}, f"ranks={COMM.size + 1} are more than {job} has: start it by mpirun -n"),
        ({"ranks": 0}, "ranks must be a whole number"),
        ({"workers": 0}, "workers must be a whole number"),
        ({"limit": 0.0}, "limit must be positive"),
        ({"limit": 1e10}, "limit must be positive .s. and at most 1e9, or None, but is"),
        ({"again": "yes"}, "again must be True or False"),
    ):
        with pytest.raises(ValueError, match=words):
            di.study(studies.noted, {"x": [1]}, shared_path / "study", **arguments)


@pytest.mark.mpi
def test_folders_that_are_no_study_or_anothers(here, shared_path):
    file, other, study = shared_path / "file", shared_path / "other", shared_path / "study"
    if COMM.rank == 0:
        file.write_text("")
        other.mkdir()
        (other / "thesis.tex").write_text("")
    COMM.barrier()
    with pytest.raises(ValueError, match="is a file: give the name of a folder"):
        di.study(studies.noted, {"x": [1]}, file)
    with pytest.raises(ValueError, match="has things that are no study: give another folder"):
        di.study(studies.noted, {"x": [1]}, other)
    di.study(studies.noted, {"x": [1]}, study)
    with pytest.raises(ValueError, match="has the runs of studies.py:noted, not of studies.py:ball"):
        di.study(studies.ball, {"m": [1.0], "z0": [1.0]}, study)


def test_one_study_at_a_time_in_a_folder(here, tmp_path):
    di.study(studies.noted, {"x": [1]}, tmp_path / "study")
    with locked(tmp_path / "study"), pytest.raises(ValueError, match="another study runs in"):
        di.study(studies.noted, {"x": [1]}, tmp_path / "study")


def test_threads_beside_the_main_one_are_refused(tmp_path):
    errors = list[ValueError]()

    def call():
        with pytest.raises(ValueError, match="in the main thread of a program") as caught:
            di.study(studies.noted, {"x": [1]}, tmp_path / "study")
        errors.append(caught.value)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert errors and not (tmp_path / "study").exists()
