"""Derivatives of the gaps of surfaces, which their rows are not where they touch at an edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray

#: Displacements of the differences, relative to the length of the system: as large as the gaps that are to
#: be closed, since at the rim of contact slopes vary over ways as short as the overlap.
_STEPS = 1e-12, 1e-9


class GapSlopes:
    """Rows ``G = dg/du`` of the closed points by differences of the gaps, many dofs in each.

    The rows L of surfaces, by which impulses act, leave out how the normals, the overlaps and the dual
    functions change: nothing where surfaces meet everywhere, up to all of it at the edge of contact. Dofs
    that no row has in common move at the same time (Curtis, Powell, Reid, IMA J. Appl. Math. 13 (1974),
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

    def rows(
        self, L: sparse.csr_matrix, which: IntArray, gap: FloatArray, varying: BoolArray
    ) -> sparse.csr_matrix:
        """G in the pattern of L, at the present end of the step. Collective.

        Args:
            L: Normal rows of the points ``which``, shape (n, dofs of all ranks).
            which: Numbers of these points, shape (n,).
            gap: Gaps of all points, shape (p,) [m].
            varying: Mask of the points ``which`` that are no ties, shape (n,).
        """
        s = self._scheme
        self._colour(L)
        first, n, u = s.system.global_dofs()[:1], s.system.owned, s.end_position()
        own = np.zeros(n, dtype=np.int64)
        mine = (self._dofs >= first.sum()) & (self._dofs < first.sum() + n)
        own[self._dofs[mine] - first.sum()] = 1 + self._colours[mine]
        of_entries = self._colours[np.searchsorted(self._dofs, L.indices)]
        row = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
        least, most = (part * s.system.length for part in _STEPS)
        G, step = (
            L.copy(),
            min(max(parallel.largest(self._comm, np.abs(gap[which][np.isfinite(gap[which])])), least), most),
        )
        for colour in range(int(self._colours.max(initial=-1)) + 1):
            self._u[:] = u
            self._u[:n][own == 1 + colour] += step
            slopes = (s.contact.gap(self._u, s.t)[which] - gap[which]) / step
            entries = of_entries == colour
            found = slopes[row[entries]]
            known = np.isfinite(found) & (L.data[entries] != 0.0) & varying[row[entries]]
            G.data[entries] = np.where(known, found, L.data[entries])
        return G

    def _colour(self, L: sparse.csr_matrix) -> None:
        """Divide the dofs of the rows of all ranks into sets without a common row. Collective."""
        pattern = L.indptr.tobytes() + L.indices.tobytes()
        if not parallel.anywhere(self._comm, pattern != self._pattern):
            return
        self._pattern = pattern
        row = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr)) + sum(
            self._comm.allgather(L.shape[0])[: self._comm.rank]
        )
        every = parallel.gather_rows(self._comm, np.column_stack([row, L.indices]).astype(np.float64))
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
