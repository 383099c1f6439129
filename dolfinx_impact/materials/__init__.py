"""Elastic laws in UFL: stored energy and stress from the deformation gradient.

Every law takes the 3x3 deformation gradient ``F``. In one and two dimensions F is embedded in 3x3, with the
entries of the identity in the remaining rows and columns, and the law is ``law.reduced(state)``. Material
constants enter forms as ``fem.Constant``, so that other values do not compile new forms.
"""

from .elastic import LinearElastic, MooneyRivlin, NeoHookean, StVenantKirchhoff
from .law import STATES, Law
from .user_laws import EnergyLaw, StressLaw

__all__ = [
    "EnergyLaw",
    "Law",
    "LinearElastic",
    "MooneyRivlin",
    "NeoHookean",
    "STATES",
    "StVenantKirchhoff",
    "StressLaw",
]
