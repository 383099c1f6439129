"""Pressures of nodes by the volumes around them, for simplices that do not lock."""

from __future__ import annotations

from typing import Any

from dolfinx import la

from ..._types import FloatArray
from .compiler import address


class NodalPressure:
    """Averaged nodal pressure: the volumetric energy is ``sum_a V_a U(v_a / V_a)`` over the nodes.

    V_a and v_a, before and after the deformation, are the volumes of the nodes: every cell gives an equal
    share of its own to each of its nodes.

    Source: Bonet and Burton, Commun. Numer. Meth. Eng. 14 (1998), 437-449.

    Args:
        index_map: Index map of the nodes.
        volumes: Zeros for the volumes, four numbers a node: at rest, now, the change of the latter, and none;
            a multiple of the lanes of nodes.
    """

    def __init__(self, index_map: Any, volumes: FloatArray) -> None:
        self._volumes = volumes
        self._nodes = index_map.size_local + index_map.num_ghosts
        self._shared = la.vector(index_map, 4) if index_map.comm.size > 1 else None

    @property
    def nbytes(self) -> int:
        """Size of the volumes [bytes]."""
        return self._volumes.nbytes

    def update(
        self, functions: Any, batches: Any, records: FloatArray, changes: FloatArray, rest: Any
    ) -> None:
        """Store the pressures of the nodes in their records. Collective.

        Args:
            functions: The functions of a kernel.
            batches: Number of batches of cells, and address of their nodes.
            records: Coordinates and displacements of the nodes, and their pressures.
            changes: Changes of the displacements.
            rest: Addresses of the constants of the law, the thickness, and the address of the last batch.
        """
        constants, thickness, tail = rest
        self._volumes.fill(0.0)
        at, volumes = address(records), address(self._volumes)
        functions.nodal_volumes(*batches, at, address(changes), volumes, constants, thickness, tail)
        if self._shared is not None:
            self._exchange(self._shared)
        functions.nodal_pressures(len(self._volumes), volumes, at, constants)

    def _exchange(self, shared: Any) -> None:
        """Sum the volumes of the nodes over the ranks."""
        values = shared.array.reshape(-1, 4)
        values[:] = self._volumes[: self._nodes]
        shared.scatter_reverse(la.InsertMode.add)
        shared.scatter_forward()
        self._volumes[: self._nodes] = values
