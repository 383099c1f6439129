"""Points of the slave surfaces, and the parts of facets from which their gaps and rows come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray
from .held_facets import HeldFacets
from .search import Candidates, starts
from .tables import Tables

#: Extrapolation of a gap below the least one of the segments, over the diameter of the facets, above which
#: nothing is opposite to a node.
_BEYOND = 0.05


@dataclass(frozen=True)
class _Pair:
    """What a slave and a master surface add to the tables.

    Attributes:
        facets: Slave facets at the points and the next ring, shape (n,).
        nodes, normals: Nodes of the points and normals of their sides.
        point, part, place: The points of parts at them, and their places among the nodes of these, sorted.
    """

    facets: IntArray
    nodes: IntArray
    normals: FloatArray
    point: IntArray
    part: IntArray
    place: IntArray


class MortarPoints:
    """Points of all pairs of surfaces at the nodes of the slaves in a mask.

    A node has a point for each of its smooth sides (facets between sharp edges) and, where the master has
    sharp concave edges, for each wall that may be in front of a side. Each has the parts of slave facets that
    face its wall, in CSR format. Points that are pushed in similar directions share one row.

    Dual basis functions of the covered part of each slave facet, Cichosz and Bischoff, Comput. Methods Appl.
    Mech. Eng. 200 (2011), doi:10.1016/j.cma.2010.11.004; one normal for each pair of facets. A facet that
    a much smaller body covers in part has one row, of constant pressure.

    Args:
        facets: The facets that this rank holds, with all at the points.
        pairs: Numbers of the slave and the master surface of each pair.
        mine: Mask of the nodes whose points these are, shape (nodes,).

    Attributes:
        member: Number of the pair of each point, shape (p,).
        nodes: Nodes of the points, shape (p,).
        normals: Outward normals of their sides at zero displacement, shape (p, gdim).
        walls: Number of the wall that each point may face, 0 without a room, shape (p,).
        slave_facets: Facets of the slave of each pair that have points, and a ring around them: whether a
            node is covered there decides about the gaps of its neighbours.
        parts: Facet of each part, shape (parts,).
    """

    _tables: Tables

    def __init__(self, facets: HeldFacets, pairs: Sequence[tuple[int, int]], mine: BoolArray) -> None:
        self._facets = facets
        found = [_points_of(facets, *pair, mine) for pair in pairs]
        self.slave_facets = [each.facets for each in found]
        self._walls = np.array([facets.walls[master] for _, master in pairs])
        self._parts_of = np.array([each.facets.size for each in found]) * self._walls
        self._first_part = starts(self._parts_of)[:-1]
        self._place_in_slave = np.zeros(len(facets.nodes), np.int64)
        for each in found:
            self._place_in_slave[each.facets] = np.arange(each.facets.size)
        self.nodes = np.concatenate([each.nodes for each in found])
        self.normals = np.concatenate([each.normals for each in found])
        self.member = np.repeat(np.arange(len(found)), [each.nodes.size for each in found])
        self.walls = np.concatenate(
            [np.tile(np.arange(n), e.nodes.size // n) for n, e in zip(self._walls, found)]
        )
        self.parts = np.concatenate([np.repeat(each.facets, n) for n, each in zip(self._walls, found)])
        first = starts([each.nodes.size for each in found])
        self._point = np.concatenate([start + each.point for start, each in zip(first, found)])
        self._part = np.concatenate([start + each.part for start, each in zip(self._first_part, found)])
        self._place = np.concatenate([each.place for each in found])

    def use(self, tables: Tables, *, axisymmetric: bool) -> None:
        """Compute in tables from now on.

        Args:
            tables: Where gaps, areas and rows are computed.
            axisymmetric: Whether areas are those of the full revolution.
        """
        self._tables = tables
        self._set_parts(axisymmetric)
        self._set_points()

    def _set_parts(self, axisymmetric: bool) -> None:
        facets, n, facet = self._facets, self._facets.nodes.shape[1], self.parts
        _, size = facets.normals(facets.x)
        if axisymmetric:
            size = size * 2.0 * np.pi * facets.x[facets.nodes][..., 0].mean(axis=1)
        member = np.repeat(np.arange(self._walls.size), self._parts_of)
        slots, slot = np.unique(member[:, None] * len(facets.x) + facets.nodes[facet], return_inverse=True)
        of_points = np.zeros(facet.size, dtype=bool)
        of_points[self._part] = True
        count = facet.size
        self._slots = slots
        self._tables.set(
            parts=count,
            part_facet=facet,
            slot=slot.reshape(facet.size, n),
            of_points=of_points,
            whole=size[facet],
            of_facet=np.argsort(facet, kind="stable"),
            of_facet_start=starts(np.bincount(facet, minlength=len(facets.nodes))),
            slots=slots.size,
            **{name: np.zeros(count, np.int32) for name in ("first", "last")},
            **{name: np.zeros(count, np.uint8) for name in ("placed", "state", "part_closed")},
            **{name: np.zeros(slots.size, np.uint8) for name in ("awake", "covered")},
            **{name: np.zeros((count, n)) for name in ("areas", "weighted")},
            T=np.zeros((count, n, n)),
            bottom=np.full(count, np.inf),
        )

    def _set_points(self) -> None:
        facets, count = self._facets, self.nodes.size
        beyond = np.zeros(count)
        np.maximum.at(beyond, self._point, _BEYOND * facets.diameter[self.parts[self._part]])
        slots = self.member * len(facets.x) + self.nodes
        _, begin, several = np.unique(slots, return_index=True, return_counts=True)
        self._tables.set(
            points=count,
            pressed=np.zeros(count, dtype=np.uint8),
            part_start=starts(np.bincount(self._point, minlength=count)),
            part=self._part,
            place=self._place,
            point_slot=np.searchsorted(self._slots, slots),
            beyond=beyond,
            groups=int(np.count_nonzero(several > 1)),
            group=np.column_stack([begin, begin + several])[several > 1],
            direction=np.zeros((count, facets.x.shape[1])),
            facing=np.zeros(count),
            leads=np.ones(count, np.uint8),
            following=np.full(count, -1, np.int32),
            area=np.zeros(count),
        )

    def set_candidates(self, found: Candidates, wakeful: BoolArray) -> None:
        """Set the candidate pairs of facets, after a search.

        Args:
            found: The pairs.
            wakeful: Mask of the facets whose pairs never sleep, shape (facets,).
        """
        tables, n, gdim = self._tables, self._facets.nodes.shape[1], self._facets.x.shape[1]
        slave, master = found.pairs.T
        place = self._place_in_slave[slave] * self._walls[found.member] + self._facets.wall[master]
        part = self._first_part[found.member] + place
        order = np.argsort(part, kind="stable") if self._walls.max(initial=1) > 1 else slice(None)
        pairs = found.pairs[order]
        count = np.bincount(part, minlength=self.parts.size)
        used = np.flatnonzero(count)
        at_used = np.flatnonzero(np.bincount(self._point, count[self._part], self.nodes.size))
        for name in ("first", "last", "state", "placed", "areas", "weighted", "area"):
            tables[name][...] = 0
        for name in ("bottom", "gap"):
            tables[name][...] = np.inf
        tables.set(
            start=starts(count),
            parts_used=used.size,
            part_used=used,
            points_used=at_used.size,
            point_used=at_used,
            pair=pairs,
            above=found.above[order],
            beside=found.beside[order],
            lever=found.lever[order],
            wakeful=wakeful[pairs[:, 0]] | wakeful[pairs[:, 1]],
        )
        masters = pairs[:, 1]
        tables.set(
            master_pair=np.argsort(masters, kind="stable"),
            master_start=starts(np.bincount(masters, minlength=len(self._facets.nodes))),
            pair_part=part[order],
        )
        most = len(pairs) + 1  # one for pairs that are looked at beside the others
        tables.set(spare=most - 1)
        if "mass" not in tables or len(tables["mass"]) < most:
            tables.set(
                segment=np.empty((most, 2), np.int32),
                common_normal=np.empty((most, gdim)),
                mass=np.empty((most, n, n)),
                cross=np.empty((most, n, n)),
                moment=np.empty((most, n)),
                lowest=np.empty(most),
            )

    # -- what is found at the last evaluation of all pairs

    def incidence(self, member: int, *, covered: bool = False) -> tuple[IntArray, IntArray, IntArray]:
        """Points of a pair, the slave facets at them, and their places among the nodes of these, (m,) each.

        Args:
            member: Number of the pair.
            covered: Whether facets without anything opposite are left out.
        """
        kept = self.member[self._point] == member
        if covered:
            kept &= np.isfinite(self._tables["bottom"][self._part])
        return self._point[kept], self.parts[self._part[kept]], self._place[kept]

    def has_segments(self) -> BoolArray:
        """Mask of the points at whose facets something is opposite, shape (p,)."""
        found = np.isfinite(self._tables["bottom"][self._part])
        return np.bincount(self._point, found, self.nodes.size) > 0

    def least_gaps(self) -> FloatArray:
        """Least gap of the segments in each point's row, shape (p,) [m]; infinite without one.

        The weighted gap of a curved or a small facet may be negative although nothing overlaps.
        """
        tables, least = self._tables, np.full(self.nodes.size, np.inf)
        used = tables["areas"][self._part, self._place] > 0.0
        np.minimum.at(least, self._point[used], tables["bottom"][self._part[used]])
        following = tables["following"]
        for i in np.flatnonzero((tables["leads"] > 0) & (following >= 0)):
            q = following[i]
            while q >= 0:
                least[i], q = min(least[i], least[q]), following[q]
        return least

    @property
    def small_parts(self) -> bool:
        """Whether the pressure on a part of a facet is linear between places of its own."""
        return bool(self._tables["placed"].any())


def _points_of(facets: HeldFacets, slave: int, master: int, mine: BoolArray) -> _Pair:
    """The points of a pair of surfaces at some nodes."""
    of_slave, most = facets.of(slave), int(facets.walls[master])
    first, last = np.searchsorted(facets.part[facets.side_node], [slave, slave + 1])
    node, side = facets.side_node[first:last], facets.side[of_slave] - first
    own = mine[node]
    number = np.cumsum(own) - 1
    around = np.zeros(len(facets.x), dtype=bool)
    around[facets.nodes[of_slave[own[side].any(axis=1)]]] = True
    chosen = around[facets.nodes[of_slave]].any(axis=1)
    side = side[chosen]
    facet, place = np.nonzero(own[side])
    of_wall = np.arange(most)
    point = (number[side[facet, place]][:, None] * most + of_wall).ravel()
    order = np.argsort(point, kind="stable")
    return _Pair(
        facets=of_slave[chosen],
        nodes=np.repeat(node[own], most),
        normals=np.repeat(facets.side_normal[first:last][own], most, axis=0),
        point=point[order],
        part=(facet[:, None] * most + of_wall).ravel()[order],
        place=np.repeat(place, most)[order],
    )
