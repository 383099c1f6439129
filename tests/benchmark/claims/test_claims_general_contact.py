"""The rows of contact of everything with everything: all hold, and each turns with a scheme that is wrong."""

import re

import numpy as np
import pytest
from support import cases, flips, wrong_schemes
from support.drawn import drawn
from support.wrong_schemes import Central

from dolfinx_impact import MoreauJean
from dolfinx_impact.benchmark.cases.general_contact import claims as general
from dolfinx_impact.benchmark.cases.general_contact.claims import BARS, HOLE, PILE, STRIP
from dolfinx_impact.benchmark.cases.general_contact.figures import FIGURES
from dolfinx_impact.benchmark.cases.solids.claims import CD, MJ


class Smaller(cases.Smaller):
    def less(self, case, settings):
        few = {BARS: {"cells": 2}, PILE: {}, HOLE: {"cells": 8}}
        return {STRIP: {"cells": 2} if "gaps" not in settings else {}, **few}[case]

    def __call__(self, case, scheme, **settings):
        if case == STRIP and scheme == CD:
            settings |= {"gaps": "0.026"}
        return super().__call__(case, scheme, **settings)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


class Blind(Central):
    """Sees facets that face each other alone: features may pass."""

    def taken(self, contact):
        contact.swept = False
        return contact


class Slippery(Central):
    """Tells nine tenths of the friction."""

    def taken(self, contact):
        rows = contact.features
        contact.features = lambda: rows()._replace(r_t=0.9 * rows().r_t)
        return contact


class Downward(wrong_schemes.Pushed):
    """A hundredth more of gravity."""

    def acceleration(self):
        return np.tile([0.0, 0.0, -0.1], self.system.size // 3)


class Floating(wrong_schemes.Pushed):
    """Gravity is gone."""

    def acceleration(self):
        return np.tile([0.0, 0.0, 9.81], self.system.size // 3)


class Driven(Central):
    """Every step adds a part of the velocity."""

    def advance(self):
        super().advance()
        self.v *= 1 + 1e-5


class Still(MoreauJean):
    """Nothing moves."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact, theta=1.0, mass="lumped", position=True)

    def advance(self):
        self.r[:] = 0.0


class StillExplicit(Central):
    """Nothing moves, explicitly."""

    def advance(self):
        self.r[:] = 0.0


WRONG = {
    "crossed-bars-(impulse|motions)": Blind,
    "crossed-bars-slip": Slippery,
    "crossed-bars-(linear|angular)": wrong_schemes.Dragged,
    "pile-impulse": wrong_schemes.Dragged,
    "pile-weight": Downward,
    "pile-energy": Driven,
    "folded-strip-.*cd": StillExplicit,
    "folded-strip-": Still,
    "sphere-hole-(height|edges)": Blind,
    "sphere-hole-falls": Floating,
}


@pytest.mark.parametrize("claim", flips.tiers(general.CLAIMS))
def test_verdict_turns(claim, runs):
    kind = next(kind for id, kind in WRONG.items() if re.match(id, claim.id))
    finding = flips.check(claim, runs, {MJ if claim.id.endswith(MJ) else CD: kind})
    assert finding.reproduced is True, finding


def test_every_case_has_rows():
    ids = [claim.id for claim in general.CLAIMS]
    assert len(set(ids)) == len(ids)
    assert {claim.case for claim in general.CLAIMS} == {BARS, PILE, STRIP, HOLE}


@pytest.mark.nightly
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    figure = drawn(FIGURES, entry.id, runs)
    assert all(len(ax.lines) >= 2 for ax in figure.axes)
