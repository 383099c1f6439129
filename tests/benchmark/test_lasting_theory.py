"""Cases of contact that lasts beside theory: Lame's shrink fit and Hertz's contact."""

from typing import Any

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import cases

import dolfinx_impact as di
from dolfinx_impact.benchmark.cases.lasting import hertz_models, ring_models, shaft_in_ring

COMM = MPI.COMM_WORLD
RING, HERTZ = "shaft-in-ring", "hertz-static"


def results(case, scheme="static", **settings):
    """Results of a run, and claims that do not hold."""
    _, _, found, verdicts = cases.run(case, scheme, **settings)
    return found, [verdict.words for verdict in verdicts if not verdict.reproduced]


@pytest.mark.mpi(1, 2, 3)
@pytest.mark.parametrize("scheme", ["static", pytest.param("moreau-jean", marks=pytest.mark.slow)])
def test_fit_and_push(scheme):
    """The ratios are those of one rank."""
    found, failed = results(RING, scheme, cells=4, push=1e-5, nu_shaft=0.0, nu_ring=0.0)
    assert not failed and found["slides"]
    assert found["pressure"] / found["pressure_exact"] == pytest.approx(1.0032715377, abs=1e-10)
    assert found["push_force"] / found["push_force_exact"] == pytest.approx(1.0030421699, abs=1e-10)
    assert found["depth"] < 1e-14 and found["push_depth"] < 1e-7


def test_the_error_falls_with_the_square_of_the_cells():
    small = {"interference": 1e-7, "gap_tolerance": 1e-14}
    errors = []
    for cells in (4, 8, 16):
        found, _ = results(RING, cells=cells, **small)
        errors.append([found[name] / found[f"{name}_exact"] - 1 for name in ("pressure", "hoop_stress")])
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert ratios == pytest.approx(4.0, rel=0.1) and np.abs(errors[1]).max() < 0.0025


@pytest.mark.parametrize("densities", [(1.0, 2.0), (2.0, 1.0)])
def test_either_side_is_slave(densities):
    p = cases.values(RING, "static", bore=0.01)
    body = ring_models.make_parts(p, densities=densities)
    contact = di.SurfaceContact(body, *shaft_in_ring.SIDES, allow_penetration=True)
    scheme = di.Static(body, 0.5, contact=contact, closing=1.0)
    scheme.start(0.0, 0.0, allow_penetration=True)
    scheme.step()
    scheme.step()
    assert np.isfinite(scheme.gap()).sum() == (5 if densities[0] < densities[1] else 6)
    pressure = scheme.r[scheme.r > 0] / scheme.dt / contact.areas()[scheme.r > 0]
    assert pressure == pytest.approx(ring_models.exact(p).pressure, rel=0.005)


def test_stresses_over_the_radius():
    run = cases.run(RING, "static", cells=16)
    fit = ring_models.exact(run.problem.p)
    for name, tube, sides in (("shaft", fit.shaft, "outside"), ("ring", fit.ring, "inside")):
        r, radial, hoop = ring_models.stresses(run.problem.p, run.result["u"][-1])[name]
        true = tube.stresses(r, **{sides: fit.pressure})
        assert np.abs(radial - true[0]).max() < 0.01 * fit.pressure
        assert np.abs(hoop - true[1]).max() < 0.01 * fit.pressure


@pytest.mark.mpi(1, 2, 3)
@pytest.mark.parametrize(
    "geometry, load, error",
    [("line", 2.4e5, 0.03), pytest.param("point", 10.0, 0.05, marks=pytest.mark.slow)],
)
def test_hertz_with_few_facets(geometry, load, error):
    few: dict[str, Any] = {"resolution": 3, "radius2": -0.03, "h": 0.25}
    found, failed = results(HERTZ, geometry=geometry, load=load, **few)
    assert not failed and found["force_ratio"] == pytest.approx(1.0, abs=0.025)
    assert 0.5 * error < found["pressure_error"] < error
    assert found["load"] == pytest.approx(load, rel=1e-8)
    assert found["half_width"] == pytest.approx(found["half_width_exact"], rel=0.03)


