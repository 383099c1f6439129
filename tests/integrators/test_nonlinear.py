"""Nonlinear solids under the schemes: dense references, balances, limits, what happens when it goes wrong."""

import functools
import itertools
import math

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.optimize import root
from support import dense_elements

import dolfinx_impact as di
from dolfinx_impact import parallel

COMM = MPI.COMM_WORLD
TRIANGLE, QUAD = dmesh.CellType.triangle, dmesh.CellType.quadrilateral
E, NU, DENSITY = 10.0, 0.3, 2.0
LINEAR, NEO, SVK = di.LinearElastic(E, NU), di.NeoHookean(E, NU), di.StVenantKirchhoff(E, NU)
RUBBER = di.MooneyRivlin(1.0, 0.3, 5.0)


def plate(law=NEO, cells=2, kind=TRIANGLE, comm=COMM, **options):
    """A unit square with the facets ``bottom``, ``top`` and ``left``."""
    mesh = dmesh.create_unit_square(comm, cells, cells, cell_type=kind)
    sides = {"bottom": (1, 0.0), "top": (1, 1.0), "left": (0, 0.0)}
    tagged = {}
    for number, (i, at) in enumerate(sides.values(), start=1):
        found = dmesh.locate_entities_boundary(mesh, 1, lambda x, i=i, at=at: np.isclose(x[i], at))
        tagged.update(dict.fromkeys(found, number))
    facets = np.array(sorted(tagged), dtype=np.int32)
    tags = dmesh.meshtags(mesh, 1, facets, np.array([tagged[f] for f in facets], dtype=np.int32))
    names = {name: (1, number) for number, name in enumerate(sides, start=1)}
    return di.Solid(di.NamedMesh(mesh, None, tags, names), density=DENSITY, law=law, **options)


def waves(body, size=0.03, phase=0.0):
    x = body.x
    parts = [np.sin(3.1 * x[:, 0] + 2.3 * (i + 1) * x[:, 1] + i + phase) for i in range(2)]
    return size * np.column_stack(parts).ravel()


def run(s, steps):
    return di.simulate(s, t_end=s.t + steps * s.dt, record=s.system.rows(), progress=False)


def pulse(t):
    return math.sin(6.0 * t) ** 2


def lift(t):
    return 0.02 * (1.0 - math.cos(3.0 * t))


SETTINGS = {
    "free": {},
    "loads": {
        "gravity": (0.0, -1.0),
        "traction": {"top": ((0.2, -0.5), pulse)},
        "body_force": ((0.3, 0.1), math.cos),
    },
    "damping": {"damping": 0.4, "stiffness_damping": 3e-3, "bulk_viscosity": (0.06, 1.2)},
    "motion": {"prescribed": {"top": {1: lift}}, "fixed": {"left": (0,)}, "damping": 0.2},
}
LAWS = {"neo-Hookean": NEO, "St Venant": SVK, "Mooney-Rivlin": RUBBER}


# -- central differences


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "law, options",
    [(NEO, "free"), (NEO, "loads"), (NEO, "damping"), (SVK, "motion"), (RUBBER, "loads"), (SVK, "damping")],
)
def test_central_differences_close_their_balance_on_any_ranks(law, options, as_on_one_rank):
    """An impact on a plane: residual of rounding, impulses, the motion of one rank alone."""
    body = plate(law, cells=3, **SETTINGS[options])
    held = options == "motion"
    floor = di.Plane([0.0, -0.02], [0.0 if held else 0.1, 1.0])
    wall = di.RigidContact(
        body, "bottom", floor, restitution=0.3, friction=0.0 if held else 0.3, allow_penetration=True
    )
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), wall)
    s.start(waves(body, 0.01), body.rigid_velocity((0.2, -0.5), spin=0.1))
    result = run(s, 150)
    alone = as_on_one_rank({name: result[name] for name in ("u", "v_t", "kinetic")})
    scale = max(np.abs(result[name]).max() for name in ("kinetic", "internal", "external", "dissipated"))
    assert np.abs(result["residual"]).max() < 1e-11 * scale
    assert result["r"].max() > 0
    for name in ("u", "v_t"):
        assert np.abs(result[name] - alone[name]).max() < 1e-12 * np.abs(alone[name]).max() * 100
    assert np.abs(result["kinetic"] - alone["kinetic"]).max() < 1e-11 * scale


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "facets, make",
    [
        ("bottom", lambda: di.Sphere([0.5, -0.55], 0.5)),
        ("top", lambda: di.Sphere([0.5, 0.5], 0.75, inside=True)),
    ],
    ids=["outside", "inside"],
)
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_impacts_on_spheres(facets, make, friction):
    """Impulses change the velocities as they should, obey Coulomb, and leave e times the approach."""
    body = plate(NEO, cells=3)
    wall = di.RigidContact(body, facets, make(), restitution=0.5, friction=friction)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), wall)
    s.start(0.0, body.rigid_velocity((0.1, -0.5 if facets == "bottom" else 0.5)))
    n = body.owned
    hits = 0
    for _ in range(150):
        before = s.v.copy()
        s.step()
        kick = body.mass * (s.v[:n] - before[:n]) - s.dt * s.f[:n]
        acting = np.zeros(body.size)
        wall.L.add_transpose(s.r, acting)
        if friction > 0:
            np.add.at(acting, wall.L.dofs, s.r_t)
            slack = wall.friction * s.r - np.linalg.norm(s.r_t, axis=1)
            assert parallel.largest(COMM, -slack) < 1e-12
        assert parallel.largest(COMM, np.abs(kick - acting[:n])) < 1e-13
        assert parallel.largest(COMM, -s.r) <= 0
        if parallel.largest(COMM, s.r) > 0:
            hits += 1
            state = s.contact_state
            end = state.approach_velocity(s.v, s.v_time) + 0.5 * state.approach_velocity(before, s.v_time)
            assert parallel.largest(COMM, np.abs(end[s.r > 0])) < 1e-12 or friction > 0
    assert hits > 0


