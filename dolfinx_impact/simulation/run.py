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
from ..systems.body import Body
from ..systems.system import parts, system_and_parts
from .checkpoint import Checkpoint, Stored
from .energy_guard import compiled_look
from .motion_jumps import MotionJumps
from .overlap import EVERY, Overlap
from .progress import Progress
from .recorder import Recorder
from .run_checkpoint import RunCheckpoint
from .stability_monitor import Interrupted, StabilityMonitor
from .step_control import StepControl, Watch, deforms

_MOST_STEPS = 1e15

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
        every: Steps between two samples of the history.
        adapt: Control of the time step, or None.
        stored: A checkpoint to continue from, or None.

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
        every: int,
        adapt: StepControl | None,
        stored: Stored | None,
    ) -> None:
        s = self.integrator = integrator
        self.t_end, self.observers, self.adapt = float(t_end), observers, adapt
        continues = stored is not None and "run/counts" in stored
        self.made, self.left = 0, _number_of_steps(s, t_end, continues)
        self._earlier, self._begun = 0.0, time.perf_counter()
        balances = [each for each in observers if isinstance(each, EnergyBalance)]
        self.balance = balances[0] if balances else s.balance() if energies else None
        self.rows = _default_rows(s) if record is None else record
        restart = RunCheckpoint(self, stored) if continues else None
        if restart is not None:
            self.made, self.left, self._earlier = restart.read_counts()
        _refuse_short_records(s, self.left)
        self.caught: list[int] = []
        self.recorder = Recorder(s, self.made + self.left, every, self.rows, self.balance)
        self._steps = Steps(s, self.rows, self.balance)
        if self.balance is not None:
            self.balance.start()
        self.watch = Watch(s, adapt) if adapt is not None or deforms(s) else None
        self.monitor = StabilityMonitor(s, self.balance, self.watch, self.caught)
        if restart is not None:
            restart.read()
        self.after_steps: list[Any] = [each for each in observers if is_called_after_steps(each)]
        self._followers: list[Any] = [each for each in observers if overrides(each, "follow")]
        for each in balances:
            each.sample_internal(True)  # an earlier run may have been stopped between two samples
        needed = [each for each in self._followers if getattr(each, "needs_energies", True)]
        self._energies_every = 1 if needed else every
        self._in_step, self._jumps = False, MotionJumps(s)
        self._overlap = Overlap(s)

    def advance(
        self, compiled: CompiledLoop | None, checkpoint: Checkpoint | None, bar: Progress | None
    ) -> None:
        """Advance to the end time in chunks, which are passed to the recorder and the observers. Collective.

        Args:
            compiled: Compiled loop over the steps of a chunk, or None.
            checkpoint: Where and how often to store the run, or None.
            bar: The progress bar, or None.

        Raises:
            UnstableTimeStep: See :class:`.StabilityMonitor`.
            Interrupted: A signal arrived; the run is stored before if there is a checkpoint.
        """
        s, steps, balance, monitor = self.integrator, self._steps, self.balance, self.monitor
        watch = self.watch if compiled is None else None
        if self.made == 0:
            self._record_start()
        while self.left > 0:
            if watch is not None and (watch.due or self.made % watch.every == 0):
                self._control_step(watch)
            chunk, stop, due, steps.count = self._chunk(watch, checkpoint), 0, False, 0
            if compiled is not None:
                if s.outdated:
                    raise RuntimeError(_REASSEMBLED)
                compiled.fill(steps, chunk)
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
                    failed = self._after_step()
                    steps.append()
                    if watch is not None:
                        watch.follow()
                        due = watch.due
                    stop = monitor.check(due or steps.count == chunk, failed)
                    self.left -= 1
                    if bar is not None:
                        bar.update(self.made + steps.count, s.t, monitor.drift, self.left)
            self.made += steps.count
            self._publish()
            if self.made // EVERY > (self.made - steps.count) // EVERY:
                self._overlap.look()
            if checkpoint is not None and (stop or self.made % checkpoint.every == 0):
                RunCheckpoint(self).write(checkpoint)
            if stop:
                raise Interrupted(stop, checkpoint.way_on() if checkpoint is not None else "")
        if self.watch is not None:
            self.watch.refuse_inside_out()

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
        s = self.integrator
        self._overlap.look()
        sides = system_and_parts(s.system)
        return self.recorder.result(
            self.seconds(),
            self._overlap.warnings(),
            turned=_rotation(s),
            added_share=_added_share(s.system),
            energy_known=all(getattr(each, "energy_known", True) for each in sides),
            about=str(s),
        )

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
            self._steps.r[0], self._steps.r_t[0] = 0.0, 0.0
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

    def _chunk(self, watch: Watch | None, checkpoint: Checkpoint | None) -> int:
        """Number of steps until the next output, check or checkpoint."""
        chunk = min(self._steps.capacity, self.left)
        if self.balance is None:  # the energy is looked at between chunks of compiled loops
            chunk = min(chunk, compiled_look(self.made))
        for period in (watch.every if watch else 0, checkpoint.every if checkpoint else 0):
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


