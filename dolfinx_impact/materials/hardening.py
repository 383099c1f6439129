"""Hardening laws of metals: yield stress by equivalent plastic strain, its rate, and plastic work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import ufl

from .._types import FloatArray
from ..arguments import floats, number, shown
from .law import constants_of


@runtime_checkable
class HardeningLaw(Protocol):
    """Yield stress of :class:`.J2Plasticity`, in UFL."""

    def flow_stress(self, strain: Any, rate: Any, work: Any) -> Any:
        """Yield stress [Pa], a UFL scalar; it bounds the Kirchhoff stress.

        It is positive at the start, counts as 0 where it is negative, falls by less than 3 mu per plastic
        strain, and does not decrease with the rate.

        Args:
            strain: Equivalent plastic strain.
            rate: Its rate [1/s]; 0 where it is tested whether a point yields.
            work: Plastic work per reference volume at the start of the step [J/m3].
        """


@dataclass(frozen=True)
class LinearHardening:
    """``sigma_y = yield_stress + modulus * strain``, at least 0.

    Args:
        yield_stress: Yield stress at the start [Pa], positive.
        modulus: Plastic modulus H [Pa]; negative where the metal softens, above ``-3 mu``.

    Raises:
        ValueError: A constant outside its range.
    """

    yield_stress: float
    modulus: float = 0.0

    def __post_init__(self) -> None:
        _positive("the yield stress", self.yield_stress)
        number("the plastic modulus", self.modulus)

    @property
    def least_slope(self) -> float:
        """Smallest slope over the plastic strain [Pa]."""
        return self.modulus

    def flow_stress(self, strain: Any, rate: Any, work: Any) -> Any:
        """See :class:`HardeningLaw`."""
        stress, modulus = constants_of(strain, (self.yield_stress, self.modulus))
        found = stress + modulus * strain
        return ufl.max_value(found, 0.0) if self.modulus < 0 else found


@dataclass(frozen=True)
class Voce:
    """``sigma_y = s - (s - yield_stress) exp(-exponent * strain) + modulus * strain``, s the saturation.

    Source: Voce, J. Inst. Metals 74 (1948), 537-562.

    Args:
        yield_stress: Yield stress at the start [Pa], positive.
        saturation_stress: Yield stress at large strain, without ``modulus`` [Pa], positive.
        exponent: Rate of saturation with the strain, positive.
        modulus: Plastic modulus at large strain [Pa], at least 0.

    Raises:
        ValueError: A constant outside its range.
    """

    yield_stress: float
    saturation_stress: float
    exponent: float
    modulus: float = 0.0

    def __post_init__(self) -> None:
        _positive("the yield stress", self.yield_stress)
        _positive("the saturation stress", self.saturation_stress)
        number("the exponent", self.exponent, "be positive", above=0.0)
        number("the plastic modulus", self.modulus, "be at least 0 [Pa]", least=0.0)

    @property
    def least_slope(self) -> float:
        """Smallest slope over the plastic strain [Pa]."""
        return self.modulus + min(0.0, (self.saturation_stress - self.yield_stress) * self.exponent)

    def flow_stress(self, strain: Any, rate: Any, work: Any) -> Any:
        """See :class:`HardeningLaw`."""
        values = (self.yield_stress, self.saturation_stress, self.exponent, self.modulus)
        stress, saturation, exponent, modulus = constants_of(strain, values)
        return saturation - (saturation - stress) * ufl.exp(-exponent * strain) + modulus * strain


@dataclass(frozen=True)
class TabulatedHardening:
    """Yield stress by linear interpolation; constant beyond the last entry.

    Args:
        strain: Plastic strains from 0 on, increasing.
        stress: Yield stress at these, positive [Pa]: Kirchhoff stress, which exceeds the true stress of a
            test by the factor J, about 1.

    Raises:
        ValueError: Entries that are not numbers, of different count, not increasing or not positive.
    """

    strain: Sequence[float]
    stress: Sequence[float]
    _slopes: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        strain, stress = floats(self.strain), floats(self.stress)
        if strain.ndim != 1 or strain.shape != stress.shape or strain.size < 2:
            raise ValueError(
                "a hardening table has two entries or more, one stress for each plastic strain, but strain "
                f"is {shown(self.strain)} and stress {shown(self.stress)}"
            )
        if not np.all(np.isfinite(strain) & np.isfinite(stress)):
            raise ValueError("a hardening table has entries that are not finite")
        if strain[0] != 0.0 or not np.all(np.diff(strain) > 0):
            raise ValueError(
                f"the plastic strains of a hardening table must begin with 0 and increase, but are {strain}"
            )
        if not np.all(stress > 0):
            raise ValueError(f"the stresses of a hardening table must be positive [Pa], but are {stress}")
        object.__setattr__(self, "strain", tuple(map(float, strain)))
        object.__setattr__(self, "stress", tuple(map(float, stress)))
        slopes: FloatArray = np.diff(stress) / np.diff(strain)
        object.__setattr__(self, "_slopes", tuple(map(float, slopes)))

    @property
    def least_slope(self) -> float:
        """Smallest slope over the plastic strain [Pa]."""
        return min(0.0, min(self._slopes))

    def flow_stress(self, strain: Any, rate: Any, work: Any) -> Any:
        """See :class:`HardeningLaw`."""
        starts, stresses, slopes = (
            constants_of(strain, tuple(each)) for each in (self.strain, self.stress, self._slopes)
        )
        found = stresses[-1]
        for k in reversed(range(len(slopes))):
            inside = stresses[k] + slopes[k] * (strain - starts[k])
            found = ufl.conditional(ufl.lt(strain, starts[k + 1]), inside, found)
        return found


@dataclass(frozen=True)
class JohnsonCook:
    """``(A + B strain^n) (1 + C ln max(rate / reference_rate, 1)) (1 - T*^m)``.

    The last factor only where ``m`` is given: ``T* = (T - reference_temperature) / (melting_temperature -
    reference_temperature)``, between 0 and 1, with the temperature of a point that keeps its heat,
    ``T = start_temperature + heat_fraction * work / heat_capacity``, with the plastic work at the start of
    the step.

    Source: Johnson and Cook, Proc. 7th Int. Symp. Ballistics (1983), 541-547.

    Args:
        A: Yield stress at the start [Pa], positive.
        B: Coefficient of hardening [Pa], at least 0.
        n: Exponent of hardening, positive.
        C: Coefficient of the rate, at least 0.
        reference_rate: Rate up to which C has no effect [1/s], positive.
        m: Exponent of the temperature, positive; without it the yield stress does not depend on it.
        reference_temperature: Temperature at and below which it has no effect [K].
        melting_temperature: Temperature at which the yield stress vanishes [K].
        start_temperature: Temperature at the start [K]; by default the reference temperature.
        heat_capacity: Per volume, density times specific heat [J/(m3 K)], positive.
        heat_fraction: Part of the plastic work that becomes heat, in [0, 1].

    Raises:
        ValueError: A constant outside its range; ``m`` without melting temperature or heat capacity.
    """

    A: float
    B: float
    n: float
    C: float = 0.0
    reference_rate: float = field(default=1.0, kw_only=True)
    m: float | None = field(default=None, kw_only=True)
    reference_temperature: float = field(default=293.15, kw_only=True)
    melting_temperature: float | None = field(default=None, kw_only=True)
    start_temperature: float | None = field(default=None, kw_only=True)
    heat_capacity: float | None = field(default=None, kw_only=True)
    heat_fraction: float = field(default=0.9, kw_only=True)

    def __post_init__(self) -> None:
        _positive("A", self.A)
        number("B", self.B, "be at least 0 [Pa]", least=0.0)
        number("n", self.n, "be positive", above=0.0)
        number("C", self.C, "be at least 0", least=0.0)
        number("reference_rate", self.reference_rate, "be positive [1/s]", above=0.0)
        number("heat_fraction", self.heat_fraction, "lie in [0, 1]", least=0.0, most=1.0)
        if self.m is not None:
            self._check_heat()

    def _check_heat(self) -> None:
        number("m", self.m, "be positive", above=0.0)
        for name in ("melting_temperature", "heat_capacity"):
            if getattr(self, name) is None:
                raise ValueError(f"with the exponent m of the temperature JohnsonCook needs {name}")
        number("heat_capacity", self.heat_capacity, "be positive [J/(m3 K)]", above=0.0)
        low = number("reference_temperature", self.reference_temperature, "be positive [K]", above=0.0)
        must = "be above the reference temperature [K]"
        high = number("melting_temperature", self.melting_temperature, must, above=low)
        start, must = self.start_temperature, "be positive and below the melting temperature [K]"
        if start is not None and number("start_temperature", start, must, above=0.0) >= high:
            raise ValueError(f"start_temperature must {must}, but is {start}")

    @property
    def least_slope(self) -> float:
        """Smallest slope over the plastic strain [Pa]."""
        return 0.0

    def temperature(self, work: Any) -> Any:
        """Temperature [K] after a plastic work per reference volume [J/m3]; numbers, arrays or UFL."""
        return self._start + work * self._heating

    @property
    def _start(self) -> float:
        return self.reference_temperature if self.start_temperature is None else self.start_temperature

    @property
    def _heating(self) -> float:
        """Temperature per plastic work [K m3/J]."""
        return self.heat_fraction / self.heat_capacity if self.heat_capacity else 0.0

    def flow_stress(self, strain: Any, rate: Any, work: Any) -> Any:
        """See :class:`HardeningLaw`."""
        A, B, n, C, slowest = constants_of(strain, (self.A, self.B, self.n, self.C, self.reference_rate))
        found = A + B * strain**n
        if self.C > 0:
            found *= 1 + C * ufl.ln(ufl.max_value(rate / slowest, 1.0))
        if self.m is None:
            return found
        assert self.melting_temperature is not None
        low, high = self.reference_temperature, self.melting_temperature
        # Constants all: metals of other temperatures share one kernel.
        values = (low, high - low, self.m, self._start, self._heating)
        low, range_, m, start, heating = constants_of(strain, values)
        own = type(self).temperature is not JohnsonCook.temperature  # of a subclass
        reached = self.temperature(work) if own else start + work * heating
        ratio = ufl.min_value(ufl.max_value((reached - low) / range_, 0.0), 1.0)
        return found * (1 - ratio**m)


def _positive(name: str, value: float) -> None:
    number(name, value, "be positive [Pa]", above=0.0)
