"""The schemes of Di Stasio et al. (2019) by name; each a time-stepping formula with a contact law."""

from __future__ import annotations

from .. import arguments
from ..contact.contact_set import Contacts, as_contact
from ..systems.system import System
from .acary_bonnefon import AcaryBonnefon
from .central.central_differences import CentralDifferences
from .central.implicit_velocity import CDLagrangeImplicit
from .impulses.both_levels import BothLevels
from .impulses.contact_laws import PositionLevel, VelocityLevel
from .one_step.newmark import Newmark
from .one_step.theta_method import ThetaMethod
from .options import CONSISTENT, LUMPED, POSITION, THETA, TOUCHING
from .requirements import UNSTEADY

__all__ = [
    "AcaryBonnefon",
    "CDLagrange",
    "CDLagrangeImplicit",
    "Carpenter",
    "CarpenterImplicit",
    "MoreauJean",
    "MoreauJeanDecoupled",
    "PaoliSchatzman",
]


class CDLagrange(CentralDifferences):
    """CD-Lagrange: central differences, contact at velocity level, lumped mass. Explicit.

    Fekak et al. (2017), (47), Algorithm 2, doi:10.1007/s00466-017-1397-0; Di Stasio et al., Adv. Model.
    Simul. Eng. Sci. 6 (2019), Algorithm 1, doi:10.1186/s40323-019-0126-y::

        u_{n+1} = u_n + h v_{n+1/2}
        M (v_{n+3/2} - v_{n+1/2}) = h F(t_{n+1}, u_{n+1}, v_{n+1/2}) + L^T r
        where g(u_{n+1}) <= 0:  0 <= L (v_{n+3/2} + e v_{n+1/2})  _|_  r >= 0

    The step is :meth:`.CentralDifferences.advance`, the law :class:`.VelocityLevel`.

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, a list of contacts, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A step that is not positive or above the critical one.
    """

    compiled_loop = CentralDifferences.compiled_loop
    paper = "Fekak, Brun, Gravouil, Depale, Comput. Mech. 60 (2017)"
    equations = "(47), Algorithm 2; balance (84)"
    order = "2 without impact, 1 with"
    conserves = "linear and angular momentum, the discrete energy (84)"
    step_limit = "h <= 2 / omega_max"
    contact_level = "velocity"
    law = VelocityLevel
    options = {**LUMPED, **TOUCHING}

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        arguments.time_step(dt)
        super().__init__(system, dt, type(self).law(contact), allow_unstable=allow_unstable)


class PaoliSchatzman(CentralDifferences):
    """Paoli-Schatzman: central differences, contact at position level, lumped mass. Explicit.

    Paoli and Schatzman, SIAM J. Numer. Anal. 40 (2002), doi:10.1137/S0036142900378728; Di Stasio et al.
    (2019), (20)-(24)::

        M (u_{n+1} - 2 u_n + u_{n-1}) / h^2 = F_n + L^T lambda_n
        0 <= g((u_{n+1} + e u_{n-1}) / (1 + e))  _|_  lambda_n >= 0

    in the leapfrog form of :class:`.CentralDifferences`; the impulse ``h lambda_n`` acts at t_n. The law is
    :class:`.PositionLevel`.

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, a list of contacts, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: Friction; a step that is not positive or above the critical one.
    """

    compiled_loop = CentralDifferences.compiled_loop
    paper = "Paoli, Schatzman, SIAM J. Numer. Anal. 40 (2002)"
    equations = "Di Stasio et al. (2019), (20)-(24); balance (84) of Fekak et al. (2017)"
    order = "2 without impact, 1 with"
    conserves = "the discrete energy (84) without contact; no penetration of (u_{n+1} + e u_{n-1})/(1 + e)"
    step_limit = "h <= 2 / omega_max"
    contact_level = "position"
    law = PositionLevel
    options = LUMPED

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        arguments.time_step(dt)
        super().__init__(system, dt, type(self).law(contact), allow_unstable=allow_unstable)


