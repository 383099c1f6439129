"""Solids and their obstacles as moments beside one another, and as films."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import parallel
from ..contact import Contact
from ..obstacles import Obstacle
from ..output import whole_file
from ..solid import Solid
from .drawing import pyplot, save, unit
from .shots import SHADES, Moments, Parts, Wanted, check, gather, moments_of
from .solids import ARROW, Colors, Look, Scene, Shot, corners_of_box, view_from

#: Room around the body in which an endless obstacle is drawn by default, a flat one and others, over the
#: largest side of what the body passes.
_FLAT, _ROUND = 0.15, 0.6


def strip(
    path: str | Path, solid: Solid, snapshots: Moments, *, obstacle: Obstacle | None = None,
    contact: Contact | None = None, shade: str = "speed", top: float | None = None, magnify: float = 1.0,
    box: tuple[ArrayLike, ArrayLike] | None = None, eye: Sequence[float] = (0.3, -1.0, 0.35),
    cells: int = 140, columns: int | None = None, title: str = "",
) -> None:  # fmt: skip
    """Moments of a solid and its obstacle beside one another, as PNG, SVG or PDF. Rank 0 draws; collective.

    Drawn off the screen. True to scale but for ``magnify``; the arrows are the forces of contact as seen by
    the eye, also where something hides the point. Obstacles are seen from their free side alone.

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
        cells: Cells along the longest side of the box of the grid on which the obstacle is looked for.
        columns: Pictures in a row; by default up to four, one of long bodies.
        title: First line of the picture.

    Raises:
        ValueError: No moments, arrays of other shapes, forces without a contact, an unknown shade, a bad
            box, an eye above or without direction, a name that does not end in .png, .svg or .pdf.
        FileNotFoundError: The folder does not exist.
        ImportError: When matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    moments = moments_of(snapshots)
    wanted = Wanted(obstacle, contact, shade, top, magnify, box, eye, cells)
    numbers = {} if columns is None else {"columns": columns}
    check(path, (".png", ".svg", ".pdf"), solid, moments, wanted, numbers)
    skin, shots = gather(solid, moments, wanted)
    parallel.on_root(
        solid.comm, lambda: _draw_strip(path, _scene(skin, shots, wanted), shots, columns, title)
    )


