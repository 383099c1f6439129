"""The report: every case with every scheme, every claim decided, every figure drawn, in parallel."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

from ... import Interrupted, plot
from ...integrators import SCHEMES, find_scheme
from .. import runner
from ..cases import CASES
from ..claims import CLAIMS, FIGURES, Verdict
from ..runs import FailedRun, NotChosen, Runs, describe
from ..work_precision import figures as work
from ..work_precision.studies import STUDIES
from . import folders, kept, own, terminal
from . import html as page
from .properties import PROPERTIES, Property
from .workers import Task, Workers, on_first_rank, usable_cores

#: Cases whose claims take long come first, so that no long one is left for the end.
_LONG = (
    "solid-crane",
    "van-der-pol",
    "bridge-crane",
    "rotating-spring",
    "bouncing-ball",
    "discrete-arch",
    "impacting-bar",
    "sphere-hole",
)
_SHEET, _ROW = (8.0, 5.0), 2.3  #: Width and height of a figure, and height of one of its rows [inch].
_MOST_PER_CORE = 4  #: More processes for a core do not make a report any faster.
#: Keys of a verdict in the report.
_VERDICT = ("measured", "expected", "tolerance", "reproduced", "why", "relation")
_Names = Sequence[str] | None  #: A list of names, None for all.
_ALL = "all"  #: The whole catalogue, in a list of schemes.
_UNFINISHED = "the report was interrupted before"
_WITHOUT_RESTITUTION = ("carpenter", "carpenter-implicit")  #: They run cases with restitution without it.


class Choice(NamedTuple):
    """Names of cases, schemes of the catalogue, the user's own as ``module:Class``, and properties."""

    cases: tuple[str, ...]
    schemes: tuple[str, ...]
    own: tuple[str, ...]
    properties: tuple[str, ...]
    papers: bool = True  #: Whether claims and figures of papers are asked for.

    def runs(self) -> list[tuple[str, str]]:
        """Every case with every scheme that it supports; a class of the user is tried on all."""
        known = {case: [s for s in self.schemes if s in CASES[case].schemes] for case in self.cases}
        return [(case, scheme) for case in self.cases for scheme in (*known[case], *self.own)]

    def questions(self) -> list[Property]:
        """The properties."""
        return [p for p in PROPERTIES if p.id in self.properties]

    def asked(self) -> tuple[str, ...]:
        """The schemes that are asked for the properties: those that run a case of theirs, and own ones."""
        cases = {p.case for p in self.questions()}
        return (*(s for s in self.schemes if any(s in CASES[case].schemes for case in cases)), *self.own)

    def about(self, known: Iterable[Any]) -> list[Any]:
        """The claims or figures of the chosen cases; without papers those of the package's own."""
        return [
            each for each in known if each.case in self.cases and (self.papers or each.paper == work.SOURCE)
        ]

    def lanes(self) -> list[list[Task]]:
        """All tasks, those of a case after each other."""
        tasks: list[Task] = [(claim.case, "claim", claim.id) for claim in self.about(CLAIMS)]
        tasks += [(case, "work", case) for case in self.cases if case in STUDIES]
        tasks += [(figure.case, "figure", figure.id) for figure in self.about(FIGURES)]
        tasks += [(p.case, "property", p.id, scheme) for p in self.questions() for scheme in self.asked()]
        tasks += [(case, "run", case, scheme) for case, scheme in self.runs()]
        order = sorted(CASES, key=lambda case: (*_LONG, case).index(case))
        lanes = ([task[1:] for task in tasks if task[0] == case] for case in order)
        return [lane for lane in lanes if lane]


def choose(cases: _Names, schemes: _Names, properties: _Names = None) -> Choice:
    """The choice by names, None for all; a ValueError for an empty list or a name that does not exist.

    Own schemes alone are compared with one of the catalogue, and no claims of papers are decided.
    """
    known = {
        "case": ("cases", cases, CASES),
        "property": ("properties", properties, [p.id for p in PROPERTIES]),
        "scheme": ("schemes", schemes, ()),
    }
    for kind, (kinds, given, names) in known.items():
        if given is not None and not any(given):
            raise ValueError(f"there are no {kinds} in the list: name one, or leave it out for all")
        for name in dict.fromkeys(given or ()):
            if kind == "scheme":
                find_scheme(name) if name != _ALL else None
            elif name not in names:
                raise ValueError(f"unknown {kind} {name!r}; the {kinds} are: {', '.join(names)}")
    chosen, distinct = tuple(dict.fromkeys(cases or CASES)), dict.fromkeys(schemes or ())
    built_in, mine = (tuple(s for s in distinct if (":" in s) == of_user) for of_user in (False, True))
    asked = dict.fromkeys(properties or [p.id for p in PROPERTIES if p.case in chosen])
    if mine and not built_in:
        return Choice(chosen, (own.reference(mine),), mine, tuple(asked), papers=False)
    everything = not built_in or _ALL in built_in
    return Choice(chosen, tuple(SCHEMES) if everything else built_in, mine, tuple(asked))


