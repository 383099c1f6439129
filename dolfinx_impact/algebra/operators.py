"""Sparse operators over the dofs: the contact operator L, and rows that a run records."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import sparse
from scipy.sparse import csgraph

from .. import parallel
from .._types import AnyArray, FloatArray, Int64Array, IntArray
from . import kernels
from .contact_operator import ContactOperator, RowEntries

#: Diagonal of a D that is the identity.
_IDENTITY: FloatArray = np.zeros(0)


@dataclass
class SparseRows(ContactOperator):
    """Sparse operator L with ``p`` rows of ``k`` (dof, weight) pairs each, owned by this rank.

    Attributes:
        dofs: Local dof numbers, shape (p, k).
        weights: Weights of the dofs, shape (p, k), dimensionless.
        order: Sorting keys of the rows, shape (p, m): rounded coordinates or global numbers, independent of
            the partition. The rows of a rank are in ascending order of them.
        labels: One name per row; empty for none.
        distinct: Whether no dof occurs in two entries on this rank.
    """

    dofs: IntArray
    weights: FloatArray
    order: AnyArray
    labels: Sequence[str] = ()
    distinct: bool = field(init=False)

    def __post_init__(self) -> None:
        self.dofs = np.ascontiguousarray(self.dofs, dtype=np.int32)
        self.weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        if self.dofs.ndim != 2 or self.weights.shape != self.dofs.shape:
            raise ValueError(
                "rows take dofs and weights of the same shape (p, k), a row for each point, as "
                "SparseRows([[0, 1]], [[-1.0, 1.0]], [[0]]), but they have the shapes "
                f"{self.dofs.shape} and {self.weights.shape}"
            )
        self.order = np.ascontiguousarray(self.order, dtype=np.float64)
        self.distinct = np.unique(self.dofs).size == self.dofs.size

    @functools.cached_property
    def _places(self) -> Int64Array:
        """The dofs as numpy takes them without a conversion at every call."""
        return self.dofs.astype(np.int64)

    @property
    def count(self) -> int:
        """Number of rows on this rank."""
        count: int = self.dofs.shape[0]
        return count

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x``, shape (p,), in the unit of ``x``."""
        values: FloatArray = kernels.load().row_sums(self.weights, x.take(self._places))
        return values

    @property
    def components(self) -> int:
        """Number of components of the vectors at a point, :meth:`at_points`."""
        components: int = self.dofs.shape[1]
        return components

    @functools.cached_property
    def support(self) -> IntArray:
        """Owned dofs on which the rows act; those of the rows do not change."""
        support: IntArray = np.unique(self.dofs)
        return support

    def at_points(self, x: FloatArray) -> FloatArray:
        """Values of ``x`` at the dofs of the points, shape (p, components), in the unit of ``x``."""
        return x.take(self._places)

    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``L x``, shape (p,), and :meth:`at_points`, shape (p, components); valid until the next call."""
        return self(x), self.at_points(x)

    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """See :meth:`.ContactOperator.add_impulses`; rows without impulses are skipped."""
        vectors = self.weights[:0] if f is None else np.ascontiguousarray(f)
        factors, r = _IDENTITY if d is None else d, np.ascontiguousarray(r, dtype=np.float64)
        kernels.load().add_vectors(self.dofs, self.weights, r, vectors, factors, out)

    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T``, if no rows share a dof, shape (p,).

        Args:
            d: Diagonal of D at the owned dofs, shape (owned,).
        """
        values: FloatArray = np.sum(self.weights**2 * d[self.dofs], axis=1)
        return values

    def product(self, d: FloatArray, which: IntArray) -> FloatArray:
        """``L D L^T`` of the rows ``which``, shape (n, n); shape (n,), its diagonal, if :attr:`distinct`.

        Args:
            d: Diagonal of D at the owned dofs, shape (owned,).
            which: Mask or numbers of rows.
        """
        dofs, weights = self._places[which], self.weights[which]
        if self.distinct:
            products: FloatArray = np.einsum("pk,pk,pk->p", weights, weights, d.take(dofs))
            return products
        used, place = np.unique(dofs, return_inverse=True)
        L = np.zeros((dofs.shape[0], used.size))
        np.add.at(L, (np.arange(dofs.shape[0])[:, None], place.reshape(dofs.shape)), weights)
        return (L * d[used]) @ L.T

    def groups(self) -> IntArray:
        """Group number of each row, shape (p,); rows coupled by shared dofs, also indirectly, are a group."""
        p, k = self.dofs.shape
        entries = np.ones(p * k), (np.repeat(np.arange(p), k), self.dofs.ravel())
        links = sparse.csr_matrix(entries, (p, int(self.dofs.max(initial=-1)) + 1))
        numbers: IntArray = csgraph.connected_components(links @ links.T, directed=False)[1]
        return numbers

    def select(self, which: AnyArray) -> SparseRows:
        """Sub-operator of the rows ``which`` (mask or numbers)."""
        labels = list(np.array(self.labels)[which]) if self.labels else ()
        return SparseRows(self.dofs[which], self.weights[which], self.order[which], labels)

    def row_entries(
        self, which: IntArray, tangents: FloatArray, d: FloatArray, to_global: Int64Array, total: int
    ) -> RowEntries:
        """See :meth:`.ContactOperator.row_entries`."""
        dofs = self._places[which]
        vectors = np.concatenate([self.weights[which][:, None, :], tangents], axis=1)
        (n, k), m = dofs.shape, vectors.shape[1]
        columns = np.repeat(to_global[dofs][:, None, :], m, axis=1).ravel()
        return RowEntries(np.arange(n * m).repeat(k), columns, (vectors * d[dofs][:, None, :]).ravel())

    def petsc_matrix(self, comm: MPI.Comm, owned: int, to_global: Int64Array) -> Any:
        """L as a PETSc matrix (p x n), rows in rank order. Collective.

        Args:
            owned: Number of owned dofs.
            to_global: Global number of each local dof.
        """
        p, k = self.dofs.shape
        start = np.arange(0, p * k + 1, max(k, 1))[: p + 1]
        return _petsc_matrix(comm, owned, start, to_global[self.dofs].ravel(), self.weights.ravel())


