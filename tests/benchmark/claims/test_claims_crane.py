"""The claims on the bridge crane and on HATI: which hold, and that each turns without the property."""

import dataclasses
import functools

import numpy as np
import pytest
from support import flips, wrong_contact, wrong_divided, wrong_schemes
from support.drawn import curves, legends, paper, units
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.bridge_crane import claims as crane
from dolfinx_impact.benchmark.cases.bridge_crane.figures import (
    draw_contact,
    draw_displacement,
    draw_energies,
    draw_interface,
    draw_trade_off,
    draw_velocity,
)
from dolfinx_impact.benchmark.cases.bridge_crane.measures import (
    CD,
    HATI,
    Shaking,
    apart,
    closures,
    divided,
    explicit,
    first_impact,
    lift_off,
    oscillation,
    rms,
    sampled,
    touches,
    zoomed,
)
from dolfinx_impact.benchmark.cases.impacting_bar.measures import DISSIPATIVE
from dolfinx_impact.benchmark.cases.split_bar import claims as hati
from dolfinx_impact.benchmark.cases.split_bar.measures import (
    OTHERS,
    TOTAL,
    Printed,
    fine_jump,
    made,
    residual_as_printed,
)
from dolfinx_impact.integrators import find_scheme

pytest.importorskip("gmsh")


class Rails(Central):
    """The wheels stand on springs: a force in place of an impulse."""

    law = staticmethod(functools.partial(wrong_contact.Springs, stiffness=1e7, length=1.3e-3))


class Tied(Central):
    """The wheels cannot lift off."""

    law = wrong_contact.Held


class Thrown(Central):
    """The trolley's wheels start upwards."""

    def begin(self):
        super().begin()
        push = np.zeros(self.system.size)
        self.contact.L.add_transpose(np.full(self.r.size, 50.0), push)
        self.v[: self.system.owned] += self.system.inverse_mass * push[: self.system.owned]


class Tilted(Central):
    """One wheel is pushed twice."""

    law = staticmethod(functools.partial(wrong_contact.Scaled, factors=[2.0, 1.0, 1.0, 1.0]))


NO_CONTACT, TIED = {CD: wrong_contact.NoContact}, {CD: Tied}
DRAGGED, UNGLUED, WHOLE = {HATI: wrong_divided.Dragged}, {HATI: wrong_divided.Unglued}, {HATI: CD}
BROKEN = {
    f"fekak-{name}": broken
    for name, broken in {
        "crane-masses": NO_CONTACT,
        "crane-impacts": NO_CONTACT,
        "crane-displacement": DRAGGED,
        "crane-velocity": WHOLE,
        "crane-velocity-before-impacts": DRAGGED,
        "crane-validated": DRAGGED,
        "crane-other-wheels": {CD: Tilted},
        "crane-oscillations": TIED,
        "crane-oscillations-jumps": TIED,
        "crane-oscillations-modes": TIED,
        "crane-numerical-damping": {DISSIPATIVE: CD},
        "crane-coarse-step": {HATI: wrong_divided.Driven},
        "crane-initial-contact": NO_CONTACT,
        "crane-early-bounce": {CD: Thrown},
        "crane-bounce": TIED,
        "crane-impact": {CD: Rails},
        "crane-contact-phases": NO_CONTACT,
        "crane-single-impacts": {CD: Rails},
        "crane-sometimes": {CD: Rails},
        "crane-conditions": {HATI: wrong_divided.Repelling},
        "crane-balance-explicit": {CD: wrong_schemes.Dragged},
        "crane-balance-hati": DRAGGED,
        "crane-energies": DRAGGED,
        "crane-interface-negligible": WHOLE,
        "crane-interface-low": WHOLE,
        "crane-interface-sign": WHOLE,
        "crane-ratio-controls": {HATI: wrong_divided.Stuck},
        "crane-ratio-order": WHOLE,
        "crane-faster": {HATI: wrong_divided.Slow},
        "crane-gain": {HATI: wrong_divided.Slow},
        "crane-gain-high": {HATI: wrong_divided.Slow},
        "hati-continuity": UNGLUED,
        "hati-glued": UNGLUED,
        "hati-free-velocity": {HATI: TOTAL},
        "hati-solves": {HATI: wrong_divided.Solving},
        "hati-stable": {HATI: wrong_divided.Driven},
        "hati-ratio-controls": UNGLUED,
        "hati-equal-steps": UNGLUED,
        "hati-equal-steps-order": UNGLUED,
        "hati-balance": DRAGGED,
        "hati-balance-printed": UNGLUED,
        "hati-convergence": UNGLUED,
        "hati-fine-contact": {HATI: wrong_divided.Late},
        "hati-fast-phenomena": {HATI: wrong_divided.Rebounding},
        "hati-slow-phenomena": UNGLUED,
        "hati-any-newmark": {next(iter(OTHERS)): wrong_divided.Unglued},
        "hati-explicit-limit": {HATI: wrong_divided.Half},
    }.items()
}
NOT_REPRODUCED = {
    "fekak-crane-velocity",
    "fekak-crane-early-bounce",
    "fekak-crane-interface-negligible",
    "fekak-crane-interface-low",
    "fekak-crane-ratio-order",
    "fekak-crane-gain",
    "fekak-hati-equal-steps",
    "fekak-hati-balance-printed",
}
#: No run decides them.
UNDECIDED = {"fekak-crane-bounce-times", "fekak-hati-other-methods"}
IDS = [claim.id for claim in (*crane.CLAIMS, *hati.CLAIMS)]


