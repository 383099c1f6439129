"""A run that explodes ends in words, whatever the step is said to be; one that is given energy goes on."""

import numba
import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.pairwise import pairwise

import dolfinx_impact as di
from dolfinx_impact.integrators import find_scheme

COMM = MPI.COMM_WORLD
LOOPS = [{"compiled": False}, {"compiled": True}]
ENERGIES = [{}, {"energies": False}]


def body(**options):
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.5]], [4, 3], dmesh.CellType.quadrilateral)
    named = di.named(mesh, foot=lambda x: x[1] < 1e-9)
    return di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.3), **options)


def unaware(scheme, system, step, contact=None):
    """A scheme that takes its step for a stable one; started by the caller."""
    s = scheme(system, step, contact, allow_unstable=True)
    s.beyond_limit = False
    return s


@pytest.mark.parametrize("options", [*ENERGIES, *LOOPS, {"compiled": True, "energies": False}])
@pytest.mark.parametrize("scheme, part", [(di.CDLagrange, 1.05), (di.NohBathe, 1.95)])
def test_a_linear_body_that_explodes(scheme, part, options):
    damped = body(gravity=(0.0, -10.0), damping=50.0)
    s = unaware(scheme, damped, part * damped.critical_time_step())
    s.start(0.0, 0.0)
    s.v[: damped.owned] += 1e-9 * np.sin(np.arange(damped.owned))
    with pytest.raises(di.UnstableTimeStep, match=r"more than 1000 times the .* J that the system was given"):
        di.simulate(s, t_end=2000 * s.dt, **options)


@pytest.mark.mpi
def test_ranks_agree():
    heavy = body(stiffness_damping=1e-3)
    s = unaware(di.CDLagrange, heavy, 1.5 * heavy.critical_time_step())
    s.start(0.0, lambda x: np.stack([x[0] * x[1], 0 * x[0]]))
    with pytest.raises(di.UnstableTimeStep, match="more than 1000 times") as caught:
        di.simulate(s, t_end=2000 * s.dt)
    assert len(set(COMM.allgather(s.n))) == len(set(COMM.allgather(str(caught.value)))) == 1


def test_a_dashpot_where_the_highest_mode_has_none():
    """Its limit is 2/c; the work of an unstable dashpot, which is negative, is not given to the system."""

    @numba.njit
    def dashpot(t, u, v, out):
        out[0], out[1] = 0.0, 400.0 * v[1]

    for options in LOOPS:
        two = di.PointMasses([1.0, 1.0], stiffness=np.diag([1e4, 1.0]), damping=dashpot)
        s = unaware(di.CDLagrange, two, 0.018)
        s.start(0.0, [0.0, 1e-3])
        with pytest.raises(di.UnstableTimeStep, match="more than 1000 times the 5e-07 J"):
            di.simulate(s, t_end=3000 * s.dt, **options)


@numba.njit
def drive(t, u, v, out):
    """Van der Pol's damping: it drives small oscillations."""
    out[0] = -5.0 * (1 - u[0] ** 2) * v[0]


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.NohBathe, di.MoreauJean])
def test_damping_that_drives_gives_energy(scheme):
    for options in LOOPS + ENERGIES if scheme is not di.MoreauJean else ENERGIES:
        one = di.PointMasses(1.0, stiffness=[[1.0]], damping=drive)
        s = scheme(one, 1e-2 if scheme is not di.MoreauJean else 5e-2)
        s.start(1e-3, 0.0)
        run = di.simulate(s, t_end=8.0, **options)
        assert np.abs(run["u"]).max() > 1.9
        if "kinetic" in run:
            energy = run["kinetic"] + run["internal"]
            assert energy.max() > 1e7 * energy[0]


def thrown(scheme):
    still = body()
    floor = di.MovingObstacle(di.Plane((0.0, -0.05), (0.0, 1.0)), translation=((0.0, 1.0), lambda t: 5 * t))
    contact = di.RigidContact(still, "boundary", floor)
    return scheme(still, 0.5 * still.critical_time_step(), contact=contact)


def resting(scheme):
    heavy = body(gravity=(0.0, -10.0))
    floor = di.RigidContact(heavy, "foot", di.Plane((0.0, 0.0), (0.0, 1.0)))
    return scheme(heavy, 0.5 * heavy.critical_time_step(), contact=floor)


def shaken(scheme):
    moved = body(prescribed={"foot": {0: lambda t: 0.01 * np.sin(20 * t), 1: lambda t: 0.0}})
    return scheme(moved, 0.5 * moved.critical_time_step())


def on_moving_ground(scheme):
    moved = body(fixed=["foot"], ground_acceleration=((1.0, 0.0), lambda t: 10 * np.sin(50 * t)))
    return scheme(moved, 0.5 * moved.critical_time_step())


