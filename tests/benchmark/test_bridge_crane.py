"""The bridge crane: its model, its events, what holds exactly in a run, and what is refused."""

import functools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support import cases
from support.paths import DATA

import dolfinx_impact as di
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.__main__ import main
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.bridge_crane import case
from dolfinx_impact.benchmark.cases.bridge_crane import model as crane
from dolfinx_impact.benchmark.cases.bridge_crane.events import HEADER, EventLog

pytest.importorskip("gmsh")
WORLD = MPI.COMM_WORLD
#: Just below the critical step.
H, WEIGHT = 1.9e-5, 51500.0
#: Strong shaking: the trolley lifts off at 0.008 s, and comes down at 0.017, 0.025 and 0.041 s.
AMPLITUDE, FREQUENCY, END = 60.0, 50.0, 0.05


def write_record(path, wave, count=200):
    t = 1e-3 * np.arange(count)
    path.write_text("t [s], a [m/s2]\n" + "".join(f"{a:.3f}, {b:.17g}\n" for a, b in zip(t, wave(t))))
    return str(path)


@pytest.fixture(scope="session")
def record(tmp_path_factory):
    """A sine that throws the trolley up."""
    folder = tmp_path_factory.mktemp("records")
    return write_record(folder / "strong.csv", lambda t: AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * t))


@pytest.fixture(scope="session")
def silence(tmp_path_factory):
    """A ground at rest."""
    return write_record(tmp_path_factory.mktemp("records") / "silence.csv", np.zeros_like)


values = functools.partial(cases.values, "bridge-crane")
run = functools.cache(functools.partial(cases.run, "bridge-crane", h=H))


def strong(scheme, record, **changes):
    return run(scheme, record=record, t_end=END, **changes)


def test_parameters_are_those_of_the_contract():
    about = runner.catalogue()["cases"]["bridge-crane"]
    defaults = {name: parameter["default"] for name, parameter in about["parameters"].items()}
    assert defaults == {
        "h": 1e-5,
        "courant": None,
        "t_end": 1.0,
        "ratio": 10,
        "partition": "small",
        "refine": 1,
        "trolley": 0.0,
        "record": "builtin",
        "alpha": 0.0,
        "shaken": "all",
        "start": "static",
        "every": 1,
        "gap_tolerance": 1e-12,
    }
    assert about["schemes"] == ["cd-lagrange", "hati"] and not about["amplifies_rounding"]
    # Ratio and partition are no error of the undivided crane.
    assert values("cd-lagrange", ratio=7, partition="paper")["ratio"] == 7


# -- the events: a plain loop finds the same


def plain_events(t, r, before):
    """Step by step, wheel by wheel, as defined."""
    last, found = [t[0]] * r.shape[1], []
    for i in range(len(t)):
        for k in range(r.shape[1]):
            if i > 0 and r[i, k] > 0 and not r[i - 1, k] > 0:
                found.append([t[i], k + 1, t[i] - last[k], -before[i, k], r[i, k]])
            if r[i, k] > 0:
                last[k] = t[i]
    return np.array(found).reshape(-1, 5)


@st.composite
def contact_steps(draw):
    """Impulses that come and go, and where the steps are cut into parts."""
    n, p = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    number = st.sampled_from([0.0, 0.0, 1.0, 2.5])
    r = np.array(draw(st.lists(st.lists(number, min_size=p, max_size=p), min_size=n, max_size=n)))
    return r, sorted(draw(st.sets(st.integers(1, n), max_size=6)) | {1, n})


def told(r, cuts, **others):
    """A log that was given steps in parts."""
    n, p = r.shape
    t = 0.5 + 1e-3 * np.arange(n)
    gap, before = others.get("gap", np.zeros((n, p))), np.cos(np.arange(n * p)).reshape(n, p)
    before[0] = np.nan
    log = EventLog(SimpleNamespace(system=SimpleNamespace(comm=MPI.COMM_SELF), r=np.zeros(p)))
    for a, b in zip([0, *cuts], cuts):
        log.contacts(t[a:b], r[a:b], gap[a:b], before[a:b])
    log.close()
    return log, plain_events(t, r, before)


