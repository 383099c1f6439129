"""Modified mass: solids whose contact dofs have no mass. Doyen, Ern and Piperno (2011), section 7.

Khenous, Laborde and Renard (2008) take the mass off the normal contact dofs, here without giving it to
others: M* is M with their rows and columns zero. Contact then has nothing to stop at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .. import parallel
from .._types import FloatArray, Int64Array
from ..algebra import complementarity
from ..algebra.operators import SparseRows
from ..contact.base import Contact
from ..systems.system import System
from .energy import CentralDifferenceBalance
from .requirements import refuse_surfaces

#: A weight of L below this counts as zero.
_NEGLIGIBLE = 1e-12


class ModifiedMass:
    """A system with M* in the place of M; all else is that of the system.

    Args:
        system: A linear system.
        contact: Flat contacts along coordinate directions, whose dofs lose their mass; they remain contacts
            of the system itself.

    Attributes:
        base: The system.
        massless: Numbers of the massless dofs of this rank, one a point.
        reaction: Contact forces at the last :meth:`settle`, shape (points of this rank,) [N].

    Raises:
        ValueError: No contact; oblique or curved obstacles; friction or restitution.
    """

    def __init__(self, system: System, contact: Contact | None) -> None:
        contact = self._checked(system, contact)
        self.base, self.contact, self.contains = system, contact, (system,)
        self.comm, self.owned, self.size, self.length = system.comm, system.owned, system.size, system.length
        self.linear, self.constrained, self.prescribed = system.linear, system.constrained, system.prescribed
        rows = contact.L
        along = np.abs(rows.weights) > _NEGLIGIBLE
        self.massless = np.take_along_axis(rows.dofs, np.argmax(along, axis=1)[:, None], axis=1)[:, 0]
        self.mass, self.inverse_mass = system.mass.copy(), system.inverse_mass.copy()
        self.mass[self.massless] = self.inverse_mass[self.massless] = 0.0
        self.reaction = np.zeros(contact.count)
        self._v, self._f = np.zeros(system.size), np.zeros(system.size)
        self.sign = np.sum(rows.weights, axis=1)
        self._offset = contact.gap(np.zeros(system.size))
        self._compliance = self._inverse_stiffness()

    def __repr__(self) -> str:
        return f"modified mass of {self.base!r}"

    @staticmethod
    def _checked(system: System, contact: Contact | None) -> Contact:
        if contact is None:
            raise ValueError("the modified mass is that of contact nodes, but there is no contact")
        refuse_surfaces(contact, "the modified mass")
        rows = contact.L
        bad = not contact.constant or not system.steady or rows.collective
        bad |= bool(np.any((np.abs(rows.weights) > _NEGLIGIBLE).sum(axis=1) != 1))
        if contact.comm.allreduce(bad):
            raise ValueError(
                "the modified mass takes linear systems and flat obstacles across a coordinate direction"
            )
        if contact.friction > 0 or contact.restitution > 0:
            raise ValueError(
                "without mass a contact has no restitution and no friction; here e = "
                f"{contact.restitution}, mu = {contact.friction}: set them to 0"
            )
        return contact

    # -- of the system, see :class:`.System`

    @property
    def steady(self) -> bool:
        """See :class:`.System`."""
        return self.base.steady

    @property
    def has_loads(self) -> bool:
        """See :class:`.System`."""
        return self.base.has_loads

    @property
    def has_damping(self) -> bool:
        """See :class:`.System`."""
        return self.base.has_damping

    @property
    def until(self) -> float:
        """See :class:`.System`."""
        return self.base.until

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """See :meth:`.System.force`."""
        self.base.force(t, u, v, out)

    def external(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """See :meth:`.System.external`."""
        self.base.external(t, u, v, out)

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """See :meth:`.System.damping`."""
        self.base.damping(t, u, v, out)

    def stored_energy(self, u: FloatArray) -> float:
        """See :meth:`.System.stored_energy`."""
        return self.base.stored_energy(u)

    def rows(self) -> SparseRows:
        """See :meth:`.System.rows`."""
        return self.base.rows()

    def global_dofs(self) -> Int64Array:
        """See :meth:`.System.global_dofs`."""
        return self.base.global_dofs()

    # -- with the modified mass

    def compiled(self) -> None:
        """No compiled loop: its steps are made one by one."""

    def critical_time_step(self) -> float:
        """``2 / omega_max`` of M* with the contact dofs held, which is the stiffest they can be [s]."""
        return float(self.base.critical_time_step(self.inverse_mass))  # type: ignore[call-arg]

    def implicit_solver(self, factor: float, mass: str) -> Any:
        """Solves with ``M* + factor K``; without K the massless dofs of the solution are zero."""
        return self.base.implicit_solver(factor, mass, massless=self.massless)  # type: ignore[call-arg]

    def settle(self, u: FloatArray) -> None:
        """Put the contact dofs of ``u`` to their static position ``Q(u_*)``, (117). Collective.

        ``K_cc u_c = F_c - K_c* u_* + L^T r,  0 <= g  _|_  r >= 0``.
        """
        comm, H = self.contact.comm, self._compliance
        u[self.massless] = 0.0
        loads, offset = self._at_contact(u), parallel.gather_rows(comm, self._offset)

        def solve() -> tuple[FloatArray, FloatArray]:
            r = complementarity.solve(H, offset + H @ loads)
            return r, H @ (loads + r)

        r, moved = parallel.on_root(comm, solve)
        self.reaction[:] = r[self.contact.mine]
        u[self.massless] = self.sign * moved[self.contact.mine]

    def _inverse_stiffness(self) -> FloatArray:
        """``K_cc^-1`` over the points of all ranks, along their normals [m/N]. Collective."""
        comm, rest = self.contact.comm, np.zeros(self.base.size)
        free, columns = self._at_contact(rest), []
        for unit in np.eye(self.contact.total):
            pushed = np.zeros(self.base.size)
            pushed[self.massless] = self.sign * unit[self.contact.mine]
            columns.append(free - self._at_contact(pushed))
        K = np.array(columns).T
        return parallel.on_root(comm, lambda: np.asarray(linalg.inv((K + K.T) / 2)))

    def _at_contact(self, u: FloatArray) -> FloatArray:
        """Forces of the system along the normals of the points of all ranks [N]. Collective."""
        self.base.force(0.0, u, u, self._f)
        return parallel.gather_rows(self.contact.comm, self.sign * self._f[self.massless])

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """``M* v``."""
        self._v[:] = v
        self._v[self.massless] = 0.0
        self.base.mass_product(self._v, mass, out)
        out[self.massless] = 0.0


class StaticContact(ModifiedMass):
    """Massless contact dofs that follow the others at once, (117), for central differences, 7.2.

    :meth:`force` puts the contact dofs of the displacement to their static position, and their velocity
    to zero, before it computes the forces.
    """

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Settle the contact dofs of ``u`` in place, then the forces there. Collective."""
        self.settle(u)
        v[self.massless] = 0.0
        self.base.force(t, u, v, out)


