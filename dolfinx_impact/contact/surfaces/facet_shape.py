"""Nodes and shape functions of the facets of Lagrange elements."""

from __future__ import annotations

from dataclasses import dataclass

import basix
import numpy as np
from dolfinx import fem

from ..._types import FloatArray, Int32Array, IntArray
from ...systems.masses.mass_lumping import scalar_element

_SIMPLICES = ("interval", "triangle", "tetrahedron")


@dataclass(frozen=True)
class FacetShape:
    """Nodes of the facets of a function space, and how they are divided.

    Facets of quadrilaterals and hexahedra keep the degree of the space (tensor products of Lagrange
    polynomials at GLL points); those of simplices above degree 1 are divided into linear ones, since a dual
    basis needs ``int N > 0`` for all shape functions.

    Attributes:
        dim: Dimension of the facets, 1 or 2.
        simplex: Whether the facets are triangles, with linear shape functions; otherwise these are tensor
            products.
        points: Nodes of the factors on [0, 1], shape (degree + 1,); (0, 1) where linear.
        corners: Positions of the corners among the nodes, in the order of the boundary.
        nodes: For every local facet of a cell, the cell's nodes on each of its parts, shape (facets, parts,
            nodes); orientations differ.
        flip: Permutation of the nodes that turns the normal.
    """

    dim: int
    simplex: bool
    points: FloatArray
    corners: IntArray
    nodes: IntArray
    flip: IntArray

    @property
    def rule(self) -> tuple[FloatArray, FloatArray]:
        """Quadrature points and weights on the reference segment or triangle, exact for ``N_i N_j``.

        On segments two degrees more are integrated exactly, for the radius of axisymmetric bodies.
        """
        k = self.points.size - 1
        if self.dim == 1:
            return _rule(basix.CellType.interval, 2 * k + (2 if k > 1 else 1))
        return _rule(basix.CellType.triangle, 2 if self.simplex else 4 * k)

    def warps(self, x: FloatArray) -> FloatArray:
        """Largest distance of the bilinear parts of facets from their two triangles, shape (facets,) [m].

        Args:
            x: Positions of the nodes of each facet, shape (facets, n, gdim) [m].
        """
        if self.simplex or self.dim == 1:
            return np.zeros(len(x))
        grid = x.reshape(len(x), self.points.size, self.points.size, -1)
        twist = grid[:, :-1, :-1] - grid[:, 1:, :-1] + grid[:, 1:, 1:] - grid[:, :-1, 1:]
        largest: FloatArray = 0.25 * np.linalg.norm(twist, axis=3).max(axis=(1, 2))
        return largest


def _rule(cell: basix.CellType, degree: int) -> tuple[FloatArray, FloatArray]:
    points, weights = basix.make_quadrature(cell, degree)
    return np.ascontiguousarray(points), np.ascontiguousarray(weights)


def facet_shape(space: fem.FunctionSpace) -> FacetShape:
    """The facet shape of a Lagrange space.

    Raises:
        ValueError: Cells of dimension 1, whose facets are points.
    """
    element = scalar_element(space)
    cell, degree = element.cell_type, element.degree
    dim = len(basix.topology(cell)) - 2
    if dim < 1:
        raise ValueError(
            "surfaces of bodies on a line are points: take NodePairs, or a mesh of two or three dimensions"
        )
    simplex = cell.name in _SIMPLICES
    lattices = [_lattice(element, cell, dim, i, simplex) for i in range(len(basix.topology(cell)[dim]))]
    points, nodes = lattices[0][0], np.array([each[1] for each in lattices])
    if simplex:
        parts = _linear_parts(degree, dim)
        nodes = nodes[:, parts]
        flip = np.array([1, 0]) if dim == 1 else np.array([0, 2, 1])
        return FacetShape(dim, dim == 2, np.array([0.0, 1.0]), np.arange(dim + 1), nodes, flip)
    n = degree + 1
    grid = np.arange(n**dim).reshape((n,) * dim)
    if dim == 1:
        return FacetShape(1, False, points, np.array([0, degree]), nodes[:, None, :], grid[::-1].copy())
    corners = np.array([grid[0, 0], grid[-1, 0], grid[-1, -1], grid[0, -1]])
    return FacetShape(2, False, points, corners, nodes[:, None, :], grid.T.ravel().copy())


def _lattice(
    element: object, cell: basix.CellType, dim: int, facet: int, simplex: bool
) -> tuple[FloatArray, Int32Array]:
    """Nodes of a local facet, sorted by their parameters along its first and second edge."""
    lagrange = element.basix_element  # type: ignore[attr-defined]
    closure = np.array(lagrange.entity_closure_dofs[dim][facet])
    corners = np.asarray(basix.geometry(cell))[basix.topology(cell)[dim][facet]]
    axes = (corners[1 : dim + 1] - corners[0]).T
    parameters = np.linalg.lstsq(axes, (lagrange.points[closure] - corners[0]).T, rcond=None)[0].T
    rounded = np.round(parameters, 9) + 0.0
    order = np.lexsort(rounded.T[::-1])
    values = np.unique(rounded[:, 0]) if not simplex else np.array([0.0, 1.0])
    return values, closure[order]


def _linear_parts(degree: int, dim: int) -> IntArray:
    """Linear parts of a facet with the nodes of a simplex of this degree, shape (parts, dim + 1)."""
    if dim == 1:
        first = np.arange(degree)
        return np.column_stack([first, first + 1])
    number: dict[tuple[int, int], int] = {}
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            number[i, j] = len(number)
    parts = []
    for i, j in number:
        if i + j < degree:
            parts.append([number[i, j], number[i + 1, j], number[i, j + 1]])
        if i + j < degree - 1:
            parts.append([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]])
    return np.array(parts)
