"""Many steps of central differences in one compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra.operators import SparseRows
from ..energy import Sums
from ._arrays import Energies, LoopModel, LoopState
from .loop import Loop, functions_of, model_of, points_of, signals
from .parts import parts_of


class CentralLoop(Loop):
    """Makes steps of :class:`.CentralDifferences`; see :class:`.Loop`.

    Compiled kinds are: a stored stiffness; forces, energies and obstacles that numba has compiled;
    contacts whose points share no dof, at velocity level or, where flat, at position level; one rank.
    """

    shift = 0.5

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        parts = parts_of(integrator)
        super().__init__(integrator, rows, balance)
        self.forces, self.model = parts.forces, model_of(integrator, parts.forces)
        self.contact, surface = points_of(parts)
        self.functions = functions_of(parts.forces, surface)

    def advance(self) -> Callable[..., int]:
        """See :meth:`.Loop.advance`."""
        from . import _central_loop

        return _central_loop.advance

    def state(self) -> LoopState:
        """See :meth:`.Loop.state`."""
        s = self.integrator
        return LoopState(s.u, s.v, s.v_before, s.f)

    def model_for(self, steps: int) -> LoopModel:
        """With the signals at the ends of the steps."""
        s = self.integrator
        times = s.t0 + (s.n + 1 + np.arange(steps)) * s.dt
        model: LoopModel = self.model._replace(amplitudes=signals(self.forces, times))
        return model

    def sums(self) -> Sums:
        """With the work of damping where it pushes, behind the powers."""
        terms, powers = super().sums()
        return Sums(terms, np.append(powers if powers.size else np.zeros(4), 0.0))

    def take(self, energies: Energies, pushed: FloatArray) -> None:
        """See :meth:`.Loop.take`."""
        self.balance.take(Sums(energies.terms, energies.powers[:-1]))
        pushed[0] = energies.powers[-1]

    def finish(self) -> None:
        """The velocities of the forces are those half a step before."""
        self.integrator.v_force = self.integrator.v_before
