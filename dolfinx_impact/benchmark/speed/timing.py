"""Calls timed in turns, and their ratios in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ...contact.base import Contact
from ...integrators import CDLagrange, CentralDifferences
from ..report.wording import faster

Actions = Mapping[str, Callable[[], object]]


def started(system: Any, h: float, contact: Contact | None, u0: Any, v0: Any) -> CentralDifferences:
    """CD-Lagrange with a time step and an initial state."""
    integrator = CDLagrange(system, h, contact=contact)
    integrator.start(u0, v0)
    return integrator


def seconds_per_call(action: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    """Seconds of a call, the mean over some."""
    begun = clock()
    for _ in range(calls):
        action()
    return (clock() - begun) / calls


def calls_of(action: Callable[[], object], comm: MPI.Comm, seconds: float) -> int:
    """How many calls of an action take about so long [s], the same on every rank. Collective."""
    action()
    return max(1, int(comm.bcast(seconds / seconds_per_call(action, 3, MPI.Wtime))))


def interleave(
    actions: Actions, rounds: int, calls: int | Mapping[str, int], comm: MPI.Comm = MPI.COMM_SELF
) -> dict[str, NDArray]:
    """Seconds per call of each action in every round; a first call is not counted. Collective on ``comm``."""
    for action in actions.values():
        action()
    found: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            comm.barrier()
            number = calls if isinstance(calls, int) else calls.get(name, 1)
            found[name].append(seconds_per_call(action, number, time.perf_counter))
    return {name: np.array(values) for name, values in found.items()}


def ratio(seconds: NDArray, base: NDArray) -> float:
    """Ratio of the medians."""
    return float(np.median(seconds) / np.median(base))


def spread(ratios: NDArray) -> str:
    """The least and the largest ratio of the rounds."""
    return f"rounds {ratios.min():.2f} to {ratios.max():.2f}"


def faster_spread(name: str, ratio: float, ratios: NDArray) -> str:
    """How a speed compares, and the least and the largest of the rounds or parts."""
    least, most = faster(float(ratios.min())), faster(float(ratios.max()))
    return f", {faster(ratio)} ({name}: {least} to {most})"


def say(body: Any, line: str) -> None:
    """Print a line on one rank."""
    if body.comm.rank == 0:
        print(line, flush=True)
