"""HATI on solids: a nonlinear explicit side with friction, obstacles of any shape and contact of surfaces."""

import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from support import vtx_reader
from support.parts import COMM, DENSITY, SECTION, E, divided, field, plate, solid

import dolfinx_impact as di
from dolfinx_impact import HATI, FieldWriter, parallel
from dolfinx_impact.algebra.sparse_solver import FactorisedSolver
from dolfinx_impact.integrators.hati import interface
from dolfinx_impact.output.fields import LABELS
from dolfinx_impact.systems import matrices

NU, FRICTION, RADIUS = 0.3, 0.3, 1.0
SPEED = (0.1, -0.2)
#: Sums of the run of surfaces on one rank: impulses, kinetic energy at the end and that of the interface.
ONE_RANK = [
    0.5531245295859161,
    -0.1351924090664669,
    -0.0020816824241106737,
    0.0527853867698459,
    -0.0116548931442615,
]
needs_reader = pytest.mark.skipif(not vtx_reader.available(), reason="no C library of ADIOS2")
RUBBER = di.NeoHookean(E, NU)


def signal(t):
    return 0.05 * np.sin(3.0 * t)


def rate(t):
    return 0.15 * np.cos(3.0 * t)


def rising():
    """A disc below the plate that moves up and down."""
    disc = di.Sphere((1.3, -RADIUS - 0.02), RADIUS)
    up = np.array([0.0, 1.0])
    return di.MovingObstacle(
        disc, translation=lambda t: signal(t) * up, translation_rate=lambda t: rate(t) * up
    )


OBSTACLES = {
    "disc that moves": rising,
    "box with edges": lambda: di.Box.between((0.6, -1.0), (1.6, -0.01)),
    "two shapes": lambda: [di.Plane((0.0, -0.03), (0.0, 1.0)), di.Sphere((0.8, -0.51), 0.5)],
}


def parts(named, cells=("near", "far"), **options):
    """The explicit part of rubber, the other one linear."""
    shared = {"density": DENSITY, "cross_section": SECTION, **options}
    near, far = cells
    return (
        di.Solid(named, law=RUBBER, cells=near, **shared),
        di.Solid(named, law=di.LinearElastic(E, NU), cells=far, **shared),
    )


def on_obstacle(ratio, shape=rising, step=0.5, cells=(12, 4), law=None, mass="lumped", **options):
    """HATI on a plate whose lower half is rubber, with friction on an obstacle."""
    near, far = parts(plate(cells=cells), **options)
    contact = di.RigidContact(near, "tip", shape(), **{"friction": FRICTION, **(law or {})})
    return HATI(near, far, step * near.critical_time_step(), contact, ratio=ratio, mass=mass)


@functools.cache
def two_layers():
    """Two plates, meshed differently, that meet: each is explicit where they do.

    Once, since partitioners throw dice.
    """

    def layer(low, high, cells, near):
        mesh = dmesh.create_rectangle(COMM, [low, high], cells, cell_type=dmesh.CellType.quadrilateral)
        bottom, top = (lambda x, y=y: np.isclose(x[1], y) for y in (low[1], high[1]))
        return divided(mesh, near, bottom=bottom, top=top)

    return di.mesh.join(
        {
            "upper": layer([0.0, 0.0], [3.0, 1.0], (12, 4), lambda x: x[1] < 0.5),
            "lower": layer([-0.5, -1.02], [3.5, -0.02], (13, 4), lambda x: x[1] > -0.5),
        }
    )


def surfaces(ratio, step=0.5, friction=FRICTION, **options):
    """HATI on two plates that meet, with friction between their surfaces."""
    cells = [tuple(f"{part}/{half}" for part in ("upper", "lower")) for half in ("near", "far")]
    near, far = parts(two_layers(), cells)
    contact = di.SurfaceContact(near, "upper/bottom", "lower/top", friction=friction, **options)
    return HATI(near, far, step * near.critical_time_step(), contact, ratio=ratio)


