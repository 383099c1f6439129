"""Contact laws in discrete time: complementarity at velocity level or at position level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray
from ...algebra import kernels
from ...algebra.complementarity import NotConverged
from ...contact.base import Contact
from ...contact.compiled import CompiledContact
from ...contact.contact_set import Contacts, as_contact
from ...contact.state import ContactState, Impulses
from ..central.central_formulas import newton_impact
from ..requirements import refuse, refuse_drift_correction
from .delassus import DelassusOperator


class FreeStep(Protocol):
    """Interface of a formula, after its free step, to contact laws at velocity level.

    Attributes:
        v: Free velocities at the end of the step (without contact impulses), shape (size,) [m/s].
        v_before: Velocities at the beginning of the step, ``dt`` earlier, shape (size,) [m/s].
        dt: Time step [s].
        contact_state: The contact at the end of the step before.
        impulses: Impulses of the step before.
    """

    v: Any
    v_before: Any
    dt: float

    @property
    def contact_state(self) -> Any:
        """See the attributes."""

    @property
    def impulses(self) -> Any:
        """See the attributes."""

    @property
    def v_time(self) -> float:
        """Time of ``v`` [s]."""

    def contact_point(self) -> tuple[float, FloatArray]:
        """Time [s] and position, shape (size,) [m], at which the active set is decided."""


class FreeEnd(FreeStep, Protocol):
    """Interface of a formula, after its free step, to contact laws at position level.

    Attributes:
        system: The system.
    """

    system: Any

    @property
    def t(self) -> float:
        """Time [s]."""

    def end_position(self) -> FloatArray:
        """Displacements at the end of the free step, at which L is evaluated, shape (size,) [m]."""

    def constrained(self, e: float) -> tuple[FloatArray, float]:
        """Constrained position c of the free step [m], and its sensitivity to ``B L^T r`` [s].

        Args:
            e: Newton's coefficient of restitution, the weight of earlier positions.
        """


class Enforcement(Protocol):
    """A contact law in discrete time.

    A law whose impulses are the time step times a force at ``t`` says so by ``of_forces = True``. One that
    has a method ``compiled`` too, which returns a :class:`CompiledLaw` or raises a :class:`.NotCompiled` with
    the reason, may join compiled runs.

    What contacts may not have its class declares in ``excludes``, as :attr:`.Integrator.excludes`.

    Attributes:
        contact: The contact, or None; with one alone a scheme asks for impulses.
        halves_first_impulse: Whether half of an impulse at the start acts on the first half-step velocity of
            central differences.
    """

    contact: Contact | None
    halves_first_impulse: bool

    def impulses(self, s: Any, response: DelassusOperator, *, first: bool = False) -> Impulses:
        """Impulses of the step, at the points of this rank. Collective.

        Args:
            s: The formula after its free step: ``s.v`` is the free velocity.
            response: Delassus operator of the step.
            first: Whether this is the initial step, without a previous one.
        """


@dataclass(frozen=True)
class CompiledLaw:
    """Data of a contact law for compiled loops.

    Attributes:
        contact: Data of the contact.
        at_position: Whether gaps are closed at position level, by :class:`PositionLevel`; else Newton's
            impact law holds, as in :class:`VelocityLevel`.
    """

    contact: CompiledContact
    at_position: bool


def _compiled_contact(law: VelocityLevel | PositionLevel) -> CompiledContact:
    """Data of the contact of a law whose impulses are those of its base class.

    Raises:
        NotCompiled: Other impulses, or a reason of the contact.
    """
    if law.contact is None:
        raise kernels.NotCompiled("there is no contact")
    found: CompiledContact = kernels.ask(law.contact, "has no compiled form")
    return found


class VelocityLevel:
    """Newton's impact law ``0 <= L(v+ + e v-)  _|_  r >= 0`` on the active set.

    Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988),
    doi:10.1007/978-3-7091-2624-0_1; Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019),
    doi:10.1186/s40323-019-0126-y, (8). The active set follows from the gap at the position that the formula
    provides: the new one for central differences, a forecast for the theta method.

    Where a point slides along a curved obstacle the normal rotates, and penetration accumulates (drift). With
    ``drift_correction=a`` of a contact the gap is fed back: for points that were active in the previous step
    too, with ``L v- < 0`` and below the value with L of that step, e is replaced by
    ``max(e, min(1, a (-g) / (h (-L v-))))``, where v- is the velocity before the step relative to the
    obstacle. Since e stays at most 1, the work ``r.L(v+ + v-)/2`` of the impulses is not positive; positions
    are not corrected.
    """

    halves_first_impulse = True
    #: Normal velocity over the velocity of the point up to which a change of the normal is round-off.
    _TURNED = 1e-12

    def __init__(self, contact: Contacts) -> None:
        self.contact = as_contact(contact)

    def impulses(self, s: FreeStep, response: DelassusOperator, *, first: bool = False) -> Impulses:
        """See :class:`Enforcement`; without restitution at the start."""
        contact, v_time = self.contact, s.v_time
        assert contact is not None
        corrects = contact.drift_correction > 0 and not contact.constant
        old = None
        if corrects and not first:
            old = s.contact_state.approach_velocity(s.v_before, v_time - s.dt)
        t, u = s.contact_point()
        state = contact.at(u, s.v, t)
        if state.L.iterated and not state.closed_anywhere:
            nothing = response.solve(state, np.zeros(contact.count), s.v, v_time)
            nothing.acting = False
            return nothing
        b = state.approach_velocity(s.v, v_time)  # L v*
        if not first and (corrects or contact.restitution > 0.0):
            before = state.approach_velocity(s.v_before, v_time - s.dt)
            e = state.restitutions
            if old is not None:
                e = self._corrected(s, state, before, old)
            b = newton_impact(b, before, e)  # L (v* + e v-)
        last = s.impulses if state.L.iterated else None
        return response.solve(state, b, s.v, v_time, last=last)  # Di Stasio et al. (8)

    def compiled(self) -> CompiledLaw:
        """The law for compiled loops.

        Raises:
            NotCompiled: A class with other impulses, or a reason of the contact.
        """
        return CompiledLaw(_compiled_contact(self), at_position=False)

    def impact(self, s: FreeStep, response: DelassusOperator) -> Impulses:
        """Impulses of an impact at the contact point of ``s``; ``s.v`` is the velocity before."""
        assert self.contact is not None
        t, u = s.contact_point()
        state = self.contact.at(u, s.v, t)
        b = (1.0 + state.restitutions) * state.approach_velocity(s.v, t)
        return response.solve(state, b, s.v, t, last=s.impulses)

    def _corrected(self, s: FreeStep, state: ContactState, before: FloatArray, old: FloatArray) -> FloatArray:
        """Coefficients of restitution with feedback of the gap, shape (p,).

        Args:
            s: The formula after its free step.
            state: The contact; points that are closed and were in the previous step are corrected.
            before, old: ``L v-`` with the current L and with that of the previous step, shape (p,) [m/s].
        """
        contact, (t, u) = state.contact, s.contact_point()
        gap, lasting = contact.gap(u, t), state.closed & contact.closed_before
        speed = np.linalg.norm(state.L.at_points(s.v_before), axis=1)
        which = np.flatnonzero(lasting & (before < np.minimum(old, 0.0) - self._TURNED * speed))
        e = state.restitutions.copy()
        feedback = contact.feedbacks[which] * gap[which] / (s.dt * before[which])
        e[which] = np.maximum(e[which], np.minimum(1.0, feedback))
        return e


class PositionLevel:
    """``0 <= g(c)  _|_  r >= 0`` at the weighted position ``c = (u_{n+1} + e u_{n-1}) / (1 + e)``.

    Paoli and Schatzman, SIAM J. Numer. Anal. 40 (2002), doi:10.1137/S0036142900378728, in the form of Di
    Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019), doi:10.1186/s40323-019-0126-y, (19)-(24). For e = 0
    it is Carpenter, Taylor and Katona, Int. J. Numer. Methods Eng. 32 (1991), doi:10.1002/nme.1620320107,
    with ``g(u_{n+1}) >= 0`` exactly. L is evaluated at the end of the free step. For central differences this
    is ``u* = u_n + h v*``, and ``c = c* + h/(1+e) M^-1 L^T r``; one-step formulas do not support e here and
    have ``c = u_{n+1}``.

    Raises:
        ValueError: Friction, contact of surfaces, a moving obstacle; ``drift_correction`` with a curved one.
        NotConverged: (by :meth:`impulses`) a curved gap that is not closed to 1e-12 of the length of the
            system.
    """

    halves_first_impulse = False
    excludes: tuple[str, ...] = ("friction", "surfaces", "moving obstacles")
    #: The subject of refusals.
    name = "contact at position level"
    _MOST = 60
    _CLOSED = 1e-12

    def __init__(self, contact: Contacts) -> None:
        self.contact = contact = as_contact(contact)
        refuse(self.excludes, self.name, contact=contact)
        refuse_drift_correction(contact, self.name)

    def impulses(self, s: FreeEnd, response: DelassusOperator, *, first: bool = False) -> Impulses:
        """See :class:`Enforcement`; at the start only for points with penetration after the free step."""
        assert self.contact is not None
        state = self.contact.at(s.end_position(), s.v, s.t, every=True)
        which: BoolArray = state.gap < 0 if first else np.ones(state.gap.size, dtype=bool)
        free, sensitivity = self._constrained_gap(s, None)
        found = response.solve(
            state, free / sensitivity, s.v, s.t, closed=which
        )  # Di Stasio et al. (19), (22)
        return found if self.contact.constant else self._close_curved_gaps(s, response, which, found)

    def compiled(self) -> CompiledLaw:
        """See :meth:`VelocityLevel.compiled`; flat obstacles alone."""
        found = _compiled_contact(self)
        if found.surface is not None:
            raise kernels.NotCompiled("curved gaps at position level are closed by iteration")
        return CompiledLaw(found, at_position=True)

    def _constrained_gap(self, s: FreeEnd, change: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """``g(c)`` [m] and the sensitivity of c to the velocity [s], shape (p,) each.

        Args:
            s: The formula after its free step.
            change: Change of the velocities by impulses, shape (size,) [m/s], or None.
        """
        contact = self.contact
        assert contact is not None
        gap, sensitivity = np.zeros(contact.count), np.zeros(contact.count)
        for e in sorted({each.restitution for each in contact.members}):
            free, factor = s.constrained(e)
            values = contact.gap(free if change is None else free + factor * change, s.t)
            points = contact.restitutions == e
            gap[points], sensitivity[points] = values[points], factor
        return gap, sensitivity

    def _close_curved_gaps(
        self, s: FreeEnd, response: DelassusOperator, which: BoolArray, found: Impulses
    ) -> Impulses:
        """Fixed-point iteration with L frozen, until ``g(c)`` and r are complementary."""
        state, comm = found.state, found.state.contact.comm
        best, smallest = found, np.inf
        for _ in range(self._MOST):
            change = np.zeros_like(s.v)
            response.apply(found, change)
            gap, sensitivity = self._constrained_gap(s, change)
            misfit = parallel.largest(comm, np.where(found.r > 0, np.abs(gap), -gap)[which])
            if misfit >= smallest and smallest <= self._CLOSED * s.system.length:
                return best  # limited by round-off
            if misfit < smallest:
                best, smallest = found, misfit
            if misfit <= 0.0:
                return best
            b = gap / sensitivity - state.L(change)
            found = response.solve(state, b, s.v, s.t, closed=which)
        if smallest <= self._CLOSED * s.system.length:
            return best
        raise NotConverged(
            f"the gap of a curved obstacle is {smallest:.1g} m instead of closed at t = {s.t:.6g} s: take a "
            "smaller time step"
        )
