"""Kernels of forms in tests, where processes are ended at any moment."""

import contextlib
import fcntl
import os
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI
from support import form_kernels


def look_up(name, objects, folder, timeout):
    """FFCx: who finds no source writes one and compiles it; the others wait for the kernel."""
    try:
        (folder / f"{name}.c").open("x").close()
    except FileExistsError:
        raise TimeoutError(f"waited for {timeout} s") from None
    return None, None


def test_a_kernel_that_nobody_compiles_any_more_is_compiled_anew(tmp_path):
    find, source = form_kernels._kernels_once(look_up), tmp_path / "form.c"
    assert find("form", [], tmp_path, 600) == (None, None)
    with pytest.raises(TimeoutError, match="waited for 600 s"):
        find("form", [], tmp_path, 600)  # it is being compiled
    long_ago = time.time() - form_kernels.LOST
    os.utime(source, (long_ago, long_ago))
    assert find("form", [], tmp_path, 600) == (None, None)
    assert time.time() - source.stat().st_mtime < form_kernels.LOST


def test_a_kernel_is_found_by_its_name_once_it_is_compiled(tmp_path):
    source = tmp_path / "form.c"
    kernel = source.with_suffix(EXTENSION_SUFFIXES[0])
    kernel.touch()
    assert form_kernels._compiled(source) is None  # half of it may be there
    Path(f"{source}.cached").touch()
    assert form_kernels._compiled(source) == kernel
    kernel.unlink()
    assert form_kernels._compiled(source) is None


def test_a_spectrum_is_found_once_for_each_matrix_and_tolerance():
    asked = []

    def find(comm, apply, start, **options):
        asked.append(options)
        return len(asked)

    remembered, start = form_kernels._spectra_once(find), np.array([1.0, 2.0])

    def ask(factor, **options):
        return remembered(MPI.COMM_WORLD, lambda x, y: np.multiply(factor, x, out=y), start, **options)

    assert [ask(3.0, most=5), ask(3.0, most=5), ask(3.0, most=6), ask(3.0 + 1e-15, most=5)] == [1, 1, 2, 3]
    start *= 2.0
    assert ask(3.0, most=5) == 4


@pytest.mark.parametrize("kept", [None, "here"])
def test_a_loop_is_compiled_by_one_process_which_may_call_itself(kept, tmp_path):
    """While it does, another one would wait; what is kept nowhere is compiled by each."""
    free = []

    def is_free():
        with contextlib.ExitStack() as files:
            locks = [files.enter_context(path.open()) for path in tmp_path.glob("*.lock")]
            try:
                for lock in locks:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def compile_loop(dispatcher, signature):
        free.append(is_free())
        return once(dispatcher, signature - 1) if signature else "compiled"

    once = form_kernels._loops_once(compile_loop, tmp_path)
    loop = SimpleNamespace(py_func=is_free, _cache=SimpleNamespace(cache_path=kept))
    assert once(loop, 1) == "compiled"
    assert free == [not kept] * 2 and is_free()
