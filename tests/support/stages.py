"""Stages of a run of the whole suite: the tests on one rank, then those marked ``mpi`` on two, and on three
too where slow tests are not left out.

The cases of a parametrised test take turns: of six the first and the fourth run on two ranks, the second on
three and the others on one alone; fewer, where their kinds do not matter to what is distributed. Tests
without cases run on two ranks, every fourth one of a file on three too. In a nightly run all run on both.

On several ranks every rank runs this module as a program: rank 0 prints, the others write to files that
are shown where the stage fails.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from .examples import PROFILE
from .paths import ROOT, TESTS
from .processes import environment

#: Folder of what tests on one rank leave for the same tests on several (see the fixture ``as_on_one_rank``).
KEPT = "DOLFINX_IMPACT_TESTS_ON_ONE_RANK"


class Counts:
    """Counts outcomes, also those that processes of pytest-xdist report, and the tests marked ``mpi``."""

    def __init__(self):
        self.passed = self.failed = self.marked = 0

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed
        self.failed += report.failed
        self.marked += "mpi" in report.keywords


def turns(ids, ran, most=None):
    """Of the cases of each parametrised test, and of the tests without, those whose turn it is.

    Args:
        ids: Node ids of one stage, in order.
        ran: Those that an earlier stage has run; None in the first: some cases are for the next one, or for
            none.
        most: Largest number of cases in a stage, for the tests that say so.

    Returns:
        The chosen ids.
    """
    tests, alone = {}, {}
    for each in ids:
        tests.setdefault(each.split("[")[0], []).append(each)
    chosen = set()
    for name, cases in tests.items():
        left = [each for each in cases if each not in (ran or ())]
        turn = cases[::3] if ran is None else cases[1::6]
        if len(cases) == 1:
            alone.setdefault(name.split("::")[0], []).extend(cases)
        elif name in (most or {}):
            chosen.update(left[:: max(1, -(-len(left) // most[name]))])
        else:
            chosen.update(each for each in turn if each in left)
    for singles in alone.values():
        chosen.update(singles if ran is None else singles[::4])
    return chosen


def takes_turns(item):
    return item.get_closest_marker("mpi").kwargs.get("turns", True)


def most_cases(items):
    """The largest numbers of cases in a stage, by test."""
    marks = {item.nodeid.split("[")[0]: item.get_closest_marker("mpi").kwargs for item in items}
    return {name: given["cases"] for name, given in marks.items() if "cases" in given}


class Turns:
    """Cases of a parametrised test take turns: on three ranks run those that did not on two.

    Not in the nightly run, nor those marked ``mpi(turns=False)``; of those marked ``mpi(cases=2)`` two in
    each stage. The file ``listed`` names what has run; it is not there before the first stage.
    """

    def __init__(self, listed, writes):
        self.listed, self.writes, self.ran = listed, writes, []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        ran = set(json.loads(self.listed.read_text())) if self.listed.exists() else None
        chosen = {item.nodeid for item in items if not takes_turns(item)}
        chosen |= turns([item.nodeid for item in items if takes_turns(item)], ran, most_cases(items))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]
        self.ran = sorted(chosen)

    def pytest_sessionfinish(self):
        if self.writes:
            self.listed.write_text(json.dumps(self.ran))


@contextlib.contextmanager
def kept_results():
    """A folder for results of one rank, for this process and those that it starts."""
    with tempfile.TemporaryDirectory(prefix="tests_on_one_rank_") as folder:
        os.environ[KEPT] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[KEPT]


def marked_files():
    """The files that have tests marked ``mpi``: several ranks need not import the others."""
    return [str(file) for file in sorted(TESTS.rglob("test_*.py")) if "mark.mpi" in file.read_text()]


def run_on(ranks, options, folder):
    """The marked tests on so many ranks.

    Returns:
        Whether they passed, and how many did.
    """
    logs = folder / f"logs-{ranks}"
    logs.mkdir()
    program = [sys.executable, "-m", "support.stages", str(logs), *options, *marked_files()]
    # Only the thread method ends a rank that waits inside MPI; it ends the whole job with it.
    program += ["-p", "no:cacheprovider", "-p", "no:xdist", "--timeout-method", "thread"]
    # mpirun gives its ranks a terminal, whatever it writes to itself.
    program += ["--color", "yes" if sys.stdout.isatty() else "no"]
    print(f"\n{f' {ranks} ranks ':=^80}", flush=True)
    done = subprocess.run(["mpirun", "-n", str(ranks), *program], cwd=ROOT, env=environment(), check=False)
    counts = logs / "counts.json"
    passed = json.loads(counts.read_text())["passed"] if counts.exists() else 0
    if done.returncode:
        for log in sorted(logs.glob("rank-*.log")):
            print(f"{f' {log.stem} ':-^80}\n{log.read_text()[-8000:]}", flush=True)
    return done.returncode == 0, passed


def ranks_of(expression):
    """How many ranks the stages after the first have; the third stage is as slow as the second."""
    return (2,) if "not slow" in expression else (2, 3)


def run_on_several_ranks(fine, counts, options, folder, begun):
    """The stages after the tests on one rank; the last line says whether all passed.

    Args:
        fine: Whether the tests on one rank passed.
        counts: Their :class:`Counts`.
        options: Those of pytest for all stages; the one after ``-m`` decides on how many ranks they run.
        folder: See :func:`kept_results`.
        begun: When the run began, by ``time.monotonic``.

    Returns:
        Whether the stages on several ranks passed.
    """
    found = {"1 rank": (fine, counts.passed)}
    for ranks in ranks_of(options[options.index("-m") + 1]) if counts.marked else ():
        found[f"{ranks} ranks"] = run_on(ranks, options, folder)
    failed = [name for name, (fine, _) in found.items() if not fine]
    said = ", ".join(f"{passed} on {name}" for name, (_, passed) in found.items())
    word = f"failed on {' and '.join(failed)}" if failed else "passed"
    print(f"\n{f' {word}: {said}, in {time.monotonic() - begun:.0f} s ':=^80}", flush=True)
    return not failed


def main(logs, arguments):
    """One rank of a stage; its exit status."""
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank:
        log = os.open(Path(logs) / f"rank-{MPI.COMM_WORLD.rank}.log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
    counts = Counts()
    plugins = [counts]
    if PROFILE != "nightly":
        plugins.append(Turns(Path(logs).parent / "cases.json", writes=MPI.COMM_WORLD.rank == 0))
    status = pytest.main(arguments, plugins=plugins)
    if MPI.COMM_WORLD.rank == 0:
        (Path(logs) / "counts.json").write_text(json.dumps(vars(counts)))
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
