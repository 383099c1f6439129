"""What output asks of the points of several contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray, IntArray
from ..algebra.operators import SparseRows, of_points
from ..algebra.stacked_rows import wider
from .listed_state import ListedState
from .nodes import ContactNodes
from .pressure import Facets, ListedFacets
from .state import Impulses

if TYPE_CHECKING:
    from .base import Contact
    from .contact_set import ContactSet


class ListedNodes(ContactNodes):
    """The points of all members, one contact after the other."""

    _contact: ContactSet

    def __init__(self, contact: ContactSet) -> None:
        super().__init__(contact)
        self._members = [each.nodes for each in contact.members]
        self.partly = any(each.partly for each in self._members)
        self._parts, self._loaded = contact.parts, self._joined_loaded()

    @property
    def loaded(self) -> SparseRows:
        """See :attr:`.ContactNodes.loaded`; of all members."""
        return self._loaded

    def _joined_loaded(self) -> SparseRows:
        members = [each.loaded for each in self._members]
        if all(rows is each.L for rows, each in zip(members, self._contact.members)):
            return of_points(self._contact.L)
        width, keys = (max(getattr(rows, name).shape[1] for rows in members) for name in ("dofs", "order"))
        order = [np.insert(wider(rows.order, keys), 0, i, axis=1) for i, rows in enumerate(members)]
        dofs = np.concatenate([repeated(rows.dofs, width) for rows in members])
        return SparseRows(dofs, np.zeros(dofs.shape), np.concatenate(order))

    def dofs(self) -> IntArray:
        """See :meth:`.ContactNodes.dofs`."""
        dofs = [each.dofs() for each in self._members]
        width = max(each.shape[1] for each in dofs)
        return np.concatenate([repeated(each, width) for each in dofs])

    def add_impulses(self, impulses: Impulses, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.add_impulses`. Collective."""
        state, r, r_t = impulses.state, impulses.r, impulses.r_t
        if self.loaded is self._contact.L:
            return super().add_impulses(impulses, out)
        assert isinstance(state, ListedState)
        ends = np.cumsum([each.loaded.count for each in self._members])[:-1]
        members = zip(state.members, self._members, self._parts, np.split(out, ends))
        rest = None if impulses.swept is None else impulses.swept.copy()
        for each, nodes, part, mine in members:
            tangential, of_nodes = None if r_t is None else r_t[part, : each.L.components], None
            dofs = nodes.loaded.dofs
            if rest is not None and each.contact.swept:  # once, where contacts have nodes in common
                of_nodes = np.zeros_like(rest)
                of_nodes[dofs], rest[dofs] = rest[dofs], 0.0
            given = Impulses(each, r[part], tangential, swept=of_nodes)
            nodes.add_impulses(given, mine[:, : dofs.shape[1]])
        return None

    def least_gaps(self, gap: FloatArray, block: int, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.least_gaps`. Collective."""
        for each, part in zip(self._members, self._parts):
            each.least_gaps(gap[part], block, out)

    def used_by(self, scheme: Any, points: slice = slice(None)) -> None:
        """See :meth:`.ContactNodes.used_by`."""
        super().used_by(scheme, points)
        for each, part in zip(self._members, self._parts):
            each.used_by(scheme, part)

    def _find_facets(self) -> Facets | None:
        """See :meth:`.ContactNodes.facets`; None where no member knows its own."""
        members = [(each.total, each.nodes.facets()) for each in self._contact.members]
        return ListedFacets(members) if any(facets is not None for _, facets in members) else None

    def facet_sizes(self) -> FloatArray | None:
        """See :meth:`.ContactNodes.facet_sizes`; infinite for members without."""
        return self._joined([each.facet_sizes() for each in self._members], np.inf)

    def covered(self, u: FloatArray) -> FloatArray | None:
        """See :meth:`.ContactNodes.covered`; of all members."""
        return self._joined([each.covered(u) for each in self._members], 1.0)

    def areas(self) -> FloatArray | None:
        """See :meth:`.ContactNodes.areas`; NaN at points of members that do not know theirs."""
        return self._joined([each.areas() for each in self._contact.members])

    def pressure(self, r: FloatArray, dt: float) -> FloatArray | None:
        """See :meth:`.ContactNodes.pressure`; NaN at points of members that do not know their areas."""
        members = zip(self._contact.members, self._parts)
        return self._joined([each.pressure(r[part], dt) for each, part in members])

    def normal_pressure(self, r: FloatArray, dt: float) -> FloatArray | None:
        """See :meth:`.ContactNodes.normal_pressure`."""
        members = zip(self._members, self._parts)
        return self._joined([each.normal_pressure(r[part], dt) for each, part in members])

    def _joined(self, values: Sequence[FloatArray | None], rest: float = np.nan) -> FloatArray | None:
        return joined(self._contact.members, values, rest)


def joined(
    members: Sequence[Contact], values: Sequence[FloatArray | None], rest: float = np.nan
) -> FloatArray | None:
    """Values at the points of all members, ``rest`` where they are None; None if all are."""
    known = [each for each in values if each is not None]
    if not known:
        return None
    shape = known[0].shape[1:]
    filled = [np.full((m.count, *shape), rest) if v is None else v for m, v in zip(members, values)]
    together: FloatArray = np.concatenate(filled)
    return together


def repeated(dofs: IntArray, width: int) -> IntArray:
    """The columns, padded with copies of the first one, shape (p, width)."""
    return np.hstack([dofs, np.repeat(dofs[:, :1], width - dofs.shape[1], axis=1)])
