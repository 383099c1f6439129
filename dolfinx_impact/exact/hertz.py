"""Hertz's theory: bodies that press on each other along a line or at a point, and the impact of a sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .._types import FloatArray


def effective_modulus(E1: float, nu1: float, E2: float, nu2: float) -> float:
    """``E*`` of two half-spaces, ``1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2`` [Pa]; E may be infinite."""
    return 1.0 / ((1 - nu1**2) / E1 + (1 - nu2**2) / E2)


def effective_radius(radius1: float, radius2: float = 0.0) -> float:
    """``R``, ``1/R = 1/radius1 + 1/radius2`` [m]: 0 is a flat body, a negative radius a concave one."""
    return 1.0 / sum(1.0 / each for each in (radius1, radius2) if each)


@dataclass(frozen=True)
class HertzLine:
    """Two cylinders with parallel axes that a load F' presses together, per length, in plane strain.

    ``b^2 = 4 F' R / (pi E*)``, ``p = p0 sqrt(1 - x^2/b^2)``, ``p0 = E* b / (2 R)``. Johnson, Contact
    Mechanics (1985), doi:10.1017/CBO9781139171731, (4.42)-(4.45). Valid for b much smaller than both radii.

    Args:
        modulus, radius: ``E*`` [Pa] and R [m], as of :func:`effective_modulus`, :func:`effective_radius`.
        load: F' [N/m].
    """

    modulus: float
    radius: float
    load: float

    @classmethod
    def of_half_width(cls, modulus: float, radius: float, half_width: float) -> HertzLine:
        """The load of a half-width b [m]."""
        return cls(modulus, radius, math.pi * modulus * half_width**2 / (4 * radius))

    @classmethod
    def of_peak_pressure(cls, modulus: float, radius: float, pressure: float) -> HertzLine:
        """The load of a largest pressure p0 [Pa]."""
        return cls.of_half_width(modulus, radius, 2 * radius * pressure / modulus)

    @property
    def half_width(self) -> float:
        """``b`` [m]."""
        return math.sqrt(4 * self.load * self.radius / (math.pi * self.modulus))

    @property
    def peak_pressure(self) -> float:
        """``p0`` [Pa]."""
        return self.modulus * self.half_width / (2 * self.radius)

    def pressure(self, x: ArrayLike) -> FloatArray:
        """Pressure at the distance x from the middle [Pa]."""
        return _ellipse(self.peak_pressure, self.half_width, x)


@dataclass(frozen=True)
class HertzPoint:
    """Two spheres that a load F presses together.

    ``a^3 = 3 F R / (4 E*)``, ``p = p0 sqrt(1 - r^2/a^2)``, ``p0 = 2 E* a / (pi R)``, approach ``a^2/R``.
    Johnson, Contact Mechanics (1985), doi:10.1017/CBO9781139171731, (4.22)-(4.24). Valid for a much smaller
    than both radii.

    Args:
        modulus, radius: As of :class:`HertzLine`.
        load: F [N].
    """

    modulus: float
    radius: float
    load: float

    @classmethod
    def of_half_width(cls, modulus: float, radius: float, half_width: float) -> HertzPoint:
        """The load of a contact radius a [m]."""
        return cls(modulus, radius, 4 / 3 * modulus * half_width**3 / radius)

    @classmethod
    def of_approach(cls, modulus: float, radius: float, approach: float) -> HertzPoint:
        """The load of an approach [m] of points far from the contact, ``4/3 E* sqrt(R) d^(3/2)``."""
        return cls.of_half_width(modulus, radius, math.sqrt(radius * approach))

    @property
    def half_width(self) -> float:
        """Radius ``a`` of the contact [m]."""
        return float(np.cbrt(3 * self.load * self.radius / (4 * self.modulus)))

    @property
    def peak_pressure(self) -> float:
        """``p0`` [Pa]."""
        return 2 * self.modulus * self.half_width / (math.pi * self.radius)

    @property
    def approach(self) -> float:
        """How much points far from the contact approach each other [m]."""
        return self.half_width**2 / self.radius

    def pressure(self, r: ArrayLike) -> FloatArray:
        """Pressure at the distance r from the middle [Pa]."""
        return _ellipse(self.peak_pressure, self.half_width, r)


def _ellipse(most: float, half_width: float, x: ArrayLike) -> FloatArray:
    ratio = np.asarray(x, dtype=np.float64) / half_width
    pressure: FloatArray = most * np.sqrt(np.maximum(1 - ratio**2, 0.0))
    return pressure


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
