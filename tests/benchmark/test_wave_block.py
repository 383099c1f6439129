"""The standing shear wave: an exact mode of the block, and the orders of its elements and schemes."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import cases
from support.examples import examples

from dolfinx_impact.benchmark.cases.solids import wave_block as case

SCHEMES_OF_CASE = ("cd-lagrange", "moreau-jean")


parameters = functools.partial(cases.values, "wave-block")
run = functools.partial(cases.run, "wave-block")


@given(
    side=st.floats(1e-3, 10.0),
    nu=st.floats(-0.9, 0.49),
    rho=st.floats(100.0, 2e4),
    place=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
)
def test_the_mode_is_a_free_vibration_of_the_block(side, nu, rho, place):
    p = parameters(side=side, nu=nu, rho=rho)
    k, mu = math.pi / side, p["E"] / (2 * (1 + nu))
    lame = 2 * mu * nu / (1 - 2 * nu)

    def stress(x):
        moved = [np.array(x, dtype=complex) + 1e-30j * np.eye(3)[j] for j in range(3)]
        gradient = np.array([np.imag(case.mode(y, k, np)) for y in moved]).T / 1e-30
        strain = (gradient + gradient.T) / 2
        return 2 * mu * strain + lame * np.trace(strain) * np.eye(3)

    x = np.array([*place, 0.3]) * side
    faces = [(i, end) for i in range(2) for end in (0.0, side)] + [(2, 0.3 * side)]
    for i, end in faces:
        on_face = x.copy()
        on_face[i] = end
        assert np.abs(stress(on_face)[i]).max() < 1e-9 * mu * k
    step = 1e-3 * side
    around = sum(np.array(case.mode(x + s * step * e, k, np)) for e in np.eye(3) for s in (-1, 1))
    laplacian = (around - 6 * np.array(case.mode(x, k, np))) / step**2
    expected = -rho * case.frequency(p) ** 2 * np.array(case.mode(x, k, np))
    assert mu * laplacian == pytest.approx(expected, abs=1e-5 * mu * k**2)


@pytest.mark.parametrize(
    "scheme, degree, elements, courant",
    [("moreau-jean", 1, 8, 0.5), ("cd-lagrange", 2, 12, 0.99), ("cd-lagrange", 3, 4, 0.1)],
)
def test_orders_of_the_elements(scheme, degree, elements, courant):
    """With any explicit step; on the default meshes they are claims."""
    _, result, results, verdicts = run(scheme, degree=degree, elements=elements, courant=courant)
    assert len(verdicts) == 4 and all(v.reproduced for v in verdicts), verdicts
    assert results["order_space"] == pytest.approx(degree + 1, abs=0.2)
    assert results["order_time"] == pytest.approx(2.0, abs=0.02)
    assert np.abs(result["u"]).max() <= 1e-5 * (1 + 10 * results["error_energy"])


def test_consistent_mass_and_long_steps():
    verdicts = run("moreau-jean", degree=2, elements=12, mass="consistent", courant=1.5).verdicts
    assert all(v.reproduced for v in verdicts), verdicts


@given(steps=st.integers(1, 50), part=st.floats(0.01, 0.9))
@examples(10)
def test_the_oscillator_has_the_frequencies_of_the_schemes(steps, part):
    w, p = case.frequency(parameters()), parameters()
    h = 2 * part / w
    assert case.oscillation("cd-lagrange", steps, h, p) == pytest.approx(
        math.cos(2 * math.asin(part) * steps), abs=1e-11
    )
    assert case.oscillation("moreau-jean", steps, h, parameters("moreau-jean")) == pytest.approx(
        math.cos(2 * math.atan(part) * steps), abs=1e-11
    )


@pytest.mark.parametrize("degree", [1, 2])
def test_errors_in_space_are_those_of_small_steps(degree):
    """Against the true solution, with steps so small that their error no longer counts."""
    p = parameters(degree=degree, elements=8)
    t_end = 2 * math.pi / case.frequency(p)
    usual = case.errors(case.run("cd-lagrange", p, t_end), "cd-lagrange", p)
    small = case.run("cd-lagrange", p, t_end, 32)
    assert case.norms(small.system, small.u, p["amplitude"], p) == pytest.approx(usual, rel=0.02)


def test_step_and_mesh_together_give_the_order_of_the_step():
    p, total = parameters(degree=3), []
    t_end = case.PERIODS_TIME * 2 * math.pi / case.frequency(p)
    exact = p["amplitude"] * math.cos(case.frequency(p) * t_end)
    for n in (6, 12):
        end = case.run("cd-lagrange", {**p, "elements": n}, t_end)
        total.append(case.norms(end.system, end.u, exact, p)[0])
    assert math.log2(total[0] / total[1]) == pytest.approx(2.0, abs=0.1)


def test_without_lateral_strain_space_is_the_plane():
    """nu = 0: every layer of hexahedra moves like the quadrilaterals."""
    plane, space = (parameters(nu=0.0, degree=2, elements=4, dimension=d, courant=0.3) for d in (2, 3))
    t_end = case.PERIODS_TIME * 2 * math.pi / case.frequency(plane)
    h = case.whole_step(t_end, 0.3 * case.make_block(space).critical_time_step())
    found = []
    for p in (plane, space):
        integrator = case.WaveBlock().make("cd-lagrange", {**p, "h": h}).integrator
        for _ in range(round(t_end / h)):
            integrator.step()
        found.append(case.errors(integrator, "cd-lagrange", p))
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_hexahedra():
    _, _, results, verdicts = run(degree=1, dimension=3, elements=5)
    assert all(v.reproduced for v in verdicts), verdicts


def test_what_has_no_order_says_so():
    assert not all(v.reproduced for v in run(degree=1, elements=2).verdicts)
    first = run("moreau-jean", degree=1, elements=4, theta=1.0, courant=0.05).results
    assert first["order_time"] == pytest.approx(1.0, abs=0.1)
    _, _, results, verdicts = run(degree=1, courant=1.01, t_end=1e-5, allow_unstable=True)
    assert "order_space" not in results and len(verdicts) == 1


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", SCHEMES_OF_CASE)
def test_ranks_agree(scheme, as_on_one_rank):
    _, result, results, _ = run(scheme, degree=2, elements=2)
    orders = ("order_space", "order_energy", "order_time", "error_displacement")
    found = [*(results[name] for name in orders), *(1e5 * result["u"][-1])]
    assert found == pytest.approx(as_on_one_rank(found), rel=1e-7, abs=1e-10)
