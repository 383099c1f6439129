"""Scenes of a solid and its obstacle: deformed, coloured by a field, with contact forces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from ..contact.obstacles import Obstacle
from .backdrop import COLOR, Backdrop
from .colors import Colors
from .drawing import load_pyvista, round_down, unit
from .section import CutBody

#: Colours of force arrows, of arrows for the motion of the obstacle, and of text.
ARROW, MOTION, TEXT = "#d6001c", "#1c5d99", "#262626"
WIDTH, _ROOM = 620, 0.04
#: Largest number of arrows of single points; more forces are summed over patches, so many per direction.
_SINGLE, _PATCHES = 12, 3
#: Length of an arrow over the longest one below which it is not drawn.
_LEAST = 0.06
#: Median edge length [pixels] below which edges of pieces are not drawn.
_FINE = 5.0
_BODY: dict[str, Any] = {"ambient": 0.5, "diffuse": 0.5, "show_scalar_bar": False, "edge_opacity": 0.4}
#: Parts in colours of their own are round and shiny, as their lightness is that of the field.
_PART: dict[str, Any] = {
    "ambient": 0.5,
    "diffuse": 0.58,
    "specular": 0.35,
    "specular_power": 25,
    "smooth_shading": True,
    "split_sharp_edges": True,
    "edge_opacity": 0.22,
    "show_scalar_bar": False,
}


class Shot(NamedTuple):
    """Data of a moment, gathered on rank 0.

    Attributes:
        t: Time [s].
        title: Text before the time.
        points: Drawn positions of the visible nodes, shape (k, 3) [m].
        values: Field that colours them, shape (k,).
        feet, forces: Points of contact and forces on them, shape (p, 3) each [m, N].
        sides: Number of the surface of each of these points, shape (p,); None for one surface.
    """

    t: float
    title: str
    points: FloatArray
    values: FloatArray
    feet: FloatArray
    forces: FloatArray
    sides: IntArray | None = None


class Look(NamedTuple):
    """View direction, obstacle and magnification of a scene.

    Attributes:
        view: Directions right, up and towards the eye, one per row, shape (3, 3).
        names: Names of the axes.
        obstacle: The shape, or None.
        corners: Corners of the box in which it is drawn, shape (2, gdim) [m].
        cells: See :func:`surface`.
        away: Depth below its surface at which it is drawn [m].
        magnify: Factor on the displacements.
    """

    view: FloatArray
    names: str
    obstacle: Obstacle | None
    corners: FloatArray
    cells: int
    away: float = 0.0
    magnify: float = 1.0


def view_from(gdim: int, eye: Sequence[float]) -> FloatArray:
    """Directions right, up and towards the eye, one per row, shape (3, 3); a ValueError for a bad eye."""
    if gdim == 2:
        return np.eye(3)
    back = np.asarray(eye, dtype=np.float64)
    right = np.cross([0.0, 0.0, 1.0], back) if back.shape == (3,) else np.zeros(3)
    if not (np.all(np.isfinite(right)) and right.any()):
        raise ValueError(f"eye must be a direction in space that is not upwards, but is {eye}")
    back, right = back / np.linalg.norm(back), right / np.linalg.norm(right)
    return np.array([right, np.cross(back, right), back])


class SolidScene:
    """Window, camera and colours common to all moments. On rank 0 alone.

    Args:
        look: View direction and obstacle.
        colors: Colour scale.
        body: Visible parts of the body.
        shots: All moments.

    Attributes:
        size: Width and height of the pictures [pixels].
    """

    def __init__(self, look: Look, colors: Colors, body: CutBody, shots: Sequence[Shot]) -> None:
        self._look, self._view, self._colors, self._shots = look, look.view, colors, shots
        self._body, self._backdrop = body, None
        if look.obstacle is not None:
            self._backdrop = Backdrop(
                look.obstacle,
                look.corners,
                [shot.t for shot in shots],
                back=look.view[2],
                cells=look.cells,
                away=look.away,
            )
        obstacles = [] if self._backdrop is None else self._backdrop.points()
        self._frame([*obstacles, *(shot.points for shot in shots)])
        self._bar = round_down(0.25 * WIDTH / self._scale)
        self._edges = bool(body.edge(shots[0]) * self._scale >= _FINE)
        self._patches = _patches(shots)
        self._strongest = max(np.linalg.norm(self.arrows(s)[1], axis=1).max(initial=0.0) for s in shots)

    def _frame(self, clouds: Sequence[AnyArray]) -> None:
        """Fit size [pixels], scale [pixels/m] and upper left corner [m] of the window to all points."""
        flat = [points @ self._view.T for points in clouds if len(points)]
        low, high = (np.array([getattr(f, end)(axis=0) for f in flat]) for end in ("min", "max"))
        low, high = low.min(axis=0), high.max(axis=0)
        self._depth, self._far = (low[2] + high[2]) / 2, 10 * np.max(high - low)
        room = _ROOM * np.max((high - low)[:2])
        low, high = low[:2] - [room, 4.5 * room], high[:2] + room
        # Limits the aspect ratio.
        middle, size = (low + high) / 2, high - low
        size = np.maximum(size, [0.6 * size[1], 0.3 * size[0]])
        self._scale, self._corner = WIDTH / size[0], middle + size / 2 * [-1.0, 1.0]
        self.size, self._middle = (WIDTH, int(size[1] * self._scale)), middle

    def pixels(self, points: FloatArray) -> FloatArray:
        """Pixel coordinates from the upper left corner, shape (n, 2), of points, shape (n, 3) [m]."""
        return np.asarray((points @ self._view[:2].T - self._corner) * [self._scale, -self._scale])

    def images(self, sharp: int = 2) -> Iterator[AnyArray]:
        """One picture per moment, shape (sharp * height, sharp * width, 3) each."""
        pyvista = load_pyvista()
        # One window for all: some X servers refuse a client right after the last one disconnected.
        plotter = pyvista.Plotter(off_screen=True, window_size=[sharp * n for n in self.size])
        try:
            plotter.set_background("white")
            plotter.enable_anti_aliasing("msaa", multi_samples=8)
            for i, shot in enumerate(self._shots):
                body = self._body.at(shot)
                self._add_body(plotter, body)
                if self._backdrop is not None:
                    size = self.size[0] / self._scale
                    self._backdrop.add(plotter, i, body, spacing=self._bar, size=size, sharp=sharp)
                self._set_camera(plotter)
                plotter.render()
                yield np.asarray(plotter.screenshot(return_img=True))[..., :3].copy()
        finally:
            plotter.close()

    def _add_body(self, plotter: Any, body: Any) -> None:
        """Draw the body, or its parts, in place of that of the previous moment."""
        colors = self._colors
        look = {"scalars": "shade", "clim": (colors.low, colors.top), "show_edges": self._edges}
        if not colors.parts:
            plotter.add_mesh(body, cmap=colors.map(), name="body", render=False, **look, **_BODY)
        for i in range(len(colors.parts)):
            cells = np.flatnonzero(np.asarray(body.cell_data["part"]) == i)
            name = f"part {i}"
            if cells.size:
                part = body.extract_cells(cells).extract_surface(pass_pointid=False, pass_cellid=False)
                plotter.add_mesh(part, cmap=colors.map(part=i), name=name, render=False, **look, **_PART)
            else:
                plotter.remove_actor(name, render=False)

    def _set_camera(self, plotter: Any) -> None:
        focus = self._middle @ self._view[:2] + self._depth * self._view[2]
        plotter.enable_parallel_projection()
        plotter.camera.focal_point = focus
        plotter.camera.position = focus + self._far * self._view[2]
        plotter.camera.up = self._view[1]
        plotter.camera.parallel_scale = self.size[1] / (2 * self._scale)
        plotter.camera.clipping_range = (0.1 * self._far, 2 * self._far)

    # -- annotations by matplotlib, on axes in pixels of a picture

    def show(self, axes: Any, image: AnyArray) -> Any:
        """Show a picture on axes in pixels."""
        shown = axes.imshow(image, extent=(0, *self.size, 0), interpolation="antialiased")
        axes.axis("off")
        return shown

    def arrows(self, shot: Shot) -> tuple[FloatArray, FloatArray]:
        """Feet [m] and forces [N] of the arrows, shape (n, 3) each; sums over patches if there are many."""
        some = shot.forces.any(axis=1)
        feet, forces = shot.feet[some].astype(float), shot.forces[some]
        return (feet, forces) if self._patches is None else _sums(feet, forces, self._patches[some])

    def add_forces(self, axes: Any, shot: Shot) -> list[Any]:
        """Draw force arrows, the longest a fifth of the width of the picture, and an arrow as their scale."""
        if not self._strongest > 0:
            return []
        factor, newton = unit(self._strongest, "N")
        per_newton = 0.2 * self.size[0] / self._strongest
        feet, forces = self.arrows(shot)
        seen = np.linalg.norm(forces @ self._view[:2].T, axis=1) >= _LEAST * self._strongest
        feet, forces = feet[seen], forces[seen]
        flat = forces @ self._view[:2].T * [1.0, -1.0] * per_newton
        style = {
            "angles": "xy",
            "scale_units": "xy",
            "scale": 1.0,
            "color": ARROW,
            "width": 0.007,
            "edgecolor": "white",
            "linewidth": 0.5,
        }
        arrows = axes.quiver(*self.pixels(feet).T, *flat.T, **style)
        key, (width, height) = round_down(self._strongest), self.size
        start, y = 0.62 * width, height - 0.03 * width
        below = axes.quiver([start], [y], [key * per_newton], [0.0], **style)
        text = f"{factor * key:g} {newton} of contact" + ("" if self._patches is None else ", a patch")
        label = axes.text(start, y - 0.012 * width, text, fontsize=8, va="bottom", color=ARROW)
        return [arrows, below, label]

    def add_motion(self, axes: Any, i: int) -> list[Any]:
        """Draw an arrow for the velocity of the obstacle where it moves fastest, with its speed."""
        from matplotlib import patheffects

        pace = None if self._backdrop is None else self._backdrop.pace(i)
        if pace is None:
            return []
        point, velocity, fastest = pace
        foot = self.pixels(point[None])[0]
        shaft = velocity @ self._view[:2].T * [1.0, -1.0] * 0.1 * self.size[0] / fastest
        arrow = {
            "arrowstyle": "-|>,head_width=0.35,head_length=0.7",
            "color": MOTION,
            "lw": 2.2,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        factor, name = unit(fastest, "m/s")
        halo = [patheffects.withStroke(linewidth=2.5, foreground="white")]
        text = f"obstacle {float(f'{factor * np.linalg.norm(velocity):.3g}'):g} {name}"
        if i > 0:
            text += "\noutline: at first"
        below = foot + np.maximum(shaft, 0.0) * [0.0, 1.0] + [4.0, 6.0]
        return [
            axes.annotate("", foot + shaft, foot, arrowprops=arrow),
            axes.text(*below, text, fontsize=8, va="top", color=MOTION, path_effects=halo),
        ]

    def add_scale(self, axes: Any) -> None:
        """Draw axes, a scale bar and the magnification of displacements."""
        width, height = self.size
        foot = np.array([0.07 * width, height - 0.045 * width])
        for name, axis in zip(self._look.names, np.eye(3)):
            shaft = axis @ self._view[:2].T * [1.0, -1.0]
            if np.linalg.norm(shaft) > 0.2:  # not towards the eye
                tip = foot + 0.09 * width * shaft
                arrow = {"arrowstyle": "-|>", "color": "0.15", "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", tip, foot, arrowprops=arrow)
                end = tip + 12 * shaft / np.linalg.norm(shaft)
                axes.text(*end, name, fontsize=9, ha="center", va="center")
        length = self._bar
        factor, metre = unit(length, "m")
        start, y = 0.24 * width, height - 0.03 * width
        axes.plot([start, start + length * self._scale], [y] * 2, color="0.15", lw=2.5)
        text = f"{factor * length:g} {metre}"
        if self._backdrop is not None and len(self._look.corners[0]) == 3:
            text += " (grid)"
        if self._look.magnify != 1.0:
            text += f", displacements x {self._look.magnify:g}"
        axes.text(start, y - 0.012 * width, text, fontsize=8, va="bottom", color="0.15")

    def palette(self) -> FloatArray:
        """Colours that a GIF must contain: legend, shaded bodies and obstacles, arrows; shape (n, 3)."""
        written = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (ARROW, MOTION, TEXT)]
        walls = np.outer(np.linspace(0.4, 1.0, 24), COLOR) if self._backdrop is not None else np.zeros((0, 3))
        colors: FloatArray = np.rint(np.vstack([self._colors.palette(), walls, written]))
        return colors

    @property
    def part_count(self) -> int:
        """Number of parts with colours of their own, 0 where all have the same."""
        return len(self._colors.parts)

    def add_colorbar(self, figure: Any, levels: int = 256, **options: Any) -> None:
        """Add the colour bar, in animations with as many levels as their palette has."""
        self._colors.add_bar(figure, levels, **options)


def _patches(shots: Sequence[Shot]) -> IntArray | None:
    """Patch of each contact point, shape (p,); None where few enough have forces for an arrow each.

    A patch is on one surface: the forces of bodies on each other, which are opposite, are not summed.
    """
    first = next((shot for shot in shots if len(shot.feet)), None)
    feet: FloatArray = np.zeros((0, 3)) if first is None else first.feet
    loaded = np.zeros(len(feet), dtype=bool)
    for shot in shots:
        if len(shot.forces):
            loaded |= shot.forces.any(axis=1)
    if loaded.sum() <= _SINGLE:
        return None
    sides = np.zeros(len(feet), dtype=int) if first is None or first.sides is None else first.sides
    patch = np.zeros((len(feet), 4), dtype=int)
    patch[:, 3] = sides
    for side in np.unique(sides[loaded]):
        of = sides == side
        low, high = feet[of & loaded].min(axis=0), feet[of & loaded].max(axis=0)
        size = 1.001 * max(np.max(high - low), 1e-12) / _PATCHES
        patch[of, :3] = np.floor((feet[of] - (low + high) / 2) / size + _PATCHES / 2).astype(int)
    return np.asarray(np.unique(patch, axis=0, return_inverse=True)[1]).reshape(len(feet))


def _sums(feet: FloatArray, forces: FloatArray, patches: IntArray) -> tuple[FloatArray, FloatArray]:
    """Force-weighted mean of the feet and sum of the forces of each patch, shape (patches, 3) each."""
    used, patch = np.unique(patches, return_inverse=True)
    sums, means = np.zeros((used.size, 3)), np.zeros((used.size, 3))
    weights = np.linalg.norm(forces, axis=1)
    np.add.at(sums, patch, forces)
    np.add.at(means, patch, weights[:, None] * feet)
    return means / np.bincount(patch, weights, used.size)[:, None], sums
