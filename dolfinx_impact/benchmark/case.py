"""What a case of the benchmark is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..integrators import Integrator, Option
from ..output import Result
from ..rows import Rows
from ..simulation import Observer

#: Parameters of a run by name.
Values = Mapping[str, Any]

#: What every case understands besides its own parameters.
COMMON = {
    "h": Option(None, "s", "time step; the other way to give it is courant"),
    "t_end": Option(None, "s", "end time"),
    "every": Option(1, "steps", "steps between samples of the history"),
    "gap_tolerance": Option(1e-12, "m", "a gap up to this counts as closed"),
}


@dataclass
class Verdict:
    """A claim and what the run says of it."""

    claim: str
    measured: float
    expected: float
    tolerance: float
    reproduced: bool

    @classmethod
    def equal(cls, claim: str, measured: float, expected: float, tolerance: float) -> "Verdict":
        """Measured within ``tolerance`` (absolute) of what is expected."""
        fits = bool(abs(measured - expected) <= tolerance)
        return cls(claim, float(measured), float(expected), float(tolerance), fits)

    @classmethod
    def below(cls, claim: str, measured: float, limit: float) -> "Verdict":
        """Measured magnitude at most ``limit``."""
        return cls(claim, float(measured), 0.0, float(limit), bool(abs(measured) <= limit))


@dataclass
class Problem:
    """A case made ready for a scheme.

    Attributes:
        integrator: The scheme, started.
        t_end: End time [s].
        record: What to record.
        log: The contact log, an observer of every step.
        judge: From the history to results and verdicts. Collective.
        dofs: Number of dofs of the model.
    """

    integrator: Integrator
    t_end: float
    record: Rows
    log: "ContactLog"
    judge: Callable[[Result], tuple[dict[str, Any], list[Verdict]]]
    dofs: int

    def observers(self) -> list[Observer]:
        """The energy balance of the scheme, and the log."""
        return [self.integrator.balance(), self.log]


@dataclass(frozen=True)
class Case:
    """An entry of the benchmark."""

    parameters: Mapping[str, Option]
    schemes: tuple[str, ...]
    make: Callable[[str, Values, bool], Problem]
    amplifies_rounding: bool = False


class ContactLog:
    """Time and total impulse of every step, whatever the history samples."""

    def __init__(self, integrator: Integrator) -> None:
        self._comm = integrator.system.comm
        self._times = [integrator.t]
        self._impulses = [float(np.sum(integrator.r))]

    def __call__(self, integrator: Integrator) -> None:
        """Note the last step."""
        self._times.append(integrator.t)
        self._impulses.append(float(np.sum(integrator.r)))

    def read(self) -> tuple[NDArray, NDArray]:
        """Times [s] and impulses [N s] over all ranks. Collective."""
        return np.array(self._times), self._comm.allreduce(np.array(self._impulses))


def phases(active: NDArray) -> int:
    """Number of uninterrupted runs of true entries."""
    return int(np.sum(np.diff(np.concatenate([[0], active.astype(int)])) == 1))
