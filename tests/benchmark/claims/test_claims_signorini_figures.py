"""The figures of Doyen, Ern and Piperno (2011)."""

import numpy as np
import pytest
from support import cases

from dolfinx_impact.benchmark.cases.signorini import figures as signorini
from dolfinx_impact.benchmark.runs import NotChosen, Runs

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.figure import Figure  # noqa: E402

FIGURES = {figure.id: figure for figure in signorini.FIGURES}
NUMBERS = (2, 4, *range(6, 30))
#: Bounces in many implicit steps and the second pair of profiles: their runs are those of nightly claims.
LONG = (7, 9, 14, 19, 25, 27, 29)
#: Drawn like Figs. 6, 11 and 12, with other schemes; their runs are those of slow claims.
ALIKE = (8, 10, 13, 15, 17, 20, 22, 24, 26)


def tier(number):
    """The number with the mark of its tier."""
    mark = pytest.mark.nightly if number in LONG else pytest.mark.slow
    return pytest.param(number, marks=mark) if number in (*LONG, *ALIKE) else number


EVERY = [tier(number) for number in NUMBERS]
#: What stands left and right, of figures that show exact solutions or the usual two quantities.
DISPLACEMENT, PRESSURE = "displacement of the bottom $u_0$ [m]", "contact pressure $r$ [Pa]"
ENERGY, STRESS = "energy $E - F \\cdot u$ [J]", "stress $E \\, \\partial_x u$ [Pa]"
BOTTOM_STRESS = "stress at the bottom $(Ku)_0$ [Pa]"
LABELS = {
    4: [DISPLACEMENT],
    11: [PRESSURE, BOTTOM_STRESS],
    18: [PRESSURE, PRESSURE],
    20: [DISPLACEMENT, BOTTOM_STRESS],
    28: [STRESS, STRESS],
    29: [STRESS, STRESS],
}


class Begun(cases.Smaller):
    """Runs of 50 ms: profiles over the height are made by runs of their own."""

    def less(self, case, settings):
        return {"t_end": 0.05}


@pytest.fixture(scope="module")
def drawn(runs):
    """``drawn(number)``: the axes of a figure, drawn once."""
    axes, begun = {}, Begun(runs.folder)

    def draw(number):
        if number not in axes:
            paper = Figure(figsize=(8, 5), layout="constrained")
            FIGURES[f"doyen-fig{number:02}"].draw(begun if number in (28, 29) else runs, paper)
            axes[number] = paper.axes
        return axes[number]

    return draw


def curves(ax):
    """The run's and the exact curve of a panel."""
    return [line.get_data() for line in ax.lines]


def test_every_figure_of_results_is_there():
    assert list(FIGURES) == [f"doyen-fig{n:02}" for n in NUMBERS]
    assert [figure.where for figure in FIGURES.values()] == [f"Fig. {n}" for n in NUMBERS]
    assert len({figure.paper for figure in FIGURES.values()}) == 1
    assert {figure.case for figure in FIGURES.values()} == {"signorini-impact", "signorini-bounces"}
    assert len({figure.title for figure in FIGURES.values()}) == len(NUMBERS)


@pytest.mark.parametrize("number", EVERY)
def test_figure(number, drawn):
    axes = drawn(number)
    bounces = FIGURES[f"doyen-fig{number:02}"].case == "signorini-bounces"
    usual = [DISPLACEMENT, ENERGY if bounces else PRESSURE]
    assert [ax.get_ylabel() for ax in axes] == LABELS.get(number, usual)
    for ax in axes:
        profile = ax.get_ylabel() == STRESS
        assert ax.get_xlabel() == ("height x [m]" if profile else "time [s]")
        end = 10 if profile else 1 + 64 / 3 if bounces else 2
        assert ax.get_xlim() == pytest.approx((0, end))
        assert len(ax.lines) == (1 if number in (2, 4) else 2)
        assert [line.get_linestyle() for line in ax.lines][-1] == ":"
        low, high = ax.get_ylim()
        for x, y in curves(ax):
            assert np.isfinite(y).all() and low <= y.min() and y.max() <= high
            assert x[0] == 0 and x[-1] == pytest.approx(end, abs=5e-3)
    (legend,) = axes[0].figure.legends
    assert "exact" in [text.get_text() for text in legend.get_texts()]


