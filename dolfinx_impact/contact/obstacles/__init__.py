"""Rigid obstacles: signed distance functions and their normals."""

from .box import Box
from .composed import UnionObstacle
from .distance import SignedDistance
from .moving import MovingObstacle
from .revolution import Cone, Cylinder, Torus
from .shapes import Obstacle, Plane, Shape, Sphere

__all__ = [
    "Box",
    "Cone",
    "Cylinder",
    "MovingObstacle",
    "Obstacle",
    "Plane",
    "Shape",
    "SignedDistance",
    "Sphere",
    "Torus",
    "UnionObstacle",
]
