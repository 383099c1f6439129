"""The facets that a rank holds: its own, and those near the points with which it computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from .... import parallel
from ...._types import BoolArray, FloatArray, IntArray
from ..halo import Halo, sent
from ..held_facets import RANK, SURFACE, FacetRows, HeldFacets, from_rows
from ..tables import LARGEST_GAP
from .boxes import MOST, boxes, near

#: Distance up to which facets are held ahead of time, in margins of the search.
_AHEAD = 2.0
#: Facets in a box, at least; where all are few, boxes are fewer.
_IN_BOX = 8


class Region:
    """The facets that this rank holds, which are all on one rank.

    Own facets are those at nodes that this rank owns. They are held with the facets of slaves around the
    points with which it computes, and the next ring, with those that may have a segment or a corner with
    these before the next search, found by boxes, and with the neighbours of all across sharp edges.
    Collective.

    Args:
        comm: Communicator.
        facets: All facets.
        block: Dofs per node.
        margin: Largest change of a distance until the next search [m].
        whole: Whether each rank holds all facets, always.

    Attributes:
        facets: The facets that are held.
        whole: As given; true on one rank.
        own: Nodes that this rank owns, always the same ones, shape (own,).
        own_dofs: Dofs of these, shape (own, gdim).
    """

    def __init__(
        self, comm: MPI.Comm, facets: HeldFacets, block: int, margin: float, *, whole: bool = False
    ) -> None:
        self._comm, self._block, self._margin = comm, block, margin
        self.whole = whole or comm.size == 1
        self._slaves: IntArray = np.zeros(0, np.int64)
        self._sent: list[BoolArray] = []
        self._hold(facets if self.whole else facets.taken(_own(facets, comm.rank)))
        gdim = facets.x.shape[1]
        self.own_dofs: IntArray = self.facets.local[self.own][:, None] * block + np.arange(gdim)

    def _hold(self, facets: HeldFacets) -> None:
        rank, comm = facets.rank, self._comm
        self.facets, self.own = facets, np.flatnonzero(rank == comm.rank)
        if comm.size > 1:
            self._halo = Halo(comm, rank, facets.local, self._block, facets.x.shape[1])
            #: Facets that this rank sends to others where they are near.
            self._home = np.flatnonzero((rank[facets.nodes[:, 0]] == comm.rank) & (facets.surface >= 0))

    def positions(self, u: FloatArray) -> FloatArray:
        """Positions of the nodes of the facets at ``u``, shape (nodes, gdim) [m]. Collective."""
        facets = self.facets
        if self._comm.size == 1:
            return np.asarray(facets.x + u[self.own_dofs])
        at = np.empty_like(facets.x)
        self._halo.gather(u, at)
        return np.asarray(facets.x + at)

    def every(self) -> HeldFacets:
        """All facets, from the own ones of all ranks. Collective."""
        facets = self.facets
        if self.whole:
            return facets
        rows = facets.rows(_own(facets, self._comm.rank))
        rows = FacetRows(*(parallel.gather_rows(self._comm, each) for each in rows))
        return from_rows(rows, facets.shape, facets.walls)

    # -- what is near

    def lacks(self, x: FloatArray) -> bool:
        """Whether any rank lacks a facet that is near with nodes at these positions. Collective."""
        chosen = self._near(x, self._margin)
        return parallel.anywhere(
            self._comm, any(bool(np.any(now & ~then)) for now, then in zip(chosen, self._sent))
        )

    def renew(self, u: FloatArray, numbers: IntArray, owner: IntArray) -> None:
        """Hold what is near at ``u``. Collective.

        Args:
            u: Displacements, shape (size,) [m].
            numbers, owner: Numbers of the nodes with whose points this rank computes, and their ranks.
        """
        comm, own = self._comm, self.facets.rows(_own(self.facets, self._comm.rank))
        around = self._at_nodes(numbers, owner).nodes
        around = np.unique(around[around[:, SURFACE] >= 0.0], axis=0)
        slaves = self._at_nodes(around[:, 0].astype(np.int64), around[:, RANK].astype(np.int64))
        self._slaves = np.unique(slaves.facets[:, 0]).astype(np.int64)
        self._hold(self._of([own, slaves]))
        self._sent = self._near(self.positions(u), (1.0 + _AHEAD) * self._margin)
        found = exchanged(comm, self.facets, [self._home[each] for each in self._sent])
        rows = FacetRows.joined([own, slaves, found])
        self._hold(self._of([rows, self._across_sharp_edges(rows)]))

    def _of(self, rows: Sequence[FacetRows]) -> HeldFacets:
        return from_rows(FacetRows.joined(rows), self.facets.shape, self.facets.walls)

    @np.errstate(invalid="ignore", over="ignore")
    def _near(self, x: FloatArray, reach: float) -> list[BoolArray]:
        """Which facets of this rank's home come near the facets and corners of each other one. Collective.

        Two spheres around facets are near that have a distance up to their largest gap and the reach.
        """
        comm, facets, none = self._comm, self.facets, np.zeros(self._home.size, dtype=bool)
        centres, radii, gaps = _spheres(facets, np.searchsorted(facets.number, self._slaves), x)
        corners = x[facets.corner & (facets.rank == comm.rank)]
        corners = corners[np.isfinite(corners).all(axis=1)]
        most = min(MOST, 1 + len(centres) // _IN_BOX)
        found = np.concatenate([boxes(centres, radii, most), boxes(corners, np.zeros(len(corners)))])
        gap = np.full(len(found), gaps.max(initial=0.0))
        every = np.column_stack(
            [np.full(len(found), comm.rank), gap, found.reshape(len(found), 2 * x.shape[1])]
        )
        every = parallel.gather_rows(comm, every)
        centres, radii, gaps = _spheres(facets, self._home, x, finite=False)
        chosen: list[BoolArray] = []
        for rank in range(comm.size):
            around = every[every[:, 0] == rank]
            if rank == comm.rank or not len(around):
                chosen.append(none)
                continue
            both = around[:, 2:].reshape(len(around), 2, x.shape[1])
            chosen.append(near(both, centres, radii, np.maximum(gaps, around[0, 1]) + reach))
        return chosen

    # -- facets from other ranks

    def _at_nodes(self, numbers: IntArray, owner: IntArray) -> FacetRows:
        """Facets at nodes, from the ranks that own these. Collective."""
        asked = self._asked(numbers, owner)
        surface = self.facets.surface
        return exchanged(self._comm, self.facets, [each[surface[each] >= 0] for each in asked])

    def _asked(self, numbers: IntArray, owner: IntArray) -> list[IntArray]:
        """Facets at the nodes of this rank for which each other one asks. Collective."""
        order = np.argsort(owner, kind="stable")
        wanted = np.bincount(owner, minlength=self._comm.size)
        numbers, counts = sent(self._comm, numbers[order].astype(np.int64), wanted)
        nodes = np.split(np.searchsorted(self.facets.node_number, numbers), np.cumsum(counts)[:-1])
        return [np.unique(self.facets.around(each)[1]) for each in nodes]

    def _across_sharp_edges(self, rows: FacetRows) -> FacetRows:
        """Neighbours of facets across sharp edges that are not among them, from other ranks. Collective."""
        first, second = rows.sharp.T
        lacking = np.setdiff1d(second, rows.facets[:, 0])
        at = np.isin(rows.facets[:, 0], first[np.isin(second, lacking)])
        n = self.facets.nodes.shape[1]
        nodes = np.unique(rows.facets[at][:, -2 * n : -n])
        nodes = rows.nodes[np.isin(rows.nodes[:, 0], nodes)][:, [0, RANK]]
        nodes = np.unique(nodes, axis=0).astype(np.int64)
        found = exchanged(self._comm, self.facets, self._asked(*nodes.T))
        kept = np.flatnonzero(np.isin(found.facets[:, 0], lacking))
        every = from_rows(found, self.facets.shape, self.facets.walls)
        return every.rows(np.unique(np.searchsorted(every.number, found.facets[kept, 0].astype(np.int64))))


def _own(facets: HeldFacets, rank: int) -> IntArray:
    """Facets at nodes that a rank owns."""
    own: IntArray = np.flatnonzero((facets.rank[facets.nodes] == rank).any(axis=1))
    return own


@np.errstate(invalid="ignore", over="ignore")
def _spheres(
    facets: HeldFacets, chosen: IntArray, x: FloatArray, *, finite: bool = True
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centres and radii of spheres around facets, of those with finite ones or all, and largest gaps [m]."""
    at = x[facets.nodes[chosen]]
    centres = at.mean(axis=1)
    radii = np.linalg.norm(at - centres[:, None], axis=2).max(axis=1)
    gaps = LARGEST_GAP * np.maximum(2.0 * radii, facets.diameter[chosen])
    kept = np.isfinite(radii) if finite else slice(None)
    return centres[kept], radii[kept], gaps[kept]


def exchanged(comm: MPI.Comm, facets: HeldFacets, chosen: Sequence[IntArray]) -> FacetRows:
    """Facets that all ranks send to this one; chosen are those for each rank, by their places. Collective."""
    rows = zip(*(facets.rows(each) for each in chosen))
    return FacetRows(*(_exchanged(comm, parts) for parts in rows))


def _exchanged(comm: MPI.Comm, parts: Sequence[FloatArray]) -> FloatArray:
    counts = np.array([each.size for each in parts])
    values, _ = sent(comm, np.concatenate(parts).ravel(), counts)
    return values.reshape(-1, parts[0].shape[1])
