"""How deep the points of a contact are in a run, and how fast they approach."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from .._types import FloatArray
from ..integrators.step_buffer import Steps


class Depth:
    """Largest penetration over all steps, sampled or not, of the points of this rank.

    Attributes:
        penetration: Largest penetration [m].
        at_start: Largest penetration of the initial state [m].
        approach: Largest decrease of the gap of a closed point in one step, about the time step times the
            largest closing velocity [m]. See :func:`_approach`.
    """

    def __init__(self) -> None:
        self.penetration = self.approach = self.at_start = 0.0
        self._last: FloatArray | None = None

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
        self._last = rows[-2:].copy()

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
