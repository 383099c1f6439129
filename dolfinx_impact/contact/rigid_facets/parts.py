"""Facets of a body as segments, triangles and quadrilaterals between nodes, and the nodes at them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import _compat, parallel
from ..._types import FloatArray, Int64Array, IntArray
from ...algebra.contact_operator import ascending
from ...algebra.operators import coordinate_order
from ...systems.continuum import Continuum
from ..surfaces.facet_shape import FacetShape, facet_shape
from ..surfaces.halo import Halo

#: Distance from the axis of revolution, over the body's length, up to which a facet lies on it.
_ON_AXIS = 1e-12


class Corners(NamedTuple):
    """Corners of the parts of facets in an order that no rank decides; outward as :func:`normals` says.

    Attributes:
        nodes: Numbers in the function space, shape (parts, n).
        x: Positions at zero displacement, shape (parts, n, gdim) [m].
        order: Sorting keys, shape (parts, m).
    """

    nodes: Int64Array
    x: FloatArray
    order: FloatArray


class Parts:
    """The parts that this rank owns, and those beside them. Collective.

    A facet of elements above degree 1 has a part for each cell of the lattice of its nodes. A part belongs to
    the rank that owns its first node.

    Args:
        body: The body, in two or three dimensions.
        name: Name or tag of its facets.

    Attributes:
        nodes: Places of the corners among those of :attr:`halo`, shape (parts, n).
        own: Numbers of the parts that this rank owns, in ascending order.
        order: Sorting keys of the owned parts, shape (own, m).
        first: Node of this rank at the first corner of each owned part, shape (own,).
        neighbours: Part across the edge from each corner to the next, -1 for none, shape (parts, n); in 2D
            there are none.
        across: Number of that edge in the part across it, shape (parts, n).
        number: Number of each part among those of all ranks, shape (parts,).
        halo: Access to the nodes.
        global_nodes: Numbers of the nodes in the function space, shape (nodes,).
        x: Positions of the nodes at zero displacement, shape (nodes, gdim) [m].

    Raises:
        ValueError: Facets that are no outer ones of the body.
    """

    def __init__(self, body: Continuum, name: str | int) -> None:
        comm, gdim = body.comm, body.gdim
        every = _gathered(body, name)
        index_map = body.space.dofmap.index_map
        ends = np.array(comm.allgather(index_map.local_range[1]))
        mine = np.searchsorted(ends, every.nodes[:, 0], side="right") == comm.rank
        neighbours, across = _neighbours(every.nodes)
        held = mine.copy()
        beside = neighbours[mine]
        held[beside[beside >= 0]] = True
        self.number = np.flatnonzero(held)
        place = np.full(len(held) + 1, -1)
        place[self.number] = np.arange(self.number.size)
        self.neighbours, self.across = place[neighbours[held]], across[held]
        self.own, self.order = np.flatnonzero(mine[held]), every.order[mine]
        self.global_nodes, first, at = np.unique(every.nodes[held], return_index=True, return_inverse=True)
        self.nodes = at.reshape(every.nodes[held].shape)
        self.x = every.x[held].reshape(-1, gdim)[first]
        rank: IntArray = np.asarray(np.searchsorted(ends, self.global_nodes, side="right"))
        begins = np.concatenate([[0], ends[:-1]])
        local = (self.global_nodes - begins[rank]).astype(np.int64)
        self.halo = Halo(comm, rank, local, body.block, gdim)
        self.first = local[self.nodes[self.own, 0]]
        self._u = np.zeros((self.global_nodes.size, gdim))

    def positions(self, u: FloatArray) -> FloatArray:
        """Positions of the nodes at the displacements ``u``, shape (nodes, gdim) [m]. Collective."""
        self.halo.gather(u, self._u)
        x: FloatArray = self.x + self._u
        return x


def normals(x: FloatArray) -> FloatArray:
    """Mean unit normals of parts with corners at ``x``, shape (k, n, gdim); shape (k, gdim)."""
    n = x.shape[1]
    if x.shape[2] == 2:
        along = x[:, 1] - x[:, 0]
        vectors = np.column_stack([along[:, 1], -along[:, 0]])
    else:
        vectors = np.asarray(np.cross(x[:, n - 2] - x[:, 0], x[:, n - 1] - x[:, 1 if n == 4 else 0]))
    unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def diameters(x: FloatArray) -> FloatArray:
    """Twice the largest distances of corners at ``x``, shape (k, n, gdim), to their mean, (k,) [m]."""
    largest: FloatArray = 2.0 * np.linalg.norm(x - x.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    return largest


def _gathered(body: Continuum, name: str | int) -> Corners:
    """The parts of all ranks, sorted by their places. Collective."""
    cells, facet = body.outer_facets(name)
    gdim, shape = body.gdim, facet_shape(body.space)
    lattice = np.asarray(body.space.dofmap.list)[cells][
        np.arange(len(cells))[:, None, None], shape.nodes[facet]
    ]
    local = lattice[..., _between(shape)].reshape(-1, 2 if shape.dim == 1 else 3 if shape.simplex else 4)
    times = len(local) // max(len(cells), 1)
    geometry = _compat.geometry_dofmap(body.mesh)[cells]
    middle = body.mesh.geometry.x[geometry].mean(axis=1)[:, :gdim].repeat(times, axis=0)
    x = body.x[local][..., :gdim]
    if len(x):
        inward = np.einsum("pi,pi->p", normals(x), x.mean(axis=1) - middle) < 0.0
        local[inward] = local[inward, ::-1]
    number = body.space.dofmap.index_map.local_to_global(local.ravel().astype(np.int32)).reshape(local.shape)
    x = body.x[local][..., :gdim]
    n = local.shape[1]
    rows = parallel.gather_rows(body.comm, np.hstack([number, x.reshape(-1, n * gdim)]))
    number, x = rows[:, :n].astype(np.int64), rows[:, n:].reshape(-1, n, gdim)
    if body.hypothesis == "axisymmetric":
        off = x[..., 0].max(axis=1) > _ON_AXIS * body.length
        number, x = number[off], x[off]
    return _sorted(number, x, body.length)


def _between(shape: FacetShape) -> IntArray:
    """Corners of the parts between the nodes of a facet, going round, shape (parts, n)."""
    if shape.simplex:
        return shape.corners[None]
    k = shape.points.size - 1
    grid = np.arange((k + 1) ** shape.dim).reshape((k + 1,) * shape.dim)
    if shape.dim == 1:
        return np.column_stack([grid[:-1], grid[1:]])
    around = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return np.column_stack([each.ravel() for each in around])


def _sorted(nodes: Int64Array, x: FloatArray, length: float) -> Corners:
    """Parts by their middles and normals; those of three and four nodes begin at their least corner."""
    count, n, gdim = x.shape
    if n > 2:
        keys = coordinate_order(x.reshape(-1, gdim), length)
        rank = np.empty(len(keys), dtype=np.int64)
        rank[ascending(keys)] = np.arange(len(keys))
        turned = (rank.reshape(count, n).argmin(axis=1)[:, None] + np.arange(n)) % n
        nodes = np.take_along_axis(nodes, turned, axis=1)
        x = np.take_along_axis(x, turned[..., None], axis=1)
    middle = np.zeros((count, 3))
    middle[:, :gdim] = x.mean(axis=1)
    keys = np.hstack([coordinate_order(middle, length), np.round(1e6 * normals(x)) + 0.0])
    order = ascending(keys)
    return Corners(nodes[order], x[order], keys[order])


def _neighbours(nodes: Int64Array) -> tuple[IntArray, IntArray]:
    """Part across each edge of each part, -1 for none, and the number of the edge there, (parts, n) each."""
    count, n = nodes.shape
    neighbours, across = np.full((count, n), -1), np.zeros((count, n), dtype=np.int64)
    if n == 2:
        return neighbours, across
    ends = np.sort(np.stack([nodes, np.roll(nodes, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    same = np.flatnonzero((ends[order][1:] == ends[order][:-1]).all(axis=1))
    for a, b in ((order[same], order[same + 1]), (order[same + 1], order[same])):
        neighbours.ravel()[a], across.ravel()[a] = b // n, b % n
    return neighbours, across
