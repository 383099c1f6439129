"""The discrete energy balances of one-step methods with contact at both levels."""

from __future__ import annotations

import numpy as np

from ..._types import FloatArray, Forces
from ..energy import TERMS
from .one_step_energy import OneStepBalance, ThetaBalance


class PositionBalance(ThetaBalance):
    """Energy balance of a step with two contact problems, an identity for linear forces.

    With the velocity w and the impulses R of the position problem, and ``p = P - R``::

        E' - E = f.(u' - u) + R.W(u' - u)/h + p.W(w + v')/2 - (theta - 1/2)(|w - v|_M^2 + |u' - u|_K^2)

    The second and the third term are ``contact``, the last one is ``dissipated``. With fixed flat obstacles,
    without friction and with e = 0 the contact terms are ``-R g(u)/h - R.L v' - p.H p/2``, which is not
    positive from a state that is not inside: no energy is created. Where normals turn, obstacles move or
    points rub they have no sign by themselves. At moved dofs the impulses that give them their v' do work
    with the mean of w and v'.

    Terms are summed after every part of a step.
    """

    compiled = None  # type: ignore[assignment]

    def start(self) -> None:
        """Energies at t_0; the scheme asks for a sum after every part of a step."""
        super().start()
        self.integrator.halved.after_part = self.part

    def step(self) -> None:
        """Nothing is left to do at the end of a step."""

    def part(self) -> None:
        """Sums of a part of a step; the next one begins with the forces of the last velocities."""
        super().step()
        s = self.integrator
        if s.system.has_damping or not (s.system.linear or hasattr(s.system, "deformation")):
            self._parts = self._forces(s.t, s.u, s.v)

    def _end(self) -> FloatArray:
        end: FloatArray = self.integrator.w
        return end

    def _acting(self, before: Forces, after: Forces) -> Forces:
        s, v = self.integrator, self.integrator.v.copy()
        s.v[:] = s.w  # by which the scheme knows its force point
        forces = super()._acting(before, after)
        s.v[:] = v
        return forces

    def _contact_work(self) -> float:
        s = self.integrator
        R, P = s.step_solver.position_impulses(), s.impulses
        mean = 0.5 * (s.w + s.v)
        work: float = s.contact_work((s.u - self._u) / s.h - mean, R) + s.contact_work(mean, P)
        return work

    def _reaction_work(self, du: FloatArray) -> float:
        s, moved = self.integrator, self.integrator.system.prescribed.dofs
        forces, impulses = s.step_solver.position_reactions()
        return float(du @ forces) + float(impulses @ (0.5 * (s.w + s.v))[moved])


class AlphaPositionBalance(PositionBalance):
    """Energy balance of generalized-alpha with contact at both levels.

    As :class:`PositionBalance`, with the reactions times h in the place of R; ``dissipated`` is what the
    works of forces, reactions and moved dofs in the position problem give beyond ``(|w|_M^2 - |v|_M^2)/2``.
    It is the difference of works, without a sign by itself.
    """

    compiled = None  # type: ignore[assignment]
    _acting, _weight = OneStepBalance._acting, OneStepBalance._weight

    def _formula_loss(self, du: FloatArray, dv: FloatArray, before: Forces, after: Forces) -> float:
        s, moved = self.integrator, self.integrator.system.prescribed
        mean = 0.5 * sum(external - internal - damped for internal, external, damped in (before, after))
        works = float(du @ mean)
        works += s.contact_work((s.u - self._u) / s.h, s.step_solver.position_impulses())
        if moved.any:
            works += float(du[moved.dofs] @ s.step_solver.position_reactions()[0])
        return works - 0.5 * (self._norm(s.w) - self._norm(self._v))


class StaticBalance(OneStepBalance):
    """Works of equilibria: ``(u' - u).(F + F')/2`` of forces, reactions and contact, those of both ends.

    There is no kinetic energy. In the first step, whose beginning need not be an equilibrium, external forces
    and contact are those at its end, and half of the change of the internal forces is ``dissipated``.
    """

    compiled = None  # type: ignore[assignment]
    at_dofs: tuple[str, ...] = ("_pushed", "_held")
    state_names: tuple[str, ...] = (*TERMS, "_pushed", "_held")

    def start(self) -> None:
        """Energies at t_0; the scheme asks for a sum after every part of a step."""
        n = self.integrator.system.owned
        self._pushed, self._held, self._first = np.zeros(n), np.zeros(n), self.integrator.n == 0
        super().start()
        self.kinetic = 0.0
        self.integrator.halved.after_part = self.part

    def step(self) -> None:
        """Nothing is left to do at the end of a step."""

    def part(self) -> None:
        """Works of a part of a step."""
        s, n = self.integrator, self.integrator.system.owned
        du, before, after = (s.u - self._u)[:n], self._parts, self._forces(s.t, s.u, 0.0 * s.v)
        pushed, held = np.zeros(s.system.size), np.zeros(n)
        s.impulses.add_to(pushed)
        held[s.system.prescribed.dofs] = s.reactions()
        w, pushed = 1.0 if self._first else 0.5, pushed[:n] / s.h
        self.internal_work += 0.5 * float(du @ (before[0] + after[0]))
        self.external += float(du @ ((1 - w) * (before[1] + self._held) + w * (after[1] + held)))
        self.contact += float(du @ ((1 - w) * self._pushed + w * pushed))
        self.dissipated += (w - 0.5) * float(du @ (after[0] - before[0]))
        self._u[:], self._parts, self._first = s.u, after, False
        self._pushed, self._held = pushed, held
        self._energies()
        self.kinetic = 0.0
