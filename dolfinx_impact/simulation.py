"""The loop: step, follow the energies, record; it knows nothing of any scheme."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Protocol, Sequence, Union

import numpy as np
from mpi4py import MPI

from . import energy, parallel
from .energy import Balance
from .integrators.base import Integrator, UnstableTimeStep
from .integrators.block import Block, NotCompiled
from .integrators.hati import HATI
from .integrators.hati.block import HATIBlock
from .integrators.own import as_integrator
from .output import Result
from .rows import Rows
from .step_control import StepControl, deforms, watch
from .steps import Recorder, Steps


class Follower(Protocol):
    """What wants the rows of all steps, many at a time."""

    def follow(self, steps: Steps) -> None:
        """Look at consecutive steps; the first call has the start alone. Collective."""


Observer = Union[Balance, Follower, Callable[[Integrator], None]]

_MOST_STEPS = 1e15
#: A run is unstable when its energy exceeds so many times what it was ever given.
_EXPLODED = 10.0
#: A compiled loop is worth loading for runs of so many steps or more,
_MANY_STEPS = 2000
#: of so many dofs or fewer.
_FEW_DOFS = 20_000
#: Steps between two looks at the critical step of a body that deforms much.
_LOOK = 2000


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, seen by all ranks at the same step.

    Attributes:
        number: The signal.
        left: What became of the files.
    """

    left = "nothing was written"

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.number = number


def simulate(
    integrator: Integrator,
    *,
    t_end: float,
    record: Rows | None = None,
    observers: Sequence[Observer] = (),
    energies: bool = True,
    every: int = 1,
    progress: bool | None = None,
    compiled: bool | None = None,
    adapt: StepControl | None = None,
) -> Result:
    """Run a started integrator to ``t_end`` and return its history. Collective.

    Args:
        integrator: A scheme after its ``start``: an :class:`.Integrator`, or any object with ``system``,
            ``dt``, ``contact``, ``t``, ``u``, ``v``, ``r`` and ``step``.
        t_end: End time [s]; the run has ``max(1, round((t_end - t) / dt))`` steps.
        record: Which displacements to record; by default all dofs of point masses, and the
            contact points of a solid (their motion towards the obstacle).
        observers: Callables ``f(integrator)``, called after every step; objects with
            ``follow(steps)``, which are given the recorded rows of all steps, many at a time
            (:class:`.Steps`, the start first); an energy balance of your own takes the place of the
            scheme's.
        energies: Follow the energy balance of the scheme.
        every: Sample every so many steps (and the last one).
        progress: Show a progress bar; by default when the error stream is a terminal.
        compiled: Whether many steps run in one compiled loop, with the same results; by default where
            that is possible and the run is long.
        adapt: Changes the time step of central differences as the body's critical one changes. Without it
            that of a body which deforms much is looked at now and then, and once the step is above it
            the run ends when its energy explodes.

    Returns:
        The history, on every rank.

    Raises:
        ValueError: An end before the start or beyond reach, ``every`` below 1, a history above
            1 GB; ``compiled=True`` where no loop can be compiled (the message says why).
        UnstableTimeStep: A value is not finite; or, with a step above the critical one, the
            energy exceeds ten times what the body was given. (At the very limit the highest
            mode grows linearly, and a scheme may be run to see it blow up: neither stops.)
        Interrupted: Ctrl-C or SIGTERM.
        RuntimeError: When the integrator was not started.
    """
    integrator = as_integrator(integrator)
    steps = _number_of_steps(integrator, t_end, every)
    balance = next((o for o in observers if isinstance(o, Balance)), None)
    if balance is None and energies:
        balance = integrator.balance()
    rows = _default_rows(integrator) if record is None else record
    callables = [o for o in observers if not isinstance(o, Balance) and not hasattr(o, "follow")]
    recorder = Recorder(integrator, steps, int(every), rows, balance)
    if adapt is not None:
        if not isinstance(adapt, StepControl):
            raise ValueError(f"adapt must be a StepControl, not {adapt!r}: give adapt=StepControl()")
        adapt.check(integrator)
        compiled = False
    block = _compiled_block(integrator, rows, balance, callables, steps, compiled)
    begun = time.perf_counter()
    with stop_signals() as caught, _bar(steps, progress) as bar:
        run = _Run(integrator, rows, balance, callables, caught, bar)
        followers = [recorder, *(o for o in observers if hasattr(o, "follow"))]
        for part in run.parts(steps, block, adapt):
            for follower in followers:
                follower.follow(part)  # type: ignore[union-attr]
    return recorder.result(time.perf_counter() - begun)


