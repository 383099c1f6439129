"""HATI on the split bar: what Fekak et al. (2017), Sects. 1, 2.2 to 2.5 and Appendix 2.2, say of it."""

from __future__ import annotations

import numpy as np

from ...claim import Claim, Figure
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict, also
from .measures import (
    CASE,
    CD,
    COURANT,
    FINE,
    LINE,
    OTHERS,
    RATIOS,
    SCHEME,
    TOTAL,
    V0,
    Register,
    energy,
    fine_jump,
    made,
    residual_as_printed,
    solves,
    taken,
)

__all__ = ["CLAIMS", "FIGURES"]

_says = Register()
_SHOWN = ", ".join(map(str, RATIOS))


@_says(
    "continuity",
    "Sects. 1, 2.4.1, (59)",
    "Velocities are continuous at the interface at the fine time scale.",
)
def _continuity(runs: Runs) -> Verdict:
    coarse = max(runs(CASE, SCHEME, ratio=m, courant=COURANT).results["velocity_jump"] for m in RATIOS)
    fine = {m: fine_jump(runs, m) for m in RATIOS}
    why = (
        "largest difference of the velocities of both copies of the interface over v0, in all fine steps "
        f"of an impact, m = {_SHOWN}; at coarse times alone it is {coarse / V0:.1g} v0; limit: rounding"
    )
    return Verdict.below(why, max(*fine.values(), coarse / V0), 1e-12)


@_says("glued", "Sect. 2.2, (23)", "The interface forces glue the subdomains to each other.")
def _glued(runs: Runs) -> Verdict:
    run = runs(CASE, SCHEME, ratio=10, courant=FINE)
    apart = float(np.abs(run["u"][:, 1] - run["u"][:, 2]).max() / np.abs(run["u"][:, 1]).max())
    far = runs(CASE, SCHEME, ratio=100, courant=COURANT)
    drift = float(np.abs(far["u"][:, 1] - far["u"][:, 2]).max() / np.abs(far["u"][:, 1]).max())
    why = (
        "largest difference of the displacements of both copies of the interface over the largest "
        f"displacement, m = 10, courant {FINE}; limit: {LINE}. Velocities are made equal, displacements "
        f"are not: each side integrates them in its own way, and with m = 100, courant {COURANT} they "
        f"drift {drift:.2g} apart"
    )
    return Verdict.below(why, apart, LINE)


@_says(
    "free-velocity",
    "Sect. 2.5, (74)",
    "The free velocity of the implicit side is linear between coarse times: that couples the sides.",
)
def _free_velocity(runs: Runs) -> Verdict:
    whole = runs(CASE, CD, courant=FINE).results["energy_lost"]
    lost, otherwise = (
        runs(CASE, scheme, ratio=10, courant=FINE).results["energy_lost"] - whole
        for scheme in (SCHEME, TOTAL)
    )
    why = (
        "energy that the divided bar loses more than the undivided one, over the initial one, m = 10, "
        f"courant {FINE}; limit: {LINE}. What is linear is the free velocity of the coarse step before and "
        "of this one; with the total velocity at the beginning, another reading, velocities are continuous "
        f"and the balance closes too, but it loses {otherwise:.2g} of the energy"
    )
    return Verdict.below(why, lost, LINE)


@_says(
    "solves",
    "Sect. 2.5, Algorithm 1",
    "A coarse step takes one free and one constrained problem on the implicit part, fine steps none.",
)
def _solves(runs: Runs) -> Verdict:
    found = [count for m in (1, 10, 100) for count in solves(runs, m, 3)]
    why = "largest number of linear systems of the implicit part in a coarse step, m = 1, 10 and 100"
    return also(min(found) == 2, Verdict.equal(why, max(found), 2, 0))


@_says("stable", "Sects. 1, 2.4", "The method is stable.")
def _stable(runs: Runs) -> Verdict:
    most = {}
    for m in (1, 10, 100, 500):
        run = runs(CASE, SCHEME, load="pulse", ratio=m, courant=COURANT, t_end=1e-2)
        most[m] = float(energy(run).max() / run["external"].max())
    why = (
        "largest energy of the free bar over the largest work of the pulse that pushed it, in 10 ms, ten "
        f"times the pulse, m = 1, 10, 100, 500, courant {COURANT}; limit: 1.01. It is "
        + ", ".join(f"{value:.4g} (m = {m})" for m, value in most.items())
    )
    return Verdict.below(why, max(most.values()), 1.01)


