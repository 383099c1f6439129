"""Values of a contact: its state at given displacements, and impulses at its points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import parallel
from .._types import BoolArray, FloatArray
from ..algebra import kernels
from ..algebra.contact_operator import ContactOperator
from ..algebra.operators import SparseRows

if TYPE_CHECKING:
    from .base import Contact


class ContactState:
    """A contact at given displacements and a time, as contact laws and schemes read it.

    Arrays are buffers of the contact, valid until its next :meth:`.Contact.at`; what reads an older state
    gets a RuntimeError.

    Args:
        contact: The contact, in the state of now.
        t: Time at which the obstacle has its place [s].
        closed: Mask of the closed points, shape (p,).
        gap: Gaps of all points, shape (p,) [m]; None where those of the closed ones alone were looked at.

    Attributes:
        contact, t, closed: As given.
    """

    __slots__ = ("contact", "t", "closed", "_anywhere", "_gap", "_number")

    def __init__(self, contact: Contact, t: float, closed: BoolArray, gap: FloatArray | None = None) -> None:
        self.contact, self.t, self.closed, self._gap = contact, t, closed, gap
        self._number = contact.evaluations
        self._anywhere: bool | None = None

    @property
    def closed_anywhere(self) -> bool:
        """Whether a point of any rank is closed. Collective at first."""
        if self._anywhere is None:
            self._anywhere = parallel.anywhere(self.contact.comm, self.closed.any())
        return self._anywhere

    @property
    def outdated(self) -> bool:
        """Whether the contact, one whose L varies, has gone on to another state."""
        return not self.contact.constant and self._number != self.contact.evaluations

    def present(self) -> Contact:
        """The contact, as it was when it gave this state.

        Raises:
            RuntimeError: It has gone on to another state.
        """
        if self.outdated:
            raise RuntimeError(
                f"this state of a {type(self.contact).__name__} is an old one: its arrays are those of the "
                "last at() or evaluate(): copy what is needed later, let each scheme have a contact of its "
                "own, and ask gap() of the contact of a run"
            )
        return self.contact

    @property
    def L(self) -> ContactOperator:
        """Contact operator: rows of the closed points, of all of them where all were looked at."""
        contact = self.contact
        return contact.L if contact.constant else self.present().L

    @property
    def gap(self) -> FloatArray:
        """Gaps, shape (p,) [m].

        Raises:
            RuntimeError: The state is not one of all points.
        """
        if self._gap is None:
            raise RuntimeError("this state knows the closed points alone: at(..., every=True) gives all gaps")
        return self._gap

    @property
    def bases(self) -> FloatArray:
        """Local bases of the points: normal and tangential rows, shape (p, d, k).

        ``d`` is the number of components of a contact velocity, 1 without tangents, k that of a point's dofs.
        The tangents are orthonormal.
        """
        return self.present().local_bases()

    @property
    def normals(self) -> FloatArray:
        """Normals at the vectors of L, shape (p, components); of bodies with rotations also their levers."""
        L = self.L
        return L.weights if isinstance(L, SparseRows) else self.bases[:, 0]

    @property
    def restitutions(self) -> FloatArray:
        """Newton's coefficient e of every point, shape (p,)."""
        return self.contact.restitutions

    @property
    def frictions(self) -> FloatArray:
        """Coulomb's coefficient mu of every point, shape (p,)."""
        return self.contact.frictions

    @property
    def bilateral(self) -> BoolArray:
        """Mask of the points whose impulses have any sign (ties), shape (p,)."""
        return self.contact.bilateral

    def surface_velocity(self, t: float) -> FloatArray:
        """Velocities of the obstacle at ``t`` at the points of this state, on their dofs, (p, k) [m/s]."""
        return self.present().surface_velocity(t)

    def surface_way(self, since: float) -> FloatArray:
        """Ways of the obstacle's material points at the points of this state, (p, k) [m].

        Args:
            since: Time from which they go to their places in this state [s].
        """
        return self.present().surface_way(since, self.t)

    def surface_acceleration(self, t: float, step: float) -> FloatArray:
        """Accelerations of the obstacle at ``t`` at the points of this state, on their dofs, (p, k) [m/s2].

        By differences over times ``step`` apart [s].
        """
        return self.present().surface_acceleration(t, step)

    def approach_velocity(self, v: FloatArray, t: float) -> FloatArray:
        """Relative normal velocities ``L v - n.v_obstacle(t)``, shape (p,) [m/s]; negative when closing."""
        normal = self.L(v)
        if self.contact.moving:
            normal -= np.einsum("pk,pk->p", self.normals, self.surface_velocity(t))
        return normal

    def tangential_velocity(self, v: FloatArray, t: float) -> FloatArray:
        """Tangential velocities relative to what is opposite at ``t``, shape (p, components) [m/s].

        Defined where the vectors of L are in the directions of space.
        """
        return self.tangential_part(self.L.at_points(v), t)

    def tangential_part(self, velocity: FloatArray, t: float) -> FloatArray:
        """:meth:`tangential_velocity` of velocities at the points, shape (p, components) [m/s]; updated."""
        n = self.normals
        if self.contact.moving:
            velocity -= self.surface_velocity(t)
        along: FloatArray = velocity - np.einsum("pk,pk->p", n, velocity)[:, None] * n
        return along


@dataclass(eq=False, slots=True)
class Impulses:
    """Impulses at the points of a contact, in the state in which they were found.

    Attributes:
        state: The state; None without a contact, where nothing acts.
        r: Normal impulses, shape (p,) [N s].
        r_t: Tangential impulses on the system, vectors at the points, shape (p, components) [N s]; None
            without friction.
        acting: False where it is known that there are none on any rank.
        swept: Impulses at the nodes of features whose paths would have met in the step, over the dofs, shape
            (size,) [N s]; None for none.
    """

    state: ContactState
    r: FloatArray
    r_t: FloatArray | None = None
    acting: bool = True
    swept: FloatArray | None = None

    def add_to(self, out: FloatArray, d: FloatArray | None = None) -> None:
        """Add ``L^T r + W^T r_t`` [N s], or ``D`` times it, to a vector over the dofs, shape (size,).

        Collective where the operator is; see :meth:`.ContactOperator.add_impulses`.
        """
        if self.state is not None and self.acting:
            self.state.L.add_impulses(self.r, self.r_t, d, out)
            if self.swept is not None:
                owned = slice(None if d is None else d.size)
                out[owned] += self.swept[owned] if d is None else d * self.swept[owned]

    def work(self, v: FloatArray) -> float:
        """``r.L v + r_t.W v``, the share of this rank [J]. Collective where the operator is."""
        swept = 0.0 if self.swept is None or not self.acting else float(self.swept @ v)
        if self.state is None or not (self.acting and (self.state.L.collective or self.r.any())):
            return swept
        if self.r_t is None:
            return float(kernels.load().dot(self.r, self.state.L(v))) + swept
        normal, vectors = self.state.L.velocities(v)
        return float(kernels.load().dot(self.r, normal)) + float(np.sum(self.r_t * vectors)) + swept
