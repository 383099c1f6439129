"""Cook's membrane of a nearly incompressible material by elements of higher degree.

``python tests/support/cook_membrane.py CELLS DEGREE`` prints the displacement of its upper right corner: a
plane strain body of 48 x 44 to 16 under a shear force of 100 at its end, by DOLFINx and Newton's method.
"""

import sys

import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

E, NU = 240.565, 0.4999
MU, BULK = E / (2 * (1 + NU)), E / (3 * (1 - 2 * NU))
LOADS = 20


def membrane(cells):
    found = mesh.create_unit_square(MPI.COMM_SELF, cells, cells, mesh.CellType.quadrilateral)
    x = found.geometry.x
    x[:, 1] = 44 * x[:, 0] + (44 - 28 * x[:, 0]) * x[:, 1]
    x[:, 0] *= 48
    return found


def residual(u, load, degree):
    """Internal less external forces, a linear form."""
    domain, w, H = u.function_space.mesh, ufl.TestFunction(u.function_space), ufl.grad(u)
    F = ufl.as_matrix([[1 + H[0, 0], H[0, 1], 0], [H[1, 0], 1 + H[1, 1], 0], [0, 0, 1]])
    J = ufl.det(F)
    W = MU / 2 * (J ** (-2 / 3) * ufl.inner(F, F) - 3) + BULK / 2 * ufl.ln(J) ** 2
    end = np.sort(mesh.locate_entities_boundary(domain, 1, lambda x: np.isclose(x[0], 48)))
    ds = ufl.Measure("ds", domain, subdomain_data=mesh.meshtags(domain, 1, end, np.ones(end.size, np.int32)))
    inside = ufl.dx(metadata={"quadrature_degree": 2 * degree})
    return ufl.derivative(W * inside, u, w) - load * w[1] * ds(1)


def tip(cells, degree):
    V = fem.functionspace(membrane(cells), ("Lagrange", degree, (2,)))
    u, load = fem.Function(V), fem.Constant(V.mesh, 0.0)
    form = residual(u, load, degree)
    held = fem.dirichletbc(np.zeros(2), fem.locate_dofs_geometrical(V, lambda x: np.isclose(x[0], 0)), V)
    forces, stiffness = fem.form(form), fem.form(ufl.derivative(form, u))
    for part in range(1, LOADS + 1):
        load.value = part / LOADS * 100 / 16
        size = np.inf
        while size > 1e-9:
            A, b = petsc.assemble_matrix(stiffness, bcs=[held]), petsc.assemble_vector(forces)
            A.assemble()
            b.array[held.dof_indices()[0]] = 0.0
            solver = PETSc.KSP().create(MPI.COMM_SELF)
            solver.setOperators(A)
            solver.setType("preonly")
            solver.getPC().setType("lu")
            solver.getPC().setFactorSolverType("mumps")
            step = A.createVecRight()
            solver.solve(b, step)
            u.x.array[:] -= step.array
            size = np.abs(step.array).max()
    x = V.tabulate_dof_coordinates()
    corner = np.argmin(np.linalg.norm(x[:, :2] - [48, 60], axis=1))
    return u.x.array[2 * corner : 2 * corner + 2]


if __name__ == "__main__":
    print(tip(int(sys.argv[1]), int(sys.argv[2])))
