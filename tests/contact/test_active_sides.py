"""Unions are solids, and an edge lets no point through: the side that a point came through carries it."""

import contextlib
import functools
import itertools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples
from support.pairwise import pairwise

import dolfinx_impact as di
from dolfinx_impact import checkpoint

COMM = MPI.COMM_WORLD
EVERY = pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])


def thrown(obstacle, x0, v0, *, t_end, scheme=di.CDLagrange, h=1e-3, gravity=9.81, **law):
    load = [0.0] * (len(x0) - 1) + [-gravity]
    body = di.PointMasses([1.0] * len(x0), load=load)
    s = scheme(body, h, contact=di.ObstacleContact(body, [range(len(x0))], obstacle, **law))
    s.start(x0, v0)
    return di.simulate(s, t_end=t_end, progress=False)


def box(x0, x1, y0=-1.0, y1=0.0):
    return di.Box.between((x0, y0), (x1, y1))


FLOORS = {
    "tiles": [box(-1, 0), box(0, 2)],
    "overlap": [box(-1, 0.1), box(-0.1, 2)],
    "flush with a plane": [di.Plane((0, 0), (0, 1)), box(-1, 1, -0.5)],
    "below another": [box(-1, 2), box(-0.3, 0.4, -0.7, -0.2)],
    "flush inside": [box(-1, 2), box(-0.2, 0.3, -0.5, 0.0)],
    "a slit": [box(-1, 0), box(1e-6, 2)],  # what carries a point in one tile carries it in the next
    "a strip": [di.Cylinder((-1.0, -1.0), (1.0, 0.0), 1.0, length=3.0)],
    "moved tiles": [di.MovingObstacle(box(-1, 0), translation=((1.0, 0.0), lambda t: 0.0 * t)), box(0, 2)],
}


#: A point lands and slides 0.75 m, 5 mm a step: it enters each box 0.02 mm behind its edge, nearer to the
#: side than to the top, which it is 0.03 mm below or more.
SLIDING = {"x0": [-0.39998, 1e-3], "v0": [5.0, 0.0], "t_end": 0.15}


@functools.cache
def over_one_floor(scheme):
    return thrown(box(-5, 5), scheme=scheme, **SLIDING)


@pytest.mark.parametrize(
    "scheme, name", [*zip(itertools.cycle([di.CDLagrange, di.MoreauJean]), FLOORS), (di.MoreauJean, "tiles")]
)
def test_a_union_carries_a_sliding_point_as_one_floor_does(scheme, name):
    one = over_one_floor(scheme)
    union = thrown(di.UnionObstacle(FLOORS[name]), scheme=scheme, **SLIDING)
    assert one["gap"].min() < -2.5e-5 and one["u"][-1, 0] == pytest.approx(0.35002)
    assert union["u"] == pytest.approx(one["u"], abs=1e-12)
    assert union["r"].sum() == pytest.approx(one["r"].sum(), rel=1e-12)
    assert union["gap"].min() == pytest.approx(one["gap"].min(), abs=1e-12)


@pytest.mark.parametrize("x0, depth", [((0.3, -0.01), 0.01), ((0.99, -0.3), 0.01), ((-0.98, -0.03), 0.02)])
@EVERY
def test_a_point_that_starts_inside_is_held_by_the_nearest_side(x0, depth, scheme):
    """No path says how it came in. The top carries its weight, along the others it falls."""
    run = thrown(box(-1, 1), x0, [0.0, 0.0], t_end=0.05, scheme=scheme, allow_penetration=True)
    weight = 9.81 if depth == -x0[1] else 0.0
    assert run["gap"] == pytest.approx(-depth, abs=1e-12)
    assert run["r"].sum() == pytest.approx(weight * 0.05, rel=0.03)
    assert run["u"][-1] == pytest.approx([x0[0], x0[1] - 0.5 * (9.81 - weight) * 0.05**2], abs=1e-5)


