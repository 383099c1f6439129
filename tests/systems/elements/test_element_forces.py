"""Element kernels against the forms that DOLFINx assembles, on any number of ranks."""

import itertools
import logging

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.bent import CELLS, bent_mesh, difference, halves, smooth

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.systems import solid
from dolfinx_impact.systems.elements import compiler
from dolfinx_impact.systems.elements.element_forces import ElementForces
from dolfinx_impact.systems.elements.law_code import LawCode
from dolfinx_impact.systems.forces.internal_forces import StoredForces

COMM = MPI.COMM_WORLD
LAWS = {
    "linear": di.LinearElastic(1.0, 0.3),
    "neo-Hookean": di.NeoHookean(1.0, 0.3),
    "Mooney-Rivlin": di.MooneyRivlin(1.0, 0.5, 9.0),
    "St. Venant-Kirchhoff": di.StVenantKirchhoff(1.0, 0.3),
}
STATES = {"quadrilateral": ("plane-strain", "plane-stress", "axisymmetric")}
STATES["triangle"] = STATES["quadrilateral"]
#: Each element, hypothesis and law at least once; all combinations are nightly.
FEW = [
    ("interval", 2, None, "Mooney-Rivlin"),
    ("triangle", 1, "plane-stress", "neo-Hookean"),
    ("triangle", 2, "axisymmetric", "neo-Hookean"),
    ("quadrilateral", 1, "axisymmetric", "Mooney-Rivlin"),
    ("quadrilateral", 2, "plane-stress", "linear"),
    ("tetrahedron", 1, None, "neo-Hookean"),
    ("tetrahedron", 2, None, "Mooney-Rivlin"),
    ("hexahedron", 1, None, "St. Venant-Kirchhoff"),
    ("hexahedron", 2, None, "neo-Hookean"),
]
ALL = [
    (cell, degree, state, law)
    for cell in ("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron")
    for degree, law in itertools.product((1, 2, 3), LAWS)
    for state in STATES.get(cell, (None,))
]


def without_kernels(body):
    """The internal forces from stored stiffness or assembled forms."""
    return StoredForces(body.stiffness, body.size) if body.linear else body.assembled_forces()


def compare(body):
    """Forces, energies and tangent products of both ways."""
    other = without_kernels(body)
    assert isinstance(body.forces, ElementForces)
    u, x = smooth(body, 0.03)
    zeros = np.zeros((4, body.size))
    body.subtract_internal(u, zeros[0])
    other.subtract(u, zeros[1])
    assert difference(body, zeros[0], zeros[1]) < 1e-13
    ours, theirs = (parallel.total(COMM, energy) for energy in (body.stored_energy(u), other.energy(u)))
    assert ours == pytest.approx(theirs, rel=1e-13)
    body.subtract_tangent(u, x, zeros[2])
    other.subtract_tangent(u, x, zeros[3])
    assert difference(body, zeros[2], zeros[3]) < 1e-13


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("cell, degree, state, law", FEW)
def test_forces_are_those_of_the_form(cell, degree, state, law, monkeypatch):
    monkeypatch.setattr(solid, "_MATRIX_FREE", 0)
    mesh = bent_mesh(cell)
    section = {"cross_section": 0.7} if mesh.geometry.dim < 3 and state != "axisymmetric" else {}
    compare(di.Solid(mesh, density=1.0, law=LAWS[law], degree=degree, hypothesis=state, **section))


@pytest.mark.nightly
@pytest.mark.mpi
@pytest.mark.parametrize("cell, degree, state, law", ALL)
def test_forces_of_all_elements(cell, degree, state, law, monkeypatch):
    monkeypatch.setattr(solid, "_MATRIX_FREE", 0)
    body = di.Solid(bent_mesh(cell), density=1.0, law=LAWS[law], degree=degree, hypothesis=state)
    if law == "linear" and not body._at_nodes:
        assert not isinstance(body.forces, ElementForces)  # the stiffness is stored
        return
    compare(body)


