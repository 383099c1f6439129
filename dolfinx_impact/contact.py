"""Contact: the gap g(u), the operator L = dg/du, and Newton's restitution.

``g > 0`` is open, ``g < 0`` is penetration; the normal n points from the obstacle into
the free side; the normal velocity is ``L v`` and an impulse ``r >= 0`` acts as ``+L^T r``.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from . import cones, parallel
from .body import Body
from .obstacles import Obstacle
from .rows import Rows, coordinate_order
from .system import System

#: Nodes may lie that deep in an obstacle at the start, by rounding; part of the body's length.
_TOUCHING = 1e-9


class Contact:
    """Unilateral contacts of a system: what every scheme needs of them.

    Args:
        system: The system.
        rows: L at the start; a point belongs to the rank that owns its dofs, or where ranks share rows
            (:class:`.SharedRows`, with a constant L) to the rank that owns the row.
        restitution: Newton's coefficient e, 0 to 1.
        gap_tolerance: A gap up to this [m] counts as closed; default 1e-12 times the
            system's length.
        touching: With False, a point is closed only when ``g < -gap_tolerance``.
        friction: Coulomb's coefficient mu.

    Attributes:
        rows: L at the last :meth:`evaluate`.
        count: Number of points on this rank.
        total: Number of points of all ranks.
        mine: Place of this rank's points among those of all ranks, in rank order.
        constant: Whether L never changes.
        moving: Whether the other side moves by itself: see :meth:`surface_velocity`.
        time: Time at which gaps and normals are asked for [s], set by who asks.

    Raises:
        ValueError: A restitution outside [0, 1], a negative tolerance, no point at all.
    """

    constant, moving = True, False
    time = 0.0
    #: How many of a point's dofs are directions of space, the first ones; None: all.
    directions: int | None = None

    def __init__(
        self,
        system: System,
        rows: Rows,
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
    ) -> None:
        if not 0 <= restitution <= 1:
            raise ValueError(f"restitution must lie in [0, 1], but is {restitution}")
        if not (friction >= 0 and np.isfinite(friction)):
            raise ValueError(f"friction must be a coefficient of at least 0, but is {friction}")
        tolerance = 1e-12 * system.length if gap_tolerance is None else gap_tolerance
        if not (tolerance >= 0 and np.isfinite(tolerance)):
            raise ValueError(f"gap_tolerance must be a length of at least 0 m, but is {gap_tolerance}")
        self.system, self.comm, self.rows = system, system.comm, rows
        self.restitution, self.touching = float(restitution), bool(touching)
        self.friction = float(friction)
        self.gap_tolerance, self.count = float(tolerance), rows.count
        counts = self.comm.allgather(self.count)
        self.total, before = sum(counts), sum(counts[: self.comm.rank])
        self.mine = slice(before, before + self.count)
        if self.total == 0:
            raise ValueError("the contact has no points: name facets that have nodes of the body")

    def gap(self, u: NDArray) -> NDArray:
        """Gap at the positions ``u`` at :attr:`time`, shape (p,) [m]."""
        raise NotImplementedError

    def evaluate(self, u: NDArray) -> NDArray:
        """Gap at the positions ``u``, shape (p,) [m]; brings :attr:`rows` up to date.

        Points that are surely open may be given the gap ``inf``.
        """
        return self.gap(u)

    def frames(self) -> NDArray:
        """Normal and tangential rows on the dofs of each point at the last :meth:`evaluate`, shape (p, d, k).

        Tangential rows give the velocity along orthonormal tangents; without any d is 1.
        """
        return self.rows.weights[:, None, :]

    def surface_velocity(self, t: float) -> NDArray:
        """Velocities of the other side at the points, on their dofs, shape (p, k) [m/s].

        At the positions of the last :meth:`evaluate`; zero where nothing is :attr:`moving`.
        """
        return np.zeros(self.rows.dofs.shape)

    def approach_velocity(self, v: NDArray, t: float) -> NDArray:
        """``L v`` less the normal velocity of the other side at ``t``, shape (p,) [m/s]."""
        found = self.rows(v)
        if self.moving:
            found -= np.einsum("pk,pk->p", self.rows.weights, self.surface_velocity(t))
        return found

    def closed(self, gap: NDArray) -> NDArray[np.bool_]:
        """Which points count as closed, shape (p,)."""
        return gap <= self.gap_tolerance if self.touching else gap < -self.gap_tolerance

    def slip(self, v: NDArray, t: float = 0.0) -> NDArray:
        """Tangential velocities of the points against the other side at ``t``, shape (p, gdim) [m/s].

        Only where the columns of L are the directions of space, as for obstacles.
        """
        velocity = v[self.rows.dofs]
        if self.moving:
            velocity -= self.surface_velocity(t)
        normal = np.einsum("pk,pk->p", self.rows.weights, velocity)
        return velocity - normal[:, None] * self.rows.weights

    def matrix(self) -> Any:
        """L at the last :meth:`evaluate` as a PETSc matrix, points x dofs, in rank order. Collective."""
        return self.rows.petsc_matrix(self.comm, self.system.owned, self.system.global_dofs())


class Bound(Contact):
    """A bound on one dof, or on each of several: ``u >= lower`` or ``u <= upper``.

    Args:
        system: The system.
        dof: Number of the dof, or of several, each a contact of its own. Where several ranks
            share the system: a list of local numbers, empty on ranks that own none of them.
        lower: Smallest value allowed; or
        upper: largest value allowed (give one of the two).
        restitution: Newton's coefficient e, 0 to 1.
        gap_tolerance: See :class:`Contact`; default 1e-12 times the system's length.
        touching: See :class:`Contact`.

    Raises:
        ValueError: Not exactly one bound, or a dof that does not exist.
    """

    def __init__(
        self,
        system: System,
        dof: int | Sequence[int],
        *,
        lower: float | None = None,
        upper: float | None = None,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
    ) -> None:
        if (lower is None) == (upper is None):
            raise ValueError("give either lower= or upper=")
        dofs = np.array(dof, dtype=np.float64).reshape(-1, 1)
        error = None
        if not np.all((dofs >= 0) & (dofs < system.owned) & (dofs == np.floor(dofs))):
            error = ValueError(f"dof must be one of the {system.owned} dofs 0, 1, ..., but is {dof}")
        elif system.comm.size > 1 and np.ndim(dof) == 0:
            error = ValueError("several ranks share the system: give a list of the dofs of this rank")
        elif np.any(system.held[dofs.astype(np.intp)]):
            error = ValueError("a bound acts on dofs that are held: free them or leave them out")
        parallel.agree(system.comm, error)
        name, sign, value = ("lower", 1.0, lower) if lower is not None else ("upper", -1.0, upper)
        if value is None or not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number, but is {value}")
        self.value = float(value)
        number = system.global_dofs()[dofs.astype(np.intp)]
        rows = Rows(dofs, np.full(dofs.shape, sign), number)
        super().__init__(
            system, rows, restitution=restitution, gap_tolerance=gap_tolerance, touching=touching
        )

    def gap(self, u: NDArray) -> NDArray:
        """``u - lower`` or ``upper - u``, shape (p,)."""
        return self.rows.weights[:, 0] * (u[self.rows.dofs[:, 0]] - self.value)


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
        ValueError: An obstacle of another dimension; see :class:`Contact`.
    """

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
        numbers = np.asarray(dofs, dtype=np.int32)
        self.obstacle = obstacle
        self.faces = tuple(getattr(obstacle, "faces", (obstacle,)))
        self.moving = bool(getattr(obstacle, "moving", False))
        self.constant = all(face.flat for face in self.faces) and not self.moving
        count = len(self.faces)
        keys = numbers[:, :1].astype(np.float64) if order is None else order
        if count > 1:
            keys = np.column_stack([np.repeat(keys, count, axis=0), np.tile(np.arange(count), len(keys))])
        numbers = np.repeat(numbers, count, axis=0)
        self._x = np.zeros(numbers.shape) if x is None else np.repeat(x, count, axis=0)
        rows = Rows(numbers, self._normals(self._x.copy(), 0.0), keys)
        super().__init__(
            system, rows, restitution=restitution, gap_tolerance=gap_tolerance, touching=touching,
            friction=friction,
        )  # fmt: skip
        self._gap0 = self._gaps(self._x, 0.0)
        self._at = self._x

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
        return self._gaps(self._x + u[self.rows.dofs], self.time)

    def evaluate(self, u: NDArray) -> NDArray:
        """:meth:`gap`, and the normals at ``u`` in :attr:`rows`, near the obstacle alone."""
        if self.constant:
            return self.gap(u)
        t = self.time
        self._at = x = self._x + u[self.rows.dofs]
        near = self._near(x, t)
        if near.all():
            self.rows.weights[:] = self._normals(x, t)
            return self._gaps(x, t)
        gap = np.full(len(x), np.inf)
        if near.any():
            self.rows.weights[near], gap[near] = self._normals(x[near], t), self._gaps(x[near], t)
        return gap

    def _near(self, x: NDArray, t: float) -> NDArray[np.bool_]:
        """Which points may be closed: in the box around the obstacle; a point with all its faces."""
        if not hasattr(self.obstacle, "bounds"):
            return np.ones(len(x), dtype=bool)
        low, high = self.obstacle.bounds(t)
        reach = self.gap_tolerance
        return np.all((x >= np.asarray(low) - reach) & (x <= np.asarray(high) + reach), axis=1)

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
        nodes, gdim = solid.nodes(facets), solid.mesh.geometry.dim
        dofs = nodes[:, None] * solid.block + np.arange(gdim)
        super().__init__(
            solid, dofs, obstacle, x=solid.x[nodes, :gdim],
            order=coordinate_order(solid.x[nodes], solid.length),
            restitution=restitution, gap_tolerance=gap_tolerance, touching=touching, friction=friction,
        )  # fmt: skip
        held = np.any(solid.held[self.rows.dofs] & ((self.rows.weights != 0.0) | (not self.constant)))
        if solid.comm.allreduce(bool(held)):
            raise ValueError(
                f"contact on {facets!r} acts on dofs that are held or whose motion is prescribed: free them "
                "or leave them out"
            )
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
