"""HATI with metals that yield on its explicit side, against the undivided explicit body."""

import functools

import numpy as np
import pytest
from mpi4py import MPI
from support import vtx_reader

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.benchmark.cases.pin_drop import case as pin_drop
from dolfinx_impact.output.fields import LABELS

COMM = MPI.COMM_WORLD
E, NU, DENSITY = 2.1e11, 0.3, 7850.0
METAL = di.J2Plasticity(E, NU, hardening=di.LinearHardening(3e8, 1e9))
ELASTIC = di.LinearElastic(E, NU)
#: A beam of 1 m on a pin of three layers that yields.
SMALL = {"along": 16, "layers": 3, "tip": 5e-3, "length": 1.0, "v0": 5.0}
PARAMETERS = {name: option.default for name, option in pin_drop.PARAMETERS.items()} | SMALL
END = 3e-4
#: Impulse, plastic work and displacement of an end of the beam after 2e-4 s on one rank, with ratio 2.
ONE_RANK = (235.66585528727347, 185.27871180881266, -0.0010965204685197238)


def scheme(ratio=None, metal=METAL, far=ELASTIC):
    """HATI on the pin and the beam; without a ratio CD-Lagrange on both as one body."""
    mesh = pin_drop.pinned_beam(PARAMETERS)
    others = mesh.other_cells("pin")
    if ratio is None:
        laws = {"pin": metal, **dict.fromkeys([others] if isinstance(others, str) else others, far)}
        body = di.Solid(mesh, density=DENSITY, law=laws)
        step = 0.45 * body.critical_time_step()
        return di.CDLagrange(body, step, contact=pin_drop.floor(body, PARAMETERS))
    near = di.Solid(mesh, density=DENSITY, law=metal, cells="pin")
    beam = di.Solid(mesh, density=DENSITY, law=far, cells=others)
    step = 0.45 * near.critical_time_step()
    return di.HATI(near, beam, step, pin_drop.floor(near, PARAMETERS), ratio=ratio)


def started(*args, **options):
    made = scheme(*args, **options)
    made.start(0.0, lambda x: np.outer((0.0, 0.0, -PARAMETERS["v0"]), np.ones(x.shape[1])))
    return made


def run(made, t_end=END, **options):
    return di.simulate(made, t_end=t_end, progress=False, record=pin_drop.rows(made, PARAMETERS), **options)


@functools.cache
def undivided():
    return run(started())


def totals(result):
    return result["r"].sum(), result["plastic_work"][-1], result["u"][-1, 0]


@pytest.mark.parametrize("ratio", [1, 5])
def test_a_pin_that_yields_under_a_beam(ratio):
    """As the undivided explicit body: both errors are of the order of the step, and of the coarse one."""
    made = started(ratio)
    result = run(made)
    for value, expected, part in zip(totals(result), totals(undivided()), (1e-3, 5e-3, 2e-3)):
        assert value == pytest.approx(expected, rel=part)
    assert totals(result)[1] > 0.04 * 0.5 * result["kinetic"][0]
    scale = result["kinetic"][0]
    assert np.abs(result["residual"]).max() < 1e-12 * scale
    assert made.fine.system.history.time == pytest.approx(made.t, rel=1e-12)


def test_stopped_and_resumed_bit_by_bit(tmp_path):
    whole = run(started(2), t_end=1e-4)
    run(started(2), t_end=5e-5, checkpoint=di.Checkpoint(tmp_path / "run", every=20))
    rest = run(scheme(2), t_end=1e-4, restart=tmp_path / "run")
    assert whole["plastic_work"][-1] > 1.2 * whole["plastic_work"][20] > 0
    for name in ("u", "r", "plastic_work", "internal", "kinetic"):
        np.testing.assert_array_equal(whole[name], rest[name], err_msg=name)


def test_energies_of_samples_are_those_of_every_step():
    """Stored energy and plastic work are evaluated in the last fine step of the samples alone."""
    every = run(started(2), t_end=5e-5)
    some = run(started(2), t_end=5e-5, every=10)
    assert some["plastic_work"][-1] > 1.05 * some["plastic_work"][-3] > 0
    for name in ("internal", "plastic_work"):
        at = np.searchsorted(every["t"], some["t"] - 1e-12)
        np.testing.assert_array_equal(some[name], every[name][at], err_msg=name)


@pytest.mark.skipif(not vtx_reader.available(), reason="no C library of ADIOS2")
def test_fields_of_the_part_that_yields(tmp_path):
    made, path = started(2), tmp_path / "fields.bp"
    run(made, t_end=5e-5, observers=[di.FieldWriter(path, every=5, names=("plastic_strain", "stress"))])
    body, label = made.fine.system, LABELS["plastic_strain"]
    file = vtx_reader.read(path, [label])
    strain = file.fields[label][-1][file.own].ravel()
    in_pin = file.x[file.own, 2] <= 1e-9
    assert np.all(strain[~in_pin] == 0.0)
    assert 0.0 < strain.max() <= body.history.largest("equivalent_plastic_strain")
    assert strain[file.x[file.own, 2].argmin()] > 0.0  # the tip


@pytest.mark.mpi
def test_the_same_on_all_ranks():
    assert totals(run(started(2), t_end=2e-4)) == pytest.approx(ONE_RANK, rel=1e-9)


def test_the_state_is_that_of_the_last_fine_step():
    """The material has the time of the scheme after every coarse step."""
    made = started(2)
    history, seen = made.fine.system.history, []
    for _ in range(3):
        made.step()
        seen.append(history.time)
    assert seen == pytest.approx(made.dt * np.arange(1, 4), rel=1e-12)


def test_a_run_from_another_time_and_a_second_one():
    """Rates count from the start: the same from any time; a second run warns of the history that is there."""
    early, late = started(2), scheme(2)
    late.start(0.0, lambda x: np.outer((0.0, 0.0, -PARAMETERS["v0"]), np.ones(x.shape[1])), 3.0)
    for _ in range(60):
        early.step(), late.step()
    plastic = [each.fine.system.history.largest("equivalent_plastic_strain") for each in (early, late)]
    assert plastic[0] > 1e-4 and plastic[1] == pytest.approx(plastic[0], rel=1e-9)
    assert parallel.largest(COMM, np.abs(late.u - early.u)) < 1e-9 * np.abs(early.u).max()


def test_what_a_step_that_cannot_change_is_advised(caplog):
    made = started(2)
    run(made, t_end=2 * made.dt)
    assert "take a smaller time step" in caplog.text and "adapt=" not in caplog.text
    with pytest.raises(ValueError, match="HATI cannot change its time step"):
        run(started(2), t_end=2 * made.dt, adapt=di.StepControl())


def test_the_implicit_side_does_not_yield():
    with pytest.raises(ValueError, match="the implicit subdomain must be linear"):
        scheme(2, metal=ELASTIC, far=METAL)
