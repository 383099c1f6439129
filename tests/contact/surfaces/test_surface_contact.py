"""Contact between surfaces of deformable bodies: exact answers, conservation, limits, errors."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from support.colliding import COMM, block, discs, layers
from support.pairwise import pairwise
from support.parts import nodes_in
from support.surfaces import against_each_other, momenta

import dolfinx_impact as di
from dolfinx_impact import parallel


def solid(mesh, nu=0.0, **options):
    return di.Solid(mesh, law=di.LinearElastic(1.0, nu), density=1.0, **options)


def largest(values):
    return parallel.largest(COMM, np.abs(np.asarray(values, dtype=float)).ravel())


def dense(s):
    """The Delassus operator of the active points in the scale of a unit diagonal, on one rank."""
    rows, inverse = s.contact.L, s.system.inverse_mass
    which = np.flatnonzero(rows.diagonal(inverse))
    H = np.zeros((which.size, which.size))
    for k, i in enumerate(which):
        unit = np.zeros(rows.count)
        unit[i] = 1.0
        H[:, k] = rows.delassus(inverse, unit, None, np.zeros(s.system.size))[0][which]
    scale = 1 / np.sqrt(np.diag(H))
    return H * np.outer(scale, scale)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "cells, dim, kind, degree",
    [
        ((17, 11), 2, "quadrilateral", 1),
        ((11, 17), 2, "quadrilateral", 1),
        ((5, 3), 2, "quadrilateral", 2),
        ((3, 5), 2, "quadrilateral", 3),
        ((5, 3), 3, "hexahedron", 1),
        ((3, 4), 3, "hexahedron", 2),
        ((2, 3), 3, "hexahedron", 3),
    ],
)
def test_equal_layers_that_meet_flat_come_to_rest(cells, dim, kind, degree):
    """Impulses of uniform pressure stop all nodes at once; the iteration is short, H well conditioned."""
    body = solid(layers(*cells, dim=dim, kind=kind), degree=degree)
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body, 0.01))
    while not COMM.allreduce(bool(s.r.any())):
        s.step()
    n = body.owned // dim
    v, height = s.v[: body.owned].reshape(n, dim), body.x[:n, dim - 1]
    met = np.isclose(height, 0.0, atol=1e-9) | np.isclose(height, 1e-3, atol=1e-9)
    assert largest(v[met]) < 1e-14
    assert 0 < s.contact_iterations <= 60
    # Each side has half of this mass.
    mass = parallel.total(COMM, body.mass[:: body.block][met].sum())
    assert parallel.total(COMM, s.r.sum()) == pytest.approx(0.01 * mass / 2, rel=1e-12)
    if COMM.size == 1:
        assert np.linalg.cond(dense(s)) <= 3.0


@pytest.mark.parametrize("e, friction", [(0.0, 0.3), (0.4, 0.0), (1.0, 0.0), (0.4, 0.3)])
def test_laws_of_every_step(e, friction):
    """Signorini and Newton at velocity level, Coulomb's disc, and the work of the impulses."""
    body = discs()
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", restitution=e, friction=friction)
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body, 0.15))
    hits, balance = 0, s.balance()
    balance.start()
    for _ in range(120):
        before = s.v.copy()
        s.step()
        balance.step()
        closed = contact.closed(contact.gap(s.u))
        if not s.r.any():
            continue
        hits += 1
        w = contact.L(s.v) + e * contact.L(before)
        assert np.all(s.r >= 0) and not s.r[~closed].any()
        assert w[closed].min() > -1e-13 and np.abs(w[s.r > 0]).max(initial=0.0) < 1e-13
        if friction:
            slip = s.contact_state.tangential_velocity(s.v, s.t)
            size = np.linalg.norm(s.r_t, axis=1)
            assert np.all(size <= friction * s.r * (1 + 1e-12))
            sliding = (size < friction * s.r * (1 - 1e-9)) & (s.r > 0)
            assert largest(slip[sliding]) < 1e-11
    assert hits > 20
    energy = 0.5 * body.total_mass * 0.15**2
    assert balance.contact < 1e-14 * energy or (e > 0 and friction)
    assert e < 1 or friction or abs(balance.contact) < 1e-13 * energy
    residual = balance.kinetic + balance.complementary + balance.internal_work - balance.contact
    assert residual == pytest.approx(energy, rel=1e-13)


