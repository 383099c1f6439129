"""Contact operator L, as schemes and contact laws use it, whatever its rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from scipy import sparse

from .. import parallel
from .._types import AnyArray, FloatArray, Int64Array, IntArray


class RowEntries(NamedTuple):
    """Entries of rows, in any order; those of a place add up.

    Attributes:
        row, dof: Numbers of the row, and global ones of the dof, shape (m,) each.
        value: Shape (m,).
    """

    row: IntArray
    dof: IntArray
    value: FloatArray

    def matrix(self, count: int, total: int) -> sparse.csr_matrix:
        """The matrix of that many rows and dofs."""
        return sparse.csr_matrix((self.value, (self.row, self.dof)), (count, total))


class ContactOperator(ABC):
    """Operator L with a row for each contact point: ``L x``, normal components, and ``W x``, vectors.

    Products of operators whose rows reach over several ranks are collective; see :attr:`collective`.

    Attributes:
        order: Sorting keys of the rows of this rank, shape (p, m): rounded coordinates or global numbers,
            independent of the partition. The rows of a rank are in ascending order of them.
        labels: One name per row; empty for none.
        collective: Whether products are collective.
        iterated: Whether explicit schemes solve the contact problem by iteration, without forming H.
    """

    order: AnyArray
    labels: Sequence[str] = ()
    collective = False
    iterated = False

    @property
    def count(self) -> int:
        """Number of rows on this rank."""
        count: int = self.order.shape[0]
        return count

    @property
    @abstractmethod
    def components(self) -> int:
        """Number of components of the vectors at a point."""

    @property
    @abstractmethod
    def support(self) -> IntArray:
        """Owned dofs on which the rows act."""

    @abstractmethod
    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``L x``, shape (p,), and ``W x``, shape (p, components); valid until the next call."""

    @abstractmethod
    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """Add ``D (L^T r + W^T f)`` to ``out``.

        Args:
            r: One number per row, shape (p,).
            f: A vector per row, shape (p, components), or None for none.
            d: Diagonal of D at the owned dofs, shape (owned,); None for the identity.
            out: Shape (size,).
        """

    @abstractmethod
    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T``, shape (p,).

        Args:
            d: Diagonal of D at the owned dofs, shape (owned,).
        """

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x``, shape (p,), in the unit of ``x``."""
        return self.velocities(x)[0].copy()

    def at_points(self, x: FloatArray) -> FloatArray:
        """``W x``, shape (p, components), in the unit of ``x``."""
        return self.velocities(x)[1].copy()

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
        self.add_impulses(r, None, None, out)

    def add_scaled_transpose(self, r: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Add ``D L^T r`` to ``out``; see :meth:`add_impulses`."""
        self.add_impulses(r, None, d, out)

    def sorting(self, comm: MPI.Comm) -> IntArray:
        """Permutation that sorts the concatenated rows of all ranks. Collective."""
        return ascending(parallel.gather_rows(comm, self.order))

    def sorted_labels(self, comm: MPI.Comm) -> list[str]:
        """Labels of the rows of all ranks in sorted order; numbers where there are none. Collective."""
        order = self.sorting(comm)
        named = [name for part in comm.allgather(list(self.labels)) for name in part]
        return [named[i] for i in order] if named else [str(i) for i in range(order.size)]

    def row_entries(
        self, which: IntArray, tangents: FloatArray, d: FloatArray, to_global: Int64Array, total: int
    ) -> RowEntries:
        """Rows of ``L D``, and after each those of ``W D`` along its tangents, over global dofs. Collective.

        Args:
            which: Numbers of points of this rank, shape (n,).
            tangents: Directions at these points, shape (n, d, components).
            d: Diagonal of D at the owned dofs, shape (owned,); always the same.
            to_global: Global number of each local dof.
            total: Number of dofs of all ranks.
        """
        raise NotImplementedError(f"{type(self).__name__} offers no rows for implicit schemes")

    def rows(
        self, which: IntArray, tangents: FloatArray, d: FloatArray, to_global: Int64Array, total: int
    ) -> sparse.csr_matrix:
        """The matrix of :meth:`row_entries`, shape (n (1 + d), total). Collective."""
        entries = self.row_entries(which, tangents, d, to_global, total)
        return entries.matrix(which.size * (1 + tangents.shape[1]), total)

    def petsc_matrix(self, comm: MPI.Comm, owned: int, to_global: Int64Array) -> Any:
        """L as a PETSc matrix (p x n), rows in rank order; by one product for each row. Collective.

        Args:
            comm: Communicator of the rows.
            owned: Number of owned dofs.
            to_global: Global number of each local dof.
        """
        from petsc4py import PETSc

        counts = comm.allgather(self.count)
        first = sum(counts[: comm.rank])
        matrix = PETSc.Mat().createAIJ(((self.count, None), (owned, None)), comm=comm)
        matrix.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
        column, unit = np.zeros(to_global.size), np.zeros(self.count)
        for row in range(sum(counts)):
            unit[:], column[:] = 0.0, 0.0
            if first <= row < first + self.count:
                unit[row - first] = 1.0
            self.add_transpose(unit, column)
            dofs = np.flatnonzero(column[:owned])
            matrix.setValues([row], to_global[dofs].astype(PETSc.IntType), column[dofs])
        matrix.assemble()
        return matrix


def ascending(keys: AnyArray) -> IntArray:
    """Permutation that sorts rows by their keys, by the first column first; rows of equal keys keep theirs.

    Args:
        keys: Sorting keys, shape (p, m), as ``order`` of :class:`ContactOperator`.
    """
    return np.lexsort(keys.T[::-1]) if keys.size else np.arange(len(keys))
