"""Physical groups of a gmsh model: names, and groups that overlap."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._types import IntArray

logger = logging.getLogger("dolfinx_impact")
#: (dimension, tag) of a physical group.
Group = tuple[int, int]


class Groups(NamedTuple):
    """Disjoint physical groups with the names of the model, as plain data.

    Attributes:
        entities: Entities of each disjoint group; those of several groups have a tag of their own.
        names: Group of each name that has one.
        several: Dimension and tags of each name of several disjoint groups.
        numbers: Tags that the entities of a group of the model have, where these are several or others.
    """

    entities: dict[Group, tuple[int, ...]]
    names: dict[str, Group]
    several: dict[str, tuple[int, tuple[int, ...]]]
    numbers: dict[Group, tuple[int, ...]]


def find_groups(model: Any) -> Groups:
    """The physical groups of a model without overlaps: DOLFINx gives an entity the tag of one group alone.

    Raises:
        ValueError: Cells that are not in exactly one group, a name of several groups, facets that are there
            twice.
    """
    given = [(int(dim), int(tag)) for dim, tag in model.getPhysicalGroups()]
    of_entity: dict[tuple[int, int], list[int]] = {}
    for dim, tag in given:
        for entity in dict.fromkeys(map(int, model.getEntitiesForPhysicalGroup(dim, tag))):
            of_entity.setdefault((dim, entity), []).append(tag)
    _refuse_cells(model, given, of_entity)
    entities: dict[Group, tuple[int, ...]] = {group: () for group in given}
    tag_of: dict[tuple[int, tuple[int, ...]], int] = {(dim, (tag,)): tag for dim, tag in given}
    last = {dim: max(tag for d, tag in given if d == dim) for dim, _ in given}
    for (dim, entity), tags in of_entity.items():
        key = dim, tuple(sorted(tags))
        if key not in tag_of:
            last[dim] += 1
            tag_of[key] = last[dim]
        new = dim, tag_of[key]
        entities[new] = (*entities.get(new, ()), entity)
    tags_of = {
        (dim, tag): tuple(sorted(n for (d, old), n in tag_of.items() if d == dim and tag in old))
        for dim, tag in given
    }
    numbers = {group: tags for group, tags in tags_of.items() if len(tags) > 1}
    names = _names(model, given)
    _refuse_twice(model, entities)
    return Groups(
        entities,
        {name: group for name, group in names.items() if group not in numbers},
        {name: (group[0], numbers[group]) for name, group in names.items() if group in numbers},
        numbers,
    )


def _refuse_cells(model: Any, groups: list[Group], of_entity: dict[tuple[int, int], list[int]]) -> None:
    dim = model.getDimension()
    if not any(d == dim for d, _ in groups):
        raise ValueError("the mesh has no physical group of cells: add one (it defines what is meshed)")
    for _, entity in model.getEntities(dim):
        tags = of_entity.get((dim, entity), [])
        if len(tags) != 1 and len(model.mesh.getElements(dim, entity)[0]):
            found = [model.getPhysicalName(dim, tag) or tag for tag in tags] or "none"
            raise ValueError(
                f"every cell must be in one physical group, but those of entity {entity} of dimension {dim} "
                f"are in {found}"
            )


def _names(model: Any, groups: list[Group]) -> dict[str, Group]:
    names: dict[str, Group] = {}
    for dim, tag in groups:
        name = model.getPhysicalName(dim, tag)
        if name in names:
            _refuse_name(name)
        if name:
            names[name] = dim, tag
    for dim, tag in sorted(set(groups) - set(names.values())):
        others = [name for name, (d, _) in names.items() if d == dim]
        if others:
            logger.warning(
                "the physical group %d of dimension %d has no name, beside %s: gmsh drops a name that is "
                "given a second time; the group goes by its number",
                tag,
                dim,
                ", ".join(map(repr, others)),
            )
    return names


def refuse_names_twice(path: Path) -> None:
    """Raise a ValueError where a ``.msh`` file has a name twice, of which gmsh may keep one only."""
    found = re.search(rb"\$PhysicalNames(.*?)\$EndPhysicalNames", path.read_bytes(), re.DOTALL)
    names = re.findall(rb'\d+\s+\d+\s+"(.*?)"', found.group(1)) if found else []
    for name in names:
        if names.count(name) > 1:
            _refuse_name(name.decode(errors="replace"))


def _refuse_name(name: str) -> None:
    raise ValueError(
        f"two physical groups have the name {name!r}: give each a name of its own, or put their "
        "entities into one group"
    )


def _refuse_twice(model: Any, entities: dict[Group, tuple[int, ...]]) -> None:
    """Raise a ValueError where facets are listed under two tags, as some programs write overlaps."""
    dim = model.getDimension() - 1
    nodes: dict[int, list[IntArray]] = {}
    tags: dict[int, list[IntArray]] = {}
    for (d, tag), members in entities.items():
        for entity in members if d == dim > 0 else ():
            for kind, _, flat in zip(*model.mesh.getElements(dim, entity)):
                rows = np.sort(flat.reshape(-1, model.mesh.getElementProperties(kind)[3]), axis=1)
                nodes.setdefault(kind, []).append(rows)
                tags.setdefault(kind, []).append(np.full((len(rows), 1), tag, dtype=rows.dtype))
    for kind, found in nodes.items():
        every = np.concatenate(found)
        known = np.unique(np.hstack([every, np.concatenate(tags[kind])]), axis=0)
        twice = len(known) - len(np.unique(known[:, :-1], axis=0))
        if twice:
            raise ValueError(
                f"{twice} facets are in the mesh more than once, in different physical groups: list each "
                "once, with an entity of its own for each combination of groups, as gmsh writes them"
            )


class DisjointModel:
    """A gmsh model with the disjoint groups in the place of its own; the rest is the model's."""

    def __init__(self, model: Any, groups: Groups) -> None:
        self._model, self._groups = model, groups

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def getPhysicalGroups(self) -> list[Group]:
        """(dimension, tag) of each group with entities."""
        return [group for group, members in self._groups.entities.items() if members]

    def getPhysicalName(self, dim: int, tag: int) -> str:
        """A different name for each group: DOLFINx sorts them by name."""
        return f"{dim}-{tag}"

    def getEntitiesForPhysicalGroup(self, dim: int, tag: int) -> IntArray:
        """Entities of a group that have elements: DOLFINx stops at others."""
        members = self._groups.entities[dim, tag]
        return np.array([each for each in members if len(self.mesh.getElements(dim, each)[0])], np.int32)


