"""Figures of contact of everything with everything."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....exact import FoldedStrip
from ...axes import legends, panels, style
from ...claim import Figure, Runs
from ..solids.claims import CD, CLOSED, CONSERVED, MJ
from . import claims as c
from . import strip_models


def draw_strip(runs: Runs, figure: Any) -> None:
    """Middle line of the strip at both distances, and the forces of the plates, beside the elastica."""
    shapes, forces = panels(figure, 1, 2, size=(10, 4.4))
    run = runs(c.STRIP, MJ)
    p, found = run.summary["parameters"], run.results
    gaps = np.array(strip_models.distances(p))
    way = strip_models.schedule(p, c.folded_strip.STAY, c.folded_strip.CHANGE)
    half = strip_models.half_length(p)
    u = run["u"].reshape(len(run["t"]), -1, 2)
    s = np.linspace(-half, half, u.shape[1])
    for gap, end, marker in zip(gaps, way.ends, "os"):
        exact = FoldedStrip(found["stiffness"], gap - p["thickness"])
        x, y = exact.shape()
        middle = u[np.argmin(np.abs(run["t"] - end))] + np.column_stack([s, 0 * s])
        free = np.abs(s) < 0.6 * exact.arc
        tip = middle[:, 0].max()
        label = f"plates {1e3 * gap:g} mm apart"
        shapes.plot(*1e3 * (middle[free] - [tip, 0]).T, marker, mfc="none", color="k", label=label, ms=4)
        shapes.plot(1e3 * (x - x.max()), 1e3 * (y - exact.distance / 2), **style("exact"))
    shapes.set(
        xlabel="x from the tip [mm]", ylabel="y [mm]", title="Middle line, and the elastica", aspect="equal"
    )
    for scheme, marker in ((MJ, "o"),):
        forces.plot(
            1e3 * gaps, runs(c.STRIP, scheme).results["force"], marker, color="k", mfc="none", label=scheme
        )
    several = np.linspace(gaps.min(), gaps.max(), 50)
    exact_forces = [FoldedStrip(found["stiffness"], gap - p["thickness"]).force for gap in several]
    forces.plot(1e3 * several, exact_forces, label="2.871 B/D²", **style("exact"))
    forces.set(xlabel="distance of the plates [mm]", ylabel="force [N]", title="Force of the plates")
    legends((shapes, forces))


def draw_bars(runs: Runs, figure: Any) -> None:
    """Impulses of all meetings over those of rigid bodies; the restitution of the bars."""
    impulses, ratios = panels(figure, 1, 2, size=(10, 4.4))
    found = {words: runs(c.BARS, CD, **more).results for words, more in c.MEETINGS.items()}
    exact = [1e3 * each["impulse_normal_exact"] for each in found.values()]
    for (words, each), x, marker in zip(found.items(), exact, "osd^v"):
        impulses.plot(x, 1e3 * each["impulse_normal"], marker, mfc="none", color="k", label=words)
    ends = np.array([0.9 * min(exact), 1.1 * max(exact)])
    impulses.plot(ends, ends, label="equal", **style("exact"))
    impulses.set(xlabel="rigid bodies [mN s]", ylabel="bars [mN s]", title="Normal impulse")
    places = np.arange(len(found))
    ratios.plot(places, [each["restitution"] for each in found.values()], "o", color="k", label="of the bars")
    ratios.axhline(0.0, label="0", **style("exact"))
    ratios.set(
        xlabel="meeting [number]", ylabel="restitution [-]", title="Restitution by waves", xticks=places
    )
    legends((impulses, ratios))


def draw_pile(runs: Runs, figure: Any) -> None:
    """Energies of the pile over time."""
    ax = panels(figure)
    run = runs(c.PILE, CD, blocks=c.BLOCKS)
    height = run.results["energy_start"] - run["external"]
    lines = {
        "of the height": (height, "-"),
        "kinetic": (run["kinetic"], "--"),
        "stored": (run["internal"], ":"),
    }
    for label, (values, look) in lines.items():
        ax.plot(run["t"], values, look, color="k", label=label)
    ax.set(xlabel="time [s]", ylabel="energy [J]", title="Blocks poured into a box")
    ax.legend()


def draw_sphere(runs: Runs, figure: Any) -> None:
    """Height of the sphere over the side of the opening."""
    ax = panels(figure)
    ratio = np.linspace(0.8, 2.0, 200)
    ax.plot(ratio, np.sqrt(1 - ratio**2 / 4), label="rigid sphere", **style("exact"))
    for words, more in c.OPENINGS.items():
        run = runs(c.HOLE, CD, **more)
        p = run.summary["parameters"]
        height = run.results["height"]
        if height is not None:
            ax.plot(p["opening"] / p["radius"], height / p["radius"], "o", mfc="none", color="k", label=words)
    ax.set(
        xlabel="side of the opening over R [-]", ylabel="height over R [-]", title="A sphere on four edges"
    )
    ax.legend()


FIGURES = (
    Figure("general-bars", c.BARS, c.RIGID, "edges", "Bars that meet edge on edge", draw_bars),
    Figure("general-pile", c.PILE, CONSERVED, "energy", "Energy of a pile", draw_pile),
    Figure("general-strip", c.STRIP, c.LOVE, "elastica", "A strip folded between plates", draw_strip),
    Figure("general-sphere", c.HOLE, CLOSED, "geometry", "A sphere on a square opening", draw_sphere),
)
