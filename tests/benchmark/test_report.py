"""The report: what it holds, what it refuses, and that it leaves nothing behind."""

import contextlib
import io
import json
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI

from dolfinx_impact import SCHEMES, Integrator
from dolfinx_impact.benchmark.__main__ import main
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.claims import CLAIMS, FIGURES, Claim, Figure
from dolfinx_impact.benchmark.report import build as report
from dolfinx_impact.benchmark.report import folders, properties, terminal, wording
from dolfinx_impact.benchmark.report import html as page
from dolfinx_impact.benchmark.report.properties import PROPERTIES
from dolfinx_impact.benchmark.report.workers import Schedule, Workers, on_first_rank
from dolfinx_impact.benchmark.verdict import Verdict
from dolfinx_impact.benchmark.work_precision.studies import STUDIES

SOON = 120  # s; what is asked for is the end of processes, not of runs

OWN = """
import os, sys, time
import numpy as np
from dolfinx_impact import Integrator
from dolfinx_impact.integrators.impulses.contact_laws import VelocityLevel
from dolfinx_impact.integrators.central.central_differences import CentralDifferences
from dolfinx_impact.benchmark.report import properties

# Four of the twenty drop heights.
properties.impact_order.__defaults__ = (properties.impact_order.__defaults__[0], properties.DROPS[::5])

class Good(CentralDifferences):
    compiled_loop = CentralDifferences.compiled_loop

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact))
        print("a word of the user's")
        sys.stdin.read()

class GivesNaN(Integrator):
    def advance(self):
        self.v[:] = np.nan

class Exits(Integrator):
    def advance(self):
        sys.exit("enough")

class Odd(Integrator):
    def advance(self):
        raise ValueError("a file \\udcff\\n" + 1000 * "x")

class Slow(Integrator):
    def advance(self):
        with open(f"pid-{os.getpid()}", "w"):
            pass
        time.sleep(0.05 if self.n < 3 else 60)
"""
MINE = ("mine:Good", "mine:GivesNaN", "mine:Exits", "mine:Odd")
COMMAND = ["-m", "dolfinx_impact.benchmark", "report"]


class NoStep(Integrator):
    """A scheme that forgot to say what a step is."""


def numbers(made):
    """All that a report holds but wall-clock times."""
    made = json.loads(json.dumps(made))
    for runs in made["cases"].values():
        for run in runs.values():
            run.pop("seconds", None)
    return made


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


# -- what it holds


@contextlib.contextmanager
def told(folder):
    """All that this process and those it starts say, in files: output and errors."""
    paths, kept = [folder / "said", folder / "complained"], [os.dup(1), os.dup(2)]
    with open(paths[0], "w") as out, open(paths[1], "w") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield paths
        finally:
            for number, file in enumerate(kept, 1):
                os.dup2(file, number)
                os.close(file)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report on the ball with a scheme and four of the user's, and what its command says."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "mine.py").write_text(OWN)
    schemes = ",".join(["carpenter", *MINE])
    with pytest.MonkeyPatch.context() as patch, told(folder) as (out, err):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "path", sys.path.copy())  # to which the command adds the folder
        patch.setattr(properties.impact_order, "__defaults__", properties.impact_order.__defaults__)
        status = main(["report", "--cases", "bouncing-ball", "--schemes", schemes, "--jobs", "1"])
    del sys.modules["mine"]
    assert status == 0, err.read_text()
    return folder / "results" / "report", SimpleNamespace(stdout=out.read_text(), stderr=err.read_text())


@pytest.fixture(scope="module")
def found(made):
    return json.loads((made[0] / "report.json").read_text(), parse_constant=refuse)


