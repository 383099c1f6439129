"""Many steps of central differences in one compiled loop, where every part is of a compiled kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...contact.compiled import Surface
from .. import energy
from ..central_differences import CompiledParts, parts_of
from ..energy import Sums
from ..step_buffer import Steps


class Block:
    """Makes steps of :class:`.CentralDifferences` in a compiled loop, with the results of ``step``.

    Every part says for itself, in a method ``compiled``, what the loop needs of it or why there is nothing.
    Compiled kinds are: a stored stiffness; forces, energies and obstacles that numba has compiled;
    contacts whose points share no dof, at velocity level or, where flat, at position level; one rank.

    Args:
        integrator: The scheme, started.
        rows: What is recorded.
        balance: The energy balance of the scheme, started before the first :meth:`fill`, or None.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        parts: CompiledParts = parts_of(integrator)
        if balance is not None:
            kernels.ask(balance, "follows its steps one by one")
        forces = parts.forces
        from . import _central_loop as loop

        self._integrator, self._balance, system = integrator, balance, integrator.system
        self._amplitudes = forces.amplitudes
        patterns = np.zeros((0, system.size)) if forces.patterns is None else forces.patterns
        size = system.size
        self._model = loop.LoopModel(
            system.mass,
            system.inverse_mass,
            integrator.dt * system.inverse_mass,
            forces.load,
            np.ascontiguousarray(forces.stiffness),
            forces.pairs,
            forces.block,
            *forces.csr,
            patterns,
            forces.rate,
            system.has_loads,
            system.has_damping,
            system.linear,
            forces.external is not None,
            forces.internal is not None,
            forces.damping is not None,
            forces.energy is not None,
            forces.load.copy(),
            np.zeros(size),
            np.zeros(size),
        )
        self._contact, surface = points_of(parts)
        self._rows = loop.Recorded(rows.dofs, rows.weights)
        functions = [forces.external, forces.internal, forces.damping]
        self._functions = [f or loop.nothing for f in functions]
        self._functions += [forces.energy or loop.no_energy, surface or loop.no_surface]
        self._loop = loop
        self._advance: Callable[..., None] | None = None

    def fill(self, part: Steps, steps: int) -> None:
        """Make ``steps`` steps and keep the state after each in ``part``, from its beginning on."""
        s, balance = self._integrator, self._balance
        state = self._loop.LoopState(s.u, s.v, s.v_before, s.f)
        columns = self._columns(part)
        terms, powers = np.zeros(len(energy.TERMS)), np.zeros(5)
        if balance is not None:
            terms[:], powers[:4] = balance.compiled()
        times = s.t0 + (s.n + 1 + np.arange(steps)) * s.dt
        amplitudes = np.zeros((steps, 0)) if self._amplitudes is None else self._amplitudes(times)
        place = self._loop.CurvedPoint(*np.zeros((2, self._contact.dofs.shape[1])))
        arrays = (
            state,
            self._model,
            self._contact,
            place,
            self._rows,
            part.table,
            columns,
            terms,
            powers,
            np.ascontiguousarray(amplitudes),
        )
        if self._advance is None:
            self._advance = self._loop.compiled_for(*arrays)
        self._advance(steps, s.n, s.t0, s.dt, balance is not None, *arrays, *self._functions)
        part.count, s.n, s.v_force = steps, s.n + steps, s.v_before
        s.r[:], s.r_t[:] = part.r[steps - 1], part.r_t[steps - 1]
        if balance is not None:
            balance.take(Sums(part.energies[steps - 1], powers[:4]))
            balance.pushed = float(powers[4])

    def _columns(self, part: Steps) -> Any:
        """Where the columns of the buffer begin."""
        at, directions = part.first, part.r_t.shape[2] if part.r_t.ndim == 3 else 0
        return self._loop.LoopColumns(
            at["u"], at["v_t"], at["v"], at["gap"], at["r"], at["r_t"], at["energies"], directions
        )


def points_of(parts: CompiledParts) -> tuple[Any, Surface | None]:
    """The contact as arrays, and the surface of a curved obstacle."""
    from . import _central_loop as loop

    if parts.law is None:
        none = np.zeros((0, 1))
        return loop.LoopPoints(
            none.astype(np.int32), none, none, none[:, 0], none[:, 0], False, 0.0, 0.0, 0.0, True, True
        ), None
    contact = parts.law.contact
    if contact.paired:
        raise kernels.NotCompiled("node pairs with friction make their steps one by one")
    return loop.LoopPoints(
        contact.dofs,
        contact.weights,
        contact.x,
        contact.offset,
        parts.diagonal,
        parts.law.at_position,
        contact.restitution,
        contact.gap_tolerance,
        contact.friction,
        contact.touching,
        contact.surface is None,
    ), contact.surface
