"""The bar on rigid ground: what Doyen, Ern and Piperno (2011) say of it."""

from __future__ import annotations

from . import signorini_exact, signorini_others
from .claim import Claim
from .signorini_figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS: tuple[Claim, ...] = (*signorini_exact.CLAIMS, *signorini_others.CLAIMS)
