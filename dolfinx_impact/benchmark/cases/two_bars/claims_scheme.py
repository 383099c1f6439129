"""The two bars: what a step of CD-Lagrange takes, Fekak et al. (2017), Sects. 2.3, 4 and Algorithm 2."""

from __future__ import annotations

import numpy as np

from ....integrators import find_scheme
from ...claim import Claim
from ...effort import Effort, effort
from ...runs import Runs
from ...verdict import Verdict, also
from . import case
from .measures import BAR, CASE, CD, MJ, Register, meeting, motion

_says = Register()
_ADVANTAGES = "Sect. 4; Algorithm 2"


def _effort(runs: Runs, scheme: str) -> Effort:
    """Of every step of the run: flight, impact, contact, release."""
    run = runs(CASE, scheme)
    integrator = case.make(runs.scheme(scheme), run.summary["parameters"]).integrator
    return effort(integrator, run.summary["steps"])


@_says("no-detection", _ADVANTAGES, "Events are not detected.")
def _no_detection(runs: Runs) -> Verdict:
    run, made = runs(CASE, CD), _effort(runs, CD)
    late = (run.results["contact_start"] - BAR.contact_start) / run.results["h"]
    why = (
        f"largest number of evaluations of the gap in a step, {len(made.contacts)} steps of one length with "
        f"impact and release; contact begins {late:.2f} steps after the exact impact"
    )
    return also(int(made.contacts.min()) == 1, Verdict.equal(why, int(made.contacts.max()), 1, 0))


@_says("no-iteration", _ADVANTAGES, "Equilibrium and contact take no iteration.")
def _no_iteration(runs: Runs) -> Verdict:
    made = _effort(runs, CD)
    why = (
        f"largest number of evaluations of the forces in a step; {int(made.systems.sum())} linear systems "
        f"are made in {len(made.forces)} steps, {int(made.pressed.sum())} of them with an impulse"
    )
    exact = int(made.systems.sum()) == 0 and bool(made.pressed.any())
    return also(exact, Verdict.equal(why, int(made.forces.max()), 1, 0))


def _numbers(scheme: str) -> list[str]:
    """The numerical parameters of a scheme; choices in words are none."""
    options = find_scheme(scheme).parameters
    return [name for name, option in options.items() if isinstance(option.default, float)]


@_says("no-parameters", _ADVANTAGES, "The scheme has no numerical parameters of its own.")
def _no_parameters(runs: Runs) -> Verdict:
    runs(CASE, CD)
    why = "number of numerical parameters besides those of the case; moreau-jean has "
    f"{', '.join(_numbers(MJ))}"
    return Verdict.equal(why, len(_numbers(runs.scheme(CD))), 0, 0)


@_says(
    "diagonal",
    "Sect. 2.3.2, (49)",
    "H is diagonal, as the mass is lumped and the meshes match: no system is solved for the impulses.",
)
def _diagonal(runs: Runs) -> Verdict:
    run, moved = runs(CASE, CD), motion(runs, CD)
    k = meeting(run)
    change = np.abs(moved.v[k] - moved.v[k - 1])
    others = change[moved.x > 1e-9].max() / change[moved.x <= 1e-9].max()
    other = motion(runs, MJ)
    k = meeting(runs(CASE, MJ))
    spread = np.abs(other.v[k] - other.v[k - 1])
    shared = spread[other.x > 1e-9].max() / spread[other.x <= 1e-9].max()
    why = (
        "largest change of velocity of the other nodes over that of the tip in the step of the impact, "
        "before which no force acts: an impulse moves the nodes it acts on alone; limit: rounding. With "
        f"moreau-jean it is {shared:.2f}"
    )
    return Verdict.below(why, float(others), 1e-12)


@_says(
    "constraints",
    "Sect. 2.3.2, (47)",
    "Closed gaps have v >= 0, lambda >= 0 and v lambda = 0 after the step, exactly.",
)
def _constraints(runs: Runs) -> Verdict:
    run = runs(CASE, CD)
    opening = -run["v"].sum(axis=1) / (2 * BAR.v0)
    impulse = run["r"][:, 0]
    closed = run["gap"][:, 0] <= run.summary["parameters"]["gap_tolerance"]
    pushed = int(np.count_nonzero(impulse))
    off = np.max(
        [
            np.max(-opening[closed], initial=0.0),
            np.max(-impulse) / (np.ptp(impulse) or 1.0),
            np.max(np.abs(opening) * (impulse > 0)),
            float(np.any(impulse[~closed] != 0)),
        ]
    )
    why = (
        "largest closing velocity of a closed gap over 2 v0, opening one while an impulse acts, and negative "
        f"impulse; limit: rounding. {pushed} steps have an impulse"
    )
    return also(pushed > 1, Verdict.below(why, float(off), 1e-12))


CLAIMS: tuple[Claim, ...] = tuple(_says)
