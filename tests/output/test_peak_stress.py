"""The largest stress, its time and its place, among uniform fields that follow each other."""

from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD
E = 2e6


@pytest.fixture
def bar():
    """Five cells without lateral contraction: a stretch s of a cell gives the stress E s."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.1]], [5, 1], dmesh.CellType.quadrilateral)
    return di.Solid(mesh, density=1000.0, law=di.LinearElastic(E, 0.0), hypothesis="plane-stress")


def at(solid, t, stretch):
    """The bar at a time, with stretches that fall linearly from its left end."""
    x = solid.x[:, 0]
    u = np.zeros((x.size, 2))
    u[:, 0] = stretch * (x - x**2 / 2)
    return SimpleNamespace(t=t, u=u.ravel())


def test_the_largest_of_all_steps(bar):
    """Of the first cell, whose mean stretch is 0.9 of that at the end."""
    x = bar.x[: bar.owned // 2, 0]
    peak = di.PeakStress(bar, {"body": None, "right": np.flatnonzero(x > 0.5), "nowhere": np.zeros(0, int)})
    for t, stretch in ((0.0, 1e-4), (0.1, 3e-4), (0.2, -2e-4)):
        peak(at(bar, t, stretch))
    peaks = peak.peaks()
    assert list(peaks) == ["body", "right", "nowhere"]
    assert peaks["body"].stress == pytest.approx(E * 3e-4 * 0.9, rel=1e-9)
    assert peaks["body"].t == 0.1 and peaks["body"].x[0] == pytest.approx(0.0, abs=1e-12)
    # The node at 0.6 has the mean of its cells, 0.5 and 0.3 of the stretch.
    assert peaks["right"].stress == pytest.approx(E * 3e-4 * 0.4, rel=1e-9)
    assert peaks["right"].x[0] == pytest.approx(0.6, rel=1e-12)
    assert peaks["nowhere"].stress == 0.0


def test_it_looks_every_so_many_steps(bar):
    peak = di.PeakStress(bar, every=2)
    for n, stretch in enumerate((5e-4, 1e-4, 9e-4, 2e-4, 7e-4), start=1):
        peak(at(bar, float(n), stretch))
    (only,) = peak.peaks().values()
    assert (only.t, only.stress) == (4.0, pytest.approx(E * 2e-4 * 0.9, rel=1e-9))
    with pytest.raises(ValueError, match="every must be a whole number from 1 on, but is 0"):
        di.PeakStress(bar, every=0)


def test_a_restored_state_goes_on(bar):
    """The count of steps too; on all ranks the peak is that of all."""
    first, second = di.PeakStress(bar, every=2), di.PeakStress(bar, every=2)
    for n in (1, 2, 3):
        first(at(bar, float(n), 1e-4 * n))
    second.resume(first.state())
    before = first.peaks()["body"]
    assert second.peaks()["body"].stress == before.stress > 0 and second.peaks()["body"].t == 2.0
    second(at(bar, 4.0, 6e-4))
    assert second.peaks()["body"].t == 4.0


def test_bodies_without_stress_are_refused():
    frame = di.RigidBody.disc(1.0, 1.0)
    with pytest.raises(ValueError, match="the stress is that of a Solid"):
        di.PeakStress(frame)
