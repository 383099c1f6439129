"""Dofs without mass: in static equilibrium under contact at position level, at every time."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ...algebra import kernels
from ...algebra.complementarity import NotConverged
from ...algebra.operators import of_points
from ...algebra.sparse_solver import diagonal_factors
from ...contact.base import Contact
from ...contact.state import ContactState, Impulses
from ...systems.forces.layer import LayerStiffness
from ...systems.system import System
from ..impulses.delassus import CompiledDelassus, FrictionalDelassus, factorised_delassus

_MOST = 60
#: Repetitions in :meth:`StaticLayer.damping_explodes`, and the motion at its start over the length.
_REPEATED, _SMALL = 60, 1e-8
_EPS = float(np.finfo(np.float64).eps)
#: The tangent is computed anew where a correction is not below this part of the one before.
_SLOW = 0.1
#: Largest correction, over the length of the system, at which an iteration that no longer improves may end.
_ENOUGH = 1e-12


class StaticLayer:
    """Static equilibrium of the dofs c of a contact's nodes, those with mass given.

    ::

        f_c(u_d, u_c) + L^T lam + W^T lam_T = 0,   0 <= lam  _|_  g(u_c) >= 0

    f are all forces but contact, L that of u_c; ``|lam_T| <= mu lam`` is Coulomb's law for the slip of the
    points since the step before, less the motion of the obstacle. Newton's method with ``H = L K_cc^-1 L^T``:
    linear systems take one iteration with flat obstacles, all others go on to round-off, with the tangent of
    an earlier step as long as that is good enough.

    Args:
        system: The system.
        contact: Its contact, or None.
        dofs: The dofs c of this rank, owned, free, sorted.

    Attributes:
        forces: Contact forces lam, shape (points of this rank,) [N].
        r_t: Tangential forces lam_T on the body, shape (p, k) [N]; without friction shape (0,).
        state: The contact in the last :meth:`settle`, or None.
        iterations: Evaluations of the forces in the last :meth:`settle`.

    Raises:
        ValueError: A system without tangents; friction at points with constrained dofs.
    """

    def __init__(self, system: System, contact: Contact | None, dofs: IntArray) -> None:
        self.system, self.contact, self.dofs = system, contact, dofs
        count = 0 if contact is None else contact.count
        rough = contact is not None and contact.friction > 0
        self.forces, self.iterations = np.zeros(count), 0
        self.r_t = np.zeros((count, contact.L.components) if contact is not None and rough else 0)
        self.state: ContactState | None = None
        self._last: Impulses | None = None
        self._x, self._moved = np.zeros(system.size), np.zeros(system.size)
        self._solver: LayerStiffness | None = None
        if contact is not None:
            self._solver = LayerStiffness(system, dofs)
            symmetric = self._solver.symmetric
            self._response = factorised_delassus(cast(Any, self), self._solver, symmetric=symmetric)
            if isinstance(self._response, FrictionalDelassus):
                self._response.continues = True
        self._fresh = False

    def settle(
        self,
        t: float,
        u: FloatArray,
        v: FloatArray,
        f: FloatArray,
        *,
        before: FloatArray,
        h: float,
        first: bool = False,
    ) -> None:
        """Put the dofs c of ``u`` to equilibrium, and the forces there into ``f``. Collective.

        Args:
            t: Time [s].
            u: Displacements, the dofs c close to equilibrium, shape (size,) [m].
            v: Velocities for damping forces, shape (size,) [m/s].
            f: Forces, shape (size,) [N].
            before: Positions from which the points slip, shape (dofs c,) [m].
            h: Time since then [s].
            first: Whether no time has passed: the obstacle has not moved since.

        Raises:
            NotConverged: On all ranks.
        """
        if self._solver is None:
            self.system.force(t, u, v, f)
            return
        exact = self.system.linear and self.contact is not None and self.contact.constant
        smallest = last = np.inf
        for self.iterations in range(1, _MOST + 1):
            self.system.force(t, u, v, f)
            if exact and self.iterations == 2:
                return
            self._update_tangent(t, u, v, last, smallest)
            self._correct(t, u, f, before, h, first)
            smallest, last = min(smallest, last), self._largest(self._x[self.dofs])
            if not np.isfinite(last):
                break
            rounding = 4 * _EPS * (self._largest(u[self.dofs]) + self.system.length)
            if last <= rounding or (smallest <= 2 * last and last <= _ENOUGH * self.system.length):
                return
            u[self.dofs] += self._x[self.dofs]
        raise NotConverged(
            f"the contact nodes find no equilibrium at t = {t:.6g} s: the last of {self.iterations} "
            f"corrections is {last:.3g} m; take a smaller time step"
        )

    def damping_explodes(self, t: float, u: FloatArray, h: float) -> bool:
        """Whether damping forces at c, from the velocity of the step before, grow by themselves. Collective.

        ``v' = (x' - x) / h`` with ``x' = -K_cc^-1 C_cc v`` is repeated from a small rough field, C the
        damping at ``u``; after :meth:`settle`. A linear one grows where an eigenvalue of ``K_cc^-1 C_cc`` is
        above h/2, one that acts in compression alone at smaller steps.

        Args:
            t: Time [s].
            u: Displacements, shape (size,) [m].
            h: Time step [s].
        """
        if self._solver is None or not self.system.has_damping:
            return False
        at_rest, force, v, x, before = (np.zeros(self.system.size) for _ in range(5))
        self.system.damping(t, u, v, at_rest)
        v[self.dofs] = (_SMALL * self.system.length / h) * np.sin(1e3 * (1.0 + np.arange(self.dofs.size)))
        sizes = []
        for _ in range(_REPEATED):
            self.system.damping(t, u, v, force)
            self._solver.solve(at_rest - force, x)
            v[self.dofs] = (x[self.dofs] - before[self.dofs]) / h
            x, before = before, x
            sizes.append(self._largest(v[self.dofs]))
            if sizes[-1] > sizes[0] / _SMALL:
                return True
        middle = _REPEATED // 2
        return bool(max(sizes[middle:]) > max(sizes[:middle]) > 0.0)

    def compiled(self) -> CompiledDelassus:
        """Factors of K_cc and the whole of H for compiled loops; after the first :meth:`settle`.

        Raises:
            NotCompiled: The reason of one of them.
        """
        if self.contact is None:
            return CompiledDelassus(diagonal_factors(np.zeros(0), self.dofs), np.zeros((0, 0)))
        response: CompiledDelassus = kernels.ask(self._response, "has no compiled form")
        return response

    def nodal_forces(self, out: FloatArray) -> None:
        """Add ``L^T lam + W^T lam_T`` of the last :meth:`settle`, shape (size,) [N]. Collective."""
        if self.state is not None:
            self.present_forces().add_to(out)

    def present_forces(self) -> Impulses:
        """Lam and lam_T [N] in the state of the last :meth:`settle`."""
        assert self.state is not None
        return Impulses(self.state, self.forces, self.r_t if self.state.contact.friction > 0 else None)

    def _update_tangent(self, t: float, u: FloatArray, v: FloatArray, last: float, smallest: float) -> None:
        """Factorise K_cc at the first step, and of nonlinear systems where corrections decrease slowly."""
        assert self._solver is not None
        slow = not self.system.linear and _SLOW * smallest < last < np.inf
        if not self._fresh or (slow and last > _ENOUGH * self.system.length):
            self._solver.update(t, u, v)
            self._response.forget()
            self._fresh = True

    def _correct(
        self, t: float, u: FloatArray, f: FloatArray, before: FloatArray, h: float, first: bool
    ) -> None:
        """Forces of the contact and correction of u_c, into ``_x``, of the layer linearised at ``u``."""
        contact, c, moved = self.contact, self.dofs, self._moved
        assert contact is not None and self._solver is not None
        self._solver.solve(f, self._x)
        moved[c] = (u[c] - before) / h
        self.state = state = contact.at(u, moved, t, every=True)
        moved[c] += self._x[c] / h
        time = t if first else t - 0.5 * h
        carried = contact.moving and first and contact.friction > 0
        if carried:
            moved[of_points(state.L).dofs] += state.surface_velocity(time)
        # The law at velocity level with H = L K_cc^-1 L^T, forces over h in the place of impulses.
        z = self._solve_contact(state, state.gap / h + state.L(self._x) / h, moved, time)
        if carried:
            moved[of_points(state.L).dofs] = 0.0
        self.forces[:] = h * z.r
        if z.r_t is not None:
            self.r_t[:] = h * z.r_t
        change = np.zeros_like(u)
        self._response.apply(self.present_forces(), change)
        self._x += change

    def _solve_contact(self, state: ContactState, b: FloatArray, v: FloatArray, t: float) -> Impulses:
        """Forces over h [N/s]; points join the problem when they would penetrate. Collective."""
        closed: BoolArray = (b <= 0.0) | (self.forces > 0.0)
        if self._last is None:
            self._last = Impulses(state, np.zeros_like(self.forces), np.zeros_like(self.r_t))
        while True:
            z = self._last = self._response.solve(state, b, v, t, closed=closed, last=self._last)
            change = np.zeros_like(v)
            self._response.apply(z, change)
            opened = (b + state.L(change) < 0.0) & ~closed
            if not state.contact.comm.allreduce(bool(opened.any())):
                return z
            closed |= opened

    def _largest(self, values: FloatArray) -> float:
        return parallel.largest(self.system.comm, np.nan_to_num(np.abs(values), nan=np.inf))