@pytest.mark.mpi
def test_momenta_of_discs_that_slide_and_part():
    body, found = discs(), []
    for friction in (0.0, 0.3):
        contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=friction)
        s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
        s.start(0.0, against_each_other(body, 0.15))
        before, run = momenta(s)[0], di.simulate(s, t_end=4.5, record=None, every=20)
        found.append(momenta(s)[0] - before)
        assert run["r"].sum() > 0.5 and run["r"][-1].sum() == 0.0
    scale = body.total_mass * 0.15
    assert largest(np.array(found)[:, :2]) < 1e-13 * scale and abs(found[0][2]) < 1e-13 * scale
    assert 1e-7 * scale < abs(found[1][2]) < 1e-3 * scale  # friction across the remaining penetration


@pytest.mark.mpi
def test_order_of_the_surfaces_does_not_matter():
    body, ends = discs(), []
    for names in (("upper/boundary", "lower/boundary"), ("lower/boundary", "upper/boundary")):
        s = di.CDLagrange(
            body, 0.4 * body.critical_time_step(), contact=di.SurfaceContact(body, *names, friction=0.2)
        )
        s.start(0.0, against_each_other(body, 0.15))
        di.simulate(s, t_end=2.0, record=None)
        ends.append(s.u.copy())
    assert largest(ends[0] - ends[1]) < 1e-13


