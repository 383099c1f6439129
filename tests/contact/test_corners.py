"""Nodes that touch several faces at once, and obstacles that move."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import obstacles

COMM = MPI.COMM_WORLD


def thrown(obstacle, x0, v0, *, h=1e-3, t_end=0.2, scheme=di.CDLagrange, mass=2.0, **law):
    """A point mass thrown into an obstacle."""
    d = len(x0)
    system = di.PointMasses([mass] * d)
    contact = di.ObstacleContact(system, [range(d)], obstacle, **law)
    s = scheme(system, h, contact=contact)
    s.start(x0, v0)
    return s, di.simulate(s, t_end=t_end, progress=False)


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
@pytest.mark.parametrize("e", [0.0, 1.0])
@pytest.mark.parametrize("d", [2, 3])
def test_into_the_corner_of_a_box(scheme, e, d):
    """All walls of the corner at once: everything stops, or turns back."""
    room = obstacles.Box.between(np.zeros(d), np.ones(d), inside=True)
    v0 = -np.array([3.0, 2.0, 1.5])[:d]
    x0 = -0.05 * v0 + 5e-7  # all walls in the same step
    s, run = thrown(room, x0, v0, restitution=e, scheme=scheme, t_end=0.09)
    assert run["r"].shape[1] == 2 * d and len(room.faces) == 2 * d
    assert s.v == pytest.approx(-e * v0, abs=1e-12)
    assert sorted(run["r"].sum(axis=0))[-d:] == pytest.approx(sorted(2.0 * (1 + e) * -v0), abs=1e-12)
    assert np.abs(run["residual"]).max() < 1e-13 * run["kinetic"][0]
    if e == 1.0:
        assert run["kinetic"][-1] == pytest.approx(run["kinetic"][0], rel=1e-13)


@given(angle=st.floats(20.0, 160.0), direction=st.floats(0.1, 0.9), e=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_groove_of_any_angle_is_the_small_problem_by_hand(angle, direction, e):
    """Two planes that meet: impulses against the 2x2 complementarity problem, which couples them."""
    half = np.radians(angle) / 2
    normals = np.array([[np.cos(half), np.sin(half)], [-np.cos(half), np.sin(half)]])
    groove = obstacles.UnionObstacle([di.Plane((0.0, 0.0), n) for n in normals])
    turned = np.radians(270.0) + (direction - 0.5) * np.radians(min(angle, 180.0 - angle))
    v0 = 2.0 * np.array([np.cos(turned), np.sin(turned)])
    s, run = thrown(groove, -1e-4 * v0, v0, restitution=e, t_end=1e-3)
    r, w = s.r, normals @ s.v + e * normals @ v0
    assert r.min() >= 0 and w.min() > -1e-12
    assert r @ w == pytest.approx(0.0, abs=1e-12)
    assert 2.0 * (s.v - v0) == pytest.approx(r @ normals, abs=1e-12)
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]


@pytest.mark.mpi
@pytest.mark.parametrize("mu", [0.1, 0.6])
def test_friction_in_a_groove(mu):
    """Along a symmetric groove both faces rub: Newton and Coulomb at each of them."""
    normals = np.array([[0.0, 0.8, 0.6], [0.0, -0.8, 0.6]])
    groove = obstacles.UnionObstacle([di.Plane(np.zeros(3), n) for n in normals])
    s, run = thrown(groove, [0.0, 0.0, 1e-4], [3.0, 0.0, -1.0], t_end=1e-3, friction=mu)
    assert normals @ s.v == pytest.approx([0.0, 0.0], abs=1e-12)
    assert s.r == pytest.approx([2.0 / 1.2] * 2, rel=1e-12)
    rubbed = min(2 * mu * s.r[0], 2.0 * 3.0)
    assert s.v[0] == pytest.approx(3.0 - rubbed / 2.0, rel=1e-12)
    assert s.r_t.sum(axis=0) == pytest.approx([-rubbed, 0.0, 0.0], abs=1e-12)
    assert run["residual"][-1] == pytest.approx(0.0, abs=1e-13 * run["kinetic"][0])


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
@given(e=st.floats(0.0, 1.0), speed=st.floats(-1.0, 3.0))
def test_a_wall_that_moves_gives_its_velocity(scheme, e, speed):
    """Newton's law holds for the velocity relative to the wall."""
    wall = obstacles.MovingObstacle(di.Plane([0.0], [1.0]), translation=lambda t: np.array([speed * t]))
    s, run = thrown(wall, [0.01], [-2.0], restitution=e, t_end=0.05, scheme=scheme)
    hit = run["r"].sum()
    # The wall's velocity is a difference of its positions.
    assert hit == pytest.approx(2.0 * (1 + e) * (2.0 + speed), rel=1e-6, abs=2e-9)
    assert s.v[0] == pytest.approx(speed + e * (2.0 + speed), rel=1e-6, abs=2e-9)
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"].max()
    assert run["gap"][-1, 0] == pytest.approx(s.u[0] - speed * s.t, abs=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
def test_a_turning_wheel_drags_what_lies_on_it(scheme):
    """Rubbed long enough the mass has the velocity of the surface below it."""
    at = (0.0, -1.0)
    wheel = obstacles.MovingObstacle(di.Sphere(at, 1.0), rotation=lambda t: -0.5 * t, center=at)
    system = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    contact = di.ObstacleContact(system, [[0, 1]], wheel, friction=0.8)
    s = scheme(system, 1e-3, contact=contact)
    s.start([0.0, 0.0], [0.0, 0.0])
    run = di.simulate(s, t_end=0.2, progress=False)
    assert s.v[0] == pytest.approx(0.5, rel=1e-2)
    assert np.linalg.norm(run["r_t"][:, 0], axis=1).max() > 0
    assert np.all(np.linalg.norm(run["r_t"][:, 0], axis=1) <= 0.8 * run["r"][:, 0] * (1 + 1e-12))


def foot(**options):
    """A block of four elements on y = 0 that falls at 1 m/s; its scheme, started."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [2, 2])
    facets = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[1], 0.0))
    sides = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[0], 0.0))
    numbers = np.concatenate([facets, sides])
    order = np.argsort(numbers)
    values = np.repeat([1, 2], [facets.size, sides.size]).astype(np.int32)
    tags = dmesh.meshtags(mesh, 1, numbers[order], values[order])
    named = di.NamedMesh(mesh, None, tags, {"foot": (1, 1), "side": (1, 2)})
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0, 0.3), fixed=options.pop("fixed", ()))
    contact = di.RigidContact(body, "foot", options.pop("obstacle"), **options)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact)
    s.start(0.0, body.rigid_velocity((0.3, -1.0)))
    return s


@pytest.mark.mpi
def test_a_function_that_fails_at_one_node_ends_the_run_on_all_ranks():
    """Only the rank that owns the node sees it."""
    hole = obstacles.SignedDistance(lambda x: np.where(x[:, 0] > 1.01, np.nan, x[:, 1] + 0.1), 2)
    s = foot(obstacle=hole)
    with pytest.raises(ValueError, match="the signed distance is not finite at x = "):
        di.simulate(s, t_end=1.0, progress=False)


@pytest.mark.mpi
def test_a_function_that_fails_at_one_node_before_the_start_fails_on_all_ranks():
    hole = obstacles.SignedDistance(lambda x: np.where(x[:, 0] == 0.5, np.nan, x[:, 1] + 0.1), 2)
    with pytest.raises(ValueError, match="the signed distance is not finite at x = "):
        foot(obstacle=hole)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "given, word",
    [
        ({"translation": ((0.0, 1.0), lambda t: np.nan if t > 0.05 else 0.0)}, "translation"),
        ({"rotation": lambda t: np.inf if t > 0.05 else 0.0, "center": (0.0, -5.0)}, "rotation"),
    ],
)
def test_a_motion_that_is_no_number_ends_the_run(given, word):
    floor = obstacles.MovingObstacle(di.Plane((0.0, -0.1), (0.0, 1.0)), **given)
    with pytest.raises(ValueError, match=f"the {word} of a moving obstacle must be finite, but is"):
        di.simulate(foot(obstacle=floor), t_end=1.0, progress=False)


@pytest.mark.mpi
def test_an_observer_that_fails_on_one_rank_ends_the_run_on_all():
    def look(s):
        if COMM.rank == COMM.size - 1 and s.n == 3:
            raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        s = foot(obstacle=di.Plane((0.0, -0.1), (0.0, 1.0)))
        di.simulate(s, t_end=1.0, observers=[look], progress=False)


@pytest.mark.mpi
def test_friction_where_a_direction_along_the_plane_is_fixed():
    """A plane of symmetry: its node at the floor neither slides nor has friction."""
    s = foot(obstacle=di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.5, fixed={"side": (0,)})
    run = di.simulate(s, t_end=0.5, progress=False)
    still = s.system.constrained[s.contact.L.dofs].any(axis=1)
    assert COMM.allreduce(int(still.sum())) == 1
    assert run["r_t"].any() and np.abs(run["residual"]).max() < 1e-13 * run["kinetic"][0]
    assert np.all(np.linalg.norm(run["r_t"], axis=2) <= 0.5 * run["r"] * (1 + 1e-12))
    assert not s.v[: s.system.owned][s.system.constrained].any()


@pytest.mark.parametrize("scheme", [di.PaoliSchatzman, di.CarpenterImplicit])
def test_moving_obstacles_are_for_velocity_level(scheme):
    system = di.PointMasses([1.0], stiffness=[[1.0]])
    wall = obstacles.MovingObstacle(di.Plane([0.0], [1.0]), translation=lambda t: np.array([t]))
    contact = di.ObstacleContact(system, [[0]], wall)
    with pytest.raises(ValueError, match="does not support moving obstacles: take CDLagrange or MoreauJean"):
        scheme(system, 0.1, contact=contact)


def cylinder(low, high, cells):
    made = dmesh.create_rectangle(MPI.COMM_WORLD, [low, high], cells, dmesh.CellType.quadrilateral)
    a, b, r = low[1] + 1e-9, high[1] - 1e-9, high[0] - 1e-9
    return di.named(
        made,
        bottom=lambda x: x[1] < a,
        top=lambda x: x[1] > b,
        axis=lambda x: x[0] < 1e-9,
        side=lambda x: x[0] > r,
    )


@pytest.mark.mpi
def test_cylinders_in_a_tube_with_friction_and_restitution():
    """Several walls at a node, and points of surfaces at the axis, whose radial dofs are held."""
    low, up = cylinder([0, 0], [0.1, 0.1], [2, 2]), cylinder([0, 0.1], [0.1, 0.2], [3, 3])
    body = di.Solid(
        di.mesh.join({"low": low, "up": up}),
        density=1000.0,
        law=di.LinearElastic(1e6, 0.3),
        hypothesis="axisymmetric",
        fixed={"low/axis": (0,), "up/axis": (0,)},
        gravity=(0.0, -10.0),
    )
    law = {"friction": 0.3, "restitution": 0.6}
    tube = di.Plane((0.1, 0.0), (-1.0, 0.0))
    contact = [
        di.RigidContact(body, "low/bottom", di.Plane((0.0, 0.0), (0.0, 1.0)), **law),
        di.RigidContact(body, "low/side", tube, **law),
        di.RigidContact(body, "up/side", tube, **law),
        di.SurfaceContact(body, "up/bottom", "low/top", **law),
    ]
    critical = body.critical_time_step()
    for scheme, steps in (
        (di.CDLagrange(body, 0.5 * critical, contact), 12),
        (di.MoreauJean(body, 5.0 * critical, contact=contact), 4),
    ):
        scheme.start(0.0, lambda x: np.stack([10.0 * x[0], -1.0 + 0.0 * x[1]]))
        for _ in range(steps):
            scheme.step()
            sliding = np.linalg.norm(scheme.r_t, axis=1)
            assert np.all(sliding <= 0.3 * scheme.r + 1e-10)
        assert np.isfinite(scheme.u).all()


@pytest.mark.mpi
def test_obstacles_that_move_or_bend_meet_an_axis():
    """A piston that rises at 1 m/s is a floor for a body that falls; a ball touches the axis first."""
    cells, impulses = cylinder([0, 0], [0.1, 0.2], [3, 4]), []
    floor = di.Plane((0.0, -1e-3), (0.0, 1.0))
    piston = di.MovingObstacle(floor, translation=((0.0, 1.0), lambda t: t))
    ball = di.Sphere((0.0, -1.001), 1.0)
    for obstacle, speed in ((floor, -1.0), (piston, 0.0), (ball, -1.0)):
        body = di.Solid(
            cells,
            density=1e3,
            law=di.LinearElastic(1e6, 0.3),
            hypothesis="axisymmetric",
            fixed={"axis": (0,)},
        )
        s = di.CDLagrange(body, 1e-4, di.RigidContact(body, "bottom", obstacle))
        s.start(0.0, (0.0, speed))
        rows = []
        for _ in range(40):
            s.step()
            at_axis = COMM.allreduce(float(s.r[body.constrained[s.contact.L.dofs[:, 0]]].sum()))
            rows.append((COMM.allreduce(float(s.r.sum())), at_axis))
            assert np.all(s.u[: body.owned][body.constrained] == 0.0)
        impulses.append(np.array(rows))
    falls, rises, ball = impulses
    assert falls.max() > 0 and rises == pytest.approx(falls, abs=1e-12 * falls.max())
    first = np.flatnonzero(ball[:, 0])[0]
    assert ball[first, 1] == pytest.approx(ball[first, 0], rel=1e-12)


def test_normals_that_may_turn_into_a_prescribed_motion_are_refused():
    options = {"density": 1e3, "law": di.LinearElastic(1e6, 0.3), "hypothesis": "axisymmetric"}
    body = di.Solid(
        cylinder([0, 0], [0.1, 0.2], [3, 4]), **options, prescribed={"axis": {0: lambda t: 0.0 * t}}
    )
    with pytest.raises(ValueError, match="constrained or whose motion is prescribed"):
        di.RigidContact(body, "bottom", di.Sphere((0.0, -1.001), 1.0))
    di.RigidContact(body, "bottom", di.Plane((0.0, -1e-3), (0.0, 1.0)))
