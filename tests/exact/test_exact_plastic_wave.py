"""The exact plastic wave: jump conditions, constitutive law, limits, and the numbers of small strains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from dolfinx_impact.exact import PlasticWave

COPPER = {"E": 117e9, "nu": 0.35, "rho": 8930.0}
WAVES = st.builds(
    PlasticWave,
    E=st.floats(1e9, 3e11),
    nu=st.floats(-0.5, 0.49),
    rho=st.floats(500.0, 2e4),
    yield_stress=st.floats(1e6, 2e9),
    hardening=st.floats(0.0, 1e11),
    v0=st.floats(0.1, 500.0),
    state=st.sampled_from(["stress", "strain"]),
)


def stress(wave, strain):
    """Kirchhoff stress of uniaxial compression by the return map, without the moduli of the solution."""
    mu, bulk = wave.E / 2 / (1 + wave.nu), wave.E / 3 / (1 - 2 * wave.nu)
    if wave.state == "strain":
        trial = 2 * mu * strain
        plastic = max(0.0, (trial - wave.yield_stress) / (3 * mu + wave.hardening))
        return bulk * strain + 2 / 3 * (trial - 3 * mu * plastic), plastic
    plastic = max(0.0, (wave.E * strain - wave.yield_stress) / (wave.E + wave.hardening))
    return wave.E * (strain - plastic), plastic


@given(wave=WAVES)
@examples(30)
def test_fronts_satisfy_the_jump_conditions(wave):
    assert wave.states[0].velocity == wave.v0 and wave.states[-1].velocity == 0.0
    for before, behind, speed in zip(wave.states, wave.states[1:], wave.speeds):
        narrowed = before.stretch - behind.stretch
        slowed = before.velocity - behind.velocity
        assert slowed == pytest.approx(speed * narrowed, rel=1e-8, abs=1e-12 * wave.v0)
        pushed = behind.stress - before.stress
        assert pushed == pytest.approx(wave.rho * speed * slowed, rel=1e-8, abs=1e-12 * behind.stress)
    assert np.all(np.diff(wave.speeds) < 0)
    for state in wave.states:
        tau, plastic = stress(wave, state.strain)
        assert state.kirchhoff == pytest.approx(tau, rel=1e-9, abs=1e-6)
        assert state.plastic_strain == pytest.approx(plastic, rel=1e-9, abs=1e-15)
        assert state.stretch == pytest.approx(np.exp(-state.strain), rel=1e-12)
        assert state.stress == pytest.approx(tau / state.stretch, rel=1e-9, abs=1e-6)


@given(wave=WAVES)
@examples(30)
def test_momentum_and_energy_of_the_whole_bar(wave):
    """The force on the face takes the momentum; what is lost is what shocks dissipate, never negative."""
    t, length = 1.0, 1.2 * wave.speeds[0]
    edges = np.array([0.0, *wave.speeds[::-1], length])
    parts = dict(zip(range(len(wave.states) - 1, -1, -1), np.diff(edges)))
    momentum = sum(wave.rho * part * wave.states[k].velocity for k, part in parts.items())
    lost = wave.rho * length * wave.v0 - momentum
    assert lost == pytest.approx(wave.states[-1].stress * t, rel=1e-6)
    stored = 0.0
    for k, part in parts.items():
        strains = np.linspace(0.0, wave.states[k].strain, 20001)
        taus = np.array([stress(wave, e)[0] for e in strains[::100]])
        stored += part * np.trapezoid(np.interp(strains, strains[::100], taus), strains)
    kinetic = sum(wave.rho * part * wave.states[k].velocity ** 2 / 2 for k, part in parts.items())
    before = wave.rho * length * wave.v0**2 / 2
    assert kinetic + stored < before * (1 + 1e-3)


@pytest.mark.parametrize("hardening, small, true", [(1e8, 106, 242), (1e9, 333, 401), (1e10, 1016, 1047)])
def test_compression_makes_the_plastic_front_faster(hardening, small, true):
    given = {**COPPER, "yield_stress": 4e8, "hardening": hardening, "v0": 20.0}
    wave, limit = PlasticWave(**given), PlasticWave(**given, finite=False)
    assert round(wave.speeds[1]) == true and round(limit.speeds[1]) == small
    assert limit.speeds[1] == pytest.approx(np.sqrt(wave.tangent_modulus / wave.rho), rel=1e-9)


@pytest.mark.parametrize("state", ["stress", "strain"])
def test_small_strains_are_the_limit(state):
    """With yield stress and speed reduced together the fronts tend to those of small strains, linearly."""
    off = []
    for part in (1.0, 0.1, 0.01):
        given = {**COPPER, "yield_stress": 1e8 * part, "hardening": 1e10, "v0": 8.0 * part, "state": state}
        wave, limit = PlasticWave(**given), PlasticWave(**given, finite=False)
        off.append(max(abs(a / b - 1) for a, b in zip(wave.speeds, limit.speeds)))
        face = limit.limit + limit.rho * limit.speeds[1] * limit.states[1].velocity
        assert limit.states[-1].stress == pytest.approx(face, rel=1e-9)
        assert limit.v0 - limit.states[1].velocity == pytest.approx(limit.limit / limit.rho / limit.speeds[0])
    assert np.all(np.array(off[1:]) < 0.2 * np.array(off[:-1])) and off[-1] < 1e-3


def test_nothing_yields_in_a_slow_impact():
    wave = PlasticWave(**COPPER, yield_stress=4e8, hardening=1e8, v0=5.0)
    assert len(wave.speeds) == 1 and wave.states[-1].plastic_strain == 0.0
    assert wave.speeds[0] == pytest.approx(np.sqrt(wave.E / wave.rho), rel=5e-3)
    assert wave.states[-1].stress == pytest.approx(wave.rho * wave.speeds[0] * 5.0, rel=1e-9)


def test_fields_step_at_the_fronts():
    wave = PlasticWave(**COPPER, yield_stress=1e8, hardening=1e10, v0=8.0)
    t = 1e-4
    fast, slow = (speed * t for speed in wave.speeds)
    x = np.array([0.5 * slow, 0.5 * (slow + fast), 1.5 * fast])
    assert np.array_equal(wave.behind(x, t), [2, 1, 0])
    assert np.array_equal(wave.field("velocity", x, t), [each.velocity for each in wave.states[::-1]])
    assert wave.field("stress", 0.0, t) == wave.states[2].stress


@pytest.mark.parametrize(
    "change, words",
    [
        ({"E": 0.0}, "E must be positive"),
        ({"hardening": -1.0}, "hardening must be at least 0"),
        ({"nu": 0.5}, "nu must lie in"),
        ({"state": "shear"}, "state must be one of stress, strain"),
        ({"finite": False, "hardening": 1e6, "v0": 200.0}, "take finite strains"),
    ],
)
def test_what_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        PlasticWave(**{**COPPER, "yield_stress": 1e8, "hardening": 1e10, "v0": 8.0, **change})
