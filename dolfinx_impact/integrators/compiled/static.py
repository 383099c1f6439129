"""Many steps of central differences with massless contact dofs in one compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...systems.compiled import compiled_forces
from ..energy import Sums
from ._arrays import Energies, LoopState
from .central import CentralLoop
from .loop import functions_of, model_of, points_of
from .one_step import contact_problem
from .parts import CompiledParts


class StaticLoop(CentralLoop):
    """Makes steps of :class:`.CDLagrangeSingular`; see :class:`.Loop`.

    Compiled kinds are: a stored stiffness whose part at the contact nodes has symmetric factors, damping by a
    rate; flat contacts without friction whose points share no dof; one rank. Steps with more closed points
    than :data:`.complementarity.COMPILED_POINTS` are made by ``step``.
    """

    def __init__(self, integrator: Any, rows: SparseRows, balance: Any) -> None:
        system, contact = integrator.system, integrator.contact
        self.forces = forces = compiled_forces(system)
        if not system.linear or forces.functions:
            raise kernels.NotCompiled("the forces at the contact nodes are not those of a stored stiffness")
        response = kernels.ask(system.layer, "finds the equilibrium one by one")
        law = None
        if contact is not None:
            law = kernels.ask(integrator.enforcement, "is no contact law of the compiled loop")
        super(CentralLoop, self).__init__(integrator, rows, balance)
        self.model, self.functions = model_of(integrator, forces), functions_of(forces)
        self.contact, _ = points_of(CompiledParts(forces, law, np.diag(response.H).copy()))
        self._factors, self.problem = response.factors, contact_problem(response.H)
        size, c = system.size, system.layer.dofs.size
        self._at_dofs, self._u_before = np.zeros((4, c)), np.zeros(c)
        self._velocities, self._scratch = np.zeros((3, size)), np.zeros((4, size))
        self._closed = np.zeros(len(response.H), dtype=bool)

    def advance(self) -> Callable[..., int]:
        """See :meth:`.Loop.advance`."""
        from . import _static_loop

        return _static_loop.advance

    def state(self) -> Any:
        """See :meth:`.Loop.state`."""
        from ._static_loop import StaticState, StaticWorks

        s = self.integrator
        layer, (v_before, v, v_force) = s.system.layer, self._velocities
        inner, load, drag, reaction = self._at_dofs
        return StaticState(
            LoopState(s.u, s.v, s.v_before, s.f),
            layer.dofs,
            s.system.length,
            self._factors,
            layer.forces,
            self.problem,
            StaticWorks(inner, load, drag, reaction, v_before, v, self._u_before),
            v_force,
            self._closed,
            *self._scratch,
        )

    def sums(self) -> Sums:
        """The powers, and in the state the forces on the massless dofs."""
        sums = super(CentralLoop, self).sums()
        if self.balance is None:
            return Sums(sums.terms, np.zeros(4))
        self._at_dofs[:] = sums.powers[4:].reshape(4, -1)
        return Sums(sums.terms, sums.powers[:4].copy())

    def take(self, energies: Energies, pushed: FloatArray) -> None:
        """See :meth:`.Loop.take`."""
        self.balance.take(Sums(energies.terms, np.concatenate([energies.powers, self._at_dofs.ravel()])))

    def finish(self) -> None:
        """The velocities of damping forces are those of the last step."""
        s = self.integrator
        s.v_force = self._velocities[2].copy() if s.system.has_damping else s.v_before