def write(
    cases: _Names = None,
    schemes: _Names = None,
    folder: str | Path | None = None,
    *,
    jobs: int | None = None,
    properties: _Names = None,
    again: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Make the report and write ``report.json``, ``report.html`` and the figures. Collective.

    Rank 0 does all of it, with processes of its own; the others sleep meanwhile. Schemes of one's own alone
    are compared with one of the catalogue, on three cases that they run. Their runs and those beside them are
    kept in ``dolfinx_impact/reports`` of ``XDG_CACHE_HOME`` (``~/.cache``), by the code of the package and of
    the scheme, the case and its parameters: a later report makes those that changed.

    Args:
        cases, schemes, properties: Names, of the catalogue's schemes (``all`` for them) or of own ones as
            ``module:Class``, and ids of properties that they are asked for; by default all, of the chosen
            cases.
        folder: The output folder; ``results/report`` by default.
        jobs: Number of processes, at most four for a core; the number of usable cores by default.
        again: Make all runs anew.
        progress: Show how far it is, and for schemes of one's own alone how long it will take.

    Returns:
        The content of ``report.json``, on every rank.

    Raises:
        ValueError: Bad input, before anything runs.
        Interrupted: Ctrl-C or SIGTERM; the report has the finished tasks, where there are any.
        OSError: The report cannot be written.
    """
    choice, cores = choose(cases, schemes, properties), usable_cores()
    count = _processes(jobs, len(cores))
    folder = Path("results") / "report" if folder is None else Path(folder)
    folders.prepare(folder)
    case_of = {c.id: c.case for c in CLAIMS}

    def work(poll: Callable[[], None]) -> tuple[dict[str, Any], int]:
        with folders.temporary() as place:
            settings = _settings(choice, place, again)
            asked, made = (
                choice,
                Workers(count, f"{__name__}:performer", settings, place / "temporary", cores),
            )
            with made as workers:
                if not choice.papers:
                    asked = _settled(workers, choice, cases, properties, poll, count if progress else 0)
                answers, stopped = _perform(workers, asked, poll, progress)
            report = assemble(asked, answers)
            drawn = [(f, answers["figure", f.id].get("failed")) for f in asked.about(FIGURES)]
            html = page.html(report, drawn, place / "figures", case_of)
            figures = folders.publish(report, html, place / "figures", folder)
            if stopped is not None:
                done, tasks = report["interrupted"].values()
                left = f"{folder / 'report.html'} has the {done} of {tasks} tasks that were finished"
                raise Interrupted(stopped, left)
            return report, figures

    report, figures = on_first_rank(work)
    if MPI.COMM_WORLD.rank == 0:
        beside = f", figures beside them: {figures}" if figures else ""
        terminal.say(terminal.summary(report, case_of, shutil.get_terminal_size((100, 24)).columns))
        terminal.say(f"written: {folder / 'report.html'}, {folder / 'report.json'}{beside}")
    return report


def _processes(jobs: int | None, cores: int) -> int:
    if jobs is None:
        return cores
    if jobs < 1:
        raise ValueError(f"the number of jobs must be at least 1, but is {jobs}")
    most = _MOST_PER_CORE * cores
    if jobs > most and MPI.COMM_WORLD.rank == 0:
        print(f"report: {most} processes, {_MOST_PER_CORE} for each core, instead of {jobs}", file=sys.stderr)
    return min(jobs, most)


# -- tasks, as workers do them


def performer(settings: dict[str, Any]) -> Callable[[Task], Any]:
    """The function of a task in a worker, which answers what JSON can hold."""
    runs = Runs(settings["runs"], only=settings["only"], **settings.get("kept", {}))
    folder = Path(settings["figures"])
    claims, figures = {c.id: c for c in CLAIMS}, {f.id: f for f in FIGURES}
    properties = {p.id: p for p in PROPERTIES}
    kinds: dict[str, Callable[..., Any]] = {
        "claim": lambda name: as_row(claims[name].decide(runs)),
        "property": lambda name, scheme: as_row(properties[name].decide(runs, scheme)),
        "work": lambda case: {"rows": work.rows(runs, case)},
        "figure": lambda name: _draw(figures[name], runs, folder),
        "run": lambda case, scheme: _default_run(runs, case, scheme),
        "trial": lambda case, scheme: own.trial(runs, case, scheme),
    }

    def do(task: Task) -> Any:
        try:
            with np.errstate(all="ignore"):
                return kinds[task[0]](*task[1:])
        except BaseException as error:  # whatever code of the user's does: the report goes on
            foreseen = isinstance(error, (NotChosen, FailedRun))
            return {"failed": str(error) if foreseen else describe(error)}

    return do


def as_row(finding: Verdict) -> dict[str, Any]:
    """A verdict as JSON holds it."""
    row = {**finding.row("why"), "relation": finding.relation}
    return {name: row[name] for name in _VERDICT}


def _default_run(runs: Runs, case: str, scheme: str) -> Any:
    restitution = CASES[case].parameters.get("restitution")
    unable = scheme in _WITHOUT_RESTITUTION and restitution is not None and restitution.default > 0
    return runs(case, scheme, **CASES[case].reported, **({"restitution": 0} if unable else {})).summary


def _draw(figure: Any, runs: Runs, folder: Path) -> Any:
    plot.pyplot()
    import matplotlib
    from matplotlib.figure import Figure

    paper = Figure(figsize=_SHEET, layout="constrained")
    figure.draw(runs, paper)
    if tuple(paper.get_size_inches()) == _SHEET:
        places = [axes.get_subplotspec() for axes in paper.axes]
        rows = max((place.get_gridspec().nrows for place in places if place is not None), default=1)
        paper.set_size_inches(_SHEET[0], max(_SHEET[1], _ROW * rows))
    # The same numbers give the same file.
    with matplotlib.rc_context({"svg.hashsalt": figure.id}):
        paper.savefig(folder / f"{figure.id}.svg", metadata={"Date": None})
    paper.savefig(folder / f"{figure.id}.png", dpi=150)
    return {"drawn": True}


# -- the whole, on rank 0


def _settings(choice: Choice, place: Path, again: bool) -> dict[str, Any]:
    """What workers are told; runs are kept for the next report where there are own schemes."""
    for name in ("runs", "figures", "temporary"):
        (place / name).mkdir()
    only = None if set(choice.schemes) == set(SCHEMES) else [*choice.schemes, *choice.own]
    settings: dict[str, Any] = {"runs": str(place / "runs"), "figures": str(place / "figures"), "only": only}
    if choice.own and (lasting := kept.folder()) is not None:
        kept.sweep(lasting)
        begun = time.time()
        code = {"code": kept.code_of(choice.own), "begun": begun, "since": begun if again else 0.0}
        settings |= {"runs": str(lasting), "kept": code}
    return settings


def _settled(
    workers: Workers, choice: Choice, cases: _Names, properties: _Names, poll: Callable[[], None], jobs: int
) -> Choice:
    """The choice on cases that the own schemes run; what it will take is said for a number of ``jobs``."""
    found, trials = own.tried(workers, choice.own, None if cases is None else choice.cases, poll)
    choice = choose(found, choice.own, properties)
    if jobs:
        tasks = sum(map(len, choice.lanes()))
        words = [own.plan(choice.own, choice.schemes, found, trials, tasks, jobs)]
        for line in (*own.left_out(trials, found), *words):
            print(f"report: {line}", file=sys.stderr, flush=True)
    return choice


def _perform(
    workers: Workers, choice: Choice, poll: Callable[[], None], progress: bool
) -> tuple[dict[Task, Any], int | None]:
    """The answers to all tasks, and the signal that ended them early; Interrupted before the first."""
    lanes, answers = choice.lanes(), dict[Task, Any]()
    with terminal.Progress(sum(map(len, lanes)), progress) as shown:

        def look() -> None:
            poll()
            shown.look(workers.running())

        try:
            for task, answer in workers.do(lanes, look):
                ended = {"failed": f"its process ended with status {answer.get('ended')}"}
                answers[task] = ended if "ended" in answer else answer
                shown.one_more()
        except Interrupted as stop:
            if not answers:
                raise
            missing = {
                task: {"failed": _UNFINISHED} for lane in lanes for task in lane if task not in answers
            }
            return answers | missing, stop.number
    return answers, None


def assemble(choice: Choice, found: dict[Task, Any]) -> dict[str, Any]:
    """The content of ``report.json``, from the answers to the tasks."""
    cases: dict[str, dict[str, Any]] = {case: {} for case in choice.cases}
    for case, scheme in choice.runs():
        cases[case][scheme] = found["run", case, scheme]
    claims = [_row(c, "id paper where claim kind", found["claim", c.id]) for c in choice.about(CLAIMS)]
    schemes, about = {}, "id name unit case criterion bound"
    for scheme in choice.asked():
        schemes[scheme] = [_row(p, about, found["property", p.id, scheme]) for p in choice.questions()]
    for scheme in choice.own:
        for row in schemes[scheme]:
            mine = {"id": f"own-{scheme}-{row['id']}", "paper": scheme, "where": row["name"]}
            mine |= {"claim": row["criterion"], "kind": "verified"}
            claims.append({**mine, **{name: row[name] for name in _VERDICT}})
    report = {"versions": runner.versions(), "cases": cases, "claims": claims, "schemes": schemes}
    answers = (found["work", case] for case in choice.cases if case in STUDIES)
    if costs := [row for answer in answers for row in answer.get("rows", ())]:
        report["work_precision"] = costs
    if missing := sum(answer.get("failed") == _UNFINISHED for answer in found.values()):
        report["interrupted"] = {"done": len(found) - missing, "of": len(found)}
    return report


def _row(about: Any, names: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a claim or a property, and its verdict: undecided with the reason where there is none."""
    verdict = answer if "failed" not in answer else as_row(Verdict.undecided(answer["failed"]))
    return {**{name: getattr(about, name) for name in names.split()}, **verdict}
