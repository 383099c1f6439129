"""Where a report is made, and how it comes to the place where it is read."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mpi4py import MPI

from ... import parallel
from .. import runner
from ..claims import FIGURES

_REPORT = ("report.json", "report.html")


def prepare(folder: Path) -> None:
    """Make the output folder and see that the report can be written there. Collective.

    Raises:
        ValueError: When it cannot.
    """
    if not folder.name:
        raise ValueError("the report needs a folder with a name")
    runner.prepare_folder(folder)
    names = (*_REPORT, *_figure_files())
    in_the_way = parallel.on_root(MPI.COMM_WORLD, lambda: [n for n in names if (folder / n).is_dir()])
    if in_the_way:
        raise ValueError(f"cannot write in {str(folder)!r}: {in_the_way[0]} there is a folder")


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder that is gone at the end; those that killed processes left behind go first."""
    everywhere = Path(tempfile.gettempdir())
    _sweep(everywhere, "dolfinx_impact")
    with tempfile.TemporaryDirectory(
        prefix=_prefix("dolfinx_impact"), dir=everywhere, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def publish(report: dict[str, Any], html: str, figures: Path, folder: Path) -> int:
    """Write everything beside its place, then rename it into place.

    Args:
        report: What ``report.json`` is to hold.
        html: What ``report.html`` is to hold.
        figures: The folder of the figures that were drawn; older ones in ``folder`` are removed.
        folder: The output folder.

    Returns:
        The number of figures.
    """
    text = json.dumps(report, indent=1, allow_nan=False)
    _sweep(folder, ".report")
    staging = Path(tempfile.mkdtemp(dir=folder, prefix=_prefix(".report")))
    try:
        for file in figures.iterdir():
            shutil.copy(file, staging)
        for name, content in zip(_REPORT, (text, html)):
            (staging / name).write_text(content, encoding="utf-8", errors="backslashreplace")
        new = sorted(file.name for file in staging.iterdir())
        for name in new:
            os.replace(staging / name, folder / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    _remove_stale(folder, new)
    return len({Path(name).stem for name in new if name not in _REPORT})


def _figure_files() -> list[str]:
    return [f"{figure.id}{ending}" for figure in FIGURES for ending in (".png", ".svg")]


def _remove_stale(folder: Path, new: Collection[str]) -> None:
    for name in _figure_files():
        if name not in new:
            (folder / name).unlink(missing_ok=True)


def _prefix(name: str) -> str:
    """Says whose a folder is; machines may share the place."""
    return f"{name}-{socket.gethostname()}-{os.getpid()}-"


def _sweep(place: Path, name: str) -> None:
    """Remove the folders that processes of this user on this machine left when they were killed."""
    start = f"{name}-{socket.gethostname()}-"
    for entry in os.scandir(place):
        number = entry.name.removeprefix(start).partition("-")[0]
        if not entry.name.startswith(start) or not number.isdecimal() or _runs(int(number)):
            continue
        try:
            mine = entry.is_dir(follow_symlinks=False) and entry.stat().st_uid == os.getuid()
        except OSError:
            continue  # another process has swept it
        if mine:
            shutil.rmtree(entry.path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
