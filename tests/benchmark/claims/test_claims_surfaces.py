"""The rows of colliding bodies: all hold, and each turns with a scheme that is wrong."""

import copy
import re

import pytest
from support import flips, wrong_schemes
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.surfaces import claims as colliding
from dolfinx_impact.benchmark.cases.surfaces.claims import CD, DISCS, MJ, SPHERES
from dolfinx_impact.benchmark.cases.surfaces.figures import FIGURES
from dolfinx_impact.benchmark.cases.surfaces.non_matching_blocks import DiagonalDelassus
from dolfinx_impact.benchmark.runs import Runs


class Smaller(Runs):
    """Makes runs of spheres with fewer elements and steps, for which the same answers are known."""

    def __call__(self, case, scheme, **settings):
        less = {"resolution": 6, "v0": 0.3} if case == SPHERES else {}
        return super().__call__(case, scheme, **{**settings, **less})

    def instead(self, schemes):
        return Smaller(self.folder, {**self._instead, **schemes}, self._only)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


class Sheared(Central):
    """Where several points are in contact a part of the last velocity goes to the first direction."""

    def advance(self):
        super().advance()
        v = self.v.reshape(-1, self.system.block)
        v[:, 0] += 1e-8 * v[:, -1] * (self.system.block > 1)


class Driven(Central):
    """Every step adds a thousandth to the velocity."""

    def advance(self):
        super().advance()
        self.v *= 1 + 1e-3


class Lopsided(Central):
    """What lies above is slowed down where it has the finer mesh."""

    def advance(self):
        super().advance()
        above = self.system.x[:, 1] > 0
        if above.sum() > 0.5 * above.size:
            self.v.reshape(-1, 2)[above] *= 1 - 1e-3


class Heavy(Central):
    """The condition is that of a slave side a thousand times heavier."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)
        if hasattr(contact, "assembly"):
            self.system = copy.copy(system)
            inverse = system.inverse_mass.copy()
            slave = contact.assembly.dofs_of(contact.assembly.nodes)
            inverse[slave] *= 1e-3
            self.system.__dict__["inverse_mass"] = inverse


class Laborious(Central):
    """Counts ten times as many products."""

    @property
    def contact_iterations(self):
        return 10 * super().contact_iterations


class Stubborn(Central):
    """Keeps the whole operator."""

    def __setattr__(self, name, value):
        if not isinstance(value, DiagonalDelassus):
            super().__setattr__(name, value)


WRONG = {
    "non-matching-blocks-(bars|straight)": "Sheared",
    "non-matching-blocks-(loss|order)": "Dragged",
    "non-matching-blocks-condition": "Heavy",
    "non-matching-blocks-products": "Laborious",
    "non-matching-blocks-diagonal": "Stubborn",
    "two-spheres-": "Soft",
    "oblique-discs-(momentum|angular|twist)": "Dragged",
    "oblique-discs-energy": "Driven",
    "oblique-discs-sides": "Lopsided",
    "unequal-bars-": "Dragged",
    "meshed-incline-acceleration": "Dragged",
    "meshed-incline-holds": "NoContact",
}


def wrong(claim):
    """What takes the place of the claim's scheme."""
    name = next(name for id, name in WRONG.items() if re.match(id, claim.id))
    return {MJ if claim.id.endswith(MJ) else CD: wrong_schemes.named(name, "test_claims_surfaces")}


@pytest.mark.parametrize("claim", flips.tiers(colliding.CLAIMS))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, wrong(claim))
    assert finding.reproduced is True, finding


def test_every_case_has_rows():
    ids = [claim.id for claim in colliding.CLAIMS]
    assert len(set(ids)) == len(ids) and {claim.case for claim in colliding.CLAIMS} == {
        colliding.BLOCKS,
        SPHERES,
        DISCS,
        colliding.BARS,
        colliding.INCLINE,
    }


@pytest.mark.nightly
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, runs):
    """Every panel has labelled axes with units, a legend and lines of finite values."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5))
    entry.draw(runs, figure)
    for ax in figure.axes:
        assert "[" in ax.get_xlabel() and "[" in ax.get_ylabel() and ax.get_legend() is not None
        assert len(ax.lines) >= 2 and all(abs(line.get_ydata()).max() < 1e9 for line in ax.lines)
