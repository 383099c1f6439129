"""Delassus operator of explicit schemes that is applied and never formed: one distributed contact problem."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from mpi4py import MPI

from ..._types import BoolArray, FloatArray
from ...algebra import kernels, projected_iteration
from ...algebra.contact_operator import ContactOperator
from ...algebra.node_rows import Route
from ...algebra.projected_iteration import AdmissibleImpulses, QuotientRange
from ...contact.state import ContactState, Impulses
from ..base import Integrator
from .closed_rows import ClosedRows
from .packable_rows import PackableRows, packable

#: Condition number above which a warning is due.
_ILL = 50.0
#: Part of the largest diagonal entry of H that is the rounding of a row along constrained dofs, as of a tie
#: at the axis: scaled to 1 it would have free velocities beside which all others are within the tolerance.
_HELD = 1e-20


def movable(closed: BoolArray, diagonal: FloatArray, comm: MPI.Comm) -> BoolArray:
    """Mask of the closed points that impulses move, by the diagonal of H. Collective."""
    largest = comm.allreduce(float(diagonal[closed].max(initial=0.0)), op=MPI.MAX)
    moved: BoolArray = closed & (diagonal > _HELD * largest)
    return moved


class _Points(NamedTuple):
    """What the contact problem takes of each point; see :meth:`.ClosedRows.begin`."""

    closed: BoolArray
    b: FloatArray
    bilateral: BoolArray
    friction: FloatArray
    r: FloatArray | None
    r_t: FloatArray | None
    obstacle: FloatArray | None

    def here(self, route: Route, gdim: int) -> _Points:
        """That of the points with which this rank computes. Collective.

        Args:
            route: The points.
            gdim: Number of components of tangential impulses, 0 without friction.
        """
        p = self.b.size
        r = np.zeros(p) if self.r is None else self.r
        vectors = [np.zeros((p, gdim)) if self.r_t is None else self.r_t[:, :gdim]]
        vectors += [] if self.obstacle is None else [self.obstacle]
        values: FloatArray = np.column_stack(
            [self.closed, self.b, self.bilateral, self.friction, r, *vectors]
        )
        out = np.empty((route.count, values.shape[1]))
        route.there(values, out)
        closed, b, bilateral, friction, r = out[:, :5].T.copy()
        r_t, obstacle = (out[:, k : k + gdim].copy() for k in (5, 5 + gdim))
        return _Points(
            closed > 0,
            b,
            bilateral > 0,
            friction,
            r,
            r_t if gdim else None,
            None if self.obstacle is None else obstacle,
        )


class IteratedDelassus:
    """``H = L M^-1 L^T`` with a lumped mass, where points of several ranks or bodies are coupled.

    With dual mortar rows the part of the slave side in H is the identity up to masses, and the iteration
    converges in some tens of products, whatever the number of points.

    Args:
        integrator: The scheme, with a contact.
        factor: Part of the impulse that acts on the velocity (1/2 at the start of central differences).

    Attributes:
        sweeps: Products with H in the last solution.
        condition: Lower bound of the condition number of the scaled H there, from the steps of the iteration.
    """

    def __init__(self, integrator: Integrator, factor: float = 1.0) -> None:
        assert integrator.contact is not None
        self._contact = integrator.contact
        inverse = integrator.system.inverse_mass
        self._inverse = inverse if factor == 1.0 else factor * inverse
        self._velocity = np.zeros(integrator.system.size)
        self.sweeps, self.condition, self._warned = 0, 1.0, False
        self._packed: ClosedRows | None = None
        self._rows: tuple[ContactOperator, PackableRows | None] | None = None

    def _warn(self) -> None:
        """Warn once of a problem that small bodies on large facets make ill-conditioned. Collective."""
        if self._warned or self.condition <= _ILL:
            return
        contact = self._contact
        self._warned = contact.comm.allreduce(any(each.small_parts for each in contact.members))
        if self._warned and contact.comm.rank == 0:
            warnings.warn(
                "a body smaller than the facets that it touches makes contact ill-conditioned (condition "
                f"{self.condition:.3g} and {self.sweeps} products in a step): refine the lighter surface",
                stacklevel=6,
            )

    def solve(
        self,
        state: ContactState,
        b: FloatArray,
        v: FloatArray,
        t: float,
        *,
        closed: BoolArray | None = None,
        last: Impulses | None = None,
    ) -> Impulses:
        """See :class:`.DelassusOperator`; with friction also the tangential impulses. Collective.

        Raises:
            NotConverged: On all ranks.
        """
        L, self.sweeps, self.condition = state.L, 0, 1.0
        r_t = np.zeros((b.size, L.components)) if self._contact.friction > 0 else None
        impulses = Impulses(state, np.zeros(b.size), r_t)
        if closed is None and not state.closed_anywhere:
            return impulses
        closed = state.closed if closed is None else closed
        solve = self._solve_applied if self._packable(L) is None else self._solve_packed
        solve(impulses, closed, b, v, t, last)
        self._warn()
        return impulses

    def _packable(self, L: ContactOperator) -> PackableRows | None:
        """The rows as those of nodes, None where they are not. Collective at first."""
        if self._rows is None or self._rows[0] is not L:
            self._rows = L, packable(L, self._contact.comm, rough=self._contact.friction > 0)
        return self._rows[1]

    def _solve_packed(
        self,
        found: Impulses,
        closed: BoolArray,
        b: FloatArray,
        v: FloatArray,
        t: float,
        last: Impulses | None,
    ) -> None:
        """Write the impulses of rows over nodes: what the iteration needs is packed first."""
        state, rough, problem = found.state, found.r_t is not None, self._packed
        rows = self._packable(state.L)
        assert rows is not None
        if problem is None:
            problem = self._packed = ClosedRows(self._contact.comm)
        r, r_t = (None, None) if last is None else (last.r, last.r_t)
        obstacle = state.surface_velocity(t) if rough and self._contact.moving else None
        at, route = _Points(closed, b, state.bilateral, state.frictions, r, r_t, obstacle), rows.route
        if route is not None:
            at = at.here(route, rows.gdim if rough else 0)
        which = np.flatnonzero(at.closed)
        if not problem.pack(rows, which, self._inverse, rows.gdim if rough else 1, _HELD):
            return
        given = at.b, at.bilateral, at.friction, v if rough else None, at.obstacle, (at.r, at.r_t)
        if problem.begin(*given):
            self.sweeps, self.condition = problem.solve()
            if route is None:
                problem.finish(found.r, found.r_t)
            else:
                self._finish(problem, route, found)

    def _finish(self, problem: ClosedRows, route: Route, found: Impulses) -> None:
        """Write the impulses of rows with which other ranks compute. Collective."""
        gdim = 0 if found.r_t is None else found.r_t.shape[1]
        r, r_t = np.zeros(route.count), None if found.r_t is None else np.zeros((route.count, gdim))
        problem.finish(r, r_t)
        out = np.zeros((found.r.size, 1 + gdim))
        route.back(r[:, None] if r_t is None else np.column_stack([r, r_t]), out)
        found.r[:] = out[:, 0]
        if found.r_t is not None:
            found.r_t[:] = out[:, 1:]

    def _solve_applied(
        self,
        found: Impulses,
        closed: BoolArray,
        b: FloatArray,
        v: FloatArray,
        t: float,
        last: Impulses | None,
    ) -> None:
        """Write the impulses of rows of any kind, which are applied one after the other."""
        contact, state, L, rough = self._contact, found.state, found.state.L, found.r_t is not None
        if not contact.comm.allreduce(bool(closed.any())):
            return
        diagonal = L.diagonal(self._inverse)
        active = movable(closed, diagonal, contact.comm)
        scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros(b.size), where=active)[:, None]
        tangents = state.bases[:, 1:] if rough else np.zeros((b.size, 0, 0))
        free = b[:, None]
        if rough:
            sliding = L.at_points(v) - state.surface_velocity(t)
            free = np.column_stack([b, np.einsum("pdk,pk->pd", tangents, sliding)])

        def product(x: FloatArray) -> FloatArray:
            x = scale * x
            f = np.einsum("pd,pdk->pk", x[:, 1:], tangents) if rough else None
            normal, vector = L.delassus(self._inverse, x[:, 0], f, self._velocity)
            parts = [normal[:, None]]
            if rough:
                parts.append(np.einsum("pdk,pk->pd", tangents, vector))
            scaled: FloatArray = scale * np.hstack(parts)
            return scaled

        cone = AdmissibleImpulses(active, state.bilateral, state.frictions)
        before = np.zeros(free.shape)
        if last is not None:
            before[:, 0] = last.r
            if last.r_t is not None:
                before[:, 1:] = np.einsum("pdk,pk->pd", tangents, last.r_t)
        start = np.divide(before, scale, out=np.zeros_like(before), where=active[:, None])
        quotients = QuotientRange()
        x, self.sweeps = projected_iteration.solve(
            product, scale * free, cone, start, contact.comm, quotients
        )
        self.condition = quotients.condition
        x *= scale
        found.r[:] = x[:, 0]
        if found.r_t is not None:
            found.r_t[:] = np.einsum("pd,pdk->pk", x[:, 1:], tangents)

    def compiled(self) -> FloatArray:
        """None: see :meth:`.LumpedDelassus.compiled`."""
        raise kernels.NotCompiled("the points of the contact are solved together")

    def apply(self, impulses: Impulses, v: FloatArray) -> None:
        """``v += factor M^-1 (L^T r + W^T r_t)``. Collective."""
        impulses.add_to(v, self._inverse)