@pytest.mark.parametrize(
    "dim, kind", [(2, "triangle"), (2, "quadrilateral"), (3, "tetrahedron"), (3, "hexahedron")]
)
def test_rows_of_deformed_bodies_carry_no_net_force_and_no_torque(dim, kind):
    body = solid(layers(4, 3, dim=dim, kind=kind, gap=0.0, shift=0.15, width=0.8), nu=0.3)
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary", allow_penetration=True)
    rng = np.random.default_rng(7)
    for _ in range(5):
        u = 0.02 * rng.standard_normal(body.size)
        gap = contact.evaluate(u)
        finite = np.isfinite(gap)
        assert finite.sum() >= 4
        forces = np.zeros(body.size)
        contact.L.add_transpose(np.where(finite, rng.random(gap.size), 0.0), forces)
        f, x = forces.reshape(-1, dim), body.x[:, :dim] + u.reshape(-1, dim)
        torque = np.cross(x, f) if dim == 3 else x[:, 0] * f[:, 1] - x[:, 1] * f[:, 0]
        assert np.abs(f.sum(axis=0)).max() < 2e-12 and np.abs(torque.sum(axis=0)).max() < 2e-12
        # L is the relative velocity of a rigid approach along the normal.
        assert np.abs(contact.L.at_points(np.tile(np.eye(dim)[0], body.size // dim))).max() < 2e-12


@pytest.mark.parametrize("dim", [2, 3])
def test_a_flat_fixed_body_is_a_plane(dim):
    """Gaps and a whole run on a fixed floor are those of a rigid plane."""
    mesh = layers(3, 5, dim=dim, shift=0.15, width=0.7, height=0.3)
    body = solid(mesh, fixed=["lower/boundary"])  # without lateral strain its facets stay parallel
    normal = np.eye(dim)[-1]
    contacts = [
        di.SurfaceContact(body, "lower/boundary", "upper/boundary", friction=0.3),
        di.RigidContact(body, "upper/boundary", di.Plane(np.zeros(dim), normal), friction=0.3),
    ]
    ends = []
    v = body.rigid_velocity([0.0] * (dim - 1) + [-0.01], cells="upper")
    for contact in contacts:
        s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
        s.start(0.0, v)
        run = di.simulate(s, t_end=60 * s.dt, record=None, every=10)
        ends.append((s.u.copy(), run["r"].sum()))
    assert ends[0][1] > 0 and ends[0][1] == pytest.approx(ends[1][1], rel=1e-12)
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-14


@pytest.mark.parametrize("angle", [5, 20, 40])
def test_a_tilted_square_gets_no_push_along_a_smooth_floor(angle):
    square = block((0.0, 0.0), (0.5, 0.5), (4, 4))
    a = np.deg2rad(angle)
    x = square.geometry.x
    x[:, :2] = x[:, :2] @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) + [0.3, 1e-3]
    mesh = di.mesh.join({"lower": block((-1.0, -0.2), (2.0, 0.0), (12, 2)), "upper": square})
    body = di.Solid(mesh, law=di.NeoHookean(1.0, 0.3), density=1.0, fixed=["lower/boundary"])
    ends = []
    plane, up = di.Plane((0, 0), (0, 1)), nodes_in(body, "upper")
    surfaces = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    for contact in (surfaces, di.RigidContact(body, "upper/boundary", plane)):
        s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
        s.start(0.0, body.rigid_velocity((0.0, -0.02), cells="upper"))
        impulse = np.zeros(2)
        for _ in range(200):
            s.step()
            out = np.zeros(body.size)
            contact.L.add_transpose(s.r, out)
            impulse += out.reshape(-1, 2)[up].sum(axis=0)
        ends.append((impulse, s.u.copy()))
    (impulse, u), (expected, of_plane) = ends
    assert abs(impulse[0]) < 0.01 * impulse[1] and impulse[1] == pytest.approx(expected[1], rel=0.02)
    assert np.abs(u - of_plane).max() < 0.05 * np.abs(of_plane).max()


@pytest.mark.mpi
def test_mirrored_bodies_are_one_body_on_a_plane():
    low, high = block((0, -0.5), (1, -1e-3), (4, 3)), block((0, 1e-3), (1, 0.5), (4, 3))
    both = solid(di.mesh.join({"lower": low, "upper": high}), nu=0.3)
    alone = solid(di.mesh.join({"upper": block((0, 1e-3), (1, 0.5), (4, 3))}), nu=0.3)
    runs = []
    for body, contact, v in (
        (both, di.SurfaceContact(both, "lower/boundary", "upper/boundary"), against_each_other(both, 0.01)),
        (alone, di.RigidContact(alone, "upper/boundary", di.Plane((0, 0), (0, 1))), (0.0, -0.01)),
    ):
        s = di.CDLagrange(body, 0.5 * alone.critical_time_step(), contact=contact)
        s.start(0.0, v)
        runs.append(di.simulate(s, t_end=80 * s.dt, every=4))
    mirrored, expected = runs
    assert np.abs(mirrored["kinetic"] - 2 * expected["kinetic"]).max() < 1e-10 * expected["kinetic"][0]
    assert mirrored["r"].sum() == pytest.approx(expected["r"].sum(), rel=1e-10) and expected["r"].sum() > 0


def test_a_tie_at_an_axis_has_no_rows_of_rounding():
    """Slave nodes at the axis are held along the radius: weights of rounding opposite would have impulses."""
    y = 0.0141613896
    parts = {"lower": block((0, y), (0.4, y + 0.3), (2, 3)), "upper": block((0, y + 0.3), (0.7, 1), (2, 3))}
    named = {name: di.named(part, axis=lambda x: x[0] < 1e-9) for name, part in parts.items()}
    body = solid(
        di.mesh.join(named), hypothesis="axisymmetric", fixed={f"{name}/axis": (0,) for name in parts}
    )
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary", tie=True)
    squares = contact.L.diagonal(body.inverse_mass)
    assert squares.max() > 1.0 and np.all((squares == 0.0) | (squares > 1e-3 * squares.max()))
    assert np.count_nonzero(squares == 0.0) % 2 == 1


@pytest.mark.mpi
def test_a_tie_of_matching_meshes_is_one_bar():
    """A wave passes through; impulses have both signs, and do no work."""
    whole = solid(di.mesh.join({"bar": block((0, 0), (2, 0.1), (20, 2))}), nu=0.3)
    halves = {"left": block((0, 0), (1, 0.1), (10, 2)), "right": block((1, 0), (2, 0.1), (10, 2))}
    tied = solid(di.mesh.join(halves), nu=0.3)
    contact, ends = di.SurfaceContact(tied, "left/boundary", "right/boundary", tie=True), []
    for body, tie in ((whole, None), (tied, contact)):
        s = di.CDLagrange(body, 0.5 * whole.critical_time_step(), contact=tie)
        s.start(
            0.0,
            np.where(np.arange(body.size) % 2 == 0, np.repeat(0.1 * np.sin(np.pi * body.x[:, 0]), 2), 0.0),
        )
        run = di.simulate(s, t_end=100 * s.dt, every=10)
        ends.append(run)
        assert np.abs(run["residual"]).max() < 1e-13 * run["kinetic"][0]
    one, two = ends
    assert np.abs(one["kinetic"] - two["kinetic"]).max() < 1e-12 * one["kinetic"][0]
    assert np.abs(two["contact"]).max() < 1e-14 * one["kinetic"][0]
    assert two["r"].min() < 0 < two["r"].max() and not two["gap"].any()


@pytest.mark.mpi
def test_surfaces_and_a_floor_are_one_problem():
    mesh = layers(5, 4, height=0.3, gap=0.0, shift=0.2, width=0.6)
    body = solid(mesh, nu=0.3)
    floor = di.RigidContact(body, "lower/boundary", di.Plane((0, -0.3), (0, 1)), friction=0.2)
    surfaces = di.SurfaceContact(body, "lower/boundary", "upper/boundary", friction=0.3)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=[surfaces, floor])
    s.start(0.0, body.rigid_velocity((0.005, -0.02)))
    products = []
    observers = [lambda s: products.append(s.contact_iterations)]
    run = di.simulate(s, t_end=40 * s.dt, every=5, observers=observers)
    assert np.abs(run["residual"]).max() < 1e-14 * run["kinetic"][0]
    total = parallel.total(COMM, surfaces.total + floor.total) / COMM.size
    assert run["r"].shape[1] == total and run["contact"][-1] < 0
    assert 0 < max(products) <= 150


def test_a_tool_moves_a_free_part():
    """A moved upper part pushes a lower one, which takes its speed; the tool is infinitely heavy."""
    mesh = layers(5, 3, height=0.2, gap=0.0, shift=0.1, width=0.6)
    push = {"upper/boundary": {0: lambda t: 0.0 * t, 1: lambda t: -0.01 * t}}
    body = solid(mesh, prescribed=push)
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, -0.01), cells="upper"))
    s.step()
    facets = contact.facets
    slave = contact.assembly.mortar
    assert np.all(facets.part[slave.nodes] == 0)  # the free part, earlier or later in the mesh
    assert np.count_nonzero(s.r) >= 3 and np.abs(contact.L(s.v)[s.r > 0]).max() < 1e-15
    with pytest.raises(ValueError, match="contact has nothing to move"):
        di.SurfaceContact(
            solid(mesh, fixed=["lower/boundary", "upper/boundary"]), "lower/boundary", "upper/boundary"
        )


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean, di.GeneralizedAlpha])
def test_a_checkpoint_in_contact_goes_on_bit_by_bit(tmp_path, scheme):
    body = discs()
    options = {"friction": 0.3, "drift_correction": True} if scheme is di.CDLagrange else {}
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", **options)
    law = body if scheme is di.CDLagrange else solid(body.named)
    if scheme is not di.CDLagrange:
        body = law
        contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary")
    s = scheme(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body, 0.15))
    for _ in range(40):
        s.step()
    assert s.r.any()
    state = s.state()
    for _ in range(20):
        s.step()
    end = s.u.copy()
    other = scheme(body, s.dt, contact=di.SurfaceContact(body, "upper/boundary", "lower/boundary", **options))
    other.resume(state)
    for _ in range(20):
        other.step()
    assert np.array_equal(other.u, end)


