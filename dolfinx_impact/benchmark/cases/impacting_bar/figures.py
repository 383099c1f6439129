"""The impacting bar: Di Stasio et al. (2019), Figs. 20-22, and the combined scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import plot
from ....exact import ImpactingBar
from ...claim import ACARY, DI_STASIO, Figure
from ...runs import Run, Runs
from .claims_combined import tau
from .measures import BAR, BOTH, CASE, FORECASTS


def _draw_both(
    runs: Runs,
    figure: Any,
    quantity: str,
    exact: Callable[[NDArray], NDArray],
    curve: Callable[[Run], NDArray],
) -> None:
    figure.set_layout_engine("constrained")
    ax, t = figure.subplots(), np.linspace(0, 3e-4, 3001)
    for scheme in BOTH:
        run = runs(CASE, scheme)
        ax.plot(1e6 * run["t"], curve(run), label=scheme, **plot.style(scheme))
    ax.plot(1e6 * t, exact(t), label="exact", **plot.style("exact"))
    _label(ax, quantity, (0, 300))
    ax.legend(frameon=False)


def _label(ax: Any, quantity: str, limits: tuple[float, float]) -> None:
    ax.set(xlabel="time [µs]", ylabel=quantity, xlim=limits)
    ax.grid(alpha=0.3)


def _draw_position(runs: Runs, figure: Any) -> None:
    _draw_both(
        runs,
        figure,
        "displacement of the contact node [mm]",
        lambda t: 1e3 * BAR.displacement(0.0, t),
        lambda run: 1e3 * run["u"][:, 0],
    )


def _draw_velocity(runs: Runs, figure: Any) -> None:
    _draw_both(
        runs,
        figure,
        "velocity of the contact node [m/s]",
        lambda t: BAR.velocity(0.0, t),
        lambda run: run["v_t"][:, 0],
    )


def _draw_impulse(runs: Runs, figure: Any) -> None:
    h = runs(CASE, "cd-lagrange").results["h"]
    _draw_both(
        runs,
        figure,
        "impulse at the contact node [N s]",
        lambda t: h * _force(BAR, t),
        lambda run: run["r"][:, 0],
    )


def _force(bar: ImpactingBar, t: NDArray) -> NDArray:
    return np.where((t >= bar.contact_start) & (t < bar.contact_end), bar.force, 0.0)


def _draw_combined(runs: Runs, figure: Any) -> None:
    """The wall half a step nearer than usual, where the two forecasts differ."""
    figure.set_layout_engine("constrained")
    h = runs(CASE, "combined").results["h"]
    bar = replace(BAR, gap=BAR.gap - 0.5 * h * BAR.v0)
    shown = [("moreau-jean", runs(CASE, "moreau-jean", gap=bar.gap), plot.style("moreau-jean", every=0.15))]
    for w, name in zip(FORECASTS, ("combined", "forecast 1")):
        run = runs(CASE, "combined", gap=bar.gap, forecast=w)
        shown.append((f"combined, forecast {w:g}", run, plot.style(name, every=0.15)))
    exact: list[Callable[[NDArray], NDArray]] = [
        lambda t: 1e6 * (bar.gap - bar.displacement(0.0, t)),
        np.zeros_like,
        lambda t: bar.velocity(0.0, t),
        lambda t: h * _force(bar, t),
    ]
    curves: dict[str, Callable[[Run], NDArray]] = {
        "gap [µm]": lambda run: 1e6 * run["gap"],
        "tau [µm]": lambda run: 1e6 * tau(run),
        "velocity of the node [m/s]": lambda run: run["v"],
        "impulse at the node [N s]": lambda run: run["r"],
    }
    t = np.linspace(0, 2e-4, 4001)
    axes = figure.subplots(2, 2).flat
    for k, (ax, (quantity, curve)) in enumerate(zip(axes, curves.items())):
        for name, run, look in shown[1:] if k == 1 else shown:
            ax.plot(1e6 * run["t"], curve(run), label=name, **look)
        ax.plot(1e6 * t, exact[k](t), label="exact", **plot.style("exact"))
        _label(ax, quantity, (36, 46) if k < 2 else (20, 180))
    axes[0].set_ylim(-3, 12)
    axes[0].legend(frameon=False)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "distasio-fig20",
        CASE,
        DI_STASIO,
        "Fig. 20",
        "Impacting bar: position of the contact node",
        _draw_position,
    ),
    Figure(
        "distasio-fig21",
        CASE,
        DI_STASIO,
        "Fig. 21",
        "Impacting bar: velocity of the contact node",
        _draw_velocity,
    ),
    Figure(
        "distasio-fig22",
        CASE,
        DI_STASIO,
        "Fig. 22",
        "Impacting bar: impulse at the contact node",
        _draw_impulse,
    ),
    Figure(
        "acary-bar",
        CASE,
        ACARY,
        "(6)",
        "Impacting bar, the wall half a step nearer: the combined scheme, both forecasts",
        _draw_combined,
    ),
)
