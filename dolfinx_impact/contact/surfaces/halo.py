"""Exchange of values at the surface nodes between the ranks that own them and those that need them."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from ..._types import FloatArray, IntArray
from ...algebra import kernels


def scatter(dofs: IntArray, values: FloatArray, x: FloatArray) -> None:
    """Add the values to the entries ``dofs`` of ``x``, which may occur more than once."""
    for i in range(dofs.shape[0]):
        for k in range(dofs.shape[1]):
            x[dofs[i, k]] += values[i, k]


class Halo:
    """Nodes that this rank needs, on whatever ranks they are; see :class:`.Exchange`. Collective.

    Args:
        comm: Communicator.
        rank, local: Rank that owns each node, and its number there, shape (nodes,).
        block: Dofs per node of the vectors that are exchanged; the first ``gdim`` ones are.
        gdim: Number of values per node.
    """

    def __init__(self, comm: MPI.Comm, rank: IntArray, local: IntArray, block: int, gdim: int) -> None:
        self._comm, self._block, self._gdim, self.count = comm, block, gdim, rank.size
        by_rank = np.argsort(rank, kind="stable")
        wanted = np.bincount(rank, minlength=comm.size)
        offered = np.empty_like(wanted)
        comm.Alltoall(wanted, offered)
        numbers = np.empty(int(offered.sum()), dtype=np.int64)
        comm.Alltoallv([local[by_rank].astype(np.int64), wanted], [numbers, offered])
        self._order = by_rank
        self._wanted, self._offered = wanted * gdim, offered * gdim
        self._dofs = numbers[:, None] * block + np.arange(gdim)
        self._near, self._far = np.empty((rank.size, gdim)), np.empty((numbers.size, gdim))
        self._alone, self._scatter = comm.size == 1, kernels.jit(scatter)
        self.dofs = np.unique(self._dofs)
        self._work = np.zeros(0 if self._alone else int(self.dofs.max(initial=-1)) + 1)
        self._constant: tuple[FloatArray, FloatArray] | None = None

    def gather(self, x: FloatArray, out: FloatArray) -> None:
        """Write the owned entries of ``x`` at the nodes into ``out``, (nodes, gdim). Collective."""
        np.take(x, self._dofs, out=self._far, mode="clip")
        if self._alone:
            out[self._order] = self._far
            return
        self._comm.Alltoallv([self._far, self._offered], [self._near, self._wanted])
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
        self._work[self._dofs] = 0.0
        self.add(values, self._work)
        self.gather(self._work, values)

    def add(self, values: FloatArray, x: FloatArray, d: FloatArray | None = None) -> None:
        """Add values at the nodes, (nodes, gdim), times d, to the owned entries of ``x``. Collective."""
        np.take(values, self._order, axis=0, out=self._near)
        if self._alone:
            self._far[:] = self._near
        else:
            self._comm.Alltoallv([self._near, self._wanted], [self._far, self._offered])
        if d is not None:
            self._far *= d[self._dofs]
        self._scatter(self._dofs, self._far, x)
