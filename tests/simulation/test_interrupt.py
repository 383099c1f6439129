"""A run that is stopped leaves whole files or none, and no rank behind."""

import inspect
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from dolfinx_impact import Result
from dolfinx_impact.output import result as output

SIGNALS = [signal.SIGINT, signal.SIGTERM]
STOPPED = "error: interrupted by {}: nothing was written"
SOON = 120  # s; on a busy machine too


def endless_run(times):
    """Body of a script: runs of minutes; every rank says its process number once it steps, then what came."""
    import contextlib
    import io
    import json
    import os

    from dolfinx_impact.benchmark import __main__, run_log

    follow, seen = run_log.RunLog.follow, []

    def say(self, steps):
        follow(self, steps)
        if not seen:
            seen.append(print(os.getpid(), flush=True))

    run_log.RunLog.follow = say
    settings = ["elements=400", "t_end=100", "every=1000000"]
    words = [word for setting in settings for word in ("--set", setting)]
    words = ["run", "impacting-bar", "cd-lagrange", *words, "--out", "out"]
    for _ in range(times):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            status = __main__.main(words)
        seen.clear()
        print(json.dumps([status, errors.getvalue()]), flush=True)


def deaf_run():
    """Body of a script: a run whose observer never ends; it says which signals have arrived."""
    import signal
    import time

    from dolfinx_impact import CDLagrange, PointMasses, simulate

    def noted():
        return all(signal.getsignal(each) is signal.SIG_DFL for each in (signal.SIGINT, signal.SIGTERM))

    def wait(integrator):
        print("stepping", flush=True)
        for _ in range(1000):
            time.sleep(0.01)
            if noted():
                break
        print("noted" if noted() else "deaf", flush=True)
        time.sleep(60)

    scheme = CDLagrange(PointMasses(1.0), 0.1)
    scheme.start(0.0, 1.0)
    simulate(scheme, t_end=10.0, observers=[wait], progress=False)


def script(times, *bodies):
    calls = [f"endless_run({times})", *(f"{body.__name__}()" for body in bodies)]
    return ["-c", "\n".join([*map(inspect.getsource, (endless_run, *bodies)), *calls])]


def ends(pid):
    """Whether a process ends soon; mpirun may be gone before the last of its ranks."""
    for _ in range(100 * SOON):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_one_rank_stops_at_a_step_with_the_status_of_the_signal_and_a_second_signal_kills(spawn, tmp_path):
    """SIGINT stops a run; SIGTERM is tried on two ranks. Both have their default action after a first one."""
    process = spawn(script(1, deaf_run), cwd=tmp_path)
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    came = json.loads(process.stdout.readline())
    assert came == [128 + signal.SIGINT, f"{STOPPED.format('SIGINT')}\n"]
    assert list((tmp_path / "out").iterdir()) == []
    assert process.stdout.readline() == "stepping\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "noted\n" and process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SOON)
    assert process.returncode == -signal.SIGTERM


def test_two_ranks_stop_together_whoever_is_told(spawn, tmp_path):
    """One of them, which ends the run; then mpirun, which ends them."""
    process = spawn(script(2), ranks=2, cwd=tmp_path)
    ranks = [int(process.stdout.readline()) for _ in range(2)]
    os.kill(ranks[1], signal.SIGTERM)
    came = sorted(json.loads(process.stdout.readline()) for _ in range(2))
    assert came == [[128 + signal.SIGTERM, err] for err in ("", f"{STOPPED.format('SIGTERM')}\n")]
    assert list((tmp_path / "out").iterdir()) == []
    assert sorted(int(process.stdout.readline()) for _ in range(2)) == sorted(ranks)
    process.send_signal(signal.SIGINT)  # mpirun chooses the signal itself, and may kill before a word is said
    process.communicate(timeout=SOON)
    assert process.returncode != 0
    assert all(ends(pid) for pid in ranks)
    assert list((tmp_path / "out").iterdir()) == []


def test_the_callers_handlers_come_back():
    from dolfinx_impact import CDLagrange, Interrupted, PointMasses, simulate

    before = [signal.getsignal(number) for number in SIGNALS]
    scheme = CDLagrange(PointMasses(1.0), 0.1)
    scheme.start(0.0, 1.0)
    steps = []

    def interrupt(integrator):
        steps.append(integrator.n)
        if integrator.n == 3:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="interrupted by SIGTERM"):
        simulate(scheme, t_end=10.0, observers=[interrupt], progress=False)
    assert steps == [1, 2, 3]
    assert [signal.getsignal(number) for number in SIGNALS] == before


# -- files, whole or not at all


def half_written(file, **arrays):
    file.write(b"PK, and the disk is full")
    raise OSError(28, "No space left on device")


def killed(file, **arrays):
    file.write(b"PK")
    raise KeyboardInterrupt


@pytest.mark.parametrize("savez, error", [(half_written, OSError), (killed, KeyboardInterrupt)])
@pytest.mark.parametrize("existing", [True, False])
def test_a_file_is_whole_or_not_there(savez, error, existing, tmp_path, monkeypatch):
    path = tmp_path / "history.npz"
    if existing:
        Result({"t": np.arange(3.0)}).save(path)
    monkeypatch.setattr(output.np, "savez", savez)
    with pytest.raises(error):
        Result({"t": np.zeros(9)}).save(path)
    assert [p.name for p in tmp_path.iterdir()] == (["history.npz"] if existing else [])
    if existing:
        assert np.array_equal(Result.load(path)["t"], np.arange(3.0))


def test_a_full_disk_is_a_failed_run(tmp_path, monkeypatch, capsys):
    from dolfinx_impact.benchmark.__main__ import main

    monkeypatch.setattr(output.np, "savez", half_written)
    words = ["--set", "elements=5", "--set", "restitution=1"]
    assert main(["run", "impacting-bar", "cd-lagrange", *words, "--out", str(tmp_path)]) == 3
    assert capsys.readouterr().err == "error: could not write: [Errno 28] No space left on device\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.mpi
def test_a_file_that_cannot_be_written_fails_on_every_rank(shared_path):
    with pytest.raises(OSError):
        Result({"t": np.zeros(1)}).save(shared_path / "nowhere" / "history.npz")


def test_written_files_can_be_read_as_others_of_the_user(tmp_path):
    (tmp_path / "other").write_text("")
    Result({"t": np.zeros(1)}).save(tmp_path / "history.npz")
    assert (tmp_path / "history.npz").stat().st_mode == (tmp_path / "other").stat().st_mode
