"""The impacting bar: all claims and figures."""

from . import bar_combined, bar_oscillations, bar_schemes
from .bar_figures import FIGURES
from .bar_measures import DISSIPATIVE, FORECASTS, TchamwaWielgosz
from .claim import Claim

__all__ = ["CLAIMS", "DISSIPATIVE", "FIGURES", "FORECASTS", "TchamwaWielgosz"]

CLAIMS: tuple[Claim, ...] = (*bar_schemes.CLAIMS, *bar_oscillations.CLAIMS, *bar_combined.CLAIMS)
