"""What every obstacle offers; planes and spheres."""

from __future__ import annotations

import math
from typing import Any, Callable, Protocol, Sequence

import numpy as np
from numpy.typing import NDArray

from ... import arguments, descriptions
from ...algebra import kernels

#: Numbers, one a direction.
Vector = Sequence[float] | NDArray


class Obstacle(Protocol):
    """A rigid shape.

    Attributes:
        gdim: Number of its directions.
        flat: Whether the normal is the same everywhere and always.
        moving: Whether it moves.
    """

    gdim: int
    flat: bool
    moving: bool

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """What a node can touch at the same time, each with a row of its own: ``(self,)`` for one row."""

    def gap(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Signed distances of the points ``x``, shape (p, gdim) [m], at time ``t`` [s]; shape (p,) [m]."""

    def normal(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Unit normals into the free side at ``x``, shape (p, gdim): the gradient of the gap."""

    def velocity(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Velocities of the obstacle's material points that are at ``x``, shape (p, gdim) [m/s]."""

    def bounds(self, t: float = 0.0) -> tuple[NDArray, NDArray]:
        """Lower and upper corner of a box outside of which all gaps are positive, shape (gdim,) [m]."""


class Solid(Obstacle, Protocol):
    """An obstacle that is the common part of what lies behind its sides, with edges where they meet.

    Attributes:
        sides: Number of its sides.
    """

    sides: int

    def side_gaps(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Distances of the points from each side or its continuation, shape (p, sides) [m]."""

    def side_normals(self, x: NDArray, side: NDArray, t: float = 0.0) -> NDArray:
        """Unit normals at ``x`` of one side each, ``side`` of shape (p,); shape (p, gdim)."""


class Shape:
    """An obstacle at rest, in one piece, somewhere: the base of the shapes.

    Args:
        gdim: Number of its directions.
    """

    flat, moving = False, False
    #: Whether functions of the user's stand behind it, which may fail at some points, on some ranks.
    fallible = False
    #: Number of its sides; edges are where they meet.
    sides = 1
    #: Smallest diameter of what a point could jump over in a step [m]; inf where none is known.
    thickness = math.inf
    _name = "obstacle"

    def __init__(self, gdim: int) -> None:
        self.gdim = gdim

    def __repr__(self) -> str:
        return descriptions.of_shape(self)

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """What a node can touch at the same time, each with a row of its own."""
        return (self,)

    def gap(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Signed distances of the points ``x``, shape (p, gdim) [m]; shape (p,) [m]."""
        raise NotImplementedError

    def normal(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Unit normals into the free side at ``x``, shape (p, gdim)."""
        raise NotImplementedError

    def velocity(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Velocities of the material points at ``x``, shape (p, gdim) [m/s]: zero."""
        return np.zeros(x.shape)

    def bounds(self, t: float = 0.0) -> tuple[NDArray, NDArray]:
        """Corners of a box outside of which all gaps are positive, shape (gdim,) [m]; by default all."""
        return np.full(self.gdim, -math.inf), np.full(self.gdim, math.inf)

    def side_gaps(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Distances of the points from each side or its continuation, shape (p, sides) [m]."""
        return self.gap(x, t)[:, None]

    def side_normals(self, x: NDArray, side: NDArray, t: float = 0.0) -> NDArray:
        """Unit normals at ``x`` of one side each, ``side`` of shape (p,); shape (p, gdim)."""
        return self.normal(x, t)

    def rest(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Where points at ``x`` at ``t`` would be in the obstacle before it moved, shape (p, gdim) [m]."""
        return x

    def _check(self, x: NDArray) -> None:
        if x.shape[1] != self.gdim:
            raise ValueError(f"the {self._name} has {self.gdim} directions, the body {x.shape[1]}")


class Plane(Shape):
    """A plane (a line in 2D, a point on a line).

    Args:
        point: A point of the plane [m].
        normal: Direction into the free side; any length but zero.

    Raises:
        ValueError: When the shapes differ or the normal has no direction.
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

    def gap(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Distances from the plane [m]."""
        self._check(x)
        return (x - self.point) @ self.direction

    def normal(self, x: NDArray, t: float = 0.0) -> NDArray:
        """The plane's normal at every point."""
        self._check(x)
        return np.broadcast_to(self.direction, x.shape)

    def bounds(self, t: float = 0.0) -> tuple[NDArray, NDArray]:
        """The half space behind the plane, where that is a box; else everywhere [m]."""
        low, high = super().bounds()
        axis = np.flatnonzero(self.direction)
        if axis.size == 1:
            (high if self.direction[axis] > 0 else low)[axis] = self.point[axis]
        return low, high


class Sphere(Shape):
    """A sphere (a circle in 2D); bodies stay outside, or inside with ``inside=True``.

    Args:
        center: Its center [m].
        radius: Its radius [m], positive.
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
        self.thickness = math.inf if inside else 2 * self.radius
        super().__init__(self.center.size)

    def gap(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Distances from the surface [m]."""
        self._check(x)
        return self._sign * (np.linalg.norm(x - self.center, axis=1) - self.radius)

    def normal(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Directions from (inside: towards) the center; at the center the first axis."""
        self._check(x)
        arm = x - self.center
        arm[~arm.any(axis=1), 0] = 1.0
        return self._sign * arm / np.linalg.norm(arm, axis=1)[:, None]

    def bounds(self, t: float = 0.0) -> tuple[NDArray, NDArray]:
        """The cube around the sphere; inside: everywhere [m]."""
        if self._sign < 0:
            return super().bounds()
        return self.center - self.radius, self.center + self.radius

    def compiled(self) -> Callable[[NDArray, NDArray], float]:
        """Gap and normal of one point for compiled loops: ``surface(x, normal)`` returns the gap [m]."""
        center, radius, sign = self.center, self.radius, self._sign

        def surface(x: NDArray, normal: NDArray) -> float:
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


def place(name: str, what: str, value: Any) -> NDArray:
    """A point, one finite number a direction, shape (gdim,).

    Raises:
        ValueError: Something else.
    """
    point = arguments.floats(value)
    if point.ndim != 1 or not 1 <= point.size <= 3 or not np.all(np.isfinite(point)):
        raise ValueError(f"a {name} needs a finite {what}, one number a direction, not {value}")
    return point


def unit(name: str, what: str, value: Any, gdim: int) -> NDArray:
    """A direction of length one, shape (gdim,).

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
