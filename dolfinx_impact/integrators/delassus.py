"""Delassus operator ``H = L B L^T`` and velocity update ``dv = B L^T r`` of implicit schemes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import parallel
from .._types import AnyArray, BoolArray, FloatArray, IntArray
from ..algebra import complementarity, kernels, ties
from ..contact.base import Contact
from .base import Integrator


class DelassusOperator(Protocol):
    """Delassus operator of a time-stepping formula, as used by contact laws."""

    def solve(
        self, closed: BoolArray, b: FloatArray, v: FloatArray | None = None, t: float = 0.0
    ) -> FloatArray:
        """Impulses with ``0 <= r _|_ H r + b >= 0`` on the active set, 0 elsewhere. Collective.

        Args:
            closed: Mask of the active points of this rank, shape (p,).
            b: Normal velocities ``L(v* + e v-)``, shape (p,) [m/s].
            v: Free velocities v*, needed with friction, shape (size,) [m/s].
            t: Time of ``v`` [s].

        Returns:
            Normal impulses, shape (p,) [N s].
        """

    def apply_impulse(self, r: FloatArray, v: FloatArray) -> None:
        """Add ``B L^T r`` to ``v``. Collective."""


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
        self, closed: BoolArray, b: FloatArray, v: FloatArray | None = None, t: float = 0.0
    ) -> FloatArray:
        """See :class:`DelassusOperator`; gathered and solved on rank 0."""
        bilateral = self._contact.bilateral
        if not self._comm.allreduce(bool(bilateral.any())):
            return self.solve_by(complementarity.solve, closed, b)
        return self.solve_by(ties.solve, closed, b, bilateral.astype(np.float64))

    def solve_by(self, law: Callable[..., FloatArray], closed: BoolArray, *values: FloatArray) -> FloatArray:
        """Impulses by an arbitrary law ``law(H, *values)`` of the active points, on rank 0. Collective.

        Args:
            law: Function of H and the values at the active points of all ranks; returns their impulses.
            closed: Mask of the active points of this rank, shape (p,).
            values: Values at the points of this rank, shape (p,) each.

        Returns:
            Impulses of the points of this rank, shape (p,) [N s].
        """
        if not self._comm.allreduce(bool(closed.any())):
            return np.zeros(closed.size)
        gathered = parallel.gather_rows(self._comm, np.column_stack([closed, *values]))
        which = np.flatnonzero(gathered[:, 0])
        r, H = np.zeros(gathered.shape[0]), self._delassus(which)
        r[which] = parallel.on_root(self._comm, lambda: law(H, *gathered[which, 1:].T))
        return r[self._mine]

    def forget(self) -> None:
        """Discard the stored columns of H after a change of A."""
        self._columns.clear()
        self._which = np.zeros(0, dtype=np.intp)

    def _delassus(self, which: IntArray) -> FloatArray:
        """H of the active points [1/kg]; columns are stored while L is constant. Collective."""
        if not self._contact.constant:
            self._columns.clear()
        elif np.array_equal(which, self._which):
            return self._H
        for point in which:
            if point not in self._columns:
                self._columns[point] = self._column(int(point))
        d = self._directions
        H: FloatArray = np.hstack([self._columns[point][which].reshape(-1, d) for point in which])
        self._which, self._H = which, (H + H.T) / 2 if self._symmetric else H
        return self._H

    def _column(self, point: int) -> FloatArray:
        """Column of ``L A^-1 L^T`` for one point of all ranks, shape (points of all ranks,) [1/kg]."""
        unit = np.zeros(self._contact.count)
        if self._mine.start <= point < self._mine.stop:
            unit[point - self._mine.start] = 1.0
        self._rhs[:] = 0.0
        self._contact.L.add_transpose(unit, self._rhs)
        self._solver.solve(self._rhs, self._x)
        return parallel.gather_rows(self._comm, self._contact.L(self._x))

    def compiled(self) -> CompiledDelassus:
        """Factors of A and the whole of H for compiled loops; one solve for each point that is new.

        Raises:
            NotCompiled: Normals that turn, the reason of the solver, or a class with another response.
        """
        names = ("solve", "solve_by", "_delassus", "_column", "apply_impulse")
        if kernels.overridden(self, names) is not None or not self._symmetric:
            raise kernels.NotCompiled(f"{type(self).__name__} has a response of its own")
        if self._contact.bilateral.any():
            raise kernels.NotCompiled("impulses of ties have any sign")
        if not self._contact.constant:
            raise kernels.NotCompiled("the normals of a curved obstacle turn, and with them the response")
        factors = kernels.ask(self._solver, "is no solver of compiled loops")
        count = self._contact.count
        H = self._delassus(np.arange(count)) if count else np.zeros((0, 0))
        return CompiledDelassus(factors, H)

    def apply_impulse(self, r: FloatArray, v: FloatArray) -> None:
        """``v += A^-1 L^T r`` by one solve, none if all impulses are zero. Collective."""
        if self._comm.allreduce(bool(np.any(r))):
            self._rhs[:] = 0.0
            self._contact.L.add_transpose(r, self._rhs)
            self._solver.solve(self._rhs, self._x)
            v += self._x


def refuse_friction_on_held(integrator: Integrator) -> None:
    """Raise a ValueError for friction at points with constrained dofs. Collective."""
    contact = integrator.contact
    if contact is not None and contact.friction > 0:
        if contact.L.iterated:
            return  # constrained dofs of surfaces are infinitely heavy
        held = bool(np.any(integrator.system.constrained[contact.L.dofs]))
        if contact.comm.allreduce(held):
            raise ValueError(
                "friction acts on points with dofs that are constrained: free them, or leave these points "
                "out of the contact (CDLagrange also takes directions fixed along a flat obstacle)"
            )


class FrictionalDelassus(FactorisedDelassus):
    """Coupled normal and tangential impulses: ``H = [L_N; L_T] A^-1 [L_N; L_T]^T``.

    ``solve`` returns the normal impulses and stores the tangential ones in ``r_t`` of the integrator;
    ``apply_impulse`` applies both. Coulomb's law holds for the tangential velocity after the step, Di Stasio
    et al. (2019), doi:10.1186/s40323-019-0126-y, (42); the normal law is that of ``b``.

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
        self._integrator = integrator
        self._bases: FloatArray = np.zeros((0, 0, 0))
        self._directions = self._contact.local_bases().shape[1]
        #: Whether a solution starts from the one before; and that, over the points of all ranks.
        self.continues = False
        self._last = np.zeros((self._contact.total, self._directions))
        refuse_friction_on_held(integrator)

    def solve(
        self, closed: BoolArray, b: FloatArray, v: FloatArray | None = None, t: float = 0.0
    ) -> FloatArray:
        """See :class:`DelassusOperator`; normal and tangential components, gathered and solved on rank 0."""
        assert v is not None
        s, contact = self._integrator, self._contact
        s.r_t[:] = 0.0
        if not self._comm.allreduce(bool(closed.any())):
            return np.zeros(b.size)
        self._bases = contact.local_bases()
        velocity = contact.L.at_points(v) - contact.surface_velocity(t)
        free = np.einsum("pjk,pk->pj", self._bases, velocity)
        free[:, 0] = b
        laws = [closed, contact.frictions, contact.bilateral]
        gathered = parallel.gather_rows(self._comm, np.column_stack([*laws, free]))
        which = np.flatnonzero(gathered[:, 0])
        (mu, tied), given = gathered[which, 1:3].T, gathered[which, 3:].ravel()
        H, d = self._delassus(which), self._directions
        impulses = np.zeros((gathered.shape[0], d))
        start = self._last[which].ravel() if self.continues else None
        solution = parallel.on_root(self._comm, lambda: ties.coulomb_solve(H, given, mu, d, tied > 0, start))
        impulses[which] = solution.reshape(-1, d)
        self._last = impulses
        local = impulses[self._mine]
        s.r_t[:] = np.einsum("pj,pjk->pk", local[:, 1:], self._bases[:, 1:])
        return local[:, 0].copy()

    def compiled(self) -> CompiledDelassus:
        """None: see :meth:`FactorisedDelassus.compiled`."""
        raise kernels.NotCompiled("with friction normal and tangential impulses are found together")

    def _components(self, x: FloatArray) -> FloatArray:
        """Normal and tangential components of ``x`` at the points of this rank, shape (p, d)."""
        normal, vectors = self._contact.L.velocities(x)
        return np.column_stack([normal, np.einsum("pjk,pk->pj", self._bases[:, 1:], vectors)])

    def _column(self, point: int) -> FloatArray:
        """Columns of H for one point of all ranks, shape (points of all ranks, d, d) [1/kg]."""
        columns, contact = [], self._contact
        for direction in range(self._directions):
            unit = np.zeros((contact.count, self._directions))
            if self._mine.start <= point < self._mine.stop:
                unit[point - self._mine.start, direction] = 1.0
            self._rhs[:] = 0.0
            vectors = np.einsum("pj,pjk->pk", unit[:, 1:], self._bases[:, 1:])
            contact.L.add_impulses(unit[:, 0], vectors, None, self._rhs)
            self._solver.solve(self._rhs, self._x)
            columns.append(parallel.gather_rows(self._comm, self._components(self._x)))
        return np.stack(columns, axis=2)

    def apply_impulse(self, r: FloatArray, v: FloatArray) -> None:
        """``v += A^-1 (L_N^T r + L_T^T r_T)`` by one solve, none if all impulses are zero. Collective."""
        if self._comm.allreduce(bool(np.any(r))):
            self._rhs[:] = 0.0
            self._contact.L.add_impulses(r, self._integrator.r_t, None, self._rhs)
            self._solver.solve(self._rhs, self._x)
            v += self._x


def factorised_delassus(integrator: Integrator, solver: Any, *, symmetric: bool = True) -> FactorisedDelassus:
    """The Delassus operator of implicit schemes, with or without friction. Collective."""
    contact = integrator.contact
    assert contact is not None
    if contact.friction > 0:
        return FrictionalDelassus(integrator, solver, symmetric=symmetric)
    return FactorisedDelassus(contact, solver, integrator.system.size, symmetric=symmetric)
