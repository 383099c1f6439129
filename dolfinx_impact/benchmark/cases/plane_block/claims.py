"""Claims on the plane block, class by class of Doyen, Ern and Piperno (2011); the benchmark is ours."""

from __future__ import annotations

from ...claim import above, below, equal, row, table
from . import measures as m
from .case import ALLOWED, PlaneBlock
from .figures import FIGURES as FIGURES
from .measures import BLOCK, FINEST, MASSLESS, PENALTY, REFINED, SINGULAR, SMOOTH, SPURIOUS, VELOCITY

#: The plane benchmark that the paper has could not be read.
PAPER = "ours, after Doyen, Ern, Piperno, SIAM J. Sci. Comput. 33 (2011)"
_CELLS = f"nu = 0.3, {', '.join(map(str, REFINED))} cells a unit of length"
_DEFAULT = "nu = 0.3, 8 cells a unit of length"

CLAIMS = table(BLOCK, PAPER, [
    row("bar", "nu = 0, 5 x 20 cells",
        "Without Poisson's ratio the block moves as the bar does",
        m.as_the_bar, below(1e-10), "largest difference over the largest value; on finer meshes schemes "
        "that gain energy amplify rounding, 4.1 to 3e-8 with 80 layers", per=PlaneBlock.schemes),
    row("reference", _DEFAULT,
        "The block rebounds, and its top sinks, as in an independent leapfrog",
        m.beside_reference, below(ALLOWED), "relative deviation; limit: what mesh and step may take here",
        per=PlaneBlock.schemes),
    row("oscillates", _DEFAULT,
        "Exact contact and an implicit formula: the block rebounds, and the pressure oscillates",
        m.oscillation, above(SPURIOUS), "variation of the force over that of a smooth one", per=m.EXACT),
    row("within", _DEFAULT,
        "With a penalty the top sinks as with exact contact, but for the penetration",
        m.within_penetration, below(1.0), "difference of the lowest places over the penetration",
        per=PENALTY),
    row("loss", _CELLS,
        "Contact in velocity takes an energy of the order of the cells",
        m.taken_by_contact, equal(1.0, 0.3), "order; the first impact takes that of the layer of nodes",
        per=VELOCITY),
    row("calm", _DEFAULT,
        "Without mass at the contact the pressure does not oscillate",
        m.variation, below(SMOOTH), "variation of the force over that of a smooth one", per=MASSLESS),
    row("least", _DEFAULT,
        "Of all schemes the singular mass has the smallest variation of the force",
        m.beside_smallest, below(1.0), "variation over the smallest", scheme=SINGULAR),
    row("keeps", _CELLS,
        "Without mass at the contact it takes hardly any energy",
        m.taken_at_once, below(0.1), "over what CD-Lagrange takes", per=MASSLESS),
    row("agrees", f"nu = 0.3, {FINEST} cells a unit of length",
        "CD-Lagrange and the singular mass agree",
        m.agreement, below(ALLOWED), "relative differences", scheme=SINGULAR),
], prefix="plane-")  # fmt: skip
