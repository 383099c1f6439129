"""Product with the stored stiffness of a linear body, and the ends of the spectrum of an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from dolfinx import fem, la
from mpi4py import MPI
from scipy import sparse
from scipy.linalg import eigh_tridiagonal

from ... import parallel
from ..._types import FloatArray, IntArray
from ...algebra import kernels
from ...algebra.operators import sparse_rows
from ...algebra.pair_blocks import PairBlocks
from .element_forms import is_matrix

_ZERO_SUM = 1e-11  # relative to the largest block entry
_ZERO = 1e-15  # relative to the diagonal entries of row and column
_ERROR = 1e-18  # of an eigenvalue relative to it: round-off, with a margin for the estimate of the gap


class StoredStiffness:
    """Product with a stored symmetric matrix over a blocked Lagrange space.

    With numba, and for rows that sum to zero, ``K u`` is summed over pairs of nodes; other matrices are
    stored in CSR format on one rank and as PETSc matrices on several.

    Args:
        form: Compiled bilinear form, symmetric; or a PETSc matrix, which is kept as it is.
        space: Its function space.

    Attributes:
        pairs: K as a sum over pairs of nodes, or None.
        csr: K in CSR format (indptr, indices, data) without zeros, or None.
        owned: Number of its rows on this rank.
    """

    def __init__(self, form: Any, space: fem.FunctionSpace) -> None:
        self._space = space
        self._bs = space.dofmap.bs
        self.owned = space.dofmap.index_map.size_local * self._bs
        given = is_matrix(form)
        self._petsc: Any = form.copy() if given else None
        self._form = None if given else form
        self.pairs = self._find_pairs() if kernels.load().COMPILED and not given else None
        if self.pairs is not None:
            self._alone, self._pair_product = space.mesh.comm.size == 1, kernels.load().pair_product(self._bs)
        self.csr: tuple[IntArray, IntArray, FloatArray] | None = None
        if self.pairs is None and space.mesh.comm.size == 1:
            self.csr = sparse_rows(self.scipy())
        elif self.pairs is None:
            self._x, self._y = self.petsc().createVecs()

    def scipy(self) -> sparse.csr_matrix:
        """K as a SciPy matrix on one rank, without entries at round-off level."""
        assembled = self._on_one_rank().tocoo()
        scale = np.sqrt(np.maximum(assembled.diagonal(), 0.0))
        nonzero = np.abs(assembled.data) > _ZERO * scale[assembled.row] * scale[assembled.col]
        entries = assembled.data[nonzero], (assembled.row[nonzero], assembled.col[nonzero])
        matrix = sparse.csr_matrix(entries, assembled.shape)
        matrix.sort_indices()
        return matrix

    def _on_one_rank(self) -> sparse.csr_matrix:
        if self._form is not None:
            return fem.assemble_matrix(self._form).to_scipy()
        start, columns, values = self._petsc.getValuesCSR()
        return sparse.csr_matrix((values, columns, start), self._petsc.getSize())

    def petsc(self) -> Any:
        """K as a PETSc matrix: BAIJ for vector problems, AIJ in 1D. Collective."""
        if self._petsc is None:
            from dolfinx.fem import petsc

            matrix = petsc.assemble_matrix(self._form)
            matrix.assemble()
            matrix.setOption(matrix.Option.SYMMETRIC, True)
            self._petsc = matrix.convert("baij") if self._bs > 1 else matrix
        return self._petsc

    def subtract_product(self, u: FloatArray, out: FloatArray) -> None:
        """``out -= K u`` on the owned entries; only owned entries of ``u`` are read. Collective."""
        if self.pairs is not None and self._alone:
            self._pair_product(self.pairs, u, out)
            return
        if self.pairs is not None:
            self._add_pairs(u, out)
            return
        if self.csr is not None:
            kernels.load().subtract_rows(*self.csr, u, out)
            return
        self._x.array[:] = u[: self.owned]
        self._petsc.mult(self._x, self._y)
        out[: self.owned] -= self._y.array_r

    def _add_pairs(self, u: FloatArray, out: FloatArray) -> None:
        assert self.pairs is not None
        # Rows at a partition boundary have columns that are not ghosts of the space itself.
        self._columns.array[: self.owned] = u[: self.owned]
        self._columns.scatter_forward()
        self._sums[:] = 0.0
        self._pair_product(self.pairs, self._columns.array, self._sums)
        out[: self.owned] += self._sums[: self.owned]

    def _find_pairs(self) -> PairBlocks | None:
        """K as a sum over pairs of nodes, or None when rows do not sum to zero. Collective."""
        nodes, bs, comm = self.owned // self._bs, self._bs, self._space.mesh.comm
        if bs > 3:
            return None
        matrix = fem.assemble_matrix(self._form)
        matrix.scatter_reverse()
        start, count = matrix.indptr[: nodes + 1], matrix.indptr[nodes]
        column, blocks = matrix.indices[:count], matrix.data[: count * bs * bs]
        local = kernels.load().row_sums_of_blocks(start, blocks, bs)
        largest, off = (parallel.largest(comm, np.array([each])) for each in local)
        if off > _ZERO_SUM * largest:
            return None
        self._columns = la.vector(matrix.index_map(1), bs)
        self._sums = np.zeros_like(self._columns.array)
        return PairBlocks.of(start, column, blocks, bs, largest)


class Spectrum(NamedTuple):
    """Ends of the spectrum of an operator.

    Attributes:
        largest: The largest eigenvalue.
        least: A Rayleigh quotient near the least one, not below it.
    """

    largest: float
    least: float


class NotFound(RuntimeError):
    """An eigenvalue was not found."""


def spectrum(
    comm: MPI.Comm,
    apply: Callable[[FloatArray, FloatArray], None],
    start: FloatArray,
    *,
    tolerance: float = 1e-7,
    most: int = 20_000,
) -> Spectrum:
    """Largest eigenvalue of a distributed symmetric operator (Lanczos). Collective.

    The iteration goes on until the value is right to round-off, so that it does not depend on the number of
    ranks: its error is at most the square of the residual over the distance to the next eigenvalue that was
    found. Of largest eigenvalues that are almost copies it may give another one. Where it finds such a pair,
    it ends 50 % after the residual is below the tolerance. Of a negative operator it is not found to
    round-off.

    Source of the bound: Parlett, The Symmetric Eigenvalue Problem (1998), section 11.7.

    Args:
        comm: Communicator of the vectors.
        apply: ``apply(x, y)`` writes the product with ``x`` into ``y``, owned entries each.
        start: Start vector, owned entries; overwritten.
        tolerance: Accepted residual relative to the eigenvalue.
        most: Largest number of products.

    Raises:
        NotFound: When the residual remains above the tolerance.
    """

    def dot(a: FloatArray, b: FloatArray) -> float:
        return parallel.total(comm, float(a @ b))

    q, before, y = start, np.zeros_like(start), np.zeros_like(start)
    q /= np.sqrt(dot(q, q))
    diagonal: list[float] = []
    side: list[float] = [0.0]
    check, last = 4, most + 1
    for k in range(1, most + 1):
        apply(q, y)
        before *= side[-1]
        y -= before
        diagonal.append(dot(q, y))
        y -= np.multiply(q, diagonal[-1], out=before)  # the vector before is not needed any more
        side.append(np.sqrt(dot(y, y)))
        exhausted = side[-1] <= 1e-14 * max(map(abs, diagonal))
        if exhausted or k == check or k >= last:
            value, gap, part = _top(diagonal, side[1:-1])
            residual = side[-1] * part
            settled = residual**2 <= _ERROR * gap * value
            negative = value <= 0.0 and _bottom(diagonal, side[1:-1]) < 0.0
            if exhausted or k >= last or settled or negative:
                return Spectrum(value, _bottom(diagonal, side[1:-1]))
            check = k + max(2, k // 16)
            if residual <= tolerance * value:
                last = min(last, k + k // 2)
        q, before = before, q
        np.divide(y, side[-1], out=q)
    raise NotFound(
        f"the highest frequency was not found to {tolerance:g} in {most} products: is the mesh "
        "degenerate, or the body unstable (a negative stiffness)?"
    )


def _top(diagonal: list[float], side: list[float]) -> tuple[float, float, float]:
    """Largest eigenvalue of a symmetric tridiagonal matrix, and its distance to the next one.

    The third number is the size of the last component of its eigenvector.
    """
    last = len(diagonal) - 1
    values, vectors = eigh_tridiagonal(diagonal, side, select="i", select_range=(max(0, last - 1), last))
    return float(values[-1]), float(values[-1] - values[0]), float(abs(vectors[-1, -1]))


def _bottom(diagonal: list[float], side: list[float]) -> float:
    """Least eigenvalue of a symmetric tridiagonal matrix."""
    values = eigh_tridiagonal(diagonal, side, eigvals_only=True, select="i", select_range=(0, 0))
    return float(values[0])
