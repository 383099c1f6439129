"""The file of samples beside a checkpoint: appended to, cut, refused."""

import os
import shutil
import signal
import time

import numpy as np
import pytest
from mpi4py import MPI
from support.restarts import STEPS, difference, go_on, rubber, same_bits, whole

import dolfinx_impact as di
from dolfinx_impact import Checkpoint, checkpoint, simulate
from dolfinx_impact.simulation import checkpoint_writer, sample_rows

COMM = MPI.COMM_WORLD


def run(path, *, at=STEPS, kept=9, restart=None, make=rubber, history=True, **options):
    """A run to the step ``at`` with checkpoints, from its start or another one."""
    scheme, v0 = make()
    if restart is None:
        scheme.start(0.0, v0)
    keep = Checkpoint(path, every=kept, history=history)
    return simulate(scheme, t_end=at * scheme.dt, checkpoint=keep, restart=restart, progress=False, **options)


def on_root(change):
    """A change of files between two calls of all ranks."""
    COMM.barrier()
    if COMM.rank == 0:
        change()
    COMM.barrier()


def size(path):
    return path.stat().st_size


def history_of(path):
    return path.with_name(f"{path.name}.history")


def resumed(path, **options):
    """Whether a run that goes on from the file is the whole one."""
    return difference(whole(rubber, **options), go_on(rubber, path, **options)) == 0.0


def ball():
    system = di.PointMasses(1.0, load=[-9.81])
    return di.CDLagrange(system, 1e-3, contact=di.DofBound(system, 0, lower=0.0, restitution=0.8)), 2.0


@pytest.mark.mpi
def test_the_size_of_a_checkpoint_is_constant_and_samples_are_appended(shared_path):
    sizes, samples = [], []
    for steps in (500, 3000):
        run(shared_path / "run", at=steps, kept=250, make=ball)
        sizes.append(size(shared_path / "run"))
        samples.append(size(history_of(shared_path / "run")))
    assert abs(sizes[1] - sizes[0]) < 32  # numbers in words have more digits
    columns = 2 + 3 + 2 + 8 + 1  # times; u, v_t, v; gap, r; energies; lost_force
    assert samples[1] - samples[0] == 8 * 2500 * columns


@pytest.mark.mpi
def test_without_history_a_result_is_the_rest_of_the_whole(shared_path):
    """Bit by bit from the checkpoint on; what is one number for a run is that of the whole."""
    path = shared_path / "run"
    run(path, at=18, kept=18)
    run(path, at=18, kept=18, history=False)
    assert [p.name for p in shared_path.iterdir()] == ["run"]  # nor that of the run before
    reference = whole(rubber)
    rest = go_on(rubber, path)
    for name in set(reference) - {"residual", "r", "r_t", "labels", "contact_labels"}:
        assert np.array_equal(rest[name], reference[name][18:], equal_nan=True), name
    assert not rest["r"][0].any() and not rest["r_t"][0].any()
    assert np.array_equal(rest["r"][1:], reference["r"][19:])
    assert rest.steps == reference.steps and rest.penetration == reference.penetration
    assert di.output.relative_residual(rest) < 1e-12


@pytest.mark.mpi
def test_without_history_the_first_sample_is_the_checkpoint_between_two_others(shared_path):
    path, reference = shared_path / "run", whole(rubber, every=5)
    run(path, at=18, kept=18, history=False, every=5)
    rest = go_on(rubber, path)
    assert np.array_equal(rest["t"][1:], reference["t"][4:])  # 20, 25 and the last
    assert rest["t"][0] == whole(rubber)["t"][18]
    again = shared_path / "again"
    run(again, restart=path, kept=4)
    assert same_bits(rest, go_on(rubber, again))


# -- killed runs, several files


@pytest.mark.mpi
def test_killed_between_samples_and_checkpoint(shared_path):
    """What lies beyond the checkpoint is not read, and cut off by the next one."""
    path = shared_path / "run"
    run(path, at=9)
    earlier = path.read_bytes()
    run(path, restart=path)
    longer = size(history_of(path))
    on_root(lambda: path.write_bytes(earlier))
    assert resumed(path) and resumed(path)
    run(path, at=18, restart=path)
    assert size(history_of(path)) < longer and resumed(path)


@pytest.mark.mpi
def test_killed_at_the_first_checkpoint_of_a_run(shared_path):
    """Over an earlier one of another run, which goes on until the new one is there."""
    path, other = shared_path / "run", shared_path / "other"
    run(path, at=9)
    run(other, at=18)
    begun = path.with_name("run.history.new")
    on_root(lambda: begun.write_bytes(history_of(other).read_bytes()))
    assert resumed(path) and checkpoint.resume(path, rubber()[0]).steps == 9
    on_root(lambda: path.write_bytes(other.read_bytes()))
    assert resumed(path) and checkpoint.resume(path, rubber()[0]).steps == 18
    run(path, restart=path)
    assert not begun.exists() and resumed(path)


