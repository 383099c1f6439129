"""Places of a linear pressure on a part of a facet that a small body covers, compiled by numba.

The pressure is ``sum_k r_k w_k / A_k`` with linear functions w_k, each of which takes the value of a linear
field at one place: ``int w_k f dA = A_k f(x_k)``. With places at the ends of the part the resultant of
impulses ``r_k >= 0`` lies anywhere between them and nowhere else, as that of a body that stands on a plane.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import FloatArray, IntArray
from ._arrays import FacetArrays, Segments

#: Extent of a part over the diameter of the opposite facets below which it has one place: the rest of the
#: body covers other facets.
_THIN = 0.1


def set_axes(
    first: int, last: int, x: FloatArray, facets: FacetArrays, segments: Segments, f: int, axes: FloatArray
) -> float:
    """Write unit axes in the plane of the facet f; returns the least diameter of the opposite facets.

    In space the axes are those of the opposite edges, up to quarters of a turn: the sides of a block.

    Args:
        first, last: Candidate pairs of the part of the facet.
        x: Positions of all nodes.
        facets, segments: All facets and candidate pairs.
        f: The facet.
        axes: Written, shape (2, gdim).
    """
    nodes, corners, pairs, found = facets.nodes, facets.corners, segments.pairs, segments.found
    gdim, width = x.shape[1], np.inf
    o, a, b = nodes[f, corners[0]], nodes[f, corners[1]], nodes[f, corners[corners.size - 1]]
    size, along, other = 0.0, 0.0, 0.0
    for i in range(gdim):
        axes[0, i] = x[a, i] - x[o, i]
        size += axes[0, i] ** 2
    for i in range(gdim):
        axes[0, i] /= math.sqrt(size)
    for p in range(first, last):
        if found[p]:
            width = min(width, facets.diameter[pairs[p, 1]])
    if gdim == 2:
        return width
    for i in range(gdim):
        axes[1, i] = x[b, i] - x[o, i]
        along += axes[1, i] * axes[0, i]
    for i in range(gdim):
        axes[1, i] -= along * axes[0, i]
        other += axes[1, i] ** 2
    for i in range(gdim):
        axes[1, i] /= math.sqrt(other)
    real, imaginary = 0.0, 0.0
    for p in range(first, last):
        if not found[p]:
            continue
        for k in range(corners.size):
            s, e = nodes[pairs[p, 1], corners[k]], nodes[pairs[p, 1], corners[(k + 1) % corners.size]]
            u, v = 0.0, 0.0
            for i in range(gdim):
                u += axes[0, i] * (x[e, i] - x[s, i])
                v += axes[1, i] * (x[e, i] - x[s, i])
            length = math.sqrt(u * u + v * v)
            angle = 4.0 * math.atan2(v, u)
            real += length * math.cos(angle)
            imaginary += length * math.sin(angle)
    turn = 0.25 * math.atan2(imaginary, real)
    c, s = math.cos(turn), math.sin(turn)
    for i in range(gdim):
        u, v = axes[0, i], axes[1, i]
        axes[0, i], axes[1, i] = c * u + s * v, c * v - s * u
    return width


def set_ends(
    x: FloatArray, nodes: IntArray, corners: IntArray, M: FloatArray, D: FloatArray, axes: FloatArray,
    width: float, y: FloatArray, slopes: FloatArray,
) -> bool:  # fmt: skip
    """Write the slopes of the functions ``w_k / A_k = 1 + slope.(y - mean)``; returns whether there are ends.

    The ends are those of a rectangle (in the plane: of an interval) with the moments of the part; on a
    triangle, of one similar to the facet.

    Args:
        x: Positions of all nodes.
        nodes: Nodes of the facet.
        corners: Corners among them.
        M, D: ``int N N^T dA`` and ``int N dA`` over the part.
        axes: Axes in the plane of the facet.
        width: Least diameter of the opposite facets.
        y: Written: coordinates of the nodes relative to the middle of the part, shape (n, 2).
        slopes: Written, one for each corner, shape (corners, 2).
    """
    nn, dim, area = nodes.size, x.shape[1] - 1, D.sum()
    for a in range(dim):
        mean = 0.0
        for j in range(nn):
            y[j, a] = 0.0
            for i in range(x.shape[1]):
                y[j, a] += axes[a, i] * (x[nodes[j], i] - x[nodes[0], i])
            mean += D[j] * y[j, a] / area
        for j in range(nn):
            y[j, a] -= mean
    uu, uv, vv, facet = 0.0, 0.0, 0.0, 0.0
    for j in range(nn):
        for k in range(nn):
            uu += y[j, 0] * M[j, k] * y[k, 0] / area
            if dim == 2:
                uv += y[j, 0] * M[j, k] * y[k, 1] / area
                vv += y[j, 1] * M[j, k] * y[k, 1] / area
    half = math.sqrt(3.0 * max(uu, 0.0))
    if 2.0 * half <= _THIN * width or uu <= 0.0:
        return False
    if dim == 1:
        slopes[0, 0], slopes[1, 0] = -half / uu, half / uu
        return True
    other, det = math.sqrt(3.0 * max(vv, 0.0)), uu * vv - uv * uv
    if 2.0 * other <= _THIN * width or det <= 1e-12 * uu * vv:
        return False
    middle_u, middle_v = 0.0, 0.0
    for c in range(corners.size):
        middle_u += y[corners[c], 0] / corners.size
        middle_v += y[corners[c], 1] / corners.size
    for c in range(corners.size):
        facet += ((y[corners[c], 0] - middle_u) ** 2 + (y[corners[c], 1] - middle_v) ** 2) / 12.0
    scale = math.sqrt((uu + vv) / facet)
    for c in range(corners.size):
        if corners.size == 3:
            u, v = scale * (y[corners[c], 0] - middle_u), scale * (y[corners[c], 1] - middle_v)
        else:
            u, v = (half if c in (1, 2) else -half), (other if c >= 2 else -other)
        slopes[c, 0], slopes[c, 1] = (vv * u - uv * v) / det, (uu * v - uv * u) / det
    return True


#: Functions that :func:`._rows.dual_basis` calls.
CALLED = (set_axes, set_ends)
