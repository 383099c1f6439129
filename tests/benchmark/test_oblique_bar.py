"""The bar turned in space: nothing may depend on the directions of the axes."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases.solids import oblique_bar as case

SCHEMES = case.OBLIQUE_BAR.schemes
TINY = {"elements": 4, "lateral": 1, "t_end": 1.6e-4}


def values(scheme, **changes):
    return {**runner.parse(case.OBLIQUE_BAR, scheme, []), **changes}


def run(scheme, **changes):
    """A run (implicit schemes with four times the step), its history, results and verdicts."""
    if scheme == "moreau-jean":
        changes = {"courant": 2.8, **changes}
    problem = case.make(scheme, values(scheme, **changes), False)
    result = di.simulate(
        problem.integrator,
        t_end=problem.t_end,
        record=problem.record,
        observers=problem.observers(),
        every=changes.get("every", 1),
        progress=False,
    )
    return problem, result, *problem.judge(result)


@pytest.mark.parametrize(
    "scheme, changes", [("cd-lagrange", {}), ("cd-lagrange", {"cell": "tetrahedron"}), ("moreau-jean", {})]
)
def test_defaults(scheme, changes):
    problem, result, results, verdicts = run(scheme, **changes)
    assert 0 < results["difference"] < 1e-11
    assert len(verdicts) == 2 and all(v.reproduced for v in verdicts)
    assert problem.dofs == 3 * 21 * 16 and result["u"].shape[1] == problem.dofs
    # It is a whole impact with an impulse near 2 m v0, of nodes that slip and nodes that stick.
    assert results["contact_start"] == pytest.approx(4e-5, rel=0.15)
    assert results["impulse_sum"] == pytest.approx(2 * 5 * 7847 * 0.254 * 0.645e-3, rel=0.05)
    hit = result["r"] > 0
    used = np.linalg.norm(result["r_t"], axis=2)[hit] / (0.2 * result["r"][hit])
    assert used.max() == pytest.approx(1.0, abs=1e-9) and used.min() < 0.5


@examples(8)
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


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "changes", [{"friction": 0.0}, {"restitution": 0.5}, {"cell": "tetrahedron"}, {"gap": 0.0}, {"every": 5}]
)
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
    p = values("cd-lagrange", **TINY)
    turned = case.build(p, case.rotation(p))
    integrator = turned.start("cd-lagrange", 1e-7, p)
    # Displacements that tell every node: its place.
    integrator.u[:] = turned.bar.x.ravel()
    result = di.simulate(integrator, t_end=1e-7, record=turned.bar.rows(), energies=False, progress=False)
    found = turned.turned_back(result)["u"][0]
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
        p = values("cd-lagrange", **TINY, friction=friction)
        bar = case.build(p, case.rotation(p))
        integrator = bar.start("cd-lagrange", 1e-6, p)
        found.append(
            bar.turned_back(
                di.simulate(
                    integrator, t_end=p["t_end"], record=bar.bar.rows(), energies=False, progress=False
                )
            )
        )
    off = case.differences(*found)
    assert all(1e-10 < off[name] < 1e-6 for name in ("u", "v", "r"))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"angle1": math.nan}, "angle1 must be a finite number"),
        ({"E": 0.0}, r"E must be positive \[Pa\], but is 0.0"),
        ({"gap": -1e-4}, r"gap must be at least 0 \[m\], but is -0.0001"),
        ({"lateral": 0}, "lateral must be 1 to 100, but is 0"),
        ({"area": 1e12}, "a section of 1e\\+12 m2 and a length of 0.254 m cannot be meshed"),
        ({"friction": -0.1}, "friction must be at least 0, but is -0.1"),
        ({"restitution": 1.5}, r"restitution must lie in \[0, 1\], but is 1.5"),
        ({"nu": 0.5}, "nu|Poisson"),
        ({"courant": 1.1}, "is above the critical one"),
    ],
)
def test_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        case.make("cd-lagrange", values("cd-lagrange", **changes))
