"""The block on an inclined plane: it slides as a rigid one does, or stays where it is."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpi4py import MPI
from support import cases
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact.benchmark.cases.solids import sliding_block as case

SCHEMES = case.SlidingBlock.schemes


values = functools.partial(cases.values, "sliding-block")


@functools.cache
def run(scheme, **changes):
    """A run (implicit schemes with ten times the step), its history, results and verdicts."""
    if scheme == "moreau-jean":
        changes = {"courant": 7.0, **changes}
    return cases.run("sliding-block", scheme, **changes)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_defaults_slide(scheme):
    problem, result, results, verdicts = run(scheme)
    a = math.radians(30)
    expected = 9.81 * (math.sin(a) - 0.3 * math.cos(a))
    assert results["expected_acceleration"] == pytest.approx(expected, rel=1e-14)
    assert results["mean_acceleration"] == pytest.approx(expected, rel=1e-9)
    t = result["t"][-1]
    assert t == pytest.approx(20 * 0.05 / 100.0, abs=problem.integrator.dt)
    assert results["slip"] == pytest.approx(expected * t**2 / 2, rel=1e-2)
    assert results["mean_normal_force"] == pytest.approx(1000 * 0.1 * 0.05 * 9.81 * math.cos(a), rel=1e-9)
    assert len(verdicts) == 4 and all(v.reproduced for v in verdicts)
    assert problem.dofs == 90 and result["u"].shape[1] == 45 and result["gap"].shape[1] == 9


@pytest.mark.parametrize("scheme", SCHEMES)
def test_steady_sliding_has_no_vibration(scheme):
    """Every node moves as a rigid block from the first step on, and all work is that of the weights."""
    problem, result, results, _ = run(scheme)
    slid = result["u"] - result["u"][0]
    assert np.ptp(slid, axis=1).max() < 1e-9 * results["slip"]
    m, g, a = 5.0, 9.81, math.radians(30)
    assert result["kinetic"][-1] == pytest.approx(m * result["v_t"][-1, 0] ** 2 / 2, rel=1e-9)
    assert result["external"][-1] == pytest.approx(m * g * math.sin(a) * results["slip"], rel=1e-9)
    assert result["contact"][-1] == pytest.approx(-0.3 * m * g * math.cos(a) * results["slip"], rel=1e-9)
    # Down the plane is along (cos a, -sin a): friction acts upwards, all of it.
    up = result["r_t"] @ np.array([-math.cos(a), math.sin(a)])
    assert up[1:] == pytest.approx(0.3 * result["r"][1:], rel=1e-9, abs=1e-12)


@examples(2)
@example(angle=0.0, friction=0.0, scheme="moreau-jean")
@example(angle=45.0, friction=math.tan(math.radians(45.0)), scheme="cd-lagrange")
@example(angle=55.0, friction=1.5, scheme="cd-lagrange")
@example(angle=57.0, friction=1.5, scheme="moreau-jean")
@example(angle=80.0, friction=1.5, scheme="cd-lagrange")
@given(angle=st.floats(0.0, 80.0), friction=st.floats(0.0, 1.5), scheme=st.sampled_from(SCHEMES))
def test_slides_or_stays(angle, friction, scheme):
    p = values(scheme, angle=angle, friction=friction)
    _, _, results, verdicts = run(scheme, angle=angle, friction=friction, elements=2)
    assert [v.words for v in verdicts if not v.reproduced] == []
    slides = case.excess(p)
    if slides < 0:
        assert results["slip"] < 1e-12 and results["expected_acceleration"] == 0
        assert any("does not slide" in v.words for v in verdicts)
    elif slides > 0:
        a = math.radians(angle)
        expected = 9.81 * (math.sin(a) - friction * math.cos(a))
        assert results["mean_acceleration"] == pytest.approx(expected, rel=1e-3, abs=1e-5)


OTHERS = [
    {"cell": "triangle"},
    {"elements": 1},
    {"length": 0.3, "E": 2.1e11, "rho": 7850.0},
    {"every": 7},
    {"cell": "triangle", "angle": 10.0, "nu": 0.45},
]


@pytest.mark.parametrize("scheme, changes", [*zip(itertools.cycle(SCHEMES), OTHERS)])
def test_other_blocks(scheme, changes):
    _, result, _, verdicts = run(scheme, **changes)
    assert len(verdicts) == 4 and all(v.reproduced for v in verdicts)
    scale = max(np.abs(result[name]).max() for name in ("kinetic", "internal", "external"))
    assert np.abs(result["residual"]).max() < 1e-11 * scale


def test_start_is_an_equilibrium_within_the_cone():
    """At rest every node carries tan a times its normal force, less than mu."""
    p = values("cd-lagrange", angle=40.0, friction=1.0)
    block = case.make_block(p)
    u, force = case.equilibrium(block, p), np.zeros(block.size)
    block.force(0.0, u, force, force)
    nodes, inner = block.nodes("bottom"), np.ones(block.owned // 2, dtype=bool)
    inner[nodes] = False
    free = force[: block.owned].reshape(-1, 2) @ case.axes(p).T
    weight = block.total_mass * 9.81
    worst = np.abs(free[inner]).max(initial=0.0)
    assert worst < 1e-9 * weight
    pressing = -free[nodes, 1]
    assert np.all(pressing > -1e-9 * weight)
    assert free[nodes, 0] == pytest.approx(math.tan(math.radians(40.0)) * pressing, rel=0.02)
    total = MPI.COMM_WORLD.allreduce(float(pressing.sum()))
    assert total == pytest.approx(weight * math.cos(math.radians(40.0)), rel=1e-9)


def test_vibrating_start_slides_as_fast_in_the_mean():
    """Without an equilibrium to start from waves run, and only the mean over many of them is known."""
    p = values("cd-lagrange")
    block = case.make_block(p)
    plane = case.plane_under(block, p, 0.3)
    integrator = di.CDLagrange(block, 0.7 * block.critical_time_step(), plane)
    integrator.start(0.0, 0.0)
    result = di.simulate(integrator, t_end=40 * case.transit(p), progress=False)
    along = integrator.v_mean[: block.owned].reshape(-1, 2) @ case.axes(p)[0]
    momentum = MPI.COMM_WORLD.allreduce(float(block.mass[::2] @ along))
    assert np.ptp(result["r"].sum(axis=1)[1:]) > 0.1 * result["r"].sum(axis=1).max()
    expected = case.expected_acceleration(p) * integrator.t
    assert momentum / block.total_mass == pytest.approx(expected, rel=0.05)


def test_short_run_has_no_mean():
    _, _, results, verdicts = run("cd-lagrange", t_end=2e-3)
    assert results["mean_acceleration"] is None and results["slip"] > 0
    assert len(verdicts) == 2 and all(v.reproduced for v in verdicts)


def test_pinned_numbers():
    """The same on any number of ranks."""
    found = []
    for scheme in ("cd-lagrange", "moreau-jean"):
        _, result, results, _ = run(scheme)
        found += [results["slip"], float(result["internal"][0]), float(result["r"][1].max())]
    assert found == pytest.approx(PINNED, rel=1e-9)


PINNED = [
    0.000117177353045637,
    1.66194116001083e-05,
    0.000480759971920926,
    0.000110286103055873,
    1.66194116001083e-05,
    0.00480759971920926,
]
