"""Figures of the plane block: the force class by class, its variation, and numbers over the cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators import SCHEMES
from ...axes import legend_below, legends, panels, style
from ...claim import Figure, Run, Runs
from . import measures as m
from .case import ALLOWED, REBOUND, TOP_LOWEST, bar, wave_force
from .measures import BLOCK, CD, SINGULAR

PAPER = "ours, after Doyen, Ern, Piperno (2011)"
#: The classes, each with some of its schemes, the one with the largest variation first: others lie above it.
CLASSES = {
    "exact contact, implicit": ("dep-4.4", "dep-4.2", "dep-4.3", "dep-4.6"),
    "exact contact, explicit": ("dep-4.7",),
    "penalty": ("dep-5.3", "dep-5.1", "dep-5.2"),
    "contact in velocity, dep": ("dep-6.1", "dep-6.2"),
    "contact in velocity, others": ("moreau-jean-decoupled", CD, "noh-bathe", "moreau-jean"),
    "no mass at the contact": (SINGULAR, "dep-7.1", "dep-7.2"),
}
_COLORS = ("#9db8d2", "#0b559f", "#d1711a", "#2e7d32")
#: Schemes whose numbers are drawn over the size of the cells, with their looks.
REFINED: dict[str, dict[str, Any]] = {
    CD: {"color": "#0b559f", "marker": "o"},
    SINGULAR: {"color": "#0b559f", "marker": "s", "ls": "--"},
    "moreau-jean": {"color": "#d1711a", "marker": "^"},
    "noh-bathe": {"color": "#d1711a", "marker": "v", "ls": "--"},
    "dep-4.4": {"color": "#2e7d32", "marker": "D"},
    "dep-4.6": {"color": "#2e7d32", "marker": "x", "ls": "--"},
    "dep-5.2": {"color": "0.3", "marker": "P"},
    "dep-6.1": {"color": "0.3", "marker": "*", "ls": "--"},
}


def force(run: Run) -> NDArray:
    """Force on the block over that of the pressure wave, at every step."""
    p = run.summary["parameters"]
    return np.asarray(2 * run["r"].sum(axis=1) / run.results["h"] / wave_force(p))


def draw_forces(runs: Runs, figure: Any) -> None:
    """The force of the floor over time, class by class."""
    axes = panels(figure, 2, 3, size=(13, 7.6), sharex=True, sharey=True)
    fine = runs(BLOCK, CD, divisions=m.FINEST)
    for ax, (title, names) in zip(axes.ravel(), CLASSES.items()):
        for name, color in zip(names, _COLORS):
            run = runs(BLOCK, name)
            ax.plot(run["t"], force(run), color=color, lw=1.0, label=name)
        ax.plot(
            fine["t"], force(fine), label=f"{CD}, {m.FINEST} cells a unit", **{**style("exact"), "lw": 0.9}
        )
        ax.set(title=title, ylim=(-0.05, 1.6), xlim=(0.0, 0.8))
    for ax in axes[-1]:
        ax.set(xlabel="time [s]")
    for ax in axes[:, 0]:
        ax.set(ylabel="force over $\\rho c v_0 b$ [-]")
    legends(axes, fontsize=8, loc="lower left")


def draw_variation(runs: Runs, figure: Any) -> None:
    """Total variation of the force of every scheme over that of a smooth one."""
    names = [*runs.chosen(BLOCK)][::-1]
    ax = panels(figure, size=(8.5, 7.5))
    values = [m.variation(runs, name) for name in names]
    explicit = [name in SCHEMES and SCHEMES[name].explicit for name in names]
    colors = ["#d1711a" if each else "#0b559f" for each in explicit]
    ax.barh(names, values, left=0.0, color=colors)
    for k, value in enumerate(values):
        ax.text(value * 1.05, k, f"{value:.3g}", va="center", fontsize=8)
    ax.axvline(1.0, color="0.2", lw=1.0)
    ax.axvspan(0.5, m.SMOOTH, color="0.85", zorder=0)
    ax.set(xscale="log", xlim=(0.5, 400.0))
    ax.set_xlabel("total variation of the force, over that of a smooth one [-] (orange: explicit)")


def draw_refinement(runs: Runs, figure: Any) -> None:
    """Rebound and the top's lowest place over the size of the cells."""
    axes = panels(figure, 1, 2, size=(11, 5.4))
    for name, look in REFINED.items():
        several = [runs(BLOCK, name, divisions=n) for n in m.REFINED]
        sizes = [1 / n for n in m.REFINED]
        way = [run.summary["parameters"] for run in several]
        tops = [run.results["top_lowest"] / (p["v0"] * bar(p).transit) for run, p in zip(several, way)]
        for ax, values in zip(axes, ([run.results["rebound"] for run in several], tops)):
            ax.plot(sizes, values, label=name, lw=1.2, mfc="white", **look)
    for ax, value in zip(axes, (REBOUND, TOP_LOWEST)):
        ax.axhline(value, color="0.2", lw=1.0)
        ax.axhspan((1 - ALLOWED) * value, (1 + ALLOWED) * value, color="0.88", zorder=0)
        ax.set(xlabel="size of the cells [m]", xlim=(0.0, None))
    axes[0].set(ylabel="velocity of the centre of mass over $v_0$ [-]")
    axes[1].set(ylabel="lowest displacement of the top over $v_0 L / c$ [-]")
    legend_below(figure, 4)


FIGURES = (
    Figure("plane-forces", BLOCK, PAPER, "nu = 0.3, 8 cells a unit of length",
           "Force of the floor on a block, class by class", draw_forces),
    Figure("plane-variation", BLOCK, PAPER, "nu = 0.3, 8 cells a unit of length",
           "Who lets the force oscillate", draw_variation),
    Figure("plane-refinement", BLOCK, PAPER, "nu = 0.3, 4 to 16 cells a unit of length",
           "Rebound and top of the block beside the reference", draw_refinement),
)  # fmt: skip
