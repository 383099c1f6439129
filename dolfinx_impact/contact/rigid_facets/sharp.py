"""Exact places of least distance: where sharp points and edges of an obstacle meet parts of facets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import BoolArray, FloatArray
from .minimum import Distance, Least, coordinates, first_of, quadrilateral, rounded, snapped
from .parts import normals

#: Distance of an exact place above the least that was found, by the diameter, up to which it is the same.
_RESOLVED = 2e-3
#: Difference of heights, by the diameter, up to which an edge is parallel to a part.
_PARALLEL = 1e-9
#: Round-off of coordinates of a part.
_OUTSIDE = 1e-9
#: Iterations for the coordinates of a point on a quadrilateral.
_ITERATIONS = 8


def exact(
    face: Any, distance: Distance, x: FloatArray, sizes: FloatArray, found: Least, time: tuple[float, ...]
) -> Least:
    """The places found, by exact ones where a sharp point or edge of the face is.

    Args:
        face: The face of an obstacle; with ``sharp_points(t)``, positions of shape (m, gdim) [m], or
            ``sharp_edges(t)``, their ends of shape (m, 2, gdim) [m], or neither.
        distance: Its signed distance.
        x: Corners of the parts, shape (k, n, gdim) [m].
        sizes: Their diameters, shape (k,) [m].
        found: What was found without.
        time: The time [s], where the face moves.
    """
    gdim, count = x.shape[2], len(x)
    points = np.asarray(getattr(face, "sharp_points", _none)(*time)).reshape(-1, gdim)
    given = getattr(face, "sharp_edges", _none)(*time) if gdim == 3 else _none()
    edges = np.asarray(given).reshape(-1, 2, gdim)
    if not (len(points) or len(edges)):
        return found
    part, under = np.repeat(np.arange(count), len(points)), np.repeat(np.arange(count), len(edges))
    lowest, over = _lowest_of(np.tile(edges, (count, 1, 1)), x[under], sizes[under])
    part = np.concatenate([part, under[over]])
    at, inside = weights_at(x[part], np.vstack([np.tile(points, (count, 1)), lowest[over]]))
    part, at = part[inside], at[inside]
    values = distance(np.einsum("kn,kni->ki", at, x[part]))
    best = first_of(part, rounded(values, sizes[part]))
    part, at, values = part[best], at[best], values[best]
    # Where the place is inside, the least distance is that of the middle of the obstacle.
    allowed = found.distance + _RESOLVED * sizes + 0.5 * np.maximum(-found.distance, 0.0)
    taken = values <= allowed[part]
    weights, least = found.weights.copy(), found.distance.copy()
    weights[part[taken]], least[part[taken]] = at[taken], values[taken]
    return Least(weights, least)


def weights_at(x: FloatArray, y: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Weights of the points of parts that are nearest to ``y``, shape (k, n), and whether they are in them.

    Args:
        x: Corners of the parts, shape (k, n, gdim) [m].
        y: A point for each part, shape (k, gdim) [m].
    """
    n = x.shape[1]
    if n == 2:
        d = x[:, 1] - x[:, 0]
        a = np.einsum("ki,ki->k", y - x[:, 0], d) / np.einsum("ki,ki->k", d, d)
        weights = np.column_stack([1.0 - a, a])
    elif n == 3:
        p, q, r = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0], y - x[:, 0]
        a, b = _least_squares(p, q, r)
        weights = np.column_stack([1.0 - a - b, a, b])
    else:
        a = b = np.full(len(x), 0.5)
        for _ in range(_ITERATIONS):
            p, q = tangents(x, quadrilateral(a, b))
            da, db = _least_squares(p, q, y - np.einsum("kn,kni->ki", quadrilateral(a, b), x))
            a, b = a + da, b + db
        within = (np.minimum(a, b) >= -_OUTSIDE) & (np.maximum(a, b) <= 1.0 + _OUTSIDE)
        return snapped(quadrilateral(np.clip(a, 0.0, 1.0), np.clip(b, 0.0, 1.0))), within
    inside: BoolArray = np.asarray(weights.min(axis=1) >= -_OUTSIDE)
    weights = np.maximum(weights, 0.0)
    return snapped(weights / weights.sum(axis=1, keepdims=True)), inside


def tangents(x: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives of the place on quadrilaterals by both coordinates, shape (k, gdim) each [m]."""
    a, b = (each[:, None] for each in coordinates(weights))
    along = (1 - b) * (x[:, 1] - x[:, 0]) + b * (x[:, 2] - x[:, 3])
    across = (1 - a) * (x[:, 3] - x[:, 0]) + a * (x[:, 2] - x[:, 1])
    return along, across


def _least_squares(p: FloatArray, q: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Factors a and b with the least ``|a p + b q - r|``, shape (k,) each."""
    pp, pq, qq, pr, qr = (np.einsum("ki,ki->k", *each) for each in ((p, p), (p, q), (q, q), (p, r), (q, r)))
    determinant = pp * qq - pq * pq
    determinant[determinant == 0.0] = np.inf
    return (qq * pr - pq * qr) / determinant, (pp * qr - pq * pr) / determinant


def _lowest_of(edges: FloatArray, x: FloatArray, sizes: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The lowest point of an edge over a part along its normal, and whether there is any; (k, 3) and (k,).

    The middle of those of one height.
    """
    if not len(x):
        return np.zeros((0, x.shape[2])), np.zeros(0, dtype=bool)
    n, begin, way = normals(x), edges[:, 0], edges[:, 1] - edges[:, 0]
    low: FloatArray = np.zeros(len(x))
    high: FloatArray = np.ones(len(x))
    for k in range(x.shape[1]):
        inward = np.cross(n, x[:, (k + 1) % x.shape[1]] - x[:, k])
        at, slope = np.einsum("ki,ki->k", begin - x[:, k], inward), np.einsum("ki,ki->k", inward, way)
        crossing = np.divide(-at, slope, out=np.zeros(len(x)), where=slope != 0.0)
        low = np.where(slope > 0.0, np.maximum(low, crossing), low)
        high = np.where(slope < 0.0, np.minimum(high, crossing), high)
        high = np.where((slope == 0.0) & (at < 0.0), -1.0, high)
    rise = np.einsum("ki,ki->k", n, way)
    level = np.abs(rise * (high - low)) <= _PARALLEL * sizes
    part = np.where(level, 0.5 * (low + high), np.where(rise > 0.0, low, high))
    return begin + part[:, None] * way, high >= low


def _none(*_: float) -> FloatArray:
    return np.zeros(0)