@pytest.mark.mpi
def test_two_files_in_turn(shared_path):
    """Each has the complete history."""
    a, b = shared_path / "a", shared_path / "b"
    run(a, at=9)
    run(b, at=18, restart=a)
    assert resumed(a) and resumed(b)
    run(a, at=STEPS, restart=b)
    assert resumed(a) and resumed(b)


@pytest.mark.mpi
def test_two_runs_go_on_from_one_checkpoint(shared_path):
    """The second writes over what the first has appended."""
    path = shared_path / "run"
    run(path, at=9)
    schemes = [rubber()[0] for _ in range(2)]
    histories = [checkpoint.resume(path, scheme) for scheme in schemes]
    for scheme, history, at in zip(schemes, histories, (STEPS, 18)):
        keep = Checkpoint(path, every=9)
        simulate(scheme, t_end=at * scheme.dt, history=history, checkpoint=keep, progress=False)
    assert checkpoint.resume(path, rubber()[0]).steps == 18 and resumed(path)


# -- files that do not belong together, damaged ones


def changed(content):
    return content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]


WRONG = {
    "changed": (changed, "run.history' is damaged: its samples are not those that were written; bring back"),
    "short": (
        lambda content: content[:-8],
        "run.history' is damaged: it has .* bytes, not the .* of 10 samples",
    ),
    "another": (
        lambda content: content[:30] + b"0" * 20 + content[50:],
        "run.history' is that of another run",
    ),
    "no history": (lambda content: b"something else", "run.history' is no history of a run"),
}


@pytest.mark.mpi
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_history_is_refused(name, shared_path):
    path = shared_path / "run"
    run(path, at=9)
    change, message = WRONG[name]
    on_root(lambda: history_of(path).write_bytes(change(history_of(path).read_bytes())))
    with pytest.raises(ValueError, match=f"run' does not go on without its history: .*{message}"):
        go_on(rubber, path)


@pytest.mark.mpi
def test_a_lost_history_is_refused_but_the_state_goes_on(shared_path):
    path = shared_path / "run"
    run(path, at=9)
    on_root(history_of(path).unlink)
    with pytest.raises(
        FileNotFoundError, match="run.history' does not exist; bring back the one .* or go on"
    ):
        go_on(rubber, path)
    scheme = rubber()[0]
    checkpoint.load(path, scheme)
    assert scheme.n == 9


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["balance/kinetic", "run/watch", "scheme/u"])
def test_a_missing_array_is_said(name, shared_path):
    path = shared_path / "run"
    run(path, at=9)

    def leave_out():
        with np.load(path) as data:
            arrays = {key: data[key] for key in data if key != name}
        with open(path, "wb") as file:
            np.savez(file, **arrays)

    on_root(leave_out)
    with pytest.raises(ValueError, match=f"run' is damaged: it has no {name}"):
        go_on(rubber, path)


@pytest.mark.mpi
def test_other_rows_are_refused(shared_path):
    path = shared_path / "run"
    run(path, at=9)
    body = rubber()[0].system
    with pytest.raises(
        ValueError, match="another run: its history has .* columns of u, this run's .*record="
    ):
        go_on(rubber, path, record=body.rows(np.arange(1)))
    with pytest.raises(ValueError, match="history says whether samples are stored, .* but is None"):
        Checkpoint(path, every=9, history=None)


# -- histories that are too long


def limited(monkeypatch, scheme, samples):
    """Set the limit of memory to so many samples of the default record."""
    rows = (
        scheme.system.rows() if scheme.contact is None else scheme.contact.approach() or scheme.system.rows()
    )
    monkeypatch.setattr(
        sample_rows, "_MOST_BYTES", samples * sample_rows.SampleLimit(scheme, rows, True)._size
    )


def test_a_history_that_is_too_long_has_fewer_samples(monkeypatch, caplog, tmp_path):
    limited(monkeypatch, ball()[0], 100)
    chosen = run(tmp_path / "run", at=990, kept=500, make=ball)
    assert len(caplog.messages) == 1 and "a sample every 11 steps" in caplog.messages[0]
    assert same_bits(chosen, whole(ball, 990, every=11))
    with pytest.raises(ValueError, match="the history would take .* GB .991 samples.*, or every=11 steps"):
        whole(ball, 990, every=1)
    assert same_bits(chosen, go_on(ball, tmp_path / "run", 990))
    longer = go_on(ball, tmp_path / "run", 1980)  # its samples are merged
    assert difference(longer, whole(ball, 1980, every=22)) < 1e-14
    again = tmp_path / "again"
    run(again, at=1980, kept=990, make=ball, restart=tmp_path / "run")
    assert same_bits(longer, go_on(ball, again, 1980))


