"""The classification of the schemes: cells against runs made here, classes, limits, and where it is shown."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from support import cases

from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.signorini import case as signorini
from dolfinx_impact.benchmark.cases.signorini import classification
from dolfinx_impact.benchmark.cases.signorini.classification import BOUNCES, IMPACT, Row, classify, rows
from dolfinx_impact.benchmark.report import build as report
from dolfinx_impact.benchmark.report import html as page
from dolfinx_impact.benchmark.report import terminal
from dolfinx_impact.benchmark.report.properties import PROPERTIES
from dolfinx_impact.integrators import CentralDifferences, PositionLevel

TAU = 1 / 3
#: Where 4.4 oscillates least: the impact falls in the middle of a step.
PHASE_OF_LITTLE = 4
COMMAND = ["-m", "dolfinx_impact.benchmark", "report", "--jobs", "2"]
EXPLICIT = ("dep-4.7", "dep-4.8", "dep-6.2", "dep-7.2", "cd-lagrange")


@pytest.fixture(autouse=True)
def few_elements(request, monkeypatch):
    """Limits of stability are bisected to 0.01, on a tenth of the elements with a tenth of the steps.

    With a penalty on a fifth of them, and all with the stiffest: on long elements it gains energy below its
    limit too.
    """
    called = request.node.name
    if called.startswith("test_bisection_finds_the_closed_form") or "limit_alone" in called:
        monkeypatch.setattr(classification, "RESOLUTION", 0.01)
        if not called.endswith("[dep-5.3]"):
            options = CASES[BOUNCES].parameters
            few = 20 if "5.3" in called or "limit_alone" in called else 10
            monkeypatch.setitem(options, "elements", dataclasses.replace(options["elements"], default=few))


class Pumped(CentralDifferences):
    """4.7, which loses energy, with velocities that grow in every step."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, PositionLevel(contact))

    def advance(self):
        super().advance()
        self.v *= 1 + 1e-5


def ends(values):
    return [min(values), max(values)]


def made(case, scheme, k, h):
    """A run of the bar that starts k/9 of a step later, its history and its parameters."""
    late = k / 9 * h
    settings = {"h0": 5 - 10 * late} if case == IMPACT else {"h0": 5 - 5 * late**2, "v0": 10 * late}
    chosen = CASES[case]
    values = runner.parse(chosen, scheme, [f"{name}={value!r}" for name, value in settings.items()])
    problem = chosen.make(scheme, values, False)
    return runner.perform(case, scheme, values, problem, progress=False)[1], late


# -- rows and phases


def test_rows_are_the_schemes_with_contact_and_some_others():
    names = [row.name for row in rows(SCHEMES)]
    numbers = "4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 5.1 5.2 5.3 6.1 6.2 7.1 7.2".split()
    expected = [f"dep-{number}" for number in numbers]
    expected[11:11] = ["dep-5.3 eps=0.001", "dep-5.3 eps=0.01"]
    assert names[: len(expected)] == expected
    others = [
        "carpenter-implicit",
        "cd-lagrange",
        "combined",
        "generalized-alpha",
        "moreau-jean",
        "noh-bathe",
    ]
    assert sorted(names[len(expected) :]) == others
    assert [Row.named(name) for name in names] == rows(SCHEMES)
    assert [row.name for row in rows(["a:B", "combined", "carpenter", "dep-2.1"])] == ["combined", "a:B"]


@pytest.mark.parametrize("case", classification.CASES)
def test_phases_leave_the_solution_as_it_is(case, runs):
    p = cases.values(case)
    whole = signorini.exact(p)
    for scheme, h in (("cd-lagrange", 2.5e-3), ("moreau-jean", 5e-3)):
        for k in range(9):
            bar = signorini.exact({**p, **classification.start(runs, case, scheme, k)})
            assert bar.contact_start == pytest.approx(whole.contact_start - k / 9 * h, abs=1e-14)
            assert bar.impact_speed == pytest.approx(10, rel=1e-14) and math.isinf(bar.known_until)


# -- cells


