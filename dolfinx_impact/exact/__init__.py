"""Exact solutions: bar, ball, Signorini bar, plastic wave, Hertz, Zener, shrink fit, rigid impacts.

They are independent of the systems and schemes of the package, whose results are compared with them.
"""

from .hertz import HertzLine, HertzPoint
from .impacts import BouncingBall, ImpactingBar
from .plastic_wave import PlasticWave
from .shrink_fit import ShrinkFit
from .signorini import SignoriniBar
from .zener import ZenerImpact

__all__ = [
    "BouncingBall",
    "HertzLine",
    "HertzPoint",
    "ImpactingBar",
    "PlasticWave",
    "ShrinkFit",
    "SignoriniBar",
    "ZenerImpact",
]
