"""Boxes: rectangles in 2D, cuboids in 3D."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ... import arguments
from ..._types import FloatArray, IntArray
from .shapes import Obstacle, Plane, Shape, Vector, minus, place


class Box(Shape):
    """A box (a rectangle in 2D); bodies are outside, or inside with ``inside=True``.

    Inside, each side is a separate face: a node in a corner is in contact with two or three.

    Args:
        center: Center [m].
        size: Lengths of the sides [m], positive.
        axes: Directions of the sides, one per row, orthogonal, of any length but zero; by default the
            coordinate axes.
        inside: Whether the free side is the inside.

    Raises:
        ValueError: Lengths that are not positive, a center that is not finite, axes not at right angles.
    """

    _name = "box"

    def __init__(
        self, center: Vector, size: Vector, *, axes: ArrayLike | None = None, inside: bool = False
    ) -> None:
        self.center = place("box", "center", center)
        super().__init__(self.center.size)
        self.half = 0.5 * arguments.floats(size)
        if self.half.shape != self.center.shape or not np.all((self.half > 0) & np.isfinite(self.half)):
            raise ValueError(f"the size of a box must be {self.gdim} positive lengths [m], not {size}")
        self.axes, self.inside = _orthonormal(axes, self.gdim), bool(inside)
        self.convex = not self.inside
        if not self.inside:
            self.sides, self.thickness = 2 * self.gdim, 2 * float(self.half.min())

    @classmethod
    def between(cls, low: Vector, high: Vector, *, inside: bool = False) -> Box:
        """Box between two opposite corners [m], ``low < high``, with sides along the coordinate axes.

        Raises:
            ValueError: Corners that are not finite, of different sizes or not in order.
        """
        first, last = place("box", "corner", low), place("box", "corner", high)
        if first.shape != last.shape or not np.all(first < last):
            raise ValueError(f"a box needs low < high in every direction, not {low} and {high}")
        return cls((0.5 * (first + last)), (last - first), inside=inside)

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """The box itself; inside: its sides as planes."""
        if not self.inside:
            return (self,)
        return tuple(
            Plane(self.center + side * self.half[i] * self.axes[i], -side * self.axes[i])
            for i in range(self.gdim)
            for side in (-1.0, 1.0)
        )

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances from the surface; inside: from the planes of the sides; shape (p,) [m]."""
        self._check(x)
        beyond = np.abs((x - self.center) @ self.axes.T) - self.half
        largest = beyond.max(axis=1)
        if self.inside:
            gap: FloatArray = -largest
            return gap
        outside: FloatArray = np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(largest, 0.0)
        return outside

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Unit normals at the closest points of the surface; of equally close sides the first."""
        self._check(x)
        y = (x - self.center) @ self.axes.T
        beyond = np.abs(y) - self.half
        away = np.zeros_like(y) if self.inside else np.maximum(beyond, 0.0)
        within = ~away.any(axis=1)
        away[within, np.argmax(beyond[within], axis=1)] = -1.0 if self.inside else 1.0
        away = np.copysign(1.0, y) * away / np.linalg.norm(away, axis=1)[:, None]
        normals: FloatArray = away @ self.axes
        return normals

    def side_gaps(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Distances from the planes of the sides, two per axis, shape (p, sides) [m]."""
        if self.inside:
            return super().side_gaps(x, t)
        self._check(x)
        y, gaps = minus(x, self.center) @ self.axes.T, np.empty((len(x), self.sides))
        for k, half in enumerate(self.half):
            gaps[:, 2 * k], gaps[:, 2 * k + 1] = -y[:, k] - half, y[:, k] - half
        return gaps

    def side_normals(self, x: FloatArray, side: IntArray, t: float = 0.0) -> FloatArray:
        """See :class:`.EdgedObstacle`."""
        if self.inside:
            return super().side_normals(x, side, t)
        return (2.0 * (side % 2) - 1.0)[:, None] * self.axes[side // 2]

    def sharp_points(self, t: float = 0.0) -> FloatArray:
        """The corners; none inside."""
        if self.inside:
            return super().sharp_points()
        signs = np.array(list(product((-1.0, 1.0), repeat=self.gdim)))
        corners: FloatArray = self.center + (signs * self.half) @ self.axes
        return corners

    def sharp_edges(self, t: float = 0.0) -> FloatArray:
        """The edges of a cuboid; none inside."""
        if self.inside or self.gdim < 3:
            return super().sharp_edges()
        signs = np.array(list(product((-1, 1), repeat=3)))
        first, second = np.nonzero(np.abs(signs[:, None] - signs).sum(axis=2) == 2)
        ends = np.column_stack([first, second])[first < second]
        edges: FloatArray = self.sharp_points()[ends]
        return edges

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Axis-aligned bounding box; inside: unbounded [m]."""
        if self.inside:
            return super().bounds()
        extent = self.half @ np.abs(self.axes)
        return self.center - extent, self.center + extent


def _orthonormal(axes: ArrayLike | None, gdim: int) -> FloatArray:
    if axes is None:
        return np.eye(gdim)
    rows = np.atleast_1d(arguments.floats(axes))
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    rows = rows / np.where(lengths > 0, lengths, 1.0)
    if rows.shape != (gdim, gdim) or not np.allclose(rows @ rows.T, np.eye(gdim), rtol=0, atol=1e-9):
        raise ValueError(f"the axes of a box must be {gdim} rows at right angles, not {axes}")
    left, _, right = np.linalg.svd(rows)
    basis: FloatArray = left @ right
    return basis
