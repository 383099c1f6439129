"""Zener's impact: an elastic sphere against a body that takes energy away in waves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate

from .._types import FloatArray

#: Relative and absolute error of a step of the integration.
_PRECISION = {"rtol": 1e-12, "atol": 1e-14}


def hertz_stiffness(R: float, E: float, nu: float, E2: float = math.inf, nu2: float = 0.0) -> float:
    """The constant k of Hertz's ``F = k s^(3/2)`` of a sphere on a half-space [N/m^(3/2)].

    ``k = 4/3 E* sqrt(R)``, ``1/E* = (1 - nu^2)/E + (1 - nu2^2)/E2``. Johnson, Contact Mechanics (1985),
    doi:10.1017/CBO9781139171731, (4.23).

    Args:
        R: Radius of the sphere [m].
        E, nu: Young's modulus [Pa] and Poisson's ratio of the sphere.
        E2, nu2: Those of the half-space; rigid by default.
    """
    modulus = 1.0 / ((1.0 - nu**2) / E + (1.0 - nu2**2) / E2)
    return 4.0 / 3.0 * modulus * math.sqrt(R)


def bending_stiffness(E: float, nu: float, thickness: float) -> float:
    """Bending stiffness of a plate, ``D = E h^3 / (12 (1 - nu^2))`` [N m].

    Args:
        E, nu: Young's modulus [Pa] and Poisson's ratio.
        thickness: Thickness h [m].
    """
    return E * thickness**3 / (12.0 * (1.0 - nu**2))


def plate_mobility(E: float, nu: float, rho: float, thickness: float) -> float:
    """Velocity per force where a force acts on an infinite thin plate, ``1/(8 sqrt(D rho h))`` [m/(N s)].

    Bending waves answer a force by a velocity, not by a displacement. Zener, Phys. Rev. 59 (1941), 669,
    doi:10.1103/PhysRev.59.669.

    Args:
        E, nu: Young's modulus [Pa] and Poisson's ratio.
        rho: Density [kg/m3].
        thickness: Thickness h [m].
    """
    return 1.0 / (8.0 * math.sqrt(bending_stiffness(E, nu, thickness) * rho * thickness))


def rod_mobility(E: float, rho: float, area: float) -> float:
    """Velocity per force at the end of a long thin rod, ``1/(rho c A)`` with ``c = sqrt(E/rho)`` [m/(N s)].

    Args:
        E: Young's modulus [Pa].
        rho: Density [kg/m3].
        area: Area of the section [m2].
    """
    return 1.0 / (math.sqrt(E * rho) * area)


@dataclass(frozen=True)
class ZenerImpact:
    """Elastic sphere that impacts a body whose surface moves with ``w' = a F``: a large plate, a long rod.

    The contact is that of Hertz, ``F = k s^(3/2)`` with the approach s; the sphere moves as one mass.
    In units ``T = (m^2/(k^2 v0))^(1/5)`` of time, ``v0 T`` of length and ``m v0/T`` of force::

        s'' + (1 + lambda d/dt) s^(3/2) = 0,   s(0) = 0,  s'(0) = 1,   lambda = a m/T

    Zener, Phys. Rev. 59 (1941), 669, doi:10.1103/PhysRev.59.669; derived in Mathematics 9 (2021), 2222,
    doi:10.3390/math9182222. The integral of ``a F^2`` is the energy that the waves take away. With
    ``lambda = 0`` it is :class:`.HertzImpact`. Valid while no wave has returned from a boundary.

    Args:
        mass: Mass of the sphere [kg].
        stiffness: Constant k of the contact [N/m^(3/2)], see :func:`hertz_stiffness`.
        mobility: Velocity of the body per force, a [m/(N s)], see :func:`plate_mobility` and
            :func:`rod_mobility`.
        v0: Speed of the sphere towards the body [m/s].

    Raises:
        ValueError: Numbers that are not finite, or not positive (the mobility: negative).
    """

    mass: float
    stiffness: float
    mobility: float
    v0: float

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness", "v0"):
            value = getattr(self, name)
            if not 0.0 < value < math.inf:
                raise ValueError(f"{name} must be positive and finite, but is {value}")
        if not 0.0 <= self.mobility < math.inf:
            raise ValueError(f"mobility must be at least 0 and finite, but is {self.mobility}")

    @property
    def unit_of_time(self) -> float:
        """The unit of time, ``T = (m^2/(k^2 v0))^(1/5)`` [s]."""
        return float((self.mass**2 / (self.stiffness**2 * self.v0)) ** 0.2)

    @property
    def lam(self) -> float:
        """The number that decides, ``lambda = a m/T``: 0 for a body that does not yield."""
        return self.mobility * self.mass / self.unit_of_time

    @cached_property
    def _solution(self) -> Any:
        """Approach s and velocity of the sphere x' = s' + lambda s^(3/2) over time, without units."""
        lam = self.lam

        def rates(t: float, y: FloatArray) -> list[float]:
            force = max(y[0], 0.0) ** 1.5
            return [y[1] - lam * force, -force]

        def end(t: float, y: FloatArray) -> float:
            return float(y[0])

        def peak(t: float, y: FloatArray) -> float:
            return rates(t, y)[0]

        end.terminal, end.direction, peak.direction = True, -1.0, -1.0  # type: ignore[attr-defined]
        # The approach falls like exp(-t / (1.5 lambda)) where lambda is large, and ends in finite time.
        latest = 10.0 + 50.0 * lam * (1.0 + math.log1p(lam))
        return integrate.solve_ivp(
            rates, (0.0, latest), [0.0, 1.0], "DOP853", events=(end, peak), dense_output=True, **_PRECISION
        )

    @property
    def restitution(self) -> float:
        """Speed of the sphere after the impact over that before, 1 for ``lambda = 0``."""
        return -float(self._solution.y_events[0][-1][1])

    @property
    def duration(self) -> float:
        """Duration of the contact [s]."""
        return self.unit_of_time * float(self._solution.t_events[0][-1])

    @property
    def peak_force(self) -> float:
        """Largest contact force [N]."""
        approach: float = self._solution.y_events[1][0][0]
        return self._unit_of_force * float(approach**1.5)

    @property
    def _unit_of_force(self) -> float:
        return self.mass * self.v0 / self.unit_of_time

    def force(self, t: ArrayLike) -> FloatArray:
        """Contact force at the time ``t`` after the beginning of contact [N], 0 outside of the contact."""
        s = np.asarray(t, dtype=np.float64) / self.unit_of_time
        end = float(self._solution.t_events[0][-1])
        approach = np.maximum(self._solution.sol(np.clip(s, 0.0, end).ravel())[0].reshape(s.shape), 0.0)
        force: FloatArray = np.where((s >= 0.0) & (s <= end), self._unit_of_force * approach**1.5, 0.0)
        return force
