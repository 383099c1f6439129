"""Largest stress of a run, and where and when it occurs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .._types import AnyArray, FloatArray, IntArray
from ..arguments import whole
from ..integrators.base import Integrator
from ..systems.continuum import Continuum
from .observer import Observer
from .stress import VonMises


class Peak(NamedTuple):
    """The largest stress of a run.

    Attributes:
        stress: Von Mises stress [Pa].
        t: Time [s].
        x: Undeformed position of the node, shape (gdim,) [m].
    """

    stress: float
    t: float
    x: FloatArray


class PeakStress(Observer):
    """Observer of the largest von Mises stress so far, at all nodes or at several sets of them.

    At sharp edges and under points of contact the stress grows without limit as the mesh is refined, so that
    the largest one away from them often says more.

    Args:
        solid: See :class:`.VonMises`.
        nodes: Local numbers of the owned nodes of each set by its name, None for all; by default all nodes
            under the name ``"body"``.
        every: Steps between two evaluations, each of which costs about as much as a few steps.

    Raises:
        ValueError: A body without stress; ``every`` below 1.
    """

    def __init__(
        self, solid: Continuum, nodes: Mapping[str, IntArray | None] | None = None, *, every: int = 1
    ) -> None:
        self._stress, self._every, self._steps = VonMises(solid), whole("every", every), 0
        gdim, owned = solid.mesh.geometry.dim, solid.owned // solid.block
        self._comm, self._x = solid.comm, solid.x[:owned, :gdim]
        sets = {"body": None} if nodes is None else nodes
        self._sets = {
            name: np.arange(owned) if each is None else np.asarray(each) for name, each in sets.items()
        }
        self._largest: FloatArray = np.zeros((len(self._sets), 2 + gdim))

    def __call__(self, integrator: Integrator) -> None:
        """Evaluate the stress after every so many steps. Collective."""
        self._steps += 1
        if self._steps % self._every == 0:
            stress = self._stress(integrator.u)
            for i, nodes in enumerate(self._sets.values()):
                if nodes.size and stress[nodes].max() > self._largest[i, 0]:
                    node = nodes[stress[nodes].argmax()]
                    self._largest[i] = stress[node], integrator.t, *self._x[node]

    def peaks(self) -> dict[str, Peak]:
        """The largest stress of each set by its name; zeros before the first evaluation. Collective."""
        largest = self._of_all_ranks()
        stress, t, x = largest[:, 0], largest[:, 1], largest[:, 2:]
        return {name: Peak(float(stress[i]), float(t[i]), x[i]) for i, name in enumerate(self._sets)}

    def _of_all_ranks(self) -> FloatArray:
        every = np.array(self._comm.allgather(self._largest))
        largest: FloatArray = every[every[:, :, 0].argmax(axis=0), np.arange(len(self._sets))]
        return largest

    def state(self) -> dict[str, AnyArray]:
        """Number of steps and peaks for a checkpoint. Collective."""
        return {"n": np.array(self._steps), "peaks": self._of_all_ranks()}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a state."""
        self._steps, self._largest = int(state["n"]), np.array(state["peaks"])
