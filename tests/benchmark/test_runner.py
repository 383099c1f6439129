"""The command line: what it writes, and that bad input ends in one line and writes nothing."""

import json
import re
import signal
import sys

import numpy as np
import pytest
from mpi4py import MPI

from dolfinx_impact import SCHEMES, Interrupted, Result
from dolfinx_impact.benchmark import __main__ as command_line
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.impacting_bar import case as impacting_bar

WORLD = MPI.COMM_WORLD
RUN = ["run", "impacting-bar", "cd-lagrange"]
# A restitution switches off the study of the order, which takes longer than the run.
SMALL = ["--set", "elements=10", "--set", "restitution=0.5"]
ENERGIES = (
    "kinetic",
    "complementary",
    "internal",
    "internal_work",
    "external",
    "contact",
    "dissipated",
    "interface",
    "residual",
)


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def run(shared_path):
    """``run(*arguments)``: runs the small bar in this process; history and summary."""

    def start(*arguments, scheme="cd-lagrange", name="out"):
        folder = shared_path / name
        status = command_line.main(["run", "impacting-bar", scheme, *arguments, "--out", str(folder)])
        WORLD.barrier()
        assert status == 0 and files(folder) == ["history.npz", "summary.json"]
        found = Result.load(folder / "history.npz"), json.loads((folder / "summary.json").read_text())
        WORLD.barrier()  # rank 0 may not write again before all have read
        return found

    return start


@pytest.fixture
def complains(shared_path, capfd):
    """``complains(arguments, status, *texts)``: one line on stderr, once, and no file."""

    def check(arguments, status, *texts, folder=shared_path / "out"):
        before = files(shared_path)
        WORLD.barrier()  # rank 0 tries the folder at once
        assert command_line.main([*arguments, "--out", str(folder)]) == status
        WORLD.barrier()
        assert files(shared_path) == before
        out, err = capfd.readouterr()
        assert out == ""
        if WORLD.rank == 0:
            assert err.startswith("error: ") and err.count("\n") == 1, err
            assert all(text in err for text in texts), err
        else:
            assert err == ""

    return check


# -- list


def test_list_as_json(capfd):
    assert command_line.main(["list", "--json"]) == 0
    out = capfd.readouterr().out
    everything = json.loads(WORLD.bcast(out))
    assert out == "" or WORLD.rank == 0
    assert set(everything) == {"cases", "schemes"}
    for case in everything["cases"].values():
        assert set(case) == {"parameters", "schemes", "amplifies_rounding"}
        assert isinstance(case["amplifies_rounding"], bool)
        assert set(case["schemes"]) <= set(everything["schemes"])
        assert {"h", "t_end", "every", "gap_tolerance"} <= set(case["parameters"])
    for scheme in everything["schemes"].values():
        assert set(scheme) == {"paper", "equations", "order", "conserves", "limit", "parameters"}
        assert all(scheme[name] for name in set(scheme) - {"parameters"})
    for entry in [*everything["cases"].values(), *everything["schemes"].values()]:
        for option in entry["parameters"].values():
            assert set(option) == {"default", "unit", "help"} and option["unit"] and option["help"]

    bar = everything["cases"]["impacting-bar"]
    defaults = {name: option["default"] for name, option in bar["parameters"].items()}
    expected = {
        "dimension": 1,
        "elements": 50,
        "lateral": 5,
        "cell": "hexahedron",
        "E": 2.1e11,
        "rho": 7847,
        "length": 0.254,
        "area": 0.645e-3,
        "gap": 2e-4,
        "v0": 5,
        "restitution": 0,
        "courant": 0.7,
        "t_end": 3e-4,
        "every": 1,
        "h": None,
    }
    assert {name: defaults[name] for name in expected} == expected
    assert {"cd-lagrange", "moreau-jean"} <= set(bar["schemes"])
    assert {"theta", "forecast", "mass"} <= set(everything["schemes"]["moreau-jean"]["parameters"])


