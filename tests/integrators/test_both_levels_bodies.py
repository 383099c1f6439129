"""Contact at both levels: steps in parts, restart, every kind of system and contact, ranks, a press fit."""

import math

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.pairs import bars

import dolfinx_impact as di
from dolfinx_impact.algebra.complementarity import NotConverged
from dolfinx_impact.integrators.one_step.position_step import PositionStep
from dolfinx_impact.integrators.one_step.static_step import StaticStep
from dolfinx_impact.integrators.one_step.step_equation import StepEquation

ALONE, WORLD = MPI.COMM_SELF, MPI.COMM_WORLD
ANY = pytest.mark.mpi()


def boxed(comm, dim=2, cells=3):
    """A unit box with its faces ``foot`` and ``top``."""
    make, kind = (
        (dmesh.create_rectangle, dmesh.CellType.quadrilateral)
        if dim == 2
        else (dmesh.create_box, dmesh.CellType.hexahedron)
    )
    made = make(comm, [np.zeros(dim), np.ones(dim)], [cells] * dim, kind)
    return di.named(
        made, foot=lambda x: np.isclose(x[dim - 1], 0.0), top=lambda x: np.isclose(x[dim - 1], 1.0)
    )


def floor(dim=2):
    return di.Plane(np.zeros(dim), np.eye(dim)[-1])


def thrown(comm=ALONE, *, law=None, dim=2, mu=0.3, courant=10, start=True, **options):
    """A block thrown askew onto a floor, started."""
    body = di.Solid(boxed(comm, dim), density=1.0, law=law or di.NeoHookean(40.0, 0.3))
    contact = di.RigidContact(body, "foot", floor(dim), friction=mu)
    s = di.MoreauJean(
        body, courant * body.critical_time_step(), contact=contact, position=True, **{"theta": 1.0, **options}
    )
    if start:
        s.start(0.01 * np.eye(dim)[-1], [0.7, *np.zeros(dim - 2), -1.0])
    return s


def nodal(s):
    out = np.zeros(s.contact.nodes.loaded.dofs.shape)
    s.add_nodal_impulses(out)
    return out


# -- steps that are made in parts


def failing(monkeypatch, largest):
    """Position problems are found only in parts up to this one, and leave a state behind where not."""
    for step in (PositionStep, StaticStep):

        def update(self, original=step.update):
            original(self)
            if self._scheme.h > largest * (1 + 1e-9):
                raise NotConverged("as the test wants")

        monkeypatch.setattr(step, "update", update)


def test_a_step_in_four_parts_is_four_steps(monkeypatch):
    """Nothing is left of failed parts; impulses are sums; the balance closes over the parts."""
    whole, fine = thrown(), thrown(courant=2.5)
    failing(monkeypatch, whole.dt / 4)
    balance = whole.balance()
    balance.start()
    for _ in range(3):
        r, r_t, loaded, momentum = 0.0, 0.0, 0.0, whole.system.mass * whole.v
        for _ in range(4):
            fine.step()
            r, r_t, loaded = r + fine.r, r_t + fine.r_t, loaded + nodal(fine)
        whole.step()
        balance.step()
        for name in ("u", "v", "w"):
            np.testing.assert_allclose(getattr(whole, name), getattr(fine, name), rtol=0, atol=1e-12)
        for name in ("r_position", "r_t_position"):  # of a whole step at the force of the last part
            np.testing.assert_allclose(getattr(whole, name), 4 * getattr(fine, name), rtol=0, atol=1e-12)
        for found, sums in ((whole.r, r), (whole.r_t, r_t), (nodal(whole), loaded)):
            np.testing.assert_allclose(found, sums, rtol=0, atol=1e-12)
        change = (whole.system.mass * whole.v - momentum).reshape(-1, 2).sum(axis=0)
        np.testing.assert_allclose(nodal(whole).sum(axis=0), change, rtol=0, atol=1e-12)
        assert whole.t == pytest.approx(fine.t, rel=1e-13) and whole.h == whole.dt
    assert (whole.halved.halved, whole.halved.smallest, whole.halved.steps) == (3, 4, 3)
    ends = balance.kinetic + balance.internal_work + balance.dissipated
    start = 0.5 * whole.system.mass.sum() / 2 * 1.49
    assert ends - balance.external - balance.contact == pytest.approx(start, abs=1e-12)


