"""Partition-independent gather and scatter of distributed arrays.

A layout gathers a distributed array on rank 0 in an order that does not depend on the partition, and
scatters it on any number of ranks.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from dolfinx import la
from mpi4py import MPI
from scipy.spatial import cKDTree

from .. import _compat, parallel
from .._types import AnyArray, FloatArray, IntArray
from ..algebra.operators import SparseRows
from ..integrators.base import bodies_with_history

#: Tolerance of node coordinates over the length of the body.
_SAME = 1e-9
#: Scale of the number that distinguishes coincident nodes, over the length of the body.
_APART = 1e-6


class Layout(Protocol):
    """Layout of arrays whose first axis is distributed over the ranks."""

    def gather(self, local: AnyArray) -> AnyArray | None:
        """The complete array on rank 0, None on others. Collective."""

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """Rank-local part of the array of rank 0. Collective."""


class Replicated:
    """Arrays that every rank has completely."""

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm

    def gather(self, local: AnyArray) -> AnyArray | None:
        """See :class:`Layout`."""
        return local if self._comm.rank == 0 else None

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """See :class:`Layout`."""
        return np.asarray(self._comm.bcast(stored, root=0))


class Shares:
    """Rank-local contributions to a sum. On another number of ranks rank 0 gets the sum, others zero."""

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm

    def gather(self, local: AnyArray) -> AnyArray | None:
        """The contributions, one per rank along the first axis."""
        if self._comm.size == 1:
            return np.array(local)[None]
        parts = self._comm.gather(np.array(local))
        return None if parts is None else np.array(parts)

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """See :class:`Layout`."""
        comm, parts = self._comm, self._comm.bcast(stored, root=0)
        if len(parts) == comm.size:
            return np.array(parts[comm.rank])
        total = parts.sum(axis=0)
        return np.array(total if comm.rank == 0 else np.zeros_like(total))


class RowLayout:
    """Rows of all ranks (contact points, recorded displacements) in their global order.

    Attributes:
        size: Number of rows of all ranks.
    """

    def __init__(self, comm: MPI.Comm, rows: SparseRows) -> None:
        self._comm, self._order = comm, rows.sorting(comm)
        self.size = self._order.size
        self._counts = comm.allgather(rows.count)

    def gather(self, local: AnyArray) -> AnyArray | None:
        """See :class:`Layout`."""
        by_rank = gather_on_root(self._comm, local)
        return None if by_rank is None else by_rank[self._order]

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """See :class:`Layout`."""
        by_rank = None
        if stored is not None:
            by_rank = np.empty_like(stored)
            by_rank[self._order] = stored
        return scatter_from_root(self._comm, by_rank, self._counts)


class KeyedLayout:
    """Entries in the order of the ranks that wrote them, matched by keys.

    Args:
        comm: Communicator of the system.
        keys: Keys of the entries of this rank, shape (n, k): coordinates [m] and a number in [0, 1) that
            tells coincident ones apart; or a number alone.
        length: Length of the system [m].
        block: Number of array entries of a key (block size).

    Attributes:
        block: See above.
    """

    #: Name of the entries in messages.
    what = "nodes"

    def __init__(self, comm: MPI.Comm, keys: FloatArray, length: float, block: int = 1) -> None:
        self._comm, self._keys, self._length, self.block = comm, keys, length, block
        self._meshed = keys.shape[1] > 1
        self._counts = comm.allgather(len(keys))
        self._matches: IntArray | None = None

    def keys(self) -> FloatArray | None:
        """Keys of all entries on rank 0, None on others. Collective."""
        return gather_on_root(self._comm, self._keys)

    def find(self, stored: FloatArray | None) -> str:
        """Match the keys of this run with the stored ones. Collective.

        Returns:
            Description of the difference on every rank, empty if all match.
        """
        present, problem = self.keys(), ""
        if present is not None and stored is not None:
            problem = self._match(present, stored)
        return str(self._comm.bcast(problem, root=0))

    def _match(self, present: FloatArray, stored: FloatArray) -> str:
        if present.shape != stored.shape:
            return f"it has {len(stored)} {self.what}, this run {len(present)}"
        self._matches = None
        if np.array_equal(present, stored):
            return ""
        scale = np.append(np.full(present.shape[1] - 1, self._length), 1.0 / _APART)
        _, matches = cKDTree(stored / scale).query(present / scale)
        distance = np.max(np.abs(stored[matches] - present)[:, :-1], initial=0.0)
        if not self._meshed or distance > _SAME * self._length or np.unique(matches).size < matches.size:
            return f"its {self.what} lie elsewhere"
        self._matches = matches
        return ""

    def gather(self, local: AnyArray) -> AnyArray | None:
        """See :class:`Layout`; ghosts of ``local`` are ignored."""
        owned = self._counts[self._comm.rank] * self.block
        return gather_on_root(self._comm, local[:owned])

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """The owned entries. Collective, after :meth:`find`."""
        if stored is not None and self._matches is not None:
            stored = stored.reshape(-1, self.block, *stored.shape[1:])[self._matches].reshape(stored.shape)
        return scatter_from_root(self._comm, stored, [n * self.block for n in self._counts])


class Dofs(KeyedLayout):
    """Owned dofs, by their nodes.

    Args:
        system: A body on a mesh, or a replicated system.
    """

    def __init__(self, system: Any) -> None:
        meshed, block = hasattr(system, "mesh"), int(getattr(system, "block", 1))
        block = block if meshed else 1
        keys = _nodes(system) if meshed else np.arange(system.owned, dtype=float)[:, None]
        super().__init__(system.comm, keys, float(system.length), block)


class MaterialPoints(KeyedLayout):
    """Quadrature points of a material with history, by their places in the undeformed body.

    Args:
        body: The body.
        cells: The cells of the material on this rank, shape (n,).
        places: Its quadrature points, shape (n, points, 3) [m].
    """

    what = "quadrature points"

    def __init__(self, body: Any, cells: IntArray, places: FloatArray) -> None:
        codes = np.repeat(_cell_codes(body)[cells], places.shape[1])
        super().__init__(body.comm, np.column_stack([places.reshape(-1, 3), codes]), float(body.length))


class PairLayout:
    """Interface dofs of HATI, identified by the dofs of the undivided body.

    Args:
        dofs: Layout of the dofs of the undivided body.
        at: Dofs of the interface on this rank.
        owned: Number of owned dofs of this rank.
    """

    def __init__(self, dofs: Dofs, at: IntArray, owned: int) -> None:
        self._dofs, self._at, self._owned = dofs, at, owned

    def gather(self, local: AnyArray) -> AnyArray | None:
        """See :class:`Layout`."""
        spread = np.zeros(self._owned)
        spread[self._at] = local
        return self._dofs.gather(spread)

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """See :class:`Layout`."""
        return self._dofs.scatter(stored)[self._at]


def places_of(s: Any) -> dict[str, Layout]:
    """Layouts of the arrays of a scheme, by the names in :meth:`~.Integrator.state_places`. Collective."""
    comm, system, dofs = s.system.comm, s.body, Dofs(getattr(s.body, "fine", s.body))
    places: dict[str, Layout] = {"number": Replicated(parallel.world()), "shares": Shares(comm), "dofs": dofs}
    for i, body in enumerate(bodies_with_history(s.system)):
        for name, (cells, at) in body.history.points().items():
            places[f"material.{i}.{name}"] = MaterialPoints(body, cells, at)
    if s.contact is not None:
        places["points"] = RowLayout(comm, s.contact.L)
    if hasattr(s, "interface"):
        places["pairs"] = PairLayout(dofs, s.interface.dofs, system.fine.owned)
    return places


def _nodes(body: Any) -> FloatArray:
    """Coordinates of the owned nodes [m] and a hash in [0, 1) of the cells at the node, shape (n, 4)."""
    index_map, code = body.space.dofmap.index_map, _cell_codes(body)
    # Coincident nodes of two bodies have no common cell. Sums of multiples of 2^-32 are exact.
    sums, nodes = la.vector(index_map, 1), np.asarray(body.space.dofmap.list)[: code.size]
    np.add.at(sums.array, nodes.ravel(), np.repeat(code, nodes.shape[1]))
    sums.scatter_reverse(la.InsertMode.add)
    owned = index_map.size_local
    return np.column_stack([np.asarray(body.x)[:owned], sums.array[:owned] % 1.0])


def _cell_codes(body: Any) -> FloatArray:
    """Multiples of 2^-32 in [0, 1) by the input numbers of the owned cells, shape (cells,)."""
    cells = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
    numbers = getattr(getattr(body, "named", None), "cell_numbers", None)
    original = _compat.original_cells(body.mesh) if numbers is None else numbers
    original = np.asarray(original, dtype=np.uint64)[:cells]
    code = (original + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)
    found: FloatArray = code.astype(np.float64) / 2**32
    return found


def gather_on_root(comm: MPI.Comm, local: AnyArray) -> AnyArray | None:
    """Concatenation of the rank-local arrays along the first axis on rank 0; None on others. Collective."""
    local = np.ascontiguousarray(local)
    if comm.size == 1:
        return local
    counts = comm.gather(len(local))
    if counts is None:
        comm.Gatherv(local, None)
        return None
    row = local.shape[1:]
    out = np.empty((sum(counts), *row), dtype=local.dtype)
    comm.Gatherv(local, [out, np.array(counts) * int(np.prod(row))])
    return out


def scatter_from_root(comm: MPI.Comm, stored: AnyArray | None, counts: list[int]) -> AnyArray:
    """Inverse of :func:`gather_on_root`; ``counts`` are the lengths of the parts. Collective."""
    if comm.size == 1:
        assert stored is not None
        return np.array(stored)
    kind = comm.bcast(None if stored is None else (stored.shape[1:], stored.dtype), root=0)
    row, dtype = kind
    out = np.empty((counts[comm.rank], *row), dtype=dtype)
    sent = None
    if stored is not None:
        sent = [np.ascontiguousarray(stored), np.array(counts) * int(np.prod(row))]
    comm.Scatterv(sent, out)
    return out
