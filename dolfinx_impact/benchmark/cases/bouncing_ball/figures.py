"""The bouncing ball's figures, and what they show: errors over many drop heights, exact curves.

Di Stasio et al. (2019), Figures 3 to 9; Acary and Bonnefon (2011), both forecasts side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....exact import BouncingBall
from ....plot import style
from ...claim import ACARY, DI_STASIO, Figure
from ...convergence import at_times, norm35, order
from ...runs import FailedRun, Run, Runs

CASE = "bouncing-ball"
VELOCITY_LEVEL = ("cd-lagrange", "moreau-jean")
GRAVITY = 9.81
#: Time step of all simulations of the section [s].
STEP = 1e-2
#: Steps of the studies with impact [s]; the drop heights spread the impact over the first of them.
STEPS = (2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3)
HEIGHTS = 20
#: Steps of the study without impact [s], multiples of which make up :data:`FLIGHT`.
SMOOTH_STEPS = (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
#: A time before the first impact from 1 m, which comes at 0.4515 s.
FLIGHT = 0.44
FORECASTS = (0.5, 1.0)
_NAMES = {
    "cd-lagrange": "CD-Lagrange",
    "moreau-jean": "Moreau-Jean",
    "carpenter": "Carpenter, explicit",
    "carpenter-implicit": "Carpenter, implicit",
    "paoli-schatzman": "Paoli-Schatzman",
}


def exact(restitution: float, z0: float = 1.0) -> BouncingBall:
    """The solution for a ball of 1 kg dropped from ``z0`` [m]."""
    return BouncingBall(1.0, GRAVITY, z0, 0.0, restitution)


def drop_heights(count: int, step: float = STEPS[0]) -> list[float]:
    """Heights [m] whose first impacts fall evenly into the step that follows 0.44 s.

    The golden ratio places them, so that they fall evenly into every part of that step too: a height
    whose impact meets the end of a step is one that every scheme finds exactly.
    """
    golden = (5**0.5 - 1) / 2
    return [GRAVITY * (FLIGHT + step * (k * golden % 1)) ** 2 / 2 for k in range(1, count + 1)]


def errors(
    runs: Runs, scheme: str, steps: Sequence[float] = STEPS, heights: int = HEIGHTS, **settings: Any
) -> NDArray:
    """Norm (35) of the position with e = 0.8 up to 1.5 s, shape (heights, steps).

    That is two impacts; the times are those of the largest step.
    """
    t = np.arange(round(1.5 / steps[0]) + 1) * steps[0]
    found = []
    for z0 in drop_heights(heights):
        true = exact(0.8, z0).position(t)
        several = (runs(CASE, scheme, z0=z0, h=h, t_end=1.5, restitution=0.8, **settings) for h in steps)
        found.append([norm35(at_times(run["t"], run["u"], t), true) for run in several])
    return np.array(found)


def smooth_errors(runs: Runs, scheme: str, steps: Sequence[float] = SMOOTH_STEPS) -> list[float]:
    """Norm (35) of the position before the first impact, one a step."""
    t = np.arange(round(FLIGHT / steps[0]) + 1) * steps[0]
    several = (runs(CASE, scheme, h=h, t_end=FLIGHT) for h in steps)
    return [norm35(at_times(run["t"], run["u"], t), exact(0.8).position(t)) for run in several]


def fitted(steps: Sequence[float], errors: Sequence[float] | NDArray) -> float:
    """The order of convergence.

    Raises:
        FailedRun: An error that vanishes or is not finite: there is no order to fit.
    """
    if not (np.all(np.isfinite(errors)) and np.min(errors) > 0):
        raise FailedRun(f"no order can be fitted to the errors {np.asarray(errors).tolist()}")
    return order(steps, errors)


def _position(
    runs: Runs,
    figure: Any,
    schemes: Sequence[str],
    restitution: float,
    t_end: float,
    zoom: tuple[float, ...],
    legend: tuple[float, float] = (1.0, 1.0),
) -> None:
    """Height over time beside the exact one, and a part of it from near."""
    whole, near = figure.subplots(1, 2, width_ratios=(2, 1))
    t = np.linspace(0.0, t_end, 4001)
    for ax in (whole, near):
        for scheme in schemes:
            run = runs(CASE, scheme, restitution=restitution, t_end=t_end)
            look = style(scheme, every=0.1 if ax is whole else 0.08)
            ax.plot(run["t"], run["u"][:, 0], label=_NAMES[scheme], **look)
        ax.plot(t, exact(restitution).position(t), label="exact", **style("exact"))
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set_xlabel("time [s]")
    whole.set_ylabel("position z [m]")
    whole.set_title(f"e = {restitution:g}, h = {STEP:g} s")
    near.set_title("detail")
    near.set_xlim(zoom[0], zoom[1])
    near.set_ylim(zoom[2], zoom[3])
    whole.legend(frameon=False, loc="upper right", bbox_to_anchor=legend)


def _carpenter(runs: Runs, figure: Any) -> None:
    _position(runs, figure, ("carpenter", "carpenter-implicit"), 0.0, 2.0, (0.4, 0.5, -0.05, 0.25), (1, 0.5))


def _paoli(runs: Runs, figure: Any) -> None:
    _position(runs, figure, ("paoli-schatzman",), 1.0, 5.0, (0.75, 1.05, 0.9, 1.05))
    figure.axes[0].axhline(1.0, color="0.6", lw=0.8)
    figure.axes[1].axhline(1.0, color="0.6", lw=0.8)
    figure.axes[0].set_ylim(-0.08, 1.35)


def _elastic(runs: Runs, figure: Any) -> None:
    _position(runs, figure, VELOCITY_LEVEL, 1.0, 5.0, (0.42, 0.5, -0.05, 0.25))
    figure.axes[0].set_ylim(-0.08, 1.35)


def _zeno(runs: Runs, figure: Any) -> None:
    _position(runs, figure, VELOCITY_LEVEL, 0.8, 5.0, (3.4, 4.3, -0.005, 0.04))


def _plastic(runs: Runs, figure: Any) -> None:
    _position(runs, figure, VELOCITY_LEVEL, 0.0, 1.0, (0.42, 0.5, -0.05, 0.15))


def _reference(ax: Any, steps: NDArray, start: float, order: int) -> None:
    label = f"order {order}"
    ax.loglog(steps, start * (steps / steps[0]) ** order, color="0.5", lw=0.9, ls=(0, (1, 2)), label=label)


def _smooth(runs: Runs, figure: Any) -> None:
    """Without impact both are exact: the line of order 2 is where an error would show."""
    ax = figure.subplots()
    for scheme in VELOCITY_LEVEL:
        found = smooth_errors(runs, scheme, SMOOTH_STEPS)
        ax.loglog(SMOOTH_STEPS, found, label=_NAMES[scheme], **style(scheme, every=1))
    _reference(ax, np.array(SMOOTH_STEPS), 1e-3, 2)
    ax.axhline(np.finfo(float).eps, color="0.8", lw=0.8)
    ax.annotate("rounding unit", (SMOOTH_STEPS[0], 2.6e-16), ha="right", va="bottom", color="0.4", fontsize=8)
    ax.set_xlabel("time step h [s]")
    ax.set_ylabel("error of the position, norm (35) [-]")
    ax.set_title(f"before the first impact, t <= {FLIGHT:g} s")
    ax.legend(frameon=False)


def _impact(runs: Runs, figure: Any) -> None:
    """Mean over the drop heights, and the range that single ones span."""
    ax = figure.subplots()
    for scheme, hatch in zip(VELOCITY_LEVEL, ("///", "\\\\\\")):
        found = errors(runs, scheme, STEPS, HEIGHTS)
        span = f"{_NAMES[scheme]}, single heights"
        ax.fill_between(
            STEPS,
            found.min(axis=0),
            found.max(axis=0),
            facecolor="none",
            hatch=hatch,
            edgecolor=style(scheme)["color"],
            alpha=0.25,
            label=span,
            lw=0,
        )
        ax.loglog(STEPS, found.mean(axis=0), label=f"{_NAMES[scheme]}, mean", **style(scheme, every=1))
    _reference(ax, np.array(STEPS), 0.2, 1)
    ax.set_xscale("log")
    ax.set_xlabel("time step h [s]")
    ax.set_ylabel("error of the position, norm (35) [-]")
    ax.set_title(f"e = 0.8, two impacts, {HEIGHTS} drop heights")
    ax.legend(frameon=False)


def _combined(runs: Runs, figure: Any) -> None:
    """Position near the ground, tau and heights; e = 0 on the left, 0.8 on the right."""
    axes = figure.subplots(3, 2)
    for column, restitution in zip(axes.T, (0.0, 0.8)):
        # A height whose impact comes in the second half of a step: there the forecasts differ.
        ball = exact(restitution, 1.02)
        several: dict[str, tuple[Run, dict]] = {}
        for forecast, like in zip(FORECASTS, ("combined", "cd-lagrange-implicit")):
            run = runs(CASE, "combined", restitution=restitution, forecast=forecast, z0=1.02)
            several[f"combined, forecast {forecast:g}"] = (run, style(like, every=0))
        moreau = runs(CASE, "moreau-jean", restitution=restitution, z0=1.02)
        several["Moreau-Jean"] = (moreau, style("moreau-jean", every=0))
        _near_ground(column[0], several, ball)
        _corrections(column[1], several)
        _bounces(column[2], several, ball)
        column[0].set_title(f"e = {restitution:g}, h = {STEP:g} s, z(0) = 1.02 m")


def _near_ground(ax: Any, several: dict[str, tuple[Run, dict]], ball: BouncingBall) -> None:
    for (name, (run, look)), marker in zip(several.items(), "osv"):
        ax.plot(run["t"], run["u"][:, 0], label=name, **look, marker=marker, ms=4, mfc="none")
    t = np.linspace(0.4, 0.6, 801)
    ax.plot(t, ball.position(t), label="exact", **style("exact"))
    ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    ax.set(xlim=(0.43, 0.51), ylim=(-0.05, 0.16), xlabel="time [s]", ylabel="position z [m]")
    if ball.restitution == 0:  # the lines of the other columns are the same, and leave no room
        ax.legend(frameon=False, fontsize=8)


def _corrections(ax: Any, several: dict[str, tuple[Run, dict]]) -> None:
    """Each tau that acts, as a point; several a scheme."""
    for (name, (run, look)), marker in zip(several.items(), "osv"):
        tau = run.history.get("tau")
        if tau is not None:
            acts = tau[:, 0] > 0
            ax.semilogy(
                run["t"][acts], 1e3 * tau[acts, 0], marker, color=look["color"], mfc="none", ms=5, label=name
            )
    ax.set(xlim=(0.0, 5.0), ylim=(1e-2, 1e2), xlabel="time [s]", ylabel=r"correction $\tau$ [mm]")
    ax.legend(frameon=False, fontsize=8)


def _bounces(ax: Any, several: dict[str, tuple[Run, dict]], ball: BouncingBall) -> None:
    """Those of e = 0 in mm, where none is due."""
    count, plastic = 10, ball.restitution == 0
    unit = 1e3 if plastic else 1.0
    n = np.arange(1, count + 1)
    for (name, (run, look)), marker in zip(several.items(), "osv"):
        heights = (list(run.results["heights"]) + count * [0.0])[:count]
        ax.plot(n, unit * np.array(heights), label=name, **look, marker=marker, ms=5, mfc="none")
    ax.plot(n, unit * ball.rebound_height(n), label="exact", **style("exact"))
    ax.set(xlabel="bounce [-]", ylabel=f"height [{'mm' if plastic else 'm'}]", xticks=n)
    if not plastic:
        ax.set_yscale("log")
    ax.legend(frameon=False, fontsize=8)


def _distasio(number: int, title: str, draw: Any) -> Figure:
    return Figure(f"distasio-fig{number:02}", CASE, DI_STASIO, f"Fig. {number}", title, draw)


FIGURES: tuple[Figure, ...] = (
    _distasio(3, "Position for Carpenter's schemes, e = 0", _carpenter),
    _distasio(4, "Position for Paoli-Schatzman's scheme, e = 1", _paoli),
    _distasio(5, "Position for Moreau-Jean and CD-Lagrange, e = 1", _elastic),
    _distasio(6, "Position for Moreau-Jean and CD-Lagrange, e = 0.8", _zeno),
    _distasio(7, "Position for Moreau-Jean and CD-Lagrange, e = 0", _plastic),
    _distasio(8, "Convergence of the position without impact", _smooth),
    _distasio(9, "Convergence of the position with impact", _impact),
    Figure(
        "acary-ball",
        CASE,
        ACARY,
        "The proposed approach",
        "The combined scheme on the ball, both forecasts",
        _combined,
    ),
)
