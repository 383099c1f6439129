"""The log of a run at the time steps of its scheme, also where one step of HATI has many fine ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..integrators import Integrator
from ..integrators.hati import HATI
from ..simulation import Observer
from ..steps import Steps
from .case import RunLog


class FineLog(RunLog):
    """A log that sees what the contacts do in every time step of the scheme.

    With HATI these are the fine steps: it needs :meth:`after_step` then. Of other schemes they are the
    rows of :class:`~dolfinx_impact.steps.Steps`. Override :meth:`contacts` to note more.

    Args:
        integrator: The integrator, started.
        normal: ``L`` over the recorded columns of this rank, shape (p, k): closing velocities of schemes
            other than HATI come from it. Without it they are nan.
    """

    def __init__(self, integrator: Integrator, normal: NDArray | None = None) -> None:
        super().__init__(integrator)
        self._fine, self._started = isinstance(integrator, HATI), False
        self._normal, self._v = normal, np.zeros(0)

    def observers(self) -> list[Observer]:
        """What a run of the integrator needs to keep this log."""
        return [self, self.after_step] if self._fine else [self]

    def follow(self, steps: Steps) -> None:
        """Note the energies of consecutive steps, and contacts where no finer ones are known. Collective."""
        n = steps.count
        energies = steps.energies[:n]
        if self._comm.size > 1:
            energies = self._comm.allreduce(energies, op=MPI.SUM)
        self._balance(energies, self._energies)
        if not (self._fine and self._started):
            self.contacts(steps.t[:n], steps.r[:n], steps.gap[:n], self._before(steps))
        self._started = True

    def after_step(self, integrator: Any) -> None:
        """Note the fine steps of one step of HATI. Collective."""
        m, seen = integrator.ratio, integrator.contacts
        numbers = (integrator.n - 1) * m + np.arange(1, m + 1)
        self.contacts(integrator.t0 + numbers * integrator.fine.dt, seen.r, seen.gap, seen.before)

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """Note the contacts of consecutive time steps, the start first. Collective.

        Args:
            t: Times, shape (n,) [s].
            r: Impulses at ``t`` of this rank's points, shape (n, p) [N s].
            gap: Gaps at ``t``, shape (n, p) [m].
            before: Normal velocities half a step before ``t``, shape (n, p) [m/s]; nan at the start.
        """
        impulses: NDArray = r.sum(axis=1)
        if self._comm.size > 1:
            impulses = self._comm.allreduce(impulses, op=MPI.SUM)
        self._touch(t, impulses, self._contact)
        self._gap = self._depth(gap, self._gap)

    def _before(self, steps: Steps) -> NDArray:
        """``L v`` of the steps before, at the scheme's own times of v."""
        n, before = steps.count, np.full(steps.gap[: steps.count].shape, np.nan)
        if self._normal is not None:
            v = steps.v[:n] @ self._normal.T
            before[1:] = v[:-1]
            if self._started:
                before[0] = self._v
            self._v = v[-1].copy()
        return before
