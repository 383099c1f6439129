"""The named schemes: each a combination of a formula, a contact enforcement and a mass."""

from __future__ import annotations

from .. import arguments
from ..contact.base import Contact
from ..contact.contact_set import Contacts, as_contact
from ..systems.system import PointMasses, System
from .acary_bonnefon import Combined
from .central_differences import CentralDifferences
from .contact_laws import PositionLevel, VelocityLevel
from .implicit_velocity import ImplicitVelocity
from .newmark import Newmark
from .theta_method import ThetaMethod
from .theta_newton import NewtonTheta


def CDLagrange(
    system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
) -> CentralDifferences:
    """CD-Lagrange: central differences, contact at velocity level, lumped mass. Explicit.

    Fekak et al., Comput. Mech. 60 (2017), (47); Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019),
    Algorithm 1::

        u_{n+1} = u_n + h v_{n+1/2}
        M (v_{n+3/2} - v_{n+1/2}) = h F(t_{n+1}, u_{n+1}, v_{n+1/2}) + L^T r
        where g(u_{n+1}) <= 0:  0 <= L (v_{n+3/2} + e v_{n+1/2})  _|_  r >= 0

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, a list of contacts, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A step that is not positive or above the critical one.
    """
    arguments.time_step(dt)
    return CentralDifferences(system, dt, VelocityLevel(contact), allow_unstable=allow_unstable)


def CDLagrangeImplicit(
    system: PointMasses, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
) -> ImplicitVelocity:
    """CD-Lagrange with velocity-dependent forces at the mean velocity. Implicit in the velocity.

    Di Stasio et al. (2019), 'CD-Lagrange Implicit', the equation after (38)::

        u_{n+1} = u_n + h v_{n+1/2}
        M (v_{n+3/2} - v_{n+1/2}) = h F(t_{n+1}, u_{n+1}, (v_{n+1/2} + v_{n+3/2})/2) + L^T r
        where g(u_{n+1}) <= 0:  0 <= L (v_{n+3/2} + e v_{n+1/2})  _|_  r >= 0

    Newton's method on the velocity, contact inside; :func:`CDLagrange` where no force depends on v.

    Args:
        system: Point masses.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, without friction, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A system that is not one of point masses, friction, a step that is not positive
            or above the critical one.
    """
    arguments.time_step(dt)
    contact = _without_friction(contact, "CD-Lagrange implicit")
    return ImplicitVelocity(system, dt, VelocityLevel(contact), allow_unstable=allow_unstable)


def MoreauJean(
    system: System,
    dt: float,
    theta: float = 0.5,
    contact: Contacts = None,
    *,
    forecast: float = 0.5,
    mass: str = "consistent",
    force: str = "trapezoid",
) -> ThetaMethod | NewtonTheta:
    """Moreau-Jean: theta method, contact at velocity level, coupled. Implicit.

    Jean, Comput. Methods Appl. Mech. Eng. 177 (1999); Di Stasio et al. (2019), Moreau-Jean's
    scheme::

        M (v_{n+1} - v_n) = h F_theta + L^T r,   u_{n+1} = u_n + h v_theta
        where g(u_n + forecast h v_n) <= 0:  0 <= L (v_{n+1} + e v_n)  _|_  r >= 0

    with x_theta = (1 - theta) x_n + theta x_{n+1}; the contact operator is
    ``L (M + h^2 theta^2 K)^-1 L^T``; with friction normal and tangential impulses are found together,
    Coulomb's law on v_{n+1}. Linear systems under constant loads are factorised once; all
    others take Newton iterations with a line search, contact inside them (:class:`NewtonTheta`).

    Args:
        system: The system.
        dt: Time step [s].
        theta: Weight of the end of the step, in [0, 1]; 1/2 conserves energy.
        contact: The contact, a list of contacts, or None.
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``.
        force: F_theta is the mean of the forces at both ends (``"trapezoid"``), or the force at
            the mean state (``"midpoint"``); the same for linear systems under constant loads.

    Raises:
        ValueError: A step that is not positive, theta or forecast outside [0, 1], an unknown
            mass or force.
    """
    return _theta(system, dt, theta, contact, forecast, mass, force, coupled=True)


def _theta(
    system: System, dt: float, theta: float, contact: Contacts, forecast: float, mass: str,
    force: str, coupled: bool,
) -> ThetaMethod | NewtonTheta:  # fmt: skip
    """Moreau-Jean: the factorised step where the system is linear under constant loads, Newton elsewhere."""
    if arguments.is_contact(theta):
        raise ValueError("the third argument is theta: give the contact by its name, contact=...")
    for name, value in (("theta", theta), ("forecast", forecast)):
        arguments.number(name, value, "lie in [0, 1]", least=0.0, most=1.0)
    arguments.contact(contact)
    arguments.system(system)
    if force not in ("trapezoid", "midpoint"):
        raise ValueError(f"force must be 'trapezoid' or 'midpoint', not {force!r}")
    law, weights = VelocityLevel(contact), {"theta": theta, "forecast": forecast}
    if not system.steady:
        midpoint = force == "midpoint"
        return NewtonTheta(system, dt, law, **weights, mass=mass, midpoint=midpoint, coupled=coupled)
    return ThetaMethod(system, dt, law, **weights, mass=mass, coupled=coupled)


