"""Solvers of small systems, with dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg


class DenseSolver:
    """Solves with a small matrix; the solution is zero at held dofs."""

    def __init__(self, matrix: NDArray, held: NDArray) -> None:
        self._free = ~held
        self._factor = linalg.lu_factor(matrix[np.ix_(self._free, self._free)])

    def solve(self, b: NDArray, out: NDArray) -> None:
        """Write the solution for ``b`` into ``out``, both shape (size,)."""
        out[:] = 0.0
        out[self._free] = linalg.lu_solve(self._factor, b[self._free])


class DenseTangent:
    """Solves with ``M + a D + b K``, the tangents D and K of the forces at some state.

    Attributes:
        symmetric: Whether the matrix is symmetric.
        exact: Whether the tangents are exact, not differences.
    """

    symmetric, exact = False, False

    def __init__(self, system: Any) -> None:
        self._system = system

    def update(self, t: float, u: NDArray, v: NDArray, a: float, b: float) -> None:
        """Take the tangents at this state."""
        stiffness, damping = self._system.tangents(t, u, v)
        matrix = np.diag(self._system.mass) + a * damping + b * stiffness
        self._solver = DenseSolver(matrix, self._system.held)

    def solve(self, b: NDArray, out: NDArray) -> None:
        """See :meth:`DenseSolver.solve`."""
        self._solver.solve(b, out)
