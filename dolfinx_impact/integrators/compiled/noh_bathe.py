"""Many steps of the scheme of Noh and Bathe in one compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra.operators import SparseRows
from ..central.noh_bathe_formulas import PART
from ..energy import Sums
from ..step_buffer import Steps
from ._arrays import Energies, LoopModel, LoopState
from .central import CentralLoop
from .loop import signals


class NohBatheLoop(CentralLoop):
    """Makes steps of :class:`.NohBathe`, of the parts that :class:`.CentralLoop` takes."""

    shift = 0.0

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        super().__init__(integrator, rows, balance)
        size = integrator.system.size
        self._forces_at_start = np.zeros((3, size))
        self._impulse, self._pushed, self._row = np.zeros(size), np.zeros(1), np.zeros(0)

    def advance(self) -> Callable[..., int]:
        """See :meth:`.Loop.advance`."""
        from . import _noh_bathe_loop

        return _noh_bathe_loop.advance

    def state(self) -> Any:
        """See :meth:`.Loop.state`."""
        from ._noh_bathe_loop import Substeps

        s = self.integrator
        (inner, last), (internal, load, damped) = s.substep_states, self._forces_at_start
        self._pushed[:] = 0.0
        return Substeps(
            LoopState(s.u, s.v, last.v_before, s.f),
            LoopState(s.u, s.v_force, last.v_before, s.f),
            inner.f,
            s.f_position,
            self._impulse,
            inner.u,
            internal,
            load,
            damped,
            self._row,
            self._pushed,
        )

    def model_for(self, steps: int) -> LoopModel:
        """With the signals at the ends of both substeps."""
        s = self.integrator
        ends = s.t0 + (s.n + 1 + np.arange(steps)) * s.dt
        both = (signals(self.forces, ends - (1 - PART) * s.dt), signals(self.forces, ends))
        model: LoopModel = self.model._replace(amplitudes=np.ascontiguousarray(np.stack(both, axis=1)))
        return model

    def sums(self) -> Sums:
        """The powers are the forces at the start, which the loop has among its arrays."""
        sums = super(CentralLoop, self).sums()
        if sums.powers.size:
            self._forces_at_start[:] = sums.powers.reshape(3, -1)
        return Sums(sums.terms, np.zeros(0))

    def take(self, energies: Energies, pushed: FloatArray) -> None:
        """See :meth:`.Loop.take`."""
        self.balance.take(Sums(energies.terms, self._forces_at_start.ravel().copy()))
        pushed[0] = self._pushed[0]

    def finish(self) -> None:
        """Nothing: the arrays are those of the integrator."""

    def fill(self, part: Steps, steps: int) -> None:
        """See :meth:`.Loop.fill`."""
        if self._row.size != part.table.shape[1]:
            self._row = np.zeros(part.table.shape[1])
        super().fill(part, steps)
