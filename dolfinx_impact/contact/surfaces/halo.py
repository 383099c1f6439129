"""Exchange of values at the surface nodes between the ranks that own them and those that need them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable
from typing import TypeVar, cast

import numpy as np
from mpi4py import MPI

from ..._types import AnyArray, FloatArray, IntArray
from ...algebra import kernels

Numbers = TypeVar("Numbers", IntArray, FloatArray)

#: Tags of the messages, by what they do.
_GATHER, _ADD, _SHARE = 3401, 3402, 3403


def scatter(dofs: IntArray, values: FloatArray, d: FloatArray, x: FloatArray) -> None:
    """Add the values, times d where it is not empty, to the entries of ``x``, which may occur twice."""
    for i in range(dofs.shape[0]):
        for k in range(dofs.shape[1]):
            j = np.uint64(dofs[i, k])
            x[j] += values[i, k] * d[j] if d.size else values[i, k]


def collect(dofs: IntArray, x: FloatArray, out: FloatArray) -> None:
    """Write the entries ``dofs`` of ``x``."""
    for i in range(dofs.shape[0]):
        for k in range(dofs.shape[1]):
            out[i, k] = x[np.uint64(dofs[i, k])]


def scatter_rows(rows: IntArray, values: FloatArray, x: FloatArray) -> None:
    """Add the values to the rows of ``x``, which may occur more than once."""
    for i in range(rows.size):
        for k in range(x.shape[1]):
            x[rows[i], k] += values[i, k]


class Messages:
    """Messages between the ranks that are sent again and again, from the same arrays into the same ones.

    The rows of the arrays are those for each rank, one rank after the other.

    Args:
        comm: Communicator.
        given, sent: What is sent, shape (n, k), and the number of rows for each rank.
        taken, received: What is received, shape (m, k), and the number of rows from each rank.
        tag: Tag of the messages.
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
        self._own = parts[0][comm.rank], parts[1][comm.rank]
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        self._requests = [comm.Recv_init(parts[1][k], k, tag) for k in others if received[k]]
        self._requests += [comm.Send_init(parts[0][k], k, tag) for k in others if sent[k]]
        weakref.finalize(self, _free, self._requests)

    def exchange(self) -> None:
        """Send and receive. Collective."""
        MPI.Prequest.Startall(self._requests)
        given, taken = self._own
        taken[:] = given
        MPI.Prequest.Waitall(self._requests)


def _free(requests: Iterable[MPI.Prequest]) -> None:
    if not MPI.Is_finalized():
        for each in requests:
            each.Free()


