"""Time series of finite element functions in files of any format, with collective handling of I/O errors."""

from __future__ import annotations

import os
import re
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dolfinx import fem

from .. import parallel
from .formats import FORMATS

#: File size of a sample in addition to its arrays [bytes].
_OVERHEAD = 2**18
#: Time for which a rank whose write failed waits for the others [s].
_TIMEOUT = 30.0


class FieldFile:
    """File of functions on a mesh in one of the :data:`FORMATS`, opened with its first sample.

    Args:
        path: The file, with the suffix of a format.
        functions: Functions of each sample, in one scalar element or its blocked vector element.
        anew: Replace an earlier file; otherwise ``drop-2.bp``, ... is written where ``drop.bp`` exists.

    Attributes:
        path: The file that is written.
        failed: Whether a sample could not be written; no further ones are written then.

    Raises:
        OSError: A folder that does not exist or is not writable. Collective.
    """

    def __init__(self, path: Path, functions: Sequence[fem.Function], *, anew: bool) -> None:
        space = functions[0].function_space
        mesh, index_map = space.mesh, space.dofmap.index_map
        self.failed, self._opened = False, False
        # Rank 0 writes replicated meshes (frames).
        self._comm = parallel.world() if mesh.comm.size == 1 else mesh.comm
        self._writes = mesh.comm.size > 1 or self._comm.rank == 0
        self.path = parallel.on_root(self._comm, lambda: path if anew else _next(path))
        self._inodes: dict[Path, int] = {}
        self._format = FORMATS[path.suffix](self.path, functions)
        points, cells = index_map.size_local + index_map.num_ghosts, space.dofmap.list
        components = sum(function.function_space.dofmap.bs for function in functions)
        sample, grid = points * (8 * components + 9), points * 24 + cells.shape[0] * 8 * (cells.shape[1] + 1)
        # Libraries write the mesh first, with arrays of their own; pieces have theirs, all of it as text.
        first, later = (sample + 2 * grid, sample) if self._format.grows else (4 * (sample + grid) // 3,) * 2
        self._sizes = {False: self._size(first), True: self._size(later)}
        self._check_space(self._sizes[False])
        parallel.on_root(self._comm, lambda: self._format.clear(self.path))

    def write(self, t: float) -> None:
        """Write the functions at time ``t`` [s]. Collective; an OSError on all ranks if that fails on one."""
        self._check_space(self._sizes[self._opened])
        if not self._opened:
            self._guarded(self._format.open)
        self._guarded(lambda: self._format.write(t))
        self._guarded(self._format.publish)
        self._opened = True
        self._inodes = parallel.on_root(self._comm, self._files)

    def close(self) -> None:
        """Complete the file. Collective."""
        if self._opened and not self.failed:
            self._check_space(None)
            self._guarded(self._format.close)
        self._opened, self._inodes = False, {}

    def _size(self, local: int) -> tuple[int, int]:
        """Bytes that a sample adds to the folder, and to the file of this rank. Collective."""
        total = int(parallel.total(self._comm, local)) + _OVERHEAD
        return total, total if self._format.grows else local + _OVERHEAD

    def _files(self) -> dict[Path, int]:
        """Written files with their inode numbers."""
        return {name: name.stat().st_ino for name in self._format.files() if name.exists()}

    def _check_space(self, sizes: tuple[int, int] | None) -> None:
        """Raise an OSError on all ranks without space for a sample or if files were replaced.

        The I/O libraries do not report failed writes, or only on one rank while others wait. Collective.
        """
        error = None
        try:
            if sizes is not None:
                self._refuse_limit(sizes[1])
            if self._comm.rank == 0:
                for file, inode in self._inodes.items():
                    if file.stat().st_ino != inode:
                        raise OSError(f"{file} is another file now")
                if sizes is not None:
                    _reserve(self.path, sizes[0])
        except OSError as reason:
            error = OSError(f"could not write {str(self.path)!r}: {_one_line(reason)}")
        self._agree(error)

    def _refuse_limit(self, size: int) -> None:
        """Raise an OSError where the file of this rank would be larger than files may be."""
        before = max([file.stat().st_size for file in self._inodes], default=0) if self._format.grows else 0
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit != resource.RLIM_INFINITY and before + size > limit:
            raise OSError(f"files may have {limit} bytes here, this one needs {before + size}")

    def _guarded(self, work: Callable[[], None]) -> None:
        """Call ``work``, which may fail on one rank while others wait inside of it. Collective."""
        error = None
        try:
            if self._writes:
                work()
        except Exception as reason:  # any exception of C++
            error = OSError(f"could not write {str(self.path)!r}: {_one_line(reason)}")
        barrier = self._comm.Ibarrier()
        deadline = time.monotonic() + _TIMEOUT
        while error is not None and not barrier.Test():
            if time.monotonic() > deadline:
                print(f"{error}; the other ranks wait for this one: the job is ended", flush=True)
                self._comm.Abort(1)
            time.sleep(0.01)
        barrier.Wait()
        self._agree(error)

    def _agree(self, error: OSError | None) -> None:
        try:
            parallel.agree(self._comm, error)
        except OSError:
            self.failed = True
            self._format.abandon()
            raise


def _reserve(path: Path, size: int) -> None:
    """Raise an OSError unless ``size`` bytes can be written in the folder of the file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.posix_fallocate(handle, 0, size)
    finally:
        os.close(handle)
        os.unlink(name)


def _next(path: Path) -> Path:
    """The first of ``drop.bp``, ``drop-2.bp``, ... that does not exist."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def _one_line(reason: Exception) -> str:
    """An error message in one line, without the colours and internal names of ADIOS2."""
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror + (f": {str(reason.filename)!r}" if reason.filename else "")
    line = re.sub(r"\x1b\[[0-9;]*m", "", " ".join(str(reason).split()))
    return re.sub(r"^\[.*?\] \[ADIOS2 EXCEPTION\] (<\w[^>]*> )*:? ?", "", line)
