"""Figures of nearly incompressible bodies: how far elements lock, and their pressures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....plot import style
from ...claim import Figure
from ...runs import Runs
from . import claims as c
from . import cook_membrane, rubber_block
from .pressure import Pressures

_MESHES = (6, 12, 24)  #: Cells along each side of Cook's membrane.
#: Curves told apart in grey: the way of the elements, and plain ones.
_LOOKS: dict[str, dict[str, Any]] = {
    "default": {"color": "#0b559f", "ls": "-", "mfc": "white"},
    "none": {"color": "#b3261e", "ls": "--", "mfc": "white"},
}
_MARKS = {"quadrilateral": "s", "triangle": "^"}
_WAYS = {"quadrilateral": "mean dilatation", "triangle": "nodal pressure"}


def draw_pressure(ax: Any, pressures: Pressures, p: NDArray, points: NDArray) -> None:
    """Pressures of cells in their places, with a bar of colours."""
    from matplotlib.collections import PolyCollection

    corners = pressures.cells[:, [0, 1, 3, 2] if pressures.cells.shape[1] == 4 else [0, 1, 2]]
    least, most = np.percentile(p, [2, 98]) / 1e3
    drawn = PolyCollection(1e3 * points[corners], array=p / 1e3, edgecolors="face", linewidths=0.2)
    drawn.set_clim(least, most)
    ax.add_collection(drawn)
    ax.autoscale()
    ax.set_aspect("equal")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.75, label="pressure [kPa]")


def rubber(runs: Runs, **settings: Any) -> tuple[Pressures, NDArray, NDArray]:
    """Pressures of a run, those of its cells [Pa] and its points [m] as the case measures them; run again."""
    p = dict(runs(c.RUBBER, c.CD, **settings).summary["parameters"])
    problem = rubber_block.RubberBlock().make(runs.scheme(c.CD), p)
    problem.simulate()
    pressures, u = problem.setup.pressures, problem.integrator.u
    if p["shape"] == "ball":
        return pressures, problem.log.mean, pressures.x
    return pressures, pressures.pressure(u), pressures.points(u)


def draw_rubber(runs: Runs, figure: Any) -> None:
    """Pressures of the block and of the ball: by mean dilatation, by nodal pressure, plain triangles."""
    figure.set_layout_engine("constrained")
    ways: tuple[dict[str, Any], ...] = ({}, {"cell": "triangle"}, {"cell": "triangle", **c.PLAIN})
    titles = ("mean dilatation", "nodal pressure", "plain triangles")
    axes = figure.subplots(2, 3, gridspec_kw={"height_ratios": (1, 2)})
    for shape, row in zip(c.SHAPES, axes):
        for ax, more, title in zip(row, ways, titles):
            pressures, p, points = rubber(runs, shape=shape, **more)
            draw_pressure(ax, pressures, p, points)
            x, y = ("r [mm]", "z [mm]") if shape == "ball" else ("x [mm]", "y [mm]")
            ax.set(xlabel=x, ylabel=y, title=f"{shape}, {title}")
    figure.set_size_inches(13, 8.5)


def draw_cook(runs: Runs, figure: Any) -> None:
    """The tip of Cook's membrane as the mesh is refined, and the membrane at rest and bent."""
    figure.set_layout_engine("constrained")
    left, *others = figure.subplots(1, 3, gridspec_kw={"width_ratios": (3, 2, 2)})
    for cell, mark in _MARKS.items():
        for locking, look in _LOOKS.items():
            found = [runs(c.COOK, c.CD, cell=cell, locking=locking, elements=n) for n in _MESHES]
            label = f"{cell}s, {_WAYS[cell] if locking == 'default' else 'plain'}"
            left.plot(_MESHES, [run.results["tip"] for run in found], marker=mark, label=label, **look)
    left.axhline(cook_membrane.TIP, label="fine mesh of Q4 elements", **style("exact"))
    left.set(xlabel="cells along each side [-]", ylabel="displacement of the tip [m]", ylim=(0, 8))
    left.set_xticks(_MESHES)
    left.grid(alpha=0.3)
    left.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.84))
    for ax, (locking, look) in zip(others, _LOOKS.items()):
        p = dict(runs(c.COOK, c.CD, locking=locking, elements=_MESHES[1]).summary["parameters"])
        problem = cook_membrane.CookMembrane().make(runs.scheme(c.CD), p)
        problem.simulate()
        shape = Pressures(problem.setup.body, 1.0)
        ax.plot(*_outline(shape, shape.x).T, color="0.6", lw=0.8, label="at rest")
        bent, label = (
            shape.points(problem.integrator.u),
            _WAYS[p["cell"]] if locking == "default" else "plain",
        )
        ax.plot(*_outline(shape, bent).T, lw=1.0, label=label, color=look["color"])
        ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(-2, 70))
        ax.legend(frameon=False, loc="lower right")
    figure.set_size_inches(14, 5)


def _outline(shape: Pressures, points: NDArray) -> NDArray:
    """A line around every quadrilateral, the next after a gap."""
    around = points[shape.cells[:, [0, 1, 3, 2, 0]]]
    return np.concatenate([around, np.full((len(around), 1, 2), np.nan)], axis=1).reshape(-1, 2)


FIGURES = (
    Figure("cook-membrane-tip", c.COOK, c.COOKS, "Cook's membrane",
           "Cook's membrane, nearly incompressible: its tip as the mesh is refined", draw_cook),
    Figure("rubber-block-pressure", c.RUBBER, c.PATCH, "pressures",
           "Pressures of rubber at nu = 0.4999: a block between plates, a ball on a plane", draw_rubber),
)  # fmt: skip
