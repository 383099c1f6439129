"""Exchange of values at the surface nodes between the ranks that own them and those that need them."""

from __future__ import annotations

import functools
from typing import TypeVar, cast

import numpy as np
from mpi4py import MPI

from ..._types import AnyArray, FloatArray, IntArray
from .ranks.messages import SharedSums
from .ranks.transfer import Transfer

Numbers = TypeVar("Numbers", IntArray, FloatArray)

#: Tags of the messages, by what they do.
_GATHER, _ADD = 3401, 3402


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
        order = self._order = np.argsort(rank, kind="stable")
        wanted = np.bincount(rank, minlength=comm.size)
        numbers, offered = sent(comm, local[order].astype(np.int64), wanted)
        self._numbers = numbers
        self._gather = Transfer(comm, gdim, numbers, offered, order, wanted, _GATHER)
        self._add = Transfer(comm, gdim, order, wanted, numbers, offered, _ADD)
        self.shared: IntArray
        self._constant: tuple[FloatArray, FloatArray] | None = None
        self._global: IntArray | None = None
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
        self._sums = SharedSums(comm, self.shared.size, rows, np.bincount(others, minlength=comm.size))
        self.add_shared = self._sums.call

    @functools.cached_property
    def dofs(self) -> IntArray:
        """Owned dofs of the nodes that any rank needs."""
        return np.unique(self._numbers[:, None] * self.block + np.arange(self._gdim))

    def gather(self, x: FloatArray, out: FloatArray) -> None:
        """Write the owned entries of ``x`` at the nodes into ``out``, (nodes, gdim). Collective."""
        self._gather.carry(x.reshape(-1, self.block), out)

    def at_nodes(self, d: FloatArray) -> FloatArray:
        """A constant vector over the owned dofs at the nodes, (nodes, gdim). Collective at first."""
        if self._constant is None or self._constant[0] is not d:
            values = np.empty((self.count, self._gdim))
            self.gather(d, values)
            self._constant = d, values
        return self._constant[1]

    def global_dofs(self, owned: int) -> IntArray:
        """Global numbers of the dofs of the nodes, shape (nodes, gdim). Collective at first.

        Args:
            owned: Number of dofs that this rank owns.
        """
        if self._global is None:
            counts = np.array(self._comm.allgather(owned), dtype=np.int64)
            first = (np.cumsum(counts) - counts)[self.rank] + self.local * self.block
            self._global = first[:, None] + np.arange(self._gdim)
        return self._global

    def sum(self, values: FloatArray) -> None:
        """Replace values at the nodes by their sums over all ranks, (nodes, gdim). Collective."""
        of_shared = np.zeros((self.shared.size, 4))
        of_shared[:, : self._gdim] = values[self.shared]
        self._sums.add(of_shared)
        values[self.shared] = of_shared[:, : self._gdim]

    def add(self, values: FloatArray, x: FloatArray, d: FloatArray | None = None) -> None:
        """Add values at the nodes, (nodes, gdim), times d, to the owned entries of ``x``. Collective.

        A constant d, see :meth:`at_nodes`.
        """
        factors = None if d is None else self.at_nodes(d)
        self._add.add(values, factors, x.reshape(-1, self.block))


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
