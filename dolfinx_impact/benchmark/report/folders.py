"""Where a report is made, and how it comes to the place where it is read."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mpi4py import MPI

from ... import parallel
from .. import runner
from ..claims import FIGURES

_REPORT = ("report.json", "report.html")
_FIGURES = [f"{figure.id}{ending}" for figure in FIGURES for ending in (".png", ".svg")]


def prepare(folder: Path) -> None:
    """Make the output folder, or raise a ValueError where no report can be written. Collective."""
    if not folder.name:
        raise ValueError("the report needs a folder with a name")
    runner.prepare_folder(folder)
    names = (*_REPORT, *_FIGURES)
    if taken := parallel.on_root(MPI.COMM_WORLD, lambda: [n for n in names if (folder / n).is_dir()]):
        raise ValueError(f"cannot write in {str(folder)!r}: {taken[0]} there is a folder")


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder that is gone at the end; those that killed processes left behind go first."""
    prefix = _swept(Path(tempfile.gettempdir()), "dolfinx_impact")
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        yield Path(name)


def publish(report: dict[str, Any], html: str, figures: Path, folder: Path) -> int:
    """Write beside its place, then rename it into place; returns the number of ``figures``, older ones go."""
    text = json.dumps(report, indent=1, allow_nan=False)
    staging = Path(tempfile.mkdtemp(dir=folder, prefix=_swept(folder, ".report")))
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
    for name in set(_FIGURES).difference(new):
        (folder / name).unlink(missing_ok=True)
    return len({Path(name).stem for name in new if name not in _REPORT})


def _swept(place: Path, name: str) -> str:
    """The start of this process's names; removes folders of killed ones of this user on this machine."""
    start = f"{name}-{socket.gethostname()}-"
    for entry in os.scandir(place):
        number = entry.name.removeprefix(start).partition("-")[0]
        if not entry.name.startswith(start) or not number.isdecimal() or Path("/proc", number).exists():
            continue
        with suppress(OSError):  # another process has swept it
            if entry.is_dir(follow_symlinks=False) and entry.stat().st_uid == os.getuid():
                shutil.rmtree(entry.path, ignore_errors=True)
    return f"{start}{os.getpid()}-"
