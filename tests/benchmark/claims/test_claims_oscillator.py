"""What is said of the Van der Pol oscillator: every verdict, how it turns, the reference, the figures."""

import dataclasses
import functools

import matplotlib.figure
import numpy as np
import pytest
from support import cases, flips, wrong_contact, wrong_schemes

from dolfinx_impact.benchmark.cases.van_der_pol import claims as oscillator
from dolfinx_impact.benchmark.cases.van_der_pol import figures as oscillator_figures
from dolfinx_impact.benchmark.cases.van_der_pol import measures as oscillator_runs
from dolfinx_impact.benchmark.convergence import norm35, order

#: Past one impact, at 2.2 s.
QUICK = oscillator_runs.Extent(
    short=4.0, h=3e-2, every=1, lossy=2e-2, span=3.2, steps=(1.6e-2, 8e-3, 4e-3), starts=5, counted=1e-2
)
#: Before the impact, where errors of smooth motion are compared.
SMOOTH = dataclasses.replace(QUICK, span=1.6)
#: Where errors with impact are compared, not their orders.
TWO_STEPS = dataclasses.replace(QUICK, steps=QUICK.steps[:2])


class Coarser(cases.Smaller):
    """Runs whose step is 4 ms where no other is given, four times the default."""

    def less(self, case, settings):
        return {} if "h" in settings else {"h": 4e-3}


#: A scheme that is lossy leaves the cycle at once, iterations are counted in runs of their own, and orders of
#: two schemes are compared with smaller steps.
OTHERS = {
    "fig12-lowered": SMOOTH,
    "fig12-order-mj": SMOOTH,
    "fig12-order-cd": SMOOTH,
    "fig12-order-implicit": SMOOTH,
    "fig10-robust": dataclasses.replace(QUICK, short=2.4),
    "no-matter": dataclasses.replace(QUICK, steps=(1.6e-2, 2e-3), starts=3),
    "cd-larger": TWO_STEPS,
    "only-conservative": dataclasses.replace(QUICK, long=30.0),
    "fewer-iterations": dataclasses.replace(QUICK, short=0.1),
}


def quick(claim):
    """The same with shorter runs."""
    extent = next((each for end, each in OTHERS.items() if claim.id.endswith(end)), QUICK)
    return dataclasses.replace(claim, measure=functools.partial(claim.measure, extent=extent))


CLAIMS = {claim.id: quick(claim) for claim in oscillator.CLAIMS}
FIGURES = {figure.id: figure for figure in oscillator_figures.figures(QUICK)}
FIGURES["distasio-fig12"] = oscillator_figures.figures(SMOOTH)[2]
FIGURES["distasio-fig13"] = oscillator_figures.figures(TWO_STEPS)[3]


class Damped(wrong_schemes.Slowed):
    """Loses more than the velocity term feeds, and comes to rest."""

    rate = 6.0


CD, MJ, IMPLICIT = oscillator_runs.SCHEMES
BROKEN = {
    "distasio-vdp-linear": {CD: wrong_schemes.Soft},
    "distasio-vdp-limit-cycle": {CD: wrong_schemes.Unfed},
    "distasio-vdp-only-conservative": {MJ: Damped},
    "distasio-vdp-lagged-limit": {CD: wrong_schemes.Overfed},
    "distasio-fig10-close": {CD: wrong_schemes.Overfed},
    "distasio-fig10-robust": {CD: wrong_contact.NoContact},
    "distasio-fig11-jump": {MJ: wrong_contact.NoContact},
    "distasio-fig11-forty-cycles": {CD: Damped},
    "distasio-fig11-stays": {CD: wrong_schemes.Unfed},
    "distasio-vdp-as-good": {CD: wrong_schemes.Overfed},
    "distasio-vdp-fewer-iterations": {CD: MJ},
    "distasio-fig12-order-mj": {MJ: CD},
    "distasio-fig12-order-cd": {CD: IMPLICIT},
    "distasio-fig12-order-implicit": {IMPLICIT: CD},
    "distasio-fig12-lowered": {CD: IMPLICIT},
    "distasio-fig13-order-mj": {MJ: wrong_contact.NoContact},
    "distasio-fig13-order-cd": {CD: wrong_contact.NoContact},
    "distasio-fig13-order-implicit": {IMPLICIT: wrong_contact.NoContact},
    "distasio-fig13-no-matter": {CD: wrong_schemes.Overfed},
    "distasio-fig13-cd-larger": {CD: MJ},
    "distasio-vdp-long-energy": {MJ: wrong_schemes.Tiring},
    "csma-vdp-linear": {CD: wrong_schemes.Soft},
    "csma-vdp-limit-cycle": {CD: wrong_schemes.Unfed},
    "csma-vdp-only-conservative": {MJ: Damped},
    "csma-vdp-division": {IMPLICIT: CD},
    "csma-vdp-order-implicit": {IMPLICIT: CD},
    "csma-vdp-order-explicit": {CD: IMPLICIT},
    "csma-vdp-no-matter": {CD: wrong_schemes.Overfed},
    "csma-vdp-long-energy": {MJ: wrong_schemes.Tiring},
}
NOT_REPRODUCED = {"distasio-vdp-only-conservative", "csma-vdp-only-conservative"}


