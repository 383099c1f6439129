"""Loads that follow signals in time, and motions that are prescribed."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from ufl.core.expr import Expr

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

    def __init__(self, size: int) -> None:
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
        """Write ``f(t)`` into ``out``, shape (size,) [N]."""
        out[:] = self.constant
        for pattern, signal in zip(self.patterns, self.signals):
            out += pattern * signal(t)

    def amplitudes(self, t: NDArray) -> NDArray:
        """``s_k`` at the times ``t`` (n,), shape (n, k)."""
        if not self.signals:
            return np.zeros((t.size, 0))
        return np.column_stack([np.broadcast_to(at_times(s, t), t.shape) for s in self.signals])


class Motion:
    """Displacements that dofs are made to follow.

    Attributes:
        dofs: The owned dofs, ascending, shape (k,).
        any: Whether any rank has such dofs.
        until: Time up to which all motions are known [s].
    """

    def __init__(self) -> None:
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
        """The displacements at ``t``, shape (k,) [m]."""
        values = np.zeros(self.dofs.size)
        for dofs, signal in self._parts:
            values[np.searchsorted(self.dofs, dofs)] = signal(t)
        return values


def known_until(signal: Signal) -> float:
    """Time up to which a signal is known: its ``duration``, infinite for functions [s]."""
    return float(getattr(signal, "duration", math.inf))


def at_times(signal: Signal, t: NDArray) -> NDArray:
    """A signal at many times, also one that takes only numbers."""
    try:
        values = np.asarray(signal(t), dtype=np.float64)
        if values.shape in ((), t.shape):
            return values
    except (TypeError, ValueError):
        pass
    return np.array([float(signal(float(each))) for each in t])


def checked_signal(name: str, signal: Any) -> Signal:
    """The signal, when it gives a finite number at t = 0.

    Raises:
        ValueError: Something else.
    """
    if not callable(signal):
        raise ValueError(f"{name}: a function of time is needed, not {signal!r}")
    value = np.asarray(signal(0.0), dtype=np.float64)
    if value.shape != () or not np.isfinite(value):
        raise ValueError(f"{name}: the signal must give one finite number for a time, not {value}")
    return signal


def vector(name: str, value: Any, size: int) -> NDArray:
    """``size`` finite numbers, one a direction.

    Raises:
        ValueError: Anything else.
    """
    try:
        # An expression of UFL can be indexed without end: NumPy would never come back.
        found = np.asarray(math.nan if isinstance(value, Expr) else value, dtype=np.float64)
    except (TypeError, ValueError):  # no numbers, or of uneven shape
        found = np.full(size, np.nan)
    if found.shape != (size,) or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be {size} numbers, one a direction, not {value}")
    return found


def names(given: str | Sequence[str] | Iterable[str]) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given)
