"""A slave and a master surface: segments, weighted gaps and rows at the nodes of the slave."""

from __future__ import annotations

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray
from ...algebra import kernels
from . import _rows, _segments
from .facets import Facets
from .search import candidate_pairs

#: Largest mean gap of a segment over the larger diameter of its facets; facets that lean by 60 degrees and
#: touch at a corner have 0.43.
REACH = 0.6
#: Largest mean penetration of a segment over the sum of the heights of both cells.
DEPTH = 0.5
#: Extrapolation of a gap below the least one of the segments, over the diameter of the facets, above which
#: nothing is opposite to a node.
_BEYOND = 0.05


class SurfacePair:
    """Mortar rows at those nodes of the slave surface that this rank owns.

    Dual basis functions of the covered part of each slave facet, Cichosz and Bischoff, Comput. Methods Appl.
    Mech. Eng. 200 (2011), doi:10.1016/j.cma.2010.11.004; one normal for each pair of facets. A facet that
    a much smaller body covers in part has one row, of constant pressure.

    Args:
        facets: Facets of all surfaces.
        slave, master: Numbers of the surfaces.
        rank: This rank.
        axisymmetric: Whether areas are those of the full revolution.

    Attributes:
        nodes: Nodes of the points, shape (p,).
        gap: Weighted gaps, shape (p,) [m]; infinite without a segment.
        area: Covered areas, shape (p,) [m2].
    """

    def __init__(self, facets: Facets, slave: int, master: int, rank: int, axisymmetric: bool) -> None:
        self._facets, self._axisymmetric = facets, axisymmetric
        every = facets.surface_nodes(slave)
        self.nodes = every[facets.rank[every] == rank]
        of_slave = facets.of(slave)
        self.slave = of_slave[np.isin(facets.nodes[of_slave], self.nodes).any(axis=1)]
        self.master = facets.of(master)
        self._point_start, self._point_facets, self._point_places = self._incidence()
        p, n = self.nodes.size, facets.nodes.shape[1]
        self.gap, self.area = np.full(p, np.inf), np.zeros(p)
        self._T, self._areas = np.zeros((self.slave.size, n, n)), np.zeros((self.slave.size, n))
        self._weighted, self._bottom = np.zeros((self.slave.size, n)), np.zeros(self.slave.size)
        self._beyond = np.zeros(p)
        sizes_at = facets.diameter[self.slave][self._point_facets]
        np.maximum.at(self._beyond, np.repeat(np.arange(p), np.diff(self._point_start)), _BEYOND * sizes_at)
        _, sizes = facets.normals(facets.x)
        self._sizes = sizes[self.slave]
        if axisymmetric:
            middle = facets.x[facets.nodes[self.slave]][..., 0].mean(axis=1)
            self._sizes = self._sizes * 2.0 * np.pi * middle
        total = len(facets.nodes)
        #: Centres, normals and radii of the facets at the last evaluation.
        self._now = (
            np.zeros((total, facets.x.shape[1])),
            np.zeros((total, facets.x.shape[1])),
            np.zeros(total),
        )
        self._place = np.full(len(facets.x), -1, dtype=np.int64)
        self._rule = facets.shape.rule
        self._compile()
        self._set_pairs(np.zeros((0, 2), dtype=np.int64))

    def _compile(self) -> None:
        self._describe = kernels.jit(_segments.describe, *_segments.CALLED)
        self._integrate = kernels.jit(_segments.integrate, *_segments.CALLED)
        self._dual_basis = kernels.jit(
            _rows.dual_basis, _rows.invert, _rows.extrapolation, _rows.most_covered
        )
        self._weigh, self._longest = kernels.jit(_rows.weighted_gaps), kernels.jit(_rows.longest_rows)
        self._fill = kernels.jit(_rows.fill_rows, _rows.add_entry)

    def _incidence(self) -> tuple[IntArray, IntArray, IntArray]:
        """Slave facets at each point in CSR format, and the place of the point among their nodes."""
        at = np.searchsorted(self.nodes, self._facets.nodes[self.slave])
        known = np.isin(self._facets.nodes[self.slave], self.nodes)
        facet, place = np.nonzero(known)
        point = at[facet, place]
        order = np.argsort(point, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(point, minlength=self.nodes.size))])
        return start.astype(np.int64), facet[order].astype(np.int64), place[order].astype(np.int64)

    # -- search

    def search(self, x: FloatArray, margin: float) -> None:
        """Find the candidate pairs at the positions ``x`` of all nodes [m]."""
        self._set_pairs(candidate_pairs(self._facets, x, self.slave, self.master, REACH, margin))

    def _set_pairs(self, pairs: IntArray) -> None:
        facets, count, n = self._facets, len(pairs), self._facets.nodes.shape[1]
        self.pairs = pairs
        self._starts = np.searchsorted(pairs[:, 0], np.append(self.slave, np.iinfo(np.int64).max))
        gdim = facets.x.shape[1]
        self._normals, self._found = np.zeros((count, gdim)), np.zeros(count, dtype=bool)
        self._mass, self._cross = np.zeros((count, n, n)), np.zeros((count, n, n))
        self._gaps, self._lowest = np.zeros((count, n)), np.zeros(count)
        used = np.unique(pairs)
        across = [facets.sharp[facets.sharp_start[f] : facets.sharp_start[f + 1]] for f in used]
        #: Facets of the pairs, and those across sharp edges.
        self._used = np.unique(np.concatenate([used, *across])).astype(np.int64)
        diameter, height = facets.diameter, facets.height
        self._reach = REACH * diameter[pairs].max(axis=1) if count else np.zeros(0)
        self._depth = DEPTH * height[pairs].sum(axis=1) if count else np.zeros(0)

    def needed(self) -> IntArray:
        """Nodes whose positions the segments depend on, sorted."""
        nodes: IntArray = np.union1d(self._facets.nodes[self._used].ravel(), self.nodes)
        return nodes

    # -- gaps and rows

    def evaluate(self, x: FloatArray) -> None:
        """Compute ``gap`` and ``area`` at the positions ``x`` of the nodes, (nodes, gdim) [m]."""
        facets, shape = self._facets, self._facets.shape
        self._describe(x, facets.nodes, self._used, shape.corners, *self._now)
        self._integrate(
            x,
            facets.nodes,
            shape.corners,
            shape.points,
            shape.simplex,
            self._axisymmetric,
            *self._rule,
            self.pairs,
            self._reach,
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
        self._dual_basis(
            self._starts,
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
        )
        points = self._point_start, self._point_facets, self._point_places
        straight = shape.points.size == 2
        gaps = self._areas, self._weighted, self._bottom, self._beyond, straight
        self._weigh(*points, *gaps, self.gap, self.area)

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
        most = self._longest(chosen, *points[:2], self._starts, n) if chosen.size else 0
        ends, nodes = np.zeros(chosen.size, dtype=np.int64), np.zeros(most, dtype=np.int64)
        B, W = np.zeros((most, gdim)), np.zeros(most)
        used = 0
        if chosen.size:
            used = self._fill(
                chosen,
                *points,
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
