"""The theta method with a contact law: one step for linear and nonlinear systems."""

from __future__ import annotations

import numpy as np

from .._deprecated import attributes_as_keywords
from .._types import FloatArray
from ..algebra import kernels
from ..algebra.operators import SparseRows
from ..systems.system import PointMasses, System
from .base import Integrator
from .contact_laws import Enforcement, VelocityLevel
from .energy import EnergyBalance
from .one_step_energy import ThetaBalance
from .requirements import refuse_restitution_and_friction, refuse_unsteady
from .step_buffer import REPLACED, CompiledLoop
from .theta_linear import FactorisedThetaStep
from .theta_newton import NewtonThetaStep

#: What the compiled loop does in the place of the scheme.
_REPLACED = (*REPLACED, "contact_point", "end_position", "constrained", "substeps", "force_point")


class ThetaMethod(Integrator):
    """One-step method with weight theta on the end of the step; Di Stasio et al. (2019), (33) and (38).

    ::

        M (v_{n+1} - v_n) = h F_theta + L^T r                                       (33)
        u_{n+1}           = u_n + h [(1-theta) v_n + theta v_{n+1}]

    F_theta is the weighted mean of the forces at both ends or, with ``midpoint``, the force at the weighted
    mean of the states, (38); both are the same for linear systems under constant loads. These are factorised
    once (:class:`.FactorisedThetaStep`); all others take Newton iterations with contact inside
    (:class:`.NewtonThetaStep`). Dofs whose motion is prescribed have the velocity that takes them there.

    Args:
        system: The system; linear, under constant loads, unless the contact law is at velocity level.
        dt: Time step [s].
        enforcement: The contact law; at velocity level the gap is evaluated at ``u_n + forecast h v_n``,
            else at ``u_{n+1}``.
        theta: Weight of the end of the step, in [0, 1].
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``; point masses are always lumped.
        midpoint: Whether the force is that at the weighted mean of the states.

    Attributes:
        enforcement: The contact law.
        coupled: Whether the forces of the step depend on the impulse. If not, the step is made without
            contact, and the impulse changes the velocity through M alone.
        step_solver: What finds the velocities and impulses of a step.
        u_before: Displacements before the step, shape (size,) [m].
        v_before: Velocities before the step, shape (size,) [m/s].
        iterations: Newton iterations of the last step; 0 where the matrix was factorised once.

    Raises:
        ValueError: An unknown mass; a system or contact that does not fit; prescribed motion with theta = 0.
        NotConverged: (by ``step``) when the velocity is not found to 1e-12 of its size.
    """

    explicit = False
    state_names = ("u", "v", "r", "r_t")
    coupled = True

    @attributes_as_keywords(coupled="coupled")
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
    ) -> None:
        super().__init__(system, dt, enforcement.contact)
        at_velocity = isinstance(enforcement, VelocityLevel)
        if not at_velocity:
            refuse_unsteady(system, "the theta method")
        if enforcement.contact is not None and not at_velocity:
            refuse_restitution_and_friction(enforcement.contact, "contact at the end of a one-step formula")
            if theta == 0:
                raise ValueError("contact at the end of the step needs theta above 0: nothing moves it there")
        self.theta, self.forecast, self.midpoint = float(theta), float(forecast), midpoint
        self.beyond_limit, self.r_shift = theta < 0.5, theta - 1.0
        self.mass = "lumped" if isinstance(system, PointMasses) else mass
        self.enforcement = enforcement
        self.u_before, self.v_before = np.zeros(system.size), np.zeros(system.size)
        self._forecast_u = np.zeros(system.size)
        self.iterations = 0
        self.step_solver: FactorisedThetaStep | NewtonThetaStep = self.make_step_solver()

    def make_step_solver(self) -> FactorisedThetaStep | NewtonThetaStep:
        """The solver of the step that the system needs. Collective."""
        return FactorisedThetaStep(self) if self.system.steady else NewtonThetaStep(self)

    def begin(self) -> None:
        """Set the velocities of constrained dofs to zero; the first step is like all others."""
        moved, fixed = self.system.prescribed, self.system.constrained.copy()
        if moved.any:
            fixed[moved.dofs] = False
            self.u[moved.dofs] = moved(self.t)
        self.v[: self.system.owned][fixed] = 0.0
        self.u_before[:], self.v_before[:] = self.u, self.v

    def advance(self) -> None:
        """One step; the impulse found is that of the step."""
        self.u_before[:], self.v_before[:] = self.u, self.v
        self.step_solver.solve()  # v_{n+1} and r, (33) or (38)
        self.step_solver.update()  # u_{n+1}

    def reactions(self) -> FloatArray:
        """Mean forces over the last step that make the moved dofs move, shape (k,) [N]."""
        return self.step_solver.reactions()

    def contact_point(self) -> tuple[float, FloatArray]:
        """Time [s] and value [m] of the forecast ``u_n + forecast h v_n``; overwritten by the next call."""
        np.multiply(self.v_before, self.forecast * self.dt, out=self._forecast_u)
        self._forecast_u += self.u_before
        return self.t - (1 - self.forecast) * self.dt, self._forecast_u

    def end_position(self) -> FloatArray:
        """``u_{n+1}`` without contact [m]."""
        return self.u_before + self.dt * ((1 - self.theta) * self.v_before + self.theta * self.v)

    def constrained(self, e: float) -> tuple[FloatArray, float]:
        """``u_{n+1}`` without contact, and ``theta h``."""
        return self.end_position(), self.theta * self.dt

    def force_point(self) -> tuple[float, FloatArray, FloatArray] | None:
        """Time, position and velocity of the force in F_theta; None where that is the mean of both ends."""
        return self.step_solver.force_point() if self.midpoint else None

    def balance(self) -> EnergyBalance:
        """The balance of works of the theta method; at theta = 1/2 and e = 1 nothing is lost."""
        return ThetaBalance(self, closes=self.coupled)

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop | str:
        """See :meth:`.Integrator.compiled_loop`: for linear systems under constant loads, without friction.

        A class that changes the step has no loop; one that changes parameters alone has that of its base.
        """
        if kernels.overridden(self, _REPLACED, "compiled_loop") is not None:
            return super().compiled_loop(rows, balance)
        if not self.system.steady:
            return "the system is not linear under constant loads, its steps take Newton iterations"
        from .compiled.theta import ThetaBlock

        try:
            return ThetaBlock(self, rows, balance)
        except kernels.NotCompiled as reason:
            return str(reason)
