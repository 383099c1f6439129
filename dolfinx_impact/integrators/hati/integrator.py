"""HATI integrator: explicit subdomain at the contact, implicit elsewhere (Fekak et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ... import arguments, parallel
from ..._types import AnyArray, FloatArray
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...contact.contact_set import Contacts, as_contact
from ...systems.body import Body
from ..base import Integrator
from ..energy import EnergyBalance
from ..impulses.contact_laws import VelocityLevel
from ..initial_values import Initial, initial_field
from ..options import TOUCHING, Option
from ..requirements import refuse_swept
from ..step_buffer import CompiledLoop
from .balance import HATIBalance
from .compiled import FineLoop, HATILoop
from .explicit_side import GluedExplicit
from .implicit_side import Implicit
from .interface import Interface
from .split_system import Divided

#: Members of the scheme that the compiled loop over coarse steps replaces.


class HATI(Integrator):
    """Heterogeneous asynchronous time integrator: CD-Lagrange and Newmark (1/4, 1/2), coupled (GC method).

    Fekak, Brun, Gravouil and Depale, Comput. Mech. 60 (2017), doi:10.1007/s00466-017-1397-0, Algorithm 1. One
    step is a coarse step, ``DT = m dt``::

        implicit, once   M~ a = F(t_{n+m}, pU, pV),  v_free = pV + gamma DT a                    (61)-(64)
        explicit, j = 1, ..., m:
            U_{n+j}  = U_{n+j-1} + dt V_{j-1/2}
            W        = dt M_E^-1 F_E(t_{n+j}, U_{n+j}, V_{j-1/2})
            H Lambda = (1-j/m) v_free,n + (j/m) v_free,n+m - (V_{j-1/2} + W/2)  at the interface, (71), (74)
            W       += dt M_E^-1 Lambda,  then contact as in CD-Lagrange,  V_{j+1/2} = V_{j-1/2} + W
        implicit, once   M~ a = F(t_{n+m}, pU, pV) - Lambda_m                                        (54)

    so that the velocities of both copies of an interface dof are equal at every fine time. ``v_free,n`` is
    the free velocity of the previous coarse step, not the total one. ``H^-1`` is computed once; no linear
    system is solved in the loop over j.

    The interface dissipates energy, and with m > 1 momentum, where the multipliers do not vary linearly
    within a coarse step: a contact must last many of these. A block of 4 m x 1 m that impacts a wall with its
    short side (24 x 6 cells, the first quarter explicit, dt 0.9 of the critical step) loses 0.5, 3.5, 28 and
    94 % of its energy at the interface with m = 1, 2, 10 and 200, where the impact lasts 59, 29, 6 and 0.3
    coarse steps; the error of momentum is 2e-16, 2e-4, 0.04 and 0.7 of the initial one. Energy can increase
    too: by 1.4 % with m = 20 where the explicit subdomain is 100 times lighter and softer.

    On one rank the compiled loops give bitwise the same results as Python steps (with numba).

    Arrays over dofs hold the explicit copy, then the implicit one: owned dofs of ``fine``, those of
    ``coarse``, ghosts likewise; see :meth:`rows_of` and :meth:`coarse_rows`. All times of arrays are coarse
    ones. ``v0`` must contain the velocity of prescribed motions: the implicit subdomain enforces their
    displacement, and the velocity would oscillate about the right one.

    Args:
        fine: The explicit subdomain with all contacts, a body on its part of a mesh, of any law and damping;
            materials with history take their next state in every fine step.
        coarse: The implicit subdomain, on another part of the same mesh: linear, its damping a rate.
        dt: Fine time step [s], at most ``fine.critical_time_step()``.
        contact: A contact of ``fine``, without points on the interface, or None.
        ratio: m, fine steps per coarse step, an integer of at least 1.
        mass: Mass matrix of the implicit subdomain, ``"lumped"`` or ``"consistent"``; that of the explicit
            one is lumped, also at the interface.
        allow_unstable: Accept a fine step above the critical one.

    Attributes:
        dt: Coarse time step [s].
        ratio: m.
        fine, coarse: Integrators of the subdomains.
        interface: The interface.
        free_velocity: Free velocity of the implicit subdomain at the interface in the last step, shape (q of
            this rank,) [m/s].
        contacts: Contact records of the fine steps of the last step.
        compiled: Whether fine steps run in a compiled loop, with bitwise the same results; None: where
            possible.

    Raises:
        ValueError: An implicit subdomain that is not linear or has stiffness-proportional or bulk damping, an
            unknown mass, a ratio that is not an integer of at least 1, a step that is not positive or above
            the critical one, subdomains that do not fit (see :class:`.Interface`), a contact point on the
            interface or a contact of another body than ``fine``.
    """

    paper = "Fekak, Brun, Gravouil, Depale, Comput. Mech. 60 (2017)"
    equations = "(54)-(74), Algorithm 1 (GC method); balance (91)-(93)"
    order = "2 without impact, 1 with"
    conserves = "velocities across the interface, the balance (91) with the energy of the interface"
    step_limit = "fine step <= 2 / omega_max of the explicit subdomain"
    contact_level = "velocity"
    law = VelocityLevel
    remarks = {
        "nonlinear forces": "in the explicit subdomain",
        "history laws": "in the explicit subdomain",
        "damping": "in the implicit subdomain a rate alone",
    }
    divided = follows_history = True
    options = {"ratio": Option(10, "-", "fine steps in a coarse one, a whole number from 1 on"), **TOUCHING}
    state_names = ("free_velocity", "r", "r_t")
    system: Divided

    def __init__(
        self,
        fine: Body,
        coarse: Body,
        dt: float,
        contact: Contacts = None,
        *,
        ratio: int,
        mass: str = "lumped",
        allow_unstable: bool = False,
    ) -> None:
        if arguments.is_contact(dt):
            raise ValueError("the order is (fine, coarse, dt, contact, ratio=...), but dt is a contact")
        arguments.number("the fine time step dt", dt, "be positive [s]", above=0.0)
        arguments.whole("the ratio of the time steps", ratio)
        arguments.contact(contact)
        if mass not in ("lumped", "consistent"):
            raise ValueError(f"the mass of the implicit subdomain is 'lumped' or 'consistent', not {mass!r}")
        if isinstance(coarse, Body) and not (coarse.linear and coarse.mass_damped):
            raise ValueError(
                "the implicit subdomain must be linear, with no other damping than a rate (damping=): leave "
                "cells of nonlinear laws, stiffness_damping and bulk_viscosity to the explicit one"
            )
        self.interface: Interface = Interface(fine, coarse)
        contact = as_contact(contact)
        if contact is not None:
            if getattr(contact, "system", None) is not fine:
                raise ValueError("the contact must be made for the explicit subdomain, fine")
            self.interface.refuse_contact(contact)
        super().__init__(Divided(fine, coarse), int(ratio) * dt, contact)
        self.ratio, self.mass = int(ratio), mass
        self.coarse = Implicit(coarse, self.dt, self.interface, mass)
        law, first = type(self).law(contact), self.coarse.first_multipliers
        refuse_swept(law.contact, "HATI")
        self.fine = GluedExplicit(fine, dt, law, self.interface, first, allow_unstable=allow_unstable)
        self.fine.glue(self.coarse.compliance)
        self._histories = []  # those of the explicit side, whose steps accept them
        self.beyond_limit, self.substeps = self.fine.beyond_limit, self.ratio
        self.look_ahead = self.fine.look_ahead
        self.contacts = FineContact(self.fine, self.ratio)
        self.free_velocity = np.zeros(self.interface.dofs.size)
        self.following: HATIBalance | None = None
        self.compiled: bool | None = None
        self._fine_loop: FineLoop | None = None

    def add_nodal_impulses(self, out: FloatArray) -> None:
        """See :meth:`.Integrator.add_nodal_impulses`: those of the fine steps."""
        if self.contacts.nodal is None:
            super().add_nodal_impulses(out)
        else:
            out += self.contacts.nodal

    @property
    def explicit_part(self) -> Integrator:
        """See :attr:`.Integrator.explicit_part`: that of the explicit subdomain."""
        return self.fine

    def of_contact(self, x: FloatArray) -> FloatArray:
        """See :meth:`.Integrator.of_contact`: the entries of the explicit subdomain."""
        return self.system.split(x)[0]

    @property
    def multipliers(self) -> FloatArray:
        """Multipliers Lambda at ``t``, shape (q of this rank,) [N]; -Lambda acts on the implicit copy."""
        return self.fine.multipliers

    @property
    def v_mean(self) -> FloatArray:
        """Velocities at ``t`` of both subdomains, shape (size,) [m/s]."""
        return self.v

    def velocity_jump(self) -> float:
        """Largest velocity difference of the copies of an interface dof at ``t`` [m/s]. Collective."""
        g = self.interface.dofs
        return max(0.0, parallel.largest(self.system.comm, np.abs(self.fine.v_mean[g] - self.coarse.v[g])))

    def gap(self) -> FloatArray:
        """Gap at ``u``, shape (points of this rank,) [m]."""
        return self.fine.gap()

    def coarse_rows(self, rows: SparseRows) -> SparseRows:
        """Rows of ``coarse`` renumbered for the arrays of this integrator."""
        return SparseRows(self.system.coarse_dofs(rows.dofs), rows.weights, rows.order, rows.labels)

    def rows_of(self, rows: SparseRows) -> SparseRows:
        """Rows of a subdomain or of the undivided body renumbered for the arrays of this integrator.

        Interface dofs refer to the explicit copy.
        """
        explicit = self.system.fine.active[rows.dofs]
        dofs = np.where(explicit, rows.dofs, self.system.coarse_dofs(rows.dofs))
        return SparseRows(dofs, rows.weights, rows.order, rows.labels)

    def begin(self) -> None:
        """Start of both sides; multipliers from equal accelerations of both copies of the interface dofs."""
        fine, coarse = self.fine, self.coarse
        (u_E, u_I), (v_E, v_I) = self.system.split(self.u), self.system.split(self.v)
        coarse.start(u_I, v_I, self.t0)
        fine.start(u_E, v_E, self.t0, allow_penetration=True)  # checked before
        self.free_velocity[:] = coarse.accelerate(self.t0, fine.multipliers)
        self.r[:], self.r_t[:] = fine.r, fine.r_t
        self._collect()

    def advance(self) -> None:
        """One coarse step: implicit free problem, fine steps, implicit constrained problem."""
        if self.following is not None:
            self.following.before_step()
        new = self.coarse.free_velocity(self.t)  # (61)-(64)
        self._fine_steps(new)
        self.coarse.finish(self.fine.multipliers)  # (54)
        self.free_velocity[:] = new
        self.r[:] = np.add.accumulate(self.contacts.r)[-1]  # sequential, as in the compiled loop
        self._collect()

    def _fine_steps(self, new: FloatArray) -> None:
        """Advance the explicit subdomain from ``t - DT`` to ``t``, in a compiled loop where possible."""
        loop = self._compiled_steps()
        if loop is not None:
            loop.run(self.free_velocity, new, self.contacts, self.following)
            self.r_t[:] = loop.pairs.sums.reshape(self.r_t.shape)
            return
        self.r_t[:] = 0.0
        for j in range(1, self.ratio + 1):
            weight = j / self.ratio
            self.fine.target[:] = (1 - weight) * self.free_velocity + weight * new  # (74)
            self.fine.step()
            self.contacts.note(j - 1)
            self.r_t += self.fine.r_t
            if self.following is not None:
                self.following.fine_step()

    def _compiled_steps(self) -> FineLoop | None:
        known = self._fine_loop is not None and self._fine_loop.balance is self.following
        if not known and self.compiled is not False:
            try:
                self._fine_loop = FineLoop(self.fine, self.following)
            except kernels.NotCompiled as reason:
                if self.compiled:
                    raise ValueError(f"no compiled loop for the fine steps: {reason}") from None
                self.compiled = False
        return self._fine_loop if self.compiled is not False else None

    def take_contacts(self, r: FloatArray, gap: FloatArray, before: FloatArray) -> None:
        """Set the contact records of the fine steps of the last step, computed by a compiled loop."""
        self.contacts.r[:], self.contacts.gap[:], self.contacts.before[:] = r, gap, before
        self.fine.r[:], self.r[:] = r[-1], np.add.accumulate(r)[-1]
        self._collect()

    @property
    def fine_records(self) -> dict[str, FloatArray]:
        """Records of the fine steps of a step, see :class:`FineContact`, shape (m, p) each."""
        return {"r": self.contacts.r, "gap": self.contacts.gap, "before": self.contacts.before}

    def _collect(self) -> None:
        self.contact_state = self.fine.contact_state
        self.system.join(self.fine.u, self.coarse.u, self.u)
        self.system.join(self.fine.v_mean, self.coarse.v, self.v)

    def _read_field(self, name: str, value: Initial) -> FloatArray:
        """Values of the dofs of both subdomains, or a field of the undivided body for both copies."""
        sizes = (self.system.owned, self.system.size)
        if not callable(value) and arguments.floats(value).size in sizes:
            return super()._read_field(name, value)
        fine, coarse = self.system.fine, self.system.coarse
        out = np.zeros(self.system.size)
        self.system.join(initial_field(fine, name, value), initial_field(coarse, name, value), out)
        return out

    def state(self) -> dict[str, AnyArray]:
        """Copies of all variables that the next step depends on, including the last free velocity."""
        arrays = super().state()
        for name, side in (("fine", self.fine), ("coarse", self.coarse)):
            arrays |= {f"{name}.{key}": value for key, value in side.state().items()}
        return arrays

    def state_places(self) -> dict[str, str]:
        """See :meth:`.Integrator.state_places`; both subdomains have the dofs of the undivided body."""
        places = {**super().state_places(), "free_velocity": "pairs"}
        places |= {f"fine.{name}": place for name, place in self.fine.state_places().items()}
        return places | {f"coarse.{name}": "dofs" for name in self.coarse.state_names}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Integrator.resume`."""
        sides = {}
        both: dict[str, GluedExplicit | Implicit] = {"fine": self.fine, "coarse": self.coarse}
        for name, side in both.items():
            sides[name] = {k[len(name) + 1 :]: v for k, v in state.items() if k.startswith(f"{name}.")}
            side.check_state(sides[name])
        super().resume(state)
        self.fine.resume(sides["fine"])
        self.coarse.resume(sides["coarse"])
        self._collect()

    def balance(self) -> EnergyBalance:
        """Energy balance (91)-(93) of Fekak et al."""
        return HATIBalance(self)

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
        """See :func:`.compiled_loop`; every part of both sides must be of a compiled kind."""
        return HATILoop(self, rows, balance)

    def prefer_compiled(self, compiled: bool | None) -> None:
        """Set ``compiled``, for the fine steps within :meth:`step`."""
        self.compiled = compiled