def test_a_divided_scheme_of_the_users():
    """It takes two subdomains and a ratio; one that cannot be made so is refused."""
    name = flips.named(wrong_divided.Slow)
    found = find_scheme(name)
    assert found.divided and found.make is wrong_divided.Slow and found.paper == name
    assert found.equations == "Makes its fine steps one by one." and "ratio" in found.options
    with pytest.raises(ValueError, match=r"as NoRatio\(fine, coarse, dt, contact=None, \*, ratio, allow"):
        find_scheme(flips.named(wrong_divided.NoRatio))


def recorded(tmp_path_factory, amplitude, frequency):
    """File with the acceleration of the ground, a sine."""
    t = 1e-3 * np.arange(400)
    path = tmp_path_factory.mktemp("records") / "strong.csv"
    wave = amplitude * np.sin(2 * np.pi * frequency * t)
    path.write_text("t [s], a [m/s2]\n" + "".join(f"{a:.3f}, {b:.17g}\n" for a, b in zip(t, wave)))
    return str(path)


@pytest.fixture(scope="session")
def shaking(tmp_path_factory):
    """Strong and short: the trolley lifts off at 0.103 s and comes down at 0.145 s."""
    record = recorded(tmp_path_factory, 20, 20)
    return Shaking(
        record=record, t_end=0.25, h=1e-5, ratio=4, high=10, ratios=(1, 10, 50, 100, 350), timed=0.0015
    )


@pytest.fixture(scope="session")
def brief(tmp_path_factory):
    """Stronger and shorter: the trolley lifts off at 8 ms and comes down at 17 ms."""
    return Shaking(record=recorded(tmp_path_factory, 60, 50), t_end=0.05, h=1e-5, ratio=4, high=10)


def shortened(claim):
    """Energy is fed in at once, or never."""
    if claim.id != "fekak-hati-stable":
        return claim
    measure = functools.partial(claim.measure, ratios=(1, 100), t_end=4e-3)
    return dataclasses.replace(claim, measure=measure)


@pytest.fixture(scope="session")
def claims(shaking):
    return {claim.id: shortened(claim) for claim in (*crane.claims(shaking), *hati.CLAIMS)}


def test_every_claim_has_a_scheme_that_lacks_the_property(claims):
    assert len(set(IDS)) == len(IDS) and list(claims) == IDS
    assert set(IDS) == set(BROKEN) | UNDECIDED and not UNDECIDED & set(BROKEN)


@pytest.mark.parametrize("name", flips.tiers([name for name in IDS if name not in UNDECIDED]))
def test_verdict_turns(name, claims, runs):
    claim = claims[name]
    finding = flips.check_by_number(claim, runs, BROKEN[name])
    assert finding.reproduced is (name not in NOT_REPRODUCED), finding


@pytest.mark.parametrize("name", sorted(UNDECIDED))
def test_what_no_run_decides_says_why(name, claims, runs):
    finding = claims[name].decide(runs)
    assert finding.reproduced is None and finding.measured is None and len(finding.words) > 50


def test_norm_is_that_of_the_paper_at_common_times(brief, runs):
    """(94), with the samples of a run at all steps and one a millisecond apart."""
    every, some = sampled(runs, brief), divided(runs, brief)
    at = np.rint(some["t"] / 1e-5).astype(int)
    for name in ("u", "v_t", "kinetic"):
        true = every[name][at]
        expected = np.abs(some[name] - true).sum() / np.abs(true).sum()
        assert apart(some, every, name) == pytest.approx(expected, rel=1e-12) and expected > 1e-4
    assert apart(explicit(runs, brief), every, "u") == 0.0
    assert apart(some, every, "u", 0.008) < 1e-2 * apart(some, every, "u")


