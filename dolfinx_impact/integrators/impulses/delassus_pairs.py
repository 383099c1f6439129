"""Delassus operator of node pairs with friction for explicit schemes: every pair is solved by itself."""

from __future__ import annotations

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray
from ...algebra import complementarity
from ...algebra.contact_operator import ContactOperator
from ...contact.node_pairs import NodePairs
from ...contact.state import ContactState, Impulses
from ..base import Integrator


class PairsDelassus:
    """``H_i = 1/m_1 + 1/m_2`` of pairs without common nodes, with one mass for all directions of a node.

    The normal impulse then does not change the tangential velocity of its pair, and Coulomb's law is that of
    Di Stasio et al. (2019), doi:10.1186/s40323-019-0126-y, Algorithm 2, with H_i in the place of 1/m.

    Args:
        integrator: The scheme, its contact node pairs with friction.
        factor: Part of the impulse that acts on the velocity (1/2 at the start of central differences).
    """

    def __init__(self, integrator: Integrator, factor: float = 1.0) -> None:
        contact, inverse = integrator.contact, integrator.system.inverse_mass
        assert isinstance(contact, NodePairs)
        self._contact, self._inverse = contact, inverse if factor == 1.0 else factor * inverse
        self._H = contact.L.diagonal(self._inverse)
        self._after, self._nothing = np.zeros(integrator.system.size), np.zeros(contact.count)

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
        """See :class:`.DelassusOperator`. Collective.

        Raises:
            NotConverged: Values that are not finite, on all ranks.
        """
        closed = state.closed if closed is None else closed
        r, which, error = np.zeros(b.size), np.flatnonzero(closed), None
        try:
            r[which] = complementarity.solve(self._H[which], b[which])
        except complementarity.NotConverged as caught:
            error = caught
        parallel.agree(self._contact.comm, error)
        return Impulses(state, r, self._friction(state.L, r, v))

    def compiled(self) -> FloatArray:
        """The diagonal of H for compiled loops, shape (p,) [1/kg]."""
        return self._H

    def apply(self, impulses: Impulses, v: FloatArray) -> None:
        """``v += factor M^-1 (L^T r + W^T r_t)``. Collective."""
        L = impulses.state.L
        L.add_scaled_transpose(impulses.r, self._inverse, v)
        L.add_impulses(self._nothing, impulses.r_t, self._inverse, v)

    def _friction(self, L: ContactOperator, r: FloatArray, v: FloatArray) -> FloatArray:
        """Tangential impulses on the second nodes, shape (p, gdim) [N s]. Collective.

        Args:
            L: The contact operator.
            r: Normal impulses, shape (p,) [N s].
            v: Free velocities, shape (size,) [m/s].
        """
        contact, after, at = self._contact, self._after, L.support
        after[at] = v[at]
        L.add_scaled_transpose(r, self._inverse, after)
        slip, n = L.at_points(after), contact.normal
        # Sums in the order of the compiled loop.
        normal: FloatArray = np.zeros(r.size)
        size: FloatArray = np.zeros(r.size)
        for c in range(n.size):
            normal += n[c] * slip[:, c]
        r_t = -(slip - np.outer(normal, n)) / self._H[:, None]
        for c in range(n.size):
            size += r_t[:, c] * r_t[:, c]
        size, limit = np.sqrt(size), contact.frictions * r
        scale = np.divide(limit, size, out=np.ones(r.size), where=size > limit)
        r_t *= scale[:, None]
        return r_t


def takes(integrator: Integrator) -> bool:
    """Whether the contact of a scheme is node pairs of nodes that have one mass each. Collective."""
    contact = integrator.contact
    if not isinstance(contact, NodePairs) or contact.friction == 0:
        return False
    masses = integrator.system.inverse_mass[contact.nodes.loaded.dofs]
    even = bool(np.all(np.abs(masses - masses[:, :1]) <= 1e-12 * masses[:, :1]))
    return bool(contact.comm.allreduce(int(not even)) == 0)
