"""The explicit scheme of Noh and Bathe, which damps high frequencies, with impulses at contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import arguments
from ..._types import FloatArray, Int32Array
from ...algebra.operators import SparseRows
from ...contact.contact_set import Contacts
from ...contact.state import Impulses
from ...systems.system import System
from ..base import Integrator, revision
from ..compiled.noh_bathe import NohBatheLoop
from ..energy import EnergyBalance
from ..impulses.contact_laws import VelocityLevel
from ..impulses.delassus_lumped import lumped_delassus
from ..options import LUMPED, TOUCHING
from ..step_buffer import CompiledLoop
from . import central_formulas as formulas
from .central_differences import renewable
from .lasting_contact import LastingContact
from .noh_bathe_energy import NohBatheBalance
from .noh_bathe_formulas import PART, Q0, Q1, Q2
from .substep import Substep

#: a, b of the limit ``M - a h C - b h^2 K >= 0`` for damping C; of central differences 1/2 and 1/4.
LIMIT = (4 * PART - 2 * PART**2 - 1) / (2 * PART), (3 * PART - 1) * (1 - PART) / 4
#: Distances of the times from which velocities and accelerations of prescribed motions are found, over h.
_VELOCITY_STEP, _ACCELERATION_STEP = 0.125, 0.5


class NohBathe(Integrator):
    """Noh-Bathe with impulses: two explicit substeps, dissipative, contact at velocity level in each.

    Noh and Bathe, Comput. Struct. 129 (2013), doi:10.1016/j.compstruc.2013.06.007, with p = 0.54, and the
    contact law of :class:`.CDLagrange` at the end of both substeps::

        u_1 = u + p h v + (p h)^2/2 a~             a_1 = a(t + p h, u_1, v + p h a~)
        v_1 = v + p h/2 (a + a_1) + M^-1 L^T r_1
        u'  = u_1 + (1-p) h v_1 + ((1-p) h)^2/2 a~_1        a' = a(t + h, u', v_1 + (1-p) h a~_1)
        v'  = v_1 + (1-p) h (q0 a + (1/2 + q1) a_1 + q2 a') + M^-1 L^T r_2
        where g(u_1) <= 0:  0 <= L (v_1 + e v)  _|_  r_1 >= 0,   friction on v_1;   likewise at u' with v_1

        q1 = (1-2p)/(2p(1-p)),  q2 = 1/2 - p q1,  q0 = 1/2 - q1 - q2,  a = M^-1 F(t, u, v), M lumped

    Points that had an impulse in the substep before move with ``a~ = a + M^-1 (L^T lam + W^T lam_T)``,
    without acceleration against the obstacle (:class:`.LastingContact`); otherwise they would creep into it,
    and forces that depend on the velocity would resist a motion that contact prevents. The velocities v_1 and
    v' take a. A body that starts on an obstacle with ``L v_0 < 0`` has the impact there before,
    as with :class:`.CentralDifferences`; in the first substep a~ holds the points that rest on the obstacle
    and on which the forces press.

    High frequencies decay, the more the closer the step is to its limit, ``omega h = 2 / sqrt((3p-1)(1-p)) =
    3.745`` without damping: the highest mode in a step to 0.45 at 0.99 of the limit, 0.90 at 0.7. So the step
    is best given as a part of :meth:`critical_step`, 0.9 say. Waves long against the elements stay. It has no
    energy of its own: on a bar the energy never rises, in one mode it may within some steps, and
    ``dissipated`` is a difference of two works (:class:`.NohBatheBalance`). With e > 0 a point rebounds with
    the velocity that it had at the beginning of the substep, which is first order: a ball that falls loses
    a little energy in every impact, but what is slowed down before an elastic wall, by a spring, gains some.
    Take :class:`.CDLagrange` for many impacts with e close to 1.

    Args:
        system: The system.
        dt: Time step h of both substeps together [s], at most ``NohBathe.critical_step(system)``.
        contact: The contact, a list of contacts, or None.
        allow_unstable: Accept a step above the critical one.

    Attributes:
        r, r_t: Impulses of the last step, the sums of both substeps [N s].
        f: Smooth forces at ``t``, shape (size,) [N].
        f_position: Forces of a~, those with which displacements go on, shape (size,) [N].
        v_start: The velocity at the start, before an impact there, shape (size,) [m/s].
        r_start, r_t_start: Impulses of an impact at the start, shaped as ``r`` and ``r_t`` [N s].
        substep_states: The two substeps of the last step.

    Raises:
        ValueError: A step that is not positive or above the critical one.
    """

    paper = "Noh, Bathe, Comput. Struct. 129 (2013)"
    equations = "both substeps with Newton's impact law and Coulomb's law; p = 0.54"
    order = "2 without impact, 1 with"
    conserves = "linear and angular momentum to second order; dissipates high frequencies"
    step_limit = "h <= 3.745 / omega_max"
    contact_level = "velocity"
    law = VelocityLevel
    follows_history = True
    options = {**LUMPED, **TOUCHING}
    courant = 0.9
    state_names = ("u", "v", "f", "v_force", "f_position", "r", "r_t", "v_start", "r_start", "r_t_start")

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        arguments.time_step(dt)
        super().__init__(system, dt, contact, allow_unstable=allow_unstable)
        size = system.size
        self.f, self.f_position, self.v_force = np.zeros(size), np.zeros(size), np.zeros(size)
        self.v_start = np.zeros(size)
        self.r_start, self.r_t_start = np.zeros_like(self.r), np.zeros_like(self.r_t)
        self.substep_states = tuple(Substep(self) for _ in range(2))
        self._reactions = np.zeros(system.prescribed.dofs.size)
        #: Where L varies, the impulses of both substeps at the dofs of ``contact.nodes.loaded``; else None.
        self._nodal: FloatArray | None = None
        if self.contact is not None and not self.contact.constant:
            self._nodal = np.zeros(self.contact.nodes.loaded.dofs.shape)
        self.enforcement = type(self).law(self.contact)
        self._take_masses()

    def _take_masses(self) -> None:
        self._inverse = self.system.inverse_mass
        if self.contact is not None:
            self._response, self._lasting = lumped_delassus(self), LastingContact(self)

    @classmethod
    def critical_ratio(cls, system: System) -> float:
        """Critical time step over that of central differences, at rest: 1.872515 without damping.

        With damping C the limit is ``M - a h C - b h^2 K >= 0``, a = 0.534074, b = 0.0713. For ``C = alpha M
        + beta K`` the ratio is that of the highest mode: 1.70 for a damping ratio of 0.1, 1.25 for 0.5, 1.07
        for 1. For other damping it is the least of all, ``1/(2 a) = 0.936200``. Collective.
        """
        return cls._ratio(system, system.critical_time_step() if system.has_damping else math.inf)

    @classmethod
    def critical_step(cls, system: System, **state: Any) -> float:
        """See :meth:`.Integrator.critical_step`."""
        critical = system.critical_time_step(**state)
        return cls._ratio(system, critical) * critical

    @staticmethod
    def _ratio(system: System, critical: float) -> float:
        """The ratio where the critical step of central differences is ``critical`` [s].

        With damping that determines the highest frequency: ``w^2 h^2 + 2 (alpha + beta w^2) h = 4``.
        """
        a, b = LIMIT
        rayleigh = getattr(system, "rayleigh", None if system.has_damping else (0.0, 0.0))
        if rayleigh is None:
            return 1 / (2 * a)
        alpha, beta = rayleigh
        if alpha == beta == 0.0 or not math.isfinite(critical):
            return 1 / (2 * math.sqrt(b))
        square = max(4 - 2 * alpha * critical, 0.0) / (critical * (critical + 2 * beta))
        rate = a * (alpha + beta * square)
        return 2 / (rate + math.hypot(rate, 2 * math.sqrt(b * square))) / critical

    @property
    def v_mean(self) -> FloatArray:
        """Velocities at ``t``; at the start those before an impact there [m/s]."""
        return self.v_start if self.n == 0 else self.v

    def v_mean_at(self, dofs: Int32Array) -> FloatArray:
        """:attr:`v_mean` of some dofs [m/s]."""
        v = self.v_start if self.n == 0 else self.v
        return v[dofs]

    def begin(self) -> None:
        """Impact of points in contact, and the forces of the first substep."""
        moved, still = self.system.prescribed, self.system.constrained.copy()
        if moved.any:
            still[moved.dofs] = False
            self.u[moved.dofs] = moved(self.t)
            self.v[moved.dofs] = self._prescribed_velocity(self.t)
        self.v[: self.system.owned][still] = 0.0
        self.v_start[:] = self.v
        start = self.substep_states[1]
        start.t, start.u[:], start.v[:], start.v_before[:] = self.t, self.u, self.v, self.v
        self._reactions[:] = 0.0
        if self.contact is not None:
            self._impact_at_start(start)
        self.v[:] = self.v_force[:] = start.v
        self.system.force(self.t, self.u, self.v_force, self.f)
        if self.contact is not None:
            self._press(start)
        self._hold(start, self.t, self.f, self.f_position)

    def _impact_at_start(self, start: Substep) -> None:
        """``v_0+ = v_0 + M^-1 L^T r`` where closed points approach: Newton's law with v_0."""
        self._apply_impulses(start, self.enforcement.impact(start, self._response))
        self.r_start[:], self.r_t_start[:] = start.r, start.r_t
        self.r[:], self.r_t[:] = start.r, start.r_t
        self._reactions[:] = -start.moved / self.dt
        self._note_impulses(start, first=True)
        self.contact.accept(self.contact_state)  # type: ignore[union-attr]

    def _press(self, start: Substep) -> None:
        """Impulses that would hold the points on which forces press in the first substep; they do not act."""
        n = self.system.owned
        start.v_before[:] = start.v
        start.v[:n] = formulas.kicked(self.v[:n], PART * self.dt * self._inverse, self.f[:n])
        self._apply_impulses(start, self.enforcement.impulses(start, self._response, first=True))

    def advance(self) -> None:
        """Both substeps; the impulses of each act at its end."""
        first, second = self.substep_states
        h, end = self.dt, self.t
        first.dt, first.t, second.dt, second.t = PART * h, end - (1 - PART) * h, (1 - PART) * h, end
        first.v_before[:] = self.v
        self._move(first, self.u, self.f_position)  # u_1, a_1
        half = 0.5 * first.dt
        self._finish(first, (half, self.f), (half, first.f))  # v_1 with r_1
        if self.contact is not None:
            self.contact.accept(self.contact_state)
        self.accept_material()
        second.v_before[:] = first.v
        self._hold(first, first.t, first.f, self.f_position)
        self._move(second, first.u, self.f_position)  # u', a'
        weights = (second.dt * q for q in (Q0, 0.5 + Q1, Q2))
        self._finish(second, *zip(weights, (self.f, first.f, second.f)))  # v' with r_2
        self.u[:], self.v[:], self.f[:], self.v_force[:] = second.u, second.v, second.f, second.v_force
        np.add(first.r, second.r, out=self.r)
        np.add(first.r_t, second.r_t, out=self.r_t)
        np.add(self.missing(first), self.missing(second), out=self._reactions)
        self._reactions /= h
        self._hold(second, end, self.f, self.f_position)

    def _move(self, s: Substep, u: FloatArray, f_position: FloatArray) -> None:
        """Displacements at the end of a substep from those at its beginning, and the forces there."""
        n, h, moved = self.system.owned, s.dt, self.system.prescribed
        np.multiply(self._inverse, f_position[:n], out=s.u[:n])
        s.u[:n] *= 0.5 * h
        s.u[:n] += s.v_before[:n]
        s.u[:n] *= h
        s.u[:n] += u[:n]
        s.v_force[:n] = formulas.kicked(s.v_before[:n], h * self._inverse, f_position[:n])
        if moved.any:
            s.u[moved.dofs] = moved(s.t)
            s.v_force[moved.dofs] = self._prescribed_velocity(s.t)
        self.system.force(s.t, s.u, s.v_force, s.f)

    def _finish(self, s: Substep, *forces: tuple[float, FloatArray]) -> None:
        """Velocities at the end of a substep from weighted forces, and contact there."""
        n, moved = self.system.owned, self.system.prescribed
        s.impulse[:] = 0.0
        for weight, f in forces:
            s.impulse += weight * f[:n]
        s.v[:n] = formulas.kicked(s.v_before[:n], self._inverse, s.impulse)
        if moved.any:
            s.v[moved.dofs] = s.v_force[moved.dofs]
        if self.contact is not None:
            self._apply_impulses(s, self.enforcement.impulses(s, self._response))
            mean = formulas.mean_velocity(s.v_before, s.v)
            s.contact_work = self.contact_work(mean, self.impulses_of(s.r, s.r_t))
            self._note_impulses(s, first=s is self.substep_states[0])

    def _apply_impulses(self, s: Substep, impulses: Impulses) -> None:
        self.contact_state, s.r[:] = impulses.state, impulses.r
        s.r_t[:] = 0.0 if impulses.r_t is None else impulses.r_t
        self._response.apply(impulses, s.v)
        s.moved[:] = self.moved_impulses(impulses)

    def _note_impulses(self, s: Substep, *, first: bool) -> None:
        """Add those of a substep to the nodal impulses of the step, with the L of the substep. Collective."""
        if self.contact is not None and self._nodal is not None:
            if first:
                self._nodal[:] = 0.0
            if self.contact.L.collective or s.r.any():
                self.contact.nodes.add_impulses(self.impulses_of(s.r, s.r_t), self._nodal)

    def add_nodal_impulses(self, out: FloatArray) -> None:
        """See :meth:`.Integrator.add_nodal_impulses`: those of both substeps."""
        if self._nodal is None:
            super().add_nodal_impulses(out)
        else:
            out += self._nodal

    def missing(self, s: Substep) -> FloatArray:
        """Impulses ``m (v - v_before) - J - L^T r`` of a substep that prescribed motions need, (k,) [N s]."""
        dofs = self.system.prescribed.dofs
        inertia: FloatArray = self.system.mass[dofs] * (s.v - s.v_before)[dofs]
        return inertia - s.impulse[dofs] - s.moved

    def reactions(self) -> FloatArray:
        """See :meth:`.Integrator.reactions`: means over the last step; at the start those of an impact."""
        return self._reactions.copy()

    def _hold(self, s: Substep, t: float, f: FloatArray, out: FloatArray) -> None:
        """Forces of a~ from the smooth ones and the impulses of a substep, which has just been made."""
        out[:] = f
        if self.contact is not None:
            impulses = self.impulses_of(s.r, s.r_t)
            self._lasting.add_forces(impulses, t, _ACCELERATION_STEP * self.dt, out)

    def _prescribed_velocity(self, t: float) -> FloatArray:
        """Velocities of the dofs with prescribed motion at ``t``, shape (k,) [m/s]."""
        velocities: FloatArray = self.system.prescribed.velocity(t, _VELOCITY_STEP * self.dt)
        return velocities

    def change_step(self, dt: float) -> None:
        """Continue with another time step from the state at ``t``, which does not change."""
        self.t0, self.n, self.dt = self.t, 0, float(dt)
        self.v_start[:], self.r_start[:], self.r_t_start[:] = self.v, 0.0, 0.0

    def renew(self) -> None:
        """See :meth:`.Integrator.renew`; the forces of the last step remain.

        Raises:
            ValueError: A time step above the critical one of the new matrices.
        """
        if not renewable(self):
            super().renew()
        self._revision = revision(self.system)
        self._take_masses()

    def balance(self) -> EnergyBalance:
        """The works of both substeps, and their differences."""
        return NohBatheBalance(self)

    def compiled_loop(self, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
        """See :func:`.compiled_loop`; every part of the step must be of a compiled kind."""
        return NohBatheLoop(self, rows, balance)
