"""The contact problem: answers against enumeration, and against the two short cuts that are wrong."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from dolfinx_impact import NotConverged, complementarity
from dolfinx_impact.algebra.complementarity import residual, solve

LEVER = np.array([[23 / 18, 2 / 9], [2 / 9, 23 / 18]])
A, C = LEVER[0]
METHODS = ("_active_set", "_least_distance", "lemke")

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


def inverse_only(H, b):
    return np.maximum(0.0, -np.linalg.solve(H, b))


def diagonal_only(H, b):
    return np.maximum(0.0, -b / np.diag(H))


def enumerate_active_sets(H, b):
    """The one set of pushing points whose solution fits all the others."""
    found = []
    for active in itertools.product([False, True], repeat=b.size):
        r, on = np.zeros(b.size), np.array(active)
        if on.any():
            r[on] = np.linalg.solve(H[np.ix_(on, on)], -b[on])
        if residual(H, b, r) < 1e-9:
            found.append(r)
    assert found and all(np.allclose(r, found[0], rtol=1e-6, atol=1e-8) for r in found)
    return found[0]


def positive_definite(p, rng):
    G = rng.normal(size=(p, p))
    return G @ G.T + 0.05 * np.eye(p)


def m_matrix(p, rng):
    B = rng.random((p, p)) * (rng.random((p, p)) < 0.7)
    B += B.T
    return (1.05 * np.abs(np.linalg.eigvalsh(B)).max() + 0.01) * np.eye(p) - B


@pytest.mark.parametrize(
    "b, expected",
    [
        ((1.0, 1.0), (0.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0)),
        ((-1.0, -1.0), (1 / (A + C), 1 / (A + C))),
        ((-1.0, -0.5), ((A - 0.5 * C) / (A**2 - C**2), (0.5 * A - C) / (A**2 - C**2))),
        ((-1.0, -0.1), (1 / A, 0.0)),
        ((-0.1, -1.0), (0.0, 1 / A)),
        ((-1.0, 0.0), (1 / A, 0.0)),
        ((-1.0, 1.0), (1 / A, 0.0)),
        ((1.0, -1.0), (0.0, 1 / A)),
    ],
)
def test_lever(b, expected):
    r = solve(LEVER, np.array(b))
    assert r == pytest.approx(np.array(expected), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(
    "wrong, b",
    [
        (inverse_only, (-1.0, 1.0)),
        (inverse_only, (-1.0, -0.1)),
        (inverse_only, (1.0, -1.0)),
        (diagonal_only, (-1.0, -1.0)),
        (diagonal_only, (-1.0, -0.1)),
    ],
)
def test_lever_finds_short_cuts_out(wrong, b):
    b = np.array(b)
    assert residual(LEVER, b, wrong(LEVER, b)) > 1e-2
    assert np.abs(wrong(LEVER, b) - solve(LEVER, b)).max() > 1e-2


@pytest.mark.parametrize("family", [positive_definite, m_matrix])
@examples(15)
@given(p=sizes, seed=seeds)
def test_random_problems_against_all_active_sets(family, p, seed):
    rng = np.random.default_rng(seed)
    H, b = family(p, rng), rng.normal(size=p)
    assert solve(H, b) == pytest.approx(enumerate_active_sets(H, b), rel=1e-6, abs=1e-8)


@examples(10)
@given(p=st.integers(2, 8), rank=st.integers(1, 4), seed=seeds)
def test_more_contacts_than_the_body_can_feel(p, rank, seed):
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(p, min(rank, p - 1)))
    H, b = L @ L.T, L @ rng.normal(size=min(rank, p - 1))
    r = solve(H, b)
    assert np.all(r >= 0) and residual(H, b, r) <= complementarity.TOLERANCE


def test_twin_contacts_share_the_impulse_of_one():
    r = solve(np.ones((3, 3)), -np.ones(3))
    assert r.sum() == pytest.approx(1.0, rel=1e-9) and np.all(r >= 0)


@examples(10)
@given(p=sizes, seed=seeds)
def test_diagonal_is_the_full_problem_without_coupling(p, seed):
    rng = np.random.default_rng(seed)
    h, b = rng.uniform(0.1, 10, size=p), rng.normal(size=p)
    r = solve(h, b)
    assert r == pytest.approx(solve(np.diag(h), b), rel=1e-14)
    assert residual(h, b, r) <= 1e-15


@pytest.mark.parametrize("H", [np.zeros(0), np.zeros((0, 0))])
def test_empty_problem(H):
    assert solve(H, np.zeros(0)).shape == (0,)
    assert residual(H, np.zeros(0), np.zeros(0)) == 0.0


@examples(10)
@given(p=sizes, seed=seeds, exponent=st.integers(-12, 12))
def test_units_do_not_matter(p, seed, exponent):
    rng, s = np.random.default_rng(seed), 10.0**exponent
    H, b = positive_definite(p, rng), rng.normal(size=p)
    r = solve(H, b)
    assert solve(H / s, b) == pytest.approx(s * r, rel=1e-9, abs=1e-12 * s)
    assert solve(H, s * b) == pytest.approx(s * r, rel=1e-9, abs=1e-12 * s)
    assert residual(H / s, s * b, s * s * r) == pytest.approx(residual(H, b, r), abs=1e-12)


@examples(10)
@given(p=sizes, seed=seeds)
def test_points_of_very_different_mass(p, seed):
    rng = np.random.default_rng(seed)
    H, b = positive_definite(p, rng), rng.normal(size=p)
    d = 10.0 ** rng.integers(-4, 5, size=p)
    assert d * solve(H * np.outer(d, d), d * b) == pytest.approx(solve(H, b), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("b", [(-1.0, -1.0), (-1.0, 0.5)])
def test_unsolvable_problem_is_refused(b):
    H = np.array([[1.0, -1.0], [-1.0, 1.0]])  # w_1 + w_2 = b_1 + b_2 < 0 whatever pushes
    with pytest.raises(NotConverged, match="contact problem of 2 points was not solved"):
        solve(H, np.array(b))


def node_to_segment(p=200):
    """Nodes on a chain of segments: a row feels its node and both ends of its segment."""
    rng = np.random.default_rng(1)
    L, s, i = np.zeros((p, 2 * p + 1)), rng.random(p), np.arange(p)
    L[i, i], L[i, p + i], L[i, p + i + 1] = 1.0, -s, s - 1.0
    return (L / rng.uniform(0.5, 2.0, size=2 * p + 1)) @ L.T, rng.normal(size=p)


def mostly_active(p=60):
    """Points that draw each other in: most push, some only because others do."""
    rng = np.random.default_rng(2)
    H, b = m_matrix(p, rng) + np.eye(p), rng.uniform(-1.0, 0.5, size=p)
    drawn_in = (solve(H, b) > 0) & (b > 0)
    assert drawn_in.any()
    return H, b


def give_nothing(name, monkeypatch):
    """Let a method find no answer."""
    monkeypatch.setattr(complementarity, name, lambda S, c: iter(()))


@pytest.mark.parametrize("problem", [node_to_segment, mostly_active])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_alone(problem, method, monkeypatch):
    H, b = problem()
    expected = solve(H, b)
    for other in set(METHODS) - {method}:
        give_nothing(other, monkeypatch)
    r = solve(H, b)
    assert 0 < np.count_nonzero(r) <= b.size
    assert r == pytest.approx(expected, rel=1e-7, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("broken", [(), METHODS[:1], METHODS[:2]])
def test_a_method_that_fails_hands_over(broken, monkeypatch):
    for name in broken:
        monkeypatch.setattr(complementarity, name, lambda S, c: iter([np.full(c.size, np.nan)]))
    assert solve(LEVER, np.array([-1.0, -0.1])) == pytest.approx([1 / A, 0.0], abs=1e-9)


def repeated(p, rng):
    """Rows that are the same, or all but the same: faces side by side, nodes on one rigid body."""
    L = rng.normal(size=(p, rng.integers(1, p + 1)))[rng.integers(0, max(1, p // 2), p)]
    return L + rng.choice([0.0, 1e-5, 1e-7, 1e-9, 1e-12]) * rng.normal(size=L.shape)


def unequal_masses(p, rng):
    """Masses from 1e-6 to 1e6 kg."""
    L = rng.normal(size=(p, rng.integers(1, 2 * p + 1)))
    return L * 10.0 ** rng.uniform(-3, 3, size=L.shape[1])


def of_low_rank(p, rng):
    return rng.normal(size=(p, rng.integers(1, p + 1)))


@pytest.mark.parametrize("family", [repeated, unequal_masses, of_low_rank])
def test_degenerate_problems_are_solved_to_round_off(family):
    """Any answer gives the one velocity after the impact, that of the impulses it was made from."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        p = 20 if seed % 50 == 0 else int(rng.integers(1, 9))
        L = family(p, rng)
        H, kind = L @ L.T, rng.integers(0, 3, size=p)
        scale = np.sqrt(np.diag(H))
        made = np.where(kind == 0, rng.random(p), 0.0) / scale
        w = np.where(kind == 1, rng.random(p), 0.0) * scale
        r = solve(H, w - H @ made)
        assert r.min() >= 0 and residual(H, w - H @ made, r) < 1e-12
        assert (H @ r - H @ made) / scale == pytest.approx(0.0, abs=1e-6)


