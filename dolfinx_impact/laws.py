"""Elastic laws as energies in UFL."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import ufl
from dolfinx import fem


class Law(Protocol):
    """An elastic law.

    Attributes:
        linear: Whether the stress is linear in the displacement gradient.
    """

    linear: bool

    def energy_density(self, u: Any) -> Any:
        """Stored energy per volume [J/m3] of the displacement ``u`` [m], a UFL scalar."""


@dataclass(frozen=True)
class LinearElastic:
    """Small strains, isotropic: ``W = mu eps:eps + lambda (tr eps)^2 / 2``.

    On a line the strain is ``du/dx`` and ``W = E eps^2 / 2``; on a plane the state is one
    of plane strain.

    Args:
        E: Young's modulus [Pa], positive.
        nu: Poisson's ratio, in (-1, 0.5).

    Raises:
        ValueError: When a constant is outside its range.
    """

    E: float
    nu: float = 0.0
    linear = True

    def __post_init__(self) -> None:
        if not (self.E > 0 and math.isfinite(self.E)):
            raise ValueError(f"Young's modulus E must be positive [Pa], but is {self.E}")
        if not -1 < self.nu < 0.5:
            raise ValueError(f"Poisson's ratio nu must lie in (-1, 0.5), but is {self.nu}")

    def energy_density(self, u: Any) -> Any:
        """``W(u)`` [J/m3] as a UFL expression."""
        strain, domain = ufl.sym(ufl.grad(u)), ufl.domain.extract_unique_domain(u)
        # Constants of the form, not numbers in it: another material compiles nothing.
        E = fem.Constant(domain, float(self.E))
        if strain.ufl_shape == (1, 1):
            return E * strain[0, 0] ** 2 / 2
        mu = E / (2 * (1 + fem.Constant(domain, float(self.nu))))
        lame = fem.Constant(domain, self.E * self.nu / ((1 + self.nu) * (1 - 2 * self.nu)))
        return mu * ufl.inner(strain, strain) + lame * ufl.tr(strain) ** 2 / 2
