"""Values of points on their way between the ranks that own them and those that compute with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from mpi4py import MPI

from ...._types import FloatArray, IntArray
from ..halo import Messages, sent

#: Tags of the messages, by what they do.
_THERE, _BACK = 3404, 3405


class _Rows(NamedTuple):
    """Values on both ends in the order of ranks, and the messages between them."""

    near: FloatArray
    far: FloatArray
    there: Messages
    back: Messages


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
        self._rows: dict[int, _Rows] = {}

    def there(self, values: FloatArray, out: FloatArray) -> None:
        """Write values of the points that this rank owns into those of the points here. Collective.

        Args:
            values: Of all points that this rank owns, shape (owned, k).
            out: Written, shape (n, k).
        """
        rows = self._of_width(out.shape[1])
        np.take(values, self._there, axis=0, out=rows.far, mode="clip")
        rows.there.exchange()
        out[self._here] = rows.near

    def back(self, values: FloatArray, out: FloatArray) -> None:
        """Write values of the points here to the ranks that own them; what is nowhere stays. Collective.

        Args:
            values: Of the points here, shape (n, k).
            out: Of all points that this rank owns, shape (owned, k), updated.
        """
        rows = self._of_width(values.shape[1])
        np.take(values, self._here, axis=0, out=rows.near, mode="clip")
        rows.back.exchange()
        out[self._there] = rows.far

    def _of_width(self, k: int) -> _Rows:
        """For k values of each point. Collective at first."""
        if k not in self._rows:
            near, far = np.empty((self.count, k)), np.empty((self._there.size, k))
            there = Messages(self._comm, far, self._offered, near, self._wanted, _THERE)
            back = Messages(self._comm, near, self._wanted, far, self._offered, _BACK)
            self._rows[k] = _Rows(near, far, there, back)
        return self._rows[k]
