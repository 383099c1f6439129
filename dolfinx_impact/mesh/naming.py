"""Names for the parts of a mesh that a script has made: markers, numbers of tags, what DOLFINx reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from dolfinx import la
from dolfinx import mesh as dmesh

from .. import arguments, parallel
from .._types import BoolArray, FloatArray, IntArray
from .named_mesh import NamedMesh, as_named, exterior_facets

#: Where a part is: a function of coordinates x, shape (3, n) [m], that returns a mask of shape (n,), or one
#: or several numbers of the tags of the mesh.
Where: TypeAlias = Callable[[FloatArray], BoolArray] | int | Sequence[int]

_HOW = "give a function of x, as lambda x: np.isclose(x[2], 0.0), or numbers of the mesh's tags"
_UNTAGGED = -(2**40)


def named(mesh: Any, /, *, cells: Mapping[str, Where] | None = None, **facets: Where) -> NamedMesh:
    """Give names to parts of a mesh. Collective.

    Parts may overlap, and names and tags that the mesh has already stay valid. Without a name there is
    ``"boundary"``, all exterior facets.

    Example:
        ::

            block = di.named(mesh, skin=lambda x: x[2] < 1e-9, foot=3, cells={"core": lambda x: x[0] < 0.1})
            solid = di.Solid(block, law=law, density=7850.0, fixed=["foot"])

    Args:
        mesh: A mesh, named or not, or what ``dolfinx.io`` returns for one: ``(mesh, cell_tags, facet_tags)``
            of ``gmshio``, the ``MeshData`` of ``dolfinx.io.gmsh``.
        cells: Parts of cells by name. A function marks the cells whose vertices all satisfy it.
        **facets: Parts of facets by name. A function marks the exterior facets whose vertices all satisfy it.

    Raises:
        ValueError: No mesh; a name that the mesh has already; something else than a function or numbers of
            tags; a part without facets or cells.
    """
    given = as_named(mesh)
    tdim = given.mesh.topology.dim
    parts = {tdim - 1: facets, tdim: arguments.mapping("cells", cells or {}, "cells={'core': 1}")}
    names = [name for each in parts.values() for name in each]
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"the name of a part must be a text, but is {arguments.shown(name)}")
        if name in {**given.names, **given.groups} or names.count(name) > 1:
            raise ValueError(f"{name!r} names another part of the mesh already: take another name")
    for dim, wanted in parts.items():
        if wanted:
            given = _with(given, dim, wanted)
    return given


def _with(given: NamedMesh, dim: int, wanted: Mapping[str, Where]) -> NamedMesh:
    """The mesh with these further names of facets or cells. Collective.

    An entity has one tag: those with several names, or with a name and a tag, have new tags.
    """
    mesh, comm = given.mesh, given.mesh.comm
    mesh.topology.create_entities(dim)
    index_map = mesh.topology.index_map(dim)
    tags = given.facet_tags if dim < mesh.topology.dim else given.cell_tags
    old = np.full(index_map.size_local + index_map.num_ghosts, _UNTAGGED, dtype=np.int64)
    if tags is not None:
        old[tags.indices] = tags.values
    old = _as_their_owners(index_map, old)
    masks = np.array([_mask(given, dim, name, where, old) for name, where in wanted.items()])
    for name, mask in zip(wanted, masks):
        if not comm.allreduce(int(mask.sum())):
            kind = "cells" if dim == mesh.topology.dim else "exterior facets"
            raise ValueError(f"the part {name!r} has no {kind}: none of the mesh satisfies what defines it")
    keys = np.column_stack([old, *masks]).astype(np.int64)
    combinations = np.unique(np.concatenate(comm.allgather(np.unique(keys, axis=0))), axis=0)
    combinations = combinations[combinations[:, 1:].any(axis=1)]  # others keep their tags
    new = max(0, int(parallel.largest(comm, old.astype(np.float64)))) + 1 + np.arange(len(combinations))
    values, touched = old.copy(), masks.any(axis=0)
    for combination, tag in zip(combinations, new):
        values[touched & (keys == combination).all(axis=1)] = tag
    chosen = np.flatnonzero(values != _UNTAGGED).astype(np.int32)
    made = dmesh.meshtags(mesh, dim, chosen, values[chosen].astype(np.int32))
    return _named_anew(given, dim, made, list(wanted), combinations, new)


def _as_their_owners(index_map: Any, tags: IntArray) -> IntArray:
    """Tags in which ghosts have those of their owners: a script may leave ghosts out. Collective."""
    every = la.vector(index_map, 1, dtype=np.int64)
    every.array[:] = tags
    every.scatter_forward()
    found: IntArray = np.where(every.array == _UNTAGGED, tags, every.array)
    return found


def _named_anew(
    given: NamedMesh, dim: int, tags: Any, wanted: list[str], combinations: IntArray, new: IntArray
) -> NamedMesh:
    """The mesh with new tags: the ``combinations`` of an old tag and names have the tags ``new``."""
    split = {int(each) for each in combinations[:, 0] if each != _UNTAGGED}

    def following(d: int, tags: Iterable[int]) -> tuple[int, ...]:
        """The tags that entities with old ones have now."""
        more = [int(tag) for each in tags for tag in new[combinations[:, 0] == each]] if d == dim else []
        return (*tags, *more)

    numbers = {key: following(key[0], tags) for key, tags in given.numbers.items()}
    numbers |= {(dim, each): following(dim, [each]) for each in split if (dim, each) not in numbers}
    names = {n: (d, tag) for n, (d, tag) in given.names.items() if d != dim or tag not in split}
    old = {n: (d, (tag,)) for n, (d, tag) in given.names.items() if n not in names}
    groups = {n: (d, following(d, tags)) for n, (d, tags) in [*old.items(), *given.groups.items()]}
    for k, name in enumerate(wanted, start=1):
        groups[name] = dim, tuple(int(tag) for tag in new[combinations[:, k] > 0])
    cells, facets = given.cell_tags, given.facet_tags
    if dim == given.mesh.topology.dim:
        cells = tags
    else:
        facets = tags
    return NamedMesh(given.mesh, cells, facets, names, groups, given.cell_numbers, numbers)


def _mask(given: NamedMesh, dim: int, name: str, where: Where, tags: IntArray) -> BoolArray:
    """Mask of the local entities of a part. Collective."""
    if callable(where) and not isinstance(where, type):
        found = np.zeros(tags.size, dtype=bool)
        found[_marked(given.mesh, dim, name, where)] = True
        return found & exterior_facets(given.mesh) if dim < given.mesh.topology.dim else found
    numbers = arguments.floats(where)
    if numbers.ndim > 1 or not np.all(np.isfinite(numbers)) or np.any(numbers != np.floor(numbers)):
        raise ValueError(f"the part {name!r}: {_HOW}, not {arguments.shown(where)}")
    wanted = [tag for each in np.atleast_1d(numbers) for tag in given.tags_of(dim, int(each))]
    mask: BoolArray = np.isin(tags, wanted)
    return mask


def _marked(mesh: dmesh.Mesh, dim: int, name: str, where: Callable[[FloatArray], Any]) -> IntArray:
    """Local entities whose vertices all satisfy a user's function; its errors are raised on all ranks."""

    def marker(x: FloatArray) -> BoolArray:
        mask = np.asarray(where(x))
        if mask.shape != (x.shape[1],) or mask.dtype != bool:
            kind = f"shape {mask.shape} and type {mask.dtype}"
            raise ValueError(
                f"the part {name!r}: the function of x must give {x.shape[1]} truth values, not {kind}"
            )
        return mask

    def located() -> IntArray:
        marker(np.ascontiguousarray(mesh.geometry.x.T))  # an error in the marker would end DOLFINx
        return np.asarray(dmesh.locate_entities(mesh, dim, marker))

    mesh.topology.create_connectivity(dim, 0)
    mesh.topology.create_connectivity(mesh.topology.dim, dim)
    return parallel.together(mesh.comm, located)