class ModelCopy:
    """Picklable data of a gmsh model, with the methods of a model that DOLFINx calls."""

    def __init__(self, model: Any) -> None:
        self.mesh = self
        self._nodes = model.mesh.getNodes()
        self._groups = {
            group: (model.getPhysicalName(*group), model.getEntitiesForPhysicalGroup(*group))
            for group in model.getPhysicalGroups()
        }
        entities = [*model.getEntities(), *((dim, -1) for dim in range(model.getDimension() + 1))]
        self._elements = {entity: model.mesh.getElements(*entity) for entity in entities}
        kinds = {kind for types, _, _ in self._elements.values() for kind in types}
        self._properties = {kind: model.mesh.getElementProperties(kind) for kind in kinds}

    def getPhysicalGroups(self) -> list[Group]:
        """(dimension, tag) of each group."""
        return list(self._groups)

    def getPhysicalName(self, dim: int, tag: int) -> str:
        """Name of a group."""
        name: str = self._groups[dim, tag][0]
        return name

    def getEntitiesForPhysicalGroup(self, dim: int, tag: int) -> IntArray:
        """Entities of a group."""
        entities: IntArray = self._groups[dim, tag][1]
        return entities

    def getNodes(self) -> tuple[Any, ...]:
        """Tags, coordinates and parameters of the nodes."""
        return tuple(part.copy() for part in self._nodes)

    def getElements(self, dim: int, tag: int = -1) -> tuple[Any, ...]:
        """Kinds, tags and nodes of the elements of an entity."""
        elements: tuple[Any, ...] = self._elements[dim, tag]
        return elements

    def getElementProperties(self, kind: int) -> tuple[Any, ...]:
        """Properties of a kind of elements."""
        properties: tuple[Any, ...] = self._properties[kind]
        return properties
