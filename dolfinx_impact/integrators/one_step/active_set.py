"""Which points are closed and which slip, and what that depends on in an iteration over positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import sparse

from ... import parallel
from ..._types import BoolArray, FloatArray
from ...contact.state import ContactState


@dataclass(eq=False)
class ActiveSet:
    """Which points are closed, and which of them slip, of this rank.

    Attributes:
        closed, slipping: Masks of shape (p,); what has no friction slips.
    """

    closed: BoolArray
    slipping: BoolArray

    @classmethod
    def none(cls) -> ActiveSet:
        """That of no points."""
        return cls(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))

    @property
    def slips(self) -> bool:
        """Whether a closed point slips."""
        return bool((self.slipping & self.closed).any())

    def key(self) -> bytes:
        """A value that equal sets alone share."""
        return np.packbits(np.concatenate([self.closed, self.slipping & self.closed])).tobytes()


@dataclass(eq=False)
class Arguments:
    """What the signs of the contact laws depend on, at the points of this rank.

    Attributes:
        state: The contact at the end of the step.
        tangents: Tangents, shape (p, d, components), zero without friction.
        c: Impulse that moves a point by a length through its own entry of A, shape (p,) [N s/m].
        gap: Gaps less those that are asked for, shape (p,) [m].
        slip: Ways along the tangents in the step, relative to what is opposite, shape (p, d) [m].
        r: ``R_N``, shape (p,) [N s].
        z: ``R_N - c g``, shape (p,) [N s].
        y: ``R_T - c s`` along the tangents, shape (p, d) [N s].
        r_t: ``R_T`` along the tangents, shape (p, d) [N s].
    """

    state: ContactState
    tangents: FloatArray
    c: FloatArray
    gap: FloatArray
    slip: FloatArray
    r: FloatArray
    z: FloatArray
    y: FloatArray
    r_t: FloatArray

    def active_set(self) -> ActiveSet:
        """Closed where z > 0 and at ties; slipping where y leaves the cone of z."""
        mu = self.state.frictions
        closed = (self.c > 0) & (self.state.bilateral | (self.z > 0))
        size = np.linalg.norm(self.y, axis=1)
        return ActiveSet(closed, (mu == 0) | (size > mu * np.maximum(self.z, 0.0)))

    def misfits(self) -> FloatArray:
        """How far gaps and impulses are from the contact laws, shape (m,) [m]; 0 for a solution.

        ``min(R_N / c, g)``, at ties g, and the distance of R_T from the projection of y on the cone of z
        over c. Where a point is about to close or to slip its place in a set is decided by round-off, these
        are not.
        """
        acts = self.c > 0
        c, gap, z = self.c[acts], self.gap[acts], self.z[acts]
        near = np.isfinite(gap)
        c, gap, z, tied = c[near], gap[near], z[near], self.state.bilateral[acts][near]
        normal = np.where(tied, gap, np.minimum(self.r[acts][near] / c, gap))
        y, r_t = self.y[acts][near], self.r_t[acts][near]
        size, radius = np.linalg.norm(y, axis=1), self.state.frictions[acts][near] * np.maximum(z, 0.0)
        part = np.divide(radius, size, out=np.ones(size.size), where=size > radius)
        return np.append(np.abs(normal), np.linalg.norm(r_t - part[:, None] * y, axis=1) / c)


class ActiveSets:
    """The sets of the iterations of a step, one after the other.

    From the first set on that an iteration has had before, one point a time changes: that is the least-index
    rule of Murty, Opsearch 11 (1974), by which for linear problems no set comes back.

    Args:
        contact: The contact of the scheme; None for none.
        comm: Communicator of the system.

    Attributes:
        same: Whether the set that is wanted is that of the last iteration, on all ranks.
    """

    def __init__(self, contact: Any, comm: MPI.Comm) -> None:
        self._contact, self._comm, self.same = contact, comm, False
        self._had: list[ActiveSet] = []
        self._y: FloatArray = np.zeros((0, 0))
        self._singly = False

    def wanted(self, looked: Arguments | None) -> ActiveSet:
        """The set that the signs of the contact laws ask for. Collective."""
        active = ActiveSet.none() if looked is None else looked.active_set()
        if looked is not None:
            active = self._without_reversals(looked, active) if self._had else active
            self._y = looked.y
        differs = not self._had or self._had[-1].key() != active.key()
        self.same = not parallel.anywhere(self._comm, differs)
        return active

    def taken(self, wanted: ActiveSet, looked: Arguments | None) -> ActiveSet:
        """The set of this iteration. Collective."""
        self._singly = self._singly or (not self.same and self._comes_back(wanted))
        if self._singly and looked is not None:
            wanted = self._changed_once(wanted, looked.z > -np.inf)
        self._had.append(wanted)
        return wanted

    def _without_reversals(self, looked: Arguments, active: ActiveSet) -> ActiveSet:
        """The set with points sticking whose slip turned round since the last iteration.

        Between slip one way and the other lies sticking: without it the direction may alternate for ever.
        """
        last, turned = self._had[-1], np.einsum("pj,pj->p", looked.y, self._y) < 0
        return ActiveSet(active.closed, active.slipping & ~(turned & last.closed & last.slipping))

    def _comes_back(self, active: ActiveSet) -> bool:
        """Whether the set is one that an iteration has had before, on all ranks. Collective."""
        key = active.key()
        same = np.array([each.key() == key for each in self._had], dtype=np.int8)
        self._comm.Allreduce(MPI.IN_PLACE, same, op=MPI.MIN)
        return bool(same.any())

    def _changed_once(self, wanted: ActiveSet, near: BoolArray) -> ActiveSet:
        """The last set with the first of the changes that are wanted. Collective."""
        last, contact = self._had[-1], self._contact
        slips = wanted.slipping & wanted.closed
        differs = (last.closed != wanted.closed) | ((last.slipping & last.closed) != slips)
        first = np.flatnonzero(differs)
        mine = contact.mine.start + int(first[0]) if first.size else contact.total
        chosen = contact.comm.allreduce(mine, op=MPI.MIN)
        closed, slipping = last.closed & near, last.slipping.copy()
        if chosen == mine < contact.total:
            closed[first[0]], slipping[first[0]] = wanted.closed[first[0]], wanted.slipping[first[0]]
        return ActiveSet(closed, slipping)


def blocks(values: FloatArray) -> sparse.csr_matrix:
    """Block-diagonal matrix of blocks of shape (n, k, k)."""
    n = len(values)
    return sparse.bsr_matrix((values, np.arange(n), np.arange(n + 1))).tocsr()


def diagonal(matrix: Any) -> FloatArray:
    """The owned diagonal of a PETSc matrix or an array."""
    found: FloatArray = (
        np.diag(matrix).copy() if isinstance(matrix, np.ndarray) else matrix.getDiagonal().array.copy()
    )
    return found
