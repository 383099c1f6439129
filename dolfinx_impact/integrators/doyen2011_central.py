"""The discretizations of Doyen, Ern and Piperno (2011) with central differences, by their numbers.

SIAM J. Sci. Comput. 33 (2011), doi:10.1137/100791440. ``Eq`` is the energy (84) of Fekak et al. (2017), less
the work of the loads. The others are in :mod:`.doyen2011`.
"""

from __future__ import annotations

import math
from typing import Any

from .. import parallel
from .._types import FloatArray
from ..contact.base import Contact
from ..contact.contact_set import Contacts, as_contact
from ..systems.system import System
from .central.central_differences import CentralDifferences
from .doyen2011 import BELOW, EPS, IMPULSE_WORK, PAPER, NoContact
from .impulses.contact_laws import PositionLevel, VelocityLevel
from .impulses.penalty import ExplicitPenalty
from .options import LUMPED, fixed_restitution
from .static.modified_mass import ModifiedMass
from .static.static_contact import StaticContact


class Central(CentralDifferences):
    """Central differences with the lumped mass and a contact law.

    Args:
        system: The system.
        dt: Time step [s], at most ``system.critical_time_step()``.
        contact: The contact, or None.
        allow_unstable: Accept a step above the critical one.

    Raises:
        ValueError: A step that is not positive or above the critical one; a contact that does not fit.
    """

    compiled_loop = CentralDifferences.compiled_loop
    paper = PAPER
    order = "2 without impact, 1 with"
    conserves = f"Eq: {IMPULSE_WORK}"
    step_limit = "h <= 2 / omega_max"
    contact_level = "position"
    options = {**fixed_restitution(0.0), **LUMPED}
    law: Any = PositionLevel

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False, **law: Any
    ) -> None:
        super().__init__(system, dt, type(self).law(contact, **law), allow_unstable=allow_unstable)


class DEP23(Central):
    """2.3: central differences without contact."""

    compiled_loop = CentralDifferences.compiled_loop
    equations = "2.3: central differences"
    order, conserves, contact_level, options = "2", "Eq", "none", LUMPED
    law = NoContact


class DEP47(Central):
    """4.7: central differences, ``0 <= g(u_{n+1})  _|_  lambda_n >= 0``."""

    compiled_loop = CentralDifferences.compiled_loop
    equations = "4.7: central differences, implicit contact"


class DEP48(Central):
    """4.8: central differences, projected; the same as 4.7."""

    compiled_loop = CentralDifferences.compiled_loop
    equations = "4.8: central differences, projected"


class DEP53(Central):
    """5.3: central differences, ``lambda_n = max(-g(u_n), 0) / eps``.

    ``eps`` and ``per_area`` are as in :class:`.Penalty`.

    Attributes:
        beyond_limit: Also set above a step that is stable for sure with the stiffness of the penalty,
            ``omega^2 <= omega_K^2 + H / eps``: the run is then stopped should its energy explode.
    """

    compiled_loop = CentralDifferences.compiled_loop
    equations = "5.3: central differences, penalty"
    step_limit = "h below 2 / omega_max, the penalty's stiffness included"
    contact_level, options = "penalty", {**fixed_restitution(0.0), **LUMPED, **EPS}
    law = ExplicitPenalty

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        eps: float = 1e-4,
        per_area: bool = False,
        allow_unstable: bool = False,
    ) -> None:
        self.eps, self.per_area = eps, per_area
        super().__init__(system, dt, contact, allow_unstable=allow_unstable, eps=eps, per_area=per_area)
        if self.contact is not None:
            self.beyond_limit |= self.dt > penalty_limit(system, self.contact, self.enforcement.compliance)


class DEP62(Central):
    """6.2: central differences, Newton's law with e = 0 where ``g(u_n) < 0``."""

    compiled_loop = CentralDifferences.compiled_loop
    equations = "6.2: central differences, contact in velocity"
    contact_level, options = "velocity", {**fixed_restitution(0.0), **BELOW, **LUMPED}
    law = VelocityLevel


class DEP72(StaticContact):
    """7.2: central differences of the dofs with mass, contact dofs in static equilibrium, (117).

    Their velocity is put to zero.
    """

    compiled_loop = None
    paper = PAPER
    equations = "7.2: semi-explicit, modified mass"
    conserves = f"Eq: {IMPULSE_WORK}"
    excludes = ModifiedMass.excludes
    options = {**fixed_restitution(0.0), **LUMPED}

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
    ) -> None:
        super().__init__(ModifiedMass(system, as_contact(contact)), dt, allow_unstable=allow_unstable)

    def _set_velocity(self) -> None:
        """At rest, also in the forces."""
        at = self.system.massless
        self.v_before[at] = self.v[at] = 0.0


def penalty_limit(system: System, contact: Contact, eps: FloatArray) -> float:
    """``2 / sqrt(omega_K^2 + H / eps)``, a step that is stable for sure [s]. Collective."""
    stiffest = parallel.largest(system.comm, contact.L.diagonal(system.inverse_mass) / eps)
    return 2.0 / math.sqrt((2.0 / system.critical_time_step()) ** 2 + stiffest)
