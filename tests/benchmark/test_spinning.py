"""The spinning disc and the ring in a cylinder: momenta change by impulses alone, contact takes energy."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import cases
from support.examples import examples

from dolfinx_impact.benchmark.cases.solids import momenta

CASES = {"disc": "spinning-disc", "ring": "ring-in-cylinder"}
SCHEMES_OF_CASE = ("cd-lagrange", "moreau-jean")
TINY = {"disc": {"around": 3, "across": 2, "t_end": 0.03}, "ring": {"around": 5, "across": 1, "t_end": 0.1}}


def run(name, scheme="cd-lagrange", **changes):
    problem, _, *found = cases.run(CASES[name], scheme, **{**TINY[name], **changes})
    return problem, *found


def failed(verdicts):
    return [v.words for v in verdicts if not v.reproduced]


@pytest.mark.parametrize("name", CASES)
def test_the_default_run(name):
    whole = {key: cases.values(CASES[name])[key] for key in TINY[name]}
    problem, results, verdicts = run(name, **whole)
    assert len(verdicts) == 5 and not failed(verdicts), failed(verdicts)
    assert 200 <= problem.dofs <= 600
    assert results["contact_phases"] >= (3 if name == "ring" else 1)
    assert results["energy_lost"] > 0.1


@pytest.mark.parametrize("scheme", ["cd-lagrange", "moreau-jean"])
@given(
    vx=st.floats(-5.0, 5.0),
    vy=st.floats(-5.0, -1.0),
    spin=st.floats(-60.0, 60.0),
    mu=st.sampled_from([0.0, 0.1, 0.5, 2.0]),
    e=st.sampled_from([0.0, 0.5, 1.0]),
)
@example(vx=0.0, vy=-4.0, spin=1.0, mu=0.0, e=0.0)  # in balance before the impact: Newton must leave that
@examples(3)
def test_momenta_of_the_disc(scheme, vx, vy, spin, mu, e):
    motion = {"vx0": vx, "vy0": vy, "spin0": spin}
    _, results, verdicts = run("disc", scheme, **motion, friction=mu, restitution=e, gap=0.002, t_end=0.015)
    assert results["impulse_y"] > 0 and not failed(verdicts), failed(verdicts)
    for each in ("linear_momentum_defect", "angular_momentum_defect", "energy_defect"):
        assert results[each] < 1e-12, each


@given(
    speed=st.floats(1.0, 6.0), angle=st.floats(-3.2, 3.2), spin=st.floats(-60.0, 60.0), e=st.floats(0.0, 1.0)
)
@examples(3)
def test_momenta_of_the_ring(speed, angle, spin, e):
    motion = {"vx0": speed * np.cos(angle), "vy0": speed * np.sin(angle), "spin0": spin}
    _, results, verdicts = run("ring", **motion, restitution=e)
    assert not failed(verdicts), failed(verdicts)
    for each in ("linear_momentum_defect", "angular_momentum_defect", "energy_defect"):
        assert results[each] < 1e-12, each


def test_what_moreau_jean_keeps_of_the_ring():
    """Its impulses do not point to the axis from where they act; but their moments are all that there is."""
    _, results, verdicts = run("ring", "moreau-jean", t_end=0.03)
    assert results["contact_phases"] > 0 and results["moment_defect"] < 1e-12
    assert 1e-10 < results["angular_momentum_defect"] < 1e-2
    assert len(failed(verdicts)) == 1 and "about the axis of the wall is constant" in failed(verdicts)[0]


def test_the_mean_of_both_ends_keeps_no_angular_momentum():
    _, results, verdicts = run("disc", "moreau-jean", force="trapezoid", t_end=0.01)
    assert results["linear_momentum_defect"] < 1e-12 and results["moment_defect"] > 1e-8
    assert [claim for claim in failed(verdicts) if "moments of the impulses" in claim]


@pytest.mark.parametrize("spin", [-60.0, 60.0])
def test_friction_drives_a_spinning_disc_forward_and_slows_its_spin(spin):
    _, results, _ = run("disc", vx0=0.0, spin0=spin)
    assert results["vx"] * spin < 0 and abs(results["spin"]) < abs(spin) and results["vy"] > 0


def test_friction_reverses_backspin():
    """A disc that lands fast with some backspin rolls forward."""
    _, results, _ = run("disc", vx0=5.0, spin0=5.0)
    assert 0 < results["vx"] < 5.0 and results["spin"] < 0


def test_without_friction_nothing_acts_along_the_plane():
    problem, results, _ = run("disc", friction=0.0)
    assert results["impulse_x"] == 0.0
    assert results["vx"] == pytest.approx(3.0, rel=1e-12)
    mass = problem.integrator.system.total_mass
    assert results["impulse_y"] == pytest.approx(mass * (results["vy"] + 5.0), rel=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES_OF_CASE)
def test_the_momenta_of_a_rigid_motion(scheme):
    """At the start they are those of a rigid body, whose inertia is known up to the mesh's corners."""
    problem = cases.made("spinning-disc", scheme)
    body, mass = problem.integrator.system, np.pi * 0.01 * 1000.0
    assert body.total_mass == pytest.approx(mass, rel=0.01)
    motion = momenta.final_motion(problem.integrator)
    assert motion == pytest.approx([3.0, -5.0, 40.0], rel=1e-12)
    arm = (0.0 - 3.0 * 0.02 / 5.0, 0.12)
    expected = 0.005 * 40.0 * mass + mass * (arm[0] * -5.0 - arm[1] * 3.0)
    if scheme == "moreau-jean":  # central differences know the velocity half a step later
        assert problem.log.first == pytest.approx([3.0 * mass, -5.0 * mass, expected], rel=0.03)
