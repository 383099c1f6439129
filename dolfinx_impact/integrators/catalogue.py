"""The named schemes: each a combination of a formula, a contact enforcement and a mass.

``SCHEMES`` says of each where it is published, its order, what it conserves, its limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from ..contact import Contact
from ..system import System
from .base import Integrator
from .enforcement import VelocityLevel
from .formulas import CentralDifferences, ThetaMethod


def CDLagrange(
    system: System, dt: float, contact: Contact | None = None, *, allow_unstable: bool = False
) -> CentralDifferences:
    """CD-Lagrange: central differences, contact at velocity level, lumped mass. Explicit.

    Fekak et al., Comput. Mech. 60 (2017), (47); Di Stasio et al., Comput. Part. Mech. (2019),
    Algorithm 1::

        u_{n+1} = u_n + h v_{n+1/2}
        M (v_{n+3/2} - v_{n+1/2}) = h F(t_{n+1}, u_{n+1}, v_{n+1/2}) + L^T r
        where g(u_{n+1}) <= 0:  0 <= L (v_{n+3/2} + e v_{n+1/2})  _|_  r >= 0

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A step that is not positive or above the critical one.
    """
    return CentralDifferences(system, dt, VelocityLevel(contact), allow_unstable=allow_unstable)


def MoreauJean(
    system: System,
    dt: float,
    theta: float = 0.5,
    contact: Contact | None = None,
    *,
    forecast: float = 0.5,
    mass: str = "consistent",
) -> ThetaMethod:
    """Moreau-Jean: theta method, contact at velocity level, coupled. Implicit.

    Jean, Comput. Methods Appl. Mech. Eng. 177 (1999); Di Stasio et al. (2019), Moreau-Jean's
    scheme::

        M (v_{n+1} - v_n) = h F_theta + L^T r,   u_{n+1} = u_n + h v_theta
        where g(u_n + forecast h v_n) <= 0:  0 <= L (v_{n+1} + e v_n)  _|_  r >= 0

    with x_theta = (1 - theta) x_n + theta x_{n+1}; the contact operator is
    ``L (M + h^2 theta^2 K)^-1 L^T``.

    Args:
        system: A linear system.
        dt: Time step [s].
        theta: Weight of the end of the step, in [0, 1]; 1/2 conserves energy.
        contact: The contact, or None.
        forecast: Part of the step over which the gap is forecast, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``.

    Raises:
        ValueError: A step that is not positive, theta or forecast outside [0, 1].
    """
    return ThetaMethod(
        system, dt, VelocityLevel(contact), theta=theta, forecast=forecast, mass=mass
    )


@dataclass(frozen=True)
class Option:
    """A parameter of a scheme or a case: default, unit, meaning, and what is allowed."""

    default: Any
    unit: str
    help: str
    allowed: tuple = ()


@dataclass(frozen=True)
class Scheme:
    """An entry of the catalogue."""

    make: Callable[..., Integrator]
    paper: str
    equations: str
    order: str
    conserves: str
    limit: str
    explicit: bool
    parameters: Mapping[str, Option] = field(default_factory=dict)


_MASS = Option("consistent", "-", "mass matrix", ("lumped", "consistent"))

SCHEMES: Mapping[str, Scheme] = {
    "cd-lagrange": Scheme(
        CDLagrange,
        "Fekak, Brun, Gravouil, Depale, Comput. Mech. 60 (2017)",
        "(47), Algorithm 2; balance (84)",
        "2 without impact, 1 with",
        "linear and angular momentum, the discrete energy (84)",
        "h <= 2 / omega_max",
        True,
        {"mass": Option("lumped", "-", "mass matrix", ("lumped",))},
    ),
    "moreau-jean": Scheme(
        MoreauJean,
        "Jean, Comput. Methods Appl. Mech. Eng. 177 (1999)",
        "theta method; Di Stasio et al. (2019), Moreau-Jean's scheme",
        "2 without impact (theta = 1/2), 1 with",
        "energy of linear systems (theta = 1/2)",
        "none (theta >= 1/2)",
        False,
        {
            "theta": Option(0.5, "-", "weight of the end of the step, 0 to 1"),
            "forecast": Option(0.5, "-", "part of the step over which the gap is forecast, 0 to 1"),
            "mass": _MASS,
        },
    ),
}
