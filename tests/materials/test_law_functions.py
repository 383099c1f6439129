"""User-defined functions and constants in a law: forces, energies, tangents, steps, stresses."""

import functools

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import VonMises, parallel

COMM = MPI.COMM_WORLD
NEO = di.NeoHookean(3.0, 0.3)
TRIANGLE, TET = dmesh.CellType.triangle, dmesh.CellType.tetrahedron
SPACES = {
    "DG0": lambda mesh: ("DG", 0),
    "P1": lambda mesh: ("Lagrange", 1),
    "vector": lambda mesh: ("Lagrange", 2, (mesh.geometry.dim,)),
    "Nedelec": lambda mesh: ("N1curl", 1),
    "quadrature": lambda mesh: basix.ufl.quadrature_element(mesh.basix_cell(), (), degree=0),
}


def domain(kind=TRIANGLE):
    if kind is TET:
        return dmesh.create_unit_cube(COMM, 2, 2, 1)
    return dmesh.create_unit_square(COMM, 3, 2, kind)


def one(mesh, name):
    """A function of the space that is 1, a vector everywhere along x and y."""
    f = fem.Function(fem.functionspace(mesh, SPACES[name](mesh)))
    if f.ufl_shape:
        f.interpolate(lambda x: np.ones((mesh.geometry.dim, x.shape[1])))
    else:
        f.x.array[:] = 1.0
    return f


def part(f):
    return f[1] if f.ufl_shape else f


def waves(body, size=0.05):
    x = body.x
    return (
        size
        * np.column_stack([np.sin(5 * x[:, i] + 2 * x[:, 1 - i] + i) for i in range(2)] + [x[:, 0]])[
            :, : body.block
        ].ravel()
    )


def answers(body):
    """Force, product with the tangent, energy and critical step at some displacements."""
    u, x, n = waves(body), waves(body, 1.0), body.owned
    force, product = np.zeros(body.size), np.zeros(body.size)
    body.force(0.0, u, 0 * u, force)
    body.subtract_tangent(u, x, product)
    energy = parallel.total(COMM, body.stored_energy(u))
    return force[:n].copy(), product[:n].copy(), energy, body.critical_time_step() ** -2


def same(found, expected, factor=1.0):
    for one_, other in zip(found, expected):
        scale = parallel.largest(COMM, np.atleast_1d(np.abs(other)))
        assert np.abs(np.asarray(one_) - factor * np.asarray(other)).max(initial=0.0) <= 1e-9 * factor * scale


@functools.cache
def of_neo_hookean(kind):
    """The mesh, and the answers of the law on it."""
    mesh = domain(kind)
    return mesh, answers(di.Solid(mesh, density=2.0, law=NEO))


@pytest.mark.parametrize("name, kind", [(name, TRIANGLE) for name in SPACES] + [("DG0", TET)])
def test_a_law_times_a_function_that_is_one(name, kind):
    """The law; and so much of it as the function and the constant say after they have changed."""
    mesh, plain = of_neo_hookean(kind)
    f, c = one(mesh, name), fem.Constant(mesh, 0.5)
    body = di.Solid(mesh, density=2.0, law=di.EnergyLaw(lambda F: c * (1 + part(f)) * NEO.energy_density(F)))
    same(answers(body), plain)
    f.x.array[:] *= 3.0
    c.value = 2.0
    same(answers(body), plain, 8.0)


def test_several_functions_of_different_spaces_in_a_stress():
    mesh = domain()
    f, g, d = one(mesh, "DG0"), one(mesh, "P1"), one(mesh, "vector")
    law = di.StressLaw(lambda F: f * g * ufl.inner(d, d) / 2 * NEO.stress(F))
    body, plain = (di.Solid(mesh, density=2.0, law=each, stiffness_damping=0.01) for each in (law, NEO))
    u, found, expected = waves(plain), np.zeros(plain.size), np.zeros(plain.size)
    for factor in (1.0, 4.0):
        body.force(0.0, u, u, found)
        plain.force(0.0, u, u, expected)
        same([found[: body.owned]], [expected[: body.owned]], factor)
        d.x.array[:] *= 2.0


@pytest.mark.mpi
def test_a_function_that_varies_is_taken_where_it_is():
    """A graded modulus as a function, against the same modulus by coordinates."""
    mesh = domain()
    f = one(mesh, "P1")
    f.interpolate(lambda x: 1 + 2 * x[0] - x[1])
    x = ufl.SpatialCoordinate(mesh)
    laws = [di.EnergyLaw(lambda F, k=k: k * NEO.energy_density(F)) for k in (f, 1 + 2 * x[0] - x[1])]
    same(*(answers(di.Solid(mesh, density=2.0, law=law)) for law in laws))


def test_thin_bodies():
    mesh = domain()
    f = one(mesh, "DG0")
    f.x.array[:] = 2.0
    laws = (
        di.EnergyLaw(lambda F: f * ufl.inner(F, F) ** 2 / (4 * ufl.det(F))),
        di.EnergyLaw(lambda F: ufl.inner(F, F) ** 2 / (4 * ufl.det(F))),
    )
    forces = []
    for law in laws:
        body = di.Solid(mesh, density=2.0, law=law, hypothesis="plane-stress")
        u, force = waves(body), np.zeros(body.size)
        body.force(0.0, u, 0 * u, force)
        forces.append([force[: body.owned]])
    same(*forces, 2.0)


def test_stress_and_implicit_steps():
    mesh = domain()
    f = one(mesh, "DG0")
    law = di.EnergyLaw(lambda F: f * NEO.energy_density(F))
    steps = []
    for each in (law, NEO):
        body = di.Solid(mesh, density=2.0, law=each)
        s = di.MoreauJean(body, 0.1)
        s.start(waves(body), 0.0)
        for _ in range(2):
            s.step()
        steps.append(s.u[: body.owned].copy())
        stress = VonMises(body)(waves(body))[: body.owned // 2]
        steps.append(stress)
    same(steps[:2], steps[2:])
    twice = VonMises(di.Solid(mesh, density=2.0, law=law))
    f.x.array[:] = 2.0
    same([twice(waves(body))[: body.owned // 2]], [stress], 2.0)


@pytest.mark.mpi
def test_a_function_of_another_mesh_is_refused():
    f = one(domain(), "DG0")
    with pytest.raises(ValueError, match=r"a function in .* is on another mesh than the body"):
        di.Solid(domain(), density=2.0, law=di.EnergyLaw(lambda F: f * NEO.energy_density(F)))


def test_functions_where_they_mean_nothing():
    mesh = domain()
    f = one(mesh, "quadrature")
    body = di.Solid(mesh, density=2.0, law=di.EnergyLaw(lambda F: f * NEO.energy_density(F)))
    with pytest.raises(ValueError, match="stress at the nodes is not known .* at quadrature points"):
        VonMises(body)
    for g in (one(mesh, "DG0"), fem.Function(body.space)):
        with pytest.raises(ValueError, match="body_force must be 2 numbers, one a direction"):
            di.Solid(mesh, density=2.0, law=NEO, body_force=g)
