"""Rigid obstacles between the nodes of facets: known answers, balances, features, ranks, restarts."""

import contextlib
import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.pairs import named

import dolfinx_impact as di
from dolfinx_impact import FieldWriter, checkpoint
from dolfinx_impact.contact.tunnelling import Tunnelled

COMM, ALONE = MPI.COMM_WORLD, MPI.COMM_SELF
LAW = di.LinearElastic(1.0, 0.3)
RUBBER = di.NeoHookean(1.0, 0.3)
CELLS = {"interval": 1, "triangle": 2, "quadrilateral": 2, "tetrahedron": 3, "hexahedron": 3}


@functools.cache
def cells(kind, count=(1, 1, 1), ranks=False):
    """A block of unit height above the ground; the surface below is ``foot``."""
    gdim = CELLS[kind]
    make = dmesh.create_rectangle if gdim == 2 else dmesh.create_box
    comm = COMM if ranks else ALONE
    mesh = make(comm, [np.zeros(gdim), np.ones(gdim)], list(count[:gdim]), getattr(dmesh.CellType, kind))
    return named(mesh, foot=lambda x: np.isclose(x[gdim - 1], 0.0))


def block(kind="hexahedron", count=(1, 1, 1), ranks=False, **options):
    return di.Solid(cells(kind, tuple(count), ranks), **{"law": LAW, "density": 1.0, **options})


def tip(place, angle=25.0, **options):
    """A cone whose tip stands at a place."""
    down = -np.eye(len(place))[-1]
    return di.Cone(place, down, angle, **options)


def corner(place):
    """A corner of a box that stands at a place, the diagonal of the box upright."""
    turn = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3], [2], [6]])
    axes = turn.T @ np.eye(3)[[2, 0, 1]]  # the first row of turn goes up
    return di.Box(np.array(place) - [0.0, 0.0, 0.5 * np.sqrt(3) * 0.4], [0.4] * 3, axes=axes)


def ridge(place, along=(1.0, 0.0, 0.0), length=6.0):
    """The edge of a box that lies across the body, its middle at a place."""
    along = np.array(along) / np.linalg.norm(along)
    side = np.cross([0.0, 0.0, 1.0], along)
    side /= np.linalg.norm(side)
    up = np.cross(along, side)
    axes = np.array([along, (side + up) / np.sqrt(2), (up - side) / np.sqrt(2)])
    return di.Box(np.array(place) - up / np.sqrt(2), [length, 1.0, 1.0], axes=axes)


def begun(body, obstacle, v0, courant=0.3, scheme=di.CDLagrange, surface="foot", u0=0.0, **options):
    """A started scheme with contact of nodes and facets."""
    contact = di.RigidContact(body, surface, obstacle, **{"facets": True, **options})
    s = scheme(body, courant * body.critical_time_step(), contact=contact)
    s.start(u0, v0)
    return s


def during(s, steps, **options):
    """So many steps."""
    return di.simulate(s, t_end=s.t + steps * s.dt, progress=False, **options)


def mass_at(body, place, weights_of):
    """Inverse of ``sum N_k^2 / m_k`` [kg]: the mass that a point of a facet sets against an impulse."""
    x = body.x[:, : body.gdim]
    share = weights_of(x) * np.isclose(x[:, -1], 0.0)
    assert share.sum() == pytest.approx(1.0)
    inverse = body.inverse_mass.reshape(-1, body.block)[:, 0]
    return 1.0 / np.sum(share[share > 0] ** 2 * inverse[: share.size][share > 0])


