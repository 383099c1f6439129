"""Equilibrium of bodies whose contacts are all closed, against exact solutions and dense algebra."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import NamedMesh, Plane, RigidContact, Sphere, mesh, statics
from dolfinx_impact.benchmark.cases.bridge_crane import model as crane

E, RHO, LENGTH, AREA, WEIGHT = 3e9, 1200.0, 2.0, 0.01, 1200.0 * 2.0 * 0.01 * 9.81


def read(dimension, **parameters):
    pytest.importorskip("gmsh")
    given = {"length": LENGTH, "side": np.sqrt(AREA), "dimension": dimension, **parameters}
    return mesh.read(mesh.package_mesh("bar.geo"), gdim=dimension, parameters=given, comm=MPI.COMM_SELF)


def column(dimension=1, normal=1.0, floor=0.0, elements=5, **options):
    """A bar along x on a floor below, its weight along -x."""
    axis = np.eye(dimension)[0]
    body = di.Solid(
        read(dimension, elements=elements, **({"lateral": 2} if dimension > 1 else {})),
        density=RHO,
        law=di.LinearElastic(E, 0.0 if dimension == 1 else 0.3),
        cross_section=AREA if dimension == 1 else 1.0,
        gravity=-9.81 * axis,
        **options,
    )
    return body, RigidContact(body, "contact", Plane(floor * axis, normal * axis), allow_penetration=True)


def unbalanced(body, contact, u, r):
    """Forces that nothing takes, free dofs."""
    f = np.zeros(body.size)
    body.force(0.0, u, np.zeros(body.size), f)
    contact.L.add_transpose(r, f)
    return np.where(body.constrained, 0.0, f)


@pytest.mark.mpi
@given(floor=st.floats(-1e-3, 1e-3), elements=st.integers(1, 30))
@examples(8)
def test_column_on_a_floor(floor, elements):
    """Nodes are exact: u = floor - rho g (L x - x^2/2) / E, and the floor carries the weight."""
    body, wall = column(floor=floor, elements=elements)
    u, r = statics.tied_equilibrium(body, wall)
    x = body.x[:, 0]
    assert u == pytest.approx(floor - RHO * 9.81 * (LENGTH * x - x**2 / 2) / E, rel=1e-11, abs=1e-17)
    assert r == pytest.approx([WEIGHT], rel=1e-10)
    assert wall.gap(u) == pytest.approx([0.0], abs=1e-16)


@pytest.mark.mpi
def test_block_against_dense_algebra():
    """Many contacts at once, sideways motion held; a solver of its own finds the same."""
    body, wall = column(3)
    corner = int(np.argmin(body.x @ [1.0, 2.0, 3.0]))
    other = int(np.argmax(body.x @ [-1.0, 2.0, -1.0]))
    hold = [3 * corner + 1, 3 * corner + 2, 3 * other + 2]
    u, r = statics.tied_equilibrium(body, wall, hold=hold)
    free = np.setdiff1d(np.arange(body.size), hold)
    K = body.stiffness.scipy().toarray()[np.ix_(free, free)]
    L = np.zeros((wall.count, body.size))
    for row, dofs, weights in zip(L, wall.L.dofs, wall.L.weights):
        np.add.at(row, dofs, weights)
    L = L[:, free]
    size = np.sqrt(np.diag(K).max())
    matrix = np.block([[K / size**2, -L.T], [L, np.zeros((wall.count, wall.count))]])
    right = np.concatenate([body.loads.constant[free] / size**2, -wall.gap(np.zeros(body.size))])
    x = np.linalg.solve(matrix, right)
    assert u[free] == pytest.approx(x[: free.size], abs=1e-10 * np.abs(u).max())
    assert r == pytest.approx(size**2 * x[free.size :], rel=1e-8)
    assert r.sum() == pytest.approx(WEIGHT, rel=1e-10) and np.all(r > 0)
    assert np.abs(wall.gap(u)).max() < 1e-15 and not u[hold].any()
    assert np.abs(unbalanced(body, wall, u, r)).max() < 1e-10 * WEIGHT


@pytest.mark.parametrize("trolley, refine", [(0.0, 1), (4.0, 1), (-7.3, 1), (0.0, 2)])
def test_crane(trolley, refine):
    """Symmetric in y: the trolley's weight on four wheels, its rigid motions take no force."""
    named = crane.crane_mesh(trolley=trolley, refine=refine)
    frame = crane.crane_frame(named)
    wheels = crane.wheels(frame, gap0=0.0)
    hold = crane.horizontal_hold(frame)
    u, r = statics.tied_equilibrium(frame, wheels, hold=hold)
    assert r.sum() == pytest.approx(51500.0, rel=1e-9)
    assert r[0::2] == pytest.approx(r[1::2], rel=1e-9)
    assert np.abs(wheels.gap(u)).max() < 1e-17 and not u[frame.constrained].any()
    # Also where dofs are held: nothing pulls there.
    assert np.abs(unbalanced(frame, wheels, u, r)).max() < 1e-9 * 51500.0
    # Bending: 10 mm under the weights of girder and trolley in the middle, were the ends only held.
    assert -0.01 < u[2::6].min() < (-0.005 if trolley == 0 else -0.003)


