"""Central differences of the dofs with mass; the dofs of the contact have none and follow at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from mpi4py import MPI

from ... import arguments
from ..._types import AnyArray, FloatArray
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...contact.base import Contact
from ...contact.contact_set import Contacts, as_contact
from ...contact.state import Impulses
from ...systems.system import System
from ..base import UnstableTimeStep
from ..central.central_differences import CentralDifferences
from ..compiled.static import StaticLoop
from ..energy import CentralDifferenceBalance, EnergyBalance, Sums
from ..impulses.contact_laws import CompiledLaw
from ..options import LUMPED, fixed_restitution
from ..step_buffer import CompiledLoop
from .modified_mass import SingularMass

#: Growth of the velocities of c that ends a run, and the least number of steps in a row that it takes.
_GROWTH, _IN_A_ROW = 1e3, 6
#: Smaller changes are no start of a growth: over the length of the system and the step, [m/s].
_SMALL = 1e-8


class StaticLevel:
    """The contact law of massless dofs, solved with the forces of the step by :class:`.StaticLayer`."""

    halves_first_impulse = False
    of_forces = True

    def __init__(self, contact: Contact | None) -> None:
        self.contact = contact

    def compiled(self) -> CompiledLaw:
        """The law for compiled loops, which find the forces with those of the step."""
        return CompiledLaw(kernels.ask(self.contact, "has no compiled form"), at_position=True)

    def impulses(self, s: Any, response: Any, *, first: bool = False) -> Impulses:
        """``h lam`` with the forces lam of the contact at ``t``; see :class:`~.contact_laws.Enforcement`."""
        forces: Impulses = s.system.layer.present_forces()
        return Impulses(forces.state, s.dt * forces.r, None if forces.r_t is None else s.dt * forces.r_t)


class RoughVelocities:
    """Watches for changes of velocity of the contact dofs that turn round from step to step, and grow.

    Damping forces that take the velocity of c of the step before do this where the damping has become too
    large since the start. What waves and impacts do at c does not turn round in every step, or does not grow.

    Args:
        system: The system with its :class:`.OtherMass`.
    """

    def __init__(self, system: Any) -> None:
        self._comm, self._length = system.comm, system.length
        self._change, self._growth, self._steps = np.zeros(system.layer.dofs.size), 1.0, 0

    def explode(self, change: FloatArray, h: float) -> bool:
        """Whether the changes have grown a thousand times in a row. Collective.

        Args:
            change: Change of velocity of the dofs c in a step, shape (dofs c,) [m/s].
            h: Time step [s].
        """
        products = np.array([change @ change, self._change @ self._change, change @ self._change])
        new, old, both = self._comm.allreduce(products, op=MPI.SUM)
        self._change = change
        rough = new > max(old, (_SMALL * self._length / h) ** 2) and both < 0.5 * np.sqrt(new * old)
        self._steps = self._steps + 1 if rough else 0
        before = max(np.sqrt(old), _SMALL * self._length / h)
        self._growth = self._growth * np.sqrt(new) / before if rough else 1.0
        return bool(self._steps >= _IN_A_ROW and self._growth > _GROWTH)


class StaticContact(CentralDifferences):
    """Central differences where contact dofs c have no mass, but are in static equilibrium at every time.

    ::

        u_d' = u_d + h v_d
        f_c(u_d', u_c') + L^T lam' = 0,   0 <= g(u_c')  _|_  lam' >= 0
        M_d (v_d' - v_d) = h f_d(u_d', u_c')

    d are the dofs with mass. The impulse ``r' = h lam'`` stands at t'; the velocity of c is
    ``(u_c' - u_c) / h``, that at ``t' - h/2``. At the start u_c is put to equilibrium with u_0 at d.

    Args:
        system: The system with its :class:`.OtherMass`.
        dt: Time step [s], at most ``system.critical_time_step()``.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A step that is not positive or above the critical one.
        NotConverged: (by ``start`` and ``step``) no equilibrium of the contact nodes.
    """

    compiled_loop: Any = None
    sweeps = False
    law = StaticLevel
    order = "2 without impact, 1 with"
    step_limit = "h <= 2 / omega_max"
    contact_level = "position"
    system: Any

    def __init__(self, system: Any, dt: float, *, allow_unstable: bool = False) -> None:
        super().__init__(system, dt, StaticLevel(system.contact), allow_unstable=allow_unstable)
        self._before: FloatArray = np.zeros(system.layer.dofs.size)
        self._allow_unstable = allow_unstable
        watched = system.has_damping and not allow_unstable
        self._rough = RoughVelocities(system) if watched else None

    @property
    def body(self) -> System:
        """See :attr:`.Integrator.body`."""
        body: System = self.system.base
        return body

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """See :meth:`.CentralDifferences.resume`."""
        super().resume(state)
        self.system.layer.forces[:] = self.r / self.dt

    def advance(self) -> None:
        """See :meth:`.CentralDifferences.advance`."""
        self._before = self.u[self.system.layer.dofs]
        super().advance()

    def balance(self) -> EnergyBalance:
        """The balance (84) of the dofs with mass, and the works at the others."""
        return StaticBalance(self)

    def _evaluate_force(self, v: FloatArray) -> None:
        """Static equilibrium of the contact dofs of ``u``, and the forces there."""
        layer, first = self.system.layer, self.n == 0
        if first:
            self._before = self.u[layer.dofs]
        layer.settle(self.t, self.u, v, self.f, before=self._before, h=self.dt, first=first)
        if first and not self._allow_unstable and layer.damping_explodes(self.t, self.u, self.dt):
            raise ValueError(
                f"the damping of contact nodes without mass would explode with dt = {self.dt:.3g} s: damping "
                "over stiffness may be at most half of the step there; take less of it (dampers, "
                "bulk_viscosity), a larger step, or CDLagrange"
            )

    def _make_response(self, factor: float = 1.0) -> None:
        """None: impulses act on dofs without mass."""

    def _resolve_contact(self, response: Any, first: bool = False) -> None:
        """Take the impulses of the equilibrium, and the velocities of its dofs."""
        self.set_impulses(self.enforcement.impulses(self, response, first=first))
        if not first and self.system.has_damping:
            self.v_force = self.v_before.copy()
        self._set_velocity()

    def _set_velocity(self) -> None:
        """``(u_c' - u_c) / h``; at the start that which is given."""
        at = self.system.layer.dofs
        if self.n > 0:
            new = (self.u[at] - self._before) / self.dt
            if self._rough is not None and self._rough.explode(new - self.v[at], self.dt):
                raise UnstableTimeStep(
                    f"the velocities of contact nodes without mass explode at t = {self.t:.6g} s: their "
                    f"damping has become too large for dt = {self.dt:.3g} s; it may be at most half of the "
                    "step over their stiffness: take less of it, a larger step, or CDLagrange"
                )
            self.v_before[at] = self.v[at] = new


class CDLagrangeSingular(StaticContact):
    """Singular-mass CD-Lagrange: contact nodes without mass, in static equilibrium. Explicit.

    The idea is that of Di Stasio, Dureisseix, Georges, Gravouil and Homolle, Comput. Mech. 68 (2021), 97-112;
    the form that of the modified mass of Doyen, Ern and Piperno (2011), 7.2, here for all dofs of the contact
    nodes, any law and obstacle, with friction, and without loss of mass. See :class:`StaticContact` for the
    step and :class:`.StaticLayer` for the equilibrium: Newton's method on the layer of contact nodes, whose
    stiffness K_cc is factorised once for linear systems.

    In every cell the lumped mass of its contact nodes goes in equal parts to its other nodes, in a cell
    without others to its neighbour cells (:mod:`.mass_handover`). The sum stays, so that linear momentum is
    exact, also the angular momentum of the masses handed over; center and moments of inertia move by the
    order of a cell. A body whose whole skin is contact surface needs three cells through the thickness.

    **There is no coefficient of restitution.** Newton's law needs one to say with which velocity the mass of
    a node leaves an obstacle. Here no mass is stopped: the contact force sets in with the deformation, no
    energy is lost at the node, and the body rebounds by its elastic waves. With friction
    ``|lam_T| <= mu lam`` against the slip ``W (u_c' - u_c)``, less the motion of the obstacle. A damping
    ``alpha M`` goes with the mass, so that c has none. Other damping forces at c take the velocity of c of
    the step before: an iteration that diverges where damping over stiffness at c, ``K_cc^-1 C_cc`` or the
    coefficient beta of a stiffness-proportional damping, is above h/2, which is refused; where it becomes so
    later, the run ends when the velocities of c have grown a thousand times.

    Args:
        system: The system: a body, a chain, point masses with a stiffness.
        dt: Time step [s], at most the critical one of the masses handed over, contact nodes held.
        contact: The contact, a list of contacts, or None: central differences then.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: Restitution; contact of surfaces; contact nodes without neighbours that could take their
            mass; a step that is not positive, above the critical one, or below ``2 beta``; (by ``start``) one
            too small for other damping of the contact nodes, as dampers and bulk viscosity.
        NotConverged: (by ``start`` and ``step``) no equilibrium of the contact nodes.
        UnstableTimeStep: (by ``step``) damping of the contact nodes that has become too large.
    """

    paper = "Di Stasio, Dureisseix, Georges, Gravouil, Homolle, Comput. Mech. 68 (2021)"
    equations = "as modified mass, Doyen et al. (2011), 7.2; balance (84) of Fekak et al. (2017)"
    conserves = "linear and angular momentum, the discrete energy (84); no penetration"
    excludes = SingularMass.excludes
    options = {**fixed_restitution(0.0), **LUMPED}

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        arguments.time_step(dt)
        arguments.system(system)
        contact = as_contact(contact)
        super().__init__(SingularMass(system, contact), dt, allow_unstable=allow_unstable)
        beta = getattr(system, "stiffness_damping", 0.0)
        if contact is not None and 2 * beta > self.dt and not allow_unstable:
            raise ValueError(
                f"stiffness_damping must be at most half of the time step, {0.5 * self.dt:.3g} s, but is "
                f"{beta:.3g} s: the damping of contact nodes without mass would explode; take less of it, or "
                "CDLagrange"
            )

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
        """See :func:`.compiled_loop`: for linear systems, flat contact without friction."""
        return StaticLoop(self, rows, balance)


class StaticBalance(CentralDifferenceBalance):
    """The balance of central differences of the dofs with mass, and the works at those without.

    The latter are the means of the forces at both ends of a step times the motion of the dofs c; that of
    contact is ``(L^T r + L'^T r')/2 . (u_c' - u_c) / h`` for impulses r, friction alike.
    """

    #: Forces on c: internal, load, damping and contact ones, shape (owned,) each, 0 at other dofs [N].
    at_dofs = ("_inner", "_loads", "_drag", "_reaction")
    state_names = (*CentralDifferenceBalance.state_names, *at_dofs)

    def start(self) -> None:
        """Energies at t_0."""
        super().start()
        self._at = self.integrator.system.layer.dofs
        self._u = self.integrator.u[self._at]
        self._read_static()

    def step(self) -> None:
        """Add the works of the means of both ends over the motion of the contact dofs."""
        before = [getattr(self, name)[self._at] for name in self.at_dofs]
        super().step()
        self._read_static()
        moved, self._u = self.integrator.u[self._at] - self._u, self.integrator.u[self._at]
        inner, load, drag, reaction = (
            0.5 * float(moved @ (old + getattr(self, name)[self._at]))
            for old, name in zip(before, self.at_dofs)
        )
        self.internal_work += inner
        self.external += load
        self.dissipated += drag
        self.contact += reaction

    def compiled(self) -> Sums:
        """Sums that a compiled loop continues; behind the powers the forces on the contact dofs [N]."""
        terms, powers = super().compiled()
        return Sums(
            terms, np.concatenate([powers, *(getattr(self, name)[self._at] for name in self.at_dofs)])
        )

    def take(self, sums: Sums) -> None:
        """Set the sums after a compiled loop."""
        super().take(Sums(sums.terms, sums.powers[:4]))
        for name, values in zip(self.at_dofs, sums.powers[4:].reshape(4, -1)):
            getattr(self, name)[self._at] = values
        self._u = self.integrator.u[self._at]

    def _subtract_impact(self) -> None:
        """Nothing: no mass has an impact, and forces at the start work with the motion of c in step 1."""

    def _velocities(self) -> tuple[FloatArray, FloatArray]:
        """See :meth:`.CentralDifferenceBalance._velocities`; zero at c, whose works are others."""
        before, after = (each.copy() for each in super()._velocities())
        before[self.integrator.system.layer.dofs] = after[self.integrator.system.layer.dofs] = 0.0
        return before, after

    def _read_static(self) -> None:
        """Evaluate the forces on the contact dofs."""
        s, system = self.integrator, self.integrator.system
        load, drag, contact = (np.zeros(system.size) for _ in range(3))
        system.external(s.t, s.u, s.v_force, load)
        if system.has_damping:
            system.damping(s.t, s.u, s.v_force, drag)
        system.layer.nodal_forces(contact)
        for name, values in zip(self.at_dofs, (load - s.f - drag, load, drag, contact)):
            setattr(self, name, np.zeros(system.owned))
            getattr(self, name)[self._at] = values[self._at]
