"""One-step methods with a contact law: what the theta method and generalized-alpha share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import arguments
from ..._types import AnyArray, FloatArray
from ...systems.system import PointMasses, System
from ..base import Integrator
from ..impulses.both_levels import BothLevels
from ..impulses.contact_laws import Enforcement
from .halved_steps import HalvedSteps
from .position_step import PositionStep
from .theta_linear import FactorisedThetaStep
from .theta_newton import NewtonThetaStep


class OneStepMethod(Integrator):
    """Formulas whose step is one equation for the velocity at its end, with a contact law.

    ::

        M (v_{n+1} - v_n) = J(F_theta) + L^T r,     F_theta = (1-theta) F_n + theta F_{n+1}
        u_{n+1}           = U(v_{n+1})

    The smooth impulse J is affine in the weighted mean F_theta of the forces at both ends, and the position U
    is affine in the velocity: :meth:`smooth_impulse`, :meth:`end_position` and the methods beside them are
    what a formula consists of. Linear systems under constant loads are factorised once
    (:class:`.FactorisedThetaStep`); all others take Newton iterations with contact inside
    (:class:`.NewtonThetaStep`); contact at both levels has its own iteration (:class:`.PositionStep`), and
    steps in which that fails are made in parts (:class:`.HalvedSteps`). Dofs whose motion is prescribed have
    the velocity that takes them there.

    A part :attr:`direct` of the impulses may act through M alone, after the step: it changes v_{n+1} by
    :attr:`direct_velocity`, but neither the position nor the forces that depend on it.

    Args:
        system: The system.
        dt: Time step [s].
        enforcement: The contact law.
        theta: Weight of the end of the step in F_theta, in [0, 1].
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``; point masses are always lumped.
        closing: Time [s] in which penetrations at the start are pushed out; None at once.

    Attributes:
        enforcement: The contact law.
        position: True where that is at both levels, with a contact; else None.
        h: The step that is made [s]: ``dt``, or a part of it.
        part_end: Time of the end of a part of a step [s]; None where it is that of the step.
        w: Velocities of the position problem, shape (size,) [m/s].
        r_position, r_t_position: Its impulses R, shapes (p,) and (p, components), of a step made in parts
            the forces of the last one times ``dt`` [N s].
        pressed: Mask of the points with R > 0.
        gap_start: Penetrations at the start that are pushed out in the time ``closing``, at most 0, shape
            (p,) [m].
        halved: What makes steps in parts where they fail at once; None without ``position``.
        coupled: Whether the forces of the step depend on the impulse. If not, the step is made without
            contact, and the impulse changes the velocity through M alone.
        step_solver: What finds the velocities and impulses of a step.
        u_before: Displacements before the step, shape (size,) [m].
        v_before: Velocities before the step, shape (size,) [m/s].
        iterations: Newton iterations of the last step; 0 where the matrix was factorised once.

    Raises:
        ValueError: An unknown mass; a contact that does not fit.
        NotConverged: (by ``step``) when the velocity is not found to 1e-12 of its size.
    """

    explicit = False
    state_names: tuple[str, ...] = ("u", "v", "r", "r_t")
    coupled = True
    #: Whether F_theta is the force at the weighted mean of the states instead.
    midpoint = False
    #: Reactions of the position problem times h, over the impulses R that act in its equation.
    force_part: float = 1.0
    #: Part of the impulses that acts through M alone.
    direct: float = 0.0
    #: The velocity that direct impulses give, shape (size,) [m/s], or 0.
    direct_velocity: float | FloatArray = 0.0
    step_solver: FactorisedThetaStep | NewtonThetaStep | PositionStep
    part_end: float | None = None
    halved: HalvedSteps | None = None
    w: FloatArray

    def __init__(
        self,
        system: System,
        dt: float,
        enforcement: Enforcement,
        *,
        theta: float,
        forecast: float,
        mass: str,
        closing: float | None = None,
    ) -> None:
        super().__init__(system, dt, enforcement.contact)
        self.theta, self.forecast, self.r_shift = float(theta), float(forecast), theta - 1.0
        self.mass = "lumped" if isinstance(system, PointMasses) else mass
        self.enforcement = enforcement
        self.u_before, self.v_before = np.zeros(system.size), np.zeros(system.size)
        self._forecast_u = np.zeros(system.size)
        self.iterations, self.h = 0, self.dt
        given = isinstance(enforcement, BothLevels) and (enforcement.contact is not None or self.static)
        self.position = True if given else None  # what is not given is no constant of a run
        self.closing = _closing_time(closing, enforcement)
        if self.position:
            self._take_position(enforcement)

    def _take_position(self, enforcement: Any) -> None:
        """What contact at both levels needs beside u, v and r."""
        if self.mass != "lumped":
            raise ValueError(
                f"contact at both levels (position=True) acts through the lumped mass, not {self.mass!r}: "
                "give mass='lumped', or leave it out"
            )
        if self.theta < 0.5:
            raise ValueError(f"position=True needs theta of at least 1/2, not {self.theta}")
        self.w, count = np.zeros(self.system.size), self.r.size
        if not self.static:
            self.contact_level = "position and velocity"
        self.r_position, self.r_t_position = np.zeros(count), np.zeros(self.r_t.shape)
        self.pressed = np.zeros(count, dtype=bool)
        self.gap_start: FloatArray = np.zeros(count)
        self.state_names = (*type(self).state_names, "r_position", "r_t_position", "gap_start")
        self.halved = HalvedSteps(self)

    def make_step_solver(self) -> FactorisedThetaStep | NewtonThetaStep | PositionStep:
        """The solver of the step that the system needs. Collective."""
        if self.position:
            return PositionStep(self)
        return FactorisedThetaStep(self) if self.system.steady else NewtonThetaStep(self)

    def begin(self) -> None:
        """Set the velocities of constrained dofs to zero; the first step is like all others."""
        moved, fixed = self.system.prescribed, self.system.constrained.copy()
        if moved.any:
            fixed[moved.dofs] = False
            self.u[moved.dofs] = moved(self.t)
        self.v[: self.system.owned][fixed] = 0.0
        if self.position:
            self.w[:], self.r_position[:], self.r_t_position[:] = self.v, 0.0, 0.0
            if self.contact is not None:
                self.contact.press(self.r_position > 0)  # none, after an earlier run too
            self._note_penetrations()
        self.u_before[:], self.v_before[:] = self.u, self.v

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Integrator.resume`; the contact knows again which points press. Collective."""
        super().resume(state)
        if self.position and self.contact is not None:
            self.contact.press(self.r_position > 0)
            self.contact_state = self.contact.now(self.t)

    @property
    def t(self) -> float:
        """Time of ``u`` [s]."""
        return super().t if self.part_end is None else self.part_end

    def _note_penetrations(self) -> None:
        """Keep those at the start, which close in time. Collective."""
        self.gap_start[:] = 0.0
        if self.closing is not None and self.contact is not None:
            gap = self.contact.gap_on_all_ranks(self.u, self.t)
            inside = np.isfinite(gap) & (gap < 0.0) & ~self.contact.bilateral
            self.gap_start[inside] = gap[inside]
            for each in self.contact.members:
                unseen = each.unseen_overlap(self.u) if each.allow_penetration else ""
                if unseen:
                    raise ValueError(
                        f"{unseen}, and closing= does not push it out: begin less deep, or take coarser cells"
                    )

    def least_gap(self) -> FloatArray:
        """Gaps that are asked for at ``t``: 0, or ``g_0 (1 - (t - t_0)/T)`` with ``closing=T``, (p,) [m]."""
        if self.closing is None:
            return np.zeros(self.gap_start.size)
        least: FloatArray = self.gap_start * max(0.0, 1.0 - (self.t - self.t0) / self.closing)
        return least

    def closing_rate(self) -> FloatArray:
        """Rate of :meth:`least_gap` at ``t``, shape (p,) [m/s]."""
        if self.closing is None or self.t - self.t0 >= self.closing * (1 - 1e-12):
            return np.zeros(self.gap_start.size)
        rate: FloatArray = -self.gap_start
        rate *= 1.0 / self.closing
        return rate

    def advance(self) -> None:
        """One step; the impulse found is that of the step."""
        if self.halved is None:
            self.make_part()
        else:
            self.halved.advance()

    def add_nodal_impulses(self, out: FloatArray) -> None:
        """See :meth:`.Integrator.add_nodal_impulses`: those of all parts of the step."""
        if self.halved is None or not self.halved.add_nodal_impulses(out):
            super().add_nodal_impulses(out)

    def make_part(self) -> None:
        """The step of :attr:`h` from the present state."""
        self.u_before[:], self.v_before[:] = self.u, self.v
        self.step_solver.solve()  # v_{n+1} and r
        self.step_solver.update()  # u_{n+1}

    def reactions(self) -> FloatArray:
        """See :meth:`.Integrator.reactions`: means over the last step, 0 before the first."""
        return self.step_solver.reactions()

    def contact_point(self) -> tuple[float, FloatArray]:
        """Time [s] and value [m] of the forecast ``u_n + forecast h v_n``; overwritten by the next call."""
        np.multiply(self.v_before, self.forecast * self.h, out=self._forecast_u)
        self._forecast_u += self.u_before
        return self.t - (1 - self.forecast) * self.h, self._forecast_u

    def force_point(self) -> tuple[float, FloatArray, FloatArray] | None:
        """Time, position and velocity of the force in F_theta; None where that is the mean of both ends."""
        return self.step_solver.force_point() if self.midpoint else None

    # -- the formula

    @property
    def position_sensitivity(self) -> float:
        """Derivative of u_{n+1} with respect to v_{n+1} [s]."""
        raise NotImplementedError(f"{type(self).__name__} has no position_sensitivity of u to v")

    @property
    def acting_time(self) -> float:
        """Derivative of the smooth impulse with respect to F_theta [s]."""
        return self.h

    def smooth_impulse(self, f: FloatArray) -> None:
        """Replace F_theta by the smooth impulse of the step, shape (size,) [N], [N s]."""
        f *= self.h

    def end_position(self) -> FloatArray:
        """``u_{n+1}`` at the present velocity ``v`` [m]."""
        raise NotImplementedError(f"{type(self).__name__} has no end_position(): it defines the position")

    def mean_position(self, out: FloatArray) -> None:
        """Write ``(1-theta) u_n + theta u_{n+1}`` for ``v_{n+1} = v_n``, shape (size,) [m]."""
        raise NotImplementedError(f"{type(self).__name__} has no mean_position(), where linear forces act")

    def velocity_to(self, u: FloatArray) -> FloatArray:
        """``v_{n+1}`` without direct impulses that leads to the position ``u``, shape (size,) [m], [m/s]."""
        raise NotImplementedError(f"{type(self).__name__} has no velocity_to(): it inverts end_position()")

    def move(self) -> None:
        """Set ``u`` to the position at the end of the step."""
        self.u[:] = self.end_position()

    def impulse_solver(self, solver: Any) -> Any:
        """Solver for the velocity that an impulse gives, with ``solver`` that of the equation of the step."""
        return solver

    def take_impulses(self) -> None:
        """Set :attr:`direct_velocity` after the impulses of the step were found. Collective."""


def _closing_time(closing: float | None, enforcement: Enforcement) -> float | None:
    """Validated time in which penetrations at the start are pushed out [s]."""
    if closing is None:
        return None
    if not isinstance(enforcement, BothLevels):
        raise ValueError("closing= pushes penetrations out at position level: give position=True too")
    return arguments.number("closing", closing, "be a positive time [s]", above=0.0)
