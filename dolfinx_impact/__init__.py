"""Nonsmooth impact dynamics for FEniCSx: bodies that hit things, integrated as published."""

from .complementarity import NotConverged
from .contact import Bound, Contact, Plane, RigidContact
from .energy import Balance
from .integrators import SCHEMES, CDLagrange, Integrator, MoreauJean, UnstableTimeStep
from .laws import LinearElastic
from .mesh import NamedMesh
from .output import Result
from .rows import Rows
from .simulation import Interrupted, simulate
from .solid import Solid
from .system import PointMasses, System

__version__ = "0.1.0"

__all__ = [
    "Balance",
    "Bound",
    "CDLagrange",
    "Contact",
    "Integrator",
    "Interrupted",
    "LinearElastic",
    "MoreauJean",
    "NamedMesh",
    "NotConverged",
    "Plane",
    "PointMasses",
    "Result",
    "RigidContact",
    "Rows",
    "SCHEMES",
    "Solid",
    "System",
    "UnstableTimeStep",
    "simulate",
]
