"""Exact solutions: impacting bar, bouncing ball, dynamic Signorini problem of a bar, Hertz and rigid impacts.

They are independent of the systems and schemes of the package, whose results are compared with them.
"""

from .impacts import BouncingBall, ImpactingBar
from .signorini import SignoriniBar

__all__ = ["BouncingBall", "ImpactingBar", "SignoriniBar"]
