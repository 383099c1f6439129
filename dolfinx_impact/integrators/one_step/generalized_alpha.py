"""Nonsmooth generalized-alpha: implicit, second order, with numerical damping of high frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import arguments
from ..._types import AnyArray, FloatArray
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...algebra.sparse_solver import diagonal_factors
from ...contact.contact_set import Contacts
from ...systems.system import System
from ..compiled.one_step import AlphaLoop
from ..energy import EnergyBalance
from ..impulses.both_levels import BothLevels
from ..impulses.contact_laws import VelocityLevel
from ..options import CONSISTENT, POSITION, TOUCHING, Option
from ..step_buffer import CompiledLoop
from .one_step import OneStepMethod
from .one_step_energy import GeneralizedAlphaBalance
from .position_energy import AlphaPositionBalance
from .theta_linear import theta_solver

RHO = {
    "rho_inf": Option(
        0.8, "-", "factor of the highest frequencies in a step; 1: Moreau-Jean", interval="[0, 1]"
    )
}


class GeneralizedAlpha(OneStepMethod):
    """Nonsmooth generalized-alpha, contact at velocity level, coupled. Implicit, damps high frequencies.

    Chen, Acary, Virlez and Bruls, Int. J. Numer. Methods Eng. 96 (2013), doi:10.1002/nme.4563; Acary, ZAMM 96
    (2016), doi:10.1002/zamm.201400231; constants of Chung and Hulbert, J. Appl. Mech. 60 (1993),
    doi:10.1115/1.2900803. Impulses stay out of the auxiliary acceleration a, which would remember them::

        (1-am) M a' + am M a = (1-af) F(t', u', v') + af F(t, u, v),       M a_0 = F_0
        v' = v + h (1-gamma) a + h gamma a' + w,                           M w = L^T r
        u' = u + h v + h^2 (1/2 - beta) a + h^2 beta a' + h/2 w
        where g(u + h/2 v) <= tol:  0 <= L (v' + e v)  _|_  r >= 0

    with ``am = (2 rho - 1)/(rho + 1)``, ``af = rho/(rho + 1)``, ``gamma = 1/2 + af - am``,
    ``beta = (gamma + 1/2)^2/4`` for ``rho = rho_inf``, by which a step multiplies the stiffest modes. With
    ``rho_inf = 1`` it is :class:`.MoreauJean` with theta = 1/2. The weight h/2 of w in the position is that
    of Moreau-Jean; with h the impacts of a bar would add energy.

    As one equation for v' it is ``M (v' - c w - v) = J + (1 - c) L^T r`` with ``c = 1 - gamma/(2 beta)``:
    that part of the impulses acts through M alone, the rest is coupled to a' as in Moreau-Jean. Friction,
    nonlinear systems and surfaces are as in :class:`.MoreauJean`.

    Args:
        system: The system.
        dt: Time step [s].
        contact: The contact, a list of contacts, or None.
        rho_inf: Spectral radius at infinite frequency, in [0, 1]: 1 keeps all frequencies, 0 removes the
            highest in a step.
        mass: ``"consistent"`` or ``"lumped"``; by default consistent, with ``position`` lumped.
        position: Whether contact is at position and velocity level, as of :class:`.MoreauJean`. The reactions
            ``lam`` of the position problem stay in a then, without which energy would be created::

                (1-am) M a' + am M a = (1-af) F(u') + af F(u) + B^T lam,    0 <= lam_N  _|_  g(u') >= 0
                w = v + h (1-gamma) a + h gamma a',                         v' = w + M^-1 B^T (P - h lam)
                0 <= P_N  _|_  L' (v' + e v) >= 0                           at closed points

        closing: As of :class:`.MoreauJean`.

    Attributes:
        a: Auxiliary accelerations at ``t``, without impulses, shape (size,) [m/s2].
        predicted: Positions at the end of the last step with the velocities before it, shape (size,) [m].
        remembered: Impulses that the accelerations before it gave, shape (size,) [N s].
        mass_solver: Solver with M.
        w: Velocities that the impulses of the last step give through M, shape (size,) [m/s]; with
            ``position`` those of the position problem.

    Raises:
        ValueError: A step that is not positive, rho_inf outside [0, 1], an unknown mass.
    """

    paper = "Chen, Acary, Virlez, Bruls, Int. J. Numer. Methods Eng. 96 (2013)"
    equations = "nonsmooth generalized-alpha, impulses weighted by h/2 in the position"
    order = "2 without impact, 1 with"
    conserves = "energy of linear systems (rho_inf = 1)"
    step_limit = "none"
    contact_level = "velocity"
    law = VelocityLevel
    options = {**RHO, **CONSISTENT, **POSITION, **TOUCHING}
    state_names = ("u", "v", "a", "r", "r_t")

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        rho_inf: float = 0.8,
        mass: str | None = None,
        position: bool = False,
        closing: float | None = None,
    ) -> None:
        arguments.time_step(dt)
        rho = arguments.number("rho_inf", rho_inf, "lie in [0, 1]", least=0.0, most=1.0)
        arguments.contact(contact)
        arguments.system(system)
        self.rho_inf, af = rho, rho / (rho + 1)
        self._am, self.gamma = (2 * rho - 1) / (rho + 1), 0.5 + (1 - rho) / (rho + 1)
        self.beta = (self.gamma + 0.5) ** 2 / 4
        law = BothLevels(contact) if arguments.flag("position", position) else type(self).law(contact)
        mass = mass or ("lumped" if position else "consistent")
        super().__init__(system, dt, law, theta=1 - af, forecast=0.5, mass=mass, closing=closing)
        self.direct = 0.0 if self.position else 1 - self.gamma / (2 * self.beta)
        self.force_part, self.r_shift = (1 - self._am) / self.gamma, -0.5
        self.a, self.w, self.predicted, self.remembered, self._f = (np.zeros(system.size) for _ in range(5))
        self.mass_solver = mass_solver(system, self.mass)
        self.step_solver = self.make_step_solver()

    def begin(self) -> None:
        """``M a_0 = F_0``; prescribed motions start with the constant acceleration of their first step."""
        super().begin()
        system, moved = self.system, self.system.prescribed
        system.force(self.t, self.u, self.v, self._f)
        started = np.zeros(system.size)
        if moved.any:
            way = moved(self.t + self.dt) - self.u[moved.dofs] - self.dt * self.v[moved.dofs]
            started[moved.dofs] = 2 * way / self.dt**2
            system.mass_product(started, self.mass, self.remembered)
            self._f -= self.remembered
        self.mass_solver.solve(self._f, self.a)
        self.a += started

    def make_part(self) -> None:
        """One step; a' follows from the velocities."""
        h, gamma, beta, n = self.h, self.gamma, self.beta, self.system.owned
        # u' of v' = v + c w, with a' from the formula of v'.
        np.add(self.u, h * self.v - h**2 * (beta / gamma - 0.5) * self.a, out=self.predicted)
        self.system.mass_product(self.a, self.mass, self.remembered)
        self.remembered[:n] *= self.memory
        if not self.position:
            self.r[:], self.r_t[:], self.w[:], self.direct_velocity = 0.0, 0.0, 0.0, 0.0
        super().make_part()  # M (v' - c w - v) = J + (1 - c) L^T r
        self.a *= (gamma - 1) / gamma  # a' of v' = v + h (1-gamma) a + h gamma a' + w
        end = self.w if self.position else self.v - self.w
        self.a += (end - self.v_before) / (h * gamma)

    @property
    def position_sensitivity(self) -> float:
        """``h beta / gamma``."""
        return self.h * self.beta / self.gamma

    @property
    def acting_time(self) -> float:
        """``h gamma / (1 - am)``."""
        return self.h * self.gamma / (1 - self._am)

    @property
    def memory(self) -> float:
        """Factor of M a in the smooth impulse, ``h (1 - am - gamma) / (1 - am)`` [s]."""
        return self.h * (1 - self.gamma - self.gamma * self._am / (1 - self._am))

    def smooth_impulse(self, f: FloatArray) -> None:
        """``J = h [gamma F_theta + (1 - am - gamma) M a] / (1 - am)``, theta = 1 - af."""
        n = self.system.owned
        f *= self.acting_time
        f[:n] += self.remembered[:n]

    def end_position(self) -> FloatArray:
        """``u + h v + (beta/gamma) h (v' - c w - v) - (beta/gamma - 1/2) h^2 a`` [m]."""
        position: FloatArray = self.predicted + self.position_sensitivity * (
            self.v - self.direct_velocity - self.v_before
        )
        return position

    def mean_position(self, out: FloatArray) -> None:
        """See :meth:`.OneStepMethod.mean_position`."""
        out[:] = (1 - self.theta) * self.u_before + self.theta * self.predicted

    def velocity_to(self, u: FloatArray) -> FloatArray:
        """See :meth:`.OneStepMethod.velocity_to`."""
        velocity: FloatArray = self.v_before + (u - self.predicted) / self.position_sensitivity
        return velocity

    def impulse_solver(self, solver: Any) -> Any:
        """``v' = [(1 - c) A^-1 + c M^-1] L^T r``."""
        return SharedSolver(self.direct, self.mass_solver, solver, self.system.size)

    def take_impulses(self) -> None:
        """``M w = L^T r``, and the part c of w. Collective."""
        self.w[:] = 0.0
        if self.contact is not None and self.system.comm.allreduce(bool(np.any(self.r))):
            self._f[:] = 0.0
            self.impulses.add_to(self._f)
            self.mass_solver.solve(self._f, self.w)
        self.direct_velocity = self.direct * self.w

    def balance(self) -> EnergyBalance:
        """The works of the step; what the formula loses is the difference of two of them."""
        return AlphaPositionBalance(self) if self.position else GeneralizedAlphaBalance(self)

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
        """See :func:`.compiled_loop`: for linear systems under constant loads, without friction."""
        return AlphaLoop(self, rows, balance)


