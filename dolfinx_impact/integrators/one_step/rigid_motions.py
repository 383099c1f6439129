"""Rigid motions of the parts of a body that supports and ties leave free: by geometry alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from scipy import sparse
from scipy.sparse import csgraph

from ... import parallel
from ..._types import FloatArray, IntArray
from ...contact.base import Contact

#: Square of what a condition asks of a motion, the mean over those of a part, that counts as nothing.
_NOTHING = 1e-12


class _Nodes(NamedTuple):
    """Nodes of the cells of all ranks, once for each part that has them, in ascending order.

    Attributes:
        number: Global numbers, shape (n,).
        part: Their parts, shape (n,).
        motions: Rigid motions of the part there, shape (n, k, block), with arms over the part's size.
    """

    number: IntArray
    part: IntArray
    motions: FloatArray


def is_rigid_in_pieces(system: Any) -> bool:
    """Whether the system is a body on a mesh whose displacements are vectors of space."""
    return hasattr(system, "named") and system.block in (system.gdim, 6)


def free_rigid_motion(system: Any, tied: Sequence[Contact]) -> FloatArray:
    """A rigid motion of parts that vanishes at held dofs and in ties, shape (size,), of size 1. Collective.

    Cells belong to one part where they have a facet in common; parts with common nodes are hinged there.

    Args:
        system: A body on a mesh.
        tied: Contacts with ties.

    Returns:
        The motion; 0 where there is none.
    """
    nodes = _nodes(system)
    _, k, block = nodes.motions.shape
    modes = k * (int(nodes.part.max()) + 1)
    conditions = [_at_held(system, nodes, modes), _at_hinges(nodes, modes)]
    given = sparse.vstack(conditions, format="csr")
    gram: FloatArray = (given.T @ given).toarray()
    counts = np.asarray((abs(given) > 0).sum(axis=0)).ravel()
    for contact in tied:
        gaps = np.array([contact.L(_field(system, nodes, each))[contact.bilateral] for each in np.eye(modes)])
        gram = gram + system.comm.allreduce(gaps @ gaps.T)
        counts = counts + system.comm.allreduce(np.count_nonzero(np.abs(gaps) > 0, axis=1))
    scale = 1.0 / np.sqrt(np.maximum(counts.reshape(-1, k).sum(axis=1), 1.0)).repeat(k)
    values, vectors = np.linalg.eigh(gram * scale * scale[:, None])
    if values[0] > _NOTHING:
        return np.zeros(system.size)
    free = _field(system, nodes, vectors[:, 0] * scale)
    free *= 1.0 / parallel.largest(system.comm, np.abs(free))
    return free


def _nodes(system: Any) -> _Nodes:
    """The nodes, with the rigid motions of their parts, on all ranks. Collective."""
    topology, tdim = system.mesh.topology, system.mesh.topology.dim
    topology.create_connectivity(tdim, 0)
    own = np.arange(topology.index_map(tdim).size_local)
    if system.cells is not None:
        own = system.cells[system.cells < own.size]
    of_cells = topology.connectivity(tdim, 0)
    each = system.comm.allreduce(of_cells.array.size // max(of_cells.num_nodes, 1), op=MPI.MAX)
    corners = of_cells.array.reshape(-1, each)[own]
    corners = topology.index_map(0).local_to_global(corners.ravel().astype(np.int32)).reshape(corners.shape)
    part = _parts(parallel.gather_rows(system.comm, corners.astype(np.float64)).astype(np.int64), tdim)
    first = sum(system.comm.allgather(own.size)[: system.comm.rank])
    cells = system.space.dofmap.list[own]
    numbers = system.space.dofmap.index_map.local_to_global(cells.ravel().astype(np.int32))
    here = np.column_stack(
        [numbers, np.repeat(part[first : first + own.size], cells.shape[1]), system.x[cells.ravel()]]
    )
    of_all = parallel.gather_rows(system.comm, np.unique(here, axis=0))
    _, once = np.unique(of_all[:, :2], axis=0, return_index=True)
    number, part = of_all[once, :2].T.astype(np.int64)
    return _Nodes(number, part, _motions(system, part, of_all[once, 2:]))


def _parts(corners: IntArray, common: int) -> IntArray:
    """Part of each cell: cells with so many ``common`` corners belong to one."""
    rows = np.repeat(np.arange(len(corners)), corners.shape[1])
    meets = sparse.csr_matrix(
        (np.ones(rows.size), (rows, np.unique(corners, return_inverse=True)[1].ravel()))
    )
    shared = meets @ meets.T
    shared.data = np.where(shared.data >= common, 1.0, 0.0)
    shared.eliminate_zeros()
    parts: IntArray = csgraph.connected_components(shared, directed=False)[1].astype(np.int64)
    return parts


def _motions(system: Any, part: IntArray, x: FloatArray) -> FloatArray:
    """Rigid motions of the parts at their nodes, shape (n, k, block)."""
    count, gdim = np.bincount(part), system.gdim
    center = np.column_stack([np.bincount(part, each) / count for each in x.T])
    arm = x - center[part]
    size = np.zeros(count.size)
    np.maximum.at(size, part, np.linalg.norm(arm, axis=1))
    arm /= size[part, None]
    along = np.eye(gdim)[1:] if system.hypothesis == "axisymmetric" else np.eye(gdim)
    spins = np.eye(3)[{1: 3, 2: 2, 3: 0}[gdim] :]
    spins = spins[: 0 if system.hypothesis == "axisymmetric" else 3]
    turned = np.array([np.cross(each, arm)[:, :gdim] for each in spins]).reshape(-1, part.size, gdim)
    moved = np.concatenate([np.repeat(along[:, None], part.size, axis=1), turned]).transpose(1, 0, 2)
    if system.block > gdim:
        rotated = np.concatenate([np.zeros((gdim, 3)), spins])  # times the size of the part
        moved = np.concatenate([moved, np.repeat(rotated[None], part.size, axis=0)], axis=2)
    motions: FloatArray = moved
    return motions


def _at_held(system: Any, nodes: _Nodes, modes: int) -> sparse.csr_matrix:
    """Motions at held dofs, shape (n, modes), on all ranks. Collective."""
    n = system.owned // system.block
    held = np.argwhere(system.constrained.reshape(n, system.block))
    held[:, 0] += int(system.global_dofs()[:1].sum()) // system.block if n else 0
    every = parallel.gather_rows(system.comm, held.astype(np.float64)).astype(np.int64)
    place = np.searchsorted(nodes.number, every[:, 0])
    known = nodes.number[np.minimum(place, nodes.number.size - 1)] == every[:, 0]
    place, direction = place[known], every[known, 1]
    return _rows(nodes.motions[place, :, direction], nodes.part[place], modes)


def _at_hinges(nodes: _Nodes, modes: int) -> sparse.csr_matrix:
    """Differences of the motions of parts at their common nodes, shape (n, modes)."""
    again = np.flatnonzero(np.diff(nodes.number) == 0)
    found = [sparse.csr_matrix((0, modes))]
    for direction in range(nodes.motions.shape[2]):
        one, other = (
            _rows(nodes.motions[each, :, direction], nodes.part[each], modes) for each in (again, again + 1)
        )
        found.append(one - other)
    return sparse.vstack(found, format="csr")


def _rows(values: FloatArray, part: IntArray, modes: int) -> sparse.csr_matrix:
    """A row of the k motions of a part each, shape (n, modes), from values of shape (n, k)."""
    n, k = values.shape
    columns = part[:, None] * k + np.arange(k)
    return sparse.csr_matrix((values.ravel(), columns.ravel(), k * np.arange(n + 1)), (n, modes))


def _field(system: Any, nodes: _Nodes, amounts: FloatArray) -> FloatArray:
    """A sum of the motions of the parts at all dofs of this rank, shape (size,)."""
    count, k = system.size // system.block, nodes.motions.shape[1]
    numbers = system.space.dofmap.index_map.local_to_global(np.arange(count, dtype=np.int32))
    place = np.minimum(np.searchsorted(nodes.number, numbers), nodes.number.size - 1)
    known = nodes.number[place] == numbers
    field, place = np.zeros((count, system.block)), place[known]
    field[known] = np.einsum("nk,nkd->nd", amounts.reshape(-1, k)[nodes.part[place]], nodes.motions[place])
    return field.ravel()
