"""Collective errors, reductions and gathers; command lines of programs under ``mpirun``."""

from __future__ import annotations

import argparse
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import numpy as np
from mpi4py import MPI

from ._types import FloatArray

T = TypeVar("T")

#: What would make a process that is started take itself for a rank of the MPI job around it.
OF_THE_JOB = ("OMPI_", "PMIX_", "PRTE_", "PMI_", "HYDRA_", "MPIR_")
#: Of libraries that have threads.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_OTHERS = (
    "a run of a study has ranks of its own: use the communicator that the function gets instead of "
    "MPI.COMM_WORLD, on whose other ranks something else runs"
)


@contextmanager
def outside_of_the_job() -> Iterator[None]:
    """Context in which processes start that are no ranks of the MPI job and have one thread."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(OF_THE_JOB):
            del os.environ[name]
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Group:
    """The ranks of a run of a study.

    Attributes:
        comm: The ranks.
        steps: Time steps of the calls of :func:`.simulate` so far.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self.comm, self.steps = comm, 0


class _OtherRanks:
    """In the place of ``MPI.COMM_WORLD`` in a run on some of the ranks: what is asked of it is an error."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(name) if name.startswith("__") else ValueError(_OTHERS)


_groups: list[Group] = []


def current_group() -> Group | None:
    """The ranks of the run of a study that goes on, None outside of studies."""
    return _groups[-1] if _groups else None


def world() -> MPI.Comm:
    """All ranks of the program; within a run of a study those of the run."""
    return _groups[-1].comm if _groups else MPI.COMM_WORLD


@contextmanager
def within(group: Group) -> Iterator[None]:
    """Context in which :func:`world` is that of the group.

    ``MPI.COMM_WORLD`` cannot be used if it has more ranks; what DOLFINx says of it is a ValueError in words.
    Objects of PETSc are made on the group where no communicator is given.
    """
    from petsc4py import PETSc

    everyone, default = MPI.COMM_WORLD, PETSc.Sys.getDefaultComm()
    if group.comm.size < everyone.size:
        MPI.COMM_WORLD = _OtherRanks()  # type: ignore[misc, assignment]
        PETSc.Sys.setDefaultComm(group.comm)
    _groups.append(group)
    try:
        yield
    except TypeError as error:
        if _OtherRanks.__name__ not in str(error):
            raise
        raise ValueError(_OTHERS) from error
    finally:
        _groups.pop()
        MPI.COMM_WORLD = everyone  # type: ignore[misc]
        PETSc.Sys.setDefaultComm(default)


def refuse_other_ranks(comm: MPI.Comm) -> None:
    """A ValueError unless ``comm`` has the ranks of the run of a study that goes on, or this rank alone."""
    if not _groups or comm.size == 1:
        return
    if MPI.Comm.Compare(comm, world()) not in (MPI.IDENT, MPI.CONGRUENT):
        raise ValueError(f"the mesh lies on {comm.size} ranks, the run on {world().size} of them: {_OTHERS}")


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


def anywhere(comm: MPI.Comm, flag: bool | np.bool_) -> bool:
    """Whether a flag is set on any rank. Collective."""
    if comm.size == 1:
        return bool(flag)
    flags = np.array([flag], dtype=np.int8)  # a fifth of the time of a Python object
    comm.Allreduce(MPI.IN_PLACE, flags, op=MPI.MAX)
    return bool(flags[0])


def agree(comm: MPI.Comm, error: Exception | None) -> None:
    """Raise the error of the lowest rank that has one on all ranks. Collective."""
    if anywhere(comm, error is not None):
        raise next(e for e in comm.allgather(_portable(error)) if e is not None)


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
        if world().rank == 0:
            super().print_help(file)
