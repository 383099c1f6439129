"""Discrete energy balances of the schemes, evaluated during a run.

Every balance reads ``kinetic + complementary + internal_work + dissipated - external - contact - interface =
kinetic + complementary at the start``; the difference of both sides is the ``residual``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._types import AnyArray, FloatArray
from .central import central_formulas as formulas
from .compiled.formulas import for_arrays

#: Terms [J]; ``internal_work``, ``external``, ``contact``, ``dissipated``, ``interface`` are cumulated works.
TERMS = (
    "kinetic",
    "complementary",
    "internal",
    "internal_work",
    "external",
    "contact",
    "dissipated",
    "interface",
)
#: Further term of bodies with history, a part of ``internal_work``: the work of metals that yield, and what
#: other laws dissipate.
PLASTIC = "plastic_work"


def residual(energies: dict[str, AnyArray]) -> FloatArray:
    """Residual of the energy balance, shape (n,) [J].

    Args:
        energies: The :data:`TERMS`, shape (n,) each [J].
    """
    e = energies
    total = e["kinetic"] + e["complementary"]
    # Works at the first sample are zero, but in a history whose begin was not stored.
    internal_work, dissipated, external, contact, interface = (
        e[name] - e[name][:1] for name in ("internal_work", "dissipated", "external", "contact", "interface")
    )
    residual: FloatArray = total - total[:1] + internal_work + dissipated - external - contact - interface
    return residual


def is_half_the_work(system: Any) -> bool:
    """Whether the stored energy is ``u.F_int / 2``: of linear forces that are zero at rest."""
    return bool(system.linear) and not getattr(system, "stressed_at_rest", False)


class Sums(NamedTuple):
    """Sums that compiled loops continue.

    Attributes:
        terms: This rank's share of :data:`TERMS`, shape (8,) [J].
        powers: With the forces at t: ``v_{n+1/2} . (F_int, F_ext, F_damp)`` [W] and ``r.L v_{n+1/2}`` [J],
            shape (4,); none where they follow from the state, shape (0,).
    """

    terms: FloatArray
    powers: FloatArray


class EnergyBalance:
    """Energies of an integrator, summed over the owned dofs of this rank.

    Attributes:
        kinetic, complementary, internal: Energies at the time ``t`` of the integrator [J].
        plastic_work: Plastic work up to ``t``; of other laws with history what they dissipated [J].
        internal_work, external, contact, dissipated, interface: Works cumulated since the start [J].
        pushed: Work ``-h v.d(v)`` of damping forces d in the last step with the velocities v that they were
            computed with [J]: positive where a user's damping drives the motion.
        closes: Whether the scheme has an exact discrete balance (the residual is round-off).
        sampled: Whether to evaluate the stored energy ``internal`` in the next step. For nonlinear forces it
            costs as much as a force, and no other term depends on it.
    """

    closes = sampled = True
    #: Rank-local contributions to sums that the next step updates.
    state_names: tuple[str, ...] = TERMS
    #: Entries of :meth:`state` that are arrays over the owned dofs instead.
    at_dofs: tuple[str, ...] = ()

    def __init__(self, integrator: Any) -> None:
        self.integrator = integrator
        self.kinetic = self.complementary = self.internal = 0.0
        self.internal_work = self.external = self.contact = 0.0
        self.dissipated = self.interface = self.plastic_work = self.pushed = 0.0

    def start(self) -> None:
        """Evaluate the initial energies. Collective."""

    def step(self) -> None:
        """Update energies and works; called after every step. Collective."""

    def sample_internal(self, wanted: bool) -> None:
        """Set :attr:`sampled`."""
        self.sampled = wanted

    def _sample(self, u: FloatArray) -> None:
        """Evaluate the stored energy and the plastic work at ``u``. Collective."""
        system = self.integrator.system
        self.internal = system.stored_energy(u)
        if self.further:
            self.plastic_work = system.plastic_work()

    def restart(self) -> None:
        """Continue after a change of the time step. Collective.

        Raises:
            ValueError: A balance that does not support it.
        """
        raise ValueError(f"{type(self).__name__} does not support changes of the time step")

    def state(self) -> dict[str, AnyArray]:
        """Rank-local state for a restart (copies)."""
        names = (*self.state_names, *self.further)
        return {name: np.array(getattr(self, name), dtype=np.float64) for name in names}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a :meth:`state`, after :meth:`start` with the resumed integrator. Collective."""
        for name in (*self.state_names, *self.further):
            value = np.array(state[name])
            setattr(self, name, value if value.ndim else float(value))

    @property
    def further(self) -> tuple[str, ...]:
        """Names of terms beside :data:`TERMS`: :data:`PLASTIC` where a material has history."""
        return (PLASTIC,) if getattr(self.integrator.system, "history", None) is not None else ()

    def terms(self) -> FloatArray:
        """Contributions of this rank to :data:`TERMS` and :attr:`further`, shape (8,) or (9,) [J]."""
        return np.array([getattr(self, name) for name in (*TERMS, *self.further)])

    def _set_terms(self, terms: FloatArray) -> None:
        """Set :data:`TERMS` from numbers of shape (8,) [J]."""
        for name, value in zip(TERMS, terms):
            setattr(self, name, float(value))


