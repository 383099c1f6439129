"""Loads that follow signals in time, and motions that are prescribed."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Sequence

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .. import arguments, parallel, signals

#: A number for a time, an array for an array of times [s].
Signal = Callable[[Any], Any]


class Loads:
    """``f(t) = f_0 + sum_k p_k s_k(t)``: constant loads and patterns that follow signals.

    Attributes:
        constant: f_0, shape (size,) [N].
        patterns: p_k, shape (k, size).
        signals: s_k; ``p_k s_k`` is a force [N].
        any: Whether there is a load at all.
        until: Time up to which all signals are known [s].
    """

    def __init__(self, size: int, comm: MPI.Comm = MPI.COMM_SELF) -> None:
        self._comm = comm
        self.constant, self.patterns = np.zeros(size), np.zeros((0, size))
        self.signals: list[Signal] = []
        self.any, self.until = False, math.inf

    def add(self, pattern: NDArray, signal: Signal | None = None) -> None:
        """One more load; constant without a signal."""
        self.any = True
        if signal is None:
            self.constant += pattern
            return
        self.patterns = np.vstack([self.patterns, pattern])
        self.signals.append(signal)
        self.until = min(self.until, known_until(signal))

    def __call__(self, t: float, out: NDArray) -> None:
        """Write ``f(t)`` into ``out``, shape (size,) [N]. Collective."""
        out[:] = self.constant
        if self.signals:  # as of many times: a number and an array may be rounded in different ways
            found = _together(self._comm, self.signals, lambda: self.amplitudes(np.array([t]))[0])
            for pattern, amplitude in zip(self.patterns, found):
                out += pattern * amplitude

    def amplitudes(self, t: NDArray) -> NDArray:
        """``s_k`` at the times ``t`` (n,), shape (n, k)."""
        if not self.signals:
            return np.zeros((t.size, 0))
        times = t if t.size > 1 else np.repeat(t, 2)
        found = [np.broadcast_to(at_times(s, times), times.shape) for s in self.signals]
        return np.column_stack(found)[: t.size]


class Motion:
    """Displacements that dofs are made to follow.

    Attributes:
        dofs: The owned dofs, ascending, shape (k,).
        any: Whether any rank has such dofs.
        until: Time up to which all motions are known [s].
    """

    def __init__(self, comm: MPI.Comm = MPI.COMM_SELF) -> None:
        self._comm = comm
        self.dofs: NDArray = np.zeros(0, dtype=np.intp)
        self.any, self.until = False, math.inf
        self._parts: list[tuple[NDArray, Signal]] = []

    def add(self, dofs: NDArray, signal: Signal) -> None:
        """Make ``dofs`` follow ``signal`` [m]."""
        self.any = True
        self.until = min(self.until, known_until(signal))
        self._parts.append((np.asarray(dofs), signal))
        self.dofs = np.unique(np.concatenate([part for part, _ in self._parts]))

    def __call__(self, t: float) -> NDArray:
        """The displacements at ``t``, shape (k,) [m]. Collective."""
        values = np.zeros(self.dofs.size)
        given = [signal for _, signal in self._parts]
        found = _together(self._comm, given, lambda: [float(signal(t)) for signal in given])
        for (dofs, _), value in zip(self._parts, found):
            values[np.searchsorted(self.dofs, dofs)] = value
        return values


def _together(comm: MPI.Comm, given: Sequence[Signal], work: Callable[[], Any]) -> Any:
    """What ``work`` makes of signals; a function of the user's may fail on one rank alone. Collective."""
    if all(type(signal) is signals.Signal for signal in given):
        return work()
    return parallel.together(comm, work)


def known_until(signal: Signal) -> float:
    """Time up to which a signal is known: its ``duration``, infinite for functions [s]."""
    return float(getattr(signal, "duration", math.inf))


def at_times(signal: Signal, t: NDArray) -> NDArray:
    """A signal at many times, also one that takes only numbers."""
    try:
        values = np.asarray(signal(t), dtype=np.float64)
        if values.shape == t.shape or (values.shape == () and values == signal(float(t.flat[0]))):
            return values  # one number for all times may also be a sum over them
    except (TypeError, ValueError, IndexError):
        pass
    return np.array([float(signal(float(each))) for each in t])


def checked_signal(name: str, signal: Any) -> Signal:
    """The signal, when it gives a finite number at t = 0.

    Raises:
        ValueError: Something else.
    """
    if not callable(signal):
        raise ValueError(f"{name}: a function of time is needed, not {arguments.shown(signal)}")
    given = signal(0.0)
    value = arguments.floats(given)
    if value.shape != () or not np.isfinite(value):
        shown = arguments.shown(given)
        raise ValueError(f"{name}: the signal must give one finite number for a time, not {shown}")
    return signal


def vector(name: str, value: Any, size: int) -> NDArray:
    """``size`` finite numbers, one a direction.

    Raises:
        ValueError: Anything else.
    """
    found = arguments.floats(value)
    if found.shape != (size,) or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be {size} numbers, one a direction, not {arguments.shown(value)}")
    return found


def names(given: str | Sequence[str] | Iterable[str]) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given)
