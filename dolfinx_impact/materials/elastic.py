"""Isotropic elastic laws: linear, St. Venant-Kirchhoff, neo-Hookean, Mooney-Rivlin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ufl

from ..arguments import number
from .law import THIN, Law, checked_state, reduced_moduli
from .reduced_dimension import Reducible


@dataclass(frozen=True)
class _Isotropic(Reducible):
    E: float
    nu: float

    def __post_init__(self) -> None:
        if not number("Young's modulus E", self.E) > 0:
            raise ValueError(f"Young's modulus E must be positive [Pa], but is {self.E}")
        if not -1 < number("Poisson's ratio nu", self.nu) < 0.5:
            raise ValueError(f"Poisson's ratio nu must lie in (-1, 0.5), but is {self.nu}")

    @property
    def _lame(self) -> tuple[float, float]:  # type: ignore[override]
        E, nu = self.E, self.nu
        return E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))


@dataclass(frozen=True)
class _Quadratic(_Isotropic):
    """Energy quadratic in a strain: the strains of stress-free directions are eliminated in closed form."""

    _state: str = field(default="3d", init=False, repr=False)

    @property
    def _lame(self) -> tuple[float, float]:  # type: ignore[override]
        return reduced_moduli(*super()._lame, self._state)

    def _strain(self, F: Any) -> Any:
        raise NotImplementedError

    def _density(self, F: Any, *constants: Any) -> Any:
        (lame, mu), strain = constants, self._strain(F)
        return mu * ufl.inner(strain, strain) + lame * ufl.tr(strain) ** 2 / 2

    def reduced(self, state: str) -> Law:
        """The law for an ``F`` embedded in 3x3; ``"line"`` is uniaxial stress."""
        law = type(self)(self.E, self.nu)
        if checked_state(state) in THIN:
            object.__setattr__(law, "_state", state)
        return law


@dataclass(frozen=True)
class LinearElastic(_Quadratic):
    """Small strains, isotropic: ``W = mu eps:eps + lambda (tr eps)^2 / 2``, ``eps = sym(F - I)``.

    Plane stress replaces lambda by ``lambda* = 2 lambda mu / (lambda + 2 mu)``; uniaxial stress on a line has
    ``W = E eps^2 / 2``, independent of nu.

    Args:
        E: Young's modulus [Pa], positive.
        nu: Poisson's ratio, in (-1, 0.5); 0 by default.

    Raises:
        ValueError: A constant outside its range.
    """

    nu: float = 0.0
    linear = splits = True

    def _strain(self, F: Any) -> Any:
        return ufl.sym(F - ufl.Identity(3))

    def _volumetric(self, J: Any, *constants: Any) -> Any:
        lame, mu = constants
        return (lame / 2 + mu / 3) * (J - 1) ** 2

    def _isochoric(self, F: Any, *constants: Any) -> Any:
        strain = ufl.dev(self._strain(F))
        return constants[1] * ufl.inner(strain, strain)


@dataclass(frozen=True)
class StVenantKirchhoff(_Quadratic):
    """Large rotations, moderate strains: :class:`LinearElastic` in ``(F^T F - I) / 2``.

    It softens in compression: the nominal stress of a bar tends to zero as its length does.

    Source: Ogden, Non-linear Elastic Deformations (1984); Bonet and Wood, Nonlinear Continuum Mechanics for
    Finite Element Analysis (2008), doi:10.1017/CBO9780511755446.

    Args:
        E: Young's modulus at rest [Pa], positive.
        nu: Poisson's ratio at rest, in (-1, 0.5).

    Raises:
        ValueError: A constant outside its range.
    """

    def _strain(self, F: Any) -> Any:
        return (F.T * F - ufl.Identity(3)) / 2


@dataclass(frozen=True)
class NeoHookean(_Isotropic):
    """Large strains: ``W = mu (tr C - 3) / 2 - mu ln J + lambda (ln J)^2 / 2``, ``C = F^T F``.

    With ``isochoric`` it is ``W = mu (J^(-2/3) tr C - 3) / 2 + kappa (ln J)^2 / 2``, where
    ``kappa = lambda + 2 mu / 3``: shear causes no pressure, as ``Solid(locking="nodal-pressure")`` needs.

    Source: Bonet and Wood, Nonlinear Continuum Mechanics for Finite Element Analysis (2008),
    doi:10.1017/CBO9780511755446.

    Args:
        E: Young's modulus at rest [Pa], positive.
        nu: Poisson's ratio at rest, in (-1, 0.5); at least 0 in plane stress and on a line.
        isochoric: Whether the energy is a volumetric one plus one of the isochoric deformation.

    Raises:
        ValueError: A constant outside its range.
    """

    isochoric: bool = field(default=False, kw_only=True)

    @property
    def splits(self) -> bool:  # type: ignore[override]
        """Whether the energy is a volumetric one plus one of the isochoric deformation."""
        return self.isochoric

    def _volumetric(self, J: Any, *constants: Any) -> Any:
        lame, mu = constants
        return (lame / 2 + mu / 3) * ufl.ln(J) ** 2

    def _isochoric(self, F: Any, *constants: Any) -> Any:
        return constants[1] * (ufl.det(F) ** (-2 / 3) * ufl.inner(F, F) - 3) / 2

    def _density(self, F: Any, *constants: Any) -> Any:
        if self.isochoric:
            return super()._density(F, *constants)
        (lame, mu), log = constants, ufl.ln(ufl.det(F))
        return mu * (ufl.inner(F, F) - 3) / 2 - mu * log + lame * log**2 / 2

    @property
    def _no_thin(self) -> str:  # type: ignore[override]
        return "nu >= 0" if self.nu < 0 else ""


@dataclass(frozen=True)
class MooneyRivlin(Reducible):
    """Rubber: ``W = c10 (J^(-2/3) I1 - 3) + c01 (J^(-4/3) I2 - 3) + bulk (J - 1)^2 / 2``.

    ``I1 = tr C`` and ``I2 = ((tr C)^2 - tr C^2) / 2``; stress-free at rest, where the shear modulus is
    ``2 (c10 + c01)``.

    Source: Mooney, J. Appl. Phys. 11 (1940), doi:10.1063/1.1712836; Rivlin, Phil. Trans. R. Soc. A 241
    (1948), doi:10.1098/rsta.1948.0024; isochoric-volumetric split as in Ogden, Non-linear Elastic
    Deformations (1984).

    Args:
        c10: Coefficient of the first invariant [Pa].
        c01: Coefficient of the second invariant [Pa]; ``c10 + c01`` is positive. In plane stress and on a
            line both are at least 0.
        bulk: Bulk modulus at rest [Pa], positive.

    Raises:
        ValueError: A constant outside its range.
    """

    c10: float
    c01: float
    bulk: float
    splits = True

    def __post_init__(self) -> None:
        c10, c01 = number("c10", self.c10), number("c01", self.c01)
        if not c10 + c01 > 0:
            raise ValueError(f"c10 + c01 must be positive [Pa], but is {c10} + {c01}")
        if not number("bulk", self.bulk) > 0:
            raise ValueError(f"the bulk modulus must be positive [Pa], but is {self.bulk}")

    @property
    def _lame(self) -> tuple[float, float]:  # type: ignore[override]
        mu = 2.0 * (self.c10 + self.c01)
        return self.bulk - 2 * mu / 3, mu

    @property
    def _values(self) -> tuple[float, ...]:
        return self.c10, self.c01, self.bulk

    def _volumetric(self, J: Any, *constants: Any) -> Any:
        return constants[2] * (J - 1) ** 2 / 2

    def _isochoric(self, F: Any, *constants: Any) -> Any:
        (c10, c01, _), C, J = constants, F.T * F, ufl.det(F)
        first = ufl.tr(C)
        second = (first**2 - ufl.inner(C, C)) / 2
        return c10 * (J ** (-2 / 3) * first - 3) + c01 * (J ** (-4 / 3) * second - 3)

    @property
    def _no_thin(self) -> str:  # type: ignore[override]
        return "c10 >= 0 and c01 >= 0" if min(self.c10, self.c01) < 0 else ""
