"""Changes of the time step under contact that lasts: what is tied stays tied, what rests stays at rest."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.integrators.energy import TERMS, residual

PARTS = (0.5, 1.0, 0.7, 0.31, 0.9)


def tied(scheme, law=None, comm=MPI.COMM_SELF):
    """Two blocks that are tied and swing together, started."""
    make, cells = dmesh.create_rectangle, dmesh.CellType.quadrilateral
    upper = make(comm, [[0.0, 0.0], [0.2, 0.1]], [4, 2], cells)
    lower = make(comm, [[0.0, -0.1], [0.2, 0.0]], [5, 2], cells)
    law = di.LinearElastic(1e6, 0.3) if law is None else law
    body = di.Solid(di.mesh.join({"a": upper, "b": lower}), law=law, density=1000.0, gravity=(0.0, -9.81))
    tie = di.SurfaceContact(body, "a/boundary", "b/boundary", tie=True)
    s = scheme(body, 0.6 * scheme.critical_step(body), contact=tie)
    s.start(0.0, lambda x: np.stack([0.0 * x[0], 30.0 * x[1]]))
    return s


def misfit(tie, s):
    return np.abs(tie.L.at_points(s.u)).max()


def go(s, steps):
    """Steps with a change after each few; energies and misfits."""
    balance, dt = s.balance(), s.dt
    balance.start()
    terms, misfits = [balance.terms()], []
    for i in range(steps):
        if i % 5 == 3:
            s.change_step(PARTS[i // 5 % 5] * dt)
            balance.restart()
        s.step()
        balance.step()
        terms.append(balance.terms())
        misfits.append(misfit(s.contact, s))
    return dict(zip(TERMS, np.array(terms).T)), misfits


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.NohBathe])
def test_a_tie_holds_through_changes_of_the_step(scheme):
    s = tied(scheme)
    energies, misfits = go(s, 60)
    assert np.abs(s.u).max() > 1e-3 and np.abs(s.r).max() > 0
    assert max(misfits) < 1e-13 * np.abs(s.u).max()
    largest = max(np.abs(values).max() for values in energies.values())
    assert np.abs(residual(energies)).max() < 1e-12 * largest


def test_a_run_goes_on_from_a_state_right_after_a_change():
    ends = []
    for through in (False, True):
        s = tied(di.CDLagrange)
        for _ in range(7):
            s.step()
        s.change_step(0.6 * s.dt)
        if through:
            state, s = s.state(), tied(di.CDLagrange)
            s.change_step(float(state["dt"]))
            s.resume(state)
        for _ in range(5):
            s.step()
        s.change_step(1.4 * s.dt)
        s.step()
        ends.append((s.t, s.u.copy(), s.v_mean.copy(), s.r.copy()))
    for one, other in zip(*ends):
        assert np.array_equal(one, other)


def test_a_tie_holds_where_the_step_follows():
    """The blocks fall on a floor and are squeezed, with friction."""
    s = tied(di.CDLagrange, di.NeoHookean(2e4, 0.3))
    body, tie, control = s.system, s.contact, di.StepControl(every=10, safety=0.5)
    floor = di.RigidContact(body, "b/boundary", di.Plane((0.0, -0.1001), (0.0, 1.0)))
    s = di.CDLagrange(body, s.dt, contact=[tie, floor])
    s.start(0.0, body.rigid_velocity((0.5, -2.0)))
    run = di.simulate(s, t_end=0.04, adapt=control, progress=False)
    assert control.changes >= 2 and run["r"].any()
    assert misfit(tie, s) < 1e-12 * np.abs(s.u).max()
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"].max()


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.Carpenter, di.PaoliSchatzman, di.NohBathe])
def test_what_rests_stays_at_rest(scheme):
    """On a stop, through steps that grow and shrink, with its weight in every step."""
    mass = di.PointMasses(2.0, load=[-20.0])
    s = scheme(mass, 0.01, contact=di.DofBound(mass, 0, lower=0.0))
    s.start(0.0, 0.0)
    for part in (*PARTS, 2.0):
        s.change_step(0.01 * part)
        assert abs(s.v_mean[0]) < 1e-16
        for _ in range(3):
            s.step()
            assert abs(s.u[0]) < 1e-16 and abs(s.v[0]) < 1e-16
            assert s.r[0] == pytest.approx(20.0 * s.dt, rel=1e-12)


def test_what_slides_goes_on_with_its_friction():
    """``v' = -mu g`` exactly, whatever the steps; the balance closes and friction has its work."""
    mass = di.PointMasses([1.0, 1.0], load=[0.0, -10.0])
    floor = di.ObstacleContact(mass, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.3)
    s = di.CDLagrange(mass, 0.01, contact=floor)
    s.start(0.0, [3.0, 0.0])
    balance = s.balance()
    balance.start()
    for part in PARTS:
        for _ in range(4):
            s.step()
            balance.step()
        s.change_step(0.01 * part)
        balance.restart()
        assert s.v_mean[0] == pytest.approx(3.0 - 3.0 * s.t, rel=1e-13)
        assert s.u[0] == pytest.approx(3.0 * s.t - 1.5 * s.t**2, rel=1e-12)
        assert abs(s.u[1]) < 1e-16
        energy = balance.kinetic + balance.complementary
        assert energy + balance.dissipated - balance.contact == pytest.approx(4.5 + START, rel=1e-12)
        assert balance.contact == pytest.approx(-3.0 * s.u[0], rel=2e-3)


#: Complementary energy at the start, ``-(h mu g)^2 / 8``.
START = -((0.01 * 3.0) ** 2) / 8
