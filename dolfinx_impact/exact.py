"""Exact solutions of the benchmark cases."""

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