class Carpenter(PaoliSchatzman):
    """Carpenter's forward increment Lagrange multipliers: Paoli-Schatzman with e = 0. Explicit.

    Carpenter, Taylor and Katona, Int. J. Numer. Methods Eng. 32 (1991), doi:10.1002/nme.1620320107;
    Di Stasio et al. (2019), (14)-(18). No point penetrates at any step.

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, with restitution 0, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A contact with restitution or friction; a step that is not positive or above the
            critical one.
    """

    compiled_loop = CentralDifferences.compiled_loop
    paper = "Carpenter, Taylor, Katona, Int. J. Numer. Methods Eng. 32 (1991)"
    equations = "Di Stasio et al. (2019), (14)-(18); balance (84) of Fekak et al. (2017)"
    conserves = "the discrete energy (84) without contact; no penetration"

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        arguments.time_step(dt)
        contact = as_contact(contact)
        if contact is not None and contact.restitution > 0:
            raise ValueError(
                f"Carpenter's scheme has no restitution, but the contact has {contact.restitution}: "
                "set it to 0, or take PaoliSchatzman"
            )
        super().__init__(system, dt, contact, allow_unstable=allow_unstable)


class CarpenterImplicit(Newmark):
    """Carpenter's implicit scheme: Newmark (1/4, 1/2), contact at position level. Implicit.

    Carpenter, Taylor and Katona (1991), doi:10.1002/nme.1620320107; Di Stasio et al. (2019), Fig. 3. The
    reaction remains in the acceleration of the next step, which makes impacts unstable.

    Args:
        system: A linear system.
        dt: Time step [s].
        contact: The contact, flat and with restitution 0, or None.
        mass: ``"consistent"`` or ``"lumped"``.

    Raises:
        ValueError: A system that is not linear, a contact with restitution or friction.
    """

    paper = "Carpenter, Taylor, Katona, Int. J. Numer. Methods Eng. 32 (1991)"
    equations = "Newmark (1/4, 1/2) with 0 <= g(u_{n+1}) _|_ lambda_{n+1} >= 0"
    order = "2 without impact"
    conserves = "energy of linear systems without contact; no penetration"
    step_limit = "impacts are unstable at any h"
    contact_level = "position"
    law = PositionLevel
    options = CONSISTENT
    own_balance = False

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, mass: str = "consistent"
    ) -> None:
        arguments.time_step(dt)
        super().__init__(system, dt, type(self).law(contact), beta=0.25, gamma=0.5, mass=mass)


