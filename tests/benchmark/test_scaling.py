"""The scaling measurement and the batch script; never what was measured, only that it was."""

import json
import os
import re
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI
from support.paths import DEMOS

from dolfinx_impact.benchmark import __main__ as command_line
from dolfinx_impact.benchmark.case import EXPLICIT
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.speed import (
    general_contact,
    measurement,
    scaling,
    small,
    solids,
    surfaces,
    yardsticks,
)
from dolfinx_impact.benchmark.speed import main as speed
from dolfinx_impact.benchmark.speed.measurement import Action, Measurement, Number, Turns

SCRIPT = DEMOS / "cluster.sh"


def row(case, **changes):
    """A row of the table, changed."""
    (found,) = (each for each in speed.TABLE if each.name == case)
    return replace(found, **changes)


# -- the driver


def toy(**how):
    """Two actions, by a clock on which all calls of a round take a second."""
    clock = iter(range(10**6))
    calls = []

    def build(sizes):
        for size in sizes:
            actions = {
                "slow": Action(partial(calls.append, "slow"), 4),
                "fast": Action(partial(calls.append, "fast"), 2, 8, "ratio"),
            }
            yield Turns(f"a body of {size}", actions, numbers, str(size))

    def numbers(seconds):
        return [Number("least", seconds["slow"].min()), Number("", 0, "a note", "fast")]

    made = Measurement("toy", "a toy", build, "slow", rounds=3, clock=lambda: next(clock), **how)
    return made, calls


def test_actions_take_turns_and_a_first_call_is_not_counted():
    made, calls = toy()
    found = made.measure([7])
    assert calls == ["slow", "fast"] + 3 * (4 * ["slow"] + 2 * ["fast"])
    assert found == {"7": {"ratio": pytest.approx((1 / 2 / 8) / (1 / 4)), "least": 0.25}}
    assert toy(warm=False)[0].measure([7]) == found


def test_a_table_has_its_head_a_row_an_action_and_the_numbers(capsys):
    made, _ = toy(unit=("ms", 1e3))
    made.measure([7, 8])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "a body of 7",
        f"  {'slow':<34}       250 ms, yardstick",
        f"  {'fast':<34}      62.5 ms, 0.250 of the yardstick (rounds: 0.250 to 0.250), a note",
        f"  {'least':<50}      0.25",
    ]
    assert len(lines) == 8 and lines[4] == "a body of 8"


@pytest.mark.parametrize(
    "comparison, value",
    [("FASTER", 2.0), ("OF_THE_WHOLE", 3.0), ("OF_THE_BEST", 1.5), ("TIMES", 0.5), ("MORE", -0.5)],
)
def test_comparisons(comparison, value):
    """Of medians, of all rounds together, or of the least ones."""
    seconds, base = np.array([2.0, 2.0, 2.0]), np.array([3.0, 4.0, 11.0])
    number = getattr(measurement, comparison).number("row", "name", seconds, base)
    assert number.value == pytest.approx(value) and number.row == "row" and "rounds: " in number.words


def test_times_that_an_action_tells_are_taken_as_they_are():
    told = iter([3.0, 5.0])
    actions = {"one": Action(lambda: next(told), 1, 2, "n", told=True)}
    made = Measurement(
        "a", "", lambda sizes: [Turns("", actions)], "one", measurement.FASTER, rounds=2, warm=False
    )
    assert made.measure([1]) == {"a": {"n": 1.0}} and next(told, None) is None


# -- scaling


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("kind", scaling.KINDS)
def test_the_body_is_the_same_on_any_number_of_ranks(kind):
    made, p = scaling.BoxSetup(MPI.COMM_WORLD, kind, (6, 3, 4)), solids.KINDS[kind].degree
    foot = (6 * p + 1) * (3 * p + 1)
    assert made.dofs == 3 * foot * (4 * p + 1) and made.points == foot
    assert made.points / MPI.COMM_WORLD.size <= made.most_points <= made.points
    assert made.integrator.n == 1 and list(made.seconds) == list(made.memory)
    assert all(seconds > 0 for seconds in made.seconds.values())
    total = MPI.COMM_WORLD.allreduce(float(made.integrator.r.sum()))
    # The foot stands: in the first steps its nodes lose what they had.
    assert 0 < total < scaling.SPEED * made.integrator.system.total_mass


@pytest.mark.parametrize("dofs", [1000, 100_000, 1_000_000])
def test_sizes(dofs):
    one, two = (scaling.cells_of(dofs, doubled=doubled) for doubled in (False, True))
    count = [3 * (a + 1) * (b + 1) * (c + 1) for a, b, c in (one, two)]
    assert count[0] == pytest.approx(dofs, rel=0.15) and count[1] == 2 * count[0]


