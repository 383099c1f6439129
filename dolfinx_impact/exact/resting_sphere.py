"""A sphere that rests on the four edges of a square opening."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class RestingSphere:
    """A rigid sphere above a square opening whose edges lie in one plane, without friction.

    It touches the middle of each edge, a/2 from the axis, or falls through where ``2 R < a``. The forces act
    along radii: four times ``N z/R`` carries the weight W.

    Args:
        radius: Radius R [m].
        opening: Side a of the opening [m].
    """

    radius: float
    opening: float

    @property
    def falls(self) -> bool:
        """Whether it falls through."""
        return 2 * self.radius < self.opening

    @property
    def height(self) -> float:
        """Height z of the centre above the edges, ``sqrt(R^2 - a^2/4)`` [m]; nan where it falls through."""
        return math.nan if self.falls else math.sqrt(self.radius**2 - self.opening**2 / 4)

    def edge_force(self, weight: float) -> float:
        """Force N of each edge, ``W R/(4 z)`` [N]."""
        return weight * self.radius / (4 * self.height)
