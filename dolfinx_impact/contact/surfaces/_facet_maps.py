"""Normals and shape functions of facets, compiled by numba where it is installed."""

from __future__ import annotations

import math

from ..._types import FloatArray, IntArray

_NEWTON_STEPS = 30


def line_normal(x: FloatArray, nodes: IntArray, corners: IntArray, n: FloatArray) -> float:
    """Write the outward unit normal of a facet in the plane; returns its length [m]."""
    a, b = nodes[corners[0]], nodes[corners[1]]
    n[0], n[1] = x[b, 1] - x[a, 1], x[a, 0] - x[b, 0]
    size: float = math.sqrt(n[0] * n[0] + n[1] * n[1])
    n[0] /= size
    n[1] /= size
    return size


def polygon_normal(x: FloatArray, nodes: IntArray, corners: IntArray, n: FloatArray) -> float:
    """Write the mean outward unit normal of a facet in space; returns its area [m2]."""
    k = corners.size
    o, a = nodes[corners[0]], nodes[corners[k - 2]]
    p, b = nodes[corners[1 if k == 4 else 0]], nodes[corners[k - 1]]
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        n[i] = (x[a, j] - x[o, j]) * (x[b, m] - x[p, m]) - (x[a, m] - x[o, m]) * (x[b, j] - x[p, j])
    size = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for i in range(3):
        n[i] /= size
    return 0.5 * size


