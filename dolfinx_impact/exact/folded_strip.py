"""An elastic strip folded between two parallel plates: the elastica that lies flat on both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import beta

from .._types import FloatArray

#: Integrals of ``sqrt(sin a)`` and of ``1/sqrt(sin a)`` from 0 to pi.
_HEIGHT, _LENGTH = float(beta(0.75, 0.5)), float(beta(0.25, 0.5))


@dataclass(frozen=True)
class FoldedStrip:
    """A thin strip, folded by half a turn, that lies flat on two plates behind the fold.

    With the angle a of the middle line to the plates, 0 to pi along the fold, the force P of the plates
    and no moment where the strip leaves them::

        B (da/ds)^2/2 = P sin a,    D = sqrt(B/2P) int sqrt(sin a) da,    s = sqrt(B/2P) int da/sqrt(sin a)

    Hence ``P = 2.871 B/D^2``, an energy of ``P D = 2.871 B/D`` and an arc of 2.188 D, whatever the length of
    the strip. Love, Treatise on the Mathematical Theory of Elasticity (1927), sections 262 and 263.

    Args:
        stiffness: Bending stiffness B [N m2], of a wide strip with its width.
        distance: Distance D of the middle lines on the plates [m].
    """

    stiffness: float
    distance: float

    @property
    def force(self) -> float:
        """Force of each plate [N]."""
        return 0.5 * _HEIGHT**2 * self.stiffness / self.distance**2

    @property
    def energy(self) -> float:
        """Stored energy, that of bending [J]."""
        return self.force * self.distance

    @property
    def arc(self) -> float:
        """Length of the strip that no plate touches [m]."""
        return _LENGTH / _HEIGHT * self.distance

    @property
    def curvature(self) -> float:
        """The largest one, at the tip of the fold [1/m]."""
        return _HEIGHT / self.distance

    def shape(self, count: int = 201) -> tuple[FloatArray, FloatArray]:
        """Middle line from the lower to the upper plate, shape (count,) each [m].

        x along the plates from where the strip leaves them, y across from the lower one. In closed form:
        ``dx = cos a ds`` gives ``x = 2 sqrt(B/2P) sqrt(sin a)``, and y is an incomplete integral, by the
        trapezoidal rule in ``b``, ``a = pi (1 - cos b)/2``, where it is smooth.
        """
        size = self.distance / _HEIGHT
        b = np.linspace(0.0, math.pi, 20 * (count - 1) + 1)
        a = 0.5 * math.pi * (1 - np.cos(b))
        rise = np.sqrt(np.maximum(np.sin(a), 0.0)) * 0.5 * math.pi * np.sin(b)
        y = np.concatenate([[0.0], np.cumsum(0.5 * (rise[1:] + rise[:-1]) * np.diff(b))])
        x = 2 * np.sqrt(np.maximum(np.sin(a), 0.0))
        return size * x[::20], size * y[::20]