@pytest.mark.parametrize("sharp", [tip, corner])
@pytest.mark.parametrize("e", [0.0, 0.7])
def test_a_tip_on_one_big_cell_is_met_as_by_a_node(sharp, e):
    """Bilinear weights at (0.3, 0.6): the impulse of the first contact stops or reverses the point."""
    body, place = block(), (0.3, 0.6, -1e-4)
    s = begun(body, sharp(place), [0.0, 0.0, -0.1], restitution=e)
    while not s.r.any():
        s.step()
    hit = np.flatnonzero(s.r)
    assert hit.size == 1 and hit[0] == s.contact.members[0].count

    def weights(x):
        return np.where(x[:, 0] > 0.5, 0.3, 0.7) * np.where(x[:, 1] > 0.5, 0.6, 0.4)

    assert s.r[hit[0]] == pytest.approx((1 + e) * 0.1 * mass_at(body, place, weights), rel=1e-11)
    assert s.contact_state.normals[hit[0]] == pytest.approx([0.0, 0.0, 1.0], abs=1e-14)
    beside = begun(body, sharp((1.1, 0.6, -1e-4)), [0.0, 0.0, -0.1])
    run = di.simulate(beside, t_end=0.5, progress=False)
    assert np.abs(beside.u).max() > 0.02 and not run["r"].any()


@pytest.mark.filterwarnings("ignore:the obstacle is")
@pytest.mark.parametrize(
    "kind, place",
    [pytest.param("hexahedron", (0.5, 0.5, 0.0), marks=pytest.mark.slow), ("quadrilateral", (0.5, 0.0))],
)
def test_the_weight_is_carried_between_nodes_as_by_a_node(kind, place):
    """A block on a ball in the middle: the mean force is the weight, by a node there or by the facet."""
    forces = []
    for count, facets in (((1, 1, 1), True), ((2, 2, 2), False), ((2, 2, 2), True)):
        gravity = -0.1 * np.eye(CELLS[kind])[-1]
        body = block(kind, count, damping=2.0, law=di.LinearElastic(10.0, 0.3), gravity=gravity)
        ball = di.Sphere(np.array(place) - 0.05 * np.eye(body.gdim)[-1], 0.05)
        s = begun(body, ball, 0.0, facets=facets, courant=0.5)
        run = di.simulate(s, t_end=8.0, progress=False, every=1)
        late = run["t"] > 4.0
        forces.append(run["r"][late].sum() / (late.sum() * s.dt))
        touching = np.flatnonzero(run["r"].any(axis=0))
        assert touching.size == 1
    assert forces == pytest.approx([0.1 * body.total_mass] * 3, rel=0.02)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("kind", ["triangle", "quadrilateral", "tetrahedron", "hexahedron"])
def test_balances_at_any_degree(kind, degree):
    """Momentum changes by the impulses, energy by their work; nothing gets through."""
    gdim = CELLS[kind]
    body = block(kind, degree=degree)
    place = np.array([0.41, 0.23, -1e-3])[3 - gdim :]
    place[-1] = -1e-3
    s = begun(body, tip(place), -0.1 * np.eye(gdim)[-1], friction=0.3)
    run = di.simulate(s, t_end=0.5, progress=False)
    v = s.v.reshape(-1, body.block)[:, :gdim]
    m = body.mass.reshape(-1, body.block)[:, :1]
    before = -0.1 * body.total_mass * np.eye(gdim)[-1]
    added = np.zeros(s.contact.nodes.loaded.dofs.shape)
    assert run["r"].any() and np.abs(run["residual"]).max() < 1e-14
    assert run["gap"].min() > -0.02
    normal = (m * v).sum(axis=0)[-1] - before[-1]
    assert normal == pytest.approx(run["r"].sum(), rel=0.1) and added.shape[1] == gdim


def test_an_axisymmetric_body_meets_a_ring_between_nodes():
    """Its facets are sections of rings; the axis has none."""
    body = di.Solid(cells("quadrilateral"), law=LAW, density=1.0, hypothesis="axisymmetric")
    s = begun(body, di.Sphere((0.6, -0.051), 0.05), [0.0, -0.1], surface="boundary")
    run = di.simulate(s, t_end=0.5, progress=False)
    assert run["r"].any() and np.abs(run["residual"]).max() < 1e-13 and run["gap"].min() > -0.02


