"""Which facets of other ranks are near those of a rank: by boxes, without a search on all of them."""

from __future__ import annotations

import numpy as np

from ...._types import BoolArray, FloatArray
from .bisection import bisected

#: Boxes of a rank: around a closed shell a single one would be everything within.
MOST = 16


def boxes(centres: FloatArray, radii: FloatArray, most: int = MOST) -> FloatArray:
    """Boxes that together contain the spheres around facets: lowest and highest corners of each.

    Args:
        centres, radii: Of the spheres, shapes (facets, gdim), (facets,) [m].
        most: Largest number of boxes.

    Returns:
        Shape (boxes, 2, gdim) [m]; no box for no facet.
    """
    part = bisected(centres, np.ones(len(centres), dtype=np.int64), most)
    low, high = centres - radii[:, None], centres + radii[:, None]
    found = [(low[part == k].min(axis=0), high[part == k].max(axis=0)) for k in np.unique(part)]
    return np.array(found, dtype=np.float64).reshape(-1, 2, centres.shape[1])


def near(around: FloatArray, centres: FloatArray, radii: FloatArray, reach: float | FloatArray) -> BoolArray:
    """Mask of the facets whose spheres come within ``reach`` of a box, shape (facets,).

    Args:
        around: Boxes, shape (boxes, 2, gdim) [m].
        centres, radii: Of the spheres, shapes (facets, gdim), (facets,) [m].
        reach: One for all or that of each [m].
    """
    found = np.zeros(len(centres), dtype=bool)
    if not len(around):
        return found
    whole, limits, columns = (around[:, 0].min(axis=0), around[:, 1].max(axis=0)), radii + reach, centres.T
    some = np.flatnonzero(_apart(*whole, np.ascontiguousarray(columns)) <= limits)
    columns, limits = np.ascontiguousarray(columns[:, some]), limits[some]
    hit = np.zeros(some.size, dtype=bool)
    for low, high in around:
        hit |= _apart(low, high, columns) <= limits
    found[some] = hit
    return found


def _apart(low: FloatArray, high: FloatArray, columns: FloatArray) -> FloatArray:
    """Largest distance of points to a box along one of the axes, negative inside, shape (n,) [m].

    Args:
        low, high: Corners of the box, shape (gdim,) [m].
        columns: Coordinates of the points, shape (gdim, n) [m]: along columns ten times faster than by rows.
    """
    out = np.maximum(low[0] - columns[0], columns[0] - high[0])
    for x, least, most in zip(columns[1:], low[1:], high[1:]):
        np.maximum(out, least - x, out=out)
        np.maximum(out, x - most, out=out)
    return np.asarray(out)
