"""The two bars: the operations of a step of CD-Lagrange, Fekak et al. (2017), Sects. 2.3, 4, Algorithm 2."""

from __future__ import annotations

import numpy as np

from ....integrators import find_scheme
from ...claim import FEKAK, Measured, below, equal, row, table
from ...effort import Effort, effort
from ...runs import Runs
from . import case
from .measures import BAR, CASE, CD, MJ, meeting, motion

_ADVANTAGES = "Sect. 4; Algorithm 2"


def _effort(runs: Runs) -> Effort:
    """Of every step of the run: flight, impact, contact, release."""
    run = runs(CASE, CD)
    return effort(case.make(runs.scheme(CD), run.summary["parameters"]).integrator, run.summary["steps"])


def _detections(runs: Runs) -> Measured:
    run, made = runs(CASE, CD), _effort(runs)
    late = (run.results["contact_start"] - BAR.contact_start) / run.results["h"]
    note = f"Contact begins {late:.2f} steps after the exact impact"
    return Measured(int(made.contacts.max()), holds=int(made.contacts.min()) == 1, note=note)


def _iterations(runs: Runs) -> Measured:
    made = _effort(runs)
    solved, pushed = int(made.systems.sum()), int(made.pressed.sum())
    note = f"{solved} linear systems in {len(made.forces)} steps, {pushed} with an impulse"
    return Measured(int(made.forces.max()), holds=solved == 0 and pushed > 0, note=note)


def _numbers(runs: Runs) -> int:
    """The numerical parameters of the scheme; choices in words are none."""
    runs(CASE, CD)
    return sum(isinstance(o.default, float) for o in find_scheme(runs.scheme(CD)).parameters.values())


def _others_change(runs: Runs, scheme: str) -> float:
    moved, k = motion(runs, scheme), meeting(runs(CASE, scheme))
    change, tip = np.abs(moved.v[k] - moved.v[k - 1]), moved.x <= 1e-9
    return float(change[~tip].max() / change[tip].max())


def _constraints(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    opening, impulse = -run["v"].sum(axis=1) / (2 * BAR.v0), run["r"][:, 0]
    closed = run["gap"][:, 0] <= run.summary["parameters"]["gap_tolerance"]
    off = {
        "closing velocities": np.max(-opening[closed], initial=0.0),
        "negative impulses": np.max(-impulse) / (np.ptp(impulse) or 1.0),
        "opening under impulses": np.max(np.abs(opening) * (impulse > 0)),
        "impulses at open gaps": float(np.any(impulse[~closed] != 0)),
    }
    return Measured(max(off.values()), holds=np.count_nonzero(impulse) > 1)


CLAIMS = table(CASE, FEKAK, [
    row("no-detection", _ADVANTAGES, "Events are not detected.",
        _detections, equal(1, 0), "evaluations of the gap in a step, with impact and release"),
    row("no-iteration", _ADVANTAGES, "Equilibrium and contact take no iteration.",
        _iterations, equal(1, 0), "largest number of evaluations of the forces in a step"),
    row("no-parameters", _ADVANTAGES, "The scheme has no numerical parameters of its own.",
        _numbers, equal(0, 0), "number of numerical parameters besides those of the case"),
    row("diagonal", "Sect. 2.3.2, (49)",
        "H is diagonal, as the mass is lumped and the meshes match: no system is solved for the impulses.",
        lambda runs: Measured(_others_change(runs, CD), note=f"{MJ}: {_others_change(runs, MJ):.2f}"),
        below(1e-12), "largest change of velocity of other nodes over the tip's at the impact"),
    row("constraints", "Sect. 2.3.2, (47)",
        "Closed gaps have v >= 0, lambda >= 0 and v lambda = 0 after the step, exactly.",
        _constraints, below(1e-12), "largest violation, velocities over 2 v0; limit: rounding"),
], prefix="fekak-bars-")  # fmt: skip
