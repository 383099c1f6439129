"""The loop: step, follow the energies, record; it knows nothing of any scheme."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Sequence, Union

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from . import energy, parallel
from .energy import Balance
from .integrators.base import Integrator, UnstableTimeStep
from .output import Result
from .rows import Rows

Observer = Union[Balance, Callable[[Integrator], None]]

_MOST_BYTES = 1_000_000_000
_MOST_STEPS = 1e15
#: A run is unstable when its energy exceeds so many times what it was ever given.
_EXPLODED = 10.0


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
) -> Result:
    """Run a started integrator to ``t_end`` and return its history. Collective.

    Args:
        integrator: A scheme after its ``start``.
        t_end: End time [s]; the run has ``max(1, round((t_end - t) / dt))`` steps.
        record: Which displacements to record; by default all dofs of point masses, and the
            contact points of a solid (their motion towards the obstacle).
        observers: Callables ``f(integrator)``, called after every step; an energy balance of
            your own takes the place of the scheme's.
        energies: Follow the energy balance of the scheme.
        every: Sample every so many steps (and the last one).
        progress: Show a progress bar; by default when the error stream is a terminal.

    Returns:
        The history, on every rank.

    Raises:
        ValueError: An end before the start or beyond reach, ``every`` below 1, a history above
            1 GB.
        UnstableTimeStep: A value is not finite; or, with a step above the critical one, the
            energy exceeds ten times what the body was given. (At the very limit the highest
            mode grows linearly, and a scheme may be run to see it blow up: neither stops.)
        Interrupted: Ctrl-C or SIGTERM.
        RuntimeError: When the integrator was not started.
    """
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
    chosen: list[Observer] = list(observers)
    if energies and _balance_of(chosen) is None:
        chosen.insert(0, integrator.balance())
    recorder = Recorder(integrator, steps, int(every), record, _balance_of(chosen))
    begun = time.perf_counter()
    with _stop_signals() as caught, _bar(steps, progress) as bar:
        _run(integrator, steps, chosen, recorder, caught, bar)
    return recorder.result(time.perf_counter() - begun)


def _run(
    integrator: Integrator,
    steps: int,
    observers: list[Observer],
    recorder: "Recorder",
    caught: list[int],
    bar: Callable[[], None],
) -> None:
    balances = [o for o in observers if isinstance(o, Balance)]
    others = [o for o in observers if not isinstance(o, Balance)]
    for balance in balances:
        balance.start()
    guard = _Guard(integrator, balances[0] if balances else None)
    recorder.sample(0)
    for i in range(1, steps + 1):
        integrator.step()
        for balance in balances:
            balance.step()
        for observer in others:
            observer(integrator)
        recorder.add_impulses()
        sampled = i % recorder.every == 0 or i == steps
        guard.check(caught, sampled)
        if sampled:
            recorder.sample(i)
        bar()


class Recorder:
    """Allocates the history once, fills this rank's part, gathers it at the end.

    Args:
        integrator: The integrator, started.
        steps: Number of steps of the run.
        every: Steps between samples.
        record: What to record of ``u`` and ``v``.
        balance: The energy balance, or None.

    Raises:
        ValueError: A history above 1 GB. Collective.
    """

    def __init__(
        self, integrator: Integrator, steps: int, every: int, record: Rows | None, balance: Balance | None
    ) -> None:
        self.every, self._steps = every, steps
        self._integrator, self._balance = integrator, balance
        self._comm = integrator.system.comm
        self._rows = _default_rows(integrator) if record is None else record
        samples = 1 + steps // every + (steps % every != 0)
        self._refuse_large(samples, self._rows.count, integrator.r.size)
        k, p = self._rows.count, integrator.r.size
        self._t, self._t_v = np.zeros(samples), np.zeros(samples)
        self._u, self._v_t, self._v = (np.zeros((samples, k)) for _ in range(3))
        self._gap, self._r = np.zeros((samples, p)), np.zeros((samples, p))
        self._r_t = np.zeros((samples, *integrator.r_t.shape))
        self._further = {name: np.zeros((samples, p)) for name in integrator.point_records}
        self._energies = np.zeros((samples, len(energy.TERMS)))
        self._impulses, self._rubbed = integrator.r.copy(), integrator.r_t.copy()
        self._next = 0

    def add_impulses(self) -> None:
        """Add the impulses of the last step to those of the sample to come."""
        self._impulses += self._integrator.r
        if self._rubbed.size:
            self._rubbed += self._integrator.r_t

    def sample(self, step: int) -> None:
        """Keep the state after ``step`` steps."""
        i, s = self._next, self._integrator
        self._t[i], self._t_v[i] = s.t, s.v_time
        dofs, weights = self._rows.dofs, self._rows.weights
        self._u[i] = self._rows(s.u)
        self._v[i] = self._rows(s.v)
        self._v_t[i] = np.einsum("pk,pk->p", weights, s.v_mean_at(dofs))
        self._gap[i], self._r[i] = s.gap(), self._impulses
        self._r_t[i] = self._rubbed
        self._impulses[:], self._rubbed[:] = 0.0, 0.0
        for name, values in self._further.items():
            values[i] = getattr(s, name)
        if self._balance is not None:
            self._energies[i] = self._balance.terms()
        self._next += 1

    def result(self, seconds: float) -> Result:
        """The history of all ranks, rows in order. Collective."""
        contact, comm = self._integrator.contact, self._comm
        order = self._rows.sorting(comm)
        arrays: dict[str, Any] = {"t": self._t, "t_v": self._t_v, "t_r": self._t}
        for name, local in (("u", self._u), ("v_t", self._v_t), ("v", self._v)):
            arrays[name] = parallel.gather_rows(comm, local, axis=1)[:, order]
        arrays["labels"] = np.array(self._rows.sorted_labels(comm), dtype=str)
        points = contact.rows.sorting(comm) if contact else np.zeros(0, dtype=np.intp)
        by_point: dict[str, NDArray] = {"gap": self._gap, "r": self._r, **self._further}
        if self._rubbed.ndim == 2:
            by_point["r_t"] = self._r_t
        for name, values in by_point.items():
            arrays[name] = parallel.gather_rows(comm, values, axis=1)[:, points]
        arrays["contact_labels"] = np.array(contact.rows.sorted_labels(comm) if contact else [], dtype=str)
        if self._balance is not None:
            energies = comm.allreduce(self._energies, op=MPI.SUM)
            arrays.update(zip(energy.TERMS, energies.T))
            arrays["residual"] = energy.residual(arrays)
        closes = self._balance is not None and self._balance.closes
        return Result(arrays, balance=closes, steps=self._steps, seconds=seconds)

    def _refuse_large(self, samples: int, k: int, p: int) -> None:
        per_sample = 8 * parallel.total(self._comm, 3 * k + 2 * p) + 8 * (2 + len(energy.TERMS))
        if samples * per_sample > _MOST_BYTES:
            fits = int(np.ceil(self._steps / max(1.0, _MOST_BYTES / per_sample - 2)))
            raise ValueError(
                f"the history would take {samples * per_sample / 1e9:.1f} GB ({samples} samples), more "
                f"than {_MOST_BYTES / 1e9:g} GB: record fewer dofs, or every={max(fits, self.every)} steps"
            )


class _Guard:
    """Stops a run on all ranks at once: exploded energy, values not finite, signals."""

    def __init__(self, integrator: Integrator, balance: Balance | None) -> None:
        self._integrator, self._balance = integrator, balance
        self._comm = integrator.system.comm
        self._local, self._sum = np.zeros(4), np.zeros(4)
        self._internal = balance.internal if balance else 0.0
        start = balance.kinetic + balance.internal if balance else 0.0
        self._start = self._given = parallel.total(self._comm, start)

    def check(self, caught: list[int], sampled: bool) -> None:
        """Raise on all ranks when any has a reason. Collective."""
        balance, local, s = self._balance, self._local, self._integrator
        local[2], local[3] = signal.SIGINT in caught, signal.SIGTERM in caught
        if balance is not None:
            local[0] = balance.kinetic + self._internal + balance.internal_work
            local[1] = balance.external
        elif sampled:
            local[0] = np.sum(np.abs(s.v[: s.system.owned]))
        if self._comm.size > 1:
            self._comm.Allreduce(local, self._sum)
            local = self._sum
        if local[2] or local[3]:
            raise Interrupted(signal.SIGINT if local[2] else signal.SIGTERM)
        if not np.isfinite(local[0]):
            raise UnstableTimeStep(f"a value is no longer finite at t = {s.t:.6g} s (step {s.n})")
        self._given = max(self._given, self._start + local[1])
        if s.beyond_limit and balance is not None and local[0] > _EXPLODED * self._given:
            raise UnstableTimeStep(
                f"at t = {s.t:.6g} s (step {s.n}) the energy is {local[0]:.3g} J, more than {_EXPLODED:g} "
                f"times the {self._given:.3g} J that the system was given: take a smaller time step"
            )


def _balance_of(observers: Sequence[Observer]) -> Balance | None:
    return next((o for o in observers if isinstance(o, Balance)), None)


def _default_rows(integrator: Integrator) -> Rows:
    approach = getattr(integrator.contact, "approach", None)
    return approach() if approach is not None else integrator.system.rows()


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
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
def _bar(steps: int, progress: bool | None) -> Iterator[Callable[[], None]]:
    """A progress bar on rank 0; nothing where tqdm is missing or nobody looks."""
    shown = sys.stderr.isatty() if progress is None else progress
    if not shown or MPI.COMM_WORLD.rank != 0:
        yield lambda: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda: None
        return
    with tqdm(total=steps, unit=" steps", delay=0.5, mininterval=0.3, miniters=1) as bar:
        yield lambda: bar.update() and None
