"""Hexahedra of the solid crane: bricks of tensor grids, whole on a rank or distributed.

Bridge and trolley are grids of their own; their treads lie one above the other, node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from ....mesh import NamedMesh

#: Tags of the cells, and of the facets, by name.
PARTS = {"girders": 1, "end-carriages": 2, "rails": 3, "trolley": 4, "wheels": 5}
FACETS = {"crane wheels": 1, "rail treads": 2, "wheel treads": 3}

Interval = tuple[float, float]


@dataclass(frozen=True)
class Brick:
    """Some cells of a grid: those whose middles lie in all three intervals [m], of one part."""

    part: str
    x: Interval
    y: Interval
    z: Interval


def divided(edges: Sequence[float], largest: float, fine: Sequence[Interval] = (), parts: int = 1) -> NDArray:
    """Planes of a grid: the edges, and between them elements of at most the ``largest`` size [m].

    Args:
        edges: Coordinates that must be planes [m].
        fine: Intervals between edges that have a given number of ``parts`` instead.
    """
    ends = _distinct([*edges, *(end for interval in fine for end in interval)])
    found = [ends[:1]]
    for a, b in zip(ends[:-1], ends[1:]):
        inside = any(low < (a + b) / 2 < high for low, high in fine)
        count = parts if inside else int(np.ceil((b - a) / largest - 1e-9))
        found.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(found)


def _distinct(values: Sequence[float]) -> NDArray:
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    kept: NDArray = ordered[np.append(True, np.diff(ordered) > 1e-9)]
    return kept


class Grid:
    """The cells of bricks in a tensor grid, each in the first brick that it lies in.

    Attributes:
        points: Nodes of the cells, shape (n, 3) [m].
        cells: Nodes of each cell in the order of DOLFINx, shape (m, 8).
        parts: Tag of each cell, shape (m,).
    """

    def __init__(self, planes: Sequence[NDArray], bricks: Sequence[Brick]) -> None:
        x, y, z = planes
        middles = [(plane[:-1] + plane[1:]) / 2 for plane in planes]
        mesh = np.meshgrid(*middles, indexing="ij")
        tags = np.zeros(mesh[0].shape, dtype=np.int32)
        for brick in reversed(bricks):
            tags[_within(mesh, brick)] = PARTS[brick.part]
        i, j, k = np.nonzero(tags)
        corners = [
            ((i + a) * y.size + j + b) * z.size + k + c for c in (0, 1) for b in (0, 1) for a in (0, 1)
        ]
        used, cells = np.unique(np.stack(corners, axis=1), return_inverse=True)
        at = used // z.size // y.size, used // z.size % y.size, used % z.size
        self.points = np.stack([plane[numbers] for plane, numbers in zip(planes, at)], axis=1)
        self.cells = cells.reshape(-1, 8).astype(np.int64)
        self.parts = tags[i, j, k]


def _within(places: Sequence[NDArray], brick: Brick) -> NDArray:
    inside = np.ones(places[0].shape, dtype=bool)
    for values, (low, high) in zip(places, (brick.x, brick.y, brick.z)):
        inside &= (values > low) & (values < high)
    return inside


def named_mesh(comm: MPI.Comm, grids: Sequence[Grid], crane_wheels: float, treads: Interval) -> NamedMesh:
    """The grids as one mesh, its cells named as in :data:`PARTS`, facets as in :data:`FACETS`. Collective.

    Args:
        comm: Communicator.
        grids: Grids without common nodes.
        crane_wheels: Magnitude of y at the facets of this name [m].
        treads: Heights of the treads of rails and wheels [m].
    """
    before = np.cumsum([0, *(len(grid.points) for grid in grids)])
    points = np.concatenate([grid.points for grid in grids])
    cells = np.concatenate([grid.cells + first for grid, first in zip(grids, before)])
    parts = np.concatenate([grid.parts for grid in grids])
    if comm.rank > 0:
        cells, points = cells[:0], points[:0]
    element = basix.ufl.element("Lagrange", "hexahedron", 1, shape=(3,))
    mesh = dmesh.create_mesh(comm, cells=cells, x=points, e=element)
    index_map = mesh.topology.index_map(3)
    every = np.arange(index_map.size_local + index_map.num_ghosts, dtype=np.int32)
    # All ranks know all grids.
    cell_tags = dmesh.meshtags(mesh, 3, every, parts[mesh.topology.original_cell_index].astype(np.int32))
    names = {name: (3, tag) for name, tag in PARTS.items()} | {name: (2, tag) for name, tag in FACETS.items()}
    return NamedMesh(mesh, cell_tags, _facet_tags(mesh, crane_wheels, treads), names)


def _facet_tags(mesh: dmesh.Mesh, crane_wheels: float, treads: Interval) -> dmesh.MeshTags:
    mesh.topology.create_connectivity(2, 3)
    near = {
        "crane wheels": lambda x: np.abs(np.abs(x[1]) - crane_wheels) < 1e-6,
        "rail treads": lambda x: np.abs(x[2] - treads[0]) < 1e-6,
        "wheel treads": lambda x: np.abs(x[2] - treads[1]) < 1e-6,
    }
    found = {name: dmesh.locate_entities_boundary(mesh, 2, marker) for name, marker in near.items()}
    facets = np.concatenate(list(found.values()))
    tags = np.concatenate([np.full(each.size, FACETS[name], np.int32) for name, each in found.items()])
    order = np.argsort(facets)
    return dmesh.meshtags(mesh, 2, facets[order].astype(np.int32), tags[order])