def of_points(L: ContactOperator) -> SparseRows:
    """The operator of a contact whose points have dofs of their own."""
    assert isinstance(L, SparseRows), f"the rows of {type(L).__name__} have no fixed dofs"
    return L


class SharedSparseRows(ContactOperator):
    """Distributed rows: a rank owns some rows, and holds the entries at its own dofs in all rows.

    Calls and products are collective, with one reduction over the number of rows each. Weights are constant.
    The vector of a row is its normal component alone.

    Args:
        comm: Communicator of the rows.
        point: Row of each entry, numbered over all ranks in rank order, shape (m,).
        dofs: Owned dof of each entry, shape (m,).
        weights: Weight of each entry, shape (m,), dimensionless.
        order: Sorting keys of the rows of this rank; see :class:`ContactOperator`.

    Attributes:
        point, dofs, weights: As given.
        mine: Range of this rank's rows in the numbering over all ranks.
    """

    collective = iterated = True

    def __init__(
        self, comm: MPI.Comm, point: IntArray, dofs: IntArray, weights: FloatArray, order: AnyArray
    ) -> None:
        self.order = np.ascontiguousarray(order, dtype=np.float64)
        self.point, self.dofs = np.asarray(point, dtype=np.intp), np.asarray(dofs, dtype=np.int32)
        self.weights = np.asarray(weights, dtype=np.float64)
        counts = comm.allgather(self.count)
        before = sum(counts[: comm.rank])
        self.mine = slice(before, before + self.count)
        self._comm, self._all = comm, np.zeros(sum(counts))
        self._every: sparse.csr_matrix | None = None

    @property
    def components(self) -> int:
        """One: the normal component."""
        return 1

    @functools.cached_property
    def support(self) -> IntArray:
        """See :attr:`.ContactOperator.support`."""
        support: IntArray = np.unique(self.dofs)
        return support

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x`` for this rank's rows, shape (p,), in the unit of ``x``. Collective."""
        return self._summed(self.weights * x[self.dofs])

    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :meth:`.ContactOperator.velocities`. Collective."""
        normal = self(x)
        return normal, normal[:, None]

    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """See :meth:`.ContactOperator.add_impulses`, r at this rank's rows. Collective."""
        values = self.weights * self._spread(r if f is None else r + f[:, 0])
        np.add.at(out, self.dofs, values if d is None else values * d[self.dofs])

    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T`` at this rank's rows, if no rows share a dof, shape (p,). Collective."""
        return self._summed(self.weights**2 * d[self.dofs])

    def row_entries(
        self, which: IntArray, tangents: FloatArray, d: FloatArray, to_global: Int64Array, total: int
    ) -> RowEntries:
        """See :meth:`.ContactOperator.row_entries`; rows have no tangents. Collective."""
        if self._every is None:
            entries: FloatArray = np.column_stack(
                [self.point, to_global[self.dofs], self.weights * d[self.dofs]]
            )
            point, dofs, weights = parallel.gather_rows(self._comm, entries).T
            numbers = (point.astype(np.intp), dofs.astype(np.int64))
            self._every = sparse.csr_matrix((weights, numbers), (self._all.size, total))
        found = self._every[self.mine][which].tocoo()
        return RowEntries(found.row * (1 + tangents.shape[1]), found.col, found.data)

    def _summed(self, parts: FloatArray) -> FloatArray:
        """Sums over the entries of all ranks in each of this rank's rows, shape (p,). Collective."""
        self._all[:] = np.bincount(self.point, parts, self._all.size)
        self._comm.Allreduce(MPI.IN_PLACE, self._all, op=MPI.SUM)
        return self._all[self.mine].copy()

    def _spread(self, r: FloatArray) -> FloatArray:
        """Value of its row at every entry of this rank, shape (m,). Collective."""
        self._all[:] = 0.0
        self._all[self.mine] = r
        self._comm.Allreduce(MPI.IN_PLACE, self._all, op=MPI.SUM)
        return self._all[self.point]


def _petsc_matrix(comm: MPI.Comm, owned: int, start: IntArray, columns: AnyArray, weights: FloatArray) -> Any:
    """PETSc matrix from this rank's rows in CSR format with global columns. Collective."""
    from petsc4py import PETSc

    csr = (start.astype(PETSc.IntType), columns.astype(PETSc.IntType), weights)
    return PETSc.Mat().createAIJ(((start.size - 1, None), (owned, None)), csr=csr, comm=comm)


def coordinate_order(x: FloatArray, scale: float) -> FloatArray:
    """Sorting keys from coordinates, insensitive to round-off of the mesh generator.

    Args:
        x: Coordinates, shape (p, 3) [m].
        scale: A length of the body [m]; the coordinates are rounded to 1e-8 of it.
    """
    return np.round(np.asarray(x, dtype=np.float64) / (1e-8 * scale)) + 0.0


def sparse_rows(matrix: sparse.csr_matrix) -> tuple[IntArray, IntArray, FloatArray]:
    """CSR arrays (indptr, indices, data) for the loops, with unsigned indices, which are faster there."""
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data
