"""The bar on rigid ground: parameters, the numbers of its runs against the exact solution, bad input."""

import copy
import functools

import numpy as np
import pytest
from support import cases

from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import __main__ as command_line
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.signorini import case

IMPACT, BOUNCES = "signorini-impact", "signorini-bounces"
SOME = ("cd-lagrange", "moreau-jean", "carpenter", "combined")
TAU = 1 / 3
SHORT = {"elements": 40, "t_end": 6.0}  # a period of the bounces
run = functools.cache(cases.run)


def coarse(name, scheme):
    """Settings of a fifth of the elements and of the steps; impacts fall on a step too."""
    courant = 0.75 if SCHEMES[scheme].explicit else 1.5
    return {"elements": 20, "courant": courant, "t_end": 2 if name == IMPACT else 6}


def judged(problem, result, results):
    """Verdicts on numbers as those of a run."""
    other = copy.copy(problem)
    other.result, other.results = result, results
    return problem.case.judge(other)


# -- parameters


@pytest.mark.parametrize("name, v0, g0, t_end", [(IMPACT, 10, 0, 2), (BOUNCES, 0, 10, 1 + 4 * 16 / 3)])
def test_parameters_are_those_of_the_contract(name, v0, g0, t_end):
    listed = runner.catalogue()["cases"][name]
    defaults = {key: option["default"] for key, option in listed["parameters"].items()}
    expected = {
        "E": 900,
        "rho": 1,
        "length": 10,
        "h0": 5,
        "v0": v0,
        "g0": g0,
        "elements": 100,
        "t_end": t_end,
        "h": None,
        "courant": None,
        "every": 1,
    }
    assert {key: defaults[key] for key in expected} == expected
    assert set(SOME) <= set(listed["schemes"]) and not listed["amplifies_rounding"]


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s in CASES[IMPACT].schemes])
def test_default_step_is_that_of_the_kind_of_scheme(scheme):
    h = 0.0025 if SCHEMES[scheme].explicit else 0.005
    problem = cases.made(IMPACT, scheme)
    assert problem.integrator.dt == problem.p["h"] == h
    ratio = SCHEMES[scheme].critical_ratio(problem.integrator.system)
    assert problem.p["courant"] == pytest.approx(h / 0.005 * 1.5 / ratio, rel=1e-13)
    assert problem.dofs == 101


def test_step_from_the_courant_number():
    found = run(IMPACT, elements=10, courant=0.5).results
    assert found["h"] == pytest.approx(0.5 * 1.0 / 30, rel=1e-14)
    assert found["courant"] == pytest.approx(0.5, rel=1e-14)
    assert found["critical_time_step"] == pytest.approx(1.0 / 30, rel=1e-10)
    assert run(IMPACT, "moreau-jean", elements=10, h=0.01).results["courant"] == pytest.approx(0.3, rel=1e-14)


def test_history_has_the_gap_as_displacement():
    history = run(BOUNCES, **SHORT).result
    assert list(history["labels"]) == ["ux"] and history["u"].shape == (2401, 1)
    assert history["u"][0, 0] == 5.0 and np.array_equal(history["u"], history["gap"])
    falls = history["t"] < 1
    assert history["u"][falls, 0] == pytest.approx(5 - 5 * history["t"][falls] ** 2, abs=1e-12)
    assert history["v_t"][falls, 0] == pytest.approx(-10 * history["t"][falls], abs=1e-11)


# -- results


@pytest.mark.parametrize("scheme", SOME)
def test_impact_against_the_exact_solution(scheme):
    problem, history, found, verdicts = run(IMPACT, scheme)
    h = found["h"]
    assert found["contact_start"] == pytest.approx(0.5, abs=h * (1 + 1e-9)) and found["contact_phases"] == 1
    assert found["contact_end"] == pytest.approx(0.5 + 2 * TAU, abs=h + 0.01)
    assert found["force_mean"] == pytest.approx(300, abs=0.01)
    assert found["force_std"] == pytest.approx(found["force_oscillation"], rel=1e-12)
    assert found["impulse_sum"] == pytest.approx(200, rel=0.02)
    assert found["energy_change_4"] is None
    # What the papers call the loss of an impact is of the order of the node's energy, 1/(2N).
    assert -2 / 100 < found["energy_change_1"] < 0
    assert all(v.reproduced for v in verdicts), verdicts
    window = (history["t"] > 0.6 - 1e-9) & (history["t"] < 0.4 + 2 * TAU + 1e-9)
    force = history["r"][window, 0] / h
    assert [found["force_mean"], found["force_std"], found["force_max_deviation"]] == pytest.approx(
        [force.mean(), force.std(), np.abs(force - 300).max()], rel=1e-9
    )
    total = history["kinetic"] + history["internal"]
    assert found["energy_change_1"] == pytest.approx(total[-1] / total[0] - 1, abs=1e-13)
    exact = case.exact(problem.p).displacement(0.0, history["t"])
    error = np.abs(history["u"][:, 0] - exact).sum() / np.abs(exact).sum()
    assert found["error_u"] == pytest.approx(error, rel=1e-10) and error < 0.03


