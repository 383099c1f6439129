"""Nonsmooth impact dynamics for FEniCSx: time integration with unilateral contact, as published.

A *system* ``M dv = F(t, u, v) dt + L^T dr`` with a *contact* (gap function, operator L, contact laws) is
advanced in time by an *integrator*. SI units, float64.

Glossary: the terms of all docstrings and comments. [A] Acary and Brogliato, Numerical Methods for Nonsmooth
Dynamical Systems, Springer (2008); [D] Di Stasio et al. (2019); [F] Fekak et al., Comput. Mech. 60 (2017);
[H] Hughes, The Finite Element Method (1987); [W] Wriggers, Computational Contact Mechanics, Springer (2006);
[X] the documentation of DOLFINx.

=======================  ==================  =========================================================== =====
term                     symbol, name        meaning                                                     from
=======================  ==================  =========================================================== =====
active set               closed              points in contact in a step: their impulse is an unknown    [W]
active side              ActiveSides         side of an obstacle with edges through which a point has    here
                                             entered; defines gap and normal while the point is inside
activation, strict       touching=False      closed only where ``g < -gap_tolerance``, not at ``g = 0``  here
activation, forecast of  forecast            the active set is decided at ``u_n + forecast h v_n``       [A]
approach                 approach            path of a closed point towards the obstacle in a step [m]   here
balance, defect of       residual            energy that a scheme does not account for [J]               here
certificate              certificate         statement whether features passed through each other        here
complementarity          0 <= a _|_ b >= 0   both at least zero, and at least one of them zero           [A]
complementary energy     complementary       ``-dv.M dv / 8``, dv the jump of half-step velocities; with [F]
                                             it the balance of central differences is an identity
constrained dof          constrained         dof whose value is given: fixed, prescribed or outside      [X]
contact laws             e, mu               Signorini; Newton's restitution; Coulomb friction           [A]
contact operator         L                   ``dg/du``; rows give normal velocities, ``L^T r`` acts on   [F]
                                             the system
contact state            at, ContactState    gaps, closed points, L and local bases at given u, v and t   here
critical time step       2 / omega_max       largest stable step of central differences [s]              [H]
Delassus operator        H                   ``L B L^T``: contact velocities per impulse [1/kg], with    [A]
                                             the inverse B of the matrix of the step
drift                    drift_correction    penetration that accumulates with contact at velocity level [A]
face                     faces               part of an obstacle with a row of L of its own              here
feature                  features            vertex, edge or triangle of a surface                       here
free side                g > 0               where bodies are; normals point from the obstacle into it   here
free velocity            v_free              velocity at the end of a step without contact impulses      [A]
gap function             g, gap              signed distance of points from the obstacle [m]             [W]
ghost                    size - owned        dof that another rank owns; not updated unless stated       [X]
HATI                     HATI                heterogeneous asynchronous time integrator: explicit and    [F]
                                             implicit subdomains with two time steps
history variable         past, state         what the next step depends on besides u, v and t            [W]
impulse                  r, r_t              time integral of the contact force in a step [N s]; normal  [A]
                                             ``r >= 0``, tangential
interface                interface           common dofs of the subdomains of HATI                       [F]
local basis              local_bases         normal and tangents of a contact point                      [W]
lumped mass              mass                diagonal mass matrix (row sums, GLL, HRZ)                   [H]
mortar rows              SurfaceContact      rows of L in a weighted mean over facets, for meshes that   [W]
                                             do not match
owned                    owned               dof (or row) stored by this rank; first in local arrays     [X]
penetration              -g                  depth inside the obstacle [m]                               [W]
position level           PositionLevel       complementarity of gap and impulse                          [D]
prescribed motion        prescribed          given displacement of dofs as a function of time            [X]
replicated                                   stored completely on every rank                             [X]
restitution coefficient  e, restitution      Newton: ``L v+ = -e L v-`` where an impulse acts            [A]
singular mass            CDLagrangeSingular  mass matrix with zeros: contact nodes without mass          here
skin                     skin                offset of a surface along its normal [m]                    here
sliding velocity                             ``tangential_velocity``, relative to the obstacle [m/s]     [W]
steady                   steady              forces ``f - K u`` with constant f, no prescribed motion    here
swept rows               swept               rows of features that would meet on the path of a step      here
time level               t, t_v, t_r         time at which an array holds; v of central differences is   [F]
                                             at ``t + h / 2``
tunnelling               thickness           passing through a thin obstacle within one step             here
velocity level           VelocityLevel       complementarity of velocity and impulse on the active set   [A]
=======================  ==================  =========================================================== =====
"""

