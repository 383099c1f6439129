"""Figures of colliding bodies: what runs give beside bars and theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....plot import style
from ...claim import DI_STASIO, Figure
from ...convergence import order
from ...runs import Runs
from ..solids import common, hertz_sphere
from . import claims as c
from . import non_matching_blocks

_LABELS = {c.CD: "CD-Lagrange", c.MJ: "Moreau-Jean"}


def draw_blocks(runs: Runs, figure: Any) -> None:
    """Mean gap of the blocks over time beside that of the bars, with all of H and with its diagonal."""
    figure.set_layout_engine("constrained")
    left, right = figure.subplots(1, 2)
    for ax, scheme in ((left, c.CD), (right, c.MJ)):
        run = runs(c.BLOCKS, scheme)
        p, t = run.summary["parameters"], run["t"]
        bars = non_matching_blocks.bar_gaps(scheme, {**p, "allow_unstable": True}, t[1], t.size - 1)
        ax.plot(1e6 * t, 1e6 * bars, label="two bars", **style("exact"))
        ax.plot(1e6 * t, 1e6 * c.mean_gap(run), label="blocks", **style(scheme))
        if scheme == c.CD:
            control = runs(c.BLOCKS, scheme, delassus="diagonal")
            ax.plot(1e6 * t, 1e6 * c.mean_gap(control), ":", color="#b3261e", label="diagonal of H alone")
        ax.set(xlabel="time [µs]", ylabel="mean gap [µm]", title=_LABELS[scheme])
        ax.grid(alpha=0.3)
        ax.legend()
    figure.set_size_inches(10, 4.4)


def draw_orders(runs: Runs, figure: Any) -> None:
    """Errors of the mean gap over the step: cells and step refined together, and the step alone."""
    figure.set_layout_engine("constrained")
    studies = (
        (c.refined, "cells and step, beside the exact gap"),
        (c.stepped, "step alone, beside a fine one"),
    )
    for ax, (study, title) in zip(figure.subplots(1, 2), studies):
        for scheme in c.BOTH:
            steps, errors = study(runs, scheme)
            label = f"{_LABELS[scheme]}, order {order(steps, errors):.2f}"
            ax.loglog(1e6 * np.array(steps), errors, label=label, **{**style(scheme), "marker": "o"})
        ax.set(xlabel="step [µs]", ylabel="error of the mean gap, norm (35) [-]", title=title)
        ax.grid(alpha=0.3)
        ax.legend()
    figure.set_size_inches(10, 4.4)


def draw_spheres(runs: Runs, figure: Any) -> None:
    """Force between the spheres over time beside Hertz's."""
    run = runs(c.SPHERES, c.CD)
    p = dict(run.summary["parameters"])
    hertz, ax = hertz_sphere.exact(p), figure.subplots()
    window = hertz_sphere.WINDOW * hertz.duration
    impulse = np.cumsum(hertz_sphere.SHARES[p["geometry"]] * run["r"].sum(axis=1))
    ends = np.arange(window, run["t"][-1], window / 4)
    gained = np.interp(ends, run["t"], impulse) - np.interp(ends - window, run["t"], impulse)
    ax.plot(1e6 * (ends - window / 2), gained / window, label=_LABELS[c.CD], **style(c.CD))
    t = np.linspace(0, run["t"][-1], 601)
    ax.plot(1e6 * t, hertz.force(t), label="Hertz", **style("exact"))
    ax.set(xlabel="time [µs]", ylabel="contact force [N]", title="Two equal spheres")
    ax.grid(alpha=0.3)
    ax.legend()


def draw_discs(runs: Runs, figure: Any) -> None:
    """Energies of the discs over time, without and with friction."""
    figure.set_layout_engine("constrained")
    for ax, friction in zip(figure.subplots(1, 2, sharey=True), (0.0, 0.3)):
        run = runs(c.DISCS, c.CD, friction=friction)
        energy = common.stored(run.history)
        for name, values, look in (
            ("kinetic", run["kinetic"], "-"),
            ("stored", run["internal"], "--"),
            ("sum", energy, "-."),
        ):
            ax.plot(run["t"], values / energy[0], look, label=name)
        ax.set(xlabel="time [s]", ylabel="energy over that at the start [-]", title=f"friction {friction:g}")
        ax.grid(alpha=0.3)
        ax.legend()
    figure.set_size_inches(10, 4.4)


FIGURES = (
    Figure("surfaces-blocks", c.BLOCKS, DI_STASIO, "the missing sixth benchmark",
           "Two blocks with meshes that do not match move as two bars", draw_blocks),
    Figure("surfaces-orders", c.BLOCKS, DI_STASIO, "the missing sixth benchmark",
           "The mean gap of the blocks converges", draw_orders),
    Figure("surfaces-spheres", c.SPHERES, c.JOHNSON, "Hertz", "Force between two spheres", draw_spheres),
    Figure("surfaces-discs", c.DISCS, c.CONSERVED, "energies", "Rubber discs that hit obliquely", draw_discs),
)  # fmt: skip
