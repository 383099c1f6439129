"""Work of contact between surfaces on several ranks: equal parts, facets that are near, values of points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI

from dolfinx_impact.contact.surfaces.ranks import boxes
from dolfinx_impact.contact.surfaces.ranks.bisection import bisected, imbalance, of_nodes
from dolfinx_impact.contact.surfaces.ranks.route import Route

COMM = MPI.COMM_WORLD


def scattered(seed, count, gdim=3):
    return np.random.default_rng(seed).uniform(size=(count, gdim))


@given(seed=st.integers(0, 99), parts=st.integers(1, 17), gdim=st.sampled_from([2, 3]))
def test_parts_have_equal_work(seed, parts, gdim):
    """Each cut is off by half a facet at most, which its side shares with the parts that follow."""
    centres, weights = scattered(seed, 400, gdim), np.random.default_rng(seed).integers(1, 9, 400)
    sums = np.bincount(bisected(centres, weights, parts), weights, parts)
    assert sums.size == parts
    assert np.abs(sums - weights.sum() / parts).max() <= weights.max()


@given(seed=st.integers(0, 99), parts=st.integers(2, 9))
def test_parts_depend_on_places_and_weights_alone(seed, parts):
    """Not on where the origin is, nor, without equal centres, on the order of the facets."""
    centres, weights = scattered(seed, 120), np.random.default_rng(seed).integers(1, 9, 120)
    part, order = bisected(centres, weights, parts), np.random.default_rng(seed).permutation(120)
    assert np.array_equal(bisected(centres[order], weights[order], parts), part[order])
    assert np.array_equal(bisected(2.0 * centres - 1.0, 3 * weights, parts), part)


def test_parts_lie_together():
    """64 parts of a plane are 8 by 8 squares; equal coordinates are divided in the order of the facets."""
    x = np.stack(np.meshgrid(*2 * [np.arange(32.0)], [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    part = bisected(x, np.ones(1024, dtype=np.int64), 64)
    assert all(np.ptp(x[part == k], axis=0).max() == 3.0 for k in range(64))
    same = bisected(np.zeros((6, 3)), np.ones(6, dtype=np.int64), 3)
    assert same.tolist() == [0, 0, 1, 1, 2, 2]


def test_few_facets_leave_parts_empty():
    assert set(bisected(scattered(1, 3), np.ones(3, dtype=np.int64), 8)) <= set(range(8))
    assert bisected(np.zeros((0, 3)), np.ones(0, dtype=np.int64), 4).size == 0


def test_a_heavy_facet_is_a_part_of_its_own():
    weights = np.array([1, 1, 100, 1, 1])
    part = bisected(np.arange(5.0)[:, None] * [1.0, 0.0], weights, 2)
    assert np.count_nonzero(part == part[2]) <= 3
    assert imbalance(weights, part, 2) == pytest.approx(102 / 52)


def test_points_go_with_their_first_facet():
    nodes = np.array([[0, 1], [1, 2], [2, 3]])
    assert of_nodes(nodes, np.array([7, 5, 6]), 6).tolist() == [7, 7, 5, 6, -1, -1]


def sphere(seed, count, radius=1.0):
    x = scattered(seed, count) - 0.5
    return radius * x / np.linalg.norm(x, axis=1, keepdims=True), np.full(count, 0.05)


def test_boxes_find_what_is_near():
    """All facets within reach of one of those in the boxes; of a shell far fewer than one box would."""
    own, radii = sphere(0, 500)
    others, r = scattered(1, 3000) * 4.0 - 2.0, np.full(3000, 0.03)
    distance = np.linalg.norm(others[:, None] - own, axis=2) - r[:, None] - radii
    needed, around = (distance <= 0.1).any(axis=1), boxes.boxes(own, radii)
    found = boxes.near(around, others, r, 0.1)
    assert len(around) == boxes.MOST and not np.any(needed & ~found)
    whole = boxes.near(boxes.boxes(own, radii, most=1), others, r, 0.1)
    assert np.count_nonzero(found) < 0.85 * np.count_nonzero(whole)


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["scattered", "all on the first", "none"])
def test_points_come_back(kind):
    """Values of points arrive where they are computed with, and results where they are owned."""
    rng, count = np.random.default_rng(5), 40
    owner, number = rng.integers(0, COMM.size, count), np.zeros(count, dtype=np.int64)
    if kind == "all on the first":
        owner[:] = 0
    for k in range(COMM.size):
        number[owner == k] = np.arange(np.count_nonzero(owner == k))
    user = rng.integers(-1, COMM.size, count) if kind != "none" else np.full(count, -1)
    values, here, mine = rng.uniform(size=(count, 3)), user == COMM.rank, owner == COMM.rank
    route = Route(COMM, owner[here], number[here])
    for k in (3, 1, 3):
        came, results = np.zeros((route.count, k)), np.full((np.count_nonzero(mine), k), -1.0)
        route.there(values[mine][:, :k].copy(), came)
        assert np.array_equal(came, values[here][:, :k])
        route.back(2.0 * came, results)
        expected = np.where(user[:, None] >= 0, 2.0 * values[:, :k], -1.0)
        assert np.array_equal(results, expected[mine])
