"""Many steps of central differences in one compiled loop, where every part is of a compiled kind."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ...algebra import kernels
from ...algebra.operators import Rows
from ...contact.base import Bound, Contact
from ...contact.node_pairs import NodePairs
from ...contact.obstacle_contact import ObstacleContact
from .. import energy
from ..base import Integrator
from ..central_differences import CentralDifferences
from ..contact_laws import PositionLevel, VelocityLevel
from ..delassus_lumped import LumpedCone
from ..energy import Balance, CentralDifferenceBalance
from ..step_buffer import Steps


class NotCompiled(ValueError):
    """Why the steps of a run cannot be made in a compiled loop."""


class Block:
    """Makes steps of :class:`.CentralDifferences` in a compiled loop, with the results of ``step``.

    Compiled kinds are: a stored stiffness; forces, energies and obstacles that numba has compiled;
    contacts whose points share no dof, at velocity level or, where flat, at position level; one rank.

    Args:
        integrator: The scheme, started.
        rows: What is recorded.
        balance: The energy balance of the scheme, started before the first :meth:`fill`, or None.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    def __init__(self, integrator: Integrator, rows: Rows, balance: Balance | None) -> None:
        if not kernels.load().COMPILED:
            raise NotCompiled("numba is not installed")
        if not isinstance(integrator, CentralDifferences) or type(integrator) is not CentralDifferences:
            raise NotCompiled(f"{type(integrator).__name__} makes its steps one by one")
        if balance is not None and type(balance) is not CentralDifferenceBalance:
            raise NotCompiled(f"{type(balance).__name__} follows its steps one by one")
        forces = getattr(integrator.system, "compiled", lambda: None)()
        if integrator.system.comm.size > 1:
            raise NotCompiled("several ranks share the system")
        if integrator.system.moved.any:
            raise NotCompiled("the motion of dofs is prescribed")
        if forces is None:
            raise NotCompiled("a force of the system is not of a compiled kind: compile it with numba.njit")
        from . import _central_loop as loop

        self._integrator, self._balance, system = integrator, balance, integrator.system
        self._amplitudes = forces.amplitudes
        patterns = np.zeros((0, system.size)) if forces.patterns is None else forces.patterns
        size, (start, column, blocks) = system.size, forces.pairs
        self._model = loop.Model(  # type: ignore[call-arg]
            system.mass, system.inverse_mass, integrator.dt * system.inverse_mass, forces.load,
            np.ascontiguousarray(forces.stiffness), start, column, blocks, forces.block,
            *forces.csr, patterns, forces.rate, system.has_loads, system.has_damping, system.linear,
            forces.external is not None, forces.internal is not None, forces.damping is not None,
            forces.energy is not None, forces.load.copy(), np.zeros(size), np.zeros(size),
        )  # fmt: skip
        self._contact, surface = _contact(integrator, loop)
        self._rows = loop.Recorded(rows.dofs, rows.weights)
        functions = [forces.external, forces.internal, forces.damping]
        self._functions = [f or loop.nothing for f in functions]
        self._functions += [forces.energy or loop.no_energy, surface or loop.no_surface]
        self._loop = loop
        self._advance: Callable[..., None] | None = None

    def fill(self, part: Steps, steps: int) -> None:
        """Make ``steps`` steps and keep the state after each in ``part``, from its beginning on."""
        s, balance = self._integrator, self._balance
        state = self._loop.State(s.u, s.v, s.v_before, s.f)
        at, directions = part.first, part.r_t.shape[2] if part.r_t.ndim == 3 else 0
        columns = self._loop.Columns(
            at["u"], at["v_t"], at["v"], at["gap"], at["r"], at["r_t"], at["energies"], directions
        )
        terms, powers = np.zeros(len(energy.TERMS)), np.zeros(4)
        if balance is not None:
            terms[:], powers[:] = balance.terms(), balance._powers
        times = s.t0 + (s.n + 1 + np.arange(steps)) * s.dt
        amplitudes = np.zeros((steps, 0)) if self._amplitudes is None else self._amplitudes(times)
        place = self._loop.Place(*np.zeros((2, self._contact.dofs.shape[1])))
        arrays = (
            state, self._model, self._contact, place, self._rows, part.table, columns, terms, powers,
            np.ascontiguousarray(amplitudes),
        )  # fmt: skip
        if self._advance is None:
            self._advance = self._loop.compiled_for(*arrays)
        self._advance(steps, s.n, s.t0, s.dt, balance is not None, *arrays, *self._functions)
        part.count, s.n, s.v_force = steps, s.n + steps, s.v_before
        s.r[:], s.r_t[:] = part.r[steps - 1], part.r_t[steps - 1]
        if balance is not None:
            balance._powers[:] = powers
            for name, value in zip(energy.TERMS, part.energies[steps - 1]):
                setattr(balance, name, float(value))


def _contact(integrator: CentralDifferences, loop: Any) -> tuple[Any, Callable | None]:
    """The contact as arrays, and the surface of a curved obstacle."""
    contact, law = integrator.contact, integrator._enforcement
    if contact is None:
        none = np.zeros((0, 1))
        return loop.Points(none.astype(np.int32), none, none, none[:, 0], none[:, 0], False, 0.0, 0.0,
                           0.0, True, True), None  # fmt: skip
    rows = contact.rows
    if type(law) not in (VelocityLevel, PositionLevel):
        raise NotCompiled(f"{type(law).__name__} is no contact law of the compiled loop")
    if not rows.distinct:
        raise NotCompiled("points of the contact share dofs")
    if contact.moving:
        raise NotCompiled("the obstacle moves")
    if contact.remembers:
        raise NotCompiled("the contact remembers sides of an obstacle with edges, or corrects its drift")
    if isinstance(integrator._response, LumpedCone):
        raise NotCompiled("normal and tangential impulses answer to one another")
    known = type(contact).gap in (Bound.gap, ObstacleContact.gap, NodePairs.gap)
    if not known or type(contact).closed is not Contact.closed:
        raise NotCompiled(f"{type(contact).__name__} decides for itself which points are closed")
    surface = None
    if not contact.constant:
        surface = _surface(contact)
        if type(law) is PositionLevel:
            raise NotCompiled("curved gaps at position level are closed by iteration")
    x = contact._x if isinstance(contact, ObstacleContact) else np.zeros(rows.dofs.shape)
    offset = contact.gap(np.zeros(integrator.system.size))
    diagonal = rows.diagonal(integrator.system.inverse_mass)
    return loop.Points(
        rows.dofs, rows.weights, np.ascontiguousarray(x), offset, diagonal, type(law) is PositionLevel,
        contact.restitution, contact.gap_tolerance, contact.friction, contact.touching, contact.constant,
    ), surface  # fmt: skip


def _surface(contact: Contact) -> Callable:
    obstacle: Any = getattr(contact, "obstacle", None)
    if not isinstance(contact, ObstacleContact) or not hasattr(obstacle, "compiled"):
        raise NotCompiled(f"{type(obstacle or contact).__name__} offers no compiled gap")
    kinds, names = type(obstacle).__mro__, ("gap", "normal", "compiled")
    gap, normal, compiled = (
        next((i for i, kind in enumerate(kinds) if name in vars(kind)), 0) for name in names
    )
    if compiled > min(gap, normal):  # it is that of a base class, which knows nothing of this gap
        raise NotCompiled(f"{type(obstacle).__name__} has a gap or a normal of its own, but no compiled one")
    return obstacle.compiled()