@pytest.mark.parametrize("law", [NEO, SVK, RUBBER], ids=LAWS)
def test_small_motions_are_those_of_the_linear_law(law):
    """The difference is of second order in the size of the motion."""
    lame = law._lame
    mu = lame[1]
    linear = di.LinearElastic(mu * (3 * lame[0] + 2 * mu) / (lame[0] + mu), lame[0] / (2 * (lame[0] + mu)))
    differences = []
    for size in (1e-3, 1e-4):
        ends = []
        for each in (law, linear):
            body = plate(each)
            s = di.CDLagrange(body, 0.5 * plate(linear).critical_time_step())
            s.start(waves(body, size), 0.0)
            for _ in range(30):
                s.step()
            ends.append(s.u[: body.owned].copy())
        differences.append(parallel.largest(COMM, np.abs(ends[0] - ends[1])) / size)
    assert differences[1] < 0.02
    assert differences[0] / differences[1] == pytest.approx(10.0, rel=0.1)


@pytest.mark.mpi
def test_no_number_ends_a_run():
    """An inverted element: the logarithm of a negative volume."""
    body = plate(NEO)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    s.start(0.0, waves(body, 200.0))
    with pytest.raises(di.UnstableTimeStep, match="no longer finite"), np.errstate(all="ignore"):
        run(s, 200)


# -- critical steps


def dense_stiffness(body, u, h=1e-6):
    K = np.zeros((body.size, body.size))
    for k in range(body.size):
        for sign in (1, -1):
            moved, out = u.copy(), np.zeros(body.size)
            moved[k] += sign * h
            body.subtract_internal(moved, out)
            K[:, k] -= sign * out / (2 * h)
    return K


@pytest.mark.parametrize("law", [NEO, SVK], ids=["neo-Hookean", "St Venant"])
@pytest.mark.parametrize("beta", [0.0, 0.02])
def test_critical_step_of_a_compressed_body(law, beta):
    """Against dense eigenvalues of tangents by finite differences."""
    body = plate(law, kind=QUAD, stiffness_damping=beta, fixed={"bottom": (1,)})
    u = waves(body, 0.02)
    u[1::2] -= 0.3 * body.x[:, 1]
    K, root_m = dense_stiffness(body, u), np.sqrt(body.inverse_mass)
    omega = math.sqrt(np.linalg.eigvalsh((K + K.T) / 2 * np.outer(root_m, root_m))[-1])
    damped = beta * omega**2
    limit = 4 / (damped + math.hypot(damped, 2 * omega))
    assert body.critical_time_step(u=u) == pytest.approx(limit, rel=1e-6)
    assert abs(body.critical_time_step(u=u) / body.critical_time_step() - 1) > 0.02
    assert body.critical_time_step(u=0 * u) == pytest.approx(body.critical_time_step(), rel=1e-6)


# -- the theta method by Newton's iterations, against dense references on one rank


