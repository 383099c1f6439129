"""The beam that falls on a pin: its mesh, its runs with HATI, its measurement of speed."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from mpi4py import MPI
from support import cases

from dolfinx_impact import HATI
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases.pin_drop import case
from dolfinx_impact.benchmark.speed import hati
from dolfinx_impact.benchmark.speed.main import TABLE

SMALL = {"along": 100, "across": 4, "layers": 3, "tip": 5e-3, "t_end": 2e-4}


def parameters(scheme="hati", **changes):
    return cases.values("pin-drop", scheme, **{**SMALL, **changes})


def run(scheme, folder, **changes):
    settings = [f"{name}={value}" for name, value in {**SMALL, **changes}.items()]
    return runner.run("pin-drop", scheme, settings, folder)


@pytest.mark.mpi
def test_mesh():
    """Layers that grow by one factor fill the pin; masses are those of boxes; the interface is its top."""
    p = parameters()
    heights = case.layers(p)
    steps = np.diff(heights)
    assert (
        heights[0] == pytest.approx(-p["pin"]) and heights[-1] == 0.0 and steps[0] == pytest.approx(p["tip"])
    )
    assert steps[1:] / steps[:-1] == pytest.approx(steps[1] / steps[0], rel=1e-9)
    pin, beam = case.bodies(p, divided=True)
    (whole,) = case.bodies(p, divided=False)
    assert pin.total_mass == pytest.approx(p["rho"] * p["width"] * p["side"] / 2 * p["pin"], rel=1e-12)
    assert beam.total_mass == pytest.approx(p["rho"] * p["length"] * p["side"] ** 2, rel=1e-12)
    assert whole.total_mass == pytest.approx(pin.total_mass + beam.total_mass, rel=1e-12)
    s = HATI(pin, beam, 0.9 * pin.critical_time_step(), case.floor(pin, p), ratio=3)
    assert s.interface.total == 27 and s.contact.total == 9
    assert pin.critical_time_step() < 0.5 * beam.critical_time_step()
    assert case.rows(s, p).sorted_labels(MPI.COMM_WORLD) == list(case.LABELS)


@pytest.mark.mpi
def test_same_on_any_number_of_ranks():
    """Numbers of one rank, to round-off."""
    found = cases.run("pin-drop", "hati", **{**SMALL, "ratio": 5, "t_end": 4e-5}).results
    assert found["impulse_sum"] == pytest.approx(6.938401442401386, rel=1e-11)
    assert found["interface_energy"] == pytest.approx(-0.06730870205111605, rel=1e-10)
    assert found["difference"] == pytest.approx(0.08421600059154112, rel=1e-10)
    assert found["velocity_jump"] < 1e-14 and found["balance_residual"] < 1e-14


def test_run(shared_path):
    """All verdicts hold; the numbers of the explicit run come with them."""
    summary = run("hati", shared_path, ratio=10)
    assert all(verdict["reproduced"] for verdict in summary["verdicts"]) and len(summary["verdicts"]) == 4
    assert 0 < summary["results"]["difference"] < 0.02
    equal = run("hati", shared_path, ratio=1, t_end=2e-5)
    assert any("-(dt/4)" in verdict["claim"] and verdict["reproduced"] for verdict in equal["verdicts"])
    explicit = run("cd-lagrange", shared_path)
    assert explicit["results"]["difference"] is None
    assert summary["results"]["impulse_sum"] == pytest.approx(explicit["results"]["impulse_sum"], rel=0.01)


def test_speed(capsys):
    """What is measured, on a small body for a short time."""
    (row,) = (each for each in TABLE if each.name == "hati-solid")
    body, finer = {**SMALL, "t_end": 6e-5}, {"along": 200, "layers": 4}
    build = partial(hati.beams, beam=body, finer=finer, ratios=(5, 10))
    found = replace(row, build=build).measure([])["hati-solid"]
    assert {
        "faster at equal error",
        "solve, ms",
        "solve, explicit steps",
        "explicit dofs",
        "explicit, us a step",
        "dofs",
    } < found.keys()
    for m in (5, 10):
        assert 0 < found[f"faster with set-up, m = {m}"] < found[f"faster, m = {m}"]
        assert 0 < found[f"error, m = {m}"] < 0.5 and found[f"interface energy, m = {m}"] != 0
    assert found["interface dofs"] == 27.0 and 0 < found["error, explicit"] < 0.5
    assert found["difference, m = 5"] < found["difference, m = 10"] < 0.5
    told = capsys.readouterr().out
    assert "the reference has " in told and "with its set-up" in told
