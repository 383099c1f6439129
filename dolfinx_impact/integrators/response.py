"""How velocities answer to contact impulses: ``dv = B L^T r``, and the Delassus operator L B L^T."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import complementarity, parallel
from ..contact import Contact


class Response(Protocol):
    """The part of a time-stepping formula that contact needs."""

    def solve(self, closed: NDArray, b: NDArray) -> NDArray:
        """Impulses with ``0 <= r _|_ H r + b >= 0`` on the closed points, 0 elsewhere. Collective.

        Args:
            closed: Which points of this rank are closed, shape (p,).
            b: Free velocities ``L(v* + e v)``, shape (p,) [m/s].
        """

    def push(self, r: NDArray, v: NDArray) -> None:
        """Add ``B L^T r`` to ``v``. Collective."""


class LumpedResponse:
    """B = M^-1 with a diagonal mass: H couples only points that share a dof.

    Args:
        contact: The contact.
        inverse_mass: Inverse masses of the owned dofs [1/kg].
        factor: Part of the impulse that acts (1/2 at the start of central differences).
    """

    def __init__(self, contact: Contact, inverse_mass: NDArray, factor: float = 1.0) -> None:
        self._contact, self._factor = contact, factor
        self._inverse_mass = inverse_mass
        rows = contact.rows
        self._diagonal: NDArray | None = None
        if contact.constant and rows.distinct:
            self._diagonal = factor * np.sum(rows.weights**2 * inverse_mass[rows.dofs], axis=1)

    def solve(self, closed: NDArray, b: NDArray) -> NDArray:
        """Closed form where H is diagonal, else one small problem for this rank's points."""
        r = np.zeros(b.size)
        if closed.any():
            r[closed] = complementarity.solve(self.delassus(closed), b[closed])
        return r

    def delassus(self, closed: NDArray) -> NDArray:
        """H of the closed points: its diagonal where points share no dof [1/kg]."""
        if self._diagonal is not None:
            return self._diagonal[closed]
        rows = self._contact.rows
        dofs, weights = rows.dofs[closed], rows.weights[closed]
        if rows.distinct:
            return self._factor * np.einsum("pk,pk,pk->p", weights, weights, self._inverse_mass[dofs])
        used, place = np.unique(dofs, return_inverse=True)
        L = np.zeros((dofs.shape[0], used.size))
        np.add.at(L, (np.arange(dofs.shape[0])[:, None], place.reshape(dofs.shape)), weights)
        return self._factor * (L * self._inverse_mass[used]) @ L.T

    def push(self, r: NDArray, v: NDArray) -> None:
        """``v += factor M^-1 L^T r``; touches only the points with an impulse."""
        hit = np.flatnonzero(r)
        if hit.size:
            rows = self._contact.rows
            dofs = rows.dofs[hit]
            change = rows.weights[hit] * (self._factor * r[hit])[:, None] * self._inverse_mass[dofs]
            if rows.distinct:
                v[dofs] += change
            else:
                np.add.at(v, dofs, change)


class FactorisedResponse:
    """B = A^-1 with a factorised matrix: H is full over the points of all ranks.

    One solve a point makes H, once where L is constant, else for the closed points of the
    step; only H is kept. Rank 0 solves the contact problem for all.

    Args:
        contact: The contact.
        solver: Solves with A.
        size: Owned dofs and ghosts.
    """

    def __init__(self, contact: Contact, solver: Any, size: int) -> None:
        self._contact, self._solver, self._comm = contact, solver, contact.comm
        counts = contact.comm.allgather(contact.count)
        self._mine = slice(sum(counts[: contact.comm.rank]), sum(counts[: contact.comm.rank + 1]))
        self._rhs, self._x = np.zeros(size), np.zeros(size)
        self._H: NDArray | None = None

    def solve(self, closed: NDArray, b: NDArray) -> NDArray:
        """The full problem, gathered and solved on rank 0."""
        every = parallel.gather_rows(self._comm, np.column_stack([closed, b]))
        which = np.flatnonzero(every[:, 0])
        r = np.zeros(every.shape[0])
        if which.size:
            H = self._delassus(which)
            r[which] = parallel.on_root(self._comm, lambda: complementarity.solve(H, every[which, 1]))
        return r[self._mine]

    def _delassus(self, which: NDArray) -> NDArray:
        if not self._contact.constant:
            return self._columns(which)[which]
        if self._H is None:
            H = self._columns(np.arange(self._contact.total))
            self._H = (H + H.T) / 2
        return self._H[np.ix_(which, which)]

    def _columns(self, which: NDArray) -> NDArray:
        """Columns ``which`` of ``L A^-1 L^T``, shape (points of all ranks, columns) [1/kg]."""
        local = np.zeros((self._contact.count, which.size))
        unit = np.zeros(self._contact.count)
        for k, point in enumerate(which):
            unit[:] = 0.0
            if self._mine.start <= point < self._mine.stop:
                unit[point - self._mine.start] = 1.0
            self._rhs[:] = 0.0
            self._contact.rows.add_transpose(unit, self._rhs)
            self._solver.solve(self._rhs, self._x)
            local[:, k] = self._contact.rows(self._x)
        return parallel.gather_rows(self._comm, local)

    def push(self, r: NDArray, v: NDArray) -> None:
        """``v += A^-1 L^T r``: one solve when any impulse acts."""
        if self._comm.allreduce(bool(np.any(r))):
            self._rhs[:] = 0.0
            self._contact.rows.add_transpose(r, self._rhs)
            self._solver.solve(self._rhs, self._x)
            v += self._x
