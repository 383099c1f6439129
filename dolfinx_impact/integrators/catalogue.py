"""What is known of each named scheme: paper, equations, order, conserved quantities, limit, parameters."""

from __future__ import annotations

from typing import Mapping

from . import doyen2011
from .catalogue_entry import Catalogue, Option, Scheme
from .hati import HATI
from .schemes import (
    AcaryBonnefon,
    CDLagrange,
    CDLagrangeImplicit,
    Carpenter,
    CarpenterImplicit,
    MoreauJean,
    MoreauJeanDecoupled,
    PaoliSchatzman,
)


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

SCHEMES: Mapping[str, Scheme] = Catalogue({
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
    **doyen2011.SCHEMES,
    "hati": Scheme(
        HATI,
        "Fekak, Brun, Gravouil, Depale, Comput. Mech. 60 (2017)",
        "(54)-(74), Algorithm 1 (GC method); balance (91)-(93)",
        "2 without impact, 1 with",
        "velocities across the interface, the balance (91) with the energy of the interface",
        "fine step <= 2 / omega_max of the explicit subdomain",
        True,
        "velocity",
        {
            "ratio": Option(10, "-", "fine steps in a coarse one, a whole number from 1 on"),
            "touching": _TOUCHING,
        },
        divided=True,
    ),
})
