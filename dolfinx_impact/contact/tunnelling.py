"""Detection of tunnelling: points that pass through a thin obstacle within one step, unseen by the gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import BoolArray, FloatArray
from .active_sides import ActiveSides
from .obstacles.shapes import lengths

#: Positions at which a path is looked at for each thickness, and at most.
_SAMPLES, _MOST = 8, 100_000
#: Depth over the thickness at which a point that was held at the start of its path is inside: what leaves
#: over an edge goes through less.
_THROUGH = 0.25


class Tunnelled(RuntimeError):
    """A point passed through a thin obstacle within one step."""


class TunnellingCheck:
    """Checks the paths of points between the end of the last step and the present positions.

    Args:
        faces: The faces of an obstacle.
        moving: Whether they move.
        tolerance: A gap up to this counts as closed [m].

    Attributes:
        thickness: Smallest thickness among the faces [m]; inf where none is known.
    """

    def __init__(self, faces: Sequence[Any], moving: bool, tolerance: float) -> None:
        self._thin = [
            (j, face) for j, face in enumerate(faces) if math.isfinite(getattr(face, "thickness", math.inf))
        ]
        self.thickness = min((face.thickness for _, face in self._thin), default=math.inf)
        self._moving, self._tolerance = moving, tolerance
        self._x: FloatArray = np.zeros((0, 0))
        self._t = -math.inf

    def accept_step(self, x: FloatArray, t: float) -> None:
        """Store the positions at the end of a step, shape (p, gdim) [m], and its time [s]."""
        self._x, self._t = x, t

    def restart(self) -> None:
        """Discard the stored positions: the first step after this is not checked."""
        self._t = -math.inf

    def error_at(self, x: FloatArray, t: float, sides: ActiveSides | None = None) -> Tunnelled | None:
        """The error for points that tunnelled on their path to ``x`` at ``t``; None where none did.

        Args:
            x: Positions of the points, shape (p, gdim) [m].
            t: Time [s].
            sides: Their active sides; points on a floor pass over obstacles that are flush with it.
        """
        if not self._thin or not t > self._t > -math.inf:
            return None
        for j, face in self._thin:
            held: BoolArray = np.zeros(len(x), dtype=bool)
            before, now, held = (self._x, x, held) if sides is None else sides.path(j, x)
            path = now - before
            if self._moving and hasattr(face, "rest"):
                path = face.rest(now, t) - face.rest(before, self._t)
            paths = lengths(path)
            fast = np.flatnonzero(paths > 0.5 * face.thickness)
            if fast.size and not self._moving:
                fast = fast[_meets(face, before[fast], now[fast], self._tolerance)]
            if fast.size:
                largest = float(paths[fast].max())
                error = self._error(face, before[fast], now[fast], held[fast], t, largest)
                if error is not None:
                    return error
        return None

    def _error(
        self, face: Any, before: FloatArray, now: FloatArray, held: BoolArray, t: float, length: float
    ) -> Tunnelled | None:
        """The error where points have crossed the face, or have passed its middle; None where none has."""
        samples = math.ceil(_SAMPLES * length / face.thickness)
        if samples > _MOST:
            return self._told("may jump", before[0], length, face.thickness)
        first, least, last = self._gaps(face, before, now, t, samples)
        open_before = ~held & (first > self._tolerance)
        # Of a point that touches, or is held by a side, what leads out is no way through.
        through = least < np.minimum(first, 0.0) - _THROUGH * face.thickness
        inside = np.where(open_before, least < -self._tolerance, through)
        crossed = inside & (last > self._tolerance)
        if getattr(face, "sides", 1) == 1:  # a smooth face has no active side that tells where it was entered
            crossed |= inside & (last < -self._tolerance) & (least < last)
        if not crossed.any():
            return None
        return self._told("jumps", before[int(np.flatnonzero(crossed)[0])], length, face.thickness)

    def _gaps(
        self, face: Any, before: FloatArray, now: FloatArray, t: float, samples: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Gaps at the start of paths, least ones on them, and those at their end, shape (n,) each [m]."""
        first = last = least = np.full(len(before), np.inf)
        for number in range(samples + 1):
            part = number / samples
            time = (self._t + part * (t - self._t),) if self._moving else ()
            last = face.gap(before + part * (now - before), *time)
            first, least = last if number == 0 else first, np.minimum(least, last)
        return first, least, last

    def _told(self, does: str, before: FloatArray, length: float, thickness: float) -> Tunnelled:
        """The error for a point that was at ``before``."""
        place = ", ".join(f"{value:.6g}" for value in before)
        return Tunnelled(
            f"a point {does} over the obstacle in one step, from ({place}) m at t = {self._t:.6g} s: it goes "
            f"{length:.3g} m, the obstacle is {thickness:.3g} m thick; take a smaller time step"
        )


def _meets(face: Any, before: FloatArray, now: FloatArray, tolerance: float) -> BoolArray:
    """Mask of the paths whose bounding box meets that of a face at rest, shape (n,)."""
    if not hasattr(face, "bounds"):
        return np.ones(len(before), dtype=bool)
    low, high = face.bounds()
    below, above = np.minimum(before, now), np.maximum(before, now)
    meets: BoolArray = ((below <= high + tolerance) & (above >= low - tolerance)).all(axis=1)
    return meets
