"""The rows of the press fit: all hold, and each turns with a scheme that lacks the property."""

import json

import pytest
from support import flips, verdicts, wrong_contact
from support.drawn import legends, paper, units

from dolfinx_impact.benchmark.cases.lasting.press_claims import ALPHA, CD, CLAIMS, MJ, STATIC
from dolfinx_impact.benchmark.cases.lasting.press_figures import FIGURES
from dolfinx_impact.benchmark.runs import Runs

KNOWN = json.loads(verdicts.KNOWN.read_text())
#: What turns a claim, by the scheme of its runs; an explicit run misses no work where it is no explicit run.
BROKEN = {
    MJ: wrong_contact.AtVelocity,
    ALPHA: wrong_contact.AlphaAtVelocity,
    STATIC: wrong_contact.Untouched,
    CD: MJ,
}
OWN = {"press-fit-velocity-level": {MJ: wrong_contact.AtBothLevels}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("claim", flips.tiers(CLAIMS))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, OWN.get(claim.id, BROKEN))
    assert finding.reproduced is KNOWN[claim.id] is True, finding


@pytest.mark.nightly
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    """Panels have labels with units, and legends; the last axes of the slot are its colours."""
    figure = paper()
    entry.draw(runs, figure)
    assert all("[" in ax.get_ylabel() for ax in figure.axes)
    assert units(figure.axes[: 2 if entry.id == "press-fit-force" else 1]) and legends(figure)
