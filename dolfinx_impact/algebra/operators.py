"""Sparse operators over the dofs: the contact operator L, and rows that a run records."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from mpi4py import MPI
from scipy import sparse
from scipy.sparse import csgraph

from .. import parallel
from .._types import AnyArray, BoolArray, FloatArray, Int64Array, IntArray
from . import kernels


@dataclass
class SparseRows:
    """Sparse operator L with ``p`` rows of ``k`` (dof, weight) pairs each, owned by this rank.

    Attributes:
        dofs: Local dof numbers, shape (p, k).
        weights: Weights of the dofs, shape (p, k), dimensionless.
        order: Sorting keys of the rows, shape (p, m): rounded coordinates or global numbers, independent of
            the partition. The rows of a rank are in ascending order of them.
        labels: One name per row; empty for none.
        distinct: Whether no dof occurs in two entries on this rank.
        collective: Whether products are collective: see :class:`SharedSparseRows`.
        iterated: Whether explicit schemes solve the contact problem by iteration, without forming H.
    """

    collective: ClassVar[bool] = False
    iterated: ClassVar[bool] = False
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

    @property
    def count(self) -> int:
        """Number of rows on this rank."""
        count: int = self.dofs.shape[0]
        return count

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x``, shape (p,), in the unit of ``x``."""
        values: FloatArray = kernels.load().row_sums(self.weights, x[self.dofs])
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
        return x[self.dofs]

    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``L x``, shape (p,), and :meth:`at_points`, shape (p, components); valid until the next call."""
        return self(x), self.at_points(x)

    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """Add ``D (L^T r + W^T f)`` to ``out``, where ``W x`` is :meth:`at_points`.

        Args:
            r: One number per row, shape (p,).
            f: A vector per row, shape (p, components), or None for none.
            d: Diagonal of D at the owned dofs, shape (owned,); None for the identity.
            out: Shape (size,).
        """
        if d is None:
            self.add_transpose(r, out)
        else:
            self.add_scaled_transpose(r, d, out)
        if f is not None:
            np.add.at(out, self.dofs, f if d is None else d[self.dofs] * f)

    def delassus(
        self, d: FloatArray, r: FloatArray, f: FloatArray | None, work: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """:meth:`velocities` of ``D (L^T r + W^T f)``, see :meth:`add_impulses`.

        Args:
            d, r, f: See :meth:`add_impulses`.
            work: Work array, shape (size,).
        """
        work[self.support] = 0.0
        self.add_impulses(r, f, d, work)
        return self.velocities(work)

    def add_transpose(self, r: FloatArray, out: FloatArray) -> None:
        """Add ``L^T r`` to ``out``."""
        if self.distinct:
            out[self.dofs] += self.weights * r[:, None]
        else:
            np.add.at(out, self.dofs, self.weights * r[:, None])

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
        dofs, weights = self.dofs[which], self.weights[which]
        if self.distinct:
            products: FloatArray = np.einsum("pk,pk,pk->p", weights, weights, d[dofs])
            return products
        used, place = np.unique(dofs, return_inverse=True)
        L = np.zeros((dofs.shape[0], used.size))
        np.add.at(L, (np.arange(dofs.shape[0])[:, None], place.reshape(dofs.shape)), weights)
        return (L * d[used]) @ L.T

    def add_scaled_transpose(self, r: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Add ``D L^T r`` to ``out``; rows with r = 0 are skipped.

        Args:
            r: One number per row, shape (p,).
            d: Diagonal of D at the owned dofs, shape (owned,).
            out: Shape (size,).
        """
        hit = np.flatnonzero(r)
        if hit.size:
            dofs = self.dofs[hit]
            change = self.weights[hit] * r[hit][:, None] * d[dofs]
            if self.distinct:
                out[dofs] += change
            else:
                np.add.at(out, dofs, change)

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

    def sorting(self, comm: MPI.Comm) -> IntArray:
        """Permutation that sorts the concatenated rows of all ranks. Collective."""
        return ascending(parallel.gather_rows(comm, self.order))

    def sorted_labels(self, comm: MPI.Comm) -> list[str]:
        """Labels of the rows of all ranks in sorted order; numbers where there are none. Collective."""
        order = self.sorting(comm)
        named = [name for part in comm.allgather(list(self.labels)) for name in part]
        return [named[i] for i in order] if named else [str(i) for i in range(order.size)]

    def petsc_matrix(self, comm: MPI.Comm, owned: int, to_global: Int64Array) -> Any:
        """L as a PETSc matrix (p x n), rows in rank order. Collective.

        Args:
            owned: Number of owned dofs.
            to_global: Global number of each local dof.
        """
        p, k = self.dofs.shape
        start = np.arange(0, p * k + 1, max(k, 1))[: p + 1]
        return _petsc_matrix(comm, owned, start, to_global[self.dofs].ravel(), self.weights.ravel())


