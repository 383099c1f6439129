"""Impulses at points with dofs of their own, compiled and in NumPy."""

import numpy as np
import pytest

from dolfinx_impact.algebra import kernels
from dolfinx_impact.algebra.kernels import _numpy

MODULES = {"numpy": _numpy, **({"numba": kernels.load()} if kernels.load().COMPILED else {})}
SIZE, P, K = 30, 8, 3


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_vectors_are_added_by_the_transpose(kind, shared, scaled):
    rng = np.random.default_rng(0)
    dofs = rng.integers(0, SIZE, (P, K)) if shared else rng.permutation(SIZE)[: P * K].reshape(P, K)
    weights, r, f = rng.normal(size=(P, K)), rng.normal(size=P), rng.normal(size=(P, K))
    r[:3], f[2:5] = 0.0, 0.0
    d, before = rng.random(SIZE), rng.normal(size=SIZE)
    for vectors in (f, f[:0]):
        expected = before.copy()
        pushed = weights * r[:, None] + (vectors if len(vectors) else 0.0)
        np.add.at(expected, dofs, pushed * (d[dofs] if scaled else 1.0))
        out = before.copy()
        places = dofs.astype(np.int32)
        MODULES[kind].add_vectors(places, weights, r, vectors, d if scaled else d[:0], out)
        assert out == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("moves", [False, True])
def test_friction_stops_points_as_far_as_its_disc_allows(kind, moves):
    rng = np.random.default_rng(1)
    dofs = np.arange(P * K, dtype=np.int32).reshape(P, K)
    n = rng.normal(size=(P, K))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    v, mass, r = rng.normal(size=P * K), rng.uniform(1.0, 2.0, P), rng.uniform(0.1, 4.0, P)
    r[0], mu = 0.0, np.full(P, 0.5)
    moved = rng.normal(size=(P, K)) if moves else np.zeros((0, K))
    inverse, r_t = np.repeat(1.0 / mass[:, None], K, axis=1), np.zeros((P, K))
    MODULES[kind].add_friction(dofs, n, inverse, mu, v, moved, r, r_t)
    assert not r_t[0].any() and np.einsum("pk,pk->p", r_t, n) == pytest.approx(0.0, abs=1e-14)
    slip = v.reshape(P, K) - (moved if moves else 0.0) + r_t / mass[:, None]
    slip -= np.einsum("pk,pk->p", slip, n)[:, None] * n
    size, limit = np.linalg.norm(r_t, axis=1), mu * r
    sticks, slides = (size < (1 - 1e-12) * limit), (size >= (1 - 1e-12) * limit) & (r > 0)
    assert sticks.any() and slides.any() and np.all(size <= (1 + 1e-14) * limit)
    assert np.abs(slip[sticks]).max() < 1e-14
    along = np.einsum("pk,pk->p", slip[slides], r_t[slides])
    assert along == pytest.approx(-np.linalg.norm(slip[slides], axis=1) * size[slides], rel=1e-12)
