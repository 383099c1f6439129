"""The claims on the two bars: which hold, and that each turns with a scheme that lacks the property."""

import functools

import numpy as np
import pytest
from support import drawn, flips, wrong_contact, wrong_schemes
from support.drawn import curves
from support.wrong_schemes import Central

from dolfinx_impact.benchmark.cases.impacting_bar.measures import DISSIPATIVE, TchamwaWielgosz
from dolfinx_impact.benchmark.cases.two_bars import claims as two_bars
from dolfinx_impact.benchmark.cases.two_bars import figures, measures
from dolfinx_impact.benchmark.cases.two_bars.measures import (
    BAR,
    BOTH,
    MASS,
    TRANSIT,
    WINDOW,
    hausdorff,
    motion,
    norm,
    ups_and_downs,
)


class ExactForce(Central):
    """The bars push each other with the force of the continuous ones, as long as those touch."""

    law = staticmethod(functools.partial(wrong_contact.Prescribed, bar=BAR))


class Rigid(wrong_schemes.Rigid):
    """Takes the bars for rigid: an impact stops them whole."""

    def advance(self):
        super().advance()
        if self.r.any():
            self.r[:] = MASS * BAR.v0


class Continuous(Central):
    """The motion of the continuous bars, with an error in proportion to the step."""

    def advance(self):
        super().advance()
        self.u[:] = self._true(BAR.displacement, self.t, TRANSIT)
        self.v[:] = self._true(BAR.velocity, self.t + self.dt / 2, 1.0)

    def _true(self, quantity, t, scale):
        x = self.system.x[:, 0]
        towards = quantity(np.abs(x) - BAR.gap, t) + 0.1 * BAR.v0 * self.dt / TRANSIT * scale
        return np.where(x < 0, towards, -towards)

    @property
    def v_mean(self):
        return self._true(BAR.velocity, self.t, 1.0)

    def v_mean_at(self, dofs):
        return self.v_mean[dofs]


