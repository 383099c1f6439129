"""Two bars against each other: what theory says of them, and what one bar at a wall does."""

import functools

import numpy as np
import pytest
from support import cases

from dolfinx_impact.algebra import kernels
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.two_bars import case

RHO, E, LENGTH, AREA, SPEED = 7847.0, 2.1e11, 0.254, 0.645e-3, np.sqrt(2.1e11 / 7847.0)
MASS = RHO * LENGTH * AREA


values = functools.partial(cases.values, "two-bars")


def run(scheme, name="two-bars", compiled=None, **changes):
    problem = cases.made(name, scheme, **changes)
    return problem, problem.simulate(compiled=compiled)


def test_defaults_are_those_of_the_paper():
    p = values("moreau-jean")
    assert (p["theta"], p["mass"], p["elements"], p["courant"]) == (1.0, "lumped", 40, 0.8)
    problem, result = run("cd-lagrange")
    results, _ = problem.judge(result)
    assert results["critical_time_step"] == pytest.approx(LENGTH / 40 / SPEED, rel=1e-14)
    assert results["h"] == pytest.approx(9.8e-7, rel=5e-3)
    bars = problem.integrator.system
    assert bars.critical_time_step() == pytest.approx(results["critical_time_step"], rel=1e-10)
    assert bars.total_mass == pytest.approx(2 * MASS, rel=1e-13)
    assert problem.dofs == 82 and result["u"].shape[1] == 2 and result["gap"].shape[1] == 1


@pytest.mark.parametrize("elements, e", [(40, 0.0), (40, 0.5), (10, 1.0), (25, 0.0)])
def test_explicit_impact(elements, e):
    """Two nodes of mass m, each at v0: the pair's mass is m/2 and it closes at 2 v0, so that r = m v0."""
    problem, result = run("cd-lagrange", elements=elements, restitution=e)
    results, verdicts = problem.judge(result)
    node = MASS / elements / 2
    assert results["first_impulse"] == pytest.approx((1 + e) * node * 5.0, rel=1e-11)
    if e == 0:
        assert results["energy_lost"] == pytest.approx(1 / (2 * elements), abs=1e-9)
        assert all(v.reproduced for v in verdicts)
    start = result["kinetic"][0]
    assert start == pytest.approx(MASS * 25.0, rel=1e-13)
    assert np.abs(result["residual"]).max() < 1e-12 * start
    assert results["rebound_velocity"] == pytest.approx(results["impulse_sum"] / MASS - 5.0, rel=1e-12)


@pytest.mark.parametrize("courant", [0.1, 0.4, 0.8])
def test_first_impulse_does_not_depend_on_the_step(courant):
    """The force of the first step grows like 1/h; the impulse is that of the tip's mass."""
    problem, result = run("cd-lagrange", courant=courant, t_end=6e-5)
    results, _ = problem.judge(result)
    assert results["first_impulse"] == pytest.approx(MASS / 80 * 5.0, rel=1e-11)
    r = result["r"][:, 0] / results["h"]
    first = np.flatnonzero(r)[0]
    assert r[first] == pytest.approx(MASS / 80 * 5.0 / results["h"], rel=1e-11)
    # While contact lasts the force is rho c v0 A, whatever the step.
    assert r[first + 1 :].mean() == pytest.approx(RHO * SPEED * 5.0 * AREA, rel=0.05)


@pytest.mark.parametrize("scheme", CASES["two-bars"].schemes)
def test_bars_mirror_each_other(scheme):
    problem, result = run(scheme, t_end=1.4e-4)
    results, verdicts = problem.judge(result)
    assert np.count_nonzero(result["r"]) > 20
    scale = np.abs(result["u"]).max()
    assert np.abs(result["u"][:, 0] - result["u"][:, 1]).max() <= 1e-12 * scale
    assert result["gap"][:, 0] == pytest.approx(2e-4 - result["u"].sum(axis=1), abs=1e-15)
    assert results["balance_residual"] < 1e-11 or not result.balance
    assert any("mirror" in v.words and v.reproduced for v in verdicts)


