"""The yardstick of penetrations: approach of closed points in a step."""

from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI

from dolfinx_impact.simulation.depth import Depth


def depth_of(gaps, chunk):
    """Depth of one history of gaps, in parts of so many steps."""
    depth, gaps = Depth(), np.array(gaps, dtype=float).T
    for first in range(0, len(gaps), chunk):
        part = gaps[first : first + chunk]
        depth.follow(SimpleNamespace(gap=part, count=len(part), fine={}), first == 0)
    return depth


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
@pytest.mark.parametrize(
    "gaps, approach",
    [
        ([0.9, 0.5, 0.1, -0.3, -0.3], 0.4),  # it closes at 0.4 a step
        ([50.7, 50.3, 39.0, 38.6], 0.0),  # open, it meets another facet
        ([39.4, 39.0, -0.1, -0.1, -0.2], 0.4),  # and closes there
        ([np.inf, np.inf, -0.3, -0.35], 0.3),  # nothing was opposite
        ([-1.0, -1.2, -1.2, -1.3], 0.2),  # it sinks in
        ([0.1, -0.05, 0.2, 0.1, -0.1], 0.15),
    ],
)
def test_approach_is_that_of_closed_points(gaps, approach, chunk):
    others = np.full((2, len(gaps)), [[np.inf], [3.0]])
    depth = depth_of([gaps, *others], chunk)
    assert depth.approach == pytest.approx(approach, abs=1e-12)
    assert depth.penetration == max(0.0, -min(gaps))


def warnings_of(gap, steps, chunk, size=1.0):
    depth = Depth(np.full(2, size))
    gaps = np.column_stack([gap(np.arange(steps)), np.ones(steps)])
    for first in range(0, steps, chunk):
        part = gaps[first : first + chunk]
        depth.follow(SimpleNamespace(gap=part, count=len(part), fine={}), first == 0)
    return depth.warnings(MPI.COMM_SELF)


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_points_that_stay_deep_or_sink_for_long(chunk):
    """A tenth of the facet, more than 100 steps."""
    (text,) = warnings_of(lambda n: np.where(n < 5, 1.0, -0.15), 106, chunk)
    assert "for more than 100 steps" in text and "up to 0.15 of the size of a facet deep" in text
    assert warnings_of(lambda n: np.where(n < 5, 1.0, -0.15), 105, chunk) == []
    assert warnings_of(lambda n: np.where(n < 5, 1.0, -0.09), 300, chunk) == []
    assert warnings_of(lambda n: np.where(n % 50 == 0, 0.1, -0.15), 300, chunk) == []
    (text,) = warnings_of(lambda n: np.where(n == 5, -0.6, 1.0), 20, chunk)
    assert "get up to 0.6 of the size of a facet deep" in text and "smaller time step" in text
    assert warnings_of(lambda n: np.where(n < 50, -0.6, 1.0), 60, chunk) == []  # as it was at the start
    (text,) = warnings_of(lambda n: -1e-4 * n, 150, chunk)
    assert "closed contact points sink deeper over 149 steps, up to 0.015" in text
    assert warnings_of(lambda n: -1e-4 * np.minimum(n, 100), 150, chunk) == []
    assert warnings_of(lambda n: -1e-15 * n, 500, chunk) == []
