"""The Taylor test and the plastic wave on few cells, beside what is known; what they refuse."""

import numpy as np
import pytest
from support import cases

from dolfinx_impact import StepControl
from dolfinx_impact.benchmark.cases.materials import plastic_wave, taylor_bar


@pytest.mark.mpi
def test_a_bar_of_few_cells(as_on_one_rank):
    """The face widens, the bar shortens, and nearly all energy becomes plastic work."""
    _, _, found, verdicts = cases.run("taylor-bar", size=1.6e-3)
    assert [v.reproduced for v in verdicts] == [True]  # the balance; nothing is known of cells so large
    assert found["face_radius"] == pytest.approx(7.0e-3, rel=0.03)
    assert found["length_end"] == pytest.approx(21.5e-3, rel=0.01) and 2.0 < found["peak_strain"] < 3.5
    assert 0.96 < found["plastic_work"] / found["energy_start"] < 1.0
    values = [found[name] for name in ("face_radius", "length_end", "peak_strain", "plastic_work")]
    assert values == pytest.approx(as_on_one_rank(values), rel=1e-3)


@pytest.mark.mpi
@pytest.mark.parametrize("geometry", ["quarter", "tetrahedra"])
def test_a_quarter_begins_like_the_whole_bar(geometry):
    """Energies are those of the whole bar, whose radius a coarse polygon reduces."""
    whole = cases.run("taylor-bar", size=1.6e-3, t_end=4e-6).results
    _, _, found, verdicts = cases.run("taylor-bar", geometry=geometry, size=1.6e-3, t_end=4e-6)
    assert verdicts[0].reproduced
    assert found["energy_start"] == pytest.approx(whole["energy_start"], rel=0.12)
    share = [each["plastic_work"] / each["energy_start"] for each in (found, whole)]
    assert share[0] == pytest.approx(share[1], rel=0.1)
    assert found["length_end"] == pytest.approx(whole["length_end"], rel=2e-3)


@pytest.mark.mpi
def test_a_held_face_stays_on_the_wall():
    problem, _, found, _ = cases.run("taylor-bar", size=1.6e-3, t_end=5e-6, wall="fixed")
    s, body = problem.integrator, problem.integrator.system
    assert s.contact is None and not s.u[2 * body.nodes("face") + 1].any()
    assert found["contact_phases"] == 0 and found["face_radius"] > 1.1 * problem.p["radius"]


def test_plain_tetrahedra_lock():
    settings = {"geometry": "tetrahedra", "size": 1.6e-3, "t_end": 2e-5}
    found, plain = (cases.run("taylor-bar", locking=way, **settings).results for way in ("default", "none"))
    assert plain["face_radius"] < 0.9 * found["face_radius"] and plain["peak_strain"] < found["peak_strain"]


def test_the_step_follows_unless_it_is_given():
    problem = cases.made("taylor-bar", size=1.6e-3, courant=0.6)
    assert isinstance(problem.adapt, StepControl) and problem.adapt.safety == 0.6
    assert cases.made("taylor-bar", size=1.6e-3, h=1e-8).adapt is None


def test_known_numbers_are_those_of_the_default_bar():
    p = cases.values("taylor-bar")
    assert taylor_bar.known(p) == taylor_bar.Known(7.29, 21.48, 4.0)
    assert taylor_bar.known({**p, "size": 3e-4}) is None and taylor_bar.known({**p, "v0": 200.0}) is None
    found = {"face_radius": 7.2e-3, "length_end": 21.4e-3, "plastic_work": 99.0, "energy_start": 100.0}
    held = list(taylor_bar.beside(found, {**p, "wall": "fixed"}, taylor_bar.Known(7.16, 21.43, 3.2)))
    assert len(held) == 4 and all(v.reproduced for v in held)
    off = list(
        taylor_bar.beside({**found, "face_radius": 7.0e-3, "plastic_work": 90.0}, p, taylor_bar.known(p))
    )
    assert [v.reproduced for v in off] == [False, True, False]


@pytest.mark.mpi
@pytest.mark.parametrize("state", ["stress", "strain"])
def test_a_plastic_wave_of_few_cells(state):
    _, _, found, verdicts = cases.run("plastic-wave", state=state, cells=100)
    assert [v.reproduced for v in verdicts] == [True] * 5, verdicts
    for name in ("speed_elastic", "speed_plastic", "stress_precursor", "stress_face"):
        assert found[name] == pytest.approx(found[f"{name}_exact"], rel=0.04)


def test_the_order_of_the_error():
    (verdict,) = cases.made("plastic-wave", cells=80).study()
    assert 0.4 < verdict.measured < 0.8


def test_fronts_of_an_exact_profile_are_where_they_are():
    p = cases.values("plastic-wave")
    wave, t = plastic_wave.exact(p), 1e-4
    z = np.random.default_rng(0).permutation(np.linspace(0.0, 1.0, 2001))
    profile = plastic_wave.Profile(z, wave.field("velocity", z, t), wave)
    assert profile.fronts == pytest.approx([speed * t for speed in wave.speeds], abs=1e-3)
    assert profile.precursor() == pytest.approx(wave.states[1].velocity)


@pytest.mark.nightly
@pytest.mark.parametrize("key", taylor_bar.KNOWN, ids=str)
def test_the_bar_is_that_of_an_independent_code(key):
    geometry, wall, locking, size = key
    if size < 0.4:
        pytest.skip("takes too long")
    _, _, found, verdicts = cases.run(
        "taylor-bar", geometry=geometry, wall=wall, locking=locking, size=1e-3 * size
    )
    assert all(v.reproduced for v in verdicts), verdicts
    assert found["peak_strain"] == pytest.approx(taylor_bar.KNOWN[key].strain, rel=0.1)
