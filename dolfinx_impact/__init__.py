"""Nonsmooth impact dynamics for FEniCSx: bodies that hit things, integrated as published."""

from . import _requirements  # noqa: F401  before all that imports DOLFINx
from . import _moved, exact, materials, mesh, parallel, plot, signals
from ._version import __version__
from .algebra import complementarity
from .algebra.complementarity import NotConverged
from .algebra.operators import Rows
from .contact import obstacles, statics
from .contact.base import Bound, Contact
from .contact.node_pairs import NodePairs
from .contact.obstacle_contact import ObstacleContact, RigidContact
from .contact.obstacles import Box, Cone, Cylinder, Moving, Plane, SignedDistance, Sphere, Torus, Union
from .contact.rigid_body import RigidBodyContact
from .integrators import (
    HATI,
    SCHEMES,
    AcaryBonnefon,
    Carpenter,
    CarpenterImplicit,
    CDLagrange,
    CDLagrangeImplicit,
    Integrator,
    MoreauJean,
    MoreauJeanDecoupled,
    PaoliSchatzman,
    UnstableTimeStep,
)
from .integrators.energy import Balance
from .materials import EnergyLaw, LinearElastic, MooneyRivlin, NeoHookean, StressLaw, StVenantKirchhoff
from .mesh import NamedMesh
from .output.fields import Fields
from .output.observer import Observer
from .output.result import Result
from .output.stress import VonMises
from .simulation import Interrupted, checkpoint, simulate
from .simulation.checkpoint import Checkpoint
from .simulation.step_control import StepControl
from .systems.frame import Frame
from .systems.rigid_body import RigidBody
from .systems.sections import Section
from .systems.solid import Solid
from .systems.system import PointMasses, System

__all__ = [
    "AcaryBonnefon",
    "Balance",
    "Bound",
    "Box",
    "CDLagrange",
    "CDLagrangeImplicit",
    "Carpenter",
    "CarpenterImplicit",
    "Checkpoint",
    "Cone",
    "Contact",
    "Cylinder",
    "EnergyLaw",
    "Fields",
    "Frame",
    "HATI",
    "Integrator",
    "Interrupted",
    "LinearElastic",
    "MooneyRivlin",
    "MoreauJean",
    "MoreauJeanDecoupled",
    "Moving",
    "NamedMesh",
    "NeoHookean",
    "NodePairs",
    "NotConverged",
    "Observer",
    "ObstacleContact",
    "PaoliSchatzman",
    "Plane",
    "PointMasses",
    "Result",
    "RigidBody",
    "RigidBodyContact",
    "RigidContact",
    "Rows",
    "SCHEMES",
    "Section",
    "SignedDistance",
    "Solid",
    "Sphere",
    "StVenantKirchhoff",
    "StepControl",
    "StressLaw",
    "System",
    "Torus",
    "Union",
    "UnstableTimeStep",
    "VonMises",
    "__version__",
    "checkpoint",
    "complementarity",
    "exact",
    "materials",
    "mesh",
    "obstacles",
    "parallel",
    "plot",
    "signals",
    "simulate",
    "statics",
]


_moved.install()


def __getattr__(name: str) -> object:
    return _moved.new_module(name)


def __dir__() -> list[str]:
    return sorted(__all__)
