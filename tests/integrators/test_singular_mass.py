"""Singular-mass CD-Lagrange: contact nodes without mass, in static equilibrium."""

import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import dense_singular as dense
from support import restarts

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.benchmark.case import defaults
from dolfinx_impact.benchmark.cases.discrete_arch import case as arch
from dolfinx_impact.benchmark.cases.solids import hertz_sphere
from dolfinx_impact.integrators.static.modified_mass import OtherMass

COMM = MPI.COMM_WORLD
CELL = dmesh.CellType
DENSITY = 1100.0
serial = pytest.mark.skipif(COMM.size > 1, reason="the dense program has one rank")


@functools.cache
def block(kind, size):
    """A box of cells, its lower side named."""
    make = dmesh.create_rectangle if len(size) == 2 else dmesh.create_box
    end = 0.1 * np.array(size) / max(size)
    cells = make(COMM, [np.zeros(len(size)), end], size, kind)
    d = len(size)
    low = np.sort(dmesh.locate_entities_boundary(cells, d - 1, lambda x: np.isclose(x[d - 1], 0.0)))
    tags = dmesh.meshtags(cells, d - 1, low, np.ones(low.size, np.int32))
    return di.NamedMesh(cells, None, tags, {"low": (d - 1, 1)})


def falling(law, kind=CELL.quadrilateral, size=(4, 3), friction=0.3, obstacle=None, **body):
    """A block that falls askew onto a floor, started."""
    up = np.eye(len(size))[-1]
    solid = di.Solid(block(kind, size), density=DENSITY, law=law, **body)
    floor = di.Plane(-1e-4 * up, up) if obstacle is None else obstacle
    wall = di.RigidContact(solid, "low", floor, friction=friction)
    s = di.CDLagrangeSingular(solid, 0.5 * solid.critical_time_step(), wall)
    spin = 4.0 if len(size) == 2 else (0.0, 4.0, 3.0)
    s.start(0.0, solid.rigid_velocity([1.0] + [0.0] * (len(size) - 2) + [-3.0], spin=spin))
    return s


def turning():
    """A floor that rises and turns, for both programs."""
    angle, rate = (lambda t: 4.0 * t + 30.0 * t**2), (lambda t: 4.0 + 60.0 * t)
    start, velocity = np.array([0.05, -1e-4]), np.array([0.5, 0.3])
    floor = di.MovingObstacle(
        di.Plane(start, (0.0, 1.0)),
        translation=lambda t: velocity * t,
        translation_rate=lambda t: velocity,
        rotation=angle,
        rotation_rate=rate,
        center=start,
    )
    return floor, dense.Plane(lambda t: start + velocity * t, angle, lambda t: velocity, rate)


def still():
    return None, dense.Plane(lambda t: np.array([0.0, -1e-4]))


@serial
@pytest.mark.parametrize(
    "kind, floor, law, energy",
    [
        (CELL.quadrilateral, still, di.LinearElastic, dense.linear),
        (CELL.triangle, turning, di.NeoHookean, dense.neo_hookean),
        (CELL.quadrilateral, turning, di.NeoHookean, dense.neo_hookean),
    ],
)
def test_steps_are_those_of_a_dense_program(kind, floor, law, energy):
    obstacle, plane = floor()
    s = falling(law(1e6, 0.3), kind, obstacle=obstacle, size=(3, 2))
    nodes, steps = s.contact.L.dofs[:, 0] // 2, 12
    order = np.argsort(nodes)
    other = dense.DenseSingular(s.body, DENSITY, energy(1e6, 0.3), nodes, plane, 0.3, s.dt)
    assert s.system.mass == pytest.approx(other.mass, rel=1e-14)
    touched = slid = 0
    for n, (u, v, lam) in enumerate(other.run(s.v_start.copy(), steps), 1):
        s.step()
        normal = plane.normal(n * s.dt)
        tangential = s.r_t[order] @ [-normal[1], normal[0]]
        scale = 1e6 * 0.1 * s.dt
        assert s.u == pytest.approx(u, abs=1e-12)
        assert s.v == pytest.approx(v, abs=1e-8)
        assert s.r[order] == pytest.approx(s.dt * lam[:, 0], abs=1e-10 * scale)
        assert tangential == pytest.approx(s.dt * lam[:, 1], abs=1e-10 * scale)
        touched += np.count_nonzero(lam[:, 0])
        slid += np.count_nonzero((lam[:, 0] > 0) & (np.abs(lam[:, 1]) < 0.3 * lam[:, 0]))
    assert touched > 10 and 0 < slid < touched  # points stick and slip


