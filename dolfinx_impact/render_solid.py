"""A solid and its obstacle at some moments: deformed, coloured by its speed, with the forces of contact."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import parallel
from .contact import Contact
from .obstacles import Obstacle
from .plot import _pyvista, pyplot
from .render import _round
from .solid import Solid

_SHADES = {"speed": ("speed [m/s]", "viridis"), "displacement": ("displacement [m]", "viridis")}
_OBSTACLE, _ARROW, _WIDTH, _ROOM = "#c9bfae", "#d6001c", 620, 0.04


class Moment(NamedTuple):
    """What one picture shows.

    Attributes:
        t: Time [s].
        u: Displacements at ``t``, shape (size,) [m]; ghosts need not be fresh.
        v: Velocities at ``t``, likewise [m/s].
        forces: On the contact's points, shape (points of this rank, gdim) [N]; None draws none.
        title: Said above the picture, before the time.
    """

    t: float
    u: NDArray
    v: NDArray
    forces: NDArray | None = None
    title: str = ""


class _Piece(NamedTuple):
    """What one rank knows of a moment: VTK's cells, points [m], shades, feet of arrows [m], forces [N]."""

    cells: tuple[NDArray, NDArray]
    points: NDArray
    shade: NDArray
    feet: NDArray
    forces: NDArray


def surface(obstacle: Obstacle, low: ArrayLike, high: ArrayLike, *, cells: int = 60, t: float = 0.0) -> Any:
    """Where the gap to an obstacle is zero within a box, as a mesh of pyvista (lines in the plane).

    Edges and tips are cut by about a cell of the grid on which the gap is looked at.

    Args:
        obstacle: The shape, in 2 or 3 directions.
        low, high: Opposite corners of the box, shape (gdim,) [m].
        cells: Cells of the grid along the longest side of the box.
        t: Time [s].

    Returns:
        ``pyvista.PolyData`` with the point data ``"normals"``, the unit normals into the free side;
        empty where the gap is nowhere zero.

    Raises:
        ValueError: Corners that are not in order or have another dimension, fewer than one cell.
        ImportError: When pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    first, last = _corners(obstacle, low, high)
    if not (cells >= 1 and cells == int(cells)):
        raise ValueError(f"cells must be a whole number from 1 on, but is {cells}")
    gdim, more, size = first.size, 3 - first.size, last - first
    counts = np.maximum(np.rint(size / size.max() * cells), 1).astype(int)
    grid = _pyvista().ImageData(
        dimensions=[*(counts + 1), *[1] * more], origin=[*first, *[0.0] * more],
        spacing=[*size / counts, *[1.0] * more],
    )  # fmt: skip
    grid["gap"] = obstacle.gap(np.asarray(grid.points, dtype=np.float64)[:, :gdim], t)
    found = grid.contour([0.0], "gap")
    if found.n_points:
        x = np.asarray(found.points, dtype=np.float64)[:, :gdim]
        found["normals"] = _in_space(obstacle.normal(x, t))
    return found


def picture(
    path: str | Path, solid: Solid, moments: Sequence[Moment], obstacle: Obstacle, low: ArrayLike,
    high: ArrayLike, *, contact: Contact | None = None, shade: str = "speed",
    eye: Sequence[float] = (0.3, -1.0, 0.35), cells: int = 140, title: str = "",
) -> None:  # fmt: skip
    """Some moments of a solid and its obstacle beside one another, as PNG or SVG. Rank 0 draws; collective.

    True to scale; the arrows are the forces of contact as seen by the eye, also where something hides the
    point.

    Args:
        path: File to write.
        solid: The body, in 2 or 3 directions.
        moments: What is shown, in order.
        obstacle: The shape.
        low, high: Opposite corners of the box in which the obstacle is drawn, shape (gdim,) [m].
        contact: Whose points the forces of the moments act on.
        shade: ``"speed"`` or ``"displacement"`` (its length).
        eye: Direction towards the eye in 3D, not upwards.
        cells: See :func:`surface`.
        title: First line of the picture.

    Raises:
        ValueError: No moments, arrays of other shapes, forces without a contact, an unknown shade, a bad
            box, an eye above or without direction.
        ImportError: When matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    error = None
    try:
        _check(solid, moments, contact, shade)
        corners = _corners(obstacle, low, high)
        view = _view(solid.mesh.geometry.dim, eye)
    except ValueError as caught:
        error = caught
    parallel.agree(solid.comm, error)
    pieces = [solid.comm.gather(_piece(solid, each, contact, shade)) or [] for each in moments]
    scene = _Scene(obstacle, corners, view, cells, shade)
    parallel.on_root(solid.comm, lambda: scene.draw(path, moments, pieces, title))


