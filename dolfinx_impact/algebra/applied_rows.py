"""Contact operator whose Delassus operator is applied, never formed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from .operators import SparseRows


class AppliedRows(SparseRows):
    """Base of operators with rows that change from step to step, or that several operators make together.

    A subclass has :meth:`velocities`, :meth:`add_impulses`, :meth:`diagonal`, ``components`` and ``support``.
    """

    iterated = True

    def __init__(self, order: AnyArray, *, shared: bool) -> None:
        self.order, self.labels = np.ascontiguousarray(order, dtype=np.float64), ()
        self.distinct, self.collective = False, shared  # type: ignore[misc]

    @property
    def count(self) -> int:
        """Number of rows on this rank."""
        count: int = self.order.shape[0]
        return count

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x``, shape (p,), in the unit of ``x``. Collective where a row is."""
        return self.velocities(x)[0].copy()

    def at_points(self, x: FloatArray) -> FloatArray:
        """``W x``, shape (p, components), in the unit of ``x``. Collective where a row is."""
        return self.velocities(x)[1].copy()

    def add_transpose(self, r: FloatArray, out: FloatArray) -> None:
        """Add ``L^T r`` to the owned entries of ``out``. Collective where a row is."""
        self.add_impulses(r, None, None, out)

    def add_scaled_transpose(self, r: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Add ``D L^T r`` to the owned entries of ``out``. Collective where a row is."""
        self.add_impulses(r, None, d, out)

    def groups(self) -> IntArray:
        """One group: all rows are solved together."""
        return np.zeros(self.count, dtype=np.int64)

    def product(self, d: FloatArray, which: IntArray) -> FloatArray:
        """Not available: H is applied, not formed."""
        raise NotImplementedError("H of these rows is applied, not formed")

    def select(self, which: AnyArray) -> SparseRows:
        """Not available: rows are taken whole."""
        raise NotImplementedError("these rows are taken whole")

    def petsc_matrix(self, comm: Any, owned: int, to_global: Any) -> Any:
        """Not available: the rows have no fixed dofs."""
        raise NotImplementedError("these rows have no fixed dofs")
