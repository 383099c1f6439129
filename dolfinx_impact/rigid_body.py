"""A rigid body in plane motion, and its contact with a rigid obstacle.

The dofs are the position of the centre of mass and the angle, ``q = (x, y, angle)`` [m, m, rad]. A point
of the body at the arm ``a`` from the centre moves with ``(vx, vy) + spin J a``, where J turns a vector by
90 degrees counter-clockwise.
"""

from __future__ import annotations

import math
from typing import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import arguments, cones
from .contact import TOUCHING, Contact
from .held_sides import HeldSides
from .jumps import Jumps
from .loads import vector
from .obstacles import Obstacle
from .obstacles.composed import as_obstacle
from .rows import Rows
from .system import PointMasses

#: A corner may lie on the line of its neighbours but for this part of the body's size squared.
_STRAIGHT = 1e-12


class RigidBody(PointMasses):
    """A rigid body in plane motion: ``m dv = m g dt + dr``, ``I dspin = dm_r``; no elastic forces.

    :meth:`disc`, :meth:`square` and :meth:`polygon` compute mass and inertia from the shape. It lives whole
    on every rank.

    Args:
        mass: Mass m [kg].
        inertia: Moment of inertia I about the centre of mass [kg m2].
        corners: Points that may touch at angle 0, relative to the centre of mass, shape (p, 2) [m].
        radius: Radius of the rounding about each of them [m]; a disc is one corner at 0, rounded.
        gravity: Acceleration, two numbers [m/s2]; none by default.

    Attributes:
        corners: As given, shape (p, 2) [m].
        radius: As given [m].
        inertia: As given [kg m2].
        gdim, block: 2 directions among 3 dofs.

    Raises:
        ValueError: Masses that are not positive, corners that are not points of the plane.
    """

    gdim, block = 2, 3

    def __init__(
        self,
        mass: float,
        inertia: float,
        corners: ArrayLike,
        *,
        radius: float = 0.0,
        gravity: Sequence[float] | None = None,
    ) -> None:
        positive("mass", mass, "kg")
        positive("inertia", inertia, "kg m2")
        arguments.number("radius", radius, "be at least 0 [m]", least=0.0)
        self.corners, self.radius, self.inertia = _points(corners, 1), float(radius), float(inertia)
        pull = None if gravity is None else [*(mass * vector("gravity", gravity, 2)), 0.0]
        reach = float(np.max(np.hypot(*self.corners.T))) + self.radius
        super().__init__(
            [mass, mass, inertia], load=pull, labels=["x", "y", "angle"], length=reach if reach > 0 else 1.0
        )

    @classmethod
    def disc(
        cls, radius: float, density: float, *, thickness: float = 1.0, gravity: Sequence[float] | None = None
    ) -> "RigidBody":
        """A disc, ``I = m R^2 / 2``.

        Args:
            radius: R [m].
            density: Mass over volume [kg/m3].
            thickness: Out of the plane [m].
            gravity: See :class:`RigidBody`.

        Raises:
            ValueError: A value that is not positive.
        """
        positive("radius", radius, "m")
        mass = _density(density, thickness) * math.pi * radius**2
        return cls(mass, 0.5 * mass * radius**2, [[0.0, 0.0]], radius=radius, gravity=gravity)

    @classmethod
    def square(
        cls, R: float, density: float, *, thickness: float = 1.0, gravity: Sequence[float] | None = None
    ) -> "RigidBody":
        """A square of side 2 R, its sides along the axes at angle 0, ``I = 2 m R^2 / 3``.

        R is the distance of the sides from the centre: the corners are ``(+-R, +-R)``, at ``sqrt(2) R``.

        Args:
            R: Half the side [m].
            density: Mass over volume [kg/m3].
            thickness: Out of the plane [m].
            gravity: See :class:`RigidBody`.

        Raises:
            ValueError: A value that is not positive.
        """
        positive("R", R, "m")
        mass = _density(density, thickness) * 4 * R**2
        corners = R * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        return cls(mass, mass * 2 * R**2 / 3, corners, gravity=gravity)

    @classmethod
    def polygon(
        cls,
        vertices: ArrayLike,
        density: float,
        *,
        thickness: float = 1.0,
        gravity: Sequence[float] | None = None,
    ) -> "RigidBody":
        """A homogeneous convex polygon; ``(x, y)`` is its centre of mass, wherever the vertices are.

        Args:
            vertices: In order, either way round, shape (p, 2), p at least 3 [m].
            density: Mass over volume [kg/m3].
            thickness: Out of the plane [m].
            gravity: See :class:`RigidBody`.

        Raises:
            ValueError: Vertices that do not describe a convex polygon, a value that is not positive.
        """
        points = _points(vertices, 3)
        # Sums about the middle of the vertices keep their digits far from the origin.
        middle = points.mean(axis=0)
        a = points - middle
        following = np.roll(a, -1, axis=0)
        area = 0.5 * _cross(a, following)
        _check_convex(a, float(area.sum()))
        surface = abs(float(area.sum()))
        center = np.sum(area[:, None] * (a + following), axis=0) / (3 * area.sum())
        square = np.sum(a * a + a * following + following * following, axis=1)
        polar = float(np.sum(area * square) / (6 * area.sum())) - float(center @ center)
        mass = _density(density, thickness) * surface
        return cls(mass, mass * polar, a - center, gravity=gravity)

    def arms(self, angle: float) -> NDArray:
        """The corners relative to the centre of mass at ``angle`` [rad], shape (p, 2) [m]."""
        c, s = math.cos(angle), math.sin(angle)
        return self.corners @ np.array([[c, s], [-s, c]])


