"""Bodies that touch at one node start; those that overlap do not."""

import re

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.benchmark.boxes import box

TRIANGLE, QUADRILATERAL, HEXAHEDRON = (
    getattr(dmesh.CellType, name) for name in ("triangle", "quadrilateral", "hexahedron")
)
RADIUS, SIDE = 5e-3, 6e-3
#: Dimension, whether axisymmetric, cells, degree; cells across ball and plate; density of the plate, of which
#: the heavier side is the master. Those of degree 2 and 3 have weighted gaps below zero.
BODIES = [
    (2, False, TRIANGLE, 1, 16, 21, 0.1),
    (2, False, QUADRILATERAL, 2, 16, 21, 10.0),
    (2, True, TRIANGLE, 1, 16, 21, 10.0),
    (2, True, QUADRILATERAL, 1, 16, 21, 0.1),
    (2, True, QUADRILATERAL, 2, 8, 8, 10.0),
    (2, True, QUADRILATERAL, 3, 16, 21, 10.0),
    (3, False, HEXAHEDRON, 1, 6, 5, 0.1),
    (3, False, HEXAHEDRON, 2, 2, 4, 10.0),
]


def ball(dim, half, kind, n):
    """A ball, disc, or half of its section, that touches the origin with a node from above."""
    if dim == 2:
        cells = [n // 2 if half else n, n]
        mesh = dmesh.create_rectangle(
            MPI.COMM_WORLD, [[0.0 if half else -1.0, -1.0], [1.0, 1.0]], cells, kind
        )
    else:
        mesh = dmesh.create_box(MPI.COMM_WORLD, [[-1.0] * 3, [1.0] * 3], [n] * 3, kind)
    x = mesh.geometry.x
    squares = x[:, :dim] ** 2
    for k in range(dim):
        first, second = squares[:, (k + 1) % dim], squares[:, (k + 2) % dim]
        inside = 1 - first / 2 if dim == 2 else 1 - (first + second) / 2 + first * second / 3
        x[:, k] *= RADIUS * np.sqrt(inside)
    x[:, dim - 1] += RADIUS
    return mesh


def pair(dim, half, kind, degree, n, cells, density, lift=0.0):
    """A ball above a plate."""
    low, high = np.full(dim, -SIDE), np.full(dim, SIDE)
    low[-1], high[-1], low[0] = -2e-3, 0.0, 0.0 if half else -SIDE
    plate = box([low, high], [cells] * (dim - 1) + [2], kind)
    upper = ball(dim, half, kind, n)
    upper.geometry.x[:, dim - 1] += lift
    how = {"hypothesis": "axisymmetric"} if half else {}
    named = di.mesh.join({"ball": upper, "plate": plate})
    densities = {"ball": 7850.0, "plate": 7850.0 * density}
    return di.Solid(named, density=densities, law=di.LinearElastic(2.1e11, 0.3), degree=degree, **how)


def touching(body):
    return di.SurfaceContact(body, "ball/boundary", "plate/boundary")


def down(body):
    return body.rigid_velocity(-np.eye(body.gdim)[-1], cells="ball")


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", BODIES, ids=str)
def test_one_node_that_touches_starts(kind):
    """It moves by a part of a cell: contact has begun to push by then, and the ball is slower."""
    body = pair(*kind)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=touching(body))
    s.start(0.0, 3e-4 / (20 * s.dt) * down(body))
    total = 0.0
    for _ in range(20):
        s.step()
        total += body.comm.allreduce(s.r.sum())
    assert total > 0.0


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("depth", [1e-7, 1e-3])
@pytest.mark.parametrize("kind", BODIES[::2], ids=str)
def test_an_overlap_is_refused(kind, depth):
    """The depth in the message is that of a node of the slave side, or the mean around one."""
    body = pair(*kind, lift=-depth)
    with pytest.raises(ValueError, match="surfaces 'ball/boundary' and 'plate/boundary'.* m inside") as found:
        touching(body)
    told = float(re.search(r", ([0-9.e-]+) m inside", str(found.value))[1])
    assert 0.2 * depth < told <= depth


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", [BODIES[2], BODIES[4]], ids=str)
def test_in_a_list_of_contacts(kind):
    """With a floor, which has rows of its own: that too refuses what lies inside it, and nothing else."""
    body = pair(*kind)
    up, bottom = np.eye(2)[-1], np.array([0.0, -2e-3])
    contacts = [touching(body), di.RigidContact(body, "plate/bottom", di.Plane(bottom, up))]
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contacts)
    s.start(0.0, down(body))
    u = 1e-6 * down(body)
    with pytest.raises(ValueError, match="surfaces.* m inside"):
        s.start(u, 0.0)
    sunk = body.rigid_velocity(-1e-6 * up)
    with pytest.raises(ValueError, match="contains contact points at the start.* 1e-06 m inside"):
        s.start(sunk, 0.0)


def test_a_node_that_touches_an_obstacle():
    """The gap of a node to an obstacle is no weighted one: it starts at zero, not below."""
    body = pair(*BODIES[4])
    for depth in (0.0, 1e-7):
        plane = di.Plane((0.0, depth), (0.0, 1.0))
        if depth == 0.0:
            assert di.RigidContact(body, "ball/boundary", plane).total > 0
        else:
            with pytest.raises(ValueError, match="1e-07 m inside"):
                di.RigidContact(body, "ball/boundary", plane)
