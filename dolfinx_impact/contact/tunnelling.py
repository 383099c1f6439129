"""Detection of tunnelling: points that pass through a thin obstacle within one step, unseen by the gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import FloatArray
from .active_sides import ActiveSides
from .obstacles.shapes import lengths

#: Largest number of positions at which a path is sampled.
_MAX_SAMPLES = 64


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
            before, now = (self._x, x) if sides is None else sides.path(j, x)
            path = now - before
            if self._moving and hasattr(face, "rest"):
                path = face.rest(now, t) - face.rest(before, self._t)
            paths = lengths(path)
            fast = np.flatnonzero(paths > 0.5 * face.thickness)
            if fast.size:
                error = self._error(face, before[fast], now[fast], t, float(paths[fast].max()))
                if error is not None:
                    return error
        return None

    def _error(
        self, face: Any, before: FloatArray, now: FloatArray, t: float, length: float
    ) -> Tunnelled | None:
        """The error where points have crossed the face, or have passed its middle; None where none has."""
        samples = min(_MAX_SAMPLES, math.ceil(8 * length / face.thickness))
        gaps = []
        for part in np.linspace(0.0, 1.0, samples + 1):
            time = (self._t + part * (t - self._t),) if self._moving else ()
            gaps.append(face.gap(before + part * (now - before), *time))
        open_before = gaps[0] > self._tolerance
        crossed = open_before & (gaps[-1] > self._tolerance) & (np.min(gaps, axis=0) < -self._tolerance)
        if getattr(face, "sides", 1) == 1:  # a smooth face has no active side that tells where it was entered
            crossed |= open_before & (gaps[-1] < -self._tolerance) & (np.argmin(gaps, axis=0) < samples)
        if not crossed.any():
            return None
        place = ", ".join(f"{value:.6g}" for value in before[int(np.flatnonzero(crossed)[0])])
        return Tunnelled(
            f"a point jumps over the obstacle in one step, from ({place}) m at t = {self._t:.6g} s: it goes "
            f"{length:.3g} m, the obstacle is {face.thickness:.3g} m thick; take a smaller time step"
        )
