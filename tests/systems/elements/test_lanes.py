"""Batches of 4 and of 8 cells: which by processor, equal forces, states that go over."""

import logging

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.bent import bent_mesh, difference, smooth
from support.restarts import difference as largest_difference
from support.restarts import kept, whole

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.systems.elements import element_forces, lanes
from dolfinx_impact.systems.forces import kernel_cache

COMM = MPI.COMM_WORLD
METAL = di.J2Plasticity(200e9, 0.3, hardening=di.LinearHardening(200e6, 1e9))
BODIES = {
    "rubber": ("hexahedron", di.NeoHookean(200e9, 0.3), {}),
    "disc": ("triangle", di.NeoHookean(200e9, 0.3), {"hypothesis": "axisymmetric"}),
    "metal": ("tetrahedron", METAL, {}),
}


def body(name):
    cell, law, options = BODIES[name]
    return di.Solid(bent_mesh(cell), density=7800.0, law=law, **options)


def batches_of(count, monkeypatch):
    monkeypatch.setattr(element_forces, "lanes_of", lambda comm: count)


@pytest.mark.mpi
def test_all_ranks_have_the_batches_of_the_least_processor(tmp_path, monkeypatch):
    def found(extensions):
        file = tmp_path / f"{COMM.rank}"
        file.write_text(f"flags\t\t: fpu avx2 {extensions}\n")
        monkeypatch.setattr(kernel_cache, "_CPUINFO", file)
        kernel_cache.features.cache_clear()
        return lanes.lanes_of(COMM)

    try:
        assert [found(each) for each in ("", "avx512f", "avx512f avx512_vbmi2")] == [4, 4, 8]
        assert found("" if COMM.rank else "avx512f avx512_vbmi2") == (8 if COMM.size == 1 else 4)
    finally:
        kernel_cache.features.cache_clear()


@pytest.mark.mpi
@pytest.mark.parametrize("name", BODIES)
def test_forces_energies_and_tangents_do_not_depend_on_batches(name, monkeypatch, caplog):
    found = []
    for count in (lanes.NARROW, lanes.WIDE):
        batches_of(count, monkeypatch)
        with caplog.at_level(logging.INFO, logger="dolfinx_impact"):
            solid = body(name)
            u, x = smooth(solid, 0.03)
            out = np.zeros((2, u.size))
            solid.force(1e-6, u, np.zeros_like(u), out[0])
        told = f"{count} cells at a time" in caplog.text
        solid.subtract_tangent(u, x, out[1])
        assert told == (COMM.rank == 0)
        found.append((out, parallel.total(COMM, solid.stored_energy(u))))
    (one, energy), (other, same) = found
    assert difference(solid, one[0], other[0]) < 1e-12 and difference(solid, one[1], other[1]) < 1e-12
    assert energy == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("before, after", [(4, 8), (8, 4)])
def test_a_state_goes_over_to_other_batches(before, after, tmp_path, monkeypatch):
    """A checkpoint in the middle of flow, as another processor continues it."""
    counts = iter((before, after))

    def flying():
        batches_of(next(counts, after), monkeypatch)
        mesh = dmesh.create_box(COMM, [[0.0] * 3, [0.1] * 3], [1, 2, 2], dmesh.CellType.tetrahedron)
        metal = di.Solid(mesh, density=7800.0, law=METAL)
        return di.CDLagrange(metal, 0.5 * metal.critical_time_step()), _stretching(metal)

    other = kept(flying, tmp_path / "run", 30, 15)
    one = whole(flying, 30)
    assert one["plastic_work"][14] > 0.05 * one["plastic_work"][-1] > 0
    assert largest_difference(one, other) < 1e-12


def _stretching(metal):
    x = metal.x - 0.05
    return (x * [1500.0, -2000.0, 1000.0] + 3e4 * x[:, [1, 2, 0]] ** 2).ravel()
