"""The theta method where forces depend on u and v in any way: Newton, contact inside the iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import complementarity
from ..contact import Contact
from ..energy import Balance, ThetaBalance
from ..system import DenseSolver, PointMasses
from .base import Integrator
from .enforcement import VelocityLevel
from .response import CoulombResponse, LumpedResponse, Response

_MOST = 60
_TOLERANCE = 1e-12
_ROUNDING = 1e-15


class NewtonTheta(Integrator):
    """Theta method for small systems with any smooth force.

    Di Stasio et al. (2019), (33), and for ``midpoint`` (38)::

        M (v_{n+1} - v_n) = h F_theta + L^T r,   u_{n+1} = u_n + h [(1-theta) v_n + theta v_{n+1}]

    F_theta is the weighted mean of the forces at both ends, or, with ``midpoint``, the force at
    the weighted mean of the states. In every Newton iteration the impulses belong to its final
    velocity: ``H = L K^-1 L^T`` with ``K = M - h theta dF/dv - h^2 theta^2 dF/du``. With friction
    ``L = [L_N; L_T]``: normal and tangential impulses are found together, the tangential law
    on v_{n+1}, Di Stasio et al. (2019), (42).

    Args:
        system: Point masses.
        dt: Time step [s].
        enforcement: The contact law; its gap is looked at ``u_n + forecast h v_n``.
        theta: Weight of the end of the step, in [0, 1].
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        midpoint: Where the force is taken.
        coupled: Whether the forces of the step answer to the impulse. If not, the step is made
            without contact, and the impulse changes the velocity through M alone.

    Attributes:
        u_before: Displacements before the step, shape (size,) [m].
        v_before: Velocities before the step, shape (size,) [m/s].
        iterations: Newton iterations of the last step.

    Raises:
        NotConverged: (by ``step``) when the velocity is not found to 1e-12 of its size.
    """

    def __init__(
        self,
        system: PointMasses,
        dt: float,
        enforcement: VelocityLevel,
        *,
        theta: float,
        forecast: float,
        midpoint: bool = False,
        coupled: bool = True,
    ) -> None:
        super().__init__(system, dt, enforcement.contact)
        self.theta, self.forecast, self.midpoint = float(theta), float(forecast), midpoint
        self.beyond_limit, self.r_shift = theta < 0.5, theta - 1.0
        self._system, self._enforcement, self._coupled = system, enforcement, coupled
        self.u_before, self.v_before = np.zeros(system.size), np.zeros(system.size)
        self._f, self._f_before = np.zeros(system.size), np.zeros(system.size)
        self.iterations = 0

    def contact_position(self) -> NDArray:
        """The forecast position ``u_n + forecast h v_n`` [m]."""
        return self.u_before + self.forecast * self.dt * self.v_before

    def force_point(self) -> tuple[float, NDArray, NDArray]:
        """Time, position and velocity at which the unknown force is taken."""
        h, theta = self.dt, self.theta
        u = self.u_before + h * ((1 - theta) * self.v_before + theta * self.v)
        if not self.midpoint:
            return self.t, u, self.v
        weighted = (1 - theta) * self.v_before + theta * self.v
        return self.t - (1 - theta) * h, (1 - theta) * self.u_before + theta * u, weighted

    def begin(self) -> None:
        """Still the held dofs: the first step is like all others."""
        self.v[self._system.held] = 0.0

    def advance(self) -> None:
        """One step; the impulse found is that of the step."""
        self.u_before[:], self.v_before[:] = self.u, self.v
        if not self.midpoint:
            self._system.force(self.t - self.dt, self.u, self.v, self._f_before)
        for self.iterations in range(1, _MOST + 1):
            before = self.v.copy()
            self._iterate()
            size = float(np.max(np.abs(self.v) + np.abs(self.v_before)))
            change = float(np.max(np.abs(self.v - before)))
            # The rounding of the forces, eps |K u|, changes v by no more: h |(M + h^2 theta^2 K)^-1 K|.
            weight = max(self.theta, 0.5) ** 2 * self.dt
            noise = 4 * np.finfo(np.float64).eps * float(np.max(np.abs(self.u))) / weight
            accepted = max(_TOLERANCE * size, float(noise))
            if change <= _ROUNDING * size or (self.iterations > 8 and change <= accepted):
                break
        else:
            raise complementarity.NotConverged(
                f"Newton did not find the velocity at t = {self.t:.6g} s: the last of {_MOST} corrections "
                f"is {change:.3g} m/s; take a smaller time step"
            )
        if self.contact is not None and not self._coupled:
            response = LumpedResponse(self.contact, self._system.inverse_mass)
            self.r[:] = self._enforcement.impulses(self, response)
            response.push(self.r, self.v)
            if self.r_t.size:
                self.r_t[:] = response.rub(self.r, self.v)
        self.u += self.dt * ((1 - self.theta) * self.v_before + self.theta * self.v)

    def _iterate(self) -> None:
        """Replace v by the solution of the step linearised there, contact included."""
        h, theta, m = self.dt, self.theta, self._system.mass
        point = self.force_point()
        self._system.force(*point, self._f)
        acting = self._f if self.midpoint else (1 - theta) * self._f_before + theta * self._f
        stiffness, damping = self._system.tangents(*point)
        K = np.diag(m) + h * theta * damping + (h * theta) ** 2 * stiffness
        dense = DenseResponse(self.contact, K, self._system.held)
        self.v -= dense.solve_all(m * (self.v - self.v_before) - h * acting)
        if self.contact is not None and self._coupled:
            response: Response = dense
            if self.contact.friction > 0:
                response = CoulombResponse(self, dense.solver, symmetric=False)
            self.r[:] = self._enforcement.impulses(self, response)
            response.push(self.r, self.v)

    def balance(self) -> Balance:
        """The balance of works of the theta method: exact for any force."""
        return ThetaBalance(self, closes=self._coupled)


class DenseResponse:
    """B = K^-1 with a small dense matrix; see :class:`~.response.Response`."""

    def __init__(self, contact: Contact | None, K: NDArray, held: NDArray) -> None:
        self._contact, self.solver = contact, DenseSolver(K, held)

    def solve_all(self, b: NDArray) -> NDArray:
        """``K^-1 b``."""
        out = np.zeros_like(b)
        self.solver.solve(b, out)
        return out

    def push(self, r: NDArray, v: NDArray) -> None:
        """``v += K^-1 L^T r``."""
        if r.any():
            v += self._column(r)

    def solve(self, closed: NDArray, b: NDArray) -> NDArray:
        """The small contact problem of the closed points."""
        assert self._contact is not None
        r, which = np.zeros(b.size), np.flatnonzero(closed)
        if which.size:
            columns = [self._contact.rows(self._column(np.eye(b.size)[k]))[which] for k in which]
            r[which] = complementarity.solve(np.array(columns).T, b[which])
        return r

    def _column(self, r: NDArray) -> NDArray:
        assert self._contact is not None
        pushed = np.zeros(self._contact.system.size)
        self._contact.rows.add_transpose(r, pushed)
        return self.solve_all(pushed)