def test_a_sphere_smaller_than_a_facet_goes_through_without_facets_alone():
    """The nodes pass beside it; facets keep it out, and the block comes to rest on it."""
    depths = {}
    for facets in (True, False):
        body = block("tetrahedron")
        sphere = di.Sphere((0.45, 0.4, -0.11), 0.1)
        with contextlib.nullcontext() if facets else pytest.warns(match="facets=True"):
            s = begun(body, sphere, [0.0, 0.0, -0.1], facets=facets)
        run = di.simulate(s, t_end=3.0, progress=False)
        x = body.x[:, :3] + s.u.reshape(-1, 3)
        depths[facets] = x[np.isclose(body.x[:, 2], 0.0), 2].min()
        assert run["r"].any() == facets
    assert depths[False] < -0.25 < -0.12 < depths[True]


def test_edges_that_cross_have_one_row_across_both():
    """A roof upside down on the edge of a box: both facets have their minimum on the common edge."""
    mesh = dmesh.create_box(ALONE, [[0, 0, 0], [1, 1, 1]], [1, 2, 1], dmesh.CellType.hexahedron)
    x = mesh.geometry.x
    x[:, 2] += 0.2 * np.abs(x[:, 1] - 0.5)
    body = di.Solid(named(mesh, foot=lambda x: x[2] < 0.15), law=LAW, density=1.0)
    across = ridge((0.3, 0.5, -1e-4), along=(0.0, 1.0, 0.0))
    s = begun(body, across, [0.0, 0.0, -0.1])
    while not s.r.any():
        s.step()
    hit = np.flatnonzero(s.r)
    assert hit.size == 1
    assert s.contact_state.normals[hit[0]] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
    parts = s.contact.members[1].parts
    assert parts.number[parts.own].size == 2 and hit[0] == s.contact.members[0].count


def test_a_tip_on_a_common_edge_has_one_row_with_the_normal_of_the_surface():
    """At a tip the gradient is any direction; between coplanar facets the normal is theirs."""
    body = block("tetrahedron")
    s = begun(body, tip((0.4, 0.4, -1e-4)), [0.0, 0.0, -0.1])
    while not s.r.any():
        s.step()
    hit = np.flatnonzero(s.r)
    assert hit.size == 1
    assert s.contact_state.normals[hit[0]] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
def test_friction_of_a_tip_takes_mu_times_the_impulse(scheme):
    """A tip slides along a facet: in every step the tangential impulse is mu r against the slip."""
    body = block("hexahedron", law=RUBBER if scheme is di.CDLagrange else LAW)
    s = begun(body, tip((0.5, 0.5, -1e-5)), [1.0, 0.0, -0.1], friction=0.2, scheme=scheme)
    run = during(s, 8)
    r, along = run["r"].sum(axis=1), run["r_t"].sum(axis=1)
    acting = r > 0
    assert acting.any()
    assert np.linalg.norm(along, axis=1)[acting] == pytest.approx(0.2 * r[acting], rel=1e-6)
    assert along[acting, 0] == pytest.approx(-0.2 * r[acting], rel=0.05)
    assert np.abs(run["residual"]).max() < 1e-12


def test_a_tip_beside_an_open_node_is_met_by_the_facet():
    """At 3 % of the diameter from a node that it misses: nothing else would hold it before it is deep."""
    s = begun(block(), tip((0.03, 0.03, -1e-4)), [0.0, 0.0, -0.01])
    while not s.r.any():
        s.step()
    assert np.flatnonzero(s.r) >= s.contact.members[0].count
    assert s.contact_state.normals[np.flatnonzero(s.r)[0]] == pytest.approx([0, 0, 1], abs=1e-14)


