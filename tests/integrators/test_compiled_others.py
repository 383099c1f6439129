"""Compiled loops of generalized-alpha and of massless contact nodes give what step by step gives."""

import dataclasses

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples
from support.parts import bar, plate, solid

import dolfinx_impact as di
from dolfinx_impact.integrators.compiled import one_step
from dolfinx_impact.integrators.energy import TERMS, residual
from dolfinx_impact.integrators.one_step.theta_linear import FactorisedThetaStep
from dolfinx_impact.integrators.static.static_layer import StaticLayer

numba = pytest.importorskip("numba")

HISTORIES = ("t", "t_v", "u", "v", "v_t", "gap", "r")


def simulated(scheme, compiled, steps, **options):
    end, record = scheme.t + steps * scheme.dt, scheme.system.rows()
    return di.simulate(scheme, t_end=end, record=record, progress=False, compiled=compiled, **options)


def assert_close(run, plain, names=HISTORIES, *, factor=1.0):
    """To round-off of the largest value; velocities that are differences of positions to that over h."""
    energy = max(np.abs(plain[name]).max() for name in TERMS)
    for name in (*names, *TERMS):
        scale = energy if name in TERMS else np.abs(plain[name]).max(initial=0.0) + 1e-3
        np.testing.assert_allclose(run[name], plain[name], rtol=0, atol=factor * 1e-12 * scale, err_msg=name)


def closes(run):
    scale = max(np.abs(run[name]).max() for name in TERMS)
    return np.abs(residual({name: run[name] for name in TERMS})).max() < 1e-12 * scale


def over_floor(kind, named, courant, *, height=0.02, friction=0.0, body=None, floor=None, **options):
    """A body that falls on a floor, a little askew; options of the scheme, ``e`` of the contact."""
    dim, e = named.mesh.geometry.dim, options.pop("e", 0.0)
    made = solid(named, gravity=(*np.zeros(dim - 1), -0.3), **(body or {}))
    plane = floor or di.Plane(np.zeros(dim), np.eye(dim)[-1])
    contact = di.RigidContact(made, "tip", plane, restitution=e, friction=friction)
    s = kind(made, courant * made.critical_time_step(), contact=contact, **options)
    u, v = np.zeros((2, made.size))
    u[dim - 1 :: dim], v[dim - 1 :: dim] = height, -0.4
    v[dim - 1 :: dim] -= 0.02 * np.arange(made.size // dim) / made.size
    s.start(u, v)
    return s


# -- generalized-alpha


@pytest.mark.parametrize(
    "rho_inf, e, mass",
    [(0.0, 0.0, "lumped"), (0.5, 0.6, "consistent"), (1.0, 1.0, "consistent"), (0.8, 0.3, "lumped")],
)
def test_alpha_on_a_bar(rho_inf, e, mass):
    def make():
        named = bar(comm=MPI.COMM_SELF)
        return over_floor(di.GeneralizedAlpha, named, 2.0, rho_inf=rho_inf, mass=mass, e=e)

    plain, compiled = (simulated(make(), each, 300) for each in (False, True))
    assert np.count_nonzero(plain["r"]) > 3
    assert closes(plain) and closes(compiled)
    assert_close(compiled, plain, factor=100)


@pytest.mark.parametrize("kind", [dmesh.CellType.triangle, dmesh.CellType.quadrilateral])
def test_alpha_on_a_plate_with_many_points(kind):
    def make():
        return over_floor(di.GeneralizedAlpha, plate(kind, comm=MPI.COMM_SELF), 2.0, e=0.3)

    plain, compiled = (simulated(make(), each, 100) for each in (False, True))
    assert np.count_nonzero(plain["r"], axis=1).max() > 8
    assert_close(compiled, plain, factor=100)


@examples(5)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.booleans(),
)
def test_alpha_of_masses_against_an_oblique_plane(seed, rho_inf, e, fixed):
    rng = np.random.default_rng(seed)
    root, normal = rng.normal(size=(8, 8)), rng.normal(size=2)
    mass, load, height = np.repeat(rng.uniform(0.5, 2.0, 4), 2), rng.normal(size=8), rng.uniform(0.0, 0.3)
    pull = -3.0 * np.tile(normal / np.linalg.norm(normal), 4)

    def make():
        held = [7] if fixed else []
        system = di.PointMasses(mass, load=load + pull, stiffness=2.0 * root @ root.T, fixed=held)
        points = np.arange(8).reshape(4, 2)[: 3 if fixed else 4]
        contact = di.ObstacleContact(system, points, di.Plane(-height * normal, normal), restitution=e)
        s = di.GeneralizedAlpha(system, 0.02, contact, rho_inf=rho_inf)
        s.start(0.0, pull)
        return s

    plain, compiled = (simulated(make(), each, 120) for each in (False, True))
    assert plain["r"].any()
    assert closes(compiled)
    assert_close(compiled, plain, factor=1e4)


