"""Permanent set: what remains of the deformation of a body that has yielded and vibrates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .. import parallel
from .._types import AnyArray, FloatArray
from ..arguments import number, whole
from ..integrators.base import Integrator
from ..systems.body import Body
from .observer import Observer
from .rigid_part import displacements_from_rigid


class PermanentSet(Observer):
    """Observer of the mean displacements from the rigid motion of a body, over the end of a run.

    In the mean the vibrations of the body do not count. Checkpoints do not contain the sums: the mean of a
    run that goes on from one begins there, or later.

    Args:
        body: The body, in the plane or in space.
        begin: Time from which on displacements are averaged [s].
        every: Steps between two evaluations.

    Raises:
        ValueError: ``every`` below 1, a time that is no number.
    """

    def __init__(self, body: Body, begin: float, *, every: int = 1) -> None:
        self._body, self._every = body, whole("every", every)
        self._from, self._steps, self._count = number("begin", begin, "be a time [s]"), 0, 0
        self._sum = np.zeros_like(displacements_from_rigid(body, np.zeros(body.size)))

    def __call__(self, integrator: Integrator) -> None:
        """Add the displacements after every so many steps. Collective."""
        self._steps += 1
        if integrator.t >= self._from and self._steps % self._every == 0:
            self._sum += displacements_from_rigid(self._body, integrator.u)
            self._count += 1

    def displacements(self) -> FloatArray:
        """The means, as of :func:`.displacements_from_rigid`; zero before the first evaluation."""
        means: FloatArray = self._sum / max(1, self._count)
        return means

    def largest(self) -> float:
        """Length of the largest mean [m]. Collective."""
        return max(0.0, parallel.largest(self._body.comm, np.linalg.norm(self.displacements(), axis=1)))

    def state(self) -> dict[str, AnyArray]:
        """Number of steps for a checkpoint."""
        return {"n": np.array(self._steps)}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a state."""
        self._steps = int(state["n"])
