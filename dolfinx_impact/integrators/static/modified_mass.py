"""Other lumped masses: of solids whose contact dofs have none.

Doyen, Ern and Piperno (2011), section 7, after Khenous, Laborde and Renard (2008), take the mass off the
normal contact dofs and do not give it to others: M* is M with their rows and columns zero. The singular mass
takes that of all dofs of the contact nodes, and hands it to their neighbours. Contact then has nothing to
stop at once.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, cast

import numpy as np

from ..._types import FloatArray, Int64Array, IntArray
from ...algebra.operators import SparseRows, of_points
from ...contact.base import Contact
from ...systems.compiled import Compiled, compiled_forces
from ...systems.system import System
from ..requirements import OF_CONTACT, UNSTEADY, refuse, refuse_drift_correction, refuse_restitution
from .static_layer import StaticLayer

#: A weight of L below this counts as zero.
_NEGLIGIBLE = 1e-12
#: Attributes that are no matter of masses: those of the system, where it has them.
_OF_THE_SYSTEM = """
    space mesh named x gdim block degree along_axis hypothesis cross_section parts cells nodes boundary_nodes
    outer_facets facet_areas facet_sizes labels dof_count node_count fixed_dofs displacement velocity
    rigid_velocity rigid_rotation stress_at law materials law_coefficients locking deformation viscosity
    wave_speed density history revision energy_known added_mass added_share total_mass plastic_work
    conservative stiffness subtract_tangent tangents damping_tangent stiffness_damping loads
