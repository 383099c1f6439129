"""The claims on the impacting bar: which hold, and that each turns with a scheme that lacks the property."""

import copy

import numpy as np
import pytest
from support import flips

from dolfinx_impact import AcaryBonnefon
from dolfinx_impact.benchmark.cases.impacting_bar import claims as bar
from dolfinx_impact.benchmark.cases.impacting_bar.claims import TchamwaWielgosz
from dolfinx_impact.benchmark.cases.impacting_bar.measures import BAR
from dolfinx_impact.integrators import CentralDifferences, Newmark, PositionLevel, ThetaMethod, VelocityLevel


class StronglyDamped(TchamwaWielgosz):
    """Hardly anything of high frequency is left."""

    phi = 1.3


class Unstable(TchamwaWielgosz):
    """Its largest stable step is 0.67 of the critical one."""

    phi = 1.6


class NoContact(CentralDifferences):
    """Flies through the wall."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact))

    def _resolve_contact(self, response, first=False):
        self.r[:] = 0.0


def other_restitution(contact, change):
    contact = copy.copy(contact)
    contact.restitution = change(contact.restitution)
    return contact


class Plastic(CentralDifferences):
    """CD-Lagrange that knows no restitution."""

    change = staticmethod(lambda e: 0.0)

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(other_restitution(contact, self.change)))


class Elastic(Plastic):
    """CD-Lagrange that always rebounds."""

    change = staticmethod(lambda e: 1.0)


class Energetic(Plastic):
    """CD-Lagrange that rebounds twice as fast as it should."""

    change = staticmethod(lambda e: 2 * e)


class EnergeticImpact(Plastic):
    """CD-Lagrange that feeds energy in where the impact should be plastic."""

    change = staticmethod(lambda e: 1.5 - 0.5 * e)


class RigidRebound(CentralDifferences):
    """Takes the bar for rigid where there is restitution: it rebounds whole and at once."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact))

    def advance(self):
        super().advance()
        if self.contact.restitution > 0 and self.r.any():
            self.v[:] = -self.contact.restitution * self.v_before


class Dragged(CentralDifferences):
    """Something slows the bar down, 1000/s, on every mesh."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact))

    def advance(self):
        super().advance()
        self.v *= 1 - 1000 * self.dt


class ExactForce(CentralDifferences):
    """The wall pushes with the force of the continuous bar, as long as that touches."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact))

    def _resolve_contact(self, response, first=False):
        self.r[:] = BAR.force * self.dt if BAR.contact_start <= self.t < BAR.contact_end else 0.0
        response.apply_impulse(self.r, self.v)


class Lumped(ThetaMethod):
    """Moreau-Jean with a lumped mass."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact), theta=0.5, forecast=0.5, mass="lumped")


class OneForecast(AcaryBonnefon):
    """The combined scheme with forecast 0.5 whatever is asked for."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact, forecast=0.5, mass="consistent")


class PlasticCombined(OneForecast):
    """The combined scheme that knows no restitution."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, other_restitution(contact, lambda e: 0.0))


class PositionOnly(Newmark):
    """Newmark's scheme, which knows no penetration but no impact law."""

    def __init__(self, system, dt, contact=None):
        law = PositionLevel(other_restitution(contact, lambda e: 0.0))
        super().__init__(system, dt, law, beta=0.25, gamma=0.5, mass="consistent")


class Overcorrected(OneForecast):
    """Moves the node a fixed distance further than tau."""

    def advance(self):
        super().advance()
        more = np.where(self.tau > 1e-9, 2e-5, 0.0)
        self.tau += more
        self.contact.L.add_transpose(more, self.u)