@given(contact_steps())
def test_events_in_parts(steps):
    """However the steps are cut into parts, and whatever touches at the start."""
    r, cuts = steps
    log, expected = told(r, cuts)
    assert np.array_equal(np.column_stack(log.events), expected)
    assert log.impulses == pytest.approx(r.sum(axis=0)) and (log.first, log.last) == (r[0].sum(), r[-1].sum())


def test_flights_are_counted_from_their_duration_on():
    """A gap without impulse for exactly 1 ms counts; so do longer ones."""
    r = np.zeros((40, 2))
    r[[0, 1, 2, 14], 0] = r[[5, 6, 7, 8, 30], 1] = 1.0
    log, expected = told(r, [40])
    assert expected[:, 2] == pytest.approx([0.005, 0.012, 0.022])
    assert [log.events.longer(d) for d in (1e-3, 0.005, 0.0051, 0.012, 0.0121, 1.0)] == [3, 3, 2, 2, 1, 0]
    assert told(np.zeros((3, 2)), [3])[0].events.longer(0.0) == 0


def test_log_of_gaps():
    gap = np.array([[0.0, 0.0], [1e-3, 2e-13], [-2e-9, 5e-3], [0.0, 0.0]])
    r = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    log, _ = told(r, [1, 3, 4], gap=gap)
    assert (log.widest, log.widest_touching, log.deepest) == (5e-3, 2e-13, 2e-9)


def test_table_of_events():
    log, expected = told(np.array([[0.0], [1 / 3], [0.0], [0.1]]), [1, 4])
    lines = log.events.table().decode().split("\n")
    assert lines[0] == HEADER == "time,wheel,time open before,closing velocity,impulse" and lines[-1] == ""
    assert np.array_equal([[float(word) for word in line.split(",")] for line in lines[1:-1]], expected)
    assert [line.split(",")[1] for line in lines[1:-1]] == ["1", "1"]
    assert told(np.zeros((2, 1)), [2])[0].events.table().decode() == HEADER + "\n"


def test_events_of_a_run(record):
    """From the history of every step: (44b)'s half-step velocities are recorded."""
    problem, result, results, _ = strong("cd-lagrange", record)
    approach = result["v"][:, :4] - result["v"][:, 4:]
    before = np.vstack([np.full((1, 4), np.nan), approach[:-1]])
    expected = plain_events(result["t"], result["r"], before)
    table = np.loadtxt(problem.files["events.csv"]().decode().splitlines(), delimiter=",", skiprows=1)
    assert np.array_equal(table, expected) and len(expected) == results["closures"] > 20
    assert results["flights_1ms"] == np.sum(expected[:, 2] > 0.99e-3) > results["flights_10ms"] == 4
    assert results["max_gap"] == result["gap"].max() > 1e-3
    assert results["impulses"] == pytest.approx(result["r"].sum(axis=0), rel=1e-12)
    # All four wheels come down, and what they had lifted from is the preload.
    assert np.all(table[:4, 3] > 0) and set(table[:4, 1]) == {1, 2, 3, 4}
    assert result["r"][0] == pytest.approx(np.full(4, WEIGHT / 4 * H), rel=1e-9)


def test_events_do_not_depend_on_samples(record):
    every_step, thin = strong("cd-lagrange", record), strong("cd-lagrange", record, every=1000)
    assert thin[1]["t"].size == 4
    assert every_step[0].files["events.csv"]() == thin[0].files["events.csv"]()
    skipped = ("balance_residual",)
    assert {k: v for k, v in every_step[2].items() if k not in skipped} == {
        k: v for k, v in thin[2].items() if k not in skipped
    }


