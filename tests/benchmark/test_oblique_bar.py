"""The bar turned in space: nothing may depend on the directions of the axes."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import cases
from support.examples import examples

from dolfinx_impact.benchmark.cases.solids import oblique_bar as case

SCHEMES = case.ObliqueBar.schemes
TINY = {"elements": 4, "lateral": 1, "t_end": 1.6e-4}


values = functools.partial(cases.values, "oblique-bar")


def run(scheme, **changes):
    """A run (implicit schemes with four times the step), its history, results and verdicts."""
    if scheme == "moreau-jean":
        changes = {"courant": 2.8, **changes}
    return cases.run("oblique-bar", scheme, **changes)


@pytest.mark.parametrize(
    "scheme, changes, nodes",
    [
        ("cd-lagrange", {}, 21 * 16),
        ("cd-lagrange", {"cell": "tetrahedron"}, 21 * 16),
        ("moreau-jean", {"elements": 10, "lateral": 2}, 11 * 9),
    ],
)
def test_whole_impact(scheme, changes, nodes):
    problem, result, results, verdicts = run(scheme, **changes)
    assert 0 < results["difference"] < 1e-11
    assert len(verdicts) == 2 and all(v.reproduced for v in verdicts)
    assert problem.dofs == 3 * nodes and result["u"].shape[1] == problem.dofs
    # It is a whole impact with an impulse near 2 m v0, of nodes that slip and nodes that stick.
    assert results["contact_start"] == pytest.approx(4e-5, rel=0.15)
    assert results["impulse_sum"] == pytest.approx(2 * 5 * 7847 * 0.254 * 0.645e-3, rel=0.05)
    hit = result["r"] > 0
    used = np.linalg.norm(result["r_t"], axis=2)[hit] / (0.2 * result["r"][hit])
    assert used.max() == pytest.approx(1.0, abs=1e-9) and used.min() < 0.5


@examples(1)
@example(angle1=0.0, angle2=0.0, scheme="cd-lagrange")
@example(angle1=90.0, angle2=0.0, scheme="moreau-jean")
@example(angle1=180.0, angle2=-90.0, scheme="cd-lagrange")
@given(angle1=st.floats(-180.0, 180.0), angle2=st.floats(-180.0, 180.0), scheme=st.sampled_from(SCHEMES))
def test_any_rotation(angle1, angle2, scheme):
    _, result, results, verdicts = run(scheme, angle1=angle1, angle2=angle2, **TINY)
    assert np.count_nonzero(result["r"]) > 0
    assert results["difference"] <= 1e-10 and all(v.reproduced for v in verdicts)
    if angle1 == angle2 == 0:
        assert results["difference"] == 0


OTHERS = [{"restitution": 0.5}, {"friction": 0.0}, {"cell": "tetrahedron"}, {"gap": 0.0}, {"every": 5}]


@pytest.mark.parametrize("scheme, changes", [*zip(itertools.cycle(SCHEMES), OTHERS)])
def test_other_bars(scheme, changes):
    _, _, results, verdicts = run(scheme, **{**TINY, **changes})
    assert results["impulse_sum"] > 0 and all(v.reproduced for v in verdicts)


def test_rotation_turns_about_z_and_then_about_y():
    R = case.rotation({"angle1": 30.0, "angle2": 50.0})
    assert R @ R.T == pytest.approx(np.eye(3), abs=1e-15) and np.linalg.det(R) == pytest.approx(1.0)
    c, s = math.cos(math.radians(50)), math.sin(math.radians(50))
    assert case.rotation({"angle1": 90.0, "angle2": 0.0}) @ [1, 0, 0] == pytest.approx([0, 1, 0], abs=1e-15)
    assert R @ [0, 0, 1] == pytest.approx([s, 0, c], abs=1e-15)


def test_turned_back_in_the_order_before():
    """Columns are sorted by turned coordinates; nodes are found again, whatever the turn."""
    problem = cases.made("oblique-bar", **TINY, h=1e-7)
    p, setup = problem.p, problem.setup
    # Displacements that tell every node: its place.
    problem.integrator.u[:] = setup.body.x.ravel()
    result = problem.simulate([], t_end=1e-7, energies=False)
    found = setup.turned_back(result)["u"][0]
    assert found.shape == (20, 3)
    side = math.sqrt(p["area"])
    grid = [
        (x, y, z)
        for z in (-side / 2, side / 2)
        for y in (-side / 2, side / 2)
        for x in np.linspace(0, p["length"], 5)
    ]
    assert found == pytest.approx(np.array(grid), abs=1e-12)


def test_another_solution_is_noticed():
    """The difference is one of solutions: a bar with more friction differs."""
    found = []
    for friction in (0.2, 0.2 + 1e-8):
        problem = cases.made("oblique-bar", **TINY, friction=friction, h=1e-6)
        found.append(problem.setup.turned_back(problem.simulate([], energies=False)))
    off = case.differences(*found)
    assert all(1e-10 < off[name] < 1e-6 for name in ("u", "v", "r"))
