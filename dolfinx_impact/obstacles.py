"""Rigid shapes that bodies touch: signed distances and normals."""

from __future__ import annotations

import math
from typing import Callable, Protocol, Sequence

import numpy as np
from numpy.typing import NDArray

from . import kernels


class Obstacle(Protocol):
    """A rigid shape.

    Attributes:
        flat: Whether the normal is the same everywhere.
    """

    flat: bool

    def gap(self, x: NDArray) -> NDArray:
        """Signed distances of the points ``x``, shape (p, gdim) [m]; shape (p,) [m]."""

    def normal(self, x: NDArray) -> NDArray:
        """Unit normals into the free side at ``x``, shape (p, gdim)."""


class Plane:
    """A plane (a line in 2D, a point on a line).

    Args:
        point: A point of the plane [m].
        normal: Direction into the free side; any length but zero.

    Raises:
        ValueError: When the shapes differ or the normal has no direction.
    """

    flat = True

    def __init__(self, point: Sequence[float], normal: Sequence[float]) -> None:
        self.point = np.array(point, dtype=np.float64)
        direction = np.array(normal, dtype=np.float64)
        size = np.linalg.norm(direction)
        if self.point.ndim != 1 or self.point.shape != direction.shape:
            raise ValueError(f"point {point} and normal {normal} must have one number a direction each")
        if not (np.isfinite(size) and size > 0 and np.all(np.isfinite(self.point))):
            raise ValueError(f"a plane needs a finite point and a normal with a direction, not {normal}")
        self.direction = direction / size

    def gap(self, x: NDArray) -> NDArray:
        """Distances from the plane [m]."""
        return (x - self.point) @ self.direction

    def normal(self, x: NDArray) -> NDArray:
        """The plane's normal at every point."""
        if x.shape[1] != self.point.size:
            raise ValueError(f"the plane has {self.point.size} directions, the body {x.shape[1]}")
        return np.broadcast_to(self.direction, x.shape)


class Sphere:
    """A sphere (a circle in 2D); bodies stay outside, or inside with ``inside=True``.

    Args:
        center: Its center [m].
        radius: Its radius [m], positive.
        inside: Whether the free side is the inside.

    Raises:
        ValueError: A radius that is not positive, a center that is not finite.
    """

    flat = False

    def __init__(self, center: Sequence[float], radius: float, *, inside: bool = False) -> None:
        self.center = np.array(center, dtype=np.float64)
        if self.center.ndim != 1 or not np.all(np.isfinite(self.center)):
            raise ValueError(f"a sphere needs a finite center, one number a direction, not {center}")
        if not (radius > 0 and np.isfinite(radius)):
            raise ValueError(f"the radius must be positive [m], but is {radius}")
        self.radius, self._sign = float(radius), -1.0 if inside else 1.0

    def gap(self, x: NDArray) -> NDArray:
        """Distances from the surface [m]."""
        return self._sign * (np.linalg.norm(x - self.center, axis=1) - self.radius)

    def normal(self, x: NDArray) -> NDArray:
        """Directions from (inside: towards) the center; at the center the first axis."""
        if x.shape[1] != self.center.size:
            raise ValueError(f"the sphere has {self.center.size} directions, the body {x.shape[1]}")
        arm = x - self.center
        arm[~arm.any(axis=1), 0] = 1.0
        return self._sign * arm / np.linalg.norm(arm, axis=1)[:, None]

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