def _check(solid: Solid, moments: Sequence[Moment], contact: Contact | None, shade: str) -> None:
    if shade not in _SHADES:
        raise ValueError(f"shade must be one of {', '.join(_SHADES)}, but is {shade!r}")
    if not moments or solid.mesh.geometry.dim < 2:
        raise ValueError("a picture needs moments of a solid in 2 or 3 directions")
    for each in moments:
        if np.shape(each.u) != (solid.size,) or np.shape(each.v) != (solid.size,):
            given = f"{np.shape(each.u)} and {np.shape(each.v)}"
            raise ValueError(f"moments have u and v of shape ({solid.size},), not {given}")
        if each.forces is not None:
            if contact is None:
                raise ValueError("forces act on the points of a contact: give it (contact=)")
            if np.shape(each.forces) != contact.rows.dofs.shape:
                raise ValueError(
                    f"forces have shape {contact.rows.dofs.shape}, one a point and direction, not "
                    f"{np.shape(each.forces)}"
                )


def _corners(obstacle: Obstacle, low: ArrayLike, high: ArrayLike) -> tuple[NDArray, NDArray]:
    first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    fits = first.shape == last.shape == (obstacle.gdim,) and obstacle.gdim > 1
    if not (fits and np.all(np.isfinite([first, last])) and np.all(first < last)):
        raise ValueError(
            f"an obstacle in 2 or 3 directions, here {obstacle.gdim}, is drawn between corners low < high of "
            f"as many numbers, not {low!r} and {high!r}"
        )
    return first, last


def _view(gdim: int, eye: Sequence[float]) -> NDArray:
    """Directions to the right, upwards and towards the eye, one a row."""
    if gdim == 2:
        return np.eye(3)
    back = np.asarray(eye, dtype=np.float64)
    right = np.cross([0.0, 0.0, 1.0], back) if back.shape == (3,) else np.zeros(3)
    if not (np.all(np.isfinite(right)) and right.any()):
        raise ValueError(f"eye must be a direction in space that is not upwards, but is {eye}")
    back, right = back / np.linalg.norm(back), right / np.linalg.norm(right)
    return np.array([right, np.cross(back, right), back])


def _piece(solid: Solid, moment: Moment, contact: Contact | None, shade: str) -> _Piece:
    """This rank's part of a moment. Collective."""
    from dolfinx import la, plot

    cells, types, x = plot.vtk_mesh(solid.space)
    gdim, fields = solid.mesh.geometry.dim, []
    for values in (moment.u, moment.v):
        vector = la.vector(solid.space.dofmap.index_map, solid.space.dofmap.bs)
        vector.array[: solid.owned] = values[: solid.owned]
        vector.scatter_forward()
        fields.append(_in_space(vector.array.reshape(-1, gdim)))
    shades = np.linalg.norm(fields[shade == "speed"], axis=1)
    feet: NDArray = np.zeros((0, 3))
    forces = feet
    if contact is not None and moment.forces is not None:
        dofs, forces = contact.rows.dofs, _in_space(moment.forces)
        feet = solid.x[dofs[:, 0] // solid.block] + _in_space(moment.u[dofs])
    return _Piece((cells, types), x + fields[0], shades, feet, forces)


def _in_space(vectors: NDArray) -> NDArray:
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))


