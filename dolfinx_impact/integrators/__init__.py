"""Time integrators: a scheme bound to a system, a step and a contact."""

from .base import Integrator, UnstableTimeStep
from .catalogue import SCHEMES, CDLagrange, MoreauJean, Option, Scheme
from .enforcement import VelocityLevel
from .formulas import CentralDifferences, ThetaMethod

__all__ = [
    "CDLagrange",
    "CentralDifferences",
    "Integrator",
    "MoreauJean",
    "Option",
    "SCHEMES",
    "Scheme",
    "ThetaMethod",
    "UnstableTimeStep",
    "VelocityLevel",
]
