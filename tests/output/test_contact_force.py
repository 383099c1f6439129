"""Resultants of contact impulses against momentum, mean forces and phases against closed forms."""

import numpy as np
import pytest
from mpi4py import MPI
from support.blocks import dropped
from support.restarts import STEPS, colliding_discs, cubes, go_on, rubber, two_bars, whole

import dolfinx_impact as di
from dolfinx_impact.output import ImpulseHistory

COMM = MPI.COMM_WORLD


def momentum(s):
    """Momentum of the lumped masses at the time of the velocities of the scheme [N s]."""
    body = s.system
    return COMM.allreduce((body.mass * s.v[: body.owned]).reshape(-1, body.block).sum(axis=0))


@pytest.mark.mpi
@pytest.mark.parametrize("cell", ["triangle", "tetrahedron"])
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_impulses_are_the_change_of_momentum(cell, friction):
    """Nothing else acts on the block; the history has samples every 7 steps only."""
    s, force = dropped(cell, friction=friction), di.ContactForce()
    before = s.system.total_mass * np.array([3.0, *[0.0] * (s.system.block - 2), -20.0])
    run = di.simulate(s, t_end=200 * s.dt, every=7, observers=[force], progress=False)
    history = force.history()
    assert history.t == pytest.approx(s.dt * np.arange(201), rel=1e-12)
    scale = np.abs(before).max()
    assert history.impulses.sum(axis=0) == pytest.approx(momentum(s) - before, abs=1e-12 * scale)
    assert history.impulses[:, -1].sum() == pytest.approx(run["r"].sum(), rel=1e-12)
    assert np.abs(history.impulses[:, 0]).max() > 1e-3 * scale if friction else True
    assert history.impulses[:, -1].min() >= 0.0 < history.impulses[:, -1].max()


def test_impulses_of_changes_of_the_step_count():
    """The step changes while the block is on the floor: the momentum has the impulses of that too."""
    s, force = dropped("triangle", friction=0.0), di.ContactForce()
    first, mass, changes = s.dt, s.system.total_mass, 0.0
    force.begin(s)
    for n in range(1, 60):
        if n % 3 == 0:
            s.change_step((0.7 if n % 2 else 1.0) * first)
            changes += s.r_change.sum()
        s.step()
        force(s)
    assert abs(changes) > 1e-3 * mass
    given = force.history().impulses[:, 1].sum()
    assert momentum(s)[1] == pytest.approx(given - 20.0 * mass, abs=1e-12 * 20.0 * mass)


@pytest.mark.parametrize("parts", [(0.8, 0.5), (0.8, 0.8), (0.8, 1.0)], ids=str)
def test_two_changes_at_one_time_count(parts):
    """The impulses of the first change are not lost where another one, or none, follows it."""
    s, force = dropped("triangle", friction=0.0), di.ContactForce()
    first, mass = s.dt, s.system.total_mass
    force.begin(s)
    for n in range(1, 40):
        for part in parts if n % 5 == 0 else ():
            s.change_step(part * first)
        s.step()
        force(s)
    given = force.history().impulses[:, 1].sum()
    assert momentum(s)[1] == pytest.approx(given - 20.0 * mass, abs=1e-12 * 20.0 * mass)


