"""Laws in plane stress and uniaxial stress: stretches of stress-free directions minimise the energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ufl

from .law import THIN, Energy, Law, checked_state, constants_of, reduced_moduli

#: Newton iterations for the stretch of the stress-free directions of a nonlinear law,
_STEPS = 6
#: and the largest correction of its logarithm by the last one: the error left is of the order of its square.
_LAST = 3e-3
#: A part of a logarithm of about 1 that is below its rounding.
_NOTHING = 1e-30


@dataclass(frozen=True)
class Thin(Energy):
    """``W`` at the stretch of the free directions that minimises ``W``: no stress acts along them.

    Newton's method is unrolled in the UFL form: a fixed number of iterations for the logarithm of the
    stretch, which starts from that of the linearised law. Where the last one still corrects it by more than
    0.003, as under large strains of laws that stiffen fast, energy and stress are NaN. A linear law needs one
    iteration for the stretch.

    Args:
        law: The law in 3D.
        free: Number of stress-free directions, which are the last ones.
    """

    law: Energy
    free: int

    def reduced(self, state: str) -> Law:
        """The law itself, which is reduced already."""
        return self

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Whether the three-dimensional law is linear."""
        return self.law.linear

    @property
    def _values(self) -> tuple[float, ...]:
        return self.law._values

    @property
    def _lame(self) -> tuple[float, float] | None:  # type: ignore[override]
        lame = self.law._lame
        return lame and reduced_moduli(*lame, "plane-stress" if self.free == 1 else "line")

    def _density(self, F: Any, *constants: Any) -> Any:
        return self.law._density(self._filled(F, constants), *constants)

    def stress(self, F: Any) -> Any:
        """First Piola-Kirchhoff stress of the deformation gradient of this dimension [Pa]."""
        # dW/dF at fixed free stretch: W is stationary with respect to it.
        constants = constants_of(F, self._values)
        full = ufl.variable(self._filled(F, constants))
        return ufl.diff(self.law._density(full, *constants), full)

    def _filled(self, F: Any, constants: Any) -> Any:
        """``F`` completed by the free stretches that minimise ``W``, a 3x3 UFL tensor."""
        embedded = 3 - self.free
        if self.linear:
            return self._with(F, self._newton_step(lambda y: self._with(F, y), 1.0, constants))
        # Ratio, at rest, of the logarithm of the free stretch to that of the product of the others.
        a, y = (ufl.variable(zero) for zero in constants_of(F, (0.0, 0.0)))
        rest = [ufl.exp(a)] + [1.0] * (embedded - 1) + [ufl.exp(y)] * self.free
        slope = ufl.diff(self.law._density(_diagonal(rest), *constants), y)
        log = ufl.ln(F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0] if embedded == 2 else F[0, 0])
        log *= -ufl.diff(slope, a) / ufl.diff(slope, y)
        last = log
        for _ in range(_STEPS):
            last, log = log, self._newton_step(lambda y: self._with(F, ufl.exp(y)), log, constants)
        # The root is NaN where Newton's method has not converged; a condition would cost derivatives more.
        return self._with(F, ufl.exp(log + _NOTHING * ufl.sqrt(_LAST**2 - (log - last) ** 2)))

    def _newton_step(self, full: Callable[[Any], Any], start: Any, constants: Any) -> Any:
        y = ufl.variable(ufl.as_ufl(start))
        slope = ufl.diff(self.law._density(full(y), *constants), y)
        return y - slope / ufl.diff(slope, y)

    def _with(self, F: Any, stretch: Any) -> Any:
        """``F`` with ``stretch`` on the diagonal of the free directions."""
        rows = _diagonal([1.0] * (3 - self.free) + [stretch] * self.free)
        embedded = range(3 - self.free)
        return ufl.as_tensor(
            [[F[i, j] if i in embedded and j in embedded else rows[i, j] for j in range(3)] for i in range(3)]
        )


def _diagonal(entries: list[Any]) -> Any:
    return ufl.as_tensor([[entries[i] if i == j else 0.0 for j in range(3)] for i in range(3)])


class Reducible(Energy):
    """A law by its energy, which gives the stretches of stress-free directions in reduced states."""

    def reduced(self, state: str) -> Law:
        """The law for an ``F`` embedded in 3x3; ``"line"`` is uniaxial stress.

        In plane stress and on a line the stretches of the remaining directions are those without stress; the
        material is assumed symmetric about the plane or the line. Forms with a nonlinear law in these states
        need an explicit quadrature degree: the degree that UFL estimates grows with every unrolled Newton
        iteration, and compilation may not finish.

        Raises:
            ValueError: An unknown state, or one that the constants of the law do not allow.
        """
        free = THIN.get(checked_state(state))
        if free and self._no_thin:
            raise ValueError(f"hypothesis {state!r} needs {self._no_thin}, but the law is {self!r}")
        return Thin(self, free) if free else self
