"""The rows of nearly incompressible bodies: all hold, and each turns with a scheme that is wrong."""

import re

import numpy as np
import pytest
from support import flips, wrong_schemes
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.materials import claims as soft
from dolfinx_impact.benchmark.cases.materials.claims import CD, COOK, RUBBER
from dolfinx_impact.benchmark.cases.materials.figures import FIGURES
from dolfinx_impact.benchmark.runs import Runs


class Smaller(Runs):
    """Makes runs of fewer elements, but for those of a tip that must be exact."""

    def __call__(self, case, scheme, **settings):
        plain = case == COOK and settings.get("locking") == "none"
        fewer = {"elements": 8, "t_end": 25} if plain else {"elements": 4} if case == RUBBER else {}
        return super().__call__(case, scheme, **{**settings, **fewer})

    def instead(self, schemes):
        return Smaller(self.folder, {**self._instead, **schemes}, self._only)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


class Pushed(Central):
    """Everything that is free is accelerated besides; a subclass says by how much."""

    def advance(self):
        super().advance()
        free = ~self.system.constrained
        self.v[: free.size] += self.dt * np.where(free, self.acceleration()[: free.size], 0.0)


class Lifted(Pushed):
    """The panel is pulled upwards."""

    def acceleration(self):
        return np.tile([0.0, 0.5], self.system.size // 2)


class Pressed(Pushed):
    """Forces towards the middle press bodies together."""

    def acceleration(self):
        x = self.system.x[:, :2]
        return -4e6 * (x - (x.min(axis=0) + x.max(axis=0)) / 2).ravel()


class Shaken(Pushed):
    """Forces of any direction on every node."""

    def acceleration(self):
        return 1e4 * np.random.default_rng(0).uniform(-1.0, 1.0, self.system.size)


class Even(Central):
    """The block is pressed evenly."""

    def advance(self):
        super().advance()
        v, y = self.v.reshape(-1, 2), self.system.x[:, 1]
        v[:] = np.outer(y / y.max(), [0.0, v[np.argmax(y), 1]])


WRONG = {
    "cook-membrane": "Lifted",
    "rubber-block-smooth": "Shaken",
    "rubber-block-volume": "Pressed",
    "rubber-block-plain-ball": "NoContact",
    "rubber-block-(plain|parallel)": "Even",
}


def wrong(claim):
    """What takes the place of the claim's scheme."""
    name = next(name for id, name in WRONG.items() if re.match(id, claim.id))
    return {CD: wrong_schemes.named(name, "test_claims_incompressible")}


@pytest.mark.parametrize("claim", flips.tiers(soft.CLAIMS))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, wrong(claim))
    assert finding.reproduced is True, finding


def test_every_case_has_rows():
    ids = [claim.id for claim in soft.CLAIMS]
    assert len(set(ids)) == len(ids) and {claim.case for claim in soft.CLAIMS} == {COOK, RUBBER}


@pytest.mark.nightly
@pytest.mark.parametrize("entry", FIGURES, ids=lambda entry: entry.id)
def test_figures(entry, tmp_path):
    """Every panel has labelled axes with units, and lines or cells of finite values."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    class Few(Smaller):
        def __call__(self, case, scheme, **settings):
            fewer = {"elements": settings.get("elements", 24) // 3, "t_end": 5} if case == COOK else {}
            return super().__call__(case, scheme, **{**settings, **fewer})

    figure = Figure(figsize=(8, 5))
    entry.draw(Few(tmp_path), figure)
    for ax in figure.axes:
        if ax.get_label() == "<colorbar>":
            assert "[kPa]" in ax.get_ylabel()
            continue
        assert "[" in ax.get_xlabel() and "[" in ax.get_ylabel()
        drawn = [line.get_ydata() for line in ax.lines] + [each.get_array() for each in ax.collections]
        assert drawn and all(abs(np.asarray(each)[np.isfinite(each)]).max() < 1e9 for each in drawn)
