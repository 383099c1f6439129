"""Sparse rows over the dofs: the operator L of a contact, and what a run records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from . import parallel


@dataclass
class Rows:
    """An operator with ``p`` rows of ``k`` (dof, weight) pairs each, owned by this rank.

    Attributes:
        dofs: Local dof numbers, shape (p, k).
        weights: Their weights, shape (p, k), no unit.
        order: Keys by which the rows of all ranks are sorted, shape (p, m);
            rounded coordinates or global numbers, the same on any number of ranks.
        labels: One name a row; empty for none.
    """

    dofs: NDArray
    weights: NDArray
    order: NDArray
    labels: Sequence[str] = ()
    distinct: bool = field(init=False)

    def __post_init__(self) -> None:
        self.dofs = np.ascontiguousarray(self.dofs, dtype=np.int32)
        self.weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        self.order = np.ascontiguousarray(self.order, dtype=np.float64)
        self.distinct = np.unique(self.dofs).size == self.dofs.size

    @property
    def count(self) -> int:
        """Number of rows on this rank."""
        return self.dofs.shape[0]

    def __call__(self, x: NDArray) -> NDArray:
        """``L x``, shape (p,), unit of ``x``."""
        return np.einsum("pk,pk->p", self.weights, x[self.dofs])

    def add_transpose(self, r: NDArray, out: NDArray) -> None:
        """Add ``L^T r`` to ``out``."""
        if self.distinct:
            out[self.dofs] += self.weights * r[:, None]
        else:
            np.add.at(out, self.dofs, self.weights * r[:, None])

    def select(self, which: NDArray) -> "Rows":
        """The rows ``which`` (mask or numbers)."""
        labels = list(np.array(self.labels)[which]) if self.labels else ()
        return Rows(self.dofs[which], self.weights[which], self.order[which], labels)

    def sorting(self, comm: MPI.Comm) -> NDArray[np.intp]:
        """Permutation that puts the rows of all ranks, concatenated, in order. Collective."""
        keys = parallel.gather_rows(comm, self.order)
        return np.lexsort(keys.T[::-1]) if keys.size else np.zeros(len(keys), dtype=np.intp)

    def sorted_labels(self, comm: MPI.Comm) -> list[str]:
        """The labels of all ranks' rows in order; numbers where there are none. Collective."""
        order = self.sorting(comm)
        named = [name for part in comm.allgather(list(self.labels)) for name in part]
        return [named[i] for i in order] if named else [str(i) for i in range(order.size)]

    def petsc_matrix(self, comm: MPI.Comm, owned: int, to_global: NDArray) -> Any:
        """``L`` as a PETSc matrix (p x n), rows in rank order. Collective.

        Args:
            owned: Number of dofs that this rank owns.
            to_global: Global number of each local dof.
        """
        from petsc4py import PETSc

        p, k = self.dofs.shape
        start = np.arange(0, p * k + 1, max(k, 1), dtype=PETSc.IntType)[: p + 1]
        columns = to_global[self.dofs].ravel().astype(PETSc.IntType)
        return PETSc.Mat().createAIJ(
            ((p, None), (owned, None)), csr=(start, columns, self.weights.ravel()), comm=comm
        )


def coordinate_order(x: NDArray, scale: float) -> NDArray[np.float64]:
    """Sorting keys from coordinates that forgive the mesh generator's rounding.

    Args:
        x: Coordinates, shape (p, 3) [m].
        scale: A length of the body [m]; differences below 1e-8 of it are noise.
    """
    return np.round(np.asarray(x, dtype=np.float64) / (1e-8 * scale)) + 0.0
