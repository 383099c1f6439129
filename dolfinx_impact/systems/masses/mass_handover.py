"""Masses of some nodes handed to their neighbours: a mass matrix that is singular at these nodes.

In every cell the lumped mass of its massless nodes goes in equal parts to its other nodes. A cell without
others gives it in equal parts to the cells behind its facets that have such nodes; where there are none, as
in a corner of tetrahedra, to the cells with common nodes, in proportion to their number. The sum stays, and
with it linear momentum; center of mass and moments of inertia move by the order of a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dolfinx import la

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray

#: Sums at the nodes (or facets) with the given numbers, shape (cells, k), over all cells of all ranks; of
#: values of shape (cells, k, block). The result has shape (nodes, block).
Sum = Callable[[IntArray, FloatArray], FloatArray]


def hand_over(
    parts: FloatArray, cells: IntArray, sides: IntArray, massless: BoolArray, at_nodes: Sum, at_sides: Sum
) -> tuple[FloatArray, bool]:
    """Nodal masses with those of the massless nodes handed over. Collective where the sums are.

    Args:
        parts: Parts of the nodal masses in each cell, shape (cells, k, block) [kg].
        cells, sides: Nodes and facets of each cell, shapes (cells, k) and (cells, s).
        massless: Mask of the nodes that give, shape (nodes,).
        at_nodes, at_sides: Sums at nodes and at facets.

    Returns:
        Masses, shape (nodes, block) [kg], and whether a cell of this rank has nobody to give to.
    """
    gives = massless[cells]
    takers = np.count_nonzero(~gives, axis=1)
    able = (takers > 0)[:, None]
    given = np.where(gives[:, :, None], parts, 0.0).sum(axis=1)
    received, waiting = np.zeros_like(given), ~able
    for common, sums in ((sides, at_sides), (cells, at_nodes)):

        def spread(values: FloatArray, common: IntArray = common, sums: Sum = sums) -> FloatArray:
            """Sums over the cells behind each facet, or at each node, of each cell."""
            width = common.shape[1]
            at_each: FloatArray = sums(common, np.repeat(values[:, None], width, axis=1))[common]
            summed: FloatArray = at_each.sum(axis=1)
            return summed

        ways = spread(able.astype(np.float64))
        passed_on = np.where(waiting, given, 0.0) / np.maximum(ways, 1.0)
        received += spread(np.where(ways > 0, passed_on, 0.0))
        waiting &= ways == 0
    share = np.where(able, given + received, 0.0) / np.maximum(takers, 1)[:, None]
    masses = at_nodes(cells, np.where(gives[:, :, None], 0.0, parts + share[:, None]))
    return masses, bool(np.any(waiting))


def of_body(body: Any, dofs: IntArray) -> FloatArray:
    """Lumped masses of a body with those of the nodes of ``dofs`` handed over, shape (owned,). Collective.

    Raises:
        ValueError: Nodes without a neighbour that keeps its mass.
    """
    topology, nodes, block = body.mesh.topology, body.space.dofmap.index_map, body.block
    topology.create_connectivity(topology.dim, topology.dim - 1)
    facets = topology.index_map(topology.dim - 1)
    count = topology.index_map(topology.dim).size_local
    mine = np.arange(count) if body.cells is None else body.cells[body.cells < count]
    cells = body.space.dofmap.list[mine]
    sides = topology.connectivity(topology.dim, topology.dim - 1).array
    sides = sides.reshape(-1, sides.size // max(1, count + topology.index_map(topology.dim).num_ghosts))[mine]
    massless = spread_nodes(nodes, np.unique(dofs // block)) > 0
    masses = la.vector(nodes, block)
    masses.array[: body.owned] = body.mass
    masses.scatter_forward()
    parts = body.cell_masses()[mine][:, :, None]
    total = _sum_over(nodes)(cells, parts)[cells]
    shares = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
    handed, stuck = hand_over(
        shares * masses.array.reshape(-1, block)[cells],
        cells,
        sides,
        massless,
        _sum_over(nodes),
        _sum_over(facets),
    )
    _refuse(parallel.total(body.comm, float(stuck)) > 0)
    return handed.ravel()[: body.owned].copy()


def of_pairs(masses: FloatArray, pairs: IntArray, dofs: IntArray) -> FloatArray:
    """Masses of dofs of which pairs are neighbours, those of ``dofs`` handed over, shape (k,).

    Args:
        masses: The masses, shape (k,) [kg]; each belongs in equal parts to the pairs of its dof.
        pairs: Pairs of dofs, shape (n, 2).
        dofs: The dofs that give their mass.

    Raises:
        ValueError: Dofs without a neighbour that keeps its mass.
    """
    massless = np.isin(np.arange(masses.size), dofs)

    def sums(numbers: IntArray, values: FloatArray) -> FloatArray:
        out = np.zeros((masses.size, values.shape[2]))
        np.add.at(out, numbers, values)
        return out

    degree = np.bincount(pairs.ravel(), minlength=masses.size)
    _refuse(bool(np.any(massless & (degree == 0))))
    parts = (masses / np.maximum(degree, 1))[pairs][:, :, None]
    handed, stuck = hand_over(parts, pairs, pairs, massless, sums, sums)
    _refuse(stuck)
    return np.where(degree > 0, handed[:, 0], masses)


def spread_nodes(nodes: Any, chosen: IntArray) -> FloatArray:
    """1 at the chosen owned nodes, 0 at others, also at ghosts, shape (nodes,). Collective."""
    mark = la.vector(nodes, 1)
    mark.array[:] = 0.0
    mark.array[chosen] = 1.0
    mark.scatter_forward()
    values: FloatArray = mark.array.copy()
    return values


def _sum_over(index_map: Any) -> Sum:
    """Sums over all ranks at local nodes or facets. Collective."""

    def sums(numbers: IntArray, values: FloatArray) -> FloatArray:
        at = la.vector(index_map, values.shape[2])
        at.array[:] = 0.0
        np.add.at(at.array.reshape(-1, values.shape[2]), numbers, values)
        at.scatter_reverse(la.InsertMode.add)
        at.scatter_forward()
        found: FloatArray = at.array.reshape(-1, values.shape[2]).copy()
        return found

    return sums


def _refuse(stuck: bool) -> None:
    if stuck:
        raise ValueError(
            "the mass of a contact node goes to its neighbours, but near some there are only contact nodes: "
            "take a finer mesh below the contact surface, fewer nodes for the contact, or CDLagrange"
        )
