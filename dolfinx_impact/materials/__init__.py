"""Elastic laws in UFL: stored energy and stress from the deformation gradient.

Every law sees a 3x3 deformation gradient ``F``; a plane or a line embeds its own in it, with
1 and 0 where it says nothing, and takes the law ``law.reduced(state)``. Constants of a law
enter a form as constants, not as numbers, so that another material compiles nothing new.
"""

from .elastic import LinearElastic, MooneyRivlin, NeoHookean, StVenantKirchhoff
from .law import STATES, Law
from .user_laws import EnergyLaw, StressLaw

__all__ = [
    "EnergyLaw", "Law", "LinearElastic", "MooneyRivlin", "NeoHookean", "STATES", "StVenantKirchhoff",
    "StressLaw",
]  # fmt: skip
