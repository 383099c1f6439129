"""Constitutive laws in UFL: elastic ones by their energy or stress, and laws with history.

Every law takes the 3x3 deformation gradient ``F``. In one and two dimensions F is embedded in 3x3, with the
entries of the identity in the remaining rows and columns, and the law is ``law.reduced(state)``. Material
constants enter forms as ``fem.Constant``, so that other values do not compile new forms.
"""

from __future__ import annotations

from typing import TypeAlias

from .elastic import LinearElastic, MooneyRivlin, NeoHookean, StVenantKirchhoff
from .hardening import HardeningLaw, JohnsonCook, LinearHardening, TabulatedHardening, Voce
from .history import HistoryLaw
from .law import STATES, Law
from .plasticity import J2Plasticity
from .user_laws import EnergyLaw, StressLaw

#: The laws of bodies.
AnyLaw: TypeAlias = Law | HistoryLaw

__all__ = [
    "AnyLaw",
    "EnergyLaw",
    "HardeningLaw",
    "HistoryLaw",
    "J2Plasticity",
    "JohnsonCook",
    "Law",
    "LinearElastic",
    "LinearHardening",
    "MooneyRivlin",
    "NeoHookean",
    "STATES",
    "StVenantKirchhoff",
    "StressLaw",
    "TabulatedHardening",
    "Voce",
]