@pytest.mark.mpi
def test_several_materials_and_a_part_of_the_mesh():
    mesh = halves(bent_mesh("tetrahedron"))
    laws = {"left": LAWS["neo-Hookean"], "right": LAWS["linear"]}
    compare(di.Solid(mesh, density=1.0, law=laws))
    # Some ranks have no cells of this part.
    compare(di.Solid(mesh, density=1.0, law=LAWS["neo-Hookean"], cells="right"))


def rubber_of_all_operations(F, stiff):
    """Functions, conditions and tensors that laws of users have."""
    C = F.T * F
    J = ufl.det(F)
    shear = ufl.conditional(ufl.lt(J, 1.0), ufl.tr(C) - 3, ufl.sqrt(ufl.tr(C) / 3) - 1)
    tension = ufl.max_value(C[0, 0] - 1, 0) ** 2 + abs(C[0, 1]) * C[0, 1] ** 2
    wave = ufl.exp(0.1 * ufl.inner(ufl.inv(F), ufl.dev(C))) + ufl.sin(C[1, 2]) * ufl.cos(J)
    return stiff * (shear + (J - 1) ** 2 + tension) + wave + J ** (-1 / 3) + ufl.ln(J) ** 2


@pytest.mark.mpi
def test_a_law_of_a_user_with_a_constant_that_changes():
    mesh = bent_mesh("tetrahedron")
    stiff = fem.Constant(mesh, 2.0)
    body = di.Solid(mesh, density=1.0, law=di.EnergyLaw(lambda F: rubber_of_all_operations(F, stiff)))
    compare(body)
    u, _ = smooth(body, 0.03)
    before = parallel.total(COMM, body.stored_energy(u))
    stiff.value = 3.0
    compare(body)
    assert parallel.total(COMM, body.stored_energy(u)) != pytest.approx(before, rel=1e-3)


@pytest.mark.mpi
def test_a_law_by_its_stress():
    mesh = bent_mesh("hexahedron")
    follower = di.StressLaw(lambda F: 2.0 * (F - ufl.inv(F).T) + 0.3 * ufl.det(F) * ufl.inv(F).T * F)
    body = di.Solid(mesh, density=1.0, law=follower)
    assert isinstance(body.forces, ElementForces)
    u, x = smooth(body, 0.03)
    zeros = np.zeros((4, body.size))
    body.subtract_internal(u, zeros[0])
    without_kernels(body).subtract(u, zeros[1])
    body.subtract_tangent(u, x, zeros[2])
    without_kernels(body).subtract_tangent(u, x, zeros[3])
    assert difference(body, zeros[0], zeros[1]) < 1e-13
    assert difference(body, zeros[2], zeros[3]) < 1e-13
    assert body.stored_energy(u) == 0.0


def stretch(F):
    return (F.T * F)[0, 0] - 1


def lateral(F):
    """Zero in plane strain."""
    return (F.T * F)[2, 2] - 1


GUARDED = {
    "power": lambda F: ufl.conditional(ufl.gt(stretch(F), 0), stretch(F) ** 1.5, 0.0),
    "logarithm": lambda F: ufl.conditional(ufl.gt(stretch(F), 0), stretch(F) ** 2 * ufl.ln(stretch(F)), 0.0),
    "kinks": lambda F: ufl.max_value(stretch(F), 0) ** 2 + abs(stretch(F)) ** 3,
}


@pytest.mark.parametrize("guard", GUARDED)
def test_branches_that_are_not_taken_have_no_part(guard):
    """They may not be finite, at rest, in tension or in compression."""
    rubber = LAWS["neo-Hookean"].energy_density
    law = di.EnergyLaw(lambda F: rubber(F) + GUARDED[guard](F))
    body = di.Solid(bent_mesh("triangle"), density=1.0, law=law)
    compare(body)
    x = body.x[:, :2]
    for factor in (-0.1, 0.1):
        u, (found, expected) = (factor * x).ravel(), np.zeros((2, body.size))
        body.subtract_internal(u, found)
        without_kernels(body).subtract(u, expected)
        assert difference(body, found, expected) < 1e-13


