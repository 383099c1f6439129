"""Bodies on parts of a mesh, damping, loads, prescribed motion: exact solutions, dense references."""

import gc
import math
import weakref

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.parts import (
    COMM,
    DENSITY,
    SECTION,
    E,
    bar,
    dense,
    dense_bar,
    everywhere,
    field,
    plate,
    ride,
    solid,
)

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.systems import loads
from dolfinx_impact.systems.forces.stiffness import spectrum

MESHES = {"line": bar, "quadrilaterals": plate, "triangles": lambda: plate(dmesh.CellType.triangle)}


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("make", MESHES.values(), ids=MESHES.keys())
def test_two_parts_add_up_to_the_whole(make):
    """Stiffness, masses, loads: each side has the shares of its own cells."""
    named = make()
    gdim = named.mesh.geometry.dim
    gravity, load = np.arange(1.0, gdim + 1), {"tip": np.full(gdim, 0.3)}
    near, whole = (solid(named, part, gravity=gravity, traction=load) for part in ("near", None))
    far = solid(named, "far", gravity=gravity)  # the tip is on the other part
    K = dense(whole.matrices.stiffness())
    parts = [dense(body.matrices.stiffness()) for body in (near, far)]
    assert np.abs(sum(parts) - K).max() < 1e-14 * np.abs(K).max()
    assert min(np.abs(part).max() for part in parts) > 0.1 * np.abs(K).max()
    M = everywhere(whole.mass)
    assert np.abs(everywhere(near.mass) + everywhere(far.mass) - M).max() < 1e-15 * M.max()
    assert near.total_mass + far.total_mass == pytest.approx(whole.total_mass, rel=1e-14)
    forces = [np.zeros(body.size) for body in (near, far, whole)]
    for body, f in zip((near, far, whole), forces):
        body.external(0.0, f, f, f)
    n = whole.owned
    assert np.abs(everywhere((forces[0] + forces[1] - forces[2])[:n])).max() < 1e-15 * M.max()
    Mc = [dense(body.matrices.mass("consistent")) for body in (near, far, whole)]
    assert np.abs(Mc[0] + Mc[1] - Mc[2]).max() < 1e-15 * np.abs(Mc[2]).max()


def test_parts_have_the_kernels_of_the_whole(monkeypatch):
    """Whatever their tags: nothing else is compiled for a part, nor for two laws."""
    made = []
    compiled = fem.form

    def noting(form, **options):
        made.append(form.signature())
        return compiled(form, **options)

    monkeypatch.setattr(fem, "form", noting)

    def signatures(cells, law):
        made.clear()
        body = di.Solid(plate(), law=law, density=DENSITY, cells=cells, gravity=(0.0, -9.81))
        assert body.mass.sum() > 0.0
        return set(made)

    law = di.LinearElastic(E, 0.3)
    whole = signatures(None, law)
    assert len(whole) == 3  # of the mass of the body, of the nodes, of the weight
    assert signatures("near", law) == signatures("far", law) == whole
    assert signatures(None, {"near": law, "far": law}) == whole


