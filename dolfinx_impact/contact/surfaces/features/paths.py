"""Vertices, edges and triangles of surfaces that meet on straight paths within a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...._types import AnyArray, BoolArray, FloatArray, IntArray
from ..facets import Facets
from .feature_mesh import FeatureMesh, largest
from .table import FeatureTable

#: Room of a node until the next search, over the median diameter of facets.
_ROOM = 0.25
#: Bound of ``CLEAR`` of collide.c over the diameter of facets, also where these are stretched.
_CLEAR = 2e-4
#: Motions are taken longer by this, see ``SLACK`` of pairs.c.
_SLACK = 1.03
#: What is inside and goes deeper by at most this part of a facet rests.
_AT_REST = 1e-12
_VERTEX, _EDGES, _INSIDE = 0, 1, 2
_EVERY = 0b11111  # marks of all vertices of both features
_TWO, _FOUR = np.empty(2, np.int32), np.empty(4, np.int32)

#: Whether unordered pairs of facets, shape (k, 2), have a segment.
Covers = Callable[[IntArray], AnyArray]
#: Whether facets are glued to each other, shape (k,).
Glued = Callable[[IntArray, IntArray], BoolArray]


class Hits(NamedTuple):
    """Features that meet on their paths, with the rows that keep them apart; sorted by tau, kind and nodes.

    Attributes:
        tau: Part of the step at which they meet, shape (m,).
        kind: 0 vertex and triangle (in two dimensions segment), 1 edges, 2 edge that lost its cover inside a
            triangle, shape (m,).
        nodes: Nodes of the first and then of the second feature, -1 for none, shape (m, 4).
        weights: Their weights, shape (m, 4): ``sum(weights x)`` is the position of the first feature relative
            to the second one.
        normal: Unit direction of the separation, shape (m, gdim).
        least: Least ``normal . sum(weights d)`` that the displacements d of the step must have, shape (m,)
            [m].
    """

    tau: FloatArray
    kind: IntArray
    nodes: IntArray
    weights: FloatArray
    normal: FloatArray
    least: FloatArray


class FeaturePaths:
    """The paths of all vertices, edges and triangles of surfaces within a step.

    Pairs of features without a common node are tested by conservative advancement: up to the time that is
    returned a plane lies between them, so that no crossing is missed. Pairs of facets sleep while their
    distance at the last search is more than what both moved since. Not collective: all ranks have all facets.

    Source: Li, Kaufman, Jiang, ACM Trans. Graph. 40 (2021) 170, doi:10.1145/3450626.3459767; their bound of
    the approach, the sum of the largest displacements, is replaced by that along the separation.

    Args:
        facets: All facets; those with a surface have features, of higher degree those of their linear parts.
        skin: Distance that each facet keeps, shape (facets,) [m]; features of several have the largest.
        itself: Whether facets of one surface meet each other.
        glued: Tells of facets, two arrays of shape (k,), which are glued to each other: their features are
            no pairs.

    Attributes:
        tested: Pairs of features whose paths were tested by the last :meth:`hits`.
        inside: Pairs of edges and triangles that overlapped without cover at the last :meth:`begin`, or
            covered too if it was told so.
    """

    def __init__(self, facets: Facets, skin: FloatArray, *, itself: bool, glued: Glued | None = None) -> None:
        self._glued = glued
        self._mesh, self._gdim, self._least = FeatureMesh.of(facets), facets.x.shape[1], -np.inf
        number, table = self._mesh.number, FeatureTable()
        self._number, self._table = number, table
        self._place_of = np.full(len(facets.nodes), -1, np.int32)
        self._place_of[number] = np.arange(number.size)
        self._size = float(np.median(facets.diameter[number])) if number.size else 0.0
        table.numbers.itself = itself
        self._mesh.fill(table)
        table.set(surface=facets.surface[number].astype(np.int64), crease=self._mesh.creases(facets.x))
        self._clear = _CLEAR * float(facets.diameter[number].max(initial=0.0))
        self._set_skins(np.asarray(skin, np.float64)[number])
        self._set_motion(len(facets.x), number.size)
        self._set_pairs(np.zeros((0, 2), np.int32), np.zeros(0))
        self._set_deep(None)
        self._forget()
        self.tested = self.inside = 0
        self._deeper = self._without()

    def _set_skins(self, skin: FloatArray) -> None:
        mesh = self._mesh
        vertex = largest(skin, mesh.at_vertex_start, mesh.at_vertex)
        reach = vertex[mesh.nodes].max(axis=1, initial=0.0) + self._clear
        edge = largest(skin, mesh.at_edge_start, mesh.at_edge)
        self._table.set(vertex_skin=vertex, edge_skin=edge, facet_skin=skin, reach=reach)

    def _set_motion(self, nodes: int, facets: int) -> None:
        self._table.set(**{name: np.zeros((nodes, 3)) for name in ("then", "x", "d")})
        self._table.set(low=np.full((nodes, 3), np.inf), high=np.full((nodes, 3), -np.inf))
        self._table.set(moved=np.ones(nodes, np.uint8), stirred=np.ones(facets, np.uint8))
        self._table.set(now=np.zeros((facets, 4)), later=np.zeros((facets, 4)))

    def begin(
        self, x: FloatArray, covers: Covers, deep: IntArray | None = None, *, apart: bool = False
    ) -> None:
        """Start of a step.

        Args:
            x: Positions of all nodes, shape (nodes, gdim) [m]. A facet with one that is no number is none.
            covers: Tells of pairs of facets whether they have a segment, which then is their contact; asked
                here and by :meth:`hits`, there of other pairs on each rank. 2 instead of True for one that
                is open: it covers the features of both facets, not what is around them.
            deep: Pairs of facets around which nothing is covered, shape (k, 2).
            apart: Whether nothing may be inside a surface, be it covered: it has a skin.
        """
        self._covers = covers
        self._set_deep(deep)
        self._place(x)
        self._table.call("describe", 0)
        self._search_when_due()
        self._forget()
        near = self._awake(0, (0, 1))
        inside = self._pierced(near) if apart else None
        self._learn(near)
        self._find_inside(self._uncovered_of(self._pierced(near)) if inside is None else inside)

    def far(self, x: FloatArray, d: FloatArray) -> bool:
        """Whether the last search tells that nothing meets on the paths from x to x + d, as at a distance.

        Args:
            x: Positions at the start of the step, shape (nodes, gdim) [m].
            d: Displacements of the step, shape (nodes, gdim) [m].
        """
        table = self._table
        table["x"][:, : self._gdim], table["d"][:, : self._gdim] = x, d
        self.tested = self.inside = 0
        if not _SLACK * 2.0 * table.call("largest_motion") < self._least:
            return False
        return not table.call("leaves_room")

    def hits(self, d: FloatArray, share: tuple[int, int] = (0, 1), moved: BoolArray | None = None) -> Hits:
        """Features that meet on the paths from the positions of :meth:`begin`.

        Args:
            d: Displacements of the step, shape (nodes, gdim) [m].
            share: Rank and number of ranks: only this part of the pairs; all parts together are all.
            moved: Mask of the nodes, shape (nodes,): only pairs with such a node.
        """
        table = self._table
        table["d"][:, : self._gdim] = d
        table["moved"][:] = True if moved is None else moved
        self._search_when_due()
        table.call("describe", 1)
        awake = self._awake(1, share)
        self._learn(awake)
        return _sorted([self._on_paths(awake), self._sinking(share)])

    def intersections(self, x: FloatArray) -> IntArray:
        """Pairs of facets that intersect, an edge of one through the other, shape (pairs, 2).

        A step has to begin anew after it. Facets that touch do not intersect.
        """
        self._place(x)
        self._search(0.0)
        edge, triangle = self._pierced(np.arange(len(self._pairs), dtype=np.int32)).T
        first = self._mesh.at_edge[self._mesh.at_edge_start[edge]]
        pairs = np.sort(np.column_stack([first, triangle // self._table.numbers.parts]), axis=1)
        self.search_anew()
        found: IntArray = self._number[np.unique(pairs, axis=0)]
        return found

    def search_anew(self) -> None:
        """Search at the beginning of the next step, whatever has moved."""
        self._table["low"][:] = np.inf

    def _place(self, x: FloatArray) -> None:
        self._table["x"][:, : self._gdim] = x
        self._table["d"][:] = 0.0
        self._table["moved"][:] = True

    # -- pairs of facets

    def _search_when_due(self) -> None:
        """Search where a node leaves its room."""
        if self._table.call("leaves_room"):
            self._search(_ROOM * self._size)

    def _search(self, room: float) -> None:
        """Find the pairs of facets whose nodes may meet within their rooms around their paths."""
        table, x, d = self._table, self._table["x"], self._table["d"]
        known = np.isfinite(x + d).all(axis=1)
        end = x + d - d[known].mean(axis=0) if known.any() else x
        table.call("describe", 0)
        table["low"][:] = np.minimum(x, end) - room
        table["high"][:] = np.maximum(x, end) + room
        pairs, above = table.listed("search", 2 * len(self._pairs) + 64, (), _TWO, np.empty(()))
        if self._glued is not None and (glued := self._glued(*self._number[pairs].T)).any():
            pairs, above = pairs[~glued], above[~glued]
        self._set_pairs(pairs, above)
        table["then"][:] = x
        table.call("describe", 0)

    def _set_pairs(self, pairs: AnyArray, above: FloatArray) -> None:
        self._pairs, self._table.numbers.pairs = pairs, len(pairs)
        self._table.set(pair=pairs, above=above, exact=np.zeros(len(pairs), np.uint8))
        self._list = np.empty(len(pairs), np.int32)
        self._least = -np.inf  # of the distances, until they are looked at

    def _awake(self, later: int, share: tuple[int, int]) -> IntArray:
        count = self._table.call("awake", later, *share, self._list)
        self._least = float(self._table["above"].min(initial=np.inf))
        return self._list[:count].copy()

    # -- cover

    def _forget(self) -> None:
        """No pair of facets is known to have a segment or none, and nothing to be inside."""
        self._table.numbers.inside = 0
        self._table.set(inside_key=np.zeros(0, np.int64))
        self._know_nothing()

    def forget_cover(self, deep: IntArray) -> None:
        """Ask anew which pairs of facets have a segment: an answer may depend on the path.

        Args:
            deep: Pairs of facets around which nothing is covered, shape (k, 2).
        """
        self._set_deep(deep)
        self._know_nothing()

    def _set_deep(self, deep: IntArray | None) -> None:
        """Give the table pairs of facets by their numbers among those with features."""
        place = self._place_of[np.zeros((0, 2), np.int64) if deep is None else deep]
        place = place[(place >= 0).all(axis=1)]
        self._table.numbers.deep = len(place)
        self._table.set(deep_pair=place)

    def _know_nothing(self) -> None:
        self._set_known(np.zeros(0, np.int64), np.zeros(0, np.uint8))

    def _learn(self, listed: IntArray) -> None:
        self._learn_of(self._pairs[listed])

    def _learn_of(self, pairs: IntArray) -> None:
        """Ask of those pairs of facets that are not known whether they have a segment."""
        table, keys = self._table, pairs[:, 0].astype(np.int64) * self._number.size + pairs[:, 1]
        known = table["key"]
        if known.size:
            place = np.minimum(np.searchsorted(known, keys), known.size - 1)
            keys = keys[known[place] != keys]
        if not keys.size:
            return
        new = np.unique(keys)
        pairs = np.column_stack(np.divmod(new, self._number.size))
        covered = np.asarray(self._covers(self._number[pairs]), np.uint8)
        if not known.size:
            self._set_known(new, covered)
            return
        keys, covered = np.concatenate([known, new]), np.concatenate([table["covered"], covered])
        order = np.argsort(keys)
        self._set_known(keys[order], covered[order])

    def _set_known(self, keys: IntArray, covered: AnyArray) -> None:
        """Pairs of facets of which it is known whether they have a segment, sorted."""
        entries = self._mesh.nodes.shape[1] ** 2 * (int(np.count_nonzero(covered)) + self._table.numbers.deep)
        slots = 1 << (2 * entries + 1).bit_length()
        self._table.numbers.known, self._table.numbers.slots = keys.size, slots - 1
        self._table.set(key=keys, covered=covered, slot=np.full(slots, -1))
        self._table.call("enter_cover")

    def _uncovered(self, features: IntArray) -> BoolArray:
        """Whether no segment covers pairs of features: kind, numbers, marks of what is closest."""
        features = np.ascontiguousarray(features)
        self._learn_of(self._unknown(features))
        return self._known_uncovered(features)

    def _known_uncovered(self, features: IntArray) -> BoolArray:
        """The same, by what is known alone."""
        chosen = np.ones(len(features), np.uint8)
        self._table.call("select_uncovered", len(features), features, chosen)
        return chosen.view(np.bool_)

    def _unknown(self, features: IntArray) -> IntArray:
        """Pairs of facets on which the cover of features depends and that are not known."""
        (pairs,) = self._table.listed("unknown", 64 * len(features), (len(features), features), _TWO)
        return pairs

    # -- rows

    def _on_paths(self, awake: IntArray) -> Hits:
        columns = _FOUR, np.empty(()), np.empty(4), np.empty(3), np.empty(())
        found = self._table.listed("paths", 256, (awake.size, awake), *columns)
        # What turns out to be covered may meet within the rest of its skin.
        while len(pairs := self._unknown(found[0])):
            self._learn_of(pairs)
            found = self._table.listed("paths", 256, (awake.size, awake), *columns)
        self.tested = self._table.numbers.tested
        chosen = self._known_uncovered(found[0])
        features, tau, weights, normal, least = (each[chosen] for each in found)
        kind, nodes = features[:, 0], self._nodes_of(features)
        nodes[weights == 0.0] = -1
        return Hits(tau, kind.astype(np.int64), nodes, weights, normal[:, : self._gdim], least)

    def _nodes_of(self, features: IntArray) -> IntArray:
        kind, first, second, _ = features.T
        nodes, mesh, edges = np.full((kind.size, 4), -1, np.int64), self._mesh, kind == _EDGES
        nodes[~edges, 0], nodes[~edges, 1:] = first[~edges], mesh.triangles[second[~edges]]
        nodes[edges] = np.hstack([mesh.edges[first[edges]], mesh.edges[second[edges]]])
        return nodes

    def _pierced(self, listed: IntArray) -> IntArray:
        """Edges and the triangles that they pierce, shape (pairs, 2)."""
        found: IntArray = self._table.listed("pierced", 64, (listed.size, listed), _TWO)[0]
        return found

    def _uncovered_of(self, found: IntArray) -> IntArray:
        """Those edges and triangles, shape (k, 2), that no segment covers."""
        kinds = np.full((len(found), 1), _INSIDE, np.int32)
        chosen = self._uncovered(np.hstack([kinds, found, np.full_like(kinds, _EVERY)]))
        return np.ascontiguousarray(found[chosen])

    def _find_inside(self, found: IntArray) -> None:
        """Take edges and the triangles that they pierce for what is inside, shape (k, 2)."""
        table = self._table
        self.inside = len(found)
        keys = self._mesh.keys_of_pierced(found)
        table.set(inside_key=keys)
        table.numbers.inside = keys.size
        nodes, weights, normal = (
            np.empty((len(found), 4), np.int32),
            np.empty((len(found), 4)),
            np.empty((len(found), 3)),
        )
        table.call("separations", len(found), found, nodes, weights, normal)
        _, first = np.unique(nodes, axis=0, return_index=True)
        nodes[weights == 0.0] = -1
        zeros, kind = np.zeros(len(found)), np.full(len(found), _INSIDE)
        every = Hits(zeros, kind, nodes.astype(np.int64), weights, normal[:, : self._gdim], zeros)
        self._deeper = _chosen(every, first)

    def _sinking(self, share: tuple[int, int]) -> Hits:
        """Those that are inside and go deeper."""
        mine = _chosen(self._deeper, np.arange(share[0], self._deeper.tau.size, share[1]))
        d, moved = self._table["d"][:, : self._gdim], self._table["moved"].view(np.bool_)
        path = np.einsum("mk,mki,mi->m", mine.weights, d[mine.nodes], mine.normal)
        stirred = (moved[mine.nodes] & (mine.nodes >= 0)).any(axis=1)
        return _chosen(mine, np.flatnonzero(stirred & (path < -_AT_REST * self._size)))

    def _without(self) -> Hits:
        none = np.zeros(0)
        return Hits(
            none,
            none.astype(np.int64),
            np.zeros((0, 4), np.int64),
            np.zeros((0, 4)),
            np.zeros((0, self._gdim)),
            none,
        )


def _chosen(hits: Hits, places: IntArray) -> Hits:
    return Hits._make(each[places] for each in hits)


def _sorted(parts: list[Hits]) -> Hits:
    joined = Hits._make(np.concatenate(each) for each in zip(*parts))
    return _chosen(joined, np.lexsort((*joined.nodes.T[::-1], joined.kind, joined.tau)))
