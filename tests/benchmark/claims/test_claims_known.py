"""The rows of solids with known answers: all but one hold, and each turns with a scheme that is wrong."""

import copy
import dataclasses
import functools
import re

import numpy as np
import pytest
from support import flips, wrong_schemes
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.solids import claims as known
from dolfinx_impact.benchmark.cases.solids import hertz_sphere
from dolfinx_impact.benchmark.cases.solids.claims import (
    ABOVE,
    BELOW,
    BOTH,
    CD,
    CUBE,
    DEGREES,
    DISC,
    FLIGHT,
    HERTZ,
    MJ,
    OBLIQUE,
    RIGID,
    RING,
    SLIDING,
    WAVE,
)
from dolfinx_impact.benchmark.cases.solids.figures import FIGURES, contact_force, flown
from dolfinx_impact.benchmark.runs import Runs
from dolfinx_impact.integrators import CentralDifferences, VelocityLevel


class Smaller(Runs):
    """Makes runs of fewer elements and steps, for which the same answers are known.

    The report decides the rows with the runs that they name.
    """

    LESS = {
        OBLIQUE: {"elements": 4, "lateral": 1},
        FLIGHT: {"t_end": 5.0},
        SLIDING: {"elements": 2},
        RING: {"around": 6, "across": 2, "t_end": 0.1},
        DISC: {"around": 4, "across": 2},
    }

    def __call__(self, case, scheme, **settings):
        less = self.LESS.get(case, {})
        if case == HERTZ:
            solid = settings["geometry"] == "3d"
            less = {"resolution": 3 if solid else 4, "v0": settings.get("v0", 1.0 if solid else 0.5)}
        return super().__call__(case, scheme, **{**settings, **less})

    def instead(self, schemes):
        return Smaller(self.folder, {**self._instead, **schemes}, self._only)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


class Slowed(Central):
    """Something slows the solid down, 100/s."""

    def advance(self):
        super().advance()
        self.v *= 1 - 100 * self.dt


class DraggedAlongX(Central):
    """Every step takes a part of the velocity along x, whatever is turned."""

    def advance(self):
        super().advance()
        self.v[:: self.system.block] *= 1 - 1e-6


class Rigid(Central):
    """Takes every solid for rigid: what touches rebounds whole with e."""

    def _resolve_contact(self, response, first=False):
        super()._resolve_contact(response, first)
        if self.r.any() and not first:
            self.v[:] = -self.contact.restitution * self.v_before
            self.v_before = self.v.copy()


class Bouncier(CentralDifferences):
    """Contact points rebound with a little more than the coefficient that they were given."""

    def __init__(self, system, dt, contact=None):
        contact = copy.copy(contact)
        contact.restitution += 1e-9
        super().__init__(system, dt, VelocityLevel(contact))


class Detuned(Central):
    """Solids lose a ten-thousandth of their displacement in a step, single oscillators nothing."""

    def advance(self):
        super().advance()
        self.u *= 1 - 1e-4 * (self.system.size > 1)


WRONG = {
    "hertz-sphere-": "Soft",
    "cube-drop-modulus": "Slowed",
    "cube-drop-(refined|not-restitution)": "Rigid",
    "rigid-body-": "Bouncier",
    "sliding-block-acceleration": "Dragged",
    "sliding-block-holds": "NoContact",
    ".*-stored-energy": "Slowed",
    "(spinning-disc|ring-in-cylinder)-": "Dragged",
    "free-flight-": "Dragged",
    "oblique-bar-": "DraggedAlongX",
    "wave-block-space": "Detuned",
    "wave-block-time": "Dragged",
}
NOT_REPRODUCED = "ring-in-cylinder-angular-momentum-moreau-jean"


def wrong(claim):
    """What takes the place of the claim's scheme; the one that keeps the property where that one does not."""
    if claim.id == NOT_REPRODUCED:
        return {MJ: CD}
    name = next(name for id, name in WRONG.items() if re.match(id, claim.id))
    return {MJ if claim.id.endswith(MJ) else CD: wrong_schemes.named(name, "test_claims_known")}


def named(id):
    return {claim.id: claim for claim in known.CLAIMS}[id]


def test_every_known_answer_has_a_row_for_each_scheme():
    ids = {claim.id for claim in known.CLAIMS}
    assert len(ids) == len(known.CLAIMS) and {claim.case for claim in known.CLAIMS} == {
        HERTZ,
        CUBE,
        RIGID,
        SLIDING,
        DISC,
        RING,
        FLIGHT,
        OBLIQUE,
        WAVE,
    }
    alone = {
        f"{DISC}-stored-energy",
        f"{RING}-stored-energy",
        f"{FLIGHT}-energy",
        f"{FLIGHT}-conserved-energy",
    }
    answers = {id.removesuffix(f"-{CD}") for id in ids if id.endswith(CD)}
    assert {id.removesuffix(f"-{MJ}") for id in ids if id.endswith(MJ)} == answers - alone


@pytest.mark.parametrize("claim", flips.tiers(known.CLAIMS))
def test_verdict_turns(claim, runs):
    broken = wrong(claim)
    finding = flips.check(claim, runs, broken)
    turned = claim.decide(runs.instead(broken))
    assert flips.is_decided(claim, turned), f"turns because {turned.words}"
    assert finding.reproduced is (claim.id != NOT_REPRODUCED), finding


