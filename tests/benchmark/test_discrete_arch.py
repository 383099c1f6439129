"""The arch chain: its two definitions, its statics, and the discrete arch of the benchmark."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support import cases
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import mesh
from dolfinx_impact.benchmark.case import defaults
from dolfinx_impact.benchmark.cases.discrete_arch import case
from dolfinx_impact.benchmark.cases.discrete_arch.chain import Chain, chain_energy, chain_force, load_factor
from dolfinx_impact.benchmark.cases.discrete_arch.equilibrium import static_equilibrium

SHAPES = {
    "paper": {},
    "three bars": {"bars": 3, "opening": 1.0, "kappa": 0.3},
    "nearly a ring": {"bars": 21, "opening": 6.0, "R": 2.5, "k": 30.0, "kappa": 0.02},
    "no torsion": {"kappa": 0.0, "opening": 3.0},
}
shapes = pytest.mark.parametrize("shape", SHAPES)


def made(bars=11, **changes):
    """A chain with the parameters of the case; without changes neither loaded nor damped."""
    return Chain({**defaults(case.PARAMETERS), "load": 0.0, "damping": 0.0, **changes}, bars)


@functools.cache
def chain(shape="paper"):
    return made(**SHAPES[shape])


def deformed(arch, size, seed):
    """Random positions, ``size`` bar lengths from the unloaded ones."""
    length = np.hypot(*(arch.rest[2:4] - arch.rest[:2]))
    return arch.rest + size * length * np.random.default_rng(seed).uniform(-1, 1, arch.size)


values = functools.partial(cases.values, "discrete-arch")
run = functools.cache(functools.partial(cases.run, "discrete-arch"))


def verdict(verdicts, words):
    (found,) = [v for v in verdicts if words in v.words]
    return found


@shapes
def test_the_mesh_is_the_arc(shape):
    arch, given = chain(shape), {"R": 1.0, "opening": math.pi / 4, "bars": 11, **SHAPES[shape]}
    R, opening, bars = given["R"], given["opening"], given["bars"]
    angles = opening * (np.arange(bars + 1) / bars - 0.5)
    x = np.column_stack([R * np.sin(angles), R * (np.cos(angles) - np.cos(opening / 2))])
    assert np.abs(arch.rest.reshape(-1, 2) - x).max() < 4e-15 * R
    assert np.flatnonzero(arch.constrained).tolist() == [0, 1, 2 * bars, 2 * bars + 1]
    assert arch.labels[:3] == ["x0", "y0", "x1"] and arch.labels[-1] == f"y{bars}"
    assert [arch.labels[i] for i in arch.heights] == [f"y{i}" for i in range(1, bars)]


def test_names_in_the_mesh():
    named = mesh.read(mesh.package_mesh("arch.geo"), gdim=2, parameters={"bars": 4}, comm=MPI.COMM_SELF)
    assert set(named.names) == {"bars", "supports"}
    assert named.facets("supports").size == 2
    assert named.mesh.topology.index_map(1).size_global == 4
    assert named.mesh.topology.index_map(0).size_global == 5


def test_the_loop_without_compilation():
    arch, x, out = chain(), deformed(chain(), 0.3, 7), np.zeros(24)
    chain_force(x, arch.k, arch.kappa, *arch._shape, out)
    assert np.abs(out - arch.internal_force(x)).max() < 1e-15
    assert chain_energy(x, arch.k, arch.kappa, *arch._shape) == pytest.approx(
        arch.stored_energy(x), rel=1e-14
    )


@shapes
@pytest.mark.parametrize("size", [0.0, 0.1, 0.3])
def test_force_is_the_gradient_and_tangent_its_derivative(shape, size):
    arch = chain(shape)
    x, step = deformed(arch, size, 3), 1e-6 * arch.length
    shifts = step * np.eye(arch.size)
    slope = np.array([arch.stored_energy(x + d) - arch.stored_energy(x - d) for d in shifts]) / (2 * step)
    force = arch.internal_force(x)
    assert np.abs(slope - force).max() < 1e-7 * max(np.abs(force).max(), 1e-3 * arch.k * arch.length)
    K = arch.tangents(0.0, x, x)[0]
    columns = np.array([arch.internal_force(x + d) - arch.internal_force(x - d) for d in shifts]).T
    assert np.abs(K - K.T).max() < 1e-14 * np.abs(K).max()
    assert np.abs(columns / (2 * step) - K).max() < 1e-6 * np.abs(K).max()


@shapes
@given(turn=st.floats(-3.1, 3.1), x=st.floats(-2, 2), y=st.floats(-2, 2))
@examples(10)
def test_rigid_motions_cost_nothing(shape, turn, x, y):
    arch, c, s = chain(shape), math.cos(turn), math.sin(turn)
    moved = (arch.rest.reshape(-1, 2) @ np.array([[c, s], [-s, c]]) + (x, y)).ravel()
    stiffest = np.abs(arch.tangent(arch.rest)).max()
    assert np.abs(arch.internal_force(moved)).max() < 1e-14 * stiffest
    assert arch.stored_energy(moved) < 1e-28 * stiffest


def test_forces_do_not_move_the_whole():
    """No resultant force and no resultant moment in any configuration."""
    arch = chain()
    x = deformed(arch, 0.3, 5)
    f = arch.internal_force(x).reshape(-1, 2)
    assert np.abs(f.sum(axis=0)).max() < 1e-16
    assert abs(np.sum(x[::2] * f[:, 1] - x[1::2] * f[:, 0])) < 1e-16


def test_load_and_damping():
    assert [load_factor(t, 100.0, 400.0) for t in (0.0, 25.0, 100.0, 399.9, 400.0, 1e3)] == [
        0.0,
        0.25,
        1.0,
        1.0,
        0.0,
        0.0,
    ]
    assert load_factor(1e-9, 0.0, 1.0) == 1.0 and load_factor(2.0, 4.0, 1.0) == 0.0
    arch = made(load=2e-3, ramp=10.0, m=3.0, damping=0.1)
    out, v = np.zeros(24), np.arange(24.0)
    arch.external(5.0, arch.rest, v, out)
    assert np.flatnonzero(out).tolist() == [11, 13] and out[11] == out[13] == -1e-3
    arch.damping(5.0, arch.rest, v, out)
    assert np.allclose(out, 0.3 * v, rtol=1e-15)
    assert np.allclose(arch.tangents(0.0, arch.rest, v)[1], 0.3 * np.eye(24), rtol=1e-15)
    assert not chain().has_loads and not chain().has_damping


@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_critical_step(damping):
    arch = made(damping=damping)
    sizes = []
    for part in (0.999, 1.02):
        integrator = di.CDLagrange(arch, part * arch.critical_time_step(), allow_unstable=True)
        integrator.start(arch.rest, 1e-9 * np.random.default_rng(1).standard_normal(24))
        for _ in range(300):
            integrator.step()
        sizes.append(np.abs(integrator.u - arch.rest).max())
    assert sizes[0] < 1e-6 < 1e-5 < sizes[1]
    with pytest.raises(ValueError, match="above the critical one"):
        di.CDLagrange(arch, 1.01 * arch.critical_time_step())


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_balance_of_central_differences(e):
    problem, result, found, verdicts = run(restitution=e)
    largest = max(np.abs(result[name]).max() for name in ("kinetic", "internal", "external"))
    assert np.abs(result["residual"]).max() < 1e-12 * largest
    assert found["active_nodes"] == [5, 6] and all(v.reproduced for v in verdicts)
    assert result["external"].max() > 1e-5 and result["dissipated"][-1] > 1e-6
    assert result["labels"].tolist() == [f"{axis}{i}" for i in range(12) for axis in "xy"]
    assert result["contact_labels"].tolist() == [str(i) for i in range(1, 11)]
    assert not np.any(result["r"][result["gap"] > 1e-12]) and np.all(result["r"] >= 0)


@pytest.mark.slow
def test_moreau_jean_and_its_balance():
    problem, result, found, verdicts = run("moreau-jean", h=2.0)
    assert type(problem.integrator.step_solver).__name__ == "NewtonThetaStep"
    assert found["balance_residual"] < 1e-12
    assert found["active_nodes"] == [5, 6] and all(v.reproduced for v in verdicts)


def test_schemes_agree_as_the_step_falls():
    """At first order: central differences take the damping half a step late."""
    apart = []
    for h in (0.6, 0.3):
        ends = []
        for scheme in ("cd-lagrange", "moreau-jean"):
            integrator = cases.made("discrete-arch", scheme, h=h).integrator
            while integrator.t < 72 - h / 2:
                integrator.step()
            ends.append(integrator.u.copy())
        apart.append(np.abs(ends[1] - ends[0]).max())
    assert np.abs(ends[0] - chain().rest).max() > 0.05
    assert apart[1] < 6e-4 and apart[0] / apart[1] > 1.8


def test_same_nodes_whatever_mass_damping_load_and_step():
    """A claim has all of the variants."""
    found = [case.final_nodes("cd-lagrange", values(**changes)) for changes in case.VARIANTS[::3]]
    assert len(case.VARIANTS) >= 8 and set(found) == {(5, 6)}


def test_study_of_mass_scaling(monkeypatch):
    monkeypatch.setattr(case, "VARIANTS", ({"m": 2.0}, {"load": 1e-4}))
    (verdict,) = cases.made("discrete-arch").study()
    assert verdict.measured == 1 and not verdict.reproduced  # a small load does not snap
    monkeypatch.setattr(case, "VARIANTS", ({"m": 2.0},))
    (verdict,) = cases.made("discrete-arch", load=1e-4, courant=0.4).study()
    assert verdict.measured == 0 and verdict.reproduced
    assert cases.made("discrete-arch", kappa=4.16e-3).study() == []


@pytest.mark.parametrize("h", [0.6, 0.3, 0.1])
def test_distance_to_the_static_minimum(h):
    """Of order h: a node stays where its impact finds it; with floors at those depths, round-off."""
    problem, result, found, verdicts = run(h=h, t_end=1200.0, every=100)
    arch, u, gap = problem.integrator.system, problem.integrator.u, problem.integrator.gap()
    still = static_equilibrium(arch, -0.065, u)
    speed = problem.log.fastest
    assert still.active == (5, 6) and 3e-3 < speed < 4e-3
    assert 0.0 < case.distance(u, still.positions) < h * speed
    assert found["static_distance"] == case.distance(u, still.positions)
    assert verdict(verdicts, "is a static equilibrium").reproduced
    frozen = static_equilibrium(arch, -0.065 + np.minimum(gap, 0.0), u)
    assert case.distance(u, frozen.positions) < 1e-8
    assert np.abs(problem.integrator.r / h - frozen.forces).max() < 1e-8 * frozen.forces.max()


def test_static_equilibrium_is_a_minimum():
    arch, generator = chain(), np.random.default_rng(0)
    still = case.snapped_equilibrium(arch, 0.065)
    x, force = still.positions, arch.internal_force(still.positions)
    assert still.active == (5, 6) and still.residual < 1e-14
    assert np.all(still.forces >= 0) and np.all(x[arch.heights] >= -0.065)
    assert np.all((still.forces == 0) | (x[arch.heights] == -0.065))
    free = ~arch.constrained
    free[arch.heights] &= still.forces == 0
    assert np.abs(force[free]).max() < 1e-14
    assert x[::2] == pytest.approx(-x[::2][::-1], abs=1e-11)
    for size in (1e-3, 1e-2):
        for _ in range(100):
            other = x + size * generator.standard_normal(24)
            other[arch.heights] = np.maximum(other[arch.heights], -0.065)
            other[arch.constrained] = x[arch.constrained]
            assert arch.stored_energy(other) > arch.stored_energy(x)


def test_static_equilibrium_leaves_a_saddle():
    """A straight chain of compressed bars is in balance, but not at a minimum."""
    arch = made(kappa=0.0)
    straight = np.zeros(24)
    straight[::2] = np.linspace(arch.rest[0], arch.rest[-2], 12)
    assert np.abs(arch.internal_force(straight)[2:-2]).max() < 1e-15
    still = static_equilibrium(arch, -1.0, straight)
    assert arch.stored_energy(still.positions) < 1e-20 < 1e-6 < arch.stored_energy(straight)


def test_the_printed_stiffness_has_no_snapped_state():
    """kappa/(kR^2) = 4.16e-3: the arch returns, also when it is pressed to the floor."""
    for load in (1e-3, 1e-2):
        _, _, found, verdicts = run(kappa=4.16e-3, load=load, every=100)
        assert found["active_nodes"] == [] and found["contact_impulse_ratio"] is None
        assert found["middle_height"] > 0.07
        assert not verdict(verdicts, "equilibrium on the floor exists").reproduced
        assert not verdict(verdicts, "has snapped").reproduced
    assert found["contact_start"] is not None


def test_verdicts_turn():
    """Too small a load does not snap; too short a run is no static equilibrium."""
    _, _, _, verdicts = run(load=1e-4, every=100)
    assert verdict(verdicts, "equilibrium on the floor exists").reproduced
    assert not verdict(verdicts, "has snapped").reproduced
    _, _, found, verdicts = run(t_end=76.5)
    assert not verdict(verdicts, "is a static equilibrium").reproduced
    assert not verdict(verdicts, "impulse of inertia").reproduced


@functools.cache
def impulses():
    """Times, impulses of inertia and of contact of the default arch."""
    return np.array(list(case.impulses(cases.made("discrete-arch").integrator, 900.0))).T


@pytest.mark.parametrize("limit", [1e-2, 1e-4])
def test_stop_ratio(limit):
    times, inertia, contact = impulses()
    ratio = np.abs(inertia) / np.where(contact > 0, contact, np.nan)
    first = times[(times > 400.0) & (ratio < limit)][0]
    problem, result, found, verdicts = run(stop_ratio=limit)
    assert found["stop_time"] == first == result["t"][-1] < 900
    assert found["contact_impulse_ratio"] == ratio[times == first][0] < limit
    assert verdict(verdicts, "impulse of inertia").reproduced
    assert np.array_equal(result["u"], run()[1]["u"][: len(result["t"])])


def test_every_rank_has_the_same():
    everywhere = MPI.COMM_WORLD.allgather(run(every=1)[0].integrator.u)
    assert all(np.array_equal(u, everywhere[0]) for u in everywhere)


@pytest.mark.parametrize("name, value, message", [
    ("opening", 0.0, "opening must lie between"), ("opening", 6.3, "opening must lie between"),
    ("opening", math.nan, "opening must lie between"),
    ("kappa", -1e-9, "kappa must be at least 0"), ("ramp", -1.0, "ramp must be at least 0"),
    ("release", math.nan, "release must be at least 0"), ("damping", -0.1, "damping must be at least 0"),
    ("load", math.inf, "load must be a finite number"),
])  # fmt: skip
def test_chains_that_do_not_exist(name, value, message):
    with pytest.raises(ValueError, match=message):
        made(**{name: value})


def test_courant_takes_the_place_of_h():
    problem = cases.made("discrete-arch", courant=0.5)
    assert problem.integrator.dt == 0.5 * problem.integrator.system.critical_time_step()


@pytest.mark.parametrize("scheme", ["cd-lagrange", "moreau-jean"])
def test_inertia_is_the_impulse_that_damps(scheme):
    """Change of vertical momentum in a free step minus the impulse of loads and springs."""
    integrator = cases.made("discrete-arch", scheme).integrator
    arch = integrator.system

    def push():
        out = np.zeros(24)
        arch.external(integrator.t, integrator.u, integrator.v, out)
        return float((out - arch.internal_force(integrator.u))[arch.heights].sum())

    for _ in range(20):
        before = push()
        integrator.step()
    acting = push() if scheme == "cd-lagrange" else 0.5 * (before + push())
    momentum = float(arch.mass @ ((integrator.v - integrator.v_before) * np.tile([0, 1], 12)))
    expected = momentum - integrator.dt * acting
    assert case.inertia_impulse(integrator) == pytest.approx(expected, rel=1e-9)


def test_a_residual_that_no_rounding_allows():
    arch = chain()
    with pytest.raises(di.NotConverged, match="unbalanced"):
        static_equilibrium(arch, -0.065, -arch.rest, tolerance=0.0)
