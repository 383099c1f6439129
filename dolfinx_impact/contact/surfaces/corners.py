"""Rows of corner nodes: the distance of a needle's tip, or of a corner that sinks into a coarse facet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from .held_facets import HeldFacets
from .search import Candidates
from .sides import sides_at_nodes
from .tables import Tables

#: Largest angle between the facets at a node above which it is a corner [rad].
CORNER = np.pi / 3


class CornerPoints:
    """Corner nodes of the surfaces in a mask, each against the facets of another surface.

    A corner without a segment at its facets, as the tip of a needle, has a row against the nearest facet.
    Where there are segments mortar rows hold a corner of the slave; one of the master may sink into a coarse
    facet while the weighted gaps at its nodes are open: it has a row as long as they are.

    Args:
        tables: Where gaps and rows are computed.
        facets: The facets that this rank holds, with all at the points.
        pairs: Numbers of the slave and the master surface of each pair.
        mine: Mask of the nodes whose points these are, shape (nodes,).
        comm: The ranks of the contact.

    Attributes:
        member: Number of the corners of a surface against another one, of each point, shape (p,).
        surfaces: Number of the surface of the corners of each member.
        others: Number of the surface opposite.
        nodes: Nodes of the points, shape (p,).
        normals: Mean normals of the surface there at zero displacement, shape (p, gdim).
        sharp: Mask of the facets at a corner, shape (facets,).
        any: Whether any rank has corners.
    """

    def __init__(
        self,
        tables: Tables,
        facets: HeldFacets,
        pairs: Sequence[tuple[int, int]],
        mine: BoolArray,
        comm: MPI.Comm,
    ) -> None:
        self._tables, self._facets, self._comm = tables, facets, comm
        self.surfaces = [surface for pair in pairs for surface in pair]
        self.others = [surface for pair in pairs for surface in pair[::-1]]
        self.sharp: BoolArray = np.asarray(facets.corner[facets.nodes].any(axis=1))
        known = sorted(set(self.surfaces))
        of_surface = {k: np.flatnonzero(facets.corner & mine & (facets.part == k)) for k in known}
        normals = {k: _mean_normals(facets, k, of_surface[k]) for k in known}
        self.each = [of_surface[k] for k in self.surfaces]
        self.any = parallel.anywhere(comm, facets.corner.any())
        self.nodes = np.concatenate([np.zeros(0, np.int64), *self.each])
        self.member = np.repeat(np.arange(len(self.each)), [nodes.size for nodes in self.each])
        each = [normals[k] for k in self.surfaces]
        self.normals = np.concatenate([np.zeros((0, facets.x.shape[1])), *each])
        start, around = facets.around(self.nodes)
        p, n = self.nodes.size, facets.nodes.shape[1]
        self._start, self._around = start, around
        tables.set(
            corners=p,
            of_master=self.member % 2,
            around_start=start,
            around=around,
            corner_normal=np.zeros((p, facets.x.shape[1])),
            corner_N=np.zeros((p, n)),
            corner_facet=np.full(p, -1, np.int32),
        )
        self._pairs: IntArray = np.zeros((0, 2), dtype=np.int64)

    def set_candidates(self, found: Candidates) -> None:
        """Set the candidate facets of the corners, after a search."""
        self._pairs = found.pairs
        self._tables.set(corner_pairs=len(found.pairs), corner_pair=found.pairs, corner_above=found.above)

    def in_use(self) -> tuple[IntArray, IntArray]:
        """Facets and nodes of corners on which the gaps depend."""
        used = np.bincount(self._pairs[:, 0], minlength=self.nodes.size) > 0
        around = self._around[np.repeat(used, np.diff(self._start))]
        return np.concatenate([self._pairs[:, 1], around]), self.nodes[used]

    def watched(self) -> IntArray:
        """Nodes whose marks decide about rows of any rank, by their numbers among all, sorted. Collective."""
        corner, facet = self._pairs.T
        nodes = np.union1d(self.nodes[corner], self._facets.nodes[facet])
        nodes = self._facets.node_number[nodes]
        every = parallel.gather_rows(self._comm, nodes[:, None].astype(np.float64))
        watched: IntArray = np.unique(every.astype(np.int64))
        return watched

    def closed_nodes(self, gap: FloatArray, tolerance: float) -> IntArray:
        """Closed corners, and the nodes of the facets opposite."""
        closed = gap <= tolerance
        facets = self._tables["corner_facet"][closed]
        nodes: IntArray = np.union1d(self.nodes[closed], self._facets.nodes[facets])
        return nodes


def _mean_normals(facets: HeldFacets, surface: int, nodes: IntArray) -> FloatArray:
    """Mean normals of a surface at some of its nodes at zero displacement, shape (n, gdim)."""
    _, node, normals = sides_at_nodes(facets, surface)
    mean: FloatArray = normals[np.searchsorted(node, nodes)]
    return mean
