"""Solids and their obstacles as moments beside one another, and as films."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import parallel
from ..contact.contact_set import Contacts, as_contact
from ..contact.obstacles import Obstacle
from ..systems.solid import Solid
from .drawing import check_path, pyplot, save, unit
from .movie import check_film, write_film
from .section import Body, Parts, Plane
from .shots import SHADES, Clip, Moments, Wanted, check, gather, moments_of
from .solids import LEVELS, Colors, Look, Scene, Shot, view_from
from .surfaces import corners_of_box

#: Room around the body in which an endless obstacle is drawn by default, a flat one and others, over the
#: largest side of what the body passes.
_FLAT, _ROUND = 0.15, 0.6


def strip(
    path: str | Path, solid: Solid, snapshots: Moments, *, obstacle: Obstacle | None = None,
    contact: Contacts = None, shade: str = "speed", top: float | None = None, magnify: float = 1.0,
    box: tuple[ArrayLike, ArrayLike] | None = None, eye: Sequence[float] = (0.3, -1.0, 0.35),
    clip: Clip = None, cells: int = 100, columns: int | None = None, title: str = "",
) -> None:  # fmt: skip
    """Moments of a solid and its obstacle beside one another, as PNG, SVG or PDF. Rank 0 draws; collective.

    Drawn off the screen. True to scale but for ``magnify``. Red arrows are the forces of contact as seen by
    the eye, also where something hides the point; where many points carry forces, their sums over patches.
    Obstacles are seen from their free side alone; lines on them are as far apart as the scale says and move
    with them, the shadow of the body falls along the normal of a plane, on others from above (z). Of a
    moving one a blue arrow shows the velocity where it is largest, a blue outline where it was at first.

    Args:
        path: File to write.
        solid: The body, in 2 or 3 directions.
        snapshots: What is shown: the states of the observer, or moments.
        obstacle: The shape; by default that of the contact.
        contact: Whose points the forces of the moments act on.
        shade: What colours the body: ``"speed"``, ``"displacement"`` (its length), ``"stress"`` (von Mises),
            or a velocity, ``"v_x"``, ``"v_y"``, ``"v_z"``.
        top: Value at the upper end of the colours, in SI units; by default the largest that is seen.
        magnify: Factor on the displacements; the picture says it. An obstacle at rest is drawn so much
            farther away that the node which is nearest to it at first touches it when it does.
        box: Opposite corners of the box in which the obstacle is drawn, shape (gdim,) each [m]; by default
            around all that the body passes.
        eye: Direction towards the eye in 3D, not upwards.
        clip: Cut the body in 3D by a plane of the body at rest, and take away the part towards the eye:
            ``"x"``, ``"y"`` or ``"z"`` for the plane across this axis through the middle of the body, or
            ``(point, normal)`` [m]. The obstacle stays whole; ``box`` cuts that.
        cells: Cells along the longest side of the box of the grid on which the obstacle is looked for.
        columns: Pictures in a row; by default up to four, one of long bodies.
        title: First line of the picture.

    Raises:
        ValueError: No moments, arrays of other shapes, forces without a contact, an unknown shade, a bad
            box, an eye above or without direction, a plane that does not cut the body, a name that does not
            end in .png, .svg or .pdf.
        FileNotFoundError: The folder does not exist.
        ImportError: When matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    moments = moments_of(snapshots)
    wanted = Wanted(obstacle, as_contact(contact), shade, top, magnify, box, eye, clip, cells)
    numbers = {} if columns is None else {"columns": columns}
    check(lambda: check_path(path, (".png", ".svg", ".pdf")), solid, moments, wanted, numbers)
    parts, plane, shots = gather(solid, moments, wanted)
    parallel.on_root(
        solid.comm, lambda: _draw_strip(path, _scene(parts, plane, shots, wanted), shots, columns, title)
    )