@pytest.mark.slow
def test_what_is_measured(capsys):
    kind = "linear Q1 hexahedra"
    build = partial(scaling.jobs, kinds=[kind], rounds=2, seconds=0.02)
    (found,) = row("scaling", build=build).measure([3000]).values()
    assert found["dofs"] == 3000 and all(value > 0 for value in found.values())
    said = capsys.readouterr().out
    for ranks in ("1 rank", "2 ranks"):
        parts = sum(
            found[f"{stage}, s, {ranks}"]
            for stage in ("mesh", "forces and masses", "critical step", "contact", "first step")
        )
        assert found[f"set-up, s, {ranks}"] == pytest.approx(parts)
        for what in ("mesh", "body and scheme", "most"):
            assert f"{what}, bytes a dof, {ranks}" in found
        assert found[f"contact points of a rank over the mean, {ranks}"] >= 1.0
    assert found["step, speed-up"] == pytest.approx(found["step, ns, 1 rank"] / found["step, ns, 2 ranks"])
    names = {
        "run, speed-up",
        "step, weak efficiency",
        "run, weak efficiency",
        "step, speed-up of the machine",
    }
    assert names < found.keys()
    for word in (kind, "two ranks with half each", "6000 dofs on 2 ranks", "bytes a dof", "load"):
        assert word in said


# -- the command


@pytest.mark.parametrize(
    "case, words",
    [
        (None, ("This takes about 3 min", "bouncing-ball: a compiled step", "with 100000 and 1000000 dofs")),
        ("bridge-crane", ("This takes about 2 min", "bridge-crane: whole runs with HATI")),
        ("solids", ("This takes about 60 s", "solids: what obstacles cost")),
        ("elements", ("This takes about 22 min", "elements: steps on every kind of element")),
        ("surfaces", ("This takes about 2 min", "surfaces: contact between two bodies")),
        ("scaling", ("This takes about 9 min", "scaling: bodies with 100000 and 1000000 dofs on one rank")),
        ("van-der-pol", ("This takes about 5 s", "van-der-pol: a compiled step")),
    ],
)
def test_what_will_be_measured_and_how_long_it_takes(case, words):
    plan = speed.plan(case, [100_000, 1_000_000])
    assert all(word in plan for word in words), plan
    assert len(plan.splitlines()) == {None: 6}.get(case, 2)


def test_it_is_said_before_anything_is_measured(monkeypatch, capsys):
    def build(sizes):
        assert "This takes about 5 s" in capsys.readouterr().out
        yield Turns("", numbers=lambda seconds: [Number("compiled loop", 2.0)])

    monkeypatch.setattr(speed, "TABLE", [row("bouncing-ball", build=build)])
    assert speed.measure("bouncing-ball", [1000]) == {"bouncing-ball": {"compiled loop": 2.0}}