@st.composite
def floors(draw):
    """Boxes with a top at 0 that leave no hole between -2 and 2: side by side or overlapping, any depth."""
    cuts = sorted(draw(st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=4, unique=True)))
    ends = [-2.0, *cuts, 2.0]
    over = draw(st.lists(st.sampled_from([0.0, 1e-3, 0.2, 1.0]), min_size=len(ends), max_size=len(ends)))
    depth = draw(st.lists(st.floats(0.05, 2.0), min_size=len(ends), max_size=len(ends)))
    tiles = [box(a, b + o, -d) for a, b, o, d in zip(ends, ends[1:], over, depth)]
    return [tiles[i] for i in draw(st.permutations(range(len(tiles))))]


@given(
    tiles=floors(),
    x=st.floats(-1.0, 1.0),
    v=st.floats(-3.0, 3.0),
    down=st.floats(-2.0, 0.0),
    e=st.sampled_from([0.0, 0.5]),
    friction=st.sampled_from([0.0, 0.2]),
    scheme=st.sampled_from([0, 1]),
)
@examples(4)
def test_random_unions_of_boxes_are_one_floor(tiles, x, v, down, e, friction, scheme):
    law = {"restitution": e, "friction": friction, "scheme": (di.CDLagrange, di.MoreauJean)[scheme]}
    start = [x, 0.01], [v, down]
    one = thrown(box(-5, 5), *start, t_end=0.1, **law)
    union = thrown(di.UnionObstacle(tiles), *start, t_end=0.1, **law)
    assert union["u"] == pytest.approx(one["u"], abs=1e-10)


@given(
    edge=st.floats(-2e-2, 2e-2),
    speed=st.floats(-1.0, 1.0),
    height=st.floats(0.02, 0.1),
    shape=st.sampled_from(["box", "cylinder", "cone"]),
    h=st.sampled_from([2e-3, 1e-3, 4e-4]),
)
@examples(10)
def test_landings_near_an_edge_are_those_of_small_steps(edge, speed, height, shape, h):
    """A point ``edge`` beyond the rim as it lands: stopped within, never touched outside, at any step."""
    if abs(edge) < 2 * abs(speed) * h + 1e-6 or (shape == "cone" and abs(edge) < 6 * h):
        return  # past the rim within the step, or through the cone below it
    top = {
        "box": box(-1, 2),
        "cylinder": di.Cylinder((0.0, -1.0), (0.0, 1.0), 2.0, length=1.0),
        "cone": di.Cone((0.0, -2.0), (0.0, 1.0), 45.0, height=2.0),
    }[shape]
    fall = np.sqrt(2 * height / 9.81)
    if edge > 0 > speed:
        speed = 0.0  # it would come into the side from outside later on
    run = thrown(top, [2.0 + edge - speed * fall, height], [speed, 0.0], t_end=fall + 5 * h, h=h)
    if edge < 0:
        assert run["r"].sum() > 0.98 * 9.81 * (fall - h)
        assert run["gap"].min() > -1.05 * h * 9.81 * (fall + h)
    else:
        assert run["r"].sum() == 0.0


@pytest.mark.parametrize(
    *pairwise(scheme=[di.CDLagrange, di.MoreauJean], across=[4.0, -1.0], e=[0.0, 0.9], drive=[0.0, 3.0])
)
def test_a_point_that_lands_and_crosses_a_seam_in_one_step(scheme, across, e, drive):
    """It comes through the top of one tile and is in the other at the end: no wall stands between them."""

    def driven(*tiles):
        along = (1.0, 0.0), lambda t: drive * t
        return [di.MovingObstacle(each, translation=along) if drive else each for each in tiles]

    start = [-across * 15.9e-3, 2.0 * 15.7e-3], [across + drive, -2.0]  # the floor after 15.7 steps
    law = {"t_end": 0.03, "scheme": scheme, "gravity": 0.0, "restitution": e}
    one = thrown(driven(box(-5, 5)), *start, **law)
    tiles = thrown(driven(box(-1, 0), box(0, 2)), *start, **law)
    assert tiles["u"] == pytest.approx(one["u"], abs=1e-12)


