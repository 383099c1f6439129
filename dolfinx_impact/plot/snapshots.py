"""States of a body kept during a run, for pictures and films."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..integrators import Integrator
from ..output.observer import Observer


class Moment(NamedTuple):
    """What one picture shows.

    Attributes:
        t: Time [s].
        u: Displacements at ``t``, shape (size,) [m]; ghosts need not be fresh.
        v: Velocities at ``t``, likewise [m/s].
        forces: On the contact's points, shape (points of this rank, gdim) [N]; None draws none.
        title: Said above the picture, before the time.
    """

    t: float
    u: NDArray
    v: NDArray
    forces: NDArray | None = None
    title: str = ""


class Snapshots(Observer):
    """Observer that keeps a body's state at some times, the start of a run among them.

    Say when by one of ``times``, ``interval``, or ``count`` and ``span``. At the first step within half a
    step of a wanted time or after it, displacements, velocities and, where wanted, impulses are copied: 16
    bytes a dof. With ``interval``, every second state is dropped and the interval doubled whenever there is
    no memory for more, so that a run of any length is kept whole. States are not kept in checkpoints: the
    film of a restarted run starts at the restart.

    Args:
        times: When [s].
        interval: Time between two states [s].
        count: Number of states, at least two.
        span: First and last time of ``count`` states [s].
        forces: Keep the forces of contact too, means over the time since the state before.
        memory: Most that is kept, by one rank [bytes].

    Raises:
        ValueError: None or several ways to say when, times that are not finite, an interval or a span that is
            not positive; at the start of a run, states beyond the memory, forces without a contact whose
            points have one dof a direction.
    """

    def __init__(
        self, times: Sequence[float] | NDArray | None = None, *, interval: float | None = None,
        count: int | None = None, span: tuple[float, float] | None = None, forces: bool = False,
        memory: float = 1e9,
    ) -> None:  # fmt: skip
        if sum(given is not None for given in (times, interval, count)) != 1:
            raise ValueError("say when to keep states by one of times, interval, or count and span")
        if interval is not None and not (interval > 0 and np.isfinite(interval)):
            raise ValueError(f"interval must be a positive time [s], but is {interval}")
        self._interval, self._forces, self._memory = interval, bool(forces), float(memory)
        self._wanted = _wanted(times, count, span)
        self._integrator: Integrator | None = None
        self._kept: list[tuple[float, NDArray, NDArray, NDArray]] = []
        self._seen = 0

    @property
    def states(self) -> list[Moment]:
        """What was kept, in order."""
        if not self._forces:
            return [Moment(t, u, v) for t, u, v, _ in self._kept]
        found, before = [], self._begun
        impulse: NDArray = np.zeros(self._impulse.shape)
        for t, u, v, total in self._kept:
            force = (total - impulse) / (t - before) if t > before else np.zeros(total.shape)
            found.append(Moment(t, u, v, force))
            before, impulse = t, total
        return found

    def begin(self, integrator: Integrator) -> None:
        """Keep the state at the start of a run, if wanted; a run that goes on from the last one adds to it.

        Collective.
        """
        self._prepare(integrator, integrator.t)
        self._keep(integrator)

    def __call__(self, integrator: Integrator) -> None:
        """Keep the state after a step when the next wanted time has come. Collective."""
        if integrator is not self._integrator:
            self._prepare(integrator, integrator.t - integrator.dt)
        if self._forces:
            contact: Any = integrator.contact
            self._impulse += integrator.r[:, None] * contact.rows.weights
            if integrator.r_t.size:
                self._impulse += integrator.r_t
        self._keep(integrator)

    def _prepare(self, integrator: Integrator, t: float) -> None:
        u, contact = integrator.u, integrator.contact
        last = self._kept[-1] if self._kept else None
        goes_on = last is not None and last[1].size == u.size and t >= last[0] - 0.5 * integrator.dt
        if self._forces:
            _check_contact(contact, integrator)
        if not goes_on:
            self._kept, self._seen, self._begun = [], 0, t
            dofs = contact.rows.dofs.shape if self._forces and contact else (0, 0)
            self._impulse = np.zeros(dofs)
        self._integrator = integrator
        size = max(1, 8 * (2 * u.size + self._impulse.size))
        self._most = integrator.system.comm.allreduce(int(self._memory // size), op=MPI.MIN)
        needed = 2 if self._wanted is None else len(self._wanted)
        if needed > self._most:
            raise ValueError(
                f"{needed} states need more memory than the {self._memory:g} bytes a rank that Snapshots may "
                f"use: at most {self._most} fit; take fewer, or give it more (memory=)"
            )

    def _keep(self, integrator: Integrator) -> None:
        now = self._due(integrator)
        if now > self._seen and len(self._kept) >= self._most and self._interval is not None:
            del self._kept[1::2]
            self._interval *= 2
            self._seen = self._count(self._kept[-1][0] + 0.5 * integrator.dt)
            now = self._due(integrator)
        if now > self._seen:
            self._seen = now
            state = (integrator.u.copy(), integrator.v_mean.copy(), self._impulse.copy())
            self._kept.append((integrator.t, *state))

    def _due(self, integrator: Integrator) -> int:
        return self._count(integrator.t + 0.5 * integrator.dt)

    def _count(self, t: float) -> int:
        """Number of wanted times up to ``t``."""
        if self._wanted is not None:
            return int(np.searchsorted(self._wanted, t, side="right"))
        assert self._interval is not None
        return 1 + int((t - self._begun) / self._interval)


def _wanted(
    times: Sequence[float] | NDArray | None, count: int | None, span: tuple[float, float] | None
) -> NDArray | None:
    if (count is None) != (span is None):
        raise ValueError("count and span belong together: give both, count=60, span=(0, 2e-3)")
    if count is not None and span is not None:
        first, last = span
        if not (count >= 2 and count == int(count) and last > first and np.all(np.isfinite(span))):
            raise ValueError(f"count must be 2 or more over a span (first, last), not {count} over {span}")
        return np.linspace(first, last, int(count))
    if times is None:
        return None
    found = np.sort(np.asarray(times, dtype=np.float64).ravel())
    if not (found.size and np.all(np.isfinite(found))):
        raise ValueError(f"times must be one or more finite numbers [s], but are {times!r}")
    return found


def _check_contact(contact: Any, integrator: Integrator) -> None:
    mesh = getattr(integrator.body, "mesh", None)
    gdim = mesh.geometry.dim if mesh is not None else -1
    if contact is None or contact.rows.dofs.shape[1] != gdim:
        raise ValueError("forces=True needs a contact of a body with an obstacle: give one, or leave it out")
