"""The theta method where forces depend on u and v in any way: Newton, contact inside the iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import parallel
from ..algebra import complementarity
from ..algebra.sparse_solver import LinearSolverFailed
from ..systems.system import PointMasses, System
from .base import Integrator
from .contact_laws import VelocityLevel
from .delassus import FactorisedResponse, contact_response
from .delassus_lumped import lumped_response
from .energy import Balance, ThetaBalance

_MOST = 60
_TOLERANCE = 1e-12
_ROUNDING = 1e-15
_SQUARED = 1e-9
#: A correction is shortened at most to this part,
_SHORTEST = 1e-4
#: and not where it is no larger than this part of the velocity: there rounding decides.
_NEGLIGIBLE = 1e-6


class NewtonTheta(Integrator):
    """Theta method for any smooth force.

    Di Stasio et al. (2019), (33), and for ``midpoint`` (38)::

        M (v_{n+1} - v_n) = h F_theta + L^T r,   u_{n+1} = u_n + h [(1-theta) v_n + theta v_{n+1}]

    F_theta is the weighted mean of the forces at both ends, or, with ``midpoint``, the force at
    the weighted mean of the states. In every Newton iteration the impulses belong to its final
    velocity: ``H = L A^-1 L^T`` with ``A = M - h theta dF/dv - h^2 theta^2 dF/du``. With friction
    ``L = [L_N; L_T]``: normal and tangential impulses are found together, the tangential law
    on v_{n+1}, Di Stasio et al. (2019), (42). A correction of v that does not reduce what is
    left of the equation of motion under the new impulses is halved until it does; the last one is always
    taken whole, so that contact laws hold exactly. Dofs whose motion is prescribed have the velocity that
    takes them there.

    Args:
        system: Point masses, or a body whose tangents are known.
        dt: Time step [s].
        enforcement: The contact law; its gap is looked at ``u_n + forecast h v_n``.
        theta: Weight of the end of the step, in [0, 1].
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``.
        midpoint: Where the force is taken.
        coupled: Whether the forces of the step answer to the impulse. If not, the step is made
            without contact, and the impulse changes the velocity through M alone.

    Attributes:
        u_before: Displacements before the step, shape (size,) [m].
        v_before: Velocities before the step, shape (size,) [m/s].
        iterations: Newton iterations of the last step.

    Raises:
        ValueError: Prescribed motion with theta = 0, an unknown mass.
        NotConverged: (by ``step``) when the velocity is not found to 1e-12 of its size.
    """

    state_names = ("u", "v", "r", "r_t")

    def __init__(
        self,
        system: System,
        dt: float,
        enforcement: VelocityLevel,
        *,
        theta: float,
        forecast: float,
        mass: str = "lumped",
        midpoint: bool = False,
        coupled: bool = True,
    ) -> None:
        super().__init__(system, dt, enforcement.contact)
        if system.moved.any and theta == 0:
            raise ValueError("prescribed motion needs theta above 0: nothing else moves the end of the step")
        self.theta, self.forecast, self.midpoint = float(theta), float(forecast), midpoint
        self.beyond_limit, self.r_shift = theta < 0.5, theta - 1.0
        self.mass = "lumped" if isinstance(system, PointMasses) else mass
        self._system: Any = system
        self._enforcement, self._coupled = enforcement, coupled
        self.u_before, self.v_before = np.zeros(system.size), np.zeros(system.size)
        self._f, self._f_before, self._rest, self._x = (np.zeros(system.size) for _ in range(4))
        self._free, self._reactions = ~system.held, np.zeros(0)
        self._weights = np.where(self._free, 1.0 / np.sqrt(system.mass), 1.0)
        self._solver = self._system.linearised(self.mass)
        self._response: FactorisedResponse | None = None
        if self.contact is not None and coupled:
            self._response = contact_response(self, self._solver, symmetric=self._solver.symmetric)
        elif self.contact is not None and self.mass != "lumped":
            raise ValueError("the impulse of a decoupled step acts through the lumped mass: mass='lumped'")
        self.iterations, self._inside_out = 0, False

    @property
    def contact_time(self) -> float:
        """Time of the forecast position [s]."""
        return self.t - (1 - self.forecast) * self.dt

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
        moved = self.system.moved
        still = self.system.held.copy()
        if moved.any:
            still[moved.dofs] = False
            self.u[moved.dofs] = moved(self.t)
        self.v[: self.system.owned][still] = 0.0

    def advance(self) -> None:
        """One step; the impulse found is that of the step."""
        self.u_before[:], self.v_before[:] = self.u, self.v
        if not self.midpoint:
            self._system.force(self.t - self.dt, self.u, self.v, self._f_before)
        self._guess()
        # With exact tangents the next correction would be of the order of the square of this one.
        enough = _SQUARED if self._solver.exact else _ROUNDING
        for self.iterations in range(1, _MOST + 1):
            before = self.v.copy()
            whole = self._correct()
            n = self.system.owned
            size = self._largest(np.abs(self.v[:n]) + np.abs(self.v_before[:n]))
            change = self._largest(np.abs(self.v[:n] - before[:n]))
            accepted = max(_TOLERANCE * size, self._noise())
            if whole and (change <= enough * size or (self.iterations > 8 and change <= accepted)):
                break
        else:
            raise complementarity.NotConverged(
                f"Newton did not find the velocity at t = {self.t:.6g} s: the last of {_MOST} corrections "
                f"is {change:.3g} m/s; take a smaller time step"
            )
        if self.contact is not None and not self._coupled:
            response = lumped_response(self)
            self.r[:] = self._enforcement.impulses(self, response)
            response.push(self.r, self.v)
            if self.r_t.size:
                self.r_t[:] = response.rub(self.r, self.v, self.v_time)
        self.u += self.dt * ((1 - self.theta) * self.v_before + self.theta * self.v)

    def _guess(self) -> None:
        """Begin with the velocity before, or, where an element would be inside out, at the place before."""
        self._move()
        self._evaluate()
        if self.theta > 0 and not np.isfinite(self._left_over()):
            self.v[:] = -(1 - self.theta) / self.theta * self.v_before
            self._move()
            self._evaluate()

    def _move(self) -> None:
        """The velocities that take prescribed motions to where they are at the end of the step."""
        moved, theta = self.system.moved, self.theta
        if moved.any:
            mean = (moved(self.t) - self.u_before[moved.dofs]) / self.dt
            self.v[moved.dofs] = (mean - (1 - theta) * self.v_before[moved.dofs]) / theta

    def reactions(self) -> NDArray:
        """Mean forces over the last step that make the moved dofs move, shape (k,) [N]."""
        return self._reactions / self.dt

    def _noise(self) -> float:
        """What the rounding of the forces, eps |K u|, changes in v: h |(M + h^2 theta^2 K)^-1 K| [m/s]."""
        weight = max(self.theta, 0.5) ** 2 * self.dt
        largest = self._largest(np.abs(self.u[: self.system.owned]))
        return float(4 * np.finfo(np.float64).eps * largest / weight)

    def _largest(self, values: NDArray) -> float:
        return parallel.largest(self.system.comm, values)

    def _evaluate(self) -> None:
        """``M (v - v_n) - h F_theta`` at the velocity at hand, without impulses."""
        h, theta, n = self.dt, self.theta, self.system.owned
        time, u, v = self.force_point()
        self._system.force(time, u, v, self._f)
        self._inside_out = self._turned(u)
        acting = self._f if self.midpoint else (1 - theta) * self._f_before + theta * self._f
        self._system.mass_product(self.v - self.v_before, self.mass, self._rest)
        self._rest[:n] -= h * acting[:n]
        self._reactions = self._rest[self.system.moved.dofs].copy()
        self._rest[:n][self.system.held] = 0.0

    def _correct(self) -> bool:
        """Replace r by that of the step linearised at v, and go to its v, or a part of the way.

        Returns:
            Whether the whole way was gone.
        """
        h, theta, n = self.dt, self.theta, self.system.owned
        v = self.v.copy()
        try:
            self._solver.update(*self.force_point(), h * theta, (h * theta) ** 2)
            self._solver.solve(self._rest, self._x)
            self.v[:n] -= self._x[:n]
            if self._response is not None:
                self._response.forget()
                self.r[:] = self._enforcement.impulses(self, self._response)
                self._response.push(self.r, self.v)
        except (LinearSolverFailed, complementarity.NotConverged) as error:
            raise complementarity.NotConverged(
                f"Newton finds no correction at t = {self.t:.6g} s ({error}): take a smaller time step"
            ) from None
        # Under the new impulses: just before an impact nothing is missing under those at hand.
        end, left = self.v.copy(), self._left_over()
        size = self._largest(np.abs(v[:n]) + np.abs(self.v_before[:n]))
        small = self._largest(np.abs(end[:n] - v[:n])) <= _NEGLIGIBLE * size + 10 * self._noise()
        part = 1.0
        self._evaluate()
        while not (small or self._left_over() <= (1 - 1e-4 * part) * left):
            part /= 2
            if part < _SHORTEST:
                break
            self.v[:] = v + part * (end - v)
            self._evaluate()
        if _SHORTEST <= part < 1:
            return False
        if part < 1:  # nothing is gained by less: the whole correction at least fulfils the contact laws
            self.v[:] = end
            self._evaluate()
            if not np.isfinite(self._left_over()):
                raise complementarity.NotConverged(
                    f"Newton finds no velocity at t = {self.t:.6g} s with finite forces and no "
                    "element turned inside out: take a smaller time step"
                )
        return True

    def _left_over(self) -> float:
        """What the equation of motion lacks, in a norm of ``kg^(1/2) m/s``.

        It is inf where that is no number, and where an element is turned inside out.
        """
        self._x[:] = 0.0
        if self.contact is not None and self._coupled:
            self.contact.rows.add_transpose(self.r, self._x)
            if self.r_t.size:
                np.add.at(self._x, self.contact.rows.dofs, self.r_t)
        n = self.system.owned
        found = self._norm(self._weights * self._free * (self._rest[:n] - self._x[:n]))
        return found if np.isfinite(found) and not self._inside_out else np.inf

    def _turned(self, u: NDArray) -> bool:
        """Whether an element of a body is turned inside out: some laws do not mind. Collective."""
        body = self._system
        return hasattr(body, "deformation") and not body.linear and bool(body.deformation.inside_out(u))

    def _norm(self, values: NDArray) -> float:
        return parallel.total(self.system.comm, float(values @ values)) ** 0.5

    def balance(self) -> Balance:
        """The balance of works of the theta method: exact for any force."""
        return ThetaBalance(self, closes=self._coupled)
