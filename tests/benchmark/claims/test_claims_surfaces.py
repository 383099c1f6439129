"""The rows of colliding bodies: all hold, and each turns with a scheme that is wrong."""

import copy
import dataclasses
import functools
import re

import pytest
from support import cases, flips, wrong_contact, wrong_schemes
from support.drawn import paper, units
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.solids.claims import CD, MJ
from dolfinx_impact.benchmark.cases.surfaces import claims as colliding
from dolfinx_impact.benchmark.cases.surfaces.claims import DISCS, INCLINE, MESHES, SPHERES
from dolfinx_impact.benchmark.cases.surfaces.figures import FIGURES
from dolfinx_impact.benchmark.cases.surfaces.non_matching_blocks import DiagonalDelassus


class Smaller(cases.Smaller):
    def less(self, case, settings):
        return {"resolution": 6, "v0": 0.3} if case == SPHERES else {}

    def __call__(self, case, scheme, **settings):
        if case == INCLINE and self.scheme(scheme) == MJ:
            settings["courant"] = 3.0
        return super().__call__(case, scheme, **settings)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


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
    "non-matching-blocks-(bars|straight)": wrong_schemes.Sheared,
    "non-matching-blocks-(loss|order)": wrong_schemes.Dragged,
    "non-matching-blocks-condition": Heavy,
    "non-matching-blocks-products": Laborious,
    "non-matching-blocks-diagonal": Stubborn,
    "two-spheres-": wrong_schemes.Soft,
    "oblique-discs-(momentum|angular|twist)": wrong_schemes.Dragged,
    "oblique-discs-energy": wrong_schemes.Driven,
    "oblique-discs-sides": wrong_schemes.Lopsided,
    "unequal-bars-": wrong_schemes.Dragged,
    "meshed-incline-acceleration": wrong_schemes.Dragged,
    "meshed-incline-holds": wrong_contact.NoContact,
}


def wrong(claim):
    """What takes the place of the claim's scheme."""
    kind = next(kind for id, kind in WRONG.items() if re.match(id, claim.id))
    return {MJ if claim.id.endswith(MJ) else CD: kind}


def fewer_meshes(claim):
    """On all pairs of meshes in one claim, in the others in the plane and in space."""
    if "over" not in claim.measure.keywords or claim.id == f"non-matching-blocks-bars-{CD}":
        return claim
    measure = functools.partial(claim.measure, over=(MESHES[1], MESHES[3]))
    return dataclasses.replace(claim, measure=measure)


@pytest.mark.parametrize("claim", flips.tiers(colliding.CLAIMS))
def test_verdict_turns(claim, runs):
    claim = fewer_meshes(claim)
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
    figure = paper()
    entry.draw(runs, figure)
    assert units(figure.axes)
    for ax in figure.axes:
        assert ax.get_legend() is not None
        assert len(ax.lines) >= 2 and all(abs(line.get_ydata()).max() < 1e9 for line in ax.lines)
