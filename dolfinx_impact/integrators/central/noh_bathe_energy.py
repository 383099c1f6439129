"""The discrete energy balance of the explicit scheme of Noh and Bathe."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray, Forces
from ..energy import TERMS, EnergyBalance, Sums, is_half_the_work


class NohBatheBalance(EnergyBalance):
    """Works over both substeps, ``[u].<X>`` with ``<X>`` the mean of both ends, and kinetic energy at ``t``.

    With the impulse J of the smooth forces F in the velocity formula of a substep from ``v_-`` to ``v_+``::

        [v.M v / 2] = (v_- + v_+).J / 2 + r.L (v_- + v_+) / 2
        dissipated += [u].<F> - (v_- + v_+).J / 2,   and the work of damping forces

    The residual is then round-off. ``dissipated`` is the difference of two works, no quadratic form: it may
    decrease in some steps, and the sum of kinetic and stored energy may rise. Work of prescribed motion, in
    ``external``, is that of the impulse that is missing there, ``m (v_+ - v_-) - J - L^T r``.
    """

    state_names = (*TERMS, "_started")

    def __init__(self, integrator: Any) -> None:
        super().__init__(integrator)
        self._started = self._borne = 0.0

    def start(self) -> None:
        """Energies at the start, before an impact there, whose work is added in step 1."""
        s = self.integrator
        self._load, self._damped = (np.zeros(s.system.size) for _ in range(2))
        self._parts, self._u = self._forces(s.t, s.u, s.v_force, s.f), self._of(s.u).copy()
        self._energies(self._parts[0])
        if s.n == 0 and s.contact is not None:
            mean, moved = 0.5 * (s.v_start + s.v), s.system.prescribed.dofs
            self._started = s.contact_work(mean, s.impulses_of(s.r_start, s.r_t_start))
            self._borne = -float(s.moved_impulses(s.impulses_of(s.r_start, s.r_t_start)) @ mean[moved])

    def step(self) -> None:
        """Works of both substeps."""
        s, system = self.integrator, self.integrator.system
        self.contact += self._started
        self.external += self._borne
        self._started = self._borne = self.pushed = 0.0
        dofs = system.prescribed.dofs
        for part in s.substep_states:
            before, after = self._parts, self._forces(part.t, part.u, part.v_force, part.f)
            du, mean = self._of(part.u) - self._u, 0.5 * self._of(part.v_before + part.v)
            internal, external, damped = (0.5 * float(du @ (x + y)) for x, y in zip(before, after))
            self.internal_work += internal
            self.external += external
            self.dissipated += external - internal - float(mean @ part.impulse)
            self.contact += part.contact_work
            self.pushed -= part.dt * float(self._of(part.v_force) @ after[2])
            if system.prescribed.any:
                self.external += float(mean[dofs] @ s.missing(part))
            self._parts, self._u = after, self._of(part.u).copy()
        self._energies(self._parts[0])

    def compiled(self) -> Sums:
        """Sums that a compiled loop continues; in place of powers the forces at t, shape (3 n,) [N]."""
        terms = self.terms()
        terms[5] += self._started
        return Sums(terms, np.concatenate(self._parts) if hasattr(self, "_parts") else np.zeros(0))

    def take(self, sums: Sums) -> None:
        """Set the sums after a compiled loop."""
        self._set_terms(sums.terms)
        self._started, self._u = 0.0, self._of(self.integrator.u).copy()
        internal, external, damped = sums.powers.reshape(3, -1).copy()
        self._parts = internal, external, damped

    def restart(self) -> None:
        """Nothing: a change of the time step does not change the state."""

    def _forces(self, t: float, u: FloatArray, v: FloatArray, f: FloatArray) -> Forces:
        """Internal, external and damping forces whose sum is f, shape (owned,) each [N]."""
        system, load, damped = self.integrator.system, self._of(self._load), self._of(self._damped)
        if system.has_loads:
            system.external(t, u, v, self._load)
        if system.has_damping:
            system.damping(t, u, v, self._damped)
        return load - damped - self._of(f), load.copy(), damped.copy()

    def _energies(self, internal: FloatArray) -> None:
        s, system = self.integrator, self.integrator.system
        self.kinetic = 0.5 * float(np.sum(system.mass * self._of(s.v_mean) ** 2))
        if is_half_the_work(system):
            self.internal = 0.5 * float(self._of(s.u) @ internal)
        elif self.sampled:
            self._sample(s.u)

    def _of(self, x: FloatArray) -> FloatArray:
        """The entries over which sums run: the owned dofs."""
        return x[: self.integrator.system.owned]
