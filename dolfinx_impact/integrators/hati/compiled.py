"""Steps of HATI in compiled loops, where every part is of a compiled kind and one rank has all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray, IntArray
from ...algebra import kernels
from ...algebra.kernels import NotCompiled
from ...algebra.operators import SparseRows
from ...systems.body import Body
from ...systems.compiled import Compiled
from .. import energy
from ..compiled._arrays import Clock, Energies, Record
from ..compiled.loop import columns_of, signals
from ..compiled.parts import CompiledParts
from ..energy import Sums
from ..step_buffer import Steps
from .balance import HATIBalance
from .explicit_side import GluedExplicit
from .implicit_side import BETA, GAMMA


class FineLoop:
    """The fine steps of one coarse step at once, over the dofs of the explicit side alone.

    Args:
        fine: The explicit side, started.
        balance: What follows the energies, or None.

    Attributes:
        balance: As given.
        where: Its dofs, ascending.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    def __init__(self, fine: GluedExplicit, balance: HATIBalance | None) -> None:
        body: Any = fine.system
        parts: CompiledParts = kernels.ask(fine, "makes its steps one by one")
        rows: tuple[IntArray, IntArray, FloatArray] = kernels.ask(fine.operator, "has a coupling of its own")
        self.balance = balance
        if balance is not None:
            kernels.ask(balance, "follows its steps one by one")
        forces = parts.forces
        from . import _compiled_loop as loop

        self._loop, self._fine, self.forces = loop, fine, forces
        pairs = fine.interface.dofs
        self.where, place = _own_dofs(body)
        at, size = self.where, self.where.size
        patterns = forces.patterns if forces.patterns is not None else np.zeros((0, body.size))
        load = forces.load[at]
        self.side = loop.Side(
            body.mass[at],
            body.inverse_mass[at],
            fine.dt * body.inverse_mass[at],
            load,
            np.ascontiguousarray(patterns[:, at]),
            _stiffness(forces, loop, at, place),
            forces.rate,
            body.has_loads,
            forces.rate > 0.0,
            load.copy(),
            np.zeros(size),
        )
        self.link = loop.Link(*rows, place[pairs], *np.zeros((4, pairs.size)))
        self.pairs = _contact(parts, loop, place)
        self.state = loop.FineState(*np.zeros((4, size)), np.zeros(pairs.size))  # type: ignore[call-arg]
        self.terms, self.powers = np.zeros(len(energy.TERMS)), np.zeros(4)

    def load(self, balance: HATIBalance | None) -> None:
        """Take the state of the explicit side."""
        s, state = self._fine, self.state
        for mine, array in ((state.u, s.u), (state.v, s.v), (state.v_before, s.v_before), (state.f, s.f)):
            np.take(array, self.where, out=mine)
        state.multipliers[:] = s.multipliers
        if balance is not None:
            self.terms[:], self.powers[:] = balance.fine_sums()

    def store(self, steps: int, balance: HATIBalance | None) -> None:
        """Give the state back after so many fine steps."""
        s, state = self._fine, self.state
        for mine, array in ((state.u, s.u), (state.v, s.v), (state.v_before, s.v_before), (state.f, s.f)):
            array[self.where] = mine
        s.multipliers[:] = state.multipliers
        s.r_t[:] = self.pairs.r_t.reshape(s.r_t.shape)
        s.n, s.v_force = s.n + steps, s.v_before
        if balance is not None:
            balance.take_fine_sums(Sums(self.terms, self.powers))

    def times(self, steps: int) -> FloatArray:
        """The ends of the next fine steps, shape (steps,) [s]."""
        times = self._fine.t0 + (self._fine.n + 1 + np.arange(steps)) * self._fine.dt
        return np.asarray(times, dtype=np.float64)

    def run(self, old: FloatArray, new: FloatArray, contacts: Any, balance: HATIBalance | None) -> None:
        """The fine steps between two coarse times.

        Args:
            old, new: Free velocities of the implicit side at both ends, shape (pairs,) [m/s].
            contacts: Where what contacts do goes, arrays of shape (m, p).
            balance: What follows the energies, or None.
        """
        m = contacts.r.shape[0]
        self.pairs.sums[:] = 0.0
        self.load(balance)
        self._loop.fine_steps(
            self._fine.dt,
            self.side,
            self.link._replace(old=old, new=new),
            self.pairs,
            self.state,
            self._loop.FineRecord(contacts.r, contacts.gap, contacts.before),
            signals(self.forces, self.times(m)),
            Energies(balance is not None, self.terms, self.powers),
        )
        self.store(m, balance)
        self._fine.r[:] = contacts.r[-1]