def test_a_needle_is_held_by_a_row_of_its_own():
    """No facet of a needle of 30 degrees faces the floor; its tip stands on it."""
    a = np.deg2rad(15)
    needle = block((0.0, 0.0), (1.0, 1.0), (1, 6))
    x = needle.geometry.x
    x[:, 0] = 0.5 + (x[:, 0] - 0.5) * 2 * np.tan(a) * x[:, 1] + 0.01 * (x[:, 0] - 0.5)
    x[:, 1] += 1e-3
    mesh = di.mesh.join({"lower": block((0.0, -0.3), (1.0, 0.0), (3, 1)), "upper": needle})
    body = di.Solid(mesh, law=di.LinearElastic(1.0, 0.0), density=1.0, fixed=["lower/boundary"])
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, -0.01), cells="upper"))
    deepest, up = 0.0, nodes_in(body, "upper")
    for _ in range(600):
        s.step()
        deepest = min(deepest, (body.x[:, 1] + s.u[1::2])[up].min())
    assert s.t > 2 and -3 * 0.01 * s.dt < deepest < 0


def test_what_is_refused():
    body = solid(layers(3, 2))
    names = "lower/boundary", "upper/boundary"
    for given, words in (
        (("lower/boundary", "side"), "no facets are named 'side'"),
        (("lower/boundary", "lower/boundary"), "named twice"),
    ):
        with pytest.raises(ValueError, match=words):
            di.SurfaceContact(body, *given)
    with pytest.raises(ValueError, match="must be the body"):
        di.SurfaceContact(1.0, *names)
    with pytest.raises(ValueError, match="neither friction nor restitution"):
        di.SurfaceContact(body, *names, tie=True, friction=0.1)
    contact, dt = di.SurfaceContact(body, *names), 0.1 * body.critical_time_step()
    for scheme in (di.Carpenter, di.PaoliSchatzman, di.AcaryBonnefon, di.SCHEMES["dep-5.3"].make):
        with pytest.raises(ValueError, match="CDLagrange|flat"):
            scheme(body, dt, contact=contact)


