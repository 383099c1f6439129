"""Time integrators: a scheme bound to a system, a step and a contact."""

from .base import Integrator, UnstableTimeStep
from .catalogue import SCHEMES, Carpenter, CDLagrange, MoreauJean, Option, PaoliSchatzman, Scheme
from .enforcement import PositionLevel, VelocityLevel
from .formulas import CentralDifferences, ThetaMethod
from .newton import NewtonTheta

__all__ = [
    "CDLagrange",
    "Carpenter",
    "CentralDifferences",
    "Integrator",
    "MoreauJean",
    "NewtonTheta",
    "Option",
    "PaoliSchatzman",
    "PositionLevel",
    "SCHEMES",
    "Scheme",
    "ThetaMethod",
    "UnstableTimeStep",
    "VelocityLevel",
]
