"""The critical step of a body that deforms much, and a step that follows it."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
SPEED = 1.0


def block(speed, **options):
    """A soft bar that runs into a wall, its rear faster, and is compressed to half its length; started."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.2]], [16, 3], dmesh.CellType.quadrilateral)
    facets = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[0], 0.0))
    tags = dmesh.meshtags(mesh, 1, facets, np.ones(facets.size, dtype=np.int32))
    named = di.NamedMesh(mesh, None, tags, {"front": (1, 1)})
    body = di.Solid(named, density=1.0, law=di.NeoHookean(1.0, 0.3))
    wall = di.RigidContact(body, "front", di.Plane((0.0, 0.0), (1.0, 0.0)))
    s = di.CDLagrange(body, options.pop("courant", 0.9) * body.critical_time_step(), wall)
    v0 = np.zeros(body.size)
    v0[::2] = -speed * body.x[:, 0]
    s.start(0.0, v0)
    return s


@pytest.mark.mpi
def test_the_critical_step_shrinks_under_compression():
    s = block(0.0)
    body = s.system
    u = np.zeros(body.size)
    u[::2] = -0.5 * body.x[:, 0]
    at_rest, squeezed = body.critical_time_step(), body.critical_time_step(u=u)
    assert squeezed < 0.8 * at_rest
    assert body.critical_time_step(u=np.zeros(body.size)) == pytest.approx(at_rest, rel=1e-6)
    assert body.critical_time_step(u=u, tolerance=1e-3) == pytest.approx(squeezed, rel=1e-3)


