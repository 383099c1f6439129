"""Which rank computes with which points of surfaces: equal work for all, wherever the cells are."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from .... import parallel
from ...._types import FloatArray, IntArray
from ..facets import Facets
from ..halo import sent
from .bisection import bisected, imbalance, of_nodes
from .route import Route

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
        numbers: Numbers of the nodes that this rank owns, among all, ascending, shape (own,).
        points: Numbers of the nodes of the points that this rank owns, shape (p,).
        corners: Number of the points of corners of this rank.
        shared: Whether ranks share the work; else each one computes with the points that it owns.

    Attributes:
        shared: See above.
        route: The way to the points with which this rank computes, and to its corners; None where work is
            not shared.
    """

    def __init__(
        self, comm: MPI.Comm, numbers: IntArray, points: IntArray, corners: int, *, shared: bool
    ) -> None:
        self._comm, self._numbers, self.shared = comm, numbers, shared
        self.route: Route | None = None
        self._steps, self._corners = 1, corners
        #: Place of each point's node among those that this rank owns; rank that computes with each of these.
        self._place = np.searchsorted(numbers, points)
        self._user: IntArray = np.full(numbers.size, comm.rank)

    def _set_user(self, user: IntArray) -> bool:
        """Set the rank that computes with the points of each node; whether that is a change. Collective."""
        changed = parallel.anywhere(self._comm, not np.array_equal(user, self._user))
        self._user = user
        return changed

    def nodes(self) -> tuple[IntArray, IntArray]:
        """Numbers of the nodes with whose points this rank computes, and their owners. Collective."""
        place = np.unique(self._place)
        place = place[np.argsort(self._user[place], kind="stable")]
        wanted = np.bincount(self._user[place], minlength=self._comm.size)
        numbers, counts = sent(self._comm, self._numbers[place].astype(np.int64), wanted)
        return numbers, np.repeat(np.arange(self._comm.size), counts)

    def set_route(self, owner: IntArray) -> None:
        """Set the way to the points with which this rank computes, by their owners. Collective."""
        if not self.shared:
            return
        user, count = self._user[self._place], self._place.size
        # Points of a node have one user, so that those on their way stand in the same order on both sides.
        local, _ = sent(
            self._comm, np.argsort(user, kind="stable"), np.bincount(user, minlength=self._comm.size)
        )
        number = np.empty_like(local)
        number[np.argsort(owner, kind="stable")] = local
        corners = count + np.arange(self._corners)
        rank = np.append(owner, np.full(corners.size, self._comm.rank))
        self.route = Route(self._comm, rank, np.append(number, corners))

    # -- division

    @property
    def due(self) -> bool:
        """Whether it is time to look whether ranks have equal work."""
        return self.shared and self._steps % _STEPS == 0

    def count_step(self) -> None:
        """Count a step."""
        self._steps += 1

    def leave(self) -> bool:
        """Leave all points to their owners; whether that is a change. Collective."""
        self._steps = 0
        return self.shared and self._set_user(np.full(self._user.size, self._comm.rank))

    def renew(self, facets: Facets, pairs: IntArray, x: FloatArray) -> bool:
        """Divide the points anew where ranks have unequal work; whether any has other ones. Collective.

        Args:
            facets: Facets that this rank holds.
            pairs: Slave facets that it counts, each once, and how many pairs they have, shape (n, 2).
            x: Positions of the nodes, shape (nodes, gdim) [m].
        """
        comm, nodes, weights = self._comm, facets.nodes[pairs[:, 0]], 1 + pairs[:, 1]
        sums = np.array(comm.allgather(int(weights.sum())))
        if imbalance(sums, np.arange(comm.size), comm.size) <= _UNEQUAL:
            return False
        numbers = facets.number[pairs[:, 0]], weights, facets.node_number[nodes]
        rows = parallel.gather_rows(comm, np.column_stack([*numbers, x[nodes].mean(axis=1)]))
        rows = rows[np.argsort(rows[:, 0])]
        lists, centres = np.split(rows, [2 + nodes.shape[1]], axis=1)
        part = bisected(centres, lists[:, 1].astype(np.int64), comm.size)
        known, nodes = np.unique(lists[:, 2:].astype(np.int64), return_inverse=True)
        users = of_nodes(nodes.reshape(len(lists), -1), part, known.size)
        user, found = np.full(self._user.size, comm.rank), np.isin(self._numbers, known)
        user[found] = users[np.searchsorted(known, self._numbers[found])]
        return self._set_user(user)

    # -- values of points

    def own(self, values: FloatArray) -> FloatArray:
        """Values of the points that this rank owns, (p, k), from those of the points here. Collective."""
        if self.route is None:
            return values
        out = np.empty((self._place.size + self._corners, values.shape[1]))
        self.route.back(values, out)
        return out

    # -- history

    def past(self) -> FloatArray:
        """Of each point the rank that computes with it, the number of ranks, and the steps, shape (p, 3)."""
        user = np.append(self._user[self._place], np.full(self._corners, self._comm.rank))
        same = np.broadcast_to([self._comm.size, self._steps], (user.size, 2))
        return np.column_stack([user, same]).astype(np.float64)

    def resume(self, past: FloatArray) -> bool:
        """Restore a :meth:`past` of as many ranks; whether any rank has other points now. Collective."""
        if not self.shared:
            return False
        ranks, steps = np.array(self._comm.allgather(past[0, 1:] if len(past) else np.zeros(2))).max(axis=0)
        if ranks != self._comm.size:
            return False
        user = np.full(self._user.size, self._comm.rank)
        user[self._place] = past[: self._place.size, 0]
        self._steps = int(steps)
        return self._set_user(user)
