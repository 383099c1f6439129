"""Collective detection of divergence, values that are not finite, and signals during a run."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import parallel
from .._types import FloatArray
from ..integrators import energy
from ..integrators.base import Integrator, UnstableTimeStep
from ..integrators.energy import EnergyBalance
from ..integrators.step_buffer import Steps
from ..materials.reduced_dimension import Thin
from ..systems.system import PointMasses
from .energy_guard import MOST, MOST_BEYOND, EnergyGuard, Looks
from .step_control import Watch


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, raised on all ranks at the same step.

    Args:
        number: The signal.
        left: Text on the files that were written; by default that there are none.

    Attributes:
        number, left: The signal and the text.
    """

    def __init__(self, number: int, left: str = "") -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.number, self.left = number, left or "nothing was written"

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.left}"


@contextmanager
def handled(handlers: Mapping[int, Any]) -> Iterator[None]:
    """Context with handlers of signals, in the main thread."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_signals(caught: list[int] | None = None) -> Iterator[list[int]]:
    """Record SIGINT and SIGTERM within a context; a second signal has its default effect.

    Args:
        caught: The list to which signals are appended; by default a new one.
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

    with handled(dict.fromkeys(numbers, note)):
        yield caught


class StabilityMonitor:
    """Detects divergence, values that are not finite, and signals, on all ranks at the same step.

    Args:
        integrator: The integrator.
        balance: Its energy balance, started, or None.
        watch: Monitor of the critical time step, or None.
        caught: The list to which signals are appended as they arrive.

    Attributes:
        drift: Residual of the energy balance after the last step over the largest energy; NaN without a
            balance.
        replicated: Whether every rank has a system of its own.
        listens: Whether :meth:`check` and :meth:`check_many` look at signals; False where ranks with systems
            of their own write files together, and have to stop together.
    """

    def __init__(
        self, integrator: Integrator, balance: EnergyBalance | None, watch: Watch | None, caught: list[int]
    ) -> None:
        self._integrator, self._balance, self._watch, self._caught = integrator, balance, watch, caught
        self._comm = integrator.system.comm
        self.replicated, self.listens = self._comm.size < parallel.world().size, True
        self._local, self._sum = np.zeros(9), np.zeros(9)
        self._looks = Looks(integrator) if balance is None else None
        self._internal = balance.internal if balance else 0.0
        start = balance.kinetic + balance.internal if balance else 0.0
        self._largest = parallel.total(self._comm, start)
        self._guard = EnergyGuard(integrator, self._looks.start if self._looks else self._largest)
        self._stored = parallel.total(self._comm, _stored(balance)) if balance else 0.0
        self.drift = 0.0 if balance else np.nan

    def state(self) -> tuple[FloatArray, FloatArray]:
        """State for a restart: replicated numbers, and this rank's share of the stored energy."""
        guard = self._guard
        numbers = [guard.start, guard.given, self._largest, self._stored, guard.pushed]
        return np.array(numbers), np.array(self._internal)

    def resume(self, common: FloatArray, share: FloatArray) -> None:
        """Restore a :meth:`state`."""
        guard = self._guard
        if self._balance is not None:  # without one the work so far is not known: it counts from here
            guard.start, guard.given, guard.pushed = (
                float(common[0]),
                float(common[1]),
                float(sum(common[4:])),
            )
        self._largest, self._stored = map(float, common[2:4])
        self._internal = float(share)

    def check(self, thorough: bool, failed: Exception | None = None) -> int:
        """Check the state after a step; an error of one rank is raised on all. Collective.

        Args:
            thorough: Whether to check displacements and velocities where there is no energy balance.
            failed: Exception of this rank, or None.

        Returns:
            The signal at which the run stops, 0 for none.

        Raises:
            UnstableTimeStep: Values that are not finite, or a diverged energy.
        """
        balance, local, s, looks = self._balance, self._local, self._integrator, self._looks
        caught = self._caught if self.listens else ()
        local[2], local[3] = signal.SIGINT in caught, signal.SIGTERM in caught
        local[4] = failed is not None
        if balance is not None:
            # A law may have forces beyond its range, but no energy: that is not a number then.
            local[0] = balance.kinetic + self._internal + balance.internal_work + 0.0 * balance.internal
            local[1] = balance.external
            local[5] = _stored(balance) + _works(balance)
            local[6], local[7] = balance.external + balance.interface, balance.pushed
            if self._guard.contact_gives:
                local[6] += balance.contact
            local[8] = balance.internal_work
            if s.system.prescribed.any:  # half of this work comes a step later
                dofs = s.system.prescribed.dofs
                local[6] += 0.5 * float(s.system.mass[dofs] @ s.v[dofs] ** 2)
        elif looks is not None:
            looks.note(float(np.sum(np.abs(s.r)) + np.sum(np.abs(s.r_t))))
            if looks.due:
                looks.look()
            local[0], local[6], local[7] = looks.energy, looks.work, looks.pushed
            local[8], looks.pushed = looks.internal_work, 0.0
            if thorough:
                n = s.system.owned
                local[0] += 0.0 * (np.sum(np.abs(s.v[:n])) + np.sum(np.abs(s.u[:n])))
        # Zero, or NaN if an impulse is not finite.
        local[0] += 0.0 * (np.add.reduce(s.r) + np.add.reduce(s.r_t, axis=None))
        if self._comm.size > 1:
            self._comm.Allreduce(local, self._sum)
            local = self._sum
        if local[4] > 0:
            parallel.agree(self._comm, failed)
        stop = signal.SIGINT if local[2] else signal.SIGTERM if local[3] else 0
        if not stop:
            self._refuse_divergence(local[0], local[6] - min(local[8], 0.0), local[7], s.t, s.n)
            self._update_drift(max(abs(local[0]), abs(local[1])), local[5])
        return int(stop)

    def stopped_by(self) -> int:
        """The first signal that a rank has caught, 0 for none; also of systems on every rank. Collective."""
        return next((caught[0] for caught in parallel.world().allgather(self._caught[:1]) if caught), 0)

    def check_many(self, part: Steps) -> int:
        """Check the states after a block of steps, on a single rank; see :meth:`check`."""
        s, n, guard, looks = self._integrator, part.count, self._guard, self._looks
        stop = next((number for number in (signal.SIGINT, signal.SIGTERM) if number in self._caught), 0)
        if stop and self.listens:
            return int(stop)
        if looks is not None:
            looks.note(float(np.sum(np.abs(part.r[:n])) + np.sum(np.abs(part.r_t[:n]))))
            looks.look()
            # What a user's damping gives between two looks is not known.
            total = 0.0 if isinstance(s.system, PointMasses) and s.system.has_damping else looks.latest
            total += 0.0 * float(np.sum(np.abs(s.u)) + np.sum(np.abs(s.v)))
            work = looks.work - min(looks.internal_work, 0.0)
            self._refuse_divergence(total, work, looks.pushed, s.t, s.n)
            return 0
        assert self._balance is not None
        terms = dict(zip(energy.TERMS, part.energies[:n].T))
        totals = terms["kinetic"] + self._internal + terms["internal_work"] + 0.0 * terms["internal"]
        works = terms["external"] + terms["interface"] - np.minimum(terms["internal_work"], 0.0)
        if guard.contact_gives:
            works += terms["contact"]
        most = MOST_BEYOND if s.beyond_limit else MOST
        first = guard.first_excess(totals, works, part.pushed[:n], most)
        if first >= 0:
            worst = totals[first] if first == 0 or not np.isfinite(totals[first]) else totals[first - 1]
            self._raise(float(worst), part.t[first], s.n - n + first + 1, most)
        largest = np.max(np.maximum(np.abs(totals), np.abs(terms["external"])))
        self._update_drift(float(largest), _stored(self._balance) + _works(self._balance))
        return 0

    def _update_drift(self, largest: float, total: float) -> None:
        if self._balance is not None:
            self._largest = max(self._largest, largest)
            residual = total - self._stored
            self.drift = residual / self._largest if self._largest > 0 else residual

    def _refuse_divergence(self, total: float, work: float, pushed: float, t: float, step: int) -> None:
        s, guard = self._integrator, self._guard
        excess = guard.excess(total, work, pushed)
        if not math.isfinite(total):
            self._raise(total, t, step, MOST)
        if excess > MOST_BEYOND and not s.beyond_limit and self._watch is not None:
            self._watch.judge()
        most = MOST_BEYOND if s.beyond_limit else MOST
        if excess > most:
            self._raise(excess * guard.given if guard.given > 0 else total, t, step, most)

    def _raise(self, total: float, t: float, step: int, most: float) -> None:
        """Raise an UnstableTimeStep: an energy not finite, or above ``most`` times the given one."""
        if not np.isfinite(total):
            raise UnstableTimeStep(
                f"a value is no longer finite at t = {t:.6g} s (step {step}): "
                f"{self._way_out()}; check loads and motions{_of_thickness(self._integrator.body)}"
            )
        raise self._guard.error(total, t, step, most, self._way_out())

    def _way_out(self) -> str:
        return "take a smaller time step" if self._watch is None else self._watch.way_out()


def _of_thickness(body: Any) -> str:
    """Further cause of NaN, of a nonlinear body in plane stress or on a line."""
    laws = [each.law for each in getattr(body, "materials", ())]
    if not any(isinstance(law, Thin) and not law.linear for law in laws):
        return ""
    return ", and whether strains are so large that a law does not find the thickness of the body"


def _stored(balance: EnergyBalance) -> float:
    return balance.kinetic + balance.complementary


def _works(balance: EnergyBalance) -> float:
    """Sum of the works in a balance, with the signs of :func:`.energy.residual`."""
    input_work = balance.external + balance.contact + balance.interface
    return balance.internal_work + balance.dissipated - input_work
