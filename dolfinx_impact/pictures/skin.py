"""What is seen of a body: its surface in 3D, its cells in the plane, cut into flat pieces between nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import la
from numpy.typing import NDArray

from ..solid import Solid


class Skin:
    """The visible nodes of a body and the pieces between them. Collective.

    Args:
        solid: The body, in 2 or 3 directions.

    Attributes:
        nodes: Local numbers of this rank's visible nodes, shape (k,).
        x: Where they are in the undeformed body, shape (k, 3) [m].
        pieces: On rank 0 those of all ranks, nodes numbered in the order of :meth:`gather`: shape (m, 3)
            for simplices, (m, 4) for others; on other ranks None.
    """

    def __init__(self, solid: Solid) -> None:
        self.solid, self._comm = solid, solid.comm
        dofs = np.asarray(solid.space.dofmap.list)
        cells, local = _shown(solid)
        closures = _pieces_of_entities(solid)
        found = [
            dofs[cells[local == i]][:, closure].reshape(-1, closure.shape[1])
            for i, closure in enumerate(closures)
        ]
        pieces = np.concatenate(found)
        self.nodes, numbers = np.unique(pieces, return_inverse=True)
        self.x = solid.x[self.nodes]
        counts = self._comm.allgather(self.nodes.size)
        numbers = numbers.reshape(pieces.shape) + sum(counts[: self._comm.rank])
        gathered = self._comm.gather(numbers)
        self.pieces = None if gathered is None else np.concatenate(gathered)

    def gather(self, values: NDArray) -> NDArray | None:
        """This rank's values at :attr:`nodes`, shape (k, ...), as those of all on rank 0. Collective."""
        gathered = self._comm.gather(np.ascontiguousarray(values, dtype=np.float32))
        return None if gathered is None else np.concatenate(gathered)

    def field(self, values: NDArray) -> NDArray:
        """A field of vectors, shape (size,), ghosts stale, at :attr:`nodes`, shape (k, 3). Collective."""
        dofmap = self.solid.space.dofmap
        vector = la.vector(dofmap.index_map, dofmap.bs)
        vector.array[: self.solid.owned] = values[: self.solid.owned]
        vector.scatter_forward()
        return in_space(vector.array.reshape(-1, dofmap.bs)[self.nodes])


def in_space(vectors: NDArray) -> NDArray:
    """Vectors with zeros for the directions that they lack, shape (n, 3)."""
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))


def _shown(solid: Solid) -> tuple[NDArray, NDArray]:
    """Cells of this rank that are seen, and which of their facets; in the plane all, and 0. Collective."""
    topology = solid.mesh.topology
    tdim = topology.dim
    own = np.arange(topology.index_map(tdim).size_local)
    if solid.cells is not None:
        own = np.asarray(solid.cells)[np.asarray(solid.cells) < own.size]
    if tdim == 2:
        return own, np.zeros(own.size, dtype=np.int64)
    topology.create_entities(tdim - 1)
    topology.create_connectivity(tdim, tdim - 1)
    links, index_map = topology.connectivity(tdim, tdim - 1), topology.index_map(tdim - 1)
    # A rank may have no cells to tell the number from.
    each = len(solid.space.element.basix_element.entity_dofs[tdim - 1])
    facets = np.asarray(links.array).reshape(links.num_nodes, each)[own]
    count = la.vector(index_map, 1)
    np.add.at(count.array, facets.ravel(), 1.0)
    count.scatter_reverse(la.InsertMode.add)
    count.scatter_forward()
    rows, local = np.nonzero(count.array[facets] == 1.0)
    return own[rows], local


def _pieces_of_entities(solid: Solid) -> list[NDArray]:
    """Pieces of every facet of a cell (in the plane of the cell itself), as numbers of the cell's dofs."""
    import basix

    space: Any = solid.space
    element = space.element.basix_element
    kind, tdim, k = element.cell_type, solid.mesh.topology.dim, element.degree
    corners: NDArray = np.asarray(basix.geometry(kind))
    points = element.points
    closures = element.entity_closure_dofs[2]
    found = []
    for vertices, dofs in zip(basix.topology(kind)[2], closures):
        origin, a, b = corners[vertices[:3]]
        axes = np.array([a - origin, b - origin])
        flat = (points[dofs] - origin) @ np.linalg.pinv(axes)
        # Nodes of triangles lie near an even lattice, those of quadrilaterals on lines of their own.
        simplex = len(vertices) == 3
        order = np.lexsort((np.rint(k * flat) if simplex else np.round(flat, 6)).T)
        lattice = _triangles(k) if simplex else _quadrilaterals(k)
        found.append(np.asarray(dofs)[order][lattice])
    return found if tdim == 3 else found[:1]


def _triangles(k: int) -> NDArray:
    """Triangles between the points of a triangle of k rows, sorted row by row, shape (k^2, 3)."""
    found, start = [], 0
    for row in range(k):
        length = k + 1 - row
        for i in range(length - 1):
            found.append((start + i, start + i + 1, start + length + i))
            if i < length - 2:
                found.append((start + i + 1, start + length + i + 1, start + length + i))
        start += length
    return np.array(found)


def _quadrilaterals(k: int) -> NDArray:
    """Quadrilaterals between the points of a square of k rows, sorted row by row, shape (k^2, 4)."""
    first = (np.arange(k)[:, None] * (k + 1) + np.arange(k)).ravel()
    return first[:, None] + [0, 1, k + 2, k + 1]
