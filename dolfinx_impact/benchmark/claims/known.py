"""Solids whose answer is known, beside theory, closed forms and what must be kept: all rows and figures."""

from . import known_impacts, known_kept
from .claim import Claim
from .known_figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS: tuple[Claim, ...] = (*known_impacts.CLAIMS, *known_kept.CLAIMS)
