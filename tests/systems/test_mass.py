"""Lumped masses: what they sum to, dense references cell by cell, and every partition alike."""

import basix
import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

from dolfinx_impact.systems.masses import mass_lumping

COMM = MPI.COMM_WORLD
CELLS = {c.name: c for c in dmesh.CellType}


def make_mesh(cell, n=2, comm=COMM):
    kind = CELLS[cell]
    if cell == "interval":
        return dmesh.create_unit_interval(comm, n + 2)
    if cell in ("triangle", "quadrilateral"):
        return dmesh.create_unit_square(comm, n + 1, n, cell_type=kind)
    return dmesh.create_unit_cube(comm, n, n, n + 1, cell_type=kind)


def make_space(cell, degree, n=2, comm=COMM):
    mesh = make_mesh(cell, n, comm)
    return fem.functionspace(mesh, ("Lagrange", degree, (mesh.geometry.dim,)))


def curved_triangle(comm=MPI.COMM_SELF):
    """One triangle of second degree; its edges bulge."""
    x = np.array([[0, 0], [1, 0], [0, 1], [0.6, 0.55], [-0.1, 0.5], [0.5, -0.08]])
    element = basix.ufl.element("Lagrange", "triangle", 2, shape=(2,))
    return dmesh.create_mesh(comm, cells=np.array([[0, 1, 2, 3, 4, 5]]), x=x, e=element)


def total(space, masses):
    bs = space.dofmap.bs
    return COMM.allreduce(masses.reshape(-1, bs).sum(axis=0))


def body_mass(mesh, density, dx=ufl.dx):
    return mesh.comm.allreduce(fem.assemble_scalar(fem.form(density * dx(domain=mesh))))


def mass_matrix(space, density, metadata):
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    return fem.assemble_matrix(fem.form(density * ufl.inner(u, v) * ufl.dx(metadata=metadata)))


def radial(mesh):
    return 2 * np.pi * ufl.SpatialCoordinate(mesh)[0]


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "cell, degree, weight",
    [("interval", 2, "uniform"), ("interval", 3, "axisymmetric"), ("triangle", 1, "uniform"),
     ("triangle", 2, "axisymmetric"), ("triangle", 3, "uniform"), ("quadrilateral", 1, "axisymmetric"),
     ("quadrilateral", 2, "uniform"), ("quadrilateral", 3, "axisymmetric"), ("tetrahedron", 2, "uniform"),
     ("hexahedron", 1, "axisymmetric"), ("hexahedron", 2, "uniform"), ("hexahedron", 2, "axisymmetric")],
)  # fmt: skip
def test_lumped_masses_are_positive_and_sum_to_the_body_s(cell, degree, weight):
    space = make_space(cell, degree)
    density = 3.0 * (radial(space.mesh) if weight == "axisymmetric" else 1.0) + 0 * radial(space.mesh)
    masses = mass_lumping.lump(space, density)
    assert masses.shape == (space.dofmap.index_map.size_local * space.dofmap.bs,)
    assert np.min(masses, initial=np.inf) > 0
    np.testing.assert_allclose(total(space, masses), body_mass(space.mesh, density), rtol=1e-13)


@pytest.mark.mpi
def test_the_way_is_chosen_by_the_element():
    for cell, degree, way in (
        ("triangle", 1, mass_lumping.row_sums),
        ("quadrilateral", 1, mass_lumping.row_sums),
        ("quadrilateral", 2, mass_lumping.gll),
        ("triangle", 2, mass_lumping.hrz),
        ("triangle", 3, mass_lumping.hrz),
    ):
        space = make_space(cell, degree)
        one = fem.Constant(space.mesh, 1.0)
        assert np.array_equal(mass_lumping.lump(space, one), way(space, one))
    # Nodes on the axis have no mass by the GLL rule.
    space = make_space("quadrilateral", 2)
    r = radial(space.mesh)
    assert np.array_equal(mass_lumping.lump(space, r), mass_lumping.hrz(space, r))
    with pytest.raises(ValueError, match="GLL lumping of .* gives masses down to 0 kg"):
        mass_lumping.gll(space, r)


def dense_hrz(space, density, metadata):
    """Scaled diagonals from the assembled mass matrix of each cell by itself."""
    mesh, tdim, bs = space.mesh, space.mesh.topology.dim, space.dofmap.bs
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    expected = np.zeros(space.dofmap.index_map.size_local * bs)
    for cell in range(mesh.topology.index_map(tdim).size_local):
        one = dmesh.meshtags(mesh, tdim, np.array([cell], dtype=np.int32), np.array([1], dtype=np.int32))
        # One number for all cells: one kernel.
        dx = ufl.Measure("dx", domain=mesh, subdomain_data=one, metadata=metadata)(1)
        diagonal = fem.assemble_matrix(fem.form(density * ufl.inner(u, v) * dx)).to_dense().diagonal()
        weight = fem.assemble_scalar(fem.form(density * dx))
        expected += diagonal * weight * bs / diagonal.sum()
    return expected


