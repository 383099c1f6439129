"""The step of the theta method for any smooth force: Newton's method, contact inside the iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import parallel
from ..._types import FloatArray
from ...algebra import complementarity
from ...algebra.sparse_solver import LinearSolverFailed
from ..impulses.delassus import FactorisedDelassus, factorised_delassus
from ..impulses.delassus_lumped import lumped_delassus

_MOST = 60
_TOLERANCE = 1e-12
_ROUNDING = 1e-15
_SQUARED = 1e-9
#: A correction is shortened at most to this part,
_SHORTEST = 1e-4
#: and not where it is no larger than this part of the velocity: there rounding decides.
_NEGLIGIBLE = 1e-6


class NewtonThetaStep:
    """``M (v - v_n) = h F_theta + L^T r`` by Newton's method; Di Stasio et al. (2019), (33), midpoint (38).

    That is the theta method; the other formulas of :class:`.OneStepMethod` have their own smooth impulse,
    position and, with direct impulses, response. In every iteration the impulses belong to its final
    velocity: ``H = L A^-1 L^T`` with ``A = M - h theta dF/dv - h^2 theta^2 dF/du``. With friction
    ``L = [L_N; L_T]``: normal and tangential impulses are found together, the tangential law on v_{n+1},
    (42). A correction of v that does not reduce the residual of the equation of motion under the new impulses
    is halved until it does; the last one is always taken whole, so that contact laws hold exactly.

    Args:
        scheme: The :class:`.OneStepMethod`; its system has known tangents.

    Raises:
        ValueError: Prescribed motion with theta = 0; a decoupled step with a mass that is not lumped.
        NotConverged: (by ``solve``) when the velocity is not found to 1e-12 of its size.
    """

    def __init__(self, scheme: Any) -> None:
        self._scheme, system = scheme, scheme.system
        if system.prescribed.any and scheme.theta == 0:
            raise ValueError("prescribed motion needs theta above 0: nothing else moves the end of the step")
        self._f, self._f_before, self._rest, self._x = (np.zeros(system.size) for _ in range(4))
        self._free, self._reactions = ~system.constrained, np.zeros(system.prescribed.dofs.size)
        self._weights = np.where(self._free, 1.0 / np.sqrt(system.mass), 1.0)
        self._solver = system.linearised(scheme.mass)
        self._response: FactorisedDelassus | None = None
        if scheme.contact is not None and scheme.coupled:
            solver = scheme.impulse_solver(self._solver)
            self._response = factorised_delassus(scheme, solver, symmetric=self._solver.symmetric)
        elif scheme.contact is not None and scheme.mass != "lumped":
            raise ValueError("the impulse of a decoupled step acts through the lumped mass: mass='lumped'")
        self._inside_out = False

    def force_point(self) -> tuple[float, FloatArray, FloatArray]:
        """Time, position and velocity at which the unknown force of the step is evaluated."""
        s, theta, u = self._scheme, self._scheme.theta, self._scheme.end_position()
        if not s.midpoint:
            return s.t, u, s.v
        mean = (1 - theta) * s.v_before + theta * s.v
        return s.t - (1 - theta) * s.dt, (1 - theta) * s.u_before + theta * u, mean

    def solve(self) -> None:
        """From ``u_before``, ``v_before`` to ``v`` and the impulses of the step. Collective."""
        s, n = self._scheme, self._scheme.system.owned
        self.begin()
        # With exact tangents the next correction would be of the order of the square of this one.
        enough = _SQUARED if self._solver.exact else _ROUNDING
        for s.iterations in range(1, _MOST + 1):
            before, given = s.v.copy(), s.direct_velocity
            whole = self.iterate()
            size = self._size(s.v)
            # Where contact keeps the velocity, the direct part of the impulses still moves the position.
            moved = self._largest(np.abs(np.atleast_1d(s.direct_velocity - given)))
            change = max(self._largest(np.abs(s.v[:n] - before[:n])), moved)
            accepted = max(_TOLERANCE * size, self._round_off())
            if not whole:
                continue
            # Of direct impulses the tangent leaves out what they do to forces that depend on the velocity.
            exact = not (s.direct > 0 and self._largest(np.abs(s.r)) > 0)
            if exact and change <= enough * size or (s.iterations > 8 or not exact) and change <= accepted:
                break
        else:
            raise complementarity.NotConverged(
                f"Newton did not find the velocity at t = {s.t:.6g} s: the last of {_MOST} corrections "
                f"is {change:.3g} m/s; take a smaller time step"
            )
        if s.contact is not None and not s.coupled:
            self._add_decoupled_impulse()

    def update(self) -> None:
        """Move the system to the end of the step."""
        self._scheme.move()

    def begin(self) -> None:
        """Force at the beginning of the step, and the first velocity with its residual.

        It is the velocity before, or that which moves the body as this one would; where an element would be
        inverted, the one that leaves the body where it is.
        """
        s = self._scheme
        if s.direct > 0:
            s.v[:] = s.velocity_to(s.u_before + s.dt * s.v_before)
        if not s.midpoint:
            s.system.force(s.t - s.dt, s.u_before, s.v_before, self._f_before)
        self._prescribe_motion()
        self._evaluate_residual()
        if s.theta > 0 and not np.isfinite(self._residual_norm()):
            s.v[:] = s.velocity_to(s.u_before)
            self._prescribe_motion()
            self._evaluate_residual()

    def iterate(self) -> bool:
        """One Newton iteration with a line search.

        Returns:
            Whether the whole correction was taken.
        """
        s, n, v = self._scheme, self._scheme.system.owned, self._scheme.v - self._scheme.direct_velocity
        self._solve_linearised()
        v += s.direct_velocity
        # Under the new impulses: just before an impact the old ones leave no residual.
        end, norm = s.v.copy(), self._residual_norm()
        size = self._size(v)
        small = self._largest(np.abs(end[:n] - v[:n])) <= _NEGLIGIBLE * size + 10 * self._round_off()
        part = 1.0
        self._evaluate_residual()
        while not (small or self._residual_norm() <= (1 - 1e-4 * part) * norm):
            part /= 2
            if part < _SHORTEST:
                break
            s.v[:] = v + part * (end - v)
            self._evaluate_residual()
        if _SHORTEST <= part < 1:
            return False
        if part < 1:  # nothing is gained by less: the whole correction at least fulfils the contact laws
            s.v[:] = end
            self._evaluate_residual()
            if not np.isfinite(self._residual_norm()):
                raise complementarity.NotConverged(
                    f"Newton finds no velocity at t = {s.t:.6g} s with finite forces and no "
                    "element turned inside out: take a smaller time step"
                )
        return True

    def reactions(self) -> FloatArray:
        """See :meth:`.Integrator.reactions`: means over the last step, 0 before the first."""
        s = self._scheme
        reactions: FloatArray = self._reactions - s.moved_impulses(s.impulses) / s.dt
        return reactions

    def _solve_linearised(self) -> None:
        """Velocity and impulses of the step linearised at the present velocity."""
        s, n, weight = self._scheme, self._scheme.system.owned, self._scheme.acting_time * self._scheme.theta
        try:
            self._solver.update(*self.force_point(), weight, weight * s.position_sensitivity)  # (33) or (38)
            self._add_direct(-s.direct)
            self._solver.solve(self._rest, self._x)
            s.v[:n] -= self._x[:n]
            s.v -= s.direct_velocity
            if self._response is not None:
                self._response.forget()
                impulses = s.enforcement.impulses(s, self._response)  # (8)
                s.set_impulses(impulses)
                self._response.apply(impulses, s.v)
                s.take_impulses()
            self._add_direct(s.direct)
        except (LinearSolverFailed, complementarity.NotConverged) as error:
            raise complementarity.NotConverged(
                f"the time step {s.dt:.6g} s is too large for Newton's iteration at t = {s.t:.6g} s, which "
                f"finds no correction ({error}): take a smaller time step"
            ) from None

    def _add_direct(self, part: float) -> None:
        """Add a part of the impulses, which direct ones are in the residual, to it."""
        if part != 0.0 and self._response is not None:
            self._rest += part * self._impulses()

    def _impulses(self) -> FloatArray:
        """``L^T r`` with friction, shape (size,) [N s]; overwritten by the next call."""
        s = self._scheme
        self._x[:] = 0.0
        if s.contact is not None and s.coupled:
            s.impulses.add_to(self._x)
        return self._x

    def _add_decoupled_impulse(self) -> None:
        """``v += M^-1 L^T r`` with the impulses of the velocity without contact, H = L M^-1 L^T."""
        s, response = self._scheme, lumped_delassus(self._scheme)
        impulses = s.enforcement.impulses(s, response)
        s.set_impulses(impulses)
        response.apply(impulses, s.v)

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
        self._reactions = self._rest[dofs] / s.dt - acting[dofs]
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
        weight = max(s.theta * s.position_sensitivity * s.acting_time / s.dt, 0.25 * s.dt)
        largest = self._largest(np.abs(s.u_before[: s.system.owned]))
        largest += 0.0 if s.system.linear else s.system.length
        given = self._largest(np.abs(np.atleast_1d(s.direct_velocity))) / s.direct if s.direct > 0 else 0.0
        return float(eps * max(largest / weight, given))

    def _size(self, v: FloatArray) -> float:
        """Scale of velocities [m/s]: those at both ends, and for what rests the change by the forces."""
        s, n = self._scheme, self._scheme.system.owned
        kicks = s.dt * s.system.inverse_mass * np.abs(self._f[:n])
        return self._largest(np.abs(v[:n]) + np.abs(s.v_before[:n]) + kicks)

    def _largest(self, values: FloatArray) -> float:
        return parallel.largest(self._scheme.system.comm, values)
