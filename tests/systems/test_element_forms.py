"""Compiled expressions are found again in the cache."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from ffcx.naming import compute_signature
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.systems.forces.element_forms import number_labels

CENTRE = np.array([[1 / 3, 1 / 3]])


def deformation_gradient():
    mesh = dmesh.create_unit_square(MPI.COMM_WORLD, 2, 2)
    u = fem.Function(fem.functionspace(mesh, ("Lagrange", 1, (2,))))
    u.interpolate(lambda x: [0.1 * x[0], 0.2 * x[1]])
    return u, ufl.Identity(2) + ufl.grad(u)


def signature(expression):
    return compute_signature([(expression, CENTRE)], "")


@pytest.mark.mpi
def test_signatures_do_not_depend_on_what_was_made_before():
    _, F = deformation_gradient()
    law = di.EnergyLaw(lambda F: ufl.tr(F) ** 2 + ufl.det(F))
    first = ufl.inner(law.stress(F), law.stress(F * F))
    second = ufl.inner(law.stress(F), law.stress(F * F))
    assert signature(first) != signature(second)  # as FFCx has it: without the numbering it compiles twice
    assert signature(number_labels(first)) == signature(number_labels(second))


@pytest.mark.mpi
def test_variables_stay_apart():
    """A derivative with respect to one variable is none with respect to another one of the same value."""
    u, F = deformation_gradient()
    held, free = ufl.variable(F), ufl.variable(F)
    energy = ufl.tr(held) ** 2 * ufl.tr(free)
    both = ufl.as_vector([ufl.tr(ufl.diff(energy, each)) for each in (held, free)])
    cells = np.arange(u.function_space.mesh.topology.index_map(2).size_local, dtype=np.int32)
    found = fem.Expression(number_labels(both), CENTRE).eval(u.function_space.mesh, cells)
    assert np.reshape(found, (-1, 2)) == pytest.approx(np.tile([4 * 2.3**2, 2 * 2.3**2], (cells.size, 1)))
