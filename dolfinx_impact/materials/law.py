"""What every elastic law offers."""

from __future__ import annotations

from typing import Any, Protocol

import ufl
from dolfinx import fem

#: States of stress that a law can be reduced to.
STATES = ("3d", "plane-strain", "axisymmetric", "plane-stress", "line")
#: How many directions, the last ones, are free of stress.
THIN = {"plane-stress": 1, "line": 2}


class Law(Protocol):
    """An elastic law: :class:`LinearElastic` and its like, or one's own with these members."""

    @property
    def linear(self) -> bool:
        """Whether the stress is linear in the displacement gradient."""

    @property
    def has_energy(self) -> bool:
        """Whether the stored energy is known."""

    @property
    def wave_modulus(self) -> float | None:
        """Stiffness of longitudinal waves at rest [Pa], ``lambda + 2 mu`` in 3D; None: not known."""

    def energy_density(self, F: Any) -> Any:
        """Stored energy per reference volume [J/m3] at the 3x3 ``F``, a UFL scalar."""

    def stress(self, F: Any) -> Any:
        """First Piola-Kirchhoff stress [Pa] at the 3x3 ``F``, UFL, 3x3."""

    def reduced(self, state: str) -> Law:
        """The law for an ``F`` embedded in 3x3; ``state`` is one of ``STATES``, others a ValueError."""


class Energy:
    """A law by its energy ``_density`` from ``F`` and the constants ``_values``.

    Known isotropic ones give their ``_lame``: lambda and mu at rest [Pa]. ``_no_thin`` says
    why, if at all, the stretch of a thickness cannot be found.
    """

    linear: bool = False
    has_energy = True
    _lame: tuple[float, float] | None = None
    _no_thin = ""

    @property
    def _values(self) -> tuple[float, ...]:
        return self._lame or ()

    @property
    def wave_modulus(self) -> float | None:
        """``lambda + 2 mu`` at rest [Pa]; None where it is not known."""
        return None if self._lame is None else self._lame[0] + 2 * self._lame[1]

    def _density(self, F: Any, *constants: Any) -> Any:
        raise NotImplementedError

    def energy_density(self, F: Any) -> Any:
        """Stored energy per reference volume ``W(F)`` [J/m3], a UFL scalar."""
        return self._density(F, *constants_of(F, self._values))

    def stress(self, F: Any) -> Any:
        """First Piola-Kirchhoff stress ``P = dW/dF`` [Pa], UFL, 3x3."""
        F = ufl.variable(F)
        return ufl.diff(self.energy_density(F), F)


def constants_of(F: Any, values: tuple[float, ...]) -> list[Any]:
    """The values as constants of the mesh that ``F`` lives on."""
    domain = ufl.domain.extract_unique_domain(F)
    return [fem.Constant(domain, float(value)) for value in values]


def reduced_moduli(lame: float, mu: float, state: str) -> tuple[float, float]:
    """lambda and mu [Pa] of the quadratic energy that holds for an embedded strain."""
    if state == "plane-stress":
        return 2 * lame * mu / (lame + 2 * mu), mu
    if state == "line":
        return 0.0, mu * (3 * lame + 2 * mu) / (2 * (lame + mu))
    return lame, mu


def checked_state(state: str) -> str:
    """The state; a ValueError for an unknown one."""
    if state not in STATES:
        raise ValueError(f"unknown state {state!r}; a law knows {', '.join(map(repr, STATES))}")
    return state
