"""Time integrators: a scheme bound to a system, a step and a contact."""

from .acary_bonnefon import AcaryBonnefon
from .base import Integrator, UnstableTimeStep
from .catalogue import SCHEMES
from .catalogue_entry import Scheme
from .central_differences import CentralDifferences
from .contact_laws import PositionLevel, VelocityLevel
from .generalized_alpha import GeneralizedAlpha
from .hati import HATI
from .implicit_velocity import CDLagrangeImplicit
from .newmark import Newmark
from .noh_bathe import NohBathe
from .options import Option
from .schemes import Carpenter, CarpenterImplicit, CDLagrange, MoreauJean, MoreauJeanDecoupled, PaoliSchatzman
from .static_contact import CDLagrangeSingular
from .theta_method import ThetaMethod
from .user_schemes import find_scheme

__all__ = [
    "AcaryBonnefon",
    "CDLagrange",
    "CDLagrangeImplicit",
    "CDLagrangeSingular",
    "Carpenter",
    "CarpenterImplicit",
    "CentralDifferences",
    "GeneralizedAlpha",
    "HATI",
    "Integrator",
    "MoreauJean",
    "MoreauJeanDecoupled",
    "Newmark",
    "NohBathe",
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