@pytest.mark.parametrize("static", [False, True])
def test_reactions_of_a_step_in_parts(monkeypatch, static):
    """Means over the whole step; without mass those at its end."""
    runs = []
    for dt in (0.4, 0.1):
        body = di.Solid(
            boxed(ALONE, 2),
            density=1.0,
            law=di.LinearElastic(40.0, 0.3),
            prescribed={"top": {0: lambda t: 0.0, 1: lambda t: -0.1 * t}},
        )
        contact = di.RigidContact(body, "foot", floor(2))
        s = (
            di.Static(body, dt, contact)
            if static
            else di.MoreauJean(body, dt, 1.0, contact=contact, position=True)
        )
        s.start(0.0, 0.0)
        runs.append(s)
    whole, fine = runs
    failing(monkeypatch, whole.dt / 4)
    for _ in range(2):
        whole.step()
        parts = []
        for _ in range(4):
            fine.step()
            parts.append(fine.reactions())
        found = parts[-1] if static else np.mean(parts, axis=0)
        np.testing.assert_allclose(whole.reactions(), found, rtol=0, atol=1e-10)
    assert whole.halved.halved == 2 and np.abs(found).max() > 0.1


def test_a_step_without_equilibrium_is_told_in_words(monkeypatch):
    s = thrown()
    before = {name: getattr(s, name).copy() for name in s.state_names}
    failing(monkeypatch, 0.0)
    with pytest.raises(NotConverged, match="no equilibrium of contact at t = .* does the body buckle, is a"):
        s.step()
    assert s.h == s.dt and s.part_end is None
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(s, name), values)


def test_a_summary_tells_of_parts(monkeypatch):
    s = thrown()
    failing(monkeypatch, s.dt / 2)
    run = di.simulate(s, t_end=4 * s.dt, progress=False)
    assert "4 of 4 steps were halved, down to h/2" in run.summary()
    assert run.row()["halved"] == 4 and 0 < run.row()["newton_mean"] <= run.row()["newton_max"]
    assert math.isfinite(run["residual"][-1])


def squeezed(courant=1.0):
    """A strip whose end is pressed against a floor by half a cell and more in a step."""
    body = di.Solid(
        boxed(ALONE),
        density=1.0,
        law=di.StVenantKirchhoff(1.0, 0.3),
        prescribed={"top": {1: lambda t: -0.3 * t, 0: lambda t: 0.0}},
    )
    contact = di.RigidContact(body, "foot", floor())
    s = di.MoreauJean(body, courant, theta=1.0, contact=contact, position=True)
    s.start(0.0, 0.0)
    return s


def test_no_cell_is_turned_inside_out():
    s = squeezed()
    try:
        for _ in range(3):
            s.step()
            assert not s.system.deformation.inside_out(s.u)
    except NotConverged as error:
        assert "does the body buckle" in str(error)
    assert not s.system.deformation.inside_out(s.u)


def test_without_the_check_cells_are_turned(monkeypatch):
    monkeypatch.setattr(StepEquation, "_inverted", lambda self, u: False)
    s, turned = squeezed(), False
    try:
        for _ in range(3):
            s.step()
            turned = turned or s.system.deformation.inside_out(s.u)
    except NotConverged:
        pass
    assert turned


# -- restart


@pytest.mark.parametrize("parts", [1, 2])
def test_a_run_goes_on_bit_by_bit(parts, monkeypatch):
    first, second = thrown(), thrown(start=False)
    failing(monkeypatch, first.dt / parts)
    for _ in range(4):
        first.step()
    second.resume(first.state())
    for _ in range(4):
        first.step()
        second.step()
        for name in (*first.state_names, "w"):
            np.testing.assert_array_equal(getattr(second, name), getattr(first, name), err_msg=name)


