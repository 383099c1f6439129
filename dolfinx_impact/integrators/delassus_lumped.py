"""How velocities answer to contact impulses through a diagonal mass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import parallel
from ..algebra import complementarity, coulomb, kernels
from ..algebra.operators import Rows
from ..contact.base import Contact
from .base import Integrator
from .delassus import refuse_friction_on_held


class LumpedResponse:
    """B = M^-1 with a diagonal mass: H couples only points that share a dof.

    Points that share dofs (a corner, two corners of one rigid body) make a small problem of their own.

    Args:
        contact: The contact.
        inverse_mass: Inverse masses of the owned dofs [1/kg].
        factor: Part of the impulse that acts (1/2 at the start of central differences).
    """

    def __init__(self, contact: Contact, inverse_mass: NDArray, factor: float = 1.0) -> None:
        self._contact = contact
        self._inverse = inverse_mass if factor == 1.0 else factor * inverse_mass
        rows = contact.rows
        self._coupled = contact.comm.allreduce(not rows.distinct)
        self._groups = rows.groups() if self._coupled and not rows.collective else np.arange(rows.count)
        self._diagonal: NDArray | None = None
        if contact.constant and not self._coupled:
            self._diagonal = rows.diagonal(self._inverse)

    def solve(self, closed: NDArray, b: NDArray, v: NDArray | None = None, t: float = 0.0) -> NDArray:
        """Closed form where a point shares no dof, else one small problem for every group of points."""
        if self._coupled and self._contact.rows.collective:
            return self._solve_together(closed, b)
        r, error = np.zeros(b.size), None
        if closed.any():
            try:
                self._solve_groups(closed, b, r)
            except complementarity.NotConverged as caught:
                error = caught
        if self._coupled:
            parallel.agree(self._contact.comm, error)
        elif error is not None:
            # Not finite: left in r, so that all ranks see it at the end of the step.
            r[closed] = np.nan
        return r

    def _solve_groups(self, closed: NDArray, b: NDArray, r: NDArray) -> None:
        which = np.flatnonzero(closed)
        if not self._coupled:
            r[which] = complementarity.solve(self.delassus(which), b[which])
            return
        labels = self._groups[which]
        alone = np.bincount(labels)[labels] == 1
        single = which[alone]
        diagonal = self._contact.rows.select(single).diagonal(self._inverse)
        r[single] = complementarity.solve(diagonal, b[single])
        for group in self._split(which[~alone]):
            r[group] = complementarity.solve(self._contact.rows.product(self._inverse, group), b[group])

    def _split(self, which: NDArray) -> list[NDArray]:
        """The rows ``which`` in their groups."""
        if not which.size:
            return []
        labels = self._groups[which]
        order = np.argsort(labels, kind="stable")
        return np.split(which[order], np.flatnonzero(np.diff(labels[order])) + 1)

    def delassus(self, closed: NDArray) -> NDArray:
        """H of the closed points: its diagonal where points share no dof [1/kg]."""
        if self._diagonal is not None:
            return self._diagonal[closed]
        return self._contact.rows.product(self._inverse, closed)

    def compiled(self) -> NDArray:
        """The diagonal of H for compiled loops, with L of the last evaluation, shape (p,) [1/kg].

        Raises:
            NotCompiled: Points that share dofs; a class that answers in another way.
        """
        changed = kernels.overridden(self, ("solve", "_solve_groups", "delassus", "push", "rub"))
        if changed is not None:
            raise kernels.NotCompiled(f"{type(self).__name__} answers to impulses in a way of its own")
        if self._coupled:
            raise kernels.NotCompiled("points of the contact share dofs")
        return self._contact.rows.diagonal(self._inverse)

    def _solve_together(self, closed: NDArray, b: NDArray) -> NDArray:
        """The problem of all ranks' points, whose rows have entries on several ranks. Collective."""
        contact = self._contact
        every = parallel.gather_rows(contact.comm, np.column_stack([closed, b]))
        which = np.flatnonzero(every[:, 0])
        r, H = np.zeros(contact.total), contact.rows.product(self._inverse, which)
        if which.size:
            r[which] = parallel.on_root(contact.comm, lambda: complementarity.solve(H, every[which, 1]))
        return r[contact.mine]

    def push(self, r: NDArray, v: NDArray) -> None:
        """``v += factor M^-1 L^T r``; touches only the points with an impulse."""
        self._contact.rows.push(r, self._inverse, v)

    def rub(self, r: NDArray, v: NDArray, t: float) -> NDArray:
        """Coulomb impulses that stop the slip as far as ``|r_t| <= mu r`` allows; acts on ``v``.

        With one mass for all directions of a point the normal impulse does not change its slip,
        so that ``r_t`` is the projection of ``-m v_T`` on the disc of radius mu r, Di Stasio et
        al. (2019), Algorithm 2.

        Args:
            r: Normal impulses, shape (p,) [N s].
            v: Velocities after these, shape (size,) [m/s].
            t: Time of ``v`` [s].

        Returns:
            The impulses on the body, on the dofs of the points, shape (p, k) [N s].
        """
        contact, dofs = self._contact, self._contact.rows.dofs
        r_t = np.zeros(dofs.shape)
        hit = np.flatnonzero(r)
        if hit.size:
            inverse = self._inverse[dofs[hit]]  # 0 in directions that are fixed, where nothing slips
            mass = 1.0 / inverse.max(axis=1, keepdims=True)
            stop = _within(-contact.slip(v, t)[hit] * mass, contact.frictions[hit] * r[hit])
            r_t[hit] = stop
            v[dofs[hit]] += inverse * stop
        return r_t


