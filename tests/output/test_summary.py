"""The summary of a run tells the truth, and no more."""

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
QUAD = dmesh.CellType.quadrilateral


def rectangle(low, high, cells):
    return dmesh.create_rectangle(COMM, [low, high], cells, QUAD)


def run_of(body, contact=None, u0=0.0, v0=0.0, steps=40):
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
    s.start(u0, v0)
    return di.simulate(s, t_end=steps * s.dt)


def test_plastic_work_is_no_difference_of_energies():
    metal = di.J2Plasticity(2e11, 0.3, hardening=di.materials.LinearHardening(4e8, 1e9))
    body = di.Solid(rectangle([0, 0], [0.01, 0.01], [3, 3]), density=7800.0, law=metal)
    run = run_of(body, v0=lambda x: np.stack([5e4 * x[1], 0 * x[0]]))
    largest = max(run[name].max() for name in ("kinetic", "internal", "external"))
    apart = run["internal_work"] - run["internal"] - run["plastic_work"]
    assert run["plastic_work"][-1] > 0.1 * largest > 10 * np.abs(apart).max()
    percent = f"{100 * np.abs(apart).max() / largest:.2g} %"
    assert f"stored energy with plastic work up to {percent} of it apart" in run.summary()


def test_a_law_without_energy_has_no_difference_to_it(tmp_path):
    law = di.StressLaw(lambda F: 1e6 * (F - ufl.inv(F).T))
    body = di.Solid(rectangle([0, 0], [1, 0.5], [4, 3]), density=1000.0, law=law)
    run = run_of(body, u0=lambda x: np.stack([0.1 * x[0], 0 * x[0]]))
    run.save(tmp_path / "run.npz")
    for each in (run, di.Result.load(tmp_path / "run.npz")):
        assert "no stored energy is known" in each.summary() and "apart" not in each.summary()


def test_no_contact_never_stands_beside_a_penetration():
    """An obstacle that jumps into a body at rest: no point approaches, and none is pushed out."""
    body = di.Solid(rectangle([0, 0], [0.1, 0.1], [3, 3]), density=1000.0, law=di.LinearElastic(1e6, 0.3))
    for jump, inside in ((0.02, True), (0.0005, False)):
        plane = di.MovingObstacle(
            di.Plane((0.0, -0.001), (0.0, 1.0)),
            translation=((0.0, 1.0), lambda t, jump=jump: jump if t > 2e-3 else 0.0),
        )
        text = run_of(body, di.RigidContact(body, "boundary", plane), steps=10).summary()
        assert ("though points are inside" in text) == inside and ("no contact" in text) != inside
        assert ("largest penetration 0.019 m" in text) == inside


@pytest.mark.mpi
def test_a_tie_is_tied(tmp_path):
    lower = di.named(rectangle([0, -0.5], [1, 0], [4, 3]), bottom=lambda x: x[1] < -0.5 + 1e-9)
    parts = di.mesh.join({"upper": rectangle([0, 0], [1, 0.5], [5, 3]), "lower": lower})
    law = di.LinearElastic(1e6, 0.0)
    body = di.Solid(parts, law=law, density=1000.0, gravity=(0, -10.0), fixed=["lower/bottom"])
    tie = di.SurfaceContact(body, "upper/boundary", "lower/boundary", tie=True)
    far = di.RigidContact(body, "upper/boundary", di.Plane((0.0, -3.0), (0.0, 1.0)))
    alone, beside = run_of(body, tie), run_of(body, [tie, far])
    assert ", tied, balance" in alone.summary() and "contact" not in alone.summary()
    assert alone.tied.all() and np.abs(alone["r"]).max() > 0
    assert ", tied, no contact, impulse 0 N s, no penetration" in beside.summary()
    assert not beside["r"][:, ~beside.tied].any() and (~beside.tied).sum() == far.total


def test_a_history_too_large_says_what_fits():
    s = di.CDLagrange(di.PointMasses(np.ones(1000)), 1e-3)
    s.start(0.0, 0.0)
    with pytest.raises(ValueError, match=r"more than 1 GB: record fewer dofs, or every=3 steps$"):
        di.simulate(s, t_end=100.0, every=1)
    recorder = di.simulation.recorder.Recorder(s, 10, 2, s.system.rows(), None)
    with pytest.raises(ValueError, match=r"or every=8 steps$"):  # steps that were not foreseen
        recorder._limit.takes(150_000, 2)
