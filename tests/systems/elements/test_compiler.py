"""Compiled C code: kept, shared by ranks, and what happens where that is not possible."""

import pytest
from dolfinx import jit
from mpi4py import MPI

from dolfinx_impact.systems.elements import compiler

COMM = MPI.COMM_WORLD
SOURCE = "int answer(void) { return 42; }\n"
DECLARED = "int answer(void);"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder of compiled code, the same on all ranks."""
    folder = COMM.bcast(tmp_path) / "cache"
    monkeypatch.setitem(jit.DOLFINX_DEFAULT_JIT_OPTIONS, "cache_dir", (folder, ""))
    return folder


def answer():
    return compiler.compiled(SOURCE, ["-O1"], COMM, DECLARED).answer()


@pytest.mark.mpi
def test_one_rank_compiles_once(cache, monkeypatch):
    assert answer() == 42
    COMM.barrier()
    (made,) = cache.iterdir()
    assert made.name.startswith("impact_")
    monkeypatch.setenv("CC", "no-such-compiler")
    compiler._version.cache_clear()
    with pytest.raises(compiler.NoCompiler):
        answer()  # another compiler, other code
    monkeypatch.undo()
    compiler._version.cache_clear()


@pytest.mark.mpi
def test_other_flags_are_other_code(cache):
    for flags in (["-O1"], ["-O2"]):
        compiler.compiled(SOURCE, flags, COMM, DECLARED)
    COMM.barrier()
    assert len(list(cache.iterdir())) == 2


@pytest.mark.mpi
@pytest.mark.parametrize("command, why", [("no-such-compiler", "cannot be run"), ("false", "failed")])
def test_a_compiler_that_does_not_work_is_told_on_all_ranks(cache, command, why, monkeypatch):
    monkeypatch.setenv("CC", command)
    with pytest.raises(compiler.NoCompiler, match=f"C compiler '{command}' {why}"):
        answer()
    COMM.barrier()
    assert not list(cache.iterdir())


@pytest.mark.mpi
def test_without_a_folder_to_write_ranks_compile_for_themselves(cache):
    if COMM.rank == 0:
        cache.write_text("a file, where a folder should be")
    COMM.barrier()
    assert answer() == 42
    assert cache.is_file()


@pytest.mark.mpi
def test_a_broken_file_in_the_cache_is_not_the_end(cache):
    """As a full disk leaves it."""
    assert answer() == 42
    COMM.barrier()
    (made,) = cache.iterdir()
    compiler._loaded.cache_clear()
    COMM.barrier()
    if COMM.rank == 0:
        made.unlink()
        made.write_bytes(b"")
    COMM.barrier()
    assert answer() == 42


def test_a_command_of_several_words(cache, monkeypatch):
    monkeypatch.setenv("CC", f"env LC_ALL=C {compiler._command()[0]}")
    assert answer() == 42