HERE = "test_claims_bar:"
CD, MJ = "cd-lagrange", "moreau-jean"
DAMPED = {CD: bar.DISSIPATIVE}
BROKEN = {
    "distasio-bar-critical-step": {CD: bar.DISSIPATIVE},
    "distasio-bar-step": {CD: HERE + "Unstable"},
    "distasio-bar-one-node": {CD: MJ},
    "distasio-bar-consistent": {MJ: HERE + "Lumped"},
    "distasio-bar-e1-ripple-cd-lagrange": {CD: HERE + "Plastic"},
    "distasio-bar-e1-ripple-moreau-jean": {MJ: CD},
    "distasio-bar-e0-displacement": {CD: HERE + "Energetic", MJ: HERE + "Energetic"},
    "distasio-bar-e0-velocity": {CD: HERE + "EnergeticImpact"},
    "distasio-bar-energy-order": {CD: HERE + "Dragged"},
    "distasio-bar-converges": {CD: HERE + "NoContact"},
    "distasio-bar-node-energy": {CD: MJ},
    "distasio-bar-node-energy-implicit": {MJ: CD},
    "distasio-bar-lost-tiny": {CD: HERE + "Dragged"},
    "distasio-fig20-position": {CD: HERE + "NoContact"},
    "distasio-fig20-persistent": {MJ: "carpenter-implicit"},
    "distasio-fig21-oscillations": DAMPED,
    "distasio-fig21-equivalent": {MJ: bar.DISSIPATIVE},
    "distasio-fig22-impulse": {CD: HERE + "ExactForce"},
    "distasio-bar-amplitude": {CD: "carpenter-implicit"},
    "distasio-bar-overshoot": DAMPED,
    "distasio-bar-frequency": {CD: HERE + "StronglyDamped"},
    "distasio-bar-high-frequency": {CD: HERE + "StronglyDamped"},
    "distasio-bar-dissipative": {bar.DISSIPATIVE: CD},
    "distasio-bar-noh-bathe": {"noh-bathe": CD},
    "distasio-bar-implicit-dissipative": {MJ: HERE + "Lumped"},
    "distasio-bar-generalized-alpha": {"generalized-alpha": HERE + "Lumped"},
    "distasio-bar-forced-dissipation": {CD: HERE + "Plastic"},
    "csma-bar-e1-ripple-cd-lagrange": {CD: HERE + "Plastic"},
    "csma-bar-e1-ripple-moreau-jean": {MJ: CD},
    "csma-bar-release-ripple": DAMPED,
    "csma-bar-scheme-dependent": {"carpenter-implicit": MJ},
    "csma-bar-dissipative": {bar.DISSIPATIVE: CD},
    "csma-bar-e0-quiet": {CD: HERE + "Elastic"},
    "csma-bar-e0-dissipates": {CD: HERE + "Elastic"},
    "csma-bar-node-energy": {CD: MJ},
    "csma-bar-convergence": {CD: HERE + "Dragged"},
    "csma-bar-no-influence-u": {CD: HERE + "RigidRebound"},
    "csma-bar-no-influence-v-cd-lagrange": {CD: MJ},
    "csma-bar-no-influence-v-moreau-jean": {MJ: CD},
    "csma-bar-amplitude": {CD: "carpenter-implicit"},
    "csma-bar-frequency": {CD: HERE + "StronglyDamped"},
    "csma-bar-high-frequency": {CD: HERE + "StronglyDamped"},
    "csma-bar-vibration": DAMPED,
    "csma-bar-formulation": {CD: "paoli-schatzman"},
    "acary-bar-forecast": {"combined": HERE + "OneForecast"},
    "acary-bar-stress": {"combined": "carpenter-implicit"},
    "acary-bar-multiplier": {"combined": HERE + "Overcorrected"},
    "acary-bar-multiplier-e08": {"combined": HERE + "Overcorrected"},
    "acary-bar-stable": {"combined": HERE + "PositionOnly"},
    "acary-bar-stable-after": {"combined": "carpenter-implicit"},
    "acary-bar-stable-impact": {"combined": MJ},
    "acary-bar-moreau-drift": {MJ: "combined"},
    "acary-bar-moreau-newton": {MJ: "paoli-schatzman"},
    "acary-bar-paoli-position": {"paoli-schatzman": CD},
    "acary-bar-paoli-position-e08": {"paoli-schatzman": "combined"},
    "acary-bar-paoli-newton": {"paoli-schatzman": CD},
    **{
        f"acary-bar-{name}-forecast-{w:g}": {"combined": broken}
        for w in bar.FORECASTS
        for name, broken in {
            "penetration": MJ,
            "newton": "paoli-schatzman",
            "tau": HERE + "Overcorrected",
            "energy": HERE + "Overcorrected",
            "velocity": "carpenter-implicit",
            "velocity-e08": HERE + "PlasticCombined",
        }.items()
    },
}
NOT_REPRODUCED = {
    "distasio-bar-e1-ripple-moreau-jean",
    "distasio-bar-e0-displacement",
    "distasio-bar-node-energy-implicit",
    "distasio-bar-overshoot",
    "csma-bar-e1-ripple-moreau-jean",
    "csma-bar-no-influence-v-moreau-jean",
    "acary-bar-paoli-position-e08",
    "acary-bar-stable-impact",
    "acary-bar-velocity-e08-forecast-0.5",
    "acary-bar-velocity-e08-forecast-1",
}


