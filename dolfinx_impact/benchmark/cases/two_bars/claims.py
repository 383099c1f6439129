"""The two bars of Fekak et al. (2017), Sect. 3.1: all claims and figures."""

from . import claims_motion, claims_orders
from .figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]
CLAIMS = claims_motion.CLAIMS + claims_orders.CLAIMS
