"""Obstacle interface and base class; planes and spheres."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ... import arguments, descriptions
from ..._types import FloatArray, IntArray
from ...algebra import kernels

#: A vector, one number per direction.
Vector = Sequence[float] | FloatArray


class Obstacle(Protocol):
    """Interface of rigid obstacles.

    Attributes:
        gdim: Geometric dimension.
        flat: Whether the normal is constant in space and time.
        moving: Whether the obstacle has a prescribed motion.
    """

    gdim: int
    flat: bool
    moving: bool

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """Parts with which a node may be in contact simultaneously, one row of L each; often ``(self,)``."""

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the points ``x``, shape (p, gdim) [m], at time ``t`` [s]; shape (p,) [m]."""

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Unit normals to the free side at ``x``, shape (p, gdim): the gradient of the gap."""

    def velocity(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Velocities of the obstacle's material points at ``x``, shape (p, gdim) [m/s]."""

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Lower and upper corner of a box outside of which the gap is positive, shape (gdim,) each [m]."""


class EdgedObstacle(Obstacle, Protocol):
    """Interface of obstacles with edges: intersections of smooth regions, each bounded by one side.

    Attributes:
        sides: Number of sides.
    """

    sides: int

    def side_gaps(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the points from each side, smoothly continued, shape (p, sides) [m]."""

    def side_normals(self, x: FloatArray, side: IntArray, t: float = 0.0) -> FloatArray:
        """Unit normals at ``x`` of the sides ``side``, shape (p,); shape (p, gdim)."""