@pytest.mark.parametrize(
    "scheme, h, shift, oscillation, energy",
    [("cd-lagrange", 2.5e-3, -1, "none", "dissipated"), ("dep-6.1", 5e-3, -0.5, "large", "conserved")],
)
def test_cells_are_those_of_direct_runs(scheme, h, shift, oscillation, energy, runs, monkeypatch):
    phases = (0, 4)
    monkeypatch.setattr(classification, "courant_limit", lambda runs, row, phase, near: 1.0 + phase)
    cells = classify(runs, Row(scheme), phases)
    found = {"std": [], "most": [], "force": [], "u": [], 1: [], 4: []}
    for k in phases:
        run, late = made(IMPACT, scheme, k, h)
        t, force = run["t"], run["r"][:, 0] / h
        window = (t > 0.6 - late - 1e-9) & (t < 0.4 - late + 2 * TAU + 1e-9)
        found["std"].append(np.std(force[window] - 300))
        found["most"].append(np.abs(force[window] - 300).max())
        acts = t + shift * h
        true = np.where((acts > 0.5 - late - 1e-9) & (acts < 0.5 - late + 2 * TAU), 300.0, 0.0)
        # Where the contact starts on a step either of its ends is the force there.
        found["force"].append(np.abs(force - true).sum() / true.sum())
        s = t - 0.5 + late
        true = np.where(s < 0, -10 * s, np.where(s < 2 * TAU, 0, 10 * (s - 2 * TAU)))
        found["u"].append(np.abs(run["u"][:, 0] - true).sum() / true.sum())
        run, _ = made(BOUNCES, scheme, k, h)
        kept = run["kinetic"] + run["internal"] - run["external"]
        for n in (1, 4):
            at = np.argmin(np.abs(run["t"] - 16 * TAU * n))
            found[n].append((kept[at] - kept[0]) / 500)
    assert cells["force_std"] == pytest.approx(ends(found["std"]), rel=1e-9)
    assert cells["force_max_deviation"] == pytest.approx(ends(found["most"]), rel=1e-9)
    assert cells["energy_change_1"] == pytest.approx(ends(found[1]), abs=1e-12)
    assert cells["energy_change_4"] == pytest.approx(ends(found[4]), abs=1e-12)
    assert cells["displacement_error"] == pytest.approx(ends(found["u"]), rel=1e-9)
    assert cells["force_error"] == pytest.approx(ends(found["force"]), abs=h / (2 * TAU))
    assert cells["force_predicted"] == pytest.approx(0.05 * 10 / h, rel=1e-13)
    assert cells["courant"] == ([1.0, 5.0] if scheme == "cd-lagrange" else None)
    assert [cells[name] for name in ("oscillation", "energy", "changes")] == [[oscillation], [energy], []]
    json.dumps(cells, allow_nan=False)


def test_limits_of_the_classes():
    assert [classification.oscillation(x) for x in (0.0, 0.01, 0.011, 0.49, 0.5, 3.0)] == [
        "none",
        "none",
        "small",
        "small",
        "large",
        "large",
    ]
    assert [classification.energy(x, 0.005) for x in (0.0, 0.005, -0.005, -0.0051, 0.0051)] == [
        "conserved",
        "conserved",
        "conserved",
        "dissipated",
        "gained",
    ]


def test_a_class_that_changes_with_the_phase_is_seen(runs):
    """4.4: the force goes from step to step where the impact falls on one, less where it does not."""
    cells = classify(runs, Row("dep-4.4"), (0, PHASE_OF_LITTLE))
    assert cells["oscillation"] == ["small", "large"] and cells["changes"] == ["oscillation"]
    assert cells["energy"] == ["dissipated"] and cells["courant"] is None
    for k in (0, PHASE_OF_LITTLE):
        assert classify(runs, Row("dep-4.4"), (k,))["changes"] == []


def test_energy_of_a_scheme_that_gains(runs):
    cells = classify(runs.instead({"dep-5.2": "test_classification:Pumped"}), Row("dep-5.2"), (0,))
    assert cells["energy"] == ["gained"] and cells["courant"] is None


