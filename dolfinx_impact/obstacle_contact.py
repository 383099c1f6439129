"""Contact of points and of a body's nodes with rigid obstacles."""

from __future__ import annotations

from typing import Callable

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from . import arguments, cones, parallel
from .body import Body
from .contact import Contact
from .obstacles import Obstacle
from .rows import Rows, coordinate_order
from .system import System

#: Nodes may lie that deep in an obstacle at the start, by rounding; part of the body's length.
_TOUCHING = 1e-9


class ObstacleContact(Contact):
    """Points against a rigid obstacle: one row for every point and face of the obstacle.

    Args:
        system: The system.
        dofs: Dofs of each point's directions, owned by this rank, shape (p, gdim).
        obstacle: The shape; a corner, a union have several faces.
        x: Positions of the points at zero displacement, shape (p, gdim) [m]; by default zero,
            where the dofs are positions themselves.
        order: Keys that sort the points of all ranks, shape (p, m); by default x.
        restitution: Newton's coefficient e of every point, 0 to 1.
        gap_tolerance: See :class:`Contact`.
        touching: See :class:`Contact`.
        friction: Coulomb's coefficient mu, at least 0; none on a line.

    Raises:
        ValueError: An obstacle of another dimension, dofs that are not there or held; see :class:`Contact`.
    """

    #: What the points are on, in messages.
    _where = "points"

    def __init__(
        self,
        system: System,
        dofs: ArrayLike,
        obstacle: Obstacle,
        *,
        x: NDArray | None = None,
        order: NDArray | None = None,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
    ) -> None:
        arguments.system(system)
        arguments.obstacle(obstacle)
        numbers = _point_dofs(system, dofs)
        self.system, self.obstacle = system, obstacle
        self.faces = tuple(getattr(obstacle, "faces", (obstacle,)))
        self.moving = bool(getattr(obstacle, "moving", False))
        self.constant = all(face.flat for face in self.faces) and not self.moving
        # Functions of the user's may fail on one rank alone.
        self._fallible = any(getattr(face, "fallible", True) for face in self.faces)
        count = len(self.faces)
        keys = numbers[:, :1].astype(np.float64) if order is None else order
        if count > 1:
            keys = np.column_stack([np.repeat(keys, count, axis=0), np.tile(np.arange(count), len(keys))])
        numbers = np.repeat(numbers, count, axis=0)
        self._x = np.zeros(numbers.shape) if x is None else np.repeat(x, count, axis=0)
        rows = Rows(numbers, self._together(lambda: self._normals(self._x.copy(), 0.0)), keys)
        super().__init__(
            system, rows, restitution=restitution, gap_tolerance=gap_tolerance, touching=touching,
            friction=friction,
        )  # fmt: skip
        self._gap0 = self._together(lambda: self._gaps(self._x, 0.0))
        self._at = self._x
        self._refuse_held()

    def _refuse_held(self) -> None:
        """Raise a ValueError where an impulse could not move a point. Collective."""
        held = np.any(self.system.held[self.rows.dofs] & ((self.rows.weights != 0.0) | (not self.constant)))
        if self.comm.allreduce(bool(held)):
            raise ValueError(
                f"contact on {self._where} acts on dofs that are held or whose motion is prescribed: free "
                "them or leave them out"
            )

    def _gaps(self, x: NDArray, t: float) -> NDArray:
        """Gap of every row, its point at ``x``, shape (p,) [m]."""
        count, found = len(self.faces), np.empty(len(x))
        at = (t,) if self.moving else ()
        for k, face in enumerate(self.faces):
            found[k::count] = face.gap(x[k::count], *at)
        return found

    def _normals(self, x: NDArray, t: float) -> NDArray:
        count, found = len(self.faces), np.empty(x.shape)
        at = (t,) if self.moving else ()
        for k, face in enumerate(self.faces):
            found[k::count] = face.normal(x[k::count], *at)
        return found

    def gap(self, u: NDArray) -> NDArray:
        """Signed distances of the points at displacement ``u``, shape (p,) [m]."""
        if self.constant:
            return self._gap0 + self.rows(u)
        return self._together(lambda: self._gaps(self._x + u[self.rows.dofs], self.time))

    def evaluate(self, u: NDArray) -> NDArray:
        """:meth:`gap`, and the normals at ``u`` in :attr:`rows`."""
        if self.constant:
            return self.gap(u)
        self._at = self._x + u[self.rows.dofs]

        def look() -> NDArray:
            self.rows.weights[:] = self._normals(self._at, self.time)
            return self._gaps(self._at, self.time)

        return self._together(look)

    def _together(self, look: Callable[[], NDArray]) -> NDArray:
        """What ``look`` gives; where it may fail on one rank alone, it fails on all. Collective."""
        if not self._fallible or self.system.comm.size == 1:
            return look()
        found: NDArray = np.zeros(0)
        error = None
        try:
            found = look()
        except Exception as caught:  # whatever a function of the user's raises
            error = caught
        parallel.agree(self.system.comm, error)
        return found

    def touch(self, u: NDArray) -> NDArray[np.bool_]:
        """See :meth:`.Contact.touch`; points outside of the box around a face are looked at no further."""
        kind = type(self)
        own = (kind.evaluate, kind.gap) != (ObstacleContact.evaluate, ObstacleContact.gap)
        if self.constant or own:
            return super().touch(u)
        self._at = self._x + u[self.rows.dofs]
        return self._together(self._touched)

    def _touched(self) -> NDArray[np.bool_]:
        closed, count = np.zeros(len(self._at), dtype=bool), len(self.faces)
        at = (self.time,) if self.moving else ()
        for k, face in enumerate(self.faces):
            x = self._at[k::count]
            near = _in_box(x, face, at, self.gap_tolerance)
            hit = near[self.closed(face.gap(x[near], *at))] if near.size else near
            if hit.size:
                closed[hit * count + k] = True
                self.rows.weights[hit * count + k] = face.normal(x[hit], *at)
        return closed

    def frames(self) -> NDArray:
        """Normal and tangents, shape (p, gdim, gdim)."""
        weights = self.rows.weights
        return np.concatenate([weights[:, None, :], cones.tangents(weights)], axis=1)

    def surface_velocity(self, t: float) -> NDArray:
        """Velocities of the obstacle where the points are, shape (p, gdim) [m/s]."""
        if not self.moving:
            return np.zeros(self._x.shape)
        count, found = len(self.faces), np.empty(self._x.shape)
        for k, face in enumerate(self.faces):
            found[k::count] = face.velocity(self._at[k::count], t)
        return found


