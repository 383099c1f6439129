"""Laws of thin bodies: the stretch of the free directions follows from the energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import ufl

from .law import THIN, Energy, Law, checked_state, constants_of, reduced_moduli

#: Newton steps for the stretch of the thickness in a nonlinear law.
_STEPS = 6


@dataclass(frozen=True)
class Thin(Energy):
    """``W`` at the stretch of the free directions at which ``W`` is least (no stress there).

    Newton's method is written out in the form: on the logarithm of the stretch, from that
    of the linear law, a fixed number of steps; a linear law needs one, on the stretch.

    Args:
        law: The law in 3D.
        free: How many directions, the last ones, are free to stretch.
    """

    law: Energy
    free: int

    def reduced(self, state: str) -> Law:
        """Itself: the state is chosen."""
        return self

    @property
    def linear(self) -> bool:  # type: ignore[override]
        return self.law.linear

    @property
    def _values(self) -> tuple[float, ...]:
        return self.law._values

    @property
    def _lame(self) -> tuple[float, float] | None:  # type: ignore[override]
        known = self.law._lame
        return known and reduced_moduli(*known, "plane-stress" if self.free == 1 else "line")

    def _density(self, F: Any, *constants: Any) -> Any:
        return self.law._density(self._filled(F, constants), *constants)

    def stress(self, F: Any) -> Any:
        # No derivative of the free stretch: W does not change with it.
        constants = constants_of(F, self._values)
        filled = ufl.variable(self._filled(F, constants))
        return ufl.diff(self.law._density(filled, *constants), filled)

    def _filled(self, F: Any, constants: Any) -> Any:
        """``F`` with the free stretches that belong to it."""
        held = 3 - self.free
        if self.linear:
            return self._with(F, self._step(lambda y: self._with(F, y), 1.0, constants))
        # At rest, the ratio of the logarithms of the free stretch and of the held ones' product.
        a, y = (ufl.variable(zero) for zero in constants_of(F, (0.0, 0.0)))
        rest = [ufl.exp(a)] + [1.0] * (held - 1) + [ufl.exp(y)] * self.free
        slope = ufl.diff(self.law._density(_diagonal(rest), *constants), y)
        log = ufl.ln(F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0] if held == 2 else F[0, 0])
        log *= -ufl.diff(slope, a) / ufl.diff(slope, y)
        for _ in range(_STEPS):
            log = self._step(lambda y: self._with(F, ufl.exp(y)), log, constants)
        return self._with(F, ufl.exp(log))

    def _step(self, filled: Callable[[Any], Any], at: Any, constants: Any) -> Any:
        y = ufl.variable(ufl.as_ufl(at))
        slope = ufl.diff(self.law._density(filled(y), *constants), y)
        return y - slope / ufl.diff(slope, y)

    def _with(self, F: Any, stretch: Any) -> Any:
        rows = _diagonal([1.0] * (3 - self.free) + [stretch] * self.free)
        held = range(3 - self.free)
        return ufl.as_tensor(
            [[F[i, j] if i in held and j in held else rows[i, j] for j in range(3)] for i in range(3)]
        )


def _diagonal(entries: list[Any]) -> Any:
    return ufl.as_tensor([[entries[i] if i == j else 0.0 for j in range(3)] for i in range(3)])


class Reducible(Energy):
    """A law whose stretch of the thickness follows from its energy, where no stress acts there."""

    def reduced(self, state: str) -> Law:
        """The law for an ``F`` embedded in 3x3; ``"line"`` is uniaxial stress.

        In plane stress and on a line the stretch of the thickness is that at which no stress
        acts there; the material is taken as symmetric about the plane, and about the line.
        Give forms with a nonlinear one their quadrature degree: the one that UFL estimates
        grows with every Newton step, and the form may never compile.

        Raises:
            ValueError: An unknown state, or one that these constants do not allow.
        """
        free = THIN.get(checked_state(state))
        if free and self._no_thin:
            raise ValueError(f"state {state!r} needs {self._no_thin}, but the law is {self!r}")
        return Thin(self, free) if free else self
