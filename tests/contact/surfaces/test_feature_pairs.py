"""Pairs of features: each is tested once, whoever shares the work, and sleeping changes nothing."""

import functools

import numpy as np
import pytest
from support.features import ball, cube, facets, grid, joined, no_cover

from dolfinx_impact.contact.surfaces.features import FeaturePaths


def features_of(x, nodes, degree):
    """Vertices, edges and triangles with the facets at each, by brute force."""
    grids = nodes.reshape(len(nodes), *[degree + 1] * (x.shape[1] - 1)) if nodes.shape[1] != 3 else None
    triangles, edges, vertices = [], {}, {}
    for e, facet in enumerate(nodes):
        if x.shape[1] == 2:
            own = [facet[k : k + 2].tolist() for k in range(degree)]
        elif grids is None:
            own = [facet.tolist()]
        else:
            corners = [(i, j) for i in range(degree) for j in range(degree)]
            quads = [
                [grids[e, i, j], grids[e, i + 1, j], grids[e, i + 1, j + 1], grids[e, i, j + 1]]
                for i, j in corners
            ]
            own = [[*map(int, q[:3])] for q in quads] + [[int(q[0]), int(q[2]), int(q[3])] for q in quads]
        triangles += [(t, e) for t in own]
        for node in facet.tolist():
            vertices.setdefault(node, set()).add(e)
        for a, b in [pair for t in own if len(t) == 3 for pair in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))]:
            edges.setdefault((min(a, b), max(a, b)), set()).add(e)
    return vertices, edges, triangles


MESHES = {
    "triangles": (cube(2, triangles=True), 1),
    "quadrilaterals": (cube(2), 1),
    "degree 2": (grid(3, 2, 2), 2),
    "degree 3": (grid(2, 3, 2), 3),
    "segments": (grid(5, 1, 1), 1),
    "segments of degree 3": (grid(4, 3, 1), 3),
}


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("ranks", [1, 3])
def test_each_pair_of_features_is_tested_once(name, ranks):
    """As many as there are without a common node or facet, where all move through the middle."""
    (x, nodes), degree = MESHES[name]
    vertices, edges, triangles = features_of(x, nodes, degree)
    count = sum(e not in of for of in vertices.values() for _, e in triangles)
    several = list(edges.items())
    for k, (a, of_a) in enumerate(several):
        count += sum(not (set(a) & set(b) or of_a & of_b) for b, of_b in several[k + 1 :])
    paths = FeaturePaths(facets(x, nodes, degree=degree), np.zeros(len(nodes)), itself=True)
    paths.begin(x, no_cover)
    tested = 0
    for rank in range(ranks):
        paths.hits(100.0 * (x.mean(axis=0) - x), (rank, ranks))
        tested += paths.tested
    assert tested == count


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second))


def fast_balls(seed, size=3):
    rng = np.random.default_rng(seed)
    x, nodes, part = joined(*(ball(1.0, 2.5 * np.array(place)) for place in np.ndindex(size, 1, 2)))
    speed = rng.uniform(-1.0, 1.0, (part.max() + 1, 3))
    return x, nodes, speed[part] + 0.05 * rng.uniform(-1.0, 1.0, x.shape)


@pytest.mark.parametrize("step", [0.05, 0.3])
def test_sleeping_changes_nothing(step):
    """Hits of one object in all steps are those of a new one, and of one in which all pairs are awake."""
    x, nodes, v = fast_balls(0)
    mesh, skin, found = facets(x, nodes), np.full(len(nodes), 1e-3), 0
    paths = FeaturePaths(mesh, skin, itself=True)
    for _ in range(int(1.5 / step)):
        new, wakeful = (FeaturePaths(mesh, skin, itself=True) for _ in range(2))
        for each in (paths, new, wakeful):
            each.begin(x, no_cover)
        wakeful._table["above"][:], wakeful._table["exact"][:] = -np.inf, True
        hits = paths.hits(step * v)
        assert same(hits, new.hits(step * v)) and same(hits, wakeful.hits(step * v))
        assert paths.inside == new.inside
        found += len(hits.tau)
        x = x + step * v
    assert found > 100


def test_shares_of_ranks_are_all_hits():
    x, nodes, v = fast_balls(1)
    paths = FeaturePaths(facets(x, nodes), np.zeros(len(nodes)), itself=True)
    paths.begin(x, no_cover)
    every = paths.hits(1.5 * v)
    for ranks in (2, 3):
        parts = [paths.hits(1.5 * v, (rank, ranks)) for rank in range(ranks)]
        joined_parts = [np.concatenate(each) for each in zip(*parts)]
        order = np.lexsort((*joined_parts[2].T[::-1], joined_parts[1], joined_parts[0]))
        assert len(every.tau) > 10 and min(len(part.tau) for part in parts) > 0
        assert np.array_equal(joined_parts[0][order], every.tau)
        assert np.array_equal(joined_parts[2][order], every.nodes)


