"""The facets of the slave surfaces and their points, for pressures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import parallel
from ..._types import FloatArray, IntArray
from ...systems.continuum import Continuum
from ...systems.outer_facets import OuterFacets
from ..pressure import POSITIVE, PointFacets, repeated
from .assembly import Assembly
from .facets import Facets

#: Point (in the order of the columns of a run), facet, share and area of each entry.
Entries = tuple[IntArray, IntArray, FloatArray, FloatArray]


def slave_facets(
    assembly: Assembly, outer: Sequence[OuterFacets], column: IntArray, *, tied: bool
) -> tuple[PointFacets, FloatArray]:
    """Facets of all points of a contact of surfaces. Collective.

    Points of pairs belong to the facets of the slave, each with all functions of its element; where a part of
    a facet alone has something opposite, the covered parts of its points' areas count. Corners cover nothing:
    each has the area of its node on the surface, as a facet of its own.

    Args:
        assembly: The points.
        outer: Facets of each surface of the contact.
        column: Number of each point of this rank in the order of the columns of a run.
        tied: Whether the points are those of a tie: for each direction one, at the facets that are covered,
            which never change.

    Returns:
        The facets, and the area of each point of this rank where all its facets are covered [m2]; 0 where a
        point has none, as corners.
    """
    comm, facets, rows = assembly.body.comm, 0, assembly.body.gdim if tied else 1
    count, all_facets = comm.allreduce(column.size), assembly.all_facets()
    found: list[Entries] = []
    whole = np.zeros(count)
    for k, (slave, _) in enumerate(assembly.pairs):
        part = assembly.mortar.incidence(k, covered=tied)
        found.append(_of_pair(assembly, all_facets, slave, part, outer[slave], column, whole))
    corners, first = assembly.corners, assembly.mortar.nodes.size
    for k, surface in enumerate(corners.surfaces):
        chosen = corners.member == k
        found.append(_of_corners(assembly, corners.nodes[chosen], outer[surface], column[first:][chosen]))
    facet_numbers = []
    for _, facet, _, _ in found:
        facet_numbers.append(facet + facets)
        facets += int(facet.max(initial=-1)) + 1
    point, facet, shares, areas = (np.concatenate(parts) for parts in zip(*found))
    facet = np.concatenate(facet_numbers)
    # On the axis of revolution the integral of a node's function may vanish: its area tells nothing there.
    whole[whole <= POSITIVE * np.bincount(point, areas, count)] = 0.0
    return PointFacets(count * rows, *repeated((point, facet, shares, areas), facets, rows)), whole[column]


def _of_pair(
    assembly: Assembly,
    facets: Facets,
    slave: int,
    incidence: tuple[IntArray, IntArray, IntArray],
    outer: OuterFacets,
    columns: IntArray,
    whole: FloatArray,
) -> Entries:
    """Entries of a pair; adds to the whole areas of all points, in their mortar functions. Collective."""
    parts = facets.shape.nodes.shape[1]
    point, part, place = incidence
    part = assembly.facets.number[part]
    every = parallel.gather_rows(assembly.body.comm, np.column_stack([part, place, columns[point]]))
    part, place, at = every.T
    chosen = facets.of(slave)
    of_parent = facets.global_nodes[facets.nodes[chosen]].reshape(chosen.size // parts, -1)
    parent = _matches(of_parent, outer)[np.searchsorted(chosen, part) // parts]
    node = facets.global_nodes[facets.nodes[part, place]]
    known = parent >= 0
    table = np.unique(np.column_stack([at, parent, node])[known], axis=0)
    at_table, facet, node = table.T
    k = (outer.nodes[facet] == node[:, None]).argmax(axis=1)
    shares, areas = outer.shares[facet, k], outer.areas[facet, k]
    if parts == 1:
        np.add.at(whole, at_table, shares)
    else:
        np.add.at(whole, at, _linear_areas(assembly.body, facets, part, place))
    return at_table, facet, shares, areas


def _matches(nodes: IntArray, outer: OuterFacets) -> IntArray:
    """Facets of ``outer`` with the same nodes, which may occur more than once, -1 for none, (facets,)."""
    rows = np.sort(nodes, axis=1)
    first = np.ones(rows.shape, dtype=bool)
    first[:, 1:] = rows[:, 1:] != rows[:, :-1]
    unique = rows[first].reshape(len(rows), -1)
    both = np.concatenate([np.sort(outer.nodes, axis=1), unique])
    number = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    of_number = np.full(len(both), -1)
    of_number[number[: len(outer.nodes)]] = np.arange(len(outer.nodes))
    found: IntArray = of_number[number[len(outer.nodes) :]]
    return found


def _linear_areas(body: Continuum, facets: Facets, part: IntArray, place: IntArray) -> FloatArray:
    """``int N dA`` of linear functions on parts of facets at zero displacement, shape (m,) [m2]."""
    _, sizes = facets.normals(facets.x)
    n = facets.nodes.shape[1]
    areas = body.cross_section * sizes[part] / n
    if body.hypothesis == "axisymmetric":
        r = facets.x[facets.nodes[part], 0]
        areas = areas * 2.0 * np.pi * (r.sum(axis=1) + r[np.arange(part.size), place]) / (n + 1)
    return np.asarray(areas)


def _of_corners(assembly: Assembly, nodes: IntArray, outer: OuterFacets, columns: IntArray) -> Entries:
    """Entries of corners, each with a facet. Collective."""
    node = assembly.facets.global_nodes[nodes]
    at, node = parallel.gather_rows(assembly.body.comm, np.column_stack([columns, node])).T
    known, numbers = np.unique(outer.nodes, return_inverse=True)
    sums = np.bincount(numbers.ravel(), outer.areas.ravel(), known.size + 1)
    place = np.minimum(np.searchsorted(known, node), max(known.size - 1, 0))
    areas = sums[np.where(np.isin(node, known), place, known.size)]
    return at, np.arange(at.size), areas, areas
