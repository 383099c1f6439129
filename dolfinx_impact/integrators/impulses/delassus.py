"""Delassus operator ``H = L B L^T`` and velocity update ``dv = B (L^T r + W^T r_t)`` of implicit schemes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ... import parallel
from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import complementarity, kernels, ties
from ...algebra.contact_operator import ContactOperator
from ...algebra.operators import of_points
from ...contact.base import Contact
from ...contact.state import ContactState, Impulses
from ..base import Integrator


class DelassusOperator(Protocol):
    """Delassus operator of a time-stepping formula, as used by contact laws."""

    def solve(
        self,
        state: ContactState,
        b: FloatArray,
        v: FloatArray,
        t: float,
        *,
        closed: BoolArray | None = None,
        last: Impulses | None = None,
    ) -> Impulses:
        """Impulses with ``0 <= r _|_ H r + b >= 0`` on the active set, 0 elsewhere, and friction. Collective.

        Args:
            state: The contact.
            b: Normal velocities ``L(v* + e v-)``, shape (p,) [m/s].
            v: Free velocities v*, which friction acts against, shape (size,) [m/s].
            t: Time of ``v`` [s].
            closed: Mask of the active points of this rank, shape (p,); by default that of the state.
            last: Impulses of the step before, from which an iteration starts.
        """

    def apply(self, impulses: Impulses, v: FloatArray) -> None:
        """Add ``B (L^T r + W^T r_t)`` to ``v``. Collective."""


@dataclass(frozen=True)
class CompiledDelassus:
    """Data of a Delassus operator for compiled loops.

    Attributes:
        factors: Those of A, see :class:`.SymmetricSolver`.
        H: ``L A^-1 L^T`` of all points, shape (p, p) [1/kg].
    """

    factors: tuple[AnyArray, ...]
    H: FloatArray


class FactorisedDelassus:
    """``B = A^-1`` with a factorised matrix A: H is dense over the points of all ranks.

    The column of H of an active point is computed by one solve, once if L is constant, else in every step.
    The contact problem is solved on rank 0.

    Args:
        contact: The contact.
        solver: Solver for A.
        size: Number of owned dofs and ghosts.
        symmetric: Whether A is symmetric: H is then symmetrised.
    """

    def __init__(self, contact: Contact, solver: Any, size: int, *, symmetric: bool = True) -> None:
        self._contact, self._solver, self._comm = contact, solver, contact.comm
        self._symmetric, self._directions = symmetric, 1
        self._mine = contact.mine
        self._rhs, self._x = np.zeros(size), np.zeros(size)
        self._columns: dict[int, FloatArray] = {}
        self._which: IntArray = np.zeros(0, dtype=np.intp)
        self._H: FloatArray = np.zeros((0, 0))

    def solve(
        self,
        state: ContactState,
        b: FloatArray,
        v: FloatArray,
        t: float,
        *,
        closed: BoolArray | None = None,
        last: Impulses | None = None,
    ) -> Impulses:
        """See :class:`DelassusOperator`; gathered and solved on rank 0."""
        closed, bilateral = state.closed if closed is None else closed, state.bilateral
        if not self._comm.allreduce(bool(bilateral.any())):
            return Impulses(state, self.solve_by(complementarity.solve, state, closed, b))
        r = self.solve_by(ties.solve, state, closed, b, bilateral.astype(np.float64))
        return Impulses(state, r)

    def solve_by(
        self, law: Callable[..., FloatArray], state: ContactState, closed: BoolArray, *values: FloatArray
    ) -> FloatArray:
        """Impulses by an arbitrary law ``law(H, *values)`` of the active points, on rank 0. Collective.

        Args:
            law: Function of H and the values at the active points of all ranks; returns their impulses.
            state: The contact.
            closed: Mask of the active points of this rank, shape (p,).
            values: Values at the points of this rank, shape (p,) each.

        Returns:
            Impulses of the points of this rank, shape (p,) [N s].
        """
        if not self._comm.allreduce(bool(closed.any())):
            return np.zeros(closed.size)
        gathered = parallel.gather_rows(self._comm, np.column_stack([closed, *values]))
        which = np.flatnonzero(gathered[:, 0])
        r, H = np.zeros(gathered.shape[0]), self._delassus(which, state.L)
        r[which] = parallel.on_root(self._comm, lambda: law(H, *gathered[which, 1:].T))
        return r[self._mine]

    def forget(self) -> None:
        """Discard the stored columns of H after a change of A."""
        self._columns.clear()
        self._which = np.zeros(0, dtype=np.intp)

    def _delassus(self, which: IntArray, L: ContactOperator) -> FloatArray:
        """H of the active points [1/kg]; columns are stored while L is constant. Collective."""
        if not self._contact.constant:
            self._columns.clear()
        elif np.array_equal(which, self._which):
            return self._H
        for point in which:
            if point not in self._columns:
                self._columns[point] = self._column(int(point), L)
        d = self._directions
        H: FloatArray = np.hstack([self._columns[point][which].reshape(-1, d) for point in which])
        self._which, self._H = which, (H + H.T) / 2 if self._symmetric else H
        return self._H

    def _column(self, point: int, L: ContactOperator) -> FloatArray:
        """Column of ``L A^-1 L^T`` for one point of all ranks, shape (points of all ranks,) [1/kg]."""
        unit = np.zeros(self._contact.count)
        if self._mine.start <= point < self._mine.stop:
            unit[point - self._mine.start] = 1.0
        self._rhs[:] = 0.0
        L.add_transpose(unit, self._rhs)
        self._solver.solve(self._rhs, self._x)
        return parallel.gather_rows(self._comm, L(self._x))

    def compiled(self) -> CompiledDelassus:
        """Factors of A and the whole of H for compiled loops; one solve for each point that is new.

        Raises:
            NotCompiled: Normals that turn, the reason of the solver, or a class with another response.
        """
        if not self._symmetric:
            raise kernels.NotCompiled("the response to an impulse is not symmetric")
        if self._contact.bilateral.any():
            raise kernels.NotCompiled("impulses of ties have any sign")
        if not self._contact.constant:
            raise kernels.NotCompiled("the normals of a curved obstacle turn, and with them the response")
        factors = kernels.ask(self._solver, "is no solver of compiled loops")
        count = self._contact.count
        H = self._delassus(np.arange(count), self._contact.L) if count else np.zeros((0, 0))
        return CompiledDelassus(factors, H)

    def apply(self, impulses: Impulses, v: FloatArray) -> None:
        """``v += A^-1 (L^T r + W^T r_t)`` by one solve, none if all impulses are zero. Collective."""
        if self._comm.allreduce(bool(np.any(impulses.r))):
            self._rhs[:] = 0.0
            impulses.add_to(self._rhs)
            self._solver.solve(self._rhs, self._x)
            v += self._x


def refuse_friction_on_held(integrator: Integrator) -> None:
    """Raise a ValueError for friction at points with constrained dofs. Collective."""
    contact = integrator.contact
    if contact is not None and contact.friction > 0:
        if contact.L.iterated:
            return  # constrained dofs of surfaces are infinitely heavy
        held = bool(np.any(integrator.system.constrained[of_points(contact.L).dofs]))
        if contact.comm.allreduce(held):
            raise ValueError(
                "friction acts on points with dofs that are constrained: free them, or leave these points "
                "out of the contact (CDLagrange also takes directions fixed along a flat obstacle)"
            )


class FrictionalDelassus(FactorisedDelassus):
    """Coupled normal and tangential impulses: ``H = [L_N; L_T] A^-1 [L_N; L_T]^T``.

    Coulomb's law holds for the tangential velocity after the step, Di Stasio et al. (2019),
    doi:10.1186/s40323-019-0126-y, (42); the normal law is that of ``b``.

    Args:
        integrator: The scheme; its contact has friction.
        solver: Solver for A.
        symmetric: Whether A is symmetric.

    Raises:
        ValueError: Points with constrained dofs. Collective.
    """

    def __init__(self, integrator: Integrator, solver: Any, *, symmetric: bool = True) -> None:
        assert integrator.contact is not None
        super().__init__(integrator.contact, solver, integrator.system.size, symmetric=symmetric)
        self._bases: FloatArray = np.zeros((0, 0, 0))
        self._directions = self._contact.now(0.0).bases.shape[1]
        #: Whether a solution starts from the impulses of the one before.
        self.continues = False
        refuse_friction_on_held(integrator)

    def solve(
        self,
        state: ContactState,
        b: FloatArray,
        v: FloatArray,
        t: float,
        *,
        closed: BoolArray | None = None,
        last: Impulses | None = None,
    ) -> Impulses:
        """See :class:`DelassusOperator`; normal and tangential components, gathered and solved on rank 0."""
        closed, L = state.closed if closed is None else closed, state.L
        if not self._comm.allreduce(bool(closed.any())):
            return Impulses(state, np.zeros(b.size), np.zeros((b.size, L.components)))
        self._bases = bases = state.bases
        free = np.einsum("pjk,pk->pj", bases, L.at_points(v) - state.surface_velocity(t))
        free[:, 0] = b
        parts = [closed, state.frictions, state.bilateral, free]
        starts = self.continues and last is not None
        if starts:
            assert last is not None and last.r_t is not None
            parts += [last.r, np.einsum("pjk,pk->pj", bases[:, 1:], last.r_t)]
        gathered, d = parallel.gather_rows(self._comm, np.column_stack(parts)), self._directions
        which = np.flatnonzero(gathered[:, 0])
        (mu, tied), given = gathered[which, 1:3].T, gathered[which, 3 : 3 + d].ravel()
        H, impulses = self._delassus(which, L), np.zeros((gathered.shape[0], d))
        start = gathered[which, 3 + d :].ravel() if starts else None
        solution = parallel.on_root(self._comm, lambda: ties.coulomb_solve(H, given, mu, d, tied > 0, start))
        impulses[which] = solution.reshape(-1, d)
        local = impulses[self._mine]
        return Impulses(state, local[:, 0].copy(), np.einsum("pj,pjk->pk", local[:, 1:], bases[:, 1:]))

    def compiled(self) -> CompiledDelassus:
        """None: see :meth:`FactorisedDelassus.compiled`."""
        raise kernels.NotCompiled("with friction normal and tangential impulses are found together")

    def _column(self, point: int, L: ContactOperator) -> FloatArray:
        """Columns of H for one point of all ranks, shape (points of all ranks, d, d) [1/kg]."""
        columns, tangents = [], self._bases[:, 1:]
        for direction in range(self._directions):
            unit = np.zeros((self._contact.count, self._directions))
            if self._mine.start <= point < self._mine.stop:
                unit[point - self._mine.start, direction] = 1.0
            self._rhs[:] = 0.0
            L.add_impulses(unit[:, 0], np.einsum("pj,pjk->pk", unit[:, 1:], tangents), None, self._rhs)
            self._solver.solve(self._rhs, self._x)
            normal, vectors = L.velocities(self._x)
            parts = np.column_stack([normal, np.einsum("pjk,pk->pj", tangents, vectors)])
            columns.append(parallel.gather_rows(self._comm, parts))
        return np.stack(columns, axis=2)


def factorised_delassus(integrator: Integrator, solver: Any, *, symmetric: bool = True) -> FactorisedDelassus:
    """The Delassus operator of implicit schemes, with or without friction. Collective."""
    contact = integrator.contact
    assert contact is not None
    if contact.friction > 0:
        return FrictionalDelassus(integrator, solver, symmetric=symmetric)
    return FactorisedDelassus(contact, solver, integrator.system.size, symmetric=symmetric)
