"""Which pairs of facets leave their features to weighted contact in a step."""

from __future__ import annotations

import numpy as np

from ...._types import AnyArray, BoolArray, FloatArray, IntArray
from ..assembly import Assembly

#: Depth over the lesser cell height down to which a segment covers its features.
_DEEPEST = 0.1
#: The same over the offset of each facet, where there is a skin: the surfaces themselves do not touch.
_OF_SKIN = 1.0


class Cover:
    """Facets with a segment whose features need no test: weighted contact holds them.

    It holds them in the mean: a tip may sink into a coarse facet, and a fast part may be through a thin plate
    before any weighted gap is closed. So a segment covers features only as long as it is not, and on the path
    of the step may not become, deeper than a tenth of the lesser cell height, or half of the skin.
    An open one does not cover further edges at the vertices of its facets: see ``features``.

    Args:
        assembly: Gaps and segments.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly, facets = assembly, assembly.facets
        self._limit = _DEEPEST * facets.height
        if assembly.skin is not None:
            within = _OF_SKIN * assembly.skin
            self._limit = np.where(within > 0.0, np.minimum(self._limit, within), self._limit)
        self._least = float(self._limit[facets.surface >= 0].min(initial=np.inf))
        self._x: FloatArray = facets.x
        self._normals: FloatArray = np.zeros((0, facets.x.shape[1]))
        self._path: FloatArray | None = None
        self._deepest, self._doubtful = 0.0, False

    def begin(self, x: FloatArray) -> None:
        """Begin a step at positions x, shape (nodes, gdim) [m]."""
        self._x, self._normals, self._path = x, self._normals[:0], None
        self._deepest = self._assembly.segments.largest_depth()
        self._doubtful = self._deepest > self._least

    def follow(self, path: FloatArray) -> bool:
        """Take the path of the step, shape (nodes, gdim) [m].

        Returns:
            Whether covers that were asked for before may be others.
        """
        own = path - path.mean(axis=0)
        before, reach = self._doubtful, 2.0 * float(np.sqrt(np.einsum("ki,ki->k", own, own).max(initial=0.0)))
        self._path, self._doubtful = path, not self._deepest + reach <= self._least
        return before or self._doubtful

    def __call__(self, pairs: IntArray) -> AnyArray:
        """Whether pairs of facets, shape (k, 2), are covered: 0, 1 closed, 2 open, shape (k,)."""
        found = self._assembly.segments.cover(pairs).astype(np.uint8)
        which = np.flatnonzero(found)
        if which.size:
            depth = self._assembly.segments.depths(pairs[which])
            found[which[depth < -self._assembly.tolerance]] = 2
            if self._doubtful:
                found[which[~self._shallow(pairs[which], np.maximum(depth, 0.0))]] = 0
        return found

    def _shallow(self, pairs: IntArray, depth: FloatArray) -> BoolArray:
        """Whether segments stay above the limit whatever part of both facets they are."""
        facets, (first, second) = self._assembly.facets, pairs.T
        if self._path is not None:
            if not len(self._normals):
                self._normals, _ = facets.normals(self._x)
            n = self._normals[second] - self._normals[first]
            n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), np.finfo(float).tiny)
            ways = [np.einsum("kni,ki->kn", self._path[facets.nodes[each]], n) for each in (first, second)]
            depth = depth + np.maximum(ways[1].max(axis=1) - ways[0].min(axis=1), 0.0)
        shallow: BoolArray = depth <= np.minimum(self._limit[first], self._limit[second])
        return shallow
