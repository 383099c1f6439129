"""The discrete energy balances of one-step methods with contact at both levels."""

from __future__ import annotations

from typing import Any

from ..._types import FloatArray, Forces
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
        self.integrator.after_part = super().step

    def step(self) -> None:
        """Nothing is left to do at the end of a step."""

    def _change(self) -> FloatArray:
        change: FloatArray = self.integrator.w - self._v
        return change

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

    As :class:`PositionBalance`, with the reactions times h in the place of R; ``dissipated`` is what the works
    of forces, reactions and moved dofs in the position problem give beyond ``(|w|_M^2 - |v|_M^2)/2``. It is the
    difference of works, without a sign by itself.
    """

    _acting, _weight = OneStepBalance._acting, OneStepBalance._weight

    def _formula_loss(self, du: FloatArray, dv: FloatArray, before: Forces, after: Forces) -> float:
        s, moved = self.integrator, self.integrator.system.prescribed
        mean = 0.5 * sum(external - internal - damped for internal, external, damped in (before, after))
        works = float(du @ mean)
        works += s.contact_work((s.u - self._u) / s.h, s.step_solver.position_impulses())
        if moved.any:
            works += float(du[moved.dofs] @ s.step_solver.position_reactions()[0])
        return works - 0.5 * (self._norm(s.w) - self._norm(self._v))
