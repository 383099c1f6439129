"""Central differences with velocity-dependent forces at the mean of adjacent half-step velocities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import arguments
from ..._types import AnyArray
from ...algebra import complementarity
from ...algebra.dense_solver import DenseSolver
from ...algebra.sparse_solver import LinearSolverFailed
from ...contact.contact_set import Contacts
from ...systems.system import PointMasses
from ..impulses.contact_laws import VelocityLevel
from ..impulses.delassus import factorised_delassus
from ..options import LUMPED, TOUCHING
from .central_differences import CentralDifferences

_MOST = 60
_TOLERANCE = 1e-12
_ROUNDING = 1e-15


class CDLagrangeImplicit(CentralDifferences):
    """CD-Lagrange with velocity-dependent forces at the mean velocity. Implicit in the velocity.

    Di Stasio et al. (2019), 'CD-Lagrange Implicit', the equation after (38), doi:10.1186/s40323-019-0126-y::

        u_{n+1} = u_n + h v_{n+1/2}
        M (v_{n+3/2} - v_{n+1/2}) = h F(t_{n+1}, u_{n+1}, (v_{n+1/2} + v_{n+3/2})/2) + L^T r + W^T r_t
        where g(u_{n+1}) <= 0:  0 <= L (v_{n+3/2} + e v_{n+1/2})  _|_  r >= 0,   friction on v_{n+3/2}

    Every Newton iteration includes the contact problem for its updated velocity, with ``H = L K^-1 L^T`` and
    ``K = M - h/2 dF/dv``. The start is that of :class:`.CentralDifferences`, with forces at v_0. Second order
    without contact for all forces; :class:`.CDLagrange` if the forces do not depend on v.

    Args:
        system: Point masses.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, a list of contacts, or None.
        allow_unstable: Accept a step above the critical one.

    Attributes:
        iterations: Newton iterations of the last step.

    Raises:
        ValueError: A system that is not one of point masses, a step that is not positive or above the
            critical one.
        NotConverged: (by ``step``) Newton's method does not reach a relative change of 1e-12.
    """

    compiled_loop = change_step = None  # type: ignore[assignment]
    paper = "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019)"
    equations = "CD-Lagrange Implicit, the equation after (38); balance (84) of Fekak et al. (2017)"
    order = "2 without impact, 1 with"
    conserves = "linear and angular momentum, the discrete energy (84)"
    step_limit = "h <= 2 / omega_max"
    contact_level = "velocity"
    law = VelocityLevel
    #: Point masses have none of these.
    excludes = ("prescribed motion", "surfaces")
    follows_history = sweeps = False
    remarks = {"nonlinear forces": "of point masses, which alone it takes"}
    options = {**LUMPED, **TOUCHING}

    def __init__(
        self, system: PointMasses, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        arguments.time_step(dt)
        if not isinstance(system, PointMasses):
            raise ValueError(
                f"forces at the mean velocity take PointMasses, not a {type(system).__name__}: take "
                "CDLagrange"
            )
        super().__init__(system, dt, type(self).law(contact), allow_unstable=allow_unstable)
        self._system, self._mean, self._change = system, np.zeros(system.size), np.zeros(system.size)
        self.iterations = 0

    @classmethod
    def critical_step(cls, system: PointMasses, **state: Any) -> float:  # type: ignore[override]
        """See :meth:`.Integrator.critical_step`; damping at the mean velocity does not lower it."""
        return system.critical_time_step(damped=False, **state)

    def advance(self) -> None:
        """One step; its impulse acts at its end, t_{n+1}."""
        self._loops.drift(self.u, self.v, self.dt)
        self.v_before[:] = self.v
        self.v_force = self._mean
        for self.iterations in range(1, _MOST + 1):
            guess = self.v.copy()
            self._iterate()
            # The scale includes the velocity change by the forces, for masses at rest.
            kicks = np.abs(self._kick * self.f)
            size = float(np.max(np.abs(self.v) + np.abs(self.v_before) + kicks))
            change = float(np.max(np.abs(self.v - guess)))
            if change <= _ROUNDING * size or (self.iterations > 8 and change <= _TOLERANCE * size):
                return
        raise complementarity.NotConverged(
            f"Newton did not find the velocity at t = {self.t:.6g} s: the last of {_MOST} corrections "
            f"is {change:.3g} m/s; take a smaller time step"
        )

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Integrator.resume`; forces depend on the mean velocity."""
        super().resume(state)
        if self.n > 0:
            np.copyto(self._mean, 0.5 * (self.v_before + self.v))
            self.v_force = self._mean

    def _iterate(self) -> None:
        """One Newton iteration: replace v by the solution of the linearised step with contact."""
        h, system = self.dt, self._system
        np.copyto(self._mean, 0.5 * (self.v_before + self.v))
        system.force(self.t, self.u, self._mean, self.f)
        damping = system.damping_tangent(self.t, self.u, self._mean)
        try:
            solver = DenseSolver(np.diag(system.mass) + h / 2 * damping, system.constrained)  # M - h/2 dF/dv
            solver.solve(system.mass * (self.v - self.v_before) - h * self.f, self._change)
        except LinearSolverFailed as error:
            raise complementarity.NotConverged(
                f"there is no velocity at t = {self.t:.6g} s ({error}): take a smaller time step"
            ) from None
        self.v -= self._change
        if self.contact is not None:
            response = factorised_delassus(self, solver, symmetric=False)
            impulses = self.enforcement.impulses(self, response)
            self.set_impulses(impulses)
            response.apply(impulses, self.v)
