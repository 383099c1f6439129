"""Exact solutions: impacting bar, bouncing ball, Signorini bar, plastic wave, Hertz, Zener, rigid impacts.

They are independent of the systems and schemes of the package, whose results are compared with them.
"""

from .impacts import BouncingBall, ImpactingBar
from .plastic_wave import PlasticWave
from .signorini import SignoriniBar
from .zener import ZenerImpact

__all__ = ["BouncingBall", "ImpactingBar", "PlasticWave", "SignoriniBar", "ZenerImpact"]
