"""Inverted elements are detected for every law."""

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import NotConverged, parallel

COMM = MPI.COMM_WORLD
QUAD, TRIANGLE = dmesh.CellType.quadrilateral, dmesh.CellType.triangle
SVK, NEO = di.StVenantKirchhoff(1.0, 0.3), di.NeoHookean(1.0, 0.3)


def isochoric(F):
    J, G = ufl.det(F), ufl.inv(F).T
    return J ** (-2 / 3) * (F - ufl.inner(F, F) / 3 * G) + 5 * (J - 1) * J * G


def thirds(F):
    J = ufl.det(F)
    return (J ** (1 / 3) * J ** (2 / 3) - 1) ** 2 + ufl.inner(F, F) - 3


def roots(F):
    J = ufl.det(F)
    return (ufl.sqrt(J) * ufl.sqrt(J) - 1) ** 2 + ufl.inner(F, F) - 3


def block(law, cell=QUAD, degree=1):
    return di.Solid(dmesh.create_unit_square(COMM, 1, 2, cell), density=1.0, law=law, degree=degree)


def pressed(body, part):
    """Everything at so much less of its height."""
    u = np.zeros(body.size)
    u[1::2] = -part * body.x[:, 1]
    return u


@pytest.mark.parametrize("function", [isochoric, thirds, roots], ids=lambda f: f.__name__)
@pytest.mark.parametrize("part", [1.5, 2.0])
def test_roots_of_negative_volumes_are_no_numbers(function, part):
    body = block(di.StressLaw(function) if function is isochoric else di.EnergyLaw(function))
    u, force = pressed(body, part), np.zeros(body.size)
    body.force(0.0, u, 0 * u, force)
    assert not np.isfinite(parallel.total(COMM, np.abs(force[: body.owned]).sum()))
    if function is not isochoric:
        assert not np.isfinite(parallel.total(COMM, body.stored_energy(u)))


@pytest.mark.parametrize("law", [NEO, SVK])
@pytest.mark.parametrize("degree", [1, 2])
def test_a_ring_that_folds_through_the_axis_is_inside_out(law, degree):
    """In the plane it is mirrored, and its hoops too: det F is positive."""
    ring = dmesh.create_rectangle(COMM, [[0.5, 0.0], [1.0, 1.0]], [2, 2], QUAD)
    body = di.Solid(ring, density=1.0, law=law, degree=degree, hypothesis="axisymmetric")
    for part, expected in ((0.5, False), (0.99, False), (1.01, True), (1.5, True)):
        u = np.zeros(body.size)
        u[::2] = -part * body.x[:, 0]
        assert body.deformation.inside_out(u) is expected


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("cell, degree", [(QUAD, 1), (QUAD, 2), (TRIANGLE, 1), (TRIANGLE, 2)])
def test_volumes_are_looked_at(cell, degree):
    body = block(NEO, cell, degree)
    for part, expected in ((0.0, False), (0.99, False), (1.01, True), (2.0, True)):
        assert body.deformation.inside_out(pressed(body, part)) is expected
    one = np.zeros(body.size)
    one[np.flatnonzero(np.isclose(body.x[:, :2], 1.0).all(axis=1)) * 2 + 1] = -1.6
    assert body.deformation.inside_out(one)  # one corner alone
    with pytest.raises(ValueError, match=r"u turns an element inside out \(det F <= 0\)"):
        body.critical_time_step(u=pressed(body, 2.0))


@pytest.mark.mpi
def test_a_run_through_the_body_itself_is_lost():
    """St Venant-Kirchhoff is finite inside out, and at J = -1 free of stress: nothing else would stop it."""
    s = di.CDLagrange(block(SVK), 0.02)
    s.start(pressed(s.system, 0.5), pressed(s.system, 40.0))
    with pytest.raises(di.UnstableTimeStep, match="an element is turned inside out at t = .* compressed"):
        di.simulate(s, t_end=0.06, energies=False, progress=False)


@pytest.mark.mpi
def test_newton_does_not_go_through_either():
    """From the undeformed body a step that ends at J = -1 would be an equilibrium of the law."""
    body = block(SVK, TRIANGLE)
    s = di.MoreauJean(body, 1.0, 1.0, mass="lumped")
    s.start(0.0, pressed(body, 2.0))
    try:
        s.step()
    except NotConverged:
        return
    assert not body.deformation.inside_out(s.u)


@pytest.mark.mpi
def test_lines_are_measured_in_rigid_and_in_affine_motions():
    body = block(NEO, degree=2)
    u, v = pressed(body, 0.5), pressed(body, 0.1)
    least, most, rate, strain = body.deformation.lines(u, v)
    assert (least, most) == pytest.approx((0.5, 1.0), rel=1e-12) and rate == pytest.approx(0.2, rel=1e-12)
    assert strain == pytest.approx(np.log(2), rel=1e-12)
    body.deformation.mark(u)
    assert body.deformation.lines(u, v)[3] == 0.0
    assert body.deformation.lines(np.zeros_like(u), v)[3] == pytest.approx(np.log(2), rel=1e-12)
    body.deformation.mark(np.zeros_like(u))
    x, y = body.x[:, 0], body.x[:, 1]
    turned, spin = np.column_stack([-y - x, x - y]).ravel(), np.column_stack([-x, -y]).ravel()
    assert body.deformation.lines(turned, spin) == pytest.approx((1.0, 1.0, 0.0, 0.0), abs=1e-12)


def test_lines_without_numba(monkeypatch):
    from dolfinx_impact.algebra import kernels
    from dolfinx_impact.algebra.kernels import _numpy as _numpy_kernels

    with_numba = block(NEO)
    u = 0.1 * np.sin(7 * np.arange(with_numba.size))
    expected = with_numba.deformation.lines(u, u[::-1].copy())
    monkeypatch.setattr(kernels, "load", lambda: _numpy_kernels)
    assert block(NEO).deformation.lines(u, u[::-1].copy()) == pytest.approx(expected, rel=1e-12)
