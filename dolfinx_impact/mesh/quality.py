"""Detection of flat and inverted cells of a mesh, and of cells that are more curved than displacements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import basix
import numpy as np
from dolfinx import fem
from dolfinx import mesh as dmesh

from .. import _compat, parallel
from .._types import FloatArray, Int32Array, IntArray

_FLAT = 1e-10  # of the product of the edge lengths at a corner
_CURVED = 1e-10  # of the extent of a cell: what displacements may miss of its coordinates
_BATCH = 8192  # cells or facets, so that what is computed with them stays in the cache


def refuse_inverted(mesh: dmesh.Mesh, cells: IntArray | None = None) -> None:
    """Raise a ValueError on all ranks where a cell has no volume or is inverted. Collective.

    DOLFINx integrates with the absolute value of the Jacobian determinant, so that such cells silently give
    wrong forces. A completely inverted cell is detected by its neighbour: both lie on the same side of their
    common facet. Cells of second or higher order are checked at their nodes and at quadrature points.

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
    simplex = mesh.topology.cell_name() in ("triangle", "tetrahedron")
    nodes = _compat.geometry_dofmap(mesh)[:, : tdim + 1 if simplex else 2**tdim]
    x = np.ascontiguousarray(mesh.geometry.x[:, :tdim].T)
    positions = [at for some in _batches(chosen) for at in _bad_cells(x.take(nodes[some].T, axis=1), simplex)]
    positions += _folded_facets(mesh, chosen, x, nodes)
    if _compat.coordinate_element(mesh).degree > 1:
        positions += _folded_cells(mesh, chosen, x)
    count = mesh.comm.allreduce(len(positions))
    error = None
    if positions:
        first = ", ".join(f"{value:.4g}" for value in positions[0])
        error = ValueError(
            f"the mesh has inverted or flat elements ({count} places, one near ({first}) m): repair it, for "
            "example by another element size or by moving the nodes less"
        )
    parallel.agree(mesh.comm, error)


def refuse_curved(space: fem.FunctionSpace, cells: IntArray | None = None) -> None:
    """Raise a ValueError on all ranks where the coordinates are no displacements of a space. Collective.

    Rigid rotations and uniform stretches are linear in the coordinates: a space of lower degree than that of
    curved cells does not contain them, so that a rotation strains the body.

    Args:
        space: The space of the displacements, of Lagrange elements.
        cells: Local cells to check, all by default.

    Raises:
        ValueError: Curved cells; the message has the degree to take.
    """
    mesh, element = space.mesh, space.ufl_element()
    scalar = element.sub_elements[0] if element.reference_value_shape else element
    degree = _compat.coordinate_element(mesh).degree
    if degree <= scalar.degree:
        return
    local = mesh.topology.index_map(mesh.topology.dim).size_local
    chosen = np.arange(local) if cells is None else cells[cells < local]
    values = scalar.tabulate(0, _geometry_element(mesh).points)[0]
    x, at_nodes = mesh.geometry.x, space.tabulate_dof_coordinates()
    geometry, dofs, count = _compat.geometry_dofmap(mesh), space.dofmap.list, 0
    for some in _batches(chosen):
        given = x[geometry[some]]
        missed = np.abs(np.einsum("gd,cdi->cgi", values, at_nodes[dofs[some]]) - given).max(axis=(1, 2))
        count += int(np.count_nonzero(missed > _CURVED * np.ptp(given, axis=1).max(axis=1)))
    count = mesh.comm.allreduce(count)
    if count:
        raise ValueError(
            f"{count} cells are curved, by coordinates of degree {degree}, which displacements of degree "
            f"{scalar.degree} do not contain, so that a rotation would strain them: take degree={degree}"
        )


def _geometry_element(mesh: dmesh.Mesh) -> Any:
    """The scalar Basix element of the coordinates."""
    return mesh.ufl_domain().ufl_coordinate_element().sub_elements[0].basix_element


