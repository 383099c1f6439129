"""Detection of flat and inverted cells of a mesh."""

from __future__ import annotations

import numpy as np
from dolfinx import mesh as dmesh

from .. import _compat, parallel
from .._types import FloatArray, IntArray

_FLAT = 1e-10  # of the product of the edge lengths at a corner


def refuse_inverted(mesh: dmesh.Mesh, cells: IntArray | None = None) -> None:
    """Raise a ValueError on all ranks where a cell has no volume or is inverted. Collective.

    DOLFINx integrates with the absolute value of the Jacobian determinant, so that such cells silently give
    wrong forces. A completely inverted cell is detected by its neighbour: both lie on the same side of their
    common facet.

    Args:
        mesh: The mesh; meshes of lines and of surfaces in space are not checked.
        cells: Local cells to check, all by default.

    Raises:
        ValueError: Flat or inverted cells; the message has their number and the position of one.
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
    positions = list(corners[bad].mean(axis=1))
    positions += list(_folded_facets(mesh, chosen, tdim + 1 if simplex else 2**tdim))
    count = mesh.comm.allreduce(len(positions))
    error = None
    if positions:
        first = ", ".join(f"{value:.4g}" for value in positions[0])
        error = ValueError(
            f"the mesh has inverted or flat elements ({count} places, one near ({first}) m): repair it, for "
            "example by another element size or by moving the nodes less"
        )
    parallel.agree(mesh.comm, error)


def _corner_volumes(corners: FloatArray, simplex: bool) -> FloatArray:
    """Determinants of the edges at the corners over the product of their lengths, shape (cells, corners).

    One corner of a simplex, all corners of quadrilaterals and hexahedra.
    """
    count, d = corners.shape[1], corners.shape[2]
    columns = []
    for k in range(1 if simplex else count):
        others = [k ^ (1 << i) for i in range(d)] if not simplex else list(range(1, d + 1))
        signs = np.array([1.0 if simplex or not k >> i & 1 else -1.0 for i in range(d)])
        edges = (corners[:, others] - corners[:, [k]]) * signs[:, None]
        size = np.linalg.norm(edges, axis=2).prod(axis=1)
        columns.append(np.linalg.det(edges) / np.where(size > 0, size, 1.0))
    return np.column_stack(columns)


def _folded_facets(mesh: dmesh.Mesh, cells: IntArray, count: int) -> FloatArray:
    """Midpoints of facets whose two cells lie on the same side, shape (k, tdim) [m].

    Args:
        mesh: The mesh.
        cells: Local cells; facets of any of them are checked.
        count: Number of corners of a cell.
    """
    topology, tdim = mesh.topology, mesh.topology.dim
    topology.create_connectivity(tdim - 1, tdim)
    topology.create_connectivity(tdim, tdim - 1)
    links = topology.connectivity(tdim - 1, tdim)
    start = links.offsets
    facets = np.flatnonzero(np.diff(start) == 2).astype(np.int32)
    pairs = links.array[start[facets][:, None] + np.arange(2)]
    adjacent = np.isin(pairs, cells).any(axis=1)
    facets, pairs = facets[adjacent], pairs[adjacent]
    x = mesh.geometry.x[:, :tdim]
    if not facets.size:
        return np.zeros((0, tdim))
    simplex = count == tdim + 1
    corners = x[dmesh.entities_to_geometry(mesh, tdim - 1, facets)[:, : tdim if simplex else 2 ** (tdim - 1)]]
    middle = x[_compat.geometry_dofmap(mesh)[:, :count]].mean(axis=1)
    center, normal = corners.mean(axis=1), _normals(corners)
    sides = [np.einsum("fi,fi->f", normal, middle[pairs[:, i]] - center) for i in (0, 1)]
    folded: FloatArray = center[sides[0] * sides[1] >= 0]
    return folded


def _normals(corners: FloatArray) -> FloatArray:
    """Normals of facets from their corners, not normalised, shape (k, tdim); quadrilaterals: by diagonals."""
    if corners.shape[2] == 2:
        edge = corners[:, 1] - corners[:, 0]
        return np.column_stack([-edge[:, 1], edge[:, 0]])
    if corners.shape[1] == 4:
        return np.asarray(
            np.cross(corners[:, 3] - corners[:, 0], corners[:, 2] - corners[:, 1]), dtype=np.float64
        )
    return np.asarray(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), dtype=np.float64
    )