class FineContact:
    """Contact records of the fine steps of the last coarse step.

    Attributes:
        r: Normal impulses, shape (m, p) [N s].
        gap: Gaps at the same times, shape (m, p) [m].
        before: Normal velocities half a fine step earlier, ``L v_{j-1/2}``, shape (m, p) [m/s].
        nodal: Where L varies, the impulses of all fine steps at the dofs of ``contact.nodes.loaded`` as
            :meth:`.ContactNodes.add_impulses` adds them [N s]; else None.
    """

    def __init__(self, fine: GluedExplicit, ratio: int) -> None:
        self._fine, contact = fine, fine.contact
        self.r, self.gap, self.before = (np.zeros((ratio, fine.r.size)) for _ in range(3))
        varies = contact is not None and not contact.constant
        self.nodal = np.zeros(contact.nodes.loaded.dofs.shape) if varies else None  # type: ignore[union-attr]

    def note(self, j: int) -> None:
        """Store the records of fine step ``j``, counted from 0. Collective."""
        s, contact = self._fine, self._fine.contact
        if contact is None:
            return
        self.r[j], self.gap[j] = s.r, s.gap()
        self.before[j] = s.contact_state.L(s.v_before)
        if self.nodal is not None:
            self.nodal *= j > 0
            contact.nodes.add_impulses(s.impulses, self.nodal)
