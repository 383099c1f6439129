"""What the papers say of the bouncing ball: every verdict, what turns it, and the figures."""

import dataclasses
import functools

import numpy as np
import pytest
from matplotlib.figure import Figure
from support import flips, wrong_contact, wrong_schemes

from dolfinx_impact.benchmark.cases.bouncing_ball import claims as ball
from dolfinx_impact.benchmark.cases.bouncing_ball import figures as ball_figures
from dolfinx_impact.benchmark.cases.bouncing_ball.measures import drop_heights, exact
from dolfinx_impact.benchmark.claim import ACARY, CSMA, DI_STASIO

CLAIMS = {claim.id: claim for claim in ball.CLAIMS}


class Raised(wrong_contact.Overcorrected):
    """The combined scheme with a tau that lifts the ball 0.1 m too far, whatever the step."""

    too_far = 0.1


CD, MOREAU, PAOLI, COMBINED = "cd-lagrange", "moreau-jean", "paoli-schatzman", "combined"
NEWMARK = "dolfinx_impact.benchmark.cases.bouncing_ball.claims:DampedNewmark"
EVENTS = "dolfinx_impact.benchmark.cases.bouncing_ball.claims:EventDriven"
#: For every claim schemes that lack the property; for one that does not hold, schemes that have it.
BROKEN = {
    "distasio-ball-intervals": {CD: wrong_contact.Lively},
    "distasio-ball-impact-times": {MOREAU: wrong_contact.Lively},
    "distasio-ball-stopping-time": {MOREAU: COMBINED},
    "distasio-ball-no-limit": {CD: "carpenter-implicit"},
    "distasio-fig03-carpenter": {"carpenter": CD},
    "distasio-fig03-implicit": {"carpenter-implicit": "carpenter"},
    "distasio-ball-newmark": {NEWMARK: MOREAU},
    "distasio-ball-carpenter-plastic": {"carpenter": CD},
    "distasio-fig04-height": {PAOLI: CD},
    "distasio-ball-carpenter-energy": {"carpenter": CD},
    "distasio-ball-paoli-step": {PAOLI: wrong_contact.Lively},
    "distasio-fig05-cd-lagrange": {CD: PAOLI},
    "distasio-fig05-moreau-jean": {MOREAU: wrong_contact.Lively},
    "distasio-fig05-penetration": {MOREAU: COMBINED},
    "distasio-fig05-penetration-one": {MOREAU: CD},
    "distasio-ball-work-elastic": {CD: PAOLI},
    "distasio-ball-work-lossy": {CD: PAOLI},
    "distasio-fig06-cd-lagrange": {CD: COMBINED},
    "distasio-fig06-moreau-jean": {MOREAU: COMBINED},
    "distasio-fig07-visible": {CD: "carpenter"},
    "distasio-fig07-larger": {CD: MOREAU, MOREAU: CD},
    "distasio-ball-detection": {MOREAU: CD},
    "distasio-ball-lower": {MOREAU: "carpenter"},
    "distasio-fig08-rounding": {CD: wrong_schemes.Euler},
    "distasio-fig08-order": {MOREAU: wrong_schemes.Euler},
    "distasio-fig09-cd-lagrange": {CD: wrong_contact.NoContact},
    "distasio-fig09-moreau-jean": {MOREAU: wrong_contact.Lively},
    "distasio-ball-velocity": {CD: PAOLI},
    "distasio-ball-carpenter-position": {"carpenter": CD},
    "distasio-ball-carpenter-is-paoli": {PAOLI: CD},
    "distasio-ball-paoli-three-steps": {PAOLI: wrong_contact.Slack},
    "distasio-ball-paoli-assumption": {PAOLI: wrong_contact.Slack},
    "distasio-ball-newton": {CD: PAOLI},
    "distasio-ball-penetration-step": {CD: wrong_contact.NoContact},
    "distasio-ball-balance": {MOREAU: wrong_schemes.Euler},
    "distasio-mj-is-newmark": {MOREAU: CD},
    "distasio-cd-is-central": {CD: MOREAU},
    "distasio-ball-modified-energy": {CD: wrong_schemes.Euler},
    "distasio-ball-time-stepping": {MOREAU: COMBINED},
    "distasio-ball-event-driven": {EVENTS: CD},
    "csma-ball-event-driven": {EVENTS: MOREAU},
    "csma-ball-stop": {CD: wrong_contact.Lively},
    "csma-ball-constant-step": {CD: COMBINED},
    "csma-ball-relaxed": {MOREAU: COMBINED},
    "csma-ball-plastic-only": {PAOLI: CD},
    "csma-ball-injection": {PAOLI: MOREAU},
    "csma-ball-convergence": {PAOLI: wrong_contact.Lively},
    "csma-ball-energy-cd-lagrange": {CD: PAOLI},
    "csma-ball-energy-moreau-jean": {MOREAU: wrong_contact.Lively},
    "csma-ball-order-flight": {MOREAU: wrong_schemes.Euler},
    "csma-ball-order-impact": {CD: wrong_contact.NoContact},
    "csma-ball-carpenter-excluded": {"carpenter": CD},
    "acary-ball-moreau-drift": {MOREAU: COMBINED},
    "acary-ball-schatzman-position-e0": {PAOLI: MOREAU},
    "acary-ball-schatzman-position-e08": {PAOLI: COMBINED},
    "acary-ball-schatzman-constraint": {PAOLI: CD},
    "acary-ball-schatzman-law": {PAOLI: COMBINED},
    "acary-ball-schatzman-steps": {PAOLI: wrong_contact.Slack},
    "acary-ball-position": {COMBINED: MOREAU},
    "acary-ball-law": {COMBINED: PAOLI},
    "acary-ball-tau-half": {COMBINED: Raised},
    "acary-ball-tau-one": {COMBINED: Raised},
    "acary-ball-viability": {COMBINED: Raised},
    "acary-ball-heights-half": {COMBINED: wrong_contact.Lively},
    "acary-ball-heights-one": {COMBINED: wrong_contact.Lively},
    "acary-ball-forecast": {COMBINED: MOREAU},
    "acary-ball-stable-long": {COMBINED: wrong_contact.Lively},
    "acary-ball-stability-half": {COMBINED: MOREAU},
    "acary-ball-stability-one": {COMBINED: PAOLI},
    "acary-ball-rest-plastic": {COMBINED: "carpenter-implicit"},
    "acary-ball-rest-half": {COMBINED: MOREAU},
    "acary-ball-rest-one": {COMBINED: MOREAU},
}
NOT_REPRODUCED = {
    "distasio-fig05-penetration-one",
    "acary-ball-schatzman-position-e08",
    "acary-ball-stability-half",
    "acary-ball-rest-half",
    "acary-ball-rest-one",
}
THREE_STEPS, HEIGHTS = (2e-2, 1e-2, 5e-3), 4
#: Shorter runs that decide the same: fewer seconds, drop heights or steps.
SHORT = {
    "distasio-fig05-cd-lagrange": {"t_end": 20.0},
    "distasio-fig05-moreau-jean": {"t_end": 20.0},
    "distasio-ball-paoli-step": {"heights": 12, "steps": THREE_STEPS},
    "acary-ball-stable-long": {"heights": 1, "t_end": 20.0},
    "distasio-fig08-rounding": {"steps": (*THREE_STEPS, 1e-3)},
    **{
        name: {"heights": HEIGHTS}
        for name in (
            "distasio-ball-detection",
            "distasio-ball-lower",
            "distasio-fig05-penetration",
            "distasio-ball-paoli-three-steps",
            "distasio-ball-paoli-assumption",
            "acary-ball-moreau-drift",
            "acary-ball-schatzman-steps",
            "acary-ball-position",
            "acary-ball-law",
            "acary-ball-forecast",
            "acary-ball-stability-half",
            "acary-ball-stability-one",
            "acary-ball-rest-plastic",
        )
    },
    **{
        name: {"heights": HEIGHTS, "steps": THREE_STEPS}
        for name in (
            "distasio-fig09-cd-lagrange",
            "distasio-fig09-moreau-jean",
            "distasio-ball-penetration-step",
            "csma-ball-convergence",
            "csma-ball-order-impact",
            "acary-ball-tau-half",
            "acary-ball-tau-one",
            "acary-ball-viability",
            "acary-ball-heights-half",
            "acary-ball-heights-one",
        )
    },
}


