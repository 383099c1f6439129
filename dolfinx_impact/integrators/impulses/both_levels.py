"""Newton's law after a step without penetration: contact at position and velocity level."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra import kernels
from ...contact.contact_set import Contacts
from ...contact.state import Impulses
from ..central.central_formulas import newton_impact
from ..requirements import refuse_drift_correction
from .contact_laws import CompiledLaw, VelocityLevel
from .delassus import DelassusOperator


class BothLevels(VelocityLevel):
    """``0 <= g(u') _|_ R >= 0`` for the position, and Newton's law for the velocity at closed points.

    Closed are the points that pressed in the position problem, and those with ``g(u') <= tol``::

        0 <= L' (v' + e v)  _|_  P >= 0        with friction on v'

    With e > 0 a point stands on the obstacle for one step before it leaves, which loses energy: a rebound
    that keeps its energy belongs to velocity level.

    Args:
        contact: The contact, a list of contacts, or None.

    Raises:
        ValueError: Contacts that it does not take; ``touching=False``; ``drift_correction``.
    """

    #: The subject of refusals.
    name = "contact at both levels (position=True)"

    def __init__(self, contact: Contacts) -> None:
        super().__init__(contact)
        if self.contact is None:
            return
        refuse_drift_correction(self.contact, self.name)
        if self.contact.between_nodes:
            raise ValueError(
                f"{self.name} does not take facets of a RigidContact (facets=True), whose points appear and "
                "vanish as it iterates: leave position=True or facets=True out"
            )
        if not all(each.touching for each in self.contact.members):
            raise ValueError(
                f"{self.name} closes the points that touch: a point that carries a load has the gap 0; leave "
                "touching=False out"
            )

    def impulses(self, s: Any, response: DelassusOperator, *, first: bool = False) -> Impulses:
        """P, where ``s.v`` is the velocity without contact and ``s.u`` the end of the step. Collective."""
        contact = self.contact
        assert contact is not None
        state = contact.at(s.u, s.v, s.t, every=True)
        closed = contact.closed(state.gap - s.least_gap()) | s.pressed
        closed &= np.isfinite(state.gap)
        b = state.approach_velocity(s.v, s.t) - s.closing_rate()
        if contact.restitution > 0:
            before = state.approach_velocity(s.v_before, s.t - s.h)
            b = newton_impact(b, before, state.restitutions)
        return response.solve(state, b, s.v, s.t, closed=closed, last=s.impulses)

    def compiled(self) -> CompiledLaw:
        """None: no compiled loop iterates over positions."""
        raise kernels.NotCompiled("contact at both levels (position=True) is found by an iteration")
