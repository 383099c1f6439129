"""Descriptions of bodies, contacts, schemes and runs; runs that are refused at their start."""

import math

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.benchmark.case import run_end

COMM = MPI.COMM_WORLD


def bar(unit=1.0, modulus=2.1e11, elements=20):
    """A steel bar of 0.2 m; ``unit`` is what a metre is taken for, and ``modulus`` what steel's is."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [0.2 * unit, 0.02 * unit]], [elements, 2])
    ends = dmesh.locate_entities_boundary(mesh, 1, lambda x: x[0] < 1e-9)
    tags = dmesh.meshtags(mesh, 1, ends, 1 + 0 * ends)
    named = di.NamedMesh(mesh, None, tags, {"tip": (1, 1)})
    return di.Solid(named, density=7850.0, law=di.LinearElastic(modulus, 0.0), cross_section=0.02)


def test_bodies_say_their_size_their_mass_and_their_step():
    body = bar()
    assert "critical step not computed yet" in repr(body)
    step = body.critical_time_step()
    words = ["Solid: 63 nodes", "126 dofs", "extent 0.200998 m", "mass 0.628 kg", "wave speed 5172.19 m/s"]
    assert repr(body) == ", ".join([*words, f"critical step {step:.6g} s"])


def test_parts_of_a_mesh_count_their_own_nodes():
    mesh = dmesh.create_interval(COMM, 10, [0.0, 1.0])
    count = mesh.topology.index_map(1).size_local + mesh.topology.index_map(1).num_ghosts
    every = np.arange(count, dtype=np.int32)
    x = dmesh.compute_midpoints(mesh, 1, every)[:, 0]
    tags = dmesh.meshtags(mesh, 1, every, 1 + (x > 0.3).astype(np.int32))
    named = di.NamedMesh(mesh, tags, None, {"near": (1, 1), "far": (1, 2)})
    near, far = (di.Solid(named, cells=c, density=1.0, law=di.LinearElastic(4.0)) for c in ("near", "far"))
    assert (near.node_count, far.node_count, far.dof_count) == (4, 8, 8) and far.wave_speed == 2.0
    made = di.HATI(near, far, 0.5 * near.critical_time_step(), ratio=2)
    assert "explicit Solid: 4 nodes" in str(made) and "implicit Solid: 8 nodes" in str(made)


@pytest.mark.mpi
def test_one_rank_may_print_alone():
    """Nothing that is printed waits for other ranks."""
    body = bar()
    wall = di.RigidContact(body, "tip", di.Plane((-1e-4, 0.0), (1.0, 0.0)), friction=0.3)
    scheme = di.CDLagrange(body, 0.5 * body.critical_time_step(), wall)
    scheme.start(0.0, (-5.0, 0.0))
    run = di.simulate(scheme, t_end=20 * scheme.dt, progress=False)
    if COMM.rank == 0:
        said = [str(thing) for thing in (body, wall, scheme, run)]
        assert "RigidContact: 3 points, against Plane(point (-0.0001, 0), direction (1, 0))" in said[1]
        assert "friction 0.3" in said[1]
        assert "0.5 of the critical one, at t = " in said[2] and said[0] in said[2] and said[1] in said[2]
        assert run.summary() in said[3] and said[2] in said[3] and "21 samples of t, " in said[3]
        assert all("\n" not in repr(thing) and " at 0x" not in repr(thing) for thing in (body, wall, run))
    COMM.barrier()


@pytest.mark.parametrize(
    "thing, words",
    [
        (
            di.PointMasses([1.0, 2.0], stiffness=[[4.0, 0.0], [0.0, 4.0]], fixed=[1]),
            "PointMasses: 2 dofs, masses 1 to 2 kg, 1 constrained, length 1 m, critical step 1 s",
        ),
        (di.RigidBody(2.0, 3.0, [[0.0, 0.5]]), "RigidBody: 3 dofs, mass 2 kg, inertia 3 kg m2, length 0.5 m"),
        (di.Sphere((0.0, 1.0), 2.0, inside=True), "Sphere(center (0, 1), radius 2, inside True)"),
        (di.UnionObstacle([di.Plane([0.0], [1.0])]), "UnionObstacle(members Plane(point 0, direction 1))"),
    ],
)
def test_point_masses_and_shapes_say_their_numbers(thing, words):
    assert repr(thing) == words


@pytest.mark.parametrize("unit, modulus", [(1000.0, 2.1e11), (1.0, 210.0)], ids=["mm", "GPa"])
def test_units_that_are_mixed_end_in_words(unit, modulus):
    """Lengths in mm or a modulus in GPa beside SI units: the step is above the time of the whole run."""
    body = bar(unit, modulus)
    scheme = di.CDLagrange(body, 0.7 * body.critical_time_step())
    scheme.start(0.0, (-5.0, 0.0))
    with pytest.raises(ValueError, match=r"steps of .* s after t = 0 s: take a smaller step") as caught:
        di.simulate(scheme, t_end=1e-4, progress=False)
    for word in (f"extent {0.200998 * unit:.6g} m", "mass ", "wave speed ", "critical step "):
        assert word in str(caught.value)
    assert scheme.n == 0


@pytest.mark.parametrize("steps", [1e-6, 0.3, 0.5, 0.9, 1.4])
def test_an_end_that_one_step_misses_is_refused(steps):
    scheme = di.CDLagrange(di.PointMasses(1.0), 0.01)
    scheme.start(0.0, 1.0, t0=2.0)
    with pytest.raises(ValueError, match=f"is {steps:.3g} steps of 0.01 s after t = 2 s"):
        di.simulate(scheme, t_end=2.0 + steps * 0.01, progress=False)


def test_runs_of_a_step_and_ends_between_steps():
    scheme = di.CDLagrange(di.PointMasses(1.0), 0.01)
    scheme.start(0.0, 1.0)
    assert di.simulate(scheme, t_end=0.01, progress=False).steps == 1
    assert di.simulate(scheme, t_end=0.01 + 0.007, progress=False).steps == 1  # continued
    with pytest.raises(ValueError, match="is 0.4 steps of"):
        di.simulate(scheme, t_end=0.02 + 0.004, progress=False)
    assert di.simulate(scheme, t_end=0.0354, progress=False).steps == 2


def test_cases_of_the_benchmark_make_one_step_at_least():
    scheme = di.CDLagrange(di.PointMasses(1.0), 0.01)
    scheme.start(0.0, 1.0)
    assert [run_end(scheme, t) for t in (1e-9, 0.004, 0.0149)] == [0.01] * 3
    assert run_end(scheme, 0.016) == 0.016 and math.isclose(run_end(scheme, 5.0), 5.0)