def test_closed_nodes_hold_what_is_between_them_on_a_smooth_obstacle():
    """On a ball much larger than the facet its four nodes touch: a fifth row would be their sum."""
    ball = di.Sphere((0.5, 0.5, -1e3), 1e3)
    body = block(gravity=(0.0, 0.0, -0.1), damping=5.0)
    s = begun(body, ball, 0.0, u0=np.tile([0.0, 0.0, 1e-3], 8))
    run = di.simulate(s, t_end=20.0, progress=False)
    late, nodes = run["r"][run["t"] > 10.0], s.contact.members[0].count
    assert (late[:, :nodes].any(axis=0)).sum() == 4
    closed = (run["gap"][run["t"] > 10.0][:, :4] <= s.contact.gap_tolerance).all(axis=1)
    assert not late[closed][:, nodes:].any()


def test_a_moving_tip_pushes_the_facet():
    """A cone comes from below at 0.1 m/s: in the step of the first contact the point takes its velocity."""
    body = block()
    moving = di.MovingObstacle(tip((0.3, 0.6, -1e-3)), translation=((0.0, 0.0, 1.0), lambda t: 0.1 * t))
    s = begun(body, moving, 0.0)
    while not s.r.any():
        s.step()
    hit = np.flatnonzero(s.r)
    assert hit.size == 1
    assert s.contact.L(s.v)[hit[0]] == pytest.approx(0.1, rel=1e-9)


def test_lists_unions_and_user_defined_obstacles():
    """Beside a floor, in a union, and as a function: the same force on the tip, both in one list too."""
    place = (0.3, 0.6, -1e-4)
    cone = tip(place, height=0.5)
    users = di.SignedDistance(cone.gap, 3, gradient=cone.normal)
    wall = di.Plane((-1e-4, 0, 0), (1, 0, 0))
    found = []
    for given in (cone, [cone, wall], users):
        s = begun(block(), given, [0.0, 0.0, -0.1])
        assert di.simulate(s, t_end=0.3, progress=False)["r"].any()
        found.append(s.u)
    assert found[1] == pytest.approx(found[0], abs=1e-12)
    assert found[2] == pytest.approx(found[0], abs=2e-4)
    body = block()
    both = [
        di.RigidContact(body, "foot", cone, facets=True),
        di.RigidContact(body, "boundary", wall, friction=0.2),
    ]
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), both)
    s.start(0.0, [0.0, 0.0, -0.1])
    di.simulate(s, t_end=0.3, progress=False)
    assert s.u == pytest.approx(found[0], abs=1e-12)
    assert len(s.contact.members) == 3


def test_what_stands_in_the_output():
    """Point forces: areas and pressures of 0, impulses at nodes, infinite gaps where there is no point."""
    body = block("tetrahedron")
    s = begun(body, tip((0.45, 0.4, -1e-4)), [0.0, 0.0, -0.1])
    while not s.r.any():
        s.step()
    contact, nodes = s.contact, s.contact.members[0].count
    assert np.all(contact.areas()[nodes:] == 0.0)
    assert np.all(contact.pressure(s.r, s.dt)[nodes:] == 0.0)
    gap = s.gap()[nodes:]
    assert np.isfinite(gap).sum() == 1 and gap[np.isfinite(gap)] <= 0.0
    out = np.zeros(contact.nodes.loaded.dofs.shape)
    s.add_nodal_impulses(out)
    assert out[:, 2].sum() == pytest.approx(s.r.sum(), rel=1e-13)
    places = contact.places(np.zeros(body.size))[nodes:]
    assert places[:, 2] == pytest.approx(0.0, abs=1e-14) and np.all(places > -1e-14)


def test_nothing_changes_beside_smooth_obstacles():
    """On a plane and on the top of a box nodes alone touch, with facets too."""
    for floor in (di.Plane((0, 0, -1e-3), (0, 0, 1)), di.Box((0.5, 0.5, -1.001), (4.0, 4.0, 2.0))):
        runs = []
        for facets in (False, True):
            body = block("tetrahedron", (2, 2, 2), law=RUBBER)
            s = begun(body, floor, [0.05, 0.0, -0.1], facets=facets)
            runs.append(di.simulate(s, t_end=0.3, progress=False))
        assert runs[1]["r"][:, : runs[0]["r"].shape[1]].any()
        assert not runs[1]["r"][:, runs[0]["r"].shape[1] :].any()
        assert runs[1]["u"] == pytest.approx(runs[0]["u"], abs=1e-13)


