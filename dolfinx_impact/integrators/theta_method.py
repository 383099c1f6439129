"""The theta method for linear systems."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..systems.system import System
from .base import Integrator
from .central_differences import refuse_restitution_and_friction, refuse_unsteady
from .contact_laws import Enforcement, VelocityLevel
from .delassus import contact_response
from .energy import Balance, ThetaBalance


class ThetaMethod(Integrator):
    """One-step method with weight theta on the end of the step, for linear systems, F = f - K u::

        M (v_{n+1} - v_n) = h [(1-theta) F_n + theta F_{n+1}] + L^T r
        u_{n+1}           = u_n + h [(1-theta) v_n + theta v_{n+1}]

    With ``dv = v_{n+1} - v_n``: ``(M + h^2 theta^2 K) dv = h F(u_n + theta h v_n) + L^T r``. The
    matrix is factorised once. With friction normal and tangential impulses are found together, the
    tangential law on v_{n+1}.

    Args:
        system: A linear system.
        dt: Time step [s].
        enforcement: The contact law; at velocity level its gap is looked at ``u_n + forecast h v_n``,
            else at ``u_{n+1}``.
        theta: Weight of the end of the step, in [0, 1].
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``.
        coupled: Whether the forces of the step answer to the impulse. If not, the step is made
            without contact, and the impulse changes the velocity through M alone.

    Attributes:
        u_before: Displacements before the step, shape (size,) [m].
        v_before: Velocities before the step, shape (size,) [m/s].

    Raises:
        ValueError: An unknown mass.
    """

    state_names = ("u", "v", "r", "r_t")

    def __init__(
        self,
        system: System,
        dt: float,
        enforcement: Enforcement,
        *,
        theta: float,
        forecast: float = 0.5,
        mass: str,
        coupled: bool = True,
    ) -> None:
        super().__init__(system, dt, enforcement.contact)
        if enforcement.contact is not None and not isinstance(enforcement, VelocityLevel):
            refuse_restitution_and_friction(enforcement.contact, "contact at the end of a one-step formula")
            if theta == 0:
                raise ValueError("contact at the end of the step needs theta above 0: nothing moves it there")
        refuse_unsteady(system, "the theta method")
        self.theta, self.forecast, self.mass = float(theta), float(forecast), mass
        self.beyond_limit, self.r_shift = theta < 0.5, theta - 1.0
        self._solver = system.implicit_solver((theta * dt) ** 2, mass)
        self._enforcement, self._coupled = enforcement, coupled
        self.u_before, self.v_before = np.zeros(system.size), np.zeros(system.size)
        self._at, self._f, self._dv = (np.zeros(system.size) for _ in range(3))
        if enforcement.contact is not None:
            solver = self._solver if coupled else system.implicit_solver(0.0, mass)
            self._response = contact_response(self, solver)

    def begin(self) -> None:
        """Nothing but to still the held dofs: the first step is like all others."""
        self.v[: self.system.owned][self.system.held] = 0.0
        self.u_before[:], self.v_before[:] = self.u, self.v

    def advance(self) -> None:
        """One step; the impulse found is that of the step."""
        h, theta = self.dt, self.theta
        self.u_before[:], self.v_before[:] = self.u, self.v
        np.multiply(self.v, theta * h, out=self._at)
        self._at += self.u
        self.system.force(self.t, self._at, self.v, self._f)
        self._f *= h
        self._solver.solve(self._f, self._dv)
        self.v += self._dv
        if self.contact is not None:
            self.r[:] = self._enforcement.impulses(self, self._response)
            self._response.push(self.r, self.v)
        for weight, v in ((1 - theta, self.v_before), (theta, self.v)):
            np.multiply(v, weight * h, out=self._dv)
            self.u += self._dv

    @property
    def contact_time(self) -> float:
        """Time of the forecast position [s]."""
        return self.t - (1 - self.forecast) * self.dt

    def contact_position(self) -> NDArray:
        """The forecast position ``u_n + forecast h v_n`` [m], kept until the next call."""
        np.multiply(self.v_before, self.forecast * self.dt, out=self._at)
        self._at += self.u_before
        return self._at

    def end_position(self) -> NDArray:
        """``u_{n+1}`` without contact [m]."""
        return self.u_before + self.dt * ((1 - self.theta) * self.v_before + self.theta * self.v)

    def constrained(self, e: float) -> tuple[NDArray, float]:
        """``u_{n+1}`` without contact, and ``theta h``."""
        return self.end_position(), self.theta * self.dt

    def balance(self) -> Balance:
        """The theta method's own balance; at theta = 1/2 and e = 1 nothing is lost."""
        return ThetaBalance(self, closes=self._coupled)