def animate(
    path: str | Path, solid: Solid, snapshots: Moments, *, obstacle: Obstacle | None = None,
    contact: Contact | None = None, shade: str = "speed", top: float | None = None, magnify: float = 1.0,
    box: tuple[ArrayLike, ArrayLike] | None = None, eye: Sequence[float] = (0.3, -1.0, 0.35),
    cells: int = 80, frames: int = 100, pause: float = 0.06, title: str = "",
) -> None:  # fmt: skip
    """A film of a solid and its obstacle, as GIF. Rank 0 draws; collective.

    Drawn off the screen, with one camera and one scale of colours for the whole film. See :func:`strip`.

    Args:
        path: File to write.
        solid, snapshots, obstacle, contact, shade, top, magnify, box, eye, cells: See :func:`strip`.
        frames: Most pictures; of more moments so many are taken, evenly.
        pause: Time between two pictures [s], rounded to 0.01 s as GIF has it.
        title: First line of the pictures.

    Raises:
        ValueError: Fewer than two moments; a pause below 0.02 s; see :func:`strip`; a name that does not end
            in .gif.
        FileNotFoundError: The folder does not exist.
        ImportError: When matplotlib or pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    moments = moments_of(snapshots)
    wanted = Wanted(obstacle, contact, shade, top, magnify, box, eye, cells)
    check(path, (".gif",), solid, moments, wanted, {"frames": frames}, pause)
    if len(moments) > frames:
        moments = [moments[i] for i in np.rint(np.linspace(0, len(moments) - 1, int(frames))).astype(int)]
    skin, shots = gather(solid, moments, wanted)
    parallel.on_root(solid.comm, lambda: _draw_film(path, _scene(skin, shots, wanted), shots, pause, title))


def _scene(body: Parts, shots: Sequence[Shot], wanted: Wanted) -> Scene:
    shape, gdim = wanted.shape, body.gdim
    corners: NDArray = np.zeros((2, gdim))
    away = 0.0
    if shape is not None:
        corners = _box(shots, shape) if wanted.box is None else corners_of_box(gdim, *wanted.box)
        if wanted.magnify != 1.0:
            away = (wanted.magnify - 1.0) * float(shape.gap(body.x[:, :gdim].astype(float)).min())
    look = Look(
        view_from(gdim, wanted.eye), body.names, shape, corners, int(wanted.cells), away, wanted.magnify
    )
    largest = max(float(np.abs(shot.values).max(initial=0.0)) for shot in shots)
    top = wanted.top if wanted.top is not None else (largest if largest > 0 else 1.0)
    colors = Colors(*SHADES[wanted.shade], -top if wanted.shade.startswith("v_") else 0.0, top)
    return Scene(look, colors, body.pieces, shots)


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
    for axes, image, shot in zip(grid.flat, scene.images(), shots):
        scene.show(axes, image)
        axes.set_title(f"{shot.title}  t = {factor * shot.t:.{digits}f} {second}".strip(), fontsize=12)
        scene.add_forces(axes, shot)
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
    scene.add_colorbar(figure, cax=bar)
    figure.text(8 / whole[0], 1 - 18 / whole[1], title, fontsize=11)
    clock = figure.text(8 / whole[0], 1 - (above - 8) / whole[1], "", fontsize=10, family="monospace")
    pictures: list[NDArray] = []
    arrows: list[Any] = []
    shown = None
    for image, shot in zip(scene.images(sharp=1), shots):
        if shown is None:
            shown = scene.show(axes, image)
            scene.add_scale(axes)
        shown.set_data(image)
        for each in arrows:
            each.remove()
        arrows = scene.add_forces(axes, shot)
        clock.set_text(_said(shots, shot, pause))
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    plt.close(figure)
    with whole_file(Path(path)) as file:
        _write_gif(file, pictures, scene.shades(), pause)


def _said(shots: Sequence[Shot], shot: Shot, pause: float) -> str:
    factor, second, digits = _clock(shots)
    said = f"{shot.title} t = {factor * shot.t:.{digits}f} {second}".strip()
    steps = np.diff([each.t for each in shots])
    mean = float(steps.mean())
    if mean > 0 and np.all(np.abs(steps - mean) < 0.2 * mean) and pause > 2 * mean:
        said += f"   {float(f'{pause / mean:.1g}'):,.0f} times slower"
    return said


def _write_gif(file: Any, pictures: Sequence[NDArray], shades: NDArray, pause: float) -> None:
    """Pictures in the same 256 colours, so that what does not move does not flicker."""
    from PIL import Image, ImageColor

    some = [pictures[i] for i in np.unique(np.linspace(0, len(pictures) - 1, 5).astype(int))]
    # Few pixels may have these colours, but they matter.
    rare: list[NDArray] = [np.full((24, 256, 3), ImageColor.getrgb(c), np.uint8) for c in (ARROW, "#262626")]
    rare.append(np.repeat((255 * shades).astype(np.uint8), 40, axis=0))
    width = pictures[0].shape[1]
    rows = [np.concatenate([part] * (width // 256 + 1), axis=1)[:, :width] for part in rare]
    palette = Image.fromarray(np.concatenate([*some, *rows])).quantize(256, dither=Image.Dither.NONE)
    colors = np.array(palette.getpalette()).reshape(-1, 3)
    colors[colors.sum(axis=1).argmax()] = 255  # white is white
    palette.putpalette([int(part) for part in colors.ravel()])
    frames = [Image.fromarray(p).quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    frames[0].save(
        file, format="GIF", save_all=True, append_images=frames[1:], duration=10 * round(100 * pause), loop=0
    )