def test_list_for_people_says_what_there_is(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert command_line.main(["list"]) == 0
    out = WORLD.bcast(capfd.readouterr().out)
    assert all(re.search(rf"^  {re.escape(name)} ", out, re.M) for name in (*CASES, *SCHEMES))
    words = " ".join(out.split())
    assert all(each.about in words for each in CASES.values())
    assert all(each.paper in words for each in SCHEMES.values())
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["impacting-bar", "van-der-pol", "moreau-jean"])
def test_list_of_one_names_every_parameter(name, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert command_line.main(["list", name]) == 0
    out = WORLD.bcast(capfd.readouterr().out)
    options = CASES[name].parameters if name in CASES else SCHEMES[name].options
    assert options and all(re.search(rf"^  {each} +\S", out, re.M) for each in options)
    assert max(map(len, out.splitlines())) <= 80
    expected = {"impacting-bar": "[kg/m3]", "van-der-pol": "  force          midpoint"}
    assert expected.get(name, "rotating-spring") in out


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["list", "bouncing"], "unknown name 'bouncing'; the cases are: bouncing-ball,"),
        (["list", "bouncing-ball", "--json"], "give a name or --json"),
    ],
)
def test_list_of_what_there_is_not(arguments, text, capfd):
    assert command_line.main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == "" and (WORLD.rank > 0 or (text in err and err.count("\n") == 1))


def test_without_a_command_it_shows_its_commands_with_examples(capfd):
    assert command_line.main([]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    if WORLD.rank == 0:
        for command in ("list", "run", "report", "speed"):
            assert re.search(rf"^    {command} +\w", err, re.M)  # a line on what it does
            assert f"\n  python -m dolfinx_impact.benchmark {command} " in err
        assert err.splitlines()[-1] == "error: no command: one of list, run, report and speed"


def test_a_reader_that_has_seen_enough_ends_a_list_quietly(launch):
    script = f"{sys.executable} -m dolfinx_impact.benchmark list --json | head -n 1"
    done = launch(["-c", f"import subprocess; subprocess.run({script!r}, shell=True)"])
    assert done.stdout == "{\n" and done.stderr == ""


# -- what a run writes


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "scheme, settings, points",
    [
        ("cd-lagrange", SMALL, 1),
        ("moreau-jean", SMALL, 1),
        (
            "cd-lagrange",
            ["--set", "dimension=3", "--set", "elements=8", "--set", "lateral=2", "--set", "restitution=0.5"],
            9,
        ),
    ],
    ids=["cd-lagrange", "moreau-jean", "3D"],
)
def test_history_and_summary_hold_what_the_contract_names(scheme, settings, points, run):
    history, summary = run(*settings, scheme=scheme)
    h, n = summary["results"]["h"], summary["steps"] + 1
    assert summary["steps"] == max(1, round(3e-4 / h)) == history.steps
    assert history["t"] == pytest.approx(h * np.arange(n), rel=1e-13)
    assert np.array_equal(history["t_r"], history["t"])
    shift = h / 2 if scheme == "cd-lagrange" else 0.0
    assert history["t_v"] == pytest.approx(history["t"] + shift, rel=1e-13)
    for name in ("u", "v_t", "v", "gap", "r"):
        assert history[name].shape == (n, points) and history[name].dtype == np.float64
    for name in ENERGIES:
        assert history[name].shape == (n,)
    assert history["labels"].shape == history["contact_labels"].shape == (points,)
    assert history["u"] == pytest.approx(2e-4 - history["gap"], abs=1e-16)
    assert np.all(history["v_t"][0] == 5.0) and np.all(history["r"] >= 0) and np.all(history["r"][0] == 0)

    assert set(summary) == {
        "case",
        "scheme",
        "parameters",
        "results",
        "verdicts",
        "balance",
        "steps",
        "dofs",
        "seconds",
        "versions",
    }
    assert (summary["case"], summary["scheme"], summary["balance"]) == ("impacting-bar", scheme, True)
    assert set(summary["versions"]) == {"package", "commit", "dolfinx", "petsc", "numpy", "python"}
    assert summary["results"].keys() >= {
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
    }
    for verdict in summary["verdicts"]:
        assert set(verdict) == {"claim", "measured", "expected", "tolerance", "reproduced"}
        assert isinstance(verdict["reproduced"], bool)
    assert summary["results"]["impulse_sum"] == pytest.approx(history["r"].sum(), rel=1e-12)
    assert summary["results"]["balance_residual"] < 1e-11


