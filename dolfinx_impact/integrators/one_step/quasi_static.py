"""Equilibrium under loads and contact that change slowly: no mass, no damping."""

from __future__ import annotations

from ... import arguments
from ..._types import FloatArray
from ...contact.contact_set import Contacts, as_contact
from ...systems.system import System
from ..energy import EnergyBalance
from ..impulses.both_levels import BothLevels
from ..options import CLOSING, LUMPED, TOUCHING
from .free_parts import refuse_free_parts
from .one_step import OneStepMethod
from .position_energy import StaticBalance
from .static_step import StaticStep


class Static(OneStepMethod):
    """Quasi-static equilibrium with contact: t is a load parameter, dt its step. Implicit.

    The position problem of :class:`.PositionStep` without mass and damping::

        F(t', u') + B^T R/h = 0,    0 <= R_N _|_ g(u', t') >= 0,    |R_T| <= mu R_N against the slip
        P = R,    v' = (u' - u)/h (reported alone)

    Forces are those at rest: what depends on the velocity is 0. There is no critical step, and no kinetic
    energy. Steps in which no equilibrium is found are made in parts (:class:`.HalvedSteps`). The history of
    loads matters where points rub or materials are not elastic.

    Args:
        system: The system; its parts are held without contact, but for ties.
        dt: Step of the load parameter [s].
        contact: The contact, a list of contacts, or None.
        closing: Time T [s] in which points that are inside at the start are pushed out, as of
            :class:`.MoreauJean`.
        mass: ``"lumped"``; nothing has mass here.

    Raises:
        ValueError: A step that is not positive; a part that is free to move, which is named.
        NotConverged: (by ``step``) no equilibrium, not in 256 parts of a step either.
    """

    paper = "Hueber, Wohlmuth, Comput. Methods Appl. Mech. Eng. 194 (2005)"
    equations = "semi-smooth Newton iteration for F(t, u) + B^T R/h = 0, 0 <= R _|_ g(u) >= 0"
    order = "the path of loads alone"
    conserves = "equilibrium; no penetration"
    step_limit = "none"
    contact_level = "position"
    options = {**LUMPED, **TOUCHING, **CLOSING}
    static = True
    step_solver: StaticStep

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        closing: float | None = None,
        mass: str = "lumped",
    ) -> None:
        arguments.time_step(dt)
        arguments.contact(contact)
        arguments.system(system)
        super().__init__(
            system, dt, BothLevels(as_contact(contact)), theta=1.0, forecast=1.0, mass=mass, closing=closing
        )
        refuse_free_parts(system, self.contact)
        self.step_solver = StaticStep(self)

    def begin(self) -> None:
        """The first step is like all others; nothing moves before it."""
        super().begin()
        self.v[:] = 0.0

    @property
    def position_sensitivity(self) -> float:
        """``h``."""
        return self.h

    def end_position(self) -> FloatArray:
        """``u + h v`` [m]."""
        position: FloatArray = self.u_before + self.h * self.v
        return position

    def velocity_to(self, u: FloatArray) -> FloatArray:
        """See :meth:`.OneStepMethod.velocity_to`."""
        way: FloatArray = u - self.u_before
        way *= 1.0 / self.h
        return way

    def balance(self) -> EnergyBalance:
        """Works by the mean of the forces at both ends of a step."""
        return StaticBalance(self)