# Claims of Doyen et al. decide on the bounces of all schemes.
@pytest.mark.parametrize("scheme", ["cd-lagrange", "moreau-jean", "carpenter"])
def test_bounces_against_the_exact_solution(scheme):
    _, history, found, verdicts = run(BOUNCES, scheme)
    h = found["h"]
    assert found["contact_start"] == pytest.approx(1.0, abs=h * (1 + 1e-9))
    # The force rises by 300 N/s; some schemes have that of half a step earlier.
    assert found["force_mean"] == pytest.approx(300 + 300 * TAU, abs=300 * h)
    assert found["force_oscillation"] < 0.3 and found["force_max_deviation"] < 0.8 + 300 * h / 2
    assert found["force_std"] == pytest.approx(300 * (2 * TAU - 0.2) / 12**0.5, rel=0.02)
    weight = 100.0
    total = history["kinetic"] + history["internal"] - history["external"] + weight * 5
    assert total[0] == 500
    for k, name in ((1, "energy_change_1"), (4, "energy_change_4")):
        i = np.argmin(np.abs(history["t"] - 16 * TAU * k))
        assert found[name] == pytest.approx(total[i] / 500 - 1, abs=1e-12)
        assert -0.05 * k < found[name] < 0
    assert all(v.reproduced for v in verdicts), verdicts


@pytest.mark.parametrize("name", [IMPACT, BOUNCES])
@pytest.mark.parametrize("scheme", SOME)
def test_errors_fall_as_mesh_and_step_are_refined(name, scheme):
    """Energy at first order, the force faster; the displacement, late by a spread front, slower."""
    settings = coarse(name, scheme)
    few, many = (run(name, scheme, **{**settings, "elements": n}).results for n in (20, 80))
    ratio = {key: few[key] / many[key] for key in ("error_u", "force_oscillation", "energy_change_1")}
    assert ratio["error_u"] > 4**0.5 and ratio["energy_change_1"] > 4**0.8
    assert ratio["force_oscillation"] > 4


@pytest.mark.parametrize("name", [IMPACT, BOUNCES])
@pytest.mark.parametrize("scheme", SOME)
def test_a_start_a_little_off_changes_no_number(name, scheme):
    """Impacts fall on a step: rounding there must not decide."""
    settings = coarse(name, scheme)
    reference = run(name, scheme, **settings).results
    scales = {
        "penetration_max": 10 * reference["h"],
        "error_u": 1.0,
        "energy_change_1": 1.0,
        "energy_change_4": 1.0,
        "contact_work": 1.0,
        "balance_residual": 1.0,
        "force_std": 300.0,
        "force_oscillation": 300.0,
        "force_max_deviation": 300.0,
    }
    for shift in (1e-11, -1e-11):
        shifted = run(name, scheme, h0=5 + shift, **settings).results
        for key, value in reference.items():
            if value is None:
                assert shifted[key] is None
            else:
                assert abs(shifted[key] - value) <= 1e-6 * scales.get(key, abs(value)), key


@pytest.mark.parametrize("scheme", ["cd-lagrange", "combined"])
def test_numbers_do_not_depend_on_what_is_sampled(scheme):
    every, some = (run(BOUNCES, scheme, **coarse(BOUNCES, scheme), every=n).results for n in (1, 7))
    assert some == every


def test_what_a_run_does_not_reach_is_none():
    names = ("force_mean", "force_std", "force_max_deviation", "energy_change_1", "energy_change_4")
    found = run(BOUNCES, t_end=1.5).results
    assert all(found[name] is None for name in names)
    found = run(BOUNCES, t_end=1.6).results
    assert all(found[name] is not None for name in names[:3]) and found["energy_change_1"] is None
    found = run(BOUNCES, t_end=5.5).results
    assert found["energy_change_1"] is not None and found["energy_change_4"] is None
    found = run(IMPACT, t_end=0.4).results
    assert found["contact_start"] is None and found["first_force"] == 0 and found["energy_change_1"] is None


