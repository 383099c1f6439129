"""Moreau-Jean where forces are not linear: orders, invariants, balances, contact inside Newton."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.integrate import solve_ivp

import dolfinx_impact as di
from dolfinx_impact import NotConverged
from dolfinx_impact.integrators.one_step.theta_newton import NewtonThetaStep

K, L0 = 10.0, 1.0


def spring(t, u, v, out):
    """F_int = k (1 - l0/|x|) x of Di Stasio et al. (43)."""
    out[:] = K * (1 - L0 / np.linalg.norm(u)) * u


def stored(u):
    return 0.5 * K * (np.linalg.norm(u) - L0) ** 2


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def rotating(scheme, h, wall=True, e=1.0, **options):
    system = di.PointMasses([1.0, 1.0], internal=spring, energy=stored, labels=["x", "y"])
    ring = di.ObstacleContact(system, [[0, 1]], di.Sphere((0.0, 0.0), 1.4, inside=True), restitution=e)
    integrator = scheme(system, h, contact=ring if wall else None, **options)
    integrator.start([0.8, 0.0], [1.0, 2.0])
    return integrator


def test_central_differences_keep_angular_momentum_through_impacts():
    integrator = rotating(di.CDLagrange, 0.1)
    spins = []
    result = di.simulate(
        integrator,
        t_end=60.0,
        progress=False,
        observers=[integrator.balance(), lambda s: spins.append(cross(s.u, s.v))],
    )
    assert np.abs(np.array(spins) - spins[0]).max() < 1e-12
    assert np.count_nonzero(result["r"]) > 20
    assert np.abs(result["residual"]).max() < 1e-12


@pytest.mark.parametrize("e", [1.0, 0.0])
def test_invariant_of_moreau_jean(e):
    """``x ^ v + (h^2/4) v ^ a`` is exact for the coupled scheme with a frictionless wall."""
    h = 0.1
    integrator = rotating(di.MoreauJean, h, e=e)
    f, found = np.zeros(2), []

    def note(s):
        s.system.force(s.t, s.u, s.v, f)
        found.append(cross(s.u, s.v) + h**2 / 4 * cross(s.v, f))

    result = di.simulate(integrator, t_end=15.0, observers=[integrator.balance(), note], progress=False)
    assert np.count_nonzero(result["r"]) >= (4 if e else 1)
    free = found[0] if e else found[-1]
    assert np.abs(np.array(found)[-100:] - free).max() < (1e-12 if e else 1e-11)
    assert np.abs(result["residual"]).max() < 1e-11


@pytest.mark.parametrize(
    "theta, force",
    [(0.5, "trapezoid"), (0.5, "midpoint"), (0.75, "trapezoid"), (0.75, "midpoint"), (1.0, "trapezoid")],
)
def test_order_and_balance_of_works(theta, force):
    """A driven, damped pendulum-like spring against a solver of high order."""

    def load(t, u, v, out):
        out[:] = np.sin(2 * t), 0.3

    def drag(t, u, v, out):
        out[:] = 0.4 * np.linalg.norm(v) * v

    system = di.PointMasses([1.0, 1.0], load, internal=spring, energy=stored, damping=drag)

    def rhs(t, y):
        f = np.zeros(2)
        system.force(t, y[:2], y[2:], f)
        return np.concatenate([y[2:], f])

    true = solve_ivp(rhs, (0.0, 0.5), [0.8, 0.0, 1.0, 2.0], rtol=1e-11, atol=1e-12).y[:2, -1]
    errors = []
    for steps in (20, 40):
        integrator = di.MoreauJean(system, 0.5 / steps, theta, force=force)
        assert isinstance(integrator.step_solver, NewtonThetaStep)
        integrator.start([0.8, 0.0], [1.0, 2.0])
        result = di.simulate(integrator, t_end=0.5, progress=False)
        errors.append(np.abs(integrator.u - true).max())
        assert np.abs(result["residual"]).max() < 1e-12
        assert result["dissipated"][-1] > 0.1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 if theta == 0.5 else 1, abs=0.2)


def test_newton_agrees_with_the_factorised_step():
    """A linear system given by its stiffness, and by a callable of the same force."""
    A = np.array([[40.0, -15.0], [-15.0, 20.0]])

    def internal(t, u, v, out):
        out[:] = A @ u

    runs = []
    for system in (di.PointMasses([1.0, 3.0], stiffness=A), di.PointMasses([1.0, 3.0], internal=internal)):
        integrator = di.MoreauJean(system, 0.05, 0.6, di.DofBound(system, 0, lower=-0.05, restitution=0.4))
        integrator.start([0.1, 0.0], [-1.0, 0.5])
        runs.append(di.simulate(integrator, t_end=5.0, progress=False))
    assert np.count_nonzero(runs[0]["r"]) > 3
    for key in ("u", "v", "r", "gap", "contact", "dissipated"):
        assert runs[0][key] == pytest.approx(runs[1][key], abs=1e-11)


def test_balance_of_damping_in_central_differences():
    def drag(t, u, v, out):
        out[:] = 0.8 * v

    system = di.PointMasses(
        1.0,
        internal=lambda t, u, v, out: np.copyto(out, 4 * np.sin(u)),
        energy=lambda u: 4 * (1 - np.cos(u[0])),
        damping=drag,
    )
    integrator = di.CDLagrange(system, 0.01)
    integrator.start(1.0, 0.0)
    result = di.simulate(integrator, t_end=10.0, progress=False)
    assert np.abs(result["residual"]).max() < 1e-14
    assert result["dissipated"][-1] == pytest.approx(result["internal"][0], rel=0.05)
    assert np.abs(result["internal_work"] - (result["internal"] - result["internal"][0])).max() < 1e-3


def test_no_solution_is_said():
    """A force that jumps with the velocity: no velocity fits, and Newton says so."""

    def jump(t, u, v, out):
        out[:] = -1.0 if v[0] > 0.3 else 1.0

    integrator = di.MoreauJean(di.PointMasses(1.0, jump), 1.0)
    integrator.start(0.0, 0.0)
    with pytest.raises(NotConverged, match="Newton did not find the velocity at t = 1 s"):
        integrator.step()


@pytest.mark.parametrize("scheme", [di.MoreauJean, di.GeneralizedAlpha])
def test_a_held_body_comes_to_rest(scheme):
    """At rest the stresses of a nonlinear law round like those of far larger displacements."""
    sides = [[0.0, 0.0], [0.2, 0.1]]
    block = dmesh.create_rectangle(MPI.COMM_WORLD, sides, [2, 1], dmesh.CellType.quadrilateral)
    foot = di.named(block, foot=lambda x: x[1] < 1e-9)
    law = di.NeoHookean(1e6, 0.3)
    body = di.Solid(foot, law=law, density=1000.0, damping=400.0, gravity=(0.0, -10.0), fixed=["foot"])
    s = scheme(body, body.critical_time_step())
    s.start(0.0, 0.0)
    di.simulate(s, t_end=0.1, every=50)
    assert np.abs(s.v).max() < 1e-10


def test_forces_without_a_tangent_are_told():
    """They end where sqrt does: differences beside the last position are no numbers."""

    def ends(t, u, v, out):
        with np.errstate(invalid="ignore"):
            out[:] = np.sqrt(1.0 - u * u)

    for position, words in (
        (False, "are not finite|no velocity .* with finite"),
        (True, "no equilibrium of contact"),
    ):
        system = di.PointMasses(1.0, ends)
        s = di.MoreauJean(system, 0.01, contact=di.DofBound(system, 0, lower=-1.0), position=position)
        s.start(0.0, 1.0)
        with pytest.raises(NotConverged, match=words):
            di.simulate(s, t_end=5.0, progress=False)

    system = di.PointMasses(np.ones(2), stiffness=np.diag([1.0, -64.0]))
    s = di.MoreauJean(system, 0.25)  # M + h^2/4 K is singular
    s.start(1.0, 0.0)
    with pytest.raises(RuntimeError, match="the matrix of the step is singular: take another time step"):
        di.simulate(s, t_end=1.0, progress=False)

    s = di.CDLagrangeImplicit(di.PointMasses(1.0, ends), 0.01)
    s.start(0.0, 1.0)
    with pytest.raises(NotConverged, match="no velocity at t = .* not finite"):
        di.simulate(s, t_end=5.0, progress=False)
