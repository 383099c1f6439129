"""Vertices, edges and triangles of facets; in two dimensions vertices and segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._types import AnyArray, FloatArray, Int32Array, Int64Array, IntArray
from ..facet_shape import FacetShape
from ..facets import Facets
from ..search import starts
from .table import FeatureTable

#: Cosine of the angle of neighbours above which their edge is sharp, 30 degrees.
_SHARP = 0.866


@dataclass(frozen=True)
class FeatureMesh:
    """The features of the facets that lie on surfaces.

    A vertex or an edge of several facets is owned by the first of them, so that pairs of facets have each
    pair of features once.

    Attributes:
        number: Number of each facet among all, ascending, shape (facets,).
        nodes: Nodes of the facets, shape (facets, n).
        triangles: Corners, outward by the right hand, facet by facet, shape (triangles, 3); in two
            dimensions of segments, with -1 in the last place.
        across: Triangle beyond the edge opposite to each corner, -1 for none, shape (triangles, 3).
        edges: Ends, the lesser number first, shape (edges, 2); in two dimensions the segments.
        facet_edges: Edges of each facet, those within it too, shape (facets, e).
        triangle_edges: Edges of each triangle, shape (triangles, 3); in two dimensions each segment itself.
        vertex_start, vertices: Vertices that each facet owns, in CSR format.
        edge_start, own_edges: Edges that each facet owns, in CSR format.
        at_vertex_start, at_vertex: Facets at each node, in CSR format.
        at_edge_start, at_edge: Facets at each edge, in CSR format.
    """

    number: IntArray
    nodes: Int32Array
    triangles: Int32Array
    across: Int32Array
    edges: Int32Array
    facet_edges: Int32Array
    triangle_edges: Int32Array
    vertex_start: IntArray
    vertices: Int32Array
    edge_start: IntArray
    own_edges: Int32Array
    at_vertex_start: IntArray
    at_vertex: Int32Array
    at_edge_start: IntArray
    at_edge: Int32Array

    @classmethod
    def of(cls, facets: Facets) -> FeatureMesh:
        """The features of facets on surfaces; of higher degree those of their linear parts."""
        number, count = np.flatnonzero(facets.surface >= 0), len(facets.x)
        nodes, parts = facets.nodes[number], _parts(facets.shape)
        corners = nodes[:, parts].reshape(-1, parts.shape[1])
        local = _sides(parts)
        ends = np.sort(nodes[:, local].reshape(-1, 2), axis=1)
        keys, first, edge = np.unique(_keys(ends, count), return_index=True, return_inverse=True)
        facet_edges = edge.reshape(len(nodes), len(local))
        vertex, seen = np.unique(nodes, return_index=True)
        place = np.arange(len(nodes))
        vertex_start, vertices = _csr(seen // nodes.shape[1], vertex, len(nodes))
        edge_start, own_edges = _csr(first // len(local), np.arange(keys.size), len(nodes))
        at_vertex_start, at_vertex = _csr(nodes.ravel(), np.repeat(place, nodes.shape[1]), count)
        at_edge_start, at_edge = _csr(facet_edges.ravel(), np.repeat(place, len(local)), keys.size)
        triangles = np.full((len(corners), 3), -1)
        triangles[:, : corners.shape[1]] = corners
        return cls(
            number=number,
            nodes=_int32(nodes),
            triangles=_int32(triangles),
            across=_int32(_across(triangles, count)),
            edges=_int32(ends[first]),
            facet_edges=_int32(facet_edges),
            triangle_edges=_int32(_of_triangles(corners, keys, count)),
            vertex_start=vertex_start,
            vertices=vertices,
            edge_start=edge_start,
            own_edges=own_edges,
            at_vertex_start=at_vertex_start,
            at_vertex=at_vertex,
            at_edge_start=at_edge_start,
            at_edge=at_edge,
        )

    def creases(self, x: FloatArray) -> AnyArray:
        """Mask of the nodes at sharp concave edges, as of a room, shape (nodes,).

        Args:
            x: Positions at zero displacement, shape (nodes, gdim) [m].
        """
        flat = x.shape[1] == 2  # facets meet in vertices
        start, at = (self.at_vertex_start, self.at_vertex) if flat else (self.at_edge_start, self.at_edge)
        two = np.flatnonzero(np.diff(start) == 2)
        first, second = at[start[two]], at[start[two] + 1]
        n, centre = self._normals(x), x[self.nodes].mean(axis=1)
        cosine = np.einsum("ei,ei->e", n[first], n[second])
        rise = np.einsum("ei,ei->e", centre[second] - centre[first], n[first] - n[second])
        concave = two[(cosine < _SHARP) & (rise > 0.0)]
        marks = np.zeros(len(x), np.uint8)
        marks[concave if flat else self.edges[concave]] = 1
        return marks

    def _normals(self, x: FloatArray) -> FloatArray:
        """Unit normals of the facets, of the first triangle of each; 0 without extent, (facets, gdim)."""
        parts = len(self.triangles) // max(1, len(self.nodes))
        corners = self.triangles[::parts] if parts else self.triangles
        n: AnyArray
        if x.shape[1] == 2:
            along = x[corners[:, 1]] - x[corners[:, 0]]
            n = np.column_stack([along[:, 1], -along[:, 0]])
        else:
            n = np.cross(x[corners[:, 1]] - x[corners[:, 0]], x[corners[:, 2]] - x[corners[:, 0]])
        size = np.linalg.norm(n, axis=1, keepdims=True)
        unit: FloatArray = np.divide(n, size, out=np.zeros_like(n), where=size > 0.0)
        return unit

    def fill(self, table: FeatureTable) -> None:
        """Hand the features to the compiled functions."""
        numbers, parts = table.numbers, len(self.triangles) // max(1, len(self.nodes))
        numbers.facets, numbers.edges = len(self.nodes), len(self.edges)
        numbers.per_facet, numbers.parts, numbers.sides = (
            self.nodes.shape[1],
            parts,
            self.facet_edges.shape[1],
        )
        numbers.nodes = self.at_vertex_start.size - 1
        numbers.flat = self.triangle_edges.shape[1] == 1
        table.set(
            facet_nodes=self.nodes,
            triangle=self.triangles,
            across=self.across,
            edge=self.edges,
            facet_edge=self.facet_edges,
            vertex_start=self.vertex_start,
            vertex=self.vertices,
            edge_start=self.edge_start,
            own_edge=self.own_edges,
            at_vertex_start=self.at_vertex_start,
            at_vertex=self.at_vertex,
            at_edge_start=self.at_edge_start,
            at_edge=self.at_edge,
        )

    def keys_of_pierced(self, pairs: IntArray) -> Int64Array:
        """Keys of the pairs of features whose paths say nothing while an edge pierces a triangle, sorted.

        Args:
            pairs: Edges and triangles, shape (pairs, 2).
        """
        edge, triangle = pairs.T.astype(np.int64)
        ends, sides = self.edges[edge], self.triangle_edges[triangle]
        of_ends = ends.astype(np.int64) * len(self.triangles) + triangle[:, None]
        if sides.shape[1] == 1:
            place = np.argsort(self.triangle_edges[:, 0])[edge]  # the edge as a segment
            others = self.triangles[triangle, :2].astype(np.int64) * len(self.triangles) + place[:, None]
        else:
            first, second = np.minimum(sides, edge[:, None]), np.maximum(sides, edge[:, None])
            others = -1 - (first * len(self.edges) + second)
        keys: Int64Array = np.unique(np.concatenate([of_ends.ravel(), others.ravel()])).astype(np.int64)
        return keys


def _parts(shape: FacetShape) -> IntArray:
    """Places of the corners of the linear parts of a facet among its nodes, outward."""
    degree = shape.points.size - 1
    if shape.dim == 1:
        return np.column_stack([np.arange(degree), np.arange(1, degree + 1)])
    if shape.simplex:
        return np.arange(3)[None]
    grid = np.arange((degree + 1) ** 2).reshape(degree + 1, degree + 1)
    a, b, c, d = (each.ravel() for each in (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]))
    return np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def _sides(parts: IntArray) -> IntArray:
    """Each side of the linear parts once."""
    if parts.shape[1] == 2:
        return parts
    sides: IntArray = np.unique(np.sort(parts[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    return sides


def _keys(pairs: IntArray, count: int) -> IntArray:
    """One number for each pair of nodes."""
    return pairs[:, 0].astype(np.int64) * count + pairs[:, 1]


def _of_triangles(corners: IntArray, keys: IntArray, count: int) -> IntArray:
    """Edges of each triangle or segment, by the keys of the edges."""
    sides = corners[:, [[1, 2], [2, 0], [0, 1]]] if corners.shape[1] == 3 else corners[:, None]
    edges = np.searchsorted(keys, _keys(np.sort(sides.reshape(-1, 2), axis=1), count))
    return edges.reshape(sides.shape[:2])


def _across(triangles: IntArray, count: int) -> IntArray:
    """The other triangle at each edge; none where there is none or more than one."""
    across = np.full(triangles.shape, -1)
    if not len(triangles) or triangles[0, 2] < 0:
        return across
    ends = np.sort(triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
    _, edge, uses = np.unique(_keys(ends, count), return_inverse=True, return_counts=True)
    order = np.argsort(edge, kind="stable")
    both = order[uses[edge[order]] == 2].reshape(-1, 2)
    across.ravel()[both] = both[:, ::-1] // 3
    return across


def _csr(row: IntArray, entries: IntArray, rows: int) -> tuple[IntArray, Int32Array]:
    order = np.argsort(row, kind="stable")
    return starts(np.bincount(row, minlength=rows)), _int32(entries[order])


def _int32(values: IntArray) -> Int32Array:
    return np.ascontiguousarray(values, np.int32)


def largest(values: FloatArray, start: IntArray, entries: IntArray) -> FloatArray:
    """Largest of the values of each row in CSR format, 0 in empty ones."""
    rows = np.repeat(np.arange(start.size - 1), np.diff(start))
    found = np.zeros(start.size - 1)
    np.maximum.at(found, rows, values[entries])
    return found
