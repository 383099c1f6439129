"""The rigid part of motions that are known: rigid ones, stretched ones, parts of a mesh."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.restarts import block

import dolfinx_impact as di
from dolfinx_impact.output import displacements_from_rigid

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD
LAW = di.NeoHookean(1e6, 0.3)
KINDS = {2: (dmesh.CellType.triangle, (3, 4)), 3: (dmesh.CellType.tetrahedron, (2, 3, 4))}
VELOCITY = {2: [1.0, -2.0], 3: [1.0, -2.0, 3.0]}
SPIN = {2: [7.0], 3: [4.0, -5.0, 6.0]}


def body(dim, **options):
    return di.Solid(block(*KINDS[dim]), density=1000.0, law=LAW, **options)


def turned(dim, angle=2.0):
    """Rotation about the last axis."""
    rotation = np.eye(dim)
    rotation[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return rotation


def displaced(solid, gradient, shift):
    """Displacements that take every node x to ``gradient x + shift``."""
    x = solid.x[:, : solid.block]
    return (x @ np.asarray(gradient).T + shift - x).ravel()


@pytest.mark.parametrize("dim", KINDS)
def test_velocity_and_spin_of_a_rigid_motion(dim):
    """About the center of mass of the displaced body, wherever that is."""
    solid, rotation = body(dim), turned(dim)
    u = displaced(solid, rotation, np.arange(1.0, dim + 1))
    at_rest = solid.rigid_velocity(VELOCITY[dim], SPIN[dim])
    local = at_rest.reshape(-1, dim) @ rotation.T
    motion = di.rigid_motion(solid, u, local.ravel())
    spin = SPIN[dim] if dim == 2 else rotation @ SPIN[dim]
    assert motion.velocity == pytest.approx(rotation @ VELOCITY[dim], rel=1e-12)
    assert motion.spin == pytest.approx(spin, rel=1e-12)


def test_vibrations_that_have_no_momentum_do_not_count():
    solid = body(3)
    v = solid.rigid_velocity(VELOCITY[3], SPIN[3])
    x = solid.x[: solid.owned // 3]
    mass = solid.mass[::3]
    center = COMM.allreduce(mass @ x) / COMM.allreduce(mass.sum())
    v[: solid.owned] += 30.0 * (x - center).ravel()
    motion = di.rigid_motion(solid, np.zeros(solid.size), v)
    assert motion.velocity == pytest.approx(VELOCITY[3], rel=1e-12)
    assert motion.spin == pytest.approx(SPIN[3], rel=1e-11)


def test_parts_of_a_joined_mesh_move_each_for_itself():
    def rectangle(left):
        corners = [[left, 0.0], [left + 1.0, 0.5]]
        return dmesh.create_rectangle(COMM, corners, [4, 2], dmesh.CellType.quadrilateral)

    joined = di.mesh.join({"left": rectangle(0.0), "right": rectangle(1.2)})
    solid = di.Solid(joined, density=1000.0, law=LAW)
    v = solid.rigid_velocity([1.0, 0.0], cells="left") + solid.rigid_velocity([0.0, 2.0], 3.0, cells="right")
    at_rest = np.zeros(solid.size)
    for part, velocity, spin in (("left", [1.0, 0.0], 0.0), ("right", [0.0, 2.0], 3.0)):
        motion = di.rigid_motion(solid, at_rest, v, cells=part)
        assert motion.velocity == pytest.approx(velocity, abs=1e-13)
        assert motion.spin == pytest.approx([spin], abs=1e-13)
    both = di.rigid_motion(solid, at_rest, v)
    assert both.velocity == pytest.approx([0.5, 1.0], rel=1e-12)
    # Angular momentum about the middle: 2 m v a, with the arm a = 0.6 m, and the spin of the right one.
    side = 1000.0 * 0.5
    mass = solid.mass[::2]
    arm = solid.x[: solid.owned // 2, :2] - [1.1, 0.25]
    inertia = COMM.allreduce(float(mass @ np.sum(arm**2, axis=1)))
    own = inertia / 2 - side * 0.6**2
    assert both.spin == pytest.approx([(side * 2.0 * 0.6 + own * 3.0) / inertia], rel=1e-12)


@pytest.mark.parametrize("dim", KINDS)
def test_rigid_displacements_leave_nothing(dim):
    solid = body(dim)
    u = displaced(solid, turned(dim), np.arange(1.0, dim + 1))
    assert np.abs(displacements_from_rigid(solid, u)).max(initial=0.0) < 1e-13


@pytest.mark.parametrize("dim", KINDS)
def test_a_stretch_is_seen_in_the_directions_of_the_start(dim):
    """The stretch along a principal axis of inertia of a body that has turned and flown is its own."""
    solid = body(dim)
    mass, x = solid.mass[::dim], solid.x[: solid.owned // dim, :dim]
    arm = x - COMM.allreduce(mass @ x) / COMM.allreduce(mass.sum())
    axis = np.linalg.eigh(COMM.allreduce((mass[:, None] * arm).T @ arm))[1][:, 0]
    stretch = 0.01 * np.outer(axis, axis)
    u = displaced(solid, turned(dim) @ (np.eye(dim) + stretch), np.full(dim, 2.0))
    assert displacements_from_rigid(solid, u) == pytest.approx(arm @ stretch, abs=1e-13)
    assert COMM.allreduce(np.abs(arm @ stretch).max(initial=0.0), op=MPI.MAX) > 1e-4


def test_the_best_rigid_motion_is_no_reflection():
    """A body that is nearly flat, as one that is turned inside out: what remains is no mirror image."""
    solid = body(2)
    mirrored = displaced(solid, np.diag([1.0, -1.0]), np.zeros(2))
    left = displacements_from_rigid(solid, mirrored)
    assert COMM.allreduce(np.abs(left).max(initial=0.0), op=MPI.MAX) > 0.01


@pytest.mark.parametrize("kind", ["line", "revolution"])
def test_bodies_without_a_spin_are_refused(kind):
    if kind == "line":
        solid = di.Solid(dmesh.create_interval(COMM, 8, [0.0, 1.0]), density=1.0, law=di.LinearElastic(1.0))
    else:
        solid = body(2, hypothesis="axisymmetric")
    zero = np.zeros(solid.size)
    for work in (lambda: di.rigid_motion(solid, zero, zero), lambda: displacements_from_rigid(solid, zero)):
        with pytest.raises(ValueError, match="a rigid motion with a spin is that of a body of cells"):
            work()
