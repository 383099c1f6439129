"""The block on a floor in plane strain, beside a leapfrog of its own, the bar, and the whole block."""

import functools

import numpy as np
import pytest
from scipy import sparse
from support import cases

import dolfinx_impact as di
from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.boxes import box
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.plane_block import case, measures

BLOCK = "plane-block"
run = functools.cache(cases.run)


# -- a program of its own


def stiffness(E, nu):
    """Of a square in plane strain, corners counter-clockwise, 2 x 2 Gauss points, shape (8, 8) [N/m]."""
    first, shear = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
    law = np.array([[first + 2 * shear, first, 0], [first, first + 2 * shear, 0], [0, 0, shear]])
    corners, K = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), np.zeros((8, 8))
    for point in np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / np.sqrt(3):
        slopes = corners * (1 + corners * point)[:, ::-1] / 2
        B = np.zeros((3, 8))
        B[0, ::2], B[1, 1::2] = slopes.T
        B[2, ::2], B[2, 1::2] = slopes[:, 1], slopes[:, 0]
        K += B.T @ law @ B / 4
    return K


def leapfrog(p, h, steps, in_velocity):
    """Half of the block: its forces [N], and the displacements of top and side at every time [m]."""
    columns, rows = round(p["width"] / 2 * p["divisions"]), round(p["height"] * p["divisions"])
    number = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    cells = np.stack([number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]], axis=2)
    dofs = np.stack([2 * cells, 2 * cells + 1], axis=3).reshape(-1, 8)
    values = np.tile(stiffness(p["E"], p["nu"]).ravel(), len(dofs))
    K = sparse.csr_matrix((values, (np.repeat(dofs, 8, axis=1).ravel(), np.tile(dofs, 8).ravel())))
    M = np.bincount(dofs.ravel()) * p["rho"] / p["divisions"] ** 2 / 4
    free, bottom, side, top = M > 0, 2 * number[0] + 1, 2 * number[:, -1], 2 * number[-1, 0] + 1
    free[2 * number[:, 0]] = False
    u, v = np.zeros(M.size), np.where(np.arange(M.size) % 2, -p["v0"], 0.0)
    forces, motion = [], []
    for n in range(steps + 1):
        v += h * (0.5 if n == 0 else 1.0) * np.where(free, -(K @ u) / M, 0.0)
        if in_velocity:
            r = np.where(u[bottom] <= 1e-9, np.maximum(-M[bottom] * v[bottom], 0.0), 0.0)
        else:
            r = np.maximum(-M[bottom] * (v[bottom] + u[bottom] / h), 0.0)
        v[bottom] += r / M[bottom]
        forces.append(r.sum() / h)
        motion.append([u[top], *u[side]])
        u = u + h * v
    rebound = (M * v)[1::2].sum() / M[1::2].sum() / p["v0"]
    return np.array(forces), np.array(motion), rebound


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("scheme, in_velocity", [("cd-lagrange", True), ("dep-4.7", False)])
def test_sample_by_sample_as_a_leapfrog_of_its_own(scheme, in_velocity):
    problem, result, found, _ = run(BLOCK, scheme, divisions=2)
    forces, motion, _ = leapfrog(problem.p, found["h"], result.steps, in_velocity)
    assert result["u"] == pytest.approx(motion, abs=1e-11)
    assert result["r"].sum(axis=1) / found["h"] == pytest.approx(forces, abs=1e-10 * forces.max())
    assert found["top_lowest"] == pytest.approx(motion[:, 0].min(), abs=1e-11)
    assert found["bulge"] == pytest.approx(motion[:, 1:].max(), abs=1e-11)
    assert found["impulse"] == pytest.approx(2 * found["h"] * forces.sum(), rel=1e-11)
    last = np.flatnonzero(forces > 0)[-1]
    assert found["contact_end"] == pytest.approx(last * found["h"], rel=1e-12)
    back = 2 * problem.p["height"] / case.wave_speed(problem.p)
    inside = (result["t"] > 0.15 * back) & (result["t"] < 0.85 * back)
    varies = np.abs(np.diff(2 * forces[inside])).sum() / case.wave_force(problem.p)
    assert found["force_variation"] == pytest.approx(varies, rel=1e-9)


@pytest.mark.nightly
def test_the_reference_is_that_of_a_leapfrog_on_fine_meshes():
    """The top still sinks by 0.1 % more with twice the cells: beyond 32 a unit of length."""
    problem = cases.made(BLOCK, "cd-lagrange", divisions=32)
    h = problem.p["h"]
    _, motion, rebound = leapfrog(problem.p, h, round(1.0 / h), True)
    assert rebound == pytest.approx(case.REBOUND, abs=0.002)
    lowest = motion[:, 0].min() / (problem.p["v0"] * case.bar(problem.p).transit)
    assert lowest == pytest.approx(case.TOP_LOWEST, rel=0.003)


def test_half_of_the_block_is_the_block():
    problem, result, found, _ = run(BLOCK, "moreau-jean", divisions=2)
    named = box([[-2.5, 0.0], [2.5, 10.0]], [10, 20])
    whole = di.Solid(named, density=1.0, law=di.LinearElastic(900.0, 0.3))
    floor = di.RigidContact(whole, "bottom", di.Plane([0.0, 0.0], [0.0, 1.0]), gap_tolerance=1e-9)
    scheme = di.MoreauJean(whole, found["h"], contact=floor)
    scheme.start(0.0, (0.0, -10.0))
    both = di.simulate(scheme, t_end=problem.t_end, progress=False)
    assert 2 * result["r"].sum(axis=1) == pytest.approx(both["r"].sum(axis=1), abs=1e-10 * both["r"].max())
    assert 2 * result["internal"] == pytest.approx(both["internal"], abs=1e-9)
    assert found["impulse"] == pytest.approx(both["r"].sum(), rel=1e-11)


