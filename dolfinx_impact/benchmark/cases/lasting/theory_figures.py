"""Figures of contact that lasts: stresses of a shrink fit, its push, pressures of Hertz's contact."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...axes import legends, panels, style
from ...claim import Figure, Runs
from ..solids.claims import JOHNSON
from . import hertz_models, ring_models
from . import theory_claims as c


def draw_stresses(runs: Runs, figure: Any) -> None:
    """Radial and hoop stress over the radius beside Lame's, of a solid and of a hollow shaft."""
    axes = panels(figure, 1, 2, sharey=True, size=(10, 4.4))
    for ax, words in zip(axes, ("a solid shaft", "a hollow shaft")):
        run = runs(c.RING, c.STATIC, **c.FITS[words])
        p = run.summary["parameters"]
        fit = ring_models.exact(p)
        found = ring_models.stresses(p, run["u"][-1])
        tubes = {
            "shaft": (fit.shaft, {"outside": fit.pressure}),
            "ring": (fit.ring, {"inside": fit.pressure}),
        }
        for name, (tube, pressures) in tubes.items():
            r = np.linspace(max(tube.inner, 1e-3 * tube.outer), tube.outer, 200)
            labels = ("Lame", "radial", "hoop") if name == "shaft" else (None, None, None)
            for exact, values, marker, label in zip(
                tube.stresses(r, **pressures), found[name][1:], "os", labels[1:]
            ):
                line = style("exact") | {"label": labels[0] if marker == "o" else None}
                ax.plot(1e3 * r, 1e-6 * exact, **line)
                ax.plot(1e3 * found[name][0], 1e-6 * values, marker, mfc="none", color="k", label=label)
        ax.set(xlabel="radius [mm]", ylabel="stress [MPa]", title=f"{words.capitalize()} in a ring")
    legends(axes)


def draw_push(runs: Runs, figure: Any) -> None:
    """Force over the way of the push beside that of Coulomb's law."""
    ax = panels(figure)
    for (words, more), marker in zip(c.PUSHES.items(), "os^"):
        run = runs(c.RING, c.STATIC, push=2e-5, **more).results
        ways, forces = 1e6 * np.array(run["push_ways"]), 1e-3 * np.array(run["push_forces"])
        (line,) = ax.plot(ways, forces, marker + "-", mfc="none", label=words)
        ax.axhline(1e-3 * run["push_force_exact"], ls="--", color=line.get_color(), label=f"{words}, exact")
    ax.set(xlabel="way of the shaft [µm]", ylabel="force [kN]", title="A shaft pushed out, friction 0.1")
    ax.legend()


def draw_hertz(runs: Runs, figure: Any) -> None:
    """Pressure over the distance from the middle beside Hertz's, of cylinders and spheres."""
    axes = panels(figure, 1, 2, size=(10, 4.4))
    for ax, geometry in zip(axes, ("line", "point")):
        for resolution, marker in zip(c.RESOLUTIONS[:2], "so"):
            run = runs(c.HERTZ, c.STATIC, geometry=geometry, resolution=resolution)
            hertz = hertz_models.exact(run.summary["parameters"])
            history: Any = run.history
            areas, distance = history.areas, history.places[:, 0] / hertz.half_width
            near = (areas > 0) & (distance < 1.5)
            pressure = run["r"][-1, near] / areas[near] / run.summary["parameters"]["h"]
            ax.plot(
                distance[near], 1e-6 * pressure, marker, mfc="none", color="k", label=f"{resolution} facets"
            )
        x = np.linspace(0, 1.5, 301)
        ax.plot(x, 1e-6 * hertz.pressure(x * hertz.half_width), label="Hertz", **style("exact"))
        ax.set(xlabel="distance from the middle over the half-width [-]", ylabel="pressure [MPa]")
        ax.set_title({"line": "A cylinder on a plane", "point": "A sphere on a plane"}[geometry])
    legends(axes)


FIGURES = (
    Figure("lasting-stresses", c.RING, c.TIMOSHENKO, "Lame", "Stresses of a shrink fit", draw_stresses),
    Figure("lasting-push", c.RING, c.TIMOSHENKO, "Lame, Coulomb", "Pushing the shaft out", draw_push),
    Figure("lasting-hertz", c.HERTZ, JOHNSON, "Hertz", "Pressure between two bodies at rest", draw_hertz),
)
