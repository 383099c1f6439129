"""Some of all facets, with what points need to know of them, and their rows on the way to other ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ..._types import BoolArray, FloatArray, Int64Array, IntArray
from .facet_shape import FacetShape
from .facets import AllFacets, Facets
from .search import starts
from .sides import sides_at_nodes, walls

#: Numbers of a facet, a node and a side in their rows, before the lists of nodes and sides, and vectors.
_OF_FACET, _OF_NODE, _OF_SIDE = 6, 6, 2
#: Columns of the rank that owns a node, and of its surface.
RANK, SURFACE = 2, 4


class FacetRows(NamedTuple):
    """Facets as rows of numbers, which are sent from rank to rank; a row may occur more than once.

    Attributes:
        facets: Number, surface, flatness, diameter, height, wall, nodes and sides of each.
        nodes: Number, number in the function space, rank, number there, surface, whether it is a corner, and
            coordinates of each.
        sides: Number, node and normal of each side.
        sharp: Facets and their neighbours across sharp edges.
    """

    facets: FloatArray
    nodes: FloatArray
    sides: FloatArray
    sharp: FloatArray

    @classmethod
    def joined(cls, rows: Sequence[FacetRows]) -> FacetRows:
        """All of them."""
        return cls(*(np.concatenate(parts) for parts in zip(*rows)))


@dataclass(frozen=True)
class HeldFacets(Facets):
    """Facets with the smooth sides at their nodes, and the walls of rooms.

    Attributes:
        sharp_pairs: Numbers among all of facets and their neighbours across sharp edges that are convex, be
            these held or not, sorted, shape (pairs, 2).
        side: Side of each node of the facets of slaves, -1 on others, shape (facets, n).
        side_number: Number of each side among all, ascending: by nodes, then by normals, shape (sides,).
        side_node, side_normal: Node of each side, and its normal at zero displacement.
        wall: Number of each facet of a master among the walls of a room, shape (facets,).
        walls: Number of walls of each surface, shape (surfaces,).
        corner: Mask of the nodes at corners, shape (nodes,).
    """

    sharp_pairs: IntArray
    side: IntArray
    side_number: IntArray
    side_node: IntArray
    side_normal: FloatArray
    wall: IntArray
    walls: IntArray
    corner: BoolArray

    def taken(self, chosen: IntArray) -> HeldFacets:
        """Some of the facets, by their places here."""
        return from_rows(self.rows(chosen), self.shape, self.walls)

    def rows(self, chosen: IntArray) -> FacetRows:
        """Rows of some of the facets, by their places here."""
        nodes, side = np.unique(self.nodes[chosen]), np.unique(self.side[chosen])
        side = side[side >= 0]
        of_pairs, number = self.sharp_pairs[:, 0], self.number[chosen]
        first = np.searchsorted(of_pairs, number)
        lengths = np.searchsorted(of_pairs, number, side="right") - first
        pairs = np.arange(lengths.sum()) + np.repeat(first - starts(lengths)[:-1], lengths)
        of_facet = (getattr(self, name)[chosen] for name in _FACET)
        of_node = (getattr(self, name)[nodes] for name in _NODE)
        of_side = np.append(self.side_number, -1)[self.side[chosen]]
        return FacetRows(
            np.column_stack([*of_facet, self.node_number[self.nodes[chosen]], of_side]).astype(np.float64),
            np.column_stack([*of_node, self.x[nodes]]),
            np.column_stack(
                [self.side_number[side], self.node_number[self.side_node[side]], self.side_normal[side]]
            ),
            self.sharp_pairs[pairs].astype(np.float64),
        )


_FACET = "number", "surface", "flatness", "diameter", "height", "wall"
_NODE = "node_number", "global_nodes", "rank", "local", "part", "corner"


def from_rows(rows: FacetRows, shape: FacetShape, of_surfaces: IntArray) -> HeldFacets:
    """Facets from their rows, in the order of all facets.

    Args:
        rows: The facets.
        shape: Shape functions.
        of_surfaces: Number of walls of each surface.
    """
    facets, nodes, sides = (_distinct(each) for each in rows[:3])
    n = shape.nodes.shape[2]
    number, node_number, side_number = (_whole(each[:, 0]) for each in (facets, nodes, sides))
    global_nodes, rank, local, part = _whole(nodes[:, 1:5].T)
    of_node, of_side = (_whole(part) for part in np.split(facets[:, _OF_FACET:], [n], axis=1))
    pairs = np.unique(_whole(rows.sharp), axis=0)
    sharp_start, sharp = _held_neighbours(number, pairs)
    return HeldFacets(
        shape=shape,
        number=number,
        nodes=np.searchsorted(node_number, of_node),
        surface=_whole(facets[:, 1]),
        flatness=facets[:, 2].copy(),
        sharp_start=sharp_start,
        sharp=sharp,
        diameter=facets[:, 3].copy(),
        height=facets[:, 4].copy(),
        node_number=node_number,
        global_nodes=global_nodes,
        rank=rank,
        local=local,
        part=part,
        x=nodes[:, _OF_NODE:].copy(),
        sharp_pairs=pairs,
        side=np.where(of_side >= 0, np.searchsorted(side_number, of_side), -1),
        side_number=side_number,
        side_node=np.searchsorted(node_number, _whole(sides[:, 1])),
        side_normal=sides[:, _OF_SIDE:].copy(),
        wall=_whole(facets[:, 5]),
        walls=of_surfaces,
        corner=nodes[:, 5] > 0.0,
    )


def _distinct(rows: FloatArray) -> FloatArray:
    """Each row once, sorted by their numbers."""
    _, first = np.unique(rows[:, 0], return_index=True)
    found: FloatArray = rows[first]
    return found


def _whole(values: FloatArray) -> Int64Array:
    return np.ascontiguousarray(values, dtype=np.int64)


def _held_neighbours(number: IntArray, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Those of the neighbours across sharp edges that are held, in CSR format."""
    first, second = pairs[np.isin(pairs, number).all(axis=1)].T
    lengths = np.bincount(np.searchsorted(number, first), minlength=number.size)
    return starts(lengths), np.searchsorted(number, second)


