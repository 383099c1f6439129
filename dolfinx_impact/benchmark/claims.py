"""Claims of papers on every case, and known answers, decided by runs; and figures, drawn again."""

from .cases.bouncing_ball import claims as ball
from .cases.bridge_crane import claims as crane
from .cases.discrete_arch import claims as arch
from .cases.experiments import sphere_claims, sphere_figures, taylor_claims, taylor_figures
from .cases.general_contact import claims as general
from .cases.general_contact import figures as general_figures
from .cases.impacting_bar import claims as bar
from .cases.lasting import press_claims, theory_claims, theory_figures
from .cases.materials import claims as soft
from .cases.materials import figures as soft_figures
from .cases.plane_block import claims as plane
from .cases.rotating_spring import claims as spring
from .cases.signorini import claims as signorini
from .cases.solid_crane import figures as solid_crane_figures
from .cases.solids import claims as known
from .cases.solids import figures as known_figures
from .cases.split_bar import claims as hati
from .cases.surfaces import claims as colliding
from .cases.surfaces import figures as colliding_figures
from .cases.two_bars import claims as two_bars
from .cases.van_der_pol import claims as oscillator
from .claim import Claim, Figure
from .verdict import Verdict
from .work_precision.figures import FIGURES as WORK_PRECISION

__all__ = ["CLAIMS", "FIGURES", "Claim", "Figure", "Verdict"]

#: Modules with claims and figures.
_BOTH = (ball, oscillator, spring, bar, arch, signorini, plane, two_bars, hati, crane)
_CLAIMED = (
    *_BOTH,
    known,
    colliding,
    soft,
    sphere_claims,
    taylor_claims,
    press_claims,
    theory_claims,
    general,
)
_DRAWN = (
    *(*_BOTH, solid_crane_figures, known_figures, colliding_figures),
    *(soft_figures, taylor_figures, sphere_figures, press_claims, theory_figures, general_figures),
)
#: All claims, case by case.
CLAIMS: tuple[Claim, ...] = tuple(claim for module in _CLAIMED for claim in module.CLAIMS)
#: All figures, case by case.
FIGURES: tuple[Figure, ...] = (*(figure for module in _DRAWN for figure in module.FIGURES), *WORK_PRECISION)