def test_json_is_an_object_a_number(monkeypatch, capsys):
    several = [Number("step()", 1.5), Number("loop", 2.0), Number("", 3.0, "a note")]
    turns = Turns("told", numbers=lambda seconds: several)
    monkeypatch.setattr(speed, "TABLE", [row("van-der-pol", build=lambda sizes: [turns])])
    assert command_line.main(["speed", "--case", "van-der-pol", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    case = {"case": "van-der-pol", "what": "van-der-pol"}
    assert rows == [{**case, "name": "step()", "value": 1.5}, {**case, "name": "loop", "value": 2.0}]
    assert all(words in err for words in ("This takes", "told", "a note"))


@pytest.mark.parametrize("fastest", ["BAIJ", "SBAIJ", "AIJ"])
def test_the_fastest_product_is_one_of_three_formats(fastest, monkeypatch):
    bar = CASES["impacting-bar"].build(solids.bar_values(1000), EXPLICIT).system
    seconds = iter([0.0 if name == fastest else 1.0 for name in ("BAIJ", "SBAIJ", "AIJ")])
    monkeypatch.setattr(yardsticks, "seconds_per_call", lambda *call: next(seconds))
    matrix, name, _ = yardsticks.best_product(bar)
    assert name == fastest and matrix.getType() == f"seq{name.lower()}"
    x, y = matrix.createVecs()
    x.array[:] = np.sin(np.arange(bar.owned))
    matrix.mult(x, y)
    np.testing.assert_allclose(y.array, bar.stiffness.scipy() @ x.array, rtol=1e-10, atol=1e-3)


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["linear Q2 GLL hexahedra", "neo-Hookean P2 tetrahedra"])
def test_the_yardstick_does_the_same_work(name):
    """K u by PETSc, or DOLFINx's assembled force, and ours."""
    body = solids.body_of(solids.KINDS[name], "cube", 1000)
    u, ours = yardsticks.random_wave(body), np.zeros(body.size)
    body.subtract_internal(u, ours)
    if body.linear:
        matrix, _, _ = yardsticks.best_product(body)
        x, y = matrix.createVecs()
        x.array[:] = u[: body.owned]
        matrix.mult(x, y)
        theirs = y.array
    else:
        force, _ = yardsticks.residual(body, u)
        theirs = force()[: body.owned]
    np.testing.assert_allclose(-ours[: body.owned], theirs, rtol=0, atol=1e-13 * np.abs(ours).max())


def test_every_kind_of_element_is_measured_in_both_shapes(monkeypatch, capsys):
    monkeypatch.setattr(measurement, "ROUND", 0.01)
    monkeypatch.setattr(yardsticks, "_NUMBERS", 10_000)
    kinds = ["linear P1 tetrahedra", "neo-Hookean Q1 hexahedra"]
    build = partial(solids.elements, kinds=kinds)
    found = row("elements", build=build, rounds=2).measure([3000])["elements"]
    assert set(found) == {
        f"{kind}, {shape}, 3000{what}"
        for shape in ("cube", "slender bar")
        for kind in kinds
        for what in ("", ", energies", ", ns a dof", ", bytes a dof", ", flops a dof")
    }
    said = capsys.readouterr().out
    for word in (
        "GB/s",
        "Gflop/s",
        "of the bandwidth",
        "flops a dof",
        "DOLFINx's assembled force",
        "Vec updates",
    ):
        assert word in said


@pytest.mark.slow
def test_steps_of_metals(monkeypatch):
    monkeypatch.setattr(measurement, "ROUND", 0.05)
    found = row("plasticity", build=partial(solids.metals, size=3000)).measure([])["plasticity"]
    assert found.keys() == {
        f"{e}, {s}" for e in ("P1 tetrahedra", "Q1 hexahedra") for s in ("elastic", "flowing")
    }
    for element in ("P1 tetrahedra", "Q1 hexahedra"):
        assert min(found[f"{element}, flowing"], found[f"{element}, elastic"]) > 0


@pytest.mark.mpi
def test_contact_with_obstacles_is_measured(capsys):
    found = row("solids", build=partial(solids.obstacles, cells=6), rounds=2).measure([])["solids"]
    shapes = ("plane", "sphere", "cylinder", "box", "torus", "two spheres", "callable")
    pressed = ("plane", "sphere", "cylinder", "moving plane")
    assert list(found) == [f"contact, {each}" for each in shapes] + [f"pressed, {each}" for each in pressed]
    if MPI.COMM_WORLD.rank == 0:
        told = re.findall(r"(\d+) points closed, (\d+) of them slide", capsys.readouterr().out)
        assert len(told) == len(shapes) + len(pressed)
        for closed, sliding in (map(int, each) for each in told[len(shapes) :]):
            assert closed == 49 and 0 < sliding < 49


def test_a_bar_is_measured_with_energies_and_recorder(capsys):
    (solid,) = (each for each in speed.TABLE if each.label)
    found = replace(solid, rounds=1).measure([1000])
    assert found.keys() == {"1000"}
    assert found["1000"].keys() == {"step", "step, energies and recorder", "contact"}
    assert "contact points, 1 ranks: set-up" in capsys.readouterr().out


@pytest.mark.parametrize("case", ["bouncing-ball", "impacting-bar", "implicit-bar"])
def test_the_calls_of_petsc_make_the_same_steps(case):
    (plain, _), (other, _) = (small.ready(case) for _ in range(2))
    calls = small.petsc_steps(other)
    for _ in range(40):
        plain.step()
        calls.step()
    for own, array in ((plain.u, calls._u.array), (plain.v, calls._v.array)):
        np.testing.assert_allclose(array, own, rtol=0, atol=1e-11 * np.abs(own).max())


def test_what_is_slower_is_not_called_faster(monkeypatch, capsys):
    monkeypatch.setattr(small, "PLAIN", 20)
    found = row("bouncing-ball", rounds=1).measure([])["bouncing-ball"]
    said = capsys.readouterr().out
    line = next(line for line in said.splitlines() if line.startswith("  step() "))
    words = "as fast" if found["step()"] == 1 else "faster" if found["step()"] > 1 else "slower"
    assert words in line and not re.search(r" 0(\.\d+)? times", said)
    (base,) = (line for line in said.splitlines() if line.startswith("  petsc4py calls"))
    assert "times" not in base


@pytest.mark.mpi
def test_on_several_ranks_it_is_refused():
    if MPI.COMM_WORLD.size == 1:
        pytest.skip("needs ranks")
    with pytest.raises(ValueError, match="run it without mpirun, not on"):
        speed.measure("scaling", [1000])


def test_without_mpirun(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RuntimeError, match="mpirun, which is not on PATH"):
        speed.measure("scaling", [1000])


@pytest.mark.slow
def test_a_job_that_fails_says_why():
    with pytest.raises(RuntimeError, match="wood with 1000 dofs on 1 rank ended early: KeyError: 'wood'"):
        scaling.run(1, "wood", "1000", "1", "0.1")


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_ended():
    words = ("linear P1 tetrahedra", "100000", "1", "0.1234567")  # by the last of which it is known
    with pytest.raises(RuntimeError, match="on 2 ranks: no answer within 1.5 s"):
        scaling.run(2, *words, limit=1.5)
    for _ in range(1200):
        if not _running(words[-1]):
            return
        time.sleep(0.1)
    pytest.fail("the job goes on")


def _running(word):
    """Whether a process has this word in its command; mpirun may be gone before its ranks."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if word.encode() in path.read_bytes().split(b"\0"):
                return True
    return False


# -- demos/cluster.sh

_SRUN = """#!/bin/bash
printf '%s\\n' "$*" >> "$TOLD/srun"
printf '%s\\n' "$OMP_NUM_THREADS $PYTHONPATH" >> "$TOLD/environment"
[ -z "${KEEPS:-}" ] || touch "$KEEPS"
exit "${STATUS:-0}"
"""
_SAYS = '#!/bin/bash\nprintf "%s\\n" "$*" >> "$TOLD/$(basename "$0")"\n'


@pytest.fixture
def submit(tmp_path):
    """``submit(*arguments, **environment)``: the script in an empty checkout, with stubs for SLURM."""
    (tmp_path / "bin").mkdir()
    for name, text in (("srun", _SRUN), ("scontrol", _SAYS), ("apptainer", _SAYS)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / "drop_test.py").touch()

    def run(*arguments, path=None, **environment):
        given = {"PATH": path or f"{tmp_path / 'bin'}:/usr/bin:/bin", "TOLD": str(tmp_path)}
        given |= {"SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": str(tmp_path)}
        return subprocess.run(
            [shutil.which("bash"), str(SCRIPT), *arguments],
            env=given | environment,
            cwd="/",
            timeout=600,
            capture_output=True,
            text=True,
        )

    run.told = lambda name="srun": (tmp_path / name).read_text().splitlines()
    run.folder = tmp_path
    return run


def test_the_script_is_bash_and_asks_for_what_it_needs():
    subprocess.run(["bash", "-n", str(SCRIPT)], check=True)
    text = SCRIPT.read_text()
    asked = [line.split()[1].split("=")[0] for line in text.splitlines() if line.startswith("#SBATCH")]
    for option in ("--nodes", "--ntasks-per-node", "--cpus-per-task", "--time", "--signal"):
        assert option in asked
    assert os.access(SCRIPT, os.X_OK)


def test_a_case_keeps_itself_and_goes_on(submit):
    case = ("case", "cube-drop", "cd-lagrange", "--set", "elements=64")
    out = "results/cluster/cube-drop-cd-lagrange"
    done = submit(*case, KEEPS=f"{out}/checkpoint.npz", STATUS="143")
    assert done.returncode == 143 and "the same command goes on from" in done.stderr
    (first,) = submit.told()
    assert first == (
        "--cpu-bind=cores python3 -m dolfinx_impact.benchmark run cube-drop cd-lagrange --set elements=64 "
        f"--out {out} --checkpoint {out}/checkpoint.npz --checkpoint-every 10000"
    )
    assert submit.told("environment") == [f"1 {submit.folder}"]
    done = submit(*case)
    assert done.returncode == 0 and f"going on from {out}/checkpoint.npz" in done.stderr
    assert submit.told()[1] == f"{first} --restart {out}/checkpoint.npz"
    # At its end it does not resume.
    assert [path.name for path in (submit.folder / out).iterdir()] == ["checkpoint.npz.done"]
    assert submit(*case).returncode == 0 and submit.told()[2] == first


def test_the_drop_test_with_an_image_and_its_own_folder(submit):
    (submit.folder / "impact.sif").touch()
    (submit.folder / "my results").mkdir()
    (submit.folder / "my results" / "checkpoint.npz").touch()
    settings = {"OUT": "my results", "IMAGE": "impact.sif", "MPI": "pmix"}
    done = submit("drop", "--angle", "30", PYTHON="python3.13", **settings)
    assert done.returncode == 0, done.stderr
    here = submit.folder
    assert submit.told() == [
        f"--cpu-bind=cores --mpi=pmix {here}/bin/apptainer exec --bind {here} --pwd {here} impact.sif "
        "python3.13 demos/drop_test.py --angle 30 --out my results --restart my results/checkpoint.npz"
    ]
    assert [path.name for path in (here / "my results").iterdir()] == ["checkpoint.npz.done"]


@pytest.mark.parametrize("status, kept, again", [("143", 1, True), ("143", 0, False), ("3", 1, False)])
def test_a_job_goes_back_into_the_queue_only_with_something_kept(submit, status, kept, again):
    keeps = {"KEEPS": "results/cluster/drop/checkpoint.npz"} if kept else {}
    done = submit("drop", STATUS=status, AGAIN="yes", **keeps)
    assert done.returncode == int(status)
    assert (submit.folder / "scontrol").exists() == again
    if again:
        assert submit.told("scontrol") == ["requeue 7"]
    else:
        assert f"failed with status {status}" in done.stderr


def test_a_module_is_loaded(submit):
    loads = {"BASH_FUNC_module%%": '() { printf "%s\n" "$*" >> "$TOLD/module"; }'}
    done = submit("drop", MODULES="dolfinx openmpi", **loads)
    assert done.returncode == 0, done.stderr
    assert submit.told("module") == ["load dolfinx openmpi"]


@pytest.mark.parametrize(
    "arguments, environment, message",
    [
        ((), {}, "sbatch .OPTIONS OF SBATCH."),
        (("fly",), {}, "sbatch .OPTIONS OF SBATCH."),
        (("case", "cube-drop"), {}, "the names of a case and a scheme"),
        (("drop",), {"IMAGE": "none.sif"}, "there is no image none.sif"),
        (("drop",), {"SLURM_SUBMIT_DIR": "/"}, "submit from the checkout"),
        (("drop",), {"path": "/usr/bin:/bin"}, "srun is not on PATH"),
    ],
    ids=["nothing", "unknown", "no scheme", "no image", "elsewhere", "no SLURM"],
)
def test_what_is_wrong_is_said(submit, arguments, environment, message):
    done = submit(*arguments, **environment)
    assert done.returncode == 2
    assert re.search(message, done.stderr), done.stderr


@pytest.mark.mpi
def test_parts_of_a_step_with_contact_between_bodies(capsys):
    found = row("surfaces", build=partial(surfaces.bodies, cells=6), rounds=2).measure([])["surfaces"]
    large = {
        f"surfaces, {name}, {told}"
        for name in ("search", "rows", "solution", "step", "per point")
        for told in ("friction 0", "friction 0.3", "few points", "many points")
    }
    assert found.keys() == large | {"small surfaces", "small surfaces, nothing near"}
    assert all(value > 0 for name, value in found.items() if "step" in name or "small" in name)
    assert min(value for name, value in found.items() if "per point" not in name) >= 0
    if MPI.COMM_WORLD.rank == 0:
        closed = [int(count) for count in re.findall(r"(\d+) points closed", capsys.readouterr().out)]
        assert closed == [49, 49, 4, 169, 48]


def test_contact_of_everything_is_measured(capsys):
    """Cubes in contact in pairs in all rounds, with and without tests of paths, and nothing near."""
    build = partial(general_contact.bodies, cells=6, stacks=(2, 1), layers=3)
    found = row("general-contact", build=build, rounds=3).measure([])["general-contact"]
    parts = ("pile, no tests of paths, contact", "pile, contact", "pile, tests of paths")
    names = {"nothing near, over the named pair", *(f"{part} over a large free step" for part in parts)}
    assert found.keys() == {*names, "pile, search, ms"}
    without, whole, tests = (found[f"{part} over a large free step"] for part in parts)
    assert whole == pytest.approx(without + tests, rel=1e-12)
    assert found["nothing near, over the named pair"] > 0 and found["pile, search, ms"] > 0
    printed = capsys.readouterr().out
    assert "6 cubes, 2250 dofs, 576 facets, 5.6% touch:" in printed and "25 points closed" in printed
    assert re.search("a search takes .* ms", printed)