def dense_mass(body, mass):
    if mass == "lumped":
        return np.diag(body.mass)
    return body.matrices.mass("consistent").convert("aij")[:, :]


class Step:
    """Equation of motion of one step, written out with the forces of the body alone."""

    def __init__(self, body, dt, theta, mass, midpoint, t, u, v):
        self.body, self.M = body, dense_mass(body, mass)
        self.dt, self.theta, self.midpoint, self.t, self.u, self.v = dt, theta, midpoint, t, u, v
        self.free = ~body.constrained

    def force(self, t, u, v):
        out = np.zeros(self.body.size)
        self.body.force(t, u, v, out)
        return out

    def lacking(self, end):
        h, theta = self.dt, self.theta
        mean = (1 - theta) * self.v + theta * end
        u_end = self.u + h * mean
        if self.midpoint:
            middle = (1 - theta) * self.u + theta * u_end
            acting = self.force(self.t + theta * h, middle, mean)
        else:
            acting = theta * self.force(self.t + h, u_end, end)
            acting += (1 - theta) * self.force(self.t, self.u, self.v)
        return (self.M @ (end - self.v) - h * acting)[self.free]

    def solve(self, end, L=None, target=None):
        """Velocity, and impulses that give ``L v = target``."""
        L = np.zeros((0, end.size)) if L is None else L
        target = np.zeros(len(L)) if target is None else target
        k, scale = self.free.sum(), max(1e-3, np.abs(self.v).max())

        def equations(x):
            v = end.copy()
            v[self.free] = x[:k]
            return np.concatenate([self.lacking(v) - (L.T @ x[k:])[self.free], L @ v - target]) / scale

        found = root(
            equations,
            np.concatenate([end[self.free], np.zeros(len(L))]),
            method="hybr",
            options={"xtol": 1e-14},
        )
        x = found.x
        for _ in range(4):  # polish, with the tangent by differences
            y, step = equations(x), 1e-6
            J = np.array(
                [
                    (equations(x + step * unit) - equations(x - step * unit)) / (2 * step)
                    for unit in np.eye(x.size)
                ]
            ).T
            x = x - np.linalg.solve(J, y)
        assert np.abs(equations(x)).max() < 1e-11
        v = end.copy()
        v[self.free] = x[:k]
        return v, x[k:]


NEWTON = [
    (0.5, "consistent", "trapezoid", "free"),
    (0.8, "lumped", "trapezoid", "loads"),
    (0.5, "lumped", "midpoint", "damping"),
    (0.8, "consistent", "midpoint", "loads"),
    (0.8, "consistent", "trapezoid", "motion"),
    (0.5, "consistent", "trapezoid", "damping"),
]


@pytest.mark.parametrize("theta, mass, force, options", NEWTON)
def test_one_step_against_a_dense_one(theta, mass, force, options):
    body = plate(NEO, comm=MPI.COMM_SELF, **SETTINGS[options])
    dt = 2.0 * body.critical_time_step()
    s = di.MoreauJean(body, dt, theta, mass=mass, force=force)
    s.start(waves(body), waves(body, 0.4, phase=1.0))
    for _ in range(2):
        u, v, t = s.u.copy(), s.v.copy(), s.t
        s.step()
        start = v.copy()
        start[body.constrained] = s.v[body.constrained]  # prescribed, checked apart
        true, _ = Step(body, dt, theta, mass, force == "midpoint", t, u, v).solve(start)
        assert np.abs(s.v - true).max() < 1e-9 * np.abs(true).max()
        assert np.abs(s.u - u - dt * ((1 - theta) * v + theta * s.v)).max() < 1e-14
        if options == "motion":
            assert np.abs(s.u[body.prescribed.dofs] - lift(s.t)).max() < 1e-14


