"""Events of the wheels of the solid crane, whose treads have several points, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ...case import Values
from ...run_log import RunLog, Steps
from ..bridge_crane.events import EventLog, Events
from .model import wheel_of

WHEELS = 4
#: Wheels that come down within so much time come down together [s].
TOGETHER = 5e-3


class WheelLog(EventLog):
    """The :class:`.EventLog` of wheels: impulses are sums over a tread, gaps its smallest. Collective.

    Closing velocities are means over a tread, or, where a scheme does not keep those of the points, those of
    the middle.
    """

    state_names = (*EventLog.state_names, "_v")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._prepare_wheels(WHEELS)
        # The wheel, 0 to 3, of each point of this rank; the recorded rows are of the middles of the treads.
        wheel, rows = wheel_of(setup.contact.L.order * (1e-8 * setup.body.length), p), setup.record
        self._members = np.zeros((wheel.size, WHEELS))
        self._members[np.arange(wheel.size), wheel] = 1.0
        self._sizes = self._comm.allreduce(self._members.sum(axis=0), op=MPI.SUM)
        self._columns = np.zeros((rows.count, WHEELS))
        number = rows.order[:, 0].astype(np.intp)
        self._columns[np.arange(rows.count), number % WHEELS] = np.where(number < WHEELS, 1.0, -1.0)
        self._v = np.full(WHEELS, np.nan)

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """See :meth:`.RunLog.contacts`."""
        RunLog.contacts(self, t, r, gap, before)
        smallest = np.full((len(t), WHEELS), np.inf)
        for wheel, own in enumerate(self._members.T > 0):
            smallest[:, wheel] = gap[:, own].min(axis=1, initial=np.inf)
        sums = np.stack([r @ self._members, before @ self._members / self._sizes])
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, smallest, op=MPI.MIN)
            self._comm.Allreduce(MPI.IN_PLACE, sums, op=MPI.SUM)
        self.note(t, sums[0], smallest, sums[1])

    def _half_step_before(self, steps: Steps) -> NDArray:
        n = steps.count
        closing = steps.v[:n] @ self._columns
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, closing, op=MPI.SUM)
        earlier = np.vstack([self._v, closing[:-1]])
        self._v = closing[-1].copy()
        return np.asarray(earlier @ self._members.T)


class Landing(NamedTuple):
    """Wheels that come down together."""

    time: float  #: Of the first of them [s].
    open: float  #: How long that one was open before [s].
    wheels: tuple[int, ...]  #: Their numbers, 1 to 4, ascending.


def landings(events: Events, shortest: float) -> list[Landing]:
    """Landings after flights of at least ``shortest`` [s], in order.

    Wheels that come down within :data:`TOGETHER` of the first are one landing.
    """
    together: list[Landing] = []
    for k in np.flatnonzero(events.open >= shortest * (1 - 1e-9)):
        time, wheel = float(events.time[k]), int(events.wheel[k])
        last = together[-1] if together else None
        if last is not None and time - last.time <= TOGETHER and wheel not in last.wheels:
            together[-1] = last._replace(wheels=tuple(sorted((*last.wheels, wheel))))
        else:
            together.append(Landing(time, float(events.open[k]), (wheel,)))
    return together


def matches(ours: Sequence[Landing], true: Sequence[Landing], near: float) -> list[tuple[int, int]]:
    """Pairs of landings of the same wheels at most ``near`` apart [s], as many as there are in order.

    Returns:
        Numbers of both of each pair, ascending.
    """
    # Longest common subsequence: best[i][j] are the pairs among ours from i on and true ones from j on.
    n, m = len(ours), len(true)
    best: list[list[list[tuple[int, int]]]] = [[[] for _ in range(m + 1)] for _ in range(n + 1)]
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], key=len)
            same = ours[i].wheels == true[j].wheels and abs(ours[i].time - true[j].time) <= near
            if same and len(best[i + 1][j + 1]) >= len(best[i][j]):
                best[i][j] = [(i, j), *best[i + 1][j + 1]]
    return best[0][0]
