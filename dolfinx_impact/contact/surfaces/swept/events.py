"""First and last contact of each pair of parts, and what else a run should tell of its steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._types import IntArray

#: Largest number of pairs of parts that are listed.
_MOST = 1000
#: What is no contact of two parts, by the rows before these.
TOGETHER, USED_UP = "nodes moved together", "skin used up"
_OTHERS = (TOGETHER, USED_UP)


class Event(NamedTuple):
    """What happened in steps of a run.

    Attributes:
        what: ``"contact"`` or one of :data:`TOGETHER` and :data:`USED_UP`.
        parts: Names of the two parts in contact, which may be the same one; empty for others.
        first, last: Times of the first and the last step in which it was so [s].
    """

    what: str
    parts: tuple[str, ...]
    first: float
    last: float


class Events:
    """The events of a contact, with memory for pairs of parts that is made once.

    Args:
        part: Number of the part of each facet, shape (facets,).
        names: Names of the parts, by their numbers.

    Attributes:
        table: Numbers of both parts, first and last time, NaN where there was none, shape (rows, 4).
    """

    def __init__(self, part: IntArray, names: tuple[str, ...]) -> None:
        self._part, self._names, count = part, names, len(names)
        self.table = np.full((len(_OTHERS) + min(count * (count + 1) // 2, _MOST), 4), np.nan)

    def contact(self, facets: IntArray, t: float) -> None:
        """Count a contact of facets, shape (pairs, 2), at a time [s]."""
        if len(facets):
            for first, second in np.unique(np.sort(self._part[facets], axis=1), axis=0):
                self._count(self._row(first, second), t)

    def happened(self, what: str, t: float) -> None:
        """Count what is no contact of parts."""
        self._count(_OTHERS.index(what), t)

    def _row(self, first: int, second: int) -> int:
        """The row of a pair of parts, a new one at its first contact; -1 where all are taken."""
        pairs = self.table[len(_OTHERS) :, :2]
        found = np.flatnonzero((pairs[:, 0] == first) & (pairs[:, 1] == second))
        if not found.size:
            found = np.flatnonzero(np.isnan(pairs[:, 0]))[:1]
            pairs[found] = first, second
        return len(_OTHERS) + int(found[0]) if found.size else -1

    def _count(self, row: int, t: float) -> None:
        if row >= 0:
            self.table[row, 2] = np.fmin(self.table[row, 2], t)
            self.table[row, 3] = t

    def all(self) -> list[Event]:
        """The events by the time of the first step."""
        found, others = [], len(_OTHERS)
        for k in np.flatnonzero(~np.isnan(self.table[:, 2])):
            first, last = map(float, self.table[k, 2:])
            if k < others:
                found.append(Event(_OTHERS[k], (), first, last))
            else:
                one, two = self.table[k, :2].astype(int)
                found.append(Event("contact", (self._names[one], self._names[two]), first, last))
        return sorted(found, key=lambda each: each.first)
