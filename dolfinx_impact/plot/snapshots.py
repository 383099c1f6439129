"""States of a body stored during a run, for pictures and animations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

from .._types import FloatArray
from ..integrators import Integrator
from ..output.observer import Observer


class Moment(NamedTuple):
    """State of a body in one picture.

    Attributes:
        t: Time [s].
        u: Displacements at ``t``, shape (size,) [m]; ghosts need not be updated.
        v: Velocities at ``t``, shape (size,) [m/s]; ghosts need not be updated.
        forces: Forces on the contact points of this rank, shape (points, gdim) [N]; None draws none.
        title: Text before the time in the title of the picture.
        fields: Values at the local nodes at ``t``, shape (nodes,), of what u does not determine: of bodies
            whose material has a history ``"stress"`` [Pa] and ``"plastic_strain"``, ``"stress"`` also where a
            law has Functions or Constants.
    """

    t: float
    u: FloatArray
    v: FloatArray
    forces: FloatArray | None = None
    title: str = ""
    fields: Mapping[str, FloatArray] = MappingProxyType({})


class _State(NamedTuple):
    """A stored moment: times, displacements, velocities, impulses so far, and further fields."""

    t: float
    u: FloatArray
    v: FloatArray
    impulse: FloatArray
    fields: dict[str, FloatArray]


class Snapshots(Observer):
    """Observer that stores states of a body, at given times or at regular intervals from the start of a run.

    The times are given by one of ``times``, ``interval``, or ``count`` and ``span``. At the first step from
    half a step before such a time on, displacements, velocities and, with ``forces``, impulses are copied: 16
    bytes per dof without forces. Of a material with history the von Mises stress and the plastic strain at
    the nodes are stored too, and the stress of a law with Functions or Constants, which may change. With
    ``interval``, every second state is dropped and the interval doubled whenever the memory is full, so that
    runs of any length are covered. Checkpoints do not contain the states: the animation of a restarted run
    starts at the restart.

    Args:
        times: Times of the states [s].
        interval: Time between two states [s].
        count: Number of states, at least two.
        span: First and last time of ``count`` states [s].
        forces: Store contact forces too, means over the time since the previous state.
        memory: Largest memory for states per rank [bytes].

    Raises:
        ValueError: Not exactly one definition of the times, times that are not finite, an interval or a span
            that is not positive; at the start of a run, more states than the memory holds, ``forces`` without
            a contact whose points have one dof per direction.
    """

    def __init__(
        self,
        times: Sequence[float] | FloatArray | None = None,
        *,
        interval: float | None = None,
        count: int | None = None,
        span: tuple[float, float] | None = None,
        forces: bool = False,
        memory: float = 1e9,
    ) -> None:
        if sum(each is not None for each in (times, interval, count)) != 1:
            raise ValueError("give the times of states by one of times, interval, or count and span")
        if interval is not None and not (interval > 0 and np.isfinite(interval)):
            raise ValueError(f"interval must be a positive time [s], but is {interval}")
        self._interval, self._forces, self._memory = interval, bool(forces), float(memory)
        self._wanted = _wanted(times, count, span)
        self._integrator: Integrator | None = None
        self._stored: list[_State] = []
        self._fields: dict[str, Callable[[Integrator], FloatArray]] = {}
        self._seen = 0

    @property
    def body(self) -> Any:
        """The body of the states, None before a run."""
        return None if self._integrator is None else self._integrator.body

    @property
    def states(self) -> list[Moment]:
        """The stored states in the order of time."""
        if not self._forces:
            return [Moment(t, u, v, fields=fields) for t, u, v, _, fields in self._stored]
        moments, before = [], self._begun
        impulse: FloatArray = np.zeros(self._impulse.shape)
        for t, u, v, total, fields in self._stored:
            force = np.divide(total - impulse, t - before) if t > before else np.zeros(total.shape)
            moments.append(Moment(t, u, v, force, fields=fields))
            before, impulse = t, total
        return moments

    def begin(self, integrator: Integrator) -> None:
        """Store the initial state if one is due; a run that continues the previous one adds to its states.

        Collective.
        """
        self._prepare(integrator, integrator.t)
        self._store(integrator)

    def __call__(self, integrator: Integrator) -> None:
        """Store the state after a step if one is due. Collective."""
        if integrator is not self._integrator:
            self._prepare(integrator, integrator.t - integrator.dt)
        if self._forces:
            integrator.add_nodal_impulses(self._impulse)
        self._store(integrator)

    def _prepare(self, integrator: Integrator, t: float) -> None:
        u, contact = integrator.u, integrator.contact
        last = self._stored[-1] if self._stored else None
        continued = last is not None and last.u.size == u.size and t >= last.t - 0.5 * integrator.dt
        if self._forces:
            _check_contact(contact, integrator)
        if not continued:
            self._stored, self._seen, self._begun = [], 0, t
            dofs = contact.nodes.loaded.dofs.shape if self._forces and contact else (0, 0)
            self._impulse = np.zeros(dofs)
        if integrator is not self._integrator:
            self._fields = _fields_of(integrator.body)
        self._integrator = integrator
        of_fields = len(self._fields) * u.size // getattr(integrator.body, "block", 1)
        size = max(1, 8 * (2 * u.size + self._impulse.size + of_fields))
        self._most = integrator.system.comm.allreduce(int(self._memory // size), op=MPI.MIN)
        needed = 2 if self._wanted is None else len(self._wanted)
        if needed > self._most:
            raise ValueError(
                f"{needed} states need more memory than the {self._memory:g} bytes a rank that Snapshots may "
                f"use: at most {self._most} fit; take fewer, or give it more (memory=)"
            )

    def _store(self, integrator: Integrator) -> None:
        now = self._due(integrator)
        if now > self._seen and len(self._stored) >= self._most and self._interval is not None:
            del self._stored[1::2]
            self._interval *= 2
            self._seen = self._count(self._stored[-1].t + 0.5 * integrator.dt)
            now = self._due(integrator)
        if now > self._seen:
            self._seen = now
            fields = {name: evaluate(integrator) for name, evaluate in self._fields.items()}
            state = (integrator.u.copy(), integrator.v_mean.copy(), self._impulse.copy())
            self._stored.append(_State(integrator.t, *state, fields))

    def _due(self, integrator: Integrator) -> int:
        return self._count(integrator.t + 0.5 * integrator.dt)

    def _count(self, t: float) -> int:
        """Number of requested times up to ``t``."""
        if self._wanted is not None:
            return int(np.searchsorted(self._wanted, t, side="right"))
        assert self._interval is not None
        return 1 + int((t - self._begun) / self._interval)


def fields_with_history(body: Any) -> list[str]:
    """Fields that colour pictures of a body and depend on the history of its material."""
    from ..output.history_field import VARIABLES, has_scalar

    if getattr(body, "history", None) is None:
        return []
    return ["stress", *(["plastic_strain"] if has_scalar(body, VARIABLES["plastic_strain"]) else [])]


def _fields_of(body: Any) -> dict[str, Callable[[Integrator], FloatArray]]:
    """Functions of the fields that are stored beside u and v."""
    from ..output.history_field import VARIABLES, HistoryField
    from ..output.stress import VonMises, has_coefficients, has_stress

    names = fields_with_history(body)
    if not names and has_stress(body) and has_coefficients(body):
        names = ["stress"]
    found: dict[str, Callable[[Integrator], FloatArray]] = {}
    if "stress" in names:
        stress = VonMises(body)
        found["stress"] = lambda integrator: stress(integrator.u)
    if "plastic_strain" in names:
        strain = HistoryField(body, VARIABLES["plastic_strain"])
        found["plastic_strain"] = lambda _: strain()
    return found


def _wanted(
    times: Sequence[float] | FloatArray | None, count: int | None, span: tuple[float, float] | None
) -> FloatArray | None:
    if (count is None) != (span is None):
        raise ValueError("count and span belong together: give both, count=60, span=(0, 2e-3)")
    if count is not None and span is not None:
        first, last = span
        if not (count >= 2 and count == int(count) and last > first and np.all(np.isfinite(span))):
            raise ValueError(f"count must be 2 or more over a span (first, last), not {count} over {span}")
        return np.asarray(np.linspace(first, last, int(count)), dtype=np.float64)
    if times is None:
        return None
    ordered = np.sort(np.asarray(times, dtype=np.float64).ravel())
    if not (ordered.size and np.all(np.isfinite(ordered))):
        raise ValueError(f"times must be one or more finite numbers [s], but are {times!r}")
    return ordered


def _check_contact(contact: Any, integrator: Integrator) -> None:
    if integrator.divided:
        raise ValueError(
            f"forces=True takes a scheme with one body, not {type(integrator).__name__}, whose body has an "
            "explicit and an implicit part: leave it out"
        )
    mesh = getattr(integrator.body, "mesh", None)
    gdim = mesh.geometry.dim if mesh is not None else -1
    if contact is None or contact.nodes.loaded.dofs.shape[1] != gdim:
        raise ValueError("forces=True needs a contact of a body with an obstacle: give one, or leave it out")
