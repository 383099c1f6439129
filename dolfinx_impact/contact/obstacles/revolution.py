"""Bodies of revolution: cylinders, cones and tori; in 2D strips, wedges and pairs of circles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ... import arguments
from ..._types import FloatArray, IntArray
from . import profiles
from .shapes import Obstacle, Plane, Shape, Vector, lengths, minus, place, positive, unit


class Revolution(Shape):
    """Axisymmetric shape: base class of cylinders, cones and tori.

    Args:
        point: Point of the axis where z = 0 [m].
        axis: Direction of the axis, of any length but zero.
        numbers: Parameters of the profile.
        profile: Number of the profile, see :func:`.profile`.

    Raises:
        ValueError: A point that is not finite, a dimension other than 2 or 3, a zero axis.
    """

    #: Coefficients (a, b, c) of the sides, ``gap = a r + b z - c``, r and z from and along the axis.
    _walls: Sequence[tuple[float, float, float]] = ()

    def __init__(self, point: Vector, axis: Vector, *, numbers: Sequence[float], profile: int) -> None:
        self.point = place(self._name, "point of its axis", point)
        if self.point.size < 2:
            raise ValueError(f"a {self._name} has 2 or 3 directions, but its point is {point}")
        super().__init__(self.point.size)
        self.axis = unit(self._name, "axis", axis, self.gdim)
        # On the axis the radial direction is not unique: choose one.
        across = np.eye(self.gdim)[np.argmin(np.abs(self.axis))]
        across -= (across @ self.axis) * self.axis
        self._across = across / np.linalg.norm(across)
        self.convex = profile in (0, 2)
        self._numbers, self._profile = np.array(numbers, dtype=np.float64), profile

    def _cylindrical(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Radial unit vectors, shape (p, gdim), and the distances r from and z along the axis, (p,) [m]."""
        self._check(x)
        away = minus(x, self.point)
        z = away @ self.axis
        _add_along(away, -z, self.axis)
        _add_along(away, -(away @ self.axis), self.axis)  # round-off
        r = lengths(away)
        on_axis = (r <= profiles.ON_AXIS * np.abs(z)).nonzero()[0]
        away[on_axis], r[on_axis] = self._across, 1.0
        for column in away.T:
            column /= r
        r[on_axis] = 0.0
        return away, r, z

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances from the surface; inside, of the planes of the ends too; shape (p,) [m]."""
        _, r, z = self._cylindrical(x)
        return np.asarray(profiles.profile(self._profile, self._numbers, r, z)[0])

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Unit normals at the closest points of the surface; where it is not unique, one of them."""
        away, r, z = self._cylindrical(x)
        _, n_r, n_z = profiles.profile(self._profile, self._numbers, r, z)
        for column in away.T:
            column *= n_r
        _add_along(away, n_z, self.axis)
        return away

    def side_gaps(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """See :class:`.EdgedObstacle`; the lateral surface comes first, then the ends."""
        if self.sides == 1:
            return super().side_gaps(x, t)
        _, r, z = self._cylindrical(x)
        return np.stack([a * r + b * z - c for a, b, c in self._walls], axis=1)

    def side_normals(self, x: FloatArray, side: IntArray, t: float = 0.0) -> FloatArray:
        """See :class:`.EdgedObstacle`."""
        if self.sides == 1:
            return super().side_normals(x, side, t)
        away, _, _ = self._cylindrical(x)
        a, b, _ = np.array(self._walls)[side].T
        normals: FloatArray = a[:, None] * away + b[:, None] * self.axis
        return normals

    def compiled(self) -> Callable[[FloatArray, FloatArray], float]:
        """Gap and normal of one point for compiled loops: ``surface(x, normal)`` returns the gap [m]."""
        return profiles.compiled(self._profile, self._numbers, self.point, self.axis, self._across)


def _add_along(vectors: FloatArray, sizes: FloatArray, axis: FloatArray) -> None:
    """Add a vector along the axis to each of the vectors, shape (p, gdim); by columns, see :func:`.minus`."""
    for k, part in enumerate(axis):
        vectors[:, k] += sizes * part


class Cylinder(Revolution):
    """A circular cylinder (a strip in 2D); bodies are outside, or inside with ``inside=True``.

    Args:
        point: A point of the axis [m]; with a length the center of the first end.
        axis: Direction of the axis; with a length from the first end to the second.
        radius: Radius [m], positive.
        length: Distance of the two flat ends [m]; by default infinite. Inside, each end is a separate face.
        inside: Whether the free side is the inside.

    Raises:
        ValueError: A radius or length that is not positive, a zero axis, a point that is not finite.
    """

    compiled = Revolution.compiled
    _name = "cylinder"

    def __init__(
        self, point: Vector, axis: Vector, radius: float, *, length: float | None = None, inside: bool = False
    ) -> None:
        self.radius, self.inside = positive("radius", radius), bool(inside)
        self.length = None if length is None else positive("length", length)
        ends = (-math.inf, math.inf) if self.length is None else (0.0, self.length)
        super().__init__(point, axis, numbers=(self.radius, *ends), profile=int(self.inside))
        if not self.inside:
            self.thickness = min(2 * self.radius, ends[1])
        if not self.inside and self.length is not None:
            self._walls = (1.0, 0.0, self.radius), (0.0, -1.0, 0.0), (0.0, 1.0, self.length)
            self.sides = len(self._walls)

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """The cylinder itself; inside with ends: the lateral surface and the planes of the ends."""
        if not self.inside or self.length is None:
            return (self,)
        wall = Cylinder(self.point, self.axis, self.radius, inside=True)
        end = self.point + self.length * self.axis
        return wall, Plane(self.point, self.axis), Plane(end, -self.axis)

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bounding box; inside: unbounded [m]."""
        if self.inside:
            return super().bounds()
        extent = self.radius * _across(self.axis)
        if self.length is None:
            extent = np.where(self.axis == 0.0, extent, math.inf)
            return self.point - extent, self.point + extent
        ends = np.array([self.point, self.point + self.length * self.axis])
        return ends.min(axis=0) - extent, ends.max(axis=0) + extent


class Cone(Revolution):
    """A circular cone (a wedge in 2D); bodies are outside, or inside with ``inside=True``.

    The lateral surface is one face, also at the apex: for simultaneous contact with both walls of a wedge in
    2D use a :class:`.UnionObstacle` of two planes.

    Args:
        apex: Apex [m].
        axis: Direction from the apex into the cone.
        half_angle: Angle between the axis and the lateral surface [degrees], above 0 and below 90.
        height: Distance of the flat base from the apex [m]; by default infinite. Inside, the base is a
            separate face.
        inside: Whether the free side is the inside.

    Raises:
        ValueError: Another angle, a height that is not positive, a zero axis, an apex that is not finite.
    """

    compiled = Revolution.compiled
    _name = "cone"

    def __init__(
        self,
        apex: Vector,
        axis: Vector,
        half_angle: float,
        *,
        height: float | None = None,
        inside: bool = False,
    ) -> None:
        arguments.number("the half angle of a cone", half_angle, "lie between 0 and 90 degrees")
        if not 0 < half_angle < 90:
            raise ValueError(f"the half angle of a cone lies between 0 and 90 degrees, but is {half_angle}")
        self.half_angle, self.inside = float(half_angle), bool(inside)
        self.height = None if height is None else positive("height", height)
        end, angle = math.inf if self.height is None else self.height, math.radians(half_angle)
        numbers = (math.sin(angle), math.cos(angle), end, end / math.cos(angle), end * math.tan(angle))
        super().__init__(apex, axis, numbers=numbers, profile=2 + int(self.inside))
        if not self.inside and self.height is not None:
            sine, cosine, *_, rim = numbers
            self._walls = (cosine, -sine, 0.0), (0.0, 1.0, self.height)
            self.sides, self.thickness = len(self._walls), min(self.height, 2 * rim)

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """The cone itself; inside with a base: the lateral surface and the plane of the base."""
        if not self.inside or self.height is None:
            return (self,)
        wall = Cone(self.point, self.axis, self.half_angle, inside=True)
        base = self.point + self.height * self.axis
        return wall, Plane(base, -self.axis)

    def sharp_points(self, t: float = 0.0) -> FloatArray:
        """The apex, in 2D also the corners of the base; none inside."""
        if self.inside:
            return super().sharp_points()
        points = [self.point]
        if self.gdim == 2 and self.height is not None:
            base, rim = self.point + self.height * self.axis, float(self._numbers[-1])
            points += [base - rim * self._across, base + rim * self._across]
        return np.array(points)

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bounding box; inside: unbounded [m]."""
        if self.inside:
            return super().bounds()
        sine, cosine, *_, rim = self._numbers
        if self.height is not None:
            base, extent = self.point + self.height * self.axis, rim * _across(self.axis)
            return np.minimum(self.point, base - extent), np.maximum(self.point, base + extent)
        # Largest descent and ascent of generating lines along each axis, per unit length.
        down, up = (sine * _across(self.axis) - side * cosine * self.axis for side in (1.0, -1.0))
        return np.where(down > 0, -math.inf, self.point), np.where(up > 0, math.inf, self.point)


class Torus(Revolution):
    """A torus (two circles in 2D); bodies are outside, or in the tube with ``inside=True``.

    Args:
        center: Center [m].
        axis: Direction of the axis.
        major: Radius of the center line of the tube [m].
        minor: Radius of the tube [m], below ``major``.
        inside: Whether the free side is the inside of the tube.

    Raises:
        ValueError: Radii that are not positive or not in order, a zero axis, a center that is not finite.
    """

    compiled = Revolution.compiled
    _name = "torus"

    def __init__(
        self, center: Vector, axis: Vector, major: float, minor: float, *, inside: bool = False
    ) -> None:
        self.major, self.minor = positive("major radius", major), positive("minor radius", minor)
        if not self.minor < self.major:
            raise ValueError(f"the minor radius {minor} of a torus must be below the major radius {major}")
        self.inside = bool(inside)
        numbers = (self.major, self.minor, -1.0 if self.inside else 1.0)
        super().__init__(center, axis, numbers=numbers, profile=4)
        self.thickness = math.inf if self.inside else 2 * self.minor

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bounding box; inside: unbounded [m]."""
        if self.inside:
            return super().bounds()
        extent = self.major * _across(self.axis) + self.minor
        return self.point - extent, self.point + extent


def _across(axis: FloatArray) -> FloatArray:
    """Half extents of a unit disc normal to the axis, shape (gdim,)."""
    across: FloatArray = np.sqrt(np.maximum(1.0 - axis**2, 0.0))
    return across
