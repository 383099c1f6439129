"""Warning of prescribed motions that jump: contact and bodies see their velocities, not what lies between."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._types import FloatArray
from ..algebra import kernels
from ..systems.system import system_and_parts

#: Change in a step over that in the step before from which on it is looked at closely,
_SUDDEN = 4.0
#: halvings of a step until what still changes as much is a jump, and the part that each of them must keep.
_HALVINGS, _KEPT = 24, 0.9
#: Change over the size of the system that is none.
_NONE = 1e-9


class MotionJumps:
    """Looks for jumps of moving obstacles and prescribed motions within a step, and warns once of each.

    A motion is looked at closely where its change in a step is four times that of the step before: it jumps
    if halving the time 24 times leaves a change of nine tenths each time.

    Args:
        integrator: The integrator, started or resumed.
    """

    def __init__(self, integrator: Any) -> None:
        system = integrator.system
        self._s, self._t, self._least = integrator, integrator.t, _NONE * system.length
        self._motions = [*_of_obstacles(integrator.contact), *_of_dofs(system)]
        self._now = [function(self._t) for _, function in self._motions]
        self._changes = [0.0] * len(self._motions)

    def follow(self) -> None:
        """Look at the motions in the last step."""
        if not self._motions:
            return
        t = self._s.t
        for i, (name, function) in enumerate(self._motions):
            value = function(t)
            change = _distance(self._now[i], value)
            sudden = change > max(self._least, _SUDDEN * self._changes[i])
            if sudden and self._changes[i] < np.inf and _jumps(function, self._t, t):
                change = np.inf  # told once
                self._tell(name, _distance(self._now[i], value), t)
            self._now[i], self._changes[i] = value, change if self._changes[i] < np.inf else np.inf
        self._t = t

    def _tell(self, name: str, change: float, t: float) -> None:
        if self._s.system.comm.rank == 0:
            kernels.logger.warning(
                f"{name} jumps by {change:.3g} m within the step to t = {t:.6g} s: what it passes over is "
                "not pushed, and no velocity is right there; let it rise over several steps"
            )


def _of_obstacles(contact: Any) -> Iterator[tuple[str, Callable[[float], FloatArray]]]:
    """Translations of moving obstacles, each once."""
    members = () if contact is None else contact.members
    shifts = {
        id(face._shift): face._shift
        for each in members
        for face in getattr(each, "faces", ())
        if getattr(face, "_shift", None) is not None and face._shift.any
    }
    for shift in shifts.values():
        yield "the translation of a moving obstacle", shift


def _of_dofs(system: Any) -> Iterator[tuple[str, Callable[[float], FloatArray]]]:
    """Prescribed motions of dofs, each signal once."""
    for each in system_and_parts(system):
        for signal in getattr(getattr(each, "prescribed", None), "signals", ()):
            yield "a prescribed motion", functools.partial(_value, signal)


def _value(signal: Callable[[float], Any], t: float) -> FloatArray:
    return np.asarray(signal(t), dtype=np.float64)


def _distance(first: FloatArray, last: FloatArray) -> float:
    return float(np.linalg.norm(np.atleast_1d(last - first)))


def _jumps(function: Callable[[float], FloatArray], start: float, end: float) -> bool:
    """Whether the change of a function between two times lies in a moment."""
    first, last = function(start), function(end)
    for _ in range(_HALVINGS):
        middle = 0.5 * (start + end)
        if not start < middle < end:
            return True
        value = function(middle)
        before, after = _distance(first, value), _distance(value, last)
        if max(before, after) < _KEPT * _distance(first, last):
            return False
        if before >= after:
            end, last = middle, value
        else:
            start, first = middle, value
    return True
