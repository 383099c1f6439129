"""Contact between surfaces of deformable bodies, and ties."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping

import numpy as np
from mpi4py import MPI

from ... import arguments, parallel
from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import coulomb, kernels
from ...algebra.node_rows import NodeRows
from ...algebra.operators import SparseRows, coordinate_order
from ...systems.solid import Solid
from ..base import Contact
from ..compiled import CompiledContact, Surface
from .checks import refuse_facing_away, refuse_overlap
from .facet_shape import facet_shape
from .facets import collect
from .halo import Halo
from .pair import DEPTH, SurfacePair, slave_and_master
from .point_rows import CornerPoints

#: Distance by which nodes may approach between two searches, over the smallest diameter of a facet.
_MARGIN = 0.25


class SurfaceContact(Contact):
    """Contact of two or more surfaces of a body's parts, each with every other one, or a tie between them.

    The parts find each other at any place. Points are the nodes of the slave side of each pair of surfaces,
    which the contact chooses (less mass per area), with the weighted gap and contact operator of dual mortar
    rows, integrated over segments with a common normal for each pair of facets::

        g_i   = (1/A_i) int psi_i n.(x_s - x_m) dA,     L_i v = (1/A_i) int psi_i n.(v_s - v_m) dA
        W_i v = (1/A_i) int psi_i (v_s - v_m) dA        (friction acts on its tangential part)

    ``psi`` is the dual basis of the covered part of a facet, Cichosz and Bischoff, Comput. Methods Appl.
    Mech. Eng. 200 (2011), doi:10.1016/j.cma.2010.11.004. With a lumped mass the part of the slave in the
    Delassus operator is then diagonal. Against a flat surface ``g_i`` is the distance of the node. Every row
    sums to zero and n is parallel to ``x_s - x_m``: both momenta are kept without friction; friction across
    a gap leaves a torque of gap times tangential impulse. Corners that no facet faces have rows of their own:
    the distance of the node to the opposite facet.

    With ``tie=True`` the surfaces are glued: ``W v = 0`` in all directions, with the weights of the state at
    zero displacement, impulses of any sign, and one point for each node and direction. An initial misfit
    stays.

    Explicit schemes with contact at velocity level take it. Facets: those of P1 and Q1 elements, Q2 and Q3
    with GLL nodes, P2 simplices by linear parts.

    Args:
        body: The solid, with all parts on one mesh; see :func:`dolfinx_impact.mesh.join`.
        surfaces: Names of facets, two or more, without common nodes.
        restitution: Newton's coefficient e of every point, 0 to 1. With friction or different e, e > 0 may
            create energy (the balance shows it).
        gap_tolerance: See :class:`.Contact`; default 1e-12 times the body's length.
        touching: See :class:`.Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        drift_correction: See :class:`.Contact`.
        allow_penetration: Accept surfaces that overlap at zero displacement and at the start.
        tie: Whether the surfaces are glued.

    Attributes:
        facets: Facets of all surfaces and those around them.
        area: Areas of the points at the last evaluation, shape (p,) [m2]: the pressure is ``r / (h area)``.
        searches: Number of searches for candidate pairs.

    Raises:
        ValueError: No solid of two or three dimensions, unknown names, surfaces without outer facets or with
            common nodes, that overlap (the message names the deepest point) or face away from each other; all
            nodes constrained; a tie with restitution, friction or ``touching=False``, or one without facets
            that face each other.
    """

    velocity_level_only = True

    def __init__(
        self,
        body: Solid,
        *surfaces: str,
        friction: float = 0.0,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
        tie: bool = False,
    ) -> None:
        names = _checked(body, surfaces)
        arguments.flag("tie", tie)
        if tie and (friction or restitution or drift_correction or not touching):
            raise ValueError(
                "a tie has neither friction nor restitution nor gaps: leave the other options out"
            )
        self.body, self.surfaces, self.tie = body, names, bool(tie)
        self.constant = self.tie
        facets = self.facets = collect(body, facet_shape(body.space), names)
        rank, gdim = body.comm.rank, body.gdim
        axisymmetric = body.hypothesis == "axisymmetric"
        #: Thickness of a plane body: with it lengths are areas [m].
        self._depth = body.cross_section if gdim == 2 else 1.0
        self._pairs: list[SurfacePair] = []
        self._corners: list[CornerPoints] = []
        for first, second in itertools.combinations(range(len(names)), 2):
            if not allow_penetration and not tie:
                refuse_facing_away(facets, first, second, names)
            slave, master = slave_and_master(facets, first, second)
            self._pairs.append(SurfacePair(facets, slave, master, rank, axisymmetric))
            if not tie:
                self._corners += [
                    CornerPoints(facets, a, b, rank) for a, b in ((slave, master), (master, slave))
                ]
        gathered = body.comm.allgather([each.nodes for each in self._corners])
        self._corner_nodes = np.unique(np.concatenate([np.zeros(0, np.int64), *itertools.chain(*gathered)]))
        self._members: list[SurfacePair | CornerPoints] = [*self._pairs, *self._corners]
        self._nodes = np.concatenate([each.nodes for each in self._members])
        mine = np.flatnonzero(facets.rank == rank)
        self._own, self._own_dofs = mine, facets.local[mine][:, None] * body.block + np.arange(gdim)
        self._x, self._at = facets.x.copy(), np.full((mine.size, gdim), np.nan)
        self._searched = np.full((mine.size, gdim), np.inf)
        smallest = parallel.largest(body.comm, -facets.diameter)
        self._margin, self.searches = -_MARGIN * smallest, 0
        on = facets.part[mine] >= 0
        keys = np.zeros((int(on.sum()), 3))
        keys[:, :gdim] = facets.x[mine[on]]
        order = np.column_stack([facets.part[mine[on]], coordinate_order(keys, body.length)])
        self._loaded = SparseRows(self._own_dofs[on], np.zeros((len(keys), gdim)), order)
        self._impulses = np.zeros(body.size)
        super().__init__(
            body,
            NodeRows(self._order(), gdim, shared=body.comm.size > 1),
            restitution=restitution,
            gap_tolerance=gap_tolerance,
            touching=touching,
            friction=friction,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )
        self.area: FloatArray = np.zeros(self.count)
        self._gap: FloatArray = np.full(self.count, np.inf)
        rest = np.zeros(body.size)
        self._update(rest)
        if tie:
            self._tie_rows()
        elif not allow_penetration:
            refuse_overlap(self, rest)

    def _order(self) -> FloatArray:
        """Sorting keys of the points: the pair, the coordinates, for a tie the direction."""
        x = np.zeros((self._nodes.size, 3))
        x[:, : self.body.gdim] = self.facets.x[self._nodes]
        member = np.repeat(np.arange(len(self._members)), [each.nodes.size for each in self._members])
        keys = np.column_stack([member, coordinate_order(x, self.body.length)])
        if not self.tie:
            return keys
        gdim = self.body.gdim
        return np.column_stack([np.repeat(keys, gdim, axis=0), np.tile(np.arange(gdim), len(keys))])

    L: NodeRows

    @property
    def bilateral(self) -> BoolArray:
        """Mask of the points whose impulses have any sign, shape (p,)."""
        return np.full(self.count, self.tie)

    @property
    def loaded(self) -> SparseRows:
        """See :attr:`.Contact.loaded`: the nodes of all surfaces that this rank owns."""
        return self._loaded

    def point_dofs(self) -> IntArray:
        """See :meth:`.Contact.point_dofs`: those of the slave nodes and corners, shape (p, gdim)."""
        dofs = self.facets.local[self._nodes][:, None] * self.body.block + np.arange(self.body.gdim)
        return np.repeat(dofs, self.body.gdim, axis=0) if self.tie else dofs

    def areas(self) -> FloatArray:
        """See :meth:`.Contact.areas`; in the state of the last evaluation."""
        return self.area

    def warn_of_long_steps(self, u: FloatArray, v: FloatArray, dt: float, t: float = 0.0) -> None:
        """Warn where two surfaces may pass through each other in a step of ``dt``. Collective."""
        facets, at = self.facets, v[self._own_dofs]
        deepest = 2.0 * DEPTH * float(facets.height[facets.surface >= 0].min())
        path = 2.0 * dt * parallel.largest(self.comm, np.linalg.norm(at - self._mean(at), axis=1))
        if path > 0.5 * deepest and self.comm.rank == 0:
            warnings.warn(
                f"surfaces move by up to {path:.3g} m towards each other in a step, more than half of the "
                f"{deepest:.3g} m in which their overlap is seen: they may pass through each other; take a "
                "smaller time step",
                stacklevel=4,
            )

    def _mean(self, at: FloatArray) -> FloatArray:
        """Mean velocity of the surface nodes of all ranks, shape (gdim,) [m/s]. Collective."""
        sums = self.comm.allreduce(np.append(at.sum(axis=0), len(at)))
        mean: FloatArray = sums[:-1] / sums[-1]
        return mean

    def add_nodal_impulses(self, r: FloatArray, r_t: FloatArray, out: FloatArray) -> None:
        """See :meth:`.Contact.add_nodal_impulses`; on both sides. Collective."""
        at = self._loaded.dofs
        self._impulses[at] = 0.0
        self.L.add_impulses(r, r_t if r_t.ndim == 2 else None, None, self._impulses)
        out += self._impulses[at]

    # -- gaps and rows

    def _update(self, u: FloatArray) -> None:
        """Compute gaps and areas at ``u`` unless they are those of ``u`` already. Collective."""
        at = u[self._own_dofs]
        moved = float(np.max(np.linalg.norm(at - self._searched, axis=1), initial=0.0))
        changed = not np.array_equal(at, self._at)
        flags = np.array([moved, float(changed)])
        if self.comm.size > 1:
            self.comm.Allreduce(MPI.IN_PLACE, flags, op=MPI.MAX)
        if not flags[1]:
            return
        self._at[:] = at
        # NaN is no contact, and noticed by the guard of the run.
        if not flags[0] <= self.path_between_searches:
            self.search(u)
        self._halo.gather(u, self._y)
        self._x[self._needed] = self.facets.x[self._needed] + self._y
        for pair in self._pairs:
            pair.evaluate(self._x)
        self._mark_covered()
        for corners in self._corners:
            corners.evaluate(self._x)
        if not self.tie:
            self._gap = np.concatenate([each.gap for each in self._members])
            self.area = self._depth * np.concatenate([each.area for each in self._members])

    def _mark_covered(self) -> None:
        """Tell the corners whether a facet at them has a segment, on any rank. Collective."""
        if not self._corner_nodes.size:
            return
        covered = np.zeros(len(self.facets.x), dtype=np.int8)
        for pair in self._pairs:
            covered[pair.covered_nodes()] = 1
        flags = covered[self._corner_nodes]
        if self.comm.size > 1:
            self.comm.Allreduce(MPI.IN_PLACE, flags, op=MPI.MAX)
        covered[self._corner_nodes] = flags
        for corners in self._corners:
            corners.covered[:] = covered[corners.nodes]

    @property
    def path_between_searches(self) -> float:
        """Displacement of a node after which candidate pairs are searched again [m]."""
        return 0.5 * self._margin

    def search(self, u: FloatArray) -> None:
        """Find the pairs of facets that may come into contact at ``u``. Collective."""
        facets, self.searches = self.facets, self.searches + 1
        self._x, self._searched[:] = self.positions(u), u[self._own_dofs]
        for each in self._members:
            each.search(self._x, self._margin)
        needed = [each.needed() for each in self._members]
        self._needed = np.unique(np.concatenate(needed)).astype(np.int64)
        rank, local = facets.rank[self._needed], facets.local[self._needed]
        gdim = self.body.gdim
        self._halo = Halo(self.comm, rank, local, self.body.block, gdim)
        self._y = np.zeros((self._needed.size, gdim))

    def positions(self, u: FloatArray) -> FloatArray:
        """Positions of all nodes of :attr:`facets` at ``u``, shape (nodes, gdim) [m]. Collective."""
        rows = parallel.gather_rows(self.comm, np.column_stack([self._own, u[self._own_dofs]]))
        x, nodes = self.facets.x.copy(), rows[:, 0].astype(np.int64)
        x[nodes] += rows[:, 1:]
        return x

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Gaps at ``u``, shape (p,) [m]; infinite where nothing is opposite, 0 for ties. Collective."""
        if self.tie:
            return np.zeros(self.count)
        self._update(u)
        return self._gap.copy()

    def evaluate(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """:meth:`gap`; rows of L at ``u`` for all points with a finite gap. Collective."""
        gap = self.gap(u, t)
        if not self.tie:
            self._set_rows(np.isfinite(gap))
        return gap

    def active_set(self, u: FloatArray, v: FloatArray | None = None, t: float = 0.0) -> BoolArray:
        """See :meth:`.Contact.active_set`; other rows are empty. Collective."""
        self._evaluated_at = t
        if self.tie:
            return self._tied.copy()
        closed = self.closed(self.gap(u, t))
        self._set_rows(closed)
        return closed

    def _entries(self, which: BoolArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Entries of the rows in the mask, shape (nodes of the points,), in the form of NodeRows."""
        place = np.full(len(self.facets.x), -1, dtype=np.int64)
        place[self._needed] = np.arange(self._needed.size)
        ends = np.cumsum([each.nodes.size for each in self._members])[:-1]
        found = [each.rows(part) for each, part in zip(self._members, np.split(which, ends))]
        lengths, nodes, B, W = (np.concatenate(parts) for parts in zip(*found))
        return np.concatenate([[0], np.cumsum(lengths)]), place[nodes], B, W

    def _set_rows(self, which: BoolArray) -> None:
        self.L.set_nodes(self._halo)
        self.L.set(*self._entries(which))

    def _tie_rows(self) -> None:
        """Rows of the tie, one for each covered node and direction."""
        gdim, finite = self.body.gdim, np.concatenate([np.isfinite(each.gap) for each in self._pairs])
        if not self.comm.allreduce(bool(finite.any())):
            raise ValueError("nothing to tie: no facets of these surfaces face each other closely")
        start, nodes, _, W = self._entries(finite)
        rows, directions = [], np.eye(gdim)
        for first, last in zip(start[:-1], start[1:]):
            rows += [(nodes[first:last], n * W[first:last, None], W[first:last]) for n in directions]
        lengths = np.repeat(np.diff(start), gdim)
        parts = [np.concatenate(each) for each in zip(*rows)] if rows else [nodes, np.zeros((0, gdim)), W]
        self.L.set_nodes(self._halo)
        self.L.set(np.concatenate([[0], np.cumsum(lengths)]), *parts)
        self.area = self._depth * np.repeat(np.concatenate([each.area for each in self._pairs]), gdim)
        self._tied = np.repeat(finite, gdim)

    def places(self, u: FloatArray) -> FloatArray:
        """Current positions of the points at ``u``, shape (p, gdim) [m]."""
        x = self.facets.x[self._nodes]
        x = np.repeat(x, self.body.gdim, axis=0) if self.tie else x
        places: FloatArray = x + u[self.point_dofs()]
        return places

    def local_bases(self) -> FloatArray:
        """Local bases at the last evaluation, shape (p, gdim, gdim); without friction the normals alone."""
        normals = self.L.normals()
        if self.friction == 0:
            return normals[:, None, :]
        return np.concatenate([normals[:, None, :], coulomb.tangents(normals)], axis=1)

    def surface_velocity(self, t: float) -> FloatArray:
        """Zero, shape (p, gdim): L and W hold the velocity relative to the opposite surface."""
        return np.zeros((self.count, self.body.gdim))

    def tangential_velocity(self, v: FloatArray, t: float = 0.0) -> FloatArray:
        """Tangential velocities relative to the opposite surface, shape (p, gdim) [m/s]. Collective."""
        velocity, normals = self.L.at_points(v), self.L.normals()
        along: FloatArray = velocity - np.einsum("pk,pk->p", velocity, normals)[:, None] * normals
        return along

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """None: see :meth:`.Contact.compiled`."""
        raise kernels.NotCompiled("contact of surfaces makes its steps one by one")

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        if not self.tie:
            if not self.allow_penetration:
                refuse_overlap(self, u)
            self._set_rows(self.closed(self.gap(u, t)))

    def past(self) -> dict[str, AnyArray]:
        """See :meth:`.Contact.past`; L of the last step follows from the displacements."""
        return {"closed": self.closed_before.astype(np.float64)} if self.remembers else {}

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Contact.resume`."""
        if "closed" in past:
            self.closed_before[:] = past["closed"] > 0.5


def _checked(body: Solid, surfaces: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the surfaces in the order of their tags. Collective."""
    if not isinstance(body, Solid):
        raise ValueError(f"the first argument must be the body, a Solid, but is {arguments.shown(body)}")
    if len(surfaces) < 2:
        raise ValueError(
            f"contact takes two surfaces or more, but these are {list(surfaces)}: name those of both parts"
        )
    for name in surfaces:
        body.named.facets(name)
    if len(set(surfaces)) < len(surfaces):
        raise ValueError(
            f"a surface is named twice in {list(surfaces)}: contact with itself is not available"
        )
    return tuple(sorted(surfaces, key=lambda name: min(body.named.tags(name))))
