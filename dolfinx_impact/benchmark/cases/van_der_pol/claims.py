"""Claims on the Van der Pol oscillator against a wall: Di Stasio et al. (2019), CSMA (2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claim import CSMA, DI_STASIO, Measured, Runs, above, below, equal, row, table
from ...convergence import norm35, order
from . import measures as m
from .case import MANY_CYCLES, PARAMETERS
from .figures import figures
from .measures import BOTH, CASE, CD, IMPLICIT, MJ, OMEGA, PAPER, X0, XI, Extent, limit_cycle

_LINE = 1 / 200  #: Width of a printed line over that of its column: curves nearer than that look like one.
#: Weights of the nonlinear term that make the oscillator nearly linear, and its period then [s].
_XIS, _PERIOD = (0.02, 0.01, 0.005), 2 * np.pi / OMEGA
_VDP, _CSMA = "Van der Pol oscillator", "Sect. 2.2"
#: Schemes by the end of an id: name, order without impact, and the claim on it.
_ORDERS = {
    "mj": (MJ, 2, "Moreau-Jean (theta = 1/2) keeps the second order of Newmark's average acceleration"),
    "cd": (CD, 1, "CD-Lagrange is of first order only"),
    "implicit": (IMPLICIT, 2, "the implicit version of CD-Lagrange finds the second order again"),
}


def _linear(runs: Runs, extent: Extent = PAPER) -> float:
    made = [runs(CASE, CD, xi=xi, wall="none", h=1e-2, t_end=_PERIOD) for xi in _XIS]
    linear = [np.cos(OMEGA * run["t"]) + np.sin(OMEGA * run["t"]) / OMEGA for run in made]
    return order(_XIS, [norm35(run["u"][:, 0], x) for run, x in zip(made, linear)])


def _attracts(runs: Runs, extent: Extent = PAPER) -> Measured:
    """Spread of the amplitudes from two starts inside the limit cycle and one outside [m]."""
    h, starts = 5e-3, ((0.1, 0.0), (1.0, 1.0), (3.0, 0.0))
    made = [runs(CASE, CD, h=h, t_end=40.0, every=50, wall="none", x0=x0, v0=v0) for x0, v0 in starts]
    return Measured(np.ptp([run.results["amplitude"] or 0.0 for run in made]), h * limit_cycle().fastest)


def _lossy(runs: Runs, extent: Extent = PAPER) -> Measured:
    run = runs(CASE, MJ, theta=1.0, h=extent.lossy, t_end=extent.long, every=extent.every)
    return Measured(m.off_cycle(run), extent.lossy * limit_cycle().fastest)


def _alike(runs: Runs, extent: Extent = PAPER) -> Measured:
    made = [m.short_run(extent, runs, scheme) for scheme in BOTH]
    impacts, end = [run["t"][run["r"].sum(axis=1) > 0] for run in made], made[0]["t"][-1]
    lag = max((abs(a - b) for a, b in zip(*impacts)), default=end)
    return Measured(lag, _LINE * end, note=f"Norm (35): {norm35(*(run['u'][:, 0] for run in made)):.2g}")


def _robust(runs: Runs, extent: Extent = PAPER) -> Measured:
    way, made = PARAMETERS["h"].default * limit_cycle().jump, {s: m.short_run(extent, runs, s) for s in BOTH}
    depths = {s: run.results["penetration_max"] / way for s, run in made.items()}
    return Measured(depths, 1.0 + m.next_term(PARAMETERS["h"].default))


def _long(runs: Runs, result: str, extent: Extent = PAPER) -> dict[str, Any]:
    return {s: m.long_run(extent, runs, s).results[result] for s in BOTH}


def _stays(runs: Runs, extent: Extent = PAPER) -> Measured:
    distances = {s: m.off_cycle(m.long_run(extent, runs, s)) for s in BOTH}
    return Measured(distances, extent.h * limit_cycle().fastest)


def _as_good(runs: Runs, extent: Extent = PAPER) -> Measured:
    far, height = _stays(runs, extent).value, np.ptp(limit_cycle().points[:, 1])
    return Measured(far[CD] - far[MJ], _LINE * height, note=f"Period: {limit_cycle().period:.4f} s")


def _drift(runs: Runs, extent: Extent = PAPER) -> Measured:
    drifts, cycle = {}, limit_cycle()
    for scheme in BOTH:
        r = m.long_run(extent, runs, scheme)["r"].sum(axis=1)
        first, second = (half.mean() if half.size else 0.0 for half in np.array_split(r[r > 0], 2))
        drifts[scheme] = float(second / first - 1) if second else -1.0
    return Measured(drifts, extent.h * cycle.fastest / cycle.jump)


def _iterations(runs: Runs, extent: Extent = PAPER) -> Measured:
    explicit, newton = (m.evaluations(extent, runs, scheme) for scheme in BOTH)
    return Measured(newton - explicit, note=f"CD-Lagrange makes {explicit:.2f}, Moreau-Jean {newton:.2f}")


def _order(runs: Runs, scheme: str, extent: Extent = PAPER) -> Measured:
    errors = m.errors(extent, runs, scheme, False)[0]
    note = f"Errors {errors[0]:.2g} to {errors[-1]:.2g}"
    return Measured(order(extent.steps, errors), tolerance=m.next_term(extent.steps[0]), note=note)


def _lowered(runs: Runs, extent: Extent = PAPER) -> Measured:
    lagged, mean = (_order(runs, scheme, extent) for scheme in (CD, IMPLICIT))
    return Measured(mean.value - lagged.value, tolerance=2 * m.next_term(extent.steps[0]))


def _same_limit(runs: Runs, extent: Extent = PAPER) -> float:
    v0 = m.start(0, extent)
    x, true = m.positions(extent, runs, CD, v0, False), m.truth(extent, v0, False)[1]
    return order(extent.steps[1:], [norm35(2 * finer - coarser, true) for coarser, finer in zip(x, x[1:])])


def _order_with_impact(runs: Runs, scheme: str, extent: Extent = PAPER) -> Measured:
    errors = m.errors(extent, runs, scheme, True)
    alone = [order(extent.steps, one) for one in errors]
    note = f"One start alone gives {min(alone):.2f} to {max(alone):.2f}, the paper's {alone[0]:.2f}"
    return Measured(order(extent.steps, errors.mean(axis=0)), tolerance=m.scatter(extent), note=note)


def _no_matter(runs: Runs, extent: Extent = PAPER) -> Measured:
    lagged, mean = (_order_with_impact(runs, scheme, extent).value for scheme in (CD, IMPLICIT))
    return Measured(mean - lagged, np.sqrt(2) * m.scatter(extent))


def _division(runs: Runs, extent: Extent = PAPER) -> float:
    h = 1e-2
    run = runs(CASE, IMPLICIT, h=h, t_end=2.0)
    x, before, after = run["u"][1:, 0], run["v"][:-1, 0], run["v"][1:, 0]
    half = 0.5 * h * XI * OMEGA * (1 - (x / X0) ** 2)
    divided = ((1 + half) * before - h * OMEGA**2 * x) / (1 - half)
    return float(np.abs(after - divided).max() / np.abs(after).max())


CLAIMS = table(CASE, DI_STASIO, [
    row("distasio-vdp-linear", f"{_VDP}, (36)", "For xi far below omega0 it tends to a linear one.",
        _linear, equal(1.0, _XIS[0] * _PERIOD), "order in xi of the distance; next term xi omega0 t"),
    row("distasio-vdp-limit-cycle", _VDP, "The oscillator tends to a limit cycle in phase space.",
        _attracts, below(), "spread [m] of amplitudes without wall from three starts; a step's way"),
    row("distasio-vdp-only-conservative", _VDP, "Only conservative schemes stay on the cycle for long.",
        _lossy, above(), "distance [m] from the cycle, theta = 1, over a step's way; the cycle attracts"),
    row("distasio-vdp-lagged-limit", _VDP, "The last known velocity alters the balance, not the limit.",
        _same_limit, above(1.0), "order of the error without wall once its term in h is extrapolated away"),
    row("distasio-fig10-close", "Fig. 10", "Positions over 30 s are close despite the non-linear damping.",
        _alike, below(), "largest lag [s] between the impacts of both, against a printed line's width"),
    row("distasio-fig10-robust", "Fig. 10", "Both schemes are robust at impact despite high velocity jumps.",
        _robust, below(), "depth over h v: the first step behind the wall stops it"),
    row("distasio-fig11-jump", "Fig. 11", "The velocity jumps (taken as: from the exact speed to rest).",
        lambda runs, extent=PAPER: Measured(
            _long(runs, "largest_jump", extent), limit_cycle().jump, extent.h * limit_cycle().fastest),
        equal(), "largest jump [m/s]; the velocity changes that much in a step"),
    row("distasio-fig11-forty-cycles", "Fig. 11", "Both schemes make more than forty cycles in 300 s.",
        _long, above(MANY_CYCLES), "complete cycles", result="cycles"),
    row("distasio-fig11-stays", "Fig. 11", "Both schemes stay on the visible limit cycle.",
        _stays, below(), "distance [m] of any state (x, v/omega0) from the exact cycle; a step's way"),
    row("distasio-vdp-as-good", _VDP, "CD-Lagrange is as good as Moreau-Jean with the same step.",
        _as_good, below(), "what it is farther off the exact cycle [m], against a printed line's width"),
    row("distasio-vdp-fewer-iterations", f"{_VDP}, (38)", "CD-Lagrange iterates less: it needs no Newton.",
        _iterations, above(0.0), "evaluations of the force that it saves in a step"),
    *(row(f"distasio-fig12-order-{id}", "Fig. 12", f"Without impact {words}.",
          _order, equal(expected), "order in norm (35) without wall; tolerance: next term", scheme=scheme)
      for id, (scheme, expected, words) in _ORDERS.items()),
    row("distasio-fig12-lowered", "Fig. 12", "Taking the velocity half a step back lowers the order.",
        _lowered, equal(1.0), "order lost without wall by the lagged velocity; tolerance: next terms"),
    *(row(f"distasio-fig13-order-{id}", "Fig. 13", f"With impact all schemes are of first order ({scheme}).",
          _order_with_impact, equal(1.0), "order of means over starts; two deviations", scheme=scheme)
      for id, (scheme, _, _) in _ORDERS.items()),
    row("distasio-fig13-no-matter", "Fig. 13", "With impact the order lost by lagging does not matter.",
        _no_matter, below(), "order lost against the wall; as accurate as two such fits are"),
    row("distasio-fig13-cd-larger", "Fig. 13", "With impact CD-Lagrange has the largest error.",
        lambda runs, extent=PAPER: {s: m.ratio(extent, runs, s) for s in (MJ, IMPLICIT)}, above(1.0),
        "its error over that of the other, mean over starts and steps"),
    row("distasio-vdp-long-energy", _VDP, "Energy is conserved over long times, damping included.",
        _drift, below(), "relative change of the mean impulse between halves; a step's change of velocity"),
    row("csma-vdp-linear", _CSMA, "For xi far below omega0 it is equivalent to a mass on a spring.",
        _linear, equal(1.0, _XIS[0] * _PERIOD), "order in xi of the distance, norm (35)", paper=CSMA),
    row("csma-vdp-limit-cycle", _CSMA, "The oscillator tends to a limit cycle in phase space.",
        _attracts, below(), "spread [m] of amplitudes from three starts; a step's way", paper=CSMA),
    row("csma-vdp-only-conservative", _CSMA, "In the long run only conservative schemes stay on the cycle.",
        _lossy, above(), "distance [m] from the cycle, theta = 1, over a step's way", paper=CSMA),
    row("csma-vdp-division", _CSMA, "With implicit damping the velocity takes a mere division.",
        _division, below(1e-12), "relative difference of the velocities; Newton's tolerance", paper=CSMA),
    *(row(f"csma-vdp-order-{id}", _CSMA, f"CD-Lagrange without impact: {words} order, damping term {id}.",
          _order, equal(expected), "order in norm (35) without wall", paper=CSMA, scheme=scheme)
      for id, scheme, expected, words in (("implicit", IMPLICIT, 2, "second"), ("explicit", CD, 1, "first"))),
    row("csma-vdp-no-matter", _CSMA, "The lowered order hardly matters with impact: all are O(h).",
        _no_matter, below(), "order lost against the wall; as accurate as two such fits are", paper=CSMA),
    row("csma-vdp-long-energy", _CSMA, "Both schemes conserve the energy over long times.",
        _drift, below(), "relative change of the mean impulse between halves", paper=CSMA),
])  # fmt: skip
FIGURES = figures(PAPER)
