"""Which pairs of facets leave their features to weighted contact in a step."""

from __future__ import annotations

import numpy as np

from ...._types import BoolArray, FloatArray, IntArray
from ..assembly import Assembly

#: Depth over the lesser cell height down to which a segment covers its features.
_DEEPEST = 0.25


class Cover:
    """Facets with a segment whose features need no test: weighted contact holds them.

    It holds them in the mean: a tip may sink into a coarse facet, and a fast part may be through a thin plate
    before any weighted gap is closed. So a segment covers features only as long as it is not, and on the path
    of the step may not become, deeper than a quarter of the lesser cell height.

    Args:
        assembly: Gaps and segments.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly, facets = assembly, assembly.facets
        heights = facets.height[facets.surface >= 0]
        self._least = _DEEPEST * float(heights.min(initial=np.inf))
        self._x: FloatArray = facets.x
        self._normals: FloatArray = np.zeros((0, facets.x.shape[1]))
        self._path: FloatArray | None = None
        self._deepest, self._doubtful = 0.0, False

    def begin(self, x: FloatArray) -> None:
        """Begin a step at positions x, shape (nodes, gdim) [m]."""
        self._x, self._normals, self._path = x, self._normals[:0], None
        self._deepest = self._assembly.largest_depth()
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

    def __call__(self, pairs: IntArray) -> BoolArray:
        """Whether pairs of facets, shape (k, 2), are covered, shape (k,)."""
        covered = self._assembly.covers(pairs)
        if self._doubtful and covered.any():
            covered[covered] = self._shallow(pairs[covered])
        return covered

    def _shallow(self, pairs: IntArray) -> BoolArray:
        """Whether segments stay above the limit whatever part of both facets they are."""
        facets, (first, second) = self._assembly.facets, pairs.T
        depth = self._assembly.depths(pairs)
        if self._path is not None:
            if not len(self._normals):
                self._normals, _ = facets.normals(self._x)
            n = self._normals[second] - self._normals[first]
            n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), np.finfo(float).tiny)
            ways = [np.einsum("kni,ki->kn", self._path[facets.nodes[each]], n) for each in (first, second)]
            depth += np.maximum(ways[1].max(axis=1) - ways[0].min(axis=1), 0.0)
        shallow: BoolArray = depth <= _DEEPEST * np.minimum(facets.height[first], facets.height[second])
        return shallow