def upper_falls(x):
    return np.where(x[1] > -0.01, 1.0, 0.0) * np.array(SPEED)[:, None]


def whole(named, cells):
    """The undivided body."""
    laws = {**dict.fromkeys(cells[0], RUBBER), **dict.fromkeys(cells[1], di.LinearElastic(E, NU))}
    return di.Solid(named, law=laws, density=dict.fromkeys(laws, DENSITY), cross_section=SECTION)


def largest(values):
    return parallel.largest(COMM, np.abs(values))


def total(values):
    return COMM.allreduce(float(np.sum(values)))


# -- an independent program


class Side:
    """Bilinear squares of a plate from (0, 0) to (3, 1) in plain NumPy; nodes sorted by x, then by y.

    Args:
        cells: Numbers along x and y.
        inside: Whether a square with this middle belongs to the side.
        stress: First Piola-Kirchhoff stress of F, in the plane.
    """

    def __init__(self, cells, inside, stress):
        (nx, ny), self.stress = cells, stress
        self.h = np.array([3.0 / nx, 1.0 / ny])
        corners = []
        for i in range(nx):
            for j in range(ny):
                if inside(self.h * (i + 0.5, j + 0.5)):
                    first = i * (ny + 1) + j
                    corners.append([first, first + 1, first + ny + 1, first + ny + 2])
        self.squares, self.count = np.array(corners), (nx + 1) * (ny + 1)
        self.nodes = np.unique(self.squares)
        self.dofs = (2 * self.nodes[:, None] + [0, 1]).ravel()
        at = (1 + np.array([-1, 1]) / np.sqrt(3)) / 2
        x, y = (points.ravel() for points in np.meshgrid(at, at))
        self.N = np.stack([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y], axis=1)
        along = np.stack([y - 1, -y, 1 - y, y], axis=1) / self.h[0]
        across = np.stack([x - 1, 1 - x, -x, x], axis=1) / self.h[1]
        self.slopes, self.weight = np.stack([along, across], axis=2), SECTION * self.h.prod() / 4

    def internal(self, u):
        U = u.reshape(-1, 2)[self.squares]
        F = np.eye(2) + np.einsum("cai,qaj->cqij", U, self.slopes)
        forces = np.einsum("cqij,qaj->cai", self.stress(F), self.slopes) * self.weight
        out = np.zeros((self.count, 2))
        np.add.at(out, self.squares, forces)
        return out.ravel()

    def lumped(self):
        out = np.zeros(self.count)
        np.add.at(out, self.squares, DENSITY * self.weight)
        return np.repeat(out, 2)

    def consistent(self):
        out = np.zeros((self.count, self.count))
        for square in self.squares:
            out[np.ix_(square, square)] += DENSITY * self.weight * self.N.T @ self.N
        return np.kron(out, np.eye(2))

    def stiffness(self):
        return np.stack([self.internal(unit) for unit in np.eye(2 * self.count)], axis=1)


def neo_hookean(F):
    lame, mu = E * NU / (1 + NU) / (1 - 2 * NU), E / 2 / (1 + NU)
    back = np.swapaxes(np.linalg.inv(F), -1, -2)
    return mu * (F - back) + lame * np.log(np.linalg.det(F))[..., None, None] * back


def hooke(F):
    lame, mu = E * NU / (1 + NU) / (1 - 2 * NU), E / 2 / (1 + NU)
    strain = (F + np.swapaxes(F, -1, -2)) / 2 - np.eye(2)
    return lame * np.trace(strain, axis1=-2, axis2=-1)[..., None, None] * np.eye(2) + 2 * mu * strain