class Shape:
    """Base class of obstacles: at rest, with a single face, unbounded.

    Args:
        gdim: Geometric dimension.
    """

    flat, moving = False, False
    #: Whether it calls user-defined functions, which may fail on a single rank.
    fallible = False
    #: Number of sides; they meet at edges.
    sides = 1
    #: Whether the obstacle is convex, and so its signed distance: fewer facets are looked at between nodes.
    convex = False
    #: Smallest thickness [m], through which points may tunnel in a step; inf where it is unknown.
    thickness = math.inf
    _name = "obstacle"

    def __init__(self, gdim: int) -> None:
        self.gdim = gdim

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fallible" not in vars(cls) and not cls.__module__.startswith(f"{__name__.split('.')[0]}."):
            cls.fallible = True

    def __repr__(self) -> str:
        return descriptions.of_shape(self)

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """Parts with which a node may be in contact simultaneously, one row of L each."""
        return (self,)

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the points ``x``, shape (p, gdim) [m]; shape (p,) [m]."""
        raise NotImplementedError

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Unit normals to the free side at ``x``, shape (p, gdim)."""
        raise NotImplementedError

    def velocity(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Velocities of the material points at ``x``, shape (p, gdim) [m/s]: zero."""
        return np.zeros(x.shape)

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Corners of a box outside of which the gap is positive, shape (gdim,) each [m]; default infinite."""
        return np.full(self.gdim, -math.inf), np.full(self.gdim, math.inf)

    def side_gaps(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """See :meth:`EdgedObstacle.side_gaps`; by default the obstacle has a single side."""
        return self.gap(x, t)[:, None]

    def side_normals(self, x: FloatArray, side: IntArray, t: float = 0.0) -> FloatArray:
        """See :meth:`EdgedObstacle.side_normals`."""
        return self.normal(x, t)

    def sharp_points(self, t: float = 0.0) -> FloatArray:
        """Positions of convex tips and corners, shape (m, gdim) [m], where the shape is not smooth.

        With these, as with :meth:`sharp_edges`, the places at which they meet facets are exact.
        """
        return np.zeros((0, self.gdim))

    def sharp_edges(self, t: float = 0.0) -> FloatArray:
        """Ends of straight convex edges in space, shape (m, 2, gdim) [m]."""
        return np.zeros((0, 2, self.gdim))

    def rest(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Positions of points at ``x`` relative to the obstacle's reference position, shape (p, gdim) [m]."""
        return x

    def _check(self, x: FloatArray) -> None:
        if x.shape[1] != self.gdim:
            raise ValueError(f"the {self._name} has {self.gdim} directions, the body {x.shape[1]}")


class Plane(Shape):
    """A plane (a line in 2D, a point in 1D); the obstacle is the half space behind it.

    Args:
        point: A point of the plane [m].
        normal: Direction to the free side, of any length but zero.

    Raises:
        ValueError: When the shapes differ or the normal is zero.
    """

    flat, _name = True, "plane"

    def __init__(self, point: Vector, normal: Vector) -> None:
        self.point, direction = arguments.floats(point), arguments.floats(normal)
        size = np.linalg.norm(direction)
        if self.point.ndim != 1 or self.point.shape != direction.shape:
            given = f"point {arguments.shown(point)} and normal {arguments.shown(normal)}"
            raise ValueError(f"{given} must have one number a direction each")
        if not (np.isfinite(size) and size > 0 and np.all(np.isfinite(self.point))):
            raise ValueError(f"a plane needs a finite point and a normal with a direction, not {normal}")
        self.direction = direction / size
        super().__init__(self.point.size)

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances from the plane, shape (p,) [m]."""
        self._check(x)
        return minus(x, self.point) @ self.direction

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """The normal of the plane, for every point."""
        self._check(x)
        return np.broadcast_to(self.direction, x.shape)

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """The half space behind the plane where it is axis-aligned; otherwise unbounded [m]."""
        low, high = super().bounds()
        axis = np.flatnonzero(self.direction)
        if axis.size == 1:
            (high if self.direction[axis] > 0 else low)[axis] = self.point[axis]
        return low, high


class Sphere(Shape):
    """A sphere (a circle in 2D); bodies are outside, or inside with ``inside=True``.

    Args:
        center: Center [m].
        radius: Radius [m], positive.
        inside: Whether the free side is the inside.

    Raises:
        ValueError: A radius that is not positive, a center that is not finite.
    """

    _name = "sphere"

    def __init__(self, center: Vector, radius: float, *, inside: bool = False) -> None:
        self.center = arguments.floats(center)
        if self.center.ndim != 1 or not np.all(np.isfinite(self.center)):
            raise ValueError(f"a sphere needs a finite center, one number a direction, not {center}")
        self.radius, self.inside = positive("radius", radius), bool(inside)
        self._sign = -1.0 if inside else 1.0
        self.convex = not self.inside
        self.thickness = math.inf if inside else 2 * self.radius
        super().__init__(self.center.size)

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances from the surface, shape (p,) [m]."""
        self._check(x)
        gap: FloatArray = self._sign * (lengths(minus(x, self.center)) - self.radius)
        return gap

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Unit vectors from (inside: towards) the center; the first axis at the center."""
        self._check(x)
        arm = minus(x, self.center)
        size = lengths(arm)
        middle = (size == 0.0).nonzero()[0]
        arm[middle], size[middle] = np.eye(self.gdim)[0], 1.0
        size *= self._sign
        for column in arm.T:
            column /= size
        return arm

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bounding cube; inside: unbounded [m]."""
        if self._sign < 0:
            return super().bounds()
        return self.center - self.radius, self.center + self.radius

    def compiled(self) -> Callable[[FloatArray, FloatArray], float]:
        """Gap and normal of one point for compiled loops: ``surface(x, normal)`` returns the gap [m]."""
        center, radius, sign = self.center, self.radius, self._sign

        def surface(x: FloatArray, normal: FloatArray) -> float:
            square = 0.0
            for i in range(x.size):
                normal[i] = x[i] - center[i]
                square += normal[i] * normal[i]
            size = math.sqrt(square)
            if size == 0.0:
                normal[0] = 1.0
            for i in range(x.size):
                normal[i] = sign * normal[i] / (size if size > 0.0 else 1.0)
            return sign * (size - radius)

        return kernels.jit(surface)


def lengths(vectors: FloatArray) -> FloatArray:
    """Lengths of vectors, shape (p, gdim); by columns, faster than np.linalg.norm and equal."""
    squares: FloatArray = vectors[:, 0] * vectors[:, 0]
    for k in range(1, vectors.shape[1]):
        squares += vectors[:, k] * vectors[:, k]
    return np.sqrt(squares, out=squares)


def minus(vectors: FloatArray, other: FloatArray) -> FloatArray:
    """Vectors, shape (p, gdim), less one vector; by columns in a fifth of the time of a broadcast."""
    out = np.empty(vectors.shape)
    for k, value in enumerate(other):
        np.subtract(vectors[:, k], value, out=out[:, k])
    return out


def place(name: str, what: str, value: Any) -> FloatArray:
    """A point of finite coordinates, shape (gdim,).

    Raises:
        ValueError: Something else.
    """
    point = arguments.floats(value)
    if point.ndim != 1 or not 1 <= point.size <= 3 or not np.all(np.isfinite(point)):
        raise ValueError(f"a {name} needs a finite {what}, one number a direction, not {value}")
    return point


def unit(name: str, what: str, value: Any, gdim: int) -> FloatArray:
    """A unit vector, shape (gdim,).

    Raises:
        ValueError: Not ``gdim`` finite numbers, or all zero.
    """
    vector = place(name, what, value)
    size = np.linalg.norm(vector)
    if vector.size != gdim or not size > 0:
        raise ValueError(f"the {what} of a {name} must be {gdim} numbers, not all zero, but is {value}")
    return vector / size


def positive(what: str, value: float) -> float:
    """A positive length.

    Raises:
        ValueError: Something else.
    """
    return arguments.number(f"the {what}", value, "be positive [m]", above=0.0)
