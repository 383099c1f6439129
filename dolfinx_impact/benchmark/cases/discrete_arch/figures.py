"""Figures 24 and 25 of Di Stasio et al. (2019): the discrete arch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...axes import legend_below, panels, style
from ...claim import DI_STASIO, Figure, Runs
from .measures import CASE, CD, MJ, contact, heights, inertia


def draw_configurations(runs: Runs, figure: Any) -> None:
    """Initial, intermediate and final configuration above the floor, Fig. 24."""
    axes, run = panels(figure), runs(CASE, CD)
    t, start = run["t"], run.results["contact_start"] or run["t"][-1]
    # Halfway down from the limit point to the first contact the middle crosses the supports.
    crossing = int(np.argmax(heights(run).mean(axis=1) < 0)) or len(t) // 2
    looks = (style(CD), {**style("carpenter"), "color": "0.45"}, {**style(MJ), "marker": "D"})
    for index, name, look in zip((0, crossing, -1), ("initial", "intermediate", "final"), looks):
        x, y = run["u"][index].reshape(-1, 2).T
        axes.plot(x, y, **{**look, "markevery": 1}, label=f"{name}, t = {t[index]:.4g} s")
    wide = run["u"][0][[0, -2]] * 1.05
    axes.plot(wide, [0, 0], **style("exact"), label="line of the supports")
    axes.fill_between(wide, -run.summary["parameters"]["floor"], -0.075, color="0.75", lw=0, label="floor")
    axes.set(xlabel="x [m]", ylabel="y [m]", xlim=wide, title=f"first contact at t = {start:.4g} s")
    legend_below(figure)


def draw_impulses(runs: Runs, figure: Any) -> None:
    """The vertical impulse of inertia and that of contact over time, Fig. 25."""
    axes, run = panels(figure), runs(CASE, CD)
    t, p = run["t"][1:], run.summary["parameters"]
    axes.plot(t, 1e6 * contact(run), **style(CD, every=0), label="contact, sum of r")
    axes.plot(t, 1e6 * inertia(run), **style(MJ, every=0), label="inertia, sum of -µ h M v · y")
    words = {"rotation": 90, "va": "bottom", "ha": "right", "fontsize": 8, "color": "0.3"}
    for time, name in ((p["ramp"], "full load"), (p["release"], "load removed")):
        axes.axvline(time, color="0.5", lw=0.8, ls=":")
        axes.annotate(name, (time, 0.03), xycoords=("data", "axes fraction"), **words)
    axes.set(xlabel="time [s]", ylabel="impulse of a step [µN s]", xlim=(0, t[-1]))
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-1e3, 2e6 * contact(run).max(initial=1e-3))
    legend_below(figure)


FIGURES: tuple[Figure, ...] = (
    Figure("distasio-fig24", CASE, DI_STASIO, "Fig. 24", "Configurations of the arch", draw_configurations),
    Figure("distasio-fig25", CASE, DI_STASIO, "Fig. 25", "Impulses of inertia and of contact", draw_impulses),
)