def test_order_of_facets_changes_nothing():
    (x, nodes), turned = cube(2), np.random.default_rng(0).permutation(24)
    other = cube(3, (0.2, 0.1, 1.3))
    x, nodes, part = joined((x, nodes[turned]), other)
    straight, _, _ = joined(cube(2), other)
    d = np.where(part[:, None] == 1, [0.1, 0.2, -1.0], 0.01 * x)
    found = []
    for of in (nodes, joined(cube(2), other)[1]):
        paths = FeaturePaths(facets(straight, of), np.zeros(len(of)), itself=True)
        paths.begin(straight, no_cover)
        found.append(paths.hits(d))
    assert len(found[0].tau) > 10 and same(*found)


def test_only_pairs_with_a_moved_node():
    x, nodes, v = fast_balls(1)
    paths = FeaturePaths(facets(x, nodes), np.zeros(len(nodes)), itself=True)
    paths.begin(x, no_cover)
    every, moved = paths.hits(1.5 * v), np.zeros(len(x), bool)
    assert not len(paths.hits(1.5 * v, moved=moved).tau) and paths.tested == 0
    moved[every.nodes[0, 0]] = True
    some = paths.hits(1.5 * v, moved=moved)
    assert 0 < len(some.tau) < len(every.tau)
    rows = {tuple(row) for row in every.nodes.tolist()}
    assert all(tuple(row) in rows for row in some.nodes.tolist())


def test_surfaces_meet_others_alone():
    x, nodes, part = joined(ball(), ball(0.5, (0, 0, 1.7)), ball(0.5, (0, 0, 3.0)))
    d = np.where(part[:, None] == 1, [0, 0, -1.0], 0.0)
    for surface, itself, meets in (
        ([0, 1, 1], False, True),
        ([0, 0, 1], False, False),
        ([0, 0, 1], True, True),
    ):
        chosen = np.array(surface)[part[nodes[:, 0]]]
        paths = FeaturePaths(facets(x, nodes, surface=chosen), np.zeros(len(nodes)), itself=itself)
        paths.begin(x, no_cover)
        assert (len(paths.hits(d).tau) > 0) == meets
    chosen = np.where(part[nodes[:, 0]] == 1, -1, 0)
    paths = FeaturePaths(facets(x, nodes, surface=chosen), np.zeros(len(nodes)), itself=True)
    paths.begin(x, no_cover)
    assert not len(paths.hits(d).tau)


def are_among(segments, pairs):
    return np.array([tuple(pair) in segments for pair in pairs.tolist()], bool)


def two_cubes(apart=0.1):
    """Two cubes of triangles, one on the other: their facets, and those that face each other."""
    x, nodes, part = joined(cube(2, triangles=True), cube(2, (0.1, 0.2, 1 + apart), triangles=True))
    of, flat = part[nodes[:, 0]], np.ptp(x[nodes][:, :, 2], axis=1) == 0.0
    lower, upper = (
        np.flatnonzero((of == k) & flat & (x[nodes][:, 0, 2] > 0.7) & (x[nodes][:, 0, 2] < 1.2))
        for k in (0, 1)
    )
    return x, nodes, part, lower, upper


def share_vertices(nodes, first, second, pairs):
    """Whether a vertex of each of two features belongs to facets of a pair."""
    one, other = (np.flatnonzero(np.isin(nodes, ends).any(axis=1)) for ends in (first, second))
    return any((min(a, b), max(a, b)) in pairs for a in one for b in other)


@pytest.mark.parametrize("deep", [False, True])
def test_covered_features_are_out(deep):
    """By a segment of any facets around their vertices, unless one there is deep: by the definition."""
    x, nodes, part, lower, upper = two_cubes()
    d, mesh = np.where(part[:, None] == 1, [0, 0, -0.3], 0.0), facets(x, nodes)
    every = FeaturePaths(mesh, np.zeros(len(nodes)), itself=True)
    every.begin(x, no_cover)
    hits, counts = every.hits(d), set()
    of_hit = [
        np.isin(nodes[each], hits.nodes[hits.nodes.min(axis=1) >= 0][-1]).any(axis=1)
        for each in (lower, upper)
    ]
    bare = np.array([[lower[of_hit[0]][0], upper[of_hit[1]][0]]] * deep, np.int64).reshape(-1, 2)
    for facing in (np.array([[a, b] for a in lower for b in upper]), np.array([[lower[0], upper[3]]])):
        segments = {tuple(pair) for pair in facing.tolist()} - set(map(tuple, bare.tolist()))
        paths = FeaturePaths(mesh, np.zeros(len(nodes)), itself=True)
        paths.begin(x, functools.partial(are_among, segments), bare)
        left = {tuple(row) for row in paths.hits(d).nodes.tolist()}
        for kind, row in zip(hits.kind, hits.nodes):
            if np.any(row < 0):
                continue
            first, second = (row[:1], row[1:]) if kind == 0 else (row[:2], row[2:])
            covered = share_vertices(nodes, first, second, segments)
            uncovered = share_vertices(nodes, first, second, set(map(tuple, bare.tolist())))
            assert (tuple(row) not in left) == (covered and not uncovered)
            counts.add((covered, uncovered))
    assert len(counts) == (4 if deep else 2)


