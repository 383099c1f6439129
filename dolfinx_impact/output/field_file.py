"""Time series of finite element functions in VTX and XDMF files, with collective handling of I/O errors."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dolfinx import fem, io
from mpi4py import MPI

from .. import parallel

#: File size of a sample in addition to its arrays [bytes].
_OVERHEAD = 2**18
#: Time for which a rank whose write failed waits for the others [s].
_TIMEOUT = 30.0


class FieldFile:
    """File of functions on a mesh for ParaView, opened with its first sample.

    Args:
        path: The file, ``.bp`` or ``.xdmf``.
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
        self._functions, self._mesh, self.failed = list(functions), mesh, False
        # Rank 0 writes replicated meshes (frames).
        self._comm = MPI.COMM_WORLD if mesh.comm.size == 1 else mesh.comm
        self._writes = mesh.comm.size > 1 or self._comm.rank == 0
        points, cells = index_map.size_local + index_map.num_ghosts, space.dofmap.list
        components = sum(function.function_space.dofmap.bs for function in functions)
        sizes = points * (8 * components + 9), points * 24 + cells.shape[0] * 8 * (cells.shape[1] + 1)
        sample, grid = (int(parallel.total(self._comm, size)) for size in sizes)
        self._sample_size, self._mesh_size = sample + _OVERHEAD, 2 * grid
        self.path = parallel.on_root(self._comm, lambda: path if anew else _next(path))
        self._writer: Any = None
        self._inodes: dict[Path, int] = {}
        self._check_space(self._sample_size + self._mesh_size)
        parallel.on_root(self._comm, lambda: _clear(self.path))

    def write(self, t: float) -> None:
        """Write the functions at time ``t`` [s]. Collective; an OSError on all ranks if that fails on one."""
        self._check_space(self._sample_size + (0 if self._inodes else self._mesh_size))
        if not self._inodes:
            self._guarded(self._open)
        self._guarded(lambda: self._write(t))
        if not self._inodes:
            self._inodes = parallel.on_root(self._comm, self._files)

    def close(self) -> None:
        """Complete the file. Collective."""
        if self._inodes and not self.failed:
            self._check_space(0)
            self._guarded(lambda: self._writer.close())
        self._writer, self._inodes = None, {}

    def _open(self) -> None:
        if self.path.suffix == ".bp":
            self._writer = io.VTXWriter(
                self._mesh.comm, self.path, self._functions, engine="BP4", mesh_policy=io.VTXMeshPolicy.reuse
            )
        else:
            self._writer = io.XDMFFile(self._mesh.comm, self.path, "w")
            self._writer.write_mesh(self._mesh)

    def _write(self, t: float) -> None:
        if self.path.suffix == ".bp":
            self._writer.write(t)
        else:
            for function in self._functions:
                self._writer.write_function(function, t)

    def _files(self) -> dict[Path, int]:
        """Written files with their inode numbers."""
        names = [self.path, self.path.with_suffix(".h5")]
        if self.path.suffix == ".bp":
            names = [self.path / name for name in ("data.0", "md.0", "md.idx")]
        return {name: name.stat().st_ino for name in names if name.exists()}

    def _check_space(self, size: int) -> None:
        """Raise an OSError on all ranks without space for ``size`` bytes or if files were replaced.

        The I/O libraries do not report failed writes, or only on one rank while others wait. Collective.
        """
        error = None
        try:
            largest = max([file.stat().st_size for file in self._inodes], default=0)
            limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
            if size and limit != resource.RLIM_INFINITY and largest + size > limit:
                raise OSError(f"files may have {limit} bytes here, this one needs {largest + size}")
            if self._comm.rank == 0:
                for file, inode in self._inodes.items():
                    if file.stat().st_ino != inode:
                        raise OSError(f"{file} is another file now")
                if size:
                    _reserve(self.path, size)
        except OSError as reason:
            error = OSError(f"could not write {str(self.path)!r}: {_one_line(reason)}")
        self._agree(error)

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
            if self._writer is not None:
                _abandon(self._writer)
            self._writer = None
            raise


def _abandon(writer: Any) -> None:
    """Leak a writer that cannot be closed: its destructor would terminate the process."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(getattr(writer, "_cpp_object", writer)))


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


def _clear(path: Path) -> None:
    """Remove an earlier file of this format; an OSError for anything else of this name."""
    if path.suffix == ".bp" and path.is_dir():
        names = [file.name for file in path.iterdir()]
        others = [name for name in names if not re.match(r"(data|md|mmd|profiling)\.", name)]
        if others:
            raise OSError(f"could not write {str(path)!r}: it is a folder of other files, with {others[0]!r}")
        shutil.rmtree(path)
    elif path.is_dir() or (path.exists() and path.suffix == ".bp"):
        raise OSError(f"could not write {str(path)!r}: there is something else of this name")


def _one_line(reason: Exception) -> str:
    """An error message in one line, without the colours and internal names of ADIOS2."""
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror + (f": {str(reason.filename)!r}" if reason.filename else "")
    line = re.sub(r"\x1b\[[0-9;]*m", "", " ".join(str(reason).split()))
    return re.sub(r"^\[.*?\] \[ADIOS2 EXCEPTION\] (<\w[^>]*> )*:? ?", "", line)
