"""Noh-Bathe with impulses on bodies of all kinds: balance, ranks, checkpoints, and what holds exactly."""

from functools import partial

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import restarts
from support.colliding import discs, layers
from support.surfaces import against_each_other, momenta, until_contact

import dolfinx_impact as di
from dolfinx_impact.algebra.projected_iteration import solve
from dolfinx_impact.integrators.central.lasting_contact import SlidingCone, hold


def moved():
    """A bar of rubber on a foot that is driven, with a tip against a wall."""
    named = restarts.block(dmesh.CellType.quadrilateral, (6, 2))
    mesh = named.mesh
    ends = {"foot": lambda x: np.isclose(x[0], 0.0), "tip": lambda x: np.isclose(x[0], 0.1)}
    body = di.Solid(
        di.named(mesh, **ends),
        density=1100.0,
        law=di.NeoHookean(1e6, 0.4),
        damping=5.0,
        prescribed={"foot": {0: lambda t: 2e-3 * np.sin(400.0 * t)}},
    )
    wall = di.RigidContact(body, "tip", di.Plane([0.101, 0.0], [-1.0, 0.0]), friction=0.2)
    return di.NohBathe(body, 0.9 * di.NohBathe.critical_step(body), contact=wall), 0.0


def pairs():
    s, v0 = restarts.two_bars()
    return di.NohBathe(s.system, 0.9 * di.NohBathe.critical_step(s.system), contact=s.contact), v0


def rings(friction=0.3, **options):
    body = discs(5, 4, gap=0.0)
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=friction, **options)
    s = di.NohBathe(body, 0.6 * di.NohBathe.critical_step(body), contact=contact)
    return s, against_each_other(body, 0.15)


def corner():
    s, v0 = restarts.corner()
    return di.NohBathe(s.system, 0.6 * di.NohBathe.critical_step(s.system), contact=s.contact), v0


SETUPS = {
    "rubber": partial(restarts.rubber, make=di.NohBathe),
    "driven": moved,
    "pairs": pairs,
    "corner": corner,
    "rings": rings,
}


def go(make, steps=60, **options):
    s, v0 = make()
    s.start(0.0, v0)
    return di.simulate(s, t_end=steps * s.dt, progress=False, **options)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("name", SETUPS)
def test_balance_checkpoint_and_ranks(name, shared_path, as_on_one_rank):
    run = go(SETUPS[name], 26)
    energy = max(np.abs(run[each]).max() for each in ("kinetic", "internal", "external"))
    assert run["r"].any() and np.isfinite(run["u"]).all()
    assert np.abs(run["residual"]).max() < 1e-12 * energy
    path = shared_path / "kept"
    go(SETUPS[name], 10, checkpoint=di.Checkpoint(path, every=10))
    s, _ = SETUPS[name]()
    rest = di.simulate(s, t_end=26 * s.dt, restart=path, progress=False)
    assert restarts.same_bits(run, rest)
    one = as_on_one_rank({each: run[each] for each in ("u", "v_t", "r", "kinetic", "contact", "dissipated")})
    for each, values in one.items():
        assert np.abs(run[each] - values).max() <= 1e-11 * np.abs(values).max(), each


def run_on(s, steps):
    for _ in range(steps):
        s.step()
    return s


def test_surfaces_keep_both_momenta_to_the_order_of_the_step():
    """Linear momentum is exact; the angular one changes only by the two places at which forces act."""
    s, v0 = rings(friction=0.0)
    s.start(0.0, v0)
    before, scale = momenta(s)
    run_on(s, 100)
    after, _ = momenta(s)
    assert s.n == 100 and np.abs(after[:2] - before[:2]).max() < 1e-13 * scale
    assert abs(after[2] - before[2]) < 5e-3 * scale


@pytest.mark.mpi
def test_a_tie_holds_displacements_and_velocities():
    """Also where nothing acts yet: its rows follow a~ in all directions."""
    body = di.Solid(layers(3, 4, gap=0.0), density=1.0, law=di.LinearElastic(1.0, 0.3))
    tie = di.SurfaceContact(body, "upper/boundary", "lower/boundary", tie=True)
    floor = di.RigidContact(body, "lower/boundary", di.Plane([0.0, -0.1005], [0.0, 1.0]))
    s = di.NohBathe(body, 0.9 * di.NohBathe.critical_step(body), contact=[floor, tie])
    s.start(0.0, (0.05, -0.1))
    balance = s.balance()
    balance.start()
    hit = False
    for _ in range(12):
        s.step()
        balance.step()
        hit = hit or bool(s.r[: floor.count].any())
        slip, apart = (np.abs(tie.L.velocities(x)[1]).max(initial=0.0) for x in (s.v, s.u))
        assert max(slip, apart) < 1e-12
    assert body.comm.allreduce(hit, op=MPI.LOR)
    found = [sum(body.comm.allreduce(np.array(list(balance.terms()))) * [1, 1, 0, 1, -1, -1, 1, -1])]
    start = 0.5 * body.comm.allreduce(float(body.mass.sum())) / 2 * (0.05**2 + 0.1**2)
    assert found[0] == pytest.approx(start, rel=1e-11)


