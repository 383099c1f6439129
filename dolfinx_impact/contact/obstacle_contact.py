"""Contact of points and of a body's nodes with rigid obstacles."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import arguments, parallel
from ..algebra import coulomb
from ..algebra.operators import Rows, coordinate_order
from ..systems.body import Body
from ..systems.system import System
from .base import Contact, refuse_penetration
from .held_sides import HeldSides
from .obstacles import Obstacle
from .obstacles.composed import as_obstacle
from .tunnelling import Jumps

#: A point next to an edge counts as outside of a side from here on; part of the body's length.
_MARGIN = 1e-9


class ObstacleContact(Contact):
    """Points against a rigid obstacle: one row for every point and face of the obstacle.

    A point that comes into a box, a bounded cylinder or a cone, or a union with one, is carried by the side
    that it came through as long as it stays inside: see :mod:`.held_sides`.

    Args:
        system: The system.
        dofs: Dofs of each point's directions, owned by this rank, shape (p, gdim).
        obstacle: The shape, or a list of shapes for their :class:`~.obstacles.Union`; a corner, a union have
            several faces.
        x: Positions of the points at zero displacement, shape (p, gdim) [m]; by default zero,
            where the dofs are positions themselves.
        order: Keys that sort the points of all ranks, shape (p, m); by default x.
        restitution: Newton's coefficient e of every point, 0 to 1.
        gap_tolerance: See :class:`Contact`.
        touching: See :class:`Contact`.
        friction: Coulomb's coefficient mu, at least 0; none on a line.
        drift_correction: See :class:`Contact`.
        allow_penetration: See :class:`Contact`.

    Raises:
        ValueError: An obstacle of another dimension, dofs that are not there or held; see :class:`Contact`.
    """

    #: What the points are on, in messages.
    _where = "points"

    def __init__(
        self,
        system: System,
        dofs: ArrayLike,
        obstacle: Obstacle | Sequence[Obstacle],
        *,
        x: NDArray | None = None,
        order: NDArray | None = None,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        obstacle = as_obstacle(obstacle)
        arguments.system(system)
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
            friction=friction, drift_correction=drift_correction, allow_penetration=allow_penetration,
        )  # fmt: skip
        self._gap0 = self._together(lambda: self._gaps(self._x, 0.0))
        self._at = self._x
        self._known: tuple[NDArray, dict[float, NDArray]] = (self._at, {})
        self._jumps = Jumps(self.faces, self.moving, self.gap_tolerance)
        self.thickness = self._jumps.thickness
        #: What ends the run, where this rank alone may have seen it.
        self.failure: Exception | None = None
        if any(getattr(face, "sides", 1) > 1 for face in self.faces):
            margin = _MARGIN * system.length
            self._sides = HeldSides(self.faces, self._points(), self.gap_tolerance, margin)
        self._refuse_held()

    def _points(self) -> NDArray:
        """Positions of the points at the last look, shape (points, gdim) [m]."""
        return self._at[:: len(self.faces)]

    def places(self, u: NDArray) -> NDArray:
        """Where the points are at the positions ``u``, one a row of L, shape (p, gdim) [m]."""
        return self._x + u[self.rows.dofs]

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
        at, sides = self.places(u), self._sides
        if sides is not None:
            return self._together(lambda: sides.gaps(at[:: len(self.faces)], self.time).ravel())
        return self._together(lambda: self._gaps(at, self.time))

    def evaluate(self, u: NDArray) -> NDArray:
        """:meth:`gap`, and the normals at ``u`` in :attr:`rows`."""
        return self.gap(u) if self.constant else self._evaluate(u, None)

    def evaluate_along(self, u: NDArray, v: NDArray) -> NDArray:
        """See :meth:`.Contact.evaluate_along`."""
        return self.evaluate(u) if self._sides is None else self._evaluate(u, v)

    def _evaluate(self, u: NDArray, v: NDArray | None) -> NDArray:
        self._at = self.places(u)

        def look() -> NDArray:
            if self._sides is not None:
                self._hold(v)
                self._watch_ways()
                gaps, normals = self._sides.rows(np.arange(len(self._points())), self._points(), self.time)
                self.rows.weights[:] = normals.reshape(self.rows.weights.shape)
                return gaps.ravel()
            self._watch_ways()
            self.rows.weights[:] = self._normals(self._at, self.time)
            return self._gaps(self._at, self.time)

        return self._together(look)

    def _hold(self, v: NDArray | None) -> NDArray[np.intp]:
        """Find the sides that points hold at the last look; the points that were looked at."""
        assert self._sides is not None
        x, at = self._points(), (self.time,) if self.moving else ()
        near = np.unique(np.concatenate([_in_box(x, face, at, self.gap_tolerance) for face in self.faces]))
        velocity = None if v is None else v[self.rows.dofs[:: len(self.faces)]]
        self._sides.look(near, x, self.time, velocity)
        return np.flatnonzero((self._sides.held >= 0).any(axis=1))

    def _together(self, look: Callable[[], Any]) -> Any:
        """What ``look`` gives; where it may fail on one rank alone, it fails on all. Collective."""
        return parallel.together(self.system.comm, look) if self._fallible else look()

    def touch(self, u: NDArray, v: NDArray | None = None) -> NDArray[np.bool_]:
        """See :meth:`.Contact.touch`; points outside of the box around a face are looked at no further."""
        kind = type(self)
        own = (kind.evaluate, kind.gap) != (ObstacleContact.evaluate, ObstacleContact.gap)
        if self.constant or own:
            return super().touch(u, v)
        self._at = self.places(u)
        return self._together(lambda: self._touched(v))

    def _touched(self, v: NDArray | None) -> NDArray[np.bool_]:
        closed, count = np.zeros(len(self._at), dtype=bool), len(self.faces)
        if self._sides is not None:
            held = self._hold(v)
            self._watch_ways()
            x = self._points()[held]
            gaps, normals = self._sides.rows(held, x, self.time, held_only=True)
            acting = self.closed(gaps) & (self._sides.held[held] >= 0)
            rows = (held[:, None] * count + np.arange(count))[acting]
            closed[rows], self.rows.weights[rows] = True, normals[acting]
            return closed
        self._watch_ways()
        at = (self.time,) if self.moving else ()
        for k, face in enumerate(self.faces):
            x = self._at[k::count]
            near = _in_box(x, face, at, self.gap_tolerance)
            hit = near[self.closed(face.gap(x[near], *at))] if near.size else near
            if hit.size:
                closed[hit * count + k] = True
                self.rows.weights[hit * count + k] = face.normal(x[hit], *at)
        return closed

    # -- what a step leaves to the next one

    def start(self, u: NDArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        self._at, self.failure = self.places(u), None
        self._jumps.keep(self._points(), t)
        sides = self._sides
        if sides is not None:
            self._together(lambda: sides.start(self._points(), t))

    def keep(self) -> None:
        """See :meth:`.Contact.keep`."""
        super().keep()
        self._jumps.keep(self._points(), self.time)

    def resume(self, past: Mapping[str, NDArray]) -> None:
        """See :meth:`.Contact.resume`."""
        super().resume(past)
        self._jumps.forget()

    def _watch_ways(self) -> None:
        """Note points that have jumped over a face since the step before; on one rank an error at once."""
        found = self._jumps.find(self._points(), self.time, self._sides)
        self.failure = self.failure or found  # of several steps within one the first
        if self.failure is not None and self.comm.size == 1:
            raise self.failure

    def frames(self) -> NDArray:
        """Normal and tangents, shape (p, gdim, gdim)."""
        weights = self.rows.weights
        return np.concatenate([weights[:, None, :], coulomb.tangents(weights)], axis=1)

    def surface_velocity(self, t: float) -> NDArray:
        """Velocities of the obstacle where the points are, shape (p, gdim) [m/s].

        Collective where the obstacle moves and ``t`` is another time than before at these positions.
        """
        if not self.moving:
            return np.zeros(self._x.shape)
        if self._known[0] is not self._at:
            self._known = (self._at, {})
        velocities = self._known[1]
        if t not in velocities:
            if len(velocities) > 1:
                velocities.clear()
            velocities[t] = self._together(lambda: self._velocities(t))
        return velocities[t].copy()

    def _velocities(self, t: float) -> NDArray:
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
        obstacle: The shape, or a list of shapes for their :class:`~.obstacles.Union`.
        restitution: Newton's coefficient e of every node, 0 to 1.
        gap_tolerance: See :class:`Contact`; default 1e-12 times the body's extent.
        touching: See :class:`Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        drift_correction: See :class:`Contact`.
        allow_penetration: Accept nodes that lie inside of the obstacle at zero displacement and at the start.

    Raises:
        ValueError: An unknown facet name (the message lists the names), facets without
            nodes, an obstacle of another dimension, contact on held or moved dofs, nodes inside of
            the obstacle (the message names the deepest).
    """

    def __init__(
        self,
        solid: Body,
        facets: str,
        obstacle: Obstacle | Sequence[Obstacle],
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        if not isinstance(solid, Body):
            raise ValueError(
                f"the first argument must be the body, a Solid or a Frame, but is {arguments.shown(solid)}"
            )
        self._where = repr(facets)
        nodes, gdim = solid.nodes(facets), solid.mesh.geometry.dim
        dofs = nodes[:, None] * solid.block + np.arange(gdim)
        super().__init__(
            solid, dofs, obstacle, x=solid.x[nodes, :gdim],
            order=coordinate_order(solid.x[nodes], solid.length),
            restitution=restitution, gap_tolerance=gap_tolerance, touching=touching, friction=friction,
            drift_correction=drift_correction, allow_penetration=allow_penetration,
        )  # fmt: skip
        if not allow_penetration:
            refuse_penetration(self, self._gap0, self._x, f"nodes of {facets!r}")

    def approach(self) -> Rows:
        """Rows that give the displacement of each point towards the obstacle at the start [m]."""
        rows = self.rows
        return Rows(rows.dofs, -rows.weights, rows.order)
