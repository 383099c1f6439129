"""Collective errors, reductions and gathers; command lines of programs under ``mpirun``."""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np
from mpi4py import MPI

from ._types import FloatArray

T = TypeVar("T")


def on_root(comm: MPI.Comm, work: Callable[[], T]) -> T:
    """Run ``work`` on rank 0 and broadcast its result; an exception is raised on all ranks. Collective."""
    if comm.size == 1:
        return work()
    found, error = None, None
    if comm.rank == 0:
        try:
            found = work()
        except Exception as caught:
            error = caught
    of_root: tuple[T, Exception | None] = comm.bcast((found, _portable(error)), root=0)
    result, failure = of_root
    if failure is not None:
        raise failure
    return result


def agree(comm: MPI.Comm, error: Exception | None) -> None:
    """Raise the error of the lowest rank that has one on all ranks. Collective."""
    failed = [e for e in comm.allgather(_portable(error)) if e is not None]
    if failed:
        raise failed[0]


def together(comm: MPI.Comm, work: Callable[[], T]) -> T:
    """Result of ``work`` on this rank; ``work`` may call user-defined functions. Collective.

    If it raises on any rank, all ranks raise the error of the lowest of these, which avoids deadlocks.
    ``work`` itself must not be collective.
    """
    if comm.size == 1:
        return work()
    error = None
    try:
        result = work()
    except Exception as caught:  # any error of a user-defined function
        error = caught
    if comm.allreduce(error is not None, op=MPI.LOR):
        agree(comm, error)
    return result


def _portable(error: Exception | None) -> Exception | None:
    """The error, or a RuntimeError with its text where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def total(comm: MPI.Comm, value: float | np.number[Any]) -> float:
    """Sum of a float over the ranks. Collective."""
    return float(value if comm.size == 1 else comm.allreduce(value, op=MPI.SUM))


def largest(comm: MPI.Comm, values: FloatArray) -> float:
    """Largest entry over all ranks; ``-inf`` without entries. Collective."""
    local = float(np.maximum.reduce(values, axis=None, initial=-np.inf))
    return local if comm.size == 1 else float(comm.allreduce(local, op=MPI.MAX))


def gather_rows(comm: MPI.Comm, local: FloatArray, axis: int = 0) -> FloatArray:
    """Concatenation of the arrays of all ranks along ``axis``, in rank order, replicated. Collective."""
    if comm.size == 1:
        return np.asarray(local)
    return np.concatenate(comm.allgather(np.ascontiguousarray(local)), axis=axis)


class Parser(argparse.ArgumentParser):
    """Parser of the command line of a program that runs on several ranks: each of them parses the same.

    Help is printed by rank 0 alone. Bad input is a ValueError on every rank, not an exit: the program says it
    once and ends, as for bad input that it finds itself.
    """

    def error(self, message: str) -> NoReturn:
        """Raise a ValueError with the message."""
        raise ValueError(message)

    def print_help(self, file: Any = None) -> None:
        """Print the help on rank 0."""
        if MPI.COMM_WORLD.rank == 0:
            super().print_help(file)