CYLINDER, SOCKET = {"radius2": 0.02}, {"radius2": -0.015, "E2": 1e10, "nu2": 0.4}


@pytest.mark.parametrize(
    "geometry, second",
    [pytest.param(*each, marks=pytest.mark.slow) for each in (("line", CYLINDER), ("point", SOCKET))]
    + [
        pytest.param(*each, marks=pytest.mark.nightly)
        for each in (("line", {}), ("line", SOCKET), ("point", {}), ("point", CYLINDER))
    ],
)
def test_hertz_with_ten_facets(geometry, second):
    found, failed = results(HERTZ, geometry=geometry, **second)
    assert not failed and found["pressure_error"] < 0.02
    assert found["force_ratio"] == pytest.approx(1.0, abs=0.006)


def test_nodal_pressures_of_the_exact_solution_have_no_error():
    p = cases.values(HERTZ, "static", geometry="point")
    hertz, x = hertz_models.exact(p), np.linspace(0.0, 1.2e-5, 13)
    fine = np.linspace(0.0, 1.2e-5, 120001)
    hats = [np.interp(fine, x, row) * fine for row in np.eye(13)]
    means = np.array(
        [np.trapezoid(hat * hertz.pressure(fine), fine) / np.trapezoid(hat, fine) for hat in hats]
    )
    assert hertz_models.pressure_error(p, x, means, hertz) < 1e-4
    assert hertz_models.pressure_error(p, x, 1.1 * means, hertz) == pytest.approx(0.1, rel=1e-3)
    forces = means * [np.trapezoid(hat, fine) for hat in hats]
    assert hertz_models.half_width(p, x, forces) == pytest.approx(hertz.half_width, rel=0.02)


def sector(inner, outer, across, around, along, length):
    """A quarter of a tube in hexahedra, its axis along z."""
    mesh = dmesh.create_box(
        COMM, [[inner, 0, 0], [outer, 1, length]], [across, around, along], dmesh.CellType.hexahedron
    )
    named = di.named(
        mesh,
        inside=lambda x: np.isclose(x[0], inner),
        outside=lambda x: np.isclose(x[0], outer),
        first=lambda x: np.isclose(x[1], 0),
        second=lambda x: np.isclose(x[1], 1),
        ends=lambda x: np.isclose(x[2], 0) | np.isclose(x[2], length),
    )
    x = mesh.geometry.x
    r, angle = x[:, 0].copy(), 0.5 * np.pi * x[:, 1]
    x[:, 0], x[:, 1] = r * np.cos(angle), r * np.sin(angle)
    return named


@pytest.mark.slow
@pytest.mark.mpi(1, 2)
def test_a_quarter_in_space_has_the_pressure_of_lame():
    p = cases.values(RING, "static", bore=0.01)
    half, length = p["interference"] / 2, 0.004
    parts = {
        "shaft": sector(0.01, 0.02 + half, 4, 12, 2, length),
        "ring": sector(0.02 - half, 0.04, 8, 12, 3, length),
    }
    held = {}
    for name in parts:
        held |= {f"{name}/first": (1,), f"{name}/second": (0,), f"{name}/ends": (2,)}
    body = di.Solid(di.mesh.join(parts), density=7850.0, law=di.LinearElastic(2.1e11, 0.3), fixed=held)
    contact = di.SurfaceContact(body, *shaft_in_ring.SIDES, allow_penetration=True)
    scheme = di.Static(body, 0.5, contact=contact, closing=1.0)
    scheme.start(0.0, 0.0, allow_penetration=True)
    scheme.step()
    scheme.step()
    sums = COMM.allreduce(np.array([scheme.r.sum() / scheme.dt, contact.areas().sum()]))
    assert sums[0] / sums[1] == pytest.approx(ring_models.exact(p).pressure, rel=0.02)