@given(p=st.integers(1, 3), rank=st.integers(1, 3), seed=seeds)
def test_corners_where_one_face_too_many_is_touched(p, rank, seed):
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(p, rank))
    H, b = L @ L.T, L @ rng.normal(size=rank)
    r = solve(H, b)
    w = H @ r + b
    assert r.min() >= 0 and w.min() > -1e-10 and abs(r @ w) < 1e-10


@pytest.mark.parametrize("defect", [1.0, 1e-3, 1e-6, 1e-9])
def test_a_point_squeezed_between_two_walls_is_refused(defect):
    """No impulse, however large, is an answer."""
    H = np.array([[1.0, -1.0, 0.2], [-1.0, 1.0, -0.2], [0.2, -0.2, 1.0]])
    with pytest.raises(NotConverged, match="contact problem of 3 points was not solved: residual .* above"):
        solve(H, np.array([-1.0, 1.0 - defect, -0.5]))


def test_nothing_above_the_tolerance_is_returned(monkeypatch):
    for name in METHODS:
        monkeypatch.setattr(complementarity, name, lambda S, c: iter([diagonal_only(S, c)]))
    monkeypatch.setattr(complementarity, "_refined", lambda S, c, x: iter(()))
    with pytest.raises(NotConverged, match="is above 1e-10"):
        solve(LEVER, np.array([-1.0, -1.0]))
