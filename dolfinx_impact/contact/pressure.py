"""Contact pressure from nodal impulses: means over the facets of each smooth side of a surface.

Nodal impulses are no pressure times an area: those of a uniform pressure on a P2 triangle are zero at its
vertices. They are distributed to the facets at a node in proportion to the integrals of its function there,
``int N_k dA``; their sum over a facet, by its covered area and the time step, is the mean pressure of the
facet, and the pressure of a point is the mean over its facets. A uniform pressure is reproduced by elements
of any degree, and ``sum p A dt = sum r`` holds exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .. import parallel
from .._types import BoolArray, FloatArray, Int64Array, IntArray
from ..algebra.contact_operator import ContactOperator
from ..systems.body import Body
from ..systems.outer_facets import OuterFacets

#: Angle of the normals of neighbours above which their common edge is sharp [rad].
_SHARP = np.pi / 4
#: Sum of the integrals of a point's functions over its area above which it is not zero.
POSITIVE = 0.05
#: Sides at a node whose facets lean to the obstacle by squared sines this much apart both take the impulse.
_ALIKE = 0.1
#: Numbers of a work array.
_WORK = 2_000_000


class PointFacets:
    """Shares of the contact points in the facets; on all ranks alike.

    Points of all ranks are numbered as the columns of a run. An entry joins a point and a facet.

    Args:
        count: Number of points of all ranks.
        point, facet: Point and facet of each entry, shape (m,).
        shares: ``int N dA``, parts of the force of a uniform pressure, shape (m,) [m2].
        areas: Positive areas, with the same sums over each facet, shape (m,) [m2].
        side: Number of the smooth side of its node to which each entry belongs, shape (m,); None where every
            point has one.
        slopes: Points at the corners of each facet, shape (facets, c), and the matrices that take their gaps
            to the gradient on the facet, shape (facets, dim, c) [1/m]; needed with sides.
    """

    def __init__(
        self,
        count: int,
        point: IntArray,
        facet: IntArray,
        shares: FloatArray,
        areas: FloatArray,
        side: IntArray | None = None,
        slopes: tuple[IntArray, FloatArray] | None = None,
    ) -> None:
        self.count, self.point, self.facet = count, point, facet
        self.shares, self.areas, self.side, self.slopes = shares, areas, side, slopes
        self._facets = int(facet.max(initial=-1)) + 1
        m = np.arange(point.size)
        self._to_points = sparse.csr_matrix((np.ones(m.size), (m, point)), (m.size, count))
        self._to_facets = sparse.csr_matrix((np.ones(m.size), (m, facet)), (m.size, self._facets))
        least = np.zeros(count)
        np.minimum.at(least, point, shares)
        zero = (least < 0.0) | (shares @ self._to_points <= POSITIVE * (areas @ self._to_points))
        #: Weights by which the impulse of a point is distributed to its facets.
        self._weights = np.where(zero[point], areas, shares)
        if side is not None:
            self._take_sides(side)

    def _take_sides(self, side: IntArray) -> None:
        m, sides = np.arange(side.size), int(side.max(initial=-1)) + 1
        means = self.areas / np.bincount(side, self.areas, sides)[side]
        #: Mean over the entries of each side, and the first of the sides of each point with any.
        self._to_sides = sparse.csr_matrix((means, (m, side)), (m.size, sides))
        of_side = np.zeros(sides, dtype=np.int64)
        of_side[side] = self.point
        self._by_point = np.argsort(of_side, kind="stable")
        _, self._first_sides, self._place = np.unique(
            of_side[self._by_point], return_index=True, return_inverse=True
        )

    def evaluate(
        self, r: FloatArray, gap: FloatArray, covered: FloatArray, dt: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Pressures [Pa] and areas [m2] of the points of all ranks, shape (n, count) each.

        Args:
            r: Impulses of n samples, shape (n, count) [N s].
            gap: Gaps, which tell the side of a node that faces the obstacle, shape (n, count) [m].
            covered: Parts of the points' areas with something opposite, 0 to 1, shape (n, count).
            dt: Times in which the impulses act, shape (n,) [s].
        """
        pressure, areas = np.empty(r.shape), np.empty(r.shape)
        chunk = max(1, _WORK // max(self.point.size, 1))
        for first in range(0, len(r), chunk):
            part = slice(first, first + chunk)
            pressure[part], areas[part] = self._evaluate(r[part], gap[part], covered[part], dt[part])
        return pressure, areas

    def _evaluate(
        self, r: FloatArray, gap: FloatArray, covered: FloatArray, dt: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        # An impulse of an earlier step of the sample may act where nothing is opposite any more.
        parts = np.where((covered <= 0.0) & (r != 0.0), 1.0, covered)[:, self.point]
        if self.side is not None:
            parts = parts * self._facing(gap)
        weights, areas = parts * self._weights, parts * self.areas
        # Of a facet that is covered in part the area in the element's own functions, where there is any.
        positive = areas @ self._to_facets
        at_facets = np.maximum((parts * self.shares) @ self._to_facets, POSITIVE * positive)
        areas = areas * quotient(at_facets, positive)[:, self.facet]
        at_points = areas @ self._to_points
        of_points = quotient(r, weights @ self._to_points)
        impulses = (of_points[:, self.point] * weights) @ self._to_facets
        of_facets = quotient(impulses, at_facets * dt[:, None])
        pressure = quotient((of_facets[:, self.facet] * areas) @ self._to_points, at_points)
        return pressure, at_points

    def _facing(self, gap: FloatArray) -> BoolArray:
        """Mask of the entries on the sides that face the obstacle, shape (n, m).

        Where a gap changes by its sine over a facet, the facet leans to the obstacle by that angle: of the
        sides at a node the one that leans least faces it.
        """
        assert self.slopes is not None and self.side is not None
        corners, matrices = self.slopes
        finite = np.where(np.isfinite(gap), gap, 0.0)
        slopes = np.einsum("ftc,nfc->nft", matrices, finite[:, corners])
        squares = np.einsum("nft,nft->nf", slopes, slopes)
        leaning = (squares[:, self.facet] @ self._to_sides)[:, self._by_point]
        least = np.minimum.reduceat(leaning, self._first_sides, axis=1)[:, self._place]
        faces = np.zeros((len(gap), self._by_point.size), dtype=bool)
        faces[:, self._by_point] = leaning <= least + _ALIKE
        return faces[:, self.side]


class ListedFacets:
    """The facets of several contacts, whose points follow each other.

    Args:
        members: Number of points of each contact on all ranks, and its facets, None where they are unknown.
    """

    def __init__(self, members: Sequence[tuple[int, Facets | None]]) -> None:
        self.members, self.count = members, sum(count for count, _ in members)

    def evaluate(
        self, r: FloatArray, gap: FloatArray, covered: FloatArray, dt: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """See :meth:`PointFacets.evaluate`; NaN at the points of contacts whose facets are unknown."""
        pressure, areas = np.full(r.shape, np.nan), np.full(r.shape, np.nan)
        first = 0
        for count, each in self.members:
            part = slice(first, first + count)
            first += count
            if each is not None:
                pressure[:, part], areas[:, part] = each.evaluate(
                    r[:, part], gap[:, part], covered[:, part], dt
                )
        return pressure, areas


#: Facets of a contact, or of several.
Facets = PointFacets | ListedFacets


def global_nodes(body: Body, rows: ContactOperator, nodes: IntArray) -> Int64Array:
    """Numbers in the function space of the nodes of rows, of all ranks in sorted order. Collective.

    Args:
        body: The body.
        rows: One row a point.
        nodes: Local node of each row.
    """
    numbers = body.space.dofmap.index_map.local_to_global(nodes.astype(np.int32))
    return np.asarray(parallel.gather_rows(body.comm, numbers)[rows.sorting(body.comm)])


def facets_of_nodes(
    outer: OuterFacets, points: Int64Array, faces: int = 1, *, sides: bool = True
) -> PointFacets:
    """The facets at the nodes of points; a node has a point for every face of an obstacle.

    Args:
        outer: The facets.
        points: Node of each point in the numbers of the function space, shape (count,).
        faces: Number of points of a node, which follow each other.
        sides: Whether impulses go to the side of a node that faces the obstacle alone.
    """
    nodes = points[::faces]
    order = np.argsort(nodes, kind="stable")
    place = np.minimum(np.searchsorted(nodes[order], outer.nodes), max(nodes.size - 1, 0))
    at, known = order[place] if nodes.size else place, np.isin(outer.nodes, nodes)
    facet, k = np.nonzero(known)
    entries = repeated((at[known], facet, outer.shares[known], outer.areas[known]), len(outer.nodes), faces)
    side = _smooth_sides(outer, facet, k) if sides else at[known]
    if np.unique(side).size == np.unique(at[known]).size:
        return PointFacets(points.size, *entries)
    corners, matrices = at[:, : outer.corners], _gradients(outer)
    matrices[~known[:, : outer.corners].all(axis=1)] = 0.0
    face = np.arange(faces)
    slopes = (
        (corners * faces + face[:, None, None]).reshape(-1, outer.corners),
        np.tile(matrices, (faces, 1, 1)),
    )
    every = (side + (side.max(initial=-1) + 1) * face[:, None]).ravel()
    return PointFacets(points.size, *entries, every, slopes)


def repeated(
    entries: tuple[IntArray, IntArray, FloatArray, FloatArray], facets: int, faces: int
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Entries (point, facet, share, area) with several points in the place of each."""
    face = np.arange(faces)[:, None]
    point, facet, shares, areas = entries
    return (
        (point * faces + face).ravel(),
        (facet + facets * face).ravel(),
        np.tile(shares, faces),
        np.tile(areas, faces),
    )


def _smooth_sides(outer: OuterFacets, facet: IntArray, place: IntArray) -> IntArray:
    """Number of the smooth side of each entry (facet and place of a node in it), shape (m,).

    Facets at a node belong to one side as far as they are connected by edges that are not sharp.
    """
    m, corners = facet.size, outer.nodes[:, : outer.corners]
    gdim, total = outer.normals.shape[1], len(outer.nodes)
    if gdim == 1 or not m:
        return np.arange(m)
    used, numbers = np.unique(corners, return_inverse=True)
    row = np.repeat(np.arange(total), outer.corners)
    at = sparse.csr_matrix((np.ones(row.size), (row, numbers.ravel())), (total, used.size))
    shared = (at @ at.T).tocoo()
    first, second = shared.row, shared.col
    smooth = np.einsum("pi,pi->p", outer.normals[first], outer.normals[second]) >= np.cos(_SHARP) - 1e-9
    linked = smooth & (shared.data > gdim - 1.5) & (first != second)
    first, second = first[linked], second[linked]
    # Entries of both facets at a common node are linked.
    entry = np.full(outer.nodes.shape, -1)
    entry[facet, place] = np.arange(m)
    same = outer.nodes[first][:, :, None] == outer.nodes[second][:, None, :]
    pair, k, j = np.nonzero(same)
    a, b = entry[first[pair], k], entry[second[pair], j]
    both = (a >= 0) & (b >= 0)
    links = sparse.csr_matrix((np.ones(int(both.sum())), (a[both], b[both])), (m, m))
    sides: IntArray = csgraph.connected_components(links, directed=False)[1]
    return sides


def _gradients(outer: OuterFacets) -> FloatArray:
    """Matrices from values at the corners of facets to gradients on them, shape (facets, dim, c) [1/m]."""
    x = outer.x[:, : outer.corners]
    dim = outer.normals.shape[1] - 1
    if dim == 0:
        return np.zeros((len(x), 1, outer.corners))
    arms = x - x.mean(axis=1, keepdims=True)
    # Least squares on the plane of the largest singular values.
    left, sizes, right = np.linalg.svd(arms, full_matrices=False)
    inverse = right[:, :dim].transpose(0, 2, 1) / sizes[:, None, :dim] @ left[:, :, :dim].transpose(0, 2, 1)
    return np.ascontiguousarray(inverse)


def quotient(a: FloatArray, b: FloatArray) -> FloatArray:
    """``a / b``, 0 where b = 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0.0)
