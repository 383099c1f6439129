"""What is known of each named scheme: paper, equations, order, conserved quantities, limit, parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from ..contact import Contact
from ..system import System
from .base import Integrator
from .schemes import (
    AcaryBonnefon,
    Carpenter,
    CarpenterImplicit,
    CDLagrange,
    CDLagrangeImplicit,
    MoreauJean,
    MoreauJeanDecoupled,
    PaoliSchatzman,
)


@dataclass(frozen=True)
class Option:
    """A parameter of a scheme or a case: default, unit, meaning, and what is allowed.

    Attributes:
        allowed: The values there are, empty for any.
        words: Words that may stand for a number.
    """

    default: Any
    unit: str
    help: str
    allowed: tuple = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scheme:
    """An entry of the catalogue.

    Attributes:
        explicit: Whether it makes its step without a linear system, from lumped masses.
        contact: Where contact is enforced: ``"velocity"`` or ``"position"``; ``"own"`` for a class of
            the user's, of which nothing is claimed.
    """

    make: Callable[..., Integrator]
    paper: str
    equations: str
    order: str
    conserves: str
    limit: str
    explicit: bool
    contact: str
    parameters: Mapping[str, Option] = field(default_factory=dict)

    def bind(
        self, system: System, dt: float, contact: Contact | None, values: Mapping[str, Any],
        *, allow_unstable: bool = False,
    ) -> Integrator:  # fmt: skip
        """The scheme with its parameters taken from ``values``, not started."""
        options = {name: values[name] for name in self.parameters if name != "touching"}
        if self.explicit:
            options.pop("mass", None)
            options["allow_unstable"] = allow_unstable
        return self.make(system, dt, contact=contact, **options)


_LUMPED = {"mass": Option("lumped", "-", "mass matrix", ("lumped",))}
_MASS = Option("consistent", "-", "mass matrix", ("lumped", "consistent"))
_TOUCHING = Option(
    True, "-", "closed when g <= gap_tolerance; false: when g < -gap_tolerance", (True, False)
)

_THETA = {
    "theta": Option(0.5, "-", "weight of the end of the step, 0 to 1"),
    "forecast": Option(0.5, "-", "part of the step over which the gap is forecast, 0 to 1"),
    "force": Option("trapezoid", "-", "mean of both ends or midpoint", ("trapezoid", "midpoint")),
    "mass": _MASS,
    "touching": _TOUCHING,
}

SCHEMES: Mapping[str, Scheme] = {
    "cd-lagrange": Scheme(
        CDLagrange,
        "Fekak, Brun, Gravouil, Depale, Comput. Mech. 60 (2017)",
        "(47), Algorithm 2; balance (84)",
        "2 without impact, 1 with",
        "linear and angular momentum, the discrete energy (84)",
        "h <= 2 / omega_max",
        True,
        "velocity",
        {**_LUMPED, "touching": _TOUCHING},
    ),
    "cd-lagrange-implicit": Scheme(
        CDLagrangeImplicit,
        "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019)",
        "CD-Lagrange Implicit, the equation after (38); balance (84) of Fekak et al. (2017)",
        "2 without impact, 1 with",
        "linear and angular momentum, the discrete energy (84)",
        "h <= 2 / omega_max",
        True,
        "velocity",
        {**_LUMPED, "touching": _TOUCHING},
    ),
    "paoli-schatzman": Scheme(
        PaoliSchatzman,
        "Paoli, Schatzman, SIAM J. Numer. Anal. 40 (2002)",
        "Di Stasio et al. (2019), (20)-(24); balance (84) of Fekak et al. (2017)",
        "2 without impact, 1 with",
        "the discrete energy (84) without contact; no penetration of (u_{n+1} + e u_{n-1})/(1 + e)",
        "h <= 2 / omega_max",
        True,
        "position",
        _LUMPED,
    ),
    "carpenter": Scheme(
        Carpenter,
        "Carpenter, Taylor, Katona, Int. J. Numer. Methods Eng. 32 (1991)",
        "Di Stasio et al. (2019), (14)-(18); balance (84) of Fekak et al. (2017)",
        "2 without impact, 1 with",
        "the discrete energy (84) without contact; no penetration",
        "h <= 2 / omega_max",
        True,
        "position",
        _LUMPED,
    ),
    "moreau-jean": Scheme(
        MoreauJean,
        "Jean, Comput. Methods Appl. Mech. Eng. 177 (1999)",
        "theta method; Di Stasio et al. (2019), Moreau-Jean's scheme",
        "2 without impact (theta = 1/2), 1 with",
        "energy of linear systems (theta = 1/2)",
        "none (theta >= 1/2)",
        False,
        "velocity",
        _THETA,
    ),
    "moreau-jean-decoupled": Scheme(
        MoreauJeanDecoupled,
        "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019), as its Fig. 16 was computed",
        "theta method without contact, then r = max(0, -L (v_free + e v_n) / (L M^-1 L^T))",
        "2 without impact (theta = 1/2), 1 with",
        "nothing with contact",
        "none (theta >= 1/2)",
        False,
        "velocity",
        _THETA,
    ),
    "carpenter-implicit": Scheme(
        CarpenterImplicit,
        "Carpenter, Taylor, Katona, Int. J. Numer. Methods Eng. 32 (1991)",
        "Newmark (1/4, 1/2) with 0 <= g(u_{n+1}) _|_ lambda_{n+1} >= 0",
        "2 without impact",
        "energy of linear systems without contact; no penetration",
        "impacts are unstable at any h",
        False,
        "position",
        {"mass": _MASS},
    ),
    "combined": Scheme(
        AcaryBonnefon,
        "Acary, Bonnefon, ENOC (2011)",
        "(6), theta = 1/2",
        "2 without impact, 1 with",
        "Newton's law and no penetration at once; energy without contact",
        "none",
        False,
        "position and velocity",
        {"forecast": _THETA["forecast"], "mass": _MASS, "touching": _TOUCHING},
    ),
}
