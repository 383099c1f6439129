"""Processes that tests start, and how they end."""

import contextlib
import importlib.util
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .paths import TESTS

# Found, not imported: the process that hands out the tests does not need it.
_PACKAGE = Path(importlib.util.find_spec("dolfinx_impact").origin).resolve().parents[1]


def environment():
    """The variables of a process that a test starts: it imports the package and what tests share."""
    # Not the caller's own place in an MPI job, which a second mpirun would take for its own.
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("PMIX_", "OMPI_COMM_WORLD_"))}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_PACKAGE), str(TESTS), kept.get("PYTHONPATH")]))
    return kept


def end(process):
    """End a process and all that it started; mpirun needs a chance to end its ranks itself."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    return process.communicate()


@contextlib.contextmanager
def started():
    """``start(arguments, ranks=1, cwd=None)``: a running Python process, ended with the context."""
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

    try:
        yield start
    finally:
        for process in running:
            if process.poll() is None:
                end(process)


def run_to_its_end(arguments, ranks=1, cwd=None, timeout=600):
    """A Python process that has ended; the time is a guard, far above what a busy machine needs."""
    with started() as start:
        process = start(arguments, ranks, cwd)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            out, err = end(process)
            pytest.fail(f"{arguments} on {ranks} ranks took more than {timeout} s:\n{out}\n{err}")
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextlib.contextmanager
def limited_files(size):
    """Files of this process may have so many bytes, as if the disk were full; without the signal of it."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
