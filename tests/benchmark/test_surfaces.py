"""Cases of colliding bodies: numbers on any number of ranks, and what they refuse."""

import re

import pytest

import dolfinx_impact as di
from dolfinx_impact.benchmark.case import defaults
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.solids.common import simulated


def results(case, scheme="cd-lagrange", **settings):
    """Results of a run, and whether all its verdicts hold."""
    chosen = CASES[case]
    of_scheme = defaults(di.SCHEMES[scheme].parameters)
    p = {**of_scheme, **defaults(chosen.parameters), **chosen.defaults, **settings}
    problem = chosen.make(scheme, p, False)
    found, verdicts = problem.judge(simulated(problem, p["every"]))
    return found, all(verdict.reproduced for verdict in verdicts)


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", ["cd-lagrange", "moreau-jean"])
def test_blocks_in_space_are_bars(scheme):
    found, held = results("non-matching-blocks", scheme, dimension=3, layers=5, upper=3, lower=2, angle1=20.0)
    assert held and found["deviation"] < 1e-12 and found["contact_phases"] >= 1
    assert found["impulse_sum"] > 10


@pytest.mark.mpi
def test_discs_keep_their_momenta():
    found, held = results("oblique-discs", rings_upper=5, rings_lower=4)
    assert held and found["linear_momentum_defect"] < 1e-14 and found["angular_momentum_defect"] < 1e-14
    assert found["velocity_upper"][0] == pytest.approx(0.1, abs=0.02) and 0.9 < found["energy_ratio"] < 1


@pytest.mark.mpi
def test_bars_and_block_on_any_number_of_ranks():
    found, held = results("unequal-bars", elements1=20, elements2=30)
    assert held and found["velocity1"] == pytest.approx(0.0, abs=0.1)
    found, held = results("meshed-incline", elements=2)
    assert held and found["mean_acceleration"] == pytest.approx(found["expected_acceleration"], rel=1e-3)


@pytest.mark.slow
def test_two_spheres_in_space():
    found, _ = results("two-spheres", geometry="3d", resolution=2, v0=1.0, every=1000)
    assert found["peak_force"] == pytest.approx(found["peak_force_hertz"], rel=0.1)
    assert found["duration"] == pytest.approx(found["duration_hertz"], rel=0.1)


@pytest.mark.nightly
def test_two_spheres_in_space_are_within_two_per_cent_of_hertz():
    found, held = results("two-spheres", geometry="3d", resolution=4, v0=0.2, every=1000)
    assert held and found["peak_force"] == pytest.approx(found["peak_force_hertz"], rel=0.02)


def test_the_diagonal_alone_deviates():
    found, _ = results("non-matching-blocks", delassus="diagonal")
    assert 0.01 < found["deviation"] < 0.2 and found["lateral_velocity"] > 1e-3
    with pytest.raises(ValueError, match="control for explicit schemes"):
        results("non-matching-blocks", "moreau-jean", delassus="diagonal")


@pytest.mark.parametrize(
    "case, settings, words",
    [
        ("non-matching-blocks", {"upper": 0}, "upper must be 1 to 100"),
        ("non-matching-blocks", {"dimension": 1}, "dimension must be one of 2, 3"),
        ("oblique-discs", {"offset": 2.0}, "offset must be below two radii"),
        ("unequal-bars", {"v2": 6.0}, "v1 must be above v2"),
        ("two-spheres", {"v0": 1e4}, "Hertz's contact radius"),
        ("meshed-incline", {"length": 0.01}, "tips over"),
    ],
)
def test_what_is_refused(case, settings, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        results(case, **settings)
