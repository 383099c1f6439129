"""Mass lumping: row sums, GLL quadrature, and diagonal scaling (HRZ)."""

from __future__ import annotations

from typing import Any

import basix.ufl
import numpy as np
import ufl
from dolfinx import fem, la

from .. import parallel
from .._types import FloatArray


def lump(space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx, inside: Any = slice(None)) -> FloatArray:
    """Lumped masses by the method that is positive for the elements.

    Degree 1: :func:`row_sums`. Intervals, quadrilaterals and hexahedra of higher degree with nodes at the
    GLL points: :func:`gll`, or :func:`hrz` where a nodal mass vanishes (at r = 0 of an axisymmetric body).
    Others, such as triangles and tetrahedra of degree 2 or higher, with zero or negative row sums:
    :func:`hrz`.

    Args:
        space: Vector-valued Lagrange space.
        density: Mass per measure of the mesh, a UFL scalar [kg/m^tdim].
        dx: The measure of the body's cells.
        inside: Mask of the owned dofs on these cells; the others have no mass.

    Returns:
        Masses of the owned dofs, shape (owned,) [kg].

    Raises:
        ValueError: When a mass is not positive. Collective.
    """
    element = scalar_element(space)
    if element.degree == 1:
        return row_sums(space, density, dx, inside)
    if _has_gll_nodes(element):
        masses = _sums(space, density, dx(metadata=_gll_rule(element)))
        low, top = _range(space, masses, inside)
        if low > 1e-12 * top:
            return masses
    return hrz(space, density, dx, inside)


def row_sums(
    space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx, inside: Any = slice(None)
) -> FloatArray:
    """Row sums of the consistent mass matrix.

    Args:
        space: Vector-valued Lagrange space.
        density: Mass per measure of the mesh, a UFL scalar [kg/m^tdim].
        dx: The measure of the body's cells.
        inside: Mask of the owned dofs on these cells; the others have no mass.

    Returns:
        Masses of the owned dofs, shape (owned,) [kg].

    Raises:
        ValueError: When a row sum is not positive (P2 simplices). Collective.
    """
    return _positive(space, _sums(space, density, dx), inside, "row-sum")


def gll(space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx, inside: Any = slice(None)) -> FloatArray:
    """Mass matrix by Gauss-Lobatto-Legendre quadrature, which is diagonal.

    The quadrature points are the nodes of the element, so that row sums equal the diagonal.

    Args:
        space: Vector-valued Lagrange space of variant ``gll_warped`` on intervals,
            quadrilaterals or hexahedra.
        density: Mass per measure of the mesh, a UFL scalar [kg/m^tdim].
        dx: The measure of the body's cells.
        inside: Mask of the owned dofs on these cells; the others have no mass.

    Returns:
        Masses of the owned dofs, shape (owned,) [kg].

    Raises:
        ValueError: Another element, or a mass that is not positive. Collective.
    """
    element = scalar_element(space)
    if not _has_gll_nodes(element):
        raise ValueError(
            f"GLL lumping needs nodes at the GLL points (Lagrange elements of variant gll_warped on "
            f"intervals, quadrilaterals or hexahedra), but the element is {space.ufl_element()}; use hrz"
        )
    return _positive(space, _sums(space, density, dx(metadata=_gll_rule(element))), inside, "GLL")


def hrz(space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx, inside: Any = slice(None)) -> FloatArray:
    """Diagonals of the consistent element mass matrices, scaled to the mass of the cell.

    ``m_i = M_ii m_cell / sum_j M_jj``, summed over the cells. Positive for every element and positive
    density, also on curved cells and with weights such as ``2 pi x[0]``.

    Source: Hinton, Rock, Zienkiewicz, Earthquake Engng Struct. Dyn. 4 (1976) 245-249.

    Args:
        space: Vector-valued Lagrange space.
        density: Mass per measure of the mesh, a UFL scalar [kg/m^tdim].
        dx: The measure of the body's cells.
        inside: Mask of the owned dofs on these cells; the others have no mass.

    Returns:
        Masses of the owned dofs, shape (owned,) [kg].

    Raises:
        ValueError: When a mass is not positive. Collective.
    """
    parts = _hrz_parts(space, density, dx)
    nodes = space.dofmap.list[: len(parts)]
    masses = la.vector(space.dofmap.index_map)
    masses.array[:] = np.bincount(nodes.ravel(), parts.ravel(), masses.array.size)
    masses.scatter_reverse(la.InsertMode.add)
    owned = masses.array[: space.dofmap.index_map.size_local]
    return _positive(space, np.repeat(owned, space.dofmap.bs), inside, "HRZ")


