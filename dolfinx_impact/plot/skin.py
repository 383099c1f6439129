"""Visible surface of a body (in two dimensions its cells), divided into flat pieces between nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dolfinx import la
from mpi4py import MPI
from numpy.typing import ArrayLike

from .._types import AnyArray, FloatArray, IntArray
from ..systems.continuum import Continuum
from .section import CutPlane


class Skin:
    """Visible nodes of a body and the pieces between them. Collective.

    Args:
        solid: The body, in 2 or 3 dimensions.
        clip: Name of an axis, or point and normal of a plane in the undeformed body; see :func:`.film.strip`.
        back: Direction towards the eye.
        parts: Names of disjoint cells; other cells are left out. None of them: all cells.

    Attributes:
        nodes: Local numbers of the visible nodes of this rank and of those of cut cells, shape (k,).
        x: Their undeformed positions, shape (k, 3) [m].
        pieces: Pieces of all ranks on rank 0, None on others; nodes numbered in the order of :meth:`gather`,
            shape (m, 3) for simplices, (m, 4) for others.
        cells: Cells that the plane cuts, likewise, those of higher degree subdivided, shape (m, 4) or (m, 8).
        part_of_pieces, part_of_cells: Number of the part of each of these on rank 0; None without parts.
        plane: The cutting plane with the normal towards the eye, or None.

    Raises:
        ValueError: A plane that does not cut the body.
    """

    def __init__(
        self, solid: Continuum, clip: Any = None, back: ArrayLike = (0.0, 0.0, 1.0), parts: Sequence[str] = ()
    ) -> None:
        self.solid, self._comm = solid, solid.comm
        dofs = np.asarray(solid.space.dofmap.list)
        cells, local = _shown(solid)
        part = _part_of_cells(solid, parts)
        pieces_of_facets, part_of_pieces = [], []
        for i, closure in enumerate(_pieces_of_entities(solid)):
            of = cells[(local == i) & (part[cells] >= 0)]
            pieces_of_facets.append(dofs[of][:, closure].reshape(-1, closure.shape[1]))
            part_of_pieces.append(np.repeat(part[of], len(closure)))
        pieces, plane = np.concatenate(pieces_of_facets), None
        if clip is not None:
            plane = _plane(solid.comm, solid.x[np.unique(pieces)], clip, np.asarray(back, dtype=np.float64))
        cut, part_of_cut = _cut_cells(solid, plane, part)
        self.plane, self.nodes = plane, np.unique(np.concatenate([pieces.ravel(), cut.ravel()]))
        self.x = solid.x[self.nodes]
        self.pieces, self.cells = self._gathered(pieces), self._gathered(cut)
        self.part_of_pieces = self.part_of_cells = None
        if parts:
            self.part_of_pieces = _joined(self._comm.gather(np.concatenate(part_of_pieces)))
            self.part_of_cells = _joined(self._comm.gather(part_of_cut))

    def _gathered(self, pieces: IntArray) -> IntArray | None:
        before = sum(self._comm.allgather(self.nodes.size)[: self._comm.rank])
        return _joined(self._comm.gather(np.searchsorted(self.nodes, pieces) + before))

    def gather(self, values: AnyArray) -> AnyArray | None:
        """Values at :attr:`nodes`, shape (k, ...), of all ranks on rank 0, None on others. Collective."""
        return _joined(self._comm.gather(np.ascontiguousarray(values, dtype=np.float32)))

    def gather_places(self, x: FloatArray) -> FloatArray | None:
        """Positions likewise, in double precision: a body may be far from the origin. Collective."""
        return _joined(self._comm.gather(np.ascontiguousarray(x, dtype=np.float64)))

    def field(self, values: FloatArray) -> FloatArray:
        """A vector field, shape (size,), at :attr:`nodes`, shape (k, 3); updates its ghosts. Collective."""
        dofmap = self.solid.space.dofmap
        vector = la.vector(dofmap.index_map, dofmap.bs)
        vector.array[: self.solid.owned] = values[: self.solid.owned]
        vector.scatter_forward()
        return in_space(vector.array.reshape(-1, dofmap.bs)[self.nodes])


def _joined(gathered: list[AnyArray] | None) -> AnyArray | None:
    return None if gathered is None else np.concatenate(gathered)


def _part_of_cells(solid: Continuum, parts: Sequence[str]) -> IntArray:
    """Number of the part of each local cell, -1 for none; without parts 0 for all."""
    index_map = solid.mesh.topology.index_map(solid.mesh.topology.dim)
    numbers = np.full(index_map.size_local + index_map.num_ghosts, -1 if parts else 0)
    for i, name in enumerate(parts):
        numbers[solid.named.cells(name)] = i
    return numbers


def in_space(vectors: FloatArray) -> FloatArray:
    """Vectors padded with zeros to three components, shape (n, 3)."""
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))


def _plane(comm: MPI.Comm, x: FloatArray, clip: Any, back: FloatArray) -> CutPlane:
    """The plane of ``clip``, normal towards the eye; a ValueError if it misses the body. Collective."""
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
    # Shifted, since a plane along facets would not cut any cell.
    return CutPlane(point - 1e-6 * (high - low) * normal, normal)


def _cut_cells(solid: Continuum, plane: CutPlane | None, part: IntArray) -> tuple[IntArray, IntArray]:
    """Nodes of the owned cells of parts that a plane cuts, shape (m, 4) or (m, 8), and their parts.

    Cells of higher degree are subdivided.
    """
    if plane is None:
        return np.zeros((0, 4), dtype=np.int32), np.zeros(0, dtype=np.int64)
    parts = _parts_of_cell(solid)
    own = _own(solid)
    own = own[part[own] >= 0]
    dofs = np.asarray(solid.space.dofmap.list)[own]
    off = (solid.x[dofs] - plane.point) @ plane.normal
    passed = (off < 0).any(axis=1) & (off > 0).any(axis=1)
    nodes: IntArray = dofs[passed][:, parts].reshape(-1, parts.shape[1])
    return nodes, np.repeat(part[own[passed]], len(parts))


def _parts_of_cell(solid: Continuum) -> IntArray:
    """Subdivision of a cell into tetrahedra (4) or hexahedra (8 nodes, VTK order), by its local dofs."""
    space: Any = solid.space
    points, k = space.element.basix_element.points, space.element.basix_element.degree
    if solid.mesh.topology.cell_name() != "hexahedron":
        return _tetrahedra(points, k)
    order = np.lexsort(np.round(points, 6).T).reshape(k + 1, k + 1, k + 1)
    corners = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
    return np.array([order[a : a + k, b : b + k, c : c + k].ravel() for a, b, c in corners]).T


def _tetrahedra(points: FloatArray, k: int) -> IntArray:
    """Subdivision of a tetrahedron of degree k with these nodes, shape (m, 4)."""
    if k == 1:
        return np.arange(4)[None]
    from scipy.spatial import Delaunay

    return np.asarray(Delaunay(points, qhull_options="QJ").simplices)


def _own(solid: Continuum) -> IntArray:
    """Owned cells of the body."""
    own = np.arange(solid.mesh.topology.index_map(solid.mesh.topology.dim).size_local)
    return own if solid.cells is None else np.asarray(solid.cells)[np.asarray(solid.cells) < own.size]


def _shown(solid: Continuum) -> tuple[IntArray, IntArray]:
    """Owned cells at the surface and their local exterior facets; all cells and 0 in 2D. Collective."""
    topology = solid.mesh.topology
    tdim = topology.dim
    own = _own(solid)
    if tdim == 2:
        return own, np.zeros(own.size, dtype=np.int64)
    topology.create_entities(tdim - 1)
    topology.create_connectivity(tdim, tdim - 1)
    links, index_map = topology.connectivity(tdim, tdim - 1), topology.index_map(tdim - 1)
    # Not from the connectivity: a rank may have no cells.
    each = len(solid.space.element.basix_element.entity_dofs[tdim - 1])
    facets = np.asarray(links.array).reshape(links.num_nodes, each)[own]
    count = la.vector(index_map, 1)
    np.add.at(count.array, facets.ravel(), 1.0)
    count.scatter_reverse(la.InsertMode.add)
    count.scatter_forward()
    rows, local = np.nonzero(count.array[facets] == 1.0)
    return own[rows], local


def _pieces_of_entities(solid: Continuum) -> list[IntArray]:
    """Pieces of every facet of a cell (in 2D of the cell itself), by its local dofs."""
    import basix

    space: Any = solid.space
    element = space.element.basix_element
    kind, tdim, k = element.cell_type, solid.mesh.topology.dim, element.degree
    corners: FloatArray = np.asarray(basix.geometry(kind))
    points = element.points
    closures = element.entity_closure_dofs[2]
    pieces = []
    for vertices, dofs in zip(basix.topology(kind)[2], closures):
        origin, a, b = corners[vertices[:3]]
        axes = np.array([a - origin, b - origin])
        flat = (points[dofs] - origin) @ np.linalg.pinv(axes)
        # Nodes of triangles are close to a uniform lattice, those of quadrilaterals on common grid lines.
        simplex = len(vertices) == 3
        order = np.lexsort((np.rint(k * flat) if simplex else np.round(flat, 6)).T)
        lattice = _triangles(k) if simplex else _quadrilaterals(k)
        pieces.append(np.asarray(dofs)[order][lattice])
    return pieces if tdim == 3 else pieces[:1]


def _triangles(k: int) -> IntArray:
    """Triangles between the points of a triangle of k rows, sorted row by row, shape (k^2, 3)."""
    triangles, start = [], 0
    for row in range(k):
        length = k + 1 - row
        for i in range(length - 1):
            triangles.append((start + i, start + i + 1, start + length + i))
            if i < length - 2:
                triangles.append((start + i + 1, start + length + i + 1, start + length + i))
        start += length
    return np.array(triangles)


def _quadrilaterals(k: int) -> IntArray:
    """Quadrilaterals between the points of a square of k rows, sorted row by row, shape (k^2, 4)."""
    first = (np.arange(k)[:, None] * (k + 1) + np.arange(k)).ravel()
    corners: IntArray = np.add(first[:, None], [0, 1, k + 2, k + 1])
    return corners
