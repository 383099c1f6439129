"""Figures of the press fit: force over way at several steps, and the deformed peg in its slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...axes import legend_below, legends, panels, style
from ...case import Values
from ...claim import Figure, Run, Runs
from . import press_models as models

FIT, PAPER = "press-fit", "ours"
#: Lines: scheme, settings, label, look.
_LINES: tuple[tuple[str, dict[str, Any], str, dict[str, Any]], ...] = (
    ("moreau-jean", {"courant": 20}, "both levels, 20 critical steps", {"color": "#0b559f", "lw": 2.2}),
    ("moreau-jean", {"courant": 100}, "both levels, 100", {"color": "#d1711a", "ls": "--", "lw": 1.4}),
    ("static", {}, "static, 60 steps", {**style("exact"), "ls": ":"}),
    (
        "moreau-jean",
        {"courant": 100, "position": "false"},
        "velocity level, 100",
        {"color": "#b3261e", "ls": "-.", "lw": 1.2},
    ),
)


def driving_force(run: Run) -> tuple[NDArray, NDArray]:
    """Way of the driven end at the middle of each step [mm], and the mean force there [kN]."""
    way = models.SPEED * run["t"]
    return 1e3 * 0.5 * (way[1:] + way[:-1]), 1e-3 * np.diff(run["external"]) / np.diff(way)


def draw_force(runs: Runs, figure: Any) -> None:
    """Force over way: at the rigid wall, and in the slot."""
    axes = panels(figure, 1, 2, size=(11, 4.6))
    for ax, wall, title in zip(axes, ("rigid", "slot"), ("rigid wall, half of the peg", "elastic slot")):
        lines = _LINES if wall == "rigid" else (_LINES[1], _LINES[2])
        for scheme, settings, label, look in lines:
            run = runs(FIT, scheme, wall=wall, **settings)
            ax.plot(*driving_force(run), label=label, **look)
        ax.set(xlabel="way [mm]", ylabel="driving force, 1 m thick [kN]", title=title, xlim=(0, 15))
    legends(axes)


def grids(p: Values) -> dict[str, NDArray]:
    """Places of the nodes of peg and jaws at the start, shape (across, along, 2) each [m]."""
    half, inner, cells = models.HALF, models.HALF - p["interference"], models.jaw_cells(p)
    peg = _grid((-half, half), (0.0, models.HEIGHT), (2 * p["columns"], p["rows"]))
    peg[..., 0] *= 1 - models.NARROW * np.maximum(1 - peg[..., 1] / models.TAPER, 0.0)
    along = (models.LOW, models.HIGH)
    jaws = {
        name: _grid(sorted((sign * inner, sign * models.OUTER)), along, cells)
        for name, sign in models.SIDES.items()
    }
    return {models.PEG: peg, **jaws}


def _grid(x: Sequence[float], y: Sequence[float], cells: tuple[int, int]) -> NDArray:
    lines = np.linspace(x[0], x[1], cells[0] + 1), np.linspace(y[0], y[1], cells[1] + 1)
    return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)


def displaced(run: Run) -> dict[str, tuple[NDArray, NDArray]]:
    """Places at the start and displacements at the end of a run in the slot, of each part [m]."""
    parts = grids(run.summary["parameters"])
    x = np.concatenate([grid.reshape(-1, 2) for grid in parts.values()])
    u, keys = np.empty(x.shape), np.round(x, 9)
    u[np.lexsort((keys[:, 1], keys[:, 0]))] = run["u"][-1].reshape(-1, 2)  # columns are sorted by places
    pieces = np.split(u, np.cumsum([grid.size // 2 for grid in parts.values()])[:-1])
    return {name: (grid, piece.reshape(grid.shape)) for (name, grid), piece in zip(parts.items(), pieces)}


def draw_slot(runs: Runs, figure: Any) -> None:
    """Cells of peg and jaws at the end, with their displacements across."""
    ax = panels(figure, size=(8, 7.2))
    parts = displaced(runs(FIT, "static", wall="slot"))
    most = 1e6 * max(float(np.abs(u[..., 0]).max()) for _, u in parts.values())
    for name, (x, u) in parts.items():
        at, across = 1e3 * (x + u), 1e6 * u[..., 0]
        look: Any = {"shading": "gouraud", "cmap": "RdBu_r", "vmin": -most, "vmax": most}
        shade = ax.pcolormesh(*np.moveaxis(at, -1, 0), across, **look)
        label = "cells of peg and jaws at the end" if name == models.PEG else None
        ax.plot(*np.moveaxis(at, -1, 0), color="0.25", lw=0.5)
        lines = ax.plot(*np.moveaxis(at.swapaxes(0, 1), -1, 0), color="0.25", lw=0.5)
        lines[0].set_label(label)
        rim = 1e3 * np.concatenate([x[:, 0], x[-1], x[::-1, -1], x[0, ::-1]])
        ax.plot(*rim.T, "k--", lw=1.0, label="outlines at the start" if name == models.PEG else None)
    figure.colorbar(shade, ax=ax, label="displacement across [µm]")
    ax.set(xlabel="across [mm]", ylabel="along [mm]", aspect="equal", title="elastic slot after 15 mm")
    legend_below(figure)


FIGURES = (
    Figure("press-fit-force", FIT, PAPER, "force over way",
           "Force that presses a peg in, at large steps and at velocity level", draw_force),
    Figure("press-fit-slot", FIT, PAPER, "deformed cells", "A peg in an elastic slot", draw_slot),
)  # fmt: skip
