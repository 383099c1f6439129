"""Tests of the benchmark make many short runs: what a compiled loop takes to load is worth it sooner."""

import pytest

from dolfinx_impact.simulation import loop


@pytest.fixture(scope="module", autouse=True)
def compiled_sooner():
    """Runs of 100 steps on use a compiled loop, which gives the results of single steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_MANY_STEPS", 100)
        yield
