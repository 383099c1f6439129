"""Exact solutions of the impacting bar and of the bouncing ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ImpactingBar:
    """An elastic bar that flies at ``v0`` against a rigid wall and rebounds at ``v0``.

    One wave runs up the bar and comes back as the bar leaves the wall. Carpenter et al.,
    Int. J. Numer. Methods Eng. 32 (1991); Di Stasio et al. (2019), impacting bar.

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
        """Time of the release, ``2 L / c`` later [s]."""
        return self.contact_start + 2 * self.length / self.wave_speed

    @property
    def impulse(self) -> float:
        """Impulse of the wall, ``2 m v0`` [N s]."""
        return 2 * self.rho * self.length * self.area * self.v0

    @property
    def force(self) -> float:
        """Contact force while the bar touches, ``rho c v0 A`` [N]."""
        return self.rho * self.wave_speed * self.v0 * self.area

    def kinetic(self, t: ArrayLike) -> NDArray:
        """Kinetic energy [J]: only what the wave has not reached moves."""
        transit = self.length / self.wave_speed
        s = np.clip(np.asarray(t, dtype=np.float64) - self.contact_start, 0.0, 2 * transit)
        return self.impulse * self.v0 / 4 * np.abs(1 - s / transit)

    def internal(self, t: ArrayLike) -> NDArray:
        """Stored energy [J], what is missing from the kinetic one."""
        return self.impulse * self.v0 / 4 - self.kinetic(t)

    def displacement(self, x: ArrayLike, t: ArrayLike) -> NDArray:
        """Displacement towards the wall [m] at the distance ``x`` [m] from the contact end."""
        transit = self.length / self.wave_speed
        s = np.asarray(t, dtype=np.float64) - self.contact_start
        front = transit - np.abs(s - transit)
        return self.gap + self.v0 * np.minimum(np.asarray(x) / self.wave_speed, front)

    def velocity(self, x: ArrayLike, t: ArrayLike) -> NDArray:
        """Velocity towards the wall [m/s]; at a jump the value after it."""
        transit = self.length / self.wave_speed
        s = np.asarray(t, dtype=np.float64) - self.contact_start
        before = s < np.asarray(x) / self.wave_speed
        after = s >= 2 * transit - np.asarray(x) / self.wave_speed
        return self.v0 * (before.astype(float) - after.astype(float))


@dataclass(frozen=True)
class BouncingBall:
    """A ball that falls on the ground z = 0 and rebounds by Newton's law.

    Di Stasio et al. (2019), bouncing ball, its impact times extended to a velocity at the start. The
    impacts accumulate at :attr:`t_final` for e < 1; the ball rests from then on.

    Args:
        m: Mass [kg].
        gravity: Acceleration downwards [m/s2], positive.
        z0: Height at t = 0 [m], at least 0.
        v0: Velocity upwards at t = 0 [m/s].
        restitution: Newton's coefficient e, 0 to 1.

    Raises:
        ValueError: Values that describe no ball above the ground.
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
        if self.v0 < 0:  # the other form subtracts nearly equal numbers
            return 2 * self.z0 / (speed - self.v0)
        return (self.v0 + speed) / self.gravity

    @property
    def t_final(self) -> float:
        """Time from which the ball rests [s]; inf for e = 1."""
        e, speed = self.restitution, self.impact_speed
        if e == 1 and speed > 0:
            return float(np.inf)
        return self.first_impact + (2 * speed / self.gravity * e / (1 - e) if e < 1 else 0.0)

    def impact_time(self, n: ArrayLike) -> NDArray:
        """Time of the n-th impact, n = 1, 2, ... [s]."""
        flights = self._flights(np.asarray(n, dtype=np.float64) - 1)
        return self.first_impact + 2 * self.impact_speed / self.gravity * flights

    def rebound_height(self, n: ArrayLike) -> NDArray:
        """Height reached after the n-th impact [m]."""
        speed = self.impact_speed * self.restitution ** np.asarray(n, dtype=np.float64)
        return speed**2 / (2 * self.gravity)

    def position(self, t: ArrayLike) -> NDArray:
        """Height at ``t`` >= 0 [m]."""
        since, speed, start = self._flight(t)
        return np.maximum(0.0, start + since * (speed - 0.5 * self.gravity * since))

    def velocity(self, t: ArrayLike) -> NDArray:
        """Velocity upwards at ``t`` >= 0 [m/s]; at an impact the value after it."""
        since, speed, _ = self._flight(t)
        resting = np.asarray(t, dtype=np.float64) >= self.t_final
        return np.where(resting, 0.0, speed - self.gravity * since)

    def energy(self, t: ArrayLike) -> NDArray:
        """Kinetic energy and that of the height, ``m v^2/2 + m g z`` [J]: constant in flight."""
        return self.m * (0.5 * self.velocity(t) ** 2 + self.gravity * self.position(t))

    def _flights(self, n: NDArray) -> NDArray:
        """``e + e^2 + ... + e^n``."""
        e = self.restitution
        if e in (0.0, 1.0):
            return n * e
        return -e * np.expm1(n * np.log(e)) / (1 - e)

    def _flight(self, t: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
        """Time since the flight at ``t`` began [s], its speed [m/s] and height [m] there; 0 at rest."""
        times = np.asarray(t, dtype=np.float64)
        before, rests = times < self.first_impact, times >= self.t_final
        flying = ~before & ~rests
        n = self._impacts(np.where(flying, times, self.first_impact))
        since = np.where(before, times, np.where(flying, times - self.impact_time(n), 0.0))
        speed = np.where(before, self.v0, self.impact_speed * self.restitution**n)
        return since, np.where(rests, 0.0, speed), np.where(before, self.z0, 0.0)

    def _impacts(self, t: NDArray) -> NDArray:
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
        # The quotient is rounded: it may be one off at an impact.
        n = np.where(self.impact_time(n + 1) <= t, n + 1, n)
        return np.where((self.impact_time(n) > t) & (n > 1), n - 1, n)