def test_parameters_have_the_type_of_their_default(run):
    _, summary = run(
        "--set",
        "elements=12",
        "--set",
        "E=2e11",
        "--set",
        "v0=4",
        "--set",
        "restitution=1",
        "--set",
        "touching=false",
        "--set",
        "t_end=1e-4",
    )
    found = summary["parameters"]
    expected = {"elements": 12, "E": 2e11, "v0": 4.0, "touching": False, "cell": "hexahedron", "every": 1}
    assert {name: found[name] for name in expected} == expected
    assert [type(found[name]) for name in expected] == [int, float, float, bool, str, int]
    assert summary["dofs"] == 13


@pytest.mark.parametrize("scheme", ["cd-lagrange", "moreau-jean"])
@pytest.mark.parametrize("every", [7, 1000])
def test_coarse_samples_lose_no_impulse(scheme, every, run):
    fine, _ = run(*SMALL, scheme=scheme)
    coarse, summary = run(*SMALL, "--set", f"every={every}", scheme=scheme, name="coarse")
    steps = summary["steps"]
    assert steps % every
    at = [*range(0, steps, every), steps]
    for name in ("t", "t_v", "u", "v", "v_t", "gap", "kinetic", "contact", "residual"):
        assert coarse[name] == pytest.approx(fine[name][at], rel=1e-12, abs=1e-12), name
    sums = [fine["r"][a + 1 : b + 1].sum() for a, b in zip(at, at[1:])]
    assert coarse["r"][1:, 0] == pytest.approx(sums, rel=1e-12)
    assert coarse["r"].sum() == pytest.approx(fine["r"].sum(), rel=1e-12) and fine["r"].sum() > 1.0


def test_the_step_can_be_given(run):
    history, summary = run("--set", "h=1e-6", "--set", "t_end=1.04e-5", *SMALL)
    assert summary["results"]["h"] == 1e-6 and summary["steps"] == 10
    assert history["t"][-1] == pytest.approx(1e-5)


@pytest.mark.mpi
def test_a_second_run_replaces_the_first(run):
    first, _ = run(*SMALL)
    second, summary = run(*SMALL, "--set", "t_end=1e-5")
    assert len(second["t"]) == summary["steps"] + 1 < len(first["t"])


