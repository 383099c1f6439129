"""The critical time step: whole amplification matrices, written from the equations of the schemes alone."""

import dolfinx
import numpy as np
import pytest
import ufl
from mpi4py import MPI

import dolfinx_impact as di

P = 0.54
Q1 = (1 - 2 * P) / (2 * P * (1 - P))
Q2 = 0.5 - P * Q1
Q0 = 0.5 - Q1 - Q2


def central_differences(M, K, C, h):
    """Of (u, v): ``u' = u + h v``, ``v' = v - h M^-1 (K u' + C v)``."""
    one = np.eye(len(K))
    u, v = np.hstack([one, h * one]), np.hstack([0 * one, one])
    return np.vstack([u, v - h * np.linalg.solve(np.diag(M), K @ u + C @ v)])


def noh_bathe(M, K, C, h):
    """Of (u, v, a)."""
    one, none = np.eye(len(K)), np.zeros((len(K), len(K)))
    u, v, a = (np.hstack([one if i == j else none for j in range(3)]) for i in range(3))

    def acceleration(u, v):
        return -np.linalg.solve(np.diag(M), K @ u + C @ v)

    first, second = P * h, (1 - P) * h
    u1 = u + first * v + first**2 / 2 * a
    a1 = acceleration(u1, v + first * a)
    v1 = v + first / 2 * (a + a1)
    u2 = u1 + second * v1 + second**2 / 2 * a1
    a2 = acceleration(u2, v1 + second * a1)
    return np.vstack([u2, v1 + second * (Q0 * a + (0.5 + Q1) * a1 + Q2 * a2), a2])


def radius(amplification, *arguments):
    return np.abs(np.linalg.eigvals(amplification(*arguments))).max()


SCHEMES = {di.CDLagrange: central_differences, di.NohBathe: noh_bathe}


def chain(rng):
    """Masses, stiffness of a chain that is held at one end at least, and dashpots between any dofs."""
    n = int(rng.integers(1, 7))
    ends = np.vstack([np.eye(n), np.zeros(n)]) - np.vstack([np.zeros(n), np.eye(n)])
    springs = 10 ** rng.uniform(-1, 3, n + 1)
    springs[0] *= rng.random() < 0.5
    K, C = ends.T @ (springs[:, None] * ends), np.zeros((n, n))
    for _ in range(rng.integers(1, 4)):
        i, j = rng.integers(-1, n, 2)
        way = (np.arange(n) == i).astype(float) - (np.arange(n) == j)
        C += 10 ** rng.uniform(-2, 3) * np.outer(way, way)
    return 10 ** rng.uniform(-1, 1, n), K, C


def system(M, K, C):
    def damping(t, u, v, out):
        out[:] = C @ v

    return di.PointMasses(M, stiffness=K, damping=damping)


