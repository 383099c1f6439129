"""Least signed distance over parts of facets, by branch and bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._types import FloatArray, IntArray

#: Signed distances [m] of points, shape (k, gdim).
Distance = Callable[[FloatArray], FloatArray]

#: Cells of a part that are kept at each division, by its corners; together at most 62 evaluations a part.
_KEPT = {2: (1, 2, 4, 3, 3, 3, 3, 3, 3, 3), 3: (1, 3, 2, 2, 2, 2, 1, 1, 1), 4: (1, 3, 2, 2, 2, 2, 1, 1, 1)}
#: Distance in the coordinates of a part up to which a place lies on an edge, a bit above what is resolved.
ON_EDGE = 2e-3
#: Gain over the nodes, by the diameter, that is round-off.
_NO_GAIN = 1e-8


class Least(NamedTuple):
    """Places of least distance on parts.

    Attributes:
        weights: Weights of the corners there, shape (k, n): at least 0, their sum is 1.
        distance: Signed distances there, shape (k,) [m].
    """

    weights: FloatArray
    distance: FloatArray


def least(
    distance: Distance, x: FloatArray, at_nodes: FloatArray, sizes: FloatArray, limit: float = np.inf
) -> Least:
    """Least signed distance over parts; at a corner where nothing between is lower.

    A signed distance changes by at most the way: over a cell it is at least that of the centre minus the
    radius. Cells above this bound are left out, the others divided down to 1/256, where many compete the
    lowest ones. The least distance is met to 1e-3 of a diameter, in one case of a hundred (kinks askew to the
    part, deep overlap) to 1e-2.

    Args:
        distance: The signed distance; of slope 1 at most.
        x: Corners of the parts, shape (k, n, gdim) [m].
        at_nodes: Distances there, shape (k, n) [m].
        sizes: Diameters of the parts, shape (k,) [m].
        limit: Distances above this do not matter [m].
    """
    k, n, _ = x.shape
    weights: FloatArray = np.eye(n)[at_nodes.argmin(axis=1)]
    best: FloatArray = at_nodes.min(axis=1) - _NO_GAIN * sizes
    cells, of = np.tile(np.eye(n), (k, 1, 1)), np.arange(k)
    for kept in _KEPT[n]:
        centres = cells.mean(axis=1)
        at = np.einsum("cn,cni->ci", centres, x[of])
        values = distance(at)
        first = first_of(of, rounded(values, sizes[of]))
        lower = first[values[first] < best[of[first]]]
        best[of[lower]], weights[of[lower]] = values[lower], centres[lower]
        radius = np.linalg.norm(np.einsum("cmn,cni->cmi", cells, x[of]) - at[:, None], axis=2).max(axis=1)
        bound = values - radius
        open_ = np.flatnonzero((bound < best[of]) & (bound <= limit))
        chosen = open_[_lowest(of[open_], rounded(bound, sizes[of])[open_], kept)]
        if not chosen.size:
            break
        cells, of = _divided(cells[chosen]), np.repeat(of[chosen], 2 if n == 2 else 4)
    weights = snapped(weights)
    between = np.flatnonzero(weights.max(axis=1) < 1.0)
    found = at_nodes.min(axis=1)
    found[between] = distance(np.einsum("kn,kni->ki", weights[between], x[between]))
    return Least(weights, found)


def snapped(weights: FloatArray) -> FloatArray:
    """The weights of places, those next to an edge on it, shape (k, n)."""
    n = weights.shape[1]
    if n == 4:
        return quadrilateral(*(_clipped(each) for each in coordinates(weights)))
    kept = np.where(weights < ON_EDGE, 0.0, weights) if n == 3 else weights
    on: FloatArray = kept / kept.sum(axis=1, keepdims=True)
    return on


def coordinates(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coordinates of a quadrilateral, 0 to 1, along its first edge and across, from weights (k, 4)."""
    return weights[:, 1] + weights[:, 2], weights[:, 2] + weights[:, 3]


def quadrilateral(a: FloatArray, b: FloatArray) -> FloatArray:
    """Weights of a quadrilateral's corners at its coordinates, shape (k, 4)."""
    return np.column_stack([(1 - a) * (1 - b), a * (1 - b), a * b, (1 - a) * b])


def _clipped(a: FloatArray) -> FloatArray:
    clipped: FloatArray = np.where(a < ON_EDGE, 0.0, np.where(a > 1 - ON_EDGE, 1.0, a))
    return clipped


def rounded(values: FloatArray, sizes: FloatArray) -> FloatArray:
    """Distances in 1e-9 of the diameters: of equal ones the first counts on all ranks, not round-off."""
    steps: FloatArray = np.round(values / (1e-9 * sizes))
    return steps


def first_of(of: IntArray, values: FloatArray) -> IntArray:
    """Number of the first of the lowest values of each part, in the order of the parts."""
    order = np.lexsort((values, of))
    begins: IntArray = order[np.flatnonzero(np.diff(of[order], prepend=-1))]
    return begins


def _lowest(of: IntArray, values: FloatArray, count: int) -> IntArray:
    """Numbers of the lowest values of each part, that many at most."""
    order = np.lexsort((values, of))
    start = np.flatnonzero(np.diff(of[order], prepend=-1))
    place = np.arange(of.size) - np.repeat(start, np.diff(start, append=of.size))
    return np.sort(order[place < count])


def _divided(cells: FloatArray) -> FloatArray:
    """Halves of segments, quarters of triangles and quadrilaterals, shape (cells, corners, n)."""
    n, middle = cells.shape[1], 0.5 * (cells + np.roll(cells, -1, axis=1))
    if n == 2:
        parts = [np.stack([cells[:, 0], middle[:, 0]], 1), np.stack([middle[:, 0], cells[:, 1]], 1)]
    else:
        inner = cells.mean(axis=1) if n == 4 else None
        parts = [
            np.stack(
                [cells[:, k], middle[:, k], *([] if inner is None else [inner]), middle[:, k - 1]], axis=1
            )
            for k in range(n)
        ]
        parts += [middle] if n == 3 else []
    return np.stack(parts, axis=1).reshape(-1, n, cells.shape[2])