class DampsFineSteps(TchamwaWielgosz):
    """Damps the more the finer the step: what oscillates is that of coarse steps."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)
        self.phi = 1 + 1e-3 * ((system.critical_time_step() / dt) ** 3 - 1)


CD, MJ = BOTH
BROKEN = {
    f"fekak-bars-{name}": broken
    for name, broken in {
        "critical-step": {CD: DISSIPATIVE},
        "step": {CD: wrong_schemes.Unstable},
        "accurate-displacement": {CD: wrong_contact.NoContact},
        "accurate-velocity": {CD: Continuous},
        "accurate-force": {CD: wrong_contact.NoContact},
        "accurate-compared": {CD: wrong_schemes.Slowed},
        "penetration-cd-lagrange": {CD: wrong_contact.NoContact},
        "penetration-moreau-jean": {MJ: wrong_contact.NoContact},
        "penetration-order-cd-lagrange": {CD: wrong_contact.NoContact},
        "penetration-order-moreau-jean": {MJ: wrong_contact.NoContact},
        "quiet-motion": {CD: wrong_contact.Elastic},
        "quiet-force": {CD: ExactForce},
        "ringing": {CD: MJ},
        "ringing-moreau": {MJ: CD},
        "ringing-cause": {CD: DampsFineSteps},
        "refined": {CD: wrong_contact.NoContact},
        "uniform-norm": {CD: Continuous},
        "impact-jump": {CD: ExactForce},
        "contact-smooth": {CD: wrong_contact.Elastic},
        "balance": {CD: wrong_schemes.Slowed},
        "converted": {CD: wrong_contact.NoContact},
        "loss": {CD: MJ},
        "loss-moreau": {MJ: CD},
        "loss-at-jump": {CD: MJ},
        "loss-at-jump-moreau": {MJ: CD},
        "no-work": {CD: MJ},
        "preserves-energy": {CD: MJ},
        "preserves-momentum": {CD: wrong_schemes.Slowed},
        "loss-refined": {CD: wrong_schemes.Slowed},
        "peak-force": {CD: ExactForce},
        "force-after": {CD: MJ},
        "acceleration-first": {CD: ExactForce},
        "acceleration": {CD: wrong_contact.Elastic},
        "impulse-step": {CD: MJ},
        "impulse-mass": {CD: MJ},
        "impulse-mesh": {CD: Rigid},
        "force-level": {CD: wrong_contact.NoContact},
        "higher-order-displacement": {CD: MJ},
        "higher-order-displacement-courant-0.8": {CD: MJ},
        "higher-order-velocity": {CD: MJ},
        "higher-order-velocity-courant-0.8": {CD: Continuous},
        "moreau-order-one": {MJ: CD},
        "hausdorff": {CD: "combined"},
        "hausdorff-courant-0.8": {CD: MJ},
        "no-detection": {CD: wrong_contact.Retracing},
        "no-iteration": {CD: wrong_schemes.Reconsidering},
        "no-parameters": {CD: MJ},
        "diagonal": {CD: MJ},
        "constraints": {CD: "carpenter"},
        **{
            f"{figure}-{quantity}-{scheme}": {scheme: MJ if scheme == CD else CD}
            for figure in ("fig09", "fig10")
            for quantity in ("displacement", "velocity")
            for scheme in BOTH
        },
    }.items()
}
NOT_REPRODUCED = {
    "fekak-bars-accurate-velocity",
    "fekak-bars-quiet-force",
    "fekak-bars-ringing-cause",
    "fekak-bars-loss-moreau",
    "fekak-bars-loss-at-jump-moreau",
    "fekak-bars-higher-order-velocity-courant-0.8",
    "fekak-bars-moreau-order-one",
    "fekak-bars-hausdorff-courant-0.8",
}


def test_every_claim_has_a_scheme_that_lacks_the_property():
    assert len({claim.id for claim in two_bars.CLAIMS}) == len(two_bars.CLAIMS)
    assert {claim.id for claim in two_bars.CLAIMS} == set(BROKEN)


@pytest.fixture
def fewer(monkeypatch):
    """All meshes of the report but the finest one."""
    monkeypatch.setattr(measures, "MESHES", measures.MESHES[:-1])


@pytest.mark.parametrize("claim", flips.tiers(two_bars.CLAIMS))
def test_verdict_turns(claim, runs, fewer):
    finding = flips.check_by_number(claim, runs, BROKEN[claim.id])
    assert finding.reproduced is (claim.id not in NOT_REPRODUCED), finding


@pytest.mark.parametrize("name, ups", [("straight", 0.0), ("swinging", 2.0), ("there and back", 1.0)])
def test_ups_and_downs(name, ups):
    values = {"straight": [0, 1, 3], "swinging": [0, 1, 0, 1], "there and back": [0.0, 0.5, 0.0]}[name]
    assert ups_and_downs(np.array(values)) == ups


@pytest.mark.parametrize("late", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("beyond", [0.0, 0.05, 0.3])
def test_hausdorff_distance_of_filled_graphs(late, beyond):
    """A jump that comes late is as far off as it is late, one that goes too far as it goes too far."""

    def step(at, end):
        return WINDOW * np.array([0.0, at, at, 1.0]), BAR.v0 * np.array([0.0, 0.0, end, end])

    found = hausdorff(step(0.4 + late, 1.0 + beyond), step(0.4, 1.0))
    assert found == pytest.approx(hausdorff(step(0.4, 1.0), step(0.4 + late, 1.0 + beyond)), abs=1e-14)
    largest = max(late, beyond)
    assert largest - 1e-12 <= found <= np.hypot(late, beyond) + 5e-4


@pytest.mark.parametrize("scheme", BOTH)
def test_motion_is_that_of_the_run_with_all_nodes(scheme, runs):
    """Its tip is the left one of the history; in norm (94) the whole bar has all nodes and times."""
    moved, run = motion(runs, scheme), runs("two-bars", scheme)
    (tip,) = np.flatnonzero(moved.x < 1e-9)
    assert moved.u.shape == moved.exact_v.shape == (len(run["t"]), 41)
    assert np.array_equal(moved.t, run["t"]) and np.isclose(np.ptp(moved.x), BAR.length, rtol=1e-12)
    assert np.abs(moved.u[:, tip] - run["u"][:, 0]).max() < 1e-15
    assert np.abs(moved.v[:, tip] - run["v_t"][:, 0]).max() < 1e-10
    assert np.array_equal(moved.exact_u[:, tip], BAR.displacement(moved.x[tip], moved.t))
    total = sum(
        abs(moved.u[i, k] - BAR.displacement(moved.x[k], t)) for i, t in enumerate(moved.t) for k in range(41)
    )
    assert norm(moved.u, moved.exact_u) == pytest.approx(total / np.abs(moved.exact_u).sum(), rel=1e-10)


@pytest.fixture
def draw(runs):
    """``draw(id)``: the figure, drawn."""
    return functools.partial(drawn.drawn, two_bars.FIGURES, runs=runs)


def test_figures_have_the_numbers_of_the_paper():
    assert [figure.id for figure in two_bars.FIGURES] == [f"fekak-fig{n:02d}" for n in range(4, 11)]


def test_figure_4_has_motion_and_force_of_both_schemes(draw):
    axes = draw("fekak-fig04").axes
    assert [ax.get_ylabel().split(" [")[1] for ax in axes] == ["mm]", "m/s]", "kN]"]
    lowest = {"mm]": (-0.22, 0.11), "m/s]": (-7.5, 5.01), "kN]": (-1, 160)}
    for ax in axes:
        low, high = lowest[ax.get_ylabel().split(" [")[1]]
        shown = curves(ax)
        assert set(shown) == {"CD-Lagrange", "Moreau-Jean, θ = 1", "exact"} and ax.get_xlim() == (0, 180)
        for _, values in shown.values():
            assert low <= values.min() and values.max() <= high and np.ptp(values) > 0.5 * (high - low)


def test_figure_5_comes_nearer_to_the_jump_with_every_mesh(draw):
    (ax,) = draw("fekak-fig05").axes
    *runs_shown, (exact_t, exact) = curves(ax).values()
    off = [np.mean(np.abs(v - np.interp(t, exact_t, exact))) for t, v in runs_shown]
    assert len(off) == 4 and np.all(np.diff(off) < 0)


def test_figure_6_loses_an_eightieth_at_the_impact_alone(draw):
    (ax,) = draw("fekak-fig06").axes
    shown = curves(ax)
    t, kept = shown["kinetic + internal + complementary"]
    assert kept[0] == pytest.approx(MASS * 12.5, rel=1e-12)
    assert np.ptp(kept[t > 21]) < 1e-11 * kept[0] and kept[-1] == pytest.approx(kept[0] * 79 / 80, rel=1e-9)
    assert shown["work of contact"][1][-1] == pytest.approx(-kept[0] / 80, rel=1e-9)
    assert np.allclose(sum(shown[n][1] for n in ("kinetic", "internal", "complementary")), kept)


def test_figures_7_and_8_have_peaks_of_force_and_no_peak_of_impulse(draw):
    forces, accelerations, *near = draw("fekak-fig07").axes
    peaks = [values.max() for _, values in curves(forces).values()]
    lowest = [values.min() for _, values in curves(accelerations).values()]
    assert len(peaks) == 4 and peaks[-1] == pytest.approx(2 * peaks[-2], rel=1e-9)
    assert np.divide(lowest[1:], lowest[:-1]) == pytest.approx(2.0, rel=1e-9) and len(near) == 2
    (ax,) = draw("fekak-fig08").axes
    node = curves(ax).pop("momentum of the tip's node")[1]
    for name, (_, impulses) in curves(ax).items():
        if name.startswith("Δt"):
            assert impulses[np.flatnonzero(impulses)[0]] == pytest.approx(node[0], rel=1e-9)


@pytest.mark.parametrize("name, unit", [("fekak-fig09", "µs"), ("fekak-fig10", "mm")])
def test_figures_9_and_10_have_straight_lines_of_both_orders(name, unit, draw, monkeypatch):
    for module in (measures, figures):
        monkeypatch.setattr(module, "MESHES", (20, 40, 80, 160))
    for ax in draw(name).axes:
        assert f"[{unit}]" in ax.get_xlabel() and (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        slopes = {n: np.polyfit(*np.log(xy), 1)[0] for n, xy in curves(ax).items()}
        assert slopes["order 1"] == pytest.approx(1.0) and slopes["order 0.5"] == pytest.approx(0.5)
        ours = next(slope for n, slope in slopes.items() if n.startswith("CD-Lagrange"))
        theirs = next(slope for n, slope in slopes.items() if n.startswith("Moreau-Jean"))
        assert ours == pytest.approx(1.0, abs=0.15) and theirs == pytest.approx(0.5, abs=0.15)
