"""Files that are written whole: under another name first, then renamed."""

from __future__ import annotations

import glob
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

from mpi4py import MPI

from .. import parallel


def write_whole(path: str | Path, write: Callable[[Any], None]) -> None:
    """Call ``write`` on a temporary file and rename it to ``path``. Rank 0 writes; collective.

    Args:
        path: The file; its folder exists.
        write: Writes to an open binary file.

    Raises:
        OSError: On every rank, when the file cannot be written; an earlier one is intact.
    """

    def work() -> None:
        with whole_file(Path(path)) as file:
            write(file)

    parallel.on_root(MPI.COMM_WORLD, work)


@contextmanager
def whole_file(path: Path) -> Iterator[Any]:
    """A binary file that takes the place of ``path`` if the context ends well, else an earlier one stays."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """See to it that the new name outlives a loss of power."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError:  # some file systems have no such thing
        pass
    finally:
        os.close(number)


def refuse_unwritable(path: Path) -> None:
    """Raise an OSError on every rank unless rank 0 can write a file there; none is written. Collective.

    What a killed run has left of a file of this name is removed.
    """

    def look() -> None:
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

    parallel.on_root(MPI.COMM_WORLD, look)
