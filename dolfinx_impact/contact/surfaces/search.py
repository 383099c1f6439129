"""Candidate pairs of facets that may come into contact before the next search."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..._types import FloatArray, IntArray
from ._segments import FACING
from .facets import Facets

#: Facets that may face each other until the next search: slack of the cosine of their normals.
_TURNING = 0.45


def candidate_pairs(
    facets: Facets, x: FloatArray, slave: IntArray, master: IntArray, largest_gap: float, margin: float
) -> IntArray:
    """Pairs of facets that may have a segment while no node moves by more than half the margin.

    Args:
        facets: All facets.
        x: Positions of their nodes, shape (nodes, gdim) [m].
        slave, master: Numbers of the facets of both sides.
        largest_gap: Largest gap of a segment over the larger diameter of the pair.
        margin: Largest change of a distance until the next search [m].

    Returns:
        Slave and master facet of each pair, shape (pairs, 2), sorted.
    """
    if not (slave.size and master.size):
        return np.zeros((0, 2), dtype=np.int64)
    at = x[facets.nodes]
    centre = at.mean(axis=1)
    radius = np.linalg.norm(at - centre[:, None], axis=2).max(axis=1)
    normals, _ = facets.normals(x)
    largest = 1.0 + 2.0 * largest_gap
    farthest = largest * (radius[slave] + radius[master].max()) + margin
    lists = cKDTree(centre[master]).query_ball_point(centre[slave], farthest)
    counts = np.array([len(each) for each in lists])
    if not counts.sum():
        return np.zeros((0, 2), dtype=np.int64)
    first = np.repeat(slave, counts)
    second = master[np.concatenate([np.sort(each) for each in lists if each]).astype(np.int64)]
    distance = np.linalg.norm(centre[first] - centre[second], axis=1)
    both = radius[first] + radius[second]
    near = distance <= both + 2.0 * largest_gap * np.maximum(radius[first], radius[second]) + margin
    facing = np.einsum("pi,pi->p", normals[first], normals[second]) < FACING + _TURNING
    kept = near & facing
    return np.ascontiguousarray(np.column_stack([first[kept], second[kept]]))
