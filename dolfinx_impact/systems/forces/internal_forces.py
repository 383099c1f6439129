"""Internal forces of a body in three kinds: stored stiffness, assembled forms, element kernels."""

from __future__ import annotations

import functools
from typing import Any, Protocol

import numpy as np
import ufl
from dolfinx import fem

from ..._types import FloatArray
from ...algebra import kernels
from .element_forms import ElementForm
from .stiffness import StoredStiffness


class InternalForces(Protocol):
    """Internal forces of a body: values on the owned entries of arrays of shape (size,)."""

    @property
    def dissipated(self) -> float:
        """Work that the material of this rank dissipated up to the last forces [J]. Collective."""

    def subtract(self, u: FloatArray, out: FloatArray) -> None:
        """``out -= F_int(u)`` [N]. Collective."""

    def subtract_tangent(self, u: FloatArray, x: FloatArray, out: FloatArray) -> None:
        """``out -= dF_int/du(u) x`` [N]. Collective."""

    def energy(self, u: FloatArray) -> float:
        """This rank's stored energy [J]; 0 where the law has none. Collective."""

    def coefficients(self) -> tuple[FloatArray, ...]:
        """Values that are read at every evaluation: all constants, and this rank's of each function."""

    def compiled(self) -> StoredStiffness:
        """The stored stiffness that compiled loops multiply with.

        Raises:
            NotCompiled: Forces of another kind.
        """


class StoredForces:
    """``F_int = K u`` and ``W = u.K u / 2`` with the stored stiffness."""

    dissipated = 0.0

    def __init__(self, stiffness: StoredStiffness, size: int) -> None:
        self._stiffness, self._product = stiffness, np.zeros(size)

    def subtract(self, u: FloatArray, out: FloatArray) -> None:
        """``out -= K u`` [N]. Collective."""
        self._stiffness.subtract_product(u, out)

    def subtract_tangent(self, u: FloatArray, x: FloatArray, out: FloatArray) -> None:
        """``out -= K x`` [N]. Collective."""
        self._stiffness.subtract_product(x, out)

    def energy(self, u: FloatArray) -> float:
        """This rank's contribution to ``u.K u / 2`` [J]. Collective."""
        self._product[:] = 0.0
        self._stiffness.subtract_product(u, self._product)
        owned = self._stiffness.owned
        return -0.5 * float(u[:owned] @ self._product[:owned])

    def coefficients(self) -> tuple[FloatArray, ...]:
        """None: the stiffness is that of its assembly."""
        return (np.zeros(0),)

    def compiled(self) -> StoredStiffness:
        """See :meth:`InternalForces.compiled`."""
        if self._stiffness.pairs is None and self._stiffness.csr is None:
            raise kernels.NotCompiled("the stiffness of the body is stored by PETSc alone")
        return self._stiffness


class AssembledForms:
    """Forces from UFL forms, which DOLFINx assembles at every evaluation.

    Args:
        internal: Linear form ``F_int . w`` at the function ``u``.
        energy: The stored energy, a functional of ``u``; None where there is none.
        u: The displacement.
    """

    dissipated = 0.0

    def __init__(self, internal: Any, energy: Any, u: fem.Function) -> None:
        self._u, self._form, self._energy_form = u, internal, energy
        self._space = u.function_space

    @functools.cached_property
    def _internal(self) -> ElementForm:
        return ElementForm(self._form, self._space, [self._u])

    @functools.cached_property
    def _energy(self) -> ElementForm:
        return ElementForm(self._energy_form, self._space, [self._u])

    @functools.cached_property
    def _tangent(self) -> ElementForm:
        x = fem.Function(self._space)
        return ElementForm(ufl.derivative(self._form, self._u, x), self._space, [self._u, x])

    def subtract(self, u: FloatArray, out: FloatArray) -> None:
        """``out -= F_int(u)`` [N]. Collective."""
        forces = self._internal.vector(u)
        out[: forces.size] -= forces

    def subtract_tangent(self, u: FloatArray, x: FloatArray, out: FloatArray) -> None:
        """``out -= dF_int/du(u) x`` [N]. Collective."""
        forces = self._tangent.vector(u, x)
        out[: forces.size] -= forces

    def energy(self, u: FloatArray) -> float:
        """This rank's stored energy [J]; 0 for laws defined by a stress. Collective."""
        return 0.0 if self._energy_form is None else self._energy.scalar(u)

    def coefficients(self) -> tuple[FloatArray, ...]:
        """See :meth:`InternalForces.coefficients`."""
        return self._tangent.coefficients()

    def compiled(self) -> StoredStiffness:
        """Refused: only linear forces are."""
        raise kernels.NotCompiled("a force of the system is not of a compiled kind: it is not linear")
