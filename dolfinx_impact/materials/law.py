"""Protocol of elastic laws, and a base class of laws with a stored energy."""

from __future__ import annotations

from typing import Any, Protocol

import ufl
from dolfinx import fem

#: States of stress that a law can be reduced to.
STATES = ("3d", "plane-strain", "axisymmetric", "plane-stress", "line")
#: Number of stress-free directions by state; these are the last ones.
THIN = {"plane-stress": 1, "line": 2}


class Law(Protocol):
    """An elastic law: one of this package, or any class with these members.

    A class may have more of them, as :class:`Energy` does: ``poisson_ratio``, and ``splits`` with
    ``volumetric_energy(J)`` and ``isochoric_energy(F)``.
    """

    @property
    def linear(self) -> bool:
        """Whether the stress is linear in the displacement gradient."""

    @property
    def has_energy(self) -> bool:
        """Whether the law has a stored energy."""

    @property
    def wave_modulus(self) -> float | None:
        """P-wave modulus at rest [Pa], ``lambda + 2 mu`` in 3D; None where it is not defined."""

    def energy_density(self, F: Any) -> Any:
        """Stored energy per reference volume [J/m3] at the 3x3 ``F``, a UFL scalar."""

    def stress(self, F: Any) -> Any:
        """First Piola-Kirchhoff stress [Pa] at the 3x3 ``F``, a 3x3 UFL tensor."""

    def reduced(self, state: str) -> Law:
        """The law for an ``F`` embedded in 3x3.

        Raises:
            ValueError: A ``state`` that is not one of ``STATES``, or that the law does not support.
        """


class Energy:
    """Base class of laws by their energy ``_density(F, *_values)``, with the material constants ``_values``.

    ``_lame`` holds lambda and mu at rest [Pa], None where not isotropic or not known. ``_no_thin`` is the
    condition on the constants that the reduction to plane stress or a line violates, empty for none.

    A law that ``splits`` is ``W(F) = U(det F) + W_iso(F)``, where W_iso depends on ``(det F)^(-1/3) F`` only;
    it defines ``_volumetric(J, *_values)`` and ``_isochoric(F, *_values)``. Of a linear law these have the
    same second derivatives at rest.
    """

    linear: bool = False
    has_energy = True
    splits: bool = False
    _lame: tuple[float, float] | None = None
    _no_thin = ""

    @property
    def _values(self) -> tuple[float, ...]:
        return self._lame or ()

    @property
    def wave_modulus(self) -> float | None:
        """P-wave modulus ``lambda + 2 mu`` at rest [Pa]; None where it is not defined."""
        return None if self._lame is None else self._lame[0] + 2 * self._lame[1]

    @property
    def poisson_ratio(self) -> float | None:
        """Poisson's ratio at rest, ``lambda / 2 (lambda + mu)``; None where it is not defined."""
        return None if self._lame is None else self._lame[0] / (2 * sum(self._lame))

    def _density(self, F: Any, *constants: Any) -> Any:
        return self._volumetric(ufl.det(F), *constants) + self._isochoric(F, *constants)

    def _volumetric(self, J: Any, *constants: Any) -> Any:
        raise NotImplementedError

    def _isochoric(self, F: Any, *constants: Any) -> Any:
        raise NotImplementedError

    def volumetric_energy(self, J: Any) -> Any:
        """Volumetric part ``U(J)`` of the stored energy [J/m3], a UFL scalar, of a law that ``splits``."""
        return self._volumetric(J, *constants_of(J, self._values))

    def isochoric_energy(self, F: Any) -> Any:
        """Isochoric part of the stored energy [J/m3] at the 3x3 ``F``, of a law that ``splits``."""
        return self._isochoric(F, *constants_of(F, self._values))

    def energy_density(self, F: Any) -> Any:
        """Stored energy per reference volume ``W(F)`` [J/m3], a UFL scalar."""
        return self._density(F, *constants_of(F, self._values))

    def stress(self, F: Any) -> Any:
        """First Piola-Kirchhoff stress ``P = dW/dF`` [Pa], a 3x3 UFL tensor."""
        F = ufl.variable(F)
        return ufl.diff(self.energy_density(F), F)


def constants_of(F: Any, values: tuple[float, ...]) -> list[Any]:
    """The values as ``fem.Constant`` on the mesh of ``F``."""
    domain = ufl.domain.extract_unique_domain(F)
    return [fem.Constant(domain, float(value)) for value in values]


def reduced_moduli(lame: float, mu: float, state: str) -> tuple[float, float]:
    """Lambda and mu [Pa] of the quadratic energy of an embedded strain, free directions eliminated."""
    if state == "plane-stress":
        return 2 * lame * mu / (lame + 2 * mu), mu
    if state == "line":
        return 0.0, mu * (3 * lame + 2 * mu) / (2 * (lame + mu))
    return lame, mu


def checked_state(state: str) -> str:
    """The state; a ValueError unless it is one of ``STATES``."""
    if state not in STATES:
        raise ValueError(f"unknown state {state!r}; the states are {', '.join(map(repr, STATES))}")
    return state
