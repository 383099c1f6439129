"""Gap functions of bodies of revolution in cylindrical coordinates.

A profile returns the gap and its derivatives with respect to the distance r from the axis and z along it. It
is branch-free arithmetic, so that the same code serves arrays and compiled loops; truth values count as 0
and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra import kernels

#: Distances from the axis below this fraction of the distance along it are round-off.
ON_AXIS = 16 * float(np.finfo(float).eps)


def solid_cylinder(p: Any, r: Any, z: Any) -> Any:
    """Outside of radius ``p[0]`` between ``p[1]`` and ``p[2]`` [m]."""
    side, below, above = r - p[0], p[1] - z, z - p[2]
    end, up = np.maximum(below, above), 2 * (above >= below) - 1
    out_r, out_z = np.maximum(side, 0.0), np.maximum(end, 0.0)
    away = np.hypot(out_r, out_z)
    within, wall = 1 - (away > 0), 1 * (side >= end)
    gap = away + np.minimum(np.maximum(side, end), 0.0)
    n_r, n_z = out_r + within * wall, up * (out_z + within * (1 - wall))
    return gap, n_r / (away + within), n_z / (away + within)


def hollow_cylinder(p: Any, r: Any, z: Any) -> Any:
    """Inside of radius ``p[0]`` between ``p[1]`` and ``p[2]`` [m]."""
    side, below, above = r - p[0], p[1] - z, z - p[2]
    end, up = np.maximum(below, above), 2 * (above >= below) - 1
    wall = 1.0 * (side >= end)
    return -np.maximum(side, end), -wall, -up * (1.0 - wall)


def solid_cone(p: Any, r: Any, z: Any) -> Any:
    """Outside of a cone: sine and cosine of its angle; height, wall, radius of base [m]."""
    along, side, end = r * p[0] + z * p[1], r * p[1] - z * p[0], z - p[2]
    # Closest feature: above the base the base or its rim, beside the wall the wall, the tip or the rim.
    base = 1 * (end > 0)
    out_side = (1 - base) * np.maximum(side, 0.0)
    over = (out_side > 0) * (np.maximum(along - p[3], 0.0) + np.minimum(along, 0.0))
    out_end, out_r = np.maximum(end, 0.0), base * np.maximum(r - p[4], 0.0)
    away = np.hypot(out_side, over) + np.hypot(out_r, out_end)
    within, wall = 1 - (away > 0), 1 * (side >= end)
    n_r = out_r + out_side * p[1] + over * p[0] + within * wall * p[1]
    n_z = out_end - out_side * p[0] + over * p[1] + within * (1 - wall - wall * p[0])
    gap = away + within * np.minimum(np.maximum(side, end), 0.0)
    return gap, n_r / (away + within), n_z / (away + within)


def hollow_cone(p: Any, r: Any, z: Any) -> Any:
    """Inside of the cone of :func:`solid_cone`."""
    along, side, end = r * p[0] + z * p[1], r * p[1] - z * p[0], z - p[2]
    tip, over = 1 * (along < 0), np.minimum(along, 0.0)
    away = np.hypot(side, over)
    wall_gap = tip * away + (1 - tip) * side
    w_r = (1 - tip) * p[1] + tip * (side * p[1] + over * p[0]) / (away + (1 - tip))
    w_z = (tip - 1) * p[0] + tip * (over * p[1] - side * p[0]) / (away + (1 - tip))
    wall = 1.0 * (wall_gap >= end)
    return -np.maximum(wall_gap, end), -wall * w_r, -wall * w_z - (1.0 - wall)


def torus(p: Any, r: Any, z: Any) -> Any:
    """Outside (``p[2] = 1``) or inside (-1) of a tube of radius ``p[1]`` around radius ``p[0]`` [m]."""
    away = np.hypot(r - p[0], z)
    middle = 1.0 * (away == 0)
    return p[2] * (away - p[1]), p[2] * (r - p[0] + middle) / (away + middle), p[2] * z / (away + middle)


def profile(kind: int, p: Any, r: Any, z: Any) -> Any:
    """Profile number ``kind`` at the distances ``r`` from and ``z`` along the axis [m]."""
    if kind == 0:
        return solid_cylinder(p, r, z)
    if kind == 1:
        return hollow_cylinder(p, r, z)
    if kind == 2:
        return solid_cone(p, r, z)
    if kind == 3:
        return hollow_cone(p, r, z)
    return torus(p, r, z)


def compiled(
    kind: int, p: FloatArray, point: FloatArray, axis: FloatArray, across: FloatArray
) -> Callable[..., float]:
    """Compiled ``surface(x, normal)`` for one point: returns the gap [m] and writes the normal.

    Args:
        kind, p: The profile and its parameters.
        point: Point of the axis where z = 0 [m].
        axis: Unit vector along the axis.
        across: Unit vector normal to the axis, used where r = 0.
    """

    def surface(x: FloatArray, normal: FloatArray) -> float:
        z, slip, square = 0.0, 0.0, 0.0
        for i in range(x.size):
            z += (x[i] - point[i]) * axis[i]
        for i in range(x.size):
            normal[i] = x[i] - point[i] - z * axis[i]
            slip += normal[i] * axis[i]
        for i in range(x.size):
            normal[i] -= slip * axis[i]
            square += normal[i] * normal[i]
        r = math.sqrt(square)
        if r <= ON_AXIS * abs(z):
            r = 0.0
        gap: float
        gap, n_r, n_z = profile(kind, p, r, z)
        for i in range(x.size):
            normal[i] = n_r * (normal[i] / r if r > 0.0 else across[i]) + n_z * axis[i]
        return gap

    return kernels.jit(surface, solid_cylinder, hollow_cylinder, solid_cone, hollow_cone, torus, profile)