# -- massless contact nodes


def pulsed(t):
    return np.sin(9.0 * t) ** 2


def singular(named, **options):
    return over_floor(di.CDLagrangeSingular, named, 0.5, **options)


def damped_bar():
    return singular(bar(comm=MPI.COMM_SELF), body={"damping": 0.7})


def shaken_bar():
    shakes = {"ground_acceleration": ((0.7,), pulsed), "damping": 0.3}
    return singular(bar(comm=MPI.COMM_SELF), body=shakes)


def hanging():
    body = solid(bar(comm=MPI.COMM_SELF), fixed=["end"], gravity=(-1.0,))
    s = di.CDLagrangeSingular(body, 0.5 * body.critical_time_step())
    s.start(0.0, lambda x: 1.0 - x[:1])
    return s


def chain():
    """Three masses in a row above the ground."""
    K = 50.0 * np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    system = di.PointMasses([1.0, 2.0, 1.0], load=[-9.81, -19.62, -9.81], stiffness=K)
    s = di.CDLagrangeSingular(system, 0.02, contact=di.DofBound(system, 0, lower=0.0))
    s.start(0.3, -1.0)
    return s


SETUPS = {
    "bar": lambda: singular(bar(comm=MPI.COMM_SELF)),
    "resting bar": lambda: singular(bar(comm=MPI.COMM_SELF), height=0.0),
    "damped bar": damped_bar,
    "shaken bar": shaken_bar,
    "triangles": lambda: singular(plate(dmesh.CellType.triangle, comm=MPI.COMM_SELF)),
    "quadrilaterals": lambda: singular(plate(comm=MPI.COMM_SELF), height=0.0),
    "hanging": hanging,
    "chain": chain,
}


@pytest.mark.parametrize("setup", SETUPS)
def test_massless_contact_nodes(setup):
    plain, compiled = (simulated(SETUPS[setup](), each, 200) for each in (False, True))
    assert plain["r"].any() == (setup != "hanging")
    assert closes(plain) and closes(compiled)
    # Velocities of contact nodes are differences of positions over h.
    assert_close(compiled, plain, ("t", "t_v", "u", "gap"))
    assert_close(compiled, plain, ("v", "v_t", "r"), factor=100)


@pytest.mark.parametrize("points", [0, 2])
@pytest.mark.parametrize("kind", [di.GeneralizedAlpha, di.CDLagrangeSingular])
def test_more_closed_points_than_the_loop_takes(kind, points, monkeypatch):
    """Those steps are made one by one, amid the others."""
    monkeypatch.setattr(one_step, "COMPILED_POINTS", points)
    singly, made = (
        (StaticLayer, "settle") if kind is di.CDLagrangeSingular else (FactorisedThetaStep, "solve")
    )
    seen, usual = [], getattr(singly, made)

    def counted(*arguments, **options):
        seen.append(1)
        return usual(*arguments, **options)

    monkeypatch.setattr(singly, made, counted)

    def make():
        return over_floor(kind, plate(comm=MPI.COMM_SELF), 0.5)

    plain, compiled = (simulated(make(), each, 200) for each in (False, True))
    assert 200 < len(seen) < 400 and np.count_nonzero(plain["r"], axis=1).max() > 2
    assert_close(compiled, plain, factor=100)


@pytest.mark.parametrize("make", [SETUPS["damped bar"], SETUPS["triangles"], chain])
def test_it_goes_on_from_where_the_other_way_stops(make, tmp_path):
    whole = simulated(make(), False, 150)
    for order in ((True, False), (False, True)):
        s = make()
        parts = [simulated(s, each, steps) for each, steps in zip(order, (85, 65))]
        for name in ("u", "gap"):
            joined = np.concatenate([parts[0][name], parts[1][name][1:]])
            scale = np.abs(whole[name]).max()
            np.testing.assert_allclose(joined, whole[name], rtol=0, atol=1e-12 * scale, err_msg=name)
        keep = di.Checkpoint(tmp_path / f"run{order[0]}", every=85)
        s = make()
        di.simulate(s, t_end=85 * s.dt, checkpoint=keep, progress=False, compiled=order[0])
        s = make()
        again = di.simulate(s, t_end=150 * s.dt, restart=keep.path, progress=False, compiled=order[1])
        energy = max(np.abs(whole[name]).max() for name in TERMS)
        for name in TERMS:
            np.testing.assert_allclose(again[name], whole[name], rtol=0, atol=1e-12 * energy, err_msg=name)