class SharedSparseRows(SparseRows):
    """Distributed rows: a rank owns some rows, and holds the entries at its own dofs in all rows.

    Calls and products are collective, with one reduction over the number of rows each. Weights are constant.

    Args:
        comm: Communicator of the rows.
        point: Row of each entry, numbered over all ranks in rank order, shape (m,).
        dofs: Owned dof of each entry, shape (m,).
        weights: Weight of each entry, shape (m,), dimensionless.
        order: Sorting keys of the rows of this rank; see :class:`SparseRows`.

    Attributes:
        point: As given.
        mine: Range of this rank's rows in the numbering over all ranks.
    """

    collective = iterated = True

    def __init__(
        self, comm: MPI.Comm, point: IntArray, dofs: IntArray, weights: FloatArray, order: AnyArray
    ) -> None:
        super().__init__(np.reshape(dofs, (-1, 1)), np.reshape(weights, (-1, 1)), order)
        counts = comm.allgather(self.count)
        before = sum(counts[: comm.rank])
        self.mine = slice(before, before + self.count)
        self.point = np.asarray(point, dtype=np.intp)
        self._comm, self._all = comm, np.zeros(sum(counts))

    @property
    def count(self) -> int:
        """Number of rows owned by this rank."""
        count: int = self.order.shape[0]
        return count

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x`` for this rank's rows, shape (p,), in the unit of ``x``. Collective."""
        return self._summed(super().__call__(x))

    def add_transpose(self, r: FloatArray, out: FloatArray) -> None:
        """Add ``L^T r`` to the owned entries of ``out``, r at this rank's rows. Collective."""
        super().add_transpose(self._spread(r), out)

    def add_scaled_transpose(self, r: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Add ``D L^T r`` to the owned entries of ``out``, r at this rank's rows. Collective."""
        super().add_scaled_transpose(self._spread(r), d, out)

    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T`` at this rank's rows, if no rows share a dof, shape (p,). Collective."""
        return self._summed(super().diagonal(d))

    def product(self, d: FloatArray, which: IntArray) -> FloatArray:
        """Dense ``L D L^T`` of the rows ``which`` of all ranks in rank order, replicated. Collective."""
        used, place = np.unique(self.dofs[:, 0], return_inverse=True)
        L = np.zeros((self._all.size, used.size))
        np.add.at(L, (self.point, place.ravel()), self.weights[:, 0])
        H = (L[which] * d[used]) @ L[which].T
        self._comm.Allreduce(MPI.IN_PLACE, H, op=MPI.SUM)
        return H

    def select(self, which: BoolArray) -> SparseRows:
        """Not available: a rank holds entries of rows that others own."""
        raise NotImplementedError("rows that ranks share are taken whole")

    def petsc_matrix(self, comm: MPI.Comm, owned: int, to_global: Int64Array) -> Any:
        """See :meth:`SparseRows.petsc_matrix`. Collective."""
        entries: FloatArray = np.column_stack([self.point, to_global[self.dofs[:, 0]], self.weights[:, 0]])
        point, column, weight = parallel.gather_rows(comm, entries).T
        order = np.argsort(point, kind="stable")
        order = order[(point[order] >= self.mine.start) & (point[order] < self.mine.stop)]
        start = np.searchsorted(point[order], np.arange(self.mine.start, self.mine.stop + 1))
        return _petsc_matrix(comm, owned, start, column[order], weight[order])

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


def ascending(keys: AnyArray) -> IntArray:
    """Permutation that sorts rows by their keys, by the first column first; rows of equal keys keep theirs.

    Args:
        keys: Sorting keys, shape (p, m), as ``order`` of :class:`.SparseRows`.
    """
    return np.lexsort(keys.T[::-1]) if keys.size else np.arange(len(keys))


def sparse_rows(matrix: sparse.csr_matrix) -> tuple[IntArray, IntArray, FloatArray]:
    """CSR arrays (indptr, indices, data) for the loops, with unsigned indices, which are faster there."""
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data
