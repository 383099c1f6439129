"""Energy balance of HATI, Fekak et al. (2017), doi:10.1007/s00466-017-1397-0, (91)-(93)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._types import AnyArray, FloatArray, Forces
from ...algebra import kernels
from ...systems.body import Body
from ..energy import CentralDifferenceBalance, EnergyBalance, Sums, is_half_the_work


class ExplicitBalance(CentralDifferenceBalance):
    """Balance of the explicit subdomain, summed over its dofs in the same order as in its compiled loop."""

    def start(self) -> None:
        """See :class:`.CentralDifferenceBalance`."""
        self._inside = _inside(self.integrator.system)
        super().start()

    def _of(self, x: FloatArray) -> FloatArray:
        inside: FloatArray = x[self._inside]
        return inside

    def compiled(self) -> Sums:
        """See :meth:`.CentralDifferenceBalance.compiled`."""
        return super().compiled()


def _inside(body: Body) -> Any:
    """Index of the owned dofs on cells of a subdomain."""
    return slice(body.owned) if body.active.all() else np.flatnonzero(body.active)


class HATIBalance(EnergyBalance):
    """Explicit subdomain (86)-(90) per fine step, implicit one per coarse step, and the interface.

    ``W_interface`` is (93) with mean multipliers instead of their increments: ``[U_E] . <Lambda>`` per fine
    step minus ``[U_I] . <Lambda>`` per coarse step over the interface dofs; only then is (91) exact.

    Attributes:
        fine: Balance of the explicit subdomain.
        coarse_forces: Internal, external and damping forces of the implicit subdomain at ``t``, shape
            (owned,) each [N].
    """

    state_names = (
        "_of_fine",
        "_of_coarse",
        "_internal_work",
        "_dissipated",
        "_external",
        "_kinetic",
        "_stored",
    )
    at_dofs = ("coarse_forces",)

    def __init__(self, integrator: Any) -> None:
        super().__init__(integrator)
        self.fine, self._loops = ExplicitBalance(integrator.fine), kernels.load()
        self._side = integrator.coarse
        system = self._side.system
        self._u, self._parts = np.zeros(system.size), np.zeros((3, system.size))
        self._at, self._inside = integrator.interface.dofs, _inside(system)
        self._internal_work = self._dissipated = self._external = 0.0
        self._kinetic = self._stored = 0.0
        # Separate sums, which do not depend on the division of a run into loops.
        self._of_fine = self._of_coarse = 0.0
        self._began, self._before = np.zeros(self._at.size), np.zeros(self._at.size)

    @property
    def further(self) -> tuple[str, ...]:
        """See :attr:`.EnergyBalance.further`: those of the explicit subdomain."""
        return self.fine.further

    def start(self) -> None:
        """Energies of both subdomains at t_0; registers for calls of :meth:`fine_step` by the integrator."""
        self.integrator.following = self
        self.fine.start()
        forces = self.coarse_forces = self._read()
        self._u[:] = self._side.u
        self._kinetic, self._stored, *_ = self._sums(forces, forces)
        self._sum_up()

    def state(self) -> dict[str, AnyArray]:
        """See :meth:`.EnergyBalance.state`; with forces of the implicit subdomain, for bitwise restarts."""
        sums = {name: np.array(getattr(self, name)) for name in (*self.state_names, *self.further)}
        fine = {f"fine.{name}": value for name, value in self.fine.state().items()}
        return {**sums, **fine, "coarse_forces": np.stack(self.coarse_forces, axis=1)}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """See :meth:`.EnergyBalance.resume`."""
        super().resume(state)
        self.fine.resume({k[5:]: value for k, value in state.items() if k.startswith("fine.")})
        internal, external, damped = np.array(state["coarse_forces"]).T.copy()
        self.coarse_forces = internal, external, damped
        self._sum_up()

    def before_step(self) -> None:
        """Store the state at the beginning of a coarse step."""
        self._u[:], self.pushed = self._side.u, 0.0
        self._began[:] = self._before[:] = self.integrator.fine.multipliers

    def fine_step(self) -> None:
        """Update with a fine step; stored energies are evaluated in the last one of a coarse step."""
        s = self.integrator.fine
        self.fine.sampled = self.sampled and s.n % self.integrator.ratio == 0
        self.fine.step()
        self.pushed += self.fine.pushed
        mean = 0.5 * (self._before + s.multipliers)
        self._of_fine += s.dt * float(self._loops.dot(s.v_before[self._at], mean))  # (93)
        self._before[:] = s.multipliers

    def compiled(self) -> tuple[Sums, FloatArray]:
        """Sums of the explicit side and terms of the implicit one, which a compiled loop continues."""
        return self.fine_sums(), self.coarse_terms()

    def fine_sums(self) -> Sums:
        """Those of the explicit side, with its part of the interface energy so far [J]."""
        sums = self.fine.compiled()
        sums.terms[-1] = self._of_fine
        return sums

    def take_fine_sums(self, sums: Sums) -> None:
        """Take the sums of the explicit side after many fine steps at once."""
        self._of_fine = float(sums.terms[-1])
        self.fine.take(Sums(np.append(sums.terms[:-1], self.fine.interface), sums.powers))
        self._sum_up()

    def coarse_terms(self) -> FloatArray:
        """Terms of the implicit subdomain with its part of the interface work so far, shape (8,) [J]."""
        return np.array(
            [
                self._kinetic,
                0.0,
                self._stored,
                self._internal_work,
                self._external,
                0.0,
                self._dissipated,
                self._of_coarse,
            ]
        )

    def take_coarse_terms(self, terms: FloatArray) -> None:
        """Set the terms of the implicit subdomain after a block of steps."""
        self._kinetic, _, self._stored, self._internal_work, self._external, _, self._dissipated = map(
            float, terms[:-1]
        )
        self._of_coarse = float(terms[-1])

    def step(self) -> None:
        """Update with the coarse step of the implicit subdomain."""
        before, after = self.coarse_forces, self._read()
        self._kinetic, self._stored, work, external, damped = self._sums(before, after)
        self._internal_work += work
        self._external += external
        self._dissipated += damped
        mean = 0.5 * (self._began + self.integrator.fine.multipliers)
        increment = self._side.u[self._at] - self._u[self._at]
        self._of_coarse -= float(self._loops.dot(increment, mean))  # (93)
        self.coarse_forces = after
        self._sum_up()

    def _sums(self, before: Forces, after: Forces) -> tuple[float, float, float, float, float]:
        """Kinetic and stored energy, internal, external and damping work of a coarse step [J]."""
        side, dofs = self._side, self._inside
        m, v, u, u_before = (x[dofs] for x in (side.system.mass, side.v, side.u, self._u))
        first, last = (tuple(f[dofs] for f in forces) for forces in (before, after))
        sums: tuple[float, float, float, float, float] = self._loops.trapezoidal_sums(
            m, v, u, u_before, first, last
        )
        if not is_half_the_work(side.system):
            sums = (sums[0], side.system.stored_energy(side.u), *sums[2:])
        if side.mass == "lumped":
            return sums
        product = np.zeros(side.u.size)
        side.mass_product(side.v, product)
        n = side.system.owned
        return 0.5 * float(self._loops.dot(side.v[:n], product[:n])), *sums[1:]

    def _read(self) -> Forces:
        """Internal, external and damping forces of the implicit subdomain at ``t``, shape (owned,) each [N].

        External forces include the reactions at dofs with prescribed motion.
        """
        side, system, t = self._side, self._side.system, self.integrator.t
        for evaluate, part in zip((system.force, system.external, system.damping), self._parts):
            evaluate(t, side.u, side.v, part)
        force, load, damped = (part[: system.owned].copy() for part in self._parts)
        internal, dofs = load - force - damped, system.prescribed.dofs
        if dofs.size or side.mass != "lumped":
            side.mass_product(side.a, self._parts[0])
        load[dofs] += self._parts[0][dofs] - force[dofs]  # (92)
        return internal, load, damped

    def _sum_up(self) -> None:
        """Totals of both subdomains, (91)."""
        fine = self.fine
        self.kinetic = fine.kinetic + self._kinetic
        self.complementary = fine.complementary
        self.internal = fine.internal + self._stored
        self.plastic_work = fine.plastic_work
        self.internal_work = fine.internal_work + self._internal_work
        self.external = fine.external + self._external
        self.dissipated = fine.dissipated + self._dissipated
        self.contact = fine.contact
        self.interface = self._of_fine + self._of_coarse
