"""Figures 10 to 13 of Di Stasio et al. (2019): the Van der Pol oscillator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import plot
from ...claim import DI_STASIO, Figure, Runs
from ...convergence import order
from . import measures as m
from .measures import BOTH, CASE, CD, MJ, OMEGA, SCHEMES, WALL, Extent, limit_cycle


def _positions(extent: Extent, runs: Runs, figure: Any) -> None:
    axes = figure.subplots()
    for scheme in BOTH:
        run = m.short_run(extent, runs, scheme)
        axes.plot(run["t"], run["u"][:, 0], label=scheme, **plot.style(scheme, every=0.07))
    t = np.linspace(0.0, run["t"][-1], 3001)
    axes.plot(t, m.exact(t), label="exact, event by event", zorder=1, **plot.style("exact"))
    axes.axhline(WALL, color="0.6", lw=0.8)
    axes.set(xlabel="time t [s]", ylabel="position x [m]", ylim=(1.2 * WALL, 2.6))
    axes.legend(ncols=3, loc="upper center")


def _phase_space(extent: Extent, runs: Runs, figure: Any) -> None:
    axes, cycle = figure.subplots(), limit_cycle()
    x, v = cycle.points.T
    axes.plot(x, v * OMEGA, label="exact limit cycle", **plot.style("exact"))
    for scheme, size in zip(BOTH, (4.5, 3.0)):
        run = m.long_run(extent, runs, scheme)
        x, v = run["u"][:, 0], run["v_t"][:, 0]
        # Few, and as dense on the fast part as on the slow one: one for each so much of the way.
        way = np.cumsum(np.hypot(np.diff(x) / np.ptp(x), np.diff(v) / np.ptp(v)))
        few = np.flatnonzero(np.diff(np.floor(way / 0.7))) + 2
        look = {**plot.style(scheme), "ls": "none", "ms": size, "markevery": 1}
        axes.plot(x[few], v[few], label=f"{scheme}, {run['t'][-1]:g} s", **look)
    axes.annotate("", (WALL, 0.0), (WALL, -cycle.jump), arrowprops={"arrowstyle": "-|>", "lw": 1.6})
    axes.annotate("velocity jump\nat impact", (WALL, -0.5 * cycle.jump), (8, 0), textcoords="offset points")
    axes.set(xlabel="position x [m]", ylabel="velocity v [m/s]")
    axes.legend(loc="lower right")


def _convergence(extent: Extent, runs: Runs, figure: Any, wall: bool) -> None:
    axes, h = figure.subplots(), np.array(extent.steps)
    for scheme in SCHEMES:
        errors = m.errors(extent, runs, scheme, wall)
        mean = errors.mean(axis=0)
        look = {**plot.style(scheme), "markevery": 1}
        axes.loglog(h, mean, label=f"{scheme}: order {order(h, mean):.2f}", **look)
        if len(errors) > 1:
            axes.loglog(h, errors[0], **{**plot.style(scheme, every=0), "lw": 0.5})
        if scheme == MJ or (scheme == CD and not wall):
            _triangle(axes, h, mean, 2 if scheme == MJ and not wall else 1)
    axes.set(xlabel="time step h [s]", ylabel=f"error of x in norm (35) over {extent.span:g} s [-]")
    if wall:
        axes.set_title(f"mean of {extent.starts} starts (thin lines: the paper's start alone)")
    axes.legend()


def _triangle(axes: Any, h: NDArray, error: NDArray, slope: int) -> None:
    """A slope to compare with, below a curve."""
    left, right, low = h[-1], 2 * h[-1], 0.5 * error[-1]
    corners = [left, right, right, left], [low, low, low * 2**slope, low]
    axes.loglog(*corners, color="0.3", lw=0.8)
    axes.annotate(f"{slope}", (right, low * 2 ** (slope / 2)), (4, -3), textcoords="offset points")


def figures(extent: Extent) -> tuple[Figure, ...]:
    """All figures, their runs going this far."""
    drawings = (
        ("10", "position", partial(_positions, extent)),
        ("11", "phase space", partial(_phase_space, extent)),
        ("12", "convergence of the position without impact", partial(_convergence, extent, wall=False)),
        ("13", "convergence of the position with impact", partial(_convergence, extent, wall=True)),
    )
    return tuple(
        Figure(f"distasio-fig{n}", CASE, DI_STASIO, f"Fig. {n}", f"Van der Pol oscillator: {title}", draw)
        for n, title, draw in drawings
    )
