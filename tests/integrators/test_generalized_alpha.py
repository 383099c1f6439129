"""Nonsmooth generalized-alpha: its formulas against a dense program, orders, damping, balance, limits."""

import math

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.integrate import solve_ivp
from support.colliding import layers

import dolfinx_impact as di
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.integrators.one_step.theta_linear import FactorisedThetaStep
from dolfinx_impact.integrators.one_step.theta_newton import NewtonThetaStep

COMM, ALONE = MPI.COMM_WORLD, MPI.COMM_SELF
RHO = pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 1.0])
GRAVITY = 9.81


# -- an independent program


class Dense:
    """The formulas with dense matrices: a' and the impulses of a step by a generalised Newton method.

    ``contact(t, u)`` gives for each point gap, normal, tangent and velocity of the obstacle; points have
    2 dofs each. ``0 <= x _|_ r >= 0`` and Coulomb's law stand as equations with projections.
    """

    def __init__(self, mass, force, h, rho, free, contact=None, nodes=(), e=0.0, mu=0.0):
        self.M, self.F, self.h, self.free, self.contact = mass, force, h, free, contact
        self.nodes, self.e, self.mu = nodes, e, mu
        self.am, self.af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        self.gamma = 0.5 + self.af - self.am
        self.beta = (self.gamma + 0.5) ** 2 / 4

    def solve_mass(self, b):
        x, which = np.zeros_like(b), np.ix_(self.free, self.free)
        x[self.free] = np.linalg.solve(self.M[which], b[self.free])
        return x

    def start(self, t, u, v):
        self.t, self.u, self.v = t, u.copy(), v.copy()
        self.a = self.solve_mass(self.F(t, u, v))

    def rows(self):
        """Rows for the normal and for the tangential velocities of the closed points."""
        self.closed, N, T, self.speed = [], [], [], np.zeros((0, 2))
        if self.contact is not None:
            gap, n, s, speed = self.contact(self.t + self.h / 2, self.u + self.h / 2 * self.v)
            self.closed = [i for i in range(len(self.nodes)) if gap[i] <= 1e-12]
            self.speed = speed(self.t + self.h)
            for i in self.closed:
                for rows, direction in ((N, n), (T, s)):
                    row = np.zeros(len(self.u))
                    row[2 * self.nodes[i] : 2 * self.nodes[i] + 2] = direction
                    rows.append(row)
            self.pull = np.array([n @ self.speed, s @ self.speed])
            self.before = n @ speed(self.t)
        shape = (len(self.closed), len(self.u))
        return np.reshape(N, shape), np.reshape(T, shape)

    def end(self, a, w):
        h, gamma, beta = self.h, self.gamma, self.beta
        v = self.v + h * (1 - gamma) * self.a + h * gamma * a + w
        u = self.u + h * self.v + h**2 * (0.5 - beta) * self.a + h**2 * beta * a + h / 2 * w
        return u, v

    def step(self, a, r, r_t):
        """One step; the iterations, which may cycle far from their end, begin here."""
        N, T = self.rows()
        k, count = self.free.sum(), len(self.closed)
        f = self.F(self.t, self.u, self.v)
        solved = np.array([self.solve_mass(row) for row in (*N, *T)]).reshape(2 * count, len(self.u))
        size = np.linalg.norm(self.M) / np.sqrt(k)

        def state(x):
            a = np.zeros(len(self.u))
            a[self.free] = x[:k]
            w = x[k:] @ solved
            return a, w, *self.end(a, w)

        def equations(x):
            a, _, u, v = state(x)
            lacking = (1 - self.am) * self.M @ a + self.am * self.M @ self.a
            lacking -= (1 - self.af) * self.F(self.t + self.h, u, v) + self.af * f
            r, r_t = x[k : k + count], x[k + count :]
            if not count:
                return lacking[self.free] / size
            wanted = N @ v - self.pull[0] + self.e * (N @ self.v - self.before)
            normal = r - np.maximum(0.0, r - size * wanted)
            bound = self.mu * np.maximum(r, 0.0)
            tangential = r_t - np.clip(r_t - size * (T @ v - self.pull[1]), -bound, bound)
            return np.concatenate([lacking[self.free], normal, tangential]) / size

        x = np.concatenate([a[self.free], r[self.closed], r_t[self.closed]])
        for _ in range(60):
            y, d = equations(x), 1e-6 * max(1.0, np.abs(x).max())
            if np.abs(y).max() < 1e-11 * max(1.0, np.abs(self.a).max()):
                break
            J = [(equations(x + d * unit) - equations(x - d * unit)) / (2 * d) for unit in np.eye(x.size)]
            x = x - np.linalg.solve(np.transpose(J), y)
        else:
            raise AssertionError(f"the dense program finds no step: {np.abs(y).max()}")
        self.a, _, self.u, self.v = state(x)
        self.r, self.r_t = np.zeros(len(self.nodes)), np.zeros(len(self.nodes))
        self.r[self.closed], self.r_t[self.closed] = x[k : k + count], x[k + count :]
        self.t += self.h


