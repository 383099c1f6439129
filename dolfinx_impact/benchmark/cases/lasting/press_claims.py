"""Claims on the press fit: work, stored energy, depth at large steps, at velocity level and explicitly."""

from __future__ import annotations

from ...claim import Measured, Run, Runs, above, below, equal, row, table
from . import press_fit as fit
from .press_figures import FIGURES as FIGURES

FIT, PAPER = "press-fit", "ours, beside a program of its own"
MJ, ALPHA, STATIC, CD = "moreau-jean", "generalized-alpha", "static", "cd-lagrange"
#: Settings of two runs of each scheme.
LARGE: dict[str, dict[str, dict[str, float]]] = {
    **{name: {f"{c} critical": {"courant": c} for c in (20, 100)} for name in (MJ, ALPHA)},
    STATIC: {f"{n} steps": {"steps": n} for n in (60, 15)},
}
#: Cells of a slot twice as fine.
FINE = {"columns": 8, "rows": 24}


def _several(runs: Runs, scheme: str) -> dict[str, Run]:
    return {words: runs(FIT, scheme, **how) for words, how in LARGE[scheme].items()}


def work(runs: Runs, scheme: str) -> dict[str, float]:
    """Work over that of the independent program."""
    return {words: run.results["work"] / fit.WORK for words, run in _several(runs, scheme).items()}


def stored(runs: Runs, scheme: str) -> dict[str, float]:
    """Stored energy over that of the independent program."""
    return {words: run.results["stored_energy"] / fit.STORED for words, run in _several(runs, scheme).items()}


def depth(runs: Runs, scheme: str) -> dict[str, float]:
    """Largest depth [m]."""
    return {words: run.results["depth"] for words, run in _several(runs, scheme).items()}


def velocity_level(runs: Runs) -> Measured:
    """Depth without the position problem over the interference, at 100 critical steps."""
    found = runs(FIT, MJ, courant=100, position="false").results
    words = f"the work is {found['work']:.1f} J, the stored energy {found['stored_energy']:.2f} J"
    return Measured(found["depth"] / 1e-4, note=words)


def explicit(runs: Runs) -> Measured:
    """How much work an explicit run misses at 0.2 critical steps, relative."""
    found = runs(FIT, CD).results
    return Measured(1 - found["work"] / fit.WORK, note=f"{1e6 * found['depth']:.2g} um are inside")


def slot_work(runs: Runs) -> float:
    """Work in the slot over that to which explicit runs tend."""
    return float(runs(FIT, MJ, wall="slot", courant=100).results["work"]) / fit.SLOT_WORK


def slot_depth(runs: Runs) -> Measured:
    """Depth in the slot of fine cells over that of coarse ones."""
    coarse, fine = (runs(FIT, STATIC, wall="slot", **cells).results["depth"] for cells in ({}, FINE))
    return Measured(fine / coarse, note=f"{1e6 * coarse:.2g} and {1e6 * fine:.2g} um")


_SIDES = "4 x 12 cells, rigid wall"
_SLOT = "8 x 12 and 6 x 10 cells, elastic slot"

CLAIMS = table(FIT, PAPER, [
    row("work", _SIDES, "At any step the work is that of refined ones.",
        work, equal(1.0, fit.WORK_WITHIN), "over 218.5 J, by trapezoid", per=tuple(LARGE)),
    row("stored", _SIDES, "So is the stored energy: no interference is lost.",
        stored, equal(1.0, fit.STORED_WITHIN), "over 14.75 J", per=tuple(LARGE)),
    row("depth", _SIDES, "Nothing is in the wall.",
        depth, below(fit.NOTHING_INSIDE), "largest depth [m]; limit: round-off", per=tuple(LARGE)),
    row("velocity-level", _SIDES, "Contact at velocity level keeps what the first touch left inside",
        velocity_level, above(0.25), "depth over the interference at 100 critical steps, theta = 1"),
    row("explicit", _SIDES, "An explicit run is still off at 0.2 critical steps",
        explicit, above(0.01), "work that is missing, relative"),
    row("slot-work", _SLOT, "In an elastic slot the work is that of small explicit steps",
        slot_work, equal(1.0, fit.SLOT_WITHIN), "at 100 critical steps, over 183.72 J: a computed solution, "
        "CD-Lagrange at 0.2, 0.1 and 0.05 critical steps, extrapolated"),
    row("slot-depth", _SLOT, "Nodes in foreign cells are those of the mesh: their depth falls with it",
        slot_depth, below(0.8), "depth on a mesh twice as fine over this one"),
], prefix="press-fit-")  # fmt: skip
