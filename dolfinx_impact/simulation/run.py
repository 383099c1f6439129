"""The loop over the steps of a run: step, energy balance, observers, stability, records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import parallel
from ..algebra.complementarity import NotConverged
from ..algebra.operators import SparseRows
from ..algebra.sparse_solver import LinearSolverFailed
from ..contact.tunnelling import Tunnelled
from ..integrators.base import Integrator
from ..integrators.energy import EnergyBalance
from ..integrators.step_buffer import CompiledLoop, Steps
from ..output.observer import ObserverLike, is_called_after_steps, overrides
from ..output.result import Result
from .checkpoint_writer import Writer
from .energy_guard import compiled_look
from .motion_jumps import MotionJumps
from .overlap import EVERY, Overlap
from .parallel_layout import Layout
from .progress import Progress
from .recorder import Recorder
from .run_history import RunHistory
from .run_length import number_of_steps, refuse_short_records
from .stability_monitor import Interrupted, StabilityMonitor
from .step_control import StepControl, Watch, deforms

_REASSEMBLED = (
    "the system was reassembled during a run in a compiled loop: give simulate(..., compiled=False), or "
    "reassemble between two runs"
)


class ChunkedRun:
    """Advances an integrator to the end time, in chunks of steps that are recorded together.

    Args:
        integrator: The integrator, started or resumed.
        t_end: End time [s].
        record: Rows of ``u`` and ``v`` to record, or None for the default.
        observers: See :func:`.simulate`.
        energies: Whether to compute the energy balance.
        every: Steps between two samples of the history, or None, see :class:`.Recorder`.
        adapt: Control of the time step, or None.
        history: The run so far, of a checkpoint, or None.

    Attributes:
        integrator, observers, adapt: The arguments.
        balance: The energy balance, or None.
        rows: Recorded rows of ``u`` and ``v``.
        made: Number of completed steps, including those before a restart.
        left: Number of remaining steps.
        t_end: End time [s].
        caught: Signals that arrived during the run.
        recorder: The history.
        monitor: Detects divergence.
        watch: Monitors the critical time step of a body for which it changes, or None.
    """

    def __init__(
        self,
        integrator: Integrator,
        t_end: float,
        record: SparseRows | None,
        observers: Sequence[ObserverLike],
        energies: bool,
        every: int | None,
        adapt: StepControl | None,
        history: RunHistory | None,
    ) -> None:
        s = self.integrator = integrator
        self.t_end, self.observers, self.adapt = float(t_end), observers, adapt
        self.made, self.left = 0, number_of_steps(s, t_end, history is not None)
        self._earlier, self._begun = 0.0, time.perf_counter()
        if history is not None:
            self.made, self._earlier = history.steps, history.seconds
            self.left = history.left if history.t_end == self.t_end else self.left
        balances = [each for each in observers if isinstance(each, EnergyBalance)]
        self.balance = balances[0] if balances else s.balance() if energies else None
        self.rows = _default_rows(s) if record is None else record
        refuse_short_records(s, self.left)
        self.caught: list[int] = []
        self.recorder = Recorder(s, self.made + self.left, every, self.rows, self.balance, history)
        self._steps = Steps(s, self.rows, self.balance)
        if self.balance is not None:
            self.balance.start()
        self.watch = Watch(s, adapt) if adapt is not None or deforms(s) else None
        if s.halved is not None:
            s.halved.reset()
        self.monitor = StabilityMonitor(s, self.balance, self.watch, self.caught)
        if history is not None:
            self._resume(history)
        self.after_steps: list[Any] = [each for each in observers if is_called_after_steps(each)]
        self._followers: list[Any] = [each for each in observers if overrides(each, "follow")]
        for each in balances:
            each.sample_internal(True)  # an earlier run may have been stopped between two samples
        needed = [each for each in self._followers if getattr(each, "needs_energies", True)]
        self._energies_every = 1 if needed else self.recorder.every
        self._in_step, self._jumps = False, MotionJumps(s)
        self._overlap = Overlap(s)

    def advance(self, compiled: CompiledLoop | None, writer: Writer | None, bar: Progress | None) -> None:
        """Advance to the end time in chunks, which are passed to the recorder and the observers. Collective.

        Args:
            compiled: Compiled loop over the steps of a chunk, or None.
            writer: The writer of the checkpoints, or None.
            bar: The progress bar, or None.

        Raises:
            UnstableTimeStep: See :class:`.StabilityMonitor`.
            Interrupted: A signal arrived; the run is stored before if there is a checkpoint.
        """
        s, steps, balance, monitor = self.integrator, self._steps, self.balance, self.monitor
        watch = self.watch if compiled is None else None
        monitor.listens = writer is None or not monitor.replicated
        if self.made == 0:
            self._record_start()
        while self.left > 0:
            if watch is not None and (watch.due or self.made % watch.every == 0):
                self._control_step(watch)
            chunk, stop, due, steps.count = self._chunk(watch, writer), 0, False, 0
            if compiled is not None:
                if s.outdated:
                    raise RuntimeError(_REASSEMBLED)
                compiled.fill(steps, self.recorder.lost_force.steps_to_look(chunk))
                self.recorder.lost_force.follow(steps, steps.count - 1)
                stop = monitor.check_many(steps)
                self.left -= steps.count
                if bar is not None:
                    bar.update(self.made + steps.count, s.t, monitor.drift, self.left)
            else:
                while steps.count < chunk and not (stop or due):
                    self._in_step = True
                    if balance is not None and self._energies_every > 1:  # before: HATI samples within a step
                        balance.sample_internal(self._is_sampled(self.made + steps.count + 1))
                    self._step()
                    if balance is not None:
                        balance.step()
                    self._in_step = False
                    self.recorder.lost_force.follow(steps, steps.count)
                    failed = self._after_step()
                    steps.append()
                    if watch is not None:
                        watch.follow()
                        due = watch.due
                    stop = monitor.check(due or steps.count == chunk, failed)
                    self.left -= 1
                    if bar is not None:
                        bar.update(self.made + steps.count, s.t, monitor.drift, self.left)
            stop = stop if monitor.listens else monitor.stopped_by()
            self.made += steps.count
            self._publish()
            if self.made // EVERY > (self.made - steps.count) // EVERY:
                self._overlap.look()
            if writer is not None and (stop or self.made % writer.every == 0):
                writer.write(self.state(), self.recorder)
            if stop:
                self.end(writer, stop)
        if self.watch is not None:
            self.watch.refuse_inside_out()

    def end(self, writer: Writer | None, stop: int = 0) -> None:
        """Wait for the last checkpoint; raise Interrupted for a signal, also one since then. Collective."""
        if writer is not None:
            writer.wait()
            stop = stop or self.monitor.stopped_by()
        if stop:
            raise Interrupted(stop, "" if writer is None else writer.way_on())

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Context in which observers have begun; they end after the steps or an error. Collective."""
        begun: list[Any] = []
        try:
            for observer in self.observers:
                begun.append(observer)
                if overrides(observer, "begin"):
                    self.together(observer.begin, self.integrator)  # type: ignore[union-attr]
            yield
        except BaseException as error:
            # ``end`` is collective: not after an error that may have occurred on one rank only.
            alone = self._in_step and self.integrator.system.comm.size > 1
            if not alone or isinstance(error, (NotConverged, LinearSolverFailed)):
                _end(begun)  # further errors are dropped
            raise
        if begun:
            parallel.agree(self.integrator.system.comm, _end(begun))

    def result(self) -> Result:
        """The history, after the steps. Collective."""
        self._overlap.look()
        return self.recorder.result(self.seconds(), self._overlap.warnings())

    def state(self) -> Iterator[tuple[str, str | Layout, Any]]:
        """What a checkpoint holds besides the state of the integrator and the samples. Collective.

        ``run/...`` has counts and states of stability monitor and step control, ``history/...`` the last
        step, ``balance/...`` the energies, ``observer-0/...``, ``observer-1/...`` what observers need.

        Yields:
            Path in the file, layout of the first axis or its name, rank-local part.
        """
        s, watch, changes = self.integrator, self.watch, self.adapt.changes if self.adapt else 0
        counts = [self.made, self.left, self.t_end, s.beyond_limit, changes]
        yield "run/counts", "number", np.array(counts, dtype=np.float64)
        common, share = self.monitor.state()
        yield "run/guard", "number", common
        if watch is not None:
            yield "run/watch", "number", watch.state()
            if watch.marked is not None:
                yield "run/marked", "dofs", watch.marked
        if s.halved is not None:
            yield "run/halved", "number", s.halved.state()
        yield "run/seconds", "number", np.array(self.seconds())
        yield "run/internal", "shares", share
        for name, (place, values) in self.recorder.rest().items():
            yield f"history/{name}", place, values
        if self.balance is not None:
            for name, values in self.balance.state().items():
                yield f"balance/{name}", _place(self.balance, name), values
        for i, observer in self._with_state():
            for name, values in self.together(observer.state).items():
                yield f"observer-{i}/{name}", "number", np.asarray(values)

    def _resume(self, history: RunHistory) -> None:
        """Restore a :meth:`state`, after the start of the balance and before observers begin. Collective.

        Raises:
            ValueError: Other ``energies`` or observers than those of the stored run.
        """
        arrays, watch, balance = history.arrays, self.watch, self.balance
        if self.integrator.halved is not None and "run/halved" in arrays:
            self.integrator.halved.reset(arrays.read("run/halved", "number"))
        if self.adapt is not None:
            self.adapt.changes = history.changes
        if watch is not None and "run/watch" in arrays:
            watch.resume(arrays.read("run/watch", "number"))
            if watch.marked is not None and "run/marked" in arrays:
                watch.mark(arrays.read("run/marked", "dofs"))
        self.monitor.resume(arrays.read("run/guard", "number"), arrays.read("run/internal", "shares"))
        names = arrays.below("balance")
        if (balance is not None) != bool(names):
            raise ValueError("with energies or without: give energies= as for the stored run")
        if balance is not None:
            balance.resume({name: arrays.read(f"balance/{name}", _place(balance, name)) for name in names})
        for i, observer in self._with_state():
            names = arrays.below(f"observer-{i}")
            if not names:
                kind = type(observer).__name__
                raise ValueError(
                    f"the checkpoint has no state of observer {i + 1}, a {kind}: give the observers of the "
                    "stored run, in their order"
                )
            observer.resume({name: arrays.read(f"observer-{i}/{name}", "number") for name in names})

    def _with_state(self) -> Iterator[tuple[int, Any]]:
        """Observers with a state, with their index in the list."""
        for i, each in enumerate(self.observers):
            if overrides(each, "state") and overrides(each, "resume") and not isinstance(each, EnergyBalance):
                yield i, each

    def seconds(self) -> float:
        """Wall-clock time of the run so far, including that before a restart [s]."""
        return self._earlier + time.perf_counter() - self._begun

    def together(self, work: Callable[..., Any], *args: Any) -> Any:
        """Call ``work(*args)``; an exception on one rank is raised on all. Collective."""
        return parallel.together(self.integrator.system.comm, lambda: work(*args))

    def _step(self) -> None:
        """Make a step; what passes through something may be a body whose run has diverged."""
        try:
            self.integrator.step()
        except Tunnelled as error:
            if self.watch is None or self.adapt is not None:
                raise
            raise Tunnelled(f"{error}; or the run has diverged: {self.watch.way_out()}") from error

    def _record_start(self) -> None:
        self._steps.append()
        if self.integrator.n > 0:  # the impulse is part of the history that this one continues
            self._steps.r[0], self._steps.r_t[0], self._steps.r_features[0] = 0.0, 0.0, 0.0
        self._publish()

    def _publish(self) -> None:
        """Pass the steps of the chunk to the recorder and the observers."""
        self.recorder.follow(self._steps)
        for observer in self._followers:
            self.together(observer.follow, self._steps)

    def _control_step(self, watch: Watch) -> None:
        """Compare the time step with the critical one, and adapt it if there is a step control."""
        s, before = self.integrator, self.integrator.dt
        watch.look(self.balance, self.made)
        if s.dt != before:
            self.recorder.add_impulses(s)
            self.left = max(1, round((self.t_end - s.t) / s.dt))

    def _chunk(self, watch: Watch | None, writer: Writer | None) -> int:
        """Number of steps until the next output, check or checkpoint."""
        chunk = min(self._steps.capacity, self.left)
        if self.balance is None:  # the energy is looked at between chunks of compiled loops
            chunk = min(chunk, compiled_look(self.made))
        for period in (watch.every if watch else 0, writer.every if writer else 0):
            chunk = min(chunk, period - self.made % period) if period else chunk
        return chunk

    def _is_sampled(self, number: int) -> bool:
        return number % self._energies_every == 0 or self.left == 1

    def _after_step(self) -> Exception | None:
        """Look at motions, call the observers that are called after every step; this rank's exception."""
        try:
            self._jumps.follow()
            for observer in self.after_steps:
                observer(self.integrator)
        except Exception as error:  # on this rank alone or on all
            return error
        return None


def _end(observers: Sequence[Any]) -> Exception | None:
    """End all observers; returns the first exception."""
    failed = None
    for observer in observers:
        try:
            if overrides(observer, "end"):
                observer.end()
        except Exception as error:
            failed = failed or error
    return failed


def _default_rows(integrator: Integrator) -> SparseRows:
    rows = None if integrator.contact is None else integrator.contact.approach()
    return integrator.system.rows() if rows is None else rows


def _place(balance: EnergyBalance, name: str) -> str:
    """Name of the layout of an array of :meth:`.EnergyBalance.state`."""
    return "dofs" if name in balance.at_dofs else "shares"