def test_every_claim_has_its_own_name_and_a_scheme_that_turns_it():
    assert len(CLAIMS) == len(ball.CLAIMS) and set(CLAIMS) == set(BROKEN)
    assert set(SHORT) <= set(CLAIMS) and NOT_REPRODUCED <= set(CLAIMS)
    papers = [claim.paper for claim in ball.CLAIMS]
    least = {DI_STASIO: 14, CSMA: 4, ACARY: 8}
    assert set(papers) == set(least) and all(papers.count(paper) >= n for paper, n in least.items())


@pytest.mark.parametrize("name", flips.tiers(CLAIMS))
def test_claim(name, runs):
    """The verdict is the known one, and turns with a scheme that lacks (or has) the property."""
    claim = CLAIMS[name]
    shorter = dataclasses.replace(claim, measure=functools.partial(claim.measure, **SHORT.get(name, {})))
    finding = flips.check(shorter, runs, BROKEN[name])
    assert finding.reproduced is (name not in NOT_REPRODUCED), finding


def test_drop_heights_spread_the_impact_over_a_step():
    phases = np.array([exact(0.0, z0).first_impact for z0 in drop_heights(20, 0.01)]) / 0.01 % 1
    assert np.diff(np.sort(phases)).max() < 2 / 20 and 0.0 < phases.min() and phases.max() < 1.0
    assert np.isclose(np.mean(phases), 0.5, atol=0.05)