def plate(law, comm=ALONE, cells=2, **options):
    """A unit square; its facets ``bottom`` and ``top``."""
    mesh = dmesh.create_unit_square(comm, cells, cells)
    sides = {"bottom": lambda x: np.isclose(x[1], 0.0), "top": lambda x: np.isclose(x[1], 1.0)}
    return di.Solid(di.named(mesh, **sides), density=2.0, law=law, **options)


NEO, LINEAR = di.NeoHookean(10.0, 0.3), di.LinearElastic(10.0, 0.3)
NORMAL = np.array([0.1, 1.0]) / math.hypot(0.1, 1.0)
TANGENT = np.array([NORMAL[1], -NORMAL[0]])


def lifted(t):
    return 0.02 * math.sin(8.0 * t)


def dragged(t):
    return 0.1 * t


def floor(body, moving, **law):
    plane = di.Plane([0.0, -0.004], NORMAL)
    if moving:
        motion = [((0.0, 1.0), lifted), ((1.0, 0.0), dragged)]

        def rate(t):
            return np.array([0.1, 0.16 * math.cos(8.0 * t)])

        plane = di.MovingObstacle(plane, translation=motion, translation_rate=rate)
    return di.RigidContact(body, "bottom", plane, allow_penetration=True, **law)


def dense(s, wall, moving, e, mu):
    """The dense program of a scheme on a plate with its floor."""
    body = s.system
    M = np.diag(body.mass)
    if s.mass == "consistent":
        M = body.matrices.mass("consistent").convert("aij")[:, :]

    def force(t, u, v):
        out = np.zeros(body.size)
        body.force(t, u.copy(), v.copy(), out)
        return out

    nodes = wall.L.dofs[:, 0] // 2

    def contact(t, u):
        moved = np.array([dragged(t), lifted(t)]) if moving else np.zeros(2)
        at = body.x[nodes, :2] + u.reshape(-1, 2)[nodes]

        def speed(t):
            return np.array([0.1, 0.16 * math.cos(8.0 * t)]) if moving else np.zeros(2)

        return (at - moved - [0.0, -0.004]) @ NORMAL, NORMAL, TANGENT, speed

    return Dense(M, force, s.dt, s.rho_inf, ~body.constrained, contact, nodes, e, mu)


