"""Solids whose answer is known, beside theory, closed forms and what must be kept: all rows and figures."""

from ...claim import Claim
from . import claims_impacts as known_impacts
from . import claims_kept as known_kept
from .figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS: tuple[Claim, ...] = (*known_impacts.CLAIMS, *known_kept.CLAIMS)
