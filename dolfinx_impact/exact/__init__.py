"""Exact solutions: the impacting bar, the bouncing ball, Signorini's bar, Hertz's impact, a rigid body's.

They know nothing of the package's bodies and schemes, so that these can be compared with them.
"""

from .impacts import BouncingBall, ImpactingBar
from .signorini import SignoriniBar

__all__ = ["BouncingBall", "ImpactingBar", "SignoriniBar"]