@pytest.mark.parametrize("weight", ["uniform", "axisymmetric"])
@pytest.mark.parametrize("cell", ["triangle", "tetrahedron", "quadrilateral", "curved"])
def test_hrz_against_the_mass_matrix_of_each_cell(cell, weight):
    if cell == "curved":
        mesh = curved_triangle()
        space = fem.functionspace(mesh, ("Lagrange", 2, (2,)))
    else:
        space = make_space(cell, 2, n=1)
    x = ufl.SpatialCoordinate(space.mesh)
    density = 2 + x[0] * x[1] if weight == "uniform" else radial(space.mesh)
    masses, expected = mass_lumping.hrz(space, density), dense_hrz(space, density, {"quadrature_degree": 10})
    np.testing.assert_allclose(masses, expected, rtol=1e-12, atol=1e-14 * expected.max())


def test_hrz_of_the_p2_triangle_has_the_known_ratio():
    # Vertices 3/57 and midpoints 16/57 of the mass of a cell.
    mesh = dmesh.create_mesh(
        MPI.COMM_SELF,
        cells=np.array([[0, 1, 2]]),
        x=np.array([[0.0, 0.0], [2.0, 0.3], [0.4, 1.0]]),
        e=basix.ufl.element("Lagrange", "triangle", 1, shape=(2,)),
    )
    space = fem.functionspace(mesh, ("Lagrange", 2, (2,)))
    masses = mass_lumping.hrz(space, fem.Constant(mesh, 1.0)) / body_mass(mesh, fem.Constant(mesh, 1.0))
    np.testing.assert_allclose(np.sort(masses[::2]), np.array([3, 3, 3, 16, 16, 16]) / 57, rtol=1e-13)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "cell, degree",
    [("interval", 3), *(("quadrilateral", p) for p in (1, 2, 3)), *(("hexahedron", p) for p in (1, 2))],
)
def test_gll_is_the_mass_matrix_under_its_rule(cell, degree):
    space = make_space(cell, degree)
    density = 1 + ufl.SpatialCoordinate(space.mesh)[0]
    masses = mass_lumping.gll(space, density)
    metadata = {"quadrature_rule": "GLL", "quadrature_degree": 2 * degree - 1}
    matrix = mass_matrix(space, density, metadata)
    matrix.scatter_reverse()
    dense = matrix.to_scipy().toarray()[: masses.size]
    off = dense.copy()
    off[np.arange(masses.size), np.arange(masses.size)] = 0.0
    np.testing.assert_allclose(np.diagonal(dense), masses, rtol=1e-13)
    assert np.abs(off).max(initial=0.0) <= 1e-13 * np.max(masses, initial=1e-300)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "cell, degree, way",
    [
        ("triangle", 2, mass_lumping.lump),
        ("triangle", 3, mass_lumping.hrz),
        ("quadrilateral", 2, mass_lumping.lump),
        ("quadrilateral", 2, mass_lumping.hrz),
        ("tetrahedron", 2, mass_lumping.hrz),
    ],
)
def test_masses_do_not_depend_on_the_partition(cell, degree, way):
    found = []
    for comm in (COMM, MPI.COMM_SELF):
        space = make_space(cell, degree, comm=comm)
        masses = way(space, 1 + radial(space.mesh)).reshape(-1, space.dofmap.bs)
        x = space.tabulate_dof_coordinates()[: len(masses)]
        rows = np.vstack(comm.allgather(np.hstack([x, masses])))
        # Rounding must not decide the order.
        found.append(rows[np.lexsort(np.round(rows[:, :3], 8).T)])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-14)


@pytest.mark.mpi
def test_cells_outside_the_measure_have_no_mass():
    space = make_space("triangle", 2)
    mesh, tdim = space.mesh, space.mesh.topology.dim
    left = dmesh.locate_entities(mesh, tdim, lambda x: x[0] < 0.334)
    tags = dmesh.meshtags(mesh, tdim, np.sort(left), np.ones(left.size, np.int32))
    dx = ufl.Measure("dx", domain=mesh, subdomain_data=tags)(1)
    inside = np.repeat(space.tabulate_dof_coordinates()[:, 0] < 0.334, 2)
    inside = inside[: space.dofmap.index_map.size_local * 2]
    masses = mass_lumping.hrz(space, fem.Constant(mesh, 6.0), dx, inside)
    assert not masses[~inside].any() and np.min(masses[inside], initial=1.0) > 0
    np.testing.assert_allclose(total(space, masses), 2.0, rtol=1e-13)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "way, density, match",
    [
        (mass_lumping.row_sums, 1.0, "row-sum lumping of .* gives masses down to .* kg: .* Use degree 1"),
        (mass_lumping.hrz, -1.0, "HRZ lumping of .* gives masses down to -.* kg"),
        (mass_lumping.gll, 1.0, "GLL lumping needs nodes at the GLL points .* use hrz"),
    ],
)
def test_errors_name_the_element_and_a_way_out(way, density, match):
    space = make_space("triangle", 2)
    with pytest.raises(ValueError, match=match):
        way(space, fem.Constant(space.mesh, density))


@pytest.mark.mpi
def test_gll_needs_gll_nodes():
    mesh = make_mesh("quadrilateral")
    element = basix.ufl.element(
        "Lagrange", "quadrilateral", 3, lagrange_variant=basix.LagrangeVariant.equispaced, shape=(2,)
    )
    space = fem.functionspace(mesh, element)
    one = fem.Constant(mesh, 1.0)
    with pytest.raises(ValueError, match="variant gll_warped"):
        mass_lumping.gll(space, one)
    assert np.array_equal(mass_lumping.lump(space, one), mass_lumping.hrz(space, one))
