"""What a case of the benchmark is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .. import energy
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
        log: What is noted of every step.
        judge: From the history to results and verdicts. Collective.
        dofs: Number of dofs of the model.
        effective: Parameters that the case itself decided, for the summary.
        study: Further verdicts that take runs of their own, or None. Collective.
    """

    integrator: Integrator
    t_end: float
    record: Rows
    log: "RunLog"
    judge: Callable[[Result], tuple[dict[str, Any], list[Verdict]]]
    dofs: int
    effective: Values = field(default_factory=dict)
    study: Callable[[], list[Verdict]] | None = None

    def observers(self) -> list[Observer]:
        """What follows every step: the log with the energy balance of the scheme."""
        return [self.log.balance, self.log]


@dataclass(frozen=True)
class Case:
    """An entry of the benchmark.

    Attributes:
        parameters: What it understands.
        schemes: Names of the schemes it runs with.
        make: Makes it ready for a scheme.
        amplifies_rounding: Whether long runs differ in whole cycles where roundings differ.
        defaults: Scheme parameters whose default is another one here.
    """

    parameters: Mapping[str, Option]
    schemes: tuple[str, ...]
    make: Callable[[str, Values, bool], Problem]
    amplifies_rounding: bool = False
    defaults: Values = field(default_factory=dict)


class RunLog:
    """What results need of every step, whatever the history samples; memory does not grow.

    The steps of a block are kept and summed over the ranks when it is full.

    Args:
        integrator: The integrator, started.

    Attributes:
        balance: The energy balance of the scheme, to be an observer before the log.
        contact_start: Time of the first impulse [s], None for none; after :meth:`close`.
        contact_end: Time of the last one [s].
        contact_phases: Number of uninterrupted phases of contact.
        first_impulse: Sum over the points in the first step of contact [N s].
        impulse_sum: Sum over points and steps [N s].
        deepest: Largest penetration [m], 0 for none.
    """

    _BLOCK = 4096

    def __init__(self, integrator: Integrator) -> None:
        self.balance = integrator.balance()
        self.balance.start()
        self._comm = integrator.system.comm
        self._rows = np.zeros((self._BLOCK, 2 + len(energy.TERMS)))
        self._filled, self._gap = 0, np.inf
        self._start: NDArray | None = None
        self._worst = self._largest = 0.0
        self._touching = False
        self.contact_start: float | None = None
        self.contact_end: float | None = None
        self.contact_phases, self.first_impulse, self.impulse_sum, self.deepest = 0, 0.0, 0.0, 0.0
        self(integrator)

    def __call__(self, integrator: Integrator) -> None:
        """Note the last step. Collective."""
        row = self._rows[self._filled]
        row[0], row[1] = integrator.t, np.sum(integrator.r)
        row[2:] = self.balance.terms()
        self._gap = min(self._gap, float(np.min(integrator.gap(), initial=np.inf)))
        self._filled += 1
        if self._filled == self._BLOCK:
            self._sum_block()

    def close(self) -> None:
        """Bring the numbers up to the last step. Collective."""
        self._sum_block()
        self.deepest = max(0.0, float(-self._comm.allreduce(self._gap, op=MPI.MIN)))

    def relative_residual(self) -> float:
        """Largest residual of the balance over the largest energy, every step counted."""
        return self._worst / self._largest if self._largest > 0 else self._worst

    def _sum_block(self) -> None:
        times = self._rows[: self._filled, 0]
        summed = self._comm.allreduce(self._rows[: self._filled, 1:], op=MPI.SUM)
        self._filled = 0
        if times.size:
            self._follow_contact(times, summed[:, 0])
            self._follow_energies(summed[:, 1:])

    def _follow_contact(self, times: NDArray, impulses: NDArray) -> None:
        touching = impulses > 0
        begins = touching & ~np.concatenate([[self._touching], touching[:-1]])
        self._touching = bool(touching[-1])
        self.contact_phases += int(np.sum(begins))
        self.impulse_sum += float(impulses.sum())
        if touching.any():
            hits = np.flatnonzero(touching)
            if self.contact_start is None:
                self.contact_start = float(times[hits[0]])
                self.first_impulse = float(impulses[hits[0]])
            self.contact_end = float(times[hits[-1]])

    def _follow_energies(self, terms: NDArray) -> None:
        if self._start is None:
            self._start = terms[0]
        energies: dict[str, NDArray] = dict(zip(energy.TERMS, np.vstack([self._start, terms]).T))
        self._worst = max(self._worst, float(np.max(np.abs(energy.residual(energies)))))
        for name in ("kinetic", "internal", "external"):
            self._largest = max(self._largest, float(np.max(np.abs(energies[name]))))
