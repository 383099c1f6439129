"""Gaps and rows of all pairs of surfaces at given displacements, and the search for candidate pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from mpi4py import MPI

from ... import parallel
from ..._types import BoolArray, FloatArray, Int32Array, IntArray
from ...algebra.operators import SparseRows, coordinate_order
from ...systems.continuum import Continuum
from ...systems.elements.compiler import address
from .corners import CornerPoints
from .halo import Halo
from .held_facets import HeldFacets
from .mortar import MortarPoints
from .motion import NodeMotion
from .ranks.contact_ranks import ContactRanks
from .ranks.region import Region
from .roles import Roles
from .search import Candidates, FacetSearch
from .sides import normal_order
from .swept.segments import Segments
from .tables import DEPTH, FACING, LARGEST_GAP, Tables
from .tied_surfaces import GluedFacets

#: Distance by which nodes may approach between two searches, over the smallest diameter of a facet.
_MARGIN = 0.25


class Assembly:
    """The slave nodes of all pairs of surfaces and their corners, with gaps and rows. Collective.

    Pairs of facets that are so far from each other that no point at them can be closed are left out of a
    step, unless gaps of all points are asked for.

    Args:
        body: The solid.
        facets: All facets, of which this rank holds some from now on.
        pairs: Numbers of the slave and the master surface of each pair.
        divided: Whether the smooth sides of a node have rows of their own.
        corners: Whether corners that no facet faces have rows of their own.
        roles: Roles of the facets of a surface that is paired with itself; None for pairs of surfaces.
        skin: Offset of each facet along its normal, shape (facets,) [m]; None for none.
        whole: Whether each rank holds all facets and computes all gaps, as it does with ``roles``.
        facing: Facets face each other up to this cosine of their outward normals.
        shallow: Whether overlap is seen down to a quarter of a cell between all parts, as within one.

    Attributes:
        facets: The facets that this rank holds, on several ranks renewed by a search: see :class:`.Region`.
        mortar: The points of pairs of surfaces, which stand before those of corners.
        corners: The points of corners.
        nodes: Nodes of the points of this rank, shape (n,).
        normals: Outward normals of their sides at zero displacement, shape (n, gdim).
        gap: Gaps at the last :meth:`update`, shape (n,) [m]; infinite where nothing is opposite.
        halo: Access to the nodes of the rows, renewed by a search.
        needed: Nodes to which the entries of rows refer, renewed by a search.
        ranks: Which rank computes with which points.
        loaded: Rows whose dofs are those of the surface nodes that this rank owns.
        searches: Number of searches.
        pairs: Numbers of the slave and the master surface of each pair.
        glued: What ties of the same list glue, which is no pair.
        path: Largest displacement of a node since :meth:`keep_positions` [m]; NaN without such positions.
        path_between_searches: Displacement of a node after which candidate pairs are searched again [m].
        sizes: Smallest and largest diameter of all facets [m].
        depth: In which overlap is seen, that of the flattest cells [m].
    """

    def __init__(
        self,
        body: Continuum,
        facets: HeldFacets,
        pairs: Sequence[tuple[int, int]],
        *,
        divided: bool,
        corners: bool = True,
        roles: Roles | None = None,
        skin: FloatArray | None = None,
        whole: bool = False,
        facing: float = FACING,
        shallow: bool = False,
    ) -> None:
        self.body, self._comm, self.pairs, self.roles = body, body.comm, list(pairs), roles
        self._with_corners, self.skin, self.glued = corners, skin, GluedFacets()
        whole = whole or roles is not None
        self._shared, gdim = body.comm.size > 1 and divided and not whole, body.gdim
        #: Thickness of a plane body: with it lengths are areas [m].
        self._thickness = body.cross_section if gdim == 2 else 1.0
        self.sizes = float(facets.diameter.min()), float(facets.diameter.max())
        self.depth = 2.0 * DEPTH * float(facets.height[facets.surface >= 0].min())
        self._margin = _MARGIN * self.sizes[0]
        self._masters = np.array([master for _, master in pairs], np.int64)
        self._tables = Tables(facets.shape, gdim, self._comm, divided=divided, facing=facing)
        self._tables.set(axisymmetric=int(body.hypothesis == "axisymmetric"))
        self._tables.set(itself=int(roles is not None), shallow=int(shallow))
        self._region = Region(self._comm, facets, body.block, self._margin, whole=whole)
        #: Whether the facets that are held are not those of the points.
        self._stale = True
        self.halo: Halo
        self._motion = NodeMotion(self._tables.functions, self.facets, body.comm.rank, body.block)
        self.path = np.nan
        self._hold()
        self.gap, self._area = np.full(self.nodes.size, np.inf), np.zeros(self.nodes.size)
        facets, own = self.facets, self._region.own
        points, of_corners = facets.node_number[self.mortar.nodes], self.corners.nodes.size
        self.ranks = ContactRanks(
            self._comm, facets.node_number[own], points, of_corners, shared=self._shared
        )
        if self._region.whole:
            self._set_work(np.ones(len(facets.x), dtype=bool))
        self.path_between_searches, self.searches = 0.5 * self._margin, 0
        #: Whether all gaps are known, not those alone that may be closed.
        self._complete = self._anew = False
        self._pressed: BoolArray = np.zeros(self.nodes.size, dtype=bool)
        self._segments = 0
        self._watched: IntArray = np.zeros(0, np.int64)
        self._watching: BoolArray = np.zeros(0, dtype=bool)
        self._place: Int32Array = np.zeros(0, np.int32)
        self._y: FloatArray = np.zeros((0, gdim))
        self._rows = np.zeros(0, np.int32), np.zeros((0, gdim)), np.zeros(0)
        on = own[facets.part[own] >= 0]
        keys = np.column_stack([facets.part[on], self._keys(on)])
        self.loaded = SparseRows(self.dofs_of(on), np.zeros((on.size, gdim)), keys)

    nodes: IntArray
    normals: FloatArray

    @property
    def facets(self) -> HeldFacets:
        """See above."""
        return self._region.facets

    def all_facets(self) -> HeldFacets:
        """All facets, gathered for this call: nothing that is asked for in a usual step. Collective."""
        return self._region.every()

    # -- which facets and points

    def _hold(self) -> None:
        """Give points and tables the facets that are held."""
        facets = self.facets
        mine, pairs = facets.rank == self._comm.rank, self.pairs
        self.mortar = MortarPoints(facets, pairs, mine)
        with_corners = pairs if self._with_corners else ()
        self.corners = CornerPoints(self._tables, facets, with_corners, mine, self._comm)
        members = self.mortar, self.corners
        self.nodes, self.normals = (
            np.concatenate([getattr(m, name) for m in members]) for name in _OF_POINTS
        )
        others = np.array(self.corners.others, np.int64)
        self._corner_search = FacetSearch(facets, self.corners.each, others, points=True)
        self.glued.hold(facets)
        self._set_facets()

    def _set_work(self, mine: BoolArray) -> None:
        """Compute with the points at the nodes in a mask. Collective."""
        facets, self._work, self._mine = self.facets, self.mortar, mine
        if self._comm.size > 1 and (self._shared or self._region.whole):
            self._work = MortarPoints(facets, self.pairs, mine)
        if self._shared:
            self.ranks.set_route(facets.rank[self._work.nodes])
        #: Places of the points of this rank among those with which it computes; corners follow.
        self._own_points = np.flatnonzero(facets.rank[self._work.nodes] == self._comm.rank)
        self._work.use(self._tables, axisymmetric=self.body.hypothesis == "axisymmetric")
        count, route = self._work.nodes.size, self.ranks.route
        alone = self._comm.allreduce(count == self._own_points.size, op=MPI.LAND)
        self._all_own = route is None and bool(alone)
        self._gap: FloatArray = self.gap
        if not self._all_own:
            self._gap = np.full(count + self.corners.nodes.size if route is None else route.count, np.inf)
            self._own_points = np.append(self._own_points, np.arange(count, self._gap.size))
        self._start = np.zeros(self._gap.size + 1, np.int64)
        self._tables.set(gap=self._gap[:count], corner_gap=self._gap[count:])
        key = None if self.roles is None else self.roles.key
        self._search = FacetSearch(facets, self._work.slave_facets, self._masters, key=key)

    def take(self, changed: bool) -> None:
        """Compute with the points that are those of this rank now, if they have changed. Collective."""
        if changed:
            # Nothing is known of them.
            self._motion.forget()
            self._stale = True

    def _renew(self, u: FloatArray) -> None:
        """Hold the facets that are near at ``u``, on several ranks. Collective."""
        region = self._region
        if region.whole or not (self._stale or region.lacks(region.positions(u))):
            return
        self._stale, numbers = False, self.ranks.nodes()
        region.renew(u, *numbers)
        self._hold()
        self._set_work(np.isin(self.facets.node_number, numbers[0]))

    def _set_facets(self) -> None:
        """Give the tables the facets at zero displacement."""
        facets, count, gdim = self.facets, len(self.facets.nodes), self.body.gdim
        same = {name: getattr(facets, name) for name in ("flatness", "diameter", "height")}
        vectors = {name: np.zeros((count, gdim)) for name in ("centre", "normal", "normal_then")}
        numbers = {name: np.zeros(count) for name in ("radius", "size", "shift", "turn")}
        sharp = {"sharp_start": facets.sharp_start, "sharp": facets.sharp}
        self._tables.set(**same, **vectors, **numbers, **sharp)
        self._set_general()

    def _set_general(self) -> None:
        """Give the tables offsets of the facets, and what roles depend on."""
        facets, count = self.facets, len(self.facets.nodes)
        self._tables.set(skin=np.zeros(count) if self.skin is None else self.skin)
        if self.roles is not None:
            start, star = facets.around(np.arange(len(facets.x)))
            self._tables.set(
                body_part=self.roles.body_part,
                side=self.roles.side,
                held_node=facets.nodes,
                star_start=start,
                star=star,
                master=np.zeros(count, np.uint8),
            )

    @property
    def tolerance(self) -> float:
        """A gap up to this counts as closed [m]."""
        return float(self._tables.pointer.tolerance)

    @tolerance.setter
    def tolerance(self, value: float) -> None:
        self._tables.set(tolerance=value)

    @property
    def area(self) -> FloatArray:
        """Covered areas of the points, shape (n,) [m2]; 0 for corners."""
        if self._all_own:
            self._area[: self.mortar.nodes.size] = self._tables["area"]
        return self._thickness * self._area

    def _keys(self, nodes: IntArray) -> FloatArray:
        x = np.zeros((nodes.size, 3))
        x[:, : self.body.gdim] = self.facets.x[nodes]
        return coordinate_order(x, self.body.length)

    def dofs_of(self, nodes: IntArray) -> IntArray:
        """Dofs of nodes that this rank owns, shape (n, gdim)."""
        return self.facets.local[nodes][:, None] * self.body.block + np.arange(self.body.gdim)

    def order(self) -> FloatArray:
        """Sorting keys of the points: the pair, the coordinates, the normals of the sides, the walls.

        Where a surface is paired with itself, of points at one place those of one part stand together.
        """
        member = np.concatenate([self.mortar.member, len(self.pairs) + self.corners.member])
        wall = np.concatenate([self.mortar.walls, np.zeros(self.corners.nodes.size, np.int64)])
        keys = self._keys(self.nodes)
        if self.roles is not None:  # nodes of several parts at one place
            part = np.zeros(len(self.facets.x))
            part[self.facets.nodes] = self.roles.body_part[:, None]
            keys = np.column_stack([keys, part[self.nodes]])
        return np.column_stack([member, keys, normal_order(self.normals), wall])

    # -- gaps

    def update(self, u: FloatArray, *, every: bool = True, renew: bool = False) -> None:
        """Compute gaps and areas at ``u`` unless they are those of ``u`` already.

        Args:
            u: Displacements, shape (size,) [m].
            every: Whether gaps of all points are needed; else those above the tolerance may be infinite.
            renew: Whether the points may be divided among the ranks anew, where that is due.
        """
        flags, tables = self._motion.found, self._tables
        self._motion.look(u)
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, flags, op=MPI.MAX)
        self.path = float(flags[2])
        due = renew and self.ranks.due
        if not (flags[1] or self._anew) and (self._complete or not every) and not due:
            return
        self._complete, self._anew = every, False
        changed = due and self._share(u)
        # NaN is no contact, and noticed by the guard of the run.
        if changed or not flags[0] <= self.path_between_searches:
            self.search(u)
            self._mark_pressed()
        self.halo.gather(u, self._y)
        self._segments = tables.functions.find_segments(tables.pointer, every)
        tables.functions.weigh(tables.pointer)
        if self._watched.size:
            tables.functions.mark_corners(tables.pointer)
            if self._comm.size > 1:
                self._share_marks()
            tables.functions.project_corners(tables.pointer, every)
        self._set_own()

    def _share(self, u: FloatArray) -> bool:
        """Share the work at ``u`` equally; whether other facets are held now. Collective."""
        before = self.facets
        self._renew(u)
        x, facets = self.positions(u), self.facets
        slaves, counts = np.unique(
            self._search.find(x, LARGEST_GAP, self._margin).pairs[:, 0], return_counts=True
        )
        counted = self._mine[facets.nodes[slaves, 0]]
        self._stale |= self.ranks.renew(facets, np.column_stack([slaves, counts])[counted], x)
        return self._stale or facets is not before

    def press(self, which: BoolArray) -> None:
        """Take points as closed beside corners that have rows of their own, whatever their gaps. Collective.

        Args:
            which: Mask of the points of this rank, shape (p,).
        """
        if parallel.anywhere(self._comm, not np.array_equal(which, self._pressed)):
            self._pressed[:], self._anew = which, True
            self._mark_pressed()

    def _mark_pressed(self) -> None:
        """Bring the marks of :meth:`press` to the points with which this rank computes. Collective."""
        route, marks = self.ranks.route, self._tables["pressed"]
        pressed: FloatArray = self._pressed.astype(np.float64)
        if route is not None:
            here = np.empty((route.count, 1))
            route.there(pressed[:, None], here)
            pressed = here[:, 0]
        elif not self._all_own:
            every = np.zeros(self._gap.size)
            every[self._own_points] = pressed
            pressed = every[: marks.size].copy()
            self._comm.Allreduce(MPI.IN_PLACE, pressed, op=MPI.MAX)
        marks[:] = pressed[: marks.size] > 0

    def _set_own(self) -> None:
        """Bring gaps and areas to the points that this rank owns. Collective."""
        if self._all_own:
            return
        area = self._tables["area"]
        values = np.zeros((self._gap.size, 2))
        values[:, 0], values[: area.size, 1] = self._gap, area
        self.gap[:], self._area[:] = self._of_own(values).T

    def _of_own(self, values: FloatArray) -> FloatArray:
        """Values of the points of this rank, (n, k), from those of the points here. Collective."""
        if self.ranks.route is None:
            return values if self._all_own else values[self._own_points]
        return self.ranks.own(values)

    def _share_marks(self) -> None:
        """Marks of the nodes around corners, of all ranks. Collective."""
        marks = np.zeros((2, self._watched.size), dtype=np.uint8)
        at = self._place[np.searchsorted(self.facets.node_number, self._watched[self._watching])]
        marks[:, self._watching] = self._tables["near"][at], self._tables["shut"][at]
        self._comm.Allreduce(MPI.IN_PLACE, marks, op=MPI.MAX)
        self._tables["near"][at], self._tables["shut"][at] = marks[:, self._watching]

    def least_gaps(self) -> FloatArray:
        """Least gap of what is opposite to each point, at the last :meth:`update` of all, shape (n,) [m]."""
        least = self._work.least_gaps()
        gaps: FloatArray = self._of_own(np.concatenate([least, self._gap[least.size :]])[:, None])[:, 0]
        return gaps

    def closed_nodes(self) -> BoolArray:
        """Mask of the nodes at which this rank found a closed segment or point at the last :meth:`update`."""
        tables, marks, mortar = self._tables, np.zeros(len(self.facets.x), dtype=bool), self._work.nodes
        closed = tables["lowest"][: self._segments] <= self.tolerance
        marks[self.facets.nodes[tables["segment"][: self._segments][closed]]] = True
        marks[mortar[self._gap[: mortar.size] <= self.tolerance]] = True
        marks[self.corners.closed_nodes(self._gap[mortar.size :], self.tolerance)] = True
        return marks

    # -- search

    def search(self, u: FloatArray) -> None:
        """Find the pairs of facets that may come into contact at ``u``."""
        self._renew(u)
        facets, corners = self.facets, self.corners
        x = self.positions(u)
        self._motion.search(u)
        self.searches += 1
        bounds = x, LARGEST_GAP, self._margin
        found, at_corners = self._search.find(*bounds), self._corner_search.find(*bounds)
        if self.roles is not None:
            found = self.roles.chosen(found)
        if self.glued:
            corner, facet = at_corners.pairs.T
            found = found.taken(~self.glued.pairs(*found.pairs.T))
            at_corners = at_corners.taken(~self.glued.corners(corners.nodes[corner], facet))
        self._work.set_candidates(self._with_skin(found), corners.sharp)
        corners.set_candidates(at_corners)
        of_corners, corner_nodes = corners.in_use()
        chosen = _marked(len(facets.nodes), found.pairs, of_corners)
        chosen[facets.sharp[np.repeat(chosen, np.diff(facets.sharp_start))]] = True
        used = np.flatnonzero(chosen)
        needed = np.flatnonzero(_marked(len(facets.x), facets.nodes[used], corner_nodes))
        self.halo = Halo(
            self._comm, facets.rank[needed], facets.local[needed], self.body.block, self.body.gdim
        )
        self._set_nodes(used, needed, x[needed] - facets.x[needed])
        self._gap[self._work.nodes.size :] = np.inf
        self._watched = corners.watched() if corners.any else np.zeros(0, np.int64)
        self._watching = np.isin(self._watched, facets.node_number[needed])

    def _with_skin(self, found: Candidates) -> Candidates:
        """Candidates with their distances between the offset facets."""
        if self.skin is None:
            return found
        return found._replace(above=found.above - self.skin[found.pairs].sum(axis=1))

    def _set_nodes(self, used: IntArray, needed: IntArray, u: FloatArray) -> None:
        """Give the tables the facets and nodes on which gaps depend, with their displacements."""
        tables, facets, count = self._tables, self.facets, needed.size
        self.needed, self._place = needed, np.full(len(facets.x), -1, dtype=np.int32)
        self._place[needed] = np.arange(count, dtype=np.int32)
        self._y = u.copy()
        tables.set(
            nodes=count,
            rest=facets.x[needed],
            u=self._y,
            u_then=u,
            x=np.zeros_like(u),
            moved=np.zeros(count),
            used=used.size,
            in_use=used,
            facet=self._place[facets.nodes],
            point_node=self._place[self._work.nodes],
            corner=self._place[self.corners.nodes],
            stamp=np.full(count, -1, np.int32),
            near=np.zeros(count, np.uint8),
            shut=np.zeros(count, np.uint8),
        )
        if self.roles is not None:
            tables["master"][:] = 0
        tables.functions.describe(tables.pointer)
        tables["normal_then"][used] = tables["normal"][used]

    def positions(self, u: FloatArray) -> FloatArray:
        """Positions of the nodes of the facets at ``u``, shape (nodes, gdim) [m]. Collective."""
        return self._region.positions(u)

    def all_positions(self, facets: HeldFacets, u: FloatArray) -> FloatArray:
        """Positions of the nodes of all facets at ``u``, shape (nodes, gdim) [m]. Collective."""
        return self._displaced(facets, u[self._motion.dofs])

    def keep_positions(self) -> None:
        """Keep the positions of the last :meth:`update`, from which :attr:`path` counts."""
        self._motion.keep()

    def kept_positions(self, facets: HeldFacets) -> FloatArray:
        """Kept positions of the nodes of all facets, shape (nodes, gdim) [m]. Collective."""
        return self._displaced(facets, self._motion.kept)

    def _displaced(self, facets: HeldFacets, own: FloatArray) -> FloatArray:
        """Positions of all nodes by the displacements of those that this rank owns."""
        rows = parallel.gather_rows(self._comm, np.column_stack([self._motion.nodes, own]))
        x, nodes = facets.x.copy(), rows[:, 0].astype(np.int64)
        x[nodes] += rows[:, 1:]
        return x

    # -- rows

    def entries(
        self, which: Callable[[FloatArray], BoolArray]
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Entries of rows in the form of :meth:`.NodeRows.set`, by a mask from the gaps of points.

        They are valid until the next call.
        """
        functions, tables = self._tables.functions, self._tables.pointer
        chosen = which(self._gap)
        if not self._all_own and self.ranks.route is None:
            others = np.ones(chosen.size, dtype=bool)
            others[self._own_points] = False
            chosen[others] = False
        mask = address(chosen.view(np.uint8), "uint8_t *")
        most, gdim = functions.row_length(tables, mask), self.body.gdim
        if most > self._rows[0].size:
            self._rows = np.empty(most, np.int32), np.empty((most, gdim)), np.empty(most)
        nodes, B, W = self._rows
        start = address(self._start, "int64_t *")
        count = functions.set_rows(tables, mask, start, address(nodes, "int32_t *"), address(B), address(W))
        first: IntArray = self._start
        if not self._all_own and self.ranks.route is None:
            # Rows of others are empty.
            first = np.append(first[self._own_points], count)
        return first, nodes[:count], B[:count], W[:count]

    # -- what is found at the last update

    @property
    def segments(self) -> Segments:
        """The segments of the last :meth:`update`."""
        return Segments(self._tables, self._segments, self.glued)

    def leave_out(self, ties: Sequence[Assembly]) -> None:
        """Take facets that these ties glue to each other for no pairs. Collective."""
        self.glued = GluedFacets(ties)
        self.glued.hold(self.facets)
        self.take(True)

    # -- what is found at the last update of all gaps

    @property
    def small_parts(self) -> bool:
        """Whether a facet on this rank has places of a linear pressure."""
        return self._work.small_parts

    def has_segments(self) -> BoolArray:
        """Mask of the points at whose facets something is opposite, False for corners, shape (n,)."""
        marks = np.zeros((self._gap.size, 1))
        marks[: self._work.nodes.size, 0] = self._work.has_segments()
        return self._of_own(marks)[:, 0] > 0.0

    def longest_path(self, v: FloatArray, dt: float) -> tuple[float, float]:
        """Bound of the approach of two surfaces in a step [m], and the depth in which overlap is seen [m]."""
        at = v[self._motion.dofs]
        sums = self._comm.allreduce(np.append(at.sum(axis=0), len(at)))
        speed = parallel.largest(self._comm, np.linalg.norm(at - sums[:-1] / sums[-1], axis=1))
        return 2.0 * dt * speed, self.depth


#: Attributes of points that mortar points and corners have.
_OF_POINTS = ("nodes", "normals")


def _marked(count: int, *numbers: IntArray) -> BoolArray:
    """Mask of the numbers below count that occur in any of the arrays."""
    marks = np.zeros(count, dtype=bool)
    for each in numbers:
        marks[each] = True
    return marks
