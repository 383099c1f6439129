"""The rows of spheres on plates and rods: all hold, and each turns with a wrong scheme or the right mesh."""

import re

import numpy as np
import pytest
from support import flips, wrong_contact, wrong_schemes
from support.drawn import drawn

from dolfinx_impact.benchmark.cases.experiments import sphere_claims, sphere_figures
from dolfinx_impact.benchmark.cases.experiments.sphere_claims import CLAIMS, PLATE, ROD, STRUCK
from dolfinx_impact.benchmark.cases.solids.claims import CD, MJ
from dolfinx_impact.benchmark.runs import Runs


class Whole(Runs):
    """No plate is too small or too coarse, and no rod has a free end."""

    def __call__(self, case, scheme, **settings):
        right = {"extent": 3.0, "layers": 6} if case == PLATE else STRUCK
        return super().__call__(case, scheme, **{**settings, **right})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


#: Controls, which turn where what is wrong in their runs is right.
CONTROLS = ("sphere-plate-short", "sphere-plate-coarse", "sphere-rod-not-struck")
WRONG = {
    "sphere-plate-neglect": wrong_contact.Lively,
    "sphere-plate-speed": wrong_schemes.Dragged,
    "sphere-": wrong_schemes.Soft,
}


@pytest.mark.parametrize("claim", flips.tiers([c for c in CLAIMS if not c.id.startswith(CONTROLS)]))
def test_verdict_turns(claim, runs):
    kind = next(kind for id, kind in WRONG.items() if re.match(id, claim.id))
    finding = flips.check(claim, runs, {MJ if claim.id.endswith(MJ) else CD: kind})
    assert finding.reproduced is True, finding


@pytest.mark.parametrize("claim", flips.tiers([c for c in CLAIMS if c.id.startswith(CONTROLS)]))
def test_controls_turn_where_nothing_is_wrong(claim, runs):
    assert claim.decide(runs).reproduced is True
    assert claim.decide(Whole(runs.folder)).reproduced is False


def test_every_case_has_rows():
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids) and {claim.case for claim in CLAIMS} == {PLATE, ROD}
    assert {claim.kind for claim in CLAIMS} == {"verified"}
    assert sphere_claims.lambda_of(0.5) == pytest.approx(0.42, abs=0.02)


@pytest.mark.nightly
@pytest.mark.parametrize("entry", sphere_figures.FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    """Every panel has labelled axes with units, a legend and lines of finite values."""
    for ax in drawn(sphere_figures.FIGURES, entry.id, runs).axes:
        assert len(ax.lines) >= 2 and all(np.abs(line.get_ydata()).max() < 1e9 for line in ax.lines)