def test_other_bars():
    """The force is E v_f / c, the parameters of the impact are others; without a second contact exact."""
    found = run(IMPACT, "moreau-jean", E=3600, rho=4, length=5, h0=1, v0=2, elements=50, t_end=1.2).results
    assert found["contact_start"] == pytest.approx(0.5, abs=0.01)
    assert found["force_mean"] == pytest.approx(3600 * 2 / 30, rel=1e-4)
    thrown = run(BOUNCES, h0=3.75, v0=5, t_end=5).results  # the same impact speed
    assert thrown["contact_start"] == pytest.approx(0.5, abs=0.004)
    assert thrown["force_mean"] == pytest.approx(400, abs=0.5) and thrown["error_u"] < 0.03
    once = run(BOUNCES, h0=6.0, t_end=6).results
    assert once["error_u"] < 0.01 and once["energy_change_1"] < 0
    hangs = run(IMPACT, "carpenter", v0=0, t_end=0.1).results
    assert hangs["error_u"] == 0 and hangs["energy_change_1"] is None and hangs["contact_start"] is None


@pytest.mark.parametrize("shift", [0.0, -0.5, -1.0])
def test_force_is_compared_where_it_acts(shift):
    problem = cases.made(BOUNCES, **SHORT)
    problem.integrator.r_shift = shift
    log = case.SignoriniLog(problem.integrator, problem.setup, problem.p)
    times = np.arange(600) * 0.0025
    log._follow_force(times, np.zeros(600))
    inside = times[(times > 1.1 - 1e-9) & (times < 0.9 + 2 * TAU)]
    found = np.concatenate(log._window)[:, 1]
    assert found == pytest.approx(300 + 300 * (inside + shift * 0.0025 - 1), rel=1e-12)


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"balance_residual": 1e-9}, "balance"),
        ({"penetration_max": 0.0251}, "approach"),
        ({"first_force": 201.0}, "first force"),
        ({"contact_work": -0.0051}, "kinetic energy"),
        ({"contact_end": 1.2}, "leaves"),
    ],
)
def test_verdicts_turn(changed, words):
    _, history, found, _ = run(IMPACT, "cd-lagrange")
    problem = cases.made(IMPACT, "cd-lagrange")
    found = judged(problem, history, {**found, **changed})
    assert [v.words for v in found if not v.reproduced] == [v.words for v in found if words in v.words]
    assert sum(words in v.words for v in found) == 1


@pytest.mark.parametrize("scheme", ["carpenter", "paoli-schatzman", "combined", "carpenter-implicit"])
def test_position_level_never_penetrates(scheme):
    _, history, found, verdicts = run(BOUNCES, scheme, **coarse(BOUNCES, scheme))
    assert [v.reproduced for v in verdicts if "penetrates" in v.words] == [True]
    problem = cases.made(BOUNCES, scheme, **coarse(BOUNCES, scheme))
    deep = {**found, "penetration_max": 1e-10}
    assert judged(problem, history, deep)[-1].reproduced is False


# -- any number of ranks, bad input


def test_pinned_numbers():
    """The same on every supported DOLFINx and any number of ranks, to 1e-10."""
    for scheme, expected in PINNED.items():
        impact = run(IMPACT, scheme).result
        _, bounces, results, _ = run(BOUNCES, scheme, **SHORT)
        found = [impact["u"][-1, 0], impact["r"].sum(), bounces["u"][-1, 0], bounces["r"].sum()]
        found += [results[name] for name in ("force_mean", "error_u", "energy_change_1")]
        assert found == pytest.approx(expected, rel=1e-10), scheme


PINNED = {
    "cd-lagrange": [
        8.225488668453837,
        198.94697370971713,
        2.2977459485285228,
        530.503270241634,
        399.7345181905403,
        0.03199297257990716,
        -0.015757965545926227,
    ],
    "moreau-jean": [
        8.091290583480136,
        197.97642657847015,
        2.0835321644644433,
        527.6136658152604,
        398.99408047291274,
        0.05842274758859508,
        -0.023071906046403926,
    ],
    "carpenter": [
        8.225488668453846,
        198.94697370971716,
        2.2819860073345635,
        530.2758705770144,
        399.7345181905404,
        0.03143686844224197,
        -0.016238615295346932,
    ],
    "combined": [
        8.141410233789724,
        197.98342789963198,
        2.003076588617308,
        526.8259337553036,
        398.99111080282,
        0.05936457751694883,
        -0.02025221189862981,
    ],
}


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"restitution": 2}, "restitution"),
        ({"h": 0.004}, "critical"),
        ({"gap_tolerance": -1}, "gap_tolerance"),
        ({"h": 1e-3, "courant": 1}, "not both"),
        ({"area": 1}, "unknown parameter 'area'"),
    ],
)
@pytest.mark.parametrize("name", [IMPACT, BOUNCES])
def test_bad_input_is_one_clear_line(name, settings, words, shared_path, capfd):
    arguments = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    status = command_line.main(["run", name, "cd-lagrange", *arguments, "--out", str(shared_path / "out")])
    out, err = capfd.readouterr()
    assert status == 2 and out == "" and not (shared_path / "out").exists()
    assert err == "" or (words in err and err.count("\n") == 1)