from . import (
    _requirements,  # noqa: F401  before all that imports DOLFINx
    exact,
    materials,
    mesh,
    output,
    parallel,
    plot,
    signals,
)
from ._version import __version__
from .algebra import complementarity
from .algebra.complementarity import NotConverged
from .algebra.operators import SparseRows
from .contact import obstacles, statics
from .contact.base import Contact
from .contact.bound import DofBound
from .contact.node_pairs import NodePairs
from .contact.obstacle_contact import ObstacleContact
from .contact.obstacles import (
    Box,
    Cone,
    Cylinder,
    MovingObstacle,
    Plane,
    SignedDistance,
    Sphere,
    Torus,
    UnionObstacle,
)
from .contact.rigid_body import RigidBodyContact
from .contact.rigid_contact import RigidContact
from .contact.surfaces import SurfaceContact
from .integrators import (
    HATI,
    SCHEMES,
    AcaryBonnefon,
    Carpenter,
    CarpenterImplicit,
    CDLagrange,
    CDLagrangeImplicit,
    CDLagrangeSingular,
    GeneralizedAlpha,
    Integrator,
    MoreauJean,
    MoreauJeanDecoupled,
    NohBathe,
    PaoliSchatzman,
    Static,
    UnstableTimeStep,
)
from .integrators.energy import EnergyBalance
from .materials import (
    EnergyLaw,
    HistoryLaw,
    J2Plasticity,
    JohnsonCook,
    LinearElastic,
    LinearHardening,
    MooneyRivlin,
    NeoHookean,
    StressLaw,
    StVenantKirchhoff,
    TabulatedHardening,
    Voce,
)
from .mesh import NamedMesh, named
from .output.contact_force import ContactForce
from .output.fields import FieldWriter
from .output.observer import Observer
from .output.peak_stress import PeakStress
from .output.permanent_set import PermanentSet
from .output.result import Result
from .output.rigid_part import rigid_motion
from .output.stress import VonMises
from .simulation import Interrupted, checkpoint, simulate
from .simulation.checkpoint import Checkpoint
from .simulation.step_control import StepControl
from .studies.study import study
from .systems.form_system import FormSystem
from .systems.frame import Frame
from .systems.rigid_body import RigidBody
from .systems.sections import Section
from .systems.solid import Solid
from .systems.system import PointMasses, System

__all__ = [
    "AcaryBonnefon",
    "Box",
    "CDLagrange",
    "CDLagrangeImplicit",
    "CDLagrangeSingular",
    "Carpenter",
    "CarpenterImplicit",
    "Checkpoint",
    "Cone",
    "Contact",
    "ContactForce",
    "Cylinder",
    "DofBound",
    "EnergyBalance",
    "EnergyLaw",
    "FieldWriter",
    "FormSystem",
    "Frame",
    "GeneralizedAlpha",
    "HATI",
    "HistoryLaw",
    "Integrator",
    "Interrupted",
    "J2Plasticity",
    "JohnsonCook",
    "LinearElastic",
    "LinearHardening",
    "MooneyRivlin",
    "MoreauJean",
    "MoreauJeanDecoupled",
    "MovingObstacle",
    "NamedMesh",
    "NeoHookean",
    "NodePairs",
    "NohBathe",
    "NotConverged",
    "Observer",
    "ObstacleContact",
    "PaoliSchatzman",
    "PeakStress",
    "PermanentSet",
    "Plane",
    "PointMasses",
    "Result",
    "RigidBody",
    "RigidBodyContact",
    "RigidContact",
    "SCHEMES",
    "Section",
    "SignedDistance",
    "Solid",
    "SparseRows",
    "Sphere",
    "StVenantKirchhoff",
    "Static",
    "StepControl",
    "StressLaw",
    "SurfaceContact",
    "System",
    "TabulatedHardening",
    "Torus",
    "UnionObstacle",
    "UnstableTimeStep",
    "Voce",
    "VonMises",
    "__version__",
    "checkpoint",
    "complementarity",
    "exact",
    "materials",
    "mesh",
    "named",
    "obstacles",
    "output",
    "parallel",
    "plot",
    "rigid_motion",
    "signals",
    "simulate",
    "statics",
    "study",
]


def __dir__() -> list[str]:
    return sorted(__all__)
