"""The tangent stiffness of a layer of dofs, all others held, as a small matrix that every rank has."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import la
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from ... import parallel
from ..._types import AnyArray, FloatArray, IntArray
from ...algebra import kernels
from ...algebra.sparse_solver import SymmetricSolver

#: Difference between a product with the matrix and that of the system which shows missing entries.
_MISSING = 1e-6
#: Pivot over the diagonal entry that it is left of, below which there is only round-off.
_ROUND_OFF = 1e-14
_SINGULAR = "the stiffness of the contact nodes alone is singular"


class LayerStiffness:
    """``K_cc = dF_int,c / du_c`` of some dofs c of a system, factorised.

    The columns come from products with the tangent of the system (``subtract_tangent``), many at once: nodes
    with no common neighbour in the layer share one. Point masses give their dense tangent.

    Args:
        system: A body, point masses, or a system with one of these two methods.
        dofs: The dofs of this rank, owned and free, sorted.

    Attributes:
        symmetric: Whether the matrix is symmetric.

    Raises:
        ValueError: A system without tangents.
    """

    def __init__(self, system: Any, dofs: IntArray) -> None:
        self._system, self._dofs, self._comm = system, dofs, system.comm
        self.symmetric = bool(system.linear or getattr(system, "conservative", False))
        counts = self._comm.allgather(dofs.size)
        before = sum(counts[: self._comm.rank])
        self._mine, self._total = slice(before, before + dofs.size), sum(counts)
        self._factors: SuperLU | None = None
        if hasattr(system, "subtract_tangent"):
            self._x, self._y = np.zeros(system.size), np.zeros(system.size)
            self._links = self._find_links()
            self._take_pattern(self._links)
        elif not hasattr(system, "tangents"):
            raise ValueError(
                f"nodes without mass need the tangent of the forces, but a {type(system).__name__} has "
                "neither subtract_tangent() nor tangents(): give it one of them, or take CDLagrange"
            )

    def update(self, t: float, u: FloatArray, v: FloatArray) -> None:
        """Compute and factorise the matrix at the state (t, u, v). Collective.

        Raises:
            ArithmeticError: A singular matrix.
        """
        if hasattr(self._system, "subtract_tangent"):
            K = self._by_products(u)
            while self._lacks_entries(K, u):
                self._take_pattern(self._pattern @ self._links)
                K = self._by_products(u)
        else:
            # Other forces beside a stiffness may depend on displacements, too.
            given = getattr(self._system, "stiffness", None) if self._system.steady else None
            dense = self._system.tangents(t, u, v)[0] if given is None else given
            K = sparse.csc_matrix(dense[np.ix_(self._dofs, self._dofs)])
        self._matrix = K
        try:
            self._factors = splu(K, diag_pivot_thresh=0.0 if self.symmetric else 1.0) if self._total else None
        except RuntimeError as error:
            raise ArithmeticError(f"{_SINGULAR} ({error})") from None
        if self._factors is not None and self.symmetric and _cancelled(K, self._factors):
            raise ArithmeticError(f"{_SINGULAR}: can they turn about the nodes with mass? take a finer mesh")

    def solve(self, b: FloatArray, out: FloatArray) -> None:
        """Write ``K_cc^-1 b_c`` into ``out``, shape (size,); zero at other dofs. Collective."""
        right = parallel.gather_rows(self._comm, b[self._dofs])
        out[:] = 0.0
        if self._factors is not None:
            out[self._dofs] = self._factors.solve(right)[self._mine]

    def compiled(self) -> tuple[AnyArray, ...]:
        """Factors for compiled loops, after :meth:`update`.

        Raises:
            NotCompiled: A matrix without symmetric factors.
        """
        solver = SymmetricSolver.where_it_exists(self._matrix, self._dofs, self._system.size)
        if solver is None:
            raise kernels.NotCompiled("the stiffness of the contact nodes has no symmetric factors")
        return solver.compiled()

    # -- columns by products

    def _find_links(self) -> sparse.csr_matrix:
        """Which nodes of the layer share a cell, over all ranks, shape (nodes, nodes). Collective."""
        body, comm = self._system, self._comm
        index_map, block = body.space.dofmap.index_map, body.block
        nodes, self._node = np.unique(self._dofs // block, return_inverse=True)
        counts = comm.allgather(nodes.size)
        first = sum(counts[: comm.rank])
        self._node = self._node + first
        numbers = la.vector(index_map, 1)
        numbers.array[:] = -1.0
        numbers.array[nodes] = first + np.arange(nodes.size)
        numbers.scatter_forward()
        cells = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
        places = numbers.array[body.space.dofmap.list[:cells]].astype(np.intp)
        k = places.shape[1]
        pairs = np.column_stack([np.repeat(places, k, axis=1).ravel(), np.tile(places, (1, k)).ravel()])
        pairs = np.unique(pairs[(pairs >= 0).all(axis=1)], axis=0)
        row, column = parallel.gather_rows(comm, pairs).T
        return sparse.csr_matrix((np.ones(row.size), (row, column)), (sum(counts), sum(counts)))

    def _take_pattern(self, pattern: sparse.csr_matrix) -> None:
        """Pattern of the matrix by nodes, and the product from which each of its columns is taken."""
        self._pattern = pattern
        block = self._system.block
        colours = _colours(sparse.csr_matrix(pattern.T @ pattern))
        node, part = (parallel.gather_rows(self._comm, each) for each in (self._node, self._dofs % block))
        seeds = colours[node] * block + part
        self._seed, self._seeds = seeds[self._mine], int(seeds.max(initial=-1)) + 1
        places = sparse.csr_matrix(
            (np.ones(node.size), (np.arange(node.size), node)), (node.size, pattern.shape[0])
        )
        entries = (places @ pattern @ places.T).tocoo()
        self._rows, self._columns, self._taken = entries.row, entries.col, seeds[entries.col]

    def _product(self, x: FloatArray, u: FloatArray) -> FloatArray:
        """``K_cc x`` for this rank's values and rows. Collective."""
        self._x[self._dofs], self._y[:] = x, 0.0
        self._system.subtract_tangent(u, self._x, self._y)
        return -self._y[self._dofs]

    def _by_products(self, u: FloatArray) -> sparse.csc_matrix:
        columns = [self._product(np.where(self._seed == seed, 1.0, 0.0), u) for seed in range(self._seeds)]
        mine = np.column_stack(columns) if columns else np.zeros((self._dofs.size, 0))
        values = parallel.gather_rows(self._comm, mine)[self._rows, self._taken]
        K = sparse.csc_matrix((values, (self._rows, self._columns)), (self._total, self._total))
        return (K + K.T) / 2 if self.symmetric else K

    def _lacks_entries(self, K: sparse.csc_matrix, u: FloatArray) -> bool:
        """Whether nodes that share no cell are coupled, as by pressures at nodes. Collective."""
        if self._pattern.nnz == self._pattern.shape[0] ** 2:
            return False
        x = np.sin(1.0 + np.arange(self._total))
        exact = parallel.gather_rows(self._comm, self._product(x[self._mine], u))
        difference = np.abs(K @ x - exact).max(initial=0.0)
        return bool(difference > _MISSING * np.abs(K).sum(axis=1).max())


def _colours(graph: sparse.csr_matrix) -> IntArray:
    """Numbers from 0, different for neighbours in a graph, shape (nodes,)."""
    colours = np.full(graph.shape[0], -1)
    for node in range(graph.shape[0]):
        near = colours[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]]
        taken = np.zeros(near.size + 1, dtype=bool)
        taken[near[(near >= 0) & (near < taken.size)]] = True
        colours[node] = int(np.argmin(taken))
    return colours


def _cancelled(K: sparse.csc_matrix, factors: SuperLU) -> bool:
    """Whether elimination leaves round-off of a diagonal entry, with pivots on the diagonal."""
    diagonal = np.abs(K.diagonal())[np.argsort(factors.perm_c)]
    return bool(np.any(np.abs(factors.U.diagonal()) < _ROUND_OFF * diagonal))
