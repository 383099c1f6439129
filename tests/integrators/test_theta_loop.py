"""The compiled loop of the theta method gives what step by step gives, and says when it cannot run."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from petsc4py import PETSc
from support import wrong_contact
from support.examples import examples
from support.pairwise import pairwise
from support.parts import bar, plate, solid

import dolfinx_impact as di
from dolfinx_impact import NotConverged
from dolfinx_impact.algebra import kernels
from dolfinx_impact.integrators import PositionLevel, ThetaMethod
from dolfinx_impact.integrators.energy import TERMS, residual
from dolfinx_impact.integrators.impulses.delassus import FactorisedDelassus
from dolfinx_impact.integrators.one_step import theta_linear
from dolfinx_impact.integrators.one_step.one_step_energy import ThetaBalance
from dolfinx_impact.integrators.one_step.theta_linear import FactorisedThetaStep
from dolfinx_impact.integrators.static.modified_mass import ModifiedMass
from dolfinx_impact.integrators.step_buffer import compiled_loop

pytest.importorskip("numba")

DEP44, DEP61 = (di.SCHEMES[name].make for name in ("dep-4.4", "dep-6.1"))
HISTORIES = ("t", "t_v", "u", "v", "v_t", "gap", "r")


def simulated(scheme, compiled, steps=250, **options):
    record = scheme.system.rows()
    end = scheme.t + steps * scheme.dt
    return di.simulate(scheme, t_end=end, record=record, progress=False, compiled=compiled, **options)


def both(make, steps=250):
    """The histories of ``make()`` step by step and compiled; energies are compared to round-off."""
    plain, compiled = (simulated(make(), each, steps) for each in (False, True))
    energy = max(np.abs(plain[name]).max() for name in TERMS)
    for name in TERMS:
        np.testing.assert_allclose(
            compiled[name], plain[name], rtol=0, atol=1e-12 * energy + 1e-300, err_msg=name
        )
    return plain, compiled


def assert_same(make, steps=250):
    """Bitwise, where all sums have one order."""
    plain, compiled = both(make, steps)
    for name in HISTORIES:
        np.testing.assert_array_equal(compiled[name], plain[name], err_msg=name)
    return compiled


def closes(run):
    """The balance of energies, to round-off."""
    energies = {name: run[name] for name in TERMS}
    scale = max(np.abs(each).max() for each in energies.values())
    return np.abs(residual(energies)).max() < 1e-12 * scale


def floor(named):
    return di.Plane(np.zeros(named.mesh.geometry.dim), np.eye(named.mesh.geometry.dim)[-1])


def dropped(named, kind=di.MoreauJean, *, e=None, mass="lumped", height=0.02, courant=2.0, **options):
    """A body over a floor, with weight, a little askew in a plane; at height 0 it lies on the floor."""
    dim = named.mesh.geometry.dim
    body = solid(named, gravity=(*np.zeros(dim - 1), -0.3))
    law = {} if e is None else {"restitution": e}
    contact = di.RigidContact(body, "tip", floor(named), **law)
    s = kind(body, courant * body.critical_time_step(), contact=contact, mass=mass, **options)
    u, v = np.zeros((2, body.size))
    u[dim - 1 :: dim], v[dim - 1 :: dim] = height, -0.4
    v[dim - 1 :: dim] -= 0.02 * (height > 0) * np.arange(body.size // dim) / body.size
    s.start(u, v)
    return s


@examples(5)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.5, 0.6, 0.8, 1.0]),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_masses_in_a_plane_against_an_oblique_one(seed, theta, e, forecast, fixed):
    """Points with loads, joined by springs, above a plane."""
    rng = np.random.default_rng(seed)
    root, normal = rng.normal(size=(8, 8)), rng.normal(size=2)
    mass, load, height = np.repeat(rng.uniform(0.5, 2.0, 4), 2), rng.normal(size=8), rng.uniform(0.0, 0.3)
    pull = -3.0 * np.tile(normal / np.linalg.norm(normal), 4)

    def make():
        system = di.PointMasses(
            mass, load=load + pull, stiffness=2.0 * root @ root.T, fixed=[7] if fixed else []
        )
        points = np.arange(8).reshape(4, 2)[: 3 if fixed else 4]
        contact = di.ObstacleContact(system, points, di.Plane(-height * normal, normal), restitution=e)
        s = di.MoreauJean(system, 0.02, theta, contact=contact, forecast=forecast)
        s.start(0.0, pull)
        return s

    plain, compiled = both(make, 120)
    assert plain["r"].any()
    assert closes(plain) and closes(compiled)
    for name in HISTORIES:  # products with a dense stiffness are those of BLAS step by step
        scale = np.abs(plain[name]).max() + 1e-3
        np.testing.assert_allclose(compiled[name], plain[name], rtol=0, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize(
    "e, theta, mass",
    [(0.0, 0.5, "lumped"), (0.5, 0.7, "consistent"), (1.0, 0.5, "consistent"), (0.8, 1.0, "lumped")],
)
def test_a_bar(e, theta, mass):
    run = assert_same(lambda: dropped(bar(comm=MPI.COMM_SELF), e=e, theta=theta, mass=mass))
    assert np.count_nonzero(run["r"]) > 3 and closes(run)


@pytest.mark.parametrize(
    *pairwise(
        kind=[dmesh.CellType.triangle, dmesh.CellType.quadrilateral],
        height=[0.0, 0.02],
        mass=["lumped", "consistent"],
    )
)
def test_a_plate_with_many_points_of_contact(kind, height, mass):
    named = plate(kind, comm=MPI.COMM_SELF)
    run = assert_same(lambda: dropped(named, e=0.3, theta=0.6, mass=mass, height=height), 120)
    assert np.count_nonzero(run["r"], axis=1).max() > 8 and closes(run)


@pytest.mark.parametrize("kind", [di.MoreauJeanDecoupled, DEP44, DEP61])
def test_schemes_of_the_theta_method(kind):
    """The impulse after a step without contact; contact at position level; touching points that are open."""
    e = 1.0 if kind is DEP61 else None
    run = assert_same(lambda: dropped(plate(comm=MPI.COMM_SELF), kind, e=e, mass="consistent"), 120)
    assert run["r"].any() and closes(run) == (kind is not di.integrators.MoreauJeanDecoupled)


def test_without_contact_and_with_fixed_ends():
    def make():
        body = solid(bar(comm=MPI.COMM_SELF), fixed=["end"], gravity=(-1.0,))
        s = di.MoreauJean(body, 0.05)
        s.start(0.0, lambda x: 1.0 - x[:1])
        return s

    assert closes(assert_same(make))


def test_more_closed_points_than_the_loop_takes(monkeypatch):
    """Those steps are made one by one, amid the others."""
    monkeypatch.setattr("dolfinx_impact.integrators.compiled.one_step.COMPILED_POINTS", 2)
    steps, solve = [], FactorisedThetaStep.solve

    def counted(step):
        steps.append(1)
        solve(step)

    monkeypatch.setattr(FactorisedThetaStep, "solve", counted)
    run = assert_same(lambda: dropped(plate(comm=MPI.COMM_SELF), e=0.3), 120)
    assert 120 < len(steps) < 240 and np.count_nonzero(run["r"], axis=1).max() > 2


@pytest.mark.parametrize("compiled", [False, True])
def test_a_contact_operator_that_is_none_is_told(compiled, monkeypatch):
    monkeypatch.setattr(FactorisedDelassus, "_delassus", lambda self, which, L: -np.eye(which.size))
    with pytest.raises(NotConverged, match="has the diagonal entry -1 1/kg"):
        simulated(points(over(PLANE)), compiled)


def test_it_goes_on_from_where_the_other_way_stops(tmp_path):
    def make():
        return dropped(plate(comm=MPI.COMM_SELF), e=0.5, theta=0.7, mass="consistent")

    whole = simulated(make(), True, 60)
    for order in ((True, False), (False, True)):
        s = make()
        parts = [simulated(s, each, steps) for each, steps in zip(order, (25, 35))]
        for name in HISTORIES:
            joined = np.concatenate([parts[0][name], parts[1][name][1:]])
            np.testing.assert_array_equal(joined, whole[name], err_msg=name)
        keep = di.Checkpoint(tmp_path / f"run{order[0]}", every=25)
        s = make()
        di.simulate(s, t_end=25 * s.dt, checkpoint=keep, progress=False, compiled=order[0])
        s = make()
        again = di.simulate(s, t_end=60 * s.dt, restart=keep.path, progress=False, compiled=order[1])
        np.testing.assert_array_equal(again["r"], whole["r"])
        energy = whole["kinetic"].max()
        for name in TERMS:
            np.testing.assert_allclose(again[name], whole[name], rtol=0, atol=1e-12 * energy, err_msg=name)


# -- what has no loop


class Changed(di.MoreauJean):
    def advance(self):
        super().advance()


class Counting(ThetaBalance):
    steps = 0

    def step(self):
        super().step()
        self.steps += 1


class Rounded(FactorisedThetaStep):
    def update(self):
        super().update()


class Other(di.MoreauJean):
    compiled_loop = di.MoreauJean.compiled_loop

    def make_step_solver(self):
        return Rounded(self)


class OwnSolver(di.PointMasses):
    def implicit_solver(self, factor, mass, massless=None):
        return super().implicit_solver(factor, mass, massless)


class OwnMass(di.PointMasses):
    def mass_product(self, v, mass, out):
        out[:] = self.mass * v


def points(contact=None, scheme=di.MoreauJean, system=di.PointMasses, **options):
    made = system([1.0, 2.0], **{"load": [0.0, -9.81], **options})
    s = scheme(made, 1e-2, contact=contact(made) if contact else None)
    s.start(1.0, 0.0)
    return s


def over(obstacle, **options):
    return lambda s: di.ObstacleContact(s, [[0, 1]], obstacle, **options)


def massless(system, dt, contact, mass):
    return ThetaMethod(ModifiedMass(system, contact), dt, PositionLevel(contact), theta=0.5, mass=mass)


def drag(t, u, v, out):
    out[:] = 0.1 * v


PLANE = di.Plane((0.0, 0.0), (0.0, 1.0))
CORNER = di.UnionObstacle([PLANE, di.Plane((0.0, 0.0), (1.0, 0.0))])
REFUSED = {
    "step": (lambda: points(scheme=Changed), "Changed derives from MoreauJean"),
    "step solver": (lambda: points(scheme=Other), "Rounded derives from FactorisedThetaStep"),
    "balance": (points, "Counting derives from ThetaBalance"),
    "law": (
        lambda: points(
            over(PLANE), lambda s, dt, contact: ThetaMethod(s, dt, wrong_contact.Milder(contact), theta=0.5)
        ),
        "Milder derives from VelocityLevel",
    ),
    "damping": (lambda: points(damping=drag), "a force of the system is not of a compiled kind"),
    "friction": (lambda: points(over(PLANE, friction=0.3)), "with friction normal and tangential impulses"),
    "curved": (
        lambda: points(over(di.Sphere((0.0, 0.0), 5.0, inside=True))),
        "the normals of a curved obstacle turn",
    ),
    "shared dofs": (lambda: points(over(CORNER)), "points of the contact share dofs"),
    "own solver": (lambda: points(system=OwnSolver), "OwnSolver derives from PointMasses"),
    "own mass": (lambda: points(system=OwnMass), "OwnMass derives from PointMasses"),
    "unstable": (
        lambda: points(stiffness=[[-1e6, 0.0], [0.0, 1.0]]),
        "DenseSolver is no solver of compiled loops",
    ),
    "modified mass": (
        lambda: dropped(bar(comm=MPI.COMM_SELF), massless),
        "ModifiedMass computes its forces in a way",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_says_why_there_is_no_loop(what):
    make, reason = REFUSED[what]
    s = make()
    observers = [Counting(s)] if what == "balance" else []
    with pytest.raises(ValueError, match=f"no compiled loop for this run: {reason}"):
        simulated(s, True, observers=observers)
    assert simulated(s, None, 10, observers=observers).steps == 10


def test_where_petsc_solves_there_is_no_loop(monkeypatch):
    def loop():
        s = dropped(bar(comm=MPI.COMM_SELF))
        return compiled_loop(s, s.system.rows(), None)

    loop()
    options = PETSc.Options("impact_theta_")
    options["ksp_max_it"] = 7
    try:
        with pytest.raises(
            kernels.NotCompiled, match="solved by PETSc, as with many free dofs, with options"
        ):
            loop()
    finally:
        options.delValue("ksp_max_it")
    monkeypatch.setattr(theta_linear, "OWN_SOLVES", 5)
    with pytest.raises(kernels.NotCompiled, match="solved by PETSc"):
        loop()


@pytest.mark.parametrize("factor", [0.0, 0.02])
@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_factors_of_loops_solve_what_petsc_solves(mass, factor):
    body = solid(plate(comm=MPI.COMM_SELF), fixed=["end"])
    b, x, y = np.cos(3.0 * np.arange(body.size)), np.zeros(body.size), np.ones(body.size)
    body.loop_solver(factor, 1.0, "impact_theta_", mass).solve(b, y)
    body.implicit_solver(factor, mass).solve(b, x)
    np.testing.assert_allclose(y, x, rtol=0, atol=1e-12 * np.abs(x).max())
    assert not y[body.constrained].any()
    with pytest.raises(ValueError, match="mass must be"):
        body.loop_solver(factor, 1.0, "impact_theta_", "heavy")


def test_position_level_takes_the_loop_at_any_theta():
    def scheme(s, dt, contact, mass):
        return ThetaMethod(s, dt, PositionLevel(contact), theta=0.8, mass=mass)

    assert assert_same(lambda: dropped(plate(comm=MPI.COMM_SELF), scheme), 120)["r"].any()
