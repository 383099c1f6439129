"""History of a stored run, which :func:`.simulate` continues."""

from __future__ import annotations

from ..integrators.base import Integrator
from .stored_arrays import StoredArrays


class RunHistory:
    """A run up to its checkpoint: records, energies, states of observers, step control and monitors.

    Made by :func:`.checkpoint.resume`; ``simulate(scheme, ..., history=history)`` continues the run.

    Args:
        integrator: The resumed scheme.
        arrays: Arrays of the run.

    Attributes:
        arrays: See above.
        steps: Number of steps of the run so far.
        left: Number of further steps to :attr:`t_end`.
        t: Time of the checkpoint [s].
        t_end: End time of the stored run [s].
        changes: Number of changes of the time step so far.
        seconds: Wall-clock time of the run so far [s].
    """

    def __init__(self, integrator: Integrator, arrays: StoredArrays) -> None:
        self._integrator, self._n, self.arrays = integrator, integrator.n, arrays
        steps, left, t_end, beyond, changes = arrays.read("run/counts", "number")
        integrator.beyond_limit = bool(beyond)
        self.steps, self.left, self.changes = int(steps), int(left), int(changes)
        self.t, self.t_end = integrator.t, float(t_end)
        self.seconds = float(arrays.read("run/seconds", "number"))

    def __repr__(self) -> str:
        return f"RunHistory({self.steps} steps to t = {self.t:.6g} s, of {self.arrays.source})"

    def misfit(self, integrator: Integrator) -> ValueError | None:
        """The error of a scheme that does not stand where this history ends, of this rank."""
        if integrator is not self._integrator:
            return ValueError(f"history is that of another scheme: {self!r}")
        if integrator.n != self._n or integrator.t != self.t:
            return ValueError(
                f"the scheme is at t = {integrator.t:.6g} s, where its history does not end: {self!r}; "
                "resume it anew"
            )
        return None
