"""The history of a stored run in a file beside its checkpoint, to which each checkpoint appends its samples.

``run.npz`` has ``run.npz.history``: a line of text with a number that no other file has, then samples, rows
of float64 one after another, with the columns that ``columns`` of the checkpoint's ``about`` counts by name,
in this order. The checkpoint knows that number, how many samples and bytes belong to it, and
the CRC-32 of these. What lies beyond them, of a run that was killed before its next checkpoint, is not read,
and cut off when the resumed run writes. A file that is begun anew is called ``run.npz.history.new`` until its
checkpoint is written, so that an earlier checkpoint keeps its own.
"""

from __future__ import annotations

import json
import os
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from .atomic_file import sync_folder

_SIGN = "dolfinx_impact history "
_HEADER = len(_SIGN) + 33
_PIECE = 1 << 24


class Stamp(NamedTuple):
    """What a checkpoint knows of its history.

    Attributes:
        id: Number of the file, hexadecimal.
        samples: Number of its samples that belong to the checkpoint.
        bytes: Length of the file up to them.
        crc: CRC-32 of the samples.
    """

    id: str
    samples: int
    bytes: int
    crc: int


def beside(checkpoint: Path) -> Path:
    """The history file of a checkpoint."""
    return checkpoint.with_name(f"{checkpoint.name}.history")


def _begun(checkpoint: Path) -> Path:
    """The history file of a checkpoint that is not written yet."""
    return checkpoint.with_name(f"{checkpoint.name}.history.new")


def read(checkpoint: Path, stamp: Stamp) -> FloatArray:
    """The samples that belong to a checkpoint, shape (samples, columns).

    Raises:
        FileNotFoundError: There is no history file.
        ValueError: That of another run, or one that is shorter or another one than it was.
    """
    file, problem = _find(checkpoint, stamp)
    if problem:
        kind = ValueError if beside(checkpoint).is_file() else FileNotFoundError
        raise kind(
            f"{str(checkpoint)!r} does not go on without its history: {str(beside(checkpoint))!r} {problem}; "
            "bring back the one that was written with it, or go on from the state alone, by "
            "checkpoint.load(path, scheme) and a run without restart"
        )
    rows: FloatArray = np.fromfile(file, offset=_HEADER, count=(stamp.bytes - _HEADER) // 8)
    return rows.reshape(stamp.samples, -1)


def remove(checkpoint: Path) -> None:
    """Remove the history files of an earlier checkpoint."""
    for path in (beside(checkpoint), _begun(checkpoint)):
        if path.is_file() and _id_of(path) is not None:
            path.unlink()


def _find(checkpoint: Path, stamp: Stamp) -> tuple[Path, str]:
    """The file with the samples, or what is wrong with the one beside the checkpoint."""
    path = beside(checkpoint)
    problem = _problem(path, stamp)
    if problem and not _problem(_begun(checkpoint), stamp):
        return _begun(checkpoint), ""
    return path, problem


def _problem(path: Path, stamp: Stamp) -> str:
    """In words why a file does not have the samples of a checkpoint; empty if it has them."""
    if not path.is_file():
        return "does not exist"
    found, size = _id_of(path), path.stat().st_size
    if found is None:
        return "is no history of a run"
    if found != stamp.id:
        return "is that of another run"
    if size < stamp.bytes:
        return f"is damaged: it has {size} bytes, not the {stamp.bytes} of {stamp.samples} samples"
    crc, left = 0, stamp.bytes - _HEADER
    with open(path, "rb") as file:
        file.seek(_HEADER)
        while left > 0:
            piece = file.read(min(_PIECE, left))
            crc, left = zlib.crc32(piece, crc), left - len(piece)
    return "" if crc == stamp.crc else "is damaged: its samples are not those that were written"


def _id_of(path: Path) -> str | None:
    """The number of a history file, None for another file."""
    with open(path, "rb") as file:
        line = file.read(_HEADER).decode("ascii", "replace")
    return line[len(_SIGN) : -1] if line.startswith(_SIGN) and line.endswith("\n") else None


def _stamp_of(checkpoint: Path) -> Stamp | None:
    """The stamp in a checkpoint, None without one."""
    try:
        with np.load(checkpoint, allow_pickle=False) as archive:
            stamp = json.loads(str(archive["about"])).get("history")
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return None if stamp is None else Stamp(**stamp)


def _give_name(checkpoint: Path) -> None:
    """Give a new file its name where a run was killed after its checkpoint and before that."""
    begun, stamp = _begun(checkpoint), _stamp_of(checkpoint)
    if stamp is not None and begun.is_file() and _id_of(begun) == stamp.id:
        begun.replace(beside(checkpoint))


class HistoryFile:
    """The history file that a run writes beside its checkpoint. For rank 0.

    Args:
        checkpoint: The checkpoint.
    """

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint, self._path = checkpoint, beside(checkpoint)
        self._stamp = Stamp("", 0, 0, 0)

    def take_over(self, stamp: Mapping[str, Any] | None) -> int:
        """Go on with the file that a resumed run has read, if it is still there.

        Args:
            stamp: That of the resumed checkpoint, None without one.

        Returns:
            The number of samples that need not be written; 0 where there is no such file.
        """
        if stamp is None:
            return 0
        self._stamp = Stamp(**stamp)
        _give_name(self._checkpoint)
        self._path, problem = _find(self._checkpoint, self._stamp)
        there = _stamp_of(self._checkpoint)
        # The resumed checkpoint may be an earlier one than that in whose file the samples go on.
        needed = there is not None and there.id == self._stamp.id and there.samples > self._stamp.samples
        return 0 if problem or needed else self._stamp.samples

    def intact(self) -> bool:
        """Whether the file still has the samples so far: no other run or user has changed it."""
        found = self._path.is_file() and _id_of(self._path) == self._stamp.id
        return found and self._path.stat().st_size >= self._stamp.bytes

    @contextmanager
    def appended(self, rows: Callable[[], FloatArray] | None, anew: bool) -> Iterator[Stamp | None]:
        """Context in which the checkpoint is written, after its samples are on the disk.

        Args:
            rows: Makes the samples since the last checkpoint, shape (n, columns); None for none at all.
            anew: Whether the file begins with them.
        """
        try:
            if anew:
                self._begin()
            yield None if rows is None else self._append(rows())
        except BaseException:
            if anew:
                self._path.unlink(missing_ok=True)
            raise
        if rows is None:
            remove(self._checkpoint)
        else:
            self._settle()

    def _append(self, rows: FloatArray) -> Stamp:
        """Write further samples, and flush them to the disk."""
        data = np.ascontiguousarray(rows).reshape(-1).view(np.uint8)
        with open(self._path, "r+b") as file:
            file.truncate(self._stamp.bytes)
            file.seek(self._stamp.bytes)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        id, samples, size, crc = self._stamp
        self._stamp = Stamp(id, samples + len(rows), size + data.nbytes, zlib.crc32(data, crc))
        return self._stamp

    def _begin(self) -> None:
        """Begin a new file, beside one that an earlier checkpoint may need."""
        _give_name(self._checkpoint)
        self._path, id = _begun(self._checkpoint), uuid.uuid4().hex
        self._path.write_bytes(f"{_SIGN}{id}\n".encode("ascii"))
        sync_folder(self._path.parent)
        self._stamp = Stamp(id, 0, _HEADER, 0)

    def _settle(self) -> None:
        """Give the file its name, after the checkpoint is written that needs it."""
        if self._path != beside(self._checkpoint):
            self._path = self._path.replace(beside(self._checkpoint))
        else:
            _begun(self._checkpoint).unlink(missing_ok=True)