def test_a_checkpoint_has_impulses_and_counts(tmp_path, monkeypatch):
    """A run that is stopped and goes on is the whole one, in state, history and counts."""

    def run(steps, **options):
        s = thrown()
        return s, di.simulate(s, t_end=8 * s.dt, progress=False, every=1, **options)

    failing(monkeypatch, thrown().dt / 2)
    whole, result = run(8)
    path, half = tmp_path / "run.h5", thrown()
    di.simulate(half, t_end=5 * half.dt, progress=False, every=1, checkpoint=di.Checkpoint(path, every=5))
    again = thrown(start=False)
    history = di.checkpoint.resume(path, again)
    other = di.simulate(again, t_end=8 * again.dt, progress=False, every=1, history=history)
    for name in whole.state_names:
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    np.testing.assert_array_equal(other["r"], result["r"])
    assert other.newton == result.newton and result.newton["halved"] == 8


# -- systems and contacts


def rests(s, steps=40, *, weight, gap=1e-12):
    """It falls, and carries its weight in the end, without a point inside on the way."""
    for _ in range(steps):
        s.step()
        assert s.gap().min() > -gap
    assert s.r.sum() == pytest.approx(weight * s.dt, rel=1e-3)
    return s


def test_a_form_system():
    named = boxed(ALONE, cells=2)
    space = fem.functionspace(named.mesh, ("Lagrange", 1, (2,)))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    stiffness = 50.0 * ufl.inner(ufl.sym(ufl.grad(u)), ufl.sym(ufl.grad(v))) * ufl.dx
    load = ufl.inner(fem.Constant(named.mesh, (0.0, -1.0)), v) * ufl.dx
    system = di.FormSystem(space, stiffness=stiffness, load=load, density=1.0, parts=named)
    contact = di.RigidContact(system, "foot", floor())
    s = di.MoreauJean(system, 0.2, theta=1.0, contact=contact, position=True)
    s.start((0.0, 0.05), 0.0)
    rests(s, weight=1.0)


def test_a_frame():
    """It falls onto bounds of its nodes."""
    x = np.column_stack([np.linspace(0, 1, 5), np.zeros((5, 2))])
    element = basix.ufl.element("Lagrange", "interval", 1, shape=(3,))
    cells = np.array([[i, i + 1] for i in range(4)], dtype=np.int64)
    line = dmesh.create_mesh(ALONE, cells=cells, e=element, x=x)
    section = di.Section.circle(0.1)
    frame = di.Frame(line, density=1e3, E=1e9, nu=0.3, sections=section, gravity=(0, 0, -9.81))
    contact = [di.DofBound(frame, 6 * node + 2, lower=0.0) for node in range(5)]
    s = di.MoreauJean(frame, 0.02, theta=1.0, contact=contact, position=True)
    s.start([0.0, 0.0, 0.02], 0.0)
    rests(s, weight=1e3 * section.area * 9.81)


def test_a_rigid_body():
    square = di.RigidBody.square(0.5, density=1.0, gravity=(0.0, -9.81))
    contact = di.RigidBodyContact(square, floor(), friction=0.3)
    s = di.MoreauJean(square, 0.03, theta=1.0, contact=contact, position=True)
    s.start([0.0, 0.8, 0.3], 0.0)
    rests(s, 60, weight=9.81)


@ANY
@pytest.mark.parametrize(
    "law, mu, dim", [(di.NeoHookean, 0.3, 2), (di.LinearElastic, 0.3, 3), (di.LinearElastic, 0.0, 2)]
)
def test_a_thrown_block_is_that_of_one_rank(dim, mu, law):
    many, one = (thrown(comm, law=law(40.0, 0.3), dim=dim, mu=mu) for comm in (WORLD, ALONE))
    for _ in range(6):
        many.step()
        one.step()
        np.testing.assert_allclose(totals(many), totals(one), rtol=0, atol=1e-10)


