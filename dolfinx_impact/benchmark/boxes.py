"""Meshes of rectangles and boxes, of discs, of bricks in tensor grids, and of any points and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from .. import NamedMesh, _compat

Interval = tuple[float, float]

_CELLS = {2: dmesh.CellType.quadrilateral, 3: dmesh.CellType.hexahedron}


def box(
    corners: Sequence[Any],
    cells: Sequence[int],
    kind: dmesh.CellType | None = None,
    *,
    bottom: str = "bottom",
    comm: MPI.Comm = MPI.COMM_WORLD,
    ghost_mode: dmesh.GhostMode = dmesh.GhostMode.shared_facet,
) -> NamedMesh:
    """A rectangle or box between two corners [m]; the facets where the last coordinate is least have a name.

    ``cells`` along the edges are quadrilaterals or hexahedra by default. Collective.
    """
    low, high = (np.asarray(corner, dtype=np.float64) for corner in corners)
    dim = len(low)
    make = dmesh.create_rectangle if dim == 2 else dmesh.create_box
    mesh = make(comm, [low, high], list(cells), kind or _CELLS[dim], ghost_mode=ghost_mode)
    near = low[-1] + 1e-9 * (high[-1] - low[-1])
    mesh.topology.create_entities(dim - 1)
    # The function for the boundary alone would leave connectivities that nothing else needs.
    facets = np.sort(dmesh.locate_entities(mesh, dim - 1, lambda x: x[dim - 1] < near))
    tags = dmesh.meshtags(mesh, dim - 1, facets, np.ones(facets.size, dtype=np.int32))
    return NamedMesh(mesh, None, tags, {bottom: (dim - 1, 1)})


def create(
    points: NDArray,
    cells: NDArray,
    kind: str,
    comm: MPI.Comm = MPI.COMM_WORLD,
    ghost_mode: dmesh.GhostMode = dmesh.GhostMode.none,
) -> dmesh.Mesh:
    """The mesh of points, shape (n, gdim) [m], and cells of a kind that all ranks know. Collective."""
    if comm.rank > 0:  # one rank has the input
        points, cells = points[:0], cells[:0]
    element = basix.ufl.element("Lagrange", kind, 1, shape=(points.shape[1],))
    numbers, partitioner = np.ascontiguousarray(cells, dtype=np.int64), _compat.cell_partitioner(ghost_mode)
    return dmesh.create_mesh(comm, cells=numbers, x=points, e=element, partitioner=partitioner)


def disc(rings: int, radius: float, centre: NDArray) -> dmesh.Mesh:
    """A disc; ring k has 6 k nodes, the first one at the angle 0. Collective."""
    points: list[NDArray] = [np.zeros((1, 2))]
    cells: list[tuple[int, int, int]] = []
    start = [0]
    for k in range(1, rings + 1):
        start.append(start[-1] + max(1, 6 * (k - 1)))
        angle = 2 * np.pi * np.arange(6 * k) / (6 * k)
        points.append(k / rings * np.column_stack([np.cos(angle), np.sin(angle)]))
        for sector in range(6):
            outer = [start[k] + (sector * k + j) % (6 * k) for j in range(k + 1)]
            inner = [start[k - 1] + (sector * (k - 1) + j) % max(1, 6 * (k - 1)) for j in range(k)]
            cells += [(inner[j], outer[j], outer[j + 1]) for j in range(k)]
            cells += [(inner[j], outer[j + 1], inner[j + 1]) for j in range(k - 1)]
    return create(centre + radius * np.concatenate(points), np.array(cells), "triangle")


@dataclass(frozen=True)
class Brick:
    """Some cells of a grid: those whose middles lie in all three intervals [m], of one part."""

    part: str
    x: Interval
    y: Interval
    z: Interval


class BrickGrid:
    """The hexahedra of bricks in a tensor grid, each in the first brick that it lies in.

    Attributes:
        points: Nodes of the cells, shape (n, 3) [m].
        cells: Nodes of each cell in the order of DOLFINx, shape (m, 8).
        parts: Name of the part of each cell, shape (m,).
    """

    def __init__(self, planes: Sequence[NDArray], bricks: Sequence[Brick]) -> None:
        x, y, z = planes
        middles = np.meshgrid(*((plane[:-1] + plane[1:]) / 2 for plane in planes), indexing="ij")
        numbers = np.zeros(middles[0].shape, dtype=np.intp)  # of the bricks, from 1 on
        for number, brick in reversed(list(enumerate(bricks, start=1))):
            ends = zip(middles, (brick.x, brick.y, brick.z))
            numbers[np.all([(low < at) & (at < high) for at, (low, high) in ends], axis=0)] = number
        i, j, k = np.nonzero(numbers)
        places = [(a, b, c) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
        corners = [((i + a) * y.size + j + b) * z.size + k + c for a, b, c in places]
        used, cells = np.unique(np.stack(corners, axis=1), return_inverse=True)
        at = used // z.size // y.size, used // z.size % y.size, used % z.size
        self.points = np.stack([plane[numbers] for plane, numbers in zip(planes, at)], axis=1)
        self.cells = cells.reshape(-1, 8)
        self.parts = np.array([brick.part for brick in bricks])[numbers[i, j, k] - 1]


def bricks_mesh(
    grids: Sequence[BrickGrid], parts: Sequence[str], comm: MPI.Comm = MPI.COMM_WORLD
) -> NamedMesh:
    """Grids without common nodes as one mesh, whose cells have the names of their parts. Collective."""
    before = np.cumsum([0, *(len(grid.points) for grid in grids)])
    cells = np.concatenate([grid.cells + first for grid, first in zip(grids, before)])
    mesh = create(np.concatenate([grid.points for grid in grids]), cells, "hexahedron", comm)
    numbers = {part: number for number, part in enumerate(parts, start=1)}
    tags = np.array([numbers[part] for grid in grids for part in grid.parts], dtype=np.int32)
    own = tags[mesh.topology.original_cell_index]  # all ranks know all grids
    cell_tags = dmesh.meshtags(mesh, 3, np.arange(own.size, dtype=np.int32), own)
    return NamedMesh(mesh, cell_tags, None, {part: (3, number) for part, number in numbers.items()})
