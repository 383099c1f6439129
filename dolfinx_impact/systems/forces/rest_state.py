"""Forces and energy at rest of laws that are linear: of a thermal strain, of an initial stress."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import ufl
from dolfinx import fem

from ... import parallel
from ..._types import FloatArray
from ...materials import LinearElastic, kinematics
from .element_forms import ElementForm, compile_form

#: Relative difference from forces ``f_0 + K u`` up to which a law is linear.
_LINEAR = 1e-8
#: Part of the forces of a tenth of strain below which those at rest are round-off.
_ROUNDING = 1e-13
_HUGE = 1e300


class RestState(NamedTuple):
    """``F_int = f_0 + K u`` and ``W = W_0 + f_0.u + u.K u / 2``.

    Attributes:
        forces: f_0, shape (owned,) [N].
        energy: This rank's part of W_0 [J].
    """

    forces: FloatArray
    energy: float

    def stored(self, u: FloatArray) -> float:
        """This rank's ``W_0 + f_0.u`` [J]."""
        return self.energy + float(self.forces @ u[: self.forces.size])


def own_linear(materials: Any) -> list[Any]:
    """The materials with linear laws that may have a stress at rest, or be linear in name only."""
    return [m for m in materials if m.law.linear and type(m.law) is not LinearElastic]


def internal_form(body: Any, materials: Any) -> tuple[Any, Any]:
    """Linear form of the internal forces of materials, and their energy, None where a law has none."""
    F = kinematics.deformation_gradient(body.displacement, body.hypothesis)
    if all(getattr(m.law, "has_energy", True) for m in materials):
        energy = sum(body._weight * m.law.energy_density(F) * m.dx for m in materials)
        return ufl.derivative(energy, body.displacement, body._w), energy
    change = ufl.derivative(F, body.displacement, body._w)
    return sum(body._weight * ufl.inner(m.law.stress(F), change) * m.dx for m in materials), None


def rest_state(body: Any, form: Any, energy: Any) -> RestState | None:
    """Forces and energy at rest; None where both are zero. Collective.

    Args:
        body: The body.
        form, energy: See :func:`internal_form`.

    Raises:
        ValueError: Forces that are not ``f_0 + K u``.
    """
    forces, u = ElementForm(form, body.space, [body.displacement]), _waves(body)
    at_rest = forces.vector(np.zeros(body.size)).copy()
    one, two, back = (forces.vector(part * u) - at_rest for part in (1.0, 2.0, -1.0))
    apart = np.abs(np.append(two - 2 * one, back + one))
    size, first, difference = (
        parallel.largest(body.comm, np.nan_to_num(np.abs(each), nan=np.inf)) for each in (one, at_rest, apart)
    )
    if not difference <= _LINEAR * min(size, _HUGE) + 10 * _ROUNDING * min(first, _HUGE):
        laws = ", ".join(sorted({repr(m.law) for m in own_linear(body.materials)}))
        raise ValueError(
            f"a law with linear=True has forces f_0 + K u, but those of {laws} are not linear in u, at "
            "strains of about 0.1: leave linear=True out"
        )
    stored = 0.0 if energy is None else float(fem.assemble_scalar(compile_form(energy)))
    work = abs(parallel.total(body.comm, float(one @ u[: body.owned])))
    if first <= _ROUNDING * size and abs(parallel.total(body.comm, stored)) <= _ROUNDING * work:
        return None
    return RestState(at_rest, stored)


def _waves(body: Any) -> FloatArray:
    """A smooth field with strains of about 0.1, the same on any number of ranks, shape (size,) [m]."""
    waves = np.sin(body.x @ np.array([[7.0, 3.0, 4.0], [5.0, 9.0, 2.0], [4.0, 8.0, 6.0]]) / body.length)
    field: FloatArray = 0.01 * body.length * waves[:, : body.block].ravel()
    return field
