"""Every property is found where it is, and missed where it is not."""

import functools

import numpy as np
import pytest
from support.flips import named
from support.paths import DEMOS
from support.wrong_contact import NoContact
from support.wrong_schemes import Central, Dragged

from dolfinx_impact.benchmark.report import properties
from dolfinx_impact.benchmark.report.properties import PROPERTIES


class LateStart(Central):
    """Symplectic Euler: the first velocity is taken for that of half a step later, which costs an order."""

    def begin(self):
        v0 = self.v.copy()
        super().begin()
        self.v[:], self.v_before[:] = v0, v0


class Light(NoContact):
    """A contact that gives way to all but light bodies."""

    def __init__(self, system, dt, contact=None):
        if system.mass[0] <= 1.0:
            self.law = Central.law
        super().__init__(system, dt, contact)


class Refuses(Central):
    """A scheme that cannot be made."""

    def __init__(self, system, dt, contact=None):
        raise ValueError("only on Sundays")


#: A scheme that has the property, and one that lacks it.
PAIRS = {
    "impact-energy": ("cd-lagrange", "paoli-schatzman"),
    "long-run-energy": ("moreau-jean", named(Dragged)),
    "angular-momentum": ("cd-lagrange", "moreau-jean-decoupled"),
    "smooth-order": ("cd-lagrange", "test_properties:LateStart"),
    "damped-order": ("cd-lagrange-implicit", "cd-lagrange"),
    "impact-order": ("cd-lagrange", "test_properties:NoContact"),
    "oscillation": ("own_scheme:TchamwaWielgosz", "cd-lagrange"),
    "accumulation": ("cd-lagrange", "combined"),
    "mass-scaling": ("cd-lagrange", "test_properties:Light"),
}
SHORTER = {
    "long-run-energy": functools.partial(properties.long_energy, t_end=30.0),
    "angular-momentum": functools.partial(properties.angular_momentum, t_end=30.0),
    "smooth-order": functools.partial(properties.smooth_order, steps=(2e-2, 1e-2, 5e-3)),
    "damped-order": functools.partial(properties.damped_order, steps=(1.6e-2, 8e-3, 4e-3)),
    "impact-order": functools.partial(
        properties.impact_order, steps=(1e-2, 5e-3, 2.5e-3), drops=np.linspace(0.9, 1.1, 4)
    ),
}


def within(bound, finding):
    """What the words of a bound say of a finding."""
    measured, expected, tolerance = abs(finding.measured), finding.expected, finding.tolerance
    return {
        "at most {tolerance}": measured <= tolerance,
        "off by at most {tolerance}": measured <= tolerance,
        "at least {expected} - {tolerance}": finding.measured >= expected - tolerance,
        "{expected} +- {tolerance}": abs(finding.measured - expected) <= tolerance,
    }[bound]


def test_every_property_has_its_pair():
    assert set(PAIRS) == {p.id for p in PROPERTIES}


@pytest.mark.parametrize("prop", PROPERTIES, ids=lambda p: p.id)
def test_property(prop, runs, monkeypatch):
    monkeypatch.syspath_prepend(str(DEMOS))
    having, lacking = PAIRS[prop.id]
    measure = SHORTER.get(prop.id, prop.measure)
    for scheme, expected in ((having, True), (lacking, False)):
        finding = measure(runs, scheme)
        assert finding.reproduced is expected, f"{scheme}: {finding}"
        assert finding.words and None not in (finding.measured, finding.expected, finding.tolerance)
        assert finding.reproduced is within(prop.bound, finding)
    # The name of one and the class of the other: runs with schemes in the place of others.
    assert measure(runs.instead({having: lacking}), having).reproduced is False


@pytest.mark.parametrize("id", ["impact-energy", "accumulation"])
def test_a_ball_that_falls_through_the_ground_has_neither(id, runs):
    (prop,) = (p for p in PROPERTIES if p.id == id)
    finding = prop.decide(runs, "test_properties:NoContact")
    assert finding.reproduced is False and finding.measured is not None


def test_energy_and_momentum_of_a_leak(runs):
    """0.999 per step leaves nothing after 1000 steps with 2 (1 - 0.999) of the kinetic energy each."""
    for id in ("long-run-energy", "angular-momentum"):
        finding = SHORTER[id](runs, named(Dragged))
        assert finding.reproduced is False and finding.measured < -0.2


def test_orders_are_those_of_the_theory(runs):
    smooth, damped = SHORTER["smooth-order"], SHORTER["damped-order"]
    assert smooth(runs, "cd-lagrange").measured == pytest.approx(2, abs=0.01)
    assert smooth(runs, "test_properties:LateStart").measured == pytest.approx(1, abs=0.05)
    assert damped(runs, "cd-lagrange-implicit").measured == pytest.approx(2, abs=0.01)
    assert damped(runs, "cd-lagrange").measured == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    "scheme, reason",
    [
        ("test_properties:Refuses", "only on Sundays"),
        ("carpenter-implicit", "does not run rotating-spring"),
        ("carpenter", "no restitution"),
    ],
)
def test_what_a_scheme_does_not_run_is_undecided(scheme, reason, runs):
    (prop,) = (p for p in PROPERTIES if p.id == "long-run-energy")
    finding = prop.decide(runs, scheme)
    assert finding.reproduced is None and finding.measured is None and reason in finding.words
