"""Errors and sums that every rank sees alike."""

from __future__ import annotations

import pickle
from typing import Callable, TypeVar

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

T = TypeVar("T")


def on_root(comm: MPI.Comm, work: Callable[[], T]) -> T:
    """Run ``work`` on rank 0 and hand its result, or its exception, to all ranks."""
    result, error = None, None
    if comm.rank == 0:
        try:
            result = work()
        except Exception as caught:
            error = caught
    result, error = comm.bcast((result, _portable(error)), root=0)
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def agree(comm: MPI.Comm, error: Exception | None) -> None:
    """Raise on all ranks when any rank has an error (that of the lowest rank). Collective."""
    failed = [e for e in comm.allgather(_portable(error)) if e is not None]
    if failed:
        raise failed[0]


def together(comm: MPI.Comm, work: Callable[[], T]) -> T:
    """What ``work``, which calls a function of the user's, gives on this rank. Collective.

    Where it raises on any rank, all raise the error of the lowest of them: none waits for one that has left.
    ``work`` itself must not be collective.
    """
    if comm.size == 1:
        return work()
    error = None
    try:
        result = work()
    except Exception as caught:  # whatever the user's function raises
        error = caught
    if comm.allreduce(error is not None, op=MPI.LOR):
        agree(comm, error)
    return result


def _portable(error: Exception | None) -> Exception | None:
    """The error, or one that says the same, where its class cannot be sent to another rank."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def total(comm: MPI.Comm, value: float) -> float:
    """Sum over the ranks of a local float. Collective."""
    return float(comm.allreduce(value, op=MPI.SUM))


def largest(comm: MPI.Comm, values: NDArray) -> float:
    """Largest entry over all ranks; ``-inf`` when there is none. Collective."""
    return float(comm.allreduce(float(np.max(values, initial=-np.inf)), op=MPI.MAX))


def gather_rows(comm: MPI.Comm, local: NDArray, axis: int = 0) -> NDArray:
    """Concatenate the ranks' arrays along ``axis``, in rank order, on every rank. Collective."""
    if comm.size == 1:
        return np.asarray(local)
    return np.concatenate(comm.allgather(np.ascontiguousarray(local)), axis=axis)
