"""Contact operators of several contacts as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from .operators import SparseRows


class StackedRows(SparseRows):
    """Rows of several operators over the same dofs, one after the other; H is applied, never formed.

    Args:
        members: The operators; what they hold at a call counts.
        order: Sorting keys of all rows; see :class:`SparseRows`.
    """

    iterated = True

    def __init__(self, members: Sequence[SparseRows], order: AnyArray) -> None:
        self.members, self.labels, self.distinct = tuple(members), (), False
        self.order = np.ascontiguousarray(order, dtype=np.float64)
        self.collective = any(each.collective for each in members)  # type: ignore[misc]
        self._ends = np.cumsum([each.count for each in members])[:-1]

    def __repr__(self) -> str:
        return f"StackedRows: {', '.join(map(repr, self.members))}"

    @property
    def count(self) -> int:
        """Number of rows on this rank."""
        count: int = self.order.shape[0]
        return count

    @property
    def components(self) -> int:
        """Number of components of the vectors at a point, the largest of the members."""
        return max(each.components for each in self.members)

    @property
    def support(self) -> IntArray:
        """Owned dofs on which the rows act."""
        support: IntArray = np.unique(np.concatenate([each.support.ravel() for each in self.members]))
        return support

    def __call__(self, x: FloatArray) -> FloatArray:
        """``L x``, shape (p,), in the unit of ``x``. Collective where a member is."""
        return np.concatenate([each(x) for each in self.members])

    def at_points(self, x: FloatArray) -> FloatArray:
        """See :meth:`.SparseRows.at_points`; missing components are zero."""
        return self._padded([each.at_points(x) for each in self.members])

    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :meth:`.SparseRows.velocities`."""
        normal, vectors = zip(*(each.velocities(x) for each in self.members))
        return np.concatenate(normal), self._padded(list(vectors))

    def _padded(self, vectors: list[FloatArray]) -> FloatArray:
        width = self.components
        return np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in vectors])

    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """See :meth:`.SparseRows.add_impulses`."""
        vectors = [None] * len(self.members) if f is None else np.split(f, self._ends)
        for each, part, vector in zip(self.members, np.split(r, self._ends), vectors):
            each.add_impulses(part, None if vector is None else vector[:, : each.components], d, out)

    def add_transpose(self, r: FloatArray, out: FloatArray) -> None:
        """Add ``L^T r`` to the owned entries of ``out``."""
        self.add_impulses(r, None, None, out)

    def add_scaled_transpose(self, r: FloatArray, d: FloatArray, out: FloatArray) -> None:
        """Add ``D L^T r`` to the owned entries of ``out``."""
        self.add_impulses(r, None, d, out)

    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T``, shape (p,)."""
        return np.concatenate([each.diagonal(d) for each in self.members])

    def product(self, d: FloatArray, which: IntArray) -> FloatArray:
        """Not available: H is applied, not formed."""
        raise NotImplementedError("H of stacked contacts is applied, not formed")

    def select(self, which: AnyArray) -> SparseRows:
        """Not available: rows are taken whole."""
        raise NotImplementedError("stacked rows are taken whole")

    def groups(self) -> IntArray:
        """One group: all rows are solved together."""
        return np.zeros(self.count, dtype=np.int64)