@EVERY
def test_a_point_on_an_edge_waits_for_the_side_that_comes(scheme):
    """A platen as wide as what it touches begins to push: its corner takes the point along."""
    platen = di.MovingObstacle(box(-1, 0, 0, 1), translation=((1.0, 0.0), lambda t: t))
    run = thrown(platen, [0.0, 1.0], [0.0, 0.0], t_end=0.1, scheme=scheme, gravity=0.0)
    assert run["u"][-1] == pytest.approx([0.1, 1.0], abs=1e-3) and run["r"].sum() == pytest.approx(1.0)


def test_an_impact_on_an_edge_at_the_start_is_that_of_one_side():
    """Thrown against the side at its upper corner, under gravity: the balance knows which side it was."""
    run = thrown(box(0, 1), [0.0, 0.0], [1.0, 0.0], t_end=0.1)
    assert run["u"][-1, 0] == 0.0 and run["u"][-1, 1] < -0.04
    assert run["contact"][-1] == pytest.approx(-0.5) and np.abs(run["residual"]).max() < 1e-13


@pytest.mark.parametrize(
    "floor",
    [
        di.MovingObstacle(di.UnionObstacle([box(-1, 2)]), translation=((1.0, 0.0), lambda t: 0.0)),
        [box(-1, 2), box(1.5, 3.0, -1e-3)],
    ],
)
def test_unions_of_one_that_move_and_thin_flush_plates_carry(floor):
    run = thrown(floor, [1.9995, 0.03], [0.0, 0.0], t_end=0.12)
    assert run["u"][-1, 1] == pytest.approx(0.0, abs=3e-3)


@pytest.mark.parametrize("scheme, height", [(di.CDLagrange, 1e-3), (di.MoreauJean, 0.05)])
def test_a_higher_box_next_to_a_floor_stops_a_sliding_point(scheme, height):
    run = thrown(
        [box(-3, 0), box(0, 3, -1.0, height)], [-0.1003, 1e-3], [1.0, 0.0], t_end=0.12, scheme=scheme
    )
    assert run["u"][-1] == pytest.approx([0.0, 0.0], abs=1.5e-3) and run["v_t"][-1, 0] == 0.0


@EVERY
def test_a_wall_on_a_floor_stops_a_sliding_point(scheme):
    union = di.UnionObstacle([box(-3, 3), box(0.5, 1.0, 0.0, 1.0)])
    run = thrown(union, [0.4, 1e-3], [1.0, 0.0], t_end=0.15, scheme=scheme)
    assert run["u"][-1, 0] == pytest.approx(0.5, abs=1.5e-3) and run["v_t"][-1, 0] == 0.0
    assert run["u"][-1, 1] == pytest.approx(0.0, abs=2e-3)


@EVERY
def test_a_point_falls_down_a_step_and_off_an_edge(scheme):
    union = di.UnionObstacle([box(-3, 0), box(-1, 1, -2.0, -0.5)])
    run = thrown(union, [-0.1, 1e-3], [3.0, 0.0], t_end=0.5, scheme=scheme)
    landed = np.abs(run["t"] - 0.36).argmin()
    assert run["u"][landed] == pytest.approx([0.98, -0.5], abs=5e-3)
    assert run["u"][-1, 1] < -0.55 and run["u"][-1, 0] == pytest.approx(1.4, abs=0.01)


def test_a_bouncing_point_hops_over_a_seam():
    union = di.UnionObstacle([box(-3, 0), box(0, 3)])
    run = thrown(union, [-0.1, 0.02], [1.0, 0.0], t_end=0.2, restitution=0.9)
    one = thrown(box(-3, 3), [-0.1, 0.02], [1.0, 0.0], t_end=0.2, restitution=0.9)
    assert run["u"] == pytest.approx(one["u"], abs=1e-12)


@pytest.mark.parametrize("scheme", [di.Carpenter, di.PaoliSchatzman])
def test_contact_at_position_level_knows_sides_too(scheme):
    run = thrown(di.UnionObstacle(FLOORS["tiles"]), scheme=scheme, **{**SLIDING, "t_end": 0.1})
    assert run["u"][-1] == pytest.approx([0.10002, 0.0], abs=1e-9)


