"""Candidate pairs of facets that may come into contact before the next search."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...systems.elements.compiler import address, compiled
from .facets import Facets
from .tables import FACING

#: Sums are not reordered: all ranks and machines find the same pairs.
_FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
_DECLARATION = """
int64_t find_candidates(
    int64_t, const double *, int64_t, int64_t, const int64_t *, int64_t, const int64_t *, int, const double *,
    const double *, double, double, double, int64_t, const int64_t *, const int64_t *, int64_t,
    const int64_t *, const int64_t *, int, int64_t, const int64_t *, const int64_t *, const int64_t *,
    const int64_t *, int64_t, int64_t *, int64_t *, double *);
"""


class Candidates(NamedTuple):
    """Pairs of facets that may have a segment before the next search, or of corners and facets opposite.

    Attributes:
        pairs: Slave, or number of the corner, and master facet, shape (n, 2), sorted by the pair of surfaces,
            slave and master.
        member: Number of the pair of surfaces of each, shape (n,).
        above: Least distance of both facets along their common normal at the search, shape (n,) [m]:
            negative where they overlap along it.
        beside: Distance of their projections along that normal, shape (n,) [m]: on the normals of edges, so
            a lower bound; 0 where they overlap.
        lever: Largest distance of points of both along the normal, shape (n,) [m].
    """

    pairs: IntArray
    member: IntArray
    above: FloatArray
    beside: FloatArray
    lever: FloatArray

    def taken(self, which: BoolArray) -> Candidates:
        """Those of a mask."""
        return Candidates._make(each[which] for each in self)


class _Lists(NamedTuple):
    """Lists of facets or nodes, each held once, and which of them a member has.

    Attributes:
        start, entries: The lists in CSR format.
        of: Number of the list of each member.
    """

    start: IntArray
    entries: IntArray
    of: IntArray

    @classmethod
    def of_members(cls, arrays: Sequence[IntArray]) -> _Lists:
        """From an array for each member; equal ones are held once."""
        held: dict[bytes, int] = {}
        of = [held.setdefault(_integers(each).tobytes(), len(held)) for each in arrays]
        lists = [np.frombuffer(each, np.int64) for each in held]
        return cls(starts([each.size for each in lists]), _joined(lists), _integers(of))


class FacetSearch:
    """The search of pairs of facets of all pairs of surfaces at once, or of corners and facets.

    What does not change between two searches is made once. Of facets of degree 2 and 3 nothing is bounded.

    Args:
        facets: All facets.
        lists: Facets of the first surface of each pair, sorted, or nodes of corners, (pairs,) arrays.
        surfaces: Number of the second surface of each pair, shape (pairs,).
        points: Whether the lists are nodes.
        key: Keys of all facets, shape (facets,), of which the slave of a pair has the smaller one; None where
            the lists have slaves alone.
    """

    def __init__(
        self,
        facets: Facets,
        lists: Sequence[IntArray],
        surfaces: IntArray,
        *,
        points: bool = False,
        key: IntArray | None = None,
    ) -> None:
        shape, listed = facets.shape, _Lists.of_members(lists)
        masters, surface_of = np.unique(_integers(surfaces), return_inverse=True)
        slaves = masters[:0] if points else np.unique(facets.surface[listed.entries])
        used = np.concatenate([masters, np.setdiff1d(slaves, masters)])
        order = np.argsort(facets.surface, kind="stable")
        ends = np.searchsorted(facets.surface[order], np.column_stack([used, used + 1]))
        of_surface = _joined([order[first:last] for first, last in ends])
        surface_start = starts(ends[:, 1] - ends[:, 0])
        numbers = starts(np.diff(listed.start)[listed.of])  # of the first corner of each member
        nodes, corners = _integers(facets.nodes), _integers(shape.corners)
        flatness, diameter = map(np.ascontiguousarray, (facets.flatness, facets.diameter))
        curved = shape.points.size > 2
        self._shape = len(nodes), nodes.shape[1], _int64(nodes), corners.size, _int64(corners), curved
        self._sizes = address(flatness), address(diameter)
        self._members = (
            *(used.size, _int64(surface_start), _int64(of_surface)),
            *(listed.start.size - 1, _int64(listed.start), _int64(listed.entries), points),
            *(listed.of.size, _int64(listed.of), _int64(_integers(surface_of.ravel())), _int64(numbers)),
            _no_keys() if key is None else _int64(_integers(key)),
        )
        self._resize(8 * listed.entries.size + 64)

    def _resize(self, capacity: int) -> None:
        """Make room for so many pairs."""
        self._pairs, self._member = np.empty((capacity, 2), np.int64), np.empty(capacity, np.int64)
        self._distances = np.empty((capacity, 3))
        self._found = capacity, _int64(self._pairs), _int64(self._member), address(self._distances)

    def find(self, x: FloatArray, largest_gap: float, margin: float) -> Candidates:
        """Candidates while no node moves by more than half the margin.

        Args:
            x: Positions of all nodes, shape (nodes, gdim) [m].
            largest_gap: Largest gap of a segment over the larger diameter of its facets.
            margin: Largest change of a distance until the next search [m].

        Raises:
            MemoryError: No memory is left.
        """
        x = np.ascontiguousarray(x, np.float64)
        at, limits = (x.shape[1], address(x)), (largest_gap, margin, FACING)
        constant = *at, *self._shape, *self._sizes, *limits, *self._members
        count = _library().find_candidates(*constant, *self._found)
        if count > self._member.size:
            self._resize(count + count // 4)
            count = _library().find_candidates(*constant, *self._found)
        if count < 0:
            raise MemoryError("no memory is left for the search of facets")
        above, beside, lever = self._distances[:count].T.copy()
        return Candidates(self._pairs[:count].copy(), self._member[:count].copy(), above, beside, lever)


@functools.cache
def _library() -> Any:
    folder = resources.files(__package__)
    names = "halve.h", "boxes.h", "planes.h", "bounds.h", "directions.h", "search.c"
    files = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return compiled("\n".join(files), _FLAGS, MPI.COMM_SELF, _DECLARATION)


def _int64(array: IntArray) -> Any:
    return address(array, "int64_t *")


def _no_keys() -> Any:
    import cffi

    return cffi.FFI().NULL


def _integers(values: Any) -> IntArray:
    return np.ascontiguousarray(values, np.int64)


def starts(lengths: IntArray | Sequence[int]) -> IntArray:
    """Starts of rows of these lengths, and the end of the last one."""
    found: IntArray = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return found


def _joined(arrays: Sequence[AnyArray]) -> IntArray:
    joined: IntArray = np.concatenate([np.zeros(0, np.int64), *arrays]).astype(np.int64)
    return joined