class LumpedSolver:
    """Solver of ``M x = b`` with the lumped mass; zero at constrained dofs."""

    def __init__(self, system: System) -> None:
        self._inverse, self._n = system.inverse_mass, system.owned

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write the solution for ``b`` into ``out``, both shape (size,)."""
        np.multiply(self._inverse, b[: self._n], out=out[: self._n])

    def compiled(self) -> tuple[AnyArray, ...]:
        """See :func:`.diagonal_factors`."""
        dofs = np.flatnonzero(self._inverse)
        return diagonal_factors(self._inverse[dofs], dofs)


class SharedSolver:
    """``x = c M^-1 b + (1 - c) A^-1 b``.

    Args:
        part: The part c.
        mass, coupled: Solvers with M and with A.
        size: Number of owned dofs and ghosts.
    """

    def __init__(self, part: float, mass: Any, coupled: Any, size: int) -> None:
        self._part, self._mass, self._coupled, self._x = part, mass, coupled, np.zeros(size)

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write x for ``b`` into ``out``, both shape (size,). Collective."""
        self._coupled.solve(b, out)
        if self._part > 0:
            self._mass.solve(b, self._x)
            out *= 1 - self._part
            out += self._part * self._x

    def compiled(self) -> tuple[AnyArray, ...]:
        """Factors of A, of which the loop of :class:`GeneralizedAlpha` takes the part itself."""
        factors: tuple[AnyArray, ...] = kernels.ask(self._coupled, "is no solver of compiled loops")
        return factors


def mass_solver(system: System, mass: str) -> Any:
    """Solver with M, without a factorisation where it is lumped. Collective.

    Raises:
        ValueError: An unknown mass.
    """
    return LumpedSolver(system) if mass == "lumped" else theta_solver(system, 0.0, mass)
