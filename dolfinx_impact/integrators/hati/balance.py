"""The energy balance of HATI, Fekak et al. (2017), (91)-(93)."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from ...algebra import kernels
from ...systems.body import Body
from ..energy import Balance, CentralDifferenceBalance, Sums


class ExplicitBalance(CentralDifferenceBalance):
    """That of the explicit side: sums over its own dofs, as its compiled loop has them."""

    def start(self) -> None:
        """See :class:`.CentralDifferenceBalance`."""
        self._inside = _inside(self.integrator.system)
        super().start()

    def _of(self, x: NDArray) -> NDArray:
        return x[self._inside]

    def compiled(self) -> Sums:
        """See :meth:`.CentralDifferenceBalance.compiled`."""
        return super().compiled()


def _inside(body: Body) -> Any:
    """The owned dofs of a subdomain, as an index."""
    return slice(body.owned) if body.inside.all() else np.flatnonzero(body.inside)


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
        self.fine, self._loops = ExplicitBalance(integrator.fine), kernels.load()
        self._side = integrator.coarse
        system = self._side.system
        self._u, self._parts = np.zeros(system.size), np.zeros((3, system.size))
        self._at, self._inside = integrator.interface.dofs, _inside(system)
        self._internal_work = self._dissipated = self._external = 0.0
        self._kinetic = self._stored = 0.0
        # Apart, so that the sums do not depend on where loops begin and end.
        self._of_fine = self._of_coarse = 0.0
        self._began, self._before = np.zeros(self._at.size), np.zeros(self._at.size)

    def start(self) -> None:
        """Energies of both sides at t_0; from here on the integrator tells of its fine steps."""
        self.integrator.following = self
        self.fine.start()
        forces = self.coarse_forces = self._read()
        self._u[:] = self._side.u
        self._kinetic, self._stored, *_ = self._sums(forces, forces)
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
        self._of_fine += s.dt * float(self._loops.dot(s.v_before[self._at], mean))
        self._before[:] = s.multipliers

    def compiled(self) -> tuple[Sums, NDArray]:
        """Sums of the explicit side and terms of the implicit one, see :meth:`.Balance.compiled`.

        Raises:
            NotCompiled: A class with other sums.
        """
        names = ("before_step", "fine_step", "step", "terms", "_sums", "_read", "_gather")
        if kernels.overridden(self, names) is not None:
            return super().compiled()  # type: ignore[no-any-return]
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
        before, after = self.coarse_forces, self._read()
        self._kinetic, self._stored, work, external, damped = self._sums(before, after)
        self._internal_work += work
        self._external += external
        self._dissipated += damped
        mean = 0.5 * (self._began + self.integrator.fine.multipliers)
        way = self._side.u[self._at] - self._u[self._at]
        self._of_coarse -= float(self._loops.dot(way, mean))
        self.coarse_forces = after
        self._gather()

    def _sums(self, before: tuple, after: tuple) -> tuple[float, float, float, float, float]:
        side, at = self._side, self._inside
        m, v, u, u_before = (x[at] for x in (side.system.mass, side.v, side.u, self._u))
        first, last = (tuple(f[at] for f in forces) for forces in (before, after))
        return self._loops.trapezoidal_sums(m, v, u, u_before, first, last)

    def _read(self) -> tuple[NDArray, NDArray, NDArray]:
        """Internal, external and damping forces of the implicit side at ``t``; those that move dofs too."""
        side, system, t = self._side, self._side.system, self.integrator.t
        for ask, part in zip((system.force, system.external, system.damping), self._parts):
            ask(t, side.u, side.v, part)
        force, load, damped = (part[: system.owned].copy() for part in self._parts)
        internal, at = load - force - damped, system.moved.dofs
        load[at] += system.mass[at] * side.a[at] - force[at]  # (92)
        return internal, load, damped

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
