"""Resumed runs equal uninterrupted ones."""

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import restarts
from support.processes import environment, limited_files
from support.restarts import (
    KEPT,
    SETUPS,
    STEEL,
    STEPS,
    block,
    difference,
    divided,
    go_on,
    kept,
    line,
    rubber,
    same_bits,
    whole,
)

import dolfinx_impact as di
from dolfinx_impact import SCHEMES, Checkpoint, StepControl, checkpoint, simulate
from dolfinx_impact.benchmark.__main__ import main

COMM = MPI.COMM_WORLD


@functools.cache
def critical_time_step():
    """That of the bar."""
    return di.Solid(line("bar.geo"), **STEEL).critical_time_step()


def bar_scheme(name):
    """A scheme of the catalogue on a bar that hits a wall, and its initial velocity."""
    if name == "hati":
        return divided()
    if name == "cd-lagrange-implicit":
        ball = di.PointMasses(1.0, lambda t, u, v, out: np.copyto(out, -4.0 * u - 0.3 * v**3))
        return SCHEMES[name].make(ball, 0.03, contact=di.DofBound(ball, 0, lower=-0.2, restitution=0.5)), -1.0
    bar = di.Solid(line("bar.geo"), **STEEL)
    step, contact = 0.7 * critical_time_step(), None
    if SCHEMES[name].contact_level != "none":
        contact = di.RigidContact(bar, "contact", di.Plane([-2e-5], [1.0]))
    options = {"mass": "lumped"} if name == "dep-4.6" else {}
    return SCHEMES[name].make(bar, step, contact=contact, **options), -5.0


@pytest.mark.parametrize("name", [name for name, s in SCHEMES.items() if not s.static])
def test_every_scheme_goes_on_bit_by_bit(name, shared_path):
    path = shared_path / "run"
    reference = whole(lambda: bar_scheme(name), 36, every=7, checkpoint=Checkpoint(path, every=19))
    again = go_on(lambda: bar_scheme(name), path, 36, every=7)
    assert reference["r"].sum() > 0 or SCHEMES[name].contact_level == "none"
    assert difference(reference, again) == 0.0 and same_bits(reference, again)
    assert reference.balance == again.balance


#: Each with a balance of its own.
BALANCES = (
    "cd-lagrange",
    "cd-lagrange-implicit",
    "moreau-jean",
    "generalized-alpha",
    "combined",
    "hati",
    "dep-4.1",
    "dep-7.2",
)


