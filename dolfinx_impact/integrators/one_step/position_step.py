"""Contact at position and velocity level: the position problem under the stiffness, then Newton's law."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import sparse

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ...algebra import complementarity, kernels
from ...algebra.saddle_point import Constraints, SaddlePoint
from ...algebra.sparse_solver import LinearSolverFailed
from ...contact.state import ContactState, Impulses
from ..impulses.delassus_lumped import lumped_delassus
from .active_set import ActiveSet, Arguments, blocks, diagonal
from .free_tangents import FreeTangents
from .gap_slopes import GapSlopes
from .step_equation import MOST, SHORTEST, SQUARED, TOLERANCE, StepEquation

#: Time step of differences for prescribed velocities, over that of the scheme.
_VELOCITY_STEP = 0.01


#: Misfit of the contact laws at most, relative to the length of the system.
_CLOSED = 1e-11

#: Gaps of surfaces jump where segments that are slivers, 1e-10 of a facet, come and go: after so many
#: iterations a correction of that part of the velocity is accepted. Without mass the round-off of slender
#: parts is as large, at which corrections come to rest.
_SETTLED, _SLIVERS, _AT_REST = 8, 1e-8, 20


class PositionStep(StepEquation):
    """Two contact problems, one after the other, for the theta method with 1/2 <= theta <= 1.

    The first one, for the position, is that of implicit contact::

        M (w - v_n) = h F_theta + B^T R,      u' = u_n + h [(1-theta) v_n + theta w]
        0 <= R_N _|_ g(u', t') >= 0,          |R_T| <= mu R_N against the slip of the step

    It is solved by a semi-smooth Newton iteration for w and R (Hueber, Wohlmuth, Comput. Methods Appl. Mech.
    Eng. 194 (2005), doi:10.1016/j.cma.2004.08.006; Gitterle et al., Int. J. Numer. Methods Eng. 84 (2010),
    doi:10.1002/nme.2907; Alart, Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991),
    doi:10.1016/0045-7825(91)90022-X): with ``z = R_N - c g`` and ``y = R_T - c s``, s the slip,

    - ``z <= 0``: R = 0;
    - ``|y| <= mu z``: g = 0, s = 0;
    - else: g = 0, ``R_T = mu R_N y/|y|``.

    B is frozen in an iteration. The second problem is Newton's law for v' with the same forces, in which R
    does not stand (Laursen, Love, Int. J. Numer. Methods Eng. 53 (2002), doi:10.1002/nme.264)::

        M (v' - v_n) = h F_theta + B^T P      and the law of :class:`.BothLevels`

    Args:
        scheme: The :class:`.OneStepMethod`, with a contact; its mass is lumped.

    Raises:
        NotConverged: (by ``solve``) without a solution; the state is that of the last iteration then.
    """

    def __init__(self, scheme: Any) -> None:
        super().__init__(scheme)
        system, contact = scheme.system, scheme.contact
        self._response = lumped_delassus(scheme) if contact is not None and self.inertia else None
        self._saddle = SaddlePoint(system.comm, system.owned)
        self._global = system.global_dofs()
        self._all = int(parallel.total(system.comm, system.owned))
        self._free_dofs = self._free.astype(np.float64)
        self._diagonal = np.zeros(system.owned)
        count, components = (0, 0) if contact is None else (contact.count, contact.L.components)
        self._r, self._r_t = np.zeros(count), np.zeros((count, components))
        self._state: ContactState | None = None
        self._factorised: bytes | None = None
        self._kicks = np.zeros(system.prescribed.dofs.size)
        varying = contact is not None and contact.L.iterated and not contact.constant
        self._slopes = GapSlopes(scheme) if varying else None
        rough = varying and contact.friction > 0 and parallel.anywhere(system.comm, system.constrained.any())
        self._free_tangents = FreeTangents(scheme, self._free_dofs) if rough else None
        #: Whether one iteration is exact while no point opens or closes, and none slips.
        flat = self._solver.exact and (contact is None or contact.constant)
        damped = system.has_damping and getattr(system, "rayleigh", None) is None  # with a kink, by a user
        self._linear = system.linear and flat and not damped
        # With exact tangents the next correction would be of the order of the square of this one.
        self._enough = SQUARED if flat else TOLERANCE
        self._settled = _SETTLED if varying else MOST if self.inertia else _AT_REST

    # -- the position problem

    def solve(self) -> None:
        """From ``u_before``, ``v_before`` to w, in ``v``, and R. Collective."""
        s, n = self._scheme, self._scheme.system.owned
        self._r[:], self._state = s.r_position, None
        if s.has_friction:
            self._r_t[:] = s.r_t_position
        if self._free_tangents is not None:
            self._free_tangents.begin()
        self.begin()
        sets: list[ActiveSet] = []
        y: FloatArray = np.zeros((0, 0))
        found, whole, change, accepted, singly = False, False, np.inf, 0.0, False
        for s.iterations in range(MOST + 1):
            self._assemble()
            looked = None if s.contact is None else self._look()
            active = ActiveSet.none() if looked is None else looked.active_set()
            if looked is not None and sets:
                active = looked.without_reversals(active, sets[-1], y)
            y = np.zeros((0, 0)) if looked is None else looked.y
            same = self._at_last(sets, active)
            exact = self._linear and self._agree(self._all_stick(active))
            found = whole and ((same and exact) or change <= accepted) and self._fulfils(looked)
            if found or s.iterations == MOST:
                break
            singly = singly or (not same and self._comes_back(sets, active))
            if singly and looked is not None:
                active = self._changed_once(sets[-1], active, looked.z > -np.inf)
            sets.append(active)
            before = s.v.copy()
            self._correct(looked, active)
            size = self._size(before)
            change = self._largest(np.abs(s.v[:n] - before[:n]))
            accepted = max(self._enough * size, self._round_off())
            if s.iterations >= self._settled:
                accepted = max(accepted, _SLIVERS * size)
            whole = self._shortened(before, same and change > accepted) == 1.0
        if s.contact is not None:
            s.contact.agree_on_failure()
        if not found:
            raise complementarity.NotConverged(
                f"no equilibrium of contact at t = {s.t:.6g} s with a step of {s.h:.6g} s: the last of "
                f"{s.iterations} corrections is {change:.3g} m/s"
            )
        if s.contact is not None:
            self._r[~s.contact.bilateral & (self._r < 0)] = 0.0  # round-off
        s.r_position[:] = self._r
        if s.has_friction:
            s.r_t_position[:] = self._r_t

    def _fulfils(self, looked: Arguments | None) -> bool:
        """Whether the contact laws hold at all points. Collective."""
        if looked is None:
            return True
        return bool(self._largest(looked.misfits()) <= _CLOSED * self._scheme.system.length)

    def _assemble(self) -> None:
        """The matrix A at the present end of the step. Collective."""
        s, weight = self._scheme, self._scheme.acting_time * self._scheme.theta
        rate = weight if self.inertia else 0.0
        if self._solver.assemble(*self.force_point(), rate, weight * s.position_sensitivity):
            self._factorised = None
            self._diagonal = np.where(self._free, 1.0 / diagonal(self._solver.matrix), 0.0)

    def _look(self) -> Arguments:
        """The contact at the present end of the step, with A assembled there. Collective."""
        s = self._scheme
        u, contact = s.end_position(), s.contact
        contact.press(self._r > 0)
        self._state = state = contact.at(u, s.v, s.t, every=True)
        own = state.L.diagonal(self._diagonal)
        c = np.where(own > 0, 1.0 / np.where(own > 0, s.position_sensitivity * own, 1.0), 0.0)
        # Ties keep their distance.
        gap = np.where(state.bilateral, state.L(u - s.u_before), state.gap - s.least_gap())
        tangents = np.zeros((gap.size, 0, self._r_t.shape[1]))
        if contact.friction > 0:
            tangents = state.bases[:, 1:] * (state.frictions > 0)[:, None, None]
        if self._free_tangents is not None:
            near = np.isfinite(gap)
            tangents = self._free_tangents.of(state, tangents, near, self._global, self._all)
        slip = np.zeros(tangents.shape[:2])
        if contact.friction > 0:
            slip = np.einsum("pjk,pk->pj", tangents, self._way(state, u))
        r_t = np.einsum("pjk,pk->pj", tangents, self._r_t)
        squares = np.einsum("pjk,pjk->pj", tangents, tangents)  # not 1 where they have levers
        r_t = np.divide(r_t, squares, out=np.zeros(r_t.shape), where=squares > 0)
        near = np.isfinite(gap)
        z = np.where(near & (c > 0), self._r - c * np.where(near, gap, 0.0), -np.inf)
        return Arguments(state, tangents, c, gap, slip, self._r, z, r_t - c[:, None] * slip, r_t)

    def _correct(self, looked: Arguments | None, active: ActiveSet) -> None:
        """Add the correction to the velocity and replace R. Collective."""
        s, n, comm = self._scheme, self._scheme.system.owned, self._scheme.system.comm
        which = np.flatnonzero(active.closed)
        try:
            if looked is None or not parallel.anywhere(comm, which.size > 0):
                self._solver.solve(self._rest, self._x)
                self._r[:], self._r_t[:], self._factorised = 0.0, 0.0, None
                s.v[:n] -= self._x[:n]
                return
            rows, q, y = self._constraints(looked, active)
            key = active.key() if s.contact.constant and self._all_stick(active) else None
            if not self._agree(key is not None and key == self._factorised):
                self._factorised = None
                self._saddle.factorise(self._solver.matrix, rows, symmetric=self._solver.symmetric)
                self._factorised = key
            s.v[:n] += self._saddle.solve(-self._rest, q, y)
        except LinearSolverFailed as error:
            raise complementarity.NotConverged(
                f"the equations of contact have no solution at t = {s.t:.6g} s ({error})"
            ) from None
        y = y.reshape(which.size, 1 + looked.tangents.shape[1])
        self._r[:], self._r_t[:] = 0.0, 0.0
        self._r[which] = y[:, 0]
        self._r_t[which] = np.einsum("pj,pjk->pk", y[:, 1:], looked.tangents[which])

    def _constraints(self, a: Arguments, active: ActiveSet) -> tuple[Constraints, FloatArray, FloatArray]:
        """Rows of the closed points, their right-hand side, and the multipliers R. Collective.

        In velocities: ``g + S L dw = 0`` and ``s + S W_T dw = 0``; where a point slips ``R_T = mu R_N e + k
        (1 - e e^T) (R_T - c s)`` linearised, with ``e = y/|y|``, ``k = mu z/|y|`` and S the sensitivity of
        the position to the velocity.
        """
        which = np.flatnonzero(active.closed)
        S, c, d = self._scheme.position_sensitivity, a.c[which], a.tangents.shape[1]
        last = np.column_stack([self._r[which], a.r_t[which]]).ravel()
        B, G, K = self._rows(which, a, last)
        n = which.size
        q = np.column_stack([-a.gap[which] / S, -a.slip[which] / S])
        size = np.repeat(1.0 / (c * S), 1 + d)
        slips = active.slipping[which]
        if d == 0 or not slips.any():
            return Constraints(B, G, sparse.csr_matrix((B.shape[0],) * 2), size, K), q.ravel(), last
        Q, E = np.tile(np.eye(1 + d), (n, 1, 1)), np.zeros((n, 1 + d, 1 + d))
        i, mu, y = np.flatnonzero(slips), a.state.frictions[which[slips]], a.y[which[slips]]
        length = np.linalg.norm(y, axis=1)
        e = y / np.where(length > 0, length, 1.0)[:, None]
        k = np.where(mu > 0, mu * np.maximum(a.z[which[slips]], 0.0), 0.0) / np.where(length > 0, length, 1.0)
        across = k[:, None, None] * (np.eye(d) - e[:, :, None] * e[:, None, :])
        inverse = 1.0 / (c[slips] * S)
        Q[i, 1:, 1:] = across
        E[i, 1:, 0] = -(mu * inverse)[:, None] * e
        E[i, 1:, 1:] = inverse[:, None, None] * (np.eye(d) - across)
        q[i, 1:] = -inverse[:, None] * np.einsum("pij,pj->pi", across, a.r_t[which[slips]])
        return Constraints(B, blocks(Q) @ G, blocks(E), size, K), q.ravel(), last

    def _rows(
        self, which: IntArray, a: Arguments, R: FloatArray
    ) -> tuple[sparse.csr_matrix, sparse.csr_matrix, sparse.csr_matrix | None]:
        """B, the derivatives G of gaps and slips, and what ``B^T R`` takes from A. Collective."""
        s, tangents = self._scheme, a.tangents[which].copy()

        def rows(state: ContactState, tangents: FloatArray) -> sparse.csr_matrix:
            return state.L.rows(which, tangents, self._free_dofs, self._global, self._all)

        def measured(state: ContactState, u: FloatArray) -> tuple[FloatArray, sparse.csr_matrix]:
            along = tangents
            if tangents.shape[1]:  # which turn with the normals
                n = state.bases[which, :1]
                along = along - np.einsum("pjk,plk->pj", along, n)[:, :, None] * n
            slip = (
                np.einsum("pjk,pk->pj", along, self._way(state, u)[which])
                if along.shape[1]
                else along[:, :, 0]
            )
            return np.column_stack([state.gap[which], slip]), rows(state, along)

        if self._slopes is None:
            B = rows(a.state, tangents)
            return B, B, None
        B, G, K = self._slopes.at_end(measured, a.state, ~a.state.bilateral[which], R)
        self._state = a.state = s.contact.at(s.end_position(), s.v, s.t, every=True)
        return B, G, s.position_sensitivity * K

    def _way(self, state: ContactState, u: FloatArray) -> FloatArray:
        """Ways of the points in the step relative to what is opposite, (p, components) [m]. Collective."""
        s = self._scheme
        way: FloatArray = state.L.at_points(u - s.u_before) - state.surface_way(s.t - s.h)
        return way

    def _shortened(self, before: FloatArray, search: bool) -> float:
        """Halve the correction while it turns a cell or, at a settled set, does not reduce the residual.

        Returns:
            The part that was taken.
        """
        s, end = self._scheme, self._scheme.v.copy()
        part = self._shorten(before, not search)
        if part < SHORTEST:
            self._take_whole(end)
            return 1.0
        while not np.isfinite(self._residual_norm()):
            part /= 2
            if part < SHORTEST:
                raise complementarity.NotConverged(
                    f"every correction at t = {s.t:.6g} s turns an element inside out, or gives forces that "
                    "are not finite"
                )
            s.v[:] = before + part * (end - before)
            self._evaluate_residual()
        return part

    def _impulses(self) -> FloatArray:
        """``B^T R``, shape (size,) [N s]; overwritten by the next call."""
        self._x[:] = 0.0
        if self._state is not None:
            r_t = self._r_t if self._scheme.has_friction else None
            Impulses(self._state, self._r, r_t).add_to(self._x)
        return self._x

    def position_impulses(self) -> Impulses:
        """Reactions of the position problem times the step, with the contact at its end."""
        s, part = self._scheme, self._scheme.force_part
        state: Any = self._state if self._state is not None else s.contact_state
        return Impulses(state, part * self._r, part * self._r_t if s.has_friction else None)

    # -- the velocity problem

    def update(self) -> None:
        """Move to u', then find v' and P. Collective.

        Raises:
            NotConverged: An element is turned inside out at u'.
        """
        s, n, moved = self._scheme, self._scheme.system.owned, self._scheme.system.prescribed
        s.w[:] = s.v
        s.move()
        if s.midpoint and self._inverted(s.u):
            raise complementarity.NotConverged(f"an element is turned inside out at t = {s.t:.6g} s")
        s.v[:n] -= s.force_part * s.system.inverse_mass * self._rest[:n]  # less M^-1 B^T R
        if moved.any:
            s.v[moved.dofs] = moved.velocity(s.t, _VELOCITY_STEP * s.h)
        assert self._response is not None
        s.pressed = self._r > 0
        impulses = s.enforcement.impulses(s, self._response)
        s.set_impulses(impulses)
        self._response.apply(impulses, s.v)
        self._state = s.contact_state
        self._kicks = s.system.mass[moved.dofs] * (s.v - s.w)[moved.dofs]

    def reactions(self) -> FloatArray:
        """See :meth:`.Integrator.reactions`: means over the last step, 0 before the first."""
        s = self._scheme
        if s.halved.reactions is not None:
            return np.array(s.halved.reactions)
        reactions: FloatArray = self._reactions + (self._kicks - s.moved_impulses(s.impulses)) / s.h
        return reactions

    def position_reactions(self) -> tuple[FloatArray, FloatArray]:
        """Forces of the position problem [N], and impulses that give v' [N s], at moved dofs, (k,) each."""
        s = self._scheme
        R = np.array(s.moved_impulses(self.position_impulses()))
        P = s.moved_impulses(s.impulses)
        return self._reactions - R / s.h, self._kicks - (P - R)

    def compiled(self) -> Any:
        """None: no compiled loop iterates over positions."""
        raise kernels.NotCompiled("contact at both levels (position=True) is found by an iteration")

    def _size(self, v: FloatArray) -> float:
        """Scale of velocities [m/s], as ever; what the forces give counts under the stiffness.

        Through the mass alone they would give some (omega h)^2 times what they do.
        """
        s, n = self._scheme, self._scheme.system.owned
        given = s.h * self._diagonal * np.abs(self._f[:n])
        return self._largest(np.abs(v[:n]) + np.abs(s.v_before[:n]) + given)

    def _round_off(self) -> float:
        """See :meth:`.StepEquation._round_off`; gaps round like the places of points.

        Where normals turn these are coordinates, of the size of the system.
        """
        s, own = self._scheme, super()._round_off()
        if s.contact is None or s.contact.constant:
            return own
        of_gaps = 4 * np.finfo(np.float64).eps * s.system.length / s.position_sensitivity
        return max(own, float(of_gaps))

    # -- agreement of ranks

    def _agree(self, flag: bool) -> bool:
        return not parallel.anywhere(self._scheme.system.comm, not flag)

    def _all_stick(self, active: ActiveSet) -> bool:
        return not self._scheme.has_friction or not (active.slipping & active.closed).any()

    def _at_last(self, sets: list[ActiveSet], active: ActiveSet) -> bool:
        """Whether the set is that of the last iteration, on all ranks. Collective."""
        return self._agree(bool(sets) and sets[-1].key() == active.key())

    def _comes_back(self, sets: list[ActiveSet], active: ActiveSet) -> bool:
        """Whether the set is one that an iteration has had before, on all ranks. Collective."""
        key = active.key()
        same = np.array([each.key() == key for each in sets], dtype=np.int8)
        self._scheme.system.comm.Allreduce(MPI.IN_PLACE, same, op=MPI.MIN)
        return bool(same.any())

    def _changed_once(self, last: ActiveSet, wanted: ActiveSet, near: BoolArray) -> ActiveSet:
        """The last set with the first of the changes that are wanted, which ends cycles. Collective.

        That is the least-index rule of Murty, Opsearch 11 (1974): for linear problems no set comes back.
        """
        slips = wanted.slipping & wanted.closed
        differs = (last.closed != wanted.closed) | ((last.slipping & last.closed) != slips)
        first, contact = np.flatnonzero(differs), self._scheme.contact
        mine = contact.mine.start + int(first[0]) if first.size else contact.total
        chosen = contact.comm.allreduce(mine, op=MPI.MIN)
        closed, slipping = last.closed & near, last.slipping.copy()
        if chosen == mine < contact.total:
            closed[first[0]], slipping[first[0]] = wanted.closed[first[0]], wanted.slipping[first[0]]
        return ActiveSet(closed, slipping)
