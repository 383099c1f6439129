"""Dual basis of the covered part of each facet, weighted gaps and rows of L."""

from __future__ import annotations

import math

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray
from . import _places
from ._arrays import FacetArrays, Parts, Points, Segments
from ._places import set_axes, set_ends

#: Added to the Gram matrices, relative to their trace: slivers of high degree are singular to round-off.
_REGULARISATION = 1e-14
#: A facet covered by less than this part of its area counts as uncovered.
_UNCOVERED = 1e-9
#: Largest sum of the master side's weights in a row of a facet, where 1 is their sum with signs. Above it the
#: facet has one row: the functions of a part covered by a body much smaller than the facet extrapolate the
#: motion of that body to nodes far away.
_EXTRAPOLATED = 10.0
#: Points of a node whose normals make a smaller angle (its cosine) have one row.
_ALIKE = math.sqrt(0.5)


def invert(M: FloatArray, out: FloatArray) -> None:
    """Write the inverse of a small positive definite matrix, which is overwritten (Gauss-Jordan)."""
    n = M.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 1.0 if i == j else 0.0
    for i in range(n):
        pivot = 1.0 / M[i, i]
        for j in range(n):
            M[i, j] *= pivot
            out[i, j] *= pivot
        for k in range(n):
            if k != i:
                factor = M[k, i]
                for j in range(n):
                    M[k, j] -= factor * M[i, j]
                    out[k, j] -= factor * out[i, j]


def extrapolation(
    first: int, last: int, cross: FloatArray, found: BoolArray, T: FloatArray, D: FloatArray
) -> float:
    """Largest sum of ``|int psi_i N_m dA| / D_i`` over the nodes of the master facets of the segments."""
    largest = 0.0
    for i in range(D.size):
        total = 0.0
        for p in range(first, last):
            if found[p]:
                for j in range(D.size):
                    weight = 0.0
                    for k in range(D.size):
                        weight += T[i, k] * cross[p, k, j]
                    total += abs(weight)
        largest = max(largest, total / D[i])
    return largest


def most_covered(D: FloatArray) -> int:
    """The node of a facet with the largest area, the first of equal ones."""
    k = 0
    for i in range(1, D.size):
        if D[i] > (1.0 + 1e-9) * D[k]:
            k = i
    return k


def dual_basis(x: FloatArray, marks: IntArray, facets: FacetArrays, segments: Segments, parts: Parts) -> None:
    """Dual basis ``psi = T N``, ``T = D M^-1``, of the part of each slave facet that has segments.

    Where these extrapolate too far, ``psi = 1`` at the node next to that part: one row of its mean gap. Where
    the opposite body is smaller than the facets that it touches, so that none of them is covered, the
    pressure on the part is linear, with places at its ends; see :mod:`._places`.

    Args:
        x: Positions of the nodes, shape (nodes, gdim) [m].
        marks: 1 at the nodes of covered facets, shape (nodes,).
        facets, segments: All facets, and the integrals over segments.
        parts: Parts of the slave facets; all but ``start``, ``facet`` and ``size`` is written.
    """
    nodes, corners = facets.nodes, facets.corners
    mass, cross, gaps = segments.mass, segments.cross, segments.gaps
    lowest, found = segments.lowest, segments.found
    starts, T, areas, weighted = parts.start, parts.T, parts.areas, parts.weighted
    bottom, placed, nn = parts.bottom, parts.placed, gaps.shape[1]
    scratch, gdim = facets.scratch, x.shape[1]
    M, inverse, axes = scratch.squares[0], scratch.squares[1], scratch.vectors[:2]
    G, D, y, slopes = (
        scratch.functions[0, :nn],
        scratch.functions[1, :nn],
        scratch.polygons[0],
        scratch.maps[0],
    )
    for e in range(starts.size - 1):
        M[:], G[:], bottom[e] = 0.0, 0.0, np.inf
        for p in range(starts[e], starts[e + 1]):
            if found[p]:
                M += mass[p]
                G += gaps[p]
                bottom[e] = min(bottom[e], lowest[p])
        covered, beside, f = M.sum(), False, parts.facet[e]
        areas[e], weighted[e], placed[e] = 0.0, 0.0, False
        for k in range(nn):
            beside = beside or marks[nodes[f, k]] > 0
        if covered <= _UNCOVERED * parts.size[e]:
            continue
        trace = 0.0
        for k in range(nn):
            trace += M[k, k]
            D[k] = M[k].sum()
        for k in range(nn):
            M[k, k] += _REGULARISATION * trace
        invert(M, inverse)
        for i in range(nn):
            areas[e, i] = D[i]
            for k in range(nn):
                T[e, i, k] = D[i] * inverse[i, k]
                weighted[e, i] += T[e, i, k] * G[k]
        if beside and extrapolation(starts[e], starts[e + 1], cross, found, T[e], D) <= _EXTRAPOLATED:
            continue
        T[e], areas[e], weighted[e], M[:] = 0.0, 0.0, 0.0, 0.0
        for p in range(starts[e], starts[e + 1]):
            if found[p]:
                M += mass[p]
        width = set_axes(starts[e], starts[e + 1], x, facets, segments, f, axes)
        if beside or not set_ends(x, nodes[f], corners, M, D, axes, width, y, slopes):
            k = most_covered(D)
            T[e, k], areas[e, k], weighted[e, k] = 1.0, covered, G.sum()
            continue
        placed[e] = True
        for c in range(corners.size):
            k = corners[c]
            areas[e, k] = covered / corners.size
            for j in range(nn):
                T[e, k, j] = 1.0
                for a in range(gdim - 1):
                    T[e, k, j] += slopes[c, a] * y[j, a]
                T[e, k, j] /= corners.size
                weighted[e, k] += T[e, k, j] * G[j]


