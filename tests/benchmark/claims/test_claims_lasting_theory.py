"""The rows of contact that lasts beside theory: all hold, and each turns with a scheme that is wrong."""

import pytest
from support import flips
from support.drawn import drawn

from dolfinx_impact import MoreauJean, Static
from dolfinx_impact.benchmark.cases.lasting import theory_claims
from dolfinx_impact.benchmark.cases.lasting.theory_figures import FIGURES
from dolfinx_impact.benchmark.cases.solids.claims import MJ
from dolfinx_impact.benchmark.runs import Runs

RING, HERTZ, STATIC = theory_claims.RING, theory_claims.HERTZ, theory_claims.STATIC


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


class Loose:
    """Half of the interference stays."""

    def least_gap(self):
        return self.gap_start * max(0.5, 1 - (self.t - self.t0) / self.closing)


class LooseStatic(Loose, Static):
    """Half of the interference stays, in equilibrium."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact, closing=1.0)


class LooseDynamics(Loose, MoreauJean):
    """Half of the interference stays, with inertia."""

    def __init__(self, system, dt, contact=None):
        options = {"theta": 1.0, "mass": "lumped", "position": True, "closing": 1.0}
        super().__init__(system, dt, contact=contact, **options)


class Faint(Static):
    """Tells nine tenths of its impulses."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)

    def step(self):
        super().step()
        self.r *= 0.9


def wrong(claim):
    """What takes the place of the claim's scheme."""
    if claim.case == HERTZ:
        return {STATIC: Faint}
    return {MJ: LooseDynamics} if claim.id.endswith(MJ) else {STATIC: LooseStatic}


@pytest.mark.parametrize("claim", flips.tiers(theory_claims.CLAIMS))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, wrong(claim))
    assert finding.reproduced is True, finding


def test_both_cases_have_rows():
    assert {claim.case for claim in theory_claims.CLAIMS} == {RING, HERTZ}


@pytest.mark.nightly
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    figure = drawn(FIGURES, entry.id, runs)
    assert all(len(ax.lines) >= 2 for ax in figure.axes)
