"""The scaling measurement and the batch script; never what was measured, only that it was."""

import json
import os
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
from mpi4py import MPI
from support.paths import DEMOS

from dolfinx_impact.benchmark import __main__ as command_line
from dolfinx_impact.benchmark.cases.impacting_bar import case as impacting_bar
from dolfinx_impact.benchmark.speed import bar as speed_bar
from dolfinx_impact.benchmark.speed import elements, machine, surfaces, yardsticks
from dolfinx_impact.benchmark.speed import main as speed
from dolfinx_impact.benchmark.speed import ranks as speed_ranks
from dolfinx_impact.benchmark.speed import scaling as speed_scaling
from dolfinx_impact.benchmark.speed import small as speed_small

SCRIPT = DEMOS / "cluster.sh"


@pytest.mark.mpi
@pytest.mark.parametrize("kind", speed_ranks.KINDS)
def test_the_body_is_the_same_on_any_number_of_ranks(kind):
    made, p = speed_ranks.Setup(MPI.COMM_WORLD, kind, (6, 3, 4)), speed_ranks.KINDS[kind].degree
    foot = (6 * p + 1) * (3 * p + 1)
    assert made.dofs == 3 * foot * (4 * p + 1) and made.points == foot
    assert made.points / MPI.COMM_WORLD.size <= made.most_points <= made.points
    assert made.integrator.n == 1 and list(made.seconds) == list(made.memory)
    assert all(seconds > 0 for seconds in made.seconds.values())
    total = MPI.COMM_WORLD.allreduce(float(made.integrator.r.sum()))
    # The foot stands: in the first steps its nodes lose what they had.
    assert 0 < total < speed_ranks.SPEED * made.integrator.system.total_mass


@pytest.mark.parametrize("dofs", [1000, 100_000, 1_000_000])
def test_sizes(dofs):
    one, two = (speed_ranks.cells_of(dofs, doubled) for doubled in (False, True))
    count = [3 * (a + 1) * (b + 1) * (c + 1) for a, b, c in (one, two)]
    assert count[0] == pytest.approx(dofs, rel=0.15) and count[1] == 2 * count[0]


@pytest.mark.slow
def test_what_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(speed_scaling, "_SECONDS", 0.02)
    kind = "linear Q1 hexahedra"
    (found,) = speed_scaling.measure([3000], [kind], rounds=2).values()
    assert found["dofs"] == 3000 and all(value > 0 for value in found.values())
    said = capsys.readouterr().out
    for ranks in ("1 rank", "2 ranks"):
        parts = sum(
            found[f"{stage}, s, {ranks}"]
            for stage in ("mesh", "forces and masses", "critical step", "contact", "first step")
        )
        assert found[f"set-up, s, {ranks}"] == pytest.approx(parts)
    assert found["step, speed-up"] == pytest.approx(found["step, ns, 1 rank"] / found["step, ns, 2 ranks"])
    for word in (kind, "two processes", "6000 dofs on 2 ranks", "bytes a dof", "load"):
        assert word in said


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
    def measure(case):
        assert "This takes about 5 s" in capsys.readouterr().out
        return {"compiled loop": 2.0}

    monkeypatch.setattr(speed_small, "measure", measure)
    assert speed.measure("bouncing-ball", [1000]) == {"bouncing-ball": {"compiled loop": 2.0}}


def test_json_is_an_object_a_number(monkeypatch, capsys):
    monkeypatch.setattr(speed_small, "measure", lambda case: print("told") or {"step()": 1.5, "loop": 2.0})
    assert command_line.main(["speed", "--case", "van-der-pol", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    case = {"case": "van-der-pol", "what": "van-der-pol"}
    assert rows == [{**case, "name": "step()", "value": 1.5}, {**case, "name": "loop", "value": 2.0}]
    assert "This takes" in err and "told" in err


@pytest.mark.parametrize("fastest", ["BAIJ", "SBAIJ", "AIJ"])
def test_the_fastest_product_is_one_of_three_formats(fastest, monkeypatch):
    bar = impacting_bar.Bar().build(speed_bar.values(1000)).system
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
    body = elements.body_of(elements.KINDS[name], "cube", 1000)
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
    monkeypatch.setattr(elements, "_SECONDS", 0.01)
    monkeypatch.setattr(elements, "ROUNDS", 2)
    monkeypatch.setattr(machine, "_NUMBERS", 10_000)
    kinds = ["linear P1 tetrahedra", "neo-Hookean Q1 hexahedra"]
    found = elements.measure([3000], kinds)
    assert list(found) == [
        f"{kind}, {shape}, 3000{what}"
        for shape in ("cube", "slender bar")
        for kind in kinds
        for what in ("", ", energies")
    ]
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


@pytest.mark.parametrize("case", ["bouncing-ball", "impacting-bar", "implicit-bar"])
def test_the_calls_of_petsc_make_the_same_steps(case):
    (plain, _), (other, _) = (speed_small._ready(case) for _ in range(2))
    calls = speed_small._through_petsc(other)
    for _ in range(40):
        plain.step()
        calls.step()
    for own, array in ((plain.u, calls._u.array), (plain.v, calls._v.array)):
        np.testing.assert_allclose(array, own, rtol=0, atol=1e-11 * np.abs(own).max())


def test_what_is_slower_is_not_called_faster(monkeypatch, capsys):
    monkeypatch.setattr(speed_small, "ROUNDS", 1)
    monkeypatch.setattr(speed_small, "_PLAIN", 20)
    found = speed_small.measure("bouncing-ball")
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
    with speed_scaling.Job("wood", 1000, 1) as job:
        with pytest.raises(RuntimeError, match="1000 dofs on 1 rank ended early: KeyError: 'wood'"):
            job.setup()


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_ended():
    with pytest.raises(RuntimeError, match="on 2 ranks: no answer within 0.01 s"):
        with speed_scaling.Job("linear P1 tetrahedra", 100_000, 2) as job:
            job.answer(0.01)
    assert job._process.poll() is not None
    assert not _running(job._process.pid)


def _running(group):
    """Whether anything of a process group is left; mpirun may be gone before its ranks."""
    for _ in range(1200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True


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
def test_parts_of_a_step_with_contact_between_bodies():
    found = surfaces.measure(10)
    assert {name.split(", ")[1] for name in found} == {"search", "rows", "solution", "step"}
    for friction in ("0", "0.3"):
        parts = [found[f"surfaces, {name}, friction {friction}"] for name in ("search", "rows", "solution")]
        assert min(parts) >= 0 and found[f"surfaces, step, friction {friction}"] > 0