def _point_dofs(system: System, dofs: ArrayLike) -> NDArray[np.int32]:
    """Dofs of each point's directions, shape (p, gdim). Collective."""
    found, error = arguments.local_dofs("each of dofs", dofs, system)
    if error is None and found.size and found.ndim != 2:
        error = ValueError(
            f"dofs must have a row for each point and a column for each direction, as [[0, 1]], but is "
            f"{arguments.shown(dofs)}"
        )
    elif error is None and any(np.unique(row).size < row.size for row in found):
        error = ValueError(f"dofs names a dof twice in one point: {arguments.shown(dofs)}")
    parallel.agree(system.comm, error)
    return found.astype(np.int32)


def _in_box(x: NDArray, face: Obstacle, at: tuple, reach: float) -> NDArray[np.intp]:
    """Numbers of the points in the box outside which the gap to a face is surely positive."""
    inside = np.ones(len(x), dtype=bool)
    if hasattr(face, "bounds"):
        for i, (low, high) in enumerate(zip(*face.bounds(*at))):
            if low > -np.inf:
                inside &= x[:, i] >= low - reach
            if high < np.inf:
                inside &= x[:, i] <= high + reach
    return np.flatnonzero(inside)


class RigidContact(ObstacleContact):
    """The nodes of named facets against a rigid obstacle.

    Args:
        solid: The body.
        facets: Name of the facets that may touch.
        obstacle: The shape.
        restitution: Newton's coefficient e of every node, 0 to 1.
        gap_tolerance: See :class:`Contact`; default 1e-12 times the body's extent.
        touching: See :class:`Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        allow_penetration: Accept nodes that lie inside of the obstacle at zero displacement.

    Raises:
        ValueError: An unknown facet name (the message lists the names), facets without
            nodes, an obstacle of another dimension, contact on held or moved dofs, nodes inside of
            the obstacle (the message names the deepest).
    """

    def __init__(
        self,
        solid: Body,
        facets: str,
        obstacle: Obstacle,
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        allow_penetration: bool = False,
    ) -> None:
        if not isinstance(solid, Body):
            raise ValueError(
                f"the first argument must be the body, a Solid or a Frame, but is {arguments.shown(solid)}"
            )
        arguments.obstacle(obstacle)
        self._where = repr(facets)
        nodes, gdim = solid.nodes(facets), solid.mesh.geometry.dim
        dofs = nodes[:, None] * solid.block + np.arange(gdim)
        super().__init__(
            solid, dofs, obstacle, x=solid.x[nodes, :gdim],
            order=coordinate_order(solid.x[nodes], solid.length),
            restitution=restitution, gap_tolerance=gap_tolerance, touching=touching, friction=friction,
        )  # fmt: skip
        if not allow_penetration:
            self._refuse_penetration(facets)

    def _refuse_penetration(self, facets: str) -> None:
        """Raise a ValueError where nodes lie inside of the obstacle. Collective."""
        deepest = -self._gap0.min(initial=np.inf)
        worst = self.comm.allreduce(float(deepest), op=MPI.MAX)
        if worst <= max(self.gap_tolerance, _TOUCHING * self.system.length):
            return
        mine = self._x[np.argmin(self._gap0)] if deepest == worst else None
        place = next(x for x in self.comm.allgather(mine) if x is not None)
        at = ", ".join(f"{value:.6g}" for value in place)
        raise ValueError(
            f"the obstacle contains nodes of {facets!r} at the start, the deepest at ({at}) m, {worst:.3g} m "
            "inside: move the body or the obstacle, or allow it (allow_penetration=True)"
        )

    def approach(self) -> Rows:
        """Rows that give the displacement of each point towards the obstacle at the start [m]."""
        rows = self.rows
        return Rows(rows.dofs, -rows.weights, rows.order)
