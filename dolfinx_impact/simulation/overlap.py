"""Overlap that no contact sees: cells of a body in its other cells, obstacles beside the contact surface."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from dolfinx import la
from mpi4py import MPI

from .. import parallel
from .._types import BoolArray, FloatArray, IntArray
from ..contact.obstacle_contact import ObstacleContact
from ..integrators.base import Integrator
from ..systems.containment import Containment
from ..systems.continuum import Continuum

#: Steps between two looks; the last one is at the end of the run.
EVERY = 1000
#: Depth from which on a node lies in other cells, over their width, or in an obstacle, over that of a facet.
_DEEP = 0.1


class Boundary:
    """Boundary nodes of a body, made once for each body.

    Args:
        body: The body.

    Attributes:
        nodes: Boundary nodes that this rank owns, shape (n,).
        facet: Mean diameter of the boundary facets of all ranks [m].
        smallest: Smallest extent of a cell of all ranks [m].
    """

    _known: weakref.WeakKeyDictionary[Continuum, Boundary] = weakref.WeakKeyDictionary()

    def __init__(self, body: Continuum) -> None:
        self.nodes: IntArray = np.asarray(body.boundary_nodes())
        self._containment = Containment(body)
        self._u = la.vector(body.space.dofmap.index_map, body.block)
        sizes = body.facet_sizes(None)
        self.facet = parallel.total(body.comm, sizes.sum()) / max(1.0, parallel.total(body.comm, sizes.size))
        self.smallest = float(body.comm.allreduce(self._containment.smallest_cell(), op=MPI.MIN))

    @classmethod
    def of(cls, body: Continuum) -> Boundary:
        """Those of a body. Collective at the first call."""
        if body not in cls._known:
            cls._known[body] = cls(body)
        return cls._known[body]

    def foreign(self, body: Continuum, u: FloatArray) -> BoolArray:
        """Which boundary nodes of all ranks, in rank order, lie in cells without them. Collective."""
        self._u.array[: body.owned] = u[: body.owned]
        self._u.scatter_forward()  # cells have nodes of other ranks
        u = self._u.array
        number = body.space.dofmap.index_map.local_to_global(self.nodes.astype(np.int32))
        at = positions(body, self.nodes, u)
        rows = parallel.gather_rows(body.comm, np.column_stack([number, at]))
        pairs = self._containment.pairs(u, rows[:, 1:], rows[:, 0].astype(np.int64), _DEEP)
        inside = np.zeros(len(rows), dtype=np.int8)
        inside[pairs[:, 0]] = 1
        body.comm.Allreduce(MPI.IN_PLACE, inside, op=MPI.MAX)
        return inside > 0


class Overlap:
    """Looks for overlap from time to time in a run, compared with its start.

    Args:
        integrator: The integrator, at the start of the run.
    """

    def __init__(self, integrator: Integrator) -> None:
        self._integrator = integrator
        body = integrator.body
        self._body: Continuum | None = None
        if isinstance(body, Continuum) and body.gdim > 1 and integrator.u.size == body.size:
            self._body = body
        self._start, self._t = integrator.u.copy(), integrator.t
        contact = integrator.contact
        members = () if contact is None else contact.members
        self._obstacles = [each for each in members if isinstance(each, ObstacleContact)]
        #: Largest number of nodes in foreign cells with the time at which they were first seen [s].
        self._folded = (0, 0.0)
        #: Number and largest depth [m] of the nodes in each obstacle.
        self._sunk = [(0, 0.0) for _ in self._obstacles]

    def look(self) -> None:
        """Look at the present state. Collective."""
        if self._body is None:
            return
        body, s = self._body, self._integrator
        boundary, u = Boundary.of(body), s.u
        moved = parallel.largest(body.comm, np.abs(u[: body.owned] - self._start[: body.owned]))
        if moved > _DEEP * boundary.smallest:
            self._look_at_cells(body, boundary, u)
        for k, contact in enumerate(self._obstacles):
            if moved > _DEEP * boundary.smallest or contact.moving:
                self._look_at_obstacle(k, contact, body, boundary)

    def _look_at_cells(self, body: Continuum, boundary: Boundary, u: FloatArray) -> None:
        inside = boundary.foreign(body, u)
        if not inside.any():
            return
        count = int((inside & ~boundary.foreign(body, self._start)).sum())
        if count:
            most, since = self._folded
            self._folded = (max(most, count), since if most else self._integrator.t)

    def _look_at_obstacle(
        self, k: int, contact: ObstacleContact, body: Continuum, boundary: Boundary
    ) -> None:
        """Compare the depth of boundary nodes that are no points of the contact with that at the start."""
        if contact.system is not body:
            return
        points = contact.L.dofs[:, 0] // body.block
        others = np.setdiff1d(boundary.nodes, points)
        depth = -contact.least_gaps(positions(body, others, self._integrator.u), self._integrator.t)
        before = -contact.least_gaps(positions(body, others, self._start), self._t)
        limit = _DEEP * boundary.facet
        sunk = (depth > limit) & (depth > before + limit)
        count = int(parallel.total(body.comm, int(sunk.sum())))
        deepest = max(0.0, parallel.largest(body.comm, depth[sunk]))
        self._sunk[k] = (max(count, self._sunk[k][0]), max(deepest, self._sunk[k][1]))

    def warnings(self) -> list[str]:
        """Texts on what was seen, for the summary of the run."""
        texts = []
        count, since = self._folded
        if count:
            texts.append(
                f"{count} nodes of the body's surface lie in its other cells, first seen at t = {since:.6g} "
                "s: folds or parts pass through each other where no contact sees them; SurfaceContact(body) "
                "sees all outer surfaces, a skin keeps them apart"
            )
        for contact, (count, depth) in zip(self._obstacles, self._sunk):
            if count:
                texts.append(
                    f"{count} nodes of the body's surface beside {contact.where} lie up to {depth:.3g} m in "
                    "the obstacle, whose contact does not see them: name their facets too"
                )
        return texts


def positions(body: Any, nodes: IntArray, u: FloatArray) -> FloatArray:
    """Positions of nodes at ``u``, shape (n, gdim) [m]."""
    at: FloatArray = body.x[nodes, : body.gdim] + u.reshape(-1, body.block)[nodes, : body.gdim]
    return at
