"""The bridge crane of Fekak et al. (2017), Sect. 3.2: all claims and figures."""

from ...claim import Claim
from . import claims_contact as crane_contact
from . import claims_energy as crane_energy
from . import claims_motion as crane_motion
from .figures import FIGURES
from .measures import REPORT, Shaking

__all__ = ["CLAIMS", "FIGURES", "claims"]


def claims(shaking: Shaking) -> tuple[Claim, ...]:
    """All claims, decided by runs with one shaking."""
    parts = crane_motion, crane_contact, crane_energy
    return tuple(claim for part in parts for claim in part.says.claims(shaking))


CLAIMS: tuple[Claim, ...] = claims(REPORT)
