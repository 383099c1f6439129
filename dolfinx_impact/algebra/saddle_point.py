"""Linear systems with constraints: ``A x - B^T y = b``, ``G x + D y = q``, solved as one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import linalg, sparse

from .._types import FloatArray, IntArray
from .sparse_solver import FactorisedSolver

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
    """

    B: sparse.csr_matrix
    G: sparse.csr_matrix
    D: sparse.csr_matrix
    size: FloatArray

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
        self._dense: Any = None
        self._delta: FloatArray = np.zeros(0)

    def factorise(self, A: Any, rows: Constraints, *, symmetric: bool) -> None:
        """Take the matrix A, a PETSc matrix or an array, and the constraints. Collective."""
        self._delta = _PROXIMAL * rows.size
        D = rows.D + sparse.diags(self._delta)
        if isinstance(A, np.ndarray):
            whole = sparse.bmat([[A, -rows.B.T], [-rows.G, -D]]).toarray()
            self._dense = linalg.lu_factor(whole)
            return
        first, total = self._numbering(A, rows.size.size)
        kind = "ldlt" if symmetric and self._comm.allreduce(rows.symmetric, op=MPI.LAND) else "lu"
        matrix = self._assemble(A, rows, D, first, total)
        matrix.setOption(matrix.Option.SYMMETRIC, kind == "ldlt")
        if self._sparse is not None:
            self._sparse.destroy()
        self._sparse = FactorisedSolver(matrix, np.zeros(0, dtype=np.intp), prefix=self._prefix, kind=kind)

    def _numbering(self, A: Any, m: int) -> tuple[IntArray, int]:
        """Number of multipliers on the ranks before each rank, and of all. Collective."""
        counts = np.array(self._comm.allgather(m))
        self._dof_starts = np.asarray(A.getOwnershipRanges(), dtype=np.int64)
        return np.cumsum(counts) - counts, int(counts.sum())

    def _assemble(
        self, A: Any, rows: Constraints, D: sparse.csr_matrix, before: IntArray, total: int
    ) -> Any:
        """The matrix: on every rank its dofs and then its multipliers. Collective."""
        from petsc4py import PETSc

        def moved(dofs: IntArray) -> IntArray:
            """Numbers of dofs beside the multipliers of the ranks before."""
            owner = np.searchsorted(self._dof_starts[:-1], dofs, side="right") - 1
            shifted: IntArray = dofs + before[owner]
            return shifted

        start, columns, values = A.getValuesCSR()
        mine = A.getOwnershipRange()[1] + before[self._comm.rank]  # the first multiplier of this rank
        B, G, D, m = self._transposed(rows.B, before), rows.G.tocoo(), D.tocoo(), rows.size.size
        n, size = self._owned, self._dof_starts[-1] + total
        i = [np.repeat(np.arange(n), np.diff(start)), B.row, n + G.row, n + D.row]
        j = [moved(columns), B.col, moved(G.col), mine + D.col]
        entries = np.concatenate([values, -B.data, -G.data, -D.data]), (np.concatenate(i), np.concatenate(j))
        local = sparse.csr_matrix(entries, (n + m, size))
        csr = (local.indptr.astype(PETSc.IntType), local.indices.astype(PETSc.IntType), local.data)
        return PETSc.Mat().createAIJ(((n + m, None), (n + m, None)), csr=csr, comm=self._comm)

    def _transposed(self, B: sparse.csr_matrix, before: IntArray) -> sparse.coo_matrix:
        """``B^T`` of the owned dofs, with columns beside the dofs of the ranks up to its own. Collective."""
        from petsc4py import PETSc

        csr = (B.indptr.astype(PETSc.IntType), B.indices.astype(PETSc.IntType), B.data)
        size = ((B.shape[0], None), (self._owned, None))
        matrix = PETSc.Mat().createAIJ(size, csr=csr, comm=self._comm)
        found = matrix.transpose()
        start, columns, values = found.getValuesCSR()
        for each in (matrix, found):
            each.destroy()
        owner = np.searchsorted(before, columns, side="right") - 1
        rows = np.repeat(np.arange(self._owned), np.diff(start))
        return sparse.coo_matrix((values, (rows, columns + self._dof_starts[owner + 1])))

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
        right, found = np.empty(n + m), np.zeros(n + m)
        right[:n] = b[:n]
        for _ in range(_PASSES):
            right[n:] = -(q + self._delta * y)
            if self._dense is not None:
                found = linalg.lu_solve(self._dense, right)
            else:
                assert self._sparse is not None
                self._sparse.solve(right, found)
            y[:] = found[n:]
        return found[:n]