def test_the_interface_to_other_cells_of_the_mesh_is_refused():
    lower = block([0.0, 0.0], [1.0, 1.0], (2, 2))
    lower.topology.create_connectivity(1, 2)
    found = np.sort(dmesh.locate_entities(lower, 1, lambda x: np.isclose(x[1], 0.5)))
    middle = dmesh.meshtags(lower, 1, found, np.full(found.size, 7, dtype=np.int32))
    halves = di.named(lower, cells={"up": lambda x: x[1] > 0.5 - 1e-9, "low": lambda x: x[1] < 0.5 + 1e-9})
    halves = di.NamedMesh(lower, halves.cell_tags, middle, {**halves.names, "mid": (1, 7)}, halves.groups)
    mesh = di.mesh.join({"a": halves, "b": block([0.0, 0.1], [1.0, 0.5], (3, 1))})
    body = di.Solid(mesh, law=di.NeoHookean(1e6, 0.3), density=1000.0, cells=("a/up", "b"))
    with pytest.raises(ValueError, match="'a/mid' has no facets .* a mesh of its own with mesh.join"):
        di.SurfaceContact(body, "a/mid", "b/boundary")


def test_overlap_at_the_start_is_refused_with_its_deepest_point():
    for gap, words in ((-0.01, r"at \(.*\) m, 0.01 m inside"), (-0.15, "overlap at the start|inside")):
        with pytest.raises(ValueError, match=words):
            di.SurfaceContact(
                solid(layers(4, 3, gap=gap, height=0.2, shift=0.1, width=0.5)),
                "lower/boundary",
                "upper/boundary",
            )
    body = solid(layers(4, 3, height=0.2, shift=0.1, width=0.5))
    s = di.CDLagrange(
        body,
        0.1 * body.critical_time_step(),
        contact=di.SurfaceContact(body, "lower/boundary", "upper/boundary"),
    )
    with pytest.raises(ValueError, match="inside"):
        s.start(body.rigid_velocity((0.0, -0.151), cells="upper"), 0.0)
    assert np.isfinite(body.mesh.geometry.x).all() and body.mesh.geometry.x[:, 1].max() < 0.3
    with pytest.warns(UserWarning, match="may pass through each other"):
        s.start(0.0, body.rigid_velocity((0.0, -1e3), cells="upper"))


