"""Rows of ties, and the present normals of what they hold."""

from __future__ import annotations

import numpy as np

from ..._types import FloatArray, IntArray
from .assembly import Assembly

#: Weights of a tie below this are rounding; in a row whose node is held they would make a constraint alone.
_ROUNDING = 1e-12


def tied_entries(assembly: Assembly) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """:meth:`.Assembly.entries` of a tie, a row for each point and direction: W in the place of L."""
    gdim = assembly.body.gdim
    start, nodes, _, W = assembly.entries(np.isfinite)
    W = np.where(np.abs(W) > _ROUNDING, W, 0.0)
    rows = []
    for first, last in zip(start[:-1], start[1:]):
        rows += [(nodes[first:last], n * W[first:last, None], W[first:last]) for n in np.eye(gdim)]
    lengths = np.repeat(np.diff(start), gdim)
    if rows:
        nodes, B, W = (np.concatenate(parts) for parts in zip(*rows))
    else:
        B = np.zeros((0, gdim))
    return np.concatenate([[0], np.cumsum(lengths)]), nodes, B, W


def present_normals(assembly: Assembly, x: FloatArray) -> FloatArray:
    """Outward normals of the covered facets of the slaves at the points of pairs, shape (n, gdim).

    Args:
        assembly: The points.
        x: Positions of all nodes of the facets, shape (nodes, gdim) [m].
    """
    of_facets, sizes = assembly.facets.normals(x)
    sums = np.zeros((assembly.mortar.nodes.size, x.shape[1]))
    for k in range(len(assembly.pairs)):
        point, facet, _ = assembly.mortar.incidence(k, covered=True)
        np.add.at(sums, point, of_facets[facet] * sizes[facet, None])
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: FloatArray = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0.0)
    return unit