def animate(
    path: str | Path, solid: Solid, snapshots: Moments, *, obstacle: Obstacle | None = None,
    contact: Contacts = None, shade: str = "speed", top: float | None = None, magnify: float = 1.0,
    box: tuple[ArrayLike, ArrayLike] | None = None, eye: Sequence[float] = (0.3, -1.0, 0.35),
    clip: Clip = None, cells: int = 80, frames: int = 100, pause: float = 0.06, title: str = "",
) -> None:  # fmt: skip
    """A film of a solid and its obstacle, as GIF or MP4. Rank 0 draws; collective.

    Drawn off the screen, with one camera and one scale of colours for the whole film. See :func:`strip`.
    MP4 needs the program ffmpeg; a GIF has 256 colours, those of the legend among them.

    Args:
        path: File to write.
        solid, snapshots, obstacle, contact, shade, top, magnify, box, eye, clip, cells: See :func:`strip`.
        frames: Most pictures; of more moments so many are taken, evenly.
        pause: Time between two pictures [s], in a GIF rounded to 0.01 s.
        title: First line of the pictures.

    Raises:
        ValueError: Fewer than two moments; a pause below 0.02 s; see :func:`strip`; a name that does not end
            in .gif or .mp4.
        FileNotFoundError: The folder does not exist.
        ImportError: When matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash; an MP4 without ffmpeg.
    """
    moments = moments_of(snapshots)
    wanted = Wanted(obstacle, as_contact(contact), shade, top, magnify, box, eye, clip, cells)
    check(lambda: check_film(path), solid, moments, wanted, {"frames": frames}, pause)
    if len(moments) > frames:
        moments = [moments[i] for i in np.rint(np.linspace(0, len(moments) - 1, int(frames))).astype(int)]
    parts, plane, shots = gather(solid, moments, wanted)
    parallel.on_root(
        solid.comm, lambda: _draw_film(path, _scene(parts, plane, shots, wanted), shots, pause, title)
    )


def _scene(parts: Parts, plane: Plane | None, shots: Sequence[Shot], wanted: Wanted) -> Scene:
    shape, gdim = wanted.shape, parts.gdim
    corners: NDArray = np.zeros((2, gdim))
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
    colors = Colors(*SHADES[wanted.shade], -top if wanted.shade.startswith("v_") else 0.0, top)
    return Scene(look, colors, Body(parts, plane), shots)


def _box(shots: Sequence[Shot], shape: Obstacle) -> NDArray:
    """Around what the body passes, and around an obstacle that is not much larger."""
    low = np.min([shot.points.min(axis=0) for shot in shots], axis=0)[: shape.gdim].astype(float)
    high = np.max([shot.points.max(axis=0) for shot in shots], axis=0)[: shape.gdim].astype(float)
    size = np.max(high - low)
    reach = size * (_FLAT if shape.flat else _ROUND)
    if not hasattr(shape, "bounds"):
        return np.array([low - reach, high + reach])
    bounds = np.array([shape.bounds(shot.t) for shot in shots])
    first, last = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    near = 0.02 * size
    below = np.where(np.isfinite(first), np.clip(low - first + near, near, size), reach)
    above = np.where(np.isfinite(last), np.clip(last - high + near, near, size), reach)
    return np.array([low - below, high + above])


def _columns(count: int, ratio: float) -> int:
    """Pictures in a row, so that the whole is neither tower nor ribbon and has few holes."""

    def ugly(columns: int) -> float:
        rows = -(-count // columns)
        return abs(np.log(columns * ratio / rows / 1.8)) + (rows * columns - count) / count

    return min(range(1, min(count, 4) + 1), key=ugly)


def _clock(shots: Sequence[Shot]) -> tuple[float, str, int]:
    """Factor and unit of the times, and digits that tell them apart."""
    times = np.array([shot.t for shot in shots])
    factor, second = unit(float(np.abs(times).max()), "s")
    steps = np.diff(np.unique(times)) * factor
    least = steps.min() if steps.size else 1.0
    return factor, second, int(np.clip(np.ceil(-np.log10(least)) + 1, 0, 6))


def _draw_strip(
    path: str | Path, scene: Scene, shots: Sequence[Shot], columns: int | None, title: str
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


def _draw_film(
    path: str | Path, scene: Scene, shots: Sequence[Shot], pause: float, title: str
) -> None:
    plt, (width, height) = pyplot(), scene.size
    above, beside = 46 if title else 26, 110
    whole = np.array([width + beside, height + above])
    figure = plt.figure(figsize=whole / 100, dpi=100)
    axes = figure.add_axes((0, 0, width / whole[0], height / whole[1]))
    bar = figure.add_axes((width / whole[0], 0.1, 18 / whole[0], 0.75))
    scene.add_colorbar(figure, levels=LEVELS, cax=bar)
    figure.text(8 / whole[0], 1 - 18 / whole[1], title, fontsize=11)
    clock = figure.text(8 / whole[0], 1 - (above - 8) / whole[1], "", fontsize=10, family="monospace")
    pictures: list[NDArray] = []
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
        clock.set_text(_said(shots, shot, pause))
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    plt.close(figure)
    write_film(path, pictures, scene.palette(), pause)


def _said(shots: Sequence[Shot], shot: Shot, pause: float) -> str:
    factor, second, digits = _clock(shots)
    said = f"{shot.title} t = {factor * shot.t:.{digits}f} {second}".strip()
    steps = np.diff([each.t for each in shots])
    mean = float(steps.mean())
    if mean > 0 and np.all(np.abs(steps - mean) < 0.2 * mean) and pause > 2 * mean:
        said += f"   {float(f'{pause / mean:.1g}'):,.0f} times slower"
    return said
