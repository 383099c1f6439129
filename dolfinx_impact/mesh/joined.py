"""Several meshes as one mesh of disconnected parts, distributed as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import basix
import basix.ufl
import numpy as np
from dolfinx import graph, la
from dolfinx import mesh as dmesh
from dolfinx.io.utils import distribute_entity_data
from mpi4py import MPI

from .. import _compat, arguments, parallel
from .._types import FloatArray, Int32Array, Int64Array, IntArray
from .named_mesh import NamedMesh, as_named, exterior_facets

_EXAMPLE = "{'upper': mesh_a, 'lower': mesh_b}"
#: In the place of the tag of entities without one; tags are of 32 bits.
_UNTAGGED = 2**39


def join(parts: Mapping[str, NamedMesh | dmesh.Mesh]) -> NamedMesh:
    """Join meshes to one mesh, on which bodies come into contact with each other. Collective.

    The parts stay disconnected, also where their nodes coincide. The names of a part have its own name in
    front: ``"upper/skin"``. Besides, ``"upper"`` are all cells of the part and ``"upper/boundary"`` all of
    its exterior facets (unless the part has a name ``boundary`` of its own). The cells are distributed anew;
    no rank holds a whole mesh.

    Args:
        parts: Meshes by the names of the parts, on one communicator, with cells of one kind, degree and
            full dimension. In a part with named cells every cell has a name. Names of edges and points are
            left out.

    Returns:
        The mesh. Tags are renumbered from 1 on, in the order of the parts: the tags of the cells of a part
        are consecutive.

    Raises:
        ValueError: No parts, names that are not usable, something else than a mesh, meshes of different
            kinds, replicated ones, cells without a name.
    """
    named = _checked(parts)
    meshes = [part.mesh for part in named.values()]
    comm, tdim, gdim = meshes[0].comm, meshes[0].topology.dim, meshes[0].geometry.dim
    tagged = {name: _cell_tags(name, part) for name, part in named.items()}
    numbers = _input_numbers(meshes)
    cells = [new[_compat.geometry_dofmap(m)[: _owned(m, tdim)]] for m, new in zip(meshes, numbers)]
    joined = dmesh.create_mesh(
        comm,
        cells=np.concatenate(cells),
        x=np.concatenate([m.geometry.x[: m.geometry.index_map().size_local, :gdim] for m in meshes]),
        e=_element(meshes[0]),
        partitioner=_compat.cell_partitioner(dmesh.GhostMode.none),
    )
    book = _Names(comm)
    values = [book.cells(name, part, tagged[name]) for name, part in named.items()]
    cell_tags = _tags(joined, tdim, cells, values)
    facets, values = [], []
    for (name, part), new in zip(named.items(), numbers):
        found, keys = _facets(part)
        facets.append(new[_nodes_of(part.mesh, found)])
        values.append(book.facets(name, part, keys))
    facet_tags = _tags(joined, tdim - 1, facets, values)
    cell_numbers = _tags(joined, tdim, cells, _cell_numbers(named.values())).values
    return NamedMesh(joined, cell_tags, facet_tags, book.names, book.groups, cell_numbers)


# -- checks


def _checked(parts: Mapping[str, NamedMesh | dmesh.Mesh]) -> dict[str, NamedMesh]:
    """The parts, all with names. Raises the errors of :func:`join` that need no communication."""
    arguments.mapping("parts", parts, _EXAMPLE)
    if not parts:
        raise ValueError(f"parts names no mesh: give one mesh or several, as {_EXAMPLE}")
    named = {}
    for name, given in parts.items():
        if not isinstance(name, str) or not name.strip() or "/" in name:
            raise ValueError(
                f"the name of a part must be a text that is not empty and has no '/', but is "
                f"{arguments.shown(name)}"
            )
        named[name] = as_named(given)
        _refuse_unfit(name, named[name].mesh)
    meshes = {name: part.mesh for name, part in named.items()}
    _refuse_different("communicators", {name: _communicator(m, named) for name, m in meshes.items()})
    _refuse_different("cells", {name: m.topology.cell_name() for name, m in meshes.items()})
    _refuse_different("degrees", {name: _degree(m) for name, m in meshes.items()})
    return named


def _refuse_unfit(name: str, mesh: dmesh.Mesh) -> None:
    if mesh.comm.size == 1 < parallel.world().size:
        raise ValueError(
            f"the mesh of {name!r} is replicated, every rank has all of it: only meshes distributed over the "
            "ranks are joined, so make it on MPI.COMM_WORLD"
        )
    tdim, gdim = mesh.topology.dim, mesh.geometry.dim
    if tdim != gdim:
        raise ValueError(
            f"the cells of {name!r} have dimension {tdim} in space of dimension {gdim}: only bodies of "
            "full dimension are joined; draw lines and surfaces as one mesh"
        )


def _communicator(mesh: dmesh.Mesh, named: Mapping[str, NamedMesh]) -> str:
    """Size of the communicator and, where it is not that of the first part, a note."""
    first = next(iter(named.values())).mesh
    same = MPI.Comm.Compare(first.comm, mesh.comm) in (MPI.IDENT, MPI.CONGRUENT)
    return f"{mesh.comm.size} ranks" + ("" if same else " (others)")


def _degree(mesh: dmesh.Mesh) -> str:
    element = _compat.coordinate_element(mesh)
    variant = "" if element.degree < 3 else f", {basix.LagrangeVariant(element.variant).name}"
    return f"degree {element.degree}{variant}"


def _refuse_different(what: str, kinds: Mapping[str, str]) -> None:
    if len(set(kinds.values())) > 1:
        found = ", ".join(f"{name!r} {kind}" for name, kind in kinds.items())
        raise ValueError(f"the parts have different {what}, {found}: give meshes of one kind")


def _cell_tags(name: str, part: NamedMesh) -> Int64Array:
    """Tag of each owned cell, or 0 for all in a part without named cells. Collective."""
    tdim = part.mesh.topology.dim
    tags = np.full(_owned(part.mesh, tdim), _UNTAGGED, dtype=np.int64)
    known = [tag for each in _named(part, tdim).values() for tag in each]
    if not known:
        return np.zeros_like(tags)
    local = part.cell_tags.indices < tags.size
    tags[part.cell_tags.indices[local]] = part.cell_tags.values[local]
    bare = part.mesh.comm.allreduce(int(np.count_nonzero(~np.isin(tags, known))))
    if bare:
        raise ValueError(
            f"{bare} cells of {name!r} have no name; named are {', '.join(sorted(_named(part, tdim)))}: name "
            "all cells of a part, or none"
        )
    return tags


# -- the mesh


def _owned(mesh: dmesh.Mesh, dim: int) -> int:
    return int(mesh.topology.index_map(dim).size_local)


def _element(mesh: dmesh.Mesh) -> Any:
    degree, kind = _compat.coordinate_element(mesh).degree, mesh.topology.cell_name()
    shape = (mesh.geometry.dim,)
    if degree < 3:  # the variants are the same, and a mesh of DOLFINx may say "unset"
        return basix.ufl.element("Lagrange", kind, degree, shape=shape)
    variant = basix.LagrangeVariant(_compat.coordinate_element(mesh).variant)
    return basix.ufl.element("Lagrange", kind, degree, variant, shape=shape)


def _input_numbers(meshes: list[dmesh.Mesh]) -> list[Int64Array]:
    """Number of each local geometry node in the input of the joined mesh, for each part. Collective.

    The input of a rank are its owned nodes, part by part.
    """
    maps = [mesh.geometry.index_map() for mesh in meshes]
    counts = np.array(meshes[0].comm.allgather([each.size_local for each in maps]), dtype=np.int64)
    start = (np.cumsum(counts) - counts.ravel()).reshape(counts.shape)  # (ranks, parts)
    numbers = []
    for i, index_map in enumerate(maps):
        end = np.cumsum(counts[:, i])
        local = np.arange(index_map.size_local + index_map.num_ghosts, dtype=np.int32)
        old = index_map.local_to_global(local)
        owner = np.searchsorted(end, old, side="right")
        numbers.append(old - (end - counts[:, i])[owner] + start[owner, i])
    return numbers


def _tags(mesh: dmesh.Mesh, dim: int, entities: Sequence[IntArray], values: Sequence[IntArray]) -> Any:
    """``MeshTags`` of entities given by the input numbers of their geometry nodes. Collective."""
    mesh.topology.create_entities(dim)
    for to in (0, mesh.topology.dim):
        mesh.topology.create_connectivity(dim, to)
    every = np.concatenate(values).astype(np.int32)
    local, found = distribute_entity_data(mesh, dim, np.concatenate(entities), every)
    return dmesh.meshtags_from_entities(mesh, dim, graph.adjacencylist(local), found.astype(np.int32))


def _cell_numbers(parts: Any) -> list[Int64Array]:
    """Number of each owned cell for each part, different over all parts. Collective.

    These are the numbers in the files or functions that the parts come from, which do not depend on the
    partition.
    """
    numbers, before = [], 0
    for part in parts:
        mesh = part.mesh
        index_map = mesh.topology.index_map(mesh.topology.dim)
        own = _compat.original_cells(mesh) if part.cell_numbers is None else part.cell_numbers
        mine: Int64Array = np.asarray(own, dtype=np.int64)[: index_map.size_local]
        if mine.size < index_map.size_local:  # DOLFINx does not number the cells of all its meshes
            mine = index_map.local_range[0] + np.arange(index_map.size_local, dtype=np.int64)
        numbers.append(before + mine)
        before += index_map.size_global
    return numbers


# -- facets and names


def _facets(part: NamedMesh) -> tuple[Int32Array, Int64Array]:
    """Local facets with a tag or on the boundary, and ``2 tag + 1`` of exterior, ``2 tag`` of interior ones.

    Collective.
    """
    exterior = exterior_facets(part.mesh)
    index_map = part.mesh.topology.index_map(part.mesh.topology.dim - 1)
    tags = np.full(exterior.size, _UNTAGGED, dtype=np.int64)
    if part.facet_tags is not None:
        tags[part.facet_tags.indices] = part.facet_tags.values
    # A tag may be known only to a rank that does not own the facet.
    tagged = _sums(index_map, np.flatnonzero(tags != _UNTAGGED)) > 0
    found = np.flatnonzero(np.where(tagged, tags != _UNTAGGED, exterior)).astype(np.int32)
    return found, 2 * tags[found] + exterior[found]


def _nodes_of(mesh: dmesh.Mesh, facets: Int32Array) -> Int32Array:
    """Geometry nodes of facets, shape (facets, nodes)."""
    fdim = mesh.topology.dim - 1
    if not facets.size:  # DOLFINx divides by their number
        layout = _compat.coordinate_element(mesh).create_dof_layout()
        return np.zeros((0, len(layout.entity_closure_dofs(fdim, 0))), dtype=np.int32)
    nodes: Int32Array = dmesh.entities_to_geometry(mesh, fdim, facets)
    return nodes


def _sums(index_map: Any, entities: IntArray) -> FloatArray:
    """How often each local entity is in the lists of all ranks. Collective."""
    counts = la.vector(index_map, 1)
    np.add.at(counts.array, entities, 1.0)
    counts.scatter_reverse(la.InsertMode.add)
    counts.scatter_forward()
    found: FloatArray = counts.array
    return found


def _named(part: NamedMesh, dim: int) -> dict[str, tuple[int, ...]]:
    """Old tags by name; empty for a part without tags of this dimension."""
    if (part.cell_tags if dim == part.mesh.topology.dim else part.facet_tags) is None:
        return {}
    found = {name: (tag,) for name, (d, tag) in part.names.items() if d == dim}
    return found | {name: tags for name, (d, tags) in part.groups.items() if d == dim}


class _Names:
    """New tags and names of the parts, entered one after the other.

    Attributes:
        names, groups: See :class:`.NamedMesh`.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm
        self._last: dict[int, int] = {}
        self.names: dict[str, tuple[int, int]] = {}
        self.groups: dict[str, tuple[int, tuple[int, ...]]] = {}

    def cells(self, part: str, named: NamedMesh, tags: Int64Array) -> IntArray:
        """New tags of the owned cells with these old ones. Collective."""
        dim = named.mesh.topology.dim
        known = _named(named, dim)
        new, values = self._numbered(dim, tags, [tag for each in known.values() for tag in each])
        for name, old in known.items():
            self._enter(f"{part}/{name}", dim, [new[tag] for tag in old])
        self._enter(part, dim, list(new.values()))
        return values

    def facets(self, part: str, named: NamedMesh, keys: Int64Array) -> IntArray:
        """New tags of facets with the keys of :func:`_facets`. Collective."""
        dim = named.mesh.topology.dim - 1
        known = _named(named, dim)
        present = {key // 2 for each in self._comm.allgather(np.unique(keys).tolist()) for key in each}
        lacking = {tag for each in known.values() for tag in each} - present
        new, values = self._numbered(dim, keys, [2 * tag for tag in lacking])
        for name, old in known.items():
            both = [key for tag in old for key in (2 * tag, 2 * tag + 1) if key in new]
            self._enter(f"{part}/{name}", dim, [new[key] for key in both])
        if f"{part}/boundary" not in {**self.names, **self.groups}:
            self._enter(f"{part}/boundary", dim, [number for key, number in new.items() if key % 2])
        return values

    def _numbered(self, dim: int, old: Int64Array, more: list[int]) -> tuple[dict[int, int], IntArray]:
        """Consecutive new tags by old ones, of all ranks, and those of this rank's entities. Collective."""
        here = np.unique(np.append(old, np.asarray(more, dtype=np.int64)))
        every = np.unique(np.concatenate(self._comm.allgather(here)))
        first = self._last.get(dim, 0) + 1
        self._last[dim] = first + every.size - 1
        new = {int(tag): number for number, tag in enumerate(every, start=first)}
        return new, first + np.searchsorted(every, old)

    def _enter(self, name: str, dim: int, tags: list[int]) -> None:
        if len(tags) == 1:
            self.names[name] = (dim, tags[0])
        elif tags:
            self.groups[name] = (dim, tuple(sorted(tags)))
