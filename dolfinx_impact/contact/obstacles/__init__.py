"""Rigid obstacles: signed distance functions and their normals."""

from .box import Box
from .composed import Union
from .distance import SignedDistance
from .moving import Moving
from .revolution import Cone, Cylinder, Torus
from .shapes import Obstacle, Plane, Shape, Sphere

__all__ = [
    "Box", "Cone", "Cylinder", "Moving", "Obstacle", "Plane", "Shape", "SignedDistance", "Sphere", "Torus",
    "Union",
]  # fmt: skip
