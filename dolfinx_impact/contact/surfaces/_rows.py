"""Dual basis of the covered part of each facet, weighted gaps and rows of L."""

from __future__ import annotations

import math

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray
from ._places import set_axes, set_ends

#: Added to the Gram matrices, relative to their trace: slivers of high degree are singular to round-off.
_REGULARISATION = 1e-14
#: A facet covered by less than this part of its area counts as uncovered.
_UNCOVERED = 1e-9
#: Largest sum of the master side's weights in a row of a facet, where 1 is their sum with signs. Above it the
#: facet has one row: the functions of a part covered by a body much smaller than the facet extrapolate the
#: motion of that body to nodes far away.
_EXTRAPOLATED = 10.0
#: Part of its area from which a facet counts as covered.
_COVERED = 0.9
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


def mark_covered(
    starts: IntArray,
    mass: FloatArray,
    found: BoolArray,
    part_facet: IntArray,
    facets: IntArray,
    size: FloatArray,
    centre: FloatArray,
    axisymmetric: bool,
    marks: IntArray,
) -> None:
    """Set the marks of the nodes of slave facets that are covered by the opposite surface.

    Args:
        starts, mass, found: See :func:`dual_basis`.
        part_facet: Facet of each part, shape (parts,).
        facets: Nodes of all facets.
        size, centre: Areas (lengths in the plane) and centres of all facets.
        axisymmetric: Whether areas are those of the full revolution.
        marks: Set to 1, shape (nodes,).
    """
    for e in range(starts.size - 1):
        covered, f = 0.0, part_facet[e]
        for p in range(starts[e], starts[e + 1]):
            if found[p]:
                covered += mass[p].sum()
        whole = size[f] * (2.0 * math.pi * centre[f, 0] if axisymmetric else 1.0)
        if covered > 0.0 and covered >= _COVERED * whole:
            for k in range(facets.shape[1]):
                marks[facets[f, k]] = 1


def dual_basis(
    starts: IntArray,
    part_facet: IntArray,
    facets: IntArray,
    marks: IntArray,
    x: FloatArray,
    corners: IntArray,
    pairs: IntArray,
    diameter: FloatArray,
    mass: FloatArray,
    cross: FloatArray,
    gaps: FloatArray,
    lowest: FloatArray,
    found: BoolArray,
    sizes: FloatArray,
    T: FloatArray,
    areas: FloatArray,
    weighted: FloatArray,
    bottom: FloatArray,
    placed: BoolArray,
) -> None:
    """Dual basis ``psi = T N``, ``T = D M^-1``, of the part of each slave facet that has segments.

    Where these extrapolate too far, ``psi = 1`` at the node next to that part: one row of its mean gap. Where
    the opposite body is smaller than the facets that it touches, so that none of them is covered, the
    pressure on the part is linear, with places at its ends; see :mod:`._places`.

    Args:
        starts: First candidate pair of each part of a slave facet, shape (parts + 1,).
        part_facet, facets: See :func:`mark_covered`.
        marks: 1 at the nodes of covered facets, shape (nodes,).
        x, corners, pairs: See :func:`._segments.integrate`.
        diameter: Diameters of all facets, shape (facets,) [m].
        mass, cross, gaps, lowest, found: See :func:`._segments.integrate`.
        sizes: Areas of the facets at zero displacement, shape (facets,) [m2].
        T: Written, shape (facets, n, n).
        areas: Written: ``D_i``, covered areas of the nodes, shape (facets, n) [m2].
        weighted: Written: ``int psi_i g dA``, shape (facets, n) [m3].
        bottom: Written: least gap of the segments of each facet, shape (facets,) [m].
        placed: Written: whether a part has places of its own, shape (parts,).
    """
    nn = gaps.shape[1]
    M, inverse, G, gdim = np.empty((nn, nn)), np.empty((nn, nn)), np.empty(nn), x.shape[1]
    axes, y, slopes = np.zeros((2, gdim)), np.zeros((nn, 2)), np.zeros((4, 2))
    for e in range(starts.size - 1):
        M[:], G[:], bottom[e] = 0.0, 0.0, np.inf
        for p in range(starts[e], starts[e + 1]):
            if found[p]:
                M += mass[p]
                G += gaps[p]
                bottom[e] = min(bottom[e], lowest[p])
        covered, beside, f = M.sum(), False, part_facet[e]
        areas[e], weighted[e], placed[e] = 0.0, 0.0, False
        for k in range(nn):
            beside = beside or marks[facets[f, k]] > 0
        if covered <= _UNCOVERED * sizes[e]:
            continue
        D, trace = M.sum(axis=1), 0.0
        for k in range(nn):
            trace += M[k, k]
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
        width = set_axes(starts[e], starts[e + 1], found, pairs, x, facets, f, corners, diameter, axes)
        if beside or not set_ends(x, facets[f], corners, M, D, axes, width, y, slopes):
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


