"""Which least distances of parts of facets are points of a contact, and their normals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._types import BoolArray, FloatArray, IntArray
from .minimum import Distance, Least, least
from .parts import Parts, diameters, normals
from .sharp import exact, tangents

#: Weight of closed nodes with normals alike from which on their rows hold what is between them.
_HELD = 0.9
#: Cosine of the angle up to which normals are alike.
_ALIKE = 0.8
#: Kinds of places, beside the numbers of edges.
_NODE, _WITHIN = -2, -1
#: Cosine of the gradient to the outward normal above which an obstacle is not outside of a part.
_BEHIND = 0.5
#: Length of a gradient's part across an edge that is none.
_NOTHING = 1e-12


class LocalMinima(NamedTuple):
    """Places between nodes where the signed distance on the surface is least.

    Attributes:
        part: Numbers of the parts, ascending, shape (k,).
        weights: Weights of their corners, shape (k, n).
        x: Positions, shape (k, gdim) [m].
        distance: Signed distances, shape (k,) [m].
        normal: Unit normals from the obstacle, shape (k, gdim).
    """

    part: IntArray
    weights: FloatArray
    x: FloatArray
    distance: FloatArray
    normal: FloatArray


def local_minima(
    face: Any, parts: Parts, x: FloatArray, time: tuple[float, ...], tolerance: float, limit: float = np.inf
) -> LocalMinima:
    """The local minima that this rank owns, one a part at most. Not collective.

    Args:
        face: A face of the obstacle.
        parts: The parts.
        x: Positions of their nodes, shape (nodes, gdim) [m].
        time: The time [s], where the face moves.
        tolerance: A distance up to this counts as closed [m].
        limit: Distances above this do not matter [m]; without, those of parts with a node nearer than their
            diameter do.
    """

    def distance(y: FloatArray) -> FloatArray:
        values: FloatArray = np.asarray(face.gap(y, *time)) if len(y) else np.zeros(0)
        return values

    at = x[parts.nodes]
    near, at_nodes = _near(face, distance, parts, x, at, time, tolerance, limit)
    if not near.size:
        return LocalMinima(near, at[:0, :, 0], x[:0], x[:0, 0], x[:0])
    corners, sizes = at[near], diameters(at[near])
    found = least(distance, corners, at_nodes, sizes, limit)
    found = exact(face, distance, corners, sizes, found, time)
    kind = _kinds(found.weights)
    kept = _kept(parts, near, kind)
    part, chosen = near[kept], Least(*(each[kept] for each in found))
    place = np.einsum("kn,kni->ki", chosen.weights, at[part])
    gradient = np.asarray(face.normal(place, *time)) if part.size else place
    inward = -_normals_at(at[part], chosen.weights)
    ahead = np.einsum("ki,ki->k", gradient, inward) >= -_BEHIND
    n = inward.copy()
    on_edge = np.flatnonzero(kind[kept] >= 0)
    if on_edge.size:
        n[on_edge] = _across_edges(
            parts, at, part[on_edge], kind[kept][on_edge], gradient[on_edge], inward[on_edge]
        )
    ahead &= ~_held(face, chosen.weights, x, parts.nodes[part], at_nodes[kept] <= tolerance, n, time)
    return LocalMinima(*(each[ahead] for each in (part, chosen.weights, place, chosen.distance, n)))


def _held(
    face: Any,
    weights: FloatArray,
    x: FloatArray,
    nodes: IntArray,
    closed: BoolArray,
    n: FloatArray,
    time: tuple[float, ...],
) -> BoolArray:
    """Mask of the places that nearly are sums of closed nodes with normals alike, whose rows hold them.

    Rows of both would be as good as dependent.
    """
    alike = np.zeros(weights.shape)
    point, corner = np.nonzero(closed & (weights > 0.0))
    if point.size:
        of_nodes = np.asarray(face.normal(x[nodes[point, corner]], *time))
        alike[point, corner] = np.einsum("ki,ki->k", of_nodes, n[point]) >= _ALIKE
    held: BoolArray = (alike * weights).sum(axis=1) >= _HELD
    return held


def _near(
    face: Any,
    distance: Distance,
    parts: Parts,
    x: FloatArray,
    at: FloatArray,
    time: tuple[float, ...],
    tolerance: float,
    limit: float,
) -> tuple[IntArray, FloatArray]:
    """Parts that may have a point of their own, and distances at their corners, shape (k, n) [m]."""
    if getattr(face, "flat", False):  # least at nodes
        at = at[:0]
    near: IntArray = np.arange(len(at))
    if np.isfinite(limit) and hasattr(face, "bounds"):
        low, high = face.bounds(*time)
        near = near[((at.min(axis=1) <= high + limit) & (at.max(axis=1) >= low - limit)).all(axis=1)]
    middle = at[near].mean(axis=1)
    radius, values = 0.5 * diameters(at[near]), distance(middle)
    reached = values - radius <= (limit if np.isfinite(limit) else 2.0 * radius)
    near, middle, values = near[reached], middle[reached], values[reached]
    nodes, place = np.unique(parts.nodes[near], return_inverse=True)
    at_nodes = distance(x[nodes])[place.reshape(parts.nodes[near].shape)]
    if getattr(face, "convex", False) and near.size:
        # Above its tangent plane in the middle, whose least value is at a corner.
        slope = np.einsum("kni,ki->kn", at[near] - middle[:, None], np.asarray(face.normal(middle, *time)))
        least_value = values + slope.min(axis=1)
        gains = least_value < np.minimum(at_nodes.min(axis=1) - 1e-8 * radius[reached], limit)
        near, at_nodes = near[gains], at_nodes[gains]
    closed = np.flatnonzero((at_nodes <= tolerance).all(axis=1))
    if closed.size:
        whole = np.full(parts.nodes[near[closed]].shape, 1.0 / at.shape[1])
        inward, closed_nodes = -normals(at[near[closed]]), np.ones(whole.shape, dtype=bool)
        held = _held(face, whole, x, parts.nodes[near[closed]], closed_nodes, inward, time)
        near, at_nodes = (np.delete(each, closed[held], axis=0) for each in (near, at_nodes))
    if not np.isfinite(limit):
        within = at_nodes.min(axis=1) <= diameters(at[near])
        near, at_nodes = near[within], at_nodes[within]
    return near, at_nodes


def _kinds(weights: FloatArray) -> IntArray:
    """Number of the edge on which each place lies, :data:`_WITHIN` for none, :data:`_NODE` at nodes."""
    n = weights.shape[1]
    positive = weights > 0.0
    kind = np.full(len(weights), _WITHIN)
    if n > 2:
        on_edge = positive.sum(axis=1) == 2
        kind[on_edge] = (positive & np.roll(positive, -1, axis=1))[on_edge].argmax(axis=1)
    kind[positive.sum(axis=1) == 1] = _NODE
    return kind


def _kept(parts: Parts, near: IntArray, kind: IntArray) -> IntArray:
    """Which of the places are points of their own.

    One on an edge is a minimum of the surface if it is that of the part across the edge too; of both the one
    of the lower number counts.
    """
    every = np.full(len(parts.nodes), _NODE)
    every[near] = kind
    edge = np.maximum(kind, 0)
    beside, across = parts.neighbours[near, edge], parts.across[near, edge]
    alone = beside < 0
    common = (every[beside] == across) & (parts.number[near] < parts.number[beside])
    own = np.zeros(len(parts.nodes), dtype=bool)
    own[parts.own] = True
    return np.flatnonzero(own[near] & ((kind == _WITHIN) | ((kind >= 0) & (alone | common))))


def _normals_at(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Outward unit normals of parts at places on them, shape (k, gdim)."""
    if x.shape[1] < 4:
        return normals(x)
    vectors = np.cross(*tangents(x, weights))
    unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _across_edges(
    parts: Parts, at: FloatArray, part: IntArray, edge: IntArray, gradient: FloatArray, inward: FloatArray
) -> FloatArray:
    """Unit normals on edges: gradients without their parts along the edges, between those of both parts.

    Beyond, the distance would be less on one of the parts; at a tip the gradient is any direction. Where no
    part is across the edge, the surface is taken to turn by a right angle.
    """
    ends = at[part, edge], at[part, (edge + 1) % at.shape[1]]
    along = _unit(ends[1] - ends[0])
    beside = parts.neighbours[part, edge]
    first = _unit(_without(inward, along))
    second = np.where((beside < 0)[:, None], np.cross(first, along), -normals(at[beside]))
    into = at[part].mean(axis=1) - ends[0]
    turned = (beside < 0) & (np.einsum("ki,ki->k", second, into) < 0.0)
    second[turned] *= -1.0
    second = _unit(_without(second, along))
    middle = _unit(first + second)
    aside = np.cross(along, middle)
    half = np.arccos(np.clip(np.einsum("ki,ki->k", middle, first), -1.0, 1.0))
    across = _without(gradient, along)
    angle = np.arctan2(np.einsum("ki,ki->k", across, aside), np.einsum("ki,ki->k", across, middle))
    angle = np.where(np.linalg.norm(across, axis=1) > _NOTHING, np.clip(angle, -half, half), 0.0)[:, None]
    n: FloatArray = np.cos(angle) * middle + np.sin(angle) * aside
    return n


def _without(vectors: FloatArray, along: FloatArray) -> FloatArray:
    """Vectors without their parts along unit vectors, shape (k, gdim)."""
    rest: FloatArray = vectors - np.einsum("ki,ki->k", vectors, along)[:, None] * along
    return rest


def _unit(vectors: FloatArray) -> FloatArray:
    unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
