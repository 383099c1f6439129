"""The two bars of Fekak et al. (2017), Sect. 3.1: all claims and figures."""

from ...claim import Claim
from . import claims_impact as two_bars_impact
from . import claims_motion as two_bars_motion
from . import claims_orders as two_bars_orders
from . import claims_scheme as two_bars_scheme
from .figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS: tuple[Claim, ...] = (
    *two_bars_motion.CLAIMS,
    *two_bars_impact.CLAIMS,
    *two_bars_orders.CLAIMS,
    *two_bars_scheme.CLAIMS,
)
