"""Candidate pairs of facets: none is missing, and the distances that come with them are bounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dolfinx_impact.contact.surfaces.search import FacetSearch

#: Corners among the nodes in the order of the boundary, for segments, triangles and quadrilaterals.
CORNERS = {"line": [0, 1], "triangle": [0, 1, 2], "quadrilateral": [0, 2, 3, 1]}
KINDS = pytest.mark.parametrize("kind", CORNERS)
GAP = 0.6


def sheet(kind, n, size, *, up, at=(0.0, 0.0, 0.0), bend=0.0, noise=0.0, seed=0):
    """Nodes and facets of a square sheet (a line in 2D) that looks up or down."""
    dim = 1 if kind == "line" else 2
    axes = np.meshgrid(*[np.linspace(0.0, size, n + 1)] * dim, indexing="ij")
    flat = np.column_stack([each.ravel() for each in axes])
    x = np.column_stack([flat, bend * ((flat - size / 2) ** 2).sum(axis=1)]) + np.array(at)[-dim - 1 :]
    x += noise * size / n * np.random.default_rng(seed).uniform(-1.0, 1.0, x.shape)
    number = np.arange(len(x)).reshape((n + 1,) * dim)
    if dim == 1:
        facets = np.column_stack([number[1:], number[:-1]])
        return x, facets if up else facets[:, ::-1]
    a, b, c, d = (
        each.ravel() for each in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:])
    )
    if kind == "triangle":
        facets = np.vstack([np.column_stack([a, c, d]), np.column_stack([a, d, b])])
        return x, facets if up else facets[:, ::-1]
    return x, np.column_stack([a, b, c, d] if up else [a, c, b, d])


def surfaces(kind, *sheets, degree=1, seed=None):
    """Facets of several sheets, with what the search reads of them."""
    before = np.cumsum([0, *(len(x) for x, _ in sheets)])
    x, nodes = np.vstack([x for x, _ in sheets]), np.vstack([f + k for (_, f), k in zip(sheets, before)])
    surface = np.repeat(np.arange(len(sheets)), [len(f) for _, f in sheets])
    at = x[nodes]
    diameter = 2.0 * np.linalg.norm(at - at.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    weights = np.ones(len(nodes))
    if seed is not None:
        weights = 1.0 / (0.01 + np.random.default_rng(seed).choice([0.0, 0.3, np.pi / 2], len(nodes)) ** 2)
    shape = SimpleNamespace(corners=np.array(CORNERS[kind]), points=np.linspace(0.0, 1.0, degree + 1))
    facets = SimpleNamespace(
        shape=shape, nodes=nodes, surface=surface, flatness=weights, diameter=diameter, x=x
    )
    facets.of = lambda k: np.flatnonzero(facets.surface == k)
    return facets


def all_pairs(facets, slave=0, master=1):
    first, second = np.meshgrid(facets.of(slave), facets.of(master), indexing="ij")
    return np.column_stack([first.ravel(), second.ravel()])


def normals(at):
    """Unit normals of facets with these corners, shape (..., corners, gdim)."""
    if at.shape[-1] == 2:
        along = at[..., 1, :] - at[..., 0, :]
        n = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    elif at.shape[-2] == 3:
        n = np.cross(at[..., 1, :] - at[..., 0, :], at[..., 2, :] - at[..., 0, :])
    else:
        n = np.cross(at[..., 2, :] - at[..., 0, :], at[..., 3, :] - at[..., 1, :])
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


def common(at, weights):
    """Common normals and cosines of pairs, corners (pairs, 2, corners, gdim), weights (pairs, 2)."""
    n = normals(at)
    along = weights[:, 1, None] * n[:, 1] - weights[:, 0, None] * n[:, 0]
    return along / np.linalg.norm(along, axis=1, keepdims=True), np.einsum("pi,pi->p", n[:, 0], n[:, 1])


def separated(at, n):
    """Largest distance of both projections along n on the normals of their edges, and that normal."""
    edges = np.roll(at, -1, axis=2) - at
    if at.shape[-1] == 2:
        axes = np.stack([-n[:, 1], n[:, 0]], axis=1)[:, None]
    else:
        axes = np.cross(n[:, None], edges.reshape(len(at), -1, 3))
        axes /= np.linalg.norm(axes, axis=2, keepdims=True)
    along = np.einsum("pai,pski->pask", axes, at)
    low, high = along.min(axis=3), along.max(axis=3)
    way = np.stack([low[..., 1] - high[..., 0], low[..., 0] - high[..., 1]], axis=2)
    best = way.reshape(len(at), -1).argmax(axis=1)
    towards = axes[np.arange(len(at)), best // 2] * np.where(best % 2, -1.0, 1.0)[:, None]
    return way.max(axis=(1, 2)), towards


def have_segments(at, weights, largest):
    """Mask of pairs that overlap along their normal by more than rounding, with all gaps in the range."""
    n, cosine = common(at, weights)
    along = np.einsum("pi,pski->psk", n, at)
    low = along[:, 0].min(axis=1) - along[:, 1].max(axis=1)
    high = along[:, 0].max(axis=1) - along[:, 1].min(axis=1)
    return (cosine < -0.5) & (separated(at, n)[0] < -1e-9) & (high <= largest) & (low >= -largest)


def positions(facets, pairs, x=None):
    return (facets.x if x is None else x)[facets.nodes[pairs][:, :, facets.shape.corners]]


def candidates(facets, slaves, members, margin, x=None):
    masters = np.array([master for _, master in members], dtype=np.int64)
    return FacetSearch(facets, slaves, masters).find(facets.x if x is None else x, GAP, margin)


def corner_candidates(facets, nodes, others, margin):
    found = FacetSearch(facets, nodes, np.array(others), points=True).find(facets.x, GAP, margin)
    return found.pairs, found.above


def found(facets, margin, x=None, members=((0, 1),)):
    return candidates(facets, [facets.of(s) for s, _ in members], members, margin, x)


def rough(kind, seed):
    """Two sheets of warped facets with different sizes and weights, that cross each other."""
    upper = sheet(kind, 7, 1.0, up=False, at=(0.1, 0.05, 0.05), bend=0.3, noise=0.15, seed=seed)
    lower = sheet(kind, 5, 1.0, up=True, bend=-0.2, noise=0.15, seed=seed + 100)
    return surfaces(kind, upper, lower, seed=seed)


def turns(gdim, angle, lean):
    """Rotations by angles in the plane, none in 2D, and by vectors of it."""
    if gdim == 2:
        c, s = np.cos(lean[:, 0]), np.sin(lean[:, 0])
        return np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
    vectors = np.column_stack([lean, np.zeros(len(lean))])
    return (Rotation.from_rotvec(vectors) * Rotation.from_rotvec(angle[:, None] * np.eye(3)[2])).as_matrix()


def apart(kind, count, rng):
    """Facets of two surfaces, each near to one of the other: of any size, leaning, warped, beside."""
    base, facet = sheet(kind, 1, 1.0, up=True)
    base, gdim = base[facet[0]] - base[facet[0]].mean(axis=0), base.shape[1]
    down, sheets = np.diag([-1.0, -1.0, 1.0][:gdim] if gdim == 2 else [1.0, -1.0, -1.0]), []
    for shape in (base @ down, base):
        turn = turns(gdim, rng.uniform(0.0, 7.0, count), rng.normal(0.0, 0.2, (count, 2)))
        x = np.einsum("pij,kj->pki", turn, shape) + rng.uniform(-0.1, 0.1, (count, *base.shape))
        sheets.append(rng.uniform(0.4, 1.0, (count, 1, 1)) * x)
    sheets[0] += rng.uniform(-1.3, 1.3, (count, 1, gdim)) * np.array([1.0] * (gdim - 1) + [0.35])
    far = 100.0 * np.arange(count)[:, None, None] * np.eye(gdim)[0]
    number = np.arange(count * len(base)).reshape(count, -1)
    return surfaces(kind, *(((x + far).reshape(-1, gdim), number) for x in sheets), seed=1)


@KINDS
def test_no_pair_is_missing(kind):
    """Nodes move as far as they may: together, or so that the facets shift, lean and twist."""
    rng = np.random.default_rng(0)
    facets = apart(kind, 2500, rng)
    pairs = np.column_stack([facets.of(0), facets.of(1)])
    margin = 0.15
    kept = np.isin(facets.of(0), found(facets, margin).pairs[:, 0])
    assert 0.3 < kept.mean() < 0.8
    at, weights = positions(facets, pairs), facets.flatness[pairs]
    largest = GAP * facets.diameter[pairs].max(axis=1)
    n, _ = common(at, weights)
    way = separated(at, n)[1][:, None, None]
    arms = np.einsum("pski,pi->psk", at - at.mean(axis=2, keepdims=True), way[:, 0, 0])
    reached, side = have_segments(at, weights, largest), np.array([1.0, -1.0])[:, None, None]
    for _ in range(40):
        angle = rng.uniform(-1.5, 1.5, (len(at), 1, 1)) * np.sign(arms) + rng.normal(0.0, 0.1, arms.shape)
        move = np.cos(angle)[..., None] * side * way + np.sin(angle)[..., None] * n[:, None, None]
        reached |= have_segments(at + 0.5 * margin * move, weights, largest)
    assert not np.any(reached & ~kept)
    assert reached.sum() > 0.6 * kept.sum()


def test_slivers_turn():
    """One with an edge against a facet, which lies flat on it once its long side moves by half the margin."""
    flat = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    up = np.array([[0.1, 0.3, 0.01], [0.6, 0.3, 0.01], [0.35, 0.3, 0.04]])
    facets = surfaces("triangle", (up, np.array([[0, 2, 1]])), (flat, np.array([[0, 1, 2]])))
    margin, fallen = 0.11, facets.x.copy()
    fallen[2] = [0.35, 0.34, 0.01]
    at, weights = positions(facets, np.array([[0, 1]]), fallen), facets.flatness[[[0, 1]]]
    reached = have_segments(at, weights, GAP * facets.diameter.max())
    assert reached.all() and np.linalg.norm(fallen[2] - up[2]) <= 0.5 * margin
    assert len(found(facets, margin).pairs) == 1


@KINDS
def test_distances_are_bounds(kind):
    """Of points of both facets at random."""
    facets, rng = rough(kind, 5), np.random.default_rng(0)
    pairs, _, above, beside, lever = found(facets, 0.2 * facets.diameter.min())
    at = positions(facets, pairs)
    n, _ = common(at, facets.flatness[pairs])
    part = rng.dirichlet(np.full(at.shape[2], 0.3), (100, len(pairs), 2))
    points = np.einsum("qpsk,pski->qpsi", part, at)
    between = points[:, :, 0] - points[:, :, 1]
    along = np.einsum("qpi,pi->qp", between, n)
    assert np.all(along >= above - 1e-15) and np.all(np.abs(along) <= lever + 1e-15)
    assert np.all(np.linalg.norm(between - along[..., None] * n, axis=2) >= beside - 1e-15)
    assert np.allclose(beside, np.maximum(separated(at, n)[0], 0.0), rtol=0, atol=1e-14)
    heights = np.einsum("pi,pski->psk", n, at)
    assert np.allclose(above, heights[:, 0].min(axis=1) - heights[:, 1].max(axis=1), rtol=0, atol=1e-14)
    assert (above > 0).any() and (beside > 0).any() and (beside == 0).any()


def test_all_pairs_of_surfaces_at_once():
    """Each as alone, sorted; a surface is slave here and master there; facets may be left out."""
    sheets = [sheet("triangle", 6, 1.0, up=k % 2 == 0, at=(0.1 * k, 0.0, 0.02 * k)) for k in range(4)]
    facets = surfaces("triangle", *sheets)
    members, margin = [(1, 0), (1, 2), (3, 0), (2, 3)], 0.05
    slaves = [facets.of(1)] * 2 + [facets.of(3)[::2], facets.of(2)[::3]]
    every = candidates(facets, slaves, members, margin)
    assert np.all(np.diff(every.member) >= 0)
    for k, pair in enumerate(members):
        alone = candidates(facets, [slaves[k]], [pair], margin)
        assert len(alone.pairs) > 0
        for one, other in zip(alone._replace(member=alone.member + k), every):
            assert np.array_equal(one, other[every.member == k])
        order = np.lexsort(alone.pairs.T[::-1])
        assert np.array_equal(order, np.arange(order.size)) and np.isin(alone.pairs[:, 0], slaves[k]).all()
    again = candidates(facets, slaves, members, margin)
    assert all(np.array_equal(*each) for each in zip(every, again))


def test_candidates_are_few():
    """Two for each segment of flat sheets whose nodes do not match, at the margin of a run."""
    upper, lower = sheet("quadrilateral", 70, 1.0, up=False), sheet("quadrilateral", 65, 1.0, up=True)
    facets = surfaces("quadrilateral", upper, lower)
    beside = found(facets, 0.25 * facets.diameter.min()).beside
    assert beside.size < 1.9 * np.sum(beside == 0.0)


def test_coarse_and_fine_facets():
    """Of one surface: those of a coarse part have no more candidates than touch them."""
    coarse, fine = (
        sheet("quadrilateral", 2, 1.0, up=True),
        sheet("quadrilateral", 40, 0.1, up=True, at=(1.0, 0, 0)),
    )
    other = sheet("quadrilateral", 40, 0.1, up=False, at=(1.0, 0.0, 0.001))
    facets = surfaces("quadrilateral", other, coarse, fine)
    facets.surface[facets.surface == 2] = 1
    every = found(facets, 0.25 * facets.diameter.min())
    assert len(every.pairs) < 25 * 1600
    assert np.isin(facets.of(1)[2:3], every.pairs[:, 1]).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_positions_that_are_none(value):
    """Facets at such nodes have no candidates; the others have theirs."""
    facets, margin = rough("quadrilateral", 0), 0.02
    x = facets.x.copy()
    x[:3, 1] = value
    broken = np.flatnonzero((facets.nodes < 3).any(axis=1))
    expected = found(facets, margin)
    kept = ~np.isin(expected.pairs, broken).any(axis=1)
    pairs = found(facets, margin, x).pairs
    assert np.array_equal(pairs, expected.pairs[kept])
    assert not len(found(facets, margin, np.full(x.shape, value)).pairs)


def test_curved_facets_have_no_bounds():
    """Their points are no convex combinations of their nodes."""
    facets = surfaces("line", *(sheet("line", 4, 1.0, up=up) for up in (False, True)), degree=2)
    facets.nodes = np.column_stack([facets.nodes[:, 0], facets.nodes[:, 0], facets.nodes[:, 1]])
    facets.shape.corners = np.array([0, 2])
    every = found(facets, 0.01)
    assert len(every.pairs) and np.all(every.above == -np.inf) and np.all(every.beside == -np.inf)


def test_nothing_to_search():
    facets = rough("triangle", 0)
    none = np.zeros(0, dtype=np.int64)
    assert not len(candidates(facets, [], [], 0.1).pairs)
    assert not len(candidates(facets, [none], [(0, 1)], 0.1).pairs)
    assert not len(corner_candidates(facets, [none, none], [0, 1], 0.1)[0])
    assert not len(found(facets, 0.02, members=((0, 0),)).pairs), "facets of a sheet do not face each other"


@KINDS
def test_corners(kind):
    """Numbered through all groups; facets within reach, with the distance along their normals now."""
    facets, margin = rough(kind, 1), 0.02
    groups = [np.unique(facets.nodes[facets.of(0)])[::5], np.unique(facets.nodes[facets.of(1)])[::3]]
    pairs, above = corner_candidates(facets, groups, [1, 0], margin)
    at = facets.x[facets.nodes]
    centre = at.mean(axis=1)
    radius = np.linalg.norm(at - centre[:, None], axis=2).max(axis=1)
    expected, number = [], 0
    for nodes, other in zip(groups, (1, 0)):
        for node in nodes:
            distance = np.linalg.norm(facets.x[node] - centre, axis=1)
            near = distance <= radius + GAP * facets.diameter + margin
            expected += [(number, f) for f in np.flatnonzero(near & (facets.surface == other))]
            number += 1
    assert np.array_equal(pairs, expected)
    corners, f = np.concatenate(groups)[pairs[:, 0]], pairs[:, 1]
    between = facets.x[corners][:, None] - at[f][:, facets.shape.corners]
    least = np.einsum("pki,pi->pk", between, normals(at[:, facets.shape.corners])[f]).min(axis=1)
    assert np.allclose(above, least, rtol=0, atol=1e-14)