def by_cell(space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx) -> FloatArray:
    """Parts of the nodal masses that :func:`lump` gets from each owned cell, shape (cells, nodes) [kg].

    Those of GLL elements are row sums, the same on affine cells.
    """
    element = scalar_element(space)
    if element.degree > 1 and not _has_gll_nodes(element):
        return _hrz_parts(space, density, dx)
    points, weights = _cell_weights(space, density, dx)
    parts: FloatArray = weights @ element.tabulate(0, points)[0]
    return parts


def _hrz_parts(space: fem.FunctionSpace, density: Any, dx: Any) -> FloatArray:
    """``M_ii m_cell / sum_j M_jj`` of each owned cell, shape (cells, nodes) [kg]."""
    points, weights = _cell_weights(space, density, dx)
    diagonal = weights @ scalar_element(space).tabulate(0, points)[0] ** 2
    traces = diagonal.sum(axis=1)
    scale = np.divide(weights.sum(axis=1), traces, out=np.zeros_like(traces), where=traces != 0)
    parts: FloatArray = diagonal * scale[:, None]
    return parts


def _cell_weights(space: fem.FunctionSpace, density: Any, dx: Any) -> tuple[FloatArray, FloatArray]:
    """Quadrature points, shape (q, tdim), and the masses at those of owned cells, shape (cells, q) [kg]."""
    mesh = space.mesh
    degree = _quadrature_degree(space, density)
    element = basix.ufl.quadrature_element(mesh.basix_cell(), degree=degree)
    points = fem.functionspace(mesh, element)
    form = density * ufl.TestFunction(points) * dx(metadata={"quadrature_degree": degree})
    weights = fem.assemble_vector(fem.form(form)).array
    cells = mesh.topology.index_map(mesh.topology.dim).size_local
    quadrature: FloatArray = np.asarray(element.custom_quadrature()[0], dtype=np.float64)
    return quadrature, weights[points.dofmap.list[:cells]]


def _quadrature_degree(space: fem.FunctionSpace, density: Any) -> int:
    """Polynomial degree of ``density phi^2`` times the Jacobian determinant of curved cells."""
    mesh = space.mesh
    density_degree = ufl.algorithms.estimate_total_polynomial_degree(ufl.as_ufl(density))
    simplex = mesh.basix_cell().name in ("interval", "triangle", "tetrahedron")
    geometry = mesh.ufl_domain().ufl_coordinate_element().sub_elements[0]
    warp = geometry.degree - (1 if simplex else 0)
    degree: int = 2 * scalar_element(space).degree + density_degree + mesh.topology.dim * warp
    return degree


def scalar_element(space: fem.FunctionSpace) -> Any:
    """Scalar element of the components."""
    element = space.ufl_element()
    return element.sub_elements[0] if element.reference_value_shape else element


def _has_gll_nodes(element: Any) -> bool:
    return (
        element.basix_element.family == basix.ElementFamily.P
        and element.lagrange_variant == basix.LagrangeVariant.gll_warped
        and element.cell_type.name in ("interval", "quadrilateral", "hexahedron")
    )


def _gll_rule(element: Any) -> dict[str, Any]:
    return {"quadrature_rule": "GLL", "quadrature_degree": 2 * element.degree - 1}


def _sums(space: fem.FunctionSpace, density: Any, dx: Any) -> FloatArray:
    test = ufl.TestFunction(space)
    total = test if test.ufl_shape == () else sum(test[i] for i in range(space.dofmap.bs))
    form = density * total * dx
    masses = fem.assemble_vector(fem.form(form))
    masses.scatter_reverse(la.InsertMode.add)
    owned = masses.array[: space.dofmap.index_map.size_local * space.dofmap.bs].copy()
    return np.ascontiguousarray(owned)


def _range(space: fem.FunctionSpace, masses: FloatArray, inside: Any) -> tuple[float, float]:
    """Smallest and largest mass over all ranks [kg]. Collective."""
    comm, touched = space.mesh.comm, masses[inside]
    return -parallel.largest(comm, -touched), parallel.largest(comm, touched)


def _positive(space: fem.FunctionSpace, masses: FloatArray, inside: Any, how: str) -> FloatArray:
    low, top = _range(space, masses, inside)
    finite = parallel.total(space.mesh.comm, float(not np.all(np.isfinite(masses)))) == 0
    if not finite or low <= 1e-12 * top:
        raise ValueError(
            f"{how} lumping of {space.ufl_element()} gives masses down to {low:.3g} kg: an explicit scheme "
            "needs positive ones. Use degree 1, or an implicit scheme with mass='consistent'"
        )
    return masses