@pytest.mark.parametrize("scheme", [s for s in CASES["two-bars"].schemes if s != "carpenter-implicit"])
def test_each_bar_is_one_at_a_wall(scheme):
    """The middle of the gap is a wall (carpenter-implicit is unstable and tells every rounding apart)."""
    _, two = run(scheme)
    courant = values(scheme)["courant"]
    same = {"gap": 1e-4, "elements": 40, "courant": courant, "t_end": 1.8e-4, "mass": "lumped"}
    if "theta" in values(scheme):
        same["theta"] = 1.0
    _, one = run(scheme, "impacting-bar", **same)
    for name, tolerance in (("u", 1e-11), ("v_t", 1e-10), ("v", 1e-10), ("r", 1e-10)):
        assert np.abs(two[name] - one[name]).max() <= tolerance * np.abs(one[name]).max(), name
    assert np.abs(two["gap"] - 2 * one["gap"]).max() < 1e-14
    for name in ("kinetic", "complementary", "internal", "contact", "dissipated"):
        assert np.abs(two[name] - 2 * one[name]).max() <= 1e-10 * two["kinetic"][0], name


def test_exact_solution_is_that_of_a_wall_in_the_middle():
    solution = case.exact(values("cd-lagrange"))
    assert solution.contact_start == pytest.approx(2e-5) and solution.impulse == 2 * MASS * 5.0
    assert solution.contact_end == pytest.approx(1.182e-4, rel=1e-3)


def test_orders_of_convergence(monkeypatch):
    """Figs. 9 and 10: with h = c dt order 1 for CD-Lagrange, 1/2 for Moreau-Jean with theta = 1."""
    monkeypatch.setattr(case.TwoBars, "order_elements", case.ORDER_ELEMENTS[:4])
    found = {
        scheme: case.TwoBars().orders(scheme, 1.0, values(scheme))
        for scheme in ("cd-lagrange", "moreau-jean")
    }
    assert found["cd-lagrange"] == pytest.approx([1.0, 1.0], abs=0.15)
    assert found["moreau-jean"] == pytest.approx([0.5, 0.5], abs=0.15)


@pytest.mark.parametrize(
    "scheme, changes, claims",
    [
        ("cd-lagrange", {}, 1),
        ("cd-lagrange", {"courant": 1.0}, 2),
        ("moreau-jean", {}, 2),
        ("moreau-jean", {"theta": 0.5}, 0),
        ("cd-lagrange", {"restitution": 0.5}, 0),
        ("combined", {}, 0),
        ("cd-lagrange", {"t_end": 1e-4}, 0),
        ("cd-lagrange", {"t_end": 1.0}, 0),
    ],
)
def test_study_of_orders(scheme, changes, claims):
    study = cases.made("two-bars", scheme, **changes).study()
    assert len(study) == claims and all(v.reproduced for v in study)


@pytest.mark.parametrize("scheme", ["cd-lagrange", "carpenter"])
def test_compiled_loop_gives_the_same(scheme):
    if not kernels.load().COMPILED:
        pytest.skip("numba is not installed")
    compiled, plain = (run(scheme, compiled=choice)[1] for choice in (True, False))
    for name in compiled:
        if compiled[name].dtype.kind == "f":
            scale = np.abs(plain["kinetic" if name == "residual" else name]).max()
            assert np.abs(compiled[name] - plain[name]).max() <= 1e-12 * scale, name


def test_bars_that_touch_at_the_start():
    """Contact acts from the start on, and no node is stopped at once."""
    problem, result = run("cd-lagrange", gap=0.0)
    _, verdicts = problem.judge(result)
    assert result["r"][0, 0] > 0 and problem.judge(result)[0]["contact_start"] == 0.0
    assert all(v.reproduced for v in verdicts)
    assert not any("first impulse" in v.words or "energy lost" in v.words for v in verdicts)


def test_bars_at_rest_stay_at_rest():
    problem, result = run("cd-lagrange", v0=0.0)
    assert not result["u"].any() and not result["r"].any()
    assert [v.words for v in problem.judge(result)[1]] == ["the energy balance closes"]


def test_pinned_numbers():
    """The same on every supported DOLFINx and any number of ranks, to 1e-10."""
    found = []
    for scheme in ("cd-lagrange", "moreau-jean"):
        _, result = run(scheme)
        found += [result["u"][-1, 0], result["r"].sum()]
    assert found == pytest.approx(PINNED, rel=1e-10)


PINNED = [-0.00019658684673088878, 12.733517529708898, -0.0001643353147727309, 11.819049771601655]