@_says(
    "ratio-controls",
    "Sect. 2.4",
    "The ratio m controls the energy dissipated at the interface (an impact on the bar).",
)
def _controls(runs: Runs) -> Verdict:
    found = [-taken(runs(CASE, SCHEME, ratio=m, courant=FINE)) for m in RATIOS]
    shown = ", ".join(f"{x:.2g}" for x in found)
    why = (
        f"smallest growth of what the interface takes, from one of m = {_SHOWN} to the next, courant {FINE}: "
        f"{shown} of the energy; limit: 1.5. At courant {COURANT}, m = 100, it takes "
        f"{-taken(runs(CASE, SCHEME, ratio=100, courant=COURANT)):.2g}: the coarse step is then as long as "
        "the impact"
    )
    growth = [b / a if a > 0 else 0.0 for a, b in zip(found, found[1:])]
    return Verdict.above(why, min(growth), 1.5)


@_says(
    "equal-steps",
    "Sect. 2.4",
    "Energy is dissipated at the interface only when time scales differ (taken as: (93) is zero for m = 1).",
)
def _equal(runs: Runs) -> Verdict:
    run = runs(CASE, SCHEME, ratio=1, courant=COURANT)
    defect = run.results.get("interface_formula_gap")
    why = (
        f"interface energy with m = 1 over the largest energy, courant {COURANT}; limit: rounding. What "
        "vanishes is a pseudo-energy; (93) is -(dt/4) sum [L_E W] . <Lambda> then, here to "
        f"{abs(defect or 0.0):.1g} of the energy"
    )
    return Verdict.below(why, taken(run), 1e-12)


@_says(
    "equal-steps-order",
    "Sect. 2.4",
    "Energy is dissipated at the interface only when time scales differ (taken as: with m = 1 it falls as "
    "the step squared).",
)
def _equal_order(runs: Runs) -> Verdict:
    courants = (0.4, 0.2, FINE)
    found = [abs(taken(runs(CASE, SCHEME, ratio=1, courant=c))) for c in courants]
    shown = ", ".join(f"{x:.2g}" for x in found)
    why = (
        f"order in the step of the interface energy with m = 1, {shown} of the energy at courant "
        f"{', '.join(map(str, courants))}; theory: 2, as each fine step leaves a term of its cube; "
        "tolerance: 0.2"
    )
    return Verdict.equal(why, order(courants, np.maximum(found, 1e-16)), 2.0, 0.2)


@_says("balance", "Appendix 2.2, (91)", "The discrete energy balance of the coupled parts is closed.")
def _balance(runs: Runs) -> Verdict:
    found = {m: runs(CASE, SCHEME, ratio=m, courant=COURANT).results["balance_residual"] for m in RATIOS}
    why = (
        "largest residual of (91) over the largest energy in all coarse steps, m = "
        f"{_SHOWN}, with the mean of the multipliers in the interface energy (93); limit: rounding"
    )
    return Verdict.below(why, max(found.values()), 1e-11)


@_says(
    "balance-printed",
    "Appendix 2.2, (93)",
    "The balance is closed with the increments of the multipliers in the interface energy, as printed.",
)
def _printed(runs: Runs) -> Verdict:
    found = max(residual_as_printed(runs, m) for m in (1, 10))
    why = (
        f"largest residual of (91) over the largest energy, m = 1 and 10, courant {COURANT}, if (93) has the "
        "increments of the multipliers; limit: rounding. An increment times a displacement is no work: their "
        "mean is meant, see the claim above"
    )
    return Verdict.below(why, found, 1e-11)


@_says(
    "convergence",
    "Sect. 3.2; Abstract",
    "HATI agrees with the fine explicit computation (taken as: the nearer, the smaller m).",
)
def _convergence(runs: Runs) -> Verdict:
    found = [runs(CASE, SCHEME, ratio=m, courant=FINE).results for m in RATIOS]
    shown = ", ".join(f"{r['error_u']:.2g}" for r in found)
    speeds = ", ".join(f"{r['error_v']:.2g}" for r in found)
    grows = order(RATIOS, [max(r["error_u"], 1e-16) for r in found])
    rises = all(a["error_v"] < b["error_v"] for a, b in zip(found, found[1:]))
    why = (
        "order in m of the error of the tip's displacement against the undivided explicit bar, norm (94), "
        f"{shown} for m = {_SHOWN}, courant {FINE}; limit: one. The velocity, which has the "
        f"jump, is {speeds} off"
    )
    return also(rises, Verdict.above(why, grows, 1.0))


