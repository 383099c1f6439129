"""Delassus operator of explicit schemes that is applied and never formed: one distributed contact problem."""

from __future__ import annotations

import warnings

import numpy as np
from mpi4py import MPI

from .._types import BoolArray, FloatArray
from ..algebra import kernels, projected_iteration
from ..algebra.projected_iteration import AdmissibleImpulses, QuotientRange
from .base import Integrator

#: Condition number above which a warning is due.
_ILL = 50.0
#: Part of the largest diagonal entry of H that is the rounding of a row along constrained dofs, as of a tie
#: at the axis: scaled to 1 it would have free velocities beside which all others are within the tolerance.
_HELD = 1e-20


def movable(closed: BoolArray, diagonal: FloatArray, comm: MPI.Comm) -> BoolArray:
    """Mask of the closed points that impulses move, by the diagonal of H. Collective."""
    largest = comm.allreduce(float(diagonal[closed].max(initial=0.0)), op=MPI.MAX)
    moved: BoolArray = closed & (diagonal > _HELD * largest)
    return moved


class IteratedDelassus:
    """``H = L M^-1 L^T`` with a lumped mass, where points of several ranks or bodies are coupled.

    With dual mortar rows the part of the slave side in H is the identity up to masses, and the iteration
    converges in some tens of products, whatever the number of points.

    Args:
        integrator: The scheme, with a contact.
        factor: Part of the impulse that acts on the velocity (1/2 at the start of central differences).

    Attributes:
        sweeps: Products with H in the last solution.
        condition: Lower bound of the condition number of the scaled H there, from the steps of the iteration.
    """

    def __init__(self, integrator: Integrator, factor: float = 1.0) -> None:
        assert integrator.contact is not None
        self._integrator, self._contact = integrator, integrator.contact
        inverse = integrator.system.inverse_mass
        self._inverse = inverse if factor == 1.0 else factor * inverse
        self._velocity = np.zeros(integrator.system.size)
        self._r_t = np.zeros(integrator.r_t.shape)
        self.sweeps, self.condition, self._warned = 0, 1.0, False

    def _warn(self) -> None:
        """Warn once of a problem that small bodies on large facets make ill-conditioned. Collective."""
        if self._warned or self.condition <= _ILL:
            return
        contact = self._contact
        self._warned = contact.comm.allreduce(bool(contact.small_parts))
        if self._warned and contact.comm.rank == 0:
            warnings.warn(
                "a body smaller than the facets that it touches makes contact ill-conditioned (condition "
                f"{self.condition:.3g} and {self.sweeps} products in a step): refine the lighter surface",
                stacklevel=6,
            )

    def solve(
        self, closed: BoolArray, b: FloatArray, v: FloatArray | None = None, t: float = 0.0
    ) -> FloatArray:
        """See :class:`.DelassusOperator`; with friction also the tangential impulses. Collective.

        Raises:
            NotConverged: On all ranks.
        """
        contact, s = self._contact, self._integrator
        self._r_t[:], self.sweeps, self.condition = 0.0, 0, 1.0
        if not contact.comm.allreduce(bool(closed.any())):
            return np.zeros(b.size)
        rough, L = contact.friction > 0, contact.L
        diagonal = L.diagonal(self._inverse)
        active = movable(closed, diagonal, contact.comm)
        scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros(b.size), where=active)[:, None]
        tangents = contact.local_bases()[:, 1:] if rough else np.zeros((b.size, 0, 0))
        free = b[:, None]
        if rough:
            assert v is not None
            sliding = L.at_points(v) - contact.surface_velocity(t)
            free = np.column_stack([b, np.einsum("pdk,pk->pd", tangents, sliding)])

        def product(x: FloatArray) -> FloatArray:
            x = scale * x
            f = np.einsum("pd,pdk->pk", x[:, 1:], tangents) if rough else None
            normal, vector = L.delassus(self._inverse, x[:, 0], f, self._velocity)
            parts = [normal[:, None]]
            if rough:
                parts.append(np.einsum("pdk,pk->pd", tangents, vector))
            scaled: FloatArray = scale * np.hstack(parts)
            return scaled

        cone = AdmissibleImpulses(active, contact.bilateral, contact.frictions)
        last = s.r[:, None] if not rough else np.column_stack([s.r, np.einsum("pdk,pk->pd", tangents, s.r_t)])
        start = np.divide(last, scale, out=np.zeros_like(last), where=active[:, None])
        quotients = QuotientRange()
        x, self.sweeps = projected_iteration.solve(
            product, scale * free, cone, start, contact.comm, quotients
        )
        self.condition = quotients.condition
        self._warn()
        impulses = scale * x
        if rough:
            self._r_t[:] = np.einsum("pd,pdk->pk", impulses[:, 1:], tangents)
        normal: FloatArray = impulses[:, 0].copy()
        return normal

    def compiled(self) -> FloatArray:
        """None: see :meth:`.LumpedDelassus.compiled`."""
        raise kernels.NotCompiled("the points of the contact are solved together")

    def apply_impulse(self, r: FloatArray, v: FloatArray) -> None:
        """``v += factor M^-1 L^T r``. Collective."""
        self._contact.L.add_scaled_transpose(r, self._inverse, v)

    def apply_friction(self, r: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Apply the tangential impulses of the last solution to ``v`` and return them. Collective."""
        self._contact.L.add_impulses(np.zeros(r.size), self._r_t, self._inverse, v)
        return self._r_t.copy()
