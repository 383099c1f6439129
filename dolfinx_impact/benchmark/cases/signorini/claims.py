"""The bar on rigid ground: what Doyen, Ern and Piperno (2011) say of it."""

from __future__ import annotations

from ...claim import Claim
from . import claims_exact as signorini_exact
from . import claims_others as signorini_others
from .figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS: tuple[Claim, ...] = (*signorini_exact.CLAIMS, *signorini_others.CLAIMS)