@pytest.mark.parametrize(
    "theta, mass, force, e",
    [
        (0.5, "consistent", "trapezoid", 0.0),
        (0.8, "lumped", "midpoint", 0.5),
        (0.5, "lumped", "trapezoid", 1.0),
    ],
)
def test_impulses_against_all_active_sets(theta, mass, force, e):
    """Of all sets of closed points the one whose impulses push and whose others fly off."""
    body = plate(NEO, comm=MPI.COMM_SELF)
    dt = 1.5 * body.critical_time_step()
    wall = di.RigidContact(body, "bottom", di.Plane([0.0, -1e-3], [0.0, 1.0]), restitution=e)
    s = di.MoreauJean(body, dt, theta, wall, mass=mass, force=force)
    s.start(0.0, waves(body, 0.2) + body.rigid_velocity((0.1, -0.4), spin=0.5))
    hits = 0
    for _ in range(3):
        u, v, t = s.u.copy(), s.v.copy(), s.t
        s.step()
        closed = np.flatnonzero(wall.gap(u + 0.5 * dt * v) <= wall.gap_tolerance)
        L = np.zeros((wall.count, body.size))
        np.put_along_axis(L, wall.L.dofs, wall.L.weights, axis=1)
        step, found = Step(body, dt, theta, mass, force == "midpoint", t, u, v), []
        for active in itertools.chain(*(itertools.combinations(closed, k) for k in range(closed.size + 1))):
            which = list(active)
            end, r = step.solve(v.copy(), L[which], -e * L[which] @ v)
            if np.all(r > -1e-12) and np.all(L[closed] @ (end + e * v) > -1e-11):
                found.append((end, dict(zip(which, r))))
        assert len(found) >= 1
        end, impulses = found[0]
        assert np.abs(s.v - end).max() < 1e-9
        assert s.r == pytest.approx([impulses.get(i, 0.0) for i in range(wall.count)], abs=1e-9)
        hits += s.r.max() > 1e-3
    assert hits >= 1


@pytest.mark.parametrize("theta, force", [(0.5, "trapezoid"), (0.8, "midpoint")])
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_friction_obeys_coulomb(theta, force, friction):
    """The equation of motion with the impulses found; each point sticks, or slips against its impulse."""
    body = plate(NEO, comm=MPI.COMM_SELF)
    dt = 1.5 * body.critical_time_step()
    wall = di.RigidContact(body, "bottom", di.Plane([0.0, -1e-3], [0.1, 1.0]), friction=friction)
    s = di.MoreauJean(body, dt, theta, wall, force=force)
    s.start(0.0, body.rigid_velocity((0.4, -0.4), spin=0.5))
    hits = 0
    for _ in range(6):
        u, v, t = s.u.copy(), s.v.copy(), s.t
        s.step()
        acting = np.zeros(body.size)
        wall.L.add_transpose(s.r, acting)
        np.add.at(acting, wall.L.dofs, s.r_t)
        left = Step(body, dt, theta, "consistent", force == "midpoint", t, u, v).lacking(s.v)
        assert np.abs(left - acting).max() < 1e-11
        slip, size = s.contact_state.tangential_velocity(s.v, s.t), np.linalg.norm(s.r_t, axis=1)
        assert np.all(size <= friction * s.r + 1e-12)
        for i in np.flatnonzero(s.r > 1e-6):
            hits += 1
            if size[i] < friction * s.r[i] - 1e-10:
                assert np.abs(slip[i]).max() < 1e-10
            else:
                assert slip[i] @ s.r_t[i] <= 1e-12
                assert slip[i] @ s.r_t[i] == pytest.approx(-np.linalg.norm(slip[i]) * size[i], abs=1e-10)
    assert hits >= 1


@pytest.mark.parametrize("force", ["trapezoid", "midpoint"])
def test_order_and_balance_of_the_theta_method(force):
    """Second order in the step at theta = 1/2; the balance of works closes."""
    ends = []
    for parts in (1, 2, 4):
        body = plate(NEO, damping=0.1)
        s = di.MoreauJean(body, plate(NEO).critical_time_step() / 4 / parts, force=force)
        s.start(waves(body, 0.02), 0.0)
        result = run(s, 12 * parts)
        scale = result["kinetic"].max() + result["internal"].max()
        assert np.abs(result["residual"]).max() < 1e-11 * scale
        ends.append(s.u[: body.owned].copy())
    coarse, fine = (parallel.largest(COMM, np.abs(a - b)) for a, b in zip(ends, ends[1:]))
    assert coarse / fine == pytest.approx(4.0, rel=0.15)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("law, options", [(NEO, "loads"), (SVK, "damping"), (SVK, "motion")])