def test_json_has_the_keys_of_the_contract(found):
    assert list(found) == ["versions", "cases", "claims", "schemes", "work_precision"]
    assert set(found["versions"]) == {"package", "commit", "dolfinx", "petsc", "numpy", "python"}
    keys = ["id", "paper", "where", "claim", "kind", "measured", "expected", "tolerance", "reproduced", "why"]
    for claim in found["claims"]:
        assert list(claim) == [*keys, "relation"]
        assert claim["reproduced"] in (True, False, None) and claim["why"] and claim["kind"] == "verified"
    (row,) = found["work_precision"]
    assert list(row) == ["case", "quantity", "goal", "seconds", "forces"] and row["case"] == "bouncing-ball"
    assert set(row["seconds"]) <= {"carpenter", *MINE}
    ids = [claim["id"] for claim in found["claims"]]
    assert len(set(ids)) == len(ids)
    assert {c.id for c in CLAIMS if c.case == "bouncing-ball"} <= set(ids)


def test_every_scheme_has_its_run_or_the_reason(found):
    runs = found["cases"]["bouncing-ball"]
    assert list(found["cases"]) == ["bouncing-ball"] and list(runs) == ["carpenter", *MINE]
    assert runs["carpenter"]["parameters"]["restitution"] == 0  # it has none
    assert runs["mine:Good"]["parameters"]["restitution"] == 0.8
    assert runs["mine:Good"]["results"]["heights"]
    assert "no longer finite" in runs["mine:GivesNaN"]["failed"]
    assert list(runs["mine:Exits"]) == ["failed"] and "SystemExit: enough" in runs["mine:Exits"]["failed"]
    assert "ValueError: a file \\udcff x" in runs["mine:Odd"]["failed"]


def test_what_was_left_out_is_undecided_with_the_reason(found):
    of_papers = [c for c in found["claims"] if not c["id"].startswith("own-")]
    open_ = [c for c in of_papers if c["reproduced"] is None]
    assert open_ and all("left out" in claim["why"] for claim in open_)
    assert len(open_) < len(of_papers)


def test_properties_of_all_schemes_and_claims_on_the_users(found):
    assert list(found["schemes"]) == list(found["cases"]["bouncing-ball"])
    asked = [p.id for p in PROPERTIES if p.case == "bouncing-ball"]
    for rows in found["schemes"].values():
        assert [row["id"] for row in rows] == asked
    own = {c["id"]: c for c in found["claims"] if c["id"].startswith("own-")}
    assert set(own) == {f"own-{scheme}-{p}" for scheme in MINE for p in asked}
    assert own["own-mine:Good-impact-energy"]["reproduced"] is True
    assert own["own-mine:Good-impact-energy"]["paper"] == "mine:Good"
    assert own["own-mine:GivesNaN-impact-energy"]["reproduced"] is None
    assert "no longer finite" in own["own-mine:GivesNaN-impact-energy"]["why"]
    assert all(row["reproduced"] for row in found["schemes"]["mine:Good"])


def test_terminal_has_the_counts_the_failures_and_the_place(made, found):
    out, err = made[1].stdout, made[1].stderr
    claims = [c for c in found["claims"] if not c["id"].startswith("own-")]
    counts = [sum(c["reproduced"] is kind for c in claims) for kind in (True, False, None)]
    assert re.search(r"^bouncing-ball\s+{}\s+{}\s+{}$".format(*counts), out, re.M)
    assert re.search(r"^failed: bouncing-ball with mine:Exits: .*SystemExit: enough$", out, re.M)
    assert re.search(r"^energy at impact +(-|(yes|no) \S+) +yes \S+ +- +- +-$", out, re.M)
    drawn = len(list(made[0].glob("*.svg")))
    beside = f", figures beside them: {drawn}" if drawn else ""
    last = out.splitlines()[-1]
    assert last == f"written: results/report/report.html, results/report/report.json{beside}"
    assert "a word of the user's" not in out and "Traceback" not in err
    last = re.findall(r"report: (\d+) of (\d+) tasks", err)[-1]
    assert last[0] == last[1]


def test_page_and_terminal_say_how_much_a_property_may_be_off(made):
    html = (made[0] / "report.html").read_text()
    for text in (html, made[1].stdout):
        words = " ".join(text.split())
        assert "(largest relative deviation over 10 s); at most 0.0001226" in words  # g h^2/8 of 1 m
        assert "norm (35); at least 1 - 0.3725" in words  # of four drops
    assert "<td>None" not in html and " None;" not in html