def nonlinear(**options):
    body = di.Solid(bar(comm=MPI.COMM_SELF), density=2.0, law=di.NeoHookean(3.0, 0.0), cross_section=0.5)
    s = di.CDLagrangeSingular(body, 0.4 * body.critical_time_step(), di.RigidContact(body, "tip", FLOOR))
    s.start(0.0, -0.1)
    return s


FLOOR = di.Plane((0.0,), (1.0,))
REFUSED = {
    "friction": (
        lambda: singular(plate(comm=MPI.COMM_SELF), friction=0.3),
        "with friction normal and tangential impulses are found together",
    ),
    "curved": (
        lambda: singular(plate(comm=MPI.COMM_SELF), floor=di.Sphere((1.5, -5.0), 5.0), height=0.2),
        "the normals of a curved obstacle turn",
    ),
    "nonlinear": (nonlinear, "a force of the system is not of a compiled kind"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_says_why_there_is_no_loop(what):
    make, reason = REFUSED[what]
    with pytest.raises(ValueError, match=f"no compiled loop for this run: {reason}"):
        simulated(make(), True, 10)


# -- what the forms of a system vouch for

K = 20.0 * np.array([[2.0, -1.0], [-1.0, 2.0]])


class Stiffer(di.PointMasses):
    """Twice the stiffness, in forces and solvers of its own, and in their compiled form."""

    def force(self, t, u, v, out):
        super().force(t, u, v, out)
        out -= self.stiffness @ u

    def stored_energy(self, u):
        return 2 * super().stored_energy(u)

    def implicit_solver(self, factor, mass, massless=None):
        return super().implicit_solver(2 * factor, mass, massless)

    def compiled(self):
        return di.PointMasses(self.mass, stiffness=2 * self.stiffness).compiled()


class Pushed(di.PointMasses):
    """A load of its own beside the stiffness, in Python and compiled."""

    loop_solver = di.PointMasses.loop_solver

    def external(self, t, u, v, out):
        super().external(t, u, v, out)
        out[0] -= 5.0

    def compiled(self):
        return dataclasses.replace(di.PointMasses.compiled(self), external=_push)


@numba.njit
def _push(t, u, v, out):
    out[0] = -5.0


def springs(kind, system, h=0.05, K=K):
    made = system([1.0, 2.0], stiffness=K)
    s = kind(made, h, contact=di.DofBound(made, 1, lower=-0.1))
    s.start([0.1, 0.2], 0.0)
    return s


@pytest.mark.parametrize("kind", [di.MoreauJean, di.GeneralizedAlpha])
def test_a_system_with_a_solver_of_its_own_keeps_it(kind):
    """It would be another matrix that the loop has factors of."""
    expected = simulated(springs(kind, di.PointMasses, K=2 * K), False, 50)
    found = simulated(springs(kind, Stiffer), False, 50)
    np.testing.assert_allclose(found["u"], expected["u"], rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="write in the class loop_solver = PointMasses.loop_solver"):
        simulated(springs(kind, Stiffer), True, 50)


@pytest.mark.parametrize("kind", [di.MoreauJean, di.GeneralizedAlpha])
def test_implicit_loops_refuse_forces_beside_a_stored_stiffness(kind):
    with pytest.raises(ValueError, match="forces beside a stored stiffness and constant loads"):
        simulated(springs(kind, Pushed, 0.01), True, 50)


@pytest.mark.parametrize("part", [1.02, 1.5, 3.0])
def test_an_explosion_is_told_as_step_by_step(part):
    told = []
    for compiled in (False, True):
        s = over_floor(di.CDLagrangeSingular, bar(comm=MPI.COMM_SELF), part, allow_unstable=True)
        with pytest.raises(di.UnstableTimeStep) as caught:
            simulated(s, compiled, 4000)
        told.append(str(caught.value).partition(":")[0])
    assert told[0] == told[1]


@pytest.mark.parametrize("part, method", [("enforcement", "impulses"), ("layer", "settle")])
def test_parts_with_a_method_of_their_own_have_no_loop(part, method):
    s = chain()
    changed = s.enforcement if part == "enforcement" else s.system.layer
    setattr(changed, method, getattr(changed, method).__get__(changed))
    with pytest.raises(ValueError, match=rf"has a {method}\(\) of its own"):
        simulated(s, True, 10)


def test_the_velocity_of_direct_impulses_is_that_of_the_last_step():
    ends = []
    for compiled in (False, True):
        s = over_floor(di.GeneralizedAlpha, plate(comm=MPI.COMM_SELF), 2.0, e=0.3)
        simulated(s, compiled, 40)
        ends.append((s.end_position().copy(), s.u.copy()))
    assert np.abs(s.w).max() > 0
    for end, u in ends:
        np.testing.assert_allclose(end, u, rtol=0, atol=1e-14)
    np.testing.assert_allclose(*[end for end, _ in ends], rtol=0, atol=1e-12)
