"""Exact solutions: bars, balls, plastic waves, Hertz, Zener, shrink fit, folded strip, pressed ring, bodies.

They are independent of the systems and schemes of the package, whose results are compared with them.
"""

from .folded_strip import FoldedStrip
from .hertz import HertzLine, HertzPoint
from .impacts import BouncingBall, ImpactingBar
from .plastic_wave import PlasticWave
from .pressed_ring import PressedRing
from .shrink_fit import ShrinkFit
from .signorini import SignoriniBar
from .zener import ZenerImpact

__all__ = [
    "BouncingBall",
    "FoldedStrip",
    "HertzLine",
    "HertzPoint",
    "ImpactingBar",
    "PlasticWave",
    "PressedRing",
    "ShrinkFit",
    "SignoriniBar",
    "ZenerImpact",
]