def test_closures_and_how_long_they_last(brief, runs):
    """Every step after a closure and before the end of its contact has an impulse."""
    run = sampled(runs, brief)
    came, lasted = closures(run), touches(run)
    assert came.size == lasted.size == run.results["closures"] / 4 and came[0] == first_impact(run)
    pushed = run["r"][:, 0] > 0
    for k, n in zip(came, lasted):
        assert not pushed[k - 1] and pushed[k : k + n].all() and not pushed[k + n : k + n + 1].any()
    first = np.flatnonzero(~pushed)[0]
    assert lift_off(run) == run["t"][first] and pushed.sum() == first + lasted.sum()


def test_oscillation_is_what_is_fast():
    """Of a slow and a fast sine the fast one is left."""

    class Sines(dict):
        pass

    t = 1e-5 * np.arange(20001)
    fast = 0.1 * np.sin(2 * np.pi * 1500 * t)
    run = Sines(t=t, v_t=(np.sin(2 * np.pi * 10 * t) + fast)[:, None])
    inside = slice(1000, -1000)
    assert np.abs(oscillation(run)[inside, 0] - fast[inside]).max() < 2e-3
    assert rms(fast) == pytest.approx(0.1 / np.sqrt(2), rel=1e-3) and rms(np.zeros(0)) == 0.0


@pytest.mark.parametrize("scheme, settings", [(CD, {}), (HATI, {"ratio": 4, "partition": "paper"})])
def test_zoom_has_the_fine_steps_of_the_run(scheme, settings, brief, runs):
    """Summed over coarse steps the impulses are those of the history; gaps are sampled there."""
    settings = {"h": 1e-5, "record": brief.record, **settings}
    run, m = runs("bridge-crane", scheme, t_end=0.021, **settings), settings.get("ratio", 1)
    found = zoomed(runs, scheme, (0.016 + 5e-6, 0.021 + 5e-6), **settings)
    assert found.shape == (500, 3) and np.allclose(np.diff(found[:, 0]), 1e-5)
    late = run["t"] > 0.016 + 5e-6
    # Two runs, whose static starts may differ by rounding, which flights and contacts amplify.
    assert np.allclose(found[:, 1].reshape(-1, m).sum(axis=1), run["r"][late, 0], rtol=0, atol=1e-8)
    assert np.allclose(found[m - 1 :: m, 2], run["gap"][late, 0], rtol=0, atol=1e-12)
    assert found[:, 1].max() > 1.0


@pytest.mark.parametrize("m", [1, 10])
def test_other_constants_are_those_of_newmark(m, runs):
    """With (1/4, 1/2) they are HATI; with others the tip moves otherwise."""
    usual, same, other = (
        runs("split-bar", kind, ratio=m)
        for kind in (HATI, flips.named(wrong_divided.SameNewmark), list(OTHERS)[2])
    )
    assert np.allclose(same["u"], usual["u"], rtol=0, atol=1e-16)
    assert np.abs(other["u"] - usual["u"]).max() > 1e-8
    assert other.results["velocity_jump"] < 1e-12


def test_printed_interface_energy_is_the_sum_over_increments(runs):
    """(93) term by term from states and multipliers; the means instead close the balance."""
    integrator = made(runs, ratio=5, courant=0.8)
    balance, sums = Printed(integrator), 0.0
    integrator.compiled = False
    balance.start()
    g, h = integrator.interface.dofs, integrator.fine.dt
    records = []
    integrator.following = Noting(balance, records, g)
    for _ in range(12):
        u, began = integrator.coarse.u[g].copy(), integrator.multipliers.copy()
        records.append((None, began))
        integrator.step()
        balance.step()
        sums -= (integrator.coarse.u[g] - u) @ (integrator.multipliers - began)
        for (_, before), (v, after) in zip(records, records[1:]):
            sums += h * v @ (after - before)
        records.clear()
    assert balance.interface == pytest.approx(sums, rel=1e-12) and abs(sums) > 1e-3
    assert residual_as_printed(runs, 5) > 1e-3


