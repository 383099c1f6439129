"""Resultant contact force on a body: the impulse of every step, mean forces, phases of contact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .. import parallel
from .._types import AnyArray, FloatArray, IntArray
from ..arguments import number
from ..contact.base import Contact
from ..contact.node_pairs import NodePairs
from ..contact.surfaces.surface_contact import SurfaceContact
from ..integrators.base import Integrator
from .observer import Observer

#: Part of the largest impulse up to which one is round-off: of pairs of surfaces beside an obstacle.
_ROUNDING = 1e-12


class ImpulseHistory(NamedTuple):
    """Resultant contact impulses of all steps.

    Attributes:
        t: Times at the ends of the steps, shape (n,) [s].
        impulses: Impulse of each step on the body, by direction, shape (n, d) [N s].
    """

    t: FloatArray
    impulses: FloatArray

    def mean_forces(self, window: float) -> FloatArray:
        """Means of the force over ``[t, t + window)``, shape (n, d) [N].

        They are the impulses of the steps that end in this time, divided by the window: of a constant force
        exact for a whole number of steps, else too large by at most a step over the window. Windows that
        reach past the end of the run are divided by their part within it, which is a single step at last.
        Forces of single steps depend on mesh and time step; a mean over what an impact lasts at least, such
        as a tenth of the time in which a wave crosses the body, does not.

        Args:
            window: Time [s], positive.

        Raises:
            ValueError: A window that is not positive.
        """
        parts = self._parts(window)
        sums = np.vstack([np.zeros(self.impulses.shape[1]), np.cumsum(self.impulses, axis=0)])
        # Of a whole number of steps the last end is outside, however it is rounded.
        last = np.searchsorted(self.t, self.t + (1.0 - 1e-9) * window)
        forces: FloatArray = (sums[last] - sums[:-1]) / parts[:, None]
        return forces

    def peak_force(self, window: float) -> tuple[float, float]:
        """Largest of :meth:`mean_forces` [N], and the time in the middle of its window [s].

        Of windows that lie within the run; of one that is longer than the run, the mean over the run.
        """
        parts = self._parts(window)
        size = np.linalg.norm(self.mean_forces(window), axis=1)
        size[parts < (1.0 - 1e-9) * parts.max()] = 0.0
        k = int(size.argmax())
        return float(size[k]), float(self.t[k] + parts[k] / 2)

    def _parts(self, window: float) -> FloatArray:
        """Part of the window of each step that lies within the run, from the step's start, shape (n,) [s]."""
        number("window", window, "be positive [s]", above=0.0)
        left = self.t[-1:] - np.append(self.t[:1], self.t[:-1])
        parts: FloatArray = np.where(left > 0.0, np.minimum(left, window), window)
        return parts

    def phases(self, apart: float) -> FloatArray:
        """First and last times with an impulse of each phase of contact, shape (m, 2) [s].

        Args:
            apart: Time without an impulse after which a phase is over [s].
        """
        sizes = np.abs(self.impulses).max(axis=1)
        hits = self.t[sizes > _ROUNDING * sizes.max(initial=0.0)]
        ends = np.flatnonzero(np.diff(hits) > apart)
        if not hits.size:
            return np.zeros((0, 2))
        return np.column_stack([hits[np.append(0, ends + 1)], hits[np.append(ends, hits.size - 1)]])


class ContactForce(Observer):
    """Observer that sums the impulses of all contact points in every step of a run.

    A history has impulses point by point, as sums since its previous sample: this has their resultant
    at full resolution, friction, features and the impulses of a change of the time step included. It is
    part of checkpoints. The impulses of surfaces of one body on each other cancel: beside an obstacle its
    force is left.
    """

    needs_energies = False

    def __init__(self) -> None:
        self._rows: list[FloatArray] = []
        self._integrator: Integrator | None = None
        self._resumed = False

    def begin(self, integrator: Integrator) -> None:
        """Prepare, with the impulses at the start of a run that continues no other.

        Raises:
            ValueError: A run without contact, or with contact between parts of one body alone; node pairs;
                several dofs of point masses whose directions are unknown.
        """
        if integrator.contact is None:
            raise ValueError("a run without contact has no contact force: leave the observer out")
        members = integrator.contact.members
        inside = [isinstance(each, (NodePairs, SurfaceContact)) for each in members]
        if all(inside) or any(isinstance(each, NodePairs) for each in members):
            raise ValueError(
                "the impulses of parts of one body on each other cancel and have no resultant: "
                "leave the observer out, the impulses of the points are run['r']"
            )
        self._integrator = integrator
        self._directions, self._block = _directions(integrator.contact)
        self._impulses = np.zeros(integrator.contact.nodes.loaded.dofs.shape)
        if self._resumed and integrator.system.comm.rank > 0:  # rank 0 has the sums
            self._rows = [each * np.append(1.0, np.zeros(self._block)) for each in self._rows]
        self._resumed = False
        if not self._rows:
            self._rows.append(np.zeros(1 + self._block))
            self._rows[0][0] = integrator.t
            if integrator.n == 0:
                self._add(integrator)

    def __call__(self, integrator: Integrator) -> None:
        """Sum the impulses of a step. Collective."""
        self._rows.append(np.zeros(1 + self._block))
        self._rows[-1][0] = integrator.t
        self._add(integrator)

    def _add(self, integrator: Integrator) -> None:
        """Add the impulses of the step by direction."""
        contact, impulses = integrator.contact, self._impulses
        assert contact is not None
        impulses[:] = 0.0
        integrator.add_nodal_impulses(impulses)
        self._rows[-1][1:] += np.bincount(self._directions, impulses.ravel(), self._block)

    def history(self) -> ImpulseHistory:
        """The impulses so far, of all ranks. Collective.

        Raises:
            RuntimeError: Before a run.
        """
        if self._integrator is None:
            raise RuntimeError("the observer has seen no run")
        here = np.array(self._rows)
        impulses: FloatArray = self._integrator.system.comm.allreduce(here[:, 1:])
        return ImpulseHistory(here[:, 0], impulses)

    def state(self) -> dict[str, AnyArray]:
        """Times and impulses for a checkpoint. Collective."""
        return {"steps": np.column_stack(self.history())}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a state."""
        self._rows, self._resumed = list(np.array(state["steps"])), True


def _directions(contact: Contact) -> tuple[IntArray, int]:
    """Direction of each dof of ``contact.nodes.loaded``, flattened, and the number of directions. Collective.

    Dofs of point masses have those that the points of an obstacle give them; one dof alone needs none.
    """
    system, dofs = contact.system, contact.nodes.loaded.dofs
    if hasattr(system, "block"):
        return dofs.ravel() % system.block, int(system.block)
    known = np.full(system.size, -1)
    if parallel.total(system.comm, np.unique(dofs).size) == 1:
        known[dofs] = 0
    points = [each for each in contact.members if type(each).local_bases is not Contact.local_bases]
    rows = [each.nodes.loaded.dofs for each in points]
    for each in rows:
        known[each] = np.arange(each.shape[1])
    error = None
    if (known[dofs] < 0).any() or any((known[each] != np.arange(each.shape[1])).any() for each in rows):
        error = ValueError(
            "a resultant needs the direction of each dof that the contact acts on, and one alone: give all "
            "points of point masses to an ObstacleContact, as [[x, y], ...] with the same directions; or "
            "leave the observer out, the impulses of the points are run['r']"
        )
    parallel.agree(system.comm, error)
    return known[dofs].ravel(), max((each.shape[1] for each in rows), default=1)