def join_points(
    groups: IntArray,
    point_start: IntArray,
    point_facets: IntArray,
    point_places: IntArray,
    areas: FloatArray,
    starts: IntArray,
    pairs: IntArray,
    mass: FloatArray,
    normals: FloatArray,
    found: BoolArray,
    normal: FloatArray,
    direction: FloatArray,
    facing: FloatArray,
    leads: BoolArray,
    following: IntArray,
) -> None:
    """Decide which points of a node share a row: those that are pushed in similar directions.

    The smooth sides of a corner that meets a flat surface have one row there, and rows apart in the corner
    of a room. The point whose side faces the other surface best has the row.

    Args:
        groups: First and end of the points of each node that has several, shape (groups, 2).
        point_start, point_facets, point_places, areas: See :func:`weighted_gaps`.
        starts, pairs, mass, normals, found: See :func:`dual_basis` and :func:`._segments.integrate`.
        normal: Outward normals of all facets.
        direction, facing: Work arrays, shapes (points, gdim), (points,).
        leads: Written: whether a point has a row of its own, shape (points,).
        following: Written: the next point of the same row, -1 for none, shape (points,).
    """
    gdim = direction.shape[1]
    for group in range(groups.shape[0]):
        first, end = groups[group]
        for q in range(first, end):
            direction[q], facing[q], leads[q], following[q], covered = 0.0, -np.inf, False, -1, 0.0
            towards = 0.0
            for m in range(point_start[q], point_start[q + 1]):
                e = point_facets[m]
                if areas[e, point_places[m]] == 0.0:
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


def weighted_gaps(
    point_start: IntArray,
    point_facets: IntArray,
    point_places: IntArray,
    leads: BoolArray,
    following: IntArray,
    areas: FloatArray,
    weighted: FloatArray,
    bottom: FloatArray,
    beyond: FloatArray,
    straight: bool,
    gap: FloatArray,
    area: FloatArray,
) -> None:
    """Gaps ``g_i`` [m] and covered areas ``A_i`` [m2] of the points; a gap without segments is infinite.

    The weighted gap of a node outside of the covered part of its facets is extrapolated from it. Where the
    facets lean to each other it may be negative although nothing touches: it counts down to the least gap of
    the segments, and where it is far below that one, nothing is opposite to the node.

    Args:
        point_start, point_facets, point_places: Slave facets at each point, in CSR format, and the place of
            the point among the nodes of each.
        leads, following: See :func:`join_points`.
        areas, weighted, bottom: See :func:`dual_basis`.
        beyond: Largest extrapolation below the least gap, shape (points,) [m].
        straight: Whether facets are linear, so that the least gap is at a corner of a segment.
        gap, area: Written, shape (points,).
    """
    for i in range(point_start.size - 1):
        gap[i], area[i] = np.inf, 0.0
        if not leads[i]:
            continue
        A, g, least, margin, q = 0.0, 0.0, np.inf, 0.0, i
        while q >= 0:
            margin = max(margin, beyond[q])
            for m in range(point_start[q], point_start[q + 1]):
                A += areas[point_facets[m], point_places[m]]
                g += weighted[point_facets[m], point_places[m]]
                if areas[point_facets[m], point_places[m]] > 0.0:
                    least = min(least, bottom[point_facets[m]])
            q = following[q]
        g = g / A if A > 0.0 else np.inf
        if g < least - margin:
            continue
        if straight and g < least:
            g = least
        if g < np.inf:
            gap[i], area[i] = g, A


def longest_rows(
    which: IntArray,
    point_start: IntArray,
    point_facets: IntArray,
    following: IntArray,
    starts: IntArray,
    nn: int,
) -> int:
    """Upper bound of the number of entries of the rows ``which``."""
    total = 0
    for i in which:
        q = i
        while q >= 0:
            for m in range(point_start[q], point_start[q + 1]):
                e = point_facets[m]
                total += 2 * nn * (starts[e + 1] - starts[e])
            q = following[q]
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


def fill_rows(
    which: IntArray,
    point_start: IntArray,
    point_facets: IntArray,
    point_places: IntArray,
    following: IntArray,
    starts: IntArray,
    pairs: IntArray,
    facets: IntArray,
    normals: FloatArray,
    mass: FloatArray,
    cross: FloatArray,
    found: BoolArray,
    T: FloatArray,
    areas: FloatArray,
    area: FloatArray,
    place: IntArray,
    ends: IntArray,
    nodes: IntArray,
    B: FloatArray,
    W: FloatArray,
) -> int:
    """Rows of L and W at the points ``which``; returns the number of entries.

    Args:
        which: Numbers of the points.
        place: Work array of -1, one per node; restored.
        ends: Written: end of each row's entries, shape (rows,).
        nodes, B, W: Written: node, normal weights and scalar weight of each entry.
        others: See :func:`dual_basis`, :func:`join_points`, :func:`weighted_gaps` and
            :func:`._segments.integrate`.
    """
    nn, used = facets.shape[1], 0
    for row in range(which.size):
        i, first = which[row], used
        q = i
        while q >= 0:
            for f in range(point_start[q], point_start[q + 1]):
                e, k = point_facets[f], point_places[f]
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
                        s, o = facets[pairs[p, 0], j], facets[pairs[p, 1], j]
                        used = add_entry(s, slave / area[i], normals[p], first, used, place, nodes, B, W)
                        used = add_entry(o, master / area[i], normals[p], first, used, place, nodes, B, W)
            q = following[q]
        for at in range(first, used):
            place[nodes[at]] = -1
        ends[row] = used
    return used
