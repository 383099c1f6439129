"""The fine steps of HATI at once, where every part is of a compiled kind and one rank has all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import energy, kernels
from ..contact import Bound, Contact, ObstacleContact
from ..node_pairs import NodePairs
from ..stiffness import sparse_rows
from .block import NotCompiled
from .hati_balance import HATIBalance
from .hati_sides import GluedExplicit


class FineBlock:
    """Makes the fine steps of a coarse one in a compiled loop, over the dofs of the explicit side alone.

    Args:
        fine: The explicit side, started.
        contacts: Where what contacts do in every fine step goes.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    def __init__(self, fine: GluedExplicit, contacts: Any) -> None:
        if not kernels.load().COMPILED:
            raise NotCompiled("numba is not installed")
        body = fine.system
        if body.comm.size > 1:
            raise NotCompiled("several ranks share the explicit subdomain")
        if body.moved.any:
            raise NotCompiled("the motion of dofs is prescribed")
        forces = body.compiled()  # type: ignore[attr-defined]
        if forces is None:
            raise NotCompiled("the explicit subdomain computes its forces in a way of its own")
        from . import _hati_loop as loop

        self._loop, self._fine, self._amplitudes = loop, fine, forces.amplitudes
        self._where = np.flatnonzero(body.inside)  # type: ignore[attr-defined]
        place = np.zeros(body.size, dtype=np.uint32)
        place[self._where] = np.arange(self._where.size)
        K = body.stiffness.scipy()[self._where][:, self._where]  # type: ignore[attr-defined]
        self._side = self._make_side(forces, sparse.csr_matrix(K))
        glue = fine.operator
        self._order, pairs = glue.order, fine.interface.dofs[glue.order]
        empty = [np.zeros(pairs.size) for _ in range(2)]
        self._link = loop.Link(place[pairs], glue.ends.astype(np.uint32), glue.blocks, *empty)
        self._pairs = _contact(fine, loop, place)
        size = self._where.size
        state = [np.zeros(size) for _ in range(4)]
        self._state = loop.State(  # type: ignore[call-arg]
            *state, np.zeros(pairs.size), contacts.r, contacts.gap, contacts.before
        )
        self._terms, self._powers = np.zeros(len(energy.TERMS)), np.zeros(4)

    def _make_side(self, forces: Any, K: sparse.csr_matrix) -> Any:
        body, at = self._fine.system, self._where
        patterns = forces.patterns if forces.patterns is not None else np.zeros((0, body.size))
        load = forces.load[at]
        return self._loop.Side(
            body.mass[at], body.inverse_mass[at], self._fine.dt * body.inverse_mass[at], load,
            np.ascontiguousarray(patterns[:, at]), *sparse_rows(K), forces.rate,
            body.has_loads, load.copy(), np.zeros(at.size),
        )  # fmt: skip

    def run(self, old: NDArray, new: NDArray, balance: HATIBalance | None) -> None:
        """The fine steps between two coarse times.

        Args:
            old, new: Free velocities of the implicit side at both ends, shape (pairs,) [m/s].
            balance: What follows the energies, or None.
        """
        s, state, at, m = self._fine, self._state, self._where, self._state.r.shape[0]
        for mine, array in ((state.u, s.u), (state.v, s.v), (state.v_before, s.v_before), (state.f, s.f)):
            np.take(array, at, out=mine)
        state.multipliers[:] = s.multipliers[self._order]
        if balance is not None:
            self._terms[:], self._powers[:] = balance.fine_terms(), balance.fine._powers
        times = s.t0 + (s.n + 1 + np.arange(m)) * s.dt
        amplitudes = np.zeros((m, 0)) if self._amplitudes is None else self._amplitudes(times)
        self._loop.fine_steps(
            balance is not None, s.dt, self._side, self._link, self._pairs, state, old[self._order],
            new[self._order], np.ascontiguousarray(amplitudes), self._terms, self._powers,
        )  # fmt: skip
        for mine, array in ((state.u, s.u), (state.v, s.v), (state.v_before, s.v_before), (state.f, s.f)):
            array[at] = mine
        s.multipliers[self._order] = state.multipliers
        s.n, s.v_force = s.n + m, s.v_before
        s.r[:] = state.r[-1]
        if balance is not None:
            balance.take_fine_terms(self._terms, self._powers)


def _contact(fine: GluedExplicit, loop: Any, place: NDArray) -> Any:
    contact = fine.contact
    if contact is None:
        none = np.zeros((0, 1))
        return loop.Pairs(none.astype(np.uint32), none, none[:, 0], none[:, 0], 0.0, 0.0, True)
    known = type(contact).gap in (Bound.gap, ObstacleContact.gap, NodePairs.gap)
    if not known or type(contact).closed is not Contact.closed:
        raise NotCompiled(f"{type(contact).__name__} decides for itself which points are closed")
    if not contact.constant or contact.friction > 0 or not contact.rows.distinct:
        raise NotCompiled("the contact is curved, rubs, or has points that share dofs")
    rows = contact.rows
    return loop.Pairs(
        place[rows.dofs], rows.weights, contact.gap(np.zeros(fine.system.size)),
        rows.diagonal(fine.system.inverse_mass), contact.restitution, contact.gap_tolerance,
        contact.touching,
    )  # fmt: skip
