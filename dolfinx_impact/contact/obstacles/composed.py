"""Unions of obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import arguments
from ..._types import FloatArray
from .shapes import Obstacle, Shape


class UnionObstacle(Shape):
    """Union of several obstacles; a node may be in contact with several members at once.

    Parts of the surface inside another member have no effect: adjacent tiles, overlapping boxes and flush
    faces act as one floor, and a wall that stands on a floor stops a sliding node. The gap is the minimum
    over the members: exact outside, and an underestimate of the depth in the intersection of members.

    Args:
        members: The obstacles.

    Raises:
        ValueError: No obstacle, or obstacles of different dimensions.
    """

    _name = "union"

    def __init__(self, members: Sequence[Obstacle]) -> None:
        self.members = tuple(arguments.sequence("a union", members, "UnionObstacle([sphere, plane])"))
        for each in self.members:
            arguments.part(each)
        directions = sorted({each.gdim for each in self.members})
        if len(directions) != 1:
            raise ValueError(f"a union needs obstacles, all in 1, 2 or 3 directions, not in {directions}")
        super().__init__(directions[0])
        self.moving = any(each.moving for each in self.members)
        self.flat = len(self.members) == 1 and self.members[0].flat
        self.thickness = min(getattr(each, "thickness", np.inf) for each in self.members)

    @property
    def faces(self) -> tuple[Obstacle, ...]:
        """The faces of all members."""
        return tuple(face for each in self.members for face in each.faces)

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Minimum of the gaps over the members, shape (p,) [m]."""
        gap: FloatArray = self._gaps(x, t).min(axis=0)
        return gap

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Normals of the closest members; of equally close ones the first."""
        return self._nearest(x, t, [each.normal(x, t) for each in self.members])

    def velocity(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Velocities of the closest members, shape (p, gdim) [m/s]."""
        return self._nearest(
            x, t, [each.velocity(x, t) if each.moving else np.zeros(x.shape) for each in self.members]
        )

    def bounds(self, t: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bounding box of the bounding boxes of all members [m]."""
        corners = np.array([each.bounds(t) for each in self.members])
        return corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)

    def _gaps(self, x: FloatArray, t: float) -> FloatArray:
        self._check(x)
        return np.array([each.gap(x, t) for each in self.members])

    def _nearest(self, x: FloatArray, t: float, vectors: Sequence[FloatArray]) -> FloatArray:
        nearest: FloatArray = np.array(vectors)[self._gaps(x, t).argmin(axis=0), np.arange(len(x))]
        return nearest


def as_obstacle(given: Any) -> Any:
    """The obstacle itself; a list of obstacles as their union.

    Raises:
        ValueError: Something else.
    """
    if isinstance(given, (list, tuple)):
        return UnionObstacle(given)
    arguments.shape(given)
    return given