@pytest.mark.parametrize("tilt, offset, high", [(0.3, 0.9, 0.02), (0.3, 0.99, 0.06), (0.1, 0.9, 0.01)])
def test_a_leaning_facet_that_is_barely_covered_does_not_act_before_it_touches(tilt, offset, high):
    """The gap of a node beyond the edge of the other part is extrapolated, and would close before."""
    lower, upper = block((0, 0), (1, 1), (4, 4)), block((0, 0), (1, 1), (3, 3))
    x = upper.geometry.x
    x[:, 1] += 1 + high + tilt * x[:, 0]
    x[:, 0] += offset
    body = solid(di.mesh.join({"lower": lower, "upper": upper}))
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    assert contact.gap(np.zeros(body.size)).min() > 0.5 * high
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, -0.1), cells="upper"))
    while not s.r.any():
        s.step()
    # The lowest corner of the upper part meets the edge of the lower one.
    assert s.t > 0.95 * high / 0.1 and s.t < (high + tilt) / 0.1


@pytest.mark.parametrize("offset", [0.0, 0.031])
@pytest.mark.parametrize("heavy", [1.0, 10.0])
def test_a_corner_does_not_sink_into_a_coarse_facet(offset, heavy):
    """Also where the coarse side is the slave, and the weighted gaps at its nodes are open."""
    square = block((0.0, 0.0), (0.3, 0.3), (5, 5))
    x = square.geometry.x
    x[:, :2] = x[:, :2] @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2) + [offset, 1e-3]
    mesh = di.mesh.join({"plate": block((-0.5, -0.2), (0.5, 0.0), (7, 2)), "square": square})
    density = {"plate": 1.0, "square": heavy}
    body = di.Solid(mesh, law=di.NeoHookean(1.0, 0.3), density=density)
    contact = di.SurfaceContact(body, "plate/boundary", "square/boundary")
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, -0.05), cells="square"))
    run = di.simulate(s, t_end=0.5, every=5)
    energy = run["kinetic"] + run["complementary"] + run["internal"]
    assert run["r"].sum() > 0 and energy.max() < (1 + 1e-6) * energy[0]
    tip = int(np.argmin(np.hypot(body.x[:, 0] - offset, body.x[:, 1] - 1e-3)))
    top = np.flatnonzero(np.isclose(body.x[:, 1], 0.0, atol=1e-9) & nodes_in(body, "plate"))
    at = body.x[:, :2] + s.u.reshape(-1, 2)
    order = top[np.argsort(at[top, 0])]
    assert at[tip, 1] > np.interp(at[tip, 0], at[order, 0], at[order, 1]) - 0.01