def test_gaps_are_closed_by_the_equilibrium():
    """Wheels that are short or long bend the trolley, and carry more or less."""
    frame = crane.crane_frame(crane.crane_mesh())
    gap0 = np.array([1e-5, -1e-5, -1e-5, 1e-5])
    wheels = crane.wheels(frame, gap0=gap0)
    hold = crane.horizontal_hold(frame)
    u, r = statics.tied_equilibrium(frame, wheels, hold=hold)
    even = statics.tied_equilibrium(frame, crane.wheels(frame, gap0=0.0), hold=hold)[1]
    assert wheels.L(u) == pytest.approx(-gap0, abs=1e-17)
    assert r.sum() == pytest.approx(51500.0, rel=1e-9)
    assert np.all((r - even) * -gap0 > 1e-4)
    # Linear: the opposite gaps change the forces by the opposite.
    opposite = statics.tied_equilibrium(frame, crane.wheels(frame, gap0=-gap0), hold=hold)[1]
    assert opposite - even == pytest.approx(even - r, rel=1e-6)


def test_wheels_that_would_pull_are_refused():
    frame = crane.crane_frame(crane.crane_mesh())
    wheels = crane.wheels(frame, gap0=[0.1, -0.1, -0.1, 0.1])
    with pytest.raises(ValueError, match=r"contacts would have to pull to stay closed: their forces are \["):
        statics.tied_equilibrium(frame, wheels, hold=crane.horizontal_hold(frame))
    body, ceiling = column(normal=-1.0)
    with pytest.raises(ValueError, match="contacts would have to pull"):
        statics.tied_equilibrium(body, ceiling)


@pytest.mark.parametrize("kept", [[], [0], [0, 1], [0, 2], [1, 2]])
@pytest.mark.parametrize("refine", [1, 5])
def test_free_motion_is_found(kept, refine):
    """Rounding makes no matrix singular: still it is said that the trolley may roll away."""
    frame = crane.crane_frame(crane.crane_mesh(refine=refine))
    hold = crane.horizontal_hold(frame)
    with pytest.raises(ValueError, match="the body can move freely: hold dofs until"):
        statics.tied_equilibrium(frame, crane.wheels(frame, gap0=0.0), hold=[hold[i] for i in kept])


@pytest.mark.mpi
def test_a_block_that_may_slide_is_refused():
    body, wall = column(3)
    with pytest.raises(ValueError, match="the body can move freely"):
        statics.tied_equilibrium(body, wall)


@pytest.mark.parametrize("hold", [[-1], [0, 12], [1000]])
def test_dofs_that_do_not_exist_are_refused(hold):
    body, wall = column()
    with pytest.raises(ValueError, match=r"hold takes dofs 0 to 5, not \["):
        statics.tied_equilibrium(body, wall, hold=hold)


def test_curved_obstacles_are_refused():
    body, _ = column(3)
    ball = RigidContact(body, "contact", Sphere([-1.0, 0.0, 0.0], 1.0))
    with pytest.raises(ValueError, match="whole on one rank, with flat obstacles"):
        statics.tied_equilibrium(body, ball)


@pytest.mark.mpi
@pytest.mark.skipif(MPI.COMM_WORLD.size == 1, reason="needs several ranks")
def test_distributed_bodies_are_refused_on_all_ranks():
    line = dmesh.create_interval(MPI.COMM_WORLD, 20, [0.0, LENGTH])
    end = dmesh.locate_entities_boundary(line, 0, lambda x: x[0] < 1e-9)
    tags = dmesh.meshtags(line, 0, end, np.ones(end.size, dtype=np.int32))
    named = NamedMesh(line, None, tags, {"contact": (0, 1)})
    body = di.Solid(named, density=RHO, law=di.LinearElastic(E, 0.0))
    with pytest.raises(ValueError, match="a body whole on one rank"):
        statics.tied_equilibrium(body, RigidContact(body, "contact", Plane([0.0], [1.0])))
