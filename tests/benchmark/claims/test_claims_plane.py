"""The claims on the plane block: which hold, and that each turns with another scheme."""

import json

import pytest
from support import flips, verdicts, wrong_schemes
from support.drawn import paper

from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.plane_block import measures
from dolfinx_impact.benchmark.cases.plane_block.claims import CLAIMS
from dolfinx_impact.benchmark.cases.plane_block.figures import CLASSES, FIGURES, REFINED
from dolfinx_impact.benchmark.runs import Runs

THETA, MIDPOINT, RESET, CD = "dep-4.2", "dep-4.4", "dep-4.3", "cd-lagrange"
KNOWN = json.loads(verdicts.KNOWN.read_text())
#: By the beginning of an id: what turns a claim that holds, and what one that does not.
OTHERS = {
    "bar": (wrong_schemes.Sheared, None),
    "reference": (THETA, CD),
    "oscillates": (RESET, MIDPOINT),
    "within": (RESET, None),
    "loss": ("dep-7.1", CD),
    "calm": (MIDPOINT, None),
    "least": (None, THETA),
    "keeps": (CD, None),
    "agrees": (wrong_schemes.Dragged, None),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


def about(claim):
    """The beginning of the claim's id, and its scheme."""
    _, kind, *scheme = claim.id.split("-", 2)
    return kind, scheme[0] if scheme else measures.SINGULAR


@pytest.mark.parametrize("claim", flips.tiers(CLAIMS))
def test_verdict_turns(claim, runs):
    kind, scheme = about(claim)
    turns, holds = OTHERS[kind]
    finding = flips.check(claim, runs, {scheme: turns if KNOWN[claim.id] else holds})
    assert finding.reproduced is KNOWN[claim.id], finding


def test_every_scheme_has_a_row_beside_bar_and_reference():
    for kind in ("bar", "reference"):
        assert {s for k, s in map(about, CLAIMS) if k == kind} == set(CASES[measures.BLOCK].schemes)


def test_what_does_not_hold_has_a_reason():
    """Which is said of these schemes alone."""
    false = [about(claim) for claim in CLAIMS if not KNOWN[claim.id]]
    assert {scheme for kind, scheme in false if kind == "reference"} == set(measures.MISSES)
    assert {scheme for kind, scheme in false if kind == "oscillates"} == set(measures.CALM)


@pytest.mark.nightly
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    figure = paper()
    entry.draw(runs, figure)
    assert all(ax.get_ylabel().endswith("[-]") for ax in figure.axes if ax.get_ylabel())
    shown = {line.get_label() for ax in figure.axes for line in ax.lines}
    names = {name for names in CLASSES.values() for name in names}
    expected = {"plane-forces": names, "plane-refinement": set(REFINED), "plane-variation": set()}
    assert expected[entry.id] <= shown
    if entry.id == "plane-variation":
        assert len(figure.axes[0].patches) == len(CASES[measures.BLOCK].schemes) + 1
