"""Forces that keep points in lasting contact from accelerating against the obstacle within a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import projected_iteration
from ...algebra.operators import SparseRows, of_points
from ...algebra.projected_iteration import AdmissibleImpulses
from ...contact.state import ContactState, Impulses
from ..base import Integrator
from ..impulses.delassus_iterated import movable

#: A tangential impulse from this part of ``mu r`` on is that of a point that slides.
_SLIDES = 1 - 1e-9
_ROUNDS = 30


@dataclass
class SlidingCone(AdmissibleImpulses):
    """Forces without a sign along the normal; sticking points take any tangential one.

    Attributes:
        slides: Mask of the points that slide, shape (p,).
        along: Tangential components per normal force of those that slide, shape (p, d - 1).
    """

    slides: BoolArray
    along: FloatArray

    def project(self, x: FloatArray) -> FloatArray:
        """Set the friction of sliding points and the forces of inactive ones, shape (p, d), in place."""
        x[self.slides, 1:] = np.maximum(x[self.slides, :1], 0.0) * self.along[self.slides]
        x[~self.active] = 0.0
        return x

    def limits(self) -> FloatArray:
        """See :meth:`.AdmissibleImpulses.limits`."""
        return np.column_stack([self.slides.astype(np.float64), self.along])

    @staticmethod
    def solved(S: FloatArray, c: FloatArray, limits: FloatArray, start: FloatArray) -> FloatArray:
        """See :meth:`.AdmissibleImpulses.solved`; least forces where tangents of tilted points are held."""
        return hold(S, c, limits[:, 0] > 0, limits[:, 1:])


class LastingContact:
    """Contact forces with which the points that had an impulse follow the obstacle's acceleration.

    With the Delassus operator ``H = L M^-1 L^T`` of a lumped mass and the smooth forces f::

        L M^-1 (f + L^T lam + W^T lam_T) = n.a_obstacle      where r > 0; lam of any sign
        W M^-1 (f + L^T lam + W^T lam_T) = its tangential part          where |r_T| < mu r
        lam_T = mu max(lam, 0) r_T / |r_T|                              where |r_T| = mu r

    Ties hold in all directions whether they transmit impulses or not. The obstacle's acceleration is that of
    its material point; terms of the change of L are left out.

    Args:
        integrator: The scheme, with a contact.
    """

    def __init__(self, integrator: Integrator) -> None:
        assert integrator.contact is not None
        self._system, self._contact = integrator.system, integrator.contact
        rows = self._contact.L
        self._rough, self._work = self._contact.friction > 0, np.zeros(integrator.system.size)
        if not isinstance(rows, SparseRows):
            return
        self._groups = rows.groups()
        m = self._system.inverse_mass[rows.dofs]
        levers = self._contact.now(0.0).bases.shape[1] not in (1, rows.dofs.shape[1])
        held = self._system.constrained[rows.dofs]
        largest = m.max(axis=1, keepdims=True, initial=0.0)
        even = np.all((np.abs(m - largest) <= 1e-12 * largest) | held, axis=1) & (not levers)
        alone = np.bincount(self._groups, minlength=1)[self._groups] == 1
        #: Points whose normal and tangential accelerations follow from their own forces alone.
        self._single = alone & (even if self._rough else True)

    def add_forces(self, impulses: Impulses, t: float, step: float, f: FloatArray) -> None:
        """Add ``L^T lam + W^T lam_T`` to the smooth forces. Collective.

        Args:
            impulses: Those that have just been found.
            t: Time [s].
            step: Distance of the times from which the obstacle's acceleration is found [s].
            f: Smooth forces at ``t``, shape (size,) [N]; updated.
        """
        contact, state, rows = self._contact, impulses.state, impulses.state.L
        acting = (impulses.r > 0.0) | state.bilateral
        together = rows.iterated or contact.moving
        if not (contact.comm.allreduce(bool(acting.any())) if together else acting.any()):
            return
        follow = state.surface_acceleration(t, step)
        slides, along = self._sliding(impulses)
        if not isinstance(rows, SparseRows):
            self._iterate(state, acting, follow, slides, along, f)
            return
        which = np.flatnonzero(acting)
        a = self._system.inverse_mass[rows.dofs[which]] * f[rows.dofs[which]] - follow[which]
        single = self._single[which]
        self._hold_single(rows, which[single], a[single], slides, along, f)
        coupled, labels = which[~single], self._groups[which[~single]]
        for label in np.unique(labels):
            mine = labels == label
            self._hold_group(state, coupled[mine], a[~single][mine], slides, along, f)

    def _sliding(self, impulses: Impulses) -> tuple[BoolArray, FloatArray]:
        """Mask of the points that slide, and ``mu r_T / |r_T|`` of each point, shape (p, k)."""
        r, r_t, mu = impulses.r, impulses.r_t, impulses.state.frictions
        if r_t is None:
            return np.zeros(r.size, dtype=bool), np.zeros((r.size, 0))
        size = np.linalg.norm(r_t[:, : self._contact.directions], axis=1)
        slides = size >= _SLIDES * mu * np.abs(r)
        scale = np.divide(mu, size, out=np.zeros(r.size), where=slides & (size > 0.0))
        return slides, scale[:, None] * r_t

    def _hold_single(
        self,
        rows: SparseRows,
        which: IntArray,
        a: FloatArray,
        slides: BoolArray,
        along: FloatArray,
        f: FloatArray,
    ) -> None:
        """Add the forces of points that have dofs of their own."""
        if not which.size:
            return
        n, dofs = rows.weights[which], rows.dofs[which]
        inverse = self._system.inverse_mass[dofs]
        normal = np.einsum("pk,pk->p", n, a)
        lam = -normal / np.einsum("pk,pk,pk->p", n, n, inverse)
        forces = lam[:, None] * n
        if self._rough:
            sticking = -(a - normal[:, None] * n) / inverse.max(axis=1, keepdims=True)
            sliding = np.maximum(lam, 0.0)[:, None] * along[which]
            forces += np.where(slides[which, None], sliding, sticking)
        np.add.at(f, dofs, forces)  # contacts of a list may have rows padded with a dof twice

    def _hold_group(
        self,
        state: ContactState,
        which: IntArray,
        a: FloatArray,
        slides: BoolArray,
        along: FloatArray,
        f: FloatArray,
    ) -> None:
        """Add the forces of points that are coupled, by a dense problem."""
        rows = of_points(state.L)
        bases = state.bases[which] if self._rough else rows.weights[which, None, :]
        d, dofs = bases.shape[1], rows.dofs[which]
        b = np.einsum("pdk,pk->pd", bases, a)
        operator = SparseRows(np.repeat(dofs, d, axis=0), bases.reshape(which.size * d, -1), which)
        H = operator.product(self._system.inverse_mass, np.arange(operator.count))
        H = np.diag(H) if H.ndim == 1 else H
        # Tangents are orthonormal in the directions of space.
        space = self._contact.directions
        friction = np.einsum("pdk,pk->pd", bases[:, 1:, :space], along[which][:, :space]) if d > 1 else None
        forces = hold(H, b, slides[which], friction)
        np.add.at(f, dofs, np.einsum("pd,pdk->pk", forces, bases))

    def _iterate(
        self,
        state: ContactState,
        acting: BoolArray,
        follow: FloatArray,
        slides: BoolArray,
        along: FloatArray,
        f: FloatArray,
    ) -> None:
        """Add the forces of points that are coupled over ranks and bodies, without forming H. Collective."""
        contact, L, inverse = self._contact, state.L, self._system.inverse_mass
        diagonal, n = L.diagonal(inverse), self._system.owned
        active = movable(acting, diagonal, contact.comm)
        scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros(acting.size), where=active)[:, None]
        tangents = state.bases[:, 1:] if self._rough else np.zeros((acting.size, 0, 0))

        def components(normal: FloatArray, vectors: FloatArray) -> FloatArray:
            parts = [normal[:, None]]
            if self._rough:
                parts.append(np.einsum("pdk,pk->pd", tangents, vectors))
            scaled: FloatArray = scale * np.hstack(parts)
            return scaled

        def vectors_of(x: FloatArray) -> FloatArray | None:
            return np.einsum("pd,pdk->pk", x[:, 1:], tangents) if self._rough else None

        def product(x: FloatArray) -> FloatArray:
            forces = scale * x
            return components(*L.delassus(inverse, forces[:, 0], vectors_of(forces), self._work))

        a = np.zeros(f.size)
        a[:n] = inverse * f[:n]
        normal, vectors = (np.array(x) for x in L.velocities(a))
        if contact.moving:
            normal -= np.einsum("pk,pk->p", state.bases[:, 0], follow)
            vectors -= follow
        friction = np.einsum("pdk,pk->pd", tangents, along) if self._rough else along
        cone = SlidingCone(active, state.bilateral, state.frictions, slides & active, friction)
        c = components(normal, vectors)
        x, _ = projected_iteration.solve(product, c, cone, np.zeros_like(c), contact.comm)
        L.add_impulses(scale[:, 0] * x[:, 0], vectors_of(scale * x), None, f)


def hold(H: FloatArray, b: FloatArray, slides: BoolArray, friction: FloatArray | None) -> FloatArray:
    """Forces x with ``H x + b = 0`` but for the tangents of sliding points, where x is that of friction.

    Args:
        H: Delassus operator of all components, shape (p d, p d) [1/kg].
        b: Accelerations, shape (p, d), normal first [m/s2].
        slides: Mask of the points that slide, shape (p,).
        friction: Tangential components per normal force, ``mu r_T / |r_T|``, shape (p, d - 1); None for
            d = 1.

    Returns:
        Shape (p, d) [N]; of least norm where H is singular. Friction acts where the normal force is positive.
    """
    p, d = b.shape
    free = np.ones((p, d), dtype=bool)
    free[slides, 1:] = False
    number: AnyArray = np.flatnonzero(free.ravel())
    columns = np.zeros((p * d, number.size))
    columns[number, np.arange(number.size)] = 1.0
    pressing: AnyArray = np.ones(p, dtype=bool)
    x = np.zeros((p, d))
    for _ in range(_ROUNDS):
        if friction is not None and slides.any():
            for k in np.flatnonzero(slides):
                column = np.searchsorted(number, k * d)
                columns[k * d + 1 : (k + 1) * d, column] = friction[k] * pressing[k]
        y = np.linalg.lstsq(H[number] @ columns, -b.ravel()[number], rcond=1e-12)[0]
        x = (columns @ y).reshape(p, d)
        now = x[:, 0] > 0.0
        if np.array_equal(now[slides], pressing[slides]):
            break
        pressing = now
    return x
