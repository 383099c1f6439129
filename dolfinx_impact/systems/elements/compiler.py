"""Compilation of generated C code for the processor; what is compiled is kept on disk."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cffi
from dolfinx import jit
from mpi4py import MPI

from ... import parallel
from ..forces.kernel_cache import cache_flags

#: Folders of this process, for machines whose cache cannot be written; removed at its end.
_own: list[tempfile.TemporaryDirectory[str]] = []


class NoCompiler(RuntimeError):
    """There is no C compiler that works."""


def compiled(source: str, flags: Sequence[str], comm: MPI.Comm, declarations: str) -> Any:
    """The functions of a source. Collective.

    Rank 0 compiles into DOLFINx's folder of compiled forms, unless the same code was compiled there before,
    with the same flags and compiler and for the same processor. Where that folder cannot be written, or is
    not seen from the machine of another rank, a rank compiles into a temporary one.

    Args:
        source: C source.
        flags: Flags of the compiler.
        comm: The ranks that use the code.
        declarations: C declarations of its functions.

    Raises:
        NoCompiler: No compiler, or a failure; on all ranks.
    """
    flags = cache_flags(flags, comm)
    path, error = "", None
    if comm.rank == 0:
        path, error = _tried(source, flags, Path(jit.get_options()["cache_dir"]))
    parallel.agree(comm, error)
    path = comm.bcast(path)
    if not path or not _loads(path, declarations):
        _own.append(tempfile.TemporaryDirectory(prefix="impact-"))
        path, error = _tried(source, flags, Path(_own[-1].name))
        if not path and error is None:
            error = NoCompiler("no folder can be written, not even a temporary one: set XDG_CACHE_HOME")
    parallel.agree(comm, error)
    return _loaded(path, declarations)


def address(array: Any, kind: str = "double *") -> Any:
    """Pointer to the first entry of an array, for calls."""
    interface = _interface("")
    if array.flags.c_contiguous:  # a quarter of the time
        return interface.from_buffer(kind, array)
    return interface.cast(kind, array.ctypes.data)


def record(declarations: str, kind: str) -> Any:
    """A new structure of a kind that the declarations of a source name, with zeros, for its functions."""
    return _interface(declarations).new(kind)


def _loads(path: str, declarations: str) -> bool:
    """Whether the file is there, and no remains of a full disk."""
    try:
        _loaded(path, declarations)
    except OSError:
        return False
    return True


@functools.cache
def _interface(declarations: str) -> Any:
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    return ffi


@functools.cache
def _loaded(path: str, declarations: str) -> Any:
    return _interface(declarations).dlopen(path)


def _tried(source: str, flags: Sequence[str], folder: Path) -> tuple[str, NoCompiler | None]:
    """Path of the compiled code, empty where the folder cannot be written, and the error of the compiler."""
    text = "\n".join([source, *flags, _version()])
    path = folder / f"impact_{hashlib.sha256(text.encode()).hexdigest()[:32]}.so"
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _build(source, flags, path)
    except OSError:
        return "", None
    except NoCompiler as caught:
        return "", caught
    return str(path), None


def _build(source: str, flags: Sequence[str], path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        code, made = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
        code.write_text(source, encoding="utf-8")
        whole = [*_command(), "-std=gnu11", "-shared", "-fPIC", *flags, str(code), "-o", str(made), "-lm"]
        try:
            done = subprocess.run(whole, capture_output=True, text=True, check=False)
        except OSError as caught:
            raise NoCompiler(f"the C compiler {whole[0]!r} cannot be run ({caught}): set CC") from None
        if done.returncode != 0:
            raise NoCompiler(f"the C compiler {whole[0]!r} failed: {done.stderr[-1000:]}")
        made.replace(path)


def _command() -> list[str]:
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


@functools.cache
def _version() -> str:
    """First line of what the compiler says of itself."""
    try:
        done = subprocess.run([*_command(), "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0]
