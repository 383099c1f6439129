"""A thin elastic ring pressed between two parallel plates: the elastica, round and when it lies flat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from scipy.optimize import brentq
from scipy.special import elliprd, elliprf

from .folded_strip import FoldedStrip


def _integrals(w: float) -> tuple[float, float]:
    """Integrals of ``1/f`` and ``sin a/f`` from 0 to pi/2, f = sqrt(1 - w + w sin a), of Carlson's form."""
    first = math.sqrt(2) * float(elliprf(0.5, 1 - w, 1.0))
    return first, first - math.sqrt(2) / 3 * float(elliprd(0.5, 1 - w, 1.0))


#: Distance of the middle lines over the radius at which the ring begins to lie flat: 1.4355.
FLAT = math.pi * _integrals(1.0)[1] / _integrals(1.0)[0]


@dataclass(frozen=True)
class PressedRing:
    """A thin ring, round without load, between two plates without friction.

    With the angle a of the middle line to the plates, 0 where a plate touches and pi/2 at the side, the
    curvature c there and the force P of each plate::

        B (da/ds)^2 = B c^2 + P sin a,    pi R/2 = int da/(da/ds),    D/2 = int sin a da/(da/ds)

    Small loads: ``P = 6.72 B (2R - D)/R^3``. c falls to 0 at D = 1.4355 R. From there on the ring lies
    flat on both plates without curvature, with the force at the ends of what lies flat: two folds of a
    strip, and ``P = 5.742 B/D^2`` whatever R. Love, Treatise on the Mathematical Theory of Elasticity (1927),
    sections 262 and 263.

    Args:
        stiffness: Bending stiffness B [N m2], of a wide ring with its width.
        radius: Radius R of the middle line without load [m].
        distance: Distance D of the middle lines on the plates, above 0 and at most 2 R [m].
    """

    stiffness: float
    radius: float
    distance: float

    def __post_init__(self) -> None:
        if not 0 < self.distance <= 2 * self.radius:
            raise ValueError(
                f"distance must be above 0 and at most twice the radius, {2 * self.radius:g} m, "
                f"but is {self.distance:g}"
            )

    @cached_property
    def _share(self) -> float:
        """``w = P/(P + B c^2)``, from 0 without load to 1, where the ring begins to lie flat."""

        def excess(w: float) -> float:
            length, height = _integrals(w)
            return math.pi * height / length - self.distance / self.radius

        return float(brentq(excess, 0.0, 1.0, xtol=1e-16)) if excess(0.0) > 0 else 0.0

    @property
    def flat(self) -> float:
        """Length that lies on each plate [m]."""
        return max(0.0, math.pi * self.radius - self._fold.arc) if self._lies else 0.0

    @property
    def force(self) -> float:
        """Force of each plate [N]."""
        if self._lies:
            return 2 * self._fold.force
        q = self._share * (2 * _integrals(self._share)[0] / math.pi) ** 2
        return q * self.stiffness / self.radius**2

    @property
    def energy(self) -> float:
        """Stored energy, that of bending, 0 without load [J]."""
        B, R = self.stiffness, self.radius
        if self._lies:
            return 2 * self._fold.energy - math.pi * B / R
        w = self._share
        length, height = _integrals(w)
        bent = 2 * length / math.pi * ((1 - w) * length + w * height)
        return 2 * B / R * (bent - math.pi / 2)

    @property
    def curvature(self) -> float:
        """The largest one, at both sides [1/m]."""
        if self._lies:
            return self._fold.curvature
        return 2 * _integrals(self._share)[0] / math.pi / self.radius

    @property
    def _lies(self) -> bool:
        return self.distance <= FLAT * self.radius

    @property
    def _fold(self) -> FoldedStrip:
        return FoldedStrip(self.stiffness, self.distance)
