"""State of a run in a checkpoint: step counts, history, energies, observers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..integrators.energy import EnergyBalance
from ..output.observer import overrides
from .checkpoint import Checkpoint, Stored, Writer
from .parallel_layout import RowLayout

if TYPE_CHECKING:
    from .run import ChunkedRun


class RunCheckpoint:
    """Writes the state of a run between two steps, and reads it. All methods are collective.

    Besides the state of the integrator, see :mod:`.checkpoint`, the file has ``run/...`` (counts, states of
    stability monitor and step control), ``history/...`` (:meth:`.Recorder.arrays`), ``balance/...`` and
    ``observer-0/...``, ``observer-1/...`` in the order of the observers.

    Args:
        run: The run.
        stored: The checkpoint to read, None for writing.
    """

    def __init__(self, run: ChunkedRun, stored: Stored | None = None) -> None:
        self._run, self._stored = run, stored

    def write(self, checkpoint: Checkpoint) -> None:
        """Write the run.

        Raises:
            OSError: On every rank, if the file cannot be written; an earlier one is intact.
        """
        run = self._run
        s, balance, changes = run.integrator, run.balance, run.adapt.changes if run.adapt else 0
        common, share = run.monitor.state()
        counts = [run.made, run.left, run.t_end, s.beyond_limit, changes]
        with Writer(checkpoint.path, s, checkpoint.about) as file:
            file.add("run/counts", "number", np.array(counts, dtype=np.float64))
            file.add("run/guard", "number", common)
            if run.watch is not None:
                file.add("run/watch", "number", run.watch.state())
                if run.watch.marked is not None:
                    file.add("run/marked", "dofs", run.watch.marked)
            file.add("run/seconds", "number", np.array(run.seconds()))
            file.add("run/internal", "shares", share)
            file.places["rows"] = RowLayout(s.system.comm, run.rows)
            for name, (place, values) in run.recorder.arrays().items():
                file.add(f"history/{name}", place, values)
            if balance is not None:
                for name, values in balance.state().items():
                    file.add(f"balance/{name}", _place(balance, name), values)
            for i, observer in self._observers().items():
                for name, values in run.together(observer.state).items():
                    file.add(f"observer-{i}/{name}", "number", np.asarray(values))

    def read_counts(self) -> tuple[int, int, float]:
        """Numbers of completed and remaining steps, and the wall-clock time so far [s].

        Also restores the count of the step control and whether the step is above the critical one.
        """
        run, stored = self._run, self._stored
        assert stored is not None
        made, left, t_end, beyond, changes = stored.read("run/counts", "number")
        run.integrator.beyond_limit = bool(beyond)
        if run.adapt is not None:
            run.adapt.changes = int(changes)
        seconds = float(stored.read("run/seconds", "number"))
        return int(made), int(left) if t_end == run.t_end else run.left, seconds

    def read(self) -> None:
        """Restore the state of a run, after the start of the balance and before observers begin.

        Raises:
            ValueError: Other ``every``, ``energies`` or observers than those of the stored run.
        """
        run, stored = self._run, self._stored
        assert stored is not None
        if run.watch is not None and "run/watch" in stored:
            run.watch.resume(stored.read("run/watch", "number"))
            if run.watch.marked is not None and "run/marked" in stored:
                run.watch.mark(stored.read("run/marked", "dofs"))
        run.monitor.resume(stored.read("run/guard", "number"), stored.read("run/internal", "shares"))
        stored.places["rows"] = RowLayout(run.integrator.system.comm, run.rows)
        run.recorder.restore(lambda name, place: stored.read(f"history/{name}", place))
        self._read_balance(stored)
        self._read_observers(stored)

    def _read_balance(self, stored: Stored) -> None:
        balance, names = self._run.balance, stored.below("balance")
        if (balance is not None) != bool(names):
            raise ValueError("with energies or without: give energies= as for the stored run")
        if balance is not None:
            balance.resume({name: stored.read(f"balance/{name}", _place(balance, name)) for name in names})

    def _read_observers(self, stored: Stored) -> None:
        for i, observer in self._observers().items():
            names = stored.below(f"observer-{i}")
            if not names:
                kind = type(observer).__name__
                raise ValueError(
                    f"the checkpoint has no state of observer {i + 1}, a {kind}: give the observers of the "
                    "stored run, in their order"
                )
            observer.resume({name: stored.read(f"observer-{i}/{name}", "number") for name in names})

    def _observers(self) -> dict[int, Any]:
        """Observers with a state, by their index in the list."""
        return {
            i: each
            for i, each in enumerate(self._run.observers)
            if overrides(each, "state") and overrides(each, "resume") and not isinstance(each, EnergyBalance)
        }


def _place(balance: EnergyBalance, name: str) -> str:
    return "dofs" if name in balance.at_dofs else "shares"
