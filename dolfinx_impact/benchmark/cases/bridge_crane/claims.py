"""The bridge crane of Fekak et al. (2017), Sect. 3.2: all claims and figures."""

from ...claim import FEKAK, Claim, table
from . import claims_energy, claims_motion
from .figures import FIGURES
from .measures import CASE, REPORT, Shaking

__all__ = ["CLAIMS", "FIGURES", "claims"]


def claims(shaking: Shaking) -> tuple[Claim, ...]:
    """All claims, decided by runs with one shaking."""
    rows = [*claims_motion.ROWS, *claims_energy.ROWS]
    return table(CASE, FEKAK, [row(s=shaking) for row in rows], prefix="fekak-crane-")


CLAIMS = claims(REPORT)