def test_the_theta_method_closes_its_balance_on_any_ranks(law, options, as_on_one_rank):
    body = plate(law, **SETTINGS[options])
    friction = 0.0 if options == "motion" else 0.2
    wall = di.RigidContact(body, "bottom", di.Plane([0.0, -0.01], [0.0, 1.0]), friction=friction)
    s = di.MoreauJean(body, body.critical_time_step(), 0.6, wall)
    s.start(0.0, body.rigid_velocity((0.1, -0.4)))
    result = run(s, 12)
    alone = as_on_one_rank({name: result[name] for name in ("u", "r")})
    scale = max(np.abs(result[name]).max() for name in ("kinetic", "internal", "external", "dissipated"))
    assert np.abs(result["residual"]).max() < 1e-11 * scale
    assert result["r"].max() > 0
    assert np.abs(result["u"] - alone["u"]).max() < 1e-10 * np.abs(alone["u"]).max()
    assert np.abs(result["r"].sum(axis=1) - alone["r"].sum(axis=1)).max() < 1e-10 * alone["r"].max()


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "speed, steps, wall", [(1.0, 4.0, True), (3.0, 8.0, False), (30.0, 20.0, False), (30.0, 20.0, True)]
)
def test_steps_that_turn_elements_inside_out(speed, steps, wall):
    """Newton finds a solution with finite forces, or says that there is none: never a silent nan."""
    body = plate(NEO)
    contact = di.RigidContact(body, "bottom", di.Plane([0.0, 0.0], [0.0, 1.0])) if wall else None
    s = di.MoreauJean(body, steps * body.critical_time_step(), 0.5, contact)
    s.start(0.0, waves(body, speed, phase=0.5))
    try:
        with np.errstate(all="ignore"):
            for _ in range(3):
                before, u = s.v.copy(), s.u.copy()
                s.step()
                n = body.owned
                assert np.isfinite(COMM.allreduce(body.stored_energy(s.u)))
                gone = np.abs(s.u[:n] - u[:n] - s.dt / 2 * (s.v + before)[:n])
                assert parallel.largest(COMM, gone) < 1e-12 * (1 + speed)
    except di.NotConverged as error:
        assert "take a smaller time step" in str(error)
        assert speed > 1.0


@pytest.mark.mpi
def test_a_step_that_is_much_too_large_is_called_so():
    """Thrown at a wall, with steps in which the body goes far into it."""
    body = plate(NEO)
    wall = di.RigidContact(body, "bottom", di.Plane([0.0, -0.01], [0.0, 1.0]))
    s = di.MoreauJean(body, 40 * body.critical_time_step(), 0.5, wall)
    s.start(0.0, body.rigid_velocity((0.0, -1.0 / s.dt)))
    with pytest.raises(
        di.NotConverged, match="^the time step .* is too large for Newton's iteration at t = "
    ):
        for _ in range(10):
            s.step()


@functools.cache
def end_of_linear(options, steps, force=None):
    """Displacements of a linear plate by central differences, or by the theta method."""
    settings = {name: value for name, value in SETTINGS[options].items() if name != "bulk_viscosity"}
    body = plate(LINEAR, **settings)
    h = 4 * plate(LINEAR).critical_time_step() / steps
    s = di.MoreauJean(body, h, mass="lumped", force=force) if force else di.CDLagrange(body, h)
    s.start(waves(body, 0.01) * (options != "motion"), 0.0)
    run(s, steps)
    return s.u[: body.owned].copy()


@pytest.mark.parametrize("options", ["loads", "damping", "motion"])
@pytest.mark.parametrize("force", ["trapezoid", "midpoint"])
def test_unsteady_linear_bodies_agree_with_fine_central_differences(options, force):
    """The same semi-discrete body: lumped masses, errors of second order."""
    true = end_of_linear(options, 250)
    size = parallel.largest(COMM, np.abs(true))
    coarse, fine = (
        parallel.largest(COMM, np.abs(end_of_linear(options, steps, force) - true)) for steps in (16, 32)
    )
    assert fine < 0.02 * size
    assert coarse / fine == pytest.approx(4.0, rel=0.25)


def test_a_law_without_energy_runs_under_both_schemes():
    """A stress alone: the motion of the law whose energy is known; the work is still counted."""
    lame, mu = dense_elements.lame(NEO.E, NEO.nu)

    def stress(F):
        G = ufl.inv(F).T
        return mu * (F - G) + lame * ufl.ln(ufl.det(F)) * G

    for scheme in (di.CDLagrange, di.MoreauJean):
        found = []
        for law in (di.StressLaw(stress), NEO):
            body = plate(law)
            s = scheme(body, 0.8 * plate(NEO).critical_time_step())
            s.start(waves(body), 0.0)
            found.append(run(s, 8))
        own, known = found
        scale = np.abs(known["u"]).max()
        assert np.abs(own["u"] - known["u"]).max() < 1e-10 * scale
        assert np.abs(own["residual"]).max() < 1e-11 * known["kinetic"].max()
        assert np.abs(own["internal_work"] - known["internal_work"]).max() < 1e-10 * known["kinetic"].max()
