"""The HHT-Newmark family with contact at the end of the step."""

from __future__ import annotations

import numpy as np

from ... import parallel
from ..._types import FloatArray
from ...systems.system import System
from ..base import Integrator
from ..energy import EnergyBalance
from ..impulses.contact_laws import Enforcement
from ..impulses.delassus import FactorisedDelassus
from ..impulses.delassus_lumped import lumped_delassus
from ..requirements import OF_CONTACT, UNSTEADY, refuse_restitution
from .one_step_energy import NewmarkBalance, TrapezoidalBalance


class Newmark(Integrator):
    """Newmark's method with Hilber, Hughes and Taylor's alpha, for linear systems.

    ::

        M a' = F((1+alpha) u' - alpha u) + L^T lambda',        F(x) = f - K x
        u'   = u + h v + h^2 [(1/2 - beta) a + beta a']
        v'   = v + h [(1 - gamma) a + gamma a']

    Doyen, Ern and Piperno (2011), 2.1 and 4.1. With ``A = M + (1+alpha) beta h^2 K`` an impulse
    ``r = h lambda'`` changes the position by ``beta h A^-1 L^T r``. Class attributes select their variants:

    - ``dissipative`` (4.5): the reaction has an acceleration of its own, ``M a_con = L^T lambda'``, that
      moves u' by ``h^2 a_con / 2`` and v' by ``h a_con`` and does not enter the next step; with alpha = 0.
    - ``projected`` (4.6): ``u + h v`` of the position is first moved out of the obstacle, nearest in the
      norm of the lumped mass; with ``dissipative`` and the lumped mass.
    - ``reset`` (4.3): normal velocity and acceleration of points with an impulse are set to zero.
    - ``own_balance``: whether energies follow the balance of the formula, (14) and (56), or the
      trapezoidal works with their defect.

    Args:
        system: A linear system.
        dt: Time step [s].
        enforcement: A law for the gap at the end of the step; contact flat, without restitution
            and friction.
        alpha: In [-1/3, 0].
        beta: Above 0.
        gamma: Above 0.
        mass: ``"consistent"`` or ``"lumped"``.

    Attributes:
        enforcement: The contact law.
        a: Accelerations at ``t``, shape (size,) [m/s2]; with the reaction unless ``dissipative``.
        u_before: Displacements before the step, shape (size,) [m].
        v_before: Velocities before the step, shape (size,) [m/s].

    Raises:
        ValueError: A system that is not linear, a contact that does not fit, bad constants.
    """

    explicit = False
    excludes = (*UNSTEADY, *OF_CONTACT)
    state_names = ("u", "v", "a", "r", "_largest")
    dissipative, projected, reset, own_balance = False, False, False, True
    #: An impulse counts from this part of the largest momentum of a point so far on.
    _NEGLIGIBLE = 1e-6

    def __init__(
        self,
        system: System,
        dt: float,
        enforcement: Enforcement,
        *,
        alpha: float = 0.0,
        beta: float,
        gamma: float,
        mass: str,
    ) -> None:
        super().__init__(system, dt, enforcement.contact)
        self._check(alpha, beta, gamma, mass)
        self.alpha, self.beta, self.gamma, self.mass = float(alpha), float(beta), float(gamma), mass
        self.enforcement = enforcement
        self._solver = system.implicit_solver((1 + alpha) * beta * dt**2, mass)
        self._mass_solver = system.implicit_solver(0.0, mass)
        self.a, self.u_before, self.v_before = (np.zeros(system.size) for _ in range(3))
        self._f, self._change, self._largest = np.zeros(system.size), np.zeros(system.size), 0.0
        if enforcement.contact is not None:
            self._response = FactorisedDelassus(enforcement.contact, self._solver, system.size)
            self._free = FactorisedDelassus(enforcement.contact, self._mass_solver, system.size)
            self._projection = lumped_delassus(self)

    def _check(self, alpha: float, beta: float, gamma: float, mass: str) -> None:
        if not -1 / 3 - 1e-15 <= alpha <= 0:
            raise ValueError(f"alpha must lie in [-1/3, 0], but is {alpha}")
        if not (beta > 0 and gamma > 0):
            raise ValueError(f"beta and gamma must be positive, but are {beta} and {gamma}")
        if self.dissipative and alpha != 0:
            raise ValueError(f"with dissipative contact alpha must be 0, but is {alpha}")
        if self.projected and mass != "lumped":
            raise ValueError(f"the projected predictor takes the lumped mass, not {mass!r}")
        refuse_restitution(self.contact, "contact at the position of Newmark's method")

    def begin(self) -> None:
        """``M a_0 = F(t_0, u_0)``: a gap closed at the start has no reaction yet."""
        self.v[: self.system.owned][self.system.constrained] = 0.0
        self.u_before[:], self.v_before[:], self._largest = self.u, self.v, 0.0
        self.system.force(self.t, self.u, self.v, self._f)
        self._mass_solver.solve(self._f, self.a)

    def advance(self) -> None:
        """One step; lambda acts at its end."""
        h, alpha, beta, gamma = self.dt, self.alpha, self.beta, self.gamma
        self.u_before[:], self.v_before[:] = self.u, self.v
        self.u += h * self.v
        if self.contact is not None and self.projected:
            self._project()  # 4.6, (61)-(62)
        self.u += h**2 * (0.5 - beta) * self.a  # 2.1, the predictors
        self.v += h * (1 - gamma) * self.a
        self.system.force(self.t, (1 + alpha) * self.u - alpha * self.u_before, self.v, self._f)
        self._solver.solve(self._f, self.a)  # M a' = F((1+alpha) u' - alpha u), without contact
        self.u += beta * h**2 * self.a
        if self.contact is not None:
            self.set_impulses(self.enforcement.impulses(self, self._response))  # 0 <= g(u')  _|_  r >= 0
            self._react()  # 4.1 or 4.5
        self.v += gamma * h * self.a
        if self.reset and self.contact is not None:
            self._reset_normal_motion()  # 4.3

    def end_position(self) -> FloatArray:
        """``u_{n+1}`` without contact [m]."""
        return self.u

    def constrained(self, e: float) -> tuple[FloatArray, float]:
        """``u_{n+1}`` without contact, and its sensitivity to ``A^-1 L^T r`` [s]."""
        return self.u, self.dt / 2 if self.dissipative else self.beta * self.dt

    def _react(self) -> None:
        """Add the impulse to u' and a', and to v' where the reaction has its own acceleration."""
        h = self.dt
        moved, pushed = np.zeros_like(self.a), np.zeros_like(self.a)
        self._response.apply(self.impulses, moved)
        if not self.dissipative:  # 4.1
            self.a += moved / h
            self.u += self.beta * h * moved
            return
        self._free.apply(self.impulses, pushed)  # 4.5, M a_con = L^T lambda'
        self.u += h / 2 * moved
        self.a += (moved - pushed) / (2 * self.beta * h)
        self.v += pushed

    def _project(self) -> None:
        """The predictor moved to the nearest admissible position, (61)-(62)."""
        assert self.contact is not None
        state = self.contact.at(self.u, None, self.t, every=True)
        every = np.ones(state.gap.size, dtype=bool)
        lengths = self._projection.solve(state, state.gap, self.v, self.t, closed=every)
        self._projection.apply(lengths, self.u)

    def _reset_normal_motion(self) -> None:
        """Set normal velocity and acceleration of points with an impulse to zero, 4.3."""
        assert self.contact is not None
        assert self.contact_state is not None
        rows = self.contact_state.L
        momenta = rows.diagonal(self.system.mass) * np.abs(rows(self.v_before))
        self._largest = max(self._largest, parallel.largest(self.system.comm, momenta))
        acting = self.r > self._NEGLIGIBLE * self._largest
        size = rows.diagonal(np.ones(self.system.owned))
        for x in (self.v, self.a):
            rows.add_transpose(np.where(acting, -rows(x) / size, 0.0), x)

    def balance(self) -> EnergyBalance:
        """Doyen, Ern and Piperno (2011): ``E' - E = (r' + r)/2 . dg``; with dissipative contact r' . dg."""
        if not self.own_balance:
            return TrapezoidalBalance(self)
        return NewmarkBalance(self, closes=not (self.projected or self.reset))
