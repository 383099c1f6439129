"""The Signorini bar: penalty, contact in velocity and modified mass, Doyen, Ern and Piperno (2011)."""

from . import signorini_gibbs, signorini_massless, signorini_penalty, signorini_velocity
from .claim import Claim
from .signorini_phases import DOYEN

__all__ = ["CLAIMS", "DOYEN"]

CLAIMS: tuple[Claim, ...] = (
    *signorini_penalty.CLAIMS,
    *signorini_velocity.CLAIMS,
    *signorini_massless.CLAIMS,
    *signorini_gibbs.CLAIMS,
)
