"""The equation of a step of one-step methods, for any smooth force: its residual, scales and round-off."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import parallel
from ..._types import FloatArray
from ...algebra import complementarity

#: Newton iterations of a step at most.
MOST = 60
#: Iterations after which a correction to the tolerance is enough, where rounding hinders a smaller one.
PATIENCE = 8
#: A correction that is accepted, relative to the velocity.
TOLERANCE = 1e-12
#: A correction with exact tangents, relative to the velocity, after which the next one is below that.
SQUARED = 1e-9
#: A correction, relative to the velocity, of which nothing but rounding is left.
ROUNDING = 1e-15
#: A correction is not shortened where it is no larger than this part of the velocity: there rounding decides.
NEGLIGIBLE = 1e-6
#: A correction is shortened at most to this part.
SHORTEST = 1e-4


class StepEquation:
    """``M (v - v_n) = h F_theta + impulses``; Di Stasio et al. (2019), (33), midpoint (38).

    That is the theta method; the other formulas of :class:`.OneStepMethod` have their own smooth impulse and
    position. Derived classes find the velocity and the impulses.

    Args:
        scheme: The :class:`.OneStepMethod`; its system has known tangents.

    Raises:
        ValueError: Prescribed motion with theta = 0.
    """

    #: Whether masses resist.
    inertia = True

    def __init__(self, scheme: Any) -> None:
        self._scheme, system = scheme, scheme.system
        if system.prescribed.any and scheme.theta == 0:
            raise ValueError("prescribed motion needs theta above 0: nothing else moves the end of the step")
        self._f, self._f_before, self._rest, self._x = (np.zeros(system.size) for _ in range(4))
        self._free, self._reactions = ~system.constrained, np.zeros(system.prescribed.dofs.size)
        self._weights = np.where(self._free, 1.0 / np.sqrt(system.mass), 1.0)
        still = {} if self.inertia else {"inertia": False}
        self._solver = system.linearised(scheme.mass, **still)
        self._inside_out = False

    def force_point(self) -> tuple[float, FloatArray, FloatArray]:
        """Time, position and velocity at which the unknown force of the step is evaluated."""
        s, theta, u = self._scheme, self._scheme.theta, self._scheme.end_position()
        if not s.midpoint:
            return s.t, u, s.v
        mean = (1 - theta) * s.v_before + theta * s.v
        return s.t - (1 - theta) * s.h, (1 - theta) * s.u_before + theta * u, mean

    def begin(self) -> None:
        """Force at the beginning of the step, and the first velocity with its residual.

        It is the velocity before, or that which moves the body as this one would; where an element would be
        inverted, the one that leaves the body where it is.
        """
        s = self._scheme
        if s.direct > 0:
            s.v[:] = s.velocity_to(s.u_before + s.h * s.v_before)
        if not s.midpoint:
            s.system.force(s.t - s.h, s.u_before, s.v_before, self._f_before)
        self._prescribe_motion()
        self._evaluate_residual()
        if s.theta > 0 and not np.isfinite(self._residual_norm()):
            s.v[:] = s.velocity_to(s.u_before)
            self._prescribe_motion()
            self._evaluate_residual()

    def _shorten(self, v: FloatArray, whole: bool) -> float:
        """Halve the correction from ``v`` to the present velocity until it reduces the residual.

        That is the residual of the equation of motion under the new impulses: just before an impact the old
        ones leave none.

        Args:
            v: The velocity before the correction, shape (size,) [m/s].
            whole: Whether to take the correction whole: there rounding decides.

        Returns:
            The part that was taken; below :data:`SHORTEST` where nothing is gained.
        """
        s, end, norm, part = self._scheme, self._scheme.v.copy(), self._residual_norm(), 1.0
        self._evaluate_residual()
        while not (whole or self._residual_norm() <= (1 - 1e-4 * part) * norm):
            part /= 2
            if part < SHORTEST:
                break
            s.v[:] = v + part * (end - v)
            self._evaluate_residual()
        return part

    def _take_whole(self, end: FloatArray) -> None:
        """Go to ``end`` where nothing is gained by less: there contact laws at least hold.

        Raises:
            NotConverged: Forces are not finite there, or an element is turned inside out.
        """
        self._scheme.v[:] = end
        self._evaluate_residual()
        if not np.isfinite(self._residual_norm()):
            raise complementarity.NotConverged(
                f"Newton finds no velocity at t = {self._scheme.t:.6g} s with finite forces and no "
                "element turned inside out: take a smaller time step"
            )

    def _impulses(self) -> FloatArray:
        """The impulses in the equation, shape (size,) [N s]; overwritten by the next call."""
        raise NotImplementedError(f"{type(self).__name__} has no _impulses(), those of the equation")

    def _prescribe_motion(self) -> None:
        """Velocities that take moved dofs to their prescribed position at the end of the step."""
        s, moved = self._scheme, self._scheme.system.prescribed
        if moved.any:
            u = s.u_before.copy()
            u[moved.dofs] = moved(s.t)
            s.v[moved.dofs] = s.velocity_to(u)[moved.dofs]

    def _evaluate_residual(self) -> None:
        """``M (v - v_n) - J(F_theta)`` at the present velocity, without impulses [kg m/s]."""
        s, system, theta = self._scheme, self._scheme.system, self._scheme.theta
        n, (time, u, v) = system.owned, self.force_point()
        system.force(time, u, v, self._f)
        self._inside_out = self._inverted(u)
        acting = self._f.copy() if s.midpoint else (1 - theta) * self._f_before + theta * self._f
        system.mass_product(s.v - s.v_before, s.mass, self._rest)
        dofs = system.prescribed.dofs
        self._reactions = self._rest[dofs] / s.h - acting[dofs]
        s.smooth_impulse(acting)
        self._rest[:n] -= acting[:n]
        self._rest[:n][system.constrained] = 0.0

    def _residual_norm(self) -> float:
        """Norm of the residual with impulses [kg^(1/2) m/s]; inf where it is NaN or an element inverted."""
        s, n = self._scheme, self._scheme.system.owned
        weighted = self._weights * self._free * (self._rest[:n] - self._impulses()[:n])
        norm = parallel.total(s.system.comm, float(weighted @ weighted)) ** 0.5
        return norm if np.isfinite(norm) and not self._inside_out else np.inf

    def _inverted(self, u: FloatArray) -> bool:
        """Whether an element of a body is inverted at ``u``, which some laws allow. Collective."""
        body = self._scheme.system
        return hasattr(body, "deformation") and not body.linear and bool(body.deformation.inside_out(u))

    def _round_off(self) -> float:
        """Change of v by the rounding of the forces, eps |K u|: h |(M + h^2 theta^2 K)^-1 K| [m/s].

        Forces that are not linear in u round like those of a displacement by the size of the system.
        Where direct impulses are, at least that of the velocity which all impulses give through M.
        """
        s, eps = self._scheme, 4 * np.finfo(np.float64).eps
        weight = max(s.theta * s.position_sensitivity * s.acting_time / s.h, 0.25 * s.h)
        largest = self._largest(np.abs(s.u_before[: s.system.owned]))
        largest += 0.0 if s.system.linear else s.system.length
        given = self._largest(np.abs(np.atleast_1d(s.direct_velocity))) / s.direct if s.direct > 0 else 0.0
        return float(eps * max(largest / weight, given))

    def _size(self, v: FloatArray) -> float:
        """Scale of velocities [m/s]: those at both ends, and for what rests the change by the forces."""
        s, n = self._scheme, self._scheme.system.owned
        kicks = s.h * s.system.inverse_mass * np.abs(self._f[:n])
        return self._largest(np.abs(v[:n]) + np.abs(s.v_before[:n]) + kicks)

    def _largest(self, values: FloatArray) -> float:
        return parallel.largest(self._scheme.system.comm, values)
