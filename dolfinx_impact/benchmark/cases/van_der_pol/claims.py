"""What is said of the Van der Pol oscillator against a wall: Di Stasio et al. (2019), CSMA (2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...claim import CSMA, DI_STASIO, Claim
from ...convergence import norm35, order
from ...runs import Runs
from ...verdict import Verdict
from . import case as van_der_pol
from .figures import figures
from .measures import (
    BOTH,
    CASE,
    CD,
    IMPLICIT,
    MJ,
    OMEGA,
    PAPER,
    X0,
    XI,
    Extent,
    errors,
    evaluations,
    impulses,
    limit_cycle,
    long_run,
    next_term,
    off_cycle,
    positions,
    ratio,
    scatter,
    short_run,
    start,
    truth,
)

#: Width of a printed line over that of its column: curves nearer than that look like one.
LINE = 1 / 200


def _each(found: Mapping[str, float], digits: str) -> str:
    return ", ".join(f"{scheme}: {value:{digits}}" for scheme, value in found.items())


def _linear(extent: Extent, runs: Runs) -> Verdict:
    xis, end = (0.02, 0.01, 0.005), 2 * np.pi / OMEGA
    far = []
    for xi in xis:
        run = runs(CASE, CD, xi=xi, wall="none", h=1e-2, t_end=end)
        phase = OMEGA * run["t"]
        far.append(norm35(run["u"][:, 0], np.cos(phase) + np.sin(phase) / OMEGA))
    return Verdict.equal(
        (
            "Order in xi of the distance from the linear oscillator over one of its periods, in norm (35): "
            f"{far[0]:.2g} for xi = {xis[0]}, {far[-1]:.2g} for {xis[-1]}, nothing left for xi = 0. The next "
            "term is smaller by xi omega0 t."
        ),
        order(xis, far),
        1.0,
        xis[0] * end,
    )


def _attracts(extent: Extent, runs: Runs) -> Verdict:
    h, starts = 5e-3, ((0.1, 0.0), (1.0, 1.0), (3.0, 0.0))
    made = [runs(CASE, CD, h=h, t_end=40.0, every=50, wall="none", x0=x0, v0=v0) for x0, v0 in starts]
    reach = [run.results["amplitude"] or 0.0 for run in made]
    return Verdict.below(
        (
            "Spread in m of the amplitudes of the last cycle in 40 s without wall, from two starts inside the "
            f"limit cycle and one outside: {', '.join(f'{a:.4f}' for a in reach)} m; the limit is what the "
            "state moves in a step. With the wall the first impact already leaves the same state as all later."
        ),
        max(reach) - min(reach),
        h * limit_cycle().fastest,
    )


def _lossy(extent: Extent, runs: Runs) -> Verdict:
    run = runs(CASE, MJ, theta=1.0, h=extent.lossy, t_end=extent.long, every=extent.every)
    return Verdict.above(
        (
            "Largest distance in m in (x, v/omega0) from the limit cycle, of Moreau-Jean with theta = 1, over "
            f"{run.results['cycles']} cycles at h = {extent.lossy:g} s; off it is farther than a state moves in "
            "a step. The cycle attracts: the velocity term feeds what a dissipative scheme loses."
        ),
        off_cycle(run),
        extent.lossy * limit_cycle().fastest,
    )


def _alike(extent: Extent, runs: Runs) -> Verdict:
    made = [short_run(extent, runs, scheme) for scheme in BOTH]
    impacts = [run["t"][run["r"].sum(axis=1) > 0] for run in made]
    both, end = min(map(len, impacts)), made[0]["t"][-1]
    lag = float(np.abs(impacts[0][:both] - impacts[1][:both]).max()) if both else end
    between = norm35(*(run["u"][:, 0] for run in made))
    return Verdict.below(
        (
            f"Largest lag in s between the impacts of both, {both} in {end:g} s; what is nearer than the width "
            f"of a printed line, {LINE:g} of the axis, looks like one curve. In norm (35) the positions differ "
            f"by {between:.2g}."
        ),
        lag,
        LINE * end,
    )


def _robust(extent: Extent, runs: Runs) -> Verdict:
    h = van_der_pol.PARAMETERS["h"].default
    found = {s: short_run(extent, runs, s).results for s in BOTH}
    deepest = max(r["penetration_max"] for r in found.values()) / (h * limit_cycle().jump)
    each = "; ".join(
        f"{s}: {r['impacts']} impacts, jumps up to {r['largest_jump']:.3f} m/s" for s, r in found.items()
    )
    return Verdict.below(
        (
            f"Deepest penetration of both over h times the impact speed: no more than a step's way, so the "
            f"first step behind the wall stops it ({each})."
        ),
        deepest,
        1.0 + next_term(h),
    )


def _jump(extent: Extent, runs: Runs) -> Verdict:
    cycle, found = limit_cycle(), {s: long_run(extent, runs, s).results["largest_jump"] for s in BOTH}
    worst = max(found.values(), key=lambda jump: abs(jump - cycle.jump))
    return Verdict.equal(
        (
            "Largest velocity jump in m/s, that of the scheme farther off ("
            + _each(found, ".4f")
            + "); it ends at rest, and what the velocity changes in a step is the tolerance."
        ),
        worst,
        cycle.jump,
        extent.h * cycle.fastest,
    )


def _cycles(extent: Extent, runs: Runs) -> Verdict:
    found = {s: long_run(extent, runs, s).results["cycles"] for s in BOTH}
    return Verdict.above(
        (
            f"Complete cycles in {extent.long:g} s, the fewer of both ({_each(found, 'd')}; the time holds "
            f"{(extent.long / limit_cycle().period):.1f} exact periods)."
        ),
        min(found.values()),
        van_der_pol.MANY_CYCLES,
    )


def _stays(extent: Extent, runs: Runs) -> Verdict:
    found = {s: off_cycle(long_run(extent, runs, s)) for s in BOTH}
    return Verdict.below(
        (
            "Largest distance in m of any sampled state (x, v/omega0) from the exact limit cycle, its jump "
            f"included, from 10 s to {extent.long:g} s ("
            + _each(found, ".2g")
            + "); the limit is what a state moves in a step."
        ),
        max(found.values()),
        extent.h * limit_cycle().fastest,
    )


def _drift(extent: Extent, runs: Runs) -> Verdict:
    drifts = {}
    for scheme in BOTH:
        r = impulses(long_run(extent, runs, scheme))
        halves = np.array_split(r, 2)
        drifts[scheme] = float(halves[1].mean() / halves[0].mean() - 1) if len(r) > 1 else -1.0
    cycle = limit_cycle()
    return Verdict.below(
        (
            "Relative change of the mean impulse of an impact from the first half of the run to the second, the "
            "larger of both ("
            + _each(drifts, ".1e")
            + "); one impact may differ from the next by what the velocity changes in a step."
        ),
        max(drifts.values(), key=abs),
        extent.h * cycle.fastest / cycle.jump,
    )


def _iterations(extent: Extent, runs: Runs) -> Verdict:
    explicit, newton = (evaluations(extent, runs, scheme) for scheme in BOTH)
    return Verdict.above(
        (
            f"Evaluations of the force a step that CD-Lagrange saves: it makes {explicit:.2f}, Moreau-Jean "
            f"{newton:.2f} and a tangent with each, by Newton to rounding."
        ),
        newton - explicit,
        0.0,
    )


def _as_good(extent: Extent, runs: Runs) -> Verdict:
    made = {s: long_run(extent, runs, s) for s in BOTH}
    far, height = {s: off_cycle(run) for s, run in made.items()}, np.ptp(limit_cycle().points[:, 1])
    periods = {s: run.results["period"] or 0.0 for s, run in made.items()}
    return Verdict.below(
        (
            f"What CD-Lagrange is farther off the exact limit cycle in {extent.long:g} s, in m in (x, v/omega0) "
            f"({_each(far, '.2g')}); within the width of a printed line, {LINE:g} of the cycle's height. Periods "
            f"in s: {_each(periods, '.4f')}, exact: {limit_cycle().period:.4f}."
        ),
        far[CD] - far[MJ],
        LINE * height,
    )


def _order(extent: Extent, scheme: str, expected: int, runs: Runs) -> Verdict:
    found = errors(extent, runs, scheme, False)[0]
    return Verdict.equal(
        (
            f"Order of the error of the position without wall in norm (35), {found[0]:.2g} at h = "
            f"{extent.steps[0]:g} s and {found[-1]:.2g} at {extent.steps[-1]:g} s over {extent.span:g} s, with "
            "a reference of order 8. The next term of the error is the tolerance."
        ),
        order(extent.steps, found),
        expected,
        next_term(extent.steps[0]),
    )


def _lowered(extent: Extent, runs: Runs) -> Verdict:
    lagged, mean = (order(extent.steps, errors(extent, runs, s, False)[0]) for s in (CD, IMPLICIT))
    return Verdict.equal(
        f"Order lost without wall by the lagged velocity: {lagged:.3f} in place of {mean:.3f}.",
        mean - lagged,
        1.0,
        2 * next_term(extent.steps[0]),
    )


def _same_limit(extent: Extent, runs: Runs) -> Verdict:
    v0 = start(0, extent)
    x, true = positions(extent, runs, CD, v0, False), truth(extent, v0, False)[1]
    left = [norm35(2 * finer - coarser, true) for coarser, finer in zip(x, x[1:])]
    return Verdict.above(
        (
            "Order of the error without wall once its term in h is taken out, by extrapolation from pairs of "
            f"steps: {left[-1]:.2g} is left of {norm35(x[-1], true):.2g} at h = {extent.steps[-1]:g} s. What "
            "falls faster than that term leaves nothing for h = 0: lagging alters the balance by O(h) only."
        ),
        order(extent.steps[1:], left),
        1.0,
    )


def _order_with_impact(extent: Extent, scheme: str, runs: Runs) -> Verdict:
    found = errors(extent, runs, scheme, True)
    alone = [order(extent.steps, one) for one in found]
    return Verdict.equal(
        (
            f"Order of the error of the position against the wall in norm (35), averaged over {len(found)} "
            f"starts whose impacts fall evenly into the step; one start alone gives {min(alone):.2f} to "
            f"{max(alone):.2f}, the paper's {alone[0]:.2f}. Tolerance: two standard deviations of such means."
        ),
        order(extent.steps, found.mean(axis=0)),
        1.0,
        scatter(extent),
    )


def _larger(extent: Extent, runs: Runs) -> Verdict:
    ratios = {s: ratio(extent, runs, s) for s in (MJ, IMPLICIT)}
    return Verdict.above(
        (
            f"Error of CD-Lagrange against the wall over that of the other scheme, mean over {extent.starts} "
            f"starts and {len(extent.steps)} steps, the smaller ratio (" + _each(ratios, ".2f") + ")."
        ),
        min(ratios.values()),
        1.0,
    )


def _no_matter(extent: Extent, runs: Runs) -> Verdict:
    free, hit = (
        [errors(extent, runs, s, wall).mean(axis=0) for s in (CD, IMPLICIT)] for wall in (False, True)
    )
    lost = order(extent.steps, hit[1]) - order(extent.steps, hit[0])
    return Verdict.below(
        (
            "Order that the lagged velocity loses against the wall, from means over starts, as accurate as two "
            f"such fits are. At h = {extent.steps[-1]:g} s its error is {hit[0][-1] / hit[1][-1]:.2g} times that "
            f"of the implicit version with the wall, {free[0][-1] / free[1][-1]:.2g} times without."
        ),
        lost,
        np.sqrt(2) * scatter(extent),
    )


def _division(extent: Extent, runs: Runs) -> Verdict:
    h = 1e-2
    run = runs(CASE, IMPLICIT, h=h, t_end=2.0)
    x, before, after = run["u"][1:, 0], run["v"][:-1, 0], run["v"][1:, 0]
    half = 0.5 * h * XI * OMEGA * (1 - (x / X0) ** 2)
    divided = ((1 + half) * before - h * OMEGA**2 * x) / (1 - half)
    return Verdict.below(
        (
            "Largest difference, relative to the speed, between the velocities found by Newton (to 1e-12) and "
            "those of one division, over 2 s before the first impact: the force is linear in the velocity."
        ),
        float(np.abs(after - divided).max() / np.abs(after).max()),
        1e-12,
    )


def claims(extent: Extent) -> tuple[Claim, ...]:
    """All rows, their runs going this far."""

    def row(id: str, where: str, claim: str, judge: Callable[..., Verdict], *more: Any) -> Claim:
        paper = CSMA if id.startswith("csma") else DI_STASIO
        return Claim(id, CASE, paper, where, claim, partial(judge, extent, *more))

    fig10, fig11, fig12, fig13 = (f"Fig. {number}" for number in (10, 11, 12, 13))
    section, csma = "Van der Pol oscillator", "Sect. 2.2"
    return (
        row(
            "distasio-vdp-linear",
            f"{section}, (36)",
            "For xi far below omega0 the oscillator tends to the linear one.",
            _linear,
        ),
        row(
            "distasio-vdp-limit-cycle",
            section,
            "The oscillator tends to a limit cycle in phase space.",
            _attracts,
        ),
        row(
            "distasio-vdp-only-conservative",
            section,
            "Only schemes that conserve energy can represent the limit cycle, above all over long times.",
            _lossy,
        ),
        row(
            "distasio-vdp-lagged-limit",
            section,
            "Taking the last known velocity alters the balance slightly and converges to the same solution.",
            _same_limit,
        ),
        row(
            "distasio-fig10-close",
            fig10,
            "Positions over 30 s of Moreau-Jean and CD-Lagrange are close despite the non-linear damping.",
            _alike,
        ),
        row(
            "distasio-fig10-robust",
            fig10,
            "Both schemes are robust at impact despite high velocity jumps.",
            _robust,
        ),
        row(
            "distasio-fig11-jump",
            fig11,
            "An arrow shows the velocity jump at impact (taken as: from the exact impact speed to rest).",
            _jump,
        ),
        row(
            "distasio-fig11-forty-cycles",
            fig11,
            "Both schemes make more than forty cycles in 300 s.",
            _cycles,
        ),
        row(
            "distasio-fig11-stays",
            fig11,
            "The limit cycle is visible in phase space, and both schemes stay on it.",
            _stays,
        ),
        row(
            "distasio-vdp-as-good",
            section,
            "CD-Lagrange has results as good as those of Moreau-Jean with the same time step.",
            _as_good,
        ),
        row(
            "distasio-vdp-fewer-iterations",
            f"{section}, (38)",
            "CD-Lagrange takes fewer iterations: Moreau-Jean's equilibrium is solved by Newton.",
            _iterations,
        ),
        row(
            "distasio-fig12-order-mj",
            fig12,
            "Without impact Moreau-Jean (theta = 1/2) keeps the second order of Newmark's average "
            "acceleration.",
            _order,
            MJ,
            2,
        ),
        row(
            "distasio-fig12-order-cd",
            fig12,
            "Without impact CD-Lagrange is of first order only.",
            _order,
            CD,
            1,
        ),
        row(
            "distasio-fig12-order-implicit",
            fig12,
            "Without impact the implicit version of CD-Lagrange finds the second order again.",
            _order,
            IMPLICIT,
            2,
        ),
        row(
            "distasio-fig12-lowered",
            fig12,
            "Taking the velocity half a step back lowers the order.",
            _lowered,
        ),
        row(
            "distasio-fig13-order-mj",
            fig13,
            "With impact all schemes are of first order: Moreau-Jean.",
            _order_with_impact,
            MJ,
        ),
        row(
            "distasio-fig13-order-cd",
            fig13,
            "With impact all schemes are of first order: CD-Lagrange.",
            _order_with_impact,
            CD,
        ),
        row(
            "distasio-fig13-order-implicit",
            fig13,
            "With impact all schemes are of first order: CD-Lagrange implicit.",
            _order_with_impact,
            IMPLICIT,
        ),
        row(
            "distasio-fig13-no-matter",
            fig13,
            "With impact the order lost by the lagged velocity does not matter.",
            _no_matter,
        ),
        row(
            "distasio-fig13-cd-larger",
            fig13,
            "With impact the error of CD-Lagrange stays larger than those of Moreau-Jean and the implicit "
            "version.",
            _larger,
        ),
        row(
            "distasio-vdp-long-energy",
            section,
            "The limit cycle shows that energy is conserved over long times, with non-linear damping.",
            _drift,
        ),
        row(
            "csma-vdp-linear",
            csma,
            "For xi far below omega0 the oscillator is equivalent to a mass on a spring.",
            _linear,
        ),
        row("csma-vdp-limit-cycle", csma, "The oscillator tends to a limit cycle in phase space.", _attracts),
        row(
            "csma-vdp-only-conservative",
            csma,
            "The limit cycle makes conservation easy to test: in the long run only conservative schemes "
            "stay.",
            _lossy,
        ),
        row(
            "csma-vdp-division",
            csma,
            "With the damping term implicit, solving for the velocity is a mere division.",
            _division,
        ),
        row(
            "csma-vdp-order-implicit",
            csma,
            "Without impact CD-Lagrange is of second order with the damping term implicit.",
            _order,
            IMPLICIT,
            2,
        ),
        row(
            "csma-vdp-order-explicit",
            csma,
            "Without impact CD-Lagrange is of first order with the damping term explicit: the order is "
            "lowered.",
            _order,
            CD,
            1,
        ),
        row(
            "csma-vdp-no-matter",
            csma,
            "The lowered order hardly matters with impact, where all schemes converge as O(h).",
            _no_matter,
        ),
        row(
            "csma-vdp-long-energy",
            csma,
            "Moreau-Jean and CD-Lagrange conserve the energy over long times, as expected.",
            _drift,
        ),
    )


CLAIMS, FIGURES = claims(PAPER), figures(PAPER)