def fine_steps(problem, ratio, steps):
    """Times, impulses and gaps of HATI's fine steps, from a loop over its coarse ones."""
    s, rows = problem.integrator, [(0.0, problem.integrator.r.copy(), problem.integrator.gap())]
    s.compiled = False
    for n in range(steps // ratio):
        s.step()
        for j in range(ratio):
            rows.append(((n * ratio + j + 1) * H, s.contacts.r[j].copy(), s.contacts.gap[j].copy()))
    return (np.array(column) for column in zip(*rows))


@pytest.mark.parametrize("ratio, partition", [(1, "small"), (40, "paper")])
def test_events_of_hati_are_those_of_fine_steps(record, ratio, partition):
    """With equal steps the history has them all; else a loop over steps sees them."""
    problem, result, results, _ = strong("hati", record, ratio=ratio, partition=partition)
    t, r, gap = result["t"], result["r"], result["gap"]
    if ratio > 1:
        again = cases.made("bridge-crane", "hati", h=H, record=record, ratio=ratio, partition=partition)
        t, r, gap = fine_steps(again, ratio, result.steps)
    # The gap changes by h times the half-step velocity.
    before = np.vstack([np.full((1, 4), np.nan), np.diff(gap, axis=0) / H])
    expected, events = plain_events(t, r, before), problem.log.events
    assert len(expected) == results["closures"] > 10
    assert np.array_equal(events.wheel, expected[:, 1])
    for found, column in zip((events.time, events.open, events.impulse), expected[:, [0, 2, 4]].T):
        assert found == pytest.approx(column, rel=1e-7, abs=1e-12)
    assert events.closing == pytest.approx(expected[:, 3], abs=1e-9)
    assert results["max_gap"] == pytest.approx(gap.max(), rel=1e-9)
    assert results["impulses"] == pytest.approx(result["r"].sum(axis=0), rel=1e-12)


# -- what holds in every run


@pytest.mark.parametrize(
    "scheme, changes",
    [
        ("cd-lagrange", {}),
        ("hati", {}),
        ("hati", {"partition": "paper", "ratio": 25}),
        ("hati", {"start": "sudden"}),
        ("cd-lagrange", {"shaken": "bridge"}),
        ("cd-lagrange", {"alpha": 5.0}),
        ("hati", {"trolley": 4.0, "alpha": 5.0}),
        ("hati", {"refine": 2, "h": H / 2, "shaken": "bridge"}),
    ],
)
def test_every_run(record, scheme, changes):
    problem, result, results, verdicts = strong(scheme, record, **changes)
    refine = changes.get("refine", 1)
    assert all(v.reproduced for v in verdicts)
    assert sum("2352 free dofs" in v.words for v in verdicts) == (refine == 1)
    assert sum("energy balance" in v.words or "closed gaps" in v.words for v in verdicts) == 2
    decided = [v.words for v in verdicts if "momentum" in v.words]
    assert len(decided) == (scheme == "cd-lagrange" and "alpha" not in changes)
    assert results["balance_residual"] < 1e-11
    assert results["masses"] == pytest.approx(crane.MASSES, rel=1e-12)
    assert results["reactions"] == pytest.approx([WEIGHT / 4] * 4, rel=1e-9)
    assert results["dofs"] == problem.dofs == (2352 if refine == 1 else 6 * (792 - 4))
    assert results["closures"] >= (0 if "alpha" in changes or "shaken" in changes else 4)
    assert results["penetration_max"] < 1.0 * H and results["max_gap"] > 1e-4
    parts = (result[name][-1] for name in ("kinetic", "complementary", "internal"))
    assert results["energy_end"] == pytest.approx(sum(parts), rel=1e-14)
    assert results["interface_energy"] == result["interface"][-1]
    assert (results["interface_energy"] == 0.0) == (scheme == "cd-lagrange")
    assert np.all(result["r"] >= 0) and result["gap"][0].tolist() == [0.0] * 4
    # Symmetric about the plane between the girders, to rounding.
    assert result["u"][:, 0::2] == pytest.approx(result["u"][:, 1::2], abs=1e-8)
    labels = [f"w_{name}_{i}" for name in ("trolley", "girder") for i in range(1, 5)]
    assert list(result["labels"]) == labels
    assert result["gap"] == pytest.approx(
        result["u"][:, :4] - result["u"][:, 4:] - result["u"][0, :4] + result["u"][0, 4:], abs=1e-15
    )
    json.dumps(results, allow_nan=False)


def test_momentum_of_the_trolley(record):
    """It closes, and sees an impulse that is left out."""
    problem, result, results, _ = strong("cd-lagrange", record)
    assert abs(results["momentum_defect"]) < 1e-11
    s = problem.integrator
    problem.log.impulses[0] -= 1e-3
    try:
        defect = case.momentum_defect(problem.log, s, s.system, result.steps)
    finally:
        problem.log.impulses[0] += 1e-3
    # Over the impulse of weight and inertia.
    at = 1e-3 * np.arange(200)  # of the record
    shaking = np.interp(result["t"], at, AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * at))
    lost = np.trapezoid(shaking, result["t"])
    assert defect * (WEIGHT * END + 5150.0 * lost) == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.parametrize("scheme", ["cd-lagrange", "hati"])