@pytest.mark.mpi
def test_a_resumed_run_has_all_impulses(shared_path):
    """Those before the checkpoint come from its file, and count once."""
    one, first, second = (di.ContactForce() for _ in range(3))
    whole(rubber, observers=[one])
    scheme, v0 = rubber()
    scheme.start(0.0, v0)
    stored = di.Checkpoint(shared_path / "run", every=STEPS // 2)
    half = STEPS // 2 * scheme.dt
    di.simulate(scheme, t_end=half, observers=[first], checkpoint=stored, progress=False)
    go_on(rubber, shared_path / "run", observers=[second])
    expected, history = one.history(), second.history()
    assert history.t == pytest.approx(expected.t, rel=1e-14)
    scale = np.abs(expected.impulses).max()
    assert scale > 0 and history.impulses == pytest.approx(expected.impulses, abs=1e-12 * scale)


def test_mean_forces_of_equal_impulses():
    """A force of 3 N along x between 1 and 2 s, in steps of 10 ms, as impulses at their ends."""
    t = 0.01 * np.arange(301)
    impulses = np.zeros((301, 2))
    impulses[(t > 1.0 + 1e-9) & (t < 2.0 + 1e-9), 0] = 0.03
    history = ImpulseHistory(t, impulses)
    forces = history.mean_forces(0.2 - 1e-9)
    inside = (t > 1.0 + 1e-9) & (t < 1.8)
    assert forces[inside] == pytest.approx(np.broadcast_to([3.0, 0.0], forces[inside].shape), rel=1e-6)
    assert not forces[t < 0.79].any() and not forces[t > 2.0 + 1e-9].any()
    size, when = history.peak_force(0.2 - 1e-9)
    assert size == pytest.approx(3.0, rel=1e-6) and 1.0 < when < 2.0
    with pytest.raises(ValueError, match=r"window must be positive \[s\], but is 0"):
        history.mean_forces(0.0)


@pytest.mark.parametrize("steps", [1, 7, 20, 100])
def test_the_mean_of_a_constant_force_is_that_force(steps):
    """Over any whole number of steps, whose end may be rounded to either side of that of the window."""
    t = 0.01 * np.arange(301)
    history = ImpulseHistory(t, np.full((301, 1), 0.03))
    forces = history.mean_forces(0.01 * steps)[: 301 - steps]
    assert forces == pytest.approx(np.full(forces.shape, 3.0), rel=1e-12)


def test_the_peak_is_where_the_impulse_is():
    t, impulses = 0.1 * np.arange(11), np.zeros((11, 3))
    impulses[7] = [0.0, 3.0, -4.0]
    size, when = ImpulseHistory(t, impulses).peak_force(0.05)
    assert size == pytest.approx(5.0 / 0.05, rel=1e-12) and when == pytest.approx(0.725, rel=1e-12)


@pytest.mark.parametrize("window", [0.03, 0.2, 0.205, 7.0])
def test_windows_at_the_end_are_divided_by_what_is_in_the_run(window):
    """A body that rests on the floor at the end: its weight, as in whole windows."""
    t = 0.01 * np.arange(301)
    impulses = np.full((301, 1), 0.03)
    impulses[0] = 0.0
    history = ImpulseHistory(t, impulses)
    forces = history.mean_forces(window)
    assert forces.shape == (301, 1) and forces[-1] == pytest.approx([3.0], rel=1e-9)
    rest = forces[1:]  # the first step has no impulse
    assert 3.0 - 1e-9 < rest.min() and rest.max() < 3.0 * (1.0 + 0.01 / window) + 1e-9


def test_a_short_window_at_the_end_is_no_peak():
    """3 N, and an impulse in the last step, 300 N of that alone; a window longer than the run."""
    t, impulses = 0.01 * np.arange(301), np.full((301, 1), 0.03)
    impulses[0], impulses[-1] = 0.0, 3.0
    history = ImpulseHistory(t, impulses)
    size, when = history.peak_force(0.2)
    assert size == pytest.approx((19 * 0.03 + 3.0) / 0.2, rel=1e-9) and when == pytest.approx(2.91, rel=1e-9)
    size, when = history.peak_force(10.0)
    assert size == pytest.approx((299 * 0.03 + 3.0) / 3.0, rel=1e-9) and when == pytest.approx(1.5, rel=1e-9)


@pytest.mark.parametrize(
    "hits, apart, phases",
    [
        ([], 1.0, np.zeros((0, 2))),
        ([4], 1.0, [[4, 4]]),
        ([0, 1, 2, 5, 9], 1.0, [[0, 2], [5, 5], [9, 9]]),
        ([0, 1, 2, 5, 9], 3.0, [[0, 5], [9, 9]]),
        ([0, 1, 2, 5, 9], 4.0, [[0, 9]]),
    ],
)
def test_phases(hits, apart, phases):
    """A phase ends where more than so long a time passes without an impulse."""
    impulses = np.zeros((10, 2))
    impulses[hits, 1] = 1.0
    found = ImpulseHistory(np.arange(10.0), impulses).phases(apart)
    assert found.shape == (len(phases), 2) and np.array_equal(found, phases)


@pytest.mark.mpi
@pytest.mark.parametrize("make", [two_bars, colliding_discs])
def test_parts_of_one_body_have_no_resultant(make):
    s, v0 = make()
    s.start(0.0, v0)
    with pytest.raises(ValueError, match="on each other cancel and have no resultant"):
        di.simulate(s, t_end=s.dt, observers=[di.ContactForce()], progress=False)


@pytest.mark.mpi
def test_a_floor_beside_surfaces_has_its_force_alone():
    """Two blocks, one upon the other, are thrown on a floor: the momentum of both is the floor's."""
    body = di.Solid(cubes(), density=1100.0, law=di.LinearElastic(1e6, 0.3))
    floor = di.RigidContact(body, "lower/boundary", di.Plane([0, 0, -1e-4], [0, 0, 1]), friction=0.2)
    between = di.SurfaceContact(body, "lower/boundary", "upper/boundary")
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=[floor, between])
    s.start(0.0, body.rigid_velocity([1.0, 0.0, -6.0]))
    force, before = di.ContactForce(), body.total_mass * np.array([1.0, 0.0, -6.0])
    run = di.simulate(s, t_end=120 * s.dt, observers=[force], progress=False)
    history, scale = force.history(), 6.0 * body.total_mass
    assert run["r"].sum() > 1.2 * history.impulses[:, 2].sum()  # of the surfaces too
    assert history.impulses.sum(axis=0) == pytest.approx(momentum(s) - before, abs=1e-12 * scale)
    assert len(history.phases(1e9)) == 1 and history.phases(1e9)[0, 0] > 0.0


