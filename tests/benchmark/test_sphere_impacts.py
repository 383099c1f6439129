"""A sphere on a plate and on a rod: coarse runs beside theory, on any number of ranks."""

import numpy as np
import pytest
from support import cases

from dolfinx_impact.benchmark.cases.experiments import sphere_impact, sphere_plate, sphere_rod
from dolfinx_impact.benchmark.cases.experiments.sphere_claims import lambda_of, struck_again
from dolfinx_impact.exact import ZenerImpact

COARSE = {"resolution": 3, "layers": 4}
#: Few cells and the beginning of the contact.
SHORT = {"resolution": 1, "layers": 2, "extent": 0.5, "t_end": 4e-6}


def ratios(found):
    return [found[name] / found[f"{name}_zener"] for name in ("restitution", "peak_force", "duration")]


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", ["cd-lagrange", "moreau-jean"])
def test_a_sphere_that_touches_is_slowed_down_at_once(scheme):
    """The contact starts with the run, and pushes both parts: their momentum is that of the sphere."""
    problem, _, found, verdicts = cases.run("sphere-plate", scheme, **SHORT)
    assert all(verdict.reproduced for verdict in verdicts) and len(verdicts) == 1
    zener = problem.setup.beside
    assert found["contact_start"] < 0.02 * zener.duration
    given = (1 + found["restitution"]) * zener.v0
    impulse = found["impulse_sum"] / zener.mass
    assert given == pytest.approx(impulse, rel=0.03)  # the mesh has not quite the mass of the sphere
    assert found["rebound_velocity"] < 0.0


@pytest.mark.mpi
def test_a_gauge_is_at_the_middle_of_the_rod():
    settings = {"resolution": 1, "layers": 2, "length": 0.02, "t_end": 4e-6}
    _, result, found, _ = cases.run("sphere-rod", **settings)
    assert result["u"].shape[1] == 2
    assert found["gauge_place"] == pytest.approx(0.01, abs=2e-3)
    assert found["gauge_length"] == pytest.approx(6e-3, abs=3e-3)
    assert found["second_contact"] is None


@pytest.mark.parametrize(
    "scheme, thickness",
    [
        pytest.param("cd-lagrange", 2.5e-3, marks=pytest.mark.slow),
        pytest.param("moreau-jean", 2.5e-3, marks=pytest.mark.nightly),
        pytest.param("moreau-jean", 5e-3, marks=pytest.mark.nightly),
    ],
)
def test_waves_in_a_plate_decide_the_restitution(scheme, thickness):
    _, _, found, verdicts = cases.run("sphere-plate", scheme, thickness=thickness, **COARSE)
    assert ratios(found) == pytest.approx([1.0] * 3, abs=0.05)
    assert len(verdicts) == 4 and found["energy_lost"] < 1e-4
    assert found["force_deviation"] < 0.06


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param("cd-lagrange", marks=pytest.mark.nightly),
        pytest.param("moreau-jean", marks=pytest.mark.slow),
    ],
)
def test_a_wave_in_a_rod_decides_the_restitution_and_a_gauge_reads_the_force(scheme):
    _, _, found, verdicts = cases.run("sphere-rod", scheme, **COARSE)
    assert ratios(found) == pytest.approx([1.0] * 3, abs=0.05)
    assert len(verdicts) == 5 and found["strain_deviation"] < 0.05 and found["contact_phases"] == 1


def test_moving_means():
    t = np.linspace(0.0, 1.0, 101)
    middle, mean = sphere_impact.moving_mean(t, t**2, 0.2)
    assert mean == pytest.approx(2 * middle, rel=1e-6)


def test_lambda_by_its_restitution():
    assert lambda_of(ZenerImpact(1.0, 1.0, 0.7, 1.0).restitution) == pytest.approx(0.7, rel=1e-9)


def test_the_returning_wave_meets_a_slow_sphere_only():
    """Theory: while the end moves up with twice its speed; a fast sphere is too far away by then."""
    p = cases.values("sphere-rod")
    assert struck_again(p) == np.inf
    slow = struck_again({**p, "rod_radius": 4e-3})
    assert 2 * sphere_rod.transit(p) < slow < 4 * sphere_rod.transit(p)


def test_length_of_bending_waves():
    """They spread by the square roots of time and of the thickness, for any wave length: ``k l = 1``."""
    p = cases.values("sphere-plate")
    length, time = sphere_plate.bending_length(p, 4e-5), 4e-5
    stiffness = p["E"] * p["thickness"] ** 3 / (12 * (1 - p["nu"] ** 2))
    frequency = np.sqrt(stiffness / (p["rho"] * p["thickness"])) / length**2
    assert frequency * time == pytest.approx(1.0, rel=1e-12)
    assert sphere_plate.bending_length({**p, "thickness": 4 * p["thickness"]}, 1e-5) == pytest.approx(length)
