"""The implicit discretizations of Doyen, Ern and Piperno (2011), by their numbers.

SIAM J. Sci. Comput. 33 (2011), doi:10.1137/100791440. Those with central differences are in
:mod:`.doyen2011_central`.
"""

from __future__ import annotations

from typing import Any

from ..contact.contact_set import Contacts, as_contact
from ..systems.system import System
from .impulses.contact_laws import PositionLevel, VelocityLevel
from .impulses.penalty import EnergyConservingPenalty, ImplicitPenalty
from .one_step.newmark import Newmark
from .one_step.theta_method import ThetaMethod
from .options import BOTH, LUMPED, Option, fixed_restitution
from .requirements import UNSTEADY
from .static.modified_mass import ModifiedMass

PAPER = "Doyen, Ern, Piperno, SIAM J. Sci. Comput. 33 (2011)"
#: Change of energy in a step by impulses r; dg is the change of the gap over h.
IMPULSE_WORK = "E' - E = (r' + r)/2 . dg"
HHT = {
    "alpha": Option(0.0, "-", "Hilber, Hughes and Taylor's alpha, -1/3 to 0"),
    "beta": Option(None, "-", "Newmark's beta (default: (1 - alpha)^2 / 4)"),
    "gamma": Option(None, "-", "Newmark's gamma (default: 1/2 - alpha)"),
    **BOTH,
}
NEWMARK = {**{name: HHT[name] for name in ("beta", "gamma")}, **BOTH}
EPS = {
    "eps": Option(1e-4, "m/N", "compliance of a point of the penalty", interval="(0, inf)"),
    "per_area": Option(
        False, "-", "eps is that of the surface [m/Pa], over the area of a point", (False, True)
    ),
}
#: 6.1 and 6.2 close points below the obstacle, not those that touch it.
BELOW = {
    "touching": Option(False, "-", "closed when g < -gap_tolerance", (False,)),
    "gap_tolerance": Option(1e-9, "m", "a gap down to minus this counts as open"),
}


class NoContact(PositionLevel):
    """The law of the formulas without contact."""

    compiled = PositionLevel.compiled
    excludes, name = ("contact",), "this"


class HHTNewmark(Newmark):
    """HHT-Newmark with a contact law; ``beta = (1-alpha)^2/4`` and ``gamma = 1/2 - alpha`` unless given.

    Args:
        system: A linear system.
        dt: Time step [s].
        contact: The contact, flat, without restitution and friction, or None.
        alpha: In [-1/3, 0].
        beta: Above 0.
        gamma: Above 0.
        mass: ``"consistent"`` or ``"lumped"``.

    Raises:
        ValueError: See :class:`.Newmark`.
    """

    paper = PAPER
    order = "2 without impact, 1 with"
    conserves = IMPULSE_WORK
    step_limit = "none"
    contact_level = "position"
    options = {**fixed_restitution(0.0), **HHT}
    law: Any = PositionLevel

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        alpha: float = 0.0,
        beta: float | None = None,
        gamma: float | None = None,
        mass: str = "consistent",
        **law: Any,
    ) -> None:
        super().__init__(
            system,
            dt,
            type(self).law(contact, **law),
            alpha=alpha,
            beta=(1 - alpha) ** 2 / 4 if beta is None else beta,
            gamma=0.5 - alpha if gamma is None else gamma,
            mass=mass,
        )


class DEP21(HHTNewmark):
    """2.1: HHT-Newmark without contact."""

    equations = "2.1: HHT-Newmark"
    order, conserves, contact_level, options = "2", "energy (alpha = 0)", "none", HHT
    law = NoContact


class DEP41(HHTNewmark):
    """4.1: HHT-Newmark, ``0 <= g(u')  _|_  lambda' >= 0``.

    With ``alpha = 0`` it is :class:`.CarpenterImplicit`: an impact may multiply the energy, at any step.
    """

    equations = "4.1: HHT-Newmark, exact contact"
    order, step_limit = "2 without impact", "impacts are unstable at any h"


class DEP43(HHTNewmark):
    """4.3: Newmark, exact contact; then zero normal velocity and acceleration at points with an impulse."""

    equations = "4.3: Newmark, exact contact, kinematics put to zero"
    conserves, options = "nothing", {**fixed_restitution(0.0), **NEWMARK}
    reset = True


class DEP45(HHTNewmark):
    """4.5: Newmark, the reaction with an acceleration of its own that does not enter the next step."""

    equations = "4.5: Newmark, dissipative contact"
    conserves, options = "E' - E = r' . dg <= 0", {**fixed_restitution(0.0), **NEWMARK}
    dissipative = True


class DEP46(DEP45):
    """4.6: 4.5 with a predictor that is projected out of the obstacle, lumped mass; (61)-(62)."""

    equations = "4.6: contact-stabilized Newmark"
    conserves, options = "it dissipates", {**fixed_restitution(0.0), **NEWMARK, **LUMPED}
    projected = True

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, mass: str = "lumped", **options: Any
    ) -> None:
        super().__init__(system, dt, contact, mass=mass, **options)