def _rotation(integrator: Integrator) -> float:
    """Rigid rotation of a body with linear laws, which are not valid for large ones [rad]. Collective."""
    body = integrator.body
    if not isinstance(body, Body) or body.gdim == 1 or not body.linear:
        return 0.0
    return 0.0 if getattr(body, "hypothesis", None) == "axisymmetric" else body.rigid_rotation(integrator.u)


def _added_share(system: Any) -> float:
    """Mass added by mass scaling over the mass of the system, of both bodies of HATI."""
    bodies = parts(system)
    added = sum(getattr(each, "added_mass", 0.0) for each in bodies)
    return added / sum(each.total_mass for each in bodies) if added else 0.0


def _number_of_steps(integrator: Integrator, t_end: float, resumed: bool) -> int:
    if integrator.n < 0:
        raise RuntimeError("call integrator.start(u0, v0) before simulate()")
    length = (t_end - integrator.t) / integrator.dt
    done = resumed and abs(length) < 0.5
    if not (t_end > integrator.t or done) or not np.isfinite(t_end):
        where = "the checkpoint" if resumed else "the start"
        raise ValueError(f"t_end must come after {where}, t = {integrator.t} s, but is {t_end} s")
    # An end less than 1.5 steps after the start is a mistake, unless it is exactly one step.
    first = integrator.n == 0 and not resumed
    one_step = first and abs(length - 1) < 1e-6
    if not (done or one_step or length >= (1.5 if first else 0.5)):
        raise _few_steps(integrator, t_end, length)
    if length > _MOST_STEPS:
        raise ValueError(f"t_end = {t_end:g} s is {length:.1g} steps of {integrator.dt:g} s away: too many")
    return 0 if done else max(1, round(length))


def _few_steps(integrator: Integrator, t_end: float, length: float) -> ValueError:
    integrator.system.critical_time_step()  # shown by the repr of the system
    return ValueError(
        f"t_end = {t_end:.6g} s is {length:.3g} steps of {integrator.dt:.6g} s after t = "
        f"{integrator.t:.6g} s: take a smaller step or a later end; lengths in mm or moduli in GPa give such "
        f"steps too, all must be in m, kg, s, Pa. {integrator.system!r}"
    )


def _refuse_short_records(integrator: Integrator, steps: int) -> None:
    needed, until = integrator.t + steps * integrator.dt + integrator.look_ahead, integrator.system.until
    if needed > until * (1 + 1e-9):
        raise ValueError(
            f"the run needs its loads and motions to t = {needed:.9g} s, but knows them to {until:.9g} s: "
            "give a longer record, or an earlier t_end"
        )


def _default_rows(integrator: Integrator) -> SparseRows:
    rows = None if integrator.contact is None else integrator.contact.approach()
    return integrator.system.rows() if rows is None else rows
