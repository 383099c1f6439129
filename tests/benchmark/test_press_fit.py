"""The press fit: its results, what it refuses, and its test of depths beside one by hand."""

import numpy as np
import pytest
from support import cases

from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases.lasting import press_models

FIT = "press-fit"
KEYS = {"work", "stored_energy", "depth", "newton_mean", "newton_max", "halved"}
SMALL = {"columns": 2, "rows": 4, "t_end": 8e-3}
#: Work and depth on one rank.
WALL, SLOT = (28.56432946147965, 0.0), (68.90480529938952, 0.0)


def test_parameters_and_schemes_are_those_of_the_contract():
    listed = runner.catalogue()["cases"][FIT]
    defaults = {key: option["default"] for key, option in listed["parameters"].items()}
    expected = {"interference": 1e-4, "friction": 0.1, "E": 2.1e9, "nu": 0.3, "rho": 7850, "wall": "rigid"}
    expected |= {"courant": 20, "steps": 60, "columns": 4, "rows": 12, "t_end": 20e-3}
    expected |= {"position": True, "theta": 1.0, "rho_inf": 0.0, "mass": "lumped"}
    assert {key: defaults[key] for key in expected} == expected
    assert {"moreau-jean", "generalized-alpha", "static", "cd-lagrange"} == set(listed["schemes"])
    assert cases.values(FIT)["courant"] == 0.2 and cases.values(FIT, "static")["courant"] == 20.0


@pytest.mark.parametrize("scheme, settings", [("moreau-jean", {"courant": 100.0}), ("static", {"steps": 15})])
def test_work_and_energy_are_those_of_refined_steps(scheme, settings):
    """And the iterations are told; nothing is in the wall."""
    _, result, found, verdicts = cases.run(FIT, scheme, **settings)
    assert KEYS <= found.keys() and result["t"][-1] == pytest.approx(20e-3)
    assert len(verdicts) == 4 and all(verdict.reproduced for verdict in verdicts)
    assert 1 < found["newton_mean"] <= found["newton_max"] < 10 and found["halved"] == 0


@pytest.mark.mpi
@pytest.mark.parametrize(
    "settings, expected", [({}, WALL), ({"wall": "slot", "courant": 400.0, "t_end": 15e-3}, SLOT)]
)
def test_ranks_agree(settings, expected):
    """With the work and the depth that one rank finds."""
    found = cases.run(FIT, "moreau-jean", **{**SMALL, "courant": 100.0, **settings}).results
    assert (found["work"], found["depth"]) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_an_explicit_run_has_no_iterations():
    found = cases.run(FIT, "cd-lagrange", **{**SMALL, "courant": 0.9}).results
    assert KEYS <= found.keys() and found["newton_mean"] is found["newton_max"] is found["halved"] is None
    assert found["depth"] > 1e-6


def test_velocity_level_loses_interference():
    found = cases.run(FIT, "moreau-jean", position=False, **{**SMALL, "courant": 100.0}).results
    assert found["depth"] > 1e-5 and found["newton_mean"] is None


def test_steps_end_at_the_end_time():
    """Whole numbers of steps, as near to the Courant number as they are; explicit ones below it."""
    for scheme, courant in (("moreau-jean", 90.0), ("cd-lagrange", 0.9)):
        made = cases.made(FIT, scheme, **{**SMALL, "courant": courant})
        steps = made.p["t_end"] / made.p["h"]
        assert round(steps) == pytest.approx(steps, rel=1e-12)
    assert made.p["h"] <= 0.9 * made.critical
    assert cases.made(FIT, "static", **SMALL).p["h"] == SMALL["t_end"] / 60


def test_no_verdicts_at_other_parameters():
    assert len(cases.run(FIT, "static", **SMALL).verdicts) == 1


# -- depths


def shifted(body, part, by):
    """Displacements of a part that moves as a whole."""
    return body.rigid_velocity(by, cells=part)


@pytest.mark.mpi
def test_depth_of_parts_in_each_other():
    """The peg moved down and aside: its corner in a jaw, or the corner of a jaw in it."""
    body = press_models.peg_and_slot(cases.values(FIT, "static"))
    depth, mm = press_models.InForeignCells(body), 1e-3
    assert depth(np.zeros(body.size)) == 0.0
    # The tapered side from (-10.2, -0.51) to (-10.6, 1.99) mm, the jaw's corner at (-9.9, -0.01) mm.
    expected = (0.3 * 2.5 + 0.5 * 0.4) / np.hypot(0.4, 2.5) * mm
    assert depth(shifted(body, "peg", (-1.0 * mm, -0.51 * mm))) == pytest.approx(expected, rel=1e-9)
    assert depth(shifted(body, "peg", (0.0, -10 * mm))) > 0.05 * mm
    # The end of the right jaw, 20.1 mm wide, 2 mm above the lower end of the peg.
    inside = depth(shifted(body, "right", (-5 * mm, 2.01 * mm)))
    assert inside == pytest.approx(2.0 * mm, rel=0.01)


@pytest.mark.mpi
def test_depth_in_the_wall():
    p = cases.values(FIT, "static")
    body = press_models.half_peg(p)
    wall = press_models.Opening(press_models.HALF - p["interference"])
    depth = press_models.InWall(body, wall)
    u = np.zeros(body.size)
    assert depth(u) == 0.0
    u[0::2], u[1::2] = 2e-6, -10e-3
    assert depth(u) == pytest.approx(1e-4 + 2e-6, rel=1e-9)


def test_the_wall_is_a_distance_with_its_gradient():
    wall, rng = press_models.Opening(9.9e-3), np.random.default_rng(0)
    x = np.column_stack([rng.uniform(8e-3, 11e-3, 50), rng.uniform(-5e-3, 20e-3, 50)])
    y = x[:, 1, None] + np.linspace(-2e-3, 2e-3, 40001)
    nearest = np.hypot(wall.width(y) - x[:, 0, None], y - x[:, 1, None]).min(axis=1)
    sign = np.where(x[:, 0] < wall.width(x[:, 1]), 1.0, -1.0)
    assert wall.gap(x) == pytest.approx(sign * nearest, abs=1e-9)
    steps = 1e-8 * np.eye(2)
    slopes = np.column_stack([(wall.gap(x + step) - wall.gap(x - step)) / 2e-8 for step in steps])
    assert wall.normal(x) == pytest.approx(slopes, abs=1e-5)
