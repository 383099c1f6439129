"""Which pairs of facets leave their features to weighted contact in a step."""

from __future__ import annotations

import numpy as np

from ...._types import AnyArray, BoolArray, FloatArray, IntArray
from ..assembly import Assembly

#: Depth over the lesser cell height down to which a segment covers its features.
_DEEPEST = 0.1
#: The same over both offsets together, where there is a skin: the surfaces themselves do not touch.
_OF_SKIN = 0.75


class Cover:
    """Facets with a segment whose features need no test: weighted contact holds them.

    It holds them in the mean: a tip may sink into a coarse facet, and a fast part may be through a thin plate
    before any weighted gap is closed. So a segment covers features only as long as it is not, and on the path
    of the step may not become, deeper than a tenth of the lesser cell height, or three quarters of the skins
    of both sides. Around a closed one that is deeper nothing is covered, whatever segments are beside it:
    rims that cross press each other at a corner of facets that are apart as a whole. An open one does not
    cover further edges at the vertices of its facets: see ``features``.

    Args:
        assembly: Gaps and segments.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly, facets = assembly, assembly.facets
        self._limit = _DEEPEST * facets.height
        self._skin = np.zeros(len(facets.nodes)) if assembly.skin is None else assembly.skin
        on = np.flatnonzero(facets.surface >= 0)
        bare, thick = on[self._skin[on] == 0.0], on[self._skin[on] > 0.0]
        self._every = not bare.size
        # The least of all pairs: one without a skin may face one that has it.
        least = _OF_SKIN * (2.0 if self._every else 1.0) * self._skin[thick].min(initial=np.inf)
        self._least = float(min(self._limit[bare].min(initial=np.inf), least))
        #: Distances of the facets from the triangles whose paths are tested; where there is no skin, nothing.
        self.warps: FloatArray = np.zeros(len(facets.nodes))
        self._x: FloatArray = facets.x
        self._normals: FloatArray = np.zeros((0, facets.x.shape[1]))
        self._path: FloatArray | None = None
        self._deepest, self._doubtful = 0.0, False

    def begin(self, x: FloatArray) -> None:
        """Begin a step at positions x, shape (nodes, gdim) [m]."""
        self._x, self._normals, self._path = x, self._normals[:0], None
        facets = self._assembly.facets
        if self._skin.any():
            self.warps = facets.shape.warps(x[facets.nodes])
        self._deepest = self._assembly.segments.largest_depth() + 2.0 * float(self.warps.max(initial=0.0))
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

    @property
    def apart(self) -> bool:
        """Whether surfaces, which all have a skin, are so near that they might have met all the same."""
        return self._doubtful and self._every

    def deep(self) -> IntArray:
        """Pairs of facets with a closed segment that is too deep for any cover around it, shape (k, 2)."""
        if not self._doubtful:
            return np.zeros((0, 2), np.int64)
        pairs, depth = self._assembly.segments.closed_depths()
        return pairs[~self._shallow(pairs, depth)]

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
        shallow: BoolArray = depth + self.warps[first] + self.warps[second] <= self._limits(first, second)
        return shallow

    def _limits(self, first: IntArray, second: IntArray) -> FloatArray:
        """Depths down to which segments cover, shape (k,) [m]."""
        within = _OF_SKIN * (self._skin[first] + self._skin[second])
        limits: FloatArray = np.where(
            within > 0.0, within, np.minimum(self._limit[first], self._limit[second])
        )
        return limits