def with_sides(
    facets: AllFacets, pairs: Sequence[tuple[int, int]], *, divided: bool, angle: float | None
) -> HeldFacets:
    """All facets, with what points need to know of them.

    Args:
        facets: All facets.
        pairs: Numbers of the slave and the master surface of each pair.
        divided: Whether sharp edges divide the facets at a node.
        angle: Nodes at edges that are sharper than this angle are corners [rad]; None for no corners.
    """
    length, count = float(np.ptp(facets.x, axis=0).max()), 1 + max(max(pair) for pair in pairs)
    wall, of_surfaces = np.zeros(len(facets.nodes), np.int64), np.ones(count, np.int64)
    side, nodes, normals, sides = np.full(facets.nodes.shape, -1), [], [], 0
    for k in sorted({master for _, master in pairs} if divided else ()):
        chosen = facets.of(k)
        wall[chosen] = walls(facets, k, length)
        of_surfaces[k] = 1 + wall[chosen].max(initial=0)
    for k in sorted({slave for slave, _ in pairs}):
        chosen = facets.of(k)
        here, node, normal = sides_at_nodes(facets, k, facets.smooth if divided else None)
        side[chosen], sides = here + sides, sides + node.size
        nodes.append(node)
        normals.append(normal)
    corner = np.zeros(len(facets.x), dtype=bool)
    for k in range(count if angle is not None else 0):
        assert angle is not None
        corner[facets.corner_nodes(k, angle)] = True
    return HeldFacets(
        **{field.name: getattr(facets, field.name) for field in fields(Facets)},
        sharp_pairs=_sharp_pairs(facets),
        side=side,
        side_number=np.arange(sides),
        side_node=np.concatenate(nodes),
        side_normal=np.concatenate(normals),
        wall=wall,
        walls=of_surfaces,
        corner=corner,
    )


def _sharp_pairs(facets: Facets) -> IntArray:
    first = np.repeat(np.arange(len(facets.nodes)), np.diff(facets.sharp_start))
    return np.column_stack([first, facets.sharp])
