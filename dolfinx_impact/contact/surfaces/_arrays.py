"""Arrays of facets, segments and points that compiled functions read and write, as tuples.

Written once, or anew after a search for candidate pairs. Kernels on disk name these classes: see
:mod:`dolfinx_impact.integrators.compiled._arrays`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray


class Scratch(NamedTuple):
    """For the work on one pair of facets; what is in it is lost with the next one.

    Attributes:
        vectors: Shape (4, gdim).
        functions: Shape functions, shape (8, n) or more.
        polygons: Points in a plane, shape (5, 16, 2) or more.
        maps: Bilinear maps, shape (2, 4, 2).
        squares: Gram matrices, shape (2, n, n).
    """

    vectors: FloatArray
    functions: FloatArray
    polygons: FloatArray
    maps: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, n: int, points: int, gdim: int) -> Scratch:
        """For facets with n nodes, and so many in a factor of their shape functions."""
        functions, polygons = np.zeros((8, max(n, points, 4))), np.zeros((5, max(n, 16), 2))
        return cls(np.zeros((4, gdim)), functions, polygons, np.zeros((2, 4, 2)), np.zeros((2, n, n)))


class FacetArrays(NamedTuple):
    """All facets at rest, and their common shape.

    Attributes:
        nodes: Nodes of each, shape (facets, n); positive orientation means outward normals.
        corners: Corners among the nodes.
        points: Nodes of the factors of the shape functions.
        simplex: Whether facets are triangles.
        rule, weights: Quadrature on the reference segment or triangle.
        flatness: Weights of the normals, shape (facets,).
        sharp_start, sharp: Neighbours of each across sharp edges, in CSR format.
        diameter: Diameters, shape (facets,) [m].
        scratch: Scratch for facets of this shape.
    """

    nodes: IntArray
    corners: IntArray
    points: FloatArray
    simplex: bool
    rule: FloatArray
    weights: FloatArray
    flatness: FloatArray
    sharp_start: IntArray
    sharp: IntArray
    diameter: FloatArray
    scratch: Scratch


class FacetGeometry(NamedTuple):
    """Centres and outward unit normals, shape (facets, gdim), radii and sizes (areas) at present."""

    centre: FloatArray
    normal: FloatArray
    radius: FloatArray
    size: FloatArray

    @classmethod
    def empty(cls, count: int, gdim: int) -> FacetGeometry:
        """Zeros for so many facets."""
        return cls(np.zeros((count, gdim)), np.zeros((count, gdim)), np.zeros(count), np.zeros(count))


class Segments(NamedTuple):
    """Candidate pairs of facets, and integrals over those that have a segment.

    Attributes:
        facets: Those of the pairs, and those across sharp edges.
        pairs: Slave and master facet of each, shape (pairs, 2).
        largest_gap, depth: Largest mean gap and penetration of a segment, shape (pairs,) [m].
        normals: Common normals, shape (pairs, gdim).
        mass, cross: ``int N N^T dA`` and ``int N N_m^T dA``, shape (pairs, n, n) [m2].
        gaps: ``int N g dA``, shape (pairs, n) [m3].
        lowest: Least gaps at the corners of the segments, shape (pairs,) [m].
        found: Whether the pair has a segment, shape (pairs,).
    """

    facets: IntArray
    pairs: IntArray
    largest_gap: FloatArray
    depth: FloatArray
    normals: FloatArray
    mass: FloatArray
    cross: FloatArray
    gaps: FloatArray
    lowest: FloatArray
    found: BoolArray


class Parts(NamedTuple):
    """Parts of slave facets: each is what faces one wall of the opposite surface.

    Attributes:
        start: First candidate pair of each, shape (parts + 1,).
        facet: Its facet, shape (parts,).
        size: Area of this at zero displacement, shape (parts,) [m2].
        T: Coefficients of the dual basis, shape (parts, n, n).
        areas: ``D_i``, covered areas of the nodes, shape (parts, n) [m2].
        weighted: ``int psi_i g dA``, shape (parts, n) [m3].
        bottom: Least gap of the segments, shape (parts,) [m].
        placed: Whether a part has places of its own, shape (parts,).
    """

    start: IntArray
    facet: IntArray
    size: FloatArray
    T: FloatArray
    areas: FloatArray
    weighted: FloatArray
    bottom: FloatArray
    placed: BoolArray


class Points(NamedTuple):
    """Points of slave nodes.

    Attributes:
        start, parts, places: Parts at each point, in CSR format, and the place of the point among the nodes
            of each.
        groups: First and end of the points of each node that has several, shape (groups, 2).
        beyond: Largest extrapolation below the least gap, shape (points,) [m].
        direction, facing: Scratch, shapes (points, gdim), (points,).
        leads: Whether a point has a row of its own, shape (points,).
        following: The next point of the same row, -1 for none, shape (points,).
        gap, area: Weighted gaps [m] and covered areas [m2], shape (points,).
    """

    start: IntArray
    parts: IntArray
    places: IntArray
    groups: IntArray
    beyond: FloatArray
    direction: FloatArray
    facing: FloatArray
    leads: BoolArray
    following: IntArray
    gap: FloatArray
    area: FloatArray


class CornerArrays(NamedTuple):
    """Corner nodes and the facets opposite.

    Attributes:
        nodes: The corners, shape (p,).
        allowed: 0 for no facet, 1 for every facet, 2 for those that a facet at the corner faces and that
            have no closed node, shape (p,).
        around_start, around: Facets at each corner, in CSR format.
        gap: Distances, infinite where nothing is opposite, shape (p,) [m].
        normal: Normals of the facets, shape (p, gdim).
        N: Shape functions of the facets, shape (p, n).
        facet: Facets, -1 for none, shape (p,).
    """

    nodes: IntArray
    allowed: IntArray
    around_start: IntArray
    around: IntArray
    gap: FloatArray
    normal: FloatArray
    N: FloatArray
    facet: IntArray


class CornerPairs(NamedTuple):
    """Candidate pairs (number of the corner, facet), shape (pairs, 2), largest gaps and penetrations [m]."""

    pairs: IntArray
    largest_gap: FloatArray
    depth: FloatArray