@pytest.mark.parametrize(
    "rho, law, mass, moving, e, mu, options",
    [
        (0.0, NEO, "lumped", True, 0.3, 0.4, {"damping": 0.5}),
        (0.8, NEO, "consistent", False, 0.0, 0.2, {"stiffness_damping": 3e-2}),
        (0.8, NEO, "consistent", True, 0.5, 0.3, {}),
        (0.5, LINEAR, "consistent", True, 0.5, 0.3, {}),
        (0.0, LINEAR, "lumped", False, 0.0, 0.2, {}),
        (1.0, LINEAR, "consistent", True, 0.0, 0.3, {}),
    ],
)
def test_steps_against_a_dense_program(rho, law, mass, moving, e, mu, options):
    body = plate(law, gravity=(0.0, -1.0), **options)
    wall = floor(body, moving, restitution=e, friction=mu)
    s = di.GeneralizedAlpha(body, 2.0 * body.critical_time_step(), wall, rho_inf=rho, mass=mass)
    s.start(0.0, body.rigid_velocity((0.2, -0.3), spin=0.4))
    other = dense(s, wall, moving, e, mu)
    other.start(s.t, s.u, s.v)
    assert s.a == pytest.approx(other.a, abs=1e-10)
    hits = slips = sticks = 0
    for _ in range(8):
        s.step()
        other.step(s.a, s.r, s.r_t @ TANGENT)
        for mine, true in ((s.u, other.u), (s.v, other.v), (s.a, other.a), (s.r, other.r)):
            assert np.abs(mine - true).max() < 1e-9 * max(1.0, np.abs(true).max())
        assert s.r_t @ TANGENT == pytest.approx(other.r_t, abs=1e-9)
        full = np.isclose(np.abs(other.r_t), mu * other.r, rtol=1e-6)
        hits, slips = hits + (s.r > 1e-6).sum(), slips + (full & (other.r > 1e-6)).sum()
        sticks += (~full & (other.r > 1e-6)).sum()
    assert hits > 3 and slips > 0 and sticks > 0
    assert isinstance(s.step_solver, FactorisedThetaStep if law is LINEAR else NewtonThetaStep)


# -- what it is made of


@pytest.mark.parametrize("law, mass", [(NEO, "consistent"), (LINEAR, "lumped")], ids=["nonlinear", "linear"])
def test_with_rho_1_it_is_moreau_jean(law, mass):
    """Histories with friction on a moving floor; the formulas are equal then."""
    found = []
    for make in (di.GeneralizedAlpha, di.MoreauJean):
        options = {"rho_inf": 1.0} if make is di.GeneralizedAlpha else {"theta": 0.5}
        body = plate(law, gravity=(0.0, -1.0))
        wall = floor(body, True, restitution=0.3, friction=0.4)
        s = make(body, body.critical_time_step(), contact=wall, mass=mass, **options)
        s.start(0.0, body.rigid_velocity((0.2, -0.3), spin=0.4))
        found.append(di.simulate(s, t_end=8 * s.dt, record=body.rows(), progress=False))
    assert np.count_nonzero(found[0]["r"]) > 10
    names = ("u", "v", "r", "r_t", "gap", "kinetic", "internal_work", "external", "contact", "dissipated")
    for name in names:
        scale = max(1e-3, np.abs(found[1][name]).max())
        assert np.abs(found[0][name] - found[1][name]).max() < 1e-10 * scale


@RHO
def test_stiff_and_soft_modes(rho):
    """The factors of a step by eigenvalues of its matrix in (u, h v, h^2 a), for small and large omega h."""
    for omega in (1e-3, 1e4):
        system = di.PointMasses(1.0, stiffness=[[omega**2]])
        s = di.GeneralizedAlpha(system, 1.0, rho_inf=rho)
        s.start(0.0, 0.0)
        state, columns = s.state(), []
        for unit in np.eye(3):
            s.resume(state | {name: np.array([x]) for name, x in zip("uva", unit)})
            s.step()
            columns.append([s.u[0], s.v[0], s.a[0]])
        factors = np.abs(np.linalg.eigvals(np.transpose(columns)))
        if omega < 1:
            assert factors.max() == pytest.approx(1.0, abs=1e-12)
        else:  # three equal ones: a power of rounding and of 1/omega
            assert factors == pytest.approx(rho, abs=2e-2)


def test_a_stiff_mode_decays_by_rho_a_step():
    """What remains after many steps, beside a soft mode that stays."""
    left = {}
    for rho in (0.5, 0.8):
        s = di.GeneralizedAlpha(di.PointMasses([1.0, 1.0], stiffness=np.diag([1e12, 1e-4])), 1.0, rho_inf=rho)
        s.start([1e-3, 1.0], 0.0)
        sizes = []
        for _ in range(60):
            s.step()
            sizes.append(abs(s.u[0]))
        left[rho] = (sizes[59] / sizes[39]) ** (1 / 20)
        assert s.u[1] == pytest.approx(math.cos(0.6), rel=1e-4)
    # n rho^n, and at most n^2 rho^n, by equal factors.
    for rho, factor in left.items():
        assert rho * 0.999 < factor < rho * 1.06


