"""Contact operators of several contacts as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._types import AnyArray, FloatArray, Int64Array, IntArray
from .contact_operator import ContactOperator, RowEntries


class StackedRows(ContactOperator):
    """Rows of several operators over the same dofs, one after the other.

    Args:
        members: The operators; what they hold at a call counts.
        order: Sorting keys of all rows; see :class:`.ContactOperator`.
    """

    iterated = True

    def __init__(self, members: Sequence[ContactOperator], order: AnyArray) -> None:
        self.order = np.ascontiguousarray(order, dtype=np.float64)
        self.members, self.collective = tuple(members), any(each.collective for each in members)
        self._ends = np.cumsum([each.count for each in members])[:-1]

    def __repr__(self) -> str:
        return f"StackedRows: {', '.join(map(repr, self.members))}"

    @property
    def components(self) -> int:
        """Number of components of the vectors at a point, the largest of the members."""
        return max(each.components for each in self.members)

    @property
    def support(self) -> IntArray:
        """Owned dofs on which the rows act; some of them more than once."""
        return np.concatenate([each.support for each in self.members])

    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :meth:`.ContactOperator.velocities`."""
        normal, vectors = zip(*(each.velocities(x) for each in self.members))
        return np.concatenate(normal), self._padded(list(vectors))

    def _padded(self, vectors: list[FloatArray]) -> FloatArray:
        width = self.components
        return np.concatenate([wider(each, width) for each in vectors])

    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """See :meth:`.ContactOperator.add_impulses`."""
        vectors = [None] * len(self.members) if f is None else np.split(f, self._ends)
        for each, part, vector in zip(self.members, np.split(r, self._ends), vectors):
            each.add_impulses(part, None if vector is None else vector[:, : each.components], d, out)

    def row_entries(
        self, which: IntArray, tangents: FloatArray, d: FloatArray, to_global: Int64Array, total: int
    ) -> RowEntries:
        """See :meth:`.ContactOperator.row_entries`."""
        starts, parts, m = [0, *self._ends], [], 1 + tangents.shape[1]
        for each, first in zip(self.members, starts):
            mine = np.flatnonzero((which >= first) & (which < first + each.count))
            along = tangents[mine][:, :, : each.components]
            found = each.row_entries(which[mine] - first, along, d, to_global, total)
            parts.append(found._replace(row=mine[found.row // m] * m + found.row % m))
        return RowEntries(*(np.concatenate(each) for each in zip(*parts)))

    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T``, shape (p,)."""
        return np.concatenate([each.diagonal(d) for each in self.members])


def wider(values: FloatArray, width: int) -> FloatArray:
    """The columns, padded with zeros to ``width``; np.pad takes several times as long."""
    return np.hstack([values, np.zeros((len(values), width - values.shape[1]))])
