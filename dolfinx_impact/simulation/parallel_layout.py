"""Where the entries of arrays belong, told in a way that does not depend on the ranks.

A place gathers what the ranks have of an array on rank 0, in an order of its own, and gives it back, on as
many ranks as there are then.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from dolfinx import la
from mpi4py import MPI
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..algebra.operators import Rows

#: Nodes of two runs are the same up to this part of the body's length.
_SAME = 1e-9
#: What tells nodes at the same place apart, over the body's length.
_APART = 1e-6


class Place(Protocol):
    """Arrays whose first axis lies on the ranks."""

    def gather(self, local: NDArray) -> NDArray | None:
        """The entries of all ranks, on rank 0; None on others. Collective."""

    def scatter(self, stored: NDArray | None) -> NDArray:
        """This rank's part of what rank 0 has. Collective."""


class Shares:
    """Every rank has its part of a sum. On another number of ranks the first one takes all."""

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm

    def gather(self, local: NDArray) -> NDArray | None:
        """The parts, one a rank along the first axis."""
        parts = self._comm.gather(np.array(local))
        return None if parts is None else np.array(parts)

    def scatter(self, stored: NDArray | None) -> NDArray:
        """See :class:`Place`."""
        comm, parts = self._comm, self._comm.bcast(stored, root=0)
        if len(parts) == comm.size:
            return np.array(parts[comm.rank])
        whole = parts.sum(axis=0)
        return np.array(whole if comm.rank == 0 else np.zeros_like(whole))


class Points:
    """Rows of all ranks in their own order: points of a contact, recorded displacements.

    Attributes:
        size: Number of rows of all ranks.
    """

    def __init__(self, comm: MPI.Comm, rows: Rows) -> None:
        self._comm, self._order = comm, rows.sorting(comm)
        self.size = self._order.size
        self._counts = comm.allgather(rows.count)

    def gather(self, local: NDArray) -> NDArray | None:
        """See :class:`Place`."""
        every = gather_on_root(self._comm, local)
        return None if every is None else every[self._order]

    def scatter(self, stored: NDArray | None) -> NDArray:
        """See :class:`Place`."""
        every = None
        if stored is not None:
            every = np.empty_like(stored)
            every[self._order] = stored
        return scatter_from_root(self._comm, every, self._counts)


class Dofs:
    """Owned dofs in rank order; other ranks' are found again by their nodes.

    Args:
        system: A body on a mesh, or a system that is whole on every rank.

    Attributes:
        block: Dofs of a node.
    """

    def __init__(self, system: Any) -> None:
        self._comm = system.comm
        self._meshed = hasattr(system, "mesh")
        self.block = int(system.block) if self._meshed else 1
        self._length = float(system.length)
        self._counts = self._comm.allgather(int(system.owned) // self.block)
        self._nodes = _nodes(system) if self._meshed else np.arange(system.owned, dtype=float)[:, None]
        self._found: NDArray | None = None

    def nodes(self) -> NDArray | None:
        """What tells the nodes of all ranks apart: coordinates [m] and a number, on rank 0. Collective."""
        return gather_on_root(self._comm, self._nodes)

    def find(self, stored: NDArray | None) -> str:
        """Look for this run's nodes among stored ones, on rank 0. Collective.

        Returns:
            What is wrong, empty for nothing; on every rank.
        """
        mine, problem = self.nodes(), ""
        if mine is not None and stored is not None:
            problem = self._match(mine, stored)
        return str(self._comm.bcast(problem, root=0))

    def _match(self, mine: NDArray, stored: NDArray) -> str:
        if mine.shape != stored.shape:
            return f"it has {len(stored)} nodes, this run {len(mine)}"
        self._found = None
        if np.array_equal(mine, stored):
            return ""
        scale = np.append(np.full(mine.shape[1] - 1, self._length), 1.0 / _APART)
        _, found = cKDTree(stored / scale).query(mine / scale)
        away = np.max(np.abs(stored[found] - mine)[:, :-1], initial=0.0)
        if not self._meshed or away > _SAME * self._length or np.unique(found).size < found.size:
            return "its nodes lie elsewhere"
        self._found = found
        return ""

    def gather(self, local: NDArray) -> NDArray | None:
        """See :class:`Place`; ``local`` may have ghosts, which are left out."""
        owned = self._counts[self._comm.rank] * self.block
        return gather_on_root(self._comm, local[:owned])

    def scatter(self, stored: NDArray | None) -> NDArray:
        """The owned entries. Collective, after :meth:`find`."""
        if stored is not None and self._found is not None:
            stored = stored.reshape(-1, self.block, *stored.shape[1:])[self._found].reshape(stored.shape)
        return scatter_from_root(self._comm, stored, [n * self.block for n in self._counts])


class Pairs:
    """The pairs of an interface, told by their dofs.

    Args:
        dofs: The place of the undivided body's dofs.
        at: Dofs of this rank's pairs.
        owned: Number of owned dofs of this rank.
    """

    def __init__(self, dofs: Dofs, at: NDArray, owned: int) -> None:
        self._dofs, self._at, self._owned = dofs, at, owned

    def gather(self, local: NDArray) -> NDArray | None:
        """See :class:`Place`."""
        spread = np.zeros(self._owned)
        spread[self._at] = local
        return self._dofs.gather(spread)

    def scatter(self, stored: NDArray | None) -> NDArray:
        """See :class:`Place`."""
        return self._dofs.scatter(stored)[self._at]


def places_of(s: Any) -> dict[str, Any]:
    """The places of a scheme's arrays, by the names of :meth:`~.Integrator.state_places`. Collective."""
    comm, system = s.system.comm, s.body
    places: dict[str, Any] = {"shares": Shares(comm), "dofs": Dofs(getattr(system, "fine", system))}
    if s.contact is not None:
        places["points"] = Points(comm, s.contact.rows)
    if hasattr(s, "interface"):
        places["pairs"] = Pairs(places["dofs"], s.interface.dofs, system.fine.owned)
    return places


def _nodes(body: Any) -> NDArray:
    """Coordinates of the owned nodes, and a number below 1 from the cells that meet there, shape (n, 4)."""
    index_map = body.space.dofmap.index_map
    cells = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
    original = np.asarray(body.mesh.topology.original_cell_index, dtype=np.uint64)[:cells]
    # Nodes of two bodies may coincide, but no cell is theirs both. Multiples of 2^-32 add up exactly.
    code = (original + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)
    touched, at = la.vector(index_map, 1), np.asarray(body.space.dofmap.list)[:cells]
    np.add.at(touched.array, at.ravel(), np.repeat(code.astype(np.float64) / 2**32, at.shape[1]))
    touched.scatter_reverse(la.InsertMode.add)
    owned = index_map.size_local
    return np.column_stack([np.asarray(body.x)[:owned], touched.array[:owned] % 1.0])


def gather_on_root(comm: MPI.Comm, local: NDArray) -> NDArray | None:
    """The ranks' arrays one after another along the first axis, on rank 0; None on others. Collective."""
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


def scatter_from_root(comm: MPI.Comm, stored: NDArray | None, counts: list[int]) -> NDArray:
    """What :func:`gather_on_root` had on each rank; ``counts`` are the lengths of the parts. Collective."""
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
