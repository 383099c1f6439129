"""Detection of parts of facets that pass through a thin obstacle within one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import BoolArray, FloatArray
from ..active_sides import ActiveSides
from ..tunnelling import Tunnelled, TunnellingCheck
from .minimum import least
from .parts import diameters


class PartsTunnelling(TunnellingCheck):
    """See :class:`.TunnellingCheck`, with the least distance over a part in the place of that of a point.

    Positions are those of the corners of parts, shape (k, n, gdim) [m].
    """

    def error_at(self, x: FloatArray, t: float, sides: ActiveSides | None = None) -> Tunnelled | None:
        """See :meth:`.TunnellingCheck.error_at`."""
        if not self._thin or not t > self._t > -np.inf:
            return None
        for _, face in self._thin:
            before, now = self._x, x
            path = now - before
            if self._moving and hasattr(face, "rest"):
                path = (_each(face.rest, now, t) - _each(face.rest, before, self._t)).reshape(now.shape)
            paths = np.linalg.norm(path, axis=2).max(axis=1, initial=0.0)
            fast = np.flatnonzero(paths > 0.5 * face.thickness)
            if fast.size and not self._moving:
                fast = fast[_meets(face, before[fast], now[fast], self._tolerance)]
            if fast.size:
                held, largest = np.zeros(fast.size, dtype=bool), float(paths[fast].max())
                error = self._error(face, before[fast], now[fast], held, t, largest)
                if error is not None:
                    return error
        return None

    def _gaps(
        self, face: Any, before: FloatArray, now: FloatArray, t: float, samples: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """See :meth:`.TunnellingCheck._gaps`."""
        first: FloatArray = np.full(len(before), np.inf)
        last, lowest = first, first
        for number in range(samples + 1):
            part = number / samples
            time = (self._t + part * (t - self._t),) if self._moving else ()
            x = before + part * (now - before)
            at_nodes = _each(face.gap, x, *time).reshape(x.shape[:2])
            last = least(lambda y: np.asarray(face.gap(y, *time)), x, at_nodes, diameters(x)).distance  # noqa: B023
            first, lowest = last if number == 0 else first, np.minimum(lowest, last)
        return first, lowest, last

    def _told(self, does: str, before: FloatArray, length: float, thickness: float) -> Tunnelled:
        return super()._told(does, before.mean(axis=0), length, thickness)


def _each(function: Any, x: FloatArray, *time: float) -> FloatArray:
    """Values of a function of points at all corners."""
    values: FloatArray = np.asarray(function(x.reshape(-1, x.shape[2]), *time))
    return values


def _meets(face: Any, before: FloatArray, now: FloatArray, tolerance: float) -> BoolArray:
    """Mask of the parts whose bounding box on their paths meets that of a face at rest, shape (k,)."""
    if not hasattr(face, "bounds"):
        return np.ones(len(before), dtype=bool)
    (low, high), both = face.bounds(), np.concatenate([before, now], axis=1)
    meets: BoolArray = ((both.min(axis=1) <= high + tolerance) & (both.max(axis=1) >= low - tolerance)).all(
        axis=1
    )
    return meets
