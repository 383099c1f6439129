"""How far surface nodes have moved: since the last search, and in a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._types import FloatArray, Int32Array, IntArray
from ...systems.elements.compiler import address
from .facets import Facets


class _Held(NamedTuple):
    """Displacements of the nodes, and their address, which is asked for once."""

    u: FloatArray
    at: Any

    @classmethod
    def filled(cls, shape: tuple[int, ...], value: float) -> _Held:
        u = np.full(shape, value)
        return cls(u, address(u))


class NodeMotion:
    """Displacements of the surface nodes of this rank at a search, at the end of a step and at the last look.

    Nodes are in the order of their dofs: a look reads as much of a vector as lies between them.

    Args:
        functions: The compiled functions of the contact.
        facets: Facets with all nodes of this rank.
        rank: This rank.
        block: Dofs per node of the vectors.

    Attributes:
        nodes: Numbers of the nodes among those of all facets, shape (n,).
        dofs: Their dofs, shape (n, gdim).
        found: What the last look found: the largest displacement since the search [m], infinite before one;
            1 where a displacement differs from that of the look before, else 0; the largest displacement
            since :meth:`keep` [m], NaN before it. NaN where a displacement is.
    """

    def __init__(self, functions: Any, facets: Facets, rank: int, block: int) -> None:
        mine = np.flatnonzero(facets.rank == rank)
        mine = mine[np.argsort(facets.local[mine], kind="stable")]
        local: Int32Array = facets.local[mine].astype(np.int32)
        self.nodes: IntArray = facets.node_number[mine]
        self.dofs: IntArray = facets.local[mine][:, None] * block + np.arange(facets.x.shape[1])
        shape, self.found = self.dofs.shape, np.zeros(3)
        self._searched = _Held.filled(shape, np.inf)
        self._kept = self._last = _Held.filled(shape, np.nan)
        self._spare = _Held.filled(shape, np.nan)
        self._look, self._found = functions.motion, address(self.found)
        self._nodes = len(local), local, address(local, "int32_t *"), block

    def look(self, u: FloatArray) -> None:
        """Compare the displacements, shape (size,) [m], with those of before."""
        count, _, nodes, block = self._nodes
        last = self._last
        # What was kept is not copied: the next look goes elsewhere.
        if last is self._kept:
            self._last, self._spare = self._spare, last
        before = self._searched.at, self._kept.at, last.at
        self._look(count, nodes, block, address(u), *before, self._last.at, self._found)

    def search(self, u: FloatArray) -> None:
        """Note that pairs of facets were searched at these displacements, shape (size,) [m]."""
        self._searched.u[:] = u[self.dofs]

    def forget(self) -> None:
        """Know nothing of the last search and the last look."""
        self._searched.u[:] = np.inf
        if self._last is self._kept:
            self._last, self._spare = self._spare, self._last
        self._last.u[:] = np.nan

    def keep(self) -> None:
        """Keep the displacements of the last look as those at the end of a step."""
        self._kept = self._last

    @property
    def kept(self) -> FloatArray:
        """Displacements at the last :meth:`keep`, shape (n, gdim) [m]."""
        return self._kept.u
