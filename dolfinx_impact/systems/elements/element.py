"""Lagrange elements as element kernels need them: order of the nodes, and tables as C definitions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import basix
import numpy as np
from dolfinx import fem

from ... import _compat
from ..._types import FloatArray, IntArray
from ...materials import kinematics
from ..masses.mass_lumping import scalar_element
from .batch_code import NotGenerated

_ZERO = 1e-14
_SIMPLICES = ("triangle", "tetrahedron")
#: Largest degrees: the values of a batch of larger cells do not fit into the cache of a core.
_MOST = {"simplex": 3, "tensor": 6}


@dataclass(frozen=True)
class Element:
    """A Lagrange element with its quadrature.

    Attributes:
        kind: ``"simplex"`` or ``"tensor"``, the name of the C file.
        dim: Dimension of the cells and of the displacements.
        hoop: Whether the body is one of revolution, with a hoop stretch.
        order: The nodes of the kernel by their positions in DOLFINx's cells, shape (nodes,).
        points: Number of quadrature points.
        places: Quadrature points in the reference cell, in the order of the kernel, shape (points, dim).
        weights: Their weights, shape (points,).
        definitions: C definitions, tables included.
    """

    kind: str
    dim: int
    hoop: bool
    order: IntArray
    points: int
    places: FloatArray
    weights: FloatArray
    definitions: str

    def flops(self, law: int) -> int:
        """Arithmetic operations in the forces of a cell, with so many of the law at a point."""
        d, nodes = self.dim, self.order.size
        side = round(nodes ** (1 / d))
        shapes = 2 * d * side if self.kind == "tensor" else 2 * d * (nodes - 1)
        at_point = law + 2 * d * shapes + 4 * d**3 + d**2
        to_points = 0 if self.points == nodes else 4 * nodes * side * d**2
        return self.points * at_point + (to_points if self.kind == "tensor" else 0) + 6 * d**2


def element_of(space: fem.FunctionSpace, degree: int, hypothesis: str, linear: bool) -> Element:
    """The element of a space of vectors, with the quadrature of the internal forces of a law.

    Raises:
        NotGenerated: Another element than one of Lagrange on cells with straight edges.
    """
    mesh, element = space.mesh, scalar_element(space)
    cell, hoop = mesh.topology.cell_name(), hypothesis == "axisymmetric"
    rule = kinematics.quadrature(mesh, degree, hypothesis, linear)
    basix_element = element.basix_element
    if mesh.ufl_domain().ufl_coordinate_element().degree != 1:
        raise NotGenerated("element kernels take cells with straight edges")
    if basix_element.family != basix.ElementFamily.P or basix_element.discontinuous:
        raise NotGenerated("element kernels take continuous Lagrange elements")
    kind = "simplex" if cell in _SIMPLICES else "tensor"
    if "quadrature_degree" not in rule and (kind == "tensor" or hoop):
        raise NotGenerated("the quadrature of a linear law is estimated by UFL")
    if degree > _MOST[kind] or cell not in (*_SIMPLICES, "interval", "quadrilateral", "hexahedron"):
        raise NotGenerated(f"there is no element kernel of degree {degree} on a {cell}")
    if kind == "simplex":
        return _simplex(mesh, element, rule.get("quadrature_degree", 2 * degree - 2), hoop)
    return _tensor(space, element, "quadrature_rule" in rule, hoop)


def _simplex(mesh: Any, element: Any, degree: int, hoop: bool) -> Element:
    points, weights = _rule(mesh.basix_cell(), degree, basix.QuadratureType.default)
    table = element.tabulate(1, points)
    dim, nodes = points.shape[1], table.shape[-1]
    slopes = np.moveaxis(table[1:].reshape(dim, weights.size, nodes), 0, -1)
    slopes = np.where(np.abs(slopes) < _ZERO, 0.0, slopes)  # terms that the compiler leaves out
    tables = {"WEIGHTS": weights, "PLACES": points, "VALUES": table[0], "GRADIENTS": slopes}
    sizes = {"DIM": dim, "NODES": nodes, "POINTS": weights.size}
    definitions = _definitions(sizes, tables, hoop)
    return Element("simplex", dim, hoop, np.arange(nodes), weights.size, points, weights, definitions)


def _tensor(space: fem.FunctionSpace, element: Any, at_nodes: bool, hoop: bool) -> Element:
    dim, degree = space.mesh.topology.dim, element.degree
    places = np.asarray(_compat.interpolation_points(space))[:, :dim]
    order = np.lexsort(np.round(places, 12).T[::-1])
    nodes = places[order][: degree + 1, -1]
    points, weights = _line_rule(degree, at_nodes)
    if at_nodes and not np.allclose(points, nodes, rtol=0, atol=1e-13):
        raise NotGenerated("the nodes of the element are not at the points of its quadrature")
    every: FloatArray = np.ones(1)
    for _ in range(dim):
        every = np.ravel(np.outer(every, weights)).astype(np.float64)
    slopes, values = _lagrange_slopes(points), _lagrange_values(nodes, points)
    tables = {"WEIGHTS": every, "PLACES": points, "SLOPES": slopes, "VALUES": values}
    side = degree + 1
    sizes = {"DIM": dim, "SIDE": side, "COUNT": side**dim, "COLLOCATED": int(at_nodes)}
    grid = np.stack(np.meshgrid(*[points] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    definitions = _definitions(sizes, tables, hoop)
    return Element("tensor", dim, hoop, order, every.size, grid, every, definitions)


def _line_rule(degree: int, at_nodes: bool) -> tuple[FloatArray, FloatArray]:
    """Points and weights along a direction, in order: ``degree + 1`` points of GLL or of Gauss."""
    kinds = basix.QuadratureType
    rule = (2 * degree - 1, kinds.gll) if at_nodes else (2 * degree, kinds.gauss_jacobi)
    points, weights = _rule(basix.CellType.interval, *rule)
    order = np.argsort(points[:, 0])
    return points[order, 0], weights[order]


def _rule(cell: Any, degree: int, kind: Any) -> tuple[FloatArray, FloatArray]:
    points, weights = basix.make_quadrature(cell, degree, rule=kind)
    return np.array(points, dtype=np.float64), np.array(weights, dtype=np.float64)


def _lagrange_values(nodes: FloatArray, points: FloatArray) -> FloatArray:
    """Lagrange polynomials of the nodes at points, shape (points, nodes)."""
    values = np.ones((points.size, nodes.size))
    for a, b in np.ndindex(nodes.size, nodes.size):
        if a != b:
            values[:, a] *= (points - nodes[b]) / (nodes[a] - nodes[b])
    return values


def _lagrange_slopes(nodes: FloatArray) -> FloatArray:
    """Derivatives of the Lagrange polynomials of the nodes at these, shape (points, nodes)."""
    slopes = np.zeros((nodes.size, nodes.size))
    for q, a in np.ndindex(nodes.size, nodes.size):
        if a != q:
            others = [b for b in range(nodes.size) if b not in (a, q)]
            slopes[q, a] = np.prod([(nodes[q] - nodes[b]) / (nodes[a] - nodes[b]) for b in others])
            slopes[q, a] /= nodes[a] - nodes[q]
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    return slopes


def _definitions(sizes: dict[str, int], tables: dict[str, FloatArray], hoop: bool) -> str:
    sizes = {**sizes, "HOOP": int(hoop), "STRAINS": sizes["DIM"] ** 2 + int(hoop)}
    lines = [f"#define {name} {value}" for name, value in sizes.items()]
    lines += [f"#define TURN {2 * math.pi!r}", "#define ROUNDING 1e-14"]
    for name, values in tables.items():
        shape = "".join(f"[{n}]" for n in values.shape)
        lines.append(f"static const double {name}{shape} = {_braces(values)};")
    return "\n".join(lines) + "\n"


def _braces(values: Any) -> str:
    if np.ndim(values) == 0:
        return repr(float(values))
    return "{" + ", ".join(_braces(each) for each in values) + "}"
