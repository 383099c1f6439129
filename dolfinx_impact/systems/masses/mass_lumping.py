"""Mass lumping: row sums, GLL quadrature, and diagonal scaling (HRZ)."""

from __future__ import annotations

from typing import Any

import basix.ufl
import numpy as np
import ufl
from dolfinx import fem, la

from ... import parallel
from ..._types import FloatArray


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
    if scalar_element(space).degree == 1:
        return row_sums(space, density, dx, inside)
    masses = _positive_gll(space, density, dx, inside)
    return hrz(space, density, dx, inside) if masses is None else masses


def cell_masses(
    space: fem.FunctionSpace, density: Any, dx: Any = ufl.dx, inside: Any = slice(None)
) -> FloatArray:
    """Contributions of the owned cells to the nodal masses of :func:`lump`.

    Args:
        space, density, dx, inside: See :func:`lump`.

    Returns:
        Masses of the nodes in DOLFINx's order, shape (cells, nodes) [kg]; 0 outside of ``dx``. Collective.
    """
    element = scalar_element(space)
    rule: dict[str, Any] | None = {}
    if element.degree > 1:
        rule = None if _positive_gll(space, density, dx, inside) is None else _gll_rule(element)
    if rule is None:
        return _hrz_shares(space, density, dx)
    torn = apart(space, ())
    sums = fem.assemble_vector(fem.form(density * ufl.TestFunction(torn) * dx(metadata=rule))).array
    cells = space.mesh.topology.index_map(space.mesh.topology.dim).size_local
    masses: FloatArray = sums[torn.dofmap.list[:cells]]
    return masses


def apart(space: fem.FunctionSpace, shape: tuple[int, ...]) -> fem.FunctionSpace:
    """The elements of a space without continuity: every cell has nodes of its own, in the same order."""
    element = scalar_element(space)
    torn = basix.ufl.element(
        element.element_family,
        element.cell_type,
        element.degree,
        lagrange_variant=element.lagrange_variant,
        shape=shape,
        discontinuous=True,
    )
    return fem.functionspace(space.mesh, torn)


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
    owned = nodal_sums(space, _hrz_shares(space, density, dx)).array[: space.dofmap.index_map.size_local]
    return _positive(space, np.repeat(owned, space.dofmap.bs), inside, "HRZ")


def nodal_sums(space: fem.FunctionSpace, shares: FloatArray) -> la.Vector:
    """Sums of values at the nodes of owned cells, shape (cells, nodes), at the owned nodes. Collective."""
    nodes = space.dofmap.list[: len(shares)]
    sums = la.vector(space.dofmap.index_map)
    sums.array[:] = np.bincount(nodes.ravel(), shares.ravel(), sums.array.size)
    sums.scatter_reverse(la.InsertMode.add)
    return sums


def _hrz_shares(space: fem.FunctionSpace, density: Any, dx: Any) -> FloatArray:
    """Contributions of the owned cells to :func:`hrz`, shape (cells, nodes) [kg]."""
    points, weights = _cell_weights(space, density, dx)
    phi = scalar_element(space).tabulate(0, points)[0]
    diagonal = weights @ phi**2
    traces = diagonal.sum(axis=1)
    scale = np.divide(weights.sum(axis=1), traces, out=np.zeros_like(traces), where=traces != 0)
    shares: FloatArray = diagonal * scale[:, None]
    return shares


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


def _positive_gll(space: fem.FunctionSpace, density: Any, dx: Any, inside: Any) -> FloatArray | None:
    """Masses by :func:`gll`; None for other elements, or where a mass vanishes. Collective."""
    element = scalar_element(space)
    if not _has_gll_nodes(element):
        return None
    masses = _sums(space, density, dx(metadata=_gll_rule(element)))
    low, top = _range(space, masses, inside)
    return masses if low > 1e-12 * top else None


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
