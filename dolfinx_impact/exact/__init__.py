"""Exact solutions: impacting bar, bouncing ball, Signorini bar, plastic wave, Hertz and rigid impacts.

They are independent of the systems and schemes of the package, whose results are compared with them.
"""

from .impacts import BouncingBall, ImpactingBar
from .plastic_wave import PlasticWave
from .signorini import SignoriniBar

__all__ = ["BouncingBall", "ImpactingBar", "PlasticWave", "SignoriniBar"]
