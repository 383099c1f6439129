"""Atomic writing of files: to a temporary file that is then renamed."""

from __future__ import annotations

import fcntl
import glob
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import parallel

#: The mask of a process is read by setting it: by one thread at a time.
_UMASK = threading.Lock()


def write_whole(path: str | Path, write: Callable[[Any], None]) -> None:
    """Write a file atomically. Rank 0 writes; collective.

    Args:
        path: The file, in an existing folder.
        write: Writes to an open binary file.

    Raises:
        OSError: On every rank, if the file cannot be written; an earlier file is intact.
    """

    def work() -> None:
        with whole_file(Path(path)) as file:
            write(file)

    parallel.on_root(parallel.world(), work)


@contextmanager
def whole_file(path: Path) -> Iterator[Any]:
    """A binary file that replaces ``path`` if the context ends without an error; else ``path`` is kept."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _UMASK:
            umask = os.umask(0)
            os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def locked(folder: Path, otherwise: str = "") -> Iterator[None]:
    """One process at a time in a folder: the others wait, or raise a ValueError with the text."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if otherwise else 0))
        except BlockingIOError:
            raise ValueError(otherwise) from None
        yield
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Flush the renamed entry of the folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # not supported by some file systems
        pass
    finally:
        os.close(descriptor)


def refuse_unwritable(path: Path) -> None:
    """Raise an OSError on every rank unless rank 0 can write the file; it is not written. Collective.

    Temporary files of this name that a killed process left are removed.
    """

    def check() -> None:
        if path.is_dir():
            raise IsADirectoryError(f"{str(path)!r} is a folder: give the name of a file")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"the folder of {str(path)!r} does not exist: make it")
        try:
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        except OSError as error:
            raise OSError(f"cannot write {str(path)!r}: {error.strerror}") from None
        os.close(handle)
        for left in path.parent.glob(f".{glob.escape(path.name)}.????????"):
            left.unlink(missing_ok=True)
        Path(temporary).unlink(missing_ok=True)

    parallel.on_root(parallel.world(), check)
