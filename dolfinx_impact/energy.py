"""The discrete energy balances of the schemes, followed during a run.

Every balance reads ``kinetic + complementary + internal_work + dissipated - external - contact
- interface = kinetic + complementary at the start``; what is left is the ``residual``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import kernels

if TYPE_CHECKING:
    from .integrators.base import Integrator
    from .integrators.formulas import CentralDifferences, ThetaMethod

#: Terms in J; ``*_work``, ``external``, ``contact``, ``dissipated``, ``interface`` are cumulated.
TERMS = (
    "kinetic", "complementary", "internal", "internal_work",
    "external", "contact", "dissipated", "interface",
)  # fmt: skip


def residual(energies: dict[str, NDArray]) -> NDArray:
    """What a balance fails to close by, shape (n,) [J]."""
    e = energies
    stored = e["kinetic"] + e["complementary"]
    return (
        stored - stored[0] + e["internal_work"] + e["dissipated"]
        - e["external"] - e["contact"] - e["interface"]
    )  # fmt: skip


class Balance:
    """Follows the energies of an integrator; sums over the dofs that this rank owns.

    Attributes:
        kinetic, complementary, internal: Energies at the integrator's time ``t`` [J].
        internal_work, external, contact, dissipated, interface: Cumulated from 0 [J].
        closes: Whether the residual is round-off.
    """

    closes = True

    def __init__(self, integrator: "Integrator") -> None:
        self.integrator = integrator
        self.kinetic = self.complementary = self.internal = 0.0
        self.internal_work = self.external = self.contact = 0.0
        self.dissipated = self.interface = 0.0

    def start(self) -> None:
        """Evaluate the energies at the start. Collective."""

    def step(self) -> None:
        """Add what the last step did; to be called after every step. Collective."""

    def terms(self) -> NDArray:
        """This rank's share of :data:`TERMS`, shape (8,) [J]."""
        return np.array([getattr(self, name) for name in TERMS])


class CentralDifferenceBalance(Balance):
    """Fekak et al. (2017), (84)-(90), with ``[U] = h v_{n+1/2}`` and ``<X>`` the mean of both ends.

    kinetic (86) with the mean velocity (44b), complementary (87), external (88), internal
    work (89), contact (90).
    """

    integrator: "CentralDifferences"

    def start(self) -> None:
        """Kinetic, complementary and internal energy at t_0."""
        self._loops = kernels.load()
        self._loads = np.zeros(self.integrator.system.size)
        self._powers = np.zeros(3)
        self._read()

    def step(self) -> None:
        """Half of each work with the forces at t_n, half with those at t_{n+1}."""
        earlier = self._powers
        later = self._read()
        h = self.integrator.dt
        self.internal_work += h / 2 * (earlier[0] + later[0])
        self.external += h / 2 * (earlier[1] + later[1])
        self.contact += 0.5 * (earlier[2] + later[2])

    def _read(self) -> NDArray:
        """Energies at t; returns ``v_{n-1/2} . (F_int, F_ext, L^T r)``, keeps those of v_{n+1/2}."""
        s = self.integrator
        n, system = s.system.owned, s.system
        v0, v1, u = s.v_before[:n], s.v[:n], s.u[:n]
        kinetic, jump, before, after, at_u = self._loops.central_sums(system.mass, v0, v1, s.f[:n], u)
        loads = np.zeros(3)
        if system.has_loads:
            system.external(s.t, s.u, s.v_before, self._loads)
            load = self._loads[:n]
            loads[:] = load @ v0, load @ v1, load @ u
        self.kinetic, self.complementary = kinetic, -jump
        self.internal = 0.5 * (loads[2] - at_u)
        pushed = self._contact_powers()
        self._powers = np.array([loads[1] - after, loads[1], pushed[1]])
        return np.array([loads[0] - before, loads[0], pushed[0]])

    def _contact_powers(self) -> tuple[float, float]:
        s = self.integrator
        if s.contact is None or not s.r.any():
            return 0.0, 0.0
        return float(s.r @ s.contact.rows(s.v_before)), float(s.r @ s.contact.rows(s.v))


class OneStepBalance(Balance):
    """What the balances of one-step schemes share: both ends of the step at hand."""

    #: Mass in the kinetic energy.
    mass = "lumped"

    def start(self) -> None:
        """Energies at t_0."""
        s = self.integrator
        self._f, self._load, self._Mv = (np.zeros(s.system.size) for _ in range(3))
        self._u, self._v = s.u.copy(), s.v_mean.copy()
        self._f_int, self._f_ext = self._forces()
        self._energies()

    def step(self) -> None:
        """Mean of the internal forces; the other works as the scheme weighs them."""
        s, n = self.integrator, self.integrator.system.owned
        v = s.v_mean
        du, dv = (s.u - self._u)[:n], v - self._v
        f_int, f_ext = self._forces()
        w = self._weight()
        self.internal_work += 0.5 * float(du @ (self._f_int + f_int))
        self.external += float(du @ ((1 - w) * self._f_ext + w * f_ext))
        if s.contact is not None and s.r.any():
            self.contact += float(s.r @ s.contact.rows((1 - w) * self._v + w * v))
        if w != 0.5:
            self.dissipated += (w - 0.5) * (self._norm(dv) + float(du @ (f_int - self._f_int)))
        self._u[:], self._v[:], self._f_int, self._f_ext = s.u, v, f_int, f_ext
        self._energies()

    def _weight(self) -> float:
        return 0.5

    def _forces(self) -> tuple[NDArray, NDArray]:
        s, n = self.integrator, self.integrator.system.owned
        s.system.force(s.t, s.u, s.v_mean, self._f)
        s.system.external(s.t, s.u, s.v_mean, self._load)
        return self._load[:n] - self._f[:n], self._load[:n].copy()

    def _norm(self, v: NDArray) -> float:
        n = self.integrator.system.owned
        self.integrator.system.mass_product(v, self.mass, self._Mv)
        return float(v[:n] @ self._Mv[:n])

    def _energies(self) -> None:
        n = self.integrator.system.owned
        self.kinetic = 0.5 * self._norm(self.integrator.v_mean)
        self.internal = 0.5 * float(self.integrator.u[:n] @ self._f_int)


class ThetaBalance(OneStepBalance):
    """Theta method with a linear force and L fixed in the step: exact.

    ``E' - E = f_theta.(u' - u) + r.L v_theta - (theta - 1/2)(|v' - v|_M^2 + |u' - u|_K^2)``
    with ``x_theta = theta x' + (1 - theta) x``; the last term is ``dissipated``.
    """

    integrator: "ThetaMethod"

    def start(self) -> None:
        """Energies at t_0, with the scheme's mass."""
        self.mass = self.integrator.mass
        super().start()

    def _weight(self) -> float:
        return self.integrator.theta


class TrapezoidalBalance(OneStepBalance):
    """For schemes without a balance of their own: trapezoidal works; the residual is their defect."""

    closes = False
