"""The Signorini bar: penalty, contact in velocity and modified mass, Doyen, Ern and Piperno (2011)."""

from ...claim import Claim
from . import claims_gibbs as signorini_gibbs
from . import claims_massless as signorini_massless
from . import claims_penalty as signorini_penalty
from . import claims_velocity as signorini_velocity
from .phases import DOYEN

__all__ = ["CLAIMS", "DOYEN"]

CLAIMS: tuple[Claim, ...] = (
    *signorini_penalty.CLAIMS,
    *signorini_velocity.CLAIMS,
    *signorini_massless.CLAIMS,
    *signorini_gibbs.CLAIMS,
)
