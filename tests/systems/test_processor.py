"""Compiled kernels are those of the processor, also from a cache that machines share."""

import pytest
import ufl
from dolfinx import fem, jit
from dolfinx import mesh as dmesh
from mpi4py import MPI

from dolfinx_impact.systems.forces import element_forms, kernel_cache

COMM = MPI.COMM_WORLD
FLAGS = ["-O3", "-march=native"]
#: As in /proc/cpuinfo of two processors.
OLD, NEW = "processor\t: 0\nflags\t\t: fpu sse2 avx2\n", "processor\t: 0\nflags\t\t: fpu sse2 avx2 avx512f\n"


@pytest.fixture(autouse=True)
def another_processor():
    """What a process knows of its processor is forgotten."""
    kernel_cache.features.cache_clear()
    yield
    kernel_cache.features.cache_clear()


def on(text, tmp_path, monkeypatch):
    """Be on the processor of which the system says this."""
    file = tmp_path / f"cpuinfo-{COMM.rank}"
    file.write_text(text)
    monkeypatch.setattr(kernel_cache, "_CPUINFO", file)
    kernel_cache.features.cache_clear()


def test_flags_name_the_processor(tmp_path, monkeypatch):
    found = []
    for text in (OLD, NEW, OLD):
        on(text, tmp_path, monkeypatch)
        found.append(kernel_cache.cache_flags(FLAGS, COMM))
    assert found[0] == found[2] != found[1]
    assert all(flags[:2] == FLAGS and len(flags) == 3 for flags in found)
    assert kernel_cache.cache_flags(["-O2"], COMM) == ["-O2"]


def test_where_the_system_says_nothing_the_machine_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_CPUINFO", tmp_path / "nothing")
    monkeypatch.setattr(kernel_cache.platform, "node", lambda: "one")
    assert kernel_cache.features().endswith(" one")
    one = kernel_cache.cache_flags(FLAGS, COMM)
    monkeypatch.setattr(kernel_cache.platform, "node", lambda: "two")
    kernel_cache.features.cache_clear()
    assert kernel_cache.cache_flags(FLAGS, COMM) != one


@pytest.mark.mpi
def test_a_job_on_different_processors_uses_what_all_have(tmp_path, monkeypatch):
    on(NEW if COMM.rank else OLD, tmp_path, monkeypatch)
    found = kernel_cache.cache_flags(FLAGS, COMM)
    assert found == (["-O3"] if COMM.size > 1 else [*FLAGS, found[-1]])


@pytest.mark.mpi
def test_another_processor_compiles_kernels_of_its_own(tmp_path, monkeypatch):
    """The same form, in one cache: one module for each processor, and the first again on the first."""
    cache = COMM.bcast(tmp_path) / "cache"
    monkeypatch.setitem(jit.DOLFINX_DEFAULT_JIT_OPTIONS, "cache_dir", (cache, ""))
    monkeypatch.setattr(element_forms, "FLAGS", ["-O0", "-march=native"])
    mesh = dmesh.create_unit_interval(COMM, 4)
    one = fem.Constant(mesh, 1.0) * ufl.dx
    kernels = []
    for text in (OLD, NEW, OLD):
        on(text, tmp_path, monkeypatch)
        kernels.append(element_forms.compile_form(one).module.__name__)
    assert kernels[0] == kernels[2] != kernels[1]
    COMM.barrier()
    assert len(list(cache.glob("*.c.cached"))) == 2
