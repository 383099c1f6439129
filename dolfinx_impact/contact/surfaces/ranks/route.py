"""Values of points on their way between the ranks that own them and those that compute with them."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from ...._types import FloatArray, IntArray
from ..halo import sent
from .transfer import Transfer

#: Tags of the messages, by what they do.
_THERE, _BACK = 3404, 3405


class Route:
    """Points that this rank computes with, on whatever ranks they are owned. Collective.

    Every point is computed with by one rank at most. Only ranks that share points exchange messages.

    Args:
        comm: Communicator.
        rank, local: Rank that owns each of the points here, and its number there, shape (n,).

    Attributes:
        count: Number of the points here.
    """

    def __init__(self, comm: MPI.Comm, rank: IntArray, local: IntArray) -> None:
        self._comm, self.count = comm, rank.size
        self._here = np.argsort(rank, kind="stable")
        self._wanted = np.bincount(rank, minlength=comm.size)
        self._there, self._offered = sent(comm, local[self._here].astype(np.int64), self._wanted)
        self._transfers: dict[int, tuple[Transfer, Transfer]] = {}
        self._rank = rank

    def there(self, values: FloatArray, out: FloatArray) -> None:
        """Write values of the points that this rank owns into those of the points here. Collective.

        Args:
            values: Of all points that this rank owns, shape (owned, k).
            out: Written, shape (n, k).
        """
        self._of_width(out.shape[1])[0].carry(values, out)

    def back(self, values: FloatArray, out: FloatArray) -> None:
        """Write values of the points here to the ranks that own them; what is nowhere stays. Collective.

        Args:
            values: Of the points here, shape (n, k).
            out: Of all points that this rank owns, shape (owned, k), updated.
        """
        self._of_width(values.shape[1])[1].carry(values, out)

    def collect(self, values: FloatArray, point: IntArray) -> FloatArray:
        """All values of points here, any number of a point, on the ranks that own these. Collective.

        Args:
            values: Shape (n, k).
            point: The point here of each row, shape (n,).

        Returns:
            Shape (m, k), in the order of the ranks where they were.
        """
        to = self._rank[point]
        order, counts = np.argsort(to, kind="stable"), np.bincount(to, minlength=self._comm.size)
        k = values.shape[1]
        out, _ = sent(self._comm, np.ascontiguousarray(values[order]).ravel(), counts * k)
        return out.reshape(-1, k)

    def _of_width(self, k: int) -> tuple[Transfer, Transfer]:
        """For k values of each point. Collective at first."""
        if k not in self._transfers:
            owned, here = (self._there, self._offered), (self._here, self._wanted)
            self._transfers[k] = (
                Transfer(self._comm, k, *owned, *here, _THERE),
                Transfer(self._comm, k, *here, *owned, _BACK),
            )
        return self._transfers[k]