class LumpedCone(LumpedResponse):
    """Friction where normal and tangential impulses, or several points, answer to one another.

    ``solve`` finds both for every group of points, keeps the tangential ones and returns the normal ones,
    ``rub`` lets the former act. The tangential law is on the velocity after the step.

    Args:
        integrator: What steps.
        factor: Part of the impulse that acts.
    """

    def __init__(self, integrator: Integrator, factor: float = 1.0) -> None:
        assert integrator.contact is not None
        super().__init__(integrator.contact, integrator.system.inverse_mass, factor)
        self._r_t = np.zeros(integrator.contact.rows.dofs.shape)
        self._free: NDArray = np.zeros((0, 0))
        dofs, m = self._contact.rows.dofs, self._inverse[self._contact.rows.dofs]
        levers = self._contact.frames().shape[1] != dofs.shape[1]
        #: Which points have one mass for all directions: alone, their impulses do not answer to one another.
        self._even = np.all(np.abs(m - m[:, :1]) <= 1e-12 * m[:, :1], axis=1) & (not levers)

    def _solve_groups(self, closed: NDArray, b: NDArray, r: NDArray) -> None:
        contact, free = self._contact, self._free
        frames, dofs = contact.frames(), contact.rows.dofs
        free[:, 0], d = b, frames.shape[1]
        which = np.flatnonzero(closed)
        labels = self._groups[which]
        alone = (np.bincount(labels)[labels] == 1) & self._even[which]
        single = which[alone]
        mass = 1.0 / self._inverse[dofs[single, 0]]
        r[single] = np.maximum(0.0, -mass * b[single])
        stop = _within(-mass[:, None] * free[single, 1:], contact.frictions[single] * r[single])
        self._r_t[single] = np.einsum("pj,pjk->pk", stop, frames[single, 1:])
        for group in self._split(which[~alone]):
            rows = Rows(np.repeat(dofs[group], d, axis=0), frames[group].reshape(group.size * d, -1), group)
            H = rows.product(self._inverse, np.arange(rows.count))
            found = coulomb.solve(H, free[group].ravel(), contact.frictions[group], d).reshape(-1, d)
            r[group] = found[:, 0]
            self._r_t[group] = np.einsum("pj,pjk->pk", found[:, 1:], frames[group, 1:])

    def solve(self, closed: NDArray, b: NDArray, v: NDArray | None = None, t: float = 0.0) -> NDArray:
        """See :class:`Response`."""
        assert v is not None
        self._r_t[:] = 0.0
        relative = v[self._contact.rows.dofs] - self._contact.surface_velocity(t)
        self._free = np.einsum("pdk,pk->pd", self._contact.frames(), relative)
        return super().solve(closed, b)

    def compiled(self) -> NDArray:
        """None: see :meth:`LumpedResponse.compiled`."""
        raise kernels.NotCompiled("normal and tangential impulses answer to one another")

    def rub(self, r: NDArray, v: NDArray, t: float) -> NDArray:
        """See :meth:`LumpedResponse.rub`."""
        hit = np.flatnonzero(self._r_t.any(axis=1))
        dofs = self._contact.rows.dofs[hit]
        np.add.at(v, dofs, self._inverse[dofs] * self._r_t[hit])
        return self._r_t.copy()


def _within(stop: NDArray, limit: NDArray) -> NDArray:
    """Vectors, shape (p, k), shortened to lengths of at most ``limit``, shape (p,)."""
    size = np.linalg.norm(stop, axis=1)
    over = size > limit
    stop[over] *= (limit[over] / size[over])[:, None]
    return stop


def lumped_response(integrator: Integrator, factor: float = 1.0) -> LumpedResponse:
    """The response of explicit schemes to normal impulses, and to friction where there is any. Collective.

    Raises:
        ValueError: Friction on points with held dofs.
    """
    contact, inverse = integrator.contact, integrator.system.inverse_mass
    assert contact is not None
    rows, comm = contact.rows, contact.comm
    if contact.friction == 0:
        return LumpedResponse(contact, inverse, factor)
    m, held = inverse[rows.dofs], integrator.system.held[rows.dofs]
    largest = m.max(axis=1, keepdims=True, initial=0.0)
    levers = contact.frames().shape[1] != rows.dofs.shape[1]
    uneven = levers or not rows.distinct or bool(np.any((np.abs(m - largest) > 1e-12 * largest) & ~held))
    # A direction along a flat obstacle may be held (an axis, a plane of symmetry): nothing slips there.
    moved = np.isin(rows.dofs, integrator.system.moved.dofs)
    crossed = (held & (rows.weights != 0.0)) | moved | (held & (not contact.constant))
    if comm.allreduce(uneven) or comm.allreduce(bool(crossed.any())):
        refuse_friction_on_held(integrator)
        return LumpedCone(integrator, factor)
    return LumpedResponse(contact, inverse, factor)