class HATILoop:
    """Many coarse steps in one compiled loop, with the results of ``step`` to the last bit.

    Args:
        integrator: HATI, started.
        rows: What is recorded.
        balance: Its energy balance, started before the first :meth:`fill`, or None.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        side = integrator.coarse
        implicit, body = kernels.ask(side, "makes its steps one by one"), side.system
        forces = implicit.forces
        self._fine_loop = FineLoop(integrator.fine, balance)
        from . import _compiled_loop as loop

        self._loop, self._integrator, self._balance = loop, integrator, balance
        self._forces = forces
        at, place = _own_dofs(body)
        self._where = at
        patterns = forces.patterns if forces.patterns is not None else np.zeros((0, body.size))
        order, *factors = implicit.factors
        self._implicit = loop.ImplicitArrays(
            body.mass[at],
            forces.load[at],
            np.ascontiguousarray(patterns[:, at]),
            _stiffness(forces, loop, at, place),
            (place[order], *factors),
            place[integrator.interface.dofs],
            forces.rate,
            *np.zeros((11, at.size)),
        )
        self._picked = self._places(rows, place)
        self._factors, self._terms = rows.weights, np.zeros(len(energy.TERMS))

    def _places(self, rows: SparseRows, place: IntArray) -> IntArray:
        """Recorded dofs as the loop counts them: the explicit side's, then the implicit one's."""
        fine, coarse = self._integrator.system.fine, self._integrator.system.coarse
        explicit = np.zeros(fine.size, dtype=np.int64)
        explicit[self._fine_loop.where] = np.arange(self._fine_loop.where.size)
        of_fine = rows.dofs < fine.owned
        mine = np.where(of_fine, rows.dofs, rows.dofs - fine.owned)
        there = np.where(of_fine, fine.active[mine], coarse.active[mine])
        if not there.all():
            raise NotCompiled("dofs are recorded that no cell of their subdomain has")
        return np.where(of_fine, explicit[mine], self._fine_loop.where.size + place[mine].astype(np.int64))

    def fill(self, part: Steps, steps: int) -> None:
        """Make ``steps`` coarse steps and keep the state after each in ``part``, from its beginning on."""
        s, balance, implicit, at = self._integrator, self._balance, self._implicit, self._where
        state = ((implicit.u, s.coarse.u), (implicit.v, s.coarse.v), (implicit.a, s.coarse.a))
        for mine, array in state:
            np.take(array, at, out=mine)
        if balance is not None:
            forces = (implicit.internal, implicit.load, implicit.damped)
            for mine, array in zip(forces, balance.coarse_forces):
                np.take(array, at, out=mine)
            self._terms[:] = balance.coarse_terms()
        self._fine_loop.load(balance)
        m, loop, fine = s.ratio, self._loop, self._fine_loop
        both = loop.Sides(
            fine.side,
            fine.link._replace(old=s.free_velocity),
            fine.pairs,
            fine.state,
            implicit,
            signals(fine.forces, fine.times(steps * m)).reshape(steps, m, -1),
            signals(self._forces, s.t0 + (s.n + 1 + np.arange(steps)) * s.dt),
            self._terms,
            BETA,
            GAMMA,
        )
        loop.coarse_steps(
            steps,
            Clock(s.n, s.t0, s.dt, 0.0),
            both,
            loop.FineRecord(*(part.fine[name] for name in ("r", "gap", "before"))),
            Record(part.table, columns_of(part), self._picked, self._factors),
            Energies(balance is not None, fine.terms, fine.powers),
        )
        part.count, s.n = steps, s.n + steps
        for mine, array in state:
            array[at] = mine
        if balance is not None:
            for mine, array in zip(forces, balance.coarse_forces):
                array[at] = mine
            balance.take_coarse_terms(self._terms)
        self._fine_loop.store(steps * m, balance)
        s.r_t[:] = self._fine_loop.pairs.sums.reshape(s.r_t.shape)
        s.take_contacts(*(part.fine[name][steps - 1] for name in ("r", "gap", "before")))


def _own_dofs(body: Body) -> tuple[IntArray, IntArray]:
    """The dofs of a subdomain, ascending, and the place of each of the mesh's dofs among them."""
    dofs = np.flatnonzero(body.active)
    place = np.zeros(body.size, dtype=np.uint32)
    place[dofs] = np.arange(dofs.size)
    return dofs, place


def _stiffness(forces: Compiled, loop: Any, dofs: IntArray, place: IntArray) -> Any:
    """The stored stiffness over ``dofs`` alone; outside of them it has no entries."""
    block = forces.block
    if block:
        pairs = forces.pairs.part(dofs[::block] // block, place[::block] // block)
        return loop.Stiffness(block, pairs, *forces.csr)
    start, column, values = forces.csr
    begin = np.concatenate([[0], np.cumsum(np.diff(start)[dofs])]).astype(np.uint32)
    return loop.Stiffness(0, forces.pairs, begin, place[column], values)


def _contact(parts: CompiledParts, loop: Any, place: IntArray) -> Any:
    if parts.law is None:
        none, nothing = np.zeros((0, 1)), np.zeros((2, 0))
        no_points = none.astype(np.uint32), none, none[:, 0], none[:, 0]
        return loop.FinePoints(*no_points, 0.0, 0.0, True, 0.0, *nothing)
    contact = parts.law.contact
    rough = contact.friction > 0 and not contact.paired
    if contact.surface is not None or rough or parts.law.at_position:
        raise NotCompiled("the contact is curved, has friction on an obstacle, or is at position level")
    return loop.FinePoints(
        place[contact.dofs],
        contact.weights,
        contact.offset,
        parts.diagonal,
        contact.restitution,
        contact.gap_tolerance,
        contact.touching,
        contact.friction,
        *np.zeros((2, contact.dofs.size // 2 if contact.paired else 0)),
    )
