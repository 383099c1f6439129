"""Tangents along which points of surfaces can slip, where some of their dofs are held."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray
from ...contact.state import ContactState

#: Square of a row's part that moves free dofs across the normal, over that of the row, which counts as none.
_HELD = 1e-3


class FreeTangents:
    """Takes tangents away whose rows over the free dofs are all but multiples of the normal's row.

    Such are those of nodes on a line of symmetry or an axis: two conditions on one free direction leave the
    impulses undetermined, and closed and sticking at the same time is more than that direction can do. What
    is taken in a step stays so until its end, so that no set of points comes and goes with it. Where
    prescribed motion gives the slip along a tangent it stays: the friction is known there.

    Args:
        scheme: The :class:`.OneStepMethod`, with a contact.
        free: 1 at free dofs, else 0, shape (owned,).
    """

    def __init__(self, scheme: Any, free: FloatArray) -> None:
        self._scheme, self._free, self._all_dofs = scheme, free, np.ones(free.size)
        members = scheme.contact.members
        on_surfaces = [np.full(each.count, each.L.iterated) for each in members]
        self._on_surfaces: BoolArray = np.concatenate(on_surfaces)
        self._taken = np.zeros(self._on_surfaces.size, dtype=np.int64)
        block, moved = scheme.system.block, scheme.system.prescribed
        self._moved = np.zeros(scheme.system.size)
        self._moved[moved.dofs] = 1.0
        some_held = (free.reshape(-1, block) == 0.0).any(axis=1)
        self._beside = np.repeat(some_held, block).astype(np.float64)  # all dofs of nodes with a held one

    def begin(self) -> None:
        """A step begins."""
        self._taken[:] = 0

    def of(
        self, state: ContactState, tangents: FloatArray, near: BoolArray, to_global: Any, total: int
    ) -> FloatArray:
        """The tangents of all points, shape (p, d, components), 0 in place of those taken. Collective.

        Args:
            state: The contact.
            tangents: Its tangents, of the same shape, 0 without friction.
            near: Mask of the points that something is opposite to, shape (p,).
            to_global, total: See :meth:`.ContactOperator.rows`.
        """
        s, d, L = self._scheme, tangents.shape[1], state.L
        rough = near & self._on_surfaces & (state.frictions > 0)
        which = np.flatnonzero(rough & (L.diagonal(self._beside) > 0))
        if not parallel.anywhere(s.system.comm, which.size > 0):
            return tangents
        way = L.at_points(self._moved * (s.end_position() - s.u_before))  # by prescribed motion
        rows = L.rows(which, tangents[which], self._free, to_global, total)
        sizes = L.diagonal(self._all_dofs)[which]
        products = np.empty((which.size, 1 + d, 1 + d))
        for i in range(1 + d):
            for j in range(i + 1):
                of_both = rows[i :: 1 + d].multiply(rows[j :: 1 + d]).sum(axis=1)
                products[:, i, j] = products[:, j, i] = np.asarray(of_both).ravel()
        normal, mixed = products[:, 0, 0], products[:, 1:, 0]
        along = np.divide(mixed, normal[:, None], out=np.zeros(mixed.shape), where=normal[:, None] > 0)
        squares, directions = np.linalg.eigh(products[:, 1:, 1:] - along[:, :, None] * mixed[:, None, :])
        held = (squares <= _HELD * sizes[:, None]).sum(axis=1)
        self._taken[which] = np.maximum(self._taken[which], held)
        some = self._taken[which] > 0
        if not some.any():
            return tangents
        points, directions = which[some], directions[some]
        largest = np.abs(directions).argmax(axis=1)[:, None]
        directions *= np.where(np.take_along_axis(directions, largest, axis=1) < 0, -1.0, 1.0)
        turned = np.einsum("pij,pik->pjk", directions, tangents[points])
        taken, way = np.arange(d) < self._taken[points, None], way[points]
        slip = np.where(taken, np.einsum("pjk,pk->pj", turned, way), 0.0)
        known = (slip**2).sum(axis=1) > _HELD * (way**2).sum(axis=1)
        turned[taken & ~known[:, None]] = 0.0
        free: FloatArray = tangents.copy()
        free[points] = turned
        return free