def runs_on(s, **options):
    s.start(0.0, 0.0)
    run = di.simulate(s, t_end=130 * s.dt, **options)
    assert run.steps == 130 and COMM.allreduce(np.abs(s.u).max(), op=MPI.MAX) > 1e-4


@pytest.mark.parametrize(
    *pairwise(
        build=[thrown, resting, shaken, on_moving_ground],
        scheme=[di.CDLagrange, di.NohBathe, di.MoreauJean],
        options=ENERGIES,
    )
)
def test_what_is_given_energy_goes_on(build, scheme, options):
    """Nothing moves at the start, so that every energy is given by what moves or loads the body."""
    runs_on(build(scheme), **options)


@pytest.mark.mpi
@pytest.mark.parametrize("build", [thrown, shaken])
def test_what_is_given_energy_goes_on_on_all_ranks(build):
    for options in ENERGIES:
        runs_on(build(di.CDLagrange), **options)


def test_a_body_at_rest_stays_there():
    still = body()
    s = di.CDLagrange(still, 0.5 * still.critical_time_step())
    s.start(0.0, 0.0)
    s.v[:] += 1e-15 * np.sin(np.arange(s.v.size))
    assert di.simulate(s, t_end=50 * s.dt).steps == 50


def test_a_penalty_that_gives_back_what_it_stored():
    """A ball that starts inside the floor is thrown out by it; one that falls bounces."""
    for height, weight in ((-1e-3, 0.0), (1.0, -10.0)):
        ball = di.PointMasses(1.0, load=[weight])
        floor = di.DofBound(ball, 0, lower=0.0, allow_penetration=True)
        s = find_scheme("dep-5.3").make(ball, 1e-3, floor, eps=1e-4)
        for options in ENERGIES:
            s.start(height, 0.0)
            assert np.abs(di.simulate(s, t_end=1.0, **options)["v"]).max() > 0.05


@pytest.mark.parametrize("options", ENERGIES)
def test_a_law_without_energy_that_springs_back(options):
    """The stored energy at the start is not known: what the internal forces release counts as given."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.5]], [4, 3], dmesh.CellType.quadrilateral)
    law = di.StressLaw(lambda F: 1e6 * (F - ufl.inv(F).T))
    rubber = di.Solid(mesh, density=1000.0, law=law)
    s = di.CDLagrange(rubber, 0.5 * rubber.critical_time_step())
    s.start(lambda x: np.stack([0.1 * x[0], 0 * x[0]]), 0.0)
    assert di.simulate(s, t_end=300 * s.dt, **options).steps == 300


def test_a_load_at_resonance():
    """Its period is a hundred steps: looks at equal distances would never see it."""

    def load(t, u, v, out):
        out[:] = np.sin(10 * t)

    for options in ENERGIES:
        one = di.PointMasses(1.0, load, stiffness=[[100.0]])
        s = di.CDLagrange(one, 2 * np.pi / 1000)
        s.start(0.0, 0.0)
        assert np.abs(di.simulate(s, t_end=10.0, **options)["u"]).max() > 0.4


def once(begin, length, size):
    """A signal that comes and goes."""
    return lambda t: (
        size * np.where(abs(t - begin) < length, np.cos(np.pi * (t - begin) / (2 * length)) ** 2, 0)
    )


def jerked(h):
    return body(ground_acceleration=((1.0, 0.0), once(20 * h, 10 * h, 1e3))), None


def shaken_once(h):
    return body(prescribed={"foot": {0: once(20 * h, 10 * h, 0.01), 1: lambda t: 0.0}}), None


def hit_once(h):
    still, motion = body(), once(20 * h, 10 * h, 0.02)
    floor = di.MovingObstacle(di.Plane((0.0, -1e-3), (0.0, 1.0)), translation=((0.0, 1.0), motion))
    wall = di.MovingObstacle(di.Plane((-1e-3, 0.0), (1.0, 0.0)), translation=((1.0, 0.0), motion))
    return still, [di.RigidContact(still, "boundary", each) for each in (floor, wall)]


@pytest.mark.mpi
@pytest.mark.parametrize("build", [jerked, shaken_once, hit_once])
def test_what_comes_and_goes_between_two_looks(build):
    """Without a balance the energy is first looked at after 60 steps: the body moves, and nothing is seen."""
    h = 0.5 * body().critical_time_step()
    system, contact = build(h)
    s = di.CDLagrange(system, h, contact)
    s.start(0.0, 0.0)
    assert di.simulate(s, t_end=300 * h, energies=False).steps == 300
    assert COMM.allreduce(np.abs(s.u).max(), op=MPI.MAX) > 1e-3


def test_a_load_that_comes_and_goes_in_a_compiled_loop():
    h = 0.5 * body().critical_time_step()
    s = di.CDLagrange(jerked(h)[0], h)
    s.start(0.0, 0.0)
    assert di.simulate(s, t_end=300 * h, energies=False, compiled=True).steps == 300
