"""The segments of a contact of surfaces, as tests of paths ask for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._types import BoolArray, FloatArray, IntArray
from ....systems.elements.compiler import address
from ..tables import Tables
from ..tied_surfaces import GluedFacets


@dataclass(frozen=True)
class Segments:
    """The segments of the last evaluation of gaps.

    Attributes:
        tables: Where they stand.
        count: How many there are; those of pairs that sleep are none of them.
        glued: What ties of the same list glue.
    """

    tables: Tables
    count: int
    glued: GluedFacets

    @property
    def pairs(self) -> IntArray:
        """Slave and master facet of each, by their numbers among those held, shape (count, 2)."""
        pairs: IntArray = self.tables["segment"][: self.count]
        return pairs

    @property
    def _lowest(self) -> FloatArray:
        lowest: FloatArray = self.tables["lowest"][: self.count]
        return lowest

    def cover(self, pairs: IntArray) -> BoolArray:
        """Whether pairs of facets have a segment, be it one that sleeps, or are glued, shape (k,).

        Args:
            pairs: Numbers of held facets, in any order, shape (k, 2).
        """
        found = np.zeros(len(pairs), np.uint8)
        if len(pairs):
            pairs = np.ascontiguousarray(pairs, np.int64)
            given = address(pairs, "int64_t *"), address(found, "uint8_t *")
            self.tables.functions.faces(self.tables.pointer, len(pairs), *given)
        covered: BoolArray = found.astype(bool)
        return covered | self.glued.pairs(*pairs.T) if self.glued else covered

    def deepest(self, warps: FloatArray) -> tuple[float, float, int]:
        """Largest depth over the lesser height, largest part of the skin that is used, deepest facet.

        The depth is that of the surfaces themselves, at most 0 where these do not touch; the used skin is
        what the offset facets overlap and their triangles lie before them, over both offsets. -1 is the facet
        where there is no segment.

        Args:
            warps: Distances of the facets from their triangles, shape (facets,) [m].
        """
        if not self.count:
            return 0.0, 0.0, -1
        pairs, lowest = self.pairs, self._lowest
        heights, offset = self.tables["height"][pairs].min(axis=1), self.tables["skin"][pairs].sum(axis=1)
        depth = -(lowest + offset) / heights
        worst = int(np.argmax(depth))
        within = warps[pairs].sum(axis=1) - lowest
        used = np.divide(within, offset, out=np.zeros_like(offset), where=offset > 0.0)
        return float(depth[worst]), float(used.max()), int(pairs[worst, 0])

    def largest_depth(self) -> float:
        """Largest of :meth:`depths`, at least 0 [m]."""
        return max(0.0, -float(self._lowest.min(initial=0.0)))

    def depths(self, pairs: IntArray) -> FloatArray:
        """Depths at the lowest points of segments, shape (k,) [m]; of offset facets with a skin.

        Args:
            pairs: Numbers of held facets, in any order, shape (k, 2); those without a segment, or with one
                that sleeps, have minus infinity.
        """
        if not self.count:
            return np.full(len(pairs), -np.inf)
        facets = len(self.tables["height"])
        known, asked = (
            first.astype(np.int64) * facets + second
            for first, second in (np.sort(each, axis=1).T for each in (self.pairs, pairs))
        )
        order = np.argsort(known, kind="stable")
        known, depth = known[order], -self._lowest[order]
        place = np.minimum(np.searchsorted(known, asked), self.count - 1)
        return np.where(known[place] == asked, depth[place], -np.inf)

    def closed_depths(self) -> tuple[IntArray, FloatArray]:
        """Pairs of held facets with a closed segment, (k, 2), and how deep each is, at least 0, (k,) [m]."""
        lowest = self._lowest
        closed = lowest <= self.tables.pointer.tolerance
        return self.pairs[closed].astype(np.int64), np.maximum(-lowest[closed], 0.0)

    def closed(self) -> IntArray:
        """Pairs of held facets with a closed segment, shape (k, 2)."""
        closed: IntArray = self.pairs[self._lowest <= self.tables.pointer.tolerance]
        return closed
