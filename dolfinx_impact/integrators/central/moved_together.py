"""Nodes that move together for a step: the last resort where rows of features leave something that passes."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..._types import BoolArray, FloatArray, IntArray
from ...contact.tunnelling import Tunnelled

#: Difference of velocities that is round-off, over the largest one.
_SAME = 1e-9
#: Moments of inertia over the largest one below which a cluster has no width.
_THIN = 1e-9
_EVEN = 1e-12


class Clusters:
    """Connected groups of nodes that would meet, each with the velocity of a rigid body.

    A group keeps its linear and angular momentum. On a straight path ``x + tau h (V + w x (x - X))`` the
    distances within it never shrink, since ``I + tau h w x`` has no singular value below 1: a group never
    passes through itself, and groups that grow end. Directions in which nodes are held, or have a prescribed
    motion, lead: the whole group moves as these nodes do, and their impulses balance those of the others.

    Args:
        x: Positions, shape (nodes, gdim) [m].
        inverse: Inverse masses, 0 where held, shape (nodes, gdim) [1/kg].
        v: Velocities that the groups start from, shape (nodes, gdim) [m/s].
        t: Time [s].

    Attributes:
        turning: Whether groups turn, too; else they have the mean velocity alone.
    """

    def __init__(self, x: FloatArray, inverse: FloatArray, v: FloatArray, t: float) -> None:
        self._x, self._v, self._t, self.turning = x, v, t, True
        self._held: BoolArray = inverse == 0.0
        self._mass = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=~self._held)
        self._group = np.full(len(x), -1)
        self._scale = float(np.abs(v).max(initial=0.0))

    def join(self, hits: IntArray) -> bool:
        """Put the nodes of each hit, shape (m, 4), -1 for none, into one group.

        Returns:
            Whether anything has changed: what meets within a group is round-off.
        """
        count = len(self._x)
        groups = np.flatnonzero(self._group >= 0)
        first = np.argmax(hits >= 0, axis=1)
        lead = hits[np.arange(len(hits)), first]
        pairs = [np.column_stack([groups, count + self._group[groups]])]
        pairs += [np.column_stack([lead, other])[other >= 0] for other in hits.T]
        row, col = np.concatenate(pairs).T
        size = 2 * count + 1
        links = sparse.coo_matrix((np.ones(row.size), (row, col)), (size, size))
        _, labels = connected_components(links, directed=False)
        inside = np.zeros(count, dtype=bool)
        inside[groups] = True
        inside[hits[hits >= 0]] = True
        nodes = np.flatnonzero(inside)
        new = np.full(count, -1)
        _, new[nodes] = np.unique(labels[:count][nodes], return_inverse=True)
        changed = bool(np.any((new >= 0) != (self._group >= 0))) or new.max() != self._group.max()
        self._group = new
        return changed

    def velocities(self) -> tuple[FloatArray, FloatArray]:
        """Velocities of all nodes [m/s], and the impulses that lead to them [N s], shape (nodes, gdim) each.

        Raises:
            Tunnelled: Two different prescribed motions in a group.
        """
        v, impulses = self._v.copy(), np.zeros_like(self._v)
        for k in range(self._group.max() + 1):
            nodes = np.flatnonzero(self._group == k)
            v[nodes] = np.where(self._held[nodes], v[nodes], self._rigid(nodes))
            impulses[nodes] = self._impulses(nodes, v[nodes])
        return v, impulses

    def _rigid(self, nodes: IntArray) -> FloatArray:
        """Velocities of a group."""
        v, m, held = self._v[nodes], self._mass[nodes], self._held[nodes]
        out = np.empty_like(v)
        for c in range(v.shape[1]):
            if held[:, c].any():
                lead = v[held[:, c], c]
                if np.ptp(lead) > _SAME * self._scale:
                    raise self._error(nodes[held[:, c]], lead)
                out[:, c] = lead[0]
            else:
                out[:, c] = v[:, c] @ m[:, c] / m[:, c].sum()
        even = np.abs(m - m[:, :1]).max() <= _EVEN * m.max()
        if self.turning and even and not held.any():
            out += self._turn(self._x[nodes], v - out, m[:, 0])
        return out

    def _turn(self, x: FloatArray, v: FloatArray, m: FloatArray) -> FloatArray:
        """Velocities of the rotation with the angular momentum of a group at rest in the mean."""
        arm = x - m @ x / m.sum()
        if x.shape[1] == 2:
            inertia = m @ (arm**2).sum(axis=1)
            spin = m @ (arm[:, 0] * v[:, 1] - arm[:, 1] * v[:, 0])
            rate = spin / inertia if inertia > 0.0 else 0.0
            return rate * np.column_stack([-arm[:, 1], arm[:, 0]])
        squares = np.einsum("ki,ki->k", arm, arm)
        inertia = m @ squares * np.eye(3) - np.einsum("k,ki,kj->ij", m, arm, arm)
        rate = np.linalg.pinv(inertia, rcond=_THIN, hermitian=True) @ (m @ np.cross(arm, v))
        turned: FloatArray = np.cross(rate, arm)
        return turned

    def _impulses(self, nodes: IntArray, v: FloatArray) -> FloatArray:
        """Impulses of a group for its new velocities; their sum is 0 in each direction."""
        impulses: FloatArray = self._mass[nodes] * (v - self._v[nodes])
        held = self._held[nodes]
        count = held.sum(axis=0)
        share = np.divide(-impulses.sum(axis=0), count, out=np.zeros(count.size), where=count > 0)
        return np.where(held, share, impulses)

    def _error(self, nodes: IntArray, lead: FloatArray) -> Tunnelled:
        node = nodes[int(np.argmax(lead))]
        place = ", ".join(f"{value:.6g}" for value in self._x[node])
        return Tunnelled(
            f"surfaces that are held or move as prescribed would pass through each other at ({place}) m at "
            f"t = {self._t:.6g} s: nodes between them, or they themselves, have nowhere to go, since these "
            f"motions differ by {np.ptp(lead):.3g} m/s there; change the motions, or the boundary conditions"
        )
