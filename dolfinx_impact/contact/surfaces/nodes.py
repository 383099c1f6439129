"""What output asks of surfaces in contact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._types import FloatArray, IntArray
from ...algebra.operators import SparseRows
from ...systems.outer_facets import OuterFacets, collect_facets
from ..nodes import ContactNodes
from ..pressure import PointFacets, quotient
from ..state import Impulses
from .slave_facets import slave_facets
from .tied_surfaces import present_normals

if TYPE_CHECKING:
    from .surface_contact import SurfaceContact


class SurfaceNodes(ContactNodes):
    """The points of the slave surfaces; impulses act on the nodes of both sides."""

    partly = True
    _contact: SurfaceContact
    _whole: FloatArray

    def __init__(self, contact: SurfaceContact) -> None:
        super().__init__(contact)
        self._impulses = np.zeros(contact.body.size)

    @property
    def loaded(self) -> SparseRows:
        """See :attr:`.ContactNodes.loaded`: the nodes of all surfaces that this rank owns."""
        return self._contact.assembly.loaded

    def dofs(self) -> IntArray:
        """See :meth:`.ContactNodes.dofs`: those of the slave nodes and corners, shape (p, gdim)."""
        contact = self._contact
        dofs = contact.assembly.dofs_of(contact.assembly.nodes)
        return np.repeat(dofs, contact.body.gdim, axis=0) if contact.tie else dofs

    def add_impulses(self, impulses: Impulses, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.add_impulses`; on both sides. Collective."""
        at = self.loaded.dofs
        self._impulses[at] = 0.0
        impulses.add_to(self._impulses)
        out += self._impulses[at]

    def _find_facets(self) -> PointFacets:
        """See :meth:`.ContactNodes.facets`; those of the slave surfaces."""
        contact = self._contact
        rows = contact.body.gdim if contact.tie else 1
        order, place = contact.L.sorting(contact.comm), np.empty(contact.total, dtype=np.int64)
        place[order] = np.arange(contact.total)
        outer = self._outer_facets()
        numbers = place[contact.mine][::rows] // rows
        facets, self._whole = slave_facets(contact.assembly, outer, numbers, tied=contact.tie)
        return facets

    def _outer_facets(self) -> list[OuterFacets]:
        """Facets of each surface; of all names where these are one. Collective."""
        contact = self._contact
        if not contact.surfaces:
            return [collect_facets(contact.body, None)]
        every = [collect_facets(contact.body, name) for name in contact.surfaces]
        return [OuterFacets.joined(every)] if contact.itself else every

    def facet_sizes(self) -> FloatArray | None:
        """See :meth:`.ContactNodes.facet_sizes`; None for ties."""
        contact = self._contact
        if contact.tie:
            return None
        facets, sizes = contact.facets, np.zeros(len(contact.facets.x))
        np.maximum.at(sizes, facets.nodes, facets.diameter[:, None])
        at_points: FloatArray = sizes[contact.assembly.nodes]
        return at_points

    def covered(self, u: FloatArray) -> FloatArray:
        """See :meth:`.ContactNodes.covered`. Collective."""
        self.facets()
        contact, assembly = self._contact, self._contact.assembly
        if not contact.tie:
            assembly.update(u)
        parts = np.where(self._whole > 0.0, quotient(assembly.area, self._whole), assembly.has_segments())
        return np.repeat(parts, contact.body.gdim) if contact.tie else parts

    def normal_pressure(self, r: FloatArray, dt: float) -> FloatArray | None:
        """See :meth:`.ContactNodes.normal_pressure`; of a tie, whose pressures are tractions."""
        pressure, contact = self.pressure(r, dt), self._contact
        if not contact.tie or pressure is None:
            return pressure
        gdim = contact.body.gdim
        # Linear bodies have their forces, and thus tractions, at zero displacement.
        x = contact.facets.x if contact.body.linear else contact.assembly.positions(self.present()[0])
        along = np.einsum("pi,pi->p", pressure.reshape(-1, gdim), present_normals(contact.assembly, x))
        return np.repeat(-along, gdim)