@pytest.mark.mpi
def test_samples_are_merged_where_an_adapted_step_makes_more_of_them(monkeypatch, shared_path):
    def adapted(**options):
        scheme, v0 = rubber(courant=0.9)
        if "restart" not in options:
            scheme.start(0.0, v0)
        control = di.StepControl(every=20, safety=0.5)
        return simulate(scheme, t_end=0.012, adapt=control, progress=False, **options)

    reference, scheme = adapted(), rubber(courant=0.9)[0]
    foreseen = round(0.012 / scheme.dt) + 1
    assert foreseen < reference["t"].size - 10
    limited(monkeypatch, scheme, reference["t"].size - 5)
    merged = adapted(checkpoint=Checkpoint(shared_path / "run", every=30))
    last = np.append(np.arange(0, reference["t"].size - 1, 2), reference["t"].size - 1)
    for name in ("t", "u", "v", "gap", "kinetic", "internal", "residual"):
        assert np.array_equal(merged[name], reference[name][last]), name
    sums = [reference["r"][a + 1 : b + 1].sum(axis=0) for a, b in zip(last[:-1], last[1:])]
    assert np.allclose(merged["r"][1:], sums, rtol=1e-13, atol=0.0) and np.sum(sums) > 0
    assert difference(adapted(restart=shared_path / "run"), merged) == 0.0
    with pytest.raises(ValueError, match="the history would take"):
        adapted(every=1)


# -- files that others change while a run goes on


def gone(path):
    history_of(path).unlink()


def cut(path):
    with open(history_of(path), "r+b") as file:
        file.truncate(60)


def another(path):
    run(path, at=9, kept=9)


@pytest.mark.parametrize("change", [gone, cut, another])
def test_a_history_that_others_have_changed_begins_anew(change, tmp_path):
    """A checkpoint whose file of samples is not there any more would be worth nothing."""
    path = tmp_path / "run"

    def observer(s):
        while s.n == 12 and not history_of(path).exists():  # written while the run goes on
            time.sleep(1e-3)
        if s.n == 12:
            change(path)

    run(path, at=27, kept=9, observers=[observer])
    assert resumed(path)


def test_an_earlier_copy_does_not_cut_what_the_checkpoint_there_needs(monkeypatch, tmp_path):
    path, old = tmp_path / "run", tmp_path / "old"
    run(path, at=9)
    for name in (path, history_of(path)):
        shutil.copy(name, name.with_name(name.name.replace("run", "old")))
    run(path, at=27, restart=path)
    with monkeypatch.context() as full:
        full.setattr(checkpoint_writer, "_archive", disk_full)
        with pytest.raises(OSError, match="an earlier one is intact"):
            run(path, at=18, restart=old)
    assert resumed(path)


def disk_full(path, arrays):
    raise OSError(28, "No space left on device")


def test_a_history_without_its_name_is_kept_where_a_run_begins_anew(monkeypatch, tmp_path):
    path = tmp_path / "run"
    run(path, at=9)
    history_of(path).rename(tmp_path / "run.history.new")  # killed before the file had its name
    with monkeypatch.context() as full:
        full.setattr(checkpoint_writer, "_archive", disk_full)
        with pytest.raises(OSError, match="an earlier one is intact"):
            run(path, at=9)
    assert resumed(path)


def test_a_change_of_the_folder_is_not_followed(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    run("run", at=27, observers=[lambda s: os.chdir(tmp_path / "other" if s.n % 2 else tmp_path)])
    assert not list((tmp_path / "other").iterdir())
    assert resumed(tmp_path / "run")


@pytest.mark.mpi
@pytest.mark.parametrize("make", [ball, rubber])
def test_a_signal_in_the_last_write_is_told(make, monkeypatch, shared_path):
    """Every rank ends, whichever is told, and the run can be taken up where it ended."""

    def archive(path, arrays):
        write(path, arrays)
        signal.raise_signal(signal.SIGINT)

    write, path = checkpoint_writer._archive, shared_path / "run"
    with monkeypatch.context() as told:
        told.setattr(checkpoint_writer, "_archive", archive)
        with pytest.raises(di.Interrupted, match="interrupted by SIGINT: go on from '.*run'"):
            run(path, at=STEPS, kept=STEPS, make=make)
    assert difference(whole(make), go_on(make, path)) == 0.0


def test_a_description_that_is_no_json_is_refused(tmp_path):
    with pytest.raises(ValueError, match="about= must be what JSON takes.*int64"):
        Checkpoint(tmp_path / "run", every=3, about={"n": np.int64(3)})
    scheme, v0 = ball()
    scheme.start(0.0, v0)
    with pytest.raises(ValueError, match="about= must be what JSON takes"):
        checkpoint.save(tmp_path / "run", scheme, about={"n": {1, 2}})