def totals(s):
    """Sums over all dofs and points that tell of differences."""
    n, x = s.system.owned, np.repeat(s.system.x, s.system.gdim, axis=0)
    mass = s.system.mass[:n]
    weights = np.array([mass @ s.v[:n], mass @ s.u[:n], mass @ s.v[:n] ** 2, mass @ (x[:n, 0] * s.u[:n])])
    return s.system.comm.allreduce(np.array([*weights, s.r.sum(), s.r @ s.r, s.r_t.sum(), s.pressed.sum()]))


def colliding(comm, ranks=None):
    """Two bars that collide, node by node, one of them with a wall too: a list of contacts."""
    body = bars(ranks, comm)
    pairs, wall = di.NodePairs(body, "left", "right", [1.0]), di.Plane([1.1], [-1.0])
    contact = [pairs, di.RigidContact(body, "end", wall)]
    s = di.MoreauJean(body, 5 * body.critical_time_step(), contact=contact, position=True)
    s.start(0.0, lambda x: np.where(x[:1] < 0.0, 1.0, 0.2))
    return s


@ANY
def test_node_pairs_and_lists_are_those_of_one_rank():
    many, one, impulse = colliding(WORLD, ranks=(0, WORLD.size - 1)), colliding(ALONE), 0.0
    for _ in range(25):
        many.step()
        one.step()
        np.testing.assert_allclose(totals(many), totals(one), rtol=0, atol=1e-10)
        assert min(s.gap().min(initial=0.0) for s in (many, one)) > -1e-14
        impulse += one.r.sum()
    assert impulse > 0.1


def test_normals_that_turn_onto_held_dofs():
    """Half a block on a cylinder below its plane of symmetry, where one direction is held."""
    named = boxed(ALONE).mesh
    named = di.named(named, foot=lambda x: np.isclose(x[1], 0.0), axis=lambda x: np.isclose(x[0], 0.0))
    law, gravity = di.NeoHookean(40.0, 0.3), (0.0, -1.0)
    body = di.Solid(named, density=1.0, law=law, fixed={"axis": (0,)}, gravity=gravity)
    contact = di.RigidContact(body, "foot", di.Sphere((0.0, -2.0), 2.0))
    s = di.MoreauJean(body, 0.3, theta=1.0, contact=contact, position=True)
    s.start(0.0, 0.0)
    for _ in range(40):
        s.step()
        assert s.gap().min() > -1e-12
    assert nodal(s).sum(axis=0)[1] == pytest.approx(s.dt, rel=1e-6)


@pytest.mark.parametrize(
    "force, law, theta, exact",
    [
        ("trapezoid", di.LinearElastic, 1.0, 1e-12),
        ("trapezoid", di.LinearElastic, 0.7, 1e-12),
        ("midpoint", di.LinearElastic, 0.5, 1e-12),
        ("midpoint", di.NeoHookean, 0.5, 1e-12),
    ],
)
def test_the_balance_closes_with_damping_on_a_curved_obstacle(force, law, theta, exact):
    body = di.Solid(boxed(ALONE), density=1.0, law=law(40.0, 0.3), damping=0.7, stiffness_damping=0.01)
    contact = di.RigidContact(body, "foot", di.Sphere((0.3, -2.0), 2.0), friction=0.3, restitution=0.3)
    s = di.MoreauJean(body, 0.2, theta=theta, contact=contact, position=True, force=force)
    s.start((0.0, 0.03), (0.5, -1.0))
    balance, impulse = s.balance(), 0.0
    balance.start()
    start = balance.kinetic
    for _ in range(15):
        s.step()
        balance.step()
        impulse += s.r.sum()
    ends = balance.kinetic + balance.internal_work + balance.dissipated
    assert ends - balance.external - balance.contact == pytest.approx(start, abs=exact) and impulse > 0.1


