"""J2 plasticity in all elements: the potential with the state held, and tangents."""

import functools
import math

import numpy as np
import pytest
from mpi4py import MPI
from support.bent import bent_mesh, difference, smooth

import dolfinx_impact as di
from dolfinx_impact import J2Plasticity, LinearHardening

COMM = MPI.COMM_WORLD
TWICE = (("triangle", "axisymmetric"), ("hexahedron", None))
PLAIN = (("triangle", "axisymmetric"), ("quadrilateral", "plane-strain"), ("tetrahedron", None))
CASES = [
    (cell, state, degree, locking)
    for cell, states in (
        ("triangle", ("plane-strain", "axisymmetric")),
        ("quadrilateral", ("plane-strain", "axisymmetric")),
        ("tetrahedron", (None,)),
        ("hexahedron", (None,)),
    )
    for state in states
    for degree, locking in ((1, None), (1, "none"), (2, None))
]


def tier(case):
    """Degree 2 in one cell of two and three dimensions, the others nightly; some that lock are slow."""
    if case[2] == 2 and case[:2] not in TWICE:
        return [pytest.mark.nightly]
    return [pytest.mark.slow] if case[3] and case[:2] not in PLAIN else []


FEW = [pytest.param(case, marks=tier(case), id=str(case)) for case in CASES]


def solid(case, yield_stress, **options):
    cell, state, degree, locking = case
    law = J2Plasticity(200.0, 0.3, hardening=LinearHardening(yield_stress, 20.0))
    section = {"cross_section": 0.7} if state == "plane-strain" else {}
    mesh = bent_mesh(cell, None if state else 2)
    return di.Solid(
        mesh, density=1.0, law=law, hypothesis=state, degree=degree, locking=locking, **section, **options
    )


def forces(body, t, u):
    out = np.zeros_like(u)
    body.force(t, u, np.zeros_like(u), out)
    return -out


@functools.cache
def yielded(case):
    """A body that has yielded, an elastic one of the same state, displacements, their change and size."""
    body, elastic, size = solid(case, 1.0), solid(case, 1e9), 0.02 if case[2] == 2 else 0.08
    u, x = smooth(body, size)
    for k in range(1, 4):
        forces(body, 0.1 * k, k / 3 * u)
        body.history.accept()
    elastic.history.resume(body.history.state(), body.history.time)
    return body, elastic, u, x, size


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("case", FEW)
def test_forces_are_the_gradient_of_the_energy_with_the_state_held(case):
    body, elastic, u, x, _ = yielded(case)
    assert body.history.largest("equivalent_plastic_strain") > 1e-2
    t = body.history.time
    f = forces(elastic, t, u)
    assert difference(body, forces(body, t, u), f) < 1e-12
    if COMM.size > 1:
        return
    assert body.stored_energy(u) == pytest.approx(elastic.stored_energy(u), rel=1e-12)
    h = 1e-5
    slope = (elastic.stored_energy(u + h * x) - elastic.stored_energy(u - h * x)) / (2 * h)
    assert slope == pytest.approx(f @ x, rel=1e-5)


@pytest.mark.parametrize("case", FEW)
def test_tangents_are_symmetric_and_differences_of_forces_with_the_state_held(case):
    body, elastic, u, x, size = yielded(case)
    u = u + 0.3 * size * np.roll(x, 1)  # some elastic strain too, in the body without yield
    y = np.random.default_rng(1).normal(size=u.size)

    def tangent(body, x):
        out = np.zeros_like(x)
        body.subtract_tangent(u, x, out)
        return -out

    along_x, along_y = tangent(elastic, x), tangent(elastic, y)
    np.testing.assert_allclose(tangent(body, x), along_x, rtol=0, atol=1e-12 * np.abs(along_x).max())
    scale = math.sqrt((along_x @ along_x) * (y @ y))
    assert abs(along_x @ y - along_y @ x) < 1e-12 * scale
    t, h = elastic.history.time, 1e-5
    quotient = (forces(elastic, t, u + h * x) - forces(elastic, t, u - h * x)) / (2 * h)
    assert difference(body, quotient, along_x) < 1e-5


@pytest.mark.parametrize(
    "stretch", [(1.0, 1.0, 1.0), (1 + 1e-9, 1.0, 1.0), (3.0, 3.0 + 1e-8, 0.5), (2.0, 2.0, 2.0)]
)
def test_tangents_with_nearly_equal_eigenvalues(stretch):
    body = solid(("tetrahedron", None, 1, "none"), 1e9)
    _, x = smooth(body, 0.0)
    u = (body.x * (np.array(stretch) - 1)).ravel()
    out, h = np.zeros_like(u), 1e-5
    body.subtract_tangent(u, x, out)
    quotient = (forces(body, 0.0, u + h * x) - forces(body, 0.0, u - h * x)) / (2 * h)
    assert difference(body, quotient, -out) < 1e-7
