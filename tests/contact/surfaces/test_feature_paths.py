"""Paths of vertices, edges and triangles within a step: no crossing is missed, rows keep them apart."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.features import ball, cube, facets, joined, no_cover, tetrahedron

from dolfinx_impact.contact.surfaces.features import FeaturePaths

VERTEX, EDGES, INSIDE = 0, 1, 2
#: Vertex and triangle, or two edges, of two triangles with the nodes 0 to 2 and 3 to 5.
DUOS = [
    *((VERTEX, [k, 3, 4, 5]) for k in range(3)),
    *((VERTEX, [k, 0, 1, 2]) for k in range(3, 6)),
    *((EDGES, [a, b, c, d]) for a, b in ((0, 1), (0, 2), (1, 2)) for c, d in ((3, 4), (3, 5), (4, 5))),
]


def paths_of(x, nodes, *, skin=0.0, cover=no_cover, **options):
    paths = FeaturePaths(facets(x, nodes, **options), np.full(len(nodes), skin), itself=True)
    paths.begin(x, cover)
    return paths


def hits_of(x, nodes, d, **options):
    return paths_of(x, nodes, **options).hits(d)


def triangle_pairs(kind, n, speed, seed):
    """Positions and displacements of n pairs of triangles, shape (n, 6, 3)."""
    rng = np.random.default_rng(seed)
    x, d = rng.uniform(-1, 1, (n, 6, 3)), speed * rng.uniform(-1, 1, (n, 6, 3))
    if kind == "parallel edges":
        x[:, 4] = x[:, 3] + rng.uniform(0.5, 2.0, (n, 1)) * (x[:, 1] - x[:, 0])
        d[:, 1], d[:, 4] = d[:, 0], d[:, 3]
    if kind == "parallel planes":
        x[:, :3, 2], x[:, 3:, 2], d[:] = 0.0, 10.0 ** rng.uniform(-6, 0, (n, 1)), 0.0
        d[:, 3:, 2] = -rng.uniform(0.0, 2.0, (n, 1))
    if kind == "slivers":
        x[:, 2] = (
            x[:, 0] + rng.uniform(0, 1, (n, 1)) * (x[:, 1] - x[:, 0]) + 1e-7 * rng.uniform(-1, 1, (n, 3))
        )
    return x, d


def crossings(kind, x, d):
    """Whether paths of vertices and triangles, or edges, surely cross: by the roots of the cubic."""

    def vectors(y):
        first = y[:, 2] - y[:, 1], y[:, 3] - y[:, 1], y[:, 0] - y[:, 1]
        return first if kind == VERTEX else (y[:, 1] - y[:, 0], y[:, 3] - y[:, 2], y[:, 2] - y[:, 0])

    def volume(a, b, c):
        return np.einsum("ni,ni->n", np.cross(a, b), c)

    (a, b, c), (p, q, r) = vectors(x), vectors(d)
    cubic = volume(a, b, c), volume(p, b, c) + volume(a, q, c) + volume(a, b, r)
    cubic = *cubic, volume(a, q, r) + volume(p, b, r) + volume(p, q, c), volume(p, q, r)
    with np.errstate(divide="ignore", invalid="ignore"):
        companion = np.zeros((len(x), 3, 3))
        companion[:, [1, 2], [0, 1]] = 1.0
        companion[:, 0] = -np.column_stack(cubic[1:]) / cubic[0][:, None]
        companion[~np.isfinite(companion).all(axis=(1, 2))] = 0.0
        inverse = np.linalg.eigvals(companion)
        tau = np.where(np.abs(inverse.imag) < 1e-9, 1.0 / inverse.real, np.nan)
        sure = np.zeros(len(x), bool)
        for t in tau.T:
            u, v, w = vectors(x + t[:, None, None] * d)
            n = np.cross(u, v)
            s, o = volume(w, v, n) / volume(u, v, n), volume(u, w, n) / volume(u, v, n)
            o = o if kind == VERTEX else volume(w, u, n) / volume(u, v, n)
            inside = (np.minimum(s, o) > 1e-6) & ((s + o if kind == VERTEX else np.maximum(s, o)) < 1 - 1e-6)
            sure |= (t > 1e-9) & (t < 1 - 1e-9) & inside
    return sure


KINDS = ("any", "fast", "slow", "parallel edges", "parallel planes", "slivers")


def check_crossings(kind, n, seed):
    """Each sure crossing of n pairs of triangles has a hit; returns numbers of crossings and hits."""
    x, d = triangle_pairs(kind, n, {"fast": 10.0, "slow": 0.1}.get(kind, 1.0), seed)
    apart = 60.0 * np.array(list(np.ndindex((int(np.ceil(n ** (1 / 3))),) * 3)))[:n]
    at = (x + apart[:, None]).reshape(-1, 3)
    nodes = np.arange(6 * n).reshape(-1, 3)
    paths = paths_of(at, nodes)
    clear = np.setdiff1d(np.arange(n), paths.intersections(at)[:, 0] // 2)  # others have no paths to test
    paths.begin(at, no_cover)
    hits = paths.hits(d.reshape(-1, 3))
    block, local = hits.nodes.max(axis=1) // 6, np.where(hits.nodes < 0, -1, hits.nodes % 6)
    found, count = np.zeros(n, bool), 0
    for kind_of, duo in DUOS:
        of_duo = (hits.kind == kind_of) & np.isin(local, [-1, *duo]).all(axis=1)
        found[:] = False
        found[block[of_duo]] = True
        sure = crossings(kind_of, x[:, duo], d[:, duo])[clear]
        assert not np.any(sure & ~found[clear])
        count += sure.sum()
    first = np.einsum("mk,mki->mi", hits.weights, at[hits.nodes])
    path = np.einsum("mk,mki->mi", hits.weights, d.reshape(-1, 3)[hits.nodes])
    kept, moved = (np.einsum("mi,mi->m", hits.normal, each) for each in (first, path))
    left = hits.least + kept  # 2 % of the distance at the start, or 1e-4 of the longest edge
    of_paths = hits.kind != INSIDE
    early = (kept + hits.tau * moved)[of_paths] > (0.98 * left + 1e-11)[of_paths]
    assert early.sum() <= 1e-3 * n  # after 200 iterations
    assert np.all(moved < hits.least)
    return count, np.isin(block[of_paths], clear).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_no_crossing_is_missed(kind):
    count, hits = check_crossings(kind, 300, 0)
    assert count > 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_crossing_of_many_is_missed(kind):
    """1e5 pairs of features; of the hits of any paths less than 5 % cross nothing."""
    count, hits = check_crossings(kind, 7000, 1)
    assert count > 100
    if kind in ("any", "fast", "slow"):
        assert hits < 1.05 * count


def two_triangles(height):
    x = np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, height], [0.2, 0.3, height + 1], [0.3, 0.2, height + 1]]
    )
    return x, np.arange(6).reshape(2, 3)


def test_row_of_a_vertex_that_passes_a_triangle():
    """It ends 2 % of its distance above the triangle and its skin."""
    x, nodes = two_triangles(0.5)
    d = np.zeros_like(x)
    d[3:, 2] = -1.0
    for skin in (0.0, 0.05):
        hits = hits_of(x, nodes, d, skin=skin)
        assert hits.nodes.tolist() == [[3, 0, 1, 2]] and hits.kind.tolist() == [VERTEX]
        assert hits.weights[0] == pytest.approx([1.0, -0.6, -0.2, -0.2], abs=1e-12)
        assert hits.normal[0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
        assert hits.least[0] == pytest.approx(-0.98 * (0.5 - 2 * skin), rel=1e-12)
        assert 0.99 * (0.5 - 2 * skin) <= hits.tau[0] <= 0.5 - 2 * skin


def test_within_the_skin_nothing_comes_closer():
    x, nodes = two_triangles(0.03)
    d = np.zeros_like(x)
    d[3:] = [0.1, 0.1, 0.0]
    assert not len(hits_of(x, nodes, d, skin=0.05).tau)
    d[3:, 2] = -0.001
    assert hits_of(x, nodes, d, skin=0.05).least == pytest.approx([0.0], abs=1e-15)
    d[3:, 2] = 0.01
    assert not len(hits_of(x, nodes, d, skin=0.05).tau)


def test_a_hit_is_none_once_its_row_holds():
    x, nodes, _ = joined(ball(), ball(0.8, (0.3, 0.2, 2.0)))
    rng = np.random.default_rng(2)
    d = 0.02 * rng.uniform(-1, 1, x.shape)
    d[42:, 2] -= 0.5
    hits = hits_of(x, nodes, d)
    assert len(hits.tau) > 10
    for k in range(len(hits.tau)):
        of, w, n = hits.nodes[k][hits.nodes[k] >= 0], hits.weights[k][hits.nodes[k] >= 0], hits.normal[k]
        held = d.copy()
        held[of] += (hits.least[k] - n @ (w @ d[of])) / (w @ w) * w[:, None] * n
        after = hits_of(x, nodes, held)
        same = (after.nodes == hits.nodes[k]).all(axis=1) & (after.normal @ n > 1.0 - 1e-9)
        same &= np.abs(after.weights - hits.weights[k]).max(axis=1, initial=0.0) < 1e-9
        assert not same.any()


def test_sliding_at_a_small_distance_is_no_hit():
    """Edges and vertices that move along a plane keep their distance, however small."""
    x, nodes, part = joined(cube(2, triangles=True), cube(3, (0.3, 0.2, 1.0 + 1e-7), triangles=True))
    d = np.where(part[:, None] == 1, [0.3, 0.2, 0.0], 0.0)
    assert not len(hits_of(x, nodes, d).tau)
    d[part == 1, 2] = -1e-5
    assert len(hits_of(x, nodes, d).tau)


TURNS = (
    Rotation.from_euler("x", 45, degrees=True).as_matrix(),
    Rotation.from_euler("y", 45, degrees=True).as_matrix(),
)


def touching(case, n, triangles):
    """Two bodies that touch: nodes, facets, body of each node."""
    first, facets_of = cube(n, triangles=triangles)
    if case.startswith("side"):
        return joined(
            (first, facets_of),
            cube(2, (1.0, *({"side": (0, 0), "side beside": (0.1, 0.1)}[case])), triangles=triangles),
        )
    if case.startswith("tip"):
        at = {"tip": (0.3, 0.4, 1.0), "tip on a line": (0.4, 0.5, 1.0), "tip on a node": (0.5, 0.5, 1.0)}[
            case
        ]
        return joined(
            (first, facets_of), tetrahedron(1.0, 0.3, at, Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix())
        )
    other, height = cube(2, triangles=triangles), np.array([0.07, 0.03, np.sqrt(2.0)])
    turn = TURNS[0] if case == "ridges" else TURNS[1]
    return joined(
        ((first - 0.5) @ TURNS[0].T, facets_of),
        ((other[0] - 0.5) @ turn.T + height * [1, case != "ridges", 1], other[1]),
    )


@pytest.mark.parametrize("triangles", [True, False])
@pytest.mark.parametrize(
    "case", ["side", "side beside", "tip", "tip on a line", "tip on a node", "crossed", "ridges"]
)
def test_touching(case, triangles):
    """What touches slides and leaves freely and does not enter, and is not inside."""
    if case.startswith("tip") and not triangles:
        pytest.skip("a tetrahedron has no quadrilaterals")
    side = case.startswith("side")
    enter, away = ((-0.01, 0.003, 0), (0.01, 0, -0.003)) if side else ((0.001, 0, -0.01), (0.003, 0, 0.01))
    slides = [(0, 0, -0.01), (0, 0.02, 0.01)] if side else [(0.01, 0, 0)]
    for n in (1, 2, 3):
        x, nodes, part = touching(case, n, triangles)
        paths = paths_of(x, nodes)
        assert paths.inside == 0 and not len(paths.intersections(x))
        paths.begin(x, no_cover)
        for free in (away, *slides):
            assert not len(paths.hits(np.where(part[:, None] == 1, free, 0.0)).tau)
        hits = paths.hits(np.where(part[:, None] == 1, enter, 0.0))
        first = np.abs(hits.normal[hits.tau == 0.0])
        assert len(first) and (case == "ridges" or np.allclose(first, [1, 0, 0] if side else [0, 0, 1]))


def test_no_needle_passes_a_sheet_at_any_speed():
    """Up to a thousand thicknesses in one step, on a node, a line and a facet."""
    sheet, needle = cube(4, triangles=True), tetrahedron(3.0, 0.2, (0, 0, 0), np.eye(3))
    flat = sheet[0] * [1, 1, 1e-3]
    for at in ((0.5, 0.5), (0.4, 0.5), (0.4, 0.3), (0.33, 0.41)):
        x, nodes, part = joined((flat, sheet[1]), (needle[0] + [*at, 0.0015], needle[1]))
        for speed in (1e-3, 1e-2, 0.1, 1.0, 10.0):
            d = np.where(part[:, None] == 1, [0.0, 0.0, -speed], 0.0)
            hits = hits_of(x, nodes, d)
            assert len(hits.tau) and hits.tau[0] <= 0.0005 / speed
            assert np.abs(hits.normal[0, 2]) == pytest.approx(1.0)


def test_what_is_inside_comes_out_and_does_not_go_deeper():
    x, nodes = two_triangles(-0.1)
    paths = paths_of(x, nodes)
    assert paths.inside == 2
    d = np.zeros_like(x)
    for way in ([0, 0, 1.0], [2.0, 2.0, 0.1]):
        d[3:] = way
        assert not len(paths.hits(d).tau)
    d[3:] = [0, 0, -0.01]
    hits = paths.hits(d)
    assert hits.kind.tolist() == [INSIDE] and hits.nodes.tolist() == [[3, 0, 1, 2]]
    assert hits.normal[0] == pytest.approx([0, 0, 1]) and hits.least[0] == 0.0


def test_intersections_are_those_of_ipctk():
    ipctk = pytest.importorskip("ipctk")
    rng, counts, steps = np.random.default_rng(0), np.zeros(2, int), np.zeros(2, int)
    for _ in range(40):
        at = rng.uniform(-1.5, 1.5, 3)
        x, nodes, part = joined(ball(), ball(0.5, at))
        edges = np.unique(np.sort(nodes[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        mesh, paths = ipctk.CollisionMesh(x, edges, nodes), paths_of(x, nodes)
        inside = paths.inside > 0
        assert inside == ipctk.has_intersections(mesh, x) == (len(paths.intersections(x)) > 0)
        counts[int(inside)] += 1
        d = np.where(part[:, None] == 1, rng.uniform(-0.5, 0.0) * at, 0.05 * rng.uniform(-1, 1, x.shape))
        if inside:
            continue
        paths.begin(x, no_cover)
        meets = len(paths.hits(d).tau) > 0
        # Its test keeps a part of the distance: where it finds a step free, nothing is near to meeting.
        assert not (meets and ipctk.is_step_collision_free(mesh, x, x + d))
        met = any(ipctk.has_intersections(mesh, x + tau * d) for tau in np.linspace(0.0, 1.0, 21))
        assert meets or not met
        steps[int(met)] += 1
    assert steps.min() > 3
    assert counts.min() > 5
