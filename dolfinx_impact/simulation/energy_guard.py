"""Guard on the energy of a run: far above all that the system was given, no step can be right."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._types import FloatArray, IntArray
from ..contact.state import ContactState
from ..integrators.base import UnstableTimeStep
from ..systems.system import PointMasses, parts

#: Energy over the given one above which a run ends, whatever the step; with a step above the critical one.
MOST, MOST_BEYOND = 1e3, 10.0
#: Displacement in a step over the size of the system below which a motion counts as rest.
_STILL = 1e-8
#: Steps between two looks without an energy balance: different ones, since loads may have any period.
_SHORTEST, _FURTHER = 60, (0, 17, 5, 29, 11, 2, 23, 37, 8)
#: The same in a compiled loop: at least, at most.
_COMPILED = 64, 1000
#: Energy over the given one from which on loads and motions between two looks are looked for.
_CLEARLY = 2.0


class EnergyGuard:
    """Compares the energy of a run with what the system was given so far.

    Given are the energy at the start, the largest sum so far of the works of loads and prescribed motions,
    moving obstacles, interface and of internal forces that release energy, and the work of damping forces
    where they push, ``-v.d(v) > 0``. Energy is kinetic and internal, the latter that at the start plus the
    internal work. What a formula, damping or an obstacle at rest takes or adds is never counted: where a step
    is unstable, it is this that feeds the motion. An energy is compared with what is given one step later,
    since central differences do half of the work of a force at ``t`` in the step that follows.

    Args:
        integrator: The integrator.
        start: Energy at the start, of all ranks [J].

    Attributes:
        start, given, pushed: Energies at the start, given so far, and of these by damping forces [J].
        contact_gives: Whether the work of contact counts: obstacles move, or push out what starts inside.
    """

    def __init__(self, integrator: Any, start: float) -> None:
        self._s = integrator
        self.start = self.given = start
        self.pushed = self._before = 0.0
        contact = integrator.contact
        self.contact_gives = contact is not None and (contact.moving or starts_inside(integrator))
        self._still = 0.5 * _moving_mass(integrator.system) * (_STILL * integrator.system.length) ** 2

    def excess(self, total: float, work: float, pushed: float) -> float:
        """Count the last step; the energy before it over what is given, 0 for what counts as rest.

        Args:
            total, work: Energy and work given so far [J].
            pushed: What damping forces gave in the step, if positive [J].
        """
        self.pushed += max(0.0, pushed)
        self.given = max(self.given, self.start + work + self.pushed)
        before, self._before = self._before, total
        if not before > self._still / self._s.dt**2:
            return 0.0
        return before / self.given if self.given > 0 else np.inf

    def first_excess(self, totals: FloatArray, works: FloatArray, pushed: FloatArray, most: float) -> int:
        """Index of the first step of a block with an energy that is not finite or too large, -1 for none.

        Args:
            totals, works: As of :meth:`excess`, after each step, shape (n,) [J].
            pushed: What damping forces gave in each step, where positive, shape (n,) [J].
            most: Largest energy over the given one; see :data:`MOST`.
        """
        by_damping = self.pushed + np.cumsum(pushed)
        given = np.fmax.accumulate(np.append(self.given, self.start + works + by_damping))[1:]
        before = np.append(self._before, totals[:-1])
        wrong = (before > most * given) & (before > self._still / self._s.dt**2) | ~np.isfinite(totals)
        first = int(np.argmax(wrong)) if wrong.any() else -1
        self.given, self._before = float(given[first]), float(totals[-1])
        self.pushed = float(by_damping[-1])
        return first

    def error(self, total: float, t: float, step: int, most: float, way_out: str) -> UnstableTimeStep:
        """The error that ends the run."""
        why = "the step is above the critical one"
        if most == MOST:
            why = "the time step is not stable, or forces of u or v that are no damping drive the motion"
        return UnstableTimeStep(
            f"at t = {t:.6g} s (step {step}) the energy is {total:.3g} J, more than {most:g} times the "
            f"{self.given:.3g} J that the system was given by its start, loads, motions and obstacles: "
            f"{why}; {way_out}"
        )


def _moving_mass(system: Any) -> float:
    """Sum of the lumped masses of the displacements [kg], of all directions. Collective."""
    mass: FloatArray = np.asarray(system.mass)
    block, gdim = getattr(system, "block", 1), getattr(system, "gdim", 1)
    if block > gdim:
        mass = mass.reshape(-1, block)[:, :gdim]
    return parallel.total(system.comm, float(mass.sum()))


def starts_inside(integrator: Any) -> bool:
    """Whether points are inside an obstacle, whose contact law may push them out. Collective."""
    contact = integrator.contact
    if contact is None:
        return False
    deepest: float = parallel.largest(integrator.system.comm, -integrator.gap())
    return deepest > float(contact.gap_tolerance)


def compiled_look(made: int) -> int:
    """Steps in a compiled loop until the next look, after ``made`` steps."""
    least, most = _COMPILED
    return min(max(least, made // 2), most)


class Looks:
    """Energies of a run without an energy balance, from a look at its state every now and then.

    Work of the loads between two looks is at most ``sum |f| |[u]|`` with the largest loads seen; of moved
    dofs likewise, with all forces there, beside their kinetic energy; impulses of moving bodies and obstacles
    do at most their sum times the largest speed of these (of the points, where some start inside). Where more
    energy was found than this, loads and motions may have come and gone between two looks: they are evaluated
    at the times of all steps then. The internal work of nonlinear systems is that of the mean forces of two
    looks. All methods but :meth:`note` are collective.

    Args:
        integrator: The integrator, started or resumed.

    Attributes:
        start: Energy at the start, of all ranks [J].
        energy, latest: Kinetic and internal energy at the look before the last one, and at the last one, this
            rank's share [J].
        work: Work given so far, this rank's share [J].
        internal_work: Internal work so far, of linear systems 0, likewise [J].
        pushed: Work of damping forces since the look before, or in the last step, where they push;
            likewise [J].
    """

    def __init__(self, integrator: Any) -> None:
        s, size = integrator, integrator.system.size
        self._s, self._comm = s, s.system.comm
        self._f, self._largest, self._product, self._u = (
            np.zeros(size),
            np.zeros(size),
            np.zeros(size),
            s.u.copy(),
        )
        self._moved, self._n, self._t = _moved_dofs(s.system), s.n, s.t
        self._moves = bool(self._comm.allreduce(self._moved.size))
        self._forces = np.zeros(self._moved.size)
        self._inside = starts_inside(s)
        #: Whether a function of the user damps, which may drive the motion: it is seen after every step.
        self._drags = isinstance(s.system, PointMasses) and s.system.has_damping
        #: Internal forces at the last look, of nonlinear systems, shape (owned,) [N].
        self._before: FloatArray = np.zeros(s.system.owned)
        self._impulses, self._number = 0.0, 0
        self.work = self.pushed = self.internal_work = self.energy = 0.0
        self._stored = 0.0 if s.system.linear else float(s.system.stored_energy(s.u))
        self.latest = self._energy()
        self.start = parallel.total(self._comm, self.latest)

    def note(self, impulses: float) -> None:
        """Count the size of impulses, this rank's [N s], and what a user's damping does in a step."""
        self._impulses += impulses
        if self._drags:
            self.pushed = self._push(self._s.dt)

    @property
    def due(self) -> bool:
        """Whether the time of the next look has come; the same on all ranks."""
        return bool(self._s.n - self._n >= _SHORTEST + _FURTHER[self._number % len(_FURTHER)])

    def look(self) -> None:
        """Evaluate energies and works at the present state."""
        s, n = self._s, self._s.system.owned
        if s.n < self._n:  # counted anew after a change of the step
            self._n = 0
        moved, time = np.abs(s.u - self._u), max(s.t - self._t, 0.0)
        if s.system.has_loads:
            s.system.external(s.t, s.u, s.v_mean, self._f)
            np.maximum(self._largest, np.abs(self._f), out=self._largest)
            self.work += float(self._largest[:n] @ moved[:n])
        if self._moves:
            s.system.force(s.t, s.u, s.v_mean, self._f)
            np.maximum(self._forces, np.abs(self._f[self._moved]), out=self._forces)
            self.work += float(self._forces @ moved[self._moved])
        self.work += self._impulses * self._speed(time)
        if s.system.has_damping and not self._drags:
            self.pushed = self._push(time)
        self.energy, self.latest = self.latest, self._energy()
        if self._unexplained():
            times = np.linspace(self._t, s.t, max(s.n - self._n, 1) + 1)
            self.work += self._unseen_loads(times, np.maximum(moved, time * np.abs(s.v_mean)))
            self.work += self._unseen_motion(times)
        self._u[:], self._t, self._n, self._impulses = s.u, s.t, s.n, 0.0
        self._number += 1

    def _unexplained(self) -> bool:
        """Whether there is clearly more energy than was given, of all ranks."""
        given = self.work + max(self.pushed, 0.0) - min(self.internal_work, 0.0)
        energy, given = self._comm.allreduce(np.array([self.latest, given]))
        return bool(energy > _CLEARLY * (self.start + given))

    def _unseen_loads(self, times: FloatArray, moved: FloatArray) -> float:
        """Work of loads at these times that are larger than those seen so far, this rank's share [J]."""
        s, n, seen = self._s, self._s.system.owned, self._largest.copy()
        for t in times if s.system.has_loads else ():
            s.system.external(float(t), s.u, s.v_mean, self._f)
            np.maximum(self._largest, np.abs(self._f), out=self._largest)
        return float((self._largest - seen)[:n] @ moved[:n])

    def _unseen_motion(self, times: FloatArray) -> float:
        """Work of prescribed motions and moving obstacles at these times, this rank's share [J].

        What is moved gets the energy of its own mass anew in each step: as much as a wave takes with it.
        """
        s, contact, work, largest = self._s, self._s.contact, 0.0, 0.0
        for t in map(float, times):
            for part in parts(s.system) if self._moves else ():
                v = np.abs(part.prescribed.velocity(t, s.dt))
                work += float(part.mass[part.prescribed.dofs] @ v**2)
                largest = max(largest, float(np.max(v, initial=0.0)))
            if contact is not None and contact.moving:
                largest = max(largest, _obstacle_speed(s.contact_state, t))
        return work + 2.0 * self._impulses * float(self._comm.allreduce(largest, op=MPI.MAX))

    def _push(self, time: float) -> float:
        """Work of the present damping forces against themselves over a time, this rank's share [J]."""
        s, n = self._s, self._s.system.owned
        s.system.damping(s.t, s.u, s.v_mean, self._f)
        return -time * float(s.v_mean[:n] @ self._f[:n])

    def _energy(self) -> float:
        s, n, system = self._s, self._s.system.owned, self._s.system
        system.mass_product(s.v_mean, s.mass, self._product)
        kinetic = 0.5 * float(s.v_mean[:n] @ self._product[:n])
        if self._moved.size:  # what moves them is not known: their own energy is given too
            self.work += 0.5 * float(s.v_mean[self._moved] @ self._product[self._moved])
        if system.linear:
            return kinetic + float(system.stored_energy(s.u))
        now = self._internal_forces()
        if s.n > self._n:
            self.internal_work += 0.5 * float((now + self._before) @ (s.u - self._u)[:n])
        self._before = now
        return kinetic + self._stored + self.internal_work

    def _internal_forces(self) -> FloatArray:
        """Internal forces without damping, shape (owned,) [N]."""
        s, n = self._s, self._s.system.owned
        total, part, rest = (np.zeros(s.system.size) for _ in range(3))
        s.system.force(s.t, s.u, s.v_mean, total)
        s.system.external(s.t, s.u, s.v_mean, part)
        if s.system.has_damping:
            s.system.damping(s.t, s.u, s.v_mean, rest)
        internal: FloatArray = (part - rest - total)[:n]
        return internal

    def _speed(self, time: float) -> float:
        """Largest speed of what moves the system at contact points, of all ranks [m/s]."""
        s, contact = self._s, self._s.contact
        if contact is None or not time > 0:
            return 0.0
        speeds = [0.0]
        if contact.moving:
            speeds.append(_obstacle_speed(s.contact_state, s.t))
        if self._inside:
            speeds.append(float(np.max(np.abs(s.contact_state.L(s.of_contact(s.v_mean))), initial=0.0)))
        if self._moved.size:
            speeds.append(float(np.max(np.abs(s.v_mean[self._moved]))))
            speeds.append(float(np.max(np.abs((s.u - self._u)[self._moved]))) / time)
        return 2.0 * float(self._comm.allreduce(max(speeds), op=MPI.MAX))


def _obstacle_speed(state: ContactState, t: float) -> float:
    """Largest speed of moving obstacles at this rank's points [m/s]."""
    return float(np.max(np.abs(state.surface_velocity(t)), initial=0.0))


def _moved_dofs(system: Any) -> IntArray:
    """Owned dofs with prescribed motion, of both bodies of a divided one."""
    dofs = [each.prescribed.dofs for each in parts(system)]
    if len(dofs) == 1:
        return np.asarray(dofs[0])
    both: IntArray = np.concatenate([system.fine_dofs(dofs[0]), system.coarse_dofs(dofs[1])]).astype(np.intp)
    return both
