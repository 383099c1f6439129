"""Contact at position and velocity level: the position problem under the stiffness, then Newton's law."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import parallel
from ..._types import FloatArray
from ...algebra import complementarity, kernels
from ...algebra.saddle_point import SaddlePoint
from ...algebra.sparse_solver import LinearSolverFailed
from ...contact.state import Impulses
from ..impulses.delassus_lumped import lumped_delassus
from .active_set import ActiveSet, ActiveSets, Arguments, diagonal
from .position_contact import PositionContact
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
        self._contact = None if contact is None else PositionContact(scheme, self._free)
        self._saddle = SaddlePoint(system.comm, system.owned)
        self._diagonal = np.zeros(system.owned)
        self._factorised: bytes | None = None
        self._kicks = np.zeros(system.prescribed.dofs.size)
        #: Whether one iteration is exact while no point opens or closes, and none slips.
        flat = self._solver.exact and (contact is None or contact.constant)
        damped = system.has_damping and getattr(system, "rayleigh", None) is None  # with a kink, by a user
        self._linear = system.linear and flat and not damped
        # With exact tangents the next correction would be of the order of the square of this one.
        self._enough = SQUARED if flat else TOLERANCE
        slivers = contact is not None and contact.L.iterated and not contact.constant
        self._settled = _SETTLED if slivers else MOST if self.inertia else _AT_REST

    # -- the position problem

    def solve(self) -> None:
        """From ``u_before``, ``v_before`` to w, in ``v``, and R. Collective."""
        s, contact = self._scheme, self._contact
        if contact is not None:
            contact.begin()
        self.begin()
        sets = ActiveSets(s.contact, s.system.comm)
        found, whole, change, accepted = False, False, np.inf, 0.0
        for s.iterations in range(MOST + 1):
            self._assemble()
            looked = None if contact is None else contact.look(self._diagonal)
            active = sets.wanted(looked)
            exact = sets.same and self._linear and not self._anywhere(active.slips)
            found = whole and (exact or change <= accepted) and self._fulfils(looked)
            if found or s.iterations == MOST:
                break
            active, before = sets.taken(active, looked), s.v.copy()
            self._correct(looked, active)
            change, accepted = self._change(before)
            whole = self._shortened(before, sets.same and change > accepted) == 1.0
        if s.contact is not None:
            s.contact.agree_on_failure()
        if not found:
            raise complementarity.NotConverged(
                f"no equilibrium of contact at t = {s.t:.6g} s with a step of {s.h:.6g} s: the last of "
                f"{s.iterations} corrections is {change:.3g} m/s"
            )
        if contact is not None:
            contact.keep()

    def _change(self, before: FloatArray) -> tuple[float, float]:
        """Sizes of the correction of a velocity, and of one that is accepted [m/s]. Collective."""
        s, n = self._scheme, self._scheme.system.owned
        size = self._size(before)
        accepted = max(self._enough * size, self._round_off())
        if s.iterations >= self._settled:
            accepted = max(accepted, _SLIVERS * size)
        return self._largest(np.abs(s.v[:n] - before[:n])), accepted

    def _fulfils(self, looked: Arguments | None) -> bool:
        """Whether the contact laws hold at all points. Collective."""
        if looked is None:
            return True
        return bool(self._largest(looked.misfits()) <= _CLOSED * self._scheme.system.length)

    def _assemble(self) -> None:
        """The matrix A at the present end of the step. Collective."""
        s, weight = self._scheme, self._scheme.acting_time * self._scheme.theta
        rate = weight if self.inertia else 0.0
        try:
            changed = self._solver.assemble(*self.force_point(), rate, weight * s.position_sensitivity)
        except LinearSolverFailed as error:
            raise complementarity.NotConverged(
                f"there is no tangent at t = {s.t:.6g} s ({error}): take a smaller time step"
            ) from None
        if changed:
            self._factorised = None
            self._diagonal = np.where(self._free, 1.0 / diagonal(self._solver.matrix), 0.0)

    def _correct(self, looked: Arguments | None, active: ActiveSet) -> None:
        """Add the correction to the velocity and replace R. Collective."""
        s, n, contact = self._scheme, self._scheme.system.owned, self._contact
        try:
            if contact is None or looked is None or not self._anywhere(bool(active.closed.any())):
                self._solver.solve(self._rest, self._x)
                s.v[:n] -= self._x[:n]
                self._factorised = None
                if contact is not None:
                    contact.release()
                return
            rows, q, y = contact.linearised(looked, active)
            key = active.key() if s.contact.constant and not self._anywhere(active.slips) else None
            if self._anywhere(key is None or key != self._factorised):
                self._factorised = None
                self._saddle.factorise(self._solver.matrix, rows, symmetric=self._solver.symmetric)
                self._factorised = key
            s.v[:n] += self._saddle.solve(-self._rest, q, y)
        except LinearSolverFailed as error:
            raise complementarity.NotConverged(
                f"the equations of contact have no solution at t = {s.t:.6g} s ({error})"
            ) from None
        contact.take(looked, active, y)

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
        if self._contact is not None and self._contact.state is not None:
            self._contact.impulses(self._contact.state).add_to(self._x)
        return self._x

    def position_impulses(self) -> Impulses:
        """Reactions of the position problem times the step, with the contact at its end."""
        assert self._contact is not None
        state: Any = self._contact.state if self._contact.state is not None else self._scheme.contact_state
        return self._contact.impulses(state, self._scheme.force_part)

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
        assert self._response is not None and self._contact is not None
        s.pressed = self._contact.r > 0
        impulses = s.enforcement.impulses(s, self._response)
        s.set_impulses(impulses)
        self._response.apply(impulses, s.v)
        self._contact.state = s.contact_state
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

    def _anywhere(self, flag: bool) -> bool:
        return parallel.anywhere(self._scheme.system.comm, flag)
