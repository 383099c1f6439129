"""Rows of corner nodes: the distance of a needle's tip, or of a corner that sinks into a coarse facet."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..._types import BoolArray, FloatArray, IntArray
from ...algebra import kernels
from . import _facet_maps, _segments
from ._facet_maps import corner_map, facet_functions, line_functions, line_normal, polygon_normal, tangents
from .facets import Facets
from .pair import DEPTH, LARGEST_GAP
from .sides import sides_at_nodes

#: Largest angle between the facets at a node above which it is a corner [rad].
_CORNER = np.pi / 3
#: Shape functions outside of the facet by this count as inside.
_INSIDE = 1e-9


def is_faced(
    x: FloatArray,
    facets: IntArray,
    corners: IntArray,
    f: int,
    n: FloatArray,
    shut: BoolArray,
    around: IntArray,
    own: FloatArray,
) -> bool:
    """Whether a facet ``around`` a corner faces the facet f with the normal n, and no node of f is closed."""
    for k in range(facets.shape[1]):
        if shut[facets[f, k]]:
            return False
    for m in around:
        if n.size == 2:
            line_normal(x, facets[m], corners, own)
        else:
            polygon_normal(x, facets[m], corners, own)
        cosine = 0.0
        for c in range(n.size):
            cosine += own[c] * n[c]
        if cosine < _segments.FACING:
            return True
    return False


def shape_functions_below(
    x: FloatArray,
    at: FloatArray,
    nodes: IntArray,
    corners: IntArray,
    points: FloatArray,
    simplex: bool,
    inside: float,
    n: FloatArray,
    work: FloatArray,
    N: FloatArray,
) -> bool:
    """Write the shape functions of a facet where a point projects on it along its normal.

    Args:
        x: Positions of all nodes, shape (nodes, gdim) [m].
        at: The point, shape (gdim,) [m].
        nodes: Nodes of the facet.
        inside: How far shape functions may lie outside of [0, 1].
        n: Normal of the facet.
        work: Work array, shape (6, max(n, 4)).
        N: Written, shape (n,).
        others: See :func:`._segments.integrate`.

    Returns:
        Whether the projection lies in the facet; without it nothing is written.
    """
    nn = nodes.size
    if n.size == 2:
        flat = work[0]
        for k in range(nn):
            flat[k] = n[0] * (x[nodes[k], 1] - at[1]) - n[1] * (x[nodes[k], 0] - at[0])
        if min(flat[0], flat[nn - 1]) > 0.0 or max(flat[0], flat[nn - 1]) < 0.0:
            return False
        line_functions(points, flat, 0.0, N, work[1])
        return True
    a, b, y, m = work[0], work[1], np.empty((nn, 2)), np.empty((4, 2))
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
        if cross < -inside * span * span:
            return False
    if not simplex:
        corner_map(y, corners, m)
    facet_functions(points, simplex, y, m, 0.0, 0.0, work[2:], N)
    return True


def project_nodes(
    x: FloatArray,
    facets: IntArray,
    corners: IntArray,
    points: FloatArray,
    simplex: bool,
    nodes: IntArray,
    pairs: IntArray,
    allowed: IntArray,
    shut: BoolArray,
    around_start: IntArray,
    around: IntArray,
    largest_gap: FloatArray,
    depth: FloatArray,
    inside: float,
    gap: FloatArray,
    normal: FloatArray,
    N: FloatArray,
    chosen: IntArray,
) -> None:
    """Nearest opposite facet of each corner node along the facet's normal.

    Args:
        nodes: Corner nodes, shape (p,).
        pairs: Candidate pairs (number of the corner, facet), shape (pairs, 2).
        allowed: 0 for no facet, 1 for every facet, 2 for those that a facet at the corner faces and that
            have no closed node, shape (p,).
        shut: Closed nodes of the slave surfaces, shape (nodes,).
        around_start, around: Facets at each corner node, in CSR format.
        largest_gap, depth: Largest gap and penetration, shape (pairs,) [m].
        inside: How far shape functions may lie outside of [0, 1].
        gap: Written: distances, infinite where nothing is opposite, shape (p,) [m].
        normal: Written: normals of the facets, shape (p, gdim).
        N: Written: shape functions of the facets, shape (p, n).
        chosen: Written: facets, -1 for none, shape (p,).
        others: See :func:`._segments.integrate`.
    """
    gdim, nn = x.shape[1], facets.shape[1]
    n, own, M, work = np.empty(gdim), np.empty(gdim), np.empty(nn), np.empty((6, max(nn, 4)))
    for i in range(nodes.size):
        gap[i], chosen[i] = np.inf, -1
    for p in range(pairs.shape[0]):
        i, f = pairs[p, 0], pairs[p, 1]
        if allowed[i] == 0:
            continue
        if gdim == 2:
            line_normal(x, facets[f], corners, n)
        else:
            polygon_normal(x, facets[f], corners, n)
        if allowed[i] == 2 and not is_faced(
            x, facets, corners, f, n, shut, around[around_start[i] : around_start[i + 1]], own
        ):
            continue
        at = x[nodes[i]]
        if not shape_functions_below(x, at, facets[f], corners, points, simplex, inside, n, work, M):
            continue
        distance = 0.0
        for c in range(gdim):
            offset = at[c]
            for k in range(nn):
                offset -= M[k] * x[facets[f, k], c]
            distance += n[c] * offset
        if distance > largest_gap[p] or distance < -depth[p] or abs(distance) >= abs(gap[i]):
            continue
        gap[i], chosen[i] = distance, f
        normal[i], N[i] = n, M


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
        p, gdim, n = self.nodes.size, facets.x.shape[1], facets.nodes.shape[1]
        self._around_start, self._around = facets.around(self.nodes)
        self._of_master, self._allowed = of_master, np.ones(p, dtype=np.int64)
        _, node, normals = sides_at_nodes(facets, surface, divided=False)
        self.normals, self.walls = normals[np.searchsorted(node, self.nodes)], np.zeros(p, dtype=np.int64)
        self.area, self.surface = np.zeros(p), surface
        self.gap, self._normal = np.full(p, np.inf), np.zeros((p, gdim))
        self._N, self._chosen = np.zeros((p, n)), np.full(p, -1, dtype=np.int64)
        self._set_pairs(np.zeros((0, 2), dtype=np.int64))
        self._project = kernels.jit(project_nodes, is_faced, shape_functions_below, *_facet_maps.CALLED)

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
        self._pairs = pairs
        self._largest_gap = LARGEST_GAP * self._facets.diameter[pairs[:, 1]]
        self._depth = DEPTH * self._facets.height[pairs[:, 1]]

    def needed(self) -> IntArray:
        """Nodes whose positions the gaps depend on, sorted."""
        facets = self._facets
        every = np.union1d(self._pairs[:, 1], self._around)
        nodes: IntArray = np.union1d(facets.nodes[every].ravel(), self.nodes)
        return nodes

    def evaluate(self, x: FloatArray, covered: BoolArray, shut: BoolArray) -> None:
        """Compute ``gap`` at the positions ``x`` of the nodes, (nodes, gdim) [m].

        Args:
            x: Positions.
            covered: Nodes of the facets that have a segment, shape (nodes,).
            shut: Closed nodes of the slave surfaces, shape (nodes,).
        """
        self._allowed[:] = np.where(covered[self.nodes], 2 if self._of_master else 0, 1)
        facets, shape = self._facets, self._facets.shape
        self._project(
            x,
            facets.nodes,
            shape.corners,
            shape.points,
            shape.simplex,
            self.nodes,
            self._pairs,
            self._allowed,
            shut,
            self._around_start,
            self._around,
            self._largest_gap,
            self._depth,
            _INSIDE,
            self.gap,
            self._normal,
            self._N,
            self._chosen,
        )

    def closed_nodes(self, tolerance: float) -> IntArray:
        """Closed corners of this rank, and the nodes of the facets opposite."""
        closed = self.gap <= tolerance
        return np.union1d(self.nodes[closed], self._facets.nodes[self._chosen[closed]])

    def rows(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """See :meth:`.SurfacePair.rows`."""
        chosen = np.flatnonzero(which)
        n = self._facets.nodes.shape[1]
        lengths = np.zeros(which.size, dtype=np.int64)
        lengths[chosen] = 1 + n
        nodes = np.column_stack([self.nodes[chosen], self._facets.nodes[self._chosen[chosen]]])
        W = np.column_stack([np.ones(chosen.size), -self._N[chosen]])
        B = W[:, :, None] * self._normal[chosen][:, None, :]
        return lengths, nodes.ravel(), B.reshape(-1, self._normal.shape[1]), W.ravel()
