"""Meshes with names for their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import ufl
from dolfinx import la
from dolfinx import mesh as dmesh

from .. import arguments
from .._types import BoolArray, Int32Array, IntArray

#: Name of all exterior facets of a mesh that has no part of this name.
BOUNDARY = "boundary"


@dataclass(frozen=True)
class NamedMesh:
    """A DOLFINx mesh with the names of its parts.

    Attributes:
        mesh: The DOLFINx mesh.
        cell_tags: ``MeshTags`` of the cells, or None.
        facet_tags: ``MeshTags`` of the facets, or None.
        names: Maps the name of each part to (dimension, tag).
        groups: Maps further names, each of entities with several tags, to (dimension, tags).
        cell_numbers: Numbers of the owned cells over all ranks that do not depend on the partition, where
            the ``original_cell_index`` of the mesh does; None otherwise.
        numbers: Maps (dimension, tag) of a script to the tags that its entities have, where it is not alone.
    """

    mesh: dmesh.Mesh
    cell_tags: Any
    facet_tags: Any
    names: Mapping[str, tuple[int, int]]
    groups: Mapping[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    cell_numbers: Int32Array | None = field(default=None, repr=False, compare=False)
    numbers: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict, repr=False)

    def facets(self, name: str | int) -> Int32Array:
        """Local facets, ghosts included, of the part ``name``, or with this number as tag. Collective.

        ``"boundary"`` are all exterior facets where no part has this name.

        Raises:
            ValueError: No facets of this name; the message lists the names of facets.
        """
        if name == BOUNDARY and not self._has_boundary:
            return np.flatnonzero(exterior_facets(self.mesh)).astype(np.int32)
        return self._tagged("facets", self.facet_tags, self.mesh.topology.dim - 1, name)

    def cells(self, name: str | int) -> Int32Array:
        """Local cells, ghosts included, of the part ``name``, or with this number as tag. Collective.

        Raises:
            ValueError: No cells of this name; the message lists the names of cells.
        """
        return self._tagged("cells", self.cell_tags, self.mesh.topology.dim, name)

    def other_cells(self, names: str | int | Sequence[str | int]) -> tuple[Any, ...]:
        """Names of all cells but those named, as ``cells=`` of the rest of a body. Collective.

        Cells of a tag without a name are given by their tag.

        Raises:
            ValueError: No cells of a name, cells without a tag, no cells left.
        """
        tdim, comm = self.mesh.topology.dim, self.mesh.comm
        chosen = [names] if isinstance(names, (str, int, np.integer)) else list(names)
        for each in chosen:
            self.cells(each)
        tags = {tag for each in chosen for tag in self.tags(each, tdim)}
        owned = self.mesh.topology.index_map(tdim).size_local
        local = self.cell_tags.values
        bare = comm.allreduce(owned - int(np.count_nonzero(self.cell_tags.indices < owned)))
        if bare:
            raise ValueError(f"{bare} cells of the mesh have no tag: tag them, so that the rest is known")
        present = sorted({int(tag) for each in comm.allgather(np.unique(local)) for tag in each} - tags)
        if not present:
            raise ValueError(f"no cells are left beside {', '.join(map(str, chosen))}: name fewer")
        known = {tag: name for name, (dim, tag) in self.names.items() if dim == tdim}
        return tuple(known.get(tag, tag) for tag in present)

    @property
    def _has_boundary(self) -> bool:
        """Whether facets of the mesh are named ``"boundary"``."""
        fdim = self.mesh.topology.dim - 1
        return any(n == BOUNDARY and d == fdim for n, (d, _) in {**self.groups, **self.names}.items())

    def tags(self, name: str | int, dim: int | None = None) -> tuple[int, ...]:
        """Tags of the cells or facets of the part ``name``, which has one or, as a group, several.

        Args:
            name: The name, or a number.
            dim: Dimension of the entities with this number.
        """
        if not isinstance(name, str):
            return self.tags_of(self.mesh.topology.dim if dim is None else dim, int(name))
        return (self.names[name][1],) if name in self.names else tuple(self.groups[name][1])

    def tags_of(self, dim: int, number: int) -> tuple[int, ...]:
        """Tags of the entities to which a script gave this number as tag."""
        return self.numbers.get((dim, number), (number,))

    def _tagged(self, kind: str, tags: Any, dim: int, name: str | int) -> Int32Array:
        known = sorted(n for n, (d, _) in {**self.groups, **self.names}.items() if d == dim)
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            return self._numbered(kind, tags, dim, int(name))
        if not isinstance(name, str) or name not in known or tags is None:
            hint = arguments.nearest(name, known) if isinstance(name, str) else "give a name or a number; "
            more = dim < self.mesh.topology.dim and not self._has_boundary
            free = f", and {BOUNDARY!r}, all exterior ones" if more else ""
            raise ValueError(
                f"no {kind} are named {name!r} in the mesh; {hint}named are: {known or 'none'}{free}"
            )
        found: Int32Array = np.unique(np.concatenate([tags.find(tag) for tag in self.tags(name)]))
        return found

    def _numbered(self, kind: str, tags: Any, dim: int, number: int) -> Int32Array:
        """Local entities with this number as tag on some rank. Collective."""
        wanted = self.tags_of(dim, number)
        here = np.zeros(0, np.int32) if tags is None else np.isin(tags.values, wanted)
        found: Int32Array = np.zeros(0, np.int32) if tags is None else np.unique(tags.indices[here])
        if not self.mesh.comm.allreduce(int(found.size)):
            local = np.zeros(0, np.int32) if tags is None else np.unique(tags.values)
            every = sorted({int(tag) for each in self.mesh.comm.allgather(local) for tag in each})
            raise ValueError(f"no {kind} have the tag {number} in the mesh; tags are: {every or 'none'}")
        return found


def measures(mesh: dmesh.Mesh, parts: Sequence[IntArray], beside: Any = None) -> list[Any]:
    """Measures ``dx`` over the parts of a mesh, given by their local cells.

    Their numbers are 1, 2, ... and not the tags of the cells: forms of another part, or of the same one under
    another tag, have the same compiled kernels.

    Args:
        mesh: The mesh.
        parts: Cells of each.
        beside: A measure that may stand in a form with them: DOLFINx allows for one list of cells.
    """
    owned = mesh.topology.index_map(mesh.topology.dim).size_local
    numbered = [] if beside is None or beside.subdomain_data() is None else beside.subdomain_data()
    known = len(numbered)
    numbered += [(known + k, cells[cells < owned].astype(np.int32)) for k, cells in enumerate(parts, 1)]
    dx = ufl.Measure("dx", domain=mesh, subdomain_data=numbered)
    return [dx(k) for k, _ in numbered[known:]]


def exterior_facets(mesh: dmesh.Mesh) -> BoolArray:
    """Mask of the local facets, ghosts included, that have one cell. Collective.

    ``exterior_facet_indices`` of DOLFINx 0.9 takes the vertices between two ranks for ends of a line, and has
    no ghosts.
    """
    topology, tdim = mesh.topology, mesh.topology.dim
    topology.create_entities(tdim - 1)
    topology.create_connectivity(tdim - 1, tdim)  # for the nodes of facets
    topology.create_connectivity(tdim, tdim - 1)
    links, index_map = topology.connectivity(tdim, tdim - 1), topology.index_map(tdim - 1)
    counts = la.vector(index_map, 1)
    np.add.at(counts.array, links.array[: links.offsets[topology.index_map(tdim).size_local]], 1.0)
    counts.scatter_reverse(la.InsertMode.add)
    counts.scatter_forward()
    exterior: BoolArray = counts.array == 1
    return exterior


def as_named(given: Any) -> NamedMesh:
    """A mesh, a named mesh, or what ``dolfinx.io`` returns for one, with its names.

    Raises:
        ValueError: Something else.
    """
    if isinstance(given, NamedMesh):
        return given
    if isinstance(given, dmesh.Mesh):
        return NamedMesh(given, None, None, {})
    if hasattr(given, "cell_tags") and isinstance(getattr(given, "mesh", None), dmesh.Mesh):  # MeshData
        groups = dict(getattr(given, "physical_groups", None) or {})
        names = {name: (int(group[0]), int(group[1])) for name, group in groups.items()}
        return NamedMesh(given.mesh, given.cell_tags, given.facet_tags, names)
    if isinstance(given, tuple) and len(given) >= 3 and isinstance(given[0], dmesh.Mesh):
        return NamedMesh(given[0], given[1], given[2], {})
    bare_mesh(given)  # raises
    raise AssertionError


def bare_mesh(given: Any) -> dmesh.Mesh:
    """The DOLFINx mesh of a :class:`NamedMesh`, or the mesh itself.

    Raises:
        ValueError: Something else than a mesh.
    """
    mesh = given.mesh if isinstance(given, NamedMesh) else given
    if isinstance(mesh, dmesh.Mesh):
        return mesh
    if isinstance(given, (str, Path)):
        hint = f"read it first, dolfinx_impact.mesh.read({str(given)!r}, gdim=...)"
    elif isinstance(given, tuple):
        hint = "dolfinx.io returns (mesh, cell_tags, facet_tags)"
    else:
        hint = "give one of DOLFINx, or the result of dolfinx_impact.mesh.read"
    raise ValueError(f"the mesh must be a mesh, but is {arguments.shown(given)}: {hint}")