def test_at_rest_without_shaking(silence, scheme):
    """The wheels carry the trolley in every step, and nothing moves."""
    _, result, results, _ = run(scheme, record=silence, t_end=0.02)
    steps = 10 if scheme == "hati" else 1
    forces = result["r"][1:] / (H * steps)
    assert forces == pytest.approx(np.full(forces.shape, WEIGHT / 4), rel=1e-9)
    assert result["r"][0] == pytest.approx(np.full(4, WEIGHT / 4 * H), rel=1e-9)
    assert np.abs(result["u"] - result["u"][0]).max() < 1e-12 and np.abs(result["v"]).max() < 1e-10
    assert results["closures"] == 0 and not result["gap"].any()
    assert -0.007 < result["u"][0].min() < -0.005


def test_sudden_gravity():
    """All of the crane falls as one, until its supports are felt."""
    _, result, results, verdicts = run("cd-lagrange", start="sudden", t_end=1e-3)
    assert not result["u"][0].any() and not result["gap"][0].any()
    assert result["u"] == pytest.approx(-5.0 * np.tile(result["t"][:, None] ** 2, 8), abs=1e-9)
    assert result["r"].sum() < 1e-9 * WEIGHT * H and all(v.reproduced for v in verdicts)
    static = run("cd-lagrange", t_end=1e-3)
    assert static[1]["u"][0].max() < -0.005 and static[2]["reactions"] == results["reactions"]


@pytest.mark.parametrize("partition", ["small", "paper"])
def test_loads_of_the_two_readings(partition):
    """To the letter the trolley alone is not loaded; parts carry what the whole does."""
    loads = {}
    for shaken in ("all", "bridge"):
        setup = cases.made("bridge-crane", "hati", shaken=shaken, partition=partition).setup
        whole, parts = setup.frame, setup.system
        (loads[shaken],) = whole.loads.patterns
        both = sum(part.loads.patterns[0] for part in parts)
        free = ~whole.constrained
        assert both[free] == pytest.approx(loads[shaken][free], rel=1e-12)
    trolley = np.zeros(whole.size, dtype=bool)
    trolley[crane.dofs_of(whole, "trolley")] = True
    assert not loads["bridge"][trolley].any()
    assert np.array_equal(loads["all"][~trolley], loads["bridge"][~trolley])
    assert loads["all"][trolley].sum() == pytest.approx(-5150.0, rel=1e-12)


def test_readings_differ(record):
    """Left out of the shaking, the trolley lifts off at another time, and higher."""
    one, other = (strong("cd-lagrange", record, **c)[1] for c in ({}, {"shaken": "bridge"}))
    lifted = [result["t"][np.argmax(result["gap"][:, 0] > 1e-9)] for result in (one, other)]
    assert abs(lifted[0] - lifted[1]) > 1e-3 and other["gap"].max() > 1.5 * one["gap"].max() > 0


