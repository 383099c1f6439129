"""The position problem without mass, and the first displacement of its iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import parallel
from ..._types import FloatArray
from .active_set import ActiveSet
from .position_step import PositionStep

#: Part of a prescribed way in which the difference of forces is taken.
_PART = 1e-6


class StaticStep(PositionStep):
    """``-h F(t', u') = B^T R`` with the conditions of contact of :class:`.PositionStep`, and P = R.

    The iteration starts from the linear step of the prescribed motion: from the state before, a motion that
    strains the cells beside it alone may lead to an equilibrium with cells turned inside out.

    Args:
        scheme: The :class:`.Static` scheme.
    """

    inertia, compiled = False, PositionStep.compiled

    def __init__(self, scheme: Any) -> None:
        super().__init__(scheme)
        self._rest_velocity = np.zeros(scheme.system.size)

    def begin(self) -> None:
        """The displacement of the linear step, with its residual. Collective."""
        s, moved = self._scheme, self._scheme.system.prescribed
        s.v[:] = 0.0
        self._evaluate_residual()
        pushed = self._reactions_before()
        if moved.any:
            way = np.zeros(s.system.size)
            way[moved.dofs] = moved(s.t) - s.u_before[moved.dofs]
            rest = self._rest.copy()
            s.v[:] = way * (_PART / s.h)
            self._evaluate_residual()
            rest += (self._rest - rest) / _PART
            s.v[:] = 0.0
            self._assemble()
            self._linear_step(way, rest - pushed)
            s.v[moved.dofs] = way[moved.dofs] / s.h
            self._evaluate_residual()
            if not np.isfinite(self._residual_norm()):
                s.v[:] = way / s.h
                self._evaluate_residual()

    def _reactions_before(self) -> FloatArray:
        """``B^T R`` at the beginning of the step, without which what is pressed would spring back [N s]."""
        s, contact, pushed = self._scheme, self._contact, np.zeros(self._scheme.system.size)
        if contact is not None and parallel.anywhere(s.contact.comm, contact.r.any()):
            contact.impulses(s.contact.at(s.u_before, s.v, s.t - s.h, every=True)).add_to(pushed)
            pushed[: s.system.owned][s.system.constrained] = 0.0
        return pushed

    def _linear_step(self, way: FloatArray, rest: FloatArray) -> None:
        """Velocities of the linear step whose residual is ``rest``, under ties alone. Collective."""
        s, n = self._scheme, self._scheme.system.owned
        s.v[:] = way / s.h
        if s.contact is None or not parallel.anywhere(s.contact.comm, s.contact.bilateral.any()):
            self._solver.solve(rest, self._x)
            s.v[:n] -= self._x[:n]
            return
        assert self._contact is not None
        looked = self._contact.look(self._diagonal)
        tied = looked.state.bilateral & (looked.c > 0)
        rows, q, y = self._contact.linearised(looked, ActiveSet(tied, np.zeros_like(tied)))
        self._factorised = None
        self._saddle.factorise(self._solver.matrix, rows, symmetric=self._solver.symmetric)
        s.v[:n] += self._saddle.solve(-rest, q, 0.0 * y)

    def _evaluate_residual(self) -> None:
        """``-h F(t', u')`` at rest, without impulses [N s]."""
        s, system = self._scheme, self._scheme.system
        u, n, dofs = s.end_position(), system.owned, system.prescribed.dofs
        system.force(s.t, u, self._rest_velocity, self._f)
        self._inside_out = self._inverted(u)
        self._reactions = -self._f[dofs]
        self._rest[:n] = -s.h * self._f[:n]
        self._rest[:n][system.constrained] = 0.0

    def _size(self, v: Any) -> float:
        """Scale of the displacements over h [m/s]."""
        s, n = self._scheme, self._scheme.system.owned
        size: float = self._largest(np.abs(s.u_before[:n]) + np.abs(s.end_position()[:n])) / s.h
        return size

    def update(self) -> None:
        """Move to u', where the reactions are the impulses. Collective."""
        s = self._scheme
        s.w[:] = s.v
        s.move()
        if self._contact is None:
            return
        s.pressed = self._contact.r > 0
        state = s.contact.at(s.u, s.v, s.t, every=True)
        state.closed = s.contact.closed(state.gap - s.least_gap()) | s.pressed
        s.set_impulses(self._contact.impulses(state))
        self._contact.state = s.contact_state
