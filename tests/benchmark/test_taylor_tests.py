"""Measured Taylor tests: the file of the shots, and runs of coarse cylinders beside it."""

import math
import re

import numpy as np
import pytest
from support import cases

from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases.experiments import taylor_data as data
from dolfinx_impact.benchmark.cases.experiments import taylor_tests

COUNTS = {
    "copper-wilkins": 6,
    "copper-etp-hot": 8,
    "copper-etp-cold": 6,
    "copper-ofhc-gust": 4,
    "copper-ofhc-johnson": 3,
    "copper-house": 8,
    "4340-house": 13,
    "4340-gust-cold": 3,
    "4340-gust-hot": 3,
    "4340-johnson": 3,
    "6061-house": 12,
    "6061-wilkins": 10,
}
KEYS = "v L0 D0 temperature length_ratio length_ratio_measured face_ratio face_ratio_measured".split()
SHORT = {"cells": 4, "t_end": 2e-6}


def every():
    return [shot for shots in data.shots().values() for shot in shots]


# -- the file


def test_79_shots_in_12_sets():
    assert {name: len(shots) for name, shots in data.shots().items()} == COUNTS
    assert len(every()) == sum(COUNTS.values()) == 79 and data.SETS.keys() == COUNTS.keys()
    for shots in data.shots().values():
        assert len({(shot.metal, shot.heat, shot.source, shot.D0) for shot in shots}) == 1
        assert [shot.v for shot in shots] == sorted(shot.v for shot in shots)


def test_values_are_complete_and_in_si_units():
    for shot in every():
        assert 5.9e-3 < shot.D0 < 7.7e-3 and 1.06 * shot.D0 < shot.L0 <= 10.01 * shot.D0
        assert 89 <= shot.v <= 373 and (shot.temperature == 295 or 703 <= shot.temperature <= 733)
        assert 0.4 < shot.length_ratio < 0.96 and shot.metal in data.METALS
        assert shot.source and shot.heat and shot.length_read == "table"
        assert (shot.face_ratio is None) == (shot.face_read == "")
        assert shot.face_ratio is None or 1.2 < shot.face_ratio < 2.3
    assert sum(shot.face_ratio is not None for shot in every()) == 40
    read = {name: {shot.face_read for shot in shots} for name, shots in data.shots().items()}
    assert [name for name, how in read.items() if how == {"table"}] == [
        "copper-house",
        "4340-house",
        "6061-house",
    ]
    assert sum(shot.face_read == "digitised" for shot in every()) == 7


@pytest.mark.parametrize(
    ("name", "v", "L0", "length", "face"),
    [
        ("copper-wilkins", 210, 23.47e-3, 0.643, 16.6 / 7.62),
        ("copper-ofhc-johnson", 190, 25.4e-3, 0.638, 1.78),
        ("4340-house", 215, 75.95e-3, 65.7 / 75.95, 10.6 / 7.595),
        ("4340-house", 170, 25.291e-3, 23.4 / 25.291, 9.2 / 7.595),
        ("6061-wilkins", 367, 46.94e-3, 0.722, None),
        ("copper-etp-hot", 206, 30e-3, 0.519, None),
    ],
)
def test_some_shots(name, v, L0, length, face):
    (shot,) = (each for each in data.shots()[name] if each.v == v and math.isclose(each.L0, L0))
    assert shot.length_ratio == pytest.approx(length, rel=1e-12)
    assert shot.face_ratio == (None if face is None else pytest.approx(face, rel=1e-12))


def test_what_is_claimed():
    """All but an outlier of a claimed set; fast aluminium within more, sets of other heats not at all."""
    bounds = {name: {data.allowed(shot) for shot in shots} for name, shots in data.shots().items()}
    assert bounds["copper-etp-cold"] == {0.06, None} and bounds["6061-wilkins"] == {0.04, 0.06}
    assert [shot.v for shot in data.shots()["copper-etp-cold"] if data.allowed(shot) is None] == [148]
    assert [s.v for s in data.shots()["6061-wilkins"] if data.allowed(s) == 0.06] == [367, 373]
    assert {name for name, found in bounds.items() if found == {None}} == data.REPORTED.keys()
    others = bounds.keys() - data.REPORTED.keys() - {"copper-etp-cold", "6061-wilkins"}
    assert all(bounds[name] == {data.SETS[name]} for name in others)


def test_three_shots_are_the_first_the_middle_and_the_last():
    speeds = {name: [shot.v for shot in data.picked(name, 3)] for name in data.SETS}
    assert speeds["copper-wilkins"] == [89, 183, 210] and speeds["copper-etp-hot"] == [115, 190, 210]
    assert speeds["6061-wilkins"] == [132, 275, 373] and speeds["4340-gust-hot"] == [183, 237, 312]
    assert [shot.v for shot in data.picked("copper-wilkins", 1)] == [183]
    assert [shot.v for shot in data.picked("copper-wilkins", 2)] == [89, 210]
    for count in (0, 6, 99):
        assert data.picked("copper-wilkins", count) == list(data.shots()["copper-wilkins"])


