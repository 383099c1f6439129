"""The cube that falls flat: waves decide its rebound, the coefficient of its nodes less and less."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import cases
from support.examples import examples

from dolfinx_impact.benchmark.cases.solids import cube_drop as case

SCHEMES_OF_CASE = ("cd-lagrange", "moreau-jean")


run = functools.partial(cases.run, "cube-drop")


@pytest.mark.parametrize("scheme", SCHEMES_OF_CASE)
def test_the_default_run(scheme):
    _, result, results, verdicts = run(scheme)
    assert len(verdicts) == 3 and all(v.reproduced for v in verdicts), verdicts
    assert results["contact_start"] == pytest.approx(results["h"] * (1 if scheme == "cd-lagrange" else 2))
    assert results["rebound_ratio"] == pytest.approx(0.78, abs=0.02)


#: A node that rebounds with e leaves by e h v0, which must be seen beside the gap tolerance of 1e-12 m.
#: Rebounds of less open gaps of some 1e-12 of the length, which count as closed: no similar answer then.
RESTITUTIONS = st.just(0.0) | st.floats(0.05, 1.0)


@pytest.mark.parametrize("scheme", SCHEMES_OF_CASE)
@given(
    factor=st.floats(-3.0, 3.0).map(lambda x: 10.0**x), e=RESTITUTIONS, nu=st.sampled_from([0.0, 0.3, 0.45])
)
@examples(3)
def test_the_rebound_does_not_depend_on_E(scheme, factor, e, nu):
    one = run(scheme, elements=3, restitution=e, nu=nu).results
    other = run(scheme, elements=3, restitution=e, nu=nu, E=2.1e11 * factor).results
    assert other["rebound_ratio"] == pytest.approx(one["rebound_ratio"], rel=1e-6)
    assert other["contact_end"] / one["contact_end"] == pytest.approx(factor**-0.5, rel=1e-6)


@given(side=st.floats(1e-3, 10.0), rho=st.floats(100.0, 2e4), v0=st.floats(0.1, 10.0), e=RESTITUTIONS)
@examples(4)
def test_nor_on_size_density_and_speed(side, rho, v0, e):
    one = run(elements=3, restitution=e).results
    other = run(elements=3, restitution=e, side=side, rho=rho, v0=v0).results
    assert other["rebound_ratio"] == pytest.approx(one["rebound_ratio"], rel=1e-6)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_without_lateral_strain_it_is_a_bar(e):
    """nu = 0: every column of elements moves like the one-dimensional bar."""
    _, cube, results, _ = run(nu=0.0, elements=6, restitution=e)
    _, bar, expected, _ = cases.run(
        case="impacting-bar",
        elements=6,
        E=2.1e11,
        rho=7850.0,
        length=0.1,
        v0=1.0,
        restitution=e,
        h=results["h"],
        gap=results["h"],
        t_end=case.TRANSITS * case.transit(cases.values("cube-drop")),
    )
    assert results["rebound_ratio"] == pytest.approx(expected["rebound_velocity"], rel=1e-9)
    assert results["energy_lost"] == pytest.approx(expected["energy_lost"], abs=1e-9)
    assert np.abs(cube["u"] - bar["u"]).max() < 1e-10 * np.abs(bar["u"]).max()


@pytest.mark.parametrize("elements", [2, 4])
def test_energy_is_lost_at_the_nodes_alone(elements):
    """e = 0 takes the kinetic energy of half a layer of elements, e = 1 nothing."""
    assert run(elements=elements).results["energy_lost"] == pytest.approx(1 / (2 * elements), rel=1e-9)
    assert run(elements=elements, restitution=1.0).results["energy_lost"] == pytest.approx(0.0, abs=1e-12)


def test_all_coefficients_give_one_rebound_in_the_limit(monkeypatch):
    """Those of the implicit scheme do too: claims."""
    monkeypatch.setattr(case, "REFINEMENTS", (4, 6, 8))
    study = cases.made("cube-drop").study()
    assert len(study) == 5 and all(v.reproduced for v in study), study
    assert cases.made("cube-drop", courant=1.1, allow_unstable=True).study() == []


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", SCHEMES_OF_CASE)
def test_ranks_agree(scheme, as_on_one_rank):
    _, result, results, _ = run(scheme, elements=4, restitution=0.5)
    found = [results["rebound_ratio"], results["contact_end"], *result["u"][-1]]
    assert found == pytest.approx(as_on_one_rank(found), rel=1e-10)
