"""What is said of the rotating spring: every verdict, how it turns, and the figures."""

import dataclasses
import functools

import matplotlib.figure
import numpy as np
import pytest
from support import cases, flips, wrong_contact, wrong_schemes
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.rotating_spring import claims as spring
from dolfinx_impact.benchmark.cases.rotating_spring import measures as spring_runs


class Rattling(Central):
    """Rebounds the more the larger the step is, whatever the material says."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, wrong_contact.other(contact, restitution=lambda e: min(1.0, 9 * dt)))


def own(kind, *schemes):
    return dict.fromkeys(schemes or (spring_runs.CD,), kind)


BOTH = (spring_runs.CD, spring_runs.MJ)
BROKEN = {
    "distasio-spring-critical": own(wrong_schemes.Subcycled),
    "distasio-spring-newton": own(wrong_schemes.OneSolve, spring_runs.MJ),
    "distasio-spring-inside": own(wrong_contact.NoContact),
    "distasio-fig15-large": own(wrong_contact.Early, spring_runs.MJ),
    "distasio-fig15-penetration-cd": own(wrong_contact.Early),
    "distasio-fig15-penetration-decoupled": {spring_runs.DECOUPLED: spring_runs.CD},
    "distasio-fig15-penetration-mj": {spring_runs.MJ: spring_runs.CD},
    "distasio-fig15-large-step": own(wrong_contact.NoContact),
    "distasio-fig16-central-impulse": own(wrong_contact.OffCentre),
    "distasio-fig16-oscillates": {spring_runs.MJ: spring_runs.CD},
    "distasio-fig16-loss": {spring_runs.MJ: spring_runs.DECOUPLED},
    "distasio-fig16-loss-decoupled": {spring_runs.DECOUPLED: spring_runs.MJ},
    "distasio-fig16-convergence": {spring_runs.MJ: spring_runs.CD},
    "distasio-fig16-exact": {spring_runs.CD: spring_runs.MJ},
    "distasio-spring-long": {spring_runs.MJ: spring_runs.DECOUPLED},
    "distasio-spring-long-decoupled": {spring_runs.DECOUPLED: spring_runs.MJ},
    "distasio-spring-symplectic": {spring_runs.CD: spring_runs.MJ},
    "distasio-fig18-tangential": {spring_runs.MJ: spring_runs.DECOUPLED},
    "distasio-fig17-tangent": own(wrong_contact.NoContact),
    "distasio-fig18-final": own(wrong_contact.Smooth, spring_runs.MJ),
    "distasio-fig18-phases": own(wrong_contact.SoftWall, *BOTH),
    "distasio-fig18-phases-count": own(Rattling, *BOTH),
    "distasio-fig18-oscillates": {spring_runs.MJ: spring_runs.CD},
    "distasio-spring-complexity": own(wrong_contact.Iterating),
    "csma-spring-exact": own(wrong_contact.OffCentre),
    "csma-spring-loss": {spring_runs.MJ: spring_runs.DECOUPLED},
    "csma-spring-loss-decoupled": {spring_runs.DECOUPLED: spring_runs.CD},
    "csma-spring-symplectic": {spring_runs.MJ: spring_runs.CD},
    "csma-spring-no-contact": own(wrong_contact.Lossless, spring_runs.MJ),
    "csma-spring-dissipative": own(wrong_contact.Lossless),
    "csma-spring-impacts": own(wrong_contact.NoContact),
    "csma-spring-mean": {spring_runs.MJ: spring_runs.CD},
    "csma-spring-error": {spring_runs.MJ: spring_runs.DECOUPLED},
    "csma-spring-error-decoupled": {spring_runs.DECOUPLED: spring_runs.MJ},
    "csma-spring-better": own(wrong_schemes.Subcycled, spring_runs.MJ),
    "csma-spring-friction": own(wrong_contact.Weak),
}
#: Those that the runs do not bear out.
NOT_REPRODUCED = {
    "distasio-fig15-penetration-mj",
    "distasio-fig15-penetration-decoupled",
    "distasio-fig16-loss",
    "distasio-spring-long",
    "distasio-fig18-phases-count",
    "csma-spring-loss",
    "csma-spring-error",
}
#: Coarser references, fewer starts and steps than those of the report.
SHORTER = {
    "distasio-fig16-convergence": {"steps": (0.1, 0.05)},
    "distasio-fig18-final": {"h": 2e-3},
    "distasio-fig18-phases": {"h": 5e-3},
    "distasio-fig18-phases-count": {"h": 2e-3},
    "distasio-spring-complexity": {"steps": 80},
    "csma-spring-impacts": {"h": 2e-4},
    "csma-spring-better": {"h": 1e-3, "starts": 3},
}


class Thirty(cases.Smaller):
    """Runs of 30 s in the place of 100."""

    def less(self, case, settings):
        return {} if "t_end" in settings else {"t_end": 30}


def shortened(claim):
    """The claim, decided with less where that says the same."""
    measure = functools.partial(claim.measure, **SHORTER.get(claim.id, {}))
    return dataclasses.replace(claim, measure=measure)


def test_every_claim_has_a_scheme_that_turns_it():
    ids = [claim.id for claim in spring.CLAIMS]
    assert len(ids) == len(set(ids)) == 36 and set(BROKEN) == set(ids) and NOT_REPRODUCED < set(ids)
    assert {claim.case for claim in spring.CLAIMS} == {spring_runs.CASE}


@pytest.mark.parametrize("claim", flips.tiers(spring.CLAIMS))
def test_claims(claim, runs):
    finding = flips.check(shortened(claim), runs, BROKEN[claim.id])
    assert finding.reproduced is (claim.id not in NOT_REPRODUCED), finding


def test_the_momentum_of_the_motion_itself(runs):
    """One impact at 1.4 m: the closed form, and the way to it at order one half."""
    coarse, fine = (spring_runs.refined(runs, h, 0.01, t_end=5, **spring_runs.RUBS) for h in (5e-3, 2e-4))
    limit = spring_runs.rubbed(fine)
    assert limit == pytest.approx(1.6 - 1.4 * 0.2 * np.sqrt(5 + 0.4 - 1.6 - (1.6 / 1.4) ** 2), rel=1e-14)
    errors = [limit - spring_runs.momentum(run)[-1] for run in (coarse, fine)]
    assert 0 < errors[1] < 0.01 and 3 < errors[0] / errors[1] < 12


def test_swing():
    assert spring_runs.swing(np.arange(5.0)) == spring_runs.swing(-np.arange(5.0)) == 0
    assert spring_runs.swing(np.array([0.0, 3.0, 1.0, 5.0])) == 2


@pytest.mark.parametrize("drawn", spring.FIGURES, ids=lambda drawn: drawn.id)
def test_figures(drawn, runs):
    figure = matplotlib.figure.Figure(layout="constrained")
    draw = drawn.draw
    if drawn.id != "distasio-fig16":
        draw = functools.partial(draw, h=2e-3 if drawn.id == "distasio-fig18" else 2e-4)
    draw(Thirty(runs.folder) if drawn.id == "distasio-fig16" else runs, figure)
    (axes,) = figure.axes
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert any("CD-Lagrange, h = 0.1" in word for word in words)
    assert any("Moreau-Jean" in word for word in words) and len(words) == len(axes.lines)
    spans = [np.ptp(line.get_ydata()) for line in axes.lines]
    if drawn.id in ("distasio-fig15", "distasio-fig17"):
        assert axes.get_xlabel() == "x [m]" and len(axes.lines) == 4
        # The paths reach the wall and stay within a step of it.
        assert all(1.39 < np.hypot(*line.get_data()).max() < 1.54 for line in axes.lines)
    else:
        assert axes.get_xlabel() == "time [s]" and axes.get_xlim()[1] >= 100
        assert axes.get_ylabel().endswith("[kg m²/s]")
    if drawn.id == "distasio-fig16":
        assert spans[0] < 1e-12 and 0.02 < spans[1] < 0.03 and spans[2] > 0.08  # in 30 s
    if drawn.id == "distasio-fig18":
        assert all(span > 0.4 for span in spans[:3])