@pytest.mark.mpi
@pytest.mark.parametrize("cells", [None, "near", ("near", "far")])
@pytest.mark.parametrize("by_part", [False, True])
def test_a_class_adds_to_the_forms_of_the_body(cells, by_part):
    """With its measure: springs that hold every point of it, beside one law or one for each part."""
    foundation = 3.0

    class Bedded(di.Solid):
        def _energy_form(self):
            u = self.displacement
            return super()._energy_form() + 0.5 * foundation * ufl.inner(u, u) * self.dx

    named, law = plate(), di.NeoHookean(E, 0.3)
    laws = {part: law for part in ("near", "far") if cells is None or part in cells} if by_part else law
    body = Bedded(named, law=laws, density=DENSITY, cells=cells)
    ride, area = np.full(body.size, 0.1), body.total_mass / DENSITY
    assert parallel.total(COMM, body.stored_energy(ride)) == pytest.approx(
        0.5 * foundation * body.gdim * 0.01 * area, rel=1e-12
    )


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("make", MESHES.values(), ids=MESHES.keys())
def test_a_part_ends_where_its_cells_end(make):
    """Dofs of both parts lie on the interface; beyond it there is no mass, no force, no motion."""
    named = make()
    near, far = (solid(named, part) for part in ("near", "far"))
    gdim = named.mesh.geometry.dim
    height = np.repeat(near.x[: near.owned // gdim, gdim - 1], gdim)
    cut = 1 / 3 if gdim == 1 else 0.5
    assert (near.active == (height < cut + 1e-9)).all() and (far.active == (height > cut - 1e-9)).all()
    assert (near.constrained == ~near.active).all() and (near.inverse_mass[near.constrained] == 0.0).all()
    assert (near.mass[~near.active] == 0.0).all() and (near.mass[near.active] > 0.0).all()
    u, f = np.cos(5.0 * np.arange(near.size)), np.zeros(near.size)
    near.force(0.0, u, u, f)
    assert (f[: near.owned][~near.active] == 0.0).all()
    shared = COMM.allreduce(int(np.sum(near.active & far.active)))
    assert shared == (1 if gdim == 1 else 26)
    rows = [COMM.allreduce(body.rows().count) for body in (near, far)]
    assert sum(rows) == shared + COMM.allreduce(near.owned)


@pytest.mark.mpi
def test_named_nodes_are_those_of_the_part():
    named = plate()
    counts = {
        part: [COMM.allreduce(solid(named, part).nodes(name).size) for name in ("tip", "end", "side")]
        for part in ("near", "far", None)
    }
    assert counts == {"near": [13, 0, 3], "far": [0, 13, 3], None: [13, 13, 5]}


@pytest.mark.mpi
def test_a_body_of_all_parts_is_the_whole_one():
    named = bar()
    both, whole = solid(named, ("near", "far")), solid(named)
    assert both.total_mass == pytest.approx(whole.total_mass, rel=1e-15) and both.active.all()
    assert both.critical_time_step() == pytest.approx(whole.critical_time_step(), rel=1e-9)
    assert np.abs(dense(both.matrices.stiffness()) - dense(whole.matrices.stiffness())).max() < 1e-14


@pytest.mark.mpi
def test_critical_step_is_that_of_the_part_alone():
    """The dofs of the other part take no part; held dofs stiffen."""
    nodes = np.linspace(0.0, 1.0, 13)
    named = bar()
    for part, slots in (("near", slice(0, 5)), ("far", slice(4, 13))):
        M, K = dense_bar(nodes[slots])
        omega = np.sqrt(np.linalg.eigvals(K / M[:, None]).real.max())
        assert solid(named, part).critical_time_step() == pytest.approx(2 / omega, rel=1e-6)


@pytest.mark.parametrize("next_one", [0.5, 0.99, 0.9999, 1.0])
@pytest.mark.parametrize("size", [1, 2, 30, 2000])
def test_largest_eigenvalue_to_round_off(next_one, size):
    """Wherever the next eigenvalue is, on the largest one as well."""
    values = np.append(np.linspace(0.0, next_one, size), 1.0)
    start = np.sin(1e3 * np.arange(size + 1.0) + 1.0)

    def apply(x, y):
        np.multiply(values, x, out=y)

    assert spectrum(MPI.COMM_SELF, apply, start).largest == pytest.approx(1.0, rel=1e-13)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("damping", [0.0, 3.0, 30.0])
def test_critical_step_with_damping(damping):
    """Damping from the half-step velocity before brings the limit down; beyond it motions grow."""
    named = bar()
    M, K = dense_bar(np.linspace(0.0, 1.0, 13))
    omega = np.sqrt(np.linalg.eigvals(K / M[:, None]).real.max())
    body = solid(named, damping=damping)
    limit = body.critical_time_step()
    assert (omega * limit) ** 2 + 2 * damping * limit == pytest.approx(4.0, rel=1e-5)
    shake, sizes = np.cos(40.0 * body.x[: body.owned, 0]), []
    for part in (0.99, 1.01):
        s = di.CDLagrange(body, part * limit, allow_unstable=True)
        s.start(0.0, shake)
        for _ in range(600):
            s.step()
        sizes.append(parallel.largest(COMM, np.abs(s.u[: body.owned] - field(body, s.u).mean())))
    assert sizes[0] < 1.0 and sizes[1] > 1e6
    with pytest.raises(ValueError, match="is above the critical one"):
        di.CDLagrange(body, 1.01 * limit)


def pulse(t):
    return math.sin(7.0 * t) ** 2  # takes one time only


SETTINGS = {
    "damping": {"damping": 0.7},
    "traction": {"traction": {"end": ((0.4,), pulse)}},
    "constant": {"traction": {"end": (0.4,)}, "gravity": (-0.3,)},
    "shaken": {"ground_acceleration": ((0.8,), pulse)},
    "prescribed": {"prescribed": {"end": {0: ride}}},
    "all": {
        "damping": 0.7,
        "traction": {"end": ((0.4,), pulse)},
        "ground_acceleration": ((0.8,), pulse),
        "gravity": (-0.3,),
    },
    "all, moved": {
        "damping": 0.7,
        "prescribed": {"end": {0: ride}},
        "ground_acceleration": ((0.8,), pulse),
        "gravity": (-0.3,),
    },
}


def reference(nodes, dt, steps, options, gap):
    """CD-Lagrange on a dense bar against a wall ``gap`` left of it: u, v_mean, r at every step."""
    M, K = dense_bar(nodes)
    alpha = options.get("damping", 0.0)
    share = M / DENSITY  # section times the length that belongs to a node

    def load(t):
        f = share * DENSITY * options.get("gravity", (0.0,))[0]
        direction, signal = options.get("ground_acceleration", ((0.0,), pulse))
        f = f - share * DENSITY * direction[0] * signal(t)
        given = options.get("traction", {}).get("end", ((0.0,), pulse))
        f[-1] += SECTION * (given[0][0] * given[1](t) if len(given) == 2 else given[0])
        return f

    def constrain(V, u, t):
        if "prescribed" in options:
            V[-1] = (ride(t + dt) - u[-1]) / dt

    u, v0 = np.zeros(nodes.size), np.full(nodes.size, -1.0)
    V = v0 + dt / 2 * (load(0.0) - K @ u - alpha * M * v0) / M
    constrain(V, u, 0.0)
    found = [(u.copy(), v0, 0.0)]
    for n in range(1, steps + 1):
        u = u + dt * V
        before = V
        V = V + dt / M * (load(n * dt) - K @ u - alpha * M * V)
        constrain(V, u, n * dt)
        r = max(0.0, -M[0] * V[0]) if u[0] + gap <= 1e-12 else 0.0
        V[0] += r / M[0]
        found.append((u.copy(), (before + V) / 2, r))
    return [np.array(part) for part in zip(*found)]


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS.keys())
def test_central_differences_against_a_dense_reference(options):
    """Same motion and impulses; the balance closes; moved dofs are where they belong."""
    named = bar()
    body = solid(named, **options)
    wall = di.RigidContact(body, "tip", di.Plane([-0.05], [1.0]))
    s = di.CDLagrange(body, 0.7 * body.critical_time_step(), wall)
    s.start(0.0, -1.0)
    places = []

    def look(x):
        places.append(x.u[x.system.prescribed.dofs] - ride(x.t))

    result = di.simulate(s, t_end=150 * s.dt, record=body.rows(), observers=[look], progress=False)
    u, v, r = reference(np.linspace(0.0, 1.0, 13), s.dt, 150, options, 0.05)
    for name, true in (("u", u), ("v_t", v), ("r", r[:, None])):
        assert np.abs(result[name] - true).max() < 1e-12 * np.abs(true).max()
    assert np.count_nonzero(r) > 5
    scale = max(np.abs(result[name]).max() for name in ("kinetic", "external", "dissipated"))
    assert np.abs(result["residual"]).max() < 1e-12 * scale
    assert (np.abs(result["dissipated"][-1]) > 0.01 * scale) == ("damping" in options)
    assert (np.abs(result["external"][-1]) > 1e-4 * scale) == (list(options) != ["damping"])
    assert parallel.largest(COMM, np.abs(np.array(places))) < 1e-14 or "prescribed" not in options


@pytest.mark.mpi
def test_motion_at_a_constant_rate_stretches_exactly():
    """Held at one end, pulled at the other at a constant velocity: u = c x t has no acceleration."""
    body = solid(bar(), fixed=("tip",), prescribed={"end": {0: lambda t: 0.3 * t}})
    s = di.CDLagrange(body, 0.9 * body.critical_time_step())
    x = body.x[: body.owned, 0]
    s.start(0.0, 0.3 * x)
    result = di.simulate(s, t_end=200 * s.dt, progress=False)
    assert np.abs(s.u[: body.owned] - 0.3 * s.t * x).max(initial=0.0) < 1e-13 * s.t
    assert result["external"][-1] == pytest.approx(E * SECTION * (0.3 * s.t) ** 2 / 2, rel=1e-12)
    assert result["internal"][-1] == pytest.approx(result["external"][-1], rel=1e-12)
    forces = parallel.gather_rows(COMM, s.reactions())
    assert forces == pytest.approx([E * SECTION * 0.3 * s.t], rel=1e-12)


@pytest.mark.mpi
def test_shaken_body_is_the_one_on_a_moving_ground():
    """Seen from the ground, its acceleration in the place of its motion: the same to rounding."""
    named = bar()
    dt = 0.8 * solid(named).critical_time_step()

    def ground(t):
        return 0.1 * (1 - np.cos(9.0 * t))

    def acceleration(t):
        return (ground(t + dt) - 2 * ground(t) + ground(t - dt)) / dt**2

    still = di.CDLagrange(solid(named, fixed=("end",), ground_acceleration=((1.0,), acceleration)), dt)
    rides = di.CDLagrange(solid(named, prescribed={"end": {0: ground}}), dt)
    found = []
    for s in (still, rides):
        s.start(0.0, 0.0)
        found.append(di.simulate(s, t_end=120 * dt, record=s.system.rows(), progress=False))
    seen = found[0]["u"] + ground(found[0]["t"])[:, None]
    assert np.abs(seen - found[1]["u"]).max() < 1e-12
    assert np.abs(found[0]["u"]).max() > 0.05
    for result in found:
        assert np.abs(result["residual"]).max() < 1e-12 * result["external"].max()


@pytest.mark.mpi
@pytest.mark.parametrize("kind", [dmesh.CellType.quadrilateral, dmesh.CellType.triangle])
def test_one_direction_of_a_node_may_be_moved(kind):
    """A plate pressed together between rollers at a constant rate: plane strain, no motion across."""
    rollers = {"prescribed": {"tip": {1: lambda t: 0.2 * t}}, "fixed": {"end": (1,), "side": (0,)}}
    body = solid(plate(kind), nu=0.0, **rollers)
    s = di.CDLagrange(body, 0.8 * body.critical_time_step())
    y = np.repeat(body.x[: body.owned // 2, 1], 2)
    way = np.where(np.arange(body.owned) % 2 == 1, 0.2 * (1 - y), 0.0)
    s.start(0.0, way)
    result = di.simulate(s, t_end=100 * s.dt, progress=False)
    assert np.abs(s.u[: body.owned] - s.t * way).max(initial=0.0) < 1e-12
    assert result["external"][-1] == pytest.approx(3.0 * SECTION * E * (0.2 * s.t) ** 2 / 2, rel=1e-11)
    assert not body.steady and body.prescribed.any


@pytest.mark.mpi
def test_damped_rigid_motion_decays_as_the_scheme_says():
    """Force of the half-step velocity before: each step takes alpha dt of it."""
    body = solid(bar(), "far", damping=2.0)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    s.start(0.0, 1.0)
    di.simulate(s, t_end=40 * s.dt, progress=False)
    decay = (1 - s.dt) * (1 - 2 * s.dt) ** 40
    assert s.v[: body.owned][body.active] == pytest.approx(np.full(body.active.sum(), decay), rel=1e-12)
    assert (s.v[: body.owned][~body.active] == 0.0).all()


def test_compiled_loop_follows_loads_and_damping():
    """The same numbers as step by step, also with signals that take one time only."""
    pytest.importorskip("numba")
    options = {"damping": 0.7, "traction": {"end": ((0.4,), pulse)}, "ground_acceleration": ((0.8,), np.sin)}
    found = []
    for compiled in (True, False):
        body = solid(bar(), "far", **options)
        s = di.CDLagrange(body, 0.7 * body.critical_time_step())
        s.start(0.0, -1.0, t0=0.2)
        found.append(di.simulate(s, t_end=0.2 + 300 * s.dt, compiled=compiled, progress=False))
    for name in ("u", "v", "external", "dissipated", "kinetic", "residual"):
        assert found[0][name] == pytest.approx(found[1][name], rel=1e-12, abs=1e-14)


def test_compiled_loop_refuses_prescribed_motion():
    """Left to itself, a long run goes step by step."""
    pytest.importorskip("numba")
    body = solid(bar(4), prescribed={"end": {0: ride}})
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    s.start(0.0, -1.0)
    with pytest.raises(ValueError, match="no compiled loop for this run: the motion of dofs is prescribed"):
        di.simulate(s, t_end=10 * s.dt, compiled=True, progress=False)
    result = di.simulate(s, t_end=2500 * s.dt, every=500, progress=False)
    assert result.steps == 2500 and s.u[body.prescribed.dofs] == pytest.approx([ride(s.t)], abs=1e-13)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("name, theta", [("damping", 0.5), ("prescribed", 0.8), ("traction", 0.5)])
def test_the_theta_method_takes_unsteady_bodies(name, theta):
    """Its balance closes with damping, prescribed motion and loads in time, and on nothing else."""
    body = solid(bar(), **SETTINGS[name])
    s = di.MoreauJean(body, 0.7 * body.critical_time_step(), theta)
    s.start(0.0, 0.1)
    result = di.simulate(s, t_end=60 * s.dt, record=body.rows(), progress=False)
    energy = result["kinetic"].max() + result["internal"].max()
    assert energy > 0 and np.abs(result["residual"]).max() < 1e-12 * energy
    assert (result["external"][-1] != 0) == (name != "damping")


@pytest.mark.parametrize("scheme", [di.CarpenterImplicit, di.AcaryBonnefon])
@pytest.mark.parametrize(
    "name, words",
    [("damping", "damping"), ("prescribed", "prescribed motion"), ("traction", "loads over time")],
)
def test_schemes_for_steady_forces_refuse_others(scheme, name, words):
    with pytest.raises(ValueError, match=f"the system has {words}: take CDLagrange or MoreauJean"):
        scheme(solid(bar(), **SETTINGS[name]), 0.01)


class Recorded:
    """A signal that is known for a while."""

    duration = 0.5

    def __call__(self, t):
        return 0.1 * np.asarray(t)


@pytest.mark.parametrize(
    "options, ahead",
    [
        ({"prescribed": {"end": {0: Recorded()}}}, 1),
        ({"ground_acceleration": ((1.0,), Recorded())}, 0),
        ({"traction": {"end": ((1.0,), Recorded())}}, 0),
    ],
)
def test_a_run_ends_with_its_records(options, ahead):
    """Motions must be known one step further than loads."""
    body = solid(bar(4), **options)
    assert body.until == 0.5
    for steps, enough in ((50 - ahead, True), (51 - ahead, False)):
        s = di.CDLagrange(body, 0.01)
        s.start(0.0, 0.0)
        if enough:
            assert di.simulate(s, t_end=steps * 0.01, progress=False)["t"][-1] == pytest.approx(steps * 0.01)
        else:
            with pytest.raises(ValueError, match="loads and motions to t = 0.51 s, but knows them to 0.5 s"):
                di.simulate(s, t_end=steps * 0.01, progress=False)


def test_signals_at_many_times():
    t = np.linspace(0.0, 1.0, 5)
    for signal in (math.sin, np.sin, lambda t: [np.sin(t)] if np.ndim(t) else math.sin(t)):
        assert loads.at_times(signal, t) == pytest.approx(np.sin(t), abs=0.0)
    assert loads.at_times(lambda t: 2.0, t) == 2.0
    assert loads.known_until(math.sin) == math.inf and loads.known_until(Recorded()) == 0.5


@pytest.mark.mpi
def test_loads_and_motions_follow_their_signals():
    sums, f = loads.Loads(3), np.zeros(3)
    assert not sums.any and sums.amplitudes(np.arange(4.0)).shape == (4, 0)
    sums.add(np.array([1.0, 0.0, 2.0]))
    sums.add(np.array([0.0, 3.0, 0.0]), math.cos)
    sums.add(np.array([1.0, 1.0, 0.0]), lambda t: 5.0)
    sums(0.3, f)
    assert f == pytest.approx([6.0, 3 * math.cos(0.3) + 5.0, 2.0], rel=1e-15)
    times = np.array([0.0, 0.3])
    assert sums.amplitudes(times) == pytest.approx(np.column_stack([np.cos(times), [5.0, 5.0]]))
    one = loads.Loads(1)
    one.add(np.ones(1), lambda t: t**3)  # a number to a power is rounded otherwise than an array
    one.add(np.ones(1), lambda t: np.sum(np.array([2.0]) * t))
    times = np.linspace(0.0, 3.0, 1001)
    for t, both in zip(times, one.amplitudes(times)):
        one(t, f[:1])
        assert f[0] == both[0] + both[1] and both[1] == 2.0 * t
    motion = loads.Motion()
    motion.add(np.array([7, 2]), math.cos)
    motion.add(np.array([4]), Recorded())
    assert motion.dofs.tolist() == [2, 4, 7] and motion.until == 0.5
    assert motion(0.2) == pytest.approx([math.cos(0.2), 0.02, math.cos(0.2)])


BAD = {
    "no such part": ({"part": "middle"}, r"no cells are named 'middle' .*; named are: \['far', 'near'"),
    "one of several": ({"part": ("near", "middle")}, "no cells are named 'middle'"),
    "empty part": ({"part": "nowhere"}, "the parts nowhere have no cells in the mesh"),
    "no such facets": ({"fixed": ("top",)}, "no facets are named 'top'"),
    "no such facets moved": ({"prescribed": {"top": {0: ride}}}, "no facets are named 'top'"),
    "no such facets pulled": ({"traction": {"top": (1.0,)}}, "no facets are named 'top'"),
    "no such direction": ({"fixed": {"end": (1,)}}, r"fixed\['end'\]: directions are 0 to 0, not 1"),
    "moved nowhere": (
        {"prescribed": {"end": {2: ride}}},
        r"prescribed\['end'\]: directions are 0 to 0, not 2",
    ),
    "moved and fixed": (
        {"fixed": ("end",), "prescribed": {"end": {0: ride}}},
        "dof 0 is fixed or prescribed already",
    ),
    "no signal": (
        {"prescribed": {"end": {0: 0.3}}},
        r"prescribed\['end'\]: a function of time is needed, not 0.3",
    ),
    "signal of many": (
        {"ground_acceleration": ((1.0,), lambda t: [1.0, 2.0])},
        "must give one finite number for a time",
    ),
    "signal of none": (
        {"ground_acceleration": ((1.0,), lambda t: math.nan)},
        "must give one finite number for a time",
    ),
    "shaken without signal": (
        {"ground_acceleration": (1.0,)},
        r"ground_acceleration must be \(direction, signal\)",
    ),
    "shaken by a number": (
        {"ground_acceleration": ((1.0,), 2.0)},
        "ground_acceleration: a function of time is needed",
    ),
    "shaken in the plane": (
        {"ground_acceleration": ((1.0, 0.0), ride)},
        "direction of ground_acceleration must be 1 numbers",
    ),
    "traction in the plane": ({"traction": {"end": ((1.0, 0.0), ride)}}, r"traction\['end'\] must be 1"),
    "traction of a number": ({"traction": {"end": 1.0}}, r"traction\['end'\] must be"),
    "infinite gravity": ({"gravity": (math.inf,)}, "gravity must be 1 numbers"),
    "negative damping": ({"damping": -1.0}, "damping must be a rate of at least 0"),
    "infinite damping": ({"damping": math.inf}, "damping must be a rate of at least 0"),
}


@pytest.mark.parametrize("options, words", BAD.values(), ids=BAD.keys())
def test_bad_input(options, words):
    with pytest.raises(ValueError, match=words):
        solid(bar(), **options)


@pytest.mark.mpi
def test_parts_need_a_mesh_with_names():
    with pytest.raises(ValueError, match="no cells are named 'near' in the mesh; named are: none"):
        di.Solid(bar().mesh, density=1.0, law=di.LinearElastic(1.0), cells="near")


@pytest.mark.mpi
def test_critical_time_step_of_a_body_around_the_origin():
    """Half the modes of a symmetric body are odd, half even: the highest is found wherever it belongs."""
    for shift in (0.0, -0.5, 3.7):
        mesh = dmesh.create_interval(COMM, 12, [shift, shift + 1.0])
        body = di.Solid(mesh, density=2.0, law=di.LinearElastic(8.0))
        assert body.critical_time_step() == pytest.approx(1 / 12 / 2.0, rel=1e-9), shift


@pytest.mark.parametrize("law", [di.LinearElastic(1.0, 0.3), di.NeoHookean(1.0, 0.3)])
def test_a_body_that_nobody_uses_is_freed_at_once(law):
    """Not when Python looks for circles of references: parameter studies make many large ones."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], (4, 4))
    body = di.Solid(mesh, density=1.0, law=law)
    scheme = di.CDLagrange(body, 0.1 * body.critical_time_step())
    scheme.start(0.0, 0.0)
    scheme.step()
    body.mass_product(scheme.v, "consistent", np.zeros(body.size))
    gone, was = weakref.ref(body), gc.isenabled()
    gc.disable()
    try:
        del body, scheme
        assert gone() is None
    finally:
        if was:
            gc.enable()
