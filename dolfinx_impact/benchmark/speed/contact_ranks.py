"""What contact between surfaces asks of many ranks, counted on two blocks without a run on them.

Two blocks like those of :mod:`.surfaces`, face on face, whose cells are divided among the ranks by bisection
of the cube that they fill. The work at the faces is divided as a run would divide it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from mpi4py import MPI
from scipy import sparse

from ..._types import BoolArray, FloatArray, IntArray
from ...contact.surfaces.ranks import boxes
from ...contact.surfaces.ranks.bisection import bisected, imbalance, of_nodes
from ...contact.surfaces.tables import LARGEST_GAP
from .measurement import Number, Seconds, Turns, seconds_per_call
from .surfaces import CELLS

PARTS = (1, 2, 3, 8, 64, 512)
LARGE = 332, 1024  #: Cells across, for 1e8 dofs, and ranks, each with 1e5 of them.
_MARGIN = 0.25  #: Of the approach before the next search, over the width of a cell.
_MESSAGES = 2000  #: That are timed.


def counts(_: Sequence[int], cells: int = CELLS, parts: Sequence[int] = PARTS) -> Iterator[Turns]:
    """Counts for each number of parts, for bodies of 1e6 and of 1e8 dofs, and the cost of messages."""
    for n, ranks in ((cells, parts), (LARGE[0] * cells // CELLS, LARGE[1:])):
        faces = Faces.of(n)
        told = partial(_told, faces, ranks)
        head = f"{dofs(n)} dofs, {len(faces.slave)} facets on the face of the slave, for each rank at most:"
        yield Turns(head, numbers=told, what=f"{n} cells")
    if MPI.COMM_WORLD.size > 1:
        seconds = _message_and_sum(MPI.COMM_WORLD)
        words = f"a message to a neighbour and back and a sum over {MPI.COMM_WORLD.size} ranks: "
        number = Number("exchange and sum, us", 1e6 * seconds, words + f"{1e6 * seconds:.1f} us")
        yield Turns("", numbers=lambda _: [number], what="messages")


def dofs(n: int) -> int:
    """Dofs of both blocks, with n cells across the lower one."""
    return sum(3 * (k + 1) ** 2 * (k // 2 + 1) for k in (n, n * 13 // 14))


class Faces(NamedTuple):
    """The two faces that meet.

    Attributes:
        x: Their nodes, those of the slave first, shape (nodes, 3) [m].
        slave, master: Nodes of the facets, shape (facets, 4) each.
        pairs: Candidate pairs, numbers in ``slave`` and ``master``, shape (pairs, 2).
        found: Whether the pair has a segment, shape (pairs,).
        outer: Middles of all outer facets of both blocks, shape (facets, 3) [m].
    """

    x: FloatArray
    slave: IntArray
    master: IntArray
    pairs: IntArray
    found: BoolArray
    outer: FloatArray

    @classmethod
    def of(cls, n: int) -> Faces:
        """Those of blocks with n cells across the lower one."""
        m, aside = n * 13 // 14, 1e-6
        (x, slave), (y, master) = _face(n, 0.5 - aside), _face(m, 0.5 + aside)
        i, j, depth = _overlaps(n, m, _MARGIN / n)
        a, b = (k.ravel() for k in np.indices((i.size, i.size)))
        pairs = np.column_stack([i[a] * n + i[b], j[a] * m + j[b]])
        order = np.lexsort(pairs.T[::-1])
        outer = np.concatenate([_outer(n, 0.0), _outer(m, 0.5)])
        found = np.minimum(depth[a], depth[b])[order] > 0.0
        return cls(np.concatenate([x, y]), slave, master + len(x), pairs[order], found, outer)


def _face(n: int, z: float) -> tuple[FloatArray, IntArray]:
    """Nodes of n by n cells of the unit square at the height z, and of each cell."""
    at = np.linspace(0.0, 1.0, n + 1)
    x = np.stack(np.meshgrid(at, at, [z], indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    corners = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    return x, np.stack(corners, axis=-1).reshape(-1, 4)


def _outer(n: int, low: float) -> FloatArray:
    """Middles of the outer facets of a block of n by n by n/2 cells, 1/2 m high, shape (facets, 3) [m]."""
    across, up = (np.arange(n) + 0.5) / n, low + 0.5 * (np.arange(n // 2) + 0.5) / (n // 2)
    inside = 1e-6
    levels, walls = [low + inside, low + 0.5 - inside], [inside, 1.0 - inside]
    grids = (across, across, levels), (walls, across, up), (across, walls, up)
    return np.concatenate([np.stack(np.meshgrid(*each), axis=-1).reshape(-1, 3) for each in grids])


def _overlaps(n: int, m: int, margin: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Cells of n and of m along the unit interval that overlap or are ``margin`` apart; their overlaps."""
    i, j = (k.ravel() for k in np.indices((n, m)))
    overlap = np.minimum((i + 1) / n, (j + 1) / m) - np.maximum(i / n, j / m)
    overlap[np.abs(overlap) < 1e-12] = 0.0
    near = overlap > -margin
    return i[near], j[near], overlap[near]


