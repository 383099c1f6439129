"""Every question about the DOLFINx version (0.9 to 0.11), one named function each."""

from __future__ import annotations

from typing import Any

import dolfinx
import numpy as np
from dolfinx import mesh as dmesh
from dolfinx.fem import assemble

VERSION = tuple(int(part) for part in dolfinx.__version__.split(".")[:2])
_HAS_LINK_COUNT = VERSION >= (0, 10)  # branching line meshes keep their joints


def cell_partitioner(ghosts: dmesh.GhostMode, links: int = 2) -> Any:
    """A graph partitioner; ``links`` is the largest number of cells at a facet."""
    if _HAS_LINK_COUNT:
        return dmesh.create_cell_partitioner(ghosts, links)
    return dmesh.create_cell_partitioner(ghosts)


def model_to_mesh(model: Any, comm: Any, rank: int, gdim: int, partitioner: Any) -> tuple[Any, Any, Any]:
    """``(mesh, cell_tags, facet_tags)`` of a gmsh model living on ``rank``."""
    if VERSION >= (0, 10):
        from dolfinx.io import gmsh as gmsh_io

        data = gmsh_io.model_to_mesh(model, comm, rank, gdim=gdim, partitioner=partitioner)
        return data.mesh, data.cell_tags, data.facet_tags
    from dolfinx.io import gmshio

    found: tuple[Any, Any, Any] = gmshio.model_to_mesh(model, comm, rank, gdim=gdim, partitioner=partitioner)
    return found


def geometry_dofmap(mesh: dmesh.Mesh) -> Any:
    """Numbers of the geometry nodes of every cell, shape (cells, nodes)."""
    return mesh.geometry.dofmaps[0] if VERSION >= (0, 11) else mesh.geometry.dofmap


def coordinate_element(mesh: dmesh.Mesh) -> Any:
    """The element of the geometry, with its degree and its variant."""
    return mesh.geometry.cmaps[0] if VERSION >= (0, 11) else mesh.geometry.cmap


def original_cells(mesh: dmesh.Mesh) -> Any:
    """Numbers that owned cells had when the mesh was made; none where DOLFINx has none, as of submeshes."""
    try:
        return mesh.topology.original_cell_index
    except RuntimeError:
        return np.zeros(0, dtype=np.int64)


def pack(form: Any) -> tuple[Any, dict[Any, Any]]:
    """Constants of a compiled form, and its coefficients cell by cell by kind of integral."""
    given = form if VERSION >= (0, 10) else form._cpp_object
    return assemble.pack_constants(given), assemble.pack_coefficients(given)


def pack_constants(form: Any) -> Any:
    """Constants of a compiled form."""
    return assemble.pack_constants(form if VERSION >= (0, 10) else form._cpp_object)


def interpolation_points(space: Any) -> Any:
    """Points of the reference cell at which a Lagrange space is evaluated, those of its nodes in order."""
    points = space.element.interpolation_points
    return points if VERSION >= (0, 10) else points()


def has_adios2() -> bool:
    """Whether DOLFINx can write VTX files."""
    return bool(dolfinx.has_adios2)