@pytest.mark.parametrize("name", BALANCES)
def test_two_histories_add_up_to_one(name, shared_path):
    """Run on during contact: impulses and works of both parts are those of one run, none counted twice."""
    reference = whole(lambda: bar_scheme(name), steps=60)
    pushed = np.flatnonzero(reference["r"].sum(axis=1))
    at = int(pushed[len(pushed) // 2])
    scheme, v0 = bar_scheme(name)
    scheme.start(0.0, v0)
    first = simulate(scheme, t_end=at * scheme.dt, progress=False)
    checkpoint.save(shared_path / "state", scheme)
    other = bar_scheme(name)[0]
    checkpoint.load(shared_path / "state", other)
    for goes_on in (scheme, other):
        second = simulate(goes_on, t_end=60 * goes_on.dt, progress=False)
        assert second["t"].size == 61 - at and not second["r"][0].any()
        assert second["r"].sum() + first["r"].sum() == pytest.approx(reference["r"].sum(), rel=1e-12)
        scale = reference["kinetic"].max()
        for work in ("internal_work", "external", "contact", "dissipated", "interface", "residual"):
            both = first[work][-1] + second[work][-1]
            assert both == pytest.approx(reference[work][-1], abs=1e-12 * scale), work


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("at", [1, 20, STEPS - 1, STEPS])
def test_wherever_it_stops(at, shared_path):
    assert difference(whole(rubber, every=20), kept(rubber, shared_path / "run", at=at, every=20)) == 0.0


def ball():
    system = di.PointMasses(1.0, load=[-9.81])
    return di.CDLagrange(system, 1e-3, contact=di.DofBound(system, 0, lower=0.0, restitution=0.8)), 2.0


@pytest.mark.mpi
@pytest.mark.parametrize("make", [ball, divided], ids=["ball", "divided"])
@pytest.mark.parametrize("every", [1, 7, 5000])
def test_compiled_loops_go_on(make, every, shared_path):
    pytest.importorskip("numba")
    if COMM.size > 1 and make is divided:
        pytest.skip("several ranks share the bodies: no compiled loop")
    options = {"steps": 4500, "compiled": True, "every": every}
    assert difference(whole(make, **options), kept(make, shared_path / "run", at=2777, **options)) == 0.0


@pytest.mark.mpi
def test_a_step_that_changes_goes_on(shared_path):
    def adapted(**options):
        scheme, v0 = rubber(courant=0.3)
        if "restart" not in options:
            scheme.start(0.0, v0)
        control = StepControl(every=20, safety=0.5)
        return control, simulate(scheme, t_end=0.012, adapt=control, progress=False, every=3, **options)

    control, reference = adapted()
    path = shared_path / "run"
    _, same = adapted(checkpoint=Checkpoint(path, every=40))
    assert control.changes > 0 and difference(reference, same) == 0.0
    again, late = adapted(restart=path)
    assert difference(reference, late) == 0.0 and again.changes == control.changes
    with pytest.raises(ValueError, match="time step .* this run .* give that"):
        simulate(rubber(courant=0.3)[0], t_end=0.012, restart=path, progress=False, every=3)


def check_resumed(name, path, ranks):
    """The run resumed from a checkpoint of so many ranks is the run from its start."""
    make, in_order = SETUPS[name]
    reference, again = restarts.reference(name), go_on(make, path, every=7)
    assert reference["r"].sum() > 0
    if ranks == COMM.size and (ranks == 1 or in_order):
        assert same_bits(reference, again)
    # Distributed factors add what comes first, and equal meshes are divided differently at times: 150 steps
    # with contact were seen to differ by 1.5e-12, those of a metal by 1.9e-11.
    close = in_order or COMM.size == 1 or name in ("implicit-rubber", "damped-rubber", "divided")
    assert difference(reference, again) <= (1e-12 if close else 1e-10), ranks


@pytest.mark.mpi(turns=False)  # on three ranks it reads what it wrote on two
@pytest.mark.parametrize("name", SETUPS)
def test_bodies_go_on_on_any_number_of_ranks(name, kept_files, shared_path):
    """Resumed on 1, 2 and 3 ranks from the checkpoints of as many and of fewer."""
    scheme, v0 = SETUPS[name][0]()
    scheme.start(0.0, v0)
    mine = (kept_files or shared_path) / f"{name}-{COMM.size}"
    simulate(scheme, t_end=KEPT * scheme.dt, checkpoint=Checkpoint(mine, every=KEPT), every=7, progress=False)
    COMM.barrier()
    for ranks in range(1, COMM.size + 1):
        path = mine.with_name(f"{name}-{ranks}")
        if kept_files or ranks == COMM.size:
            check_resumed(name, path, ranks)


@pytest.mark.nightly
def test_back_on_one_rank(launch, tmp_path):
    done = launch([restarts.__file__, tmp_path], ranks=3)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in SETUPS:
        check_resumed(name, tmp_path / f"{name}-3", 3)


# -- hand-written loops, observers


@pytest.mark.mpi
def test_a_loop_of_ones_own(shared_path):
    scheme, v0 = rubber()
    scheme.start(0.0, v0)
    for _ in range(40):
        scheme.step()
    checkpoint.save(shared_path / "state", scheme)
    other, _ = rubber()
    checkpoint.load(shared_path / "state", other)
    for s in (scheme, other):
        for _ in range(30):
            s.step()
    n = scheme.system.owned
    assert other.t == scheme.t
    assert np.array_equal(scheme.u[:n], other.u[:n]) and np.array_equal(scheme.r, other.r)
    # A run from a state without history begins there.
    third, _ = rubber()
    run = simulate(third, t_end=80 * third.dt, restart=shared_path / "state", progress=False)
    assert run.steps == 40 and run["t"][0] == pytest.approx(40 * third.dt)


class Counter:
    """Counts its calls, and what it is told."""

    def __init__(self):
        self.calls, self.said = 0, []

    def begin(self, integrator):
        self.said.append(f"begin {integrator.n}")

    def __call__(self, integrator):
        self.calls += 1

    def end(self):
        self.said.append("end")

    def state(self):
        return {"calls": np.array(self.calls)}

    def resume(self, state):
        self.said.append("resume")
        self.calls = int(state["calls"])


@pytest.mark.mpi
def test_observers_come_along(shared_path):
    first, second = Counter(), Counter()
    kept_run = {"steps": 40, "every": 3}
    scheme, v0 = rubber()
    scheme.start(0.0, v0)
    keep = Checkpoint(shared_path / "run", every=20)
    simulate(scheme, t_end=20 * scheme.dt, observers=[first], checkpoint=keep, every=3, progress=False)
    go_on(rubber, shared_path / "run", observers=[second], **kept_run)
    assert first.said == ["begin 0", "end"] and second.said == ["resume", "begin 20", "end"]
    assert second.calls == 40
    with pytest.raises(ValueError, match="has no state of observer 2, a Counter"):
        go_on(rubber, shared_path / "run", observers=[Counter(), Counter()], **kept_run)
    with pytest.raises(ValueError, match="a sample every 3 steps, this run every 1: give every=3, or leave"):
        go_on(rubber, shared_path / "run", observers=[Counter()], steps=40, every=1)
    with pytest.raises(ValueError, match="with energies or without"):
        go_on(rubber, shared_path / "run", energies=False, **kept_run)


@pytest.mark.mpi
def test_observers_end_whatever_happens():
    def fail(integrator):
        if integrator.n == 3:
            raise ZeroDivisionError("enough")

    counter = Counter()
    with pytest.raises(ZeroDivisionError, match="enough"):
        whole(rubber, observers=[counter, fail])
    assert counter.said == ["begin 0", "end"]


@pytest.mark.mpi
def test_an_interrupted_run_is_kept(shared_path):
    path = shared_path / "run"

    def interrupt(integrator):
        if integrator.n == 20 and COMM.rank == COMM.size - 1:
            signal.raise_signal(signal.SIGTERM)

    scheme, v0 = rubber()
    scheme.start(0.0, v0)
    options = {"checkpoint": Checkpoint(path, every=9), "every": 7, "progress": False}
    with pytest.raises(di.Interrupted, match="SIGTERM") as stop:
        simulate(scheme, t_end=STEPS * scheme.dt, observers=[interrupt], **options)
    assert "go on from" in stop.value.left
    assert difference(whole(rubber, every=7), go_on(rubber, path)) == 0.0


# -- files of other runs, damaged files


OTHERS = {
    "scheme": ({"make": di.MoreauJean}, "its scheme is .*CDLagrange.*, this one's .*MoreauJean"),
    "law of contact": ({"make": di.PaoliSchatzman}, "its scheme is .*VelocityLevel.*, this one's .*Position"),
    "restitution": ({"e": 0.3}, "its contact is .*'restitution': 0.2.* this one's .*0.3"),
    "material": ({"law": di.NeoHookean(1.001e6, 0.4)}, "its material or loads are not those here"),
    "gravity": ({"gravity": (0.0, 0.0, -9.81)}, "its loads are not those here"),
    "damping": ({"damping": 3.1}, "its material or loads are not those here"),
    "density": ({"density": 1100.01}, "its masses are not those here"),
    "mesh": ({"size": (3, 4, 3)}, "the mesh is another one, its nodes lie elsewhere"),
    "dofs": ({"size": (3, 3, 5)}, "its dofs is 240, this one's 288"),
    "obstacle": ({"obstacle": di.Plane((0, 0, -2e-4), (0, 0, 1))}, "its contact is not the one here"),
    "step": ({"courant": 0.5}, "time step .* this run .* give that"),
}


@pytest.fixture(scope="module")
def of_rubber(tmp_path_factory):
    """A checkpoint of the rubber block."""
    path = tmp_path_factory.mktemp("rubber") / "run"
    kept(rubber, path, at=3, steps=4)
    return path


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_another_run_is_refused(name, of_rubber):
    options, message = OTHERS[name]
    friction = {"friction": 0.0} if name in ("scheme", "law of contact") else {}
    scheme, v0 = rubber(**options, **friction)
    if name not in ("step", "dofs", "mesh"):
        scheme.dt = rubber()[0].dt
    scheme.start(0.0, v0)
    before = scheme.state()
    with pytest.raises(ValueError, match=message):
        checkpoint.load(of_rubber, scheme)
    after = scheme.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def shaken(kind, size=0.02, rate=20.0):
    """A plate whose skin, ground, load or obstacle moves as ``size sin(rate t)``, and its speed."""

    def signal(t):
        return size * np.sin(rate * t)

    given = {
        "foot": {"prescribed": {"skin": {1: signal}}},
        "ground": {"ground_acceleration": ((0.0, 1.0), signal)},
        "force": {"body_force": ((0.0, 1.0), signal)},
    }.get(kind, {})
    named, law = block(dmesh.CellType.triangle, (2, 2)), di.LinearElastic(1e4, 0.3)
    plate = di.Solid(named, density=1e3, law=law, **given)
    contact = None
    if kind == "obstacle":
        belt = di.MovingObstacle(di.Plane((0.0, -1e-3), (0.0, 1.0)), translation=((1.0, 0.0), signal))
        contact = di.RigidContact(plate, "skin", belt, friction=0.3)
    return di.CDLagrange(plate, np.pi / 20.0 / 100, contact=contact), 0.0


@pytest.mark.parametrize("other", [{"size": 0.04}, {"rate": 40.0}], ids=["size", "rate"])
@pytest.mark.parametrize(
    "kind, message",
    [
        ("foot", "its prescribed motion is not the one here"),
        ("ground", "its loads are not those here"),
        ("force", "its loads are not those here"),
        ("obstacle", "its obstacle does not move as the one here"),
    ],
)
def test_other_signals_are_refused_also_where_they_cross(kind, message, other, shared_path):
    """Kept where all the signals are zero."""
    scheme, v0 = shaken(kind)
    scheme.start(0.0, v0)
    for _ in range(100):
        scheme.step()
    checkpoint.save(shared_path / "state", scheme)
    checkpoint.load(shared_path / "state", shaken(kind)[0])
    with pytest.raises(ValueError, match=message):
        checkpoint.load(shared_path / "state", shaken(kind, **other)[0])
    with pytest.raises(ValueError, match="is a checkpoint of another run"):
        checkpoint.load(shared_path / "state", shaken("nothing")[0])


@pytest.mark.parametrize(
    "other, message",
    [
        ({"law": di.LinearElastic(1.0001e4, 0.3)}, "its material is not the one here"),
        ({"law": di.LinearElastic(1e4, 0.2999)}, "its material is not the one here"),
        ({"law": di.NeoHookean(1e4, 0.3)}, "its material is not the one here"),
        ({"stiffness_damping": 1.001e-5}, "its damping is not the one here"),
        ({"stiffness_damping": 0.0}, "its damping is not the one here"),
    ],
)
def test_another_material_is_seen_in_flight(other, message, shared_path):
    """A body that only translates has no internal forces, whatever it is made of."""

    def flying(**other):
        given = {"law": di.LinearElastic(1e4, 0.3), "stiffness_damping": 1e-5, **other}
        plate = di.Solid(block(dmesh.CellType.triangle, (2, 2)), density=1e3, **given)
        return di.CDLagrange(plate, 1e-4), plate.rigid_velocity([1.0, 0.0])

    scheme, v0 = flying()
    scheme.start(0.0, v0)
    scheme.step()
    checkpoint.save(shared_path / "state", scheme)
    checkpoint.load(shared_path / "state", flying()[0])
    with pytest.raises(ValueError, match=message):
        checkpoint.load(shared_path / "state", flying(**other)[0])


class Drag(di.Integrator):
    """A scheme with constants of its own kinds."""

    state_names = ("u", "v", "r", "memory")
    drag = 0.1

    def __init__(self, system, dt, contact=None, *, order=1, weight=0.5):
        super().__init__(system, dt, contact)
        self._order, self.weight, self.memory, self.calls = np.int64(order), weight, 0.0, 0

    def advance(self):
        self.memory, self.calls = self.memory + 1.0, self.calls + 1


@pytest.mark.parametrize(
    "options, constant",
    [({"order": 2}, "'order': 1"), ({"weight": 0.6}, "'weight': 0.5"), ({}, "'drag': 0.1")],
)
def test_constants_of_own_schemes_are_compared(options, constant, shared_path):
    scheme = Drag(di.PointMasses(1.0), 0.1)
    scheme.start(0.0, 1.0)
    scheme.step()
    checkpoint.save(shared_path / "state", scheme)
    same = Drag(di.PointMasses(1.0), 0.1)
    checkpoint.load(shared_path / "state", same)
    assert same.memory == 1.0
    kind = Drag if options else type("Drag", (Drag,), {"drag": 0.2})
    with pytest.raises(ValueError, match=f"its scheme is .*{constant}"):
        checkpoint.load(shared_path / "state", kind(di.PointMasses(1.0), 0.1, **options))


@pytest.mark.mpi
def test_entries_of_a_script_are_compared(shared_path):
    """Options that decide the run, but are not seen in the model, stand in the file."""
    scheme, v0 = rubber()
    scheme.start(0.0, v0)
    checkpoint.save(shared_path / "state", scheme, about={"size": 0.1, "names": ["a", "b"], "end": None})
    checkpoint.refuse_other(shared_path / "state", {"size": 0.1, "names": ["a", "b"], "end": None})
    checkpoint.refuse_other(shared_path / "state", {})
    for about, message in (
        ({"end": None, "size": 0.2}, "state' is a checkpoint of another run: its size is 0.1, not 0.2"),
        ({"angle": 30.0}, "its angle is None, not 30.0"),
    ):
        with pytest.raises(ValueError, match=message):
            checkpoint.refuse_other(shared_path / "state", about)
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        checkpoint.refuse_other(shared_path / "none", {})


@pytest.mark.mpi
def test_damaged_files(shared_path):
    path = shared_path / "run"
    kept(rubber, path, at=3, steps=4)
    good = path.read_bytes()
    texts = {
        b"": "is no checkpoint, or a damaged one",
        b"no archive at all": "is no checkpoint, or a damaged one",
        good[: len(good) // 2]: "is no checkpoint, or a damaged one",
    }
    for content, message in texts.items():
        COMM.barrier()
        if COMM.rank == 0:
            path.write_bytes(content)
        COMM.barrier()
        with pytest.raises(ValueError, match=message):
            go_on(rubber, path)
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        go_on(rubber, shared_path / "nothing")
    run = whole(rubber, steps=3)
    run.save(shared_path / "run.npz")
    with pytest.raises(ValueError, match="is no checkpoint"):
        go_on(rubber, shared_path / "run.npz")


@pytest.mark.mpi
def test_one_wrong_byte_is_seen(shared_path):
    path = shared_path / "run"
    kept(rubber, path, at=3, steps=4)
    content = bytearray(path.read_bytes())
    at = content.find(b"scheme/v.npy") + 300
    content[at] ^= 0x10
    COMM.barrier()
    if COMM.rank == 0:
        path.write_bytes(bytes(content))
    COMM.barrier()
    with pytest.raises(ValueError, match="is damaged: scheme/v cannot be read"):
        go_on(rubber, path)


@pytest.mark.mpi
@pytest.mark.parametrize("version", [5, 7])
def test_a_file_of_another_version_is_refused(version, shared_path):
    path, about = (
        shared_path / "run.npz",
        {"format": checkpoint.FORMAT, "version": version, "package": "0.1.0"},
    )
    if COMM.rank == 0:
        np.savez(path, about=json.dumps(about))
    COMM.barrier()
    given = f"run.npz' is a dolfinx_impact checkpoint of version {version}, but this package "
    allowed = rf"\({di.__version__}\) reads version 6 alone: "
    way_on = r"resume it with the one that wrote it \(0.1.0\), or start the run anew$"
    with pytest.raises(ValueError, match=given + allowed + way_on):
        go_on(rubber, path)


@pytest.mark.mpi
def test_what_cannot_be_kept_is_refused_before_the_run(shared_path):
    class Euler(di.Integrator):
        def advance(self):
            raise AssertionError("no step is made")

    system = di.PointMasses(1.0)
    scheme = Euler(system, 0.1)
    scheme.start(0.0, 1.0)
    with pytest.raises(ValueError, match="a Euler cannot be stopped and resumed: .* no state_names"):
        simulate(scheme, t_end=1.0, checkpoint=Checkpoint(shared_path / "run", every=1), progress=False)
    with pytest.raises(ValueError, match="every so many steps, from 1 on, not 0"):
        Checkpoint(shared_path / "run", every=0)
    with pytest.raises(OSError, match="the folder of .* does not exist"):
        whole(rubber, checkpoint=Checkpoint(shared_path / "no" / "run", every=1))
    with pytest.raises(OSError, match="is a folder"):
        whole(rubber, checkpoint=Checkpoint(shared_path, every=1))
    with pytest.raises(ValueError, match="checkpoint must be a Checkpoint"):
        whole(rubber, checkpoint="run")
    kept(rubber, shared_path / "run", at=21, steps=22)
    with pytest.raises(ValueError, match="t_end must come after the checkpoint"):
        go_on(rubber, shared_path / "run", steps=20)


# -- files are written whole or not at all


@pytest.mark.mpi
def test_a_folder_that_is_removed(shared_path):
    folder = shared_path / "kept"
    if COMM.rank == 0:
        folder.mkdir()
    COMM.barrier()

    def remove(integrator):
        if integrator.n == 15 and COMM.rank == 0:
            while not (folder / "run.history").exists():  # it is written while the run goes on
                time.sleep(0.001)
            shutil.rmtree(folder)

    with pytest.raises(OSError, match="the checkpoint .* was not written .No such file"):
        whole(rubber, checkpoint=Checkpoint(folder / "run", every=10), observers=[remove])


@pytest.mark.mpi
def test_a_full_disk(shared_path):
    folder = shared_path / "kept"
    if COMM.rank == 0:
        folder.mkdir()
    COMM.barrier()
    path = folder / "run"
    whole(rubber, steps=20, checkpoint=Checkpoint(path, every=20))
    told = r"was not written \(File too large\); an earlier one is intact"
    with limited_files(9000), pytest.raises(OSError, match=told):
        whole(rubber, checkpoint=Checkpoint(path, every=10))
    COMM.barrier()
    assert {p.name for p in folder.iterdir()} == {"run", "run.history"}
    assert difference(whole(rubber), go_on(rubber, path)) <= (0.0 if COMM.size == 1 else 1e-12)


#: Forks a run for every number that it reads, which writes a checkpoint a step, and stops at the moment of
#: that number while it writes: a line of Python of these files, those of the standard library included.
STOPPED = """
import os, signal, sys, threading
from support.restarts import rubber
from dolfinx_impact import Checkpoint, simulate
scheme, v0 = rubber()
scheme.start(0.0, v0)
kept = Checkpoint(sys.argv[1], every=1)
FILES = ("/checkpoint_writer.py", "/history_file.py", "/checkpoint.py", "/atomic_file.py", "/tempfile.py")
moments = 0

def seen(frame, event, argument):
    if "zipfile" not in frame.f_code.co_filename and not frame.f_code.co_filename.endswith(FILES):
        return None
    return at_line

def at_line(frame, event, argument):
    global moments
    moments += event == "line"
    if event == "line" and moments == stop:
        print(os.getpid(), flush=True)
        signal.pause()
    return at_line

for line in sys.stdin:
    stop = int(line)
    child = os.fork()
    if child == 0:
        try:
            sys.settrace(seen)
            threading.settrace(seen)
            simulate(scheme, t_end=4 * scheme.dt, checkpoint=kept, progress=False)
            sys.settrace(None)
            print(moments, flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""


def test_killed_at_many_moments(tmp_path):
    """All over three checkpoints: what is there is whole, and the run resumes from it."""
    path = tmp_path / "kept" / "run"
    path.parent.mkdir()
    (scheme, _), seen, left = rubber(), set(), 0
    command = [sys.executable, "-c", STOPPED, path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), text=True, **pipes) as parent:

        def answer(number):
            parent.stdin.write(f"{number}\n")
            parent.stdin.flush()
            return int(parent.stdout.readline())

        moments = answer(0)
        assert moments > 1000 and {p.name for p in path.parent.iterdir()} == {"run", "run.history"}
        parts = (np.arange(8) + np.random.default_rng(7).random(8)) / 8
        for moment in (1 + parts * (moments - 1)).astype(int):
            os.kill(answer(moment), signal.SIGKILL)
            left += len(list(path.parent.iterdir())) > 2
            with checkpoint.Stored(path) as stored:
                stored.resume(scheme)
                history = stored.history(scheme)
            assert history.arrays.whole("history/samples").shape[0] == scheme.n + 1
            seen.add(scheme.n)
        parent.stdin.close()
    assert {1, 2, 3} <= seen <= {1, 2, 3, 4} and left > 4  # most were killed while they wrote
    simulate(rubber()[0], t_end=1e-2, restart=path, checkpoint=Checkpoint(path, every=1000), progress=False)
    assert {p.name for p in path.parent.iterdir()} == {"run", "run.history"}


# -- the benchmark runner


@pytest.mark.parametrize(
    "words, every",
    [
        ("bouncing-ball moreau-jean --set t_end=4", 333),
        ("split-bar hati --set elements=20 t_end=1.3e-4", 7),
        ("impacting-bar cd-lagrange --set elements=10 restitution=1", 33),
        ("bridge-crane hati --set t_end=0.01 every=3", 77),
        ("free-flight cd-lagrange --set t_end=3 elements=4", 400),
        pytest.param(
            "solid-crane hati --set coarse=3 t_end=4e-3 ratio=20 start=sudden every=3",
            7,
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_the_runner_goes_on(words, every, tmp_path):
    file = tmp_path / "kept.npz"
    keep = ["--checkpoint", str(file), "--checkpoint-every", str(every)]
    assert main(["run", *words.split(), "--out", str(tmp_path / "whole"), *keep]) == 0
    assert main(["run", *words.split(), "--out", str(tmp_path / "again"), "--restart", str(file)]) == 0
    one, other = (np.load(tmp_path / name / "history.npz") for name in ("whole", "again"))
    names = [name for name in one if name != "_seconds"]
    assert all(np.array_equal(one[k], other[k], equal_nan=one[k].dtype.kind == "f") for k in names)
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("whole", "again")]
    assert summaries[0]["results"] == summaries[1]["results"]


def test_what_the_runner_refuses(tmp_path, capsys):
    words, file = ["run", "bouncing-ball", "moreau-jean"], tmp_path / "kept.npz"
    keep = ["--checkpoint", str(file), "--checkpoint-every", "333"]
    assert main([*words, "--out", str(tmp_path / "whole"), *keep]) == 0
    capsys.readouterr()
    wrong = [
        (["--checkpoint", str(file)], "give --checkpoint FILE and --checkpoint-every N together"),
        (["--checkpoint-every", "3"], "give --checkpoint FILE and --checkpoint-every N together"),
        (["--checkpoint", str(file), "--checkpoint-every", "0"], "takes a number of steps from 1 on, not 0"),
        (["--checkpoint", str(tmp_path), "--checkpoint-every", "3"], "is a folder: give the name of a file"),
        (["--checkpoint", str(tmp_path / "no" / "c"), "--checkpoint-every", "3"], "does not exist: make it"),
        (["--restart", str(tmp_path / "nothing")], "there is no checkpoint"),
        (["--restart", str(tmp_path / "whole" / "history.npz")], "is no checkpoint"),
        (["--restart", str(file), "--set", "every=11"], "not 11: give the same parameters"),
    ]
    for given, message in wrong:
        assert main([*words, "--out", str(tmp_path / "bad"), *given]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "bad").exists() or not list((tmp_path / "bad").iterdir())
    other_case = ["run", "van-der-pol", "cd-lagrange", "--out", str(tmp_path / "bad"), "--restart", str(file)]
    assert main(other_case) == 2
    assert "is a checkpoint of the case" in capsys.readouterr().err
