"""Figures of spheres on plates and rods: restitution over lambda, force over time, strain of the rod."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....exact.zener import ZenerImpact
from ...axes import legend_below, legends, panels, style
from ...case import Values
from ...claim import Figure, Run, Runs
from ..solids.claims import BOTH, CD, MJ
from ..solids.figures import LABELS
from . import sphere_claims as c
from . import sphere_impact, sphere_plate, sphere_rod

#: Controls: what is wrong in the runs, and their mark.
_CONTROLS = (("rim at 1.5 lengths", c.SHORTER, "x"), ("one cell across", c.COARSE, "+"))


def _parameters(run: Run) -> Values:
    parameters: Values = run.summary["parameters"]
    return parameters


def _point(run: Run) -> tuple[float, float]:
    return run.results["lambda"], run.results["restitution"]


def draw_restitution(runs: Runs, figure: Any) -> None:
    """Restitution over lambda: the theory, plates, speeds, rods, and the controls beside it."""
    ax = panels(figure)
    lam = np.linspace(0.0, 1.3, 66)
    theory = [ZenerImpact(1.0, 1.0, x, 1.0).restitution for x in lam]
    ax.plot(lam, theory, label="Zener's theory", **style("exact"))
    sets = {
        f"plates of 5 to 1.8 mm, {LABELS[scheme]}": [
            runs(c.PLATE, scheme, thickness=h) for h in (*c.THICK, c.THIN)
        ]
        for scheme in BOTH
    }
    sets["plate of 2.5 mm, 0.05 and 5 m/s"] = [runs(c.PLATE, CD, v0=v) for v in (c.SPEEDS[0], c.SPEEDS[-1])]
    sets["rods"] = [runs(c.ROD, CD, **settings) for settings in c.RODS.values()]
    looks = (("#0b559f", "o", 8), ("#d1711a", "s", 4), ("#8a2f7d", "^", 6), ("#2e7d32", "D", 6))
    for (name, several), (color, marker, size) in zip(sets.items(), looks):
        points = np.array([_point(run) for run in several])
        ax.plot(*points.T, marker, color=color, ms=size, mfc="white", label=name)
    for name, settings, marker in _CONTROLS:
        ax.plot(
            *_point(runs(c.PLATE, MJ, **settings)), marker, color="#b3261e", ms=8, label=f"control: {name}"
        )
    ax.set(xlabel="lambda [-]", ylabel="coefficient of restitution [-]", xlim=(0, None), ylim=(0, 1))
    ax.legend()


def draw_force(runs: Runs, figure: Any) -> None:
    """Force of contact over time for four thicknesses beside theory."""
    axes = panels(figure, 2, 2, size=(10, 7))
    for ax, h in zip(np.ravel(axes), (*c.THICK, c.THIN)):
        for scheme in BOTH:
            run = runs(c.PLATE, scheme, thickness=h)
            zener = sphere_plate.SpherePlate().zener(_parameters(run))
            t, force = sphere_impact.force(run.history, zener)
            ax.plot(1e6 * t, force, label=LABELS[scheme], **style(scheme))
        t = np.linspace(0.0, t[-1], 401)
        ax.plot(1e6 * t, zener.force(t), label="Zener's theory", **style("exact"))
        title = f"plate of {1e3 * h:g} mm, lambda {zener.lam:.2f}"
        ax.set(xlabel="time [µs]", ylabel="contact force [N]", title=title)
    legends(axes)


def draw_strain(runs: Runs, figure: Any) -> None:
    """Strain at the middle of both rods, and the force of contact as a Hopkinson bar reads it."""
    axes = panels(figure, 1, 2, size=(10, 4.4))
    for ax, (name, settings) in zip(axes, c.RODS.items()):
        run = runs(c.ROD, CD, **settings)
        p = _parameters(run)
        zener = sphere_rod.SphereRod().zener(p)
        t, strain, expected = sphere_rod.reading(run.history, {**p, **run.results}, zener)
        late = t - run.results["gauge_place"] * sphere_rod.transit(p) / p["length"]
        theory = zener.force(late) / (p["E"] * sphere_rod.section(p))
        ax.plot(1e6 * t, 1e6 * strain, label="strain gauge", **style(CD))
        ax.plot(1e6 * t, 1e6 * expected, "-.", color="#d1711a", label="F(t - x/c)/(E A), F of the contact")
        ax.plot(1e6 * t, 1e6 * theory, label="F of Zener's theory", **style("exact"))
        ax.axvline(1e6 * sphere_rod.until(p), color="0.5", lw=0.8, ls=":", label="the wave is back")
        ax.set(xlabel="time [µs]", ylabel="compressive strain [1e-6]", title=f"sphere of {name}")
    legend_below(figure, 4)


FIGURES = (
    Figure("sphere-plate-restitution", c.PLATE, c.ZENER, "restitution",
           "Restitution of a sphere by waves alone", draw_restitution),
    Figure("sphere-plate-force", c.PLATE, c.ZENER, "force over time",
           "Force between a sphere and a plate", draw_force),
    Figure("sphere-rod-strain", c.ROD, "Hopkinson bar", "strain over time",
           "A strain gauge reads the force at the end of a rod", draw_strain),
)  # fmt: skip
