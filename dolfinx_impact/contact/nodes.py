"""What output asks of the points of a contact: dofs, facets, areas, pressures, impulses at nodes."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import arguments, parallel
from .._types import FloatArray, IntArray
from ..algebra.operators import SparseRows, of_points
from .pressure import Facets
from .state import Impulses

if TYPE_CHECKING:
    from .base import Contact


class ContactNodes:
    """The points of a contact with dofs of their own, on no facets that are known.

    Args:
        contact: The contact.
    """

    #: Whether parts of the points' areas may have nothing opposite; :meth:`covered` tells how much has.
    partly = False

    def __init__(self, contact: Contact) -> None:
        self._contact = contact
        self._kept: tuple[Facets | None] | None = None
        self._user: Callable[[], Any] | None = None
        self._used = slice(None)

    # -- dofs

    @property
    def loaded(self) -> SparseRows:
        """Rows whose dofs, shape (n, k), are those on which impulses may act; their weights do not count."""
        return of_points(self._contact.L)

    def dofs(self) -> IntArray:
        """Dofs of the points themselves, without those opposite, shape (p, k)."""
        return of_points(self._contact.L).dofs

    def add_impulses(self, impulses: Impulses, out: FloatArray) -> None:
        """Add impulses at the dofs of :attr:`loaded` to ``out``, shape (n, k) [N s]. Collective."""
        out += impulses.r[:, None] * of_points(impulses.state.L).weights
        if impulses.r_t is not None:
            out += impulses.r_t

    def least_gaps(self, gap: FloatArray, block: int, out: FloatArray) -> None:
        """Write the least gap of the points of every node, shape (nodes,) [m]. Collective.

        Args:
            gap: Gaps of the points, shape (p,) [m].
            block: Number of dofs of a node.
            out: Updated where there are points.
        """
        known = np.where(np.isfinite(gap), gap, np.nan)  # not where nothing is opposite
        np.fmin.at(out, self.dofs() // block, known[:, None])

    # -- facets

    def facets(self) -> Facets | None:
        """The facets to which the points of all ranks belong; None where they are unknown. Collective."""
        if self._kept is None:
            self._kept = (self._find_facets(),)
        return self._kept[0]

    def _find_facets(self) -> Facets | None:
        """See :meth:`facets`, which keeps them. Collective."""
        return None

    def facet_sizes(self) -> FloatArray | None:
        """Sizes of the facets at the points, shape (p,) [m]; None where there are none. Collective."""
        return None

    def covered(self, u: FloatArray) -> FloatArray | None:
        """Parts of the points' areas with something opposite at ``u``, shape (p,). Collective.

        None where these never change: everywhere.
        """
        return None

    # -- pressures

    def used_by(self, scheme: Any, points: slice = slice(None)) -> None:
        """Take the state of a scheme as the present one; the points are these of the scheme's."""
        self._user, self._used = weakref.ref(scheme), points

    def areas(self) -> FloatArray | None:
        """See :meth:`.Contact.areas`. Collective."""
        scheme = None if self._user is None else self._user()
        r = np.zeros(self._contact.count) if scheme is None else scheme.r[self._used]
        found = self._pressures(r, 1.0)
        return None if found is None else found[1]

    def pressure(self, r: FloatArray, dt: float) -> FloatArray | None:
        """See :meth:`.Contact.pressure`. Collective."""
        arguments.number("dt", dt, "be a positive time", above=0.0)
        count, r, error = self._contact.count, np.asarray(r, dtype=np.float64), None
        if r.shape != (count,):
            error = ValueError(f"r must have one impulse a point, shape ({count},), not {r.shape}")
        parallel.agree(self._contact.comm, error)
        found = self._pressures(r, float(dt))
        return None if found is None else found[0]

    def normal_pressure(self, r: FloatArray, dt: float) -> FloatArray | None:
        """Pressures; of ties their component along the normal, at every point of a node. Collective."""
        return self._contact.pressure(r, dt)

    def present(self) -> tuple[FloatArray, float]:
        """Displacements [m] and time [s] of the scheme that uses the contact, zero without one."""
        scheme = None if self._user is None else self._user()
        if scheme is None:
            return np.zeros(self._contact.system.size), 0.0
        return scheme.of_contact(scheme.u), scheme.t

    def _pressures(self, r: FloatArray, dt: float) -> tuple[FloatArray, FloatArray] | None:
        """Pressures [Pa] and areas [m2] of this rank's points, None where they are unknown. Collective."""
        contact, facets = self._contact, self.facets()
        if facets is None:
            return None
        u, t = self.present()
        gap, covered = contact.gap(u, t), self.covered(u)
        local = np.column_stack([r, gap, np.ones(contact.count) if covered is None else covered])
        order = contact.L.sorting(contact.comm)
        every = parallel.gather_rows(contact.comm, local)[order]
        r, gap, parts = every.T[:, None]
        pressure, areas = facets.evaluate(r, gap, parts, np.array([dt]))
        place = np.empty(order.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        mine = place[contact.mine]
        return pressure[0, mine], areas[0, mine]
