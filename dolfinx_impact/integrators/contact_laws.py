"""What a contact demands in a step: of the velocity after it, or of the position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import parallel
from ..algebra import kernels
from ..algebra.complementarity import NotConverged
from ..contact.base import Contact
from ..contact.compiled import CompiledContact
from ..contact.contact_set import Contacts, as_contact
from .central_formulas import newton_impact
from .delassus import Response


class FreeStep(Protocol):
    """What velocity-level contact reads of a formula after its step without contact.

    Attributes:
        v: Velocities without contact at the end of the step [m/s].
        v_before: Velocities before it, ``dt`` earlier [m/s].
        dt: Time step [s].
    """

    v: Any
    v_before: Any
    dt: float

    @property
    def v_time(self) -> float:
        """Time of ``v`` [s]."""

    @property
    def contact_time(self) -> float:
        """Time at which the gap is looked at [s]."""

    def contact_position(self) -> NDArray:
        """Where the gap is looked at [m]."""


class FreeEnd(FreeStep, Protocol):
    """What position-level contact reads of a formula after its step without contact.

    Attributes:
        system: The system.
    """

    system: Any

    @property
    def t(self) -> float: ...

    def end_position(self) -> NDArray:
        """Position without contact at the end of the step [m], where L is looked at."""

    def constrained(self, e: float) -> tuple[NDArray, float]:
        """The position that must not penetrate, without contact [m], and how far it follows ``B L^T r`` [s].

        Args:
            e: Newton's coefficient, which weighs positions of the steps before.
        """


class Enforcement(Protocol):
    """A contact law in discrete time.

    A law that also has a method ``compiled``, which returns a :class:`CompiledLaw` or raises a
    :class:`.NotCompiled` with the reason, may join compiled runs.

    Attributes:
        contact: The contact, or None.
        halves_first_impulse: Whether an impulse at the start acts by half on the first
            half-step velocity of central differences.
    """

    contact: Contact | None
    halves_first_impulse: bool

    def impulses(self, s: Any, response: Response, *, first: bool = False) -> NDArray:
        """Impulses of the step, shape (points of this rank,) [N s]. Collective.

        Args:
            s: The formula after its free step: ``s.v`` is the velocity without contact.
            response: Its answer to impulses.
            first: Whether this is the start, where no step lies behind.
        """


@dataclass(frozen=True)
class CompiledLaw:
    """What compiled loops know of a contact law.

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
    changed = kernels.overridden(law, ("impulses", "_corrected", "_constrained_gap", "_close_curved_gaps"))
    if changed is not None:
        raise kernels.NotCompiled(f"{type(law).__name__} is no contact law of the compiled loop")
    if law.contact is None:
        raise kernels.NotCompiled("there is no contact")
    return law.contact.compiled()


class VelocityLevel:
    """Newton's impact law ``0 <= L(v+ + e v-)  _|_  r >= 0`` on the points that are closed.

    Moreau (1988); Di Stasio et al. (2019), (8). Which points are closed is decided by the
    gap at the position that the formula looks at: the new one for central differences, a
    forecast for the theta method.

    Under a point that slides along a curved obstacle the normal turns, and each step leaves it a little
    deeper. ``drift_correction=a`` of a contact feeds the gap back: where a point was closed in the step
    before too, ``L v- < 0`` and less than with the L of that step, its e becomes
    ``max(e, min(1, a (-g) / (h (-L v-))))``, with v- the velocity before the step relative to the obstacle.
    No impulse exceeds that of a reflection, so that its work
    ``r.L(v+ + v-)/2 <= 0`` is never positive, and positions are left alone.
    """

    halves_first_impulse = True
    #: A normal velocity below this part of the point's velocity is rounding: the normal has not turned.
    _TURNED = 1e-12

    def __init__(self, contact: Contacts) -> None:
        self.contact = as_contact(contact)

    def impulses(self, s: FreeStep, response: Response, *, first: bool = False) -> NDArray:
        """See :class:`Enforcement`; at the start nothing rebounds."""
        contact = self.contact
        if contact is None:
            return np.zeros(0)
        follows = contact.drift_correction > 0 and not contact.constant
        left = contact.approach_velocity(s.v_before, s.v_time - s.dt) if follows and not first else None
        contact.time = s.contact_time
        closed = contact.touch(s.contact_position(), s.v)
        b = contact.approach_velocity(s.v, s.v_time)
        if not first and (follows or contact.restitution > 0.0):
            before = contact.approach_velocity(s.v_before, s.v_time - s.dt)
            e = contact.restitutions
            if left is not None:
                e = self._corrected(s, closed & contact.closed_before, before, left)
            b = newton_impact(b, before, e)
        contact.note(closed)
        return response.solve(closed, b, s.v, s.v_time)

    def compiled(self) -> CompiledLaw:
        """The law for compiled loops.

        Raises:
            NotCompiled: A class with other impulses, or a reason of the contact.
        """
        return CompiledLaw(_compiled_contact(self), at_position=False)

    def impact(self, s: FreeStep, response: Response) -> NDArray:
        """Impulses of an impact at ``s.contact_time``, where ``s.v`` is the velocity before it."""
        if self.contact is None:
            return np.zeros(0)
        contact = self.contact
        contact.time = s.contact_time
        closed = contact.touch(s.contact_position(), s.v)
        b = (1.0 + contact.restitutions) * contact.approach_velocity(s.v, contact.time)
        return response.solve(closed, b, s.v, contact.time)

    def _corrected(self, s: FreeStep, lasting: NDArray, before: NDArray, left: NDArray) -> NDArray:
        """Coefficients of restitution with the gap fed back, shape (p,); ``left`` is L v- with the old L."""
        contact = self.contact
        assert contact is not None
        gap = contact.gap(s.contact_position())
        speed = np.linalg.norm(s.v_before[contact.rows.dofs], axis=1)
        which = np.flatnonzero(lasting & (before < np.minimum(left, 0.0) - self._TURNED * speed))
        e = contact.restitutions.copy()
        wanted = contact.feedbacks[which] * gap[which] / (s.dt * before[which])
        e[which] = np.maximum(e[which], np.minimum(1.0, wanted))
        return e