def moments(s):
    """Linear and angular momentum of the half-step velocity, over all ranks."""
    solid, n = s.body, s.body.owned // s.body.block
    d = solid.block
    p = (s.system.mass * s.v[: solid.owned]).reshape(n, d)
    x = np.pad(solid.x[:n, :d] + s.u[: solid.owned].reshape(n, d), ((0, 0), (0, 3 - d)))
    turning = np.cross(x, np.pad(p, ((0, 0), (0, 3 - d))))
    return COMM.allreduce(np.concatenate([p.sum(axis=0), turning.sum(axis=0)]))


def of_contact(s):
    """Linear and angular momentum of the contact impulses of the step."""
    solid, n = s.body, s.body.owned // s.body.block
    d, J = solid.block, np.zeros(s.body.size)
    s.contact.L.add_impulses(s.r, s.r_t if s.r_t.ndim == 2 else None, None, J)
    J = J[: solid.owned].reshape(n, d)
    x = np.pad(solid.x[:n, :d] + s.u[: solid.owned].reshape(n, d), ((0, 0), (0, 3 - d)))
    turning = np.cross(x, np.pad(J, ((0, 0), (0, 3 - d))))
    return COMM.allreduce(np.concatenate([J.sum(axis=0), turning.sum(axis=0)]))


BODIES = {
    "linear": {"law": di.LinearElastic(1e6, 0.3)},
    "quadratic": {"law": di.LinearElastic(1e6, 0.3), "degree": 2, "kind": CELL.triangle},
    "rubber": {"law": di.NeoHookean(1e6, 0.4)},
    "pressures": {"law": di.NeoHookean(1e6, 0.495, isochoric=True), "kind": CELL.triangle},
    "space": {"law": di.NeoHookean(1e6, 0.4), "kind": CELL.tetrahedron, "size": (3, 3, 3)},
    "damped": {"law": di.NeoHookean(1e6, 0.4), "damping": 3.0, "stiffness_damping": 1e-5},
    "circle": {"law": di.NeoHookean(1e6, 0.4), "obstacle": di.Sphere((0.04, -0.05), 0.0499)},
}


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("name", BODIES)
def test_momentum_and_balance_are_exact(name):
    s = falling(**BODIES[name])
    balance = s.balance()
    balance.start()
    first = parallel.total(COMM, balance.kinetic + balance.complementary)
    flat, before, touched, worst = s.system.linear is False, None, 0.0, 0.0
    for _ in range(16):
        s.step()
        balance.step()
        terms = COMM.allreduce(balance.terms())
        rest = terms[0] + terms[1] + terms[3] + terms[6] - terms[4] - terms[5] - first
        worst = max(worst, abs(rest) / first)
        now, given = moments(s), of_contact(s)
        if before is not None and name != "damped":
            scale = np.abs(now).max()
            directions = slice(None) if flat else slice(0, s.body.block)  # torque: laws without small strains
            assert (now - before)[directions] == pytest.approx(given[directions], abs=1e-12 * scale)
        before, touched = now, touched + parallel.total(COMM, s.r.sum())
        assert parallel.total(COMM, float(np.sum(s.gap() < -1e-15))) == 0
        assert np.all(np.linalg.norm(s.r_t, axis=1) <= 0.3 * s.r + 1e-12 * s.r.max(initial=0.0))
    assert touched > 0 and worst < 1e-13
    lost = terms[6] > 0
    assert lost == (name == "damped") and terms[5] < 0  # friction takes energy


