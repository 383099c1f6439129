"""Hertz impact of an elastic sphere on a rigid plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .._types import FloatArray


@dataclass(frozen=True)
class HertzImpact:
    """Elastic sphere that impacts a rigid plane at ``v0`` with quasi-static Hertzian contact.

    The contact force is that of equilibrium, ``F = 4/3 E* sqrt(R) d^(3/2)`` with the approach d of the centre
    and ``E* = E / (1 - nu^2)``; the whole mass of the sphere moves with its centre. Then ``m d'' = -F`` has
    the first integral ``(d'/v0)^2 = 1 - (d/d_max)^(5/2)``. Johnson, Contact Mechanics (1985),
    doi:10.1017/CBO9781139171731, (4.22), (4.23), (11.20)-(11.24). Valid for contact radii much smaller than R
    and contact durations much longer than the period of waves in the sphere.

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
        """Largest radius of the contact area, ``sqrt(R d_max)`` [m]."""
        return math.sqrt(self.R * self.approach)

    @property
    def peak_force(self) -> float:
        """Largest contact force ``4/3 E* sqrt(R) d_max^(3/2)`` [N]."""
        force: float = 4 / 3 * self.modulus * math.sqrt(self.R) * self.approach**1.5
        return force

    @property
    def duration(self) -> float:
        """Duration of the contact, ``T = 4 sqrt(pi) Gamma(2/5) / (5 Gamma(9/10)) d_max / v0`` [s].

        It is ``2 d_max / v0`` times the integral of ``1 / sqrt(1 - x^(5/2))`` over [0, 1]; the factor of
        ``d_max / v0`` is 2.9432.
        """
        factor = 0.8 * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9)
        return factor * self.approach / self.v0

    def force(self, t: ArrayLike) -> FloatArray:
        """Contact force at the time ``t`` after the beginning of contact [N], 0 outside [0, T].

        The first integral gives ``2 t / T`` as the regularised incomplete beta function of
        ``(d/d_max)^(5/2)`` with parameters 2/5 and 1/2; restitution mirrors compression in time.
        """
        s = np.clip(2 * np.asarray(t, dtype=np.float64) / self.duration, 0.0, 2.0)
        ratio = special.betaincinv(0.4, 0.5, np.minimum(s, 2.0 - s))
        force: FloatArray = self.peak_force * ratio**0.6
        return force
