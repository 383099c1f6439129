"""The impacting bar: all claims and figures."""

from ...claim import Claim
from . import claims_combined as bar_combined
from . import claims_oscillations as bar_oscillations
from . import claims_schemes as bar_schemes
from .figures import FIGURES
from .measures import DISSIPATIVE, FORECASTS, TchamwaWielgosz

__all__ = ["CLAIMS", "DISSIPATIVE", "FIGURES", "FORECASTS", "TchamwaWielgosz"]

CLAIMS: tuple[Claim, ...] = (*bar_schemes.CLAIMS, *bar_oscillations.CLAIMS, *bar_combined.CLAIMS)