class MoreauJean(ThetaMethod):
    """Moreau-Jean: theta method, contact at velocity level, coupled. Implicit.

    Jean, Comput. Methods Appl. Mech. Eng. 177 (1999), doi:10.1016/S0045-7825(98)00383-1; Di Stasio et al.
    (2019), Moreau-Jean's scheme::

        M (v_{n+1} - v_n) = h F_theta + L^T r,   u_{n+1} = u_n + h v_theta
        where g(u_n + forecast h v_n) <= 0:  0 <= L (v_{n+1} + e v_n)  _|_  r >= 0

    with x_theta = (1 - theta) x_n + theta x_{n+1}; the contact operator is
    ``L (M + h^2 theta^2 K)^-1 L^T``; with friction normal and tangential impulses are found together,
    Coulomb's law on v_{n+1}. Linear systems under constant loads are factorised once; all
    others take Newton iterations with a line search, contact inside them (:class:`.ThetaMethod`).

    Contact at velocity level never gives back the penetration of the first touch, which grows with the step.
    With ``position=True`` a step has two contact problems: no point penetrates at its end, and its velocity
    follows Newton's law (:class:`.PositionStep`). That is for contact that lasts, at steps far above the
    critical one; take theta = 1 for slow processes, since theta = 1/2 does not damp and rings about rest.

    Args:
        system: The system.
        dt: Time step [s].
        theta: Weight of the end of the step, in [0, 1]; 1/2 conserves energy.
        contact: The contact, a list of contacts, or None.
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``; by default consistent, with ``position`` lumped.
        position: Whether contact is at position and velocity level, with theta of at least 1/2.
        closing: With ``position``, the time T [s] in which points that are inside at the start are pushed out
            (a shrink fit, a bolt that is too long): ``g >= g_0 (1 - t/T)``, g_0 fixed for each point at the
            start, which ``allow_penetration=True`` must accept. None: within the first step.
        force: F_theta is the mean of the forces at both ends (``"trapezoid"``), or the force at
            the mean state (``"midpoint"``); the same for linear systems under constant loads.

    Raises:
        ValueError: A step that is not positive, theta or forecast outside [0, 1], an unknown
            mass or force; with ``position`` theta below 1/2, a consistent mass; (by ``start``) with
            ``closing`` surfaces that overlap deeper than their gaps are seen, about a cell.
        NotConverged: (by ``step``) no equilibrium of contact, with ``position`` not in 256 parts of a step.
    """

    compiled_loop = ThetaMethod.compiled_loop
    paper = "Jean, Comput. Methods Appl. Mech. Eng. 177 (1999)"
    equations = "theta method; Di Stasio et al. (2019), Moreau-Jean's scheme"
    order = "2 without impact (theta = 1/2), 1 with"
    conserves = "energy of linear systems (theta = 1/2)"
    step_limit = "none (theta >= 1/2)"
    contact_level = "velocity"
    law = VelocityLevel
    options = {**THETA, **POSITION}

    def __init__(
        self,
        system: System,
        dt: float,
        theta: float = 0.5,
        contact: Contacts = None,
        *,
        forecast: float = 0.5,
        mass: str | None = None,
        force: str = "trapezoid",
        position: bool = False,
        closing: float | None = None,
    ) -> None:
        arguments.time_step(dt)
        if arguments.is_contact(theta):
            raise ValueError("the third argument is theta: give the contact by its name, contact=...")
        for name, value in (("theta", theta), ("forecast", forecast)):
            arguments.number(name, value, "lie in [0, 1]", least=0.0, most=1.0)
        arguments.contact(contact)
        arguments.system(system)
        if force not in ("trapezoid", "midpoint"):
            raise ValueError(f"force must be 'trapezoid' or 'midpoint', not {force!r}")
        self.force, position = force, arguments.flag("position", position)
        if position and not self.coupled:
            raise ValueError(f"{type(self).__name__} has no position problem: take MoreauJean(position=True)")
        if mass is None:
            mass = "lumped" if position else "consistent"
        super().__init__(
            system,
            dt,
            BothLevels(contact) if position else type(self).law(contact),
            theta=theta,
            forecast=forecast,
            mass=mass,
            midpoint=force == "midpoint",
            closing=closing,
        )


class MoreauJeanDecoupled(MoreauJean):
    """Moreau-Jean with the impulse found after a step without contact: :class:`MoreauJean` otherwise.

    ``r = max(0, -L (v_free + e v_n) / H)`` with ``H = L M^-1 L^T``, and ``v_{n+1} = v_free + M^-1 L^T r``.
    Where forces depend on the velocity they are those of the step without contact: drag carries a part
    ``c h / (2 m)`` of what rests on an obstacle. It has no energy balance of its own, and with large
    rotations it loses the angular momentum that Di Stasio et al. (2019), Fig. 16, report,
    doi:10.1186/s40323-019-0126-y.
    """

    compiled_loop = ThetaMethod.compiled_loop
    paper = "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019), as its Fig. 16 was computed"
    equations = "theta method without contact, then r = max(0, -L (v_free + e v_n) / (L M^-1 L^T))"
    conserves = "nothing with contact"
    remarks = dict.fromkeys(UNSTEADY, "with the lumped mass")
    options = THETA
    coupled = False
