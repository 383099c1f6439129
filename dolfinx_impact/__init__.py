"""Nonsmooth impact dynamics for FEniCSx: bodies that hit things, integrated as published."""

import signal as _signal
import sys as _sys

if _sys.argv[:1] == ["-m"]:
    # Python is still looking for a command of ours: until that has started Ctrl-C just ends it.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from . import _requirements  # noqa: F401  before all that imports DOLFINx
from . import checkpoint, mesh, signals, statics
from ._version import __version__
from .checkpoint import Checkpoint
from .complementarity import NotConverged
from .contact import Bound, Contact
from .energy import Balance
from .fields import Fields
from .frame import Frame
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
from .laws import EnergyLaw, LinearElastic, MooneyRivlin, NeoHookean, StressLaw, StVenantKirchhoff
from .mesh import NamedMesh
from .node_pairs import NodePairs
from .obstacle_contact import ObstacleContact, RigidContact
from .obstacles import Box, Cone, Cylinder, Moving, Plane, SignedDistance, Sphere, Torus, Union
from .output import Result
from .rigid_body import RigidBody, RigidBodyContact
from .rows import Rows
from .sections import Section
from .simulation import Interrupted, simulate
from .solid import Solid
from .step_control import StepControl
from .stress import VonMises
from .system import PointMasses, System

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
    "mesh",
    "signals",
    "simulate",
    "statics",
]


def __dir__() -> list[str]:
    return sorted(__all__)
