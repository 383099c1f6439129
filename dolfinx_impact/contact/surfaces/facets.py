"""Facets of surfaces that may come into contact."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import basix
import numpy as np
from scipy import sparse

from ... import _compat, parallel
from ..._types import FloatArray, Int64Array, IntArray
from ...algebra.contact_operator import ascending
from ...algebra.operators import coordinate_order
from ...systems.containment import connected_parts
from ...systems.continuum import Continuum
from ...systems.masses.mass_lumping import scalar_element
from .facet_shape import FacetShape

#: Angle of the outward normals of neighbours above which their common edge is sharp [rad].
_SHARP = np.pi / 4 + 1e-9
#: Weight of a facet's normal: 1 / (_SMOOTH + b^2), with the largest angle b [rad] to a neighbour.
_SMOOTH = 0.01


@dataclass(frozen=True)
class Facets:
    """Outer facets of a body, with those around them, and their nodes: all of them or some.

    Nodes are numbered by their coordinates at zero displacement, so that points sorted by their nodes have
    the order of the columns of a run; the numbers of facets depend on the ranks. Some facets stand in the
    order of all, and so do their nodes.

    Attributes:
        shape: Shape functions.
        number: Number of each facet among all, ascending, shape (facets,).
        nodes: Nodes of the facets, which orient them outward, shape (facets, n).
        surface: Number of the surface of each facet, -1 for neighbours of a surface alone, shape (facets,).
        flatness: Weight of the normals, shape (facets,): small beside sharp edges that are convex.
        sharp_start, sharp: Neighbours across sharp edges that are convex, in CSR format.
        diameter: Twice the largest distance of a node to the centre, shape (facets,) [m].
        height: Extent of the attached cell along the normal, shape (facets,) [m].
        node_number: Number of each node among all, ascending, shape (nodes,).
        global_nodes: Numbers of the nodes in the function space, shape (nodes,).
        x: Coordinates of the nodes at zero displacement, shape (nodes, gdim) [m].
        rank, local: Rank that owns each node, and its number there, shape (nodes,).
        part: Number of the surface of each node, -1 on none, shape (nodes,).
    """

    shape: FacetShape
    number: IntArray
    nodes: IntArray
    surface: IntArray
    flatness: FloatArray
    sharp_start: IntArray
    sharp: IntArray
    diameter: FloatArray
    height: FloatArray
    node_number: IntArray
    global_nodes: Int64Array
    x: FloatArray
    rank: IntArray
    local: IntArray
    part: IntArray

    def normals(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean outward normals, shape (facets, gdim), and lengths or areas, shape (facets,) [m or m2]."""
        return self._at_rest if x is self.x else _normals(x, self.nodes, self.shape)

    @functools.cached_property
    def _at_rest(self) -> tuple[FloatArray, FloatArray]:
        return _normals(self.x, self.nodes, self.shape)

    def of(self, surface: int) -> IntArray:
        """Numbers of the facets of a surface."""
        return np.flatnonzero(self.surface == surface)

    def surface_nodes(self, surface: int) -> IntArray:
        """Nodes on a surface, sorted."""
        nodes: IntArray = np.unique(self.nodes[self.surface == surface])
        return nodes

    def around(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Facets at each of the nodes, in CSR format."""
        first, facets = self._at_nodes
        lengths = first[nodes + 1] - first[nodes]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return start, facets[np.arange(start[-1]) + np.repeat(first[nodes] - start[:-1], lengths)]

    @functools.cached_property
    def _at_nodes(self) -> tuple[IntArray, IntArray]:
        """Facets at every node, in CSR format."""
        order = np.argsort(self.nodes.ravel(), kind="stable")
        start = np.searchsorted(self.nodes.ravel()[order], np.arange(len(self.x) + 1))
        return start.astype(np.int64), order // self.nodes.shape[1]

    def corner_nodes(self, surface: int, angle: float) -> IntArray:
        """Nodes at convex edges of a surface with normals that differ by more than an angle [rad], sorted."""
        normals, _ = self.normals(self.x)
        sharp = np.repeat(np.arange(len(self.nodes)), np.diff(self.sharp_start))
        both = np.unique(np.concatenate([sharp, self.sharp]))
        nodes = np.intersect1d(self.surface_nodes(surface), self.nodes[both].ravel())
        start, facets = self.around(nodes)
        kept = []
        for k in range(nodes.size):
            n = normals[facets[start[k] : start[k + 1]]]
            kept.append(bool((n @ n.T).min() < np.cos(angle)))
        corners: IntArray = nodes[np.array(kept, dtype=bool)]
        return corners


@dataclass(frozen=True)
class AllFacets(Facets):
    """All facets, as a contact is made from them.

    Attributes:
        smooth: Pairs of facets with a common edge that is not sharp, shape (pairs, 2).
        concave: Pairs of facets with a common edge that is sharp and concave, shape (pairs, 2).
        inverse_mass: Inverse masses of the dofs, 0 where constrained, shape (nodes, gdim) [1/kg].
        name: Number of the given name of each facet, -1 for none, shape (facets,).
        body_part: Number of the connected part of the body of each facet, by its first node, shape (facets,).
        cell_vertices: Global numbers of the vertices of the cell of each facet, shape (facets, v).
    """

    smooth: IntArray
    concave: IntArray
    inverse_mass: FloatArray
    name: IntArray
    body_part: IntArray
    cell_vertices: IntArray


def collect(
    body: Continuum, shape: FacetShape, names: tuple[str, ...], *, one: bool = False, every: bool = False
) -> AllFacets:
    """The facets of the named surfaces and those around them, on all ranks. Collective.

    Args:
        body: The body.
        shape: Shape functions of the facets.
        names: Names of facets.
        one: Whether all are one surface; else those of each name are one, without common nodes.
        every: Whether outer facets without a name belong to the one surface too.

    Raises:
        ValueError: A name without outer facets; facets with two names; surfaces that share nodes.
    """
    local, name = _outer_facets(body, names, one=one)
    nodes, height, cells = _local_nodes(body, shape, local)
    number = body.space.dofmap.index_map.local_to_global(nodes.ravel().astype(np.int32)).reshape(nodes.shape)
    surface = np.zeros_like(name) if every else np.minimum(name, 0) if one else name
    n, parts = nodes.shape[1], shape.nodes.shape[1]
    rows = np.column_stack([number, np.repeat(np.column_stack([cells, name, surface]), parts, axis=0)])
    gathered: Int64Array = parallel.gather_rows(body.comm, rows.astype(np.float64)).astype(np.int64)
    heights = parallel.gather_rows(body.comm, height)
    gathered, heights = _around(gathered, heights, n)
    numbers, inputs = np.unique(gathered[:, :n], return_inverse=True)
    label = np.zeros(numbers.size, np.int64)
    if one or every:
        label[inputs.ravel()] = np.repeat(gathered[:, n], n)
    numbers, x, rank, at, inverse, place = _node_data(body, numbers, label)
    facets, of = place[inputs.reshape(-1, n)], gathered[:, -1]
    if not (one or every):
        _refuse_shared(facets, of, names)
    normals, _ = _normals(x, facets, shape)
    flatness, sharp_start, sharp, smooth, concave = _sharpness(x, facets, normals, shape)
    part = np.full(numbers.size, -1)
    np.maximum.at(part, facets.ravel(), np.repeat(of, facets.shape[1]))
    arms = x[facets] - x[facets].mean(axis=1, keepdims=True)
    return AllFacets(
        shape=shape,
        number=np.arange(len(facets)),
        nodes=facets,
        surface=of,
        flatness=flatness,
        sharp_start=sharp_start,
        sharp=sharp,
        diameter=2.0 * np.linalg.norm(arms, axis=2).max(axis=1),
        height=heights,
        node_number=np.arange(numbers.size),
        global_nodes=numbers,
        x=x,
        rank=rank,
        local=at,
        part=part,
        smooth=smooth,
        concave=concave,
        inverse_mass=inverse,
        name=gathered[:, -2],
        body_part=_by_first_node(facets, gathered[:, n]),
        cell_vertices=gathered[:, n + 1 : -2],
    )


def _order_of_labels(places: FloatArray, label: IntArray) -> IntArray:
    """Place of each label in the order of the first and then the last of its places."""
    order = ascending(places)
    ends = np.full((2, int(label.max(initial=0)) + 1), order.size)
    rank = np.empty_like(order)
    _, rank_of_place = np.unique(places[order], axis=0, return_inverse=True)
    rank[order] = rank_of_place.ravel()
    np.minimum.at(ends[0], label, rank)
    np.minimum.at(ends[1], label, -rank)
    found: IntArray = np.argsort(np.lexsort((-ends[1], ends[0])))
    return found


def _by_first_node(facets: IntArray, part: IntArray) -> IntArray:
    """Numbers of parts in the order of their first nodes, on any number of ranks."""
    _, part = np.unique(part, return_inverse=True)
    part = part.ravel()
    first = np.full(int(part.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, part, facets.min(axis=1))
    numbers: IntArray = np.argsort(np.argsort(first))[part]
    return numbers


def _outer_facets(body: Continuum, names: tuple[str, ...], *, one: bool) -> tuple[IntArray, IntArray]:
    """Outer facets of owned cells of the body, and the number of the first name of each. Collective."""
    topology, fdim = body.mesh.topology, body.mesh.topology.dim - 1
    named = [np.unique(body.named.facets(name)) for name in names]
    topology.create_connectivity(fdim, fdim + 1)
    topology.create_connectivity(fdim + 1, fdim)
    cells = topology.connectivity(fdim, fdim + 1)
    alone = np.flatnonzero(np.diff(cells.offsets) == 1)
    outer = np.setdiff1d(alone, topology.interprocess_facets())
    attached = cells.array[cells.offsets[outer]]
    inside = attached < topology.index_map(fdim + 1).size_local
    if body.cells is not None:
        inside &= np.isin(attached, body.cells)
    outer = outer[inside]
    surface = np.full(outer.size, -1, dtype=np.int64)
    for k, (name, facets) in enumerate(zip(names, named)):
        chosen = np.isin(outer, facets)
        if not body.comm.allreduce(int(chosen.sum())):
            words = f"the surface {name!r} has no facets on the outside of the body"
            if body.cells is not None:
                words += (
                    " that are outside of the mesh too: on the interface to other cells only RigidContact "
                    "acts; give the part a mesh of its own with mesh.join"
                )
            raise ValueError(words)
        twice = bool(np.any(surface[chosen] >= 0))
        if body.comm.allreduce(twice) and not one:
            raise ValueError(f"the surface {name!r} has facets of another surface: give each facet once")
        surface[chosen & (surface < 0)] = k
    return outer, surface


def _local_nodes(
    body: Continuum, shape: FacetShape, local: IntArray
) -> tuple[IntArray, FloatArray, Int64Array]:
    """Local nodes of the parts of facets, oriented outward, heights of the cells, and these. Collective.

    The cells are the connected part and the global numbers of the vertices of that of each facet.
    """
    part = connected_parts(body)
    topology, fdim = body.mesh.topology, body.mesh.topology.dim - 1
    cells, facets = topology.connectivity(fdim, fdim + 1), topology.connectivity(fdim + 1, fdim)
    cell = np.array([cells.links(f)[0] for f in local], dtype=np.int64)
    place = np.array(
        [int(np.flatnonzero(facets.links(c) == f)[0]) for c, f in zip(cell, local)], dtype=np.int64
    )
    of_cell = np.asarray(body.space.dofmap.list)[cell]
    gdim, parts = body.gdim, shape.nodes.shape[1]
    nodes = of_cell[np.arange(len(cell))[:, None, None], shape.nodes[place]].reshape(-1, shape.nodes.shape[2])
    topology.create_connectivity(fdim + 1, 0)
    vertices = topology.connectivity(fdim + 1, 0).array.reshape(-1, _vertex_count(body))[cell]
    vertices = (
        topology.index_map(0).local_to_global(vertices.ravel().astype(np.int32)).reshape(vertices.shape)
    )
    of_cells = np.column_stack([part[cell], vertices]).astype(np.int64)
    if not len(cell):
        return nodes, np.zeros(0), of_cells
    geometry = _compat.geometry_dofmap(body.mesh)[cell]
    middle = np.repeat(body.mesh.geometry.x[geometry].mean(axis=1)[:, :gdim], parts, axis=0)
    x = body.x[:, :gdim]
    normals, sizes = _normals(x, nodes, shape)
    arm = x[nodes[:, shape.corners]].mean(axis=1) - middle
    turned = np.einsum("fi,fi->f", normals, arm) < 0
    nodes[turned] = nodes[turned][:, shape.flip]
    return nodes, 2.0 * np.abs(np.einsum("fi,fi->f", normals, arm)), of_cells


def _vertex_count(body: Continuum) -> int:
    return len(basix.topology(scalar_element(body.space).cell_type)[0])


def _normals(x: FloatArray, facets: IntArray, shape: FacetShape) -> tuple[FloatArray, FloatArray]:
    """See :meth:`Facets.normals`; as ``facet_normal`` of the compiled code."""
    at = x[facets[:, shape.corners]]
    if x.shape[1] == 2:
        along = at[:, 1] - at[:, 0]
        n = np.column_stack([along[:, 1], -along[:, 0]])
        size = np.asarray(np.linalg.norm(n, axis=1), dtype=np.float64)
        return n / size[:, None], size
    k = at.shape[1]
    n = np.asarray(np.cross(at[:, k - 2] - at[:, 0], at[:, k - 1] - at[:, 1 if k == 4 else 0]))
    size = np.asarray(np.linalg.norm(n, axis=1), dtype=np.float64)
    return np.asarray(n / size[:, None]), np.asarray(0.5 * size)


def _around(every: Int64Array, heights: FloatArray, n: int) -> tuple[Int64Array, FloatArray]:
    """The facets of surfaces, the last column, and those that share nodes, the first n, with them."""
    on_surface = np.unique(every[every[:, -1] >= 0, :n])
    kept = (every[:, -1] >= 0) | np.isin(every[:, :n], on_surface).any(axis=1)
    return every[kept], heights[kept]


def _refuse_shared(facets: IntArray, of: IntArray, names: tuple[str, ...]) -> None:
    for k in range(len(names)):
        for m in range(k):
            if np.intersect1d(facets[of == k], facets[of == m]).size:
                raise ValueError(
                    f"the surfaces {names[m]!r} and {names[k]!r} share nodes: give surfaces of different "
                    "parts, or self_contact=True, so that all of them are in contact with each other"
                )


def _node_data(
    body: Continuum, numbers: Int64Array, label: IntArray
) -> tuple[Int64Array, FloatArray, IntArray, IntArray, FloatArray, IntArray]:
    """Data of the nodes with these global numbers, in the order of their places. Collective.

    Args:
        body: The body.
        numbers: Global numbers.
        label: Labels of parts, whose first nodes decide about the order of nodes at one place.

    Returns:
        Global numbers, coordinates, owner, number there, inverse masses; new number of each of ``numbers``.
    """
    index_map, gdim = body.space.dofmap.index_map, body.gdim
    owned = np.arange(index_map.size_local, dtype=np.int32)
    known = index_map.local_to_global(owned)
    place = np.searchsorted(numbers, known)
    mine = (place < numbers.size) & (numbers[np.minimum(place, numbers.size - 1)] == known)
    inverse = body.inverse_mass.reshape(-1, body.block)[mine, :gdim]
    rank = np.full(inverse.shape[0], body.comm.rank)
    rows = np.column_stack([place[mine], body.x[: owned.size][mine, :gdim], rank, owned[mine], inverse])
    rows = parallel.gather_rows(body.comm, rows)
    rows = rows[np.argsort(rows[:, 0])]
    places = coordinate_order(rows[:, 1 : 1 + gdim], body.length)
    by_place = ascending(np.column_stack([places, _order_of_labels(places, label)[label]]))
    rows, new = rows[by_place], np.argsort(by_place)
    x, inverse = rows[:, 1 : 1 + gdim].copy(), rows[:, 3 + gdim :].copy()
    owner, local = rows[:, 1 + gdim].astype(np.int64), rows[:, 2 + gdim].astype(np.int64)
    return numbers[by_place], x, owner, local, inverse, new


def _sharpness(
    x: FloatArray, facets: IntArray, normals: FloatArray, shape: FacetShape
) -> tuple[FloatArray, IntArray, IntArray, IntArray, IntArray]:
    """Weights of the normals, neighbours across sharp convex edges in CSR format, smooth and concave pairs.

    Beside a sharp concave edge, as in the corner of a room, facets are walls that nothing bends around.
    """
    corners = facets[:, shape.corners]
    count, k = corners.shape
    entries = np.ones(count * k), (np.repeat(np.arange(count), k), corners.ravel())
    at = sparse.csr_matrix(entries, (count, int(facets.max(initial=-1)) + 1))
    pairs = (at @ at.T).tocoo()
    row, col, edge = pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data > shape.dim - 0.5
    cosine = np.clip(np.einsum("pi,pi->p", normals[row], normals[col]), -1.0, 1.0)
    angle, largest = np.where(cosine > 1.0 - 1e-12, 0.0, np.arccos(cosine)), np.zeros(count)
    centre, sharp = x[corners].mean(axis=1), angle > _SHARP
    concave = sharp & (np.einsum("pi,pi->p", centre[col] - centre[row], normals[row] - normals[col]) > 0.0)
    np.maximum.at(largest, row[~concave], angle[~concave])
    flatness: FloatArray = np.asarray(1.0 / (_SMOOTH + largest**2), dtype=np.float64)
    chosen = sharp & ~concave
    order = np.lexsort((col[chosen], row[chosen]))
    start = np.concatenate([[0], np.cumsum(np.bincount(row[chosen], minlength=count))]).astype(np.int64)
    smooth, meeting = (np.column_stack([row, col])[edge & which] for which in (~sharp, concave))
    return flatness, start, col[chosen][order], smooth, meeting