def tangents(n: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """Write unit tangents with ``a x b = n``, Duff et al., J. Comput. Graph. Tech. 6 (2017)."""
    sign = math.copysign(1.0, n[2])
    c = -1.0 / (sign + n[2])
    a[0], a[1], a[2] = 1.0 + sign * n[0] * n[0] * c, sign * n[0] * n[1] * c, -sign * n[0]
    b[0], b[1], b[2] = n[0] * n[1] * c, sign + n[1] * n[1] * c, -n[1]


def factors(points: FloatArray, s: float, N: FloatArray, dN: FloatArray) -> None:
    """Write the Lagrange polynomials of the nodes ``points`` at s, and their derivatives."""
    for i in range(points.size):
        value, slope = 1.0, 0.0
        for j in range(points.size):
            if j != i:
                width = points[i] - points[j]
                slope = slope * (s - points[j]) / width + value / width
                value *= (s - points[j]) / width
        N[i], dN[i] = value, slope


def line_functions(points: FloatArray, y: FloatArray, at: float, N: FloatArray, dN: FloatArray) -> float:
    """Write the shape functions where the projected facet ``y`` has the coordinate ``at``; returns its slope.

    Newton's method, one step for linear facets.
    """
    last = points.size - 1
    s: float = (at - y[0]) / (y[last] - y[0])
    slope: float = y[last] - y[0]
    for _ in range(_NEWTON_STEPS):
        factors(points, s, N, dN)
        value, slope = -at, 0.0
        for i in range(points.size):
            value += N[i] * y[i]
            slope += dN[i] * y[i]
        if last == 1 or abs(value) <= 1e-15 * abs(slope):
            break
        s -= value / slope
    return slope


def triangle_functions(y: FloatArray, a: float, b: float, N: FloatArray) -> None:
    """Write the barycentric coordinates of the point (a, b) in the projected triangle ``y``."""
    ux, uy, wx, wy = y[1, 0] - y[0, 0], y[1, 1] - y[0, 1], y[2, 0] - y[0, 0], y[2, 1] - y[0, 1]
    det = ux * wy - uy * wx
    px, py = a - y[0, 0], b - y[0, 1]
    N[1], N[2] = (px * wy - py * wx) / det, (ux * py - uy * px) / det
    N[0] = 1.0 - N[1] - N[2]


def corner_map(y: FloatArray, corners: IntArray, out: FloatArray) -> None:
    """Write the bilinear map ``o + u s + w t + q s t`` of the corners of a projected facet, shape (4, 2)."""
    for c in range(2):
        out[0, c] = y[corners[0], c]
        out[1, c] = y[corners[1], c] - y[corners[0], c]
        out[2, c] = y[corners[3], c] - y[corners[0], c]
        out[3, c] = y[corners[2], c] - y[corners[1], c] - out[2, c]


def bilinear_point(m: FloatArray, a: float, b: float) -> tuple[float, float]:
    """Parameters (s, t) of the point (a, b) in the map m of :func:`corner_map`, by Newton's method."""
    s, t = 0.5, 0.5
    for _ in range(_NEWTON_STEPS):
        xs, ys, xt, yt = (
            m[1, 0] + m[3, 0] * t,
            m[1, 1] + m[3, 1] * t,
            m[2, 0] + m[3, 0] * s,
            m[2, 1] + m[3, 1] * s,
        )
        rx, ry = m[0, 0] + xs * s + m[2, 0] * t - a, m[0, 1] + ys * s + m[2, 1] * t - b
        scale = 1.0 / (xs * yt - ys * xt)
        ds, dt = (rx * yt - ry * xt) * scale, (xs * ry - ys * rx) * scale
        s -= ds
        t -= dt
        # Newton's method is quadratic: what is left is the square of the last change.
        if abs(ds) + abs(dt) <= 1e-9:
            break
    return s, t


def bilinear_functions(m: FloatArray, a: float, b: float, N: FloatArray) -> None:
    """Write the bilinear shape functions at the point (a, b) of a projected facet with the map m."""
    s, t = bilinear_point(m, a, b)
    N[0], N[1], N[2], N[3] = (1.0 - s) * (1.0 - t), (1.0 - s) * t, s * (1.0 - t), s * t


def quadrilateral_functions(
    points: FloatArray, y: FloatArray, m: FloatArray, a: float, b: float, work: FloatArray, N: FloatArray
) -> None:
    """Write the tensor-product shape functions where the projected facet ``y`` has the coordinates (a, b).

    Newton's method, from the point in the map m of its corners.
    """
    n = points.size
    P, Q, dP, dQ = work[0], work[1], work[2], work[3]
    s, t = bilinear_point(m, a, b)
    for _ in range(_NEWTON_STEPS):
        factors(points, s, P, dP)
        factors(points, t, Q, dQ)
        rx, ry, xs, ys, xt, yt = -a, -b, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            for j in range(n):
                k = i * n + j
                N[k] = P[i] * Q[j]
                rx += N[k] * y[k, 0]
                ry += N[k] * y[k, 1]
                xs += dP[i] * Q[j] * y[k, 0]
                ys += dP[i] * Q[j] * y[k, 1]
                xt += P[i] * dQ[j] * y[k, 0]
                yt += P[i] * dQ[j] * y[k, 1]
        det = xs * yt - ys * xt
        ds, dt = (rx * yt - ry * xt) / det, (xs * ry - ys * rx) / det
        if abs(ds) + abs(dt) <= 1e-14:
            break
        s -= ds
        t -= dt


def facet_functions(
    points: FloatArray,
    simplex: bool,
    y: FloatArray,
    m: FloatArray,
    a: float,
    b: float,
    work: FloatArray,
    N: FloatArray,
) -> None:
    """Write the shape functions of a facet in space at the point (a, b) of its projection.

    Args:
        points: Nodes of the factors of the shape functions.
        simplex: Whether the facet is a triangle.
        y: Projected nodes, shape (n, 2) [m].
        m: Map of the corners of a quadrilateral, see :func:`corner_map`.
        a, b: The point [m].
        work: Work array of four rows.
        N: Written, shape (n,).
    """
    if simplex:
        triangle_functions(y, a, b, N)
    elif points.size == 2:
        bilinear_functions(m, a, b, N)
    else:
        quadrilateral_functions(points, y, m, a, b, work, N)


#: Functions that these call, for the compiler.
CALLED = (
    line_normal,
    polygon_normal,
    tangents,
    factors,
    line_functions,
    triangle_functions,
    corner_map,
    bilinear_point,
    bilinear_functions,
    quadrilateral_functions,
    facet_functions,
)
