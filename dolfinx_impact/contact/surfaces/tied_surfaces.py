"""Ties: their rows, the present normals of what they hold, and that this is in no other contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from .facets import Facets

if TYPE_CHECKING:
    from .assembly import Assembly

#: Spheres meet up to this part of the sum of their radii: where corners alone do, by more than round-off.
_MET = 1.01
#: Weights of a tie below this are rounding; in a row whose node is held they would make a constraint alone.
_ROUNDING = 1e-12


def tied_entries(assembly: Assembly) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """:meth:`.Assembly.entries` of a tie, a row for each point and direction: W in the place of L."""
    gdim = assembly.body.gdim
    start, nodes, _, W = assembly.entries(np.isfinite)
    W = np.where(np.abs(W) > _ROUNDING, W, 0.0)
    rows = []
    for first, last in zip(start[:-1], start[1:]):
        rows += [(nodes[first:last], n * W[first:last, None], W[first:last]) for n in np.eye(gdim)]
    lengths = np.repeat(np.diff(start), gdim)
    if rows:
        nodes, B, W = (np.concatenate(parts) for parts in zip(*rows))
    else:
        B = np.zeros((0, gdim))
    return np.concatenate([[0], np.cumsum(lengths)]), nodes, B, W


def present_normals(assembly: Assembly, x: FloatArray) -> FloatArray:
    """Outward normals of the covered facets of the slaves at the points of pairs, shape (n, gdim).

    Args:
        assembly: The points.
        x: Positions of all nodes of the facets, shape (nodes, gdim) [m].
    """
    of_facets, sizes = assembly.facets.normals(x)
    sums = np.zeros((assembly.mortar.nodes.size, x.shape[1]))
    for k in range(len(assembly.pairs)):
        point, facet, _ = assembly.mortar.incidence(k, covered=True)
        np.add.at(sums, point, of_facets[facet] * sizes[facet, None])
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: FloatArray = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0.0)
    return unit


class GluedFacets:
    """What the ties of the same list glue, among the facets that a rank holds.

    Facets of different surfaces of a tie that have segments are glued to each other. At the rim of what is
    glued facets of both sides meet, as those of cells with a common vertex do within a part: such facets are
    no pairs either. Collective.

    Args:
        ties: The facets of each tie, as it was made.
    """

    def __init__(self, ties: Sequence[Assembly] = ()) -> None:
        self._ties = [_Tie(each) for each in ties]
        self._on: list[IntArray] = []
        self._touching: list[tuple[BoolArray, BoolArray]] = []
        self._x: FloatArray = np.zeros((0, 0))
        self._centre: FloatArray = self._x
        self._radius: FloatArray = np.zeros(0)

    def __bool__(self) -> bool:
        return bool(self._ties)

    def hold(self, facets: Facets) -> None:
        """Take the facets of which is asked from now on."""
        if not self:
            return
        self._on = [each.surface_of(facets) for each in self._ties]
        nodes = [each.nodes_on(facets) for each in self._ties]
        self._touching = [(marks, np.asarray(marks[facets.nodes].any(axis=1))) for marks in nodes]
        at = facets.x[facets.nodes]
        self._x, self._centre = facets.x, np.asarray(at.mean(axis=1))
        self._radius = np.linalg.norm(at - self._centre[:, None], axis=2).max(axis=1)

    def pairs(self, first: IntArray, second: IntArray) -> BoolArray:
        """Whether facets are glued to each other, or meet at the rim of what is glued, shape (k,)."""
        found = np.zeros(len(first), dtype=bool)
        for on, (_, touching) in zip(self._on, self._touching):
            a, b = on[first], on[second]
            found |= (a >= 0) & (b >= 0) & (a != b)
            rim = np.flatnonzero(_differ(touching[first], touching[second]) & ~found)
            one, other = first[rim], second[rim]
            apart = np.linalg.norm(self._centre[one] - self._centre[other], axis=1)
            found[rim] = apart <= _MET * (self._radius[one] + self._radius[other])
        return found

    def corners(self, nodes: IntArray, facets: IntArray) -> BoolArray:
        """Whether nodes are glued to what is at facets, shape (k,)."""
        found = np.zeros(len(nodes), dtype=bool)
        for at, touching in self._touching:
            found |= _differ(at[nodes], touching[facets])
        apart = np.linalg.norm(self._x[nodes] - self._centre[facets], axis=1)
        return np.asarray(found & (apart <= _MET * self._radius[facets]))


class _Tie:
    """The facets that a tie glues, of all ranks, by numbers in the function space."""

    def __init__(self, assembly: Assembly) -> None:
        facets, chosen = assembly.facets, np.unique(assembly.segments.pairs)
        rows = np.column_stack([facets.surface[chosen], facets.global_nodes[facets.nodes[chosen]]])
        rows = parallel.gather_rows(assembly.body.comm, rows.astype(np.float64)).astype(np.int64)
        self._surface, self._rows = rows[:, 0], np.sort(rows[:, 1:], axis=1)

    def surface_of(self, facets: Facets) -> IntArray:
        """Number of the surface of each facet, -1 for none, shape (facets,)."""
        rows = np.concatenate([self._rows, np.sort(facets.global_nodes[facets.nodes], axis=1)])
        number = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        of_number, count = np.full(len(rows), -1), len(self._rows)
        of_number[number[:count]] = self._surface
        found: IntArray = of_number[number[count:]]
        return found

    def nodes_on(self, facets: Facets) -> BoolArray:
        """Whether each node is one of each surface, shape (nodes, surfaces)."""
        each = range(1 + int(self._surface.max(initial=-1)))
        marks = [np.isin(facets.global_nodes, self._rows[self._surface == k]) for k in each]
        return np.column_stack([np.zeros((len(facets.x), 0), dtype=bool), *marks])


def _differ(a: BoolArray, b: BoolArray) -> BoolArray:
    """Whether one is at a surface and the other at another one, by marks of shape (k, surfaces)."""
    further = b.sum(axis=1, keepdims=True) - b  # others than each one
    return np.asarray((a & (further > 0)).any(axis=1))