def test_exact_contact_lasts_two_transits_at_300_pa(drawn):
    ((t, r),) = curves(drawn(2)[1])
    touches = r > 0
    np.testing.assert_allclose(r[touches], 300, rtol=1e-12)
    assert np.ptp(t[touches]) == pytest.approx(2 / 3, abs=2 * t[1])


def test_exact_bounces_come_back_after_every_period(drawn):
    ((t, u),) = curves(drawn(4)[0])
    for k in range(1, 5):
        assert np.interp(16 / 3 * k, t, u) == pytest.approx(5, abs=1e-3)


def test_energies_start_with_that_of_the_height(drawn):
    for number in (12, 16, 21, 23):
        (_, energy), (_, exact) = curves(drawn(number)[1])
        np.testing.assert_allclose(exact, 500)
        assert energy[0] == pytest.approx(500, rel=1e-6)


@pytest.mark.slow
def test_energies_that_are_kept_and_lost(drawn):
    changes = {n: np.ptp(curves(drawn(n)[1])[0][1]) for n in (7, 9, 21)}
    assert changes[21] < 1e-9 * 500  # 6.1 conserves it
    assert changes[9] > 0.1 * 500  # HHT dissipates
    assert changes[7] > 0.1 * 500  # 4.1 lets the contact work


def test_stress_at_the_bottom_is_free_of_the_oscillation_of_the_pressure(drawn):
    pressure, stress = (curves(ax)[0] for ax in drawn(11))
    deviations = [y[(t > 0.6) & (t < 1.06)].std() for t, y in (pressure, stress)]
    assert deviations[0] > 50 and deviations[1] < 1
    # In static contact both are the same: means are those of the exact solution.
    for t, y in (pressure, stress):
        assert y[(t > 0.6) & (t < 1.06)].mean() == pytest.approx(300, abs=3)


@pytest.mark.parametrize("number", EVERY[-2:])
def test_stress_in_the_bar(number, drawn):
    for ax in drawn(number):
        (_, stress), (height, exact) = curves(ax)
        front = height[np.argmax(exact > -150)]
        assert front == pytest.approx(5, abs=0.01)  # halfway down at 1 s
        assert exact.min() == pytest.approx(-300, rel=1e-6) and exact.max() == pytest.approx(0, abs=1e-6)
        # Elements are alike: the deformed bar is as short as the exact one, whatever oscillates.
        assert stress.mean() == pytest.approx(exact.mean(), rel=0.02)
    assert [ax.get_title().split(",")[0] for ax in drawn(number)] == ["Δt = 0.005 s", "Δt = 0.00125 s"]


def test_oscillations_pass_in_front_of_the_shock_at_small_steps(drawn):
    """The shock has come down to 5 m: above it the oscillations lie behind, below in front."""
    behind, before = [], []
    for ax in drawn(28):
        (x, stress), _ = curves(ax)
        behind.append(np.abs(stress[x > 6]).max())
        before.append(np.abs(stress[x < 4] + 300).max())
    assert behind[0] > 3 * before[0] and before[1] > 3 * behind[1]


def test_penalty_pressure_oscillates_the_more_the_stiffer(drawn):
    soft, stiff = (curves(ax)[0][1].max() for ax in drawn(18))
    assert soft < 1.01 * 300 and stiff > 2 * 300


def test_figures_take_schemes_that_stand_for_others(runs):
    """The runs in the bar too: with 4.1 the oscillation of the pressure reaches the structure."""
    paper = Figure()
    FIGURES["doyen-fig11"].draw(runs.instead({"dep-4.4": "dep-4.1"}), paper)
    t, stress = curves(paper.axes[1])[0]
    assert stress[(t > 0.6) & (t < 1.06)].std() > 50


def test_figures_need_the_scheme_they_show(runs):
    with pytest.raises(NotChosen, match="dep-7.1"):
        FIGURES["doyen-fig28"].draw(Runs(runs.folder, only=["dep-4.1"]), Figure())