def test_tiles_in_space_and_a_drum():
    tiles = di.UnionObstacle(
        [
            di.Box.between((-1, -1, -1), (0, 1, 0)),
            di.Box.between((0, -1, -1), (1, 1, 0)),
            di.Cylinder((0.3, 0.0, -1.0), (0.0, 0.0, 1.0), 0.2, length=1.0),
        ]
    )
    run = thrown(tiles, [-0.39995, 0.05, 1e-3], [4.0, 0.4, 0.0], t_end=0.2)
    assert run["u"][-1] == pytest.approx([0.40005, 0.13, 0.0], abs=1e-3)


def footprint(scheme, width=1.0):
    """A block of nu = 0 on a box as wide as itself: the foot's displacements after a while under gravity."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [4, 4], dmesh.CellType.quadrilateral)
    facets = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[1], 0.0))
    tags = dmesh.meshtags(mesh, 1, facets, np.ones(facets.size, np.int32))
    body = di.Solid(
        di.NamedMesh(mesh, None, tags, {"foot": (1, 1)}),
        density=1000.0,
        law=di.LinearElastic(1e6, 0.0),
        gravity=(0.0, -9.81),
    )
    contact = di.RigidContact(body, "foot", box(0.5 - 0.5 * width, 0.5 + 0.5 * width))
    s = scheme(body, 0.5 * body.critical_time_step(), contact=contact)
    s.start(0.0, 0.0)
    run = di.simulate(s, t_end=100 * s.dt, progress=False)
    return run, run["u"][-1]


@EVERY
def test_equal_footprints_rest_flat(scheme):
    run, sunk = footprint(scheme)
    wide, _ = footprint(scheme, 1.2)
    assert sunk == pytest.approx(sunk[0], abs=1e-14)
    assert run["r"].sum() == pytest.approx(wide["r"].sum(), rel=1e-12)


@pytest.mark.mpi
def test_the_sides_are_kept_in_checkpoints(shared_path):
    floor = di.UnionObstacle(FLOORS["tiles"])

    def scheme():
        body = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
        s = di.CDLagrange(body, 1e-3, contact=di.ObstacleContact(body, [[0, 1]], floor))
        s.start([-0.002, 1e-4], [0.5, -1.0])
        return s

    first, second = scheme(), scheme()
    for _ in range(4):  # closed, just before the seam
        first.step()
    checkpoint.save(shared_path / "seam.ckpt", first)
    checkpoint.load(shared_path / "seam.ckpt", second)
    for _ in range(10):
        first.step()
        second.step()
        assert np.array_equal(first.u, second.u) and np.array_equal(first.r, second.r)
    assert first.u[1] > -2e-3


def test_nothing_but_a_step_changes_what_is_held():
    body = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    contact = di.ObstacleContact(body, [[0, 1]], di.UnionObstacle(FLOORS["overlap"]))
    s = di.CDLagrange(body, 1e-3, contact)
    s.start([-0.15, 1e-4], [0.5, -1.0])
    for _ in range(150):
        s.step()
        before = s.gap().copy()
        contact.gap(np.array([1.9, -0.9]))
        assert np.array_equal(s.gap(), before)
    assert s.u[1] > -2e-3


@pytest.mark.parametrize("thickness", [9e-3, 5e-3])
def test_thin_plates_push_and_what_jumps_over_them_is_said(thickness):
    """A plate at 5 m/s and steps of 5 mm: what comes in is carried by the side it came through."""
    body = di.PointMasses([1.0, 1.0])
    plate = di.MovingObstacle(box(-1, 1, -1 - thickness, -1.0), translation=((0.0, 1.0), lambda t: 5.0 * t))
    contact = di.ObstacleContact(body, [[0, 1]], plate)
    s = di.CDLagrange(body, 1e-3, contact)
    with pytest.warns(UserWarning, match="more than half the thickness"):
        s.start([0.0, -0.999], [0.0, 0.0])
    run = di.simulate(s, t_end=0.1, progress=False)
    assert run["r"].sum() == pytest.approx(5.0, rel=1e-6)
    with pytest.warns(UserWarning, match="they may jump over it"):
        s.start([0.0, 1e-4], [0.0, -30.0])
    with pytest.raises(RuntimeError, match="a point jumps over the obstacle in one step, .* smaller time"):
        di.simulate(s, t_end=0.1, progress=False)


def test_a_square_that_jumps_over_a_plate_is_seen():
    square = di.RigidBody.square(0.2, 1000.0)
    s = di.CDLagrange(square, 1e-3, di.RigidBodyContact(square, box(-1, 2, -0.005)))
    with pytest.warns(UserWarning, match="more than half the thickness"):
        s.start([0.5, 0.3, 0.0], [0.0, -30.0, 0.0])
    with pytest.raises(RuntimeError, match="jumps over"):
        di.simulate(s, t_end=0.1, progress=False)


@pytest.mark.mpi
def test_a_jump_ends_a_loop_of_ones_own_on_all_ranks():
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [2, 2], dmesh.CellType.quadrilateral)
    facets = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[1], 0.0))
    tags = dmesh.meshtags(mesh, 1, facets, np.ones(facets.size, np.int32))
    named = di.NamedMesh(mesh, None, tags, {"foot": (1, 1)})
    body = di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.0))
    contact = di.RigidContact(body, "foot", di.Box.between((0.9, -1.0), (1.1, -0.999)))  # under one corner
    s = di.CDLagrange(body, 0.1 * body.critical_time_step(), contact)
    with pytest.warns(UserWarning) if COMM.rank == 0 else contextlib.nullcontext():
        s.start(0.0, [0.0, -10.0])
    with pytest.raises(RuntimeError, match="jumps over"):
        for _ in range(300):
            s.step()


@pytest.mark.mpi
@pytest.mark.parametrize("radius", [1e-2, 5e-5])
def test_a_small_sphere_that_is_jumped_over_is_seen(radius):
    body = di.PointMasses([1.0, 1.0])
    contact = di.ObstacleContact(body, [[0, 1]], di.Sphere((0.0, 0.0), radius))
    s = di.CDLagrange(body, 1e-3, contact)
    with pytest.warns(UserWarning, match="more than half the thickness"):
        s.start([-0.1, 0.0], [35.0, 0.0])
    with pytest.raises(RuntimeError, match="jumps over"):
        di.simulate(s, t_end=0.1, progress=False)
    with pytest.warns(UserWarning):
        s.start([-0.1, 0.05], [35.0, 0.0])  # passes by
    assert di.simulate(s, t_end=0.02, progress=False)["r"].sum() == 0.0


def test_a_path_too_long_to_be_looked_at_is_told():
    body = di.PointMasses([1.0, 1.0])
    contact = di.ObstacleContact(body, [[0, 1]], di.Box.between((-1e-7, -1.0), (0.0, 1.0)))
    s = di.CDLagrange(body, 1e-3, contact)
    with pytest.warns(UserWarning, match="more than half the thickness"):
        s.start([-0.01, 0.0], [35.0, 0.0])
    with pytest.raises(RuntimeError, match="a point may jump over the obstacle"):
        di.simulate(s, t_end=0.1, progress=False)


@pytest.mark.parametrize("floor", [box(-1, 2), FLOORS["overlap"]])
def test_a_square_lands_on_the_rim_of_a_box(floor):
    """Its left corner 1 mm within, the right one past the rim: it tips over; with both within it stays."""
    square = di.RigidBody.square(0.2, 1000.0, gravity=(0.0, -9.81))
    contact = di.RigidBodyContact(square, floor)
    s = di.CDLagrange(square, 1e-3, contact)
    falling = [0.0, -1.4, 0.0]
    s.start([1.799, 0.203, 0.0], falling)
    run = di.simulate(s, t_end=0.15, progress=False)
    assert s.u[1] == pytest.approx(0.2, abs=3e-3) and abs(s.u[2]) < 1e-2
    s.start([2.199, 0.203, 0.0], falling)
    run = di.simulate(s, t_end=0.05, progress=False)
    assert run["r"].sum() > 0 and s.v[2] < -1.0
    s.start([2.201, 0.203, 0.0], falling)
    assert di.simulate(s, t_end=0.05, progress=False)["r"].sum() == 0.0
