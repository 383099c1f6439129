"""What papers say of every case, and known answers, decided by runs; and figures, drawn again."""

from . import arch, ball, bar, crane, hati, known, oscillator, signorini, spring, two_bars
from .claim import Claim, Figure, Finding

__all__ = ["CLAIMS", "FIGURES", "Claim", "Figure", "Finding"]

_MODULES = (ball, oscillator, spring, bar, arch, signorini, two_bars, hati, crane, known)
#: All claims, case by case.
CLAIMS: tuple[Claim, ...] = tuple(claim for module in _MODULES for claim in module.CLAIMS)
#: All figures, case by case.
FIGURES: tuple[Figure, ...] = tuple(figure for module in _MODULES for figure in module.FIGURES)
