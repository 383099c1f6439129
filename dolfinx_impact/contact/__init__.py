"""Gaps ``g(u)`` and their operators ``L``: bounds on dofs, rigid obstacles, pairs of nodes, lists of them.

The laws of the impulses (Signorini, Newton, Coulomb) and their solution live in ``integrators``.
"""

from .base import Contact
from .bound import DofBound
from .node_pairs import NodePairs
from .obstacle_contact import ObstacleContact
from .rigid_body import RigidBodyContact
from .rigid_contact import RigidContact

__all__ = ["DofBound", "Contact", "NodePairs", "ObstacleContact", "RigidBodyContact", "RigidContact"]
