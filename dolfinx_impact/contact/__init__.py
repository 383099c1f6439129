"""Gaps ``g(u)`` and operators ``L``: bounds on dofs, rigid obstacles, surfaces, pairs of nodes, lists.

The laws of the impulses (Signorini, Newton, Coulomb) and their solution live in ``integrators``.
"""

from .base import Contact
from .bound import DofBound
from .node_pairs import NodePairs
from .obstacle_contact import ObstacleContact
from .rigid_body import RigidBodyContact
from .rigid_contact import RigidContact
from .state import ContactState, Impulses
from .surfaces import SurfaceContact

__all__ = [
    "DofBound",
    "Contact",
    "ContactState",
    "Impulses",
    "NodePairs",
    "ObstacleContact",
    "RigidBodyContact",
    "RigidContact",
    "SurfaceContact",
]
