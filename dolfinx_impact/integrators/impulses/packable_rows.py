"""Contact operators whose rows lie over nodes, of one contact or of several in a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from mpi4py import MPI

from ..._types import FloatArray, IntArray
from ...algebra.contact_operator import ContactOperator
from ...algebra.node_rows import Exchange, NodeRows, Route
from ...algebra.operators import SparseRows
from ...algebra.stacked_rows import StackedRows
from ...contact.surfaces.halo import Halo


class Part(NamedTuple):
    """Rows of points that follow each other; entries as :meth:`.NodeRows.set` takes them.

    Attributes:
        before: Number of the points before them.
        start, nodes, B, W: The entries.
        number: Numbers of their nodes among those of the exchange, shape (nodes,); None for the same ones.
    """

    before: int
    start: IntArray
    nodes: IntArray
    B: FloatArray
    W: FloatArray
    number: IntArray | None


class PackableRows(Protocol):
    """Rows over nodes.

    Attributes:
        gdim: Number of directions.
    """

    gdim: int

    @property
    def exchange(self) -> Exchange:
        """Access to the nodes of :meth:`parts`."""

    @property
    def route(self) -> Route | None:
        """Access to the points of the rows here; None where these are those that this rank owns."""

    def parts(self) -> Sequence[Part]:
        """The rows here of now. Collective."""


def packable(L: ContactOperator, comm: MPI.Comm, *, rough: bool) -> PackableRows | None:
    """The rows of an operator as those of nodes; None where they are not. Collective.

    Args:
        L: The operator; what it holds at a call of :meth:`PackableRows.parts` counts.
        comm: Communicator.
        rough: Whether there is friction, so that points need all directions of space.
    """
    if isinstance(L, NodeRows):
        return _OneMember(L)
    if not isinstance(L, StackedRows):
        return None
    over_nodes = next((each for each in L.members if isinstance(each, NodeRows)), None)
    if over_nodes is None:
        return None
    block, gdim = over_nodes.exchange.block, over_nodes.gdim
    fit = all(isinstance(each, NodeRows) or _at_nodes(each, block, gdim, rough) for each in L.members)
    return _Members(L, comm, block, gdim) if comm.allreduce(fit, op=MPI.LAND) else None


def _at_nodes(rows: ContactOperator, block: int, gdim: int, rough: bool) -> bool:
    """Whether the dofs of each row are directions of one node, in ascending order, or all of them."""
    if type(rows) is not SparseRows:
        return False
    direction = rows.dofs % block
    one = np.all(rows.dofs // block == rows.dofs[:, :1] // block) and np.all(direction < gdim)
    every = rows.components == gdim
    return bool(one and np.all(np.diff(direction, axis=1) > 0) and (every or not rough))


class _OneMember:
    """See :class:`PackableRows`."""

    def __init__(self, rows: NodeRows) -> None:
        self._rows, self.gdim = rows, rows.gdim

    @property
    def exchange(self) -> Exchange:
        return self._rows.exchange

    @property
    def route(self) -> Route | None:
        return self._rows.route

    def parts(self) -> Sequence[Part]:
        return [Part(0, *self._rows.entries(), None)]


class _Routes:
    """The routes of several members in one; see :class:`.Route`.

    Args:
        members: Number of the points of each member that this rank owns, and its route.

    Attributes:
        members: As given.
        before: Number of the points here before those of each member.
        count: Number of all points here.
    """

    def __init__(self, members: Sequence[tuple[int, Route | None]]) -> None:
        self.members = members
        here = [count if route is None else route.count for count, route in members]
        self.before = [sum(here[:k]) for k in range(len(here))]
        self.count = sum(here)
        owned = np.cumsum([count for count, _ in members])
        self._owned = [slice(end - count, end) for end, (count, _) in zip(owned, members)]
        self._here = [slice(first, first + count) for first, count in zip(self.before, here)]

    def there(self, values: FloatArray, out: FloatArray) -> None:
        for (_, route), own, here in zip(self.members, self._owned, self._here):
            if route is None:
                out[here] = values[own]
            else:
                route.there(values[own], out[here])

    def back(self, values: FloatArray, out: FloatArray) -> None:
        for (_, route), own, here in zip(self.members, self._owned, self._here):
            if route is None:
                out[own] = values[here]
            else:
                route.back(values[here], out[own])


class _Members:
    """See :class:`PackableRows`; the nodes of all members are numbered anew after each search."""

    def __init__(self, rows: StackedRows, comm: MPI.Comm, block: int, gdim: int) -> None:
        self._comm, self._block, self.gdim = comm, block, gdim
        self._members = rows.members
        self._known: list[Exchange | None] = []
        self._number: list[IntArray] = []

    def parts(self) -> Sequence[Part]:
        exchanges = [each.exchange if isinstance(each, NodeRows) else None for each in self._members]
        if not self._known or any(now is not then for now, then in zip(exchanges, self._known)):
            self._join(exchanges)
        found = zip(self._route().before, map(self._entries, self._members), self._number)
        return [Part(before, *entries, number) for before, entries, number in found]

    def _route(self) -> _Routes:
        return _Routes([(each.count, getattr(each, "route", None)) for each in self._members])

    @property
    def route(self) -> Route | None:
        routes = self._route()
        return routes if any(route is not None for _, route in routes.members) else None

    def _join(self, exchanges: list[Exchange | None]) -> None:
        """Number the nodes of all members."""
        owned = [
            (each.rank, each.local) if each else (np.full(rows.count, self._comm.rank), self._nodes_of(rows))
            for rows, each in zip(self._members, exchanges)
        ]
        rank, local = (np.concatenate(each).astype(np.int64) for each in zip(*owned))
        most = int(local.max(initial=0)) + 1
        keys, number = np.unique(rank * most + local, return_inverse=True)
        self._number = np.split(number.astype(np.int32), np.cumsum([each.size for each, _ in owned])[:-1])
        self.exchange = Halo(self._comm, keys // most, keys % most, self._block, self.gdim)
        self._known = exchanges

    def _nodes_of(self, rows: ContactOperator) -> IntArray:
        """Node of each row of a contact with rigid obstacles, or of bounds of dofs, shape (p,)."""
        assert isinstance(rows, SparseRows)
        nodes: IntArray = rows.dofs[:, 0] // self._block
        return nodes

    def _entries(self, rows: ContactOperator) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        if isinstance(rows, NodeRows):
            return rows.entries()
        assert isinstance(rows, SparseRows)
        p, B = rows.count, rows.weights
        if rows.components < self.gdim:
            B = np.zeros((p, self.gdim))
            B[np.arange(p)[:, None], rows.dofs % self._block] = rows.weights
        return np.arange(p + 1), np.arange(p, dtype=np.int32), B, np.ones(p)
