"""Several contacts in a list: one system of rows, each with its own law."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.colliding import block as rectangle

import dolfinx_impact as di
from dolfinx_impact import checkpoint, parallel

COMM = MPI.COMM_WORLD
EVERY = pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])


def point(load=(0.0, -9.81)):
    return di.PointMasses([1.0, 1.0], load=list(load))


def against(body, normal, place=(0.0, 0.0), **law):
    return di.ObstacleContact(body, [[0, 1]], di.Plane(place, normal), **law)


@pytest.mark.mpi
@EVERY
def test_floor_and_wall_have_their_own_laws(scheme):
    """Slides on the rough floor, rebounds from the smooth wall at half its speed, and stops."""
    body = point()
    floor = against(body, (0, 1), friction=0.2)
    wall = against(body, (-1, 0), (0.25, 0.0), restitution=0.5)
    s = scheme(body, 1e-3, contact=[floor, wall])
    s.start([0.0, 0.0], [1.1, 0.0])
    run = di.simulate(s, t_end=0.5, progress=False)
    impact = np.sqrt(1.1**2 - 2 * 0.2 * 9.81 * 0.25)
    back = 0.5 * impact
    assert run["r"].sum(axis=0)[1] == pytest.approx(1.5 * impact, rel=1e-2)
    assert run["u"][-1, 0] == pytest.approx(0.25 - back**2 / (2 * 0.2 * 9.81), abs=1e-3)
    assert s.v == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.abs(run["residual"]).max() < 1e-13


@pytest.mark.mpi(cases=1)
@EVERY
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_list_of_two_planes_is_their_union(scheme, friction):
    """In the corner both rows are solved together."""
    ends = []
    for listed in (True, False):
        body = point()
        planes = [di.Plane((0, 0), (0.6, 0.8)), di.Plane((0, 0), (-0.6, 0.8))]
        contact = [di.ObstacleContact(body, [[0, 1]], p, friction=friction) for p in planes]
        union = di.ObstacleContact(body, [[0, 1]], planes, friction=friction)
        s = scheme(body, 1e-3, contact=contact if listed else union)
        s.start([0.0, 0.01], [0.3, -1.0])
        run = di.simulate(s, t_end=0.1, progress=False)
        ends.append((*run["u"][-1], *run["r"].sum(axis=0), run["contact"][-1]))
    assert ends[0] == pytest.approx(ends[1], rel=1e-10, abs=1e-12)


def block(**options):
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [3, 3], dmesh.CellType.quadrilateral)
    skin = {"foot": lambda x: np.isclose(x[1], 0.0), "side": lambda x: np.isclose(x[0], 1.0)}
    found = [dmesh.locate_entities_boundary(mesh, 1, where) for where in skin.values()]
    numbers, values = np.concatenate(found), np.repeat([1, 2], [f.size for f in found]).astype(np.int32)
    order = np.argsort(numbers)
    tags = dmesh.meshtags(mesh, 1, numbers[order], values[order])
    named = di.NamedMesh(mesh, None, tags, {"foot": (1, 1), "side": (1, 2)})
    return di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.3), gravity=(0.0, -9.81), **options)


@pytest.mark.mpi
@EVERY
def test_a_body_on_a_floor_against_a_curved_wall(scheme, shared_path):
    """Two surfaces with a common corner node; ranks agree; checkpoints hold both."""

    def make():
        body = block()
        floor = di.RigidContact(body, "foot", di.Plane((0, 0), (0, 1)), friction=0.1)
        wall = di.RigidContact(body, "side", di.Sphere((2.5, 0.5), 1.495), friction=0.4, restitution=0.5)
        s = scheme(body, 0.5 * body.critical_time_step(), contact=[floor, wall])
        s.start(0.0, body.rigid_velocity((1.0, -0.5)))
        return s

    s = make()
    run = di.simulate(s, t_end=40 * s.dt, progress=False)
    assert run["r"].shape[1] == 8 and run["r"][:, :4].sum() > 0 and run["r"][:, 4:].sum() > 0
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    size = np.linalg.norm(run["r_t"], axis=2)
    assert np.all(size[:, :4] <= 0.1 * run["r"][:, :4] + 1e-12)
    assert np.all(size[:, 4:] <= 0.4 * run["r"][:, 4:] + 1e-12)
    checkpoint.save(shared_path / "set.ckpt", s)
    again = make()
    checkpoint.load(shared_path / "set.ckpt", again)
    s.step()
    again.step()
    assert again.u[: s.system.owned] == pytest.approx(s.u[: s.system.owned], abs=1e-15)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "name", ["dep-4.4", "dep-4.7", "dep-5.3", "combined", "carpenter-implicit", "moreau-jean"]
)
def test_lists_go_to_every_scheme(name):
    """A bar of one dof between two bounds."""
    body = di.PointMasses([1.0, 2.0], stiffness=[[2.0, -1.0], [-1.0, 1.0]])
    bounds = [di.DofBound(body, 0, lower=-0.1), di.DofBound(body, 1, upper=0.2)]
    s = di.SCHEMES[name].make(body, 1e-2, contact=bounds)
    s.start(0.0, [-1.0, 1.0])
    run = di.simulate(s, t_end=3.0, progress=False)
    assert run["r"].shape[1] == 2 and np.all(run["r"].sum(axis=0) > 0)


@pytest.mark.mpi
def test_restitution_of_each_member_at_position_level():
    body = di.PointMasses([1.0, 1.0])
    bounds = [di.DofBound(body, i, lower=0.0, restitution=e) for i, e in ((0, 0.5), (1, 1.0))]
    s = di.PaoliSchatzman(body, 1e-3, bounds)
    s.start(0.01, -1.0)
    di.simulate(s, t_end=0.1, progress=False)
    assert s.v == pytest.approx([0.5, 1.0], rel=1e-10)


@pytest.mark.mpi
def test_node_pairs_beside_a_wall():
    """Two bars that meet, the first rank's node against another's, and a wall far away."""
    cells = di.mesh.read(di.mesh.package_mesh("two_bars.geo"), gdim=1)
    bars = di.Solid(cells, density=7847.0, law=di.LinearElastic(2.1e11), cross_section=0.645e-3)
    v0 = bars.rigid_velocity([5.0], cells="left bar") + bars.rigid_velocity([-5.0], cells="right bar")
    sums = []
    for listed in (False, True):
        pairs = di.NodePairs(bars, "left tip", "right tip", [1.0])
        wall = di.RigidContact(bars, "right tip", di.Plane([-9.0], [1.0]))
        s = di.CDLagrange(bars, 0.5 * bars.critical_time_step(), [pairs, wall] if listed else pairs)
        s.start(0.0, v0)
        run = di.simulate(s, t_end=150 * s.dt, progress=False)
        sums.append(run["r"][:, 0].sum())
        assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert sums[0] > 0 and sums[1] == pytest.approx(sums[0], rel=1e-12)


@pytest.mark.parametrize(
    "given, message",
    [
        (lambda b: [against(b, (0, 1)), di.Plane((0, 0), (0, 1))], "takes a contact or a list of contacts"),
        (lambda b: [against(b, (0, 1)), against(point(), (1, 0))], "made for the same system"),
        (
            lambda b: [against(b, (0, 1), friction=0.1), di.DofBound(b, 0, lower=-1.0)],
            "the directions of space",
        ),
    ],
)
def test_what_does_not_fit_in_a_list_is_said(given, message):
    body = point()
    with pytest.raises(ValueError, match=message):
        di.CDLagrange(body, 1e-3, contact=given(body))


@pytest.mark.mpi
def test_a_list_of_one_and_of_none():
    body = point()
    one = against(body, (0, 1))
    assert di.CDLagrange(body, 1e-3, contact=[one]).contact is one
    assert di.CDLagrange(body, 1e-3, contact=[]).contact is None


# -- surfaces beside obstacles


def stack(**law):
    """A block of 8 kg on one of 16 kg that stands on the floor, and the contact between them."""
    mesh = di.mesh.join(
        {"upper": rectangle([0, 0], [0.2, 0.04], (3, 1)), "lower": rectangle([-0.1, -0.04], [0.3, 0], (4, 1))}
    )
    body = di.Solid(mesh, law=di.LinearElastic(1e7, 0.0), density=1000.0, gravity=(0.0, -10.0))
    return body, di.SurfaceContact(body, "upper/boundary", "lower/boundary", **law)


def momenta(body, v):
    """Horizontal momenta of the upper and the lower part."""
    nodes = [np.unique(body.space.dofmap.list[body.named.cells(name)]) for name in ("upper", "lower")]
    dofs = [2 * each[each < body.owned // 2] for each in nodes]
    return np.array([parallel.total(body.comm, float(body.mass[each] @ v[each])) for each in dofs])


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    ("scheme", "law", "mu"),
    [
        (di.CDLagrange, {}, 0.3),
        (di.CDLagrange, {"friction": 0.2}, 0.0),
        (di.CDLagrange, {"tie": True}, 0.3),
        (di.NohBathe, {"friction": 0.2}, 0.0),
        (di.MoreauJean, {}, 0.3),
        (di.MoreauJean, {"tie": True}, 0.3),
    ],
)
def test_surfaces_and_a_floor_have_their_own_friction(scheme, law, mu):
    """Sliding at 1 m/s, the floor takes mu times its impulses, from the lower block alone if smooth."""
    body, surfaces = stack(**law)
    floor = di.RigidContact(body, "lower/boundary", di.Plane((0.0, -0.04), (0.0, 1.0)), friction=mu)
    s = scheme(body, 1e-4, contact=[surfaces, floor])
    s.start(0.0, body.rigid_velocity((1.0, 0.0)))
    before = momenta(body, s.v)
    t_end = 0.003 if scheme is di.CDLagrange else 0.0015
    run = di.simulate(s, t_end=t_end, progress=False)
    gained, pressed = momenta(body, s.v) - before, run["r"][1:, surfaces.total :].sum()
    assert pressed > 0.3 * 240 * t_end
    assert gained.sum() == pytest.approx(-mu * pressed, rel=1e-9, abs=1e-12 * before.sum())
    if not law:
        assert abs(gained[0]) < 1e-3 * mu * pressed
    if "tie" in law:
        assert gained[0] < -0.2 * mu * pressed
    largest = max(np.abs(run[name]).max() for name in ("kinetic", "contact", "external"))
    assert np.abs(run["residual"]).max() < 1e-11 * largest


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.NohBathe])
def test_surfaces_beside_a_floor_that_moves(scheme):
    """The floor goes up at 1 m/s from the start on: both parts have its velocity in the end."""
    body, surfaces = stack()
    plane = di.MovingObstacle(di.Plane((0.0, -0.04), (0.0, 1.0)), translation=lambda t: (0.0, t))
    s = scheme(body, 1e-4, contact=[surfaces, di.RigidContact(body, "lower/boundary", plane)])
    s.start(0.0, 0.0)
    di.simulate(s, t_end=0.004, progress=False)
    assert s.gap()[surfaces.count :].min(initial=0.0) > -1e-5
    assert parallel.total(body.comm, float(body.mass[1::2] @ s.v[1 : body.owned : 2])) > 20.0


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.NohBathe])
def test_a_list_with_surfaces_and_drift_correction_goes_on_from_its_state(scheme):
    """Bit by bit: closed points of the step before, and normals of curved obstacles."""
    body, surfaces = stack(drift_correction=True)
    ball = di.RigidContact(body, "lower/boundary", di.Sphere((0.1, -0.24), 0.2), drift_correction=0.7)
    s = scheme(body, 1e-4, contact=[surfaces, ball])
    s.start(0.0, body.rigid_velocity((1.0, 0.0)))
    states = []
    for i in range(20):
        if i == 10:
            states.append(s.state())
        s.step()
    states.append(s.state())
    assert {"contact.closed", "contact.1.L"} <= set(states[0])
    other = scheme(body, 1e-4, contact=[surfaces, ball])
    other.resume(states[0])
    for _ in range(10):
        other.step()
    for name, values in other.state().items():
        assert np.array_equal(values, states[1][name], equal_nan=True), name


@pytest.mark.mpi
def test_a_list_with_a_moving_obstacle_is_stored(shared_path):
    """The motion of every member is compared: another one is another run."""

    def made(speed):
        body = point()
        rising = di.MovingObstacle(di.Plane((0, 0), (0, 1)), translation=((0, speed), lambda t: t))
        contact = [
            di.ObstacleContact(body, [[0, 1]], rising),
            di.ObstacleContact(body, [[0, 1]], di.Plane((1, 0), (-1, 0))),
        ]
        s = di.CDLagrange(body, 1e-3, contact=contact)
        s.start([0.9, 0.01], [2.0, 0.0])
        return s

    first, path = made(0.1), shared_path / "list.npz"
    for _ in range(60):
        first.step()
    checkpoint.save(path, first)
    again = made(0.1)
    checkpoint.load(path, again)
    for _ in range(100):
        first.step()
        again.step()
    assert np.array_equal(first.u, again.u) and first.u[0] < 1.01 and first.v[1] > 0.09
    with pytest.raises(ValueError, match="another run: its contact"):
        checkpoint.load(path, made(0.2))
