"""Cases of colliding bodies: numbers on any number of ranks, and what they refuse."""

import pytest
from support import cases


def results(case, scheme="cd-lagrange", **settings):
    """Results of a run, and whether all its verdicts hold."""
    _, _, found, verdicts = cases.run(case, scheme, **settings)
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
    found, _ = results("two-spheres", geometry="3d", resolution=1, v0=1.0, every=1000)
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
