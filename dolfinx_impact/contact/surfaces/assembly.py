"""Gaps and rows of all pairs of surfaces at given displacements, and the search for candidate pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ...algebra.operators import SparseRows, coordinate_order
from ...systems.continuum import Continuum
from .facets import Facets
from .halo import Halo
from .pair import DEPTH, SurfacePair
from .point_rows import CornerPoints
from .sides import normal_order

#: Weights of a tie below this are rounding; in a row whose node is held they would make a constraint alone.
_ROUNDING = 1e-12
#: Distance by which nodes may approach between two searches, over the smallest diameter of a facet.
_MARGIN = 0.25


class Assembly:
    """The slave nodes of all pairs of surfaces and their corners, with gaps and rows. Collective.

    Args:
        body: The solid.
        facets: Facets of all surfaces.
        pairs: Numbers of the slave and the master surface of each pair.
        corners: Whether the smooth sides of a node, and corners that no facet faces, have rows of their own.

    Attributes:
        nodes: Nodes of the points of this rank, shape (n,).
        normals: Outward normals of their sides at zero displacement, shape (n, gdim).
        gap: Gaps at the last :meth:`update`, shape (n,) [m]; infinite where nothing is opposite.
        area: Covered areas of the points, shape (n,) [m2]; 0 for corners.
        members: The pairs of surfaces, then the corners, whose points follow each other.
        mortar_points: Number of the points of pairs of surfaces, which stand before those of corners.
        halo: Access to the nodes of the rows, renewed by a search.
        loaded: Rows whose dofs are those of the surface nodes that this rank owns.
        searches: Number of searches.
        pairs: Numbers of the slave and the master surface of each pair.
        path: Largest displacement of a node since :meth:`keep_positions` [m]; NaN without such positions.
        path_between_searches: Displacement of a node after which candidate pairs are searched again [m].
    """

    def __init__(
        self, body: Continuum, facets: Facets, pairs: Sequence[tuple[int, int]], *, corners: bool
    ) -> None:
        self.body, self.facets, self._comm = body, facets, body.comm
        rank, gdim, axisymmetric = body.comm.rank, body.gdim, body.hypothesis == "axisymmetric"
        #: Thickness of a plane body: with it lengths are areas [m].
        self._thickness = body.cross_section if gdim == 2 else 1.0
        self.pairs = list(pairs)
        self._pairs = [
            SurfacePair(facets, *each, rank, axisymmetric=axisymmetric, divided=corners) for each in pairs
        ]
        self._divided, self._covered = corners, np.zeros((len(pairs), len(facets.x)), dtype=np.int8)
        self._corners = []
        for slave, master in pairs if corners else ():
            self._corners.append(CornerPoints(facets, slave, master, rank, of_master=False))
            self._corners.append(CornerPoints(facets, master, slave, rank, of_master=True))
        #: Whether any rank has corners.
        self._cornered = self._comm.allreduce(bool(sum(each.nodes.size for each in self._corners)))
        #: A gap up to this counts as closed.
        self.tolerance = 0.0
        self.members: list[SurfacePair | CornerPoints] = [*self._pairs, *self._corners]
        ends = np.cumsum([each.nodes.size for each in self.members])
        self._points = [slice(end - each.nodes.size, end) for each, end in zip(self.members, ends)]
        self.nodes = np.concatenate([each.nodes for each in self.members])
        self.normals = np.concatenate([each.normals for each in self.members])
        self.mortar_points = sum(each.nodes.size for each in self._pairs)
        self.gap, self.area = np.full(self.nodes.size, np.inf), np.zeros(self.nodes.size)
        self._own = np.flatnonzero(facets.rank == rank)
        self._own_dofs = facets.local[self._own][:, None] * body.block + np.arange(gdim)
        #: Place of each node among those needed, after a search.
        self._place = np.zeros(len(facets.x), dtype=np.int64)
        self._x, self._at = facets.x.copy(), np.full((self._own.size, gdim), np.nan)
        self._searched = np.full((self._own.size, gdim), np.inf)
        self._kept, self.path = np.full((self._own.size, gdim), np.nan), np.nan
        self._margin = -_MARGIN * parallel.largest(self._comm, -facets.diameter)
        self.path_between_searches, self.searches = 0.5 * self._margin, 0
        on = self._own[facets.part[self._own] >= 0]
        keys = np.column_stack([facets.part[on], self._keys(on)])
        self.loaded = SparseRows(self.dofs_of(on), np.zeros((on.size, gdim)), keys)

    def _keys(self, nodes: IntArray) -> FloatArray:
        x = np.zeros((nodes.size, 3))
        x[:, : self.body.gdim] = self.facets.x[nodes]
        return coordinate_order(x, self.body.length)

    def dofs_of(self, nodes: IntArray) -> IntArray:
        """Dofs of nodes that this rank owns, shape (n, gdim)."""
        return self.facets.local[nodes][:, None] * self.body.block + np.arange(self.body.gdim)

    def order(self) -> FloatArray:
        """Sorting keys of the points: the pair, the coordinates, the normals of the sides, the walls."""
        member = np.repeat(np.arange(len(self.members)), [each.nodes.size for each in self.members])
        wall = np.concatenate([each.walls for each in self.members])
        return np.column_stack([member, self._keys(self.nodes), normal_order(self.normals), wall])

    def update(self, u: FloatArray) -> None:
        """Compute gaps and areas at ``u`` unless they are those of ``u`` already."""
        at = u[self._own_dofs]
        flags = np.array([_longest(at - self._searched), float(not np.array_equal(at, self._at)), 0.0])
        flags[2] = _longest(at - self._kept)
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, flags, op=MPI.MAX)
        self.path = float(flags[2])
        if not flags[1]:
            return
        self._at[:] = at
        # NaN is no contact, and noticed by the guard of the run.
        if not flags[0] <= self.path_between_searches:
            self.search(u)
        self.halo.gather(u, self._y)
        self._x[self._needed] = self.facets.x[self._needed] + self._y
        self._covered[:] = 0 if self._divided else 1
        for pair, marks in zip(self._pairs, self._covered):
            pair.integrate(self._x, marks)
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, self._covered, op=MPI.MAX)
        for pair, marks in zip(self._pairs, self._covered):
            pair.weigh(self._x, marks)
        if self._cornered:
            covered, shut = self._marked()
            for corners in self._corners:
                corners.evaluate(self._x, covered, shut)
        self.gap = np.concatenate([each.gap for each in self.members])
        self.area = self._thickness * np.concatenate([each.area for each in self.members])

    def least_gaps(self) -> FloatArray:
        """Least gap of what is opposite to each point at the last :meth:`update`, shape (n,) [m]."""
        return np.concatenate([each.least_gaps() for each in self.members])

    @property
    def small_parts(self) -> bool:
        """Whether a facet on this rank has places of a linear pressure."""
        return any(pair.small_parts for pair in self._pairs)

    def _marked(self) -> tuple[BoolArray, BoolArray]:
        """Nodes of the facets with a segment, and closed nodes of the slaves, of all ranks, (nodes,)."""
        marks = np.zeros((2, len(self.facets.x)), dtype=np.int8)
        for pair in self._pairs:
            marks[0, pair.covered_nodes()] = 1
            marks[1, pair.nodes[pair.gap <= self.tolerance]] = 1
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, marks, op=MPI.MAX)
        return marks[0] > 0, marks[1] > 0

    def search(self, u: FloatArray) -> None:
        """Find the pairs of facets that may come into contact at ``u``."""
        facets, self.searches = self.facets, self.searches + 1
        self._x, self._searched[:] = self.positions(u), u[self._own_dofs]
        for each in self.members:
            each.search(self._x, self._margin)
        needed = np.unique(np.concatenate([each.needed() for each in self.members])).astype(np.int64)
        block, gdim = self.body.block, self.body.gdim
        self.halo = Halo(self._comm, facets.rank[needed], facets.local[needed], block, gdim)
        self._needed, self._y = needed, np.zeros((needed.size, gdim))
        self._place[needed] = np.arange(needed.size)

    def positions(self, u: FloatArray) -> FloatArray:
        """Positions of all nodes of the facets at ``u``, shape (nodes, gdim) [m]. Collective."""
        return self._displaced(u[self._own_dofs])

    def _displaced(self, own: FloatArray) -> FloatArray:
        """Positions of all nodes by the displacements of those that this rank owns."""
        rows = parallel.gather_rows(self._comm, np.column_stack([self._own, own]))
        x, nodes = self.facets.x.copy(), rows[:, 0].astype(np.int64)
        x[nodes] += rows[:, 1:]
        return x

    def keep_positions(self) -> None:
        """Keep the positions of the last :meth:`update`, from which :attr:`path` counts."""
        self._kept[:] = self._at

    def kept_positions(self) -> FloatArray:
        """Kept positions of all nodes, shape (nodes, gdim) [m]. Collective."""
        return self._displaced(self._kept)

    def closed_nodes(self) -> BoolArray:
        """Nodes at which this rank found a closed segment or point at the last :meth:`update`, (nodes,)."""
        marks = np.zeros(len(self.facets.x), dtype=bool)
        for each in self.members:
            marks[each.closed_nodes(self.tolerance)] = True
        return marks

    def entries(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Entries of the rows in the mask, shape (n,), in the form of :meth:`.NodeRows.set`."""
        found = [each.rows(which[points]) for each, points in zip(self.members, self._points)]
        lengths, nodes, B, W = (np.concatenate(parts) for parts in zip(*found))
        return np.concatenate([[0], np.cumsum(lengths)]), self._place[nodes], B, W

    def tied_entries(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """:meth:`entries` of a tie, a row for each point and direction: W in the place of L."""
        gdim = self.body.gdim
        start, nodes, _, W = self.entries(which)
        W = np.where(np.abs(W) > _ROUNDING, W, 0.0)
        rows = []
        for first, last in zip(start[:-1], start[1:]):
            rows += [(nodes[first:last], n * W[first:last, None], W[first:last]) for n in np.eye(gdim)]
        lengths = np.repeat(np.diff(start), gdim)
        if rows:
            nodes, B, W = (np.concatenate(parts) for parts in zip(*rows))
        else:
            B = np.zeros((0, gdim))
        return np.concatenate([[0], np.cumsum(lengths)]), nodes, B, W

    def has_segments(self) -> BoolArray:
        """Mask of the points at whose facets something is opposite, False for corners, shape (n,)."""
        marks = np.zeros(self.nodes.size, dtype=bool)
        marks[: self.mortar_points] = np.concatenate([pair.has_segments() for pair in self._pairs])
        return marks

    def present_normals(self, x: FloatArray) -> FloatArray:
        """Outward normals of the covered facets of the slaves at the points of pairs, shape (n, gdim).

        Args:
            x: Positions of all nodes of the facets, shape (nodes, gdim) [m].
        """
        of_facets, sizes = self.facets.normals(x)
        sums, before = np.zeros((self.mortar_points, x.shape[1])), 0
        for pair in self._pairs:
            point, facet, _ = pair.incidence(covered=True)
            np.add.at(sums, before + point, of_facets[facet] * sizes[facet, None])
            before += pair.nodes.size
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        unit: FloatArray = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0.0)
        return unit

    def longest_path(self, v: FloatArray, dt: float) -> tuple[float, float]:
        """Bound of the approach of two surfaces in a step [m], and the depth in which overlap is seen [m]."""
        facets, at = self.facets, v[self._own_dofs]
        sums = self._comm.allreduce(np.append(at.sum(axis=0), len(at)))
        speed = parallel.largest(self._comm, np.linalg.norm(at - sums[:-1] / sums[-1], axis=1))
        return 2.0 * dt * speed, 2.0 * DEPTH * float(facets.height[facets.surface >= 0].min())


def _longest(vectors: FloatArray) -> float:
    """Largest length of vectors, shape (n, gdim)."""
    return float(np.sqrt(np.max(np.einsum("ni,ni->n", vectors, vectors), initial=0.0)))
