"""Time integrators: a scheme bound to a system, a step and a contact."""

from .base import Integrator, UnstableTimeStep
from .catalogue import SCHEMES
from .enforcement import PositionLevel, VelocityLevel
from .formulas import CentralDifferences, ThetaMethod
from .hati import HATI
from .newton import NewtonTheta
from .own import find_scheme
from .scheme import Option, Scheme
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

__all__ = [
    "AcaryBonnefon",
    "CDLagrange",
    "CDLagrangeImplicit",
    "Carpenter",
    "CarpenterImplicit",
    "CentralDifferences",
    "HATI",
    "Integrator",
    "MoreauJean",
    "MoreauJeanDecoupled",
    "NewtonTheta",
    "Option",
    "PaoliSchatzman",
    "PositionLevel",
    "SCHEMES",
    "Scheme",
    "ThetaMethod",
    "UnstableTimeStep",
    "VelocityLevel",
    "find_scheme",
]
