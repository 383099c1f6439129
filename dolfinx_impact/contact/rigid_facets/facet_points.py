"""Contact of points between the nodes of facets with a rigid obstacle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ... import arguments
from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import coulomb, kernels
from ...algebra.node_rows import NodeRows
from ...algebra.operators import SparseRows
from ...systems.continuum import Continuum
from ..base import Contact
from ..compiled import CompiledContact, Surface
from ..penetration import refuse_penetration
from ..state import ContactState
from .local_minima import LocalMinima, local_minima
from .nodes import FacetNodes
from .parts import Parts
from .tunnelling import PartsTunnelling

if TYPE_CHECKING:
    from ..rigid_contact import RigidContact


class FacetPoints(Contact):
    """One point per facet and face of the obstacle, where their distance is least between the nodes.

    Elements above degree 1 have one for each part of a facet between its nodes. A point exists where the
    signed distance has a local minimum on the surface that is no node's, unless closed nodes next to it with
    normals alike hold it (weights of 0.9 and more); elsewhere its gap is infinite. With
    the element's linear functions ``N_k`` at the place of the minimum::

        L v = n.sum_k N_k v_k,     W v = sum_k N_k v_k

    within a facet n is its normal, on an edge the gradient of the distance without its part along the edge.
    Places are found in each step anew, the contact has no history of its own.

    Args:
        of_nodes: The contact of the nodes of the same facets.

    Attributes:
        body: The body.
        of_nodes: As given.
        faces: Faces of the obstacle.
        parts: The parts of the facets.

    Raises:
        ValueError: A frame or a body on a line; facets inside the obstacle at zero displacement.
    """

    parts: Parts
    constant, velocity_level_only, between_nodes = False, True, True
    L: NodeRows
    _NODES = FacetNodes

    def __init__(self, of_nodes: RigidContact) -> None:
        body = of_nodes.system
        if not isinstance(body, Continuum) or body.gdim == 1:
            what = "one on a line" if isinstance(body, Continuum) else arguments.shown(body)
            raise ValueError(
                "facets=True needs a body whose facets have more than one node, a solid in two or three "
                f"dimensions, not {what}: leave it out"
            )
        self.body, self.of_nodes, self.faces = body, of_nodes, of_nodes.faces
        self.moving, self.thickness = of_nodes.moving, of_nodes.thickness
        self.parts, count = Parts(body, of_nodes.surface), len(of_nodes.faces)
        order = self.parts.order
        keys = np.column_stack([np.repeat(order, count, axis=0), np.tile(np.arange(count), len(order))])
        rows = NodeRows(keys, body.gdim, shared=body.comm.size > 1)
        rows.set_nodes(self.parts.halo)
        super().__init__(
            body,
            rows,
            restitution=of_nodes.restitution,
            gap_tolerance=of_nodes.gap_tolerance,
            touching=of_nodes.touching,
            friction=of_nodes.friction,
            allow_penetration=of_nodes.allow_penetration,
        )
        self._normals, self._places = (np.zeros((self.count, body.gdim)) for _ in range(2))
        self._normals[:, 0] = 1.0
        self._tunnelling = PartsTunnelling(self.faces, self.moving, self.gap_tolerance)
        #: Positions of the nodes at the last evaluation, and its time.
        self._x, self._evaluated_at = self.parts.x, 0.0
        self._of_nodes = np.zeros(body.size)
        if not self.allow_penetration:
            u = np.zeros(body.size)
            what = f"facets of {of_nodes.surface!r} between their nodes"
            refuse_penetration(self, self.gap(u), self.places(u), what)

    @property
    def where(self) -> str:
        """Name of the points in messages."""
        return f"{self.of_nodes.where} between nodes"

    # -- gaps and rows

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Gaps at ``u`` at ``t``, shape (p,) [m]; infinite where there is no point. Collective."""
        return self._found(u, t)[0]

    def _evaluate(self, u: FloatArray, v: FloatArray | None, t: float) -> FloatArray:
        """See :meth:`.Contact.at`: gaps; rows of L for all points with a finite one. Collective."""
        gap, found = self._found(u, t, check=True)
        self._set_rows(found, np.isfinite(gap))
        return gap

    def _active_set(self, u: FloatArray, v: FloatArray | None, t: float) -> BoolArray:
        """See :meth:`.Contact.at`: closed points; other rows are empty. Collective."""
        gap, found = self._found(u, t, self.gap_tolerance, check=True)
        closed = self.closed(gap)
        self._set_rows(found, closed)
        return closed

    def _found(
        self, u: FloatArray, t: float, limit: float = np.inf, *, check: bool = False
    ) -> tuple[FloatArray, list[LocalMinima]]:
        """Gaps, and the local minima for each face. Collective.

        Args:
            u: Displacements [m].
            t: Time [s].
            limit: Gaps above this do not matter [m].
            check: Whether to look for facets that passed through a thin obstacle.
        """
        x, sides = self.parts.positions(u), self._active_sides()
        if check:
            self._x, self._evaluated_at = x, t

        def gaps() -> tuple[FloatArray, list[LocalMinima]]:
            if check:
                self._check_tunnelling(t)
            out, every = np.full(self.count, np.inf), []
            for k in range(len(self.faces)):
                every.append(self._of_face(k, x, t, limit, sides))
                out[self._rows(k, every[-1])] = every[-1].distance
            return out, every

        found: tuple[FloatArray, list[LocalMinima]] = self.of_nodes.together(gaps)
        return found

    def _of_face(self, k: int, x: FloatArray, t: float, limit: float, sides: IntArray | None) -> LocalMinima:
        """The local minima of a face; their distances are those of the sides of the nearest nodes."""
        found = local_minima(
            self.faces[k], self.parts, x, (t,) if self.moving else (), self.gap_tolerance, limit
        )
        edged = self.of_nodes._sides
        if sides is None or edged is None or not found.part.size:
            return found
        corners = self.parts.nodes[found.part]
        ways = np.linalg.norm(x[corners] - found.x[:, None], axis=2)
        side = sides[corners[np.arange(len(corners)), ways.argmin(axis=1)], k]
        on = np.flatnonzero(side >= 0)
        if on.size:
            found.distance[on] = edged.obstacles[k].side_gaps(found.x[on], t)[np.arange(on.size), side[on]]
        return found

    def _active_sides(self) -> IntArray | None:
        """Active sides of the nodes as of the last step of :attr:`of_nodes`, (nodes, faces). Collective."""
        sides, gdim = self.of_nodes._sides, self.body.gdim
        if sides is None:
            return None
        active, nodes = np.full((len(self.parts.x), sides.active.shape[1]), -1), self.of_nodes.point_nodes
        for first in range(0, active.shape[1], gdim):
            part = sides.active[:, first : first + gdim]
            at = nodes[:, None] * self.body.block + np.arange(part.shape[1])
            self._of_nodes[at] = 1.0 + part
            values = np.zeros((len(active), gdim))
            self.parts.halo.gather(self._of_nodes, values)
            self._of_nodes[at] = 0.0
            active[:, first : first + gdim] = values[:, : part.shape[1]].astype(np.int64) - 1
        return active

    def _rows(self, k: int, found: LocalMinima) -> IntArray:
        """Numbers of the points of minima of a face."""
        place: IntArray = np.searchsorted(self.parts.own, found.part)
        return place * len(self.faces) + k

    def _set_rows(self, found: list[LocalMinima], which: BoolArray) -> None:
        """Set the rows of some points, by a mask of shape (p,)."""
        row = np.concatenate([self._rows(k, each) for k, each in enumerate(found)])
        order = np.argsort(row)
        order = order[which[row[order]]]
        part, weights, x, _, n = (np.concatenate(each)[order] for each in zip(*found))
        row = row[order]
        self._normals[row], self._places[row] = n, x
        point, corner = np.nonzero(weights)
        W = weights[point, corner]
        start = np.concatenate([[0], np.cumsum(np.bincount(row[point], minlength=self.count))])
        self.L.set(start, self.parts.nodes[part][point, corner], W[:, None] * n[point], W)

    def places(self, u: FloatArray) -> FloatArray:
        """Positions of the middles of the points' facets at ``u``, shape (p, gdim) [m]. Collective."""
        parts = self.parts
        middles = parts.positions(u)[parts.nodes[parts.own]].mean(axis=1)
        return np.repeat(middles, len(self.faces), axis=0)

    def approach(self) -> SparseRows:
        """No rows: those of the nodes tell how the body approaches."""
        dofs = np.zeros((0, self.body.gdim), dtype=np.int32)
        return SparseRows(dofs, np.zeros(dofs.shape), self.parts.order[:0])

    def local_bases(self) -> FloatArray:
        """Local bases at the last evaluation, shape (p, gdim, gdim): the normal first."""
        return np.concatenate([self._normals[:, None, :], coulomb.tangents(self._normals)], axis=1)

    def surface_velocity(self, t: float) -> FloatArray:
        """Velocities of the obstacle at the points, shape (p, gdim) [m/s]. Collective where it moves."""
        velocities = np.zeros(self._places.shape)
        if self.moving:
            count = len(self.faces)

            def write() -> None:
                for k, face in enumerate(self.faces):
                    velocities[k::count] = face.velocity(self._places[k::count], t)

            self.of_nodes.together(write)
        return velocities

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """None: see :meth:`.Contact.compiled`."""
        raise kernels.NotCompiled("points between nodes make their steps one by one")

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.start`. Collective."""
        super().start(u, t)
        self._x, self._evaluated_at, self.failure = self.parts.positions(u), t, None
        self._accept_paths()

    def accept(self, state: ContactState | None) -> None:
        """See :meth:`.Contact.accept`."""
        super().accept(state)
        self._accept_paths()

    def _accept_paths(self) -> None:
        if self.thickness < np.inf:
            self._tunnelling.accept_step(self._x[self.parts.nodes[self.parts.own]], self._evaluated_at)

    def _check_tunnelling(self, t: float) -> None:
        """Store the error of facets that tunnelled in this step as :attr:`failure`; on one rank raise it."""
        if self.thickness == np.inf:
            return
        error = self._tunnelling.error_at(self._x[self.parts.nodes[self.parts.own]], t)
        self.failure = self.failure or error
        if self.failure is not None and self.comm.size == 1:
            raise self.failure

    def past(self) -> dict[str, AnyArray]:
        """Nothing: see :meth:`.Contact.past`."""
        return {}

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Contact.resume`: the first step after it is not looked at for tunnelling."""
        self._tunnelling.restart()
