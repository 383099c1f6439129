"""What ends a run on all ranks at once: an exploded energy, values that are not finite, signals."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np
from numpy.typing import NDArray

from .. import parallel
from ..integrators import energy
from ..integrators.base import Integrator, UnstableTimeStep
from ..integrators.energy import Balance
from ..integrators.step_buffer import Steps
from .step_control import Watch

#: A run is unstable when its energy exceeds so many times what it was ever given.
_EXPLODED = 10.0


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, seen by all ranks at the same step.

    Args:
        number: The signal.
        left: What became of the files; by default nothing was written.

    Attributes:
        number, left: As given.
    """

    def __init__(self, number: int, left: str = "") -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.number, self.left = number, left or "nothing was written"


@contextmanager
def stop_signals(caught: list[int] | None = None) -> Iterator[list[int]]:
    """Signals caught meanwhile; the first is only noted, a second one kills.

    Args:
        caught: The list that they are added to; by default a new one.
    """
    caught = [] if caught is None else caught
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


class StabilityMonitor:
    """Ends a run on all ranks at once: detects divergence, values that are not finite, and signals.

    Args:
        integrator: The integrator.
        balance: Its balance, started, or None.
        watch: What looks at a body that deforms much, or None.
        caught: The list that signals are added to as they arrive.

    Attributes:
        drift: What the balance fails to close by over the largest energy, after the last step; nan without
            a balance.
    """

    def __init__(
        self, integrator: Integrator, balance: Balance | None, watch: Watch | None, caught: list[int]
    ) -> None:
        self._integrator, self._balance, self._watch, self._caught = integrator, balance, watch, caught
        self._comm = integrator.system.comm
        self._local, self._sum = np.zeros(6), np.zeros(6)
        self._internal = balance.internal if balance else 0.0
        start = balance.kinetic + balance.internal if balance else 0.0
        self._start = self._given = self._largest = parallel.total(self._comm, start)
        self._stored = parallel.total(self._comm, _stored(balance)) if balance else 0.0
        self.drift = 0.0 if balance else np.nan

    def state(self) -> tuple[NDArray, NDArray]:
        """What a resumed run needs: numbers that all ranks have, and this rank's share of one."""
        numbers = [self._start, self._given, self._largest, self._stored]
        return np.array(numbers), np.array(self._internal)

    def resume(self, common: NDArray, share: NDArray) -> None:
        """Go on from a :meth:`state`."""
        self._start, self._given, self._largest, self._stored = map(float, common)
        self._internal = float(share)

    def check(self, thorough: bool, failed: Exception | None = None) -> int:
        """Raise on all ranks when any has a reason after the last step. Collective.

        Args:
            thorough: Whether to look at the values where there is no balance.
            failed: Why this rank cannot go on.

        Returns:
            The signal to stop for, 0 for none.
        """
        balance, local, s = self._balance, self._local, self._integrator
        local[2], local[3] = signal.SIGINT in self._caught, signal.SIGTERM in self._caught
        local[4] = failed is not None
        if balance is not None:
            local[0] = balance.kinetic + self._internal + balance.internal_work
            local[1] = balance.external
            local[5] = _stored(balance) + _left(balance)
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
        stop = signal.SIGINT if local[2] else signal.SIGTERM if local[3] else 0
        if not stop:
            self._judge(local[0], local[1], s.t, s.n)
            self._note(max(abs(local[0]), abs(local[1])), local[5])
        return int(stop)

    def check_many(self, part: Steps) -> int:
        """The same after many steps of one rank."""
        s, n = self._integrator, part.count
        stop = next((number for number in (signal.SIGINT, signal.SIGTERM) if number in self._caught), 0)
        if stop:
            return int(stop)
        if self._balance is None:
            speeds = float(np.sum(np.abs(s.v)) + np.sum(np.abs(s.u)))
            self._judge(speeds, 0.0, s.t, s.n)
            return 0
        terms = dict(zip(energy.TERMS, part.energies[:n].T))
        kinetic, work, external = (terms[name] for name in ("kinetic", "internal_work", "external"))
        # What is no number once stays none.
        if s.beyond_limit or not np.isfinite(kinetic[-1] + work[-1]):
            for i in range(n):
                total = kinetic[i] + self._internal + work[i]
                self._judge(total, external[i], part.t[i], s.n - n + i + 1)
        largest = np.max(np.maximum(np.abs(kinetic + self._internal + work), np.abs(external)))
        self._note(float(largest), _stored(self._balance) + _left(self._balance))
        return 0

    def _note(self, largest: float, kept: float) -> None:
        if self._balance is not None:
            self._largest = max(self._largest, largest)
            self.drift = (kept - self._stored) / self._largest if self._largest > 0 else kept - self._stored

    def _judge(self, total: float, external: float, t: float, step: int) -> None:
        if not np.isfinite(total):
            raise UnstableTimeStep(
                f"a value is no longer finite at t = {t:.6g} s (step {step}): "
                f"{self._way_out()}; check loads and motions"
            )
        self._given = max(self._given, self._start + external)
        exploded = self._balance is not None and total > _EXPLODED * self._given
        if exploded and not self._integrator.beyond_limit and self._watch is not None:
            self._watch.judge()
        if self._integrator.beyond_limit and exploded:
            raise UnstableTimeStep(
                f"at t = {t:.6g} s (step {step}) the energy is {total:.3g} J, more than {_EXPLODED:g} "
                f"times the {self._given:.3g} J that the system was given: {self._way_out()}"
            )

    def _way_out(self) -> str:
        return "take a smaller time step" if self._watch is None else self._watch.way_out()


def _stored(balance: Balance) -> float:
    return balance.kinetic + balance.complementary


def _left(balance: Balance) -> float:
    """The works of a balance, as in :func:`.energy.residual`."""
    given = balance.external + balance.contact + balance.interface
    return balance.internal_work + balance.dissipated - given
