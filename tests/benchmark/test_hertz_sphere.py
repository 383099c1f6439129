"""The sphere on a plane: Hertz's impact solved independently, and what the finite elements make of it."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from support import cases
from support.examples import examples

from dolfinx_impact.benchmark.cases.solids import hertz_sphere as case
from dolfinx_impact.exact.hertz import HertzImpact

SPHERES = st.builds(
    HertzImpact,
    R=st.floats(1e-3, 10.0),
    E=st.floats(1e6, 1e12),
    nu=st.floats(-0.9, 0.49),
    rho=st.floats(100.0, 2e4),
    v0=st.floats(1e-3, 10.0),
)


parameters = functools.partial(cases.values, "hertz-sphere")
run = functools.cache(functools.partial(cases.run, "hertz-sphere"))


def deviation(results):
    return results["peak_force"] / results["peak_force_hertz"] - 1


# -- the exact solution


@given(sphere=SPHERES)
@examples(8)
def test_exact_solution_solves_the_equation_of_motion(sphere):
    """``m d'' = -4/3 E* sqrt(R) d^(3/2)`` from d = 0, integrated numerically."""
    stiffness = 4 / 3 * sphere.E / (1 - sphere.nu**2) * np.sqrt(sphere.R)
    m = sphere.rho * 4 / 3 * np.pi * sphere.R**3
    t = np.linspace(0.0, sphere.duration / 2, 20)
    scale = sphere.v0 * sphere.duration

    def motion(s, y):
        return [y[1], -stiffness * np.sqrt(scale) * sphere.duration**2 / m * max(y[0], 0.0) ** 1.5]

    # In units of the duration and of v0 times it.
    d = (
        scale
        * integrate.solve_ivp(
            motion, (0, 0.5), [0.0, 1.0], t_eval=t / sphere.duration, rtol=1e-11, atol=1e-13
        ).y[0]
    )
    assert np.allclose(sphere.force(t), stiffness * d**1.5, rtol=1e-6, atol=1e-8 * sphere.peak_force)
    assert d[-1] == pytest.approx(sphere.approach, rel=1e-8)
    assert sphere.contact_radius**2 == pytest.approx(sphere.R * sphere.approach, rel=1e-12)


@given(sphere=SPHERES)
@examples(8)
def test_exact_force_is_symmetric_and_reverses_the_momentum(sphere):
    t = np.linspace(0.0, sphere.duration, 4001)
    force = sphere.force(t)
    assert np.allclose(force, force[::-1], atol=1e-9 * sphere.peak_force)
    assert force.max() == pytest.approx(sphere.peak_force, rel=1e-12)
    assert integrate.simpson(force, x=t) == pytest.approx(2 * sphere.mass * sphere.v0, rel=1e-5)
    assert not sphere.force([-sphere.duration, 1.01 * sphere.duration]).any()


def test_duration_is_johnsons_constant():
    sphere = HertzImpact(0.01, 2.1e11, 0.3, 7850.0, 0.1)
    assert sphere.duration * sphere.v0 / sphere.approach == pytest.approx(2.94, abs=0.005)
    assert sphere.duration == pytest.approx(
        2.87 * (sphere.mass**2 / (sphere.R * sphere.modulus**2 * sphere.v0)) ** 0.2, rel=2e-3
    )


# -- the finite elements


@pytest.mark.parametrize("scheme, steps", [("cd-lagrange", {}), ("moreau-jean", {"courant": 20.0})])
def test_axisymmetric_impact_is_hertz_within_3_percent(scheme, steps):
    """Peak, duration and the whole course of the force; all momentum comes back."""
    _, result, results, verdicts = run(scheme, resolution=4, v0=0.2, **steps)
    assert len(verdicts) == 3 and all(v.reproduced for v in verdicts), verdicts
    assert abs(deviation(results)) < 0.015
    hertz = case.exact(parameters(v0=0.2))
    assert results["peak_force_hertz"] == hertz.peak_force
    assert results["contact_phases"] == 1
    assert results["rebound_velocity"] == pytest.approx(hertz.v0, rel=1e-3)
    assert results["impulse_sum"] == pytest.approx(2 * hertz.mass * hertz.v0, rel=2e-3)
    force = result["r"][1:].sum(axis=1) / np.diff(result["t"])
    expected = hertz.force((result["t"][1:] + result["t"][:-1]) / 2)
    assert np.abs(force - expected).sum() < 0.03 * expected.sum()


def test_a_quarter_of_a_sphere_is_hertz_within_6_percent():
    problem, _, results, verdicts = run(geometry="3d", resolution=3, v0=1.0)
    assert len(verdicts) == 3 and all(v.reproduced for v in verdicts), verdicts
    assert problem.dofs < 60_000
    assert results["impulse_sum"] == pytest.approx(2 * case.exact(parameters()).mass * 1.0, rel=5e-3)


def test_faster_impacts_deviate_more():
    """The contact is less and less small against the sphere."""
    found = [deviation(run("cd-lagrange", resolution=4, v0=v0).results) for v0 in (0.2, 1.0, 3.0)]
    assert 0 < found[0] < found[1] < found[2] < 0.05


def test_the_run_at_1_meter_per_second_is_reported():
    study = cases.made("hertz-sphere", resolution=2, v0=0.5).study()
    assert len(study) == 2 and all("at 1 m/s" in v.words for v in study)
    results = run(resolution=2, v0=1.0).results
    assert study[0].measured == pytest.approx(1 + deviation(results), rel=1e-9)
    assert cases.made("hertz-sphere", resolution=2, v0=1.0).study() == []


@pytest.mark.parametrize("nu", [0.0, 0.4])
def test_results_follow_poissons_ratio(nu):
    _, _, results, verdicts = run(resolution=4, v0=1.0, nu=nu)
    assert all(v.reproduced for v in verdicts), verdicts
    assert results["peak_force_hertz"] == case.exact(parameters(v0=1.0, nu=nu)).peak_force


@pytest.mark.parametrize("R, E, rho, v0", [(2.0, 1.0, 1.0, 1.0), (1.0, 4.0, 0.25, 4.0), (0.5, 4.0, 4.0, 1.0)])
def test_similar_spheres_have_similar_impacts(R, E, rho, v0):
    """At the same v0 / c: force goes with E R^2, time with R / c; meshes may differ by rounding."""
    given = parameters(resolution=2, v0=1.0)
    factors = {"R": R, "E": E, "rho": rho, "v0": v0}
    one = run(resolution=2, v0=1.0).results
    other = run(resolution=2, **{name: given[name] * factor for name, factor in factors.items()}).results
    assert other["peak_force"] / one["peak_force"] == pytest.approx(E * R**2, rel=1e-3)
    assert other["duration"] / one["duration"] == pytest.approx(R * np.sqrt(rho / E), rel=1e-3)


def test_the_peak_is_that_of_the_moving_mean():
    """Computed again from the history of all steps."""
    problem, result, results, _ = run(resolution=1, v0=1.0, every=1)
    width = round(case.WINDOW * results["duration_hertz"] / results["h"])
    sums = np.convolve(result["r"].sum(axis=1), np.ones(width))
    assert width > 10
    assert results["peak_force"] == pytest.approx(sums.max() / (width * results["h"]), rel=1e-10)
    assert results["peak_force"] < result["r"].sum(axis=1).max() / results["h"]


@pytest.mark.parametrize(
    "scheme, geometry, share", [("moreau-jean", "axisymmetric", 1), ("cd-lagrange", "3d", 4)]
)
def test_mass_momentum_and_balance_are_those_of_the_sphere(scheme, geometry, share):
    changes = {"geometry": geometry, "resolution": 1, "v0": 5.0}
    p = parameters(scheme, **changes)
    problem, result, results, verdicts = run(scheme, **changes)
    mass = share * problem.integrator.system.total_mass
    assert mass == pytest.approx(case.exact(p).mass, rel=0.01)
    assert verdicts[0].words == "the energy balance closes" and verdicts[0].reproduced
    momentum = mass * (p["v0"] + results["rebound_velocity"])
    assert results["impulse_sum"] == pytest.approx(momentum, rel=1e-9)


def test_no_verdict_on_an_impact_that_is_not_over():
    problem, _, results, verdicts = run(resolution=1, v0=5.0, t_end=1e-5)
    assert problem.t_end == 1e-5 and results["contact_end"] == pytest.approx(1e-5, abs=results["h"])
    assert [v.words for v in verdicts] == ["the energy balance closes"]


@pytest.mark.mpi
@pytest.mark.parametrize(
    "scheme, geometry, t_end", [("moreau-jean", "axisymmetric", 8e-6), ("cd-lagrange", "3d", 4e-6)]
)
def test_ranks_agree(scheme, geometry, t_end, as_on_one_rank):
    _, result, results, _ = run(scheme, geometry=geometry, resolution=1, v0=5.0, t_end=t_end, every=20)
    names = ("peak_force", "duration", "rebound_velocity")
    found = [*(results[name] for name in names), *result["u"][-1]]
    assert found[0] > 0
    assert found == pytest.approx(as_on_one_rank(found), rel=1e-10, abs=1e-14)
