"""Observers of a run: when which of their methods is called, and objects that have some of them."""

import numpy as np
import pytest
from support.points import ball

import dolfinx_impact as di
from dolfinx_impact.algebra import kernels
from dolfinx_impact.benchmark.run_log import RunLog
from dolfinx_impact.plot import Snapshots
from dolfinx_impact.simulation.recorder import Recorder


class Log(di.Observer):
    """Every call, with the time and the number of steps."""

    def __init__(self):
        self.calls = []

    def begin(self, integrator):
        self.calls.append(("begin", integrator.n))

    def __call__(self, integrator):
        self.calls.append(("step", integrator.n))

    def follow(self, steps):
        self.calls.append(("follow", steps.count, round(steps.t[0] / 1e-3)))

    def end(self):
        self.calls.append(("end",))

    def state(self):
        self.calls.append(("state",))
        return {"made": np.array(len(self.calls))}

    def resume(self, state):
        self.calls.append(("resume", int(state["made"])))


@pytest.mark.mpi
def test_methods_are_called_in_the_documented_order(shared_path):
    keep, first, second = di.Checkpoint(shared_path / "run", every=2), Log(), Log()
    di.simulate(ball(0.01), t_end=2e-3, observers=[first], checkpoint=keep, progress=False)
    steps = [("step", 1), ("step", 2), ("follow", 2, 1)]
    assert first.calls == [("begin", 0), ("follow", 1, 0), *steps, ("state",), ("end",)]
    di.simulate(ball(0.01), t_end=3e-3, observers=[second], restart=shared_path / "run", progress=False)
    assert second.calls == [("resume", 6), ("begin", 2), ("step", 3), ("follow", 1, 3), ("end",)]


@pytest.mark.parametrize("kind", [di.FieldWriter, Snapshots, Recorder, RunLog])
def test_observers_of_the_package_are_observers(kind):
    assert issubclass(kind, di.Observer)


def test_methods_that_are_not_overridden_cost_nothing(shared_path):
    """Without a __call__ of its own an observer is no reason against a compiled loop; nor has it a state."""

    class Ends(di.Observer):
        ended = 0

        def end(self):
            self.ended += 1

    silent, path = Ends(), shared_path / "run"
    keep = di.Checkpoint(path, every=10)
    compiled = True if kernels.load().COMPILED else None
    di.simulate(
        ball(0.01),
        t_end=0.01,
        observers=[silent, di.Observer()],
        compiled=compiled,
        checkpoint=keep,
        progress=False,
    )
    di.simulate(ball(0.01), t_end=0.02, observers=[silent, di.Observer()], restart=path, progress=False)
    assert silent.ended == 2
    with pytest.raises(ValueError, match="an observer must be called after every step"):
        di.simulate(ball(0.01), t_end=0.01, observers=[Log()], compiled=True, progress=False)


def test_objects_that_are_no_observers_may_have_some_methods():
    class Follows:
        def __init__(self):
            self.seen = 0

        def __call__(self, integrator):
            raise AssertionError("what has follow is not called after every step")

        def follow(self, steps):
            self.seen += steps.count

    class EnergyBalance(type(ball(0.01).balance())):
        started = 0

        def start(self):
            self.started += 1
            super().start()

    follows, numbers, scheme = Follows(), [], ball(0.01)
    balance = EnergyBalance(scheme)
    observers = [follows, balance, lambda s: numbers.append(s.n)]
    run = di.simulate(scheme, t_end=5e-3, observers=observers, progress=False)
    assert (follows.seen, numbers, balance.started) == (6, [1, 2, 3, 4, 5], 1)
    assert np.abs(run["residual"]).max() < 1e-15


def test_a_balance_that_a_stopped_run_left_between_two_samples_is_sampled_again():
    scheme = ball(0.01)
    balance = scheme.balance()
    balance.sample_internal(False)
    di.simulate(scheme, t_end=5e-3, observers=[balance], progress=False)
    assert balance.sampled