def test_forces_of_lasting_contact_of_surfaces_are_those_of_the_dense_problem():
    """H from unit impulses; friction of sliding points acts where they press."""
    s, v0 = rings()
    s.start(0.0, v0)
    until_contact(s)
    run_on(s, 30)
    L, contact, n = s.contact.L, s.contact, s.system.owned
    r, r_t = s.substep_states[1].r, s.substep_states[1].r_t
    which = np.flatnonzero(r > 0)
    bases, columns = contact.local_bases(), []
    for k in which:
        unit = np.zeros(r.size)
        unit[k] = 1.0
        for normal, vector in ((unit, None), (0 * unit, unit[:, None] * bases[:, 1])):
            column = np.zeros(s.system.size)
            L.add_impulses(normal, vector, None, column)
            columns.append(column[:n])
    A = np.array(columns)
    H, b = A @ (s.system.inverse_mass[:, None] * A.T), A @ (s.system.inverse_mass * s.f[:n])
    slides = np.linalg.norm(r_t[which], axis=1) >= 0.3 * r[which] * (1 - 1e-9)
    assert slides.any()
    size = np.linalg.norm(r_t[which], axis=1)
    along = 0.3 * np.einsum("pk,pk->p", r_t[which], bases[which, 1]) / np.where(size > 0, size, 1.0)
    x = hold(H, b.reshape(-1, 2), slides, along[:, None])
    expected = s.f[:n] + x.ravel() @ A
    assert np.abs(s.f_position[:n] - expected).max() < 1e-11 * np.abs(expected).max()
    normal = (A @ (s.system.inverse_mass * s.f_position[:n]))[0::2]
    assert np.abs(normal).max() < 1e-11 * np.abs(b).max()


def test_the_step_follows_a_body_that_is_compressed():
    s, v0 = restarts.rubber(make=di.NohBathe, courant=0.9)
    s.start(0.0, 1.5 * v0)
    control = di.StepControl(safety=0.85)
    run = di.simulate(s, t_end=50 * s.dt, adapt=control, progress=False)
    assert control.changes > 0 and np.ptp(np.diff(run["t"])) > 0
    energy = max(np.abs(run[each]).max() for each in ("kinetic", "internal"))
    assert np.abs(run["residual"]).max() < 1e-12 * energy


def test_a_prescribed_motion_is_followed_and_its_work_counts():
    s, _ = moved()
    s.start(0.0, 0.0)
    balance, n = s.balance(), s.system.owned
    balance.start()
    for _ in range(60):
        s.step()
        balance.step()
        dofs = s.system.prescribed.dofs
        assert np.abs(s.u[dofs] - 2e-3 * np.sin(400.0 * s.t)).max() < 1e-15
        assert np.abs(s.v[dofs] - 0.8 * np.cos(400.0 * s.t)).max() < 1e-7 * 0.8
    assert balance.kinetic == pytest.approx(0.5 * np.sum(s.system.mass * s.v[:n] ** 2))
    assert balance.external > 0.0


def shaken():
    """A block on a floor that shakes, with friction and damping."""
    named = restarts.block(dmesh.CellType.quadrilateral, (5, 3))
    body = di.Solid(
        named,
        density=1100.0,
        law=di.LinearElastic(1e6, 0.3),
        damping=4.0,
        gravity=(0.0, -9.81),
        ground_acceleration=((1.0, 0.0), lambda t: 30.0 * np.sin(600.0 * t)),
    )
    floor = di.RigidContact(body, "skin", di.Plane([0.0, -1e-5], [0.02, 1.0]), friction=0.3, restitution=0.1)
    return di.NohBathe(body, 0.9 * di.NohBathe.critical_step(body), contact=floor), (0.3, -0.5)


def started_in_contact():
    """Two masses, coupled by a spring, of which one is thrown against its wall at the start."""
    system = di.PointMasses([1.0, 2.0], stiffness=[[90.0, -40.0], [-40.0, 40.0]], load=[-9.81, 0.0])
    return di.NohBathe(system, 0.05, di.DofBound(system, 0, lower=0.0, restitution=0.4)), [-1.0, 0.3]