def MoreauJeanDecoupled(
    system: System,
    dt: float,
    theta: float = 0.5,
    contact: Contacts = None,
    *,
    forecast: float = 0.5,
    mass: str = "consistent",
    force: str = "trapezoid",
) -> ThetaMethod | NewtonTheta:
    """Moreau-Jean with the impulse found after a step without contact: :func:`MoreauJean` otherwise.

    ``r = max(0, -L (v_free + e v_n) / H)`` with ``H = L M^-1 L^T``, and ``v_{n+1} = v_free + M^-1 L^T r``.
    It has no energy balance of its own, and with large rotations it loses the angular momentum that
    Di Stasio et al. (2019), Fig. 16, report.

    Args:
        system: The system.
        dt: Time step [s].
        theta: Weight of the end of the step, in [0, 1].
        contact: The contact, a list of contacts, or None.
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``.
        force: See :func:`MoreauJean`.

    Raises:
        ValueError: See :func:`MoreauJean`.
    """
    return _theta(system, dt, theta, contact, forecast, mass, force, coupled=False)


def PaoliSchatzman(
    system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
) -> CentralDifferences:
    """Paoli-Schatzman: central differences, contact at position level, lumped mass. Explicit.

    Paoli and Schatzman, SIAM J. Numer. Anal. 40 (2002); Di Stasio et al. (2019), (20)-(24)::

        M (u_{n+1} - 2 u_n + u_{n-1}) / h^2 = F_n + L^T lambda_n
        0 <= g((u_{n+1} + e u_{n-1}) / (1 + e))  _|_  lambda_n >= 0

    in the leapfrog form of :class:`CentralDifferences`; the impulse ``h lambda_n`` acts at t_n.

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, a list of contacts, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A step that is not positive or above the critical one.
    """
    arguments.time_step(dt)
    contact = _without_friction(contact, "contact at position level")
    return CentralDifferences(system, dt, PositionLevel(contact), allow_unstable=allow_unstable)


def Carpenter(
    system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
) -> CentralDifferences:
    """Carpenter's forward increment Lagrange multipliers: Paoli-Schatzman with e = 0. Explicit.

    Carpenter, Taylor, Katona, Int. J. Numer. Methods Eng. 32 (1991); Di Stasio et al. (2019),
    (14)-(18). No point penetrates at any step.

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, with restitution 0, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A contact with restitution; a step that is not positive or above the
            critical one.
    """
    arguments.time_step(dt)
    contact = as_contact(contact)
    if contact is not None and contact.restitution > 0:
        raise ValueError(
            f"Carpenter's scheme has no restitution, but the contact has {contact.restitution}: "
            "set it to 0, or take PaoliSchatzman"
        )
    return PaoliSchatzman(system, dt, contact, allow_unstable=allow_unstable)


def CarpenterImplicit(
    system: System, dt: float, contact: Contacts = None, *, mass: str = "consistent"
) -> Newmark:
    """Carpenter's implicit scheme: Newmark (1/4, 1/2), contact at position level. Implicit.

    Carpenter, Taylor, Katona (1991); Di Stasio et al. (2019), Fig. 3. The reaction stays in the
    acceleration of the next step, which makes impacts unstable.

    Args:
        system: A linear system.
        dt: Time step [s].
        contact: The contact, flat and with restitution 0, or None.
        mass: ``"consistent"`` or ``"lumped"``.

    Raises:
        ValueError: A system that is not linear, a contact with restitution or friction.
    """
    arguments.time_step(dt)
    return Newmark(system, dt, PositionLevel(contact), beta=0.25, gamma=0.5, mass=mass, trapezoid=True)


def AcaryBonnefon(
    system: System,
    dt: float,
    contact: Contacts = None,
    *,
    forecast: float = 0.5,
    mass: str = "consistent",
) -> Combined:
    """The combined scheme: Newton's law and no penetration at once. Implicit.

    Acary and Bonnefon, ENOC (2011), (6), theta = 1/2; see :class:`Combined`.

    Args:
        system: A linear system.
        dt: Time step [s].
        contact: The contact, flat and without friction, or None.
        forecast: Part of the step over which the gap is forecast, in [0, 1]; 1/2 or 1.
        mass: ``"consistent"`` or ``"lumped"``.

    Raises:
        ValueError: A system that is not linear, a contact that does not fit.
    """
    arguments.time_step(dt)
    return Combined(system, dt, contact, forecast=forecast, mass=mass)


def _without_friction(given: Contacts, what: str) -> Contact | None:
    """The contact.

    Raises:
        ValueError: One with friction.
    """
    contact = as_contact(given)
    if contact is not None and contact.friction > 0:
        raise ValueError(
            f"{what} knows no friction, but the contact has {contact.friction}: set it to 0, or take "
            "CDLagrange or MoreauJean"
        )
    return contact
