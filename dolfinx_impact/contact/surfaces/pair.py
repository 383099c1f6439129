"""A slave and a master surface: segments, weighted gaps and rows at the nodes of the slave."""

from __future__ import annotations

import numpy as np

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import kernels
from . import _places, _rows, _segments
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
        length = float(np.ptp(facets.x, axis=0).max())
        self.master = facets.of(master)
        #: Number of each facet of the master among the walls of a room, and how many walls there are.
        self._wall = np.zeros(len(facets.nodes), dtype=np.int64)
        if divided:
            self._wall[self.master] = walls(facets, master, length)
        self._walls = int(self._wall.max(initial=0)) + 1
        self._make_points(slave, rank, divided)
        p, n, parts = self.nodes.size, facets.nodes.shape[1], self.slave.size * self._walls
        self.gap, self.area = np.full(p, np.inf), np.zeros(p)
        self._T, self._areas = np.zeros((parts, n, n)), np.zeros((parts, n))
        self._weighted, self._bottom = np.zeros((parts, n)), np.zeros(parts)
        self._beyond, of = np.zeros(p), self._point_facets // self._walls
        sizes_at = facets.diameter[self.slave][of]
        np.maximum.at(self._beyond, np.repeat(np.arange(p), np.diff(self._point_start)), _BEYOND * sizes_at)
        _, sizes = facets.normals(facets.x)
        if axisymmetric:
            sizes = sizes * 2.0 * np.pi * facets.x[facets.nodes][..., 0].mean(axis=1)
        self._sizes = np.repeat(sizes[self.slave], self._walls)
        total, gdim = len(facets.nodes), facets.x.shape[1]
        #: Centres, normals and radii of the facets at the last evaluation.
        self._now = np.zeros((total, gdim)), np.zeros((total, gdim)), np.zeros(total)
        self._size = np.zeros(total)
        self._part_facet, self._placed = np.repeat(self.slave, self._walls), np.zeros(parts, dtype=bool)
        self._direction, self._facing = np.zeros((p, gdim)), np.zeros(p)
        self._place = np.full(len(facets.x), -1, dtype=np.int64)
        self._rule = facets.shape.rule
        self._compile()
        self._set_pairs(np.zeros((0, 2), dtype=np.int64))

    def _compile(self) -> None:
        self._describe = kernels.jit(_segments.describe, *_segments.CALLED)
        self._integrate = kernels.jit(_segments.integrate, *_segments.CALLED)
        self._dual_basis = kernels.jit(
            _rows.dual_basis, _rows.invert, _rows.extrapolation, _rows.most_covered, *_places.CALLED
        )
        self._mark = kernels.jit(_rows.mark_covered)
        self._join = kernels.jit(_rows.join_points)
        self._weigh, self._longest = kernels.jit(_rows.weighted_gaps), kernels.jit(_rows.longest_rows)
        self._fill = kernels.jit(_rows.fill_rows, _rows.add_entry)

    def _make_points(self, slave: int, rank: int, divided: bool) -> None:
        """Points of this rank: a node, one of its smooth sides, and one of the walls that this may face.

        Each has the parts of slave facets that face its wall, in CSR format, and its place among their nodes.
        """
        facets, of_slave = self._facets, self._facets.of(slave)
        side, node, normals = sides_at_nodes(facets, slave, divided=divided)
        own = facets.rank[node] == rank
        number = np.cumsum(own) - 1
        of_facet = own[side].any(axis=1)
        self.slave, side = of_slave[of_facet], side[of_facet]
        facet, place = np.nonzero(own[side])
        count, wall = self._walls, np.arange(self._walls)
        point = (number[side[facet, place]][:, None] * count + wall).ravel()
        order = np.argsort(point, kind="stable")
        self._point_facets = (facet[:, None] * count + wall).ravel()[order].astype(np.int64)
        self._point_places = np.repeat(place, count)[order].astype(np.int64)
        self.nodes, self.normals = np.repeat(node[own], count), np.repeat(normals[own], count, axis=0)
        self.walls = np.tile(wall, int(own.sum()))
        lengths = np.bincount(point, minlength=self.nodes.size)
        self._point_start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        _, first, several = np.unique(self.nodes, return_index=True, return_counts=True)
        chosen = several > 1
        self._groups = np.column_stack([first, first + several])[chosen].astype(np.int64)
        self._leads, self._following = np.ones(self.nodes.size, dtype=bool), np.full(self.nodes.size, -1)

    def incidence(self, *, covered: bool = False) -> tuple[IntArray, IntArray, IntArray]:
        """Points, the slave facets at them, and their places among the nodes of these, shape (m,) each.

        Args:
            covered: Whether facets without anything opposite are left out.
        """
        point = np.repeat(np.arange(self.nodes.size), np.diff(self._point_start))
        at, place = self._point_facets, self._point_places
        kept = np.flatnonzero(np.isfinite(self._bottom[at])) if covered else np.arange(at.size)
        return point[kept], self.slave[at[kept] // self._walls], place[kept]

    def has_segments(self) -> BoolArray:
        """Mask of the points at whose facets something is opposite, shape (p,)."""
        found = np.isfinite(self._bottom[self._point_facets])
        point = np.repeat(np.arange(self.nodes.size), np.diff(self._point_start))
        return np.bincount(point, found, self.nodes.size) > 0

    # -- search

    def search(self, x: FloatArray, margin: float) -> None:
        """Find the candidate pairs at the positions ``x`` of all nodes [m]."""
        self._set_pairs(candidate_pairs(self._facets, x, self.slave, self.master, LARGEST_GAP, margin))

    def _set_pairs(self, pairs: IntArray) -> None:
        facets, count, n = self._facets, len(pairs), self._facets.nodes.shape[1]
        part = pairs[:, 0] * self._walls + self._wall[pairs[:, 1]]
        if self._walls > 1:
            order = np.argsort(part, kind="stable")
            pairs, part = np.ascontiguousarray(pairs[order]), part[order]
        parts = (self.slave[:, None] * self._walls + np.arange(self._walls)).ravel()
        self.pairs = pairs
        self._starts = np.searchsorted(part, np.append(parts, np.iinfo(np.int64).max))
        gdim = facets.x.shape[1]
        self._normals, self._found = np.zeros((count, gdim)), np.zeros(count, dtype=bool)
        self._mass, self._cross = np.zeros((count, n, n)), np.zeros((count, n, n))
        self._gaps, self._lowest = np.zeros((count, n)), np.zeros(count)
        used = np.unique(pairs)
        across = [facets.sharp[facets.sharp_start[f] : facets.sharp_start[f + 1]] for f in used]
        #: Facets of the pairs, and those across sharp edges.
        self._used = np.unique(np.concatenate([used, *across])).astype(np.int64)
        diameter, height = facets.diameter, facets.height
        self._largest_gap = LARGEST_GAP * diameter[pairs].max(axis=1) if count else np.zeros(0)
        self._depth = DEPTH * height[pairs].sum(axis=1) if count else np.zeros(0)

    def needed(self) -> IntArray:
        """Nodes whose positions the segments depend on, sorted."""
        nodes: IntArray = np.union1d(self._facets.nodes[self._used].ravel(), self.nodes)
        return nodes

    # -- gaps and rows

    def integrate(self, x: FloatArray, marks: AnyArray) -> None:
        """Compute the segments at the positions ``x`` of the nodes, (nodes, gdim) [m].

        Args:
            x: Positions.
            marks: Set to 1 at the nodes of facets that are covered, shape (nodes,).
        """
        facets, shape = self._facets, self._facets.shape
        self._describe(x, facets.nodes, self._used, shape.corners, *self._now, self._size)
        self._integrate(
            x,
            facets.nodes,
            shape.corners,
            shape.points,
            shape.simplex,
            self._axisymmetric,
            *self._rule,
            self.pairs,
            self._largest_gap,
            self._depth,
            facets.flatness,
            facets.sharp_start,
            facets.sharp,
            *self._now,
            self._normals,
            self._mass,
            self._cross,
            self._gaps,
            self._lowest,
            self._found,
        )
        self._x = x
        parts = self._starts, self._mass, self._found, self._part_facet, facets.nodes, self._size
        self._mark(*parts, self._now[0], self._axisymmetric, marks)

    def weigh(self, marks: AnyArray) -> None:
        """Compute ``gap`` and ``area`` from the segments; ``marks`` are those of all ranks."""
        shape = self._facets.shape
        self._dual_basis(
            self._starts,
            self._part_facet,
            self._facets.nodes,
            marks,
            self._x,
            shape.corners,
            self.pairs,
            self._facets.diameter,
            self._mass,
            self._cross,
            self._gaps,
            self._lowest,
            self._found,
            self._sizes,
            self._T,
            self._areas,
            self._weighted,
            self._bottom,
            self._placed,
        )
        points = self._point_start, self._point_facets, self._point_places
        if self._groups.size:
            self._join(
                self._groups,
                *points,
                self._areas,
                self._starts,
                self.pairs,
                self._mass,
                self._normals,
                self._found,
                self._now[1],
                self._direction,
                self._facing,
                self._leads,
                self._following,
            )
        rows, straight = (self._leads, self._following), shape.points.size == 2
        gaps = self._areas, self._weighted, self._bottom, self._beyond, straight
        self._weigh(*points, *rows, *gaps, self.gap, self.area)

    @property
    def small_parts(self) -> bool:
        """Whether the pressure on a part of a facet is linear between places of its own."""
        return bool(self._placed.any())

    def covered_nodes(self) -> IntArray:
        """Nodes of the facets of both sides that have a segment, as far as this rank found them."""
        nodes: IntArray = np.unique(self._facets.nodes[np.unique(self.pairs[self._found])])
        return nodes

    def closed_nodes(self, tolerance: float) -> IntArray:
        """Nodes of the facets of both sides with a segment that is closed somewhere, found by this rank."""
        closed = self._found & (self._lowest <= tolerance)
        nodes: IntArray = np.unique(self._facets.nodes[np.unique(self.pairs[closed])])
        return np.union1d(nodes, self.nodes[self.gap <= tolerance])

    def rows(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Rows of the points in the mask: lengths of all rows, nodes, B and W of the entries."""
        chosen = np.flatnonzero(which)
        n, gdim = self._facets.nodes.shape[1], self._facets.x.shape[1]
        points = self._point_start, self._point_facets, self._point_places
        most = 0
        if chosen.size:
            most = self._longest(chosen, *points[:2], self._following, self._starts, n)
        ends, nodes = np.zeros(chosen.size, dtype=np.int64), np.zeros(most, dtype=np.int64)
        B, W = np.zeros((most, gdim)), np.zeros(most)
        used = 0
        if chosen.size:
            used = self._fill(
                chosen,
                *points,
                self._following,
                self._starts,
                self.pairs,
                self._facets.nodes,
                self._normals,
                self._mass,
                self._cross,
                self._found,
                self._T,
                self._areas,
                self.area,
                self._place,
                ends,
                nodes,
                B,
                W,
            )
        lengths = np.zeros(which.size, dtype=np.int64)
        lengths[chosen] = np.diff(ends, prepend=0)
        return lengths, nodes[:used], B[:used], W[:used]


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
