"""A bar divided into an explicit and an implicit part: the interface, the impact, and what the log sees."""

import functools
import json

import numpy as np
import pytest
from mpi4py import MPI
from support import cases

import dolfinx_impact as di
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.split_bar import case
from dolfinx_impact.benchmark.run_log import RunLog

RHO, E, LENGTH, AREA, SPEED = 7847.0, 2.1e11, 0.254, 0.645e-3, np.sqrt(2.1e11 / 7847.0)
MASS, ENERGY = RHO * LENGTH * AREA, RHO * LENGTH * AREA * 12.5
TRANSIT = LENGTH / 40 / SPEED
RATIOS, COURANTS = (1, 2, 10, 100), (0.8, 0.08)
#: Runs until the pulse of 1 ms is over.
PULSE = {"courant": 0.13, "t_end": 1.1e-3}


def values(scheme="hati", **changes):
    return cases.values("split-bar", scheme, **changes)


@functools.cache
def run(scheme="hati", **changes):
    return cases.run("split-bar", scheme, **changes)


def test_defaults_are_those_of_the_contract():
    problem, result, results, _ = run()
    p = values()
    assert [p[name] for name in ("elements", "explicit_elements", "ratio", "load")] == [40, 10, 10, "none"]
    assert results["h"] == pytest.approx(0.8 * TRANSIT, rel=1e-14)
    assert results["critical_time_step"] == pytest.approx(TRANSIT, rel=1e-6)
    assert problem.integrator.dt == pytest.approx(10 * results["h"], rel=1e-14)
    # The multiple of the ratio nearest to t_end / h.
    assert result.steps == 160 and result["t"].size == 17 and problem.dofs == 41
    assert list(result["labels"]) == ["tip", "interface_e", "interface_i"]
    assert problem.p["courant"] == 0.8 and problem.p["t_end"] == 1.6e-4


def test_defaults_of_the_pulse():
    problem = cases.made("split-bar", "hati", load="pulse")
    expected = {"h": 0.08 * TRANSIT, "courant": 0.08, "t_end": 1.5e-3, "v0": 0.0}
    assert {name: problem.p[name] for name in expected} == pytest.approx(expected, rel=1e-14)
    assert problem.integrator.contact is None and not problem.integrator.v.any()


def test_the_step_may_be_given():
    """Steps of h and of the same courant are one; what the load decides is left alone."""
    by_h = cases.made("split-bar", "hati", h=0.3 * TRANSIT, load="pulse", t_end=1e-4)
    assert by_h.p["courant"] == pytest.approx(0.3, rel=1e-13) and by_h.t_end == 1e-4
    by_courant = cases.made("split-bar", "hati", courant=0.3)
    assert by_courant.integrator.fine.dt == pytest.approx(by_h.integrator.fine.dt, rel=1e-13)


