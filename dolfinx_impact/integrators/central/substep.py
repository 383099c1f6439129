"""A substep of the explicit scheme of Noh and Bathe."""

from __future__ import annotations

import numpy as np

from ..._types import FloatArray
from ...contact.state import ContactState, Impulses
from ..base import Integrator


class Substep:
    """A substep of :class:`NohBathe`: what the contact law and the energy balance see of it.

    Attributes:
        dt: Its length [s].
        t: Its end [s].
        u, v: Displacements and velocities at its end, shape (size,) [m, m/s].
        v_before: Velocities at its beginning, shape (size,) [m/s].
        f: Smooth forces at its end, shape (size,) [N].
        v_force: The velocities that these were computed with, shape (size,) [m/s].
        impulse: Impulse of the smooth forces over it, shape (owned,) [N s].
        r, r_t: Its normal and tangential impulses [N s].
        moved: Their sums at the dofs with prescribed motion, with the L of the substep, shape (k,) [N s].
        contact_work: Their work ``r.L (v_before + v)/2``, this rank's share [J].
    """

    def __init__(self, scheme: Integrator) -> None:
        self._scheme, system = scheme, scheme.system
        self.dt = self.t = self.contact_work = 0.0
        self.u, self.v, self.v_before, self.f, self.v_force = (np.zeros(system.size) for _ in range(5))
        self.impulse, self.moved = np.zeros(system.owned), np.zeros(system.prescribed.dofs.size)
        self.r, self.r_t = np.zeros_like(scheme.r), np.zeros_like(scheme.r_t)

    @property
    def contact_state(self) -> ContactState | None:
        """The contact at the end of the substep before."""
        state: ContactState | None = self._scheme.contact_state
        return state

    @property
    def impulses(self) -> Impulses:
        """Impulses of the step before."""
        return self._scheme.impulses

    @property
    def v_time(self) -> float:
        """Time of ``v`` [s]."""
        return self.t

    def contact_point(self) -> tuple[float, FloatArray]:
        """Time [s] and position [m] at which the active set is decided: those of its end."""
        return self.t, self.u
