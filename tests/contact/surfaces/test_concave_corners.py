"""Corners of rooms and of what stands in them: a node has a row for each wall, as against planes."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from support.colliding import COMM, block
from support.parts import nodes_in
from support.surfaces import largest, momenta, total, turn

import dolfinx_impact as di
from dolfinx_impact import _compat
from dolfinx_impact.benchmark.boxes import disc

LAW = di.LinearElastic(1e5, 0.0)


def cut(mesh, kept):
    """The cells of a mesh with all corners in a region, as a mesh."""
    d = mesh.topology.dim
    inside = dmesh.locate_entities(mesh, d, kept)
    inside = inside[inside < mesh.topology.index_map(d).size_local]
    corners = _compat.geometry_dofmap(mesh)[inside]
    x = np.concatenate(COMM.allgather(mesh.geometry.x[corners, :d].reshape(-1, d)))
    nodes, cells = np.unique(np.round(x, 12), axis=0, return_inverse=True)
    cells, first = cells.reshape(-1, corners.shape[1]), COMM.rank == 0
    count = len(cells) if first else 0
    return dmesh.create_mesh(
        COMM,
        cells=cells[:count].astype(np.int64),
        x=np.ascontiguousarray(nodes[: len(nodes) if first else 0]),
        e=mesh.ufl_domain(),
    )


def thrown(parts, planes, v, *, friction=0.0, steps=120, g=0.0, **options):
    """Motion of the part ``a`` in a fixed room ``room``, of surfaces and of planes, and sums of impulses."""
    body = di.Solid(
        di.mesh.join(parts), law=LAW, density=1000.0, fixed=["room/boundary"], gravity=g or None, **options
    )
    contacts = [
        di.SurfaceContact(body, "a/boundary", "room/boundary", friction=friction),
        di.RigidContact(body, "a/boundary", di.UnionObstacle(planes), friction=friction),
    ]
    ends = []
    for contact in contacts:
        s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
        s.start(0.0, body.rigid_velocity(v, cells="a"))
        impulse = 0.0
        for _ in range(steps):
            s.step()
            impulse += total(s.r.sum())
        ends.append((s.u[: body.owned].copy(), impulse))
    return ends


def compare(ends, bound, of_impulses=None):
    (u, impulse), (of_planes, expected) = ends
    assert expected > 0.0 and impulse == pytest.approx(expected, rel=of_impulses or bound)
    assert largest(u - of_planes) <= bound * largest(of_planes)


def walls(*corner):
    """Planes through a corner that face the positive directions."""
    return [di.Plane(corner, n) for n in np.eye(len(corner))]


def room(low, high, cells, corner, kind=None):
    """A box without its part beyond a corner."""
    return cut(
        block(low, high, cells, kind),
        lambda x: np.any([x[k] < c + 1e-9 for k, c in enumerate(corner)], axis=0),
    )


def angle():
    return room((-0.1, -0.1), (0.3, 0.2), (8, 6), (0.0, 0.0))


@pytest.mark.mpi
@pytest.mark.parametrize("degree", [1, 2])
def test_a_block_in_the_corner_of_an_angle_is_between_two_planes(degree):
    small = block((0.01, 1e-3), (0.11, 0.101), (3, 2))
    compare(thrown({"a": small, "room": angle()}, walls(0.0, 0.0), (-1.0, -0.8), degree=degree), 1e-11)


def among_three_walls(kind="hexahedron"):
    return {
        "a": block((5.3e-4, 1.1e-4, 2.3e-4), (0.10053, 0.10011, 0.10023), (2, 2, 2), kind),
        "room": room((-0.1,) * 3, (0.2,) * 3, (3, 3, 3), (0.0,) * 3, kind),
    }


@pytest.mark.parametrize("kind, bound", [("hexahedron", 1e-11), ("tetrahedron", 1e-6)])
def test_a_block_among_three_walls_is_among_three_planes(kind, bound):
    """Facets of tetrahedra tilt while they touch."""
    compare(thrown(among_three_walls(kind), walls(0.0, 0.0, 0.0), (-0.1, -0.08, -0.12), steps=60), bound)


@pytest.mark.parametrize("friction, bound", [(0.2, 1e-5), (0.5, 0.01)])
def test_friction_among_three_walls_is_solved(friction, bound):
    """The impulses are not unique where a node sticks at three walls; the motion is that among planes."""
    planes = walls(0.0, 0.0, 0.0)
    ends = thrown(among_three_walls(), planes, (-0.1, -0.08, -0.12), steps=60, friction=friction)
    compare(ends, bound, of_impulses=0.05)


def test_a_piston_in_a_cylinder():
    cylinder = cut(block((0.0, -0.1), (0.2, 0.2), (4, 6)), lambda x: (x[1] < 1e-9) | (x[0] > 0.1 - 1e-9))
    planes = [di.Plane((0.0, 0.0), (0.0, 1.0)), di.Plane((0.1, 0.0), (-1.0, 0.0))]
    parts = {"a": block((0.0, 1e-3), (0.0995, 0.12), (3, 4)), "room": cylinder}
    compare(thrown(parts, planes, (0.0, -1.0), hypothesis="axisymmetric"), 1e-11)


@pytest.mark.parametrize("rings", [1, 2])
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_coarse_wheel_in_a_groove(rings, friction):
    groove = room((-0.1, -0.1), (0.4, 0.4), (5, 5), (0.0, 0.0), "triangle")
    turn(groove, np.pi / 4, np.zeros(2))
    c = np.sqrt(0.5)
    planes = [di.Plane((0.0, 0.0), (-c, c)), di.Plane((0.0, 0.0), (c, c))]
    parts = {"a": disc(rings, 0.15, np.array([0.0, 0.218])), "room": groove}
    compare(thrown(parts, planes, (0.0, -1.0), steps=60, friction=friction), 0.01)


def falling(surface, law=LAW, **options):
    """A block that falls beside the wall of a light angle, whose nodes have the points."""
    low = di.named(
        angle(),
        base=lambda x: (x[1] < -0.1 + 1e-9) | (x[0] < -0.1 + 1e-9),
        floor=lambda x: np.isclose(x[1], 0.0) & (x[0] > -1e-9),
    )
    parts = di.mesh.join({"a": block((0.01, 1e-3), (0.11, 0.101), (3, 2)), "room": low})
    body = di.Solid(parts, law=law, density={"a": 1000.0, "room": 100.0}, **options)
    contact = di.SurfaceContact(body, "a/boundary", surface)
    mine = contact.assembly.mortar.nodes
    assert np.all(contact.facets.part[mine] == 1)
    return di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)


def test_a_wall_that_is_not_touched_does_nothing():
    """The angle has the points: with its wall and without it the block falls alike."""
    ends = []
    for surface in ("room/boundary", "room/floor"):
        s = falling(surface, fixed=["room/base"])
        s.start(0.0, s.system.rigid_velocity((0.0, -0.5), cells="a"))
        for _ in range(100):
            s.step()
        ends.append(s.u.copy())
    assert largest(ends[0] - ends[1]) <= 1e-13 and largest(ends[0]) > 5e-3


@pytest.mark.mpi
def test_momenta_of_a_block_in_a_free_angle():
    s = falling("room/boundary", di.NeoHookean(1e5, 0.0))
    s.start(0.0, s.system.rigid_velocity((-0.5, -0.4), cells="a"))
    (before, scale), pushed = momenta(s), np.zeros(2)
    for _ in range(200):
        s.step()
        pushed += _push(s)
    assert largest(momenta(s)[0] - before) <= 1e-13 * scale
    assert np.all(pushed > 0.01 * scale)


def _push(s):
    """Sum of the contact impulses on the block."""
    out = np.zeros(s.system.size)
    s.contact.L.add_transpose(s.r, out)
    owned, n = s.system.owned, nodes_in(s.system, "a")
    return total(out[:owned].reshape(-1, 2)[n[: owned // 2]].sum(axis=0))


def test_points_of_a_corner_are_sorted_by_the_normals_of_its_sides():
    parts = di.mesh.join(
        {"a": block((0.01, 1e-3), (0.11, 0.101), (1, 1)), "b": block((0, -0.1), (0.3, 0.0), (3, 1))}
    )
    body = di.Solid(parts, law=LAW, density={"a": 1.0, "b": 100.0})
    contact = di.SurfaceContact(body, "a/boundary", "b/boundary", allow_penetration=True)
    pair = contact.assembly.mortar
    assert pair.nodes.size == 8
    x, n = contact.places(np.zeros(body.size))[:8], pair.normals
    order = np.lexsort((*np.column_stack([x, n]).round(6).T[::-1],))
    rank = np.lexsort(contact.L.order[:8].T[::-1])
    assert np.all(x[order] == x[rank]) and np.all(n[order] == n[rank])


def test_sides_of_a_corner_that_meets_a_flat_surface_share_a_row():
    """A square that stands on a corner has one row there, with the normal of the floor."""
    square = block((-0.05, 0.03), (0.05, 0.13), (1, 1))
    turn(square, np.deg2rad(40.0), np.array([0.0, 0.08]))
    square.geometry.x[:, 1] -= square.geometry.x[:, 1].min() - 1e-6
    parts = di.mesh.join({"a": square, "b": block((-0.2, -0.1), (0.2, 0.0), (3, 1))})
    body = di.Solid(parts, law=LAW, density=1000.0, fixed=["b/boundary"])
    contact = di.SurfaceContact(body, "a/boundary", "b/boundary")
    gap = contact.evaluate(np.zeros(body.size))
    low = np.isclose(contact.places(np.zeros(body.size))[:, 1], 1e-6)
    assert low.sum() >= 2 and np.isfinite(gap[low]).sum() == 1
    assert gap[low].min() == pytest.approx(1e-6, rel=1e-4)
    assert contact.L.normals()[low & np.isfinite(gap)] == pytest.approx(np.array([[0.0, 1.0]]), abs=5e-3)


def test_a_tie_has_one_point_for_each_node():
    """A block glued into the corner of an angle: the nodes of the corner are glued once."""
    parts = {"a": block((0.0, 0.0), (0.1, 0.1), (2, 2)), "room": angle()}
    body = di.Solid(di.mesh.join(parts), law=LAW, density={"a": 1.0, "room": 100.0})
    tie = di.SurfaceContact(body, "a/boundary", "room/boundary", tie=True)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=tie)
    s.start(0.0, body.rigid_velocity((-0.5, -0.4), cells="a"))
    (before, scale) = momenta(s)
    for _ in range(50):
        s.step()
    assert tie.count == 2 * 8 and s.contact_iterations <= 60
    assert largest((momenta(s)[0] - before)[:2]) <= 1e-13 * scale and largest(tie.L(s.v)) <= 1e-12