class PositionLevel:
    """``0 <= g(c)  _|_  r >= 0`` at the weighted position ``c = (u_{n+1} + e u_{n-1}) / (1 + e)``.

    Paoli and Schatzman, SIAM J. Numer. Anal. 40 (2002), in the form of Di Stasio et al. (2019),
    (19)-(24); e = 0 is Carpenter et al. (1991), where ``g(u_{n+1}) >= 0`` exactly. L is that of the
    position without contact, for central differences ``u* = u_n + h v*`` and
    ``c = c* + h/(1+e) M^-1 L^T r``; for one-step formulas, which know no e here, ``c = u_{n+1}``.

    Raises:
        ValueError: A contact whose other side moves.
        NotConverged: When a curved gap is not closed to 1e-12 of the system's length.
    """

    halves_first_impulse = False
    _MOST = 60
    _CLOSED = 1e-12

    def __init__(self, contact: Contacts) -> None:
        self.contact = contact = as_contact(contact)
        if contact is not None and contact.moving:
            raise ValueError(
                "contact at position level knows no moving obstacles: take CDLagrange or MoreauJean"
            )
        if contact is not None and contact.drift_correction > 0 and not contact.constant:
            raise ValueError(
                "contact at position level does not drift: leave drift_correction out, or take CDLagrange or "
                "MoreauJean"
            )

    def impulses(self, s: FreeEnd, response: Response, *, first: bool = False) -> NDArray:
        """See :class:`Enforcement`; at the start only where the free step would penetrate."""
        contact = self.contact
        if contact is None:
            return np.zeros(0)
        gap = contact.evaluate_along(s.end_position(), s.v)
        which = gap < 0 if first else np.ones(gap.size, dtype=bool)
        free, reach = self._constrained_gap(s, None)
        r = response.solve(which, free / reach)
        if contact.constant:
            return r
        return self._close_curved_gaps(s, response, which, r)

    def compiled(self) -> CompiledLaw:
        """See :meth:`VelocityLevel.compiled`; flat obstacles alone."""
        found = _compiled_contact(self)
        if found.surface is not None:
            raise kernels.NotCompiled("curved gaps at position level are closed by iteration")
        return CompiledLaw(found, at_position=True)

    def _constrained_gap(self, s: FreeEnd, change: NDArray | None) -> tuple[NDArray, NDArray]:
        """``g(c)`` [m] with velocities changed by impulses, and how far c follows [s], shape (p,) each."""
        contact = self.contact
        assert contact is not None
        gap, reach = np.zeros(contact.count), np.zeros(contact.count)
        for e in contact.restitution_laws():
            free, follows = s.constrained(e)
            found = contact.gap(free if change is None else free + follows * change)
            mine = contact.restitutions == e
            gap[mine], reach[mine] = found[mine], follows
        return gap, reach

    def _close_curved_gaps(
        self, s: FreeEnd, response: Response, which: NDArray, r: NDArray
    ) -> NDArray:
        """Repeat with the gap found at c, its slope frozen, until ``g(c)`` fits r."""
        contact = self.contact
        assert contact is not None
        best, smallest = r, np.inf
        for _ in range(self._MOST):
            change = np.zeros_like(s.v)
            response.push(r, change)
            gap, reach = self._constrained_gap(s, change)
            misfit = parallel.largest(contact.comm, np.where(r > 0, np.abs(gap), -gap)[which])
            if misfit >= smallest and smallest <= self._CLOSED * s.system.length:
                return best  # as far as rounding lets it close
            if misfit < smallest:
                best, smallest = r, misfit
            if misfit <= 0.0:
                return best
            r = response.solve(which, gap / reach - contact.rows(change))
        if smallest <= self._CLOSED * s.system.length:
            return best
        raise NotConverged(
            f"the gap of a curved obstacle is {smallest:.1g} m instead of closed at t = {s.t:.6g} s: take a "
            "smaller time step"
        )
