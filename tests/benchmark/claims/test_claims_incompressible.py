"""The rows of nearly incompressible bodies: all hold, and each turns with a scheme that is wrong."""

import re

import numpy as np
import pytest
from support import cases, flips, wrong_contact, wrong_schemes
from support.drawn import paper

from dolfinx_impact.benchmark.cases.materials import claims
from dolfinx_impact.benchmark.cases.materials.claims import CD, COOK, RUBBER
from dolfinx_impact.benchmark.cases.materials.figures import FIGURES

SOFT = [claim for claim in claims.CLAIMS if claim.case in (COOK, RUBBER)]
DRAWN = [figure for figure in FIGURES if figure.case in (COOK, RUBBER)]


class Smaller(cases.Smaller):
    """But for those of a tip that must be exact."""

    def less(self, case, settings):
        if case == COOK and settings.get("locking") == "none":
            return {"elements": 5, "t_end": 12}
        return {"elements": 3 if settings.get("cell") == "triangle" else 4} if case == RUBBER else {}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


WRONG = {
    "cook-membrane": wrong_schemes.Lifted,
    "rubber-block-smooth": wrong_schemes.Shaken,
    "rubber-block-volume": wrong_schemes.Pressed,
    "rubber-block-plain-ball": wrong_contact.NoContact,
    "rubber-block-(plain|parallel)": wrong_schemes.Even,
}


def wrong(claim):
    """What takes the place of the claim's scheme."""
    return {CD: next(kind for id, kind in WRONG.items() if re.match(id, claim.id))}


@pytest.mark.parametrize("claim", flips.tiers(SOFT))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, wrong(claim))
    assert finding.reproduced is True, finding


def test_every_case_has_rows():
    ids = [claim.id for claim in SOFT]
    assert len(set(ids)) == len(ids) and {claim.case for claim in SOFT} == {COOK, RUBBER}


@pytest.mark.nightly
@pytest.mark.parametrize("entry", DRAWN, ids=lambda entry: entry.id)
def test_figures(entry, tmp_path):
    """Every panel has labelled axes with units, and lines or cells of finite values."""

    class Few(Smaller):
        def less(self, case, settings):
            if case == COOK:
                settings = {**settings, "elements": settings.get("elements", 24) // 3, "t_end": 5}
            return {**settings, **super().less(case, settings)}

    figure = paper()
    entry.draw(Few(tmp_path), figure)
    for ax in figure.axes:
        if ax.get_label() == "<colorbar>":
            assert "[kPa]" in ax.get_ylabel()
            continue
        assert "[" in ax.get_xlabel() and "[" in ax.get_ylabel()
        drawn = [line.get_ydata() for line in ax.lines] + [each.get_array() for each in ax.collections]
        assert drawn and all(abs(np.asarray(each)[np.isfinite(each)]).max() < 1e9 for each in drawn)
