"""Rows of features that would meet within a step: vertex on facet, edge on edge."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from mpi4py import MPI
from scipy import sparse

from .... import parallel
from ...._types import BoolArray, FloatArray, IntArray
from ....algebra.node_rows import NodeRows
from ..halo import Halo

#: Cosine of two rows, in the metric of the inverse masses, above which the later one takes the other's place.
_SAME = 0.999


@dataclass(frozen=True)
class FeatureRows:
    """Rows ``L v = n.sum(w v)`` over at most four nodes each, the same on all ranks.

    Nodes are numbered among those of all contacts that test paths, see :class:`.SweptPaths`.

    Attributes:
        tau: Part of the step at which the features meet, shape (m,).
        kind: 0 for a vertex on a facet, 1 for two edges, 2 for features that are inside, shape (m,).
        contact: Number of the contact, shape (m,).
        nodes: Shape (m, 4), -1 for none.
        weights: Shape (m, 4); their sum is 0.
        normal: Unit vectors of the separation, shape (m, gdim).
        least: Least separation that the motion of the step must have, shape (m,) [m].
    """

    tau: FloatArray
    kind: IntArray
    contact: IntArray
    nodes: IntArray
    weights: FloatArray
    normal: FloatArray
    least: FloatArray

    @classmethod
    def none(cls, gdim: int) -> FeatureRows:
        """No rows."""
        return cls.of_table(np.zeros((0, 12 + gdim)))

    @classmethod
    def of_table(cls, table: FloatArray) -> FeatureRows:
        """Rows from :meth:`table`."""
        whole = table[:, 1:7].astype(np.int64)
        return cls(
            table[:, 0].copy(), whole[:, 0], whole[:, 1], whole[:, 2:], table[:, 7:11].copy(),
            table[:, 12:].copy(), table[:, 11].copy(),
        )  # fmt: skip

    def table(self) -> FloatArray:
        """All of them as numbers, a line each."""
        first = np.column_stack([self.tau, self.kind, self.contact, self.nodes])
        return np.column_stack([first, self.weights, self.least, self.normal])

    def __len__(self) -> int:
        return self.tau.size

    def __getitem__(self, which: BoolArray | IntArray) -> FeatureRows:
        return FeatureRows(*(getattr(self, each.name)[which] for each in fields(self)))

    def joined(self, others: FeatureRows) -> FeatureRows:
        """These and others."""
        return FeatureRows.of_table(np.concatenate([self.table(), others.table()]))

    def sorted(self) -> FeatureRows:
        """By time, kind, contact and nodes: an order that no division into ranks changes."""
        keys = [self.kind, self.contact, *self.nodes.T]
        return self[np.lexsort([*keys[::-1], self.tau])]

    def disjoint(self) -> FeatureRows:
        """The first one, and each later one without a node of those taken."""
        taken: set[int] = set()
        chosen = []
        for k in range(len(self)):
            mine = self.nodes[k][self.nodes[k] >= 0].tolist()
            if taken.isdisjoint(mine):
                taken.update(mine)
                chosen.append(k)
        return self[np.array(chosen, dtype=np.int64)]

    def added(self, others: FeatureRows, inverse: FloatArray) -> FeatureRows:
        """These and others; a row that nearly repeats an earlier one takes its place.

        Args:
            others: Later ones.
            inverse: Inverse masses of the nodes, shape (nodes, gdim) [1/kg].
        """
        both = self.joined(others)
        first, second = (each.scaled(inverse) for each in (self, others))
        repeats = (first @ second.T) > _SAME
        kept = np.ones(len(both), dtype=bool)
        kept[: len(self)] = repeats.getnnz(axis=1) == 0
        return both[kept]

    def scaled(self, inverse: FloatArray) -> sparse.csr_matrix:
        """``L M^(-1/2)`` with rows of length 1, shape (m, nodes gdim); zero where all nodes are held."""
        count, gdim = inverse.shape
        row, place = np.nonzero(self.nodes >= 0)
        node = self.nodes[row, place]
        values = (self.weights[row, place, None] * self.normal[row]) * np.sqrt(inverse[node])
        size = np.sqrt(np.bincount(row, (values**2).sum(axis=1), len(self)))
        values /= np.where(size > 0.0, size, 1.0)[row][:, None]
        column = node[:, None] * gdim + np.arange(gdim)
        entries = values.ravel(), (np.repeat(row, gdim), column.ravel())
        return sparse.csr_matrix(entries, (len(self), count * gdim))

    def owned(self, rank: IntArray, mine: int) -> IntArray:
        """Rows whose first node a rank owns.

        Args:
            rank: Rank of each node.
            mine: That rank.
        """
        first = np.argmax(self.nodes >= 0, axis=1)
        nodes = self.nodes[np.arange(len(self)), first]
        return np.flatnonzero(rank[nodes] == mine)

    def over_nodes(self, which: IntArray, nodes: Halo, comm: MPI.Comm) -> NodeRows:
        """Some of them as rows of this rank. Collective.

        Args:
            which: Those that this rank owns.
            nodes: All nodes.
            comm: Communicator.
        """
        mine, gdim = self[which], self.normal.shape[1]
        filled = mine.nodes >= 0
        needed, place = np.unique(mine.nodes[filled], return_inverse=True)
        rows = NodeRows(which[:, None], gdim, shared=comm.size > 1)
        rows.set_nodes(Halo(comm, nodes.rank[needed], nodes.local[needed], nodes.block, gdim))
        start = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
        weights = mine.weights[filled]
        normals = np.repeat(mine.normal, filled.sum(axis=1), axis=0)
        rows.set(start, place.ravel(), weights[:, None] * normals, weights)
        return rows


def gathered(rows: FeatureRows, comm: MPI.Comm) -> FeatureRows:
    """Those of all ranks, sorted. Collective."""
    if comm.size > 1:
        rows = FeatureRows.of_table(parallel.gather_rows(comm, rows.table()))
    return rows.sorted()
