"""A solid and its obstacle at some moments: deformed, coloured, with the forces of contact."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..obstacles import Moving, Obstacle
from .drawing import load_pyvista, pyplot, round_down, unit
from .skin import in_space

_OBSTACLE, ARROW, WIDTH, _ROOM = "#c9bfae", "#d6001c", 620, 0.04
#: Edges of pieces shorter than so many pixels are not drawn.
_FINE = 5.0
_BODY: dict[str, Any] = {"ambient": 0.5, "diffuse": 0.5, "show_scalar_bar": False, "edge_opacity": 0.4}


class Shot(NamedTuple):
    """A moment as rank 0 draws it.

    Attributes:
        t: Time [s].
        title: Said before the time.
        points: Visible nodes where they are drawn, shape (k, 3) [m].
        values: What colours them, shape (k,).
        feet, forces: Where forces act, and these, shape (p, 3) each [m, N].
    """

    t: float
    title: str
    points: NDArray
    values: NDArray
    feet: NDArray
    forces: NDArray


class Colors(NamedTuple):
    """What colours mean.

    Attributes:
        name, unit: Of what is shown.
        low, top: Values at the ends.
    """

    name: str
    unit: str
    low: float
    top: float

    @property
    def map(self) -> str:
        """Name of the colours; those of signed values are white in the middle."""
        return "RdBu_r" if self.low < 0 else "viridis"


class Look(NamedTuple):
    """From where, and what besides the body.

    Attributes:
        view: Directions to the right, upwards and towards the eye, one a row.
        names: Of the directions of space.
        obstacle: The shape, or None.
        corners: Of the box in which it is drawn, shape (2, gdim) [m].
        cells: See :func:`surface`.
        away: How much farther than its surface it is drawn [m].
        magnify: Factor on the displacements.
    """

    view: NDArray
    names: str
    obstacle: Obstacle | None
    corners: NDArray
    cells: int
    away: float = 0.0
    magnify: float = 1.0


def surface(
    obstacle: Obstacle, low: ArrayLike, high: ArrayLike, *, cells: int = 60, t: float = 0.0, away: float = 0.0
) -> Any:
    """Where the gap to an obstacle is zero within a box, as a mesh of pyvista (lines in the plane).

    Edges and tips are cut by about a cell of the grid on which the gap is looked at.

    Args:
        obstacle: The shape, in 2 or 3 directions.
        low, high: Opposite corners of the box, shape (gdim,) [m].
        cells: Cells of the grid along the longest side of the box.
        t: Time [s].
        away: Take the surface so far inside of the obstacle [m].

    Returns:
        ``pyvista.PolyData`` with the point data ``"normals"``, the unit normals into the free side;
        empty where the gap is nowhere zero.

    Raises:
        ValueError: Corners that are not in order or have another dimension, fewer than one cell.
        ImportError: When pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    first, last = corners_of_box(obstacle.gdim, low, high)
    check_cells(cells)
    gdim, more, size = first.size, 3 - first.size, last - first
    counts = np.maximum(np.rint(size / size.max() * cells), 1).astype(int)
    grid = load_pyvista().ImageData(
        dimensions=[*(counts + 1), *[1] * more], origin=[*first, *[0.0] * more],
        spacing=[*size / counts, *[1.0] * more],
    )  # fmt: skip
    grid["gap"] = obstacle.gap(np.asarray(grid.points, dtype=np.float64)[:, :gdim], t)
    found = grid.contour([-away], "gap")
    if found.n_points:
        x = np.asarray(found.points, dtype=np.float64)[:, :gdim]
        found["normals"] = in_space(obstacle.normal(x, t))
    return found


def check_cells(cells: int) -> None:
    """Raise a ValueError where ``cells`` is not a whole number from 1 on."""
    if not (cells >= 1 and cells == int(cells)):
        raise ValueError(f"cells must be a whole number from 1 on, but is {cells}")


def corners_of_box(gdim: int, low: ArrayLike, high: ArrayLike) -> NDArray:
    """The corners, shape (2, gdim) [m]; a ValueError where they are none."""
    first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    fits = first.shape == last.shape == (gdim,) and gdim > 1
    if not (fits and np.all(np.isfinite([first, last])) and np.all(first < last)):
        raise ValueError(
            f"an obstacle in 2 or 3 directions, here {gdim}, is drawn between corners low < high of "
            f"as many numbers, not {low!r} and {high!r}"
        )
    return np.array([first, last])


def view_from(gdim: int, eye: Sequence[float]) -> NDArray:
    """Directions to the right, upwards and towards the eye, one a row; a ValueError for a bad eye."""
    if gdim == 2:
        return np.eye(3)
    back = np.asarray(eye, dtype=np.float64)
    right = np.cross([0.0, 0.0, 1.0], back) if back.shape == (3,) else np.zeros(3)
    if not (np.all(np.isfinite(right)) and right.any()):
        raise ValueError(f"eye must be a direction in space that is not upwards, but is {eye}")
    back, right = back / np.linalg.norm(back), right / np.linalg.norm(right)
    return np.array([right, np.cross(back, right), back])


