"""The crane's record is its table, to the printed digits, on every rank."""

import numpy as np
import pytest
from mpi4py import MPI

from dolfinx_impact import mesh, signals
from dolfinx_impact.benchmark.cases.bridge_crane import record as crane_record

WORLD = MPI.COMM_WORLD
TABLE = mesh.package_mesh("crane-record.csv")


def half_a_digit(values, digits=10):
    """Half a unit of the last of so many significant digits, of each value."""
    exponent = np.floor(np.log10(np.abs(np.where(values == 0, 1.0, values))))
    return 0.5 * 10.0 ** (exponent - digits + 1)


def test_formula_and_table_agree_to_the_printed_digits():
    table, record = signals.read(TABLE), crane_record.record()
    assert (table.dt, len(table.values), table.unit) == (record.dt, 1101, record.unit) == (1e-3, 1101, "m/s2")
    difference = np.abs(record.values[:1101] - table.values)
    assert (difference <= half_a_digit(table.values) + 1e-12).all()


def test_scale_of_the_record():
    """Its mean over the first second is not zero: 1.15 m/s2 is the root mean square about the mean."""
    record = crane_record.record()
    assert (len(record.values), record.duration) == (4002, pytest.approx(4.001))
    assert np.abs(record.values).max() == pytest.approx(3.0, rel=1e-15)
    assert (record.values[0], record.name) == (0.0, "crane")
    first = record.cut(1.0).values
    assert np.abs(first).max() == pytest.approx(2.77, abs=0.005)
    assert first.std() == pytest.approx(1.15, abs=0.005)
    assert np.sqrt(np.mean(first**2)) == pytest.approx(1.158, abs=0.0005)


def test_spectrum():
    """Waves of 6 Hz are amplified by soft ground, slow ones are held back with the fourth power."""
    f = np.array([1e-3, 2e-3, 6.0, 100.0])
    slow, double, ground, fast = crane_record.spectrum(f)
    assert double / slow == pytest.approx(16, rel=1e-4)
    assert ground == pytest.approx((1 + 1 / 1.44) * 36**2 / (35**2 + 1.44 * 36), rel=1e-12)
    assert fast == pytest.approx(1.44 * (6 / 100) ** 2, rel=0.02)


def test_waves_of_the_record():
    """Without the envelope it has a period of 4 s: the discrete transform shows 78 waves and nothing else."""
    record = crane_record.record()
    t = record.times[1:4001]
    waves = np.roll(record.values[1:4001] / np.minimum(1.0, t / 0.5), 1)  # from 4 s on, which is 0 s
    found = np.fft.rfft(waves) / 2000
    amplitudes = np.sqrt(crane_record.spectrum(0.25 * np.arange(2001)))
    scale = np.abs(found[24]) / amplitudes[24]
    assert np.abs(found[3:81]) == pytest.approx(scale * amplitudes[3:81], rel=1e-12)
    assert np.exp(1j * np.angle(found[3:81])) == pytest.approx(np.exp(1j * crane_record.PHASES), rel=1e-11)
    assert np.abs(np.delete(found, np.s_[3:81])).max() < 1e-12 * np.abs(found).max()


@pytest.mark.mpi
def test_every_rank_has_the_same_record_and_the_same_error(shared_path):
    for record in (crane_record.record(), signals.read(TABLE)):
        assert all(np.array_equal(record.values, other) for other in WORLD.allgather(record.values))
    if WORLD.rank == 0:
        (shared_path / "x.AT2").write_text("NPTS= 2, DT= 1 SEC\n0 1\n")
    WORLD.barrier()
    with pytest.raises(ValueError, match="does not name its units") as caught:
        signals.read(shared_path / "x.AT2")
    assert len(set(WORLD.allgather(str(caught.value)))) == 1