# -- stability


def test_closed_form_of_the_penalty():
    # k = 10/9, 1/9, 1/90; for small k the number is 1 - k^2/8 + ...
    for row, expected in (("", 0.8953504), (" eps=0.001", 0.998465), (" eps=0.01", 1 - 1 / 90**2 / 8)):
        found = classification.predicted_courant(Plain(), Row.named("dep-5.3" + row))
        assert found == pytest.approx(expected, abs=1e-7)
    assert classification.predicted_courant(Plain(), Row("dep-4.7")) == 1
    assert classification.predicted_courant(Plain(), Row("dep-5.1")) is None


class Plain:
    """Stands for runs where no scheme takes the place of another one."""

    @staticmethod
    def scheme(name):
        return name


def test_closed_form_is_the_largest_frequency_of_the_chain(runs):
    """Lumped masses of the bar with a spring 1/eps below: omega_max h = 2."""
    n, mass, k = 100, 0.1, 9000.0
    K = k * (np.diag([1.0] + [2.0] * (n - 1) + [1.0]) - np.eye(n + 1, k=1) - np.eye(n + 1, k=-1))
    K[0, 0] += 1e4
    m = np.full(n + 1, mass)
    m[[0, -1]] /= 2
    omega = math.sqrt(np.linalg.eigvalsh(K / np.sqrt(np.outer(m, m)))[-1])
    predicted = classification.predicted_courant(runs, Row("dep-5.3"))
    assert 2 / omega * 30 / 0.1 == pytest.approx(predicted, rel=1e-6)


@pytest.mark.parametrize("name", [*EXPLICIT, "dep-5.3", "dep-5.3 eps=0.001", "dep-5.3 eps=0.01"])
def test_bisection_finds_the_closed_form(name, runs):
    row = Row.named(name)
    predicted = classification.predicted_courant(runs, row)
    found = classification.courant_limit(runs, row, 6)
    assert found == pytest.approx(predicted, rel=0.02)
    # From a guess the same, from a bad one too.
    if name == "cd-lagrange":
        for near in (found, 0.5, 1.2):
            assert abs(classification.courant_limit(runs, row, 6, near) - found) <= classification.RESOLUTION


def test_the_limit_alone_is_asked_where_the_penalty_is_another_one(runs):
    cells = classify(runs, Row("dep-5.3", {"eps": 1e-3}), (0,))
    k = 0.5 / (1e-3 * 900)
    assert cells["courant_predicted"] == pytest.approx((2 / (1 + math.hypot(1, k))) ** 0.5, rel=1e-12)
    assert cells["courant"] == pytest.approx(2 * [cells["courant_predicted"]], rel=0.02)
    asked = {key for key, value in cells.items() if value is not None}
    assert asked == {"name", "scheme", "settings", "courant", "courant_predicted"}


# -- where it is shown


def answers(choice):
    return {task: {"failed": "so it is"} for lane in choice.lanes() for task in lane}


def test_it_is_made_when_both_cases_are_chosen():
    for several in ([IMPACT], [BOUNCES], ["bouncing-ball", "rotating-spring"]):
        choice = report.choose(several, None)
        assert choice.classified() == []
        tasks = [task for lane in choice.lanes() for task in lane]
        assert not any(task[0] == "classification" for task in tasks)
        assert list(report.assemble(choice, answers(choice))) == ["versions", "cases", "claims", "schemes"]
    choice = report.choose([BOUNCES, IMPACT], ["dep-4.7", "dep-5.3", "carpenter"])
    assert choice.classified() == ["dep-4.7", "dep-5.3", "dep-5.3 eps=0.001", "dep-5.3 eps=0.01"]
    found = report.assemble(choice, answers(choice))["classification"]
    assert [row["name"] for row in found["rows"]] == choice.classified()