def _folded_cells(mesh: dmesh.Mesh, cells: IntArray, x: FloatArray) -> list[FloatArray]:
    """Midpoints of curved cells in which det J changes its sign, shape (tdim,) each [m].

    Args:
        mesh: The mesh.
        cells: Local cells to check.
        x: Coordinates, shape (tdim, nodes) [m].
    """
    element, tdim = _geometry_element(mesh), mesh.topology.dim
    rule, _ = basix.make_quadrature(element.cell_type, 2 * element.degree)
    slopes = element.tabulate(1, np.vstack([element.points, rule]))[1 : tdim + 1, :, :, 0]
    nodes, folded = _compat.geometry_dofmap(mesh), []
    for some in _batches(cells):
        corners = x[:, nodes[some]]
        jacobian = np.einsum("icn,jqn->cqij", corners, slopes)
        volume = np.linalg.det(jacobian)
        least, most = volume.min(axis=1), volume.max(axis=1)
        bad = np.minimum(-least, most) > _FLAT * np.maximum(-least, most)
        folded += list(corners[:, bad].mean(axis=2).T)
    return folded


def _batches(entities: IntArray) -> Iterator[IntArray]:
    return (entities[first : first + _BATCH] for first in range(0, entities.size, _BATCH))


def _bad_cells(corners: FloatArray, simplex: bool) -> FloatArray:
    """Midpoints of the flat and inverted ones of cells, shape (k, tdim) [m].

    One corner of a simplex is checked, all corners of quadrilaterals and hexahedra.

    Args:
        corners: Corners of the cells, shape (tdim, corners, cells) [m].
        simplex: Whether the cells are simplices.
    """
    d, count, cells = corners.shape
    flat, some, others = (np.zeros(cells, dtype=bool) for _ in range(3))
    for k in range(1 if simplex else count):
        ends = range(1, d + 1) if simplex else [k ^ (1 << i) for i in range(d)]
        edges = [corners[:, end] - corners[:, k] for end in ends]
        volume = _dot(_normal(edges[:-1]), edges[-1])
        flat |= np.abs(volume) <= _FLAT * np.sqrt(np.prod([_dot(edge, edge) for edge in edges], axis=0))
        # An edge to a lower number is opposite to the direction of its coordinate.
        positive = (volume > 0) == (simplex or k.bit_count() % 2 == 0)
        some |= positive
        others |= ~positive
    bad: FloatArray = corners[:, :, flat | (some & others)].mean(axis=1).T
    return bad


def _folded_facets(mesh: dmesh.Mesh, cells: IntArray, x: FloatArray, nodes: Int32Array) -> list[FloatArray]:
    """Midpoints of facets whose two cells lie on the same side, shape (tdim,) each [m].

    Args:
        mesh: The mesh.
        cells: Local cells; facets of any of them are checked.
        x: Coordinates, shape (tdim, nodes) [m].
        nodes: Geometry nodes at the corners of the local cells, shape (cells, corners).
    """
    topology, fdim = mesh.topology, mesh.topology.dim - 1
    topology.create_connectivity(fdim, fdim + 1)
    topology.create_connectivity(fdim + 1, fdim)
    links = topology.connectivity(fdim, fdim + 1)
    chosen = np.zeros(len(nodes), dtype=bool)
    chosen[cells] = True
    facets = np.flatnonzero(np.diff(links.offsets) == 2).astype(np.int32)
    first = links.offsets[facets]
    facets = facets[chosen[links.array[first]] | chosen[links.array[first + 1]]]
    count = fdim + 1 if nodes.shape[1] == fdim + 2 else 2**fdim
    # The normal of a quadrilateral is that of its diagonals.
    ends = [(3, 0), (2, 1)] if count == 4 else [(i, 0) for i in range(1, count)]
    folded: list[FloatArray] = []
    for some in _batches(facets):
        corners = x.take(dmesh.entities_to_geometry(mesh, fdim, some)[:, :count].T, axis=1)
        center, normal = corners.mean(axis=1), _normal([corners[:, i] - corners[:, j] for i, j in ends])
        pair = links.array[links.offsets[some] + np.arange(2)[:, None]]
        sides = [_dot(normal, x.take(nodes[side].T, axis=1).mean(axis=1) - center) for side in pair]
        folded += list(center[:, sides[0] * sides[1] >= 0].T)
    return folded


def _normal(edges: Sequence[FloatArray]) -> FloatArray:
    """Normals to one edge in the plane or to two in space, not normalised, shape (tdim, k) like the edges."""
    if len(edges) == 1:
        return np.stack([-edges[0][1], edges[0][0]])
    a, b = edges
    return np.stack([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)])


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    product: FloatArray = np.einsum("ik,ik->k", a, b)
    return product
