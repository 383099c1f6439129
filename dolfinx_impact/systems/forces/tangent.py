"""Tangent operator of implicit schemes on bodies, assembled and factorised at every state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra.sparse_solver import FactorisedSolver
from .element_forms import compile_form, is_matrix


class TangentSolver:
    """Solver with ``M + a D + b K``, K and D tangents of the internal and damping forces.

    Args:
        body: The body.
        form: Bilinear form of K at the body's ``displacement`` and ``velocity``; or a PETSc matrix.
        damping: Bilinear form of ``D - alpha M``; None where it is ``beta K``.
        mass: M as a PETSc matrix with the pattern of K.

    Attributes:
        symmetric: Whether the matrix is symmetric.
        exact: Whether the tangents are exact; True.
    """

    exact = True

    def __init__(self, body: Any, form: Any, damping: Any, mass: Any) -> None:
        self._body, self._M = body, mass
        self._parts: list[tuple[Any, Any]] = []
        self.symmetric = bool(getattr(body, "conservative", True))
        self._K, self._damping = self._matrix(form), damping
        if damping is not None:
            self._D = self._matrix(damping)
        self._fixed = body.linear and damping is None
        self._A = self._M.copy()
        self._A.setOption(self._A.Option.KEEP_NONZERO_PATTERN, True)
        self._lumped = self._A.getDiagonal()
        self._held = np.flatnonzero(body.constrained)
        self._rows = body.matrices.rows(self._A, self._held)
        self._solver: FactorisedSolver | None = None
        self._factorised = False
        self._last: tuple[float, float] | None = None

    def _matrix(self, form: Any) -> Any:
        """The matrix of a form, assembled in every update; a matrix that was given stays. Collective."""
        from dolfinx.fem import petsc

        if is_matrix(form):
            return form
        compiled = compile_form(form)
        matrix = petsc.assemble_matrix(compiled)
        matrix.assemble()
        self._parts.append((matrix, compiled))
        return matrix

    def update(self, t: float, u: FloatArray, v: FloatArray, a: float, b: float) -> None:
        """Assemble and factorise ``M + a D + b K`` at the state (t, u, v). Collective."""
        if self.assemble(t, u, v, a, b) or not self._factorised:
            self._factorise()

    def assemble(self, t: float, u: FloatArray, v: FloatArray, a: float, b: float) -> bool:
        """Assemble :attr:`matrix` alone, as :meth:`update`; whether it has changed. Collective."""
        from petsc4py import PETSc

        body = self._body
        if self._fixed and self._last == (a, b):
            return False
        self._last, self._factorised = (a, b), False
        if not self._fixed:
            self._assemble(u, v)
        beta = body.stiffness_damping if self._damping is None else 0.0
        self._M.copy(self._A, self._A.Structure.SAME_NONZERO_PATTERN)
        self._A.axpy(b + a * beta, self._K, self._A.Structure.SUBSET_NONZERO_PATTERN)
        if self._damping is not None:
            self._A.axpy(a, self._D, self._A.Structure.SUBSET_NONZERO_PATTERN)
        if body.damping_rate > 0:
            self._lumped.array[:] = a * body.damping_rate * body.mass
            self._A.setDiagonal(self._lumped, PETSc.InsertMode.ADD_VALUES)
        self._A.zeroRowsColumns(self._rows, diag=1.0)
        if self.symmetric:
            self._A.setOption(self._A.Option.SYMMETRIC, True)
        return True

    @property
    def matrix(self) -> Any:
        """``M + a D + b K`` as a PETSc matrix, with unit rows and columns at constrained dofs."""
        return self._A

    def _factorise(self) -> None:
        if self._solver is None:
            kind = "ldlt" if self.symmetric else "lu"
            self._solver = FactorisedSolver(self._A, self._held, prefix="impact_newton_", kind=kind)
        else:
            self._solver.refactor()
        self._factorised = True

    def _assemble(self, u: FloatArray, v: FloatArray) -> None:
        from dolfinx.fem import petsc

        for field, values in ((self._body.displacement, u), (self._body.velocity, v)):
            field.x.array[: self._body.owned] = values[: self._body.owned]
            field.x.scatter_forward()
        for matrix, form in self._parts:
            matrix.zeroEntries()
            petsc.assemble_matrix(matrix, form)
            matrix.assemble()

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write the solution for the right-hand side ``b`` (owned entries first) into ``out``. Collective."""
        if not self._factorised:
            self._factorise()
        assert self._solver is not None
        self._solver.solve(b, out)