@pytest.mark.parametrize("kind", [di.MoreauJean, di.GeneralizedAlpha])
def test_viscosity_with_a_kink_is_iterated(kind):
    """A linear body whose damping is not linear: one correction is no solution, and P is M (v' - v) - h F."""
    body = di.Solid(boxed(ALONE), density=1.0, law=di.LinearElastic(40.0, 0.3), bulk_viscosity=(0.1, 1.2))
    contact = di.RigidContact(body, "foot", floor())
    s = kind(body, 10 * body.critical_time_step(), contact=contact, position=True)
    s.start((0.0, 0.01), (0.0, -1.0))
    run = di.simulate(s, t_end=6 * s.dt, progress=False)
    assert run["r"].sum() > 0.5 and np.abs(run["residual"]).max() < 1e-12


# -- a press fit


class Wall(di.obstacles.Shape):
    """A wall x = 9.9 mm for y < 0 that opens above: a parabola over 2 mm, then the slope 0.1."""

    flat = False

    def __init__(self):
        super().__init__(2)

    def _nearest(self, x):
        y = x[:, 1].copy()
        for _ in range(30):
            w, slope, curvature = self._curve(y)
            f = (y - x[:, 1]) + (w - x[:, 0]) * slope
            y -= f / np.maximum(1 + slope**2 + (w - x[:, 0]) * curvature, 0.5)
        w, slope, _ = self._curve(y)
        normal = np.column_stack([-np.ones_like(slope), slope]) / np.hypot(1.0, slope)[:, None]
        return normal, (x[:, 0] - w) * normal[:, 0] + (x[:, 1] - y) * normal[:, 1]

    @staticmethod
    def _curve(y):
        curved, a = (y >= 0) & (y < 2e-3), np.clip(y, 0.0, 2e-3)
        w = 9.9e-3 + 25 * a**2 + 0.1 * np.maximum(y - 2e-3, 0.0)
        return w, 50 * a, np.where(curved, 50.0, 0.0)

    def gap(self, x, t=0.0):
        return self._nearest(x)[1]

    def normal(self, x, t=0.0):
        return self._nearest(x)[0]


@pytest.mark.slow
@pytest.mark.parametrize("theta, courant", [(1.0, 100), (0.5, 100)])
def test_a_press_fit(theta, courant):
    """A peg pushed past a chamfer: work 218.5 J and stored energy 14.75 J, as refined; nothing inside."""
    corners = [[0, 4e-3], [10e-3, 34e-3]]
    made = dmesh.create_rectangle(ALONE, corners, [4, 12], dmesh.CellType.quadrilateral)
    named = di.named(
        made,
        side=lambda x: np.isclose(x[0], 10e-3),
        axis=lambda x: np.isclose(x[0], 0.0),
        top=lambda x: np.isclose(x[1], 34e-3),
    )
    body = di.Solid(
        named,
        density=7850.0,
        law=di.StVenantKirchhoff(2.1e9, 0.3),
        fixed={"axis": (0,), "top": (0,)},
        prescribed={"top": {1: lambda t: -0.75 * t}},
    )
    contact = di.RigidContact(body, "side", Wall(), friction=0.1)
    steps = round(20e-3 / (courant * body.critical_time_step()))
    s = di.MoreauJean(body, 20e-3 / steps, theta=theta, contact=contact, position=True)
    s.start(0.0, (0.0, -0.75))
    moved, work, force, deepest = body.prescribed.dofs, 0.0, None, 0.0
    for _ in range(steps):
        before = s.u[moved].copy()
        s.step()
        last, force = force, s.reactions()  # at the end for theta = 1, in the middle of the step for 1/2
        mean = force if last is None or theta == 0.5 else 0.5 * (last + force)
        work += float(mean @ (s.u[moved] - before))
        deepest = min(deepest, s.gap().min())
    assert work == pytest.approx(218.5, rel=0.015) and deepest > -1e-12
    assert body.stored_energy(s.u) == pytest.approx(14.75, rel=1e-3 if theta == 1 else 0.05)
    assert s.halved.halved == 0 and s.halved.iterations < 6 * steps