def _number_of_steps(integrator: Integrator, t_end: float, every: float) -> int:
    if integrator.n < 0:
        raise RuntimeError("call integrator.start(u0, v0) before simulate()")
    if not t_end > integrator.t or not np.isfinite(t_end):
        raise ValueError(f"t_end must come after the start, t = {integrator.t} s, but is {t_end} s")
    if every < 1 or every != int(every):
        raise ValueError(f"every must be a whole number of steps from 1 on, but is {every}")
    length = (t_end - integrator.t) / integrator.dt
    if length > _MOST_STEPS:
        raise ValueError(f"t_end = {t_end:g} s is {length:.1g} steps of {integrator.dt:g} s away: too many")
    steps = max(1, round(length))
    needed, until = integrator.t + steps * integrator.dt + integrator.look_ahead, integrator.system.until
    if needed > until * (1 + 1e-9):
        raise ValueError(
            f"the run needs its loads and motions to t = {needed:.9g} s, but knows them to {until:.9g} s: "
            "give a longer record, or an earlier t_end"
        )
    return steps


def _compiled_block(
    integrator: Integrator, rows: Rows, balance: Balance | None, callables: list, steps: int,
    compiled: bool | None,
) -> Block | HATIBlock | None:  # fmt: skip
    """What makes many steps at once, where it is wanted and possible."""
    if isinstance(integrator, HATI):
        integrator.compiled = compiled  # where its steps are made one by one, their fine ones may be many
    if compiled is False or (compiled is None and steps * integrator.substeps < _MANY_STEPS):
        return None
    try:
        if callables:
            raise NotCompiled("an observer must be called after every step")
        if isinstance(integrator, HATI) and type(integrator) is not HATI:
            raise NotCompiled(f"{type(integrator).__name__} makes its steps one by one")
        if compiled is None and integrator.system.size > _FEW_DOFS:
            return None
        kind = HATIBlock if isinstance(integrator, HATI) else Block
        return kind(integrator, rows, balance)
    except NotCompiled as reason:
        if compiled:
            raise ValueError(f"no compiled loop for this run: {reason}") from None
        return None


