"""The rows of metals that yield: all hold, and each turns with a scheme that is wrong."""

import numpy as np
import pytest
from support import flips, wrong_schemes
from support.drawn import paper, units

from dolfinx_impact.benchmark.cases.materials import claims
from dolfinx_impact.benchmark.cases.materials.claims import CD, TAYLOR, WAVE
from dolfinx_impact.benchmark.cases.materials.figures import FIGURES, Outside
from dolfinx_impact.benchmark.runs import Runs

METALS = [claim for claim in claims.CLAIMS if claim.case in (TAYLOR, WAVE)]
DRAWN = [figure for figure in FIGURES if figure.case in (TAYLOR, WAVE)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("claim", flips.tiers([c for c in METALS if "plastic-wave-s" in c.id]))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, {CD: wrong_schemes.Soft})
    assert finding.reproduced is True, finding


@pytest.mark.nightly
@pytest.mark.parametrize("claim", [c for c in METALS if c.case == TAYLOR], ids=lambda c: c.id)
def test_bars_are_as_known(claim, runs):
    assert claim.decide(runs).reproduced is True


def test_every_case_has_rows():
    ids = [claim.id for claim in METALS]
    assert len(set(ids)) == len(ids) and {claim.case for claim in METALS} == {TAYLOR, WAVE}


@pytest.mark.parametrize("geometry", ["axisymmetric", "quarter"])
def test_the_drawn_shape_is_that_of_the_results(runs, geometry):
    run = runs(TAYLOR, CD, geometry=geometry, size=1.6e-3, t_end=4e-6)
    bar = Outside(run)
    assert bar.radius()[-1] == pytest.approx(run.results["face_radius"], rel=1e-12)
    assert bar.length()[-1] == pytest.approx(run.results["length_end"], rel=1e-12)
    assert bar.radius()[0] == pytest.approx(0.0032) and bar.length()[0] == pytest.approx(0.0324)
    r, z = bar.profile()
    assert r[0] == pytest.approx(0.0, abs=1e-9) and z[-1] == pytest.approx(z.max())
    assert r.max() == pytest.approx(run.results["face_radius"], rel=0.02)


@pytest.mark.nightly
@pytest.mark.parametrize("entry", DRAWN, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    """Every panel has labelled axes with units and lines of finite values."""
    figure = paper()
    entry.draw(runs, figure)
    assert units(figure.axes)
    for ax in figure.axes:
        assert len(ax.lines) >= 2
        assert all(np.abs(line.get_ydata()).max() < 1e9 for line in ax.lines)
