"""Time-dependent loads and prescribed motions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import arguments, parallel, signals
from .._types import AnyArray, FloatArray, Int32Array, IntArray

#: A function of time [s]: a number for a number, an array for an array.
Signal = Callable[[Any], Any]


class Loads:
    """Loads ``f(t) = f_0 + sum_k p_k s_k(t)``: a constant vector, and spatial patterns times signals.

    Attributes:
        constant: Constant loads f_0, shape (size,) [N].
        patterns: Patterns p_k, shape (k, size).
        signals: Signals s_k; ``p_k s_k`` is a force [N].
        any: Whether there are loads.
        until: Time up to which all signals are defined [s].
    """

    def __init__(self, size: int, comm: MPI.Comm = MPI.COMM_SELF) -> None:
        self._comm = comm
        self.constant, self._scaled = np.zeros(size), np.zeros(size)
        self.patterns: FloatArray = np.zeros((0, size))
        self.signals: list[Signal] = []
        self.any, self.until = False, math.inf

    def add(self, pattern: FloatArray, signal: Signal | None = None) -> None:
        """Add a load; constant without a signal."""
        self.any = True
        if signal is None:
            self.constant += pattern
            return
        self.patterns = np.vstack([self.patterns, pattern])
        self.signals.append(signal)
        self.until = min(self.until, known_until(signal))

    def __call__(self, t: float, out: FloatArray) -> None:
        """Write ``f(t)`` into ``out``, shape (size,) [N]. Collective."""
        out[:] = self.constant
        if self.signals:  # as an array: signals may round a number and an array differently
            amplitudes = _together(self._comm, self.signals, lambda: self.amplitudes(np.array([t]))[0])
            for pattern, amplitude in zip(self.patterns, amplitudes):
                np.multiply(pattern, amplitude, out=self._scaled)
                out += self._scaled

    def amplitudes(self, t: AnyArray) -> FloatArray:
        """Signals s_k at the times ``t``, shape (n,); shape (n, k)."""
        times = t if t.size > 1 else np.repeat(t, 2)
        values = np.empty((times.size, len(self.signals)))
        for k, signal in enumerate(self.signals):
            values[:, k] = at_times(signal, times)
        return values[: t.size]


class Motion:
    """Prescribed displacements of dofs as functions of time.

    Attributes:
        dofs: The prescribed owned dofs, ascending, shape (k,).
        any: Whether any rank has prescribed dofs.
        until: Time up to which all motions are defined [s].
    """

    def __init__(self, comm: MPI.Comm = MPI.COMM_SELF) -> None:
        self._comm = comm
        self.dofs: IntArray = np.zeros(0, dtype=np.intp)
        self.any, self.until = False, math.inf
        self._parts: list[tuple[Int32Array, Signal]] = []

    def add(self, dofs: Int32Array, signal: Signal) -> None:
        """Prescribe ``signal(t)`` [m] at ``dofs``."""
        self.any = True
        self.until = min(self.until, known_until(signal))
        self._parts.append((np.asarray(dofs), signal))
        self.dofs = np.unique(np.concatenate([part for part, _ in self._parts]))

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The functions of time, each once."""
        return tuple({id(signal): signal for _, signal in self._parts}.values())

    def __call__(self, t: float) -> FloatArray:
        """Prescribed displacements at ``t``, shape (k,) [m]. Collective."""
        displacements = np.zeros(self.dofs.size)
        given = [signal for _, signal in self._parts]
        values = _together(self._comm, given, lambda: [float(signal(t)) for signal in given])
        for (dofs, _), value in zip(self._parts, values):
            displacements[np.searchsorted(self.dofs, dofs)] = value
        return displacements

    def velocity(self, t: float, step: float) -> FloatArray:
        """Prescribed velocities at ``t``, shape (k,) [m/s], by :func:`derivative`. Collective."""
        velocities: FloatArray = derivative(self, t, step, self.until)
        return velocities


def derivative(
    function: Callable[[float], Any], t: float, step: float, until: float = math.inf, order: int = 1
) -> Any:
    """A time derivative by differences over five points ``step`` apart, around ``t`` where they are defined.

    They lie between 0, or ``t`` before it, and ``until``; exact for polynomials of degree 4.

    Args:
        function: A function of time that returns a number or an array.
        t: Time [s].
        step: Distance of the points [s], smaller where the function is not defined for long enough.
        until: Time up to which the function is defined [s].
        order: Order of the derivative, 1 or 2.
    """
    low, high = min(t, 0.0), max(t, until)
    step = min(step, (high - low) / 4)
    first = min(max(t - 2 * step, low), high - 4 * step)
    times = first + step * np.arange(5)
    powers = ((times - t) / step) ** np.arange(5)[:, None]
    weights = np.linalg.solve(powers, math.factorial(order) * np.eye(5)[order]) / step**order
    return sum(w * np.asarray(function(float(each))) for w, each in zip(weights, times))


def _together(comm: MPI.Comm, given: Sequence[Signal], work: Callable[[], Any]) -> Any:
    """Result of ``work``, which evaluates signals, with errors raised on all ranks. Collective."""
    if all(type(signal) is signals.Signal for signal in given):
        return work()
    return parallel.together(comm, work)


def known_until(signal: Signal) -> float:
    """Time up to which a signal is defined: its ``duration``, infinite for functions [s]."""
    return float(getattr(signal, "duration", math.inf))


def at_times(signal: Signal, t: AnyArray) -> FloatArray:
    """Values of a signal at the times ``t``, shape (n,), also of one that accepts only numbers."""
    try:
        values = np.asarray(signal(t), dtype=np.float64)
        if values.shape == t.shape or (values.shape == () and values == signal(float(t.flat[0]))):
            return values  # a scalar result must equal the value at one time: it may be a sum over them
    except (TypeError, ValueError, IndexError):
        pass
    return np.array([float(signal(float(each))) for each in t])


def checked_signal(name: str, signal: Any, unit: str | None = None) -> Signal:
    """The signal, tested at t = 0, in the unit that is needed where it knows its own.

    Args:
        name: What it is for, for messages.
        signal: A function of time, or a :class:`.signals.Signal`.
        unit: The SI unit that is needed; None for any.

    Raises:
        ValueError: An object that is not callable, a value that is not one finite number, or a signal of
            another quantity.
    """
    if not callable(signal):
        raise ValueError(f"{name}: a function of time is needed, not {arguments.shown(signal)}")
    given = signal(0.0)
    value = arguments.floats(given)
    if value.shape != () or not np.isfinite(value):
        shown = arguments.shown(given)
        raise ValueError(f"{name}: the signal must give one finite number for a time, not {shown}")
    checked: Signal = signals.in_unit(name, signal, unit) if isinstance(signal, signals.Signal) else signal
    return checked


def vector(name: str, value: Any, size: int) -> FloatArray:
    """A vector of ``size`` finite numbers, one per direction.

    Raises:
        ValueError: Anything else.
    """
    numbers = arguments.floats(value)
    if numbers.shape != (size,) or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name} must be {size} numbers, one a direction, not {arguments.shown(value)}")
    return numbers


def names(given: Any) -> tuple[Any, ...]:
    """Tuple of one name or several; numbers are those of tags."""
    return (given,) if isinstance(given, (str, int, np.integer)) else tuple(given)
