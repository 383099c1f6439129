"""Integrals over the segments of pairs of facets, compiled by numba where it is installed.

A segment is the overlap of two facets projected along their common normal n, which points from the master to
the slave side; at each of its quadrature points ``x_s - x_m`` is parallel to n.
"""

from __future__ import annotations

import math

import numpy as np

from ..._types import FloatArray, IntArray
from . import _facet_maps
from ._arrays import FacetArrays, FacetGeometry, Parts, Segments
from ._facet_maps import corner_map, facet_functions, line_functions, line_normal, polygon_normal, tangents

#: Facets face each other up to this cosine of their outward normals.
FACING = -0.5
#: Overlaps below this fraction of the smaller facet are none.
_SLIVER = 1e-10
#: Part of its area from which a facet counts as covered.
_COVERED = 0.9


def clip(polygon: FloatArray, count: int, by: FloatArray, corners: int, work: FloatArray) -> int:
    """Intersect a polygon with a convex counterclockwise one in place; returns its number of corners.

    Sutherland and Hodgman, Commun. ACM 17 (1974).
    """
    for k in range(corners):
        ox, oy = by[k, 0], by[k, 1]
        ex, ey = by[(k + 1) % corners, 0] - ox, by[(k + 1) % corners, 1] - oy
        kept = 0
        for i in range(count):
            j = i - 1 if i > 0 else count - 1
            here = ex * (polygon[i, 1] - oy) - ey * (polygon[i, 0] - ox)
            before = ex * (polygon[j, 1] - oy) - ey * (polygon[j, 0] - ox)
            if (here >= 0.0) != (before >= 0.0):
                part = before / (before - here)
                work[kept, 0] = polygon[j, 0] + part * (polygon[i, 0] - polygon[j, 0])
                work[kept, 1] = polygon[j, 1] + part * (polygon[i, 1] - polygon[j, 1])
                kept += 1
            if here >= 0.0:
                work[kept, 0], work[kept, 1] = polygon[i, 0], polygon[i, 1]
                kept += 1
        count = kept
        for i in range(count):
            polygon[i, 0], polygon[i, 1] = work[i, 0], work[i, 1]
        if count < 3:
            return 0
    return count


def describe(x: FloatArray, facets: FacetArrays, used: IntArray, geometry: FacetGeometry) -> None:
    """Write centres, outward unit normals, radii and areas of the facets ``used``, at their numbers."""
    nodes, corners = facets.nodes, facets.corners
    centre, normal, size = geometry.centre, geometry.normal, geometry.size
    gdim, nn = x.shape[1], nodes.shape[1]
    for e in used:
        for i in range(gdim):
            centre[e, i] = 0.0
            for k in range(nn):
                centre[e, i] += x[nodes[e, k], i] / nn
        if gdim == 2:
            size[e] = line_normal(x, nodes[e], corners, normal[e])
        else:
            size[e] = polygon_normal(x, nodes[e], corners, normal[e])
        largest = 0.0
        for k in range(nn):
            square = 0.0
            for i in range(gdim):
                square += (x[nodes[e, k], i] - centre[e, i]) ** 2
            largest = max(largest, square)
        geometry.radius[e] = math.sqrt(largest)


def common_normal(ns: FloatArray, nm: FloatArray, ws: float, wm: float, n: FloatArray) -> bool:
    """Write ``n = (w_m n_m - w_s n_s) / |.|``; returns whether the facets face each other."""
    facing, size = 0.0, 0.0
    for i in range(n.size):
        facing += ns[i] * nm[i]
        n[i] = wm * nm[i] - ws * ns[i]
        size += n[i] * n[i]
    size = math.sqrt(size)
    for i in range(n.size):
        n[i] /= size
    return facing < FACING


def is_near(
    slave: FloatArray, master: FloatArray, n: FloatArray, radii: float, largest_gap: float, depth: float
) -> bool:
    """Whether facets with these centres, sum of radii and common normal may have a segment."""
    along, square = 0.0, 0.0
    for i in range(n.size):
        along += n[i] * (slave[i] - master[i])
        square += (slave[i] - master[i]) ** 2
    return square - along * along <= radii * radii and -radii - depth <= along <= radii + largest_gap


def add_point(Ns: FloatArray, Nm: FloatArray, dA: float, mass: FloatArray, cross: FloatArray) -> None:
    """Add a quadrature point to the lower triangle of ``int N N^T`` and to ``int N N_m^T``."""
    for k in range(mass.shape[0]):
        weight = dA * Ns[k]
        for j in range(k + 1):
            mass[k, j] += weight * Ns[j]
        for j in range(mass.shape[0]):
            cross[k, j] += weight * Nm[j]


