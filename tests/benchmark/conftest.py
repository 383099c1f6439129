"""Tests of the benchmark make many short runs, and read those that they share again and again."""

import functools
from types import SimpleNamespace

import pytest

from dolfinx_impact import Result
from dolfinx_impact.benchmark import runs
from dolfinx_impact.simulation import loop


@pytest.fixture(scope="module", autouse=True)
def compiled_sooner():
    """Runs of 100 steps on use a compiled loop, which gives the results of single steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_MANY_STEPS", 100)
        yield


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """Histories of shared runs are read from their files once, and nobody changes them."""

    def load(path):
        about = path.stat()
        return read(path, about.st_mtime_ns, about.st_size)

    @functools.lru_cache(maxsize=128)
    def read(path, *_):
        history = Result.load(path)
        for name in history:
            history[name].flags.writeable = False
        return history

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "Result", SimpleNamespace(load=load))
        yield
