"""Dense linear solvers for small systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from .._types import AnyArray, BoolArray, FloatArray
from .sparse_solver import LinearSolverFailed


class DenseSolver:
    """LU factorisation of a small matrix; the solution is zero at constrained dofs.

    Raises:
        LinearSolverFailed: A matrix that is not finite, as where forces are not defined; (by ``solve``) one
            that is singular.
    """

    def __init__(self, matrix: FloatArray, held: BoolArray) -> None:
        if not np.isfinite(matrix).all():
            raise LinearSolverFailed("the tangents of the forces are not finite")
        self._free = np.flatnonzero(~held) if held.any() else None
        # The functions around LAPACK's take several times as long for few dofs.
        own = matrix if self._free is None else matrix[np.ix_(self._free, self._free)]
        self._factors: list[AnyArray] = []
        self._singular = 0
        if own.size:
            *self._factors, self._singular = lapack.dgetrf(own)

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write the solution for ``b`` into ``out``, both shape (size,)."""
        if self._singular:
            raise LinearSolverFailed("the matrix of the step is singular: take another time step")
        if self._free is None:
            out[:] = lapack.dgetrs(*self._factors, b)[0]
            return
        out[:] = 0.0
        if self._free.size:
            out[self._free] = lapack.dgetrs(*self._factors, b[self._free])[0]


class DenseTangent:
    """Solver with ``M + a D + b K``, D and K tangents of the forces.

    Attributes:
        symmetric: Whether the matrix is symmetric.
        exact: Whether the tangents are exact rather than finite differences.
        matrix: The last matrix, with unit rows and columns at constrained dofs.
    """

    symmetric, exact = False, False

    def __init__(self, system: Any, *, inertia: bool = True) -> None:
        self._system = system
        self.matrix: FloatArray = np.zeros((0, 0))
        self._mass = np.diag(system.mass) * float(inertia)

    def update(self, t: float, u: FloatArray, v: FloatArray, a: float, b: float) -> None:
        """Compute ``M + a D + b K`` at the state (t, u, v)."""
        self.assemble(t, u, v, a, b)

    def assemble(self, t: float, u: FloatArray, v: FloatArray, a: float, b: float) -> bool:
        """Compute the matrix alone, as :meth:`update`; whether it has changed."""
        stiffness, damping = self._system.tangents(t, u, v)
        matrix: FloatArray = self._mass + a * damping + b * stiffness
        held = self._system.constrained
        matrix[held], matrix[:, held] = 0.0, 0.0
        matrix[held, held] = 1.0
        changed = not np.array_equal(matrix, self.matrix)
        if changed:
            self.matrix, self._solver = matrix, DenseSolver(matrix, held)
        return changed

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """See :meth:`DenseSolver.solve`."""
        self._solver.solve(b, out)