def owners(x: FloatArray, ranks: int) -> IntArray:
    """Rank whose cells are at places in the unit cube, which is halved along its longest axis, shape (n,)."""
    owner = np.zeros(len(x), dtype=np.int64)
    waiting = [(np.arange(len(x)), np.zeros(3), np.ones(3), 0, ranks)]
    while waiting:
        chosen, low, high, first, count = waiting.pop()
        owner[chosen] = first
        if count == 1 or not chosen.size:
            continue
        axis, lower = int(np.argmax(high - low)), count // 2
        cut = low[axis] + (high[axis] - low[axis]) * lower / count
        below, above = high.copy(), low.copy()
        below[axis] = above[axis] = cut
        left = x[chosen, axis] < cut
        waiting.append((chosen[left], low, below, first, lower))
        waiting.append((chosen[~left], above, high, first + lower, count - lower))
    return owner


def _told(faces: Faces, parts: Sequence[int], _: Seconds) -> Iterator[Number]:
    """What each of so many ranks has to do and to hold, the largest of all."""
    for ranks in parts:
        yield from _of_ranks(faces, ranks)


def _of_ranks(faces: Faces, ranks: int) -> Iterator[Number]:
    found = shares(faces, ranks)
    words = {
        "segments": "segments, {:.4f} times the mean",
        "points": "points",
        "held": "facets held",
        "neighbours": "neighbours",
        "nodes": "nodes exchanged",
    }
    told = {"segments": found["segments"] * ranks / np.count_nonzero(faces.found)}
    parts = [f"{found[name]:>7.0f} {text.format(told.get(name, 0.0))}" for name, text in words.items()]
    yield Number("", 0.0, f"{ranks:>5} ranks: " + ", ".join(parts))
    for name, value in found.items():
        yield Number(f"{name}, {ranks} ranks", value, "")


def shares(faces: Faces, ranks: int) -> dict[str, float]:
    """Segments, points, facets held, neighbours and nodes of the rank with most of each.

    A rank integrates all facets around its points. It holds these and the next ones, the opposite ones by
    boxes, and the outer facets of its cells. With the owners of the nodes of its rows, and of its points, it
    exchanges messages.
    """
    weights = 1 + np.bincount(faces.pairs[:, 0], minlength=len(faces.slave))
    owner, of_cells = owners(faces.x, ranks), np.bincount(owners(faces.outer, ranks), minlength=ranks)
    part = bisected(faces.x[faces.slave].mean(axis=1), weights, ranks)
    user = of_nodes(faces.slave, part, len(faces.x))
    opposite = _lists(faces)
    each = [_share(faces, opposite, owner, user, k, int(of_cells[k])) for k in range(ranks)]
    found = {name: float(max(share[name] for share in each)) for name in each[0]}
    return found | {"bisection": imbalance(weights, part, ranks), "cells": float(of_cells.max())}


def _lists(faces: Faces) -> sparse.csr_matrix:
    """Which master facets each slave facet may touch; 2 where it has a segment, 1 elsewhere."""
    entries = np.where(faces.found, 2, 1), tuple(faces.pairs.T)
    return sparse.csr_matrix(entries, shape=(len(faces.slave), len(faces.master)))


def _share(
    faces: Faces, opposite: sparse.csr_matrix, owner: IntArray, user: IntArray, rank: int, of_cells: int
) -> dict[str, int]:
    mine = user == rank
    around = np.flatnonzero(mine[faces.slave].any(axis=1))
    ringed = np.zeros(len(faces.x), dtype=bool)
    ringed[faces.slave[around]] = True
    ring = np.flatnonzero(ringed[faces.slave].any(axis=1))
    (own, own_radii), (others, radii) = _spheres(faces.x[faces.slave[ring]]), _spheres(faces.x[faces.master])
    reach = 2.0 * LARGEST_GAP * float(radii.max()) + _MARGIN * float(np.sqrt(2.0) * radii.min())
    masters = np.count_nonzero(boxes.near(boxes.boxes(own, own_radii), others, radii, reach))
    rows = opposite[around]
    nodes = np.union1d(faces.slave[around].ravel(), faces.master[np.unique(rows.indices)].ravel())
    with_rank = np.union1d(np.unique(owner[nodes]), np.unique(user[owner == rank]))
    return {
        "segments": int(np.count_nonzero(rows.data == 2)),
        "pairs": int(rows.nnz),
        "points": int(np.count_nonzero(mine)),
        "held": ring.size + int(masters) + of_cells,
        "neighbours": int(np.count_nonzero((with_rank != rank) & (with_rank >= 0))),
        "nodes": int(np.count_nonzero(owner[nodes] != rank)),
    }


def _spheres(at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles of facets and their radii, from the places of their nodes, shape (facets, n, 3) [m]."""
    centre = at.mean(axis=1)
    return centre, np.linalg.norm(at - centre[:, None], axis=2).max(axis=1)


def _message_and_sum(comm: MPI.Comm) -> float:
    """Seconds in which a rank sends 300 numbers to the next one and back, and all add up three."""
    numbers, sums = np.zeros(300), np.zeros(3)
    to, origin = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size

    def exchange() -> None:
        for _ in range(2):
            comm.Sendrecv(numbers.copy(), to, recvbuf=numbers, source=origin)
        comm.Allreduce(MPI.IN_PLACE, sums)

    return min(seconds_per_call(exchange, _MESSAGES // 10) for _ in range(10))
