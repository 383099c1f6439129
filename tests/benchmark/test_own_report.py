"""Reports on schemes of one's own: cases and reference, what is kept, what is made again."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from dolfinx_impact import CDLagrange, Integrator
from dolfinx_impact.benchmark.report import build as report
from dolfinx_impact.benchmark.report import kept, own
from dolfinx_impact.benchmark.report.workers import Workers
from dolfinx_impact.benchmark.runs import FailedRun, Runs
from dolfinx_impact.simulation import Interrupted

NAME = f"{__name__}:OnlyBalls"
SHORT = {"t_end": 0.1}


class OnlyBalls(CDLagrange):
    """Of systems with a single dof, and one that fails now and then."""

    fails = False

    def __init__(self, system, dt, contact=None):
        if system.size > 1 or self.fails:
            raise ValueError("one dof at most")
        super().__init__(system, dt, contact)


class Implicit(Integrator):
    """Known by its class alone."""

    explicit = False

    def advance(self):
        """Stand still."""


class Here:
    """Workers that do their tasks in this process."""

    def __init__(self, folder):
        self.do_one = report.performer({"runs": str(folder), "figures": str(folder), "only": None})

    def do(self, lanes, poll):
        for lane in lanes:
            for task in lane:
                poll()
                yield task, self.do_one(task)

    def running(self):
        return []


def test_own_schemes_stand_beside_one_of_their_kind():
    assert own.reference([NAME]) == "cd-lagrange"
    assert own.reference([NAME, f"{__name__}:Implicit"]) == "moreau-jean"


def test_cases_are_the_first_that_a_scheme_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(
        own, "CANDIDATES", dict.fromkeys(["impacting-bar", "bouncing-ball", "van-der-pol"], 2)
    )
    monkeypatch.setattr(own, "COUNT", 2)
    cases, trials = own.tried(Here(tmp_path), [NAME], None, lambda: None)
    assert cases == ["bouncing-ball", "van-der-pol"]
    assert list(own.left_out(trials, cases)) == [
        f"{NAME} does not run impacting-bar: ValueError: one dof at most"
    ]
    answer = trials["bouncing-ball", NAME]
    assert answer["steps"] == 500 and answer["seconds"] > 0
    words = own.plan([NAME], ["cd-lagrange"], cases, trials, 12, 2)
    assert f"{NAME} beside cd-lagrange on bouncing-ball and van-der-pol: 12 tasks, about " in words


def make(folder, code="a", **options):
    return Runs(folder, only=["cd-lagrange", NAME], code={NAME: code}, **options)


def test_runs_are_kept_by_code_and_parameters(tmp_path, monkeypatch):
    make(tmp_path)("bouncing-ball", NAME, **SHORT)
    make(tmp_path)("bouncing-ball", "cd-lagrange", **SHORT)
    monkeypatch.setattr("dolfinx_impact.benchmark.runs._make", lambda *about: pytest.fail(str(about)))
    run = make(tmp_path)("bouncing-ball", NAME, **SHORT)
    assert run.summary["scheme"] == NAME and run["u"].size
    make(tmp_path, "b")("bouncing-ball", "cd-lagrange", **SHORT)  # whose code is that of the package
    for runs, h in ((make(tmp_path, "b"), 1e-2), (make(tmp_path), 2e-2)):
        with pytest.raises(pytest.fail.Exception):
            runs("bouncing-ball", NAME, h=h, **SHORT)
    with pytest.raises(pytest.fail.Exception):
        make(tmp_path, since=time.time() + 1)("bouncing-ball", NAME, **SHORT)


@pytest.mark.parametrize("file", ["summary.json", "history.npz"])
def test_damaged_runs_are_made_anew(file, tmp_path):
    run = make(tmp_path)("bouncing-ball", NAME, **SHORT)
    (path,) = tmp_path.glob(f"*/{file}")
    path.write_bytes(path.read_bytes()[:50])
    assert (make(tmp_path)("bouncing-ball", NAME, **SHORT)["u"] == run["u"]).all()
    assert len(path.read_bytes()) > 50


def test_failed_runs_are_made_again_by_the_next_report(tmp_path, monkeypatch):
    monkeypatch.setattr(OnlyBalls, "fails", True)
    for _ in range(2):
        with pytest.raises(FailedRun, match="one dof"):
            make(tmp_path)("bouncing-ball", NAME, **SHORT)
        monkeypatch.setattr(OnlyBalls, "fails", False)  # not looked at again in this report
    assert make(tmp_path, begun=time.time() + 1e-3)._found(next(tmp_path.iterdir())) is None
    make(tmp_path, begun=time.time() - 1e3).once("a", lambda: {"b": [1]})
    assert make(tmp_path).once("a", pytest.fail) == {"b": [1]}
    assert make(tmp_path, "other").once("a", lambda: 2) == 2


def test_code_is_the_module_and_what_it_imported_from_beside_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "beside_mine.py").write_text("x = 1\n")
    (tmp_path / "mine_of_test.py").write_text("import beside_mine\n")
    (tmp_path / "another.py").write_text("x = 1\n")
    hashes = []
    for name in (None, "another", "beside_mine", "mine_of_test"):
        if name:
            (tmp_path / f"{name}.py").write_text((tmp_path / f"{name}.py").read_text() + "y = 2\n")
        hashes.append(kept.code_of(["mine_of_test:X"])["mine_of_test:X"])
    for name in ("mine_of_test", "beside_mine"):
        del sys.modules[name]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3


def test_what_is_not_used_for_long_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = kept.folder()
    assert place == kept.folder() and place.is_relative_to(tmp_path / "dolfinx_impact" / "reports")
    for name, days in (("old", 15), ("new", 1)):
        (place / name).mkdir()
        (place / name / "lock").touch()
        os.utime(place / name / "lock", (time.time() - 86400 * days,) * 2)
    (place / "killed").mkdir()  # before it had written a file
    kept.sweep(place)
    assert {path.name for path in place.iterdir()} == {"new", "killed"}
    monkeypatch.setattr(kept, "_BYTES", -1)
    kept.sweep(place)
    assert not place.exists()
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert kept.folder() is None


def test_an_interrupted_report_has_what_was_finished(tmp_path):
    choice = report.choose(["bouncing-ball"], [NAME])
    tasks = [task for lane in choice.lanes() for task in lane]
    assert {task[0] for task in tasks} == {"work", "figure", "property", "run"} and len(tasks) < 12

    class Stopped(Here):
        def do(self, lanes, poll):
            yield lanes[0][-1], {"results": {}}
            raise Interrupted(15)

    answers, stopped = report._perform(Stopped(tmp_path), choice, lambda: None, False)
    made = report.assemble(choice, answers)
    assert stopped == 15 and made["interrupted"] == {"done": 1, "of": len(tasks)}
    assert made["cases"]["bouncing-ball"]["cd-lagrange"] == {"failed": "the report was interrupted before"}
    json.dumps(made)


def second_maker(_):
    return lambda task: [*task, os.getpid()]


def test_workers_go_on_with_further_tasks(tmp_path):
    with Workers(1, f"{__name__}:second_maker", None, Path(tmp_path), os.sched_getaffinity(0)) as workers:
        answers = [dict(workers.do([[("a",), ("b",)]], lambda: None)) for _ in range(2)]
    assert answers[0] == answers[1] and set(answers[0]) == {("a",), ("b",)}
