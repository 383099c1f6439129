"""What remains of a deformation that vibrates while the body turns and flies."""

from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD


@pytest.fixture
def plate():
    mesh = dmesh.create_rectangle(COMM, [[-1.0, -0.5], [1.0, 0.5]], [4, 2], dmesh.CellType.quadrilateral)
    return di.Solid(mesh, density=1.0, law=di.NeoHookean(1e6, 0.3))


def at(solid, t, stretch):
    """The plate at a time: stretched along itself, turned by 3 t and shifted by 10 t."""
    x = solid.x[:, :2]
    c, s = np.cos(3 * t), np.sin(3 * t)
    turned = (x * [1 + stretch, 1.0]) @ np.array([[c, s], [-s, c]]) + 10 * t
    return SimpleNamespace(t=t, u=(turned - x).ravel())


def test_vibrations_do_not_count(plate):
    """0.02 and a vibration remain, of which the mean over whole periods is the set."""
    kept = di.PermanentSet(plate, 1.0)
    for n in range(81):
        t = n / 40
        kept(at(plate, t, 0.5 if t < 1.0 else 0.02 + 0.01 * np.sin(16 * np.pi * t)))
    x = plate.x[: plate.owned // 2, 0]
    assert kept.displacements()[:, 0] == pytest.approx(0.02 * x, abs=1e-12)
    assert kept.displacements()[:, 1] == pytest.approx(np.zeros(x.size), abs=1e-12)
    assert kept.largest() == pytest.approx(0.02, rel=1e-12)


def test_it_looks_every_so_many_steps(plate):
    kept = di.PermanentSet(plate, 0.0, every=3)
    for n in range(1, 8):
        kept(at(plate, 0.1 * n, {3: 0.01, 6: 0.03}.get(n, 1.0)))
    assert kept.largest() == pytest.approx(0.02, rel=1e-12)


def test_nothing_before_the_first_look(plate):
    kept = di.PermanentSet(plate, 2.0)
    kept(at(plate, 1.0, 0.1))
    assert kept.largest() == 0.0


def test_a_restored_state_counts_on(plate):
    """Steps are counted from the start of the run, the mean begins anew."""
    first, second = (di.PermanentSet(plate, 0.0, every=2) for _ in range(2))
    for n in (1, 2, 3):
        first(at(plate, 0.1 * n, 0.1))
    second.resume(first.state())
    second(at(plate, 0.4, 0.05))
    second(at(plate, 0.5, 1.0))
    assert second.largest() == pytest.approx(0.05, rel=1e-12)


@pytest.mark.parametrize(
    "options, message", [({"every": 0}, "every must be"), ({"begin": np.nan}, "begin must be a time")]
)
def test_bad_input(options, message, plate):
    with pytest.raises(ValueError, match=message):
        di.PermanentSet(plate, **{"begin": 0.0, **options})
