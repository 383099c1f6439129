"""The rows of measured Taylor tests: each turns by numbers, and by another metal; all hold."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from support import cases
from support.drawn import drawn

from dolfinx_impact.benchmark.cases.experiments import taylor_claims as rows
from dolfinx_impact.benchmark.cases.experiments import taylor_data as data
from dolfinx_impact.benchmark.cases.experiments.taylor_figures import FIGURES

CLAIMS = {claim.id: claim for claim in rows.CLAIMS}
DECIDED = [id for id in CLAIMS if not id.startswith("taylor-reported-")]
LENGTHS = [id for id in DECIDED if "-length-" in id or "-fast-" in id]


class Invented:
    """Runs whose lengths and faces are as measured, times a factor each."""

    def __init__(self, length=1.0, face=1.0, rough=0.93, change=0.0):
        self.length, self.face, self.rough, self.change = length, face, rough, change

    def __call__(self, case, scheme, *, set, shots, friction=0.0, **settings):
        face = self.face * (self.rough if friction else 1.0)
        found = [
            {
                **{name: getattr(shot, name) for name in ("v", "L0", "D0", "temperature")},
                "length_ratio": self.length * shot.length_ratio,
                "length_ratio_measured": shot.length_ratio,
                "face_ratio": face * (shot.face_ratio or 1.5),
                "face_ratio_measured": shot.face_ratio,
                "length_change": self.change,
            }
            for shot in data.picked(set, shots)
        ]
        results, parameters = {"shots": found}, {"set": set, "shots": shots}
        return SimpleNamespace(results=results, summary={"parameters": parameters})


def test_rows_are_those_of_the_table():
    assert all(claim.kind == "validated" and claim.case == "taylor-tests" for claim in rows.CLAIMS)
    claimed = [name for name in data.SETS if name not in data.REPORTED]
    assert [id.removeprefix("taylor-length-").removesuffix("-cd-lagrange") for id in LENGTHS[:-1]] == claimed
    assert len(CLAIMS) == len(rows.CLAIMS) == 8 + 1 + 1 + 3 + 2 + 4
    faces = [id for id in CLAIMS if "-face-" in id]
    assert [id.split("-", 2)[2] for id in faces] == [
        f"{name}-cd-lagrange" for name in ("copper-wilkins", "4340-house", "6061-house")
    ]


@pytest.mark.parametrize("id", LENGTHS)
def test_lengths_turn_at_their_bounds(id):
    claim = CLAIMS[id]
    bound = claim.compare.bound
    for sign in (1, -1):
        assert claim.decide(Invented(1 + 0.99 * sign * bound)).reproduced is True
        beyond = claim.decide(Invented(1 + 1.01 * sign * bound))
        assert beyond.reproduced is False and beyond.measured == pytest.approx(1.01 * sign * bound)
    json.dumps(vars(beyond), allow_nan=False)
    moving = claim.decide(Invented(change=2e-3))
    assert moving.reproduced is False and "still changes by 0.20%" in moving.words


def test_the_mean_turns():
    claim = CLAIMS["taylor-mean-copper-etp-hot-cd-lagrange"]
    assert [claim.decide(Invented(f)).reproduced for f in (0.976, 1.024, 1.026)] == [True, True, False]


@pytest.mark.parametrize("name", ["copper-wilkins", "4340-house", "6061-house"])
def test_faces_turn_at_both_ends(name):
    """Measured 4 % below the narrow face, 6 % above the wide one."""
    claim = CLAIMS[f"taylor-face-{name}-cd-lagrange"]
    factors = {1 / 1.061: False, 1 / 1.059: True, 1.0: True, 1.05: True}
    factors |= {1 / (0.93 * 0.961): True, 1 / (0.93 * 0.959): False}
    for factor, holds in factors.items():
        assert claim.decide(Invented(face=factor)).reproduced is holds, factor
    assert rows.outside(1.0, 1.1, 0.9) == rows.outside(1.0, 0.9, 1.1) == 0.0


@pytest.mark.parametrize(("id", "bound"), [("rate-copper-wilkins", 0.06), ("cold-copper-etp-hot", 0.15)])
def test_negative_controls_turn(id, bound):
    claim = CLAIMS[f"taylor-control-{id}-cd-lagrange"]
    assert claim.decide(Invented(1 - bound - 1e-3)).reproduced is True
    assert claim.decide(Invented(1 + bound + 1e-3)).reproduced is True
    assert claim.decide(Invented()).reproduced is claim.decide(Invented(1 - bound + 1e-3)).reproduced is False


def test_a_control_misses_with_every_shot():
    """A shot within its band, and others that are off by so much more that the mean is."""

    class Uneven(Invented):
        def __call__(self, case, scheme, **settings):
            run = super().__call__(case, scheme, **settings)
            run.results["shots"][0]["length_ratio"] /= self.length
            return run

    found = CLAIMS["taylor-control-cold-copper-etp-hot-cd-lagrange"].decide(Uneven(1.4))
    assert found.measured == pytest.approx(0.8 / 3) and found.reproduced is False


@pytest.mark.parametrize("name", data.REPORTED)
def test_other_sets_are_reported(name):
    found = CLAIMS[f"taylor-reported-{name}-cd-lagrange"].decide(Invented(1.07))
    assert (
        found.reproduced is None and "not claimed: " in found.words and "0.07 with the shot at" in found.words
    )


def test_an_outlier_is_not_claimed():
    run = Invented(1.02)("taylor-tests", "cd-lagrange", set="copper-etp-cold", shots=0)
    assert len(rows.misses(run)) == 5 and len(rows.misses(run, everyone=True)) == 6
    assert not any("148" in name for name in rows.misses(run))


# -- runs


class Coarse(cases.Smaller):
    """Three shots of 6 cells; ``changed`` are further settings."""

    changed = {}

    def less(self, case, settings):
        return {"cells": 6, **self.changed}


class Finer(Coarse):
    """As in the report: cells decide how far the rim of a copper face spreads."""

    changed = {"cells": 12}


class Stiff(Coarse):
    """The yield stress grows with the rate more than twice as much as that of copper does."""

    changed = {"C": 0.06}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


#: Sets whose runs are as long as all others together; those of hot copper, and of cold steel, are like them.
LONG = (
    "taylor-control-cold-copper-etp-hot-",
    "taylor-face-copper-wilkins-",
    "taylor-length-4340-gust-hot-",
    "taylor-length-copper-etp-cold-",
    "taylor-length-copper-etp-hot-",
)


def in_tiers(ids):
    """The ids with marks: slow, or nightly where runs are long."""
    marks = {id: pytest.mark.nightly if id.startswith(LONG) else pytest.mark.slow for id in ids}
    return [pytest.param(id, marks=mark) for id, mark in marks.items()]


@pytest.mark.parametrize("id", in_tiers(DECIDED))
def test_claims_hold_of_three_shots(id, folder):
    found = CLAIMS[id].decide((Finer if "-face-copper" in id else Coarse)(folder))
    assert found.reproduced is True, found


@pytest.mark.parametrize("id", in_tiers(id for id in LENGTHS if "-etp-" not in id))  # as that of Wilkins
def test_claims_do_not_hold_of_another_metal(id, folder):
    found = CLAIMS[id].decide(Stiff(folder))
    assert found.reproduced is False and abs(found.measured) > CLAIMS[id].compare.bound, found


@pytest.mark.parametrize(
    "control", [pytest.param("rate", marks=pytest.mark.slow), pytest.param("cold", marks=pytest.mark.nightly)]
)
def test_controls_turn_where_the_model_is_whole(control, folder):
    """With the effect of the rate, and hot, neither is off by as much."""

    class Whole(Coarse):
        def less(self, case, settings):
            as_measured = {"C": data.METALS["copper"].C} if "C" in settings else {}
            hot = {"temperature": 725.0} if "temperature" in settings else {}
            return {"cells": 6, **as_measured, **hot}

    (id,) = (id for id in DECIDED if f"-control-{control}-" in id)
    found = CLAIMS[id].decide(Whole(folder))
    assert found.reproduced is False and found.measured is not None, found


class All(cases.Smaller):
    """All shots."""

    def less(self, case, settings):
        return {"shots": 1 if settings["shots"] == 1 else 0}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return All(tmp_path_factory.mktemp("all"))


@pytest.mark.nightly
@pytest.mark.parametrize("id", DECIDED)
def test_claims_hold_of_all_shots(id, whole):
    found = CLAIMS[id].decide(whole)
    assert found.reproduced is True, found


def test_figure():
    """A panel a set: its measured points, and a line and a band where it is claimed."""
    figure = drawn(FIGURES, "taylor-tests-lengths", Invented(1.01))
    assert len(figure.axes) == 12
    for ax, (name, shots) in zip(figure.axes, data.shots().items()):
        predicted, measured = (line.get_xydata() for line in ax.lines)
        assert len(measured) == len(shots) and len(predicted) == 3 and name in ax.get_title()
        assert predicted[:, 1] == pytest.approx([1.01 * shot.length_ratio for shot in data.picked(name, 3)])
        assert np.isin(predicted[:, 0], measured[:, 0]).all()
        assert bool(ax.collections) is (name not in data.REPORTED)
