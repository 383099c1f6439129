"""The bar on rigid ground: what Doyen, Ern and Piperno (2011) say of it."""

from . import claims_exact, claims_newmark, claims_others
from .figures import FIGURES

__all__ = ["CLAIMS", "FIGURES"]

#: Of Sects. 2 to 4.
EXACT = claims_newmark.CLAIMS + claims_exact.CLAIMS
#: Of Sects. 5 to 7.
OTHERS = claims_others.CLAIMS
CLAIMS = EXACT + OTHERS
