"""Whether the cells of a mesh are sound: neither flat nor turned inside out."""

from __future__ import annotations

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from .. import _compat, parallel

_FLAT = 1e-10  # of the size that the edges of a cell would allow


def refuse_inverted(mesh: dmesh.Mesh, cells: NDArray | None = None) -> None:
    """Raise a ValueError on all ranks where a cell has no volume or is inside out. Collective.

    DOLFINx integrates over absolute volumes, so that such cells give wrong forces without a word. Where a
    whole cell is inside out only its neighbours show it: both lie on one side of their common facet.

    Args:
        mesh: The mesh; lines are not looked at.
        cells: Local cells to look at, all by default.
    """
    tdim = mesh.topology.dim
    if tdim < 2 or mesh.geometry.dim != tdim:
        return
    local = mesh.topology.index_map(tdim).size_local
    chosen = np.arange(local) if cells is None else cells[cells < local]
    x = mesh.geometry.x[:, :tdim]
    nodes = _compat.geometry_dofmap(mesh)
    simplex = mesh.topology.cell_name() in ("triangle", "tetrahedron")
    corners = x[nodes[chosen][:, : tdim + 1 if simplex else 2**tdim]]
    volumes = _corner_volumes(corners, simplex)
    flat = np.abs(volumes).min(axis=1, initial=np.inf) <= _FLAT
    bad = flat | (volumes.min(axis=1, initial=np.inf) * volumes.max(axis=1, initial=-np.inf) < 0)
    found = list(corners[bad].mean(axis=1))
    found += list(_folded_facets(mesh, chosen, tdim + 1 if simplex else 2**tdim))
    count = mesh.comm.allreduce(len(found))
    error = None
    if found:
        place = ", ".join(f"{value:.4g}" for value in found[0])
        error = ValueError(
            f"the mesh has inverted or flat elements ({count} places, one near ({place}) m): repair it, for "
            "example by another element size or by moving the nodes less"
        )
    parallel.agree(mesh.comm, error)


def _corner_volumes(corners: NDArray, simplex: bool) -> NDArray:
    """Determinants of the edges at the corners over the product of their lengths, shape (cells, corners)."""
    count, d = corners.shape[1], corners.shape[2]
    found = []
    for k in range(1 if simplex else count):
        others = [k ^ (1 << i) for i in range(d)] if not simplex else list(range(1, d + 1))
        signs = np.array([1.0 if simplex or not k >> i & 1 else -1.0 for i in range(d)])
        edges = (corners[:, others] - corners[:, [k]]) * signs[:, None]
        size = np.linalg.norm(edges, axis=2).prod(axis=1)
        found.append(np.linalg.det(edges) / np.where(size > 0, size, 1.0))
    return np.column_stack(found)


def _folded_facets(mesh: dmesh.Mesh, cells: NDArray, count: int) -> NDArray:
    """Midpoints of facets whose two cells, of ``count`` corners, lie on the same side, shape (k, tdim)."""
    topology, tdim = mesh.topology, mesh.topology.dim
    topology.create_connectivity(tdim - 1, tdim)
    topology.create_connectivity(tdim, tdim - 1)
    links = topology.connectivity(tdim - 1, tdim)
    start = links.offsets
    facets = np.flatnonzero(np.diff(start) == 2).astype(np.int32)
    pairs = links.array[start[facets][:, None] + np.arange(2)]
    both = np.isin(pairs, cells).any(axis=1)
    facets, pairs = facets[both], pairs[both]
    x = mesh.geometry.x[:, :tdim]
    if not facets.size:
        return np.zeros((0, tdim))
    simplex = count == tdim + 1
    corners = x[dmesh.entities_to_geometry(mesh, tdim - 1, facets)[:, : tdim if simplex else 2 ** (tdim - 1)]]
    middle = x[_compat.geometry_dofmap(mesh)[:, :count]].mean(axis=1)
    center, normal = corners.mean(axis=1), _normals(corners)
    sides = [np.einsum("fi,fi->f", normal, middle[pairs[:, i]] - center) for i in (0, 1)]
    return center[sides[0] * sides[1] >= 0]


def _normals(corners: NDArray) -> NDArray:
    """Normals of facets from their corners, shape (k, tdim), of any length; from the diagonals of four."""
    if corners.shape[2] == 2:
        edge = corners[:, 1] - corners[:, 0]
        return np.column_stack([-edge[:, 1], edge[:, 0]])
    if corners.shape[1] == 4:
        return np.cross(corners[:, 3] - corners[:, 0], corners[:, 2] - corners[:, 1])
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