class CentralDifferenceBalance(EnergyBalance):
    """Energy balance of central differences: ``[U] = h v_{n+1/2}``, ``<X>`` the mean of both ends of a step.

    Fekak et al., Comput. Mech. 60 (2017), doi:10.1007/s00466-017-1397-0, (84)-(90): kinetic (86) with the
    mean velocity (44b), complementary (87), external (88), internal work (89), contact (90).
    """

    state_names: tuple[str, ...] = (*TERMS, "_powers")

    def __init__(self, integrator: Any) -> None:
        super().__init__(integrator)
        self._powers = np.zeros(4)

    def compiled(self) -> Sums:
        """Sums that a compiled loop continues."""
        return Sums(self.terms(), self._powers.copy())

    def take(self, sums: Sums) -> None:
        """Set the sums after a compiled loop."""
        self._set_terms(sums.terms)
        self._powers[:] = sums.powers

    def start(self) -> None:
        """Kinetic, complementary and stored energy at t_0."""
        self._sums = for_arrays()
        self._load, self._damped = (np.zeros(self.integrator.system.size) for _ in range(2))
        self._mass, self._powers = self._of(self.integrator.system.mass), np.zeros(4)
        self._read()
        if self.integrator.n == 0 and self.integrator.contact is not None:
            self._subtract_impact()

    def _subtract_impact(self) -> None:
        """Kinetic energy before an initial impact; its work ``r_i.L (v_0 + v_0+)/2`` is added in step 1."""
        s, n = self.integrator, self.integrator.system.owned
        mean = 0.5 * (s.v_start + s.v_force)
        impact = s.contact_work(mean, s.impulses_of(s.r_start, s.r_t_start))
        # Impulses of points of another rank may act on dofs of this one.
        if not np.array_equal(s.v_start[:n], s.v_force[:n]):
            self.kinetic = 0.5 * float(np.sum(s.system.mass * s.v_start[:n] ** 2))
        self._powers[3] = (
            s.contact_work(s.v, s.impulses_of(s.r - s.r_start, s.r_t - s.r_t_start, s.swept)) + 2.0 * impact
        )
        # The reactions at moved dofs bear the impact with the same velocity.
        moved, pushed = s.system.prescribed.dofs, s.moved_impulses(s.impulses_of(s.r_start, s.r_t_start))
        self._powers[1] += float(pushed @ (s.v - 2.0 * mean)[moved]) / s.dt

    def step(self) -> None:
        """Half of each work with the forces at t_n, half with those at t_{n+1}."""
        earlier, h = self._powers, self.integrator.dt
        now = self._read()
        internal, external, damped = formulas.work(h, earlier[:3], now[:3])
        self.internal_work += internal  # (89)
        self.external += external  # (88)
        self.dissipated += damped
        self.contact += formulas.work(1.0, earlier[3], now[3])  # (90)

    def restart(self) -> None:
        """Add the change of the energies by the new half-step velocity to ``dissipated``.

        The second half of the work of an impact in the last step is added to ``contact`` before, and that of
        the reactions that bear it at moved dofs to ``external``; impulses of lasting contact act on.
        """
        s, before = self.integrator, self.kinetic + self.complementary
        self._read()
        impact = s.impulses_of(s.r_impact, s.r_t_impact, s.swept_impact)
        pushed = s.moved_impulses(impact)
        contact = 0.5 * s.contact_work(s.v, impact)
        reactions = -0.5 * float(pushed @ s.v[s.system.prescribed.dofs])
        self.contact += contact
        self.external += reactions
        self.dissipated += contact + reactions - (self.kinetic + self.complementary - before)

    def _read(self) -> FloatArray:
        """Evaluate the energies at t and the powers of the forces and impulses.

        Returns:
            ``v_{n-1/2} . (F_int, F_ext, F_damp, L^T r)``, shape (4,) [W, W, W, J]; those with v_{n+1/2} are
            stored for the next step.
        """
        s, system = self.integrator, self.integrator.system
        before, after = self._velocities()
        v0, v1, u, f = (self._of(x) for x in (before, after, s.u, s.f))
        loads, damped = np.zeros(3), np.zeros(3)
        if system.has_loads:
            system.external(s.t, s.u, s.v_force, self._load)
            sums = self._sums.central_sums_with_load(self._mass, v0, v1, f, u, self._of(self._load))
            loads[:] = sums[5:]
        else:
            sums = self._sums.central_sums(self._mass, v0, v1, f, u)
        if system.has_damping:
            system.damping(s.t, s.u, s.v_force, self._damped)
            damped[:] = self._sums.power_sums(v0, v1, u, self._of(self._damped))
            self.pushed = -s.dt * float(damped[0])
        self.kinetic, self.complementary = sums[:2]  # (86), (87)
        internal = formulas.internal_part(loads, damped, np.array(sums[2:5]))
        if is_half_the_work(system):
            self.internal = 0.5 * internal[2]
        elif self.sampled:
            self._sample(s.u)
        external = loads[:2]
        if system.prescribed.any:
            # Work of the reactions at dofs with prescribed motion, (92).
            dofs, forces = system.prescribed.dofs, s.reactions()
            external = external + np.array([forces @ s.v_before[dofs], forces @ s.v[dofs]])
        self._powers = np.array([internal[1], external[1], damped[1], s.contact_work(after)])
        return np.array([internal[0], external[0], damped[0], s.contact_work(before)])

    def _velocities(self) -> tuple[FloatArray, FloatArray]:
        """``v_{n-1/2}`` and ``v_{n+1/2}``, with which forces do work, shape (size,) each [m/s]."""
        return self.integrator.v_before, self.integrator.v

    def _of(self, x: FloatArray) -> FloatArray:
        """The entries over which sums run: the owned dofs."""
        return x[: self.integrator.system.owned]
