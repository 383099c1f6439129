"""The claims of Doyen, Ern and Piperno (2011), Sects. 2 to 4: which hold, and that each turns."""

import time

import numpy as np
import pytest
from support import flips, wrong_contact, wrong_schemes

from dolfinx_impact.benchmark.cases.signorini import measures
from dolfinx_impact.benchmark.cases.signorini.claims import EXACT as CLAIMS
from dolfinx_impact.benchmark.cases.signorini.measures import CORRECTED, THETAS
from dolfinx_impact.integrators import Newmark, PositionLevel


class OnlyNewmark(Newmark):
    """Newmark with exact contact and constants of its own."""

    explicit = False
    constants = (0.25, 0.5)

    def __init__(self, system, dt, contact=None, **options):
        beta, gamma = self.constants
        options = {"mass": "consistent", **options}
        super().__init__(system, dt, PositionLevel(contact), beta=beta, gamma=gamma, **options)


class LinearAcceleration(OnlyNewmark):
    """Stable for small steps only."""

    constants = (1 / 6, 0.5)


class Backward(OnlyNewmark):
    """Half the acceleration at an impact."""

    constants = (0.5, 1.0)


class Reflected(wrong_schemes.Rigid):
    """Takes the bar for rigid: it rebounds whole and at once, and loses nothing."""

    def taken(self, contact):
        return wrong_contact.other(contact, restitution=lambda e: 1.0)


class SlowProjection(OnlyNewmark):
    """4.6 that waits a millisecond in every step."""

    dissipative = projected = True

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact, mass="lumped")

    def advance(self):
        time.sleep(1e-3)
        super().advance()


NEWMARK, THETA, RESET, MIDPOINT, DISSIPATIVE, STABILIZED, CENTRAL, PROJECTED = (
    f"dep-4.{k}" for k in range(1, 9)
)
BROKEN = {
    "2.1-trapezoidal-order": {NEWMARK: THETA},
    "2.1-trapezoidal-stable": {NEWMARK: LinearAcceleration},
    "2.1-trapezoidal-energy": {NEWMARK: THETA},
    "2.1-hht-order": {NEWMARK: THETA},
    "2.1-hht-stable": {NEWMARK: LinearAcceleration},
    "2.1-hht-frequencies": {NEWMARK: MIDPOINT},
    "2.1-hht-alpha": {NEWMARK: MIDPOINT},
    "2.2-midpoint-order": {MIDPOINT: THETA},
    "2.2-midpoint-stable": {MIDPOINT: LinearAcceleration},
    "2.2-midpoint-energy": {MIDPOINT: THETA},
    "2.3-central-order": {CENTRAL: THETA},
    "2.3-central-energy": {CENTRAL: THETA},
    "2.3-central-stable": {CENTRAL: wrong_schemes.Unstable},
    "2.3-nearly": {CENTRAL: THETA},
    "3.1-force": {CENTRAL: wrong_contact.SoftWall},
    "3.1-duration": {CENTRAL: wrong_contact.SoftWall},
    "3.1-rebound": {CENTRAL: NEWMARK},
    "3.2-second": {CENTRAL: wrong_contact.SoftWall},
    "4-node": {CENTRAL: "dep-7.2"},
    "4.1-force": {NEWMARK: RESET},
    "4.1-displacement": {NEWMARK: RESET},
    "4.1-acceleration": {NEWMARK: Backward},
    "4.1-magnitude": {NEWMARK: MIDPOINT},
    "4.1-magnitude-limit": {NEWMARK: "dep-7.1"},
    "4.1-step": {NEWMARK: "dep-7.1"},
    "4.1-impact-law": {NEWMARK: RESET},
    "4.1-long-time": {NEWMARK: "dep-7.2"},
    "4.1-energy": {NEWMARK: "dep-7.2"},
    "4.1-balance": {NEWMARK: MIDPOINT},
    "4.1-work": {NEWMARK: MIDPOINT},
    "4.1-structure": {NEWMARK: RESET},
    "4.1-hht-damped": {NEWMARK: MIDPOINT},
    "4.1-hht-visible": {NEWMARK: "dep-7.1"},
    "4.1-hht-energy": {NEWMARK: "dep-7.2"},
    **{f"4.2-damped-{theta:g}": {THETA: NEWMARK} for theta in THETAS},
    **{f"4.2-energy-{theta:g}": {THETA: "dep-7.2"} for theta in THETAS},
    "4.2-order": {THETA: NEWMARK},
    "4.2-stable": {THETA: LinearAcceleration},
    "4-order": {RESET: NEWMARK},
    "4.1-no-newmark": {NEWMARK: RESET},
    "4.3-quiet": {RESET: NEWMARK},
    "4.3-late": {RESET: STABILIZED},
    "4.3-peak": {RESET: STABILIZED},
    "4.4-balance": {MIDPOINT: NEWMARK},
    "4.4-work": {MIDPOINT: "dep-5.1"},
    "4.4-force": {MIDPOINT: STABILIZED},
    "4.4-stress": {MIDPOINT: NEWMARK},
    "4.4-energy": {MIDPOINT: "dep-7.2"},
    "4.4-long-time": {MIDPOINT: "dep-7.2"},
    "4.4-velocity-update": {CORRECTED: "dep-7.2"},
    "4.5-balance": {DISSIPATIVE: NEWMARK},
    "4.5-bulk-balance": {NEWMARK: MIDPOINT},
    "4.5-bulk": {NEWMARK: MIDPOINT},
    "4.5-bulk-work": {NEWMARK: "dep-5.1"},
    "4.5-same": {DISSIPATIVE: STABILIZED},
    "4.6-quiet": {STABILIZED: MIDPOINT},
    "4.6-sum": {STABILIZED: DISSIPATIVE},
    "4.6-long-time": {STABILIZED: "dep-7.2"},
    "4.6-cheap": {STABILIZED: SlowProjection},
    "4.7-acceleration": {CENTRAL: NEWMARK},
    "4.7-quiet": {CENTRAL: NEWMARK},
    "4.7-balance": {CENTRAL: MIDPOINT},
    "4.7-energy": {CENTRAL: "dep-7.2"},
    "4.7-stable": {CENTRAL: "dep-5.3"},
    "4.7-converges": {CENTRAL: Reflected},
    "4.7-semi-discrete": {CENTRAL: NEWMARK},
    "4.8-same": {PROJECTED: "dep-6.2"},
}
NOT_REPRODUCED = {"4.1-acceleration", "4.1-magnitude"}


def short(claim):
    return claim.id.removeprefix("doyen-")


def test_every_claim_has_a_scheme_that_lacks_the_property():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert {short(claim) for claim in CLAIMS} == set(BROKEN)


@pytest.mark.parametrize("claim", flips.tiers(CLAIMS))
def test_verdict_turns(claim, runs, monkeypatch):
    if claim.id in flips.FAST:  # three parts of a step instead of nine
        monkeypatch.setattr(measures, "PARTS", measures.PARTS[::3])
    finding = flips.check_by_number(claim, runs, BROKEN[short(claim)])
    assert finding.reproduced is (short(claim) not in NOT_REPRODUCED), finding


def test_velocity_update_gives_the_lost_energy_back(runs):
    run = runs("signorini-impact", CORRECTED)
    energy = run["kinetic"] + run["internal"]
    assert np.ptp(energy) < 1e-11 * energy[0] and run["r"].max() > 0
    plain = runs("signorini-impact", MIDPOINT)
    assert np.ptp(plain["kinetic"] + plain["internal"]) > 1e-4 * energy[0]
