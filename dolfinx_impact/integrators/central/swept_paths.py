"""Rows of features within a step of central differences: until no path of the step passes through another."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from ..._types import BoolArray, FloatArray
from ...algebra.complementarity import NotConverged
from ...contact.state import ContactState, Impulses
from ...contact.surfaces.halo import Halo
from ...contact.surfaces.swept.certificate import NUMBERS
from ...contact.surfaces.swept.events import TOGETHER
from ...contact.surfaces.swept.feature_rows import FeatureRows, gathered
from ...contact.surfaces.swept.swept_features import SweptFeatures
from ...parallel import anywhere
from ..impulses.delassus import DelassusOperator
from ..impulses.delassus_iterated import IteratedDelassus
from ..impulses.joined_state import JoinedState
from .moved_together import Clusters

#: Rounds after which what still would meet moves together.
_ROUNDS = 10
TESTED, ADDED, STEPS, ROUNDS, MOVED = (
    NUMBERS.index(name) for name in ("tested", "added", "steps", "rounds", "together")
)


class _Asked:
    """A Delassus operator that remembers the contact problem of the step.

    Args:
        response: The operator.
    """

    state: ContactState
    b: FloatArray
    closed: BoolArray
    t: float

    def __init__(self, response: DelassusOperator) -> None:
        self._response = response

    def solve(self, state: ContactState, b: FloatArray, v: FloatArray, t: float, **given: Any) -> Impulses:
        """See :class:`.DelassusOperator`."""
        self.state, self.b, self.t = state, b, t
        closed = given.get("closed")
        self.closed = state.closed if closed is None else closed
        return self._response.solve(state, b, v, t, **given)


class SweptPaths:
    """Contact impulses of a step together with those of features that would meet on its paths.

    The paths ``u -> u + h v`` of all features are tested after contact is solved. In a round the earliest
    hits without common nodes get rows, ``L v >= max(least / h, -e L v-)`` with impulses ``r >= 0`` and
    Coulomb friction; rows of contacts and features are solved together from the free velocity, and all
    paths are tested again. What still would meet after ten rounds, or where a round has no solution, moves
    together: :class:`.Clusters`. Rows begin anew in each step.

    Earliest impacts: Cirak and West, Int. J. Numer. Methods Eng. 64 (2005), doi:10.1002/nme.1400; rounds and
    groups that move together: Bridson, Fedkiw and Anderson, ACM Trans. Graph. 21 (2002),
    doi:10.1145/566654.566623.

    Args:
        scheme: The scheme, :class:`.CentralDifferences`, with a contact that tests paths.

    Attributes:
        contacts: What tests the paths of each contact that asks for it.
        impulse: Sum of the normal impulses of the rows in the last step, with half of the sum of the lengths
            of what moved nodes together; the same on all ranks [N s].
    """

    def __init__(self, scheme: Any) -> None:
        self._scheme, self._comm, self.impulse = scheme, scheme.system.comm, 0.0
        members = [each for each in scheme.contact.members if each.swept]
        self.contacts: list[SweptFeatures] = [each.paths for each in members]
        self._friction = np.array([each.friction for each in members])
        self._restitution = np.array([each.restitution for each in members])
        self._free = np.zeros(scheme.system.size)
        self._solvers: dict[float, IteratedDelassus] = {}
        self._nodes = self._joined_nodes()
        self.gdim = self.contacts[0].facets.x.shape[1]
        self._v, self._u = (np.zeros((self._nodes.count, self.gdim)) for _ in range(2))

    def _joined_nodes(self) -> Halo:
        """All nodes of the contacts; each is told their numbers."""
        facets = [each.facets for each in self.contacts]
        rank, local = (np.concatenate([getattr(f, name) for f in facets]) for name in ("rank", "local"))
        key = rank * (int(local.max()) + 1) + local
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        # In the order of the facets, which no division into ranks changes.
        place = np.empty(first.size, np.int64)
        order = np.argsort(first)
        place[order] = np.arange(first.size)
        ends = np.cumsum([f.rank.size for f in facets])[:-1]
        for each, mine in zip(self.contacts, np.split(place[number.ravel()], ends)):
            each.number = mine
        block = self._scheme.system.block
        return Halo(self._comm, rank[first[order]], local[first[order]], block, facets[0].x.shape[1])

    def table(self) -> FloatArray:
        """What the contacts know of the steps so far, in one array from now on."""
        joined = np.concatenate([each.record for each in self.contacts])
        ends = np.cumsum([each.record.size for each in self.contacts])[:-1]
        for each, record in zip(self.contacts, np.split(joined, ends)):
            each.set_record(record)
        return joined

    def restart(self) -> None:
        """Forget the steps so far."""
        for each in self.contacts:
            each.restart()

    # -- the step

    def resolve(self, response: Any, *, first: bool) -> None:
        """Contact impulses and those of features into the scheme and its velocity. Collective.

        Args:
            response: Delassus operator of the contact.
            first: Whether this is the start, of which half of the impulses act on the velocity.
        """
        s, asked, self.impulse = self._scheme, _Asked(response), 0.0
        self._free[:] = s.v
        found = s.enforcement.impulses(s, asked, first=first)
        self._nodes.gather(s.u, self._u)
        s.set_impulses(found)
        response.apply(found, s.v)
        self._nodes.gather(s.v, self._v)
        if not anywhere(self._comm, any(not each.far(*self._motion_of(each)) for each in self.contacts)):
            return
        for each in self.contacts:
            each.begin(self._u[each.number])
            each.look_at_covered(s.t)
        hits = self._hits(None)
        if len(hits):
            s.set_impulses(self._rounds(asked, response, hits, first))

    def _motion_of(self, each: SweptFeatures) -> tuple[FloatArray, FloatArray]:
        """Displacements of the nodes of a contact, and those of the step."""
        u, path = self._u, self._scheme.dt * self._v
        return (u, path) if len(self.contacts) == 1 else (u[each.number], path[each.number])

    def _hits(self, before: FeatureRows | None) -> FeatureRows:
        """What would meet on the paths of the step, sorted, the same on all ranks. Collective.

        Args:
            before: The hits of the last test: those of nodes whose velocities are as then are hits still, and
                pairs of such nodes are not tested again. None for the first test.
        """
        s, moved = self._scheme, None
        then = self._v.copy()
        self._nodes.gather(s.v, self._v)
        if before is not None:
            moved = np.any(self._v != then, axis=1)
        found, counts = FeatureRows.none(self.gdim), np.zeros(len(self.contacts) + 1)
        for k, each in enumerate(self.contacts):
            which = None if moved is None else moved[each.number]
            found = found.joined(each.hits(s.dt * self._v[each.number], k, self._comm, which))
            counts[k] = each.tested
        counts[-1] = len(found)
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, counts, op=MPI.SUM)
        for k, each in enumerate(self.contacts):
            each.numbers[TESTED] += counts[k]
        if counts[-1]:
            found = gathered(found, self._comm)
        if moved is None or before is None:
            return found
        still = ~np.any(moved[before.nodes] & (before.nodes >= 0), axis=1)
        return found.joined(before[still]).sorted() if still.any() else found

    def _rounds(self, asked: _Asked, response: Any, hits: FeatureRows, first: bool) -> Impulses:
        """Impulses after which nothing meets. Collective."""
        s, factor = self._scheme, 0.5 if first else 1.0
        inverse = self._nodes.at_nodes(s.system.inverse_mass)
        rows, count = FeatureRows.none(self.gdim), 0
        found: Impulses = s.impulses
        of_rows: FloatArray = np.zeros((0, 1 + self.gdim))
        start = found.r, found.r_t
        while len(hits) and count < _ROUNDS:
            wanted = rows.added(hits.disjoint(), inverse)
            try:
                found, of_rows, start = self._solved(asked, wanted, start, factor, first)
            except NotConverged:
                break
            rows, count = wanted, count + 1
            s.v[:] = self._free
            response.apply(found, s.v)
            hits = self._hits(hits)
        self._count(rows, of_rows, count)
        self.impulse = float(of_rows[:, 0].sum())
        if len(hits):
            self._move_together(found, hits, factor)
        return found

    def _solved(
        self,
        asked: _Asked,
        rows: FeatureRows,
        start: tuple[FloatArray, FloatArray | None],
        factor: float,
        first: bool,
    ) -> tuple[Impulses, FloatArray, tuple[FloatArray, FloatArray | None]]:
        """Impulses of the contacts and the rows, solved together from the free velocity. Collective.

        Returns:
            Impulses; those of the rows of all ranks, normal and tangential, shape (m, 1 + gdim); those of all
            points, the next start.

        Raises:
            NotConverged: On all ranks.
        """
        s, comm = self._scheme, self._comm
        if factor not in self._solvers:
            self._solvers[factor] = IteratedDelassus(s, factor)
        which = rows.owned(self._nodes.rank, comm.rank)
        over_nodes = rows.over_nodes(which, self._nodes, comm)
        contact = rows.contact[which]
        bound = rows.least[which] / s.dt
        if not first:
            rebound = -self._restitution[contact] * over_nodes(s.v_before)
            bound = np.maximum(bound, np.where(self._restitution[contact] > 0.0, rebound, bound))
        state = JoinedState(asked.state, asked.closed, over_nodes, self._friction[contact])
        b, p = np.append(asked.b, over_nodes(self._free) - bound), asked.b.size
        together = self._solvers[factor].solve(
            state, b, self._free, asked.t, closed=state.closed, last=_padded(state, *start, p)
        )
        r, r_t = together.r, together.r_t
        vectors = None if r_t is None else np.ascontiguousarray(r_t[p:, : self.gdim])
        swept = np.zeros(s.system.size)
        over_nodes.add_impulses(r[p:], vectors, None, swept)
        tangential = None if r_t is None else r_t[:p]
        found = Impulses(asked.state, r[:p], tangential, swept=swept)
        of_rows = np.zeros((len(rows), 1 + self.gdim))
        of_rows[which, 0] = r[p:]
        of_rows[which, 1:] = 0.0 if vectors is None else vectors
        if comm.size > 1:
            comm.Allreduce(MPI.IN_PLACE, of_rows, op=MPI.SUM)
        return found, of_rows, (r[:p], tangential)

    def _count(self, rows: FeatureRows, impulses: FloatArray, rounds: int) -> None:
        """Keep the rows of the step with their contacts."""
        for k, each in enumerate(self.contacts):
            mine = rows.contact == k
            if mine.any():
                n = each.numbers
                n[ADDED] += np.count_nonzero(mine)
                n[STEPS] += 1
                n[ROUNDS] = max(n[ROUNDS], rounds)
                each.keep(rows[mine], impulses[mine, 0], impulses[mine, 1:], self._scheme.t)

    # -- the last resort

    def _move_together(self, found: Impulses, hits: FeatureRows, factor: float) -> None:
        """Give nodes of what still would meet common velocities, until nothing does. Collective.

        Args:
            found: Impulses so far, to which those of the nodes are added.
            hits: What would meet.
            factor: Part of impulses that acts on the velocity.
        """
        s = self._scheme
        own, free = self._nodes.rank == self._comm.rank, self._v.copy()
        dofs = self._nodes.local[own][:, None] * self._nodes.block + np.arange(self.gdim)
        places = self._places()
        clusters = Clusters(places, self._nodes.at_nodes(s.system.inverse_mass), free, s.t)
        clusters.turning = getattr(s.system, "hypothesis", None) != "axisymmetric"
        involved = np.unique(hits.contact)
        while clusters.join(hits.nodes):
            v, impulses = clusters.velocities()
            s.v[dofs] = v[own]
            hits = self._hits(hits)
            involved = np.union1d(involved, hits.contact)
        if found.swept is None:
            found.swept = np.zeros(s.system.size)
        found.swept[dofs] += impulses[own] / factor
        self.impulse += 0.5 * float(np.linalg.norm(impulses, axis=1).sum()) / factor
        for k in involved:
            self.contacts[k].numbers[MOVED] += 1
            self.contacts[k].events.happened(TOGETHER, s.t)
        found.acting = True

    def _places(self) -> FloatArray:
        """Positions of the nodes, shape (nodes, gdim) [m]."""
        x = self._u.copy()
        known = np.zeros(len(x), dtype=bool)
        for each in self.contacts:
            mine = each.number[~known[each.number]]
            x[mine] += each.facets.x[~known[each.number]]
            known[each.number] = True
        return x


def _padded(state: ContactState, r: FloatArray, r_t: FloatArray | None, p: int) -> Impulses:
    """Impulses of the points of contacts, and none of the rows of features behind them."""
    rest = state.closed.size - p
    if r_t is not None and r_t.size:
        r_t = np.concatenate([r_t, np.zeros((rest, r_t.shape[1]))])
    else:
        r_t = None
    return Impulses(state, np.append(r, np.zeros(rest)), r_t)
