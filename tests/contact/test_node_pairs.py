"""Contact between deformable bodies: pairing, the operator L over the ranks, what is exchanged."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.pairs import GAP, LAW, bars, made, named

import dolfinx_impact as di
from dolfinx_impact import SCHEMES, NodePairs, complementarity, mesh, parallel
from dolfinx_impact.algebra.operators import SharedSparseRows
from dolfinx_impact.integrators.impulses.delassus_iterated import IteratedDelassus

WORLD = MPI.COMM_WORLD
RANKS = [(a, b) for a in range(WORLD.size) for b in range(WORLD.size)]


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def blocks(count=2, n=3, angle=0.0, fixed=(), right=None, shift=0.0):
    """Blocks 1 by 1 of quadrilaterals on both sides of a gap across x, then turned."""
    points, cells = [], []
    for side, m in zip((-1, 1)[:count], (n, right or n)):
        at = sum(map(len, points))
        grid = np.array([(i / 2, j / m) for i in range(3) for j in range(m + 1)])
        points.append(grid * [side, 1] + [side * GAP / 2, shift * (side > 0)])
        corners = at + np.array([0, 1, m + 1, m + 2])
        cells += [corners + i * (m + 1) + j for i in range(2) for j in range(m)]
    back, domain = turned(angle).T, made("quadrilateral", np.vstack(points) @ turned(angle).T, cells)
    return di.Solid(
        named(
            domain,
            left=lambda x: np.isclose((back @ x[:2])[0], -GAP / 2),
            right=lambda x: np.isclose((back @ x[:2])[0], GAP / 2),
            foot=lambda x: np.isclose((back @ x[:2])[1], 0.0),
        ),
        density=1.0,
        law=LAW,
        fixed=fixed,
    )


# -- rows over several ranks


@pytest.fixture
def shared():
    """Every entry on its own rank: dense L, and the operator that knows only parts of it."""
    rng, size, rank = np.random.default_rng(7), WORLD.size, WORLD.rank
    owned, mine = 3, 2
    shape = mine * size, owned * size
    L = np.where(rng.random(shape) < 0.6, rng.normal(size=shape), 0.0)
    part = L[:, owned * rank : owned * (rank + 1)]
    point, dofs = np.nonzero(part)
    order = np.arange(mine * rank, mine * (rank + 1))[:, None]
    return L, SharedSparseRows(WORLD, point, dofs, part[point, dofs], order), owned


@pytest.mark.mpi
def test_shared_rows_are_a_matrix_and_its_transpose(shared):
    L, rows, owned = shared
    rng = np.random.default_rng(8)
    x, r, d = (rng.normal(size=n) for n in (L.shape[1], L.shape[0], L.shape[1]))
    r[::3] = 0.0
    own = slice(owned * WORLD.rank, owned * (WORLD.rank + 1))
    assert rows.collective and rows.count == 2
    assert rows(x[own]) == pytest.approx((L @ x)[rows.mine], abs=1e-13)
    pushed, kicked = x[own].copy(), x[own].copy()
    rows.add_transpose(r[rows.mine], pushed)
    rows.add_scaled_transpose(r[rows.mine], d[own], kicked)
    assert pushed == pytest.approx((x + L.T @ r)[own], abs=1e-13)
    assert kicked == pytest.approx((x + d * (L.T @ r))[own], abs=1e-13)
    H = (L * d) @ L.T
    assert rows.diagonal(d[own]) == pytest.approx(np.diag(H)[rows.mine], abs=1e-13)


@pytest.mark.mpi
def test_petsc_matrix_of_shared_rows(shared):
    L, rows, owned = shared
    matrix = rows.petsc_matrix(WORLD, owned, owned * WORLD.rank + np.arange(owned))
    assert matrix.size == L.shape and matrix.getLocalSize() == (2, owned)
    assert matrix[slice(*matrix.getOwnershipRange()), :] == pytest.approx(L[rows.mine], abs=0)
    matrix.destroy()


class Coupled(di.Contact):
    """The first dof of the first rank against two dofs of the last."""

    def __init__(self, body):
        first, last = WORLD.rank == 0, WORLD.rank == WORLD.size - 1
        entries = [(p, 0, 1.0) for p in (0, 1) if first] + [(p, p + 1, -1.0) for p in (0, 1) if last]
        point, dofs, weights = np.array(entries or np.zeros((0, 3))).T
        keys = np.arange(2.0 if first else 0.0)[:, None]
        super().__init__(body, SharedSparseRows(WORLD, point.astype(int), dofs.astype(int), weights, keys))

    def gap(self, u, t=0.0):
        return self.L(u)


@pytest.mark.mpi
def test_points_that_share_a_dof_across_ranks_are_solved_together():
    body = bars((0, WORLD.size - 1))
    contact, inverse = Coupled(body), np.linspace(1.0, 2.0, body.owned)
    system = SimpleNamespace(inverse_mass=inverse, size=body.size)
    response = IteratedDelassus(SimpleNamespace(contact=contact, system=system))
    b, v = np.array([-1.0, -0.5])[: contact.count], np.zeros(body.size)
    impulses = response.solve(contact.at(v), b, v, 0.0, closed=np.ones(contact.count, dtype=bool))
    response.apply(impulses, v)
    r = impulses.r
    after = contact.L(v)[: contact.count] + b
    m = [WORLD.bcast(inverse[:3], root) for root in (0, WORLD.size - 1)]
    H = m[0][0] * np.ones((2, 2)) + np.diag(m[1][1:])
    expected = complementarity.solve(H, np.array([-1.0, -0.5]))[: contact.count]
    assert r == pytest.approx(expected, abs=1e-14)
    assert np.all(after > -1e-14) and np.all(np.abs(after * r) < 1e-14)


# -- pairs


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("angle", [0.0, 0.7, np.pi / 2])
def test_nodes_are_paired_across_the_normal(angle):
    body, n = blocks(angle=angle), turned(angle)[:, 0]
    pairs = NodePairs(body, "left", "right", 3 * n)
    assert pairs.total == 4 and pairs.normal == pytest.approx(n, abs=1e-15)
    assert pairs.gap(np.zeros(body.size)) == pytest.approx(np.full(pairs.count, GAP), abs=1e-14)
    if angle == 0.0:  # directions without a part in the normal are left out
        entries = parallel.total(WORLD, pairs.L.dofs.size)
        assert entries == 2 * 4
    # u = A x stretches every gap by n.A n GAP: only right for pairs that face each other.
    A, x = np.array([[0.3, -0.8], [0.5, 0.2]]), body.x[:, :2]
    stretched = pairs.gap((x @ A.T).ravel())
    assert stretched == pytest.approx(np.full(pairs.count, GAP * (1 + n @ A @ n)), abs=1e-13)
    moved = pairs.gap(np.tile([0.7, -0.4], body.size // 2))
    assert moved == pytest.approx(np.full(pairs.count, GAP), abs=1e-13)


@pytest.mark.mpi
def test_points_are_in_the_order_of_the_first_nodes():
    body = blocks()
    gaps = GAP * np.array([1.0, 2.0, 3.0, 4.0])
    pairs = NodePairs(body, "left", "right", [1.0, 0.0], gap0=gaps)
    found = parallel.gather_rows(WORLD, pairs.gap(np.zeros(body.size)))
    assert found[pairs.L.sorting(WORLD)] == pytest.approx(gaps, abs=0)
    rows, x = pairs.approach(), body.x[:, 1].repeat(2)
    heights = parallel.gather_rows(WORLD, rows(x))[rows.sorting(WORLD)]
    # First nodes towards +x, then the second ones in the same order towards -x.
    assert heights == pytest.approx(np.outer([1, -1], [0, 1 / 3, 2 / 3, 1]).ravel(), abs=1e-14)


@pytest.mark.mpi
@pytest.mark.parametrize("gap0", [0.5, [0.5]])
def test_gap_at_the_start_may_be_given(gap0):
    body = bars((0, WORLD.size - 1))
    pairs = NodePairs(body, "left", "right", [1.0], gap0=gap0)
    u = np.where(body.x[:, 0] < 0, 0.2, -0.4)
    assert pairs.gap(u) == pytest.approx(np.full(pairs.count, 0.5 - 0.6), abs=1e-15)
    assert pairs.L(u) == pytest.approx(np.full(pairs.count, -0.6), abs=1e-15)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", RANKS, ids=str)
def test_impulses_push_apart(ranks):
    body = bars(ranks)
    pairs = NodePairs(body, "left", "right", [1.0])
    assert pairs.total == 1 and pairs.count == (WORLD.rank == ranks[0])
    assert pairs.L.collective is (ranks[0] != ranks[1])
    pushed = np.zeros(body.size)
    pairs.L.add_transpose(np.full(pairs.count, 2.0), pushed)
    expected = np.where(np.isclose(body.x[:, 0], -GAP / 2), -2.0, 0.0)
    expected[np.isclose(body.x[:, 0], GAP / 2)] = 2.0
    assert pushed[: body.owned] == pytest.approx(expected[: body.owned], abs=0)
    matrix = pairs.matrix()
    image = matrix.createVecLeft()
    force = matrix.createVecRight()
    force.array[:] = np.cos(body.x[: body.owned, 0])
    matrix.mult(force, image)
    assert image.array == pytest.approx(pairs.L(np.cos(body.x[:, 0])), abs=1e-15)
    for thing in (matrix, image, force):
        thing.destroy()


# -- impacts


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("ranks", RANKS, ids=str)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_tips_of_different_mass_rebound_by_newtons_law(ranks, e):
    """One step: ``r = (1 + e) m1 m2 / (m1 + m2)`` times the closing velocity; momentum is kept."""
    body = bars(ranks, left=8, right=4)
    pairs = NodePairs(body, "left", "right", [1.0], gap0=0.0, restitution=e)
    scheme = di.CDLagrange(body, 1e-9, pairs)
    scheme.start(1e-9, 0.0)
    scheme.v[:] = np.where(body.x[:, 0] < 0, 3.0, -1.0)
    scheme.step()
    m1, m2 = 1 / 16, 1 / 8
    assert scheme.r == pytest.approx(np.full(pairs.count, (1 + e) * m1 * m2 / (m1 + m2) * 4.0), rel=1e-12)
    assert pairs.L(scheme.v) == pytest.approx(np.full(pairs.count, 4.0 * e), abs=1e-5)
    momentum = parallel.total(WORLD, float(body.mass @ scheme.v[: body.owned]))
    assert momentum == pytest.approx(3.0 - 1.0, abs=1e-12)


def history(body, scheme, steps):
    pairs = NodePairs(body, "left", "right", [1.0])
    h = 0.4 / 11 / np.sqrt(1000.0)
    options = {name: option.default for name, option in SCHEMES[scheme].options.items()}
    integrator = SCHEMES[scheme].bind(body, h, pairs, options)
    integrator.start(0.0, np.where(body.x[:, 0] < 0, 2.0, -1.0))
    return di.simulate(integrator, t_end=steps * h, record=body.rows(), progress=False)


@functools.cache
def alone(scheme):
    """Every rank for itself."""
    return history(bars(comm=MPI.COMM_SELF), scheme, 150)


OF_PAIRS = [
    "cd-lagrange",
    "moreau-jean",
    "moreau-jean-decoupled",
    "paoli-schatzman",
    "combined",
    "dep-4.3",
    "dep-5.3",
]


@pytest.mark.mpi
@pytest.mark.parametrize(
    "scheme, ranks",
    [
        *((scheme, None) for scheme in OF_PAIRS),
        *((scheme, (0, WORLD.size - 1)) for scheme in OF_PAIRS[:2] if WORLD.size > 1),
        *((scheme, (WORLD.size - 1, 0)) for scheme in OF_PAIRS[:2] if WORLD.size > 1),
    ],
    ids=str,
)
def test_any_distribution_gives_the_same_history(scheme, ranks):
    """Tips on one rank or on two, in any order: as on one process, over 150 steps."""
    one, here = alone(scheme), history(bars(ranks), scheme, 150)
    assert np.count_nonzero(one["r"]) > 20 and one["gap"][-1, 0] > GAP
    for name in ("u", "v_t", "v", "gap", "r"):
        scale = np.abs(one[name]).max()
        assert here[name].shape == one[name].shape
        assert np.abs(here[name] - one[name]).max() <= 1e-12 * scale, name
    for name in ("kinetic", "internal", "internal_work", "contact", "residual"):
        assert np.abs(here[name] - one[name]).max() <= 1e-12 * one["kinetic"].max(), name
    if here.balance:
        assert np.abs(here["residual"]).max() <= 1e-12 * one["kinetic"].max()
    if scheme == "dep-4.3":
        return  # it stills the tips' relative motion, momentum or not
    # What the left bar lost the right one gained, whatever the bars' own waves.
    parts = np.split(here["v_t"][-1], [9])
    momenta = [np.trapezoid(v, dx=1 / n) for n, v in zip((8, 11), parts)]
    assert momenta == pytest.approx([2.0 - here["r"].sum(), -1.0 + here["r"].sum()], abs=1e-12)


@pytest.mark.mpi
def test_packaged_mesh_of_two_bars_on_all_ranks_as_on_one():
    runs = []
    for comm in (MPI.COMM_SELF, WORLD):
        read = mesh.read(
            mesh.package_mesh("two_bars.geo"),
            gdim=1,
            comm=comm,
            parameters={"length": 1.0, "gap": GAP, "elements": 11},
        )
        tags = {"left": read.names["left tip"], "right": read.names["right tip"]}
        renamed = di.NamedMesh(read.mesh, read.cell_tags, read.facet_tags, tags)
        runs.append(history(di.Solid(renamed, density=1.0, law=LAW), "cd-lagrange", 150))
    for name in ("u", "v_t", "gap", "r"):
        assert np.abs(runs[1][name] - runs[0][name]).max() <= 1e-12 * np.abs(runs[0][name]).max()


@pytest.mark.mpi
@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_twin_blocks_touch_like_one_at_a_wall(angle):
    """By symmetry each of two equal blocks sees a rigid wall in the middle of the gap."""
    n, found = turned(angle)[:, 0], []
    for count in (1, 2):
        body = blocks(count, angle=angle)
        contact = (
            di.RigidContact(body, "left", di.Plane([0.0, 0.0], -n))
            if count == 1
            else NodePairs(body, "left", "right", n)
        )
        h = 0.3 * body.critical_time_step()
        scheme, along = di.CDLagrange(body, h, contact), body.x[:, :2] @ n
        scheme.start(0.0, (np.sign(-along)[:, None] * n).ravel())
        found.append(di.simulate(scheme, t_end=0.12, record=contact.approach(), progress=False))
    wall, pairs = found
    assert np.count_nonzero(wall["r"]) > 50
    for part in (slice(0, 4), slice(4, 8)):
        assert np.abs(pairs["u"][:, part] - wall["u"]).max() < 1e-12
    assert np.abs(pairs["r"] - wall["r"]).max() < 1e-12 * np.abs(wall["r"]).max()
    assert np.abs(pairs["gap"] - 2 * wall["gap"]).max() < 1e-12
    assert np.abs(pairs["kinetic"] - 2 * wall["kinetic"]).max() < 1e-12
    assert np.abs(pairs["residual"]).max() < 1e-13


def of_two_densities(parts, right, normal=(1.0, 0.0)):
    """A solid of density 1 on the first side of the plane through the origin, and another on the second."""
    domain = parts.mesh
    index_map = domain.topology.index_map(2)
    every = np.arange(index_map.size_local + index_map.num_ghosts, dtype=np.int32)
    beyond = dmesh.compute_midpoints(domain, 2, every)[:, :2] @ normal > 0
    tags = dmesh.meshtags(domain, 2, every, np.where(beyond, 2, 1).astype(np.int32))
    names = {**parts.names, "l": (2, 1), "r": (2, 2)}
    tagged = di.NamedMesh(domain, tags, parts.facet_tags, names)
    return di.Solid(tagged, density={"l": 1.0, "r": right}, law={"l": LAW, "r": LAW})


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "angle, scheme", [(0.4, "cd-lagrange"), (0.4, "moreau-jean"), (0.0, "cd-lagrange"), (0.4, "noh-bathe")]
)
def test_a_block_rubs_on_a_heavy_one_as_on_a_wall(angle, scheme):
    (n, along), found = turned(angle).T, []
    for count in (1, 2):
        body = blocks(count, angle=angle)
        if count == 1:
            contact = di.RigidContact(body, "left", di.Plane(n * GAP / 2, -n), friction=0.3)
            h = 0.3 * body.critical_time_step()
        else:
            body = of_two_densities(body.named, 1e14, n)
            contact = NodePairs(body, "left", "right", n, friction=0.3)
        options = {name: option.default for name, option in SCHEMES[scheme].options.items()}
        s = SCHEMES[scheme].bind(body, h, contact, options)
        moves = (body.x[:, :2] @ n < 0)[:, None]
        s.start(0.0, (moves * (n + 0.4 * along)).ravel())
        record = body.rows(body.nodes("left"))
        found.append(di.simulate(s, t_end=0.12, record=record, energies=False, progress=False))
    wall, pairs = found
    r_t = np.linalg.norm(wall["r_t"].reshape(*wall["r"].shape, -1), axis=2)
    sliding = r_t[wall["r"] > 0] / wall["r"][wall["r"] > 0]
    assert sliding.max() == pytest.approx(0.3, rel=1e-9) and sliding.min() < 0.29  # some points stick
    for name in ("u", "v_t"):
        assert np.abs(pairs[name] - wall[name]).max() < 1e-9, name
    assert np.abs(pairs["r"] - wall["r"]).max() < 1e-8 * np.abs(wall["r"]).max()


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", RANKS, ids=str)
def test_friction_of_a_pair_is_coulombs(ranks):
    """One step of a pair, on one rank or on two: the impulse by hand, and momentum is kept."""
    points = np.array([(x, y) for x in (-1.0, -0.5, 0.5, 1.0) for y in (0.0, 1.0)])
    domain = made("quadrilateral", points, [[0, 1, 2, 3], [4, 5, 6, 7]], list(ranks))
    facets = {"left": lambda x: np.isclose(x[0], -0.5), "right": lambda x: np.isclose(x[0], 0.5)}
    body = of_two_densities(named(domain, **facets), 3.0)
    m1, m2 = 1 / 8, 3 / 8
    reduced = m1 * m2 / (m1 + m2)
    for sliding, expected in ((0.5, 0.5), (9.0, 0.2 * 4.0)):
        pairs = NodePairs(body, "left", "right", [1.0, 0.0], gap0=0.0, friction=0.2)
        s = di.CDLagrange(body, 1e-9, pairs)
        s.start(1e-9 * np.ones(body.size), 0.0)
        left = np.repeat(body.x[:, 0] < 0, 2)
        s.v[:] = np.where(left, np.resize([3.0, 0.0], body.size), np.resize([-1.0, sliding], body.size))
        s.step()
        assert s.r == pytest.approx(np.full(pairs.count, reduced * 4.0), rel=1e-6)
        r_t = np.tile([0.0, -reduced * expected], (pairs.count, 1))
        assert s.r_t == pytest.approx(r_t, rel=1e-6, abs=1e-9)
        rest = np.tile([0.0, sliding - expected], (pairs.count, 1))
        assert s.contact_state.tangential_velocity(s.v, s.t) == pytest.approx(rest, abs=1e-6)
        momentum = [parallel.total(WORLD, float((body.mass * s.v[: body.owned])[i::2].sum())) for i in (0, 1)]
        assert momentum == pytest.approx([0.5 * 3.0 - 1.5, 1.5 * sliding], abs=1e-12)


@pytest.mark.mpi
def test_pairs_cannot_lose_their_mass():
    body = bars((0, WORLD.size - 1))
    with pytest.raises(ValueError, match="the modified mass takes flat obstacles across a coordinate"):
        SCHEMES["dep-7.2"].make(body, 1e-4, contact=NodePairs(body, "left", "right", [1.0]))


# -- what is refused


@pytest.mark.parametrize("name", ["paoli-schatzman", "dep-4.3"])
def test_schemes_without_friction_of_pairs(name):
    body = bars()
    with pytest.raises(ValueError, match="friction"):
        SCHEMES[name].make(body, 1e-4, contact=NodePairs(body, "left", "right", [1.0], friction=0.1))


def test_friction_out_of_range():
    with pytest.raises(ValueError, match="friction must be a coefficient of at least 0"):
        NodePairs(bars(), "left", "right", [1.0], friction=-0.1)


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        (("left", "right", [0.0]), {}, r"normal must be a direction of 1 finite numbers, not \[0.0\]"),
        (("left", "right", [np.nan]), {}, r"normal must be a direction of 1 finite numbers, not \[nan\]"),
        (("left", "right", [1.0, 0.0]), {}, "normal must be a direction of 1 finite numbers"),
        (("left", "nowhere", [1.0]), {}, r"no facets are named 'nowhere'.*\['end', 'left', 'right'\]"),
        (("left", "left", [1.0]), {}, "'left' and 'left' share 1 nodes: a node cannot touch itself"),
        (
            ("left", "right", [1.0]),
            {"gap0": [1.0, 2.0]},
            "gap0 must be a finite gap or one for each .* 1 pairs",
        ),
        (("left", "right", [1.0]), {"gap0": np.inf}, "gap0 must be a finite gap .* but is inf"),
        (("left", "right", [1.0]), {"restitution": 2.0}, r"restitution must lie in \[0, 1\], but is 2.0"),
        (("left", "right", [1.0]), {"gap_tolerance": -1.0}, "gap_tolerance must be a length of at least 0 m"),
    ],
)
def test_node_pairs_refuse(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        NodePairs(bars((0, WORLD.size - 1)), *arguments, **options)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "body, message",
    [
        ({"right": 4}, "'left' has 4 nodes and 'right' 5: node pairs need as many on both sides"),
        ({"shift": 1e-3}, "do not face each other one by one: .* up to 0.001 m apart"),
        ({"fixed": {"left": [0]}}, "contact of 'left' with 'right' acts on dofs that are constrained"),
        ({"fixed": {"right": [0]}}, "contact of 'left' with 'right' acts on dofs that are constrained"),
    ],
)
def test_sides_that_do_not_fit_are_refused(body, message):
    with pytest.raises(ValueError, match=message):
        NodePairs(blocks(**body), "left", "right", [1.0, 0.0])


@pytest.mark.mpi
def test_nodes_one_behind_the_other_are_refused():
    with pytest.raises(ValueError, match="do not face each other one by one"):
        NodePairs(blocks(), "left", "right", [0.0, 1.0])


@pytest.mark.mpi
def test_dofs_across_the_normal_may_be_held():
    pairs = NodePairs(blocks(fixed={"left": [1], "foot": [1]}), "left", "right", [1.0, 0.0])
    assert pairs.total == 4
