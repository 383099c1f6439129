"""Points that go through a thin obstacle within one step, and leave no trace in the gap."""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from .held_sides import HeldSides

#: Positions on the way of a point that moves far in a step, at most.
_STOPS = 64


class Jumped(RuntimeError):
    """A point went through a thin obstacle within one step."""


class Jumps:
    """Compares the positions of points with those of the step before.

    Args:
        faces: The faces of an obstacle.
        moving: Whether they move.
        tolerance: A gap up to this counts as closed [m].

    Attributes:
        thickness: Smallest diameter of the faces that could be jumped over [m]; inf where none is known.
    """

    def __init__(self, faces: Sequence[Any], moving: bool, tolerance: float) -> None:
        self._thin = [(j, face) for j, face in enumerate(faces)
                      if math.isfinite(getattr(face, "thickness", math.inf))]  # fmt: skip
        self.thickness = min((face.thickness for _, face in self._thin), default=math.inf)
        self._moving, self._tolerance = moving, tolerance
        self._x: NDArray = np.zeros((0, 0))
        self._t = -math.inf

    def keep(self, x: NDArray, t: float) -> None:
        """The positions at the end of a step, shape (p, gdim) [m], and their time [s]."""
        self._x, self._t = x, t

    def forget(self) -> None:
        """No step lies behind."""
        self._t = -math.inf

    def find(self, x: NDArray, t: float, sides: HeldSides | None = None) -> Jumped | None:
        """What a point has jumped over on its way to ``x`` at ``t``, as an error; None for nothing.

        Args:
            x: Positions of the points, shape (p, gdim) [m].
            t: Time [s].
            sides: What carries them: those of a floor go over what lies flush in it.
        """
        if not self._thin or not t > self._t > -math.inf:
            return None
        for j, face in self._thin:
            before, now = (self._x, x) if sides is None else sides.way(j, x)
            way = now - before
            if self._moving and hasattr(face, "rest"):
                way = face.rest(now, t) - face.rest(before, self._t)
            lengths = np.linalg.norm(way, axis=1)
            fast = np.flatnonzero(lengths > 0.5 * face.thickness)
            if fast.size:
                found = self._over(face, before[fast], now[fast], t, float(lengths[fast].max()))
                if found is not None:
                    return found
        return None

    def _over(self, face: Any, before: NDArray, now: NDArray, t: float, way: float) -> Jumped | None:
        """An error where points were inside of the face meanwhile and are not, or are beyond its middle."""
        stops = min(_STOPS, math.ceil(8 * way / face.thickness))
        gaps = []
        for part in np.linspace(0.0, 1.0, stops + 1):
            at = (self._t + part * (t - self._t),) if self._moving else ()
            gaps.append(face.gap(before + part * (now - before), *at))
        open_before = gaps[0] > self._tolerance
        over = open_before & (gaps[-1] > self._tolerance) & (np.min(gaps, axis=0) < -self._tolerance)
        if getattr(face, "sides", 1) == 1:  # without sides nobody knows through which one a point came
            over |= open_before & (gaps[-1] < -self._tolerance) & (np.argmin(gaps, axis=0) < stops)
        if not over.any():
            return None
        place = ", ".join(f"{value:.6g}" for value in before[int(np.flatnonzero(over)[0])])
        return Jumped(
            f"a point jumps over the obstacle in one step, from ({place}) m at t = {self._t:.6g} s: it goes "
            f"{way:.3g} m, the obstacle is {face.thickness:.3g} m thick; take a smaller time step"
        )