""".split()


class OtherMass:
    """A system whose contact dofs have no mass; all else is that of the system, see ``_OF_THE_SYSTEM``.

    Args:
        system: The system.
        contact: Its contact, or None.
        massless: The dofs of this rank without mass, owned.
        mass: All masses, 0 there, shape (owned,) [kg].

    Attributes:
        base: The system.
        layer: The static equilibrium of the massless dofs.
    """

    def __init__(self, system: System, contact: Contact | None, massless: IntArray, mass: FloatArray) -> None:
        self.base, self.contact, self.contains = system, contact, (system,)
        self.comm, self.owned, self.size, self.length = system.comm, system.owned, system.size, system.length
        self.linear, self.constrained, self.prescribed = system.linear, system.constrained, system.prescribed
        self.stressed_at_rest = getattr(system, "stressed_at_rest", False)
        self.massless, self.mass = massless, mass
        free = (mass > 0.0) & ~system.constrained
        self.inverse_mass = np.divide(1.0, mass, out=np.zeros(system.owned), where=free)
        self.layer = StaticLayer(system, contact, massless[~system.constrained[massless]])

    def __repr__(self) -> str:
        return f"modified mass of {self.base!r}"

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

    # -- with the other masses

    def critical_time_step(self, **options: Any) -> float:
        """That with the contact dofs held, the stiffest they can be [s]; ``options`` of the system."""
        return float(self.base.critical_time_step(self.inverse_mass, **options))  # type: ignore[call-arg]


for _name in _OF_THE_SYSTEM:
    setattr(OtherMass, _name, property(attrgetter(f"base.{_name}"), doc=""))


class ModifiedMass(OtherMass):
    """M*: a linear system without the masses of the normal contact dofs.

    Args:
        system: A linear system.
        contact: Flat contacts along coordinate directions, whose dofs lose their mass; they remain contacts
            of the system itself.

    Attributes:
        base: The system.
        massless: Numbers of the massless dofs of this rank, one a point.
        reaction: Contact forces at the last :meth:`settle`, shape (points of this rank,) [N].

    Raises:
        ValueError: No contact; a system that is not linear, under constant loads; surfaces, oblique or curved
            obstacles; friction or restitution.
    """

    excludes = (*UNSTEADY, *OF_CONTACT)

    def __init__(self, system: System, contact: Contact | None) -> None:
        contact = self._checked(system, contact)
        rows = of_points(contact.L)
        along = np.abs(rows.weights) > _NEGLIGIBLE
        dofs = np.take_along_axis(rows.dofs, np.argmax(along, axis=1)[:, None], axis=1)[:, 0]
        mass = system.mass.copy()
        mass[dofs] = 0.0
        super().__init__(system, contact, dofs, mass)
        self._v, self._f = np.zeros(system.size), np.zeros(system.size)

    @property
    def reaction(self) -> FloatArray:
        """See the attributes."""
        return self.layer.forces

    @classmethod
    def _checked(cls, system: System, contact: Contact | None) -> Contact:
        if contact is None:
            raise ValueError("the modified mass is that of contact nodes, but there is no contact")
        what = "the modified mass (CDLagrangeSingular, which takes more, is its relative)"
        refuse(cls.excludes, what, system=system, contact=contact)
        bad = contact.L.collective
        if not bad:
            bad = bool(np.any((np.abs(of_points(contact.L).weights) > _NEGLIGIBLE).sum(axis=1) != 1))
        if contact.comm.allreduce(bad):
            raise ValueError(
                "the modified mass takes flat obstacles across a coordinate direction: take "
                "CDLagrangeSingular"
            )
        refuse_restitution(contact, "a contact without mass")
        return contact

    def implicit_solver(self, factor: float, mass: str) -> Any:
        """Solves with ``M* + factor K``; without K the massless dofs of the solution are zero."""
        return self.base.implicit_solver(factor, mass, massless=self.massless)  # type: ignore[call-arg]

    def settle(self, u: FloatArray) -> None:
        """Put the contact dofs of ``u`` to their static position ``Q(u_*)``, (117). Collective.

        ``K_cc u_c = F_c - K_c* u_* + L^T r,  0 <= g  _|_  r >= 0``.
        """
        self.layer.settle(0.0, u, self._v, self._f, before=u[self.layer.dofs], h=1.0)

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """``M* v``."""
        self._v[:] = v
        self._v[self.massless] = 0.0
        self.base.mass_product(self._v, mass, out)
        out[self.massless] = 0.0


class SingularMass(OtherMass):
    """A system without the masses of its contact nodes, which their neighbours have in addition.

    A damping proportional to the mass goes with it: contact nodes have none.

    Args:
        system: The system; see :meth:`.Body.masses_without` and :meth:`.PointMasses.masses_without`.
        contact: Contacts of nodes, or None: the masses are those of the system then.

    Raises:
        ValueError: Contact of surfaces; restitution; ``drift_correction``; nodes without neighbours.
    """

    excludes = ("surfaces",)

    def __init__(self, system: System, contact: Contact | None) -> None:
        massless: IntArray = np.zeros(0, dtype=np.intp)
        mass = system.mass
        if contact is not None:
            self._check(system, contact)
            massless = self._dofs_of_nodes(system, contact)
            mass = system.masses_without(massless)  # type: ignore[attr-defined]
        # Rate alpha of a damping alpha M, which goes with the masses [1/s].
        rate = getattr(system, "damping_rate", (getattr(system, "rayleigh", None) or (0.0,))[0])
        self._undamped = rate * (system.mass - mass)
        super().__init__(system, contact, massless, mass)
        self.layer.system = cast(
            System, self
        )  # with the damping of these masses; explicit schemes alone take it
        if not self.comm.allreduce(bool(self.inverse_mass.any())):
            raise ValueError(
                "no dof keeps mass: all that are free are those of contact nodes; take CDLagrange"
            )

    def compiled(self) -> Compiled:
        """The forces of the system; loops damp these masses by its rate. See :func:`.compiled_forces`."""
        return compiled_forces(self.base)

    @classmethod
    def _check(cls, system: System, contact: Contact) -> None:
        what = "a mass that is singular at the contact nodes"
        refuse(cls.excludes, what, contact=contact)
        if contact.restitution > 0:
            raise ValueError(
                f"{what} needs no restitution, since contact stops no mass: the contact has e = "
                f"{contact.restitution}; set it to 0, or take CDLagrange"
            )
        refuse_drift_correction(contact, what)
        if not hasattr(system, "masses_without"):
            raise ValueError(
                f"{what} hands the mass of contact nodes to their neighbours, which a "
                f"{type(system).__name__} does not know: give it masses_without(dofs), or take CDLagrange"
            )

    @staticmethod
    def _dofs_of_nodes(system: System, contact: Contact) -> IntArray:
        """All dofs of the nodes of the points, sorted; of point masses those of the points themselves."""
        dofs, block = contact.nodes.loaded.dofs.ravel(), getattr(system, "block", 1)
        nodes = np.unique(dofs // block)
        return (nodes[:, None] * block + np.arange(block)).ravel()

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """See :meth:`.System.force`; ``alpha M v`` with these masses."""
        self.base.force(t, u, v, out)
        out[: self.owned] += self._undamped * v[: self.owned]

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """See :meth:`.System.damping`; ``alpha M v`` with these masses."""
        self.base.damping(t, u, v, out)
        out[: self.owned] -= self._undamped * v[: self.owned]

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """``M v``, lumped."""
        np.multiply(self.mass, v[: self.owned], out=out[: self.owned])
