"""A solid from a STEP file as tetrahedra, made by gmsh in a process of its own.

OpenCASCADE writes to the terminal and crashes on some damaged files, so this file is also the script
that this process runs; it imports nothing of the package, which would start MPI there.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

SUFFIXES = (".step", ".stp")
MOST_CELLS = 2e7
# MeshAdapt makes the fewest slivers at short edges; where it fails Frontal-Delaunay, then Delaunay.
_SURFACE_ALGORITHMS = (1, 6, 5)
_REFUSED, _NOT_MESHED = 3, 4  # exit statuses
_MM = 1e-3  # gmsh reads in millimetres, for which OpenCASCADE's tolerances are made


def is_step(path: Path) -> bool:
    """Whether the name is that of a STEP file."""
    return path.suffix.lower() in SUFFIXES


def checked_size(size: float | None, step: bool, gdim: int) -> float | None:
    """The length of edges as a number.

    Raises:
        ValueError: When it is not positive and finite, or given though ``step`` says that the source is no
            STEP file; when it is one and the space has not 3 dimensions.
    """
    if step and gdim != 3:
        raise ValueError(f"a solid from a STEP file has gdim 3, not {gdim}")
    if size is None:
        return None
    if not step:
        raise ValueError("size is for the tetrahedra of a .step or .stp file, and the source is none")
    if isinstance(size, bool) or not isinstance(size, (int, float, np.number)):
        raise ValueError(f"size is the length of the edges [m], a number, but is {size!r}")
    if not (size > 0 and math.isfinite(size)):
        raise ValueError(f"size, the length of the edges [m], must be positive, but is {size}")
    return float(size)


def mesh_step(path: Path, size: float | None, folder: Path) -> Path:
    """Mesh the one solid of a STEP file, into a file in ``folder``.

    Args:
        path: The STEP file, in any unit of length.
        size: Length of the tetrahedra's edges [m]; a twentieth of the bounding box's diagonal by default.
        folder: An empty folder.

    Returns:
        The ``.msh`` file, in metres, with the physical groups ``body`` and ``skin``.

    Raises:
        ValueError: When it is no STEP file, or has not one solid, or that cannot be meshed.
    """
    text = path.read_bytes()
    if b"ISO-10303-21;" not in text[:4096]:
        raise ValueError(f"{str(path)!r} is no STEP file: it does not begin with ISO-10303-21")
    if b"END-ISO-10303-21;" not in text[-4096:]:
        raise ValueError(f"{str(path)!r} is cut off: a STEP file ends with END-ISO-10303-21")
    target, problem = folder / "part.msh", folder / "problem.txt"
    for algorithm in _SURFACE_ALGORITHMS:
        status, said = _in_another_process(path.resolve(), size or 0.0, algorithm, target, problem)
        # OpenCASCADE goes on without what it could not read, and says so on the terminal only.
        damage = re.findall(r"ERR Step\w+ : ([\w ]+) : Fails Count : (\d+)", said)
        if damage:
            found = ", ".join(f"{what.lower()} ({count} times)" for what, count in damage)
            raise ValueError(f"{str(path)!r} is damaged: OpenCASCADE found {found}")
        if status == 0:
            return target
        if status == _REFUSED:
            break
    if status in (_REFUSED, _NOT_MESHED):
        raise ValueError(f"{str(path)!r} {problem.read_text()}")
    raise ValueError(f"{str(path)!r} cannot be meshed: gmsh crashed ({status}); the file may be damaged")


def _in_another_process(*arguments: Any) -> tuple[int, str]:
    """Run this file: exit status and what was printed."""
    done = subprocess.run(
        [sys.executable, "-P", __file__, *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(errors="replace")


class _Refused(Exception):
    """Says what is wrong with the file, as the rest of a sentence."""


class _NotMeshed(_Refused):
    """Says what went wrong with this algorithm."""


def _run(source: str, size: float, algorithm: int, target: str) -> None:
    import gmsh

    gmsh.initialize(readConfigFiles=False, interruptible=False)
    for name, value in {
        "General.NumThreads": 1,  # the same mesh every time
        "Geometry.OCCParallel": 0,
        "Mesh.Algorithm": algorithm,
        "Mesh.MeshSizeFromPoints": 0,
        "Mesh.MeshSizeExtendFromBoundary": 0,  # short edges stay a matter of their surroundings
        "Mesh.Binary": 1,
    }.items():
        gmsh.option.setNumber(name, value)
    gmsh.option.setString("Geometry.OCCTargetUnit", "MM")
    try:
        gmsh.model.occ.importShapes(source, highestDimOnly=False)
        gmsh.model.occ.synchronize()
    except Exception as error:
        raise _Refused("is no STEP file that OpenCASCADE can read") from error
    solid = _one_solid(gmsh)
    size = _length_in_mm(gmsh, solid, size)
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.model.addPhysicalGroup(3, [solid], name="body")
    skin = [tag for _, tag in gmsh.model.getBoundary([(3, solid)], oriented=False)]
    gmsh.model.addPhysicalGroup(2, skin, name="skin")
    _fill(gmsh)
    gmsh.model.mesh.affineTransform([_MM, 0, 0, 0, 0, _MM, 0, 0, 0, 0, _MM, 0])
    gmsh.write(target)


def _one_solid(gmsh: Any) -> int:
    points, curves, surfaces, solids = (gmsh.model.getEntities(dim) for dim in range(4))
    if len(solids) > 1:
        raise _Refused(f"holds {len(solids)} solids: a part is one solid, so join them, or write one alone")
    if not solids and surfaces:
        raise _Refused(f"holds no solid, only surfaces ({len(surfaces)}): they must be closed, as a solid")
    if not solids:
        raise _Refused(f"holds no solid, only {'curves' if curves else 'points' if points else 'other data'}")
    skin = set(gmsh.model.getBoundary(solids, oriented=False))
    loose = [surface for surface in surfaces if surface not in skin]
    if loose:
        raise _Refused(f"holds loose surfaces ({len(loose)}) beside its solid: a part is one solid alone")
    return solids[0][1]


def _length_in_mm(gmsh: Any, solid: int, size: float) -> float:
    """The asked or usual length of edges, when the part and the memory allow for it."""
    box = np.reshape(gmsh.model.occ.getBoundingBox(3, solid), (2, 3))
    sides = box[1] - box[0]
    size = size / _MM or float(np.linalg.norm(sides)) / 20
    if size > sides.max():
        longest = f"{sides.max() * _MM:.4g} m"
        raise _Refused(f"is {longest} long: size must be smaller, but is {size * _MM:.4g} m")
    volume = abs(gmsh.model.occ.getMass(3, solid))
    area = sum(gmsh.model.occ.getMass(*each) for each in gmsh.model.getBoundary([(3, solid)], oriented=False))
    # As counted in meshes: in the inside, and at the surface.
    cells = 5 * volume / size**3 + 2.5 * abs(area) / size**2
    if cells > MOST_CELLS:
        raise _Refused(
            f"would have about {cells:.1e} tetrahedra with edges of {size * _MM:.4g} m, and at most "
            f"{MOST_CELLS:.0e} are made: choose a larger size"
        )
    return size


def _fill(gmsh: Any) -> None:
    try:
        gmsh.model.mesh.generate(2)
        closed = _is_closed(gmsh)
    except Exception as error:
        raise _NotMeshed(f"cannot be meshed: {error}") from error
    if not closed:
        raise _NotMeshed("has a solid whose surface is not closed, or whose surfaces cannot be meshed")
    problem = None
    for algorithm, threshold in ((10, 0.3), (1, 0.5)):  # HXT, and where it fails Delaunay
        gmsh.option.setNumber("Mesh.Algorithm3D", algorithm)
        gmsh.option.setNumber("Mesh.OptimizeThreshold", threshold)
        try:
            gmsh.model.mesh.generate(3)
            if len(gmsh.model.mesh.getElementsByType(4)[0]):
                return
        except Exception as error:
            problem = error
    raise _NotMeshed(f"cannot be filled with tetrahedra: {problem or 'gmsh made none'}")


def _is_closed(gmsh: Any) -> bool:
    """Whether two triangles meet at every edge of the surface's mesh."""
    corners = gmsh.model.mesh.getElementsByType(2)[1].reshape(-1, 3)
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    triangles = np.unique(edges, axis=0, return_counts=True)[1]
    return len(triangles) > 0 and bool(np.all(triangles == 2))


if __name__ == "__main__":
    try:
        _run(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    except _Refused as reason:
        Path(sys.argv[5]).write_text(str(reason))
        sys.exit(_NOT_MESHED if isinstance(reason, _NotMeshed) else _REFUSED)
