"""Processes that tests start, and how they end."""

import os
import signal
import subprocess
from pathlib import Path

import dolfinx_impact

from .paths import TESTS

_PACKAGE = Path(dolfinx_impact.__file__).resolve().parents[1]


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
