"""Time integrators: a scheme bound to a system, a step and a contact."""

from .base import Integrator, UnstableTimeStep
from .catalogue import SCHEMES
from .catalogue_entry import Option, Scheme
from .central_differences import CentralDifferences
from .contact_laws import PositionLevel, VelocityLevel
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
from .theta_method import ThetaMethod
from .theta_newton import NewtonTheta
from .user_schemes import find_scheme

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
