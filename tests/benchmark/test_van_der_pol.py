"""The Van der Pol oscillator: equation, wall, cycles, orders of convergence."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import cases

import dolfinx_impact as di
from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases.van_der_pol import case

parameters = functools.partial(cases.values, "van-der-pol")
run = functools.partial(cases.run, "van-der-pol")


def acceleration(p, x, v):
    return p["xi"] * p["omega0"] * (1 - x**2 / p["X0"] ** 2) * v - p["omega0"] ** 2 * x


def reference(p, t):
    """Without the wall, by a method of order 8."""
    found = solve_ivp(
        lambda _, y: [y[1], acceleration(p, *y)],
        (0, t[-1]),
        [p["x0"], p["v0"]],
        method="DOP853",
        t_eval=t,
        rtol=1e-12,
        atol=1e-13,
    )
    return found.y[0]


def test_forces_are_those_of_the_paper():
    p = parameters("cd-lagrange", xi=3.0, omega0=2.0, X0=0.7)
    oscillator = case.Oscillator().build(p).system
    out = np.zeros(1)
    for x, v in ((0.3, -1.2), (1.1, 0.4), (-0.9, 2.0)):
        oscillator.force(0.0, np.array([x]), np.array([v]), out)
        assert out[0] == pytest.approx(acceleration(p, x, v), rel=1e-14)
    assert oscillator.stored_energy(np.array([0.5])) == pytest.approx(0.5 * 4.0 * 0.25)
    assert oscillator.critical_time_step() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "scheme, order", [("cd-lagrange", 1), ("cd-lagrange-implicit", 2), ("moreau-jean", 2)]
)
def test_order_without_impact(scheme, order):
    """In norm (35), at the times of the coarsest run, before the wall is reached; Figure 12."""
    steps, errors = (1.6e-2, 8e-3, 4e-3), []
    times = np.arange(1, 63) * steps[0]
    x = reference(parameters(scheme), times)
    for h in steps:
        result = run(scheme, h=h, t_end=times[-1], wall="none").result
        coarse = result["u"][:: round(steps[0] / h), 0][1:]
        errors.append(np.sum(np.abs(coarse - x)) / np.sum(np.abs(x)))
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("scheme", case.SCHEME_NAMES)
def test_every_scheme_runs_against_the_wall(scheme):
    h = 1e-2 if scheme == "noh-bathe" else 3e-2
    _, result, results, verdicts = run(scheme, h=h, t_end=11.1)
    assert set(results) >= {"cycles", "period", "largest_jump", "balance_residual"}
    assert results["impacts"] >= 2 and results["cycles"] >= 1
    assert all(v.reproduced for v in verdicts) and bool(verdicts) == result.balance
    assert list(result["labels"]) == ["x"]
    hit = np.flatnonzero(result["r"][:, 0])
    if scheme == "noh-bathe":  # what a substep has stopped moves again in the next one
        assert np.abs(result["v"][hit, 0]).max() < 1e-2
    elif SCHEMES[scheme].contact_level == "velocity":
        # e = 0: what approaches the wall stops, and all of its speed is the jump.
        assert np.abs(result["v"][hit, 0]).max() < 1e-13
    jumps = np.abs(result["v"][hit, 0] - result["v"][hit - 1, 0])
    assert results["largest_jump"] == jumps.max() > 3.0


def test_energy_is_fed_and_taken():
    """The velocity term feeds inside X0 and takes outside."""
    result = run(h=2e-3, wall="none", t_end=15.0).result
    inside = np.abs(result["u"][:, 0]) < 1
    change = np.diff(result["dissipated"])
    # Where x turns, the force is lagged and belongs to the other sign of v.
    turning = 1e-4 * np.abs(change).max()
    assert change[inside[1:] & inside[:-1]].max() <= turning
    assert change[~inside[1:] & ~inside[:-1]].min() >= -turning
    assert np.abs(result["residual"]).max() < 1e-12


@pytest.mark.parametrize("scheme", ["cd-lagrange", "paoli-schatzman"])
def test_limit_cycle(scheme):
    """Many cycles on the coarse step; free period of xi = 5 from the literature: 11.61 s."""
    _, _, results, verdicts = run(scheme, h=1e-2, t_end=300.0)
    assert results["cycles"] > case.MANY_CYCLES
    assert len(verdicts) == 3 and all(v.reproduced for v in verdicts)
    _, _, results, verdicts = run(scheme, h=2e-3, t_end=60.0, wall="none")
    assert results["period"] == pytest.approx(11.612, rel=0.01)
    assert results["amplitude"] == pytest.approx(2.0216, abs=0.02)
    assert len(verdicts) == 2 and all(v.reproduced for v in verdicts)


def test_crossings_are_interpolated():
    """Of the linear oscillator (xi = 0) the period is known."""
    _, _, results, verdicts = run("moreau-jean", xi=0.0, omega0=2.0, wall="none", h=4e-2, t_end=20.0)
    # The trapezoidal rule: tan(omega h / 2) = omega0 h / 2.
    period = 2 * np.pi / (2 / 4e-2 * np.arctan(2.0 * 4e-2 / 2))
    assert results["period"] == pytest.approx(period, rel=1e-6)
    assert results["cycles"] == 5 and results["largest_jump"] == 0.0 and results["impacts"] == 0
    assert all(v.reproduced for v in verdicts)


def test_a_run_that_leaves_the_cycle_fails_its_verdict():
    """Linear damping in place of the velocity term: the amplitude decays."""
    problem = cases.made("van-der-pol", wall="none", t_end=40.0, h=1e-2)
    system = di.PointMasses(1.0, stiffness=[[1.0]], damping=lambda t, u, v, out: np.copyto(out, 0.1 * v))
    integrator = di.CDLagrange(system, 1e-2)
    integrator.start(1.0, 1.0)
    problem.integrator, problem.log = integrator, case.CycleLog(integrator)
    found = problem.judge(problem.simulate(record=system.rows()))[1]
    assert [v.reproduced for v in found] == [True, False]


def test_moreau_jean_takes_the_force_at_the_midpoint():
    assert runner.parse(case.Oscillator(), "moreau-jean", [])["force"] == "midpoint"
    assert runner.parse(case.Oscillator(), "moreau-jean", ["force=trapezoid"])["force"] == "trapezoid"
    assert "force" not in runner.parse(case.Oscillator(), "cd-lagrange", [])
    assert cases.made("van-der-pol", "moreau-jean").integrator.midpoint


def test_courant_is_the_other_way_to_give_the_step():
    problem = cases.made("van-der-pol", courant=0.01, omega0=2.0)
    assert problem.integrator.dt == pytest.approx(0.01)
    assert [problem.p["h"], problem.p["courant"]] == pytest.approx([0.01, 0.01])
