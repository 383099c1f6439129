"""Integrals over segments: as by NumPy from their definitions, for pairs of facets of any shape and place."""

import numpy as np
import pytest
from support.segments import compiled, random_pairs, reference

KINDS = ["triangle", "parallelogram", "warped"]


def compare(kind, count, seed):
    """Rounding: 1e-13 of the largest; 1e-12 where the map of a facet is inverted by Newton's method."""
    slaves, masters, weights, heights = random_pairs(kind, count, seed)
    found = compiled(slaves, masters, weights, heights)
    place = {int(p): m for m, p in enumerate(found.pairs)}
    bound, met = (1e-12 if kind == "warped" else 1e-13), 0
    for p in range(count):
        limits = 0.6 * found.diameter[p].max(), 0.5 * heights[p].sum()
        overlap, expected = reference(slaves[p], masters[p], weights[p], *limits)
        if expected is False:
            continue
        if expected is None or p not in place:
            assert (expected is None) == (p not in place) or overlap < 1e-9, p
            continue
        met, scale = met + 1, np.ptp(np.vstack([slaves[p], masters[p]]), axis=0).max()
        mass, cross, moment, lowest = (
            getattr(found, n)[place[p]] for n in ("mass", "cross", "moment", "lowest")
        )
        for what, right in zip((mass, cross, moment), expected):
            size = np.abs(expected[0]).max() * (scale if right.ndim == 1 else 1.0)
            # Of slivers the corners are round-off.
            size *= max(1.0, 1e-2 / overlap)
            assert np.abs(what - right).max() <= bound * max(size, np.abs(right).max()), (p, overlap)
        assert lowest == pytest.approx(expected[3], rel=0, abs=1e-11 * scale)
    return met


@pytest.mark.parametrize("kind", KINDS)
def test_integrals_are_those_of_their_definitions(kind):
    assert compare(kind, 100, 0) > 25


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_integrals_of_many_pairs(kind):
    assert compare(kind, 10_000, 1) > 2500
