"""What is seen of a body: its surface in 3D, its cells in the plane, cut into flat pieces between nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import la
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from ..systems.solid import Solid
from .section import Plane


class Skin:
    """The visible nodes of a body and the pieces between them. Collective.

    Args:
        solid: The body, in 2 or 3 directions.
        clip: Name of an axis, or point and normal of a plane of the body at rest; see :func:`.film.strip`.
        back: Direction towards the eye.

    Attributes:
        nodes: Local numbers of this rank's visible nodes, those of cut cells among them, shape (k,).
        x: Where they are in the undeformed body, shape (k, 3) [m].
        pieces: On rank 0 those of all ranks, nodes numbered in the order of :meth:`gather`: shape (m, 3)
            for simplices, (m, 4) for others; on other ranks None.
        cells: Likewise the cells that the plane passes, of higher degrees in parts, shape (m, 4) or (m, 8).
        plane: Where the body is cut, its normal towards the eye, or None.

    Raises:
        ValueError: A plane that does not pass the body.
    """

    def __init__(self, solid: Solid, clip: Any = None, back: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self.solid, self._comm = solid, solid.comm
        dofs = np.asarray(solid.space.dofmap.list)
        cells, local = _shown(solid)
        found = [
            dofs[cells[local == i]][:, closure].reshape(-1, closure.shape[1])
            for i, closure in enumerate(_pieces_of_entities(solid))
        ]
        pieces, plane = np.concatenate(found), None
        if clip is not None:
            plane = _plane(solid.comm, solid.x[np.unique(pieces)], clip, np.asarray(back, dtype=np.float64))
        parts = _cut_cells(solid, plane)
        self.plane, self.nodes = plane, np.unique(np.concatenate([pieces.ravel(), parts.ravel()]))
        self.x = solid.x[self.nodes]
        self.pieces, self.cells = self._gathered(pieces), self._gathered(parts)

    def _gathered(self, pieces: NDArray) -> NDArray | None:
        before = sum(self._comm.allgather(self.nodes.size)[: self._comm.rank])
        gathered = self._comm.gather(np.searchsorted(self.nodes, pieces) + before)
        return None if gathered is None else np.concatenate(gathered)

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


def _plane(comm: MPI.Comm, x: NDArray, clip: Any, back: NDArray) -> Plane:
    """The plane that is asked for, its normal towards the eye. Collective."""
    if isinstance(clip, str):
        first = np.min(comm.allgather(x.min(axis=0, initial=np.inf)), axis=0)
        last = np.max(comm.allgather(x.max(axis=0, initial=-np.inf)), axis=0)
        point, normal = (first + last) / 2, np.eye(3)["xyz".index(clip)]
    else:
        point, normal = (np.asarray(each, dtype=np.float64) for each in clip)
        normal = normal / np.linalg.norm(normal)
    normal = -normal if normal @ back < 0 else normal
    off = (x - point) @ normal
    low = comm.allreduce(off.min(initial=np.inf), op=MPI.MIN)
    high = comm.allreduce(off.max(initial=-np.inf), op=MPI.MAX)
    if not low < 0 < high:
        raise ValueError(f"clip: the plane through {point.tolist()} m does not pass the body at rest")
    # Not between cells, where neither is cut.
    return Plane(point - 1e-6 * (high - low) * normal, normal)


def _cut_cells(solid: Solid, plane: Plane | None) -> NDArray:
    """Nodes of the owned cells that a plane passes, in parts where they have nodes between corners."""
    if plane is None:
        return np.zeros((0, 4), dtype=np.int32)
    parts = _parts_of_cell(solid)
    dofs = np.asarray(solid.space.dofmap.list)[_own(solid)]
    off = (solid.x[dofs] - plane.point) @ plane.normal
    passed = (off < 0).any(axis=1) & (off > 0).any(axis=1)
    return dofs[passed][:, parts].reshape(-1, parts.shape[1])


def _parts_of_cell(solid: Solid) -> NDArray:
    """Tetrahedra (4) or hexahedra (8 nodes, as VTK counts) between the nodes of a cell, as its dofs."""
    space: Any = solid.space
    points, k = space.element.basix_element.points, space.element.basix_element.degree
    if solid.mesh.topology.cell_name() != "hexahedron":
        return _tetrahedra(points, k)
    order = np.lexsort(np.round(points, 6).T).reshape(k + 1, k + 1, k + 1)
    corners = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
    return np.array([order[a : a + k, b : b + k, c : c + k].ravel() for a, b, c in corners]).T


def _tetrahedra(points: NDArray, k: int) -> NDArray:
    """Tetrahedra between the points of one of degree k, shape (m, 4)."""
    if k == 1:
        return np.arange(4)[None]
    from scipy.spatial import Delaunay

    return np.asarray(Delaunay(points, qhull_options="QJ").simplices)


def _own(solid: Solid) -> NDArray:
    """This rank's own cells of the body."""
    own = np.arange(solid.mesh.topology.index_map(solid.mesh.topology.dim).size_local)
    return own if solid.cells is None else np.asarray(solid.cells)[np.asarray(solid.cells) < own.size]


def _shown(solid: Solid) -> tuple[NDArray, NDArray]:
    """Cells of this rank that are seen, and which of their facets; in the plane all, and 0. Collective."""
    topology = solid.mesh.topology
    tdim = topology.dim
    own = _own(solid)
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