class Noting:
    """Notes velocities and multipliers of fine steps, and goes on to a balance."""

    def __init__(self, balance, records, dofs):
        self._balance, self._records, self._dofs = balance, records, dofs
        self.before_step = balance.before_step

    def fine_step(self):
        self._balance.fine_step()
        fine = self._balance.integrator.fine
        self._records.append((fine.v_before[self._dofs].copy(), fine.multipliers.copy()))


def test_fine_velocities_of_both_copies_agree_or_not(runs):
    assert fine_jump(runs, 10) < 1e-13 and fine_jump(flips.instead(runs, UNGLUED), 10) > 1e-2


@pytest.fixture
def figure():
    return paper()


def drawn(draw, runs, figure, shaking):
    """Axes of a figure, all with units and a legend."""
    draw(runs, figure, shaking)
    assert units(figure.axes) and legends(figure)
    return figure.axes


def test_figures_have_the_numbers_of_the_paper_and_say_whose_record_it_is():
    names = [figure.id for figure in crane.FIGURES]
    assert names == [*(f"fekak-fig{n}" for n in range(15, 20)), "fekak-trade-off"] and not hati.FIGURES
    assert all("our record, vertical" in figure.title for figure in crane.FIGURES)


def test_figure_15_has_the_trolley_above_the_girder(brief, runs, figure):
    axes = drawn(draw_displacement, runs, figure, brief)
    assert len(axes) == 2
    for ax in axes:
        (t, trolley), (_, girder) = curves(ax)["trolley"], curves(ax)["girder"]
        assert t[-1] == pytest.approx(brief.t_end, abs=1e-3) and np.ptp(trolley) > 5
        assert (trolley - girder).min() > -0.01 and (trolley - girder).max() > 0.5


def test_figure_16_is_the_slope_of_figure_15(brief, runs, figure):
    for ax in drawn(draw_velocity, runs, figure, brief):
        assert set(curves(ax)) == {"trolley", "girder"} and "m/s" in ax.get_ylabel()
    run = explicit(runs, brief)
    t, v = curves(figure.axes[0])["trolley"]
    way = np.sum((v[1:] + v[:-1]) / 2 * np.diff(t))
    assert np.ptp(v) > 0.5 and way == pytest.approx(run["u"][-1, 0] - run["u"][0, 0], abs=1e-3)


def test_figure_17_shows_lift_off_and_impacts_of_both_runs(brief, runs, figure):
    axes = drawn(draw_contact, runs, figure, brief)
    assert len(axes) == 6
    off, impact, early = (curves(ax) for ax in axes[:3])
    for label, (t, force) in off.items():
        assert force[0] > 0 and force[-1] == 0 and 0 <= t.min() and t.max() < 0.61, label
    (_, whole), (_, parts) = impact.values()
    assert whole.max() > 100 and parts.max() == pytest.approx(whole.max(), rel=0.01)
    assert early["fully explicit"][0].max() == pytest.approx(0.2, rel=1e-3)
    for upper, lower in zip(axes[:2], axes[3:5]):
        for label, (_, force) in curves(upper).items():
            assert np.allclose(curves(lower)[label][1], 1e3 * force * brief.step)


def test_figure_18_has_energies_that_balance(brief, runs, figure):
    for ax in drawn(draw_energies, runs, figure, brief):
        shown = {name: values for name, (_, values) in curves(ax).items()}
        stored = shown["kinetic"] + shown["internal"] + shown["complementary"]
        given = shown["external"] + shown["impacts and contacts"] + shown["interface"]
        assert np.abs(stored - stored[0] - given).max() < 1e-9 * shown["internal"].max()
        assert np.ptp(shown["internal"]) > 1000


def test_figure_19_has_losses_alone(brief, runs, figure):
    (ax,) = drawn(draw_interface, runs, figure, brief)
    assert len(ax.lines) == 4
    for label, (t, values) in curves(ax).items():
        assert values[0] == 0 and values[-1] < -1 and values[t < 0.008].min() > -0.5, label


@pytest.mark.nightly
def test_the_trade_off_has_every_ratio_of_both_partitions(shaking, runs, figure):
    speed, error, energy = drawn(draw_trade_off, runs, figure, shaking)
    for ax in (speed, error, energy):
        for label, (m, _) in curves(ax).items():
            if "explicit" not in label and not label.startswith("_"):
                assert tuple(m) == shaking.ratios, label
    gains = curves(speed)["small"][1]
    assert gains[-1] > gains[0] > 0
    errors = curves(error)
    assert len(errors) == 4 and errors["displacement, small"][1][-1] > errors["displacement, small"][1][0]
    assert curves(energy)["interface, small"][1][1] < -10
