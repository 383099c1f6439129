"""Figures 15 to 18 of Di Stasio et al. (2019): the rotating spring."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...axes import legend_below, panels, style
from ...claim import DI_STASIO, Figure, Runs
from .measures import CASE, CD, DECOUPLED, FINE, FINE_LONG, MJ, RUBS, momentum, refined, rubbed

_NAMES = {CD: "CD-Lagrange", MJ: "Moreau-Jean"}
_ALL = {CD: "CD-Lagrange", MJ: "Moreau-Jean (coupled)", DECOUPLED: "Moreau-Jean (decoupled)"}


def draw_position(runs: Runs, figure: Any, law: dict[str, float], h: float = FINE) -> None:
    """The paths of the first 5 s inside the wall, Figs. 15 and 17."""
    axes, fine = panels(figure, size=(6.4, 7.2)), refined(runs, h, 0.01, t_end=5, **law)
    radius, angle = fine.summary["parameters"]["radius"], np.linspace(0, 2 * np.pi, 400)
    axes.plot(radius * np.cos(angle), radius * np.sin(angle), color="0.6", lw=3, label="wall")
    axes.plot(*fine["u"].T, **style("exact"), label=f"CD-Lagrange, h = {h:g} s")
    for scheme, name in _NAMES.items():
        run = runs(CASE, scheme, t_end=5, **law)
        axes.plot(*run["u"].T, **{**style(scheme), "markevery": 1}, label=f"{name}, h = 0.1 s")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    legend_below(figure)


def draw_momentum(runs: Runs, figure: Any, law: dict[str, float], h: float = FINE_LONG) -> None:
    """Angular momentum without friction, Fig. 16, and with, Fig. 18."""
    axes = panels(figure)
    for scheme, name in (_NAMES if law else _ALL).items():
        run = runs(CASE, scheme, **law)
        # A marker every 10 s: a swinging line would gather more.
        look = {**style(scheme), "markevery": (50, 100), "zorder": 3 if scheme == CD else 2}
        axes.plot(run["t"], momentum(run), **look, label=f"{name}, h = 0.1 s")
    if law:
        fine = refined(runs, h, 0.1, **law)
        axes.plot(fine["t"], momentum(fine), **style("exact"), label=f"CD-Lagrange, h = {h:g} s")
        axes.axhline(rubbed(fine), color="0.0", lw=0.6, label="limit h → 0")
    else:
        axes.axhline(run.results["momentum_initial"], **style("exact"), zorder=4, label="exact")
    axes.set(xlim=(0, 100), xlabel="time [s]", ylabel="angular momentum [kg m²/s]")
    legend_below(figure)


FIGURES = tuple(
    Figure(f"distasio-fig{number}", CASE, DI_STASIO, f"Fig. {number}", title, partial(draw, law=law))
    for number, title, draw, law in (
        (15, "Position without friction, first 5 s", draw_position, {}),
        (16, "Angular momentum without friction", draw_momentum, {}),
        (17, "Position with friction, first 5 s", draw_position, RUBS),
        (18, "Angular momentum with friction", draw_momentum, RUBS),
    )
)
