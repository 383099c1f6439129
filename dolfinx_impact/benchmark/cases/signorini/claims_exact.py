"""Doyen, Ern and Piperno (2011), Sects. 2 to 4: the formulas, the two benchmarks, exact contact.

Here are 4.4 to 4.8; what comes before is in :mod:`.claims_linear` and :mod:`.claims_newmark`.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import Claim
from ...convergence import order
from ...runs import FailedRun, Runs
from ...verdict import Verdict
from . import claims_linear as signorini_linear
from . import claims_newmark as signorini_newmark
from .measures import (
    BAR,
    BOUNCES,
    CORRECTED,
    DOYEN,
    ENERGY,
    FORCE,
    IMPACT,
    LARGE,
    PLACES,
    SPEED,
    Claims,
    balance_holds,
    bounces,
    force,
    in_contact,
    is_quiet,
    late_error,
    made,
    of,
    oscillates,
    phases,
    poor_energy,
    stability,
)

__all__ = ["CLAIMS", "DOYEN"]

_claims = Claims()
_says = _claims.says

# -- dissipative contact: 4.4, 4.5, 4.6


_says(
    "4.4-balance",
    "(50)",
    "Midpoint with implicit contact: E' - E is the work of r'.",
    scheme="dep-4.4",
    mean=False,
)(balance_holds)
_says(
    "4.5-balance",
    "(56)",
    "Newmark with dissipative contact: E' - E is the work of r'.",
    scheme="dep-4.5",
    mean=False,
)(balance_holds)


def _works(runs: Runs, scheme: str, **settings: Any) -> Verdict:
    work = []
    for run in phases(runs, scheme, **settings):
        work.append(float((force(run)[1:] * np.diff(run["gap"][:, 0])).max()) / ENERGY)
    why = f"largest work r' . dg of a step over the initial energy, {PLACES}; limit: rounding"
    return Verdict.below(why, max(0.0, *work), 1e-12)


_says("4.4-work", "Sect. 4.1", "4.4: the work of the contact force is never positive.", scheme="dep-4.4")(
    _works
)
_says(
    "4.5-bulk-work",
    "Sect. 4.1",
    "Newmark (1/2, 1) with exact contact: the work of the contact force is never positive.",
    scheme="dep-4.1",
    beta=0.5,
    gamma=1.0,
)(_works)


_says("4.4-force", "Sect. 4.1, Fig. 11", "4.4: the contact pressure still oscillates.", scheme="dep-4.4")(
    oscillates
)


def stresses(runs: Runs, scheme: str) -> NDArray:
    """RMS oscillation of (Ku)_0 and of the contact force over FORCE, away from the ends, nine phases."""
    s: Any = made(runs, scheme)
    found = []
    for k in range(9):
        s.start(SPEED * s.dt * (1 + k / 9), -SPEED)
        pull, still, samples = np.zeros(s.system.size), np.zeros(s.system.size), []
        while s.t < 2 * BAR.transit:
            s.step()
            s.system.force(s.t, s.u, still, pull)
            samples.append((-pull[s.contact.L.dofs[0, 0]], s.r[0] / s.dt))
        left = int(0.1 / s.dt)
        found.append(np.std(np.array(samples)[left:-left], axis=0) / FORCE)
    return np.array(found)


@_says(
    "4.4-stress", "Sect. 4.1, Fig. 11", "4.4: the stress at the bottom is practically free of oscillations."
)
def _stress(runs: Runs) -> Verdict:
    found = stresses(runs, "dep-4.4")
    stress, r = found.T
    why = (
        f"RMS oscillation of (Ku)_0 over E v0 / c, largest of {PLACES}; limit: a tenth of that of the "
        f"contact force, {r.mean():.2f} in the mean"
    )
    return Verdict.below(why, float(stress.max()), LARGE * float(r.mean()))


_says(
    "4.4-energy",
    "Sect. 4.1, Fig. 12",
    "4.4: the losses of energy are quite important.",
    BOUNCES,
    scheme="dep-4.4",
)(poor_energy)


@_says(
    "4.5-bulk-balance",
    "(55)",
    "Newmark (1/2, 1) with exact contact: E' - E is the work of r' less du.K du / 2.",
)
def _bulk_balance(runs: Runs) -> Verdict:
    s: Any = made(runs, "dep-4.1", beta=0.5, gamma=1.0)
    s.start(SPEED * s.dt * 4 / 3, -SPEED)
    balance, pull, still, worst = s.balance(), np.zeros(s.system.size), np.zeros(s.system.size), 0.0
    balance.start()
    had, before = balance.kinetic + balance.internal, s.u.copy()
    for _ in range(200):
        s.step()
        balance.step()
        moved = s.u - before
        s.system.force(s.t, moved, still, pull)
        kept = balance.kinetic + balance.internal
        work = float(s.r @ s.contact.L(moved)) / s.dt
        worst = max(worst, abs(kept - had - work - float(moved @ pull) / 2))
        had, before = kept, s.u.copy()
    why = "largest defect in a step over the initial energy, impact and rebound; limit: rounding"
    return Verdict.below(why, worst / ENERGY, 1e-11)


@_says("4.5-bulk", "Sect. 4.1", "Newmark (1/2, 1) with exact contact has a strong bulk dissipation.")
def _bulk(runs: Runs) -> Verdict:
    lost, by_contact = [], []
    for run in phases(runs, "dep-4.1", beta=0.5, gamma=1.0):
        by_contact.append(-float(force(run)[1:] @ np.diff(run["gap"][:, 0])) / ENERGY)
        lost.append(-run.results["energy_change_1"] - by_contact[-1])
    why = (
        f"part of the energy lost in the bulk in one impact, du.K du / 2 in (55), mean of {PLACES}; limit: "
        f"ten times what contact takes, {np.mean(by_contact):.4f}"
    )
    return Verdict.above(why, float(np.mean(lost)), 10 * float(np.mean(by_contact)))


def _same(runs: Runs, scheme: str, other: str) -> Verdict:
    apart = []
    for case in (IMPACT, BOUNCES):
        places = 9 if case == IMPACT else 1
        for one, two in zip(phases(runs, scheme, case, places), phases(runs, other, case, places)):
            if len(one["t"]) != len(two["t"]):
                raise FailedRun(f"{runs.scheme(scheme)} and {other} have other steps")
            apart.append(float(np.max(np.abs(one["u"] - two["u"]))) / BAR.h0)
    why = (
        f"largest difference of the bottom's displacement from {other} over h0, nine places of "
        "the impact, and four periods of bounces; limit: rounding, which the later impacts enlarge"
    )
    return Verdict.below(why, max(apart), 1e-8)


_says("4.5-same", "Sect. 4.1", "4.5 gives the results of 4.4.", BOUNCES, scheme="dep-4.5", other="dep-4.4")(
    _same
)


@_says(
    "4.4-velocity-update",
    "Sect. 4.1",
    "A velocity update in 4.4, which gives lost energy back, improves its long-time behaviour little.",
    BOUNCES,
)
def _update(runs: Runs) -> Verdict:
    plain = float(np.mean([late_error(run) for run in bounces(runs, "dep-4.4")]))
    found = bounces(runs, CORRECTED)
    updated = float(np.mean([late_error(run) for run in found]))
    changes = of(found, "energy_change_4")
    why = (
        "mean error in the fourth period with the update, over that without, "
        f"{updated:.2f} and {plain:.2f} of that of a bar at rest; limit: half. Energy changes by "
        f"{changes.min():+.2%} to {changes.max():+.2%} with it"
    )
    return Verdict.above(why, updated / plain, 0.5)


_says(
    "4.6-quiet",
    "Sect. 4.1, Fig. 13",
    "4.6: the contact pressure is almost free of oscillations.",
    scheme="dep-4.6",
)(is_quiet)


@_says("4.6-sum", "(67)", "4.6: in lasting contact both accelerations of the node cancel.")
def _cancel(runs: Runs) -> Verdict:
    s: Any = made(runs, "dep-4.6")
    dof, worst = s.contact.L.dofs[0, 0], 0.0
    for k in range(9):
        s.start(SPEED * s.dt * (1 + k / 9), -SPEED)
        before, touched = 0.0, 0
        while s.t < 2 * BAR.transit - 0.1:
            before = s.a[dof]
            s.step()
            push = s.r[0] / s.dt / s.system.mass[dof]
            touched = touched + 1 if push > 0 else 0
            if touched > 2:
                worst = max(worst, abs((before + s.a[dof]) / 2 + push) * s.system.mass[dof] / FORCE)
    why = f"sum of the mean elastic and the contact acceleration over that of E v0 / c, {PLACES}; rounding"
    return Verdict.below(why, worst, 1e-9)


@_says("4.6-cheap", "Sect. 4.1", "The additional step of 4.6 is cheap beside the main one.")
def _cheap(runs: Runs) -> Verdict:
    schemes = [made(runs, name, mass="lumped") for name in ("dep-4.5", "dep-4.6")]
    times: list[list[float]] = [[], []]
    for s in schemes:
        s.start(SPEED * s.dt, -SPEED)
    for _ in range(300):
        # In turns, so that what else the machine does meets both.
        for s, taken in zip(schemes, times):
            begun = perf_counter()
            s.step()
            taken.append(perf_counter() - begun)
    plain, full = (float(np.median(taken)) for taken in times)
    why = (
        f"time of a step of 4.6, {1e6 * full:.0f} us, over that of 4.5 with the same lumped mass, "
        f"{1e6 * plain:.0f} us, less 1, medians of 300 steps in turns; limit: half a step"
    )
    more = full / plain - 1
    return Verdict(why, more, 0.0, 0.5, bool(more <= 0.5))


# -- Sect. 4.2: semi-explicit schemes


@_says("4.7-acceleration", "(74)", "4.7: the acceleration at the contact boundary vanishes in contact.")
def _at_rest(runs: Runs) -> Verdict:
    found = [float(np.max(np.abs(np.diff(run["v"][in_contact(run), 0])))) for run in phases(runs, "dep-4.7")]
    why = f"largest change of the node's velocity in a step of the contact over v_i, {PLACES}; rounding"
    return Verdict.below(why, max(found) / SPEED, 1e-11)


_says("4.7-quiet", "Sect. 4.2, Fig. 15", "4.7: there are no spurious oscillations.", scheme="dep-4.7")(
    is_quiet
)
_says(
    "4.7-balance",
    "(75)",
    "4.7: the quadratic form changes by the work of the mean contact force.",
    scheme="dep-4.7",
    mean=True,
    quasi=True,
)(balance_holds)
_says(
    "4.7-energy",
    "Sect. 4.2, Fig. 16",
    "4.7: the losses of energy are quite important.",
    BOUNCES,
    scheme="dep-4.7",
)(poor_energy)
_says(
    "4.7-stable",
    "Sect. 4.2",
    "4.7: the stability condition is the one of the linear case.",
    height=0.05,
    scheme="dep-4.7",
)(stability)


@_says("4.7-converges", "Sect. 4.2", "In 1D 4.7 converges to the continuous solution.")
def _converges(runs: Runs) -> Verdict:
    found = [runs(IMPACT, "dep-4.7", elements=n, courant=0.75) for n in (25, 50, 100, 200)]
    errors = of(found, "error_u")
    why = (
        f"order in h of the error (35) of the bottom, {errors[0]:.2g} to {errors[-1]:.2g} with 25 to 200 "
        "elements; limit: half an order, the solution has a shock"
    )
    return Verdict.above(why, order(of(found, "h"), errors), 0.5)


@_says("4.7-semi-discrete", "Sect. 4.2", "As the step falls, 4.7 converges to a solution of the mesh.")
def _semi_discrete(runs: Runs) -> Verdict:
    found = [runs(IMPACT, "dep-4.7", h=0.0025 / k, every=k) for k in (1, 2, 4, 8)]
    last = min(len(run["t"]) for run in found)
    apart = [
        float(np.mean(np.abs(np.diff([run["u"][:last, 0] for run in pair], axis=0))))
        / (SPEED * pair[0].results["h"])
        for pair in zip(found, found[1:])
    ]
    why = (
        "mean change of the bottom's displacement as h is halved, over h v0, "
        + ", ".join(f"{x:.2g}" for x in apart)
        + "; limit: an impact a step earlier or later makes 1"
    )
    return Verdict.below(why, max(apart), 1.0)


_says(
    "4.8-same",
    "Sect. 4.2",
    "4.8 is equivalent to 4.7 where the mass matrix is diagonal.",
    BOUNCES,
    scheme="dep-4.8",
    other="dep-4.7",
)(_same)

CLAIMS: tuple[Claim, ...] = (*signorini_linear.CLAIMS, *signorini_newmark.CLAIMS, *_claims)