@pytest.mark.parametrize("function", [lambda a: 1 / a, lambda a: ufl.ln(a), lambda a: (a - 0.2) ** 1.5])
def test_a_branch_that_is_never_taken(function):
    law = di.EnergyLaw(
        lambda F: ufl.inner(F, F) ** 2 + ufl.conditional(ufl.gt(lateral(F), 0.5), function(lateral(F)), 0)
    )
    plain = di.EnergyLaw(lambda F: ufl.inner(F, F) ** 2)
    mesh = bent_mesh("triangle")
    bodies = [di.Solid(mesh, density=1.0, law=each) for each in (law, plain)]
    u, found = smooth(bodies[0], 0.03)[0], np.zeros((2, bodies[0].size))
    for body, out in zip(bodies, found):
        assert isinstance(body.forces, ElementForces)
        body.subtract_internal(u, out)
    assert np.array_equal(*found)


def test_a_class_with_forms_of_its_own_is_assembled_by_dolfinx():
    class Spring(di.Solid):
        def _energy_form(self):
            H = ufl.grad(self.displacement)
            return 5.0 * ufl.inner(H, H) * self.dx

    body = Spring(bent_mesh("triangle"), density=1.0, law=LAWS["neo-Hookean"])
    assert not isinstance(body.forces, ElementForces)
    u = 0.1 * body.x[:, :2].ravel()
    volume = body.total_mass
    assert body.stored_energy(u) == pytest.approx(5.0 * 2 * 0.01 * volume, rel=1e-12)


def test_a_law_that_is_nested_too_deeply_is_assembled_by_dolfinx():
    def long(F):
        total = ufl.inner(F, F)
        for k in range(700):
            total = total + (k + 1) * 1e-6 * F[0, 0]
        return total

    mesh = bent_mesh("triangle")
    space = fem.functionspace(mesh, ("Lagrange", 1, (2,)))
    element = solid.element_of(space, 1, "plane-strain", False)
    with pytest.raises(solid.NotGenerated, match="nested too deeply"):
        LawCode(di.EnergyLaw(long), element, mesh, by_stress=False, tangent=False, linear=False)


@pytest.mark.mpi
def test_a_linear_stress_without_a_potential_is_refused():
    mesh = bent_mesh("quadrilateral")
    shear = ufl.as_matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    symmetric = di.StressLaw(lambda F: 2.0 * (ufl.sym(F) - ufl.Identity(3)), linear=True)
    assert di.Solid(mesh, density=1.0, law=symmetric).linear
    skewed = di.StressLaw(
        lambda F: (F - ufl.Identity(3)) * (2.0 * ufl.Identity(3) + 0.3 * shear), linear=True
    )
    with pytest.raises(ValueError, match="declare the law with linear=False"):
        di.Solid(mesh, density=1.0, law=skewed)


@pytest.mark.parametrize("height", [1.0, 1e-2, 1e-4])
def test_hardly_bent_flat_cells(height):
    """A cell is taken for affine by its shortest edges."""
    mesh = dmesh.create_box(COMM, [[0, 0, 0], [1, 1, height]], [1, 1, 1], CELLS["hexahedron"])
    corner = np.argmax(mesh.geometry.x @ [1.0, 1.0, 1.0 / height])
    mesh.geometry.x[corner, 2] += 0.9e-14
    body = di.Solid(mesh, density=1.0, law=LAWS["neo-Hookean"])
    scale = np.array([1.0, 1.0, height])
    u = (0.01 * scale * np.sin(3.0 * body.x / scale)).ravel()
    found, expected = np.zeros((2, body.size))
    body.subtract_internal(u, found)
    without_kernels(body).subtract(u, expected)
    assert difference(body, found, expected) < 1e-12


@pytest.mark.parametrize("kind", ["function", "coordinates"])
def test_laws_that_vary_in_space_are_assembled_by_dolfinx(kind):
    mesh = bent_mesh("triangle")
    modulus = fem.Function(fem.functionspace(mesh, ("DG", 0)))
    modulus.x.array[:] = 1.0
    factor = modulus if kind == "function" else ufl.SpatialCoordinate(mesh)[0]
    body = di.Solid(mesh, density=1.0, law=di.EnergyLaw(lambda F: factor * ufl.inner(F.T * F - F, F) ** 2))
    assert not isinstance(body.forces, ElementForces)


