"""Linear systems with constraints: ``A x - B^T y = b``, ``G x + D y = q``, solved as one matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from .._types import FloatArray, IntArray
from .sparse_solver import SMALL, FactorisedSolver, LinearSolverFailed

#: Weight of the last multipliers in the rows of the constraints, over what a multiplier moves.
_PROXIMAL = 1e-9
#: Solutions with one matrix: each takes that part of what the weight has changed.
_PASSES = 3


@dataclass
class Constraints:
    """Rows of constraints of this rank on the unknowns of all ranks.

    Attributes:
        B, G: Over the global numbers of the dofs, CSR, shape (m, n) each; B without constrained dofs.
        D: Between the multipliers of this rank, shape (m, m).
        size: Size of what a multiplier moves in its row, shape (m,).
        K: Change of ``B^T y`` with x, which is taken from A: rows of the owned dofs; None for none.
    """

    B: sparse.csr_matrix
    G: sparse.csr_matrix
    D: sparse.csr_matrix
    size: FloatArray
    K: sparse.csr_matrix | None = None

    @property
    def symmetric(self) -> bool:
        """Whether the rows are those that multipliers act by."""
        return self.G is self.B


class SaddlePoint:
    """Solver of ``A x - B^T y = b``, ``G x + D y = q``.

    Rows that depend on each other have no unique multipliers: of those that solve the system, the iteration
    ``G x + D y + delta (y - y_last) = q`` (proximal points, with a small delta) finds some, and the matrix is
    never singular. Rockafellar, SIAM J. Control Optim. 14 (1976), doi:10.1137/0314056.

    Args:
        comm: Communicator of the rows.
        owned: Number of owned dofs.
        prefix: Prefix of the PETSc options.
    """

    def __init__(self, comm: MPI.Comm, owned: int, prefix: str = "impact_contact_") -> None:
        self._comm, self._owned, self._prefix = comm, owned, prefix
        self._sparse: FactorisedSolver | None = None
        self._solve: Callable[[FloatArray], FloatArray]
        self._delta: FloatArray = np.zeros(0)

    def factorise(self, A: Any, rows: Constraints, *, symmetric: bool) -> None:
        """Take the matrix A, a PETSc matrix or an array, and the constraints. Collective."""
        self._delta = _PROXIMAL * rows.size
        D = rows.D + sparse.diags(self._delta)
        if isinstance(A, np.ndarray):
            A = A if rows.K is None else A - rows.K.toarray()
            factors = linalg.lu_factor(sparse.bmat([[A, -rows.B.T], [-rows.G, -D]]).toarray())
            self._solve = lambda right: linalg.lu_solve(factors, right)
            return
        matrix = self._assembled(A, rows, D)
        size = matrix.shape[1]
        if self._comm.size == 1 and size <= SMALL:
            self._solve = _lu(matrix)
            return
        symmetric = symmetric and self._comm.allreduce(rows.symmetric, op=MPI.LAND)
        self._factorise_by_petsc(matrix, "ldlt" if symmetric else "lu")

    def _factorise_by_petsc(self, rows: sparse.csr_matrix, kind: str) -> None:
        """Factors of the matrix with these rows of this rank. Collective."""
        from petsc4py import PETSc

        csr = (rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType), rows.data)
        size: Any = (rows.shape[0], None)
        matrix = PETSc.Mat().createAIJ((size, size), csr=csr, comm=self._comm)
        matrix.setOption(matrix.Option.SYMMETRIC, kind == "ldlt")
        if self._sparse is not None:
            self._sparse.destroy()
        none = np.zeros(0, dtype=np.intp)
        self._sparse = solver = FactorisedSolver(matrix, none, prefix=self._prefix, kind=kind)

        def solve(right: FloatArray) -> FloatArray:
            found = np.zeros(right.size)
            solver.solve(right, found)
            return found

        self._solve = solve

    def _assembled(self, A: Any, rows: Constraints, D: sparse.csr_matrix) -> sparse.csr_matrix:
        """This rank's rows of the matrix: on every rank its dofs and then its multipliers. Collective."""
        counts = np.array(self._comm.allgather(rows.size.size))
        before = np.cumsum(counts) - counts  # multipliers of the ranks before each one
        self._dof_starts = starts = np.asarray(A.getOwnershipRanges(), dtype=np.int64)

        def moved(dofs: IntArray) -> IntArray:
            """Numbers of dofs beside the multipliers of the ranks before."""
            owner = np.searchsorted(starts[:-1], dofs, side="right") - 1
            shifted: IntArray = dofs + before[owner]
            return shifted

        start, columns, values = A.getValuesCSR()
        first = A.getOwnershipRange()[1] + before[self._comm.rank]  # multiplier of this rank
        B, G, D = self._transposed(rows.B, before), rows.G.tocoo(), D.tocoo()
        n, m = self._owned, rows.size.size
        K = sparse.coo_matrix((n, int(starts[-1]))) if rows.K is None else rows.K.tocoo()
        i = [np.repeat(np.arange(n), np.diff(start)), K.row, B.row, n + G.row, n + D.row]
        j = [moved(columns), moved(K.col), B.col, moved(G.col), first + D.col]
        entries = np.concatenate([values, -K.data, -B.data, -G.data, -D.data])
        places = (np.concatenate(i), np.concatenate(j))
        return sparse.csr_matrix((entries, places), (n + m, int(starts[-1] + counts.sum())))

    def _transposed(self, B: sparse.csr_matrix, before: IntArray) -> sparse.coo_matrix:
        """``B^T`` of the owned dofs, with columns beside the dofs of the ranks up to its own. Collective."""
        from petsc4py import PETSc

        B.sum_duplicates()  # rows of several contacts are filled up; PETSc would keep the last entry
        csr = (B.indptr.astype(PETSc.IntType), B.indices.astype(PETSc.IntType), B.data)
        sizes = ((B.shape[0], None), (self._owned, None))
        matrix = PETSc.Mat().createAIJ(sizes, csr=csr, comm=self._comm)
        found = matrix.transpose()
        start, columns, values = found.getValuesCSR()
        for each in (matrix, found):
            each.destroy()
        owner = np.searchsorted(before, columns, side="right") - 1
        rows = np.repeat(np.arange(self._owned), np.diff(start))
        places, every = columns + self._dof_starts[owner + 1], self._comm.allreduce(B.shape[0])
        return sparse.coo_matrix((values, (rows, places)), (self._owned, int(self._dof_starts[-1]) + every))

    def solve(self, b: FloatArray, q: FloatArray, y: FloatArray) -> FloatArray:
        """The unknowns x at the owned dofs; ``y``, the last multipliers, is replaced. Collective.

        Args:
            b: Shape (owned,) or more, zero at constrained dofs.
            q: Shape (m,).
            y: Shape (m,).

        Raises:
            LinearSolverFailed: PETSc's solver did not converge.
        """
        n, m = self._owned, q.size
        right: FloatArray = np.empty(n + m)
        found: FloatArray = right
        right[:n] = b[:n]
        for _ in range(_PASSES):
            right[n:] = -(q + self._delta * y)
            found = self._solve(right)
            y[:] = found[n:]
        return found[:n]


def _lu(matrix: sparse.csr_matrix) -> Callable[[FloatArray], FloatArray]:
    """Solutions with a matrix by SuperLU."""
    try:
        solve: Callable[[FloatArray], FloatArray] = splu(matrix.tocsc()).solve
    except RuntimeError as error:
        raise LinearSolverFailed(str(error)) from None
    return solve
