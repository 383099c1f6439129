"""Hertz's impact of an elastic sphere on a rigid plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special


@dataclass(frozen=True)
class HertzImpact:
    """An elastic sphere that flies at ``v0`` against a rigid plane, its contact quasi-static.

    The plane presses on the sphere as in equilibrium, ``F = 4/3 E* sqrt(R) d^(3/2)`` with the approach d of
    its centre and ``E* = E / (1 - nu^2)``; the sphere's mass moves as one. Then ``m d'' = -F`` has the
    integral ``(d'/v0)^2 = 1 - (d/d_max)^(5/2)``. Johnson, Contact Mechanics (1985), (4.22), (4.23), (11.20)
    to (11.24). It holds for contact radii small against R and waves fast against the contact.

    Args:
        R: Radius [m].
        E: Young's modulus [Pa].
        nu: Poisson's ratio.
        rho: Density [kg/m3].
        v0: Speed towards the plane [m/s].
    """

    R: float
    E: float
    nu: float
    rho: float
    v0: float

    @property
    def mass(self) -> float:
        """Mass of the sphere [kg]."""
        return 4 / 3 * math.pi * self.R**3 * self.rho

    @property
    def modulus(self) -> float:
        """``E* = E / (1 - nu^2)`` against a rigid plane [Pa]."""
        return self.E / (1 - self.nu**2)

    @property
    def approach(self) -> float:
        """Largest approach ``d_max = (15 m v0^2 / (16 E* sqrt(R)))^(2/5)`` [m]."""
        return float((15 * self.mass * self.v0**2 / (16 * self.modulus * math.sqrt(self.R))) ** 0.4)

    @property
    def contact_radius(self) -> float:
        """Largest radius of the circle of contact, ``sqrt(R d_max)`` [m]."""
        return math.sqrt(self.R * self.approach)

    @property
    def peak_force(self) -> float:
        """``4/3 E* sqrt(R) d_max^(3/2)`` [N]."""
        return 4 / 3 * self.modulus * math.sqrt(self.R) * self.approach**1.5

    @property
    def duration(self) -> float:
        """Time from touch to release, ``T = 4 sqrt(pi) Gamma(2/5) / (5 Gamma(9/10)) d_max / v0`` [s].

        It is ``2 d_max / v0`` times the integral of ``1 / sqrt(1 - x^(5/2))`` over [0, 1]; the number is
        2.9432.
        """
        number = 0.8 * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9)
        return number * self.approach / self.v0

    def force(self, t: ArrayLike) -> NDArray:
        """Force on the sphere at ``t`` after the touch [N], 0 outside the contact.

        The first integral gives ``2 t / T`` as the incomplete beta function of ``(d/d_max)^(5/2)``, with
        parameters 2/5 and 1/2; the way back mirrors the way in.
        """
        s = np.clip(2 * np.asarray(t, dtype=np.float64) / self.duration, 0.0, 2.0)
        ratio = special.betaincinv(0.4, 0.5, np.minimum(s, 2.0 - s))
        return self.peak_force * ratio**0.6
