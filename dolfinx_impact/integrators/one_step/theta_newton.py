"""The step of the theta method for any smooth force: Newton's method, contact inside the iteration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra import complementarity, kernels
from ...algebra.dense_solver import DenseTangent
from ...algebra.sparse_solver import LinearSolverFailed
from ...systems.compiled import compiled_forces
from ..compiled.parts import CompiledParts
from ..impulses.delassus import FactorisedDelassus, factorised_delassus
from ..impulses.delassus_lumped import lumped_delassus
from .step_equation import MOST, NEGLIGIBLE, PATIENCE, ROUNDING, SHORTEST, SQUARED, TOLERANCE, StepEquation

#: Dofs up to which steps may be made in a compiled loop: each iteration takes four forces for each dof there.
MOST_DOFS = 32


class NewtonThetaStep(StepEquation):
    """``M (v - v_n) = h F_theta + L^T r`` by Newton's method; Di Stasio et al. (2019), (33), midpoint (38).

    That is the theta method; the other formulas of :class:`.OneStepMethod` have their own smooth impulse,
    position and, with direct impulses, response. In every iteration the impulses belong to its final
    velocity: ``H = L A^-1 L^T`` with ``A = M - h theta dF/dv - h^2 theta^2 dF/du``. With friction
    ``L = [L_N; L_T]``: normal and tangential impulses are found together, the tangential law on v_{n+1},
    (42). A correction of v that does not reduce the residual of the equation of motion under the new impulses
    is halved until it does; the last one is always taken whole, so that contact laws hold exactly.

    Args:
        scheme: The :class:`.OneStepMethod`; its system has known tangents.

    Raises:
        ValueError: Prescribed motion with theta = 0; a decoupled step with a mass that is not lumped.
        NotConverged: (by ``solve``) when the velocity is not found to 1e-12 of its size.
    """

    def __init__(self, scheme: Any) -> None:
        super().__init__(scheme)
        self._response: FactorisedDelassus | None = None
        if scheme.contact is not None and scheme.coupled:
            solver = scheme.impulse_solver(self._solver)
            self._response = factorised_delassus(scheme, solver, symmetric=self._solver.symmetric)
        elif scheme.contact is not None and scheme.mass != "lumped":
            raise ValueError("the impulse of a decoupled step acts through the lumped mass: mass='lumped'")

    def solve(self) -> None:
        """From ``u_before``, ``v_before`` to ``v`` and the impulses of the step. Collective."""
        s, n = self._scheme, self._scheme.system.owned
        self.begin()
        # With exact tangents the next correction would be of the order of the square of this one.
        enough = SQUARED if self._solver.exact else ROUNDING
        for s.iterations in range(1, MOST + 1):
            before, given = s.v.copy(), s.direct_velocity
            whole = self.iterate()
            size = self._size(s.v)
            # Where contact keeps the velocity, the direct part of the impulses still moves the position.
            moved = self._largest(np.abs(np.atleast_1d(s.direct_velocity - given)))
            change = max(self._largest(np.abs(s.v[:n] - before[:n])), moved)
            accepted = max(TOLERANCE * size, self._round_off())
            if not whole:
                continue
            # Of direct impulses the tangent leaves out what they do to forces that depend on the velocity.
            exact = not (s.direct > 0 and self._largest(np.abs(s.r)) > 0)
            late = s.iterations > PATIENCE or not exact
            if exact and change <= enough * size or late and change <= accepted:
                break
        else:
            raise complementarity.NotConverged(
                f"Newton did not find the velocity at t = {s.t:.6g} s: the last of {MOST} corrections "
                f"is {change:.3g} m/s; take a smaller time step"
            )
        if s.contact is not None and not s.coupled:
            self._add_decoupled_impulse()

    def update(self) -> None:
        """Move the system to the end of the step."""
        self._scheme.move()

    def compiled(self) -> CompiledParts:
        """Forces and contact law for compiled loops, whose steps have no impulse: the diagonal of H is zero.

        Raises:
            NotCompiled: Tangents of a body; many dofs; a thin obstacle; the reason of a part.
        """
        s, contact, size = self._scheme, self._scheme.contact, self._scheme.system.size
        if not isinstance(self._solver, DenseTangent):
            raise kernels.NotCompiled("the system is not linear, and its tangents are sparse")
        if size > MOST_DOFS:
            raise kernels.NotCompiled(
                f"{size} dofs are many for Newton's method in a loop: {MOST_DOFS} at most"
            )
        forces = compiled_forces(s.system)
        if contact is None:
            return CompiledParts(forces, None, np.zeros(0))
        if contact.thickness < math.inf:
            raise kernels.NotCompiled("the obstacle is thin: every step looks whether points have passed it")
        law = kernels.ask(s.enforcement, "is no contact law of the compiled loop")
        return CompiledParts(forces, law, np.zeros(len(law.contact.dofs)))

    def iterate(self) -> bool:
        """One Newton iteration with a line search.

        Returns:
            Whether the whole correction was taken.
        """
        s, n, v = self._scheme, self._scheme.system.owned, self._scheme.v - self._scheme.direct_velocity
        self._solve_linearised()
        v += s.direct_velocity
        end, small = s.v.copy(), NEGLIGIBLE * self._size(v) + 10 * self._round_off()
        part = self._shorten(v, self._largest(np.abs(end[:n] - v[:n])) <= small)
        if SHORTEST <= part < 1:
            return False
        if part < 1:
            self._take_whole(end)
        return True

    def reactions(self) -> FloatArray:
        """See :meth:`.Integrator.reactions`: means over the last step, 0 before the first."""
        s = self._scheme
        reactions: FloatArray = self._reactions - s.moved_impulses(s.impulses) / s.h
        return reactions

    def _solve_linearised(self) -> None:
        """Velocity and impulses of the step linearised at the present velocity."""
        s, n, weight = self._scheme, self._scheme.system.owned, self._scheme.acting_time * self._scheme.theta
        try:
            self._solver.update(*self.force_point(), weight, weight * s.position_sensitivity)  # (33) or (38)
            self._add_direct(-s.direct)
            self._solver.solve(self._rest, self._x)
            s.v[:n] -= self._x[:n]
            s.v -= s.direct_velocity
            if self._response is not None:
                self._response.forget()
                impulses = s.enforcement.impulses(s, self._response)  # (8)
                s.set_impulses(impulses)
                self._response.apply(impulses, s.v)
                s.take_impulses()
            self._add_direct(s.direct)
        except (LinearSolverFailed, complementarity.NotConverged) as error:
            raise complementarity.NotConverged(
                f"the time step {s.h:.6g} s is too large for Newton's iteration at t = {s.t:.6g} s, which "
                f"finds no correction ({error}): take a smaller time step"
            ) from None

    def _add_direct(self, part: float) -> None:
        """Add a part of the impulses, which direct ones are in the residual, to it."""
        if part != 0.0 and self._response is not None:
            self._rest += part * self._impulses()

    def _impulses(self) -> FloatArray:
        """``L^T r`` with friction, shape (size,) [N s]; overwritten by the next call."""
        s = self._scheme
        self._x[:] = 0.0
        if s.contact is not None and s.coupled:
            s.impulses.add_to(self._x)
        return self._x

    def _add_decoupled_impulse(self) -> None:
        """``v += M^-1 L^T r`` with the impulses of the velocity without contact, H = L M^-1 L^T."""
        s, response = self._scheme, lumped_delassus(self._scheme)
        impulses = s.enforcement.impulses(s, response)
        s.set_impulses(impulses)
        response.apply(impulses, s.v)
