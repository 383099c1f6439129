"""The step of the theta method for linear systems under constant loads: one matrix, factorised once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from .delassus import factorised_delassus


class FactorisedThetaStep:
    """With ``dv = v_{n+1} - v_n``: ``(M + h^2 theta^2 K) dv = h F(u_n + theta h v_n) + L^T r``.

    The matrix is factorised once. With friction normal and tangential impulses are found together, the
    tangential law on v_{n+1}.

    Args:
        scheme: The :class:`.ThetaMethod`; its system is linear, under constant loads.

    Raises:
        ValueError: An unknown mass.
    """

    def __init__(self, scheme: Any) -> None:
        self._scheme, system = scheme, scheme.system
        self._solver = system.implicit_solver((scheme.theta * scheme.dt) ** 2, scheme.mass)
        self._u, self._f, self._dv = (np.zeros(system.size) for _ in range(3))
        if scheme.contact is not None:
            solver = self._solver if scheme.coupled else system.implicit_solver(0.0, scheme.mass)
            self._response = factorised_delassus(scheme, solver)

    def solve(self) -> None:
        """From ``u_before``, ``v_before`` to ``v`` and the impulses of the step. Collective."""
        s = self._scheme
        np.multiply(s.v_before, s.theta * s.dt, out=self._u)
        self._u += s.u_before
        s.system.force(s.t, self._u, s.v_before, self._f)
        self._f *= s.dt
        self._solver.solve(self._f, self._dv)
        s.v += self._dv
        if s.contact is not None:
            s.r[:] = s.enforcement.impulses(s, self._response)
            self._response.apply_impulse(s.r, s.v)

    def update(self) -> None:
        """``u_{n+1} = u_n + h [(1-theta) v_n + theta v_{n+1}]``."""
        s = self._scheme
        for weight, v in ((1 - s.theta, s.v_before), (s.theta, s.v)):
            np.multiply(v, weight * s.dt, out=self._dv)
            s.u += self._dv

    def force_point(self) -> None:
        """None: the mean of the forces at both ends is the force at the mean."""

    def reactions(self) -> FloatArray:
        """No dof has a prescribed motion, shape (0,) [N]."""
        return np.zeros(0)
