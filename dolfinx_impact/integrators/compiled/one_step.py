"""Many steps of one-step methods in one compiled loop, for linear systems under constant loads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..._types import FloatArray
from ...algebra import kernels
from ...algebra.complementarity import COMPILED_POINTS
from ...algebra.operators import SparseRows, sparse_rows
from ...systems.compiled import Compiled
from ..one_step.theta_linear import CompiledTheta
from .loop import Loop, functions_of, points_of
from .parts import CompiledParts


class ThetaLoop(Loop):
    """Makes steps of :class:`.ThetaMethod`; see :class:`.Loop`.

    Compiled kinds are: a stored stiffness under constant loads whose factors are those of
    :class:`.SymmetricSolver`; flat contacts without friction whose points share no dof; one rank. Points that
    act on each other are solved for together. Steps whose contact problem has more closed points than
    :data:`.complementarity.COMPILED_POINTS`, or no regular operator, are made by ``step``.
    """

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        if not integrator.system.steady:
            raise kernels.NotCompiled(
                "the system is not linear under constant loads, its steps take Newton iterations"
            )
        parts: CompiledTheta = kernels.ask(integrator.step_solver, "makes its steps one by one")
        super().__init__(integrator, rows, balance)
        from ._one_step_loop import OneStepModel

        H = np.zeros((0, 0)) if parts.response is None else np.ascontiguousarray(parts.response.H)
        self.contact, _ = points_of(CompiledParts(parts.forces, parts.law, np.diag(H).copy()))
        self.functions = functions_of(parts.forces)
        size, (mass_factors, direct) = integrator.system.size, self.mass_factors(parts)
        self.model = OneStepModel(
            parts.forces.load,
            _stiffness(parts.forces),
            parts.factors,
            mass_factors,
            direct,
            parts.mass,
            *np.zeros((5, size)),
        )
        self.problem = contact_problem(H)

    def mass_factors(self, parts: CompiledTheta) -> tuple[Any, float]:
        """Factors by which impulses act through M alone, and the part of them that does."""
        if self.integrator.coupled or parts.response is None:
            return parts.factors, 0.0
        return parts.response.factors, 1.0

    def advance(self) -> Callable[..., int]:
        """See :meth:`.Loop.advance`."""
        from . import _theta_loop

        return _theta_loop.advance

    def state(self) -> Any:
        """See :meth:`.Loop.state`."""
        from ._theta_loop import ThetaState

        s = self.integrator
        return ThetaState(s.theta, s.forecast, s.u, s.v, s.u_before, s.v_before, self.problem)


class AlphaLoop(ThetaLoop):
    """Makes steps of :class:`.GeneralizedAlpha`, of the parts that :class:`ThetaLoop` takes."""

    def mass_factors(self, parts: CompiledTheta) -> tuple[Any, float]:
        """See :meth:`ThetaLoop.mass_factors`."""
        return kernels.ask(
            self.integrator.mass_solver, "is no solver of compiled loops"
        ), self.integrator.direct

    def advance(self) -> Callable[..., int]:
        """See :meth:`.Loop.advance`."""
        from . import _alpha_loop

        return _alpha_loop.advance

    def state(self) -> Any:
        """See :meth:`.Loop.state`."""
        from ._alpha_loop import AlphaConstants, AlphaState

        s = self.integrator
        constants = AlphaConstants(
            s.theta,
            s.forecast,
            s.gamma,
            s.acting_time,
            s.memory,
            s.position_sensitivity,
            s.dt**2 * (s.beta / s.gamma - 0.5),
        )
        before = (s.u_before, s.v_before)
        return AlphaState(constants, s.u, s.v, *before, s.a, s.w, s.predicted, s.remembered, self.problem)

    def finish(self) -> None:
        """The velocities of direct impulses are those of the last step."""
        self.integrator.direct_velocity = self.integrator.direct * self.integrator.w


def _stiffness(forces: Compiled) -> Any:
    """The stored stiffness: blocks by pairs of nodes, or rows; those of a dense one without zeros."""
    from ._shared import Stiffness

    rows = forces.csr
    if forces.block == 0 and not rows[0].size:
        size = forces.load.size
        dense = forces.stiffness if forces.stiffness.size else np.zeros((size, size))
        rows = sparse_rows(sparse.csr_matrix(dense))
    return Stiffness(forces.block, forces.pairs, *rows)


def contact_problem(H: FloatArray) -> Any:
    """H of all points, and room for the closed ones."""
    from ._one_step_loop import ContactProblem

    most = min(len(H), COMPILED_POINTS)
    return ContactProblem(
        H,
        np.zeros(most, dtype=np.int64),
        np.zeros(most),
        np.zeros((most, most)),
        np.zeros(most),
        np.zeros(most, dtype=bool),
        np.zeros((most, most)),
        np.zeros(most),
    )
