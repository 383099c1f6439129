"""Contact in the position problem: the impulses R, the laws that they obey, and their linearisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ... import parallel
from ..._types import FloatArray, IntArray
from ...algebra.contact_operator import RowEntries
from ...algebra.saddle_point import Constraints
from ...contact.state import ContactState, Impulses
from .active_set import ActiveSet, Arguments, blocks
from .free_tangents import FreeTangents
from .gap_slopes import GapSlopes


class PositionContact:
    """Impulses R of all points and, with the contact at the present end of a step, what they have to fulfil.

    ``0 <= R_N _|_ g(u') >= 0`` and Coulomb's law for R_T against the slip of the step, at ties ``g = 0``.

    Args:
        scheme: The :class:`.OneStepMethod`, with a contact.
        free: Mask of the dofs that nothing holds, shape (owned,).

    Attributes:
        r, r_t: Impulses R_N, shape (p,), and R_T, shape (p, components) [N s].
        state: The contact where it was looked at last; None before.
    """

    def __init__(self, scheme: Any, free: Any) -> None:
        self._scheme, system, contact = scheme, scheme.system, scheme.contact
        self.r, self.r_t = np.zeros(contact.count), np.zeros((contact.count, contact.L.components))
        self.state: ContactState | None = None
        self._free = free.astype(np.float64)
        self._global = system.global_dofs()
        self._all = int(parallel.total(system.comm, system.owned))
        varying = contact.L.iterated and not contact.constant
        self._slopes = GapSlopes(scheme) if varying else None
        rough = varying and contact.friction > 0 and parallel.anywhere(system.comm, system.constrained.any())
        self._free_tangents = FreeTangents(scheme, self._free) if rough else None

    def begin(self) -> None:
        """A step begins, with the R of the last one."""
        s = self._scheme
        self.r[:], self.state = s.r_position, None
        if s.has_friction:
            self.r_t[:] = s.r_t_position
        if self._free_tangents is not None:
            self._free_tangents.begin()

    def look(self, inverse_diagonal: FloatArray) -> Arguments:
        """The contact laws at the present end of the step. Collective.

        Args:
            inverse_diagonal: Of the matrix A there, 0 at held dofs, shape (owned,).
        """
        s, contact, u = self._scheme, self._scheme.contact, self._scheme.end_position()
        contact.press(self.r > 0)
        self.state = state = contact.at(u, s.v, s.t, every=True)
        own = state.L.diagonal(inverse_diagonal)
        c = np.where(own > 0, 1.0 / np.where(own > 0, s.position_sensitivity * own, 1.0), 0.0)
        # Ties keep their distance.
        gap = np.where(state.bilateral, state.L(u - s.u_before), state.gap - s.least_gap())
        near = np.isfinite(gap)
        tangents = self._tangents(state, near)
        slip = np.zeros(tangents.shape[:2])
        if contact.friction > 0:
            slip = np.einsum("pjk,pk->pj", tangents, self._way(state, u))
        r_t = np.einsum("pjk,pk->pj", tangents, self.r_t)
        squares = np.einsum("pjk,pjk->pj", tangents, tangents)  # not 1 where they have levers
        r_t = np.divide(r_t, squares, out=np.zeros(r_t.shape), where=squares > 0)
        z = np.where(near & (c > 0), self.r - c * np.where(near, gap, 0.0), -np.inf)
        return Arguments(state, tangents, c, gap, slip, self.r, z, r_t - c[:, None] * slip, r_t)

    def _tangents(self, state: ContactState, near: Any) -> FloatArray:
        """Tangents of the points, shape (p, d, components), d = 0 without friction. Collective."""
        if self._scheme.contact.friction == 0:
            return np.zeros((near.size, 0, self.r_t.shape[1]))
        tangents: FloatArray = state.bases[:, 1:] * (state.frictions > 0)[:, None, None]
        if self._free_tangents is not None:
            tangents = self._free_tangents.of(state, tangents, near, self._global, self._all)
        return tangents

    def linearised(self, a: Arguments, active: ActiveSet) -> tuple[Constraints, FloatArray, FloatArray]:
        """Rows of the closed points, their right-hand side, and the multipliers R. Collective.

        In velocities: ``g + S L dw = 0`` and ``s + S W_T dw = 0``; where a point slips ``R_T = mu R_N e + k
        (1 - e e^T) (R_T - c s)`` linearised, with ``e = y/|y|``, ``k = mu z/|y|`` and S the sensitivity of
        the position to the velocity.
        """
        which = np.flatnonzero(active.closed)
        S, c, d = self._scheme.position_sensitivity, a.c[which], a.tangents.shape[1]
        last = np.column_stack([self.r[which], a.r_t[which]]).ravel()
        B, G, K = self._rows(which, a, last)
        q = np.column_stack([-a.gap[which] / S, -a.slip[which] / S])
        size = np.repeat(1.0 / (c * S), 1 + d)
        slips = active.slipping[which]
        if d == 0 or not slips.any():
            return Constraints(B, G, sparse.csr_matrix((B.shape[0],) * 2), size, K), q.ravel(), last
        Q, E = np.tile(np.eye(1 + d), (which.size, 1, 1)), np.zeros((which.size, 1 + d, 1 + d))
        i, across, along = np.flatnonzero(slips), *_slip_law(a, which[slips])
        inverse = 1.0 / (c[slips] * S)
        Q[i, 1:, 1:] = across
        E[i, 1:, 0] = -inverse[:, None] * along
        E[i, 1:, 1:] = inverse[:, None, None] * (np.eye(d) - across)
        q[i, 1:] = -inverse[:, None] * np.einsum("pij,pj->pi", across, a.r_t[which[slips]])
        return Constraints(B, blocks(Q) @ G, blocks(E), size, K), q.ravel(), last

    def _rows(
        self, which: IntArray, a: Arguments, R: FloatArray
    ) -> tuple[sparse.csr_matrix, sparse.csr_matrix, sparse.csr_matrix | None]:
        """B, the derivatives G of gaps and slips, and what ``B^T R`` takes from A. Collective."""
        s, tangents = self._scheme, a.tangents[which]

        def measured(state: ContactState, u: FloatArray) -> tuple[FloatArray, RowEntries]:
            along = _turned(tangents, state.bases[which, :1])
            values = state.gap[which, None]
            if along.shape[1]:
                slip = np.einsum("pjk,pk->pj", along, self._way(state, u)[which])
                values = np.column_stack([values, slip])
            return values, state.L.row_entries(which, along, self._free, self._global, self._all)

        if self._slopes is None:
            B = a.state.L.rows(which, tangents, self._free, self._global, self._all)
            return B, B, None
        B, G, K = self._slopes.at_end(measured, a.state, ~a.state.bilateral[which], R)
        self.state = a.state = s.contact.at(s.end_position(), s.v, s.t, every=True)
        return B, G, s.position_sensitivity * K

    def _way(self, state: ContactState, u: FloatArray) -> FloatArray:
        """Ways of the points in the step relative to what is opposite, (p, components) [m]. Collective."""
        s = self._scheme
        way: FloatArray = state.L.at_points(u - s.u_before) - state.surface_way(s.t - s.h)
        return way

    def take(self, a: Arguments, active: ActiveSet, y: FloatArray) -> None:
        """Set R to the multipliers y of the closed points, 0 elsewhere."""
        which = np.flatnonzero(active.closed)
        y = y.reshape(which.size, 1 + a.tangents.shape[1])
        self.release()
        self.r[which] = y[:, 0]
        self.r_t[which] = np.einsum("pj,pjk->pk", y[:, 1:], a.tangents[which])

    def release(self) -> None:
        """Set R to 0."""
        self.r[:], self.r_t[:] = 0.0, 0.0

    def keep(self) -> None:
        """Give the scheme the R that was found; that of open points is round-off."""
        s = self._scheme
        self.r[~s.contact.bilateral & (self.r < 0)] = 0.0
        s.r_position[:] = self.r
        if s.has_friction:
            s.r_t_position[:] = self.r_t

    def impulses(self, state: ContactState, part: float = 1.0) -> Impulses:
        """R times a part, with the contact in a state."""
        return Impulses(state, part * self.r, part * self.r_t if self._scheme.has_friction else None)


def _slip_law(a: Arguments, points: IntArray) -> tuple[FloatArray, FloatArray]:
    """``k (1 - e e^T)``, shape (n, d, d), and ``mu e``, shape (n, d), of points that slip."""
    mu, y = a.state.frictions[points], a.y[points]
    length = np.linalg.norm(y, axis=1)
    length = np.where(length > 0, length, 1.0)
    e = y / length[:, None]
    k = np.where(mu > 0, mu * np.maximum(a.z[points], 0.0), 0.0) / length
    return k[:, None, None] * (np.eye(y.shape[1]) - e[:, :, None] * e[:, None, :]), mu[:, None] * e


def _turned(tangents: FloatArray, normals: FloatArray) -> FloatArray:
    """Tangents, shape (n, d, components), less their parts along normals, shape (n, 1, components)."""
    if not tangents.shape[1]:
        return tangents
    turned: FloatArray = tangents - np.einsum("pjk,plk->pjl", tangents, normals) * normals
    return turned