class StaticBalance(CentralDifferenceBalance):
    """The balance of central differences, and the works at the dofs that have no velocity of their own.

    ``Eq' - Eq = (r' + r)/2 . (g' - g) / h`` for impulses r.
    """

    def start(self) -> None:
        """Energies at t_0."""
        super().start()
        self._static = self._read_static()

    def step(self) -> None:
        """Add the works of the means of both ends over the motion of the contact dofs."""
        super().step()
        before, now = self._static, self._read_static()
        moved = now[0] - before[0]
        self.internal_work += 0.5 * float(moved @ (before[1] + now[1]))
        self.external += 0.5 * float(moved @ (before[2] + now[2]))
        self.contact += 0.5 * float(moved @ (before[3] + now[3]))
        self._static = now

    def _read_static(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Positions, internal forces, loads and contact forces at the massless dofs."""
        s, system = self.integrator, self.integrator.system
        at = system.massless
        load = np.zeros(system.size)
        system.external(s.t, s.u, s.v, load)
        reaction = system.sign * s.r / s.dt
        return s.u[at].copy(), load[at] - s.f[at], load[at].copy(), reaction


class StaticLevel:
    """The impulses that :class:`StaticContact` found with the forces of the step."""

    halves_first_impulse = False

    def __init__(self, contact: Contact | None) -> None:
        self.contact = contact

    def impulses(self, s: Any, response: Any, *, first: bool = False) -> FloatArray:
        """See :class:`~.contact_laws.Enforcement`."""
        impulses: FloatArray = s.dt * s.system.reaction
        return impulses
