"""The theta method with a contact law: one step for linear and nonlinear systems."""

from __future__ import annotations

import numpy as np

from ... import arguments
from ..._types import FloatArray
from ...algebra.operators import SparseRows
from ...systems.system import System
from ..compiled.newton import NewtonLoop
from ..compiled.one_step import ThetaLoop
from ..energy import EnergyBalance
from ..impulses.contact_laws import Enforcement, VelocityLevel
from ..requirements import UNSTEADY, refuse, refuse_restitution
from ..step_buffer import CompiledLoop
from .one_step import OneStepMethod
from .one_step_energy import ThetaBalance
from .position_energy import PositionBalance


class ThetaMethod(OneStepMethod):
    """One-step method with weight theta on the end of the step; Di Stasio et al. (2019), (33) and (38).

    ::

        M (v_{n+1} - v_n) = h F_theta + L^T r                                       (33)
        u_{n+1}           = u_n + h [(1-theta) v_n + theta v_{n+1}]

    F_theta is the weighted mean of the forces at both ends or, with ``midpoint``, the force at the weighted
    mean of the states, (38); both are the same for linear systems under constant loads.

    Args:
        system: The system; linear, under constant loads, unless the contact law is at velocity level.
        dt: Time step [s].
        enforcement: The contact law; at velocity level the gap is evaluated at ``u_n + forecast h v_n``,
            else at ``u_{n+1}``.
        theta: Weight of the end of the step, in [0, 1].
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``; point masses are always lumped.
        midpoint: Whether the force is that at the weighted mean of the states.
        closing: See :class:`.OneStepMethod`.

    Raises:
        ValueError: An unknown mass; a system or contact that does not fit; prescribed motion with theta = 0.
        NotConverged: (by ``step``) when the velocity is not found to 1e-12 of its size.
    """

    def __init__(
        self,
        system: System,
        dt: float,
        enforcement: Enforcement,
        *,
        theta: float,
        forecast: float = 0.5,
        mass: str = "consistent",
        midpoint: bool = False,
        closing: float | None = None,
    ) -> None:
        super().__init__(system, dt, enforcement, theta=theta, forecast=forecast, mass=mass, closing=closing)
        if not isinstance(enforcement, VelocityLevel):
            refuse(UNSTEADY, arguments.a(type(self).__name__), system=system)
            refuse_restitution(enforcement.contact, "contact at the end of a one-step formula")
            if enforcement.contact is not None and theta == 0:
                raise ValueError("contact at the end of the step needs theta above 0: nothing moves it there")
        self.midpoint, self.beyond_limit, self._moved = midpoint, theta < 0.5, np.zeros(system.size)
        self.step_solver = self.make_step_solver()

    @property
    def position_sensitivity(self) -> float:
        """``theta h``."""
        return self.theta * self.h

    def end_position(self) -> FloatArray:
        """``u_{n+1}`` at the present velocity ``v``, without contact after a free step [m]."""
        return self.u_before + self.h * ((1 - self.theta) * self.v_before + self.theta * self.v)

    def mean_position(self, out: FloatArray) -> None:
        """``u_n + theta h v_n``."""
        np.multiply(self.v_before, self.position_sensitivity, out=out)
        out += self.u_before

    def velocity_to(self, u: FloatArray) -> FloatArray:
        """See :meth:`.OneStepMethod.velocity_to`; theta is above 0."""
        velocity: FloatArray = self.v_before + ((u - self.u_before) / self.h - self.v_before) / self.theta
        return velocity

    def move(self) -> None:
        """``u_{n+1} = u_n + h [(1-theta) v_n + theta v_{n+1}]``."""
        for weight, v in ((1 - self.theta, self.v_before), (self.theta, self.v)):
            np.multiply(v, weight * self.h, out=self._moved)
            self.u += self._moved

    def constrained(self, e: float) -> tuple[FloatArray, float]:
        """``u_{n+1}`` without contact, and ``theta h``."""
        return self.end_position(), self.position_sensitivity

    def balance(self) -> EnergyBalance:
        """The balance of works of the theta method; at theta = 1/2 and e = 1 nothing is lost."""
        return PositionBalance(self) if self.position else ThetaBalance(self, closes=self.coupled)

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
        """See :func:`.compiled_loop`: for linear systems under constant loads, and small nonlinear ones."""
        return (ThetaLoop if self.system.steady else NewtonLoop)(self, rows, balance)