def resting(contacts, size):
    """Impulses in 1 s on point masses of 1 kg under 10 N along -y, from rest."""
    ball = di.PointMasses(np.ones(size), load=[0.0, -10.0] * (size // 2))
    s, force = di.CDLagrange(ball, 0.01, contact=contacts(ball)), di.ContactForce()
    s.start(0.0, 0.0)
    di.simulate(s, t_end=1.0, observers=[force], progress=False)
    return force.history().impulses[1:].sum(axis=0)


SLOPE = di.Plane((0.0, 0.0), (0.6, 0.8))


def test_point_masses_have_the_directions_of_their_obstacle():
    """Points on a slope; a bound takes the direction of its dof."""
    one = resting(lambda ball: di.ObstacleContact(ball, [[0, 1]], SLOPE), 2)
    assert one == pytest.approx([4.8, 6.4], rel=1e-12)
    two = resting(lambda ball: di.ObstacleContact(ball, [[0, 1], [2, 3]], SLOPE), 4)
    assert two == pytest.approx([9.6, 12.8], rel=1e-12)
    flat = di.Plane((0.0, 0.0), (0.0, 1.0))
    beside = resting(
        lambda ball: [di.DofBound(ball, 1, lower=-9.0), di.ObstacleContact(ball, [[0, 1]], flat)], 2
    )
    assert beside == pytest.approx([0.0, 10.0], abs=1e-12)
    assert resting(lambda ball: di.DofBound(ball, 1, lower=0.0), 2) == pytest.approx([10.0], rel=1e-12)


@pytest.mark.parametrize(
    "contacts",
    [
        lambda ball: di.DofBound(ball, [0, 1], lower=0.0),
        lambda ball: [di.ObstacleContact(ball, [[0, 1]], SLOPE), di.DofBound(ball, 3, lower=0.0)],
        lambda ball: [di.ObstacleContact(ball, dofs, SLOPE) for dofs in ([[0, 1]], [[1, 2]])],
    ],
)
def test_dofs_without_a_direction_are_refused(contacts):
    with pytest.raises(ValueError, match="needs the direction of each dof .* run\\['r'\\]"):
        resting(contacts, 4)


def test_a_run_without_contact_is_refused():
    s, force = dropped(contact=False), di.ContactForce()
    with pytest.raises(ValueError, match="without contact has no contact force"):
        di.simulate(s, t_end=s.dt, observers=[force], progress=False)
    with pytest.raises(RuntimeError, match="has seen no run"):
        force.history()