def test_laws_have_the_constants_and_their_sources():
    hot = data.METALS["copper"].law().hardening
    assert (hot.A, hot.B, hot.n, hot.C, hot.m) == (90e6, 292e6, 0.31, 0.025, 1.09)
    assert hot.melting_temperature == 1356 and hot.heat_capacity == 8960 * 383 and hot.heat_fraction == 0.9
    assert data.METALS["copper"].law(0.0).hardening.C == 0.0
    assert all(len(metal.source) > 40 for metal in data.METALS.values())


# -- runs


@pytest.mark.mpi
def test_a_run_of_a_set(as_on_one_rank):
    """Every shot has its numbers; the history is that of the fastest."""
    problem, result, found, verdicts = cases.run("taylor-tests", set="6061-wilkins", shots=3, **SHORT)
    shots = found["shots"]
    assert [shot["v"] for shot in shots] == [132, 275, 373] and all(set(KEYS) <= set(shot) for shot in shots)
    assert verdicts[0].reproduced and found["balance_residual"] < 1e-13
    assert problem.integrator.system.total_mass == pytest.approx(2700 * np.pi * 3.81e-3**2 * 23.47e-3)
    speed = -result["v_t"][0, 1::2]
    assert speed.max() == speed[-1] == 373
    for shot in shots:  # as long as the end has not heard of the wall
        assert shot["length_ratio"] == pytest.approx(1 - shot["v"] * 1.9e-6 / shot["L0"], rel=3e-3)
        assert 1.0 < shot["face_ratio"] < 1.2 and shot["temperature"] == 295
    values = [shot[name] for shot in shots for name in ("length_ratio", "face_ratio")]
    assert values == pytest.approx(as_on_one_rank(values), rel=1e-10)


def test_a_coarse_cylinder_comes_to_rest():
    """Three shots: every one within its bound, and settled; halves of the cells move it by 2 %."""
    _, result, found, verdicts = cases.run("taylor-tests", shots=1, cells=4)
    assert [v.reproduced for v in verdicts] == [True] * 3, verdicts
    (shot,) = found["shots"]
    assert shot["v"] == 183 and shot["length_ratio"] == pytest.approx(0.70, rel=0.02)
    assert shot["length_change"] < taylor_tests.SETTLED
    assert result["t"][-1] == pytest.approx(3.5e-3 * 23.47e-3, rel=1e-2)
    hot = cases.made("taylor-tests", set="copper-etp-hot", shots=1, cells=4)
    assert hot.t_end == pytest.approx(5e-3 * 30e-3)
    assert hot.integrator.system.law.hardening.start_temperature == 733


def test_a_run_cut_short_has_not_settled():
    verdicts = cases.run("taylor-tests", shots=1, cells=4, t_end=2e-5).verdicts
    assert [v.reproduced for v in verdicts] == [True, False, False]
    assert verdicts[1].measured > 0.01 and verdicts[2].measured > 0.8


def test_controls_are_parameters():
    """C = 0 makes copper softer, a cold start makes hot copper harder."""
    lengths = {
        key: cases.run("taylor-tests", shots=1, cells=4, t_end=2e-5, **more).results["shots"][0]
        for key, more in {
            "rate": {},
            "no rate": {"C": 0.0},
            "hot": {"set": "copper-etp-hot"},
            "cold": {"set": "copper-etp-hot", "temperature": 295.0},
        }.items()
    }
    assert lengths["no rate"]["face_ratio"] > 1.02 * lengths["rate"]["face_ratio"]
    assert lengths["hot"]["face_ratio"] > 1.05 * lengths["cold"]["face_ratio"]
    assert (lengths["hot"]["temperature"], lengths["cold"]["temperature"]) == (733, 295)


def test_a_set_is_not_kept_in_a_checkpoint(tmp_path):
    keep = runner.Keep(tmp_path / "run", 20)
    with pytest.raises(ValueError, match="3 shots are as many runs, and a checkpoint holds one: .* shots=1"):
        runner.run("taylor-tests", "cd-lagrange", ["shots=3", "cells=4"], tmp_path, keep=keep)


def test_one_shot_goes_on(tmp_path):
    settings = ["shots=1", "cells=4"]
    kept = runner.Keep(tmp_path / "run", 20)
    runner.run("taylor-tests", "cd-lagrange", [*settings, "t_end=1e-5"], tmp_path / "a", keep=kept)
    again = [*settings, "t_end=1.5e-5"]
    late = runner.Keep(restart=tmp_path / "run")
    on = runner.run("taylor-tests", "cd-lagrange", again, tmp_path / "b", keep=late)
    whole = runner.run("taylor-tests", "cd-lagrange", again, tmp_path / "c")
    assert on["results"]["shots"] == whole["results"]["shots"]
    with pytest.raises(ValueError, match="belongs to a run with temperature = None, not 400.0"):
        hotter = [*again, "temperature=400"]
        runner.run("taylor-tests", "cd-lagrange", hotter, tmp_path / "d", keep=late)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cells": 5}, "cells must be even, half of them beside the axis, but is 5"),
        ({"set": "armco"}, "set must be one of copper-wilkins, "),
        ({"shots": -1}, "shots must be at least 0, but is -1"),
        ({"temperature": 1356.0}, "start_temperature must be below the melting temperature 1356 K"),
    ],
)
def test_what_is_refused(changes, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        cases.made("taylor-tests", **changes)