class DEP51(HHTNewmark):
    """5.1: HHT-Newmark, ``lambda' = max(-g(u'), 0) / eps``; ``eps``, ``per_area`` of :class:`.Penalty`."""

    equations = "5.1: Newmark, penalty"
    contact_level, options = "penalty", {**fixed_restitution(0.0), **HHT, **EPS}
    law = ImplicitPenalty

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        eps: float = 1e-4,
        per_area: bool = False,
        **options: Any,
    ) -> None:
        self.eps, self.per_area = eps, per_area
        super().__init__(system, dt, contact, eps=eps, per_area=per_area, **options)


class DEP71(HHTNewmark):
    """7.1: 4.1 with the mass taken off the normal contact dofs (:class:`.ModifiedMass`).

    Massless contact dofs start at their static position, at rest.
    """

    equations = "7.1: Newmark, modified mass"
    excludes = ModifiedMass.excludes
    system: ModifiedMass

    def __init__(self, system: System, dt: float, contact: Contacts = None, **options: Any) -> None:
        contact = as_contact(contact)
        super().__init__(ModifiedMass(system, contact), dt, contact, **options)

    @property
    def body(self) -> System:
        """See :attr:`.Integrator.body`."""
        return self.system.base

    def begin(self) -> None:
        """See :meth:`.Newmark.begin`."""
        self.system.settle(self.u)
        self.v[self.system.massless] = 0.0
        self.r[:] = self.dt * self.system.reaction
        super().begin()

    def advance(self) -> None:
        """See :meth:`.Newmark.advance`."""
        super().advance()
        # Velocity and acceleration of a massless dof mean nothing to the formula, and would grow.
        at = self.system.massless
        self.v[at], self.a[at] = (self.u[at] - self.u_before[at]) / self.dt, 0.0


class Midpoint(ThetaMethod):
    """The midpoint rule, theta = 1/2, with a contact law at the end of the step.

    Args:
        system: A linear system under constant loads.
        dt: Time step [s].
        contact: The contact, without restitution and friction, or None.
        mass: ``"consistent"`` or ``"lumped"``.

    Raises:
        ValueError: See :class:`.ThetaMethod`.
    """

    compiled_loop = ThetaMethod.compiled_loop
    paper = PAPER
    order = "2 without impact, 1 with"
    conserves = "E' - E = r' . dg <= 0"
    step_limit = "none"
    contact_level = "position"
    options = {**fixed_restitution(0.0), **BOTH}
    law: Any = PositionLevel
    excludes: tuple[str, ...] = UNSTEADY
    #: Part of the step over which a law at velocity level forecasts the gap.
    predicted_part = 0.5

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, mass: str = "consistent", **law: Any
    ) -> None:
        super().__init__(
            system, dt, type(self).law(contact, **law), theta=0.5, forecast=self.predicted_part, mass=mass
        )


class DEP22(Midpoint):
    """2.2: the midpoint rule without contact."""

    compiled_loop = ThetaMethod.compiled_loop
    equations = "2.2: midpoint"
    order, conserves, contact_level, options = "2", "energy", "none", BOTH
    law = NoContact


class DEP42(Midpoint):
    """4.2: the theta method, ``0 <= g(u')  _|_  lambda' >= 0``."""

    compiled_loop = ThetaMethod.compiled_loop
    equations = "4.2: theta method, exact contact"
    order, conserves = "1", "it dissipates"
    options = {
        **fixed_restitution(0.0),
        "theta": Option(0.6, "-", "weight of the end of the step", interval="[0, 1]"),
        **BOTH,
    }

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        theta: float = 0.6,
        mass: str = "consistent",
    ) -> None:
        if not 0 <= theta <= 1:
            raise ValueError(f"theta must lie in [0, 1], but is {theta}")
        ThetaMethod.__init__(self, system, dt, type(self).law(contact), theta=theta, mass=mass)


class DEP44(Midpoint):
    """4.4: the midpoint rule, ``0 <= g(u')  _|_  lambda' >= 0``."""

    compiled_loop = ThetaMethod.compiled_loop
    equations = "4.4: midpoint, exact contact"


class DEP52(Midpoint):
    """5.2: the midpoint rule, energy-conserving penalty; ``eps``, ``per_area`` of :class:`.Penalty`."""

    compiled_loop = ThetaMethod.compiled_loop
    equations = "5.2: midpoint, energy-conserving penalty"
    conserves, contact_level = "energy with that of the penalty", "penalty"
    options = {**fixed_restitution(0.0), **BOTH, **EPS}
    law = EnergyConservingPenalty

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        eps: float = 1e-4,
        per_area: bool = False,
        mass: str = "consistent",
    ) -> None:
        self.eps, self.per_area = eps, per_area
        super().__init__(system, dt, contact, mass=mass, eps=eps, per_area=per_area)


class DEP61(Midpoint):
    """6.1: the midpoint rule, Newton's law with e = 1 where ``g(u_n) < 0``."""

    compiled_loop = ThetaMethod.compiled_loop
    equations = "6.1: midpoint, contact in velocity"
    conserves, contact_level = "energy", "velocity"
    options = {**fixed_restitution(1.0), **BELOW, **BOTH}
    law, excludes = VelocityLevel, ()
    predicted_part = 0.0
