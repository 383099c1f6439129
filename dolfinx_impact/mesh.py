"""Meshes with named parts from gmsh: a ``.geo`` script with parameters, a ``.msh`` file, a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from . import _compat, parallel

_PREFIX = "Parameters/"


@dataclass(frozen=True)
class NamedMesh:
    """A DOLFINx mesh with the names of its parts.

    Attributes:
        mesh: The mesh.
        cell_tags: Tags of the cells, or None.
        facet_tags: Tags of the facets, or None.
        names: Name of a part to (dimension, tag).
    """

    mesh: dmesh.Mesh
    cell_tags: Any
    facet_tags: Any
    names: Mapping[str, tuple[int, int]]

    def facets(self, name: str) -> NDArray[np.int32]:
        """Facets of this rank (ghosts included) in the part ``name``. Collective.

        Raises:
            ValueError: When no facets carry the name; the message lists those that do.
        """
        fdim = self.mesh.topology.dim - 1
        known = sorted(n for n, (dim, _) in self.names.items() if dim == fdim)
        if name not in known or self.facet_tags is None:
            raise ValueError(f"no facets are named {name!r} in the mesh; named are: {known or 'none'}")
        return self.facet_tags.find(self.names[name][1])


def package_mesh(name: str) -> Path:
    """Path of a gmsh script that comes with the package."""
    here = Path(__file__).resolve().parent
    for folder in (here / "meshes", here.parent / "meshes"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"the package has no mesh {name!r}")


def read(
    source: str | Path | Any,
    *,
    gdim: int = 3,
    parameters: Mapping[str, float] | None = None,
    comm: MPI.Comm = MPI.COMM_WORLD,
) -> NamedMesh:
    """Read or generate a mesh with gmsh on rank 0 and distribute it. Collective.

    Args:
        source: A ``.geo`` script (its parameters are those that ``DefineConstant`` names
            ``Parameters/...``), a ``.msh`` file, or a ``gmsh.model`` with a mesh on rank 0.
        gdim: Dimension of space, 1 to 3.
        parameters: Values for parameters of a ``.geo`` script.
        comm: The ranks that share the mesh.

    Raises:
        FileNotFoundError: When the file does not exist.
        ValueError: When it is no mesh, or has no such parameter.
        ImportError: When gmsh is not installed (extra ``mesh``).
    """
    if gdim not in (1, 2, 3):
        raise ValueError(f"gdim must be 1, 2 or 3, but is {gdim}")
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
        parallel.on_root(comm, lambda: _load(gmsh, Path(source), dict(parameters or {})))
        return _distribute(gmsh.model, comm, gdim)
    finally:
        gmsh.finalize()


def _start_gmsh() -> Any:
    """gmsh, initialised on every rank (rank 0 alone uses it), silent, our signal handlers kept."""
    try:
        import gmsh
    except ImportError as missing:
        raise ImportError("reading meshes needs gmsh: install the extra 'mesh'") from missing
    if gmsh.isInitialized():
        raise ValueError("gmsh is in use: pass gmsh.model, or call gmsh.finalize() before reading a file")
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    # An error thrown in the middle of a file leaves the parser unfit for the next one.
    gmsh.option.setNumber("General.AbortOnError", 0)
    return gmsh


def _load(gmsh: Any, path: Path, parameters: dict[str, float]) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"the mesh file {str(path)!r} does not exist")
    if path.suffix not in (".geo", ".msh"):
        raise ValueError(f"{str(path)!r}: a mesh is a .geo or .msh file")
    if parameters and path.suffix != ".geo":
        raise ValueError(f"{str(path)!r} is no .geo script and has no parameters")
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
    """The first error that gmsh logs meanwhile, empty for none."""
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
    names = parallel.on_root(comm, lambda: _physical_names(model))
    partitioner = _compat.cell_partitioner(dmesh.GhostMode.none)
    mesh, cells, facets = _compat.model_to_mesh(model, comm, 0, gdim, partitioner)
    return NamedMesh(mesh, cells, facets, names)


def _physical_names(model: Any) -> dict[str, tuple[int, int]]:
    groups = model.getPhysicalGroups()
    if not any(dim == model.getDimension() for dim, _ in groups):
        raise ValueError("the mesh has no physical group of cells: add one (it says what is meshed)")
    return {model.getPhysicalName(*g): (int(g[0]), int(g[1])) for g in groups if model.getPhysicalName(*g)}
