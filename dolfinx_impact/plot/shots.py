"""Options of pictures of solids, their validation, and the data gathered on rank 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import parallel
from .._types import FloatArray, IntArray
from ..contact.base import Contact
from ..contact.obstacles import Obstacle
from ..contact.surfaces import SurfaceContact
from ..systems.continuum import Continuum
from .colors import RAMPS
from .drawing import load_pyvista, pyplot
from .section import CutPlane, Parts
from .skin import Skin, in_space
from .snapshots import Moment, Snapshots, fields_with_history
from .solids import Shot, view_from
from .surfaces import check_cells, corners_of_box

#: Fields that colour a body: names, units.
SHADES = {
    "speed": ("speed", "m/s"),
    "displacement": ("displacement", "m"),
    "stress": ("von Mises stress", "Pa"),
    "plastic_strain": ("equivalent plastic strain", ""),
    "v_x": ("velocity v_x", "m/s"),
    "v_y": ("velocity v_y", "m/s"),
    "v_z": ("velocity v_z", "m/s"),
}
Moments: TypeAlias = Snapshots | Sequence[Moment]
#: An axis, or a point and a normal.
Clip: TypeAlias = str | tuple[ArrayLike, ArrayLike] | None


class Wanted(NamedTuple):
    """Common options of strips and animations, see :func:`.film.strip`."""

    obstacle: Obstacle | None
    contact: Contact | None
    shade: str
    top: float | None
    magnify: float
    box: tuple[ArrayLike, ArrayLike] | None
    eye: Sequence[float]
    clip: Clip
    cells: int
    parts: tuple[str, ...] = ()

    @property
    def shape(self) -> Obstacle | None:
        """The obstacle, by default that of the contact."""
        return self.obstacle if self.obstacle is not None else getattr(self.contact, "obstacle", None)


def moments_of(snapshots: Moments, solid: Any) -> list[Moment]:
    """The moments of an observer, or the given ones as a list. Collective.

    Raises:
        ValueError: An observer of another body.
    """
    if not isinstance(snapshots, Snapshots):
        return list(snapshots)
    body, error = snapshots.body, None
    if isinstance(solid, Continuum) and isinstance(body, Continuum) and body is not solid:
        same = all(np.array_equal(getattr(body, name), getattr(solid, name)) for name in ("x", "active"))
        error = None if same else ValueError("the moments are those of another body: draw that one")
    if isinstance(solid, Continuum):
        parallel.agree(solid.comm, error)
    return snapshots.states


def check(
    check_file: Callable[[], None],
    solid: Continuum,
    moments: Sequence[Moment],
    wanted: Wanted,
    numbers: Mapping[str, float],
    pause: float | None = None,
) -> None:
    """Raise on all ranks if options or moments are invalid or a library is missing. Collective."""
    if not isinstance(solid, Continuum):
        raise ValueError(f"pictures of this kind are drawn of a Solid, not of {type(solid).__name__}")
    error = None
    try:
        _check_moments(solid, moments, wanted)
        _check_look(solid, wanted)
        for name, value in numbers.items():
            least = 2 if name == "frames" else 1
            if not (isinstance(value, (int, float)) and value >= least and value == int(value)):
                raise ValueError(f"{name} must be a whole number from {least} on, but is {value!r}")
        if pause is not None and len(moments) < 2:
            raise ValueError(f"a film has two moments or more, but {len(moments)} is given")
        if pause is not None and not 0.02 <= pause < 60:
            raise ValueError(f"pause must be from 0.02 to 60 s, but is {pause} s")
    except ValueError as caught:
        error = caught
    parallel.agree(solid.comm, error)

    def check_libraries() -> None:
        check_file()
        load_pyvista()
        pyplot()

    parallel.on_root(solid.comm, check_libraries)


def _check_moments(solid: Continuum, moments: Sequence[Moment], wanted: Wanted) -> None:
    contact = wanted.contact
    if not moments or solid.mesh.geometry.dim < 2:
        raise ValueError("a picture needs moments of a solid in 2 or 3 directions")
    for each in moments:
        if np.shape(each.u) != (solid.size,) or np.shape(each.v) != (solid.size,):
            shapes = f"{np.shape(each.u)} and {np.shape(each.v)}"
            raise ValueError(f"moments have u and v of shape ({solid.size},), not {shapes}")
        if each.forces is not None:
            if contact is None:
                raise ValueError("forces act on the points of a contact: give it (contact=)")
            if np.shape(each.forces) != contact.nodes.loaded.dofs.shape:
                raise ValueError(
                    f"forces have shape {contact.nodes.loaded.dofs.shape}, one a point and direction, not "
                    f"{np.shape(each.forces)}"
                )
        if wanted.shade in fields_with_history(solid) or wanted.shade in each.fields:
            _check_field(solid, each, wanted.shade)


def _check_field(solid: Continuum, moment: Moment, name: str) -> None:
    nodes = solid.size // solid.block
    if name not in moment.fields:
        raise ValueError(
            f"the {name!r} of a material with history does not follow from u: take the moments of Snapshots, "
            f"or Moment(..., fields={{{name!r}: values}})"
        )
    if np.shape(moment.fields[name]) != (nodes,):
        raise ValueError(
            f"fields of a moment have shape ({nodes},), one value a local node, but {name!r} has "
            f"{np.shape(moment.fields[name])}"
        )


def _check_look(solid: Continuum, wanted: Wanted) -> None:
    gdim, shape = solid.mesh.geometry.dim, wanted.shape
    absent = {"v_z"} if gdim < 3 else set()
    if "plastic_strain" not in fields_with_history(solid):
        absent.add("plastic_strain")
    shades = [name for name in SHADES if name not in absent]
    if wanted.shade not in shades:
        raise ValueError(f"shade must be one of {', '.join(shades)}, but is {wanted.shade!r}")
    for name, value in (("top", wanted.top), ("magnify", wanted.magnify)):
        if value is not None and not (value > 0 and np.isfinite(value)):
            raise ValueError(f"{name} must be positive, but is {value}")
    if shape is not None and not (hasattr(shape, "gap") and hasattr(shape, "normal")):
        raise ValueError(f"the obstacle must be one of dolfinx_impact.obstacles, not {shape!r}")
    if shape is not None and shape.gdim != gdim:
        raise ValueError(f"the obstacle has {shape.gdim} directions, the body {gdim}")
    if shape is not None and shape.moving and wanted.magnify != 1.0:
        raise ValueError("displacements before a moving obstacle cannot be magnified: leave out magnify")
    if wanted.box is not None:
        if len(wanted.box) != 2:
            raise ValueError(f"box must be two corners, (low, high), not {wanted.box!r}")
        corners_of_box(gdim, *wanted.box)
    view_from(gdim, wanted.eye)
    _check_clip(wanted.clip, gdim)
    _check_parts(solid, wanted)
    check_cells(wanted.cells)


def _check_parts(solid: Continuum, wanted: Wanted) -> None:
    if not wanted.parts:
        return
    if not 2 <= len(wanted.parts) <= len(RAMPS):
        raise ValueError(f"parts must be 2 to {len(RAMPS)} names of cells, but are {list(wanted.parts)}")
    if wanted.shade.startswith("v_"):
        raise ValueError(f"shade {wanted.shade!r} has a sign, and the colours of parts none: leave out parts")
    cells = np.concatenate([solid.named.cells(name) for name in wanted.parts])
    if np.unique(cells).size < cells.size:
        raise ValueError(f"parts must not have cells in common, but {list(wanted.parts)} have")


def _check_clip(clip: Any, gdim: int) -> None:
    if clip is None:
        return
    if gdim == 2:
        raise ValueError("a body in the plane hides nothing: leave out clip")
    if isinstance(clip, str) and clip in ("x", "y", "z"):
        return
    try:
        plane = np.array(clip, dtype=np.float64)
    except (TypeError, ValueError):
        plane = np.zeros(0)
    if plane.shape != (2, 3) or not (np.all(np.isfinite(plane)) and plane[1].any()):
        raise ValueError(f"clip must be 'x', 'y', 'z' or a plane, (point, normal), not {clip!r}")


def gather(
    solid: Continuum, moments: Sequence[Moment], wanted: Wanted
) -> tuple[Parts, CutPlane | None, list[Shot]]:
    """Visible parts of the body, its cutting plane and the data of the moments, on rank 0. Collective.

    On other ranks the arrays of the parts are None and the list is empty.
    """
    back = view_from(solid.mesh.geometry.dim, wanted.eye)[2]
    skin, contact = Skin(solid, wanted.clip, back, wanted.parts), wanted.contact
    stress: Any = None
    stored = all("stress" in each.fields for each in moments)
    if wanted.shade == "stress" and solid.history is None and not stored:
        from ..output.stress import VonMises

        stress = VonMises(solid)
    sides = solid.comm.gather(_sides(contact)) if contact is not None else None
    shots = []
    for each in moments:
        u = skin.field(each.u)
        points = skin.gather_places(skin.x + wanted.magnify * u)
        values = skin.gather(_values(skin, each, wanted.shade, u, stress))
        arrows: FloatArray = np.zeros((2, 0, 3))
        if contact is not None and each.forces is not None:
            dofs = contact.nodes.loaded.dofs
            shift = wanted.magnify * in_space(each.u[dofs])
            arrows = np.array([solid.x[dofs[:, 0] // solid.block] + shift, in_space(each.forces)])
        gathered = solid.comm.gather(arrows)
        if points is not None and values is not None and gathered is not None:
            feet, forces = np.concatenate(gathered, axis=1)
            of = None if each.forces is None or sides is None else np.concatenate(sides)
            shots.append(Shot(each.t, each.title, points, values, feet, forces, of))
    names = "rz" if solid.hypothesis == "axisymmetric" else "xyz"
    x, gdim = skin.gather_places(skin.x), solid.mesh.geometry.dim
    parts = Parts(skin.pieces, skin.cells, x, gdim, names, skin.part_of_pieces, skin.part_of_cells)
    return parts, skin.plane, shots


def _sides(contact: Contact) -> IntArray:
    """Number of the surface of each loaded point of this rank, shape (points,); other contacts have one."""
    sides: list[IntArray] = []
    first = 0
    for each in contact.members:
        if isinstance(each, SurfaceContact):
            of = each.facets.part[each.facets.rank == each.comm.rank]
            sides.append(first + of[of >= 0])
            first += 1 if each.itself else len(each.surfaces)
        else:
            sides.append(np.full(len(each.nodes.loaded.dofs), first))
            first += 1
    return np.concatenate(sides)


def _values(skin: Skin, moment: Moment, shade: str, u: FloatArray, stress: Any) -> FloatArray:
    if shade in ("stress", "plastic_strain"):
        known: FloatArray = moment.fields[shade] if stress is None else np.asarray(stress(moment.u))
        of_skin: FloatArray = known[skin.nodes]
        return of_skin
    if shade == "displacement":
        lengths: FloatArray = np.linalg.norm(u, axis=1)
        return lengths
    v = skin.field(moment.v)
    return np.linalg.norm(v, axis=1) if shade == "speed" else v[:, "xyz".index(shade[-1])]
