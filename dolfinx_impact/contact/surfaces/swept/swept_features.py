"""The features of a contact whose paths are tested, and what was found on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from mpi4py import MPI

from ...._types import BoolArray, FloatArray, IntArray
from ..assembly import Assembly
from ..features import FeaturePaths
from .certificate import NUMBERS, Certificate
from .cover import Cover
from .events import USED_UP, Events
from .feature_rows import FeatureRows

INSIDE, DEEPEST, USED, NOW = (
    NUMBERS.index(name) for name in ("inside", "deepest", "skin_used", "inside_now")
)


class Features(NamedTuple):
    """Rows of the last step that are no nodes' own, the same on all ranks.

    Attributes:
        nodes: Numbers in the function space, -1 for none, shape (m, 4).
        weights: Shape (m, 4); ``L v = n.sum(w v)``.
        normal: Unit vectors of the separation, shape (m, gdim).
        r: Normal impulses, shape (m,) [N s].
        r_t: Tangential impulses, shape (m, gdim) [N s].
    """

    nodes: IntArray
    weights: FloatArray
    normal: FloatArray
    r: FloatArray
    r_t: FloatArray


class SweptFeatures:
    """Vertices, edges and facets of a contact, and the numbers of its certificate.

    Every rank has all facets, and finds the same.

    Args:
        assembly: Gaps and rows of the covered facets, with all facets on every rank.
        names: Names of the surfaces, which are the parts of events; several that are one contact have the
            connected parts of the body.
        itself: Whether features of one surface are tested too, or those of different surfaces alone.

    Attributes:
        facets: All facets.
        number: Numbers of the nodes among those of all contacts of a scheme, which sets them.
        numbers: Those of :data:`.NUMBERS`.
        record: These and the table of the events, which a checkpoint holds.
        events: First and last contacts.
        last: Rows of the last step.
    """

    def __init__(self, assembly: Assembly, names: tuple[str, ...], *, itself: bool) -> None:
        facets = self.facets = assembly.facets
        self._assembly, skin = assembly, assembly.skin
        self._skin = 0.0 if skin is None else float(skin.max(initial=0.0))
        self._paths = FeaturePaths(
            facets,
            np.zeros(len(facets.nodes)) if skin is None else skin,
            itself=itself,
            glued=lambda first, second: assembly.glued.pairs(first, second),
        )
        part = facets.surface if assembly.roles is None else assembly.roles.body_part
        if itself:
            names = tuple(f"part {k + 1}" for k in range(int(part.max(initial=-1)) + 1))
        self._cover = Cover(assembly)
        self.events = Events(part, names)
        self.number: IntArray = np.arange(len(self.facets.x))
        _, self._facet_at = np.unique(self.facets.nodes, return_index=True)
        self._facet_at //= self.facets.nodes.shape[1]
        self.last = self.none = self._none()
        self.set_record(np.zeros(len(NUMBERS) + self.events.table.size))
        self.restart()

    def begin(self, u: FloatArray) -> None:
        """Begin a step at the displacements of the nodes, shape (nodes, gdim) [m]. Collective."""
        cover, x = self._cover, self.facets.x + u
        cover.begin(x)
        self._paths.begin(x, cover, cover.deep(), apart=cover.apart)
        self.last = self.none

    def far(self, u: FloatArray, path: FloatArray) -> bool:
        """Whether no features are near each other in the step, of which nothing need be asked then.

        Args:
            u, path: Displacements of the nodes at its begin, and in it, shape (nodes, gdim) [m].
        """
        self.last = self.none
        far = self._paths.far(self.facets.x + u, path)
        if far:
            self.numbers[NOW] = 0.0
        return far

    def intersections(self, x: FloatArray) -> IntArray:
        """Pairs of facets that pass through each other at positions x (nodes, gdim), shape (pairs, 2)."""
        return self._paths.intersections(x)

    def search_anew(self) -> None:
        """Take no pairs of before: those that are glued have changed."""
        self._paths.search_anew()

    def restart(self) -> None:
        """Forget the steps so far."""
        self.numbers[:], self.events.table[:], self.last = 0.0, np.nan, self.none

    def set_record(self, record: FloatArray) -> None:
        """Keep :attr:`record` in an array of its size from now on."""
        count = len(NUMBERS)
        self.record, self.numbers = record, record[:count]
        self.events.table = record[count:].reshape(self.events.table.shape)

    def _none(self) -> Features:
        vectors, four = np.zeros((0, self.facets.x.shape[1])), np.zeros((0, 4))
        return Features(four.astype(np.int64), four, vectors, vectors[:, 0], vectors)

    def hits(
        self, path: FloatArray, contact: int, comm: MPI.Comm, moved: BoolArray | None = None
    ) -> FeatureRows:
        """Features that would meet, of this rank's share, in no order.

        Args:
            path: Displacements of the step, shape (nodes, gdim) [m].
            contact: Number of the contact.
            comm: Communicator.
            moved: Mask of the nodes of which one must be at a pair; None for all.
        """
        if self._cover.follow(path):
            self._paths.forget_cover(self._cover.deep())
        found = self._paths.hits(path, (comm.rank, comm.size), moved)
        nodes = np.where(found.nodes >= 0, self.number[found.nodes], -1)
        of_contact = np.full(found.tau.size, contact)
        return FeatureRows(found.tau, found.kind, of_contact, nodes, found.weights, found.normal, found.least)

    @property
    def tested(self) -> int:
        """Feature pairs of this rank's share that were tested at the last :meth:`hits`."""
        return self._paths.tested

    def look_at_covered(self, t: float) -> None:
        """Count contacts and penetration of the covered facets at the begin of the step. Collective."""
        depth, used, facet = self._assembly.segments.deepest(self._cover.warps)
        n = self.numbers
        n[DEEPEST], n[USED] = max(n[DEEPEST], depth), max(n[USED], used)
        n[INSIDE] += max(0.0, self._paths.inside - n[NOW])
        n[NOW] = self._paths.inside
        if facet < 0:
            return
        if used >= 1.0:
            self.events.happened(USED_UP, t)
        self.events.contact(self._assembly.segments.closed(), t)

    def keep(self, rows: FeatureRows, r: FloatArray, r_t: FloatArray, t: float) -> None:
        """Keep the rows of a step, with their impulses.

        Args:
            rows: Those of this contact.
            r, r_t: Normal and tangential impulses, shapes (m,) and (m, gdim) [N s].
            t: Time [s].
        """
        here = np.full(self.number.max() + 2, -1)
        here[self.number] = np.arange(self.number.size)
        nodes = here[rows.nodes]
        numbers = np.where(nodes >= 0, self.facets.global_nodes[nodes], -1)
        self.last = Features(numbers, rows.weights, rows.normal, r, r_t)
        facets = [
            self._facet_at[nodes[np.arange(len(rows)), np.argmax(side, axis=1)]]
            for side in (rows.weights > 0.0, rows.weights < 0.0)
        ]
        self.events.contact(np.column_stack(facets), t)

    def certificate(self) -> Certificate:
        """What may be said of the steps so far."""
        return Certificate.of(self.numbers, self._skin)
