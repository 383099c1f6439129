"""Messages between the ranks that are sent again and again, by compiled code."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Iterable
from importlib import resources
from typing import Any

import cffi
import numpy as np
from mpi4py import MPI

from ...._types import FloatArray, IntArray
from ....algebra.node_rows import Call
from ....systems.elements.compiler import address, compiled, record

#: Sums are the same bits on all ranks: nothing is contracted.
_FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
#: Tags of the messages, by what they do.
_SHARE, _NUMBERS = 3403, 3406
#: Bytes of the handle of a request, which differ between MPI libraries.
_HANDLE = MPI._sizeof(MPI.Prequest)
_FFI = cffi.FFI()
_FFI.cdef("int MPI_Startall(int, void *); int MPI_Waitall(int, void *, void *);")
#: What the structures point to.
_kept: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class Messages:
    """Messages to other ranks, from the same arrays into the same ones.

    The rows of the arrays are those for each rank, one rank after the other; those for this rank stay.

    Args:
        comm: Communicator.
        given, sent: What is sent, shape (n, k), and the number of rows for each rank.
        taken, received: What is received, shape (m, k), and the number of rows from each rank.
        tag: Tag of the messages.

    Attributes:
        pointer: They, for compiled code.
    """

    def __init__(
        self,
        comm: MPI.Comm,
        given: FloatArray,
        sent: IntArray,
        taken: FloatArray,
        received: IntArray,
        tag: int,
    ) -> None:
        parts = [np.split(given, np.cumsum(sent)[:-1]), np.split(taken, np.cumsum(received)[:-1])]
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        requests = [comm.Recv_init(parts[1][k], k, tag) for k in others if received[k]]
        requests += [comm.Send_init(parts[0][k], k, tag) for k in others if sent[k]]
        self._arrays, count = (given, taken), len(requests)
        handles = np.zeros((count, _HANDLE), np.uint8)
        for handle, each in zip(handles, requests):
            ctypes.memmove(handle.ctypes.data, MPI._addressof(each), _HANDLE)
        statuses = np.zeros((count, MPI._sizeof(MPI.Status)), np.uint8)
        self.pointer = structure("messages", count=count, requests=handles, statuses=statuses)
        self.pointer.start, self.pointer.wait = _start_and_wait()
        weakref.finalize(self, _free, list(zip(requests, handles)))


class SharedSums:
    """Sums of values at nodes that other ranks have too. Collective.

    Args:
        comm: Communicator.
        nodes: Number of the nodes.
        node: Node of each row of the messages, for each rank one after the other, shape (n,).
        rows: Number of the rows for each rank, and from it.

    Attributes:
        call: :meth:`add` for compiled code.
    """

    def __init__(self, comm: MPI.Comm, nodes: int, node: IntArray, rows: IntArray) -> None:
        told, heard = np.empty((2, node.size, 4))
        self._pointer = structure(
            "shared_sums",
            between=Messages(comm, told, rows, heard, rows, _SHARE),
            nodes=nodes,
            rows=node.size,
            before=int(rows[: comm.rank].sum()),
            node=np.ascontiguousarray(node, np.int64),
            told=told,
            heard=heard,
            sums=np.empty((nodes, 4)),
        )
        self.call = Call(_number(library().add_shared), _number(self._pointer))

    def add(self, values: FloatArray) -> None:
        """Replace values at the nodes, (nodes, 4), by their sums in the order of the ranks. Collective."""
        succeed(library().add_shared(self._pointer, address(values)))


class Gathering:
    """Some numbers of each rank, brought to all ranks. Collective.

    After each round of messages a rank has the numbers of twice as many: Bruck et al., IEEE Trans. Parallel
    Distrib. Syst. 8 (1997), doi:10.1109/71.642949.

    Args:
        comm: Communicator.
        width: How many numbers.

    Attributes:
        all: Those of all ranks, shape (ranks, width).
        call: :meth:`gather` for compiled code.
    """

    def __init__(self, comm: MPI.Comm, width: int) -> None:
        size, rank, ranks = comm.size, comm.rank, np.arange(comm.size)
        turned, self.all = np.zeros((2, size, width))  # the first one from this rank on
        known, rounds = 1, []
        while known < size:
            more = min(known, size - known)
            sent, received = (np.where(ranks == (rank + k) % size, more, 0) for k in (-known, known))
            rounds.append(
                Messages(comm, turned[:more], sent, turned[known : known + more], received, _NUMBERS)
            )
            known += more
        self._rounds, pointers = rounds, np.array([_number(each.pointer) for each in rounds], np.uintp)
        sizes = {"rounds": len(rounds), "width": width, "rank": rank, "ranks": size}
        self._pointer = structure("gathering", round=pointers, turned=turned, all=self.all, **sizes)
        self.call = Call(_number(library().gather), _number(self._pointer))

    def gather(self, own: FloatArray) -> None:
        """Write the numbers of all ranks, from those of each, shape (width,). Collective."""
        succeed(library().gather(self._pointer, address(own)))


def structure(kind: str, **fields: Any) -> Any:
    """A structure of ``messages.h``, from numbers, arrays, which must have the right types, and messages."""
    pointer = record(_text("messages.h"), f"{kind} *")
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value = address(value, "void *") if value.size else _FFI.NULL
        setattr(pointer, name, value.pointer if isinstance(value, Messages) else value)
    _kept[pointer] = fields
    return pointer


def succeed(code: int) -> None:
    """Raise the error of MPI of a code, unless it is 0."""
    if code:
        raise MPI.Exception(code)


def _free(requests: Iterable[tuple[MPI.Prequest, Any]]) -> None:
    """Free requests by their handles, which MPI may have changed when it started them."""
    if MPI.Is_finalized():
        return
    for request, handle in requests:
        ctypes.memmove(MPI._addressof(request), handle.ctypes.data, _HANDLE)
        request.Free()


def _number(pointer: Any) -> int:
    return int(_FFI.cast("intptr_t", pointer))


@functools.cache
def _start_and_wait() -> tuple[Any, Any]:
    """Functions of the MPI library that mpi4py uses."""
    mpi: Any = _FFI.dlopen(MPI.__file__)
    return mpi.MPI_Startall, mpi.MPI_Waitall


@functools.cache
def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def library() -> Any:
    """The functions of ``messages.c``."""
    declared = _text("messages.h")
    source = "\n".join(["#include <stddef.h>\n#include <stdint.h>", declared, _text("messages.c")])
    return compiled(source, _FLAGS, MPI.COMM_SELF, declared)