def test_every_claim_is_tested():
    assert set(BROKEN) == set(CLAIMS) == {claim.id for claim in oscillator.CLAIMS}
    assert len(oscillator.CLAIMS) == len(CLAIMS)


@pytest.mark.parametrize("id", flips.tiers(CLAIMS))
def test_verdict(runs, id):
    finding = flips.check(CLAIMS[id], runs, BROKEN[id])
    assert finding.reproduced is (id not in NOT_REPRODUCED), finding


def test_scheme_left_out_leaves_undecided(runs):
    chosen = type(runs)(runs.folder, only=[MJ])
    for id in ("distasio-fig10-close", "distasio-vdp-fewer-iterations", "distasio-fig13-order-cd"):
        assert CLAIMS[id].decide(chosen).reproduced is None


def test_reference():
    """Free flight as Richardson's limit of the implicit scheme; every impact leaves the same state."""
    cycle, first = oscillator_runs.limit_cycle(), 2.15942109
    x = oscillator_runs.exact(np.append(0.0, np.add.outer([0.0, cycle.period], [first, first + 0.3])))
    assert x[0] == 1.0 and x[1] == pytest.approx(-1.0, abs=1e-7)
    assert x[3:] == pytest.approx(x[1:3], abs=1e-7)
    assert oscillator_runs.exact(np.array([0.0, 40.0])).min() >= -1.0  # flights that no sample falls into
    assert (cycle.period, cycle.jump) == pytest.approx((6.8971621, 7.6363090), abs=1e-6)


def test_reference_is_the_limit_of_the_implicit_scheme(runs):
    """Its own error is far below those that are measured with it."""
    x = oscillator_runs.positions(SMOOTH, runs, IMPLICIT, 1.0, False)
    times = np.arange(1, x.shape[1] + 1) * QUICK.steps[0]
    true = oscillator_runs.exact(times, wall=False)
    far = [norm35(one, true) for one in x]
    limit = norm35((4 * x[-1] - x[-2]) / 3, true)
    assert [a / b for a, b in zip(far, far[1:])] == pytest.approx([4.0, 4.0], rel=2e-3)
    # The next term, of order 4, is left.
    assert limit < 1e-3 * far[-1]


@pytest.mark.slow
def test_one_start_alone_misleads(runs):
    alone = [order(TWO_STEPS.steps, e) for e in oscillator_runs.errors(TWO_STEPS, runs, IMPLICIT, True)]
    assert min(alone) < 0.5 and max(alone) > 1.5


def drawn(runs, id):
    figure = matplotlib.figure.Figure(figsize=(8, 5), layout="constrained")
    FIGURES[id].draw(runs, figure)
    figure.canvas.draw()
    (axes,) = figure.axes
    assert "[" in axes.get_xlabel() and "[" in axes.get_ylabel()
    return axes, [text.get_text() for text in axes.get_legend().get_texts()]


def test_figures_have_the_papers_numbers():
    assert list(FIGURES) == [f"distasio-fig{n}" for n in (10, 11, 12, 13)]
    assert [figure.id for figure in oscillator.FIGURES] == list(FIGURES)


def test_figure_of_positions(runs):
    axes, legend = drawn(Coarser(runs.folder), "distasio-fig10")
    assert legend == [CD, MJ, "exact, event by event"]
    deepest = 4e-3 * oscillator_runs.limit_cycle().jump  # the way of a step at the wall
    for line in axes.get_lines()[:3]:
        t, x = line.get_data()
        assert t[-1] == pytest.approx(QUICK.short) and x.max() == pytest.approx(2.0, abs=0.01)
        assert -1.0 - 1.01 * deepest < x.min() <= -0.999


@pytest.mark.slow
def test_figure_of_phase_space(runs):
    axes, legend = drawn(runs, "distasio-fig11")
    assert len(legend) == 3 and len(axes.texts) == 2
    for line in axes.get_lines()[1:3]:
        x, v = line.get_data()
        assert 100 < len(x) < 400 and np.ptp(x) == pytest.approx(3.0, abs=8 * QUICK.h) and v.max() > 7
        # Spread along the whole cycle.
        assert min(np.sum(v < -1), np.sum(v > 1), np.sum(np.abs(v) < 1)) > 0.1 * len(x)


@pytest.mark.parametrize(
    "id, orders, slopes",
    [
        ("distasio-fig12", ["1.00", "2.00", "2.00"], ["1", "2"]),
        pytest.param("distasio-fig13", None, ["1"], marks=pytest.mark.slow),
    ],
)
def test_figures_of_convergence(runs, id, orders, slopes):
    axes, legend = drawn(runs, id)
    assert [text.split(":")[0] for text in legend] == list(oscillator_runs.SCHEMES)
    if orders:
        assert [text.split("order ")[1] for text in legend] == orders
    assert sorted(text.get_text() for text in axes.texts) == slopes
    assert axes.get_xscale() == axes.get_yscale() == "log"