def load(t, u, v, out):
    out[:] = math.sin(3 * t), 0.5


def internal(t, u, v, out):
    out[:] = 30 * u[0] - 10 * u[1] + 20 * u[0] ** 3, 20 * u[1] - 10 * u[0]


def drag(t, u, v, out):
    out[:] = 0.3 * v * np.abs(v)


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_order_2_in_smooth_parts(rho):
    """Two nonlinear oscillators with a load and a drag, against SciPy."""
    system = di.PointMasses([1.0, 2.0], load, internal=internal, damping=drag)
    f = np.zeros(2)

    def rates(t, y):
        system.force(t, y[:2], y[2:], f)
        return [*y[2:], *(f / system.mass)]

    true = solve_ivp(rates, (0.0, 0.5), [0.1, -0.2, 1.0, 0.5], rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for steps in (40, 80):
        s = di.GeneralizedAlpha(system, 0.5 / steps, rho_inf=rho)
        s.start([0.1, -0.2], [1.0, 0.5])
        result = di.simulate(s, t_end=0.5, progress=False)
        errors.append([np.abs(s.u - true[:2]).max(), np.abs(s.v - true[2:]).max()])
        assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"].max()
    assert np.log2(errors[0]) - np.log2(errors[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("rho, mass", [(0.0, "consistent"), (0.8, "consistent"), (0.8, "lumped")])
def test_order_2_with_prescribed_motion(rho, mass):
    """The held top moves: its acceleration is known from the start."""

    def end(steps):
        body = plate(NEO, prescribed={"top": {0: lambda t: 0.02 * t**2 * (1 + t), 1: lifted}}, damping=0.2)
        s = di.GeneralizedAlpha(body, 0.2 / steps, rho_inf=rho, mass=mass)
        v0 = np.zeros((body.size // 2, 2))
        v0[:, 1] = 0.16 * body.x[:, 1]  # that of the motion at the top
        s.start(0.0, v0.ravel())
        result = di.simulate(s, t_end=0.2, record=body.rows(), progress=False)
        scale = max(np.abs(result[name]).max() for name in ("kinetic", "internal", "external"))
        assert np.abs(result["residual"]).max() < 1e-12 * scale
        return s.u.copy()

    true = end(60)
    errors = [np.abs(end(steps) - true).max() for steps in (6, 12)]
    # Of the reference remains (12/60)^2.
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


# -- balance and energy

SETTINGS = {
    "free": {},
    "loads": {"gravity": (0.0, -1.0), "traction": {"top": ((0.2, -0.5), math.cos)}},
    "damping": {"damping": 0.4, "stiffness_damping": 3e-3, "bulk_viscosity": (0.06, 1.2)},
    "motion": {"prescribed": {"top": {1: lifted}}, "damping": 0.2, "gravity": (0.0, -1.0)},
}


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "rho, law, options, mass",
    [
        (0.8, LINEAR, "free", "consistent"),
        (0.0, LINEAR, "free", "lumped"),
        (0.8, NEO, "loads", "lumped"),
        (0.5, NEO, "damping", "consistent"),
        (0.8, NEO, "motion", "consistent"),
    ],
)
def test_the_balance_closes_on_any_ranks(rho, law, options, mass, as_on_one_rank):
    """Impacts with friction on a floor that moves: residual of rounding, the history of one rank alone."""
    body = plate(law, COMM, **SETTINGS[options])
    wall = floor(body, True, restitution=0.3, friction=0.3)
    s = di.GeneralizedAlpha(body, body.critical_time_step(), wall, rho_inf=rho, mass=mass)
    s.start(0.0, body.rigid_velocity((0.2, -0.3), spin=0.2))
    result = di.simulate(s, t_end=8 * s.dt, record=body.rows(), progress=False)
    scale = max(np.abs(result[name]).max() for name in ("kinetic", "internal", "external", "dissipated"))
    assert np.abs(result["residual"]).max() < 1e-12 * scale
    assert result["r"].max() > 0 and np.abs(result["r_t"]).max() > 0
    energies = ("kinetic", "internal", "contact", "dissipated", "external")
    alone = as_on_one_rank({name: result[name] for name in (*energies, "u", "v")})
    for name in energies:
        assert np.abs(result[name] - alone[name]).max() < 1e-10 * scale
    for name in ("u", "v"):
        assert np.abs(result[name] - alone[name]).max() < 1e-10 * np.abs(alone[name]).max()


def weight(t, u, v, out):
    out[:] = -GRAVITY


@pytest.mark.parametrize("rho, e", [(0.0, 1.0), (0.5, 0.0), (0.8, 0.6), (1.0, 0.6)])
def test_ball(rho, e):
    """Newton's law at every impact; the energy never exceeds that at the start; the ball comes to rest."""
    system = di.PointMasses(1.0, weight, stiffness=[[0.0]])
    s = di.GeneralizedAlpha(system, 1e-2, di.DofBound(system, 0, lower=0.0, restitution=e), rho_inf=rho)
    s.start(0.25, 0.0)
    before, misfit = s.v.copy(), []

    def law(s):
        if s.r[0] > 0:
            misfit.append(float(s.v[0] + e * before[0]))
        before[:] = s.v

    result = di.simulate(s, t_end=1.6, observers=[s.balance(), law], progress=False)
    energy = result["kinetic"] + GRAVITY * result["u"][:, 0]
    assert energy.max() <= energy[0] * (1 + 1e-12)
    assert np.abs(misfit).max() < 1e-13
    assert np.abs(result["residual"]).max() < 1e-13 * energy[0]
    if e == 0.6:
        rest = result["t"] > 1.4
        assert np.ptp(result["u"][rest]) < 1e-13 and np.abs(result["v_t"][rest]).max() < 1e-12
        assert result["r"][rest, 0] == pytest.approx(GRAVITY * s.dt, rel=1e-10)


@pytest.mark.parametrize("rho, rms, lost", [(0.8, 0.120, 1.38), (0.0, 0.045, 5.22)])
def test_impacting_bar(rho, rms, lost):
    """RMS of (v + v0)/v0 after the release, energy lost [%]: those of an independent program.

    The window of the RMS begins 10 us after the first step without an impulse.
    """
    case = CASES["impacting-bar"]
    p = runner.parse(case, "generalized-alpha", [f"rho_inf={rho}", "mass=lumped"])
    problem = case.make("generalized-alpha", p)
    result = di.simulate(problem.integrator, t_end=3e-4, record=problem.record, progress=False)
    since = result["t"] - result["t"][np.flatnonzero(result["r"][:, 0])[-1] + 1]
    v = result["v"][(since >= 1e-5) & (since <= 8e-5), 0] / p["v0"]
    energy = result["kinetic"] + result["internal"]
    assert np.sqrt(np.mean((v + 1) ** 2)) == pytest.approx(rms, abs=6e-4)
    assert 100 * (1 - energy[-1] / energy[0]) == pytest.approx(lost, abs=6e-3)
    assert energy.max() <= energy[0] * (1 + 1e-12)
    assert np.abs(result["residual"]).max() < 1e-13 * energy[0]


def test_surfaces_meet():
    """Two blocks with friction: momenta, the balance, and with rho = 1 the history of Moreau-Jean."""

    def run(make, **options):
        upper, lower = (
            dmesh.create_rectangle(ALONE, [[0.0, at], [1.0, at + 0.5]], [cells, 2])
            for at, cells in ((0.501, 3), (0.0, 2))
        )
        mesh = di.mesh.join({"upper": upper, "lower": lower})
        body = di.Solid(mesh, density=2.0, law=NEO)
        touching = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=0.3)
        s = make(body, 0.02, contact=touching, **options)
        v0 = np.where(body.x[:, 1:2] > 0.5005, [0.1, -0.5], [0.0, 0.2])
        s.start(0.0, v0.ravel())
        momenta = []

        def momentum(s):
            out = np.zeros(body.size)
            body.mass_product(s.v, s.mass, out)
            momenta.append(out.reshape(-1, 2).sum(0))

        observers = [s.balance(), momentum]
        result = di.simulate(s, t_end=0.08, record=body.rows(), observers=observers, progress=False)
        assert result["r"].max() > 0 and np.ptp(momenta, axis=0).max() < 1e-12
        assert np.abs(result["residual"]).max() < 1e-11 * result["kinetic"][0]
        return result

    run(di.GeneralizedAlpha, rho_inf=0.5)
    same, other = run(di.GeneralizedAlpha, rho_inf=1.0), run(di.MoreauJean)
    assert np.abs(same["u"] - other["u"]).max() < 1e-11


@pytest.mark.parametrize("make, law", [(di.GeneralizedAlpha, NEO), (di.MoreauJean, LINEAR)])
def test_a_tie_holds_in_all_directions(make, law):
    """Its impulses have any sign, beside those of a floor, which have not."""
    body = di.Solid(layers(3, 4, gap=0.0), density=2.0, law=law, damping=0.5)
    tie = di.SurfaceContact(body, "upper/boundary", "lower/boundary", tie=True)
    ground = di.RigidContact(body, "lower/boundary", di.Plane([0.0, -0.1001], [0.0, 1.0]))
    s = make(body, 2e-3, contact=[ground, tie])
    s.start(0.0, np.hstack([body.x[:, 1:2], 0.3 * body.x[:, 1:2] - 0.1]).ravel())
    hits = 0
    for _ in range(8):
        s.step()
        normal, vector = tie.L.velocities(s.v)
        assert max(np.abs(normal).max(), np.abs(vector).max()) < 1e-12
        assert s.r[: ground.count].min() >= 0
        hits += np.count_nonzero(s.r[: ground.count])
    assert hits > 0 and s.r[ground.count :].min() < 0


def test_a_ball_comes_to_rest_by_newton():
    """No velocity is there to measure a correction by: rounding of the impulses is."""
    system, h = di.PointMasses(1.0, weight), 1e-3
    wall = di.DofBound(system, 0, lower=0.0, restitution=0.3)
    s = di.GeneralizedAlpha(system, h, wall, rho_inf=0.2)
    s.start(0.2513, 0.0)
    while s.t < 0.47:
        s.step()
    assert isinstance(s.step_solver, NewtonThetaStep) and abs(s.v[0]) < 1e-14
    assert s.r[0] == pytest.approx(GRAVITY * h, rel=1e-10)


# -- stopping and going on


@pytest.mark.parametrize("law", [NEO, LINEAR], ids=["nonlinear", "linear"])
def test_a_resumed_run_goes_on_as_if_it_had_not_stopped(law):
    def made():
        body = plate(law, gravity=(0.0, -1.0))
        return di.GeneralizedAlpha(
            body, body.critical_time_step(), floor(body, True, restitution=0.3, friction=0.4), rho_inf=0.6
        )

    first, second = made(), made()
    first.start(0.0, first.system.rigid_velocity((0.2, -0.3), spin=0.4))
    for _ in range(4):
        first.step()
    second.resume(first.state())
    for _ in range(4):
        first.step()
        second.step()
        assert np.array_equal(first.u, second.u) and np.array_equal(first.a, second.a)
        assert np.array_equal(first.r, second.r) and np.array_equal(first.r_t, second.r_t)
    assert "a" in first.state() and first.parameters() == {"rho_inf": 0.6, "mass": "consistent"}


@pytest.mark.parametrize(
    "given, message",
    [
        ({"rho_inf": -0.1}, r"rho_inf must lie in \[0, 1\], but is -0.1"),
        ({"rho_inf": 1.01}, r"rho_inf must lie in \[0, 1\], but is 1.01"),
        ({"rho_inf": math.nan}, r"rho_inf must lie in \[0, 1\], but is nan"),
        ({"rho_inf": "0.8"}, r"rho_inf must lie in \[0, 1\], but is '0.8'"),
        ({"mass": "modified"}, "mass must be 'lumped' or 'consistent', not 'modified'"),
        ({"dt": 0.0}, "positive"),
        ({"contact": di.Plane([0.0, 0.0], [0.0, 1.0])}, "contact must be .* the obstacle alone, a Plane"),
    ],
)
def test_bad_input(given, message):
    body = plate(LINEAR)
    with pytest.raises(ValueError, match=message):
        di.GeneralizedAlpha(body, **{"dt": 0.1, **given})
