"""Bodies that start on an obstacle: the whole impact at the start; penetration there is refused."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import parallel

COMM = MPI.COMM_WORLD


def ball(e=0.0, *, scheme=di.CDLagrange, h=1e-3, **options):
    mass = di.PointMasses(2.0, **options)
    return scheme(mass, h, contact=di.DofBound(mass, 0, lower=0.0, restitution=e))


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.CDLagrangeImplicit, di.MoreauJean])
@pytest.mark.parametrize("compiled", [False, None])
@given(e=st.floats(0.0, 1.0), speed=st.floats(0.1, 10.0))
@examples(8)
def test_a_ball_thrown_down_on_the_floor_rebounds_by_newtons_law(scheme, compiled, e, speed):
    s = ball(e, scheme=scheme)
    s.start(0.0, -speed)
    run = di.simulate(s, t_end=0.01, progress=False, compiled=compiled)
    energy = 0.5 * 2.0 * speed**2
    assert run["v_t"][0, 0] == -speed and run["kinetic"][0] == pytest.approx(energy)
    assert run["v_t"][-1, 0] == pytest.approx(e * speed, rel=1e-13, abs=1e-14 * speed)
    assert run["r"].sum() == pytest.approx(2.0 * (1 + e) * speed, rel=1e-13)
    assert run["contact"][0] == 0.0
    assert run["contact"][-1] == pytest.approx((e**2 - 1) * energy, rel=1e-12, abs=1e-14 * energy)
    assert np.abs(run["residual"]).max() < 1e-13 * energy


@pytest.mark.mpi
@pytest.mark.parametrize("e", [0.0, 0.8])
def test_a_disc_with_friction_on_the_floor_and_a_nanometre_above_it_agree(e):
    disc = di.RigidBody.disc(0.1, 7850.0)
    floor = di.RigidBodyContact(disc, di.Plane((0, 0), (0, 1)), restitution=e, friction=0.3)
    ends = []
    for height in (0.1, 0.1 + 1e-9):
        s = di.CDLagrange(disc, 1e-4, floor)
        s.start([0.0, height, 0.0], [1.0, -2.0, 0.0])
        run = di.simulate(s, t_end=0.01, progress=False)
        ends.append((*s.v, run["r"].sum(), run["r_t"].sum(), run["kinetic"][-1], run["contact"][-1]))
        assert np.abs(run["residual"]).max() < 1e-13 * run["kinetic"][0]
        assert np.array_equal(run["v_t"][0], [1.0, -2.0, 0.0])
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)
    assert ends[0][1] == pytest.approx(2.0 * e, abs=1e-14)


def test_a_resting_body_starts_as_before():
    """Nothing approaches: half the impulse of a step holds the weight."""
    s = ball(load=[-2.0 * 9.81])
    s.start(0.0, 0.0)
    assert s.r[0] == pytest.approx(2.0 * 9.81e-3)  # half of it acts: W/2
    assert s.v[0] == 0.0 and s.r_start[0] == 0.0
    run = di.simulate(s, t_end=0.1, progress=False)
    assert run["u"][-1, 0] == 0.0 and np.abs(run["residual"]).max() < 1e-15


def test_impact_and_weight_at_the_start_add_up():
    """r[0] = r_i + r_s; the energy of the start is that which was given."""
    s = ball(load=[-2.0 * 9.81])
    s.start(0.0, -1.0)
    assert s.r[0] == pytest.approx(2.0 * 1.0 + 2.0 * 9.81e-3)
    run = di.simulate(s, t_end=0.01, progress=False, compiled=False)
    assert run["kinetic"][0] == pytest.approx(1.0)
    assert run["complementary"][0] == pytest.approx(0.0, abs=1e-18)
    assert run["contact"][:2] == pytest.approx([0.0, -1.0])
    assert np.abs(run["residual"]).max() < 1e-15


def block(height=0.0):
    """An elastic block of 4 x 4 quadrilaterals with its foot at ``height``."""
    mesh = dmesh.create_rectangle(
        COMM, [[0.0, height], [1.0, 1.0 + height]], [4, 4], dmesh.CellType.quadrilateral
    )
    facets = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[1], height))
    tags = dmesh.meshtags(mesh, 1, facets, np.ones(facets.size, np.int32))
    named = di.NamedMesh(mesh, None, tags, {"foot": (1, 1)})
    return di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.3))


@pytest.mark.mpi
@pytest.mark.parametrize("height", [0.0, 1e-9])
def test_a_block_gets_the_momentum_that_the_floor_gives(height):
    """On the floor as just above it: impulses are the change of momentum, E(0) is what was given."""
    body = block(height)
    s = di.CDLagrange(
        body, 0.5 * body.critical_time_step(), di.RigidContact(body, "foot", di.Plane((0, 0), (0, 1)))
    )
    s.start(0.0, body.rigid_velocity((0.0, -1.0)))
    run = di.simulate(s, t_end=30 * s.dt, progress=False)
    vertical = parallel.total(COMM, float((body.mass * s.v[: body.owned])[1::2].sum()))  # at the half step
    assert run["r"].sum() == pytest.approx(vertical + 1000.0, rel=1e-12)
    assert run["kinetic"][0] == pytest.approx(500.0) and abs(run["complementary"][0]) < 1e-9
    assert np.abs(run["residual"]).max() < 1e-13 * 500


@pytest.mark.mpi
def test_the_explicit_side_of_hati_has_the_impact_too():
    bar = di.mesh.read(di.mesh.package_mesh("split_bar.geo"), gdim=1)
    steel = {"density": 7847.0, "law": di.LinearElastic(2.1e11), "cross_section": 0.645e-3}
    near, far = di.Solid(bar, cells="explicit", **steel), di.Solid(bar, cells="implicit", **steel)
    wall = di.RigidContact(near, "tip", di.Plane([0.0], [1.0]))
    s = di.HATI(near, far, 0.1 * near.critical_time_step(), wall, ratio=4)
    s.start(0.0, -5.0)
    run = di.simulate(s, t_end=40 * s.dt, progress=False)
    assert run["kinetic"][0] == pytest.approx(0.5 * 7847.0 * 0.645e-3 * 0.254 * 25.0, rel=1e-9)
    assert run["contact"][0] == 0.0 and run["contact"][-1] < 0.0
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean, di.Carpenter, di.PaoliSchatzman])
def test_a_start_inside_the_obstacle_is_refused_for_every_level(scheme):
    s = ball(scheme=scheme)
    with pytest.raises(ValueError, match=r"contains contact points .* 0.001 m inside.*allow_penetration"):
        s.start(-1e-3, 0.0)
    s.start(-1e-3, 0.0, allow_penetration=True)
    assert s.u[0] == -1e-3
    s.start(-1e-10, 0.0)  # rounding


@pytest.mark.mpi
def test_a_start_inside_is_refused_for_every_contact():
    body = di.PointMasses([1.0, 1.0])
    sphere = di.ObstacleContact(body, [[0, 1]], di.Sphere((0.0, 0.0), 1.0))
    with pytest.raises(ValueError, match=r"the deepest at \(0.5, 0\) m, 0.5 m inside"):
        di.CDLagrange(body, 1e-3, sphere).start([0.5, 0.0], 0.0)
    square = di.RigidBody.square(1.0, 1.0)
    wall = di.RigidBodyContact(square, di.Plane((0, 0), (0, 1)))
    with pytest.raises(ValueError, match="0.1 m inside"):
        di.CDLagrange(square, 1e-3, wall).start([0.0, 0.9, 0.0], [0.0, 0.0, 0.0])
    solid = block()
    allowed = di.RigidContact(solid, "foot", di.Plane((0.0, 0.2), (0, 1)), allow_penetration=True)
    di.CDLagrange(solid, 1e-5, allowed).start(0.0, 0.0)
