"""Singular-mass CD-Lagrange: contact nodes without mass, in static equilibrium."""

import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from support import dense_singular as dense

COMM = MPI.COMM_WORLD
CELL = dmesh.CellType
DENSITY = 1100.0
serial = pytest.mark.skipif(COMM.size > 1, reason="the dense program has one rank")


@functools.cache
def block(kind, size):
    """A box of cells, its lower side named."""
    make = dmesh.create_rectangle if len(size) == 2 else dmesh.create_box
    cells = make(COMM, [np.zeros(len(size)), 0.1 * np.array(size) / max(size)], size, kind)
    d = len(size)
    low = np.sort(dmesh.locate_entities_boundary(cells, d - 1, lambda x: np.isclose(x[d - 1], 0.0)))
    tags = dmesh.meshtags(cells, d - 1, low, np.ones(low.size, np.int32))
    return di.NamedMesh(cells, None, tags, {"low": (d - 1, 1)})


def falling(law, kind=CELL.quadrilateral, size=(4, 3), friction=0.3, obstacle=None, courant=0.5, **body):
    """A block that falls askew onto a floor, started."""
    up = np.eye(len(size))[-1]
    solid = di.Solid(block(kind, size), density=DENSITY, law=law, **body)
    floor = di.Plane(-1e-4 * up, up) if obstacle is None else obstacle
    wall = di.RigidContact(solid, "low", floor, friction=friction)
    s = di.CDLagrangeSingular(solid, courant * solid.critical_time_step(), wall)
    spin = 4.0 if len(size) == 2 else (0.0, 4.0, 3.0)
    s.start(0.0, solid.rigid_velocity([1.0] + [0.0] * (len(size) - 2) + [-3.0], spin=spin))
    return s


def turning():
    """A floor that rises and turns, for both programs."""
    angle, rate = (lambda t: 4.0 * t + 30.0 * t**2), (lambda t: 4.0 + 60.0 * t)
    start, velocity = np.array([0.05, -1e-4]), np.array([0.5, 0.3])
    floor = di.MovingObstacle(
        di.Plane(start, (0.0, 1.0)),
        translation=lambda t: velocity * t,
        translation_rate=lambda t: velocity,
        rotation=angle,
        rotation_rate=rate,
        center=start,
    )
    return floor, dense.Plane(lambda t: start + velocity * t, angle, lambda t: velocity, rate)


def still():
    return None, dense.Plane(lambda t: np.array([0.0, -1e-4]))


@serial
@pytest.mark.parametrize(
    "kind, floor, law, energy",
    [
        (CELL.quadrilateral, still, di.LinearElastic, dense.linear),
        (CELL.triangle, turning, di.NeoHookean, dense.neo_hookean),
        (CELL.quadrilateral, turning, di.NeoHookean, dense.neo_hookean),
    ],
)
def test_steps_are_those_of_a_dense_program(kind, floor, law, energy):
    obstacle, plane = floor()
    s = falling(law(1e6, 0.3), kind, obstacle=obstacle, size=(3, 2))
    nodes, steps = s.contact.L.dofs[:, 0] // 2, 16
    order = np.argsort(nodes)
    other = dense.DenseSingular(s.body, DENSITY, energy(1e6, 0.3), nodes, plane, 0.3, s.dt)
    assert s.system.mass == pytest.approx(other.mass, rel=1e-14)
    touched = slid = 0
    for n, (u, v, lam) in enumerate(other.run(s.v_start.copy(), steps), 1):
        s.step()
        normal = plane.normal(n * s.dt)
        tangential = s.r_t[order] @ [-normal[1], normal[0]]
        scale = 1e6 * 0.1 * s.dt
        assert s.u == pytest.approx(u, abs=1e-12)
        assert s.v == pytest.approx(v, abs=1e-8)
        assert s.r[order] == pytest.approx(s.dt * lam[:, 0], abs=1e-10 * scale)
        assert tangential == pytest.approx(s.dt * lam[:, 1], abs=1e-10 * scale)
        touched += np.count_nonzero(lam[:, 0])
        slid += np.count_nonzero((lam[:, 0] > 0) & (np.abs(lam[:, 1]) < 0.3 * lam[:, 0]))
    assert touched > 10 and 0 < slid < touched  # points stick and slip
