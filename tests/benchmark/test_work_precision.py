"""Work and precision: costs of errors from points, exact solutions behind the errors, and what is kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.runs import Runs
from dolfinx_impact.benchmark.work_precision import figures, measure, studies
from dolfinx_impact.benchmark.work_precision.measure import Point, Study, cost, front, ranking

BALL = studies.STUDIES["bouncing-ball"]


class Broken:
    """A scheme that cannot make a step."""

    def __init__(self, system, dt, contact=None):
        self.system, self.dt, self.contact = system, dt, contact

    def start(self, u0, v0, t0=0.0):
        self.t, self.u, self.v, self.r = t0, np.array([1.0]), np.zeros(1), np.zeros(1)

    def step(self):
        raise ValueError("not today")


def power(p, scale=1.0):
    """Points whose error is a power of their time."""
    return [Point(scale * t, 10 * t, {"x": t**-p}, {}) for t in (1.0, 2.0, 4.0, 8.0)]


@given(p=st.floats(0.3, 4.0), part=st.floats(0.0, 1.0), scale=st.floats(1e-3, 1e3))
def test_the_cost_of_an_error_that_is_a_power_of_the_time_is_exact(p, part, scale):
    goal = 8.0 ** (-p * part)
    assert cost(power(p, scale), "x", goal) == pytest.approx(scale * goal ** (-1 / p), rel=1e-9)


@given(st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(1e-6, 1.0)), min_size=1, max_size=12))
def test_no_point_beats_the_front_and_finer_goals_cost_more(values):
    several = [Point(seconds, 2 * seconds, {"x": error}, {}) for seconds, error in values]
    seconds, errors = front(several, "x")
    assert seconds == sorted(seconds) and errors == sorted(errors, reverse=True)
    for s, e in values:
        assert any(t <= s and f <= e for t, f in zip(seconds, errors))
    costs = [cost(several, "x", goal) for goal in (1.0, errors[-1])]
    assert costs[0] <= costs[1] * (1 + 1e-12) <= seconds[-1] * (1 + 1e-9)
    assert cost(several, "x", 0.5 * errors[-1]) is None


def test_those_who_do_not_reach_the_goal_come_last():
    found = {
        "far": [Point(0.1, 1.0, {"x": 1.0}, {})],
        "slow": power(1.0, 3.0),
        "fast": power(1.0),
        "none": [],
    }
    order = ranking(found, "x", 0.25)
    assert list(order) == ["fast", "slow", "far"] and order["far"] is None
    assert order["slow"] == pytest.approx(3 * order["fast"])
    forces = ranking(found, "x", 0.25, "forces")
    assert forces == {"slow": pytest.approx(40.0), "fast": pytest.approx(40.0), "far": None}
    row = {"case": "c", "quantity": "x", "goal": 0.25, "seconds": order, "forces": forces}
    assert figures.cells(row) == ["c", "x within 0.25", "fast (4e+03 ms)", "slow 3.0", "slow (40)", "far"]
    row["seconds"] = row["forces"] = {"far": None}
    assert figures.cells(row)[2:] == ["none", "-", "-", "far"]


def test_studies_are_of_cases_with_parameters_that_every_scheme_knows():
    for case, study in studies.STUDIES.items():
        assert case == study.case in CASES and study.quantities
        for scheme in CASES[case].schemes:
            for settings in study.refined(scheme):
                for start in study.starts:
                    known = runner.options_of(CASES[case], scheme)
                    assert not {*settings, *start} - set(known), (case, scheme)


def test_errors_fall_with_the_step_and_points_are_made_once(tmp_path, monkeypatch):
    runs = Runs(tmp_path, only=["cd-lagrange", "moreau-jean"])
    study = BALL._replace(refined=lambda scheme: [{"h": 4e-2}, {"h": 2.5e-3}], starts=BALL.starts[:2])
    found = measure.measured(runs, study)
    assert list(found) == ["cd-lagrange", "moreau-jean"]
    for coarse, fine in found.values():
        assert 0 < fine.errors["position"] < coarse.errors["position"] / 4
        assert coarse.seconds > 0 and fine.settings == {"h": 2.5e-3}
        assert fine.forces == pytest.approx(16 * coarse.forces, rel=0.05)
    monkeypatch.setattr(measure, "processor_time_and_forces", pytest.fail)
    assert measure.measured(Runs(tmp_path, only=["moreau-jean", "cd-lagrange"]), study) == found


@pytest.mark.parametrize(
    "case, scheme, settings, a_step",
    [
        ("bouncing-ball", "cd-lagrange", {"h": 1e-2, "t_end": 1.0}, 1),  # in a compiled loop
        ("bouncing-ball", "noh-bathe", {"h": 1e-2, "t_end": 1.0}, 2),  # one a substep
        ("split-bar", "hati", {"ratio": 4, "explicit_elements": 20, "t_end": 2e-5}, 0.5 * 4 + 0.5),
    ],
)
def test_force_evaluations_are_counted_with_and_without_a_loop(case, scheme, settings, a_step, monkeypatch):
    """Explicit schemes, whose number is known; a coarse step of HATI, half of the bar in each subdomain."""
    given = [f"{name}={value}" for name, value in settings.items()]
    chosen = runner.find(case, scheme)
    problem = chosen.make(scheme, runner.parse(chosen, scheme, given), False)
    steps = round(problem.t_end / problem.integrator.dt)
    for loops in (True, False):
        if not loops:
            monkeypatch.setattr(measure, "_has_loop", lambda *_: False)
        _, forces = measure.processor_time_and_forces(case, scheme, settings)
        assert forces == pytest.approx(a_step * steps, rel=1e-9)


def test_schemes_of_the_user_and_those_that_fail(tmp_path):
    own = f"{__name__}:Broken"
    runs = Runs(tmp_path, only=["cd-lagrange", "carpenter", own])
    assert runs.chosen("bouncing-ball") == ["cd-lagrange", "carpenter", own]
    assert runs.chosen("discrete-arch") == ["cd-lagrange", own]
    assert Runs(tmp_path).chosen("bouncing-ball") == list(CASES["bouncing-ball"].schemes)
    study = BALL._replace(refined=lambda scheme: [{"h": 1e-2}], starts=BALL.starts[:1])
    found = measure.measured(runs, study)
    assert len(found["cd-lagrange"]) == 1 and not found["carpenter"] and not found[own]


def test_errors_are_those_of_the_exact_solution(tmp_path):
    """A run whose positions are the exact ones has no error; one that is late by a step has some."""

    class Exact:
        def __init__(self, t, u, p):
            self.t, self.u, self.summary = t, u, {"parameters": p}

        def __getitem__(self, name):
            return {"t": self.t, "u": self.u}[name]

    t = np.linspace(0.0, 5.0, 501)
    p = {name: option.default for name, option in CASES["rotating-spring"].parameters.items()}
    state = [p[name] for name in ("m", "k", "l0", "radius", "x0", "y0", "vx0", "vy0")]
    x = studies.swung(tuple(t), *state)
    assert studies.spring(None, Exact(t, x, p))["position"] == 0.0
    late = np.vstack([x[:1], x[:-1]])
    assert studies.spring(None, Exact(t, late, p))["position"] > 1e-3
    # Inside the wall, energy of the first flight kept by every rebound, angular momentum throughout.
    r, v = np.hypot(*x.T), np.gradient(x, t, axis=0)
    assert r.max() <= p["radius"] * (1 + 1e-9) and np.count_nonzero(r > p["radius"] - 0.03) >= 3
    spin = (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])[5:-5]
    assert np.median(spin) == pytest.approx(p["x0"] * p["vy0"] - p["y0"] * p["vx0"], rel=1e-3)
    energy = 0.5 * p["m"] * (v**2).sum(axis=1) + 0.5 * p["k"] * (r - p["l0"]) ** 2
    start = (
        0.5 * p["m"] * (p["vx0"] ** 2 + p["vy0"] ** 2)
        + 0.5 * p["k"] * (math.hypot(p["x0"], p["y0"]) - 1) ** 2
    )
    assert np.median(energy[5:-5]) == pytest.approx(start, rel=1e-3)


def test_diagrams_have_axes_with_units_a_goal_and_every_scheme(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib.figure")
    study = studies.STUDIES["signorini-impact"]
    schemes = CASES[study.case].schemes
    several = [
        Point(t, 1e3 * t, {name: 0.1 / t for name in study.quantities}, {}) for t in (1e-3, 1e-2, 1e-1)
    ]
    found = {scheme: several for scheme in schemes}
    monkeypatch.setattr(figures, "measured", lambda runs, study: found)
    paper = matplotlib.Figure(layout="constrained")
    figures.draw(None, paper, study)
    upper, lower = np.array_split(np.array(paper.axes, dtype=object), 2)
    assert [ax.get_title() for ax in upper] == list(study.quantities)
    assert upper[0].get_ylabel() == lower[0].get_ylabel() == "error [-]"
    assert {ax.get_xlabel() for ax in upper} == {"processor time [s]"}
    assert {ax.get_xlabel() for ax in lower} == {"force evaluations [-]"}
    for ax, goal in zip(paper.axes, 2 * list(study.quantities.values())):
        assert ax.get_xscale() == ax.get_yscale() == "log"
        *lines, level = ax.lines
        assert len(lines) == len(schemes) and np.all(np.asarray(level.get_ydata()) == goal)
    (legend,) = paper.legends
    assert sorted(text.get_text() for text in legend.get_texts()) == sorted(schemes)
    markers = {line.get_label(): line.get_marker() for line in paper.axes[0].lines[:-1]}
    assert markers["dep-4.1"] == "$4.1$" and len(set(markers.values())) >= len(schemes) - 2


def test_implicit_bars_have_larger_steps_and_hati_two_ratios():
    for scheme in CASES["impacting-bar"].schemes:
        numbers = {settings["courant"] for settings in studies.meshes(3)(scheme)}
        assert max(numbers) <= 1.0 if SCHEMES[scheme].explicit else numbers == {0.7, 2.8}
    assert {each["ratio"] for each in studies.divided("hati")} == {2, 10}
    assert isinstance(BALL, Study)