def point_gap(
    x: FloatArray, slave: IntArray, master: IntArray, n: FloatArray, Ns: FloatArray, Nm: FloatArray
) -> float:
    """Gap of a point of a segment with these shape functions [m]."""
    gap = 0.0
    for i in range(n.size):
        for k in range(slave.size):
            gap += n[i] * (Ns[k] * x[slave[k], i] - Nm[k] * x[master[k], i])
    return gap


def moments(
    x: FloatArray, slave: IntArray, master: IntArray, o: FloatArray, n: FloatArray,
    mass: FloatArray, cross: FloatArray, gaps: FloatArray, middle: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Complete ``int N N^T``; write ``int N g`` and the centres of the segment on both sides.

    Args:
        o: A point near by, shape (gdim,) [m]: less is lost to rounding.
        gaps: Written, shape (n,) [m3].
        middle: Written, shape (2, gdim) [m].

    Returns:
        Area of the segment [m2] and ``int g dA`` [m3].
    """
    nn, area, total = slave.size, 0.0, 0.0
    for i in range(o.size):
        middle[0, i], middle[1, i] = 0.0, 0.0
    for k in range(nn):
        for j in range(k + 1, nn):
            mass[k, j] = mass[j, k]
    for k in range(nn):
        gaps[k] = 0.0
        for j in range(nn):
            area += mass[k, j]
            distance = 0.0
            for i in range(o.size):
                distance += n[i] * mass[k, j] * (x[slave[j], i] - o[i])
                distance -= n[i] * cross[k, j] * (x[master[j], i] - o[i])
                middle[0, i] += mass[k, j] * (x[slave[j], i] - o[i])
                middle[1, i] += cross[k, j] * (x[master[j], i] - o[i])
            gaps[k] += distance
        total += gaps[k]
    for i in range(o.size):
        middle[0, i] = o[i] + middle[0, i] / area if area > 0.0 else o[i]
        middle[1, i] = o[i] + middle[1, i] / area if area > 0.0 else o[i]
    return area, total


def behind_neighbour(
    at: FloatArray,
    gap: float,
    neighbours: IntArray,
    centre: FloatArray,
    normal: FloatArray,
    opposite: FloatArray,
) -> bool:
    """Whether a penetrating point is nearer to a neighbour across an edge, or outside of the body there.

    Without this a corner that enters through one side of an edge would be pushed out through the other one.

    Args:
        at: The point, shape (gdim,) [m].
        gap: Its gap to the facet, negative [m].
        neighbours: Numbers of the facets across sharp edges.
        centre, normal: Centres and outward unit normals of all facets.
        opposite: Normal of the opposite facet, which the neighbour must face.
    """
    for k in neighbours:
        depth, facing = 0.0, 0.0
        for i in range(at.size):
            depth += normal[k, i] * (at[i] - centre[k, i])
            facing += normal[k, i] * opposite[i]
        if facing < FACING and depth > gap:
            return True
    return False


def integrate_pair_2d(
    x: FloatArray, facets: FacetArrays, e: int, f: int, n: FloatArray, axisymmetric: bool,
    mass: FloatArray, cross: FloatArray,
) -> float:  # fmt: skip
    """Add ``int N N^T`` (lower triangle) and ``int N N_m^T`` over a plane segment; returns its least gap."""
    slave, master, nn = facets.nodes[e], facets.nodes[f], facets.nodes.shape[1]
    points, rule, weights, work = facets.points, facets.rule, facets.weights, facets.scratch.functions
    ys, ym, Ns, Nm, dN = work[0], work[1], work[2], work[3], work[4]
    for k in range(nn):
        ys[k] = -n[1] * x[slave[k], 0] + n[0] * x[slave[k], 1]
        ym[k] = -n[1] * x[master[k], 0] + n[0] * x[master[k], 1]
    low = max(min(ys[0], ys[nn - 1]), min(ym[0], ym[nn - 1]))
    high = min(max(ys[0], ys[nn - 1]), max(ym[0], ym[nn - 1]))
    if high - low <= _SLIVER * min(abs(ys[nn - 1] - ys[0]), abs(ym[nn - 1] - ym[0])):
        return np.inf
    lowest = np.inf
    for q in range(weights.size):
        at = low + rule[q, 0] * (high - low)
        line_functions(points, ym, at, Nm, dN)
        slope = line_functions(points, ys, at, Ns, dN)
        if nn > 2:  # between its ends the gap of curved facets may be less
            lowest = min(lowest, point_gap(x, slave, master, n, Ns, Nm))
        tx, ty, r = 0.0, 0.0, 0.0
        for k in range(nn):
            tx += dN[k] * x[slave[k], 0]
            ty += dN[k] * x[slave[k], 1]
            r += Ns[k] * x[slave[k], 0]
        dA = weights[q] * (high - low) * math.sqrt(tx * tx + ty * ty) / abs(slope)
        if axisymmetric:
            dA *= 2.0 * math.pi * r
        add_point(Ns, Nm, dA, mass, cross)
    for at in (low, high):
        line_functions(points, ym, at, Nm, dN)
        line_functions(points, ys, at, Ns, dN)
        lowest = min(lowest, point_gap(x, slave, master, n, Ns, Nm))
    return lowest


def integrate_pair_3d(
    x: FloatArray, facets: FacetArrays, e: int, f: int, n: FloatArray, tilt: float,
    mass: FloatArray, cross: FloatArray,
) -> float:  # fmt: skip
    """Add ``int N N^T`` (lower triangle) and ``int N N_m^T`` over a segment in space; returns its least gap.

    Args:
        x: Positions of the nodes, shape (nodes, gdim) [m].
        facets: All facets.
        e, f: Slave and master facet.
        n: Common normal.
        tilt: ``|n.n_s|``, the ratio of projected and true areas of the slave facet.
        mass, cross: The integrals, shape (n, n).
    """
    slave, master, corners = facets.nodes[e], facets.nodes[f], facets.corners
    points, simplex, rule, weights = facets.points, facets.simplex, facets.rule, facets.weights
    scratch, nn, nc = facets.scratch, slave.size, corners.size
    flat, maps, functions = scratch.polygons, scratch.maps, scratch.functions
    a, b = scratch.vectors[2], scratch.vectors[3]
    tangents(n, a, b)
    ys, ym, polygon, by, spare = flat[0], flat[1], flat[2], flat[3], flat[4]
    Ns, Nm = functions[0], functions[1]
    o = slave[0]
    for k in range(nn):
        for c in range(2):
            ys[k, c], ym[k, c] = 0.0, 0.0
        for i in range(3):
            ds, dm = x[slave[k], i] - x[o, i], x[master[k], i] - x[o, i]
            ys[k, 0] += a[i] * ds
            ys[k, 1] += b[i] * ds
            ym[k, 0] += a[i] * dm
            ym[k, 1] += b[i] * dm
    for k in range(nc):
        for c in range(2):
            polygon[k, c], by[k, c] = ys[corners[k], c], ym[corners[k], c]
    count = clip(polygon, nc, by, nc, spare)
    if count < 3 or abs(_area(polygon, count)) <= _SLIVER * abs(_area(by, nc)):
        return np.inf
    of_slave, of_master, tail = maps[0], maps[1], functions[2:]
    if not simplex:
        corner_map(ys, corners, of_slave)
        corner_map(ym, corners, of_master)
    lowest = np.inf
    for k in range(count):
        px, py = polygon[k, 0], polygon[k, 1]
        facet_functions(points, simplex, ys, of_slave, px, py, tail, Ns)
        facet_functions(points, simplex, ym, of_master, px, py, tail, Nm)
        lowest = min(lowest, point_gap(x, slave, master, n, Ns, Nm))
    for k in range(1, count - 1):
        ux, uy = polygon[k, 0] - polygon[0, 0], polygon[k, 1] - polygon[0, 1]
        wx, wy = polygon[k + 1, 0] - polygon[0, 0], polygon[k + 1, 1] - polygon[0, 1]
        jacobian = abs(ux * wy - uy * wx) / tilt
        for q in range(weights.size):
            px = polygon[0, 0] + rule[q, 0] * ux + rule[q, 1] * wx
            py = polygon[0, 1] + rule[q, 0] * uy + rule[q, 1] * wy
            facet_functions(points, simplex, ys, of_slave, px, py, tail, Ns)
            facet_functions(points, simplex, ym, of_master, px, py, tail, Nm)
            if nn > nc:
                lowest = min(lowest, point_gap(x, slave, master, n, Ns, Nm))
            add_point(Ns, Nm, weights[q] * jacobian, mass, cross)
    return lowest


def _area(polygon: FloatArray, count: int) -> float:
    """Signed area of a plane polygon."""
    twice = 0.0
    for i in range(count):
        j = (i + 1) % count
        twice += polygon[i, 0] * polygon[j, 1] - polygon[i, 1] * polygon[j, 0]
    return 0.5 * twice


def integrate_pairs(
    x: FloatArray, facets: FacetArrays, geometry: FacetGeometry, segments: Segments, axisymmetric: bool
) -> None:
    """Write the integrals over the segments of all candidate pairs; see :func:`integrate`."""
    nodes, flatness, sharp_start, sharp = facets.nodes, facets.flatness, facets.sharp_start, facets.sharp
    centre, normal, radius = geometry.centre, geometry.normal, geometry.radius
    pairs, largest_gap, depth, found = segments.pairs, segments.largest_gap, segments.depth, segments.found
    normals, mass, cross, gaps = segments.normals, segments.mass, segments.cross, segments.gaps
    lowest, gdim, nn, middle = segments.lowest, x.shape[1], nodes.shape[1], facets.scratch.vectors[:2]
    for p in range(pairs.shape[0]):
        e, f = pairs[p, 0], pairs[p, 1]
        found[p] = False
        n = normals[p]
        if not common_normal(normal[e], normal[f], flatness[e], flatness[f], n):
            continue
        if not is_near(centre[e], centre[f], n, radius[e] + radius[f], largest_gap[p], depth[p]):
            continue
        for k in range(nn):
            for j in range(nn):
                mass[p, k, j], cross[p, k, j] = 0.0, 0.0
        if gdim == 2:
            lowest[p] = integrate_pair_2d(x, facets, e, f, n, axisymmetric, mass[p], cross[p])
        else:
            tilt = abs(n[0] * normal[e, 0] + n[1] * normal[e, 1] + n[2] * normal[e, 2])
            lowest[p] = integrate_pair_3d(x, facets, e, f, n, tilt, mass[p], cross[p])
        area, total = moments(x, nodes[e], nodes[f], centre[e], n, mass[p], cross[p], gaps[p], middle)
        if area <= 0.0 or total > largest_gap[p] * area or total < -depth[p] * area:
            continue
        if total < 0.0:
            across = sharp[sharp_start[f] : sharp_start[f + 1]]
            if behind_neighbour(middle[0], total / area, across, centre, normal, normal[e]):
                continue
            across = sharp[sharp_start[e] : sharp_start[e + 1]]
            if behind_neighbour(middle[1], total / area, across, centre, normal, normal[f]):
                continue
        found[p] = True


def mark_covered(
    facets: FacetArrays,
    geometry: FacetGeometry,
    segments: Segments,
    parts: Parts,
    axisymmetric: bool,
    marks: IntArray,
) -> None:
    """Set the marks of the nodes of slave facets that are covered by the opposite surface."""
    start, nodes, mass, found = parts.start, facets.nodes, segments.mass, segments.found
    for e in range(start.size - 1):
        covered, f = 0.0, parts.facet[e]
        for p in range(start[e], start[e + 1]):
            if found[p]:
                covered += mass[p].sum()
        whole = geometry.size[f] * (2.0 * math.pi * geometry.centre[f, 0] if axisymmetric else 1.0)
        if covered > 0.0 and covered >= _COVERED * whole:
            for k in range(nodes.shape[1]):
                marks[nodes[f, k]] = 1


def integrate(
    x: FloatArray,
    facets: FacetArrays,
    geometry: FacetGeometry,
    segments: Segments,
    parts: Parts,
    axisymmetric: bool,
    marks: IntArray,
) -> None:
    """Integrals over the segments of all candidate pairs.

    Args:
        x: Positions of the nodes, shape (nodes, gdim) [m].
        facets: All facets.
        geometry: Written, for the facets of the pairs.
        segments: Candidate pairs; their integrals are written.
        parts: Parts of the slave facets.
        axisymmetric: Whether areas are those of the full revolution.
        marks: Set to 1 at the nodes of covered slave facets, shape (nodes,).
    """
    describe(x, facets, segments.facets, geometry)
    integrate_pairs(x, facets, geometry, segments, axisymmetric)
    mark_covered(facets, geometry, segments, parts, axisymmetric, marks)


#: Functions that :func:`integrate` calls.
CALLED = (
    *_facet_maps.CALLED,
    clip,
    common_normal,
    is_near,
    add_point,
    point_gap,
    moments,
    behind_neighbour,
    integrate_pair_2d,
    integrate_pair_3d,
    _area,
    describe,
    integrate_pairs,
    mark_covered,
)
