"""Contact: the operator L, gaps and their signs, what is closed, and what is refused."""

import itertools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

from dolfinx_impact import (
    CDLagrange,
    CDLagrangeSingular,
    Contact,
    DofBound,
    LinearElastic,
    MoreauJean,
    NohBathe,
    NotConverged,
    Plane,
    PointMasses,
    RigidContact,
    Solid,
    SparseRows,
    Sphere,
    complementarity,
    mesh,
    parallel,
    simulate,
)

WORLD = MPI.COMM_WORLD
SIDE = np.sqrt(0.645e-3)
GAP = 2e-4
WALL = Plane([-GAP, 0.0, 0.0], [1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def make_bar():
    named = mesh.read(mesh.package_mesh("bar.geo"), parameters={"dimension": 3, "elements": 4, "lateral": 2})
    return lambda **options: Solid(named, density=7847.0, law=LinearElastic(2.1e11, 0.3), **options)


@pytest.fixture(scope="module")
def bar(make_bar):
    return make_bar()


@pytest.fixture(scope="module")
def to_global(bar):
    dofmap = bar.space.dofmap
    nodes = dofmap.index_map.local_to_global(np.arange(bar.size // 3, dtype=np.int32))
    return (3 * nodes[:, None] + np.arange(3)).ravel()


# -- rows

DOFS, PAIRS, ROWS = 5, 3, 4
floats = st.floats(-10, 10)


@st.composite
def some_rows(draw):
    numbers = st.lists(st.integers(0, DOFS - 1), min_size=PAIRS, max_size=PAIRS)
    weights = st.lists(floats, min_size=PAIRS, max_size=PAIRS)
    count = draw(st.integers(1, ROWS))
    dofs, values = (draw(st.lists(s, min_size=count, max_size=count)) for s in (numbers, weights))
    return SparseRows(dofs, values, np.arange(count)[:, None])


def dense(rows, size):
    L = np.zeros((rows.count, size))
    for i, j in itertools.product(range(rows.count), range(rows.dofs.shape[1])):
        L[i, rows.dofs[i, j]] += rows.weights[i, j]
    return L


def vectors(size):
    return st.lists(floats, min_size=size, max_size=size).map(np.array)


@pytest.mark.mpi
@examples(15)
@given(rows=some_rows(), v=vectors(DOFS), r=vectors(ROWS))
def test_rows_are_a_matrix_and_its_transpose(rows, v, r):
    r = r[: rows.count]
    L, pushed = dense(rows, DOFS), v.copy()
    rows.add_transpose(r, pushed)
    assert rows(v) == pytest.approx(L @ v, abs=1e-11)
    assert pushed - v == pytest.approx(L.T @ r, abs=1e-11)
    assert rows(v) @ r == pytest.approx(v @ (pushed - v), abs=1e-9)


@pytest.mark.mpi
@pytest.mark.parametrize("dofs, distinct", [([[0, 1], [2, 3]], True), ([[0, 1], [1, 2]], False)])
def test_rows_know_whether_they_share_dofs(dofs, distinct):
    assert SparseRows(dofs, np.ones((2, 2)), np.zeros((2, 1))).distinct is distinct


@pytest.mark.mpi
@pytest.mark.parametrize("which", [[2, 0], [True, False, True]])
def test_selected_rows_keep_their_labels(which):
    rows = SparseRows([[0], [1], [2]], [[1.0], [2.0], [3.0]], np.eye(3)[:, :1], ["a", "b", "c"])
    chosen = rows.select(np.array(which))
    assert dict(zip(chosen.labels, chosen.weights[:, 0])) == {"a": 1.0, "c": 3.0}
    assert dict(zip(chosen.labels, chosen.dofs[:, 0])) == {"a": 0, "c": 2}


@pytest.mark.mpi
def test_rows_of_all_ranks_are_put_in_order():
    rank, size = WORLD.rank, WORLD.size
    keys = np.array([[k % 2, k // 2] for k in range(6 * size)][rank::size], dtype=float)[::-1]
    rows = SparseRows(np.arange(6)[:, None], np.ones((6, 1)), keys, [f"{int(a)}-{int(b)}" for a, b in keys])
    expected = sorted((k % 2, k // 2) for k in range(6 * size))
    assert [tuple(k) for k in parallel.gather_rows(WORLD, keys)[rows.sorting(WORLD)]] == expected
    assert rows.sorted_labels(WORLD) == [f"{a}-{b}" for a, b in expected]


@pytest.mark.mpi
def test_rows_of_a_cut_body_are_sorted_by_coordinates(bar):
    wall = RigidContact(bar, "contact", WALL)
    x = parallel.gather_rows(WORLD, bar.x[wall.L.dofs[:, 0] // 3])[wall.L.sorting(WORLD)]
    expected = [(0.0, y, z) for y in (-1, 0, 1) for z in (-1, 0, 1)] * np.array([1.0, SIDE / 2, SIDE / 2])
    assert x == pytest.approx(expected, abs=1e-12)


@pytest.mark.mpi
def test_petsc_matrix_is_the_operator(bar, to_global):
    tilted = np.array([0.36, 0.48, 0.8])
    wall = RigidContact(bar, "contact", Plane([-1.0, 0.0, 0.0], tilted))
    matrix = wall.L.petsc_matrix(WORLD, bar.owned, to_global)
    assert matrix.size == (9, 3 * 5 * 9) and matrix.getLocalSize() == (wall.count, bar.owned)

    start, columns, values = matrix.getValuesCSR()
    found = np.zeros((wall.count, matrix.size[1]))
    for i in range(wall.count):
        found[i, columns[start[i] : start[i + 1]]] = values[start[i] : start[i + 1]]
    expected = np.zeros_like(found)
    expected[np.arange(wall.count)[:, None], to_global[wall.L.dofs]] = tilted
    assert found == pytest.approx(expected, abs=1e-15)

    v, w = matrix.createVecs()
    v.array[:] = np.cos(to_global[: bar.owned])
    matrix.mult(v, w)
    assert w.array == pytest.approx(wall.L(np.cos(to_global)), abs=1e-14)
    w.array[:] = 1.0 + np.arange(wall.count)
    matrix.multTranspose(w, v)
    pushed = np.zeros(bar.size)
    wall.L.add_transpose(1.0 + np.arange(wall.count), pushed)
    assert v.array == pytest.approx(pushed[: bar.owned], abs=1e-14)
    for thing in (matrix, v, w):
        thing.destroy()


# -- gaps and signs


@pytest.mark.parametrize("bound, sign", [({"lower": -1.0}, 1.0), ({"upper": 2.0}, -1.0)])
def test_bound_is_positive_on_the_free_side_and_pushes_there(bound, sign):
    contact = DofBound(PointMasses([1.0, 1.0, 1.0]), 1, **bound)
    limit, pushed = next(iter(bound.values())), np.zeros(3)
    for distance in (-0.5, 0.0, 0.5):
        assert contact.evaluate(np.array([9.0, limit + sign * distance, 9.0])) == pytest.approx([distance])
    contact.L.add_transpose(np.ones(1), pushed)
    assert pushed.tolist() == [0.0, sign, 0.0]
    assert contact.L(np.array([5.0, 3.0, 7.0])) == pytest.approx([3.0 * sign])


@pytest.mark.parametrize("bound, sign", [({"lower": -1.0}, 1.0), ({"upper": 1.0}, -1.0)])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_mass_rebounds_from_its_bound(bound, sign, restitution):
    ball = PointMasses(2.0)
    scheme = CDLagrange(ball, 0.1, DofBound(ball, 0, **bound, restitution=restitution))
    scheme.start(0.0, -3.0 * sign)
    impulse = 0.0
    for _ in range(10):
        scheme.step()
        assert scheme.r[0] >= 0
        impulse += scheme.r[0]
    assert scheme.v == pytest.approx([3.0 * restitution * sign])
    assert impulse == pytest.approx(2.0 * 3.0 * (1 + restitution))


@examples(10)
@given(point=vectors(3), normal=vectors(3).filter(lambda n: np.linalg.norm(n) > 1e-3), x=vectors(3))
def test_plane_is_a_signed_distance(point, normal, x):
    plane = Plane(point, normal)
    n, (gap,) = plane.normal(x[None])[0], plane.gap(x[None])
    assert np.linalg.norm(n) == pytest.approx(1.0) and n @ normal > 0
    assert plane.gap(x[None] - gap * n) == pytest.approx([0.0], abs=1e-12)
    assert plane.gap(x[None] + n) == pytest.approx([gap + 1.0])
    assert Plane(point, -normal).gap(x[None]) == pytest.approx([-gap], abs=1e-12)


@pytest.mark.mpi
def test_solid_approaches_a_plane(bar):
    wall = RigidContact(bar, "contact", WALL)
    assert wall.total == 9 and wall.count == wall.evaluate(np.zeros(bar.size)).size
    for shift, gap in ((0.0, GAP), (-GAP, 0.0), (-2 * GAP, -GAP), (GAP, 2 * GAP)):
        u = np.tile([shift, 0.3, -0.7], bar.size // 3)
        assert wall.evaluate(u) == pytest.approx(np.full(wall.count, gap), abs=1e-15)
        assert wall.approach()(u) == pytest.approx(np.full(wall.count, -shift))
        assert wall.L(u) == pytest.approx(np.full(wall.count, shift))


class Cone:
    """An obstacle whose normal is another one at every place."""

    flat = False

    def gap(self, x):
        return np.linalg.norm(x - [-1.0, 0.0, 0.0], axis=1) - 0.5

    def normal(self, x):
        d = x - [-1.0, 0.0, 0.0]
        return d / np.linalg.norm(d, axis=1, keepdims=True)


@pytest.mark.mpi
def test_operator_of_a_curved_obstacle_is_the_derivative_of_the_gap(bar):
    contact = RigidContact(bar, "contact", Cone())
    assert not contact.constant
    u, du = 0.01 * np.sin(np.arange(bar.size)), 1e-6 * np.cos(np.arange(bar.size))
    change = contact.evaluate(u + du) - contact.evaluate(u - du)
    contact.evaluate(u)
    assert change == pytest.approx(2 * contact.L(du), abs=1e-13)


@pytest.mark.parametrize(
    "touching, tolerance, closed",
    [
        (True, 0.0, [True, True, True, False, False]),
        (True, 1e-3, [True, True, True, True, False]),
        (False, 0.0, [True, True, False, False, False]),
        (False, 1e-3, [True, False, False, False, False]),
    ],
)
def test_closed(touching, tolerance, closed):
    ball = PointMasses(1.0)
    contact = DofBound(ball, 0, lower=0.0, gap_tolerance=tolerance, touching=touching)
    assert contact.closed(np.array([-2e-3, -5e-4, 0.0, 5e-4, 2e-3])).tolist() == closed


def test_default_tolerance_is_a_rounding_of_the_size(bar):
    assert RigidContact(bar, "contact", WALL).gap_tolerance == pytest.approx(1e-12 * bar.length)
    assert bar.length == pytest.approx(np.sqrt(0.254**2 + 2 * SIDE**2))
    assert DofBound(PointMasses(1.0, length=50.0), 0, lower=0.0).gap_tolerance == pytest.approx(5e-11)


# -- points that share dofs


class Levers(Contact):
    """Two levers over two masses: both rows touch both."""

    weights = np.array([[2 / 3, 1 / 3], [0.25, 0.75]])

    def __init__(self, system, **options):
        rows = SparseRows([[0, 1], [0, 1]], self.weights, [[0.0], [1.0]])
        super().__init__(system, rows, **options)

    def gap(self, u, t=0.0):
        return self.L(u) + 0.2


@pytest.mark.mpi
@examples(12)
@given(
    v0=vectors(2),
    masses=st.lists(st.floats(0.1, 10), min_size=2, max_size=2),
    e=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_levers_push_complementarily_and_exchange_momentum(v0, masses, e):
    system = PointMasses(masses)
    levers = Levers(system, restitution=e)
    scheme = CDLagrange(system, 0.1, levers)
    scheme.start(0.0, v0)
    size = 1.0 + np.abs(v0).max()
    for _ in range(12):
        before = scheme.v.copy()
        scheme.step()
        closed = levers.evaluate(scheme.u) <= levers.gap_tolerance
        w = levers.weights @ (scheme.v + e * before)
        assert np.all(scheme.r >= 0) and np.all(scheme.r[~closed] == 0)
        assert np.all(w[closed] >= -1e-9 * size)
        assert np.abs(scheme.r * w).max() <= 1e-8 * size**2
        exchanged = system.mass * (scheme.v - before)
        assert exchanged == pytest.approx(levers.weights.T @ scheme.r, abs=1e-9 * size)


def test_both_levers_need_the_coupled_problem():
    system = PointMasses([1.0, 1.0])
    scheme = CDLagrange(system, 0.1, Levers(system))
    scheme.start(-0.3, -1.0, allow_penetration=True)  # both closed at the start, both masses moving in
    # The impact at the start has stopped the masses already, with their momentum; no second one follows.
    assert scheme.v == pytest.approx([0.0, 0.0], abs=1e-12)
    assert Levers.weights.T @ scheme.r == pytest.approx([1.0, 1.0])
    scheme.step()
    assert scheme.v == pytest.approx([0.0, 0.0], abs=1e-12)
    assert scheme.r == pytest.approx([0.0, 0.0], abs=1e-12)


# -- what is refused

BALL = PointMasses([1.0, 1.0])


@pytest.mark.parametrize(
    "dof, options, message",
    [
        (0, {}, "give either lower= or upper="),
        (0, {"lower": 0.0, "upper": 1.0}, "give either lower= or upper="),
        (2, {"lower": 0.0}, "one of the 2 dofs 0, 1, ..., but is 2"),
        (-1, {"lower": 0.0}, "one of the 2 dofs 0, 1, ..., but is -1"),
        (0, {"lower": 0.0, "restitution": 1.5}, r"restitution must lie in \[0, 1\], but is 1.5"),
        (0, {"lower": 0.0, "restitution": -0.1}, r"restitution must lie in \[0, 1\], but is -0.1"),
        (0, {"lower": 0.0, "restitution": np.nan}, r"restitution must lie in \[0, 1\], but is nan"),
        (0, {"lower": 0.0, "gap_tolerance": -1e-9}, "gap_tolerance must be .* at least 0 m, but is -1e-09"),
        (0, {"lower": 0.0, "gap_tolerance": np.inf}, "gap_tolerance must be .* but is inf"),
        (0, {"lower": np.nan}, "lower .* nan"),
    ],
)
def test_bound_refuses(dof, options, message):
    with pytest.raises(ValueError, match=message):
        DofBound(BALL, dof, **options)


@pytest.mark.mpi
def test_contact_without_points_or_gap_is_refused():
    nothing = SparseRows(np.zeros((0, 1)), np.zeros((0, 1)), np.zeros((0, 1)))
    with pytest.raises(ValueError, match="the contact has no points"):
        Contact(BALL, nothing, gap_tolerance=0.0)
    one = SparseRows([[0]], [[1.0]], [[0.0]])
    with pytest.raises(NotImplementedError):
        Contact(BALL, one, gap_tolerance=0.0).evaluate(np.zeros(1))


@pytest.mark.parametrize(
    "point, normal, message",
    [
        ([0.0, 0.0], [0.0, 0.0], "a normal with a direction"),
        ([0.0, 0.0], [np.nan, 1.0], "a normal with a direction"),
        ([np.inf, 0.0], [0.0, 1.0], "a finite point"),
        ([0.0, 0.0, 0.0], [0.0, 1.0], "must have one number a direction each"),
        (0.0, 1.0, "must have one number a direction each"),
    ],
)
def test_plane_refuses(point, normal, message):
    with pytest.raises(ValueError, match=message):
        Plane(point, normal)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "facets, obstacle, options, message",
    [
        ("wall", WALL, {}, r"no facets are named 'wall'.*\['contact', 'free', 'sides'\]"),
        ("bar", WALL, {}, r"no facets are named 'bar'.*\['contact', 'free', 'sides'\]"),
        ("contact", Plane([0.0, 0.0], [1.0, 0.0]), {}, "the plane has 2 directions, the body 3"),
        ("contact", WALL, {"restitution": 1.5}, r"restitution must lie in \[0, 1\], but is 1.5"),
        ("contact", WALL, {"gap_tolerance": -1.0}, "gap_tolerance must be .* but is -1.0"),
    ],
)
def test_rigid_contact_refuses(bar, facets, obstacle, options, message):
    with pytest.raises(ValueError, match=message):
        RigidContact(bar, facets, obstacle, **options)


@pytest.mark.mpi
def test_contact_on_held_dofs_is_refused_across_its_normal_allowed(make_bar):
    with pytest.raises(ValueError, match="contact on 'contact' acts on dofs that are constrained"):
        RigidContact(make_bar(fixed=["contact"]), "contact", WALL)
    assert RigidContact(make_bar(fixed={"contact": [1, 2]}), "contact", WALL).total == 9


def free_bar():
    named = mesh.read(mesh.package_mesh("bar.geo"), parameters={"dimension": 3, "elements": 4, "lateral": 2})
    return Solid(named, density=7847.0, law=LinearElastic(2.1e11, 0.3))


@pytest.mark.mpi
def test_a_bound_where_ranks_share_the_system():
    """A list of this rank's dofs; a plain number would mean a dof of every rank."""
    bar = free_bar()
    first = [0] if WORLD.rank == 0 else []
    contact = DofBound(bar, first, lower=-1.0)
    assert contact.total == 1
    if WORLD.size > 1:
        with pytest.raises(ValueError, match="give a list of the dofs of this rank"):
            DofBound(bar, 0, lower=-1.0)
    with pytest.raises(ValueError, match="dof must be one of"):
        DofBound(bar, [10**6] if WORLD.rank == 0 else [], lower=-1.0)


class Pair(Contact):
    """Two points on the first dof of every rank: their problem is small, full, and local."""

    def __init__(self, system):
        rows = SparseRows(np.zeros((2, 1)), np.array([[1.0], [1.0]]), np.zeros((2, 1)))
        super().__init__(system, rows)

    def gap(self, u, t=0.0):
        return np.full(2, -1.0)


@pytest.mark.mpi
def test_a_contact_that_fails_on_one_rank_ends_the_run_on_all(monkeypatch):
    bar = free_bar()
    integrator = CDLagrange(bar, 0.5 * bar.critical_time_step(), Pair(bar))
    integrator.start(0.0, 0.0, allow_penetration=True)

    def fail(H, b):
        if WORLD.rank == 0:
            raise NotConverged("not here")
        return np.zeros(b.size)

    monkeypatch.setattr(complementarity, "solve", fail)
    with pytest.raises(NotConverged, match="not here"):
        integrator.step()


class Floor(Contact):
    """A point above y = 0, by a class that knows its normal alone."""

    def __init__(self, system, **law):
        super().__init__(system, SparseRows([[0, 1]], [[0.0, 1.0]], [[0]]), **law)

    def gap(self, u, t=0.0):
        return u[1:2].copy()


class Height(Floor):
    """The same floor with the vertical dof alone in its rows, which cannot tell a direction along it."""

    def __init__(self, system, **law):
        Contact.__init__(self, system, SparseRows([[1]], [[1.0]], [[0]]), **law)


@pytest.mark.parametrize("floor", [Floor, Height])
@pytest.mark.parametrize("scheme", [CDLagrange, MoreauJean, NohBathe])
def test_friction_without_tangents_is_refused(scheme, floor):
    point = PointMasses([1.0, 1.0], load=[0.0, -10.0])
    message = rf"friction = 0.3 of a {floor.__name__} has no tangents .* local_bases\(\)"
    with pytest.raises(ValueError, match=message):
        scheme(point, 1e-2, contact=floor(point, friction=0.3))
    with pytest.raises(ValueError, match=message):
        scheme(point, 1e-2, contact=[floor(point, friction=0.3)])
    smooth = scheme(point, 1e-2, contact=floor(point))
    smooth.start(0.0, np.array([1.0, 0.0]))
    smooth.step()
    assert smooth.v == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(("dofs", "weights"), [([0, 1], [-1.0, 1.0]), ([[0, 1]], [[1.0]])])
def test_rows_have_two_axes(dofs, weights):
    with pytest.raises(ValueError, match=r"shape \(p, k\), a row for each point"):
        SparseRows(dofs, weights, [[0]])


@pytest.mark.parametrize("order", [0, [0], [[0], [1]]])
def test_rows_of_a_contact_have_keys_each(order):
    point = PointMasses([1.0, 1.0], load=[0.0, -10.0])
    with pytest.raises(
        ValueError, match=r"order of shape \(p, m\), keys to sort the points by.* beside 1 rows"
    ):
        Contact(point, SparseRows([[0]], [[1.0]], order))


@pytest.mark.parametrize("scheme", [CDLagrange, CDLagrangeSingular, MoreauJean])
def test_a_history_that_goes_on_has_the_directions_of_the_one_before(scheme):
    """Normals of a sphere turn along the path; those of the columns are the ones at zero displacement."""
    sides = [[-0.1, 0.001], [0.1, 0.2]]
    square = dmesh.create_rectangle(WORLD, sides, [3, 3], dmesh.CellType.quadrilateral)
    foot = mesh.named(square, foot=lambda x: np.isclose(x[1], 0.001))
    block = Solid(foot, density=1000.0, law=LinearElastic(1e6, 0.3), gravity=(0.0, -9.81))
    ball = RigidContact(block, "foot", Sphere((0.03, -0.5), 0.5))
    s = scheme(block, 5e-4, contact=ball)
    s.start(0.0, block.rigid_velocity((3.0, -3.0)))
    normals = ball.L.weights.copy()
    first, second = (simulate(s, t_end=t, progress=False) for t in (0.012, 0.024))
    assert np.abs(ball.L.weights - normals).max() > 0.05
    for name in ("u", "v_t"):
        assert np.array_equal(first[name][-1], second[name][0])
    s.start(0.0, block.rigid_velocity((3.0, -3.0)))
    once = simulate(s, t_end=0.024, progress=False)
    for name in ("u", "v_t", "v"):
        assert np.array_equal(once[name], np.concatenate([first[name], second[name][1:]]))
