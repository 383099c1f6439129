"""Sparse direct solvers, factorised once and applied many times."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .._types import AnyArray, FloatArray, IntArray
from . import kernels
from .operators import sparse_rows

#: For larger matrices CHOLMOD factorises much more slowly than MUMPS (in 3D 17 times at 2e4 rows).
SMALL = 10_000
#: Workspace of MUMPS beyond its estimate [%].
_WORKSPACE = 100


class LinearSolverFailed(RuntimeError):
    """A linear solver of PETSc did not converge."""


class FactorisedSolver:
    """PETSc solver, by default Cholesky (CHOLMOD for small matrices on one rank, otherwise MUMPS).

    Other solvers are selected by PETSc options with the prefix, for example
    ``-impact_theta_ksp_type cg -impact_theta_ksp_rtol 1e-13 -impact_theta_pc_type gamg``.

    Args:
        matrix: PETSc matrix, symmetric positive definite, with unit rows and columns at constrained dofs.
        held: Constrained owned dofs, with zero solution.
        prefix: Prefix of the PETSc options.
        kind: ``"cholesky"`` for definite, ``"ldlt"`` for symmetric, ``"lu"`` for general matrices.
    """

    def __init__(self, matrix: Any, held: IntArray, *, prefix: str, kind: str = "cholesky") -> None:
        from petsc4py import PETSc

        self._held, self.matrix = held, matrix
        self._b, self._x = matrix.createVecs()
        self._ksp = PETSc.KSP().create(matrix.comm)
        self._ksp.setOptionsPrefix(prefix)
        self._ksp.setOperators(matrix)
        self._ksp.setType("preonly")
        pc = self._ksp.getPC()
        pc.setType("lu" if kind == "lu" else "cholesky")
        package = _direct_solver(matrix) if kind == "cholesky" else "mumps"
        pc.setFactorSolverType(package)
        if package == "mumps":
            # With its usual 20 % MUMPS fails for matrices of separate parts on several ranks.
            pc.setFactorSetUpSolverType()
            pc.getFactorMatrix().setMumpsIcntl(14, _WORKSPACE)
        self._ksp.setFromOptions()
        self._ksp.setUp()

    def refactor(self) -> None:
        """Factorise again after a change of the matrix values. Collective."""
        self._ksp.setOperators(self.matrix)
        self._ksp.setUp()

    def destroy(self) -> None:
        """Free the factors and the matrix. Collective."""
        for each in (self._ksp, self.matrix, self._b, self._x):
            each.destroy()

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write the solution for the right-hand side ``b`` (owned entries first) into ``out``. Collective.

        Raises:
            LinearSolverFailed: When the solver did not converge.
        """
        n = self._b.getLocalSize()
        self._b.array[:] = b[:n]
        self._b.array[self._held] = 0.0
        self._ksp.solve(self._b, self._x)
        if self._ksp.getConvergedReason() < 0:
            raise LinearSolverFailed(
                f"the linear solver stopped with PETSc reason {self._ksp.getConvergedReason()}: "
                f"see the options -{self._ksp.getOptionsPrefix()}ksp_*"
            )
        out[:n] = self._x.array_r

    def compiled(self) -> tuple[AnyArray, ...]:
        """None for compiled loops: see :meth:`SymmetricSolver.compiled`."""
        raise kernels.NotCompiled(
            "a linear system is solved by PETSc, as with many free dofs, with options for its "
            "solver, or where the operator has no symmetric factors"
        )

    def solve_block(self, columns: FloatArray) -> FloatArray:
        """Solutions for several right-hand sides, shape (size, k), owned entries first. Collective."""
        from petsc4py import PETSc

        n, k = self._b.getLocalSize(), columns.shape[1]
        right = np.asfortranarray(columns[:n])
        right[self._held] = 0.0
        out: FloatArray = np.zeros(columns.shape)
        pc = self._ksp.getPC()
        if self._ksp.getType() != "preonly" or pc.getType() not in ("cholesky", "lu"):
            for i in range(k):
                self.solve(right[:, i], out[:, i])
            return out
        b, x = (
            PETSc.Mat().createDense(((n, None), (PETSc.DECIDE, k)), array=each, comm=self.matrix.comm)
            for each in (right, np.zeros_like(right))
        )
        pc.getFactorMatrix().matSolve(b, x)
        out[:n] = x.getDenseArray()
        for each in (b, x):
            each.destroy()
        return out


class SymmetricSolver:
    """Factorisation ``A = L D L^T`` of a small matrix on one rank, for solution in compiled loops.

    Args:
        matrix: Symmetric positive definite.
        dofs: Dofs of the rows; the solution is zero at all others.
        size: Total number of dofs.

    Attributes:
        factors: Arrays of L and D, as ``solve_symmetric`` of the kernels takes them.

    Raises:
        ArithmeticError: When SuperLU finds no symmetric factors.
    """

    def __init__(self, matrix: sparse.spmatrix, dofs: IntArray, size: int) -> None:
        tidy = {"SymmetricMode": True}
        self._all = splu(sparse.csc_matrix(matrix), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=tidy)
        pivots = self._all.U.diagonal()
        if not np.array_equal(self._all.perm_r, self._all.perm_c) or not np.all(pivots > 0):
            raise ArithmeticError("the matrix has no symmetric factors")
        lower = sparse.tril(self._all.L, -1).tocsr()
        lower.sort_indices()
        self._dofs, self._size, self._loops = dofs, size, kernels.load()
        order = dofs[np.argsort(self._all.perm_c)].astype(np.uint32)
        self.factors = (
            order,
            *sparse_rows(lower),
            *sparse_rows(lower.T.tocsr()),
            1.0 / pivots,
            np.zeros(order.size),
        )

    @classmethod
    def where_it_exists(cls, matrix: sparse.spmatrix, dofs: IntArray, size: int) -> SymmetricSolver | None:
        """The solver, or None for a matrix that is singular or has no symmetric factors."""
        try:
            return cls(matrix, dofs, size)
        except (ArithmeticError, RuntimeError):  # the latter by SuperLU
            return None

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write the solution for ``b``, shape (size,), into ``out``."""
        out[: self._size] = 0.0
        self._loops.solve_symmetric(self.factors, b, out)

    def compiled(self) -> tuple[AnyArray, ...]:
        """The :attr:`factors`, for compiled loops."""
        return self.factors

    def solve_block(self, columns: FloatArray) -> FloatArray:
        """Solutions for several right-hand sides, shape (size, k)."""
        out = np.zeros(columns.shape)
        out[self._dofs] = self._all.solve(columns[self._dofs])
        return out


def diagonal_factors(inverse: FloatArray, dofs: IntArray) -> tuple[AnyArray, ...]:
    """Those of a diagonal matrix, as :meth:`SymmetricSolver.compiled` has them.

    Args:
        inverse: Inverse of the diagonal, shape (n,).
        dofs: Its dofs, shape (n,).
    """
    none = (np.zeros(dofs.size + 1, np.uint32), np.zeros(0, np.uint32), np.zeros(0))
    return dofs.astype(np.uint32), *none, *none, inverse, np.zeros(dofs.size)


def _direct_solver(matrix: Any) -> str:
    from petsc4py import PETSc

    if matrix.comm.size > 1 or matrix.getSize()[0] > SMALL:
        return "mumps"
    return "cholmod" if PETSc.Sys.hasExternalPackage("suitesparse") else "petsc"