@pytest.mark.mpi
def test_the_summary_line_appears_once_on_a_terminal(run, capfd, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(*SMALL)
    out, err = capfd.readouterr()
    assert (out + err).count(" steps to t = ") == (WORLD.rank == 0)


@pytest.mark.parametrize(
    "measured, expected, words",
    [(1e-15, 0.0, "at most 0.1"), (-0.01, 0.0, "at most 0.1 in magnitude"), (2.0, 2.0, "expected 2 +- 0.1")],
)
def test_a_verdict_says_how_it_compares(measured, expected, words):
    assert runner._bound({"measured": measured, "expected": expected, "tolerance": 0.1}) == words


def test_default_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert command_line.main([*RUN, *SMALL]) == 0
    assert files(tmp_path / "results" / "impacting-bar" / "cd-lagrange") == ["history.npz", "summary.json"]


def test_result_round_trip(shared_path):
    path = shared_path / "result.npz"
    labels = np.array(["a", "bc"])
    arrays = {"t": np.arange(3.0), "u": np.ones((3, 2)), "r": np.zeros((3, 0)), "labels": labels}
    Result(arrays, balance=False, steps=2, seconds=0.25).save(path)
    WORLD.barrier()
    back = Result.load(path)
    assert (back.balance, back.steps, back.seconds) == (False, 2, 0.25)
    assert set(back) == set(arrays) and len(back) == 4
    for name, value in arrays.items():
        assert np.array_equal(back[name], value) and back[name].dtype == value.dtype
    with pytest.raises(KeyError, match=r"'gap'; recorded are \['labels', 'r', 't', 'u'\]"):
        back["gap"]


@pytest.mark.parametrize(
    "content, message",
    [(None, "there is no result"), (b"", "is no result of a run"), (b"no archive", "is no result of a run")],
)
def test_what_is_no_result_is_not_loaded(content, message, shared_path):
    path = shared_path / "result.npz"
    if content is not None and WORLD.rank == 0:
        path.write_bytes(content)
    WORLD.barrier()
    with pytest.raises(FileNotFoundError if content is None else ValueError, match=message):
        Result.load(path)


def test_an_archive_of_something_else_is_no_result(shared_path):
    if WORLD.rank == 0:
        np.savez(shared_path / "other.npz", x=np.zeros(2))
    WORLD.barrier()
    with pytest.raises(ValueError, match="it has no times t"):
        Result.load(shared_path / "other.npz")


# -- bad input


def settings(*pairs):
    return [word for pair in pairs for word in ("--set", pair)]


def bar(*pairs):
    return [*RUN, *settings(*pairs)]


def theta_bar(*pairs):
    return ["run", "impacting-bar", "moreau-jean", *settings(*pairs)]


BAD = {
    "unknown case": (["run", "impacting-car", "cd-lagrange"], ["case 'impacting-car'", "impacting-bar"]),
    "unknown scheme": (
        ["run", "impacting-bar", "newmark"],
        ["scheme 'newmark'", "cd-lagrange-singular, paoli"],
    ),
    "no scheme": (["run", "impacting-bar"], ["required: scheme"]),
    "unknown parameter": (bar("elemnts=5"), ["unknown parameter 'elemnts'", "dimension, elements"]),
    "parameter of another scheme": (bar("theta=0.5"), ["unknown parameter 'theta'"]),
    "no value": (bar("elements"), ["NAME=VALUE", "'elements'"]),
    "negative density": (bar("rho=-1"), ["rho must be positive [kg/m3]", "-1"]),
    "restitution": (bar("restitution=1.5"), ["restitution must lie in [0, 1]", "1.5"]),
    "step above the critical one": (bar("courant=1.2"), ["1.17838e-06", "9.81987e-07"]),
    "h above the critical step": (bar("h=2e-6"), ["2e-06", "9.81987e-07"]),
    "h and courant": (bar("h=1e-7", "courant=0.5"), ["h or courant, not both"]),
    "negative h": (bar("h=-1e-7"), ["h must be positive", "-1e-07"]),
    "courant of 0": (bar("courant=0"), ["courant must be positive"]),
    "plane bar": (bar("dimension=2"), ["dimension must be one of 1, 3, not 2"]),
    "cell": (bar("cell=wedge"), ["cell must be one of hexahedron, tetrahedron, not wedge"]),
    "elements that are a word": (bar("elements=x"), ["elements must be a whole number, not 'x'"]),
    "half an element": (bar("elements=2.5"), ["elements must be a whole number, not '2.5'"]),
    "no elements": (bar("elements=0"), ["elements", "1 to", "0"]),
    "infinite modulus": (bar("E=inf"), ["E must be finite"]),
    "no number": (bar("gap=nan"), ["gap must be finite"]),
    "Poisson's ratio": (bar("nu=0.5"), ["nu must lie in (-1, 0.5)", "0.5"]),
    "negative tolerance": (bar("gap_tolerance=-1"), ["gap_tolerance must be", "-1"]),
    "end at the start": (bar("t_end=0"), ["t_end must be positive", "0"]),
    "no samples": (bar("every=0"), ["every must be at least 1", "0"]),
    "history too large": (bar("t_end=10", "every=1"), ["GB", "every="]),
    "theta": (theta_bar("theta=2"), ["theta must lie in [0, 1]", "2"]),
    "mass": (theta_bar("mass=heavy"), ["mass must be one of", "heavy"]),
    "mass of another scheme": (bar("mass=consistent"), ["mass must be one of lumped"]),
}


#: What is found out on one rank, on all, or while the run is made.
ON_RANKS = (
    "unknown case",
    "unknown parameter",
    "negative density",
    "restitution",
    "no elements",
    "step above the critical one",
    "history too large",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.mpi) if name in ON_RANKS else name for name in BAD]
)
def test_bad_input_is_one_clear_line(name, complains):
    arguments, texts = BAD[name]
    complains(arguments, 2, *texts)


@pytest.mark.mpi
def test_unwritable_folder(complains, shared_path):
    if WORLD.rank == 0:
        (shared_path / "file").write_text("in the way")
    WORLD.barrier()
    complains([*RUN, *SMALL], 2, "cannot write in", "file", folder=shared_path / "file" / "out")


@pytest.mark.mpi
def test_unstable_run_fails_and_writes_nothing(complains):
    complains([*bar("courant=1.2"), "--allow-unstable"], 3, "the energy is", "smaller time step")


