"""Time integrators: a scheme bound to a system, a step and a contact."""

from .acary_bonnefon import AcaryBonnefon
from .base import Integrator, UnstableTimeStep
from .catalogue import SCHEMES
from .catalogue_entry import Scheme
from .central.central_differences import CentralDifferences
from .central.implicit_velocity import CDLagrangeImplicit
from .central.noh_bathe import NohBathe
from .hati import HATI
from .impulses.contact_laws import PositionLevel, VelocityLevel
from .one_step.generalized_alpha import GeneralizedAlpha
from .one_step.newmark import Newmark
from .one_step.quasi_static import Static
from .one_step.theta_method import ThetaMethod
from .options import Option
from .schemes import Carpenter, CarpenterImplicit, CDLagrange, MoreauJean, MoreauJeanDecoupled, PaoliSchatzman
from .static.static_contact import CDLagrangeSingular
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
    "Static",
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
