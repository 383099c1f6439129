"""Critical time step of central differences for bodies with lumped masses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._types import FloatArray
from .stiffness import largest_eigenvalue


def critical_step(
    body: Any, inverse_mass: FloatArray, u: FloatArray | None, v: FloatArray | None, tolerance: float
) -> float:
    """See :meth:`.Body.critical_time_step` [s]. Collective."""
    at = np.zeros(body.size) if u is None else u

    def add(x: FloatArray, out: FloatArray) -> None:
        body.subtract_tangent(at, x, out)
        np.negative(out, out=out)

    if not body.comm.allreduce(bool(inverse_mass.any())):
        return math.inf
    square = largest_rate(body, add, inverse_mass, tolerance)
    damped = body.damping_rate + body.stiffness_damping * square
    damped += body.viscous_rate(inverse_mass, at, v, tolerance)
    if square == 0.0 and damped == 0.0:
        return math.inf
    dt: float = 4.0 / (damped + math.hypot(damped, 2 * math.sqrt(square)))
    return dt


def largest_rate(
    body: Any, add: Callable[[FloatArray, FloatArray], None], inverse_mass: FloatArray, tolerance: float
) -> float:
    """Largest eigenvalue of ``M^-1 A``; ``add(x, out)`` adds ``A x`` to a zero ``out``. Collective."""
    root = np.sqrt(inverse_mass)
    x, y = np.zeros(body.size), np.zeros(body.size)

    def apply(q: FloatArray, out: FloatArray) -> None:
        np.multiply(root, q, out=x[: body.owned])
        y[:] = 0.0
        add(x, y)
        np.multiply(root, y[: body.owned], out=out)

    return largest_eigenvalue(body.comm, apply, root * rough_field(body), tolerance=tolerance)


def rough_field(body: Any) -> FloatArray:
    """Start vector with components of all modes, independent of the partition, shape (owned,)."""
    x = body.x[: body.owned // body.block] / body.length
    phase = x @ np.array([[1297.0, 911.0, 1103.0], [1471.0, 1031.0, 787.0], [853.0, 1289.0, 1187.0]])
    # The phase shift avoids an odd field, orthogonal to the even modes of a symmetric body.
    waves = np.sin(1e3 * phase + 1.0)
    if body.block > 3:
        waves = np.hstack([waves, np.sin(1.7e3 * phase + 1.0)])
    return np.ascontiguousarray(waves[:, : body.block]).ravel()
