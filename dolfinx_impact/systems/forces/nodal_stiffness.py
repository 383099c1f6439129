"""Stiffness of single nodes: entries of the diagonal of K at rest, from internal forces alone."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from dolfinx import la
from scipy import sparse

from ... import parallel
from ..._types import FloatArray, IntArray

#: Displacement over the mean distance of nodes, for differences of nonlinear forces.
_SMALL = 1e-6


def diagonal_stiffness(system: Any, dofs: IntArray) -> FloatArray | None:
    """Forces per displacement of single dofs, all others held, at rest. Collective.

    Nodes that do not act on each other are moved together, and the internal forces on them read: neither
    matrices nor forms are made.

    Args:
        system: A body, or point masses with ``stiffness=``.
        dofs: Owned dofs of this rank.

    Returns:
        ``K_ii`` at these dofs and 0 elsewhere, shape (owned,) [N/m]; None for systems that do not know their
        stiffness.
    """
    if not hasattr(system, "space"):
        K = getattr(system, "stiffness", None)
        return None if K is None else np.where(np.isin(np.arange(system.owned), dofs), np.diag(K), 0.0)
    block, found = system.block, np.zeros(system.owned)
    nodes, place = np.unique(dofs // block, return_inverse=True)
    colour = _colours(system, nodes)[place.reshape(dofs.shape)]
    groups, mine = colour * block + dofs % block, np.zeros(0, dtype=np.int64)
    for group in np.unique(parallel.gather_rows(system.comm, np.unique(groups))):
        mine = dofs[groups == group]
        found[mine] = _forces_on(system, mine)
    return found


def _forces_on(body: Any, dofs: IntArray) -> FloatArray:
    """Internal forces on dofs per displacement of all of them, shape of ``dofs`` [N/m]. Collective."""
    x, out = np.zeros(body.size), np.zeros(body.size)
    if body.linear:
        x[dofs] = 1.0
        body.subtract_tangent(np.zeros(body.size), x, out)
        return np.asarray(-out[dofs])
    step = _SMALL * body.length / max(1.0, body.node_count) ** (1.0 / body.gdim)
    with nullcontext() if body.history is None else body.history.at_rest():
        x[dofs] = -step
        body.subtract_internal(x, out)
        out *= -1.0
        x[dofs] = step
        body.subtract_internal(x, out)
    return np.asarray(-out[dofs] / (2.0 * step))


def _colours(body: Any, nodes: IntArray) -> IntArray:
    """Numbers of owned nodes, on all ranks different for nodes that act on each other. Collective."""
    index_map, comm = body.space.dofmap.index_map, body.comm
    marks = la.vector(index_map, 1)
    marks.array[nodes] = 1.0
    marks.scatter_forward()  # cells have nodes of other ranks
    cells = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
    at = np.asarray(body.space.dofmap.list)[:cells]
    at = at[(marks.array[at] > 0.0).any(axis=1)]
    first = int(np.cumsum([0, *comm.allgather(len(at))])[comm.rank])
    cell = np.repeat(first + np.arange(len(at)), at.shape[1])
    number = index_map.local_to_global(at.ravel().astype(np.int32))
    every = parallel.gather_rows(comm, np.column_stack([cell, number, marks.array[at.ravel()]]))
    known, node = np.unique(every[:, 1], return_inverse=True)
    entries = np.ones(len(every), dtype=np.int32), (every[:, 0].astype(np.int64), node.ravel())
    of_cells = sparse.csr_matrix(entries)
    moved = np.zeros(known.size, dtype=bool)
    moved[node.ravel()] = every[:, 2] > 0.0
    links = of_cells[:, moved]
    # With nodal pressures a node acts on those of all cells that share a node with one of its own.
    reached = of_cells @ (of_cells.T @ links) if getattr(body.forces, "beyond", False) else links
    colour = _greedy((links.T @ reached).tocsr())
    mine = index_map.local_to_global(nodes.astype(np.int32))
    return np.asarray(colour[np.searchsorted(known[moved], mine)])


def _greedy(links: sparse.csr_matrix) -> IntArray:
    """The least number for each row that none of the rows before it has with which it is linked."""
    colour = np.full(links.shape[0], -1, dtype=np.int64)
    for i, (first, last) in enumerate(zip(links.indptr[:-1], links.indptr[1:])):
        taken = set(colour[links.indices[first:last]].tolist())
        colour[i] = next(k for k in range(len(taken) + 1) if k not in taken)
    return colour
