"""Delassus operator ``H = L M^-1 L^T`` and velocity update ``M^-1 L^T r`` with a lumped mass."""

from __future__ import annotations

import numpy as np

from .. import parallel
from .._types import BoolArray, FloatArray, IntArray
from ..algebra import complementarity, coulomb, kernels
from ..algebra.operators import SparseRows
from ..contact.base import Contact
from . import delassus_pairs
from .base import Integrator
from .delassus import refuse_friction_on_held
from .delassus_iterated import IteratedDelassus
from .delassus_pairs import PairsDelassus


class LumpedDelassus:
    """``B = M^-1`` with a lumped mass: H couples only points with common dofs.

    Points with common dofs (a corner, two corners of a rigid body) form a small problem, solved per group.

    Args:
        contact: The contact.
        inverse_mass: Inverse masses of the owned dofs, shape (owned,) [1/kg].
        factor: Part of the impulse that acts on the velocity (1/2 at the start of central differences).
    """

    def __init__(self, contact: Contact, inverse_mass: FloatArray, factor: float = 1.0) -> None:
        self._contact = contact
        self._inverse = inverse_mass if factor == 1.0 else factor * inverse_mass
        rows = contact.L
        self._coupled = contact.comm.allreduce(not rows.distinct)
        self._groups = rows.groups() if self._coupled else np.arange(rows.count)
        self._diagonal: FloatArray | None = None
        if contact.constant and not self._coupled:
            self._diagonal = rows.diagonal(self._inverse)
        changed = kernels.overridden(self, ("delassus", "_solve_groups"), LumpedDelassus)
        #: H where it is a constant diagonal, shape (p,) [1/kg], or None.
        self._constant_H = self._diagonal if changed is None else None

    def solve(
        self, closed: BoolArray, b: FloatArray, v: FloatArray | None = None, t: float = 0.0
    ) -> FloatArray:
        """See :class:`.DelassusOperator`; ``r = max(0, -b / H)`` for uncoupled points, else an LCP each."""
        r, error, which = np.zeros(b.size), None, np.flatnonzero(closed)
        try:
            if self._constant_H is not None and which.size:
                r[which] = complementarity.solve(self._constant_H[which], b[which])
            elif which.size:
                self._solve_groups(which, b, r)
        except complementarity.NotConverged as caught:
            error = caught
        if self._coupled:
            parallel.agree(self._contact.comm, error)
        elif error is not None:
            # NaN in r is detected on all ranks at the end of the step.
            r[which] = np.nan
        return r

    def _solve_groups(self, which: IntArray, b: FloatArray, r: FloatArray) -> None:
        """Write the impulses of the points ``which`` into ``r``, one problem for each group."""
        if not self._coupled:
            r[which] = complementarity.solve(self.delassus(which), b[which])
            return
        labels = self._groups[which]
        alone = np.bincount(labels)[labels] == 1
        single = which[alone]
        diagonal = self._contact.L.select(single).diagonal(self._inverse)
        r[single] = complementarity.solve(diagonal, b[single])
        for group in self._split(which[~alone]):
            r[group] = complementarity.solve(self._contact.L.product(self._inverse, group), b[group])

    def _split(self, which: IntArray) -> list[IntArray]:
        """The points ``which`` divided into their groups."""
        if not which.size:
            return []
        labels = self._groups[which]
        order = np.argsort(labels, kind="stable")
        return np.split(which[order], np.flatnonzero(np.diff(labels[order])) + 1)

    def delassus(self, closed: IntArray) -> FloatArray:
        """H of the active points [1/kg], only its diagonal where no points have common dofs."""
        if self._diagonal is not None:
            return self._diagonal[closed]
        return self._contact.L.product(self._inverse, closed)

    def compiled(self) -> FloatArray:
        """The diagonal of H for compiled loops, with L of the last evaluation, shape (p,) [1/kg].

        Raises:
            NotCompiled: Points that share dofs; a class with another response.
        """
        names = ("solve", "_solve_groups", "delassus", "apply_impulse", "apply_friction")
        changed = kernels.overridden(self, names)
        if changed is not None:
            raise kernels.NotCompiled(f"{type(self).__name__} has a response of its own")
        if self._coupled:
            raise kernels.NotCompiled("points of the contact share dofs")
        return self._contact.L.diagonal(self._inverse)

    def apply_impulse(self, r: FloatArray, v: FloatArray) -> None:
        """``v += factor M^-1 L^T r``."""
        self._contact.L.add_scaled_transpose(r, self._inverse, v)

    def apply_friction(self, r: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Compute Coulomb friction impulses and apply them to ``v``.

        With equal masses in all directions of a point the normal impulse does not change its tangential
        velocity, and ``r_t`` is the projection of ``-m v_T`` on the disc of radius ``mu r``, Di Stasio et al.
        (2019), doi:10.1186/s40323-019-0126-y, Algorithm 2.

        Args:
            r: Normal impulses, shape (p,) [N s].
            v: Velocities after the normal impulses, shape (size,) [m/s]; updated.
            t: Time of ``v`` [s].

        Returns:
            Tangential impulses on the body at the dofs of the points, shape (p, k) [N s].
        """
        contact, dofs = self._contact, self._contact.L.dofs
        r_t = np.zeros(dofs.shape)
        hit = np.flatnonzero(r)
        if hit.size:
            inverse = self._inverse[dofs[hit]]  # 0 in constrained directions, without tangential velocity
            mass = 1.0 / inverse.max(axis=1, keepdims=True)
            # Di Stasio et al. (40), (42)
            velocity = contact.tangential_velocity(v, t)[hit]
            impulses = _projected(-velocity * mass, contact.frictions[hit] * r[hit])
            r_t[hit] = impulses
            v[dofs[hit]] += inverse * impulses
        return r_t


class LumpedFrictionalDelassus(LumpedDelassus):
    """Friction where normal and tangential impulses, or those of several points, are coupled.

    ``solve`` computes both for every group of points, stores the tangential and returns the normal ones;
    ``apply_friction`` applies the tangential ones. Coulomb's law holds for the tangential velocity after the
    step.

    Args:
        integrator: The scheme; its contact has friction.
        factor: Part of the impulse that acts on the velocity.
    """

    def __init__(self, integrator: Integrator, factor: float = 1.0) -> None:
        assert integrator.contact is not None
        super().__init__(integrator.contact, integrator.system.inverse_mass, factor)
        self._r_t = np.zeros(integrator.contact.L.dofs.shape)
        self._free: FloatArray = np.zeros((0, 0))
        dofs, m = self._contact.L.dofs, self._inverse[self._contact.L.dofs]
        levers = self._contact.local_bases().shape[1] != dofs.shape[1]
        #: Mask of the points with equal masses in all directions: normal and tangential are not coupled.
        self._even = np.all(np.abs(m - m[:, :1]) <= 1e-12 * m[:, :1], axis=1) & (not levers)

    def _solve_groups(self, which: IntArray, b: FloatArray, r: FloatArray) -> None:
        contact, free = self._contact, self._free
        frames, dofs = contact.local_bases(), contact.L.dofs
        free[:, 0], d = b, frames.shape[1]
        labels = self._groups[which]
        alone = (np.bincount(labels)[labels] == 1) & self._even[which]
        single = which[alone]
        mass = 1.0 / self._inverse[dofs[single, 0]]
        r[single] = np.maximum(0.0, -mass * b[single])
        tangential = _projected(-mass[:, None] * free[single, 1:], contact.frictions[single] * r[single])
        self._r_t[single] = np.einsum("pj,pjk->pk", tangential, frames[single, 1:])
        for group in self._split(which[~alone]):
            weights = frames[group].reshape(group.size * d, -1)
            rows = SparseRows(np.repeat(dofs[group], d, axis=0), weights, group)
            H = rows.product(self._inverse, np.arange(rows.count))
            impulses = coulomb.solve(H, free[group].ravel(), contact.frictions[group], d).reshape(-1, d)
            r[group] = impulses[:, 0]
            self._r_t[group] = np.einsum("pj,pjk->pk", impulses[:, 1:], frames[group, 1:])

    def solve(
        self, closed: BoolArray, b: FloatArray, v: FloatArray | None = None, t: float = 0.0
    ) -> FloatArray:
        """See :class:`DelassusOperator`."""
        assert v is not None
        self._r_t[:] = 0.0
        relative = v[self._contact.L.dofs] - self._contact.surface_velocity(t)
        self._free = np.einsum("pdk,pk->pd", self._contact.local_bases(), relative)
        return super().solve(closed, b)

    def compiled(self) -> FloatArray:
        """None: see :meth:`LumpedDelassus.compiled`."""
        raise kernels.NotCompiled("normal and tangential impulses are coupled")

    def apply_friction(self, r: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """See :meth:`LumpedDelassus.apply_friction`."""
        hit = np.flatnonzero(self._r_t.any(axis=1))
        dofs = self._contact.L.dofs[hit]
        np.add.at(v, dofs, self._inverse[dofs] * self._r_t[hit])
        return self._r_t.copy()


def _projected(vectors: FloatArray, radius: FloatArray) -> FloatArray:
    """Projection of vectors, shape (p, k), on discs or balls of the given radii, shape (p,); in place."""
    length = np.linalg.norm(vectors, axis=1)
    outside = length > radius
    vectors[outside] *= (radius[outside] / length[outside])[:, None]
    return vectors


def lumped_delassus(
    integrator: Integrator, factor: float = 1.0
) -> LumpedDelassus | PairsDelassus | IteratedDelassus:
    """The Delassus operator of explicit schemes, with or without friction. Collective.

    Args:
        integrator: The scheme, with a contact.
        factor: Part of the impulse that acts on the velocity.

    Raises:
        ValueError: Friction at points with constrained dofs, except directions along a flat obstacle.
    """
    contact, inverse = integrator.contact, integrator.system.inverse_mass
    assert contact is not None
    rows, comm = contact.L, contact.comm
    if delassus_pairs.takes(integrator):
        return PairsDelassus(integrator, factor)
    if rows.iterated:
        return IteratedDelassus(integrator, factor)
    if contact.friction == 0:
        return LumpedDelassus(contact, inverse, factor)
    m, held = inverse[rows.dofs], integrator.system.constrained[rows.dofs]
    largest = m.max(axis=1, keepdims=True, initial=0.0)
    levers = contact.local_bases().shape[1] != rows.dofs.shape[1]
    uneven = levers or not rows.distinct or bool(np.any((np.abs(m - largest) > 1e-12 * largest) & ~held))
    # A direction along a flat obstacle may be fixed (an axis, a plane of symmetry): no sliding along it.
    prescribed = np.isin(rows.dofs, integrator.system.prescribed.dofs)
    coupled = (held & (rows.weights != 0.0)) | prescribed | (held & (not contact.constant))
    if comm.allreduce(uneven) or comm.allreduce(bool(coupled.any())):
        refuse_friction_on_held(integrator)
        return LumpedFrictionalDelassus(integrator, factor)
    return LumpedDelassus(contact, inverse, factor)
