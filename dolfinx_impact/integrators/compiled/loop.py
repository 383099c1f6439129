"""Many steps of a scheme in one compiled loop, where every part is of a compiled kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...contact.compiled import Surface
from ...systems.compiled import Compiled
from .. import energy
from ..energy import Sums
from ..step_buffer import Steps
from ._arrays import Clock, CurvedPoint, Energies, LoopColumns, LoopModel, LoopPoints, Record
from .parts import CompiledParts


class Loop(ABC):
    """Makes steps of a scheme in a compiled loop, with the results of ``step``.

    Every part says for itself, in a method ``compiled``, what the loop needs of it or why there is nothing. A
    class derived from this one gives arrays to its ``advance``, which makes all steps, or as many as it can:
    the next one is then made by ``step``.

    Args:
        integrator: The scheme, started.
        rows: What is recorded.
        balance: The energy balance of the scheme, started before the first :meth:`fill`, or None.

    Attributes:
        model, contact: The system and the contact as arrays.
        functions: Compiled forces, energy and surface.

    Raises:
        NotCompiled: A part of another kind; the message names it.
    """

    #: ``v`` is recorded at ``t + shift h``.
    shift = 0.0
    model: Any
    contact: Any
    functions: tuple[Callable[..., Any], ...]

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        if balance is not None:
            kernels.ask(balance, "follows its steps one by one")
        self.integrator, self.balance, self._rows = integrator, balance, rows
        self._compiled: Callable[..., int] | None = None
        self._error: Exception | None = None
        #: Whether a function has raised an error in the steps of the present call.
        self._raises = False

    @abstractmethod
    def advance(self) -> Callable[..., int]:
        """The function of all steps, not compiled."""

    @abstractmethod
    def state(self) -> Any:
        """Arrays of the scheme, which the loop advances."""

    def model_for(self, steps: int) -> Any:
        """The system in the next steps."""
        return self.model

    def sums(self) -> Sums:
        """What the balance gives to the loop; zeros without one."""
        if self.balance is None:
            return Sums(np.zeros(len(energy.TERMS)), np.zeros(0))
        sums: Sums = self.balance.compiled()
        return sums

    def take(self, energies: Energies, pushed: FloatArray) -> None:
        """Give the sums back to the balance.

        Args:
            energies: The sums.
            pushed: That of :class:`.Steps` in the steps made, zeros; to be written.
        """
        self.balance.take(Sums(energies.terms, energies.powers))

    def finish(self) -> None:  # noqa: B027
        """Set what the integrator has beside the arrays of the loop; by default nothing."""

    def fill(self, part: Steps, steps: int) -> None:
        """See :meth:`.CompiledLoop.fill`."""
        part.count, part.pushed[:], self._raises = 0, 0.0, False
        if self._error is not None:
            raise self._error
        while part.count < steps:
            self._make(part, steps - part.count)
            if part.count < steps:
                if not self._step(part.count):
                    return
                if self.balance is not None:
                    self.balance.step()
                    part.pushed[part.count] = max(self.balance.pushed, 0.0)
                part.append()

    def _step(self, made: int) -> bool:
        """One step without the loop; whether it succeeds. An error behind steps made is kept for later."""
        s = self.integrator
        n = s.n
        try:
            s.step()
        except Exception as error:
            if made == 0:
                raise
            self._error, s.n = error, n  # the steps before may tell more: of an energy that explodes
            return False
        return True

    def _make(self, part: Steps, steps: int) -> None:
        """Make up to ``steps`` steps in the loop; none after an error of a function, which ``step`` meets."""
        from ._functions import calls_functions, loop_for

        if self._raises:
            return
        s, sums, first = self.integrator, self.sums(), part.count
        energies = Energies(self.balance is not None, sums.terms, sums.powers)
        arrays = (
            Clock(s.n, s.t0, s.dt, self.shift),
            self.state(),
            self.model_for(steps),
            self.contact,
            Record(part.table[part.count :], columns_of(part), self._rows.dofs, self._rows.weights),
            energies,
        )
        if self._compiled is None:
            self._compiled = loop_for(self.advance(), *arrays)
        # Only a function of the user may raise: bodies of a million dofs need no copies.
        mine = _arrays_of(arrays[1]) if calls_functions(self.functions) else []
        before = [each.copy() for each in mine]
        try:
            made = self._compiled(steps, *arrays, self.functions)
        except Exception:
            for each, values in zip(mine, before):
                each[...] = values
            self._raises = True
            return
        part.count, s.n = part.count + made, s.n + made
        if made:
            if np.isnan(part.gap[first : part.count]).any() and np.isfinite(s.u).all():
                _refuse_unknown_gap(part, first)
            s.r[:], s.r_t[...] = part.r[part.count - 1], part.r_t[part.count - 1]
            self.finish()
            if self.balance is not None:
                self.take(energies, part.pushed[first : part.count])


def _arrays_of(state: Any) -> list[FloatArray]:
    """The arrays in a tuple and in the tuples in it."""
    if isinstance(state, tuple):
        return [each for member in state for each in _arrays_of(member)]
    return [state] if isinstance(state, np.ndarray) else []


def _refuse_unknown_gap(part: Steps, first: int) -> None:
    """Raise a ValueError for the first gap that is NaN, from row ``first`` on."""
    t = part.t[first + int(np.isnan(part.gap[first : part.count]).any(axis=1).argmax())]
    raise ValueError(f"the gap of the obstacle is NaN at t = {t:.6g} s: a body may pass there")


def columns_of(part: Steps) -> LoopColumns:
    """Where the columns of the buffer begin."""
    at, directions = part.first, part.r_t.shape[2] if part.r_t.ndim == 3 else 0
    names = ("u", "v_t", "v", "gap", "r", "r_t", "energies")
    return LoopColumns._make([*(at[name] for name in names), directions])


def functions_of(forces: Compiled, surface: Surface | None = None) -> tuple[Callable[..., Any], ...]:
    """External, internal and damping forces, energy and surface; functions that do nothing for none.

    Raises:
        NotCompiled: One that a loop cannot call.
    """
    from ._functions import no_energy, no_surface, nothing, refuse_other_signatures

    given = (forces.external, forces.internal, forces.damping)
    found = *(f or nothing for f in given), forces.energy or no_energy, surface or no_surface
    refuse_other_signatures(found)
    return found


def model_of(integrator: Any, forces: Compiled) -> LoopModel:
    """The system of an explicit scheme as arrays."""
    system = integrator.system
    size = system.size
    return LoopModel(
        system.mass,
        system.inverse_mass,
        integrator.dt * system.inverse_mass,
        forces.load,
        np.ascontiguousarray(forces.stiffness),
        forces.pairs,
        forces.block,
        forces.csr,
        np.zeros((0, size)) if forces.patterns is None else forces.patterns,
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
        np.zeros((0, 0)),
    )


def signals(forces: Compiled, times: FloatArray) -> FloatArray:
    """Amplitudes of the loads at these times, shape (n, k)."""
    if forces.amplitudes is None:
        return np.zeros((times.size, 0))
    return np.ascontiguousarray(forces.amplitudes(times))


def points_of(parts: CompiledParts) -> tuple[Any, Surface | None]:
    """The contact as arrays, and the surface of a curved obstacle."""
    if parts.law is None:
        none, numbers = np.zeros((0, 1)), (False, 0.0, 0.0, 0.0, True, True)
        place = CurvedPoint(np.zeros(1), np.zeros(1))
        return LoopPoints(none.astype(np.int32), none, none, none[:, 0], none[:, 0], *numbers, place), None
    contact = parts.law.contact
    if contact.paired:
        raise kernels.NotCompiled("node pairs with friction make their steps one by one")
    return LoopPoints(
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
        CurvedPoint(*np.zeros((2, contact.dofs.shape[1]))),
    ), contact.surface
