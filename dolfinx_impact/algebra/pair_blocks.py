"""Symmetric matrices with zero row sums as sums over pairs of nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import FloatArray, IntArray
from . import kernels

#: Differences between a block and its transpose up to this part of the largest entry are rounding.
_SYMMETRIC = 1e-14


class PairBlocks(NamedTuple):
    """Strictly upper triangular blocks of -K, whose rows sum to zero: ``-K u = sum_j (-K_ij) (u_j - u_i)``.

    Only the symmetric part of a block is stored for all pairs. The blocks of a homogeneous elastic body are
    symmetric in the interior: their skew part is ``lambda - mu`` times a null Lagrangian, an integral over
    the boundary.

    Attributes:
        start: First pair of each row, shape (rows + 1,).
        column: The other node of each pair, shape (n,).
        blocks: Symmetric parts, upper triangles by rows, shape (n bs (bs + 1) / 2,).
        skew_row, skew_column: Nodes of the pairs with a skew part, shape (m,).
        skew: Strictly upper entries of these, by rows, shape (m, bs (bs - 1) / 2).
    """

    start: IntArray
    column: IntArray
    blocks: FloatArray
    skew_row: IntArray
    skew_column: IntArray
    skew: FloatArray

    @classmethod
    def empty(cls, rows: int = 0, count: int = 0, skewed: int = 0, bs: int = 1) -> PairBlocks:
        """Zeros for so many pairs."""
        # Unsigned indices save the loops the handling of negative ones.
        start, column, one, other = (np.zeros(n, np.uint32) for n in (rows + 1, count, skewed, skewed))
        blocks = np.zeros(count * bs * (bs + 1) // 2)
        return cls(start, column, blocks, one, other, np.zeros((skewed, bs * (bs - 1) // 2)))

    @classmethod
    def of(cls, start: IntArray, column: IntArray, blocks: FloatArray, bs: int, largest: float) -> PairBlocks:
        """The pairs of a matrix in BSR format.

        Args:
            start, column, blocks: The matrix, ``blocks`` of shape (n bs^2,).
            bs: Block size.
            largest: Its largest entry, over all ranks.
        """
        loops, counts, rounding = kernels.load(), np.zeros(start.size - 1, np.int64), _SYMMETRIC * largest
        skewed = loops.count_pairs(start, column, blocks, bs, rounding, counts)
        pairs = cls.empty(counts.size, int(counts.sum()), skewed, bs)
        np.cumsum(counts, out=pairs.start[1:])
        loops.fill_pairs(start, column, blocks, bs, rounding, pairs)
        return pairs

    def part(self, rows: IntArray, place: IntArray) -> PairBlocks:
        """The pairs of some rows, with other numbers of the nodes.

        Args:
            rows: The rows that have pairs, ascending.
            place: New number of each node.
        """
        begin = np.concatenate([[0], np.cumsum(np.diff(self.start.astype(np.int64))[rows])])
        renumbered = (
            place[each].astype(np.uint32) for each in (self.column, self.skew_row, self.skew_column)
        )
        column, one, other = renumbered
        return PairBlocks(begin.astype(np.uint32), column, self.blocks, one, other, self.skew)