def _whole(obstacle: Obstacle, corners: NDArray) -> Moving | None:
    """A rigidly moved obstacle that is not much larger than the box, whose surface is looked for but once."""
    if not isinstance(obstacle, Moving) or obstacle.obstacle.moving:
        return None
    size = np.max(np.diff(obstacle.obstacle.bounds(), axis=0))
    return obstacle if size <= 2 * np.max(np.diff(corners, axis=0)) else None


def _around(obstacle: Obstacle) -> NDArray:
    low, high = obstacle.bounds()
    room = 0.02 * np.max(high - low)
    return np.array([low - room, high + room])


def _moved(at_rest: Any, obstacle: Moving, t: float) -> Any:
    gdim, found, turn = obstacle.gdim, at_rest.copy(), obstacle.turn(t)
    x = np.asarray(at_rest.points, dtype=np.float64)[:, :gdim] - obstacle.center
    found.points = in_space(x @ turn.T + obstacle.center + obstacle.displacement(t))
    found["normals"] = in_space(np.asarray(at_rest["normals"])[:, :gdim] @ turn.T)
    return found


class Scene:
    """What all moments share: the window, the camera, the colours. On rank 0 alone.

    Args:
        look: From where, and the obstacle.
        colors: What colours mean.
        pieces: Of the body between its visible nodes; see :class:`.Skin`.
        shots: All moments.

    Attributes:
        size: Of the pictures, width and height [pixels].
    """

    def __init__(self, look: Look, colors: Colors, pieces: NDArray, shots: Sequence[Shot]) -> None:
        self._look, self._view, self._colors, self._shots = look, look.view, colors, shots
        self._faces = np.column_stack([np.full(len(pieces), pieces.shape[1]), pieces]).ravel()
        self._surfaces = [] if look.obstacle is None else self._find_surfaces(look.obstacle)
        self._frame([*(s.points for s in self._surfaces), *(shot.points for shot in shots)])
        ends = shots[0].points[pieces[:, :2]]
        lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) * self._scale
        self._edges = bool(np.median(lengths) >= _FINE)
        self._strongest = max(np.linalg.norm(shot.forces, axis=1).max(initial=0.0) for shot in shots)

    def _find_surfaces(self, obstacle: Obstacle) -> list[Any]:
        """The obstacle at the moments; one for all where it is at rest."""
        corners, away, cells = self._look.corners, self._look.away, self._look.cells
        times = [shot.t for shot in self._shots] if obstacle.moving else [self._shots[0].t]
        whole = _whole(obstacle, corners)
        if whole is None:
            found = [surface(obstacle, *corners, cells=cells, t=t, away=away) for t in times]
        else:
            at_rest = surface(whole.obstacle, *_around(whole.obstacle), cells=cells)
            found = [_moved(at_rest, whole, t) for t in times]
        return [self._seen(each) for each in found]

    def _seen(self, found: Any) -> Any:
        """Less what hides the obstacle's free side from the eye."""
        look = self._look
        if not found.n_points or look.corners.shape[1] == 2:
            return found
        found["facing"] = found["normals"] @ look.view[2]
        found = found.clip_scalar(scalars="facing", invert=False, value=-1e-3)
        found.point_data.active_normals_name = "normals"
        return found

    def _frame(self, clouds: Sequence[NDArray]) -> None:
        """Fit the window around all points: its size [pixels], scale [pixels/m] and upper left corner [m]."""
        flat = [points @ self._view.T for points in clouds if len(points)]
        low, high = (np.array([getattr(f, end)(axis=0) for f in flat]) for end in ("min", "max"))
        low, high = low.min(axis=0), high.max(axis=0)
        self._depth, self._far = (low[2] + high[2]) / 2, 10 * np.max(high - low)
        room = _ROOM * np.max((high - low)[:2])
        low, high = low[:2] - [room, 4.5 * room], high[:2] + room
        # Neither towers nor ribbons.
        middle, size = (low + high) / 2, high - low
        size = np.maximum(size, [0.6 * size[1], 0.3 * size[0]])
        self._scale, self._corner = WIDTH / size[0], middle + size / 2 * [-1.0, 1.0]
        self.size, self._middle = (WIDTH, int(size[1] * self._scale)), middle

    def pixels(self, points: NDArray) -> NDArray:
        """Where points are in the pictures, from shape (n, 3) [m]; shape (n, 2), from their upper left."""
        return np.asarray((points @ self._view[:2].T - self._corner) * [self._scale, -self._scale])

    def images(self, sharp: int = 2) -> Iterator[NDArray]:
        """One picture a moment, shape (sharp * height, sharp * width, 3) each."""
        pyvista = load_pyvista()
        # One window for all: some X servers refuse a client right after the last one has left.
        plotter = pyvista.Plotter(off_screen=True, window_size=[sharp * n for n in self.size])
        try:
            plotter.set_background("white")
            plotter.enable_anti_aliasing("msaa", multi_samples=8)
            body = pyvista.PolyData(self._shots[0].points.copy(), faces=self._faces)
            body.point_data["shade"] = self._shots[0].values
            plotter.add_mesh(
                body, scalars="shade", cmap=self._colors.map, clim=(self._colors.low, self._colors.top),
                show_edges=self._edges, **_BODY,
            )  # fmt: skip
            for i, shot in enumerate(self._shots):
                if i < len(self._surfaces):
                    self._add_obstacle(plotter, self._surfaces[i], sharp)
                body.points = shot.points
                body.point_data["shade"] = shot.values
                self._set_camera(plotter)
                plotter.render()
                yield np.asarray(plotter.screenshot(return_img=True))[..., :3].copy()
        finally:
            plotter.close()

    def _add_obstacle(self, plotter: Any, shape: Any, sharp: int) -> None:
        """In the place of the one before."""
        plotter.remove_actor("obstacle", render=False)
        if shape.n_points:
            plotter.add_mesh(
                shape, color=_OBSTACLE, ambient=0.35, diffuse=0.65, line_width=2.5 * sharp, name="obstacle",
                render=False,
            )  # fmt: skip

    def _set_camera(self, plotter: Any) -> None:
        focus = self._middle @ self._view[:2] + self._depth * self._view[2]
        plotter.enable_parallel_projection()
        plotter.camera.focal_point = focus
        plotter.camera.position = focus + self._far * self._view[2]
        plotter.camera.up = self._view[1]
        plotter.camera.parallel_scale = self.size[1] / (2 * self._scale)
        plotter.camera.clipping_range = (0.1 * self._far, 2 * self._far)

    # -- what matplotlib adds, on axes in pixels of a picture

    def show(self, axes: Any, image: NDArray) -> Any:
        """The picture on axes in its pixels."""
        shown = axes.imshow(image, extent=(0, *self.size, 0), interpolation="antialiased")
        axes.axis("off")
        return shown

    def add_forces(self, axes: Any, shot: Shot) -> list[Any]:
        """Arrows, the longest a fifth of the picture's width; below them the length of a round force."""
        if not self._strongest > 0:
            return []
        factor, newton = unit(self._strongest, "N")
        per_newton = 0.2 * self.size[0] / self._strongest
        some = shot.forces.any(axis=1)
        flat = shot.forces[some] @ self._view[:2].T * [1.0, -1.0] * per_newton
        style = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "color": ARROW, "width": 0.006}
        arrows = axes.quiver(*self.pixels(shot.feet[some]).T, *flat.T, **style)
        key, (width, height) = round_down(self._strongest), self.size
        start, y = 0.62 * width, height - 0.03 * width
        below = axes.quiver([start], [y], [key * per_newton], [0.0], **style)
        text = f"{factor * key:g} {newton} of contact"
        said = axes.text(start, y - 0.012 * width, text, fontsize=8, va="bottom", color=ARROW)
        return [arrows, below, said]

    def add_scale(self, axes: Any) -> None:
        """Directions of space, a length, and how much larger displacements are drawn."""
        width, height = self.size
        foot = np.array([0.07 * width, height - 0.045 * width])
        for name, axis in zip(self._look.names, np.eye(3)):
            way = axis @ self._view[:2].T * [1.0, -1.0]
            if np.linalg.norm(way) > 0.2:  # not towards the eye
                tip = foot + 0.09 * width * way
                arrow = {"arrowstyle": "-|>", "color": "0.15", "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", tip, foot, arrowprops=arrow)
                axes.text(*(tip + 12 * way / np.linalg.norm(way)), name, fontsize=9, ha="center", va="center")
        length = round_down(0.25 * width / self._scale)
        factor, metre = unit(length, "m")
        start, y = 0.24 * width, height - 0.03 * width
        axes.plot([start, start + length * self._scale], [y] * 2, color="0.15", lw=2.5)
        text = f"{factor * length:g} {metre}"
        if self._look.magnify != 1.0:
            text += f", displacements x {self._look.magnify:g}"
        axes.text(start, y - 0.012 * width, text, fontsize=8, va="bottom", color="0.15")

    def shades(self) -> NDArray:
        """The body's colours in bright light and in shadow, a row each, shape (5, 256, 3)."""
        colors = np.asarray(pyplot().get_cmap(self._colors.map)(np.linspace(0, 1, 256)))[:, :3]
        return np.array([light * colors for light in (1.0, 0.85, 0.7, 0.6, 0.5)])

    def add_colorbar(self, figure: Any, **options: Any) -> None:
        """What colours mean."""
        colors, plt = self._colors, pyplot()
        factor, name = unit(max(-colors.low, colors.top), colors.unit)
        shades = plt.cm.ScalarMappable(plt.Normalize(factor * colors.low, factor * colors.top), colors.map)
        figure.colorbar(shades, label=f"{colors.name} [{name}]", **options)