def touch(x, v, m, t, dt):
    """Impulses of a point of mass m at x on the disc of :func:`rising`, with friction; shape (2,)."""
    arm = x - [1.3, -RADIUS - 0.02 + signal(t)]
    distance = np.linalg.norm(arm)
    if distance > RADIUS:
        return np.zeros(2)
    n, against = arm / distance, v - [0.0, rate(t + dt / 2)]
    normal = max(0.0, -m * (n @ against))
    slip = -m * (against - (n @ against) * n)
    size = np.linalg.norm(slip)
    return normal * n + slip * min(1.0, FRICTION * normal / size if size > 0 else 1.0)


def reference(cells, dt, m, steps, alpha, v0, mass):
    """Algorithm 1, gluing and both sides of a fine step in one dense system; yields coarse states."""
    e = Side(cells, lambda x: x[1] < 0.5, neo_hookean)
    i = Side(cells, lambda x: x[1] > 0.5, hooke)
    pairs, DT, beta, gamma = np.intersect1d(e.dofs, i.dofs), m * dt, 0.25, 0.5
    M_e, M_i, K = e.lumped()[e.dofs], i.lumped()[i.dofs], i.stiffness()[np.ix_(i.dofs, i.dofs)]
    L_e, L_i = ((side.dofs == pairs[:, None]).astype(float) for side in (e, i))
    whole_M = np.diag(M_i) if mass == "lumped" else i.consistent()[np.ix_(i.dofs, i.dofs)]
    effective = whole_M + gamma * DT * alpha * np.diag(M_i) + beta * DT**2 * K
    n_e, n_i, q = e.dofs.size, i.dofs.size, pairs.size
    saddle = np.block(
        [
            [np.diag(M_e), np.zeros((n_e, n_i)), -dt * L_e.T],
            [np.zeros((n_i, n_e)), effective, L_i.T],
            [L_e / 2, -gamma * DT * L_i, np.zeros((q, q))],
        ]
    )
    ny = cells[1]
    places = np.array([(k // (ny + 1), k % (ny + 1)) for k in range(e.count)]) * e.h
    bottom = np.flatnonzero(np.isin(e.dofs, 2 * np.arange(0, e.count, ny + 1)))

    def explicit_force(u, v):
        every = np.zeros(2 * e.count)
        every[e.dofs] = u
        return -e.internal(every)[e.dofs] - alpha * M_e * v

    u_e, u_i, v_e, v_i = np.zeros(n_e), np.zeros(n_i), v0[e.dofs], v0[i.dofs]
    f_e, f_i = explicit_force(u_e, v_e), -K @ u_i - alpha * M_i * v_i
    inverse = np.linalg.inv(whole_M)
    mobility = L_e @ np.diag(1 / M_e) @ L_e.T + L_i @ inverse @ L_i.T
    multipliers = np.linalg.solve(mobility, -(L_e @ (f_e / M_e) - L_i @ inverse @ f_i))
    a_i = inverse @ (f_i - L_i.T @ multipliers)
    V = v_e + dt / 2 * (f_e + L_e.T @ multipliers) / M_e
    free_old = L_i @ v_i + gamma * DT * L_i @ np.linalg.solve(effective, L_i.T @ multipliers)
    for n in range(steps):
        pV, pU = v_i + (1 - gamma) * DT * a_i, u_i + DT * v_i + (0.5 - beta) * DT**2 * a_i
        a_free = np.linalg.solve(effective, -K @ pU - alpha * M_i * pV)
        free_new, impulses = L_i @ (pV + gamma * DT * a_free), np.zeros(2)
        for j in range(1, m + 1):
            u_e = u_e + dt * V
            w = dt * explicit_force(u_e, V) / M_e
            free = (1 - j / m) * free_old + j / m * free_new
            right = np.concatenate([np.zeros(n_e + n_i), free - L_e @ (V + w / 2)])
            link, a_link, multipliers = np.split(np.linalg.solve(saddle, right), [n_e, n_e + n_i])
            w, t = w + link, (n * m + j) * dt
            for k in bottom:
                at = slice(k, k + 2)
                impulse = touch(places[e.dofs[k] // 2] + u_e[at], V[at] + w[at], M_e[k], t, dt)
                w[at] += impulse / M_e[k]
                impulses += impulse
            V = V + w
        v_e, a_i = V - w / 2, a_free + a_link
        u_i, v_i, free_old = pU + beta * DT**2 * a_i, pV + gamma * DT * a_i, free_new
        yield u_e, v_e, u_i, v_i, impulses


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("ratio, mass", [(1, "lumped"), (4, "lumped"), (4, "consistent")])
def test_against_a_dense_program(ratio, mass):
    """A nonlinear explicit side with friction on a moving disc: every coarse step, both sides."""
    cells, steps, alpha = (6, 4), 120 // ratio, 0.1
    s = on_obstacle(ratio, cells=cells, damping=alpha, mass=mass)
    s.start(0.0, lambda x: np.stack([0.1 + 0.1 * x[1], -0.2 - 0.05 * x[0]]))
    x, y = (each.ravel() for each in np.meshgrid(*(np.linspace(0, a, n + 1) for a, n in zip((3, 1), cells))))
    order = np.lexsort((y, x))
    v0 = np.stack([0.1 + 0.1 * y[order], -0.2 - 0.05 * x[order]], axis=1).ravel()
    hits = 0
    for u_e, v_e, u_i, v_i, impulses in reference(cells, s.fine.dt, ratio, steps, alpha, v0, mass):
        s.step()
        for body, mine, theirs in (
            (s.fine.system, s.fine.u, u_e),
            (s.fine.system, s.fine.v_mean, v_e),
            (s.coarse.system, s.coarse.u, u_i),
            (s.coarse.system, s.coarse.v, v_i),
        ):
            assert np.abs(field(body, mine) - theirs).max() < 2e-12
        nodal = np.zeros(s.contact.nodes.loaded.dofs.shape)
        s.add_nodal_impulses(nodal)
        assert COMM.allreduce(nodal.sum(axis=0)) == pytest.approx(impulses, abs=1e-12)
        hits += np.any(impulses != 0)
    assert hits > 30 // ratio


# -- against the explicit scheme on the undivided body


def explicit_run(named, cells, contact, dt):
    body = whole(named, cells)
    return di.CDLagrange(body, dt, contact(body))


@pytest.mark.mpi
def test_what_is_ahead_of_the_waves_from_the_interface_is_the_explicit_run():
    """A fine step takes news from the interface one cell further: until then all numbers are equal."""
    s = on_obstacle(2, cells=(12, 16))
    named = s.fine.system.named
    true = explicit_run(
        named,
        (("near",), ("far",)),
        lambda body: di.RigidContact(body, "tip", rising(), friction=FRICTION),
        s.fine.dt,
    )

    def v0(x):  # uniform at the interface and above it
        return np.stack([0.1 + 0 * x[0], -0.2 - 2.0 * np.maximum(0.0, 0.25 - x[1])])

    for each in (s, true):
        each.start([0.0, 0.035], v0)
    impulses = 0.0
    for _ in range(3):
        s.step()
        true.step()
        impulses += total(s.fine.r)
        true.step()
        impulses += total(s.fine.r)
    far = s.fine.system.x[:, 1] < 0.5 - 6.5 / 16
    gone = np.repeat(far, 2)[: s.fine.system.owned]
    assert largest((s.fine.u - true.u)[: gone.size][gone]) < 1e-15
    assert largest((s.fine.v - true.v)[: gone.size][gone]) < 1e-14
    assert total(gone) > 0 and impulses > 1e-3


def test_surfaces_in_contact_with_themselves_too():
    """As named pairs where no part meets itself; paths are not tested, which is refused or said."""
    ends, impulse = [], 0.0
    for options in ({}, {"self_contact": True}):
        s = surfaces(4, **options)
        s.start(0.0, upper_falls)
        for _ in range(20):
            s.step()
            impulse += s.r.sum()
        assert s.contact.certificate().passed is None
        ends.append(s.fine.v.copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-12 * np.abs(ends[0]).max() and impulse > 0.0
    with pytest.raises(ValueError, match="HATI does not test the paths .* swept=False"):
        surfaces(4, swept=True)


@pytest.mark.parametrize("surface", [False, True], ids=["disc", "surfaces"])
def test_smaller_steps_approach_the_explicit_run(surface):
    """The difference to CD-Lagrange on the undivided body falls with the step."""
    found = []
    for step in (0.4, 0.2):
        if surface:
            s = surfaces(1, step)
            cells = [tuple(f"{part}/{half}" for part in ("upper", "lower")) for half in ("near", "far")]

            def contact(body):
                return di.SurfaceContact(body, "upper/bottom", "lower/top", friction=FRICTION)
        else:
            s, cells = on_obstacle(1, step=step), (("near",), ("far",))

            def contact(body):
                return di.RigidContact(body, "tip", rising(), friction=FRICTION)

        true = explicit_run(s.fine.system.named, cells, contact, s.fine.dt)
        for each in (s, true):
            each.start(0.0, upper_falls if surface else np.tile(SPEED, each.system.owned // 2))
        impulses = 0.0
        for _ in range(round(20 / step)):
            s.step()
            true.step()
            impulses += total(s.fine.r)
        assert impulses > 0
        inside = s.fine.system.active
        n = inside.size
        found.append(np.abs(s.fine.u[:n] - true.u[:n])[inside].max() / np.abs(true.u[:n]).max())
    assert found[0] < 0.05 and found[1] < 0.35 * found[0]


# -- what holds at every step


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "name, ratio",
    [("disc that moves", 1), ("surfaces", 1), *((name, 5) for name in (*OBSTACLES, "surfaces"))],
)
def test_balance_and_interface(name, ratio):
    """The balance closes, velocities agree; at m = 1 the interface takes what its formula says."""
    if name == "surfaces":
        s = surfaces(ratio)
        s.start(0.0, upper_falls)
    else:
        s = on_obstacle(ratio, OBSTACLES[name], law={"restitution": 0.3})
        s.start(0.0, np.tile(SPEED, s.fine.system.owned // 2))
    g, kicks, forces, jumps = s.interface.dofs, [], [], []

    def look(x):
        kicks.append(x.fine.v[g] - x.fine.v_before[g])
        forces.append(x.multipliers.copy())
        jumps.append(x.velocity_jump())

    look(s)
    result = di.simulate(s, t_end=100 // ratio * s.dt, progress=False, observers=[look])
    scale = max(result["kinetic"].max(), np.abs(result["external"]).max())
    assert np.abs(result["residual"]).max() < 1e-13 * scale
    assert max(jumps) < 1e-14
    assert result["r"].sum() > 0.05 and np.abs(result["r_t"]).sum() > 0.005
    stored = result["internal"] - result["internal"][0]
    assert result["internal_work"] == pytest.approx(stored, abs=0.01 * scale)  # of a nonlinear law
    if ratio == 1:
        means = (np.array(forces)[1:] + np.array(forces)[:-1]) / 2
        formula = -s.dt / 4 * total(np.diff(kicks, axis=0) * means)
        assert result["interface"][-1] == pytest.approx(formula, abs=1e-14 * scale)


@pytest.mark.mpi
@pytest.mark.parametrize("name", OBSTACLES)
def test_same_on_any_number_of_ranks(name, as_on_one_rank):
    s = on_obstacle(4, OBSTACLES[name])
    s.start(0.0, np.tile(SPEED, s.fine.system.owned // 2))
    result = di.simulate(s, t_end=40 * s.dt, progress=False)
    fields = [field(side.system, x) for side in (s.fine, s.coarse) for x in (side.u, side.v)]
    found = [result["r"].sum(axis=1), result["r_t"].sum(axis=1), *fields]
    assert found[0].sum() > 0.05
    for mine, theirs in zip(found, as_on_one_rank(found)):
        assert np.abs(mine - theirs).max() < 1e-12 * np.abs(theirs).max()


@pytest.mark.mpi
def test_surfaces_on_any_number_of_ranks():
    """Joined meshes are always distributed: the numbers are those of one rank."""
    s = surfaces(4)
    s.start(0.0, upper_falls)
    result = di.simulate(s, t_end=40 * s.dt, progress=False)
    sums = [
        result["r"].sum(),
        *result["r_t"].sum(axis=(0, 1)),
        result["kinetic"][-1],
        result["interface"][-1],
    ]
    assert sums == pytest.approx(ONE_RANK, rel=1e-11)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("name", [*OBSTACLES, "surfaces"])
def test_restart_goes_on_bit_by_bit(name):
    def make():
        return surfaces(3) if name == "surfaces" else on_obstacle(3, OBSTACLES[name])

    s, again = make(), make()
    s.start(0.0, upper_falls)
    for _ in range(3):
        s.step()
    again.resume(s.state())
    impulses = 0.0
    for _ in range(10):
        s.step()
        again.step()
        impulses += total(s.r)
        state, other = s.state(), again.state()
        apart = [np.nan_to_num(state[key] - other[key]).ravel() for key in state]
        # A search of facets at another place gives sums over ranks another order.
        assert largest(np.concatenate(apart)) <= (1e-14 if name == "surfaces" and COMM.size > 1 else 0.0)
    assert impulses > 0.01


@needs_reader
@pytest.mark.mpi
def test_impulses_and_pressure_of_all_fine_steps_are_written(shared_path):
    """Also of surfaces, whose rows are empty where they open before the coarse step ends."""
    s, seen = surfaces(4), []
    s.start(0.0, upper_falls)

    def look(x):
        force = total(x.contact.pressure(x.r, x.dt))
        seen.append([x.contacts.nodal[x.contact.nodes.loaded.order[:, 0] == k].sum(axis=0) for k in (0, 1)])
        seen[-1] = [COMM.allreduce(np.array(seen[-1])), force, total(np.abs(x.contacts.nodal[:, 1]))]

    writer = FieldWriter(shared_path / "fields.bp", every=1, names=("impulse", "pressure"))
    di.simulate(s, t_end=30 * s.dt, progress=False, observers=[look, writer])
    names = [LABELS[name] for name in ("impulse", "pressure")]
    file = parallel.on_root(COMM, lambda: vtx_reader.read(shared_path / "fields.bp", names))
    impulses, pressures = ([step[file.own] for step in file.fields[name]][1:] for name in names)
    opened = 0
    for (sums, force, size), impulse, pressure in zip(seen, impulses, pressures):
        assert np.abs(sums.sum(axis=0)).max() < 1e-15
        assert np.abs(impulse[:, 1]).sum() == pytest.approx(size, abs=1e-14)
        assert np.nansum(pressure) == pytest.approx(force, rel=1e-12)
        opened += np.abs(sums).max() > 0
    assert opened > 5


@pytest.mark.mpi
def test_consistent_mass_with_all_loads():
    """Loads, damping and a prescribed motion of the implicit side: the balance closes, dofs are moved."""
    named, ratio = plate(), 3
    shared = {"density": DENSITY, "cross_section": SECTION, "gravity": (0.0, -0.1), "damping": 0.2}
    near = di.Solid(named, law=RUBBER, cells="near", **shared)
    law, moved = di.LinearElastic(E, NU), {"end": {1: lambda t: -0.02 * t + 0.01 * np.sin(t) ** 2}}
    far = di.Solid(named, law=law, cells="far", prescribed=moved, **shared)
    contact = di.RigidContact(near, "tip", rising(), friction=FRICTION)
    s = HATI(near, far, 0.5 * near.critical_time_step(), contact, ratio=ratio, mass="consistent")
    s.start(0.0, np.tile([0.0, -0.02], near.owned // 2))
    jumps, strays = [], []

    def look(x):
        dofs = far.prescribed.dofs
        jumps.append(x.velocity_jump())
        strays.append(largest(x.coarse.u[dofs] - far.prescribed(x.t)))

    result = di.simulate(s, t_end=60 * s.dt, progress=False, observers=[look])
    scale = max(result["kinetic"].max(), np.abs(result["external"]).max())
    assert np.abs(result["residual"]).max() < 1e-13 * scale
    assert max(jumps) < 1e-14 and max(strays) < 1e-15
    assert s.parameters()["mass"] == "consistent"
    if COMM.size == 1:
        with pytest.raises(ValueError, match="compiled"):
            di.simulate(s, t_end=s.t + 2 * s.dt, progress=False, compiled=True)


@pytest.mark.mpi
def test_compliance_in_blocks(monkeypatch):
    whole = on_obstacle(3)
    monkeypatch.setattr(interface, "_BLOCK", 7 * whole.fine.system.size)
    parts = on_obstacle(3)
    largest_one = np.abs(whole.coarse.compliance).max()
    assert np.abs(whole.coarse.compliance - parts.coarse.compliance).max() < 1e-14 * largest_one


@pytest.mark.mpi
def test_interface_by_names_of_cells():
    """The explicit part is named; the rest of the mesh is the other one, whatever names or tags it has."""
    mesh = plate().mesh
    cells = np.arange(mesh.topology.index_map(2).size_local + mesh.topology.index_map(2).num_ghosts)
    x, y, _ = dmesh.compute_midpoints(mesh, 2, cells.astype(np.int32)).T
    tags = np.where(y > 0.5, np.where(x < 1.0, 3, 7), np.where(np.abs(x - 1.5) < 0.5, 1, 2)).astype(np.int32)
    tagged = dmesh.meshtags(mesh, 2, cells.astype(np.int32), tags)
    named = di.NamedMesh(mesh, tagged, None, {"wheel": (2, 1), "rim": (2, 2), "girder": (2, 3)})
    assert named.other_cells("wheel") == ("rim", "girder", 7)
    assert named.other_cells(("wheel", 7)) == ("rim", "girder")
    near, far = parts(named, ("wheel", named.other_cells("wheel")))
    s = HATI(near, far, 0.5 * near.critical_time_step(), ratio=2)
    assert s.interface.total == 2 * (3 + 3 + 3)  # two sides and the top of a block of 4 x 2 squares
    with pytest.raises(ValueError, match="no cells are left beside wheel, rim, girder, 7: name fewer"):
        named.other_cells(("wheel", "rim", "girder", 7))
    with pytest.raises(ValueError, match="no cells are named 'tyre' in the mesh"):
        named.other_cells("tyre")
    some = dmesh.meshtags(mesh, 2, cells[tags < 7].astype(np.int32), tags[tags < 7])
    with pytest.raises(ValueError, match="16 cells of the mesh have no tag: tag them"):
        di.NamedMesh(mesh, some, None, {"wheel": (2, 1)}).other_cells("wheel")


# -- bad input, and what is watched


def nonlinear_implicit():
    named = plate()
    near, far = (di.Solid(named, density=DENSITY, law=RUBBER, cells=part) for part in ("near", "far"))
    return HATI(near, far, 0.01, ratio=2)


def damped_implicit():
    named = plate()
    return HATI(solid(named, "near"), solid(named, "far", stiffness_damping=0.01), 0.01, ratio=2)


def surface_on_the_interface():
    """The left edges of two plates, whose middle nodes are shared with the implicit halves."""
    cells = [tuple(f"{part}/{half}" for part in ("upper", "lower")) for half in ("near", "far")]
    near, far = parts(two_layers(), cells)
    contact = di.SurfaceContact(near, "upper/boundary", "lower/top")
    return HATI(near, far, 0.01, contact, ratio=2)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "wrong, words",
    [
        (nonlinear_implicit, "the implicit subdomain must be linear, .* leave cells of nonlinear laws"),
        (damped_implicit, "the implicit subdomain must be linear, with no other damping than a rate"),
        (lambda: on_obstacle(2, mass="heavy"), "is 'lumped' or 'consistent', not 'heavy'"),
        (surface_on_the_interface, "contact dofs lie on the interface .* or name fewer facets"),
    ],
)
def test_bad_parts(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


@pytest.mark.mpi
def test_contact_next_to_the_interface():
    """One layer of explicit cells is enough, whatever the law."""
    mesh = plate(cells=(12, 8)).mesh
    named = divided(mesh, lambda x: x[1] < 0.125, tip=lambda x: np.isclose(x[1], 0.0))
    near, far = parts(named)
    contact = di.RigidContact(near, "tip", rising(), friction=FRICTION)
    s = HATI(near, far, 0.5 * near.critical_time_step(), contact, ratio=3)
    s.start(0.0, np.tile(SPEED, near.owned // 2))
    result = di.simulate(s, t_end=60 * s.dt, progress=False)
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    assert s.velocity_jump() < 1e-14 and result["r"].sum() > 0.02


def test_own_damping_of_the_explicit_side():
    """Stiffness damping and bulk viscosity are for the explicit side; the balance closes with both."""
    named = plate()
    near = di.Solid(
        named, density=DENSITY, law=RUBBER, cells="near", stiffness_damping=1e-3, bulk_viscosity=(0.06, 1.2)
    )
    far = di.Solid(named, density=DENSITY, law=di.LinearElastic(E, NU), cells="far")
    contact = di.RigidContact(near, "tip", rising(), friction=FRICTION)
    s = HATI(near, far, 0.4 * near.critical_time_step(), contact, ratio=3)
    s.start(0.0, np.tile(SPEED, near.owned // 2))
    result = di.simulate(s, t_end=60 * s.dt, progress=False)
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    assert result["dissipated"][-1] > 1e-5 * result["kinetic"][0]


@pytest.mark.mpi
def test_an_explicit_side_that_is_turned_inside_out():
    """The monitor watches the explicit side; a step control is refused, which words do not propose."""
    s = on_obstacle(4)
    s.start(0.0, np.tile([0.0, -2.0], s.fine.system.owned // 2))
    with pytest.raises(
        di.UnstableTimeStep, match="(inside out|finite).*: .*take a smaller time step"
    ) as caught:
        di.simulate(s, t_end=200 * s.dt, progress=False)
    assert "StepControl" not in str(caught.value)
    s.start(0.0, 0.0)
    with pytest.raises(ValueError, match="HATI cannot change its time step: leave adapt out"):
        di.simulate(s, t_end=20 * s.dt, progress=False, adapt=di.StepControl())


@pytest.mark.mpi
def test_one_solve_or_two(monkeypatch):
    """The influence of the multipliers in the place of the second solve changes nothing but roundings."""
    monkeypatch.setattr(matrices, "SMALL", 10)  # solved by PETSc
    ends = []
    for kept in (True, False):
        s = on_obstacle(4)
        assert s.coarse._influence is not None and isinstance(s.coarse.solver, FactorisedSolver)
        s.coarse._influence = s.coarse._influence if kept else None
        s.start(0.0, np.tile(SPEED, s.fine.system.owned // 2))
        result = di.simulate(s, t_end=20 * s.dt, progress=False)
        assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
        assert s.velocity_jump() < 1e-14
        ends.append(np.concatenate([s.u, s.v]))
    assert largest(ends[0] - ends[1]) < 1e-13
