"""The projected iteration on dense problems with known solutions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

from dolfinx_impact import NotConverged, complementarity
from dolfinx_impact.algebra import coulomb, projected_iteration
from dolfinx_impact.algebra.projected_iteration import AdmissibleImpulses, solve


def problem(seed, p, d, coupling=0.5):
    """A Delassus operator of unit diagonal with moderate coupling, free velocities."""
    rng = np.random.default_rng(seed)
    A = np.eye(p * d) + coupling * rng.normal(size=(p * d, p * d)) / np.sqrt(p * d)
    H = A @ A.T
    scale = 1.0 / np.sqrt(np.diag(H).reshape(p, d).mean(axis=1).repeat(d))
    return H * np.outer(scale, scale), rng.normal(size=p * d)


def iterated(H, b, d, friction=0.0, bilateral=None, active=None, start=None):
    p = b.size // d
    every, none = np.ones(p, dtype=bool), np.zeros(p, dtype=bool)
    cone = AdmissibleImpulses(
        every if active is None else active,
        none if bilateral is None else bilateral,
        np.full(p, float(friction)),
    )
    first = np.zeros((p, d)) if start is None else start
    x, sweeps = solve(lambda x: (H @ x.ravel()).reshape(p, d), b.reshape(p, d), cone, first, MPI.COMM_SELF)
    return x, sweeps


@given(seed=st.integers(0, 10**6), p=st.integers(1, 12))
@examples(20)
def test_complementarity(seed, p):
    H, b = problem(seed, p, 1)
    x, sweeps = iterated(H, b, 1)
    assert x[:, 0] == pytest.approx(complementarity.solve(H, b), abs=1e-10)
    assert sweeps < 300


@given(seed=st.integers(0, 10**6), p=st.integers(1, 6), d=st.integers(2, 3), mu=st.sampled_from([0.1, 0.5]))
@examples(20)
def test_friction(seed, p, d, mu):
    """The residual of Coulomb's law, and the solution where it is unique."""
    H, b = problem(seed, p, d, 0.2)
    x, _ = iterated(H, b, d, mu)
    assert coulomb.residual(H, b, x.ravel(), mu, d) <= 1e-10
    assert x.ravel() == pytest.approx(coulomb.solve(H, b, mu, d), abs=1e-8)


@given(seed=st.integers(0, 10**6), p=st.integers(1, 12))
@examples(10)
def test_ties_are_linear_systems(seed, p):
    H, b = problem(seed, p, 1)
    x, _ = iterated(H, b, 1, bilateral=np.ones(p, dtype=bool))
    assert x[:, 0] == pytest.approx(np.linalg.solve(H, -b), abs=1e-9)


def test_open_points_have_no_impulse_and_no_influence():
    H, b = problem(3, 8, 1)
    active = np.arange(8) % 3 > 0
    x, _ = iterated(H, b, 1, active=active)
    assert not x[~active].any()
    expected = complementarity.solve(H[np.ix_(active, active)], b[active])
    assert x[active, 0] == pytest.approx(expected, abs=1e-11)


def test_the_solution_as_start_is_kept():
    H, b = problem(5, 8, 1)
    x, many = iterated(H, b, 1)
    again, few = iterated(H, b, 1, start=x)
    assert few < many and again == pytest.approx(x, abs=1e-12)


def test_nothing_approaches():
    x, sweeps = iterated(np.eye(3), np.zeros(3), 1)
    assert not x.any() and sweeps == 0
    x, _ = iterated(np.eye(3), np.ones(3), 1)
    assert not x.any()


def test_without_solution_it_says_so():
    H = np.array([[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(NotConverged, match="was not solved: after"):
        iterated(H, np.array([-1.0, -1.0]), 1)
    with pytest.raises(NotConverged, match="not finite"):
        iterated(np.eye(2), np.array([np.nan, -1.0]), 1)


def test_tilted_points_with_a_direction_held():
    """Normal and tangent act on one dof: friction slides, at the rate that the normal law leaves to it."""
    tilts, mu = np.array([0.0338, 0.0106, 0.0]), 0.8
    H = np.zeros((6, 6))
    for k, a in enumerate(tilts):
        H[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = np.outer([1.0, a], [1.0, a])
    b = np.array([-0.0492, -0.0013, -0.1282, -0.0006, -0.3, 0.0])
    x, sweeps = iterated(H, b, 2, friction=mu)
    w = (H @ x.ravel() + b).reshape(3, 2)
    assert w[:, 0] == pytest.approx(0.0, abs=1e-12)
    assert x[:2, 1] == pytest.approx(-mu * x[:2, 0], rel=1e-12) and np.all(w[:2, 1] > 1e-4)
    assert x[:2, 0] == pytest.approx(-b[0:4:2] / (1 - mu * tilts[:2]), rel=1e-11)
    assert x[2] == pytest.approx([0.3, 0.0]) and sweeps < 400


def test_mixing_without_weights_takes_the_image(monkeypatch):
    comm, x, rng = MPI.COMM_SELF, np.ones((2, 1)), np.random.default_rng(1)

    def fail(*given, **options):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "lstsq", fail)
    mixing = projected_iteration.Mixing(comm)
    for _ in range(3):
        image = rng.normal(size=x.shape)
        x, before = mixing.next(x, image), x
        assert np.array_equal(x, image)
    mixing.next(x, 1e200 * image)
    assert np.array_equal(mixing.next(before, -1e200 * image), -1e200 * image)


@pytest.mark.parametrize("tied", [False, True])
def test_a_dense_solution_ends_the_iteration(monkeypatch, tied):
    """Its residual is round-off in its own scale of the tangents, where one is held but for a tilt."""
    monkeypatch.setattr(projected_iteration, "_LATE", 0)
    H, b = problem(3, 6, 2)
    tilt = np.eye(12)
    tilt[1] = -1e-5 * tilt[0]
    H, b = tilt @ H @ tilt.T, tilt @ b
    bilateral, friction = np.zeros(6, dtype=bool), np.full(6, 0.3)
    bilateral[3:] = tied
    friction[bilateral] = 0.0
    cone = AdmissibleImpulses(np.ones(6, dtype=bool), bilateral, friction)
    x, sweeps = solve(
        lambda x: (H @ x.ravel()).reshape(6, 2), b.reshape(6, 2), cone, np.zeros((6, 2)), MPI.COMM_SELF
    )
    assert sweeps == 1
    w = (H @ x.ravel() + b).reshape(6, 2)
    assert np.abs(w[bilateral, 0]).max(initial=0.0) < 1e-13 and not x[bilateral, 1].any()
    assert np.abs(x - cone.project(x - w)).max() < 1e-10
    assert np.abs(np.minimum(x[~bilateral, 0], w[~bilateral, 0])).max() < 1e-13
