"""Noh-Bathe in the benchmark: its own critical step, and what the report says of its properties."""

import functools
import json

import numpy as np
import pytest
from support import cases

from dolfinx_impact import NohBathe
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.__main__ import main
from dolfinx_impact.benchmark.report import properties
from dolfinx_impact.integrators import find_scheme

RATIO = 1 / np.sqrt((3 * 0.54 - 1) * (1 - 0.54))


@pytest.mark.parametrize("case, courant", [("impacting-bar", 0.9), ("two-bars", 0.9), ("cube-drop", 0.9)])
def test_courant_is_a_part_of_its_own_critical_step(case, courant):
    other, problem = cases.made(case, courant=0.5), cases.made(case, "noh-bathe")
    assert problem.p["courant"] == pytest.approx(courant)
    assert problem.integrator.dt == pytest.approx(courant * RATIO * other.integrator.dt / 0.5)
    half = cases.made(case, "noh-bathe", courant=0.5).integrator.dt
    assert half == pytest.approx(0.5 / 0.9 * problem.integrator.dt)


@pytest.mark.parametrize(
    "case, h",
    [("bouncing-ball", 1e-2), ("rotating-spring", 0.1), ("discrete-arch", 0.3), ("signorini-impact", 2.5e-3)],
)
def test_cases_that_give_a_step_keep_it(case, h):
    assert cases.made(case, "noh-bathe").integrator.dt == h


def test_the_list_says_so(capsys):
    assert main(["list", "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)["schemes"]["noh-bathe"]
    assert entry["parameters"]["courant"]["default"] == 0.9
    assert "Noh" in entry["paper"] and "3.745" in entry["limit"]
    assert find_scheme("noh-bathe").make is NohBathe


def test_critical_step_of_the_results(tmp_path):
    runner.run("impacting-bar", "noh-bathe", [], tmp_path)
    results = json.loads((tmp_path / "summary.json").read_text())["results"]
    assert results["critical_time_step"] == pytest.approx(
        RATIO * 0.254 / 50 / np.sqrt(2.1e11 / 7847), rel=1e-9
    )
    assert results["h"] == pytest.approx(0.9 * results["critical_time_step"])
    assert results["contact_phases"] == 1 and results["energy_lost"] == pytest.approx(0.028, abs=3e-3)
    assert results["balance_residual"] < 1e-14


@pytest.mark.parametrize(
    "measure, has",
    [
        (functools.partial(properties.smooth_order, steps=(2e-2, 1e-2, 5e-3)), True),
        (functools.partial(properties.damped_order, steps=(8e-3, 4e-3, 2e-3)), True),
        (properties.oscillation, True),
        (properties.accumulation, True),
        (properties.impact_energy, False),
    ],
    ids=["smooth_order", "damped_order", "oscillation", "accumulation", "impact_energy"],
)
def test_properties(measure, has, runs):
    """Rebounds with the velocity of the beginning of a substep lose a little energy of the ball."""
    assert measure(runs, "noh-bathe").reproduced is has
