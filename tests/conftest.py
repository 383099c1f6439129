"""Shared parts of all tests: repeatable examples, collective clean-up, separate processes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import hypothesis
import pytest
from mpi4py import MPI
from support.processes import end, environment

from dolfinx_impact.benchmark.runs import Runs

hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, max_examples=25
)
hypothesis.settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    # The whole suite on one rank: two processes share its files where pytest-xdist is installed.
    whole = config.args == config.getini("testpaths") or config.args == [str(config.rootpath / "tests")]
    asked = hasattr(config, "workerinput") or getattr(config.option, "numprocesses", 0) is not None
    if whole and MPI.COMM_WORLD.size == 1 and not asked:
        config.option.numprocesses, config.option.dist = 2, "loadfile"


def pytest_configure(config):
    config.addinivalue_line("markers", "serial: starts processes or is pointless in parallel; one rank only")
    # gc.freeze below hides from hypothesis that its generator is referred to.
    config.addinivalue_line("filterwarnings", "ignore:It looks like `register_random`")


def pytest_collection_modifyitems(items):
    if MPI.COMM_WORLD.size > 1:
        for item in items:
            if item.get_closest_marker("serial"):
                item.add_marker(pytest.mark.skip(reason="runs on one rank only"))


def pytest_collection_finish():
    # Imported objects persist: the collections after every test need not scan them.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    # PETSc and MPI objects are destroyed collectively: no rank may collect them at a time of its own.
    gc.collect()
    MPI.COMM_WORLD.barrier()


@pytest.fixture
def spawn():
    """``spawn(arguments, ranks=1, cwd=None)``: a running Python process, ended after the test."""
    running = []

    def start(arguments, ranks=1, cwd=None):
        command = [sys.executable, *map(str, arguments)]
        if ranks > 1:
            command = ["mpirun", "-n", str(ranks), *command]
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment(),
            text=True,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            end(process)


@pytest.fixture
def launch(spawn):
    """``launch(arguments, ranks=1, cwd=None, timeout=120)``: a Python process that has ended."""

    def run(arguments, ranks=1, cwd=None, timeout=120):
        process = spawn(arguments, ranks, cwd)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            out, err = end(process)
            pytest.fail(f"{arguments} on {ranks} ranks took more than {timeout} s:\n{out}\n{err}")
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


@pytest.fixture
def shared_path(tmp_path):
    """A fresh folder, the same on all ranks."""
    return MPI.COMM_WORLD.bcast(tmp_path)


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Runs that the tests of claims and figures share, also between processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    (folder / "shared_runs").mkdir(exist_ok=True)
    return Runs(folder / "shared_runs")
