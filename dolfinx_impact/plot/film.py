"""Strips of moments and animations of solids and their obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import parallel
from .._types import AnyArray, FloatArray
from ..contact.contact_set import Contacts, as_contact
from ..contact.obstacles import Box, Obstacle
from ..systems.continuum import Continuum
from .colors import LEVELS, Colors
from .drawing import check_path, pyplot, save, unit
from .movie import check_film, write_film
from .section import CutBody, CutPlane, Parts
from .shots import SHADES, Clip, Moments, Wanted, check, gather, moments_of
from .snapshots import Moment
from .solids import Look, Shot, SolidScene, view_from
from .surfaces import corners_of_box

#: Default margin of the box in which an obstacle is cut, flat and other ones, over the size of the body; at
#: least so much of each side of the region that the body passes.
_FLAT, _ROUND, _PASSED = 0.3, 0.6, 0.15
_WHOLE = 1.2  #: Sizes of the body that an obstacle may reach beyond the region and is shown whole.
#: Pixels of a film beside the picture, and those of the colours of a part, whose name stands below them.
_BESIDE, _PART = 92, 14


def strip(
    path: str | Path,
    solid: Continuum,
    snapshots: Moments,
    *,
    obstacle: Obstacle | None = None,
    contact: Contacts = None,
    shade: str = "speed",
    top: float | None = None,
    magnify: float = 1.0,
    box: tuple[ArrayLike, ArrayLike] | None = None,
    eye: Sequence[float] = (0.3, -1.0, 0.35),
    clip: Clip = None,
    cells: int = 100,
    columns: int | None = None,
    pictures: int | None = None,
    title: str = "",
    parts: Sequence[str] = (),
) -> None:
    """Draw moments of a solid and its obstacle side by side, as PNG, SVG or PDF. Rank 0 draws; collective.

    Rendered off screen, true to scale except for ``magnify``. Red arrows are contact forces projected on the
    picture, also at hidden points; where many points have forces, sums over patches. Obstacles are visible
    from their free side only. The spacing of the grid lines on them, which move with them, is that of the
    scale bar. The shadow of the body is projected along the normal of a plane, on other obstacles along -z.
    For moving obstacles a blue arrow shows the velocity where it is largest, and a blue outline the initial
    position.

    Args:
        path: File to write.
        solid: The body, in 2 or 3 dimensions.
        snapshots: The observer with the states, or moments.
        obstacle: The shape; by default that of the contact.
        contact: The contact on whose points the forces of the moments act.
        shade: Field that colours the body: ``"speed"``, ``"displacement"`` (magnitude), ``"stress"`` (von
            Mises), ``"plastic_strain"`` (equivalent, of a material that has it), or a velocity component,
            ``"v_x"``, ``"v_y"``, ``"v_z"``. Stress and plastic strain of a material with history are those
            that ``Snapshots`` has stored.
        top: Upper limit of the colour scale, in SI units; by default the largest visible value.
        magnify: Factor on the displacements, stated in the picture. An obstacle at rest is drawn farther
            away, so that the node nearest to it at rest touches it in the picture when it is in contact.
        box: Opposite corners of the box in which the obstacle is drawn, shape (gdim,) each [m]; by default
            around the region that the body passes: what reaches farther, as a large floor, is cut.
        eye: Direction towards the eye in 3D, not parallel to z.
        clip: Plane in the undeformed body that cuts it in 3D; the part towards the eye is removed. ``"x"``,
            ``"y"`` or ``"z"`` for the plane normal to this axis through the middle of the body, or
            ``(point, normal)`` [m]. The obstacle is not cut, except by ``box``.
        cells: Cells of the sampling grid for the obstacle along the longest side of the box.
        columns: Pictures per row, up to four by default, depending on the aspect ratio.
        pictures: Largest number of pictures; of more moments a uniform selection is drawn, the first and the
            last among them. By default all.
        title: First line of the picture.
        parts: Names of cells that are drawn in colours of their own, two to five, such as the parts of a
            joined mesh; other cells are left out. By default all cells have the same colours.

    Raises:
        ValueError: No moments, arrays of other shapes, forces without a contact, an unknown shade, one with
            a sign together with parts, unknown or overlapping parts, one part or more than five, an invalid
            box, a zero or vertical ``eye``, a plane that does not cut the body, a name that does not end in
            .png, .svg or .pdf.
        FileNotFoundError: The folder does not exist.
        ImportError: matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: No display, and a VTK that crashes without one.
    """
    moments = moments_of(snapshots, solid)
    wanted = Wanted(obstacle, as_contact(contact), shade, top, magnify, box, eye, clip, cells, tuple(parts))
    numbers = {name: n for name, n in (("columns", columns), ("pictures", pictures)) if n is not None}
    check(lambda: check_path(path, (".png", ".svg", ".pdf")), solid, moments, wanted, numbers)
    visible, plane, shots = gather(solid, _selected(moments, pictures), wanted)
    parallel.on_root(
        solid.comm, lambda: _draw_strip(path, _scene(visible, plane, shots, wanted), shots, columns, title)
    )


def animate(
    path: str | Path,
    solid: Continuum,
    snapshots: Moments,
    *,
    obstacle: Obstacle | None = None,
    contact: Contacts = None,
    shade: str = "speed",
    top: float | None = None,
    magnify: float = 1.0,
    box: tuple[ArrayLike, ArrayLike] | None = None,
    eye: Sequence[float] = (0.3, -1.0, 0.35),
    clip: Clip = None,
    cells: int = 80,
    frames: int = 100,
    pause: float = 0.06,
    title: str = "",
    parts: Sequence[str] = (),
) -> None:
    """Animate a solid and its obstacle, as GIF or MP4. Rank 0 draws; collective.

    Rendered off screen with a fixed camera and colour scale, see :func:`strip`. MP4 needs the program ffmpeg;
    a GIF has 256 colours, including those of the legend.

    Args:
        path: File to write.
        solid, snapshots, obstacle, contact, shade, top, magnify, box, eye, clip, cells: See :func:`strip`.
        frames: Largest number of pictures; of more moments a uniform selection is drawn.
        pause: Time between two pictures [s], in a GIF rounded to 0.01 s.
        title: First line of the pictures.
        parts: See :func:`strip`.

    Raises:
        ValueError: Fewer than two moments; a pause outside [0.02, 60) s; see :func:`strip`; a name that does
            not end in .gif or .mp4.
        FileNotFoundError: The folder does not exist.
        ImportError: matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: No display, and a VTK that crashes without one; an MP4 without ffmpeg.
    """
    moments = moments_of(snapshots, solid)
    wanted = Wanted(obstacle, as_contact(contact), shade, top, magnify, box, eye, clip, cells, tuple(parts))
    check(lambda: check_film(path), solid, moments, wanted, {"frames": frames}, pause)
    visible, plane, shots = gather(solid, _selected(moments, frames), wanted)
    parallel.on_root(
        solid.comm, lambda: _draw_film(path, _scene(visible, plane, shots, wanted), shots, pause, title)
    )


def _scene(parts: Parts, plane: CutPlane | None, shots: Sequence[Shot], wanted: Wanted) -> SolidScene:
    shape, gdim = wanted.shape, parts.gdim
    corners: FloatArray = np.zeros((2, gdim))
    away = 0.0
    if shape is not None:
        corners = _box(shots, shape) if wanted.box is None else corners_of_box(gdim, *wanted.box)
        if wanted.magnify != 1.0:
            away = (wanted.magnify - 1.0) * float(shape.gap(parts.x[:, :gdim].astype(float)).min())
    look = Look(
        view_from(gdim, wanted.eye), parts.names, shape, corners, int(wanted.cells), away, wanted.magnify
    )
    largest = max(float(np.abs(shot.values).max(initial=0.0)) for shot in shots)
    top = wanted.top if wanted.top is not None else (largest if largest > 0 else 1.0)
    low = -top if wanted.shade.startswith("v_") else 0.0
    colors = Colors(*SHADES[wanted.shade], low, top, wanted.parts)
    return SolidScene(look, colors, CutBody(parts, plane), shots)


def _box(shots: Sequence[Shot], shape: Obstacle) -> FloatArray:
    """Box around the region that the body passes and what is near of an obstacle, shape (2, gdim) [m].

    A bounded obstacle that reaches not much farther is shown whole.
    """
    low = np.min([shot.points.min(axis=0) for shot in shots], axis=0)[: shape.gdim].astype(float)
    high = np.max([shot.points.max(axis=0) for shot in shots], axis=0)[: shape.gdim].astype(float)
    body, passed = float(np.max(np.ptp(shots[0].points, axis=0))), high - low
    flat = shape.flat or isinstance(getattr(shape, "obstacle", shape), Box)
    far = np.maximum(_PASSED * passed, (_FLAT if flat else _ROUND) * body)
    if not hasattr(shape, "bounds"):
        return np.array([low - far, high + far])
    bounds = np.array([shape.bounds(shot.t) for shot in shots])
    first, last = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    near, most = 0.02 * np.max(passed), np.maximum(_WHOLE * body, _ROUND * passed)

    def reach(beyond: FloatArray) -> FloatArray:
        margin: FloatArray = np.where(beyond <= most, np.maximum(beyond, near), far)
        return margin

    return np.array([low - reach(low - first + near), high + reach(last - high + near)])


def _selected(moments: list[Moment], most: int | None) -> list[Moment]:
    """A uniform selection of at most so many moments, the first and the last among them."""
    if most is None or len(moments) <= most:
        return moments
    return [moments[i] for i in np.rint(np.linspace(0, len(moments) - 1, int(most))).astype(int)]


def _columns(count: int, ratio: float) -> int:
    """Pictures per row for a total aspect ratio near 1.8 and few empty places.

    Args:
        count: Number of pictures.
        ratio: Width over height of a picture.
    """

    def penalty(columns: int) -> float:
        rows = -(-count // columns)
        misfit: float = abs(np.log(columns * ratio / rows / 1.8)) + (rows * columns - count) / count
        return misfit

    return min(range(1, min(count, 4) + 1), key=penalty)


def _clock(shots: Sequence[Shot]) -> tuple[float, str, int]:
    """Factor and unit of the times, and the number of digits that distinguishes them."""
    times = np.array([shot.t for shot in shots])
    factor, second = unit(float(np.abs(times).max()), "s")
    steps = np.diff(np.unique(times)) * factor
    least = steps.min() if steps.size else 1.0
    return factor, second, int(np.clip(np.ceil(-np.log10(least)) + 1, 0, 6))


def _draw_strip(
    path: str | Path, scene: SolidScene, shots: Sequence[Shot], columns: int | None, title: str
) -> None:
    plt, (width, height) = pyplot(), scene.size
    columns = _columns(len(shots), width / height) if columns is None else min(int(columns), len(shots))
    rows = -(-len(shots) // columns)
    size = (4.6 * columns + 1.0, rows * (4.6 * height / width + 0.35) + 0.7)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    factor, second, digits = _clock(shots)
    for axes in grid.flat:
        axes.axis("off")
    for i, (axes, image, shot) in enumerate(zip(grid.flat, scene.images(), shots)):
        scene.show(axes, image)
        axes.set_title(f"{shot.title}  t = {factor * shot.t:.{digits}f} {second}".strip(), fontsize=12)
        scene.add_forces(axes, shot)
        scene.add_motion(axes, i)
        scene.add_scale(axes)
    scene.add_colorbar(figure, ax=list(grid.flat), shrink=0.8 if rows == 1 else 0.4, pad=0.01)
    figure.suptitle(title, fontsize=13)
    save(figure, path, dpi=130)


def _draw_film(path: str | Path, scene: SolidScene, shots: Sequence[Shot], pause: float, title: str) -> None:
    plt, (width, height) = pyplot(), scene.size
    bar_width = max(18, _PART * scene.part_count)
    above, beside = 46 if title else 26, _BESIDE + bar_width
    size = np.array([width + beside, height + above])
    figure = plt.figure(figsize=size / 100, dpi=100)
    axes = figure.add_axes((0, 0, width / size[0], height / size[1]))
    bar = figure.add_axes((width / size[0], 0.12, bar_width / size[0], 0.73))
    scene.add_colorbar(figure, levels=LEVELS, cax=bar)
    figure.text(8 / size[0], 1 - 18 / size[1], title, fontsize=11)
    clock = figure.text(8 / size[0], 1 - (above - 8) / size[1], "", fontsize=10, family="monospace")
    pictures: list[AnyArray] = []
    arrows: list[Any] = []
    shown = None
    for i, (image, shot) in enumerate(zip(scene.images(sharp=1), shots)):
        if shown is None:
            shown = scene.show(axes, image)
            scene.add_scale(axes)
        shown.set_data(image)
        for each in arrows:
            each.remove()
        arrows = [*scene.add_forces(axes, shot), *scene.add_motion(axes, i)]
        clock.set_text(_time_text(shots, shot, pause))
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    plt.close(figure)
    write_film(path, pictures, scene.palette(), pause)


def _time_text(shots: Sequence[Shot], shot: Shot, pause: float) -> str:
    """Title, time and, for moments at about equal intervals, the slow-motion factor of an animation."""
    factor, second, digits = _clock(shots)
    text = f"{shot.title} t = {factor * shot.t:.{digits}f} {second}".strip()
    steps = np.diff([each.t for each in shots])
    mean = float(steps.mean())
    if mean > 0 and np.all(np.abs(steps - mean) < 0.2 * mean) and pause > 2 * mean:
        text += f"   {float(f'{pause / mean:.1g}'):,.0f} times slower"
    return text
