"""The explicit subdomain of HATI."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._types import FloatArray
from ...systems.system import System
from ..central.central_differences import CentralDifferences
from ..compiled.parts import CompiledParts, parts_of
from ..impulses.contact_laws import Enforcement
from .interface import Glue, Interface


class GluedExplicit(CentralDifferences):
    """CD-Lagrange coupled to the implicit subdomain by the velocity at integer times, Fekak et al. (2017).

    After the free step, (66)-(68), the multipliers follow from ``H Lambda = target - (v_{j-1/2} + v*)/2``,
    (71), and ``v* += dt M^-1 L^T Lambda``; contact is solved afterwards, on other dofs.
    doi:10.1007/s00466-017-1397-0.

    Args:
        first_multipliers: Lambda at the start, from t, the accelerations of the explicit copies without it
            and their inverse masses, see :meth:`.Implicit.first_multipliers`.

    Attributes:
        target: Free velocity of the implicit subdomain at the end of the step, (74), shape (q of this rank,)
            [m/s].
        multipliers: Lambda of the last step, shape (q of this rank,) [N].
    """

    #: The loop over fine steps has the coupling too, and is that of :class:`.HATI`.
    compiled_loop = None  # type: ignore[assignment]
    state_names = (*CentralDifferences.state_names, "multipliers")
    sweeps = False

    def __init__(
        self,
        system: System,
        dt: float,
        enforcement: Enforcement,
        interface: Interface,
        first_multipliers: Callable[[float, FloatArray, FloatArray], FloatArray],
        *,
        allow_unstable: bool = False,
    ) -> None:
        super().__init__(system, dt, enforcement, allow_unstable=allow_unstable)
        self._at = interface.dofs
        self.interface, self.first_multipliers = interface, first_multipliers
        self.target, self.multipliers = np.zeros(self._at.size), np.zeros(self._at.size)

    def state_places(self) -> dict[str, str]:
        """See :meth:`.Integrator.state_places`."""
        return {**super().state_places(), "multipliers": "pairs"}

    def glue(self, implicit: FloatArray) -> None:
        """Compute H from its implicit part ``H_I``, shape (total, total) [m/s/N]. Collective."""
        explicit = 0.5 * self.interface.gather(self._kick[self._at])  # (72)
        self.operator = Glue(self.interface, np.diag(explicit) + implicit)

    def compiled(self) -> CompiledParts:
        """See :func:`.parts_of`; loops over fine steps glue by ``operator``."""
        return parts_of(self)

    def _constrain(self, part: float) -> None:
        super()._constrain(part)
        g = self._at
        if self.n == 0:
            mobility = self.system.inverse_mass[g]
            self.multipliers[:] = self.first_multipliers(self.t, self.f[g] * mobility, mobility)
        else:
            free = 0.5 * (self.v_before[g] + self.v[g])  # (66a)
            self.multipliers[:] = self.operator.multipliers(self.target - free)  # (71)
        self.v[g] += part * self._kick[g] * self.multipliers  # (68b)
