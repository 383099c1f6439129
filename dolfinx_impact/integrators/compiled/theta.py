"""Many steps of the theta method in one compiled loop, for linear systems under constant loads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...algebra import kernels
from ...algebra.complementarity import COMPILED_POINTS
from ...algebra.operators import SparseRows, sparse_rows
from ...systems.compiled import Compiled
from .. import energy
from ..central_differences import CompiledParts
from ..energy import Sums
from ..step_buffer import Steps
from ..theta_linear import CompiledTheta


class ThetaBlock:
    """Makes steps of :class:`.ThetaMethod` in a compiled loop, with the results of ``step``.

    Compiled kinds are: a stored stiffness under constant loads whose factors are those of
    :class:`.SymmetricSolver`; flat contacts without friction whose points share no dof; one rank. Points that
    act on each other are solved for together. Steps whose contact problem has more closed points than
    :data:`.complementarity.COMPILED_POINTS`, or no regular operator, are made by ``step``.

    Args:
        integrator: The :class:`.ThetaMethod`, started.
        rows: What is recorded.
        balance: The energy balance of the scheme, started before the first :meth:`fill`, or None.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        parts: CompiledTheta = kernels.ask(integrator.step_solver, "makes its steps one by one")
        if balance is not None:
            kernels.ask(balance, "follows its steps one by one")
        from . import _theta_loop as loop
        from ._central_loop import Recorded
        from .central import points_of

        self._loop, self._integrator, self._balance = loop, integrator, balance
        size, forces, response = integrator.system.size, parts.forces, parts.response
        H = np.zeros((0, 0)) if response is None else np.ascontiguousarray(response.H)
        self._contact, _ = points_of(CompiledParts(forces, parts.law, np.diag(H).copy()))
        self._model = loop.ThetaModel(
            forces.load,
            _stiffness(forces),
            parts.factors,
            parts.factors if response is None else response.factors,
            *parts.mass,
            *np.zeros((5, size)),
        )
        most = min(len(H), COMPILED_POINTS)
        self._problem = loop.ContactProblem(
            H,
            np.zeros(most, dtype=np.int64),
            np.zeros(most),
            np.zeros((most, most)),
            np.zeros(most),
            np.zeros(most, dtype=bool),
            np.zeros((most, most)),
            np.zeros(most),
        )
        self._rows = Recorded(rows.dofs, rows.weights)

    def fill(self, part: Steps, steps: int) -> None:
        """Make ``steps`` steps and keep the state after each in ``part``, from its beginning on."""
        part.count = 0
        while part.count < steps:
            self._run(part, steps - part.count)
            if part.count < steps:
                self._integrator.step()
                if self._balance is not None:
                    self._balance.step()
                part.append()

    def _run(self, part: Steps, steps: int) -> None:
        """Make up to ``steps`` steps in the loop; fewer where it does not solve a contact problem."""
        from ._central_loop import LoopColumns

        s, balance, first, loop = self._integrator, self._balance, part.first, self._loop
        columns = LoopColumns(
            first["u"], first["v_t"], first["v"], first["gap"], first["r"], first["r_t"], first["energies"], 0
        )
        terms = np.zeros(len(energy.TERMS)) if balance is None else balance.compiled().terms
        made = loop.advance(
            steps,
            s.n,
            s.t0,
            s.dt,
            s.theta,
            s.forecast,
            balance is not None,
            loop.ThetaState(s.u, s.v, s.u_before, s.v_before),
            self._model,
            self._contact,
            self._problem,
            self._rows,
            part.table[part.count :],
            columns,
            terms,
        )
        part.count, s.n = part.count + made, s.n + made
        if made:
            s.r[:] = part.r[part.count - 1]
            if balance is not None:
                balance.take(Sums(terms, np.zeros(0)))


def _stiffness(forces: Compiled) -> Any:
    """The stored stiffness: blocks by pairs of nodes, or rows; those of a dense one without zeros."""
    from ._shared import Stiffness

    rows = forces.csr
    if forces.block == 0 and not rows[0].size:
        size = forces.load.size
        dense = forces.stiffness if forces.stiffness.size else np.zeros((size, size))
        rows = sparse_rows(sparse.csr_matrix(dense))
    return Stiffness(forces.block, forces.pairs, *rows)