def test_every_claim_has_a_scheme_that_lacks_the_property():
    assert len({claim.id for claim in bar.CLAIMS}) == len(bar.CLAIMS)
    assert {claim.id for claim in bar.CLAIMS} == set(BROKEN)


@pytest.mark.parametrize("claim", flips.tiers(bar.CLAIMS))
def test_verdict_turns(claim, runs):
    finding = flips.check(claim, runs, BROKEN[claim.id])
    turned = claim.decide(runs.instead(BROKEN[claim.id]))
    assert flips.is_decided(claim, turned), f"turns because {turned.words}"
    assert finding.reproduced is (claim.id not in NOT_REPRODUCED), finding


@pytest.fixture
def empty_figure():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    return Figure(figsize=(9, 6))


DRAWN = {
    "distasio-fig20": ("displacement of the contact node [mm]", (-0.7, 0.25), {"exact", CD, MJ}),
    "distasio-fig21": ("velocity of the contact node [m/s]", (-9, 6), {"exact", CD, MJ}),
    "distasio-fig22": ("impulse at the contact node [N s]", (0, 0.12), {"exact", CD, MJ}),
}


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_figure_of_both_schemes(name, runs, empty_figure):
    drawn = {figure.id: figure for figure in bar.FIGURES}[name]
    drawn.draw(runs, empty_figure)
    (ax,) = empty_figure.axes
    label, (low, high), names = DRAWN[name]
    assert ax.get_ylabel() == label and ax.get_xlabel() == "time [µs]" and ax.get_xlim() == (0, 300)
    curves = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert names <= set(curves) and ax.get_legend() is not None
    for values in curves.values():
        assert low <= np.min(values) and np.max(values) <= high
        assert np.ptp(values) > 0.5 * (high - low)


def test_figure_of_the_combined_scheme(runs, empty_figure):
    (drawn,) = [figure for figure in bar.FIGURES if figure.id == "acary-bar"]
    drawn.draw(runs, empty_figure)
    gap, tau, velocity, impulse = empty_figure.axes
    units = [ax.get_ylabel().partition(" [")[2] for ax in (gap, tau, velocity, impulse)]
    assert units == ["µm]", "µm]", "m/s]", "N s]"]
    lowest = {line.get_label(): np.min(line.get_ydata()) for line in gap.lines}
    assert lowest["moreau-jean"] < -0.1
    assert all(lowest[f"combined, forecast {w:g}"] > -1e-9 for w in bar.FORECASTS)
    early, late = (line.get_ydata() for line in tau.lines if line.get_label() != "exact")
    assert early.max() > 0.5 and late.max() > 0.5 and np.abs(early - late).max() > 0.5