def test_chains_with_dashpots_anywhere_are_stable_below_the_limit():
    """The whole matrix, since dashpots couple modes. Central differences are not stable above."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        M, K, C = chain(rng)
        body = system(M, K, C)
        for scheme, amplification in SCHEMES.items():
            h = scheme.critical_step(body)
            assert radius(amplification, M, K, C, 0.9 * h) <= 1 + 1e-9
        assert radius(central_differences, M, K, C, 1.001 * body.critical_time_step()) > 1 + 1e-6


class Rayleigh(di.PointMasses):
    """Masses and springs with the damping ``alpha M + beta K`` of bodies."""

    def __init__(self, M, K, alpha, beta):
        self.damped = alpha, beta

        def damping(t, u, v, out):
            out[:] = alpha * M * v + beta * K @ v

        super().__init__(M, stiffness=K, damping=damping)

    @property
    def rayleigh(self):
        return self.damped


def test_the_limit_of_rayleigh_damping_is_sharp():
    """Stable at 0.9 and 0.9999 of it, not at 1.1, for weak and strong damping in any mixture."""
    rng, ratios = np.random.default_rng(7), []
    for _ in range(100):
        M, K, _ = chain(rng)
        alpha, beta = 10 ** rng.uniform(-3, 2, 2) * [1.0, 1e-2] * (rng.random(2) < 0.7)
        body, C = Rayleigh(M, K, alpha, beta), alpha * np.diag(M) + beta * K
        for scheme, amplification in SCHEMES.items():
            h = scheme.critical_step(body)
            assert radius(amplification, M, K, C, 0.9 * h) <= 1 + 1e-9
            assert radius(amplification, M, K, C, 0.9999 * h) <= 1 + 1e-9
            assert radius(amplification, M, K, C, 1.1 * h) > 1 + 1e-6
        ratios.append(di.NohBathe.critical_ratio(body))
    assert 0.936 < min(ratios) < 0.95 and max(ratios) == pytest.approx(1.872515, rel=1e-6)


@pytest.mark.parametrize(
    "xi, ratio", [(0.05, 1.7814387), (0.1, 1.6962403), (0.5, 1.2549265), (5.0, 0.9431183)]
)
def test_the_ratio_of_one_mode(xi, ratio):
    """Against the numbers found by bisection of the spectral radius of the 3x3 matrix."""
    body = Rayleigh(np.ones(1), np.ones((1, 1)), 2 * xi, 0.0)
    assert di.NohBathe.critical_ratio(body) == pytest.approx(ratio, rel=1e-6)


def test_a_dashpot_where_the_highest_mode_has_none():
    """It has a limit of its own, 2/c, and the run keeps its energy in bounds."""
    M, K, C = np.ones(2), np.diag([1e4, 1.0]), np.diag([0.0, 400.0])
    for scheme in SCHEMES:
        body = system(M, K, C)
        assert body.critical_time_step() == pytest.approx(2 / 400, rel=1e-5)
        s = scheme(body, 0.9 * scheme.critical_step(body))
        s.start(0.0, [0.0, 1e-3])
        run = di.simulate(s, t_end=300 * s.dt, progress=False)
        assert run["kinetic"][-1] < 1e-3 * run["kinetic"][0]


def strength(t, u, v, out):
    out[:] = 3.0 * np.sign(v)


def one_way(t, u, v, out):
    out[:] = 50.0 * np.maximum(v, 0.0)


def feeding(t, u, v, out):
    out[:] = -5.0 * v


def undefined(t, u, v, out):
    out[:] = v / np.abs(u)


@pytest.mark.parametrize(
    "damping, square, rate",
    [(strength, 1e4, 0), (one_way, 1e4, 25.0), (feeding, 1e4, 0), (undefined, 1e4, 0)],
)
def test_what_of_a_users_damping_counts(damping, square, rate):
    """Dampers of one direction whole; neither dry friction, nor what gives energy, nor what is undefined."""
    body = di.PointMasses([1.0, 2.0], stiffness=np.diag([square, 2.0]), damping=damping)
    rate *= 2.0  # that of the mass 1
    expected = 4 / (rate + np.hypot(rate, 2 * np.sqrt(square)))
    assert body.critical_time_step() == pytest.approx(expected, rel=1e-6)
    assert di.CDLagrangeImplicit.critical_step(body) == 2 / np.sqrt(square)


def dense(body):
    """``M^-1/2 (K, C) M^-1/2`` of a linear body on one rank."""
    size = body.owned
    K, C = np.zeros((size, size)), np.zeros((size, size))
    for j, column in enumerate(np.eye(size)):
        body.subtract_internal(column, K[j])
        body.damping(0.0, np.zeros(size), column, C[j])
    root = 1 / np.sqrt(body.mass)
    return -K * np.outer(root, root), C * np.outer(root, root)


def exact_limit(K, C):
    none = np.zeros_like(K)
    return 1 / np.linalg.eigvals(np.block([[C / 2, K / 4], [np.eye(len(K)), none]])).real.max()


def plate():
    return dolfinx.mesh.create_rectangle(MPI.COMM_SELF, [[0.0, 0.0], [1.0, 0.5]], [4, 3])


def test_all_damping_of_a_body_against_dense_matrices():
    """Bulk viscosity beside both constants: the largest h, not a bound."""
    options = {"damping": 30.0, "stiffness_damping": 1e-4, "bulk_viscosity": (0.5, 0.0)}
    body = di.Solid(plate(), density=1000.0, law=di.LinearElastic(1e6, 0.2), **options)
    K, C = dense(body)
    limit = exact_limit(K, C)
    assert body.critical_time_step() == pytest.approx(limit, rel=1e-7)
    assert di.NohBathe.critical_step(body) == pytest.approx(0.936200 * limit, rel=1e-6)
    # Rigid motions are a double eigenvalue 1, which round-off takes apart.
    assert radius(noh_bathe, np.ones(len(K)), K, C, 0.9 * 0.9362 * limit) <= 1 + 1e-6


def energy(u, factor=1.0):
    strain = ufl.sym(ufl.grad(u))
    return factor * (1e6 * ufl.inner(strain, strain) + 5e5 * ufl.div(u) ** 2) * ufl.dx


def fields():
    space = dolfinx.fem.functionspace(plate(), ("Lagrange", 1, (2,)))
    return space, dolfinx.fem.Function(space), ufl.TrialFunction(space), ufl.TestFunction(space)


@pytest.mark.parametrize("dashpot", [1e4, 1e6])
def test_dampers_along_the_boundary_of_a_form_system(dashpot):
    space, u, trial, w = fields()
    stiffness = ufl.derivative(ufl.derivative(energy(u), u, w), u, trial)
    damping = dolfinx.fem.Constant(space.mesh, dashpot) * ufl.inner(trial, w) * ufl.ds
    body = di.FormSystem(space, stiffness=stiffness, damping=damping, density=1000.0)
    assert body.critical_time_step() == pytest.approx(exact_limit(*dense(body)), rel=1e-7)


def test_a_negative_energy_has_no_critical_step():
    space, u, _, _ = fields()
    system = di.FormSystem(space, energy=energy(u, dolfinx.fem.Constant(space.mesh, -1.0)), u=u, density=1e3)
    with pytest.raises(ValueError, match="stiffness at rest is negative: squared frequencies .*wrong"):
        di.CDLagrange(system, 1e-6)


def test_a_tangent_that_is_not_symmetric_is_called_so():
    space, u, _, w = fields()
    turning = 2e8 * (u[0] * w[1] - u[1] * w[0]) * ufl.dx
    system = di.FormSystem(space, internal=ufl.derivative(energy(u), u, w) + turning, u=u, density=1e3)
    with pytest.raises(ValueError, match="tangent of the forces is not symmetric"):
        system.critical_time_step()


def test_damping_across_the_velocity_is_named_beside_an_energy():
    space, u, _, w = fields()
    v = dolfinx.fem.Function(space)
    across = 1e5 * (v[0] * w[1] - v[1] * w[0]) * ufl.dx
    system = di.FormSystem(space, energy=energy(u), u=u, v=v, damping=across, density=1e3)
    with pytest.raises(ValueError, match="no energy, or the damping is not symmetric"):
        system.critical_time_step()


@pytest.mark.parametrize("stiffness", [None, [[2e4, -1e4], [-1e4, 1e4]]])
def test_forces_across_the_velocity_lower_the_limit(stiffness):
    """They follow the velocity half a step before; free masses grow above ``2 c / (c^2 + g^2)``."""
    c, g = 100.0, 300.0

    def drag(t, u, v, out):
        out[:] = c * v[0] - g * v[1], g * v[0] + c * v[1]

    system = di.PointMasses([1.0, 1.0], stiffness=stiffness, damping=drag)
    limit, grown = system.critical_time_step(), []
    if stiffness is None:
        assert limit == pytest.approx(2 * c / (c**2 + g**2), rel=1e-5)
    for part in (0.99, 1.01):
        s = di.CDLagrange(system, part * limit, allow_unstable=True)
        s.start(0.0, [1.0, 0.0])
        for _ in range(2000):
            s.step()
        grown.append(np.abs(s.v).max())
    assert grown[0] < 0.1 and grown[1] > 10.0  # of 1 at the start


def test_forces_across_the_velocity_alone_have_no_limit():
    """Without damping each step lets them grow, the less the smaller it is."""

    def across(t, u, v, out):
        out[:] = -0.1 * v[1], 0.1 * v[0]

    system = di.PointMasses([1.0, 1.0], stiffness=np.diag([4.0, 1.0]), damping=across)
    assert system.critical_time_step() == pytest.approx(1.0, rel=1e-12)