@pytest.mark.parametrize("id", [f"{DISC}-momentum", f"{RING}-energy", f"{RING}-moments", f"{OBLIQUE}-turned"])
def test_bodies_that_touch_nothing_show_nothing(id, runs):
    finding = named(f"{id}-{CD}").decide(runs.instead({CD: wrong_schemes.named("NoContact", "")}))
    assert finding.reproduced is False and abs(finding.measured) <= finding.tolerance


@pytest.mark.parametrize("shape", ["disc", "square"])
@pytest.mark.parametrize("scheme", BOTH)
def test_rigid_bodies_stick_and_slip(shape, scheme, runs):
    """An exact impact of the other regime does not count."""
    for regime in ("stick", "slip"):
        claim = named(f"{RIGID}-{shape}-{regime}-{scheme}")
        other = functools.partial(claim.measure, sticks=regime == "slip")
        finding = dataclasses.replace(claim, measure=other).decide(runs)
        assert finding.reproduced is False and finding.measured <= finding.tolerance


def test_a_sphere_that_does_not_leave_has_no_duration(runs):
    claim = named(f"{HERTZ}-duration-{CD}")
    finding = claim.decide(runs.instead({CD: wrong_schemes.named("NoContact", "")}))
    assert finding.reproduced is False and "does not leave" in finding.words


# -- figures


@pytest.fixture
def draw(runs):
    """``draw(id)``: the figure, drawn."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    def drawn(name):
        figure = Figure(figsize=(8, 5))
        {entry.id: entry for entry in FIGURES}[name].draw(runs, figure)
        assert figure.legends or all(ax.get_legend() is not None for ax in figure.axes)
        assert all("[" in ax.get_xlabel() and "[" in ax.get_ylabel() for ax in figure.axes)
        return figure

    return drawn


def curves(ax):
    return {line.get_label(): line.get_xydata().T for line in ax.lines}


def test_figure_of_forces_lies_on_the_course_of_hertz(draw):
    for ax in draw("hertz-sphere-force").axes:
        found = curves(ax)
        t, theory = found.pop("Hertz")
        assert len(found) == 2
        for times, force in found.values():
            assert np.abs(force - np.interp(times, t, theory)).max() < 0.08 * theory.max()


@pytest.mark.parametrize("scheme", BOTH)
def test_contact_force_is_that_of_the_whole_sphere(scheme, runs):
    run = runs(HERTZ, scheme, geometry="axisymmetric")
    window = hertz_sphere.WINDOW * run.results["duration_hertz"]
    t, force = contact_force(run, window)
    assert force.max() == pytest.approx(run.results["peak_force"], rel=5e-3)
    assert np.trapezoid(force, t) == pytest.approx(run.results["impulse_sum"], rel=5e-3)


def test_figure_of_rebounds_closes_in(draw):
    for ax in draw("cube-drop-rebound").axes:
        x, rebounds = curves(ax)["e = 0"][0], np.array([values for _, values in curves(ax).values()])
        assert np.all(np.diff(x) < 0) and rebounds.shape == (3, 3)
        assert np.all(np.diff(np.ptp(rebounds, axis=0)) < 0)


def test_figure_of_velocities_has_those_of_a_rigid_block(draw):
    (ax,) = draw("sliding-block-velocity").axes
    lines = [line.get_xydata().T for line in ax.lines]
    assert len(lines) == 3 * (1 + len(ABOVE)) and len(ax.texts) == 1 + len(ABOVE) and BELOW[-1] == 16
    for k in range(0, len(lines), 3):
        t, exact = lines[k + 2]
        for times, found in lines[k : k + 2]:
            assert np.abs(found - np.interp(times, t, exact)).max() < 1e-9
        assert exact[-1] > 1e-3 if k else exact[-1] == 0


@pytest.mark.parametrize("scheme", BOTH)
def test_flight_with_all_nodes_is_that_of_the_run(scheme, runs):
    run = runs(FLIGHT, scheme)
    t, energy, turning = flown(runs, scheme)
    assert len(t) == len(energy) == len(turning) > 90 and t[-1] == pytest.approx(run["t"][-1], rel=1e-12)
    had = run["kinetic"] + run["complementary"] + run["internal"]
    assert energy[-1] == pytest.approx(had[-1] / had[0] - 1, abs=1e-12)
    assert np.ptp(energy) <= 1.01 * run.results["energy_swing"] or scheme == MJ
    assert 0 < np.abs(turning).max() <= 2 * run.results["angular_momentum_defect"]


def test_figure_of_flights_has_energy_above_and_momentum_below(draw):
    upper, lower = np.reshape(draw("free-flight-kept").axes, (2, 2))
    for energy, turning in zip(upper, lower):
        assert "energy" in energy.get_ylabel() and "angular momentum" in turning.get_ylabel()
        ((_, large),), ((_, small),) = curves(energy).values(), curves(turning).values()
        assert np.abs(small).max() < 1e-12 < np.abs(large).max() < 0.02


@pytest.mark.nightly
def test_figure_of_errors_has_the_slopes_of_the_elements(draw):
    for ax in draw("wave-block-errors").axes:
        slopes = {name: np.polyfit(*np.log(xy), 1)[0] for name, xy in curves(ax).items()}
        for degree in DEGREES:
            assert slopes[f"slope {degree + 1}"] == pytest.approx(degree + 1)
            assert slopes[f"degree {degree}"] == pytest.approx(degree + 1, abs=0.5)
