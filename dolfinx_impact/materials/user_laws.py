"""User-defined laws by a stored energy or by a stress."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ufl
from ufl.algorithms import extract_coefficients, extract_type

from .law import THIN, Law, checked_state
from .reduced_dimension import Reducible


@dataclass(frozen=True, repr=False)
class EnergyLaw(Reducible):
    """A user-defined stored energy, isotropic or not.

    Args:
        function: ``function(F)`` returns the energy per reference volume [J/m3], a UFL scalar, of the 3x3
            deformation gradient. It may contain ``fem.Function``s and ``fem.Constant``s on the mesh of the
            body (a graded modulus, the direction of fibres, damage): they are read at every evaluation, with
            the ghost values they have (call ``f.x.scatter_forward()`` after a change of owned values).
            Functions at quadrature points use the rule of the forces: for elements of degree p its degree is
            2 p - 2 on simplices and 2 p on quadrilaterals, hexahedra and bodies of revolution, but GLL of
            degree 2 p - 1 on intervals, quadrilaterals and hexahedra with p >= 2 that are not axisymmetric.
        linear: Whether the energy is quadratic in the displacement gradient, with any constant and linear
            terms (a thermal strain, an initial stress). The stiffness and forces at rest are then assembled
            once, with the values that functions and constants have at that time; ``body.reassemble()`` takes
            others. What is not quadratic is refused.
        volumetric: ``volumetric(J)``, an energy of ``J = det F`` to be added to that of ``function``, which
            must then depend on ``J^(-1/3) F`` only: what ``Solid(locking="nodal-pressure")`` needs.

    Raises:
        ValueError: When applied: the function fails, returns something else, or contains functions on
            another mesh.
    """

    function: Callable[[Any], Any]
    linear: bool = field(default=False, kw_only=True)
    volumetric: Callable[[Any], Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_callable(self, self.function, "the deformation gradient")
        if self.splits:
            _check_callable(self, self.volumetric, "det F")

    def __repr__(self) -> str:
        return f"EnergyLaw({_name(self.function)})"

    @property
    def splits(self) -> bool:  # type: ignore[override]
        """Whether a volumetric energy is given besides."""
        return self.volumetric is not None

    def _density(self, F: Any, *constants: Any) -> Any:
        if not self.splits:
            return self._isochoric(F)
        # The volume ratio of a linear law is that of small strains.
        volumetric = self._volumetric(ufl.tr(F) - 2 if self.linear else ufl.det(F), *constants)
        return volumetric + self._isochoric(F)

    def _volumetric(self, J: Any, *constants: Any) -> Any:
        assert self.volumetric is not None
        return _applied(self.volumetric, J, (), "the energy per volume, a UFL scalar", of_volume=True)

    def _isochoric(self, F: Any, *constants: Any) -> Any:
        return _applied(self.function, F, (), "the energy per volume, a UFL scalar")


@dataclass(frozen=True, repr=False)
class StressLaw:
    """A user-defined stress without a stored energy.

    Args:
        function: ``function(F)`` returns the first Piola-Kirchhoff stress [Pa], a 3x3 UFL tensor, of the 3x3
            deformation gradient; functions and constants in it as in :class:`EnergyLaw`.
        linear: Whether the stress is linear in the displacement gradient; see :class:`EnergyLaw`.

    Raises:
        ValueError: When applied: the function fails, returns something else, or contains functions on
            another mesh.
    """

    function: Callable[[Any], Any]
    linear: bool = field(default=False, kw_only=True)
    has_energy = False
    wave_modulus = None

    def __post_init__(self) -> None:
        _check_callable(self, self.function, "the deformation gradient")

    def __repr__(self) -> str:
        return f"StressLaw({_name(self.function)})"

    def energy_density(self, F: Any) -> Any:
        """Raises a ValueError: there is no stored energy."""
        raise ValueError("a StressLaw has no stored energy: use EnergyLaw where it is needed")

    def stress(self, F: Any) -> Any:
        """First Piola-Kirchhoff stress [Pa], a 3x3 UFL tensor."""
        return _applied(self.function, F, (3, 3), "the first Piola-Kirchhoff stress, a 3x3 UFL tensor")

    def reduced(self, state: str) -> Law:
        """The law itself in 3D, plane strain and axisymmetry; a ValueError in other states."""
        if checked_state(state) in THIN:
            raise ValueError(
                f"a StressLaw cannot be used with the hypothesis {state!r}: use EnergyLaw, whose thickness "
                "follows from its energy, or a plane-strain, axisymmetric or 3D body"
            )
        return self


def _applied(
    function: Callable[[Any], Any], F: Any, shape: tuple[int, ...], needed: str, of_volume: bool = False
) -> Any:
    call = f"{_name(function)}({'J' if of_volume else 'F'})"
    given = "J = det F" if of_volume else "the 3x3 deformation gradient F"
    try:
        result = function(F)
    except Exception as error:
        raise ValueError(
            f"{call} failed with {type(error).__name__}: {error}; it must give {needed}, from {given}"
        ) from error
    if not isinstance(result, ufl.core.expr.Expr):
        raise ValueError(f"{call} must give {needed}, but gave {type(result).__name__} {result!r}")
    if result.ufl_shape != shape or result.ufl_free_indices:
        free = " with free indices" if result.ufl_free_indices else ""
        raise ValueError(
            f"{call} must give {needed}, but gave an expression of shape {result.ufl_shape}{free}"
        )
    if isinstance(result, ufl.constantvalue.Zero) or not all(
        math.isfinite(each) for each in map(float, extract_type(result, ufl.constantvalue.ScalarValue))
    ):
        raise ValueError(f"{call} must give {needed}, but is zero or has constants that are not finite")
    mesh = ufl.domain.extract_unique_domain(F)
    if any(ufl.domain.extract_unique_domain(each) != mesh for each in extract_coefficients(result)):
        raise ValueError(f"a function in {call} is on another mesh than the body: define it on that one")
    return result


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", repr(function)))


def _check_callable(law: EnergyLaw | StressLaw, function: Any, of: str) -> None:
    if not callable(function):
        raise ValueError(f"{type(law).__name__} needs a function of {of}, but got {function!r}")
