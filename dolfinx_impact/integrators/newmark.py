"""Newmark's method with contact at position level, the reaction kept in the acceleration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contact import Contact
from ..system import System
from .base import Integrator
from .response import FactorisedResponse


class Newmark(Integrator):
    """Newmark's method for linear systems, ``0 <= g(u_{n+1})  _|_  lambda_{n+1} >= 0``::

        M a_{n+1} = F(t_{n+1}, u_{n+1}) + L^T lambda_{n+1}
        u_{n+1}   = u_n + h v_n + h^2 [(1/2 - beta) a_n + beta a_{n+1}]
        v_{n+1}   = v_n + h [(1 - gamma) a_n + gamma a_{n+1}]

    With ``A = M + beta h^2 K`` the free acceleration is ``A^-1 F(u_p)`` at the predicted position u_p,
    and the gap answers to the force through ``beta h^2 L A^-1 L^T``. The impulse ``r = h lambda`` is
    that of the step.

    Args:
        system: A linear system.
        dt: Time step [s].
        contact: The contact, its gap linear in u, without restitution and friction; or None.
        beta: Newmark's beta, above 0.
        gamma: Newmark's gamma.
        mass: ``"consistent"`` or ``"lumped"``.

    Attributes:
        a: Accelerations at ``t``, the reaction included, shape (size,) [m/s2].

    Raises:
        ValueError: A system that is not linear, a contact that does not fit, bad constants.
    """

    def __init__(
        self, system: System, dt: float, contact: Contact | None, *, beta: float, gamma: float, mass: str
    ) -> None:
        super().__init__(system, dt, contact)
        if not system.linear:
            raise ValueError("Newmark's method takes linear systems: give the forces by a stiffness")
        if not (beta > 0 and gamma > 0):
            raise ValueError(f"beta and gamma must be positive, but are {beta} and {gamma}")
        if contact is not None and (contact.restitution > 0 or contact.friction > 0 or not contact.constant):
            raise ValueError(
                "contact at the position of Newmark's method has no restitution and no friction, and a "
                f"flat obstacle; here e = {contact.restitution}, mu = {contact.friction}"
            )
        self.beta, self.gamma, self.mass = float(beta), float(gamma), mass
        self._solver = system.implicit_solver(beta * dt**2, mass)
        self._mass_solver = system.implicit_solver(0.0, mass)
        self.a, self._f = np.zeros(system.size), np.zeros(system.size)
        if contact is not None:
            self._response = FactorisedResponse(contact, self._solver, system.size)

    def begin(self) -> None:
        """``M a_0 = F(t_0, u_0)``: a gap closed at the start has no reaction yet."""
        self.v[: self.system.owned][self.system.held] = 0.0
        self.system.force(self.t, self.u, self.v, self._f)
        self._mass_solver.solve(self._f, self.a)

    def advance(self) -> None:
        """One step; lambda acts at its end and stays in ``a``."""
        h, beta, gamma = self.dt, self.beta, self.gamma
        self.u += h * self.v + h**2 * (0.5 - beta) * self.a
        self.v += h * (1 - gamma) * self.a
        self.system.force(self.t, self.u, self.v, self._f)
        self._solver.solve(self._f, self.a)
        self.u += beta * h**2 * self.a
        if self.contact is not None:
            self._close_gaps()
        self.v += gamma * h * self.a

    def _close_gaps(self) -> None:
        assert self.contact is not None
        weight = self.beta * self.dt**2
        every = np.ones(self.contact.count, dtype=bool)
        force = self._response.solve(every, self.contact.evaluate(self.u) / weight)
        change: NDArray = np.zeros_like(self.a)
        self._response.push(force, change)
        self.a += change
        self.u += weight * change
        self.r[:] = self.dt * force
