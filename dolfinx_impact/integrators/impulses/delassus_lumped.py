"""Delassus operator ``H = L M^-1 L^T`` and velocity update ``M^-1 L^T r`` with a lumped mass."""

from __future__ import annotations

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ...algebra import complementarity, coulomb, kernels
from ...algebra.operators import SparseRows, of_points
from ...contact.base import Contact
from ...contact.state import ContactState, Impulses
from ...systems.system import System
from ..base import Integrator
from . import delassus_pairs
from .delassus import refuse_friction_on_held
from .delassus_iterated import IteratedDelassus
from .delassus_pairs import PairsDelassus


class LumpedDelassus:
    """``B = M^-1`` with a lumped mass: H couples only points with common dofs.

    Points with common dofs (a corner, two corners of a rigid body) form a small problem, solved per group.

    Args:
        contact: The contact.
        system: The system, with its masses.
        factor: Part of the impulse that acts on the velocity (1/2 at the start of central differences).
    """

    def __init__(self, contact: Contact, system: System, factor: float = 1.0) -> None:
        self._contact, self._rough = contact, contact.friction > 0
        self._inverse = system.inverse_mass if factor == 1.0 else factor * system.inverse_mass
        rows = of_points(contact.L)
        self._at_points = self._inverse[rows.dofs]
        self._coupled = contact.comm.allreduce(not rows.distinct)
        self._groups = rows.groups() if self._coupled else np.arange(rows.count)
        self._diagonal: FloatArray | None = None
        if contact.constant and not self._coupled:
            self._diagonal = rows.diagonal(self._inverse)

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
        """See :class:`.DelassusOperator`; ``r = max(0, -b / H)`` for uncoupled points, else an LCP each.

        With equal masses in all directions of a point its normal impulse does not change its tangential
        velocity, and ``r_t`` is the projection of ``-m v_T`` on the disc of radius ``mu r``, Di Stasio et al.
        (2019), doi:10.1186/s40323-019-0126-y, Algorithm 2.
        """
        which, error = (state.closed if closed is None else closed).nonzero()[0], None
        r_t = np.zeros((b.size, state.L.components)) if self._rough else None
        impulses = Impulses(state, np.zeros(b.size), r_t)
        try:
            if which.size:
                self._solve_points(impulses, which, b, v, t)
        except complementarity.NotConverged as caught:
            error = caught
        if self._coupled:
            parallel.agree(self._contact.comm, error)
        elif error is not None:
            # NaN in r is detected on all ranks at the end of the step.
            impulses.r[which] = np.nan
        return impulses

    def _solve_points(
        self, impulses: Impulses, which: IntArray, b: FloatArray, v: FloatArray, t: float
    ) -> None:
        """Write the impulses of the points ``which``; arguments otherwise as for :meth:`solve`."""
        self._solve_groups(of_points(impulses.state.L), which, b, impulses.r)
        if impulses.r_t is not None:
            self._add_friction(impulses, impulses.r_t, v, t)

    def _solve_groups(self, L: SparseRows, which: IntArray, b: FloatArray, r: FloatArray) -> None:
        """Write the normal impulses of the points ``which`` into ``r``, one problem for each group."""
        if not self._coupled:
            r[which] = complementarity.solve(self.delassus(L, which), b[which])
            return
        labels = self._groups[which]
        alone = np.bincount(labels)[labels] == 1
        single = which[alone]
        r[single] = complementarity.solve(L.select(single).diagonal(self._inverse), b[single])
        for group in self._split(which[~alone]):
            r[group] = complementarity.solve(L.product(self._inverse, group), b[group])

    def _add_friction(self, impulses: Impulses, r_t: FloatArray, v: FloatArray, t: float) -> None:
        """Write the tangential impulses that follow from the normal ones; ``v`` free, at the time ``t``."""
        state, L = impulses.state, of_points(impulses.state.L)
        if impulses.r.any():  # Di Stasio et al. (40), (42)
            moved = state.surface_velocity(t) if self._contact.moving else L.weights[:0]
            kernels.load().add_friction(
                L.dofs, L.weights, self._at_points, state.frictions, v, moved, impulses.r, r_t
            )

    def _split(self, which: IntArray) -> list[IntArray]:
        """The points ``which`` divided into their groups."""
        if not which.size:
            return []
        labels = self._groups[which]
        order = np.argsort(labels, kind="stable")
        return np.split(which[order], np.flatnonzero(np.diff(labels[order])) + 1)

    def delassus(self, L: SparseRows, which: IntArray) -> FloatArray:
        """H of the points ``which`` [1/kg], only its diagonal where no points have common dofs."""
        if self._diagonal is not None:
            return self._diagonal[which]
        if self._coupled:
            return L.product(self._inverse, which)
        weights = L.weights[which]
        H: FloatArray = np.einsum("pk,pk,pk->p", weights, weights, self._at_points[which])
        return H

    def compiled(self) -> FloatArray:
        """The diagonal of H for compiled loops, with L of the last evaluation, shape (p,) [1/kg].

        Raises:
            NotCompiled: Points that share dofs; a class with another response.
        """
        if self._coupled:
            raise kernels.NotCompiled("points of the contact share dofs")
        return self._contact.L.diagonal(self._inverse)

    def apply(self, impulses: Impulses, v: FloatArray) -> None:
        """``v += factor M^-1 (L^T r + W^T r_t)``."""
        impulses.add_to(v, self._inverse)


