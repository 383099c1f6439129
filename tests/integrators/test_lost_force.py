"""The force that a lasting penetration hides: stiffness of points, ratio, warning."""

import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.surfaces import layers

import dolfinx_impact as di
from dolfinx_impact import SCHEMES, Checkpoint, checkpoint, materials, parallel
from dolfinx_impact.algebra import kernels
from dolfinx_impact.integrators import lost_force
from dolfinx_impact.systems.forces.nodal_stiffness import diagonal_stiffness

WORLD = MPI.COMM_WORLD
AT_VELOCITY = [n for n, each in SCHEMES.items() if each.contact_level == "velocity" and not each.divided]


# -- stiffness of nodes


@functools.cache
def cells(gdim):
    """A few cells with nodes on all ranks."""
    if gdim == 2:
        return dmesh.create_rectangle(WORLD, [[0.0, 0.0], [1.0, 1.5]], [5, 4])
    return dmesh.create_box(WORLD, [[0.0] * 3, [1.0] * 3], [2, 2, 3], dmesh.CellType.hexahedron)


@pytest.mark.mpi(cases=4)
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("gdim", [2, 3])
def test_diagonal_of_the_assembled_stiffness(gdim, degree):
    body = di.Solid(cells(gdim), density=1.0, law=di.LinearElastic(2.0, 0.3), degree=degree)
    K = body.matrices.assemble(body.matrices.square_form()).getDiagonal().array_r
    assert diagonal_stiffness(body, np.arange(body.owned)) == pytest.approx(K, rel=1e-12)
    some = np.arange(body.owned)[::3]
    found = diagonal_stiffness(body, some)
    assert found[some] == pytest.approx(K[some], rel=1e-12) and np.count_nonzero(found) == some.size


METAL = materials.J2Plasticity(2.0, 0.3, hardening=materials.LinearHardening(1.0, 1.0))


@pytest.mark.mpi(cases=4)
@pytest.mark.parametrize("law", [di.NeoHookean(2.0, 0.3), METAL], ids=["neo-hookean", "metal"])
@pytest.mark.parametrize("gdim", [2, 3])
def test_nodes_that_are_moved_together_are_not_in_each_others_way(law, gdim):
    """Metals have mean dilatation on hexahedra, and on triangles nodal pressures, which reach farther."""
    body = di.Solid(cells(gdim), density=1.0, law=law)
    owners = WORLD.allgather(body.owned)
    found = diagonal_stiffness(body, np.arange(body.owned))
    for rank, dof in (
        (0, 0),
        (WORLD.size - 1, owners[-1] // 2),
        (WORLD.size // 2, owners[WORLD.size // 2] - 1),
    ):
        alone = np.array([dof] if WORLD.rank == rank else [], dtype=np.int64)
        assert diagonal_stiffness(body, alone)[alone] == pytest.approx(found[alone], rel=1e-8)
    if law is not METAL:
        linear = di.Solid(cells(gdim), density=1.0, law=di.LinearElastic(2.0, 0.3))
        assert found == pytest.approx(diagonal_stiffness(linear, np.arange(body.owned)), rel=1e-8)


# -- the ratio


def pressed(name, depth=0.01, **options):
    """A mass on a spring that a load presses on a wall in which it is already."""
    mass = di.PointMasses(1.0, stiffness=[[100.0]], load=[-50.0])
    scheme = SCHEMES[name].make(mass, 1e-3, contact=di.DofBound(mass, 0, lower=0.0), **options)
    scheme.start(-depth, 0.0, allow_penetration=True)
    return scheme


@pytest.mark.parametrize("name", AT_VELOCITY)
def test_spring_force_over_contact_force(name):
    """At rest the wall carries what the spring, stretched by the depth, does not."""
    run = di.simulate(pressed(name), t_end=0.045, progress=False)
    assert not run["lost_force"][:20].any()
    assert run["lost_force"][20:] == pytest.approx(100.0 * 0.01 / (50.0 - 100.0 * 0.01), rel=1e-4)
    assert run.hidden.t > 0.0199 and run.hidden.point == run["contact_labels"][0]


def test_none_at_position_level_nor_without_stiffness():
    run = di.simulate(pressed("carpenter", depth=0.0), t_end=0.045, progress=False)
    assert run["lost_force"].shape == run["t"].shape and not run["lost_force"].any()
    mass = di.PointMasses(1.0, load=[-50.0])
    scheme = di.CDLagrange(mass, 1e-3, contact=di.DofBound(mass, 0, lower=0.0))
    scheme.start(-0.01, 0.0, allow_penetration=True)
    run = di.simulate(scheme, t_end=0.045, progress=False)
    assert run["r"][1:].all() and not run["lost_force"].any() and "hides" not in run.summary()


def by_the_critical_step(run, m, h_crit, h):
    """The ratio of one node of a uniform bar by the step, ``2 |g| / (H h_crit^2)``, every fifth step."""
    gap, r = run["gap"][:, 0], run["r"][:, 0]
    wanted, lasted = np.zeros(r.size), 0
    for n in range(1, r.size):
        lasted = lasted + 1 if r[n] > 0 else 0
        last = slice(n - 19, n + 1)
        if lasted >= 20:
            now = np.maximum(-gap[last], 0.0).sum() * 2 * m / h_crit**2 / (r[last].sum() / h)
            wanted[n] = now if lasted % 5 == 0 else wanted[n - 1]
    return wanted


def bar(make, part, length=1.0, cells=40, **options):
    """A uniform bar that hits a wall, started; mass of its end node."""
    line = dmesh.create_interval(WORLD, cells, [0.0, length])
    named = di.named(line, tip=lambda x: np.isclose(x[0], 0.0))
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0))
    wall = di.RigidContact(body, "tip", di.Plane([-0.0116], [1.0]), **options)
    scheme = make(body, part * body.critical_time_step(), contact=wall)
    scheme.start(0.0, -0.1)
    return scheme, 0.5 * length / cells


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("make, part", [(di.CDLagrange, 0.9), (di.MoreauJean, 1.5)])
def test_the_stiffness_of_a_bar_says_the_same_as_its_critical_step(make, part):
    scheme, m = bar(make, part)
    run = di.simulate(scheme, t_end=2.3, progress=False)
    wanted = by_the_critical_step(run, m, scheme.system.critical_time_step(), scheme.dt)
    assert run["lost_force"].max() > 0.05 and np.count_nonzero(wanted) > 20
    assert run["lost_force"] == pytest.approx(wanted, rel=1e-6, abs=1e-14)
    assert run.hidden.ratio == run["lost_force"].max() == run["lost_force"][run["t"] == run.hidden.t][0]


