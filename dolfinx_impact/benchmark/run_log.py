"""The log of a run: contact and energy of every time step, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .. import Integrator, parallel
from ..algebra import kernels
from ..integrators.step_buffer import Steps as Steps  # logs import it from here
from ..output.observer import Observer, ObserverLike

#: Attributes of a :class:`RunLog` that most cases report.
CONTACT = ("contact_start", "contact_end", "contact_phases", "impulse_sum")


class RunLog(Observer):
    """Contact and energy numbers of every time step (fine ones of HATI), in constant memory.

    Override :meth:`contacts`, :meth:`_follow` or :meth:`_close` to note more, and name the new attributes
    below, so that they outlive a restart.

    Args:
        integrator: The integrator, started.
        setup, p: Set-up and parameters of the case, for :meth:`_prepare`.

    Attributes:
        contact_start, contact_end: (as all, after :meth:`close`) times of first and last impulse [s] or None.
        contact_phases: Number of uninterrupted phases of contact.
        first_impulse, impulse_sum: Sum over the points [N s], of the first step of contact and of all steps.
        deepest: Largest penetration [m], 0 for none.
    """

    #: Attributes that are the same on every rank: numbers or None, arrays, lists of numbers or of arrays.
    state_names: tuple[str, ...] = ("_contact", "_energies", "_started")
    share_names: tuple[str, ...] = ()  #: Those of which every rank has a part of a sum.
    fixed_names: tuple[str, ...] = ()  #: Those that a run must share with the one that it continues.

    def __init__(self, integrator: Integrator, setup: Any = None, p: Any = None) -> None:
        self._comm = integrator.system.comm
        self._scheme: Any = integrator
        self._touch, self._balance = kernels.jit(_touch), kernels.jit(_worst_residual)
        self._gap = np.inf
        #: Touching, phases, start, first impulse, end, sum of impulses.
        self._contact = np.array([0.0, 0.0, np.nan, 0.0, np.nan, 0.0])
        self._energies = np.array([np.nan, 0.0, 0.0])  #: Energy at the start, largest residual and energy.
        self._started = False
        #: L over the recorded columns of this rank, shape (p, k): from it come the normal velocities of
        #: schemes that do not keep them; without it they are nan.
        self._normal: NDArray | None = None
        self._v: NDArray = np.zeros(0)
        self._prepare(setup, p)

    def _prepare(self, setup: Any, p: Any) -> None:
        """Make ready what a subclass notes. Collective."""

    def _follow(self, steps: Steps) -> None:
        """Note what a subclass notes of consecutive steps. Collective."""

    def _resume(self) -> None:
        """Take from the scheme, which is where it was, what a subclass does not keep. Collective."""

    def _close(self) -> None:
        """Bring what a subclass has noted up to the last step. Collective."""

    def observers(self) -> list[ObserverLike]:
        """Observers that keep this log."""
        return [self]

    def follow(self, steps: Steps) -> None:
        """Note consecutive steps. Collective."""
        energies = steps.energies[: steps.count]
        if self._comm.size > 1:
            energies = self._comm.allreduce(energies, op=MPI.SUM)
        self._balance(energies, self._energies)
        self.contacts(*self._time_steps(steps))
        self._started = True
        self._follow(steps)

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """Note contacts at consecutive times ``t`` [s], the start first; arrays of shape (n, p). Collective.

        Impulses ``r`` [N s], gaps [m], normal velocities half a step ``before`` [m/s, nan at the start].
        """
        impulses: NDArray = r[:, 0] if r.shape[1] == 1 else r.sum(axis=1)
        if self._comm.size > 1:
            impulses = self._comm.allreduce(impulses, op=MPI.SUM)
        self._touch(t, impulses, self._contact)
        self._gap = float(np.fmin.reduce(gap, axis=None, initial=self._gap))

    def _time_steps(self, steps: Steps) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        n = steps.count  # fine time steps where a scheme has some
        if not (steps.fine and self._started):
            return steps.t[:n], steps.r[:n], steps.gap[:n], self._half_step_before(steps)
        r, gap, before = (np.concatenate(steps.fine[name][:n]) for name in ("r", "gap", "before"))
        m, s = steps.integrator.substeps, steps.integrator
        first = round((steps.t[0] - s.t0) / s.dt) - 1
        numbers: NDArray = first * m + np.arange(1, n * m + 1)
        return s.t0 + numbers * (s.dt / m), r, gap, before

    def _half_step_before(self, steps: Steps) -> NDArray:
        n, before = steps.count, np.full(steps.gap[: steps.count].shape, np.nan)
        if self._normal is not None:
            v = steps.v[:n] @ self._normal.T
            before[1:] = v[:-1]
            if self._started:
                before[0] = self._v
            self._v = v[-1].copy()
        return before

    def state(self) -> dict[str, NDArray]:
        """The content of the log, the same on every rank. Collective."""
        kept = {name: _packed(getattr(self, name)) for name in (*self.state_names, *self.fixed_names)}
        kept["_gap"] = np.array(self._comm.allreduce(self._gap, op=MPI.MIN))
        for name in self.share_names:
            kept[name] = np.array(self._comm.allgather(np.asarray(getattr(self, name))))
        if self._normal is not None and (contact := self._scheme.contact) is not None:
            kept["_v"] = parallel.gather_rows(self._comm, self._v)[contact.L.sorting(self._comm)]
        return kept

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """Go on from a :meth:`state`; a ValueError where a needed end time is another one. Collective."""
        for name in self.fixed_names:
            if not np.array_equal(state[name], _packed(getattr(self, name))):
                raise ValueError("results of this case belong to a run of one length: give t_end as before")
        for name in self.state_names:
            setattr(self, name, _unpacked(state[name], getattr(self, name)))
        self._gap = float(state["_gap"])
        for name in self.share_names:
            parts, kind = state[name], type(getattr(self, name))
            first = parts.sum(axis=0) if self._comm.rank == 0 else np.zeros_like(parts[0])
            mine = parts[self._comm.rank] if len(parts) == self._comm.size else first
            setattr(self, name, kind(mine) if kind is float else mine.copy())
        if self._normal is not None and (contact := self._scheme.contact) is not None:
            every: NDArray = np.empty(contact.total)
            every[contact.L.sorting(self._comm)] = state["_v"]
            self._v = every[contact.mine]
        self._resume()

    def close(self) -> None:
        """Bring the numbers up to the last step. Collective."""
        _, phases, start, self.first_impulse, end, self.impulse_sum = map(float, self._contact)
        self.contact_phases = int(phases)
        self.contact_start, self.contact_end = (None if np.isnan(t) else t for t in (start, end))
        self.deepest = max(0.0, float(-self._comm.allreduce(self._gap, op=MPI.MIN)))
        self._close()

    def numbers(self, *names: str) -> dict[str, Any]:
        """Attributes of these names, by default of the contact, and the penetration; after :meth:`close`."""
        return {**{name: getattr(self, name) for name in names or CONTACT}, "penetration_max": self.deepest}

    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """Contents of further files by name; made after :meth:`close`, on one rank."""
        return {}

    def relative_residual(self) -> float:
        """Largest residual of the balance over the largest energy, every step counted."""
        _, worst, largest = map(float, self._energies)
        return worst / largest if largest > 0 else worst


def _packed(value: Any) -> NDArray:
    """A number, None, an array, or a list of numbers or arrays, as one array."""
    if value is None:
        return np.zeros(0)
    if isinstance(value, list) and value and np.ndim(value[0]) > 0:
        return np.concatenate(value)
    return np.array(value, dtype=np.float64)


def _unpacked(array: NDArray, like: Any) -> Any:
    """The inverse of :func:`_packed`, of the kind of ``like``."""
    if isinstance(like, list):
        return [array.copy()] if array.ndim > 1 else array.tolist()
    if isinstance(like, np.ndarray):
        return array.astype(like.dtype)
    if array.size == 0:
        return None
    return type(like)(array) if isinstance(like, (bool, int)) else float(array)


def _touch(t: NDArray, impulses: NDArray, state: NDArray) -> None:
    """Follow the phases of contact; ``state`` as in :class:`RunLog`."""
    for i in range(t.size):
        if impulses[i] > 0.0:
            if state[0] == 0.0:
                state[1] += 1.0
                if state[1] == 1.0:
                    state[2], state[3] = t[i], impulses[i]
            state[4] = t[i]
            state[5] += impulses[i]
        state[0] = 1.0 if impulses[i] > 0.0 else 0.0


def _worst_residual(terms: NDArray, state: NDArray) -> None:
    """Follow what :func:`.energy.residual` leaves; columns of ``terms`` as in :data:`.energy.TERMS`."""
    for i in range(terms.shape[0]):
        kinetic, complementary, internal, work, external, contact, dissipated, interface = terms[i, :8]
        if state[0] != state[0]:
            state[0] = kinetic + complementary
        left = kinetic + complementary - state[0] + work + dissipated - external - contact - interface
        state[1] = max(state[1], abs(left))
        state[2] = max(state[2], abs(kinetic), abs(internal), abs(external))
