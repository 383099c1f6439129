"""The events of a run of the crane: when a wheel of the trolley comes down on its girder again."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....simulation.recorder import added
from ...run_log import RunLog

HEADER = "time,wheel,time open before,closing velocity,impulse"


class Events(NamedTuple):
    """Flights of the wheels, one entry an event, ordered by time and then by wheel; each of shape (n,)."""

    time: NDArray  #: Time of the step [s].
    wheel: NDArray  #: Number of the wheel, 1 to 4 in the order of the recorded columns.
    open: NDArray  #: Time since the last step in which the wheel had an impulse, or since the start [s].
    closing: NDArray  #: Normal velocity of the wheel towards the girder half a step before [m/s].
    impulse: NDArray  #: Impulse of that step alone [N s].

    def longer(self, duration: float) -> int:
        """Number of events after at least so long a time open [s]; times are rounded."""
        return int(np.sum(self.open >= duration * (1 - 1e-9)))

    def table(self) -> bytes:
        """``events.csv``: a line for each, numbers with all their digits."""
        text = io.BytesIO()
        formats = ["%.17g", "%d", "%.17g", "%.17g", "%.17g"]
        np.savetxt(text, np.column_stack(self), formats, delimiter=",", header=HEADER, comments="")
        return text.getvalue()


class EventLog(RunLog):
    """The log of a run with its events, also where one step of HATI has many fine ones.

    An event is a time step with an impulse at a wheel that had none in the step before; the start is none.

    Attributes:
        events: The events; after :meth:`close`.
        widest, widest_touching: Largest gap, and largest one with an impulse, -inf for none [m].
        impulses: Sum of the impulses of each wheel, shape (p,) [N s].
        first, last: Sum over the wheels at the start and in the last step [N s].
    """

    _noted = ("widest", "widest_touching", "impulses", "first", "last", "_touching", "_last", "_found")
    state_names = (*RunLog.state_names, *_noted)

    def _prepare(self, setup: Any, p: Any) -> None:
        if setup is not None:  # columns of the trolley come first, then those of the girders
            self._normal = np.hstack([np.eye(4), -np.eye(4)])
        self._prepare_wheels(self._scheme.r.size)

    def _prepare_wheels(self, points: int) -> None:
        self.widest = self.widest_touching = -np.inf
        self.first = self.last = 0.0
        self.impulses: NDArray = np.zeros(points)
        # Nothing that begins at the start is an event.
        self._touching, self._last = np.ones(points, dtype=bool), np.full(points, np.nan)
        self._found: list[NDArray] = []

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """See :meth:`.RunLog.contacts`."""
        super().contacts(t, r, gap, before)
        self.note(t, r, gap, before)

    def note(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """Follow the events of all wheels; arrays as those of :meth:`contacts`, the same on every rank."""
        touching = r > 0
        self.widest = max(self.widest, float(gap.max()))
        self.widest_touching = max(self.widest_touching, float(np.max(gap, where=touching, initial=-np.inf)))
        self.impulses = added(self.impulses, r)
        if np.isnan(self._last[0]):
            self._last[:], self.first = t[0], float(r[0].sum())
        self.last = float(r[-1].sum())
        came = touching & ~np.vstack([self._touching, touching[:-1]])
        # The last time with an impulse before each step, and in the last row after all; (n + 1, p) [s].
        last = np.maximum.accumulate(np.vstack([self._last, np.where(touching, t[:, None], -np.inf)]))
        if came.any():
            steps, wheels = where = np.nonzero(came)
            columns = t[steps], wheels + 1, t[steps] - last[where], 0.0 - before[where], r[where]
            self._found.append(np.column_stack(columns))
        self._touching, self._last = touching[-1].copy(), last[-1].copy()

    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """The table of the flights."""
        return {"events.csv": lambda: self.events.table()}

    def _close(self) -> None:
        time, wheel, *others = np.vstack([np.zeros((0, 5)), *self._found]).T
        self.events = Events(time, wheel.astype(np.intp), *others)
