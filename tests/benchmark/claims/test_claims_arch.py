"""What is said of the discrete arch: every verdict, how it turns, and the figures."""

import dataclasses
import functools

import matplotlib.figure
import numpy as np
import pytest
from support import flips

from dolfinx_impact.benchmark.cases.discrete_arch import case
from dolfinx_impact.benchmark.cases.discrete_arch import claims as arch
from dolfinx_impact.benchmark.cases.discrete_arch import measures as arch_runs
from dolfinx_impact.integrators import CentralDifferences, VelocityLevel


class Silent(VelocityLevel):
    """No contact at all."""

    def impulses(self, s, response, *, first=False):
        return np.zeros(self.contact.count)


class Deepest(VelocityLevel):
    """Acts on the deepest node alone."""

    def impulses(self, s, response, *, first=False):
        r, gap = super().impulses(s, response, first=first), self.contact.gap(s.u, s.t)
        return np.where(gap == gap.min(), r, 0.0)


class Reaching(VelocityLevel):
    """Acts a step before the floor is reached."""

    def impulses(self, s, response, *, first=False):
        return response.solve(self.contact.gap(s.u + s.dt * s.v, s.t + s.dt) <= 0, self.contact.L(s.v))


class Gluing(VelocityLevel):
    """Keeps for ever what has touched once."""

    def __init__(self, contact):
        super().__init__(contact)
        self._held = np.zeros(contact.count, dtype=bool)

    def impulses(self, s, response, *, first=False):
        self._held |= self.contact.closed(self.contact.gap(s.u, s.t))
        s.v[self.contact.L.dofs[self._held, 0]] = 0.0
        # What it presses with counts, not the direction.
        return np.where(self._held, 1e-300, 0.0)


class Explicit(CentralDifferences):
    law = VelocityLevel

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, self.law(contact))


class NoContact(Explicit):
    law = Silent


class OneNode(Explicit):
    law = Deepest


class Early(Explicit):
    law = Reaching


class Adhesive(Explicit):
    law = Gluing


class Heavy(Explicit):
    """The mass weighs: what should be an artefact acts on the final solution."""

    def advance(self):
        self.v[3:-2:2] -= 5e-5 * self.dt
        super().advance()


class Drifting(Explicit):
    """Creeps to the right, which no force asks for."""

    def advance(self):
        self.u[2:-2:2] += 5e-4 * self.dt
        super().advance()


class Freezing(Explicit):
    """Stands still for good once it is slow and touches, at rest or not."""

    frozen = False

    def advance(self):
        self.frozen |= bool(self.t > 80 and self.r.any() and np.abs(self.v).max() < 5e-4)
        if self.frozen:
            self.v_before[:], self.v[:] = 0.0, 0.0
            self.v_force = self.v_before
        else:
            super().advance()


class Subcycled(Explicit):
    """Twenty small steps in one."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)
        self._inner = CentralDifferences(system, dt / 20, VelocityLevel(contact))

    def begin(self):
        self._inner.start(self.u, self.v)
        self._take()

    def advance(self):
        self.r[:] = 0.0
        for _ in range(20):
            self._inner.step()
            self.r += self._inner.r
        self._take()

    def _take(self):
        self.u[:], self.v[:], self.v_before[:] = self._inner.u, self._inner.v, self._inner.v_before
        self.v_force = self.v_before


class Falling(Explicit):
    """Pulled down by a force that stays when the load is gone."""

    def advance(self):
        self.v[3:-2:2] -= 1e-4 * self.dt
        super().advance()


class Undamped(Explicit):
    """Goes on moving whatever the damping is."""

    def advance(self):
        super().advance()
        self.v[2:-2] += self.dt * self.system.mu * self.v_before[2:-2]


class AlikeDamped(Explicit):
    """Damps at a rate of its own."""

    def __init__(self, system, dt, contact=None):
        system.mu = 0.3
        super().__init__(system, dt, contact)


def own(kind):
    return {arch_runs.CD: f"{__name__}:{kind.__name__}"}


BROKEN = {
    "distasio-arch-static": own(Freezing),
    "distasio-arch-cheap": own(Subcycled),
    "distasio-arch-scaling": own(Heavy),
    "distasio-arch-independent": own(Heavy),
    "distasio-arch-order": own(Drifting),
    "distasio-arch-forces": own(Heavy),
    "distasio-arch-temporary": own(Falling),
    "distasio-fig24-snaps": own(NoContact),
    "distasio-arch-printed": own(Adhesive),
    "distasio-arch-multiple": own(OneNode),
    "distasio-arch-diagonal": {arch_runs.CD: arch_runs.MJ},
    "distasio-arch-sign": own(Early),
    "distasio-fig25-ratio": own(Undamped),
    "distasio-fig25-stop": own(Drifting),
    "distasio-arch-velocity": own(AlikeDamped),
    "distasio-arch-criterion": own(Freezing),
    "distasio-arch-criterion-first": own(AlikeDamped),
    "distasio-arch-viscous": own(Undamped),
    "distasio-suitable-implicit": {arch_runs.MJ: "carpenter-implicit"},
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
    for scheme in (arch_runs.CD, arch_runs.MJ):
        run = runs(arch_runs.CASE, scheme, h=0.6, t_end=120)
        steps = case.impulses(case.started(scheme, run.summary["parameters"]), 120.0)
        _, inertia, contact = np.array(list(steps)).T
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
