"""The bouncing ball: Figures 3 to 9 of Di Stasio et al. (2019), and both forecasts of Acary and Bonnefon."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....exact import BouncingBall
from ....plot import style
from ...claim import ACARY, DI_STASIO, Figure, Run, Runs
from . import measures as m
from .measures import CASE, HEIGHTS, MJ, SMOOTH_STEPS, STEP, STEPS, VELOCITY_LEVEL, exact

_Curve = tuple[str, Run, dict[str, Any]]  #: Name, run and look.
_NAMES = {
    "cd-lagrange": "CD-Lagrange",
    "moreau-jean": "Moreau-Jean",
    "carpenter": "Carpenter, explicit",
    "carpenter-implicit": "Carpenter, implicit",
    "paoli-schatzman": "Paoli-Schatzman",
}
#: Positions: number of the figure, schemes and their name, e, end [s], detail, place of the legend.
_POSITIONS: tuple[tuple[Any, ...], ...] = (
    (3, ("carpenter", "carpenter-implicit"), "Carpenter's schemes", 0, 2, (0.4, 0.5, -0.05, 0.25), (1, 0.5)),
    (4, ("paoli-schatzman",), "Paoli-Schatzman's scheme", 1, 5, (0.75, 1.05, 0.9, 1.05), (1, 1)),
    (5, VELOCITY_LEVEL, "Moreau-Jean and CD-Lagrange", 1, 5, (0.42, 0.5, -0.05, 0.25), (1, 1)),
    (6, VELOCITY_LEVEL, "Moreau-Jean and CD-Lagrange", 0.8, 5, (3.4, 4.3, -0.005, 0.04), (1, 1)),
    (7, VELOCITY_LEVEL, "Moreau-Jean and CD-Lagrange", 0, 1, (0.42, 0.5, -0.05, 0.15), (1, 1)),
)  # fmt: skip


def _position(
    schemes: Sequence[str], e: float, t_end: float, zoom: Sequence, legend: Any, runs: Runs, figure: Any
) -> None:
    """Height over time beside the exact one, and a part of it from near."""
    whole, near = figure.subplots(1, 2, width_ratios=(2, 1))
    t = np.linspace(0.0, t_end, 4001)
    for ax in (whole, near):
        for scheme in schemes:
            run = runs(CASE, scheme, restitution=e, t_end=t_end)
            look = style(scheme, every=0.1 if ax is whole else 0.08)
            ax.plot(run["t"], run["u"][:, 0], label=_NAMES[scheme], **look)
        ax.plot(t, exact(e).position(t), label="exact", **style("exact"))
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        if schemes == ("paoli-schatzman",):
            ax.axhline(1.0, color="0.6", lw=0.8)
        ax.set_xlabel("time [s]")
    whole.set(ylabel="position z [m]", title=f"e = {e:g}, h = {STEP:g} s")
    if e == 1:
        whole.set_ylim(-0.08, 1.35)
    near.set(title="detail", xlim=zoom[:2], ylim=zoom[2:])
    whole.legend(frameon=False, loc="upper right", bbox_to_anchor=legend)


def _reference(ax: Any, steps: NDArray, start: float, order: int) -> None:
    label = f"order {order}"
    ax.loglog(steps, start * (steps / steps[0]) ** order, color="0.5", lw=0.9, ls=(0, (1, 2)), label=label)


def _label(ax: Any) -> None:
    ax.set(xlabel="time step h [s]", ylabel="error of the position, norm (35) [-]")
    ax.legend(frameon=False)


def _smooth(runs: Runs, figure: Any) -> None:
    """Without impact both are exact: the line of order 2 is where an error would show."""
    ax = figure.subplots()
    for scheme in VELOCITY_LEVEL:
        errors = m.smooth_errors(runs, scheme, SMOOTH_STEPS)
        ax.loglog(SMOOTH_STEPS, errors, label=_NAMES[scheme], **style(scheme, every=1))
    _reference(ax, np.array(SMOOTH_STEPS), 1e-3, 2)
    ax.axhline(np.finfo(float).eps, color="0.8", lw=0.8)
    ax.annotate("rounding unit", (SMOOTH_STEPS[0], 2.6e-16), ha="right", va="bottom", color="0.4", fontsize=8)
    ax.set_title(f"before the first impact, t <= {m.FLIGHT:g} s")
    _label(ax)


def _impact(runs: Runs, figure: Any) -> None:
    """Mean over the drop heights, and the range that single ones span."""
    ax = figure.subplots()
    for scheme, hatch in zip(VELOCITY_LEVEL, ("///", "\\\\\\")):
        errors = m.errors(runs, scheme, STEPS, HEIGHTS)
        span = ax.fill_between(STEPS, errors.min(axis=0), errors.max(axis=0), alpha=0.25, lw=0, fc="none")
        span.set(hatch=hatch, edgecolor=style(scheme)["color"], label=f"{_NAMES[scheme]}, single heights")
        ax.loglog(STEPS, errors.mean(axis=0), label=f"{_NAMES[scheme]}, mean", **style(scheme, every=1))
    _reference(ax, np.array(STEPS), 0.2, 1)
    ax.set_xscale("log")
    ax.set_title(f"e = 0.8, two impacts, {HEIGHTS} drop heights")
    _label(ax)


def _combined(runs: Runs, figure: Any) -> None:
    """Position near the ground, tau and heights; e = 0 on the left, 0.8 on the right."""
    for (upper, middle, lower), e in zip(figure.subplots(3, 2).T, (0.0, 0.8)):
        # A height whose impact comes in the second half of a step: there the forecasts differ.
        ball, drop = exact(e, 1.02), {"restitution": e, "z0": 1.02}
        several = [("Moreau-Jean", runs(CASE, MJ, **drop), {**style(MJ, every=0), "marker": "v"})]
        for w, like, marker in ((1.0, "cd-lagrange-implicit", "s"), (0.5, "combined", "o")):
            run, look = runs(CASE, "combined", forecast=w, **drop), style(like, every=0)
            several.insert(0, (f"combined, forecast {w:g}", run, {**look, "marker": marker}))
        _near_ground(upper, several, ball)
        _corrections(middle, several)
        _bounces(lower, several, ball)
        upper.set_title(f"e = {e:g}, h = {STEP:g} s, z(0) = 1.02 m")


def _near_ground(ax: Any, several: list[_Curve], ball: BouncingBall) -> None:
    for name, run, look in several:
        ax.plot(run["t"], run["u"][:, 0], label=name, **look, ms=4, mfc="none")
    t = np.linspace(0.4, 0.6, 801)
    ax.plot(t, ball.position(t), label="exact", **style("exact"))
    ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    ax.set(xlim=(0.43, 0.51), ylim=(-0.05, 0.16), xlabel="time [s]", ylabel="position z [m]")
    if ball.restitution == 0:  # the lines of the other columns are the same, and leave no room
        ax.legend(frameon=False, fontsize=8)


def _corrections(ax: Any, several: list[_Curve]) -> None:
    """Each tau that acts, as a point; several a scheme."""
    for name, run, look in several:
        tau = run.history.get("tau")
        if tau is not None:
            acts, points = tau[:, 0] > 0, {"color": look["color"], "mfc": "none", "ms": 5}
            ax.semilogy(run["t"][acts], 1e3 * tau[acts, 0], look["marker"], label=name, **points)
    ax.set(xlim=(0.0, 5.0), ylim=(1e-2, 1e2), xlabel="time [s]", ylabel=r"correction $\tau$ [mm]")
    ax.legend(frameon=False, fontsize=8)


def _bounces(ax: Any, several: list[_Curve], ball: BouncingBall) -> None:
    """Those of e = 0 in mm, where none is due."""
    n, factor, unit = np.arange(1, 11), *((1e3, "mm") if ball.restitution == 0 else (1.0, "m"))
    for name, run, look in several:
        ax.plot(n, factor * m.bounces(run, 10)[:10], label=name, **look, ms=5, mfc="none")
    ax.plot(n, factor * ball.rebound_height(n), label="exact", **style("exact"))
    ax.set(xlabel="bounce [-]", ylabel=f"height [{unit}]", xticks=n)
    ax.set_yscale("linear" if ball.restitution == 0 else "log")
    ax.legend(frameon=False, fontsize=8)


def _distasio(number: int, title: str, draw: Any) -> Figure:
    return Figure(f"distasio-fig{number:02}", CASE, DI_STASIO, f"Fig. {number}", title, draw)


_COMBINED = "The combined scheme on the ball, both forecasts"
FIGURES: tuple[Figure, ...] = (
    *(
        _distasio(number, f"Position for {names}, e = {args[0]:g}", partial(_position, schemes, *args))
        for number, schemes, names, *args in _POSITIONS
    ),
    _distasio(8, "Convergence of the position without impact", _smooth),
    _distasio(9, "Convergence of the position with impact", _impact),
    Figure("acary-ball", CASE, ACARY, "The proposed approach", _COMBINED, _combined),
)
