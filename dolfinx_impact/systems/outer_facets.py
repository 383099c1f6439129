"""Named facets on the outside of a body, with the integrals of the element's functions on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import basix
import numpy as np

from .. import _compat, parallel
from .._types import FloatArray, Int64Array, IntArray
from .masses.mass_lumping import scalar_element

if TYPE_CHECKING:
    from .continuum import Continuum

#: Least integral of a function over the mean one of its facet with which it stands for a positive area.
_POSITIVE = 0.05
#: Facets on the axis of revolution have areas below this part of the largest.
_NOTHING = 1e-12


#: Attributes of :class:`OuterFacets` with a row for each facet.
_COLUMNS = ("nodes", "shares", "areas", "normals", "x")


@dataclass(frozen=True)
class OuterFacets:
    """The facets of one name of all ranks, on every rank, in an order that depends on the ranks.

    Facets on the axis of a body of revolution, which have no area, are left out.

    Attributes:
        nodes: Numbers of the nodes in the function space, corners first, shape (facets, n).
        corners: Number of corners of a facet.
        shares: ``int N_k dA``, parts of a uniform pressure's force at the nodes, shape (facets, n) [m2].
        areas: Positive areas of the nodes with the same sum: the shares, or ``int N_k^2 dA`` scaled (HRZ) on
            facets where a share is not positive (at the vertices of P2 tetrahedra), shape (facets, n) [m2].
        normals: Mean outward unit normals, shape (facets, gdim).
        x: Coordinates of the nodes at zero displacement, shape (facets, n, gdim) [m].
    """

    nodes: Int64Array
    corners: int
    shares: FloatArray
    areas: FloatArray
    normals: FloatArray
    x: FloatArray

    @classmethod
    def joined(cls, every: Sequence[OuterFacets]) -> OuterFacets:
        """Those of several names."""
        columns = ([getattr(each, name) for each in every] for name in _COLUMNS)
        nodes, shares, areas, normals, x = map(np.concatenate, columns)
        return cls(nodes, every[0].corners, shares, areas, normals, x)

    def facing(self, direction: FloatArray) -> OuterFacets:
        """Those with normals within 60 degrees of a direction, shape (gdim,); all where there are none."""
        chosen = self.normals @ direction > 0.5
        if not chosen.any():
            return self
        return OuterFacets(
            self.nodes[chosen],
            self.corners,
            self.shares[chosen],
            self.areas[chosen],
            self.normals[chosen],
            self.x[chosen],
        )

    def normals_at(self, nodes: Int64Array) -> FloatArray:
        """Unit normals at nodes, mean over their facets weighted by areas, shape (nodes, gdim)."""
        known = np.unique(self.nodes)
        sums = np.zeros((known.size + 1, self.normals.shape[1]))
        at = np.searchsorted(known, self.nodes)
        np.add.at(
            sums, at.ravel(), (self.areas[..., None] * self.normals[:, None]).reshape(-1, sums.shape[1])
        )
        place = np.minimum(np.searchsorted(known, nodes), max(known.size - 1, 0))
        found = np.isin(nodes, known)
        normals = sums[np.where(found, place, known.size)]
        size = np.linalg.norm(normals, axis=1, keepdims=True)
        unit: FloatArray = np.divide(normals, size, out=np.zeros_like(normals), where=size > 0)
        return unit


def collect_facets(body: Continuum, name: str | int | None) -> OuterFacets:
    """The outer facets of a body with this name or tag; None for all of them. Collective.

    Raises:
        ValueError: See :meth:`.Continuum.outer_facets`.
    """
    cells, local = body.outer_facets(name)
    element, gdim = scalar_element(body.space), body.gdim
    tdim = body.mesh.topology.dim
    corners = len(basix.topology(element.cell_type)[tdim - 1][0])
    n = len(element.basix_element.entity_closure_dofs[tdim - 1][0])
    rows = [np.zeros((0, 3 * n + gdim + n * gdim))]
    for facet in np.unique(local):
        of = cells[local == facet]
        closure = np.array(element.basix_element.entity_closure_dofs[tdim - 1][facet])
        nodes = np.asarray(body.space.dofmap.list)[of][:, closure]
        shares, squares, normals = _integrals(body, of, int(facet), closure)
        number = body.space.dofmap.index_map.local_to_global(nodes.ravel().astype(np.int32))
        x = body.x[nodes][..., :gdim].reshape(len(of), -1)
        rows.append(np.hstack([number.reshape(nodes.shape), shares, squares, normals, x]))
    every = parallel.gather_rows(body.comm, np.vstack(rows))
    sizes = every[:, n : 2 * n].sum(axis=1)
    every = every[sizes > _NOTHING * sizes.max(initial=0.0)]
    nodes, shares, squares, normals, x = np.split(every, np.cumsum([n, n, n, gdim]), axis=1)
    total = shares.sum(axis=1, keepdims=True)
    positive = shares.min(axis=1, keepdims=True) > _POSITIVE * total / n
    areas = np.where(positive, shares, squares * total / squares.sum(axis=1, keepdims=True))
    return OuterFacets(nodes.astype(np.int64), corners, shares, areas, normals, x.reshape(-1, n, gdim))


def _integrals(
    body: Continuum, cells: IntArray, facet: int, closure: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``int N dA``, ``int N^2 dA``, (cells, n) [m2], and normals, (cells, gdim), of a facet of the cells."""
    element, tdim = scalar_element(body.space), body.mesh.topology.dim
    geometry = body.mesh.ufl_domain().ufl_coordinate_element().sub_elements[0].basix_element
    corners = np.asarray(basix.geometry(element.cell_type))[
        basix.topology(element.cell_type)[tdim - 1][facet]
    ]
    points, weights, axes = _rule(element, geometry.degree, corners)
    N = element.basix_element.tabulate(0, points)[0, :, closure, 0].T
    table = geometry.tabulate(1, points)[..., 0]
    at = body.mesh.geometry.x[_compat.geometry_dofmap(body.mesh)[cells]][..., : body.gdim]
    x = np.einsum("qg,cgi->cqi", table[0], at)
    tangents = np.einsum("dqg,cgi,ad->cqai", table[1:], at, axes)
    directed = _directed_areas(tangents)
    middle = x.mean(axis=1) - at.mean(axis=1)
    sums = np.einsum("q,cqi->ci", weights, directed)
    sums *= np.sign(np.einsum("ci,ci->c", sums, middle))[:, None]
    dA = weights * np.linalg.norm(directed, axis=2) * body.cross_section
    if body.hypothesis == "axisymmetric":
        dA = dA * 2.0 * np.pi * x[..., 0]
    normals = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return dA @ N, dA @ N**2, normals


def _rule(element: object, geometry: int, corners: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Quadrature on a facet in the reference cell: points, weights, axes of the facet."""
    dim = corners.shape[1] - 1
    if dim == 0:
        return corners, np.ones(1), np.zeros((0, 1))
    kind = {2: "interval", 3: "triangle", 4: "quadrilateral"}[len(corners)]
    degree = 2 * element.degree + 1 + dim * (geometry - 1) + dim  # type: ignore[attr-defined]
    at, weights = basix.make_quadrature(getattr(basix.CellType, kind), degree)
    axes = corners[1 : dim + 1] - corners[0]
    return corners[0] + at @ axes, np.asarray(weights, dtype=np.float64), axes


def _directed_areas(tangents: FloatArray) -> FloatArray:
    """Normals with the length of the area element from tangents, shape (cells, points, dim, gdim)."""
    gdim = tangents.shape[3]
    if gdim == 1:
        return np.ones((*tangents.shape[:2], 1))
    if gdim == 2:
        return np.stack([tangents[:, :, 0, 1], -tangents[:, :, 0, 0]], axis=2)
    return np.asarray(np.cross(tangents[:, :, 0], tangents[:, :, 1]), dtype=np.float64)