@pytest.mark.parametrize("skin", [0.0, 0.02])
def test_covered_features_keep_a_tenth_of_their_skins(skin):
    """Without a skin they are not tested at all; the segments here are around the features that meet."""
    x, nodes, part, lower, upper = two_cubes()
    segments = {(lower[0], upper[3])}
    paths = FeaturePaths(facets(x, nodes), np.full(len(nodes), skin), itself=True)
    free = FeaturePaths(facets(x, nodes), np.full(len(nodes), 0.1 * skin), itself=True)
    counts = []
    for left in (0.03, 0.005, 0.003, -0.1):
        d = np.where(part[:, None] == 1, [0.0, 0.0, left - 0.1], 0.0)
        paths.begin(x, functools.partial(are_among, segments))
        free.begin(x, no_cover)
        covered, every = ([tuple(row) for row in each.hits(d).nodes] for each in (paths, free))
        near = [
            row
            for row in every
            if min(row) >= 0 and any(share_vertices(nodes, row[:k], row[k:], segments) for k in (1, 2))
        ]
        counts.append(len(set(near) & set(covered)))
        assert skin == 0.0 or set(near) <= set(covered)
    assert counts[:2] == [0, 0] and (counts[2] > 0) == (skin > 0.0) and (counts[3] > 0) == (skin > 0.0)


def test_what_has_a_skin_is_looked_at_though_it_is_covered():
    x, nodes, _, lower, upper = two_cubes(-0.05)
    segments = {(a, b) for a in lower for b in upper}
    paths = FeaturePaths(facets(x, nodes), np.full(len(nodes), 0.01), itself=True)
    for apart in (False, True):
        paths.begin(x, functools.partial(are_among, segments), apart=apart)
        assert (paths.inside > 0) == apart


def test_positions_that_are_no_numbers():
    x, nodes, part = joined(ball(), ball(0.5, (0, 0, 1.7)))
    d = np.where(part[:, None] == 1, [0, 0, -1.0], 0.0)
    lost = int(np.argmin(x[:, 2]))
    for bad in (np.nan, np.inf):
        for where in ("x", "d"):
            paths = FeaturePaths(facets(x, nodes), np.zeros(len(nodes)), itself=True)
            paths.begin(x, no_cover)
            count = len(paths.hits(d).tau)
            y, path = x.copy(), d.copy()
            (y if where == "x" else path)[lost] = bad
            paths.begin(y, no_cover)
            assert len(paths.hits(path).tau) == count > 0
    paths.begin(np.full_like(x, np.nan), no_cover)
    assert not len(paths.hits(d).tau) and paths.inside == 0


def test_features_without_extent():
    """Edges of no length and triangles of no area miss nothing that passes them."""
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0], [0.5, -1, 1], [0.5, 1, 1], [0.5, 0, 2.0]])
    d = np.zeros_like(x)
    d[3:, 2] = -2.0
    for second in ([3, 4, 5], [3, 4, 4]):
        nodes = np.array([[0, 1, 2], second])
        paths = FeaturePaths(facets(x, nodes), np.zeros(2), itself=True)
        paths.begin(x, no_cover)
        hits = paths.hits(d)
        assert len(hits.tau) and np.allclose(np.abs(hits.normal[0]), [0, 0, 1])


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_two_dimensions(degree):
    """Vertices and segments: paths across a line, along it, from beside, and what is inside."""
    x, nodes = grid(3, degree, 1)
    nodes = nodes[:, ::-1]  # upward
    y = np.array([[1.2, 0.1], [1.3, 0.45], [1.1, 0.45]])
    tip = np.array([[0, 1], [1, 2], [2, 0]])[:, ::-1]
    k = len(x)
    both = np.vstack([x, y])
    tips = np.stack([np.linspace(y[a], y[b], degree + 1)[1:-1] for a, b in tip]).reshape(-1, 2)
    both = np.vstack([both, tips])
    inner = k + 3 + np.arange(len(tips)).reshape(3, -1)
    facing = np.column_stack([k + tip[:, 0], inner, k + tip[:, 1]]).astype(int)
    every = np.vstack([nodes, facing])
    paths = FeaturePaths(facets(both, every, degree=degree), np.zeros(len(every)), itself=True)
    d = np.zeros_like(both)
    for way, passes in (((0, -0.2), True), ((0.3, 0.0), False), ((0, -0.05), False), ((0.3, -50.0), True)):
        d[k:] = way
        paths.begin(both, no_cover)
        hits = paths.hits(d)
        assert (len(hits.tau) > 0) == passes and paths.inside == 0
        if passes:
            assert hits.nodes[0, 0] == k and np.allclose(hits.normal[0], [0, 1]) and np.all(hits.kind == 0)
            assert hits.least[0] == pytest.approx(-0.098)
    d[k:] = [0, -0.2]
    paths.begin(both + d, no_cover)
    assert paths.inside == 2 and not len(paths.hits(-d).tau)
    hits = paths.hits(0.1 * d)
    assert np.all(hits.kind == 2) and np.all(hits.nodes[:, 0] == k) and np.allclose(hits.normal, [0, 1])
