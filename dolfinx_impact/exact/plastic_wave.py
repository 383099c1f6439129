"""Exact solution of the plastic wave: a bar of a bilinear metal that hits a rigid wall."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from .._types import FloatArray, IntArray

STATES = ("stress", "strain")


class State(NamedTuple):
    """A uniform part of the bar; stresses and strains are positive in compression."""

    strain: float  #: Logarithmic, along the bar: ``-ln F``.
    stretch: float  #: F.
    kirchhoff: float  #: Kirchhoff stress along the bar [Pa].
    stress: float  #: Force per area at rest [Pa].
    velocity: float  #: Towards the wall [m/s].
    plastic_strain: float  #: Equivalent plastic strain.


@dataclass(frozen=True)
class PlasticWave:
    """Long bar of a metal with linear hardening that hits a rigid wall at ``v0`` and flows.

    An elastic precursor and a slower plastic front run from the wall into the bar, which is uniform before,
    between and behind them. With the stress ``P(F) = tau(ln F) / F`` per area at rest both are shocks::

        rho U^2 = [P] / [F],    [v] = U [F],    tau bilinear in ln F

    Their speeds U are those in the bar at rest. Compression adds ``|tau|`` to the tangent modulus, so that
    the plastic front is faster than the wave of small strains, ``sqrt(E_t / rho)``. If it were to catch up
    with the precursor, or where nothing yields, there is one front.

    Source: Rankine-Hugoniot conditions; von Karman and Duwez, J. Appl. Phys. 21 (1950),
    doi:10.1063/1.1699544, for small strains.

    Args:
        E: Young's modulus [Pa].
        nu: Poisson's ratio, in (-1, 0.5).
        rho: Density [kg/m3].
        yield_stress: Initial uniaxial yield stress [Pa].
        hardening: Slope of the yield stress over the equivalent plastic strain [Pa], at least 0.
        v0: Speed towards the wall [m/s].
        state: ``"stress"``: one-dimensional stress, a thin bar; ``"strain"``: one-dimensional strain.
        finite: Whether strains are finite; else ``P = tau(F - 1)``, the limit of small ones.

    Raises:
        ValueError: A constant outside its range; a speed at which the strain that is not finite exceeds 1.
    """

    E: float
    nu: float
    rho: float
    yield_stress: float
    hardening: float
    v0: float
    state: str = "stress"
    finite: bool = True

    def __post_init__(self) -> None:
        for name in ("E", "rho", "yield_stress", "v0"):
            if not (getattr(self, name) > 0 and np.isfinite(getattr(self, name))):
                raise ValueError(f"{name} must be positive, but is {getattr(self, name)}")
        if not (self.hardening >= 0 and np.isfinite(self.hardening)):
            raise ValueError(f"hardening must be at least 0 [Pa], but is {self.hardening}")
        if not -1 < self.nu < 0.5:
            raise ValueError(f"nu must lie in (-1, 0.5), but is {self.nu}")
        if self.state not in STATES:
            raise ValueError(f"state must be one of {', '.join(STATES)}, but is {self.state!r}")
        if not (self.finite or self.states[-1].stretch > 0):
            raise ValueError(f"a strain that is small exceeds 1 at {self.v0} m/s: take finite strains")

    @property
    def modulus(self) -> float:
        """Slope of the stress over the logarithmic strain before yield [Pa]."""
        if self.state == "stress":
            return self.E
        return self.E * (1 - self.nu) / ((1 + self.nu) * (1 - 2 * self.nu))

    @property
    def tangent_modulus(self) -> float:
        """The slope while the metal flows [Pa]."""
        if self.state == "stress":
            return self.E * self.hardening / (self.E + self.hardening)
        mu, bulk = self._shear, self.E / (3 * (1 - 2 * self.nu))
        return bulk + 4 * mu / 3 * self.hardening / (3 * mu + self.hardening)

    @property
    def limit(self) -> float:
        """Stress along the bar at which it yields [Pa]."""
        return self.yield_stress * (1.0 if self.state == "stress" else (1 - self.nu) / (1 - 2 * self.nu))

    @functools.cached_property
    def states(self) -> tuple[State, ...]:
        """States of the bar before, between and behind the fronts."""
        rest, limit = self._at(0.0, self.v0), self.limit / self.modulus
        precursor = self._at(limit, self.v0 - self._jump(0.0, limit))
        if precursor.velocity > 0:
            behind = self._behind(limit, precursor.velocity)
            if self._speed(precursor, behind) < self._speed(rest, precursor):
                return rest, precursor, behind
        return rest, self._behind(0.0, self.v0)

    @property
    def speeds(self) -> tuple[float, ...]:
        """Speeds of the fronts in the bar at rest [m/s], the fastest first."""
        return tuple(self._speed(a, b) for a, b in zip(self.states, self.states[1:]))

    def behind(self, x: ArrayLike, t: ArrayLike) -> IntArray:
        """Index of the state at ``t`` [s] at the distance ``x`` [m] from the face, in the bar at rest."""
        place, time = np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64)
        passed: IntArray = np.sum([place < speed * time for speed in self.speeds], axis=0)
        return passed

    def field(self, name: str, x: ArrayLike, t: ArrayLike) -> FloatArray:
        """A number of :class:`State` by its name, at ``t`` at the distance ``x`` from the face, at rest."""
        values: FloatArray = np.array([getattr(each, name) for each in self.states])[self.behind(x, t)]
        return values

    @property
    def _shear(self) -> float:
        return self.E / (2 * (1 + self.nu))

    def _stress(self, strain: float) -> tuple[float, float, float]:
        """Stretch, Kirchhoff stress and stress per area at rest [Pa] at a strain."""
        elastic = min(strain, self.limit / self.modulus)
        tau = self.modulus * elastic + self.tangent_modulus * (strain - elastic)
        stretch = float(np.exp(-strain)) if self.finite else 1.0 - strain
        return stretch, tau, tau / stretch if self.finite else tau

    def _at(self, strain: float, velocity: float) -> State:
        stretch, tau, stress = self._stress(strain)
        if self.state == "stress":
            plastic = (self.E * strain - self.yield_stress) / (self.E + self.hardening)
        else:
            shear = self._shear
            plastic = (2 * shear * strain - self.yield_stress) / (3 * shear + self.hardening)
        return State(strain, stretch, tau, stress, velocity, max(0.0, plastic))

    def _jump(self, before: float, behind: float) -> float:
        """Jump of the velocity across a front between two strains [m/s]."""
        (one, _, low), (other, _, high) = self._stress(before), self._stress(behind)
        return float(np.sqrt((high - low) * (one - other) / self.rho))

    def _speed(self, before: State, behind: State) -> float:
        change = behind.stress - before.stress
        return float(np.sqrt(change / (self.rho * (before.stretch - behind.stretch))))

    def _behind(self, before: float, velocity: float) -> State:
        """The state at rest behind a front that takes this velocity from the bar."""
        most = before + max(self.limit / self.modulus, 1e-12)
        while self._jump(before, most) < velocity:
            most = before + 2 * (most - before)
        off = functools.partial(self._missing, before, velocity)
        return self._at(float(brentq(off, before, most, xtol=1e-300, rtol=4 * np.finfo(float).eps)), 0.0)

    def _missing(self, before: float, velocity: float, behind: float) -> float:
        return self._jump(before, behind) - velocity
