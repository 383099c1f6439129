"""Place of a mesh: its bounding box, and rotations before a body is made on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import arguments, parallel
from .._types import FloatArray
from .named_mesh import bare_mesh


def bounding_box(mesh: Any) -> FloatArray:
    """Lowest and highest coordinates of all points of a mesh, shape (2, gdim) [m]. Collective.

    Args:
        mesh: The mesh, named or not.
    """
    bare = bare_mesh(mesh)
    x = bare.geometry.x[:, : bare.geometry.dim]
    low, high = ([parallel.largest(bare.comm, sign * each) for each in x.T] for sign in (-1.0, 1.0))
    return np.array([np.negative(low), high])


def rotate(
    mesh: Any, axis: Sequence[float], angle: float, *, center: Sequence[float] = (0.0, 0.0, 0.0)
) -> FloatArray:
    """Rotate a mesh, in place: ``x <- center + R (x - center)``. Bodies are made on it afterwards.

    Args:
        mesh: The mesh, named or not; one in the plane rotates about ``(0, 0, 1)``.
        axis: Axis of the rotation, shape (3,), of any length.
        angle: Angle, counterclockwise where the axis points to the eye [degrees].
        center: A point of the axis, shape (3,) [m].

    Returns:
        The matrix R, shape (3, 3): ``center + (x - center) @ R`` are the points x where they were.

    Raises:
        ValueError: An axis that is zero or, of a mesh in the plane, not normal to it; an angle or vectors
            that are no finite numbers.
    """
    bare, about = bare_mesh(mesh), _three("center", center)
    n, turn = _three("axis", axis), math.radians(arguments.number("angle", angle))
    length = np.linalg.norm(n)
    if not length > 0 or (bare.geometry.dim < 3 and np.any(n[:2])):
        where = "" if bare.geometry.dim == 3 else " along z for a mesh in the plane"
        raise ValueError(f"the axis of a rotation must be a direction{where}, but is {arguments.shown(axis)}")
    cross = np.cross(np.eye(3), n / length)
    rotation: FloatArray = np.eye(3) + math.sin(turn) * cross + (1 - math.cos(turn)) * cross @ cross
    x = bare.geometry.x
    x[:] = (x - about) @ rotation.T + about
    return rotation


def _three(name: str, value: Sequence[float]) -> FloatArray:
    found = arguments.floats(value)
    if found.shape != (3,) or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be three finite numbers, but is {arguments.shown(value)}")
    return found
