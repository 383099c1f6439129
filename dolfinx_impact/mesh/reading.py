"""Meshes from a ``.geo`` script with parameters, a ``.msh`` or STEP file, a gmsh model."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy import sparse
from scipy.sparse import csgraph

from .. import _compat, parallel
from . import cad
from .gmsh_groups import DisjointModel, Groups, ModelCopy, find_groups, refuse_names_twice
from .named_mesh import NamedMesh

logger = logging.getLogger("dolfinx_impact")
_PREFIX = "Parameters/"
_FLAT = 1e-6  # of the diagonal: by the square of it is the size of a tilted body wrong


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
    comm: MPI.Comm | None = None,
) -> NamedMesh:
    """Read or generate a mesh with gmsh on rank 0 and distribute it. Collective.

    A line mesh in two or three dimensions, or one that branches (more than two cells meet at a vertex), is
    replicated: on several ranks each has the complete mesh with a communicator of its own
    (``mesh.comm.size == 1``), because DOLFINx 0.9 may disconnect branches, and frames are not distributed.

    A facet may be in several physical groups; like with overlapping names of :func:`named`, it has all names.

    Args:
        source: A ``.geo`` script (its parameters are those that ``DefineConstant`` names ``Parameters/...``),
            a ``.msh`` file, a STEP file (``.step``, ``.stp``) of one solid, which is meshed by tetrahedra
            in metres with the cells ``body`` and the facets ``skin``, or a ``gmsh.model`` with a mesh on
            rank 0.
        gdim: Geometric dimension, 1 to 3; coordinates beyond it must be the same at all nodes.
        parameters: Values for parameters of a ``.geo`` script.
        size: Edge length of the tetrahedra of a STEP file [m]; a twentieth of the diagonal of its bounding
            box by default.
        comm: The ranks over which the mesh is distributed or replicated; all by default, within a
            :func:`.study` those of the run.

    Raises:
        FileNotFoundError: The file does not exist.
        ValueError: No mesh, or cells of several kinds; a parameter that the script does not define; cells
            that are not in exactly one physical group; two groups of one name; coordinates beyond ``gdim``
            that vary; a STEP file without exactly one solid, or a ``size`` unfit for it.
        ImportError: gmsh is not installed (extra ``mesh``).
    """
    comm = parallel.world() if comm is None else comm
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
    if path.suffix == ".msh":
        refuse_names_twice(path)
    if path.suffix == ".geo":
        _set_parameters(gmsh, path, parameters)
        problem = _logged(gmsh, lambda: gmsh.model.mesh.generate(gmsh.model.getDimension()))
        if problem:
            raise ValueError(f"{str(path)!r} gave no mesh: {problem}")
    _refuse_kinds(gmsh.model, repr(str(path)))


def _refuse_kinds(model: Any, source: str) -> None:
    """Raise a ValueError unless the cells of the model are of one kind."""
    kinds = model.mesh.getElements(max(0, model.getDimension()))[0]
    if len(kinds) == 0:
        raise ValueError(f"{source} gave no mesh: it has no elements")
    if len(kinds) > 1:
        raise ValueError(f"{source} mixes cells of {len(kinds)} kinds: a mesh has one kind of cell")


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
    groups, ends, copy = parallel.on_root(comm, lambda: _inspect(model, gdim, comm.size > 1))
    source: Any = DisjointModel(model, groups) if copy is None and comm.rank == 0 else copy
    comm = comm if copy is None else MPI.COMM_SELF
    partitioner = _compat.cell_partitioner(dmesh.GhostMode.none)
    mesh, cells, facets = _compat.model_to_mesh(source, comm, 0, gdim, partitioner)
    vertices = mesh.topology.index_map(0).size_global
    if ends is not None and vertices != ends:
        raise ValueError(f"the lines meet at {ends} nodes, but DOLFINx made {vertices} vertices of them")
    return NamedMesh(mesh, cells, facets, groups.names, groups.several, numbers=groups.numbers)


def _inspect(model: Any, gdim: int, several: bool) -> tuple[Groups, int | None, ModelCopy | None]:
    """Groups of the model; for line meshes also the number of vertices, and a copy if it is replicated."""
    _refuse_kinds(model, "the gmsh model")
    groups = find_groups(model)
    _refuse_flattening(model, gdim)
    _tell_loose_parts(model)
    if model.getDimension() != 1:
        return groups, None, None
    end_nodes = []
    for kind, _, nodes in zip(*model.mesh.getElements(1)):
        end_nodes.append(nodes.reshape(-1, model.mesh.getElementProperties(kind)[3])[:, :2].ravel())
    ends, cell_counts = np.unique(np.concatenate(end_nodes), return_counts=True)
    replicated = gdim > 1 or bool(np.any(cell_counts > 2))
    return groups, ends.size, ModelCopy(DisjointModel(model, groups)) if several and replicated else None


def _refuse_flattening(model: Any, gdim: int) -> None:
    """Raise a ValueError where the cells are not flat in the directions beyond ``gdim``."""
    numbers, flat, _ = model.mesh.getNodes()
    used = np.isin(numbers, np.concatenate(model.mesh.getElements(model.getDimension())[2]))
    x = flat.reshape(-1, 3)[used]
    extents = np.ptp(x, axis=0)
    if np.any(extents[gdim:] > _FLAT * np.linalg.norm(extents)):
        spans = ", ".join(f"{name} {extent:.4g} m" for name, extent in zip("xyz", extents))
        raise ValueError(
            f"gdim={gdim} would drop coordinates that vary, the mesh extends over {spans}: give a larger "
            f"gdim, or draw the body in {'x' if gdim == 1 else 'x and y'}"
        )


def _tell_loose_parts(model: Any) -> None:
    """Tell the log of cells without a common node: solids that touch are one body only when fragmented."""
    kinds, _, flat = model.mesh.getElements(model.getDimension())
    numbers, at = np.unique(np.concatenate(flat), return_inverse=True)
    count = model.mesh.getElementProperties(kinds[0])[3]
    pairs = np.repeat(at[::count], count), at
    joined = sparse.coo_array((np.ones(at.size), pairs), shape=(numbers.size, numbers.size))
    parts = csgraph.connected_components(joined, directed=False)[0]
    if parts > 1:
        logger.info(
            "the mesh has %d parts without a common node: what is to be one body, as solids that touch, "
            "must be fragmented in gmsh",
            parts,
        )
