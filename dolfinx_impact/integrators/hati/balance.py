"""The energy balance of HATI, Fekak et al. (2017), (91)-(93)."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from ...energy import TERMS, Balance, CentralDifferenceBalance


class HATIBalance(Balance):
    """Explicit side (86)-(90) in every fine step, implicit side in every coarse one, and the interface.

    ``W_interface`` is (93) with the mean multipliers: ``[U_E] . <Lambda>`` per fine step less
    ``[U_I] . <Lambda>`` per coarse step, both over the pairs; only then does (91) close.

    Attributes:
        fine: The balance of the explicit side.
        coarse_forces: Internal, external and damping forces of the implicit side at ``t``, shape (owned,)
            each [N].
    """

    state_names = (
        "_of_fine", "_of_coarse", "_internal_work", "_dissipated", "_external", "_kinetic", "_stored",
    )  # fmt: skip
    at_dofs = ("coarse_forces",)

    def __init__(self, integrator: Any) -> None:
        super().__init__(integrator)
        self.fine = CentralDifferenceBalance(integrator.fine)
        self._side = integrator.coarse
        system = self._side.system
        self._u, self._parts = np.zeros(system.size), np.zeros((4, system.size))
        self._at = integrator.interface.dofs
        self._internal_work = self._dissipated = self._external = 0.0
        # Apart, so that the sums do not depend on where loops begin and end.
        self._of_fine = self._of_coarse = 0.0
        self._began, self._before = np.zeros(self._at.size), np.zeros(self._at.size)

    def start(self) -> None:
        """Energies of both sides at t_0; from here on the integrator tells of its fine steps."""
        self.integrator.following = self
        self.fine.start()
        self.coarse_forces = self._read()
        self._gather()

    def state(self) -> dict[str, NDArray]:
        """See :meth:`.Balance.state`; the implicit side's forces as the loop has them, to the last bit."""
        own = {name: np.array(getattr(self, name)) for name in self.state_names}
        fine = {f"fine.{name}": value for name, value in self.fine.state().items()}
        return {**own, **fine, "coarse_forces": np.stack(self.coarse_forces, axis=1)}

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """See :meth:`.Balance.resume`."""
        super().resume(state)
        self.fine.resume({k[5:]: value for k, value in state.items() if k.startswith("fine.")})
        internal, external, damped = np.array(state["coarse_forces"]).T.copy()
        self.coarse_forces = internal, external, damped
        self._gather()

    def before_step(self) -> None:
        """Note the state at the beginning of a coarse step."""
        self._u[:] = self._side.u
        self._began[:] = self._before[:] = self.integrator.fine.multipliers

    def fine_step(self) -> None:
        """Add what a fine step did."""
        self.fine.step()
        s = self.integrator.fine
        mean = 0.5 * (self._before + s.multipliers)
        self._of_fine += s.dt * float(s.v_before[self._at] @ mean)
        self._before[:] = s.multipliers

    def fine_terms(self) -> NDArray:
        """Terms of the explicit side, with its part of the interface energy so far [J]."""
        terms = self.fine.terms()
        terms[-1] = self._of_fine
        return terms

    def take_fine_terms(self, terms: NDArray, powers: NDArray) -> None:
        """Take the terms of the explicit side after many fine steps at once."""
        for name, value in zip(TERMS[:-1], terms):
            setattr(self.fine, name, float(value))
        self.fine._powers[:] = powers
        self._of_fine = float(terms[-1])
        self._gather()

    def coarse_terms(self) -> NDArray:
        """Terms of the implicit side, with its part of the interface energy so far [J]."""
        return np.array([
            self._kinetic, 0.0, self._stored, self._internal_work, self._external, 0.0, self._dissipated,
            self._of_coarse,
        ])  # fmt: skip

    def take_coarse_terms(self, terms: NDArray) -> None:
        """Take the terms of the implicit side after many steps at once."""
        self._kinetic, _, self._stored, self._internal_work, self._external, _, self._dissipated = (
            map(float, terms[:-1])
        )
        self._of_coarse = float(terms[-1])

    def step(self) -> None:
        """Add what the implicit side did in the coarse step."""
        n = self._side.system.owned
        before, after = self.coarse_forces, self._read()
        internal, external, damped = (0.5 * (a + b) for a, b in zip(before, after))
        way = (self._side.u - self._u)[:n]
        self._internal_work += float(way @ internal)
        self._dissipated += float(way @ damped)
        self._external += float(way @ external)
        mean = 0.5 * (self._began + self.integrator.fine.multipliers)
        self._of_coarse -= float(way[self._at] @ mean)
        self.coarse_forces = after
        self._gather()

    def _read(self) -> tuple[NDArray, NDArray, NDArray]:
        """Internal, external and damping forces of the implicit side at ``t``; those that move dofs too."""
        side, system, t = self._side, self._side.system, self.integrator.t
        n = system.owned
        system.force(t, side.u, side.v, self._parts[0])
        system.external(t, side.u, side.v, self._parts[1])
        system.damping(t, side.u, side.v, self._parts[2])
        force, load, damp = (part[:n].copy() for part in self._parts[:3])
        internal = load - force - damp
        self._kinetic = 0.5 * float(np.sum(system.mass * side.v[:n] ** 2))
        self._stored = 0.5 * float(side.u[:n] @ internal)
        at = system.moved.dofs
        load[at] += system.mass[at] * side.a[at] - force[at]  # (92)
        return internal, load, damp

    def _gather(self) -> None:
        fine = self.fine
        self.kinetic = fine.kinetic + self._kinetic
        self.complementary = fine.complementary
        self.internal = fine.internal + self._stored
        self.internal_work = fine.internal_work + self._internal_work
        self.external = fine.external + self._external
        self.dissipated = fine.dissipated + self._dissipated
        self.contact = fine.contact
        self.interface = self._of_fine + self._of_coarse
