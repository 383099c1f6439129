"""What is said of the discrete arch: every verdict, how it turns, and the figures."""

import dataclasses
import functools

import matplotlib.figure
import numpy as np
import pytest
from support import flips, wrong_contact, wrong_schemes
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.discrete_arch import case
from dolfinx_impact.benchmark.cases.discrete_arch import claims as arch
from dolfinx_impact.benchmark.cases.discrete_arch import measures as arch_runs


class Freezing(Central):
    """Stands still for good once it is slow and touches, at rest or not."""

    frozen = False

    def advance(self):
        self.frozen |= bool(self.t > 80 and self.r.any() and np.abs(self.v).max() < 5e-4)
        if self.frozen:
            self.v_before[:], self.v[:] = 0.0, 0.0
            self.v_force = self.v_before
        else:
            super().advance()


class Undamped(Central):
    """Goes on moving whatever the damping is."""

    def advance(self):
        super().advance()
        self.v[2:-2] += self.dt * self.system.mu * self.v_before[2:-2]


class AlikeDamped(Central):
    """Damps at a rate of its own."""

    def __init__(self, system, dt, contact=None):
        system.mu = 0.3
        super().__init__(system, dt, contact)


CD, MJ = arch_runs.CD, arch_runs.MJ
BROKEN = {
    "distasio-arch-static": {CD: Freezing},
    "distasio-arch-cheap": {CD: wrong_schemes.Subcycled},
    "distasio-arch-scaling": {CD: wrong_schemes.Heavy},
    "distasio-arch-independent": {CD: wrong_schemes.Heavy},
    "distasio-arch-order": {CD: wrong_schemes.Drifting},
    "distasio-arch-forces": {CD: wrong_schemes.Heavy},
    "distasio-arch-temporary": {CD: wrong_schemes.Heavy},
    "distasio-fig24-snaps": {CD: wrong_contact.NoContact},
    "distasio-arch-printed": {CD: wrong_contact.Adhesive},
    "distasio-arch-multiple": {CD: wrong_contact.OneNode},
    "distasio-arch-diagonal": {CD: MJ},
    "distasio-arch-sign": {CD: wrong_contact.Early},
    "distasio-fig25-ratio": {CD: Undamped},
    "distasio-fig25-stop": {CD: wrong_schemes.Drifting},
    "distasio-arch-velocity": {CD: AlikeDamped},
    "distasio-arch-criterion": {CD: Freezing},
    "distasio-arch-criterion-first": {CD: AlikeDamped},
    "distasio-arch-viscous": {CD: Undamped},
    "distasio-suitable-implicit": {MJ: "carpenter-implicit"},
}
#: Those that the runs do not bear out.
NOT_REPRODUCED = {"distasio-arch-printed", "distasio-arch-criterion-first"}
#: Shorter studies than those of the report.
SHORTER = {
    "distasio-arch-order": {"steps": (0.6, 0.2), "places": 4},
    "distasio-arch-diagonal": {"t_end": 150},
    "distasio-arch-criterion": {"dampings": (0.05, 0.2)},
    "distasio-suitable-implicit": {
        "settings": {"van-der-pol": {"h": 1e-2, "t_end": 4}, "discrete-arch": {"h": 2, "t_end": 200}}
    },
}


def test_every_claim_has_a_scheme_that_turns_it():
    ids = [claim.id for claim in arch.CLAIMS]
    assert len(ids) == len(set(ids)) == 19 and set(BROKEN) == set(ids) and NOT_REPRODUCED < set(ids)
    assert {claim.case for claim in arch.CLAIMS} == {arch_runs.CASE}


@pytest.mark.parametrize("claim", flips.tiers(arch.CLAIMS))
def test_claims(claim, runs):
    shorter = functools.partial(claim.measure, **SHORTER.get(claim.id, {}))
    claim = dataclasses.replace(claim, measure=shorter)
    finding = flips.check(claim, runs, BROKEN[claim.id])
    assert finding.reproduced is (claim.id not in NOT_REPRODUCED), finding


def test_impulses_are_those_of_the_criterion(runs):
    """What the figure reads from the history is what the criterion looks at."""
    for scheme, h in ((CD, 0.9), (MJ, 1.8)):  # nodes touch from 77 s on
        run = runs(arch_runs.CASE, scheme, h=h, t_end=90)
        steps = case.impulses(case.started(scheme, run.summary["parameters"]), 90.0)
        _, inertia, contact = np.array(list(steps)).T
        assert contact.any()
        assert arch_runs.inertia(run) == pytest.approx(inertia, rel=1e-9, abs=1e-15)
        assert arch_runs.contact(run) == pytest.approx(contact, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("drawn", arch.FIGURES, ids=lambda drawn: drawn.id)
def test_figures(drawn, runs):
    figure = matplotlib.figure.Figure(layout="constrained")
    drawn.draw(runs, figure)
    (axes,) = figure.axes
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    if drawn.id == "distasio-fig24":
        assert axes.get_xlabel() == "x [m]" and axes.get_ylabel() == "y [m]" and len(words) == 5
        first, between, last = (line.get_ydata() for line in axes.lines[:3])
        assert first.min() == 0 and between.min() < -0.03 and between.max() > 0.02 and last.max() < 1e-15
        assert last.min() == pytest.approx(-0.065, abs=1e-3)
    else:
        assert axes.get_xlabel() == "time [s]" and axes.get_ylabel() == "impulse of a step [µN s]"
        contact, inertia = (line.get_ydata() for line in axes.lines[:2])
        assert len(words) == 2 and contact.min() == 0 < contact[-1] and abs(inertia[-1]) < 1e-3 * contact[-1]
        assert axes.get_ylim()[0] < inertia.min() and axes.get_ylim()[1] > contact.max()