class Halo:
    """Nodes that this rank needs, on whatever ranks they are; see :class:`.Exchange`. Collective.

    Args:
        comm: Communicator.
        rank, local: Rank that owns each node, and its number there, shape (nodes,); no node twice.
        block: Dofs per node of the vectors that are exchanged; the first ``gdim`` ones are.
        gdim: Number of values per node.
    """

    def __init__(self, comm: MPI.Comm, rank: IntArray, local: IntArray, block: int, gdim: int) -> None:
        self._comm, self._gdim, self.count = comm, gdim, rank.size
        self.rank, self.local, self.block = rank, local, block
        by_rank = np.argsort(rank, kind="stable")
        wanted = np.bincount(rank, minlength=comm.size)
        numbers, offered = sent(comm, local[by_rank].astype(np.int64), wanted)
        self._order, self._alone = by_rank, comm.size == 1
        self._dofs = numbers[:, None] * block + np.arange(gdim)
        self._near, self._far = np.empty((rank.size, gdim)), np.empty((numbers.size, gdim))
        self._none, self._collect = np.zeros(0), kernels.jit(collect)
        self._scatter, self._scatter_rows = kernels.jit(scatter), kernels.jit(scatter_rows)
        self._constant: tuple[FloatArray, FloatArray] | None = None
        self.shared: IntArray = np.zeros(0, dtype=np.int64)
        if not self._alone:
            self._gather = Messages(comm, self._far, offered, self._near, wanted, _GATHER)
            self._add = Messages(comm, self._near, wanted, self._far, offered, _ADD)
            self._share(numbers, offered, wanted)

    def _share(self, numbers: IntArray, offered: IntArray, wanted: IntArray) -> None:
        """Prepare the messages between ranks that need the same node; an owner tells them of each other."""
        comm = self._comm
        reader = np.repeat(np.arange(comm.size), offered)
        place = np.arange(numbers.size) - np.repeat(np.cumsum(offered) - offered, offered)
        first, second = _pairs(numbers)
        told = np.argsort(reader[first], kind="stable")
        first, second = first[told], second[told]
        counts = np.bincount(reader[first], minlength=comm.size)
        places, from_owner = sent(comm, place[first], counts)
        others, _ = sent(comm, reader[second], counts)
        # In the order of the other rank, then of the owner, then of the number there: the same on both.
        owner = np.repeat(np.arange(comm.size), from_owner)
        nodes = self._order[places + (np.cumsum(wanted) - wanted)[owner]]
        order = np.argsort(others, kind="stable")
        self.shared, rows = np.unique(nodes[order], return_inverse=True)
        others = np.bincount(others, minlength=comm.size)
        self._rows, before = rows, int(others[: comm.rank].sum())
        self._before, self._after = slice(0, before), slice(before, None)
        self._told, self._heard = np.empty((rows.size, 4)), np.empty((rows.size, 4))
        self._of_shared = np.zeros((self.shared.size, 4))
        self._sum = Messages(comm, self._told, others, self._heard, others, _SHARE)

    @functools.cached_property
    def dofs(self) -> IntArray:
        """Owned dofs of the nodes that any rank needs."""
        return np.unique(self._dofs)

    def gather(self, x: FloatArray, out: FloatArray) -> None:
        """Write the owned entries of ``x`` at the nodes into ``out``, (nodes, gdim). Collective."""
        if self._alone:
            self._collect(self._dofs, x, out)
            return
        self._collect(self._dofs, x, self._far)
        self._gather.exchange()
        out[self._order] = self._near

    def at_nodes(self, d: FloatArray) -> FloatArray:
        """A constant vector over the owned dofs at the nodes, (nodes, gdim). Collective at first."""
        if self._constant is None or self._constant[0] is not d:
            values = np.empty((self.count, self._gdim))
            self.gather(d, values)
            self._constant = d, values
        return self._constant[1]

    def sum(self, values: FloatArray) -> None:
        """Replace values at the nodes by their sums over all ranks, (nodes, gdim). Collective."""
        if self._alone:
            return
        of_shared = np.zeros((self.shared.size, 4))
        of_shared[:, : self._gdim] = values[self.shared]
        self.add_shared(of_shared)
        values[self.shared] = of_shared[:, : self._gdim]

    def add_shared(self, values: FloatArray) -> None:
        """Replace values at the shared nodes, (n, 4), by their sums in the order of the ranks. Collective."""
        if self._alone:
            return
        np.take(values, self._rows, axis=0, out=self._told, mode="clip")
        self._sum.exchange()
        sums, rows, heard = self._of_shared, self._rows, self._heard
        sums[:] = 0.0
        self._scatter_rows(rows[self._before], heard[self._before], sums)
        sums += values
        self._scatter_rows(rows[self._after], heard[self._after], sums)
        values[:] = sums

    def add(self, values: FloatArray, x: FloatArray, d: FloatArray | None = None) -> None:
        """Add values at the nodes, (nodes, gdim), times d, to the owned entries of ``x``. Collective."""
        if self._alone:
            self._scatter(self._dofs, values, self._none if d is None else d, x)
            return
        np.take(values, self._order, axis=0, out=self._near, mode="clip")
        self._add.exchange()
        self._scatter(self._dofs, self._far, self._none if d is None else d, x)


def sent(comm: MPI.Comm, values: Numbers, counts: IntArray) -> tuple[Numbers, IntArray]:
    """What all ranks send to this one, in rank order, and how much each: counts for each rank. Collective."""
    received = np.empty_like(counts)
    comm.Alltoall(counts, received)
    out = cast(Numbers, np.empty(int(received.sum()), dtype=values.dtype))
    comm.Alltoallv([values, counts], [out, received])
    return out, received


def _pairs(numbers: AnyArray) -> tuple[IntArray, IntArray]:
    """Places of all ordered pairs of equal numbers at different places, by the number."""
    order = np.argsort(numbers, kind="stable")
    start = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    size = np.diff(start, append=numbers.size)
    end = np.repeat(start + size, size)
    first, second = [], []
    for distance in range(1, int(size.max(initial=1))):
        at = np.flatnonzero(np.arange(numbers.size) + distance < end)
        first += [order[at], order[at + distance]]
        second += [order[at + distance], order[at]]
    if not first:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    one, other = np.concatenate(first), np.concatenate(second)
    by_number = np.argsort(numbers[one], kind="stable")
    return one[by_number], other[by_number]