def test_damping(record):
    damped, free = (strong("cd-lagrange", record, **c) for c in ({"alpha": 5.0}, {}))
    assert damped[1]["dissipated"][-1] > 0 and not free[1]["dissipated"].any()
    assert damped[2]["energy_end"] < free[2]["energy_end"] and damped[2]["momentum_defect"] is None


def test_hati_with_equal_steps_is_near_the_undivided_crane(record):
    """Until the first impact to a few millionths; its time is the same step."""
    one, other = strong("cd-lagrange", record), strong("hati", record, ratio=1, partition="small")
    until = np.flatnonzero(one[1]["t"] < one[0].log.events.time[0])[-1]
    scale = np.abs(one[1]["u"][:until]).max()
    apart = np.abs(one[1]["u"] - other[1]["u"])[:until].max()
    assert 0 < apart < 1e-5 * scale
    assert other[0].log.events.time[0] == pytest.approx(one[0].log.events.time[0], abs=1.5 * H)
    widest = [each[1]["gap"][:until].max() for each in (one, other)]
    assert widest[1] == pytest.approx(widest[0], rel=1e-4)
    # The stiffest mode is one of the trolley's wheels, which are explicit in both.
    assert other[2]["critical_time_step"] == pytest.approx(one[2]["critical_time_step"], rel=1e-9)


def test_refined():
    """Every element is divided; the step goes down as its length."""
    coarse, fine = (case.CraneCase().build(values("cd-lagrange", refine=n)) for n in (1, 2))
    assert fine.frame.mesh.topology.index_map(1).size_global == 792
    assert 1.9 < coarse.frame.critical_time_step() / fine.frame.critical_time_step() < 2.1
    assert sum(fine.reactions) == pytest.approx(WEIGHT, rel=1e-9)
    # Linear elements: the deflection changes by little.
    ratio = fine.u0.min() / coarse.u0.min()
    assert 1.0 < ratio < 1.001


def test_step_by_courant():
    by_courant = cases.made("bridge-crane", "hati", courant=0.5)
    assert by_courant.integrator.fine.dt == pytest.approx(0.5 * 1.933415e-5, rel=1e-6)
    by_h = cases.made("bridge-crane", "hati", h=by_courant.p["h"])
    for name in ("h", "courant"):
        assert by_h.p[name] == pytest.approx(by_courant.p[name], rel=1e-12)


@pytest.mark.mpi
def test_the_crane_is_the_same_on_all_ranks(shared_path):
    """Whole everywhere; only one rank writes."""
    given = ["t_end=0.002", "partition=paper"]
    summary = runner.run("bridge-crane", "hati", given, shared_path / "out")
    WORLD.barrier()
    written = sorted(path.name for path in (shared_path / "out").iterdir())
    assert written == ["events.csv", "history.npz", "summary.json"]
    assert len(set(WORLD.allgather(json.dumps(summary["results"])))) == 1
    history = di.Result.load(shared_path / "out" / "history.npz")
    assert history["u"].shape == (21, 8) and history["r"].shape == (21, 4)
    assert (shared_path / "out" / "events.csv").read_text() == HEADER + "\n"


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", ["cd-lagrange", "hati"])
def test_ranks_write_the_same(scheme, shared_path, record, monkeypatch, capsys, as_on_one_rank):
    """The record's name is relative to the caller's folder."""
    if WORLD.rank == 0:
        (shared_path / "shake.csv").write_text(Path(record).read_text())
    WORLD.barrier()
    monkeypatch.chdir(shared_path)
    given = [f"t_end={END}", "record=shake.csv", "every=10", "--out", "out"]
    assert main(["run", "bridge-crane", scheme, "--set", *given]) == 0
    WORLD.barrier()
    said = WORLD.bcast(capsys.readouterr().out)
    files = [f"out/{name}" for name in ("history.npz", "events.csv", "summary.json")]
    assert said.splitlines()[-1] == "written: " + ", ".join(files)
    assert ("whole on every rank" in said) == (WORLD.size > 1)
    events, results = Path(files[1]).read_text(), json.loads(Path(files[2]).read_text())["results"]
    assert len(events.splitlines()) - 1 == results["closures"] > 0
    assert results["shaking"] == "shake, in z whatever its own direction, up to 60 m/s2 in the run"
    history = dict(di.Result.load(files[0]))
    one = as_on_one_rank((events, results, history))
    assert (events, results) == one[:2]
    assert all(np.array_equal(history[name], one[2][name]) for name in history if name != "_seconds")