def join_points(points: Points, parts: Parts, segments: Segments, normal: FloatArray) -> None:
    """Decide which points of a node share a row: those that are pushed in similar directions.

    The smooth sides of a corner that meets a flat surface have one row there, and rows apart in the corner
    of a room. The point whose side faces the other surface best has the row.

    Args:
        points: Its ``leads`` and ``following`` are written.
        parts, segments: See :func:`dual_basis`.
        normal: Outward normals of all facets.
    """
    groups, start = points.groups, points.start
    direction, facing, leads, following = points.direction, points.facing, points.leads, points.following
    starts, pairs, mass = parts.start, segments.pairs, segments.mass
    normals, found = segments.normals, segments.found
    gdim = direction.shape[1]
    for group in range(groups.shape[0]):
        first, end = groups[group]
        for q in range(first, end):
            direction[q], facing[q], leads[q], following[q], covered = 0.0, -np.inf, False, -1, 0.0
            towards = 0.0
            for m in range(start[q], start[q + 1]):
                e = points.parts[m]
                if parts.areas[e, points.places[m]] == 0.0:
                    continue
                for p in range(starts[e], starts[e + 1]):
                    if found[p]:
                        size = mass[p].sum()
                        covered += size
                        for c in range(gdim):
                            direction[q, c] += size * normals[p, c]
                            towards -= size * normals[p, c] * normal[pairs[p, 0], c]
            if covered > 0.0:
                facing[q] = towards / covered
                length = 0.0
                for c in range(gdim):
                    length += direction[q, c] ** 2
                length = math.sqrt(length)
                for c in range(gdim):
                    direction[q, c] /= length
        for _ in range(first, end):
            best = -1
            for q in range(first, end):
                if facing[q] > -np.inf and (best < 0 or facing[q] > facing[best] + 1e-9):
                    best = q
            if best < 0:
                break
            leads[best], facing[best], last = True, -np.inf, best
            for q in range(first, end):
                if facing[q] == -np.inf:
                    continue
                cosine = 0.0
                for c in range(gdim):
                    cosine += direction[q, c] * direction[best, c]
                if cosine > _ALIKE:
                    following[last], facing[q], last = q, -np.inf, q


