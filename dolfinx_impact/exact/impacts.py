"""Exact solutions of the impacting bar and of the bouncing ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray


@dataclass(frozen=True)
class ImpactingBar:
    """Elastic bar that impacts a rigid wall at ``v0`` and rebounds at ``v0``.

    A wave travels through the bar and back during the contact, which ends when the wave returns. Carpenter,
    Taylor and Katona, Int. J. Numer. Methods Eng. 32 (1991), doi:10.1002/nme.1620320107; Di Stasio et al.,
    Adv. Model. Simul. Eng. Sci. 6 (2019), doi:10.1186/s40323-019-0126-y, impacting bar.

    Args:
        E: Young's modulus [Pa].
        rho: Density [kg/m3].
        length: Length [m].
        area: Cross-section [m2].
        gap: Distance from the wall at t = 0 [m].
        v0: Speed towards the wall [m/s].
    """

    E: float
    rho: float
    length: float
    area: float
    gap: float
    v0: float

    @property
    def wave_speed(self) -> float:
        """``c = sqrt(E / rho)`` [m/s]."""
        return float(np.sqrt(self.E / self.rho))

    @property
    def contact_start(self) -> float:
        """Time of the first contact [s]."""
        return self.gap / self.v0

    @property
    def contact_end(self) -> float:
        """Time of release, ``contact_start + 2 L / c`` [s]."""
        return self.contact_start + 2 * self.length / self.wave_speed

    @property
    def impulse(self) -> float:
        """Impulse of the wall, ``2 m v0`` [N s]."""
        return 2 * self.rho * self.length * self.area * self.v0

    @property
    def force(self) -> float:
        """Contact force during contact, ``rho c v0 A`` [N]."""
        return self.rho * self.wave_speed * self.v0 * self.area

    def kinetic(self, t: ArrayLike) -> FloatArray:
        """Kinetic energy at ``t`` [J]: one side of the wave front moves at ``v0``, the other is at rest."""
        transit = self.length / self.wave_speed
        s = np.clip(np.asarray(t, dtype=np.float64) - self.contact_start, 0.0, 2 * transit)
        momentum: FloatArray = self.impulse * self.v0 / 4 * np.abs(1 - s / transit)
        return momentum

    def internal(self, t: ArrayLike) -> FloatArray:
        """Stored energy at ``t`` [J], the initial kinetic energy minus :meth:`kinetic`."""
        return self.impulse * self.v0 / 4 - self.kinetic(t)

    def displacement(self, x: ArrayLike, t: ArrayLike) -> FloatArray:
        """Displacement towards the wall at ``t`` [m], at the distance ``x`` [m] from the contact end."""
        transit = self.length / self.wave_speed
        s = np.asarray(t, dtype=np.float64) - self.contact_start
        front = transit - np.abs(s - transit)
        return self.gap + self.v0 * np.minimum(np.asarray(x) / self.wave_speed, front)

    def velocity(self, x: ArrayLike, t: ArrayLike) -> FloatArray:
        """Velocity towards the wall at ``t`` [m/s], right-continuous, at the distance ``x`` [m]."""
        transit = self.length / self.wave_speed
        s = np.asarray(t, dtype=np.float64) - self.contact_start
        before = s < np.asarray(x) / self.wave_speed
        after = s >= 2 * transit - np.asarray(x) / self.wave_speed
        velocity: FloatArray = self.v0 * (before.astype(float) - after.astype(float))
        return velocity


@dataclass(frozen=True)
class BouncingBall:
    """Ball that falls on the ground z = 0 and rebounds by Newton's law of restitution.

    Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019), doi:10.1186/s40323-019-0126-y, bouncing ball; the
    impact times are extended to an initial velocity. For e < 1 the impacts accumulate at :attr:`t_final`,
    from which on the ball is at rest.

    Args:
        m: Mass [kg].
        gravity: Downward acceleration [m/s2], positive.
        z0: Height at t = 0 [m], at least 0.
        v0: Upward velocity at t = 0 [m/s].
        restitution: Newton's coefficient e, 0 to 1.

    Raises:
        ValueError: A mass or gravity that is not positive, a negative height, e outside [0, 1], values that
            are not finite.
    """

    m: float
    gravity: float
    z0: float
    v0: float
    restitution: float

    def __post_init__(self) -> None:
        for name, value in (("m", self.m), ("gravity", self.gravity)):
            if not (value > 0 and np.isfinite(value)):
                raise ValueError(f"{name} must be positive, but is {value}")
        if not (self.z0 >= 0 and np.isfinite(self.z0)):
            raise ValueError(f"z0 must be a height of at least 0 m, but is {self.z0}")
        if not np.isfinite(self.v0):
            raise ValueError(f"v0 must be finite, but is {self.v0}")
        if not 0 <= self.restitution <= 1:
            raise ValueError(f"restitution must lie in [0, 1], but is {self.restitution}")

    @property
    def impact_speed(self) -> float:
        """Speed at the first impact, ``sqrt(v0^2 + 2 g z0)`` [m/s]."""
        return float(np.sqrt(self.v0**2 + 2 * self.gravity * self.z0))

    @property
    def top(self) -> float:
        """Largest height before the first impact [m]."""
        return self.z0 + max(self.v0, 0.0) ** 2 / (2 * self.gravity)

    @property
    def first_impact(self) -> float:
        """Time of the first impact [s]."""
        speed = self.impact_speed
        if self.v0 < 0:  # avoids cancellation
            return 2 * self.z0 / (speed - self.v0)
        return (self.v0 + speed) / self.gravity

    @property
    def t_final(self) -> float:
        """Accumulation point of the impacts, from which on the ball is at rest [s]; inf for e = 1."""
        e, speed = self.restitution, self.impact_speed
        if e == 1 and speed > 0:
            return float(np.inf)
        return self.first_impact + (2 * speed / self.gravity * e / (1 - e) if e < 1 else 0.0)

    def impact_time(self, n: ArrayLike) -> FloatArray:
        """Time of the n-th impact, n = 1, 2, ... [s]."""
        flights = self._flights(np.asarray(n, dtype=np.float64) - 1)
        return self.first_impact + 2 * self.impact_speed / self.gravity * flights

    def rebound_height(self, n: ArrayLike) -> FloatArray:
        """Height reached after the n-th impact [m]."""
        speed = self.impact_speed * self.restitution ** np.asarray(n, dtype=np.float64)
        return np.asarray(speed**2 / (2 * self.gravity), dtype=np.float64)

    def position(self, t: ArrayLike) -> FloatArray:
        """Height at ``t`` >= 0 [m]."""
        since, speed, start = self._flight(t)
        return np.maximum(0.0, start + since * (speed - 0.5 * self.gravity * since))

    def velocity(self, t: ArrayLike) -> FloatArray:
        """Upward velocity at ``t`` >= 0 [m/s], right-continuous."""
        since, speed, _ = self._flight(t)
        resting = np.asarray(t, dtype=np.float64) >= self.t_final
        return np.where(resting, 0.0, speed - self.gravity * since)

    def energy(self, t: ArrayLike) -> FloatArray:
        """Total energy ``m v^2/2 + m g z`` at ``t`` [J], constant in flight."""
        return self.m * (0.5 * self.velocity(t) ** 2 + self.gravity * self.position(t))

    def _flights(self, n: FloatArray) -> FloatArray:
        """Geometric sum ``e + e^2 + ... + e^n``."""
        e = self.restitution
        if e in (0.0, 1.0):
            return n * e
        flights: FloatArray = -e * np.expm1(n * np.log(e)) / (1 - e)
        return flights

    def _flight(self, t: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Time since the beginning of the flight at ``t`` [s], its initial velocity [m/s] and height [m].

        All are 0 from :attr:`t_final` on.
        """
        times = np.asarray(t, dtype=np.float64)
        before, rests = times < self.first_impact, times >= self.t_final
        flying = ~before & ~rests
        n = self._impacts(np.where(flying, times, self.first_impact))
        since = np.where(before, times, np.where(flying, times - self.impact_time(n), 0.0))
        speed = np.where(before, self.v0, self.impact_speed * self.restitution**n)
        return since, np.where(rests, 0.0, speed), np.where(before, self.z0, 0.0)

    def _impacts(self, t: FloatArray) -> FloatArray:
        """Number of impacts up to ``t``, at least 1, before the accumulation point."""
        e, speed = self.restitution, self.impact_speed
        if e == 0.0 or speed == 0.0:
            return np.ones_like(t)
        passed = (t - self.first_impact) * self.gravity / (2 * speed)
        if e == 1.0:
            n = 1.0 + np.floor(passed)
        else:
            left = np.maximum(1 - passed * (1 - e) / e, np.finfo(np.float64).tiny)
            n = 1.0 + np.floor(np.log(left) / np.log(e))
        # With round-off in the quotient n may be off by one at an impact.
        n = np.where(self.impact_time(n + 1) <= t, n + 1, n)
        return np.where((self.impact_time(n) > t) & (n > 1), n - 1, n)
