"""A spinning body in free flight: momenta to rounding, energy without drift."""

import functools
import math

import numpy as np
import pytest
import ufl
from hypothesis import given
from hypothesis import strategies as st
from support import cases
from support.examples import examples

from dolfinx_impact import EnergyLaw, parallel
from dolfinx_impact.benchmark.cases.solids import free_flight as case

SMALL = {"elements": 6, "every": 10}


made = functools.partial(cases.made, "free-flight", **SMALL)
parameters = functools.partial(cases.values, "free-flight", **SMALL)


def run(scheme="cd-lagrange", steps=1000, **changes):
    problem = made(scheme, **changes)
    result = problem.simulate(t_end=steps * problem.integrator.dt)
    return result, *problem.judge(result)


def whole_run(scheme="cd-lagrange", steps=1000, **changes):
    """A run whose end the case knows, so that its tenths are those of the run."""
    h = made(scheme, **changes).integrator.dt
    return run(scheme, steps, h=h, t_end=steps * h, **changes)


@pytest.mark.parametrize("dimension", [2, 3])
def test_central_differences_keep_everything(dimension):
    _, results, verdicts = whole_run(steps=3000 // dimension, dimension=dimension, elements=10 // dimension)
    assert len(verdicts) == 5 and all(v.reproduced for v in verdicts), verdicts
    assert 0.03 < results["stretch_max"] < 0.1
    assert results["linear_momentum_defect"] < 1e-14
    assert results["angular_momentum_defect"] < 1e-13


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_the_midpoint_rule_keeps_both_momenta(mass):
    _, results, verdicts = run("moreau-jean", 80, mass=mass)
    assert len(verdicts) == 3 and all(v.reproduced for v in verdicts), verdicts


def test_the_trapezoidal_rule_does_not_keep_the_spin():
    _, results, verdicts = run("moreau-jean", 80, force="trapezoid")
    assert len(verdicts) == 2 and all(v.reproduced for v in verdicts), verdicts
    assert results["linear_momentum_defect"] < 1e-13
    assert results["angular_momentum_defect"] > 1e-4


@given(
    spin=st.floats(0.1, 9.0),
    sign=st.sampled_from([-1, 1]),
    v0=st.floats(-10.0, 10.0),
    nu=st.floats(-0.5, 0.45),
    dimension=st.sampled_from([2, 3]),
    courant=st.floats(0.05, 0.7),
)
@examples(5)
def test_momenta_stay_whatever_the_motion(spin, sign, v0, nu, dimension, courant):
    _, results, _ = run(
        steps=150, spin=sign * spin, v0=v0, nu=nu, dimension=dimension, courant=courant, elements=4
    )
    assert results["linear_momentum_defect"] < 1e-13
    # Rounding of displacements of the way flown, in forces with the arm of the body.
    assert results["angular_momentum_defect"] < 1e-12 * (1 + abs(v0) / spin)
    assert results["balance_residual"] < 1e-12


@functools.cache
def hundred_steps():
    """Results of a run of 100 steps."""
    return run(steps=100)[1]


@given(scale=st.floats(-2.0, 2.0).map(lambda x: 10.0**x))
@examples(3)
def test_the_flight_has_no_scale(scale):
    """Length and time scaled alike, or stiffness and density, change no ratio."""
    first = hundred_steps()
    larger = run(steps=100, length=scale, spin=7.0 / scale)[1]
    stiffer = run(steps=100, E=1e5 * scale, rho=1e3 * scale)[1]
    for name in ("stretch_max", "energy_swing", "turns"):
        assert larger[name] == pytest.approx(first[name], rel=1e-6), name
        assert stiffer[name] == pytest.approx(first[name], rel=1e-6), name


def test_the_energy_swings_with_the_square_of_the_step():
    runs = [run(steps=steps, courant=courant, every=1) for steps, courant in ((400, 0.2), (800, 0.1))]
    swings = [results["energy_swing"] for _, results, _ in runs]
    assert math.log2(swings[0] / swings[1]) == pytest.approx(2.0, abs=0.2)


def conserved(courant, steps):
    """``E + h^2/12 (v.K v + F.M^-1 F)`` at every step, with the tangent itself, and the case's log."""
    h = courant * case.make_body(parameters()).critical_time_step()
    problem = made(h=h, t_end=steps * h)
    s, log, balance = problem.integrator, problem.log, problem.integrator.balance()
    system, n, energies, corrections = s.system, s.system.owned, [], []
    balance.start()
    for _ in range(steps):
        s.step(), balance.step(), log._correct(s)
        product, v = np.zeros(system.size), np.ascontiguousarray(s.v_mean)
        system.subtract_tangent(s.u, v, product)
        local = h**2 / 12 * (s.f[:n] @ (system.inverse_mass * s.f[:n]) - v[:n] @ product[:n])
        corrections.append(parallel.total(system.comm, float(local)))
        local = balance.kinetic + balance.complementary + balance.internal
        energies.append(parallel.total(system.comm, float(local)))
    sums = [parallel.total(system.comm, float(part)) for part in log._corrections]
    return np.array(energies), np.array(corrections), sums


def test_the_conserved_energy_is_of_fourth_order():
    swings = []
    for courant, steps in ((0.4, 400), (0.2, 800)):
        energies, corrections, sums = conserved(courant, steps)
        swings.append(np.ptp(energies + corrections) / energies[0])
        tenth = steps // 10
        assert sums == pytest.approx([corrections[:tenth].sum(), corrections[-tenth:].sum()], rel=0.05)
        assert swings[-1] < 0.2 * np.ptp(energies) / energies[0]
    assert math.log2(swings[0] / swings[1]) == pytest.approx(4.0, abs=0.4)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_log_sees_a_blow(dimension):
    """An impulse on one node changes momentum and angular momentum by what it brings."""
    problem = made(dimension=dimension, elements=4)
    scheme, log = problem.integrator, problem.log
    system, comm, blow = scheme.system, scheme.system.comm, np.array([0.3, -0.2, 0.1])[:dimension]
    arm = np.zeros(3)

    def strike(s):
        if s.n == 10 and comm.rank == 0:
            s.v[:dimension] += blow / system.mass[:dimension]
            arm[:] = system.x[0]
            arm[:dimension] += s.u[:dimension]

    problem.simulate([strike, *problem.observers()], t_end=20 * scheme.dt)
    log.close()
    assert log.defect[0] == pytest.approx(np.linalg.norm(blow), rel=1e-12)
    turned = np.cross(comm.bcast(arm), np.pad(blow, (0, 3 - dimension)))
    assert log.defect[1] == pytest.approx(np.linalg.norm(turned), rel=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("scheme, mass", [("cd-lagrange", "lumped"), ("moreau-jean", "consistent")])
def test_the_moments_are_sums_over_the_nodes(scheme, mass, dimension):
    problem = made(scheme, dimension=dimension, elements=4)
    s, log = problem.integrator, problem.log
    matrix = np.diag(s.system.mass)
    if mass == "consistent":
        matrix = s.system.matrices.mass(mass).convert("dense").getDenseArray()

    def spin(u):
        x = s.system.x + np.pad(u.reshape(-1, dimension), ((0, 0), (0, 3 - dimension)))
        p = np.pad((matrix @ s.v).reshape(-1, dimension), ((0, 0), (0, 3 - dimension)))
        return np.cross(x, p).sum(axis=0)

    first = np.linalg.norm(log.first[dimension:])
    assert np.linalg.norm(spin(s.u)) == pytest.approx(first, rel=1e-12)
    for _ in range(20):
        s.step()
    assert np.linalg.norm(spin(s.u)) == pytest.approx(first, rel=1e-12)
    if scheme == "cd-lagrange":  # the same with the position half a step later
        assert spin(s.u + s.dt * s.v) == pytest.approx(spin(s.u), rel=1e-12, abs=1e-12 * first)


def test_a_law_that_is_not_objective_is_seen(monkeypatch):
    def springs(E, nu):
        return EnergyLaw(lambda F: E / 2 * ufl.inner(F - ufl.Identity(3), F - ufl.Identity(3)))

    monkeypatch.setattr(case, "NeoHookean", springs)
    _, results, verdicts = run(steps=300)
    assert results["angular_momentum_defect"] > 1e-2
    assert not all(v.reproduced for v in verdicts)


@pytest.mark.mpi
@pytest.mark.parametrize("scheme, steps", [("cd-lagrange", 500), ("moreau-jean", 20)])
def test_ranks_agree(scheme, steps, as_on_one_rank):
    result, results, _ = whole_run(scheme, steps)
    found = [results["stretch_max"], results["energy_swing"], *result["u"][-1]]
    assert found == pytest.approx(as_on_one_rank(found), rel=1e-10, abs=1e-12)
    assert max(results["linear_momentum_defect"], results["angular_momentum_defect"]) < 1e-13
