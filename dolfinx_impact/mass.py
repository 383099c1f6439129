"""Lumped masses."""

from __future__ import annotations

from typing import Any

import numpy as np
import ufl
from dolfinx import fem, la
from numpy.typing import NDArray

from . import parallel


def row_sums(space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx, inside: Any = slice(None)) -> NDArray:
    """Row sums of the consistent mass matrix, one a dof.

    Args:
        space: Vector-valued Lagrange space.
        density: Mass per measure of the mesh, a UFL scalar [kg/m^tdim].
        dx: The measure of the body's cells.
        inside: Which owned dofs these cells touch; the others have no mass.

    Returns:
        Masses of the owned dofs, shape (owned,) [kg].

    Raises:
        ValueError: When a row sum is not positive (P2 simplices). Collective.
    """
    ones = ufl.as_vector([1.0] * space.dofmap.bs)
    form = density * ufl.inner(ones, ufl.TestFunction(space)) * dx
    masses = fem.assemble_vector(fem.form(form))
    masses.scatter_reverse(la.InsertMode.add)
    owned = masses.array[: space.dofmap.index_map.size_local * space.dofmap.bs].copy()
    touched = owned[inside]
    top, bottom = parallel.largest(space.mesh.comm, touched), -parallel.largest(space.mesh.comm, -touched)
    if bottom <= 1e-12 * top:
        element = space.ufl_element()
        raise ValueError(
            f"row-sum lumping of {element} gives masses down to {bottom:.3g} kg: an explicit scheme "
            "needs positive ones. Use degree 1, or an implicit scheme with mass='consistent'"
        )
    return np.ascontiguousarray(owned)