def test_the_pulse():
    t = np.array([-1e-6, 0.0, 2.5e-4, 5e-4, 1e-3, 1.1e-3])
    assert case.pulse(t) == pytest.approx([0.0, 0.0, 5e3, 1e4, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("courant", COURANTS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_impact(ratio, courant):
    problem, result, results, verdicts = run(ratio=ratio, courant=courant)
    assert results["velocity_jump"] < 1e-13 * 5.0
    assert np.abs(result["v_t"][:, 1] - result["v_t"][:, 2]).max() <= results["velocity_jump"]
    assert results["balance_residual"] < 1e-11
    assert all(v.reproduced for v in verdicts)
    closed = results["interface_formula_gap"]
    assert abs(closed) < 1e-13 if ratio == 1 else closed is None
    # What is lost is the kinetic energy of the tip's node, and what the interface takes.
    lost = 1 / 80 - results["interface_energy"] / ENERGY
    assert results["energy_lost"] == pytest.approx(lost, abs=1e-12)


@pytest.mark.parametrize("courant", COURANTS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_contact_is_seen_at_fine_steps(ratio, courant):
    """The coarse steps reach as far as the whole impact; until a wave comes back all is as undivided."""
    results, whole = run(ratio=ratio, courant=courant)[2], run("cd-lagrange", courant=courant)[2]
    h = courant * TRANSIT
    assert results["contact_start"] == pytest.approx(np.ceil(1e-4 / 5.0 / h) * h, rel=1e-12)
    assert results["first_impulse"] == pytest.approx(MASS / 80 * 5.0, rel=1e-11)
    assert 0 < results["penetration_max"] <= h * 5.0
    assert results["contact_phases"] == 1
    for name in ("contact_start", "first_impulse", "penetration_max"):
        assert results[name] == pytest.approx(whole[name], rel=1e-9), name
    # Contact ends at a fine step.
    steps = results["contact_end"] / h
    assert steps == pytest.approx(round(steps), abs=1e-6)


@pytest.mark.parametrize("courant", COURANTS)
def test_errors_fall_and_the_interface_takes_less_as_the_ratio_falls(courant):
    """At m = 1 what is left is the implicit part's own error, which falls with the step."""
    results = [run(ratio=m, courant=courant)[2] for m in RATIOS]
    for name in ("error_u", "error_v"):
        assert np.all(np.diff([r[name] for r in results]) > 0), name
    energies = [r["interface_energy"] for r in results]
    assert np.all(np.diff(energies) < 0) and energies[0] < 0
    losses = [r["energy_lost"] for r in results]
    assert np.all(np.diff(losses) > 0)


@pytest.mark.parametrize("changes", [{}, {"load": "pulse"}, {"explicit_elements": 20}])
def test_study_of_ratios(changes):
    study = cases.made("split-bar", "hati", **changes).study()
    assert len(study) == 2 and all(v.reproduced and v.measured == 0 for v in study)


def test_with_equal_steps_it_goes_to_the_undivided_bar():
    """Second order in the step: the interface energy of equal steps, and u of the tip."""
    coarse, fine = (run(ratio=1, courant=c)[2] for c in (0.2, 0.1))
    for name in ("error_u", "error_v", "interface_energy"):
        assert coarse[name] / fine[name] == pytest.approx(4.0, rel=0.05), name
    # And it keeps the momentum, which longer coarse steps do not.
    assert MASS * (fine["rebound_velocity"] + 5.0) == pytest.approx(fine["impulse_sum"], rel=1e-13)


@pytest.mark.parametrize("ratio", [1, 5, 50, 250])
def test_pulse(ratio):
    _, result, results, verdicts = run(ratio=ratio, load="pulse", **PULSE)
    assert results["velocity_jump"] < 1e-13 * np.abs(result["v_t"]).max()
    assert results["balance_residual"] < 1e-11 and all(v.reproduced for v in verdicts)
    assert abs(results["interface_energy"]) < 0.02 * result["kinetic"].max()
    if ratio == 1:
        assert abs(results["interface_formula_gap"]) < 1e-13
    # The impulse of the pulse, half of its force times its duration, along +x.
    assert MASS * results["rebound_velocity"] == pytest.approx(5.0, rel=1e-11 if ratio == 1 else 1e-4)
    assert np.all(result["u"][-1] > 0)
    assert [results[name] for name in ("contact_start", "impulse_sum", "impulse_ratio")] == [None, 0.0, None]


def test_pulse_goes_to_the_undivided_bar():
    results = [run(ratio=m, load="pulse", **PULSE)[2] for m in (1, 5, 50, 250)]
    for name in ("error_u", "error_v", "energy_lost"):
        assert np.all(np.diff([r[name] for r in results]) > 0), name
    assert results[0]["error_u"] < 1e-8 and results[0]["error_v"] < 1e-6
    assert np.all(np.diff([r["interface_energy"] for r in results]) < 0)


def test_undivided_bar_is_the_reference():
    """And the same bar as that of impacting-bar."""
    problem, result, results, verdicts = run("cd-lagrange")
    same = {"gap": 1e-4, "elements": 40, "courant": 0.8, "t_end": 1.6e-4}
    _, one, bar, _ = cases.run("impacting-bar", **same)
    for name in ("u", "v_t", "v", "r"):
        apart = np.abs(result[name][:, 0] - one[name][:, 0]).max()
        assert apart <= 1e-11 * np.abs(one[name]).max(), name
    for name in ("contact_start", "contact_end", "impulse_sum", "energy_lost", "rebound_velocity"):
        assert results[name] == pytest.approx(bar[name], rel=1e-9), name
    assert np.array_equal(result["u"][:, 1], result["u"][:, 2]) and problem.dofs == 41
    zeros = ("velocity_jump", "interface_energy", "error_u", "error_v")
    assert [results[name] for name in zeros] == [0.0] * 4 and results["interface_formula_gap"] is None
    assert len(verdicts) == 2 and all(v.reproduced for v in verdicts) and problem.study() == []


@pytest.mark.parametrize("explicit_elements", [1, 39])
def test_parts_of_one_element(explicit_elements):
    _, _, results, verdicts = run(ratio=1, courant=1.0, explicit_elements=explicit_elements)
    assert all(v.reproduced for v in verdicts) and len(verdicts) == 4
    assert results["impulse_ratio"] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("every", [1, 3, 7])
def test_samples_are_those_of_coarse_steps(every):
    """Thinned, the history has fewer of the same rows, and the errors are those over them, norm (94)."""
    every_step, thin = (run(ratio=4, courant=0.4, **kept) for kept in ({}, {"every": every}))
    whole = run("cd-lagrange", courant=0.4, t_end=324 * 0.4 * TRANSIT)[1]
    samples = np.unique(np.append(np.arange(0, 82, every), 81))
    for name in ("t", "u", "v_t", "gap"):
        assert np.array_equal(thin[1][name], every_step[1][name][samples]), name
    assert thin[1]["r"].sum() == pytest.approx(every_step[1]["r"].sum(), rel=1e-13)
    for error, name in (("error_u", "u"), ("error_v", "v_t")):
        true, found = whole[name][4 * samples, 0], thin[1][name][:, 0]
        expected = np.abs(found - true).sum() / np.abs(true).sum()
        assert thin[2][error] == pytest.approx(expected, rel=1e-9), name


class Kept(RunLog):
    """All that the log is told, of this rank's points; made with L in the place of a set-up."""

    def _prepare(self, setup, p):
        self._normal, self.told = setup, []

    def contacts(self, t, r, gap, before):
        super().contacts(t, r, gap, before)
        self.told.append([t.copy(), *(x.sum(axis=1) for x in (r, gap, before))])

    def rows(self):
        t, *others = np.hstack(self.told)
        return [t, *MPI.COMM_WORLD.allreduce(np.array(others), op=MPI.SUM)]


def kept(scheme, **changes):
    problem = cases.made("split-bar", scheme, **changes)
    mine = problem.record.select(np.array(problem.record.labels) == "tip")
    # L of the gap is that of the displacement towards the wall, turned round.
    log = Kept(problem.integrator, -np.eye(mine.count))
    return log, problem.simulate(log.observers(), record=mine)


@pytest.mark.parametrize("ratio", [1, 7])
def test_fine_log(ratio):
    """Fine rows of HATI: as many as fine steps, at coarse times those of the history."""
    log, result = kept("hati", ratio=ratio, courant=0.4)
    t, r, gap, before = log.rows()
    h = 0.4 * TRANSIT
    assert t == pytest.approx(h * np.arange(result.steps + 1), rel=1e-13)
    assert t[::ratio] == pytest.approx(result["t"], rel=1e-13)
    assert gap[::ratio] == pytest.approx(result["gap"][:, 0], abs=1e-18)
    assert r[0] == 0.0
    assert r[1:].reshape(-1, ratio).sum(axis=1) == pytest.approx(result["r"][1:, 0], abs=1e-15)
    assert np.isnan(before[0])
    # What the gap changes by in a step is the velocity half a step before.
    assert np.diff(gap) / h == pytest.approx(before[1:], abs=1e-8)
    log.close()
    assert log.contact_start == t[r > 0][0] and log.contact_end == t[r > 0][-1]
    assert log.impulse_sum == pytest.approx(r.sum(), rel=1e-13) and log.deepest == -gap.min()


def test_fine_log_of_one_step_a_row():
    """The rows of another scheme, in as many parts as the run is handed on in."""
    log, result = kept("cd-lagrange", courant=0.4)
    t, r, gap, before = log.rows()
    assert np.array_equal(t, result["t"]) and np.array_equal(r, result["r"][:, 0])
    assert np.array_equal(gap, result["gap"][:, 0]) and np.isnan(before[0])
    assert np.array_equal(before[1:], -result["v"][:-1, 0])
    assert np.diff(gap) / (0.4 * TRANSIT) == pytest.approx(before[1:], abs=1e-8)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "scheme, changes",
    [
        ("hati", {"ratio": 10, "courant": 0.8}),
        ("hati", {"ratio": 1}),
        ("cd-lagrange", {}),
        ("hati", {"ratio": 4, "explicit_elements": 20}),
        ("hati", {"ratio": 5, "explicit_elements": 13}),
        ("hati", {"ratio": 100, "load": "pulse", "t_end": 4.9e-5}),  # 500 steps
    ],
)
def test_any_number_of_ranks(scheme, changes, monkeypatch):
    """Histories of all ranks together are those of a rank alone."""
    _, result, results, _ = run(scheme, **changes)
    with monkeypatch.context() as alone:
        read = functools.partial(di.mesh.read, comm=MPI.COMM_SELF)
        alone.setattr(di.mesh, "read", read)
        problem, single, numbers, _ = cases.run("split-bar", scheme, **changes)
    assert problem.integrator.system.comm.size == 1
    names = ("u", "v_t", "v", "r", "gap", "kinetic", "internal", "external", "contact")
    for name in names:
        scale = np.abs(single[name]).max(initial=0.0)
        assert np.abs(result[name] - single[name]).max(initial=0.0) <= 1e-12 * scale, name
    assert np.abs(result["interface"] - single["interface"]).max() <= 1e-12 * single["kinetic"].max()
    for name in (
        "contact_start",
        "contact_end",
        "contact_phases",
        "impulse_sum",
        "energy_lost",
        "rebound_velocity",
        "error_u",
        "error_v",
    ):
        assert results[name] == pytest.approx(numbers[name], rel=1e-9, abs=1e-11), name


def test_command(shared_path):
    """Files with the arrays and results of the contract."""
    settings = ["ratio=1", "every=5"]
    summary = runner.run("split-bar", "hati", settings, shared_path)
    found = di.Result.load(shared_path / "history.npz")
    names = {
        "t",
        "u",
        "gap",
        "labels",
        "contact_labels",
        "v_t",
        "t_v",
        "v",
        "t_r",
        "r",
        "kinetic",
        "internal",
        "complementary",
        "internal_work",
        "external",
        "contact",
        "dissipated",
        "interface",
        "residual",
    }
    assert names <= set(found) and found["u"].shape == (found["t"].size, 3)
    with open(shared_path / "summary.json") as file:
        written = json.load(file)
    assert written == json.loads(json.dumps(summary))
    keys = {
        "balance_residual",
        "critical_time_step",
        "h",
        "contact_start",
        "contact_end",
        "contact_phases",
        "first_impulse",
        "impulse_sum",
        "impulse_ratio",
        "energy_lost",
        "penetration_max",
        "rebound_velocity",
        "velocity_jump",
        "interface_energy",
        "interface_formula_gap",
        "error_u",
        "error_v",
    }
    assert set(written["results"]) == keys
    assert written["steps"] == 163 and found["t"].size == 34
    assert written["parameters"]["h"] == pytest.approx(0.8 * TRANSIT) and written["balance"] is True
    assert all(v["reproduced"] for v in written["verdicts"]) and len(written["verdicts"]) == 6


@pytest.mark.parametrize(
    "settings, message",
    [
        (["ratio=1.5"], "ratio must be a whole number, not '1.5'"),
        (["explicit_elements=few"], "explicit_elements must be a whole number, not 'few'"),
        (["h=1e-7", "courant=0.1"], "give h or courant, not both"),
    ],
)
def test_refused_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        runner.parse(CASES["split-bar"], "hati", settings)


def test_a_bar_at_rest_stays_at_rest():
    _, result, results, verdicts = run(ratio=1, v0=0.0)
    assert not result["u"].any() and not result["r"].any()
    assert results["error_u"] is None and results["error_v"] is None and results["impulse_ratio"] is None
    assert results["interface_formula_gap"] == 0.0 and all(v.reproduced for v in verdicts)


def test_without_the_whole_impact_nothing_is_said_of_it():
    problem, _, _, verdicts = run(t_end=6e-5)
    assert [v.words[:10] for v in verdicts] == ["the energy", "velocities"] and problem.study() == []


def test_beyond_the_limit_it_explodes():
    problem = cases.made("split-bar", "hati", True, courant=1.2, t_end=1e-3)
    with pytest.raises(di.UnstableTimeStep, match="take a smaller time step"):
        problem.simulate()