class RigidBodyContact(Contact):
    """The corners of a rigid body against a rigid obstacle.

    A point for every corner and face of the obstacle, corner by corner. Its gap is the distance of the
    corner less the rounding, ``g(x) - R`` for a disc; the contact point is the point of the body nearest to
    the obstacle, ``a = c - R n`` away from the centre, c that of the corner. Sides between corners are
    not looked at: a corner of the obstacle, or an obstacle that is curved outwards, passes through them.

    Args:
        body: The body.
        obstacle: The shape, or a list of shapes for their :class:`~.obstacles.Union`.
        restitution: Newton's coefficient e of the contact points, 0 to 1; of this body too.
        gap_tolerance: See :class:`.Contact`; default 1e-12 times the body's size.
        touching: See :class:`.Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        drift_correction: See :class:`.Contact`.
        allow_penetration: See :class:`.Contact`.

    Raises:
        ValueError: An obstacle that is not one of the plane; see :class:`.Contact`.
        TypeError: A system that is no rigid body.
    """

    constant, directions = False, 2

    def __init__(
        self,
        body: RigidBody,
        obstacle: Obstacle | Sequence[Obstacle],
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        if not isinstance(body, RigidBody):
            raise TypeError(f"a RigidBodyContact takes a RigidBody, not a {type(body).__name__}")
        obstacle = as_obstacle(obstacle)
        self.body, self.obstacle = body, obstacle
        self.faces = tuple(getattr(obstacle, "faces", (obstacle,)))
        self.moving = bool(getattr(obstacle, "moving", False))
        self._points, self._frames = self._look(np.zeros(3))
        count = len(self._frames)
        rows = Rows(np.tile([0, 1, 2], (count, 1)), self._frames[:, 0].copy(), np.arange(count)[:, None])
        super().__init__(
            body, rows, restitution=restitution, gap_tolerance=gap_tolerance, touching=touching,
            friction=friction, drift_correction=drift_correction, allow_penetration=allow_penetration,
        )  # fmt: skip
        # A corner that is rounded meets an edge around it; a sharp one comes through one of its sides.
        if body.radius == 0.0 and any(getattr(face, "sides", 1) > 1 for face in self.faces):
            self._sides = HeldSides(self.faces, body.corners, self.gap_tolerance, TOUCHING * body.length)
        self._jumps = Jumps(self.faces, self.moving, self.gap_tolerance)
        self.thickness = self._jumps.thickness

    def _corner_velocities(self, u: NDArray, v: NDArray) -> NDArray:
        arms = self.body.arms(u[2])
        return v[:2] + v[2] * np.stack([-arms[:, 1], arms[:, 0]], axis=1)

    def speeds(self, u: NDArray, v: NDArray) -> NDArray:
        """See :meth:`.Contact.speeds`; those of the corners."""
        velocities = np.repeat(self._corner_velocities(u, v), len(self.faces), axis=0)
        return np.linalg.norm(velocities - self.surface_velocity(self.time)[:, :2], axis=1)

    def places(self, u: NDArray) -> NDArray:
        """Where the corners are, one a row of L, shape (p, 2) [m]."""
        return np.repeat(u[:2] + self.body.arms(u[2]), len(self.faces), axis=0)

    def gap(self, u: NDArray) -> NDArray:
        """Distances of the contact points from the obstacle, shape (p,) [m]."""
        x = u[:2] + self.body.arms(u[2])
        if self._sides is not None:
            return self._sides.gaps(x, self.time).ravel()
        return np.stack([face.gap(x, self.time) for face in self.faces], axis=1).ravel() - self.body.radius

    def evaluate(self, u: NDArray) -> NDArray:
        """:meth:`gap`, and L at ``u`` in :attr:`rows`: ``(n, n.J a)``, its lever arm the last entry [m]."""
        return self._evaluate(u, None)

    def evaluate_along(self, u: NDArray, v: NDArray) -> NDArray:
        """See :meth:`.Contact.evaluate_along`."""
        return self._evaluate(u, v)

    def touch(self, u: NDArray, v: NDArray | None = None) -> NDArray[np.bool_]:
        """See :meth:`.Contact.touch`."""
        return self.closed(self._evaluate(u, v))

    def _evaluate(self, u: NDArray, v: NDArray | None) -> NDArray:
        x = u[:2] + self.body.arms(u[2])
        if self._sides is not None:
            velocities = None if v is None else self._corner_velocities(u, v)
            self._sides.look(np.arange(len(x)), x, self.time, velocities)
        failure = self._jumps.find(x, self.time, self._sides)
        if failure is not None:
            raise failure
        self._corners = x
        self._points, self._frames = self._look(u)
        self.rows.weights[:] = self._frames[:, 0]
        return self.gap(u)

    # -- what a step leaves to the next one

    def start(self, u: NDArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        self._corners = u[:2] + self.body.arms(u[2])
        self._jumps.keep(self._corners, t)
        if self._sides is not None:
            self._sides.start(self._corners, t)

    def keep(self) -> None:
        """See :meth:`.Contact.keep`."""
        super().keep()
        self._jumps.keep(self._corners, self.time)

    def resume(self, past: Mapping[str, NDArray]) -> None:
        """See :meth:`.Contact.resume`."""
        super().resume(past)
        self._jumps.forget()

    def frames(self) -> NDArray:
        """Normal and tangential rows at the last :meth:`evaluate`, shape (p, 2, 3).

        ``frames @ v`` are the normal and the tangential velocity of each contact point [m/s], the tangent
        being the normal turned by 90 degrees.
        """
        return self._frames

    def surface_velocity(self, t: float) -> NDArray:
        """Velocities of the obstacle at the contact points, with no spin beside them, shape (p, 3) [m/s]."""
        found = np.zeros((self.count, 3))
        if self.moving:
            for k, face in enumerate(self.faces):
                mine = slice(k, None, len(self.faces))
                found[mine, :2] = face.velocity(self._points[mine], t)
        return found

    def slip(self, v: NDArray, t: float = 0.0) -> NDArray:
        """Tangential velocities of the contact points against the obstacle at ``t``, shape (p, 2) [m/s]."""
        along = np.einsum("pk,pk->p", self._frames[:, 1], v - self.surface_velocity(t))
        return along[:, None] * self._frames[:, 1, :2]

    def _look(self, u: NDArray) -> tuple[NDArray, NDArray]:
        """Contact points, shape (p, 2) [m], and frames, shape (p, 2, 3), at ``u``."""
        arms = self.body.arms(u[2])
        if self._sides is not None:
            n = self._sides.rows(np.arange(len(arms)), u[:2] + arms, self.time)[1].reshape(-1, 2)
        else:
            normals = [face.normal(u[:2] + arms, self.time) for face in self.faces]
            n = np.stack(normals, axis=1).reshape(-1, 2)
        a = np.repeat(arms, len(self.faces), axis=0) - self.body.radius * n
        axes = np.concatenate([n[:, None], cones.tangents(n)], axis=1)
        # J a = (-a_y, a_x)
        lever = axes[:, :, 1] * a[:, None, 0] - axes[:, :, 0] * a[:, None, 1]
        return u[:2] + a, np.concatenate([axes, lever[:, :, None]], axis=2)


def positive(name: str, value: float, unit: str) -> None:
    """Refuse a value that is not positive and finite.

    Raises:
        ValueError: It is not.
    """
    arguments.number(name, value, f"be positive [{unit}]", above=0.0)


def _density(density: float, thickness: float) -> float:
    """Mass over surface [kg/m2]."""
    positive("density", density, "kg/m3")
    positive("thickness", thickness, "m")
    return density * thickness


def _points(given: ArrayLike, least: int) -> NDArray:
    points = arguments.floats(given)
    fits = points.ndim == 2 and points.shape[1:] == (2,) and len(points) >= least
    if not (fits and np.all(np.isfinite(points))):
        raise ValueError(
            f"give at least {least} points of the plane, shape (p, 2) and finite [m], not {given!r}"
        )
    return points


def _cross(a: NDArray, b: NDArray) -> NDArray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _check_convex(points: NDArray, area: float) -> None:
    """Raise a ValueError unless all corners turn the same way, once around."""
    edges = np.roll(points, -1, axis=0) - points
    following = np.roll(edges, -1, axis=0)
    size = float(np.max(np.abs(points)))
    turns = math.copysign(1.0, area) * _cross(edges, following)
    if not abs(area) > _STRAIGHT * size**2:
        raise ValueError("the vertices enclose no area: give them in order around the polygon")
    once = np.sum(np.arctan2(turns, np.sum(edges * following, axis=1))) < 3 * math.pi
    if np.any(turns < -_STRAIGHT * size**2) or not once:
        raise ValueError(
            "the vertices are not those of a convex polygon in order: only its corners touch, so that a body "
            "with a dent is not one"
        )
