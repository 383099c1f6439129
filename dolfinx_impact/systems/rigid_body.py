"""Rigid bodies in plane motion.

The dofs are the position of the centre of mass and the angle, ``q = (x, y, angle)`` [m, m, rad]. A point of
the body with the arm ``a`` about the centre of mass has the velocity ``(vx, vy) + spin J a``, where J rotates
a vector by 90 degrees counter-clockwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import arguments
from .._types import FloatArray
from .loads import vector
from .system import PointMasses

#: Tolerance for collinear corners, relative to the square of the body's size.
_STRAIGHT = 1e-12


class RigidBody(PointMasses):
    """A rigid body in plane motion: ``m dv = m g dt + dr``, ``I dspin = dm_r``; no elastic forces.

    :meth:`disc`, :meth:`square` and :meth:`polygon` compute mass and inertia from the shape. The body is
    replicated on every rank.

    Args:
        mass: Mass m [kg].
        inertia: Moment of inertia I about the centre of mass [kg m2].
        corners: Potential contact points at angle 0, relative to the centre of mass, shape (p, 2) [m].
        radius: Radius of the rounding of each corner [m]; a disc is one rounded corner at 0.
        gravity: Gravitational acceleration, two numbers [m/s2]; none by default.

    Attributes:
        corners: As given, shape (p, 2) [m].
        radius: As given [m].
        inertia: As given [kg m2].
        gdim, block: Geometric dimension 2, and 3 dofs.

    Raises:
        ValueError: Masses that are not positive, corners that are not points of the plane.
    """

    compiled, loop_solver = PointMasses.compiled, PointMasses.loop_solver
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
        extent = float(np.max(np.hypot(*self.corners.T))) + self.radius
        super().__init__(
            [mass, mass, inertia], load=pull, labels=["x", "y", "angle"], length=extent if extent > 0 else 1.0
        )

    @classmethod
    def disc(
        cls, radius: float, density: float, *, thickness: float = 1.0, gravity: Sequence[float] | None = None
    ) -> RigidBody:
        """A disc, ``I = m R^2 / 2``.

        Args:
            radius: R [m].
            density: Mass over volume [kg/m3].
            thickness: Out-of-plane thickness [m].
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
    ) -> RigidBody:
        """A square of side 2 R with sides along the axes at angle 0, ``I = 2 m R^2 / 3``.

        R is the distance of the sides from the centre: the corners ``(+-R, +-R)`` are at ``sqrt(2) R``.

        Args:
            R: Half of the side length [m].
            density: Mass over volume [kg/m3].
            thickness: Out-of-plane thickness [m].
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
    ) -> RigidBody:
        """A homogeneous convex polygon; ``(x, y)`` is its centre of mass for any position of the vertices.

        Args:
            vertices: Vertices in order, clockwise or counter-clockwise, shape (p, 2), p at least 3 [m].
            density: Mass over volume [kg/m3].
            thickness: Out-of-plane thickness [m].
            gravity: See :class:`RigidBody`.

        Raises:
            ValueError: Vertices that do not describe a convex polygon, a value that is not positive.
        """
        points = _points(vertices, 3)
        # Moments about the mean of the vertices avoid cancellation far from the origin.
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

    def arms(self, angle: float) -> FloatArray:
        """Arms of the corners about the centre of mass at ``angle`` [rad], shape (p, 2) [m]."""
        c, s = math.cos(angle), math.sin(angle)
        arms: FloatArray = self.corners @ np.array([[c, s], [-s, c]])
        return arms


def positive(name: str, value: float, unit: str) -> None:
    """Refuse a value that is not positive and finite.

    Raises:
        ValueError: It is not.
    """
    arguments.number(name, value, f"be positive [{unit}]", above=0.0)


def _density(density: float, thickness: float) -> float:
    """Mass per area [kg/m2]."""
    positive("density", density, "kg/m3")
    positive("thickness", thickness, "m")
    return density * thickness


def _points(given: ArrayLike, least: int) -> FloatArray:
    points = arguments.floats(given)
    fits = points.ndim == 2 and points.shape[1:] == (2,) and len(points) >= least
    if not (fits and np.all(np.isfinite(points))):
        raise ValueError(
            f"give at least {least} points of the plane, shape (p, 2) and finite [m], not {given!r}"
        )
    return points


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _check_convex(points: FloatArray, area: float) -> None:
    """Raise a ValueError unless the polygon is convex and simple."""
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