def test_schemes_that_run_none_of_the_cases_are_not_asked_for_properties():
    choice = report.choose(["bouncing-ball"], ["dep-4.1", "carpenter", "test_report:Known"])
    assert choice.asked() == ("carpenter", "test_report:Known")
    assert list(report.assemble(choice, answers(choice))["schemes"]) == ["carpenter", "test_report:Known"]
    everything = report.choose(None, None)
    runs_any = {s for p in PROPERTIES for s in CASES[p.case].schemes}
    assert everything.asked() == tuple(s for s in SCHEMES if s in runs_any)
    assert not any(s.startswith("dep-") for s in everything.asked())
    assert report.choose([IMPACT], None).asked() == ()


def invented():
    full = {
        "force_std": [184.3, 457.76],
        "force_max_deviation": [307.0, 1570.4],
        "force_predicted": 100.0,
        "oscillation": ["small", "large"],
        "energy_change_1": [-0.0058, 10.65],
        "energy_change_4": [-9.2e-15, 3.2e-14],
        "energy": ["gained"],
        "courant": [0.998, 0.999],
        "courant_predicted": 1.0,
        "force_error": [0.538, 1.17],
        "displacement_error": [0.0065, 0.0065],
        "changes": ["oscillation"],
    }
    own = "mypackage.subpackage.schemes_of_mine:ASchemeWithALongName"
    names = [row.name for row in rows([*SCHEMES, own])]
    listed = [{"name": name, "scheme": name, "settings": {}, **full} for name in names]
    listed[1] = {"name": names[1], "failed": "UnstableTimeStep: <so> it is"}
    table = {"criteria": classification.criteria(), "rows": listed}
    return {"versions": {}, "cases": {}, "claims": [], "schemes": {}, "classification": table}


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_terminal_has_it_in_blocks_as_wide_as_it_is(columns):
    found = invented()
    lines = terminal.summary(found, {}, columns).splitlines()
    assert max(map(len, lines)) <= columns
    heads = [line for line in lines if line.startswith("scheme ")]
    assert len(heads) > 1 and "force std [N]" in heads[0] and "changes class with phase" in heads[-1]
    for name in ("dep-4.1", "dep-5.3 eps=0.001", "cd-lagrange"):
        assert sum(re.match(re.escape(name) + "  +", line) is not None for line in lines) == len(heads)
    text = " ".join(" ".join(lines).split())
    assert "184 to 458" in text and "small to large" in text and " 0.0065 " in text
    assert "failed: dep-4.2: UnstableTimeStep: <so> it is" in text
    for words in classification.criteria():
        assert words in text
    del found["classification"]
    assert "force std" not in terminal.summary(found, {}, columns)


def test_page_has_it_with_the_criteria(tmp_path):
    found = invented()
    html = page.html(found, [], tmp_path, {})
    assert '<section id="classification">' in html and '<a href="#classification">' in html
    (table,) = re.findall(r'<section id="classification">.*?</table>', html, re.S)
    ran = [row for row in found["classification"]["rows"] if "failed" not in row]
    assert table.count("<tr>") == 1 + len(ran)
    assert "<td>184 to 458</td>" in table and "<td>0.0065</td>" in table
    assert "&lt;so&gt; it is" in html and "<so>" not in html
    del found["classification"]
    assert "classification" not in page.html(found, [], tmp_path, {})


@pytest.mark.slow
def test_a_report_on_the_bar_has_it_everywhere(launch, tmp_path):
    words = ["--cases", f"{IMPACT},{BOUNCES}", "--schemes", "dep-4.7", "--out", "out"]
    done = launch([*COMMAND, *words], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert list(found) == ["versions", "cases", "claims", "schemes", "classification", "work_precision"]
    (row,) = found["classification"]["rows"]
    assert row["name"] == "dep-4.7" and row["oscillation"] == ["none"] and row["energy"] == ["dissipated"]
    assert row["courant"] == pytest.approx([1, 1], rel=0.02) and row["changes"] == []
    for text in (done.stdout, (tmp_path / "out" / "report.html").read_text()):
        assert "0.0628 to 0.096" in text and "dissipated" in text and "1/(2N)" in text
