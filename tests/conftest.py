"""Shared parts of all tests: tiers, repeatable examples, collective clean-up, separate processes."""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import time
from pathlib import Path

import pytest
from mpi4py import MPI
from support import examples as _profile  # noqa: F401
from support import stages
from support.processes import run_to_its_end, started

COMM = MPI.COMM_WORLD
MARKERS = {
    "mpi(turns=True, cases=all)": "runs on 2 or 3 ranks too, its cases (so many) in turns: it is distributed",
    "one_rank": "a case of a test marked mpi that one rank is enough for",
    "slow": "left out by default, as are 3 ranks: long, with a shorter relative that is not",
    "nightly": "too long for every change: .ci/nightly runs it",
}
#: Tests marked nightly beside those that say so themselves, one a line.
NIGHTLY = Path(__file__).parent / "nightly.txt"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config):
    """The whole suite: on one rank two processes share its files, then come the stages on several ranks."""
    whole = config.args == config.getini("testpaths") or config.args == [str(config.rootpath / "tests")]
    if not whole or COMM.size > 1 or hasattr(config, "workerinput"):
        return (yield)
    if getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses, config.option.dist = 2, "loadfile"
    begun, counts = time.monotonic(), stages.Counts()
    config.pluginmanager.register(counts)
    options = ["-q", "-m", config.option.markexpr, "-k", config.option.keyword]
    with stages.kept_results() as folder:
        status = yield
        ended = status == pytest.ExitCode.OK or (status == 1 and not config.getvalue("maxfail"))
        if not ended or not (counts.passed or counts.failed):
            return status
        passed = stages.run_on_several_ranks(status == 0, counts, options, folder, begun)
    return status or (0 if passed else 1)


def pytest_configure(config):
    # A test makes many objects that persist until its end: collections between its files are enough.
    gc.set_threshold(100_000, 20, 10)
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        # Not in the process that hands out the tests: it needs no package, and others wait for its start.
        from support import form_kernels

        form_kernels.remember()
    # gc.freeze below hides from hypothesis that its generator is referred to.
    config.addinivalue_line("filterwarnings", "ignore:It looks like `register_random`")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    listed = set(NIGHTLY.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in listed:
            item.add_marker(pytest.mark.nightly)
    if COMM.size > 1:
        kept = [i for i in items if i.get_closest_marker("mpi") and not i.get_closest_marker("one_rank")]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def pytest_collection_finish():
    # Imported objects persist: the collections after every test need not scan them.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    # PETSc and MPI objects are destroyed collectively: no rank may collect them at a time of its own.
    last = nextitem is None or nextitem.path != item.path
    if COMM.size > 1 or last:
        gc.collect()
    if last:
        gc.freeze()  # what outlives the fixtures of a file: late imports, caches, compiled functions
    COMM.barrier()


@pytest.fixture
def spawn():
    """``spawn(arguments, ranks=1, cwd=None)``: a running Python process, ended after the test."""
    with started() as start:
        yield start


@pytest.fixture(scope="session")
def launch():
    """``launch(arguments, ranks=1, cwd=None)``: a Python process that has ended."""
    return run_to_its_end


@pytest.fixture
def shared_path(tmp_path):
    """A fresh folder, the same on all ranks."""
    return COMM.bcast(tmp_path)


@pytest.fixture(scope="session")
def kept_files():
    """A folder that the stages on 1, 2 and 3 ranks of a run of the whole suite share; None in other runs."""
    folder = os.environ.get(stages.KEPT)
    return Path(folder) if folder else None


@pytest.fixture
def as_on_one_rank(request, kept_files):
    """``as_on_one_rank(found)``: what the same test found on one rank; there it is kept for several."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:24]

    def compared(found):
        if COMM.size == 1:
            if kept_files:
                (kept_files / name).write_bytes(pickle.dumps(found))
            return found
        if not kept_files:
            pytest.skip("results of one rank are there in a run of the whole suite only")
        return pickle.loads((kept_files / name).read_bytes())

    return compared


@pytest.fixture
def plain_pixels(monkeypatch):
    """Pictures of bodies are half as wide, without finer pixels that smooth their edges."""
    from dolfinx_impact.plot import solids

    monkeypatch.setattr(solids, "WIDTH", solids.WIDTH // 2)
    monkeypatch.setattr(solids.SolidScene.images, "__defaults__", (1,))


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Runs that the tests of claims and figures share, also between processes."""
    from dolfinx_impact.benchmark.runs import Runs

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    (folder / "shared_runs").mkdir(exist_ok=True)
    return Runs(folder / "shared_runs")
