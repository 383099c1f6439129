"""Rows of corner nodes: the distance of a needle's tip, or of a corner that sinks into a coarse facet."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..._types import BoolArray, FloatArray, IntArray
from ...algebra import kernels
from . import _facet_maps, _segments
from ._arrays import CornerArrays, CornerPairs, FacetArrays
from ._facet_maps import corner_map, facet_functions, line_functions, line_normal, polygon_normal, tangents
from .facets import Facets
from .pair import DEPTH, LARGEST_GAP
from .sides import sides_at_nodes

#: Largest angle between the facets at a node above which it is a corner [rad].
_CORNER = np.pi / 3
#: Shape functions outside of the facet by this count as inside.
_INSIDE = 1e-9


def is_faced(
    x: FloatArray, facets: FacetArrays, f: int, n: FloatArray, shut: BoolArray, around: IntArray
) -> bool:
    """Whether a facet ``around`` a corner faces the facet f with the normal n, and no node of f is closed."""
    nodes, corners, own = facets.nodes, facets.corners, facets.scratch.vectors[1]
    for k in range(nodes.shape[1]):
        if shut[nodes[f, k]]:
            return False
    for m in around:
        if n.size == 2:
            line_normal(x, nodes[m], corners, own)
        else:
            polygon_normal(x, nodes[m], corners, own)
        cosine = 0.0
        for c in range(n.size):
            cosine += own[c] * n[c]
        if cosine < _segments.FACING:
            return True
    return False


def shape_functions_below(
    x: FloatArray, at: FloatArray, facets: FacetArrays, f: int, n: FloatArray, N: FloatArray
) -> bool:
    """Write the shape functions of a facet where a point projects on it along its normal.

    Args:
        x: Positions of all nodes, shape (nodes, gdim) [m].
        at: The point, shape (gdim,) [m].
        facets: All facets.
        f: The facet.
        n: Its normal.
        N: Written, shape (n,).

    Returns:
        Whether the projection lies in the facet; without it nothing is written.
    """
    nodes, corners, points, scratch = facets.nodes[f], facets.corners, facets.points, facets.scratch
    work = scratch.functions
    nn = nodes.size
    if n.size == 2:
        flat = work[0]
        for k in range(nn):
            flat[k] = n[0] * (x[nodes[k], 1] - at[1]) - n[1] * (x[nodes[k], 0] - at[0])
        if min(flat[0], flat[nn - 1]) > 0.0 or max(flat[0], flat[nn - 1]) < 0.0:
            return False
        line_functions(points, flat, 0.0, N, work[1])
        return True
    a, b, y, m = scratch.vectors[2], scratch.vectors[3], scratch.polygons[0], scratch.maps[0]
    tangents(n, a, b)
    for k in range(nn):
        y[k, 0], y[k, 1] = 0.0, 0.0
        for c in range(3):
            y[k, 0] += a[c] * (x[nodes[k], c] - at[c])
            y[k, 1] += b[c] * (x[nodes[k], c] - at[c])
    for c in range(corners.size):
        s, t = corners[c], corners[(c + 1) % corners.size]
        cross = y[s, 0] * y[t, 1] - y[s, 1] * y[t, 0]
        span = abs(y[t, 0] - y[s, 0]) + abs(y[t, 1] - y[s, 1])
        if cross < -_INSIDE * span * span:
            return False
    if not facets.simplex:
        corner_map(y, corners, m)
    facet_functions(points, facets.simplex, y, m, 0.0, 0.0, work, N)
    return True


def project_nodes(
    x: FloatArray, facets: FacetArrays, corners: CornerArrays, candidates: CornerPairs, shut: BoolArray
) -> None:
    """Nearest opposite facet of each corner node along the facet's normal.

    Args:
        x: Positions of all nodes, shape (nodes, gdim) [m].
        facets: All facets.
        corners: The corners; ``gap``, ``normal``, ``N`` and ``facet`` are written.
        candidates: Candidate pairs of them.
        shut: Closed nodes of the slave surfaces, shape (nodes,).
    """
    nodes, pairs, gap, start = facets.nodes, candidates.pairs, corners.gap, corners.around_start
    gdim, nn = x.shape[1], nodes.shape[1]
    n, M = facets.scratch.vectors[0], facets.scratch.functions[7, :nn]
    for i in range(gap.size):
        gap[i], corners.facet[i] = np.inf, -1
    for p in range(pairs.shape[0]):
        i, f = pairs[p, 0], pairs[p, 1]
        if corners.allowed[i] == 0:
            continue
        if gdim == 2:
            line_normal(x, nodes[f], facets.corners, n)
        else:
            polygon_normal(x, nodes[f], facets.corners, n)
        if corners.allowed[i] == 2:
            around = corners.around[start[i] : start[i + 1]]
            if not is_faced(x, facets, f, n, shut, around):
                continue
        at = x[corners.nodes[i]]
        if not shape_functions_below(x, at, facets, f, n, M):
            continue
        distance = 0.0
        for c in range(gdim):
            offset = at[c]
            for k in range(nn):
                offset -= M[k] * x[nodes[f, k], c]
            distance += n[c] * offset
        if distance > candidates.largest_gap[p] or distance < -candidates.depth[p]:
            continue
        if abs(distance) >= abs(gap[i]):
            continue
        gap[i], corners.facet[i] = distance, f
        for c in range(gdim):
            corners.normal[i, c] = n[c]
        for k in range(nn):
            corners.N[i, k] = M[k]


class CornerPoints:
    """Corner nodes of one surface against the facets of another one.

    A corner without a segment at its facets, as the tip of a needle, has a row against the nearest facet.
    Where there are segments mortar rows hold a corner of the slave; one of the master may sink into a coarse
    facet while the weighted gaps at its nodes are open: it has a row as long as they are.

    Args:
        facets: Facets of all surfaces.
        surface, other: Numbers of the surfaces.
        rank: This rank; points are the corners that it owns.
        of_master: Whether the corners are those of the master.

    Attributes:
        nodes: Nodes of the points, shape (p,).
        normals: Mean normals of the surface there at zero displacement, shape (p, gdim).
        walls: 0, shape (p,).
        gap: Distances, shape (p,) [m]; infinite where nothing is opposite.
        area: 0, shape (p,) [m2]; corners cover no facet.
        surface: Number of the surface.
    """

    def __init__(self, facets: Facets, surface: int, other: int, rank: int, *, of_master: bool) -> None:
        self._facets, self._other = facets, facets.of(other)
        corners = facets.corner_nodes(surface, _CORNER)
        self.nodes = corners[facets.rank[corners] == rank]
        p, start, around = self.nodes.size, *facets.around(self.nodes)
        self._of_master, self.surface = of_master, surface
        _, node, normals = sides_at_nodes(facets, surface, divided=False)
        self.normals, self.walls = normals[np.searchsorted(node, self.nodes)], np.zeros(p, dtype=np.int64)
        self.gap, self.area = np.full(p, np.inf), np.zeros(p)
        self._corners = CornerArrays(
            nodes=self.nodes,
            allowed=np.ones(p, dtype=np.int64),
            around_start=start,
            around=around,
            gap=self.gap,
            normal=np.zeros((p, facets.x.shape[1])),
            N=np.zeros((p, facets.nodes.shape[1])),
            facet=np.full(p, -1, dtype=np.int64),
        )
        self._set_pairs(np.zeros((0, 2), dtype=np.int64))
        called = is_faced, shape_functions_below, *_facet_maps.CALLED
        self._project = kernels.jit(project_nodes, *called, allocates=False)

    def search(self, x: FloatArray, margin: float) -> None:
        """Find the candidate facets at the positions ``x`` of all nodes [m]."""
        facets = self._facets
        if not self.nodes.size:
            return
        at = x[facets.nodes[self._other]]
        centre = at.mean(axis=1)
        radius = np.linalg.norm(at - centre[:, None], axis=2).max(axis=1)
        largest_gap = LARGEST_GAP * facets.diameter[self._other]
        lists = cKDTree(centre).query_ball_point(x[self.nodes], float((radius + largest_gap).max()) + margin)
        pairs = [(i, self._other[k]) for i, each in enumerate(lists) for k in sorted(each)]
        self._set_pairs(np.array(pairs, dtype=np.int64).reshape(-1, 2))

    def _set_pairs(self, pairs: IntArray) -> None:
        facets, f = self._facets, pairs[:, 1]
        self._candidates = CornerPairs(pairs, LARGEST_GAP * facets.diameter[f], DEPTH * facets.height[f])

    def needed(self) -> IntArray:
        """Nodes whose positions the gaps depend on, sorted."""
        facets = self._facets
        every = np.union1d(self._candidates.pairs[:, 1], self._corners.around)
        nodes: IntArray = np.union1d(facets.nodes[every].ravel(), self.nodes)
        return nodes

    def evaluate(self, x: FloatArray, covered: BoolArray, shut: BoolArray) -> None:
        """Compute ``gap`` at the positions ``x`` of the nodes, (nodes, gdim) [m].

        Args:
            x: Positions.
            covered: Nodes of the facets that have a segment, shape (nodes,).
            shut: Closed nodes of the slave surfaces, shape (nodes,).
        """
        self._corners.allowed[:] = np.where(covered[self.nodes], 2 if self._of_master else 0, 1)
        self._project(x, self._facets.arrays, self._corners, self._candidates, shut)

    def least_gaps(self) -> FloatArray:
        """The gaps, shape (p,) [m]."""
        return self.gap

    def closed_nodes(self, tolerance: float) -> IntArray:
        """Closed corners of this rank, and the nodes of the facets opposite."""
        closed = self.gap <= tolerance
        return np.union1d(self.nodes[closed], self._facets.nodes[self._corners.facet[closed]])

    def rows(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """See :meth:`.SurfacePair.rows`."""
        chosen, corners = np.flatnonzero(which), self._corners
        n = corners.N.shape[1]
        lengths = np.zeros(which.size, dtype=np.int64)
        lengths[chosen] = 1 + n
        nodes = np.column_stack([self.nodes[chosen], self._facets.nodes[corners.facet[chosen]]])
        W = np.column_stack([np.ones(chosen.size), -corners.N[chosen]])
        B = W[:, :, None] * corners.normal[chosen][:, None, :]
        return lengths, nodes.ravel(), B.reshape(-1, B.shape[2]), W.ravel()
