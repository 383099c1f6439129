"""Sums over pairs of nodes against dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolfinx_impact.algebra import kernels
from dolfinx_impact.algebra.pair_blocks import PairBlocks

pytestmark = pytest.mark.skipif(not kernels.load().COMPILED, reason="pairs need numba")


@st.composite
def matrices(draw):
    """A symmetric matrix of blocks whose rows sum to zero, some pairs skew, some without a block."""
    bs, nodes = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K = np.zeros((nodes, nodes, bs, bs))
    for i in range(nodes):
        for j in range(i + 1, nodes):
            kind = rng.integers(3)
            block = rng.standard_normal((bs, bs)) * (kind > 0)
            block = block + block.T if kind == 1 else block
            K[i, j], K[j, i] = block, block.T
    for i in range(nodes):
        K[i, i] = -K[i].sum(axis=0)
    return K


def pairs_of(K):
    """As they are read from a matrix in BSR format with all blocks."""
    nodes, bs = len(K), K.shape[-1]
    start = np.arange(nodes + 1) * nodes
    column = np.tile(np.arange(nodes, dtype=np.int32), nodes)
    largest, off = kernels.load().row_sums_of_blocks(start, K.ravel(), bs)
    assert largest == np.abs(K).max(initial=0.0)
    assert off <= 1e-14 * max(1.0, largest)
    return PairBlocks.of(start, column, K.ravel(), bs, largest)


@given(matrices(), st.integers(0, 2**32 - 1))
def test_product_is_the_dense_one(K, seed):
    nodes, bs = len(K), K.shape[-1]
    pairs, dense = pairs_of(K), K.transpose(0, 2, 1, 3).reshape(nodes * bs, -1)
    u = np.random.default_rng(seed).standard_normal(nodes * bs)
    f = np.ones(nodes * bs)
    kernels.load().pair_product(bs)(pairs, u, f)
    scale = 1e-14 * (1.0 + np.abs(dense).sum())
    assert np.abs(f - (1.0 - dense @ u)).max() <= scale * np.abs(u).max()
    skewed = sum(
        not np.allclose(K[i, j], K[i, j].T, rtol=0, atol=1e-14)
        for i in range(nodes)
        for j in range(i + 1, nodes)
    )
    assert len(pairs.skew) == skewed


@given(matrices(), st.floats(-1e6, 1e6))
def test_a_translation_gives_no_force(K, far):
    bs = K.shape[-1]
    u, f = np.full(len(K) * bs, far), np.zeros(len(K) * bs)
    kernels.load().pair_product(bs)(pairs_of(K), u, f)
    assert not f.any()


@given(matrices())
def test_a_part_with_other_numbers(K):
    """Nodes without a pair can be left out, and the others numbered anew in their order."""
    nodes, bs = len(K), K.shape[-1]
    wide = np.zeros((nodes + 2, nodes + 2, bs, bs))
    kept = np.arange(nodes) + (np.arange(nodes) >= nodes // 2) * 2
    wide[np.ix_(kept, kept)] = K
    place = np.zeros(nodes + 2, dtype=np.int64)
    place[kept] = np.arange(nodes)
    part, whole = pairs_of(wide).part(kept, place), pairs_of(K)
    for one, other in zip(part, whole):
        assert np.array_equal(one, other)