def weighted_gaps(points: Points, parts: Parts, straight: bool) -> None:
    """Gaps ``g_i`` [m] and covered areas ``A_i`` [m2] of the points; a gap without segments is infinite.

    The weighted gap of a node outside of the covered part of its facets is extrapolated from it. Where the
    facets lean to each other it may be negative although nothing touches: it counts down to the least gap of
    the segments, and where it is far below that one, nothing is opposite to the node.

    Args:
        points: Its ``gap`` and ``area`` are written.
        parts: See :func:`dual_basis`.
        straight: Whether facets are linear, so that the least gap is at a corner of a segment.
    """
    start, following, gap, area, areas = points.start, points.following, points.gap, points.area, parts.areas
    for i in range(gap.size):
        gap[i], area[i] = np.inf, 0.0
        if not points.leads[i]:
            continue
        A, g, least, margin, q = 0.0, 0.0, np.inf, 0.0, i
        while q >= 0:
            margin = max(margin, points.beyond[q])
            for m in range(start[q], start[q + 1]):
                e, k = points.parts[m], points.places[m]
                A += areas[e, k]
                g += parts.weighted[e, k]
                if areas[e, k] > 0.0:
                    least = min(least, parts.bottom[e])
            q = following[q]
        g = g / A if A > 0.0 else np.inf
        if g < least - margin:
            continue
        if straight and g < least:
            g = least
        if g < np.inf:
            gap[i], area[i] = g, A


def weigh(
    x: FloatArray,
    marks: IntArray,
    facets: FacetArrays,
    normal: FloatArray,
    segments: Segments,
    parts: Parts,
    points: Points,
) -> None:
    """Dual basis, rows that points share, weighted gaps and areas.

    Args:
        x, marks, facets, segments, parts: See :func:`dual_basis`.
        normal, points: See :func:`join_points` and :func:`weighted_gaps`.
    """
    dual_basis(x, marks, facets, segments, parts)
    join_points(points, parts, segments, normal)
    weighted_gaps(points, parts, facets.points.size == 2)


#: Functions that :func:`weigh` calls.
CALLED = (invert, extrapolation, most_covered, *_places.CALLED, dual_basis, join_points, weighted_gaps)


def longest_rows(which: IntArray, points: Points, starts: IntArray) -> int:
    """Upper bound of the number of segments in the rows ``which``."""
    total = 0
    for i in which:
        q = i
        while q >= 0:
            for m in range(points.start[q], points.start[q + 1]):
                e = points.parts[m]
                total += starts[e + 1] - starts[e]
            q = points.following[q]
    return total


def add_entry(
    node: int, weight: float, n: FloatArray, first: int, used: int, place: IntArray,
    nodes: IntArray, B: FloatArray, W: FloatArray,
) -> int:  # fmt: skip
    """Add a node's weight and normal to the row that begins at ``first``; returns the row's end."""
    at = place[node]
    if at < first:
        at = used
        place[node] = at
        nodes[at], W[at] = node, 0.0
        B[at] = 0.0
        used += 1
    W[at] += weight
    for c in range(n.size):
        B[at, c] += weight * n[c]
    return used


def rows(
    which: IntArray, facets: IntArray, segments: Segments, parts: Parts, points: Points, place: IntArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Rows of L and W at the points ``which``.

    Args:
        which: Numbers of the points.
        facets: Nodes of all facets.
        segments, parts, points: See :func:`weigh`.
        place: Scratch of -1, one per node; restored.

    Returns:
        Length of the row of each point, 0 for others; node, normal weights and scalar weight of each entry.
    """
    pairs, normals, mass = segments.pairs, segments.normals, segments.mass
    cross, found, starts, T, areas = segments.cross, segments.found, parts.start, parts.T, parts.areas
    nn, used, most = facets.shape[1], 0, longest_rows(which, points, starts) * 2 * facets.shape[1]
    lengths, nodes = np.zeros(points.gap.size, np.int64), np.empty(most, np.int64)
    B, W = np.empty((most, normals.shape[1])), np.empty(most)
    for i in which:
        first, q = used, i
        while q >= 0:
            for f in range(points.start[q], points.start[q + 1]):
                e, k = points.parts[f], points.places[f]
                if areas[e, k] == 0.0:
                    continue
                for p in range(starts[e], starts[e + 1]):
                    if not found[p]:
                        continue
                    for j in range(nn):
                        slave, master = 0.0, 0.0
                        for m in range(nn):
                            slave += T[e, k, m] * mass[p, m, j]
                            master -= T[e, k, m] * cross[p, m, j]
                        s, o, area = facets[pairs[p, 0], j], facets[pairs[p, 1], j], points.area[i]
                        used = add_entry(s, slave / area, normals[p], first, used, place, nodes, B, W)
                        used = add_entry(o, master / area, normals[p], first, used, place, nodes, B, W)
            q = points.following[q]
        for at in range(first, used):
            place[nodes[at]] = -1
        lengths[i] = used - first
    return lengths, nodes[:used], B[:used], W[:used]
