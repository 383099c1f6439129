"""Division of facets into parts of equal work that lie together: recursive coordinate bisection.

Berger and Bokhari, IEEE Trans. Comput. C-36 (1987), doi:10.1109/TC.1987.1676942; for contact, beside a
partition of the cells that stays: Attaway et al., Comput. Mech. 22 (1998), doi:10.1007/s004660050348.
"""

from __future__ import annotations

import numpy as np

from ...._types import FloatArray, IntArray


def bisected(centres: FloatArray, weights: IntArray, parts: int) -> IntArray:
    """Part of each facet: halves of equal weight along the longest axis, again and again.

    A number of parts that is no power of two is divided in proportion. The result depends on the arguments
    alone, so that ranks which know the same facets find the same parts.

    Args:
        centres: Of the facets, shape (facets, gdim) [m]; of equal ones the first comes first.
        weights: Work of each, whole numbers above 0, shape (facets,).
        parts: Number of parts, at least 1; more than facets leave some empty.

    Returns:
        Shape (facets,).
    """
    part = np.zeros(len(centres), dtype=np.int64)
    waiting = [(np.arange(len(centres)), 0, parts)]
    while waiting:
        chosen, first, count = waiting.pop()
        part[chosen] = first
        if count == 1 or not chosen.size:
            continue
        at = centres[chosen]
        axis = int(np.argmax(np.ptp(at, axis=0)))
        ordered = chosen[np.argsort(at[:, axis], kind="stable")]
        sums, lower = np.cumsum(weights[ordered]), count // 2
        # A facet belongs to the side on which its middle lies; twice the weights keep the sums whole.
        middles = 2 * sums - weights[ordered]
        cut = int(np.searchsorted(middles * count, 2 * sums[-1] * lower))
        waiting.append((np.sort(ordered[:cut]), first, lower))
        waiting.append((np.sort(ordered[cut:]), first + lower, count - lower))
    return part


def of_nodes(nodes: IntArray, part: IntArray, count: int) -> IntArray:
    """Part of each node: that of its first facet, -1 for a node without one, shape (count,).

    Args:
        nodes: Of each facet, shape (facets, n).
        part: Of each facet, shape (facets,).
        count: Number of nodes.
    """
    found = np.full(count, -1, dtype=np.int64)
    # Of several values the last one stays.
    found[nodes[::-1].ravel()] = np.repeat(part[::-1], nodes.shape[1])
    return found


def imbalance(weights: IntArray, part: IntArray, parts: int) -> float:
    """Largest sum of the weights of a part over their mean, 1 without weights."""
    sums = np.bincount(part, weights, parts)
    return float(sums.max() / sums.mean()) if sums.any() else 1.0