def test_page_refers_to_nothing_outside_itself(made):
    html = (made[0] / "report.html").read_text()
    for link in re.findall(r"""(?:src|href|action|data)\s*=\s*["']?([^"'\s>]*)""", html):
        assert link.startswith(("data:", "#")), link[:80]
    assert not re.search(r"<(script|link|iframe|object)|@import|url\(", html)
    assert "mine:GivesNaN" in html and "no longer finite" in html


def test_figures_are_files_and_in_the_page(made):
    html = (made[0] / "report.html").read_text()
    drawn = {path.stem for path in made[0].glob("*.svg")}
    assert drawn == {path.stem for path in made[0].glob("*.png")}
    figures = [f for f in FIGURES if f.case == "bouncing-ball"]
    assert drawn <= {f.id for f in figures}
    assert html.count("<figure>") == len(drawn) and html.count(": not drawn, ") == len(figures) - len(drawn)
    assert not list(made[0].glob(".*"))


def test_a_figure_is_drawn_and_embedded_or_its_absence_explained(tmp_path):
    def draw(runs, figure):
        figure.add_subplot().plot([0, 1], [0, 1])

    drawn = Figure("fig-x", "bouncing-ball", "A & B (2019)", "Fig. 1", "x < y", draw)
    report._draw(drawn, None, tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {"fig-x.png", "fig-x.svg"}
    first = (tmp_path / "fig-x.svg").read_bytes()
    report._draw(drawn, None, tmp_path)
    assert (tmp_path / "fig-x.svg").read_bytes() == first
    made = {"versions": {}, "cases": {"bouncing-ball": {}}, "claims": [], "schemes": {}}
    other = Figure("fig-y", "bouncing-ball", "A & B (2019)", "Fig. 2", "y", draw)
    html = page.html(made, [(drawn, None), (other, "it takes runs")], tmp_path, {})
    assert html.count("<img") == 1 and "data:image/svg+xml;base64," in html
    assert "x &lt; y" in html and "A &amp; B" in html and "not drawn, it takes runs" in html


# -- the terminal


def invented(schemes):
    """A report with long reasons, whose schemes have all properties but those of the arch."""
    bounds = [(1e-4, 0.0, 2.5e-4), (-6.786e-3, 0.0, 0.025), (2.001, 2.0, 0.1)]
    rows = {
        scheme: [
            {
                "id": p.id,
                "name": p.name,
                "unit": p.unit,
                "case": p.case,
                "criterion": p.criterion,
                "bound": p.bound,
                **dict(zip(("measured", "expected", "tolerance"), bounds[i % 3])),
                "reproduced": True,
                "why": "it is so",
            }
            if p.case != "discrete-arch"
            else {
                "id": p.id,
                "name": p.name,
                "unit": p.unit,
                "case": p.case,
                "criterion": p.criterion,
                "bound": p.bound,
                **report.as_row(Verdict.undecided("it does not run the arch")),
            }
            for i, p in enumerate(PROPERTIES)
        ]
        for scheme in schemes
    }
    claims = [
        {"id": "distasio-fig05-height", "reproduced": False, "why": "the reason is " + 60 * "this one "},
        {"id": "distasio-fig06-word", "reproduced": False, "why": 300 * "w"},
        {"id": "distasio-fig07-yes", "reproduced": True, "why": "so it is"},
    ]
    claims = [{**claim, "kind": "verified"} for claim in claims]
    cases = {"bouncing-ball": {scheme: {"failed": "ValueError: \udcff " + 100 * "ab "} for scheme in schemes}}
    return {"versions": {}, "cases": cases, "claims": claims, "schemes": rows}


CASE_OF = {f"distasio-fig0{i}": "bouncing-ball" for i in ("5-height", "6-word", "7-yes")}


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize(
    "schemes",
    [
        ("carpenter",),
        ("cd-lagrange", "mypackage.subpackage.schemes_of_mine:ASchemeWithALongName"),
        (*SCHEMES, "mypackage.subpackage.schemes_of_mine:ASchemeWithALongName"),
    ],
)
def test_the_summary_is_as_wide_as_the_terminal(schemes, columns):
    lines = terminal.summary(invented(schemes), CASE_OF, columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert re.fullmatch(r"bouncing-ball +1 +2 +0", lines[1])
    (begin,) = (i for i, line in enumerate(lines) if line.startswith("NOT reproduced: distasio-fig05"))
    assert lines[begin + 1].startswith("    ") and "this one ..." in " ".join(" ".join(lines).split())
    assert sum(line.strip(" .").endswith("wwww") for line in lines) >= 2  # a word too long for a line
    # The number of verdicts, and dashes for the arch alone.
    assert sum(len(re.findall(r" yes \S+", line)) for line in lines) == len(schemes) * (len(PROPERTIES) - 1)
    assert "-: the scheme does not run the case, or its run failed" in lines
    assert any(line.startswith("angular momentum: the angular momentum is kept") for line in lines)
    assert "off by at most 0.025" in " ".join(" ".join(lines).split())


def test_verified_and_validated_are_counted_apart():
    made = invented(["cd-lagrange"])
    made["cases"] |= {"taylor-bar": {}, "two-bars": {}}
    made["claims"] += [
        {"id": f"shot-{i}", "kind": "validated", "reproduced": i > 0, "why": "friction"} for i in range(4)
    ]
    text = terminal.summary(made, {**CASE_OF, **{f"shot-{i}": "taylor-bar" for i in range(4)}}, 80)
    verified, validated = text.split("\n\n")[:2]
    head = r" +reproduced +not +undecided\n"
    assert re.fullmatch(rf"verified{head}bouncing-ball +1 +2 +0\ntwo-bars +0 +0 +0", verified)
    assert re.match(rf"validated{head}taylor-bar +3 +1 +0\n", validated)
    assert "NOT reproduced: shot-0: friction" in validated


def test_few_schemes_are_columns_and_many_are_rows():
    few = terminal.summary(invented(["cd-lagrange", "combined"]), CASE_OF, 80).splitlines()
    assert re.search(r"^property +cd-lagrange +combined$", "\n".join(few), re.M)
    many = terminal.summary(invented(SCHEMES), CASE_OF, 80).splitlines()
    heads = [line for line in many if line.startswith("scheme ")]
    assert len(heads) == 3 and "energy at impact" in heads[0] and "mass scaling" in heads[2]
    none = terminal.summary({**invented(SCHEMES), "schemes": {}}, {}, 80)
    assert "property" not in none and "NOT" not in none


def test_bounds_that_differ_are_a_range():
    row = {"criterion": "it is small", "bound": "at most {tolerance}", "expected": 0.0}
    schemes = {str(x): [{**row, "tolerance": x}] for x in (0.2, None, 0.1)}
    assert [words for _, words in wording.criteria(schemes)] == ["it is small; at most 0.1 to 0.2"]
    assert [words for _, words in wording.criteria({"none": schemes["None"]})] == ["it is small"]
    assert list(wording.criteria({})) == []


def test_what_the_terminal_cannot_show_is_written_out(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    terminal.say("caf\u00e9 \udcff")
    assert raw.getvalue() == b"caf\\xe9 \\udcff\n"


@pytest.mark.parametrize("bar", [False, True])
def test_silence_is_explained_at_growing_intervals(bar, monkeypatch, capsys):
    now, spoken = 0.0, []
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    if bar:
        pytest.importorskip("tqdm")
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    tasks = [("run", "bouncing-ball", "mine:Hang"), ("claim", "distasio-fig05")]
    with terminal.Progress(100, True) as shown:
        for second in range(400):
            now = float(second)
            shown.look([(tasks[0], now + 15), (tasks[1], now)])
            if "still at" in (err := capsys.readouterr().err):
                spoken.append(second)
                line = f"report: still at: run bouncing-ball with mine:Hang ({second + 15} s); "
                assert line + f"claim distasio-fig05 ({second} s)\n" in err
        shown.one_more()
        now += 59
        shown.look([(tasks[0], now)])
    assert spoken == [60, 120, 240] and "still" not in capsys.readouterr().err
    with terminal.Progress(100, False) as shown:
        now += 1000
        shown.look([(tasks[0], now)])
        for _ in range(100):
            shown.one_more()
    assert capsys.readouterr().err == ""


# -- rows and files


def test_page_shows_a_dash_for_what_a_run_does_not_know(tmp_path):
    run = {"results": {"rest_time": None, "list": [None, 1]}, "steps": 1, "seconds": 0.1, "balance": True}
    made = {"versions": {}, "cases": {"bouncing-ball": {"carpenter": run}}, "claims": [], "schemes": {}}
    html = page.html(made, [], tmp_path, {})
    assert ">rest time</th>" in html and ">-</td><td>-, 1</td>" in html and "None<" not in html


def test_two_classes_of_one_name_have_rows_of_their_own():
    own = ("one.place:Same", "another:Same")
    choice = report.Choice(("bouncing-ball",), (), own, ("impact-energy",))
    found = {task: {"failed": "so it is"} for lane in choice.lanes() for task in lane}
    ids = [c["id"] for c in report.assemble(choice, found)["claims"] if c["id"].startswith("own-")]
    assert ids == [f"own-{scheme}-impact-energy" for scheme in own]


def test_a_task_that_fails_oddly_is_told_in_one_line(tmp_path, monkeypatch):
    class Unspeakable(Exception):
        def __str__(self):
            raise ValueError

    def judge(runs):
        raise Unspeakable if runs.folder == tmp_path / "a" else OSError("\udcff\n" + 1000 * "x")

    monkeypatch.setattr(report, "CLAIMS", [Claim("odd", "bouncing-ball", "", "", "", judge)])
    for name in "ab":
        settings = {"runs": str(tmp_path / name), "only": None, "figures": str(tmp_path)}
        words = report.performer(settings)(("claim", "odd"))["failed"]
        assert words.encode() and len(words) <= 500 and "\n" not in words
        assert words.startswith(("Unspeakable: ", "OSError: \\udcff x"))


def test_publishing_replaces_the_figures_of_an_earlier_report(tmp_path):
    old, new = FIGURES[0].id, FIGURES[1].id
    for name in ("figures", "out"):
        (tmp_path / name).mkdir()
    for name in (f"{old}.png", f"{old}.svg", f"{old}.txt", "mine.png", f"{new}.png"):
        (tmp_path / "out" / name).write_text("old")
    for ending in ("png", "svg"):
        (tmp_path / "figures" / f"{new}.{ending}").write_text("new")
    number = folders.publish({"why": "\udcff"}, "<p>\udcff", tmp_path / "figures", tmp_path / "out")
    files = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert number == 1 and json.loads(files.pop("report.json")) == {"why": "\udcff"}
    assert files == {
        f"{old}.txt": "old",
        "mine.png": "old",
        f"{new}.png": "new",
        f"{new}.svg": "new",
        "report.html": "<p>\\udcff",
    }


def test_folders_of_dead_processes_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    host, nobody = os.uname().nodename, 2**22 + 1  # above the largest process number
    dead = f"dolfinx_impact-{host}-{nobody}-abc"
    others = (
        f"dolfinx_impact-{host}-{os.getppid()}-abc",
        f"dolfinx_impact-another{host}-{nobody}-abc",
        f"dolfinx_impact-{host}-x-abc",
        "dolfinx_impact-elsewhere",
        f"of-{host}-{nobody}-abc",
    )
    for name in (dead, *others):
        (tmp_path / name / "runs").mkdir(parents=True)
    link = tmp_path / f"dolfinx_impact-{host}-{nobody}-link"
    link.symlink_to(tmp_path / others[0])
    with folders.temporary() as first, folders.temporary() as second:
        assert {p.name for p in tmp_path.iterdir()} == {*others, link.name, first.name, second.name}
    assert {p.name for p in tmp_path.iterdir()} == {*others, link.name}
    assert all((tmp_path / name / "runs").is_dir() for name in others)


def test_a_verdict_of_what_is_not_finite_is_none():
    row = report.as_row(Verdict("it exploded", np.inf, 1.0, float("nan"), False))
    assert row == {
        "measured": None,
        "expected": 1.0,
        "tolerance": None,
        "reproduced": False,
        "why": "it exploded",
        "relation": None,
    }


def test_claims_and_figures_are_of_cases_that_exist_and_named_once():
    for kind, known in ((Claim, CLAIMS), (Figure, FIGURES)):
        assert all(isinstance(each, kind) and each.case in CASES for each in known)
        assert len({each.id for each in known}) == len(known)
    assert len({p.id for p in PROPERTIES}) == len(PROPERTIES) and all(p.case in CASES for p in PROPERTIES)


# -- what it is about


def test_defaults_are_everything():
    choice = report.choose(None, None)
    assert choice.cases == tuple(CASES) and choice.schemes == tuple(SCHEMES) and choice.own == ()
    assert choice.runs() == [(case, s) for case in CASES for s in SCHEMES if s in CASES[case].schemes]
    tasks = [task for lane in choice.lanes() for task in lane]
    assert len(set(tasks)) == len(tasks)
    asked = len(PROPERTIES) * len(choice.asked())
    assert len(tasks) == len(CLAIMS) + len(FIGURES) + len(STUDIES) + asked + len(choice.runs())


def answers(choice):
    return {task: {"failed": "so it is"} for lane in choice.lanes() for task in lane}


def test_schemes_that_run_none_of_the_cases_are_not_asked_for_properties():
    choice = report.choose(["bouncing-ball"], ["dep-4.1", "carpenter", f"{__name__}:Known"])
    assert choice.asked() == ("carpenter", f"{__name__}:Known")
    assert tuple(report.assemble(choice, answers(choice))["schemes"]) == choice.asked()
    everything = report.choose(None, None)
    runs_any = {s for p in PROPERTIES for s in CASES[p.case].schemes}
    assert everything.asked() == tuple(s for s in SCHEMES if s in runs_any)
    assert not any(s.startswith("dep-") for s in everything.asked())
    assert report.choose(["signorini-impact"], None).asked() == ()


def test_own_classes_stand_beside_the_built_in_ones():
    own = f"{__name__}:Known"
    alone = report.choose(None, [own])
    assert alone.schemes == ("cd-lagrange",) and not alone.papers and alone.about(CLAIMS) == []
    everything = report.choose(None, ["all", own])
    assert everything.schemes == tuple(SCHEMES) and everything.papers and everything.own == (own,)
    both = report.choose(["bouncing-ball"], [own, "carpenter", own])
    assert both.schemes == ("carpenter",) and both.own == (own,)
    assert both.runs() == [("bouncing-ball", "carpenter"), ("bouncing-ball", own)]


class Known(Integrator):
    def advance(self):
        """Stand still."""


def test_workers_keep_to_lanes_and_help_each_other_at_the_end():
    schedule = Schedule([[("a", "1"), ("a", "2")], [("b", "1")], [("c", "1"), ("c", "2"), ("c", "3")]])
    assert [schedule.next(0), schedule.next(1)] == [("a", "1"), ("b", "1")]
    assert schedule.next(1) == ("c", "1") and schedule.next(0) == ("a", "2")
    assert schedule.next(0) == ("c", "3")  # from the end of what the other is at
    assert schedule.next(1) == ("c", "2") and schedule.next(1) is None and schedule.left == 0


def maker(place):
    """What workers of the next tests do."""

    def do(task):
        if task[0] == "die":
            os._exit(7)
        if task[0] == "wait":
            time.sleep(0.8)
        print("not an answer")
        return [place, *task, os.environ["OMP_NUM_THREADS"], os.getpid()]

    return do


@pytest.mark.slow
def test_a_task_that_ends_its_process_costs_that_task_only(tmp_path, monkeypatch, capfd):
    """And one that takes long is named."""
    monkeypatch.setattr(terminal, "_QUIET", 0.3)
    lanes, answers = [[("a",), ("die", "1"), ("b",)], [("wait", "for", "mine:Hang"), ("d",)]], {}
    with (
        Workers(2, "test_report:maker", "here", tmp_path, os.sched_getaffinity(0)) as workers,
        terminal.Progress(5, True) as shown,
    ):
        assert workers.running() == []
        for task, answer in workers.do(lanes, lambda: shown.look(workers.running())):
            answers[task] = answer
        assert workers.running() == []
    assert re.search(r"still at: .*\bwait for with mine:Hang \(\d s\)", capfd.readouterr().err)
    assert {task for lane in lanes for task in lane} == set(answers)
    for task, answer in answers.items():
        assert answer == {"ended": 7} if task[0] == "die" else answer[:-1] == ["here", *task, "1"]
    assert len({answer[-1] for task, answer in answers.items() if task[0] != "die"}) >= 2
    assert not any(alive(answer[-1]) for task, answer in answers.items() if task[0] != "die")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--cases", "bouncing-ball,pendulum"], "unknown case 'pendulum'; the cases are: bouncing-ball"),
        (["--schemes", "verlet"], "unknown scheme 'verlet'; the schemes are: cd-lagrange"),
        (["--schemes", "test_report:NoStep"], "NoStep has no step"),
        (["--schemes", "test_report:Nobody"], "has no class 'Nobody'"),
        (["--schemes", "nowhere:Mine"], "cannot import"),
        (["--cases", ""], "there are no cases in the list"),
        (["--schemes", ","], "there are no schemes in the list"),
        (["--jobs", "0"], "the number of jobs must be at least 1"),
        (["--jobs", "many"], "invalid int value"),
        (["--out", "file/below"], "cannot write in 'file/below'"),
    ],
)
def test_bad_input_ends_before_anything_runs(words, message, shared_path, monkeypatch, capfd):
    monkeypatch.chdir(shared_path)
    (shared_path / "file").touch()
    assert main(["report", *words]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    if MPI.COMM_WORLD.rank == 0:
        assert err.startswith("error: ") and err.count("\n") == 1 and message in err
    assert [f.name for f in shared_path.iterdir()] == ["file"]


def test_a_folder_in_the_place_of_a_file_is_refused(shared_path):
    (shared_path / "report.json").mkdir(exist_ok=True)
    with pytest.raises(ValueError, match="report.json there is a folder"):
        report.write(["bouncing-ball"], ["carpenter"], shared_path)
    assert [f.name for f in shared_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("folder", ["", Path("")])
def test_a_folder_without_a_name_is_refused(folder):
    with pytest.raises(ValueError, match="a folder with a name"):
        report.write(["bouncing-ball"], ["carpenter"], folder)


def test_there_are_no_more_processes_than_cores_can_use(capfd):
    assert [report._processes(jobs, 2) for jobs in (None, 1, 8)] == [2, 1, 8]
    assert capfd.readouterr().err == ""
    assert report._processes(1000, 2) == 8
    if MPI.COMM_WORLD.rank == 0:
        assert capfd.readouterr().err == "report: 8 processes, 4 for each core, instead of 1000\n"


# -- signals, ranks


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition):
    for _ in range(100 * SOON):
        if condition():
            return True
        time.sleep(0.01)
    return False


def start_slow(spawn, tmp_path, monkeypatch, ranks=1):
    """A report that hangs in two runs; its process, and the workers."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.json").write_text("an earlier one")
    words = ["--cases", "bouncing-ball,rotating-spring", "--schemes", "carpenter,mine:Slow"]
    process = spawn([*COMMAND, *words, "--jobs", "2", "--out", "out"], ranks=ranks, cwd=tmp_path)
    assert wait_for(lambda: len(list(tmp_path.glob("pid-*"))) == 2)
    return process, [int(path.name[4:]) for path in tmp_path.glob("pid-*")]


def left(tmp_path):
    return [p.name for p in (tmp_path / "temporary").iterdir() if p.name.startswith("dolfinx_impact")]


@pytest.mark.slow
def test_a_signal_ends_all_and_leaves_what_was_finished(spawn, tmp_path, monkeypatch):
    process, workers = start_slow(spawn, tmp_path, monkeypatch)
    assert all(map(alive, workers)) and left(tmp_path)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SOON)
    assert process.returncode == 130
    made = json.loads((tmp_path / "out" / "report.json").read_text())
    done, tasks = made["interrupted"].values()
    words = f"out/report.html has the {done} of {tasks} tasks that were finished"
    assert err.splitlines()[-1] == f"error: interrupted by SIGINT: {words}" and 0 < done < tasks
    assert "Traceback" not in err and not any(map(alive, workers))
    assert left(tmp_path) == []
    assert f"<b>Interrupted: {done} of {tasks}" in (tmp_path / "out" / "report.html").read_text()
    whys = {claim["why"] for claim in made["claims"] if claim["reproduced"] is None}
    assert "the report was interrupted before" in whys


@pytest.mark.slow
def test_workers_do_not_outlive_a_report_that_is_killed(spawn, tmp_path, monkeypatch):
    process, workers = start_slow(spawn, tmp_path, monkeypatch)
    process.kill()
    process.communicate(timeout=SOON)
    assert wait_for(lambda: not any(map(alive, workers)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert left(tmp_path)
    with folders.temporary():
        assert len(left(tmp_path)) == 1
    assert left(tmp_path) == []


@pytest.mark.slow
def test_a_signal_to_the_idle_rank_ends_all(spawn, tmp_path, monkeypatch):
    process, workers = start_slow(spawn, tmp_path, monkeypatch, ranks=2)
    # Any thread of mpirun may have started them.
    lists = [path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/children")]
    children = " ".join(lists).split()
    ranks = [int(p) for p in children if b"report" in Path(f"/proc/{p}/cmdline").read_bytes()]
    (idle,) = [p for p in ranks if b"OMPI_COMM_WORLD_RANK=1" in Path(f"/proc/{p}/environ").read_bytes()]
    os.kill(idle, signal.SIGTERM)
    _, err = process.communicate(timeout=SOON)
    assert process.returncode == 143
    assert err.count("error: interrupted by SIGTERM: out/report.html has the ") == 1
    assert wait_for(lambda: not any(map(alive, [*workers, *ranks]))) and left(tmp_path) == []


@pytest.mark.slow
def test_two_ranks_make_the_same_report_and_the_idle_one_sleeps(launch, tmp_path, monkeypatch, capfd):
    script = (
        "import time; from mpi4py import MPI\n"
        "from dolfinx_impact.benchmark.report import build as report\n"
        "report.CLAIMS = [c for c in report.CLAIMS if c.case == 'bouncing-ball'][::8]\n"
        "begun = time.process_time()\n"
        "found = report.write(['bouncing-ball'], ['carpenter'], 'out2', jobs=1, progress=False)\n"
        "spent = MPI.COMM_WORLD.gather((time.process_time() - begun, len(found['claims'])))\n"
        "if spent: print('spent', *spent[-1])"
    )
    done = launch(["-c", script], ranks=2, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(report, "CLAIMS", [c for c in CLAIMS if c.case == "bouncing-ball"][::8])
    report.write(["bouncing-ball"], ["carpenter"], tmp_path / "out1", jobs=1, progress=False)
    for out in (done.stdout, capfd.readouterr().out):
        assert out.count("written:") == 1
    made = [numbers(json.loads((tmp_path / f"out{n}" / "report.json").read_text())) for n in (1, 2)]
    seconds, claims = re.search(r"^spent (\S+) (\d+)$", done.stdout, re.M).groups()
    assert int(claims) == len(made[1]["claims"])
    assert float(seconds) < 1.0  # of processor time, of the rank that waits
    assert made[0] == made[1]


@pytest.mark.mpi
def test_every_rank_knows_of_an_error_on_the_first():
    def work(poll):
        poll()
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        on_first_rank(work)
