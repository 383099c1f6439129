"""The step of the theta method for linear systems under constant loads: one matrix, factorised once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._types import AnyArray, FloatArray, IntArray
from ...algebra import kernels
from ...algebra.operators import sparse_rows
from ...systems.compiled import Compiled, compiled_forces
from ...systems.system import System
from ..impulses.contact_laws import CompiledLaw
from ..impulses.delassus import CompiledDelassus, factorised_delassus

#: Dofs up to which the triangular solves are our own, also in compiled loops: for larger matrices those of
#: PETSc's packages are faster (in 3D 1.7 times at 3000 dofs).
OWN_SOLVES = 2000


@dataclass(frozen=True)
class CompiledTheta:
    """Parts of a compiled loop over steps of the theta method.

    Attributes:
        forces: The forces of the system.
        factors: Those of ``M + h^2 theta^2 K``, see :class:`.SymmetricSolver`.
        mass: M in CSR format: indptr, indices, data.
        law: The contact law, or None without contact.
        response: The Delassus operator, or None without contact.
    """

    forces: Compiled
    factors: tuple[AnyArray, ...]
    mass: tuple[IntArray, IntArray, FloatArray]
    law: CompiledLaw | None
    response: CompiledDelassus | None


def theta_solver(system: System, factor: float, mass: str) -> Any:
    """Solver of ``(M + factor K) x = b``: for few dofs that of compiled loops where there is one. Collective.

    Raises:
        ValueError: An unknown mass.
    """
    # A class that only inherits these factors may have other matrices; see :func:`.kernels.declared`.
    if "loop_solver" in vars(type(system)) and system.size <= OWN_SOLVES:
        found = system.loop_solver(factor, 1.0, "impact_theta_", mass)  # type: ignore[attr-defined]
        if found is not None:
            return found
    return system.implicit_solver(factor, mass)


class FactorisedThetaStep:
    """With ``dv = v_{n+1} - v_n``: ``(M + h^2 theta^2 K) dv = h F(u_n + theta h v_n) + L^T r``.

    Di Stasio et al. (2019), (33), with contact by (8).
    That is the theta method; the other formulas of :class:`.OneStepMethod` have their own factor of K,
    position and smooth impulse. The matrix is factorised once. With friction normal and tangential impulses
    are found together, the tangential law on v_{n+1}.

    Args:
        scheme: The :class:`.OneStepMethod`; its system is linear, under constant loads.

    Raises:
        ValueError: An unknown mass.
    """

    def __init__(self, scheme: Any) -> None:
        self._scheme, system = scheme, scheme.system
        factor = scheme.acting_time * scheme.theta * scheme.position_sensitivity
        self._solver = theta_solver(system, factor, scheme.mass)
        self._u, self._f, self._dv = (np.zeros(system.size) for _ in range(3))
        if scheme.contact is not None:
            solver = self._solver if scheme.coupled else theta_solver(system, 0.0, scheme.mass)
            self._response = factorised_delassus(scheme, scheme.impulse_solver(solver))

    def solve(self) -> None:
        """From ``u_before``, ``v_before`` to ``v`` and the impulses of the step. Collective."""
        s = self._scheme
        s.mean_position(self._u)
        s.system.force(s.t, self._u, s.v_before, self._f)
        s.smooth_impulse(self._f)
        self._solver.solve(self._f, self._dv)  # (33) without contact
        s.v += self._dv
        if s.contact is not None:
            impulses = s.enforcement.impulses(s, self._response)  # (8)
            s.set_impulses(impulses)
            self._response.apply(impulses, s.v)  # (33)
            s.take_impulses()

    def update(self) -> None:
        """Move the system to the end of the step."""
        self._scheme.move()

    def force_point(self) -> None:
        """None: the mean of the forces at both ends is the force at the mean."""

    def reactions(self) -> FloatArray:
        """No dof has a prescribed motion, shape (0,) [N]."""
        return np.zeros(0)

    def compiled(self) -> CompiledTheta:
        """Forces, factors, contact law and response for compiled loops.

        Raises:
            NotCompiled: The reason of one of them.
        """
        s = self._scheme
        forces = compiled_forces(s.system)
        if forces.functions or forces.signals or forces.rate:
            raise kernels.NotCompiled("the system has forces beside a stored stiffness and constant loads")
        kernels.declared(s.system, "loop_solver")
        factors = kernels.ask(self._solver, "is no solver of compiled loops")
        mass = _mass_rows(s.system, s.mass)
        if s.contact is None:
            return CompiledTheta(forces, factors, mass, None, None)
        law: CompiledLaw = kernels.ask(s.enforcement, "is no contact law of the compiled loop")
        return CompiledTheta(forces, factors, mass, law, kernels.ask(self._response, "has no compiled form"))


def _mass_rows(system: Any, mass: str) -> tuple[IntArray, IntArray, FloatArray]:
    """M on one rank, in CSR format."""
    if mass == "lumped":
        return sparse_rows(sparse.diags(system.mass).tocsr())
    start, columns, values = system.matrices.mass(mass).getValuesCSR()
    matrix = sparse.csr_matrix((values, columns, start))
    matrix.eliminate_zeros()  # between directions
    return sparse_rows(matrix)
