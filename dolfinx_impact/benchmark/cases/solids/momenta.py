"""Momenta that a scheme keeps between impacts, and the impulses that change them, step by step.

Central differences: ``x_n ^ M v_{n+1/2} = x_{n+1} ^ M v_{n+1/2}``, as ``x_{n+1} - x_n = h v_{n+1/2}``; a step
changes it by ``x_{n+1} ^ R``, R its impulses on the nodes at t_{n+1}, where the gap is looked at too. Theta =
1/2, force at the midpoint: ``x ^ M v`` changes by ``x_mid ^ R``, normals those at the forecast position.
Source: Simo, Tarnow, Z. angew. Math. Phys. 43 (1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ....integrators import Integrator, energy
from ....output.observer import ObserverLike
from ...run_log import RunLog, Steps


def momenta(x: NDArray, p: NDArray) -> NDArray:
    """Sums of ``p`` and of ``x ^ p``, shape (n, d) each: three numbers in the plane, six in space."""
    products = x.T @ p
    pairs = ((0, 1),) if len(products) == 2 else ((1, 2), (2, 0), (0, 1))
    return np.array([*p.sum(axis=0), *(products[i, j] - products[j, i] for i, j in pairs)])


class MomentumLog(RunLog):
    """The log of every step with the momenta about a fixed point and the impulses that change them.

    The point is what the set-up has besides, by default the origin [m].

    Attributes:
        first: Linear and angular momentum at the start, shape (3,) or (6,) [N s, N m s].
        impulse: Sum of the impulses on the body so far, and of their moments, likewise.
        defect: Largest difference so far between a change of a momentum and its impulses: of the linear
            one, of the angular one [N s, N m s].
        drift: Largest change of the angular momentum so far [N m s].
        contact_gain: Largest work of the contact in a step [J].
    """

    state_names = (*RunLog.state_names, "first", "impulse", "defect", "drift", "contact_gain", "_work")

    def _prepare(self, setup: Any, p: Any) -> None:
        system, about = self._scheme.system, 0.0 if setup is None or setup.beside is None else setup.beside
        self._dim = system.block
        self._arms = (system.x[:, : self._dim] - np.asarray(about)).ravel()
        self._u, self._p = self._scheme.u.copy(), np.zeros(system.size)
        self._rows: list[NDArray] = []
        self.first: NDArray = self._comm.allreduce(self.momenta(), op=MPI.SUM)
        self.impulse: NDArray = np.zeros(self.first.size)
        self.defect: NDArray = np.zeros(2)
        self.drift, self.contact_gain, self._work = 0.0, -np.inf, 0.0

    def observers(self) -> list[ObserverLike]:
        """Every step is looked at; the sums over the ranks are made many at a time."""
        return [self.note, self]

    def note(self, integrator: Integrator) -> None:
        """Keep this rank's part of the momenta and of the impulses of a step."""
        self._rows.append(np.concatenate([self.momenta(), self._impulses()]))
        self._u[:] = integrator.u

    def momenta(self) -> NDArray:
        """This rank's part of the momenta."""
        s, n = self._scheme, self._scheme.system.owned
        s.system.mass_product(s.v, s.mass, self._p)
        return momenta(*(values[:n].reshape(-1, self._dim) for values in (self._arms + s.u, self._p)))

    def _impulses(self) -> NDArray:
        """Sums of the impulses, and of their moments at the position that the scheme pairs them with."""
        s = self._scheme
        if s.contact is None:
            return np.zeros(self.first.size)
        u, dofs = s.u if s.v_shift > 0 else (self._u + s.u) / 2, s.contact.nodes.loaded.dofs
        impulses = np.zeros(dofs.shape)
        s.add_nodal_impulses(impulses)
        return momenta((self._arms + u)[dofs], impulses)

    def _follow(self, steps: Steps) -> None:
        local = steps.energies[: steps.count, energy.TERMS.index("contact")]
        works = self._comm.allreduce(local, op=MPI.SUM)
        self.contact_gain = max(self.contact_gain, float(np.max(np.diff(works, prepend=self._work))))
        self._work = float(works[-1])
        if not self._rows:
            return
        rows = self._comm.allreduce(np.array(self._rows), op=MPI.SUM)
        self._rows.clear()
        changes, impulses = np.hsplit(rows, 2)
        changes, impulses = changes - self.first, self.impulse + np.cumsum(impulses, axis=0)
        self.impulse, left = impulses[-1], changes - impulses
        parts = left[:, : self._dim], left[:, self._dim :]
        self.defect = np.maximum(self.defect, [np.linalg.norm(part, axis=1).max() for part in parts])
        self.drift = max(self.drift, float(np.linalg.norm(changes[:, self._dim :], axis=1).max()))

    def _resume(self) -> None:
        self._u[:] = self._scheme.u

    @property
    def worst_residual(self) -> float:
        """Largest residual of the energy balance so far [J]."""
        return float(self._energies[1])


def final_motion(integrator: Integrator) -> NDArray:
    """Velocity of the center of mass and spin of the deformed body, shape (3,) [m/s, rad/s]. Collective."""
    s, n = integrator, integrator.system.owned
    system: Any = s.system
    heavy = np.zeros((2, system.size))
    for values, product in zip((system.x[:, :2].ravel() + s.u, s.v_mean), heavy):
        system.mass_product(values, s.mass, product)
    x, mx, mv = (v[:n].reshape(-1, 2) for v in (system.x[:, :2].ravel() + s.u, *heavy))
    sums = np.array([*mx.sum(axis=0), *momenta(x, mv), np.sum(x * mx)])
    sums = system.comm.allreduce(sums, op=MPI.SUM) / system.total_mass
    center, velocity = sums[:2], sums[2:4]
    spin = (sums[4] - (center[0] * velocity[1] - center[1] * velocity[0])) / (sums[5] - center @ center)
    return np.array([*velocity, spin])
