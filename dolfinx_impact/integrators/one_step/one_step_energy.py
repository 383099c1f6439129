"""The discrete energy balances of one-step schemes: theta method, Newmark, trapezoidal works for others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray, Forces
from ..energy import EnergyBalance, Sums, is_half_the_work


class OneStepBalance(EnergyBalance):
    """Base class of the balances of one-step schemes, with the forces at both ends of a step."""

    def start(self) -> None:
        """Energies at t_0."""
        s = self.integrator
        self._f, self._load, self._damp, self._Mv = (np.zeros(s.system.size) for _ in range(4))
        self._u, self._v = s.u.copy(), s.v_mean.copy()
        self._parts = self._forces(s.t, s.u, s.v_mean)
        self._energies()

    def step(self) -> None:
        """Internal work with the mean force, other works with the weights of the scheme."""
        s, n, v = self.integrator, self.integrator.system.owned, self.integrator.v_mean
        du = (s.u - self._u)[:n]
        before, after = self._parts, self._forces(s.t, s.u, self._end())
        internal, external, damped = self._acting(before, after)
        self.internal_work += float(du @ internal)
        self.external += float(du @ external)
        if s.system.prescribed.any:
            self.external += self._reaction_work(du[s.system.prescribed.dofs])
        self.dissipated += float(du @ damped)
        self.pushed = -s.dt * float(v[:n] @ after[2])
        self.contact += self._contact_work()
        self.dissipated += self._formula_loss(du, self._end() - self._v, before, after)
        self._u[:], self._v[:], self._parts = s.u, v, after
        self._energies()

    def compiled(self) -> Sums:
        """Sums that a compiled loop continues; no powers: the forces at the start follow from the state."""
        return Sums(self.terms(), np.zeros(0))

    def take(self, sums: Sums) -> None:
        """Set the sums after a compiled loop; the integrator is at the end of its steps."""
        self._set_terms(sums.terms)
        s = self.integrator
        self._u[:], self._v[:] = s.u, s.v_mean
        self._parts = self._forces(s.t, s.u, s.v_mean)

    def _contact_work(self) -> float:
        w = self._weight()
        work: float = self.integrator.contact_work((1 - w) * self._v + w * self.integrator.v_mean)
        return work

    def _reaction_work(self, du: FloatArray) -> float:
        """Work of the reactions at moved dofs, which go by ``du``, shape (k,) [m]."""
        return float(du @ self.integrator.reactions())

    def _end(self) -> FloatArray:
        """Velocities at the end of the step in the formula, shape (size,) [m/s]."""
        end: FloatArray = self.integrator.v_mean
        return end

    def _weight(self) -> float:
        return 0.5

    def _formula_loss(self, du: FloatArray, dv: FloatArray, before: Forces, after: Forces) -> float:
        """Energy that the formula itself takes away in a step [J].

        Args:
            du: Change of the displacements, owned dofs [m].
            dv: Change of the velocities, shape (size,) [m/s].
            before, after: :meth:`_forces` at both ends.
        """
        return 0.0

    def _acting(self, before: Forces, after: Forces) -> Forces:
        """Internal, external and damping forces that do the works of the step, shape (owned,) each [N]."""
        w = self._weight()
        mean = 0.5 * (before[0] + after[0])
        return mean, (1 - w) * before[1] + w * after[1], (1 - w) * before[2] + w * after[2]

    def _forces(self, t: float, u: FloatArray, v: FloatArray) -> Forces:
        """Internal, external and damping forces, shape (owned,) each [N]."""
        system, n = self.integrator.system, self.integrator.system.owned
        system.force(t, u, v, self._f)
        system.external(t, u, v, self._load)
        system.damping(t, u, v, self._damp)
        f, load, damp = self._f[:n], self._load[:n], self._damp[:n]
        return load - f - damp, load.copy(), damp.copy()

    def _norm(self, v: FloatArray) -> float:
        """``v.M v`` over the owned dofs."""
        n = self.integrator.system.owned
        self.integrator.system.mass_product(v, self.integrator.mass, self._Mv)
        return float(v[:n] @ self._Mv[:n])

    def _energies(self) -> None:
        self.kinetic = 0.5 * self._norm(self.integrator.v_mean)
        n, system = self.integrator.system.owned, self.integrator.system
        if is_half_the_work(system):
            self.internal = 0.5 * float(self.integrator.u[:n] @ self._parts[0])
        elif self.sampled:
            self._sample(self.integrator.u)


class ThetaBalance(OneStepBalance):
    """Energy balance of the theta method, exact for linear forces and constant L in a step.

    ``E' - E = f_theta.(u' - u) + r.L v_theta - (theta - 1/2)(|v' - v|_M^2 + |u' - u|_K^2)``
    with ``x_theta = theta x' + (1 - theta) x``; the last term is ``dissipated``. For nonlinear forces
    ``|u' - u|_K^2`` is replaced by ``(u' - u).(F_int' - F_int)``, and the balance of works is exact too.

    Args:
        integrator: The scheme.
        closes: Whether the impulse is part of the step equations; otherwise the balance is not exact.
    """

    compiled = OneStepBalance.compiled

    def __init__(self, integrator: Any, *, closes: bool = True) -> None:
        super().__init__(integrator)
        self.closes = closes

    def _acting(self, before: Forces, after: Forces) -> Forces:
        s = self.integrator
        point = s.force_point()
        if point is None:
            return super()._acting(before, after)
        # Force at the weighted state minus the part in ``dissipated``, which is zero for theta = 1/2.
        internal, external, damped = self._forces(*point)
        return internal - (s.theta - 0.5) * (after[0] - before[0]), external, damped

    def _formula_loss(self, du: FloatArray, dv: FloatArray, before: Forces, after: Forces) -> float:
        w = self._weight()
        if w == 0.5:
            return 0.0
        return (w - 0.5) * (self._norm(dv) + float(du @ (after[0] - before[0])))

    def _weight(self) -> float:
        theta: float = self.integrator.theta
        return theta


class GeneralizedAlphaBalance(OneStepBalance):
    """Energy balance of nonsmooth generalized-alpha: ``dissipated`` is the difference of two works.

    With the smooth impulse J of the step, ``M (v' - v) = J + L^T r``, the kinetic energy changes by
    ``(v + v')/2 . (J + L^T r)``. Internal and external works take the mean of the forces at both ends, as
    for every scheme; ``(u' - u).(F + F')/2 - (v + v')/2 . J`` is ``dissipated``, beside the work of damping
    forces. It is the difference of two works and has no sign by itself.
    """

    compiled = OneStepBalance.compiled

    def _formula_loss(self, du: FloatArray, dv: FloatArray, before: Forces, after: Forces) -> float:
        s, n, moved = self.integrator, self.integrator.system.owned, self.integrator.system.prescribed
        first, last = (external - internal - damped for internal, external, damped in (before, after))
        mean = 0.5 * (first + last)
        self._f[:n] = (1 - s.theta) * first + s.theta * last
        if moved.any:
            reactions = s.reactions()
            mean[moved.dofs] += reactions
            forced = s.dt * (self._f[moved.dofs] + reactions)
        s.smooth_impulse(self._f)
        if moved.any:
            self._f[moved.dofs] = forced
        return float(du @ mean) - float((self._v + 0.5 * dv)[:n] @ self._f[:n])


class TrapezoidalBalance(OneStepBalance):
    """Works by the trapezoidal rule, for schemes without an exact discrete balance."""

    compiled = None  # type: ignore[assignment]
    closes = False


class NewmarkBalance(OneStepBalance):
    """Energy balance of Newmark's trapezoidal rule with contact at the end of the step.

    Doyen, Ern and Piperno, SIAM J. Sci. Comput. 33 (2011), doi:10.1137/100791440, (14), (56):
    ``E' - E = (r' + r)/2 . (g' - g) / h`` for impulses r; with dissipative contact ``r' . (g' - g) / h``.
    With (alpha, beta, gamma) other than (0, 1/4, 1/2), or corrections of the state, it is not exact.

    Args:
        integrator: The scheme.
        closes: Whether the state is changed by the formula only.
    """

    compiled = None  # type: ignore[assignment]

    def __init__(self, integrator: Any, *, closes: bool = True) -> None:
        super().__init__(integrator)
        constants = (integrator.alpha, integrator.beta, integrator.gamma)
        self.closes = closes and constants == (0.0, 0.25, 0.5)
        self._r = np.zeros_like(integrator.r)

    def start(self) -> None:
        """Energies and impulses at t_0."""
        super().start()
        self._r[:] = self.integrator.r

    def _contact_work(self) -> float:
        s = self.integrator
        if s.contact is None:
            return 0.0
        r = s.r if s.dissipative else 0.5 * (self._r + s.r)
        work: float = float(r @ s.contact_state.L(s.u - s.u_before)) / s.dt
        self._r[:] = s.r
        return work
