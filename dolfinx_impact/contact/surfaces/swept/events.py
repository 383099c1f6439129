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
        if not len(facets):
            return
        parts = np.sort(self._part[facets], axis=1)
        many, pairs = max(1, len(self._names)), self.table[len(_OTHERS) :, :2]
        keys, known = np.unique(parts[:, 0] * many + parts[:, 1]), pairs[:, 0] * many + pairs[:, 1]
        new = keys[np.isin(keys, known, invert=True)]
        free = np.flatnonzero(np.isnan(known))[: new.size]  # without room for all the first ones are listed
        known[free] = new[: free.size]
        pairs[free] = np.column_stack(np.divmod(known[free], many))
        self._count(len(_OTHERS) + np.flatnonzero(np.isin(known, keys)), t)

    def happened(self, what: str, t: float) -> None:
        """Count what is no contact of parts."""
        self._count(_OTHERS.index(what), t)

    def _count(self, rows: IntArray | int, t: float) -> None:
        self.table[rows, 2] = np.fmin(self.table[rows, 2], t)
        self.table[rows, 3] = t

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
