"""Meshes with named parts, from a ``.geo`` script with parameters, a ``.msh`` or STEP file, a gmsh model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from dolfinx import la
from dolfinx import mesh as dmesh
from mpi4py import MPI

from .. import _compat, arguments, parallel
from .._types import BoolArray, Int32Array, IntArray
from . import cad

_PREFIX = "Parameters/"
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


def package_mesh(name: str) -> Path:
    """Path of a gmsh script shipped with the package; a FileNotFoundError where there is none."""
    here = Path(__file__).resolve().parents[1]
    for folder in (here / "meshes", here.parent / "meshes"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"the package has no mesh {name!r}")


def read(
    source: str | Path | Any,
    *,
    gdim: int = 3,
    parameters: Mapping[str, float] | None = None,
    size: float | None = None,
    comm: MPI.Comm = MPI.COMM_WORLD,
) -> NamedMesh:
    """Read or generate a mesh with gmsh on rank 0 and distribute it. Collective.

    A line mesh in two or three dimensions, or one that branches (more than two cells meet at a vertex), is
    replicated: on several ranks each has the complete mesh with a communicator of its own
    (``mesh.comm.size == 1``), because DOLFINx 0.9 may disconnect branches, and frames are not distributed.

    Args:
        source: A ``.geo`` script (its parameters are those that ``DefineConstant`` names ``Parameters/...``),
            a ``.msh`` file, a STEP file (``.step``, ``.stp``) of one solid, which is meshed by tetrahedra
            in metres with the cells ``body`` and the facets ``skin``, or a ``gmsh.model`` with a mesh on
            rank 0.
        gdim: Geometric dimension, 1 to 3.
        parameters: Values for parameters of a ``.geo`` script.
        size: Edge length of the tetrahedra of a STEP file [m]; a twentieth of the diagonal of its bounding
            box by default.
        comm: The ranks over which the mesh is distributed or replicated.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: No mesh; a parameter that the script does not define; cells that are not in exactly one
            physical group; a STEP file without exactly one solid, or a ``size`` unfit for it.
        ImportError: gmsh is not installed (extra ``mesh``).
    """
    if gdim not in (1, 2, 3):
        raise ValueError(f"gdim must be 1, 2 or 3, but is {gdim}")
    step = isinstance(source, (str, Path)) and cad.is_step(Path(source))
    size = cad.checked_size(size, step, gdim)
    if not isinstance(source, (str, Path)):
        return _distribute(source, comm, gdim)
    gmsh: Any = None
    error: Exception | None = None
    try:
        gmsh = _start_gmsh()
    except (ImportError, ValueError) as caught:
        error = caught
    parallel.agree(comm, error)
    try:
        parallel.on_root(comm, lambda: _load(gmsh, Path(source), dict(parameters or {}), size))
        return _distribute(gmsh.model, comm, gdim)
    finally:
        gmsh.finalize()


def _start_gmsh() -> Any:
    """gmsh, initialised on every rank (only rank 0 uses it), without output or signal handlers of its own."""
    try:
        import gmsh
    except ImportError as missing:
        raise ImportError("reading meshes needs gmsh: install the extra 'mesh'") from missing
    if gmsh.isInitialized():
        raise ValueError("gmsh is in use: pass gmsh.model, or call gmsh.finalize() before reading a file")
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    # An exception in the middle of a file would leave the parser in an undefined state for the next one.
    gmsh.option.setNumber("General.AbortOnError", 0)
    return gmsh


def _load(gmsh: Any, path: Path, parameters: dict[str, float], size: float | None) -> None:
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder: a mesh is a file")
    if not path.is_file():
        raise FileNotFoundError(f"the mesh file {str(path)!r} does not exist")
    if path.suffix not in (".geo", ".msh") and not cad.is_step(path):
        raise ValueError(f"{str(path)!r}: a mesh is a .geo or .msh file, a part a .step or .stp file")
    if parameters and path.suffix != ".geo":
        raise ValueError(f"{str(path)!r} is no .geo script and has no parameters")
    if cad.is_step(path):
        with tempfile.TemporaryDirectory() as folder:
            _open(gmsh, cad.mesh_step(path, size, Path(folder)))
    else:
        _open(gmsh, path)
    if path.suffix == ".geo":
        _set_parameters(gmsh, path, parameters)
        problem = _logged(gmsh, lambda: gmsh.model.mesh.generate(gmsh.model.getDimension()))
        if problem:
            raise ValueError(f"{str(path)!r} gave no mesh: {problem}")
    kinds = gmsh.model.mesh.getElements(max(0, gmsh.model.getDimension()))[0]
    if len(kinds) == 0:
        raise ValueError(f"{str(path)!r} gave no mesh: it has no elements")
    if len(kinds) > 1:
        raise ValueError(f"{str(path)!r} mixes cells of {len(kinds)} kinds: a mesh has one kind of cell")


def _open(gmsh: Any, path: Path) -> None:
    gmsh.clear()
    problem = _logged(gmsh, lambda: gmsh.open(str(path)))
    if problem:
        raise ValueError(f"{str(path)!r} is no mesh that gmsh can read: {problem}")


def _logged(gmsh: Any, action: Callable[[], Any]) -> str:
    """The first error that gmsh logs during ``action``, empty for none."""
    gmsh.logger.start()
    action()
    problems = [line for line in gmsh.logger.get() if line.startswith("Error")]
    gmsh.logger.stop()
    return problems[0] if problems else ""


def _set_parameters(gmsh: Any, path: Path, parameters: dict[str, float]) -> None:
    names = [n[len(_PREFIX) :] for n in gmsh.onelab.getNames() if n.startswith(_PREFIX)]
    unknown = sorted(set(parameters) - set(names))
    if unknown:
        raise ValueError(f"{path.name} has no parameter {unknown[0]!r}; it has: {sorted(names)}")
    if parameters:
        for name, value in parameters.items():
            gmsh.onelab.setNumber(_PREFIX + name, [float(value)])
        _open(gmsh, path)


def _distribute(model: Any, comm: MPI.Comm, gdim: int) -> NamedMesh:
    names, ends, copy = parallel.on_root(comm, lambda: _inspect(model, gdim, comm.size > 1))
    source, comm = (model, comm) if copy is None else (copy, MPI.COMM_SELF)
    partitioner = _compat.cell_partitioner(dmesh.GhostMode.none)
    mesh, cells, facets = _compat.model_to_mesh(source, comm, 0, gdim, partitioner)
    vertices = mesh.topology.index_map(0).size_global
    if ends is not None and vertices != ends:
        raise ValueError(f"the lines meet at {ends} nodes, but DOLFINx made {vertices} vertices of them")
    return NamedMesh(mesh, cells, facets, names)


def _inspect(
    model: Any, gdim: int, several: bool
) -> tuple[dict[str, tuple[int, int]], int | None, _Copy | None]:
    """Names of the parts; for line meshes also the number of vertices, and a copy if it is replicated."""
    names = _physical_names(model)
    if model.getDimension() != 1:
        return names, None, None
    end_nodes = []
    for kind, _, nodes in zip(*model.mesh.getElements(1)):
        end_nodes.append(nodes.reshape(-1, model.mesh.getElementProperties(kind)[3])[:, :2].ravel())
    ends, cell_counts = np.unique(np.concatenate(end_nodes), return_counts=True)
    replicated = gdim > 1 or bool(np.any(cell_counts > 2))
    return names, ends.size, _Copy(model) if several and replicated else None


class _Copy:
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

    def getPhysicalGroups(self) -> list[tuple[int, int]]:
        return list(self._groups)

    def getPhysicalName(self, dim: int, tag: int) -> str:
        name: str = self._groups[dim, tag][0]
        return name

    def getEntitiesForPhysicalGroup(self, dim: int, tag: int) -> IntArray:
        entities: IntArray = self._groups[dim, tag][1]
        return entities

    def getNodes(self) -> tuple[Any, ...]:
        return tuple(part.copy() for part in self._nodes)

    def getElements(self, dim: int, tag: int = -1) -> tuple[Any, ...]:
        elements: tuple[Any, ...] = self._elements[dim, tag]
        return elements

    def getElementProperties(self, kind: int) -> tuple[Any, ...]:
        properties: tuple[Any, ...] = self._properties[kind]
        return properties


def _physical_names(model: Any) -> dict[str, tuple[int, int]]:
    groups, dim = model.getPhysicalGroups(), model.getDimension()
    if not any(d == dim for d, _ in groups):
        raise ValueError("the mesh has no physical group of cells: add one (it defines what is meshed)")
    for _, entity in model.getEntities(dim):
        tags = model.getPhysicalGroupsForEntity(dim, entity)
        if len(tags) != 1 and len(model.mesh.getElements(dim, entity)[0]):
            groups_of_entity = [model.getPhysicalName(dim, tag) or int(tag) for tag in tags] or "none"
            raise ValueError(
                f"every cell must be in one physical group, but those of entity {entity} of dimension {dim} "
                f"are in {groups_of_entity}"
            )
    return {model.getPhysicalName(*g): (int(g[0]), int(g[1])) for g in groups if model.getPhysicalName(*g)}
