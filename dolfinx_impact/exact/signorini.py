"""Exact solutions of the dynamic Signorini problem of a bar (Doyen, Ern and Piperno 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class SignoriniBar:
    """Vertical elastic bar of cross-section 1 m2 that falls on rigid ground and bounces.

    Doyen, Ern and Piperno, SIAM J. Sci. Comput. 33 (2011), doi:10.1137/100791440, (26)-(31), with the series
    (29) and (30) in closed form. A contact lasts 2 tau, ``tau = L / c``. With gravity the bar takes off
    compressed, and lands in the same state if the duration of the flight is a multiple of 2 tau; the second
    contact is then the time reversal of the first, and the motion is periodic. Otherwise the solution is
    available until before the second contact only, see :attr:`known_until`.

    Args:
        E: Young's modulus [Pa].
        rho: Density [kg/m3].
        length: Length [m].
        h0: Height of the bottom at t = 0, the uniform initial displacement [m], at least 0.
        v0: Downward speed at t = 0 [m/s], at least 0.
        g0: Downward acceleration [m/s2], at least 0.

    Raises:
        ValueError: A value out of its range or not finite.
    """

    E: float
    rho: float
    length: float
    h0: float
    v0: float
    g0: float

    def __post_init__(self) -> None:
        for name, unit in (("E", "Pa"), ("rho", "kg/m3"), ("length", "m")):
            if not (getattr(self, name) > 0 and np.isfinite(getattr(self, name))):
                raise ValueError(f"{name} must be positive [{unit}], but is {getattr(self, name)}")
        for name, unit in (("h0", "m"), ("v0", "m/s"), ("g0", "m/s2")):
            if not (getattr(self, name) >= 0 and np.isfinite(getattr(self, name))):
                raise ValueError(f"{name} must be at least 0 [{unit}], but is {getattr(self, name)}")

    @property
    def wave_speed(self) -> float:
        """``c = sqrt(E / rho)`` [m/s]."""
        return float(np.sqrt(self.E / self.rho))

    @property
    def transit(self) -> float:
        """Transit time of a wave through the bar, ``tau = L / c`` [s]."""
        return self.length / self.wave_speed

    @property
    def impact_speed(self) -> float:
        """Speed at every impact, ``v_f`` [m/s]."""
        return float(np.sqrt(self.v0**2 + 2 * self.g0 * self.h0))

    @property
    def contact_start(self) -> float:
        """Time of the first contact [s]; inf for a bar above the ground without velocity and gravity."""
        speeds = self.v0 + self.impact_speed
        return 2 * self.h0 / speeds if speeds > 0 else (np.inf if self.h0 > 0 else 0.0)

    @property
    def contact_end(self) -> float:
        """Time of the first release [s]."""
        return self.contact_start + 2 * self.transit

    @property
    def flight(self) -> float:
        """Time from a release to the next contact [s]; inf without gravity."""
        return 2 * self.impact_speed / self.g0 if self.g0 > 0 else np.inf

    @property
    def period(self) -> float:
        """Period of the motion: two contacts and two flights [s]; inf without gravity."""
        return 2 * (2 * self.transit + self.flight)

    @property
    def known_until(self) -> float:
        """Time up to which the solution is available [s]; inf where it is periodic or without gravity."""
        if self.g0 == 0:
            return np.inf
        # The bottom takes off at v_f - 2 g tau if this is positive.
        transits = self.flight / (2 * self.transit)
        if transits < 2 - 1e-9:
            return self.contact_end
        if abs(transits - round(transits)) <= 1e-9 * transits:
            return np.inf
        # The bottom is at most g tau^2 below that of a rigid bar.
        g, v, low = self.g0, self.impact_speed, self.g0 * self.transit**2
        return self.contact_end + (v + float(np.sqrt(v**2 - 2 * g * low))) / g

    def displacement(self, x: ArrayLike, t: ArrayLike) -> FloatArray:
        """Upward displacement at ``t`` [m], at the height ``x`` [m] of the undeformed bar; (26), (31).

        NaN after :attr:`known_until`.
        """
        y, times, phase, s = self._phase(x, t)
        fall = self.h0 - times * (self.v0 + self.g0 * times / 2)
        rigid = s * (self.impact_speed - self.g0 * s / 2)
        contact = self._shock(y, s) + self._weight_response(y, s)
        return np.select(
            [phase == 0, _in_contact(phase), phase == 2, phase == 4],
            [fall, contact, rigid + self._vibration(y, s), rigid],
            np.nan,
        )

    def velocity(self, x: ArrayLike, t: ArrayLike) -> FloatArray:
        """Upward velocity at ``t`` [m/s], at the height ``x`` [m]; NaN after :attr:`known_until`.

        At a jump one of the two one-sided limits.
        """
        y, times, phase, s = self._phase(x, t)
        L, c, v, k = self.length, self.wave_speed, self.impact_speed, self.g0 / self.wave_speed
        ahead, behind = _wrap(y + c * s, 4 * L), _wrap(y - c * s, 4 * L)
        jumps = (s >= 2 * self.transit - y / c).astype(float) - (s < y / c)
        contact = v * jumps - k / 2 * (np.abs(ahead) - np.abs(behind))
        ahead, behind = _wrap(y + c * s, 2 * L), _wrap(y - c * s, 2 * L)
        vibration = k * (ahead - L * np.sign(ahead) - behind + L * np.sign(behind))
        rigid = v - self.g0 * s
        return np.select(
            [phase == 0, phase == 1, phase == 3, phase == 2, phase == 4],
            [-self.v0 - self.g0 * times, contact, -contact, rigid + vibration, rigid],
            np.nan,
        )

    def force(self, t: ArrayLike) -> FloatArray:
        """Contact force at ``t`` [N]; without gravity it is (27).

        At a jump one of the two one-sided limits; NaN after :attr:`known_until`.
        """
        _, _, phase, s = self._phase(0.0, t)
        contact_force = self.E / self.wave_speed * (self.impact_speed + self.g0 * s)
        return np.select([_in_contact(phase), phase >= 0], [contact_force, 0.0], np.nan)

    def _phase(self, x: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
        """``x`` and ``t`` broadcast, the phase of the motion and the time s since its beginning [s].

        Phases: 0 first fall, 1 contact, 2 vibrating flight, 3 reversed contact (s is the time to its end),
        4 rigid flight, -1 after :attr:`known_until`.
        """
        y, times = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (x, t)))
        falls = times < self.contact_start
        since = np.where(falls, 0.0, times - self.contact_start) % self.period
        ends = np.cumsum([2 * self.transit, self.flight, 2 * self.transit])
        phase: IntArray = np.where(falls, 0, 1 + np.searchsorted(ends, since, side="right"))
        phase = np.where(times > self.known_until, -1, phase)
        begins: FloatArray = np.array([0.0, 0.0, ends[0], 0.0, ends[2], 0.0])
        return y, times, phase, np.where(phase == 3, ends[2] - since, since - begins[phase])

    def _shock(self, x: FloatArray, s: FloatArray) -> FloatArray:
        """H of (26): shock wave of the impact [m]."""
        front = self.transit - np.abs(s - self.transit)
        u: FloatArray = -self.impact_speed * np.minimum(x / self.wave_speed, front)
        return u

    def _weight_response(self, x: FloatArray, s: FloatArray) -> FloatArray:
        """S1, (29): bar fixed at its bottom, at rest, whose weight is applied at s = 0 [m]."""
        L, c = self.length, self.wave_speed

        def odd(y: FloatArray) -> FloatArray:
            wrapped = _wrap(y, 4 * L)
            return wrapped * (np.abs(wrapped) - 2 * L)

        return self.g0 / (2 * c**2) * (x * (x - 2 * L) - (odd(x + c * s) + odd(x - c * s)) / 2)

    def _vibration(self, x: FloatArray, s: FloatArray) -> FloatArray:
        """S2, (30): free bar released from the deformed shape at take-off [m]."""
        L, c = self.length, self.wave_speed

        def even(y: FloatArray) -> FloatArray:
            wrapped = np.abs(_wrap(y, 2 * L))
            return wrapped * (wrapped - 2 * L)

        return self.g0 / (2 * c**2) * (even(x + c * s) + even(x - c * s))


def _in_contact(phase: IntArray) -> BoolArray:
    contact: BoolArray = (phase == 1) | (phase == 3)
    return contact


def _wrap(y: FloatArray, period: float) -> FloatArray:
    """``y`` modulo the period, in [-period/2, period/2)."""
    return (y + period / 2) % period - period / 2