def test_a_facet_that_jumps_over_a_sphere_ends_the_run():
    body = block("tetrahedron")
    sphere = di.Sphere((0.45, 0.4, -0.06), 0.02)
    with pytest.warns(match="may jump over it"):
        s = begun(body, sphere, [0.0, 0.0, -3.0], courant=0.9)
    with pytest.raises(Tunnelled, match="jumps over the obstacle"):
        during(s, 3)


def test_what_is_refused():
    body, cone = block(), tip((0.3, 0.6, -1e-3))
    with pytest.raises(ValueError, match="facets of 'foot' between their nodes"):
        di.RigidContact(body, "foot", tip((0.3, 0.6, 0.1)), facets=True)
    contact = di.RigidContact(body, "foot", cone, facets=True)
    dt = 0.3 * body.critical_time_step()
    with pytest.raises(ValueError, match="facets=True"):
        di.Carpenter(body, dt, contact)
    with pytest.raises(ValueError, match="position=True or facets=True"):
        di.MoreauJean(body, dt, theta=1.0, contact=contact, position=True)

    class Mine(di.RigidContact):
        pass

    with pytest.raises(ValueError, match="is the second argument, surface="):
        di.RigidContact(body, obstacle=cone, facets="foot")
    line = di.Solid(dmesh.create_interval(ALONE, 2, [0.0, 1.0]), law=LAW, density=1.0)
    with pytest.raises(ValueError, match="not one on a line"):
        di.RigidContact(line, "boundary", di.Plane([-1.0], [1.0]), facets=True)
    with pytest.raises(ValueError, match="not those of Mine"):
        Mine(body, "foot", cone, facets=True)


# -- ranks and restarts


def askew(ranks):
    """A block of cells that falls askew on the edge of a box and on a cone, with friction."""
    body = block("tetrahedron", (3, 2, 2), ranks, law=RUBBER)
    bar = ridge((0.5, 0.5, -0.015), along=(1.0, 0.7, 0.02))
    v0 = [0.05, -0.02, -0.3]
    return begun(body, [bar, tip((0.3, 0.9, -0.01))], v0, friction=0.3, surface="boundary")


@functools.cache
def alone():
    return during(askew(False), 35)


@pytest.mark.mpi(turns=True)
def test_ranks_agree():
    run, one = during(askew(True), 35), alone()
    if COMM.rank == 0:
        assert one["r"].any(axis=0).sum() > 1
        assert run["u"] == pytest.approx(one["u"], abs=1e-11)
        assert run["r"] == pytest.approx(one["r"], abs=1e-11)
        assert np.abs(run["residual"]).max() < 1e-13


@pytest.mark.mpi
def test_a_restart_goes_on_bit_by_bit(shared_path):
    whole, first, second = askew(True), askew(True), askew(True)
    run = during(whole, 35)
    during(first, 20)
    checkpoint.save(shared_path / "state.npz", first)
    checkpoint.load(shared_path / "state.npz", second)
    during(second, 15)
    assert COMM.rank or run["r"][20:].any()
    for name in ("u", "v", "r", "r_t"):
        assert np.array_equal(getattr(second, name), getattr(whole, name))


@pytest.mark.mpi
def test_fields(shared_path):
    """What is written has the gap of a facet at its nodes, and its impulse."""
    s = askew(True)
    names = ["displacement", "gap", "impulse", "pressure"]
    fields = FieldWriter(shared_path / "tip.bp", names=names, every=20)
    run = during(s, 40, observers=[fields])
    if COMM.rank == 0:
        assert run["r"].any()