class _Scene:
    """What all moments of a picture share."""

    def __init__(
        self, obstacle: Obstacle, corners: tuple[NDArray, NDArray], view: NDArray, cells: int, shade: str
    ) -> None:
        self._obstacle, self._corners, self._view, self._cells = obstacle, corners, view, cells
        self._label, self._map = _SHADES[shade]

    def draw(
        self, path: str | Path, moments: Sequence[Moment], pieces: Sequence[list[_Piece]], title: str
    ) -> None:
        """Write the picture."""
        plt = pyplot()
        surfaces = self._surfaces([each.t for each in moments])
        self._frame([*(s.points for s in surfaces), *(p.points for ranks in pieces for p in ranks)])
        top = max(p.shade.max(initial=0.0) for ranks in pieces for p in ranks)
        images = self._images(surfaces, pieces, top)
        width, height = 4.6, 4.6 * self._size[1] / self._size[0]
        figure, grid = plt.subplots(
            1, len(images), figsize=(width * len(images) + 1.0, height + 1.1), squeeze=False,
            layout="constrained",
        )  # fmt: skip
        shades = plt.cm.ScalarMappable(plt.Normalize(0.0, top if top > 0 else 1.0), self._map)
        strongest = max(np.linalg.norm(p.forces, axis=1).max(initial=0.0) for rs in pieces for p in rs)
        for axes, image, moment, ranks in zip(grid[0], images, moments, pieces):
            axes.imshow(image, extent=(0, *self._size, 0), interpolation="antialiased")
            axes.axis("off")
            axes.set_title(f"{moment.title}  t = {1e3 * moment.t:.2f} ms".strip(), fontsize=12)
            self._add_forces(axes, ranks, strongest)
            self._add_scale(axes)
        figure.colorbar(shades, ax=list(grid[0]), label=self._label, shrink=0.8, pad=0.01)
        figure.suptitle(title, fontsize=13)
        figure.savefig(path, dpi=130)
        plt.close(figure)

    def _surfaces(self, times: Sequence[float]) -> list[Any]:
        if not self._obstacle.moving:
            return [surface(self._obstacle, *self._corners, cells=self._cells)] * len(times)
        return [surface(self._obstacle, *self._corners, cells=self._cells, t=t) for t in times]

    def _frame(self, clouds: Sequence[NDArray]) -> None:
        """Fit the window around all points: its size [pixels], scale [pixels/m] and upper left corner [m]."""
        flat = np.vstack(clouds) @ self._view[:2].T
        low, high = flat.min(axis=0), flat.max(axis=0)
        room = _ROOM * np.max(high - low)
        low, high = low - [room, 4.5 * room], high + room
        # Neither towers nor ribbons.
        middle, size = (low + high) / 2, high - low
        size = np.maximum(size, 0.6 * size[::-1])
        self._scale, self._corner = _WIDTH / size[0], middle + size / 2 * [-1.0, 1.0]
        self._size, self._middle = (_WIDTH, int(size[1] * self._scale)), middle

    def _pixels(self, points: NDArray) -> NDArray:
        """Where points are in the pictures, from shape (n, 3) [m]; shape (n, 2), from their upper left."""
        return np.asarray((points @ self._view[:2].T - self._corner) * [self._scale, -self._scale])

    def _images(self, surfaces: Sequence[Any], pieces: Sequence[list[_Piece]], top: float) -> list[NDArray]:
        """One picture a moment, shape (height, width, 3) each."""
        pyvista, found = _pyvista(), []
        # One window for all: some X servers refuse a client right after the last one has left.
        plotter = pyvista.Plotter(off_screen=True, window_size=[2 * pixels for pixels in self._size])
        plotter.set_background("white")
        plotter.enable_anti_aliasing("ssaa")
        for shape, ranks in zip(surfaces, pieces):
            plotter.clear_actors()
            if shape.n_points:
                shape.point_data.active_normals_name = "normals"
                plotter.add_mesh(shape, color=_OBSTACLE, ambient=0.35, diffuse=0.65, line_width=5)
            for piece in ranks:
                if len(piece.cells[1]):
                    self._add_body(plotter, pyvista, piece, top)
            self._set_camera(plotter, [shape.points, *(p.points for p in ranks)])
            plotter.render()
            found.append(np.asarray(plotter.screenshot(return_img=True))[..., :3].copy())
        plotter.close()
        return found

    def _add_body(self, plotter: Any, pyvista: Any, piece: _Piece, top: float) -> None:
        body = pyvista.UnstructuredGrid(*piece.cells, piece.points)
        body.point_data["shade"] = piece.shade
        plotter.add_mesh(
            body, scalars="shade", cmap=self._map, clim=(0.0, top if top > 0 else 1.0),
            show_edges=True, edge_opacity=0.4, ambient=0.5, diffuse=0.5, show_scalar_bar=False,
        )  # fmt: skip

    def _set_camera(self, plotter: Any, clouds: Sequence[NDArray]) -> None:
        cloud = np.vstack(clouds)
        far = 10 * np.ptp(cloud, axis=0).max()
        focus = self._middle @ self._view[:2] + np.mean(cloud @ self._view[2]) * self._view[2]
        plotter.enable_parallel_projection()
        plotter.camera.focal_point = focus
        plotter.camera.position = focus + far * self._view[2]
        plotter.camera.up = self._view[1]
        plotter.camera.parallel_scale = self._size[1] / (2 * self._scale)
        plotter.camera.clipping_range = (0.1 * far, 2 * far)

    # -- what matplotlib adds, on axes in pixels of a picture

    def _add_forces(self, axes: Any, ranks: list[_Piece], strongest: float) -> None:
        """Arrows, the longest a fifth of the picture's width; below them the length of a round force."""
        if not strongest > 0:
            return
        per_newton = 0.2 * self._size[0] / strongest
        feet, forces = (np.vstack([getattr(p, name) for p in ranks]) for name in ("feet", "forces"))
        feet, forces = (rows[forces.any(axis=1)] for rows in (feet, forces))
        flat = forces @ self._view[:2].T * [1.0, -1.0] * per_newton
        style = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "color": _ARROW, "width": 0.006}
        axes.quiver(*self._pixels(feet).T, *flat.T, **style)
        key, (width, height) = _round(strongest), self._size
        axes.quiver([0.62 * width], [0.95 * height], [key * per_newton], [0.0], **style)
        text = f"{key:g} N of contact"
        axes.text(0.62 * width, 0.93 * height, text, fontsize=8, va="bottom", color=_ARROW)

    def _add_scale(self, axes: Any) -> None:
        """Directions of space and a length."""
        width, height = self._size
        foot = np.array([0.07 * width, 0.93 * height])
        for name, axis in zip("xyz", np.eye(3)):
            way = axis @ self._view[:2].T * [1.0, -1.0]
            if np.linalg.norm(way) > 0.2:  # not towards the eye
                tip = foot + 0.09 * width * way
                arrow = {"arrowstyle": "-|>", "color": "0.15", "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", tip, foot, arrowprops=arrow)
                axes.text(*(tip + 12 * way / np.linalg.norm(way)), name, fontsize=9, ha="center", va="center")
        length = _round(0.25 * width / self._scale)
        start = np.array([0.24 * width, 0.95 * height])
        axes.plot([start[0], start[0] + length * self._scale], [start[1]] * 2, color="0.15", lw=2.5)
        axes.text(start[0], 0.93 * height, f"{1e3 * length:g} mm", fontsize=8, va="bottom", color="0.15")
