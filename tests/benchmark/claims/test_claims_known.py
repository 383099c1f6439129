"""The rows of solids with known answers: all but one hold, and each turns with a scheme that is wrong."""

import dataclasses
import functools
import re

import numpy as np
import pytest
from support import cases, drawn, flips, wrong_contact, wrong_schemes
from support.drawn import curves

from dolfinx_impact.benchmark.cases.solids import claims as known
from dolfinx_impact.benchmark.cases.solids import figures, hertz_sphere
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
from dolfinx_impact.benchmark.cases.solids.figures import FIGURES, contact_force


class Smaller(cases.Smaller):
    LESS = {
        OBLIQUE: {"elements": 4, "lateral": 1},
        FLIGHT: {"t_end": 2.0, "every": 5},
        SLIDING: {"elements": 2},
        RING: {"around": 6, "across": 2, "t_end": 0.05},
        DISC: {"around": 4, "across": 2},
    }

    #: Steps of the implicit scheme over critical ones, several times those of the report.
    COURANTS = {OBLIQUE: 2.8, SLIDING: 7.0}

    def __call__(self, case, scheme, **settings):
        if case in self.COURANTS and self.scheme(scheme) == MJ:
            settings["courant"] = self.COURANTS[case]
        return super().__call__(case, scheme, **settings)

    def less(self, case, settings):
        if case == WAVE:
            return {"elements": settings.get("elements", {1: 8, 2: 12, 3: 4}[settings["degree"]])}
        if case == CUBE:
            return {"elements": settings["elements"] // 2 + 2}
        if case != HERTZ:
            return self.LESS.get(case, {})
        solid = settings["geometry"] == "3d"
        most, slowest = (3, 1.0) if solid else (4, 0.5)
        resolution = min(most, settings.get("resolution", most))
        return {"resolution": resolution, "v0": max(slowest, settings.get("v0", slowest))}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Smaller(tmp_path_factory.mktemp("runs"))


WRONG = {
    "hertz-sphere-": wrong_schemes.Soft,
    "cube-drop-modulus": wrong_schemes.Slowed,
    "cube-drop-(refined|not-restitution)": wrong_schemes.Rigid,
    "rigid-body-": wrong_contact.Bouncier,
    "sliding-block-acceleration": wrong_schemes.Dragged,
    "sliding-block-holds": wrong_contact.NoContact,
    ".*-stored-energy": wrong_schemes.Slowed,
    "(spinning-disc|ring-in-cylinder)-": wrong_schemes.Dragged,
    "free-flight-": wrong_schemes.Dragged,
    "oblique-bar-": wrong_schemes.DraggedAlongX,
    "wave-block-space": wrong_schemes.Detuned,
    "wave-block-time": wrong_schemes.Dragged,
}
NOT_REPRODUCED = "ring-in-cylinder-angular-momentum-moreau-jean"


def wrong(claim):
    """What takes the place of the claim's scheme; the one that keeps the property where that one does not."""
    if claim.id == NOT_REPRODUCED:
        return {MJ: CD}
    kind = next(kind for id, kind in WRONG.items() if re.match(id, claim.id))
    return {MJ if claim.id.endswith(MJ) else CD: kind}


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
    finding = flips.check_by_number(claim, runs, wrong(claim))
    assert finding.reproduced is (claim.id != NOT_REPRODUCED), finding


@pytest.mark.parametrize("id", [f"{DISC}-momentum", f"{RING}-energy", f"{RING}-moments", f"{OBLIQUE}-turned"])
def test_bodies_that_touch_nothing_show_nothing(id, runs):
    finding = named(f"{id}-{CD}").decide(flips.instead(runs, {CD: wrong_contact.NoContact}))
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
    claim = dataclasses.replace(claim, measure=functools.partial(claim.measure, resolution=1))
    finding = claim.decide(flips.instead(runs, {CD: wrong_contact.NoContact}))
    assert finding.reproduced is False and "does not leave" in finding.words


# -- figures


@pytest.fixture
def draw(runs):
    """``draw(id)``: the figure, drawn."""
    return functools.partial(drawn.drawn, FIGURES, runs=runs)


def test_figure_of_forces_lies_on_the_course_of_hertz(draw, monkeypatch):
    monkeypatch.setattr(hertz_sphere, "FASTER", 0.5)  # the lower speed of these runs
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


def test_figure_of_rebounds_closes_in(draw, monkeypatch):
    monkeypatch.setattr(known, "CUBES", dict.fromkeys(BOTH, known.CUBES[MJ]))
    for ax in draw("cube-drop-rebound").axes:
        x, rebounds = curves(ax)["e = 0"][0], np.array([values for _, values in curves(ax).values()])
        assert np.all(np.diff(x) < 0) and rebounds.shape == (3, 3)
        assert np.all(np.diff(np.ptp(rebounds, axis=0)) < 0)


def test_figure_of_velocities_has_those_of_a_rigid_block(draw, monkeypatch):
    monkeypatch.setattr(known, "ABOVE", ABOVE[:1])
    (ax,) = draw("sliding-block-velocity").axes
    lines = [line.get_xydata().T for line in ax.lines]
    assert len(lines) == 3 * 2 and len(ax.texts) == 2 and BELOW[-1] == 16
    for k in range(0, len(lines), 3):
        t, exact = lines[k + 2]
        for times, found in lines[k : k + 2]:
            assert np.abs(found - np.interp(times, t, exact)).max() < 1e-9
        assert exact[-1] > 1e-3 if k else exact[-1] == 0


@pytest.fixture(scope="module")
def flights(runs):
    """Times, energy and angular momentum of the free flight by scheme."""
    return {scheme: figures.flown(runs, scheme) for scheme in BOTH}


@pytest.mark.parametrize("scheme", BOTH)
def test_flight_with_all_nodes_is_that_of_the_run(scheme, runs, flights):
    run = runs(FLIGHT, scheme)
    t, energy, turning = flights[scheme]
    assert len(t) == len(energy) == len(turning) > 90 and t[-1] == pytest.approx(run["t"][-1], rel=1e-12)
    had = run["kinetic"] + run["complementary"] + run["internal"]
    assert energy[-1] == pytest.approx(had[-1] / had[0] - 1, abs=1e-12)
    assert np.ptp(energy) <= 1.01 * run.results["energy_swing"] or scheme == MJ
    assert 0 < np.abs(turning).max() <= 2 * run.results["angular_momentum_defect"]


def test_figure_of_flights_has_energy_above_and_momentum_below(draw, flights, monkeypatch):
    monkeypatch.setattr(figures, "flown", lambda _, scheme: flights[scheme])
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
