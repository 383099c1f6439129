"""How deep the points of a contact are in a run, and how fast they approach."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from .._types import BoolArray, FloatArray, IntArray
from ..integrators.step_buffer import Steps

#: Depth over the size of a facet from which on a point is deep, and by which a growth of depth is visible.
_DEEP, _VISIBLE = 0.1, 1e-3
#: And from which on a warning does not wait: parts may pass through each other.
_THROUGH = 0.5
#: Depth over the size of a facet up to which nothing is watched.
_ROUND_OFF = 1e-9
#: Steps over which a point stays deep, or sinks, for a warning.
_LONG = 100


class Depth:
    """Largest penetration over all steps, sampled or not, of the points of this rank.

    Args:
        sizes: Size of the facets at each point, shape (p,) [m], for :meth:`warnings`; None for none.

    Attributes:
        penetration: Largest penetration [m].
        at_start: Largest penetration of the initial state [m].
        approach: Largest decrease of the gap of a closed point in one step, about the time step times the
            largest closing velocity [m]. See :func:`_approach`.
    """

    def __init__(self, sizes: FloatArray | None = None) -> None:
        self.penetration = self.approach = self.at_start = 0.0
        self._last: FloatArray | None = None
        count = 0 if sizes is None else sizes.size
        self._sizes = np.zeros(0) if sizes is None else np.where(sizes > 0.0, sizes, np.inf)
        #: Consecutive steps in which each point was deep, and in which it sank deeper; its gap before those.
        self._deep, self._sinking = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._above = np.zeros(count)
        #: Largest depth over facet size of points that stay deep, and of those that sink, with the steps.
        self._stays, self._sinks = 0.0, (0.0, 0)
        #: And of all points, for a single step.
        self._most = 0.0

    def follow(self, part: Steps, at_start: bool) -> None:
        """Update with consecutive steps, or with the fine steps within them where there are any."""
        gaps: FloatArray = part.gap[: part.count]
        if not gaps.size:
            return
        if at_start:
            self.at_start = max(0.0, -float(gaps[0].min()))
        elif "gap" in part.fine:
            gaps = part.fine["gap"][: part.count].reshape(-1, gaps.shape[1])
        deepest = -float(gaps.min())
        self.penetration = max(self.penetration, deepest)
        rows = gaps if self._last is None else np.concatenate([self._last, gaps])
        if deepest >= 0.0:
            self.approach = max(self.approach, _approach(rows, len(gaps)))
        if self._sizes.size:
            self._watch(rows, len(gaps), deepest)
        self._last = rows[-2:].copy()

    def _watch(self, rows: FloatArray, steps: int, deepest: float) -> None:
        """Count the steps in which points are deep, and in which they sink deeper."""
        if not deepest > _ROUND_OFF * float(self._sizes.min()):
            self._deep[:], self._sinking[:] = 0, 0
            return
        gaps = rows[-steps:]
        before = np.concatenate([rows[-steps - 1 : -steps] if len(rows) > steps else gaps[:1], gaps[:-1]])
        relative = -gaps / self._sizes
        if deepest > self.at_start:  # not what a user allowed
            self._most = max(self._most, float(relative.max()))
        length = _streaks(relative > _DEEP, self._deep)
        self._deep = length[-1]
        self._stays = max(self._stays, float(np.max(relative[length > _LONG], initial=0.0)))
        sinking = (before <= 0.0) & (gaps < before)
        length = _streaks(sinking, self._sinking)
        start = np.arange(steps)[:, None] - length + 1
        above = np.where(start >= 0, np.take_along_axis(before, np.clip(start, 0, steps - 1), 0), self._above)
        with np.errstate(invalid="ignore"):  # gaps may be infinite
            grown = (length > _LONG) & (above - gaps > _VISIBLE * self._sizes)
        if grown.any():
            self._sinks = max(self._sinks, (float(relative[grown].max()), int(length[grown].max())))
        self._sinking, self._above = length[-1], above[-1]

    def warnings(self, comm: MPI.Comm) -> list[str]:
        """Texts on points that stay deep, or sink deeper for long, for the summary of a run. Collective."""
        depths = (self._stays, *self._sinks, self._most)
        most, sinks, steps, once = (comm.allreduce(each, op=MPI.MAX) for each in depths)
        way_out = "take a smaller time step, a scheme for lasting contact, or finer facets at edges"
        texts = []
        if most > 0.0:
            texts.append(
                f"contact points stay for more than {_LONG} steps inside the opposite side, up to {most:.2g} "
                f"of the size of a facet deep: {way_out}"
            )
        elif once > _THROUGH:
            texts.append(
                f"contact points get up to {once:.2g} of the size of a facet deep inside the opposite side, "
                "and parts may pass through each other: take a smaller time step"
            )
        if sinks > 0.0:
            texts.append(
                f"closed contact points sink deeper over {steps} steps, up to {sinks:.2g} of the size of a "
                f"facet: {way_out}"
            )
        return texts

    def of_all(self, comm: MPI.Comm) -> FloatArray:
        """Penetration, approach and initial penetration, largest values of all ranks [m]. Collective."""
        largest = np.array([self.penetration, self.approach, self.at_start])
        comm.Allreduce(MPI.IN_PLACE, largest, op=MPI.MAX)
        return largest


def _approach(gaps: FloatArray, steps: int) -> float:
    """Largest decrease of the gap of a closed point in one step [m].

    The gap of an open point of a surface jumps where it meets another facet, and is infinite where nothing is
    opposite. A point that closes therefore counts by its decrease in the step before, or by its penetration
    where that is larger, but not by more than the decrease of its gap.

    Args:
        gaps: Consecutive gaps, shape (n, p) [m].
        steps: Number of the last of these rows that belong to new steps.
    """
    first = max(len(gaps) - steps, 1)
    before, after = gaps[first - 1 : -1], gaps[first:]
    with np.errstate(invalid="ignore"):
        decrease = gaps[:-1] - gaps[1:]
    earlier = decrease[first - 2 : -1] if first > 1 else np.concatenate([decrease[:1], decrease[:-1]])
    decrease = decrease[first - 1 :]
    closing = np.minimum(decrease, np.maximum(np.where(np.isfinite(earlier), earlier, 0.0), -after))
    return float(np.max(np.where(before > 0.0, closing, decrease)[after <= 0.0], initial=0.0))


def _streaks(mask: BoolArray, before: IntArray) -> IntArray:
    """Consecutive steps up to each one in which a mask, shape (n, p), holds, with those before its rows."""
    steps = np.arange(len(mask))[:, None]
    last = np.maximum.accumulate(np.where(mask, -1, steps), axis=0)
    length: IntArray = np.where(last < 0, before + steps + 1, steps - last)
    return length