@pytest.mark.mpi(turns=True)
@pytest.mark.parametrize("name", ["space", "pressures"])
def test_ranks_agree(name, as_on_one_rank):
    s, sums = falling(**BODIES[name]), []
    for _ in range(15):
        s.step()
        sums.append(COMM.allreduce(np.concatenate([[s.r.sum()], s.r_t.sum(axis=0)])))
    shared = np.array(sums)
    alone = as_on_one_rank(shared)
    assert np.abs(alone).max() > 0
    assert shared == pytest.approx(alone, abs=1e-12 * np.abs(alone).max())


@functools.cache
def bar(elements, scheme=di.CDLagrangeSingular, courant=0.7):
    """The bar of Di Stasio et al. (2019) against its wall, to 3e-4 s.

    Returns the step, its times, the half-step velocity of the contact node (that at t - h/2 without mass, at
    t + h/2 with it), its forces, energies over the first, and the rigid energy at the end.
    """
    E, rho, area, length, v0 = 2.1e11, 7847.0, 0.645e-3, 0.254, 5.0
    line = dmesh.create_interval(COMM, elements, [0.0, length])
    tip = dmesh.locate_entities_boundary(line, 0, lambda x: np.isclose(x[0], 0.0))
    named = di.NamedMesh(
        line, None, dmesh.meshtags(line, 0, tip, np.ones(tip.size, np.int32)), {"tip": (0, 1)}
    )
    solid = di.Solid(named, density=rho, law=di.LinearElastic(E), cross_section=area)
    h = courant * length / elements / np.sqrt(E / rho)
    s = scheme(solid, h, di.RigidContact(solid, "tip", di.Plane([-2e-4], [1.0])))
    s.start(0.0, -v0)
    balance, rows = s.balance(), []
    balance.start()
    node, energies = s.contact.L.dofs[:, 0], []
    first = parallel.total(COMM, balance.kinetic + balance.complementary)
    while s.t < 3e-4 - 1e-12:
        s.step()
        balance.step()
        now = COMM.allreduce(balance.terms())
        energies.append(now[:3].sum() / first)
        rows.append(COMM.allreduce(np.array([s.v[node].sum(), s.r.sum() / h])))
    v, force = np.array(rows).T
    n = solid.owned
    p, m = (parallel.total(COMM, float(x.sum())) for x in (s.system.mass * s.v_mean[:n], s.system.mass))
    t = h * np.arange(1, v.size + 1)
    return h, t, v / v0, force / (rho * area * v0 * np.sqrt(E / rho)), energies, 0.5 * p**2 / m / first


#: By elements: rms of (v - v0)/v0 after release, energy lost, rigid energy left, force on the plateau off by.
TABLE = {25: (0.0500, 6.12e-4, 0.9690, 4.4e-5), 50: (0.0267, 9.23e-4, 0.9773, 9.6e-6)}


@pytest.mark.parametrize("elements", TABLE)
def test_bar(elements):
    """Known answers of an independent program; its window starts at the end of the last impulse's step."""
    h, t, v, force, energies, rigid = bar(elements)
    since = (t - h / 2) - (t[np.flatnonzero(force)[-1]] + h)
    window = v[(since >= 1e-5) & (since <= 8e-5)]
    found = np.sqrt(np.mean((window - 1) ** 2)), 1 - energies[-1], rigid, abs(np.median(force[force > 0]) - 1)
    rms, lost, left, plateau = TABLE[elements]
    assert found[:2] == pytest.approx((rms, lost), rel=0.02)
    assert found[2] == pytest.approx(left, abs=1e-4) and found[3] == pytest.approx(plateau, rel=0.02)
    assert max(energies) <= 1 + 1e-14