# -- the bar


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param("cd-lagrange-singular", marks=pytest.mark.nightly),
        "generalized-alpha",
        "dep-4.4",
        "dep-5.1",
        "dep-6.1",
        "dep-7.2",
    ],
)
def test_without_poissons_ratio_the_block_is_the_bar(scheme, runs):
    assert max(measures.as_the_bar(runs, scheme).values()) < 1e-10


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("scheme", measures.PENALTY)
def test_a_penalty_by_points_presses_corners_too_hard(scheme):
    """The compliance of a point that has half of the area must be twice as large."""
    settings = {"nu": 0.0, "divisions": 2, "courant": 0.4, "t_end": 0.1}
    even, odd = (run(BLOCK, scheme, per_area=each, **settings).result for each in (True, False))
    spread = [np.ptp(each["gap"][-1]) / np.abs(each["gap"]).max() for each in (even, odd)]
    assert spread[0] < 1e-11 and spread[1] > 0.05


def test_pressure_wave_runs_up_a_block_that_cannot_bulge():
    """Contact lasts 2 L / c, at the force rho c v0 b."""
    p = cases.made(BLOCK).p
    assert case.wave_speed({**p, "nu": 0.0}) == 30.0 and case.wave_force({**p, "nu": 0.0}) == 1500.0
    assert case.wave_speed(p) == pytest.approx(30 * np.sqrt(0.7 / (1.3 * 0.4)))


# -- the case


def test_parameters_and_results_are_those_of_the_contract():
    listed = runner.catalogue()["cases"][BLOCK]
    defaults = {key: option["default"] for key, option in listed["parameters"].items()}
    expected = {"nu": 0.3, "divisions": 8, "E": 900, "rho": 1, "width": 5, "height": 10, "v0": 10, "t_end": 1}
    assert {key: defaults[key] for key in expected} == expected
    keys = {"rebound", "top_lowest", "impulse", "contact_end", "energy_lost", "bulge", "force_variation"}
    assert keys <= run(BLOCK, divisions=2).results.keys()


def test_schemes_that_take_no_such_block_say_why():
    """All others run it."""
    left = {"hati", "static", "cd-lagrange-implicit", "dep-2.1", "dep-2.2", "dep-2.3"}
    assert set(SCHEMES) - set(CASES[BLOCK].schemes) == left
    setup = CASES[BLOCK].build(cases.values(BLOCK, divisions=2))
    make = {name: SCHEMES[name].make for name in left}
    for name in ("dep-2.1", "dep-2.2", "dep-2.3"):
        with pytest.raises(ValueError, match="this is the formula without contact"):
            make[name](setup.system, 1e-3, contact=setup.contact)
    with pytest.raises(ValueError, match="is free to move"):
        make["static"](setup.system, 1e-3, contact=setup.contact)
    with pytest.raises(ValueError, match="forces at the mean velocity take PointMasses, not a Solid"):
        make["cd-lagrange-implicit"](setup.system, 1e-3, contact=setup.contact)
    with pytest.raises(ValueError, match="unknown scheme 'hati' for plane-block"):
        runner.find(BLOCK, "hati")


@pytest.mark.parametrize("scheme", ["cd-lagrange", "dep-7.1"])
def test_numbers_scale_with_speed_size_and_material(scheme):
    """Linear: twice the speed, a tenth of the size, another wave speed."""
    usual = run(BLOCK, scheme, divisions=2, gap_tolerance=1e-12).results
    other = {"v0": 20.0, "width": 0.5, "height": 1.0, "divisions": 20, "E": 3600.0, "rho": 2.0}
    c = 1800.0**0.5
    scaled = run(BLOCK, scheme, **other, t_end=3.0 / c, gap_tolerance=1e-13)
    assert all(verdict.reproduced for verdict in scaled.verdicts)
    found = scaled.results
    for name in ("rebound", "energy_lost", "force_variation"):
        assert found[name] == pytest.approx(usual[name], rel=1e-8, abs=1e-12)
    way = 20.0 * 1.0 / c / (10.0 * 10.0 / 30.0)
    assert found["bulge"] == pytest.approx(way * usual["bulge"], rel=1e-8)
    assert found["top_lowest"] == pytest.approx(way * usual["top_lowest"], rel=1e-8)
    assert found["contact_end"] == pytest.approx(usual["contact_end"] * 3.0 / c, rel=1e-8)
    assert found["impulse"] == pytest.approx(usual["impulse"] * 2.0 * 2.0 * 0.01, rel=1e-8)


def test_verdicts_of_a_run():
    words = [verdict.words for verdict in run(BLOCK).verdicts]
    assert len(words) == 3 and all(verdict.reproduced for verdict in run(BLOCK).verdicts)
    assert len(run(BLOCK, divisions=2, t_end=0.5).verdicts) == 1
    assert len(run(BLOCK, divisions=2, nu=0.2).verdicts) == 1
    alone = run(BLOCK, divisions=4, nu=0.0)
    assert [v.reproduced for v in alone.verdicts] == [True, True]
    dissipative = run(BLOCK, "dep-4.2", divisions=4, theta=1.0).verdicts
    assert [v.reproduced for v in dissipative] == [True, False, False]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return measures.Runs(tmp_path_factory.mktemp("runs"))
