"""Many steps of the scheme of Noh and Bathe in one compiled loop, where every part is of a compiled kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..energy import TERMS, Sums
from ..noh_bathe import PART
from ..step_buffer import Steps
from .central import Block


class NohBatheBlock(Block):
    """Makes steps of :class:`.NohBathe` in a compiled loop, of the parts that :class:`.Block` takes."""

    def fill(self, part: Steps, steps: int) -> None:
        """See :meth:`.Block.fill`."""
        from . import _noh_bathe_loop as loop

        s, balance, base = self._integrator, self._balance, self._loop
        inner, last = s.substep_states
        terms = np.zeros(len(TERMS)) if balance is None else balance.compiled().terms.copy()
        size = s.system.size
        parts = np.zeros((3, size)) if balance is None else np.array(balance.compiled().powers).reshape(3, -1)
        row = np.zeros(part.table.shape[1])
        forces, pushed = (parts[0], parts[1], parts[2]), np.zeros(1)
        work = loop.Work(inner.f, s.f_position, np.zeros(size), inner.u, *forces, row, pushed)
        amplitudes = self._signals(s.n, steps)
        arrays = (
            base.LoopState(s.u, s.v, last.v_before, s.f),
            base.LoopState(s.u, s.v_force, last.v_before, s.f),
            self._model,
            self._contact,
            work,
            base.CurvedPoint(*np.zeros((2, self._contact.dofs.shape[1]))),
            self._rows,
            part.table,
            self._columns(part),
            terms,
            amplitudes,
        )
        if self._advance is None:
            self._advance = base.compiled_for(*arrays, loop=loop.advance)
        self._advance(steps, s.n, s.t0, s.dt, balance is not None, *arrays, *self._functions)
        part.count, s.n = steps, s.n + steps
        s.r[:], s.r_t[:] = part.r[steps - 1], part.r_t[steps - 1]
        if balance is not None:
            balance.take(Sums(terms, np.concatenate([work.internal, work.load, work.damped])))
            balance.pushed = float(pushed[0])

    def _signals(self, n: int, steps: int) -> Any:
        """Amplitudes of the loads at the ends of both substeps of the next steps, shape (steps, 2, k)."""
        if self._amplitudes is None:
            return np.zeros((steps, 2, 0))
        s = self._integrator
        ends = s.t0 + (n + 1 + np.arange(steps)) * s.dt
        both = (self._amplitudes(ends - (1 - PART) * s.dt), self._amplitudes(ends))
        return np.ascontiguousarray(np.stack(both, axis=1))
