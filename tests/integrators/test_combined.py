"""The combined scheme and Carpenter's implicit one on bars: both laws at once, blow-up at impact."""

import numpy as np
import pytest
from support import cases

import dolfinx_impact as di
from dolfinx_impact import SCHEMES

SOLID = {"dimension": 3, "elements": 10, "lateral": 2}


def make(scheme, **changes):
    return cases.made("impacting-bar", scheme, **changes)


@pytest.mark.parametrize(
    "changes", [{"courant": 1.5}, {"mass": "lumped", "restitution": 0.8}, {"forecast": 1.0}, SOLID]
)
def test_both_laws_hold_at_once(changes):
    """Penetration at round-off and Newton's law on every point that pushes, tau >= 0 only at the wall."""
    problem = make("combined", **{"elements": 60, **changes})
    s, contact = problem.integrator, problem.integrator.contact
    e, broken = changes.get("restitution", 0.0), []
    before = [contact.L(s.v)]

    def law(s):
        w = contact.L(s.v) + e * before[0]
        before[0] = contact.L(s.v)
        broken.append(np.max(np.abs(w[s.r > 0]), initial=0.0))
        assert np.all(s.r >= 0) and np.all(s.tau >= 0)
        assert np.max(np.abs(s.gap()[s.tau > 0]), initial=0.0) < 1e-16

    result = di.simulate(s, t_end=2e-4, observers=[law], progress=False)
    assert max(broken) < 1e-12 * 5.0
    assert result["gap"].min() > -1e-16
    assert result["r"].sum() == pytest.approx(2 * 1.28557401 * 5.0, rel=0.06) or e > 0
    assert result["tau"].shape == result["r"].shape and result["tau"].max() > 0
    assert result["tau"].max() < 2 * s.dt * 5.0 * (1 + e)
    assert not result.balance


def test_tau_is_of_the_order_of_the_step():
    largest = []
    for courant in (0.7, 0.35):
        problem = make("combined", courant=courant, elements=60)
        result = di.simulate(problem.integrator, t_end=1e-4, progress=False)
        largest.append(result["tau"].max() / problem.integrator.dt)
    assert max(largest) < 5.0 and min(largest) > 0.01


def test_without_contact_the_implicit_schemes_are_one():
    """Before the impact: Newmark (1/4, 1/2), the theta method at 1/2 and the combined one agree."""
    ends = []
    for scheme in ("moreau-jean", "carpenter-implicit", "combined"):
        problem = make(scheme, gap=1.0, elements=10)
        s = problem.integrator
        s.start(np.sin(20 * s.system.x[:, 0]) * 1e-5, -5.0)
        di.simulate(s, t_end=1e-4, progress=False)
        ends.append(s.u[: s.system.owned].copy())
    for other in ends[1:]:
        assert np.abs(other - ends[0]).max(initial=0.0) < 1e-13 * 5e-4


def test_carpenter_implicit_does_not_penetrate_but_chatters():
    problem = make("carpenter-implicit")
    result = di.simulate(problem.integrator, t_end=3e-4, observers=problem.observers(), progress=False)
    assert result["gap"].min() > -1e-16 and np.all(result["r"] >= 0)
    results, verdicts = problem.judge(result)
    assert results["contact_phases"] > 10 and results["energy_lost"] < -0.1
    assert any("uninterrupted" in v.words and not v.reproduced for v in verdicts)


def curved(system, **options):
    return di.ObstacleContact(system, [[0, 1]], di.Sphere((0.0, 0.0), 1.0, inside=True), **options)


def spring(t, u, v, out):
    out[:] = u**3


FREE = di.PointMasses([1.0, 1.0])
BENT = di.PointMasses([1.0, 1.0], internal=spring)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: di.CarpenterImplicit(BENT, 0.1), "CarpenterImplicit takes no nonlinear forces"),
        (lambda: di.AcaryBonnefon(BENT, 0.1), "AcaryBonnefon takes no nonlinear forces"),
        (lambda: di.CarpenterImplicit(FREE, 0.1, curved(FREE)), "flat obstacle"),
        (lambda: di.AcaryBonnefon(FREE, 0.1, curved(FREE)), "flat obstacle"),
        (
            lambda: di.CarpenterImplicit(FREE, 0.1, di.DofBound(FREE, 0, lower=0.0, restitution=0.5)),
            "e = 0.5",
        ),
        (lambda: di.AcaryBonnefon(FREE, 0.1, forecast=2.0), "forecast must lie in"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def test_exact_contact_with_the_trapezoidal_rule_is_unstable_in_impacts():
    """4.1 of Doyen et al. with alpha = 0 is Carpenter's implicit scheme: impacts add energy."""
    most = {}
    for scheme in ("dep-4.1", "carpenter-implicit", "dep-4.4"):
        energies = []
        for courant in (2.0, 0.5):
            run = di.simulate(
                make(scheme, courant=courant, elements=30).integrator, t_end=1.5e-4, progress=False
            )
            energies.append((run["kinetic"] + run["internal"]).max() / run["kinetic"][0])
        most[scheme] = energies
    assert most["dep-4.1"] == pytest.approx(most["carpenter-implicit"], rel=1e-9)
    assert max(most["dep-4.1"]) > 1.1 and most["dep-4.4"] == pytest.approx([1.0] * 2, abs=1e-9)
    unstable = [SCHEMES[name].step_limit for name in ("dep-4.1", "carpenter-implicit")]
    assert unstable == ["impacts are unstable at any h"] * 2
