"""The claims on the impacting bar: which hold, and that each turns with a scheme that lacks the property."""

import dataclasses
import functools

import numpy as np
import pytest
from support import flips, wrong_contact, wrong_schemes
from support.drawn import paper
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.impacting_bar import claims as bar
from dolfinx_impact.benchmark.cases.impacting_bar import measures
from dolfinx_impact.benchmark.cases.impacting_bar.measures import BAR, FORECASTS


class ExactForce(Central):
    """The wall pushes with the force of the continuous bar, as long as that touches."""

    law = staticmethod(functools.partial(wrong_contact.Prescribed, bar=BAR))


CD, MJ = "cd-lagrange", "moreau-jean"
DAMPED = {CD: bar.DISSIPATIVE}
BROKEN = {
    "distasio-bar-critical-step": {CD: bar.DISSIPATIVE},
    "distasio-bar-step": {CD: wrong_schemes.Unstable},
    "distasio-bar-one-node": {CD: MJ},
    "distasio-bar-consistent": {MJ: wrong_schemes.Lumped},
    "distasio-bar-e1-ripple-cd-lagrange": {CD: wrong_contact.Plastic},
    "distasio-bar-e1-ripple-moreau-jean": {MJ: CD},
    "distasio-bar-e0-displacement": {CD: wrong_contact.Energetic, MJ: wrong_contact.Energetic},
    "distasio-bar-e0-velocity": {CD: wrong_contact.EnergeticImpact},
    "distasio-bar-energy-order": {CD: wrong_schemes.Slowed},
    "distasio-bar-converges": {CD: wrong_contact.NoContact},
    "distasio-bar-node-energy": {CD: MJ},
    "distasio-bar-node-energy-implicit": {MJ: CD},
    "distasio-bar-lost-tiny": {CD: wrong_schemes.Slowed},
    "distasio-fig20-position": {CD: wrong_contact.NoContact},
    "distasio-fig20-persistent": {MJ: "carpenter-implicit"},
    "distasio-fig21-oscillations": DAMPED,
    "distasio-fig21-equivalent": {MJ: bar.DISSIPATIVE},
    "distasio-fig22-impulse": {CD: ExactForce},
    "distasio-bar-amplitude": {CD: "carpenter-implicit"},
    "distasio-bar-overshoot": DAMPED,
    "distasio-bar-frequency": {CD: wrong_schemes.StronglyDamped},
    "distasio-bar-high-frequency": {CD: wrong_schemes.StronglyDamped},
    "distasio-bar-dissipative": {bar.DISSIPATIVE: CD},
    "distasio-bar-noh-bathe": {"noh-bathe": CD},
    "distasio-bar-implicit-dissipative": {MJ: wrong_schemes.Lumped},
    "distasio-bar-generalized-alpha": {"generalized-alpha": wrong_schemes.Lumped},
    "distasio-bar-forced-dissipation": {CD: wrong_contact.Plastic},
    "csma-bar-e1-ripple-cd-lagrange": {CD: wrong_contact.Plastic},
    "csma-bar-e1-ripple-moreau-jean": {MJ: CD},
    "csma-bar-release-ripple": DAMPED,
    "csma-bar-scheme-dependent": {"carpenter-implicit": MJ},
    "csma-bar-dissipative": {bar.DISSIPATIVE: CD},
    "csma-bar-e0-quiet": {CD: wrong_contact.Elastic},
    "csma-bar-e0-dissipates": {CD: wrong_contact.Elastic},
    "csma-bar-node-energy": {CD: MJ},
    "csma-bar-convergence": {CD: wrong_schemes.Slowed},
    "csma-bar-no-influence-u": {CD: wrong_schemes.Rigid},
    "csma-bar-no-influence-v-cd-lagrange": {CD: MJ},
    "csma-bar-no-influence-v-moreau-jean": {MJ: CD},
    "csma-bar-amplitude": {CD: "carpenter-implicit"},
    "csma-bar-frequency": {CD: wrong_schemes.StronglyDamped},
    "csma-bar-high-frequency": {CD: wrong_schemes.StronglyDamped},
    "csma-bar-vibration": DAMPED,
    "csma-bar-formulation": {CD: "paoli-schatzman"},
    "acary-bar-forecast": {"combined": wrong_contact.OneForecast},
    "acary-bar-stress": {"combined": "carpenter-implicit"},
    "acary-bar-multiplier": {"combined": wrong_contact.Overcorrected},
    "acary-bar-multiplier-e08": {"combined": wrong_contact.Overcorrected},
    "acary-bar-stable": {"combined": wrong_contact.PositionOnly},
    "acary-bar-stable-after": {"combined": "carpenter-implicit"},
    "acary-bar-stable-impact": {"combined": MJ},
    "acary-bar-moreau-drift": {MJ: "combined"},
    "acary-bar-moreau-newton": {MJ: "paoli-schatzman"},
    "acary-bar-paoli-position": {"paoli-schatzman": CD},
    "acary-bar-paoli-position-e08": {"paoli-schatzman": "combined"},
    "acary-bar-paoli-newton": {"paoli-schatzman": CD},
    **{
        f"acary-bar-{name}-forecast-{w:g}": {"combined": broken}
        for w in FORECASTS
        for name, broken in {
            "penetration": MJ,
            "newton": "paoli-schatzman",
            "tau": wrong_contact.Overcorrected,
            "energy": wrong_contact.Overcorrected,
            "velocity": "carpenter-implicit",
            "velocity-e08": wrong_contact.PlasticCombined,
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


#: Less refined than in the report.
MESHES = (25, 50, 100, 200)


@pytest.fixture
def fewer(claim, monkeypatch):
    """Fewer meshes, and places of the impact in its step, where the claim does not need them all."""
    if "no-influence" not in claim.id:
        monkeypatch.setattr(measures, "MESHES", MESHES)
    if "energy-forecast" not in claim.id:
        monkeypatch.setattr(measures, "PARTS", (0.0, 0.5))


@pytest.mark.parametrize("claim", flips.tiers(bar.CLAIMS))
def test_verdict_turns(claim, runs, fewer):
    if "elements" in claim.measure.keywords:
        less = functools.partial(claim.measure, elements=MESHES[-1])
        claim = dataclasses.replace(claim, measure=less)
    finding = flips.check_by_number(claim, runs, BROKEN[claim.id])
    assert finding.reproduced is (claim.id not in NOT_REPRODUCED), finding


@pytest.fixture
def empty_figure():
    return paper()


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
    assert all(lowest[f"combined, forecast {w:g}"] > -1e-9 for w in FORECASTS)
    early, late = (line.get_ydata() for line in tau.lines if line.get_label() != "exact")
    assert early.max() > 0.5 and late.max() > 0.5 and np.abs(early - late).max() > 0.5
