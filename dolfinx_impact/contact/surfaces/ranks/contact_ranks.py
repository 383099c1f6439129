"""Which rank computes with which points of surfaces: equal work for all, wherever the cells are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from .... import parallel
from ...._types import BoolArray, FloatArray, IntArray
from ..facets import Facets
from ..search import FacetSearch
from .bisection import bisected, imbalance, of_nodes
from .route import Route

if TYPE_CHECKING:
    from ..mortar import Sides

#: Work of the rank with most of it over the mean from which on the points are divided anew.
_UNEQUAL = 1.35
#: Steps after which it is due to look at that. A function of the step alone, not of when facets are searched,
#: makes a run that was stopped in between the same to the last bit.
_STEPS = 100


class ContactRanks:
    """The rank that computes gaps and rows of each point, which may be another one than its owner.

    At first each point is computed by its owner. Where ranks have unequal work, the slave facets that are
    near others are divided by bisection, weighted by the pairs of facets; a point goes with its first facet,
    one without such facets, and a corner, stays with its owner. Collective.

    Args:
        comm: Communicator.
        facets: Facets of all surfaces.
        sides: The slave side of each pair of surfaces.
        masters: The master surface of each pair, shape (pairs,).
        corners: Nodes of the points of corners of this rank.
        shared: Whether ranks share the work; else each one computes with the points that it owns.

    Attributes:
        mine: Mask of the nodes with whose points this rank computes, shape (nodes,).
        route: The way to these points, and to the corners of this rank; None where work is not shared.
    """

    def __init__(
        self,
        comm: MPI.Comm,
        facets: Facets,
        sides: Sequence[Sides],
        masters: IntArray,
        corners: IntArray,
        *,
        shared: bool,
    ) -> None:
        self.mine: BoolArray = facets.rank == comm.rank
        self.route: Route | None = None
        self._steps = 1
        if not shared:
            return
        self._comm, self._facets, self._corners = comm, facets, corners
        self._nodes = np.concatenate([each.points for each in sides])
        owner = self._owner = facets.rank[self._nodes]
        #: Number of each point among those of its owner.
        self._local = np.zeros(owner.size, dtype=np.int64)
        for rank in range(comm.size):
            self._local[owner == rank] = np.arange(np.count_nonzero(owner == rank))
        self._owned = self._nodes[owner == comm.rank]
        shares = [np.array_split(each.of_slave, comm.size)[comm.rank] for each in sides]
        #: A part of the facets, whose pairs this rank counts.
        self._search = FacetSearch(facets, shares, masters)
        self._user: IntArray = np.zeros(0, np.int64)
        self._set_user(facets.rank)

    def _set_user(self, user: IntArray) -> bool:
        """Set the rank that computes with the points of each node; whether that is a change. Collective."""
        changed, self._user = not np.array_equal(user, self._user), user
        if changed:
            self.mine = user == self._comm.rank
            here = self.mine[self._nodes]
            corners = self._owned.size + np.arange(self._corners.size)
            rank = np.append(self._owner[here], np.full(corners.size, self._comm.rank))
            self.route = Route(self._comm, rank, np.append(self._local[here], corners))
        return changed

    # -- division

    @property
    def due(self) -> bool:
        """Whether it is time to look whether ranks have equal work."""
        return self.route is not None and self._steps % _STEPS == 0

    def count_step(self) -> None:
        """Count a step."""
        self._steps += 1

    def leave(self) -> bool:
        """Leave all points to their owners; whether that is a change. Collective."""
        self._steps = 0
        return self.route is not None and self._set_user(self._facets.rank)

    def renew(self, x: FloatArray, largest_gap: float, margin: float) -> bool:
        """Divide the points anew where ranks have unequal work; whether any has other ones. Collective.

        Args:
            x: Positions of all nodes, shape (nodes, gdim) [m].
            largest_gap, margin: See :meth:`.FacetSearch.find`.
        """
        facets, comm = self._facets, self._comm
        found, pairs = np.unique(self._search.find(x, largest_gap, margin).pairs[:, 0], return_counts=True)
        rows = parallel.gather_rows(comm, np.column_stack([found, pairs]))
        weights = np.bincount(rows[:, 0], rows[:, 1], len(facets.nodes)).astype(np.int64)
        near = np.flatnonzero(weights)
        nodes, weights = facets.nodes[near], 1 + weights[near]
        if imbalance(weights, self._user[nodes[:, 0]], comm.size) <= _UNEQUAL:
            return False
        part = bisected(x[nodes].mean(axis=1), weights, comm.size)
        user = of_nodes(nodes, part, len(x))
        return self._set_user(np.where(user < 0, facets.rank, user))

    # -- values of points

    def own(self, values: FloatArray) -> FloatArray:
        """Values of the points that this rank owns, (p, k), from those of the points here. Collective."""
        if self.route is None:
            return values
        out = np.empty((self._owned.size + self._corners.size, values.shape[1]))
        self.route.back(values, out)
        return out

    # -- history

    def past(self) -> FloatArray:
        """Of each point the rank that computes with it, the number of ranks, and the steps, shape (p, 3)."""
        user = np.append(self._user[self._owned], np.full(self._corners.size, self._comm.rank))
        same = np.broadcast_to([self._comm.size, self._steps], (user.size, 2))
        return np.column_stack([user, same]).astype(np.float64)

    def resume(self, past: FloatArray) -> bool:
        """Restore a :meth:`past` of as many ranks; whether any rank has other points now. Collective."""
        if self.route is None:
            return False
        rows = np.column_stack([self._owned, past[: self._owned.size]])
        rows = parallel.gather_rows(self._comm, rows)
        if not len(rows) or rows[0, 2] != self._comm.size:
            return False
        user = self._facets.rank.copy()
        user[rows[:, 0].astype(np.int64)] = rows[:, 1].astype(np.int64)
        self._steps = int(rows[0, 3])
        return self._set_user(user)