@pytest.mark.mpi(cases=1)
def test_a_restart_goes_on_within_the_twenty_steps(shared_path):
    """Also in compiled loops, and where the first part is too short for any contact to last."""
    made = functools.partial(bar, di.CDLagrange, 0.9)
    whole = di.simulate(made()[0], t_end=2.3, progress=False, compiled=False)
    assert whole["lost_force"].any()
    for at in (17, 35):
        scheme, _ = made()
        end, store = at * scheme.dt, Checkpoint(shared_path / "run", every=at)
        di.simulate(scheme, t_end=end, progress=False, checkpoint=store)
        scheme, _ = made()
        history = checkpoint.resume(shared_path / "run", scheme)
        again = di.simulate(scheme, t_end=2.3, progress=False, history=history)
        assert np.array_equal(again["lost_force"], whole["lost_force"]) and again.hidden == whole.hidden


def test_counting_in_numpy_and_in_parts_is_the_same():
    rng, n, p = np.random.default_rng(1), 300, 6
    acting = np.repeat(rng.uniform(size=(n // 60, p)) < 0.7, 60, axis=0) | (rng.uniform(size=(n, p)) < 0.3)
    r, gap, t = np.where(acting, rng.uniform(size=(n, p)), 0.0), rng.normal(size=(n, p)), np.arange(n) * 0.1
    watched, columns = np.arange(p) > 0, lost_force.LostForce(pressed("cd-lagrange"), 1).state().shape[1]
    found = []
    for count, parts in (
        (kernels.jit(lost_force._count), 1),
        (lost_force._count_rows, 1),
        (lost_force._count_rows, 7),
    ):
        points, ratios = np.zeros((p, columns)), np.zeros(n)
        points[:, lost_force._STIFFNESS] = 1.0 + np.arange(p)
        for rows in np.array_split(np.arange(n), parts):
            part = slice(rows[0], rows[-1] + 1)
            count(r[part], gap[part], t[part], 0.1, watched, points, ratios[part])
        found.append((points, ratios))
    assert found[0][1].max() > 0.1 and not found[0][0][0, : lost_force._STIFFNESS].any()
    for points, ratios in found[1:]:
        assert np.array_equal(points, found[0][0]) and np.array_equal(ratios, found[0][1])


# -- soft on stiff


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("soft", ["upper", "lower"])
def test_a_soft_part_on_a_stiff_one_hides_nothing_at_explicit_steps(soft):
    """By the critical step of the whole body it would: that of the soft part is 30 times larger."""
    laws = {name: di.LinearElastic(1.0 if name == soft else 1e5) for name in ("upper", "lower")}
    density = {name: 1.0 if name == soft else 100.0 for name in laws}
    body = di.Solid(layers(3, 4, gap=1e-4, height=0.2), density=density, law=laws)
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top")
    scheme = di.CDLagrange(body, 0.9 * body.critical_time_step(), contact=contact)
    scheme.start(0.0, body.rigid_velocity([0.0, -0.05], cells="upper"))
    hidden = []

    def by_the_step(s):
        yields = contact.L.diagonal(body.inverse_mass) * body.critical_time_step() ** 2
        at = np.flatnonzero(yields)
        forces = np.zeros(contact.count)
        forces[at] = 2.0 * np.maximum(-s.gap()[at], 0.0) / yields[at]
        hidden.append(parallel.gather_rows(body.comm, forces)[contact.L.sorting(body.comm)])

    run = di.simulate(scheme, t_end=180 * scheme.dt, progress=False, observers=[by_the_step])
    force, hidden = run["r"][1:] / scheme.dt, np.array(hidden)
    ratios = [
        hidden[last].mean(axis=0)[lasts] / force[last].mean(axis=0)[lasts]
        for last in (slice(n, n + 20) for n in range(160))
        if (lasts := force[last].all(axis=0)).any()
    ]
    assert np.concatenate(ratios).max() > 10.0
    assert 0.001 < run.hidden.ratio < 0.1 and not any("hides" in each for each in run.warnings)


# -- the warning


def squeezed(make, part, t_end=2.5e-3):
    """A pad between two jaws that close by 1 %."""
    E, half, closed = 2.1e9, 0.01, 1e-4
    corners = [[-half, 0.0], [half, 2 * half]]
    pad = di.named(
        dmesh.create_rectangle(WORLD, corners, [4, 4], dmesh.CellType.quadrilateral),
        left=lambda x: np.isclose(x[0], -half),
        right=lambda x: np.isclose(x[0], half),
        foot=lambda x: np.isclose(x[1], 0.0),
    )
    body = di.Solid(pad, density=7850.0, law=di.LinearElastic(E, 0.3), fixed={"foot": (1,)}, damping=2e4)

    def path(t):
        return closed * min(t / 2e-3, 1.0)

    jaws = [
        di.RigidContact(
            body, name, di.MovingObstacle(di.Plane((x, 0), (side, 0)), translation=((side, 0), path))
        )
        for name, x, side in (("left", -half, 1.0), ("right", half, -1.0))
    ]
    scheme = make(body, part * body.critical_time_step(), contact=jaws)
    scheme.start(0.0, 0.0)
    return di.simulate(scheme, t_end=t_end, progress=False)


def test_a_fit_with_large_steps_is_told(tmp_path):
    run = squeezed(di.GeneralizedAlpha, 10.0)
    (told,) = [each for each in run.warnings if "hides" in each]
    assert f"hides about {run.hidden.ratio:.2g} times their contact force: {lost_force.WAY_OUT}" in told
    assert (
        run.hidden.ratio > lost_force.MUCH
        and f"(at point {run.hidden.point}, t = {run.hidden.t:.6g} s)" in run.summary()
    )
    run.save(tmp_path / "run.npz")
    again = di.Result.load(tmp_path / "run.npz")
    assert again.hidden == run.hidden and again.summary() == run.summary()


def test_a_fit_with_small_steps_and_an_impact_are_not():
    fit = squeezed(di.CDLagrange, 0.3, t_end=1e-3)
    assert 0.0 < fit.hidden.ratio and not any("hides" in each for each in fit.warnings)
    impact = di.simulate(bar(di.CDLagrange, 0.9)[0], t_end=2.3, progress=False)
    assert impact.hidden.ratio > lost_force.MUCH and not impact.warnings
