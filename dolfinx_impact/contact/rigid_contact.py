"""Contact of the nodes of a body with a rigid obstacle."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import arguments, parallel
from .._types import BoolArray, FloatArray, IntArray
from ..algebra.contact_operator import ascending
from ..algebra.operators import SparseRows, coordinate_order
from ..systems.body import Body
from ..systems.continuum import Continuum
from ..systems.outer_facets import collect_facets
from .nodes import ContactNodes
from .obstacle_contact import ObstacleContact
from .obstacles import Obstacle
from .penetration import refuse_penetration
from .pressure import PointFacets, facets_of_nodes, global_nodes
from .rigid_facets.faceted_contact import FacetedContact

logger = logging.getLogger("dolfinx_impact")


class _RigidNodes(ContactNodes):
    """Nodes of named facets, with a point for each face of the obstacle."""

    _contact: RigidContact

    def _find_facets(self) -> PointFacets | None:
        """See :meth:`.ContactNodes.facets`; None for frames."""
        contact = self._contact
        body, outer = contact.system, contact.outer
        if outer is None:
            return None
        assert isinstance(body, Body)
        nodes = contact.L.dofs[:, 0] // body.block
        return facets_of_nodes(outer, global_nodes(body, contact.L, nodes), len(contact.faces))

    def facet_sizes(self) -> FloatArray | None:
        """See :meth:`.ContactNodes.facet_sizes`; None for frames and bodies on a line. Collective."""
        contact = self._contact
        body = contact.system
        if not isinstance(body, Continuum) or body.gdim == 1:
            return None
        return np.repeat(body.facet_sizes(contact.surface)[contact.by_place], len(contact.faces))


class RigidContact(ObstacleContact):
    """Contact of the nodes of named facets with a rigid obstacle.

    Nodes whose displacements are all constrained, as on a clamp that the surface touches, are no points.

    Args:
        solid: The body.
        surface: Name of the potential contact facets, or the number of their tag; ``"boundary"`` for all.
        obstacle: The shape, or a list of shapes for their :class:`~.obstacles.UnionObstacle`.
        restitution: Newton's coefficient e of every node, 0 to 1.
        gap_tolerance: See :class:`Contact`; default 1e-12 times the body's extent.
        touching: See :class:`Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        drift_correction: See :class:`Contact`.
        allow_penetration: Accept nodes that are inside the obstacle at zero displacement and at the start.
        facets: Whether facets touch between their nodes too, where the obstacle is sharper than the mesh: see
            :class:`.FacetPoints`. Then this is a :class:`.FacetedContact`: points between nodes, one a facet
            and face of the obstacle, come after those of the nodes. Schemes with contact at velocity level
            take it, not compiled; ``drift_correction`` is that of the nodes.

    Raises:
        ValueError: An unknown facet name (the message lists the names), facets without
            nodes, an obstacle of another dimension, contact on constrained dofs, nodes inside the
            obstacle (the message names the deepest); ``facets`` with a frame, a body on a line, or a class of
            one's own.
    """

    compiled = ObstacleContact.compiled
    _NODES = _RigidNodes

    def __new__(cls, *given: Any, facets: bool = False, **options: Any) -> Any:
        """The contact; with ``facets`` that of the nodes and of what is between them as one."""
        contact: Any = super().__new__(cls)
        if isinstance(facets, (str, int)) and not isinstance(facets, bool):
            raise ValueError(
                f"facets must be True or False, whether facets touch between their nodes, but is {facets!r}: "
                "the name of the surface is the second argument, surface="
            )
        if not arguments.flag("facets", facets):
            return contact
        if cls is not RigidContact:
            raise ValueError(f"facets=True takes the gaps of RigidContact, not those of {cls.__name__}")
        contact.__init__(*given, facets=True, **options)
        return FacetedContact(contact)

    def __init__(
        self,
        solid: Body,
        surface: str | int,
        obstacle: Obstacle | Sequence[Obstacle],
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
        facets: bool = False,
    ) -> None:
        if not isinstance(solid, Body):
            raise ValueError(
                f"the first argument must be the body, a Solid or a Frame, but is {arguments.shown(solid)}"
            )
        self._where, self.surface = repr(surface), surface
        self.outer = collect_facets(solid, surface) if isinstance(solid, Continuum) else None
        nodes, gdim = solid.nodes(surface), solid.mesh.geometry.dim
        keys = coordinate_order(solid.x[nodes], solid.length)
        if self.outer is not None:
            number = solid.space.dofmap.index_map.local_to_global(nodes)
            keys = np.hstack([keys, np.round(1e6 * self.outer.normals_at(number)) + 0.0])
        self.by_place = ascending(keys)
        self.by_place = self.by_place[_moving(solid, nodes[self.by_place], surface)]
        nodes, keys = nodes[self.by_place], keys[self.by_place]
        dofs = nodes[:, None] * solid.block + np.arange(gdim)
        super().__init__(
            solid,
            dofs,
            obstacle,
            x=solid.x[nodes, :gdim],
            order=keys,
            restitution=restitution,
            gap_tolerance=gap_tolerance,
            touching=touching,
            friction=friction,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )
        # L turns with the normals; directions of a history are those of all runs that continue it.
        self._approach = SparseRows(self.L.dofs, -self.L.weights, self.L.order)
        if not allow_penetration:
            refuse_penetration(self, self._gap0, self._x, f"nodes of {surface!r}")
        if not facets:
            self._warn_of_small_obstacles()

    def _warn_of_small_obstacles(self) -> None:
        """Warn of obstacles that may pass between the nodes nearest to them. Collective."""
        sizes, count = self.nodes.facet_sizes(), len(self.faces)
        for k, face in enumerate(self.faces):
            if sizes is None or not hasattr(face, "bounds"):
                continue
            low, high = self.together(partial(face.bounds, *((0.0,) if self.moving else ())))
            # In space a long thin obstacle passes between nodes, a wide one does not.
            extent = float(np.sort(high - low)[1 if len(low) == 3 else -1])
            gaps = self._gap0[k::count]
            nearest = int(np.argmin(gaps)) if gaps.size else -1
            local = (float(gaps[nearest]), float(sizes[k::count][nearest])) if gaps.size else (np.inf, 0.0)
            size = self.comm.allreduce(local, op=MPI.MIN)[1]
            if extent < size and self.comm.rank == 0:
                warnings.warn(
                    f"the obstacle is {extent:.3g} m wide, less than the facets of {self.surface!r} near it, "
                    f"{size:.3g} m: it may pass between their nodes, which alone touch it; refine the mesh, "
                    "or let facets touch too (facets=True)",
                    stacklevel=3,
                )

    @property
    def point_nodes(self) -> IntArray:
        """Node of each point, one for all faces, shape (points,)."""
        body = self.system
        assert isinstance(body, Body)
        nodes: IntArray = self.L.dofs[:: len(self.faces), 0] // body.block
        return nodes

    def approach(self) -> SparseRows:
        """Rows for the displacement of each point towards the obstacle, ``-n`` at zero displacement [m]."""
        return self._approach


def _moving(body: Body, nodes: IntArray, surface: str | int) -> BoolArray:
    """Mask of the nodes with a displacement that is free; all where there are none. Collective."""
    dofs = nodes[:, None] * body.block + np.arange(body.gdim)
    held: BoolArray = np.asarray(body.constrained[dofs].all(axis=1))
    count = int(parallel.total(body.comm, int(held.sum())))
    if count == int(parallel.total(body.comm, held.size)):
        return np.ones(held.size, dtype=bool)  # refused with the reason
    if count and body.comm.rank == 0:
        logger.info(
            "%d nodes of %r are fixed or prescribed: they are no points of the contact", count, surface
        )
    return np.logical_not(held)
