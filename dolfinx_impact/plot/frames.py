"""Pictures of frames: beams as tubes with marked contact points, as strip (PNG) and animation (GIF, MP4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import parallel
from .._types import AnyArray, FloatArray, IntArray
from ..algebra.operators import of_points
from ..contact.base import Contact
from ..systems.frame import Frame
from .drawing import load_pyvista, pyplot, round_down
from .movie import check_film, write_film

CLOSED, OPEN, UNLOADED = "#222222", "#e0201b", "#9a9a9a"
#: Direction towards the eye, and upward direction.
_EYE, _UP = np.array([-0.22, -1.0, 0.36]), np.array([0.0, 0.0, 1.0])
#: Margins around the undeformed frame over its width: left and below, right and above.
_ROOM = np.array([[-0.03, -0.145], [0.03, 0.11]])
#: Weak shading, and no rendering before all meshes are added.
_PAINT: dict[str, Any] = {"ambient": 0.35, "diffuse": 0.75, "reset_camera": False, "render": False}


class Tubes(NamedTuple):
    """Appearance of the beams of some parts.

    Attributes:
        parts: Names of the parts.
        radius: Radius of the tubes in the picture, independent of the section [m].
        color: A colour of matplotlib.
        lift: Height above the beam axes at which they are drawn [m].
    """

    parts: Sequence[str]
    radius: float
    color: str
    lift: float = 0.0


class Scene:
    """View of a frame from a fixed direction.

    Args:
        frame: The frame, replicated.
        tubes: Appearance of its beams by their name in the legend.
        contact: Node-to-node contact of the frame, the lower node of each pair first.
        magnify: Factor on the displacements, stated in the pictures.
        least: Smallest gap that is marked as open [m], stated in the pictures.
        supports: Name of nodes that are marked as supports.
        points: Name of a contact point in the legend.

    Attributes:
        size: Width and height of the pictures [pixels].

    Raises:
        ValueError: Parts or supports that the mesh does not have, a contact that is not between nodes.
    """

    def __init__(
        self,
        frame: Frame,
        tubes: Mapping[str, Tubes],
        contact: Contact,
        *,
        magnify: float,
        least: float = 5e-5,
        supports: str | None = None,
        points: str = "point of contact",
    ) -> None:
        self.tubes, self.magnify, self.least, self.points = dict(tubes), magnify, least, points
        cells = np.asarray(frame.space.dofmap.list)
        self._x = np.asarray(frame.x[: frame.owned // frame.block], dtype=np.float64)
        self._segments = {
            name: cells[np.concatenate([frame.named.cells(part) for part in each.parts])]
            for name, each in self.tubes.items()
        }
        self._lifts = np.zeros_like(self._x)
        for name, each in self.tubes.items():
            self._lifts[self._segments[name], 2] = each.lift
        rows = of_points(contact.L)
        pairs = rows.dofs[rows.sorting(frame.comm)] // frame.block
        self._below, self._above = pairs[:, 0], pairs[:, -1]
        if not np.all(self._below != self._above):
            raise ValueError("a Scene marks pairs of nodes: its contact must be NodePairs of the frame")
        self._supports = self._x[frame.nodes(supports)] if supports is not None else np.zeros((0, 3))
        self._rail = max(self._radius_at(node) for node in self._below)
        self._fit_view()

    def _radius_at(self, node: int) -> float:
        return max(t.radius for name, t in self.tubes.items() if node in self._segments[name])

    def _fit_view(self) -> None:
        """Set directions (right, up, towards the eye), scale and size of the pictures."""
        back = _EYE / np.linalg.norm(_EYE)
        right = np.cross(_UP, back) / np.linalg.norm(np.cross(_UP, back))
        self.view = np.array([right, np.cross(back, right), back])
        flat = self._x @ self.view[:2].T
        low, high = flat.min(axis=0), flat.max(axis=0)
        low, high = np.array([low, high]) + _ROOM * (high - low)[0]
        width = 1200
        self._scale, self._corner = width / (high - low)[0], np.array([low[0], high[1]])
        self.size = (width, 2 * int((high - low)[1] * self._scale / 2))
        middle = self._corner + np.array([width, -self.size[1]]) / (2 * self._scale)
        self._focus = middle @ self.view[:2]

    def pixels(self, points: FloatArray) -> FloatArray:
        """Pixel coordinates from the upper left corner, shape (n, 2), of points, shape (n, 3) [m]."""
        return np.asarray((points @ self.view[:2].T - self._corner) * [self._scale, -self._scale])

    # -- drawing

    def images(self, displacements: FloatArray, gaps: FloatArray) -> list[AnyArray]:
        """One picture per state, shape (height, width, 3) each.

        Args:
            displacements: Displacements of all nodes, shape (n, nodes, 3) [m].
            gaps: Gaps in the order of recorded ones, shape (n, p) [m].

        Raises:
            ValueError: Arrays of other shapes.
        """
        shapes = (self._x.shape, self._below.shape)
        if (displacements.shape[1:], gaps.shape[1:]) != shapes or len(displacements) != len(gaps):
            raise ValueError(
                f"pictures need displacements of shape (n, {len(self._x)}, 3) and gaps "
                f"(n, {len(self._below)}), not {displacements.shape} and {gaps.shape}"
            )
        pyvista = load_pyvista()
        plotter = pyvista.Plotter(off_screen=True, window_size=[2 * pixels for pixels in self.size])
        plotter.set_background("white")
        self._set_camera(plotter)
        self._add_static_parts(plotter, pyvista)
        images = []
        for i in range(len(displacements)):
            self._add_state(plotter, pyvista, displacements[i], gaps[i])
            plotter.render()
            sharp = np.asarray(plotter.screenshot(return_img=True), dtype=np.uint16)[..., :3]
            four = sharp[::2, ::2] + sharp[1::2, ::2] + sharp[::2, 1::2] + sharp[1::2, 1::2]
            images.append((four // 4).astype(np.uint8))
        plotter.close()
        return images

    def _set_camera(self, plotter: Any) -> None:
        distance = 10 * np.ptp(self._x)
        plotter.enable_parallel_projection()
        plotter.camera.focal_point = self._focus
        plotter.camera.position = self._focus + distance * self.view[2]
        plotter.camera.up = self.view[1]
        plotter.camera.parallel_scale = self.size[1] / (2 * self._scale)
        plotter.camera.clipping_range = (0.1 * distance, 2 * distance)

    def _add_static_parts(self, plotter: Any, pyvista: Any) -> None:
        """Undeformed beams and supports."""
        for segments in self._segments.values():
            lines = _lines(pyvista, self._x + self._lifts, segments)
            plotter.add_mesh(lines, color=UNLOADED, line_width=2, lighting=False)
        height = 3 * self._rail
        for point in self._supports:
            below = point - [0.0, 0.0, height / 2]
            cone = pyvista.Cone(center=below, direction=(0, 0, 1), height=height, radius=0.6 * height)
            plotter.add_mesh(cone, color="#777777")

    def _add_state(self, plotter: Any, pyvista: Any, u: FloatArray, gap: FloatArray) -> None:
        """Tubes, and a ball at every contact point; they replace those of the previous state."""
        x = self._x + self.magnify * u
        for name, tube in self.tubes.items():
            lines = _lines(pyvista, x + self._lifts, self._segments[name])
            mesh = lines.strip(join=True).tube(radius=tube.radius, n_sides=16)
            plotter.add_mesh(mesh, color=tube.color, name=name, smooth_shading=True, **_PAINT)
        for i, (below, above) in enumerate(zip(self._below, self._above)):
            is_open = gap[i] > self.least
            radius = self._rail * (1.5 if is_open else 1.1)
            foot, head = x[[below, above]] + [0.0, 0.0, self._rail]
            ball = pyvista.Sphere(radius=radius, center=head + [0.0, 0.0, radius])
            if is_open:
                ball += pyvista.Tube(pointa=foot, pointb=head, radius=0.25 * self._rail, n_sides=8)
            plotter.add_mesh(ball, color=OPEN if is_open else CLOSED, name=f"point {i}", **_PAINT)

    # -- annotations by matplotlib

    def annotate(self, axes: Any, *, size: float = 9.0) -> None:
        """Add axes, scale bars and notes on magnified displacements to matplotlib axes in pixels."""
        text = {"fontsize": size, "color": "0.15"}
        length, height = round_down(np.ptp(self._x) / 5), round_down(np.ptp(self._x) / 20 / self.magnify)
        corner = self._focus + (-0.46 * self.size[0] * self.view[0] - 0.41 * self.size[1] * self.view[1]) / (
            self._scale
        )
        for name, axis in zip("xyz", np.eye(3)):
            self._arrow(axes, corner, corner + 0.5 * length * axis, name, text)
        start = corner + length * self.view[0]
        ends = self.pixels(np.array([start, start + [length, 0, 0]]))
        axes.plot(*ends.T, color="0.15", lw=2)
        axes.text(*(ends[1] + [8, 0]), f"{length:g} m of the crane", va="center", **text)
        start = start + 2.6 * length * self.view[0]
        ends = self.pixels(np.array([start, start + [0, 0, height * self.magnify]]))
        axes.plot(*ends.T, color="0.15", lw=2)
        scale = f"{1e3 * height:g} mm of displacement: displacements x {self.magnify:g}"
        lifted = [f"{name} drawn {t.lift:g} m higher" for name, t in self.tubes.items() if t.lift]
        axes.text(*(ends.mean(axis=0) + [10, 0]), "\n".join([scale, *lifted]), va="center", **text)

    def _arrow(self, axes: Any, foot: FloatArray, tip: FloatArray, name: str, text: dict[str, Any]) -> None:
        ends = self.pixels(np.array([foot, tip]))
        axes.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "-|>", "color": "0.15", "shrinkA": 0})
        arrow = ends[1] - ends[0]
        axes.text(*(ends[1] + 14 * arrow / np.linalg.norm(arrow)), name, ha="center", va="center", **text)

    def legend(self, axes: Any, **options: Any) -> None:
        """Add a legend of the colours to matplotlib axes or a figure."""
        from matplotlib.lines import Line2D

        entries = [Line2D([], [], color=t.color, lw=5, label=name) for name, t in self.tubes.items()]
        entries += [
            Line2D([], [], color=UNLOADED, lw=1.2, label="not deformed"),
            _dot(CLOSED, 7, f"{self.points}, closed"),
            _dot(OPEN, 10, f"{self.points}, open by more than {1e3 * self.least:g} mm"),
        ]
        axes.legend(handles=entries, **{"frameon": False, "fontsize": 9, **options})


def strip(
    path: str | Path,
    scene: Scene,
    displacements: FloatArray,
    gaps: FloatArray,
    titles: Sequence[str],
    *,
    title: str = "",
) -> None:
    """Draw moments side by side, two per row, as PNG or SVG. Rank 0 draws; collective.

    Args:
        path: File to write.
        scene: The view of the frame.
        displacements, gaps: See :meth:`Scene.images`.
        titles: Titles of the moments.
        title: First line of the picture.

    Raises:
        ValueError: Arrays of other shapes.
        ImportError: matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: No display, and a VTK that crashes without one.
    """
    parallel.on_root(parallel.world(), lambda: _strip(path, scene, displacements, gaps, titles, title))


def _strip(
    path: str | Path,
    scene: Scene,
    displacements: FloatArray,
    gaps: FloatArray,
    titles: Sequence[str],
    title: str,
) -> None:
    plt, images = pyplot(), scene.images(displacements, gaps)
    rows, aspect = -(-len(images) // 2), scene.size[1] / scene.size[0]
    figure, grid = plt.subplots(
        rows, 2, figsize=(16, rows * (8 * aspect + 0.45) + 1.0), squeeze=False, layout="constrained"
    )
    for axes in grid.flat:
        axes.axis("off")
    for axes, image, text in zip(grid.flat, images, titles):
        _show(axes, image)
        axes.set_title(text, fontsize=12, loc="left")
        scene.annotate(axes, size=8)
    figure.suptitle(title, fontsize=14)
    scene.legend(figure, loc="outside lower center", ncols=len(scene.tubes) + 3, fontsize=11)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def film(
    path: str | Path,
    scene: Scene,
    t: FloatArray,
    displacements: FloatArray,
    gaps: FloatArray,
    *,
    curves: Mapping[str, tuple[FloatArray, FloatArray]],
    pause: float = 0.05,
    title: str = "",
) -> None:
    """Animate a frame above plots of the gaps with a time marker, as GIF or MP4. Rank 0 draws; collective.

    Args:
        path: File to write.
        scene: The view of the frame.
        t: Times of the pictures, at least two, shape (n,) [s].
        displacements, gaps: See :meth:`Scene.images`.
        curves: Times [s] and gaps [m] plotted below, by their name in the legend.
        pause: Time between two pictures [s].
        title: First line of the pictures.

    Raises:
        ValueError: Arrays of other shapes, a name that does not end in .gif or .mp4.
        FileNotFoundError: The folder does not exist.
        ImportError: matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: No display, and a VTK that crashes without one; an MP4 without ffmpeg.
    """
    parallel.on_root(
        parallel.world(), lambda: _film(path, scene, t, displacements, gaps, curves, pause, title)
    )


def _film(
    path: str | Path,
    scene: Scene,
    t: FloatArray,
    displacements: FloatArray,
    gaps: FloatArray,
    curves: Mapping[str, tuple[FloatArray, FloatArray]],
    pause: float,
    title: str,
) -> None:
    if not len(t) == len(displacements) >= 2:
        raise ValueError(
            f"a film has two pictures or more, but {len(t)} times and {len(displacements)} states are given"
        )
    check_film(path)
    plt, images = pyplot(), scene.images(displacements, gaps)
    width, height = (pixels / 100 for pixels in scene.size)
    figure = plt.figure(figsize=(width, height + 2.6), dpi=80)
    total = height + 2.6
    axes = figure.add_axes((0, 2.1 / total, 1, height / total))
    shown = _show(axes, images[0])
    axes.axis("off")
    scene.annotate(axes)
    scene.legend(axes, loc="upper right", ncols=2)
    figure.text(0.01, 1 - 0.3 / total, title, fontsize=12)
    clock = figure.text(0.01, 1 - 0.62 / total, "", fontsize=12, family="monospace")
    below = figure.add_axes((0.07, 0.5 / total, 0.91, 1.55 / total))
    _draw_gaps(below, curves, t)
    now = below.axvline(t[0], color="k", lw=1)
    slower = pause * (len(t) - 1) / (t[-1] - t[0])
    pictures = []
    for image, moment in zip(images, t):
        shown.set_data(image)
        clock.set_text(f"t = {moment:.3f} s, {slower:.0f} times slower")
        now.set_xdata([moment, moment])
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    colors = [*(tube.color for tube in scene.tubes.values()), CLOSED, OPEN, UNLOADED]
    colors += [line.get_color() for line in below.lines]
    plt.close(figure)
    write_film(path, pictures, [_rgb(color) for color in colors], pause)


def _rgb(color: Any) -> AnyArray:
    from matplotlib.colors import to_rgb

    rgb: AnyArray = np.rint(255 * np.array(to_rgb(color)))
    return rgb


def _draw_gaps(axes: Any, curves: Mapping[str, tuple[FloatArray, FloatArray]], t: FloatArray) -> None:
    for (name, (times, gap)), look in zip(curves.items(), ("-", "--", "-.", ":")):
        axes.plot(times, 1e3 * gap, look, lw=1.3, label=name)
    axes.set(xlim=(t[0], t[-1]), xlabel="time [s]", ylabel="gap [mm]")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _show(axes: Any, image: AnyArray) -> Any:
    height, width = image.shape[:2]
    return axes.imshow(image, extent=(0, width, height, 0), interpolation="antialiased")


def _dot(color: str, size: float, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker="o", ms=size, ls="", label=label)


def _lines(pyvista: Any, points: FloatArray, segments: IntArray) -> Any:
    """The segments as lines of pyvista, with only the nodes they use."""
    used, index = np.unique(segments, return_inverse=True)
    ends = index.reshape(segments.shape)
    lines = np.column_stack([np.full(len(ends), 2), ends]).ravel()
    return pyvista.PolyData(points[used], lines=lines)