@pytest.mark.parametrize("courant", ["1", "1.0000005"])
def test_the_limit_itself_is_allowed(courant, run):
    _, summary = run("--set", f"courant={courant}", *SMALL)
    assert summary["results"]["balance_residual"] < 1e-11


@pytest.mark.mpi
@pytest.mark.parametrize("arguments", [[], ["report-card"]])
def test_bad_command(arguments, capfd):
    assert command_line.main(arguments) == 2
    assert capfd.readouterr().err.count("error: ") == (WORLD.rank == 0)


# -- results, and how a command ends


def test_numbers_do_not_depend_on_what_is_sampled(shared_path):
    """Results count every step; parameters in the summary are those of the run."""
    found = []
    for every in (1, 50):
        out = shared_path / str(every)
        settings = ["--set", "h=5e-7", f"every={every}"]
        assert command_line.main(["run", "impacting-bar", "moreau-jean", *settings, "--out", str(out)]) == 0
        WORLD.barrier()
        found.append(json.loads((out / "summary.json").read_text()))
        WORLD.barrier()
    assert found[0]["results"] == pytest.approx(found[1]["results"], rel=1e-12)
    parameters = found[0]["parameters"]
    assert parameters["h"] == 5e-7 and parameters["nu"] == 0.0
    assert parameters["courant"] == pytest.approx(5e-7 / 9.819873454717563e-07)


def test_energy_lost_counts_what_the_formula_dissipates(shared_path):
    arguments = ["run", "impacting-bar", "moreau-jean", "--set", "theta=1", "--out", str(shared_path / "out")]
    assert command_line.main(arguments) == 0
    WORLD.barrier()
    summary = json.loads((shared_path / "out" / "summary.json").read_text())
    assert 0.2 < summary["results"]["energy_lost"] < 0.25


@pytest.mark.mpi
def test_summary_says_what_is_whole_on_every_rank(shared_path, capfd):
    assert command_line.main(["run", "bouncing-ball", "cd-lagrange", "--out", str(shared_path / "out")]) == 0
    WORLD.barrier()
    said = capfd.readouterr().out
    if WORLD.rank == 0:
        assert ("whole on every rank" in said) == (WORLD.size > 1)


def test_bar_at_the_wall_from_the_start(shared_path):
    """gap = 0: the start takes the impulse of H/2; with v0 = 0 nothing happens at all."""
    for speed, pushed in ((5.0, True), (0.0, False)):
        out = shared_path / str(speed)
        settings = ["--set", "elements=10", "gap=0", f"v0={speed}", "t_end=5e-5"]  # too short for the study
        assert command_line.main(["run", "impacting-bar", "cd-lagrange", *settings, "--out", str(out)]) == 0
        WORLD.barrier()
        with np.load(out / "history.npz") as history:
            assert (history["r"][0] > 0).all() == pushed
            assert np.abs(history["residual"]).max() <= 1e-12 * max(history["kinetic"][0], 1e-30)


@pytest.mark.parametrize(
    "settings, status, words",
    [
        (["theta=0.4"], 3, "more than 10 times"),
        (["t_end=1e308"], 2, "too many"),
        (["elements=3000000000"], 2, "elements must be 1 to"),
        (["dimension=3", "area=1e-20"], 2, "cannot be meshed"),
    ],
)
def test_extremes_are_one_clear_line(settings, status, words, shared_path, capfd):
    arguments = ["run", "impacting-bar", "moreau-jean", "--set", *settings, "--out", str(shared_path / "out")]
    assert command_line.main(arguments) == status
    WORLD.barrier()
    err = capfd.readouterr().err
    if WORLD.rank == 0:
        assert words in err and err.count("\n") == 1, err


def test_an_interrupted_study_leaves_the_run(shared_path, monkeypatch, capfd):
    """Ctrl-C in the order study, after the run itself: its files are there, and the line says so."""

    def stop(*_):
        raise Interrupted(signal.SIGINT)

    monkeypatch.setattr(impacting_bar.Bar, "study", stop)
    out = shared_path / "out"
    assert command_line.main(["run", "impacting-bar", "cd-lagrange", "--out", str(out)]) == 130
    WORLD.barrier()
    assert "verdicts" in json.loads((out / "summary.json").read_text()) and Result.load(out / "history.npz")
    if WORLD.rank == 0:
        assert "interrupted by SIGINT: the run is written, without the verdicts" in capfd.readouterr().err
