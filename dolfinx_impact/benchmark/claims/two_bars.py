"""The two bars of Fekak et al. (2017), Sect. 3.1: all claims and figures."""

from . import two_bars_impact, two_bars_motion, two_bars_orders, two_bars_scheme
from .claim import Claim
from .two_bars_figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS: tuple[Claim, ...] = (
    *two_bars_motion.CLAIMS,
    *two_bars_impact.CLAIMS,
    *two_bars_orders.CLAIMS,
    *two_bars_scheme.CLAIMS,
)
