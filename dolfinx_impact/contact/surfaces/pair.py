"""A slave and a master surface: segments, weighted gaps and rows at the nodes of the slave."""

from __future__ import annotations

import numpy as np

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import kernels
from . import _rows, _segments
from ._arrays import FacetGeometry, Parts, Points, Segments
from .facets import Facets
from .search import candidate_pairs
from .sides import sides_at_nodes, walls

#: Largest mean gap of a segment over the larger diameter of its facets; facets that lean by 60 degrees and
#: touch at a corner have 0.43.
LARGEST_GAP = 0.6
#: Largest mean penetration of a segment over the sum of the heights of both cells.
DEPTH = 0.5
#: Extrapolation of a gap below the least one of the segments, over the diameter of the facets, above which
#: nothing is opposite to a node.
_BEYOND = 0.05


class SurfacePair:
    """Mortar rows at those nodes of the slave surface that this rank owns.

    A node has a point for each of its smooth sides (facets between sharp edges) and, where the master has
    sharp concave edges, for each wall that may be in front of a side. Points that are pushed in similar
    directions share one row.

    Dual basis functions of the covered part of each slave facet, Cichosz and Bischoff, Comput. Methods Appl.
    Mech. Eng. 200 (2011), doi:10.1016/j.cma.2010.11.004; one normal for each pair of facets. A facet that
    a much smaller body covers in part has one row, of constant pressure.

    Args:
        facets: Facets of all surfaces.
        slave, master: Numbers of the surfaces.
        rank: This rank.
        axisymmetric: Whether areas are those of the full revolution.
        divided: Whether sharp edges divide the facets at a node.

    Attributes:
        surface: Number of the slave surface.
        nodes: Nodes of the points, shape (p,).
        normals: Outward normals of their sides at zero displacement, shape (p, gdim).
        walls: Number of the wall that each point may face, 0 without a room, shape (p,).
        gap: Weighted gaps, shape (p,) [m]; infinite without a segment.
        area: Covered areas, shape (p,) [m2].
    """

    def __init__(
        self, facets: Facets, slave: int, master: int, rank: int, *, axisymmetric: bool, divided: bool
    ) -> None:
        self._facets, self._axisymmetric, self.surface = facets, axisymmetric, slave
        self._master = facets.of(master)
        #: Number of each facet of the master among the walls of a room, and how many walls there are.
        self._wall = np.zeros(len(facets.nodes), dtype=np.int64)
        if divided:
            length = float(np.ptp(facets.x, axis=0).max())
            self._wall[self._master] = walls(facets, master, length)
        self._walls = int(self._wall.max(initial=0)) + 1
        self._make_points(slave, rank, divided)
        self._geometry = FacetGeometry.empty(len(facets.nodes), facets.x.shape[1])
        self._place = np.full(len(facets.x), -1, dtype=np.int64)
        self._integrate = kernels.jit(_segments.integrate, *_segments.CALLED, allocates=False)
        self._weigh = kernels.jit(_rows.weigh, *_rows.CALLED, allocates=False)
        self._find_rows = kernels.jit(_rows.rows, _rows.longest_rows, _rows.add_entry)
        self._set_pairs(np.zeros((0, 2), dtype=np.int64))

    def _make_points(self, slave: int, rank: int, divided: bool) -> None:
        """Points of this rank: a node, one of its smooth sides, and one of the walls that this may face.

        Each has the parts of slave facets that face its wall, in CSR format, and its place among their nodes.
        """
        facets, of_slave = self._facets, self._facets.of(slave)
        side, node, normals = sides_at_nodes(facets, slave, divided=divided)
        own = facets.rank[node] == rank
        number = np.cumsum(own) - 1
        of_facet = own[side].any(axis=1)
        self._slave, side = of_slave[of_facet], side[of_facet]
        facet, place = np.nonzero(own[side])
        count, wall = self._walls, np.arange(self._walls)
        point = (number[side[facet, place]][:, None] * count + wall).ravel()
        order = np.argsort(point, kind="stable")
        self.nodes, self.normals = np.repeat(node[own], count), np.repeat(normals[own], count, axis=0)
        self.walls = np.tile(wall, int(own.sum()))
        self._parts = self._make_parts()
        self._points = self._empty_points(
            np.bincount(point, minlength=self.nodes.size),
            (facet[:, None] * count + wall).ravel()[order].astype(np.int64),
            np.repeat(place, count)[order].astype(np.int64),
        )
        self.gap, self.area = self._points.gap, self._points.area

    def _make_parts(self) -> Parts:
        """Parts of the slave facets, one for each wall, without segments."""
        facets, facet, n = self._facets, np.repeat(self._slave, self._walls), self._facets.nodes.shape[1]
        _, size = facets.normals(facets.x)
        if self._axisymmetric:
            size = size * 2.0 * np.pi * facets.x[facets.nodes][..., 0].mean(axis=1)
        count = facet.size
        return Parts(
            start=np.zeros(count + 1, dtype=np.int64),
            facet=facet,
            size=size[facet],
            T=np.zeros((count, n, n)),
            areas=np.zeros((count, n)),
            weighted=np.zeros((count, n)),
            bottom=np.zeros(count),
            placed=np.zeros(count, dtype=bool),
        )

    def _empty_points(self, lengths: IntArray, parts: IntArray, places: IntArray) -> Points:
        """Points with so many parts each, without anything opposite."""
        count, beyond = self.nodes.size, np.zeros(self.nodes.size)
        diameters = self._facets.diameter[self._parts.facet[parts]]
        np.maximum.at(beyond, np.repeat(np.arange(count), lengths), _BEYOND * diameters)
        _, first, several = np.unique(self.nodes, return_index=True, return_counts=True)
        return Points(
            start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            parts=parts,
            places=places,
            groups=np.column_stack([first, first + several])[several > 1].astype(np.int64),
            beyond=beyond,
            direction=np.zeros((count, self._facets.x.shape[1])),
            facing=np.zeros(count),
            leads=np.ones(count, dtype=bool),
            following=np.full(count, -1),
            gap=np.full(count, np.inf),
            area=np.zeros(count),
        )

    def incidence(self, *, covered: bool = False) -> tuple[IntArray, IntArray, IntArray]:
        """Points, the slave facets at them, and their places among the nodes of these, shape (m,) each.

        Args:
            covered: Whether facets without anything opposite are left out.
        """
        points, parts = self._points, self._parts
        point = np.repeat(np.arange(self.nodes.size), np.diff(points.start))
        at = points.parts
        kept = np.flatnonzero(np.isfinite(parts.bottom[at])) if covered else np.arange(at.size)
        return point[kept], parts.facet[at[kept]], points.places[kept]

    def has_segments(self) -> BoolArray:
        """Mask of the points at whose facets something is opposite, shape (p,)."""
        found = np.isfinite(self._parts.bottom[self._points.parts])
        point = np.repeat(np.arange(self.nodes.size), np.diff(self._points.start))
        return np.bincount(point, found, self.nodes.size) > 0

    # -- search

    def search(self, x: FloatArray, margin: float) -> None:
        """Find the candidate pairs at the positions ``x`` of all nodes [m]."""
        self._set_pairs(candidate_pairs(self._facets, x, self._slave, self._master, LARGEST_GAP, margin))

    def _set_pairs(self, pairs: IntArray) -> None:
        facets, count, n = self._facets, len(pairs), self._facets.nodes.shape[1]
        part = pairs[:, 0] * self._walls + self._wall[pairs[:, 1]]
        if self._walls > 1:
            order = np.argsort(part, kind="stable")
            pairs, part = np.ascontiguousarray(pairs[order]), part[order]
        parts = (self._slave[:, None] * self._walls + np.arange(self._walls)).ravel()
        self._parts.start[:] = np.searchsorted(part, np.append(parts, np.iinfo(np.int64).max))
        used = np.unique(pairs)
        across = [facets.sharp[facets.sharp_start[f] : facets.sharp_start[f + 1]] for f in used]
        self._segments = Segments(
            facets=np.unique(np.concatenate([used, *across])).astype(np.int64),
            pairs=pairs,
            largest_gap=LARGEST_GAP * facets.diameter[pairs].max(axis=1),
            depth=DEPTH * facets.height[pairs].sum(axis=1),
            normals=np.zeros((count, facets.x.shape[1])),
            mass=np.zeros((count, n, n)),
            cross=np.zeros((count, n, n)),
            gaps=np.zeros((count, n)),
            lowest=np.zeros(count),
            found=np.zeros(count, dtype=bool),
        )

    def needed(self) -> IntArray:
        """Nodes whose positions the segments depend on, sorted."""
        nodes: IntArray = np.union1d(self._facets.nodes[self._segments.facets].ravel(), self.nodes)
        return nodes

    # -- gaps and rows

    def integrate(self, x: FloatArray, marks: AnyArray) -> None:
        """Compute the segments at the positions ``x`` of the nodes, (nodes, gdim) [m].

        Args:
            x: Positions.
            marks: Set to 1 at the nodes of facets that are covered, shape (nodes,).
        """
        of_pairs = self._geometry, self._segments, self._parts
        self._integrate(x, self._facets.arrays, *of_pairs, self._axisymmetric, marks)

    def weigh(self, x: FloatArray, marks: AnyArray) -> None:
        """Compute ``gap`` and ``area`` from the segments at ``x``; ``marks`` are those of all ranks."""
        facets, normal = self._facets.arrays, self._geometry.normal
        self._weigh(x, marks, facets, normal, self._segments, self._parts, self._points)

    def least_gaps(self) -> FloatArray:
        """Least gap of the segments in each point's row, shape (p,) [m]; infinite without one.

        The weighted gap of a curved or a small facet may be negative although nothing overlaps.
        """
        points, parts, least = self._points, self._parts, np.full(self.nodes.size, np.inf)
        at, point = points.parts, np.repeat(np.arange(self.nodes.size), np.diff(points.start))
        used = parts.areas[at, points.places] > 0.0
        np.minimum.at(least, point[used], parts.bottom[at[used]])
        for i in np.flatnonzero(points.leads):
            q = points.following[i]
            while q >= 0:
                least[i], q = min(least[i], least[q]), points.following[q]
        return least

    @property
    def small_parts(self) -> bool:
        """Whether the pressure on a part of a facet is linear between places of its own."""
        return bool(self._parts.placed.any())

    def covered_nodes(self) -> IntArray:
        """Nodes of the facets of both sides that have a segment, as far as this rank found them."""
        return self._nodes_of(self._segments.found)

    def closed_nodes(self, tolerance: float) -> IntArray:
        """Nodes of the facets of both sides with a segment that is closed somewhere, found by this rank."""
        closed = self._segments.found & (self._segments.lowest <= tolerance)
        return np.union1d(self._nodes_of(closed), self.nodes[self.gap <= tolerance])

    def _nodes_of(self, chosen: BoolArray) -> IntArray:
        """Nodes of the facets of both sides of the candidate pairs in a mask."""
        nodes: IntArray = np.unique(self._facets.nodes[np.unique(self._segments.pairs[chosen])])
        return nodes

    def rows(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Rows of the points in the mask: lengths of all rows, nodes, B and W of the entries."""
        chosen, gdim = np.flatnonzero(which), self._facets.x.shape[1]
        if not chosen.size:
            none = np.zeros(0, dtype=np.int64)
            return np.zeros(which.size, dtype=np.int64), none, np.zeros((0, gdim)), np.zeros(0)
        segments, parts, points = self._segments, self._parts, self._points
        found: tuple[IntArray, IntArray, FloatArray, FloatArray] = self._find_rows(
            chosen, self._facets.nodes, segments, parts, points, self._place
        )
        return found


def slave_and_master(facets: Facets, first: int, second: int) -> tuple[int, int]:
    """The side with less mass per area is the slave, then the one with more facets per area, then the first.

    Constrained nodes are infinitely heavy. With this choice the slave part of H dominates that of the master.

    Args:
        facets: Facets of all surfaces.
        first, second: Numbers of two surfaces; the first is that of the earlier part of the mesh.

    Raises:
        ValueError: Both sides have no dof that moves freely.
    """
    mobility, fineness = zip(*(_mobility(facets, each) for each in (first, second)))
    if max(mobility) == 0.0:
        raise ValueError("all nodes of both surfaces are fixed or prescribed: contact has nothing to move")
    if abs(mobility[0] - mobility[1]) > 1e-9 * max(mobility):
        return (first, second) if mobility[0] > mobility[1] else (second, first)
    if abs(fineness[0] - fineness[1]) > 1e-9 * max(fineness):
        return (first, second) if fineness[0] > fineness[1] else (second, first)
    return first, second


def _mobility(facets: Facets, surface: int) -> tuple[float, float]:
    """Mean of area per mass of the nodes of a surface [m2/kg], and facets per area [1/m2]."""
    chosen = facets.of(surface)
    _, sizes = facets.normals(facets.x)
    nodes, n = facets.nodes[chosen], facets.nodes.shape[1]
    area = np.bincount(nodes.ravel(), np.repeat(sizes[chosen] / n, n), len(facets.x))
    at = np.unique(nodes)
    compliance = area[at] * facets.inverse_mass[at].mean(axis=1)
    return float(compliance.mean()), float(chosen.size / sizes[chosen].sum())
