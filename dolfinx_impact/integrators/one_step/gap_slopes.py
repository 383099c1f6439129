"""Derivatives of the gaps of surfaces, which their rows are not where they touch at an edge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ...algebra.contact_operator import RowEntries
from ...contact.state import ContactState

#: Displacements of the differences, relative to the length of the system: as large as the gaps that are to
#: be closed, since at the rim of contact slopes vary over ways as short as the overlap.
#: In space larger than the jumps where segments that are slivers, 1e-10 of a facet, come and go.
_STEPS = {2: (1e-12, 1e-9), 3: (1e-8, 1e-7)}
#: Gaps and slips of points, shape (n, 1 + d) [m], and their rows, of a state at displacements.
Measured = Callable[[ContactState, FloatArray], tuple[FloatArray, RowEntries]]


class GapSlopes:
    """Derivatives G of gaps and slips of closed points, and K of ``B^T R``, by differences in many dofs.

    The rows L of surfaces, by which impulses act, leave out how the normals, the overlaps and the dual
    functions change: nothing where surfaces meet everywhere, up to all of it at the edge of contact. K is the
    stiffness of forces that turn and wander with the facets: without it each correction of two columns that
    are compressed is 0.24 of the last one at 5 %, 0.5 at 10 %, and above 1 at 20 %. Dofs that no point has in
    common move at the same time (Curtis, Powell, Reid, IMA J. Appl. Math. 13 (1974),
    doi:10.1093/imamat/13.1.117): some 20 differences in the plane and some 100 in space, whatever the size.

    Args:
        scheme: The :class:`.OneStepMethod`; its contact is one of surfaces, or a list with one.
    """

    def __init__(self, scheme: Any) -> None:
        self._scheme, self._comm = scheme, scheme.system.comm
        self._dofs: IntArray = np.zeros(0, dtype=np.int64)
        self._colours: IntArray = np.zeros(0, dtype=np.int64)
        self._pattern = b""
        self._u = np.zeros(scheme.system.size)
        self._total = int(parallel.total(self._comm, scheme.system.owned))

    def at_end(
        self, measured: Measured, state: ContactState, varies: BoolArray, R: FloatArray
    ) -> tuple[sparse.csr_matrix, sparse.csr_matrix, sparse.csr_matrix]:
        """B, G and K at the present end of the step; the contact is evaluated elsewhere then. Collective.

        Args:
            measured: Gives gaps and slips of the points in question and their rows B, those of a point one
                after the other.
            state: The contact at the end of the step.
            varies: Mask of these points without ties, shape (n,).
            R: Impulses along the rows of B.

        Returns:
            B, G of its shape, and the rows of K at the dofs of this rank.
        """
        s, n, u = self._scheme, self._scheme.system.owned, self._scheme.end_position()
        values, base = measured(state, u)
        B = base.matrix(values.size, self._total)
        each, row = values.shape[1], np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
        self._colour(row // each, B.indices, varies.size)
        own, colours = self._own_colours(n), self._colours[np.searchsorted(self._dofs, B.indices)]
        least, most = (part * s.system.length for part in _STEPS[2 if s.system.gdim < 3 else 3])
        deep = np.abs(values[np.isfinite(values[:, 0]) & varies, 0])
        G, step = B.copy(), min(max(parallel.largest(self._comm, deep), least), most)
        found: list[FloatArray] = [np.zeros((0, 3))]
        known = np.repeat(varies, each)
        for colour in range(int(self._colours.max(initial=-1)) + 1):
            self._u[:] = u
            self._u[:n][own == colour] += step
            there, moved_rows = measured(s.contact.at(self._u, s.v, s.t, every=True), self._u)
            with np.errstate(invalid="ignore"):  # ties have gaps that are not finite
                slopes, entries = ((there - values) / step).ravel(), colours == colour
            taken = (np.isfinite(slopes) & known)[row[entries]]
            G.data[entries] = np.where(taken, slopes[row[entries]], B.data[entries])
            moved = np.full(varies.size, -1)
            moved[row[entries] // each] = B.indices[entries]
            found.append(_entries(_change(base, moved_rows), moved, each, R / step))
        return B, G, self._of_this_rank(np.concatenate(found))

    def _own_colours(self, n: int) -> IntArray:
        """Colours of the n dofs of this rank, -1 where the dof does not move."""
        first = int(self._scheme.system.global_dofs()[:1].sum())
        own: IntArray = np.full(n, -1, dtype=np.int64)
        mine = (self._dofs >= first) & (self._dofs < first + n)
        own[self._dofs[mine] - first] = self._colours[mine]
        own[self._scheme.system.constrained[:n]] = -1
        return own

    def _of_this_rank(self, entries: FloatArray) -> sparse.csr_matrix:
        """The matrix of entries (row, column, value) of all ranks, its rows at the owned dofs. Collective."""
        from petsc4py import PETSc

        n = self._scheme.system.owned
        rows, row = np.unique(entries[:, 0].astype(PETSc.IntType), return_inverse=True)
        matrix = PETSc.Mat().create(self._comm)
        matrix.setSizes(((n, None), (n, None)))
        matrix.setType("aij")
        matrix.setUp()
        places = (row, entries[:, 1].astype(PETSc.IntType))
        own = sparse.csr_matrix((entries[:, 2], places), (rows.size, self._total))
        matrix.setValuesIJV(own.indptr, own.indices, own.data, addv=True, rowmap=rows)
        matrix.assemble()
        start, columns, values = matrix.getValuesCSR()
        matrix.destroy()
        return sparse.csr_matrix((values, columns, start), (n, self._total))

    def _colour(self, point: IntArray, dofs: IntArray, count: int) -> None:
        """Divide the dofs of the points of all ranks into sets without a common point. Collective."""
        pattern = point.tobytes() + dofs.tobytes()
        if not parallel.anywhere(self._comm, pattern != self._pattern):
            return
        self._pattern = pattern
        row = point + sum(self._comm.allgather(count)[: self._comm.rank])
        every = parallel.gather_rows(self._comm, np.column_stack([row, dofs]).astype(np.float64))
        self._dofs, column = np.unique(every[:, 1].astype(np.int64), return_inverse=True)
        ones = np.ones(len(every), dtype=bool)
        meets = sparse.csr_matrix((ones, (every[:, 0].astype(np.int64), column)))
        apart = (meets.T @ meets).tocsr()
        self._colours = np.full(self._dofs.size, -1, dtype=np.int64)
        for k in range(self._dofs.size):
            taken = self._colours[apart.indices[apart.indptr[k] : apart.indptr[k + 1]]]
            free = np.ones(taken.size + 1, dtype=bool)
            free[taken[(taken >= 0) & (taken < free.size)]] = False
            self._colours[k] = int(np.argmax(free))


def _change(before: RowEntries, after: RowEntries) -> RowEntries:
    """What is added to entries; most often they have the same places."""
    if np.array_equal(before.row, after.row) and np.array_equal(before.dof, after.dof):
        return after._replace(value=after.value - before.value)
    taken = before._replace(value=-before.value)
    return RowEntries(*(np.concatenate(each) for each in zip(after, taken)))


def _entries(change: RowEntries, moved: IntArray, each: int, R: FloatArray) -> FloatArray:
    """Entries (dof, moved dof, value) that changes of the rows give, one dof of each point being moved."""
    column = moved[change.row // max(each, 1)]
    counts = (column >= 0) & (change.value != 0.0)
    row, dof, value = (each[counts] for each in change)
    entries: FloatArray = np.column_stack([dof, column[counts], value * R[row]])
    return entries
