"""Smooth sides of surfaces: facets connected by edges that are not sharp at zero displacement."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..._types import FloatArray, IntArray
from ...algebra.operators import coordinate_order
from .facets import AllFacets, Facets

#: Sides with normals farther apart lie opposite: no point faces both [rad].
_OPPOSITE = 5.0 * np.pi / 6.0
#: Sides with normals closer to each other are one wall, if they do not meet in a sharp edge [rad].
_ALIKE = np.pi / 4.0
#: Digits to which normals are compared.
_DIGITS = 6


def normal_order(normals: FloatArray) -> FloatArray:
    """Sorting keys from unit normals, insensitive to round-off."""
    keys: FloatArray = np.round(normals, _DIGITS) + 0.0
    return keys


def sides_at_nodes(
    facets: Facets, surface: int, smooth: IntArray | None = None
) -> tuple[IntArray, IntArray, FloatArray]:
    """The smooth sides of a surface at each of its nodes: facets that edges at the node connect.

    Args:
        facets: Facets of all surfaces.
        surface: Number of the surface.
        smooth: Pairs of facets that are connected, shape (pairs, 2); by default all at a node are one side.

    Returns:
        Side of each node of each facet of the surface, shape (facets, n); node of each side, shape (sides,);
        normals of the sides at zero displacement, shape (sides, gdim). Sides are sorted by nodes, then by
        their normals.
    """
    chosen = facets.of(surface)
    nodes = facets.nodes[chosen]
    n = nodes.shape[1]
    if smooth is not None:
        first, second = _among(chosen, smooth)
        pair, k, m = np.nonzero(nodes[first][:, :, None] == nodes[second][:, None, :])
        count, side = _connected(nodes.size, first[pair] * n + k, second[pair] * n + m)
    else:
        known, side = np.unique(nodes.ravel(), return_inverse=True)
        count, side = known.size, side.ravel()
    mean = _mean_normals(facets, np.repeat(chosen, n), side, count)
    node = np.zeros(count, dtype=np.int64)
    node[side] = nodes.ravel()
    order = np.lexsort((*normal_order(mean).T[::-1], node))
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    return place[side].reshape(nodes.shape), node[order], mean[order]


def smooth_sides(facets: AllFacets) -> IntArray:
    """Number of the side of each facet, whose facets edges connect that are not sharp, shape (facets,)."""
    return _connected(len(facets.nodes), *facets.smooth.T)[1]


def walls(facets: AllFacets, surface: int, length: float) -> IntArray:
    """Numbers that tell the sides of a surface apart which a point may face at once.

    Sides that meet in a sharp concave edge, as the walls of a room, have different numbers, and so have two
    that both meet a third one, unless they are alike or lie opposite. Without such edges all are 0.

    Args:
        facets: Facets of all surfaces.
        surface: Number of the surface.
        length: A length of the body [m].

    Returns:
        Shape (facets of the surface,).
    """
    chosen = facets.of(surface)
    number = np.zeros(chosen.size, dtype=np.int64)
    row, col = _among(chosen, facets.concave)
    if not row.size:
        return number
    count, side = _connected(chosen.size, *_among(chosen, facets.smooth))
    row, col = side[row], side[col]
    meet = sparse.csr_matrix((np.ones(row.size), (row, col)), (count, count))
    normals = _mean_normals(facets, chosen, side, count)
    second = (meet @ meet).tocoo()
    cosine = np.einsum("pi,pi->p", normals[second.row], normals[second.col])
    apart = (cosine < np.cos(_ALIKE)) & (cosine > np.cos(_OPPOSITE))
    others = sparse.csr_matrix((np.ones(apart.sum()), (second.row[apart], second.col[apart])), (count, count))
    conflicts = (meet + others).tocsr()
    return _coloured(conflicts, _side_order(facets, chosen, side, normals, length))[side]


def _side_order(
    facets: Facets, chosen: IntArray, side: IntArray, normals: FloatArray, length: float
) -> IntArray:
    """The sides sorted by normals and places, on any number of ranks."""
    centre = np.zeros((len(normals), 3))
    middle = facets.x[facets.nodes[chosen]].mean(axis=1)
    np.add.at(centre, (side[:, None], np.arange(middle.shape[1])), middle)
    centre /= np.bincount(side, minlength=len(normals))[:, None]
    keys = np.column_stack([normal_order(normals), coordinate_order(centre, length)])
    order: IntArray = np.lexsort(keys.T[::-1])
    return order


def _coloured(conflicts: sparse.csr_matrix, order: IntArray) -> IntArray:
    """Smallest numbers, in this order, that differ where there is a conflict."""
    number = np.full(order.size, -1, dtype=np.int64)
    for i in order:
        taken = number[conflicts.indices[conflicts.indptr[i] : conflicts.indptr[i + 1]]]
        number[i] = np.setdiff1d(np.arange(taken.size + 1), taken)[0]
    return number


def _among(chosen: IntArray, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Places in the sorted list of facets of those pairs that lie in it."""
    known = np.isin(pairs, chosen).all(axis=1)
    first, second = np.searchsorted(chosen, pairs[known].T)
    return first, second


def _connected(count: int, first: IntArray, second: IntArray) -> tuple[int, IntArray]:
    graph = sparse.coo_matrix((np.ones(first.size), (first, second)), (count, count))
    found, label = csgraph.connected_components(graph, directed=False)
    return int(found), label.astype(np.int64)


def _mean_normals(facets: Facets, chosen: IntArray, side: IntArray, count: int) -> FloatArray:
    """Unit normals of the sides, weighted by areas, at zero displacement, shape (count, gdim)."""
    normals, sizes = facets.normals(facets.x)
    mean = np.zeros((count, normals.shape[1]))
    np.add.at(mean, side, (normals * sizes[:, None])[chosen])
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    unit: FloatArray = np.divide(mean, length, out=np.zeros_like(mean), where=length > 0.0)
    return unit