def test_a_block_that_slides_over_an_edge_is_not_stopped():
    upper, lower = block((0.0, 1e-4), (0.3, 0.2), (5, 3)), block((-0.4, -0.2), (0.4, 0.0), (4, 2))
    mesh = di.mesh.join({"lower": lower, "upper": upper})
    body = di.Solid(mesh, law=di.NeoHookean(1.0, 0.3), density=1.0)
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.3, -0.01), cells="upper"))
    inside = nodes_in(body, "upper")
    before = (body.mass[::2] * s.v[::2])[inside].sum()
    di.simulate(s, t_end=1.0, record=None, every=50)
    after = (body.mass[::2] * s.v[::2])[inside].sum()
    assert abs(after - before) < 0.01 * before


@pytest.mark.parametrize(
    *pairwise(width=[0.01, 0.03, 0.1], density=[1.5, 30.0, 1000.0], dim=[2, 3], fine=[1, 3])
)
def test_a_punch_much_smaller_than_a_facet(dim, width, fine, density):
    """Whatever it weighs: a well-conditioned problem, momentum, and points of contact that come to rest."""
    across = [1.0] * (dim - 1)
    plate = block([0.0] * (dim - 1) + [-0.25], across + [0.0], [2] * (dim - 1) + [1])
    low, high = [0.61] * (dim - 1) + [1e-4], [0.61 + width] * (dim - 1) + [0.25]
    mesh = di.mesh.join({"lower": plate, "upper": block(low, high, [fine] * (dim - 1) + [1])})
    body = di.Solid(mesh, law=di.LinearElastic(1.0, 0.0), density={"lower": 1.0, "upper": density})
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body, 0.01))
    start, scale = momenta(s)
    while not s.r.any():
        s.step()
    values = np.linalg.eigvalsh(dense(s))
    values = values[values > 1e-9 * values[-1]]  # four places of a linear pressure are one too many
    assert 0 < s.contact_iterations <= 120 and values[-1] / values[0] <= 40.0
    assert 1.0 <= s.contact_condition <= values[-1] / values[0] * (1 + 1e-6)
    assert np.abs(contact.L(s.v)[s.r > 0]).max() < 1e-13
    assert np.abs(momenta(s)[0] - start).max() <= 1e-13 * scale
    _, _, _, W = contact.L.entries()
    assert np.abs(W).max() < 10.0


@pytest.mark.parametrize("at, of, speed", [(0.5, (1.0, 10.0), 0.03), (0.6, (100.0, 30.0), 0.1)])
def test_a_heavy_needle_does_not_pierce_a_coarse_soft_plate(at, of, speed):
    """``of`` has its stiffness and its density."""
    stiffness, density = of
    needle = block((0.0, 0.0), (1.0, 1.0), (1, 6))
    x = needle.geometry.x
    x[:, 0] = at + (x[:, 0] - 0.5) * (2 * np.tan(np.deg2rad(15)) * x[:, 1] + 0.01)
    x[:, 1] += 1e-3
    mesh = di.mesh.join({"lower": block((0.0, -0.3), (1.0, 0.0), (4, 2)), "upper": needle})
    laws = {"lower": di.NeoHookean(1.0, 0.3), "upper": di.NeoHookean(stiffness, 0.3)}
    body = di.Solid(mesh, law=laws, density={"lower": 1.0, "upper": density})
    contact = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, -speed), cells="upper"))
    top = np.flatnonzero(nodes_in(body, "lower") & np.isclose(body.x[:, 1], 0.0))
    top = top[np.argsort(body.x[top, 0])]
    tip = np.flatnonzero(nodes_in(body, "upper") & np.isclose(body.x[:, 1], 1e-3))
    deepest = 0.0
    while s.t < 0.3 / speed:
        s.step()
        now = body.x[:, :2] + s.u.reshape(-1, 2)
        surface = np.interp(now[tip, 0], now[top, 0], now[top, 1])
        deepest = min(deepest, (now[tip, 1] - surface).min())
    assert -0.02 < deepest < 0
