"""The counts of what contact asks of many ranks are those of the facets themselves."""

import numpy as np
import pytest

from dolfinx_impact.benchmark.speed import contact_ranks
from dolfinx_impact.benchmark.speed.contact_ranks import Faces, shares
from dolfinx_impact.contact.surfaces.ranks.bisection import bisected, of_nodes


@pytest.fixture(scope="module")
def faces():
    return Faces.of(28)


def test_segments_fill_the_face(faces):
    """A cell of 28 meets one cell of 26, or two where an edge of these lies within it."""
    assert np.count_nonzero(faces.found) == (28 + 26 - np.gcd(28, 26)) ** 2
    assert len(faces.outer) == 2 * (28**2 + 26**2) + 4 * (28 * 14 + 26 * 13)
    assert np.all(np.bincount(faces.pairs[:, 0]) >= np.bincount(faces.pairs[faces.found, 0]))


@pytest.mark.parametrize("ranks", [1, 3, 16])
def test_shares_of_ranks(faces, ranks):
    found, segments = shares(faces, ranks), np.count_nonzero(faces.found)
    held = 28**2 + 26**2 + len(faces.outer)
    if ranks == 1:
        assert (found["segments"], found["points"], found["held"]) == (segments, 29**2, held)
        assert found["neighbours"] == found["nodes"] == 0
    else:
        assert segments / ranks < found["segments"] < 2.0 * segments / ranks
        assert found["bisection"] < 1.05 and 29**2 / ranks <= found["points"] < 1.5 * 29**2 / ranks
        assert found["held"] < {3: 0.5, 16: 0.2}[ranks] * held and 1 <= found["neighbours"] < ranks


def test_boxes_hold_all_that_a_rank_integrates(faces):
    """The facets held by boxes are at least the opposite ones of all candidate pairs."""
    weights = 1 + np.bincount(faces.pairs[:, 0])
    user = of_nodes(faces.slave, bisected(faces.x[faces.slave].mean(axis=1), weights, 4), len(faces.x))
    opposite, owner = contact_ranks._lists(faces), contact_ranks.owners(faces.x, 4)
    for rank in range(4):
        around = np.flatnonzero((user[faces.slave] == rank).any(axis=1))
        needed = np.unique(opposite[around].indices).size
        share = contact_ranks._share(faces, opposite, owner, user, rank, 0)
        assert needed + around.size <= share["held"] < 1.6 * (needed + around.size)


def test_ranks_own_equal_parts_of_the_cube():
    x = np.random.default_rng(0).uniform(size=(20000, 3))
    for ranks in (2, 3, 7, 8):
        assert np.bincount(contact_ranks.owners(x, ranks)) == pytest.approx(20000 / ranks, rel=0.05)
