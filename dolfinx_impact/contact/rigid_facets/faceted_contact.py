"""Contact of nodes and of facets between them with a rigid obstacle, as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contact_set import ContactSet
from .facet_points import FacetPoints

if TYPE_CHECKING:
    from ..rigid_contact import RigidContact


class FacetedContact(ContactSet):
    """What ``RigidContact(..., facets=True)`` makes: the contact of the nodes, then that between them.

    Args:
        nodes: The contact of the nodes.

    Attributes:
        members: Both.
        obstacle: The obstacle.
    """

    compiled = None  # type: ignore[assignment]

    def __init__(self, nodes: RigidContact) -> None:
        super().__init__([nodes, FacetPoints(nodes)])
        self.obstacle = nodes.obstacle  # type: ignore[assignment]
