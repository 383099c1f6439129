"""The implicit subdomain of HATI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ... import parallel
from ..._types import AnyArray, FloatArray
from ...algebra import kernels
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
    """Newmark's method (1/4, 1/2) with lumped mass: free and constrained problem, (61)-(65) and (54).

    Fekak et al. (2017), doi:10.1007/s00466-017-1397-0.

    Args:
        system: The implicit subdomain.
        dt: Coarse time step [s].
        interface: The interface.

    Attributes:
        u, v, a: Displacements, velocities and accelerations at ``t``, shape (size,) each [m, m/s, m/s2].
        solver: Solver for ``M~`` of (65), the same as in the compiled loop.
        f: Loads minus internal and damping forces of the predicted state, after :meth:`finish` also minus the
            multipliers, shape (size,) [N].
    """

    state_names = ("u", "v", "a")

    def __init__(self, system: Body, dt: float, interface: Interface) -> None:
        self.system, self.dt, self._at = system, dt, interface.dofs
        self.u, self.v, self.a, self.f = (np.zeros(system.size) for _ in range(4))
        self._scratch = np.zeros(system.size)
        weight = 1 + GAMMA * dt * system.damping_rate
        factor, prefix = BETA * dt * dt, "impact_hati_"  # M~ = weight M + factor K, (65)
        self.solver = system.loop_solver(factor, weight, prefix) or system.implicit_solver(
            factor, "lumped", mass_factor=weight, prefix=prefix
        )
        compliance = GAMMA * dt * interface.compliance(self.solver, system.size)  # (73)
        self.compliance, self._interface = compliance, interface
        self._reach: FloatArray = np.zeros(system.prescribed.dofs.size)

    def start(self, u: FloatArray, v: FloatArray, t: float) -> None:
        """Set the state with zero velocity of fixed dofs and the displacement of prescribed motions."""
        system, moved = self.system, self.system.prescribed
        self.u[:], self.v[:] = u, v
        fixed = system.constrained.copy()
        fixed[moved.dofs] = False
        self.v[: system.owned][fixed] = 0.0
        if moved.any:
            self.u[moved.dofs] = moved(t)

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
        self.a[:n] = system.inverse_mass * self.f[:n]
        moved = system.prescribed
        if moved.any:
            increment = moved(t + self.dt) - self.u[moved.dofs] - self.dt * self.v[moved.dofs]
            self.a[moved.dofs] = 2 * increment / self.dt**2
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
        self.solver.solve(self.f, self.a)  # (64a)
        g = self._at
        return self.v[g] + GAMMA * h * self.a[g]  # (61a)

    def finish(self, multipliers: FloatArray) -> None:
        """Solve the constrained problem (54) with the last multipliers and update the state. Collective."""
        h, moved = self.dt, self.system.prescribed
        self.f[self._at] -= multipliers
        self.solver.solve(self.f, self.a)
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
        if kernels.overridden(self, ("free_velocity", "finish")) is not None:
            raise kernels.NotCompiled(f"{type(self).__name__} makes its steps one by one")
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
