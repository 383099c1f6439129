"""Many steps of the theta method by Newton's method in one compiled loop, for small nonlinear systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ..energy import Sums
from ..step_buffer import Steps
from ._arrays import Energies, LoopState
from .loop import Loop, functions_of, model_of, points_of
from .parts import CompiledParts


class NewtonLoop(Loop):
    """Makes steps of :class:`.ThetaMethod` in which no point of contact is closed; see :class:`.Loop`.

    Compiled kinds are: forces and obstacles that numba has compiled, of few dofs; contacts whose points share
    no dof, through whose obstacles nothing can pass; one rank. Steps with an impulse, or whose corrections
    must be shortened, are made by ``step``.
    """

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        parts: CompiledParts = kernels.ask(integrator.step_solver, "makes its steps one by one")
        super().__init__(integrator, rows, balance)
        from ._newton_loop import NewtonModel

        system, k = integrator.system, integrator.system.size
        first, rest, x, end = np.zeros((4, k))
        self._pushed = np.zeros(0)
        self.contact, surface = points_of(parts)
        self.functions = functions_of(parts.forces, surface)
        self.model = NewtonModel(
            model_of(integrator, parts.forces),
            system.length,
            np.zeros(0),
            LoopState(*np.zeros((4, k))),
            first,
            rest,
            x,
            end,
            np.zeros((k, k)),
            np.zeros((3, 3, k)),
        )

    def advance(self) -> Callable[..., int]:
        """See :meth:`.Loop.advance`."""
        from . import _newton_loop

        return _newton_loop.advance

    def state(self) -> Any:
        """See :meth:`.Loop.state`."""
        from ._newton_loop import NewtonState

        s = self.integrator
        return NewtonState(s.theta, s.forecast, s.midpoint, s.u, s.v, s.u_before, s.v_before)

    def fill(self, part: Steps, steps: int) -> None:
        """See :meth:`.Loop.fill`."""
        if self._pushed.size < steps:
            self._pushed = np.zeros(steps)
        super().fill(part, steps)

    def sums(self) -> Sums:
        """With the work of damping in each step, where it pushes, as powers."""
        return Sums(super().sums().terms, self._pushed)

    def take(self, energies: Energies, pushed: FloatArray) -> None:
        """See :meth:`.Loop.take`."""
        self.balance.take(Sums(energies.terms, np.zeros(0)))
        pushed[:] = self._pushed[: pushed.size]