@pytest.fixture
def figure(monkeypatch):
    """An empty figure; studies with fewer runs."""
    monkeypatch.setattr(ball_figures, "STEPS", THREE_STEPS)
    monkeypatch.setattr(ball_figures, "HEIGHTS", 2)
    monkeypatch.setattr(ball_figures, "SMOOTH_STEPS", (*THREE_STEPS, 1e-3))
    return Figure(layout="constrained")


FIGURES = {figure.id: figure for figure in ball.FIGURES}
LINES = {
    "distasio-fig03": {"Carpenter, explicit", "Carpenter, implicit", "exact"},
    "distasio-fig04": {"Paoli-Schatzman", "exact"},
    **{f"distasio-fig{n:02}": {"CD-Lagrange", "Moreau-Jean", "exact"} for n in (5, 6, 7)},
    "distasio-fig08": {"CD-Lagrange", "Moreau-Jean", "order 2"},
    "distasio-fig09": {"CD-Lagrange, mean", "Moreau-Jean, mean", "order 1"},
    "acary-ball": {"combined, forecast 0.5", "combined, forecast 1", "Moreau-Jean", "exact"},
}


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name, runs, figure):
    """Units on every axis, the lines of the paper in the legend, and all of them visible."""
    assert set(FIGURES) == set(LINES)
    FIGURES[name].draw(runs, figure)
    for ax in figure.axes:
        assert "[" in ax.get_xlabel() and ("[" in ax.get_ylabel() or ax is figure.axes[1])
        for line in ax.lines:
            y, (low, high) = np.asarray(line.get_ydata()), ax.get_ylim()
            assert line.get_label().startswith("_") or np.any((low <= y) & (y <= high))
    texts = {text.get_text() for text in figure.axes[0].get_legend().get_texts()}
    assert LINES[name] <= texts


def test_figures_show_what_the_claims_say(runs, figure):
    by_label = {}
    for name in ("distasio-fig03", "distasio-fig04"):
        drawn = Figure()
        FIGURES[name].draw(runs, drawn)
        by_label |= {line.get_label(): line.get_ydata() for line in drawn.axes[0].lines}
    assert by_label["Carpenter, implicit"].max() > 5.0 and by_label["Carpenter, explicit"].max() == 1.0
    assert by_label["Paoli-Schatzman"].max() == pytest.approx(1.0312, abs=1e-4)
    FIGURES["distasio-fig08"].draw(runs, figure)
    schemes = [line for line in figure.axes[0].lines if line.get_label() in ("CD-Lagrange", "Moreau-Jean")]
    assert len(schemes) == 2 and max(line.get_ydata().max() for line in schemes) < 1e-13