@pytest.mark.parametrize("make", [shaken, started_in_contact])
def test_compiled_runs_are_those_step_by_step(make):
    """Also a run in two halves, of which one is compiled: all that the next step needs comes back."""
    pytest.importorskip("numba")
    plain, compiled = go(make, compiled=False), go(make, compiled=True)
    assert plain["r"].any() and plain["dissipated"][-1] > 0
    assert restarts.difference(plain, compiled) < 1e-11
    s, v0 = make()
    s.start(0.0, v0)
    balance = s.balance()
    first = di.simulate(s, t_end=30 * s.dt, observers=[balance], progress=False, compiled=True)
    state = s.state()
    s, _ = make()
    s.resume(state)
    rest = di.simulate(s, t_end=60 * s.dt, progress=False, compiled=False)
    for name in ("u", "v_t", "gap"):
        joined = np.concatenate([first[name], rest[name][1:]])
        assert np.abs(joined - plain[name]).max() < 1e-12 * np.abs(plain[name]).max(), name
    assert np.abs(rest["residual"]).max() < 1e-12 * np.abs(plain["kinetic"]).max()


def test_what_has_no_compiled_loop_says_why():
    pytest.importorskip("numba")

    class Slower(di.NohBathe):
        def advance(self):
            super().advance()

    for make, words in ((moved, "prescribed"), (rings, "element kernels|not linear"), (corner, "moves")):
        s, v0 = make()
        s.start(0.0, v0)
        with pytest.raises(ValueError, match=words):
            di.simulate(s, t_end=10 * s.dt, progress=False, compiled=True)
    s = Slower(di.PointMasses(1.0, stiffness=[[1.0]]), 0.1)
    s.start(1.0, 0.0)
    with pytest.raises(ValueError, match="Slower derives from NohBathe"):
        di.simulate(s, t_end=1.0, progress=False, compiled=True)


@pytest.mark.parametrize("seed", range(6))
def test_forces_where_a_tangent_is_held_but_for_the_tilt_of_its_normal(seed):
    """A node at the axis under a deformed surface: the iteration does not end there, the dense one does."""
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((8, 12))
    J /= np.linalg.norm(J, axis=1)[:, None]
    J[1] = 3e-7 * J[0]  # the rows of one point: its normal, and a tangent that moves it along the normal only
    S, c = J @ J.T, (J @ rng.standard_normal(12)).reshape(4, 2)
    S[1, 2:] = S[2:, 1] = S[1, 2:] + 2e-12 * rng.uniform(-1.0, 1.0, size=6)  # of rounding
    slides, along = np.array([False, True, False, False]), np.full((4, 1), 0.3)
    every = np.ones(4, dtype=bool)
    cone = SlidingCone(every, every, np.full(4, 0.3), slides, along)
    x, _ = solve(lambda x: (S @ x.ravel()).reshape(4, 2), c, cone, np.zeros((4, 2)), MPI.COMM_SELF)
    g = (S @ x.ravel()).reshape(4, 2) + c
    assert np.abs(g[~slides]).max() <= 1e-9 * np.abs(c).max() and abs(g[1, 0]) <= 1e-9 * np.abs(c).max()
    assert x[1, 1] == 0.3 * max(x[1, 0], 0.0)


def test_lasting_contact_in_a_list_of_contacts_with_rows_of_several_widths():
    """A mass on a bound beside one on an oblique plane: each falls, lands and rests as it does alone."""
    oblique = di.Plane((0.0, 0.0), (0.6, 0.8))

    def path(*kinds):
        masses = di.PointMasses([2.0, 2.0, 3.0], load=[-12.0, -16.0, -30.0])
        bound, plane = di.DofBound(masses, 2, lower=0.0), di.ObstacleContact(masses, [[0, 1]], oblique)
        chosen = [{"bound": bound, "plane": plane}[kind] for kind in kinds]
        s = di.NohBathe(masses, 1e-2, contact=chosen)
        s.start([0.03, 0.04, 0.05], [0.0, 0.0, 0.0])
        return di.simulate(s, t_end=0.5, progress=False)["u"]

    listed = path("bound", "plane")
    assert listed[:, 2] == pytest.approx(path("bound")[:, 2], abs=1e-15)
    assert listed[:, :2] == pytest.approx(path("plane")[:, :2], abs=1e-15)
    assert np.abs(np.diff(listed[-10:], axis=0)).max() <= 1e-15 < np.abs(listed[0]).min()