class _Run:
    """Makes steps and hands them on in parts."""

    def __init__(
        self, integrator: Integrator, rows: Rows, balance: Balance | None,
        callables: list[Callable[[Integrator], None]], caught: list[int], bar: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._integrator, self._balance, self._callables = integrator, balance, callables
        self._caught, self._bar = caught, bar
        self._part = Steps(integrator, rows, balance)

    def parts(
        self, steps: int, block: Block | HATIBlock | None, adapt: StepControl | None
    ) -> Iterator[Steps]:
        """The start, then all steps; every part is overwritten by the next."""
        part, left, s = self._part, steps, self._integrator
        watched = adapt is not None or (block is None and deforms(s))
        period = adapt.every if adapt is not None else _LOOK
        seen = 0
        if self._balance is not None:
            self._balance.start()
        self._guard = _Guard(self._integrator, self._balance)
        part.append()
        yield part
        while left > 0:
            part.count = 0
            wanted = min(part.capacity, left, period - seen if watched else left)
            if block is not None:
                block.fill(part, wanted)
                self._guard.check_part(self._caught, part)
                self._bar(part.count)
            else:
                self._step_by_step(wanted)
            left, seen = left - part.count, seen + part.count
            yield part
            if watched and seen == period and left > 0:
                seen, before = 0, s.dt
                if adapt is None:
                    watch(s)
                else:
                    adapt.look(s, self._balance)
                    left = max(1, round(left * before / s.dt))

    def _step_by_step(self, wanted: int) -> None:
        s, balance, part = self._integrator, self._balance, self._part
        for _ in range(wanted):
            s.step()
            if balance is not None:
                balance.step()
            failed = None
            try:
                for observer in self._callables:
                    observer(s)
            except Exception as error:  # whatever an observer raises, on this rank alone or on all
                failed = error
            part.append()
            self._guard.check(self._caught, part.count == wanted, failed)
            self._bar(1)


class _Guard:
    """Stops a run on all ranks at once: exploded energy, values not finite, signals."""

    def __init__(self, integrator: Integrator, balance: Balance | None) -> None:
        self._integrator, self._balance = integrator, balance
        self._comm = integrator.system.comm
        self._local, self._sum = np.zeros(5), np.zeros(5)
        self._internal = balance.internal if balance else 0.0
        start = balance.kinetic + balance.internal if balance else 0.0
        self._start = self._given = parallel.total(self._comm, start)

    def check(self, caught: list[int], thorough: bool, failed: Exception | None = None) -> None:
        """Raise on all ranks when any has a reason after the last step. Collective."""
        balance, local, s = self._balance, self._local, self._integrator
        local[2], local[3] = signal.SIGINT in caught, signal.SIGTERM in caught
        local[4] = failed is not None
        if balance is not None:
            local[0] = balance.kinetic + self._internal + balance.internal_work
            local[1] = balance.external
        elif thorough:
            n = s.system.owned
            local[0] = np.sum(np.abs(s.v[:n])) + np.sum(np.abs(s.u[:n]))
        # Nothing, unless an impulse is no number.
        local[0] += 0.0 * (np.sum(s.r) + np.sum(s.r_t))
        if self._comm.size > 1:
            self._comm.Allreduce(local, self._sum)
            local = self._sum
        if local[4] > 0:
            parallel.agree(self._comm, failed)
        self._stop(local[2], local[3])
        self._judge(local[0], local[1], s.t, s.n)

    def check_part(self, caught: list[int], part: Steps) -> None:
        """The same after many steps of one rank."""
        self._stop(signal.SIGINT in caught, signal.SIGTERM in caught)
        if self._balance is None:
            speeds = float(np.sum(np.abs(self._integrator.v)) + np.sum(np.abs(self._integrator.u)))
            return self._judge(speeds, 0.0, self._integrator.t, self._integrator.n)
        names, n = energy.TERMS, part.count
        kinetic, work, external = (
            part.energies[:n, names.index(name)] for name in ("kinetic", "internal_work", "external")
        )
        if not self._integrator.beyond_limit and np.isfinite(kinetic[-1] + work[-1]):
            return  # what is no number once stays none
        for i in range(n):
            total = kinetic[i] + self._internal + work[i]
            self._judge(total, external[i], part.t[i], self._integrator.n - n + i + 1)

    def _stop(self, interrupted: float, ended: float) -> None:
        if interrupted or ended:
            raise Interrupted(signal.SIGINT if interrupted else signal.SIGTERM)

    def _judge(self, total: float, external: float, t: float, step: int) -> None:
        if not np.isfinite(total):
            raise UnstableTimeStep(
                f"a value is no longer finite at t = {t:.6g} s (step {step}): take a smaller time step, "
                "check loads and motions"
            )
        self._given = max(self._given, self._start + external)
        exploded = self._balance is not None and total > _EXPLODED * self._given
        if self._integrator.beyond_limit and exploded:
            raise UnstableTimeStep(
                f"at t = {t:.6g} s (step {step}) the energy is {total:.3g} J, more than {_EXPLODED:g} "
                f"times the {self._given:.3g} J that the system was given: take a smaller time step"
            )


def _default_rows(integrator: Integrator) -> Rows:
    approach = getattr(integrator.contact, "approach", None)
    return approach() if approach is not None else integrator.system.rows()


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Signals caught meanwhile; the first is only noted, a second one kills."""
    caught: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return

    def note(number: int, frame: Any) -> None:
        caught.append(number)
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)

    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _bar(steps: int, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on rank 0; nothing where tqdm is missing or nobody looks."""
    shown = sys.stderr.isatty() if progress is None else progress
    if not shown or MPI.COMM_WORLD.rank != 0:
        yield lambda steps: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda steps: None
        return
    with tqdm(total=steps, unit=" steps", delay=0.5, mininterval=0.3, miniters=1) as bar:
        yield lambda steps: bar.update(steps) and None