class LumpedFrictionalDelassus(LumpedDelassus):
    """Friction where normal and tangential impulses, or those of several points, are coupled.

    Both are found together for every group of points. Coulomb's law holds for the tangential velocity after
    the step.

    Args:
        integrator: The scheme; its contact has friction.
        factor: Part of the impulse that acts on the velocity.
    """

    def __init__(self, integrator: Integrator, factor: float = 1.0) -> None:
        assert integrator.contact is not None
        super().__init__(integrator.contact, integrator.system, factor)
        dofs = of_points(self._contact.L).dofs
        m = self._inverse[dofs]
        levers = self._contact.now(0.0).bases.shape[1] != dofs.shape[1]
        #: Mask of the points with equal masses in all directions: normal and tangential are not coupled.
        self._even = np.all(np.abs(m - m[:, :1]) <= 1e-12 * m[:, :1], axis=1) & (not levers)

    def _solve_points(
        self, impulses: Impulses, which: IntArray, b: FloatArray, v: FloatArray, t: float
    ) -> None:
        """See :meth:`LumpedDelassus._solve_points`."""
        state, r, r_t = impulses.state, impulses.r, impulses.r_t
        assert r_t is not None
        frames, dofs, frictions = state.bases, of_points(state.L).dofs, state.frictions
        d, at = frames.shape[1], v[dofs[which]]
        if self._contact.moving:
            at -= state.surface_velocity(t)[which]
        free = np.zeros((b.size, d))
        free[which] = np.einsum("pdk,pk->pd", frames[which], at)
        free[:, 0] = b
        labels = self._groups[which]
        alone = (np.bincount(labels)[labels] == 1) & self._even[which]
        single = which[alone]
        mass = 1.0 / self._inverse[dofs[single, 0]]
        r[single] = np.maximum(0.0, -mass * b[single])
        tangential = _projected(-mass[:, None] * free[single, 1:], frictions[single] * r[single])
        r_t[single] = np.einsum("pj,pjk->pk", tangential, frames[single, 1:])
        for group in self._split(which[~alone]):
            weights = frames[group].reshape(group.size * d, -1)
            rows = SparseRows(np.repeat(dofs[group], d, axis=0), weights, group)
            H = rows.product(self._inverse, np.arange(rows.count))
            found = coulomb.solve(H, free[group].ravel(), frictions[group], d).reshape(-1, d)
            r[group] = found[:, 0]
            r_t[group] = np.einsum("pj,pjk->pk", found[:, 1:], frames[group, 1:])

    def compiled(self) -> FloatArray:
        """None: see :meth:`LumpedDelassus.compiled`."""
        raise kernels.NotCompiled("normal and tangential impulses are coupled")


def _projected(vectors: FloatArray, radius: FloatArray) -> FloatArray:
    """Projection of vectors, shape (p, k), on discs or balls of the given radii, shape (p,); in place."""
    length: FloatArray = np.sqrt(np.add.reduce(vectors * vectors, axis=1))
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
    if delassus_pairs.takes(integrator):
        return PairsDelassus(integrator, factor)
    if contact.L.iterated:
        return IteratedDelassus(integrator, factor)
    rows, comm = of_points(contact.L), contact.comm
    if contact.friction == 0:
        return LumpedDelassus(contact, integrator.system, factor)
    m, held = inverse[rows.dofs], integrator.system.constrained[rows.dofs]
    largest = m.max(axis=1, keepdims=True, initial=0.0)
    levers = contact.now(0.0).bases.shape[1] != rows.dofs.shape[1]
    uneven = levers or not rows.distinct or bool(np.any((np.abs(m - largest) > 1e-12 * largest) & ~held))
    # A direction along a flat obstacle may be fixed (an axis, a plane of symmetry): no sliding along it.
    prescribed = np.isin(rows.dofs, integrator.system.prescribed.dofs)
    coupled = (held & (rows.weights != 0.0)) | prescribed | (held & (not contact.constant))
    if comm.allreduce(uneven) or comm.allreduce(bool(coupled.any())):
        refuse_friction_on_held(integrator)
        return LumpedFrictionalDelassus(integrator, factor)
    return LumpedDelassus(contact, integrator.system, factor)