# -- records


def test_record_of_a_horizontal_motion():
    """El Centro, N-S: it is said that it acts in z."""
    path = str(DATA / "elcentro-1940-ns.AT2")
    _, result, results, verdicts = run("cd-lagrange", record=path, t_end=0.02)
    assert results["shaking"].startswith("elcentro-1940-ns, in z whatever its own direction, up to ")
    assert all(v.reproduced for v in verdicts) and np.ptp(result["u"]) > 0
    assert "horizontal" in CASES["bridge-crane"].parameters["record"].help


def refused(capfd, *given, scheme="hati"):
    """The one line that a command with bad input prints."""
    status = main(["run", "bridge-crane", scheme, *(x for text in given for x in ("--set", text))])
    lines = WORLD.bcast(capfd.readouterr().err.splitlines())
    assert status == 2 and len(lines) == 1
    return lines[0]


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("none.csv", None, "the record .* does not exist"),
        ("a.AT2", "PEER\nEARTH\nACCELERATION\nNPTS= 2, DT= .005 SEC\n0.1 0.2\n", "does not name its units"),
        ("b.AT2", "PEER\nE\nUNITS OF G\nNPTS= 3, DT= .005 SEC\n0 0\n", "announces NPTS= 3, but holds 2"),
        ("c.AT2", "once upon a time\n", "is no PEER record"),
        ("d.csv", "once upon a time\n", "is no record"),
        ("e.csv", "0, 0\n0.1, hello\n", "'hello' is no finite number"),
        ("f.txt", "0, 0\n0.1, 0\n", "a record is a PEER file .AT2 or a table .csv"),
        (
            "g.csv",
            "0, 0\n0.1, 0\n",
            "needs its loads and motions to t = 1 s, but knows them to 0.1 s: give "
            "a longer record, or an earlier t_end",
        ),
    ],
)
def test_records_that_are_refused(capfd, shared_path, name, content, message):
    path = shared_path / name
    if content is not None and WORLD.rank == 0:
        path.write_text(content)
    WORLD.barrier()
    assert re.search(message, refused(capfd, f"record={path}"))


def test_builtin_record_has_an_end(capfd):
    assert "knows them to 4.001 s" in refused(capfd, "t_end=5")


@pytest.mark.parametrize(
    "given, message",
    [
        (["trolley=9.5"], "the trolley must stay 2 m and more from the ends of the girders"),
        (["trolley=-9"], "the trolley must stay 2 m and more from the ends of the girders"),
        (["trolley=wheel"], "trolley must be a number, not 'wheel'"),
        (["ratio=0"], "the ratio of the time steps must be a whole number from 1 on, but is 0"),
        (["ratio=2.5"], "ratio must be a whole number, not '2.5'"),
        (["h=2e-5"], "the time step 2e-05 s is above the critical one, 1.93342e-05 s"),
        (["refine=2"], "the time step 1e-05 s is above the critical one, 9.6"),
        (["h=1e-6", "courant=0.5"], "give h or courant, not both"),
    ],
)
def test_refused(capfd, given, message):
    assert message in refused(capfd, *given)


def test_histories_that_are_too_large_are_refused(capfd):
    message = refused(capfd, "h=2.857142857e-7", "every=1", scheme="cd-lagrange")
    assert "the history would take 1.2 GB" in message and "every=2 steps" in message
