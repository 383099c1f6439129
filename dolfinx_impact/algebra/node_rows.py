"""Contact operator with rows of different lengths over nodes, which change from step to step."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._types import AnyArray, FloatArray, Int64Array, IntArray
from . import kernels
from .contact_operator import ContactOperator, RowEntries


class Call(NamedTuple):
    """A compiled function that ranks call together, from other compiled code, by addresses.

    Attributes:
        function: It takes two pointers and returns 0, or the code of an error of MPI.
        given: The first one; the second one is that of numbers.
    """

    function: int
    given: int


class Exchange(Protocol):
    """Access to the nodes of the rows, on whatever ranks they are.

    Attributes:
        count: Number of the nodes.
        shared: Those of the nodes that other ranks need too, shape (n,).
        add_shared: Replaces values at the shared nodes, shape (n, 4), by their sums over the ranks, in order.
        rank, local: Rank that owns each node, and its number there, shape (nodes,).
        block: Dofs per node of the vectors, of which the first gdim ones are looked at.
    """

    count: int
    rank: IntArray
    local: IntArray
    block: int
    shared: IntArray
    add_shared: Call

    @property
    def dofs(self) -> IntArray:
        """Owned dofs of the nodes that any rank needs."""

    def gather(self, x: FloatArray, out: FloatArray) -> None:
        """Write the values of a vector over the dofs at the nodes, shape (nodes, gdim). Collective."""

    def at_nodes(self, d: FloatArray) -> FloatArray:
        """A constant vector over the owned dofs at the nodes, (nodes, gdim). Collective at first."""

    def global_dofs(self, owned: int) -> IntArray:
        """Global numbers of the dofs of the nodes, with ``owned`` dofs on this rank. Collective at first."""

    def sum(self, values: FloatArray) -> None:
        """Replace values at the nodes by their sums over all ranks, shape (nodes, gdim). Collective."""

    def add(self, values: FloatArray, x: FloatArray, d: FloatArray | None = None) -> None:
        """Add values at the nodes, shape (nodes, gdim), times d, to a vector over the dofs. Collective."""


class Route(Protocol):
    """Access to the points of the rows that this rank computes with, on whatever ranks they are owned.

    Attributes:
        count: Number of the points here.
    """

    count: int

    def there(self, values: FloatArray, out: FloatArray) -> None:
        """Write values of the points that this rank owns into those of the points here. Collective."""

    def back(self, values: FloatArray, out: FloatArray) -> None:
        """Write values of the points here, (count, k), to the ranks that own them, (p, k). Collective."""


def node_sums(
    start: IntArray, nodes: IntArray, B: FloatArray, W: FloatArray, y: FloatArray, normal: FloatArray,
    vector: FloatArray,
) -> None:  # fmt: skip
    """Write ``sum B.y`` and ``sum W y`` of each row, shapes (p,) and (p, gdim)."""
    gdim = y.shape[1]
    for i in range(normal.size):
        total, first, second, third = 0.0, 0.0, 0.0, 0.0
        for k in range(start[i], start[i + 1]):
            j, w = np.uint64(nodes[k]), W[k]  # no number counts from the end: a third less time
            product = B[k, 0] * y[j, 0]
            first += w * y[j, 0]
            if gdim > 1:
                product += B[k, 1] * y[j, 1]
                second += w * y[j, 1]
            if gdim > 2:
                product += B[k, 2] * y[j, 2]
                third += w * y[j, 2]
            total += product
        normal[i], vector[i, 0] = total, first
        if gdim > 1:
            vector[i, 1] = second
        if gdim > 2:
            vector[i, 2] = third


def node_spread(
    start: IntArray, nodes: IntArray, B: FloatArray, W: FloatArray, normal: FloatArray, vector: FloatArray,
    y: FloatArray,
) -> None:  # fmt: skip
    """Write the transpose of :func:`node_sums`, shape (nodes, gdim); ``vector`` may have no row."""
    gdim = y.shape[1]
    y[:] = 0.0
    for i in range(normal.size):
        r, first, second, third = normal[i], 0.0, 0.0, 0.0
        if vector.shape[0]:
            first = vector[i, 0]
            second = vector[i, 1] if gdim > 1 else 0.0
            third = vector[i, 2] if gdim > 2 else 0.0
        for k in range(start[i], start[i + 1]):
            j, w = np.uint64(nodes[k]), W[k]
            y[j, 0] += B[k, 0] * r + w * first
            if gdim > 1:
                y[j, 1] += B[k, 1] * r + w * second
            if gdim > 2:
                y[j, 2] += B[k, 2] * r + w * third


def node_squares(start: IntArray, nodes: IntArray, B: FloatArray, d: FloatArray, out: FloatArray) -> None:
    """Write ``sum B.D B`` of each row, shape (p,)."""
    for i in range(out.size):
        out[i] = 0.0
        for k in range(start[i], start[i + 1]):
            for c in range(d.shape[1]):
                out[i] += B[k, c] * B[k, c] * d[nodes[k], c]


def node_normals(start: IntArray, B: FloatArray, W: FloatArray, n: FloatArray) -> None:
    """Write the directions of the sums of B over the positive parts of the rows, shape (p, gdim)."""
    gdim = n.shape[1]
    for i in range(n.shape[0]):
        square = 0.0
        for c in range(gdim):
            n[i, c] = 0.0
            for k in range(start[i], start[i + 1]):
                if W[k] > 0.0:
                    n[i, c] += B[k, c]
            square += n[i, c] * n[i, c]
        for c in range(gdim):
            n[i, c] /= math.sqrt(square) if square > 0.0 else 1.0


class NodeRows(ContactOperator):
    """Rows of different lengths: ``L_i v = sum_j B_ij.v_j`` and ``W_i v = sum_j W_ij v_j`` over nodes j.

    All methods are collective. The rows are set anew in every step, see :meth:`set`. A rank may compute with
    rows of points that others own: these are the rows here.

    Args:
        order: Sorting keys of the rows of this rank; see :class:`.ContactOperator`.
        gdim: Number of directions.
        shared: Whether nodes of a row may be on other ranks.
    """

    iterated = True

    def __init__(self, order: AnyArray, gdim: int, *, shared: bool) -> None:
        self.order = np.ascontiguousarray(order, dtype=np.float64)
        self.gdim, self.collective = gdim, shared
        self._exchange: Any = None
        self._y = np.zeros((0, gdim))
        self._sums, self._spread = kernels.jit(node_sums), kernels.jit(node_spread)
        self._squares = kernels.jit(node_squares)
        self._nothing, self._at_points = np.zeros((0, gdim)), np.zeros((self.count, 1 + gdim))
        self._set_route(None)

    def _set_route(self, route: Route | None) -> None:
        count = self.count if route is None else route.count
        self.route, self._empty = route, np.zeros(count + 1, dtype=np.int64)
        self._normal, self._vector = np.zeros(count), np.zeros((count, self.gdim))
        self._here = np.zeros((count, 1 + self.gdim))
        self._set_empty()

    def __repr__(self) -> str:
        return f"NodeRows: {self.count} rows, {self._W.size} entries"

    @property
    def components(self) -> int:
        """Number of directions of the vectors at the points."""
        return self.gdim

    def set_nodes(self, exchange: Exchange, route: Route | None = None) -> None:
        """Set the nodes to which the numbers of :meth:`set` refer; all rows become empty.

        Args:
            exchange: The nodes.
            route: The points of the rows here; None where these are those that this rank owns.
        """
        if self._exchange is not exchange:
            self._exchange, self._y = exchange, np.zeros((exchange.count, self.gdim))
        if self.route is not route:
            self._set_route(route)
        self._set_empty()

    def _set_empty(self) -> None:
        nothing = np.zeros((0, self.gdim))
        self.set(self._empty, np.zeros(0, dtype=np.int32), nothing, nothing[:, 0])

    @property
    def exchange(self) -> Exchange:
        """Access to the nodes of the rows."""
        exchange: Exchange = self._exchange
        return exchange

    def set(self, start: IntArray, nodes: IntArray, B: FloatArray, W: FloatArray) -> None:
        """Set the rows here: entries in CSR format, which are kept and not copied where the types are these.

        Args:
            start: Shape (rows + 1,), of 64 bits.
            nodes: Node of each entry, shape (n,), of 32 bits.
            B: Normal weights, shape (n, gdim).
            W: Weights of the vector rows, shape (n,).
        """
        self._start = np.ascontiguousarray(start, dtype=np.int64)
        self._nodes = np.ascontiguousarray(nodes, dtype=np.int32)
        self._B, self._W = np.ascontiguousarray(B), np.ascontiguousarray(W)

    def entries(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """The rows here in the form of :meth:`set`."""
        return self._start, self._nodes, self._B, self._W

    def normals(self) -> FloatArray:
        """Unit normals: directions of the sums of the positive parts of the rows, (p, gdim). Collective."""
        n = np.empty((self._start.size - 1, self.gdim))
        kernels.jit(node_normals)(self._start, self._B, self._W, n)
        return self._back(n)

    def _back(self, values: FloatArray) -> FloatArray:
        """Values of the points that this rank owns, from those of the rows here, shape (p, k). Collective."""
        if self.route is None:
            return values
        out = np.zeros((self.count, values.shape[1]))
        self.route.back(values, out)
        return out

    def row_entries(
        self, which: IntArray, tangents: FloatArray, d: FloatArray, to_global: Int64Array, total: int
    ) -> RowEntries:
        """See :meth:`.ContactOperator.row_entries`. Collective."""
        k, gdim = 1 + tangents.shape[1], self.gdim
        number, along = self._there(which, tangents.reshape(which.size, (k - 1) * gdim))
        chosen = np.flatnonzero(number >= 0)
        size = np.diff(self._start)[chosen]
        row = np.repeat(chosen, size)
        entry = np.arange(size.sum()) + np.repeat(self._start[chosen] - np.cumsum(size) + size, size)
        along = along[row].reshape(row.size, k - 1, gdim)
        vectors = np.concatenate([self._B[entry][:, None], self._W[entry, None, None] * along], axis=1)
        vectors *= self._exchange.at_nodes(d)[self._nodes[entry]][:, None]
        dofs = self._exchange.global_dofs(d.size)[self._nodes[entry]]
        places = np.repeat(number[row][:, None] * k + np.arange(k), gdim, axis=1).ravel()
        found = RowEntries(places, np.repeat(dofs[:, None], k, axis=1).ravel(), vectors.ravel())
        if self.route is None:
            return found
        route: Any = self.route
        places, dofs, values = route.collect(np.column_stack(found), np.repeat(row, k * gdim)).T
        return RowEntries(places.astype(np.int64), dofs.astype(np.int64), values)

    def _there(self, which: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
        """For each row here its place in ``which`` at its owner, -1 for none, and values. Collective."""
        given = np.full((self.count, 1 + values.shape[1]), -1.0)
        given[which, 0], given[which, 1:] = np.arange(which.size), values
        if self.route is None:
            return given[:, 0].astype(np.int64), given[:, 1:]
        out = np.empty((self.route.count, given.shape[1]))
        self.route.there(given, out)
        return out[:, 0].astype(np.int64), out[:, 1:]

    @property
    def support(self) -> IntArray:
        """Owned dofs on which rows of any rank may act."""
        dofs: IntArray = self._exchange.dofs
        return dofs

    def velocities(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :meth:`.ContactOperator.velocities`. Collective."""
        self._exchange.gather(x, self._y)
        return self._of_points()

    def _of_points(self) -> tuple[FloatArray, FloatArray]:
        """Sums at the points that this rank owns from values at the nodes. Collective."""
        self._sums(self._start, self._nodes, self._B, self._W, self._y, self._normal, self._vector)
        if self.route is None:
            return self._normal, self._vector
        self._here[:, 0], self._here[:, 1:] = self._normal, self._vector
        self.route.back(self._here, self._at_points)
        return self._at_points[:, 0].copy(), self._at_points[:, 1:].copy()

    def _spread_points(self, r: FloatArray, f: FloatArray | None) -> None:
        """Values at the nodes from those at the points that this rank owns. Collective."""
        vectors = self._nothing if f is None else f
        if self.route is not None:
            k = 1 if f is None else 1 + self.gdim
            self._at_points[:, 0], self._at_points[:, 1:k] = r, vectors if k > 1 else 0.0
            self.route.there(self._at_points[:, :k], self._here[:, :k])
            r, vectors = self._here[:, 0].copy(), vectors if k == 1 else self._here[:, 1:].copy()
        self._spread(self._start, self._nodes, self._B, self._W, r, vectors, self._y)

    def delassus(
        self, d: FloatArray, r: FloatArray, f: FloatArray | None, work: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """See :meth:`.ContactOperator.delassus`; at the nodes alone, without ``work``. Collective."""
        self._spread_points(r, f)
        self._exchange.sum(self._y)
        self._y *= self._exchange.at_nodes(d)
        return self._of_points()

    def add_impulses(
        self, r: FloatArray, f: FloatArray | None, d: FloatArray | None, out: FloatArray
    ) -> None:
        """See :meth:`.ContactOperator.add_impulses`. Collective."""
        self._spread_points(r, f)
        self._exchange.add(self._y, out, d)

    def diagonal(self, d: FloatArray) -> FloatArray:
        """Diagonal of ``L D L^T``, shape (p,). Collective."""
        out = np.zeros(self._start.size - 1)
        self._squares(self._start, self._nodes, self._B, self._exchange.at_nodes(d), out)
        return self._back(out[:, None])[:, 0].copy()
