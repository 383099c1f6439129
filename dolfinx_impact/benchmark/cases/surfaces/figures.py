"""Figures of colliding bodies: what runs give beside bars and theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...axes import legends, panels, style
from ...claim import DI_STASIO, Figure, Runs
from ...convergence import order
from ..solids import common
from ..solids.claims import BOTH, CD, CONSERVED, JOHNSON
from ..solids.figures import LABELS, plot_forces
from . import claims as c
from . import non_matching_blocks


def draw_blocks(runs: Runs, figure: Any) -> None:
    """Mean gap of the blocks over time beside that of the bars, with all of H and with its diagonal."""
    axes = panels(figure, 1, 2, size=(10, 4.4))
    for ax, scheme in zip(axes, BOTH):
        run = runs(c.BLOCKS, scheme)
        p, t = run.summary["parameters"], run["t"]
        bars = non_matching_blocks.bar_gaps(scheme, {**p, "allow_unstable": True}, t[1], t.size - 1)
        ax.plot(1e6 * t, 1e6 * bars, label="two bars", **style("exact"))
        ax.plot(1e6 * t, 1e6 * c.mean_gap(run), label="blocks", **style(scheme))
        if scheme == CD:
            control = runs(c.BLOCKS, scheme, delassus="diagonal")
            ax.plot(1e6 * t, 1e6 * c.mean_gap(control), ":", color="#b3261e", label="diagonal of H alone")
        ax.set(xlabel="time [µs]", ylabel="mean gap [µm]", title=LABELS[scheme])
    legends(axes)


def draw_orders(runs: Runs, figure: Any) -> None:
    """Errors of the mean gap over the step: cells and step refined together, and the step alone."""
    studies = {c.refined: "cells and step, beside the exact gap", c.stepped: "step alone, beside a fine one"}
    axes = panels(figure, 1, 2, size=(10, 4.4))
    for ax, (study, title) in zip(axes, studies.items()):
        for scheme in BOTH:
            steps, errors = study(runs, scheme)
            label = f"{LABELS[scheme]}, order {order(steps, errors):.2f}"
            ax.loglog(1e6 * np.array(steps), errors, label=label, **{**style(scheme), "marker": "o"})
        ax.set(xlabel="step [µs]", ylabel="error of the mean gap, norm (35) [-]", title=title)
    legends(axes)


def draw_spheres(runs: Runs, figure: Any) -> None:
    """Force between the spheres over time beside Hertz's."""
    ax = panels(figure)
    plot_forces(ax, {CD: runs(c.SPHERES, CD)}, "Two equal spheres")
    ax.legend()


def draw_discs(runs: Runs, figure: Any) -> None:
    """Energies of the discs over time, without and with friction."""
    axes = panels(figure, 1, 2, sharey=True, size=(10, 4.4))
    for ax, friction in zip(axes, (0.0, 0.3)):
        run = runs(c.DISCS, CD, friction=friction)
        energy = common.stored(run.history)
        curves = ("kinetic", run["kinetic"], "-"), ("stored", run["internal"], "--"), ("sum", energy, "-.")
        for name, values, look in curves:
            ax.plot(run["t"], values / energy[0], look, label=name)
        ax.set(xlabel="time [s]", ylabel="energy over that at the start [-]", title=f"friction {friction:g}")
    legends(axes)


FIGURES = (
    Figure("surfaces-blocks", c.BLOCKS, DI_STASIO, "the missing sixth benchmark",
           "Two blocks with meshes that do not match move as two bars", draw_blocks),
    Figure("surfaces-orders", c.BLOCKS, DI_STASIO, "the missing sixth benchmark",
           "The mean gap of the blocks converges", draw_orders),
    Figure("surfaces-spheres", c.SPHERES, JOHNSON, "Hertz", "Force between two spheres", draw_spheres),
    Figure("surfaces-discs", c.DISCS, CONSERVED, "energies", "Rubber discs that hit obliquely", draw_discs),
)  # fmt: skip
