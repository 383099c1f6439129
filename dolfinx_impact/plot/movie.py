"""Files of animations: GIF with one palette for all pictures, MP4 by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, IntArray
from ..output.atomic_file import whole_file
from .drawing import check_path

KINDS = (".gif", ".mp4")
#: Largest difference of colours that may be confused, of 255.
_NEAR = 6


def check_film(path: str | Path) -> None:
    """Raise if an animation cannot be written.

    Raises:
        ValueError: A name that does not end in .gif or .mp4.
        FileNotFoundError: The folder does not exist.
        RuntimeError: An MP4 without ffmpeg.
    """
    check_path(path, KINDS)
    if Path(path).suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise RuntimeError(
            f"{Path(path).name!r} needs the program ffmpeg, which is not found: install it, or write a .gif"
        )


def write_film(path: str | Path, pictures: Sequence[AnyArray], colors: ArrayLike, pause: float) -> None:
    """Write an animation atomically. On one rank.

    Args:
        path: File to write, .gif or .mp4.
        pictures: Pictures of equal shape (height, width, 3), 0 to 255.
        colors: Colours that a GIF must represent exactly, shape (n, 3), n up to 200, 0 to 255.
        pause: Time between two pictures [s]; in a GIF rounded to 0.01 s.

    Raises:
        RuntimeError: ffmpeg fails.
    """
    with whole_file(Path(path)) as file:
        if Path(path).suffix.lower() == ".mp4":
            _write_mp4(file, pictures, pause)
        else:
            _write_gif(file, pictures, np.asarray(colors, dtype=np.uint8), pause)


def _write_gif(file: Any, pictures: Sequence[AnyArray], colors: IntArray, pause: float) -> None:
    """Write all pictures with one palette and without dithering, so that static parts do not flicker."""
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette(pictures, colors).tobytes())
    frames = [Image.fromarray(p).quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    frames[0].save(
        file, format="GIF", save_all=True, append_images=frames[1:], duration=10 * round(100 * pause), loop=0
    )


def _palette(pictures: Sequence[AnyArray], colors: IntArray) -> AnyArray:
    """White, black, the exact colours, and colours quantised from the pictures, shape (256, 3)."""
    from PIL import Image

    fixed = np.unique(np.vstack([colors, [[0] * 3, [255] * 3]]).astype(np.uint8), axis=0)
    some = np.unique(np.linspace(0, len(pictures) - 1, 5).astype(int))
    mosaic = Image.fromarray(np.concatenate([pictures[i] for i in some]))
    rest = mosaic.quantize(256 - len(fixed), dither=Image.Dither.NONE).getpalette() or []
    others = np.array(rest, dtype=np.uint8).reshape(len(rest) // 3, 3)
    # Pillow looks up colours in cells: one next to an exact colour could replace it.
    distinct = np.abs(others[:, None].astype(int) - fixed).max(axis=2).min(axis=1) > _NEAR
    palette = np.vstack([fixed, others[distinct]])[:256]
    return np.vstack([palette, np.repeat(palette[:1], 256 - len(palette), axis=0)])


def _write_mp4(file: Any, pictures: Sequence[AnyArray], pause: float) -> None:
    height, width = pictures[0].shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        # ffmpeg seeks to the beginning at the end, so that it needs a file; yuv420p needs even sizes.
        target = Path(folder) / "film.mp4"
        command = [
            "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24",
            "-s", f"{width}x{height}", "-framerate", f"1000/{1000 * pause:.0f}", "-i", "-",
            "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-c:v", "libx264", "-crf", "18",
            "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(target),
        ]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stderr is not None
            try:
                for picture in pictures:
                    process.stdin.write(np.ascontiguousarray(picture, dtype=np.uint8).tobytes())
                process.stdin.close()
            except BrokenPipeError:  # the reason is on its error output
                pass
            message = process.stderr.read().decode(errors="replace").strip()
        if process.returncode != 0:
            raise RuntimeError(f"ffmpeg could not write the film: {message or process.returncode}")
        file.write(target.read_bytes())
