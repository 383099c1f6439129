"""The implicit subdomain of HATI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import parallel
from ..._types import AnyArray, FloatArray
from ...algebra import kernels
from ...algebra.sparse_solver import FactorisedSolver
from ...systems.body import Body
from ...systems.compiled import Compiled, compiled_forces
from .interface import Interface

#: Newmark constants beta_I and gamma_I of the implicit subdomain in (61)-(65) of Fekak et al. (2017).
BETA, GAMMA = 0.25, 0.5


@dataclass(frozen=True)
class CompiledImplicit:
    """Data of the implicit subdomain for compiled loops.

    Attributes:
        forces: The forces of the subdomain.
        factors: Those of ``M~``, see :class:`.SymmetricSolver`.
    """

    forces: Compiled
    factors: tuple[AnyArray, ...]


class Implicit:
    """Newmark's method (1/4, 1/2): free and constrained problem, (61)-(65) and (54).

    Fekak et al. (2017), doi:10.1007/s00466-017-1397-0.

    Args:
        system: The implicit subdomain.
        dt: Coarse time step [s].
        interface: The interface.
        mass: ``"lumped"`` or ``"consistent"``; the damping force ``alpha M v`` has the lumped one.

    Attributes:
        u, v, a: Displacements, velocities and accelerations at ``t``, shape (size,) each [m, m/s, m/s2].
        solver: Solver for ``M~`` of (65), the same as in the compiled loop.
        f: Loads minus internal and damping forces of the predicted state, after :meth:`finish` also minus the
            multipliers, shape (size,) [N].
    """

    state_names = ("u", "v", "a")

    def __init__(self, system: Body, dt: float, interface: Interface, mass: str = "lumped") -> None:
        self.system, self.dt, self._at = system, dt, interface.dofs
        self.mass = mass
        self.u, self.v, self.a, self.f = (np.zeros(system.size) for _ in range(4))
        self._scratch = np.zeros(system.size)
        self.solver = self._factorised()
        compliance, influence = interface.compliance(self.solver, system.size)
        self.compliance, self._interface = GAMMA * dt * compliance, interface  # (73)
        #: ``M~^-1 L_I^T`` in the place of the second solve of a step, where that is one of PETSc.
        self._influence = influence if isinstance(self.solver, FactorisedSolver) else None
        self._reach: FloatArray = np.zeros(system.prescribed.dofs.size)

    def _factorised(self) -> Any:
        """Solver for ``M~ = M + gamma DT D + beta DT^2 K``, (65). Collective."""
        system, damped = self.system, GAMMA * self.dt * self.system.damping_rate
        factor, prefix, lumped = BETA * self.dt**2, "impact_hati_", self.mass == "lumped"
        weight = 1 + damped if lumped else 1.0
        # A class that only inherits these factors may have other matrices; see :func:`.kernels.declared`.
        if "loop_solver" in vars(type(system)) and (lumped or damped == 0.0):
            found = system.loop_solver(factor, weight, prefix, self.mass)
            if found is not None:
                return found
        solver = system.implicit_solver(factor, self.mass, mass_factor=weight, prefix=prefix)
        if damped > 0.0 and not lumped:
            diagonal = solver.matrix.getDiagonal()
            diagonal.array[:] += np.where(system.constrained, 0.0, damped * system.mass)
            solver.matrix.setDiagonal(diagonal)
            solver.refactor()
        return solver

    def mass_product(self, x: FloatArray, out: FloatArray) -> None:
        """``M x``, shape (size,). Collective."""
        self.system.mass_product(x, self.mass, out)

    def start(self, u: FloatArray, v: FloatArray, t: float) -> None:
        """Set the state with zero velocity of fixed dofs and the displacement of prescribed motions."""
        system, moved = self.system, self.system.prescribed
        self.u[:], self.v[:] = u, v
        fixed = system.constrained.copy()
        fixed[moved.dofs] = False
        self.v[: system.owned][fixed] = 0.0
        if moved.any:
            self.u[moved.dofs] = moved(t)

    def first_multipliers(self, t: float, explicit: FloatArray, mobility: FloatArray) -> FloatArray:
        """Multipliers with equal accelerations of both copies of the interface dofs. Collective.

        Args:
            t: Initial time [s].
            explicit: Accelerations of the explicit copies without them, shape (q of this rank,) [m/s2].
            mobility: Inverse masses of these, shape (q of this rank,) [1/kg].

        Returns:
            Initial Lambda, shape (q of this rank,) [N].
        """
        system, g = self.system, self._at
        system.force(t, self.u, self.v, self.f)
        if self.mass == "lumped":
            own = system.inverse_mass[g]
            return -(explicit - self.f[g] * own) / (mobility + own)
        # Of use at the start alone.
        self._masses = system.implicit_solver(0.0, self.mass, prefix="impact_hati_mass_")
        if system.prescribed.any:
            self._subtract_inertia(self._first_motion(t))
        self._masses.solve(self.f, self.a)
        compliance, _ = self._interface.compliance(self._masses, system.size)
        both = np.diag(self._interface.gather(mobility)) + compliance
        apart = self._interface.gather(explicit - self.a[g])
        first = -np.linalg.solve(both, apart)[self._interface.mine]
        return np.asarray(first, dtype=np.float64)

    def _first_motion(self, t: float) -> FloatArray:
        """Accelerations of prescribed motions in the first step, shape (moved dofs,) [m/s2]."""
        moved = self.system.prescribed
        increment = moved(t + self.dt) - self.u[moved.dofs] - self.dt * self.v[moved.dofs]
        return np.asarray(2 * increment / self.dt**2, dtype=np.float64)

    def _subtract_inertia(self, accelerations: FloatArray) -> None:
        """``f -= M a`` with the accelerations of prescribed motions, where M is not diagonal. Collective."""
        if self.mass == "lumped":
            return
        x, product = np.zeros((2, self.u.size))
        x[self.system.prescribed.dofs] = accelerations
        self.mass_product(x, product)
        self.f -= product

    def accelerate(self, t: float, multipliers: FloatArray) -> FloatArray:
        """Initial accelerations, and the free velocity ``v + H_I Lambda`` at the interface. Collective.

        At dofs with prescribed motion the acceleration is that constant one which leads to the displacement
        at the end of the first step.

        Args:
            t: Initial time [s].
            multipliers: Initial Lambda, shape (q of this rank,) [N].

        Returns:
            Free velocity, shape (q of this rank,) [m/s].
        """
        system, n, g = self.system, self.system.owned, self._at
        system.force(t, self.u, self.v, self.f)
        self.f[g] -= multipliers
        first = self._first_motion(t) if system.prescribed.any else np.zeros(0)
        if self.mass == "lumped":
            self.a[:n] = system.inverse_mass * self.f[:n]
        else:
            if system.prescribed.any:
                self._subtract_inertia(first)
            self._masses.solve(self.f, self.a)
            del self._masses
        self.a[system.prescribed.dofs] = first
        rows = self.compliance[self._interface.mine]
        return self.v[g] + rows @ self._interface.gather(multipliers)

    def free_velocity(self, t: float) -> FloatArray:
        """Solve the free problem of the step that ends at ``t``. Collective.

        Returns:
            Free velocity at the interface, shape (q of this rank,) [m/s].
        """
        h, moved = self.dt, self.system.prescribed
        self.u += h * self.v + (0.5 - BETA) * h * h * self.a  # (63b)
        self.v += (1 - GAMMA) * h * self.a  # (63a)
        if moved.any:
            target = moved(t)
            self._reach[:] = target - self.u[moved.dofs]
            self.u[moved.dofs] = target
        self.system.force(t, self.u, self.v, self.f)
        if moved.any:
            self._subtract_inertia(np.asarray(self._reach / (BETA * h**2), dtype=np.float64))
        self.solver.solve(self.f, self.a)  # (64a)
        g = self._at
        return self.v[g] + GAMMA * h * self.a[g]  # (61a)

    def finish(self, multipliers: FloatArray) -> None:
        """Solve the constrained problem (54) with the last multipliers and update the state. Collective."""
        h, moved = self.dt, self.system.prescribed
        self.f[self._at] -= multipliers
        if self._influence is None:
            self.solver.solve(self.f, self.a)
        else:
            self.a -= self._influence @ self._interface.gather(multipliers)
        self.u += BETA * h * h * self.a
        if moved.any:
            self.a[moved.dofs] = self._reach / (BETA * h**2)
        self.v += GAMMA * h * self.a

    def compiled(self) -> CompiledImplicit:
        """Forces and factors for compiled loops.

        Raises:
            NotCompiled: The reason of the subdomain or of its solver; a class that changes the step.
        """
        forces = compiled_forces(self.system)
        if self.mass != "lumped":
            raise kernels.NotCompiled("the mass of the implicit subdomain is not diagonal")
        return CompiledImplicit(forces, kernels.ask(self.solver, "is no solver of compiled loops"))

    def state(self) -> dict[str, AnyArray]:
        """Copies of all variables that the next step depends on."""
        return {name: getattr(self, name).copy() for name in self.state_names}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a :meth:`state`, after :meth:`check_state`."""
        for name in self.state_names:
            getattr(self, name)[:] = state[name]

    def check_state(self, state: Mapping[str, AnyArray]) -> None:
        """Raise a ValueError on all ranks unless names and shapes of ``state`` fit. Collective."""
        fits = all(name in state and state[name].shape == self.u.shape for name in self.state_names)
        error = None if fits else ValueError("this is no state of the implicit subdomain")
        parallel.agree(self.system.comm, error)
