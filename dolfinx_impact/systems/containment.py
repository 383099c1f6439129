"""Which nodes lie in which cells of a deformed body, and which cells are of one part."""

from __future__ import annotations

import basix
import numpy as np
from dolfinx import la
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from .. import parallel
from .._types import BoolArray, FloatArray, Int64Array, IntArray
from .continuum import Continuum
from .masses.mass_lumping import scalar_element

#: Newton iterations for the reference coordinates of a point; affine cells need one.
_MOST = 12
#: Last change of reference coordinates that counts as converged.
_CONVERGED = 1e-10
#: Distance outside of a reference cell, at a facet between two cells, that counts as inside.
_ROUND_OFF = 1e-9
#: Part of its extent by which a curved cell may bulge beyond its nodes.
_BULGE = 0.15


class Containment:
    """Search for nodes that lie in cells of the body of which they are no nodes. Collective.

    Args:
        body: The body; its cells that this rank owns are searched.
    """

    def __init__(self, body: Continuum) -> None:
        self._element = scalar_element(body.space)
        self._x, self._block = body.x[:, : body.gdim], body.block
        owned = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
        cells: IntArray = np.arange(owned)
        self.cells = cells if body.cells is None else np.intersect1d(cells, body.cells)
        self._nodes = np.asarray(body.space.dofmap.list)[self.cells]
        number = body.space.dofmap.index_map.local_to_global(
            np.arange(body.size // body.block, dtype=np.int32)
        )
        self._numbers: Int64Array = number[self._nodes]
        self._simplex = body.mesh.topology.cell_name() in ("triangle", "tetrahedron")
        #: Whether vertices, edges and facets of each cell are on the outside, shape (cells, entities) each.
        self._outer = [each[self.cells] for each in _outside(body)]
        self._around = _facets_around(body.mesh.topology.cell_name())
        self._slope, self._offset = _distances(body.mesh.topology.cell_name())
        self._bulge = _BULGE if self._element.embedded_subdegree > 1 else 0.0

    def smallest_cell(self) -> float:
        """Smallest extent of a cell of this rank at zero displacement, about its height [m]; inf for none."""
        if not self.cells.size:
            return float("inf")
        gdim = self._x.shape[1]
        middle = np.full((1, gdim), 1.0 / (gdim + 1) if self._simplex else 0.5)
        slopes = self._element.tabulate(1, middle)[1:, 0]
        J = np.einsum("jn,cni->cij", slopes, self._x[self._nodes])
        return float(np.linalg.svd(J, compute_uv=False).min())

    def pairs(self, u: FloatArray, x: FloatArray, numbers: Int64Array, within: float) -> IntArray:
        """Nodes in cells of this rank, without those that the node belongs to. Not collective.

        Args:
            u: Displacements of the body, shape (size,) [m].
            x: Positions of the nodes at ``u``, shape (k, gdim) [m].
            numbers: Their numbers in the function space, shape (k,).
            within: Least distance of a node to what a cell has on the outside of the body, over the width of
                the reference cell.

        Returns:
            Node (0 to k - 1) and number of the local cell of each pair, shape (pairs, 2).
        """
        if not (self.cells.size and len(x)):
            return np.zeros((0, 2), dtype=np.int64)
        at = (self._x + u.reshape(-1, self._block)[:, : self._x.shape[1]])[self._nodes]
        node, cell = self._near(at, x)
        foreign = (self._numbers[cell] != numbers[node, None]).all(axis=1)
        node, cell = node[foreign], cell[foreign]
        inside = self._contains(at[cell], x[node], cell, within)
        return np.column_stack([node[inside], self.cells[cell[inside]]])

    def _near(self, at: FloatArray, x: FloatArray) -> tuple[IntArray, IntArray]:
        """Pairs of points and cells whose bounding box contains the point."""
        low, high = at.min(axis=1), at.max(axis=1)
        low, high = low - self._bulge * (high - low), high + self._bulge * (high - low)
        wide = np.all((high >= x.min(axis=0)) & (low <= x.max(axis=0)), axis=1)
        near = np.flatnonzero(wide)  # a cell with a NaN is near nothing
        if not (near.size and np.isfinite(x).all()):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        middle, radius = 0.5 * (low + high)[near], 0.5 * np.linalg.norm((high - low)[near], axis=1)
        lists = cKDTree(x).query_ball_point(middle, radius * (1 + 1e-9))
        cell = np.repeat(near, [len(each) for each in lists])
        node = np.array([i for each in lists for i in each], dtype=np.int64)
        inside = np.all((x[node] >= low[cell]) & (x[node] <= high[cell]), axis=1)
        return node[inside], cell[inside]

    def _contains(self, at: FloatArray, x: FloatArray, cell: IntArray, within: float) -> BoolArray:
        """Whether cells with their nodes ``at``, shape (p, n, gdim), contain the points ``x``, (p, gdim)."""
        if not len(x):
            return np.zeros(0, dtype=bool)
        gdim = x.shape[1]
        X = np.full(x.shape, 1.0 / (gdim + 1) if self._simplex else 0.5)
        last: FloatArray = np.full(len(x), np.inf)
        for _ in range(_MOST):
            table = self._element.tabulate(1, X)
            misfit = x - np.einsum("pn,pni->pi", table[0], at)
            J = np.einsum("jpn,pni->pij", table[1:], at)
            flat = np.linalg.det(J) == 0.0
            J[flat] = np.eye(gdim)
            change = np.linalg.solve(J, misfit[..., None])[..., 0]
            X = np.clip(X + change, -1.0, 2.0)
            last = np.where(flat, np.inf, np.abs(change).max(axis=1))
            if np.all(last <= _CONVERGED):
                break
        distances = X @ self._slope.T + self._offset
        least = np.where(self._outer[-1][cell], within, -_ROUND_OFF)
        inside: BoolArray = (last <= _CONVERGED) & (distances >= least).all(axis=1)
        # From a vertex or an edge as far as from the farthest of its facets.
        for outer, around in zip(self._outer[:-1], self._around):
            away = np.max(np.where(around, distances[:, None, :], -np.inf), axis=2)
            inside &= (away >= np.where(outer[cell], within, -np.inf)).all(axis=1)
        return inside


def _facets_around(cell: str) -> list[BoolArray]:
    """Which facets of a reference cell contain each vertex (and edge), shape (entities, facets) each."""
    topology = basix.topology(basix.CellType[cell])
    facets = topology[-2]
    return [
        np.array([[set(each) <= set(facet) for facet in facets] for each in entities])
        for entities in topology[:-2]
    ]


def _outside(body: Continuum) -> list[BoolArray]:
    """Whether vertices (and edges) and facets of local cells are on the outside of the body. Collective."""
    facets_of, counts = body.facet_cells
    topology, tdim, found = body.mesh.topology, body.mesh.topology.dim, []
    outer = np.flatnonzero(counts == 1)
    # The numbers of columns are those of the cell: a rank may have no cells.
    for d, on_facets in enumerate(_facets_around(body.mesh.topology.cell_name())):
        topology.create_entities(d)
        topology.create_connectivity(tdim - 1, d)
        topology.create_connectivity(tdim, d)
        marks = la.vector(topology.index_map(d), 1)
        of_facets = topology.connectivity(tdim - 1, d).array.reshape(-1, int(on_facets[:, 0].sum()))
        marks.array[of_facets[outer].ravel()] = 1.0
        marks.scatter_reverse(la.InsertMode.add)
        marks.scatter_forward()
        of_cells = topology.connectivity(tdim, d).array.reshape(-1, len(on_facets))
        found.append(marks.array[of_cells] > 0.0)
    return [*found, counts[facets_of] == 1]


def _distances(cell: str) -> tuple[FloatArray, FloatArray]:
    """Slopes, shape (facets, tdim), and offsets of the distances to the facets of a reference cell.

    They are 0 on the facet and 1 at all other corners.
    """
    kind = basix.CellType[cell]
    corners = np.asarray(basix.geometry(kind))
    facets = basix.topology(kind)[corners.shape[1] - 1]
    values = np.ones((len(corners), len(facets)))
    for k, facet in enumerate(facets):
        values[facet, k] = 0.0
    affine = np.linalg.lstsq(np.column_stack([corners, np.ones(len(corners))]), values, rcond=None)[0]
    return affine[:-1].T.copy(), affine[-1]


def connected_parts(body: Continuum) -> IntArray:
    """Number of the part of each local cell, shape (cells,); parts share no nodes. Collective."""
    index_map, comm = body.space.dofmap.index_map, body.comm
    nodes = np.asarray(body.space.dofmap.list)
    count = index_map.size_local + index_map.num_ghosts
    rows = np.repeat(np.arange(len(nodes)), nodes.shape[1])
    at = sparse.csr_matrix((np.ones(nodes.size), (nodes.ravel(), rows)), (count, len(nodes)))
    links = sparse.bmat([[None, at], [at.T, None]]) if len(nodes) else sparse.csr_matrix((count, count))
    number, label = csgraph.connected_components(links, directed=False)
    counts = comm.allgather(int(number))
    label = np.asarray(label, dtype=np.int64) + sum(counts[: comm.rank])
    if comm.size == 1:
        return np.asarray(label[count:])
    ghosts = np.arange(index_map.size_local, count, dtype=np.int32)
    shared = np.column_stack([index_map.local_to_global(ghosts), label[ghosts]]).astype(np.float64)
    shared = parallel.gather_rows(comm, shared).astype(np.int64)
    first, last = index_map.local_range
    mine = shared[(shared[:, 0] >= first) & (shared[:, 0] < last)]
    same = np.column_stack([label[mine[:, 0] - first], mine[:, 1]]).astype(np.float64)
    same = parallel.gather_rows(comm, same).astype(np.int64)
    joined = sparse.csr_matrix((np.ones(len(same)), (same[:, 0], same[:, 1])), (sum(counts), sum(counts)))
    whole = csgraph.connected_components(joined, directed=False)[1].astype(np.int64)
    return np.asarray(whole[label[count:]])