@pytest.mark.mpi
def test_a_step_that_follows_goes_through_where_a_fixed_one_explodes():
    with pytest.raises(di.UnstableTimeStep):
        di.simulate(block(SPEED), t_end=3.0, progress=False)
    s, control = block(SPEED), di.StepControl(every=5, safety=0.7)
    first = s.dt
    run = di.simulate(s, t_end=3.0, adapt=control, progress=False)
    steps = np.diff(run["t"])
    assert control.changes >= 2 and steps.min() < 0.8 * first
    assert run["t"][-1] == pytest.approx(3.0, abs=2 * first)
    assert run.steps == len(steps) and np.all(steps > 0)
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert run["kinetic"][-1] + run["internal"][-1] == pytest.approx(run["kinetic"][0], rel=0.02)
    mass, started = s.system.mass[::2], -SPEED * s.system.x[: s.system.owned // 2, 0]
    momentum = COMM.allreduce(float(mass @ (s.v_mean[: s.system.owned : 2] - started)))
    assert momentum == pytest.approx(run["r"].sum(), rel=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("t_end", [0.7, 0.83])
def test_a_run_of_many_changes_ends_in_time(t_end):
    """The last step is the nearest one to the end, however often the step has changed."""
    run = di.simulate(block(1.3 * SPEED), t_end=t_end, adapt=di.StepControl(every=1, safety=0.5))
    steps = np.diff(run["t"])
    assert steps.min() < 0.7 * steps.max()
    assert run["t"][-1] == pytest.approx(t_end, abs=0.501 * steps[-1])


def rubber(kind, degree, speed, courant):
    """A block of 3 cells a side that falls flat on a plane; started."""
    if kind in (dmesh.CellType.triangle, dmesh.CellType.quadrilateral):
        mesh = dmesh.create_rectangle(COMM, [[-0.1, 0.0], [0.1, 0.2]], [3, 3], kind)
    else:
        mesh = dmesh.create_box(COMM, [[-0.1, -0.1, 0.0], [0.1, 0.1, 0.2]], [3, 3, 3], kind)
    d = mesh.topology.dim
    skin = dmesh.locate_entities_boundary(mesh, d - 1, lambda x: np.full(x.shape[1], True))
    tags = dmesh.meshtags(mesh, d - 1, skin, np.ones(skin.size, np.int32))
    named = di.NamedMesh(mesh, None, tags, {"skin": (d - 1, 1)})
    body = di.Solid(named, density=1000.0, law=di.NeoHookean(1e6, 0.45), degree=degree)
    up = np.eye(d)[-1]
    floor = di.RigidContact(body, "skin", di.Plane(-1e-3 * up, up))
    s = di.CDLagrange(body, courant * body.critical_time_step(), floor)
    s.start(0.0, body.rigid_velocity(-speed * up))
    return s


@pytest.mark.parametrize(
    "kind, degree, speed, courant",
    [
        (dmesh.CellType.tetrahedron, 1, 20.0, 0.9),
        (dmesh.CellType.triangle, 1, 30.0, 0.9),
        (dmesh.CellType.quadrilateral, 1, 20.0, 0.9),
    ],
)
def test_a_rubber_block_that_hits_a_plane_fast(kind, degree, speed, courant):
    s, control = rubber(kind, degree, speed, courant), di.StepControl()
    run = di.simulate(s, t_end=0.02, adapt=control, progress=False)
    energy = run["kinetic"] + run["internal"]
    assert control.changes > 2 and run["r"].max() > 0 and run["gap"][-1].min() > 0  # it has bounced
    assert np.abs(run["residual"]).max() < 1e-12 * energy[0]
    assert 0.7 * energy[0] < energy[-1] and energy.max() < 1.001 * energy[0]
    assert np.abs(run["dissipated"]).max() < 0.05 * energy[0]
    least = min(np.diff(run["t"]))
    assert least < 0.8 * control.safety * s.system.critical_time_step()


def test_a_run_that_was_lost_names_compression_and_the_way_out():
    words = r"where a body is compressed its critical time step shrinks.*: .*adapt=StepControl\(\)"
    with pytest.raises(di.UnstableTimeStep, match=words):
        di.simulate(rubber(dmesh.CellType.triangle, 1, 30.0, 0.9), t_end=0.02, progress=False)


def test_a_body_that_does_not_deform_keeps_its_step():
    """In free flight nothing is looked for, however fast it is and however it spins."""
    s = rubber(dmesh.CellType.triangle, 1, 0.0, 0.78)
    s.start(0.0, s.system.rigid_velocity((0.0, 30.0), spin=20.0))
    control, dt = di.StepControl(every=40), s.dt
    di.simulate(s, t_end=120 * dt, adapt=control, progress=False)
    assert control.changes == 0 and s.dt == dt


def test_samples_are_every_so_many_steps_and_the_last():
    run, whole = (
        di.simulate(block(SPEED), t_end=1.0, adapt=di.StepControl(every=4), every=n, progress=False)
        for n in (5, 1)
    )
    last = whole.steps
    which = [*range(0, last, 5), last]
    assert run.steps == last and run["t"] == pytest.approx(whole["t"][which], rel=1e-15)
    assert run["u"] == pytest.approx(whole["u"][which], abs=1e-15)
    assert run["r"].sum(axis=0) == pytest.approx(whole["r"].sum(axis=0), rel=1e-12)


def test_an_impulse_before_a_change_does_its_whole_work():
    """1 kg hits at 1 m/s with e = 0.5, then the step changes: -3/8 J of contact, none dissipated."""
    mass = di.PointMasses(1.0)
    s = di.CDLagrange(mass, 0.1, contact=di.DofBound(mass, 0, lower=0.0, restitution=0.5))
    s.start(0.0999, -1.0)
    balance = s.balance()
    balance.start()
    s.step()
    balance.step()
    assert s.r[0] == pytest.approx(1.5)
    s.change_step(0.05)
    balance.restart()
    for _ in range(2):
        assert balance.contact == pytest.approx(-0.375, rel=1e-14)
        assert balance.dissipated == pytest.approx(0.0, abs=1e-15)
        assert balance.kinetic == pytest.approx(0.125, rel=1e-14)
        s.step()
        balance.step()


def test_a_change_is_of_second_order():
    """Without contact, the step changed twice on the way: the end is as near as with small steps."""
    ends = []
    for parts in ((1.0, 1.0, 1.0), (1.0, 0.5, 0.8)):
        s = block(0.0, courant=0.1)
        dt = s.dt
        u0 = np.zeros(s.system.size)
        u0[::2] = 0.2 * np.cos(np.pi * s.system.x[:, 0])
        s.contact, s.r = None, np.zeros(0)
        s.start(u0, 0.0)
        for part in parts:
            s.change_step(part * dt)
            for _ in range(round(40 / part)):
                s.step()
        ends.append((s.t, s.u[: s.system.owned].copy()))
    assert ends[0][0] == pytest.approx(ends[1][0], rel=1e-12)
    assert np.abs(ends[0][1] - ends[1][1]).max(initial=0.0) < 2e-4


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: di.StepControl(every=0), "every must be a whole number"),
        (lambda: di.StepControl(safety=1.0), "safety must lie between 0 and 1"),
        (lambda: di.simulate(theta(), t_end=1.0, adapt=di.StepControl()), "cannot change its time step"),
        (
            lambda: di.simulate(ball(), t_end=1.0, adapt=di.StepControl()),
            "step of a PointMasses is not followed",
        ),
        (lambda: di.simulate(ball(), t_end=1.0, adapt=True), "adapt must be a StepControl, not True"),
    ],
)
def test_bad_input(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def stiffening(kind):
    """A square of rubber that becomes eleven times as stiff in 0.1 s, its scheme and observers; started."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [4, 4], dmesh.CellType.quadrilateral)
    mu, d, observers = fem.Constant(mesh, 1e5), 3 if kind is di.Solid else 2, []

    def energy(F):
        return mu / 2 * (ufl.inner(F, F) - d) - mu * ufl.ln(ufl.det(F)) + mu * ufl.ln(ufl.det(F)) ** 2

    def at(t):
        mu.value = 1e5 * (1 + 100 * t)

    if kind is di.Solid:
        observers.append(lambda i: at(i.t))
        body = di.Solid(mesh, density=1000.0, law=di.EnergyLaw(energy))
    else:
        V = fem.functionspace(mesh, ("Lagrange", 1, (2,)))
        u = fem.Function(V)
        whole = energy(ufl.Identity(2) + ufl.grad(u)) * ufl.dx
        body = di.FormSystem(V, u=u, energy=whole, density=1000.0, update=at)
    s = di.CDLagrange(body, 0.7 * body.critical_time_step())
    s.start(0.0, lambda x: np.stack([1e-3 * x[0], 0 * x[0]]))
    return s, observers


@pytest.mark.mpi
@pytest.mark.parametrize("kind", [di.Solid, di.FormSystem])
def test_the_step_follows_coefficients_that_rise(kind):
    """The right energy at the end is 1.5 times that of the start; with a fixed step the run ends in words."""
    s, observers = stiffening(kind)
    control = di.StepControl()
    run = di.simulate(s, t_end=0.1, observers=observers, adapt=control)
    energy = run["kinetic"] + run["internal"]
    assert control.changes > 2 and 1.2 * energy[0] < energy[-1] < 2.5 * energy[0]
    assert s.dt < s.system.critical_time_step(u=s.u)
    s, observers = stiffening(kind)
    with pytest.raises(di.UnstableTimeStep, match="where a coefficient of a law rises"):
        di.simulate(s, t_end=0.1, observers=observers)


def test_a_law_that_stiffens_at_a_limit():
    """Gent's rubber with a limit of 0.5, stretched towards it from a step of a tenth of the critical one."""
    lame, mu, limit = 1e6 * 0.3 / (1.3 * 0.4), 1e6 / 2.6, 0.5

    def gent(F):
        log = ufl.ln(ufl.det(F))
        return -mu * limit / 2 * ufl.ln(1 - (ufl.inner(F, F) - 3) / limit) - mu * log + lame * log**2 / 2

    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.3]], [8, 3], dmesh.CellType.quadrilateral)
    named = di.named(mesh, left=lambda x: x[0] < 1e-9)
    body = di.Solid(named, density=1000.0, law=di.EnergyLaw(gent), fixed={"left": (0,)})
    for speed in (20.0, 30.0):
        s = di.CDLagrange(body, 0.1 * body.critical_time_step())
        s.start(0.0, lambda x, speed=speed: np.stack([speed * x[0], 0 * x[0]]))
        run = di.simulate(s, t_end=0.1, adapt=di.StepControl())
        energy = run["kinetic"] + run["internal"]
        assert run.steps < 300 and energy.max() < 1.05 * energy[0]


def test_beyond_its_range_a_law_ends_the_run():
    """The logarithm of Gent's energy is not a number there, though its derivative is one."""
    s = di.CDLagrange(di.PointMasses(1.0, internal=past, energy=known), 0.01)
    s.start(0.0, 30.0)
    with pytest.raises(di.UnstableTimeStep, match="no longer finite"):
        di.simulate(s, t_end=1.0)


def past(t, u, v, out):
    out[:] = u / (1 - u**2)


def known(u):
    return -0.5 * float(np.log(1 - u[0] ** 2)) if u[0] ** 2 < 1 else float("nan")


def ball():
    s = di.CDLagrange(di.PointMasses(1.0), 0.1)
    s.start(0.0, 1.0)
    return s


def theta():
    s = di.MoreauJean(di.PointMasses(1.0), 0.1)
    s.start(0.0, 1.0)
    return s