def test_a_linear_law_of_a_user_is_its_second_derivative(monkeypatch):
    """Energies with linear terms give the product with K and forces at rest; constants stay as they were."""
    monkeypatch.setattr(solid, "_MATRIX_FREE", 0)
    mesh = bent_mesh("quadrilateral")
    E = fem.Constant(mesh, 2.0)

    def energy(F):
        strain = ufl.sym(F) - ufl.Identity(3)
        return E * ufl.inner(strain, strain) + 0.4 * ufl.tr(strain) + 0.1

    body = di.Solid(mesh, density=1.0, law=di.EnergyLaw(energy, linear=True), degree=2)
    u, _ = smooth(body, 0.1)
    rest, expected, found, again = np.zeros((4, body.size))
    body.subtract_internal(np.zeros(body.size), rest)
    body.stiffness.subtract_product(u, expected)
    body.subtract_internal(u, found)
    E.value = 5.0
    body.subtract_internal(u, again)
    assert difference(body, found, rest + expected) < 1e-13
    assert np.array_equal(found, again)
    energy = 0.1 * body.total_mass - u @ rest - 0.5 * u @ expected  # of unit density
    assert body.stored_energy(u) == pytest.approx(energy, rel=1e-13)
    body.reassemble()
    again[:] = 0.0
    body.subtract_internal(u, again)
    assert difference(body, again - rest, 2.5 * expected) < 1e-13 and body.revision == 1


def test_the_energy_is_that_of_the_displacements_it_is_asked_for():
    body = di.Solid(bent_mesh("hexahedron"), density=1.0, law=LAWS["neo-Hookean"])
    u, x = smooth(body, 0.03)
    out = np.zeros(body.size)
    body.subtract_internal(u, out)
    here = body.stored_energy(u)
    there = body.stored_energy(0.5 * u)
    body.subtract_tangent(0.5 * u, x, out)
    assert body.stored_energy(u) == here != there
    assert there == pytest.approx(without_kernels(body).energy(0.5 * u), rel=1e-13)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("cell, degree", [("tetrahedron", 1), ("tetrahedron", 2), ("hexahedron", 2)])
def test_a_body_far_away_feels_no_forces(cell, degree):
    """A translation by 1e6 edges gives no forces; forces have no resultant."""
    body = di.Solid(bent_mesh(cell), density=1.0, law=LAWS["neo-Hookean"], degree=degree)
    far = np.tile([1e5, -2e5, 3e5], body.size // 3)
    out, near = np.zeros((2, body.size))
    body.subtract_internal(far, out)
    assert np.abs(out).max() < 1e-15
    body.subtract_internal(smooth(body, 0.03)[0], near)
    sums = [parallel.total(COMM, near[: body.owned][i::3].sum()) for i in range(3)]
    scale = parallel.total(COMM, np.abs(near[: body.owned]).sum())
    assert np.abs(sums).max() < 1e-15 * scale


def test_inverted_elements_have_no_finite_forces():
    body = di.Solid(bent_mesh("tetrahedron"), density=1.0, law=LAWS["neo-Hookean"])
    u = np.zeros(body.size)
    u[::3] = -3.0 * body.x[:, 0]
    out = np.zeros(body.size)
    body.subtract_internal(u, out)
    assert np.isnan(out).any()


@pytest.mark.mpi
def test_without_a_compiler_dolfinx_assembles_the_forces(monkeypatch, caplog):
    """Forms are in DOLFINx's cache already: the test above has compiled them."""

    def fails(*arguments):
        raise compiler.NoCompiler("the C compiler 'cc' cannot be run: set CC")

    monkeypatch.setattr("dolfinx_impact.systems.elements.element_forces.compiled", fails)
    with caplog.at_level(logging.WARNING, logger="dolfinx_impact"):
        body = di.Solid(bent_mesh("tetrahedron"), density=1.0, law=LAWS["neo-Hookean"])
    assert not isinstance(body.forces, ElementForces)
    told = [each for each in caplog.messages if "assembled by DOLFINx, which takes longer" in each]
    assert len(told) == (COMM.rank == 0)
