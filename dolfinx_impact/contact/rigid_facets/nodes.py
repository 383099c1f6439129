"""What output asks of the points between nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import parallel
from ..._types import FloatArray, IntArray
from ...algebra.contact_operator import ascending
from ...algebra.operators import SparseRows, coordinate_order
from ..nodes import ContactNodes
from ..pressure import PointFacets
from ..state import Impulses
from .parts import diameters

if TYPE_CHECKING:
    from .facet_points import FacetPoints


class FacetNodes(ContactNodes):
    """The points between nodes: point forces without an area, on the nodes of their facets."""

    _contact: FacetPoints

    def __init__(self, contact: FacetPoints) -> None:
        super().__init__(contact)
        parts, body = contact.parts, contact.body
        mine = np.flatnonzero(parts.halo.rank == body.comm.rank)
        x = np.zeros((mine.size, 3))
        x[:, : body.gdim] = parts.x[mine]
        outer = contact.of_nodes.outer
        assert outer is not None
        sides = np.round(1e6 * outer.normals_at(parts.global_nodes[mine])) + 0.0
        keys = np.hstack([coordinate_order(x, body.length), sides])
        order = ascending(keys)
        dofs = parts.halo.local[mine[order]][:, None] * body.block + np.arange(body.gdim)
        self._loaded = SparseRows(dofs, np.zeros(dofs.shape), keys[order])
        self._impulses = np.zeros(body.size)

    @property
    def loaded(self) -> SparseRows:
        """See :attr:`.ContactNodes.loaded`: the nodes of the facets that this rank owns."""
        return self._loaded

    def dofs(self) -> IntArray:
        """Dofs of the first node of each point's facet, which this rank owns, shape (p, gdim)."""
        contact = self._contact
        dofs: IntArray = contact.parts.first[:, None] * contact.body.block + np.arange(contact.body.gdim)
        return np.repeat(dofs, len(contact.faces), axis=0)

    def add_impulses(self, impulses: Impulses, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.add_impulses`; on the nodes of the facets. Collective."""
        at = self._loaded.dofs
        self._impulses[at] = 0.0
        impulses.add_to(self._impulses)
        out += self._impulses[at]

    def least_gaps(self, gap: FloatArray, block: int, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.least_gaps`: of all nodes of a point's facet. Collective."""
        contact = self._contact
        parts, comm = contact.parts, contact.comm
        known = np.flatnonzero(np.isfinite(gap))
        numbers = parts.global_nodes[parts.nodes[parts.own[known // len(contact.faces)]]]
        rows = np.column_stack([numbers.ravel(), np.repeat(gap[known], numbers.shape[1])])
        rows = parallel.gather_rows(comm, rows)
        index_map = contact.body.space.dofmap.index_map
        local = rows[:, 0].astype(np.int64) - index_map.local_range[0]
        mine = (local >= 0) & (local < index_map.size_local)
        np.fmin.at(out, local[mine], rows[mine, 1])

    def _find_facets(self) -> PointFacets:
        """See :meth:`.ContactNodes.facets`: none, so that areas and pressures are 0."""
        nothing = np.zeros(0)
        return PointFacets(
            self._contact.total, nothing.astype(np.int64), nothing.astype(np.int64), nothing, nothing
        )

    def facet_sizes(self) -> FloatArray:
        """See :meth:`.ContactNodes.facet_sizes`."""
        parts = self._contact.parts
        return np.repeat(diameters(parts.x[parts.nodes[parts.own]]), len(self._contact.faces))
