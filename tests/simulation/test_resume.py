"""The history of a stored run, which ``simulate`` continues."""

from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI
from support import restarts
from support.restarts import difference, go_on, rubber, two_bars, whole

import dolfinx_impact as di
from dolfinx_impact import Checkpoint, checkpoint, simulate

COMM = MPI.COMM_WORLD

#: Written by the version of the format that is read now, before the history of a run was a value.
EARLIER = sorted((Path(__file__).parents[1] / "data/checkpoints").glob("*.ckpt"))


def ball(dt=1e-3):
    system = di.PointMasses(1.0, load=[-9.81])
    return di.CDLagrange(system, dt, contact=di.DofBound(system, 0, lower=0.0, restitution=0.8))


def stored(path, t_end=1.0, make=ball):
    """A run of a falling mass, and its file."""
    scheme = make()
    scheme.start(1.0, 0.0)
    return simulate(scheme, t_end=t_end, checkpoint=Checkpoint(path, every=500), progress=False)


@pytest.mark.mpi
@pytest.mark.parametrize("make", [rubber, two_bars])
def test_the_history_of_a_file_and_the_file_go_on_alike(make, shared_path):
    path = shared_path / "run"
    reference = whole(make, 40, every=3, checkpoint=Checkpoint(path, every=25))
    runs = []
    for by_history in (True, False):
        scheme = make()[0]
        end = 40 * scheme.dt
        if by_history:
            history = checkpoint.resume(path, scheme)
            assert history.steps == 25
            assert history.t == scheme.t == pytest.approx(history.steps * scheme.dt, rel=1e-12)
            runs.append(simulate(scheme, t_end=end, history=history, every=3, progress=False))
        else:
            runs.append(simulate(scheme, t_end=end, restart=path, every=3, progress=False))
    assert difference(*runs) == 0.0
    assert difference(reference, runs[0]) == 0.0


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("path", EARLIER, ids=[path.stem for path in EARLIER])
def test_files_of_earlier_versions_of_the_package_go_on(path):
    again = go_on(restarts.SETUPS[path.stem][0], path, every=7)
    assert again["r"].sum() > 0 and difference(restarts.reference(path.stem), again) <= 1e-11


@pytest.mark.mpi
def test_a_history_outlasts_its_file(shared_path):
    path = shared_path / "run"
    reference = stored(path, t_end=2.0)
    stored(path, t_end=1.0)
    scheme = ball()
    history = checkpoint.resume(path, scheme)
    assert repr(history) == f"RunHistory(1000 steps to t = 1 s, of {str(path)!r})"
    stored(path, t_end=0.5)  # another run into the same file
    again = simulate(
        scheme, t_end=2.0, history=history, checkpoint=Checkpoint(path, every=300), progress=False
    )
    assert difference(reference, again) == 0.0
    assert checkpoint.resume(path, ball()).t == pytest.approx(1.8)


def test_a_file_of_save_has_no_history(tmp_path):
    first, second = ball(), ball()
    first.start(1.0, 0.0)
    simulate(first, t_end=0.6, progress=False)
    checkpoint.save(tmp_path / "state", first)
    assert checkpoint.resume(tmp_path / "state", second) is None
    assert second.t == first.t and np.array_equal(second.u, first.u)
    rest = simulate(second, t_end=1.0, history=None, progress=False)
    assert rest["t"][0] == first.t and rest.steps == 400


@pytest.mark.mpi
def test_what_does_not_belong_together_is_refused(shared_path):
    path = shared_path / "run"
    stored(path)
    scheme, other = ball(), ball()
    history = checkpoint.resume(path, scheme)
    other.start(1.0, 0.0)
    with pytest.raises(
        ValueError, match=r"history is that of another scheme: RunHistory\(1000 steps to t = 1 s"
    ):
        simulate(other, t_end=2.0, history=history)
    with pytest.raises(ValueError, match="give history= or restart=, not both"):
        simulate(scheme, t_end=2.0, history=history, restart=path)
    with pytest.raises(
        ValueError, match=r"history must be that of checkpoint.resume\(path, scheme\), but is"
    ):
        simulate(scheme, t_end=2.0, history=path)
    with pytest.raises(ValueError, match="a sample every 1 steps, this run every 2"):
        simulate(scheme, t_end=2.0, history=history, every=2)
    with pytest.raises(ValueError, match=r"t_end must come after the checkpoint, t = 1"):
        simulate(scheme, t_end=0.5, history=history)
    scheme.step()
    with pytest.raises(ValueError, match=r"the scheme is at t = 1.001 s, where its history does not end"):
        simulate(scheme, t_end=2.0, history=history)


@pytest.mark.mpi
@pytest.mark.parametrize("replicated", [True, False])
def test_what_one_rank_does_otherwise_is_refused_on_all(replicated, shared_path):
    path, last = shared_path / "run", COMM.rank == COMM.size - 1

    def made():
        return ball() if replicated else rubber()[0]

    first, scheme = made(), made()
    first.start(1.0 if replicated else 0.0, 0.0)
    end = 20 * first.dt
    simulate(first, t_end=end, checkpoint=Checkpoint(path, every=20), progress=False)
    history = checkpoint.resume(path, scheme)
    if COMM.size > 1 and not replicated:
        with pytest.raises(ValueError, match="history= or restart= is given on some ranks only"):
            simulate(scheme, t_end=2 * end, history=history if last else None)
    if last:
        scheme.n += 1
    with pytest.raises(ValueError, match="where its history does not end"):
        simulate(scheme, t_end=2 * end, history=history)


@pytest.mark.mpi
def test_an_adapted_step_is_taken_on_demand(shared_path):
    path, control = shared_path / "run", di.StepControl(every=20, safety=0.5)
    scheme, v0 = rubber(courant=0.3)
    scheme.start(0.0, v0)
    simulate(scheme, t_end=0.012, adapt=control, checkpoint=Checkpoint(path, every=40), progress=False)
    first = rubber(courant=0.3)[0]
    assert control.changes > 0 and scheme.dt != first.dt
    with pytest.raises(ValueError, match="the state has time step"):
        checkpoint.resume(path, first)
    history = checkpoint.resume(path, first, new_step=True)
    assert history.changes > 0 and first.dt == float(checkpoint_step(path))


def checkpoint_step(path):
    with checkpoint.Stored(path) as file:
        return file.read("scheme/dt", "number")


def test_a_stepper_without_a_state_is_refused(tmp_path):
    class Stepper:
        system, dt, contact, t = di.PointMasses(1.0), 1e-3, None, 0.0
        u = v = r = np.zeros(1)

        def step(self):
            self.t += self.dt

    stored(tmp_path / "run")
    with pytest.raises(ValueError, match="cannot be stopped and resumed: its class has no state_names"):
        checkpoint.resume(tmp_path / "run", Stepper())


def test_there_are_files_of_every_kind():
    """Explicit and implicit, linear and not, with friction, in two subdomains, with history."""
    assert {path.stem for path in EARLIER} == {
        "damped-rubber",
        "divided",
        "implicit-rubber",
        "two-bars",
        "yielding-rod",
    }
