"""Errors and sums that every rank sees alike."""

from __future__ import annotations

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
    result, error = comm.bcast((result, error), root=0)
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def agree(comm: MPI.Comm, error: Exception | None) -> None:
    """Raise on all ranks when any rank has an error (that of the lowest rank). Collective."""
    failed = [e for e in comm.allgather(error) if e is not None]
    if failed:
        raise failed[0]


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