@_says("fine-contact", "Sects. 2.4.1, (56); 4", "Contact is integrated with the fine step.")
def _fine_contact(runs: Runs) -> Verdict:
    whole = runs(CASE, CD, courant=FINE).results["contact_start"]
    run = runs(CASE, SCHEME, ratio=100, courant=FINE)
    late = (run.results["contact_start"] - whole) / run.results["h"]
    why = (
        "time of the impact less that of the undivided explicit bar, over the fine step, m = 100; limit: a "
        "fine step. The coarse one has a hundred of them"
    )
    return Verdict.below(why, late, 1.0)


@_says(
    "fast-phenomena",
    "Abstract; Sect. 1",
    "The fine explicit part reproduces the fast phenomena at the contact.",
)
def _fast(runs: Runs) -> Verdict:
    whole = runs(CASE, CD, courant=FINE).results["first_impulse"]
    off = [runs(CASE, SCHEME, ratio=m, courant=FINE).results["first_impulse"] / whole - 1 for m in RATIOS]
    why = (
        "impulse of the impact over that of the undivided explicit bar, less 1, "
        f"m = {_SHOWN}; the largest decides, limit: rounding. It is the momentum of the tip's node whatever "
        "m is"
    )
    return Verdict.below(why, max(off, key=abs), 1e-9)


@_says(
    "slow-phenomena", "Abstract; Sect. 1", "The coarse implicit part reproduces the slow phenomena elsewhere."
)
def _slow(runs: Runs) -> Verdict:
    run, longer = (
        runs(CASE, SCHEME, load="pulse", ratio=m, courant=c).results for m, c in ((500, FINE), (100, COURANT))
    )
    why = (
        "error of the tip's displacement against the undivided explicit bar under a pulse of 1 ms, norm "
        f"(94), with twenty coarse steps in it, 40 times the critical explicit one; limit: {LINE}. The "
        f"velocity is {run['error_v']:.2g} off; with ten coarse steps in the pulse the displacement is "
        f"{longer['error_u']:.2g} off"
    )
    return also(run["error_v"] < LINE, Verdict.below(why, run["error_u"], LINE))


@_says(
    "any-newmark",
    "Sect. 1",
    "Any Newmark integrators can be coupled, each with its own time scale (three others).",
)
def _any(runs: Runs) -> Verdict:
    found = {kind: [runs(CASE, kind, ratio=m, courant=FINE).results for m in (10, 2)] for kind in OTHERS}
    worst = max(near["error_u"] / far["error_u"] for far, near in found.values())
    jump = max(r["velocity_jump"] for each in found.values() for r in each) / V0
    usual = runs(CASE, SCHEME, ratio=10, courant=FINE).results["error_u"]
    shown = ", ".join(f"{far['error_u']:.2g} with {OTHERS[kind]}" for kind, (far, _) in found.items())
    why = (
        "error of the tip's displacement against the undivided explicit bar, norm (94), with m = 2 over "
        f"that with m = 10, the coarse side with other constants (beta, gamma), courant {FINE}; the "
        f"largest decides, limit: a half. With m = 10 it is {shown}, and {usual:.2g} with (1/4, 1/2). The "
        f"velocities at the interface differ by {jump:.1g} v0 at most"
    )
    return also(jump < 1e-12, Verdict.below(why, worst, 0.5))


@_says(
    "explicit-limit", "Sect. 2.2; Sect. 3.2", "The fine step has to suit the mesh of the explicit part alone."
)
def _limit(runs: Runs) -> Verdict:
    run = runs(CASE, SCHEME, ratio=10, courant=COURANT)
    integrator = made(runs, ratio=10, courant=COURANT)
    limit = integrator.coarse.system.critical_time_step()
    grown = float(energy(run).max() / energy(run)[0])
    why = (
        "largest energy over the initial one with a coarse step of "
        f"{integrator.dt / limit:.2g} times the critical explicit one of the implicit part; limit: 1 but for "
        "rounding"
    )
    return also(integrator.dt > 2 * limit, Verdict.below(why, grown, 1 + 1e-9))


@_says(
    "other-methods",
    "Sect. 1",
    "BGC-micro is the GC method for Newmark schemes; BGC-macro has no pseudo-energy there.",
)
def _others(runs: Runs) -> Verdict:
    return Verdict.undecided(
        "this compares methods of other papers, which the paper does not write down; the GC method, which it "
        "uses, is the one that runs here"
    )


CLAIMS: tuple[Claim, ...] = tuple(_says)
FIGURES: tuple[Figure, ...] = ()