def test_force_of_the_bar_ripples_less_than_cd_lagranges():
    ripples = {}
    for scheme in (di.CDLagrangeSingular, di.CDLagrange):
        _, _, _, force, *_ = bar(50, scheme)
        touching = np.flatnonzero(force)
        inside = force[touching[len(touching) // 10] : touching[-len(touching) // 10]]
        ripples[scheme] = np.std(inside)
    assert ripples[di.CDLagrange] > 2 * ripples[di.CDLagrangeSingular]


def zigzag(force):
    """The part of a force that alternates from step to step."""
    return float(np.sqrt(np.mean(np.diff(force, 2) ** 2)))


def test_hertz_force_changes_more_smoothly_from_step_to_step():
    """A node that joins the contact is stopped by CD-Lagrange in one step, by a force of the order of 1/h."""
    found = {}
    for scheme in ("cd-lagrange", "cd-lagrange-singular"):
        p = {name: option.default for name, option in hertz_sphere.PARAMETERS.items()}
        p |= {
            "resolution": 3,
            "courant": 0.7,
            "v0": 20.0,
            "restitution": 0.0,
            "touching": True,
            "mass": "lumped",
        }
        s, duration = hertz_sphere.HertzSphere().make(scheme, p).integrator, hertz_sphere.exact(p).duration
        force = []
        while s.t < duration:
            s.step()
            force.append(s.r.sum() / s.dt)
        found[scheme] = np.array(force)
    usual, singular = found.values()
    assert zigzag(usual) > 2.0 * zigzag(singular)
    assert singular.max() == pytest.approx(usual.max(), rel=3e-3)


def test_the_step_follows_a_nonlinear_body():
    s = falling(di.NeoHookean(1e6, 0.4))
    run = di.simulate(s, t_end=60 * s.dt, adapt=di.StepControl(), progress=False)
    assert run["r"].sum() > 0 and np.ptp(np.diff(run["t"])) > 0
    assert np.abs(run["residual"]).max() < 1e-13 * run["kinetic"][0]


def test_it_starts_like_any_other_scheme():
    s = falling(di.NeoHookean(1e6, 0.4))
    s.start(0.0, (1.0, -2.0))
    assert s.v[0::2] == pytest.approx(1.0) and s.v_function.x.array[1::2] == pytest.approx(-2.0)
    s.start(lambda x: 1e-3 * x[:2], 0.0)
    assert np.abs(s.u).max() > 0


@pytest.mark.mpi
def test_a_state_without_forces_stays():
    solid = di.Solid(block(CELL.quadrilateral, (4, 3)), density=DENSITY, law=di.NeoHookean(1e6, 0.4))
    wall = di.RigidContact(solid, "low", di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.3)
    s = di.CDLagrangeSingular(solid, 0.5 * solid.critical_time_step(), wall)
    s.start(0.0, 0.0)
    for _ in range(5):
        s.step()
    assert s.r.max(initial=0.0) < 1e-14 and np.abs(s.u[: solid.owned]).max(initial=0.0) < 1e-17


def test_without_contact_it_is_cd_lagrange():
    solid = di.Solid(block(CELL.quadrilateral, (4, 3)), density=DENSITY, law=di.NeoHookean(1e6, 0.4))
    found = []
    for scheme in (di.CDLagrangeSingular, di.CDLagrange):
        s = scheme(solid, 0.5 * solid.critical_time_step())
        s.start(0.0, solid.rigid_velocity((1.0, 2.0), spin=50.0))
        for _ in range(20):
            s.step()
        found.append(s.u.copy())
    assert np.array_equal(*found)


def test_a_chain_hands_its_masses_along():
    chain = arch.Chain({**defaults(arch.PARAMETERS), "damping": 0.01}, bars=7)
    height = chain.rest[9] - 1e-4
    s = di.CDLagrangeSingular(chain, 0.2, di.DofBound(chain, 9, lower=height))
    assert s.system.mass[[7, 9, 11]] == pytest.approx([1.5, 0.0, 1.5])
    s.start(chain.rest, 0.0)
    balance = s.balance()
    balance.start()
    for _ in range(400):
        s.step()
        balance.step()
    terms = balance.terms()
    assert s.r[0] > 0 and s.u[9] == pytest.approx(height, abs=1e-13)
    rest = terms[0] + terms[1] + terms[3] + terms[6] - terms[4] - terms[5]
    assert rest == pytest.approx(0.0, abs=1e-14 * np.abs(terms).max())


def test_point_masses_hand_theirs_to_those_that_springs_join():
    K = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    masses = di.PointMasses([1.0, 2.0, 3.0], stiffness=K)
    s = di.CDLagrangeSingular(masses, 0.3, di.DofBound(masses, 0, lower=-0.1))
    assert s.system.mass == pytest.approx([0.0, 3.0, 3.0])
    s.start(0.0, -1.0)
    impulse = 0.0
    for _ in range(200):
        impulse += s.r[0] * (s.n > 0)
        s.step()
    assert impulse > 0 and s.u[0] >= -0.1
    assert s.system.mass @ s.v == pytest.approx(impulse + s.r[0] - 6.0, abs=1e-12)


def two_masses(**options):
    """One above the other, joined by springs; the lower one meets the ground."""
    K = 100.0 * np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(2))

    class Pair(di.PointMasses):
        def neighbours(self):
            return np.array([[0, 2], [1, 3]])

    masses = Pair(np.ones(4), stiffness=K, **options)
    ground = di.ObstacleContact(masses, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.3)
    return di.CDLagrangeSingular(masses, 2e-3, ground)


def test_the_balance_closes_from_a_start_that_presses_on_the_obstacle():
    """The contact node has a velocity there, but none in the step: the obstacle does no work."""
    s = two_masses(load=[0.0, -10.0, 0.0, -10.0])
    s.start(0.0, [1.0, -3.0, 1.0, -3.0])
    assert s.r[0] == pytest.approx(0.02)
    run = di.simulate(s, t_end=100 * s.dt, progress=False)
    assert np.abs(run["residual"]).max() < 1e-13 * run["kinetic"][0]


def test_loads_beside_a_stiffness_may_depend_on_displacements():
    """A spring to the ground, stiffer than K at the contact node, as a load and in internal forces."""

    def spring(t, u, v, out):
        out[:] = -500.0 * u

    def internal(t, u, v, out):
        out[:] = np.tile(100.0 * (u[:2] - u[2:]), 2) * [1, 1, -1, -1] + 500.0 * u

    found = [two_masses(force=spring)]
    body = found[0].body
    other = type(body)(np.ones(4), internal=internal)
    ground = di.ObstacleContact(other, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.3)
    found.append(di.CDLagrangeSingular(other, 2e-3, ground))
    for s in found:
        s.start([0.0, 0.02, 0.0, 0.02], [0.3, -2.0, 0.5, -2.0])
        for _ in range(50):
            s.step()
    assert found[0].r[0] > 0 and found[0].u == pytest.approx(found[1].u, abs=1e-13)


@pytest.mark.parametrize("part", [0.45, 0.55])
def test_stiffness_damping_is_bounded_by_half_of_the_step(part):
    """Velocities of the step before make an iteration by -beta/h, which the layer repeats every step."""
    free = di.Solid(block(CELL.quadrilateral, (4, 3)), density=DENSITY, law=di.LinearElastic(1e6, 0.3))
    wall = di.RigidContact(free, "low", di.Plane((0.0, -1e-4), (0.0, 1.0)))
    h = 0.3 * di.CDLagrangeSingular(free, 1e-12, wall).system.critical_time_step()
    solid = di.Solid(free.named, density=DENSITY, law=di.LinearElastic(1e6, 0.3), stiffness_damping=part * h)
    wall = di.RigidContact(solid, "low", di.Plane((0.0, -1e-4), (0.0, 1.0)))
    if part > 0.5:
        with pytest.raises(ValueError, match="stiffness_damping must be at most half .* or CDLagrange"):
            di.CDLagrangeSingular(solid, h, wall)
    s = di.CDLagrangeSingular(solid, h, wall, allow_unstable=part > 0.5)
    s.start(0.0, (0.1, -1.0))
    for _ in range(300):
        s.step()
    largest = COMM.allreduce(np.abs(s.v).max(), op=MPI.MAX)
    assert (largest < 3.0) == (part < 0.5)


def damped(part, **options):
    """A falling block whose whole skin is without mass, with a part of the critical step."""
    solid = di.Solid(
        block(CELL.quadrilateral, (4, 3)), density=DENSITY, law=di.LinearElastic(1e6, 0.3), **options
    )
    skin = di.RigidContact(solid, "boundary", di.Plane((0.0, -0.01), (0.0, 1.0)))
    h = part * di.CDLagrangeSingular(solid, 1e-12, skin).system.critical_time_step()
    return di.CDLagrangeSingular(solid, h, skin)


def momentum(s):
    return parallel.total(COMM, float(np.sum(s.system.mass[1::2] * s.v[1 : s.body.owned : 2])))


@pytest.mark.mpi
def test_damping_of_the_mass_goes_with_it():
    """Momentum falls by (1 - alpha h) in every step of the flight; the velocities of c make no iteration."""
    rate = 2000.0
    s = damped(0.02, damping=rate)
    s.start(0.0, (0.3, -50.0))
    found = []
    for _ in range(250):
        s.step()
        found.append((parallel.total(COMM, s.r.sum()), momentum(s)))
    forces, momenta = np.array(found).T
    flight = np.flatnonzero(forces)[0] if forces.any() else forces.size
    assert 3 < flight < 250 and np.isfinite(momenta).all()
    ratios = momenta[1:flight] / momenta[: flight - 1]
    assert ratios == pytest.approx(1 - rate * s.dt, rel=1e-12)
    assert np.abs(momenta[-1]) < np.abs(momenta[0])


@pytest.mark.mpi
def test_viscosity_of_contact_nodes_needs_larger_steps():
    damped(0.3, bulk_viscosity=(0.06, 1.2)).start(0.0, (0.3, -1.0))
    with pytest.raises(ValueError, match="without mass would explode .* at most half .* or CDLagrange"):
        damped(0.1, bulk_viscosity=(0.06, 1.2)).start(0.0, (0.3, -1.0))


@pytest.mark.parametrize("part", [0.45, 0.55])
def test_dampers_of_contact_nodes_need_larger_steps(part):
    """A damper between two masses, c over k at the one without mass."""

    def drag(t, u, v, out):
        out[:2] = part * 2e-3 * 100.0 * (v[:2] - v[2:])
        out[2:] = -out[:2]

    s = two_masses(damping=drag)
    if part < 0.5:
        s.start(0.0, [1.0, -3.0, 1.0, -3.0])
        for _ in range(200):
            s.step()
        assert np.abs(s.v).max() < 6.0
        return
    with pytest.raises(ValueError, match="without mass would explode"):
        s.start(0.0, [1.0, -3.0, 1.0, -3.0])


@pytest.mark.parametrize("part, until, ends", [(0.2, 0.15, False), (1.5, 0.11, False), (1.5, 0.15, True)])
def test_dampers_that_become_too_strong_in_the_flight_end_the_run(part, until, ends):
    """Also where they decay again: 25 times of -2.2 had left finite velocities, and 96 J of 0.5 J lost."""

    def drag(t, u, v, out):
        now = part if 0.1 < t < until else 0.2
        out[:2] = now * 2e-3 * 100.0 * (v[:2] - v[2:])
        out[2:] = -out[:2]

    s = two_masses(damping=drag, load=[0.0, -1.0, 0.0, -1.0])
    s.start([0.0, 0.1, 0.0, 0.11], [0.1, -0.1, 0.1, -0.1])
    if ends:
        with pytest.raises(di.UnstableTimeStep, match="contact nodes without mass explode at t = 0.1"):
            di.simulate(s, t_end=0.6, progress=False)
        return
    run = di.simulate(s, t_end=0.6, progress=False)
    assert run["dissipated"][-1] == pytest.approx(0.001415, rel=1e-3)


@serial
def test_a_single_node_with_mass_lets_the_others_turn():
    solid = di.Solid(block(CELL.quadrilateral, (2, 2)), density=DENSITY, law=di.LinearElastic(1e6, 0.3))
    skin = di.RigidContact(solid, "boundary", di.Plane((0.0, -0.01), (0.0, 1.0)))
    s = di.CDLagrangeSingular(solid, 1e-6, skin)
    with pytest.raises(ArithmeticError, match="singular.* can they turn .* finer mesh"):
        s.start(0.0, (0.3, -1.0))


def steel(**contact):
    solid = di.Solid(block(CELL.quadrilateral, (4, 3)), density=DENSITY, law=di.LinearElastic(1e6, 0.3))
    return solid, di.RigidContact(solid, "low", di.Plane((0.0, -0.1), (0.0, 1.0)), **contact)


@pytest.mark.mpi
def test_bad_input():
    solid, wall = steel(restitution=0.5)
    with pytest.raises(ValueError, match=r"needs no restitution.*e = 0.5; set it to 0"):
        di.CDLagrangeSingular(solid, 1e-6, wall)
    solid, wall = steel(drift_correction=True)
    with pytest.raises(ValueError, match="above the critical one"):
        di.CDLagrangeSingular(solid, 1.0, wall)
    curved = di.RigidContact(solid, "low", di.Sphere((0.05, -1.0), 0.5), drift_correction=True)
    with pytest.raises(ValueError, match="does not drift: leave drift_correction out"):
        di.CDLagrangeSingular(solid, 1e-6, curved)
    thin = di.Solid(block(CELL.quadrilateral, (4, 1)), density=DENSITY, law=di.LinearElastic(1e6, 0.3))
    nodes = np.flatnonzero(thin.active[::2])
    every = di.ObstacleContact(thin, 2 * nodes[:, None] + [0, 1], di.Plane((0.0, -1.0), (0.0, 1.0)))
    with pytest.raises(ValueError, match="near some there are only contact nodes: take a finer mesh"):
        di.CDLagrangeSingular(thin, 1e-6, every)


def test_bad_input_of_point_masses():
    ball = di.PointMasses(1.0)
    with pytest.raises(ValueError, match="near some there are only contact nodes"):
        di.CDLagrangeSingular(ball, 0.1, di.DofBound(ball, 0, lower=0.0))


@pytest.mark.mpi
def test_two_bodies_that_meet_at_node_pairs():
    pair, v0 = restarts.two_bars()
    s = di.CDLagrangeSingular(pair.body, 0.5 * pair.body.critical_time_step(), pair.contact)
    s.start(0.0, v0)
    first, impulse, n = parallel.total(COMM, float(s.system.mass @ s.v[: s.body.owned])), 0.0, s.body.owned
    for _ in range(200):
        s.step()
        impulse += parallel.total(COMM, s.r.sum())
    mass, p = (parallel.total(COMM, float(np.sum(x))) for x in (s.system.mass, s.system.mass @ s.v[:n]))
    assert mass == pytest.approx(parallel.total(COMM, float(np.sum(s.body.mass))), rel=1e-13)
    assert impulse > 0 and p == pytest.approx(first, abs=1e-12 * impulse)


def test_surfaces_are_refused():
    scheme, _ = restarts.colliding_discs()
    with pytest.raises(ValueError, match=r"does not take contact of surfaces \(SurfaceContact\)"):
        di.CDLagrangeSingular(scheme.body, scheme.dt, scheme.contact)


@pytest.mark.mpi
def test_runs_go_on_from_a_checkpoint(shared_path):
    def made():
        s = falling(di.NeoHookean(1e6, 0.4), damping=3.0, obstacle=turning()[0])
        return s, s.v_start.copy()

    whole = restarts.whole(made, 12)
    assert whole["r"].sum() > 0
    assert restarts.difference(whole, restarts.kept(made, shared_path / "run", 12, 7)) < 1e-12


#: Attributes of a system that are matters of its masses: one with other masses has its own, or none.
OF_MASSES = """
    implicit_solver loop_solver masses_without mass_damped damping_rate rayleigh cell_masses consistent_mass
    frequencies mass_scaling scaled_cells matrices inertia own_masses part_mass
""".split()
#: Attributes of bodies that schemes and output do not ask a system for.
OF_BODIES = """
    active assembled_forces is_viscous dx element_forces facet_cells forces has_viscosity add_viscous_tangent
    inflation_cost linearised neighbours one_pattern own_forms reassemble rest subtract_internal
    tangent_forms
""".split()


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("name", ["cd-lagrange-singular", "dep-7.1", "dep-7.2"])
@pytest.mark.parametrize(
    "law", [di.LinearElastic(1e6, 0.3), di.NeoHookean(1e6, 0.3)], ids=["linear", "rubber"]
)
def test_what_is_no_matter_of_masses_is_that_of_the_system(name, law, monkeypatch, shared_path):
    """No run, checkpoint or output asks for an attribute that the system beneath alone has."""

    def missed(self, asked):
        if asked == "base" or asked in OF_MASSES or not hasattr(self.base, asked):
            raise AttributeError(asked)
        raise AssertionError(f"{asked} of the system is not known of {type(self).__name__}")

    if name != "cd-lagrange-singular" and not law.linear:
        pytest.skip("takes linear bodies")
    monkeypatch.setattr(OtherMass, "__getattr__", missed, raising=False)
    size = (4, 4)
    solid = di.Solid(block(CELL.triangle, size), density=DENSITY, law=law, gravity=(0.0, -9.81))
    wall = di.RigidContact(solid, "low", di.Plane((0.0, -1e-4), (0.0, 1.0)))
    path, dt = shared_path / "run", 0.4 * solid.critical_time_step()
    fields = ("displacement", "velocity", "stress", "impulse", "gap", "pressure")
    runs = []
    for restart in (False, True):
        s = di.SCHEMES[name].make(solid, dt, contact=wall)
        observers = [
            di.FieldWriter(shared_path / f"{restart}.bp", every=10, names=fields),
            di.ContactForce(),
            di.PeakStress(solid, every=5),
        ]
        if restart:
            history = di.checkpoint.resume(path, s)
        else:
            s.start(0.0, lambda x: np.stack([0.0 * x[0], -3.0 + 2.0 * x[0]]))
            history = None
        keep = di.Checkpoint(path, every=25)
        runs.append(
            di.simulate(
                s, t_end=40 * dt, observers=observers, history=history, checkpoint=keep, progress=False
            )
        )
        n = solid.owned
        assert np.array_equal(s.v_function.x.array[:n], s.v_mean[:n])
    assert runs[0]["r"].sum() > 0 and restarts.difference(*runs) < 1e-11
    assert runs[0]["kinetic"][0] > 0 and f"{solid!r}" in runs[0].about


def test_every_attribute_of_a_body_is_one_of_masses_or_not():
    """A new attribute of bodies must be decided upon."""
    solid = di.Solid(block(CELL.triangle, (3, 2)), density=DENSITY, law=di.LinearElastic(1e6, 0.3))
    wall = di.RigidContact(solid, "low", di.Plane((0.0, -1e-4), (0.0, 1.0)))
    system = di.CDLagrangeSingular(solid, 0.1 * solid.critical_time_step(), contact=wall).system
    for body in (solid, di.PointMasses([1.0, 2.0])):
        names = {name for name in dir(body) if name[0] != "_"}
        assert not names - set(dir(system)) - {*OF_MASSES, *OF_BODIES}
    assert np.array_equal(system.nodes("low"), solid.nodes("low"))
    assert np.array_equal(
        system.rigid_velocity([1.0, 2.0], spin=3.0), solid.rigid_velocity([1.0, 2.0], spin=3.0)
    )
